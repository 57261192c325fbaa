// Port of table/block_based/block.{h,cc}: DataBlockIter.

package block

import (
	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/table/internaliter"
)

// DataBlockIter walks a data block's internal keys. The zero value is usable
// after Block.NewDataIterator; it is reused from block to block.
type DataBlockIter struct {
	blockIter
	readAmp          *BlockReadAmpBitmap
	lastBitmapOffset uint32
	hashIndex        *DataBlockHashIndex
	hashMap          uint32

	// The entries of the interval that Prev last went through, so that the next
	// Prev need not parse them again. prevAt < 0: none.
	prevKeys    []byte
	prevEntries []prevEntry
	prevAt      int
}

// prevEntry is a parsed entry. Its key is in the block, or, delta-encoded, in
// prevKeys.
type prevEntry struct {
	offset, next       uint32
	keyFrom, keyTo     uint32
	valueFrom, valueTo uint32
	inBlock            bool
}

func (it *DataBlockIter) resetPrev() {
	it.prevAt, it.prevEntries, it.prevKeys = -1, it.prevEntries[:0], it.prevKeys[:0]
}

// Invalidate makes the iterator stand nowhere, with err as its status.
func (it *DataBlockIter) Invalidate(err error) {
	it.blockIter.Invalidate(err)
	it.resetPrev()
}

// UserKey is Key without sequence number and type.
func (it *DataBlockIter) UserKey() []byte { return it.key[:len(it.key)-numInternalBytes] }

// Value is the entry's value.
func (it *DataBlockIter) Value() []byte {
	if it.readAmp != nil && it.current < it.restarts && it.current != it.lastBitmapOffset {
		it.readAmp.Mark(it.current, it.next-1)
		it.lastBitmapOffset = it.current
	}
	return it.value
}

// SeekForPrev goes to the last entry at or before target.
func (it *DataBlockIter) SeekForPrev(target []byte) {
	if it.data == nil {
		return
	}
	if it.perf != nil {
		start := it.startSeek()
		it.seekForPrev(target)
		it.endSeek(start)
		return
	}
	it.seekForPrev(target)
}

func (it *DataBlockIter) seekForPrev(target []byte) {
	it.seek(target)
	if !it.Valid() {
		if it.status == nil {
			it.SeekToLast()
		}
		return
	}
	for it.Valid() && it.compare(it.raw, target) > 0 {
		it.prev()
	}
	it.update()
}

// SeekForGet is Seek for a point lookup. False means that no entry of target's
// user key is here, nor in the blocks that follow; where the iterator stands is
// then not said.
func (it *DataBlockIter) SeekForGet(target []byte) bool {
	if it.data == nil {
		return true
	}
	if it.perf != nil {
		start := it.startSeek()
		found := it.seekForGet(target)
		it.endSeek(start)
		return found
	}
	return it.seekForGet(target)
}

func (it *DataBlockIter) seekForGet(target []byte) bool {
	found := true
	if it.hashIndex == nil {
		it.seek(target)
	} else {
		found = it.seekByHash(target)
	}
	it.update()
	return found
}

func (it *DataBlockIter) seekByHash(target []byte) bool {
	userKey := dbformat.ExtractUserKey(target)
	bucket := it.hashIndex.Lookup(it.data, int(it.hashMap), userKey)
	if bucket == Collision {
		it.seek(target)
		return true
	}
	index := uint32(bucket)
	if bucket == NoEntry {
		// The key is not in this block but may be in the next: the entry that
		// separates them may be of target's user key. That shows at the end of
		// the last interval.
		index = it.numRestarts - 1
	}
	if index >= it.numRestarts || !it.seekToRestartPoint(index) {
		it.corrupt()
		return true
	}
	limit := it.scanLimit(index)
	for {
		if it.next >= limit {
			if limit < it.keysEnd {
				// The interval ends before target: stand on the next entry.
				it.parse()
			} else {
				it.end()
			}
			break
		}
		if !it.parse() || it.compare(it.raw, target) >= 0 {
			break
		}
	}
	if !it.Valid() {
		// The block's end: the next block may have the key.
		return true
	}
	key := it.raw
	if it.special {
		key = it.decorate(key)
	}
	if !it.icmp.EqualUserKey(dbformat.ExtractUserKey(key), userKey) {
		return false
	}
	switch dbformat.ExtractValueType(key) {
	case dbformat.TypeValue, dbformat.TypeDeletion, dbformat.TypeMerge, dbformat.TypeSingleDeletion,
		dbformat.TypeBlobIndex, dbformat.TypeWideColumnEntity, dbformat.TypeValuePreferredSeqno:
	default:
		it.seek(target)
	}
	return true
}

// Next goes to the next entry.
func (it *DataBlockIter) Next() {
	if it.parse() {
		it.update()
	}
}

// NextAndGetResult goes to the next entry.
func (it *DataBlockIter) NextAndGetResult(res *internaliter.IterateResult) bool {
	it.Next()
	if !it.Valid() {
		return false
	}
	*res = internaliter.IterateResult{Key: it.key, ValuePrepared: true}
	return true
}

// Prev goes to the entry before.
func (it *DataBlockIter) Prev() {
	it.prev()
	it.update()
}

func (it *DataBlockIter) prev() {
	index := it.entryIndex - 1
	if it.prevAt > 0 && it.prevEntries[it.prevAt].offset == it.current {
		it.prevAt--
		it.restore(&it.prevEntries[it.prevAt])
		it.entryIndex = index
		return
	}
	it.resetPrev()
	original := it.current
	if !it.seekPrev(original) {
		return
	}
	for it.parse() {
		it.remember()
		if it.next >= original {
			break
		}
	}
	it.prevAt = len(it.prevEntries) - 1
	it.entryIndex = index
}

func (it *DataBlockIter) remember() {
	e := prevEntry{
		offset: it.current, next: it.next, inBlock: it.inBlock,
		valueFrom: it.valueEnd - uint32(len(it.value)), valueTo: it.valueEnd,
	}
	if e.inBlock {
		// A key in the block ends where its value begins, or the entry does.
		e.keyTo = e.valueFrom
		if it.separated {
			e.keyTo = it.next
		}
		e.keyFrom = e.keyTo - uint32(len(it.raw))
	} else {
		e.keyFrom = uint32(len(it.prevKeys))
		it.prevKeys = append(it.prevKeys, it.raw...)
		e.keyTo = uint32(len(it.prevKeys))
	}
	it.prevEntries = append(it.prevEntries, e)
}

func (it *DataBlockIter) restore(e *prevEntry) {
	it.current, it.next, it.valueEnd = e.offset, e.next, e.valueTo
	it.value = it.data[e.valueFrom:e.valueTo:e.valueTo]
	it.inBlock = e.inBlock
	if e.inBlock {
		it.raw = it.data[e.keyFrom:e.keyTo:e.keyTo]
	} else {
		it.rawBuf = append(it.rawBuf[:0], it.prevKeys[e.keyFrom:e.keyTo]...)
		it.raw = it.rawBuf
	}
	// Next after Prev needs the interval only where values are apart.
	for it.restartIndex > 0 && it.restartIndex < it.numRestarts && it.restartPoint(it.restartIndex) > e.offset {
		it.restartIndex--
	}
}
