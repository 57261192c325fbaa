// Port of table/block_based/block.{h,cc}: IndexBlockIter. Differs: values are
// decoded at each step, so that damage shows as status.

package block

import (
	"bytes"
	"math/bits"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/table/format"
	"github.com/rocksdb-go/rocksdb/table/internaliter"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

// IndexBlockIter walks an index block. It is reused from block to block.
//
// With a prefix index a seek to a key whose prefix is not in the file may leave
// the iterator not valid with status NotFound.
type IndexBlockIter struct {
	blockIter
	haveFirstKey  bool
	interpolate   bool
	prefixIndex   *BlockPrefixIndex
	decoded       format.IndexValue
	firstKeySeqno rocksdb.SequenceNumber
	firstKeyBuf   []byte
}

// errPrefixNotFound tells a prefix that is in no block from a key past the end.
var errPrefixNotFound = rocksdb.NotFound()

// UserKey is Key without sequence number and type, where it has them.
func (it *IndexBlockIter) UserKey() []byte {
	if it.userKeys {
		return it.key
	}
	return it.key[:len(it.key)-numInternalBytes]
}

// Value is the entry's decoded value.
func (it *IndexBlockIter) Value() format.IndexValue { return it.decoded }

// RawValue is the entry's value as stored.
func (it *IndexBlockIter) RawValue() []byte { return it.value }

// IsValuePinned is false where first keys are changed copies.
func (it *IndexBlockIter) IsValuePinned() bool {
	return it.pinned && it.firstKeySeqno == dbformat.DisableGlobalSequenceNumber && !it.padTS
}

// step is parse and the value's decoding.
func (it *IndexBlockIter) step() bool {
	if !it.parse() {
		return false
	}
	if !it.valueDelta {
		rest, err := it.decoded.DecodeFrom(it.value, it.haveFirstKey, nil)
		if err != nil {
			return it.corrupt()
		}
		_ = rest
	} else if !it.decodeDelta() {
		return false
	}
	if it.haveFirstKey && (it.padTS || it.firstKeySeqno != dbformat.DisableGlobalSequenceNumber) {
		return it.decorateFirstKey()
	}
	return true
}

// decodeDelta reads a value that tells its own length. The value of an entry
// that shares bytes with the one before is the difference from that one's.
func (it *IndexBlockIter) decodeDelta() bool {
	limit := it.keysEnd
	if it.separated {
		limit = it.restarts
	}
	from := it.valueEnd
	src := it.data[from:limit]
	var previous *format.BlockHandle
	if !it.inBlock {
		previous = &it.decoded.Handle
	}
	rest, err := it.decoded.DecodeFrom(src, it.haveFirstKey, previous)
	if err != nil {
		return it.corrupt()
	}
	end := limit - uint32(len(rest))
	it.value = it.data[from:end:end]
	it.valueEnd = end
	if !it.separated {
		it.next = end
	}
	return true
}

func (it *IndexBlockIter) decorateFirstKey() bool {
	key := it.decoded.FirstInternalKey
	if len(key) < numInternalBytes {
		return it.corrupt()
	}
	b := it.firstKeyBuf[:0]
	if it.padTS {
		b = dbformat.PadInternalKeyWithMinTimestamp(b, key, it.icmp.TimestampSize())
	} else {
		b = append(b, key...)
	}
	if it.firstKeySeqno != dbformat.DisableGlobalSequenceNumber {
		dbformat.UpdateInternalKey(b, it.firstKeySeqno, dbformat.ExtractValueType(key))
	}
	it.firstKeyBuf, it.decoded.FirstInternalKey = b, b
	return true
}

// SeekToFirst goes to the first entry.
func (it *IndexBlockIter) SeekToFirst() {
	if it.data == nil {
		return
	}
	it.status = nil
	if it.seekToRestartPoint(0) && it.step() {
		it.update()
	}
}

// SeekToLast goes to the last entry.
func (it *IndexBlockIter) SeekToLast() {
	if it.data == nil {
		return
	}
	it.status = nil
	if !it.seekToRestartPoint(it.numRestarts - 1) {
		return
	}
	for it.step() && it.next < it.keysEnd {
	}
	it.update()
}

// Seek goes to the first entry at or after target, an internal key.
func (it *IndexBlockIter) Seek(target []byte) {
	syncpoint.Process("IndexBlockIter::Seek:0")
	if it.data == nil {
		return
	}
	if it.perf != nil {
		start := it.startSeek()
		it.seekIndex(target)
		it.endSeek(start)
		return
	}
	it.seekIndex(target)
}

func (it *IndexBlockIter) seekIndex(target []byte) {
	it.status = nil
	seekKey := target
	if it.userKeys {
		seekKey = dbformat.ExtractUserKey(target)
	}
	var index uint32
	var exact, ok bool
	switch {
	case it.prefixIndex != nil && it.prefixIndex.KnowsPrefixOf(target, it.icmp.TimestampSize()):
		var mayExist bool
		index, mayExist, ok = it.prefixSeek(target, seekKey)
		if !mayExist && it.status == nil {
			it.end()
			it.status = errPrefixNotFound
		}
		// An index with a prefix index has a restart point for each entry.
		exact = true
	case it.interpolate:
		index, exact, ok = it.interpolationSeek(seekKey)
	default:
		index, exact, ok = it.binarySeek(seekKey)
	}
	if !ok {
		it.end()
		return
	}
	if !it.seekToRestartPoint(index) || !it.step() {
		return
	}
	if !exact {
		limit := it.scanLimit(index)
		for it.step() && it.current != limit && it.compare(it.raw, seekKey) < 0 {
		}
	}
	it.update()
}

// SeekForPrev must not be called on an index; it is an error.
func (it *IndexBlockIter) SeekForPrev([]byte) {
	it.end()
	it.raw, it.value = nil, nil
	it.status = rocksdb.InvalidArgument("RocksDB internal error: should never call SeekForPrev() on index blocks")
}

// Next goes to the next entry.
func (it *IndexBlockIter) Next() {
	if it.step() {
		it.update()
	}
}

// NextAndGetResult goes to the next entry.
func (it *IndexBlockIter) NextAndGetResult(res *internaliter.IterateResult) bool {
	it.Next()
	if !it.Valid() {
		return false
	}
	*res = internaliter.IterateResult{Key: it.key, ValuePrepared: true}
	return true
}

// Prev goes to the entry before.
func (it *IndexBlockIter) Prev() {
	index, original := it.entryIndex-1, it.current
	if !it.seekPrev(original) {
		return
	}
	for it.step() && it.next < original {
	}
	it.entryIndex = index
	it.update()
}

const (
	interpolationGuard = 8 // restart points left when binary search takes over
	maxPoorSearches    = 8 // guesses in a row that halved nothing
)

// interpolationSeek is binarySeek by guessing where target lies between the
// outer keys, taken as numbers: the eight bytes after what they share. It is
// fast on evenly spread keys and falls back on halving.
func (it *IndexBlockIter) interpolationSeek(target []byte) (index uint32, exact, ok bool) {
	if it.keysEnd == 0 {
		return 0, false, false
	}
	left, right := int64(-1), int64(it.numRestarts)-1
	if right <= interpolationGuard {
		return it.binarySeek(target)
	}
	lo, ok := it.restartKey(0)
	if !ok {
		return 0, false, false
	}
	hi, ok := it.restartKey(uint32(right))
	if !ok {
		return 0, false, false
	}
	user := func(k []byte) []byte {
		if it.userKeys {
			return k
		}
		return k[:len(k)-numInternalBytes]
	}
	prefix := differenceOffset(user(lo), user(hi))
	if t := user(target); !bytes.Equal(t[:min(len(t), prefix)], lo[:prefix]) {
		// Target lies wholly before or after all keys.
		return it.binarySeek(target)
	}
	loVal, hiVal := readBe64FromKey(lo, it.userKeys, prefix), readBe64FromKey(hi, it.userKeys, prefix)
	val := readBe64FromKey(target, it.userKeys, prefix)
	if loVal > hiVal {
		it.corrupt()
		it.status = rocksdb.Corruption("left key is greater than right key")
		return 0, false, false
	}
	poor, hiKnown := 0, true
	for left != right {
		mid := left + (right-left+1)/2
		if right-left > interpolationGuard && poor < maxPoorSearches {
			if !hiKnown {
				if hi, ok = it.restartKey(uint32(right)); !ok {
					return 0, false, false
				}
				hiVal, hiKnown = readBe64FromKey(hi, it.userKeys, prefix), true
			}
			base := max(left, 0)
			switch {
			case val <= loVal:
				mid = base + 1
			case val >= hiVal:
				mid = right
			default:
				mid = base + scale(right-base, val-loVal, hiVal-loVal)
			}
			mid = min(max(mid, left+1), right)
		}
		key, ok := it.restartKey(uint32(mid))
		if !ok {
			return 0, false, false
		}
		space := right - left
		switch c := it.compare(key, target); {
		case c < 0:
			left, loVal = mid, readBe64FromKey(key, it.userKeys, prefix)
		case c > 0:
			right, hiKnown = mid-1, false
		default:
			return uint32(mid), true, true
		}
		if right-left > space/2 {
			poor++
		} else {
			poor = 0
		}
	}
	if left < 0 {
		return 0, true, true
	}
	return uint32(left), false, true
}

// scale is n * part / whole; part < whole.
func scale(n int64, part, whole uint64) int64 {
	hi, lo := bits.Mul64(uint64(n), part)
	q, _ := bits.Div64(hi, lo, whole)
	return int64(q)
}

// compareBlockKey orders the key of restart point i against target; a damaged
// one sets status.
func (it *IndexBlockIter) compareBlockKey(i uint32, target []byte) int {
	key, ok := it.restartKey(i)
	if !ok {
		return 1
	}
	return it.compare(key, target)
}

// prefixSeek finds the block for target among those of its prefix. mayExist is
// false when no key of the file has the prefix.
func (it *IndexBlockIter) prefixSeek(target, seekKey []byte) (index uint32, mayExist, ok bool) {
	ids := it.prefixIndex.GetBlocks(target)
	if len(ids) == 0 {
		return 0, false, false
	}
	for _, id := range ids {
		if id >= it.numRestarts {
			it.corrupt()
			return 0, true, false
		}
	}
	left, right := 0, len(ids)-1
	for left <= right {
		mid := (left + right) / 2
		c := it.compareBlockKey(ids[mid], seekKey)
		if it.status != nil {
			return 0, true, false
		}
		if c < 0 {
			left = mid + 1
		} else {
			if left == right {
				break
			}
			right = mid
		}
	}
	if left == right {
		// The block before may show that target lies in none: it is not of this
		// prefix and ends after target.
		if ids[left] > 0 && (left == 0 || ids[left-1] != ids[left]-1) &&
			it.compareBlockKey(ids[left]-1, seekKey) > 0 {
			return 0, false, false
		}
		return ids[left], true, it.status == nil
	}
	// All blocks of the prefix end before target: it may be in the block after.
	next := ids[right] + 1
	if next < it.numRestarts {
		if it.compareBlockKey(next, seekKey) >= 0 {
			return next, true, it.status == nil
		}
		return 0, false, false
	}
	return 0, true, false
}
