// Port of db/db_impl/db_impl_write.cc (MergeBatch, WriteToWAL, WriteGroupToWAL,
// WALIOStatusCheck) and db_impl.cc (MarkLogsSynced, MarkLogsNotSynced).

package dbimpl

import (
	"github.com/rocksdb-go/rocksdb/db"
	"github.com/rocksdb-go/rocksdb/db/version"
	"github.com/rocksdb-go/rocksdb/db/writebatch"
	"github.com/rocksdb-go/rocksdb/db/writethread"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/monitoring"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
	"github.com/rocksdb-go/rocksdb/util/stopwatch"
)

// mergedBatch is where a leader joins its group's batches for the WAL.
// Upstream: DBImpl::MergeBatch.
type mergedBatch struct{ writebatch.WriteBatch }

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
	return dir.FsyncWithDirOptions(rocksdb.NewIOOptions(), rocksdb.DirFsyncOptions{Reason: rocksdb.DirFsyncNewFileSynced})
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
			d.st.logsToFree, d.walMu.leaving = append(d.st.logsToFree, l.writer), append(d.walMu.leaving, l.writer)
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
