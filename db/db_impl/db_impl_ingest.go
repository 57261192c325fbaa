// Port of db/db_impl/db_impl.cc (PrepareFileIngestion,
// CommitFileIngestionHandles, IngestExternalFiles). Differs: a handle is aborted
// explicitly, instead of by a destructor; a commit that fails aborts its
// handles.

package dbimpl

import (
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/rocksdb-go/rocksdb/db"
	"github.com/rocksdb-go/rocksdb/db/version"
	"github.com/rocksdb-go/rocksdb/file/filename"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

// FileIngestionHandle is an ingestion that is prepared: its files are in the
// database's directory but not a part of it. It ends by
// CommitFileIngestionHandles or Abort; the database does not close before.
type FileIngestionHandle struct {
	d         *DBImpl
	jobs      []*db.ExternalSstFileIngestionJob
	pending   *uint64
	fillCache bool
	perf      *rocksdb.PerfContext
	spent     atomic.Bool
}

var errHandleSpent = rocksdb.InvalidArgument("file ingestion handle has already been committed or aborted")

// Abort takes the prepared files away again.
func (h *FileIngestionHandle) Abort() error {
	if !h.spent.CompareAndSwap(false, true) {
		return errHandleSpent
	}
	h.rollback()
	return nil
}

func (h *FileIngestionHandle) rollback() {
	aborted := rocksdb.Incomplete("file ingestion aborted")
	for _, j := range h.jobs {
		j.Cleanup(aborted)
	}
	h.d.mu.Lock()
	h.d.releaseOutputsLocked(h.pending)
	h.d.mu.Unlock()
	h.d.preparedIngestions.Add(-1)
}

// IngestExternalFile adds table files that a SstFileWriter made to a family.
func (d *DBImpl) IngestExternalFile(cf rocksdb.ColumnFamilyHandle, files []string, o *rocksdb.IngestExternalFileOptions) error {
	if cf == nil {
		cf = d.defaultHandle
	}
	arg := rocksdb.IngestExternalFileArg{ColumnFamily: cf, ExternalFiles: files, Options: rocksdb.DefaultIngestExternalFileOptions()}
	if o != nil {
		arg.Options = *o
	}
	return d.IngestExternalFiles([]rocksdb.IngestExternalFileArg{arg})
}

// IngestExternalFiles adds files to several families, all or none of them.
func (d *DBImpl) IngestExternalFiles(args []rocksdb.IngestExternalFileArg) error {
	var perf *rocksdb.PerfContext
	if len(args) > 0 {
		perf = args[0].Options.PerfContext
	}
	timed := perf.Enabled(rocksdb.EnableTimeExceptForMutex)
	start := uint64(0)
	if timed {
		start = d.clock.NowNanos()
	}
	h, err := d.PrepareFileIngestion(args)
	if err == nil {
		err = d.CommitFileIngestionHandles([]*FileIngestionHandle{h})
	}
	if timed {
		perf.FileIngestionNanos += d.clock.NowNanos() - start
	}
	return err
}

// checkIngestionArgs refuses wrong arguments of an ingestion.
func (d *DBImpl) checkIngestionArgs(args []rocksdb.IngestExternalFileArg) error {
	if len(args) == 0 {
		return rocksdb.InvalidArgument("ingestion arg list is empty")
	}
	seen := map[*db.ColumnFamilyData]bool{}
	for i := range args {
		if args[i].ColumnFamily == nil {
			return rocksdb.InvalidArgument("column family handle is null")
		}
		cfd := d.cfd(args[i].ColumnFamily)
		if seen[cfd] {
			return rocksdb.InvalidArgument("ingestion args have duplicate column families")
		}
		seen[cfd] = true
	}
	for i := range args {
		a := &args[i]
		switch {
		case len(a.ExternalFiles) == 0:
			return rocksdb.InvalidArgument(fmt.Sprintf("external_files[%d] is empty", i))
		case len(a.FileInfos) > 0 && len(a.FileInfos) != len(a.ExternalFiles):
			return rocksdb.InvalidArgument(fmt.Sprintf("file_infos[%d] size must match external_files[%d] size", i, i))
		case len(a.FileInfos) > 0 && a.Options.WriteGlobalSeqno:
			return rocksdb.InvalidArgument("write_global_seqno is not supported when file_infos is set")
		case i > 0 && a.Options.FillCache != args[i-1].Options.FillCache:
			return rocksdb.InvalidArgument("fill_cache should be the same across ingestion options.")
		}
	}
	for i := range args {
		if err := d.checkIngestionOptions(&args[i]); err != nil {
			return err
		}
	}
	return nil
}

func (d *DBImpl) checkIngestionOptions(a *rocksdb.IngestExternalFileArg) error {
	o := &a.Options
	cfd := d.cfd(a.ColumnFamily)
	if o.IngestBehind {
		if cfd.UserComparator().TimestampSize() > 0 {
			return rocksdb.NotSupported("Column family with user-defined timestamps enabled doesn't support ingest behind.")
		}
		if !cfd.AllowIngestBehind() {
			return rocksdb.InvalidArgumentf("Can't ingest_behind file in ColumnFamily %s with cf_allow_ingest_behind=false", cfd.GetName())
		}
	}
	if r := a.AtomicReplaceRange; r != nil {
		switch {
		case o.IngestBehind:
			return rocksdb.InvalidArgument("Can't combine atomic_replace_range with ingest_behind.")
		case o.SnapshotConsistency:
			return rocksdb.NotSupported("atomic_replace_range not yet supported with snapshot_consistency.")
		case (r.Start == nil) != (r.Limit == nil):
			return rocksdb.NotSupported("Only one of atomic_replace_range.{start,limit}.has_value() is not supported.")
		}
	}
	if o.AllowDBGeneratedFiles && o.WriteGlobalSeqno {
		return rocksdb.NotSupported("write_global_seqno is deprecated and does not work with allow_db_generated_files.")
	}
	if o.MoveFiles && o.LinkFiles {
		return rocksdb.InvalidArgument("`move_files` and `link_files` can not both be true.")
	}
	return nil
}

// PrepareFileIngestion checks the files and links or copies them into the
// database, as far as that does not hold up writes. The handle has to be
// committed or aborted.
func (d *DBImpl) PrepareFileIngestion(args []rocksdb.IngestExternalFileArg) (*FileIngestionHandle, error) {
	if d.readOnly {
		return nil, d.readOnlyError()
	}
	timed := d.stats != nil && d.stats.GetStatsLevel() > rocksdb.ExceptTimers
	var start uint64
	if timed {
		start = d.clock.NowMicros()
	}
	if err := d.checkIngestionArgs(args); err != nil {
		return nil, err
	}
	total := 0
	for i := range args {
		total += len(args[i].ExternalFiles)
	}
	h := &FileIngestionHandle{d: d, fillCache: args[0].Options.FillCache, perf: args[0].Options.PerfContext}
	first, err := d.reserveFileNumbers(d.cfd(args[0].ColumnFamily), uint64(total), &h.pending)
	if err != nil {
		return nil, err
	}
	for i := range args {
		h.jobs = append(h.jobs, db.NewExternalSstFileIngestionJob(&db.IngestionJobConfig{VersionSet: d.versions,
			CFD: d.cfd(args[i].ColumnFamily), DBOptions: d.immutable, MutableDBOptions: d.mutableDBOptions.Load(), FileOptions: d.fileOptions,
			Snapshots: &d.st.snapshots, Directories: &d.dirs, EventLogger: d.eventLogger}, &args[i].Options))
	}
	prepare := func(i int, number uint64) error {
		sv := h.jobs[i].CFD().GetReferencedSuperVersion()
		defer sv.Release()
		return h.jobs[i].Prepare(&args[i], number, sv)
	}
	number := first
	for i := 1; i < len(args); i++ {
		number += uint64(len(args[i-1].ExternalFiles))
		if e := prepare(i, number); err == nil {
			err = e
		}
	}
	syncpoint.Process("DBImpl::IngestExternalFiles:BeforeLastJobPrepare:0")
	syncpoint.Process("DBImpl::IngestExternalFiles:BeforeLastJobPrepare:1")
	if e := prepare(0, first); e != nil {
		err = e
	}
	d.preparedIngestions.Add(1)
	if err != nil {
		h.spent.Store(true)
		h.rollback()
		return nil, err
	}
	if timed {
		d.stats.RecordInHistogram(rocksdb.HistIngestExternalFilePrepareTime, d.clock.NowMicros()-start)
	}
	return h, nil
}

// reserveFileNumbers gives out numbers for n files and makes the MANIFEST say
// so: after a crash a number whose file is a link of the user's must not be
// used again, for the user's file would be overwritten.
func (d *DBImpl) reserveFileNumbers(cfd *db.ColumnFamilyData, n uint64, pending **uint64) (first uint64, err error) {
	var ctx db.SuperVersionContext
	d.mu.Lock()
	if d.errorHandler.IsDBStopped() {
		err = d.errorHandler.GetBGError()
		d.mu.Unlock()
		return 0, err
	}
	*pending = d.captureOutputsLocked()
	first = d.versions.FetchAddFileNumber(n)
	edit := &version.VersionEdit{}
	edit.MarkForegroundOperation()
	edit.SetColumnFamily(cfd.GetID())
	err = d.versions.LogAndApply(&db.LogAndApplyRequest{CFD: cfd, Edits: []*version.VersionEdit{edit}, Mutex: &d.mu, DBDirectory: d.dirs.DBDir()})
	if err == nil {
		d.installSuperVersionAndScheduleLocked(cfd, &ctx)
	} else {
		d.releaseOutputsLocked(*pending)
	}
	d.mu.Unlock()
	ctx.Clean()
	return first, err
}

// CommitFileIngestionHandles makes the files of prepared ingestions a part of
// the database, all or none. The handles are spent afterwards, whatever the
// outcome; after an error their files are gone.
func (d *DBImpl) CommitFileIngestionHandles(handles []*FileIngestionHandle) error {
	if d.readOnly {
		return d.readOnlyError()
	}
	if len(handles) == 0 {
		return rocksdb.InvalidArgument("no file ingestion handles to commit")
	}
	var taken []*FileIngestionHandle
	defer func() {
		for _, h := range taken {
			h.rollback()
		}
	}()
	var err error
	for _, h := range handles {
		switch {
		case h == nil || h.d != d:
			err = rocksdb.InvalidArgument("file ingestion handle of another database")
		case !h.spent.CompareAndSwap(false, true):
			err = errHandleSpent
		default:
			taken = append(taken, h)
			if h.fillCache != handles[0].fillCache {
				err = rocksdb.InvalidArgument("fill cache arg must be consistent across all handles")
			}
		}
	}
	if err != nil {
		return err
	}
	c := ingestionCommit{d: d, fillCache: handles[0].fillCache, threads: 1, perf: handles[0].perf}
	byFamily := map[*db.ColumnFamilyData]*db.ExternalSstFileIngestionJob{}
	for _, h := range handles {
		for _, j := range h.jobs {
			c.threads = max(c.threads, j.FileOpeningThreads())
			first := byFamily[j.CFD()]
			if first == nil {
				byFamily[j.CFD()] = j
				c.jobs = append(c.jobs, j)
			} else if err := first.MergeForSameColumnFamily(j); err != nil {
				return err
			}
		}
	}
	if err := c.run(handles); err != nil {
		return err
	}
	taken = nil
	for _, j := range c.jobs {
		j.Cleanup(nil)
		if !j.CFD().IsDropped() {
			d.notifyOnExternalFileIngested(j)
		}
	}
	d.preparedIngestions.Add(-int64(len(handles)))
	return nil
}

// ingestionCommit is one commit at work, with one job a family.
type ingestionCommit struct {
	d         *DBImpl
	jobs      []*db.ExternalSstFileIngestionJob
	fillCache bool
	threads   int
	perf      *rocksdb.PerfContext
	contexts  []db.SuperVersionContext
}

func (c *ingestionCommit) run(handles []*FileIngestionHandle) error {
	d := c.d
	timed := d.stats != nil && d.stats.GetStatsLevel() > rocksdb.ExceptTimers
	var start, blocked uint64
	if timed {
		start = d.clock.NowMicros()
	}
	c.contexts = make([]db.SuperVersionContext, len(c.jobs))
	syncpoint.Process("DBImpl::IngestExternalFiles:BeforeJobsRun:0")
	syncpoint.Process("DBImpl::IngestExternalFiles:BeforeJobsRun:1")
	syncpoint.Process("DBImpl::AddFile:Start")
	for _, j := range c.jobs {
		lock := j.CFD().IngestSstLock()
		lock.RLock()
		defer lock.RUnlock()
	}
	d.mu.Lock()
	syncpoint.Process("DBImpl::AddFile:MutexLock")
	w := d.enterUnbatchedForSwitchLocked()
	perfTimed := c.perf.Enabled(rocksdb.EnableTimeExceptForMutex)
	if perfTimed {
		blocked = d.clock.NowNanos()
	}
	syncpoint.Process("DBImpl::IngestExternalFile:AfterIncIngestFileCounter")
	syncpoint.Process("DBImpl::IngestExternalFile:AfterIncIngestFileCounter:2")
	err := c.flushLocked()
	if err == nil {
		err = c.runJobsLocked()
	}
	if err == nil {
		err = c.commitLocked()
	}
	for _, j := range c.jobs {
		j.UnregisterRange()
	}
	if err == nil {
		for i, j := range c.jobs {
			d.installSuperVersionAndScheduleLocked(j.CFD(), &c.contexts[i])
			if i == 0 && len(c.jobs) > 1 {
				syncpoint.Process("DBImpl::IngestExternalFiles:InstallSVForFirstCF:0")
				syncpoint.Process("DBImpl::IngestExternalFiles:InstallSVForFirstCF:1")
			}
		}
	} else if ioErr := d.versions.IOStatus(); ioErr != nil && rocksdb.CodeOf(ioErr) == rocksdb.CodeIOError {
		// Whether the record is in the MANIFEST is not known.
		for _, j := range c.jobs {
			j.LeaveFiles(d.errorHandler.GetFilesToQuarantine())
		}
		d.errorHandler.SetBGError(ioErr, rocksdb.BackgroundErrorReasonManifestWrite)
	}
	d.exitUnbatchedLocked(w)
	if perfTimed {
		c.perf.FileIngestionBlockingLiveWritesNanos += d.clock.NowNanos() - blocked
	}
	if err == nil {
		for _, j := range c.jobs {
			j.UpdateStats()
		}
		for _, h := range handles {
			d.releaseOutputsLocked(h.pending)
		}
	}
	d.bgCond.Broadcast()
	syncpoint.Process("DBImpl::AddFile:MutexUnlock")
	d.mu.Unlock()
	for i := range c.contexts {
		c.contexts[i].Clean()
	}
	if err == nil && timed {
		d.stats.RecordInHistogram(rocksdb.HistIngestExternalFileRunTime, d.clock.NowMicros()-start)
	}
	return err
}

// flushLocked flushes the families whose memtables have keys in the files'
// ranges; writes stay out meanwhile.
func (c *ingestionCommit) flushLocked() error {
	d := c.d
	need := make([]bool, len(c.jobs))
	anyNeeds := false
	var err error
	for i, j := range c.jobs {
		if j.CFD().IsDropped() {
			err = rocksdb.InvalidArgument("cannot ingest an external file into a dropped CF")
			break
		}
		need[i], err = j.NeedsFlush(j.CFD().GetSuperVersion())
		anyNeeds = anyNeeds || need[i]
		if err != nil {
			break
		}
	}
	syncpoint.ProcessArg("DBImpl::IngestExternalFile:NeedFlush", &anyNeeds)
	if err != nil || !anyNeeds {
		return err
	}
	o := rocksdb.DefaultFlushOptions()
	o.AllowWriteStall = true
	if d.immutable.AtomicFlush {
		err := d.atomicFlushUnbatchedLocked(nil, &o, rocksdb.FlushReasonExternalFileIngestion, nil)
		d.mu.Lock()
		for _, j := range c.jobs {
			if err == nil {
				j.SetFlushedBeforeRun()
			}
		}
		return err
	}
	for i, j := range c.jobs {
		if !need[i] {
			continue
		}
		err := d.flushUnbatchedLocked(j.CFD(), &o, rocksdb.FlushReasonExternalFileIngestion, nil)
		d.mu.Lock()
		if err != nil {
			return err
		}
		j.SetFlushedBeforeRun()
	}
	return nil
}

func (c *ingestionCommit) runJobsLocked() error {
	for _, j := range c.jobs {
		if err := j.Run(); err != nil {
			return err
		}
		j.RegisterRange()
	}
	for _, j := range c.jobs {
		if n := j.MaxAssignedSequenceNumber(); n > 0 {
			j.CFD().Mem().BumpIngestSeqnoBarrier(n)
		}
	}
	return nil
}

// commitLocked writes the edits to the MANIFEST, as a group, and only then
// raises the last sequence number: a snapshot taken meanwhile, with the mutex
// released, must not change.
func (c *ingestionCommit) commitLocked() error {
	d := c.d
	var groups []db.EditsForFamily
	last := rocksdb.SequenceNumber(0)
	for _, j := range c.jobs {
		e := j.Edit()
		e.MarkForegroundOperation()
		groups = append(groups, db.EditsForFamily{CFD: j.CFD(), Edits: []*version.VersionEdit{e}})
		last = max(last, j.MaxAssignedSequenceNumber())
	}
	err := d.versions.LogAndApplyGroupOpening(groups, &d.mu, d.dirs.DBDir(), c.fillCache, c.threads)
	if err == nil {
		d.raiseLastSequence(last)
	}
	return err
}

// raiseLastSequence makes entries of tables visible that have greater sequence
// numbers than the last write; no write is under way.
func (d *DBImpl) raiseLastSequence(n rocksdb.SequenceNumber) {
	if n > d.versions.LastSequence() {
		d.versions.SetAllSequences(n)
	}
}

func (d *DBImpl) notifyOnExternalFileIngested(j *db.ExternalSstFileIngestionJob) {
	if len(d.immutable.Listeners) == 0 {
		return
	}
	for _, f := range j.Files() {
		info := &rocksdb.ExternalFileIngestionInfo{CFName: j.CFD().GetName(), ExternalFilePath: f.ExternalFilePath,
			InternalFilePath: f.InternalFilePath, GlobalSeqno: f.AssignedSeqno, TableProperties: f.TableProperties}
		for _, l := range d.immutable.Listeners {
			l.OnExternalFileIngested(d, info)
		}
	}
}

// GetPreparedFileInfoForExternalSstIngestion describes a table of this database
// for IngestExternalFileArg.FileInfos of another. path has to be the table's.
func (d *DBImpl) GetPreparedFileInfoForExternalSstIngestion(path string) (*rocksdb.PreparedFileInfo, error) {
	name := path[strings.LastIndexAny(path, `/\`)+1:]
	p, ok := filename.ParseFileName(name, "")
	if !ok || p.Type != rocksdb.TableFile || p.Number == 0 {
		return nil, rocksdb.InvalidArgument("Invalid table file name: " + path)
	}
	d.mu.Lock()
	_, f, cfd, err := d.versions.GetMetadataForFile(p.Number)
	if err == nil && path != d.tableFileName(cfd, f) {
		err = rocksdb.InvalidArgument("Path does not match live table file: " + path)
	}
	if err != nil {
		d.mu.Unlock()
		return nil, err
	}
	cfd.Ref()
	v := cfd.Current()
	v.Ref()
	d.mu.Unlock()
	defer func() {
		d.mu.Lock()
		v.Unref()
		d.mu.Unlock()
		d.ReleaseColumnFamily(cfd)
	}()
	ro := rocksdb.DefaultReadOptions()
	props, err := v.GetTableProperties(&ro, f, path)
	if err != nil {
		return nil, err
	}
	info := &rocksdb.PreparedFileInfo{FileSize: f.FD.GetFileSize(), Smallest: f.Smallest, Largest: f.Largest, TableProperties: *props}
	info.TableProperties.KeyLargestSeqno, info.TableProperties.KeySmallestSeqno = f.FD.LargestSeqno, f.FD.SmallestSeqno
	return info, nil
}
