// No upstream twin: upstream tests its write thread through a whole database;
// here the leaders' work is a list and a counter, so that many modes and
// interleavings are tried in little time.

package writethread

import (
	"errors"
	"fmt"
	"math/rand"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/rocksdb-go/rocksdb/db/writebatch"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

var errRefused = rocksdb.Busy("refused")

// refusal is a callback that says no.
type refusal struct{ alone bool }

func (refusal) Callback() error            { return errRefused }
func (r refusal) AllowWriteBatching() bool { return !r.alone }

// fakeDB does with groups what a database does.
type fakeDB struct {
	t         *testing.T
	thread    *WriteThread
	parallel  bool
	pipelined bool
	mu        sync.Mutex // as the DB mutex

	// Of WAL leaders.
	leaders   atomic.Int32
	nextSeq   uint64
	wal       []walEntry
	maxGroup  int
	unbatched int
	stalls    int

	visible   uint64 // of memtable leaders
	inserting atomic.Int32
	memtable  sync.Map // sequence number to id
}

type walEntry struct {
	seq uint64
	n   int
}

// lead counts a leader in and out; there must be one at a time.
func (f *fakeDB) lead(delta int32) {
	if n := f.leaders.Add(delta); n != 0 && n != 1 {
		f.t.Errorf("%d leaders", n)
	}
}

func (f *fakeDB) insert(w *Writer) {
	if !w.ShouldWriteToMemtable() {
		return
	}
	f.inserting.Add(1)
	for i := range uint64(w.Batch.Count()) {
		if _, twice := f.memtable.LoadOrStore(w.Sequence+i, w); twice {
			f.t.Errorf("sequence number %d twice", w.Sequence+i)
		}
	}
	if rand.Intn(8) == 0 {
		runtime.Gosched()
	}
	f.inserting.Add(-1)
}

func (f *fakeDB) checkMember(leader, w *Writer) {
	if w.Sync && !leader.Sync || w.NoSlowdown != leader.NoSlowdown || w.DisableWAL != leader.DisableWAL || w.Batch == nil {
		f.t.Error("a member that does not go with its leader")
	}
	if r, ok := w.Callback.(refusal); ok && r.alone && w != leader {
		f.t.Error("a member that wants to be alone")
	}
}

// writeGroup gathers a group, gives sequence numbers and writes the log.
func (f *fakeDB) writeGroup(w *Writer, g *WriteGroup) (parallel bool) {
	f.lead(1)
	if !w.NoSlowdown && rand.Intn(20) == 0 { // a leader that takes no slowdown gives up instead
		f.stall()
	}
	g.Reset()
	size := f.thread.EnterAsBatchGroupLeader(w, g)
	f.maxGroup = max(f.maxGroup, g.Size)
	parallel = f.parallel && g.Size > 1
	members, bytes := 0, 0
	for x := g.Leader; x != nil; x = g.Next(x) {
		f.checkMember(w, x)
		members++
		bytes += x.Batch.GetDataSize()
		if !x.CheckCallback() {
			continue
		}
		parallel = parallel && !x.Batch.HasMerge()
		x.Sequence = f.nextSeq
		f.nextSeq += uint64(x.Batch.Count())
		f.wal = append(f.wal, walEntry{x.Sequence, int(x.Batch.Count())})
	}
	if members != g.Size || bytes != size {
		f.t.Errorf("a group of %d and %d bytes has %d members and %d bytes", g.Size, size, members, bytes)
	}
	g.LastSequence = f.nextSeq - 1
	f.lead(-1)
	return parallel
}

// stall keeps writers out for a while, as the leader does when it is held back.
func (f *fakeDB) stall() {
	f.mu.Lock()
	f.thread.BeginWriteStall()
	f.stalls++
	n := f.thread.GetBegunCountOfOutstandingStall()
	f.mu.Unlock()
	if n == 0 {
		f.t.Error("a stall that is not outstanding")
	}
	for range rand.Intn(20) {
		runtime.Gosched()
	}
	f.mu.Lock()
	f.thread.EndWriteStall()
	f.mu.Unlock()
	f.thread.WaitForStallEndedCount(n)
	if f.thread.GetBegunCountOfOutstandingStall() != 0 {
		f.t.Error("a stall that has not ended")
	}
}

func (f *fakeDB) setVisible(seq uint64) {
	if seq+1 > f.visible {
		f.visible = seq + 1
	}
}

func (f *fakeDB) write(w *Writer, g, mg *WriteGroup) error {
	t := f.thread
	t.JoinBatchGroup(w)
	if f.pipelined {
		return f.writePipelined(w, g, mg)
	}
	if w.State() == StateParallelMemTableCaller {
		t.SetMemWritersEachStride(w)
	}
	switch w.State() {
	case StateParallelMemTableWriter, StateParallelMemTableCaller:
		f.insert(w)
		if t.CompleteParallelMemTableWriter(w) {
			f.setVisible(w.Group().LastSequence)
			t.ExitAsBatchGroupFollower(w)
		}
		return w.FinalStatus()
	case StateCompleted:
		return w.FinalStatus()
	}
	parallel := f.writeGroup(w, g)
	done := true
	if parallel {
		t.LaunchParallelMemTableWriters(g)
		f.insert(w)
		done = t.CompleteParallelMemTableWriter(w)
	} else {
		for x := g.Leader; x != nil; x = g.Next(x) {
			f.insert(x)
		}
	}
	if done {
		f.setVisible(g.LastSequence)
		_ = t.ExitAsBatchGroupLeader(g, nil)
	}
	return w.FinalStatus()
}

func (f *fakeDB) writePipelined(w *Writer, g, mg *WriteGroup) error {
	t := f.thread
	if w.State() == StateGroupLeader {
		f.writeGroup(w, g)
		t.UpdateLastSequence(g.LastSequence)
		_ = t.ExitAsBatchGroupLeader(g, nil)
	}
	if w.State() == StateMemTableWriterLeader {
		mg.Reset()
		t.EnterAsMemTableWriter(w, mg)
		if mg.Size > 1 && f.parallel {
			t.LaunchParallelMemTableWriters(mg)
		} else {
			for x := mg.Leader; x != nil; x = mg.Next(x) {
				f.insert(x)
			}
			f.setVisible(mg.LastSequence)
			t.ExitAsMemTableWriter(mg)
		}
	}
	if w.State() == StateParallelMemTableCaller {
		t.SetMemWritersEachStride(w)
	}
	if s := w.State(); s == StateParallelMemTableWriter || s == StateParallelMemTableCaller {
		f.insert(w)
		if t.CompleteParallelMemTableWriter(w) {
			f.setVisible(w.Group().LastSequence)
			t.ExitAsMemTableWriter(w.Group())
		}
	}
	return w.FinalStatus()
}

// enterUnbatched is alone: nothing is written, nothing inserted.
func (f *fakeDB) enterUnbatched(w *Writer, wo *rocksdb.WriteOptions) {
	w.Reset(wo, nil)
	f.mu.Lock()
	f.thread.EnterUnbatched(w, &f.mu)
	f.lead(1)
	f.unbatched++
	if n := f.inserting.Load(); n != 0 {
		f.t.Errorf("%d insert beside an unbatched entry", n)
	}
	if f.visible != f.nextSeq {
		f.t.Errorf("visible up to %d, %d written", f.visible, f.nextSeq)
	}
	f.lead(-1)
	f.thread.ExitUnbatched(w)
	f.mu.Unlock()
}

// writer runs one goroutine's writes and gives how many entries went in.
func (f *fakeDB) writer(seed int64, rounds int) (entries int) {
	r := rand.New(rand.NewSource(seed))
	var w Writer
	var g, mg WriteGroup
	batch := writebatch.New()
	for range rounds {
		wo := rocksdb.DefaultWriteOptions()
		if r.Intn(25) == 0 {
			f.enterUnbatched(&w, &wo)
			continue
		}
		wo.Sync = r.Intn(8) == 0
		wo.NoSlowdown = r.Intn(8) == 0
		wo.DisableWAL = !wo.Sync && r.Intn(16) == 0
		batch.Clear()
		n := r.Intn(3) + 1
		for range n {
			if err := batch.Put([]byte("key"), make([]byte, r.Intn(300))); err != nil {
				f.t.Error(err)
			}
		}
		if r.Intn(30) == 0 {
			n++
			if err := batch.Merge([]byte("key"), nil); err != nil {
				f.t.Error(err)
			}
		}
		w.Reset(&wo, batch)
		refuse := r.Intn(15) == 0
		if refuse {
			w.Callback = refusal{alone: r.Intn(2) == 0}
		}
		switch err := f.write(&w, &g, &mg); {
		case refuse && !errors.Is(err, errRefused) && !wo.NoSlowdown:
			f.t.Errorf("a refused write ended with %v", err)
		case err == nil:
			entries += n
		case refuse, wo.NoSlowdown && errors.Is(err, rocksdb.ErrIncomplete):
		default:
			f.t.Error(err)
		}
	}
	return entries
}

func TestWriteThread_Stress(t *testing.T) {
	for _, parallel := range []bool{false, true} {
		for _, pipelined := range []bool{false, true} {
			for _, writers := range []int{1, 4, 60} {
				t.Run(fmt.Sprintf("parallel=%v,pipelined=%v,writers=%d", parallel, pipelined, writers), func(t *testing.T) {
					stress(t, parallel, pipelined, writers)
				})
			}
		}
	}
}

func stress(t *testing.T, parallel, pipelined bool, writers int) {
	f := &fakeDB{t: t, thread: New(parallel, pipelined, 1<<20), parallel: parallel, pipelined: pipelined}
	var wg sync.WaitGroup
	var total atomic.Int64
	for i := range writers {
		wg.Go(func() { total.Add(int64(f.writer(int64(i), 6000/(writers+20)))) })
	}
	wg.Wait()
	if t.Failed() {
		return
	}
	var next uint64
	for _, e := range f.wal {
		if e.seq != next {
			t.Fatalf("the log goes from %d to %d", next, e.seq)
		}
		next += uint64(e.n)
	}
	n := 0
	f.memtable.Range(func(any, any) bool { n++; return true })
	if next != uint64(total.Load()) || n != int(next) || f.visible != next {
		t.Fatalf("%d entries logged, %d inserted, %d visible, %d acknowledged", next, n, f.visible, total.Load())
	}
	if f.unbatched == 0 || f.stalls == 0 || writers > 20 && f.maxGroup < 2 {
		t.Fatalf("%d unbatched entries, %d stalls, groups of up to %d", f.unbatched, f.stalls, f.maxGroup)
	}
	if f.thread.newestWriter.Load() != nil || f.thread.newestMemtableWriter.Load() != nil {
		t.Fatal("a writer is left in the queue")
	}
}

// Members of a group large enough wake each other; all of them are woken once.
func TestWriteThread_LargeParallelGroup(t *testing.T) {
	for _, n := range []int{2, minParallelCallers - 1, minParallelCallers, minParallelCallers + 1, 64, 101} {
		f := &fakeDB{t: t, thread: New(true, false, 1<<20), parallel: true}
		// An unbatched entry holds the queue until all writers stand in it.
		wo := rocksdb.DefaultWriteOptions()
		var first Writer
		first.Reset(&wo, nil)
		f.mu.Lock()
		f.thread.EnterUnbatched(&first, &f.mu)
		f.mu.Unlock()
		var wg sync.WaitGroup
		for range n {
			wg.Go(func() {
				var w Writer
				var g, mg WriteGroup
				batch := writebatch.New()
				if err := batch.Put([]byte("k"), nil); err != nil {
					t.Error(err)
				}
				w.Reset(&wo, batch)
				if err := f.write(&w, &g, &mg); err != nil {
					t.Error(err)
				}
			})
		}
		for queued := 0; queued < n; runtime.Gosched() {
			queued = 0
			for w := f.thread.newestWriter.Load(); w != &first; w = w.linkOlder {
				queued++
			}
		}
		f.thread.ExitUnbatched(&first)
		wg.Wait()
		if f.nextSeq != uint64(n) || f.visible != uint64(n) {
			t.Fatalf("%d written, %d visible, of %d", f.nextSeq, f.visible, n)
		}
		if f.maxGroup < n-1 {
			t.Errorf("the largest group of %d writers had %d members", n, f.maxGroup)
		}
	}
}

// Those who take no slowdown are sent away while a stall is on, and before it.
func TestWriteThread_NoSlowdownInStall(t *testing.T) {
	thread := New(true, false, 1<<20)
	batch := writebatch.New()
	wo := rocksdb.DefaultWriteOptions()
	var leader Writer
	leader.Reset(&wo, batch)
	thread.JoinBatchGroup(&leader)
	if leader.State() != StateGroupLeader {
		t.Fatalf("state %d", leader.State())
	}
	wo.NoSlowdown = true
	var waiting, late Writer
	waiting.Reset(&wo, batch)
	done := make(chan struct{})
	go func() {
		thread.JoinBatchGroup(&waiting)
		close(done)
	}()
	for thread.newestWriter.Load() != &waiting {
		runtime.Gosched()
	}
	thread.BeginWriteStall()
	<-done
	late.Reset(&wo, batch)
	thread.JoinBatchGroup(&late)
	for _, w := range []*Writer{&waiting, &late} {
		if w.State() != StateCompleted || !errors.Is(w.FinalStatus(), rocksdb.ErrIncomplete) {
			t.Fatalf("state %d, %v", w.State(), w.FinalStatus())
		}
	}
	thread.EndWriteStall()
	var g WriteGroup
	thread.EnterAsBatchGroupLeader(&leader, &g)
	if g.Size != 1 {
		t.Fatalf("a group of %d", g.Size)
	}
	if err := thread.ExitAsBatchGroupLeader(&g, nil); err != nil {
		t.Fatal(err)
	}
}

func BenchmarkWriteThread(b *testing.B) {
	for _, writers := range []int{1, 8} {
		b.Run(fmt.Sprintf("writers=%d", writers), func(b *testing.B) {
			thread := New(false, false, 1<<20)
			b.ReportAllocs()
			b.SetParallelism(writers)
			b.RunParallel(func(pb *testing.PB) {
				batch, wo := writebatch.New(), rocksdb.DefaultWriteOptions()
				var w Writer
				var g WriteGroup
				for pb.Next() {
					w.Reset(&wo, batch)
					thread.JoinBatchGroup(&w)
					if w.State() == StateGroupLeader {
						g.Reset()
						thread.EnterAsBatchGroupLeader(&w, &g)
						_ = thread.ExitAsBatchGroupLeader(&g, nil)
					}
				}
			})
		})
	}
}
