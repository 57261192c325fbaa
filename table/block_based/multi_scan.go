// Port of table/block_based/multi_scan_index_iterator.{h,cc} and
// block_based_table_iterator.cc (Prepare, CollectBlockHandles). Differs: the
// index iterator stays (but a user-defined index's, for which the blocks that it
// gave stand in), and the blocks that were read ahead are found by their offset, so
// that any seek is answered; a seek outside the ranges reads.

package blockbased

import (
	"sort"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/monitoring"
	"github.com/rocksdb-go/rocksdb/table/format"
)

// blockDispatcher is what the table needs of a rocksdb.IODispatcher.
type blockDispatcher interface {
	SubmitJob(job *IOJob) (*ReadSet, error)
}

// scanBlocks are the blocks of a multi-scan's ranges.
// Upstream: MultiScanIndexIterator.
type scanBlocks struct {
	handles  []format.BlockHandle // rising offsets
	from, to int                  // handles[from:to] are in set
	set      *ReadSet
	at       int // the block last asked for
	kept     [2]int
	reverse  bool
	wasted   uint64
}

// Prepare reads the blocks of the ranges ahead, and tells a user-defined index.
// Only the first call counts. Failures are left to the reads to come, so that
// they are met in the range they belong to.
func (it *BlockBasedTableIterator) Prepare(opts any) {
	args, ok := opts.(*rocksdb.MultiScanArgs)
	if !ok || args == nil || it.scan != nil {
		return
	}
	it.index.Prepare(args)
	stats, perf := it.t.ioptions.Stats, it.ro.PerfContext
	monitoring.RecordTick(stats, rocksdb.MultiscanPrepareCalls, 1)
	if perf.CountEnabled() {
		perf.MultiscanPrepareCount++
	}
	timer := startTimer(it.t.ioptions, rocksdb.HistMultiscanPrepareMicros)
	defer timer.Stop()
	s := &scanBlocks{reverse: args.Reverse}
	err := it.collectBlocks(args, s)
	if err == nil {
		s.cut(args, it.t.footer.BlockTrailerSize)
		job := IOJob{Table: it.t, BlockHandles: s.handles[s.from:s.to:s.to], IOCoalesceThreshold: args.IOCoalesceThreshold,
			ReadOptions: it.ro, Async: args.UseAsyncIO, Reverse: args.Reverse}
		if d, ok := args.IODispatcher.(blockDispatcher); ok {
			s.set, err = d.SubmitJob(&job)
		} else {
			s.set, err = NewReadSet(&job, nil)
		}
	}
	if err != nil {
		monitoring.RecordTick(stats, rocksdb.MultiscanPrepareErrors, 1)
		return
	}
	monitoring.RecordInHistogram(stats, rocksdb.HistMultiscanBlocksPerPrepare, uint64(s.to-s.from))
	it.scan = s
}

// collectBlocks finds the blocks of the ranges in the index.
func (it *BlockBasedTableIterator) collectBlocks(args *rocksdb.MultiScanArgs, s *scanBlocks) (err error) {
	index := it.index
	var answers *scanIndex
	if _, ok := index.(*userIndexIterator); ok {
		// It may answer for each announced range once.
		answers = newScanIndex(it.icmp, args)
	}
	cmp := it.icmp.UserComparator()
	var seek []byte
	for i := range args.Ranges {
		r := &args.Ranges[i].Range
		seek = dbformat.AppendKeyWithMaxTimestamp(seek[:0], r.Start, it.icmp.TimestampSize())
		seek = dbformat.AppendInternalKeyFooter(seek, dbformat.MaxSequenceNumber, dbformat.ValueTypeForSeek)
		for index.Seek(seek); index.Valid(); index.Next() {
			v := index.Value()
			last := r.Limit != nil && cmp.CompareWithoutTimestamp(index.UserKey(), true, r.Limit, false) >= 0
			if last && len(v.FirstInternalKey) >= dbformat.NumInternalBytes &&
				cmp.CompareWithoutTimestamp(dbformat.ExtractUserKey(v.FirstInternalKey), true, r.Limit, false) >= 0 {
				break
			}
			if answers != nil {
				answers.add(i, index.Key(), v)
			}
			if n := len(s.handles); n == 0 || s.handles[n-1].Offset < v.Handle.Offset {
				s.handles = append(s.handles, v.Handle)
			}
			if last {
				break
			}
		}
		if err = indexStatus(index); err != nil {
			break
		}
	}
	if answers != nil {
		answers.err = err
		own := it.t.index.(*userIndexReader).indexReader
		answers.rest = own.newIterator(&it.rc, true, &it.indexScratch)
		_ = index.Close() // its status was looked at
		it.index = answers
	}
	return err
}

// cut leaves out the blocks past args.MaxPrefetchSize.
func (s *scanBlocks) cut(args *rocksdb.MultiScanArgs, trailer int) {
	s.to = len(s.handles)
	total := uint64(0)
	for n := range s.handles {
		i := n
		if s.reverse {
			i = len(s.handles) - 1 - n
		}
		total += s.handles[i].Size + uint64(trailer)
		if args.MaxPrefetchSize == 0 || total <= args.MaxPrefetchSize {
			continue
		}
		if s.reverse {
			s.from = i + 1
		} else {
			s.to = i
		}
		break
	}
	s.kept = [2]int{s.from, s.to}
	s.at = s.from
}

// find gives the number of the block at an offset.
// Upstream: MultiScanIndexIterator::Seek.
func (s *scanBlocks) find(offset uint64) (int, bool) {
	for _, i := range [3]int{s.at, s.at + 1, s.at - 1} {
		if i >= 0 && i < len(s.handles) && s.handles[i].Offset == offset {
			return i, true
		}
	}
	i := sort.Search(len(s.handles), func(i int) bool { return s.handles[i].Offset >= offset })
	return i, i < len(s.handles) && s.handles[i].Offset == offset
}

// pass releases the blocks that the scan has gone by.
// Upstream: MultiScanIndexIterator::Next.
func (s *scanBlocks) pass(i int) {
	if s.reverse {
		for ; s.kept[1] > i+1 && s.kept[1] > s.kept[0]; s.kept[1]-- {
			s.release(s.kept[1] - 1)
		}
		return
	}
	for ; s.kept[0] < i && s.kept[0] < s.kept[1]; s.kept[0]++ {
		s.release(s.kept[0])
	}
}

// release is upstream's MultiScanIndexIterator::ReleaseBlocks.
func (s *scanBlocks) release(i int) {
	if s.set.ReleaseBlock(i - s.from) {
		s.wasted++
	}
}

var errPrefetchLimit = rocksdb.WithSubCode(rocksdb.CodeIncomplete, rocksdb.SubCodePrefetchLimitReached, "")

// initScanBlock sets data on a block of the ranges; false for others.
func (it *BlockBasedTableIterator) initScanBlock(h format.BlockHandle) bool {
	s := it.scan
	i, ok := s.find(h.Offset)
	if !ok {
		return false
	}
	s.at = i
	s.pass(i)
	if i < s.from || i >= s.to {
		it.data.Invalidate(errPrefetchLimit)
		return true
	}
	e, err := s.set.ReadIndex(i - s.from)
	if err != nil {
		it.data.Invalidate(err)
		return true
	}
	it.t.initDataIter(&it.rc, &e, h, &it.data)
	return true
}

// countUselessBlock counts a block that was entered for nothing: its first entry
// is beyond the range.
func (it *BlockBasedTableIterator) countUselessBlock() {
	if it.outOfBound && it.haveBlock && it.data.Valid() {
		it.scan.wasted++
	}
}

// closeScan gives the blocks up.
func (it *BlockBasedTableIterator) closeScan() {
	s := it.scan
	it.scan = nil
	s.wasted += uint64(s.set.Close())
	stats := s.set.Stats()
	monitoring.RecordTick(it.t.ioptions.Stats, rocksdb.MultiscanPrefetchBlocksWasted, s.wasted)
	stats.record(it.t.ioptions.Stats, it.ro.PerfContext)
}
