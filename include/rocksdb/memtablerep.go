// Port of include/rocksdb/memtablerep.h. Differs: only what options need to
// know of a factory. Containers themselves work on arena memory and are an
// interface of package memtable, whose factories are the ones to use here.

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
