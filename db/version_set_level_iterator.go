// Port of db/version_set.cc, LevelIterator. Differs: asynchronous preparation
// of a multi-scan's files is left to the table iterators.

package db

import (
	"bytes"
	"sync"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/db/rangedel"
	"github.com/rocksdb-go/rocksdb/db/tablecache"
	"github.com/rocksdb-go/rocksdb/db/version"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/internal/invariants"
	"github.com/rocksdb-go/rocksdb/monitoring"
	"github.com/rocksdb-go/rocksdb/options"
	"github.com/rocksdb-go/rocksdb/table/internaliter"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

// AtomicCompactionUnitBoundary is the key range within which a file's range
// tombstones count in a compaction: that of the files around it that share
// user keys.
type AtomicCompactionUnitBoundary struct{ Smallest, Largest dbformat.InternalKey }

// LevelIteratorOptions are NewLevelIterator's arguments. What they point to has
// to outlive the iterator.
type LevelIteratorOptions struct {
	TableCache           *tablecache.TableCache
	ReadOptions          *rocksdb.ReadOptions
	Comparator           *dbformat.InternalKeyComparator
	Files                *version.LevelFilesBrief // at least one, sorted, disjoint
	MutableCFOptions     *options.MutableCFOptions
	IOptions             *options.ImmutableOptions // for statistics; may be nil
	FileReadHist         *monitoring.HistogramImpl // may be nil
	Caller               rocksdb.TableReaderCaller
	SkipFilters          bool
	Level                int
	RangeDelAgg          rangedel.RangeDelAggregator    // may be nil
	Boundaries           []AtomicCompactionUnitBoundary // one a file, or nil
	AllowUnpreparedValue bool
	// ReadSeqno hides newer range tombstones. 0 is the snapshot of ReadOptions
	// or, without one, no bound.
	ReadSeqno           rocksdb.SequenceNumber
	CompactionReadahead uint64 // bytes
	// Ephemeral opens tables in no cache, and reads past the system's, for compaction.
	Ephemeral bool
}

// LevelIterator goes over the files of one sorted level, opening each when it
// comes to it.
//
// Under a merging iterator that handles range tombstones (SetRangeDelIterSlot)
// it shows the bound of a file, once all entries of the file were passed, as a
// key of its own, the sentinel: so the file's tombstones, which reach up to
// there, stay in force, and the merging iterator learns that the file changes.
type LevelIterator struct {
	internaliter.Base
	o            LevelIteratorOptions
	ro           *rocksdb.ReadOptions
	icmp         *dbformat.InternalKeyComparator
	files        []version.FdWithKeyRange
	index        int // len(files) when on none
	iter         internaliter.IteratorWrapper
	tableOptions tablecache.IteratorOptions

	// slot is where the merging iterator looks for the tombstones of the
	// present file.
	slot     **rangedel.TruncatedRangeDelIterator
	sentinel []byte // the key to show; nil for none

	pinned            *internaliter.PinnedIteratorsManager
	sampleCounter     uint32
	mayBeOutOfLower   bool
	nextIsSequential  bool
	prefixExhausted   bool
	rangeDelReadSeqno rocksdb.SequenceNumber
	scan              levelScan
}

// NewLevelIterator makes an iterator, not positioned yet.
func NewLevelIterator(o LevelIteratorOptions) *LevelIterator {
	it := levelIterators.Get().(*LevelIterator)
	*it = LevelIterator{o: o, ro: o.ReadOptions, icmp: o.Comparator, files: o.Files.Files,
		index: len(o.Files.Files), mayBeOutOfLower: true, rangeDelReadSeqno: o.ReadSeqno}
	if it.rangeDelReadSeqno == 0 {
		it.rangeDelReadSeqno = dbformat.MaxSequenceNumber
		if o.ReadOptions.Snapshot != nil {
			it.rangeDelReadSeqno = o.ReadOptions.Snapshot.GetSequenceNumber()
		}
	}
	it.tableOptions = tablecache.IteratorOptions{
		OpenOptions: tablecache.OpenOptions{FileReadHist: o.FileReadHist, SkipFilters: o.SkipFilters || o.Ephemeral,
			Level: o.Level, Ephemeral: o.Ephemeral, DirectReads: o.Ephemeral, AvoidSharedMetadataCache: o.Ephemeral},
		Caller: o.Caller, CompactionReadahead: o.CompactionReadahead, AllowUnpreparedValue: o.AllowUnpreparedValue,
		RangeDelAgg: o.RangeDelAgg, MaybePin: !o.Ephemeral,
	}
	return it
}

// SetRangeDelIterSlot makes the iterator show sentinels and keep the present
// file's range tombstones in *slot. Before the first seek.
func (it *LevelIterator) SetRangeDelIterSlot(slot **rangedel.TruncatedRangeDelIterator) {
	it.slot = slot
}

// Valid tells whether there is an entry or a sentinel.
func (it *LevelIterator) Valid() bool { return it.iter.Valid() || it.sentinel != nil }

// Key is the entry's key or the sentinel.
func (it *LevelIterator) Key() []byte {
	if it.sentinel != nil {
		return it.sentinel
	}
	return it.iter.Key()
}

// UserKey is Key's user key.
func (it *LevelIterator) UserKey() []byte { return dbformat.ExtractUserKey(it.Key()) }

// Value is the entry's; a sentinel has none.
func (it *LevelIterator) Value() []byte {
	if it.sentinel != nil {
		return nil
	}
	return it.iter.Value()
}

// WriteUnixTime is the entry's.
func (it *LevelIterator) WriteUnixTime() uint64 {
	if it.sentinel != nil {
		return internaliter.UnknownUnixTime
	}
	return it.iter.WriteUnixTime()
}

// Status is the error of the present file.
func (it *LevelIterator) Status() error { return it.iter.Status() }

// PrepareValue loads the entry's value.
func (it *LevelIterator) PrepareValue() bool {
	return it.sentinel != nil || it.iter.PrepareValue()
}

// MayBeOutOfLowerBound is false inside a file that begins at or after it.
func (it *LevelIterator) MayBeOutOfLowerBound() bool {
	return it.mayBeOutOfLower && (it.sentinel != nil || it.iter.MayBeOutOfLowerBound())
}

// UpperBoundCheckResult is the present file's.
func (it *LevelIterator) UpperBoundCheckResult() internaliter.IterBoundCheck {
	if it.Valid() && it.sentinel == nil {
		return it.iter.UpperBoundCheckResult()
	}
	return internaliter.BoundUnknown
}

// SetPinnedItersMgr hands the manager to each file's iterator.
func (it *LevelIterator) SetPinnedItersMgr(m *internaliter.PinnedIteratorsManager) {
	it.pinned = m
	if it.iter.Iter() != nil {
		it.iter.SetPinnedItersMgr(m)
	}
}

// IsKeyPinned tells whether Key outlives moves.
func (it *LevelIterator) IsKeyPinned() bool {
	return it.pinned.PinningEnabled() && it.iter.Iter() != nil && it.iter.IsKeyPinned()
}

// IsValuePinned tells whether Value outlives moves.
func (it *LevelIterator) IsValuePinned() bool {
	return it.pinned.PinningEnabled() && it.iter.Iter() != nil && it.iter.IsValuePinned()
}

// IsDeleteRangeSentinelKey tells whether Key is a sentinel.
func (it *LevelIterator) IsDeleteRangeSentinelKey() bool { return it.sentinel != nil }

// SetRangeDelReadSeqno hides newer range tombstones of files opened from now.
func (it *LevelIterator) SetRangeDelReadSeqno(seq rocksdb.SequenceNumber) { it.rangeDelReadSeqno = seq }

// GetProperty asks the present file's iterator.
func (it *LevelIterator) GetProperty(name string) (string, error) {
	if it.iter.Iter() != nil {
		return it.iter.Iter().GetProperty(name)
	}
	return it.Base.GetProperty(name)
}

// Close closes the present file's iterator.
func (it *LevelIterator) Close() error {
	it.sentinel = nil
	it.closePrepared()
	err := it.iter.Close()
	*it = LevelIterator{}
	if !invariants.Enabled {
		levelIterators.Put(it)
	}
	return err
}

// levelIterators are closed iterators, which must not be used any more.
var levelIterators = sync.Pool{New: func() any { return new(LevelIterator) }}

// trySetSentinel shows bound when the entries of the file are exhausted.
func (it *LevelIterator) trySetSentinel(bound []byte) {
	if it.slot != nil && it.iter.Iter() != nil && !it.iter.Valid() && it.iter.Status() == nil {
		it.sentinel = bound
	}
}

func (it *LevelIterator) begin() {
	it.prefixExhausted = false
	it.sentinel = nil
}

// Seek goes to the first entry or sentinel at or after target.
func (it *LevelIterator) Seek(target []byte) {
	it.seekFile(target)
	if it.iter.Iter() != nil {
		it.iter.Seek(target)
	}
	it.afterSeek(target)
}

// AsyncSeekable tells whether files are read asynchronously.
func (it *LevelIterator) AsyncSeekable() bool { return it.ro.AsyncIO && it.scan.ranges == nil }

// SeekAsync is Seek, of a file that may begin to read and not wait for it.
func (it *LevelIterator) SeekAsync(target []byte) (pending bool) {
	if !it.AsyncSeekable() {
		it.Seek(target)
		return false
	}
	it.seekFile(target)
	if it.iter.Iter() != nil && it.iter.SeekAsync(target) {
		return true
	}
	it.afterSeek(target)
	return false
}

// seekFile opens the file that target is in, unless it is the present one.
func (it *LevelIterator) seekFile(target []byte) {
	it.begin()
	reseek := true
	if it.iter.Iter() != nil && it.index < len(it.files) {
		f := &it.files[it.index]
		reseek = it.icmp.Compare(target, f.LargestKey) > 0 || it.icmp.Compare(target, f.SmallestKey) < 0
	}
	if reseek {
		syncpoint.Process("LevelIterator::Seek:BeforeFindFile")
		it.initFileIterator(version.FindFileCounting(it.icmp, it.o.Files, target, 0, len(it.o.Files.Files), it.ro.PerfContext))
	}
}

// afterSeek goes on from the file that was sought.
func (it *LevelIterator) afterSeek(target []byte) {
	if it.iter.Iter() != nil {
		it.checkPrefixExhausted(target)
		it.trySetSentinel(it.files[it.index].LargestKey)
	}
	it.skipEmptyFileForward()
	it.checkMayBeOutOfLowerBound()
	it.sampleRead(true)
}

// checkPrefixExhausted ends a prefix seek at the end of a file when the next
// one begins with another prefix: the iterator is then invalid rather than far
// off, which spares the merging iterator a child. Every seek starts over, and
// Prev cannot come in between: without a sentinel the iterator is invalid, and
// past one the merging iterator only moves on.
func (it *LevelIterator) checkPrefixExhausted(target []byte) {
	extractor := it.o.MutableCFOptions.PrefixExtractor
	if it.iter.Valid() || it.iter.Status() != nil || extractor == nil || it.ro.TotalOrderSeek ||
		it.ro.AutoPrefixMode || it.index >= len(it.files)-1 {
		return
	}
	ts := it.icmp.TimestampSize()
	key := dbformat.ExtractUserKeyAndStripTimestamp(target, ts)
	next := dbformat.ExtractUserKeyAndStripTimestamp(it.files[it.index+1].SmallestKey, ts)
	if extractor.InDomain(key) && (!extractor.InDomain(next) ||
		!bytes.Equal(extractor.Transform(key), extractor.Transform(next))) {
		it.prefixExhausted = true
	}
}

// SeekForPrev goes to the last entry or sentinel at or before target.
func (it *LevelIterator) SeekForPrev(target []byte) {
	it.begin()
	at := version.FindFileCounting(it.icmp, it.o.Files, target, 0, len(it.o.Files.Files), it.ro.PerfContext)
	if at == 0 && it.icmp.Compare(target, it.files[0].SmallestKey) < 0 {
		it.setFileIterator(nil)
		it.clearTombstones()
		it.checkMayBeOutOfLowerBound()
		return
	}
	it.initFileIterator(min(at, len(it.files)-1))
	if it.iter.Iter() != nil {
		it.iter.SeekForPrev(target)
		// Before the file there is no need of its tombstones, and a sentinel
		// would lie behind target.
		if smallest := it.files[it.index].SmallestKey; it.icmp.Compare(target, smallest) >= 0 {
			it.trySetSentinel(smallest)
		}
		it.skipEmptyFileBackward()
	}
	it.checkMayBeOutOfLowerBound()
	it.sampleRead(true)
}

// SeekToFirst goes to the first entry or sentinel.
func (it *LevelIterator) SeekToFirst() {
	it.begin()
	it.initFileIterator(0)
	if it.iter.Iter() != nil {
		it.iter.SeekToFirst()
		it.trySetSentinel(it.files[it.index].LargestKey) // a file may hold tombstones only
	}
	it.skipEmptyFileForward()
	it.checkMayBeOutOfLowerBound()
	it.sampleRead(true)
}

// SeekToLast goes to the last entry or sentinel.
func (it *LevelIterator) SeekToLast() {
	it.begin()
	it.initFileIterator(len(it.files) - 1)
	if it.iter.Iter() != nil {
		it.iter.SeekToLast()
		it.trySetSentinel(it.files[it.index].SmallestKey)
	}
	it.skipEmptyFileBackward()
	it.checkMayBeOutOfLowerBound()
	it.sampleRead(true)
}

// Next moves on.
func (it *LevelIterator) Next() {
	if it.sentinel != nil {
		it.sentinel = nil // the file is at its end already
	} else {
		it.iter.Next()
		if !it.iter.Valid() {
			it.trySetSentinel(it.files[it.index].LargestKey)
		}
	}
	it.skipEmptyFileForward()
	it.sampleRead(false)
}

// NextAndGetResult moves on.
func (it *LevelIterator) NextAndGetResult(res *internaliter.IterateResult) bool {
	valid := it.sentinel == nil && it.iter.NextAndGetResult(res)
	if !valid {
		if it.sentinel != nil {
			it.sentinel = nil
		} else {
			it.trySetSentinel(it.files[it.index].LargestKey)
		}
		it.nextIsSequential = true
		it.skipEmptyFileForward()
		it.nextIsSequential = false
		if valid = it.Valid(); valid {
			res.Key = it.Key()
			if it.sentinel != nil {
				res.BoundCheckResult, res.ValuePrepared = internaliter.BoundUnknown, true
			} else {
				res.BoundCheckResult, res.ValuePrepared = it.iter.UpperBoundCheckResult(), !it.o.AllowUnpreparedValue
			}
		}
	}
	it.sampleRead(false)
	return valid
}

// Prev moves back.
func (it *LevelIterator) Prev() {
	if it.sentinel != nil {
		it.sentinel = nil
	} else {
		it.iter.Prev()
		if !it.iter.Valid() {
			it.trySetSentinel(it.files[it.index].SmallestKey)
		}
	}
	it.skipEmptyFileBackward()
	it.sampleRead(false)
}

// skipEmptyFileForward opens files until there is an entry or a sentinel.
func (it *LevelIterator) skipEmptyFileForward() {
	for it.sentinel == nil && (it.iter.Iter() == nil || !it.iter.Valid() && it.iter.Status() == nil &&
		it.iter.Iter().UpperBoundCheckResult() != internaliter.OutOfBound) {
		if it.index >= len(it.files)-1 || it.prefixExhausted || it.keyReachedUpperBound(it.files[it.index+1].SmallestKey) {
			it.setFileIterator(nil)
			it.clearTombstones()
			return
		}
		it.initFileIterator(it.index + 1)
		if it.iter.Iter() == nil {
			continue
		}
		it.iter.SeekToFirst()
		if it.slot != nil {
			if *it.slot != nil {
				(*it.slot).SeekToFirst()
			}
			it.trySetSentinel(it.files[it.index].LargestKey)
		}
	}
}

// skipEmptyFileBackward is the same, backwards.
func (it *LevelIterator) skipEmptyFileBackward() {
	for it.sentinel == nil && (it.iter.Iter() == nil || !it.iter.Valid() && it.iter.Status() == nil) {
		if it.index == 0 {
			it.setFileIterator(nil)
			it.clearTombstones()
			return
		}
		it.initFileIterator(it.index - 1)
		if it.iter.Iter() == nil {
			continue
		}
		it.iter.SeekToLast()
		if it.slot != nil {
			if *it.slot != nil {
				(*it.slot).SeekToLast()
			}
			it.trySetSentinel(it.files[it.index].SmallestKey)
		}
	}
}

func (it *LevelIterator) keyReachedUpperBound(key []byte) bool {
	return it.ro.IterateUpperBound != nil && it.icmp.UserComparator().CompareWithoutTimestamp(
		dbformat.ExtractUserKey(key), true, it.ro.IterateUpperBound, false) >= 0
}

// checkMayBeOutOfLowerBound looks anew each time: users change bounds between
// seeks.
func (it *LevelIterator) checkMayBeOutOfLowerBound() {
	if it.ro.IterateLowerBound != nil && it.index < len(it.files) {
		it.mayBeOutOfLower = it.icmp.UserComparator().CompareWithoutTimestamp(
			dbformat.ExtractUserKey(it.files[it.index].SmallestKey), true, it.ro.IterateLowerBound, false) < 0
	}
}

// clearTombstones is upstream's LevelIterator::ClearRangeTombstoneIter.
func (it *LevelIterator) clearTombstones() {
	if it.slot != nil {
		*it.slot = nil
	}
}

// initFileIterator goes to a file. One whose read was Incomplete is opened
// anew: its blocks may be cached by now.
func (it *LevelIterator) initFileIterator(at int) {
	if at >= len(it.files) {
		it.index = at
		it.setFileIterator(nil)
		it.clearTombstones()
		return
	}
	if it.iter.Iter() != nil && at == it.index && !rocksdb.IsIncomplete(it.iter.Status()) {
		return
	}
	it.index = at
	if it.scan.ranges != nil {
		it.setFileIterator(it.scanFileIterator())
		return
	}
	it.setFileIterator(it.newFileIterator())
}

func (it *LevelIterator) newFileIterator() internaliter.InternalIterator {
	it.checkMayBeOutOfLowerBound()
	it.clearTombstones()
	return it.openFile(it.index, it.slot)
}

// openFile makes a file's iterator, and that of its range tombstones in *slot.
func (it *LevelIterator) openFile(at int, slot **rangedel.TruncatedRangeDelIterator) internaliter.InternalIterator {
	o := &it.tableOptions
	o.RangeDelIter, o.RangeDelReadSeqno = slot, it.rangeDelReadSeqno
	if it.o.Boundaries != nil {
		b := &it.o.Boundaries[at]
		o.SmallestCompactionKey, o.LargestCompactionKey = b.Smallest, b.Largest
	}
	return it.o.TableCache.NewIterator(it.ro, it.files[at].FileMetadata, it.o.MutableCFOptions, o)
}

func (it *LevelIterator) setFileIterator(iter internaliter.InternalIterator) {
	if it.pinned != nil && iter != nil {
		iter.SetPinnedItersMgr(it.pinned)
	}
	old := it.iter.Set(iter)
	if it.nextIsSequential {
		it.iter.UpdateReadaheadState(old)
	}
	if old == nil {
		return
	}
	if it.pinned.PinningEnabled() {
		it.pinned.PinIterator(old)
	} else {
		_ = old.Close()
	}
}

// sampleRead counts some of the reads, and of those the ones that met an entry
// that compaction would have removed or merged.
func (it *LevelIterator) sampleRead(seek bool) {
	if seek {
		if !monitoring.ShouldSampleFileRead() {
			return
		}
	} else if !monitoring.ShouldSampleFileReadNext(&it.sampleCounter) {
		return
	}
	if it.index >= len(it.files) || !it.iter.Valid() {
		return
	}
	stats := &it.files[it.index].FileMetadata.Stats
	monitoring.SampleFileReadInc(stats)
	switch dbformat.ExtractValueType(it.iter.Key()) {
	case dbformat.TypeDeletion, dbformat.TypeSingleDeletion, dbformat.TypeDeletionWithTimestamp, dbformat.TypeMerge:
		monitoring.SampleCollapsibleEntryFileReadInc(stats)
	}
}
