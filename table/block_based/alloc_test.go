// No upstream twin.
// Reading cached blocks does not allocate; benchmarks of the same.

package blockbased_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/rocksdb-go/rocksdb/cache"
	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/table"
	blockbased "github.com/rocksdb-go/rocksdb/table/block_based"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

// cachedTable is a table of n entries of 100 bytes, its blocks in the cache.
func cachedTable(t testing.TB, n int, apply func(*tableSpec)) (*tableSpec, *blockbased.BlockBasedTable, []entry) {
	s := newSpec()
	s.bbto.BlockSize = 4096
	s.bbto.BlockCache = cache.NewLRUCacheOfCapacity(256 << 20)
	s.bbto.FilterPolicy = blockbased.NewBloomFilterPolicy(10)
	if apply != nil {
		apply(s)
	}
	entries := make([]entry, n)
	rnd := rand.New(rand.NewPCG(1, 1))
	for i := range entries {
		v := make([]byte, 84)
		for k := range v {
			v[k] = byte(rnd.Uint32())
		}
		entries[i] = entry{ikey(fmt.Sprintf("%016d", i*2), 1, dbformat.TypeValue), v}
	}
	name := filepath.Join(t.TempDir(), "000007.sst")
	s.write(t, name, entries, nil)
	tr := s.open(t, name)
	allEntries(t, tr, nil)
	return s, tr, entries
}

func TestReadsDoNotAllocate(t *testing.T) {
	for _, v := range []variant{
		{"default", nil},
		{"first_key", func(s *tableSpec) { s.bbto.IndexType = rocksdb.BinarySearchWithFirstKey }},
		{"hyper_clock", func(s *tableSpec) {
			c, err := cache.NewHyperClockCache(rocksdb.DefaultHyperClockCacheOptions(64 << 20))
			if err != nil {
				panic(err)
			}
			s.bbto.BlockCache = c
		}},
		{"partitioned", func(s *tableSpec) {
			s.bbto.IndexType, s.bbto.PartitionFilters = rocksdb.TwoLevelIndexSearch, true
			s.bbto.CacheIndexAndFilterBlocks = true
		}},
	} {
		t.Run(v.name, func(t *testing.T) {
			s, tr, entries := cachedTable(t, 5000, v.apply)
			defer tr.Close()
			ro := rocksdb.DefaultReadOptions()
			var l lookup
			i := 0
			if n := testing.AllocsPerRun(2000, func() {
				e := entries[i*7919%len(entries)]
				i++
				l.init(s.icmp, dbformat.ExtractUserKey(e.key))
				if err := tr.Get(&ro, e.key, &l.gc, nil, false); err != nil || l.gc.State() != table.GetFound || !l.v.IsPinned() {
					t.Fatal(err, l.gc.State(), l.v.IsPinned())
				}
			}); n != 0 && !syncpoint.Enabled { // their arguments are boxed
				t.Errorf("Get allocates %v times", n)
			}
			l.v.Release()
			it := tr.NewIterator(&ro, nil, false, rocksdb.CallerUserIterator, 0, false)
			it.SeekToFirst()
			if n := testing.AllocsPerRun(4000, func() {
				it.Next()
				if !it.Valid() {
					t.Fatal("end")
				}
			}); n != 0 {
				t.Errorf("Next allocates %v times", n)
			}
			if n := testing.AllocsPerRun(1000, func() {
				it.Seek(entries[i*7919%len(entries)].key)
				i++
				if !it.Valid() {
					t.Fatal("end")
				}
			}); n != 0 {
				t.Errorf("Seek allocates %v times", n)
			}
			if err := it.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

func BenchmarkTable(b *testing.B) {
	s, tr, entries := cachedTable(b, 100000, nil)
	defer tr.Close()
	ro := rocksdb.DefaultReadOptions()
	rnd := rand.New(rand.NewPCG(3, 4))
	b.Run("Get", func(b *testing.B) {
		var l lookup
		b.ReportAllocs()
		for b.Loop() {
			e := &entries[rnd.IntN(len(entries))]
			l.init(s.icmp, dbformat.ExtractUserKey(e.key))
			if tr.Get(&ro, e.key, &l.gc, nil, false) != nil || l.gc.State() != table.GetFound {
				b.Fatal("Get")
			}
		}
		l.v.Release()
	})
	b.Run("GetAbsent", func(b *testing.B) {
		var l lookup
		b.ReportAllocs()
		absent := make([][]byte, 1000)
		for i := range absent {
			absent[i] = ikey(fmt.Sprintf("%016d", rnd.IntN(len(entries))*2+1), 1, dbformat.ValueTypeForSeek)
		}
		for i := 0; b.Loop(); i++ {
			k := absent[i%1000]
			l.init(s.icmp, dbformat.ExtractUserKey(k))
			if tr.Get(&ro, k, &l.gc, nil, false) != nil {
				b.Fatal("Get")
			}
		}
	})
	b.Run("Next", func(b *testing.B) {
		it := tr.NewIterator(&ro, nil, false, rocksdb.CallerUserIterator, 0, false)
		b.ReportAllocs()
		for b.Loop() {
			if it.Valid() {
				it.Next()
			} else {
				it.SeekToFirst()
			}
		}
		it.Close()
	})
	b.Run("Seek", func(b *testing.B) {
		it := tr.NewIterator(&ro, nil, false, rocksdb.CallerUserIterator, 0, false)
		b.ReportAllocs()
		for b.Loop() {
			it.Seek(entries[rnd.IntN(len(entries))].key)
		}
		it.Close()
	})
	b.Run("Build", func(b *testing.B) {
		name := filepath.Join(b.TempDir(), "x.sst")
		b.SetBytes(int64(len(entries)) * 108)
		b.ReportAllocs()
		for b.Loop() {
			s.write(b, name, entries, nil)
		}
	})
	b.Run("BuildLZ4", func(b *testing.B) {
		name := filepath.Join(b.TempDir(), "x.sst")
		s.compression = rocksdb.LZ4Compression
		b.SetBytes(int64(len(entries)) * 108)
		b.ReportAllocs()
		for b.Loop() {
			s.write(b, name, entries, nil)
		}
	})
}
