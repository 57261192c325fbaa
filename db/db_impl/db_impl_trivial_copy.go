// Port of db/db_impl/db_impl_compaction_flush.cc (a FIFO compaction that copies a
// table to another temperature). Differs: the mutex is not held while it copies.

package dbimpl

import (
	"github.com/rocksdb-go/rocksdb/db"
	"github.com/rocksdb-go/rocksdb/db/compaction"
	"github.com/rocksdb-go/rocksdb/db/version"
	"github.com/rocksdb-go/rocksdb/file"
	"github.com/rocksdb-go/rocksdb/file/filename"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/logging"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

// trivialCopyLocked copies c's tables, byte by byte, to the temperature that it asks
// for, in place of the old ones.
func (d *DBImpl) trivialCopyLocked(cfd *db.ColumnFamilyData, c *compaction.Compaction, jc *jobContext, log *logging.LogBuffer) error {
	syncpoint.ProcessArg("DBImpl::BackgroundCompaction:TriviaCopyBeforeCompaction", cfd)
	d.notifyCompactionBegin(cfd, c, nil, jc)
	temperature := c.GetOutputTemperature(false)
	d.mu.Unlock()
	var copies []*version.FileMetaData
	var err error
	for _, f := range c.InputFiles(0) {
		var m *version.FileMetaData
		if m, err = d.copyTable(f, c, temperature); err != nil {
			logging.ToBuffer(log, "[%s] Failed to do trvial copy compaction: #%d, to temperature %d: %v\n", cfd.GetName(), f.FD.GetNumber(), temperature, err)
			break
		}
		logging.ToBuffer(log, "[%s] Copied #%d to #%d, temperature %d to %d\n", cfd.GetName(), f.FD.GetNumber(), m.FD.GetNumber(), f.Temperature, temperature)
		copies = append(copies, m)
	}
	d.mu.Lock()
	d.notifyCompactionPreCommit(cfd, c, nil, jc, err)
	if err != nil {
		c.ReleaseCompactionFiles(err)
	} else {
		for i, f := range c.InputFiles(0) {
			c.Edit().DeleteFile(c.Level(), f.FD.GetNumber())
			c.Edit().AddFile(c.Level(), copies[i])
		}
		err = d.applyCompactionEditLocked(cfd, c, jc)
	}
	d.notifyCompactionCompleted(cfd, c, nil, jc, err)
	syncpoint.ProcessArg("DBImpl::BackgroundCompaction:TriviaCopyAfterCompaction", cfd)
	return err
}

// copyTable copies a table and gives the copy's metadata; a copy that failed is
// found by a later purge.
func (d *DBImpl) copyTable(f *version.FileMetaData, c *compaction.Compaction, temperature rocksdb.Temperature) (*version.FileMetaData, error) {
	number := d.versions.NewFileNumber()
	paths := c.ImmutableOptions().CFPaths
	fo := d.compactionFileOpts
	fo.Temperature = temperature
	w, err := file.CreateWritableFileWriter(d.fs, filename.TableFileName(paths, number, c.OutputPathID()), &fo, &file.WriterOptions{
		Clock: d.clock, Stats: d.stats, HistType: rocksdb.HistSSTWriteMicros, Listeners: c.ImmutableOptions().Listeners,
		FileChecksumGenFactory:  d.immutable.FileChecksumGenFactory,
		PerformDataVerification: d.immutable.ChecksumHandoffFileTypes.Contains(rocksdb.TableFile)})
	if err != nil {
		return nil, err
	}
	io := &rocksdb.IOOptions{RateLimiterPriority: rocksdb.IOLow, IOActivity: rocksdb.IOActivityCompaction}
	err = file.CopyToWriter(d.fs, filename.TableFileName(paths, f.FD.GetNumber(), f.FD.GetPathId()), w, 0, &file.CopyOptions{
		SrcTemperature: f.Temperature, UseFsync: true, ReadOptions: io, WriteOptions: io,
		MaxReadBufferSize: int(c.MutableCFOptions().CompactionOptionsFIFO.TrivialCopyBufferSize)})
	if closeErr := w.Close(io); err == nil {
		err = closeErr
	}
	if err != nil {
		return nil, err
	}
	m := f.CloneForMove()
	m.FD.Set(number, c.OutputPathID(), f.FD.GetFileSize(), f.FD.SmallestSeqno, f.FD.LargestSeqno)
	m.Temperature = temperature
	m.MarkedForCompaction.Store(false)
	if now, err := d.clock.GetCurrentTime(); err == nil {
		m.FileCreationTime = uint64(now)
	}
	m.FileChecksum, m.FileChecksumFuncName = w.GetFileChecksum(), w.GetFileChecksumFuncName()
	return m, nil
}
