// No upstream twin: what the tests see of the package.

// No upstream twin.
package blockbased

import (
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/table/block_based/block"
	"github.com/rocksdb-go/rocksdb/table/format"
	"github.com/rocksdb-go/rocksdb/table/internaliter"
)

// SetContextChecksum replaces the random base of the block checksums.
func (b *BlockBasedTableBuilder) SetContextChecksum(v uint32) { b.contextChecksum = v }

// FooterText describes the footer.
func (t *BlockBasedTable) FooterText() string { return t.footer.ToString() }

// BaseContextChecksum is the footer's.
func (t *BlockBasedTable) BaseContextChecksum() uint32 { return t.footer.BaseContextChecksum }

// LookupAndPinBlocksInCache tells whether the cache has a data block.
func (t *BlockBasedTable) LookupAndPinBlocksInCache(ro *rocksdb.ReadOptions, h format.BlockHandle) bool {
	var e block.CachableEntry[*block.Block]
	defer e.Release()
	return t.lookupAndPinBlocksInCache(&readContext{ro: ro}, h, &e)
}

// KeyInCache tells whether the data block for an internal key is in the block
// cache.
func (t *BlockBasedTable) KeyInCache(ro *rocksdb.ReadOptions, key []byte) bool {
	if t.blockCache == nil {
		return false
	}
	it := t.newIndexIterator(&readContext{ro: ro}, true, nil)
	defer it.Close()
	it.Seek(key)
	if !it.Valid() {
		return false
	}
	k := blockCacheKey(t.baseCacheKey, it.Value().Handle)
	h := t.cacheLookup(k, block.TypeData)
	if h == nil {
		return false
	}
	t.blockCache.Release(h, false)
	return true
}

// FirstIndexPartition is where the first partition of the index lies.
func (t *BlockBasedTable) FirstIndexPartition() format.BlockHandle {
	ro := rocksdb.DefaultReadOptions()
	it := t.newIndexIterator(&readContext{ro: &ro}, true, nil).(*partitionedIndexIterator)
	defer it.Close()
	it.SeekToFirst()
	return it.top.Value().Handle
}

// FSPrefetch tells whether the file system reads ahead.
func (t *BlockBasedTable) FSPrefetch() bool { return t.fsPrefetch }

// IsBlockPinnedByMultiScan tells whether block i of what Prepare collected was
// read ahead and not given up yet.
func IsBlockPinnedByMultiScan(it internaliter.InternalIterator, i int) bool {
	s := it.(*BlockBasedTableIterator).scan
	return s != nil && s.set.IsBlockAvailable(i-s.from)
}

// ScanWasted is how many blocks were read ahead in vain so far.
func ScanWasted(it internaliter.InternalIterator) uint64 {
	return it.(*BlockBasedTableIterator).scan.wasted
}

// DataBlockHandles are the table's data blocks, in order.
func (t *BlockBasedTable) DataBlockHandles() (hs []format.BlockHandle) {
	ro := rocksdb.DefaultReadOptions()
	it := t.newIndexIterator(&readContext{ro: &ro}, true, &indexScratch{})
	defer it.Close()
	for it.SeekToFirst(); it.Valid(); it.Next() {
		hs = append(hs, it.Value().Handle)
	}
	return hs
}
