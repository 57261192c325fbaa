// Port of table/internal_iterator.h. Differs: iterators are closed explicitly;
// the template over the value type is the pair InternalIterator and
// InternalIndexIterator.

package internaliter

import (
	"math"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/table/format"
)

// UnknownUnixTime is WriteUnixTime's answer when the time of a write is not
// known.
const UnknownUnixTime uint64 = math.MaxUint64

// numInternalBytes is the size of the sequence number and type at an internal
// key's end.
const numInternalBytes = 8

// IterBoundCheck and IterateResult are the application's too, in external tables.
type (
	IterBoundCheck = rocksdb.IterBoundCheck
	IterateResult  = rocksdb.IterateResult
)

// The values of IterBoundCheck.
const (
	BoundUnknown = rocksdb.BoundUnknown
	OutOfBound   = rocksdb.OutOfBound
	Inbound      = rocksdb.Inbound
)

// ReadaheadInfo is the state of one automatic readahead.
type ReadaheadInfo struct {
	ReadaheadSize int // bytes
	NumFileReads  int64
}

// ReadaheadFileInfo is handed from the iterator of one file of a level to the
// next file's.
type ReadaheadFileInfo struct {
	DataBlock  ReadaheadInfo
	IndexBlock ReadaheadInfo
}

// cursor is what both kinds of internal iterator share.
type cursor interface {
	// Valid tells whether the iterator stands on an entry; false when Status is
	// not nil.
	Valid() bool
	SeekToFirst()
	SeekToLast()
	// Seek goes to the first entry at or after target, an internal key. Every
	// seek forgets the errors before it.
	Seek(target []byte)
	// SeekForPrev goes to the last entry at or before target.
	SeekForPrev(target []byte)
	Next()
	// NextAndGetResult is Next; it fills res where the iterator stays valid and
	// returns Valid().
	NextAndGetResult(res *IterateResult) bool
	Prev()
	// Key is the internal key, valid until the iterator moves.
	Key() []byte
	// UserKey is Key without sequence number and type, timestamp included.
	UserKey() []byte
	// WriteUnixTime is about when the entry was written, UnknownUnixTime when
	// that is not known.
	WriteUnixTime() uint64
	Status() error
	// PrepareValue loads a value that was left unread. On false the iterator is
	// invalid and Status tells why.
	PrepareValue() bool
	// MayBeOutOfLowerBound is false when keys below the lower bound cannot come.
	MayBeOutOfLowerBound() bool
	UpperBoundCheckResult() IterBoundCheck
	SetPinnedItersMgr(mgr *PinnedIteratorsManager)
	// IsKeyPinned tells whether Key outlives moves, until the pinning manager
	// lets go.
	IsKeyPinned() bool
	// IsValuePinned is the same for Value.
	IsValuePinned() bool
	// GetProperty answers "rocksdb.iterator.…" properties.
	GetProperty(name string) (string, error)
	GetReadaheadState(info *ReadaheadFileInfo)
	SetReadaheadState(info *ReadaheadFileInfo)
	// IsDeleteRangeSentinelKey is true for the file boundaries that a level
	// shows to a merge.
	IsDeleteRangeSentinelKey() bool
	// SetRangeDelReadSeqno hides range tombstones newer than seq.
	SetRangeDelReadSeqno(seq rocksdb.SequenceNumber)
	// Prepare announces the ranges of a multi-scan; opts is a
	// *rocksdb.MultiScanArgs or nil.
	Prepare(opts any)
	// Close gives back what the iterator holds and returns its last error.
	Close() error
}

// InternalIterator walks entries of internal keys.
type InternalIterator interface {
	cursor
	// Value is valid until the iterator moves; PrepareValue comes first where
	// values may be unread.
	Value() []byte
}

// InternalIndexIterator walks the entries of an index: keys that separate data
// blocks, and where the blocks are.
type InternalIndexIterator interface {
	cursor
	Value() format.IndexValue
}

// Base gives the answers of an iterator without special abilities. UserKey is
// not among them, since it needs the key.
type Base struct{}

// WriteUnixTime is unknown.
func (Base) WriteUnixTime() uint64 { return UnknownUnixTime }

// PrepareValue has nothing to do.
func (Base) PrepareValue() bool { return true }

// MayBeOutOfLowerBound is true.
func (Base) MayBeOutOfLowerBound() bool { return true }

// UpperBoundCheckResult is unknown.
func (Base) UpperBoundCheckResult() IterBoundCheck { return BoundUnknown }

// SetPinnedItersMgr does nothing.
func (Base) SetPinnedItersMgr(*PinnedIteratorsManager) {}

// IsKeyPinned is false.
func (Base) IsKeyPinned() bool { return false }

// IsValuePinned is false.
func (Base) IsValuePinned() bool { return false }

// GetProperty knows none.
func (Base) GetProperty(name string) (string, error) {
	return "", rocksdb.NotSupported("iterator property", name)
}

// GetReadaheadState does nothing.
func (Base) GetReadaheadState(*ReadaheadFileInfo) {}

// SetReadaheadState does nothing.
func (Base) SetReadaheadState(*ReadaheadFileInfo) {}

// IsDeleteRangeSentinelKey is false.
func (Base) IsDeleteRangeSentinelKey() bool { return false }

// SetRangeDelReadSeqno does nothing.
func (Base) SetRangeDelReadSeqno(rocksdb.SequenceNumber) {}

// Prepare does nothing.
func (Base) Prepare(any) {}

// Close has nothing to give back.
func (Base) Close() error { return nil }

// NextAndGetResult is the plain form of InternalIterator.NextAndGetResult, for
// iterators that know nothing better.
func NextAndGetResult(it InternalIterator, res *IterateResult) bool {
	it.Next()
	if !it.Valid() {
		return false
	}
	res.Key = it.Key()
	res.BoundCheckResult = BoundUnknown
	res.ValuePrepared = false
	return true
}

// SeekForPrev is the plain form of SeekForPrev, by Seek and Prev.
func SeekForPrev(it InternalIterator, target []byte, compare func(a, b []byte) int) {
	it.Seek(target)
	if !it.Valid() && it.Status() == nil {
		it.SeekToLast()
	}
	for it.Valid() && compare(target, it.Key()) < 0 {
		it.Prev()
	}
}

// ExtractUserKey cuts sequence number and type off; a key too short for them
// (only of a damaged file) gives nil.
func ExtractUserKey(internalKey []byte) []byte {
	n := len(internalKey) - numInternalBytes
	if n < 0 {
		return nil
	}
	return internalKey[:n]
}
