// Port of table/block_based/block_based_table_iterator.{h,cc}; multi-scans are in
// multi_scan.go, asynchronous seeks and the trimming of readahead in
// block_based_table_iterator_ahead.go.

package blockbased

import (
	"sync"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/internal/invariants"
	"github.com/rocksdb-go/rocksdb/monitoring"
	"github.com/rocksdb-go/rocksdb/table/block_based/block"
	"github.com/rocksdb-go/rocksdb/table/format"
	"github.com/rocksdb-go/rocksdb/table/internaliter"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

// blockUpperBound is what is known of the upper bound and the current block.
type blockUpperBound uint8

const (
	upperBoundUnknown blockUpperBound = iota
	upperBoundInCurBlock
	upperBoundBeyondCurBlock
)

// BlockBasedTableIterator walks a table's point entries: an iterator over the
// index, and one over the data block the index stands on.
//
// It is in one of three positions: without a block (not valid); on an entry of
// the data block (haveBlock); or on the first key of a block that is not read
// yet (atFirstKey), which it knows from the index and where only the value is
// missing.
type BlockBasedTableIterator struct {
	tableIterState
	// What keeps its buffers when the iterator is used again.
	data         block.DataBlockIter
	indexScratch indexScratch
}

// tableIterState is what an iterator forgets when it is closed.
type tableIterState struct {
	internaliter.Base
	t               *BlockBasedTable
	ro              *rocksdb.ReadOptions
	icmp            *dbformat.InternalKeyComparator
	index           internaliter.InternalIndexIterator
	rc              readContext
	pinnedMgr       *internaliter.PinnedIteratorsManager
	prefixExtractor rocksdb.SliceTransform
	prefetcher      blockPrefetcher
	prevBlockOffset uint64
	scan            *scanBlocks // after Prepare
	ahead           *indexAhead // of readahead that is trimmed; made when first needed

	upper            []byte // the upper bound, nil for none
	blockUpper       blockUpperBound
	haveBlock        bool
	outOfBound       bool
	atFirstKey       bool
	allowUnprepared  bool
	checkFilter      bool
	needUpperBoundOK bool // filters need the upper bound to share the prefix
	lastLevel        bool // the table is in it; for statistics
	seekPending      bool // SeekAsync has begun to read the block index stands on
	trimAhead        bool // readahead is trimmed: since a seek forward
	seekStat         seekStatState
}

// seekStatState is what statistics have to know of the last seek.
type seekStatState uint8

const (
	seekFilterUsed     seekStatState = 1 << iota // a filter let it pass
	seekBlockRead                                // a data block was read, and counted
	seekReportOnUseful                           // count it once Value is called
)

// countSeek counts one of the tickers that the two kinds of levels have.
func (it *BlockBasedTableIterator) countSeek(last, nonLast rocksdb.Ticker) {
	if !it.lastLevel {
		last = nonLast
	}
	monitoring.RecordTick(it.t.ioptions.Stats, last, 1)
}

func (it *BlockBasedTableIterator) countUseful() {
	if it.seekStat&seekFilterUsed != 0 {
		it.countSeek(rocksdb.LastLevelSeekDataUsefulFilterMatch, rocksdb.NonLastLevelSeekDataUsefulFilterMatch)
	} else {
		it.countSeek(rocksdb.LastLevelSeekDataUsefulNoFilter, rocksdb.NonLastLevelSeekDataUsefulNoFilter)
	}
	it.seekStat = seekBlockRead
}

// NewIterator implements table.TableReader.
func (t *BlockBasedTable) NewIterator(ro *rocksdb.ReadOptions, prefixExtractor rocksdb.SliceTransform, skipFilters bool,
	caller rocksdb.TableReaderCaller, compactionReadaheadSize uint64, allowUnpreparedValue bool) internaliter.InternalIterator {
	it := tableIterators.Get().(*BlockBasedTableIterator)
	it.t, it.ro, it.icmp, it.prefixExtractor, it.allowUnprepared = t, ro, t.icmp, prefixExtractor, allowUnpreparedValue
	it.upper, it.prevBlockOffset = ro.IterateUpperBound, noOffset
	it.lastLevel = t.level == t.ioptions.NumLevels-1
	it.needUpperBoundOK = ro.AutoPrefixMode || t.prefixExtractorChanged(prefixExtractor)
	it.checkFilter = !skipFilters && t.filter != nil && prefixExtractor != nil &&
		(!ro.TotalOrderSeek || ro.AutoPrefixMode || ro.PrefixSameAsStart)
	it.rc = t.scanContext(ro)
	it.rc.caller, it.rc.forCompaction = caller, caller == rocksdb.CallerCompaction
	it.prefetcher.init(t, ro, it.rc.forCompaction, compactionReadaheadSize)
	it.prefetcher.readahead, it.prefetcher.async = int(ro.ReadaheadSize), ro.AsyncIO
	if it.canTrimReadahead() {
		it.prefetcher.trim = it.trimReadahead
	}
	totalOrder := ro.TotalOrderSeek || it.needUpperBoundOK && t.indexType == rocksdb.HashSearch
	it.index = t.newIndexIterator(&it.rc, totalOrder, &it.indexScratch)
	if t.blobs != nil && caller != rocksdb.CallerSSTDumpTool {
		// Which entries are blobs is in the data blocks, so they are read.
		it.allowUnprepared = false
		return &embeddedBlobIterator{BlockBasedTableIterator: it, eager: !allowUnpreparedValue}
	}
	return it
}

// tableIterators are closed iterators; a database iterator makes one for each
// table of level 0 and each level.
var tableIterators = sync.Pool{New: func() any { return new(BlockBasedTableIterator) }}

// recycle forgets everything but buffers. A closed iterator must not be used
// any more; with invariants that panics, as it has no table.
func (it *BlockBasedTableIterator) recycle() {
	it.data.Recycle()
	it.indexScratch.block.Recycle()
	it.indexScratch.partitioned = nil
	it.tableIterState = tableIterState{}
	if !invariants.Enabled {
		tableIterators.Put(it)
	}
}

// Close gives the blocks back.
func (it *BlockBasedTableIterator) Close() error {
	err := it.Status()
	it.resetDataIter()
	if it.scan != nil {
		it.closeScan()
	}
	_ = it.index.Close() // its status is in err
	it.prefetcher.close()
	if it.ahead != nil {
		it.ahead.close()
	}
	it.recycle()
	return err
}

// Valid tells whether the iterator stands on an entry within the upper bound.
func (it *BlockBasedTableIterator) Valid() bool {
	return !it.outOfBound && (it.atFirstKey || it.haveBlock && it.data.Valid())
}

// Status names file and offset of a corruption.
func (it *BlockBasedTableIterator) Status() error {
	// NotFound is a hash index's way to say that the prefix is not there.
	if err := it.index.Status(); err != nil && !rocksdb.IsNotFound(err) {
		return it.t.located(err, it.t.indexHandle)
	}
	if it.haveBlock {
		if err := it.data.Status(); err != nil {
			return it.t.located(err, format.BlockHandle{Offset: it.prevBlockOffset})
		}
	}
	return nil
}

// Key is the entry's internal key.
func (it *BlockBasedTableIterator) Key() []byte {
	if it.atFirstKey {
		return it.index.Value().FirstInternalKey
	}
	return it.data.Key()
}

// UserKey is Key without sequence number and type.
func (it *BlockBasedTableIterator) UserKey() []byte {
	if it.atFirstKey {
		return internaliter.ExtractUserKey(it.index.Value().FirstInternalKey)
	}
	return it.data.UserKey()
}

// Value needs PrepareValue first where values may be unread.
func (it *BlockBasedTableIterator) Value() []byte {
	if it.atFirstKey && !it.materialize() {
		return nil
	}
	if it.seekStat&seekReportOnUseful != 0 {
		it.countUseful()
	}
	return it.data.Value()
}

// PrepareValue reads the block of a key known from the index.
func (it *BlockBasedTableIterator) PrepareValue() bool { return !it.atFirstKey || it.materialize() }

// MayBeOutOfLowerBound is true: blocks are not cut at the lower bound.
func (it *BlockBasedTableIterator) MayBeOutOfLowerBound() bool { return true }

// UpperBoundCheckResult tells what is known of the present entry, or, where the
// iterator is not valid, whether the bound ended it.
func (it *BlockBasedTableIterator) UpperBoundCheckResult() internaliter.IterBoundCheck {
	switch {
	case it.outOfBound:
		return internaliter.OutOfBound
	case it.blockUpper == upperBoundBeyondCurBlock:
		return internaliter.Inbound
	}
	return internaliter.BoundUnknown
}

// SetPinnedItersMgr takes the manager that keeps blocks alive.
func (it *BlockBasedTableIterator) SetPinnedItersMgr(mgr *internaliter.PinnedIteratorsManager) {
	it.pinnedMgr = mgr
}

// IsKeyPinned is true where keys are whole in blocks that the manager keeps.
func (it *BlockBasedTableIterator) IsKeyPinned() bool {
	return it.pinnedMgr.PinningEnabled() && it.haveBlock && !it.atFirstKey && it.data.IsKeyPinned()
}

// IsValuePinned is true where the manager keeps blocks.
func (it *BlockBasedTableIterator) IsValuePinned() bool {
	return it.pinnedMgr.PinningEnabled() && it.haveBlock && !it.atFirstKey && it.data.IsValuePinned()
}

func (it *BlockBasedTableIterator) resetDataIter() {
	if it.haveBlock {
		if it.pinnedMgr.PinningEnabled() {
			if r := block.Pin(it.data.Entry()); r != nil {
				it.pinnedMgr.PinReleaser(r)
			}
		}
		it.data.Invalidate(nil)
		it.haveBlock = false
	}
	it.blockUpper = upperBoundUnknown
}

// initDataBlock sets data on the block the index stands on.
func (it *BlockBasedTableIterator) initDataBlock() {
	h := it.index.Value().Handle
	if it.haveBlock && h.Offset == it.prevBlockOffset && !rocksdb.IsIncomplete(it.data.Status()) {
		return
	}
	it.resetDataIter()
	if it.scan == nil || !it.initScanBlock(h) {
		it.rc.prefetch = it.prefetcher.prefetchIfNeeded(h, false)
		it.t.newDataBlockIterator(&it.rc, h, block.TypeData, &it.data)
		it.rc.prefetch = nil // it is for data blocks, not for the index and the filter
	}
	it.haveBlock, it.prevBlockOffset = true, h.Offset
	it.checkDataBlockWithinUpperBound()
	if !it.rc.forCompaction && it.seekStat&seekBlockRead == 0 {
		it.countSeek(rocksdb.LastLevelSeekData, rocksdb.NonLastLevelSeekData)
		it.seekStat |= seekBlockRead | seekReportOnUseful
	}
}

// materialize reads the block whose first key the iterator stands on.
func (it *BlockBasedTableIterator) materialize() bool {
	first := it.index.Value().FirstInternalKey
	it.atFirstKey = false
	it.initDataBlock()
	it.data.SeekToFirst()
	if it.data.Status() != nil {
		return false
	}
	if !it.data.Valid() || it.icmp.Compare(it.data.Key(), first) != 0 {
		it.data.Invalidate(it.t.corrupt("first key in index doesn't match first key in block", it.index.Value().Handle))
		return false
	}
	return true
}

// checkPrefixMayMatch asks the filter; on false the iterator is not valid.
func (it *BlockBasedTableIterator) checkPrefixMayMatch(ikey []byte, forward bool) bool {
	if !it.checkFilter || it.needUpperBoundOK && !forward {
		// Backward, the upper bound does not tell enough.
		return true
	}
	may, checked := it.t.prefixRangeMayMatch(&it.rc, ikey, it.prefixExtractor, it.needUpperBoundOK)
	if !may {
		it.resetDataIter()
		it.countSeek(rocksdb.LastLevelSeekFiltered, rocksdb.NonLastLevelSeekFiltered)
		return false
	}
	if checked {
		it.seekStat = seekFilterUsed
		it.countSeek(rocksdb.LastLevelSeekFilterMatch, rocksdb.NonLastLevelSeekFilterMatch)
	}
	return true
}

// SeekToFirst goes to the first entry.
func (it *BlockBasedTableIterator) SeekToFirst() { it.seek(nil) }

// Seek goes to the first entry at or after target.
func (it *BlockBasedTableIterator) Seek(target []byte) { it.seek(target) }

// begin starts a seek. The bound may be another than at the last one: a
// multi-scan's ranges have one each.
func (it *BlockBasedTableIterator) begin() {
	it.upper = it.ro.IterateUpperBound
	it.outOfBound, it.atFirstKey, it.seekStat = false, false, 0
	it.seekPending, it.trimAhead = false, false
}

func (it *BlockBasedTableIterator) seek(target []byte) {
	if it.seekPending {
		it.seekPending = false
		if target != nil {
			it.seekBlock(target, false)
			return
		}
	}
	if sameBlock, ok := it.seekIndex(target); ok {
		it.seekBlock(target, sameBlock)
	}
}

// seekIndex asks the filter and moves the index; sameBlock: to the block that
// data is on. Without ok there is nothing.
func (it *BlockBasedTableIterator) seekIndex(target []byte) (sameBlock, ok bool) {
	it.begin()
	it.beginTrim(target)
	if target != nil && !it.checkPrefixMayMatch(target, true) {
		return false, false
	}
	prev := uint64(noOffset)
	if it.haveBlock && it.data.Valid() && it.index.Valid() {
		prev = it.prevBlockOffset
	}
	if prev == noOffset || target == nil || !it.targetInBlock(target) {
		if target != nil {
			it.index.Seek(target)
		} else {
			it.index.SeekToFirst()
		}
		if !it.index.Valid() {
			it.resetDataIter()
			return false, false
		}
	}
	return it.haveBlock && it.index.Value().Handle.Offset == prev, true
}

// startsAtFirstKey tells whether a seek ends on the first key of the block, which
// the index knows, so that the block need not be read yet.
func (it *BlockBasedTableIterator) startsAtFirstKey(target []byte, sameBlock bool) bool {
	if sameBlock || !it.allowUnprepared {
		return false
	}
	first := it.index.Value().FirstInternalKey
	return len(first) >= dbformat.NumInternalBytes && (target == nil || it.icmp.Compare(target, first) <= 0)
}

// seekBlock seeks in the block that the index stands on.
func (it *BlockBasedTableIterator) seekBlock(target []byte, sameBlock bool) {
	if it.startsAtFirstKey(target, sameBlock) {
		it.resetDataIter()
		it.atFirstKey = true
	} else {
		if !sameBlock {
			it.initDataBlock()
		} else {
			it.checkDataBlockWithinUpperBound() // the bound may be another
		}
		if target != nil {
			it.data.Seek(target)
		} else {
			it.data.SeekToFirst()
		}
		it.findKeyForward()
	}
	it.checkOutOfBound()
}

// targetInBlock tells whether target lies between the present entry and the
// block's end, so that the index need not be sought.
func (it *BlockBasedTableIterator) targetInBlock(target []byte) bool {
	user := dbformat.ExtractUserKey(target)
	if it.icmp.CompareUserKey(user, it.data.UserKey()) <= 0 || it.icmp.CompareUserKey(user, it.index.UserKey()) >= 0 {
		return false
	}
	s, ok := it.index.(*scanIndex)
	return !ok || s.stays(target)
}

// SeekForPrev goes to the last entry at or before target. The index is sought
// forward: target most likely lies in that block, not in the one before.
func (it *BlockBasedTableIterator) SeekForPrev(target []byte) {
	it.begin()
	if !it.checkPrefixMayMatch(target, false) {
		return
	}
	it.index.Seek(target)
	if !it.index.Valid() {
		if it.index.Status() != nil {
			// An error, or no block has the prefix.
			it.resetDataIter()
			return
		}
		it.index.SeekToLast()
		if !it.index.Valid() {
			it.resetDataIter()
			return
		}
	}
	it.initDataBlock()
	it.data.SeekForPrev(target)
	it.findKeyBackward()
	it.checkDataBlockWithinUpperBound()
}

// SeekToLast goes to the last entry.
func (it *BlockBasedTableIterator) SeekToLast() {
	it.begin()
	it.index.SeekToLast()
	if !it.index.Valid() {
		it.resetDataIter()
		return
	}
	it.initDataBlock()
	it.data.SeekToLast()
	it.findKeyBackward()
	it.checkDataBlockWithinUpperBound()
}

// Next goes to the next entry.
func (it *BlockBasedTableIterator) Next() {
	if it.atFirstKey && !it.materialize() {
		return
	}
	it.data.Next()
	entered := !it.data.Valid()
	if entered {
		it.findKeyForward()
	}
	if it.upper != nil {
		it.checkOutOfBound()
		if entered && it.scan != nil {
			it.countUselessBlock()
		}
	}
}

// NextAndGetResult goes to the next entry.
func (it *BlockBasedTableIterator) NextAndGetResult(res *internaliter.IterateResult) bool {
	it.Next()
	if !it.Valid() {
		res.BoundCheckResult = it.UpperBoundCheckResult()
		return false
	}
	res.Key = it.Key()
	res.BoundCheckResult = it.UpperBoundCheckResult()
	res.ValuePrepared = !it.atFirstKey
	return true
}

// Prev goes to the entry before.
func (it *BlockBasedTableIterator) Prev() {
	it.trimAhead = false
	if it.atFirstKey {
		it.atFirstKey = false
		it.index.Prev()
		if !it.index.Valid() {
			return
		}
		it.initDataBlock()
		it.data.SeekToLast()
	} else {
		it.data.Prev()
	}
	it.findKeyBackward()
}

// findKeyForward goes on to the next block that has an entry.
func (it *BlockBasedTableIterator) findKeyForward() {
	for !it.data.Valid() {
		if it.data.Status() != nil {
			return
		}
		lastWithinBound := it.upper != nil && it.haveBlock && it.blockUpper == upperBoundInCurBlock
		it.resetDataIter()
		it.index.Next()
		if !it.index.Valid() {
			return
		}
		if lastWithinBound {
			// There are blocks behind, so that the bound is known to lie in
			// this file; reading them is needless.
			it.outOfBound = true
			syncpoint.Process("BlockBasedTableIterator:out_of_bound")
			return
		}
		v := it.index.Value()
		if it.allowUnprepared && len(v.FirstInternalKey) >= dbformat.NumInternalBytes {
			it.atFirstKey = true
			return
		}
		it.initDataBlock()
		it.data.SeekToFirst()
	}
}

func (it *BlockBasedTableIterator) findKeyBackward() {
	for !it.data.Valid() {
		if it.data.Status() != nil {
			return
		}
		it.resetDataIter()
		it.index.Prev()
		if !it.index.Valid() {
			return
		}
		it.initDataBlock()
		it.data.SeekToLast()
	}
}

func (it *BlockBasedTableIterator) checkOutOfBound() {
	if it.upper != nil && it.blockUpper != upperBoundBeyondCurBlock && it.Valid() {
		it.outOfBound = it.icmp.UserComparator().CompareWithoutTimestamp(it.upper, false, it.UserKey(), true) <= 0
	}
}

func (it *BlockBasedTableIterator) checkDataBlockWithinUpperBound() {
	if it.upper == nil || !it.haveBlock || !it.index.Valid() {
		return
	}
	it.blockUpper = upperBoundInCurBlock
	if it.icmp.UserComparator().CompareWithoutTimestamp(it.upper, false, it.index.UserKey(), true) > 0 {
		it.blockUpper = upperBoundBeyondCurBlock
	}
}

// GetReadaheadState hands the readahead on to the next file's iterator.
func (it *BlockBasedTableIterator) GetReadaheadState(info *internaliter.ReadaheadFileInfo) {
	info.DataBlock = it.prefetcher.readaheadState()
	it.index.GetReadaheadState(info)
}

// SetReadaheadState takes it over from the file before.
func (it *BlockBasedTableIterator) SetReadaheadState(info *internaliter.ReadaheadFileInfo) {
	it.prefetcher.setReadaheadState(info.DataBlock)
	it.index.SetReadaheadState(info)
}

// prefixRangeMayMatch asks the filter whether keys from ikey on, with its
// prefix, may be in the file. needUpperBound: the configured extractor is not
// the file's, so that the filter helps only when all keys up to the bound share
// the file's prefix.
func (t *BlockBasedTable) prefixRangeMayMatch(rc *readContext, ikey []byte, configured rocksdb.SliceTransform, needUpperBound bool) (may, checked bool) {
	extractor := t.tableExtractor
	if extractor == nil {
		if needUpperBound {
			return true, false
		}
		extractor = configured
	}
	key := dbformat.ExtractUserKeyAndStripTimestamp(ikey, t.icmp.TimestampSize())
	if extractor == nil || !extractor.InDomain(key) {
		return true, false
	}
	prefix := extractor.Transform(key)
	if needUpperBound && !t.filterCompatible(rc.ro.IterateUpperBound, prefix) {
		return true, false
	}
	return t.filter.mayMatch(rc, prefix, ikey), true
}

// filterCompatible tells whether all keys from one with that prefix up to the
// bound share the prefix.
func (t *BlockBasedTable) filterCompatible(upper, prefix []byte) bool {
	e := t.tableExtractor
	if !t.prefixFiltering || upper == nil || e == nil || !e.InDomain(upper) {
		return false
	}
	ucmp := t.icmp.UserComparator()
	if ucmp.CompareWithoutTimestamp(prefix, false, e.Transform(upper), false) == 0 {
		return true
	}
	n, full := e.FullLengthEnabled()
	return full && len(upper) == n && ucmp.IsSameLengthImmediateSuccessor(prefix, upper)
}
