//go:build syncpoint

// No upstream twin: blocks that another goroutine parses ahead of a scan.

package blockbased_test

import (
	"bytes"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

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
			"in order":  func(i int) int { return i },
			"backwards": func(i int) int { return n - 1 - i },
			"mixed":     func(i int) int { return i * 7 % n },
			"half":      func(i int) int { return min(i, n/2) },
		} {
			x := newDispatchTest(t, n, noCache)
			s := x.submit(x.handles, true)
			before := ahead.Load()
			for i := range n {
				k := order(i)
				e, err := s.ReadIndex(k)
				if err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(e.Value().Data(), want[k]) {
					t.Fatalf("%s: block %d is another", name, k)
				}
				e.Release()
				// The other goroutine gets its time, as from a caller that does
				// something with the block.
				for begin := time.Now(); i == 0 && k == 0 && ahead.Load() == before && time.Since(begin) < 10*time.Second; {
					time.Sleep(time.Millisecond)
				}
			}
			s.Close()
			if order(0) == 0 && ahead.Load() == before {
				t.Errorf("%s: no block was parsed ahead", name)
			}
		}
	}
}
