// No upstream twin: scans and lookups over block-based tables.

package table_test

import (
	"fmt"
	"testing"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/table"
	"github.com/rocksdb-go/rocksdb/table/internaliter"
	"github.com/rocksdb-go/rocksdb/util"
)

// benchTables writes n tables whose keys alternate, 100000 entries of 100 bytes
// in all, and caches their blocks.
func benchTables(b *testing.B, n int) []*tableConstructor {
	bbto := rocksdb.DefaultBlockBasedTableOptions()
	bbto.BlockCache = newLRU(64<<20, -1)
	o := optionsFor(&bbto)
	var cs []*tableConstructor
	for i := range n {
		c := newTableConstructor(b, util.BytewiseComparator(), false)
		for k := i; k < 100000; k += n {
			c.Add(string(ikeyOf(fmt.Sprintf("%016d", k), 1)), fmt.Sprintf("%0100d", k))
		}
		c.Finish(&o, icmp)
		b.Cleanup(c.Close)
		cs = append(cs, c)
	}
	return cs
}

func benchIterator(cs []*tableConstructor) internaliter.InternalIterator {
	var its []internaliter.InternalIterator
	for _, c := range cs {
		its = append(its, c.iterator(nil, nil))
	}
	return table.NewMergingIterator(icmp, its, false)
}

func BenchmarkScan(b *testing.B) {
	for _, n := range []int{1, 4} {
		b.Run(fmt.Sprintf("tables=%d", n), func(b *testing.B) {
			it := benchIterator(benchTables(b, n))
			defer it.Close()
			b.ReportAllocs()
			it.SeekToFirst()
			for b.Loop() {
				if it.Next(); !it.Valid() {
					it.SeekToFirst()
				}
			}
		})
	}
}

func BenchmarkSeek(b *testing.B) {
	for _, n := range []int{1, 4} {
		b.Run(fmt.Sprintf("tables=%d", n), func(b *testing.B) {
			it := benchIterator(benchTables(b, n))
			defer it.Close()
			var targets [][]byte
			for i := range uint64(1024) {
				targets = append(targets, ikeyOf(fmt.Sprintf("%016d", i*7919%100000), 1))
			}
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				it.Seek(targets[i&1023])
				i++
			}
		})
	}
}
