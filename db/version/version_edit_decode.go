// Port of db/version_edit.cc, VersionEdit::DecodeFrom. Differs: a level that
// does not fit in 31 bits is a corruption here.

package version

import (
	"math"

	"github.com/rocksdb-go/rocksdb/db/blob/blobformat"
	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/table/uniqueid"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
	"github.com/rocksdb-go/rocksdb/util"
)

// decoder takes fields off the front of b; each method reports whether there
// was one.
type decoder struct{ b []byte }

func (d *decoder) varint32() (uint32, bool) {
	v, rest, ok := util.GetVarint32(d.b)
	if ok {
		d.b = rest
	}
	return v, ok
}

func (d *decoder) varint64() (uint64, bool) {
	v, rest, ok := util.GetVarint64(d.b)
	if ok {
		d.b = rest
	}
	return v, ok
}

func (d *decoder) slice() ([]byte, bool) {
	v, rest, ok := util.GetLengthPrefixedSlice(d.b)
	if ok {
		d.b = rest
	}
	return v, ok
}

func (d *decoder) internalKey(key *dbformat.InternalKey) bool {
	s, ok := d.slice()
	if !ok {
		return false
	}
	*key = append(dbformat.InternalKey(nil), s...)
	return key.Valid()
}

// level reads a level; anyLevel lets -1 through, which stands for no level.
func (d *decoder) level(maxLevel *int, anyLevel bool) (int, bool) {
	v, ok := d.varint32()
	if !ok || v > math.MaxInt32 && !anyLevel {
		return 0, false
	}
	level := int(int32(v))
	*maxLevel = max(*maxLevel, level)
	return level, true
}

func (d *decoder) varint64Into(dst *uint64, has *bool) bool {
	v, ok := d.varint64()
	if ok {
		*dst, *has = v, true
	}
	return ok
}

func (d *decoder) stringInto(dst *string, has *bool) bool {
	v, ok := d.slice()
	if ok {
		*dst, *has = string(v), true
	}
	return ok
}

// DecodeFrom replaces the edit by the record in src, which is not kept. What
// is not understood and may not be skipped is a corruption.
func (e *VersionEdit) DecodeFrom(src []byte) error {
	e.Clear()
	ignoreIgnorableTags := false
	syncpoint.ProcessArg("VersionEdit::EncodeTo:IgnoreIgnorableTags", &ignoreIgnorableTags)
	d := decoder{src}
	for {
		v, ok := d.varint32()
		if !ok {
			break
		}
		tag := Tag(v)
		if ignoreIgnorableTags && tag > TagSafeIgnoreMask {
			tag = TagSafeIgnoreMask
		}
		msg, err := e.decodeField(&d, tag)
		if err != nil {
			return err
		}
		if msg != "" {
			return rocksdb.Corruption("VersionEdit", msg)
		}
	}
	if len(d.b) != 0 {
		return rocksdb.Corruption("VersionEdit", "invalid tag")
	}
	return nil
}

// decodeField reads the field that follows tag. It gives a message for a
// corruption of the edit, or an error that a part of it reported.
func (e *VersionEdit) decodeField(d *decoder, tag Tag) (msg string, err error) {
	ok := true
	switch tag {
	case TagDbId:
		msg, ok = "db id", d.stringInto(&e.dbID, &e.hasDbID)
	case TagComparator:
		msg, ok = "comparator name", d.stringInto(&e.comparator, &e.hasComparator)
	case TagLogNumber:
		msg, ok = "log number", d.varint64Into(&e.logNumber, &e.hasLogNumber)
	case TagPrevLogNumber:
		msg, ok = "previous log number", d.varint64Into(&e.prevLogNumber, &e.hasPrevLogNumber)
	case TagNextFileNumber:
		msg, ok = "next file number", d.varint64Into(&e.nextFileNumber, &e.hasNextFileNumber)
	case TagMaxColumnFamily:
		msg = "max column family"
		e.maxColumnFamily, ok = d.varint32()
		e.hasMaxColumnFamily = ok
	case TagMinLogNumberToKeep:
		msg, ok = "min log number to kee", d.varint64Into(&e.minLogNumberToKeep, &e.hasMinLogNumberToKeep)
	case TagLastSequence:
		msg, ok = "last sequence number", d.varint64Into(&e.lastSequence, &e.hasLastSequence)
	case TagCompactCursor:
		msg = "compaction cursor"
		var c CompactCursor
		if c.Level, ok = d.level(&e.maxLevel, false); ok {
			if ok = d.internalKey(&c.Key); ok {
				e.compactCursors = append(e.compactCursors, c)
			}
		}
	case TagDeletedFile:
		msg = "deleted file"
		var f DeletedFile
		if f.Level, ok = d.level(&e.maxLevel, false); ok {
			if f.Number, ok = d.varint64(); ok {
				e.DeleteFile(f.Level, f.Number)
			}
		}
	case TagNewFile, TagNewFile2, TagNewFile3, TagNewFile4:
		msg = e.decodeNewFile(d, tag)
		ok = msg == ""
	case TagColumnFamily:
		msg = "set column family id"
		e.columnFamily, ok = d.varint32()
	case TagColumnFamilyAdd:
		msg, ok = "column family add", d.stringInto(&e.columnFamilyName, &e.isColumnFamilyAdd)
	case TagColumnFamilyDrop:
		e.isColumnFamilyDrop = true
	case TagInAtomicGroup:
		msg = "remaining entries"
		e.isInAtomicGroup = true
		e.remainingEntries, ok = d.varint32()
	default:
		return e.decodeIgnorable(d, tag)
	}
	if ok {
		msg = ""
	}
	return msg, nil
}

// decodeIgnorable reads the fields that have a length or a decoder of their
// own, and skips those of later engines.
func (e *VersionEdit) decodeIgnorable(d *decoder, tag Tag) (msg string, err error) {
	switch tag {
	case TagBlobFileAddition, TagBlobFileAdditionDeprecated:
		var a blobformat.BlobFileAddition
		if d.b, err = a.DecodeFrom(d.b); err == nil {
			e.AddBlobFile(a)
		}
		return "", err
	case TagBlobFileGarbage, TagBlobFileGarbageDeprecated:
		var g blobformat.BlobFileGarbage
		if d.b, err = g.DecodeFrom(d.b); err == nil {
			e.AddBlobFileGarbage(g)
		}
		return "", err
	case TagWalAddition:
		var w WalAddition
		if d.b, err = w.DecodeFrom(d.b); err == nil {
			e.walAdditions = append(e.walAdditions, w)
		}
		return "", err
	case TagWalDeletion:
		d.b, err = e.walDeletion.DecodeFrom(d.b)
		return "", err
	}
	if tag&TagSafeIgnoreMask == 0 {
		return "unknown tag", nil
	}
	field, ok := d.slice()
	switch tag {
	case TagWalAddition2:
		if !ok {
			return "WalAddition not prefixed by length", nil
		}
		var w WalAddition
		if _, err = w.DecodeFrom(field); err == nil {
			e.walAdditions = append(e.walAdditions, w)
		}
	case TagWalDeletion2:
		if !ok {
			return "WalDeletion not prefixed by length", nil
		}
		_, err = e.walDeletion.DecodeFrom(field)
	case TagFullHistoryTsLow:
		if !ok {
			return "full_history_ts_low", nil
		}
		if len(field) == 0 {
			return "full_history_ts_low: empty", nil
		}
		e.fullHistoryTsLow = string(field)
	case TagPersistUserDefinedTimestamps:
		if !ok {
			return "persist_user_defined_timestamps", nil
		}
		if len(field) != 1 {
			return "persist_user_defined_timestamps field wrong size", nil
		}
		e.SetPersistUserDefinedTimestamps(field[0] == 1)
	case TagSubcompactionProgress:
		if !ok {
			return "SubcompactionProgress not prefixed by length", nil
		}
		var p SubcompactionProgress
		if err = p.DecodeFrom(field); err == nil {
			e.SetSubcompactionProgress(p)
		}
	case TagLastCompactedManifestSize:
		fd := decoder{field}
		if !ok || !fd.varint64Into(&e.lastCompactedManifestSize, &e.hasLastCompactedManifestSize) {
			return "last compacted manifest file size", nil
		}
	default:
		if !ok {
			return "safely ignoreable tag length error", nil
		}
	}
	return "", err
}

// decodeNewFile reads one of the four forms of an added file. The first three
// have fixed fields only.
func (e *VersionEdit) decodeNewFile(d *decoder, tag Tag) (msg string) {
	f := NewFileMetaData()
	var level int
	switch tag {
	case TagNewFile4:
		level, msg = decodeNewFile4(d, f, &e.maxLevel, false, &e.minLogNumberToKeep, &e.hasMinLogNumberToKeep)
		if msg != "" {
			return msg
		}
	default:
		msg = map[Tag]string{TagNewFile: "new-file entry", TagNewFile2: "new-file2 entry", TagNewFile3: "new-file3 entry"}[tag]
		var number, size uint64
		var pathID uint32
		smallest, largest := rocksdb.SequenceNumber(dbformat.MaxSequenceNumber), rocksdb.SequenceNumber(0)
		var ok bool
		if level, ok = d.level(&e.maxLevel, false); !ok {
			return msg
		}
		if number, ok = d.varint64(); !ok {
			return msg
		}
		if tag == TagNewFile3 {
			if pathID, ok = d.varint32(); !ok || pathID > maxPathID {
				return msg
			}
		}
		if size, ok = d.varint64(); !ok || !d.internalKey(&f.Smallest) || !d.internalKey(&f.Largest) {
			return msg
		}
		if tag != TagNewFile {
			if smallest, ok = d.varint64(); !ok {
				return msg
			}
			if largest, ok = d.varint64(); !ok {
				return msg
			}
		}
		f.FD.Set(number, pathID, size, smallest, largest)
	}
	e.newFiles = append(e.newFiles, NewFile{level, f})
	return ""
}

// maxPathID is the highest path id that fits beside a file number.
const maxPathID = 3

// decodeNewFile4 reads what follows TagNewFile4 into f. It gives the level,
// and a message when the bytes are bad.
func decodeNewFile4(d *decoder, f *FileMetaData, maxLevel *int, anyLevel bool,
	minLogNumberToKeep *uint64, hasMinLogNumberToKeep *bool) (level int, msg string) {
	const bad = "new-file4 entry"
	var number, size, smallest, largest uint64
	var ok bool
	if level, ok = d.level(maxLevel, anyLevel); !ok {
		return 0, bad
	}
	if number, ok = d.varint64(); !ok {
		return 0, bad
	}
	if size, ok = d.varint64(); !ok || !d.internalKey(&f.Smallest) || !d.internalKey(&f.Largest) {
		return 0, bad
	}
	if smallest, ok = d.varint64(); !ok {
		return 0, bad
	}
	if largest, ok = d.varint64(); !ok {
		return 0, bad
	}
	var pathID uint32
	for {
		v, ok := d.varint32()
		if !ok {
			return 0, "new-file4 custom field"
		}
		tag := NewFileCustomTag(v)
		if tag == CustomTagTerminate {
			break
		}
		field, ok := d.slice()
		if !ok {
			return 0, "new-file4 custom field length prefixed slice error"
		}
		switch tag {
		case CustomTagPathId:
			if len(field) != 1 {
				return 0, "path_id field wrong size"
			}
			if pathID = uint32(field[0]); pathID > maxPathID {
				return 0, "path_id wrong vaue"
			}
		case CustomTagMinLogNumberToKeepHack:
			if len(field) < 8 {
				return 0, "deleted log number malformatted"
			}
			*minLogNumberToKeep, *hasMinLogNumberToKeep = util.DecodeFixed64(field), true
		default:
			if msg := f.decodeCustomField(tag, field); msg != "" {
				return 0, msg
			}
		}
	}
	f.FD.Set(number, pathID, size, smallest, largest)
	return level, ""
}

// decodeCustomField takes one optional field of a TagNewFile4 entry.
func (f *FileMetaData) decodeCustomField(tag NewFileCustomTag, field []byte) (msg string) {
	number := func(dst *uint64, what string) string {
		d := decoder{field}
		var has bool
		if !d.varint64Into(dst, &has) {
			return what
		}
		return ""
	}
	switch tag {
	case CustomTagOldestAncesterTime:
		return number(&f.OldestAncesterTime, "invalid oldest ancester time")
	case CustomTagFileCreationTime:
		return number(&f.FileCreationTime, "invalid file creation time")
	case CustomTagEpochNumber:
		return number(&f.EpochNumber, "invalid epoch number")
	case CustomTagOldestBlobFileNumber:
		return number(&f.OldestBlobFileNumber, "invalid oldest blob file number")
	case CustomTagCompensatedRangeDeletionSize:
		return number(&f.CompensatedRangeDeletionSize, "Invalid compensated range deletion size")
	case CustomTagTailSize:
		return number(&f.TailSize, "invalid tail start offset")
	case CustomTagFileChecksum:
		f.FileChecksum = string(field)
	case CustomTagFileChecksumFuncName:
		f.FileChecksumFuncName = string(field)
	case CustomTagNeedCompaction:
		if len(field) != 1 {
			return "need_compaction field wrong size"
		}
		f.MarkedForCompaction.Store(field[0] == 1)
	case CustomTagTemperature:
		if len(field) != 1 {
			return "temperature field wrong size"
		}
		if t := rocksdb.Temperature(field[0]); t < rocksdb.LastTemperature {
			f.Temperature = t
		}
	case CustomTagUniqueId:
		id, err := uniqueid.DecodeUniqueIdBytes(string(field), false)
		if err != nil {
			return "invalid unique id"
		}
		f.UniqueID = id.Standard()
	case CustomTagUserDefinedTimestampsPersisted:
		if len(field) != 1 {
			return "user-defined timestamps persisted field wrong size"
		}
		f.UserDefinedTimestampsPersisted = field[0] == 1
	case CustomTagMinTimestamp:
		f.MinTimestamp = string(field)
	case CustomTagMaxTimestamp:
		f.MaxTimestamp = string(field)
	case CustomTagFileOpenMetadata:
		f.FileOpenMetadata = string(field)
	default:
		if tag&CustomTagNonSafeIgnoreMask != 0 {
			return "new-file4 custom field not supported"
		}
	}
	return ""
}
