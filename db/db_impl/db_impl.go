// Port of db/db_impl/db_impl.{h,cc} (state, snapshots,
// options, close). Differs: iterators and snapshots left open are an error at
// Close.

package dbimpl

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/rocksdb-go/rocksdb/db"
	"github.com/rocksdb-go/rocksdb/db/memtable"
	"github.com/rocksdb-go/rocksdb/db/seqnotime"
	"github.com/rocksdb-go/rocksdb/db/snapshot"
	"github.com/rocksdb-go/rocksdb/db/version"
	"github.com/rocksdb-go/rocksdb/db/wal"
	"github.com/rocksdb-go/rocksdb/db/writethread"
	"github.com/rocksdb-go/rocksdb/env"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/logging"
	"github.com/rocksdb-go/rocksdb/monitoring"
	"github.com/rocksdb-go/rocksdb/options"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
	tracereplay "github.com/rocksdb-go/rocksdb/trace_replay"
)

// logWriter is a WAL that is open for writing.
type logWriter struct {
	number        uint64
	writer        *wal.Writer
	gettingSynced bool
	// preSyncSize is what the file had when its last sync began, in bytes; so
	// much is durable once that has succeeded, though more may be appended
	// meanwhile.
	preSyncSize uint64
}

// prepareForSync marks the log; walMu is held, until the mark is taken off no
// other syncs or closes it.
func (l *logWriter) prepareForSync() {
	l.gettingSynced = true
	if f := l.writer.File(); !f.IsClosed() {
		l.preSyncSize = f.GetFlushedSize()
	}
}

// logFile is a WAL that recovery may need.
type logFile struct {
	number uint64
	size   uint64 // bytes written by this process
}

// DBImpl is an open database.
type DBImpl struct {
	// Constant after Open.
	dbName             string
	initialDBOptions   rocksdb.DBOptions // sanitized
	immutable          *options.ImmutableDBOptions
	env                rocksdb.Env
	fs                 rocksdb.FileSystem
	clock              rocksdb.SystemClock
	stats              rocksdb.Statistics
	infoLog            rocksdb.Logger
	ownsInfoLog        bool
	ownsSstFileManager bool
	eventLogger        *logging.EventLogger
	fileOptions        rocksdb.FileOptions
	compactionFileOpts rocksdb.FileOptions
	dbID               string
	sessionID          string
	hostID             string
	dbLock             rocksdb.FileLock
	dirs               db.Directories
	writeBufferManager rocksdb.WriteBufferManager
	tableCache         rocksdb.Cache
	versions           *db.VersionSet
	families           *db.ColumnFamilySet // its map: mutex or leader of the write thread
	defaultHandle      *db.ColumnFamilyHandleImpl
	readOnly           bool
	compacted          bool       // readOnly, and opened as fully compacted
	secondary          *secondary // readOnly, and opened as a secondary instance
	walManager         *db.WalManager

	mutableDBOptions atomic.Pointer[options.MutableDBOptions]

	// Used by the leader of the write thread.
	writeThread *writethread.WriteThread
	// nonmemWriteThread is the queue of writes that the log alone gets, nil
	// without two_write_queues.
	nonmemWriteThread *writethread.WriteThread
	nonmemTmpBatch    mergedBatch // of its leader
	pending           pendingMemtableWrites
	// inplaceUpdates is set once a family has inplace_update_support: there are
	// no snapshots then.
	inplaceUpdates atomic.Bool
	// entityReader is readEntityToMerge.
	entityReader   func(cfd *db.ColumnFamilyData, key []byte, seq rocksdb.SequenceNumber, mayRead bool, columns *rocksdb.PinnableWideColumns) error
	writeCtl       *writethread.WriteController
	flushScheduler db.FamilyScheduler
	trimScheduler  db.FamilyScheduler
	inserter       db.MemTableInserter
	insertError    error // of the last group's inserts
	tmpBatch       mergedBatch
	lastGroupSize  uint64      // bytes
	currentLog     *wal.Writer // the last of walMu.logs
	logEmpty       bool        // nothing was written to the newest log
	walIOOptions   rocksdb.IOOptions
	stall          wbmStall

	currentLogSize        atomic.Uint64 // bytes written to the newest log
	minLogNumberToRecycle uint64        // logs before were not made by this opening

	// Read without lock.
	shuttingDown          atomic.Bool
	totalLogSize          atomic.Uint64 // bytes of the alive logs
	maxTotalInMemoryState atomic.Uint64 // bytes, the sum of all write buffers
	logNumber             atomic.Uint64 // of the newest log
	canRetryOpen          bool          // what is damaged may have good copies; see Open
	hasUnpersistedData    atomic.Bool
	openIterators         atomic.Int64
	preparedIngestions    atomic.Int64 // handles neither committed nor aborted
	nextJobID             atomic.Int64
	manualPaused          atomic.Int32
	compactionAborted     atomic.Int32 // AbortAllCompactions not undone

	errorHandler     *db.ErrorHandler
	trace            tracing
	blockCacheTracer tracereplay.BlockCacheTracer
	ioTracer         *tracereplay.IOTracer

	// walMu protects logs; walCond is signalled when a log has been synced.
	walMu struct {
		sync.Mutex
		cond      *sync.Cond
		logs      []logWriter // oldest first; the last one is written to
		dirSynced bool        // since the newest log was made
		// leaving are the logs that are off logs, and not closed yet.
		leaving []*wal.Writer
	}

	// closing makes Close happen once; every call gives its outcome.
	closing struct {
		sync.Mutex // before optionsMu
		done       bool
		status     error
	}

	periodic periodicTasks
	// threads keeps the records of background workers under statusKey; nil without
	// enable_thread_tracking.
	threads   env.ThreadStatusEnv
	statusKey monitoring.InfoKey
	// persistStatsHandle is of the family of the statistics' history; nil without
	// persist_stats_to_disk. It is set by Open.
	persistStatsHandle *db.ColumnFamilyHandleImpl

	optionsMu sync.Mutex // held while an OPTIONS file is written; before mu

	mu     monitoring.InstrumentedMutex
	bgCond *sync.Cond // on mu: a background job ended, an error was set, …
	// atomicFlushInstallCond, on mu, wakes atomic flushes that wait for older ones.
	atomicFlushInstallCond *sync.Cond
	st                     stateLocked
}

// stateLocked is what mu protects.
type stateLocked struct {
	snapshots          snapshot.List
	aliveLogs          []logFile // oldest first; the last one is written to
	logsToFree         []*wal.Writer
	recycleLogs        []uint64 // closed, to be written over
	recycleClosing     []uint64 // will be among them once closed
	precreated         precreatedWAL
	filesOpening       bool        // a job opens tables, of open_files_async
	pendingOutputs     pendingList // least file number of each running job
	purge              purgeQueue
	filesGrabbed       map[uint64]bool
	deletesDisabled    int
	pendingPurgeJobs   int
	deleteObsoleteLast uint64 // µs of the last full scan
	opened             bool
	shutdownInitiated  bool // by Close
	closed             bool

	flushQueue          []*flushRequest
	compactionQueue     []*db.ColumnFamilyData
	unscheduledFlushes  int
	unscheduledCompacts int
	bgFlushScheduled    int
	bgCompactScheduled  int
	bgBottomScheduled   int
	numRunningFlushes   int
	numRunningCompacts  int
	numRunningBottom    int // of numRunningCompacts
	pressureCallbacks   int // listeners that are being told of the pressure
	bgWorkPaused        int
	bgCompactionPaused  int
	manualCompactions   []*manualCompaction
	exclusiveManual     int
	openingColumnFamily bool
	refitting           bool
	heldHandles         map[*db.ColumnFamilyHandleImpl]bool
	walBeingFlushed     uint64 // the oldest log, whose families are being flushed
	lockWALCount        int
	shutdownNotified    bool // OnDBShutdownBegin was called
	lockWALToken        *writethread.Token
	// seqnoTimes says when sequence numbers were written; empty unless some family's
	// options ask for it.
	seqnoTimes *seqnotime.SeqnoToTimeMapping
}

// pendingList holds file numbers from which on files may be being written.
type pendingList []*uint64

// add is upstream's DBImpl::CaptureCurrentFileNumberInPendingOutputs.
func (l *pendingList) add(n uint64) *uint64 {
	p := new(uint64)
	*p = n
	*l = append(*l, p)
	return p
}

// remove is upstream's DBImpl::ReleaseFileNumberFromPendingOutputs.
func (l *pendingList) remove(p *uint64) {
	for i, x := range *l {
		if x == p {
			*l = append((*l)[:i], (*l)[i+1:]...)
			return
		}
	}
}

func (l pendingList) min() uint64 {
	least := ^uint64(0)
	for _, p := range l {
		least = min(least, *p)
	}
	return least
}

// GetName gives the database's path as it was opened.
func (d *DBImpl) GetName() string { return d.dbName }

// GetEnv gives the environment.
func (d *DBImpl) GetEnv() rocksdb.Env { return d.env }

// GetFileSystem gives the file system.
func (d *DBImpl) GetFileSystem() rocksdb.FileSystem { return d.env.GetFileSystem() }

// GetDbIdentity gives the database's unique id.
func (d *DBImpl) GetDbIdentity() string { return d.dbID }

// GetDbSessionId gives the id of this opening.
func (d *DBImpl) GetDbSessionId() string { return d.sessionID }

// Versions gives the version set; for tools and tests.
func (d *DBImpl) Versions() *db.VersionSet { return d.versions }

// Statistics gives the statistics object, nil when there is none.
func (d *DBImpl) Statistics() rocksdb.Statistics { return d.stats }

// GetOptions gives the options in force of a column family.
func (d *DBImpl) GetOptions(cf rocksdb.ColumnFamilyHandle) rocksdb.Options {
	return rocksdb.Options{DBOptions: d.GetDBOptions(), ColumnFamilyOptions: d.cfd(cf).GetLatestCFOptions()}
}

// GetDBOptions gives the database's options in force.
func (d *DBImpl) GetDBOptions() rocksdb.DBOptions {
	return options.BuildDBOptions(d.immutable, d.mutableDBOptions.Load())
}

// DefaultColumnFamily gives the handle of the default family; it is closed
// with the database.
func (d *DBImpl) DefaultColumnFamily() *db.ColumnFamilyHandleImpl { return d.defaultHandle }

// DefaultColumnFamilyHandle is DefaultColumnFamily for those who know the contract
// alone.
func (d *DBImpl) DefaultColumnFamilyHandle() rocksdb.ColumnFamilyHandle { return d.defaultHandle }

// cfd gives the family of a handle, nil being the default one.
func (d *DBImpl) cfd(cf rocksdb.ColumnFamilyHandle) *db.ColumnFamilyData {
	switch h := cf.(type) {
	case nil:
		return d.defaultHandle.CFD()
	case *db.ColumnFamilyHandleImpl:
		return h.CFD()
	case interface {
		Impl() *db.ColumnFamilyHandleImpl
	}:
		return h.Impl().CFD()
	}
	return d.defaultHandle.CFD()
}

// GetLatestSequenceNumber gives the newest sequence number.
func (d *DBImpl) GetLatestSequenceNumber() rocksdb.SequenceNumber { return d.versions.LastSequence() }

// readValueToUpdate is MemTableInserter.ReadValue.
func (d *DBImpl) readValueToUpdate(cfd *db.ColumnFamilyData, key []byte, seq rocksdb.SequenceNumber) ([]byte, error) {
	ro := rocksdb.DefaultReadOptions()
	ro.FillCache = false // the old version will not be read again
	ro.Snapshot = &snapshot.Impl{Number: seq}
	d.mu.Lock()
	h := db.NewColumnFamilyHandle(cfd, d)
	d.mu.Unlock()
	defer h.Close()
	var v rocksdb.PinnableSlice
	if err := d.Get(&ro, h, key, &v); err != nil {
		if rocksdb.IsNotFound(err) {
			err = nil
		}
		return nil, err
	}
	defer v.Release()
	return append([]byte{}, v.Data()...), nil
}

// readEntityToMerge is MemTableInserter.ReadEntity.
func (d *DBImpl) readEntityToMerge(cfd *db.ColumnFamilyData, key []byte, seq rocksdb.SequenceNumber, mayRead bool, columns *rocksdb.PinnableWideColumns) error {
	ro := rocksdb.DefaultReadOptions()
	if !mayRead { // writes should not wait for reads
		ro.ReadTier = rocksdb.BlockCacheTier
	}
	sv := cfd.GetReferencedSuperVersion()
	defer sv.Release()
	s := getScratchPool.Get().(*getScratch)
	defer getScratchPool.Put(s)
	s.key.Set(key, seq, nil)
	st := &s.mem
	st.Reset()
	s.merge.Clear()
	st.MergeContext, st.Columns = &s.merge, columns
	done := sv.Mem.Get(&s.key, &ro, st, false) || sv.Imm.Get(&s.key, &ro, st)
	err := st.Status
	st.Columns = nil
	if done || err != nil && rocksdb.CodeOf(err) != rocksdb.CodeMergeInProgress && !rocksdb.IsNotFound(err) {
		return err
	}
	s.maxCovering = st.MaxCoveringTombstoneSeq
	x := &s.table
	x.Columns, x.Callback, x.MergeContext = columns, nil, &s.merge
	x.MergeInProgress = rocksdb.CodeOf(err) == rocksdb.CodeMergeInProgress
	x.MaxCoveringTombstoneSeq, x.PinnedIters, x.DoMerge = &s.maxCovering, &s.pinned, true
	found := true
	x.ValueFound = &found
	err = sv.Current.Get(&ro, &s.key, x)
	x.Columns, x.MergeContext, x.ValueFound = nil, nil, nil
	_ = s.pinned.ReleasePinnedData() // no iterators
	if err == nil && !found {
		err = rocksdb.Incomplete("the value is not in memory")
	}
	return err
}

// GetSnapshot takes a snapshot; ReleaseSnapshot gives it back. It is nil when a
// family has inplace_update_support.
func (d *DBImpl) GetSnapshot() *snapshot.Impl { return d.getSnapshot(false) }

// GetSnapshotForWriteConflictBoundary is GetSnapshot for who has to learn whether
// a key was written since: compactions keep the sequence numbers that show it.
func (d *DBImpl) GetSnapshotForWriteConflictBoundary() *snapshot.Impl { return d.getSnapshot(true) }

// getSnapshot is upstream's DBImpl::GetSnapshotImpl.
func (d *DBImpl) getSnapshot(writeConflict bool) *snapshot.Impl {
	now, err := d.clock.GetCurrentTime()
	if err != nil {
		now = 0
	}
	s := &snapshot.Impl{}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.inplaceUpdates.Load() || d.secondary != nil {
		return nil
	}
	return d.st.snapshots.New(s, d.versions.LastSequence(), now, writeConflict, 0)
}

// ReleaseSnapshot gives a snapshot back.
func (d *DBImpl) ReleaseSnapshot(s rocksdb.Snapshot) error {
	if s == nil {
		return nil // of a database without snapshots
	}
	impl, ok := s.(*snapshot.Impl)
	if !ok || impl == nil {
		return rocksdb.InvalidArgument("not a snapshot of this database")
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.st.snapshots.Delete(impl) {
		return rocksdb.InvalidArgument("not a snapshot of this database, or released already")
	}
	oldest := d.versions.LastSequence()
	if !d.st.snapshots.Empty() {
		oldest = d.st.snapshots.Oldest().Number
	}
	d.updateBottommostFilesLocked(oldest)
	for _, cfd := range d.families.All() {
		// A file of one range tombstone waits for the snapshots before it.
		if !cfd.IsDropped() && oldest >= cfd.Current().StorageInfo().StandaloneRangeTombstoneFilesMarkThreshold() {
			d.enqueuePendingCompactionLocked(cfd)
			d.maybeScheduleLocked()
		}
	}
	return nil
}

// updateBottommostFilesLocked marks bottommost files that a newer oldest
// snapshot lets compaction clean.
func (d *DBImpl) updateBottommostFilesLocked(oldest rocksdb.SequenceNumber) {
	for _, cfd := range d.families.All() {
		if cfd.IsDropped() || cfd.IOptions().AllowIngestBehind || cfd.IOptions().CFAllowIngestBehind {
			continue
		}
		vs := cfd.Current().StorageInfo()
		vs.UpdateOldestSnapshot(oldest, false, string(cfd.GetFullHistoryTsLow()))
		if len(vs.BottommostFilesMarkedForCompaction()) > 0 {
			d.enqueuePendingCompactionLocked(cfd)
			d.maybeScheduleLocked()
		}
	}
}

func freeMemtables(list []*memtable.MemTable) {
	for _, m := range list {
		m.Free()
	}
}

// DestroyColumnFamilyHandle closes a handle.
func (d *DBImpl) DestroyColumnFamilyHandle(h *db.ColumnFamilyHandleImpl) error {
	if h == d.defaultHandle {
		return rocksdb.InvalidArgument("Cannot destroy the handle returned by DefaultColumnFamily()")
	}
	d.mu.Lock()
	delete(d.st.heldHandles, h)
	d.mu.Unlock()
	h.Close()
	return nil
}

func (d *DBImpl) updateMaxInMemoryStateLocked() {
	var n uint64
	for _, cfd := range d.families.All() {
		if !cfd.IsDropped() {
			mo := cfd.GetLatestMutableCFOptions()
			n += mo.WriteBufferSize * uint64(mo.MaxWriteBufferNumber)
		}
	}
	d.maxTotalInMemoryState.Store(n)
}

// FamilyOptions is what SetOptionsEach changes of one family.
type FamilyOptions struct {
	CF     rocksdb.ColumnFamilyHandle
	Values map[string]string
}

// SetOptions changes mutable options of a family.
func (d *DBImpl) SetOptions(cf rocksdb.ColumnFamilyHandle, values map[string]string) error {
	return d.SetOptionsEach([]FamilyOptions{{cf, values}})
}

// SetOptionsEach changes mutable options of several families and writes one
// OPTIONS file. After an error the families before the one that was refused
// keep what they were given. Upstream: DBImpl::SetOptions of a map.
func (d *DBImpl) SetOptionsEach(changes []FamilyOptions) error {
	if d.readOnly {
		return d.readOnlyError()
	}
	for _, c := range changes {
		if len(c.Values) == 0 {
			logging.Warn(d.infoLog, "SetOptions() on column family [%s], empty input", d.cfd(c.CF).GetName())
			return rocksdb.InvalidArgument("empty input")
		}
	}
	if len(changes) == 0 {
		return nil
	}
	dbo := d.GetDBOptions()
	// Until the file is written and verified: plug-ins may be changed in place.
	d.optionsMu.Lock()
	defer d.optionsMu.Unlock()
	d.mu.Lock()
	var err error
	for i := 0; i < len(changes) && err == nil; i++ {
		cfd, values := d.cfd(changes[i].CF), changes[i].Values
		// A version holds the options that it is read and compacted under: new
		// options need a new one. Nothing is written to the MANIFEST.
		edit := &version.VersionEdit{}
		edit.MarkNoManifestWriteDummy()
		syncpoint.ProcessArg("DBImpl::SetOptions:dummy_edit", edit)
		err = d.versions.LogAndApply(&db.LogAndApplyRequest{CFD: cfd, Edits: []*version.VersionEdit{edit}, Mutex: &d.mu, DBDirectory: d.dirs.DBDir(),
			PreCallback: func() error { return cfd.SetOptionsLocked(&dbo, values) }})
	}
	var contexts []*db.SuperVersionContext
	if err == nil {
		d.updateMaxInMemoryStateLocked()
		for _, c := range changes {
			ctx := &db.SuperVersionContext{}
			contexts = append(contexts, ctx)
			d.installSuperVersionForConfigChangeLocked(d.cfd(c.CF), ctx)
		}
		d.bgCond.Broadcast() // writers may go on with the new options
		syncpoint.Process("DBImpl::SetOptions:Installed")
	}
	d.mu.Unlock()
	for _, ctx := range contexts {
		ctx.Clean()
	}
	for _, c := range changes {
		if err == nil {
			logging.Info(d.infoLog, "[%s] SetOptions() succeeded", d.cfd(c.CF).GetName())
		} else {
			logging.Warn(d.infoLog, "[%s] SetOptions() failed: %v", d.cfd(c.CF).GetName(), err)
		}
	}
	if err != nil {
		return err
	}
	if slices.ContainsFunc(changes, changesTimes) {
		if err := d.registerRecordSeqnoTimeWorker(); err != nil {
			return err
		}
	}
	return d.persistOptions()
}

// changesTimes tells whether a change may have to do with the times of sequence
// numbers.
func changesTimes(c FamilyOptions) bool {
	_, preserve := c.Values["preserve_internal_time_seconds"]
	_, preclude := c.Values["preclude_last_level_data_seconds"]
	return preserve || preclude
}

// SetDBOptions changes mutable options of the database. Nothing is done where
// the values are those in force.
func (d *DBImpl) SetDBOptions(values map[string]string) error {
	if d.readOnly {
		return d.readOnlyError()
	}
	if len(values) == 0 {
		return rocksdb.InvalidArgument("empty input")
	}
	d.optionsMu.Lock()
	defer d.optionsMu.Unlock()
	d.mu.Lock()
	old := d.mutableDBOptions.Load()
	next, err := options.GetMutableDBOptionsFromStrings(*old, values)
	if err == nil {
		if next.BytesPerSync == 0 {
			next.BytesPerSync = 1 << 20 // as upstream's, which does so here alone
		}
		if options.MutableDBOptionsAreEqual(old, &next) {
			d.mu.Unlock()
			logging.Info(d.infoLog, "SetDBOptions(), input option value is not changed, skipping updating.")
			return nil
		}
		err = d.validateNextLocked(&next)
	}
	var switchWAL bool
	if err == nil {
		switchWAL = d.applyDBOptionsLocked(old, &next)
	}
	d.mu.Unlock()
	if err != nil {
		logging.Warn(d.infoLog, "SetDBOptions() failed: %v", err)
		return err
	}
	if switchWAL {
		if err := d.unbatched(d.switchWALLocked); err != nil {
			logging.Warn(d.infoLog, "Unable to purge WAL files in SetDBOptions() -- %v", err)
		}
	}
	if err := d.setPeriodsOfStats(); err != nil {
		return err
	}
	return d.persistOptions()
}

// validateNextLocked checks options that are to come into force, with each
// family's.
func (d *DBImpl) validateNextLocked(next *options.MutableDBOptions) error {
	full := options.BuildDBOptions(d.immutable, next)
	if err := validateDBOptions(&full); err != nil {
		return err
	}
	for _, cfd := range d.families.All() {
		if cfd.IsDropped() {
			continue
		}
		o := cfd.GetLatestCFOptions()
		if err := db.ValidateOptions(&full, &o); err != nil {
			return err
		}
	}
	return nil
}

// applyDBOptionsLocked puts changed options to use. switchWAL tells that the
// log has to be switched: for another way of syncing it, or since the logs are
// larger than they now may be.
func (d *DBImpl) applyDBOptionsLocked(old, mo *options.MutableDBOptions) (switchWAL bool) {
	d.mutableDBOptions.Store(mo)
	if mo.MaxOpenFiles != old.MaxOpenFiles {
		d.tableCache.SetCapacity(tableCacheCapacity(mo.MaxOpenFiles))
	}
	d.versions.UpdatedMutableDBOptions(mo)
	was, is := jobLimitsOf(old), jobLimitsOf(mo)
	offpeakChanged := mo.DailyOffpeakTimeUTC != old.DailyOffpeakTimeUTC
	if offpeakChanged {
		d.versions.ChangeOffpeakTimeOption(mo.DailyOffpeakTimeUTC)
	}
	if is.flushes > was.flushes || is.compactions > was.compactions || offpeakChanged {
		d.raiseBackgroundThreads()
		d.maybeScheduleLocked()
	}
	d.writeCtl.SetMaxDelayedWriteRate(mo.DelayedWriteRate)
	d.fileOptions.BytesPerSync = mo.BytesPerSync
	d.compactionFileOpts.BytesPerSync = mo.BytesPerSync
	d.compactionFileOpts.StrictBytesPerSync = mo.StrictBytesPerSync
	d.compactionFileOpts.WritableFileMaxBufferSize = mo.WritableFileMaxBufferSize
	d.compactionFileOpts.CompactionReadaheadSize = mo.CompactionReadaheadSize
	syncpoint.ProcessArg("DBImpl::SetDBOptions:FileOptionsForCompaction", &d.compactionFileOpts)
	return mo.WALBytesPerSync != old.WALBytesPerSync ||
		mo.MaxTotalWALSize != old.MaxTotalWALSize && d.totalLogSize.Load() > d.maxTotalWALSize()
}

// jobLimitsOf is how many jobs may ever run, compactions under pressure
// included.
func jobLimitsOf(o *options.MutableDBOptions) backgroundJobLimits {
	return getBGJobLimits(o.MaxBackgroundFlushes, o.MaxBackgroundCompactions, o.MaxBackgroundJobs, true)
}

// raiseBackgroundThreads gives the pools as many goroutines as jobs may ever
// run.
func (d *DBImpl) raiseBackgroundThreads() {
	l := jobLimitsOf(d.mutableDBOptions.Load())
	d.env.IncBackgroundThreadsIfNeeded(l.flushes, rocksdb.HighPriority)
	d.env.IncBackgroundThreadsIfNeeded(l.compactions, rocksdb.LowPriority)
}

// Close waits for background work and lets go of everything. Iterators and
// snapshots still open are an error, and the database stays open; otherwise it
// is closed even when there is an error, which later calls give again.
func (d *DBImpl) Close() error {
	d.closing.Lock()
	defer d.closing.Unlock()
	if d.closing.done {
		return d.closing.status
	}
	d.mu.Lock()
	n := d.st.snapshots.Count()
	d.mu.Unlock()
	if n > 0 {
		return rocksdb.Aborted(fmt.Sprintf("Cannot close DB with unreleased snapshot: %d of them", n))
	}
	if n := d.openIterators.Load(); n > 0 {
		return rocksdb.Aborted(fmt.Sprintf("Cannot close DB with %d iterators or pinned values open", n))
	}
	if n := d.preparedIngestions.Load(); n > 0 {
		return rocksdb.Aborted(fmt.Sprintf("Cannot close DB with %d prepared file ingestions neither committed nor aborted", n))
	}
	d.closing.done, d.closing.status = true, d.closeImpl()
	return d.closing.status
}

// CancelAllBackgroundWork stops scheduling; running jobs end early. With wait
// it returns when they have.
func (d *DBImpl) CancelAllBackgroundWork(wait bool) {
	logging.Info(d.infoLog, "Shutdown: canceling all background work")
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.shuttingDown.Load() && d.hasUnpersistedData.Load() && !d.mutableDBOptions.Load().AvoidFlushDuringShutdown && !d.readOnly {
		d.mu.Unlock()
		if err := d.flushAllColumnFamilies(&rocksdb.FlushOptions{Wait: true}, rocksdb.FlushReasonShutDown); err != nil {
			logging.Warn(d.infoLog, "flush at shutdown: %v", err)
		}
		d.mu.Lock()
	}
	d.notifyOnDBShutdownBegin()
	d.shuttingDown.Store(true)
	d.atomicFlushInstallCond.Broadcast()
	d.bgCond.Broadcast()
	if wait {
		d.waitForBackgroundWorkLocked()
	}
}

// notifyOnDBShutdownBegin tells listeners, once, that the database begins to
// shut down. The mutex is released meanwhile.
func (d *DBImpl) notifyOnDBShutdownBegin() {
	if d.st.shutdownNotified || len(d.immutable.Listeners) == 0 {
		return
	}
	d.st.shutdownNotified = true
	d.mu.Unlock()
	for _, l := range d.immutable.Listeners {
		l.OnDBShutdownBegin(d)
	}
	d.mu.Lock()
}

func (d *DBImpl) waitForBackgroundWorkLocked() {
	for d.st.bgBottomScheduled > 0 || d.st.bgCompactScheduled > 0 || d.st.bgFlushScheduled > 0 || d.st.pressureCallbacks > 0 {
		d.bgCond.Wait()
	}
}

func (d *DBImpl) closeImpl() error {
	var result error
	keep := func(err error) {
		if err != nil && result == nil {
			result = err
		}
	}
	d.mu.Lock()
	d.st.shutdownInitiated = true
	d.errorHandler.CancelErrorRecoveryForShutDown()
	for !d.errorHandler.ReadyForShutdown() {
		d.bgCond.Wait()
	}
	d.mu.Unlock()
	d.CancelAllBackgroundWork(false)
	d.stopPeriodicTasks()
	d.cancelManualCompactions()
	d.mu.Lock()
	for _, pri := range []rocksdb.Priority{rocksdb.BottomPriority, rocksdb.LowPriority, rocksdb.HighPriority} {
		d.env.UnSchedule(d, pri)
	}
	for d.st.bgBottomScheduled > 0 || d.st.bgCompactScheduled > 0 || d.st.bgFlushScheduled > 0 || d.st.pendingPurgeJobs > 0 ||
		d.st.purge.scheduled > 0 || d.st.precreated.scheduled || d.st.filesOpening ||
		d.st.pressureCallbacks > 0 {
		syncpoint.Process("DBImpl::~DBImpl:WaitJob")
		d.bgCond.Wait()
	}
	if w := d.st.precreated.writer; w != nil {
		// The file stays, empty.
		d.st.precreated = precreatedWAL{}
		d.mu.Unlock()
		keep(w.Close(nil))
		d.mu.Lock()
	}
	syncpoint.ProcessArg("DBImpl::CloseHelper:PendingPurgeFinished", d.st.filesGrabbed)
	var free []*memtable.MemTable
	d.flushScheduler.Clear(&free)
	d.trimScheduler.Clear(&free)
	for _, r := range d.st.flushQueue {
		for _, f := range r.families {
			f.cfd.UnrefLocked(&free)
		}
	}
	d.st.flushQueue = nil
	for _, cfd := range d.st.compactionQueue {
		cfd.UnrefLocked(&free)
	}
	d.st.compactionQueue = nil
	d.mu.Unlock()
	syncpoint.Process("DBImpl::CloseHelper:CFHandleCleanupUnlocked")
	syncpoint.Process("DBImpl::CloseHelper:CFHandleCleanupAllowed")
	d.mu.Lock()
	handles := d.st.heldHandles
	d.st.heldHandles = nil
	d.mu.Unlock()
	for h := range handles {
		h.Close()
	}
	if d.defaultHandle != nil {
		d.defaultHandle.Close()
	}
	d.eraseThreadStatusDBInfo()
	if d.st.opened && !d.readOnly {
		job := d.newJobContext()
		d.mu.Lock()
		d.findObsoleteFilesLocked(job, true, true)
		d.mu.Unlock()
		if job.haveSomethingToDelete() {
			d.purgeObsoleteFiles(job)
		}
		job.clean()
	}
	d.mu.Lock()
	if err := d.maybeWriteWALMarkersOnCloseLocked(); err != nil {
		logging.Warn(d.infoLog, "optimize_manifest_for_recovery close-time write failed: %v", err)
	}
	for _, w := range d.st.logsToFree {
		keep(d.closeLeavingLog(w))
	}
	d.st.logsToFree = nil
	d.mu.Unlock()
	d.walMu.Lock()
	for _, l := range d.walMu.logs {
		keep(d.closeLog(l.writer))
	}
	d.walMu.logs = nil
	d.walMu.Unlock()

	if m := d.sstFileManager(); m != nil && d.st.opened {
		d.trackDataFiles(m, false)
	}
	d.mu.Lock()
	// A handle that is let go of meanwhile may have begun a purge, which has
	// nothing scheduled until it was through with its files.
	syncpoint.Process("DBImpl::CloseHelper:BeforeFinalPurgeDrain")
	for d.st.pendingPurgeJobs > 0 || d.st.purge.scheduled > 0 {
		syncpoint.Process("DBImpl::CloseHelper:FinalPurgeDrainWait")
		d.bgCond.Wait()
	}
	if d.secondary != nil {
		d.secondary.close()
	}
	if d.versions != nil {
		d.versions.Destroy()
	}
	d.st.closed = true
	d.mu.Unlock()
	if m := d.sstFileManager(); m != nil && d.ownsSstFileManager {
		m.Close()
	}
	freeMemtables(free)
	if d.tableCache != nil {
		d.tableCache.EraseUnRefEntries()
	}
	if d.dbLock != nil {
		keep(d.fs.UnlockFile(d.dbLock, rocksdb.NewIOOptions()))
		d.dbLock = nil
	}
	logging.Info(d.infoLog, "Shutdown complete")
	if d.ownsInfoLog && d.infoLog != nil {
		keep(d.infoLog.Close())
	}
	keep(d.dirs.Close(rocksdb.NewIOOptions()))
	keep(d.endTraces())
	if rocksdb.CodeOf(result) == rocksdb.CodeAborted {
		// Aborted means that Close may be tried again, which it may not.
		result = rocksdb.Incomplete(result.Error())
	}
	return result
}

// maybeWriteWALMarkersOnCloseLocked writes to the MANIFEST what the next recovery
// would find and write: that families without unflushed data need no log.
func (d *DBImpl) maybeWriteWALMarkersOnCloseLocked() error {
	number := d.logNumber.Load()
	if !d.mutableDBOptions.Load().OptimizeManifestForRecovery || !d.st.opened || d.readOnly || d.versions == nil || number == 0 {
		return nil
	}
	syncpoint.Process("DBImpl::CloseHelper:WriteWalMarkersOnCloseEntered")
	syncpoint.ProcessArg("DBImpl::CloseHelper:CapturedMaxWal", &number)
	number++ // of the first log that is needed
	var groups []db.EditsForFamily
	global := &version.VersionEdit{}
	haveGlobal, reserved, allEmpty := false, false, true
	for _, cfd := range d.families.All() {
		if cfd.IsDropped() {
			continue
		}
		if !cfd.IsEmpty() {
			allEmpty = false // its log is still needed
			continue
		}
		if number <= cfd.GetLogNumber() {
			continue
		}
		if !reserved {
			// File numbers in use have to lie above the families' logs.
			if next := d.versions.CurrentNextFileNumber(); next <= number {
				d.versions.FetchAddFileNumber(number + 1 - next)
				global.SetNextFile(d.versions.CurrentNextFileNumber())
				haveGlobal = true
			}
			reserved = true
		}
		e := &version.VersionEdit{}
		e.SetLogNumber(number)
		e.SetColumnFamily(cfd.GetID())
		groups = append(groups, db.EditsForFamily{CFD: cfd, Edits: []*version.VersionEdit{e}})
	}
	if allEmpty && !d.immutable.Allow2PC {
		if number > d.versions.MinLogNumberToKeep() {
			global.SetMinLogNumberToKeep(number)
			haveGlobal = true
		}
		if d.immutable.TrackAndVerifyWALsInManifest && number > d.versions.GetWalSet().GetMinWalNumberToKeep() {
			global.DeleteWalsBefore(number)
			haveGlobal = true
		}
	}
	if haveGlobal {
		groups = addEdit(groups, d.families.GetDefault(), global)
	}
	return d.versions.LogAndApplyEach(groups, &d.mu, d.dirs.DBDir())
}

// addEdit adds an edit to a family's ones.
func addEdit(groups []db.EditsForFamily, cfd *db.ColumnFamilyData, e *version.VersionEdit) []db.EditsForFamily {
	for i := range groups {
		if groups[i].CFD == cfd {
			groups[i].Edits = append(groups[i].Edits, e)
			return groups
		}
	}
	return append(groups, db.EditsForFamily{CFD: cfd, Edits: []*version.VersionEdit{e}})
}

// closeLeavingLog closes a log of walMu.leaving.
func (d *DBImpl) closeLeavingLog(w *wal.Writer) error {
	err := d.closeLog(w)
	d.walMu.Lock()
	d.walMu.leaving = slices.DeleteFunc(d.walMu.leaving, func(o *wal.Writer) bool { return o == w })
	d.walMu.Unlock()
	return err
}

func (d *DBImpl) closeLog(w *wal.Writer) error {
	if w.File().IsClosed() {
		return nil
	}
	err := w.WriteBuffer(nil)
	if e := w.Close(nil); err == nil {
		err = e
	}
	return err
}
