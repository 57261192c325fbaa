// Port of include/rocksdb/utilities/checkpoint.h, as Go programs use it.

package rocksdb

import "github.com/rocksdb-go/rocksdb/utilities/checkpoint"

// Checkpoint makes copies of an open database that can be opened, and exports
// column families.
type Checkpoint struct{ impl *checkpoint.Checkpoint }

// NewCheckpoint makes a Checkpoint of db.
func NewCheckpoint(db *DB) *Checkpoint { return &Checkpoint{checkpoint.New(db.impl)} }

// CreateCheckpoint makes the directory dir, which must not exist, a copy of the
// database; tables are hard links where the file system has them. It gives the
// sequence number up to which writes are surely in it. The memtables are flushed
// first when the logs have at least logSizeForFlush bytes, always with 0;
// otherwise the logs are copied.
func (c *Checkpoint) CreateCheckpoint(dir string, logSizeForFlush uint64) (SequenceNumber, error) {
	return c.impl.CreateCheckpoint(dir, logSizeForFlush)
}

// ExportColumnFamily flushes a family and puts its tables, as hard links where
// the file system has them, into the directory dir, which must not exist. The
// result is for DB.CreateColumnFamilyWithImport.
func (c *Checkpoint) ExportColumnFamily(cf *ColumnFamily, dir string) (*ExportImportFilesMetaData, error) {
	return c.impl.ExportColumnFamily(cf.ColumnFamilyHandleImpl, dir)
}

// CheckpointEngineOptions configure a CheckpointEngine.
type CheckpointEngineOptions = checkpoint.CheckpointEngineOptions

// CreateCheckpointOptions are those of one checkpoint of a CheckpointEngine.
type CreateCheckpointOptions = checkpoint.CreateCheckpointOptions

// DefaultCheckpointEngineOptions link where the file system can, one file at a
// time.
func DefaultCheckpointEngineOptions() CheckpointEngineOptions {
	return checkpoint.DefaultCheckpointEngineOptions()
}

// CheckpointEngine makes checkpoints of databases, linking or copying several
// files at once and copying at a bounded rate.
type CheckpointEngine struct{ impl *checkpoint.CheckpointEngine }

// OpenCheckpointEngine makes an engine; it has nothing to close.
func OpenCheckpointEngine(o CheckpointEngineOptions) (*CheckpointEngine, error) {
	e, err := checkpoint.OpenCheckpointEngine(o)
	if err != nil {
		return nil, err
	}
	return &CheckpointEngine{e}, nil
}

// CreateCheckpoint is Checkpoint.CreateCheckpoint of db; o may be nil.
func (e *CheckpointEngine) CreateCheckpoint(db *DB, dir string, o *CreateCheckpointOptions) (SequenceNumber, error) {
	return e.impl.CreateCheckpoint(db.impl, dir, o)
}

// ExportColumnFamily is Checkpoint.ExportColumnFamily of a family of db.
func (e *CheckpointEngine) ExportColumnFamily(db *DB, cf *ColumnFamily, dir string) (*ExportImportFilesMetaData, error) {
	return e.impl.ExportColumnFamily(db.impl, cf.ColumnFamilyHandleImpl, dir)
}
