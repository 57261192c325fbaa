// Port of db/compaction/compaction_iterator.{h,cc}. Differs: the constructor
// takes a struct; entities' columns are not moved to or from blob files; a
// state that upstream asserts against ends the iteration with a corruption.

package compaction

import (
	"math"
	"sync/atomic"

	"github.com/rocksdb-go/rocksdb/db/blob/blobformat"
	"github.com/rocksdb-go/rocksdb/db/compaction/iterstats"
	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/db/merge"
	"github.com/rocksdb-go/rocksdb/db/rangedel"
	"github.com/rocksdb-go/rocksdb/db/seqnotime"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/logging"
	"github.com/rocksdb-go/rocksdb/table/internaliter"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

// CompactionProxy is what a CompactionIterator asks of its compaction;
// *Compaction is one. The answers do not change during an iteration.
type CompactionProxy interface {
	// Level is the input's start level, told to compaction filters.
	Level() int
	NumberLevels() int
	// BottommostLevel tells that no older entry of any of the keys exists below
	// the output level.
	BottommostLevel() bool
	AllowIngestBehind() bool
	// KeyNotExistsBeyondOutputLevel tells that no file below the output level
	// can hold userKey. levelPtrs has NumberLevels elements and keeps the
	// place from key to key, which have to rise.
	KeyNotExistsBeyondOutputLevel(userKey []byte, levelPtrs []int) bool
}

// BlobFileBuilder takes large values out of line.
type BlobFileBuilder interface {
	// Add gives the blob index that stands for value, or nil when the value
	// stays where it is. The index is valid until the next call.
	Add(userKey, value []byte) (blobIndex []byte, err error)
}

// CompactionIteratorOptions are what a CompactionIterator works with. Input,
// Comparator and MergeHelper are needed.
type CompactionIteratorOptions struct {
	Input       internaliter.InternalIterator // not owned
	Comparator  *dbformat.InternalKeyComparator
	MergeHelper *merge.MergeHelper
	// Snapshots in rising order. EarliestSnapshot is the first of them, or the
	// greatest sequence number without any.
	Snapshots                     []rocksdb.SequenceNumber
	EarliestSnapshot              rocksdb.SequenceNumber
	EarliestWriteConflictSnapshot rocksdb.SequenceNumber
	// JobSnapshot is what a SnapshotChecker calls committed.
	JobSnapshot        rocksdb.SequenceNumber
	SnapshotChecker    dbformat.SnapshotChecker // may be nil
	Clock              rocksdb.SystemClock
	ReportDetailedTime bool
	RangeDelAgg        *rangedel.CompactionRangeDelAggregator // may be nil
	BlobFileBuilder    BlobFileBuilder                        // may be nil
	BlobFetcher        blobformat.BlobFetcher                 // may be nil
	// BlobGarbageCollectionCutoffFileNumber moves the values of older blob
	// files; 0 moves none.
	BlobGarbageCollectionCutoffFileNumber uint64
	AllowDataInErrors                     bool
	EnforceSingleDelContracts             bool
	ManualCompactionCanceled              *atomic.Bool // may be nil
	// MustCountInputEntries walks over what a filter skips, instead of seeking,
	// so that NumInputEntryScanned stays exact.
	MustCountInputEntries bool
	Compaction            CompactionProxy // nil for a flush
	CompactionFilter      rocksdb.CompactionFilter
	ShuttingDown          *atomic.Bool // may be nil
	InfoLog               rocksdb.Logger
	// FullHistoryTSLow is the timestamp below which history may go; nil keeps
	// all.
	FullHistoryTSLow []byte
	// PreserveSeqnoAfter keeps sequence numbers above it from being zeroed; nil
	// stands for EarliestSnapshot.
	PreserveSeqnoAfter *rocksdb.SequenceNumber
}

// validContext says why an entry is put out, for messages.
type validContext uint8

const (
	validMerge1 validContext = iota
	validMerge2
	validParseKeyError
	validCurrentKeyUncommitted
	validKeepSDAndClearPut
	validKeepTsHistory
	validKeepSDForConflictCheck
	validKeepSDForSnapshot
	validKeepSD
	validKeepDel
	validNewUserKey
	validRangeDeletion
	validSwapPreferredSeqno
)

// CompactionIterator walks the entries that a flush or compaction has to write:
// its input in order, without what nobody can see any more, with merge operands
// joined and the compaction filter applied. Key and Value are valid until Next.
type CompactionIterator struct {
	input                  sequenceIterWrapper
	icmp                   *dbformat.InternalKeyComparator
	cmp                    rocksdb.Comparator
	merge                  *merge.MergeHelper
	o                      CompactionIteratorOptions
	filter                 rocksdb.CompactionFilter
	filterV4               rocksdb.CompactionFilterV4        // filter, where it takes columns
	filterBlobByKey        rocksdb.CompactionFilterBlobByKey // filter, where it decides by keys
	comp                   CompactionProxy
	canceled, shuttingDown *atomic.Bool

	snapshots         []rocksdb.SequenceNumber
	releasedSnapshots map[rocksdb.SequenceNumber]struct{}
	checker           dbformat.SnapshotChecker

	// Constants of the iteration.
	earliestSnapshot   rocksdb.SequenceNumber
	preserveSeqnoAfter rocksdb.SequenceNumber
	bottommostLevel    bool // and files cannot be ingested below
	allowIngestBehind  bool
	visibleAtTip       bool // there is no snapshot
	tsSize             int
	level              int

	// The present output.
	valid   bool
	context validContext
	key     []byte // points into currentKey, or to the input's for range tombstones
	value   []byte
	ikey    dbformat.ParsedInternalKey
	status  error

	// hasCurrentUserKey says that the rest describes the entry before.
	hasCurrentUserKey bool
	// atNext says that the input already stands on the next entry.
	atNext                 bool
	currentKey             dbformat.IterKey
	currentUserKey         []byte // within currentKey
	currTS                 []byte
	currentUserKeySequence rocksdb.SequenceNumber
	currentUserKeySnapshot rocksdb.SequenceNumber
	// hasOutputtedKey: an entry of this user key was put out already.
	hasOutputtedKey bool
	// clearAndOutputNextKey: the next entry is the value under a single
	// deletion that has to stay; it is put out without its content.
	clearAndOutputNextKey bool
	currentKeyCommitted   bool
	lastKeySeqZeroed      bool
	isRangeDel            bool
	cmpWithHistoryTSLow   int // sign of: timestamp of the key - FullHistoryTSLow

	mergeOut         merge.MergeOutputIterator
	mergeUntilStatus error
	pinnedItersMgr   internaliter.PinnedIteratorsManager

	needSkip    bool
	skipUntil   []byte
	filterValue []byte
	skipBuf     []byte
	entity      entityState
	blobValue   rocksdb.PinnableSlice
	zeroTS      []byte
	levelPtrs   []int
	stats       iterstats.CompactionIterationStats
}

// NewCompactionIterator makes an iterator; SeekToFirst comes next.
func NewCompactionIterator(o CompactionIteratorOptions) *CompactionIterator {
	c := &CompactionIterator{
		icmp: o.Comparator, cmp: o.Comparator.UserComparator(), merge: o.MergeHelper, o: o,
		filter: o.CompactionFilter, comp: o.Compaction, canceled: o.ManualCompactionCanceled, shuttingDown: o.ShuttingDown,
		snapshots: o.Snapshots, checker: o.SnapshotChecker, earliestSnapshot: o.EarliestSnapshot,
		preserveSeqnoAfter: o.EarliestSnapshot, visibleAtTip: len(o.Snapshots) == 0,
		tsSize: o.Comparator.TimestampSize(), mergeOut: merge.NewMergeOutputIterator(o.MergeHelper),
	}
	c.filterV4, _ = o.CompactionFilter.(rocksdb.CompactionFilterV4)
	c.filterBlobByKey, _ = o.CompactionFilter.(rocksdb.CompactionFilterBlobByKey)
	if o.PreserveSeqnoAfter != nil {
		c.preserveSeqnoAfter = *o.PreserveSeqnoAfter
	}
	if c.comp != nil {
		c.level = c.comp.Level()
		c.levelPtrs = make([]int, c.comp.NumberLevels())
		c.allowIngestBehind = c.comp.AllowIngestBehind()
		c.bottommostLevel = c.comp.BottommostLevel() && !c.allowIngestBehind
	}
	if c.o.Clock == nil {
		c.o.Clock = rocksdb.DefaultSystemClock()
	}
	if c.tsSize > 0 {
		c.zeroTS = make([]byte, c.tsSize)
	}
	c.input.init(o.Input, o.Comparator, o.MustCountInputEntries)
	c.input.SetPinnedItersMgr(&c.pinnedItersMgr)
	return c
}

// Close lets go of what values pointed into; the input stays open.
func (c *CompactionIterator) Close() error {
	err := c.pinnedItersMgr.ReleasePinnedData()
	c.input.SetPinnedItersMgr(nil)
	c.blobValue.Release()
	return err
}

// Valid tells whether there is an entry to write. At the end Status tells
// whether all went well.
func (c *CompactionIterator) Valid() bool { return c.valid }

// Key is the entry's internal key.
func (c *CompactionIterator) Key() []byte { return c.key }

// Value is the entry's value.
func (c *CompactionIterator) Value() []byte { return c.value }

// Status is the error that ended the iteration.
func (c *CompactionIterator) Status() error { return c.status }

// IKey is Key taken apart.
func (c *CompactionIterator) IKey() *dbformat.ParsedInternalKey { return &c.ikey }

// UserKey is the entry's user key.
func (c *CompactionIterator) UserKey() []byte {
	if c.isRangeDel {
		return c.ikey.UserKey
	}
	return c.currentUserKey
}

// IterStats gives the counters so far.
func (c *CompactionIterator) IterStats() *iterstats.CompactionIterationStats { return &c.stats }

// HasNumInputEntryScanned tells whether NumInputEntryScanned is exact.
func (c *CompactionIterator) HasNumInputEntryScanned() bool { return !c.input.skipped }

// NumInputEntryScanned counts the input's entries so far, range tombstones'
// boundaries left out.
func (c *CompactionIterator) NumInputEntryScanned() uint64 { return c.input.numItered }

// IsCurrentKeyAlreadyScanned tells whether the entry counts among
// NumInputEntryScanned already; only while Valid.
func (c *CompactionIterator) IsCurrentKeyAlreadyScanned() bool { return c.atNext || c.mergeOut.Valid() }

// InputStatus is the input's error.
func (c *CompactionIterator) InputStatus() error { return c.input.Status() }

// IsDeleteRangeSentinelKey tells that the entry is not one to write but the
// start of a range tombstone, shown so that output files can be cut there.
func (c *CompactionIterator) IsDeleteRangeSentinelKey() bool { return c.isRangeDel }

// ResetRecordCounts sets the counters of dropped records to 0.
func (c *CompactionIterator) ResetRecordCounts() {
	c.stats.NumRecordDropUser = 0
	c.stats.NumRecordDropHidden = 0
	c.stats.NumRecordDropObsolete = 0
	c.stats.NumRecordDropRangeDel = 0
	c.stats.NumRangeDelDropObsolete = 0
	c.stats.NumOptimizedDelDropObsolete = 0
}

// SeekToFirst goes to the first entry; the input has to be positioned.
func (c *CompactionIterator) SeekToFirst() {
	c.input.refresh()
	c.nextFromInput()
	c.prepareOutput()
}

// Next goes to the next entry; only while Valid.
func (c *CompactionIterator) Next() {
	if c.mergeOut.Valid() {
		c.mergeOut.Next()
		if c.mergeOut.Valid() {
			c.takeMergeOutput(validMerge1)
		} else {
			if rocksdb.CodeOf(c.mergeUntilStatus) == rocksdb.CodeMergeInProgress {
				// Only operands were put out: the value under them must not
				// look hidden by them.
				c.hasCurrentUserKey = false
			}
			c.releasePinned()
			// The merge left the input on the entry that comes next.
			c.nextFromInput()
		}
	} else {
		if !c.atNext {
			c.input.Next()
		}
		c.nextFromInput()
	}
	if c.valid {
		c.hasOutputtedKey = true
	}
	c.prepareOutput()
}

func (c *CompactionIterator) setValid(ctx validContext) { c.valid, c.context = true, ctx }

func (c *CompactionIterator) fail(err error) {
	c.valid = false
	c.status = err
}

func (c *CompactionIterator) releasePinned() {
	if err := c.pinnedItersMgr.ReleasePinnedData(); err != nil && c.status == nil {
		c.status = err
	}
}

// takeMergeOutput makes the merge's present entry the output.
func (c *CompactionIterator) takeMergeOutput(ctx validContext) {
	ikey, err := dbformat.ParseInternalKey(c.mergeOut.Key(), c.o.AllowDataInErrors)
	if err != nil {
		c.fail(err)
		return
	}
	c.value = c.mergeOut.Value()
	if c.tsSize > 0 && len(ikey.UserKey) == len(c.currentKey.GetUserKey()) {
		n := len(ikey.UserKey)
		copy(c.currentKey.GetUserKey()[n-c.tsSize:], ikey.UserKey[n-c.tsSize:])
	}
	c.updateCurrentKey(ikey.Sequence, ikey.Type)
	c.setValid(ctx)
}

// updateCurrentKey gives the present key another footer and makes it the
// output's key.
func (c *CompactionIterator) updateCurrentKey(seq rocksdb.SequenceNumber, t dbformat.ValueType) {
	c.ikey.Sequence, c.ikey.Type = seq, t
	c.currentKey.UpdateInternalKey(seq, t)
	c.key = c.currentKey.GetInternalKey()
	c.ikey.UserKey = c.currentKey.GetUserKey()
}

func (c *CompactionIterator) isShuttingDown() bool {
	return c.shuttingDown != nil && c.shuttingDown.Load()
}

func (c *CompactionIterator) isPausingManualCompaction() bool {
	return c.canceled != nil && c.canceled.Load()
}

// sameUserKey compares without timestamps.
func (c *CompactionIterator) sameUserKey(a, b []byte) bool {
	if c.tsSize == 0 {
		return c.icmp.EqualUserKey(a, b)
	}
	return c.icmp.CompareWithoutTimestamp(a, b) == 0
}

func (c *CompactionIterator) definitelyInSnapshot(seq, snapshot rocksdb.SequenceNumber) bool {
	return dataIsDefinitelyInSnapshot(seq, snapshot, c.checker)
}

func (c *CompactionIterator) definitelyNotInSnapshot(seq, snapshot rocksdb.SequenceNumber) bool {
	return dataIsDefinitelyNotInSnapshot(seq, snapshot, c.checker)
}

func (c *CompactionIterator) keyCommitted(seq rocksdb.SequenceNumber) bool {
	return c.checker == nil || c.checker.CheckInSnapshot(seq, c.o.JobSnapshot) == dbformat.SnapshotCheckerInSnapshot
}

func dataIsDefinitelyInSnapshot(seq, snapshot rocksdb.SequenceNumber, checker dbformat.SnapshotChecker) bool {
	return seq <= snapshot && (checker == nil || checker.CheckInSnapshot(seq, snapshot) == dbformat.SnapshotCheckerInSnapshot)
}

func dataIsDefinitelyNotInSnapshot(seq, snapshot rocksdb.SequenceNumber, checker dbformat.SnapshotChecker) bool {
	return seq > snapshot || checker != nil && checker.CheckInSnapshot(seq, snapshot) == dbformat.SnapshotCheckerNotInSnapshot
}

// nextFromInput reads input until there is an entry to put out.
func (c *CompactionIterator) nextFromInput() {
	c.atNext, c.valid = false, false
	for !c.valid && c.status == nil && c.input.valid && !c.isPausingManualCompaction() && !c.isShuttingDown() {
		c.key, c.value = c.input.key, c.input.Value()
		c.stats.NumInputRecords++
		c.isRangeDel = c.input.IsDeleteRangeSentinelKey()
		var err error
		if c.ikey, err = dbformat.ParseInternalKey(c.key, c.o.AllowDataInErrors); err != nil {
			c.stats.NumInputCorruptRecords++
			c.status = err
			return
		}
		if len(c.ikey.UserKey) < c.tsSize {
			c.stats.NumInputCorruptRecords++
			c.status = rocksdb.Corruption("user key is shorter than its timestamp")
			return
		}
		syncpoint.ProcessArg("CompactionIterator:ProcessKV", &c.ikey)
		if c.isRangeDel {
			c.setValid(validRangeDeletion)
			break
		}
		c.countInput()
		c.needSkip = false
		if !c.noteUserKey() {
			break
		}
		if !c.currentKeyCommitted {
			c.setValid(validCurrentKeyUncommitted)
			break
		}
		c.decide()
		if c.status != nil {
			return
		}
		if c.needSkip {
			c.input.Seek(c.skipUntil)
		}
	}
	if c.status == nil {
		switch {
		case !c.valid && c.isShuttingDown():
			c.status = rocksdb.ShutdownInProgress()
		case c.isPausingManualCompaction():
			c.status = rocksdb.ManualCompactionPaused()
		case !c.input.valid && rocksdb.IsCorruption(c.input.Status()):
			c.status = c.input.Status()
		}
	}
}

func (c *CompactionIterator) countInput() {
	switch c.ikey.Type {
	case dbformat.TypeDeletion, dbformat.TypeSingleDeletion, dbformat.TypeDeletionWithTimestamp:
		c.stats.NumInputDeletionRecords++
	case dbformat.TypeValuePreferredSeqno:
		c.stats.NumInputTimedPutRecords++
	}
	c.stats.TotalInputRawKeyBytes += uint64(len(c.key))
	c.stats.TotalInputRawValueBytes += uint64(len(c.value))
}

// noteUserKey makes currentKey a copy of the input's key and shows the filter
// the newest committed entry of each user key. It is false on an error.
func (c *CompactionIterator) noteUserKey() bool {
	same, sameTS := false, true
	if c.hasCurrentUserKey {
		same = c.sameUserKey(c.ikey.UserKey, c.currentUserKey)
		if c.tsSize > 0 {
			ts := dbformat.ExtractTimestampFromUserKey(c.ikey.UserKey, c.tsSize)
			sameTS = c.cmp.CompareTimestamp(ts, c.currTS) == 0
		}
	}
	if same && sameTS {
		// Only the footer differs.
		c.updateCurrentKey(c.ikey.Sequence, c.ikey.Type)
		if !c.currentKeyCommitted {
			c.currentKeyCommitted = c.keyCommitted(c.ikey.Sequence)
			return !c.currentKeyCommitted || c.invokeFilterIfNeeded()
		}
		return true
	}
	c.currentKey.SetInternalKey(c.key, true)
	c.key = c.currentKey.GetInternalKey()
	c.ikey.UserKey = c.currentKey.GetUserKey()

	prevCmp := 0
	low := c.o.FullHistoryTSLow
	if c.tsSize > 0 {
		if low != nil && len(c.currTS) > 0 {
			prevCmp = c.cmp.CompareTimestamp(c.currTS, low)
		}
		c.currTS = append(c.currTS[:0], dbformat.ExtractTimestampFromUserKey(c.ikey.UserKey, c.tsSize)...)
		if low != nil {
			c.cmpWithHistoryTSLow = c.cmp.CompareTimestamp(c.currTS, low)
		}
	}
	// Versions below FullHistoryTSLow, but for the newest of them, count as
	// older entries of one key; everything else begins a key of its own.
	if !c.hasCurrentUserKey || c.tsSize == 0 || low == nil || !same || c.cmpWithHistoryTSLow >= 0 || prevCmp >= 0 {
		c.currentUserKeySequence = dbformat.MaxSequenceNumber
		c.currentUserKeySnapshot = 0
		c.hasCurrentUserKey = true
	}
	c.currentUserKey = c.ikey.UserKey
	c.hasOutputtedKey = false
	c.lastKeySeqZeroed = false
	c.currentKeyCommitted = c.keyCommitted(c.ikey.Sequence)
	return !c.currentKeyCommitted || c.invokeFilterIfNeeded()
}

// decide drops the present entry or makes it the output. The input is moved on
// when it is dropped; when it moved although the entry stays, atNext is set.
func (c *CompactionIterator) decide() {
	lastSequence, lastSnapshot := c.currentUserKeySequence, c.currentUserKeySnapshot
	c.currentUserKeySequence = c.ikey.Sequence
	prevSnapshot := rocksdb.SequenceNumber(0) // 0: no older snapshot
	if c.visibleAtTip {
		c.currentUserKeySnapshot = c.earliestSnapshot
	} else {
		c.currentUserKeySnapshot, prevSnapshot = c.findEarliestVisibleSnapshot(c.ikey.Sequence)
	}
	t := c.ikey.Type
	isDeletion := t == dbformat.TypeDeletion || t == dbformat.TypeDeletionWithTimestamp && c.cmpWithHistoryTSLow < 0
	switch {
	case c.needSkip:
		// The caller seeks.
	case c.clearAndOutputNextKey:
		c.clearValue(lastSnapshot)
	case t == dbformat.TypeSingleDeletion:
		c.singleDeletion(prevSnapshot)
	case lastSequence != dbformat.MaxSequenceNumber && lastSnapshot <= c.currentUserKeySnapshot:
		// Rule (A): a newer entry of the key is seen by every snapshot that
		// sees this one.
		if lastSequence < c.currentUserKeySequence {
			c.fail(rocksdb.Corruptionf("key %s, last_sequence (%d) < current_user_key_sequence_ (%d)",
				c.ikey.DebugString(c.o.AllowDataInErrors, true), lastSequence, c.currentUserKeySequence))
			return
		}
		c.stats.NumRecordDropHidden++
		c.input.Next()
	case isDeletion && c.comp != nil && !c.allowIngestBehind && c.definitelyInSnapshot(c.ikey.Sequence, c.earliestSnapshot) &&
		c.comp.KeyNotExistsBeyondOutputLevel(c.ikey.UserKey, c.levelPtrs):
		// Nothing older exists below, and what is older here falls to rule (A).
		c.stats.NumRecordDropObsolete++
		if !c.bottommostLevel {
			c.stats.NumOptimizedDelDropObsolete++
		}
		c.input.Next()
	case isDeletion && c.bottommostLevel:
		c.bottommostDeletion(prevSnapshot)
	case t == dbformat.TypeValuePreferredSeqno && c.definitelyInSnapshot(c.ikey.Sequence, c.earliestSnapshot) &&
		(c.bottommostLevel || c.comp != nil && c.comp.KeyNotExistsBeyondOutputLevel(c.ikey.UserKey, c.levelPtrs)):
		c.swapPreferredSeqno()
	case t == dbformat.TypeMerge:
		c.mergeOperands(prevSnapshot)
	default:
		// A new user key, or an older entry that some snapshot sees. With
		// timestamps only versions below FullHistoryTSLow fall to range
		// tombstones.
		if (c.tsSize == 0 || c.cmpWithHistoryTSLow < 0) && c.shouldDelete(&c.ikey) {
			c.stats.NumRecordDropHidden++
			c.stats.NumRecordDropRangeDel++
			c.input.Next()
		} else {
			c.setValid(validNewUserKey)
		}
	}
}

func (c *CompactionIterator) shouldDelete(k *dbformat.ParsedInternalKey) bool {
	return c.o.RangeDelAgg != nil && c.o.RangeDelAgg.ShouldDelete(k, rangedel.ForwardTraversal)
}

// clearValue puts out the value under a kept single deletion, emptied.
func (c *CompactionIterator) clearValue(lastSnapshot rocksdb.SequenceNumber) {
	switch c.ikey.Type {
	case dbformat.TypeValue:
	case dbformat.TypeBlobIndex, dbformat.TypeWideColumnEntity, dbformat.TypeValuePreferredSeqno:
		c.updateCurrentKey(c.ikey.Sequence, dbformat.TypeValue)
	default:
		c.fail(rocksdb.Corruption("Unexpected key for compaction output",
			c.ikey.DebugString(c.o.AllowDataInErrors, true)))
		return
	}
	if c.currentUserKeySnapshot < lastSnapshot {
		c.fail(rocksdb.Corruptionf("key %s, current_user_key_snapshot_ (%d) < last_snapshot (%d)",
			c.ikey.DebugString(c.o.AllowDataInErrors, true), c.currentUserKeySnapshot, lastSnapshot))
		return
	}
	c.value = nil
	c.setValid(validKeepSDAndClearPut)
	c.clearAndOutputNextKey = false
}

const singleDelMismatchText = "Found SD and type: 0 on the same key, which breaks the contract of SingleDelete. " +
	"The application must not use both SingleDelete and Delete on one key. With write-prepared or write-unprepared " +
	"transactions and SingleDelete, TransactionDBOptions::rollback_deletion_type_callback has to be set. " +
	"The result of mixing them is undefined"

// singleDeletion handles a single deletion. It goes, together with the value
// under it, when
//
//  1. that value is here, or the key cannot exist below (and nothing can be
//     ingested there), and
//  2. an entry of this snapshot was already put out, or no older snapshot is
//     used to check write conflicts.
//
// If only 1 holds, the deletion stays and the value is put out empty. With
// timestamps both need the version to be below FullHistoryTSLow. A key with
// both single and other deletions or merges has no defined result; as much as
// possible is dropped and the case is counted.
func (c *CompactionIterator) singleDeletion(prevSnapshot rocksdb.SequenceNumber) {
	tsEligible := c.tsSize == 0 || c.o.FullHistoryTSLow != nil && c.cmpWithHistoryTSLow < 0
	c.input.Next()
	next, ok := c.nextOfSameKey()
	for ok && c.input.IsDeleteRangeSentinelKey() {
		c.input.Next() // not an entry
		next, ok = c.nextOfSameKey()
	}
	if !ok {
		c.lastSingleDeletion(tsEligible)
	} else if c.lastKeySeqZeroed {
		// Both are in the oldest snapshot, whose newest entry is out already.
		c.stats.NumRecordDropHidden++
		c.stats.NumRecordDropObsolete++
		c.input.Next()
	} else if prevSnapshot == 0 || c.definitelyNotInSnapshot(next.Sequence, prevSnapshot) {
		c.singleDeletionOver(&next, tsEligible)
	} else {
		// The value under it belongs to an older snapshot.
		c.setValid(validKeepSDForSnapshot)
	}
	if c.valid {
		c.atNext = true
	}
}

// nextOfSameKey parses the input's entry if its user key is the present one.
func (c *CompactionIterator) nextOfSameKey() (k dbformat.ParsedInternalKey, ok bool) {
	if !c.input.valid {
		return k, false
	}
	k, err := dbformat.ParseInternalKey(c.input.key, c.o.AllowDataInErrors)
	if err != nil || len(k.UserKey) < c.tsSize {
		return k, false // reported when its turn comes
	}
	return k, c.sameUserKey(c.ikey.UserKey, k.UserKey)
}

// singleDeletionOver handles a single deletion with next right under it in the
// same snapshot.
func (c *CompactionIterator) singleDeletionOver(next *dbformat.ParsedInternalKey, tsEligible bool) {
	conflictSnapshot := c.o.EarliestWriteConflictSnapshot
	switch {
	case next.Type == dbformat.TypeSingleDeletion:
		// Two in a row: drop this one, the next iteration handles the other.
		c.stats.NumRecordDropObsolete++
		c.stats.NumSingleDelMismatch++
	case next.Type == dbformat.TypeDeletion:
		c.stats.NumRecordDropObsolete++
		c.stats.NumSingleDelMismatch++
		if c.o.EnforceSingleDelContracts {
			logging.Error(c.o.InfoLog, "%s", singleDelMismatchText)
			c.fail(rocksdb.Corruption(singleDelMismatchText))
			return
		}
		logging.Warn(c.o.InfoLog, "%s", singleDelMismatchText)
	case !tsEligible:
		c.setValid(validKeepTsHistory)
	case c.hasOutputtedKey || c.definitelyInSnapshot(c.ikey.Sequence, conflictSnapshot) ||
		// A checker may no longer know about the first; then the second,
		// which implies it, may still be known.
		c.earliestSnapshot < conflictSnapshot && c.definitelyInSnapshot(c.ikey.Sequence, c.earliestSnapshot):
		switch next.Type {
		case dbformat.TypeValue, dbformat.TypeBlobIndex, dbformat.TypeWideColumnEntity, dbformat.TypeValuePreferredSeqno:
		default:
			c.stats.NumSingleDelMismatch++
		}
		c.stats.NumRecordDropHidden++
		c.stats.NumRecordDropObsolete++
		c.input.Next()
	default:
		c.setValid(validKeepSDForConflictCheck)
		c.clearAndOutputNextKey = true
		syncpoint.Process("CompactionIterator::NextFromInput:KeepSDForWW")
	}
}

// lastSingleDeletion handles a single deletion with nothing under it here.
func (c *CompactionIterator) lastSingleDeletion(tsEligible bool) {
	c.hasCurrentUserKey = false // the input is past the key already
	switch {
	case c.comp != nil && !c.allowIngestBehind && c.definitelyInSnapshot(c.ikey.Sequence, c.earliestSnapshot) &&
		c.comp.KeyNotExistsBeyondOutputLevel(c.ikey.UserKey, c.levelPtrs) && tsEligible:
		c.stats.NumRecordDropObsolete++
		c.stats.NumSingleDelFallthru++
		if !c.bottommostLevel {
			c.stats.NumOptimizedDelDropObsolete++
		}
	case c.lastKeySeqZeroed:
		c.stats.NumRecordDropHidden++
		c.stats.NumRecordDropObsolete++
	default:
		c.setValid(validKeepSD)
	}
}

// bottommostDeletion drops what the deletion hides; the deletion itself is
// needed only if an older snapshot sees an older entry.
func (c *CompactionIterator) bottommostDeletion(prevSnapshot rocksdb.SequenceNumber) {
	c.input.Next()
	for !c.isPausingManualCompaction() && !c.isShuttingDown() {
		next, ok := c.nextOfSameKey()
		if !ok {
			return
		}
		if prevSnapshot != 0 && !c.input.IsDeleteRangeSentinelKey() && !c.definitelyNotInSnapshot(next.Sequence, prevSnapshot) {
			break
		}
		c.input.Next()
	}
	if _, ok := c.nextOfSameKey(); ok {
		c.setValid(validKeepDel)
		c.atNext = true
	}
}

// swapPreferredSeqno turns a timed put into a plain value at its preferred
// sequence number. Older entries of the key are all hidden by it, so the order
// of the key's entries stays right.
func (c *CompactionIterator) swapPreferredSeqno() {
	value, preferred, ok := seqnotime.ParsePackedValueWithSeqno(c.value)
	if !ok {
		c.fail(rocksdb.Corruption("timed put's value is too short", c.ikey.DebugString(c.o.AllowDataInErrors, true)))
		return
	}
	if c.shouldDelete(&c.ikey) {
		c.stats.NumRecordDropHidden++
		c.stats.NumRecordDropRangeDel++
		c.input.Next()
		return
	}
	swapped := dbformat.ParsedInternalKey{UserKey: c.ikey.UserKey, Sequence: min(preferred, c.ikey.Sequence), Type: dbformat.TypeValue}
	if c.shouldDelete(&swapped) {
		c.setValid(validNewUserKey) // a tombstone would come to cover it
		return
	}
	seq := c.ikey.Sequence
	if seq != 0 {
		c.stats.NumTimedPutSwapPreferredSeqno++
		seq = preferred
	}
	c.updateCurrentKey(seq, dbformat.TypeValue)
	c.value = value
	c.setValid(validSwapPreferredSeqno)
}

// mergeOperands joins the operands that start here.
func (c *CompactionIterator) mergeOperands(prevSnapshot rocksdb.SequenceNumber) {
	if !c.merge.HasOperator() {
		c.fail(rocksdb.InvalidArgument("merge_operator is not properly initialized."))
		return
	}
	c.pinnedItersMgr.StartPinning()
	c.mergeUntilStatus = c.merge.MergeUntil(&c.input, c.o.RangeDelAgg, prevSnapshot, c.bottommostLevel,
		c.o.AllowDataInErrors, c.o.BlobFetcher, c.o.FullHistoryTSLow, &c.stats)
	c.mergeOut.SeekToFirst()
	switch {
	case c.mergeUntilStatus != nil && rocksdb.CodeOf(c.mergeUntilStatus) != rocksdb.CodeMergeInProgress:
		c.fail(c.mergeUntilStatus)
	case c.mergeOut.Valid():
		c.takeMergeOutput(validMerge2)
	default:
		// The filter removed all operands; they hide nothing.
		c.hasCurrentUserKey = false
		c.releasePinned()
		if until, ok := c.merge.FilteredUntil(); ok {
			c.needSkip, c.skipUntil = true, until
		}
	}
}

// findEarliestVisibleSnapshot gives the oldest snapshot that sees seq (the
// greatest sequence number for none) and the newest that does not (0 for none).
func (c *CompactionIterator) findEarliestVisibleSnapshot(seq rocksdb.SequenceNumber) (snapshot, prev rocksdb.SequenceNumber) {
	lo, hi := 0, len(c.snapshots)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if c.snapshots[mid] < seq {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo > 0 {
		prev = c.snapshots[lo-1]
	}
	if c.checker == nil {
		if lo < len(c.snapshots) {
			return c.snapshots[lo], prev
		}
		return dbformat.MaxSequenceNumber, prev
	}
	hasReleased := len(c.releasedSnapshots) > 0 // before this search, as upstream
	for ; lo < len(c.snapshots); lo++ {
		cur := c.snapshots[lo]
		if hasReleased {
			if _, ok := c.releasedSnapshots[cur]; ok {
				continue
			}
		}
		switch c.checker.CheckInSnapshot(seq, cur) {
		case dbformat.SnapshotCheckerInSnapshot:
			return cur, prev
		case dbformat.SnapshotCheckerSnapshotReleased:
			if c.releasedSnapshots == nil {
				c.releasedSnapshots = map[rocksdb.SequenceNumber]struct{}{}
			}
			c.releasedSnapshots[cur] = struct{}{}
		}
		prev = cur
	}
	return dbformat.MaxSequenceNumber, prev
}

// prepareOutput moves values to and between blob files, and zeroes sequence
// numbers that no snapshot needs, which compresses better.
func (c *CompactionIterator) prepareOutput() {
	if !c.valid || c.isRangeDel {
		return
	}
	switch c.ikey.Type {
	case dbformat.TypeValue:
		c.extractLargeValue()
	case dbformat.TypeBlobIndex:
		c.garbageCollectBlob()
	case dbformat.TypeWideColumnEntity:
		c.prepareEntity()
	}
	// Write-conflict checks only care about sequence numbers above every
	// snapshot, so zeroing is safe for them.
	if !c.valid || !c.bottommostLevel || c.ikey.Type == dbformat.TypeMerge || !c.currentKeyCommitted ||
		c.ikey.Sequence > c.preserveSeqnoAfter || !c.definitelyInSnapshot(c.ikey.Sequence, c.earliestSnapshot) {
		return
	}
	if c.ikey.Type == dbformat.TypeDeletion || c.ikey.Type == dbformat.TypeSingleDeletion && c.tsSize == 0 {
		c.fail(rocksdb.Corruptionf("Unexpected key %s for seq-zero optimization. earliest_snapshot %d, "+
			"earliest_write_conflict_snapshot %d job_snapshot %d. timestamp_size: %d full_history_ts_low_ %x. validity %x",
			c.ikey.DebugString(c.o.AllowDataInErrors, true), c.earliestSnapshot, c.o.EarliestWriteConflictSnapshot,
			c.o.JobSnapshot, c.tsSize, c.o.FullHistoryTSLow, uint8(c.context)<<1|1))
		return
	}
	if c.tsSize > 0 {
		if c.o.FullHistoryTSLow == nil || c.cmpWithHistoryTSLow >= 0 {
			return
		}
		// Below FullHistoryTSLow the timestamp has no meaning any more either.
		uk := c.currentKey.GetUserKey()
		copy(uk[len(uk)-c.tsSize:], c.zeroTS)
	}
	c.updateCurrentKey(0, c.ikey.Type)
	c.lastKeySeqZeroed = true
	syncpoint.ProcessArg("CompactionIterator::PrepareOutput:ZeroingSeq", &c.ikey)
}

// extractLargeValue moves the value to a blob file when it is large enough.
func (c *CompactionIterator) extractLargeValue() {
	if moved := c.addBlob(); moved {
		c.updateCurrentKey(c.ikey.Sequence, dbformat.TypeBlobIndex)
	}
}

func (c *CompactionIterator) addBlob() bool {
	if c.o.BlobFileBuilder == nil {
		return false
	}
	index, err := c.o.BlobFileBuilder.Add(c.UserKey(), c.value)
	if err != nil {
		c.fail(err)
		return false
	}
	if len(index) == 0 {
		return false
	}
	c.value = index
	return true
}

// garbageCollectBlob moves a value out of an old blob file.
func (c *CompactionIterator) garbageCollectBlob() {
	if c.comp == nil || c.o.BlobGarbageCollectionCutoffFileNumber == 0 {
		return
	}
	syncpoint.ProcessArg("CompactionIterator::GarbageCollectBlobIfNeeded::TamperWithBlobIndex", &c.value)
	var index blobformat.BlobIndex
	if err := index.DecodeFrom(c.value); err != nil {
		c.fail(err)
		return
	}
	if index.IsInlined() || index.HasTTL() {
		c.fail(rocksdb.Corruption("Unexpected TTL/inlined blob index"))
		return
	}
	if index.FileNumber >= c.o.BlobGarbageCollectionCutoffFileNumber {
		return
	}
	if !c.fetchBlob(&index) {
		return
	}
	c.stats.NumBlobsRelocated++
	c.stats.TotalBlobBytesRelocated += index.Size
	c.value = c.blobValue.Data()
	if !c.addBlob() && c.valid {
		c.updateCurrentKey(c.ikey.Sequence, dbformat.TypeValue)
	}
}

// fetchBlob reads what the present blob index refers to into blobValue.
func (c *CompactionIterator) fetchBlob(index *blobformat.BlobIndex) bool {
	c.blobValue.Release()
	if c.o.BlobFetcher == nil {
		c.fail(rocksdb.NotSupported("values in blob files where blobs cannot be read"))
		return false
	}
	n, err := c.o.BlobFetcher.FetchBlob(c.ikey.UserKey, index, &c.blobValue)
	if err != nil {
		c.fail(err)
		return false
	}
	c.stats.NumBlobsRead++
	c.stats.TotalBlobBytesRead += n
	return true
}

// invokeFilterIfNeeded shows the present entry to the filter and does what it
// decides. It is false on an error.
func (c *CompactionIterator) invokeFilterIfNeeded() bool {
	c.entity.parsed = false
	if c.filter == nil {
		return true
	}
	var start uint64
	if c.o.ReportDetailedTime {
		start = c.o.Clock.NowNanos()
	}
	var d rocksdb.CompactionFilterDecision
	var newValue, skipUntil []byte
	ok := true
	switch c.ikey.Type {
	case dbformat.TypeValue:
		d, newValue, skipUntil, ok = c.filterPlainValue(c.value)
	case dbformat.TypeBlobIndex:
		d, newValue, skipUntil, ok = c.filterBlob()
	case dbformat.TypeWideColumnEntity:
		d, newValue, skipUntil, ok = c.filterEntity()
	default:
		return true
	}
	if c.o.ReportDetailedTime {
		c.stats.TotalFilterTime += c.o.Clock.NowNanos() - start
	}
	return ok && c.applyFilterDecision(d, newValue, skipUntil)
}

// filterPlainValue shows the filter the present plain value, wherever it is
// stored.
func (c *CompactionIterator) filterPlainValue(value []byte) (d rocksdb.CompactionFilterDecision, newValue, skipUntil []byte, ok bool) {
	if c.filterV4 == nil {
		d, newValue, skipUntil = c.filter.FilterV3(c.level, c.ikey.UserKey, rocksdb.CompactionFilterValue, value)
		return d, newValue, skipUntil, true
	}
	d, newValue, newColumns, skipUntil := c.filterV4.FilterV4(c.level, c.ikey.UserKey, rocksdb.CompactionFilterValue, value, nil, nil)
	if d == rocksdb.FilterChangeWideColumnEntity {
		newValue, ok = c.newEntity(newColumns)
		return d, newValue, skipUntil, ok
	}
	return d, newValue, skipUntil, true
}

// filterBlob asks the filter about a plain value that is in a blob file: by the
// key where the filter can tell from it, by the value else.
func (c *CompactionIterator) filterBlob() (d rocksdb.CompactionFilterDecision, newValue, skipUntil []byte, ok bool) {
	if c.filterBlobByKey != nil {
		d, newValue, skipUntil = c.filterBlobByKey.FilterBlobByKey(c.level, c.ikey.UserKey)
		if d != rocksdb.FilterUndetermined {
			return d, newValue, skipUntil, true
		}
	}
	syncpoint.ProcessArg("CompactionIterator::InvokeFilterIfNeeded::TamperWithBlobIndex", &c.value)
	var index blobformat.BlobIndex
	err := index.DecodeFrom(c.value)
	if err == nil && index.IsInlined() {
		err = rocksdb.Corruption("Unexpected TTL/inlined blob index")
	}
	if err != nil {
		c.fail(err)
		return 0, nil, nil, false
	}
	if !c.fetchBlob(&index) {
		return 0, nil, nil, false
	}
	return c.filterPlainValue(c.blobValue.Data())
}

func (c *CompactionIterator) applyFilterDecision(d rocksdb.CompactionFilterDecision, newValue, skipUntil []byte) bool {
	switch d {
	case rocksdb.FilterKeep:
	case rocksdb.FilterRemove:
		c.updateCurrentKey(c.ikey.Sequence, dbformat.TypeDeletion)
		c.value = nil
		c.stats.NumRecordDropUser++
	case rocksdb.FilterPurge:
		c.updateCurrentKey(c.ikey.Sequence, dbformat.TypeSingleDeletion)
		c.value = nil
		c.stats.NumRecordDropUser++
	case rocksdb.FilterChangeValue, rocksdb.FilterChangeWideColumnEntity:
		if uint64(len(newValue)) > math.MaxUint32 {
			c.fail(rocksdb.Corruption("CompactionFilter result value size exceeds 4GB limit"))
			return false
		}
		t := dbformat.TypeValue
		if d == rocksdb.FilterChangeWideColumnEntity {
			t = dbformat.TypeWideColumnEntity
		}
		c.updateCurrentKey(c.ikey.Sequence, t)
		c.filterValue = append(c.filterValue[:0], newValue...)
		c.value = c.filterValue
	case rocksdb.FilterRemoveAndSkipUntil:
		if c.icmp.CompareUserKey(skipUntil, c.ikey.UserKey) <= 0 {
			return true // not forward: the key is kept
		}
		c.skipBuf = dbformat.AppendInternalKey(c.skipBuf[:0], skipUntil, dbformat.MaxSequenceNumber, dbformat.ValueTypeForSeek)
		c.needSkip, c.skipUntil = true, c.skipBuf
	case rocksdb.FilterChangeBlobIndex:
		c.fail(rocksdb.NotSupported("Only stacked BlobDB's internal compaction filter can return kChangeBlobIndex."))
		return false
	case rocksdb.FilterIOError:
		c.fail(rocksdb.NotSupported("CompactionFilter for integrated BlobDB should not return kIOError"))
		return false
	default:
		c.fail(rocksdb.NotSupported("FilterV2/V3/V4 should never return kUndetermined"))
		return false
	}
	return true
}

// sequenceIterWrapper counts the entries that a compaction reads, and keeps
// validity and key at hand. All moves go through it.
type sequenceIterWrapper struct {
	internaliter.InternalIterator
	icmp      *dbformat.InternalKeyComparator
	key       []byte
	valid     bool
	countAll  bool // count what a Seek passes over
	skipped   bool // a Seek passed over entries uncounted
	numItered uint64
	res       internaliter.IterateResult
}

func (w *sequenceIterWrapper) init(it internaliter.InternalIterator, icmp *dbformat.InternalKeyComparator, countAll bool) {
	w.InternalIterator, w.icmp, w.countAll = it, icmp, countAll
}

// refresh looks at where the iterator stands.
func (w *sequenceIterWrapper) refresh() {
	if w.valid = w.InternalIterator.Valid(); w.valid {
		w.key = w.InternalIterator.Key()
	}
}

func (w *sequenceIterWrapper) Valid() bool { return w.valid }

func (w *sequenceIterWrapper) Key() []byte { return w.key }

func (w *sequenceIterWrapper) Next() {
	if !w.InternalIterator.IsDeleteRangeSentinelKey() {
		w.numItered++
	}
	if w.valid = w.InternalIterator.NextAndGetResult(&w.res); w.valid {
		w.key = w.res.Key
	}
}

func (w *sequenceIterWrapper) Seek(target []byte) {
	if !w.countAll {
		w.skipped = true
		w.InternalIterator.Seek(target)
		w.refresh()
		return
	}
	for w.valid && w.icmp.Compare(w.key, target) < 0 {
		w.Next()
	}
}
