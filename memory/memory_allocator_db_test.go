// Port of memory/memory_allocator_test.cc: MemoryAllocatorTest.DatabaseBlockCache.

package memory_test

import (
	"strconv"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/memory"
)

func TestMemoryAllocatorTest_DatabaseBlockCache(t *testing.T) {
	const keys, value = 200, "0123456789"
	for _, name := range []string{"DefaultMemoryAllocator", "CountedMemoryAllocator"} {
		t.Run(name, func(t *testing.T) {
			must := func(err error) {
				t.Helper()
				if err != nil {
					t.Fatal(err)
				}
			}
			allocator, err := memory.CreateMemoryAllocator(name)
			must(err)
			co := rocksdb.DefaultLRUCacheOptions(1 << 20)
			co.NumShardBits, co.HighPriPoolRatio, co.MemoryAllocator = 6, 0, allocator
			c, err := rocksdb.NewLRUCacheWithOptions(co)
			must(err)
			b := rocksdb.DefaultBlockBasedTableOptions()
			b.BlockCache = c
			o := rocksdb.DefaultOptions()
			o.CreateIfMissing, o.TableFactory = true, rocksdb.NewBlockBasedTableFactory(b)
			db, err := rocksdb.Open(t.TempDir(), o)
			must(err)
			if c.GetUsage() > 200 { // the collector of figures
				t.Errorf("usage %d", c.GetUsage())
			}
			for i := range keys {
				must(db.Put(nil, []byte(strconv.Itoa(i)), []byte(value)))
			}
			must(db.Flush(nil)) // so that the cache is read
			for i := range keys {
				v, err := db.Get(nil, []byte(strconv.Itoa(i)))
				must(err)
				if string(v.Data()) != value {
					t.Errorf("%q", v.Data())
				}
				v.Release()
			}
			if c.GetUsage() <= 2000 {
				t.Errorf("usage %d", c.GetUsage())
			}
			counted, _ := allocator.(*memory.CountedMemoryAllocator)
			if counted != nil && counted.NumAllocations() == 0 {
				t.Error("no block came from the allocator")
			}
			must(db.Close())
			c.EraseUnRefEntries()
			if counted != nil && counted.NumAllocations() != counted.NumDeallocations() {
				t.Errorf("%d allocations, %d deallocations", counted.NumAllocations(), counted.NumDeallocations())
			}
		})
	}
}
