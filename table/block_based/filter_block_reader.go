// Port of table/block_based/{filter_block_reader_common,full_filter_block,
// partitioned_filter_block}.{h,cc}: the readers.

package blockbased

import (
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/monitoring"
	"github.com/rocksdb-go/rocksdb/table"
	"github.com/rocksdb-go/rocksdb/table/block_based/block"
	"github.com/rocksdb-go/rocksdb/table/format"
)

// filterBlockReader asks a table's filter. A filter that cannot be read matches
// everything.
type filterBlockReader interface {
	// mayMatch asks for a whole key or a prefix, without timestamp; ikey is an
	// internal key that has it, by which a partition is found.
	mayMatch(rc *readContext, entry, ikey []byte) bool
	// rangeMayMatch skips the keys of r that are not there: whole keys or,
	// with an extractor, prefixes.
	rangeMayMatch(rc *readContext, r *table.MultiGetRange, extractor rocksdb.SliceTransform)
	cacheDependencies(rc *readContext, pin bool) error
	partitionHandles(rc *readContext) []format.BlockHandle // as an indexReader's
	memoryUsage() int
	release()
}

// createFilterReader is upstream's BlockBasedTable::CreateFilterBlockReader,
// FullFilterBlockReader::Create and PartitionedFilterBlockReader::Create.
func (t *BlockBasedTable) createFilterReader(s *openState, useCache, prefetch, pin bool) (filterBlockReader, error) {
	if t.filterType == fullFilter {
		f := &fullFilterReader{t: t, useCache: useCache}
		if prefetch || !useCache {
			e, err := retrieve(t, &s.rc, t.filterHandle, block.TypeFilter, nil, useCache, parseFilterOf)
			if err != nil {
				return nil, err
			}
			if useCache && !pin {
				e.Release()
			} else {
				f.entry = e
			}
		}
		return f, nil
	}
	p := &partitionedFilterReader{t: t, useCache: useCache}
	if prefetch || !useCache {
		e, err := t.retrieveBlock(&s.rc, t.filterHandle, block.TypeFilterPartitionIndex, useCache)
		if err != nil {
			return nil, err
		}
		if useCache && !pin {
			e.Release()
		} else {
			p.entry = e
		}
	}
	return p, nil
}

type fullFilterReader struct {
	t        *BlockBasedTable
	useCache bool
	entry    block.CachableEntry[*ParsedFullFilterBlock] // where it stays
}

func (f *fullFilterReader) get(rc *readContext) (e block.CachableEntry[*ParsedFullFilterBlock], err error) {
	if !f.entry.IsEmpty() {
		e.SetUnownedValue(f.entry.Value())
		return e, nil
	}
	timer := timeFilterRead(rc)
	e, err = retrieve(f.t, rc, f.t.filterHandle, block.TypeFilter, nil, f.useCache, parseFilterOf)
	timer.Stop()
	return e, err
}

// mayMatch is upstream's FullFilterBlockReader::KeyMayMatch and
// FullFilterBlockReader::PrefixMayMatch.
func (f *fullFilterReader) mayMatch(rc *readContext, entry, _ []byte) bool {
	e, err := f.get(rc)
	if err != nil {
		return true
	}
	may := filterMayMatch(rc, e.Value(), entry)
	e.Release()
	return may
}

// timeFilterRead measures the reading of a filter block.
func timeFilterRead(rc *readContext) (timer monitoring.PerfStepTimer) {
	if perf := rc.ro.PerfContext; perf.Enabled(rocksdb.EnableTimeExceptForMutex) {
		timer.Start(&perf.ReadFilterBlockNanos, nil)
	}
	return timer
}

// filterMayMatch is upstream's FullFilterBlockReader::MayMatch.
func filterMayMatch(rc *readContext, f *ParsedFullFilterBlock, entry []byte) bool {
	if f.bits == nil {
		return true
	}
	may := f.bits.MayMatch(entry)
	if perf := rc.ro.PerfContext; perf.CountEnabled() {
		if may {
			perf.BloomSSTHitCount++
		} else {
			perf.BloomSSTMissCount++
		}
	}
	return may
}

// rangeMayMatch is upstream's FullFilterBlockReader::KeysMayMatch and
// FullFilterBlockReader::PrefixesMayMatch.
func (f *fullFilterReader) rangeMayMatch(rc *readContext, r *table.MultiGetRange, extractor rocksdb.SliceTransform) {
	rc.gc = firstGetContext(r)
	e, err := f.get(rc)
	if err != nil {
		return
	}
	filterRange(rc, e.Value(), r, r, extractor)
	e.Release()
}

func firstGetContext(r *table.MultiGetRange) *table.GetContext {
	if i := r.First(); i < r.End() {
		return r.Key(i).GetContext
	}
	return nil
}

// filterRange asks f for the keys of part and skips in r those not there.
func filterRange(rc *readContext, f *ParsedFullFilterBlock, part, r *table.MultiGetRange, extractor rocksdb.SliceTransform) {
	if f.bits == nil {
		return
	}
	var keys [table.MaxBatchSize][]byte
	var at [table.MaxBatchSize]int
	var may [table.MaxBatchSize]bool
	n := 0
	for i := part.First(); i < part.End(); i = part.NextIndex(i) {
		key := part.Key(i).UKeyWithoutTS
		if extractor != nil {
			if !extractor.InDomain(key) {
				continue
			}
			key = extractor.Transform(key)
		}
		keys[n], at[n] = key, i
		n++
	}
	f.bits.MayMatchBatch(keys[:n], may[:n])
	perf := rc.ro.PerfContext
	for i := range n {
		if !may[i] {
			r.SkipIndex(at[i])
		}
		if perf.CountEnabled() {
			if may[i] {
				perf.BloomSSTHitCount++
			} else {
				perf.BloomSSTMissCount++
			}
		}
	}
}

func (f *fullFilterReader) cacheDependencies(*readContext, bool) error { return nil }

func (f *fullFilterReader) partitionHandles(*readContext) []format.BlockHandle { return nil }

func (f *fullFilterReader) memoryUsage() int {
	if f.entry.OwnValue() {
		return 64 + f.entry.Value().ApproximateMemoryUsage()
	}
	return 64
}

func (f *fullFilterReader) release() { f.entry.Release() }

// partitionedFilterReader finds the partition by the index of the filter.
type partitionedFilterReader struct {
	t          *BlockBasedTable
	useCache   bool
	entry      block.CachableEntry[*block.Block] // the index, where it stays
	partitions map[uint64]block.CachableEntry[*ParsedFullFilterBlock]
}

func (p *partitionedFilterReader) getIndex(rc *readContext) (e block.CachableEntry[*block.Block], err error) {
	if !p.entry.IsEmpty() {
		e.SetUnownedValue(p.entry.Value())
		return e, nil
	}
	timer := timeFilterRead(rc)
	e, err = p.t.retrieveBlock(rc, p.t.filterHandle, block.TypeFilterPartitionIndex, p.useCache)
	timer.Stop()
	return e, err
}

func (p *partitionedFilterReader) setIterator(e *block.CachableEntry[*block.Block], it *block.IndexBlockIter) {
	o := p.t.indexIterOptions()
	o.HaveFirstKey = false
	e.Value().NewIndexIterator(p.t.icmp, o, it)
}

// partitionOf finds the partition for a key. One behind the last partition may
// still share its prefix. ok is false when the index is damaged or empty.
// Upstream: PartitionedFilterBlockReader::GetFilterPartitionHandle.
func (p *partitionedFilterReader) partitionOf(it *block.IndexBlockIter, ikey []byte) (h format.BlockHandle, ok bool) {
	it.Seek(ikey)
	if !it.Valid() {
		it.SeekToLast()
	}
	if !it.Valid() {
		return h, false
	}
	return it.Value().Handle, true
}

// getPartition is upstream's
// PartitionedFilterBlockReader::GetFilterPartitionBlock.
func (p *partitionedFilterReader) getPartition(rc *readContext, h format.BlockHandle) (e block.CachableEntry[*ParsedFullFilterBlock], err error) {
	if pinned, ok := p.partitions[h.Offset]; ok {
		e.SetUnownedValue(pinned.Value())
		return e, nil
	}
	return retrieve(p.t, rc, h, block.TypeFilter, nil, true, parseFilterOf)
}

// mayMatch is upstream's PartitionedFilterBlockReader::KeyMayMatch and
// PartitionedFilterBlockReader::PrefixMayMatch.
func (p *partitionedFilterReader) mayMatch(rc *readContext, entry, ikey []byte) bool {
	idx, err := p.getIndex(rc)
	if err != nil {
		return true
	}
	defer idx.Release()
	if idx.Value().Size() == 0 {
		return true
	}
	s := getScratch()
	defer putScratch(s)
	p.setIterator(&idx, &s.index.block)
	h, ok := p.partitionOf(&s.index.block, ikey)
	s.index.block.Invalidate(nil)
	if !ok {
		return true
	}
	if h.Size == 0 {
		return false // no key was added
	}
	e, err := p.getPartition(rc, h)
	if err != nil {
		return true
	}
	may := filterMayMatch(rc, e.Value(), entry)
	e.Release()
	return may
}

// rangeMayMatch is upstream's PartitionedFilterBlockReader::KeysMayMatch and
// PartitionedFilterBlockReader::PrefixesMayMatch.
func (p *partitionedFilterReader) rangeMayMatch(rc *readContext, r *table.MultiGetRange, extractor rocksdb.SliceTransform) {
	rc.gc = firstGetContext(r)
	idx, err := p.getIndex(rc)
	if err != nil {
		return
	}
	defer idx.Release()
	if idx.Value().Size() == 0 {
		return
	}
	s := getScratch()
	defer putScratch(s)
	p.setIterator(&idx, &s.index.block)
	defer s.index.block.Invalidate(nil)
	// Neighbouring keys of one partition are asked for together.
	start, prev := r.First(), format.BlockHandle{}
	ask := func(end int) {
		part := table.MakeMultiGetRange(r, start, end)
		if part.Empty() {
			return
		}
		if e, err := p.getPartition(rc, prev); err == nil {
			filterRange(rc, e.Value(), &part, r, extractor)
			e.Release()
		}
	}
	first := true
	for i := r.First(); i < r.End(); i = r.NextIndex(i) {
		h, ok := p.partitionOf(&s.index.block, r.Key(i).IKey)
		if !ok {
			return
		}
		if !first && h != prev {
			ask(i)
			start = i
		}
		first, prev = false, h
	}
	if !first {
		ask(r.End())
	}
}

func (p *partitionedFilterReader) cacheDependencies(rc *readContext, pin bool) error {
	if len(p.partitions) > 0 {
		return nil
	}
	idx, err := p.getIndex(rc)
	if err != nil {
		return err
	}
	defer idx.Release()
	var it block.IndexBlockIter
	p.setIterator(&idx, &it)
	done, err := p.t.prefetchPartitions(rc, &it)
	defer done()
	if err != nil {
		return err
	}
	pinned := map[uint64]block.CachableEntry[*ParsedFullFilterBlock]{}
	for it.SeekToFirst(); it.Valid(); it.Next() {
		h := it.Value().Handle
		e, err := p.getPartition(rc, h)
		if err != nil {
			for _, e := range pinned {
				e.Release()
			}
			return err
		}
		if pin && (e.IsCached() || e.OwnValue()) {
			pinned[h.Offset] = e
		} else {
			e.Release()
		}
	}
	p.partitions = pinned
	return p.t.located(it.Status(), p.t.filterHandle)
}

func (p *partitionedFilterReader) partitionHandles(rc *readContext) []format.BlockHandle {
	idx, err := p.getIndex(rc)
	if err != nil {
		return nil
	}
	defer idx.Release()
	var it block.IndexBlockIter
	p.setIterator(&idx, &it)
	return handlesOf(&it)
}

func (p *partitionedFilterReader) memoryUsage() int {
	n := 128
	if p.entry.OwnValue() {
		n += p.entry.Value().ApproximateMemoryUsage()
	}
	for _, e := range p.partitions {
		if e.OwnValue() {
			n += e.Value().ApproximateMemoryUsage()
		}
	}
	return n
}

func (p *partitionedFilterReader) release() {
	for _, e := range p.partitions {
		e.Release()
	}
	p.partitions = nil
	p.entry.Release()
}
