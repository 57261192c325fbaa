// Port of db/version_edit.cc, VersionEdit::EncodeTo.

package version

import (
	"github.com/rocksdb-go/rocksdb/db/blob/blobformat"
	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/table/uniqueid"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
	"github.com/rocksdb-go/rocksdb/util"
)

func appendTag(dst []byte, tag Tag) []byte { return util.AppendVarint32(dst, uint32(tag)) }

func appendTagVarint64(dst []byte, tag Tag, v uint64) []byte {
	return util.AppendVarint64(appendTag(dst, tag), v)
}

func appendString(dst []byte, s string) []byte {
	return append(util.AppendVarint32(dst, uint32(len(s))), s...)
}

// EncodeTo appends the record to dst. tsSize is the timestamp size of the
// family's comparator, in bytes (0 for none). It fails, reporting false, when
// a new file lacks a key or an epoch number.
//
// A record is a sequence of fields, each a varint32 tag and what the tag calls
// for: a varint64, a length-prefixed string, or
//
//	compact cursor  varint32 level, string internal key
//	deleted file    varint32 level, varint64 number
//	new file 4      varint32 level, varint64 number, varint64 size,
//	                string smallest key, string largest key,
//	                varint64 smallest seqno, varint64 largest seqno,
//	                then optional fields, each varint32 tag + string,
//	                then varint32 1
//	column family   varint32 id (left out for id 0)
//	atomic group    varint32 number of records of the group still to come
//
// New file 1 lacks the seqnos and the optional fields, 2 lacks the optional
// fields, 3 has a varint32 path id before the size; all three are only read.
func (e *VersionEdit) EncodeTo(dst []byte, tsSize int) (out []byte, ok bool) {
	if e.hasDbID {
		dst = appendString(appendTag(dst, TagDbId), e.dbID)
	}
	if e.hasComparator {
		dst = appendString(appendTag(dst, TagComparator), e.comparator)
	}
	if e.hasLogNumber {
		dst = appendTagVarint64(dst, TagLogNumber, e.logNumber)
	}
	if e.hasPrevLogNumber {
		dst = appendTagVarint64(dst, TagPrevLogNumber, e.prevLogNumber)
	}
	if e.hasNextFileNumber {
		dst = appendTagVarint64(dst, TagNextFileNumber, e.nextFileNumber)
	}
	if e.hasMaxColumnFamily {
		dst = util.AppendVarint32(appendTag(dst, TagMaxColumnFamily), e.maxColumnFamily)
	}
	if e.hasMinLogNumberToKeep {
		dst = appendTagVarint64(dst, TagMinLogNumberToKeep, e.minLogNumberToKeep)
	}
	if e.hasLastSequence {
		dst = appendTagVarint64(dst, TagLastSequence, e.lastSequence)
	}
	for i := range e.compactCursors {
		c := &e.compactCursors[i]
		if c.Key.Valid() {
			dst = util.AppendVarint32(appendTag(dst, TagCompactCursor), uint32(c.Level))
			dst = util.AppendLengthPrefixedSlice(dst, c.Key)
		}
	}
	for _, f := range e.deletedFiles {
		dst = util.AppendVarint32(appendTag(dst, TagDeletedFile), uint32(f.Level))
		dst = util.AppendVarint64(dst, f.Number)
	}
	hasMinLog := e.hasMinLogNumberToKeep
	for _, f := range e.newFiles {
		if !f.Meta.Smallest.Valid() || !f.Meta.Largest.Valid() || f.Meta.EpochNumber == UnknownEpochNumber {
			return dst, false
		}
		dst = f.Meta.encodeNewFile4(dst, f.Level, tsSize, hasMinLog, e.minLogNumberToKeep)
		hasMinLog = false // once an edit
	}
	return e.encodeRest(dst), true
}

func (e *VersionEdit) encodeRest(dst []byte) []byte {
	for i := range e.blobFileAdditions {
		dst = e.blobFileAdditions[i].EncodeTo(appendTag(dst, TagBlobFileAddition))
	}
	for i := range e.blobFileGarbages {
		dst = e.blobFileGarbages[i].EncodeTo(appendTag(dst, TagBlobFileGarbage))
	}
	var buf []byte
	for _, w := range e.walAdditions {
		buf = w.EncodeTo(buf[:0])
		dst = util.AppendLengthPrefixedSlice(appendTag(dst, TagWalAddition2), buf)
	}
	if !e.walDeletion.IsEmpty() {
		buf = e.walDeletion.EncodeTo(buf[:0])
		dst = util.AppendLengthPrefixedSlice(appendTag(dst, TagWalDeletion2), buf)
	}
	if e.columnFamily != 0 {
		dst = util.AppendVarint32(appendTag(dst, TagColumnFamily), e.columnFamily)
	}
	if e.isColumnFamilyAdd {
		dst = appendString(appendTag(dst, TagColumnFamilyAdd), e.columnFamilyName)
	}
	if e.isColumnFamilyDrop {
		dst = appendTag(dst, TagColumnFamilyDrop)
	}
	if e.isInAtomicGroup {
		dst = util.AppendVarint32(appendTag(dst, TagInAtomicGroup), e.remainingEntries)
	}
	if e.HasFullHistoryTsLow() {
		dst = appendString(appendTag(dst, TagFullHistoryTsLow), e.fullHistoryTsLow)
	}
	if e.hasPersistUDT {
		dst = append(appendTag(dst, TagPersistUserDefinedTimestamps), 1, boolByte(!e.noPersistUDT))
	}
	if e.hasSubcompactionProgress {
		buf = e.subcompactionState.EncodeTo(buf[:0])
		dst = util.AppendLengthPrefixedSlice(appendTag(dst, TagSubcompactionProgress), buf)
	}
	if e.hasLastCompactedManifestSize {
		buf = util.AppendVarint64(buf[:0], e.lastCompactedManifestSize)
		dst = util.AppendLengthPrefixedSlice(appendTag(dst, TagLastCompactedManifestSize), buf)
	}
	return dst
}

func boolByte(b bool) byte {
	if b {
		return 1
	}
	return 0
}

// encodeNewFile4 appends a TagNewFile4 entry. The order of the optional fields
// is upstream's, so that the bytes are.
func (f *FileMetaData) encodeNewFile4(dst []byte, level, tsSize int, hasMinLog bool, minLog uint64) []byte {
	dst = util.AppendVarint32(appendTag(dst, TagNewFile4), uint32(level))
	dst = util.AppendVarint64(dst, f.FD.GetNumber())
	dst = util.AppendVarint64(dst, f.FD.FileSize)
	dst = f.encodeBoundary(dst, f.Smallest, tsSize)
	dst = f.encodeBoundary(dst, f.Largest, tsSize)
	dst = util.AppendVarint64(dst, f.FD.SmallestSeqno)
	dst = util.AppendVarint64(dst, f.FD.LargestSeqno)

	var buf [10]byte
	number := func(tag NewFileCustomTag, v uint64) {
		dst = util.AppendVarint32(dst, uint32(tag))
		dst = util.AppendLengthPrefixedSlice(dst, util.AppendVarint64(buf[:0], v))
	}
	text := func(tag NewFileCustomTag, s string) {
		dst = appendString(util.AppendVarint32(dst, uint32(tag)), s)
	}
	flag := func(tag NewFileCustomTag, b byte) {
		dst = append(util.AppendVarint32(dst, uint32(tag)), 1, b)
	}

	ancesterTime, creationTime := f.OldestAncesterTime, f.FileCreationTime
	syncpoint.ProcessArg("VersionEdit::EncodeTo:VarintOldestAncesterTime", &ancesterTime)
	syncpoint.ProcessArg("VersionEdit::EncodeTo:VarintFileCreationTime", &creationTime)
	number(CustomTagOldestAncesterTime, ancesterTime)
	number(CustomTagFileCreationTime, creationTime)
	number(CustomTagEpochNumber, f.EpochNumber)
	if f.FileChecksumFuncName != rocksdb.UnknownFileChecksumFuncName {
		text(CustomTagFileChecksum, f.FileChecksum)
		text(CustomTagFileChecksumFuncName, f.FileChecksumFuncName)
	}
	if id := f.FD.GetPathId(); id != 0 {
		flag(CustomTagPathId, byte(id))
	}
	if f.Temperature != rocksdb.TemperatureUnknown {
		flag(CustomTagTemperature, byte(f.Temperature))
	}
	if f.MarkedForCompaction.Load() {
		flag(CustomTagNeedCompaction, 1)
	}
	if hasMinLog {
		dst = append(util.AppendVarint32(dst, uint32(CustomTagMinLogNumberToKeepHack)), 8)
		dst = util.AppendFixed64(dst, minLog)
	}
	if f.OldestBlobFileNumber != blobformat.InvalidBlobFileNumber {
		number(CustomTagOldestBlobFileNumber, f.OldestBlobFileNumber)
	}
	id := f.UniqueID
	syncpoint.ProcessArg("VersionEdit::EncodeTo:UniqueId", &id)
	if id != (uniqueid.UniqueId64x2{}) {
		text(CustomTagUniqueId, uniqueid.EncodeUniqueIdBytes(uniqueid.UniqueId64x3{id[0], id[1]}, false))
	}
	if f.CompensatedRangeDeletionSize != 0 {
		number(CustomTagCompensatedRangeDeletionSize, f.CompensatedRangeDeletionSize)
	}
	if f.TailSize != 0 {
		number(CustomTagTailSize, f.TailSize)
	}
	if !f.UserDefinedTimestampsPersisted {
		flag(CustomTagUserDefinedTimestampsPersisted, 0)
	}
	if f.MinTimestamp != "" {
		text(CustomTagMinTimestamp, f.MinTimestamp)
	}
	if f.MaxTimestamp != "" {
		text(CustomTagMaxTimestamp, f.MaxTimestamp)
	}
	if f.FileOpenMetadata != "" {
		text(CustomTagFileOpenMetadata, f.FileOpenMetadata)
	}
	syncpoint.ProcessArg("VersionEdit::EncodeTo:NewFile4:CustomizeFields", &dst)
	return util.AppendVarint32(dst, uint32(CustomTagTerminate))
}

// encodeBoundary appends a key as the file has it: without its timestamp when
// the file does not keep them.
func (f *FileMetaData) encodeBoundary(dst []byte, key dbformat.InternalKey, tsSize int) []byte {
	if tsSize == 0 || f.UserDefinedTimestampsPersisted {
		return util.AppendLengthPrefixedSlice(dst, key)
	}
	return util.AppendLengthPrefixedSlice(dst, dbformat.StripTimestampFromInternalKey(nil, key, tsSize))
}
