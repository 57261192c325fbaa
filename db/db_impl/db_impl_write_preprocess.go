// Port of db/db_impl/db_impl_write.cc (PreprocessWrite, DelayWrite, ThrottleLowPriWritesIfNeeded,
// WriteBufferManagerStallWrites, HandleWriteBufferManagerFlush, SwitchWAL,
// TrimMemtableHistory, ScheduleFlushes, SwitchMemtable).

package dbimpl

import (
	"bytes"
	"sync"

	"github.com/rocksdb-go/rocksdb/db"
	"github.com/rocksdb-go/rocksdb/db/memtable"
	"github.com/rocksdb-go/rocksdb/db/wal"
	"github.com/rocksdb-go/rocksdb/db/writebatch"
	"github.com/rocksdb-go/rocksdb/db/writethread"
	"github.com/rocksdb-go/rocksdb/env"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/logging"
	"github.com/rocksdb-go/rocksdb/monitoring"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

// writeContext collects what a leader cleans up after its group.
type writeContext struct {
	sv   db.SuperVersionContext
	used bool
	perf *writePerf // of a write
}

func (c *writeContext) clean() {
	if c.used {
		c.sv.Clean()
	}
}

// maxTotalWALSize is the bytes of logs from which on families are flushed.
func (d *DBImpl) maxTotalWALSize() uint64 {
	if n := d.mutableDBOptions.Load().MaxTotalWALSize; n > 0 {
		return n
	}
	return 4 * d.maxTotalInMemoryState.Load()
}

// preprocessWrite does, as leader and before its group is written, what is
// due: flushes, stalls, the marking of logs to sync.
func (d *DBImpl) preprocessWrite(wo *rocksdb.WriteOptions, needLogSync *bool, ctx *writeContext) (err error) {
	if d.errorHandler.IsDBStopped() {
		d.mu.Lock()
		err = d.errorHandler.GetBGError()
		d.mu.Unlock()
	}
	ctx.perf.enter(phaseScheduling)
	if err == nil && d.totalLogSize.Load() > d.maxTotalWALSize() && d.families.NumberOfColumnFamilies() > 1 {
		err = d.withWritesHeld(func() error { return d.switchWALLocked(ctx) })
	}
	if err == nil && d.writeBufferManager.ShouldFlush() {
		err = d.withWritesHeld(func() error { return d.handleWriteBufferManagerFlushLocked(ctx) })
	}
	if err == nil && !d.trimScheduler.Empty() {
		d.mu.Lock()
		d.trimMemtableHistoryLocked(ctx)
		d.mu.Unlock()
	}
	if err == nil && !d.flushScheduler.Empty() {
		err = d.withWritesHeld(func() error { return d.scheduleFlushesLocked(ctx) })
		// Scans step over what the sealed memtable hides until the flush is done.
		env.AwaitPickup(d.env, d.flushPool())
	}
	ctx.perf.enter(phasePrePost)
	if err == nil && (d.writeCtl.IsStopped() || d.writeCtl.NeedsDelay()) {
		ctx.perf.enter(phaseDelay)
		d.mu.Lock()
		err = d.delayWriteLocked(d.lastGroupSize, d.writeThread, wo)
		d.mu.Unlock()
		ctx.perf.enter(phasePrePost)
	}
	if err == nil && d.writeBufferManager.ShouldStall() {
		d.families.GetDefault().InternalStats().AddDBStats(db.WriteBufferManagerLimitStops, 1)
		if wo.NoSlowdown {
			err = rocksdb.Incomplete("Write stall")
		} else {
			d.mu.Lock()
			d.writeBufferManagerStallLocked()
			d.mu.Unlock()
		}
	}
	if err != nil || !*needLogSync {
		*needLogSync = false
		return err
	}
	d.walMu.Lock()
	for d.walMu.logs[0].gettingSynced {
		d.walMu.cond.Wait()
	}
	for i := range d.walMu.logs {
		d.walMu.logs[i].prepareForSync()
	}
	d.walMu.Unlock()
	return nil
}

// throttleLowPri slows a write of low priority down while compactions are behind,
// but does not stop it: it may never get its turn else. What ends a prepared
// transaction is not held up.
func (d *DBImpl) throttleLowPri(wo *rocksdb.WriteOptions, batch *writebatch.WriteBatch, perf *writePerf) error {
	if d.immutable.Allow2PC && (batch.HasCommit() || batch.HasRollback()) {
		return nil
	}
	if wo.NoSlowdown {
		return rocksdb.Incomplete("Low priority write stall")
	}
	perf.enter(phaseDelay)
	for left := batch.GetDataSize(); left > 0; {
		left -= d.writeCtl.LowPriRateLimiter().RequestToken(left, 0, rocksdb.IOHigh, nil, rocksdb.OpTypeWrite)
	}
	return nil
}

// delayWriteLocked holds the leader, and so all writers, back.
func (d *DBImpl) delayWriteLocked(numBytes uint64, t *writethread.WriteThread, wo *rocksdb.WriteOptions) error {
	delay := d.writeCtl.GetDelay(d.clock, numBytes)
	syncpoint.Process("DBImpl::DelayWrite:Start")
	start := d.clock.NowMicros()
	delayed := false
	if delay > 0 {
		if wo.NoSlowdown {
			return rocksdb.Incomplete("Write stall")
		}
		syncpoint.Process("DBImpl::DelayWrite:Sleep")
		t.BeginWriteStall()
		syncpoint.Process("DBImpl::DelayWrite:BeginWriteStallDone")
		d.mu.Unlock()
		for end := start + delay; d.writeCtl.NeedsDelay() && d.clock.NowMicros() < end; {
			delayed = true
			d.clock.SleepForMicroseconds(int(min(1001, end-min(end, d.clock.NowMicros()))))
		}
		d.mu.Lock()
		t.EndWriteStall()
	}
	// Once writes are refused, this one must not wait for the recovery: that may
	// wait for the place in the queue which this one has.
	for (d.errorHandler.GetBGError() == nil || d.errorHandler.IsRecoveryInProgress() && !d.errorHandler.IsDBStopped()) &&
		d.writeCtl.IsStopped() && !d.shuttingDown.Load() {
		if wo.NoSlowdown {
			return rocksdb.Incomplete("Write stall")
		}
		delayed = true
		t.BeginWriteStall()
		if t == d.writeThread {
			syncpoint.Process("DBImpl::DelayWrite:Wait")
		} else {
			syncpoint.Process("DBImpl::DelayWrite:NonmemWait")
		}
		d.bgCond.Wait()
		t.EndWriteStall()
	}
	if delayed {
		n := d.clock.NowMicros() - start
		d.families.GetDefault().InternalStats().AddDBStats(db.WriteStallMicros, n)
		monitoring.RecordTick(d.stats, rocksdb.StallMicros, n)
		monitoring.RecordInHistogram(d.stats, rocksdb.HistWriteStall, n)
	}
	if d.errorHandler.IsDBStopped() {
		return d.errorHandler.GetBGError()
	}
	if d.writeCtl.IsStopped() {
		if d.shuttingDown.Load() {
			return rocksdb.ShutdownInProgress("stalled writes")
		}
		return rocksdb.Incomplete(statusText(d.errorHandler.GetBGError()))
	}
	return nil
}

// wbmStall waits for the write buffer manager.
type wbmStall struct {
	mu   sync.Mutex
	cond *sync.Cond
	on   bool
}

// Block waits until Signal.
func (s *wbmStall) Block() {
	s.mu.Lock()
	syncpoint.Process("WBMStallInterface::BlockDB")
	for s.on {
		s.cond.Wait()
	}
	s.mu.Unlock()
}

// Signal ends a stall.
func (s *wbmStall) Signal() {
	s.mu.Lock()
	s.on = false
	s.cond.Broadcast()
	s.mu.Unlock()
}

func (d *DBImpl) writeBufferManagerStallLocked() {
	d.writeThread.BeginWriteStall()
	d.mu.Unlock()
	d.stall.mu.Lock()
	d.stall.on = true
	d.stall.mu.Unlock()
	d.writeBufferManager.BeginWriteStall(&d.stall)
	d.stall.Block()
	d.mu.Lock()
	d.writeThread.EndWriteStall()
}

func (d *DBImpl) trimMemtableHistoryLocked(ctx *writeContext) {
	for {
		cfd := d.trimScheduler.TakeNextColumnFamily(&ctx.sv.MemtablesToFree)
		if cfd == nil {
			return
		}
		ctx.used = true
		if cfd.Imm().TrimHistory(&ctx.sv.MemtablesToFree, cfd.Mem().MemoryAllocatedBytes()) {
			cfd.InstallSuperVersion(&ctx.sv, d)
		}
		cfd.UnrefLocked(&ctx.sv.MemtablesToFree)
	}
}

// flushFamiliesLocked switches the memtables of families and queues their
// flushes; with atomic flush those of all families.
func (d *DBImpl) flushFamiliesLocked(cfds []*db.ColumnFamilyData, reason rocksdb.FlushReason, ctx *writeContext) error {
	if d.immutable.AtomicFlush {
		cfds = d.selectForAtomicFlushLocked(nil, reason)
	}
	for _, cfd := range cfds {
		cfd.Ref()
	}
	defer func() {
		for _, cfd := range cfds {
			cfd.UnrefLocked(&ctx.sv.MemtablesToFree)
		}
	}()
	ctx.used = true
	for _, cfd := range cfds {
		if cfd.Mem().IsEmpty() && d.immutable.AtomicFlush {
			continue
		}
		if err := d.switchMemtableLocked(cfd, ctx); err != nil {
			return err
		}
	}
	if d.immutable.AtomicFlush {
		d.scheduleAtomicFlushLocked(cfds, reason)
		return nil
	}
	for _, cfd := range cfds {
		cfd.Imm().FlushRequested()
		d.enqueueFlushLocked(flushOfOne(cfd, reason))
	}
	d.maybeScheduleLocked()
	return nil
}

// switchWALLocked flushes the families that hold back the oldest log.
func (d *DBImpl) switchWALLocked(ctx *writeContext) error {
	if len(d.st.aliveLogs) == 0 {
		return nil
	}
	oldest := d.st.aliveLogs[0].number
	if d.st.walBeingFlushed == oldest {
		return nil
	}
	d.st.walBeingFlushed = oldest
	logging.Info(d.infoLog, "Flushing all column families with data in WAL number %d. Total log size is %d while max_total_wal_size is %d",
		oldest, d.totalLogSize.Load(), d.maxTotalWALSize())
	var cfds []*db.ColumnFamilyData
	for _, cfd := range d.families.All() {
		if !cfd.IsDropped() && cfd.OldestLogToKeep() <= oldest {
			cfds = append(cfds, cfd)
		}
	}
	return d.flushFamiliesLocked(d.withStatsFamilyLocked(cfds), rocksdb.FlushReasonWalFull, ctx)
}

// handleWriteBufferManagerFlushLocked flushes the family with the oldest
// memtable.
func (d *DBImpl) handleWriteBufferManagerFlushLocked(ctx *writeContext) error {
	var pick *db.ColumnFamilyData
	for _, cfd := range d.families.All() {
		if cfd.IsDropped() || cfd.Mem().IsEmpty() || cfd.Imm().IsFlushPendingOrRunning() {
			continue
		}
		if pick == nil || cfd.Mem().GetCreationSeq() < pick.Mem().GetCreationSeq() {
			pick = cfd
		}
	}
	if pick == nil {
		return nil
	}
	logging.Info(d.infoLog, "Flushing triggered to alleviate write buffer memory usage. Write buffer is using %d bytes out of a total of %d.",
		d.writeBufferManager.MemoryUsage(), d.writeBufferManager.BufferSize())
	return d.flushFamiliesLocked(d.withStatsFamilyLocked([]*db.ColumnFamilyData{pick}), rocksdb.FlushReasonWriteBufferManager, ctx)
}

// scheduleFlushesLocked switches the memtables that are full.
func (d *DBImpl) scheduleFlushesLocked(ctx *writeContext) (err error) {
	syncpoint.ProcessArg("DBImpl::ScheduleFlushes:PreSwitchMemtable", nil)
	// With atomic flush one reason holds for all families: that of those which
	// asked for the flush.
	atomicReason := rocksdb.FlushReasonWriteBufferFull
	var cfds []*db.ColumnFamilyData // with no atomic flush
	for {
		cfd := d.flushScheduler.TakeNextColumnFamily(&ctx.sv.MemtablesToFree)
		if cfd == nil {
			break
		}
		if d.immutable.PersistStatsToDisk {
			cfds = append(cfds, cfd)
		}
		ctx.used = true
		if err == nil && !cfd.Mem().IsEmpty() {
			reason := cfd.Mem().GetFlushReason()
			if d.immutable.AtomicFlush {
				if reason == rocksdb.FlushReasonMemtableMaxRangeDeletions {
					atomicReason = reason
				}
			} else if err = d.switchMemtableLocked(cfd, ctx); err == nil {
				d.enqueueFlushLocked(flushOfOne(cfd, reason))
			}
		}
		cfd.UnrefLocked(&ctx.sv.MemtablesToFree)
	}
	if d.immutable.AtomicFlush && err == nil {
		return d.flushFamiliesLocked(nil, atomicReason, ctx)
	}
	for _, cfd := range d.withStatsFamilyLocked(cfds)[len(cfds):] {
		if err == nil {
			if err = d.switchMemtableLocked(cfd, ctx); err == nil {
				d.enqueueFlushLocked(flushOfOne(cfd, rocksdb.FlushReasonWriteBufferFull))
			}
		}
	}
	if err == nil {
		d.maybeScheduleLocked()
	}
	return err
}

// switchMemtableLocked makes the active memtable immutable, and starts a new
// log unless the present one is empty. The caller leads the write thread. The
// mutex is released meanwhile.
func (d *DBImpl) switchMemtableLocked(cfd *db.ColumnFamilyData, ctx *writeContext) error {
	ctx.used = true
	newLog := !d.logEmpty
	number := d.logNumber.Load()
	var recycle uint64
	var prepared *wal.Writer
	if newLog {
		if prepared = d.takePrecreatedWALLocked(); prepared != nil {
			number = prepared.GetLogNumber()
		} else {
			number = d.versions.NewFileNumber()
		}
		if d.immutable.RecycleLogFileNum > 0 && len(d.st.recycleLogs) > 0 && d.st.deletesDisabled == 0 {
			recycle = d.st.recycleLogs[0]
		}
	}
	mo := cfd.GetLatestMutableCFOptions()
	sealed := cfd.Mem()
	numImm := cfd.Imm().NumNotFlushed()
	info := rocksdb.MemTableInfo{CFName: cfd.GetName(), FirstSeqno: sealed.GetFirstSequenceNumber(),
		EarliestSeqno: sealed.GetEarliestSequenceNumber(), NumEntries: sealed.NumEntries(), NumDeletes: sealed.NumDeletion()}
	if !cfd.IOptions().PersistUserDefinedTimestamps {
		info.NewestUDT = bytes.Clone(sealed.GetNewestUDT())
	}
	d.mu.Unlock()
	var err error
	var log *logHandle
	preallocate := d.walPreallocateBlockSize(mo.WriteBufferSize)
	if newLog {
		if prepared != nil {
			log, err = d.startPrecreatedWAL(prepared, d.predecessor())
		} else {
			log, err = d.createWAL(number, recycle, preallocate, d.predecessor())
		}
		syncpoint.ProcessArg("DBImpl::SwitchMemtable:AfterCreateWAL", &err)
	}
	var mem *memtable.MemTable
	if err == nil {
		mem = cfd.ConstructNewMemtable(mo, d.versions.LastSequence())
		logging.Info(d.infoLog, "[%s] New memtable created with log file: #%d. Immutable memtables: %d.", cfd.GetName(), number, numImm)
	}
	sealed.MarkImmutable()
	sealed.ConstructFragmentedRangeTombstones()
	d.mu.Lock()
	if recycle != 0 {
		d.st.recycleLogs = d.st.recycleLogs[1:]
	}
	if err == nil && newLog {
		if d.errorHandler.IsRecoveryInProgress() {
			d.walMu.Lock()
			// What is buffered of the last log is tried again.
			d.walMu.logs[len(d.walMu.logs)-1].writer.File().ResetSeenError()
			d.walMu.Unlock()
		}
		err = d.installLogLocked(log)
	}
	if err != nil {
		if mem != nil {
			mem.Free()
		}
		d.errorHandler.SetWALError(err, rocksdb.BackgroundErrorReasonMemTable)
		if e := d.errorHandler.GetBGError(); e != nil {
			return e
		}
		return err
	}
	for _, c := range d.families.All() {
		// An empty family needs no log but the newest.
		if !c.IsDropped() && c.IsEmpty() {
			if newLog {
				c.SetLogNumber(number)
			}
			c.Mem().SetCreationSeq(d.versions.LastSequence())
		}
	}
	sealed.SetNextLogNumber(number)
	cfd.Imm().Add(sealed, &ctx.sv.MemtablesToFree)
	syncpoint.Process("DBImpl::SwitchMemtable:AfterConstructFragmentedRangeTombstones")
	mem.Ref()
	cfd.SetMemtable(mem)
	d.installSuperVersionAndScheduleLocked(cfd, &ctx.sv)
	d.maybeScheduleWALPrecreateLocked(preallocate)
	d.notifyOnMemTableSealed(cfd, &info)
	return nil
}

func (d *DBImpl) notifyOnMemTableSealed(cfd *db.ColumnFamilyData, info *rocksdb.MemTableInfo) {
	for _, l := range d.immutable.Listeners {
		l.OnMemTableSealed(info)
	}
}
