// Port of db/column_family_test.cc: families made, dropped, written, reopened.

package db_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/db"
	"github.com/rocksdb-go/rocksdb/options"
)

func TestColumnFamilyTest_DontReuseColumnFamilyID(t *testing.T) {
	for iter := range 3 {
		x := newCFTest(t)
		x.open()
		x.create([]string{"one", "two", "three"})
		for i, c := range x.cfs {
			x.want(c.GetID() == uint32(i), "family %d has ID %d", i, c.GetID())
		}
		if iter == 1 {
			x.reopen()
		}
		x.drop(3)
		x.reopen()
		if iter == 2 {
			// Also when the drop is not in the MANIFEST's tail.
			x.reopen()
		}
		x.create([]string{"three2"})
		x.want(x.cfs[3].GetID() == 4, "the new family has ID %d", x.cfs[3].GetID())
		x.destroy()
	}
}

// flushEmptyCFTest runs f with and without allow_2pc; f's database then loses
// what was not synced and is opened again for check.
func flushEmptyCFTest(t *testing.T, f, check func(x *cfTest)) {
	for _, allow2PC := range []bool{true, false} {
		t.Run(fmt.Sprint(allow2PC), func(t *testing.T) {
			x := newCFTest(t)
			x.useFault()
			x.dbo.Allow2PC = allow2PC
			x.open()
			x.create([]string{"one", "two"})
			x.put(1, "foo", "v1") // sequence number 1
			x.reopen()
			f(x)
			x.must(x.db.FlushWAL(false))
			x.fault.SetFilesystemActive(false, rocksdb.IOError("not active"))
			names := x.liveNames()
			if err := x.shut(); err != nil {
				t.Logf("close: %v", err)
			}
			x.fault.ResetState()
			x.open(names...)
			check(x)
		})
	}
}

func TestFlushEmptyCFTestWithParam_FlushEmptyCFTest(t *testing.T) {
	flushEmptyCFTest(t, func(x *cfTest) {
		x.put(1, "foo", "v1") // 2
		x.put(1, "bar", "v2") // 3
		x.flush(1)
		// The empty family's log number passes what is to come, but no further.
		x.flush(0)
		x.put(1, "bar", "v3") // 4
		x.put(1, "foo", "v4") // 5
	}, func(x *cfTest) {
		x.wantGet(1, "foo", "v4")
		x.wantGet(1, "bar", "v3")
	})
}

func TestFlushEmptyCFTestWithParam_FlushEmptyCFTest2(t *testing.T) {
	flushEmptyCFTest(t, func(x *cfTest) {
		x.put(1, "foo", "v1") // 2
		x.put(1, "bar", "v2") // 3
		x.flush(1)
		x.put(0, "bar", "v2") // 4
		x.put(2, "bar", "v2") // 5
		x.put(1, "bar", "v3") // 6
		x.flush(0)
		x.flush(1)
		x.flush(2)
		x.put(1, "bar", "v4") // 7
		x.put(1, "bar", "v5") // 8
	}, func(x *cfTest) {
		x.wantGet(1, "foo", "v1")
		x.wantGet(1, "bar", "v5")
	})
}

func (x *cfTest) wantFamilies(want ...string) {
	x.Helper()
	got, err := rocksdb.ListColumnFamilies(x.dbo, x.dir)
	x.must(err)
	slices.Sort(got)
	x.want(slices.Equal(got, want), "families %q, not %q", got, want)
}

func TestColumnFamilyTest_AddDrop(t *testing.T) {
	x := newCFTest(t)
	x.open()
	x.create([]string{"one", "two", "three"})
	x.wantGet(1, "fodor", "NOT_FOUND")
	x.wantGet(2, "fodor", "NOT_FOUND")
	x.drop(2)
	x.wantGet(1, "fodor", "NOT_FOUND")
	x.create([]string{"four"})
	x.wantGet(3, "fodor", "NOT_FOUND")
	x.put(1, "fodor", "mirko")
	x.wantGet(1, "fodor", "mirko")
	x.wantGet(3, "fodor", "NOT_FOUND")
	x.close()
	x.wantInvalid(x.tryOpen([]string{"default"}))
	x.open("default", "one", "three", "four")
	x.drop(1)
	x.reopen()
	x.close()
	x.wantFamilies("default", "four", "three")
}

func TestColumnFamilyTest_EmptyNameRejected(t *testing.T) {
	x := newCFTest(t)
	x.open()
	c, err := x.db.CreateColumnFamily(x.cfo, "")
	x.wantInvalid(err)
	x.want(c == nil, "a handle")

	// The first one is made, the last one is not tried.
	list, err := x.db.CreateColumnFamilies(x.cfo, []string{"ok_name", "", "another"})
	x.wantInvalid(err)
	x.want(len(list) == 1 && list[0].GetName() == "ok_name", "%d families", len(list))
	x.must(x.db.DropColumnFamily(list[0]))
	x.must(list[0].Close())

	list, err = x.db.CreateColumnFamiliesByDescriptors([]rocksdb.ColumnFamilyDescriptor{{Options: x.cfo}})
	x.wantInvalid(err)
	x.want(len(list) == 0, "%d families", len(list))
}

func TestColumnFamilyTest_BulkAddDrop(t *testing.T) {
	const n = 200
	x := newCFTest(t)
	x.open()
	fillAndDrop := func(list []*rocksdb.ColumnFamily, err error) {
		x.must(err)
		x.want(len(list) == n, "%d families", len(list))
		for _, c := range list {
			x.must(c.Put(nil, []byte("foo"), []byte("bar")))
		}
		x.must(x.db.DropColumnFamilies(list))
		for _, c := range list {
			x.must(c.Close())
		}
	}
	var names []string
	var ds []rocksdb.ColumnFamilyDescriptor
	for i := 1; i <= n; i++ {
		names = append(names, fmt.Sprint("cf1-", i))
		ds = append(ds, rocksdb.ColumnFamilyDescriptor{Name: fmt.Sprint("cf2-", i), Options: x.cfo})
	}
	fillAndDrop(x.db.CreateColumnFamilies(x.cfo, names))
	fillAndDrop(x.db.CreateColumnFamiliesByDescriptors(ds))
	x.close()
	x.wantFamilies("default")
}

func TestColumnFamilyTest_DropTest(t *testing.T) {
	// The first time the dropped family's current version holds its file, the
	// second time an empty memtable is all that was made since the reopening.
	for iter := range 2 {
		x := newCFTest(t)
		x.open()
		x.createAndReopen("pikachu")
		for i := range 100 {
			x.put(1, fmt.Sprint(i), fmt.Sprint("bar", i))
		}
		x.flush(1)
		if iter == 1 {
			x.reopen()
		}
		x.wantGet(1, "1", "bar1")
		x.wantLiveFiles(1)
		x.drop(1)
		x.wantLiveFiles(0)
		x.destroy()
	}
}

func TestColumnFamilyTest_WriteBatchFailure(t *testing.T) {
	x := newCFTest(t)
	x.open()
	x.createAndReopen("one", "two")
	b := rocksdb.NewWriteBatch()
	x.must(b.PutCF(x.cfs[0], []byte("existing"), []byte("column-family")))
	x.must(b.PutCF(x.cfs[1], []byte("non-existing"), []byte("column-family")))
	x.must(x.db.Write(nil, b))
	x.drop(1)
	wo := rocksdb.DefaultWriteOptions()
	wo.IgnoreMissingColumnFamilies = true
	x.must(b.PutCF(x.cfs[0], []byte("still here"), []byte("column-family")))
	x.must(x.db.Write(&wo, b))
	x.wantGet(0, "still here", "column-family")
	x.wantInvalid(x.db.Write(nil, b))
	x.close()
}

func TestColumnFamilyTest_ReadWrite(t *testing.T) {
	x := newCFTest(t)
	x.open()
	x.createAndReopen("one", "two")
	x.put(0, "foo", "v1")
	x.put(0, "bar", "v2")
	x.put(1, "mirko", "v3")
	x.put(0, "foo", "v2")
	x.put(2, "fodor", "v5")
	for iter := range 4 {
		x.wantGet(0, "foo", "v2")
		x.wantGet(0, "bar", "v2")
		x.wantGet(1, "mirko", "v3")
		x.wantGet(2, "fodor", "v5")
		x.wantGet(0, "fodor", "NOT_FOUND")
		x.wantGet(1, "fodor", "NOT_FOUND")
		x.wantGet(2, "foo", "NOT_FOUND")
		if iter <= 1 {
			x.reopen()
		}
	}
	x.close()
}

func fixed64(n uint64) string { return string(binary.LittleEndian.AppendUint64(nil, n)) }

func TestColumnFamilyTest_IgnoreRecoveredLog(t *testing.T) {
	x := newCFTest(t)
	x.cfo.MergeOperator = rocksdb.NewUInt64AddOperator()
	x.dbo.WALDir = filepath.Join(x.dir, "logs")
	x.open()
	x.create([]string{"cf1", "cf2"})
	one, two, three := fixed64(1), fixed64(2), fixed64(3)
	for _, m := range []struct {
		cf         int
		key, value string
	}{{0, "foo", one}, {1, "mirko", one}, {0, "foo", one}, {2, "bla", one}, {2, "fodor", one}, {0, "bar", one}, {2, "bla", one},
		{1, "mirko", two}, {1, "franjo", one}} {
		x.must(x.merge(m.cf, m.key, m.value))
	}
	saved := map[string][]byte{}
	entries, err := os.ReadDir(x.dbo.WALDir)
	x.must(err)
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(x.dbo.WALDir, e.Name()))
		x.must(err)
		saved[e.Name()] = data
	}
	x.close()
	for iter := range 2 {
		x.open("default", "cf1", "cf2")
		x.wantGet(0, "foo", two)
		x.wantGet(0, "bar", one)
		x.wantGet(1, "mirko", three)
		x.wantGet(1, "franjo", one)
		x.wantGet(2, "fodor", one)
		x.wantGet(2, "bla", two)
		x.close()
		if iter == 0 {
			// Logs that were recovered from come back.
			for name, data := range saved {
				x.must(os.WriteFile(filepath.Join(x.dbo.WALDir, name), data, 0o644))
			}
		}
	}
}

func TestColumnFamilyTest_FlushTest(t *testing.T) {
	x := newCFTest(t)
	x.open()
	x.createAndReopen("one", "two")
	x.put(0, "foo", "v1")
	x.put(0, "bar", "v2")
	x.put(1, "mirko", "v3")
	x.put(0, "foo", "v2")
	x.put(2, "fodor", "v5")
	for j := range 2 {
		var its []*rocksdb.Iterator
		if j == 0 {
			var err error
			its, err = x.db.NewIterators(nil, x.cfs)
			x.must(err)
		}
		for i := range 3 {
			before := x.full().TestMaxTotalInMemoryState()
			x.flush(i)
			after := x.full().TestMaxTotalInMemoryState()
			x.want(before == after, "write buffers of %d bytes became %d", before, after)
		}
		x.put(1, "foofoo", "bar")
		x.put(0, "foofoo", "bar")
		for _, it := range its {
			x.must(it.Status())
			x.must(it.Close())
		}
	}
	x.reopen()
	for iter := range 3 {
		x.wantGet(0, "foo", "v2")
		x.wantGet(0, "bar", "v2")
		x.wantGet(1, "mirko", "v3")
		x.wantGet(2, "fodor", "v5")
		x.wantGet(0, "fodor", "NOT_FOUND")
		x.wantGet(1, "fodor", "NOT_FOUND")
		x.wantGet(2, "foo", "NOT_FOUND")
		if iter <= 1 {
			x.reopen()
		}
	}
	x.close()
}

func TestColumnFamilyTest_LogDeletionTest(t *testing.T) {
	x := newCFTest(t)
	x.dbo.MaxTotalWALSize = math.MaxUint64
	x.cfo.ArenaBlockSize = 4 << 10
	x.cfo.WriteBufferSize = 128000
	x.open()
	x.create([]string{"one", "two", "three", "four"})
	// Each bracket is a log; the families after the bar have data in it that is
	// not flushed. The last log is the one that is written.
	x.wantLiveLogs(0)
	x.putRandom(0, 1, 128) // [0]
	x.putRandom(1, 1, 128) // [0, 1]
	x.putRandom(1, 1000, 128)
	x.waitForFlush(1) // [0] [1]
	x.wantLiveLogs(2)
	x.putRandom(0, 1, 128) // [0] [0, 1]
	x.wantLiveLogs(2)
	x.putRandom(2, 1, 128) // [0] [0, 1, 2]
	x.putRandom(2, 1000, 128)
	x.waitForFlush(2) // [0] [0, 1] [2]
	x.wantLiveLogs(3)
	x.putRandom(2, 1000, 128)
	x.waitForFlush(2) // [0] [0, 1] [] [2]
	x.wantLiveLogs(4)
	x.putRandom(3, 1, 128)
	x.putRandom(1, 1, 128) // [0] [0, 1] [] [1, 2, 3]
	x.wantLiveLogs(4)
	x.putRandom(1, 1000, 128)
	x.waitForFlush(1) // [0] [0] [] [2, 3] [1]
	x.wantLiveLogs(5)
	x.putRandom(0, 1000, 128)
	x.waitForFlush(0) // [2, 3] [1] [0]
	x.wantLiveLogs(3)
	x.putRandom(0, 1000, 128)
	x.waitForFlush(0) // [2, 3] [1] [] [0]
	x.wantLiveLogs(4)
	x.putRandom(1, 1000, 128)
	x.waitForFlush(1) // [2, 3] [] [] [0] [1]
	x.wantLiveLogs(5)
	x.putRandom(2, 1000, 128)
	x.waitForFlush(2) // [3] [] [] [0] [1] [2]
	x.wantLiveLogs(6)
	x.putRandom(3, 1000, 128)
	x.waitForFlush(3) // [0] [1] [2] [3]
	x.wantLiveLogs(4)
	x.close()
}

func TestColumnFamilyTest_CrashAfterFlush(t *testing.T) {
	x := newCFTest(t)
	x.useFault()
	x.open()
	x.create([]string{"one"})
	b := rocksdb.NewWriteBatch()
	x.must(b.PutCF(x.cfs[0], []byte("foo"), []byte("bar")))
	x.must(b.PutCF(x.cfs[1], []byte("foo"), []byte("bar")))
	x.must(x.db.Write(nil, b))
	x.flush(0)
	x.fault.SetFilesystemActive(false, rocksdb.IOError("not active"))
	names := x.liveNames()
	if err := x.shut(); err != nil {
		t.Logf("close: %v", err)
	}
	x.fault.DropUnsyncedFileData()
	x.fault.ResetState()
	x.open(names...)
	// The write is in both families or in neither.
	x.wantGet(0, "foo", x.get(1, "foo"))
	x.close()
}

func TestColumnFamilyTest_OpenNonexistentColumnFamily(t *testing.T) {
	x := newCFTest(t)
	x.open()
	x.close()
	x.wantInvalid(x.tryOpen([]string{"default", "dne"}))
}

// bufferOptions are options with small write buffers that are flushed by
// numbers.
func bufferOptions(buffer, block uint64, merge int) rocksdb.ColumnFamilyOptions {
	o := rocksdb.DefaultColumnFamilyOptions()
	o.WriteBufferSize = buffer
	o.ArenaBlockSize = block
	o.MaxWriteBufferNumber = 10
	o.MinWriteBufferNumberToMerge = merge
	if merge > 1 {
		o.MaxWriteBufferSizeToMaintain = int64(buffer)
	}
	return o
}

func TestColumnFamilyTest_DifferentWriteBufferSizes(t *testing.T) {
	x := newCFTest(t)
	x.dbo.MaxTotalWALSize = math.MaxUint64
	x.open()
	x.create([]string{"one", "two", "three"})
	x.reopen(bufferOptions(100000, 4*4096, 1), bufferOptions(200000, 4*4096, 2), bufferOptions(1000000, 4*4096, 3), bufferOptions(4096*22, 4096, 4))

	for _, s := range []struct {
		cf, num, size int
		wait          bool
		immutable     []int
		logs          int
	}{
		{0, 100, 1000, true, []int{0, 0, 0, 0}, 1},
		{1, 200, 1000, false, []int{0, 1, 0, 0}, 2},
		{2, 1000, 1000, false, []int{0, 1, 1, 0}, 3},
		{2, 1000, 1000, false, []int{0, 1, 2, 0}, 4},
		{3, 93, 990, false, []int{0, 1, 2, 1}, 5},
		{3, 88, 990, false, []int{0, 1, 2, 2}, 6},
		{3, 88, 990, false, []int{0, 1, 2, 3}, 7},
		{0, 100, 1000, true, []int{0, 1, 2, 3}, 8},
		{2, 100, 10000, true, []int{0, 1, 0, 3}, 9},
		{3, 88, 990, true, []int{0, 1, 0, 0}, 10},
		{3, 88, 990, false, []int{0, 1, 0, 1}, 11},
		{1, 200, 1000, true, []int{0, 0, 0, 1}, 5},
		{3, 88 * 3, 990, true, nil, 0},
		{3, 88 * 4, 990, true, []int{0, 0, 0, 0}, 12},
		{0, 100, 1000, true, []int{0, 0, 0, 0}, 12},
		{2, 3 * 1000, 1000, true, []int{0, 0, 0, 0}, 12},
		{1, 2 * 200, 1000, true, []int{0, 0, 0, 0}, 7},
	} {
		t.Logf("family %d: %d entries of %d bytes", s.cf, s.num, s.size)
		x.putRandom(s.cf, s.num, s.size)
		if s.wait {
			x.waitForFlush(s.cf)
		}
		if s.immutable != nil {
			x.wantImmutable(s.immutable...)
			x.wantLiveLogs(s.logs)
		}
	}
	x.close()
}

// testComparator finds all keys equal.
type testComparator struct{ rocksdb.Comparator }

func (*testComparator) Compare(_, _ []byte) int { return 0 }
func (*testComparator) Name() string            { return "Test" }
func (*testComparator) FindShortestSeparator(dst, start, _ []byte) []byte {
	return append(dst, start...)
}
func (*testComparator) FindShortSuccessor(dst, key []byte) []byte { return append(dst, key...) }

func TestColumnFamilyTest_GetComparator(t *testing.T) {
	x := newCFTest(t)
	x.open()
	x.create([]string{"first"})
	bytewise := rocksdb.BytewiseComparator()
	third, fourth := &testComparator{bytewise}, &testComparator{bytewise}
	second, o3, o4 := x.cfo, x.cfo, x.cfo
	o3.Comparator, o4.Comparator = third, fourth
	x.create([]string{"second", "third", "fourth"}, second, o3, o4)
	for i, c := range []rocksdb.Comparator{bytewise, bytewise, bytewise, third, fourth} {
		x.want(x.cfs[i].GetComparator() == c, "family %d: comparator %v", i, x.cfs[i].GetComparator())
	}
	x.close()
}

func TestColumnFamilyTest_DifferentMergeOperators(t *testing.T) {
	x := newCFTest(t)
	x.open()
	x.create([]string{"first", "second"})
	first, second := x.cfo, x.cfo
	first.MergeOperator = rocksdb.NewUInt64AddOperator()
	second.MergeOperator = rocksdb.NewStringAppendOperator(",")
	x.reopen(x.cfo, first, second)
	one, two, three := fixed64(1), fixed64(2), fixed64(3)

	x.put(0, "foo", two)
	x.put(0, "foo", one)
	err := x.merge(0, "foo", two)
	x.want(errors.Is(err, rocksdb.ErrNotSupported), "merge without operator: %v", err)
	x.wantGet(0, "foo", one)

	x.put(1, "foo", two)
	x.put(1, "foo", one)
	x.must(x.merge(1, "foo", two))
	x.wantGet(1, "foo", three)

	x.put(2, "foo", two)
	x.put(2, "foo", one)
	x.must(x.merge(2, "foo", two))
	x.wantGet(2, "foo", one+","+two)
	x.close()
}

// noCacheTable is a table factory without block cache.
func noCacheTable() rocksdb.TableFactory {
	t := rocksdb.DefaultBlockBasedTableOptions()
	t.NoBlockCache = true
	return rocksdb.NewBlockBasedTableFactory(t)
}

// mixedOptions are those of a default family with small files, of one with
// universal compaction and of one with levels.
func (x *cfTest) mixedOptions() (def, universal, leveled rocksdb.ColumnFamilyOptions) {
	x.dbo.MaxOpenFiles = 20 // half of it for tables
	def, universal, leveled = x.cfo, x.cfo, x.cfo
	def.LevelCompactionDynamicLevelBytes = false
	def.NumLevels = 3
	def.WriteBufferSize = 64 << 10
	def.TargetFileSizeBase = 30 << 10
	def.MaxCompactionBytes = def.TargetFileSizeBase * 1100
	def.TableFactory = noCacheTable()

	universal.CompactionStyle = rocksdb.CompactionStyleUniversal
	universal.NumLevels = 1
	universal.Level0FileNumCompactionTrigger = 4
	universal.WriteBufferSize = 120000

	leveled.LevelCompactionDynamicLevelBytes = false
	leveled.NumLevels = 4
	leveled.Level0FileNumCompactionTrigger = 3
	leveled.WriteBufferSize = 100000
	return def, universal, leveled
}

// fillTables writes n tables, and checks that there are first tables in the end
// more each time.
func (x *cfTest) fillTables(cf, n, first int, save ...bool) {
	x.Helper()
	for i := range n {
		x.putRandom(cf, 10, 12000, save...)
		x.putRandom(cf, 1, 10, save...)
		x.waitForFlush(cf)
		x.wantFiles(fmt.Sprint(first+i), cf)
	}
}

func TestColumnFamilyTest_DifferentCompactionStyles(t *testing.T) {
	x := newCFTest(t)
	x.open()
	x.create([]string{"one", "two"})
	def, one, two := x.mixedOptions()
	def.MaxCompactionBytes = 1 << 60
	x.reopen(def, one, two)

	x.fillTables(1, one.Level0FileNumCompactionTrigger-1, 1)
	x.fillTables(2, two.Level0FileNumCompactionTrigger-1, 1)
	// The last one each.
	x.putRandom(1, 10, 12000)
	x.putRandom(1, 1, 10)
	x.putRandom(2, 10, 12000)
	x.putRandom(2, 1, 10)
	x.waitForCompaction()
	x.wantFiles("1", 1)
	x.wantFiles("0,1", 2)
	x.compactAll(2, true)
	x.wantFiles("0,1", 2)
	x.close()
}

func (x *cfTest) wantIter(it *rocksdb.Iterator, want string) {
	x.Helper()
	if !it.Valid() {
		x.must(it.Status())
	}
	if got := iterStatus(it); got != want {
		x.Fatalf("iterator at %q, not %q", got, want)
	}
}

func TestColumnFamilyTest_NewIteratorsTest(t *testing.T) {
	for _, tailing := range []bool{false, true} {
		x := newCFTest(t)
		x.open()
		x.createAndReopen("one", "two")
		x.put(0, "a", "b")
		x.put(1, "b", "a")
		x.put(2, "c", "m")
		x.put(2, "v", "t")
		ro := rocksdb.DefaultReadOptions()
		ro.Tailing = tailing
		its, err := x.db.NewIterators(&ro, x.cfs)
		x.must(err)
		for i, want := range []string{"a->b", "b->a", "c->m"} {
			its[i].SeekToFirst()
			x.wantIter(its[i], want)
		}
		x.put(1, "x", "x")
		second := "(invalid)"
		if tailing {
			second = "x->x"
		}
		for i, want := range []string{"(invalid)", second, "v->t"} {
			its[i].Next()
			x.wantIter(its[i], want)
		}
		for _, it := range its {
			x.must(it.Close())
		}
		x.destroy()
	}
}

func TestColumnFamilyTest_ReadOnlyDBTest(t *testing.T) {
	x := newCFTest(t)
	x.open()
	x.createAndReopen("one", "two", "three", "four")
	x.put(0, "a", "b")
	x.put(1, "foo", "bla")
	x.put(2, "foo", "blabla")
	x.put(3, "foo", "blablabla")
	x.put(4, "foo", "blablablabla")
	x.drop(2)
	x.close()

	// Not all families have to be opened.
	x.must(x.openReadOnly("default", "one", "four"))
	x.wantGet(0, "foo", "NOT_FOUND")
	x.wantGet(1, "foo", "bla")
	x.wantGet(2, "foo", "blablablabla")
	its, err := x.db.NewIterators(nil, x.cfs)
	x.must(err)
	for i, want := range []string{"a->b", "foo->bla", "foo->blablablabla"} {
		its[i].SeekToFirst()
		x.wantIter(its[i], want)
		its[i].Next()
		x.wantIter(its[i], "(invalid)")
		x.must(its[i].Close())
	}
	x.close()

	// "two" is gone.
	x.want(x.openReadOnly("default", "one", "two") != nil, "opened a dropped family")
	// The default one must be there.
	x.want(x.openReadOnly("one", "four") != nil, "opened without the default family")
}

func TestColumnFamilyTest_DontRollEmptyLogs(t *testing.T) {
	x := newCFTest(t)
	x.open()
	x.createAndReopen("one", "two", "three", "four")
	for i := range x.cfs {
		x.putRandom(i, 10, 100)
	}
	before := x.fs.newWritable.Load()
	// A table each, but the log is empty after the first.
	for i := range 5 {
		x.flush(i)
	}
	for i := range 4 {
		x.waitForFlush(i)
	}
	if n := x.fs.newWritable.Load() - before; n != int64(len(x.cfs))+1 {
		t.Fatalf("%d new files, not %d", n, len(x.cfs)+1)
	}
	x.close()
}

func TestColumnFamilyTest_FlushStaleColumnFamilies(t *testing.T) {
	x := newCFTest(t)
	x.open()
	x.create([]string{"one", "two"})
	def, one, two := x.cfo, x.cfo, x.cfo
	def.WriteBufferSize = 100000
	def.ArenaBlockSize = 4096
	def.DisableAutoCompactions, one.DisableAutoCompactions, two.DisableAutoCompactions = true, true, true
	x.dbo.MaxTotalWALSize = 210000
	x.reopen(def, one, two)

	x.putRandom(2, 1, 10)
	for i := range 2 {
		x.putRandom(0, 100, 1000)
		x.waitForFlush(0)
		x.wantLiveFiles(i + 1)
	}
	// The third flush passes the limit, and "two" holds the first log.
	x.putRandom(0, 100, 1000)
	x.waitForFlush(0)
	x.waitForFlush(2)
	files := x.db.GetLiveFilesMetaData()
	x.want(len(files) >= 4, "%d files", len(files))
	has := map[string]bool{}
	for _, f := range files {
		has[f.ColumnFamilyName] = true
	}
	// "one" is empty.
	x.want(!has["one"] && has["two"], "files of %v", has)

	x.flush(0)
	n := x.full().TestWALsTotalSize()
	x.want(n == 0, "%d bytes of logs", n)
	x.close()
}

func TestColumnFamilyTest_CreateMissingColumnFamilies(t *testing.T) {
	x := newCFTest(t)
	x.open()
	x.close()
	x.want(!x.dbo.CreateMissingColumnFamilies, "the default has changed")
	x.want(x.tryOpen([]string{"one", "two"}) != nil, "opened families that are missing")

	x.must(rocksdb.DestroyDB(x.dir, rocksdb.Options{DBOptions: x.dbo, ColumnFamilyOptions: x.cfo}))
	x.want(x.tryOpen([]string{"one", "two"}) != nil, "made without the default family")

	x.dbo.CreateMissingColumnFamilies = true
	before := x.fs.optionsFiles.Load()
	x.open("default", "one", "two")
	x.close()
	// One file for all families.
	n := x.fs.optionsFiles.Load() - before
	x.want(n == 1, "%d OPTIONS files", n)
	x.open("default", "one", "two", "three", "four")
	x.close()
	n = x.fs.optionsFiles.Load() - before
	x.want(n == 2, "%d OPTIONS files", n)
}

func TestColumnFamilyTest_SanitizeCfOptions(t *testing.T) {
	dbo := rocksdb.DefaultDBOptions()
	imm := options.NewImmutableDBOptions(&dbo)
	check := func(style rocksdb.CompactionStyle, l, i, j, k int) {
		o := rocksdb.DefaultColumnFamilyOptions()
		o.CompactionStyle = style
		o.NumLevels = l
		o.Level0StopWritesTrigger, o.Level0SlowdownWritesTrigger, o.Level0FileNumCompactionTrigger = i, j, k
		o.WriteBufferSize = uint64(l*4<<20 + i<<20 + j<<10 + k)
		got := db.SanitizeColumnFamilyOptions(&imm, false, &o)
		wantBlock := min(1<<20, l*4<<20/8+i<<20/8+4<<10)
		if got.Level0StopWritesTrigger < got.Level0SlowdownWritesTrigger || got.Level0SlowdownWritesTrigger < got.Level0FileNumCompactionTrigger ||
			got.Level0FileNumCompactionTrigger != k || int(got.ArenaBlockSize) != wantBlock {
			t.Errorf("%v %d %d %d %d: triggers %d %d %d, block %d, not %d", style, l, i, j, k, got.Level0StopWritesTrigger,
				got.Level0SlowdownWritesTrigger, got.Level0FileNumCompactionTrigger, got.ArenaBlockSize, wantBlock)
		}
		least := 1
		if style == rocksdb.CompactionStyleLevel {
			least = 2
		}
		if got.NumLevels != max(l, least) {
			t.Errorf("%v: %d levels became %d", style, l, got.NumLevels)
		}
	}
	for _, style := range []rocksdb.CompactionStyle{rocksdb.CompactionStyleLevel, rocksdb.CompactionStyleUniversal} {
		for l := range 3 {
			for i := range 27 {
				check(style, l, i/9+1, i/3%3+1, i%3+1)
			}
		}
	}
}
