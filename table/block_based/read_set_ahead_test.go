//go:build syncpoint

// No upstream twin: blocks that another goroutine parses ahead of a scan.

package blockbased_test

import (
	"bytes"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	blockbased "github.com/rocksdb-go/rocksdb/table/block_based"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

// TestReadSet_ParsesAhead reads blocks of one asynchronous read while others
// are parsed ahead, in order, out of order, and with the set closed under way;
// each block is the one that a plain read gives.
func TestReadSet_ParsesAhead(t *testing.T) {
	if runtime.GOMAXPROCS(0) == 1 {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	}
	const n = 40
	var ahead atomic.Int32
	syncpoint.SetCallBack("ReadSet::parseAhead", func(any) { ahead.Add(1) })
	syncpoint.EnableProcessing()
	defer syncpoint.DisableProcessing()
	for _, noCache := range []bool{false, true} {
		want := make([][]byte, n)
		plain := newDispatchTest(t, n, noCache)
		s := plain.submit(plain.handles, false)
		for i := range want {
			e, err := s.ReadIndex(i)
			if err != nil {
				t.Fatal(err)
			}
			want[i] = bytes.Clone(e.Value().Data())
			e.Release()
		}
		s.Close()
		for name, order := range map[string]func(i int) int{
			"in order":   func(i int) int { return i },
			"backwards":  func(i int) int { return n - 1 - i },
			"mixed":      func(i int) int { return i * 7 % n },
			"half":       func(i int) int { return min(i, n/2) },
			"small sets": func(i int) int { return i },
			"left":       func(int) int { return 0 },
			"alone":      func(i int) int { return i },
		} {
			x := newDispatchTest(t, n, noCache)
			before := ahead.Load()
			q := blockbased.NewAheadQueue()
			var sets []*blockbased.ReadSet
			alone := name == "alone"
			if alone {
				x.ro.PerfContext = new(rocksdb.PerfContext)
			}
			if alone || name == "small sets" {
				blockbased.LimitAhead(q, 2*int64(x.handles[0].Size))
				for k := 0; k < n; k += 5 {
					sets = append(sets, x.submitAhead(x.handles[k:k+5], q, false))
				}
			} else {
				sets = []*blockbased.ReadSet{x.submitAhead(x.handles, q, name == "backwards")}
			}
			for i := range n {
				k := order(i)
				size := n / len(sets)
				e, err := sets[k/size].ReadIndex(k % size)
				if err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(e.Value().Data(), want[k]) {
					t.Fatalf("%s: block %d is another", name, k)
				}
				e.Release()
				// The other goroutine gets its time, as from a caller that does
				// something with the block.
				for begin := time.Now(); i == 0 && !alone && ahead.Load() == before && time.Since(begin) < 10*time.Second; {
					time.Sleep(time.Millisecond)
				}
			}
			for _, s := range sets {
				s.Close()
			}
			if (ahead.Load() == before) != alone {
				t.Errorf("%s: blocks parsed ahead: %t", name, alone)
			}
			for begin := time.Now(); blockbased.AheadRunning(q) && time.Since(begin) < 10*time.Second; {
				time.Sleep(time.Millisecond)
			}
			if n := blockbased.AheadFlying(q); n != 0 {
				t.Errorf("%s: %d bytes are under way with all sets closed", name, n)
			}
			if n := blockbased.AheadBytes(q); n != 0 || blockbased.AheadRunning(q) {
				t.Errorf("%s: %d bytes are ahead, running %t, with all sets closed", name, n, blockbased.AheadRunning(q))
			}
		}
	}
}
