// Port of db/db_impl/compacted_db_impl.{h,cc}. Differs: a mode of a database
// that is open for reading. All its tables are open and pinned, so that the
// common lookup does no more than one made for this case.

package dbimpl

import (
	"github.com/rocksdb-go/rocksdb/file/filename"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/logging"
)

var errCompacted = rocksdb.NotSupported("Not supported in compacted db mode.")

// readOnlyError is what calls that would write answer.
func (d *DBImpl) readOnlyError() error {
	if d.compacted {
		return errCompacted
	}
	if d.secondary != nil {
		return errSecondary
	}
	return errReadOnly
}

// EnterCompactedMode says that a database, open for reading with its default
// family, is fully compacted, if that is so: all data is in one table of level
// 0 or in the last level, and the logs are empty. Not for concurrent use.
func (d *DBImpl) EnterCompactedMode() {
	cfd := d.defaultHandle.CFD()
	if !d.readOnly || d.mutableDBOptions.Load().MaxOpenFiles != -1 || cfd.IOptions().MergeOperator != nil || !d.logsAreEmpty() {
		return
	}
	storage := cfd.Current().StorageInfo()
	levels := storage.NumNonEmptyLevels()
	if levels == 0 || levels == 1 && storage.NumLevelFiles(0) > 1 {
		return
	}
	for level := range levels - 1 {
		if storage.NumLevelFiles(level) > 0 {
			return
		}
	}
	d.compacted = true
	logging.Info(d.infoLog, "Opened the db as fully compacted mode")
}

func (d *DBImpl) logsAreEmpty() bool {
	numbers, err := d.listWALs()
	if err != nil {
		return false
	}
	for _, n := range numbers {
		if size, err := d.fs.GetFileSize(filename.LogFileName(d.immutable.GetWalDir(), n), rocksdb.NewIOOptions()); err != nil || size > 0 {
			return false
		}
	}
	return true
}
