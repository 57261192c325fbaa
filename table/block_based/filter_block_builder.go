// Port of table/block_based/full_filter_block.{h,cc} and
// partitioned_filter_block.{h,cc}: the builders; filter_block.h's interface.

package blockbased

import (
	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/table/block_based/block"
	"github.com/rocksdb-go/rocksdb/table/format"
	"github.com/rocksdb-go/rocksdb/util"
)

// FilterBlockBuilder makes a table's filter block or blocks. Keys are user keys
// without timestamps.
type FilterBlockBuilder interface {
	Add(key []byte)
	// AddWithPrevKey is Add for callers that keep the key before, nil for none;
	// not to be mixed with Add.
	AddWithPrevKey(key, prevKey []byte)
	// PrevKeyBeforeFinish tells the last key, after AddWithPrevKey.
	PrevKeyBeforeFinish(prevKey []byte)
	IsEmpty() bool
	EstimateEntriesAdded() int
	// OnDataBlockFinalized refreshes CurrentFilterSizeEstimate.
	OnDataBlockFinalized(numDataBlocks uint64)
	// CurrentFilterSizeEstimate is in bytes, generously.
	CurrentFilterSizeEstimate() int
	// Finish gives the filter. While more is true, it is one partition, to be
	// written before Finish is called again with its handle; the last is the
	// index of the partitions, or nil when there are none.
	Finish(lastPartition format.BlockHandle) (filter []byte, more bool, err error)
	// MaybePostVerifyFilter checks a finished filter, where that is asked for.
	MaybePostVerifyFilter(filter []byte) error
	// ResetFilterBitsBuilder gives memory and reservations back.
	ResetFilterBitsBuilder()
}

// fullFilterBlockBuilder makes one filter of all keys and prefixes.
type fullFilterBlockBuilder struct {
	prefixExtractor   rocksdb.SliceTransform
	wholeKeyFiltering bool
	bits              rocksdb.FilterBitsBuilder
	sizeEstimate      int
}

func newFullFilterBlockBuilder(prefix rocksdb.SliceTransform, wholeKey bool, bits rocksdb.FilterBitsBuilder) *fullFilterBlockBuilder {
	return &fullFilterBlockBuilder{prefixExtractor: prefix, wholeKeyFiltering: wholeKey, bits: bits}
}

func (b *fullFilterBlockBuilder) Add(key []byte) {
	if b.prefixExtractor != nil && b.prefixExtractor.InDomain(key) {
		b.addWithPrefix(key, b.prefixExtractor.Transform(key))
	} else if b.wholeKeyFiltering {
		b.bits.AddKey(key)
	}
}

func (b *fullFilterBlockBuilder) addWithPrefix(key, prefix []byte) {
	if b.wholeKeyFiltering {
		b.bits.AddKeyAndAlt(key, prefix)
	} else {
		b.bits.AddKey(prefix)
	}
}

func (b *fullFilterBlockBuilder) AddWithPrevKey(key, _ []byte) { b.Add(key) }

func (b *fullFilterBlockBuilder) PrevKeyBeforeFinish([]byte) {}

func (b *fullFilterBlockBuilder) IsEmpty() bool { return b.EstimateEntriesAdded() == 0 }

func (b *fullFilterBlockBuilder) EstimateEntriesAdded() int { return b.bits.EstimateEntriesAdded() }

func (b *fullFilterBlockBuilder) OnDataBlockFinalized(numDataBlocks uint64) {
	n := b.bits.EstimateEntriesAdded()
	if n == 0 {
		b.sizeEstimate = 0
		return
	}
	size := b.bits.CalculateSpace(n)
	if numDataBlocks > 0 {
		size += size / int(numDataBlocks) * 2 // for the next block
	}
	b.sizeEstimate = size
}

func (b *fullFilterBlockBuilder) CurrentFilterSizeEstimate() int { return b.sizeEstimate }

func (b *fullFilterBlockBuilder) Finish(format.BlockHandle) ([]byte, bool, error) {
	filter, err := b.bits.Finish()
	return filter, false, err
}

func (b *fullFilterBlockBuilder) MaybePostVerifyFilter(filter []byte) error {
	if v, ok := b.bits.(postVerifier); ok {
		return v.MaybePostVerify(filter)
	}
	return nil
}

func (b *fullFilterBlockBuilder) ResetFilterBitsBuilder() {
	if r, ok := b.bits.(rocksdb.Releaser); ok {
		r.Release()
	}
}

// partitionedFilterBlockBuilder makes filters of a part of the keys each, and
// an index of them by their last keys. Partitions either end with the index's
// or, decoupled, when they have their number of keys.
type partitionedFilterBlockBuilder struct {
	fullFilterBlockBuilder
	index            *partitionedIndexBuilder
	tsSize           int
	decoupled        bool
	withSeq          *block.BlockBuilder
	withoutSeq       *block.BlockBuilder
	keysPerPartition int
	filters          []filterPartition
	finished         int
	finishing        bool
	lastHandle       format.BlockHandle
	totalAdded       int // in finished partitions
	completedSize    int
	prevKey          []byte // of Add
	err              error
}

type filterPartition struct {
	ikey   []byte
	filter []byte
}

func newPartitionedFilterBlockBuilder(prefix rocksdb.SliceTransform, wholeKey bool, bits rocksdb.FilterBitsBuilder,
	c *indexConfig, index *partitionedIndexBuilder, partitionSize int, decoupled bool) *partitionedFilterBlockBuilder {
	top := *c
	top.statistics, top.uniformCV = nil, -1
	b := &partitionedFilterBlockBuilder{
		fullFilterBlockBuilder: fullFilterBlockBuilder{prefixExtractor: prefix, wholeKeyFiltering: wholeKey, bits: bits},
		index:                  index, tsSize: c.icmp.TimestampSize(), decoupled: decoupled,
		withSeq: top.newBlockBuilder(false), withoutSeq: top.newBlockBuilder(true),
	}
	b.keysPerPartition = keysPerPartition(bits, partitionSize)
	if b.keysPerPartition > 1 && prefix != nil {
		b.keysPerPartition-- // for the next partition's prefix
	}
	return b
}

func keysPerPartition(bits rocksdb.FilterBitsBuilder, partitionSize int) int {
	n := bits.ApproximateNumEntries(partitionSize)
	// A partition may be smaller than the least filter; look for that.
	for larger := max(partitionSize+4, 16); n < 1; larger += larger / 4 {
		if larger > 100000 {
			return partitionSize
		}
		n = bits.ApproximateNumEntries(larger)
	}
	return n
}

func (b *partitionedFilterBlockBuilder) decideCut() bool {
	full := b.bits.EstimateEntriesAdded() >= b.keysPerPartition
	if b.decoupled {
		return full
	}
	if full {
		// The index cuts; ask until it does.
		b.index.RequestPartitionCut()
	}
	return b.index.ShouldCutFilterBlock()
}

// cut ends the partition. The prefix of the key after it goes into it as well:
// a key between the two may be looked for here with that prefix. In the same
// way the last prefix goes into the next partition, for SeekForPrev.
// Upstream: PartitionedFilterBlockBuilder::CutAFilterBlock.
func (b *partitionedFilterBlockBuilder) cut(hasNext bool, nextPrefix []byte, hasNextPrefix bool, prevKey []byte) {
	if hasNextPrefix {
		if b.wholeKeyFiltering {
			// The same twice counts as an alternative of its predecessor.
			b.bits.AddKeyAndAlt(nextPrefix, nextPrefix)
		} else {
			b.bits.AddKey(nextPrefix)
		}
	}
	b.totalAdded += b.bits.EstimateEntriesAdded()
	filter, err := b.bits.Finish()
	if err == nil {
		err = b.fullFilterBlockBuilder.MaybePostVerifyFilter(filter)
	}
	if b.err == nil {
		b.err = err
	}
	var ikey []byte
	if b.decoupled {
		if b.tsSize > 0 {
			ikey = dbformat.AppendKeyWithMinTimestamp(nil, prevKey, b.tsSize)
		} else {
			ikey = append(ikey, prevKey...)
		}
		ikey = dbformat.AppendInternalKeyFooter(ikey, 0, dbformat.TypeDeletion)
	} else {
		ikey = append(ikey, b.index.GetPartitionKey()...)
	}
	b.filters = append(b.filters, filterPartition{ikey, filter})
	b.completedSize += len(filter)
	if hasNext && b.prefixExtractor != nil && b.prefixExtractor.InDomain(prevKey) {
		b.bits.AddKey(b.prefixExtractor.Transform(prevKey))
	}
}

func (b *partitionedFilterBlockBuilder) Add(key []byte) {
	b.AddWithPrevKey(key, b.prevKey)
	b.prevKey = append(b.prevKey[:0], key...)
}

func (b *partitionedFilterBlockBuilder) AddWithPrevKey(key, prevKey []byte) {
	cut := b.decideCut()
	if b.prefixExtractor != nil && b.prefixExtractor.InDomain(key) {
		prefix := b.prefixExtractor.Transform(key)
		if cut {
			b.cut(true, prefix, true, prevKey)
		}
		b.addWithPrefix(key, prefix)
		return
	}
	if cut {
		b.cut(true, nil, false, prevKey)
	}
	if b.wholeKeyFiltering {
		b.bits.AddKey(key)
	}
}

func (b *partitionedFilterBlockBuilder) PrevKeyBeforeFinish(prevKey []byte) {
	if b.bits.EstimateEntriesAdded() > 0 {
		b.cut(false, nil, false, prevKey)
	}
}

func (b *partitionedFilterBlockBuilder) IsEmpty() bool { return b.EstimateEntriesAdded() == 0 }

func (b *partitionedFilterBlockBuilder) EstimateEntriesAdded() int {
	return b.totalAdded + b.bits.EstimateEntriesAdded()
}

func (b *partitionedFilterBlockBuilder) OnDataBlockFinalized(numDataBlocks uint64) {
	const bytesPerKey = 2 // about
	size := b.completedSize
	if size == 0 {
		size = b.keysPerPartition * bytesPerKey * 2
	}
	size += b.withSeq.CurrentSizeEstimate()
	if numDataBlocks > 0 {
		size += size / int(numDataBlocks) * 2
	}
	b.sizeEstimate = size
}

func (b *partitionedFilterBlockBuilder) CurrentFilterSizeEstimate() int {
	return b.sizeEstimate + b.bits.EstimateEntriesAdded()*2
}

func (b *partitionedFilterBlockBuilder) Finish(lastPartition format.BlockHandle) ([]byte, bool, error) {
	if b.finishing {
		e := &b.filters[b.finished]
		full := lastPartition.AppendTo(nil)
		delta := util.AppendVarsignedint64(nil, int64(lastPartition.Size-b.lastHandle.Size))
		b.lastHandle = lastPartition
		b.withSeq.Add(e.ikey, full, delta, false)
		if !b.index.SeparatorIsKeyPlusSeq() {
			b.withoutSeq.Add(dbformat.ExtractUserKey(e.ikey), full, delta, false)
		}
		e.filter = nil
		b.finished++
	} else if b.bits.EstimateEntriesAdded() > 0 {
		b.cut(false, nil, false, b.prevKey)
	}
	if b.err != nil {
		return nil, false, b.err
	}
	if b.finished < len(b.filters) {
		b.finishing = true
		return b.filters[b.finished].filter, true, nil
	}
	if b.withSeq.Empty() {
		return nil, false, nil
	}
	if b.index.SeparatorIsKeyPlusSeq() {
		return b.withSeq.Finish(), false, nil
	}
	return b.withoutSeq.Finish(), false, nil
}

// MaybePostVerifyFilter has nothing to do: partitions are verified as they are
// cut.
func (b *partitionedFilterBlockBuilder) MaybePostVerifyFilter([]byte) error { return nil }
