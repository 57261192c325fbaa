// Port of db/version_set.cc (LevelIterator::Prepare and what it needs). Differs:
// a file's range tombstones come with its prepared iterator.

package db

import (
	"iter"
	"slices"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/db/rangedel"
	"github.com/rocksdb-go/rocksdb/db/version"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/table/internaliter"
	"github.com/rocksdb-go/rocksdb/util/stopwatch"
)

// levelScan is what Prepare announced.
type levelScan struct {
	ranges   map[int]*rocksdb.MultiScanArgs // those of each file; nil: nothing
	prepared map[int]preparedFile           // whose reads are under way
}

// preparedFile is the iterator of a file that was not come to yet.
type preparedFile struct {
	iter       internaliter.InternalIterator
	tombstones *rangedel.TruncatedRangeDelIterator
}

// Prepare gives each file its ranges; with asynchronous I/O all files' reads
// are begun now, else a file's are done when it is come to. Ranges without a
// limit are not read ahead.
func (it *LevelIterator) Prepare(opts any) {
	args, ok := opts.(*rocksdb.MultiScanArgs)
	if !ok || args == nil || !args.HasBoundedScanRanges() {
		return
	}
	it.closePrepared()
	it.scan.ranges = it.rangesByFile(args)
	if io := it.o.IOptions; io != nil && io.Stats != nil {
		w := stopwatch.NewStopWatch(io.Clock, io.Stats, rocksdb.HistMultiscanPrepareIterators)
		defer w.Stop()
	}
	if !args.UseAsyncIO {
		return
	}
	files := make([]int, 0, len(it.scan.ranges))
	for at := range it.scan.ranges {
		files = append(files, at)
	}
	slices.Sort(files)
	if args.Reverse {
		slices.Reverse(files)
	}
	it.scan.prepared = make(map[int]preparedFile, len(files))
	for _, at := range files {
		var p preparedFile
		slot := &p.tombstones
		if it.slot == nil {
			slot = nil
		}
		p.iter = it.openFile(at, slot)
		p.iter.Prepare(it.scan.ranges[at])
		it.scan.prepared[at] = p
	}
}

// rangesByFile finds the files that each range overlaps.
// Upstream: LevelIterator::FileHasMultiScanArg,
// LevelIterator::GetMultiScanArgForFile.
func (it *LevelIterator) rangesByFile(args *rocksdb.MultiScanArgs) map[int]*rocksdb.MultiScanArgs {
	byFile := make(map[int]*rocksdb.MultiScanArgs)
	for at, r := range multiScanOverlappingFiles(it.icmp, it.o.Files, args) {
		if it.files[at].FileMetadata.FileIsStandAloneRangeTombstone() {
			continue
		}
		a := byFile[at]
		if a == nil {
			a = new(rocksdb.MultiScanArgs)
			*a = *args
			a.Ranges = nil
			byFile[at] = a
		}
		a.Ranges = append(a.Ranges, *r)
	}
	return byFile
}

// multiScanOverlappingFiles gives, range by range, the files of a sorted level
// that the range overlaps. All ranges have both ends.
// Upstream: ForEachMultiScanOverlappingFile.
func multiScanOverlappingFiles(icmp *dbformat.InternalKeyComparator, files *version.LevelFilesBrief, args *rocksdb.MultiScanArgs) iter.Seq2[int, *rocksdb.ScanOptions] {
	return func(yield func(int, *rocksdb.ScanOptions) bool) {
		cmp := icmp.UserComparator()
		var seek []byte
		for i := range args.Ranges {
			r := &args.Ranges[i]
			seek = dbformat.AppendKeyWithMaxTimestamp(seek[:0], r.Range.Start, icmp.TimestampSize())
			seek = dbformat.AppendInternalKeyFooter(seek, dbformat.MaxSequenceNumber, dbformat.ValueTypeForSeek)
			for at := version.FindFile(icmp, files, seek); at < len(files.Files); at++ {
				smallest := dbformat.ExtractUserKey(files.Files[at].SmallestKey)
				if cmp.CompareWithoutTimestamp(smallest, true, r.Range.Limit, false) >= 0 {
					break
				}
				if !yield(at, r) {
					return
				}
			}
		}
	}
}

// multiScanFiles tells which file of a sorted level the ranges overlap, -1 for
// none, and whether there are several.
// Upstream: GetMultiScanOverlappingFiles.
func multiScanFiles(icmp *dbformat.InternalKeyComparator, files *version.LevelFilesBrief, args *rocksdb.MultiScanArgs) (first int, several bool) {
	first = -1
	for at := range multiScanOverlappingFiles(icmp, files, args) {
		if first >= 0 && at != first {
			return first, true
		}
		first = at
	}
	return first, false
}

// multiScanOverlaps tells whether some range, all of which have both ends, meets
// the user keys from smallest to largest, which have timestamps.
// Upstream: MultiScanOverlapsUserKeyRange, MultiScanRangeOverlapsFile.
func multiScanOverlaps(icmp *dbformat.InternalKeyComparator, args *rocksdb.MultiScanArgs, smallest, largest []byte) bool {
	cmp := icmp.UserComparator()
	return slices.ContainsFunc(args.Ranges, func(r rocksdb.ScanOptions) bool {
		return cmp.CompareWithoutTimestamp(r.Range.Limit, false, smallest, true) > 0 &&
			cmp.CompareWithoutTimestamp(r.Range.Start, false, largest, true) <= 0
	})
}

// scanFileIterator is newFileIterator after Prepare.
func (it *LevelIterator) scanFileIterator() internaliter.InternalIterator {
	if p, ok := it.scan.prepared[it.index]; ok {
		delete(it.scan.prepared, it.index)
		it.checkMayBeOutOfLowerBound()
		if it.slot != nil {
			*it.slot = p.tombstones
		}
		return p.iter
	}
	iter := it.newFileIterator()
	if a := it.scan.ranges[it.index]; a != nil {
		iter.Prepare(a)
	}
	return iter
}

// closePrepared closes the iterators of files that were not come to.
func (it *LevelIterator) closePrepared() {
	for at, p := range it.scan.prepared {
		delete(it.scan.prepared, at)
		_ = p.iter.Close() // what it met did not matter
	}
}
