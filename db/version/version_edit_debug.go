// Port of db/version_edit.cc, VersionEdit::DebugString and DebugJSON, with the
// JSONWriter of logging/event_logger.h as far as it is used here.

package version

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"github.com/rocksdb-go/rocksdb/db/blob/blobformat"
	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/table/uniqueid"
)

func hexUpper(s string) string { return strings.ToUpper(hex.EncodeToString([]byte(s))) }

func textOrHex(s string, asHex bool) string {
	if asHex {
		return hexUpper(s)
	}
	return s
}

// DebugString is the edit as manifest_dump prints it; keys in hexadecimal when
// hexKey is set.
func (e *VersionEdit) DebugString(hexKey bool) string {
	var r strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&r, "\n  "+format, args...) }
	r.WriteString("VersionEdit {")
	if e.hasDbID {
		line("DB ID: %s", e.dbID)
	}
	if e.hasComparator {
		line("Comparator: %s", e.comparator)
	}
	if e.hasPersistUDT {
		line("PersistUserDefinedTimestamps: %t", !e.noPersistUDT)
	}
	if e.hasLogNumber {
		line("LogNumber: %d", e.logNumber)
	}
	if e.hasPrevLogNumber {
		line("PrevLogNumber: %d", e.prevLogNumber)
	}
	if e.hasNextFileNumber {
		line("NextFileNumber: %d", e.nextFileNumber)
	}
	if e.hasMaxColumnFamily {
		line("MaxColumnFamily: %d", e.maxColumnFamily)
	}
	if e.hasMinLogNumberToKeep {
		line("MinLogNumberToKeep: %d", e.minLogNumberToKeep)
	}
	if e.hasLastSequence {
		line("LastSeq: %d", e.lastSequence)
	}
	for i := range e.compactCursors {
		line("CompactCursor: %d %s", e.compactCursors[i].Level, e.compactCursors[i].Key.DebugString(hexKey))
	}
	for _, f := range e.deletedFiles {
		line("DeleteFile: %d %d", f.Level, f.Number)
	}
	for _, f := range e.newFiles {
		line("AddFile: %d %s", f.Level, f.Meta.debugString(hexKey))
	}
	for i := range e.blobFileAdditions {
		line("BlobFileAddition: %s", e.blobFileAdditions[i].DebugString())
	}
	for i := range e.blobFileGarbages {
		line("BlobFileGarbage: %s", e.blobFileGarbages[i].DebugString())
	}
	for _, w := range e.walAdditions {
		line("WalAddition: %s", w.DebugString())
	}
	if !e.walDeletion.IsEmpty() {
		line("WalDeletion: %s", e.walDeletion.DebugString())
	}
	line("ColumnFamily: %d", e.columnFamily)
	if e.isColumnFamilyAdd {
		line("ColumnFamilyAdd: %s", e.columnFamilyName)
	}
	if e.isColumnFamilyDrop {
		line("ColumnFamilyDrop")
	}
	if e.isInAtomicGroup {
		line("AtomicGroup: %d entries remains", e.remainingEntries)
	}
	if e.HasFullHistoryTsLow() {
		r.WriteString("\n FullHistoryTsLow: " + textOrHex(e.fullHistoryTsLow, hexKey))
	}
	if e.hasSubcompactionProgress {
		r.WriteString("\n SubcompactionProgress: " + e.subcompactionState.String())
	}
	if e.hasLastCompactedManifestSize {
		line("LastCompactedManifestFileSize: %d", e.lastCompactedManifestSize)
	}
	r.WriteString("\n}\n")
	return r.String()
}

func (f *FileMetaData) debugString(hexKey bool) string {
	var r strings.Builder
	fmt.Fprintf(&r, "%d %d %s .. %s", f.FD.GetNumber(), f.FD.FileSize,
		f.Smallest.DebugString(hexKey), f.Largest.DebugString(hexKey))
	if f.OldestBlobFileNumber != blobformat.InvalidBlobFileNumber {
		fmt.Fprintf(&r, " blob_file:%d", f.OldestBlobFileNumber)
	}
	fmt.Fprintf(&r, " oldest_ancester_time:%d file_creation_time:%d epoch_number:%d file_checksum:%s file_checksum_func_name: %s",
		f.OldestAncesterTime, f.FileCreationTime, f.EpochNumber, hexUpper(f.FileChecksum), f.FileChecksumFuncName)
	if f.Temperature != rocksdb.TemperatureUnknown {
		fmt.Fprintf(&r, " temperature: %d", f.Temperature)
	}
	if f.UniqueID != (uniqueid.UniqueId64x2{}) {
		public := uniqueid.InternalUniqueIdToExternal(uniqueid.UniqueId64x3{f.UniqueID[0], f.UniqueID[1]})
		fmt.Fprintf(&r, " unique_id(internal): %s public_unique_id: %s",
			uniqueid.InternalUniqueIdToHumanString(f.UniqueID),
			uniqueid.UniqueIdToHumanString(uniqueid.EncodeUniqueIdBytes(public, false)))
	}
	fmt.Fprintf(&r, " tail size: %d User-defined timestamps persisted: %t", f.TailSize, f.UserDefinedTimestampsPersisted)
	if f.FileOpenMetadata != "" {
		fmt.Fprintf(&r, " file_open_metadata_size: %d", len(f.FileOpenMetadata))
	}
	return r.String()
}

// String is the progress as text.
func (p *SubcompactionProgress) String() string {
	var r strings.Builder
	r.WriteString("SubcompactionProgress{ next_internal_key_to_compact=")
	if k := p.NextInternalKeyToCompact; len(k) > 0 {
		if parsed, err := dbformat.ParseInternalKey(k, false); err == nil {
			seq, typ := strconv.FormatUint(parsed.Sequence, 10), strconv.Itoa(int(parsed.Type))
			if parsed.Sequence == dbformat.MaxSequenceNumber {
				seq = "kMaxSequenceNumber"
			}
			if parsed.Type == dbformat.ValueTypeForSeek {
				typ = "kValueTypeForSeek"
			}
			fmt.Fprintf(&r, "user_key(hex)=%X, seq=%s, type=%s", parsed.UserKey, seq, typ)
		} else {
			fmt.Fprintf(&r, "raw=%X", k)
		}
	}
	fmt.Fprintf(&r, ", num_processed_input_records=%d, output_level_progress=%s, proximal_output_level_progress=%s }",
		p.NumProcessedInputRecords, p.OutputLevelProgress.String(), p.ProximalOutputLevelProgress.String())
	return r.String()
}

// jsonWriter writes JSON in the event logger's form: ", " between members and
// ": " after a name; text is not escaped.
type jsonWriter struct {
	b     strings.Builder
	first bool
}

func (w *jsonWriter) comma() {
	if !w.first {
		w.b.WriteString(", ")
	}
	w.first = false
}

func (w *jsonWriter) open(bracket string) { w.b.WriteString(bracket); w.first = true }

func (w *jsonWriter) close(bracket string) { w.b.WriteString(bracket); w.first = false }

func (w *jsonWriter) key(name string) {
	w.comma()
	w.b.WriteString(`"` + name + `": `)
}

func (w *jsonWriter) num(name string, v uint64) {
	w.key(name)
	w.b.WriteString(strconv.FormatUint(v, 10))
}

func (w *jsonWriter) int(name string, v int) {
	w.key(name)
	w.b.WriteString(strconv.Itoa(v))
}

func (w *jsonWriter) str(name, v string) {
	w.key(name)
	w.b.WriteString(`"` + v + `"`)
}

// array writes a member that is an array of n objects; nothing when n is 0.
func (w *jsonWriter) array(name string, n int, object func(i int)) {
	if n == 0 {
		return
	}
	w.key(name)
	w.open("[")
	for i := range n {
		w.comma()
		w.open("{")
		object(i)
		w.close("}")
	}
	w.close("]")
}

// DebugJSON is the edit as manifest_dump --json prints it, with its number.
func (e *VersionEdit) DebugJSON(editNum int, hexKey bool) string {
	var w jsonWriter
	w.open("{")
	w.int("EditNumber", editNum)
	for _, s := range []struct {
		has  bool
		name string
		v    string
	}{{e.hasDbID, "DB ID", e.dbID}, {e.hasComparator, "Comparator", e.comparator}} {
		if s.has {
			w.str(s.name, s.v)
		}
	}
	for _, n := range []struct {
		has  bool
		name string
		v    uint64
	}{
		{e.hasLogNumber, "LogNumber", e.logNumber},
		{e.hasPrevLogNumber, "PrevLogNumber", e.prevLogNumber},
		{e.hasNextFileNumber, "NextFileNumber", e.nextFileNumber},
		{e.hasMaxColumnFamily, "MaxColumnFamily", uint64(e.maxColumnFamily)},
		{e.hasMinLogNumberToKeep, "MinLogNumberToKeep", e.minLogNumberToKeep},
		{e.hasLastSequence, "LastSeq", e.lastSequence},
	} {
		if n.has {
			w.num(n.name, n.v)
		}
	}
	w.array("DeletedFiles", len(e.deletedFiles), func(i int) {
		w.int("Level", e.deletedFiles[i].Level)
		w.num("FileNumber", e.deletedFiles[i].Number)
	})
	w.array("AddedFiles", len(e.newFiles), func(i int) { e.newFiles[i].json(&w, hexKey) })
	w.array("BlobFileAdditions", len(e.blobFileAdditions), func(i int) {
		a := &e.blobFileAdditions[i]
		w.num("BlobFileNumber", a.GetBlobFileNumber())
		w.num("TotalBlobCount", a.GetTotalBlobCount())
		w.num("TotalBlobBytes", a.GetTotalBlobBytes())
		w.str("ChecksumMethod", a.GetChecksumMethod())
		w.str("ChecksumValue", hexUpper(a.GetChecksumValue()))
	})
	w.array("BlobFileGarbages", len(e.blobFileGarbages), func(i int) {
		g := &e.blobFileGarbages[i]
		w.num("BlobFileNumber", g.GetBlobFileNumber())
		w.num("GarbageBlobCount", g.GetGarbageBlobCount())
		w.num("GarbageBlobBytes", g.GetGarbageBlobBytes())
	})
	w.array("WalAdditions", len(e.walAdditions), func(i int) {
		w.num("LogNumber", e.walAdditions[i].number)
		w.num("SyncedSizeInBytes", e.walAdditions[i].metadata.syncedSizeBytes)
	})
	if !e.walDeletion.IsEmpty() {
		w.key("WalDeletion")
		w.open("{")
		w.num("LogNumber", e.walDeletion.number)
		w.close("}")
	}
	w.num("ColumnFamily", uint64(e.columnFamily))
	if e.isColumnFamilyAdd {
		w.str("ColumnFamilyAdd", e.columnFamilyName)
	}
	if e.isColumnFamilyDrop {
		w.str("ColumnFamilyDrop", e.columnFamilyName)
	}
	if e.isInAtomicGroup {
		w.num("AtomicGroup", uint64(e.remainingEntries))
	}
	if e.HasFullHistoryTsLow() {
		w.str("FullHistoryTsLow", textOrHex(e.fullHistoryTsLow, hexKey))
	}
	if e.hasSubcompactionProgress {
		w.str("SubcompactionProgress", e.subcompactionState.String())
	}
	if e.hasLastCompactedManifestSize {
		w.num("LastCompactedManifestFileSize", e.lastCompactedManifestSize)
	}
	w.close("}")
	return w.b.String()
}

func (f NewFile) json(w *jsonWriter, hexKey bool) {
	m := f.Meta
	w.int("Level", f.Level)
	w.num("FileNumber", m.FD.GetNumber())
	w.num("FileSize", m.FD.FileSize)
	w.str("SmallestIKey", m.Smallest.DebugString(hexKey))
	w.str("LargestIKey", m.Largest.DebugString(hexKey))
	w.num("OldestAncesterTime", m.OldestAncesterTime)
	w.num("FileCreationTime", m.FileCreationTime)
	w.num("EpochNumber", m.EpochNumber)
	w.str("FileChecksum", hexUpper(m.FileChecksum))
	w.str("FileChecksumFuncName", m.FileChecksumFuncName)
	if m.Temperature != rocksdb.TemperatureUnknown {
		w.str("temperature", strconv.Itoa(int(m.Temperature)))
	}
	if m.OldestBlobFileNumber != blobformat.InvalidBlobFileNumber {
		w.num("OldestBlobFile", m.OldestBlobFileNumber)
	}
	if m.Temperature != rocksdb.TemperatureUnknown {
		w.int("Temperature", int(m.Temperature))
	}
	w.num("TailSize", m.TailSize)
	// The event logger writes a bool as a number.
	w.num("UserDefinedTimestampsPersisted", uint64(boolByte(m.UserDefinedTimestampsPersisted)))
	if m.FileOpenMetadata != "" {
		w.int("FileOpenMetadataSize", len(m.FileOpenMetadata))
	}
}
