// Port of db/db_impl/db_impl_write.cc (WriteImplWALOnly, UnorderedWriteMemtable,
// ConcurrentWriteGroupToWAL) and db_impl.h (WaitForPendingWrites). Differs: a
// write callback of an unordered write is asked once, by the leader.

package dbimpl

import (
	"sync"
	"sync/atomic"

	"github.com/rocksdb-go/rocksdb/db/writebatch"
	"github.com/rocksdb-go/rocksdb/db/writethread"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

// pendingMemtableWrites counts unordered writes that the log has and the
// memtables do not yet. Only a leader counts up, so that for a leader 0 stays 0.
type pendingMemtableWrites struct {
	n    atomic.Int64
	mu   sync.Mutex
	cond *sync.Cond
}

func (p *pendingMemtableWrites) done() {
	if p.n.Add(-1) == 0 {
		p.mu.Lock()
		p.cond.Broadcast()
		p.mu.Unlock()
	}
}

func (p *pendingMemtableWrites) wait() {
	p.mu.Lock()
	for p.n.Load() != 0 {
		p.cond.Wait()
	}
	p.mu.Unlock()
}

// waitForPendingWritesLocked waits, as leader, until no memtable is written to
// and no log is locked. The mutex is released meanwhile.
func (d *DBImpl) waitForPendingWritesLocked() {
	d.waitForMemtableWritersLocked()
	for d.st.lockWALCount > 0 && !d.st.shutdownInitiated {
		d.bgCond.Wait()
	}
}

func (d *DBImpl) waitForMemtableWritersLocked() {
	syncpoint.Process("DBImpl::WaitForPendingWrites:BeforeBlock")
	// The writers may need the mutex.
	switch {
	case d.immutable.EnablePipelinedWrite:
		d.mu.Unlock()
		d.writeThread.WaitForMemTableWriters()
		d.mu.Lock()
	case d.immutable.UnorderedWrite && d.pending.n.Load() != 0:
		d.mu.Unlock()
		d.pending.wait()
		d.mu.Lock()
	}
}

// unbatched is the place in the queues of what is no write.
type unbatched struct {
	w, nonmem writethread.Writer
}

var noWriteOptions rocksdb.WriteOptions

// enterUnbatchedLocked waits, with the mutex released, until no group of writes
// is under way; none begins before exitUnbatchedLocked with what it gives.
func (d *DBImpl) enterUnbatchedLocked() *unbatched {
	u := &unbatched{}
	u.w.Reset(&noWriteOptions, nil)
	d.writeThread.EnterUnbatched(&u.w, &d.mu)
	if d.immutable.TwoWriteQueues {
		u.nonmem.Reset(&noWriteOptions, nil)
		d.nonmemWriteThread.EnterUnbatched(&u.nonmem, &d.mu)
	}
	d.waitForMemtableWritersLocked()
	return u
}

// enterUnbatchedForSwitchLocked is enterUnbatchedLocked for what switches
// memtables: it waits for UnlockWAL, too.
func (d *DBImpl) enterUnbatchedForSwitchLocked() *unbatched {
	u := d.enterUnbatchedLocked()
	d.waitForPendingWritesLocked()
	return u
}

func (d *DBImpl) exitUnbatchedLocked(u *unbatched) {
	if d.immutable.TwoWriteQueues {
		d.nonmemWriteThread.ExitUnbatched(&u.nonmem)
	}
	d.writeThread.ExitUnbatched(&u.w)
}

// enterNonmemLocked keeps the second queue from the log, for a leader of the
// first that is going to start another one; nil without a second queue.
func (d *DBImpl) enterNonmemLocked() *writethread.Writer {
	if !d.immutable.TwoWriteQueues {
		return nil
	}
	w := &writethread.Writer{}
	w.Reset(&noWriteOptions, nil)
	d.nonmemWriteThread.EnterUnbatched(w, &d.mu)
	return w
}

func (d *DBImpl) exitNonmemLocked(w *writethread.Writer) {
	if w != nil {
		d.nonmemWriteThread.ExitUnbatched(w)
	}
}

// withWritesHeld runs f, which switches memtables or logs, for a leader of the
// first queue: with mu held, no write under way to a memtable, and the second
// queue kept from the log.
func (d *DBImpl) withWritesHeld(f func() error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.waitForPendingWritesLocked()
	nonmem := d.enterNonmemLocked()
	defer d.exitNonmemLocked(nonmem)
	return f()
}

// concurrentWriteGroupToWAL is writeGroupToWAL where another goroutine may write
// to the log, or take sequence numbers, at the same time: both happen under walMu,
// so that numbers rise from record to record. It gives the last number before
// the group's.
func (d *DBImpl) concurrentWriteGroupToWAL(g *writethread.WriteGroup, seqInc uint64, tmp *writebatch.WriteBatch) (rocksdb.SequenceNumber, error) {
	batch, n, err := mergeGroup(g, tmp)
	if err != nil {
		return d.versions.LastAllocatedSequence(), err
	}
	if n == 0 {
		return d.versions.FetchAddLastAllocatedSequence(seqInc), nil
	}
	d.walMu.Lock()
	last := d.versions.FetchAddLastAllocatedSequence(seqInc)
	batch.SetSequence(last + 1)
	record := batch.Data()
	syncpoint.ProcessArg("DBImpl::WriteToWAL:log_entry", &record)
	if err = batch.VerifyChecksum(); err != nil {
		d.walMu.Unlock()
		return last, err
	}
	logUsed, err := d.appendToLogRecord(record, last+uint64(batch.Count()), g.Leader.RateLimiterPriority)
	d.walMu.Unlock()
	d.logged(g, logUsed, len(record), n, false, err)
	return last, err
}

// unorderedWrite writes the log in order, makes the write visible, and lets the
// caller insert beside others; readers may so see a later write before an
// earlier one.
func (d *DBImpl) unorderedWrite(wo *rocksdb.WriteOptions, w *writethread.Writer, s *writeScratch) error {
	err := d.writeWALOnly(d.writeThread, wo, w, s)
	syncpoint.Process("DBImpl::WriteImpl:UnorderedWriteAfterWriteWAL")
	if err != nil || w.DisableMemtable {
		return err
	}
	syncpoint.Process("DBImpl::WriteImpl:BeforeUnorderedWriteMemtable")
	count := uint64(w.Batch.Count())
	d.countKeysWritten(count)
	d.insertParallel(w, s)
	if wo.DisableWAL {
		d.hasUnpersistedData.Store(true)
	}
	d.pending.done()
	d.memTableInsertStatusCheck(w.Status)
	return w.FinalStatus()
}

// writeWALOnly is a write, in a group of queue t, up to the log: of the second
// queue, or the first half of an unordered one, which is visible afterwards.
func (d *DBImpl) writeWALOnly(t *writethread.WriteThread, wo *rocksdb.WriteOptions, w *writethread.Writer, s *writeScratch) error {
	unordered := t == d.writeThread
	t.JoinBatchGroup(w)
	if w.State() == writethread.StateCompleted {
		return w.FinalStatus()
	}
	ctx := writeContext{perf: &s.perf}
	err := d.prepareWALOnly(t, wo, unordered, &ctx)
	g := &s.group
	g.Reset()
	size := uint64(t.EnterAsBatchGroupLeader(w, g))
	if unordered {
		d.lastGroupSize = size
	}
	if err == nil {
		s.perf.enter(phaseWAL)
		err = d.logWALOnly(t, wo, g, unordered)
		s.perf.enter(phasePrePost)
	}
	t.ExitAsBatchGroupLeader(g, err)
	ctx.clean()
	if err == nil || w.CallbackFailed() {
		return w.FinalStatus()
	}
	return err
}

func (d *DBImpl) prepareWALOnly(t *writethread.WriteThread, wo *rocksdb.WriteOptions, unordered bool, ctx *writeContext) error {
	if unordered {
		noSync := false
		err := d.preprocessWrite(wo, &noSync, ctx)
		if err != nil && !d.errorHandler.IsDBStopped() {
			d.writeStatusCheck(err)
		}
		return err
	}
	if !d.writeCtl.IsStopped() && !d.writeCtl.NeedsDelay() && !d.errorHandler.IsDBStopped() {
		return nil
	}
	ctx.perf.enter(phaseDelay)
	defer ctx.perf.enter(phasePrePost)
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.delayWriteLocked(0, t, wo)
}

// logWALOnly writes the group's record, runs callbacks and, for unordered
// writes, publishes.
func (d *DBImpl) logWALOnly(t *writethread.WriteThread, wo *rocksdb.WriteOptions, g *writethread.WriteGroup, unordered bool) error {
	tmp := &d.nonmemTmpBatch.WriteBatch
	if unordered {
		tmp = &d.tmpBatch.WriteBatch
	}
	var seqInc uint64
	var total groupTotals
	for w := g.Leader; w != nil; w = g.Next(w) {
		if !d.admits(w) {
			continue
		}
		total.bytes += w.Batch.GetDataSize()
		if w.PreReleaseCallback != nil {
			total.preRelease++
		}
		if unordered {
			seqInc += uint64(w.Batch.Count())
		}
	}
	d.traceGroup(g)
	d.countWrites(g, &total)
	var last rocksdb.SequenceNumber
	var err error
	if wo.DisableWAL {
		last = d.versions.FetchAddLastAllocatedSequence(seqInc)
	} else if last, err = d.concurrentWriteGroupToWAL(g, seqInc, tmp); err != nil {
		d.walWriteStatusCheck(err)
		return err
	}
	next := last + 1
	inserts := int64(0)
	for w := g.Leader; w != nil; w = g.Next(w) {
		if w.CallbackFailed() {
			continue
		}
		w.Sequence = next
		if unordered {
			next += uint64(w.Batch.Count())
		}
		if !w.DisableMemtable {
			inserts++
		}
	}
	if wo.Sync {
		err = d.FlushWAL(true)
	}
	if err == nil {
		err = runPreRelease(g, total.preRelease)
	}
	if err != nil && !g.Leader.CallbackFailed() {
		d.writeStatusCheck(err)
	}
	if unordered {
		d.versions.SetLastSequence(last + seqInc)
		if err == nil {
			d.pending.n.Add(inserts)
		}
	}
	return err
}

func runPreRelease(g *writethread.WriteGroup, n int) error {
	index := 0
	for w := g.Leader; w != nil && n > 0; w = g.Next(w) {
		if w.CallbackFailed() || w.PreReleaseCallback == nil {
			continue
		}
		if err := w.PreReleaseCallback.Callback(w.Sequence, w.DisableMemtable, w.LogUsed, index, n); err != nil {
			return err
		}
		index++
	}
	return nil
}
