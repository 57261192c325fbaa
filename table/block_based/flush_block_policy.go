// Port of table/block_based/flush_block_policy.cc and flush_block_policy_impl.h.

package blockbased

import (
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/table/format"
)

// sizedBuilder is what a policy sees of a block.
type sizedBuilder interface {
	CurrentSizeEstimate() int
	EstimateSizeAfterKV(key, value []byte) int
	Empty() bool
}

// flushBlockBySizePolicy ends a block when it has reached its size, or when the
// next entry would exceed it and less than the deviation would be left empty.
type flushBlockBySizePolicy struct {
	size    int
	limit   int  // beyond this the next entry may end the block; 0: it may not
	align   bool // blocks with their trailers are to fit in size
	builder sizedBuilder
}

func newFlushBlockBySizePolicy(size uint64, deviation int, align bool, b sizedBuilder) *flushBlockBySizePolicy {
	if deviation < 0 || deviation > 100 {
		deviation = 0
	}
	return &flushBlockBySizePolicy{
		size: int(size), align: align, builder: b,
		limit: (int(size)*(100-deviation) + 99) / 100,
	}
}

// Update implements rocksdb.FlushBlockPolicy.
func (p *flushBlockBySizePolicy) Update(key, value []byte) bool {
	if p.builder.Empty() {
		return false
	}
	cur := p.builder.CurrentSizeEstimate()
	if cur >= p.size {
		return true
	}
	switch {
	case p.limit == 0:
		return false
	case p.align:
		return p.builder.EstimateSizeAfterKV(key, value)+format.BlockTrailerSize > p.size
	}
	return cur > p.limit && p.builder.EstimateSizeAfterKV(key, value) > p.size
}

// FlushBlockBySizePolicyFactory makes the default policy.
type FlushBlockBySizePolicyFactory struct{}

// Name is upstream's class name.
func (FlushBlockBySizePolicyFactory) Name() string {
	return rocksdb.FlushBlockBySizePolicyFactoryName
}

// NewFlushBlockPolicy makes a policy of the block size and its deviation.
func (FlushBlockBySizePolicyFactory) NewFlushBlockPolicy(o *rocksdb.BlockBasedTableOptions, b rocksdb.DataBlockBuilder) rocksdb.FlushBlockPolicy {
	return newFlushBlockBySizePolicy(o.BlockSize, o.BlockSizeDeviation, o.BlockAlign, b)
}

// FlushBlockEveryKeyPolicyFactory makes a block of each entry; for tests.
type FlushBlockEveryKeyPolicyFactory struct{}

// Name is upstream's class name.
func (FlushBlockEveryKeyPolicyFactory) Name() string { return "FlushBlockEveryKeyPolicyFactory" }

// NewFlushBlockPolicy makes the policy.
func (FlushBlockEveryKeyPolicyFactory) NewFlushBlockPolicy(*rocksdb.BlockBasedTableOptions, rocksdb.DataBlockBuilder) rocksdb.FlushBlockPolicy {
	return new(flushEveryKey)
}

type flushEveryKey struct{ started bool }

func (p *flushEveryKey) Update(_, _ []byte) bool {
	cut := p.started
	p.started = true
	return cut
}
