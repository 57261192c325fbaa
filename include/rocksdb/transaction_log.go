// Port of include/rocksdb/transaction_log.h. Differs: a log file is a struct
// under upstream's older name (WalFile is a FileType); the iterator is package
// db's.

package rocksdb

import "fmt"

// WalFileType says where a write-ahead log file is.
type WalFileType uint8

// ArchivedLogFile is in the archive directory and no longer written;
// AliveLogFile is in the database's log directory.
const (
	ArchivedLogFile WalFileType = iota
	AliveLogFile
)

// LogFile describes a write-ahead log file.
type LogFile struct {
	LogNumber uint64 // rises with the time of creation
	Type      WalFileType
	// StartSequence is the sequence number of the first batch; 0 when it was
	// not asked for, 1 for a compressed log without batches.
	StartSequence SequenceNumber
	SizeFileBytes uint64
}

// PathName is the path within the log directory: "/000003.log" or
// "/archive/000003.log".
func (f *LogFile) PathName() string {
	if f.Type == ArchivedLogFile {
		return fmt.Sprintf("/archive/%06d.log", f.LogNumber)
	}
	return fmt.Sprintf("/%06d.log", f.LogNumber)
}

// TransactionLogIteratorReadOptions are those of GetUpdatesSince.
type TransactionLogIteratorReadOptions struct {
	// VerifyChecksums verifies those of the records. Default true.
	VerifyChecksums bool
}

// DefaultTransactionLogIteratorReadOptions gives the defaults.
func DefaultTransactionLogIteratorReadOptions() TransactionLogIteratorReadOptions {
	return TransactionLogIteratorReadOptions{VerifyChecksums: true}
}
