// Port of db/db_iter.{h,cc}. What is shown of an entry is in db_iter_value.go, steps
// backwards are in db_iter_reverse.go, the conversion of tombstone runs into range
// tombstones in db_iter_range_conversion.go.

package dbiter

import (
	"bytes"
	"encoding/binary"
	"math"
	"sync"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/db/merge"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/monitoring"
	"github.com/rocksdb-go/rocksdb/table/internaliter"
	"github.com/rocksdb-go/rocksdb/util/stopwatch"
)

// Resolver finds values that are not stored in place.
// Upstream: DBIter::BlobReader.
type Resolver interface {
	// GetBlob gives the value a blob index points to; it is pinned by the
	// returned slice.
	GetBlob(ro *rocksdb.ReadOptions, userKey, blobIndex []byte, value *rocksdb.PinnableSlice) error
}

// Merger applies merge operands; package merge's FullMerge bound to a column
// family's operator.
type Merger interface {
	// FullMerge merges operands, the oldest first, into a base of a kind. The
	// result is a plain value or, as its type tells, an entity. It is valid until
	// the next call and may be one of the arguments.
	FullMerge(key []byte, kind merge.BaseValueKind, base []byte, operands [][]byte) ([]byte, dbformat.ValueType, error)
}

// ActiveMemtable is the memtable that entries met may ask to be flushed.
type ActiveMemtable interface {
	MarkForFlush()
	// FirstSequenceForScan is the least sequence number that is surely in it.
	FirstSequenceForScan() rocksdb.SequenceNumber
}

// Config is what a DBIter is made of. The iterator and the resolver's
// resources belong to whoever made them; DBIter closes the iterator. Bounds and
// timestamps of the options stay as they are while it lives.
type Config struct {
	ReadOptions         *rocksdb.ReadOptions
	Comparator          *dbformat.InternalKeyComparator
	Iter                internaliter.InternalIterator // nil: SetIter comes before the first seek
	Sequence            rocksdb.SequenceNumber
	Callback            dbformat.ReadCallback // may be nil
	Merger              Merger                // nil: no merge operator
	Resolver            Resolver              // nil: blob indexes are a NotSupported
	PrefixExtractor     rocksdb.SliceTransform
	MaxSequentialSkip   uint64
	Statistics          rocksdb.Statistics
	Clock               rocksdb.SystemClock
	Memtable            ActiveMemtable // nil: no scan-triggered flush
	OpScanFlushTrigger  uint32
	AvgScanFlushTrigger uint32

	// Runs of that many tombstones become a range tombstone in TombstoneMemtable,
	// under IngestLock; 0 for never.
	MinTombstonesForRangeConversion uint32
	TombstoneMemtable               TombstoneMemtable
	IngestLock                      *sync.RWMutex
	InfoLog                         rocksdb.Logger
}

type direction uint8

const (
	forward direction = iota
	reverse
)

// localStatistics are kept here and handed to Statistics at the end, so that a
// step touches no shared counter.
type localStatistics struct {
	next, nextFound, prev, prevFound, bytesRead, skip uint64
}

// DBIter is an iterator over user keys. It is used by one goroutine at a time.
type DBIter struct {
	iter     internaliter.IteratorWrapper
	cmp      *dbformat.InternalKeyComparator
	bytewise bool
	tsSize   int
	ro       rocksdb.ReadOptions
	callback dbformat.ReadCallback
	merger   Merger
	resolver Resolver
	prefixEx rocksdb.SliceTransform
	stats    rocksdb.Statistics
	clock    rocksdb.SystemClock
	perf     *rocksdb.PerfContext
	sequence rocksdb.SequenceNumber
	maxSkip  uint64

	status      error
	savedKey    dbformat.IterKey // forward: the key shown or being skipped; reverse: the key shown
	ikey        dbformat.ParsedInternalKey
	value       []byte
	pinnedValue []byte // reverse: value of the newest visible entry so far
	mergeBuf    []byte
	seekBuf     []byte
	blob        rocksdb.PinnableSlice
	lazyBlob    []byte // index of the value, when it is left to PrepareValue
	savedTS     []byte

	savedWriteTime uint64 // of pinnedValue, or of the base of a merge

	prefix       []byte
	lowerBound   []byte
	upperBound   []byte
	mergeContext dbformat.MergeContext
	pinned       internaliter.PinnedIteratorsManager
	local        localStatistics
	scan         scanState
	wide         wideState

	numInternalSkipped uint64
	dir                direction
	valid              bool
	hasPrefix          bool
	entryIsMerged      bool
	keySeqnoZero       bool
	hasLower, hasUpper bool
	prefixSameAsStart  bool
	pinThroughLife     bool
	expectTotalOrder   bool
	unprepared         bool // value not loaded yet (AllowUnpreparedValue)
	versions           bool // all versions are shown (IterStartTS); see db_iter_versions.go

	// Scan-triggered flush.
	memtable        ActiveMemtable
	memtableSeqnoLB rocksdb.SequenceNumber
	opTrigger       uint64
	avgTrigger      uint64
	stepsSinceSeek  uint64
	hiddenSinceSeek uint64

	convert      conversionState
	foundVisible bool // reverse: the key looked at has a visible entry
}

// New makes an iterator; it stands nowhere.
func New(c *Config) *DBIter {
	d := &DBIter{}
	d.Init(c)
	return d
}

// InitError makes the zero DBIter one that only has an error.
func (d *DBIter) InitError(err error, icmp *dbformat.InternalKeyComparator) {
	d.cmp, d.bytewise = icmp, icmp.IsBytewise()
	d.SetIter(internaliter.NewErrorInternalIterator(err))
	d.status = err
}

// Init makes the zero DBIter an iterator that stands nowhere.
func (d *DBIter) Init(c *Config) {
	ro := c.ReadOptions
	d.cmp, d.bytewise, d.tsSize = c.Comparator, c.Comparator.IsBytewise(), c.Comparator.TimestampSize()
	d.ro = *ro
	d.callback, d.merger, d.resolver, d.prefixEx = c.Callback, c.Merger, c.Resolver, c.PrefixExtractor
	d.stats, d.clock, d.perf = c.Statistics, c.Clock, nil
	if ro.PerfContext.CountEnabled() {
		d.perf = ro.PerfContext
		if d.clock == nil {
			d.clock = rocksdb.DefaultSystemClock()
		}
	}
	d.sequence, d.maxSkip = c.Sequence, c.MaxSequentialSkip
	d.lowerBound, d.hasLower = ro.IterateLowerBound, ro.IterateLowerBound != nil
	d.upperBound, d.hasUpper = ro.IterateUpperBound, ro.IterateUpperBound != nil
	d.versions = ro.IterStartTS != nil && d.tsSize > 0
	d.setPrefixMode()
	d.pinThroughLife = ro.PinData
	d.stepsSinceSeek = 1
	d.initMemtable(c)
	monitoring.RecordTick(d.stats, rocksdb.NoIteratorCreated, 1)
	if d.pinThroughLife {
		d.pinned.StartPinning()
	}
	if c.Iter != nil {
		d.SetIter(c.Iter)
	}
}

func (d *DBIter) setPrefixMode() {
	d.prefixSameAsStart = d.prefixEx != nil && d.ro.PrefixSameAsStart
	d.expectTotalOrder = d.prefixEx == nil || d.ro.TotalOrderSeek || d.ro.AutoPrefixMode
}

// initMemtable binds d to the active memtable of the view it reads.
func (d *DBIter) initMemtable(c *Config) {
	d.memtable, d.opTrigger, d.avgTrigger, d.convert.threshold = nil, 0, 0, 0
	if c.Memtable != nil && c.OpScanFlushTrigger > 0 {
		d.memtable = c.Memtable
		d.memtableSeqnoLB = c.Memtable.FirstSequenceForScan()
		d.opTrigger = uint64(c.OpScanFlushTrigger)
		d.avgTrigger = uint64(c.AvgScanFlushTrigger)
	}
	d.initConversion(c)
}

// SetIter makes d work on another inner iterator, which it takes over; d
// stands nowhere then.
func (d *DBIter) SetIter(it internaliter.InternalIterator) {
	d.iter.Set(it)
	it.SetPinnedItersMgr(&d.pinned)
	d.valid = false
}

// Set refreshes the inner iterator, sequence number, prefix extractor and
// memtable, those of c; the old inner iterator is closed and d stands nowhere.
func (d *DBIter) Set(c *Config) error {
	d.endScanRange()
	err := d.iter.Close()
	d.sequence, d.prefixEx, d.maxSkip = c.Sequence, c.PrefixExtractor, c.MaxSequentialSkip
	d.setPrefixMode()
	if d.callback != nil {
		d.callback.Refresh(c.Sequence)
	}
	d.initMemtable(c)
	d.status, d.valid = nil, false
	if c.Iter != nil {
		d.SetIter(c.Iter)
	}
	return err
}

// Sequence is the sequence number the iterator reads at.
func (d *DBIter) Sequence() rocksdb.SequenceNumber { return d.sequence }

// Valid tells whether d stands on an entry.
func (d *DBIter) Valid() bool { return d.valid }

// Key is the user key without timestamp, valid until d moves. With IterStartTS
// it is the internal key, which tells versions and deletions apart.
func (d *DBIter) Key() []byte {
	if d.versions {
		return d.savedKey.GetInternalKey()
	}
	return d.userKey()
}

// userKey is the user key without timestamp.
func (d *DBIter) userKey() []byte {
	k := d.savedKey.GetUserKey()
	return k[:len(k)-d.tsSize]
}

// Value is the present value, valid until d moves.
func (d *DBIter) Value() []byte { return d.value }

// Timestamp is the entry's timestamp.
func (d *DBIter) Timestamp() []byte {
	if d.tsSize == 0 {
		return nil
	}
	if d.dir == reverse {
		return d.savedTS
	}
	return dbformat.ExtractTimestampFromUserKey(d.savedKey.GetUserKey(), d.tsSize)
}

// Status is d's error.
func (d *DBIter) Status() error {
	if d.status == nil {
		return d.iter.Status()
	}
	return d.status
}

// GetProperty answers iterator properties.
func (d *DBIter) GetProperty(name string) (string, error) {
	switch name {
	case "rocksdb.iterator.super-version-number":
		return d.iter.Iter().GetProperty(name)
	case "rocksdb.iterator.write-time":
		return string(binary.LittleEndian.AppendUint64(nil, d.writeTime())), nil
	case "rocksdb.iterator.is-key-pinned":
		if !d.valid {
			return "Iterator is not valid.", nil
		}
		if d.pinThroughLife && d.savedKey.IsKeyPinned() {
			return "1", nil
		}
		return "0", nil
	case "rocksdb.iterator.is-value-pinned":
		if !d.valid {
			return "Iterator is not valid.", nil
		}
		if d.pinThroughLife && !d.entryIsMerged && d.iter.Valid() && d.dir == forward && d.iter.IsValuePinned() {
			return "1", nil
		}
		return "0", nil
	case "rocksdb.iterator.internal-key":
		return string(d.savedKey.GetUserKey()), nil
	}
	return "", rocksdb.InvalidArgument("Unidentified property.")
}

// writeTime is about when the value shown was written, in seconds since the
// epoch; of a merged value, when its base was. UnknownUnixTime where that is not
// known or there is no base. A step forwards does not ask for it, since the inner
// iterator still stands there.
func (d *DBIter) writeTime() uint64 {
	switch {
	case !d.valid:
		return internaliter.UnknownUnixTime
	case d.dir == forward && !d.entryIsMerged:
		return d.iter.WriteUnixTime()
	}
	return d.savedWriteTime
}

// Close gives back everything the iterator holds.
func (d *DBIter) Close() error {
	d.blob.Release()
	d.pinned.ReleasePinnedData()
	d.resetInternalSkipped()
	d.endScanRange()
	d.flushStatistics()
	d.valid = false
	return d.iter.Close()
}

// maxKept bounds what a recycled iterator keeps of a buffer, in bytes.
const maxKept = 16 * 1024

// Recycle makes a closed iterator the zero one again, which keeps its memory.
func (d *DBIter) Recycle() {
	keep := func(b []byte) []byte {
		if cap(b) > maxKept {
			return nil
		}
		return b[:0]
	}
	d.savedKey.Clear()
	*d = DBIter{savedKey: d.savedKey, mergeBuf: keep(d.mergeBuf), seekBuf: keep(d.seekBuf), savedTS: keep(d.savedTS),
		prefix: keep(d.prefix), pinned: d.pinned, convert: conversionState{first: keep(d.convert.first), end: keep(d.convert.end)}}
}

// flushStatistics is upstream's DBIter::LocalStatistics::BumpGlobalStatistics
// and DBIter::LocalStatistics::ResetCounters.
func (d *DBIter) flushStatistics() {
	if d.stats != nil {
		l := &d.local
		record := func(t rocksdb.Ticker, n uint64) {
			if n > 0 {
				monitoring.RecordTick(d.stats, t, n)
			}
		}
		record(rocksdb.NumberDBNext, l.next)
		record(rocksdb.NumberDBNextFound, l.nextFound)
		record(rocksdb.NumberDBPrev, l.prev)
		record(rocksdb.NumberDBPrevFound, l.prevFound)
		record(rocksdb.IterBytesRead, l.bytesRead)
		record(rocksdb.NumberIterSkip, l.skip)
	}
	if d.perf != nil {
		d.perf.IterReadBytes += d.local.bytesRead
	}
	d.local = localStatistics{}
}

// resetInternalSkipped counts the entries met since the last move, but the one
// shown, as skipped.
func (d *DBIter) resetInternalSkipped() {
	d.local.skip += d.numInternalSkipped
	if d.valid {
		d.local.skip--
	}
	d.numInternalSkipped = 0
}

func (d *DBIter) fail(err error) bool {
	d.valid = false
	if err != nil {
		d.status = err
	}
	return false
}

// compareUserKey orders user keys without their timestamps.
func (d *DBIter) compareUserKey(a, b []byte) int {
	if d.bytewise {
		return bytes.Compare(a, b)
	}
	return d.cmp.UserComparator().CompareWithoutTimestamp(a, true, b, true)
}

// countComparison counts a comparison of user keys.
func (d *DBIter) countComparison() {
	if d.perf != nil {
		d.perf.UserKeyComparisonCount++
	}
}

// compareBound orders a user key against a bound, which has no timestamp.
func (d *DBIter) compareBound(key, bound []byte) int {
	if d.bytewise {
		return bytes.Compare(key, bound)
	}
	return d.cmp.UserComparator().CompareWithoutTimestamp(key, true, bound, false)
}

func (d *DBIter) equalUserKey(a, b []byte) bool {
	if d.bytewise {
		return bytes.Equal(a, b)
	}
	return d.compareUserKey(a, b) == 0
}

// parse takes the inner iterator's key apart into d.ikey.
func (d *DBIter) parse() bool {
	var err error
	if d.ikey, err = dbformat.ParseInternalKey(d.iter.Key(), false); err != nil || len(d.ikey.UserKey) < d.tsSize {
		if err == nil {
			err = rocksdb.Corruption("user key shorter than its timestamp")
		}
		return d.fail(err)
	}
	return true
}

// isVisible tells whether the entry in d.ikey is seen; newer tells whether it
// is hidden for being too new.
func (d *DBIter) isVisible() (visible, newer bool) {
	if d.callback == nil {
		visible = d.ikey.Sequence <= d.sequence
	} else {
		visible = d.callback.IsVisible(d.ikey.Sequence)
	}
	newer = !visible
	if visible && d.tsSize > 0 && d.ro.Timestamp != nil {
		ts := dbformat.ExtractTimestampFromUserKey(d.ikey.UserKey, d.tsSize)
		visible = d.cmp.UserComparator().CompareTimestamp(ts, d.ro.Timestamp) <= 0 && !(d.versions && d.beforeStart(ts))
	}
	return visible, newer
}

func (d *DBIter) tooManySkipped(count bool) bool {
	if d.ro.MaxSkippableInternalKeys > 0 && d.numInternalSkipped > d.ro.MaxSkippableInternalKeys {
		d.fail(rocksdb.Incomplete("Too many internal keys skipped."))
		return true
	}
	if count {
		d.numInternalSkipped++
	}
	return false
}

func (d *DBIter) prefixCheck(userKey []byte) bool {
	if !d.hasPrefix {
		return true
	}
	k := userKey[:len(userKey)-d.tsSize]
	return d.prefixEx.InDomain(k) && bytes.Equal(d.prefixEx.Transform(k), d.prefix)
}

func (d *DBIter) setPrefix(key []byte) {
	if d.prefixSameAsStart && d.prefixEx.InDomain(key) {
		d.prefix = append(d.prefix[:0], d.prefixEx.Transform(key)...)
		d.hasPrefix = true
	}
}

// saveKey holds the user key of the inner iterator's present entry.
// Upstream: DBIter::SetSavedKeyToSeekTarget,
// DBIter::SetSavedKeyToSeekForPrevTarget.
func (d *DBIter) saveKey(userKey []byte) {
	if d.versions {
		d.savedKey.SetInternalKey(d.iter.Key(), true)
		return
	}
	d.savedKey.SetUserKey(userKey, !d.pinThroughLife || !d.iter.IsKeyPinned())
}

func (d *DBIter) tempPin() {
	if !d.pinThroughLife && !d.pinned.PinningEnabled() {
		d.pinned.StartPinning()
	}
}

func (d *DBIter) releaseTempPinned() {
	if !d.pinThroughLife && d.pinned.PinningEnabled() {
		d.pinned.ReleasePinnedData()
	}
}

func (d *DBIter) resetSeekState() {
	d.releaseTempPinned()
	d.resetValue()
	d.resetInternalSkipped()
	d.hasPrefix = false
	d.status = nil
	d.convert.resetRun()
	d.endScanRange()
}

// endScanRange applies the trigger by average, which looks back at the range
// since the last seek.
func (d *DBIter) endScanRange() {
	if d.avgTrigger > 0 && d.hiddenSinceSeek >= d.opTrigger && d.hiddenSinceSeek >= d.stepsSinceSeek*d.avgTrigger {
		d.markMemtable()
	}
	d.stepsSinceSeek = 1
	d.hiddenSinceSeek = 0
}

// markMemtable is upstream's DBIter::MarkMemtableForFlushForAvgTrigger.
func (d *DBIter) markMemtable() {
	d.memtable.MarkForFlush()
	d.opTrigger, d.avgTrigger = 0, 0
}

// countHidden notes an entry that was skipped; hidden counts those of one
// operation.
// Upstream: DBIter::MarkMemtableForFlushForPerOpTrigger.
func (d *DBIter) countHidden(hidden *uint64) {
	if d.opTrigger == 0 || d.ikey.Sequence < d.memtableSeqnoLB {
		return
	}
	*hidden++
	if *hidden >= d.opTrigger {
		d.markMemtable()
	}
	if d.avgTrigger > 0 {
		d.hiddenSinceSeek++
	}
}

// Next moves to the next key. d must be valid.
func (d *DBIter) Next() {
	if !d.valid {
		return
	}
	var start uint64
	if d.perf != nil {
		d.perf.IterNextCount++
		start = d.cpuStart()
	}
	d.releaseTempPinned()
	d.resetValue()
	d.resetInternalSkipped()
	d.stepsSinceSeek++
	ok := true
	switch {
	case d.dir == reverse:
		d.keySeqnoZero = false
		d.convert.resetRun()
		ok = d.reverseToForward()
	case !d.entryIsMerged:
		d.iter.Next()
		if d.perf != nil {
			d.perf.InternalKeySkippedCount++
		}
	}
	d.local.next++
	if ok && d.iter.Valid() {
		d.findNextUserEntry(true)
	} else {
		d.keySeqnoZero = false
		d.valid = false
	}
	if d.valid && d.stats != nil {
		d.local.nextFound++
		d.local.bytesRead += uint64(d.savedKey.Size() + len(d.value))
	}
	if d.perf != nil {
		d.perf.IterNextCPUNanos += d.cpuSince(start)
	}
}

// Prev moves to the key before. d must be valid.
func (d *DBIter) Prev() {
	if !d.valid {
		return
	}
	var start uint64
	if d.perf != nil {
		d.perf.IterPrevCount++
		start = d.cpuStart()
	}
	d.releaseTempPinned()
	d.resetValue()
	d.resetInternalSkipped()
	ok := true
	if d.dir == forward {
		d.convert.resetRun()
		ok = d.reverseToBackward()
	}
	if ok {
		if d.convert.threshold > 0 {
			d.convert.setEnd(d.savedKey.GetUserKey())
		}
		d.prevInternal()
	}
	if d.stats != nil {
		d.local.prev++
		if d.valid {
			d.local.prevFound++
			d.local.bytesRead += uint64(d.savedKey.Size() + len(d.value))
		}
	}
	if d.perf != nil {
		d.perf.IterPrevCPUNanos += d.cpuSince(start)
	}
}

// cpuStart and cpuSince measure for the perf context, when its level asks.
func (d *DBIter) cpuStart() uint64 {
	if !d.perf.Enabled(rocksdb.EnableTimeAndCPUTimeExceptForMutex) {
		return 0
	}
	return d.clock.CPUNanos()
}

// cpuSince is 0 as well where the goroutine has gone to a thread that has run
// less.
func (d *DBIter) cpuSince(start uint64) uint64 {
	if start == 0 {
		return 0
	}
	now := d.clock.CPUNanos()
	return now - min(start, now)
}

// startSeek counts a seek and begins to measure it; endSeek ends that.
func (d *DBIter) startSeek() (start uint64) {
	if d.perf != nil {
		d.perf.IterSeekCount++
		start = d.cpuStart()
	}
	return start
}

func (d *DBIter) endSeek(start uint64) {
	if start > 0 {
		d.perf.IterSeekCPUNanos += d.cpuSince(start)
	}
}

// timeInnerSeek measures a seek of the inner iterator.
func (d *DBIter) timeInnerSeek() (timer monitoring.PerfStepTimer) {
	if d.perf.Enabled(rocksdb.EnableTimeExceptForMutex) {
		timer.Start(&d.perf.SeekInternalSeekTime, d.clock)
	}
	return timer
}

// Seek goes to the first key at or after target.
func (d *DBIter) Seek(target []byte) {
	watch := stopwatch.NewStopWatch(d.clock, d.stats, rocksdb.HistDBSeek)
	start := d.startSeek()
	if d.scan.args != nil && !d.beginScan(target) {
		return
	}
	d.resetSeekState()
	d.keySeqnoZero = false
	key := target
	if d.hasLower && d.compareTargetBound(target, d.lowerBound) < 0 {
		key = d.lowerBound
	}
	d.seekBuf = dbformat.AppendInternalKey(append(append(d.seekBuf[:0], key...), d.ro.Timestamp...), nil, d.sequence, dbformat.ValueTypeForSeek)
	timer := d.timeInnerSeek()
	d.iter.Seek(d.seekBuf)
	timer.Stop()
	d.finishForwardSeek(target, true)
	d.endSeek(start)
	watch.Stop()
}

// SeekToFirst goes to the first key. After Prepare it is an error, whatever the
// tables below would say.
func (d *DBIter) SeekToFirst() {
	if d.hasLower {
		d.Seek(d.lowerBound)
		return
	}
	if d.scan.args != nil {
		d.refuseScan("No seek key for MultiScan")
		return
	}
	start := d.startSeek()
	if !d.expectTotalOrder {
		d.maxSkip = math.MaxUint64
	}
	d.resetSeekState()
	d.keySeqnoZero = false
	timer := d.timeInnerSeek()
	d.iter.SeekToFirst()
	timer.Stop()
	d.finishForwardSeek(nil, false)
	if d.valid {
		d.setPrefix(d.userKey())
	}
	d.endSeek(start)
}

func (d *DBIter) compareTargetBound(target, bound []byte) int {
	if d.bytewise {
		return bytes.Compare(target, bound)
	}
	return d.cmp.UserComparator().CompareWithoutTimestamp(target, false, bound, false)
}

func (d *DBIter) finishForwardSeek(target []byte, hasTarget bool) {
	monitoring.RecordTick(d.stats, rocksdb.NumberDBSeek, 1)
	d.dir = forward
	if !d.iter.Valid() {
		d.valid = false
		return
	}
	// What is saved here is compared with entries that are not visible; it must
	// not be the key of any before the first one.
	d.saveKey(dbformat.ExtractUserKey(d.iter.Key()))
	if hasTarget {
		d.setPrefix(target)
	}
	d.findNextUserEntry(false)
	if !d.valid {
		d.hasPrefix = false
	}
	d.countSeek()
}

func (d *DBIter) countSeek() {
	if !d.valid || d.stats == nil && d.perf == nil {
		return
	}
	n := uint64(d.savedKey.Size() + len(d.value))
	if d.stats != nil {
		monitoring.RecordTick(d.stats, rocksdb.NumberDBSeekFound, 1)
		monitoring.RecordTick(d.stats, rocksdb.IterBytesRead, n)
	}
	if d.perf != nil {
		d.perf.IterReadBytes += n
	}
}

// SeekForPrev goes to the last key at or before target.
func (d *DBIter) SeekForPrev(target []byte) {
	watch := stopwatch.NewStopWatch(d.clock, d.stats, rocksdb.HistDBSeek)
	start := d.startSeek()
	if d.scan.args != nil && !d.beginReverseScan(target) {
		return
	}
	d.resetSeekState()
	d.keySeqnoZero = false
	b := append(d.seekBuf[:0], target...)
	if d.hasUpper && d.compareTargetBound(target, d.upperBound) >= 0 {
		b = append(b[:0], d.upperBound...)
		b = dbformat.AppendKeyWithMaxTimestamp(b, nil, d.tsSize)
		b = dbformat.AppendInternalKeyFooter(b, dbformat.MaxSequenceNumber, dbformat.ValueTypeForSeekForPrev)
	} else {
		if d.versions {
			b = append(b, d.ro.IterStartTS...)
		} else {
			b = dbformat.AppendKeyWithMinTimestamp(b, nil, d.tsSize)
		}
		b = dbformat.AppendInternalKeyFooter(b, 0, dbformat.ValueTypeForSeekForPrev)
	}
	d.seekBuf = b
	timer := d.timeInnerSeek()
	d.iter.SeekForPrev(b)
	timer.Stop()
	monitoring.RecordTick(d.stats, rocksdb.NumberDBSeek, 1)
	d.dir = reverse
	if d.iter.Valid() {
		d.setPrefix(target)
		if d.convert.threshold > 0 {
			d.convert.setEnd(dbformat.ExtractUserKey(b))
		}
		d.prevInternal()
		if !d.valid {
			d.hasPrefix = false
		}
	} else {
		d.valid = false
	}
	d.countSeek()
	d.endSeek(start)
	watch.Stop()
}

// SeekToLast goes to the last key.
func (d *DBIter) SeekToLast() {
	if d.hasUpper {
		d.SeekForPrev(d.upperBound)
		return
	}
	if d.scan.args != nil {
		if d.scan.args.Reverse {
			d.refuseScan("No seek key for MultiScan")
		} else {
			d.refuseScan("SeekForPrev called on forward MultiScan")
		}
		return
	}
	start := d.startSeek()
	if !d.expectTotalOrder {
		d.maxSkip = math.MaxUint64
	}
	d.resetSeekState()
	d.keySeqnoZero = false
	d.dir = reverse
	timer := d.timeInnerSeek()
	d.iter.SeekToLast()
	timer.Stop()
	d.prevInternal()
	monitoring.RecordTick(d.stats, rocksdb.NumberDBSeek, 1)
	d.countSeek()
	if d.valid {
		d.setPrefix(d.userKey())
	}
	d.endSeek(start)
}

// findNextUserEntry goes forward to the first entry to show. With skipping the
// saved key's own entries are passed over. It assigns valid.
func (d *DBIter) findNextUserEntry(skipping bool) bool {
	if d.perf == nil {
		return d.findNextUserEntryInternal(skipping)
	}
	var timer monitoring.PerfStepTimer
	if d.perf.Enabled(rocksdb.EnableTimeExceptForMutex) {
		timer.Start(&d.perf.FindNextUserEntryTime, d.clock)
	}
	ok := d.findNextUserEntryInternal(skipping)
	timer.Stop()
	return ok
}

func (d *DBIter) findNextUserEntryInternal(skipping bool) bool {
	d.entryIsMerged = false
	var numSkipped, hidden uint64
	reseekDone := false
	for {
		previousZero := d.keySeqnoZero
		d.keySeqnoZero = false
		if !d.parse() {
			return false
		}
		userKey := d.ikey.UserKey
		d.keySeqnoZero = d.ikey.Sequence == 0
		if d.hasUpper && d.iter.UpperBoundCheckResult() != internaliter.Inbound {
			d.countComparison()
			if d.compareBound(userKey, d.upperBound) >= 0 {
				break
			}
		}
		if d.hasPrefix && !d.prefixCheck(userKey) {
			break
		}
		if d.tooManySkipped(true) {
			return false
		}
		visible, newer := d.isVisible()
		if visible && skipping {
			d.countComparison()
		}
		switch {
		case visible && skipping && (!previousZero || d.tsSize > 0) && d.compareForSkip(userKey, d.savedKey.GetUserKey()) <= 0:
			numSkipped++
			if d.perf != nil {
				d.perf.InternalKeySkippedCount++
			}
			d.countHidden(&hidden)
		case visible:
			numSkipped = 0
			reseekDone = false
			switch d.ikey.Type {
			case dbformat.TypeDeletion, dbformat.TypeSingleDeletion, dbformat.TypeDeletionWithTimestamp:
				d.saveKey(userKey)
				if d.versions {
					d.valid = true
					return true
				}
				skipping = true
				if d.perf != nil {
					d.perf.InternalDeleteSkippedCount++
				}
				d.countHidden(&hidden)
				if d.convert.threshold > 0 && d.prefixCheck(userKey) {
					d.trackTombstone(userKey)
				}
			case dbformat.TypeMerge:
				if d.versions {
					return d.refuseMerge()
				}
				if !d.prepareInner() {
					return false
				}
				d.endRun(dbformat.ExtractUserKey(d.iter.Key()))
				d.saveKey(dbformat.ExtractUserKey(d.iter.Key()))
				d.entryIsMerged = true
				d.valid = true
				return d.mergeValuesNewToOld()
			default:
				return d.showForward()
			}
		default:
			if newer && d.perf != nil {
				d.perf.InternalRecentSkippedCount++
			}
			// An entry too new to be seen: the key itself may have older ones.
			d.countComparison()
			if c := d.compareUserKey(userKey, d.savedKey.GetUserKey()); c == 0 || skipping && c < 0 {
				numSkipped++
			} else {
				d.saveKey(userKey)
				skipping = false
				numSkipped = 0
				reseekDone = false
			}
		}
		if numSkipped > d.maxSkip && !reseekDone {
			d.keySeqnoZero = false
			numSkipped = 0
			reseekDone = true
			d.reseekForward(skipping)
		} else {
			d.iter.Next()
		}
		if !d.iter.Valid() {
			break
		}
	}
	d.valid = false
	if err := d.iter.Status(); err != nil {
		d.convert.resetRun()
		return false
	}
	// The inner iterator may have passed live keys of tables that end at a bound
	// or prefix; only up to the last tombstone met is all known to be deleted.
	d.endRun(d.savedKey.GetUserKey())
	return true
}

// showForward makes the inner iterator's entry the one shown.
func (d *DBIter) showForward() bool {
	if d.ro.AllowUnpreparedValue && !d.iter.IsValuePrepared() {
		d.endRun(d.ikey.UserKey)
		d.saveKey(d.ikey.UserKey)
		d.unprepared = true
		d.valid = true
		return true
	}
	if !d.prepareInner() {
		return false
	}
	d.endRun(dbformat.ExtractUserKey(d.iter.Key()))
	d.saveKey(dbformat.ExtractUserKey(d.iter.Key()))
	if d.ikey.Type == dbformat.TypeValue {
		d.value = d.iter.Value()
	} else if !d.showValue(d.ikey.Type, d.iter.Value()) {
		return false
	}
	d.valid = true
	return true
}

// reseekForward jumps over many entries: behind the saved key when skipping,
// else to its first visible one.
func (d *DBIter) reseekForward(skipping bool) {
	uk := d.savedKey.GetUserKey()
	b := append(d.seekBuf[:0], uk[:len(uk)-d.tsSize]...)
	if skipping {
		if d.versions && !d.beforeStart(dbformat.ExtractTimestampFromUserKey(d.ikey.UserKey, d.tsSize)) {
			b = append(b, uk[len(uk)-d.tsSize:]...) // older versions are to come yet
		} else {
			b = dbformat.AppendKeyWithMinTimestamp(b, nil, d.tsSize)
		}
		b = dbformat.AppendInternalKeyFooter(b, 0, dbformat.TypeDeletion)
	} else {
		b = append(b, d.ro.Timestamp...)
		b = dbformat.AppendInternalKeyFooter(b, d.sequence, dbformat.ValueTypeForSeek)
	}
	d.seekBuf = b
	d.iter.Seek(b)
	monitoring.RecordTick(d.stats, rocksdb.NumberOfReseeksInIteration, 1)
}

func isDeletion(t dbformat.ValueType) bool {
	return t == dbformat.TypeDeletion || t == dbformat.TypeSingleDeletion || t == dbformat.TypeDeletionWithTimestamp
}

// reverseToForward turns round: the inner iterator goes to the saved key's
// first entry or behind.
func (d *DBIter) reverseToForward() bool {
	if !d.expectTotalOrder || !d.iter.Valid() {
		d.seekToSavedKeyStart()
	}
	d.dir = forward
	for d.iter.Valid() {
		if !d.parse() {
			return false
		}
		if d.cmp.CompareUserKey(d.ikey.UserKey, d.savedKey.GetUserKey()) >= 0 {
			return true
		}
		d.iter.Next()
	}
	if err := d.iter.Status(); err != nil {
		return d.fail(err)
	}
	return true
}

// savedKeyStart is the internal key before all entries of the saved key, or of
// the saved version.
func (d *DBIter) savedKeyStart() []byte {
	uk := d.savedKey.GetUserKey()
	if d.versions {
		d.seekBuf = dbformat.AppendInternalKey(d.seekBuf[:0], uk, dbformat.MaxSequenceNumber, dbformat.ValueTypeForSeek)
		return d.seekBuf
	}
	b := dbformat.AppendKeyWithMaxTimestamp(d.seekBuf[:0], uk[:len(uk)-d.tsSize], d.tsSize)
	d.seekBuf = dbformat.AppendInternalKeyFooter(b, dbformat.MaxSequenceNumber, dbformat.ValueTypeForSeek)
	return d.seekBuf
}

func (d *DBIter) seekToSavedKeyStart() {
	d.iter.Seek(d.savedKeyStart())
	monitoring.RecordTick(d.stats, rocksdb.NumberOfReseeksInIteration, 1)
}

// reverseToBackward turns round: the inner iterator goes before all entries of
// the saved key.
func (d *DBIter) reverseToBackward() bool {
	if d.entryIsMerged && (!d.expectTotalOrder || !d.iter.Valid()) {
		// The inner iterator may be past the end; go back to the key.
		d.seekBackTo(d.savedKeyStart())
	}
	d.dir = reverse
	return d.findUserKeyBeforeSavedKey()
}

func (d *DBIter) seekBackTo(key []byte) {
	if !d.expectTotalOrder {
		d.iter.SeekForPrev(key)
	} else {
		d.iter.Seek(key)
		if !d.iter.Valid() && d.iter.Status() == nil {
			d.iter.SeekToLast()
		}
	}
	monitoring.RecordTick(d.stats, rocksdb.NumberOfReseeksInIteration, 1)
}
