// Port of db/version_edit.{h,cc}. Differs: file metadata is held by pointer,
// EncodeTo takes the timestamp size as a plain number.

package version

import (
	"cmp"
	"slices"

	"github.com/rocksdb-go/rocksdb/db/blob/blobformat"
	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

// Tag introduces one field of a MANIFEST record. The numbers are on disk.
type Tag uint32

// The tags. Those with TagSafeIgnoreMask set are followed by a length, so that
// an engine that does not know one can skip it.
const (
	TagComparator         Tag = 1
	TagLogNumber          Tag = 2
	TagNextFileNumber     Tag = 3
	TagLastSequence       Tag = 4
	TagCompactCursor      Tag = 5
	TagDeletedFile        Tag = 6
	TagNewFile            Tag = 7
	TagPrevLogNumber      Tag = 9 // 8 was used for large value references
	TagMinLogNumberToKeep Tag = 10

	TagNewFile2         Tag = 100
	TagNewFile3         Tag = 102
	TagNewFile4         Tag = 103
	TagColumnFamily     Tag = 200
	TagColumnFamilyAdd  Tag = 201
	TagColumnFamilyDrop Tag = 202
	TagMaxColumnFamily  Tag = 203

	TagInAtomicGroup Tag = 300

	TagBlobFileAddition Tag = 400
	TagBlobFileGarbage  Tag = 401

	TagSafeIgnoreMask               Tag = 1 << 13
	TagDbId                         Tag = TagSafeIgnoreMask + 1
	TagBlobFileAdditionDeprecated   Tag = TagSafeIgnoreMask + 2
	TagBlobFileGarbageDeprecated    Tag = TagSafeIgnoreMask + 3
	TagWalAddition                  Tag = TagSafeIgnoreMask + 4
	TagWalDeletion                  Tag = TagSafeIgnoreMask + 5
	TagFullHistoryTsLow             Tag = TagSafeIgnoreMask + 6
	TagWalAddition2                 Tag = TagSafeIgnoreMask + 7
	TagWalDeletion2                 Tag = TagSafeIgnoreMask + 8
	TagPersistUserDefinedTimestamps Tag = TagSafeIgnoreMask + 9
	TagSubcompactionProgress        Tag = TagSafeIgnoreMask + 10
	TagLastCompactedManifestSize    Tag = TagSafeIgnoreMask + 11
)

// NewFileCustomTag introduces one optional field of a TagNewFile4 entry.
type NewFileCustomTag uint32

// The tags within a TagNewFile4 entry. One with CustomTagNonSafeIgnoreMask
// that is not known makes the record unreadable.
const (
	CustomTagTerminate                      NewFileCustomTag = 1
	CustomTagNeedCompaction                 NewFileCustomTag = 2
	CustomTagMinLogNumberToKeepHack         NewFileCustomTag = 3
	CustomTagOldestBlobFileNumber           NewFileCustomTag = 4
	CustomTagOldestAncesterTime             NewFileCustomTag = 5
	CustomTagFileCreationTime               NewFileCustomTag = 6
	CustomTagFileChecksum                   NewFileCustomTag = 7
	CustomTagFileChecksumFuncName           NewFileCustomTag = 8
	CustomTagTemperature                    NewFileCustomTag = 9
	CustomTagMinTimestamp                   NewFileCustomTag = 10
	CustomTagMaxTimestamp                   NewFileCustomTag = 11
	CustomTagUniqueId                       NewFileCustomTag = 12
	CustomTagEpochNumber                    NewFileCustomTag = 13
	CustomTagCompensatedRangeDeletionSize   NewFileCustomTag = 14
	CustomTagTailSize                       NewFileCustomTag = 15
	CustomTagUserDefinedTimestampsPersisted NewFileCustomTag = 16
	CustomTagFileOpenMetadata               NewFileCustomTag = 17
	CustomTagNonSafeIgnoreMask              NewFileCustomTag = 1 << 6
	CustomTagPathId                         NewFileCustomTag = CustomTagNonSafeIgnoreMask + 1
)

// NewFile is a table file and the level it goes to.
type NewFile struct {
	Level int
	Meta  *FileMetaData
}

// DeletedFile names a table file that leaves a level.
type DeletedFile struct {
	Level  int
	Number uint64
}

// CompactCursor says where the next round-robin compaction of a level begins.
type CompactCursor struct {
	Level int
	Key   dbformat.InternalKey
}

// VersionEdit is one record of the MANIFEST: what changes from a version of a
// column family to the next. The zero value is an empty edit.
type VersionEdit struct {
	maxLevel int

	dbID                         string
	comparator                   string
	columnFamilyName             string
	fullHistoryTsLow             string
	logNumber                    uint64
	prevLogNumber                uint64
	nextFileNumber               uint64
	minLogNumberToKeep           uint64
	lastSequence                 rocksdb.SequenceNumber
	lastCompactedManifestSize    uint64
	maxColumnFamily              uint32
	columnFamily                 uint32
	remainingEntries             uint32
	hasDbID                      bool
	hasComparator                bool
	hasLogNumber                 bool
	hasPrevLogNumber             bool
	hasNextFileNumber            bool
	hasMaxColumnFamily           bool
	hasMinLogNumberToKeep        bool
	hasLastSequence              bool
	hasPersistUDT                bool
	noPersistUDT                 bool // inverted, so that the zero value is upstream's default
	isColumnFamilyDrop           bool
	isColumnFamilyAdd            bool
	isForegroundOperation        bool
	isInAtomicGroup              bool
	isNoManifestWriteDummy       bool
	hasSubcompactionProgress     bool
	hasLastCompactedManifestSize bool

	compactCursors     []CompactCursor
	deletedFiles       []DeletedFile // sorted by level, number; no doubles
	newFiles           []NewFile
	blobFileAdditions  []blobformat.BlobFileAddition
	blobFileGarbages   []blobformat.BlobFileGarbage
	walAdditions       []WalAddition
	walDeletion        WalDeletion
	filesToQuarantine  []uint64
	subcompactionState SubcompactionProgress
}

// Clear makes the edit empty.
func (e *VersionEdit) Clear() { *e = VersionEdit{} }

// SetDBId sets the database's identity.
func (e *VersionEdit) SetDBId(id string) { e.hasDbID, e.dbID = true, id }

// HasDbId tells whether SetDBId was called.
func (e *VersionEdit) HasDbId() bool { return e.hasDbID }

// GetDbId is the database's identity.
func (e *VersionEdit) GetDbId() string { return e.dbID }

// SetComparatorName sets the name of the user comparator.
func (e *VersionEdit) SetComparatorName(name string) { e.hasComparator, e.comparator = true, name }

// HasComparatorName tells whether a comparator is named.
func (e *VersionEdit) HasComparatorName() bool { return e.hasComparator }

// GetComparatorName is the user comparator's name.
func (e *VersionEdit) GetComparatorName() string { return e.comparator }

// SetPersistUserDefinedTimestamps says whether the family's files keep
// timestamps; written beside the comparator's name.
func (e *VersionEdit) SetPersistUserDefinedTimestamps(persist bool) {
	e.hasPersistUDT, e.noPersistUDT = true, !persist
}

// HasPersistUserDefinedTimestamps tells whether the flag is set.
func (e *VersionEdit) HasPersistUserDefinedTimestamps() bool { return e.hasPersistUDT }

// GetPersistUserDefinedTimestamps is true unless set otherwise.
func (e *VersionEdit) GetPersistUserDefinedTimestamps() bool { return !e.noPersistUDT }

// SetLogNumber sets the least WAL that holds data of the family not in tables.
func (e *VersionEdit) SetLogNumber(num uint64) { e.hasLogNumber, e.logNumber = true, num }

// HasLogNumber tells whether SetLogNumber was called.
func (e *VersionEdit) HasLogNumber() bool { return e.hasLogNumber }

// GetLogNumber gives what SetLogNumber set.
func (e *VersionEdit) GetLogNumber() uint64 { return e.logNumber }

// SetPrevLogNumber sets the previous WAL, which only LevelDB used.
func (e *VersionEdit) SetPrevLogNumber(num uint64) { e.hasPrevLogNumber, e.prevLogNumber = true, num }

// HasPrevLogNumber tells whether SetPrevLogNumber was called.
func (e *VersionEdit) HasPrevLogNumber() bool { return e.hasPrevLogNumber }

// GetPrevLogNumber gives what SetPrevLogNumber set.
func (e *VersionEdit) GetPrevLogNumber() uint64 { return e.prevLogNumber }

// SetNextFile sets the next file number to be given out.
func (e *VersionEdit) SetNextFile(num uint64) { e.hasNextFileNumber, e.nextFileNumber = true, num }

// HasNextFile tells whether SetNextFile was called.
func (e *VersionEdit) HasNextFile() bool { return e.hasNextFileNumber }

// GetNextFile gives what SetNextFile set.
func (e *VersionEdit) GetNextFile() uint64 { return e.nextFileNumber }

// SetMaxColumnFamily sets the highest column family id ever used.
func (e *VersionEdit) SetMaxColumnFamily(id uint32) {
	e.hasMaxColumnFamily, e.maxColumnFamily = true, id
}

// HasMaxColumnFamily tells whether SetMaxColumnFamily was called.
func (e *VersionEdit) HasMaxColumnFamily() bool { return e.hasMaxColumnFamily }

// GetMaxColumnFamily gives what SetMaxColumnFamily set.
func (e *VersionEdit) GetMaxColumnFamily() uint32 { return e.maxColumnFamily }

// SetMinLogNumberToKeep says which WALs two-phase commit still needs.
func (e *VersionEdit) SetMinLogNumberToKeep(num uint64) {
	e.hasMinLogNumberToKeep, e.minLogNumberToKeep = true, num
}

// HasMinLogNumberToKeep tells whether the number is set.
func (e *VersionEdit) HasMinLogNumberToKeep() bool { return e.hasMinLogNumberToKeep }

// GetMinLogNumberToKeep gives what SetMinLogNumberToKeep set.
func (e *VersionEdit) GetMinLogNumberToKeep() uint64 { return e.minLogNumberToKeep }

// SetLastSequence sets the last sequence number in use.
func (e *VersionEdit) SetLastSequence(seq rocksdb.SequenceNumber) {
	e.hasLastSequence, e.lastSequence = true, seq
}

// HasLastSequence tells whether a last sequence number is set.
func (e *VersionEdit) HasLastSequence() bool { return e.hasLastSequence }

// GetLastSequence is the last sequence number.
func (e *VersionEdit) GetLastSequence() rocksdb.SequenceNumber { return e.lastSequence }

// DeleteFile takes a table file out of a level.
func (e *VersionEdit) DeleteFile(level int, number uint64) {
	d := DeletedFile{level, number}
	i, found := slices.BinarySearchFunc(e.deletedFiles, d, func(a, b DeletedFile) int {
		return cmp.Or(cmp.Compare(a.Level, b.Level), cmp.Compare(a.Number, b.Number))
	})
	if !found {
		e.deletedFiles = slices.Insert(e.deletedFiles, i, d)
	}
}

// GetDeletedFiles lists the deleted files by level and number. Not to be
// changed.
func (e *VersionEdit) GetDeletedFiles() []DeletedFile { return e.deletedFiles }

// AddFile adds a table file to a level. f is cloned.
func (e *VersionEdit) AddFile(level int, f *FileMetaData) {
	e.newFiles = append(e.newFiles, NewFile{level, f.Clone()})
	syncpoint.ProcessArg("FileMetaData::FileMetaData", e.newFiles[len(e.newFiles)-1].Meta)
	e.filesToQuarantine = append(e.filesToQuarantine, f.FD.GetNumber())
	e.raiseLastSequence(f.FD.LargestSeqno)
}

// AddInstalledFile is AddFile for an edit that is only encoded: f is a version's,
// and what the database's mutex guards of it is not looked at.
func (e *VersionEdit) AddInstalledFile(level int, f *FileMetaData) {
	e.newFiles = append(e.newFiles, NewFile{level, f})
	e.raiseLastSequence(f.FD.LargestSeqno)
}

func (e *VersionEdit) raiseLastSequence(seq rocksdb.SequenceNumber) {
	if !e.hasLastSequence || seq > e.lastSequence {
		e.SetLastSequence(seq)
	}
}

// GetNewFiles lists the added files in the order they were added. The edit
// owns the metadata, which may be changed in place until the edit is applied.
func (e *VersionEdit) GetNewFiles() []NewFile { return e.newFiles }

// SetNewFiles replaces the list of added files.
func (e *VersionEdit) SetNewFiles(files []NewFile) { e.newFiles = files }

// GetCompactCursors lists the compaction cursors.
func (e *VersionEdit) GetCompactCursors() []CompactCursor { return e.compactCursors }

// AddCompactCursor adds a compaction cursor.
func (e *VersionEdit) AddCompactCursor(level int, cursor dbformat.InternalKey) {
	e.compactCursors = append(e.compactCursors, CompactCursor{level, cursor})
}

// SetCompactCursors takes the valid ones of a list by level.
func (e *VersionEdit) SetCompactCursors(byLevel []dbformat.InternalKey) {
	e.compactCursors = make([]CompactCursor, 0, len(byLevel))
	for level := range byLevel {
		if byLevel[level].Valid() {
			e.AddCompactCursor(level, byLevel[level])
		}
	}
}

// AddBlobFile adds a blob file.
func (e *VersionEdit) AddBlobFile(a blobformat.BlobFileAddition) {
	e.blobFileAdditions = append(e.blobFileAdditions, a)
	e.filesToQuarantine = append(e.filesToQuarantine, a.GetBlobFileNumber())
}

// GetBlobFileAdditions lists the added blob files.
func (e *VersionEdit) GetBlobFileAdditions() []blobformat.BlobFileAddition {
	return e.blobFileAdditions
}

// SetBlobFileAdditions adds several blob files to an edit that has none.
func (e *VersionEdit) SetBlobFileAdditions(as []blobformat.BlobFileAddition) {
	e.blobFileAdditions = nil
	for _, a := range as {
		e.AddBlobFile(a)
	}
}

// AddBlobFileGarbage says how much of a blob file became garbage.
func (e *VersionEdit) AddBlobFileGarbage(g blobformat.BlobFileGarbage) {
	e.blobFileGarbages = append(e.blobFileGarbages, g)
}

// GetBlobFileGarbages lists the garbage records.
func (e *VersionEdit) GetBlobFileGarbages() []blobformat.BlobFileGarbage { return e.blobFileGarbages }

// SetBlobFileGarbages replaces the garbage records; gs is kept.
func (e *VersionEdit) SetBlobFileGarbages(gs []blobformat.BlobFileGarbage) { e.blobFileGarbages = gs }

// AddWal tells that a WAL was created, or how far it is synced. An edit that
// speaks of WALs holds nothing else.
func (e *VersionEdit) AddWal(number WalNumber, metadata WalMetadata) {
	e.walAdditions = append(e.walAdditions, WalAddition{number, metadata})
}

// GetWalAdditions lists the WALs added.
func (e *VersionEdit) GetWalAdditions() []WalAddition { return e.walAdditions }

// IsWalAddition tells whether the edit adds WALs.
func (e *VersionEdit) IsWalAddition() bool { return len(e.walAdditions) > 0 }

// DeleteWalsBefore drops the WALs with lower numbers.
func (e *VersionEdit) DeleteWalsBefore(number WalNumber) { e.walDeletion = WalDeletion{number} }

// GetWalDeletion is the deletion, empty when there is none.
func (e *VersionEdit) GetWalDeletion() WalDeletion { return e.walDeletion }

// IsWalDeletion tells whether the edit drops WALs.
func (e *VersionEdit) IsWalDeletion() bool { return !e.walDeletion.IsEmpty() }

// IsWalManipulation tells whether the edit is only about WALs.
func (e *VersionEdit) IsWalManipulation() bool {
	n := e.NumEntries()
	deletions := 0
	if e.IsWalDeletion() {
		deletions = 1
	}
	return n > 0 && (n == len(e.walAdditions) || n == deletions)
}

// NumEntries counts files, blob files and WALs added and deleted.
func (e *VersionEdit) NumEntries() int {
	n := len(e.newFiles) + len(e.deletedFiles) + len(e.blobFileAdditions) + len(e.blobFileGarbages) +
		len(e.walAdditions)
	if !e.walDeletion.IsEmpty() {
		n++
	}
	return n
}

// SetColumnFamily says which family the edit is for; 0 is the default one.
func (e *VersionEdit) SetColumnFamily(id uint32) { e.columnFamily = id }

// GetColumnFamily is the id of the edit's family.
func (e *VersionEdit) GetColumnFamily() uint32 { return e.columnFamily }

// GetColumnFamilyName is the name of a family being added.
func (e *VersionEdit) GetColumnFamilyName() string { return e.columnFamilyName }

// AddColumnFamily makes the edit create a family; it holds no files.
func (e *VersionEdit) AddColumnFamily(name string) {
	e.isColumnFamilyAdd, e.columnFamilyName = true, name
}

// DropColumnFamily makes the edit drop its family.
func (e *VersionEdit) DropColumnFamily() { e.isColumnFamilyDrop = true }

// IsColumnFamilyManipulation tells whether a family is added or dropped.
func (e *VersionEdit) IsColumnFamilyManipulation() bool {
	return e.isColumnFamilyAdd || e.isColumnFamilyDrop
}

// IsColumnFamilyAdd tells whether a family is added.
func (e *VersionEdit) IsColumnFamilyAdd() bool { return e.isColumnFamilyAdd }

// IsColumnFamilyDrop tells whether a family is dropped.
func (e *VersionEdit) IsColumnFamilyDrop() bool { return e.isColumnFamilyDrop }

// MarkForegroundOperation says that a user's call waits for this edit.
func (e *VersionEdit) MarkForegroundOperation() { e.isForegroundOperation = true }

// IsForegroundOperation tells whether a user's call waits for this edit.
func (e *VersionEdit) IsForegroundOperation() bool {
	return e.isForegroundOperation || e.IsColumnFamilyManipulation()
}

// MarkNoManifestWriteDummy makes the edit one that waits its turn in the
// queue of MANIFEST writers and writes nothing.
func (e *VersionEdit) MarkNoManifestWriteDummy() { e.isNoManifestWriteDummy = true }

// IsNoManifestWriteDummy tells whether the edit writes nothing.
func (e *VersionEdit) IsNoManifestWriteDummy() bool { return e.isNoManifestWriteDummy }

// MarkAtomicGroup puts the edit in an atomic group of which remaining records
// are still to come.
func (e *VersionEdit) MarkAtomicGroup(remaining uint32) {
	e.isInAtomicGroup, e.remainingEntries = true, remaining
}

// IsInAtomicGroup tells whether the edit is in an atomic group.
func (e *VersionEdit) IsInAtomicGroup() bool { return e.isInAtomicGroup }

// SetRemainingEntries sets how many records of the group follow.
func (e *VersionEdit) SetRemainingEntries(n uint32) { e.remainingEntries = n }

// GetRemainingEntries says how many records of the group follow.
func (e *VersionEdit) GetRemainingEntries() uint32 { return e.remainingEntries }

// HasFullHistoryTsLow tells whether a timestamp is set.
func (e *VersionEdit) HasFullHistoryTsLow() bool { return e.fullHistoryTsLow != "" }

// GetFullHistoryTsLow is the timestamp below which history may be dropped.
func (e *VersionEdit) GetFullHistoryTsLow() string { return e.fullHistoryTsLow }

// SetFullHistoryTsLow sets that timestamp; not "".
func (e *VersionEdit) SetFullHistoryTsLow(ts string) { e.fullHistoryTsLow = ts }

// SetSubcompactionProgress sets how far a resumable compaction came. The
// progress is kept.
func (e *VersionEdit) SetSubcompactionProgress(p SubcompactionProgress) {
	e.hasSubcompactionProgress, e.subcompactionState = true, p
}

// HasSubcompactionProgress tells whether progress is set.
func (e *VersionEdit) HasSubcompactionProgress() bool { return e.hasSubcompactionProgress }

// GetSubcompactionProgress is the progress; the edit owns it.
func (e *VersionEdit) GetSubcompactionProgress() *SubcompactionProgress { return &e.subcompactionState }

// ClearSubcompactionProgress takes the progress out.
func (e *VersionEdit) ClearSubcompactionProgress() {
	e.hasSubcompactionProgress = false
	e.subcompactionState.Clear()
}

// SetLastCompactedManifestFileSize sets the size of the MANIFEST right after
// it was written afresh, in bytes.
func (e *VersionEdit) SetLastCompactedManifestFileSize(size uint64) {
	e.hasLastCompactedManifestSize, e.lastCompactedManifestSize = true, size
}

// HasLastCompactedManifestFileSize tells whether that size is set.
func (e *VersionEdit) HasLastCompactedManifestFileSize() bool { return e.hasLastCompactedManifestSize }

// GetLastCompactedManifestFileSize is that size in bytes.
func (e *VersionEdit) GetLastCompactedManifestFileSize() uint64 { return e.lastCompactedManifestSize }

// GetFilesToQuarantineIfCommitFail lists the numbers of files that must not be
// deleted while it is open whether the edit reached the MANIFEST.
func (e *VersionEdit) GetFilesToQuarantineIfCommitFail() []uint64 { return e.filesToQuarantine }

// ShouldEmitPerColumnFamilyRecoveryEdit tells whether a recovery's edit for a
// family whose log number is current says anything new.
func (e *VersionEdit) ShouldEmitPerColumnFamilyRecoveryEdit(current uint64) bool {
	return e.hasLogNumber && e.logNumber > current ||
		e.NumEntries() > 0 || e.hasComparator || e.hasPrevLogNumber ||
		e.hasNextFileNumber || e.hasMaxColumnFamily || e.hasMinLogNumberToKeep ||
		e.hasLastSequence || len(e.compactCursors) > 0 || e.hasDbID ||
		e.IsColumnFamilyManipulation() || e.isInAtomicGroup ||
		e.HasFullHistoryTsLow() || e.hasPersistUDT || e.hasSubcompactionProgress
}
