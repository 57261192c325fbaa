// Port of db/db_impl/db_impl_open.cc (Open). Differs: periodic tasks, the
// statistics family come later.

package dbimpl

import (
	"sync"

	"github.com/rocksdb-go/rocksdb/cache"
	"github.com/rocksdb-go/rocksdb/db"
	"github.com/rocksdb-go/rocksdb/db/seqnotime"
	"github.com/rocksdb-go/rocksdb/db/version"
	"github.com/rocksdb-go/rocksdb/db/wal"
	"github.com/rocksdb-go/rocksdb/db/writebatch"
	"github.com/rocksdb-go/rocksdb/db/writethread"
	"github.com/rocksdb-go/rocksdb/env"
	"github.com/rocksdb-go/rocksdb/file"
	"github.com/rocksdb-go/rocksdb/file/filename"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/logging"
	"github.com/rocksdb-go/rocksdb/memtable"
	"github.com/rocksdb-go/rocksdb/options"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
	tracereplay "github.com/rocksdb-go/rocksdb/trace_replay"
	"github.com/rocksdb-go/rocksdb/util"
)

// Files that stay out of the table cache's share of max_open_files.
const (
	numNonTableCacheFiles      = 10
	tableCacheInfiniteCapacity = 0x400000
)

func tableCacheCapacity(maxOpenFiles int) int {
	if maxOpenFiles == -1 {
		return tableCacheInfiniteCapacity
	}
	return max(maxOpenFiles-numNonTableCacheFiles, 1)
}

// sanitizeDBOptions fills in defaults that need higher packages and brings
// options into a consistent state. The info log is made unless readOnly.
func sanitizeDBOptions(dbName string, src *rocksdb.DBOptions, readOnly bool) (o rocksdb.DBOptions, err error) {
	o = *src
	if o.Env == nil {
		o.Env = env.Default()
	}
	if o.MaxOpenFiles != -1 {
		o.MaxOpenFiles = min(max(o.MaxOpenFiles, 20), 0x400000)
		syncpoint.ProcessArg("SanitizeOptions::AfterChangeMaxOpenFiles", &o.MaxOpenFiles)
	}
	if o.InfoLog == nil && !readOnly {
		if o.InfoLog, err = logging.CreateLoggerFromOptions(dbName, &o); err != nil {
			return o, err
		}
	}
	if o.WriteBufferManager == nil {
		o.WriteBufferManager = memtable.NewWriteBufferManager(o.DBWriteBufferSize, nil, false)
	}
	if o.SstFileManager == nil && !readOnly {
		// It counts compactions' room and waits for space on a full device.
		o.SstFileManager = file.NewSstFileManager(o.Env, nil, o.InfoLog, 0, 0.25, 64<<20)
	}
	if o.RateLimiter != nil && o.BytesPerSync == 0 {
		o.BytesPerSync = 1 << 20
	}
	if o.DelayedWriteRate == 0 {
		if o.RateLimiter != nil {
			o.DelayedWriteRate = uint64(max(o.RateLimiter.GetBytesPerSecond(), 0))
		}
		if o.DelayedWriteRate == 0 {
			o.DelayedWriteRate = 16 << 20
		}
	}
	if o.WALTTLSeconds > 0 || o.WALSizeLimitMB > 0 {
		o.RecycleLogFileNum = 0
	}
	if o.WALRecoveryMode == rocksdb.TolerateCorruptedTailRecords || o.WALRecoveryMode == rocksdb.AbsoluteConsistency {
		o.RecycleLogFileNum = 0
	}
	if o.AsyncWALPrecreate && o.RecycleLogFileNum != 0 {
		// A log made ahead has a number of its own, a recycled one is an old file.
		o.AsyncWALPrecreate = false
		logging.Warn(o.InfoLog, "async_wal_precreate is disabled since recycle_log_file_num is non-zero")
	}
	if len(o.DBPaths) == 0 {
		o.DBPaths = []rocksdb.DBPath{{Path: dbName, TargetSize: ^uint64(0)}}
	} else if o.WALDir == "" {
		o.WALDir = dbName
	}
	if o.WALDir != "" && filename.NormalizePath(dbName+"/") == filename.NormalizePath(o.WALDir+"/") &&
		filename.NormalizePath(dbName+"/") == filename.NormalizePath(o.DBPaths[0].Path+"/") {
		o.WALDir = ""
	}
	for len(o.WALDir) > 1 && o.WALDir[len(o.WALDir)-1] == '/' {
		o.WALDir = o.WALDir[:len(o.WALDir)-1]
	}
	if o.Allow2PC {
		o.AvoidFlushDuringRecovery = false
	}
	if o.WALCompression != rocksdb.NoCompression && o.WALCompression != rocksdb.ZSTD {
		logging.Warn(o.InfoLog, "wal_compression is disabled since only zstd is supported")
		o.WALCompression = rocksdb.NoCompression
	}
	return o, nil
}

// validateDBOptions refuses options that cannot work together, or that this
// engine does not have.
// Upstream: DBImpl::ValidateOptions.
func validateDBOptions(o *rocksdb.DBOptions) error {
	switch {
	case len(o.DBPaths) > 4:
		return rocksdb.NotSupported("More than four DB paths are not supported yet. ")
	case o.AllowMmapReads && o.UseDirectReads:
		return rocksdb.NotSupported("If memory mapped reads (allow_mmap_reads) are enabled then direct I/O reads (use_direct_reads) must be disabled. ")
	case o.AllowMmapReads && o.UseDirectIOForCompactionReads:
		return rocksdb.NotSupported("If memory mapped reads (allow_mmap_reads) are enabled then compaction-only direct I/O reads (use_direct_io_for_compaction_reads) must be disabled. ")
	case o.AllowMmapWrites && o.UseDirectIOForFlushAndCompaction:
		return rocksdb.NotSupported("If memory mapped writes (allow_mmap_writes) are enabled then direct I/O writes (use_direct_io_for_flush_and_compaction) must be disabled. ")
	case o.KeepLogFileNum == 0:
		return rocksdb.InvalidArgument("keep_log_file_num must be greater than 0")
	case o.UnorderedWrite && !o.AllowConcurrentMemtableWrite:
		return rocksdb.InvalidArgument("unordered_write is incompatible with !allow_concurrent_memtable_write")
	case o.UnorderedWrite && o.EnablePipelinedWrite:
		return rocksdb.InvalidArgument("unordered_write is incompatible with enable_pipelined_write")
	case o.AtomicFlush && o.EnablePipelinedWrite:
		return rocksdb.InvalidArgument("atomic_flush is incompatible with enable_pipelined_write")
	case o.ReadIOExecutorThreads <= 0:
		return rocksdb.InvalidArgument("read_io_executor_threads must be greater than zero")
	case o.UseDirectIOForFlushAndCompaction && o.WritableFileMaxBufferSize == 0:
		return rocksdb.InvalidArgument("writes in direct IO require writable_file_max_buffer_size > 0")
	case !o.WriteDBIDToManifest && !o.WriteIdentityFile:
		return rocksdb.InvalidArgument("write_dbid_to_manifest and write_identity_file cannot both be false")
	}
	if s := o.DailyOffpeakTimeUTC; s != "" {
		start, end, ok := util.TryParseTimeRangeString(s)
		if !ok {
			return rocksdb.InvalidArgument("daily_offpeak_time_utc should be set in the format HH:mm-HH:mm (e.g. 04:30-07:30)")
		}
		if start == end {
			return rocksdb.InvalidArgument("start_time and end_time cannot be the same")
		}
	}
	switch {
	case o.CompactionService != nil:
		return rocksdb.NotSupported("compaction_service is not built yet")
	case o.SstFileManager != nil && !isBuiltInSstFileManager(o.SstFileManager):
		return rocksdb.NotSupported("sst_file_manager other than the built-in one")
	case o.ReadIOExecutorThreads != 1:
		return rocksdb.NotSupported("read_io_executor_threads other than 1 is not built yet")
	}
	return nil
}

// openMode is how a database is open. In both modes for reading nothing is written;
// the database changes under a secondary instance.
type openMode uint8

const (
	openForWriting openMode = iota
	openReadOnly
	openSecondary
)

// newDBImpl makes the object without touching files, but for the info log.
func newDBImpl(src *rocksdb.DBOptions, dbName string, mode openMode) (*DBImpl, error) {
	readOnly := mode != openForWriting
	o, err := sanitizeDBOptions(dbName, src, readOnly)
	if err != nil {
		return nil, err
	}
	imm := options.NewImmutableDBOptions(&o)
	mut := options.NewMutableDBOptions(&o)
	ioTracer := new(tracereplay.IOTracer)
	imm.FS = env.NewFileSystemTracer(imm.FS, ioTracer)
	d := &DBImpl{dbName: dbName, initialDBOptions: o, immutable: &imm, env: o.Env, fs: imm.FS, ioTracer: ioTracer, clock: o.Env.GetSystemClock(),
		stats: o.Statistics, infoLog: o.InfoLog, ownsInfoLog: src.InfoLog == nil && !readOnly,
		ownsSstFileManager: src.SstFileManager == nil && !readOnly,
		eventLogger:        logging.NewEventLogger(o.InfoLog), readOnly: readOnly, logEmpty: true,
		writeBufferManager: o.WriteBufferManager}
	d.mutableDBOptions.Store(&mut)
	d.mu.Measure(d.stats, d.clock, rocksdb.DBMutexWaitMicros)
	d.entityReader = d.readEntityToMerge
	d.bgCond = sync.NewCond(&d.mu)
	d.atomicFlushInstallCond = sync.NewCond(&d.mu)
	d.walMu.cond = sync.NewCond(&d.walMu.Mutex)
	d.stall.cond = sync.NewCond(&d.stall.mu)
	d.st.snapshots.Init()
	d.st.seqnoTimes = seqnotime.NewSeqnoToTimeMapping()
	d.st.purge.files = map[uint64]purgeFile{}
	d.st.filesGrabbed = map[uint64]bool{}
	d.st.heldHandles = map[*db.ColumnFamilyHandleImpl]bool{}
	d.errorHandler = db.NewErrorHandler(d, d.immutable, &d.mu, d.bgCond)
	d.fileOptions = *rocksdb.NewFileOptions(&o)
	d.compactionFileOpts = *d.fs.OptimizeForCompactionTableWrite(&d.fileOptions, o.UseDirectIOForFlushAndCompaction)
	d.writeThread = writethread.New(o.AllowConcurrentMemtableWrite, o.EnablePipelinedWrite, o.MaxWriteBatchGroupSizeBytes)
	d.pending.cond = sync.NewCond(&d.pending.mu)
	if o.TwoWriteQueues {
		d.nonmemWriteThread = writethread.New(o.AllowConcurrentMemtableWrite, o.EnablePipelinedWrite, o.MaxWriteBatchGroupSizeBytes)
	}
	d.writeCtl = writethread.NewWriteController(mut.DelayedWriteRate)
	d.sessionID = env.GenerateDBSessionID()
	d.hostID = o.DBHostID
	if d.hostID == rocksdb.HostnameForDBHostID {
		if d.hostID, err = d.env.GetHostName(); err != nil {
			d.hostID = ""
		}
	}
	co := rocksdb.DefaultLRUCacheOptions(tableCacheCapacity(mut.MaxOpenFiles))
	co.NumShardBits, co.MetadataChargePolicy = imm.TableCacheNumshardbits, rocksdb.DontChargeCacheMetadata
	if d.tableCache, err = cache.NewLRUCache(co); err != nil {
		return nil, err
	}
	if err := d.initThreadTracking(); err != nil {
		return nil, err
	}
	d.versions = db.NewVersionSet(&db.VersionSetOptions{DBName: dbName, DBOptions: d.immutable, MutableDBOptions: &mut,
		FileOptions: d.fileOptions, TableCache: d.tableCache, WriteBufferManager: d.writeBufferManager,
		WriteController: d.writeCtl, BlockCacheTracer: &d.blockCacheTracer, DBSessionID: d.sessionID, Unchanging: mode == openReadOnly, Quarantine: d.errorHandler})
	d.families = d.versions.GetColumnFamilySet()
	d.walManager = db.NewWalManager(d.immutable)
	d.raiseBackgroundThreads()
	d.dumpStart()
	return d, nil
}

// dumpStart writes the first lines of the info log.
// Upstream: DumpRocksDBBuildVersion and the end of DBImpl's constructor.
func (d *DBImpl) dumpStart() {
	if d.infoLog == nil {
		return
	}
	logging.Header(d.infoLog, "RocksDB version: %s", rocksdb.GetRocksVersionAsString(true))
	for _, line := range buildVersion() {
		logging.Header(d.infoLog, "%s", line)
	}
	db.DumpDBFileSummary(d.immutable, d.dbName, d.sessionID)
	d.immutable.Dump(d.infoLog)
	d.mutableDBOptions.Load().Dump(d.infoLog)
	options.DumpSupportInfo(d.infoLog)
}

// createDirectories makes the directories of all paths.
// Upstream: DBImpl::CreateAndNewDirectory, Directories::SetDirectories.
func (d *DBImpl) createDirectories(families []rocksdb.ColumnFamilyDescriptor) error {
	paths := []string{d.immutable.GetWalDir()}
	for _, p := range d.immutable.DBPaths {
		paths = append(paths, p.Path)
	}
	for i := range families {
		for _, p := range families[i].Options.CFPaths {
			paths = append(paths, p.Path)
		}
	}
	for _, p := range paths {
		if err := d.fs.CreateDirIfMissing(p, rocksdb.NewIOOptions()); err != nil {
			return err
		}
	}
	return d.walManager.CreateArchivalDirectory()
}

// Open opens a database with the families named, in that order, and gives
// their handles. All families of an existing database must be named.
func Open(o *rocksdb.DBOptions, dbName string, families []rocksdb.ColumnFamilyDescriptor) (d *DBImpl, handles []*db.ColumnFamilyHandleImpl, err error) {
	d, handles, canRetry, err := open(o, dbName, families, false)
	if err != nil && canRetry {
		d, handles, _, err = open(o, dbName, families, true)
	}
	return d, handles, err
}

// open is one try of Open. canRetry tells that another one, with isRetry, may see
// good copies of what is damaged.
func open(o *rocksdb.DBOptions, dbName string, families []rocksdb.ColumnFamilyDescriptor, isRetry bool) (
	d *DBImpl, handles []*db.ColumnFamilyHandleImpl, canRetry bool, err error) {
	if err := validateOpen(o, families); err != nil {
		return nil, nil, false, err
	}
	if d, err = newDBImpl(o, dbName, openForWriting); err != nil {
		return nil, nil, false, err
	}
	defer func() {
		canRetry = d.canRetryOpen
		if err == nil {
			return
		}
		logging.Warn(d.infoLog, "DB::Open() failed: %v", err)
		d.st.opened = false
		for _, h := range handles {
			h.Close()
		}
		// Nothing was promised to be written; what is in memory is in the WAL.
		d.hasUnpersistedData.Store(false)
		_ = d.closeImpl()
		d, handles = nil, nil
	}()
	if err = d.createDirectories(families); err != nil {
		return d, nil, false, err
	}
	if len(d.dataPaths()) <= 1 {
		// With several it is not known which one lacks space.
		d.errorHandler.EnableAutoRecovery()
	}
	var largestBuffer uint64
	for i := range families {
		largestBuffer = max(largestBuffer, families[i].Options.WriteBufferSize)
	}
	d.mu.Lock()
	handles, err = d.openLocked(o, families, largestBuffer, isRetry)
	d.mu.Unlock()
	if err != nil {
		return d, handles, false, err
	}
	syncpoint.Process("DBImpl::Open:Opened")
	if err = d.writeOptionsFile(); err != nil {
		// The new file may be there, and every try to open would add another.
		d.deleteObsoleteOptionsFiles(false)
		return d, handles, false, rocksdb.IOError("DB::Open() failed --- Unable to persist Options file", err.Error()).Wrap(err)
	}
	d.startSstFileManager(largestBuffer)
	job := d.newJobContext()
	d.mu.Lock()
	d.st.opened = true
	d.findObsoleteFilesLocked(job, true, false)
	d.mu.Unlock()
	if job.haveSomethingToDelete() {
		job.background = d.immutable.AvoidUnnecessaryBlockingIO
		d.purgeObsoleteFiles(job)
	}
	job.clean()
	syncpoint.Process("DBImpl::Open:AfterDeleteFiles")
	d.mu.Lock()
	d.maybeScheduleLocked()
	d.scheduleFileOpeningLocked()
	d.maybeScheduleWALPrecreateLocked(d.walPreallocateBlockSize(largestBuffer))
	d.mu.Unlock()
	if err = d.startPeriodicTasks(); err != nil {
		return d, handles, false, err
	}
	if err = d.registerRecordSeqnoTimeWorker(); err != nil {
		return d, handles, false, err
	}
	logging.Header(d.infoLog, "DB pointer %p", d)
	return d, handles, false, nil
}

// validateOpen is upstream's ValidateOptionsByTable.
func validateOpen(o *rocksdb.DBOptions, families []rocksdb.ColumnFamilyDescriptor) error {
	hasDefault := false
	for i := range families { // plug-ins that are missing come first
		if err := options.ValidateOptions(o, &families[i].Options); err != nil {
			return err
		}
	}
	for i := range families {
		f := &families[i]
		if err := db.ValidateOptions(o, &f.Options); err != nil {
			return err
		}
		if err := db.CheckBuilt(&f.Options); err != nil {
			return err
		}
		if f.Name == rocksdb.DefaultColumnFamilyName {
			hasDefault = true
			if f.Options.DisallowMemtableWrites {
				return rocksdb.InvalidArgument("Default column family cannot use disallow_memtable_writes=true")
			}
		}
	}
	if !hasDefault {
		return rocksdb.InvalidArgument("Default column family not specified")
	}
	return validateDBOptions(o)
}

// recoveryContext collects the edits of recovery, which are written together
// once it has succeeded.
type recoveryContext struct {
	isNewDB bool
	order   []*db.ColumnFamilyData
	edits   map[*db.ColumnFamilyData][]*version.VersionEdit
}

func (c *recoveryContext) add(cfd *db.ColumnFamilyData, e *version.VersionEdit) {
	if c.edits == nil {
		c.edits = map[*db.ColumnFamilyData][]*version.VersionEdit{}
	}
	if _, known := c.edits[cfd]; !known {
		c.order = append(c.order, cfd)
	}
	c.edits[cfd] = append(c.edits[cfd], e)
}

func (d *DBImpl) openLocked(o *rocksdb.DBOptions, families []rocksdb.ColumnFamilyDescriptor, largestBuffer uint64, isRetry bool) (handles []*db.ColumnFamilyHandleImpl, err error) {
	ctx := &recoveryContext{}
	recoveredSeq, corrupted, err := d.recoverLocked(families, recoverOptions{isRetry: isRetry}, ctx)
	if err != nil {
		return nil, err
	}
	number := d.versions.NewFileNumber()
	d.mu.Unlock()
	log, err := d.createWAL(number, 0, d.walPreallocateBlockSize(largestBuffer), wal.PredecessorWALInfo{})
	d.mu.Lock()
	if err != nil {
		return nil, err
	}
	d.minLogNumberToRecycle = number
	if err := d.installLogLocked(log); err != nil {
		return nil, err
	}
	if corrupted {
		// An empty record with the next number tells a later recovery that the
		// log before ends where this one begins, by intent.
		empty := writebatch.New()
		empty.SetSequence(recoveredSeq)
		if _, err := d.appendToLog(empty.Data(), recoveredSeq, rocksdb.IOTotal); err != nil {
			return nil, err
		}
		err := d.currentLog.WriteBuffer(nil)
		syncpoint.ProcessArg("DBImpl::Open::BeforeSyncWAL", &err)
		if err != nil {
			return nil, err
		}
		if err := d.currentLog.File().Sync(nil, d.immutable.UseFsync); err != nil {
			return nil, err
		}
	}
	if err := d.logAndApplyForRecoveryLocked(ctx); err != nil {
		return nil, err
	}
	if !d.immutable.WriteIdentityFile {
		_ = d.fs.DeleteFile(filename.IdentityFileName(d.dbName), rocksdb.NewIOOptions())
	}
	statsExisted := false
	if d.immutable.PersistStatsToDisk {
		if statsExisted, err = d.initPersistStatsColumnFamilyLocked(); err != nil {
			return nil, err
		}
	}
	span := seqnotime.NewMinAndMaxPreserveSeconds()
	for i := range families {
		span.Combine(families[i].Options.PreserveInternalTimeSeconds, families[i].Options.PrecludeLastLevelDataSeconds)
	}
	if ctx.isNewDB && span.IsEnabled() {
		if err := d.prepopulateSeqnoToTimeMappingLocked(span); err != nil {
			return nil, err
		}
	}
	for i := range families {
		f := &families[i]
		cfd := d.families.GetColumnFamilyByName(f.Name)
		if cfd == nil {
			if !o.CreateMissingColumnFamilies {
				return handles, rocksdb.InvalidArgument("Column family not found", f.Name)
			}
			d.mu.Unlock()
			h, err := d.createColumnFamily(&f.Options, f.Name)
			d.mu.Lock()
			if err != nil {
				return handles, err
			}
			handles = append(handles, h)
			continue
		}
		if f.Options.InplaceUpdateSupport {
			d.inplaceUpdates.Store(true)
		}
		h := db.NewColumnFamilyHandle(cfd, d)
		d.st.heldHandles[h] = true
		handles = append(handles, h)
		sv := &db.SuperVersionContext{}
		d.setSeqnoTimesForConfigLocked(cfd)
		cfd.InstallSuperVersion(sv, d)
		d.newThreadStatusCFInfo(cfd)
		d.enqueuePendingCompactionLocked(cfd)
		d.mu.Unlock()
		sv.Clean()
		d.mu.Lock()
	}
	if d.immutable.PersistStatsToDisk {
		return handles, d.openPersistStatsColumnFamilyLocked(statsExisted)
	}
	return handles, nil
}

func (d *DBImpl) logAndApplyForRecoveryLocked(ctx *recoveryContext) error {
	var groups []db.EditsForFamily
	for _, cfd := range ctx.order {
		groups = append(groups, db.EditsForFamily{CFD: cfd, Edits: ctx.edits[cfd]})
	}
	return d.versions.LogAndApplyEach(groups, &d.mu, d.dirs.DBDir())
}

// newDB writes the first MANIFEST and CURRENT.
func (d *DBImpl) newDB() error {
	e := &version.VersionEdit{}
	if d.immutable.WriteDBIDToManifest {
		d.dbID = d.generateDBID()
		e.SetDBId(d.dbID)
	}
	e.SetLogNumber(0)
	e.SetNextFile(2)
	e.SetLastSequence(0)
	logging.Info(d.infoLog, "Creating manifest 1 \n")
	name := filename.DescriptorFileName(d.dbName, 1)
	if d.fs.FileExists(name, rocksdb.NewIOOptions()) == nil {
		if err := d.fs.DeleteFile(name, rocksdb.NewIOOptions()); err != nil {
			return err
		}
	}
	fo := d.fs.OptimizeForManifestWrite(&d.fileOptions)
	if t := d.immutable.MetadataWriteTemperature; t != rocksdb.TemperatureUnknown {
		fo.Temperature = t
	}
	f, err := d.fs.NewWritableFile(name, fo)
	if err != nil {
		return err
	}
	f.SetPreallocationBlockSize(int(d.mutableDBOptions.Load().ManifestPreallocationSize))
	w := wal.NewWriter(file.NewWritableFileWriter(f, name, fo, d.writerParams()), wal.WriterOptions{})
	record, ok := e.EncodeTo(nil, 0)
	if !ok {
		err = rocksdb.Corruption("Unable to Encode VersionEdit:" + e.DebugString(true))
	} else {
		err = w.AddRecord(nil, record, 0)
	}
	if err == nil {
		err = file.SyncManifest(d.clock, d.stats, d.immutable.UseFsync, &defaultWriteOptions, w.File())
	}
	if e := w.Close(nil); err == nil {
		err = e
	}
	if err != nil {
		_ = d.fs.DeleteFile(name, rocksdb.NewIOOptions())
		return err
	}
	return file.SetCurrentFile(&defaultWriteOptions, d.fs, d.dbName, 1, d.immutable.MetadataWriteTemperature, d.dirs.DBDir())
}

func (d *DBImpl) generateDBID() string { return d.env.GenerateUniqueID() }

func (d *DBImpl) writerParams() *file.WriterOptions {
	return &file.WriterOptions{Clock: d.clock, Stats: d.stats, Listeners: d.immutable.Listeners}
}

func (d *DBImpl) walPreallocateBlockSize(writeBufferSize uint64) uint64 {
	n := writeBufferSize/10 + writeBufferSize
	if m := d.mutableDBOptions.Load().MaxTotalWALSize; m > 0 {
		n = min(n, m)
	}
	if m := d.immutable.DBWriteBufferSize; m > 0 {
		n = min(n, m)
	}
	if d.writeBufferManager.Enabled() {
		n = min(n, d.writeBufferManager.BufferSize())
	}
	return n
}

// logHandle is a new log that is not in use yet.
type logHandle struct{ writer *wal.Writer }

// predecessor describes the newest log, for the one after it.
func (d *DBImpl) predecessor() wal.PredecessorWALInfo {
	d.walMu.Lock()
	defer d.walMu.Unlock()
	n := len(d.walMu.logs)
	if n == 0 {
		return wal.PredecessorWALInfo{}
	}
	w := d.walMu.logs[n-1].writer
	return wal.PredecessorWALInfo{LogNumber: w.GetLogNumber(), SizeBytes: w.File().GetFileSize(),
		LastSeqnoRecorded: w.GetLastSeqnoRecorded(), Initialized: true}
}

// createWAL makes a log file, of an old one when recycle is its number, and
// writes its first records.
func (d *DBImpl) createWAL(number, recycle, preallocate uint64, predecessor wal.PredecessorWALInfo) (*logHandle, error) {
	w, err := d.createWALWriter(number, recycle, preallocate)
	if err != nil {
		return nil, err
	}
	return d.startWAL(w, predecessor)
}

// createWALWriter makes the file, and writes nothing.
func (d *DBImpl) createWALWriter(number, recycle, preallocate uint64) (*wal.Writer, error) {
	mo := d.mutableDBOptions.Load()
	fo := d.fs.OptimizeForLogWrite(&d.fileOptions, mo.WALBytesPerSync, mo.WritableFileMaxBufferSize)
	fo.WriteHint = rocksdb.WriteLifeShort
	if t := d.immutable.WALWriteTemperature; t != rocksdb.TemperatureUnknown {
		fo.Temperature = t
	}
	dir := d.immutable.GetWalDir()
	name := filename.LogFileName(dir, number)
	var f rocksdb.FSWritableFile
	var err error
	if recycle != 0 {
		logging.Info(d.infoLog, "reusing log %d from recycle list\n", recycle)
		f, err = d.fs.ReuseWritableFile(name, filename.LogFileName(dir, recycle), fo)
	} else {
		f, err = d.fs.NewWritableFile(name, fo)
	}
	if err != nil {
		return nil, err
	}
	f.SetPreallocationBlockSize(int(preallocate))
	params := d.writerParams()
	params.PerformDataVerification = d.immutable.ChecksumHandoffFileTypes.Contains(rocksdb.WalFile)
	params.BufferedDataWithChecksum = params.PerformDataVerification
	return wal.NewWriter(file.NewWritableFileWriter(f, name, fo, params), wal.WriterOptions{LogNumber: number,
		RecycleLogFiles: d.immutable.RecycleLogFileNum > 0, ManualFlush: d.immutable.ManualWALFlush,
		Compression: d.immutable.WALCompression, TrackAndVerifyWALs: d.immutable.TrackAndVerifyWALs}), nil
}

// startWAL writes the first records; a log where that fails is closed.
func (d *DBImpl) startWAL(w *wal.Writer, predecessor wal.PredecessorWALInfo) (*logHandle, error) {
	err := w.AddCompressionTypeRecord(nil)
	syncpoint.ProcessArg("DBImpl::StartWALFile:AfterCompressionTypeRecord", &err)
	if err == nil {
		err = w.MaybeAddPredecessorWALInfo(nil, &predecessor)
	}
	if err != nil {
		_ = w.Close(nil)
		return nil, err
	}
	return &logHandle{writer: w}, nil
}

// installLogLocked makes a new log the one that is written to. The caller
// leads the write thread, or is the only user.
func (d *DBImpl) installLogLocked(l *logHandle) error {
	d.walMu.Lock()
	defer d.walMu.Unlock()
	if n := len(d.walMu.logs); n > 0 {
		// What is buffered of the old log must not come after the new one.
		if err := d.walMu.logs[n-1].writer.WriteBuffer(nil); err != nil {
			return err
		}
	}
	if n := len(d.st.aliveLogs); n > 0 {
		d.st.aliveLogs[n-1].size += d.currentLogSize.Load()
	}
	d.currentLogSize.Store(0)
	number := l.writer.GetLogNumber()
	d.logNumber.Store(number)
	d.logEmpty = true
	d.walMu.dirSynced = false
	d.currentLog = l.writer
	d.walMu.logs = append(d.walMu.logs, logWriter{number: number, writer: l.writer})
	d.st.aliveLogs = append(d.st.aliveLogs, logFile{number: number})
	return nil
}

// writeOptionsFile persists the options in force.
func (d *DBImpl) writeOptionsFile() error {
	d.optionsMu.Lock()
	defer d.optionsMu.Unlock()
	return d.persistOptions()
}

// persistOptions is writeOptionsFile with optionsMu held.
func (d *DBImpl) persistOptions() error {
	d.mu.Lock()
	var names []string
	var cfs []rocksdb.ColumnFamilyOptions
	for _, cfd := range d.families.All() {
		if cfd.IsDropped() {
			continue
		}
		names = append(names, cfd.GetName())
		cfs = append(cfs, cfd.GetLatestCFOptions())
	}
	dbo := d.GetDBOptions()
	temp := filename.TempOptionsFileName(d.dbName, d.versions.NewFileNumber())
	number := d.versions.NewFileNumber()
	d.mu.Unlock()
	syncpoint.Process("DBImpl::WriteOptionsFile:1")
	syncpoint.Process("DBImpl::WriteOptionsFile:2")
	syncpoint.Process("DBImpl::WriteOptionsFile:PersistOptions")
	cfg := options.DefaultPersistConfig(&dbo)
	err := options.PersistRocksDBOptions(&cfg, &dbo, names, cfs, temp, d.fs)
	if err == nil {
		err = d.renameTempOptionsFile(temp, number)
	}
	if err != nil {
		logging.Warn(d.infoLog, "Unnable to persist options -- %v", err)
		_ = d.fs.DeleteFile(temp, rocksdb.NewIOOptions())
	}
	return err
}

// renameTempOptionsFile is upstream's DBImpl::RenameTempFileToOptionsFile.
func (d *DBImpl) renameTempOptionsFile(temp string, number uint64) error {
	name := filename.OptionsFileName(d.dbName, number)
	if err := d.fs.RenameFile(temp, name, rocksdb.NewIOOptions()); err != nil {
		return err
	}
	if dir := d.dirs.DBDir(); dir != nil {
		if err := dir.FsyncWithDirOptions(rocksdb.NewIOOptions(), rocksdb.DirFsyncOptions{Reason: rocksdb.DirFsyncFileRenamed, RenamedNewName: name}); err != nil {
			return err
		}
	}
	size, err := d.fs.GetFileSize(name, rocksdb.NewIOOptions())
	if err != nil {
		return err
	}
	d.mu.Lock()
	d.versions.SetOptionsFile(number, size)
	keepAll := d.st.deletesDisabled > 0
	background := d.immutable.AvoidUnnecessaryBlockingIO
	if background && !d.st.opened {
		keepAll = true // Open will have them deleted
	}
	d.mu.Unlock()
	if !keepAll {
		d.deleteObsoleteOptionsFiles(background)
	}
	return nil
}

// deleteObsoleteOptionsFiles keeps the two newest OPTIONS files.
// Upstream: DeleteOptionsFilesHelper.
func (d *DBImpl) deleteObsoleteOptionsFiles(background bool) {
	const keep = 2
	names, err := d.fs.GetChildren(d.dbName, db.ListingOptions())
	if err != nil {
		return
	}
	var numbers []uint64
	for _, n := range names {
		if f, ok := filename.ParseFileName(n, ""); ok && f.Type == rocksdb.OptionsFile {
			numbers = append(numbers, f.Number)
		}
	}
	sortUint64(numbers)
	if len(numbers) <= keep {
		return
	}
	numbers = numbers[:len(numbers)-keep]
	if background {
		d.mu.Lock()
		for _, n := range numbers {
			d.st.purge.files[n] = purgeFile{path: filename.OptionsFileName(d.dbName, n), dir: d.dbName, fileType: rocksdb.OptionsFile}
		}
		d.schedulePurgeLocked()
		d.mu.Unlock()
		return
	}
	for _, n := range numbers {
		name := filename.OptionsFileName(d.dbName, n)
		logging.Info(d.infoLog, "Deleting obsolete options file %s\n", name)
		_ = d.fs.DeleteFile(name, rocksdb.NewIOOptions())
	}
}
