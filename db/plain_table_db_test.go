// Port of db/plain_table_db_test.cc: PlainTableKeyDecoderTest, and the cases of
// PlainTableDBTest but those of iterators. Differs: whether the filter let a
// lookup through is told by the perf context, not by a reader that overrides the
// filter.

package db_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/file"
	"github.com/rocksdb-go/rocksdb/table"
	"github.com/rocksdb-go/rocksdb/table/format"
	"github.com/rocksdb-go/rocksdb/table/plain"
	"github.com/rocksdb-go/rocksdb/util"
)

// countedSource is a file in memory that counts reads.
type countedSource struct {
	rocksdb.FSRandomAccessFile
	data  []byte
	reads int
}

func (s *countedSource) Read(offset uint64, n int, _ *rocksdb.IOOptions, scratch []byte) ([]byte, error) {
	s.reads++
	return scratch[:copy(scratch[:n], s.data[offset:])], nil
}
func (s *countedSource) UseDirectIO() bool               { return false }
func (s *countedSource) GetRequiredBufferAlignment() int { return 1 }

func TestPlainTableKeyDecoderTest_ReadNonMmap(t *testing.T) {
	const length = 2222
	data := util.NewRandom(301).RandomString(length)
	source := &countedSource{data: []byte(data)}
	info := plain.NewPlainTableReaderFileInfo(file.NewRandomAccessFileReader(source, "test", nil), length)
	read := func(r *plain.PlainTableFileReader, pos, n int) {
		t.Helper()
		got, err := r.Read(pos, n)
		if err != nil || string(got) != data[pos:pos+n] {
			t.Fatalf("read at %d: %q, %v", pos, got, err)
		}
	}
	r := plain.NewPlainTableFileReader(info)
	const size = 77
	for pos := 0; pos < length; pos += size {
		read(r, pos, min(length-pos, size))
	}
	if source.reads >= length/size/2 {
		t.Errorf("%d reads", source.reads)
	}
	for i, c := range []struct {
		reads [][2]int
		want  int // reads of the file
	}{
		{[][2]int{{600, 30}, {590, 30}, {600, 20}, {600, 40}}, 2},
		{[][2]int{{800, 20}, {100, 20}, {500, 20}, {1500, 20}, {100, 20}, {80, 20}}, 6},
		{[][2]int{{1000, 20}, {500, 20}, {1000, 50}}, 2},
		{[][2]int{{1000, 20}, {500, 20}, {500, 20}}, 2},
		{[][2]int{{1000, 20}, {500, 20}, {200, 20}, {500, 20}}, 4},
		{[][2]int{{1000, 20}, {500, 20}, {200, 20}, {1000, 50}}, 3},
		{[][2]int{{600, 500}, {610, 20}, {100, 20}}, 2},
		{[][2]int{{500, 100}, {490, 100}, {550, 50}}, 2},
	} {
		source.reads = 0
		r := plain.NewPlainTableFileReader(info)
		for _, p := range c.reads {
			read(r, p[0], p[1])
		}
		if source.reads != c.want {
			t.Errorf("case %d: %d reads, not %d", i, source.reads, c.want)
		}
	}
}

// plainTest is a database of plain tables, mapped or not.
type plainTest struct {
	*dbTest
	mmap bool
}

// eachPlain runs f with a fresh database of either kind.
func eachPlain(t *testing.T, f func(x *plainTest)) {
	for _, mmap := range []bool{false, true} {
		t.Run(fmt.Sprintf("mmap=%t", mmap), func(t *testing.T) {
			x := &plainTest{newDBTest(t), mmap}
			x.destroyAndReopen(x.options())
			f(x)
		})
	}
}

func (x *plainTest) options() rocksdb.Options {
	o := rocksdb.DefaultOptions()
	o.Env, o.CreateIfMissing = x.env, true
	o.LevelCompactionDynamicLevelBytes = false
	p := rocksdb.DefaultPlainTableOptions()
	p.BloomBitsPerKey, p.HashTableRatio, p.IndexSparseness, p.EncodingType = 2, 0.8, 3, rocksdb.EncodingPrefix
	o.TableFactory = rocksdb.NewPlainTableFactory(p)
	o.MemtableFactory = hashLinkList()
	o.PrefixExtractor = rocksdb.NewFixedPrefixTransform(8)
	o.AllowMmapReads, o.AllowConcurrentMemtableWrite = x.mmap, false
	return o
}

// with opens a fresh database with table options, those of total order without a
// prefix extractor.
func (x *plainTest) with(p rocksdb.PlainTableOptions, totalOrder bool) {
	x.Helper()
	o := x.options()
	if totalOrder {
		o.PrefixExtractor = nil
	}
	o.TableFactory = &checkedPlainFactory{plain.NewPlainTableFactory(&p), x.T, p.StoreIndexInFile}
	x.destroyAndReopen(o)
}

func tableOptions(totalOrder bool) rocksdb.PlainTableOptions {
	p := rocksdb.DefaultPlainTableOptions()
	p.HashTableRatio, p.IndexSparseness = 0.75, 16
	if totalOrder {
		p.HashTableRatio, p.IndexSparseness = 0, 2
	}
	return p
}

// checkedPlainFactory looks at what is in the tables that it opens.
type checkedPlainFactory struct {
	*plain.PlainTableFactory
	t          *testing.T
	storeIndex bool
}

func (f *checkedPlainFactory) Clone() rocksdb.TableFactory { return f }

func (f *checkedPlainFactory) NewTableReader(ro *rocksdb.ReadOptions, o *table.TableReaderOptions, r *file.RandomAccessFileReader,
	size uint64, prefetch bool) (table.TableReader, error) {
	m := table.MetaReader{File: r, FileSize: size, ReadOptions: ro, IOptions: o.IOptions}
	if f.storeIndex {
		for _, name := range []string{plain.BloomBlockName, plain.PlainTableIndexBlockName} {
			if _, _, err := m.FindMetaBlockInFile(format.PlainTableMagicNumber, name); err != nil {
				f.t.Errorf("%s: %v", name, err)
			}
		}
	}
	t, err := f.PlainTableFactory.NewTableReader(ro, o, r, size, prefetch)
	if err != nil {
		return nil, err
	}
	p := t.GetTableProperties()
	if p.ColumnFamilyID != 0 || p.ColumnFamilyName != rocksdb.DefaultColumnFamilyName {
		f.t.Errorf("table of family %d, %q", p.ColumnFamilyID, p.ColumnFamilyName)
	}
	if f.storeIndex {
		u := p.UserCollectedProperties
		if u[rocksdb.PlainTablePropertyBloomVersion] != "1" {
			f.t.Error("no version of the filter")
		}
		if _, ok := u[rocksdb.PlainTablePropertyNumBloomBlocks]; !ok && o.IOptions.BloomLocality > 0 {
			f.t.Error("no number of blocks of the filter")
		}
	}
	return t, nil
}

// wantFiltered is wantGet of a key that is not there; no filter lets it through,
// or all do.
func (x *plainTest) wantFiltered(key string, filtered bool) {
	x.Helper()
	perf := rocksdb.PerfContext{Level: rocksdb.EnableCount}
	if got := x.getPerf(0, key, &perf); got != "NOT_FOUND" {
		x.Fatalf("%q is %q", key, got)
	}
	if filtered && (perf.BloomSSTMissCount == 0 || perf.BloomSSTHitCount != 0) || !filtered && perf.BloomSSTMissCount != 0 {
		x.Errorf("%q: filters found %d and missed %d", key, perf.BloomSSTHitCount, perf.BloomSSTMissCount)
	}
}

func TestPlainTableDBTest_Empty(t *testing.T) {
	eachPlain(t, func(x *plainTest) { x.wantGet(0, "0000000000000foo", "NOT_FOUND") })
}

func wantError(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Fatalf("error is %v, not %s", err, want)
	}
}

func TestPlainTableDBTest_BadOptions1(t *testing.T) {
	eachPlain(t, func(x *plainTest) {
		x.mustPut(0, "1000000000000foo", "v1")
		x.flush(0)
		o := x.options()
		o.PrefixExtractor = nil
		wantError(x.T, x.tryReopen(o), "Invalid argument: Prefix extractor is missing when opening a PlainTable built using a prefix extractor")
		o.PrefixExtractor = rocksdb.NewFixedPrefixTransform(6)
		wantError(x.T, x.tryReopen(o), "Invalid argument: Prefix extractor given doesn't match the one used to build PlainTable")
		o.PrefixExtractor = rocksdb.NewFixedPrefixTransform(8)
		x.reopen(o)
		x.wantGet(0, "1000000000000foo", "v1")
	})
}

func TestPlainTableDBTest_BadOptions2(t *testing.T) {
	eachPlain(t, func(x *plainTest) {
		o := x.options()
		o.PrefixExtractor = nil
		x.destroyAndReopen(o)
		// The table can be built, but not opened.
		x.mustPut(0, "1000000000000foo", "v1")
		if err := x.db.Flush(nil); err == nil {
			x.Fatal("no error")
		}
		wantError(x.T, x.tryReopen(o), "Not implemented: PlainTable requires a prefix extractor enable prefix hash mode.")
		p := rocksdb.DefaultPlainTableOptions()
		p.HashTableRatio = 0
		o.TableFactory = rocksdb.NewPlainTableFactory(p)
		x.reopen(o)
		x.wantGet(0, "1000000000000foo", "v1")
		// An index in memory is made with any extractor.
		x.reopen(x.options())
		x.wantGet(0, "1000000000000foo", "v1")
	})
}

const testHugePage = 2 << 20

// eachPlainOption runs f for both kinds of memory, of encoding, and of order.
func eachPlainOption(x *plainTest, f func(p rocksdb.PlainTableOptions, totalOrder bool)) {
	for _, huge := range []uint64{0, testHugePage} {
		for _, encoding := range []rocksdb.EncodingType{rocksdb.EncodingPlain, rocksdb.EncodingPrefix} {
			for _, totalOrder := range []bool{false, true} {
				p := tableOptions(totalOrder)
				p.HugePageTLBSize, p.EncodingType = huge, encoding
				f(p, totalOrder)
			}
		}
	}
}

func TestPlainTableDBTest_Flush(t *testing.T) {
	eachPlain(t, func(x *plainTest) {
		eachPlainOption(x, func(p rocksdb.PlainTableOptions, totalOrder bool) {
			for bloom := -1; bloom <= 117; bloom += 117 {
				for _, store := range []bool{false, true} {
					p.BloomBitsPerKey, p.FullScanMode, p.StoreIndexInFile = max(bloom, 0), bloom < 0, store
					x.checkFlush(p, totalOrder)
				}
			}
		})
	})
}

func (x *plainTest) checkFlush(p rocksdb.PlainTableOptions, totalOrder bool) {
	x.Helper()
	o := x.options()
	if totalOrder {
		o.PrefixExtractor = nil
	}
	o.TableFactory = rocksdb.NewPlainTableFactory(p)
	x.destroyAndReopen(o)
	x.wantInt(0, "rocksdb.estimate-table-readers-mem", 0)
	x.putAll("1000000000000foo", "v1", "0000000000000bar", "v2", "1000000000000foo", "v3")
	x.flush(0)
	if x.intProperty(0, "rocksdb.estimate-table-readers-mem") == 0 {
		x.Error("readers have no memory")
	}
	props, err := x.db.GetPropertiesOfAllTables()
	x.must(err)
	if len(props) != 1 {
		x.Fatalf("%d tables", len(props))
	}
	if p.FullScanMode {
		it := x.db.NewIterator(nil)
		defer it.Close()
		it.SeekToFirst()
		for _, kv := range [][2]string{{"0000000000000bar", "v2"}, {"1000000000000foo", "v3"}} {
			if !it.Valid() || string(it.Key()) != kv[0] || string(it.Value()) != kv[1] {
				x.Fatalf("iterator is not at %v", kv)
			}
			it.Next()
		}
		if it.Valid() || it.Status() != nil {
			x.Error(it.Valid(), it.Status())
		}
		// What needs an index fails.
		if _, err := x.db.Get(nil, []byte("1000000000000foo")); !errors.Is(err, rocksdb.ErrInvalidArgument) {
			x.Error(err)
		}
		if it.Seek([]byte("1000000000000foo")); it.Valid() || !errors.Is(it.Status(), rocksdb.ErrInvalidArgument) {
			x.Error(it.Valid(), it.Status())
		}
		return
	}
	hashTable := "12"
	if totalOrder {
		hashTable = "4"
	}
	if p.StoreIndexInFile {
		hashTable = "0"
	}
	for _, tp := range props {
		u := tp.UserCollectedProperties
		if u["plain_table_hash_table_size"] != hashTable || u["plain_table_sub_index_size"] != "0" {
			x.Errorf("hash table of %s bytes, sub-index of %s", u["plain_table_hash_table_size"], u["plain_table_sub_index_size"])
		}
	}
	x.wantAll("1000000000000foo", "v3", "0000000000000bar", "v2")
}

func TestPlainTableDBTest_Flush2(t *testing.T) {
	eachPlain(t, func(x *plainTest) {
		eachPlainOption(x, func(p rocksdb.PlainTableOptions, totalOrder bool) {
			for _, bits := range []int{0, 117} {
				for _, store := range []bool{false, true} {
					if p.EncodingType == rocksdb.EncodingPrefix && totalOrder || store && (bits == 0 || totalOrder) {
						continue
					}
					p.BloomBitsPerKey, p.StoreIndexInFile = bits, store
					x.with(p, totalOrder)
					x.checkFlush2(bits > 0, totalOrder)
				}
			}
		})
	})
}

func (x *plainTest) checkFlush2(filter, totalOrder bool) {
	x.Helper()
	x.putAll("0000000000000bar", "b", "1000000000000foo", "v1")
	x.flush(0)
	x.mustPut(0, "1000000000000foo", "v2")
	x.flush(0)
	x.wantGet(0, "1000000000000foo", "v2")
	x.mustPut(0, "0000000000000eee", "v3")
	x.flush(0)
	x.wantGet(0, "0000000000000eee", "v3")
	x.mustDelete(0, "0000000000000bar")
	x.flush(0)
	x.wantGet(0, "0000000000000bar", "NOT_FOUND")
	x.putAll("0000000000000eee", "v5", "9000000000000eee", "v5")
	x.flush(0)
	x.wantGet(0, "0000000000000eee", "v5")
	if filter {
		x.wantFiltered("5_not00000000bar", true)
		if totalOrder {
			x.wantFiltered("1000000000000not", true)
			x.wantFiltered("0000000000000not", true)
		}
	}
}

func TestPlainTableDBTest_Immortal(t *testing.T) {
	eachPlain(t, func(x *plainTest) {
		for _, encoding := range []rocksdb.EncodingType{rocksdb.EncodingPlain, rocksdb.EncodingPrefix} {
			o := x.options()
			o.MaxOpenFiles = -1
			p := tableOptions(false)
			p.EncodingType = encoding
			o.TableFactory = rocksdb.NewPlainTableFactory(p)
			x.destroyAndReopen(o)
			x.putAll("0000000000000bar", "b", "1000000000000foo", "v1")
			x.flush(0)
			pinned := func(key, want string) (rocksdb.PinnableSlice, bool) {
				v, err := x.db.Get(nil, []byte(key))
				x.must(err)
				if string(v.Data()) != want {
					x.Fatalf("%q is %q", key, v.Data())
				}
				return v, v.IsPinned()
			}
			check := func(want bool) {
				for k, v := range map[string]string{"0000000000000bar": "b", "1000000000000foo": "v1"} {
					value, is := pinned(k, v)
					if is != want {
						x.Errorf("%q is pinned: %v", k, is)
					}
					value.Release()
				}
			}
			check(false)
			x.must(x.tryReadOnlyReopen(o))
			check(x.mmap)
			x.wantGet(0, "1000000000000bar", "NOT_FOUND")
			// A pinned value outlives the database.
			v, _ := pinned("1000000000000foo", "v1")
			x.close()
			if !bytes.Equal(v.Data(), []byte("v1")) {
				x.Errorf("%q after Close", v.Data())
			}
			v.Release()
		}
	})
}

func TestPlainTableDBTest_BloomSchema(t *testing.T) {
	nth := func(n int, filler string) string {
		return string([]byte{byte(n % 10), byte(n / 10 % 10), byte(n / 100 % 10), byte(n / 1000 % 10)}) + strings.Repeat(filler, 12)
	}
	eachPlain(t, func(x *plainTest) {
		// Which of 32 keys that are not there get through tells the schema.
		for locality, pattern := range []uint32{1785868347, 2421694657} {
			o := x.options()
			o.BloomLocality = uint32(locality)
			p := tableOptions(false)
			p.UserKeyLen, p.BloomBitsPerKey = 16, 3
			o.TableFactory = &checkedPlainFactory{plain.NewPlainTableFactory(&p), x.T, false}
			x.destroyAndReopen(o)
			for i := range 2345 {
				x.mustPut(0, nth(i, "y"), "added")
			}
			x.flush(0)
			x.wantGet(0, nth(42, "y"), "added")
			for i := range 32 {
				x.wantFiltered(nth(i, "n"), pattern>>i&1 == 0)
			}
		}
	})
}

func TestPlainTableDBTest_CompactionTrigger(t *testing.T) {
	eachPlain(t, func(x *plainTest) {
		o := x.options()
		o.WriteBufferSize, o.NumLevels, o.Level0FileNumCompactionTrigger = 120<<10, 3, 3
		x.reopen(o)
		rnd := util.NewRandom(301)
		for n := range o.Level0FileNumCompactionTrigger - 1 {
			for i := range 10 {
				x.mustPut(0, sixDigits(i), rnd.RandomString(12<<10))
			}
			x.mustPut(0, sixDigits(999), "")
			x.must(x.full().TestWaitForFlushMemTable(nil))
			if got := x.numTableFilesAtLevel(0, 0); got != n+1 {
				x.Fatalf("%d files, not %d", got, n+1)
			}
		}
		for i := range 12 {
			x.mustPut(0, sixDigits(i), rnd.RandomString(10000))
		}
		x.mustPut(0, sixDigits(999), "")
		x.must(x.full().TestWaitForCompact())
		x.wantFiles(0, "0,1")
	})
}

func TestPlainTableDBTest_AdaptiveTable(t *testing.T) {
	eachPlain(t, func(x *plainTest) {
		o := x.options()
		plain := rocksdb.NewPlainTableFactory(rocksdb.DefaultPlainTableOptions())
		o.TableFactory = plain
		x.destroyAndReopen(o)
		x.putAll("1000000000000foo", "v1", "0000000000000bar", "v2", "1000000000000foo", "v3")
		x.flush(0)

		o.CreateIfMissing = false
		block := rocksdb.NewBlockBasedTableFactory(rocksdb.DefaultBlockBasedTableOptions())
		o.TableFactory = adaptive(x.T, block, block, plain, nil)
		x.reopen(o)
		x.wantAll("1000000000000foo", "v3", "0000000000000bar", "v2")
		x.putAll("2000000000000foo", "v4", "3000000000000bar", "v5")
		x.flush(0)
		x.wantAll("2000000000000foo", "v4", "3000000000000bar", "v5")
		x.reopen(o)
		x.wantAll("1000000000000foo", "v3", "0000000000000bar", "v2", "2000000000000foo", "v4", "3000000000000bar", "v5")

		// One format's factory does not read the other's tables.
		o.ParanoidChecks = false
		o.TableFactory = rocksdb.NewBlockBasedTableFactory(rocksdb.DefaultBlockBasedTableOptions())
		x.reopen(o)
		if x.get(0, "1000000000000foo") == "v3" {
			x.Error("a plain table was read as a block-based one")
		}
		o.TableFactory = rocksdb.NewPlainTableFactory(rocksdb.DefaultPlainTableOptions())
		x.reopen(o)
		if x.get(0, "3000000000000bar") == "v5" {
			x.Error("a block-based table was read as a plain one")
		}
	})
}

// Upstream writes a range deletion to the log before it is refused, which stops
// all writes until the database is opened again; here it is refused before, and
// nothing else is.
func TestPlainTableDBTest_DeleteRangeNotSupported(t *testing.T) {
	eachPlain(t, func(x *plainTest) {
		for _, batch := range []bool{false, true} {
			x.destroyAndReopen(x.options())
			x.putAll("a0001111", "1", "b0001111", "2", "c0001111", "3")
			var err error
			if batch {
				wb := rocksdb.NewWriteBatch()
				x.must(wb.Put([]byte("d0001111"), []byte("4")))
				x.must(wb.DeleteRange([]byte("a"), []byte("b")))
				x.must(wb.Put([]byte("e0001111"), []byte("5")))
				err = x.db.Write(nil, wb)
			} else {
				err = x.db.DeleteRange(nil, []byte("az"), []byte("bz"))
			}
			if !errors.Is(err, rocksdb.ErrNotSupported) {
				x.Fatal(err)
			}
			want := []string{"a0001111", "1", "b0001111", "2", "c0001111", "3", "d0001111", "NOT_FOUND", "e0001111", "NOT_FOUND"}
			x.wantAll(want...)
			x.mustPut(0, "f0001111", "6")
			x.reopen(x.options())
			x.wantAll(append(want, "f0001111", "6")...)
		}
	})
}

// A log of upstream's may have such a batch at its end: recovery ends before it.
func TestPlainTableRecoversLogWithRangeDeletion(t *testing.T) {
	eachPlain(t, func(x *plainTest) {
		o := x.options()
		o.TableFactory = rocksdb.NewBlockBasedTableFactory(rocksdb.DefaultBlockBasedTableOptions())
		o.AvoidFlushDuringShutdown = true
		x.destroyAndReopen(o)
		x.mustPut(0, "a0001111", "1")
		wb := rocksdb.NewWriteBatch()
		x.must(wb.Put([]byte("d0001111"), []byte("4")))
		x.must(wb.DeleteRange([]byte("a0001111"), []byte("b0001111")))
		x.must(x.db.Write(nil, wb))
		o = x.options()
		o.WALRecoveryMode = rocksdb.AbsoluteConsistency
		if err := x.tryReopen(o); !errors.Is(err, rocksdb.ErrCorruption) {
			x.Fatal(err)
		}
		x.reopen(x.options()) // point in time
		x.wantAll("a0001111", "1", "d0001111", "NOT_FOUND")
		x.mustPut(0, "e0001111", "5")
		x.flush(0)
		x.reopen(x.options())
		x.wantAll("a0001111", "1", "d0001111", "NOT_FOUND", "e0001111", "5")
	})
}

// The age of plain tables is not known.
func TestPlainTableOptions(t *testing.T) {
	eachPlain(t, func(x *plainTest) {
		o := x.options()
		o.TTL = 3600
		wantError(x.T, x.tryReopen(o), "Not implemented: TTL is only supported in Block-Based Table format.")
		o = x.options()
		o.PeriodicCompactionSeconds = 3600
		wantError(x.T, x.tryReopen(o), "Not implemented: Periodic Compaction is only supported in Block-Based Table format.")
		// Keys of another length than the tables' are refused, and so is no
		// prefix for a stored index.
		p := rocksdb.DefaultPlainTableOptions()
		p.UserKeyLen = 12
		o = x.options()
		o.TableFactory = rocksdb.NewPlainTableFactory(p)
		x.reopen(o)
		x.mustPut(0, "0000000000000foo", "v")
		if err := x.db.Flush(nil); !errors.Is(err, rocksdb.ErrInvalidArgument) {
			x.Error(err)
		}
	})
}
