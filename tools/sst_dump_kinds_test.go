// No upstream twin: what sst_dump prints of tables that hold more than plain
// values, by the texts of table/sst_file_dumper.cc.

package tools_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	contract "github.com/rocksdb-go/rocksdb/include/rocksdb"
	blockbased "github.com/rocksdb-go/rocksdb/table/block_based"
	"github.com/rocksdb-go/rocksdb/table/format"
)

// writeTable makes a table by a SstFileWriter; fill opens it, too.
func writeTable(t *testing.T, o rocksdb.Options, fill func(w *rocksdb.SstFileWriter, path string) error) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "table.sst")
	w := rocksdb.NewSstFileWriter(o, nil)
	defer w.Close()
	check(t, fill(w, path))
	check(t, w.Finish(nil))
	return path
}

// scanned is what sst_dump prints of a table's entries.
func scanned(t *testing.T, path string, args ...string) string {
	t.Helper()
	out := sstDumpOK(t, rocksdb.DefaultOptions(), path, append(args, "--command=scan")...)
	_, entries, ok := strings.Cut(out, "from [")
	_, entries, _ = strings.Cut(entries, "\n")
	if !ok {
		t.Fatalf("%q", out)
	}
	return entries
}

func TestSSTDump_EmbeddedBlobs(t *testing.T) {
	value := strings.Repeat("v", 100)
	path := writeTable(t, rocksdb.DefaultOptions(), func(w *rocksdb.SstFileWriter, path string) error {
		eo := rocksdb.DefaultSstFileWriterEmbeddedBlobOptions()
		eo.MinBlobSize = 50
		err := w.OpenWithEmbeddedBlobs(path, &eo, rocksdb.TemperatureUnknown)
		if err == nil {
			err = w.Put([]byte("a"), []byte(value))
		}
		if err == nil {
			err = w.Put([]byte("b"), []byte("short"))
		}
		if err == nil {
			err = w.PutEntity([]byte("c"), rocksdb.WideColumns{{Name: []byte("n"), Value: []byte("1")}, {Name: []byte("o"), Value: []byte(value)}})
		}
		return err
	})
	const a, b = "'a' seq:0, type:17 => ", "'b' seq:0, type:1 => short\n"
	if got := scanned(t, path, "--decode_blob_index", "--to=c"); !strings.HasPrefix(got, a+"[blob ref] file:same offset:") ||
		!strings.HasSuffix(got, " size:100 compression: NoCompression\n"+b) {
		t.Errorf("decoded %q", got)
	}
	if got := scanned(t, path, "--output_hex", "--to=b"); !strings.HasPrefix(got, "'61' seq:0, type:17 => 01") {
		t.Errorf("in hexadecimal %q", got)
	}
	// As upstream, columns in blobs are not shown.
	r := sstDump(t, rocksdb.DefaultOptions(), "--command=scan", "--from=c", path)
	if r.code != 0 || !strings.HasSuffix(r.err, "'c' seq:0, type:22 => error deserializing wide columns\n") {
		t.Errorf("%+v", r)
	}
	for _, command := range []string{"check", "verify", "raw"} {
		sstDumpOK(t, rocksdb.DefaultOptions(), path, "--command="+command)
	}
	if out := sstDumpOK(t, rocksdb.DefaultOptions(), path, "--command=check", "--show_properties"); !strings.Contains(out, "# entries: 3\n") {
		t.Errorf("%s", out)
	}
}

func TestSSTDump_WideColumns(t *testing.T) {
	path := writeTable(t, rocksdb.DefaultOptions(), func(w *rocksdb.SstFileWriter, path string) error {
		err := w.Open(path, rocksdb.TemperatureUnknown)
		if err == nil {
			err = w.PutEntity([]byte("a"), rocksdb.WideColumns{{Value: []byte("d")}, {Name: []byte("n"), Value: []byte("1")}})
		}
		return err
	})
	if got := scanned(t, path); got != "'a' seq:0, type:22 => :d n:1\n" {
		t.Errorf("%q", got)
	}
	if got := scanned(t, path, "--output_hex"); got != "'61' seq:0, type:22 => :0x64 0x6E:0x31\n" {
		t.Errorf("%q", got)
	}
}

func TestSSTDump_Timestamps(t *testing.T) {
	for _, persist := range []bool{true, false} {
		t.Run(fmt.Sprintf("persisted=%t", persist), func(t *testing.T) {
			o := rocksdb.DefaultOptions()
			o.Comparator, o.PersistUserDefinedTimestamps = rocksdb.BytewiseComparatorWithU64Ts(), persist
			ts := map[bool]uint64{true: 7}[persist] // others than 0 would be lost
			path := writeTable(t, o, func(w *rocksdb.SstFileWriter, path string) error {
				err := w.Open(path, rocksdb.TemperatureUnknown)
				for _, key := range []string{"a", "b", "longer_key"} {
					if err == nil {
						err = w.PutWithTS([]byte(key), rocksdb.EncodeU64Ts(ts), []byte("v"))
					}
				}
				return err
			})
			line := func(key string) string { return fmt.Sprintf("'%s|timestamp:%d' seq:0, type:1 => v\n", key, ts) }
			if got := scanned(t, path); got != line("a")+line("b")+line("longer_key") {
				t.Errorf("%q", got)
			}
			if got := scanned(t, path, "--from=b", "--to=longer_key"); got != line("b") {
				t.Errorf("a range: %q", got)
			}
			if got := scanned(t, path, "--prefix=longer"); got != line("longer_key") {
				t.Errorf("a prefix: %q", got)
			}
			if got := scanned(t, path, "--output_hex", "--to=b"); got != fmt.Sprintf("'61|timestamp:%d' seq:0, type:1 => 76\n", ts) {
				t.Errorf("in hexadecimal: %q", got)
			}
		})
	}
}

// endsIndex is a user-defined index that no tool knows: the last key of each block.
type endsIndex struct{}

func (endsIndex) Name() string { return "ends" }
func (endsIndex) NewBuilder(*blockbased.UserDefinedIndexOption) (blockbased.UserDefinedIndexBuilder, error) {
	return &endsIndexBuilder{}, nil
}
func (endsIndex) NewReader(*blockbased.UserDefinedIndexOption, []byte) (blockbased.UserDefinedIndexReader, error) {
	return nil, contract.NotSupported("ends: reading")
}

type endsIndexBuilder struct{ ends []byte }

func (b *endsIndexBuilder) AddIndexEntry(last, _ []byte, _ format.BlockHandle, _ blockbased.UserDefinedIndexEntryContext) {
	b.ends = append(append(b.ends, last...), ' ')
}
func (*endsIndexBuilder) OnKeyAdded([]byte, blockbased.UserDefinedIndexValueType, []byte) {}
func (b *endsIndexBuilder) Finish() ([]byte, error)                                       { return b.ends, nil }
func (b *endsIndexBuilder) EstimatedSize() uint64                                         { return uint64(len(b.ends)) }

// Tables that have a user-defined index, even as the primary one, have the usual one
// too: whoever lacks the user's code reads all of them.
func TestSSTDump_UserDefinedIndex(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "t.sst")
	dump := func(udi contract.UserDefinedIndexFactory, primary bool) (checked, scanned, props, meta string, raw string) {
		bbto := rocksdb.DefaultBlockBasedTableOptions()
		bbto.BlockSize, bbto.UserDefinedIndexFactory, bbto.UseUDIAsPrimaryIndex = 1024, udi, primary
		o := rocksdb.DefaultOptions()
		o.TableFactory = rocksdb.NewBlockBasedTableFactory(bbto)
		createSST(t, o, path, 10, false)
		none := rocksdb.DefaultOptions()
		checked = sstDumpOK(t, none, path, "--command=check", "--verify_checksum")
		checked += sstDumpOK(t, none, path, "--command=verify")
		scanned = sstDumpOK(t, none, path, "--command=scan")
		props = sstDumpOK(t, none, path, "--show_properties", "--command=none")
		meta = sstDumpOK(t, none, path, "--list_meta_blocks", "--command=none")
		sstDumpOK(t, none, path, "--command=raw")
		b, err := os.ReadFile(filepath.Join(dir, "t_dump.txt"))
		check(t, err)
		return checked, scanned, props, meta, string(b)
	}
	checked, scanned, props, meta, raw := dump(nil, false)
	if n := strings.Count(scanned, "\n"); n != sstNumKey+3 {
		t.Fatalf("%d lines of %d entries: %q", n, sstNumKey, scanned[:200])
	}
	for _, primary := range []bool{false, true} {
		c, s, p, m, r := dump(endsIndex{}, primary)
		if c != checked || s != scanned {
			t.Errorf("primary %t: check %q, %d bytes of entries; without index %q, %d", primary, c, len(s), checked, len(scanned))
		}
		if !strings.Contains(p, "  # entries: 1024\n") || !strings.Contains(props, "  # entries: 1024\n") {
			t.Errorf("primary %t: properties %s", primary, p)
		}
		const block = "rocksdb.user_defined_index.ends"
		if !strings.Contains(m, block) || strings.Contains(meta, block) {
			t.Errorf("primary %t: meta blocks %s", primary, m)
		}
		if _, entries, _ := strings.Cut(r, "Data Block #"); !strings.HasSuffix(raw, entries) {
			t.Errorf("primary %t: a raw dump of other data blocks", primary)
		}
	}
}
