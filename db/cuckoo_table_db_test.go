// Port of db/cuckoo_table_db_test.cc.

package db_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/memtable"
	"github.com/rocksdb-go/rocksdb/util"
)

// hashLinkList is the memtable of the tests of plain and cuckoo tables.
func hashLinkList() rocksdb.MemTableRepFactory {
	f := memtable.NewHashLinkListRepFactory(4)
	f.HugePageTLBSize, f.BucketEntriesLoggingThreshold, f.IfLogBucketDistWhenFlush = 0, 3, true
	return f
}

func (x *dbTest) cuckooOptions() rocksdb.Options {
	o := rocksdb.DefaultOptions()
	o.LevelCompactionDynamicLevelBytes = false
	o.TableFactory = rocksdb.NewCuckooTableFactory(rocksdb.DefaultCuckooTableOptions())
	o.MemtableFactory = hashLinkList()
	o.AllowMmapReads, o.CreateIfMissing, o.AllowConcurrentMemtableWrite = true, true, false
	o.Env = x.env
	return o
}

func newCuckooTest(t *testing.T) *dbTest {
	x := newDBTest(t)
	x.destroyAndReopen(x.cuckooOptions())
	return x
}

// wantTables checks the entries of all tables, whose unique ids have to differ.
func (x *dbTest) wantEntriesOfTables(want ...uint64) {
	x.Helper()
	props, err := x.db.GetPropertiesOfAllTables()
	x.must(err)
	if len(props) != len(want) {
		x.Fatalf("%d tables, not %d", len(props), len(want))
	}
	ids := map[string]bool{}
	for name, p := range props {
		if p.NumEntries != want[0] {
			x.Errorf("%s has %d entries, not %d", name, p.NumEntries, want[0])
		}
		ids[fmt.Sprint(p.DBSessionID, p.OrigFileNumber)] = true
	}
	if len(ids) != len(want) {
		x.Errorf("%d tables have %d unique ids", len(want), len(ids))
	}
}

func (x *dbTest) wantAll(kvs ...string) {
	x.Helper()
	for i := 0; i < len(kvs); i += 2 {
		x.wantGet(0, kvs[i], kvs[i+1])
	}
}

func (x *dbTest) putAll(kvs ...string) {
	x.Helper()
	for i := 0; i < len(kvs); i += 2 {
		x.mustPut(0, kvs[i], kvs[i+1])
	}
}

func TestCuckooTableDBTest_Flush(t *testing.T) {
	x := newCuckooTest(t)
	x.wantGet(0, "key2", "NOT_FOUND")
	x.reopen(x.cuckooOptions())
	x.putAll("key1", "v1", "key2", "v2", "key3", "v3")
	x.flush(0)
	x.wantEntriesOfTables(3)
	x.wantFiles(0, "1")
	x.wantAll("key1", "v1", "key2", "v2", "key3", "v3", "key4", "NOT_FOUND")

	x.putAll("key4", "v4", "key5", "v5", "key6", "v6")
	x.flush(0)
	x.wantEntriesOfTables(3, 3)
	x.wantFiles(0, "2")
	x.wantAll("key1", "v1", "key2", "v2", "key3", "v3", "key4", "v4", "key5", "v5", "key6", "v6")

	for _, k := range []string{"key6", "key5", "key4"} {
		x.mustDelete(0, k)
	}
	x.flush(0)
	x.wantEntriesOfTables(3, 3, 3)
	x.wantFiles(0, "3")
	x.wantAll("key1", "v1", "key2", "v2", "key3", "v3", "key4", "NOT_FOUND", "key5", "NOT_FOUND", "key6", "NOT_FOUND")
	if got := x.contents(0); got != "(key1->v1)(key2->v2)(key3->v3)" {
		t.Errorf("contents are %s", got)
	}
	if got := x.multiGet(0, nil, "key1", "key4", "key3", "none"); fmt.Sprint(got) != "[v1 NOT_FOUND v3 NOT_FOUND]" {
		t.Errorf("MultiGet gives %v", got)
	}
}

func TestCuckooTableDBTest_FlushWithDuplicateKeys(t *testing.T) {
	x := newCuckooTest(t)
	x.putAll("key1", "v1", "key2", "v2", "key1", "v3")
	x.flush(0)
	x.wantEntriesOfTables(2)
	x.wantFiles(0, "1")
	x.wantAll("key1", "v3", "key2", "v2")
}

func sixDigits(i int) string { return fmt.Sprintf("key_______%06d", i) }

func TestCuckooTableDBTest_Uint64Comparator(t *testing.T) {
	x := newDBTest(t)
	o := x.cuckooOptions()
	o.Comparator = util.Uint64Comparator()
	x.destroyAndReopen(o)
	key := func(i uint64) string { return string(util.AppendFixed64(nil, i)) }
	x.putAll(key(1), "v1", key(2), "v2", key(3), "v3")
	x.flush(0)
	x.wantAll(key(1), "v1", key(2), "v2", key(3), "v3", key(4), "NOT_FOUND")
	x.mustDelete(0, key(2))
	x.flush(0)
	x.putAll(key(3), "v0", key(4), "v4")
	x.flush(0)
	x.wantAll(key(1), "v1", key(2), "NOT_FOUND", key(3), "v0", key(4), "v4")
}

// A large file becomes two of 14 keys and 16 buckets.
func TestCuckooTableDBTest_CompactionIntoMultipleFiles(t *testing.T) {
	x := newDBTest(t)
	o := x.cuckooOptions()
	o.WriteBufferSize = 270 << 10
	o.TargetFileSizeBase = 160 << 10
	x.destroyAndReopen(o)
	value := func(i int) string { return strings.Repeat(string(rune('a'+i)), 10000) }
	for i := range 28 {
		x.mustPut(0, sixDigits(i), value(i)[:10000])
	}
	x.must(x.full().TestWaitForFlushMemTable(nil))
	x.wantFiles(0, "1")
	x.must(x.full().TestCompactRange(0, nil, nil, nil, true))
	x.wantFiles(0, "0,2")
	for i := range 28 {
		x.wantGet(0, sixDigits(i), value(i)[:10000])
	}
}

func TestCuckooTableDBTest_SameKeyInsertedInTwoDifferentFilesAndCompacted(t *testing.T) {
	x := newDBTest(t)
	o := x.cuckooOptions()
	o.WriteBufferSize = 100 << 10
	o.Level0FileNumCompactionTrigger = 2
	x.destroyAndReopen(o)
	for i := range 11 {
		x.mustPut(0, sixDigits(i), strings.Repeat("a", 10000))
	}
	x.must(x.full().TestWaitForFlushMemTable(nil))
	x.wantFiles(0, "1")
	for i := range 11 {
		x.mustPut(0, sixDigits(i), strings.Repeat(string(rune('a'+i)), 10000))
	}
	x.must(x.full().TestWaitForFlushMemTable(nil))
	x.must(x.full().TestCompactRange(0, nil, nil, nil, false))
	x.wantFiles(0, "0,1")
	for i := range 11 {
		x.wantGet(0, sixDigits(i), strings.Repeat(string(rune('a'+i)), 10000))
	}
}

// adaptive is the adaptive factory that writes with the first of the factories.
func adaptive(t *testing.T, list ...rocksdb.TableFactory) rocksdb.TableFactory {
	t.Helper()
	f, err := rocksdb.NewAdaptiveTableFactory(list[0], list[1], list[2], list[3])
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestCuckooTableDBTest_AdaptiveTable(t *testing.T) {
	x := newDBTest(t)
	o := x.cuckooOptions()
	o.PrefixExtractor = rocksdb.NewCappedPrefixTransform(8) // the plain tables want one
	x.destroyAndReopen(o)
	x.putAll("key1", "v1", "key2", "v2", "key3", "v3")
	x.flush(0)

	block := rocksdb.NewBlockBasedTableFactory(rocksdb.DefaultBlockBasedTableOptions())
	plain := rocksdb.NewPlainTableFactory(rocksdb.DefaultPlainTableOptions())
	cuckoo := rocksdb.NewCuckooTableFactory(rocksdb.DefaultCuckooTableOptions())
	o.CreateIfMissing = false
	o.TableFactory = adaptive(t, plain, block, plain, cuckoo)
	x.reopen(o)
	x.putAll("key4", "v4", "key1", "v5")
	x.flush(0)

	o.TableFactory = adaptive(t, block, block, plain, cuckoo)
	x.reopen(o)
	x.putAll("key5", "v6", "key2", "v7")
	x.flush(0)
	x.wantAll("key1", "v5", "key2", "v7", "key3", "v3", "key4", "v4", "key5", "v6")
}
