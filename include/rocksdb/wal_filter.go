// Port of include/rocksdb/wal_filter.h. Differs: the batch is seen through a
// read view, and its replacement is handed back as encoded bytes, so that the
// contract does not depend on the batch's package.

package rocksdb

// WalProcessingOption is what a WalFilter wants done with a record.
type WalProcessingOption uint8

// The options. StopReplay drops the record and all later ones, of all logs, for
// good; CorruptedRecord is a corruption where paranoid_checks are on, and is
// otherwise ignored.
const (
	ContinueProcessing WalProcessingOption = iota
	IgnoreCurrentRecord
	StopReplay
	CorruptedRecord
	WalProcessingOptionMax
)

// WriteBatchView is the read side of a write batch. Package db/writebatch's
// WriteBatch has it; assert to that type to iterate.
type WriteBatchView interface {
	// Data is the batch's encoding; it must not be changed.
	Data() []byte
	// Count is the number of updates in it.
	Count() uint32
}

// WalFilter sees each record of the log during recovery, from one goroutine.
type WalFilter interface {
	Name() string
	// ColumnFamilyLogNumberMap is called once before the first record with each
	// column family's oldest log number and each name's ID.
	ColumnFamilyLogNumberMap(cfLogNumber map[uint32]uint64, cfNameID map[string]uint32)
	// LogRecordFound is asked for each record of the log of that number and path.
	// It may replace the record: when newBatch is not nil, its encoding (no more
	// updates than the original's, or the database does not open) takes the place
	// of batch. The batch is valid during the call; newBatch is the engine's.
	LogRecordFound(logNumber uint64, logFileName string, batch WriteBatchView) (opt WalProcessingOption, newBatch []byte)
}
