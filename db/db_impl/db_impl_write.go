// Port of db/db_impl/db_impl_write.cc. Differs: a batch that could fail half-way
// into the memtables is refused before it reaches the WAL. Two queues and
// unordered writes are in db_impl_write_unordered.go.

package dbimpl

import (
	"bytes"
	"github.com/rocksdb-go/rocksdb/db/version"
	"github.com/rocksdb-go/rocksdb/util/stopwatch"
	"sync"
	"time"

	"github.com/rocksdb-go/rocksdb/db"
	"github.com/rocksdb-go/rocksdb/db/memtable"
	"github.com/rocksdb-go/rocksdb/db/wal"
	"github.com/rocksdb-go/rocksdb/db/writebatch"
	"github.com/rocksdb-go/rocksdb/db/writethread"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/logging"
	"github.com/rocksdb-go/rocksdb/monitoring"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

var errReadOnly = rocksdb.NotSupported("Not supported operation in read only mode.")

// mergedBatch is where a leader joins its group's batches for the WAL.
// Upstream: DBImpl::MergeBatch.
type mergedBatch struct{ writebatch.WriteBatch }

// writeScratch is what one call to Write needs; it is pooled.
type writeScratch struct {
	writer   writethread.Writer
	group    writethread.WriteGroup
	memGroup writethread.WriteGroup // pipelined
	inserter db.MemTableInserter    // of parallel writers
	batch    writebatch.WriteBatch  // of single-key calls
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
	}
	writeScratchPool.Put(s)
	return err
}

// Delete removes key.
func (d *DBImpl) Delete(wo *rocksdb.WriteOptions, cf rocksdb.ColumnFamilyHandle, key []byte) error {
	return d.single(wo, func(b *writebatch.WriteBatch) error { return b.DeleteCF(cf, key) })
}

// SingleDelete removes key, which was put at most once.
func (d *DBImpl) SingleDelete(wo *rocksdb.WriteOptions, cf rocksdb.ColumnFamilyHandle, key []byte) error {
	return d.single(wo, func(b *writebatch.WriteBatch) error { return b.SingleDeleteCF(cf, key) })
}

// Merge adds an operand to key.
func (d *DBImpl) Merge(wo *rocksdb.WriteOptions, cf rocksdb.ColumnFamilyHandle, key, operand []byte) error {
	return d.single(wo, func(b *writebatch.WriteBatch) error { return b.MergeCF(cf, key, operand) })
}

// DeleteRange removes the keys in [begin, end).
func (d *DBImpl) DeleteRange(wo *rocksdb.WriteOptions, cf rocksdb.ColumnFamilyHandle, begin, end []byte) error {
	return d.single(wo, func(b *writebatch.WriteBatch) error { return b.DeleteRangeCF(cf, begin, end) })
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
	if wo.LowPri && d.writeCtl.NeedSpeedupCompaction() {
		if err := d.throttleLowPri(wo, batch); err != nil {
			return err
		}
	}
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
		monitoring.RecordTick(d.stats, rocksdb.WriteDoneByOther, 1)
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
	in := &s.inserter
	d.setUpInserter(in, w.Sequence, true)
	in.IgnoreMissingColumnFamilies = d.ignoreMissing(w)
	if err := in.Insert(w.Batch); err != nil {
		w.Status = err
	}
	in.PostProcess()
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
	var ctx writeContext
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
		lastSequence, walErr = d.logGroup(wo, g, &total, needLogSync)
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
				err = d.insertGroup(g, &d.inserter)
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
func (d *DBImpl) insertGroup(g *writethread.WriteGroup, in *db.MemTableInserter) error {
	d.setUpInserter(in, 0, false)
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
		monitoring.RecordInHistogram(d.stats, rocksdb.HistBytesPerWrite, uint64(x.bytes))
	}
}

func (d *DBImpl) countKeysWritten(n uint64) {
	d.families.GetDefault().InternalStats().AddDBStats(db.NumberKeysWritten, n)
	if d.stats != nil {
		monitoring.RecordTick(d.stats, rocksdb.NumberKeysWritten, n)
	}
}

// writeGroupToWAL writes the group's batches as one record, the first entry
// having number seq, and syncs when asked to.
// Upstream: DBImpl::WriteToWAL.
func (d *DBImpl) writeGroupToWAL(g *writethread.WriteGroup, seq rocksdb.SequenceNumber, sync bool) error {
	batch, n, err := mergeGroup(g, &d.tmpBatch.WriteBatch)
	if err != nil || n == 0 {
		return err
	}
	batch.SetSequence(seq)
	record := batch.Data()
	syncpoint.ProcessArg("DBImpl::WriteToWAL:log_entry", &record)
	if err := batch.VerifyChecksum(); err != nil {
		return err
	}
	lastSeq := seq + uint64(batch.Count()) - 1
	logUsed, err := d.appendToLog(record, lastSeq, g.Leader.RateLimiterPriority)
	if err == nil && sync {
		err = d.syncLogs()
	}
	d.logged(g, logUsed, len(record), n, sync, err)
	return err
}

// mergeGroup gives the group's batches for the log as one, which may be tmp, and
// how many there are.
func mergeGroup(g *writethread.WriteGroup, tmp *writebatch.WriteBatch) (batch *writebatch.WriteBatch, n int, err error) {
	for w := g.Leader; w != nil; w = g.Next(w) {
		if w.ShouldWriteToWAL() {
			batch = w.Batch
			n++
		}
	}
	var end writebatch.SavePoint
	if n > 0 {
		end = batch.GetWalTerminationPoint()
	}
	if n == 0 || n == 1 && end.IsCleared() {
		return batch, n, nil
	}
	tmp.Clear()
	for w := g.Leader; w != nil; w = g.Next(w) {
		if w.ShouldWriteToWAL() {
			if err := tmp.Append(w.Batch, true); err != nil {
				return nil, n, err
			}
		}
	}
	return tmp, n, nil
}

// logged tells the members and the statistics of a record of the group.
func (d *DBImpl) logged(g *writethread.WriteGroup, logUsed uint64, bytes, n int, sync bool, err error) {
	for w := g.Leader; w != nil; w = g.Next(w) {
		w.LogUsed = logUsed
		if err == nil && w.UserWriteCallback != nil && !w.CallbackFailed() {
			w.CheckPostWALWriteCallback()
		}
	}
	if err != nil {
		return
	}
	st := d.families.GetDefault().InternalStats()
	st.AddDBStats(db.WalFileBytes, uint64(bytes))
	st.AddDBStats(db.WriteWithWal, uint64(n))
	if sync {
		st.AddDBStats(db.WalFileSynced, 1)
	}
	if d.stats != nil {
		monitoring.RecordTick(d.stats, rocksdb.WALFileBytes, uint64(bytes))
		monitoring.RecordTick(d.stats, rocksdb.WriteWithWAL, uint64(n))
		if sync {
			monitoring.RecordTick(d.stats, rocksdb.WALFileSynced, 1)
		}
	}
}

// appendToLog adds a record to the newest log; only the leader calls it.
func (d *DBImpl) appendToLog(record []byte, lastSeq rocksdb.SequenceNumber, pri rocksdb.IOPriority) (logUsed uint64, err error) {
	if d.immutable.ManualWALFlush {
		// FlushWAL may be using the writer.
		d.walMu.Lock()
		defer d.walMu.Unlock()
	}
	return d.appendToLogRecord(record, lastSeq, pri)
}

// appendToLogRecord is appendToLog for who may use the writer already.
func (d *DBImpl) appendToLogRecord(record []byte, lastSeq rocksdb.SequenceNumber, pri rocksdb.IOPriority) (logUsed uint64, err error) {
	opts := &d.walIOOptions
	opts.RateLimiterPriority = pri
	l := d.currentLog
	if sizes := d.families.TimestampSizesForRecord(); len(sizes) > 0 {
		if err := l.MaybeAddUserDefinedTimestampSizeRecord(opts, sizes); err != nil {
			return l.GetLogNumber(), err
		}
	}
	err = l.AddRecord(opts, record, lastSeq)
	n := uint64(len(record))
	d.totalLogSize.Add(n)
	d.currentLogSize.Add(n)
	d.logEmpty = false
	return l.GetLogNumber(), err
}

// syncLogs syncs all logs that preprocessWrite marked. One that is closed was
// synced before that; only the MANIFEST may not know.
func (d *DBImpl) syncLogs() error {
	watch := stopwatch.NewStopWatch(d.clock, d.stats, rocksdb.HistWALFileSyncMicros)
	defer watch.Stop()
	d.walMu.Lock()
	logs, needDirSync := d.walMu.logs, !d.walMu.dirSynced
	if !d.immutable.ManualWALFlush {
		d.walMu.Unlock()
	}
	var err error
	for i := range logs {
		if f := logs[i].writer.File(); !f.IsClosed() && err == nil {
			err = f.Sync(&d.walIOOptions, d.immutable.UseFsync)
		}
	}
	if d.immutable.ManualWALFlush {
		// FlushWAL may have been about to use the writer, which Sync flushes.
		d.walMu.Unlock()
	}
	if err != nil {
		return err
	}
	if needDirSync {
		return d.syncWALDir()
	}
	return nil
}

func (d *DBImpl) syncWALDir() error {
	dir := d.dirs.WalDir()
	if dir == nil {
		return nil
	}
	return dir.FsyncWithDirOptions(&rocksdb.IOOptions{}, rocksdb.DirFsyncOptions{Reason: rocksdb.DirFsyncNewFileSynced})
}

// finishSync ends the marking of logs as being synced.
func (d *DBImpl) finishSync(err error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err == nil {
		return d.markLogsSyncedLocked(d.logNumber.Load(), true)
	}
	d.markLogsNotSynced(d.logNumber.Load())
	return err
}

// markLogsSyncedLocked says that logs up to upTo are durable as far as their
// preSyncSize, and tells the MANIFEST so of those no longer written to. Of these
// the ones with nothing beyond are let go.
func (d *DBImpl) markLogsSyncedLocked(upTo uint64, syncedDir bool) error {
	d.walMu.Lock()
	defer d.walMu.Unlock()
	if syncedDir && upTo == d.logNumber.Load() {
		d.walMu.dirSynced = true
	}
	kept := d.walMu.logs[:0:0]
	var edit version.VersionEdit
	last := len(d.walMu.logs) - 1
	for i, l := range d.walMu.logs {
		if l.number > upTo {
			kept = append(kept, l)
			continue
		}
		l.gettingSynced = false
		if i == last {
			kept = append(kept, l)
			continue
		}
		if d.immutable.TrackAndVerifyWALsInManifest && l.preSyncSize > 0 {
			edit.AddWal(l.number, version.NewWalMetadata(l.preSyncSize))
		}
		if f := l.writer.File(); f.IsClosed() || l.preSyncSize == f.GetFlushedSize() {
			d.st.logsToFree = append(d.st.logsToFree, l.writer)
		} else {
			kept = append(kept, l)
		}
	}
	d.walMu.logs = kept
	d.walMu.cond.Broadcast()
	if !edit.IsWalAddition() {
		return nil
	}
	d.walMu.Unlock()
	err := d.versions.LogAndApply(&db.LogAndApplyRequest{CFD: d.families.GetDefault(), Edits: []*version.VersionEdit{&edit}, Mutex: &d.mu, DBDirectory: d.dirs.DBDir()})
	if rocksdb.IsIOError(err) {
		d.errorHandler.SetBGError(err, rocksdb.BackgroundErrorReasonManifestWrite)
	}
	d.walMu.Lock()
	return err
}

func (d *DBImpl) markLogsNotSynced(upTo uint64) {
	d.walMu.Lock()
	for i := range d.walMu.logs {
		if d.walMu.logs[i].number <= upTo {
			d.walMu.logs[i].gettingSynced = false
		}
	}
	d.walMu.cond.Broadcast()
	d.walMu.Unlock()
}

// walWriteStatusCheck stops the database when the log is not what was written.
// Upstream: DBImpl::WALIOStatusCheck.
func (d *DBImpl) walWriteStatusCheck(err error) {
	d.mu.Lock()
	if d.immutable.ParanoidChecks || rocksdb.AsStatus(err).SubCode == rocksdb.SubCodeIOFenced {
		d.errorHandler.SetWALError(err, rocksdb.BackgroundErrorReasonWriteCallback)
	} else {
		d.walMu.Lock()
		// The log is written on, as it is.
		d.walMu.logs[len(d.walMu.logs)-1].writer.File().ResetSeenError()
		d.walMu.Unlock()
	}
	d.bgCond.Broadcast()
	d.mu.Unlock()
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
	var ctx writeContext
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
				if err = d.writeGroupToWAL(g, first, needLogSync); err != nil {
					d.walWriteStatusCheck(err)
				}
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
			if err := d.insertGroup(mg, &s.inserter); err != nil {
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

// writeContext collects what a leader cleans up after its group.
type writeContext struct {
	sv   db.SuperVersionContext
	used bool
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
	if err == nil && d.totalLogSize.Load() > d.maxTotalWALSize() && d.families.NumberOfColumnFamilies() > 1 {
		d.mu.Lock()
		d.waitForPendingWritesLocked()
		nonmem := d.enterNonmemLocked()
		err = d.switchWALLocked(ctx)
		d.exitNonmemLocked(nonmem)
		d.mu.Unlock()
	}
	if err == nil && d.writeBufferManager.ShouldFlush() {
		d.mu.Lock()
		d.waitForPendingWritesLocked()
		nonmem := d.enterNonmemLocked()
		err = d.handleWriteBufferManagerFlushLocked(ctx)
		d.exitNonmemLocked(nonmem)
		d.mu.Unlock()
	}
	if err == nil && !d.trimScheduler.Empty() {
		d.mu.Lock()
		d.trimMemtableHistoryLocked(ctx)
		d.mu.Unlock()
	}
	if err == nil && !d.flushScheduler.Empty() {
		d.mu.Lock()
		d.waitForPendingWritesLocked()
		nonmem := d.enterNonmemLocked()
		err = d.scheduleFlushesLocked(ctx)
		d.exitNonmemLocked(nonmem)
		d.mu.Unlock()
	}
	if err == nil && (d.writeCtl.IsStopped() || d.writeCtl.NeedsDelay()) {
		d.mu.Lock()
		err = d.delayWriteLocked(d.lastGroupSize, d.writeThread, wo)
		d.mu.Unlock()
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

func (d *DBImpl) throttleLowPri(wo *rocksdb.WriteOptions, batch *writebatch.WriteBatch) error {
	if wo.NoSlowdown {
		return rocksdb.Incomplete("Low priority write stall")
	}
	rate := max(d.writeCtl.MaxDelayedWriteRate()/4, 1)
	time.Sleep(time.Duration(float64(batch.GetDataSize()) / float64(rate) * float64(time.Second)))
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
