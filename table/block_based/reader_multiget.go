// Port of table/block_based/block_based_table_reader_sync_and_async.h (MultiGet,
// RetrieveMultipleBlocks). Differs: blocks are copied or decompressed out of one
// buffer for all reads; a block with several keys is parsed for the first one.

package blockbased

import (
	"sync"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/file"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/monitoring"
	"github.com/rocksdb-go/rocksdb/table"
	"github.com/rocksdb-go/rocksdb/table/block_based/block"
	"github.com/rocksdb-go/rocksdb/table/format"
	"github.com/rocksdb-go/rocksdb/table/internaliter"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

// batchBlock is a data block in which keys of a batch begin.
type batchBlock struct {
	handle format.BlockHandle
	entry  block.CachableEntry[*block.Block] // until a key's iterator takes it
	err    error
	miss   bool                       // it is not in the cache
	req    int                        // the read that it is in, or -1
	skip   int                        // where it begins in that, in bytes
	lookup *rocksdb.AsyncLookupHandle // under way, in a cache with tiers
}

// batchScratch is a batch lookup under way and what it needs; it is pooled.
type batchScratch struct {
	t           *BlockBasedTable
	it          internaliter.InternalIndexIterator
	keys        table.MultiGetRange // those whose first block is known
	filtered    bool
	skipFilters bool
	reading     file.PendingReads
	readErr     error // of all reads

	first, next lookupScratch // iterators over a key's first block, and later ones
	blocks      [table.MaxBatchSize]batchBlock
	n           int                                    // blocks
	dict        block.CachableEntry[*DecompressorDict] // during lookups in a cache with tiers
	of          [table.MaxBatchSize]int                // the block of each key of the range
	reqs        []rocksdb.FSReadRequest
	buf         []byte // what is read, without direct I/O
	aligned     file.AlignedBuf
	opts        rocksdb.IOOptions
	read        batchRead
	timeless    rocksdb.ReadOptions // the call's without a deadline
}

var batchPool = sync.Pool{New: func() any { return new(batchScratch) }}

// maxPooledBatch bounds what a pooled scratch keeps, in bytes.
const maxPooledBatch = 256 * 1024

func (s *batchScratch) release() {
	if s.it != nil {
		_ = s.it.Close() // its status was looked at
	}
	for i := range s.blocks[:s.n] {
		s.blocks[i].entry.Release()
		s.blocks[i] = batchBlock{}
	}
	s.n = 0
	for _, l := range []*lookupScratch{&s.first, &s.next} {
		l.data.Invalidate(nil)
		l.rc, l.parsed = readContext{}, dbformat.ParsedInternalKey{}
	}
	clear(s.reqs)
	s.reqs = s.reqs[:0]
	if cap(s.buf) > maxPooledBatch {
		s.buf = nil
	}
	s.opts, s.read, s.timeless = rocksdb.IOOptions{}, batchRead{}, rocksdb.ReadOptions{}
	s.aligned.Trim(maxPooledBatch)
	s.t, s.it, s.keys, s.readErr = nil, nil, table.MultiGetRange{}, nil
	batchPool.Put(s)
}

// batchRead hands a block that was read with others to its BlockFetcher.
type batchRead struct {
	offset uint64
	data   []byte        // with its trailer
	lease  *format.Lease // what data lies in, if a provider's
}

// TryReadFromCache implements table.PrefetchBuffer.
func (b *batchRead) TryReadFromCache(_ *rocksdb.IOOptions, _ *file.RandomAccessFileReader, offset uint64, n int, _ bool) ([]byte, bool, error) {
	if offset != b.offset || n != len(b.data) {
		return nil, false, nil
	}
	return b.data, true, nil
}

// MultiGet implements table.TableReader. The blocks in which the keys begin are
// looked up in the cache, then read together; neighbours by one read where they
// are decompressed from a buffer anyway.
func (t *BlockBasedTable) MultiGet(ro *rocksdb.ReadOptions, r *table.MultiGetRange, prefixExtractor rocksdb.SliceTransform, skipFilters bool) {
	if s := t.beginBatch(ro, r, prefixExtractor, skipFilters); s != nil {
		s.readErr = t.readTogether(s, false)
		s.Finish()
	}
}

// BeginMultiGet implements table.AsyncMultiGetter.
func (t *BlockBasedTable) BeginMultiGet(ro *rocksdb.ReadOptions, r *table.MultiGetRange, prefixExtractor rocksdb.SliceTransform, skipFilters bool) table.PendingMultiGet {
	s := t.beginBatch(ro, r, prefixExtractor, skipFilters)
	if s == nil {
		return nil
	}
	if s.readErr = t.readTogether(s, t.ioptions.FS != nil); s.readErr != nil || !s.reading.Pending() {
		s.Finish()
		return nil
	}
	return s
}

// beginBatch finds the blocks in which the keys begin, and those that the cache
// has. nil: no key is left.
func (t *BlockBasedTable) beginBatch(ro *rocksdb.ReadOptions, r *table.MultiGetRange, prefixExtractor rocksdb.SliceTransform, skipFilters bool) *batchScratch {
	if r.Empty() || !t.timestampMayMatch(ro) {
		return nil
	}
	s := batchPool.Get().(*batchScratch)
	s.t, s.skipFilters = t, skipFilters
	s.first.rc = readContext{ro: ro}
	t.beginTrace(&s.first.rc, rocksdb.CallerUserMultiGet, firstGetContext(r), nil)
	s.filtered = !skipFilters && t.filter != nil
	if s.filtered {
		if t.filterMayMatchKeys(&s.first.rc, r, prefixExtractor); r.Empty() {
			s.release()
			return nil
		}
	}
	s.first.rc.gc = firstGetContext(r)
	totalOrder := ro.TotalOrderSeek || t.indexType == rocksdb.HashSearch && t.prefixExtractorChanged(prefixExtractor)
	s.it = t.newIndexIterator(&s.first.rc, totalOrder, &s.first.index)
	s.keys = *r
	t.findBlocks(s, s.it, r, &s.keys, skipFilters)
	if s.keys.Empty() {
		s.release()
		return nil
	}
	return s
}

// Finish implements table.PendingMultiGet.
func (s *batchScratch) Finish() {
	t, ro := s.t, s.first.rc.ro
	if s.readErr == nil && s.reading.Pending() {
		s.readErr = t.awaitReads(s)
	}
	t.takeBlocks(s)
	s.next.rc = s.first.rc
	at := -1 // the block that s.first is set on
	for i := s.keys.First(); i < s.keys.End(); i = s.keys.NextIndex(i) {
		k := s.keys.Key(i)
		s.first.rc.gc, s.next.rc.gc = k.GetContext, k.GetContext
		matched, err := t.multiGetOne(s, s.it, k, s.of[i], &at, s.skipFilters)
		if s.filtered && matched {
			t.countTruePositive(ro)
		}
		if rocksdb.IsIncomplete(err) && ro.ReadTier == rocksdb.BlockCacheTier {
			k.GetContext.MarkKeyMayExist()
		}
		*k.Err = err
	}
	s.release()
}

// NumReads implements table.PendingMultiGet.
func (s *batchScratch) NumReads() int { return s.reading.Count() }

// Abandon implements table.PendingMultiGet.
func (s *batchScratch) Abandon() {
	_ = s.t.awaitReads(s)
	s.release()
}

// awaitReads waits for the reads of readTogether.
func (t *BlockBasedTable) awaitReads(s *batchScratch) error {
	var timer monitoring.PerfStepTimer
	if perf := s.first.rc.ro.PerfContext; perf.Enabled(rocksdb.EnableTimeExceptForMutex) {
		timer.Start(&perf.BlockReadTime, t.ioptions.Clock)
	}
	err := s.reading.Wait(t.ioptions.FS)
	timer.Stop()
	if err != nil { // the memory may still be read to
		s.reqs, s.buf, s.aligned = nil, nil, file.AlignedBuf{}
	}
	return err
}

// indexStatus is an index iterator's error. A prefix that is not in the file is
// none.
func indexStatus(it internaliter.InternalIndexIterator) error {
	if err := it.Status(); err != nil && !rocksdb.IsNotFound(err) {
		return err
	}
	return nil
}

// before tells that key would lie between the block before and this one.
func (t *BlockBasedTable) before(key []byte, v *format.IndexValue, skipFilters bool) bool {
	return len(v.FirstInternalKey) >= dbformat.NumInternalBytes && !skipFilters &&
		t.icmp.CompareWithoutTimestamp(dbformat.ExtractUserKey(key), dbformat.ExtractUserKey(v.FirstInternalKey)) < 0
}

// findBlocks finds the block in which each key begins and asks the cache for
// it. Keys that have none are skipped in keys.
func (t *BlockBasedTable) findBlocks(s *batchScratch, it internaliter.InternalIndexIterator, r, keys *table.MultiGetRange, skipFilters bool) {
	for i := r.First(); i < r.End(); i = r.NextIndex(i) {
		k := r.Key(i)
		s.first.rc.gc = k.GetContext
		it.Seek(k.IKey)
		if !it.Valid() {
			*k.Err = indexStatus(it)
			if rocksdb.IsIncomplete(*k.Err) && s.first.rc.ro.ReadTier == rocksdb.BlockCacheTier {
				k.GetContext.MarkKeyMayExist()
			}
			keys.SkipIndex(i)
			continue
		}
		v := it.Value()
		if t.before(k.IKey, &v, skipFilters) {
			*k.Err = nil
			keys.SkipIndex(i)
			continue
		}
		if s.n == 0 || s.blocks[s.n-1].handle.Offset != v.Handle.Offset {
			s.blocks[s.n] = batchBlock{handle: v.Handle, req: -1}
			t.findInCache(s, &s.blocks[s.n])
			s.n++
		}
		s.of[i] = s.n - 1
	}
	if t.tiered != nil {
		t.awaitLookups(s)
	}
}

func (t *BlockBasedTable) findInCache(s *batchScratch, b *batchBlock) {
	if t.blockCache == nil {
		b.miss = true
		return
	}
	key := blockCacheKey(t.baseCacheKey, b.handle)
	if t.tiered == nil {
		t.foundInCache(s, b, t.cacheLookupFull(&s.first.rc, key, block.TypeData, t.decompressor))
		return
	}
	d := t.decompressor
	if t.dict != nil {
		if s.dict.IsEmpty() {
			if s.dict, b.err = t.dict.get(&s.first.rc); b.err != nil {
				return
			}
		}
		d = s.dict.Value().decompressor
	}
	b.lookup = &rocksdb.AsyncLookupHandle{
		Key: key.AsSlice(), Helper: t.helper(block.TypeData), Priority: t.cachePriority(block.TypeData), Stats: t.ioptions.Stats,
		CreateContext: &cacheContext{t, block.TypeData, d, s.first.rc.ro.PerfContext},
	}
	t.tiered.StartAsyncLookup(b.lookup)
}

// awaitLookups ends the lookups of findInCache.
func (t *BlockBasedTable) awaitLookups(s *batchScratch) {
	var pending []*rocksdb.AsyncLookupHandle
	for i := range s.blocks[:s.n] {
		if l := s.blocks[i].lookup; l != nil && l.IsPending() {
			pending = append(pending, l)
		}
	}
	t.tiered.WaitAll(pending)
	for i := range s.blocks[:s.n] {
		if b := &s.blocks[i]; b.lookup != nil {
			t.foundInCache(s, b, b.lookup.Result)
			b.lookup = nil
		}
	}
	s.dict.Release()
}

func (t *BlockBasedTable) foundInCache(s *batchScratch, b *batchBlock, ch rocksdb.CacheHandle) {
	if ch == nil {
		t.countCacheMiss(&s.first.rc, block.TypeData)
		b.miss = true
		return
	}
	v, ok := ch.Value().(*block.Block)
	if !ok {
		t.blockCache.Release(ch, false)
		b.err = t.corrupt("block cache entry is of another kind of block", b.handle)
		return
	}
	t.countCacheHit(&s.first.rc, block.TypeData, ch)
	b.entry.SetCachedValue(v, t.blockCache, ch)
}

// takeBlocks takes what readTogether read and puts it into the cache. Blocks
// that were not read with the others are read one by one.
func (t *BlockBasedTable) takeBlocks(s *batchScratch) {
	rc := &s.first.rc
	ro := rc.ro
	if ro.Deadline > 0 && len(s.reqs) > 0 { // what was read in time counts
		s.timeless = *ro
		s.timeless.Deadline = 0
		rc.ro = &s.timeless
	}
	rc.cacheMissed = true
	for i := range s.blocks[:s.n] {
		b := &s.blocks[i]
		if !b.miss {
			continue
		}
		if b.req >= 0 {
			n := int(b.handle.Size) + t.footer.BlockTrailerSize
			if b.err = s.readErr; b.err != nil {
				continue
			}
			b.err = s.reqs[b.req].Status
			got := s.reqs[b.req].Result
			if b.err == nil && b.skip+n > len(got) {
				b.err = rocksdb.Corruptionf("truncated block read from %s offset %d, expected %d bytes, got %d",
					t.file.FileName(), b.handle.Offset, s.reqs[b.req].Len, len(got))
			}
			if b.err != nil {
				continue
			}
			s.read = batchRead{offset: b.handle.Offset, data: got[b.skip : b.skip+n]}
			rc.prefetch = &s.read
		}
		b.entry, b.err = t.retrieveBlock(rc, b.handle, block.TypeData, true)
		rc.prefetch = nil
		syncpoint.ProcessArg("RetrieveMultipleBlocks:VerifyChecksum", &b.err)
	}
	rc.cacheMissed, rc.ro = false, ro
}

// readTogether reads all missing blocks that lie within the file, or begins to.
// The error is that of all reads.
// Upstream: BlockBasedTable::RetrieveMultipleBlocks.
func (t *BlockBasedTable) readTogether(s *batchScratch, async bool) error {
	if s.first.rc.ro.ReadTier == rocksdb.BlockCacheTier || t.ioptions.AllowMmapReads {
		return nil
	}
	perf := s.first.rc.ro.PerfContext
	trailer := t.footer.BlockTrailerSize
	direct := t.file.UseDirectIO()
	combine := !direct && t.decompressor != nil
	total := 0
	for i := range s.blocks[:s.n] {
		b := &s.blocks[i]
		// retrieveBlock says what is wrong with other handles.
		if !b.miss || b.handle.Size > t.fileSize || !b.handle.FitsIn(t.fileSize, uint64(trailer)) {
			continue
		}
		n := int(b.handle.Size) + trailer
		total += n
		if perf.CountEnabled() {
			perf.BlockReadCount++
			perf.BlockReadByte += uint64(n)
			perf.DataBlockReadByte += uint64(n)
		}
		if m := len(s.reqs) - 1; combine && m >= 0 && file.End(&s.reqs[m]) == b.handle.Offset {
			b.req, b.skip = m, s.reqs[m].Len
			s.reqs[m].Len += n
			continue
		}
		b.req = len(s.reqs)
		s.reqs = append(s.reqs, rocksdb.FSReadRequest{Offset: b.handle.Offset, Len: n})
	}
	if gc := s.first.rc.gc; gc != nil && s.missing() {
		gc.Stats.NumSstRead++
	}
	if len(s.reqs) == 0 {
		return nil
	}
	if !direct {
		if cap(s.buf) < total {
			s.buf = make([]byte, total)
		}
		free := s.buf[:total]
		for i := range s.reqs {
			n := s.reqs[i].Len
			s.reqs[i].Scratch, free = free[:n:n], free[n:]
		}
	}
	if err := t.file.PrepareIOOptions(s.first.rc.ro, &s.opts); err != nil {
		return err
	}
	var timer monitoring.PerfStepTimer
	if perf.Enabled(rocksdb.EnableTimeExceptForMutex) {
		timer.Start(&perf.BlockReadTime, t.ioptions.Clock)
	}
	defer timer.Stop()
	if async {
		return t.file.MultiReadAsync(&s.opts, s.reqs, &s.aligned, &s.reading)
	}
	return t.file.MultiRead(&s.opts, s.reqs, &s.aligned)
}

// missing tells whether the cache lacks a block.
func (s *batchScratch) missing() bool {
	for i := range s.blocks[:s.n] {
		if s.blocks[i].miss {
			return true
		}
	}
	return false
}

// multiGetOne looks a key up from its first block on. at is the block that
// s.first is set on.
func (t *BlockBasedTable) multiGetOne(s *batchScratch, it internaliter.InternalIndexIterator, k *table.KeyContext, first int, at *int, skipFilters bool) (matched bool, err error) {
	b := &s.blocks[first]
	if b.err != nil {
		return false, b.err
	}
	if *at != first {
		*at = first
		if t.traces(&s.first.rc) {
			t.traceLookup(&s.first.rc, b.handle, block.TypeData, !b.miss, b.entry.Value())
		}
		t.initDataIter(&s.first.rc, &b.entry, b.handle, &s.first.data)
		b.entry = block.CachableEntry[*block.Block]{} // the iterator's now
		b.err = s.first.data.Status()
	}
	if b.err != nil {
		return false, b.err
	}
	done, matched, err := t.getFromBlock(&s.first, k.IKey, k.GetContext)
	if point := s.first.rc.point; point != nil { // for the first key in the block
		t.traceFound(point, k.IKey, done && matched && k.GetContext.State() == table.GetFound, &s.first.data)
	}
	if err != nil || done {
		return matched, t.located(err, b.handle)
	}
	// What is hidden or merged may go on in the next block.
	it.Seek(k.IKey)
	for it.Valid() {
		if it.Next(); !it.Valid() {
			break
		}
		v := it.Value()
		if t.before(k.IKey, &v, skipFilters) {
			return matched, nil
		}
		t.newDataBlockIterator(&s.next.rc, v.Handle, block.TypeData, &s.next.data)
		if err := s.next.data.Status(); err != nil {
			return matched, err
		}
		done, m, err := t.getFromBlock(&s.next, k.IKey, k.GetContext)
		matched = matched || m
		if point := s.next.rc.point; point != nil {
			t.traceFound(point, k.IKey, done && m && k.GetContext.State() == table.GetFound, &s.next.data)
		}
		if err != nil || done {
			return matched, t.located(err, v.Handle)
		}
	}
	return matched, indexStatus(it)
}
