// Port of include/rocksdb/db.h (external files).

package rocksdb

import dbimpl "github.com/rocksdb-go/rocksdb/db/db_impl"

// FileIngestionHandle is a prepared ingestion; CommitFileIngestionHandles or
// Abort ends it, and the database does not close before.
type FileIngestionHandle = dbimpl.FileIngestionHandle

// IngestExternalFile adds table files, made by SstFileWriters, to the family.
// Their entries are newer than all that is there; where they overlap memtables
// these are flushed first. Nil options are the defaults. After an error nothing
// has changed.
func (c *ColumnFamily) IngestExternalFile(files []string, o *IngestExternalFileOptions) error {
	return c.impl.IngestExternalFile(c.ColumnFamilyHandleImpl, files, o)
}

// IngestExternalFiles is IngestExternalFile for several families: all files are
// added or none, also after a crash. A family comes once.
func (x *DB) IngestExternalFiles(args []IngestExternalFileArg) error {
	return x.impl.IngestExternalFiles(args)
}

// PrepareFileIngestion does the part of IngestExternalFiles that does not hold
// up writes: it checks the files and links or copies them. The handle has to be
// committed or aborted.
func (x *DB) PrepareFileIngestion(args []IngestExternalFileArg) (*FileIngestionHandle, error) {
	return x.impl.PrepareFileIngestion(args)
}

// CommitFileIngestionHandle ends a prepared ingestion.
func (x *DB) CommitFileIngestionHandle(h *FileIngestionHandle) error {
	return x.impl.CommitFileIngestionHandles([]*FileIngestionHandle{h})
}

// CommitFileIngestionHandles ends several prepared ingestions: all files are
// added or none. The handles are spent afterwards, also after an error.
func (x *DB) CommitFileIngestionHandles(handles []*FileIngestionHandle) error {
	return x.impl.CommitFileIngestionHandles(handles)
}

// GetPreparedFileInfoForExternalSstIngestion describes a table of this
// database, which path names as GetLiveFilesMetaData does, for the ingestion
// into another one (IngestExternalFileArg.FileInfos).
func (x *DB) GetPreparedFileInfoForExternalSstIngestion(path string) (*PreparedFileInfo, error) {
	return x.impl.GetPreparedFileInfoForExternalSstIngestion(path)
}

// CreateColumnFamilyWithImport makes a family of files that
// Checkpoint.ExportColumnFamily exported, of one family or of several that do
// not overlap. io may be nil. After an error there is no family.
func (x *DB) CreateColumnFamilyWithImport(o ColumnFamilyOptions, name string, io *ImportColumnFamilyOptions, from ...*ExportImportFilesMetaData) (*ColumnFamily, error) {
	h, err := x.impl.CreateColumnFamilyWithImport(&o, name, io, from)
	if err != nil {
		return nil, err
	}
	return &ColumnFamily{h, x.impl}, nil
}

// ClipColumnFamily removes all keys outside [begin, end), and their space.
func (c *ColumnFamily) ClipColumnFamily(begin, end []byte) error {
	return c.impl.ClipColumnFamily(c.ColumnFamilyHandleImpl, begin, end)
}

// SuggestCompactRange marks the files with keys from begin to end, end included,
// for compaction in the background, but for those of the last level with files;
// nil bounds are open. It does not wait.
func (c *ColumnFamily) SuggestCompactRange(begin, end []byte) error {
	return c.impl.SuggestCompactRange(c.ColumnFamilyHandleImpl, begin, end)
}

// PromoteL0 moves all level 0 files to level target, of 1 and more, without
// reading them. ErrInvalidArgument says that they overlap or are being compacted,
// or that a level from 1 to target is not empty.
func (c *ColumnFamily) PromoteL0(target int) error {
	return c.impl.PromoteL0(c.ColumnFamilyHandleImpl, target)
}

// DeleteFilesInRange drops the files above level 0 all of whose keys are from
// begin to end, end included; nil bounds are open. Other keys in the range stay.
func (c *ColumnFamily) DeleteFilesInRange(begin, end []byte) error {
	return c.DeleteFilesInRanges([]RangeOpt{{Start: begin, Limit: end}}, true)
}

// DeleteFilesInRanges is DeleteFilesInRange for several ranges at once; with
// includeEnd their limits belong to them. Snapshots do not keep the files.
func (c *ColumnFamily) DeleteFilesInRanges(ranges []RangeOpt, includeEnd bool) error {
	return c.impl.DeleteFilesInRanges(c.ColumnFamilyHandleImpl, ranges, includeEnd)
}
