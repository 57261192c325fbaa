// Port of table/block_based/block_based_table_iterator.{h,cc} and
// block_prefetcher.{h,cc}; multi-scans are in multi_scan.go. Differs: no
// asynchronous readahead and no trimming of it by the cache's contents yet.

package blockbased

import (
	"sync"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/file"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/internal/invariants"
	"github.com/rocksdb-go/rocksdb/monitoring"
	"github.com/rocksdb-go/rocksdb/table"
	"github.com/rocksdb-go/rocksdb/table/block_based/block"
	"github.com/rocksdb-go/rocksdb/table/format"
	"github.com/rocksdb-go/rocksdb/table/internaliter"
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
	internaliter.Base
	t               *BlockBasedTable
	ro              *rocksdb.ReadOptions
	icmp            *dbformat.InternalKeyComparator
	index           internaliter.InternalIndexIterator
	indexScratch    indexScratch
	data            block.DataBlockIter
	rc              readContext
	pinnedMgr       *internaliter.PinnedIteratorsManager
	prefixExtractor rocksdb.SliceTransform
	prefetcher      blockPrefetcher
	prevBlockOffset uint64
	scan            *scanBlocks // after Prepare

	upper            []byte // the upper bound, nil for none
	blockUpper       blockUpperBound
	haveBlock        bool
	outOfBound       bool
	atFirstKey       bool
	allowUnprepared  bool
	checkFilter      bool
	needUpperBoundOK bool // filters need the upper bound to share the prefix
	lastLevel        bool // the table is in it; for statistics
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
	it.rc = readContext{ro: ro, forCompaction: caller == rocksdb.CallerCompaction}
	it.prefetcher.init(t, ro, it.rc.forCompaction, compactionReadaheadSize)
	totalOrder := ro.TotalOrderSeek || it.needUpperBoundOK && t.indexType == rocksdb.HashSearch
	it.index = t.newIndexIterator(&it.rc, totalOrder, &it.indexScratch)
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
	data, scratch := it.data, it.indexScratch.block
	*it = BlockBasedTableIterator{data: data}
	it.indexScratch.block = scratch
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
		it.rc.prefetch = it.prefetcher.prefetchIfNeeded(h)
		it.t.newDataBlockIterator(&it.rc, h, block.TypeData, &it.data)
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
}

func (it *BlockBasedTableIterator) seek(target []byte) {
	it.begin()
	if target != nil && !it.checkPrefixMayMatch(target, true) {
		return
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
			return
		}
	}
	v := it.index.Value()
	sameBlock := it.haveBlock && v.Handle.Offset == prev
	if len(v.FirstInternalKey) >= dbformat.NumInternalBytes && !sameBlock && it.allowUnprepared &&
		(target == nil || it.icmp.Compare(target, v.FirstInternalKey) <= 0) {
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
	return it.icmp.CompareUserKey(user, it.data.UserKey()) > 0 &&
		it.icmp.CompareUserKey(user, it.index.UserKey()) < 0
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
	if b := it.prefetcher.buffer; b != nil && it.ro.AdaptiveReadahead {
		s := b.GetReadaheadState()
		info.DataBlock = internaliter.ReadaheadInfo{ReadaheadSize: s.ReadaheadSize, NumFileReads: int64(s.NumFileReads)}
	}
}

// SetReadaheadState takes it over from the file before.
func (it *BlockBasedTableIterator) SetReadaheadState(info *internaliter.ReadaheadFileInfo) {
	if it.ro.AdaptiveReadahead && info.DataBlock.ReadaheadSize > 0 {
		it.prefetcher.numFileReads = uint64(info.DataBlock.NumFileReads)
		it.prefetcher.initial = info.DataBlock.ReadaheadSize
	}
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

// blockPrefetcher decides when an iterator reads ahead: always in compactions
// and where ReadOptions say how much, else after a few sequential reads.
type blockPrefetcher struct {
	t             *BlockBasedTable
	ro            *rocksdb.ReadOptions
	forCompaction bool
	compaction    int // readahead of compactions, bytes
	initial       int
	size          int    // of the next readahead by the file system
	limit         uint64 // up to where the file system has read ahead
	numFileReads  uint64
	prevOffset    uint64
	prevLen       int
	buffer        *file.FilePrefetchBuffer
}

func (p *blockPrefetcher) init(t *BlockBasedTable, ro *rocksdb.ReadOptions, forCompaction bool, compactionReadahead uint64) {
	p.t, p.ro, p.forCompaction, p.compaction = t, ro, forCompaction, int(compactionReadahead)
	p.initial = int(t.opts.InitialAutoReadaheadSize)
	p.size = p.initial
}

func (p *blockPrefetcher) close() {
	if p.buffer != nil {
		p.buffer.Close()
		p.buffer = nil
	}
}

// usable gives the buffer as an interface, nil when there is none.
func (p *blockPrefetcher) usable() table.PrefetchBuffer {
	if p.buffer == nil {
		return nil
	}
	return p.buffer
}

func (p *blockPrefetcher) create(params file.ReadaheadParams, usage file.FilePrefetchBufferUsage) {
	if p.buffer == nil {
		params.NumBuffers = 1
		p.buffer = file.NewFilePrefetchBuffer(&file.PrefetchBufferOptions{
			ReadaheadParams: params, Disable: p.t.ioptions.AllowMmapReads, Stats: p.t.ioptions.Stats, Usage: usage,
		})
	}
}

// prefetchIfNeeded is called before each block is read; it gives the buffer to
// read through, if there is one.
func (p *blockPrefetcher) prefetchIfNeeded(h format.BlockHandle) table.PrefetchBuffer {
	if p.ro.ReadTier == rocksdb.BlockCacheTier {
		return nil
	}
	if p.buffer != nil {
		return p.buffer
	}
	n := int(h.Size) + format.BlockTrailerSize
	switch {
	case p.forCompaction:
		p.prefetchCompaction(h.Offset, n)
	case p.ro.ReadaheadSize > 0:
		size := int(p.ro.ReadaheadSize)
		p.create(file.ReadaheadParams{InitialReadaheadSize: size, MaxReadaheadSize: size}, file.UserScanPrefetch)
	default:
		p.prefetchImplicit(h.Offset, n)
	}
	return p.usable()
}

func (p *blockPrefetcher) prefetchCompaction(offset uint64, n int) {
	if p.compaction <= 0 {
		return
	}
	if !p.t.file.UseDirectIO() && p.t.fsPrefetch {
		if offset+uint64(n) <= p.limit {
			return
		}
		if handled := p.fsPrefetch(offset, n, p.compaction); handled {
			return
		}
	}
	p.create(file.ReadaheadParams{InitialReadaheadSize: p.compaction, MaxReadaheadSize: p.compaction}, file.CompactionPrefetch)
}

// fsPrefetch lets the file system read ahead; false when it cannot.
func (p *blockPrefetcher) fsPrefetch(offset uint64, n, ahead int) bool {
	var opts rocksdb.IOOptions
	if p.t.file.PrepareIOOptions(p.ro, &opts) != nil {
		return true // the read itself will tell
	}
	err := p.t.file.Prefetch(&opts, offset, n+ahead)
	if err == nil {
		p.limit = offset + uint64(n+ahead)
	}
	return !rocksdb.IsNotSupported(err)
}

func (p *blockPrefetcher) prefetchImplicit(offset uint64, n int) {
	most := int(p.t.opts.MaxAutoReadaheadSize)
	if most == 0 || p.initial == 0 {
		return
	}
	p.initial = min(p.initial, most)
	sequential := p.prevLen == 0 || p.prevOffset+uint64(p.prevLen) == offset
	ahead := offset+uint64(n) <= p.limit
	p.prevOffset, p.prevLen = offset, n
	if ahead {
		return
	}
	if !sequential {
		p.numFileReads, p.limit = 1, 0
		p.initial = int(p.t.opts.InitialAutoReadaheadSize)
		p.size = p.initial
		return
	}
	p.numFileReads++
	if p.numFileReads <= p.t.opts.NumFileReadsForAutoReadahead {
		return
	}
	if !p.t.file.UseDirectIO() && p.t.fsPrefetch {
		p.size = min(p.size, most)
		if p.fsPrefetch(offset, n, p.size) {
			p.size = min(most, p.size*2)
			return
		}
	}
	p.create(file.ReadaheadParams{
		InitialReadaheadSize: p.initial, MaxReadaheadSize: most, ImplicitAutoReadahead: true,
		NumFileReads: p.numFileReads, NumFileReadsForAutoReadahead: p.t.opts.NumFileReadsForAutoReadahead,
	}, file.UserScanPrefetch)
}
