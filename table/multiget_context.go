// Port of table/multiget_context.h.

package table

import (
	"math/bits"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// KeyContext is one key of a batch and where its result goes.
type KeyContext struct {
	Key           []byte // as the user gave it
	LKey          *dbformat.LookupKey
	UKeyWithTS    []byte
	UKeyWithoutTS []byte
	IKey          []byte
	ColumnFamily  rocksdb.ColumnFamilyHandle
	Err           *error
	MergeContext  dbformat.MergeContext
	// MaxCoveringTombstoneSeq is the greatest sequence number of a range
	// tombstone over the key.
	MaxCoveringTombstoneSeq rocksdb.SequenceNumber
	KeyExists               bool
	IsBlobIndex             bool
	CBArg                   any // the table reader's, between two calls
	Value                   *rocksdb.PinnableSlice
	Columns                 *rocksdb.PinnableWideColumns
	Timestamp               *[]byte
	GetContext              *GetContext
}

// MaxBatchSize is the number of keys of a MultiGetContext.
const MaxBatchSize = 32

// MultiGetMask has a bit for each key of a batch.
type MultiGetMask = uint64

// MultiGetContext is a batch of keys in ascending order that are looked up
// together. It can be used again.
type MultiGetContext struct {
	sortedKeys [MaxBatchSize]*KeyContext
	lookupKeys [MaxBatchSize]dbformat.LookupKey
	numKeys    int
	valueMask  MultiGetMask // keys that are done
	valueSize  uint64
}

// Init takes a batch of at most MaxBatchSize keys, sorted, to be read at a
// sequence number and timestamp (nil for none). The contexts must stay where
// they are.
func (c *MultiGetContext) Init(sortedKeys []*KeyContext, snapshot rocksdb.SequenceNumber, timestamp []byte) {
	c.numKeys = copy(c.sortedKeys[:], sortedKeys)
	clear(c.sortedKeys[c.numKeys:])
	c.valueMask, c.valueSize = 0, 0
	for i, k := range c.sortedKeys[:c.numKeys] {
		l := &c.lookupKeys[i]
		l.Set(k.Key, snapshot, timestamp)
		k.LKey = l
		k.UKeyWithTS = l.UserKey()
		k.UKeyWithoutTS = dbformat.StripTimestampFromUserKey(k.UKeyWithTS, len(timestamp))
		k.IKey = l.InternalKey()
	}
}

// GetMultiGetRange gives the whole batch.
func (c *MultiGetContext) GetMultiGetRange() MultiGetRange {
	return MultiGetRange{ctx: c, end: c.numKeys}
}

// MultiGetRange is a part of a batch: the keys from start to end that are not
// done, skipped or invalid. A copy shares what is done, and the size of values,
// with the others, and has its own skipped keys. Walk it by
//
//	for i := r.First(); i < r.End(); i = r.NextIndex(i) { … r.Key(i) … }
type MultiGetRange struct {
	ctx                   *MultiGetContext
	start, end            int
	skipMask, invalidMask MultiGetMask
}

// MakeMultiGetRange gives the part of r between two indexes.
func MakeMultiGetRange(r *MultiGetRange, first, last int) MultiGetRange {
	s := *r
	if first == last {
		s.end = s.start
	} else {
		s.start, s.end = first, last
	}
	return s
}

func (r *MultiGetRange) hidden() MultiGetMask { return r.ctx.valueMask | r.skipMask | r.invalidMask }

// First is the index of the first key, End when there is none.
func (r *MultiGetRange) First() int { return r.at(r.start) }

// NextIndex is the index of the key after i.
func (r *MultiGetRange) NextIndex(i int) int { return r.at(i + 1) }

func (r *MultiGetRange) at(i int) int {
	left := ^r.hidden() >> uint(i)
	if left == 0 {
		return r.end
	}
	return min(i+bits.TrailingZeros64(left), r.end)
}

// Start is the index the range begins at, whether there is a key or not.
func (r *MultiGetRange) Start() int { return r.start }

// End is the index after the last.
func (r *MultiGetRange) End() int { return r.end }

// Key gives the key at an index.
func (r *MultiGetRange) Key(i int) *KeyContext { return r.ctx.sortedKeys[i] }

// Context gives the batch.
func (r *MultiGetRange) Context() *MultiGetContext { return r.ctx }

// Empty tells whether no key is left.
func (r *MultiGetRange) Empty() bool { return r.Remaining() == 0 }

// KeysLeft counts the keys left.
func (r *MultiGetRange) KeysLeft() int { return bits.OnesCount64(r.Remaining()) }

// SkipIndex takes a key out of this range.
func (r *MultiGetRange) SkipIndex(i int) { r.skipMask |= 1 << uint(i) }

// IsKeySkipped tells whether SkipIndex took it out.
func (r *MultiGetRange) IsKeySkipped(i int) bool { return r.skipMask>>uint(i)&1 != 0 }

// MarkKeyDone takes a key out of all ranges of the batch.
func (r *MultiGetRange) MarkKeyDone(i int) { r.ctx.valueMask |= 1 << uint(i) }

// CheckKeyDone tells whether MarkKeyDone took it out.
func (r *MultiGetRange) CheckKeyDone(i int) bool { return r.ctx.valueMask>>uint(i)&1 != 0 }

// AddSkipsFrom skips what another range of the batch skips.
func (r *MultiGetRange) AddSkipsFrom(o *MultiGetRange) { r.skipMask |= o.skipMask }

// GetValueSize is the batch's sum of values' sizes, in bytes.
func (r *MultiGetRange) GetValueSize() uint64 { return r.ctx.valueSize }

// AddValueSize adds to it.
func (r *MultiGetRange) AddValueSize(n uint64) { r.ctx.valueSize += n }

// Suffix gives what r has after the last key left in other.
func (r *MultiGetRange) Suffix(other *MultiGetRange) MultiGetRange {
	otherLast, last := other.findLastRemaining(), r.findLastRemaining()
	if last > otherLast {
		return MakeMultiGetRange(r, r.at(otherLast), r.at(last))
	}
	return MakeMultiGetRange(r, 0, 0)
}

// Add appends rhs, which must not start before r's end; the keys between are
// invalid.
func (r *MultiGetRange) Add(rhs *MultiGetRange) {
	if r.end < rhs.start {
		gap := rangeMask(r.end, rhs.start)
		r.invalidMask |= gap
		r.skipMask |= gap
	}
	r.start, r.end = min(r.start, rhs.start), max(r.end, rhs.end)
	m := rangeMask(rhs.start, rhs.end)
	r.skipMask |= rhs.skipMask & m
	r.invalidMask |= (rhs.invalidMask | rhs.skipMask) & m
}

// Sub takes rhs's keys, all within r, out.
func (r *MultiGetRange) Sub(rhs *MultiGetRange) {
	m := (^rhs.skipMask | rhs.invalidMask) & rangeMask(rhs.start, rhs.end)
	r.skipMask |= m
	r.invalidMask |= m
}

// Complement gives the keys r skips.
func (r *MultiGetRange) Complement() MultiGetRange {
	c := *r
	c.skipMask = ^r.skipMask & rangeMask(r.start, r.end)
	return c
}

func rangeMask(start, end int) MultiGetMask { return (1<<uint(end-start) - 1) << uint(start) }

// Remaining has a bit for each key left.
func (r *MultiGetRange) Remaining() MultiGetMask {
	return rangeMask(r.start, r.end) &^ (r.ctx.valueMask | r.skipMask)
}

func (r *MultiGetRange) findLastRemaining() int {
	m := r.Remaining() >> uint(r.start)
	if m == 0 {
		return 0
	}
	return r.start + bits.Len64(m) - 1
}
