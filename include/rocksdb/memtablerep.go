// Port of include/rocksdb/memtablerep.h. Differs: an entry is named by a
// KeyHandle, its place in the memtable's arena, instead of by an address, and
// the arena is part of the rep. A rep's own node layout stays its secret.

package rocksdb

// MemTableRepFactory makes the memtable's ordered container.
type MemTableRepFactory interface {
	// Name is upstream's class name, e.g. "SkipListFactory".
	Name() string
	// NickName is the short form in option strings, e.g. "skip_list".
	NickName() string
	// ID is what the OPTIONS file keeps.
	ID() string
	// IsInsertConcurrentlySupported tells whether several goroutines may
	// insert at once.
	IsInsertConcurrentlySupported() bool
	// CanHandleDuplicatedKey tells whether an insert of a key that is there
	// already (same sequence number) is noticed.
	CanHandleDuplicatedKey() bool
}
