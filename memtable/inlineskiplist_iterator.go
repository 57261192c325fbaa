// Port of memtable/inlineskiplist.h, its iterator.

package memtable

import "github.com/rocksdb-go/rocksdb/include/rocksdb"

// InlineSkipListIterator walks a list. The zero value with SetList called is
// ready and not valid; it may be copied. It sees inserts made while it lives.
type InlineSkipListIterator struct {
	list        *InlineSkipList
	node        node
	comparisons uint64
}

// TakeKeyComparisons is the number of comparisons of keys that searches have made
// since it was called last.
func (i *InlineSkipListIterator) TakeKeyComparisons() uint64 {
	n := i.comparisons
	i.comparisons = 0
	return n
}

// NewIterator gives an iterator that is not valid yet.
func (l *InlineSkipList) NewIterator() InlineSkipListIterator {
	return InlineSkipListIterator{list: l}
}

// SetList moves the iterator to another list; it is not valid then.
func (i *InlineSkipListIterator) SetList(l *InlineSkipList) { i.list, i.node = l, nil }

// Valid tells whether the iterator is at an entry.
func (i *InlineSkipListIterator) Valid() bool { return i.node != nil }

// Key is the entry. Requires Valid, as do Next and Prev.
func (i *InlineSkipListIterator) Key() KeyHandle { return entryOf(i.node) }

// Next moves on by one.
func (i *InlineSkipListIterator) Next() { i.node = next(i.node, 0) }

// Prev moves back by one; without back links that is a search.
func (i *InlineSkipListIterator) Prev() {
	var k searchKey
	k.init(i.list, EntryKey(entryOf(i.node)))
	i.setUnlessHead(i.list.findLessThan(&k))
	i.comparisons += k.comparisons
}

func (i *InlineSkipListIterator) setUnlessHead(n node) {
	if n == i.list.head {
		n = nil
	}
	i.node = n
}

// Seek moves to the first entry at or after the internal key.
func (i *InlineSkipListIterator) Seek(internalKey []byte) {
	var k searchKey
	k.init(i.list, internalKey)
	i.node = i.list.findGreaterOrEqual(&k)
	i.comparisons += k.comparisons
}

// SeekForPrev moves to the last entry at or before the internal key.
func (i *InlineSkipListIterator) SeekForPrev(internalKey []byte) {
	var k searchKey
	k.init(i.list, internalKey)
	x := i.list.findLessThan(&k)
	// Only an equal entry can lie between x and the key.
	if n := next(x, 0); n != nil {
		k.comparisons++
		if k.compareNode(n) == 0 {
			x = n
		}
	}
	i.comparisons += k.comparisons
	i.setUnlessHead(x)
}

// RandomSeek moves to some entry.
func (i *InlineSkipListIterator) RandomSeek() { i.node = i.list.findRandomEntry() }

// SeekToFirst moves to the first entry.
func (i *InlineSkipListIterator) SeekToFirst() { i.node = next(i.list.head, 0) }

// SeekToLast moves to the last entry.
func (i *InlineSkipListIterator) SeekToLast() { i.setUnlessHead(i.list.findLast()) }

// NextAndValidate is Next with a check of the two keys' order; on a corruption
// the iterator is not valid any more. So it is with the two below.
func (i *InlineSkipListIterator) NextAndValidate(allowData bool) error {
	x := i.node
	i.node = next(x, 0)
	err := i.list.checkStep(x, i.node, true, allowData, nil)
	if err != nil {
		i.node = nil
	}
	return err
}

// PrevAndValidate is Prev with a check of the order of all keys on the way.
func (i *InlineSkipListIterator) PrevAndValidate(allowData bool) error {
	var k searchKey
	k.init(i.list, EntryKey(entryOf(i.node)))
	n, err := i.list.findLessThanChecked(&k, allowData)
	i.comparisons += k.comparisons
	if err != nil {
		i.node = nil
		return err
	}
	i.setUnlessHead(n)
	return nil
}

// SeekAndValidate is Seek with checks of all entries on the way: of their order
// if checkOrder, and by validate unless that is nil.
func (i *InlineSkipListIterator) SeekAndValidate(internalKey []byte, allowData, checkOrder bool, validate KeyValidation) error {
	var k searchKey
	k.init(i.list, internalKey)
	var err error
	i.node, err = i.list.findGreaterOrEqualChecked(&k, checkOrder, allowData, validate)
	i.comparisons += k.comparisons
	return err
}

// TestValidate checks the list's invariants (see doc.go); for tests, with no
// inserts running.
func (l *InlineSkipList) TestValidate() error {
	height := int(l.maxHeight.Load())
	at := make([]node, height)
	for i := range at {
		at[i] = next(l.head, i)
	}
	prev := l.head
	for n := next(l.head, 0); n != nil; n = next(n, 0) {
		if err := l.checkStep(prev, n, true, true, nil); err != nil {
			return err
		}
		linked := true
		for i := 0; i < height; i++ {
			if at[i] != n {
				linked = false
				continue
			}
			if !linked {
				return rocksdb.Corruptionf("key %X is on level %d and not on all below", EntryKey(entryOf(n)), i)
			}
			at[i] = next(n, i)
		}
		prev = n
	}
	for i, n := range at {
		if n != nil {
			return rocksdb.Corruptionf("level %d has a node that level 0 has not", i)
		}
	}
	return nil
}
