// Port of table/block_based/block_based_table_iterator.{h,cc} (asynchronous
// seeks, and the trimming of readahead by bounds and by what the cache has).
// Differs: an index iterator of its own looks ahead, so that the one of the scan
// stays where the scan is; blocks found in the cache are not held until the scan
// comes to them.

package blockbased

import (
	"bytes"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/table/block_based/block"
	"github.com/rocksdb-go/rocksdb/table/format"
	"github.com/rocksdb-go/rocksdb/table/internaliter"
)

// AsyncSeekable tells whether SeekAsync may be of use.
func (it *BlockBasedTableIterator) AsyncSeekable() bool {
	return it.ro.AsyncIO && it.scan == nil && it.t.ioptions.FS != nil && !it.t.ioptions.AllowMmapReads &&
		it.ro.ReadTier != rocksdb.BlockCacheTier
}

// SeekAsync is Seek, but where a block has to be read it begins to and returns
// true: Seek with the same target then waits for it.
// Upstream: BlockBasedTableIterator::SeekImpl, ::AsyncInitDataBlock, first pass.
func (it *BlockBasedTableIterator) SeekAsync(target []byte) (pending bool) {
	if !it.AsyncSeekable() {
		it.seek(target)
		return false
	}
	sameBlock, ok := it.seekIndex(target)
	if !ok {
		return false
	}
	if !sameBlock && !it.startsAtFirstKey(target, sameBlock) && it.beginRead(it.index.Value().Handle) {
		it.seekPending = true
		return true
	}
	it.seekBlock(target, sameBlock)
	return false
}

// beginRead begins to read a block that is not in the cache.
func (it *BlockBasedTableIterator) beginRead(h format.BlockHandle) bool {
	if it.blockInCache(h) {
		return false
	}
	it.resetDataIter()
	if it.prefetcher.prefetchIfNeeded(h, true) == nil {
		return false
	}
	n := h.Size + uint64(it.t.footer.BlockTrailerSize)
	var opts rocksdb.IOOptions
	if !h.FitsIn(it.t.fileSize, uint64(it.t.footer.BlockTrailerSize)) || it.t.file.PrepareIOOptions(it.ro, &opts) != nil {
		return false // the read itself will tell
	}
	_, ok, err := it.prefetcher.buffer.PrefetchAsync(&opts, it.t.file, h.Offset, int(n))
	return !ok && err == nil
}

// blockInCache looks without counting.
func (it *BlockBasedTableIterator) blockInCache(h format.BlockHandle) bool {
	t := it.t
	if t.blockCache == nil || it.rc.provider != nil {
		return false
	}
	ch := t.cacheLookup(blockCacheKey(t.baseCacheKey, h), block.TypeData)
	if ch == nil {
		return false
	}
	t.blockCache.Release(ch, false)
	return true
}

// indexAhead is where the lookups for readahead stand in the index.
type indexAhead struct {
	rc      readContext
	scratch indexScratch
	index   internaliter.InternalIndexIterator
	target  []byte
	prefix  []byte // of the seek, with PrefixSameAsStart; empty for any
	begun   bool   // index stands on the first block not looked up yet
	done    bool   // that is beyond the bound
}

func (a *indexAhead) close() {
	if a.index != nil {
		_ = a.index.Close() // an error only ends the readahead
	}
}

// canTrimReadahead tells whether the options allow it at all.
func (it *BlockBasedTableIterator) canTrimReadahead() bool {
	return it.ro.AutoReadaheadSize && (it.ro.IterateUpperBound != nil || it.ro.PrefixSameAsStart) &&
		it.t.blockCache != nil && !it.rc.forCompaction
}

// beginTrim starts over for a seek forward; target nil is the first entry.
func (it *BlockBasedTableIterator) beginTrim(target []byte) {
	if it.prefetcher.trim == nil || it.scan != nil {
		return
	}
	it.trimAhead = true
	if it.ahead != nil {
		it.ahead.begun, it.ahead.done, it.ahead.prefix = false, false, it.ahead.prefix[:0]
	}
	if target == nil || it.prefixExtractor == nil || !it.ro.PrefixSameAsStart {
		return
	}
	if it.ahead == nil {
		it.ahead = new(indexAhead)
	}
	if key := dbformat.ExtractUserKey(target); it.prefixExtractor.InDomain(key) {
		it.ahead.prefix = append(it.ahead.prefix, it.prefixExtractor.Transform(key)...)
	}
}

// trimReadahead narrows a range that is about to be read to the blocks within
// the bound, and among these to the first and the last that are not in the cache.
// current: the range begins in the block that the index stands on.
// Upstream: BlockBasedTableIterator::BlockCacheLookupForReadAheadSize.
func (it *BlockBasedTableIterator) trimReadahead(current bool, start, end *uint64) {
	if !it.trimAhead || !it.index.Valid() {
		return
	}
	if it.ahead == nil {
		it.ahead = new(indexAhead)
	}
	a := it.ahead
	if a.index == nil {
		a.rc = readContext{ro: it.ro}
		a.index = it.t.newIndexIterator(&a.rc, true, &a.scratch)
	}
	if current || !a.begun {
		// The key may lack a sequence number; blocks before may have the same.
		a.target = dbformat.AppendInternalKey(a.target[:0], it.index.UserKey(), dbformat.MaxSequenceNumber, dbformat.ValueTypeForSeek)
		at := it.index.Value().Handle.Offset
		for a.index.Seek(a.target); a.index.Valid() && a.index.Value().Handle.Offset < at; a.index.Next() {
		}
		a.begun, a.done = true, false
		if !current && a.index.Valid() {
			a.done = it.boundAfter(a)
			a.index.Next()
		}
	}
	from, to, n := *start, *start, 0
	missed := false
	for !a.done && a.index.Valid() {
		h := a.index.Value().Handle
		blockEnd := h.Offset + h.Size + uint64(it.t.footer.BlockTrailerSize)
		if n > 0 && blockEnd > *end || !h.FitsIn(it.t.fileSize, uint64(it.t.footer.BlockTrailerSize)) {
			break
		}
		if current && n == 0 || !it.blockInCache(h) {
			if !missed && (n > 0 || !current) {
				from = max(from, h.Offset)
			}
			missed, to = true, blockEnd
		}
		n++
		a.done = it.boundAfter(a)
		a.index.Next()
	}
	if !missed {
		*end = *start
		return
	}
	*start, *end = from, max(from, to)
}

// boundAfter tells whether all entries of the blocks after the one that a stands
// on are out of bounds.
// Upstream: BlockBasedTableIterator::IsNextBlockOutOfReadaheadBound.
func (it *BlockBasedTableIterator) boundAfter(a *indexAhead) bool {
	key := a.index.UserKey()
	ucmp := it.icmp.UserComparator()
	if upper := it.upper; upper != nil && ucmp.CompareWithoutTimestamp(key, true, upper, false) >= 0 {
		return true
	}
	if !it.ro.PrefixSameAsStart || len(a.prefix) == 0 {
		return false
	}
	if it.prefixExtractor.InDomain(key) {
		return !bytes.Equal(it.prefixExtractor.Transform(key), a.prefix)
	}
	return ucmp.CompareWithoutTimestamp(key, true, a.prefix, false) > 0
}
