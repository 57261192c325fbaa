// No upstream twin.
// Golden plain and cuckoo tables of C++ engines, read and written anew.

package adaptive_test

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/env"
	"github.com/rocksdb-go/rocksdb/file"
	"github.com/rocksdb-go/rocksdb/options"
	"github.com/rocksdb-go/rocksdb/table"
	"github.com/rocksdb-go/rocksdb/table/adaptive"
	"github.com/rocksdb-go/rocksdb/table/format"
	"github.com/rocksdb-go/rocksdb/util"
)

// goldenFiles unpacks testdata/golden.tar.zst once. It holds, for FORMAT (plain or
// cuckoo) and a NAME of options, FORMAT/NAME.OPTIONS and the tables
// FORMAT/NAME_flush.sst, NAME_delete.sst and NAME_compact.sst, as testdata/make.py
// made them with ldb 7.8.3, and FORMAT/NAME.txt, what the last of them holds, as
// `ldb --hex scan` prints it. NAME v11 has one table, by db_bench 11.8.1.
var goldenFiles = sync.OnceValues(func() (map[string][]byte, error) {
	f, err := os.Open("testdata/golden.tar.zst")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := zstd.NewReader(f)
	if err != nil {
		return nil, err
	}
	defer z.Close()
	files := map[string][]byte{}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return files, nil
		} else if err != nil {
			return nil, err
		}
		if files[h.Name], err = io.ReadAll(r); err != nil {
			return nil, err
		}
	}
})

func golden(t testing.TB) map[string][]byte {
	t.Helper()
	files, err := goldenFiles()
	noError(t, err)
	return files
}

func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// goldenTable is a table with the options it was written with.
type goldenTable struct {
	name string // FORMAT/NAME_KIND
	data []byte
	o    rocksdb.Options
}

var optionsCache sync.Map

func optionsOf(t testing.TB, name string) rocksdb.Options {
	t.Helper()
	if o, ok := optionsCache.Load(name); ok {
		return o.(rocksdb.Options)
	}
	path := filepath.Join(t.TempDir(), "OPTIONS")
	noError(t, os.WriteFile(path, golden(t)[name+".OPTIONS"], 0o644))
	cfg := rocksdb.DefaultConfigOptions()
	cfg.IgnoreUnknownOptions = true
	db, families, err := rocksdb.LoadOptionsFromFile(&cfg, path, nil)
	noError(t, err)
	o := rocksdb.Options{DBOptions: db, ColumnFamilyOptions: families[0].Options}
	o.Env = env.Default()
	optionsCache.Store(name, o)
	return o
}

func goldenTables(t testing.TB) (list []goldenTable) {
	t.Helper()
	for name, data := range golden(t) {
		if base, ok := strings.CutSuffix(name, ".sst"); ok {
			list = append(list, goldenTable{base, data, optionsOf(t, base[:strings.LastIndexByte(base, '_')])})
		}
	}
	if len(list) < 30 {
		t.Fatalf("%d golden tables", len(list))
	}
	return list
}

// memFile is a table in memory; mapped files hand out their memory.
type memFile struct {
	rocksdb.FSRandomAccessFile
	data   []byte
	mapped bool
}

func (f *memFile) Read(offset uint64, n int, _ *rocksdb.IOOptions, scratch []byte) ([]byte, error) {
	if offset > uint64(len(f.data)) {
		return nil, rocksdb.IOError("read beyond the end")
	}
	data := f.data[offset:]
	data = data[:min(n, len(data))]
	if f.mapped {
		return data, nil
	}
	return scratch[:copy(scratch[:n], data)], nil
}
func (f *memFile) UseDirectIO() bool               { return false }
func (f *memFile) GetRequiredBufferAlignment() int { return 1 }
func (f *memFile) Close() error                    { return nil }
func (f *memFile) GetFileSize() (uint64, error)    { return uint64(len(f.data)), nil }

// open opens data as a table with the adaptive factory.
func (g *goldenTable) open(data []byte, mapped bool, factory rocksdb.TableFactory) (table.TableReader, error) {
	o := g.o
	o.AllowMmapReads = mapped
	io := options.NewImmutableOptions(&o.DBOptions, &o.ColumnFamilyOptions)
	tro := table.DefaultTableReaderOptions(&io, icmp)
	tro.PrefixExtractor = o.PrefixExtractor
	tro.FileOptions.UseMmapReads = mapped
	ro := rocksdb.DefaultReadOptions()
	f := file.NewRandomAccessFileReader(&memFile{data: data, mapped: mapped}, "golden.sst", nil)
	t, _ := factory.(table.Factory)
	var a *adaptive.AdaptiveTableFactory
	if factory.Name() == rocksdb.PlainTableName {
		a = adaptive.NewAdaptiveTableFactory(nil, nil, t, nil)
	} else {
		a = adaptive.NewAdaptiveTableFactory(nil, nil, nil, t)
	}
	return a.NewTableReader(&ro, &tro, f, uint64(len(data)), true)
}

var icmp = dbformat.NewInternalKeyComparator(util.BytewiseComparator())

type entry struct{ key, value []byte }

// entriesOf reads a table from the first entry on.
func entriesOf(r table.TableReader) (list []entry, err error) {
	ro := rocksdb.DefaultReadOptions()
	it := r.NewIterator(&ro, nil, false, rocksdb.CallerUncategorized, 0, false)
	for it.SeekToFirst(); it.Valid(); it.Next() {
		list = append(list, entry{bytes.Clone(it.Key()), bytes.Clone(it.Value())})
	}
	return list, it.Close()
}

// lookUp gives the value that Get finds for an internal key.
func lookUp(r table.TableReader, key []byte) (value string, state table.GetState, err error) {
	var v rocksdb.PinnableSlice
	defer v.Release()
	var gc table.GetContext
	gc.Init(&table.GetContextParams{Comparator: icmp, UserKey: dbformat.ExtractUserKey(key), Value: &v, DoMerge: true})
	ro := rocksdb.DefaultReadOptions()
	err = r.Get(&ro, key, &gc, nil, false)
	return string(v.Data()), gc.State(), err
}

// write builds a table of the entries with the properties that the golden one has
// of its database.
func (g *goldenTable) write(t testing.TB, list []entry, p *rocksdb.TableProperties) []byte {
	t.Helper()
	o := g.o
	o.DBHostID = p.DBHostID
	io, mo := options.NewImmutableOptions(&o.DBOptions, &o.ColumnFamilyOptions), options.NewMutableCFOptions(&o.ColumnFamilyOptions)
	ro, wo, fo := rocksdb.DefaultReadOptions(), rocksdb.DefaultWriteOptions(), rocksdb.DefaultFileOptions()
	tbo := table.DefaultTableBuilderOptions(&io, &mo, icmp)
	tbo.ReadOptions, tbo.WriteOptions = &ro, &wo
	tbo.ColumnFamilyID, tbo.ColumnFamilyName = uint32(p.ColumnFamilyID), p.ColumnFamilyName
	tbo.DBID, tbo.DBSessionID, tbo.CurFileNum = p.DBID, p.DBSessionID, p.OrigFileNumber
	name := filepath.Join(t.TempDir(), "table")
	w, err := file.CreateWritableFileWriter(env.DefaultFileSystem(), name, &fo, nil)
	noError(t, err)
	b, err := o.TableFactory.(table.Factory).NewTableBuilder(&tbo, w)
	noError(t, err)
	for _, e := range list {
		noError(t, b.Add(e.key, e.value))
	}
	noError(t, b.Finish())
	noError(t, w.Close(nil))
	data, err := os.ReadFile(name)
	noError(t, err)
	if uint64(len(data)) != b.FileSize() {
		t.Errorf("file of %d bytes, builder says %d", len(data), b.FileSize())
	}
	return data
}

// propertiesOffset is where the properties of a table begin.
func (g *goldenTable) propertiesOffset(t testing.TB) int {
	t.Helper()
	io := options.NewImmutableOptions(&g.o.DBOptions, &g.o.ColumnFamilyOptions)
	ro := rocksdb.DefaultReadOptions()
	m := table.MetaReader{File: file.NewRandomAccessFileReader(&memFile{data: g.data}, "golden.sst", nil), FileSize: uint64(len(g.data)), ReadOptions: &ro, IOptions: &io}
	h, _, err := m.FindMetaBlockInFile(format.NullTableMagicNumber, table.PropertiesBlockName)
	noError(t, err)
	return int(h.Offset)
}

// TestGoldenTables reads each table in all the ways there are, and writes it
// again: the same bytes, up to the properties where the engine is older and had
// fewer.
func TestGoldenTables(t *testing.T) {
	for _, g := range goldenTables(t) {
		t.Run(g.name, func(t *testing.T) {
			cuckoo := strings.HasPrefix(g.name, "cuckoo/")
			r, err := g.open(g.data, true, g.o.TableFactory)
			noError(t, err)
			defer r.Close()
			list, err := entriesOf(r)
			noError(t, err)
			p := r.GetTableProperties()
			if uint64(len(list)) != p.NumEntries || len(list) == 0 {
				t.Fatalf("%d entries, not %d", len(list), p.NumEntries)
			}
			if !cuckoo {
				unmapped, err := g.open(g.data, false, g.o.TableFactory)
				noError(t, err)
				defer unmapped.Close()
				checkReads(t, unmapped, list, false)
			}
			checkReads(t, r, list, cuckoo)
			if strings.HasSuffix(g.name, "_compact") || strings.HasPrefix(g.name[strings.IndexByte(g.name, '/'):], "/v11") {
				checkScan(t, list, golden(t)[g.name[:strings.LastIndexByte(g.name, '_')]+".txt"])
			}
			got, end := g.write(t, list, p), len(g.data)
			if !strings.Contains(g.name, "/v11") {
				end = g.propertiesOffset(t)
			}
			if len(got) < end || !bytes.Equal(got[:end], g.data[:end]) {
				at := 0
				for at < min(len(got), end) && got[at] == g.data[at] {
					at++
				}
				t.Fatalf("bytes differ from %d on, of %d", at, end)
			}
		})
	}
}

func checkScan(t *testing.T, list []entry, want []byte) {
	t.Helper()
	var got bytes.Buffer
	for _, e := range list {
		fmt.Fprintf(&got, "0x%X ==> 0x%X\n", dbformat.ExtractUserKey(e.key), e.value)
	}
	if !bytes.Equal(bytes.TrimSpace(got.Bytes()), bytes.TrimSpace(want)) {
		t.Errorf("reads\n%.300s\nwant\n%.300s", got.Bytes(), want)
	}
}

// checkReads looks up and seeks all keys, and some that are not there.
func checkReads(t *testing.T, r table.TableReader, list []entry, backwards bool) {
	t.Helper()
	ro := rocksdb.DefaultReadOptions()
	it := r.NewIterator(&ro, nil, false, rocksdb.CallerUncategorized, 0, false)
	defer it.Close()
	for _, e := range list {
		k, err := dbformat.ParseInternalKey(e.key, true)
		noError(t, err)
		v, state, err := lookUp(r, e.key)
		noError(t, err)
		want, wantState := string(e.value), table.GetFound
		if k.Type == dbformat.TypeDeletion {
			want, wantState = "", table.GetDeleted
		}
		if v != want || state != wantState {
			t.Fatalf("%s is %q, state %d", k.DebugString(true, false), v, state)
		}
		if it.Seek(e.key); !it.Valid() || !bytes.Equal(it.Key(), e.key) || !bytes.Equal(it.Value(), e.value) {
			t.Fatalf("seek of %s: valid %v, %v", k.DebugString(true, false), it.Valid(), it.Status())
		}
		if backwards {
			if it.SeekForPrev(e.key); !it.Valid() || !bytes.Equal(it.Key(), e.key) {
				t.Fatalf("SeekForPrev of %s: valid %v, %v", k.DebugString(true, false), it.Valid(), it.Status())
			}
		}
		other := bytes.Clone(k.UserKey)
		if len(other) == 0 {
			continue
		}
		other[len(other)-1] ^= 0x80
		if _, state, err := lookUp(r, dbformat.AppendInternalKey(nil, other, dbformat.MaxSequenceNumber, dbformat.ValueTypeForSeek)); err != nil || state != table.GetNotFound {
			t.Fatalf("%q: state %d, %v", other, state, err)
		}
	}
}
