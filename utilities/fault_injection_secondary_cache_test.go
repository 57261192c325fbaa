// No upstream twin: FaultInjectionSecondaryCache.

package utilities

import (
	"testing"

	"github.com/rocksdb-go/rocksdb/cache"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

func TestFaultInjectionSecondaryCache(t *testing.T) {
	for _, oneIn := range []int{1, 3} {
		base, err := cache.NewCompressedSecondaryCache(rocksdb.DefaultCompressedSecondaryCacheOptions(1 << 20))
		if err != nil {
			t.Fatal(err)
		}
		c := NewFaultInjectionSecondaryCache(base, 42, oneIn)
		made := 0
		helper := &rocksdb.CacheItemHelper{
			SizeOf: func(obj any) int { return len(obj.(string)) },
			SaveTo: func(obj any, from int, out []byte) error { copy(out, obj.(string)[from:]); return nil },
			Create: func(data []byte, _ rocksdb.CompressionType, _ rocksdb.CacheTier, _ rocksdb.CacheCreateContext, _ rocksdb.MemoryAllocator) (any, int, error) {
				made++
				return string(data), len(data), nil
			},
			WithoutSecondaryCompat: &rocksdb.CacheItemHelper{},
		}
		failed, found := 0, 0
		const n = 300
		for range n {
			if c.Insert([]byte("0123456789abcdef"), "value", helper, true) != nil {
				failed++
			}
			h, _ := c.Lookup([]byte("0123456789abcdef"), helper, nil, true, false, nil)
			if h != nil && h.Value() != "value" {
				t.Fatal(h.Value())
			}
			if h != nil {
				found++
			}
		}
		switch {
		case oneIn == 1 && (failed != n || found != 0 || made != 0):
			t.Errorf("%d inserts failed, %d lookups found", failed, found)
		case oneIn == 3 && (failed < n/6 || failed > n/2 || found < n/3 || found > n*9/10 || made != found):
			t.Errorf("%d inserts failed, %d lookups found", failed, found)
		}
	}
}
