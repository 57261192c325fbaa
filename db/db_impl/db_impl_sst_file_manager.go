// Port of db/db_impl/db_impl.cc and db_impl_compaction_flush.cc (what they tell
// the SstFileManager). Differs: files of an opened database are found by listing
// its directories.

package dbimpl

import (
	"strings"

	"github.com/rocksdb-go/rocksdb/db"
	"github.com/rocksdb-go/rocksdb/db/compaction"
	"github.com/rocksdb-go/rocksdb/db/version"
	"github.com/rocksdb-go/rocksdb/file"
	"github.com/rocksdb-go/rocksdb/file/filename"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/logging"
	"github.com/rocksdb-go/rocksdb/monitoring"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

// sstFileManager is the one of the options, nil when there is none.
func (d *DBImpl) sstFileManager() *file.SstFileManagerImpl {
	m, _ := d.immutable.SstFileManager.(*file.SstFileManagerImpl)
	return m
}

func isBuiltInSstFileManager(m rocksdb.SstFileManager) bool {
	_, ok := m.(*file.SstFileManagerImpl)
	return ok
}

// dataPaths are the directories of all families' tables.
func (d *DBImpl) dataPaths() []string {
	var paths []string
	seen := map[string]bool{}
	add := func(list []rocksdb.DBPath) {
		for _, p := range list {
			if !seen[p.Path] {
				seen[p.Path] = true
				paths = append(paths, p.Path)
			}
		}
	}
	add(d.immutable.DBPaths)
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, cfd := range d.families.All() {
		add(cfd.IOptions().CFPaths)
	}
	return paths
}

// trackDataFiles tells the manager of all tables and blob files, or makes it
// forget them.
// Upstream: DBImpl::TrackOrUntrackFiles, DBImpl::TrackExistingDataFiles,
// DBImpl::UntrackDataFiles.
func (d *DBImpl) trackDataFiles(m *file.SstFileManagerImpl, track bool) {
	for _, dir := range d.dataPaths() {
		names, err := d.fs.GetChildren(dir, db.ListingOptions())
		if err != nil {
			continue // it is the manager's count alone that suffers
		}
		for _, n := range names {
			f, ok := filename.ParseFileName(n, "")
			if !ok || f.Type != rocksdb.TableFile && f.Type != rocksdb.BlobFile {
				continue
			}
			if path := dir + "/" + n; track {
				_ = m.OnAddFile(path)
			} else {
				m.OnUntrackFile(path)
			}
		}
	}
}

// blobCallback hears of the blob files that jobs make.
func (d *DBImpl) blobCallback() *db.BlobFileCompletionCallback {
	return &db.BlobFileCompletionCallback{SstFileManager: d.immutable.SstFileManager, Mutex: &d.mu, ErrorHandler: d.errorHandler,
		EventLogger: d.eventLogger, Listeners: d.immutable.Listeners, DBName: d.dbName}
}

// startSstFileManager is the end of Open.
func (d *DBImpl) startSstFileManager(largestBuffer uint64) {
	m := d.sstFileManager()
	if m == nil {
		return
	}
	m.SetStatisticsPtr(d.stats)
	logging.Info(d.infoLog, "SstFileManager instance %p", m)
	d.trackDataFiles(m, true)
	// Room to write the memtables before writes go on after a full device.
	m.ReserveDiskBuffer(largestBuffer, d.immutable.DBPaths[0].Path)
	if !d.immutable.IsWalDirSameAsDBPath() {
		d.deleteTrashOfLogs()
	}
	for _, dir := range d.dataPaths() {
		// Trash of an earlier process.
		_ = file.CleanupDirectory(d.fs, m, dir)
	}
}

// deleteTrashOfLogs is for a directory of logs alone: these are never deleted
// at a rate, so that nothing else looks for their trash.
func (d *DBImpl) deleteTrashOfLogs() {
	dir := d.immutable.GetWalDir()
	names, err := d.fs.GetChildren(dir, db.ListingOptions())
	if err != nil {
		return
	}
	for _, n := range names {
		if strings.HasSuffix(n, ".log"+file.TrashExtension) {
			_ = d.fs.DeleteFile(joinPath(dir, n), nil) // the next opening tries again
		}
	}
}

// flushedToSstFileManagerLocked tells the manager of a new table, and stops
// writes when the space allowed is used up.
func (d *DBImpl) flushedToSstFileManagerLocked(cfd *db.ColumnFamilyData, meta *version.FileMetaData) {
	m := d.sstFileManager()
	if m == nil || meta == nil {
		return
	}
	// There is no file when nothing was left to write.
	_ = m.OnAddFile(d.tableFileName(cfd, meta))
	if m.IsMaxAllowedSpaceReached() {
		var err error = rocksdb.WithSubCode(rocksdb.CodeIOError, rocksdb.SubCodeSpaceLimit, "Max allowed space was reached")
		syncpoint.ProcessArg("DBImpl::FlushMemTableToOutputFile:MaxAllowedSpaceReached", &err)
		d.errorHandler.SetBGError(err, rocksdb.BackgroundErrorReasonFlush)
	}
}

// enoughRoomForCompactionLocked reserves the size of c's input; give it to
// compactionEndedLocked.
func (d *DBImpl) enoughRoomForCompactionLocked(cfd *db.ColumnFamilyData, c *compaction.Compaction, log *logging.LogBuffer) (size uint64, enough bool) {
	m := d.sstFileManager()
	if m == nil {
		return 0, true
	}
	path := ""
	for i := range c.NumInputLevels() {
		for _, f := range c.InputFiles(i) {
			size += f.FD.GetFileSize()
			path = d.tableFileName(cfd, f)
		}
	}
	if enough = m.EnoughRoomForCompaction(size, path, d.errorHandler.GetBGError()); !enough {
		size = 0 // nothing is reserved, even where a test lets the compaction run
		syncpoint.ProcessArg("DBImpl::BackgroundCompaction():CancelledCompaction", &enough)
		logging.ToBuffer(log, "Cancelled compaction because not enough room")
		monitoring.RecordTick(d.stats, rocksdb.CompactionCancelled, 1)
	}
	return size, enough
}

func (d *DBImpl) compactionEndedLocked(size uint64) {
	if m := d.sstFileManager(); m != nil && size > 0 {
		m.OnCompactionCompletion(size)
	}
}
