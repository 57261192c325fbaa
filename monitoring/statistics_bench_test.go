// No upstream twin: what counting costs when many goroutines count.

package monitoring

import (
	"testing"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// BenchmarkRecordTick_Parallel counts with as many goroutines as there are processors, and
// with 32.
func BenchmarkRecordTick_Parallel(b *testing.B) {
	for _, goroutines := range []int{1, 32} {
		b.Run(map[int]string{1: "each", 32: "32"}[goroutines], func(b *testing.B) {
			s := NewStatisticsImpl(nil)
			b.SetParallelism(goroutines)
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					RecordTick(s, rocksdb.BlockCacheHit, 1)
				}
			})
			if got := s.GetTickerCount(rocksdb.BlockCacheHit); got != uint64(b.N) {
				b.Errorf("%d ticks of %d", got, b.N)
			}
		})
	}
}
