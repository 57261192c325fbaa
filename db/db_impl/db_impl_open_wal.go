// Port of db/db_impl/db_impl_open.cc (WAL files made ahead, of
// async_wal_precreate).

package dbimpl

import (
	"github.com/rocksdb-go/rocksdb/db/wal"
	"github.com/rocksdb-go/rocksdb/file/filename"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/logging"
	"github.com/rocksdb-go/rocksdb/monitoring"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

// precreatedWAL is the log that a background job makes ahead, so that who needs
// the next log does not wait for its creation. Until it is taken it is no log:
// nothing is written to it, and the lists of logs do not have it. A file that is
// left over is an empty log of a high number, which recovery passes over. mu
// protects it.
type precreatedWAL struct {
	scheduled bool
	number    uint64      // reserved for it
	writer    *wal.Writer // nil unless it is ready
}

// maybeScheduleWALPrecreateLocked starts making the next log, unless that is
// under way or done.
func (d *DBImpl) maybeScheduleWALPrecreateLocked(preallocate uint64) {
	p := &d.st.precreated
	if !d.immutable.AsyncWALPrecreate || d.readOnly || d.shuttingDown.Load() || d.errorHandler.IsBGWorkStopped() ||
		p.scheduled || p.writer != nil {
		return
	}
	number := d.versions.NewFileNumber()
	*p = precreatedWAL{scheduled: true, number: number}
	pool := rocksdb.HighPriority
	if d.env.GetBackgroundThreads(pool) == 0 {
		pool = rocksdb.LowPriority
	}
	d.env.Schedule(func() { d.precreateWAL(number, preallocate) }, pool, nil, nil)
}

// precreateWAL is the background job. When it fails, the log is made by who
// needs it.
// Upstream: AsyncWALPrecreateContext.
func (d *DBImpl) precreateWAL(number, preallocate uint64) {
	syncpoint.Process("DBImpl::BGWorkAsyncWALPrecreate:Start")
	w, err := d.createWALWriter(number, 0, preallocate)
	if err != nil {
		monitoring.RecordTick(d.stats, rocksdb.WALPrecreateFailed, 1)
		logging.Warn(d.infoLog, "Async WAL precreate failed for #%d: %v", number, err)
	}
	syncpoint.Process("DBImpl::BGWorkAsyncWALPrecreate:BeforePublish")
	syncpoint.Process("DBImpl::BGWorkAsyncWALPrecreate:Publish")
	d.mu.Lock()
	d.st.precreated = precreatedWAL{}
	if err == nil {
		d.st.precreated = precreatedWAL{number: number, writer: w}
	}
	d.bgCond.Broadcast()
	d.mu.Unlock()
	syncpoint.Process("DBImpl::BGWorkAsyncWALPrecreate:Done")
}

// takePrecreatedWALLocked gives the log made ahead, after waiting for one that
// is being made; nil when there is none.
func (d *DBImpl) takePrecreatedWALLocked() *wal.Writer {
	if !d.immutable.AsyncWALPrecreate {
		return nil
	}
	syncpoint.Process("DBImpl::WaitForAsyncWALPrecreate:Begin")
	p := &d.st.precreated
	if p.scheduled {
		monitoring.RecordTick(d.stats, rocksdb.WALPrecreateWaited, 1)
		start := d.clock.NowMicros()
		for p.scheduled {
			syncpoint.Process("DBImpl::WaitForAsyncWALPrecreate:BeforeWait")
			d.bgCond.Wait()
		}
		monitoring.RecordTick(d.stats, rocksdb.WALPrecreateWaitMicros, d.clock.NowMicros()-start)
	}
	w := p.writer
	*p = precreatedWAL{}
	if w == nil {
		monitoring.RecordTick(d.stats, rocksdb.WALPrecreateMiss, 1)
		return nil
	}
	monitoring.RecordTick(d.stats, rocksdb.WALPrecreateHit, 1)
	return w
}

// startPrecreatedWAL writes the first records of a log made ahead; where that
// fails the file is deleted.
func (d *DBImpl) startPrecreatedWAL(w *wal.Writer, predecessor wal.PredecessorWALInfo) (*logHandle, error) {
	l, err := d.startWAL(w, predecessor)
	if err == nil {
		return l, nil
	}
	name := filename.LogFileName(d.immutable.GetWalDir(), w.GetLogNumber())
	if e := d.fs.DeleteFile(name, rocksdb.NewIOOptions()); e != nil && !rocksdb.IsNotFound(e) {
		logging.Warn(d.infoLog, "Failed to delete unstarted async precreated WAL #%d: %v", w.GetLogNumber(), e)
	}
	return nil, err
}
