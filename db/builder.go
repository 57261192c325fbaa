// Port of db/builder.{h,cc}. Differs: one struct of arguments; no blob garbage is
// counted, since memtables hold no blob indexes (enable_blob_direct_write).

package db

import (
	"github.com/rocksdb-go/rocksdb/db/blob"
	"github.com/rocksdb-go/rocksdb/db/blob/blobformat"
	"github.com/rocksdb-go/rocksdb/db/compaction"
	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/db/merge"
	"github.com/rocksdb-go/rocksdb/db/rangedel"
	"github.com/rocksdb-go/rocksdb/db/seqnotime"
	"github.com/rocksdb-go/rocksdb/db/tablecache"
	"github.com/rocksdb-go/rocksdb/db/tblpropcoll"
	"github.com/rocksdb-go/rocksdb/db/version"
	"github.com/rocksdb-go/rocksdb/file"
	"github.com/rocksdb-go/rocksdb/file/filename"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/logging"
	"github.com/rocksdb-go/rocksdb/options"
	"github.com/rocksdb-go/rocksdb/table"
	"github.com/rocksdb-go/rocksdb/table/internaliter"
	"github.com/rocksdb-go/rocksdb/table/uniqueid"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
	"github.com/rocksdb-go/rocksdb/util/stopwatch"
)

// BuildTableArgs are BuildTable's arguments. What says so is optional.
type BuildTableArgs struct {
	DBName           string
	DBOptions        *options.ImmutableDBOptions
	CFD              *ColumnFamilyData
	FileOptions      rocksdb.FileOptions
	MutableCFOptions *options.MutableCFOptions
	// Iter's entries, and RangeTombstones, are what is written; both stay the
	// caller's.
	Iter            internaliter.InternalIterator
	RangeTombstones []*rangedel.FragmentedRangeTombstoneIterator
	// Meta names the file to write (number and path) and has the times and the
	// epoch; the rest is filled in. FileSize is 0 afterwards if there was
	// nothing to write.
	Meta *version.FileMetaData
	// Snapshots in rising order.
	Snapshots []rocksdb.SequenceNumber
	// EarliestWriteConflictSnapshot 0 stands for the oldest snapshot.
	EarliestWriteConflictSnapshot rocksdb.SequenceNumber
	// JobSnapshot is for SnapshotChecker (optional).
	JobSnapshot     rocksdb.SequenceNumber
	SnapshotChecker dbformat.SnapshotChecker

	Compression     rocksdb.CompressionType
	LevelAtCreation int
	Reason          rocksdb.TableFileCreationReason
	EventLogger     *logging.EventLogger // optional
	JobID           int
	OldestKeyTime   uint64 // seconds
	CurrentTime     uint64 // seconds
	DBID, SessionID string
	Priority        rocksdb.IOPriority
	WriteHint       rocksdb.WriteLifeTimeHint
	// FullHistoryTSLow is the timestamp below which history may go; nil keeps
	// all.
	FullHistoryTSLow []byte
	// SeqnoToTimeMapping (optional) is put into the file, as far as it says
	// something about its entries.
	SeqnoToTimeMapping *seqnotime.SeqnoToTimeMapping
	// LastLevelInclusiveMaxSeqnoThreshold is the greatest sequence number that may
	// go to the last level; 0 for any.
	LastLevelInclusiveMaxSeqnoThreshold rocksdb.SequenceNumber
	BlobFetcher                         blobformat.BlobFetcher // optional; reads values for merges and filters
	// RangeSize (optional) tells how many bytes of the tree a range tombstone
	// covers; start and end are internal keys.
	RangeSize func(start, end []byte) uint64

	Properties *rocksdb.TableProperties // optional, set to the file's
	Stats      *CompactionStats         // optional, counted up
	// MemtablePayloadBytes and MemtableGarbageBytes (optional) are set to what
	// the entries were and how much of it was not written.
	MemtablePayloadBytes, MemtableGarbageBytes *uint64
	IOStats                                    *rocksdb.IOStatsContext // optional, counts what is written

	// BlobFiles (optional) has large values moved to blob files, where the
	// family's options say so.
	BlobFiles *BlobFileArgs
	// FastSstOpen asks the file system what it wants back when the table is opened
	// again, for Meta.FileOpenMetadata.
	FastSstOpen bool
	ReadOptions *rocksdb.ReadOptions
}

// BlobFileArgs are BuildTable's arguments for blob files.
type BlobFileArgs struct {
	NewFileNumber func() uint64
	Reason        rocksdb.BlobFileCreationReason
	Callback      blob.BlobFileCompletionCallback // may be nil
	// Additions is set to the files made. After an error they are deleted.
	Additions []blobformat.BlobFileAddition
}

// tableBuild is one BuildTable at work.
type tableBuild struct {
	*BuildTableArgs
	io        *options.ImmutableOptions
	icmp      *dbformat.InternalKeyComparator
	rangeDel  *rangedel.CompactionRangeDelAggregator
	filter    rocksdb.CompactionFilter
	writer    *file.WritableFileWriter
	builder   table.TableBuilder
	validator *OutputValidator
	blobs     *blob.BlobFileBuilder // nil: values stay in the table
	wo        rocksdb.WriteOptions
	props     rocksdb.TableProperties
	path      string
	created   bool

	smallestPreferredSeqno rocksdb.SequenceNumber
	numTombstones          uint64
	tombstoneBytes         uint64
	keyBuf, valueBuf       []byte
}

// BuildTable writes a table of what is left of the entries after compaction's
// rules, syncs it and opens it. Nothing is left behind on an error, nor when
// there is nothing to write. The DB mutex is not held.
func BuildTable(args *BuildTableArgs) error {
	b := &tableBuild{BuildTableArgs: args, io: args.CFD.IOptions(), icmp: args.CFD.InternalComparator(),
		smallestPreferredSeqno: dbformat.MaxSequenceNumber, props: rocksdb.NewTableProperties()}
	b.validator = NewOutputValidator(b.icmp, b.MutableCFOptions.ParanoidFileChecks, 0)
	b.Meta.FD.FileSize = 0
	b.wo = rocksdb.DefaultWriteOptions()
	b.wo.IOStatsContext = b.IOStats
	b.wo.RateLimiterPriority = b.Priority
	b.wo.IOActivity = b.ReadOptions.IOActivity

	b.Iter.SeekToFirst()
	b.rangeDel = rangedel.NewCompactionRangeDelAggregator(b.icmp, b.Snapshots, b.FullHistoryTSLow, nil)
	for _, t := range b.RangeTombstones {
		b.numTombstones += uint64(t.NumUnfragmentedTombstones())
		b.tombstoneBytes += uint64(t.TotalTombstonePayloadBytes())
		b.rangeDel.AddTombstones(t, nil, nil)
	}
	b.path = filename.TableFileName(b.io.CFPaths, b.Meta.FD.GetNumber(), b.Meta.FD.GetPathId())
	NotifyTableFileCreationStarted(b.io.Listeners, b.DBName, b.CFD.GetName(), b.path, b.JobID, b.Reason)

	checksum, checksumFunc := rocksdb.UnknownFileChecksum, rocksdb.UnknownFileChecksumFuncName
	var err error
	if b.Iter.Valid() || !b.rangeDel.IsEmpty() {
		err = b.writeAndVerify()
		if err == nil && b.Meta.FD.FileSize > 0 {
			checksum, checksumFunc = b.Meta.FileChecksum, b.Meta.FileChecksumFuncName
		}
	}
	if inputErr := b.Iter.Status(); inputErr != nil {
		err = inputErr
	}
	if err != nil || b.Meta.FD.FileSize == 0 {
		b.removeFile()
		b.removeBlobFiles()
	} else if b.blobs != nil {
		b.BlobFiles.Additions = b.blobs.Additions()
	}
	listenerStatus := err
	if b.Meta.FD.FileSize == 0 {
		b.path = "(nil)"
		if err == nil {
			listenerStatus = rocksdb.Aborted("Empty SST file not kept")
		}
	}
	LogAndNotifyTableFileCreationFinished(b.EventLogger, b.io.Listeners, &TableFileCreation{
		DBName: b.DBName, CFName: b.CFD.GetName(), Path: b.path, JobID: b.JobID, Meta: b.Meta, Properties: &b.props,
		Reason: b.Reason, Status: listenerStatus, Checksum: checksum, ChecksumFuncName: checksumFunc})
	return err
}

// removeFile deletes a file that is not kept, and forgets it.
func (b *tableBuild) removeFile() {
	syncpoint.Process("BuildTable:BeforeDeleteFile")
	if !b.created {
		return
	}
	var opts rocksdb.IOOptions
	file.PrepareIOFromWriteOptions(&b.wo, &opts)
	_ = b.DBOptions.FS.DeleteFile(b.path, &opts) // the file is an orphan then, which a later purge finds
	tablecache.ReleaseObsolete(b.CFD.TableCache().Cache(), b.Meta, b.MutableCFOptions.UncacheAggressiveness)
}

func (b *tableBuild) removeBlobFiles() {
	if b.blobs == nil {
		return
	}
	for _, path := range b.blobs.Paths() {
		// What is left is an orphan, which a later purge finds.
		_ = file.DeleteDBFile(b.DBOptions.FS, b.DBOptions.SstFileManager, path, b.DBName, false, false)
		syncpoint.Process("BuildTable::AfterDeleteFile")
	}
}

// openBlobFiles makes the builder of blob files, where values may go to some.
func (b *tableBuild) openBlobFiles() {
	mo := b.MutableCFOptions
	if b.BlobFiles == nil || !mo.EnableBlobFiles || b.LevelAtCreation < mo.BlobFileStartingLevel {
		return
	}
	b.blobs = blob.NewBlobFileBuilder(blob.BlobFileBuilderOptions{NewFileNumber: b.BlobFiles.NewFileNumber, IOptions: b.io,
		MutableCFOptions: mo, FileOptions: &b.FileOptions, WriteOptions: &b.wo, DBID: b.DBID, DBSessionID: b.SessionID,
		JobID: b.JobID, ColumnFamilyID: b.CFD.GetID(), ColumnFamilyName: b.CFD.GetName(), WriteHint: b.WriteHint,
		Callback: b.BlobFiles.Callback, Reason: b.BlobFiles.Reason})
}

func (b *tableBuild) writeAndVerify() error {
	if err := b.makeFilter(); err != nil {
		return err
	}
	if err := b.open(); err != nil {
		return err
	}
	b.openBlobFiles()
	empty, err := b.write()
	if closeErr := b.closeFile(err == nil && !empty); err == nil {
		err = closeErr
	}
	err = b.blobs.End(err)
	if err != nil || empty {
		return err
	}
	return b.verify()
}

func (b *tableBuild) makeFilter() error {
	f := b.io.CompactionFilterFactory
	if f == nil || !f.ShouldFilterTableFileCreation(b.Reason) {
		return nil
	}
	b.filter = f.CreateCompactionFilter(&rocksdb.CompactionFilterContext{
		InputStartLevel: -1, ColumnFamilyID: b.CFD.GetID(), Reason: b.Reason})
	if b.filter != nil && !b.filter.IgnoreSnapshots() {
		return rocksdb.NotSupported("CompactionFilter::IgnoreSnapshots() = false is not supported anymore.")
	}
	return nil
}

// open creates the file and the builder.
func (b *tableBuild) open() error {
	fo := b.FileOptions
	syncpoint.ProcessArg("BuildTable:create_file", &fo.UseDirectWrites)
	fo.OpenContract = rocksdb.FileOpenNoReopenForWrite | rocksdb.FileOpenNoReadersWhileOpenForWrite
	fo.WriteHint = b.WriteHint
	fo.Temperature = b.Meta.Temperature
	f, err := b.DBOptions.FS.NewWritableFile(b.path, &fo)
	if err != nil {
		return err
	}
	b.created = true
	f.SetIOPriority(b.Priority)
	f.SetWriteLifeTimeHint(fo.WriteHint)
	b.writer = file.NewWritableFileWriter(f, b.path, &b.FileOptions, &file.WriterOptions{
		Clock: b.io.Clock, Stats: b.io.Stats, HistType: rocksdb.HistSSTWriteMicros, Listeners: b.io.Listeners,
		FileChecksumGenFactory:  b.io.FileChecksumGenFactory,
		PerformDataVerification: b.io.ChecksumHandoffFileTypes.Contains(rocksdb.TableFile)})

	o := table.DefaultTableBuilderOptions(b.io, b.MutableCFOptions, b.icmp)
	o.ColumnFamilyID = b.CFD.GetID()
	o.ColumnFamilyName = b.CFD.GetName()
	o.LevelAtCreation = b.LevelAtCreation
	if b.LastLevelInclusiveMaxSeqnoThreshold > 0 {
		o.LastLevelInclusiveMaxSeqnoThreshold = b.LastLevelInclusiveMaxSeqnoThreshold
	}
	o.NumLevels = b.io.NumLevels
	o.ReadOptions, o.WriteOptions = b.ReadOptions, &b.wo
	o.InternalTblPropCollFactories = InternalTblPropCollFactories(b.io)
	o.CompressionType, o.CompressionOpts = b.Compression, b.MutableCFOptions.CompressionOpts
	o.OldestKeyTime, o.NewestKeyTime = int64(b.OldestKeyTime), int64(b.CurrentTime)
	o.FileCreationTime = b.CurrentTime
	o.DBID, o.DBSessionID = b.DBID, b.SessionID
	o.Reason = b.Reason
	o.CurFileNum = b.Meta.FD.GetNumber()
	b.builder, err = NewTableBuilder(&o, b.writer)
	return err
}

// newIterator is over what is left of the entries.
func (b *tableBuild) newIterator() *compaction.CompactionIterator {
	latest := rocksdb.SequenceNumber(0)
	earliest, conflict := dbformat.MaxSequenceNumber, b.EarliestWriteConflictSnapshot
	if n := len(b.Snapshots); n > 0 {
		earliest, latest = b.Snapshots[0], b.Snapshots[n-1]
	}
	if conflict == 0 {
		conflict = earliest
	}
	helper := merge.NewMergeHelper(merge.MergeHelperOptions{
		UserComparator: b.icmp.UserComparator(), UserMergeOperator: b.io.MergeOperator, CompactionFilter: b.filter,
		Logger: b.io.Logger, AssertValidInternalKey: true, LatestSnapshot: latest, SnapshotChecker: b.SnapshotChecker,
		Clock: b.io.Clock})
	o := compaction.CompactionIteratorOptions{
		Input: b.Iter, Comparator: b.icmp, MergeHelper: helper, Snapshots: b.Snapshots, EarliestSnapshot: earliest,
		EarliestWriteConflictSnapshot: conflict, JobSnapshot: b.JobSnapshot, SnapshotChecker: b.SnapshotChecker,
		Clock: b.io.Clock, ReportDetailedTime: b.io.Stats != nil && b.io.Stats.GetStatsLevel() > rocksdb.ExceptDetailedTimers,
		RangeDelAgg: b.rangeDel, BlobFetcher: b.BlobFetcher, AllowDataInErrors: b.io.AllowDataInErrors,
		EnforceSingleDelContracts: b.io.EnforceSingleDelContracts, MustCountInputEntries: true,
		CompactionFilter: b.filter, InfoLog: b.DBOptions.InfoLog, FullHistoryTSLow: b.FullHistoryTSLow}
	if b.blobs != nil {
		o.BlobFileBuilder = b.blobs
	}
	return compaction.NewCompactionIterator(o)
}

// write fills the table and, unless it stays empty, finishes it.
func (b *tableBuild) write() (empty bool, err error) {
	it := b.newIterator()
	defer it.Close()
	err = b.addEntries(it)
	if err == nil {
		err = b.addTombstones()
	}
	syncpoint.Process("BuildTable:BeforeFinishBuildTable")
	syncpoint.ProcessArg("BuildTable:BeforeCheckEmpty", b.builder)
	empty = b.builder.IsEmpty()
	if b.Stats != nil {
		b.Stats.NumInputRecords = it.NumInputEntryScanned() + b.numTombstones
	}
	if err != nil || empty {
		if err == nil {
			err = b.builder.Status() // why it stayed empty
		}
		b.builder.Abandon()
		return empty, err
	}
	return false, b.finish(it)
}

func (b *tableBuild) addEntries(it *compaction.CompactionIterator) error {
	for it.SeekToFirst(); it.Valid(); it.Next() {
		key, value, ikey := it.Key(), it.Value(), *it.IKey()
		if ikey.Type == dbformat.TypeValuePreferredSeqno {
			var err error
			if key, value, err = b.placePreferredSeqno(key, value, &ikey); err != nil {
				return err
			}
		}
		if err := b.validator.Add(key, value); err != nil {
			return err
		}
		_ = b.builder.Add(key, value) // Finish tells of an error
		if b.Stats != nil {
			b.Stats.NumOutputRecords++
		}
		if err := b.Meta.UpdateBoundaries(key, value, ikey.Sequence, ikey.Type); err != nil {
			return err
		}
	}
	return it.Status()
}

// placePreferredSeqno replaces a timed put's write time by the sequence number
// of that time, or, when none is known, makes it a plain value.
func (b *tableBuild) placePreferredSeqno(key, value []byte, ikey *dbformat.ParsedInternalKey) ([]byte, []byte, error) {
	v, writeTime, ok := seqnotime.ParsePackedValueWithWriteTime(value)
	if !ok {
		return nil, nil, rocksdb.Corruption("timed put's value is too short")
	}
	preferred := dbformat.MaxSequenceNumber
	if b.SeqnoToTimeMapping != nil {
		preferred = b.SeqnoToTimeMapping.GetProximalSeqnoBeforeTime(writeTime)
	}
	if preferred < ikey.Sequence {
		b.valueBuf = seqnotime.PackValueAndSeqno(b.valueBuf[:0], v, preferred)
		b.smallestPreferredSeqno = min(b.smallestPreferredSeqno, preferred)
		return key, b.valueBuf, nil
	}
	ikey.Type = dbformat.TypeValue
	b.keyBuf = append(b.keyBuf[:0], key...)
	dbformat.UpdateInternalKey(b.keyBuf, ikey.Sequence, ikey.Type)
	return b.keyBuf, v, nil
}

func (b *tableBuild) addTombstones() error {
	it, err := b.rangeDel.NewIterator(nil, nil)
	if err != nil {
		return err
	}
	var lastStart []byte
	for it.SeekToFirst(); it.Valid(); it.Next() {
		t := it.Tombstone()
		key, value := t.Serialize()
		_ = b.builder.Add(key, value)
		if b.Stats != nil {
			b.Stats.NumOutputRecords++
		}
		end := t.SerializeEndKey()
		b.Meta.UpdateBoundariesForRange(key, end, t.Seq, b.icmp)
		if b.RangeSize != nil {
			// Once for each distinct start.
			if lastStart == nil || b.icmp.CompareWithoutTimestamp(lastStart, it.StartKey()) < 0 {
				b.Meta.CompensatedRangeDeletionSize += b.RangeSize(key, end)
			}
			lastStart = append(lastStart[:0], it.StartKey()...)
		}
	}
	return it.Status()
}

func (b *tableBuild) finish(it *compaction.CompactionIterator) error {
	relevant := seqnotime.NewSeqnoToTimeMapping()
	if b.SeqnoToTimeMapping != nil {
		relevant.CopyFromSeqnoRange(b.SeqnoToTimeMapping, min(b.Meta.FD.SmallestSeqno, b.smallestPreferredSeqno), b.Meta.FD.LargestSeqno)
		relevant.SetCapacity(seqnotime.MaxSeqnoTimePairsPerSST)
		relevant.Enforce(b.CurrentTime)
	}
	oldest := b.Meta.OldestAncesterTime
	if b.io.CompactionStyle == rocksdb.CompactionStyleFIFO {
		oldest = b.Meta.FileCreationTime
	}
	b.builder.SetSeqnoTimeTableProperties(relevant, oldest)
	if err := b.builder.Finish(); err != nil {
		return err
	}
	if b.Stats != nil {
		b.Stats.BytesWrittenPreComp = b.builder.PreCompressionSize()
		b.Stats.CPUMicros += b.builder.GetWorkerCPUMicros()
	}
	b.Meta.FD.FileSize = b.builder.FileSize()
	b.Meta.TailSize = b.builder.GetTailSize()
	b.Meta.MarkedForCompaction.Store(b.builder.NeedCompact())
	b.Meta.UserDefinedTimestampsPersisted = b.io.PersistUserDefinedTimestamps
	b.props = b.builder.GetTableProperties()
	ExtractTimestampFromTableProperties(&b.props, b.Meta)
	if b.MemtablePayloadBytes != nil && b.MemtableGarbageBytes != nil {
		s := it.IterStats()
		payload := s.TotalInputRawKeyBytes + s.TotalInputRawValueBytes + b.tombstoneBytes
		written := b.props.RawKeySize + b.props.RawValueSize
		*b.MemtablePayloadBytes, *b.MemtableGarbageBytes = 0, 0
		if written <= payload {
			*b.MemtablePayloadBytes, *b.MemtableGarbageBytes = payload, payload-written
		}
	}
	if b.Properties != nil {
		*b.Properties = b.props
	}
	return nil
}

// VerifyCounts compares, after BuildTable, how many entries the memtables held
// with how many were read, and how many were added with what the table counts.
// What differs is logged, and with flush_verify_memtable_count a Corruption.
func (args *BuildTableArgs) VerifyCounts(entries uint64) error {
	if n := args.Stats.NumInputRecords; n != entries {
		if err := args.wrongCount("Expected %d entries in memtables, but read %d", entries, n); err != nil {
			return err
		}
	}
	switch args.MutableCFOptions.TableFactory.Name() {
	case rocksdb.BlockBasedTableName, rocksdb.PlainTableName: // those that count entries in their properties
	default:
		return nil
	}
	if added, n := args.Stats.NumOutputRecords, args.Properties.NumEntries; added != n {
		return args.wrongCount("Number of keys in flush output SST files does not match number of keys added to the table. "+
			"Expected %d but there are %d in output SST files", added, n)
	}
	return nil
}

func (args *BuildTableArgs) wrongCount(format string, want, got uint64) error {
	s := rocksdb.Corruptionf(format, want, got)
	logging.Warn(args.DBOptions.InfoLog, "[%s] [JOB %d] Level-0 flush %v", args.CFD.GetName(), args.JobID, s)
	if !args.DBOptions.FlushVerifyMemtableCount {
		return nil
	}
	return s
}

// closeFile makes a file that is kept durable, and closes it.
func (b *tableBuild) closeFile(keep bool) error {
	if b.writer == nil {
		return nil
	}
	var opts rocksdb.IOOptions
	file.PrepareIOFromWriteOptions(&b.wo, &opts)
	if !keep {
		_ = b.writer.Close(&opts) // going to be deleted
		return nil
	}
	syncpoint.Process("BuildTable:BeforeSyncTable")
	w := stopwatch.NewStopWatch(b.io.Clock, b.io.Stats, rocksdb.HistTableSyncMicros)
	err := b.writer.Sync(&opts, b.io.UseFsync)
	w.Stop()
	syncpoint.Process("BuildTable:BeforeCloseTableFile")
	if closeErr := b.writer.Close(&opts); err == nil {
		err = closeErr
	}
	if err != nil {
		return err
	}
	b.Meta.FileChecksum = b.writer.GetFileChecksum()
	b.Meta.FileChecksumFuncName = b.writer.GetFileChecksumFuncName()
	SetUniqueID(b.Meta, b.DBID, b.SessionID)
	return nil
}

// verify opens the table, which also leaves it in the table cache, and with
// paranoid_file_checks reads all of it.
func (b *tableBuild) verify() error {
	syncpoint.Process("BuildTable:BeforeOutputValidation")
	open := tablecache.OpenOptions{Level: b.LevelAtCreation, FileReadHist: b.CFD.InternalStats().GetFileReadHist(0),
		MaxFileSizeForL0MetaPin: options.MaxFileSizeForL0MetaPin(b.MutableCFOptions)}
	if b.FastSstOpen {
		open.FileOpenMetadata = &b.Meta.FileOpenMetadata
	}
	it := b.CFD.TableCache().NewIterator(b.ReadOptions, b.Meta, b.MutableCFOptions, &tablecache.IteratorOptions{
		OpenOptions: open, Caller: rocksdb.CallerFlush})
	defer it.Close()
	if err := it.Status(); err != nil || !b.MutableCFOptions.ParanoidFileChecks {
		return err
	}
	read := NewOutputValidator(b.icmp, true, 0)
	for it.SeekToFirst(); it.Valid(); it.Next() {
		_ = read.Add(it.Key(), it.Value()) // the hash finds disorder as well
	}
	if err := it.Status(); err != nil {
		return err
	}
	if !b.validator.CompareValidator(read) {
		return rocksdb.Corruption("Paranoid checksums do not match").In(b.path)
	}
	return nil
}

// NewTableBuilder makes the builder of o.MOptions' table factory.
func NewTableBuilder(o *table.TableBuilderOptions, w *file.WritableFileWriter) (table.TableBuilder, error) {
	f, ok := o.MOptions.TableFactory.(table.Factory)
	if !ok {
		return nil, rocksdb.NotSupported("table_factory that is not one of this engine's")
	}
	return f.NewTableBuilder(o, w)
}

// InternalTblPropCollFactories are those of a family's tables: the user's, and
// the one of timestamps where there are any.
func InternalTblPropCollFactories(io *options.ImmutableOptions) tblpropcoll.InternalTblPropCollFactories {
	var fs tblpropcoll.InternalTblPropCollFactories
	for _, f := range io.TablePropertiesCollectorFactories {
		fs = append(fs, tblpropcoll.NewUserKeyTablePropertiesCollectorFactory(f))
	}
	if io.UserComparator.TimestampSize() > 0 {
		fs = append(fs, tblpropcoll.NewTimestampTablePropertiesCollectorFactory(io.UserComparator))
	}
	return fs
}

// ExtractTimestampFromTableProperties copies a table's least and greatest
// timestamp to its metadata.
func ExtractTimestampFromTableProperties(p *rocksdb.TableProperties, m *version.FileMetaData) {
	if ts, ok := p.UserCollectedProperties[tblpropcoll.TimestampMinProperty]; ok {
		m.MinTimestamp = ts
	}
	if ts, ok := p.UserCollectedProperties[tblpropcoll.TimestampMaxProperty]; ok {
		m.MaxTimestamp = ts
	}
}

// SetUniqueID sets m's id, when the database's ids are known and of the usual
// form.
func SetUniqueID(m *version.FileMetaData, dbID, sessionID string) {
	if dbID == "" || sessionID == "" {
		return
	}
	m.UniqueID = uniqueid.NullUniqueId64x2
	if id, err := uniqueid.GetSstInternalUniqueId(dbID, sessionID, m.FD.GetNumber(), false); err == nil {
		m.UniqueID = id.Standard()
	}
}
