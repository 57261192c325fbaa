// No upstream twin.
// Damaged tables give errors, never a panic, and what the checksums cover is
// always noticed.

package blockbased_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/file"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/options"
	"github.com/rocksdb-go/rocksdb/table"
	blockbased "github.com/rocksdb-go/rocksdb/table/block_based"
)

// bytesFile is a file in memory.
type bytesFile struct {
	rocksdb.FSRandomAccessFile
	data []byte
}

func (f *bytesFile) UseDirectIO() bool                   { return false }
func (f *bytesFile) GetRequiredBufferAlignment() int     { return 4096 }
func (f *bytesFile) GetTemperature() rocksdb.Temperature { return rocksdb.TemperatureUnknown }
func (f *bytesFile) GetFileSize() (uint64, error)        { return uint64(len(f.data)), nil }
func (f *bytesFile) GetUniqueID([]byte) int              { return 0 }
func (f *bytesFile) Hint(rocksdb.AccessPattern)          {}
func (f *bytesFile) Close() error                        { return nil }
func (f *bytesFile) Prefetch(uint64, int, *rocksdb.IOOptions) error {
	return rocksdb.NotSupported("prefetch")
}

func (f *bytesFile) Read(offset uint64, n int, _ *rocksdb.IOOptions, scratch []byte) ([]byte, error) {
	if offset >= uint64(len(f.data)) {
		return nil, nil
	}
	return scratch[:copy(scratch[:n], f.data[offset:])], nil
}

func (f *bytesFile) MultiRead(reqs []rocksdb.FSReadRequest, opts *rocksdb.IOOptions) error {
	for i := range reqs {
		r := &reqs[i]
		r.Result, r.Status = f.Read(r.Offset, r.Len, opts, r.Scratch)
	}
	return nil
}

// useTable opens a table of bytes and reads all of it in all ways; it gives the
// first error, and that of VerifyChecksum or opening.
func useTable(s *tableSpec, data []byte, entries []entry) (verify error, got []entry, err error) {
	bbto := s.bbto
	bbto.BlockCache = nil
	io := options.NewImmutableOptions(&s.db, &s.cf)
	o := table.DefaultTableReaderOptions(&io, s.icmp)
	o.PrefixExtractor = s.cf.PrefixExtractor
	ro := rocksdb.DefaultReadOptions()
	r := file.NewRandomAccessFileReader(&bytesFile{data: data}, "damaged.sst", nil)
	tr, err := blockbased.NewBlockBasedTableFactory(&bbto).NewTableReader(&ro, &o, r, uint64(len(data)), true)
	if err != nil {
		return err, nil, err
	}
	defer tr.Close()
	verify = tr.VerifyChecksum(&ro, rocksdb.CallerUncategorized, false)
	keep := func(e error) {
		if err == nil {
			err = e
		}
	}
	keep(verify)
	keep(tr.DumpTable(&bytes.Buffer{}, false))
	ro.TotalOrderSeek = true
	it := tr.NewIterator(&ro, s.cf.PrefixExtractor, false, rocksdb.CallerUncategorized, 0, false)
	n := 0
	for it.SeekToFirst(); it.Valid() && n < 2*len(entries); it.Next() {
		got = append(got, entry{bytes.Clone(it.Key()), bytes.Clone(it.Value())})
		n++
	}
	keep(it.Status())
	n = 0
	for it.SeekToLast(); it.Valid() && n < 2*len(entries); it.Prev() {
		n++
	}
	keep(it.Status())
	var l lookup
	for i := 0; i < len(entries); i += 5 {
		it.Seek(entries[i].key)
		keep(it.Status())
		it.SeekForPrev(entries[i].key)
		keep(it.Status())
		l.init(s.icmp, dbformat.ExtractUserKey(entries[i].key))
		keep(tr.Get(&ro, entries[i].key, &l.gc, s.cf.PrefixExtractor, false))
	}
	l.v.Release()
	keep(it.Close())
	tr.ApproximateOffsetOf(&ro, entries[0].key, rocksdb.CallerUncategorized)
	_, e := tr.ApproximateKeyAnchors(&ro)
	keep(e)
	return verify, got, err
}

func sameEntries(a, b []entry) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !bytes.Equal(a[i].key, b[i].key) || !bytes.Equal(a[i].value, b[i].value) {
			return false
		}
	}
	return true
}

func TestDamagedTables(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	for version := uint32(2); version <= 7; version += 1 {
		for i, v := range variants() {
			if i%3 != int(version)%3 || v.name == "checksum_0" {
				continue
			}
			t.Run(fmt.Sprintf("v%d/%s", version, v.name), func(t *testing.T) {
				s := newSpec()
				s.bbto.FormatVersion, s.bbto.BlockSize = version, 512
				v.apply(s)
				entries := randomEntries(rnd, 60, s.icmp)
				name := filepath.Join(t.TempDir(), "000007.sst")
				s.write(t, name, entries, nil)
				data, err := os.ReadFile(name)
				if err != nil {
					t.Fatal(err)
				}
				if verify, got, err := useTable(s, data, entries); verify != nil || err != nil || !sameEntries(got, entries) {
					t.Fatalf("undamaged: %v, %v", verify, err)
				}
				step := 1 + len(data)/150
				if testing.Short() {
					step *= 5
				}
				padded := s.bbto.BlockAlign || s.bbto.SuperBlockAlignmentSize > 0
				for at := rnd.IntN(step); at < len(data); at += 1 + rnd.IntN(2*step) {
					bad := bytes.Clone(data)
					bad[at] ^= 1 << rnd.IntN(8)
					verify, got, _ := useTable(s, bad, entries)
					// Padding is not covered, nor is the space in an old footer.
					if verify == nil && !padded && at < len(data)-53 {
						t.Errorf("byte %d of %d: not noticed", at, len(data))
					}
					if verify == nil && !sameEntries(got, entries) {
						t.Errorf("byte %d of %d: not noticed, other entries", at, len(data))
					}
				}
				for range 10 {
					if verify, _, _ := useTable(s, data[:rnd.IntN(len(data))], entries); verify == nil {
						t.Error("shortened file not noticed")
					}
				}
			})
		}
	}
}

// TestDamagedWithoutChecksums has nothing but the bounds checks to rely on.
func TestDamagedWithoutChecksums(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 8))
	for i, v := range variants() {
		version := uint32(2 + i%6)
		t.Run(fmt.Sprintf("v%d/%s", version, v.name), func(t *testing.T) {
			s := newSpec()
			s.bbto.FormatVersion, s.bbto.BlockSize = version, 512
			v.apply(s)
			s.bbto.Checksum = rocksdb.NoChecksum
			entries := randomEntries(rnd, 60, s.icmp)
			name := filepath.Join(t.TempDir(), "000007.sst")
			s.write(t, name, entries, nil)
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			n := 300
			if testing.Short() {
				n = 60
			}
			for range n {
				bad := bytes.Clone(data)
				for range 1 + rnd.IntN(3) {
					bad[rnd.IntN(len(bad))] = byte(rnd.Uint32())
				}
				useTable(s, bad, entries)
			}
		})
	}
}

func FuzzTable(f *testing.F) {
	names, _ := filepath.Glob(filepath.Join("testdata", "golden", "*", "*.sst"))
	for _, n := range names {
		if data, err := os.ReadFile(n); err == nil && len(data) < 10000 {
			f.Add(data)
		}
	}
	s := newSpec()
	s.bbto.FilterPolicy = blockbased.NewBloomFilterPolicy(10)
	entries := []entry{{ikey("0000", 5, dbformat.TypeValue), nil}, {ikey("5", 5, dbformat.TypeValue), nil}}
	f.Fuzz(func(t *testing.T, data []byte) {
		w := time.AfterFunc(10*time.Second, func() { panic("it takes too long") })
		defer w.Stop()
		useTable(s, data, entries)
	})
}

// openRaw opens a table in any file.
func (s *tableSpec) openRaw(t *testing.T, f rocksdb.FSRandomAccessFile, size int) *blockbased.BlockBasedTable {
	t.Helper()
	io := options.NewImmutableOptions(&s.db, &s.cf)
	o := table.DefaultTableReaderOptions(&io, s.icmp)
	o.PrefixExtractor = s.cf.PrefixExtractor
	o.CurDBSessionID, o.CurFileNum = "ABCDEFGHIJKLMNOPQRST", 7
	ro := rocksdb.DefaultReadOptions()
	r := file.NewRandomAccessFileReader(f, "000007.sst", nil)
	tr, err := blockbased.NewBlockBasedTableFactory(&s.bbto).NewTableReader(&ro, &o, r, uint64(size), true)
	if err != nil {
		t.Fatal(err)
	}
	return tr.(*blockbased.BlockBasedTable)
}
