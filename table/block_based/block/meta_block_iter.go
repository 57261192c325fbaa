// Port of table/block_based/block.{h,cc}: MetaBlockIter.

package block

import "github.com/rocksdb-go/rocksdb/table/internaliter"

// MetaBlockIter walks a block of plain keys in bytewise order.
type MetaBlockIter struct{ blockIter }

// UserKey is Key.
func (it *MetaBlockIter) UserKey() []byte { return it.key }

// Value is the entry's value.
func (it *MetaBlockIter) Value() []byte { return it.value }

// SeekToFirst goes to the first entry.
func (it *MetaBlockIter) SeekToFirst() {
	if it.data != nil && it.seekToRestartPoint(0) && it.parse() {
		it.update()
	}
}

// SeekToLast goes to the last entry.
func (it *MetaBlockIter) SeekToLast() {
	if it.data == nil || !it.seekToRestartPoint(it.numRestarts-1) {
		return
	}
	for it.parse() && it.next < it.keysEnd {
	}
	it.update()
}

// Seek goes to the first entry at or after target.
func (it *MetaBlockIter) Seek(target []byte) {
	if it.data != nil {
		it.seek(target)
		it.update()
	}
}

func (it *MetaBlockIter) seek(target []byte) {
	index, exact, ok := it.binarySeek(target)
	if !ok {
		if it.status == nil {
			it.end()
		}
		return
	}
	if !it.seekToRestartPoint(index) || !it.parse() || exact {
		return
	}
	limit := it.scanLimit(index)
	for it.parse() && it.current != limit && it.compare(it.raw, target) < 0 {
	}
}

// SeekForPrev goes to the last entry at or before target.
func (it *MetaBlockIter) SeekForPrev(target []byte) {
	if it.data == nil {
		return
	}
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

// Next goes to the next entry.
func (it *MetaBlockIter) Next() {
	if it.parse() {
		it.update()
	}
}

// NextAndGetResult goes to the next entry.
func (it *MetaBlockIter) NextAndGetResult(res *internaliter.IterateResult) bool {
	it.Next()
	if !it.Valid() {
		return false
	}
	*res = internaliter.IterateResult{Key: it.key, ValuePrepared: true}
	return true
}

// Prev goes to the entry before.
func (it *MetaBlockIter) Prev() {
	it.prev()
	it.update()
}

func (it *MetaBlockIter) prev() {
	index, original := it.entryIndex-1, it.current
	if !it.seekPrev(original) {
		return
	}
	for it.parse() && it.next < original {
	}
	it.entryIndex = index
}
