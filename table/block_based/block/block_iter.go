// Port of table/block_based/block.{h,cc}: the core of the block iterators.
// Differs: all lengths are checked always; an entry of a block whose keys and
// values are apart is known to be a restart point by its offset, not by
// counting with the table's restart interval.

package block

import (
	"bytes"
	"encoding/binary"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/table/internaliter"
)

// blockIter is a position in a block. The three iterators embed it; each has
// its own loops over parse, so that no step goes through an interface.
//
// raw is the entry's key as stored; key is what Key returns: raw itself, or,
// where special is set, a changed copy in keyBuf.
type blockIter struct {
	internaliter.Base
	data   []byte // the block; nil before initialize
	raw    []byte
	key    []byte
	value  []byte
	status error
	icmp   *dbformat.InternalKeyComparator

	restarts     uint32 // offset of the restart array
	numRestarts  uint32
	keysEnd      uint32 // where entries end
	current      uint32 // offset of the entry; keysEnd when not valid
	next         uint32 // offset of the entry after it
	restartIndex uint32 // the interval that holds current or current-1
	valuesOffset uint32
	valueEnd     uint32 // where the value before ended, where values are apart
	entryIndex   int32  // only with kvChecksum
	kvInterval   uint32

	separated  bool
	userKeys   bool // keys have no sequence number and type
	valueDelta bool // values have no length
	special    bool // key is not raw
	padTS      bool
	pinned     bool
	inBlock    bool // raw points into the block
	bytewise   bool
	protection uint8

	globalSeqno rocksdb.SequenceNumber
	rawBuf      []byte
	keyBuf      []byte
	kvChecksum  []byte

	perf     *rocksdb.PerfContext // of SetPerfContext
	compared uint64               // keys, since it was last counted

	entry CachableEntry[*Block] // the reference on the block, where it is ours
}

// initialize sets the iterator on b, not valid yet. False when there is nothing
// to iterate over; status tells whether that is an error.
func (it *blockIter) initialize(b *Block, icmp *dbformat.InternalKeyComparator, seqno rocksdb.SequenceNumber, userKeys, padTS, pinned bool) bool {
	it.releaseEntry()
	rawBuf, keyBuf := it.rawBuf[:0], it.keyBuf[:0]
	*it = blockIter{rawBuf: rawBuf, keyBuf: keyBuf, icmp: icmp}
	if b.err != nil {
		it.status = b.err
		return false
	}
	if b.numRestarts == 0 {
		return false
	}
	it.data = b.contents.Data
	it.restarts, it.numRestarts = b.restarts, b.numRestarts
	it.keysEnd = b.restarts
	if b.separated {
		it.separated, it.valuesOffset, it.keysEnd = true, b.valuesOffset, b.valuesOffset
	}
	it.userKeys, it.bytewise, it.pinned = userKeys, icmp.IsBytewise(), pinned
	it.padTS = padTS && icmp.TimestampSize() > 0
	it.globalSeqno = seqno
	it.special = it.padTS || seqno != dbformat.DisableGlobalSequenceNumber && !userKeys
	it.kvChecksum, it.protection, it.kvInterval = b.kvChecksum, b.protectionSize, b.kvInterval
	it.end()
	return true
}

// SetPerfContext makes seeks count in perf, until the iterator is set on another
// block.
func (it *blockIter) SetPerfContext(perf *rocksdb.PerfContext) {
	if perf.CountEnabled() {
		it.perf = perf
	}
}

// startSeek and endSeek measure a seek, for iterators with a context.
func (it *blockIter) startSeek() (start uint64) {
	it.compared = 0
	if it.perf.Enabled(rocksdb.EnableTimeExceptForMutex) {
		start = rocksdb.DefaultSystemClock().NowNanos()
	}
	return start
}

func (it *blockIter) endSeek(start uint64) {
	it.perf.UserKeyComparisonCount += it.compared
	if start > 0 {
		it.perf.BlockSeekNanos += rocksdb.DefaultSystemClock().NowNanos() - start
	}
}

// Invalidate makes the iterator stand nowhere for good, with err as its status,
// and gives its reference on the block back.
func (it *blockIter) Invalidate(err error) {
	it.releaseEntry()
	it.data, it.raw, it.key, it.value = nil, nil, nil, nil
	it.current, it.keysEnd, it.next = 0, 0, 0
	it.status = err
}

// SetEntry hands the iterator a reference on its block, which Close or the next
// initialisation gives back.
func (it *blockIter) SetEntry(e CachableEntry[*Block]) {
	it.releaseEntry()
	it.entry = e
}

// Entry gives the reference, still the iterator's.
func (it *blockIter) Entry() *CachableEntry[*Block] { return &it.entry }

func (it *blockIter) releaseEntry() {
	if it.entry.set {
		it.entry.Release()
	}
}

// Close gives the block back.
func (it *blockIter) Close() error {
	err := it.status
	it.Invalidate(err)
	return err
}

// Recycle forgets everything but buffers.
func (it *blockIter) Recycle() {
	it.releaseEntry()
	*it = blockIter{rawBuf: it.rawBuf[:0], keyBuf: it.keyBuf[:0]}
}

// Valid tells whether the iterator stands on an entry.
func (it *blockIter) Valid() bool { return it.current < it.keysEnd }

// Status is nil or a corruption.
func (it *blockIter) Status() error { return it.status }

// Key is the entry's key.
func (it *blockIter) Key() []byte { return it.key }

// IsKeyPinned tells whether Key points into a block that stays.
func (it *blockIter) IsKeyPinned() bool { return it.pinned && it.inBlock && !it.special }

// IsValuePinned tells whether Value points into a block that stays.
func (it *blockIter) IsValuePinned() bool { return it.pinned }

// ValueOffset is where in the block the value begins, in bytes.
func (it *blockIter) ValueOffset() uint32 { return it.valueEnd - uint32(len(it.value)) }

// end makes the iterator not valid, after the last or before the first entry.
func (it *blockIter) end() {
	it.current, it.next = it.keysEnd, it.keysEnd
	it.restartIndex = it.numRestarts
}

func (it *blockIter) corrupt() bool {
	it.end()
	it.status = errBadEntry
	it.raw, it.value = nil, nil
	return false
}

// restartPoint is the offset of the entry at a restart point; i < numRestarts.
func (it *blockIter) restartPoint(i uint32) uint32 {
	return binary.LittleEndian.Uint32(it.data[it.restarts+4*i:])
}

// seekToRestartPoint makes parse read the entry at restart point i.
func (it *blockIter) seekToRestartPoint(i uint32) bool {
	at := it.restartPoint(i)
	if at > it.keysEnd {
		return it.corrupt()
	}
	it.raw = nil
	it.restartIndex, it.next = i, at
	it.entryIndex = int32(i*it.kvInterval) - 1
	return true
}

// parse reads the entry at next. False at the end and on corruption. It leaves
// key alone; see update.
func (it *blockIter) parse() bool {
	at := it.next
	it.current = at
	it.entryIndex++
	if at >= it.keysEnd {
		it.end()
		return false
	}
	d := it.data[:it.keysEnd]
	var h entryHeader
	p := int(at)
	if n := p + 3; !it.separated && n <= len(d) && (d[p]|d[p+1]) < 0x80 && (it.valueDelta || d[p+2] < 0x80) {
		h.shared, h.nonShared = uint32(d[p]), uint32(d[p+1])
		if it.valueDelta {
			p += 2
		} else {
			h.valueLength = uint32(d[p+2])
			p = n
		}
	} else {
		atRestart := it.separated && it.isRestart(at)
		n := decodeHeader(d[p:], &h, it.valueDelta, atRestart)
		if n == 0 {
			return it.corrupt()
		}
		p += n
		if atRestart {
			it.valueEnd = it.valuesOffset + h.valueOffset
			if it.valueEnd < h.valueOffset {
				return it.corrupt()
			}
		}
	}
	keyEnd := p + int(h.nonShared)
	if keyEnd > len(d) || int(h.shared) > len(it.raw) {
		return it.corrupt()
	}
	if h.shared == 0 {
		it.raw, it.inBlock = d[p:keyEnd:keyEnd], true
		for it.restartIndex+1 < it.numRestarts && it.restartPoint(it.restartIndex+1) < at {
			it.restartIndex++
		}
	} else {
		if it.inBlock {
			it.rawBuf = append(it.rawBuf[:0], it.raw[:h.shared]...)
			it.inBlock = false
		}
		it.rawBuf = append(it.rawBuf[:h.shared], d[p:keyEnd]...)
		it.raw = it.rawBuf
	}
	if !it.userKeys && len(it.raw) < numInternalBytes {
		return it.corrupt()
	}
	if !it.separated {
		end := keyEnd + int(h.valueLength)
		if end > len(d) {
			return it.corrupt()
		}
		it.value = d[keyEnd:end:end]
		it.next, it.valueEnd = uint32(end), uint32(end)
		return true
	}
	start := int(it.valueEnd)
	end := start + int(h.valueLength)
	if end > int(it.restarts) {
		return it.corrupt()
	}
	it.value = it.data[start:end:end]
	it.next, it.valueEnd = uint32(keyEnd), uint32(end)
	return true
}

// isRestart tells whether the entry at offset at, which is not before the
// interval of restartIndex, is a restart point.
func (it *blockIter) isRestart(at uint32) bool {
	for it.restartIndex+1 < it.numRestarts && it.restartPoint(it.restartIndex+1) < at {
		it.restartIndex++
	}
	i := it.restartIndex
	if i >= it.numRestarts {
		return false
	}
	if it.restartPoint(i) == at {
		return true
	}
	return i+1 < it.numRestarts && it.restartPoint(i+1) == at
}

// update makes key of raw and verifies the entry's checksum, where there is
// one. It is called once for each move that ends on an entry.
func (it *blockIter) update() {
	if it.current >= it.keysEnd {
		return
	}
	it.key = it.raw
	if it.special {
		it.key = it.decorate(it.raw)
	}
	if it.protection > 0 {
		it.verifyProtection()
	}
}

func (it *blockIter) verifyProtection() {
	n := int(it.protection)
	from := n * int(it.entryIndex)
	if from < 0 || from+n > len(it.kvChecksum) ||
		!verifyChecksum(it.kvChecksum[from:from+n], protectKV(it.raw, it.value)) {
		offset, index := it.current, it.entryIndex
		it.corrupt()
		it.status = rocksdb.Corruptionf("Corrupted block entry: per key-value checksum verification "+
			"failed. Offset: %d. Entry index: %d.", offset, index)
	}
}

// decorate gives a stored key its timestamp or global sequence number; the
// result is in keyBuf.
func (it *blockIter) decorate(raw []byte) []byte {
	b := it.keyBuf[:0]
	switch {
	case it.padTS && it.userKeys:
		b = dbformat.AppendKeyWithMinTimestamp(b, raw, it.icmp.TimestampSize())
	case it.padTS:
		b = dbformat.PadInternalKeyWithMinTimestamp(b, raw, it.icmp.TimestampSize())
	default:
		b = append(b, raw...)
	}
	if it.globalSeqno != dbformat.DisableGlobalSequenceNumber && !it.userKeys {
		dbformat.UpdateInternalKey(b, it.globalSeqno, dbformat.ExtractValueType(raw))
	}
	it.keyBuf = b
	return b
}

// compare orders a stored key against target, in the form Key would have.
func (it *blockIter) compare(raw, target []byte) int {
	it.compared++
	if it.special {
		raw = it.decorate(raw)
	}
	if it.userKeys {
		return it.icmp.CompareUserKey(raw, target)
	}
	return it.icmp.Compare(raw, target)
}

// restartKey gives the whole key at restart point i.
func (it *blockIter) restartKey(i uint32) ([]byte, bool) {
	at := it.restartPoint(i)
	if at >= it.keysEnd {
		return nil, it.corrupt()
	}
	d := it.data[at:it.keysEnd]
	var h entryHeader
	var p int
	if !it.separated && len(d) >= 3 && (d[0]|d[1]) < 0x80 && (it.valueDelta || d[2] < 0x80) {
		h.shared, h.nonShared = uint32(d[0]), uint32(d[1])
		p = 3
		if it.valueDelta {
			p = 2
		}
	} else if p = decodeHeader(d, &h, it.valueDelta, it.separated); p == 0 {
		return nil, it.corrupt()
	}
	end := p + int(h.nonShared)
	if h.shared != 0 || end > len(d) || !it.userKeys && h.nonShared < numInternalBytes {
		return nil, it.corrupt()
	}
	return d[p:end], true
}

// binarySeek finds the last restart point whose key is at or before target
// (0 where none is). exact tells that its entry is the result already: an equal
// key, or the block's first. The key of the restart point after index is
// greater than target.
func (it *blockIter) binarySeek(target []byte) (index uint32, exact, ok bool) {
	if it.keysEnd == 0 {
		// A table of range deletions alone has an index without entries but
		// with one restart point.
		return 0, false, false
	}
	if it.bytewise && !it.special {
		return it.binarySeekBytewise(target)
	}
	left, right := int64(-1), int64(it.numRestarts)-1
	for left != right {
		mid := left + (right-left+1)/2
		key, ok := it.restartKey(uint32(mid))
		if !ok {
			return 0, false, false
		}
		switch c := it.compare(key, target); {
		case c < 0:
			left = mid
		case c > 0:
			right = mid - 1
		default:
			return uint32(mid), true, true
		}
	}
	if left < 0 {
		return 0, true, true
	}
	return uint32(left), false, true
}

// binarySeekBytewise is binarySeek for stored keys in bytewise order. The first
// eight bytes are compared as numbers where both keys have them.
func (it *blockIter) binarySeekBytewise(target []byte) (index uint32, exact, ok bool) {
	user := target
	footer := uint64(0)
	if !it.userKeys {
		n := len(target) - numInternalBytes
		user, footer = target[:n], binary.LittleEndian.Uint64(target[n:])
	}
	var prefix uint64
	long := len(user) >= 8
	if long {
		prefix = binary.BigEndian.Uint64(user)
	}
	left, right := int64(-1), int64(it.numRestarts)-1
	for left != right {
		mid := left + (right-left+1)/2
		key, ok := it.restartKey(uint32(mid))
		if !ok {
			return 0, false, false
		}
		it.compared++
		keyUser := key
		if !it.userKeys {
			keyUser = key[:len(key)-numInternalBytes]
		}
		if long && len(keyUser) >= 8 {
			if p := binary.BigEndian.Uint64(keyUser); p != prefix {
				if p < prefix {
					left = mid
				} else {
					right = mid - 1
				}
				continue
			}
		}
		c := bytes.Compare(keyUser, user)
		if c == 0 {
			if it.userKeys {
				return uint32(mid), true, true
			}
			f := binary.LittleEndian.Uint64(key[len(keyUser):])
			if f == footer {
				return uint32(mid), true, true
			}
			// A greater sequence number comes first.
			if f > footer {
				c = -1
			} else {
				c = 1
			}
		}
		if c < 0 {
			left = mid
		} else {
			right = mid - 1
		}
	}
	if left < 0 {
		return 0, true, true
	}
	return uint32(left), false, true
}

// SeekToFirst goes to the first entry.
func (it *blockIter) SeekToFirst() {
	if it.data != nil && it.seekToRestartPoint(0) && it.parse() {
		it.update()
	}
}

// SeekToLast goes to the last entry.
func (it *blockIter) SeekToLast() {
	if it.data == nil || !it.seekToRestartPoint(it.numRestarts-1) {
		return
	}
	for it.parse() && it.next < it.keysEnd {
	}
	it.update()
}

// Seek goes to the first entry at or after target.
func (it *blockIter) Seek(target []byte) {
	if it.data == nil {
		return
	}
	if it.perf != nil {
		start := it.startSeek()
		it.seek(target)
		it.endSeek(start)
	} else {
		it.seek(target)
	}
	it.update()
}

func (it *blockIter) seek(target []byte) {
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
	// The restart key itself is known to be before target.
	limit := it.scanLimit(index)
	for it.parse() && it.current != limit && it.compare(it.raw, target) < 0 {
	}
}

// scanLimit is the offset of the restart point after index, whose key is known
// to be greater than the target, so that a scan may stop there unasked.
func (it *blockIter) scanLimit(index uint32) uint32 {
	if index+1 < it.numRestarts {
		return it.restartPoint(index + 1)
	}
	return it.keysEnd
}

// seekPrev makes parse read from the restart point before the current entry;
// false when there is no entry before it.
func (it *blockIter) seekPrev(original uint32) bool {
	i := it.restartIndex
	if i >= it.numRestarts {
		i = it.numRestarts - 1
	}
	for it.restartPoint(i) >= original {
		if i == 0 {
			it.end()
			return false
		}
		i--
	}
	return it.seekToRestartPoint(i)
}
