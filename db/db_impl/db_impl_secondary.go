// Port of db/db_impl/db_impl_secondary.{h,cc}. Differs: a mode of DBImpl. Logs are
// listed before the MANIFEST is read, so that none goes missing in between whose
// data is in no table yet; a memtable whose log the MANIFEST says is not needed any
// more goes, for tables may have newer data; there are no snapshots.

package dbimpl

import (
	"maps"
	"slices"

	"github.com/rocksdb-go/rocksdb/db"
	"github.com/rocksdb-go/rocksdb/db/tablecache"
	"github.com/rocksdb-go/rocksdb/db/wal"
	"github.com/rocksdb-go/rocksdb/db/writebatch"
	"github.com/rocksdb-go/rocksdb/env"
	"github.com/rocksdb-go/rocksdb/file"
	"github.com/rocksdb-go/rocksdb/file/filename"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/logging"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

var errSecondary = rocksdb.NotSupported("Not supported operation in secondary mode.")

// secondary is what a secondary instance has of its own; mu protects it.
//
// Invariant: the entries of one memtable are of one log.
type secondary struct {
	versions *db.ReactiveVersionSet
	logs     map[uint64]*secondaryLog
	// logOf is, by family, the log that the active memtable's entries are of.
	logOf    map[*db.ColumnFamilyData]uint64
	inserter db.MemTableInserter
	batch    writebatch.WriteBatch
}

// secondaryLog is a log of the primary. It stays open, and so readable, when the
// primary deletes it.
type secondaryLog struct {
	number uint64
	path   string
	reader *wal.FragmentBufferedReader
	last   rocksdb.SequenceNumber // of the entries replayed
	damage error
}

// Corruption implements wal.Reporter.
func (l *secondaryLog) Corruption(_ int, err error, _ uint64) {
	if l.damage == nil {
		l.damage = err
	}
}

// OldLogRecord implements wal.Reporter.
func (l *secondaryLog) OldLogRecord(int) {}

// OpenAsSecondary opens families of a database that another process, the primary,
// may have open, for reading; families that are not named are left out, but the
// default one has to be. It sees what the primary had written when it was opened or
// last told to TryCatchUpWithPrimary. The info log is in secondaryPath, nothing else
// is written.
//
// The primary may delete files that the secondary needs: with max_open_files -1
// all tables are kept open, and so readable.
func OpenAsSecondary(o *rocksdb.DBOptions, dbName, secondaryPath string, families []rocksdb.ColumnFamilyDescriptor) (*DBImpl, []*db.ColumnFamilyHandleImpl, error) {
	if err := validateOpen(o, families); err != nil {
		return nil, nil, err
	}
	so := *o
	if so.Env == nil {
		so.Env = env.Default()
	}
	if so.InfoLog == nil {
		log, err := logging.CreateLoggerFromOptions(secondaryPath, &so)
		if err != nil {
			return nil, nil, err
		}
		so.InfoLog = log
	}
	if o.MaxOpenFiles != -1 {
		logging.Warn(so.InfoLog, "max_open_files is not -1: reads fail where the primary has deleted a table that is not open; TryCatchUpWithPrimary mends that")
	}
	d, err := newDBImpl(&so, dbName, openSecondary)
	if err != nil {
		if o.InfoLog == nil {
			_ = so.InfoLog.Close()
		}
		return nil, nil, err
	}
	d.ownsInfoLog = o.InfoLog == nil
	logging.Info(d.infoLog, "Opening the db in secondary mode")
	d.secondary = &secondary{versions: db.NewReactiveVersionSet(d.versions), logs: map[uint64]*secondaryLog{},
		logOf: map[*db.ColumnFamilyData]uint64{}}
	return d.openWith(func() ([]*db.ColumnFamilyHandleImpl, error) { return d.openSecondaryLocked(families) })
}

// openSecondaryLocked is upstream's DBImplSecondary::OpenAsSecondaryImpl and
// DBImplSecondary::Recover.
func (d *DBImpl) openSecondaryLocked(families []rocksdb.ColumnFamilyDescriptor) ([]*db.ColumnFamilyHandleImpl, error) {
	logErr := d.openNewLogsLocked()
	if err := d.secondary.versions.Recover(families); err != nil {
		return nil, err
	}
	if logErr != nil {
		return nil, logErr
	}
	if err := d.setUpDBID(true, nil); err != nil {
		return nil, err
	}
	d.defaultHandle = db.NewColumnFamilyHandle(d.families.GetDefault(), d)
	sv := &db.SuperVersionContext{}
	defer func() {
		d.mu.Unlock()
		sv.Clean()
		d.mu.Lock()
	}()
	if err := d.replayLogsLocked(map[*db.ColumnFamilyData]bool{}, sv); err != nil {
		return nil, err
	}
	handles, err := d.handlesOfFamiliesLocked(families, sv)
	d.st.opened = err == nil
	return handles, err
}

// TryCatchUpWithPrimary brings a secondary instance to what the primary has
// written so far, of the families that it was opened with; ones that were dropped
// keep their data. After an error it shows what it did before, or some of what is
// newer, and may be called again.
func (d *DBImpl) TryCatchUpWithPrimary() error {
	if d.secondary == nil {
		return rocksdb.NotSupported("Supported only by secondary instance")
	}
	sv := &db.SuperVersionContext{}
	job := d.newJobContext()
	d.mu.Lock()
	err := d.catchUpLocked(sv)
	d.mu.Unlock()
	sv.Clean()
	d.mu.Lock()
	d.findObsoleteFilesLocked(job, false, true)
	d.mu.Unlock()
	job.clean()
	return err
}

func (d *DBImpl) catchUpLocked(sv *db.SuperVersionContext) error {
	if err := d.openNewLogsLocked(); err != nil {
		return err
	}
	changed, err := d.secondary.versions.ReadAndApply()
	logging.Info(d.infoLog, "Last sequence is %d", d.versions.LastSequence())
	if err != nil {
		return err
	}
	for cfd := range changed {
		d.dropFlushedLocked(cfd, sv)
	}
	return d.replayLogsLocked(changed, sv)
}

// dropFlushedLocked lets go of memtables whose data is in tables.
func (d *DBImpl) dropFlushedLocked(cfd *db.ColumnFamilyData, sv *db.SuperVersionContext) {
	if cfd.IsDropped() {
		return
	}
	cfd.Imm().RemoveOldMemTables(cfd.GetLogNumber(), &sv.MemtablesToFree)
	if !cfd.Mem().IsEmpty() && d.secondary.logOf[cfd] < cfd.GetLogNumber() {
		if m := cfd.Mem().Unref(); m != nil {
			sv.MemtablesToFree = append(sv.MemtablesToFree, m)
		}
		d.startMemtableLocked(cfd)
	}
}

func (d *DBImpl) startMemtableLocked(cfd *db.ColumnFamilyData) {
	m := cfd.ConstructNewMemtable(cfd.GetLatestMutableCFOptions(), d.versions.LastSequence())
	m.Ref()
	cfd.SetMemtable(m)
	delete(d.secondary.logOf, cfd)
}

// openNewLogsLocked opens the logs that the primary has and we do not. One that
// is gone by then was not needed: the MANIFEST said so before.
// Upstream: DBImplSecondary::FindNewLogNumbers, DBImplSecondary::MaybeInitLogReader.
func (d *DBImpl) openNewLogsLocked() error {
	numbers, err := d.listWALs()
	if err != nil {
		return err
	}
	s := d.secondary
	for _, n := range numbers {
		if s.logs[n] != nil || n < d.minLogNumberToKeep() {
			continue
		}
		l := &secondaryLog{number: n, path: filename.LogFileName(d.immutable.GetWalDir(), n)}
		if err := d.openSecondaryLog(l); err != nil {
			if rocksdb.IsPathNotFound(err) || rocksdb.IsNotFound(err) {
				logging.Info(d.infoLog, "Secondary tries to read WAL, but WAL file(s) have already been purged by primary.")
				continue
			}
			return err
		}
		s.logs[n] = l
	}
	return nil
}

func (d *DBImpl) openSecondaryLog(l *secondaryLog) error {
	f, err := file.CreateSequentialFileReader(d.fs, l.path, d.fs.OptimizeForLogRead(&d.fileOptions),
		&file.SequentialReaderOptions{ReadaheadSize: int(d.immutable.LogReadaheadSize)})
	if err == nil {
		l.reader = wal.NewFragmentBufferedReader(f, wal.ReaderOptions{InfoLog: d.infoLog, Reporter: l, Checksum: true, LogNumber: l.number})
	}
	return err
}

// replayLogsLocked puts what has come to the logs into memtables, makes it and the
// state of the changed families visible, and closes logs that are not needed.
// Upstream: DBImplSecondary::FindAndRecoverLogFiles,
// DBImplSecondary::RecoverLogFiles.
func (d *DBImpl) replayLogsLocked(changed map[*db.ColumnFamilyData]bool, sv *db.SuperVersionContext) (err error) {
	syncpoint.Process("DBImplSecondary::FindAndRecoverLogFiles:Begin")
	s := d.secondary
	needed := max(d.minLogNumberToKeep(), d.versions.MinLogNumberWithUnflushedData(nil))
	last := d.versions.LastSequence()
	for _, n := range slices.Sorted(maps.Keys(s.logs)) {
		l := s.logs[n]
		if n < needed {
			_ = l.reader.Close() // it was only read from
			delete(s.logs, n)
			continue
		}
		d.versions.MarkFileNumberUsed(n)
		if err == nil {
			err = d.replayLogLocked(l, changed, sv)
			last = max(last, l.last)
		}
	}
	for cfd := range changed {
		if !cfd.IsDropped() {
			cfd.InstallSuperVersion(sv, d)
		}
	}
	d.publishReplayedLocked(last)
	return err
}

func (d *DBImpl) replayLogLocked(l *secondaryLog, changed map[*db.ColumnFamilyData]bool, sv *db.SuperVersionContext) error {
	s := d.secondary
	if l.reader.AtOldRecord() {
		// The log is a recycled file: what was read ahead may be written over.
		_ = l.reader.Close()
		if err := d.openSecondaryLog(l); err != nil {
			return err
		}
	}
	for first := true; ; {
		record, ok := l.reader.ReadRecord(d.immutable.WALRecoveryMode)
		if l.damage != nil {
			return l.damage
		}
		if !ok {
			return nil
		}
		at := l.reader.LastRecordOffset()
		if len(record) < writebatch.HeaderSize {
			l.damage = rocksdb.Corruption("log record too small").InAt(l.path, at)
			return l.damage
		}
		if err := s.batch.SetContents(record); err != nil {
			return err
		}
		if seq := s.batch.Sequence(); seq <= l.last && s.batch.Count() > 0 {
			continue // it was there before the log was opened again
		}
		if first {
			first = false
			d.sealMemtablesLocked(l.number, changed, sv)
		}
		if err := d.replayBatchLocked(l); err != nil {
			l.damage = rocksdb.AsStatus(err).InAt(l.path, at)
			return l.damage
		}
		for _, cfd := range d.families.All() {
			if _, ok := s.logOf[cfd]; !ok && !cfd.Mem().IsEmpty() {
				s.logOf[cfd] = l.number
			}
		}
	}
}

// replayBatchLocked inserts s.batch, which is of log l.
func (d *DBImpl) replayBatchLocked(l *secondaryLog) error {
	s := d.secondary
	recorded := l.reader.GetRecordedTimestampSize()
	if _, err := writebatch.HandleWriteBatchTimestampSizeDifference(&s.batch, d.runningTimestampSizes(), recorded, writebatch.VerifyConsistency); err != nil {
		return err
	}
	if err := db.CheckRangeDeletions(&s.batch, d.families); err != nil {
		return err
	}
	in := &s.inserter
	in.Reset()
	in.Families = d.families
	in.FlushScheduler, in.TrimHistoryScheduler = &d.flushScheduler, &d.trimScheduler
	in.IgnoreMissingColumnFamilies = true
	in.RecoveringLogNumber = l.number
	in.Sequence = s.batch.Sequence()
	if err := in.Insert(&s.batch); err != nil {
		return err
	}
	if in.Sequence > 0 {
		l.last = max(l.last, in.Sequence-1)
	}
	return nil
}

// sealMemtablesLocked makes room for the entries of a log.
func (d *DBImpl) sealMemtablesLocked(log uint64, changed map[*db.ColumnFamilyData]bool, sv *db.SuperVersionContext) {
	for _, cfd := range d.families.All() {
		of, ok := d.secondary.logOf[cfd]
		if !ok || of == log || cfd.IsDropped() {
			continue
		}
		sealed := cfd.Mem()
		sealed.MarkImmutable()
		sealed.ConstructFragmentedRangeTombstones()
		sealed.SetNextLogNumber(of + 1)
		cfd.Imm().Add(sealed, &sv.MemtablesToFree)
		d.startMemtableLocked(cfd)
		changed[cfd] = true
	}
}

// forgetObsoleteLocked closes tables that no version lists. The files are the
// primary's.
func (d *DBImpl) forgetObsoleteLocked() {
	tables, _, _ := d.versions.GetObsoleteFiles(^uint64(0))
	for i := range tables {
		tablecache.ReleaseObsolete(d.tableCache, tables[i].Metadata, tables[i].UncacheAggressiveness)
		tables[i].DeleteMetadata()
	}
}

// close ends the reading of the primary's files.
func (s *secondary) close() {
	for _, l := range s.logs {
		_ = l.reader.Close()
	}
	s.logs = nil
	s.versions.Close()
}
