// Port of utilities/memory/memory_test.cc.

package memory_test

import (
	"path/filepath"
	"strconv"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
	"github.com/rocksdb-go/rocksdb/utilities/memory"
)

// memoryTest is databases and what they used over time.
type memoryTest struct {
	*testing.T
	rnd     *util.Random
	opts    rocksdb.Options
	dbs     []*rocksdb.DB
	cfs     [][]*rocksdb.ColumnFamily
	cache   rocksdb.Cache
	history [][memory.NumUsageTypes]uint64
}

const memoryTestDBs = 10

func newMemoryTest(t *testing.T, writeBuffer int, families ...string) *memoryTest {
	x := &memoryTest{T: t, rnd: util.NewRandom(301), cache: rocksdb.NewLRUCache(4096 * 1000 * 10)}
	o := rocksdb.DefaultOptions()
	o.CreateIfMissing, o.CreateMissingColumnFamilies, o.DisableAutoCompactions = true, true, true
	o.WriteBufferSize, o.MaxWriteBufferNumber, o.MinWriteBufferNumberToMerge = uint64(writeBuffer), 10, 10
	b := rocksdb.DefaultBlockBasedTableOptions()
	b.BlockCache = x.cache
	o.TableFactory = rocksdb.NewBlockBasedTableFactory(b)
	x.opts = o
	dir := t.TempDir()
	for i := range memoryTestDBs {
		var ds []rocksdb.ColumnFamilyDescriptor
		for _, name := range append([]string{rocksdb.DefaultColumnFamilyName}, families...) {
			ds = append(ds, rocksdb.ColumnFamilyDescriptor{Name: name, Options: o.ColumnFamilyOptions})
		}
		db, cfs, err := rocksdb.OpenColumnFamilies(filepath.Join(dir, "db_"+strconv.Itoa(i)), o.DBOptions, ds)
		x.check(err)
		x.dbs, x.cfs = append(x.dbs, db), append(x.cfs, cfs)
	}
	t.Cleanup(func() {
		for _, db := range x.dbs {
			x.check(db.Close())
		}
	})
	return x
}

func (x *memoryTest) check(err error) {
	x.Helper()
	if err != nil {
		x.Fatal(err)
	}
}

func (x *memoryTest) measure() {
	var dbs []memory.DB
	for _, db := range x.dbs {
		dbs = append(dbs, db)
	}
	x.history = append(x.history, memory.GetApproximateMemoryUsageByType(dbs, []rocksdb.Cache{x.cache, nil}))
}

// each checks neighbours of the history from an index on.
func (x *memoryTest) each(from int, what string, ok func(now, before [memory.NumUsageTypes]uint64) bool) {
	x.Helper()
	for i := max(from, 1); i < len(x.history); i++ {
		if !ok(x.history[i], x.history[i-1]) {
			x.Fatalf("%s: %v after %v at %d", what, x.history[i], x.history[i-1], i)
		}
	}
}

func TestMemoryTest_SharedBlockCacheTotal(t *testing.T) {
	const keySize, valueSize = 100, 500
	x := newMemoryTest(t, keySize+valueSize)
	keys := make([][][]byte, memoryTestDBs)
	for range x.opts.MinWriteBufferNumberToMerge / 2 {
		for i, db := range x.dbs {
			for range 20 {
				k := []byte(x.rnd.RandomString(keySize))
				keys[i] = append(keys[i], k)
				x.check(db.Put(nil, k, []byte(x.rnd.RandomString(valueSize))))
			}
			x.check(db.Flush(nil))
		}
	}
	for i, db := range x.dbs {
		for _, k := range keys[i] {
			v, err := db.Get(nil, k)
			x.check(err)
			v.Release()
		}
		x.measure()
	}
	x.each(1, "table readers change", func(now, before [memory.NumUsageTypes]uint64) bool {
		return now[memory.TableReadersTotal] == before[memory.TableReadersTotal]
	})
	if x.history[0][memory.CacheTotal] == 0 {
		t.Error("the cache is not counted")
	}
}

func TestMemoryTest_MemTableAndTableReadersTotal(t *testing.T) {
	const keySize, valueSize = 100, 1 << 16 // a memtable for each pair
	x := newMemoryTest(t, keySize+valueSize, "one", "two")
	for range x.opts.MinWriteBufferNumberToMerge / 2 {
		for i := range x.dbs {
			for _, cf := range x.cfs[i] {
				x.check(cf.Put(nil, []byte(x.rnd.RandomString(keySize)), []byte(x.rnd.RandomString(valueSize))))
				x.measure()
			}
		}
	}
	x.each(1, "filling", func(now, before [memory.NumUsageTypes]uint64) bool {
		return now[memory.MemTableTotal] > before[memory.MemTableTotal] && now[memory.MemTableUnFlushed] > before[memory.MemTableUnFlushed] &&
			now[memory.TableReadersTotal] == before[memory.TableReadersTotal]
	})
	// Iterators keep the memtables.
	from := len(x.history)
	var its []*rocksdb.Iterator
	for _, db := range x.dbs {
		its = append(its, db.NewIterator(nil))
		x.check(db.Flush(nil))
		for range 100 {
			if _, err := db.Get(nil, []byte(x.rnd.RandomString(keySize))); err == nil {
				t.Fatal("found")
			}
		}
		x.measure()
	}
	x.each(from, "flushing", func(now, before [memory.NumUsageTypes]uint64) bool {
		return now[memory.MemTableTotal] >= before[memory.MemTableTotal] && now[memory.MemTableUnFlushed] < before[memory.MemTableUnFlushed] &&
			now[memory.TableReadersTotal] > before[memory.TableReadersTotal] && now[memory.CacheTotal] > before[memory.CacheTotal]
	})
	from = len(x.history)
	for _, it := range its {
		x.check(it.Close())
		x.measure()
	}
	x.each(from, "closing iterators", func(now, before [memory.NumUsageTypes]uint64) bool {
		return now[memory.MemTableTotal] < before[memory.MemTableTotal] && now[memory.MemTableUnFlushed] == before[memory.MemTableUnFlushed] &&
			now[memory.TableReadersTotal] == before[memory.TableReadersTotal]
	})
}
