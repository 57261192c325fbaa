// Port of table/block_based/block.{h,cc}: MetaBlockIter.

package block

import "github.com/rocksdb-go/rocksdb/table/internaliter"

// MetaBlockIter walks a block of plain keys in bytewise order.
type MetaBlockIter struct{ blockIter }

// UserKey is Key.
func (it *MetaBlockIter) UserKey() []byte { return it.key }

// Value is the entry's value.
func (it *MetaBlockIter) Value() []byte { return it.value }

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
