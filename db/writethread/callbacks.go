// Port of db/{write_callback,pre_release_callback,post_memtable_callback}.h.

package writethread

import "github.com/rocksdb-go/rocksdb/include/rocksdb"

// WriteCallback is asked by the leader whether a write is to be done.
type WriteCallback interface {
	// Callback refuses the write with an error.
	Callback() error
	// AllowWriteBatching tells whether the write may be grouped with others.
	AllowWriteBatching() bool
}

// PreReleaseCallback runs after the WAL write and before the sequence number
// is visible.
type PreReleaseCallback interface {
	Callback(seq rocksdb.SequenceNumber, isMemDisabled bool, logNumber uint64, index, total int) error
}

// PostMemTableCallback runs after the memtable inserts.
type PostMemTableCallback interface {
	Callback(seq rocksdb.SequenceNumber, disableMemtable bool) error
}
