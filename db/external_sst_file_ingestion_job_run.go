// Port of db/external_sst_file_ingestion_job.cc (NeedsFlush, Run and the choice
// of levels).

package db

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"

	"github.com/rocksdb-go/rocksdb/db/compaction"
	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/db/version"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/internal/invariants"
	"github.com/rocksdb-go/rocksdb/logging"
	"github.com/rocksdb-go/rocksdb/monitoring"
	"github.com/rocksdb-go/rocksdb/options"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

// NeedsFlush tells whether a memtable of sv, which the caller holds, has keys
// in the files' ranges, so that it has to be flushed first.
func (j *ExternalSstFileIngestionJob) NeedsFlush(sv *SuperVersion) (needed bool, err error) {
	switch {
	case j.replace != nil && j.replace.unset():
		needed = !sv.Mem.IsEmpty()
	default:
		var ranges []dbformat.UserKeyRange
		if j.replace != nil {
			// The end counts as within, since that is what the check knows.
			ranges = append(ranges, dbformat.UserKeyRange{Start: j.replace.smallest.UserKey(), Limit: j.replace.largest.UserKey()})
		} else {
			for _, f := range j.files {
				ranges = append(ranges, dbformat.UserKeyRange{Start: f.startUkey, Limit: f.limitUkey})
			}
		}
		if needed, err = j.cfd.RangesOverlapWithMemtables(ranges, sv); err != nil {
			return false, j.warn(err, "Failed to check ranges overlap with memtables")
		}
	}
	switch {
	case !needed:
	case j.ucmp.TimestampSize() > 0:
		err = rocksdb.InvalidArgument("Column family enables user-defined timestamps, please make sure the key range (without timestamp) " +
			"of external file does not overlap with key range in the memtables.")
	case !j.o.AllowBlockingFlush:
		err = rocksdb.InvalidArgument("External file requires flush")
	}
	return needed, err
}

// Run picks levels and sequence numbers and makes the edit. No write is under
// way, and the DB mutex is held.
func (j *ExternalSstFileIngestionJob) Run() error {
	sv := j.cfd.GetSuperVersion()
	if j.flushedBeforeRun && (sv.Imm.NumNotFlushed() != 0 || !sv.Mem.IsEmpty()) {
		return rocksdb.TryAgain("Inconsistent memtable state detected when flushed before run.")
	}
	if invariants.Enabled {
		need, err := j.NeedsFlush(sv)
		if err != nil {
			return j.warn(err, "Failed to check if flush is needed")
		}
		if need {
			return rocksdb.TryAgain("need_flush")
		}
	}
	// With snapshots all files get a number, even where nothing overlaps.
	force := j.o.SnapshotConsistency && !j.c.Snapshots.Empty()
	last := j.c.VersionSet.LastSequence()
	j.edit.SetColumnFamily(j.cfd.GetID())
	if j.replace != nil {
		if err := j.deleteReplaced(); err != nil {
			return err
		}
	}
	// Older batches go below newer ones.
	above := -1 // the uppermost level of the batch before, -1 for none
	for _, b := range j.batches {
		var err error
		if above, err = j.assignLevels(b, force, &last, above); err != nil {
			return j.warn(err, "Failed to assign levels for one batch")
		}
	}
	j.makeEquivalentCompactions()
	return nil
}

// deleteReplaced adds to the edit the removal of the files in the range that is
// replaced.
func (j *ExternalSstFileIngestionJob) deleteReplaced() error {
	vs := j.cfd.current.StorageInfo()
	all := j.replace.unset()
	if all && j.cfd.picker.IsCompactionInProgress() {
		return rocksdb.InvalidArgument("Atomic replace range (full) overlaps with pending compaction")
	}
	for level := range j.cfd.NumberLevels() {
		if !all && j.cfd.picker.RangeOverlapWithCompaction(j.replace.smallest.UserKey(), j.replace.largest.UserKey(), level) {
			return rocksdb.InvalidArgument("Atomic replace range overlaps with pending compaction")
		}
		for _, f := range vs.LevelFiles(level) {
			if !all && !j.checker.overlaps(j.replace, f.Smallest, f.Largest) {
				continue
			}
			if !all && !j.checker.contains(j.replace, f.Smallest, f.Largest) {
				return rocksdb.InvalidArgument("Atomic replace range partially overlaps with existing file")
			}
			j.edit.DeleteFile(level, f.FD.GetNumber())
		}
	}
	return nil
}

// assignLevels adds a batch's files to the edit, above the level above (-1 for
// anywhere), and gives the uppermost level used.
func (j *ExternalSstFileIngestionJob) assignLevels(b *fileBatch, force bool, last *rocksdb.SequenceNumber, above int) (uppermost int, err error) {
	uppermost = math.MaxInt
	for _, f := range b.files {
		var assigned rocksdb.SequenceNumber
		if j.o.IngestBehind {
			err = j.checkLevelBehind(f)
		} else {
			assigned, err = j.assignLevelAndSeqno(f, force, *last, above)
		}
		if err != nil {
			return 0, err
		}
		if j.o.AllowDBGeneratedFiles && assigned != 0 {
			return 0, rocksdb.InvalidArgument("An ingested file overlaps with existing data in the DB and has been " +
				"assigned a non-zero sequence number, which is not allowed when 'allow_db_generated_files' is enabled.")
		}
		if assigned != 0 {
			// A number that is there marks the exclusive end of a range tombstone.
			for _, k := range []dbformat.InternalKey{f.smallest, f.largest} {
				if dbformat.GetInternalKeySeqno(k) == 0 {
					dbformat.UpdateInternalKey(k, assigned, dbformat.ExtractValueType(k))
				}
			}
		}
		if err := j.assignGlobalSeqno(f, assigned); err != nil {
			return 0, j.warn(err, "Failed to assign global sequence number for ingested file")
		}
		syncpoint.ProcessArg("ExternalSstFileIngestionJob::Run", &assigned)
		*last = max(*last, assigned)
		j.maxSeqno = max(j.maxSeqno, assigned)
		if err := j.checksumAfterWrite(f); err != nil {
			return 0, j.warn(err, "Failed to generate checksum for ingested file")
		}
		j.edit.AddFile(f.PickedLevel, j.metadata(f))
		uppermost = min(uppermost, f.PickedLevel)
	}
	return uppermost, nil
}

// metadata is the file's as a part of the family.
func (j *ExternalSstFileIngestionJob) metadata(f *IngestedFileInfo) *version.FileMetaData {
	m := version.NewFileMetaData()
	lo, hi := f.AssignedSeqno, f.AssignedSeqno
	if j.o.AllowDBGeneratedFiles {
		lo, hi = f.smallestSeqno, f.largestSeqno
		j.maxSeqno = max(j.maxSeqno, hi)
	}
	m.FD.Set(f.number, 0, f.fileSize, lo, hi)
	m.Smallest, m.Largest = f.smallest, f.largest
	m.Temperature = f.temperature
	// The time of the ingestion is when the data came into the database.
	if now, err := j.c.DBOptions.Clock.GetCurrentTime(); err == nil {
		m.OldestAncesterTime, m.FileCreationTime = uint64(now), uint64(now)
	}
	m.EpochNumber = version.ReservedEpochNumberForFileIngestedBehind
	if !j.o.IngestBehind {
		m.EpochNumber = j.cfd.NewEpochNumber() // orders files of level 0
	}
	m.FileChecksum, m.FileChecksumFuncName = f.checksum, f.checksumFuncName
	m.UniqueID = f.uniqueID
	p := &f.TableProperties
	m.TailSize = version.CalculateTailSize(f.fileSize, p)
	m.UserDefinedTimestampsPersisted = f.udtPersisted
	// One range tombstone and nothing else is best compacted away soon.
	m.MarkedForCompaction.Store(p.NumRangeDeletions == 1 && p.NumEntries == p.NumRangeDeletions)
	m.SkipIndexAndFilterBlocksPrefetch = !j.o.PrefetchLmaxIndexAndFilterBlocks && f.PickedLevel == j.cfd.NumberLevels()-1
	ExtractTimestampFromTableProperties(p, m)
	m.FileOpenMetadata = j.fileOpenMetadata(f, m)
	return m
}

func (j *ExternalSstFileIngestionJob) fileOpenMetadata(f *IngestedFileInfo, m *version.FileMetaData) string {
	if !j.c.MutableDBOptions.FastSstOpen {
		return ""
	}
	fo := j.c.FileOptions
	fo.FileChecksum, fo.FileChecksumFuncName = m.FileChecksum, m.FileChecksumFuncName
	raw, err := j.c.DBOptions.FS.NewRandomAccessFile(f.InternalFilePath, &fo)
	if err != nil {
		return "" // it is a hint only; the file is opened again
	}
	data, err := raw.GetFileOpenMetadata()
	_ = raw.Close()
	if err != nil || len(data) == 0 {
		return ""
	}
	if len(data) > rocksdb.MaxFileOpenMetadataSize {
		logging.Warn(j.log, "File open metadata for %s too large (%d bytes), ignoring", f.InternalFilePath, len(data))
		return ""
	}
	monitoring.RecordTick(j.c.DBOptions.Stats, rocksdb.FileOpenMetadataRetrieved, 1)
	return string(data)
}

// assignLevelAndSeqno picks the lowest level that the file may go to; a
// sequence number other than 0 is needed where it lies over data.
func (j *ExternalSstFileIngestionJob) assignLevelAndSeqno(f *IngestedFileInfo, force bool, last rocksdb.SequenceNumber, above int) (assigned rocksdb.SequenceNumber, err error) {
	levels := j.cfd.NumberLevels()
	toL0 := above == 0 || j.cfd.ioptions.CompactionStyle == rocksdb.CompactionStyleFIFO
	if force || !j.o.AllowDBGeneratedFiles && (j.overlap || toL0) {
		assigned = last + 1
		if toL0 {
			f.PickedLevel = 0
			if j.o.FailIfNotBottommostLevel && levels > 1 {
				return 0, rocksdb.TryAgain("Files cannot be ingested to Lmax. Please make sure key range of Lmax does not overlap with files to ingest.")
			}
			return assigned, nil
		}
	}
	end := levels // of the levels that the file may go to
	if toL0 {
		end = 0
	} else if above >= 0 {
		end = above
	}
	target, overlap, err := j.lowestLevel(f, end)
	if err != nil {
		return 0, err
	}
	if j.o.FailIfNotBottommostLevel && target < levels-1 {
		return 0, rocksdb.TryAgain("Files cannot be ingested to Lmax. Please make sure key range of Lmax and ongoing compaction's output to Lmax " +
			"does not overlap with files to ingest. Input files overlapping with each other can cause some file to be assigned to non Lmax level.")
	}
	syncpoint.ProcessArg("ExternalSstFileIngestionJob::AssignLevelAndSeqnoForIngestedFile", &overlap)
	f.PickedLevel = target
	if overlap {
		if j.ucmp.TimestampSize() > 0 {
			return 0, rocksdb.InvalidArgument("Column family enables user-defined timestamps, please make sure the key range (without timestamp) " +
				"of external file does not overlap with key range (without timestamp) in the db")
		}
		if assigned == 0 {
			assigned = last + 1
		}
	}
	return assigned, nil
}

// lowestLevel is the last level before end down to which nothing overlaps the
// file; overlap tells that something further down does.
func (j *ExternalSstFileIngestionJob) lowestLevel(f *IngestedFileInfo, end int) (target int, overlap bool, err error) {
	checkEnd := end
	if j.o.AllowDBGeneratedFiles {
		// Its sequence numbers stay, so that it must not overlap any data.
		checkEnd = j.cfd.NumberLevels()
	}
	vs := j.cfd.current.StorageInfo()
	ro := j.readOptions()
	ro.TotalOrderSeek = true
	for level := range checkEnd {
		if level > 0 && level < vs.BaseLevel() {
			continue
		}
		if level < end && j.replace != nil {
			target = level
			continue
		}
		if j.cfd.picker.RangeOverlapWithCompaction(f.startUkey, f.limitUkey, level) {
			return target, true, nil
		}
		if vs.NumLevelFiles(level) > 0 {
			overlap, err := j.cfd.current.OverlapWithLevelIterator(&ro, f.startUkey, f.limitUkey, level)
			if err != nil {
				return 0, false, j.warn(err, "Failed to check overlap with level iterator")
			}
			if overlap {
				return target, true, nil
			}
		}
		if level < end && j.fitsInLevel(f, level) {
			target = level
		}
	}
	return target, false, nil
}

// fitsInLevel tells whether the file's range is free in the level.
func (j *ExternalSstFileIngestionJob) fitsInLevel(f *IngestedFileInfo, level int) bool {
	return level == 0 || !j.cfd.current.StorageInfo().OverlapInLevel(level, f.startUkey, f.limitUkey)
}

// checkLevelBehind puts a file that is ingested behind into the last level.
func (j *ExternalSstFileIngestionJob) checkLevelBehind(f *IngestedFileInfo) error {
	lastLevel := j.cfd.NumberLevels() - 1
	if !j.fitsInLevel(f, lastLevel) {
		return rocksdb.InvalidArgument("Can't ingest_behind file as it doesn't fit at the last level!")
	}
	vs := j.cfd.current.StorageInfo()
	for level := range lastLevel {
		for _, x := range vs.LevelFiles(level) {
			if x.FD.SmallestSeqno == 0 {
				return rocksdb.InvalidArgument("Can't ingest_behind file as despite cf_allow_ingest_behind=true " +
					"there are files with 0 seqno in database at upper levels!")
			}
		}
	}
	f.PickedLevel = lastLevel
	return nil
}

// assignGlobalSeqno gives the file's entries a sequence number; it is written
// into the file if so wanted.
func (j *ExternalSstFileIngestionJob) assignGlobalSeqno(f *IngestedFileInfo, seqno rocksdb.SequenceNumber) error {
	switch {
	case f.originalSeqno == seqno:
		return nil
	case !j.o.AllowGlobalSeqno:
		return rocksdb.InvalidArgument("Global seqno is required, but disabled")
	case j.o.WriteGlobalSeqno && f.globalSeqnoOffset == 0:
		return rocksdb.InvalidArgument("Trying to set global seqno for a file that don't have a global seqno field")
	}
	if j.o.WriteGlobalSeqno {
		if err := j.writeGlobalSeqno(f, seqno); err != nil {
			return err
		}
	}
	f.AssignedSeqno = seqno
	return nil
}

func (j *ExternalSstFileIngestionJob) writeGlobalSeqno(f *IngestedFileInfo, seqno rocksdb.SequenceNumber) error {
	w, err := j.c.DBOptions.FS.NewRandomRWFile(f.InternalFilePath, &j.c.FileOptions)
	syncpoint.ProcessArg("ExternalSstFileIngestionJob::NewRandomRWFile", &err)
	if rocksdb.IsNotSupported(err) {
		if w != nil {
			_ = w.Close(rocksdb.NewIOOptions()) // nothing was written
		}
		return nil // the MANIFEST has it as well
	}
	if err != nil {
		return j.warn(err, "Failed to open ingested file %s for random read/write", f.InternalFilePath)
	}
	var opts rocksdb.IOOptions
	err = w.Write(f.globalSeqnoOffset, binary.LittleEndian.AppendUint64(nil, seqno), &opts)
	if err == nil {
		syncpoint.Process("ExternalSstFileIngestionJob::BeforeSyncGlobalSeqno")
		if j.c.DBOptions.UseFsync {
			err = w.Fsync(&opts)
		} else {
			err = w.Sync(&opts)
		}
		syncpoint.Process("ExternalSstFileIngestionJob::AfterSyncGlobalSeqno")
	}
	if cerr := w.Close(&opts); err == nil {
		err = cerr
	}
	if err != nil {
		return j.warn(err, "Failed to write global sequence number to ingested file %s", f.InternalFilePath)
	}
	return nil
}

// checksumAfterWrite computes the checksum of a file that has its sequence
// number inside.
func (j *ExternalSstFileIngestionJob) checksumAfterWrite(f *IngestedFileInfo) error {
	if j.c.DBOptions.FileChecksumGenFactory == nil || !j.generateChecksum || !j.o.WriteGlobalSeqno {
		return nil
	}
	fo := rocksdb.DefaultFileOptions()
	fo.FileChecksumFuncName = rocksdb.NoFileChecksumFuncName
	value, name, err := j.computeChecksum(f, "", &fo)
	if err == nil {
		f.checksum, f.checksumFuncName = value, name
	}
	return err
}

// makeEquivalentCompactions makes compactions that write what the ingestion
// adds, for others to see that the ranges are taken.
func (j *ExternalSstFileIngestionJob) makeEquivalentCompactions() {
	inputs := map[int][]*version.FileMetaData{}
	var levels []int
	for _, n := range j.edit.GetNewFiles() {
		if inputs[n.Level] == nil {
			levels = append(levels, n.Level)
		}
		inputs[n.Level] = append(inputs[n.Level], n.Meta.Clone())
	}
	slices.SortFunc(levels, cmp.Compare[int])
	mo := j.cfd.GetLatestMutableCFOptions()
	for _, level := range levels {
		p := compaction.DefaultParams()
		// From level 0, for want of a better word.
		p.Inputs = []compaction.CompactionInputFiles{{Level: 0, Files: inputs[level]}}
		p.OutputLevel = level
		p.TargetFileSize = options.MaxFileSizeForLevel(mo, level, j.cfd.ioptions.CompactionStyle, 1, false)
		p.MaxCompactionBytes = math.MaxInt64
		p.Compression, p.CompressionOpts = mo.Compression, mo.CompressionOpts
		p.Reason = rocksdb.CompactionReasonExternalSstIngestion
		p.L0FilesMightOverlap = j.overlap
		j.compactions = append(j.compactions, compaction.NewCompaction(j.cfd.current.StorageInfo(), j.cfd.ioptions, mo, j.c.MutableDBOptions, p))
	}
}

// RegisterRange keeps compactions out of the files' ranges; the DB mutex is
// held.
func (j *ExternalSstFileIngestionJob) RegisterRange() {
	for _, c := range j.compactions {
		j.cfd.picker.RegisterCompaction(c)
	}
}

// UnregisterRange undoes RegisterRange; the DB mutex is held.
func (j *ExternalSstFileIngestionJob) UnregisterRange() {
	for _, c := range j.compactions {
		j.cfd.picker.UnregisterCompaction(c)
	}
	j.compactions = nil
}

// UpdateStats counts and logs a job that was committed; the DB mutex is held.
func (j *ExternalSstFileIngestionJob) UpdateStats() {
	took := j.c.DBOptions.Clock.NowMicros() - j.startTime
	ev := j.c.EventLogger.Log()
	ev.Add("event", "ingest_finished")
	ev.JSON.AddKey("files_ingested")
	ev.JSON.StartArray()
	stats := j.cfd.internalStats
	var keys, l0 uint64
	for _, f := range j.files {
		s := CompactionStats{Reason: rocksdb.CompactionReasonExternalSstIngestion, Count: 1, Micros: took, NumOutputFiles: 1}
		if f.copied {
			s.BytesWritten = f.fileSize
		} else {
			s.BytesMoved = f.fileSize
		}
		stats.AddCompactionStats(f.PickedLevel, rocksdb.UserPriority, &s)
		stats.AddCFStats(BytesIngestedAddFile, f.fileSize)
		keys += f.numEntries
		if f.PickedLevel == 0 {
			l0++
		}
		logging.Info(j.log, "[AddFile] External SST file %s was ingested in L%d with path %s (global_seqno=%d)\n",
			f.ExternalFilePath, f.PickedLevel, f.InternalFilePath, f.AssignedSeqno)
		ev.AddValue("file")
		ev.AddValue(f.InternalFilePath)
		ev.AddValue("level")
		ev.AddValue(f.PickedLevel)
	}
	ev.JSON.EndArray()
	ev.JSON.AddKey("lsm_state")
	ev.JSON.StartArray()
	vs := j.cfd.current.StorageInfo()
	for level := range vs.NumLevels() {
		ev.AddValue(vs.NumLevelFiles(level))
	}
	ev.JSON.EndArray()
	ev.End()
	stats.AddCFStats(IngestedNumKeysTotal, keys)
	stats.AddCFStats(IngestedNumFilesTotal, uint64(len(j.files)))
	stats.AddCFStats(IngestedLevel0NumFilesTotal, l0)
}
