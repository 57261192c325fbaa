// Port of db/merge_helper.{h,cc}. Differs: keys and operands are kept newest
// first; range tombstones hidden by snapshots are asked for as upstream does.

package merge

import (
	"math"
	"sync/atomic"

	"github.com/rocksdb-go/rocksdb/db/blob/blobformat"
	"github.com/rocksdb-go/rocksdb/db/compaction/iterstats"
	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/db/rangedel"
	"github.com/rocksdb-go/rocksdb/db/seqnotime"
	"github.com/rocksdb-go/rocksdb/db/wide"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/table/internaliter"
)

// MergeHelperOptions are what a MergeHelper works with; UserComparator is
// needed, and UserMergeOperator for MergeUntil.
type MergeHelperOptions struct {
	UserComparator    rocksdb.Comparator
	UserMergeOperator rocksdb.MergeOperator
	CompactionFilter  rocksdb.CompactionFilter
	Logger            rocksdb.Logger
	// AssertValidInternalKey makes a damaged key an error; otherwise the merge
	// ends before it.
	AssertValidInternalKey bool
	// LatestSnapshot is the newest snapshot; the filter does not see operands
	// that are visible to it.
	LatestSnapshot  rocksdb.SequenceNumber
	SnapshotChecker dbformat.SnapshotChecker
	Level           int
	Statistics      rocksdb.Statistics
	Clock           rocksdb.SystemClock
	PerfContext     *rocksdb.PerfContext
	ShuttingDown    *atomic.Bool
}

// MergeHelper joins the merge operands of one key that a compaction or flush
// comes across, with what lies under them where that may be touched.
type MergeHelper struct {
	o                  MergeHelperOptions
	allowSingleOperand bool

	// The output: keys, newest first, as ends within keyBuf, and one operand
	// a key.
	keyBuf   []byte
	keyEnds  []int
	operands dbformat.MergeContext

	origKey []byte
	result  []byte // what the last operand points to after a merge
	full    FullMerge

	filterValue     []byte
	filterSkipUntil []byte
	hasSkipUntil    bool
	totalFilterTime uint64
}

// NewMergeHelper makes a helper.
func NewMergeHelper(o MergeHelperOptions) *MergeHelper {
	h := &MergeHelper{o: o}
	if o.UserMergeOperator != nil {
		h.allowSingleOperand = o.UserMergeOperator.AllowSingleOperand()
	}
	if h.o.Clock == nil {
		h.o.Clock = rocksdb.DefaultSystemClock()
	}
	return h
}

// HasOperator tells whether there is a merge operator.
func (h *MergeHelper) HasOperator() bool { return h.o.UserMergeOperator != nil }

// NumKeys counts the entries of the output.
func (h *MergeHelper) NumKeys() int { return len(h.keyEnds) }

// Key gives the i-th internal key of the output, the newest being the 0th.
func (h *MergeHelper) Key(i int) []byte {
	begin := 0
	if i > 0 {
		begin = h.keyEnds[i-1]
	}
	return h.keyBuf[begin:h.keyEnds[i]:h.keyEnds[i]]
}

// Value gives the i-th value of the output.
func (h *MergeHelper) Value(i int) []byte { return h.operands.GetOperandsDirectionBackward()[i] }

// TotalFilterTime is the time in the compaction filter, in nanoseconds, where
// statistics ask for it.
func (h *MergeHelper) TotalFilterTime() uint64 { return h.totalFilterTime }

// FilteredUntil gives the internal key to skip to when the filter removed the
// key and some after it.
func (h *MergeHelper) FilteredUntil() (skipUntil []byte, ok bool) {
	return h.filterSkipUntil, h.hasSkipUntil
}

func (h *MergeHelper) clear() {
	h.keyBuf, h.keyEnds = h.keyBuf[:0], h.keyEnds[:0]
	h.operands.Clear()
}

func (h *MergeHelper) pushKey(key []byte) {
	h.keyBuf = append(h.keyBuf, key...)
	h.keyEnds = append(h.keyEnds, len(h.keyBuf))
}

var errMergeInProgress = rocksdb.MergeInProgress()

// MergeUntil starts at iter's entry, a merge operand, and goes on to the first
// entry that may not be joined: of another key, at or below sequence number
// stopBefore, or past a value or deletion. Then
//   - nil: the output is one value, or nothing (all was filtered, or, with
//     iter on a value or deletion, nothing was joined);
//   - MergeInProgress: the output is operands, perhaps fewer than before;
//   - other errors: the output is of no use.
//
// atBottom says that no older entry of the key can exist elsewhere. Versions
// with timestamps at or above fullHistoryTSLow (nil without) are kept apart.
func (h *MergeHelper) MergeUntil(iter internaliter.InternalIterator, rangeDelAgg *rangedel.CompactionRangeDelAggregator,
	stopBefore rocksdb.SequenceNumber, atBottom, allowDataInErrors bool, blobFetcher blobformat.BlobFetcher,
	fullHistoryTSLow []byte, stats *iterstats.CompactionIterationStats) error {
	h.clear()
	h.hasSkipUntil = false
	cmp := h.o.UserComparator
	tsSize := cmp.TimestampSize()
	h.origKey = append(h.origKey[:0], iter.Key()...)
	orig, err := dbformat.ParseInternalKey(h.origKey, allowDataInErrors)
	if err != nil {
		return err
	}
	first, hitNextUserKey := true, false
	cmpTSLow := 0
	for ; iter.Valid(); iter.Next() {
		if h.o.ShuttingDown != nil && h.o.ShuttingDown.Load() {
			return rocksdb.ShutdownInProgress()
		}
		if iter.IsDeleteRangeSentinelKey() {
			continue
		}
		key, err := dbformat.ParseInternalKey(iter.Key(), allowDataInErrors)
		if err == nil && tsSize > len(key.UserKey) {
			err = rocksdb.Corruption("user key is shorter than its timestamp")
		}
		if err != nil {
			if h.o.AssertValidInternalKey {
				return err
			}
			break
		}
		if fullHistoryTSLow != nil {
			cmpTSLow = cmp.CompareTimestamp(dbformat.ExtractTimestampFromUserKey(key.UserKey, tsSize), fullHistoryTSLow)
		}
		if first {
			first = false
		} else if h.isNextKey(&key, &orig, tsSize, cmpTSLow) {
			hitNextUserKey = true
			break
		} else if stopBefore > 0 && key.Sequence <= stopBefore && h.visibleIn(key.Sequence, stopBefore) {
			break // a snapshot sees it
		}
		if key.Type != dbformat.TypeMerge {
			if len(h.keyEnds) == 0 {
				return nil // the caller handles the entry as it is
			}
			return h.mergeWithBase(iter, &key, &orig, rangeDelAgg, blobFetcher, stats)
		}
		if skip := h.addOperand(iter, &key, &orig, rangeDelAgg); skip {
			return nil
		}
	}
	if err := iter.Status(); err != nil && !iter.Valid() {
		return err
	}
	if len(h.keyEnds) == 0 {
		return nil // all operands were filtered
	}
	// The whole history of the key has been seen when nothing older can be
	// below and the input went on to another key or ended; with timestamps
	// only if the version may be collected.
	if (hitNextUserKey || !iter.Valid()) && atBottom && (tsSize == 0 || cmpTSLow < 0) {
		return h.fullMerge(orig.UserKey, &orig, NoBaseValue, nil)
	}
	return h.partialMerge(orig.UserKey)
}

func (h *MergeHelper) isNextKey(key, orig *dbformat.ParsedInternalKey, tsSize, cmpTSLow int) bool {
	cmp := h.o.UserComparator
	if tsSize == 0 {
		return !cmp.Equal(key.UserKey, orig.UserKey)
	}
	return cmp.CompareWithoutTimestamp(key.UserKey, true, orig.UserKey, true) != 0 ||
		!cmp.Equal(key.UserKey, orig.UserKey) && cmpTSLow >= 0
}

func (h *MergeHelper) visibleIn(seq, snapshot rocksdb.SequenceNumber) bool {
	return h.o.SnapshotChecker == nil ||
		h.o.SnapshotChecker.CheckInSnapshot(seq, snapshot) != dbformat.SnapshotCheckerNotInSnapshot
}

// addOperand takes an operand in, unless the filter or a range tombstone
// removes it. It is true when the filter skips the key altogether.
func (h *MergeHelper) addOperand(iter internaliter.InternalIterator, key, orig *dbformat.ParsedInternalKey,
	rangeDelAgg *rangedel.CompactionRangeDelAggregator) (skip bool) {
	value := iter.Value()
	d := rocksdb.FilterKeep
	if key.Sequence > h.o.LatestSnapshot {
		d = h.FilterMerge(orig.UserKey, value)
	}
	if d != rocksdb.FilterRemoveAndSkipUntil && rangeDelAgg != nil && rangeDelAgg.ShouldDelete(key, rangedel.ForwardTraversal) {
		d = rocksdb.FilterRemove
	}
	switch d {
	case rocksdb.FilterKeep:
		h.pushKey(iter.Key())
		h.operands.PushOperand(value, iter.IsValuePinned())
	case rocksdb.FilterChangeValue:
		h.pushKey(iter.Key())
		h.operands.PushOperand(h.filterValue, false)
	case rocksdb.FilterRemoveAndSkipUntil:
		h.clear()
		h.hasSkipUntil = true
		return true
	}
	return false
}

// mergeWithBase joins the operands with iter's entry, a value or deletion.
func (h *MergeHelper) mergeWithBase(iter internaliter.InternalIterator, key, orig *dbformat.ParsedInternalKey,
	rangeDelAgg *rangedel.CompactionRangeDelAggregator, blobFetcher blobformat.BlobFetcher, stats *iterstats.CompactionIterationStats) error {
	base, value := NoBaseValue, []byte(nil)
	if rangeDelAgg == nil || !rangeDelAgg.ShouldDelete(key, rangedel.ForwardTraversal) {
		switch key.Type {
		case dbformat.TypeValue:
			base, value = PlainBaseValue, iter.Value()
		case dbformat.TypeValuePreferredSeqno:
			// The time of the put is lost: the result is a plain value.
			v, ok := seqnotime.ParsePackedValueForValue(iter.Value())
			if !ok {
				return rocksdb.Corruption("timed put's value is too short")
			}
			base, value = PlainBaseValue, v
		case dbformat.TypeBlobIndex:
			var blob rocksdb.PinnableSlice
			defer blob.Release()
			n, err := blobformat.FetchEncodedBlob(blobFetcher, key.UserKey, iter.Value(), &blob)
			if err != nil {
				return err
			}
			if stats != nil {
				stats.NumBlobsRead++
				stats.TotalBlobBytesRead += n
			}
			base, value = PlainBaseValue, blob.Data()
		case dbformat.TypeWideColumnEntity:
			entity, err := wide.ResolveEntityForMerge(iter.Value(), key.UserKey, blobFetcher)
			if err != nil {
				return err
			}
			base, value = WideBaseValue, entity
		}
	}
	if err := h.fullMerge(key.UserKey, orig, base, value); err != nil {
		return err // with MergeInProgress iter stays on the base value
	}
	iter.Next()
	return nil
}

// fullMerge replaces the output by one entry, with the newest key.
func (h *MergeHelper) fullMerge(userKey []byte, orig *dbformat.ParsedInternalKey, base BaseValueKind, value []byte) error {
	m := &h.full
	m.Operator, m.Key, m.Base, m.Value = h.o.UserMergeOperator, userKey, base, value
	m.Operands = h.operands.GetOperands()
	m.Logger, m.Statistics, m.Clock, m.PerfContext = h.o.Logger, h.o.Statistics, h.o.Clock, h.o.PerfContext
	m.OpFailureScope = rocksdb.OpFailureScopeDefault
	result, t, err := m.Result()
	if err != nil {
		if m.OpFailureScope == rocksdb.OpFailureScopeMustMerge {
			return errMergeInProgress
		}
		return err
	}
	h.setResult(append(h.result[:0], result...))
	seq, _ := dbformat.UnPackSequenceAndType(dbformat.ExtractInternalKeyFooter(h.Key(0)))
	dbformat.UpdateInternalKey(h.Key(0), seq, t)
	orig.Type = t
	return nil
}

func (h *MergeHelper) setResult(result []byte) {
	h.result = result
	h.operands.Clear()
	h.operands.PushOperand(h.result, true)
	h.keyEnds = h.keyEnds[:1]
	h.keyBuf = h.keyBuf[:h.keyEnds[0]]
}

// partialMerge tries to join the operands into one.
func (h *MergeHelper) partialMerge(userKey []byte) error {
	n := h.operands.GetNumOperands()
	if n < 2 && !(h.allowSingleOperand && n == 1) {
		return errMergeInProgress
	}
	start := uint64(0)
	timed := h.o.Statistics != nil || h.o.PerfContext != nil
	if timed {
		start = h.o.Clock.NowNanos()
	}
	result, ok := h.o.UserMergeOperator.PartialMergeMulti(userKey, h.operands.GetOperands(), h.result[:0], h.o.Logger)
	if timed {
		addMergeTime(h.o.Statistics, h.o.PerfContext, h.o.Clock.NowNanos()-start)
	}
	if !ok {
		return errMergeInProgress
	}
	if uint64(len(result)) > math.MaxUint32 {
		return rocksdb.Corruption("PartialMerge result exceeds 4GB limit")
	}
	h.setResult(result)
	return errMergeInProgress
}

// FilterMerge asks the compaction filter about an operand.
func (h *MergeHelper) FilterMerge(userKey, value []byte) rocksdb.CompactionFilterDecision {
	if h.o.CompactionFilter == nil {
		return rocksdb.FilterKeep
	}
	timed := h.o.Statistics != nil && h.o.Statistics.GetStatsLevel() > rocksdb.ExceptDetailedTimers
	start := uint64(0)
	if timed {
		start = h.o.Clock.NowNanos()
	}
	d, newValue, skipUntil := h.o.CompactionFilter.FilterV3(h.o.Level, userKey, rocksdb.CompactionFilterMergeOperand, value)
	switch d {
	case rocksdb.FilterRemoveAndSkipUntil:
		if h.o.UserComparator.Compare(skipUntil, userKey) <= 0 {
			d = rocksdb.FilterKeep // it would go backward
		} else {
			h.filterSkipUntil = dbformat.AppendInternalKey(h.filterSkipUntil[:0], skipUntil, dbformat.MaxSequenceNumber, dbformat.ValueTypeForSeek)
		}
	case rocksdb.FilterChangeValue:
		h.filterValue = append(h.filterValue[:0], newValue...)
	}
	if timed {
		h.totalFilterTime += h.o.Clock.NowNanos() - start
	}
	return d
}

// MergeOutputIterator walks a helper's output, newest first.
type MergeOutputIterator struct {
	h  *MergeHelper
	at int
}

// NewMergeOutputIterator is not positioned yet.
func NewMergeOutputIterator(h *MergeHelper) MergeOutputIterator {
	return MergeOutputIterator{h: h, at: math.MaxInt}
}

// SeekToFirst goes to the newest entry of the output there is now.
func (it *MergeOutputIterator) SeekToFirst() { it.at = 0 }

// Next goes to the next older entry.
func (it *MergeOutputIterator) Next() { it.at++ }

// Valid tells whether there is an entry.
func (it *MergeOutputIterator) Valid() bool { return it.at < it.h.NumKeys() }

// Key is the entry's internal key.
func (it *MergeOutputIterator) Key() []byte { return it.h.Key(it.at) }

// Value is the entry's value.
func (it *MergeOutputIterator) Value() []byte { return it.h.Value(it.at) }
