// Port of db/db_impl/db_impl_open.cc (Recover, RecoverLogFiles,
// WriteLevel0TableForRecovery). Differs: a MANIFEST or CURRENT that is damaged
// never leads to files being deleted.

package dbimpl

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/rocksdb-go/rocksdb/db"
	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/db/rangedel"
	"github.com/rocksdb-go/rocksdb/db/version"
	"github.com/rocksdb-go/rocksdb/db/wal"
	"github.com/rocksdb-go/rocksdb/db/writebatch"
	"github.com/rocksdb-go/rocksdb/file"
	"github.com/rocksdb-go/rocksdb/file/filename"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/logging"
	"github.com/rocksdb-go/rocksdb/monitoring"
	"github.com/rocksdb-go/rocksdb/table"
	"github.com/rocksdb-go/rocksdb/table/internaliter"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
	"github.com/rocksdb-go/rocksdb/util"
)

func sortUint64(s []uint64) { slices.Sort(s) }

// recoverOptions are what kinds of opening ask of recovery.
type recoverOptions struct {
	readOnly               bool
	errorIfWALFileExists   bool
	errorIfDataExistsInWAL bool
	isRetry                bool // read from redundant copies
}

// recoverManifest reads the MANIFEST, and tells where the file system has another
// copy of what seems to be damaged.
func (d *DBImpl) recoverManifest(families []rocksdb.ColumnFamilyDescriptor, ro recoverOptions) (id string, err error) {
	var logStatus error
	id, err = d.versions.Recover(families, ro.readOnly, &db.RecoverOptions{IsRetry: ro.isRetry, LogStatus: &logStatus})
	if ro.isRetry {
		monitoring.RecordTick(d.stats, rocksdb.FileReadCorruptionRetryCount, 1)
		if logStatus == nil {
			monitoring.RecordTick(d.stats, rocksdb.FileReadCorruptionRetrySuccessCount, 1)
		}
		return id, err
	}
	// Tables that are not found may be named by records that were dropped.
	if (rocksdb.IsCorruption(logStatus) || rocksdb.IsNotFound(err) || rocksdb.IsCorruption(err)) &&
		rocksdb.CheckFSFeatureSupport(d.fs, rocksdb.VerifyAndReconstructRead) {
		d.canRetryOpen = true
		logging.Error(d.infoLog, "Possible corruption detected while replaying MANIFEST %s, %s. Will be retried.", statusText(logStatus), statusText(err))
	}
	return id, err
}

// recoverLocked brings the database back from MANIFEST and WALs. corrupted
// tells that a damaged WAL ended the replay, and recoveredSeq the next number.
func (d *DBImpl) recoverLocked(families []rocksdb.ColumnFamilyDescriptor, ro recoverOptions, ctx *recoveryContext) (recoveredSeq rocksdb.SequenceNumber, corrupted bool, err error) {
	var names []string // in the database's directory
	if ro.readOnly || d.immutable.BestEffortsRecovery {
		if names, err = d.fs.GetChildren(d.dbName, db.ListingOptions()); err != nil {
			if rocksdb.IsNotFound(err) || rocksdb.IsPathNotFound(err) {
				err = rocksdb.InvalidArgument(d.dbName, "does not exist (open for read only)").Wrap(err)
			}
			return 0, false, err
		}
	}
	if !ro.readOnly {
		if err := d.lockAndCheckExistence(names, ctx); err != nil {
			return 0, false, err
		}
	}
	var id string
	if d.immutable.BestEffortsRecovery {
		if ctx.isNewDB {
			names = append(names, filepath.Base(filename.DescriptorFileName(d.dbName, 1)))
		}
		id, _, err = d.versions.TryRecover(families, ro.readOnly, names)
	} else {
		id, err = d.recoverManifest(families, ro)
	}
	if err != nil {
		return 0, false, err
	}
	if id != "" {
		d.dbID = id
	}
	d.families = d.versions.GetColumnFamilySet()
	if !ro.readOnly {
		d.moveFilesDownLocked(ctx)
	}
	if err := d.setUpDBID(ro.readOnly, ctx); err != nil {
		return 0, false, err
	}
	logging.Info(d.infoLog, "DB ID: %s\n", d.dbID)
	if !ro.readOnly {
		if err := d.maybeUpdateNextFileNumber(ctx); err != nil {
			return 0, false, err
		}
		for _, cfd := range d.families.All() {
			if err := d.dirs.AddFamily(d.fs, cfd); err != nil {
				return 0, false, err
			}
		}
	}
	d.updateMaxInMemoryStateLocked()
	d.defaultHandle = db.NewColumnFamilyHandle(d.families.GetDefault(), d)
	if recoveredSeq, corrupted, err = d.recoverWALsLocked(ro, ctx); err == nil && ro.readOnly {
		err = d.findOptionsFile(names)
	}
	return recoveredSeq, corrupted, err
}

// findOptionsFile notes the newest of names that is an OPTIONS file; an opening
// that writes makes one of its own.
func (d *DBImpl) findOptionsFile(names []string) error {
	var number, size uint64
	for _, n := range names {
		if f, ok := filename.ParseFileName(n, ""); ok && f.Type == rocksdb.OptionsFile {
			number = max(number, f.Number)
		}
	}
	var err error
	if number > 0 {
		size, err = d.fs.GetFileSize(filename.OptionsFileName(d.dbName, number), rocksdb.NewIOOptions())
	}
	d.versions.SetOptionsFile(number, size)
	return err
}

// findManifest gives the path of some MANIFEST among names that is not empty:
// best-efforts recovery goes by that instead of CURRENT.
func (d *DBImpl) findManifest(names []string) (path string, err error) {
	for _, n := range names {
		if f, ok := filename.ParseFileName(n, ""); ok && f.Type == rocksdb.DescriptorFile {
			path = filename.DescriptorFileName(d.dbName, f.Number)
			size, err := d.fs.GetFileSize(path, rocksdb.NewIOOptions())
			if err != nil {
				return path, err
			}
			if size > 0 {
				return path, nil
			}
		}
	}
	return path, rocksdb.ErrNotFound
}

// lockAndCheckExistence makes the database if there is none. names are in its
// directory, as far as best-efforts recovery needs them.
func (d *DBImpl) lockAndCheckExistence(names []string, ctx *recoveryContext) error {
	if err := d.dirs.Set(d.fs, d.dbName, d.immutable.WALDir, d.immutable.DBPaths); err != nil {
		return err
	}
	lock, err := d.fs.LockFile(filename.LockFileName(d.dbName), rocksdb.NewIOOptions())
	if err != nil {
		return err
	}
	d.dbLock = lock
	current := filename.CurrentFileName(d.dbName)
	present := current
	if d.immutable.BestEffortsRecovery {
		present, err = d.findManifest(names)
	} else {
		err = d.fs.FileExists(current, rocksdb.NewIOOptions())
	}
	switch {
	case err == nil:
		if d.immutable.ErrorIfExists {
			return rocksdb.InvalidArgument(d.dbName, "exists (error_if_exists is true)")
		}
	case rocksdb.IsNotFound(err) || rocksdb.IsPathNotFound(err):
		if !d.immutable.CreateIfMissing {
			return rocksdb.InvalidArgument(current, "does not exist (create_if_missing is false)")
		}
		if !d.immutable.BestEffortsRecovery {
			if err := d.refuseOrphans(); err != nil {
				return err
			}
		}
		ctx.isNewDB = true
		if err := d.newDB(); err != nil {
			return err
		}
		present = current
	default:
		return err
	}
	return d.checkDirectIO(present)
}

// checkDirectIO refuses direct I/O that the file system cannot do, by opening a
// file that is there.
func (d *DBImpl) checkDirectIO(name string) error {
	o := d.fileOptions
	o.UseDirectReads = o.UseDirectReads || d.immutable.UseDirectIOForFlushAndCompaction || d.immutable.UseDirectIOForCompactionReads
	f, err := d.fs.NewRandomAccessFile(name, &o)
	if err == nil {
		return f.Close()
	}
	o.UseDirectReads = false
	if f, plain := d.fs.NewRandomAccessFile(name, &o); plain == nil {
		_ = f.Close()
		return rocksdb.InvalidArgument("Direct I/O is not supported by the specified DB.").Wrap(err)
	}
	return rocksdb.InvalidArgument("Found options incompatible with filesystem", err.Error())
}

// refuseOrphans keeps a directory that holds a database without CURRENT from
// being taken for an empty one, whose files would then be deleted.
func (d *DBImpl) refuseOrphans() error {
	names, err := d.fs.GetChildren(d.dbName, db.ListingOptions())
	if err != nil {
		return nil
	}
	var manifest, table string
	for _, n := range names {
		switch f, ok := filename.ParseFileName(n, ""); {
		case ok && f.Type == rocksdb.DescriptorFile:
			manifest = n
		case ok && f.Type == rocksdb.TableFile:
			table = n
		}
	}
	if manifest != "" && table != "" {
		return rocksdb.Corruption("CURRENT file is missing, but " + manifest + " and " + table + " exist").In(filename.CurrentFileName(d.dbName))
	}
	return nil
}

// moveFilesDownLocked fills the last levels, as dynamic level bytes want them,
// when a database was written without.
func (d *DBImpl) moveFilesDownLocked(ctx *recoveryContext) {
	for _, cfd := range d.families.All() {
		io := cfd.IOptions()
		if io.CompactionStyle != rocksdb.CompactionStyleLevel || !io.LevelCompactionDynamicLevelBytes ||
			cfd.GetLatestMutableCFOptions().DisableAutoCompactions {
			continue
		}
		to := io.NumLevels - 1
		// With new data kept out of the last level, a compaction from there would go on
		// for ever.
		if io.AllowIngestBehind || io.CFAllowIngestBehind || cfd.GetLatestMutableCFOptions().PrecludeLastLevelDataSeconds > 0 {
			to--
		}
		vs := cfd.Current().StorageInfo()
		for from := to; from > 0; from-- {
			files := vs.LevelFiles(from)
			if len(files) == 0 {
				continue
			}
			if from < to {
				logging.Warn(d.infoLog, "[%s] Moving %d files from from_level-%d to from_level-%d", cfd.GetName(), len(files), from, to)
				e := &version.VersionEdit{}
				e.SetColumnFamily(cfd.GetID())
				for _, f := range files {
					e.DeleteFile(from, f.FD.GetNumber())
					e.AddFile(to, f.CloneForMove())
				}
				ctx.add(cfd, e)
			}
			to--
		}
	}
}

// setUpDBID finds or makes the database's unique id.
func (d *DBImpl) setUpDBID(readOnly bool, ctx *recoveryContext) error {
	name := filename.IdentityFileName(d.dbName)
	fromFile := ""
	if data, err := file.ReadWhole(d.fs, name); err == nil {
		fromFile = strings.TrimRight(string(data), "\n")
	}
	if d.dbID == "" {
		if d.dbID = fromFile; d.dbID == "" && !readOnly {
			d.dbID = d.generateDBID()
		}
		if !readOnly && d.immutable.WriteDBIDToManifest && !ctx.isNewDB {
			e := &version.VersionEdit{}
			e.SetDBId(d.dbID)
			e.SetColumnFamily(0)
			ctx.add(d.families.GetDefault(), e)
		}
	} else if d.optimizeManifestForRecovery() {
		syncpoint.Process("DBImpl::Recovery:SkippedNoopEdit:SetupDBId")
	}
	d.versions.SetDBID(d.dbID)
	if readOnly || !d.immutable.WriteIdentityFile || fromFile == d.dbID {
		return nil
	}
	return file.SetIdentityFile(&defaultWriteOptions, d.env, d.dbName, d.immutable.MetadataWriteTemperature, d.dbID)
}

// optimizeManifestForRecovery says that recovery writes no edits that change
// nothing. Best-efforts recovery needs some edit: it makes the new MANIFEST.
func (d *DBImpl) optimizeManifestForRecovery() bool {
	return d.mutableDBOptions.Load().OptimizeManifestForRecovery && !d.immutable.BestEffortsRecovery
}

// maybeUpdateNextFileNumber passes over numbers of files in the directories, so
// that a file left by a crash is never written over.
func (d *DBImpl) maybeUpdateNextFileNumber(ctx *recoveryContext) error {
	next := d.versions.CurrentNextFileNumber()
	largest := next
	beyond := false
	for _, dir := range d.allDBPaths() {
		names, err := d.fs.GetChildren(dir, db.ListingOptions())
		if err != nil {
			if rocksdb.IsNotFound(err) || rocksdb.IsPathNotFound(err) {
				continue
			}
			return err
		}
		for _, n := range names {
			if f, ok := filename.ParseFileName(n, ""); ok {
				largest = max(largest, f.Number)
				beyond = beyond || f.Number >= next
			}
		}
	}
	if d.optimizeManifestForRecovery() && !beyond {
		syncpoint.Process("DBImpl::Recovery:SkippedNoopEdit:NextFileNumber")
		return nil
	}
	// One number is passed over even without such files, as upstream does.
	d.versions.MarkFileNumberUsed(largest)
	e := &version.VersionEdit{}
	e.SetNextFile(d.versions.CurrentNextFileNumber())
	ctx.add(d.families.GetDefault(), e)
	return nil
}

// listWALs gives the numbers of the WALs in the WAL directory, rising.
func (d *DBImpl) listWALs() ([]uint64, error) {
	dir := d.immutable.GetWalDir()
	names, err := d.fs.GetChildren(dir, db.ListingOptions())
	if err != nil {
		if rocksdb.IsNotFound(err) || rocksdb.IsPathNotFound(err) {
			return nil, rocksdb.InvalidArgument("wal_dir not found", dir)
		}
		return nil, err
	}
	var numbers []uint64
	for _, n := range names {
		if f, ok := filename.ParseFileName(n, ""); ok && f.Type == rocksdb.WalFile {
			numbers = append(numbers, f.Number)
		}
	}
	sortUint64(numbers)
	return numbers, nil
}

// recoverWALsLocked is upstream's DBImpl::RecoverLogFiles.
func (d *DBImpl) recoverWALsLocked(ro recoverOptions, ctx *recoveryContext) (recoveredSeq rocksdb.SequenceNumber, corrupted bool, err error) {
	if d.immutable.BestEffortsRecovery {
		// Logs may continue a state that is newer than the recovered one.
		return 0, false, d.checkTrackedWALs("", nil, ro.readOnly, ctx)
	}
	numbers, err := d.listWALs()
	if err != nil {
		return 0, false, err
	}
	dir := d.immutable.GetWalDir()
	if ctx.isNewDB && len(numbers) > 0 {
		return 0, false, rocksdb.Corruption("While creating a new Db, wal_dir contains existing log file: ", filename.LogFileName(dir, numbers[0]))
	}
	if d.immutable.TrackAndVerifyWALs && !ctx.isNewDB && len(numbers) == 0 {
		return 0, false, rocksdb.Corruption("Opening an existing DB with no WAL files")
	}
	if err := d.checkTrackedWALs(dir, numbers, ro.readOnly, ctx); err != nil {
		return 0, false, err
	}
	if ro.errorIfWALFileExists || ro.errorIfDataExistsInWAL {
		for _, n := range numbers {
			size, err := d.fs.GetFileSize(filename.LogFileName(dir, n), rocksdb.NewIOOptions())
			if err != nil {
				return 0, false, err
			}
			if size > 0 {
				return 0, false, rocksdb.Corruption("The db was opened in readonly mode with error_if_wal_file_exists flag but a non-empty WAL file already exists").
					In(filename.LogFileName(dir, n))
			}
		}
	}
	if len(numbers) == 0 {
		return 0, false, nil
	}
	r := &walRecovery{d: d, readOnly: ro.readOnly, ctx: ctx, next: dbformat.MaxSequenceNumber, numbers: numbers}
	if err := r.run(); err != nil {
		return 0, false, err
	}
	return r.next, r.corrupted, nil
}

func (d *DBImpl) checkTrackedWALs(dir string, numbers []uint64, readOnly bool, ctx *recoveryContext) error {
	set := d.versions.GetWalSet()
	if d.immutable.TrackAndVerifyWALsInManifest {
		if d.immutable.BestEffortsRecovery {
			return nil
		}
		paths := map[uint64]string{}
		for _, n := range numbers {
			paths[n] = filename.LogFileName(dir, n)
		}
		size := func(path string) (uint64, error) { return d.fs.GetFileSize(path, rocksdb.NewIOOptions()) }
		return set.CheckWals(size, paths)
	}
	if wals := set.GetWals(); len(wals) > 0 && !readOnly {
		e := &version.VersionEdit{}
		e.DeleteWalsBefore(wals[len(wals)-1].GetLogNumber() + 1)
		ctx.add(d.families.GetDefault(), e)
	}
	return nil
}

// walRecovery replays WALs into memtables.
type walRecovery struct {
	d        *DBImpl
	readOnly bool
	ctx      *recoveryContext
	numbers  []uint64

	jobID     int
	minNumber uint64
	edits     map[*db.ColumnFamilyData]*version.VersionEdit
	next      rocksdb.SequenceNumber // of the next entry; Max before the first
	inserter  db.MemTableInserter
	batch     writebatch.WriteBatch
	filtered  writebatch.WriteBatch // what the WAL filter puts in its place

	stopped         bool // at a damaged record: later ones are not replayed
	stoppedByFilter bool // at a record where the WAL filter said so
	corrupted       bool
	corruptedNumber uint64
	flushed         bool // something went to L0
	predecessor     wal.PredecessorWALInfo

	// Of the log being read.
	status    error
	oldRecord bool
	badNumber uint64
}

// Corruption implements wal.Reporter.
func (r *walRecovery) Corruption(bytes int, err error, logNumber uint64) {
	logging.Warn(r.d.infoLog, "%sdropping %d bytes; %v", map[bool]string{true: "(ignoring error) "}[r.ignores()], bytes, err)
	if logNumber != wal.NoLogNumber {
		r.badNumber = logNumber
	}
	if r.status == nil && !r.ignores() {
		r.status = err
	}
}

// OldLogRecord implements wal.Reporter.
func (r *walRecovery) OldLogRecord(int) { r.oldRecord = true }

// ignores is upstream's DBImpl::MaybeIgnoreError.
func (r *walRecovery) ignores() bool {
	return !r.d.immutable.ParanoidChecks || r.d.immutable.WALRecoveryMode == rocksdb.SkipAnyCorruptedRecords
}

// run is upstream's DBImpl::ProcessLogFiles and DBImpl::SetupLogFilesRecovery.
func (r *walRecovery) run() error {
	d := r.d
	r.jobID = int(d.nextJobID.Add(1))
	r.edits = map[*db.ColumnFamilyData]*version.VersionEdit{}
	for _, cfd := range d.families.All() {
		e := &version.VersionEdit{}
		e.SetColumnFamily(cfd.GetID())
		r.edits[cfd] = e
	}
	d.eventLogger.Log().Add("job", r.jobID).Add("event", "recovery_started").Add("wal_files", r.numbers).End()
	r.tellFilter()
	r.minNumber = max(d.minLogNumberToKeep(), d.versions.MinLogNumberWithUnflushedData(nil))
	err := r.replay()
	if err == nil {
		err = r.checkConsistency()
	}
	if err == nil {
		err = r.finish()
	}
	event := "recovery_finished"
	if err != nil {
		event = "recovery_failed"
	}
	d.eventLogger.Log().Add("job", r.jobID).Add("event", event).Add("status", statusText(err)).End()
	return err
}

func statusText(err error) string {
	if err == nil {
		return "OK"
	}
	return err.Error()
}

// replay is upstream's DBImpl::ProcessLogFile and
// DBImpl::SetupLogFileProcessing.
func (r *walRecovery) replay() error {
	for _, n := range r.numbers {
		before := r.next
		if err := r.replayLog(n); err != nil {
			return err
		}
		if err := checkNotSetBack(before, r.next); err != nil {
			return err
		}
	}
	return nil
}

// checkNotSetBack is upstream's DBImpl::CheckSeqnoNotSetBackDuringRecovery.
func checkNotSetBack(before, now rocksdb.SequenceNumber) error {
	if before == dbformat.MaxSequenceNumber || before <= now {
		return nil
	}
	return rocksdb.Corruptionf("Sequence number is being set backwards during recovery, this is likely a software bug or a data corruption. "+
		"Prev next seqno: %d , current next seqno: %d", before, now)
}

// replayLog is upstream's DBImpl::InitializeLogReader and
// DBImpl::FinishLogFileProcessing.
func (r *walRecovery) replayLog(number uint64) error {
	d := r.d
	if number < r.minNumber {
		logging.Info(d.infoLog, "Skipping log #%d since it is older than min log to keep #%d", number, r.minNumber)
		return nil
	}
	d.versions.MarkFileNumberUsed(number)
	mode := d.immutable.WALRecoveryMode
	logging.Info(d.infoLog, "Recovering log #%d mode %d", number, mode)
	r.status, r.oldRecord, r.badNumber = nil, false, number
	path := filename.LogFileName(d.immutable.GetWalDir(), number)
	if r.stoppedByFilter {
		r.dropLog(path)
		return nil
	}
	f, err := file.CreateSequentialFileReader(d.fs, path, d.fs.OptimizeForLogRead(&d.fileOptions), &file.SequentialReaderOptions{ReadaheadSize: int(d.immutable.LogReadaheadSize)})
	if err != nil {
		if r.d.immutable.ParanoidChecks {
			return err
		}
		logging.Warn(d.infoLog, "Ignoring error %v", err)
		return nil
	}
	reader := wal.NewReader(f, wal.ReaderOptions{InfoLog: d.infoLog, Reporter: r, Checksum: true, RecordChecksum: true, LogNumber: number,
		TrackAndVerifyWALs: d.immutable.TrackAndVerifyWALs, StopReplayForCorruption: r.stopped,
		MinWALNumberToKeep: r.minNumber, ObservedPredecessor: r.predecessor})
	defer reader.Close()
	var lastSeq rocksdb.SequenceNumber
	syncpoint.Process("DBImpl::RecoverLogFiles:BeforeReadWal")
	for !r.stoppedByFilter {
		record, ok := reader.ReadRecord(mode)
		if !ok || r.status != nil {
			break
		}
		before := r.next
		if err := r.replayRecord(number, record, path, reader, &lastSeq); err != nil {
			return err
		}
		if err := checkNotSetBack(before, r.next); err != nil {
			return err
		}
		if r.stopped {
			break
		}
	}
	logging.Info(d.infoLog, "Recovered to log #%d next seq #%d", number, r.next)
	if r.status == nil {
		size, err := d.fs.GetFileSize(path, rocksdb.NewIOOptions())
		if err != nil {
			return err
		}
		r.predecessor = wal.PredecessorWALInfo{LogNumber: number, SizeBytes: size, LastSeqnoRecorded: lastSeq, Initialized: true}
		syncpoint.ProcessArg("DBImpl::UpdatePredecessorWALInfo", &r.predecessor)
	}
	if r.status != nil || r.oldRecord {
		if err := r.handleDamage(number); err != nil {
			return err
		}
	}
	var last rocksdb.SequenceNumber
	if r.next != dbformat.MaxSequenceNumber {
		last = r.next - 1
	}
	d.publishReplayedLocked(last)
	return nil
}

// publishReplayedLocked makes what was replayed visible, the newest with the number
// last. Memtables that are full are not flushed on their own here.
func (d *DBImpl) publishReplayedLocked(last rocksdb.SequenceNumber) {
	var free = []*memtableT{}
	d.flushScheduler.Clear(&free)
	d.trimScheduler.Clear(&free)
	freeMemtables(free)
	if d.versions.LastSequence() <= last {
		d.versions.SetAllSequences(last)
	}
}

// replayRecord applies one batch. Damage goes to r.Corruption; an error ends
// the recovery.
// Upstream: DBImpl::ProcessLogRecord, DBImpl::InitializeWriteBatchForLogRecord,
// DBImpl::InsertLogRecordToMemtable.
func (r *walRecovery) replayRecord(number uint64, record []byte, path string, reader *wal.Reader, lastSeq *rocksdb.SequenceNumber) error {
	offset := reader.LastRecordOffset()
	if len(record) < writebatch.HeaderSize {
		r.Corruption(len(record), rocksdb.Corruption("log record too small").InAt(path, offset), wal.NoLogNumber)
		return nil
	}
	if err := r.batch.SetContents(record); err != nil {
		return err
	}
	seq := r.batch.Sequence()
	*lastSeq = seq
	if seq > dbformat.MaxSequenceNumber {
		r.Corruption(len(record), rocksdb.Corruptionf("sequence %d is too large", seq).InAt(path, offset), wal.NoLogNumber)
		return nil
	}
	d := r.d
	if d.immutable.WALRecoveryMode == rocksdb.PointInTimeRecovery && seq == r.next {
		// The numbers go on: what was damaged was never acknowledged.
		r.stopped = false
	}
	if r.stopped {
		r.dropLog(path)
		return nil
	}
	batch, err := r.protectedBatch(reader, path, offset)
	if err != nil {
		return err
	}
	if batch, err = r.filter(number, path, batch); batch == nil {
		return err
	}
	if err := db.CheckRangeDeletions(batch, d.families); err != nil {
		r.Corruption(len(record), rocksdb.Corruption(rocksdb.AsStatus(err).Message).InAt(path, offset), wal.NoLogNumber)
		return nil
	}
	in := &r.inserter
	in.Reset()
	in.Families = d.families
	in.FlushScheduler, in.TrimHistoryScheduler = &d.flushScheduler, &d.trimScheduler
	in.IgnoreMissingColumnFamilies = true
	in.RecoveringLogNumber = number
	in.Sequence = seq
	err = in.Insert(batch)
	r.next = in.Sequence
	if err != nil {
		if rocksdb.IsNotSupported(err) {
			return err
		}
		if !d.immutable.ParanoidChecks {
			logging.Warn(d.infoLog, "Ignoring error %v", err)
			return nil
		}
		r.Corruption(len(record), rocksdb.AsStatus(err).InAt(path, offset), wal.NoLogNumber)
		return nil
	}
	if in.HasValidWrites && !r.readOnly {
		if err := r.flushFullMemtables(); err != nil {
			return err
		}
		return r.enforceWriteBufferManager()
	}
	return nil
}

// dropLog tells that the rest of a log is not replayed.
func (r *walRecovery) dropLog(path string) {
	if size, err := r.d.fs.GetFileSize(path, rocksdb.NewIOOptions()); err == nil {
		logging.Warn(r.d.infoLog, "%s: dropping %d bytes", path, size)
	}
}

// protectedBatch gives the batch of the record in r.batch, with the timestamps
// that the families have now and with checksums of its entries. These are of
// what the reader gave: the record's own checksum is compared once they are there.
func (r *walRecovery) protectedBatch(reader *wal.Reader, path string, offset uint64) (*writebatch.WriteBatch, error) {
	batch := &r.batch
	sum := reader.RecordChecksum()
	rebuilt, err := r.reconcileTimestamps(reader)
	if err != nil {
		return nil, err
	}
	if rebuilt != nil {
		batch = rebuilt
	}
	syncpoint.ProcessArg("DBImpl::RecoverLogFiles:BeforeUpdateProtectionInfo:batch", batch)
	syncpoint.ProcessArg("DBImpl::RecoverLogFiles:BeforeUpdateProtectionInfo:checksum", &sum)
	if err := batch.UpdateProtectionInfo(8); err != nil {
		return nil, rocksdb.AsStatus(err).InAt(path, offset)
	}
	if rebuilt == nil && util.ComputeXXH3(batch.Data()) != sum {
		return nil, rocksdb.Corruption("Write batch content corrupted.").InAt(path, offset)
	}
	return batch, nil
}

// reconcileTimestamps gives the batch to use instead of the one read, where
// families had timestamps of other sizes when it was written; nil otherwise.
func (r *walRecovery) reconcileTimestamps(reader *wal.Reader) (*writebatch.WriteBatch, error) {
	recorded := reader.GetRecordedTimestampSize()
	if len(recorded) == 0 && len(r.d.families.TimestampSizesForRecord()) == 0 {
		return nil, nil
	}
	return writebatch.HandleWriteBatchTimestampSizeDifference(&r.batch, r.d.runningTimestampSizes(), recorded, writebatch.ReconcileInconsistency)
}

// runningTimestampSizes gives the size of timestamps of each family.
func (d *DBImpl) runningTimestampSizes() map[uint32]int {
	sizes := map[uint32]int{}
	for _, cfd := range d.families.All() {
		sizes[cfd.GetID()] = cfd.UserComparator().TimestampSize()
	}
	return sizes
}

// enforceWriteBufferManager flushes all memtables with data when the shared
// budget of memory is used up.
func (r *walRecovery) enforceWriteBufferManager() error {
	d := r.d
	if !d.immutable.EnforceWriteBufferManagerDuringRecovery || !d.writeBufferManager.ShouldFlush() {
		return nil
	}
	for _, cfd := range d.families.All() {
		if cfd.IsDropped() || cfd.Mem() == nil || cfd.Mem().IsEmpty() {
			continue
		}
		if err := r.writeLevel0Table(cfd); err != nil {
			return err
		}
		cfd.CreateNewMemtable(r.next - 1)
	}
	return nil
}

// flushFullMemtables is upstream's DBImpl::MaybeWriteLevel0TableForRecovery.
func (r *walRecovery) flushFullMemtables() error {
	d := r.d
	for {
		var free []*memtableT
		cfd := d.flushScheduler.TakeNextColumnFamily(&free)
		if cfd == nil {
			return nil
		}
		cfd.UnrefLocked(&free)
		freeMemtables(free)
		if err := r.writeLevel0Table(cfd); err != nil {
			return err
		}
		cfd.CreateNewMemtable(r.next - 1)
	}
}

// handleDamage decides, by the recovery mode, what a damaged log means.
// Upstream: DBImpl::HandleNonOkStatusOrOldLogRecord,
// DBImpl::MaybeReviseStopReplayForCorruption.
func (r *walRecovery) handleDamage(number uint64) error {
	err := r.status
	if err != nil && rocksdb.IsNotSupported(err) {
		return err
	}
	switch r.d.immutable.WALRecoveryMode {
	case rocksdb.SkipAnyCorruptedRecords:
		return nil
	case rocksdb.PointInTimeRecovery:
		if err != nil && rocksdb.IsIOError(err) {
			logging.Error(r.d.infoLog, "IOError during point-in-time reading log #%d seq #%d. %v. This likely mean loss of synced WAL, thus recovery fails.",
				number, r.next, err)
			return err
		}
		r.oldRecord = false
		r.stopped = true
		r.corruptedNumber = r.badNumber
		r.corrupted = true
		logging.Info(r.d.infoLog, "Point in time recovered to log #%d seq #%d", number, r.next)
		return nil
	}
	return err
}

// checkConsistency refuses a recovery that would leave families at different
// points in time.
// Upstream: DBImpl::MaybeHandleStopReplayForCorruptionForInconsistency.
func (r *walRecovery) checkConsistency() error {
	mode := r.d.immutable.WALRecoveryMode
	if !r.stopped || mode != rocksdb.PointInTimeRecovery && mode != rocksdb.TolerateCorruptedTailRecords {
		return nil
	}
	for _, cfd := range r.d.families.All() {
		if cfd.GetLogNumber() > r.corruptedNumber && cfd.Current().GetSstFilesSize() > 0 {
			return rocksdb.Corruption("Column family inconsistency: SST file contains data beyond the point of corruption in CF " + cfd.GetName())
		}
	}
	return nil
}

// finish flushes what was replayed, or keeps the logs.
// Upstream: DBImpl::MaybeFlushFinalMemtableOrRestoreActiveLogFiles,
// DBImpl::FinishLogFilesRecovery.
func (r *walRecovery) finish() error {
	d := r.d
	last := r.numbers[len(r.numbers)-1]
	dataSeen := false
	if !r.readOnly {
		for _, cfd := range d.families.All() {
			e := r.edits[cfd]
			if cfd.GetLogNumber() > last {
				continue
			}
			syncpoint.Process("DBImpl::RecoverLogFiles:BeforeFlushFinalMemtable")
			if cfd.Mem().GetFirstSequenceNumber() != 0 {
				if r.flushed || !d.immutable.AvoidFlushDuringRecovery {
					if err := r.writeLevel0Table(cfd); err != nil {
						return err
					}
					cfd.CreateNewMemtable(d.versions.LastSequence())
				}
				dataSeen = true
			}
			if r.flushed || cfd.Mem().GetFirstSequenceNumber() == 0 {
				e.SetLogNumber(last + 1)
			}
		}
		d.versions.MarkFileNumberUsed(last + 1)
		optimize := d.optimizeManifestForRecovery()
		for _, cfd := range d.families.All() {
			if optimize && !r.edits[cfd].ShouldEmitPerColumnFamilyRecoveryEdit(cfd.GetLogNumber()) {
				syncpoint.Process("DBImpl::Recovery:SkippedNoopEdit:PerCF")
				continue
			}
			r.ctx.add(cfd, r.edits[cfd])
		}
		if r.flushed || !dataSeen {
			r.addWALDeletion(last+1, optimize)
		}
	}
	if dataSeen && !r.flushed {
		return r.restoreAliveLogs()
	}
	if !r.readOnly {
		// Give preallocated space back.
		_, _ = d.logSizeAndTruncate(last, true)
	}
	return nil
}

// addWALDeletion says that logs before number are of no more use.
func (r *walRecovery) addWALDeletion(number uint64, optimize bool) {
	d := r.d
	e := &version.VersionEdit{}
	emit := !optimize
	if d.immutable.TrackAndVerifyWALsInManifest && number > d.versions.GetWalSet().GetMinWalNumberToKeep() {
		e.DeleteWalsBefore(number)
		emit = true
	}
	if !d.immutable.Allow2PC && (!optimize || number > d.versions.MinLogNumberToKeep()) {
		e.SetMinLogNumberToKeep(number)
		emit = true
	}
	if !emit {
		syncpoint.Process("DBImpl::Recovery:SkippedNoopEdit:WalDeletion")
		return
	}
	r.ctx.add(d.families.GetDefault(), e)
}

func (d *DBImpl) logSizeAndTruncate(number uint64, truncate bool) (uint64, error) {
	path := filename.LogFileName(d.immutable.GetWalDir(), number)
	size, err := d.fs.GetFileSize(path, rocksdb.NewIOOptions())
	syncpoint.ProcessArg("DBImpl::GetLogSizeAndMaybeTruncate:0", &err)
	if err != nil || !truncate {
		return size, err
	}
	mo := d.mutableDBOptions.Load()
	fo := d.fs.OptimizeForLogWrite(&d.fileOptions, mo.WALBytesPerSync, mo.WritableFileMaxBufferSize)
	f, terr := d.fs.ReopenWritableFile(path, fo)
	if terr == nil {
		terr = f.Truncate(size, rocksdb.NewIOOptions())
		if e := f.Close(nil); terr == nil {
			terr = e
		}
	}
	if terr != nil && !rocksdb.IsNotSupported(terr) {
		logging.Warn(d.infoLog, "Failed to truncate log #%d: %v", number, terr)
	}
	return size, nil
}

// restoreAliveLogs is upstream's DBImpl::RestoreAliveLogFiles.
func (r *walRecovery) restoreAliveLogs() error {
	d := r.d
	d.totalLogSize.Store(0)
	d.logEmpty = false
	least := d.versions.MinLogNumberWithUnflushedData(nil)
	for i, n := range r.numbers {
		if n < least {
			continue
		}
		size, err := d.logSizeAndTruncate(n, i == len(r.numbers)-1)
		if err != nil {
			return err
		}
		d.totalLogSize.Add(size)
		d.st.aliveLogs = append(d.st.aliveLogs, logFile{number: n, size: size})
	}
	return nil
}

// writeLevel0Table flushes cfd's active memtable into an L0 table.
// Upstream: DBImpl::WriteLevel0TableForRecovery.
func (r *walRecovery) writeLevel0Table(cfd *db.ColumnFamilyData) error {
	d := r.d
	r.flushed = true
	mem := cfd.Mem()
	meta := version.NewFileMetaData()
	meta.FD.Set(d.versions.NewFileNumber(), 0, 0, dbformat.MaxSequenceNumber, 0)
	meta.EpochNumber = cfd.NewEpochNumber()
	pending := d.captureOutputsLocked()
	defer d.releaseOutputsLocked(pending)

	ro := rocksdb.DefaultReadOptions()
	ro.TotalOrderSeek = true
	ro.IOActivity = rocksdb.IOActivityDBOpen
	strips := cfd.UserComparator().TimestampSize() > 0 && !cfd.IOptions().PersistUserDefinedTimestamps
	var points internaliter.InternalIterator
	var t *rangedel.FragmentedRangeTombstoneIterator
	var err error
	if strips {
		points = mem.NewTimestampStrippingIterator(&ro, nil, nil)
		t, err = mem.NewTimestampStrippingRangeTombstoneIterator(&ro, dbformat.MaxSequenceNumber)
	} else {
		points = mem.NewIterator(&ro, nil, nil)
		t, err = mem.NewRangeTombstoneIterator(&ro, dbformat.MaxSequenceNumber, false)
	}
	iter := table.NewMergingIterator(cfd.InternalComparator(), []internaliter.InternalIterator{points}, false)
	defer iter.Close()
	if err != nil {
		return err
	}
	var tombstones []*rangedel.FragmentedRangeTombstoneIterator
	if t != nil {
		tombstones = append(tombstones, t)
	}
	logging.Debug(d.infoLog, "[%s] [WriteLevel0TableForRecovery] Level-0 table #%d: started", cfd.GetName(), meta.FD.GetNumber())
	seconds, err := d.clock.GetCurrentTime()
	if err != nil {
		seconds = 0
	}
	now := uint64(seconds)
	meta.OldestAncesterTime = now
	meta.FileCreationTime = now
	mo := cfd.GetLatestMutableCFOptions()
	meta.Temperature = mo.DefaultWriteTemperature
	var props rocksdb.TableProperties
	stats := db.CompactionStats{Reason: rocksdb.CompactionReasonFlush, Count: 1}
	start := d.clock.NowMicros()
	fo := d.compactionFileOpts
	blobs := db.BlobFileArgs{NewFileNumber: d.versions.NewFileNumber, Reason: rocksdb.BlobFileCreationReasonRecovery, Callback: d.blobCallback()}
	base := cfd.Current()
	base.Ref()
	d.mu.Unlock()
	args := &db.BuildTableArgs{
		DBName: d.dbName, DBOptions: d.immutable, CFD: cfd, FileOptions: fo, MutableCFOptions: mo,
		Iter: iter, RangeTombstones: tombstones, Meta: meta, Compression: db.GetCompressionFlush(cfd.IOptions(), mo),
		Reason: rocksdb.TableFileCreationReasonRecovery, EventLogger: d.eventLogger, JobID: r.jobID,
		OldestKeyTime: now, CurrentTime: now, DBID: d.dbID, SessionID: d.sessionID, Priority: rocksdb.IOHigh,
		Properties: &props, Stats: &stats, ReadOptions: &ro, BlobFiles: &blobs,
		RangeSize: func(start, end []byte) uint64 { return base.CoveredSize(&ro, start, end) },
	}
	err = db.BuildTable(args)
	if err == nil {
		err = args.VerifyCounts(mem.NumEntries())
	}
	if err == nil && meta.FD.GetFileSize() > 0 {
		// The MANIFEST is synced when it names the table; by then the directory
		// has to have it.
		err = d.dirs.DataDir(cfd, int(meta.FD.GetPathId())).FsyncWithDirOptions(rocksdb.NewIOOptions(), rocksdb.DirFsyncOptions{Reason: rocksdb.DirFsyncNewFileSynced})
	}
	d.mu.Lock()
	base.Unref()
	logging.Debug(d.infoLog, "[%s] [WriteLevel0TableForRecovery] Level-0 table #%d: %d bytes %s", cfd.GetName(), meta.FD.GetNumber(), meta.FD.GetFileSize(), statusText(err))
	if err != nil {
		return err
	}
	if meta.FD.GetFileSize() > 0 {
		r.edits[cfd].AddFile(0, meta)
		for _, a := range blobs.Additions {
			r.edits[cfd].AddBlobFile(a)
		}
		if newest := mem.GetNewestUDT(); strips && newest != nil {
			if low := cfd.GetFullHistoryTsLow(); len(low) == 0 || cfd.UserComparator().CompareTimestamp(newest, low) >= 0 {
				r.edits[cfd].SetFullHistoryTsLow(string(db.FullHistoryTsLowFromCutoff(newest)))
			}
		}
		stats.BytesWritten = meta.FD.GetFileSize()
		stats.NumOutputFiles = 1
	}
	stats.CountBlobFiles(blobs.Additions)
	stats.Micros = d.clock.NowMicros() - start
	cfd.InternalStats().AddCompactionStats(0, rocksdb.UserPriority, &stats)
	cfd.InternalStats().AddCFStats(db.BytesFlushed, stats.BytesWritten+stats.BytesWrittenBlob)
	return nil
}
