// Port of db/db_impl/db_impl_open.cc (InvokeWalFilterIfNeeded*). Differs: an answer
// that is no option ends the recovery before the record, not behind it.

package dbimpl

import (
	"github.com/rocksdb-go/rocksdb/db/writebatch"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/logging"
)

// tellFilter gives the WAL filter what it needs to know of the families.
// Upstream: DBImpl::InvokeWalFilterIfNeededOnColumnFamilyToWalNumberMap.
func (r *walRecovery) tellFilter() {
	f := r.d.immutable.WalFilter
	if f == nil {
		return
	}
	numbers, ids := map[uint32]uint64{}, map[string]uint32{}
	for _, cfd := range r.d.families.All() {
		numbers[cfd.GetID()] = cfd.GetLogNumber()
		ids[cfd.GetName()] = cfd.GetID()
	}
	f.ColumnFamilyLogNumberMap(numbers, ids)
}

// filter asks the WAL filter for a record; it gives the batch to apply, nil for
// none. What is wrong with the record or the answer ends the log: r.status.
// Upstream: DBImpl::InvokeWalFilterIfNeededOnWalRecord.
func (r *walRecovery) filter(number uint64, path string, batch *writebatch.WriteBatch) (*writebatch.WriteBatch, error) {
	f := r.d.immutable.WalFilter
	if f == nil {
		return batch, nil
	}
	option, replacement := f.LogRecordFound(number, path, batch)
	switch option {
	case rocksdb.ContinueProcessing:
	case rocksdb.IgnoreCurrentRecord:
		return nil, nil
	case rocksdb.StopReplay:
		r.stoppedByFilter = true
		return nil, nil
	case rocksdb.CorruptedRecord:
		err := rocksdb.Corruption("Corruption reported by Wal Filter ", f.Name()).In(path)
		if r.d.immutable.ParanoidChecks {
			// Also where damaged records are skipped: the rest of the log is.
			logging.Warn(r.d.infoLog, "%s: dropping %d bytes; %v", path, batch.GetDataSize(), err)
			r.status = err
			return nil, nil
		}
		logging.Warn(r.d.infoLog, "Ignoring error %v", err)
	default:
		return nil, rocksdb.NotSupported("Unknown WalProcessingOption returned by Wal Filter ", f.Name())
	}
	if replacement == nil {
		return batch, nil
	}
	if err := r.filtered.SetContents(replacement); err != nil {
		return nil, rocksdb.InvalidArgument("Batch returned by Wal Filter "+f.Name()+" ", err.Error())
	}
	if now, was := r.filtered.Count(), batch.Count(); now > was {
		logging.Fatal(r.d.infoLog, "Recovering log #%d mode %d log filter %s returned more records (%d) than original (%d) which is not allowed. Aborting recovery.",
			number, r.d.immutable.WALRecoveryMode, f.Name(), now, was)
		return nil, rocksdb.NotSupported("More than original # of records returned by Wal Filter ", f.Name())
	}
	r.filtered.SetSequence(batch.Sequence())
	return &r.filtered, nil
}
