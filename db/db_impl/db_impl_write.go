// Port of db/db_impl/db_impl_write.cc. Differs: a batch that could fail half-way
// into the memtables is refused before it reaches the WAL. The log is in
// db_impl_write_wal.go, stalls and switches in db_impl_write_preprocess.go, two
// queues and unordered writes in db_impl_write_unordered.go.

package dbimpl

import (
	"sync"

	"github.com/rocksdb-go/rocksdb/db"
	"github.com/rocksdb-go/rocksdb/db/writebatch"
	"github.com/rocksdb-go/rocksdb/db/writethread"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/monitoring"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
	"github.com/rocksdb-go/rocksdb/util/stopwatch"
)

var errReadOnly = rocksdb.NotSupported("Not supported operation in read only mode.")

// writeScratch is what one call to Write needs; it is pooled.
type writeScratch struct {
	writer   writethread.Writer
	group    writethread.WriteGroup
	memGroup writethread.WriteGroup // pipelined
	inserter db.MemTableInserter    // of parallel writers
	batch    writebatch.WriteBatch  // of single-key calls
	perf     writePerf
}

// resetBatch makes s.batch a plain, empty one.
func (s *writeScratch) resetBatch() {
	s.batch.Clear()
	if s.batch.GetProtectionBytesPerKey() > 0 {
		_ = s.batch.UpdateProtectionInfo(0) // cannot fail
	}
}

var writeScratchPool = sync.Pool{New: func() any { return &writeScratch{} }}

var defaultWriteOptions = rocksdb.DefaultWriteOptions()

func orDefault(wo *rocksdb.WriteOptions) *rocksdb.WriteOptions {
	if wo == nil {
		return &defaultWriteOptions
	}
	return wo
}

// unstamped is single for a family whose keys have no timestamps.
func (d *DBImpl) unstamped(wo *rocksdb.WriteOptions, cf rocksdb.ColumnFamilyHandle, fill func(b *writebatch.WriteBatch) error) error {
	if err := d.failIfHasTimestamps(cf); err != nil {
		return err
	}
	return d.single(wo, fill)
}

// single runs one call as a batch of its own.
// Upstream: DB::Put, DB::Merge.
func (d *DBImpl) single(wo *rocksdb.WriteOptions, fill func(b *writebatch.WriteBatch) error) error {
	if d.readOnly {
		return d.readOnlyError()
	}
	s := writeScratchPool.Get().(*writeScratch)
	s.resetBatch()
	err := fill(&s.batch)
	if err == nil {
		err = d.writeImpl(orDefault(wo), &s.batch, nil, s)
	}
	writeScratchPool.Put(s)
	return err
}

// Put stores value under key; nil cf is the default family, here and below.
func (d *DBImpl) Put(wo *rocksdb.WriteOptions, cf rocksdb.ColumnFamilyHandle, key, value []byte) error {
	if d.readOnly {
		return d.readOnlyError()
	}
	s := writeScratchPool.Get().(*writeScratch)
	s.resetBatch()
	err := s.batch.PutCF(cf, key, value)
	if err == nil {
		err = d.writeImpl(orDefault(wo), &s.batch, nil, s)
	} else if e := d.failIfHasTimestamps(cf); e != nil {
		err = e
	}
	writeScratchPool.Put(s)
	return err
}

// Delete removes key.
func (d *DBImpl) Delete(wo *rocksdb.WriteOptions, cf rocksdb.ColumnFamilyHandle, key []byte) error {
	return d.unstamped(wo, cf, func(b *writebatch.WriteBatch) error { return b.DeleteCF(cf, key) })
}

// SingleDelete removes key, which was put at most once.
func (d *DBImpl) SingleDelete(wo *rocksdb.WriteOptions, cf rocksdb.ColumnFamilyHandle, key []byte) error {
	return d.unstamped(wo, cf, func(b *writebatch.WriteBatch) error { return b.SingleDeleteCF(cf, key) })
}

// Merge adds an operand to key.
func (d *DBImpl) Merge(wo *rocksdb.WriteOptions, cf rocksdb.ColumnFamilyHandle, key, operand []byte) error {
	return d.unstamped(wo, cf, func(b *writebatch.WriteBatch) error { return b.MergeCF(cf, key, operand) })
}

// DeleteRange removes the keys in [begin, end).
func (d *DBImpl) DeleteRange(wo *rocksdb.WriteOptions, cf rocksdb.ColumnFamilyHandle, begin, end []byte) error {
	return d.unstamped(wo, cf, func(b *writebatch.WriteBatch) error { return b.DeleteRangeCF(cf, begin, end) })
}

// Write applies a batch atomically.
func (d *DBImpl) Write(wo *rocksdb.WriteOptions, batch *writebatch.WriteBatch) error {
	_, err := d.WriteImpl(wo, batch, nil)
	return err
}

// WriteImplOptions are what a write may have besides WriteOptions.
type WriteImplOptions struct {
	// Callback is asked by the leader first; an error refuses the write.
	Callback writethread.WriteCallback
	// UserWriteCallback is told of the write's progress.
	UserWriteCallback rocksdb.UserWriteCallback
	// LogRef is the log that the memtables' entries are to keep, 0 for none.
	LogRef uint64
	// DisableMemtable writes the log alone; with two write queues through the
	// second one.
	DisableMemtable bool
	// PreRelease runs once the log is written, before the write is visible.
	PreRelease writethread.PreReleaseCallback
	// PostMemTable runs once the memtables have the batch, before the write is
	// visible.
	PostMemTable writethread.PostMemTableCallback
}

// WriteImplResult is what a write found out.
type WriteImplResult struct {
	LogUsed  uint64                 // the log that has the batch
	Sequence rocksdb.SequenceNumber // of its first entry
}

// WriteWithCallback is Write, with a callback that the leader asks first and one
// that is told of the write's progress; each may be nil.
func (d *DBImpl) WriteWithCallback(wo *rocksdb.WriteOptions, batch *writebatch.WriteBatch, callback writethread.WriteCallback, user rocksdb.UserWriteCallback) error {
	_, err := d.WriteImpl(wo, batch, &WriteImplOptions{Callback: callback, UserWriteCallback: user})
	return err
}

// WriteImpl is Write with all that transactions need; x may be nil.
func (d *DBImpl) WriteImpl(wo *rocksdb.WriteOptions, batch *writebatch.WriteBatch, x *WriteImplOptions) (WriteImplResult, error) {
	if d.readOnly {
		return WriteImplResult{}, d.readOnlyError()
	}
	if batch == nil {
		return WriteImplResult{}, rocksdb.InvalidArgument("Batch is nullptr!")
	}
	s := writeScratchPool.Get().(*writeScratch)
	err := d.writeImpl(orDefault(wo), batch, x, s)
	r := WriteImplResult{LogUsed: s.writer.LogUsed, Sequence: s.writer.Sequence}
	writeScratchPool.Put(s)
	return r, err
}

// needsValidation tells whether the batch holds what may be refused by a
// memtable.
func needsValidation(b *writebatch.WriteBatch) bool { return !b.IsPlain() }

func (d *DBImpl) checkWriteOptions(wo *rocksdb.WriteOptions, batch *writebatch.WriteBatch, x *WriteImplOptions) error {
	walOnly := x != nil && x.DisableMemtable
	limited := wo.RateLimiterPriority != rocksdb.IOTotal && wo.RateLimiterPriority != rocksdb.IOLow
	switch {
	case wo.Sync && wo.DisableWAL:
		return rocksdb.InvalidArgument("Sync writes has to enable WAL.")
	case !walOnly && batch.NeedsInPlaceUpdateTimestamps():
		return rocksdb.InvalidArgument("write batch must have timestamp(s) set")
	case limited && wo.RateLimiterPriority != rocksdb.IOUser:
		return rocksdb.InvalidArgument("WriteOptions::rate_limiter_priority only allows Env::IO_TOTAL and Env::IO_USER due to implementation constraints")
	case limited && (wo.DisableWAL || d.immutable.ManualWALFlush):
		return rocksdb.InvalidArgument("WriteOptions::rate_limiter_priority currently only supports rate-limiting automatic WAL flush, " +
			"which requires `WriteOptions::disableWAL` and `DBOptions::manual_wal_flush` both set to false")
	case x != nil && x.PostMemTable != nil && d.immutable.EnablePipelinedWrite:
		return rocksdb.NotSupported("pipelined write currently does not honor post_memtable_callback")
	case d.immutable.TwoWriteQueues && d.immutable.EnablePipelinedWrite:
		return rocksdb.NotSupported("pipelined_writes is not compatible with concurrent prepares")
	case d.immutable.RowCache != nil && batch.HasDeleteRange():
		return rocksdb.NotSupported("DeleteRange is not compatible with row cache.")
	case wo.ProtectionBytesPerKey != 0 && wo.ProtectionBytesPerKey != 8:
		return rocksdb.InvalidArgument("`WriteOptions::protection_bytes_per_key` must be zero or eight")
	case wo.DisableWAL && d.immutable.RecycleLogFileNum > 0 && !(d.immutable.TwoWriteQueues && walOnly):
		return rocksdb.InvalidArgument("WriteOptions::disableWAL option is not supported if DBOptions::recycle_log_file_num > 0")
	}
	return nil
}

func (d *DBImpl) writeImpl(wo *rocksdb.WriteOptions, batch *writebatch.WriteBatch, x *WriteImplOptions, s *writeScratch) error {
	w := &s.writer
	w.Reset(wo, batch)
	d.traceWrite(batch)
	if err := d.checkWriteOptions(wo, batch, x); err != nil {
		return err
	}
	if wo.ProtectionBytesPerKey > 0 {
		if err := batch.UpdateProtectionInfo(wo.ProtectionBytesPerKey); err != nil {
			return err
		}
		w.ProtectionBytesPerKey = wo.ProtectionBytesPerKey
	}
	s.perf.init(wo.PerfContext, d.clock)
	if wo.LowPri && d.writeCtl.NeedSpeedupCompaction() {
		if err := d.throttleLowPri(wo, batch, &s.perf); err != nil {
			return err
		}
	}
	w.WaitNanos = waitCounter(wo.PerfContext)
	s.perf.enter(phasePrePost)
	watch := stopwatch.NewStopWatch(d.clock, d.stats, rocksdb.HistDBWrite)
	if x != nil {
		w.Callback, w.UserWriteCallback = x.Callback, x.UserWriteCallback
		w.LogRef, w.DisableMemtable = x.LogRef, x.DisableMemtable
		w.PreReleaseCallback, w.PostMemTable = x.PreRelease, x.PostMemTable
	}
	var err error
	switch {
	case d.immutable.TwoWriteQueues && w.DisableMemtable:
		err = d.writeWALOnly(d.nonmemWriteThread, wo, w, s)
	case d.immutable.UnorderedWrite:
		err = d.unorderedWrite(wo, w, s)
	case d.immutable.EnablePipelinedWrite:
		err = d.pipelinedWrite(wo, w, s)
	default:
		err = d.groupedWrite(wo, w, s)
	}
	watch.Stop()
	s.perf.enter(phaseDone)
	s.perf.init(nil, nil)
	w.WaitNanos = nil
	// The batch is the caller's again.
	w.Batch, w.Callback, w.UserWriteCallback, w.PreReleaseCallback, w.PostMemTable = nil, nil, nil, nil, nil
	return err
}

// groupedWrite is a write in the plain mode: one group at a time goes through
// WAL and memtables.
func (d *DBImpl) groupedWrite(wo *rocksdb.WriteOptions, w *writethread.Writer, s *writeScratch) error {
	t := d.writeThread
	t.JoinBatchGroup(w)
	if w.State() == writethread.StateParallelMemTableCaller {
		t.SetMemWritersEachStride(w)
	}
	switch w.State() {
	case writethread.StateParallelMemTableWriter, writethread.StateParallelMemTableCaller:
		d.insertParallel(w, s)
		if t.CompleteParallelMemTableWriter(w) {
			g := w.Group()
			if w.Status == nil {
				// A batch that is there in part does not become visible.
				runPostMemTable(g, g.LastSequence)
				d.versions.SetLastSequence(g.LastSequence)
			}
			d.memTableInsertStatusCheck(w.Status)
			t.ExitAsBatchGroupFollower(w)
		}
		return w.FinalStatus()
	case writethread.StateCompleted:
		return w.FinalStatus()
	}
	return d.leadGroup(wo, w, s)
}

// insertParallel puts w's batch into the memtables side by side with the rest
// of its group.
func (d *DBImpl) insertParallel(w *writethread.Writer, s *writeScratch) {
	if !w.ShouldWriteToMemtable() {
		return
	}
	s.perf.enter(phaseMemtable)
	in := &s.inserter
	d.setUpInserter(in, w.Sequence, true)
	in.HintPerBatch = w.MemtableInsertHintPerBatch
	in.PerfContext = s.perf.perf
	in.IgnoreMissingColumnFamilies = d.ignoreMissing(w)
	if err := in.Insert(w.Batch); err != nil {
		w.Status = err
	}
	in.PostProcess()
	s.perf.enter(phasePrePost)
}

func (d *DBImpl) setUpInserter(in *db.MemTableInserter, seq rocksdb.SequenceNumber, concurrent bool) {
	in.Reset()
	in.Families = d.families
	in.FlushScheduler = &d.flushScheduler
	in.TrimHistoryScheduler = &d.trimScheduler
	in.Sequence = seq
	in.Concurrent = concurrent
	in.RecoveringLogNumber = 0
	if d.inplaceUpdates.Load() {
		in.ReadValue = d.readValueToUpdate
	}
	in.ReadEntity = d.entityReader
}

func (d *DBImpl) ignoreMissing(w *writethread.Writer) bool { return w.IgnoreMissingColumnFamilies }

// groupTotals is what a leader counts of its group.
type groupTotals struct {
	count    uint64 // entries for the memtables
	bytes    int
	parallel bool // no merges: members may insert side by side
	// preRelease counts the members with a PreReleaseCallback.
	preRelease int
}

// admits asks w's callback, and refuses a batch that could fail half-way.
func (d *DBImpl) admits(w *writethread.Writer) bool {
	if !w.CheckCallback() {
		return false
	}
	if w.DisableMemtable || !needsValidation(w.Batch) {
		return true
	}
	v := db.BatchValidator{Families: d.families, IgnoreMissing: d.ignoreMissing(w)}
	// The group's status is not to touch it, nor it the group's.
	err := w.Batch.Iterate(&v)
	if err != nil && w.Batch.VerifyChecksum() != nil {
		// Memory is not to be trusted: the whole group fails at its log record.
		return true
	}
	w.CallbackStatus = err
	return err == nil
}

// examineGroup runs callbacks, refuses bad batches, and counts.
func (d *DBImpl) examineGroup(g *writethread.WriteGroup) (x groupTotals) {
	x.parallel = d.immutable.AllowConcurrentMemtableWrite && g.Size > 1
	for w := g.Leader; w != nil; w = g.Next(w) {
		if !d.admits(w) {
			continue
		}
		if w.Batch.HasMerge() {
			x.parallel = false
		}
		if w.PreReleaseCallback != nil {
			x.preRelease++
		}
		if w.ShouldWriteToMemtable() {
			x.count += uint64(w.Batch.Count())
			x.bytes += w.Batch.GetDataSize()
		}
	}
	return x
}

func (d *DBImpl) leadGroup(wo *rocksdb.WriteOptions, w *writethread.Writer, s *writeScratch) error {
	t := d.writeThread
	ctx := writeContext{perf: &s.perf}
	needLogSync := wo.Sync && !d.immutable.TwoWriteQueues
	err := d.preprocessWrite(wo, &needLogSync, &ctx)
	g := &s.group
	g.Reset()
	syncpoint.Process("DBImpl::WriteImpl:BeforeLeaderEnters")
	d.lastGroupSize = uint64(t.EnterAsBatchGroupLeader(w, g))
	var lastSequence rocksdb.SequenceNumber
	exitHere := true
	if err == nil {
		total := d.examineGroup(g)
		d.traceGroup(g)
		d.countWrites(g, &total)
		var walErr error
		s.perf.enter(phaseWAL)
		lastSequence, walErr = d.logGroup(wo, g, &total, needLogSync)
		s.perf.enter(phasePrePost)
		err = walErr
		if needLogSync {
			// Before the memtables: the group's last writer into them hands the
			// lead on, and then the newest log may be another one.
			err = d.finishSync(err)
		} else if err == nil && wo.Sync {
			err = d.FlushWAL(true) // of two queues
		}
		first := lastSequence + 1
		lastSequence += total.count
		if err == nil {
			if err = assignSequences(g, first, total.preRelease); err != nil && !w.CallbackFailed() {
				d.writeStatusCheck(err)
			}
		}
		if err == nil {
			if total.parallel {
				g.LastSequence = lastSequence
				t.LaunchParallelMemTableWriters(g)
				d.insertParallel(w, s)
				exitHere = t.CompleteParallelMemTableWriter(w)
			} else {
				err = d.insertGroup(g, &d.inserter, &s.perf)
			}
		}
		if walErr != nil {
			d.walWriteStatusCheck(walErr)
		}
	}
	if exitHere {
		if err == nil {
			err = w.Status
		}
		if err == nil {
			err = g.Status()
		}
		if err == nil {
			runPostMemTable(g, lastSequence)
			d.versions.SetLastSequence(lastSequence)
		}
		d.memTableInsertStatusCheck(g.Status())
		d.memTableInsertStatusCheck(d.takeInsertError())
		t.ExitAsBatchGroupLeader(g, groupError(err, w))
	}
	ctx.clean()
	if err == nil || w.Status != nil || w.CallbackFailed() {
		return w.FinalStatus()
	}
	return err
}

// logGroup gives the group its sequence numbers and writes its log record. It
// gives the last number before the group's.
func (d *DBImpl) logGroup(wo *rocksdb.WriteOptions, g *writethread.WriteGroup, total *groupTotals, sync bool) (lastSequence rocksdb.SequenceNumber, err error) {
	if wo.DisableWAL {
		d.hasUnpersistedData.Store(true)
	}
	switch {
	case d.immutable.TwoWriteQueues && !wo.DisableWAL:
		return d.concurrentWriteGroupToWAL(g, total.count, &d.tmpBatch.WriteBatch)
	case d.immutable.TwoWriteQueues:
		return d.versions.FetchAddLastAllocatedSequence(total.count), nil
	}
	lastSequence = d.versions.LastSequence()
	if !wo.DisableWAL {
		err = d.writeGroupToWAL(g, lastSequence+1, sync)
	}
	return lastSequence, err
}

func runPostMemTable(g *writethread.WriteGroup, lastSequence rocksdb.SequenceNumber) {
	for w := g.Leader; w != nil; w = g.Next(w) {
		if w.PostMemTable != nil {
			_ = w.PostMemTable.Callback(lastSequence, w.DisableMemtable) // it has nothing to refuse any more
		}
	}
}

// writeStatusCheck stops the database when a write failed after its log record.
func (d *DBImpl) writeStatusCheck(err error) {
	if c := rocksdb.CodeOf(err); !d.immutable.ParanoidChecks || c == rocksdb.CodeBusy || c == rocksdb.CodeIncomplete {
		return
	}
	d.mu.Lock()
	d.errorHandler.SetBGError(err, rocksdb.BackgroundErrorReasonWriteCallback)
	d.bgCond.Broadcast()
	d.mu.Unlock()
}

// groupError is what the group's other members get: the leader's own refusal
// does not concern them.
func groupError(err error, leader *writethread.Writer) error {
	if err != nil && err == leader.Status {
		return nil
	}
	return err
}

// assignSequences gives each member the number of its first entry, and runs
// callbacks of the preRelease members that have one; their error ends it.
func assignSequences(g *writethread.WriteGroup, next rocksdb.SequenceNumber, preRelease int) error {
	index := 0
	for w := g.Leader; w != nil; w = g.Next(w) {
		if w.CallbackFailed() || w.Status != nil {
			continue
		}
		w.Sequence = next
		if w.PreReleaseCallback != nil {
			if err := w.PreReleaseCallback.Callback(w.Sequence, w.DisableMemtable, w.LogUsed, index, preRelease); err != nil {
				return err
			}
			index++
		}
		if w.ShouldWriteToMemtable() {
			next += uint64(w.Batch.Count())
		}
	}
	return nil
}

// insertGroup puts all members' batches into the memtables, one after the
// other.
func (d *DBImpl) insertGroup(g *writethread.WriteGroup, in *db.MemTableInserter, perf *writePerf) error {
	perf.enter(phaseMemtable)
	defer perf.enter(phasePrePost)
	d.setUpInserter(in, 0, false)
	in.PerfContext = perf.perf
	for w := g.Leader; w != nil; w = g.Next(w) {
		if !w.ShouldWriteToMemtable() {
			continue
		}
		in.Sequence = w.Sequence
		in.IgnoreMissingColumnFamilies = d.ignoreMissing(w)
		if err := in.Insert(w.Batch); err != nil {
			d.insertError = err
			return err
		}
	}
	return nil
}

func (d *DBImpl) takeInsertError() error {
	err := d.insertError
	d.insertError = nil
	return err
}

func (d *DBImpl) countWrites(g *writethread.WriteGroup, x *groupTotals) {
	d.countKeysWritten(x.count)
	st := d.families.GetDefault().InternalStats()
	st.AddDBStats(db.BytesWritten, uint64(x.bytes))
	st.AddDBStats(db.WriteDoneBySelf, 1)
	if n := g.Size - 1; n > 0 {
		st.AddDBStats(db.WriteDoneByOther, uint64(n))
	}
	if d.stats != nil {
		monitoring.RecordTick(d.stats, rocksdb.BytesWritten, uint64(x.bytes))
		monitoring.RecordTick(d.stats, rocksdb.WriteDoneBySelf, 1)
		monitoring.RecordTick(d.stats, rocksdb.WriteDoneByOther, uint64(g.Size-1))
		monitoring.RecordInHistogram(d.stats, rocksdb.HistBytesPerWrite, uint64(x.bytes))
	}
}

func (d *DBImpl) countKeysWritten(n uint64) {
	d.families.GetDefault().InternalStats().AddDBStats(db.NumberKeysWritten, n)
	if d.stats != nil {
		monitoring.RecordTick(d.stats, rocksdb.NumberKeysWritten, n)
	}
}

// memTableInsertStatusCheck stops the database when a batch that the WAL has
// did not go into the memtables.
// Upstream: DBImpl::HandleMemTableInsertFailure.
func (d *DBImpl) memTableInsertStatusCheck(err error) {
	if err == nil {
		return
	}
	d.mu.Lock()
	d.errorHandler.SetBGError(err, rocksdb.BackgroundErrorReasonMemTable)
	d.bgCond.Broadcast()
	d.mu.Unlock()
}

// pipelinedWrite lets one group write the WAL while the one before inserts.
func (d *DBImpl) pipelinedWrite(wo *rocksdb.WriteOptions, w *writethread.Writer, s *writeScratch) error {
	t := d.writeThread
	t.JoinBatchGroup(w)
	syncpoint.Process("DBImplWrite::PipelinedWriteImpl:AfterJoinBatchGroup")
	ctx := writeContext{perf: &s.perf}
	if w.State() == writethread.StateGroupLeader {
		needLogSync := wo.Sync
		err := d.preprocessWrite(wo, &needLogSync, &ctx)
		g := &s.group
		g.Reset()
		d.lastGroupSize = uint64(t.EnterAsBatchGroupLeader(w, g))
		if err == nil {
			total := d.examineGroup(g)
			d.traceGroup(g)
			d.countWrites(g, &total)
			first := d.versions.FetchAddLastAllocatedSequence(total.count) + 1
			err = assignSequences(g, first, total.preRelease)
			t.UpdateLastSequence(first + total.count - 1)
			switch {
			case err != nil:
				if !w.CallbackFailed() {
					d.writeStatusCheck(err)
				}
			case wo.DisableWAL:
				d.hasUnpersistedData.Store(true)
			default:
				s.perf.enter(phaseWAL)
				if err = d.writeGroupToWAL(g, first, needLogSync); err != nil {
					d.walWriteStatusCheck(err)
				}
				s.perf.enter(phasePrePost)
			}
		}
		if needLogSync {
			err = d.finishSync(err)
		}
		_ = t.ExitAsBatchGroupLeader(g, err) // the members have it
		ctx.clean()
	}
	if w.State() == writethread.StateMemTableWriterLeader {
		mg := &s.memGroup
		mg.Reset()
		t.EnterAsMemTableWriter(w, mg)
		if mg.Size > 1 && d.immutable.AllowConcurrentMemtableWrite {
			t.LaunchParallelMemTableWriters(mg)
		} else {
			if err := d.insertGroup(mg, &s.inserter, &s.perf); err != nil {
				mg.SetStatus(err)
			}
			d.memTableInsertStatusCheck(mg.Status())
			if mg.Status() == nil {
				d.versions.SetLastSequence(mg.LastSequence)
			}
			t.ExitAsMemTableWriter(mg)
		}
	}
	if w.State() == writethread.StateParallelMemTableCaller {
		t.SetMemWritersEachStride(w)
	}
	if st := w.State(); st == writethread.StateParallelMemTableWriter || st == writethread.StateParallelMemTableCaller {
		d.insertParallel(w, s)
		if t.CompleteParallelMemTableWriter(w) {
			mg := w.Group()
			d.memTableInsertStatusCheck(w.Status)
			if w.Status == nil {
				d.versions.SetLastSequence(mg.LastSequence)
			}
			t.ExitAsMemTableWriter(mg)
		}
	}
	return w.FinalStatus()
}
