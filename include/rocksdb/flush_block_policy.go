// Port of include/rocksdb/flush_block_policy.h. Differs: the policies' code is
// in package table/block_based.

package rocksdb

// FlushBlockBySizePolicyFactoryName is the name of the default policy.
const FlushBlockBySizePolicyFactoryName = "FlushBlockBySizePolicyFactory"

// DataBlockBuilder is what a flush block policy sees of the block being built.
type DataBlockBuilder interface {
	CurrentSizeEstimate() int // bytes
	EstimateSizeAfterKV(key, value []byte) int
	Empty() bool
}

// FlushBlockPolicy decides when a data block is full. One goroutine uses it.
type FlushBlockPolicy interface {
	// Update is called with each entry before it is added; true ends the
	// current block first.
	Update(key, value []byte) bool
}

// FlushBlockPolicyFactory makes a policy for each file.
type FlushBlockPolicyFactory interface {
	Name() string
	NewFlushBlockPolicy(opts *BlockBasedTableOptions, builder DataBlockBuilder) FlushBlockPolicy
}
