// Port of memtable/inlineskiplist.h, its searches.

package memtable

import (
	"encoding/binary"
	"math/rand/v2"
	"unsafe"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// searchKey is a key being looked for, decoded once. In bytewise order, a node
// whose user key has 8 bytes or more is compared by them as one big-endian
// number first; the searched key is padded with zeros for that, which orders
// right whenever the numbers differ.
type searchKey struct {
	prefix      uint64
	span        uint8 // entries whose first byte is in [16, 16+span) are compared so
	key         []byte
	cmp         *dbformat.InternalKeyComparator
	comparisons uint64 // so far
	// touched keeps the loads of touch from being optimised away.
	touched uint8
}

// touch starts the load of the node below the one that is about to be compared:
// if the comparison leads down, that node is needed next. It stands for
// upstream's prefetch, which Go has not; the processor does not wait for the
// load's result.
func (k *searchKey) touch(x node, level int) {
	if d := next(x, level); d != nil {
		k.touched += *(*uint8)(entryOf(d))
	}
}

// bytewiseSpan covers internal keys of 16 to 127 bytes: a one-byte length and
// a user key of at least 8 bytes. Other orders have a span of 0.
const bytewiseSpan = 0x80 - 16

func (k *searchKey) init(l *InlineSkipList, internalKey []byte) {
	k.key, k.cmp, k.span = internalKey, l.cmp, l.fastSpan
	if len(internalKey) >= 16 {
		k.prefix = binary.BigEndian.Uint64(internalKey)
		return
	}
	var b [8]byte
	copy(b[:], internalKey[:max(len(internalKey)-8, 0)])
	k.prefix = binary.BigEndian.Uint64(b[:])
}

// after tells whether the key is after node n, which is neither nil nor head.
func (k *searchKey) after(n node) bool {
	e := entryOf(n)
	if *(*uint8)(e)-16 < k.span {
		if p := binary.BigEndian.Uint64((*[8]byte)(unsafe.Add(e, 1))[:]); p != k.prefix {
			return p < k.prefix
		}
	}
	return k.compareNode(n) < 0
}

// afterCounted is after where the caller counts no comparisons.
func (k *searchKey) afterCounted(n node) bool {
	k.comparisons++
	return k.after(n)
}

// compareNode gives node n's key compared to the key.
func (k *searchKey) compareNode(n node) int {
	return k.cmp.CompareKeySeq(EntryKey(entryOf(n)), k.key)
}

// findSpliceForLevel walks one level from before to where k belongs, for a key
// that is not in the list. after, if not nil, is known to lie after the key.
func (l *InlineSkipList) findSpliceForLevel(k *searchKey, before, after node, level int) (node, node) {
	compared := uint64(0)
	n := next(before, level)
	for n != after && n != nil {
		if level > 0 {
			k.touch(before, level-1)
		}
		nn := next(n, level)
		compared++
		if !k.after(n) {
			break
		}
		before, n = n, nn
	}
	k.comparisons += compared
	return before, n
}

// findGreaterOrEqual gives the first node at or after the key, nil if none.
func (l *InlineSkipList) findGreaterOrEqual(k *searchKey) node {
	x := l.head
	var bigger node
	compared := uint64(0)
	for level := int(l.maxHeight.Load()) - 1; level >= 0; level-- {
		n := next(x, level)
		for n != bigger && n != nil {
			if level > 0 {
				k.touch(x, level-1)
			}
			nn := next(n, level)
			compared++
			if !k.after(n) {
				break
			}
			x, n = n, nn
		}
		bigger = n
	}
	k.comparisons = compared
	return bigger
}

// findLessThan gives the last node before the key, head if none.
func (l *InlineSkipList) findLessThan(k *searchKey) node {
	x := l.head
	var notBefore node
	compared := uint64(0)
	for level := int(l.maxHeight.Load()) - 1; level >= 0; level-- {
		n := next(x, level)
		for n != notBefore && n != nil {
			if level > 0 {
				k.touch(x, level-1)
			}
			nn := next(n, level)
			compared++
			if !k.after(n) {
				break
			}
			x, n = n, nn
		}
		notBefore = n
	}
	k.comparisons = compared
	return x
}

// findLast gives the last node, head if the list is empty.
func (l *InlineSkipList) findLast() node {
	x := l.head
	for level := int(l.maxHeight.Load()) - 1; level >= 0; level-- {
		for n := next(x, level); n != nil; n = next(x, level) {
			x = n
		}
	}
	return x
}

// findRandomEntry gives some node, nil if the list is empty. From the top, a
// node of the level is drawn and the next level is searched between it and its
// follower only.
func (l *InlineSkipList) findRandomEntry() node {
	x := l.head
	var limit node
	var nodes []node
	for level := int(l.maxHeight.Load()) - 1; level >= 0; level-- {
		nodes = nodes[:0]
		for n := x; n != limit; n = next(n, level) {
			nodes = append(nodes, n)
		}
		i := rand.IntN(len(nodes))
		x = nodes[i]
		if i+1 < len(nodes) {
			limit = nodes[i+1]
		}
	}
	if x == l.head {
		return next(l.head, 0)
	}
	return x
}

// Contains tells whether there is an entry of that user key and sequence
// number.
func (l *InlineSkipList) Contains(internalKey []byte) bool {
	var k searchKey
	k.init(l, internalKey)
	n := l.findGreaterOrEqual(&k)
	return n != nil && k.compareNode(n) == 0
}

// ApproximateNumEntries estimates the number of entries in [start, end), which
// are internal keys. It counts the range's nodes on the highest level that has
// enough of them, and multiplies by the branching factor for each level below;
// high levels must show more samples, as counting them costs less and their
// number varies more.
func (l *InlineSkipList) ApproximateNumEntries(start, end []byte) uint64 {
	lower := l.head
	var upper node
	count := uint64(0)
	for level := int(l.maxHeight.Load()) - 1; level >= 0; level-- {
		if count >= uint64(level)*uint64(l.branching)+10 {
			count *= uint64(l.branching)
			continue
		}
		count = 0
		// A node may come in between while this runs, so a link can lead past
		// upper: nil ends the walk as well.
		n := next(lower, level)
		for n != upper && n != nil && l.cmp.CompareKeySeq(EntryKey(entryOf(n)), start) < 0 {
			lower = n
			n = next(lower, level)
		}
		for n != upper && n != nil {
			if l.cmp.CompareKeySeq(EntryKey(entryOf(n)), end) >= 0 {
				upper = n
				break
			}
			count++
			n = next(n, level)
		}
	}
	return count
}

// KeyValidation checks an entry found on the way (its checksum); allowData
// permits keys in the error's text.
type KeyValidation func(entry KeyHandle, allowData bool) error

func outOfOrder(a, b node, allowData bool) error {
	msg := "Out-of-order keys found in skiplist."
	if allowData {
		return rocksdb.Corruptionf("%s prev key: %X next key: %X", msg, EntryKey(entryOf(a)), EntryKey(entryOf(b)))
	}
	return rocksdb.Corruption(msg)
}

// checkStep checks the step from x to n: order if checkOrder, and the entry by
// validate unless that is nil.
func (l *InlineSkipList) checkStep(x, n node, checkOrder, allowData bool, validate KeyValidation) error {
	if n == nil {
		return nil
	}
	if checkOrder && x != l.head && l.cmp.CompareKeySeq(EntryKey(entryOf(x)), EntryKey(entryOf(n))) >= 0 {
		return outOfOrder(x, n, allowData)
	}
	if validate != nil {
		return validate(entryOf(n), allowData)
	}
	return nil
}

// findGreaterOrEqualChecked is findGreaterOrEqual with a check of every step.
func (l *InlineSkipList) findGreaterOrEqualChecked(k *searchKey, checkOrder, allowData bool, validate KeyValidation) (node, error) {
	x := l.head
	var bigger node
	for level := int(l.maxHeight.Load()) - 1; level >= 0; level-- {
		for {
			n := next(x, level)
			if err := l.checkStep(x, n, checkOrder, allowData, validate); err != nil {
				return nil, err
			}
			if n == bigger || n == nil || !k.afterCounted(n) {
				bigger = n
				break
			}
			x = n
		}
	}
	return bigger, nil
}

// findLessThanChecked is findLessThan with a check of order.
func (l *InlineSkipList) findLessThanChecked(k *searchKey, allowData bool) (node, error) {
	x := l.head
	var notBefore node
	for level := int(l.maxHeight.Load()) - 1; level >= 0; level-- {
		for {
			n := next(x, level)
			if err := l.checkStep(x, n, true, allowData, nil); err != nil {
				return nil, err
			}
			if n == notBefore || n == nil || !k.afterCounted(n) {
				notBefore = n
				break
			}
			x = n
		}
	}
	return x, nil
}

// EntryVisitor receives the entries a lookup passes; false ends it. i is the
// index of the key looked up, 0 for a single one.
type EntryVisitor interface {
	VisitEntry(i int, entry KeyHandle) bool
}

// MultiGet calls v with the entries from each key on until v says no. The keys
// are internal keys in rising order. Each search starts where the last one
// ended (a "finger"), so its time grows with the logarithm of the distance.
func (l *InlineSkipList) MultiGet(keys [][]byte, v EntryVisitor, checkOrder, allowData bool, validate KeyValidation) error {
	var finger Splice
	return l.multiGet(keys, v, checkOrder, allowData, validate, &finger)
}

// MultiGetCounting is MultiGet that adds the number of keys compared to to
// comparisons.
func (l *InlineSkipList) MultiGetCounting(keys [][]byte, v EntryVisitor, checkOrder, allowData bool, validate KeyValidation, comparisons *uint64) error {
	var finger Splice
	err := l.multiGet(keys, v, checkOrder, allowData, validate, &finger)
	*comparisons += finger.comparisons
	return err
}

func (l *InlineSkipList) multiGet(keys [][]byte, v EntryVisitor, checkOrder, allowData bool, validate KeyValidation, finger *Splice) error {
	check := checkOrder || validate != nil
	for i, key := range keys {
		var k searchKey
		k.init(l, key)
		n, err := l.findWithFinger(&k, finger, checkOrder, allowData, validate)
		finger.comparisons += k.comparisons
		if err != nil {
			return err
		}
		for n != nil && v.VisitEntry(i, entryOf(n)) {
			x := n
			n = next(x, 0)
			if check {
				if err := l.checkStep(x, n, checkOrder, allowData, validate); err != nil {
					return err
				}
			}
			// prev stays: the next key may be the same again and lies before
			// the entries just passed.
			finger.next[0] = n
		}
	}
	return nil
}

func (l *InlineSkipList) findWithFinger(k *searchKey, f *Splice, checkOrder, allowData bool, validate KeyValidation) (node, error) {
	maxHeight := int(l.maxHeight.Load())
	level := maxHeight - 1
	if f.height == 0 {
		f.prev[level], f.next[level] = l.head, nil
		f.height = maxHeight
	} else {
		for ; f.height < maxHeight; f.height++ {
			f.prev[f.height], f.next[f.height] = l.head, nil
		}
		// The lowest level whose right end is not before the key.
		level = 0
		for level < maxHeight-1 && f.next[level] != nil && k.afterCounted(f.next[level]) {
			level++
		}
		if f.next[level] != nil && k.afterCounted(f.next[level]) {
			f.prev[level], f.next[level] = l.head, nil
		}
	}
	check := checkOrder || validate != nil
	before, after := f.prev[level], f.next[level]
	for ; level >= 0; level-- {
		if check {
			var err error
			if before, after, err = l.findSpliceForLevelChecked(k, before, after, level, checkOrder, allowData, validate); err != nil {
				return nil, err
			}
		} else {
			before, after = l.findSpliceForLevel(k, before, after, level)
		}
		f.prev[level], f.next[level] = before, after
	}
	return f.next[0], nil
}

func (l *InlineSkipList) findSpliceForLevelChecked(k *searchKey, before, after node, level int, checkOrder, allowData bool, validate KeyValidation) (node, node, error) {
	for {
		n := next(before, level)
		if err := l.checkStep(before, n, checkOrder, allowData, validate); err != nil {
			return nil, nil, err
		}
		if n == after || n == nil || !k.afterCounted(n) {
			return before, n, nil
		}
		before = n
	}
}
