// Port of db/compaction/compaction_outputs.{h,cc}. Differs: what counts blobs is the
// part's.

package job

import (
	"github.com/rocksdb-go/rocksdb/db"
	"github.com/rocksdb-go/rocksdb/db/blob"
	"github.com/rocksdb-go/rocksdb/db/compaction"
	"github.com/rocksdb-go/rocksdb/db/compaction/iterstats"
	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/db/rangedel"
	"github.com/rocksdb-go/rocksdb/db/seqnotime"
	"github.com/rocksdb-go/rocksdb/db/version"
	"github.com/rocksdb-go/rocksdb/file"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/table"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
	"github.com/rocksdb-go/rocksdb/util/stopwatch"
)

// output is one table.
type output struct {
	meta       *version.FileMetaData
	validator  *db.OutputValidator
	properties *rocksdb.TableProperties
	path       string
	finished   bool
}

// compactionOutputs writes the tables of one part of a compaction that go to one
// level.
type compactionOutputs struct {
	c        *compaction.Compaction
	proximal bool // to the proximal level
	icmp     *dbformat.InternalKeyComparator
	builder  table.TableBuilder
	writer   *file.WritableFileWriter
	wo       rocksdb.WriteOptions
	ro       rocksdb.ReadOptions

	outputs []output
	paths   []string               // of all tables ever made
	garbage *blob.BlobGarbageMeter // the part's; nil: the inputs have no blobs
	stats   outputStats

	currentFileSize        uint64
	smallestPreferredSeqno rocksdb.SequenceNumber
	workerCPUMicros        uint64

	partitioner           rocksdb.SstPartitioner
	partitionerRequest    rocksdb.PartitionerRequest
	lastKeyForPartitioner []byte

	// The round-robin cursor, when it lies within the part, and whether a table
	// has been ended there.
	splitKey dbformat.InternalKey
	isSplit  bool

	// Old files of the output level, whose keys are kept in files of their own
	// so that they can be compacted on before their TTL.
	filesToCutForTTL []*version.FileMetaData
	curFileToCut     int // -1 when between files
	nextFileToCut    int

	// grandparentIndex is the grandparent at or, in a gap, after the last key.
	grandparentIndex               int
	beingGrandparentGap            bool
	grandparentOverlappedBytes     uint64 // of the present table
	seenKey                        bool
	grandparentBoundarySwitchedNum int // of the present table

	// rangeTombstoneLowerBound is where the present table begins, when that is
	// a range tombstone's start.
	rangeTombstoneLowerBound []byte
	levelPtrs                []int
}

// outputStats counts what was written.
type outputStats struct {
	bytesWritten        uint64
	bytesWrittenPreComp uint64
	numOutputRecords    uint64
	numOutputFiles      int
}

func newCompactionOutputs(c *compaction.Compaction, proximal bool) *compactionOutputs {
	o := &compactionOutputs{c: c, proximal: proximal, icmp: c.Comparator(), smallestPreferredSeqno: dbformat.MaxSequenceNumber,
		curFileToCut: -1, beingGrandparentGap: true, levelPtrs: make([]int, c.NumberLevels())}
	if c.OutputLevel() > 0 {
		o.partitioner = c.CreateSstPartitioner()
		o.fillFilesToCutForTTL()
	}
	return o
}

// level is where the tables go.
func (o *compactionOutputs) level() int {
	if o.proximal {
		return o.c.GetProximalLevel()
	}
	return o.c.OutputLevel()
}

func (o *compactionOutputs) hasBuilder() bool { return o.builder != nil }

func (o *compactionOutputs) current() *output { return &o.outputs[len(o.outputs)-1] }

// setOutputSplitKey takes the compaction's split key if it is inside the part.
// Upstream: CompactionOutputs::SetOutputSlitKey.
func (o *compactionOutputs) setOutputSplitKey(start, end []byte) {
	key := o.c.GetOutputSplitKey()
	if key == nil {
		return
	}
	uk := key.UserKey()
	if (end == nil || o.icmp.CompareUserKey(uk, end) < 0) && (start == nil || o.icmp.CompareUserKey(uk, start) > 0) {
		o.splitKey = key
	}
}

// fillFilesToCutForTTL lists files of the output level past half the TTL that
// are not small.
func (o *compactionOutputs) fillFilesToCutForTTL() {
	io, mo := o.c.ImmutableOptions(), o.c.MutableCFOptions()
	if io.CompactionStyle != rocksdb.CompactionStyleLevel || io.CompactionPri != rocksdb.MinOverlappingRatio ||
		mo.TTL == 0 || o.c.NumInputLevels() < 2 || o.c.BottommostLevel() {
		return
	}
	t, err := io.Clock.GetCurrentTime()
	now := uint64(t)
	if err != nil || now < mo.TTL {
		return
	}
	for _, f := range o.c.InputFiles(o.c.NumInputLevels() - 1) {
		if f.TryGetOldestAncesterTime() < now-mo.TTL/2 && f.FD.GetFileSize() > mo.TargetFileSizeBase/2 {
			o.filesToCutForTTL = append(o.filesToCutForTTL, f)
		}
	}
}

// updateFilesToCutForTTLStates tells whether key enters or leaves such a file.
func (o *compactionOutputs) updateFilesToCutForTTLStates(key []byte) bool {
	if o.curFileToCut >= 0 {
		if o.icmp.Compare(key, o.filesToCutForTTL[o.curFileToCut].Largest) > 0 {
			o.nextFileToCut = o.curFileToCut + 1
			o.curFileToCut = -1
			return true
		}
		return false
	}
	for o.nextFileToCut < len(o.filesToCutForTTL) {
		f := o.filesToCutForTTL[o.nextFileToCut]
		if o.icmp.Compare(key, f.Smallest) < 0 {
			break
		}
		if o.icmp.Compare(key, f.Largest) <= 0 {
			o.curFileToCut = o.nextFileToCut
			return true
		}
		o.nextFileToCut++
	}
	return false
}

// updateGrandparentBoundaryInfo follows key through the grandparents and gives
// how many of their bounds lie between the last key and this one.
func (o *compactionOutputs) updateGrandparentBoundaryInfo(key []byte) int {
	gs := o.c.Grandparents()
	if len(gs) == 0 {
		return 0
	}
	crossed := 0
	// Of several files that share the key, the last one counts.
	for o.grandparentIndex < len(gs) {
		g := gs[o.grandparentIndex]
		if o.beingGrandparentGap {
			if version.SstableKeyCompare(o.icmp, key, g.Smallest) < 0 {
				break
			}
			if o.seenKey {
				crossed++
				o.grandparentOverlappedBytes += g.FD.GetFileSize()
				o.grandparentBoundarySwitchedNum++
			}
			o.beingGrandparentGap = false
			continue
		}
		cmp := version.SstableKeyCompare(o.icmp, key, g.Largest)
		if cmp < 0 || cmp == 0 && (o.grandparentIndex == len(gs)-1 ||
			version.SstableKeyCompare(o.icmp, key, gs[o.grandparentIndex+1].Smallest) < 0) {
			break
		}
		if o.seenKey {
			crossed++
			o.grandparentBoundarySwitchedNum++
		}
		o.beingGrandparentGap = true
		o.grandparentIndex++
	}
	if !o.seenKey && !o.beingGrandparentGap {
		o.grandparentOverlappedBytes = o.currentKeyGrandparentOverlappedBytes(key)
	}
	o.seenKey = true
	return crossed
}

// currentKeyGrandparentOverlappedBytes sums up the grandparents that hold key.
func (o *compactionOutputs) currentKeyGrandparentOverlappedBytes(key []byte) uint64 {
	if o.beingGrandparentGap {
		return 0
	}
	gs := o.c.Grandparents()
	n := gs[o.grandparentIndex].FD.GetFileSize()
	for i := o.grandparentIndex - 1; i >= 0 && version.SstableKeyCompare(o.icmp, key, gs[i].Largest) == 0; i-- {
		n += gs[i].FD.GetFileSize()
	}
	return n
}

// ManualDecision lets a test, at a sync point, end a table before a key.
type ManualDecision struct {
	Key  []byte // internal
	Stop bool
}

// shouldStopBefore decides whether the present table ends before the
// iterator's entry.
func (o *compactionOutputs) shouldStopBefore(it *compaction.CompactionIterator) bool {
	key := it.Key()
	manual := ManualDecision{Key: key}
	syncpoint.ProcessArg("CompactionOutputs::ShouldStopBefore::manual_decision", &manual)
	if manual.Stop {
		return true
	}
	before := o.grandparentOverlappedBytes
	crossed, stopForTTL := 0, false
	if o.c.OutputLevel() > 0 {
		crossed = o.updateGrandparentBoundaryInfo(key)
		if len(o.filesToCutForTTL) > 0 {
			stopForTTL = o.updateFilesToCutForTTLStates(key)
		}
	}
	if !o.hasBuilder() {
		return false
	}
	if stopForTTL {
		return true
	}
	if o.partitioner != nil {
		o.partitionerRequest = rocksdb.PartitionerRequest{PrevUserKey: o.lastKeyForPartitioner, CurrentUserKey: it.UserKey(),
			CurrentOutputFileSize: o.currentFileSize}
		if o.partitioner.ShouldPartition(&o.partitionerRequest) == rocksdb.Required {
			return true
		}
	}
	if o.c.OutputLevel() == 0 {
		return false
	}
	size := o.currentFileSize
	if o.c.MutableCFOptions().TargetFileSizeIsUpperBound {
		size += o.builder.EstimatedTailSize()
	}
	if size >= o.c.MaxOutputFileSize() {
		return true
	}
	if o.splitKey != nil && !o.isSplit && o.icmp.Compare(key, o.splitKey) >= 0 {
		o.isSplit = true
		return true
	}
	return crossed > 0 && o.shouldStopAtGrandparent(crossed, o.grandparentOverlappedBytes-before)
}

// shouldStopAtGrandparent decides at a grandparent's bound. The table ends
//   - before it would overlap so much that its next compaction is too large;
//   - before grandparents it could jump over, when those are at least an eighth
//     of a table;
//   - when it is large enough: from half the target size on, and later the more
//     bounds it has met, for then another is likely to come in time.
func (o *compactionOutputs) shouldStopAtGrandparent(crossed int, added uint64) bool {
	if o.grandparentOverlappedBytes+o.currentFileSize > o.c.MaxCompactionBytes() {
		return true
	}
	if o.c.ImmutableOptions().CompactionStyle != rocksdb.CompactionStyleLevel {
		return false
	}
	skippable := 3
	if o.beingGrandparentGap {
		skippable = 2
	}
	target := o.c.TargetOutputFileSize()
	return crossed >= skippable && added > target/8 ||
		o.currentFileSize >= (target+99)/100*uint64(50+min(o.grandparentBoundarySwitchedNum*5, 40))
}

// addToOutput puts the iterator's entry into a table of o.
// Upstream: CompactionOutputs::AddToOutput.
func (p *part) addToOutput(o *compactionOutputs) error {
	it := p.it
	isRangeDel := it.IsDeleteRangeSentinelKey()
	if isRangeDel && o.c.BottommostLevel() && !o.c.AllowIngestBehind() {
		return nil // nothing is below, and the tombstone may go
	}
	key := it.Key()
	if o.shouldStopBefore(it) && o.hasBuilder() {
		if err := p.finish(o, nil, key); err != nil {
			return err
		}
		o.grandparentBoundarySwitchedNum = 0
		o.grandparentOverlappedBytes = o.currentKeyGrandparentOverlappedBytes(key)
		o.rangeTombstoneLowerBound = o.rangeTombstoneLowerBound[:0]
		if isRangeDel {
			o.rangeTombstoneLowerBound = append(o.rangeTombstoneLowerBound, key...)
		}
	}
	if !o.hasBuilder() {
		if err := p.openOutputFile(o); err != nil {
			return err
		}
	}
	if o.partitioner != nil {
		o.lastKeyForPartitioner = append(o.lastKeyForPartitioner[:0], it.UserKey()...)
	}
	if isRangeDel {
		return nil
	}
	value := it.Value()
	if o.garbage != nil {
		if err := o.garbage.ProcessOutFlow(key, value); err != nil {
			return err
		}
	}
	out := o.current()
	if err := out.validator.Add(key, value); err != nil {
		return err
	}
	_ = o.builder.Add(key, value) // finish tells of an error
	o.stats.numOutputRecords++
	o.currentFileSize = o.builder.EstimatedFileSize()
	ikey := it.IKey()
	if ikey.Type == dbformat.TypeValuePreferredSeqno {
		if _, seqno, ok := seqnotime.ParsePackedValueWithSeqno(value); ok {
			o.smallestPreferredSeqno = min(o.smallestPreferredSeqno, seqno)
		}
	}
	return out.meta.UpdateBoundaries(key, value, ikey.Sequence, ikey.Type)
}

// rangeDelArgs are addRangeDels's arguments that are the same for all tables of
// a part.
type rangeDelArgs struct {
	agg              *rangedel.CompactionRangeDelAggregator
	start, end       []byte // user keys that bound the part, nil for open
	earliestSnapshot rocksdb.SequenceNumber
	fullHistoryTSLow []byte
	// splitAfter is the sequence number up to which tombstones go to the last level,
	// those above to the proximal one; the greatest where there is none.
	splitAfter rocksdb.SequenceNumber
	// coveredSize tells how much of the lower levels a tombstone covers; may be
	// nil.
	coveredSize func(start, end []byte) uint64
	stats       *iterstats.CompactionIterationStats
}

// tombstoneBounds gives the internal keys that the present table spans. All and
// only the tombstones that overlap them go into it.
//
// A tombstone across the bound of two parts is in the tables on both sides: the
// left one may reach up to the bound's user key at the greatest sequence number,
// the right one begins at whatever it holds of that key.
func (o *compactionOutputs) tombstoneBounds(a *rangeDelArgs, nextMinKey []byte) (lower, upper []byte) {
	meta := o.current().meta
	bound := func(userKey []byte) []byte {
		return dbformat.NewInternalKey(userKey, dbformat.MaxSequenceNumber, dbformat.TypeRangeDeletion)
	}
	switch {
	case len(o.outputs) > 1 && len(o.rangeTombstoneLowerBound) > 0:
		lower = o.rangeTombstoneLowerBound
	case len(o.outputs) > 1:
		lower = meta.Smallest // the table before holds what is below
	case a.start != nil:
		lower = bound(a.start)
	}
	switch {
	case len(nextMinKey) == 0 && a.end != nil:
		upper = bound(a.end)
	case len(nextMinKey) == 0:
	default:
		next := dbformat.ExtractUserKey(nextMinKey)
		if len(meta.Largest) > 0 && o.icmp.CompareWithoutTimestamp(meta.Largest.UserKey(), next) == 0 {
			upper = meta.Largest
		} else {
			ts := o.icmp.TimestampSize()
			upper = bound(dbformat.AppendUserKeyWithMaxTimestamp(nil, next, ts))
		}
	}
	return lower, upper
}

// addRangeDels puts range tombstones into the present table, as far as they are
// within it, and widens its bounds by them. nextMinKey is the first key of the
// next table, empty when there is none.
func (o *compactionOutputs) addRangeDels(a *rangeDelArgs, nextMinKey []byte) error {
	lower, upper := o.tombstoneBounds(a, nextMinKey)
	if lower != nil && upper != nil && o.icmp.Compare(lower, upper) > 0 {
		return nil // a table without entries before the next table's first key
	}
	it, err := a.agg.NewIterator(lower, upper)
	if err != nil {
		return err
	}
	bottommost := o.c.BottommostLevel()
	ts := o.icmp.TimestampSize()
	var lastStart []byte
	reachedLower := false
	for it.SeekToFirst(); it.Valid(); it.Next() {
		t := it.Tombstone()
		if o.proximal != (t.Seq > a.splitAfter) {
			continue // of the other level
		}
		key, value := t.Serialize()
		end := t.SerializeEndKey()
		// An end is its user key at the greatest sequence number: one that is
		// the lower bound itself covers nothing here.
		if !reachedLower && lower != nil && o.icmp.Compare(end, lower) <= 0 {
			continue
		}
		reachedLower = true
		// What may be ingested behind later is to stay deleted, too.
		considerDrop := !o.c.AllowIngestBehind() && t.Seq <= a.earliestSnapshot && (ts == 0 || len(a.fullHistoryTSLow) > 0 &&
			o.icmp.UserComparator().CompareTimestamp(t.Timestamp, a.fullHistoryTSLow) < 0)
		if considerDrop && bottommost {
			a.stats.NumRangeDelDropObsolete++
			a.stats.NumRecordDropObsolete++
			continue
		}
		start := key
		if lower != nil && o.icmp.CompareWithoutTimestamp(start.UserKey(), dbformat.ExtractUserKey(lower)) < 0 {
			start = o.startAt(lower, t.Timestamp, start)
		}
		if upper != nil && o.icmp.Compare(upper, start) < 0 {
			break
		}
		if lower != nil && o.icmp.Compare(start, lower) < 0 {
			start = append(dbformat.InternalKey(nil), lower...)
		}
		if upper != nil && o.icmp.Compare(upper, end) < 0 {
			end = append(dbformat.InternalKey(nil), upper...)
		}
		if considerDrop && o.c.KeyRangeNotExistsBeyondOutputLevel(start.UserKey(), end.UserKey(), o.levelPtrs) {
			a.stats.NumRangeDelDropObsolete++
			a.stats.NumRecordDropObsolete++
			continue
		}
		_ = o.builder.Add(key, value)
		meta := o.current().meta
		meta.UpdateBoundariesForRange(start, end, t.Seq, o.icmp)
		if bottommost || a.coveredSize == nil {
			continue
		}
		if lastStart == nil || o.icmp.CompareWithoutTimestamp(lastStart, it.StartKey()) < 0 {
			// Ends of one user key concern only this level.
			if o.icmp.CompareWithoutTimestamp(start.UserKey(), end.UserKey()) < 0 {
				meta.CompensatedRangeDeletionSize += a.coveredSize(start, end)
			}
		}
		lastStart = append(lastStart[:0], it.StartKey()...)
	}
	return it.Status()
}

// startAt is a tombstone's start moved to lower's user key, with its own
// sequence number and timestamp.
func (o *compactionOutputs) startAt(lower, timestamp []byte, start dbformat.InternalKey) dbformat.InternalKey {
	seq, t := dbformat.UnPackSequenceAndType(dbformat.ExtractInternalKeyFooter(start))
	uk := append([]byte(nil), dbformat.ExtractUserKey(lower)...)
	if n := o.icmp.TimestampSize(); n > 0 && len(timestamp) == n {
		copy(uk[len(uk)-n:], timestamp)
	}
	return dbformat.NewInternalKey(uk, seq, t)
}

// finish ends the table, or drops it after an error.
func (o *compactionOutputs) finish(err error, mapping *seqnotime.SeqnoToTimeMapping) error {
	meta := o.current().meta
	if err == nil {
		relevant := seqnotime.NewSeqnoToTimeMapping()
		relevant.CopyFromSeqnoRange(mapping, min(o.smallestPreferredSeqno, meta.FD.SmallestSeqno), meta.FD.LargestSeqno)
		relevant.SetCapacity(seqnotime.MaxSeqnoTimePairsPerSST)
		relevant.Enforce(0)
		o.builder.SetSeqnoTimeTableProperties(relevant, meta.OldestAncesterTime)
		err = o.builder.Finish()
	} else {
		o.builder.Abandon()
	}
	size := o.builder.FileSize()
	if err == nil {
		meta.FD.FileSize = size
		meta.TailSize = o.builder.GetTailSize()
		meta.MarkedForCompaction.Store(o.builder.NeedCompact())
		p := o.builder.GetTableProperties()
		meta.UserDefinedTimestampsPersisted = p.UserDefinedTimestampsPersisted != 0
		db.ExtractTimestampFromTableProperties(&p, meta)
		o.current().properties = &p
	}
	o.current().finished = true
	o.stats.bytesWritten += size
	o.stats.bytesWrittenPreComp += o.builder.PreCompressionSize()
	o.stats.numOutputFiles = len(o.outputs)
	o.workerCPUMicros += o.builder.GetWorkerCPUMicros()
	return err
}

// writerSyncClose makes the file durable, unless err is set, and closes it.
func (o *compactionOutputs) writerSyncClose(err error, clock rocksdb.SystemClock, stats rocksdb.Statistics, useFsync bool) error {
	var opts rocksdb.IOOptions
	file.PrepareIOFromWriteOptions(&o.wo, &opts)
	w := o.writer
	o.writer = nil
	if err != nil {
		_ = w.Close(&opts) // the error before counts
		return nil
	}
	sw := stopwatch.NewStopWatch(clock, stats, rocksdb.HistCompactionOutfileSyncMicros)
	ioErr := w.Sync(&opts, useFsync)
	sw.Stop()
	if closeErr := w.Close(&opts); ioErr == nil {
		ioErr = closeErr
	}
	if ioErr == nil {
		meta := o.current().meta
		meta.FileChecksum, meta.FileChecksumFuncName = w.GetFileChecksum(), w.GetFileChecksumFuncName()
	}
	return ioErr
}

func (o *compactionOutputs) resetBuilder() {
	o.builder = nil
	o.currentFileSize = 0
}

func (o *compactionOutputs) removeLastOutput() { o.outputs = o.outputs[:len(o.outputs)-1] }

// removeLastEmptyOutput drops a table that a failure left without bytes.
func (o *compactionOutputs) removeLastEmptyOutput() {
	if n := len(o.outputs); n > 0 && o.outputs[n-1].meta.FD.GetFileSize() == 0 {
		o.removeLastOutput()
	}
}

func (o *compactionOutputs) smallestUserKey() []byte {
	if len(o.outputs) == 0 || !o.outputs[0].finished {
		return nil
	}
	return o.outputs[0].meta.Smallest.UserKey()
}

func (o *compactionOutputs) largestUserKey() []byte {
	if len(o.outputs) == 0 || !o.current().finished {
		return nil
	}
	return o.current().meta.Largest.UserKey()
}

// abandon lets go of what is open.
func (o *compactionOutputs) abandon() {
	if o.builder != nil {
		o.builder.Abandon()
		o.builder = nil
	}
	if o.writer != nil {
		_ = o.writer.Close(rocksdb.NewIOOptions()) // its file is not kept
		o.writer = nil
	}
}
