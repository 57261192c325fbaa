// Port of include/rocksdb/multi_scan.h. Differs: Go iterators over ranges
// instead of nested C++ iterators; the implementation is in package db/db_impl.

package rocksdb

import "iter"

// MultiScan reads several ranges in order. It is used by one goroutine and has
// to be closed.
type MultiScan interface {
	// Scans gives each range in turn, and of each its entries; keys and values
	// are valid until the next step. Err tells of an early end.
	Scans() iter.Seq[iter.Seq2[[]byte, []byte]]
	Err() error
	Close() error
}
