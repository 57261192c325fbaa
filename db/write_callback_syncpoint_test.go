//go:build syncpoint

// Port of db/write_callback_test.cc.

package db_test

import (
	"bytes"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/db/writethread"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
	"github.com/rocksdb-go/rocksdb/util"
)

type mockWriteCallback struct {
	shouldFail, allowBatching bool
	called                    atomic.Bool
}

func (c *mockWriteCallback) Callback() error {
	c.called.Store(true)
	if c.shouldFail {
		return rocksdb.Busy()
	}
	return nil
}

func (c *mockWriteCallback) AllowWriteBatching() bool { return c.allowBatching }

type mockUserWriteCallback struct{ enqueued, logged atomic.Bool }

func (c *mockUserWriteCallback) OnWriteEnqueued()  { c.enqueued.Store(true) }
func (c *mockUserWriteCallback) OnWalWriteFinish() { c.logged.Store(true) }

// callbackMode is one set of parameters.
type callbackMode struct {
	unordered, twoQueues, parallel, batching, wal, pipelined bool
}

func (m callbackMode) supported() bool {
	return !(m.pipelined && (m.twoQueues || m.unordered)) && !(m.unordered && !m.parallel)
}

type callbackOp struct {
	callback mockWriteCallback
	user     mockUserWriteCallback
	keys     [][]byte
}

// TestWriteCallbackPTest_WriteWithCallbackTest leaves seq_per_batch out, which
// only transactions that write before they commit use.
func TestWriteCallbackPTest_WriteWithCallbackTest(t *testing.T) {
	scenarios := [][]bool{{true}, {false}, {false, false}, {true, true}, {true, false}, {false, true},
		{false, false, false}, {true, true, true}, {false, true, false}, {true, false, true},
		{true, false, false, false, false}, {false, false, false, false, true}, {false, false, true, false, true}}
	for bits := range 1 << 6 {
		is := func(i int) bool { return bits>>i&1 == 1 }
		m := callbackMode{is(0), is(1), is(2), is(3), is(4), is(5)}
		if !m.supported() {
			continue
		}
		t.Run(fmt.Sprintf("%+v", m), func(t *testing.T) {
			for _, fails := range scenarios {
				writeWithCallbacks(t, m, fails)
			}
		})
	}
}

// writeWithCallbacks writes from a goroutine each, all in one group where that
// may be; the callbacks of some refuse.
func writeWithCallbacks(t *testing.T, m callbackMode, fails []bool) {
	x := newDBTest(t)
	o := x.defaultOptions()
	o.UnorderedWrite, o.AllowConcurrentMemtableWrite = m.unordered, m.parallel
	o.EnablePipelinedWrite, o.TwoWriteQueues = m.pipelined, m.twoQueues
	x.destroyAndReopen(o)
	if n := x.db.GetLatestSequenceNumber(); n != 0 {
		t.Fatalf("sequence number %d", n)
	}
	n := int64(len(fails))
	var joining, linked, verified atomic.Int64
	syncpoint.SetCallBack("WriteThread::JoinBatchGroup:Start", func(any) {
		// One after the other, so that the first is known.
		for place := joining.Add(1) - 1; linked.Load() < place; {
			pause()
		}
	})
	syncpoint.SetCallBack("WriteThread::JoinBatchGroup:Wait", func(arg any) {
		place := linked.Add(1) - 1
		w := arg.(*writethread.Writer)
		want := writethread.StateInit
		if place == 0 {
			want = writethread.StateGroupLeader
		}
		if s := w.State(); s != want && place == 0 {
			t.Errorf("writer %d: state %d, not %d", place, s, want)
		}
		if place == 0 && (w.Callback.Callback() == nil) == fails[0] || place == n-1 && (w.Callback.Callback() == nil) == fails[n-1] {
			t.Errorf("writer %d is another one", place)
		}
		verified.Add(1)
		for verified.Load() < n {
			pause()
		}
	})
	syncpoint.SetCallBack("WriteThread::JoinBatchGroup:DoneWaiting", func(arg any) {
		s := arg.(*writethread.Writer).State()
		switch {
		case !m.batching:
			if s != writethread.StateGroupLeader {
				t.Errorf("without batching: state %d", s)
			}
		case !m.parallel:
			if s != writethread.StateCompleted && !(m.pipelined && s == writethread.StateMemTableWriterLeader) {
				t.Errorf("without parallel inserts: state %d", s)
			}
		}
	})
	syncpoint.EnableProcessing()
	ops := make([]callbackOp, n)
	var wg sync.WaitGroup
	var seq atomic.Uint64
	var nextKey atomic.Int32
	for i := range n {
		wg.Go(func() {
			for i > 0 && verified.Load() < 1 || i == n-1 && verified.Load() < n-1 {
				pause()
			}
			op := &ops[i]
			op.callback.shouldFail, op.callback.allowBatching = fails[i], m.batching
			batch := rocksdb.NewWriteBatch()
			rnd := util.NewRandom(uint32(i) + 1)
			for range rnd.Next()%50 + 1 {
				k := bytes.Repeat([]byte{byte(nextKey.Add(1))}, 5)
				op.keys = append(op.keys, k)
				if err := batch.Put(k, append(k, k...)); err != nil {
					t.Error(err)
				}
				if !fails[i] {
					seq.Add(1)
				}
			}
			wo := rocksdb.DefaultWriteOptions()
			wo.DisableWAL, wo.Sync = !m.wal, m.wal
			err := x.full().WriteWithCallback(&wo, batch, &op.callback, &op.user)
			if !op.user.enqueued.Load() || op.user.logged.Load() != (m.wal && !fails[i]) {
				t.Errorf("writer %d: user's callback: enqueued %v, logged %v", i, op.user.enqueued.Load(), op.user.logged.Load())
			}
			if fails[i] != errors.Is(err, rocksdb.ErrBusy) || !fails[i] && err != nil {
				t.Errorf("writer %d: %v", i, err)
			}
		})
	}
	wg.Wait()
	endSyncPoints()
	for i := range ops {
		if !ops[i].callback.called.Load() {
			t.Errorf("callback %d was not called", i)
		}
		for _, k := range ops[i].keys {
			want := string(append(k, k...))
			if fails[i] {
				want = "NOT_FOUND"
			}
			x.wantGet(0, string(k), want)
		}
	}
	if got := x.db.GetLatestSequenceNumber(); got != seq.Load() {
		t.Errorf("sequence number %d, not %d", got, seq.Load())
	}
	x.close()
}

func TestWriteCallbackTest_WriteCallBackTest(t *testing.T) {
	x := newDBTest(t)
	x.destroyAndReopen(x.defaultOptions())
	batch := rocksdb.NewWriteBatch()
	x.must(batch.Put([]byte("a"), []byte("value.a")))
	x.must(batch.Delete([]byte("x")))
	x.must(x.db.Write(nil, batch))
	x.wantGet(0, "a", "value.a")
	put := func(value string) *rocksdb.WriteBatch {
		b := rocksdb.NewWriteBatch()
		x.must(b.Put([]byte("a"), []byte(value)))
		return b
	}
	ok := &mockWriteCallback{allowBatching: true}
	x.must(x.full().WriteWithCallback(nil, put("value.a2"), ok, nil))
	if !ok.called.Load() {
		t.Error("the callback was not called")
	}
	x.wantGet(0, "a", "value.a2")
	if err := x.full().WriteWithCallback(nil, put("value.a3"), &mockWriteCallback{shouldFail: true, allowBatching: true}, nil); err == nil {
		t.Error("the callback's refusal was lost")
	}
	x.wantGet(0, "a", "value.a2")
	user := &mockUserWriteCallback{}
	x.must(x.db.WriteWithCallback(nil, put("value.a4"), user))
	x.wantGet(0, "a", "value.a4")
	if !user.enqueued.Load() || !user.logged.Load() {
		t.Error("the user's callback was not told")
	}
}
