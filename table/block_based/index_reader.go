// Port of table/block_based/{index_reader_common,binary_search_index_reader,
// hash_index_reader,partitioned_index_reader,partitioned_index_iterator}.{h,cc}.

package blockbased

import (
	"github.com/rocksdb-go/rocksdb/file"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/logging"
	"github.com/rocksdb-go/rocksdb/monitoring"
	"github.com/rocksdb-go/rocksdb/table"
	"github.com/rocksdb-go/rocksdb/table/block_based/block"
	"github.com/rocksdb-go/rocksdb/table/format"
	"github.com/rocksdb-go/rocksdb/table/internaliter"
)

// indexReader makes iterators over a table's index.
type indexReader interface {
	// newIterator gives an iterator that lives in scratch, which may be nil.
	// Errors are its status.
	newIterator(rc *readContext, totalOrder bool, scratch *indexScratch) internaliter.InternalIndexIterator
	// cacheDependencies loads all partitions and, with pin, keeps them.
	cacheDependencies(rc *readContext, pin bool) error
	// partitionHandles are those of the partitions, none where the index of them
	// cannot be read.
	partitionHandles(rc *readContext) []format.BlockHandle
	memoryUsage() int
	release()
}

// indexScratch holds index iterators between uses.
type indexScratch struct {
	block       block.IndexBlockIter
	partitioned *partitionedIndexIterator // made when first needed
}

// indexReaderCommon is the index block, or the top level of partitions.
type indexReaderCommon struct {
	t        *BlockBasedTable
	useCache bool
	entry    block.CachableEntry[*block.Block] // where it stays
	prefix   *block.BlockPrefixIndex           // of a hash index
}

func (t *BlockBasedTable) createIndexReader(s *openState, useCache, prefetch, pin bool) (indexReader, error) {
	c := indexReaderCommon{t: t, useCache: useCache}
	var numBlocks uint32 = 1<<32 - 1
	if prefetch || !useCache {
		e, err := t.retrieveBlock(&s.rc, t.indexHandle, block.TypeIndex, useCache)
		if err != nil {
			return nil, err
		}
		numBlocks = e.Value().NumRestarts()
		if useCache && !pin {
			e.Release()
		} else {
			c.entry = e
		}
	}
	switch t.indexType {
	case rocksdb.TwoLevelIndexSearch:
		return &partitionIndexReader{indexReaderCommon: c}, nil
	case rocksdb.HashSearch:
		if t.tableExtractor == nil {
			logging.Warn(t.ioptions.Logger, "Missing prefix extractor for hash index. Fall back to binary search index.")
			break
		}
		prefix, err := t.readPrefixIndex(s, numBlocks)
		if err != nil {
			// The index works without.
			logging.Warn(t.ioptions.Logger, "hash index of %s cannot be read: %v", t.file.FileName(), err)
			break
		}
		c.prefix = prefix
	}
	return &c, nil
}

// readPrefixIndex reads the meta blocks of a hash index; nil without them.
func (t *BlockBasedTable) readPrefixIndex(s *openState, numBlocks uint32) (*block.BlockPrefixIndex, error) {
	var parts [2]format.BlockContents
	for i, name := range [...]string{HashIndexPrefixesBlock, HashIndexPrefixesMetadataBlock} {
		h, err := table.FindMetaBlock(s.metaIter, name)
		if err == nil {
			parts[i], _, _, err = t.readBlock(&s.rc, h, block.TypeHashIndexPrefixes+block.BlockType(i), t.decompressor)
		}
		if err != nil {
			return nil, err
		}
		defer parts[i].Free()
	}
	return block.NewBlockPrefixIndex(t.tableExtractor, parts[0].Data, parts[1].Data, numBlocks)
}

func (c *indexReaderCommon) get(rc *readContext) (e block.CachableEntry[*block.Block], err error) {
	if !c.entry.IsEmpty() {
		e.SetUnownedValue(c.entry.Value())
		return e, nil
	}
	var timer monitoring.PerfStepTimer
	if perf := rc.ro.PerfContext; perf.Enabled(rocksdb.EnableTimeExceptForMutex) {
		timer.Start(&perf.ReadIndexBlockNanos, nil)
	}
	e, err = c.t.retrieveBlock(rc, c.t.indexHandle, block.TypeIndex, c.useCache)
	timer.Stop()
	return e, err
}

func (t *BlockBasedTable) indexIterOptions() block.IndexIterOptions {
	return block.IndexIterOptions{
		GlobalSeqno: t.globalSeqno, TotalOrderSeek: true, HaveFirstKey: t.indexFirstKey,
		KeyIncludesSeq: t.indexKeySeq, ValueIsFull: t.indexValueFull, PadMinTimestamp: !t.udtPersisted,
		SearchType: t.opts.IndexBlockSearchType,
	}
}

func (c *indexReaderCommon) setIterator(rc *readContext, totalOrder bool, it *block.IndexBlockIter) {
	e, err := c.get(rc)
	if err != nil {
		it.Invalidate(err)
		return
	}
	o := c.t.indexIterOptions()
	if c.prefix != nil && !totalOrder {
		o.TotalOrderSeek, o.PrefixIndex = false, c.prefix
	}
	e.Value().NewIndexIterator(c.t.icmp, o, it)
	it.SetEntry(e)
	it.SetPerfContext(rc.ro.PerfContext)
	if err := it.Status(); err != nil {
		it.Invalidate(c.t.located(err, c.t.indexHandle))
	}
}

func (c *indexReaderCommon) newIterator(rc *readContext, totalOrder bool, scratch *indexScratch) internaliter.InternalIndexIterator {
	if scratch == nil {
		scratch = new(indexScratch)
	}
	c.setIterator(rc, totalOrder, &scratch.block)
	return &scratch.block
}

func (c *indexReaderCommon) cacheDependencies(*readContext, bool) error { return nil }

func (c *indexReaderCommon) partitionHandles(*readContext) []format.BlockHandle { return nil }

func (c *indexReaderCommon) memoryUsage() int {
	n := 128
	if c.entry.OwnValue() {
		n += c.entry.Value().ApproximateMemoryUsage()
	}
	if c.prefix != nil {
		n += c.prefix.ApproximateMemoryUsage()
	}
	return n
}

func (c *indexReaderCommon) release() { c.entry.Release() }

// partitionIndexReader is a two-level index. partitions holds those that are
// pinned, by offset: all or none.
type partitionIndexReader struct {
	indexReaderCommon
	partitions map[uint64]block.CachableEntry[*block.Block]
}

func (p *partitionIndexReader) newIterator(rc *readContext, _ bool, scratch *indexScratch) internaliter.InternalIndexIterator {
	var it *partitionedIndexIterator
	if scratch != nil && scratch.partitioned != nil {
		it = scratch.partitioned
	} else if it = new(partitionedIndexIterator); scratch != nil {
		scratch.partitioned = it
	}
	it.p, it.rc = p, *rc
	it.prefetcher.init(p.t, rc.ro, rc.forCompaction, 0)
	p.setIterator(rc, true, &it.top)
	return it
}

// prefetchPartitions makes rc read through a buffer of all partitions that top
// points to, which lie together, until done is called; a tail that has them
// already stays.
func (t *BlockBasedTable) prefetchPartitions(rc *readContext, top *block.IndexBlockIter) (done func(), err error) {
	done = func() {}
	top.SeekToFirst()
	if !top.Valid() {
		return done, nil // the caller sees top's status
	}
	first := top.Value().Handle
	top.SeekToLast()
	if !top.Valid() {
		return done, nil
	}
	last, trailer := top.Value().Handle, uint64(t.footer.BlockTrailerSize)
	tail, _ := rc.prefetch.(*file.FilePrefetchBuffer)
	if tail != nil && tail.Enabled() && tail.GetPrefetchOffset() <= first.Offset ||
		last.Offset < first.Offset || !last.FitsIn(t.fileSize, trailer) {
		return done, nil
	}
	buf := file.NewFilePrefetchBuffer(&file.PrefetchBufferOptions{Disable: t.ioptions.AllowMmapReads, Stats: t.ioptions.Stats})
	var opts rocksdb.IOOptions
	if err = t.file.PrepareIOOptions(rc.ro, &opts); err == nil {
		err = buf.Prefetch(&opts, t.file, first.Offset, int(last.Offset+last.Size+trailer-first.Offset))
	}
	before := rc.prefetch
	rc.prefetch = buf
	return func() {
		rc.prefetch = before
		buf.Close()
	}, err
}

// cacheDependencies reads all partitions, by one read.
func (p *partitionIndexReader) cacheDependencies(rc *readContext, pin bool) error {
	if len(p.partitions) > 0 {
		return nil
	}
	var top block.IndexBlockIter
	p.setIterator(rc, true, &top)
	defer top.Invalidate(nil)
	done, err := p.t.prefetchPartitions(rc, &top)
	defer done()
	if err != nil {
		return err
	}
	pinned := map[uint64]block.CachableEntry[*block.Block]{}
	fail := func(err error) error {
		for _, e := range pinned {
			e.Release()
		}
		return err
	}
	for top.SeekToFirst(); top.Valid(); top.Next() {
		h := top.Value().Handle
		e, err := p.t.retrieveBlock(rc, h, block.TypeIndex, true)
		if err != nil {
			return fail(err)
		}
		if pin && (e.IsCached() || e.OwnValue()) {
			pinned[h.Offset] = e
		} else {
			e.Release()
		}
	}
	if err := top.Status(); err != nil {
		return fail(p.t.located(err, p.t.indexHandle))
	}
	p.partitions = pinned
	return nil
}

func (p *partitionIndexReader) partitionHandles(rc *readContext) []format.BlockHandle {
	var top block.IndexBlockIter
	p.setIterator(rc, true, &top)
	defer top.Invalidate(nil)
	return handlesOf(&top)
}

func handlesOf(top *block.IndexBlockIter) (handles []format.BlockHandle) {
	for top.SeekToFirst(); top.Valid(); top.Next() {
		handles = append(handles, top.Value().Handle)
	}
	return handles
}

func (p *partitionIndexReader) memoryUsage() int {
	n := p.indexReaderCommon.memoryUsage()
	for _, e := range p.partitions {
		if e.OwnValue() {
			n += e.Value().ApproximateMemoryUsage()
		}
	}
	return n
}

func (p *partitionIndexReader) release() {
	for _, e := range p.partitions {
		e.Release()
	}
	p.partitions = nil
	p.indexReaderCommon.release()
}

// partitionedIndexIterator walks the partitions of an index as one.
type partitionedIndexIterator struct {
	internaliter.Base
	p          *partitionIndexReader
	rc         readContext
	prefetcher blockPrefetcher
	top        block.IndexBlockIter
	sub        block.IndexBlockIter
	subAt      uint64 // the partition's offset
	haveSub    bool
}

// initPartition sets sub on top's partition. A partition that was not in the
// cache is tried again.
func (it *partitionedIndexIterator) initPartition() {
	h := it.top.Value().Handle
	if it.haveSub && it.subAt == h.Offset && !rocksdb.IsIncomplete(it.sub.Status()) {
		return
	}
	it.haveSub, it.subAt = true, h.Offset
	t := it.p.t
	var e block.CachableEntry[*block.Block]
	if pinned, ok := it.p.partitions[h.Offset]; ok {
		e.SetUnownedValue(pinned.Value())
	} else {
		it.rc.prefetch = it.prefetcher.prefetchIfNeeded(h, false)
		var err error
		if e, err = t.retrieveBlock(&it.rc, h, block.TypeIndex, true); err != nil {
			it.sub.Invalidate(err)
			return
		}
	}
	e.Value().NewIndexIterator(t.icmp, t.indexIterOptions(), &it.sub)
	it.sub.SetEntry(e)
	it.sub.SetPerfContext(it.rc.ro.PerfContext)
	if err := it.sub.Status(); err != nil {
		it.sub.Invalidate(t.located(err, h))
	}
}

func (it *partitionedIndexIterator) dropSub() {
	if it.haveSub {
		it.sub.Invalidate(nil)
		it.haveSub = false
	}
}

func (it *partitionedIndexIterator) Valid() bool { return it.haveSub && it.sub.Valid() }

func (it *partitionedIndexIterator) Status() error {
	if err := it.top.Status(); err != nil {
		return err
	}
	if it.haveSub {
		return it.sub.Status()
	}
	return nil
}

func (it *partitionedIndexIterator) Key() []byte              { return it.sub.Key() }
func (it *partitionedIndexIterator) UserKey() []byte          { return it.sub.UserKey() }
func (it *partitionedIndexIterator) Value() format.IndexValue { return it.sub.Value() }

func (it *partitionedIndexIterator) Seek(target []byte) { it.seek(target) }

func (it *partitionedIndexIterator) SeekToFirst() { it.seek(nil) }

func (it *partitionedIndexIterator) seek(target []byte) {
	if target != nil {
		it.top.Seek(target)
	} else {
		it.top.SeekToFirst()
	}
	if !it.top.Valid() {
		it.dropSub()
		return
	}
	it.initPartition()
	if target != nil {
		it.sub.Seek(target)
	} else {
		it.sub.SeekToFirst()
	}
	it.forward()
}

// forward goes on to the next partition that has an entry.
func (it *partitionedIndexIterator) forward() {
	for !it.sub.Valid() {
		if it.sub.Status() != nil {
			return
		}
		it.top.Next()
		if !it.top.Valid() {
			it.dropSub()
			return
		}
		it.initPartition()
		it.sub.SeekToFirst()
	}
}

func (it *partitionedIndexIterator) backward() {
	for !it.sub.Valid() {
		if it.sub.Status() != nil {
			return
		}
		it.top.Prev()
		if !it.top.Valid() {
			it.dropSub()
			return
		}
		it.initPartition()
		it.sub.SeekToLast()
	}
}

func (it *partitionedIndexIterator) SeekToLast() {
	it.top.SeekToLast()
	if !it.top.Valid() {
		it.dropSub()
		return
	}
	it.initPartition()
	it.sub.SeekToLast()
	it.backward()
}

// SeekForPrev must not be called on an index.
func (it *partitionedIndexIterator) SeekForPrev(target []byte) {
	it.dropSub()
	it.top.SeekForPrev(target)
}

func (it *partitionedIndexIterator) Next() {
	it.sub.Next()
	it.forward()
}

func (it *partitionedIndexIterator) NextAndGetResult(res *internaliter.IterateResult) bool {
	it.Next()
	if !it.Valid() {
		return false
	}
	*res = internaliter.IterateResult{Key: it.Key(), ValuePrepared: true}
	return true
}

func (it *partitionedIndexIterator) Prev() {
	it.sub.Prev()
	it.backward()
}

// GetReadaheadState hands the readahead of partitions on to the next file.
func (it *partitionedIndexIterator) GetReadaheadState(info *internaliter.ReadaheadFileInfo) {
	info.IndexBlock = it.prefetcher.readaheadState()
}

// SetReadaheadState takes it over from the file before.
func (it *partitionedIndexIterator) SetReadaheadState(info *internaliter.ReadaheadFileInfo) {
	it.prefetcher.setReadaheadState(info.IndexBlock)
}

func (it *partitionedIndexIterator) Close() error {
	err := it.Status()
	it.dropSub()
	it.top.Invalidate(nil)
	it.prefetcher.close()
	it.prefetcher = blockPrefetcher{}
	it.p, it.rc = nil, readContext{}
	return err
}

// newIndexIterator makes an iterator over the index; see indexReader.
func (t *BlockBasedTable) newIndexIterator(rc *readContext, totalOrder bool, scratch *indexScratch) internaliter.InternalIndexIterator {
	return t.index.newIterator(rc, totalOrder, scratch)
}
