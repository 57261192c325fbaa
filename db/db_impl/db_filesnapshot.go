// Port of db/db_filesnapshot.cc (GetSortedWalFiles, GetCurrentWalFile) and
// db/db_impl/db_impl.cc (GetUpdatesSince).

package dbimpl

import (
	"slices"

	"github.com/rocksdb-go/rocksdb/db"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/logging"
	"github.com/rocksdb-go/rocksdb/monitoring"
)

// GetSortedWalFiles lists the WALs, archived ones included, by number. They stay
// as long as file deletions are disabled.
func (d *DBImpl) GetSortedWalFiles() ([]rocksdb.LogFile, error) { return d.sortedWalFiles(true) }

// sortedWalFiles leaves StartSequence open unless needSeqnos, and then leaves out
// WALs without a record.
func (d *DBImpl) sortedWalFiles(needSeqnos bool) ([]rocksdb.LogFile, error) {
	// No file is to go while they are listed; this waits for what is already
	// chosen for deletion, too.
	if err := d.DisableFileDeletions(); err != nil {
		return nil, err
	}
	d.mu.Lock()
	required := slices.Clone(d.versions.GetWalSet().GetWals())
	d.mu.Unlock()
	files, err := d.walManager.GetSortedWalFiles(needSeqnos, true)
	if enableErr := d.EnableFileDeletions(); err == nil {
		err = enableErr
	}
	if err != nil {
		return nil, err
	}
	for _, w := range required {
		if !slices.ContainsFunc(files, func(f rocksdb.LogFile) bool { return f.LogNumber == w.GetLogNumber() }) {
			return nil, rocksdb.Corruptionf("WAL file %d required by manifest but not in directory list", w.GetLogNumber())
		}
	}
	logging.Info(d.infoLog, "Number of WAL files %d (%d required by manifest)", len(files), len(required))
	return files, nil
}

// GetCurrentWalFile describes the WAL that is being written; without its
// StartSequence.
func (d *DBImpl) GetCurrentWalFile() (rocksdb.LogFile, error) {
	return d.walManager.GetLiveWalFile(d.logNumber.Load())
}

// GetUpdatesSince gives the batches from the one with seq on, as far as the logs
// go back: wal_ttl_seconds and wal_size_limit_mb keep them for longer. o may be
// nil. The error is NotFound for a sequence number that is not written yet.
func (d *DBImpl) GetUpdatesSince(seq rocksdb.SequenceNumber, o *rocksdb.TransactionLogIteratorReadOptions) (*db.TransactionLogIterator, error) {
	monitoring.RecordTick(d.stats, rocksdb.GetUpdatesSinceCalls, 1)
	if seq > d.versions.LastSequence() {
		return nil, rocksdb.NotFound("Requested sequence not yet written in the db")
	}
	return d.walManager.GetUpdatesSince(seq, o, d.versions.LastSequence)
}
