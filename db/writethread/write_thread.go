// Port of db/write_thread.{h,cc}. Differs: waiting yields to the scheduler a
// few times and then parks on the writer's semaphore; there is no adaptation of
// the spinning, which goroutines do not need.

package writethread

import (
	"math"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/db/writebatch"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/monitoring"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

// State is where a Writer stands. Each value is one bit, so that waits can
// name several.
type State = uint32

// The states, and who sets them.
const (
	// StateInit: linked, waiting. Set by the writer itself; left to any state
	// but StateLockedWaiting by others.
	StateInit State = 1
	// StateGroupLeader: to gather a group and write its WAL. Set by the leader
	// before, or by the writer itself when the list was empty.
	StateGroupLeader State = 2
	// StateMemTableWriterLeader: pipelined only; to insert a group into the
	// memtables. Set by the memtable leader before.
	StateMemTableWriterLeader State = 4
	// StateParallelMemTableWriter: to insert its own batch. Set by the group's
	// leader or a caller.
	StateParallelMemTableWriter State = 8
	// StateCompleted: done, Writer.Status holds. Set by the group's leader or
	// last member; the writer may then be reused.
	StateCompleted State = 16
	// StateLockedWaiting: parked. Set by the writer itself.
	StateLockedWaiting State = 32
	// StateParallelMemTableCaller: to wake other members of a large group,
	// then to insert its own batch. Set by the group's leader.
	StateParallelMemTableCaller State = 64
)

// WriteGroup is a leader and the writers whose WAL write it does.
type WriteGroup struct {
	Leader       *Writer
	LastWriter   *Writer
	LastSequence rocksdb.SequenceNumber
	Size         int

	running atomic.Int64
	mu      struct {
		sync.Mutex
		status error
	}
}

// Reset makes g ready for use.
func (g *WriteGroup) Reset() {
	g.Leader, g.LastWriter, g.LastSequence, g.Size = nil, nil, 0, 0
	g.mu.status = nil
}

// Status is the group's first error.
func (g *WriteGroup) Status() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.mu.status
}

// SetStatus records an error for the group.
func (g *WriteGroup) SetStatus(err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.mu.status = err
}

// Next gives the member behind w, nil after the last.
func (g *WriteGroup) Next(w *Writer) *Writer {
	if w == g.LastWriter {
		return nil
	}
	return w.linkNewer
}

// SetRunning sets how many members CompleteParallelMemTableWriter waits for.
func (g *WriteGroup) SetRunning(n int) { g.running.Store(int64(n)) }

// Writer is one call's place in the write thread. It may be reused after it
// has completed; call Reset.
type Writer struct {
	Batch           *writebatch.WriteBatch // nil: unbatched
	Sync            bool
	NoSlowdown      bool
	DisableWAL      bool
	DisableMemtable bool
	// ProtectionBytesPerKey is the batch's.
	ProtectionBytesPerKey uint64
	// IgnoreMissingColumnFamilies skips entries of families that are gone.
	IgnoreMissingColumnFamilies bool
	MemtableInsertHintPerBatch  bool
	RateLimiterPriority         rocksdb.IOPriority
	BatchCount                  int // sub-batches, 0 when not known
	PreReleaseCallback          PreReleaseCallback
	PostMemTable                PostMemTableCallback
	Callback                    WriteCallback
	UserWriteCallback           rocksdb.UserWriteCallback
	// WaitNanos, if not nil, is added the time that the writer waits.
	WaitNanos      *uint64
	LogUsed        uint64 // the WAL the batch went to
	LogRef         uint64 // the WAL memtable entries refer to
	Sequence       rocksdb.SequenceNumber
	Status         error
	CallbackStatus error

	group     *WriteGroup
	linkOlder *Writer
	linkNewer *Writer
	state     atomic.Uint32
	sema      chan struct{}
	dummy     *Writer // of exitPipelined
}

// Reset prepares w for a write with options wo.
func (w *Writer) Reset(wo *rocksdb.WriteOptions, batch *writebatch.WriteBatch) {
	sema := w.sema
	if sema == nil {
		sema = make(chan struct{}, 1)
	}
	w.Batch = batch
	w.ProtectionBytesPerKey = 0
	if batch != nil {
		w.ProtectionBytesPerKey = batch.GetProtectionBytesPerKey()
	}
	w.Sync, w.NoSlowdown, w.DisableWAL = wo.Sync, wo.NoSlowdown, wo.DisableWAL
	if w.RateLimiterPriority = wo.RateLimiterPriority; w.RateLimiterPriority == rocksdb.IOLow {
		w.RateLimiterPriority = rocksdb.IOTotal // of options that are left at zero
	}
	w.IgnoreMissingColumnFamilies, w.MemtableInsertHintPerBatch = wo.IgnoreMissingColumnFamilies, wo.MemtableInsertHintPerBatch
	w.DisableMemtable, w.BatchCount = false, 0
	w.PreReleaseCallback, w.PostMemTable, w.Callback, w.UserWriteCallback = nil, nil, nil, nil
	w.WaitNanos = nil
	w.LogUsed, w.LogRef, w.Sequence = 0, 0, dbformat.MaxSequenceNumber
	w.Status, w.CallbackStatus = nil, nil
	w.group, w.linkOlder, w.linkNewer = nil, nil, nil
	w.sema = sema
	w.state.Store(StateInit)
}

// State is the present state.
func (w *Writer) State() State { return w.state.Load() }

// Group is the group w is a member of.
func (w *Writer) Group() *WriteGroup { return w.group }

// CheckCallback runs the callback and tells whether the write may go on.
func (w *Writer) CheckCallback() bool {
	if w.Callback != nil {
		w.CallbackStatus = w.Callback.Callback()
	}
	return w.CallbackStatus == nil
}

// CheckPostWALWriteCallback tells the user's callback that the WAL is written.
func (w *Writer) CheckPostWALWriteCallback() {
	if w.UserWriteCallback != nil {
		w.UserWriteCallback.OnWalWriteFinish()
	}
}

// FinalStatus is what the caller gets.
func (w *Writer) FinalStatus() error {
	if w.Status != nil {
		return w.Status
	}
	return w.CallbackStatus
}

// CallbackFailed tells whether the callback refused the write.
func (w *Writer) CallbackFailed() bool { return w.CallbackStatus != nil }

// ShouldWriteToMemtable tells whether the batch goes to memtables.
func (w *Writer) ShouldWriteToMemtable() bool {
	return w.Status == nil && w.CallbackStatus == nil && !w.DisableMemtable
}

// ShouldWriteToWAL tells whether the batch goes to the WAL.
func (w *Writer) ShouldWriteToWAL() bool {
	return w.Status == nil && w.CallbackStatus == nil && !w.DisableWAL
}

// WriteThread is the queue of a database's writers.
type WriteThread struct {
	allowConcurrentMemtableWrite bool
	pipelined                    bool
	maxGroupSize                 int // bytes

	newestWriter         atomic.Pointer[Writer]
	newestMemtableWriter atomic.Pointer[Writer] // pipelined only
	lastSequence         rocksdb.SequenceNumber // of the last group; leaders only

	// stallDummy stands as the newest writer during a stall and keeps others
	// from joining.
	stallDummy Writer
	stallMu    struct {
		sync.Mutex
		cond  *sync.Cond
		begun uint64 // written under the DB mutex as well
		ended uint64
	}
}

// New makes a write thread of the options' modes.
func New(allowConcurrentMemtableWrite, pipelined bool, maxGroupSizeBytes uint64) *WriteThread {
	t := &WriteThread{allowConcurrentMemtableWrite: allowConcurrentMemtableWrite, pipelined: pipelined,
		maxGroupSize: int(min(maxGroupSizeBytes, math.MaxInt64))}
	t.stallMu.cond = sync.NewCond(&t.stallMu.Mutex)
	return t
}

// UpdateLastSequence notes the last sequence number given out.
func (t *WriteThread) UpdateLastSequence(seq rocksdb.SequenceNumber) rocksdb.SequenceNumber {
	t.lastSequence = max(t.lastSequence, seq)
	return t.lastSequence
}

// awaitYields is how often a waiter lets others run before it parks.
const awaitYields = 8

// awaitState waits until the state is one of goal.
func (t *WriteThread) awaitState(w *Writer, goal State) State {
	for range awaitYields {
		if s := w.state.Load(); s&goal != 0 {
			return s
		}
		runtime.Gosched()
	}
	var timer monitoring.PerfStepTimer
	if w.WaitNanos != nil {
		timer.Start(w.WaitNanos, nil)
	}
	syncpoint.ProcessArg("WriteThread::AwaitState:BlockingWaiting", w)
	for {
		s := w.state.Load()
		if s&goal != 0 {
			timer.Stop()
			return s
		}
		if w.state.CompareAndSwap(s, StateLockedWaiting) {
			<-w.sema
		}
	}
}

// setState moves w to a new state and wakes it; w may be reused at once when
// that is StateCompleted.
func setState(w *Writer, s State) {
	for {
		old := w.state.Load()
		if old == StateLockedWaiting {
			w.state.Store(s)
			w.sema <- struct{}{}
			return
		}
		if w.state.CompareAndSwap(old, s) {
			return
		}
	}
}

// linkOne makes w the newest writer; true when the list was empty.
func (t *WriteThread) linkOne(w *Writer, newest *atomic.Pointer[Writer]) bool {
	for {
		writers := newest.Load()
		if writers == &t.stallDummy {
			if w.NoSlowdown {
				w.Status = rocksdb.Incomplete("Write stall")
				setState(w, StateCompleted)
				return false
			}
			t.stallMu.Lock()
			if newest.Load() == &t.stallDummy {
				syncpoint.ProcessArg("WriteThread::WriteStall::Wait", w)
				t.stallMu.cond.Wait()
			}
			t.stallMu.Unlock()
			continue
		}
		w.linkOlder = writers
		if newest.CompareAndSwap(writers, w) {
			return writers == nil
		}
	}
}

// linkGroup puts the group's writers on the memtable writers' list.
func (t *WriteThread) linkGroup(g *WriteGroup, newest *atomic.Pointer[Writer]) bool {
	for w := g.LastWriter; ; w = w.linkOlder {
		w.linkNewer = nil
		w.group = nil
		if w == g.Leader {
			break
		}
	}
	for {
		n := newest.Load()
		g.Leader.linkOlder = n
		if newest.CompareAndSwap(n, g.LastWriter) {
			return n == nil
		}
	}
}

// createMissingNewerLinks fills linkNewer from head back to where it is set.
func createMissingNewerLinks(head *Writer) {
	for {
		next := head.linkOlder
		if next == nil || next.linkNewer != nil {
			return
		}
		next.linkNewer = head
		head = next
	}
}

func (t *WriteThread) completeLeader(g *WriteGroup) {
	leader := g.Leader
	if g.Size == 1 {
		g.Leader, g.LastWriter = nil, nil
	} else {
		leader.linkNewer.linkOlder = nil
		g.Leader = leader.linkNewer
	}
	g.Size--
	setState(leader, StateCompleted)
}

func (t *WriteThread) completeFollower(w *Writer, g *WriteGroup) {
	if w == g.LastWriter {
		w.linkOlder.linkNewer = nil
		g.LastWriter = w.linkOlder
	} else {
		w.linkOlder.linkNewer = w.linkNewer
		w.linkNewer.linkOlder = w.linkOlder
	}
	g.Size--
	setState(w, StateCompleted)
}

// BeginWriteStall keeps new writers from joining and fails the waiting ones
// that take no slowdown. The caller is the queue's leader, one that does take
// it, and holds the DB mutex.
func (t *WriteThread) BeginWriteStall() {
	t.stallMu.Lock()
	t.stallMu.begun++
	t.stallMu.Unlock()
	t.linkOne(&t.stallDummy, &t.newestWriter)
	prev := &t.stallDummy
	for w := prev.linkOlder; w != nil && w.group == nil; {
		if !w.NoSlowdown {
			prev, w = w, w.linkOlder
			continue
		}
		prev.linkOlder = w.linkOlder
		w.Status = rocksdb.Incomplete("Write stall")
		setState(w, StateCompleted)
		if prev.linkOlder != nil && prev.linkOlder.linkNewer != nil {
			prev.linkOlder.linkNewer = prev
		}
		w = prev.linkOlder
	}
}

// EndWriteStall lets writers join again. The DB mutex is held.
func (t *WriteThread) EndWriteStall() {
	t.stallMu.Lock()
	defer t.stallMu.Unlock()
	d := &t.stallDummy
	if d.linkOlder != nil {
		d.linkOlder.linkNewer = d.linkNewer
	}
	t.newestWriter.Store(d.linkOlder)
	d.linkOlder, d.linkNewer = nil, nil
	t.stallMu.ended++
	t.stallMu.cond.Broadcast()
}

// GetBegunCountOfOutstandingStall is 0 when no stall is on.
func (t *WriteThread) GetBegunCountOfOutstandingStall() uint64 {
	t.stallMu.Lock()
	defer t.stallMu.Unlock()
	if t.stallMu.begun > t.stallMu.ended {
		return t.stallMu.begun
	}
	return 0
}

// WaitForStallEndedCount waits until count stalls have ended.
func (t *WriteThread) WaitForStallEndedCount(count uint64) {
	t.stallMu.Lock()
	defer t.stallMu.Unlock()
	for t.stallMu.ended < count {
		t.stallMu.cond.Wait()
	}
}

// JoinBatchGroup links w and waits until it has something to do: see the
// states.
func (t *WriteThread) JoinBatchGroup(w *Writer) {
	syncpoint.ProcessArg("WriteThread::JoinBatchGroup:Start", w)
	leader := t.linkOne(w, &t.newestWriter)
	if w.UserWriteCallback != nil {
		w.UserWriteCallback.OnWriteEnqueued()
	}
	if leader {
		setState(w, StateGroupLeader)
	}
	syncpoint.ProcessArg("WriteThread::JoinBatchGroup:Wait", w)
	syncpoint.ProcessArg("WriteThread::JoinBatchGroup:Wait2", w)
	if !leader {
		syncpoint.ProcessArg("WriteThread::JoinBatchGroup:BeganWaiting", w)
		t.awaitState(w, StateGroupLeader|StateMemTableWriterLeader|StateParallelMemTableCaller|
			StateParallelMemTableWriter|StateCompleted)
		syncpoint.ProcessArg("WriteThread::JoinBatchGroup:DoneWaiting", w)
	}
}

// groupLimit is how many bytes a group led by a batch of size may have: a
// small write does not wait for a large group.
func (t *WriteThread) groupLimit(size int) int {
	if small := t.maxGroupSize / 8; size <= small {
		return size + small
	}
	return t.maxGroupSize
}

// fits tells whether w may join a group of the leader's.
func (w *Writer) fits(leader *Writer, size, limit int) bool {
	return !(w.Sync && !leader.Sync) && w.NoSlowdown == leader.NoSlowdown && w.DisableWAL == leader.DisableWAL &&
		w.ProtectionBytesPerKey == leader.ProtectionBytesPerKey &&
		w.RateLimiterPriority == leader.RateLimiterPriority && w.Batch != nil &&
		(w.Callback == nil || w.Callback.AllowWriteBatching()) && size+w.Batch.GetDataSize() <= limit
}

// EnterAsBatchGroupLeader gathers the group of leader into g and gives its
// size in bytes. Writers that do not fit are moved behind the group.
func (t *WriteThread) EnterAsBatchGroupLeader(leader *Writer, g *WriteGroup) int {
	size := leader.Batch.GetDataSize()
	limit := t.groupLimit(size)
	leader.group = g
	g.Leader, g.LastWriter, g.Size = leader, leader, 1
	newest := t.newestWriter.Load()
	createMissingNewerLinks(newest)

	// we is the last of the group; the left-out ones form the list rb…re.
	w, we := leader, leader
	var rb, re *Writer
	for w != newest {
		w = w.linkNewer
		if w.fits(leader, size, limit) {
			we = w
			w.group = g
			size += w.Batch.GetDataSize()
			g.LastWriter = w
			g.Size++
			continue
		}
		w.linkOlder.linkNewer = w.linkNewer
		if w.linkNewer != nil {
			w.linkNewer.linkOlder = w.linkOlder
		}
		if re == nil {
			rb, re = w, w
			w.linkOlder = nil
		} else {
			w.linkOlder = re
			re.linkNewer = w
			re = w
		}
	}
	if rb != nil {
		rb.linkOlder = we
		re.linkNewer = nil
		we.linkNewer = rb
		if !t.newestWriter.CompareAndSwap(w, re) {
			// Others have joined behind w: hang them behind the left-out ones.
			for n := t.newestWriter.Load(); ; n = n.linkOlder {
				if n.linkOlder == w {
					n.linkOlder = re
					break
				}
			}
		}
	}
	syncpoint.ProcessArg("WriteThread::EnterAsBatchGroupLeader:End", w)
	return size
}

// EnterAsMemTableWriter gathers a group to insert into memtables; pipelined
// only.
func (t *WriteThread) EnterAsMemTableWriter(leader *Writer, g *WriteGroup) {
	size := leader.Batch.GetDataSize()
	limit := t.groupLimit(size)
	leader.group = g
	g.Leader, g.Size = leader, 1
	last := leader
	if !t.allowConcurrentMemtableWrite || !leader.Batch.HasMerge() {
		newest := t.newestMemtableWriter.Load()
		createMissingNewerLinks(newest)
		for w := leader; w != newest; {
			w = w.linkNewer
			if w.Batch == nil || w.Batch.HasMerge() {
				break
			}
			if !t.allowConcurrentMemtableWrite {
				if n := w.Batch.GetDataSize(); size+n > limit {
					break
				} else {
					size += n
				}
			}
			w.group = g
			last = w
			g.Size++
		}
	}
	g.LastWriter = last
	g.LastSequence = last.Sequence + uint64(last.Batch.Count()) - 1
}

// ExitAsMemTableWriter completes the group and wakes the next leader.
func (t *WriteThread) ExitAsMemTableWriter(g *WriteGroup) {
	leader, last := g.Leader, g.LastWriter
	if !t.newestMemtableWriter.CompareAndSwap(last, nil) {
		createMissingNewerLinks(t.newestMemtableWriter.Load())
		next := last.linkNewer
		next.linkOlder = nil
		setState(next, StateMemTableWriterLeader)
	}
	status := g.Status()
	for w := leader; ; {
		if status != nil {
			w.Status = status
		}
		next := w.linkNewer
		if w != leader {
			setState(w, StateCompleted)
		}
		if w == last {
			break
		}
		w = next
	}
	// The leader owns g, so it is last.
	setState(leader, StateCompleted)
}

// minParallelCallers is the group size from which on members wake each other.
const minParallelCallers = 20

// SetMemWritersEachStride wakes every stride-th member from w on.
func (t *WriteThread) SetMemWritersEachStride(w *Writer) {
	g := w.group
	last := g.LastWriter
	stride := int(math.Sqrt(float64(g.Size)))
	for i := 0; w != nil; i++ {
		next := w.linkNewer
		if w == last {
			next = nil
		}
		if i%stride == 0 {
			setState(w, StateParallelMemTableWriter)
		}
		w = next
	}
}

// LaunchParallelMemTableWriters lets all members insert their batches.
func (t *WriteThread) LaunchParallelMemTableWriters(g *WriteGroup) {
	n := g.Size
	g.running.Store(int64(n))
	if n < minParallelCallers {
		for w := g.Leader; w != nil; {
			next := g.Next(w)
			setState(w, StateParallelMemTableWriter)
			w = next
		}
		return
	}
	stride := int(math.Sqrt(float64(n)))
	w := g.Leader
	setState(w, StateParallelMemTableWriter)
	for range stride - 1 {
		w = w.linkNewer
		setState(w, StateParallelMemTableCaller)
	}
	t.SetMemWritersEachStride(w.linkNewer)
}

// CompleteParallelMemTableWriter says that w has inserted its batch; true for
// the last of the group, which then has to complete it.
func (t *WriteThread) CompleteParallelMemTableWriter(w *Writer) bool {
	g := w.group
	if w.Status != nil {
		g.SetStatus(w.Status)
	}
	if g.running.Add(-1) > 0 {
		t.awaitState(w, StateCompleted)
		return false
	}
	w.Status = g.Status()
	return true
}

// ExitAsBatchGroupFollower completes the group on behalf of its leader.
func (t *WriteThread) ExitAsBatchGroupFollower(w *Writer) {
	g := w.group
	leader := g.Leader
	t.ExitAsBatchGroupLeader(g, g.Status())
	setState(leader, StateCompleted)
}

// ExitAsBatchGroupLeader completes the group's members with status, wakes the
// next leader, and gives the status. Pipelined, the members that still go to
// memtables are moved on, and the leader waits for its turn there.
func (t *WriteThread) ExitAsBatchGroupLeader(g *WriteGroup, status error) error {
	syncpoint.ProcessArg("WriteThread::ExitAsBatchGroupLeader:Start", g)
	leader, last := g.Leader, g.LastWriter
	if status == nil {
		status = g.Status()
	}
	if t.pipelined {
		t.exitPipelined(g, status)
		return status
	}
	if !t.newestWriter.CompareAndSwap(last, nil) {
		createMissingNewerLinks(t.newestWriter.Load())
		next := last.linkNewer
		next.linkOlder = nil
		setState(next, StateGroupLeader)
	}
	for last != leader {
		last.Status = status
		older := last.linkOlder
		setState(last, StateCompleted)
		last = older
	}
	return status
}

func (t *WriteThread) exitPipelined(g *WriteGroup, status error) {
	leader, last := g.Leader, g.LastWriter
	// The dummy holds the group's place, so that nobody becomes leader before
	// the group stands on the memtable writers' list.
	dummy := leader.dummy
	if dummy == nil {
		dummy = &Writer{}
		leader.dummy = dummy
	}
	dummy.linkOlder, dummy.linkNewer = nil, nil
	if !t.newestWriter.CompareAndSwap(last, dummy) {
		createMissingNewerLinks(t.newestWriter.Load())
		last.linkNewer.linkOlder = dummy
		dummy.linkNewer = last.linkNewer
	}
	for w := last; w != leader; {
		older := w.linkOlder
		w.Status = status
		if !w.ShouldWriteToMemtable() {
			t.completeFollower(w, g)
		}
		w = older
	}
	leader.Status = status
	if !leader.ShouldWriteToMemtable() {
		t.completeLeader(g)
	}
	syncpoint.ProcessArg("WriteThread::ExitAsBatchGroupLeader:AfterCompleteWriters", g)
	if g.Size > 0 && t.linkGroup(g, &t.newestMemtableWriter) {
		setState(g.Leader, StateMemTableWriterLeader)
	}
	if !t.newestWriter.CompareAndSwap(dummy, nil) {
		createMissingNewerLinks(t.newestWriter.Load())
		next := dummy.linkNewer
		next.linkOlder = nil
		setState(next, StateGroupLeader)
	}
	t.awaitState(leader, StateMemTableWriterLeader|StateParallelMemTableCaller|StateParallelMemTableWriter|StateCompleted)
}

// EnterUnbatched waits, with mu released, until w is alone at the head of the
// queue; no group is being written then. w has no batch.
func (t *WriteThread) EnterUnbatched(w *Writer, mu sync.Locker) {
	if w.sema == nil {
		w.sema = make(chan struct{}, 1)
		w.state.Store(StateInit)
	}
	mu.Unlock()
	if !t.linkOne(w, &t.newestWriter) {
		syncpoint.Process("WriteThread::EnterUnbatched:Wait")
		t.awaitState(w, StateGroupLeader)
	}
	if t.pipelined {
		t.WaitForMemTableWriters()
	}
	mu.Lock()
}

// ExitUnbatched lets the next writer lead.
func (t *WriteThread) ExitUnbatched(w *Writer) {
	if !t.newestWriter.CompareAndSwap(w, nil) {
		createMissingNewerLinks(t.newestWriter.Load())
		next := w.linkNewer
		next.linkOlder = nil
		setState(next, StateGroupLeader)
	}
}

// WaitForMemTableWriters waits until no pipelined group inserts. Only the
// leader of the queue may call it.
func (t *WriteThread) WaitForMemTableWriters() {
	if t.newestMemtableWriter.Load() == nil {
		return
	}
	w := &Writer{sema: make(chan struct{}, 1)}
	w.state.Store(StateInit)
	if !t.linkOne(w, &t.newestMemtableWriter) {
		t.awaitState(w, StateMemTableWriterLeader)
	}
	t.newestMemtableWriter.Store(nil)
}
