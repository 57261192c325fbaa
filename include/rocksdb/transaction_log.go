// Port of include/rocksdb/transaction_log.h (the kinds of log file).

package rocksdb

// WalFileType says where a write-ahead log file is.
type WalFileType uint8

// ArchivedLogFile is in the archive directory and no longer written;
// AliveLogFile is in the database's log directory.
const (
	ArchivedLogFile WalFileType = iota
	AliveLogFile
)
