// Port of db/db_impl/db_impl_files.cc and db/job_context.h.

package dbimpl

import (
	"cmp"
	"slices"
	"strings"

	"github.com/rocksdb-go/rocksdb/db"
	"github.com/rocksdb-go/rocksdb/db/blob/blobformat"
	"github.com/rocksdb-go/rocksdb/db/memtable"
	"github.com/rocksdb-go/rocksdb/db/tablecache"
	"github.com/rocksdb-go/rocksdb/db/version"
	"github.com/rocksdb-go/rocksdb/db/wal"
	"github.com/rocksdb-go/rocksdb/file"
	"github.com/rocksdb-go/rocksdb/file/filename"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/logging"
	"github.com/rocksdb-go/rocksdb/monitoring"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

// candidate is a file that may be deleted.
type candidate struct{ name, dir string }

// jobContext carries what a job found to clean up from under the mutex to
// where there is none.
type jobContext struct {
	id              int
	status          *monitoring.ThreadStatusData // of the worker; nil with no thread tracking
	thread          uint64                       // its number, for listeners
	quiet           bool                         // listeners are not told of the compaction
	bottomPool      bool                         // runs in the pool of bottom priority
	stats           *rocksdb.CompactionJobStats  // of its job; nil before there was one
	sv              db.SuperVersionContext
	memtablesToFree []*memtable.MemTable
	fullScan        []candidate
	sstLive         map[uint64]bool // with a full scan
	blobLive        map[uint64]bool
	sstDelete       []db.ObsoleteFileInfo
	blobDelete      []db.ObsoleteBlobFileInfo
	logDelete       []uint64
	logRecycle      []uint64
	manifestDelete  []string
	logsToFree      []*wal.Writer

	manifestFileNumber        uint64
	pendingManifestFileNumber uint64
	logNumber                 uint64
	minPendingOutput          uint64
	quarantine                []uint64 // files whose fate is open
	minOptionsFileNumber      uint64
	minBlobFileNumberToKeep   uint64
	counted                   bool // among the pending purge jobs
	background                bool // files are left to a background job
}

func (d *DBImpl) newJobContext() *jobContext { return &jobContext{id: int(d.nextJobID.Add(1))} }

// runsIn says whose job it is; status nil is a goroutine that GetThreadList does
// not know.
func (j *jobContext) runsIn(status *monitoring.ThreadStatusData) {
	j.status, j.thread = status, status.ThreadID()
}

func (j *jobContext) haveSomethingToDelete() bool {
	return len(j.fullScan) > 0 || len(j.sstDelete) > 0 || len(j.blobDelete) > 0 || len(j.logDelete) > 0 ||
		len(j.manifestDelete) > 0 || len(j.logsToFree) > 0
}

// clean frees memtables and calls listeners; the mutex is not held.
func (j *jobContext) clean() {
	j.sv.Clean()
	freeMemtables(j.memtablesToFree)
	j.memtablesToFree = nil
}

// minLogNumberToKeep is the least WAL that recovery needs.
func (d *DBImpl) minLogNumberToKeep() uint64 { return d.versions.MinLogNumberToKeep() }

// minObsoleteSSTNumberToKeepLocked is the least number of a file that a running
// job may be writing.
func (d *DBImpl) minObsoleteSSTNumberToKeepLocked() uint64 { return d.st.pendingOutputs.min() }

// captureOutputsLocked protects files made from now on until the result is
// given to releaseOutputsLocked.
func (d *DBImpl) captureOutputsLocked() *uint64 {
	return d.st.pendingOutputs.add(d.versions.CurrentNextFileNumber())
}

func (d *DBImpl) releaseOutputsLocked(p *uint64) { d.st.pendingOutputs.remove(p) }

// DisableFileDeletions keeps all files until EnableFileDeletions was called as
// often.
func (d *DBImpl) DisableFileDeletions() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.st.deletesDisabled++
	for d.st.pendingPurgeJobs > 0 || d.st.purge.scheduled > 0 {
		syncpoint.Process("DBImpl::GetSortedWalFilesImpl:WaitPurge")
		d.bgCond.Wait()
	}
	return nil
}

// EnableFileDeletions undoes one DisableFileDeletions.
func (d *DBImpl) EnableFileDeletions() error {
	job := d.newJobContext()
	d.mu.Lock()
	if d.st.deletesDisabled > 0 {
		d.st.deletesDisabled--
	}
	if d.st.deletesDisabled == 0 {
		d.findObsoleteFilesLocked(job, true, false)
	}
	d.mu.Unlock()
	if job.haveSomethingToDelete() {
		d.purgeObsoleteFiles(job)
	}
	job.clean()
	return nil
}

// findObsoleteFilesLocked fills job with what may be deleted; unless noFullScan
// it lists the directories when force is set or the period has passed. What it
// gives must go to purgeObsoleteFiles when there is something.
func (d *DBImpl) findObsoleteFilesLocked(job *jobContext, force, noFullScan bool) {
	if d.secondary != nil {
		d.forgetObsoleteLocked()
	}
	if d.st.deletesDisabled > 0 || d.readOnly || d.st.closed {
		return
	}
	full := false
	if period := d.mutableDBOptions.Load().DeleteObsoleteFilesPeriodMicros; !noFullScan {
		if force || period == 0 {
			full = true
		} else if now := d.clock.NowMicros(); d.st.deleteObsoleteLast+period < now {
			full = true
			d.st.deleteObsoleteLast = now
		}
	}
	job.minPendingOutput = d.minObsoleteSSTNumberToKeepLocked()
	job.quarantine = slices.Clone(d.errorHandler.GetFilesToQuarantine())
	job.minOptionsFileNumber = ^uint64(0)
	job.minBlobFileNumberToKeep = d.versions.CurrentNextFileNumber()
	job.sstDelete, job.blobDelete, job.manifestDelete = d.versions.GetObsoleteFiles(job.minPendingOutput)
	job.blobDelete = d.versions.RemoveLiveFiles(job.sstDelete, job.blobDelete)
	for i := range job.sstDelete {
		d.st.filesGrabbed[job.sstDelete[i].Metadata.FD.GetNumber()] = true
	}
	for i := range job.blobDelete {
		d.st.filesGrabbed[job.blobDelete[i].BlobFileNumber] = true
	}
	job.manifestFileNumber = d.versions.ManifestFileNumber()
	job.pendingManifestFileNumber = d.versions.PendingManifestFileNumber()
	job.logNumber = d.minLogNumberToKeep()
	if full {
		job.sstLive, job.blobLive = map[uint64]bool{}, map[uint64]bool{}
		tables, blobs := d.versions.AddLiveFiles(nil, nil)
		for _, n := range tables {
			job.sstLive[n] = true
		}
		for _, n := range blobs {
			job.blobLive[n] = true
		}
		d.listCandidatesLocked(job)
	}
	// Counted before the mutex is released, so that who lists logs waits for
	// this job.
	job.counted = true
	d.st.pendingPurgeJobs++
	d.takeObsoleteLogsLocked(job)
	if !job.haveSomethingToDelete() {
		d.uncountPurgeLocked(job)
	}
}

// listCandidatesLocked lists the database's directories.
func (d *DBImpl) listCandidatesLocked(job *jobContext) {
	prefix := d.infoLogPrefix()
	dirs := d.allDBPaths()
	if wd := d.immutable.GetWalDir(); !slices.Contains(dirs, wd) {
		dirs = append(dirs, wd)
	}
	if ld := d.immutable.DBLogDir; ld != "" && !slices.Contains(dirs, ld) {
		dirs = append(dirs, ld)
	}
	for _, dir := range dirs {
		names, err := d.fs.GetChildren(dir, db.ListingOptions())
		if err != nil {
			logging.Warn(d.infoLog, "[JOB %d] cannot list %s: %v", job.id, dir, err)
			continue
		}
		for _, name := range names {
			f, ok := filename.ParseFileName(name, prefix)
			number := f.Number
			if _, queued := d.st.purge.files[number]; !ok || queued || d.st.filesGrabbed[number] {
				continue
			}
			job.fullScan = append(job.fullScan, candidate{name, dir})
		}
	}
}

// allDBPaths gives every directory that may hold tables.
func (d *DBImpl) allDBPaths() []string {
	dirs := []string{d.dbName}
	add := func(paths []rocksdb.DBPath) {
		for _, p := range paths {
			if !slices.Contains(dirs, p.Path) {
				dirs = append(dirs, p.Path)
			}
		}
	}
	add(d.immutable.DBPaths)
	for _, cfd := range d.families.All() {
		add(cfd.IOptions().CFPaths)
	}
	return dirs
}

// takeObsoleteLogsLocked moves logs that recovery does not need into job. The
// mutex is released meanwhile: SyncWAL needs it to finish.
func (d *DBImpl) takeObsoleteLogsLocked(job *jobContext) {
	var recycle []uint64
	st := &d.st
	for len(st.aliveLogs) > 1 && st.aliveLogs[0].number < job.logNumber {
		l := st.aliveLogs[0]
		st.aliveLogs = st.aliveLogs[1:]
		if uint64(len(st.recycleLogs)+len(st.recycleClosing)) < d.immutable.RecycleLogFileNum && l.number >= d.minLogNumberToRecycle {
			logging.Info(d.infoLog, "adding log %d to recycle list", l.number)
			recycle = append(recycle, l.number)
			st.recycleClosing = append(st.recycleClosing, l.number)
		} else {
			job.logDelete = append(job.logDelete, l.number)
		}
		d.totalLogSize.Add(-l.size)
	}
	job.logRecycle = slices.Concat(st.recycleLogs, st.recycleClosing)
	job.logsToFree = append(job.logsToFree, st.logsToFree...)
	st.logsToFree = nil

	d.mu.Unlock()
	syncpoint.Process("FindObsoleteFiles::PostMutexUnlock")
	d.walMu.Lock()
	for len(d.walMu.logs) > 1 && d.walMu.logs[0].number < job.logNumber {
		if d.walMu.logs[0].gettingSynced {
			d.walMu.cond.Wait()
			continue
		}
		w := d.walMu.logs[0].writer
		job.logsToFree, d.walMu.leaving = append(job.logsToFree, w), append(d.walMu.leaving, w)
		d.walMu.logs = d.walMu.logs[1:]
	}
	d.walMu.Unlock()
	if len(recycle) > 0 {
		// Closing cuts the file to what was written: not once it is another log.
		d.closeLogs(job)
	}
	d.mu.Lock()
	st.recycleClosing = slices.DeleteFunc(st.recycleClosing, func(n uint64) bool { return slices.Contains(recycle, n) })
	st.recycleLogs = append(st.recycleLogs, recycle...)
}

// closeLogs closes the logs that job lets go of.
func (d *DBImpl) closeLogs(job *jobContext) {
	for _, w := range job.logsToFree {
		if err := d.closeLeavingLog(w); err != nil {
			logging.Warn(d.infoLog, "[JOB %d] closing WAL %d: %v", job.id, w.GetLogNumber(), err)
		}
	}
	job.logsToFree = nil
}

func (d *DBImpl) infoLogPrefix() string {
	return filename.InfoLogPrefix(d.immutable.DBLogDir != "", d.dbName)
}

// purgeObsoleteFiles deletes what job says is not needed.
func (d *DBImpl) purgeObsoleteFiles(job *jobContext) {
	syncpoint.Process("DBImpl::PurgeObsoleteFiles:Begin")
	list := job.fullScan
	var grabbed []uint64
	for i := range job.sstDelete {
		f := &job.sstDelete[i]
		number := f.Metadata.FD.GetNumber()
		grabbed = append(grabbed, number)
		if !f.OnlyDeleteMetadata {
			list = append(list, candidate{filename.MakeTableFileName("", number), f.Path})
			tablecache.ReleaseObsolete(d.tableCache, f.Metadata, f.UncacheAggressiveness)
		}
		f.DeleteMetadata()
	}
	for i := range job.blobDelete {
		b := &job.blobDelete[i]
		grabbed = append(grabbed, b.BlobFileNumber)
		list = append(list, candidate{filename.BlobFileName("", b.BlobFileNumber), b.Path})
	}
	walDir := d.immutable.GetWalDir()
	for _, n := range job.logDelete {
		list = append(list, candidate{filename.LogFileName("", n), walDir})
	}
	for _, name := range job.manifestDelete {
		list = append(list, candidate{name, d.dbName})
	}
	for i := range list {
		list[i].name = strings.TrimPrefix(list[i].name, "/")
	}
	slices.SortFunc(list, func(a, b candidate) int {
		return cmp.Or(strings.Compare(a.name, b.name), strings.Compare(a.dir, b.dir))
	})
	list = slices.Compact(list)
	d.closeLogs(job)
	d.purgeCandidates(job, list)
	syncpoint.Process("DBImpl::PurgeObsoleteFiles:BeforePendingPurgeFinished")
	d.mu.Lock()
	for _, n := range grabbed {
		delete(d.st.filesGrabbed, n)
	}
	d.uncountPurgeLocked(job)
	if job.background {
		d.schedulePurgeLocked()
	}
	d.mu.Unlock()
	syncpoint.Process("DBImpl::PurgeObsoleteFiles:End")
}

func (d *DBImpl) purgeCandidates(job *jobContext, list []candidate) {
	prefix := d.infoLogPrefix()
	var newestOptions, secondOptions uint64
	var oldInfoLogs []candidate
	for _, c := range list {
		if f, ok := filename.ParseFileName(c.name, prefix); ok && f.Type == rocksdb.OptionsFile {
			n := f.Number
			if n > newestOptions {
				newestOptions, secondOptions = n, newestOptions
			} else if n > secondOptions {
				secondOptions = n
			}
		}
	}
	secondOptions = min(secondOptions, job.minOptionsFileNumber)
	for _, c := range list {
		f, ok := filename.ParseFileName(c.name, prefix)
		number, t := f.Number, f.Type
		if !ok || slices.Contains(job.quarantine, number) {
			continue
		}
		keep := true
		switch t {
		case rocksdb.WalFile:
			keep = number >= job.logNumber || slices.Contains(job.logRecycle, number)
		case rocksdb.DescriptorFile:
			keep = number >= job.manifestFileNumber
		case rocksdb.TableFile:
			if keep = job.sstLive[number] || number >= job.minPendingOutput; !keep {
				tablecache.Evict(d.tableCache, number)
			}
		case rocksdb.BlobFile:
			keep = job.blobLive[number] || number >= job.minPendingOutput || number >= job.minBlobFileNumberToKeep ||
				d.keepsBlobFile(joinPath(c.dir, c.name))
		case rocksdb.TempFile:
			keep = job.sstLive[number] || job.blobLive[number] || number == job.pendingManifestFileNumber ||
				strings.Contains(c.name, filename.OptionsFileNamePrefix)
		case rocksdb.InfoLogFile:
			if number != 0 {
				oldInfoLogs = append(oldInfoLogs, c)
			}
		case rocksdb.OptionsFile:
			keep = number >= secondOptions
		}
		if keep {
			continue
		}
		if t == rocksdb.WalFile && d.walManager.Archiving() {
			d.walManager.ArchiveWALFile(joinPath(c.dir, c.name), number)
			continue
		}
		if path := joinPath(c.dir, c.name); job.background {
			d.mu.Lock()
			d.st.purge.files[number] = purgeFile{path, c.dir, t, job.id}
			d.mu.Unlock()
		} else {
			d.deleteObsoleteFile(job.id, path, c.dir, t, number)
		}
	}
	d.purgeOldInfoLogs(job, oldInfoLogs)
	d.walManager.PurgeObsoleteWALFiles()
}

// keepsBlobFile tells whether a blob file that no version lists is kept because
// it has no footer: a writer may be at it yet. So is one that cannot be read.
// Upstream: ShouldKeepFooterlessBlobFile.
func (d *DBImpl) keepsBlobFile(path string) bool {
	fo := d.fileOptions
	fo.UseDirectReads = false
	gone := func(err error) bool { return rocksdb.IsPathNotFound(err) || rocksdb.IsNotFound(err) }
	size, err := d.fs.GetFileSize(path, &fo.IOOptions)
	if err != nil {
		return !gone(err)
	}
	if size < blobformat.BlobLogHeaderSize+blobformat.BlobLogFooterSize {
		return true
	}
	r, err := d.fs.NewRandomAccessFile(path, &fo)
	if err != nil {
		return !gone(err)
	}
	defer r.Close()
	var footer blobformat.BlobLogFooter
	var buf [blobformat.BlobLogFooterSize]byte
	b, err := r.Read(size-blobformat.BlobLogFooterSize, len(buf), &fo.IOOptions, buf[:])
	return err != nil || footer.DecodeFrom(b) != nil
}

func joinPath(dir, name string) string {
	if dir == "" || strings.HasSuffix(dir, "/") {
		return dir + name
	}
	return dir + "/" + name
}

// purgeOldInfoLogs keeps the newest keep_log_file_num info logs, the one in use
// among them.
func (d *DBImpl) purgeOldInfoLogs(job *jobContext, logs []candidate) {
	keep := int(d.immutable.KeepLogFileNum)
	if len(logs) < keep {
		return
	}
	slices.SortFunc(logs, func(a, b candidate) int { return strings.Compare(a.name, b.name) })
	for _, c := range logs[:len(logs)-keep+1] {
		path := joinPath(c.dir, c.name)
		logging.Info(d.infoLog, "[JOB %d] Delete info log file %s", job.id, path)
		if err := d.fs.DeleteFile(path, rocksdb.NewIOOptions()); err != nil {
			logging.Error(d.infoLog, "[JOB %d] Delete info log file %s FAILED -- %v", job.id, path, err)
		}
	}
}

func (d *DBImpl) deleteObsoleteFile(jobID int, path, dir string, t rocksdb.FileType, number uint64) {
	syncpoint.ProcessArg("DBImpl::DeleteObsoleteFileImpl::BeforeDeletion", &path)
	var err error
	switch t {
	case rocksdb.TableFile, rocksdb.BlobFile:
		err = file.DeleteDBFile(d.fs, d.immutable.SstFileManager, path, dir, false, false)
	case rocksdb.WalFile: // at a rate only where it is with the tables
		err = file.DeleteDBFile(d.fs, d.immutable.SstFileManager, path, dir, false, !d.immutable.IsWalDirSameAsDBPath())
	default:
		err = d.fs.DeleteFile(path, rocksdb.NewIOOptions())
	}
	syncpoint.ProcessArg("DBImpl::DeleteObsoleteFileImpl:AfterDeletion", &err)
	switch {
	case err == nil:
		logging.Debug(d.infoLog, "[JOB %d] Delete %s type=%d #%d -- OK", jobID, path, t, number)
	case rocksdb.IsPathNotFound(err) || rocksdb.IsNotFound(err):
		logging.Info(d.infoLog, "[JOB %d] Tried to delete a non-existing file %s type=%d #%d -- %v", jobID, path, t, number, err)
	default:
		logging.Error(d.infoLog, "[JOB %d] Failed to delete %s type=%d #%d -- %v", jobID, path, t, number, err)
	}
	switch t {
	case rocksdb.TableFile:
		db.LogAndNotifyTableFileDeletion(d.eventLogger, jobID, number, path, err, d.dbName, d.immutable.Listeners)
	case rocksdb.BlobFile:
		d.eventLogger.Log().Add("job", jobID).Add("event", "blob_file_deletion").Add("file_number", number).
			Add("status", statusText(err)).End()
		info := rocksdb.BlobFileDeletionInfo{FileDeletionInfo: rocksdb.FileDeletionInfo{DBName: d.dbName, FilePath: path, JobID: jobID, Status: err}}
		for _, l := range d.immutable.Listeners {
			l.OnBlobFileDeleted(&info)
		}
	}
}

// tableFileName is the path of a family's table.
func (d *DBImpl) tableFileName(cfd *db.ColumnFamilyData, f *version.FileMetaData) string {
	return filename.TableFileName(cfd.IOptions().CFPaths, f.FD.GetNumber(), f.FD.GetPathId())
}
