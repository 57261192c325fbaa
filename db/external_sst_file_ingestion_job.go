// Port of db/external_sst_file_ingestion_job.{h,cc}. Differs: a file is deleted
// after a failure from the moment on that it may exist.

package db

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/rocksdb-go/rocksdb/db/compaction"
	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/db/snapshot"
	"github.com/rocksdb-go/rocksdb/db/version"
	"github.com/rocksdb-go/rocksdb/file"
	"github.com/rocksdb-go/rocksdb/file/filename"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/logging"
	"github.com/rocksdb-go/rocksdb/options"
	"github.com/rocksdb-go/rocksdb/table/uniqueid"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

// keyRange is a range of internal keys; nil bounds are not set.
type keyRange struct{ smallest, largest dbformat.InternalKey }

func (r *keyRange) unset() bool { return len(r.smallest) == 0 || len(r.largest) == 0 }

// externalFileRangeChecker compares ranges as bounds of tables.
type externalFileRangeChecker struct {
	icmp *dbformat.InternalKeyComparator
}

func (c externalFileRangeChecker) cmp(a, b dbformat.InternalKey) int {
	return version.SstableKeyCompare(c.icmp, a, b)
}

func (c externalFileRangeChecker) overlaps(a *keyRange, smallest, largest dbformat.InternalKey) bool {
	return c.cmp(a.largest, smallest) >= 0 && c.cmp(a.smallest, largest) <= 0
}

func (c externalFileRangeChecker) contains(a *keyRange, smallest, largest dbformat.InternalKey) bool {
	return c.cmp(a.smallest, smallest) <= 0 && c.cmp(a.largest, largest) >= 0
}

func (c externalFileRangeChecker) widen(r *keyRange, start, end dbformat.InternalKey) {
	if len(r.smallest) == 0 || c.cmp(start, r.smallest) < 0 {
		r.smallest = start
	}
	if len(r.largest) == 0 || c.cmp(end, r.largest) > 0 {
		r.largest = end
	}
}

// IngestedFileInfo is a file on its way into a column family.
type IngestedFileInfo struct {
	keyRange
	ExternalFilePath string
	// startUkey and limitUkey are the least and greatest user key; with
	// timestamps, which are left out of the comparison, the widest ones.
	startUkey, limitUkey []byte
	globalSeqnoOffset    uint64 // of the number in the file, 0 for none
	originalSeqno        rocksdb.SequenceNumber
	fileSize             uint64
	numEntries           uint64
	numRangeDeletions    uint64
	columnFamilyID       uint32
	TableProperties      rocksdb.TableProperties
	version              int32 // of the external file's format; 0: made by a database

	number           uint64
	InternalFilePath string // "" until the file may exist
	AssignedSeqno    rocksdb.SequenceNumber
	PickedLevel      int
	copied           bool // not linked
	checksum         string
	checksumFuncName string
	temperature      rocksdb.Temperature
	uniqueID         uniqueid.UniqueId64x2
	udtPersisted     bool
	// The bounds of a database's file.
	smallestSeqno, largestSeqno rocksdb.SequenceNumber
}

// fileBatch is a list of files that do not overlap each other.
type fileBatch struct {
	keyRange // not set where it does not matter
	files    []*IngestedFileInfo
}

// IngestionJobConfig is what an ingestion works with.
type IngestionJobConfig struct {
	VersionSet       *VersionSet
	CFD              *ColumnFamilyData
	DBOptions        *options.ImmutableDBOptions
	MutableDBOptions *options.MutableDBOptions
	FileOptions      rocksdb.FileOptions
	Snapshots        *snapshot.List // under the DB mutex
	Directories      *Directories
	EventLogger      *logging.EventLogger
}

// ExternalSstFileIngestionJob takes files into one column family. The order of
// calls is Prepare, NeedsFlush, Run, RegisterRange, UnregisterRange,
// UpdateStats; Cleanup ends it in any case.
type ExternalSstFileIngestionJob struct {
	c         IngestionJobConfig
	o         rocksdb.IngestExternalFileOptions
	cfd       *ColumnFamilyData
	ucmp      rocksdb.Comparator
	checker   externalFileRangeChecker
	log       rocksdb.Logger
	startTime uint64

	files    []*IngestedFileInfo
	batches  []*fileBatch
	overlap  bool // of files of the job with each other
	edit     version.VersionEdit
	replace  *keyRange // AtomicReplaceRange; bounds not set mean all keys
	maxSeqno rocksdb.SequenceNumber
	// generateChecksum: the database computes checksums of the files, where it
	// has any.
	generateChecksum bool
	flushedBeforeRun bool
	compactions      []*compaction.Compaction // in the range's stead
}

// NewExternalSstFileIngestionJob makes a job.
func NewExternalSstFileIngestionJob(c *IngestionJobConfig, o *rocksdb.IngestExternalFileOptions) *ExternalSstFileIngestionJob {
	return &ExternalSstFileIngestionJob{c: *c, o: *o, cfd: c.CFD, ucmp: c.CFD.UserComparator(),
		checker: externalFileRangeChecker{c.CFD.InternalComparator()}, log: c.DBOptions.InfoLog,
		startTime: c.DBOptions.Clock.NowMicros(), generateChecksum: true}
}

// CFD is the family that takes the files.
func (j *ExternalSstFileIngestionJob) CFD() *ColumnFamilyData { return j.cfd }

// Files are the files, in the order given.
func (j *ExternalSstFileIngestionJob) Files() []*IngestedFileInfo { return j.files }

// Edit is what Run made; it adds the files.
func (j *ExternalSstFileIngestionJob) Edit() *version.VersionEdit { return &j.edit }

// MaxAssignedSequenceNumber is the greatest sequence number of the files.
func (j *ExternalSstFileIngestionJob) MaxAssignedSequenceNumber() rocksdb.SequenceNumber {
	return j.maxSeqno
}

// FileOpeningThreads is how many goroutines may open the files.
func (j *ExternalSstFileIngestionJob) FileOpeningThreads() int { return j.o.FileOpeningThreads }

// SetFlushedBeforeRun says that the family was flushed since Prepare.
func (j *ExternalSstFileIngestionJob) SetFlushedBeforeRun() { j.flushedBeforeRun = true }

func (j *ExternalSstFileIngestionJob) warn(err error, format string, args ...any) error {
	logging.Warn(j.log, "%s: %v", fmt.Sprintf(format, args...), err)
	return err
}

// Prepare looks at the files and links or copies them into the database under
// the numbers from next on, where they are synced. The DB mutex is not held; sv
// is referenced by the caller.
func (j *ExternalSstFileIngestionJob) Prepare(arg *rocksdb.IngestExternalFileArg, next uint64, sv *SuperVersion) error {
	for i, path := range arg.ExternalFiles {
		f := &IngestedFileInfo{temperature: arg.FileTemperature, udtPersisted: true, number: next,
			smallestSeqno: dbformat.MaxSequenceNumber, largestSeqno: dbformat.MaxSequenceNumber}
		next++
		var known *rocksdb.PreparedFileInfo
		if len(arg.FileInfos) > 0 {
			known = arg.FileInfos[i]
		}
		if err := j.getIngestedFileInfo(path, known, f, sv); err != nil {
			return j.warn(err, "Failed to get ingested file info: %s", path)
		}
		switch {
		case f.columnFamilyID != rocksdb.UnknownColumnFamily && f.columnFamilyID != j.cfd.GetID() && !j.o.AllowDBGeneratedFiles:
			return rocksdb.InvalidArgument("External file column family id don't match")
		case f.numEntries == 0 && f.numRangeDeletions == 0:
			return rocksdb.InvalidArgument("File contain no entries")
		case !f.smallest.Valid() || !f.largest.Valid():
			return rocksdb.Corruption("Generated table have corrupted keys")
		}
		j.files = append(j.files, f)
	}
	if len(j.files) == 0 {
		return rocksdb.InvalidArgument("The list of files is empty")
	}
	j.overlap = j.filesOverlap()
	if err := j.setReplaceRange(arg.AtomicReplaceRange); err != nil {
		return err
	}
	if err := j.checkOverlap(); err != nil {
		return err
	}
	if err := j.addFiles(sv); err != nil {
		return err
	}
	if err := j.fileChecksums(arg); err != nil {
		return j.warn(err, "Ingestion failed")
	}
	j.divideIntoBatches()
	return nil
}

// setReplaceRange keeps the range whose data the files replace.
func (j *ExternalSstFileIngestionJob) setReplaceRange(r *rocksdb.RangeOpt) error {
	if r == nil {
		return nil
	}
	j.replace = &keyRange{}
	if r.Start == nil {
		return nil
	}
	ts := j.ucmp.TimestampSize()
	j.replace.smallest = dbformat.SetMinPossibleForUserKey(dbformat.AppendKeyWithMaxTimestamp(nil, r.Start, ts))
	j.replace.largest = dbformat.SetMinPossibleForUserKey(dbformat.AppendKeyWithMaxTimestamp(nil, r.Limit, ts))
	for _, f := range j.files {
		if !j.checker.contains(j.replace, f.smallest, f.largest) {
			return rocksdb.InvalidArgument("Atomic replace range does not contain all files")
		}
	}
	return nil
}

// checkOverlap refuses files that overlap each other where that cannot work.
func (j *ExternalSstFileIngestionJob) checkOverlap() error {
	switch {
	case !j.overlap:
	case j.o.IngestBehind:
		return rocksdb.NotSupported("Files with overlapping ranges cannot be ingested with ingestion behind mode.")
	case !j.o.AllowGlobalSeqno && !j.o.AllowDBGeneratedFiles:
		return rocksdb.InvalidArgument("Global seqno is required, but disabled (because external files key range overlaps).")
	case j.ucmp.TimestampSize() > 0:
		return rocksdb.NotSupported("Files with overlapping ranges cannot be ingested to column family with user-defined timestamp enabled.")
	}
	return nil
}

// addFiles links or copies the files and syncs them, then the directory.
func (j *ExternalSstFileIngestionJob) addFiles(sv *SuperVersion) error {
	for _, f := range j.files {
		if err := j.addFile(f, sv); err != nil {
			return err
		}
		f.checksum, f.checksumFuncName = rocksdb.UnknownFileChecksum, rocksdb.UnknownFileChecksumFuncName
		syncpoint.Process("ExternalSstFileIngestionJob::Prepare:FileAdded")
	}
	syncpoint.Process("ExternalSstFileIngestionJob::BeforeSyncDir")
	err := j.c.Directories.DataDir(j.cfd, 0).FsyncWithDirOptions(rocksdb.NewIOOptions(), rocksdb.DirFsyncOptions{Reason: rocksdb.DirFsyncNewFileSynced})
	syncpoint.Process("ExternalSstFileIngestionJob::AfterSyncDir")
	if err != nil {
		return j.warn(err, "Failed to sync directory 0 while ingest file")
	}
	return nil
}

func (j *ExternalSstFileIngestionJob) addFile(f *IngestedFileInfo, sv *SuperVersion) error {
	inside := filename.TableFileName(j.cfd.ioptions.CFPaths, f.number, 0)
	f.copied = true
	if j.o.MoveFiles || j.o.LinkFiles {
		err := j.linkFile(f, inside)
		if err == nil {
			f.copied = false
			return nil
		}
		if !rocksdb.IsNotSupported(err) || f.InternalFilePath != "" || !j.o.FailedMoveFallBackToCopy {
			return err
		}
		logging.Info(j.log, "Tried to link file %s but it's not supported : %v", f.ExternalFilePath, err)
	}
	syncpoint.ProcessArg("ExternalSstFileIngestionJob::Prepare:CopyFile", nil)
	// The level is known later only, but for files that have to go to the last.
	mo := sv.MutableCFOptions
	to := mo.DefaultWriteTemperature
	if j.o.IngestBehind || j.o.FailIfNotBottommostLevel {
		to = mo.LastLevelTemperature
	}
	f.InternalFilePath = inside
	err := file.CopyFile(j.c.DBOptions.FS, f.ExternalFilePath, inside, 0, &file.CopyOptions{
		SrcTemperature: f.temperature, DstTemperature: to, UseFsync: j.c.DBOptions.UseFsync, MaxReadBufferSize: 1 << 20})
	f.temperature = to
	if err != nil {
		return j.warn(err, "Failed to copy file %s to %s", f.ExternalFilePath, inside)
	}
	return nil
}

// linkFile links and syncs: whether the user synced the file is not known. The
// internal path is set once the link is there.
func (j *ExternalSstFileIngestionJob) linkFile(f *IngestedFileInfo, inside string) error {
	fs := j.c.DBOptions.FS
	if err := fs.LinkFile(f.ExternalFilePath, inside, rocksdb.NewIOOptions()); err != nil {
		return j.warn(err, "Failed to link file %s to %s", f.ExternalFilePath, inside)
	}
	f.InternalFilePath = inside
	syncpoint.Process("ExternalSstFileIngestionJob::BeforeSyncIngestedFile")
	err := fs.SyncFile(inside, &j.c.FileOptions, rocksdb.NewIOOptions(), j.c.DBOptions.UseFsync)
	syncpoint.Process("ExternalSstFileIngestionJob::AfterSyncIngestedFile")
	syncpoint.ProcessArg("ExternalSstFileIngestionJob::CheckSyncReturnCode", &err)
	// Some file systems neither can nor need sync a file that is not open.
	if err != nil && !rocksdb.IsNotSupported(err) {
		return j.warn(err, "Failed to sync ingested file %s", inside)
	}
	return nil
}

// fileChecksums computes the checksums of whole files and compares them with
// what the user gave. With write_global_seqno they are computed again once the
// number is in the file.
func (j *ExternalSstFileIngestionJob) fileChecksums(arg *rocksdb.IngestExternalFileArg) error {
	factory := j.c.DBOptions.FileChecksumGenFactory
	if factory == nil {
		return nil
	}
	n := len(j.files)
	given := len(arg.FilesChecksums) == n && len(arg.FilesChecksumFuncNames) == n
	j.generateChecksum = j.o.VerifyFileChecksum || !given
	type checksum struct{ value, funcName string }
	generated := make([]checksum, n)
	if j.generateChecksum {
		for i, f := range j.files {
			fo := rocksdb.DefaultFileOptions()
			fo.FileChecksumFuncName = rocksdb.NoFileChecksumFuncName
			requested := ""
			if i < len(arg.FilesChecksums) {
				fo.FileChecksum = arg.FilesChecksums[i]
			}
			if i < len(arg.FilesChecksumFuncNames) {
				requested = arg.FilesChecksumFuncNames[i]
				fo.FileChecksumFuncName = requested
			}
			value, name, err := j.computeChecksum(f, requested, &fo)
			if err != nil {
				return j.warn(err, "Sst file checksum generation of file: %s failed", f.InternalFilePath)
			}
			generated[i] = checksum{value, name}
			if !j.o.WriteGlobalSeqno {
				f.checksum, f.checksumFuncName = value, name
			}
		}
	}
	if !given {
		if len(arg.FilesChecksums) != len(arg.FilesChecksumFuncNames) || len(arg.FilesChecksums) != 0 {
			return rocksdb.InvalidArgument("The checksum information of ingested sst files are nonempty and " +
				"the size of checksums or the size of the checksum function names does not match with the number of ingested sst files")
		}
		return nil
	}
	for i, f := range j.files {
		value, name := arg.FilesChecksums[i], arg.FilesChecksumFuncNames[i]
		if !j.o.VerifyFileChecksum {
			// Taken on trust, if the database knows the function at all.
			if err := j.checkChecksumFunction(f, name); err != nil {
				return err
			}
			f.checksum, f.checksumFuncName = value, name
			continue
		}
		if name != generated[i].funcName {
			return rocksdb.InvalidArgument("DB file checksum gen factory " + factory.Name() + " generated checksum function name " +
				generated[i].funcName + " for file " + f.ExternalFilePath + " which does not match requested/provided " + name)
		}
		if value != generated[i].value {
			return rocksdb.Corruption("Checksum verification mismatch for ingestion file " + f.ExternalFilePath + " using function " +
				name + ". Expected: " + checksumHex(value) + " Computed: " + checksumHex(generated[i].value))
		}
	}
	return nil
}

func checksumHex(s string) string { return strings.ToUpper(hex.EncodeToString([]byte(s))) }

func (j *ExternalSstFileIngestionJob) checkChecksumFunction(f *IngestedFileInfo, name string) error {
	factory := j.c.DBOptions.FileChecksumGenFactory
	gen := factory.CreateFileChecksumGenerator(rocksdb.FileChecksumGenContext{FileName: f.InternalFilePath, RequestedChecksumFuncName: name})
	if gen != nil && gen.Name() == name {
		return nil
	}
	got := ""
	if gen != nil {
		got = " Returned function " + gen.Name()
	}
	return rocksdb.InvalidArgument("Checksum function name " + name + " for file " + f.ExternalFilePath +
		" not recognized by DB checksum gen factory" + factory.Name() + got)
}

func (j *ExternalSstFileIngestionJob) computeChecksum(f *IngestedFileInfo, requested string, fo *rocksdb.FileOptions) (value, funcName string, err error) {
	ro := rocksdb.DefaultReadOptions()
	dbo := j.c.DBOptions
	return file.GenerateOneFileChecksum(dbo.FS, f.InternalFilePath, dbo.FileChecksumGenFactory, &file.ChecksumOptions{
		RequestedFuncName: requested, ReadaheadSize: int(j.o.VerifyChecksumsReadaheadSize), ReadOptions: &ro, FileOptions: fo,
		Stats: dbo.Stats, Clock: dbo.Clock, RateLimiter: dbo.RateLimiter})
}

// filesOverlap tells whether two of the files overlap.
func (j *ExternalSstFileIngestionJob) filesOverlap() bool {
	sorted := slices.Clone(j.files)
	slices.SortStableFunc(sorted, func(a, b *IngestedFileInfo) int { return j.checker.cmp(a.smallest, b.smallest) })
	for i := 1; i < len(sorted); i++ {
		if j.checker.cmp(sorted[i-1].largest, sorted[i].smallest) >= 0 {
			return true
		}
	}
	return false
}

// divideIntoBatches makes batches, in the files' order, within which no files
// overlap.
func (j *ExternalSstFileIngestionJob) divideIntoBatches() {
	last := &fileBatch{}
	j.batches = []*fileBatch{last}
	for _, f := range j.files {
		if j.overlap {
			if !last.unset() && j.checker.overlaps(&last.keyRange, f.smallest, f.largest) {
				last = &fileBatch{}
				j.batches = append(j.batches, last)
			}
			j.checker.widen(&last.keyRange, f.smallest, f.largest)
		}
		last.files = append(last.files, f)
	}
}

// MergeForSameColumnFamily takes over the files of another prepared job for the
// same family, which count as given after j's own.
func (j *ExternalSstFileIngestionJob) MergeForSameColumnFamily(other *ExternalSstFileIngestionJob) error {
	if j.replace != nil || other.replace != nil {
		return rocksdb.NotSupported("cannot merge file ingestion handles for the same column family when atomic_replace_range is used")
	}
	a, b := j.o, other.o
	a.PerfContext, b.PerfContext = nil, nil
	if a != b {
		return rocksdb.InvalidArgument("file ingestion handles for the same column family must be prepared with the same IngestExternalFileOptions")
	}
	j.files = append(j.files, other.files...)
	other.files, other.batches = nil, nil
	j.overlap = j.filesOverlap()
	j.divideIntoBatches()
	return nil
}

// Cleanup removes what the job added, after an error, or with move_files the
// files' original links. The DB mutex is not held.
func (j *ExternalSstFileIngestionJob) Cleanup(status error) {
	fs := j.c.DBOptions.FS
	for _, f := range j.files {
		switch {
		case status == nil && j.o.MoveFiles:
			if err := fs.DeleteFile(f.ExternalFilePath, rocksdb.NewIOOptions()); err != nil {
				logging.Warn(j.log, "%s was added to DB successfully but failed to remove original file link : %v", f.ExternalFilePath, err)
			}
		case status != nil && f.InternalFilePath != "":
			if err := fs.DeleteFile(f.InternalFilePath, rocksdb.NewIOOptions()); err != nil {
				logging.Warn(j.log, "AddFile() clean up for file %s failed : %v", f.InternalFilePath, err)
			}
		}
	}
	if status != nil {
		j.overlap = false
	}
}

// LeaveFiles keeps Cleanup from deleting files with these numbers: the MANIFEST
// may name them. Once it is known whether it does, obsolete files are found as
// after a flush.
func (j *ExternalSstFileIngestionJob) LeaveFiles(numbers []uint64) {
	for _, f := range j.files {
		if slices.Contains(numbers, f.number) {
			f.InternalFilePath = ""
		}
	}
}
