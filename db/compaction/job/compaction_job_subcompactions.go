// Port of db/compaction/compaction_job.cc (the parts of a compaction and their
// output files).

package job

import (
	"bytes"
	"math"
	"runtime"
	"slices"

	"github.com/rocksdb-go/rocksdb/db"
	"github.com/rocksdb-go/rocksdb/db/blob"
	"github.com/rocksdb-go/rocksdb/db/compaction"
	"github.com/rocksdb-go/rocksdb/db/compaction/iterstats"
	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/db/merge"
	"github.com/rocksdb-go/rocksdb/db/rangedel"
	"github.com/rocksdb-go/rocksdb/db/tablecache"
	"github.com/rocksdb-go/rocksdb/db/version"
	"github.com/rocksdb-go/rocksdb/file"
	"github.com/rocksdb-go/rocksdb/file/filename"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/logging"
	"github.com/rocksdb-go/rocksdb/monitoring"
	"github.com/rocksdb-go/rocksdb/options"
	"github.com/rocksdb-go/rocksdb/table"
	"github.com/rocksdb-go/rocksdb/table/internaliter"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

func edits(e *version.VersionEdit) []*version.VersionEdit { return []*version.VersionEdit{e} }

func (j *CompactionJob) roundRobin() bool {
	return j.io.CompactionPri == rocksdb.RoundRobin && j.io.CompactionStyle == rocksdb.CompactionStyleLevel
}

// subcompactionsLimit is how many parts may run at once.
func (j *CompactionJob) subcompactionsLimit() int {
	return j.reservedThreads + max(1, int(j.c.MaxSubcompactions()))
}

// shrinkSubcompactionResources gives n goroutines back; the mutex is held.
func (j *CompactionJob) shrinkSubcompactionResources(n int) {
	if n > 0 {
		j.ReleaseThreads(n)
		j.reservedThreads -= n
	}
}

// genSubcompactionBoundaries gives user keys that split the inputs evenly. Every
// file tells about 128 keys with about as many bytes between each two; sorted
// together and summed up, these give the sizes of ranges. Ranges of different
// files overlap, so the sums are a little low, but with that many keys it does
// not matter. The mutex is held, and released meanwhile.
func (j *CompactionJob) genSubcompactionBoundaries() [][]byte {
	if j.c.MaxSubcompactions() <= 1 && !j.roundRobin() {
		return nil
	}
	base := j.c.InputVersion().StorageInfo().BaseLevel()
	j.Mutex.Unlock()
	anchors, total := j.anchors()
	j.Mutex.Lock()
	planned := j.subcompactionsLimit()
	if j.roundRobin() {
		// More parts than allowed, as long as other compactions can spare the
		// goroutines.
		files := j.c.NumInputFiles(0)
		if planned < files {
			if j.ReserveThreads != nil {
				j.reservedThreads = j.ReserveThreads(files - planned)
			}
			planned = min(files, j.subcompactionsLimit())
		}
	}
	syncpoint.ProcessArg("CompactionJob::GenSubcompactionBoundaries:0", &planned)
	if planned <= 1 {
		return nil
	}
	target := max(total/uint64(planned), options.MaxFileSizeForLevel(j.mo, j.c.OutputLevel(), j.io.CompactionStyle, base,
		j.io.LevelCompactionDynamicLevelBytes))
	if target >= total {
		return nil
	}
	var boundaries [][]byte
	next, sum := target, uint64(0)
	for _, a := range anchors {
		if sum += a.RangeSize; sum > next {
			next += target
			boundaries = append(boundaries, a.UserKey)
		}
		if len(boundaries)+1 == planned {
			break
		}
	}
	actual := len(boundaries) + 1
	syncpoint.ProcessArg("CompactionJob::GenSubcompactionBoundaries:1", &actual)
	j.shrinkSubcompactionResources(min(planned-actual, j.reservedThreads))
	return boundaries
}

// anchors gives the inputs' keys, sorted and each once, and the sum of all
// ranges.
func (j *CompactionJob) anchors() (all []table.Anchor, total uint64) {
	ro := rocksdb.DefaultReadOptions()
	ro.IOActivity = rocksdb.IOActivityCompaction
	ro.RateLimiterPriority = j.GetRateLimiterPriority()
	for i := range j.c.NumInputLevels() {
		if level := j.c.InputLevel(i); level < j.c.StartLevel() || level > j.c.OutputLevel() {
			continue
		}
		for k := range j.c.InputLevelFiles(i).Files {
			f := j.c.InputLevelFiles(i).Files[k].FileMetadata
			as, err := j.CFD.TableCache().ApproximateKeyAnchors(&ro, f, j.mo)
			if err != nil || len(as) == 0 {
				as = []table.Anchor{{UserKey: f.Largest.UserKey(), RangeSize: f.FD.GetFileSize()}}
			}
			for _, a := range as {
				total += a.RangeSize
			}
			all = append(all, as...)
		}
	}
	slices.SortFunc(all, func(a, b table.Anchor) int { return j.icmp.CompareWithoutTimestamp(a.UserKey, b.UserKey) })
	all = slices.CompactFunc(all, func(a, b table.Anchor) bool { return j.icmp.CompareWithoutTimestamp(a.UserKey, b.UserKey) == 0 })
	return all, total
}

// partInput is what a part reads, and the memory its options point to.
// Upstream: CompactionJob::SubcompactionInternalIterators,
// CompactionJob::SubcompactionKeyBoundaries.
type partInput struct {
	ro                 rocksdb.ReadOptions
	raw, input         internaliter.InternalIterator
	startIKey, endIKey dbformat.InternalKey
}

func (p *partInput) close() error { return p.input.Close() }

// boundKey is the first possible internal key at a part's bound.
func (j *CompactionJob) boundKey(userKey []byte) dbformat.InternalKey {
	if userKey == nil {
		return nil
	}
	k := append([]byte(nil), userKey...)
	for i := len(k) - j.icmp.TimestampSize(); i < len(k); i++ {
		k[i] = 0xff // the newest version
	}
	return dbformat.NewInternalKey(k, dbformat.MaxSequenceNumber, dbformat.ValueTypeForSeek)
}

// createInput is upstream's CompactionJob::InitializeReadOptionsAndBoundaries.
func (j *CompactionJob) createInput(s *subcompactionState) *partInput {
	in := &partInput{ro: rocksdb.DefaultReadOptions(), startIKey: j.boundKey(s.start), endIKey: j.boundKey(s.end)}
	ts := j.icmp.TimestampSize()
	ro := &in.ro
	ro.VerifyChecksums = true
	ro.FillCache = false
	ro.RateLimiterPriority = j.GetRateLimiterPriority()
	ro.IOActivity = rocksdb.IOActivityCompaction
	ro.TotalOrderSeek = true // a part's bounds and a filter's skips are not of one prefix
	ro.IOStatsContext = &s.ioStats
	if s.start != nil {
		ro.IterateLowerBound = dbformat.StripTimestampFromUserKey(s.start, ts)
	}
	if s.end != nil {
		ro.IterateUpperBound = dbformat.StripTimestampFromUserKey(s.end, ts)
	}
	s.rangeDel = rangedel.NewCompactionRangeDelAggregator(j.icmp, j.Snapshots, j.fullHistoryTSLow, []byte(j.c.TrimTS()))
	in.raw = j.makeInputIterator(s, ro)
	in.input = in.raw
	if s.start != nil || s.end != nil {
		in.input = compaction.NewClippingIterator(in.raw, in.startIKey, in.endIKey, j.icmp)
	}
	if j.c.DoesInputReferenceBlobFiles() {
		s.garbage = &blob.BlobGarbageMeter{}
		for _, o := range s.groups() {
			o.garbage = s.garbage
		}
		in.input = blob.NewCountingIterator(in.input, s.garbage)
	}
	if trim := j.c.TrimTS(); ts > 0 && trim != "" {
		in.input = compaction.NewHistoryTrimmingIterator(in.input, j.icmp.UserComparator(), []byte(trim))
	}
	return in
}

// makeInputIterator merges the inputs: each file of level 0 by itself, every
// other level as one run.
// Upstream: VersionSet::MakeInputIterator.
func (j *CompactionJob) makeInputIterator(s *subcompactionState, ro *rocksdb.ReadOptions) internaliter.InternalIterator {
	ephemeral := j.DBOptions.UseDirectIOForCompactionReads && !j.DBOptions.UseDirectReads
	readahead := j.MutableDBOptions.CompactionReadaheadSize
	var children []table.CompactionChild
	for i := range j.c.NumInputLevels() {
		files := j.c.InputLevelFiles(i)
		if files.NumFiles() == 0 {
			continue
		}
		level := j.c.InputLevel(i)
		if level > 0 {
			bs := make([]db.AtomicCompactionUnitBoundary, 0, files.NumFiles())
			if len(j.c.FilteredInputLevels(i)) == 0 {
				for _, b := range j.c.Boundaries(i) {
					bs = append(bs, db.AtomicCompactionUnitBoundary{Smallest: b.Smallest, Largest: b.Largest})
				}
			} else {
				bs = j.boundariesOf(i, files)
			}
			it := db.NewLevelIterator(db.LevelIteratorOptions{TableCache: j.CFD.TableCache(), ReadOptions: ro, Comparator: j.icmp,
				Files: files, MutableCFOptions: j.mo, Caller: rocksdb.CallerCompaction, Level: level, RangeDelAgg: s.rangeDel,
				Boundaries: bs, ReadSeqno: dbformat.MaxSequenceNumber, CompactionReadahead: readahead, Ephemeral: ephemeral})
			children = append(children, table.CompactionChild{Point: it, SetSlot: it.SetRangeDelIterSlot})
			continue
		}
		for k := range files.Files {
			f := files.Files[k].FileMetadata
			if s.start != nil && j.icmp.CompareWithoutTimestamp(s.start, f.Largest.UserKey()) > 0 ||
				s.end != nil && j.icmp.CompareWithoutTimestamp(s.end, f.Smallest.UserKey()) < 0 {
				continue
			}
			var tombstones *rangedel.TruncatedRangeDelIterator
			it := j.CFD.TableCache().NewIterator(ro, f, j.mo, &tablecache.IteratorOptions{
				OpenOptions: tablecache.OpenOptions{Level: level, MaxFileSizeForL0MetaPin: options.MaxFileSizeForL0MetaPin(j.mo),
					SkipFilters: ephemeral, Ephemeral: ephemeral, DirectReads: ephemeral, AvoidSharedMetadataCache: ephemeral},
				Caller: rocksdb.CallerCompaction, CompactionReadahead: readahead, RangeDelAgg: s.rangeDel,
				RangeDelIter: &tombstones, RangeDelReadSeqno: dbformat.MaxSequenceNumber})
			children = append(children, table.CompactionChild{Point: it, Tombstones: tombstones})
		}
	}
	num := len(children)
	syncpoint.ProcessArg("VersionSet::MakeInputIterator:NewCompactionMergingIterator", &num)
	return table.NewCompactionMergingIterator(j.icmp, children, j.CFD.InternalStats().RunningCompactionSortedRuns())
}

// boundariesOf gives the atomic unit of each file that is read, when some of
// the level are not.
func (j *CompactionJob) boundariesOf(i int, files *version.LevelFilesBrief) []db.AtomicCompactionUnitBoundary {
	all := j.c.InputFiles(i)
	var bs []db.AtomicCompactionUnitBoundary
	for k := range files.Files {
		at := slices.Index(all, files.Files[k].FileMetadata)
		b := j.c.Boundaries(i)[at]
		bs = append(bs, db.AtomicCompactionUnitBoundary{Smallest: b.Smallest, Largest: b.Largest})
	}
	return bs
}

// part is one part at work.
type part struct {
	*CompactionJob
	s       *subcompactionState
	it      *compaction.CompactionIterator
	prevCPU uint64 // µs, as of the last report
}

// processKeyValueCompaction does one part and leaves its outcome in s.
func (j *CompactionJob) processKeyValueCompaction(s *subcompactionState) {
	syncpoint.Process("CompactionJob::ProcessKeyValueCompaction:Start")
	// The CPU time is the system thread's.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	startCPU := j.DBOptions.Clock.CPUMicros()
	s.ioStats = rocksdb.IOStatsContext{}
	if j.mo.ReportBGIOStats {
		s.ioStats.Level = rocksdb.EnableTimeAndCPUTimeExceptForMutex
	}
	filter := j.io.CompactionFilter
	if filter == nil {
		filter = j.c.CreateCompactionFilter()
	}
	if filter != nil && !filter.IgnoreSnapshots() {
		s.status = rocksdb.NotSupported("CompactionFilter::IgnoreSnapshots() = false is not supported anymore.")
		return
	}
	j.notifyOnSubcompactionBegin(s)
	in := j.createInput(s)
	in.input.SeekToFirst()
	it := j.createCompactionIterator(s, in, filter)
	s.rangeArgs = rangeDelArgs{agg: s.rangeDel, earliestSnapshot: j.earliestSnapshot, fullHistoryTSLow: j.fullHistoryTSLow,
		splitAfter: j.proximalAfterSeqno, coveredSize: j.coveredSize}
	if s.start != nil {
		s.rangeArgs.start = in.startIKey.UserKey()
	}
	if s.end != nil {
		s.rangeArgs.end = in.endIKey.UserKey()
	}
	p := &part{CompactionJob: j, s: s, it: it, prevCPU: startCPU}
	it.SeekToFirst()
	syncpoint.Process("CompactionJob::Run():Inprogress")
	syncpoint.ProcessArg("CompactionJob::Run():PausingManualCompaction:1", j.ManualCanceled)
	err := p.processKeyValue()
	err = p.finalStatus(in, err)
	for _, o := range s.groups() {
		err = p.closeOutput(o, err)
	}
	err = s.blobs.End(err)
	p.finalizeStats(startCPU)
	if closeErr := it.Close(); err == nil {
		err = closeErr
	}
	if closeErr := in.close(); err == nil {
		err = closeErr
	}
	s.status = err
	j.notifyOnSubcompactionCompleted(s)
}

// coveredSize is about the bytes below the output level that a range tombstone
// covers.
func (j *CompactionJob) coveredSize(start, end []byte) uint64 {
	v, ok := j.c.InputVersion().(*db.Version)
	if !ok {
		return 0
	}
	ro := rocksdb.DefaultReadOptions()
	ro.IOActivity = rocksdb.IOActivityCompaction
	return j.VersionSet.ApproximateSize(&ro, v, start, end, j.c.OutputLevel()+1, -1, 0.1, rocksdb.CallerCompaction)
}

func (j *CompactionJob) createCompactionIterator(s *subcompactionState, in *partInput, filter rocksdb.CompactionFilter) *compaction.CompactionIterator {
	latest := rocksdb.SequenceNumber(0)
	if n := len(j.Snapshots); n > 0 {
		latest = j.Snapshots[n-1]
	}
	detailed := j.Statistics != nil && j.Statistics.GetStatsLevel() > rocksdb.ExceptDetailedTimers
	helper := merge.NewMergeHelper(merge.MergeHelperOptions{UserComparator: j.icmp.UserComparator(),
		UserMergeOperator: j.io.MergeOperator, CompactionFilter: filter, Logger: j.DBOptions.InfoLog, LatestSnapshot: latest,
		SnapshotChecker: j.SnapshotChecker, Level: j.c.Level(), Statistics: j.Statistics, Clock: j.DBOptions.Clock,
		ShuttingDown: j.ShuttingDown})
	o := compaction.CompactionIteratorOptions{Input: in.input, Comparator: j.icmp, MergeHelper: helper, Snapshots: j.Snapshots,
		EarliestSnapshot: j.earliestSnapshot, EarliestWriteConflictSnapshot: j.EarliestWriteConflictSnapshot,
		JobSnapshot: j.JobSnapshot, SnapshotChecker: j.SnapshotChecker, Clock: j.DBOptions.Clock, ReportDetailedTime: detailed,
		RangeDelAgg: s.rangeDel, AllowDataInErrors: j.DBOptions.AllowDataInErrors,
		EnforceSingleDelContracts: j.DBOptions.EnforceSingleDelContracts, ManualCompactionCanceled: j.ManualCanceled,
		MustCountInputEntries: j.c.DoesInputReferenceBlobFiles(), Compaction: j.c, CompactionFilter: filter,
		ShuttingDown: j.ShuttingDown, InfoLog: j.DBOptions.InfoLog, FullHistoryTSLow: j.fullHistoryTSLow,
		PreserveSeqnoAfter: &j.preserveSeqnoAfter}
	if v, ok := j.c.InputVersion().(*db.Version); ok {
		o.BlobFetcher = v.CompactionBlobFetcher(&in.ro, j.mo.BlobCompactionReadaheadSize)
	}
	o.BlobGarbageCollectionCutoffFileNumber = j.blobGarbageCollectionCutoff()
	if j.mo.EnableBlobFiles && j.c.OutputLevel() >= j.mo.BlobFileStartingLevel {
		s.blobs = j.newBlobFileBuilder(s)
		o.BlobFileBuilder = s.blobs
	}
	return compaction.NewCompactionIterator(o)
}

// Upstream: CompactionJob::CreateBlobFileBuilder.
func (j *CompactionJob) newBlobFileBuilder(s *subcompactionState) *blob.BlobFileBuilder {
	wo := rocksdb.DefaultWriteOptions()
	wo.IOActivity, wo.RateLimiterPriority, wo.IOStatsContext = rocksdb.IOActivityCompaction, j.GetRateLimiterPriority(), &s.ioStats
	return blob.NewBlobFileBuilder(blob.BlobFileBuilderOptions{NewFileNumber: j.VersionSet.NewFileNumber, IOptions: j.io,
		MutableCFOptions: j.mo, FileOptions: &j.FileOptions, WriteOptions: &wo, DBID: j.DBID, DBSessionID: j.SessionID,
		JobID: j.JobID, ColumnFamilyID: j.CFD.GetID(), ColumnFamilyName: j.CFD.GetName(), WriteHint: j.writeHint,
		Callback: j.BlobCallback, Reason: rocksdb.BlobFileCreationReasonCompaction})
}

// blobGarbageCollectionCutoff is the number of the first blob file that is too
// young for its values to be moved; 0: none are.
// Upstream: CompactionIterator::ComputeBlobGarbageCollectionCutoffFileNumber.
func (j *CompactionJob) blobGarbageCollectionCutoff() uint64 {
	if !j.c.EnableBlobGarbageCollection() {
		return 0
	}
	files := j.c.InputVersion().StorageInfo().GetBlobFiles()
	n := int(j.c.BlobGarbageCollectionAgeCutoff() * float64(len(files)))
	if n >= len(files) {
		return math.MaxUint64
	}
	return files[n].GetBlobFileNumber()
}

func (j *CompactionJob) aborted() bool { return j.Aborted != nil && j.Aborted.Load() > 0 }

func (j *CompactionJob) manualPaused() bool {
	return j.ManualCanceled != nil && j.ManualCanceled.Load()
}

// PlacedEntry lets a test, at a sync point, see where an entry goes and change it.
// Upstream: PerKeyPlacementContext.
type PlacedEntry struct {
	Level          int // of the compaction's output
	UserKey, Value []byte
	Sequence       rocksdb.SequenceNumber
	Proximal       bool // to the proximal level
}

// cronMask says how often, in records, slower things are looked at.
const cronMask = 1<<10 - 1

// processKeyValue puts the iterator's entries into tables.
// Upstream: CompactionJob::CreateFileHandlers.
func (p *part) processKeyValue() error {
	if p.aborted() {
		return rocksdb.AllCompactionsAborted()
	}
	syncpoint.ProcessArg("CompactionJob::ProcessKeyValueCompaction()::Processing", p.c)
	placed := PlacedEntry{Level: p.c.OutputLevel()}
	for !p.CFD.IsDropped() && p.it.Valid() && p.it.Status() == nil {
		if p.it.IterStats().NumInputRecords&cronMask == cronMask {
			if p.aborted() {
				return rocksdb.AllCompactionsAborted()
			}
			p.reportIncrementally()
		}
		o := p.s.outputs
		if p.s.proximal != nil {
			ikey := p.it.IKey()
			placed.UserKey, placed.Value, placed.Sequence = ikey.UserKey, p.it.Value(), ikey.Sequence
			placed.Proximal = ikey.Sequence > p.proximalAfterSeqno
			syncpoint.ProcessArg("CompactionIterator::PrepareOutput.context", &placed)
			if placed.Proximal {
				if !p.c.WithinProximalLevelOutputRange(p.it.UserKey()) && !p.it.IsDeleteRangeSentinelKey() {
					return rocksdb.Corruption("an entry for the proximal level is out of the range that may go there")
				}
				o = p.s.proximal
			}
		}
		if err := p.addToOutput(o); err != nil {
			return err
		}
		syncpoint.ProcessArg("CompactionJob::Run():PausingManualCompaction:2", p.ManualCanceled)
		p.it.Next()
		if syncpoint.Enabled {
			stop := false
			syncpoint.ProcessArg("CompactionJob::ProcessKeyValueCompaction()::stop", &stop)
			if stop {
				break
			}
		}
	}
	return nil
}

// finalStatus is err, or else why the iteration may have ended early.
// Upstream: CompactionJob::FinalizeProcessKeyValueStatus.
func (p *part) finalStatus(in *partInput, err error) error {
	switch {
	case err != nil:
		return err
	case p.CFD.IsDropped():
		return rocksdb.ColumnFamilyDropped("Column family dropped during compaction")
	case p.ShuttingDown != nil && p.ShuttingDown.Load():
		return rocksdb.ShutdownInProgress("Database shutdown")
	case p.manualPaused():
		return rocksdb.ManualCompactionPaused()
	}
	if err = in.input.Status(); err != nil {
		return err
	}
	return p.it.Status()
}

// closeOutput ends the last table. A part with nothing but tombstones gets one
// of its own.
// Upstream: CompactionOutputs::CloseOutput.
func (p *part) closeOutput(o *compactionOutputs, err error) error {
	if err == nil && !o.hasBuilder() && len(o.outputs) == 0 && p.s.hasRangeDel() {
		err = p.openOutputFile(o)
	}
	if o.hasBuilder() {
		if closeErr := p.finish(o, err, nil); err == nil {
			err = closeErr
		}
	}
	return err
}

func (p *part) tableFileName(number uint64) string {
	return filename.TableFileName(p.io.CFPaths, number, p.c.OutputPathID())
}

// openOutputFile begins a table.
func (p *part) openOutputFile(o *compactionOutputs) error {
	number := p.VersionSet.NewFileNumber()
	path := p.tableFileName(number)
	db.NotifyTableFileCreationStarted(p.io.Listeners, p.DBName, p.CFD.GetName(), path, p.JobID, rocksdb.TableFileCreationReasonCompaction)
	fo := p.FileOptions
	fo.Temperature = p.c.GetOutputTemperature(o.proximal)
	fo.OpenContract = rocksdb.FileOpenNoReopenForWrite | rocksdb.FileOpenNoReadersWhileOpenForWrite
	fo.WriteHint = p.writeHint
	syncpoint.ProcessArg("CompactionJob::OpenCompactionOutputFile", &fo.UseDirectWrites)
	f, err := p.DBOptions.FS.NewWritableFile(path, &fo)
	if err != nil {
		logging.Error(p.DBOptions.InfoLog, "[%s] [JOB %d] OpenCompactionOutputFiles for table #%d fails at NewWritableFile with status %s",
			p.CFD.GetName(), p.JobID, number, err.Error())
		p.notifyFinished(version.NewFileMetaData(), path, rocksdb.NewTableProperties(), err)
		return err
	}
	o.paths = append(o.paths, path)
	meta, newest := p.newOutputMeta(number, fo.Temperature)
	hash := p.mo.ParanoidFileChecks || p.mo.VerifyOutputFlags&rocksdb.VerifyIteration != 0
	o.outputs = append(o.outputs, output{meta: meta, validator: db.NewOutputValidator(p.icmp, hash, 0), path: path})

	f.SetIOPriority(p.GetRateLimiterPriority())
	f.SetWriteLifeTimeHint(fo.WriteHint)
	f.SetPreallocationBlockSize(int(p.c.OutputFilePreallocationSize()))
	o.writer = file.NewWritableFileWriter(f, path, &fo, &file.WriterOptions{Clock: p.DBOptions.Clock, Stats: p.Statistics,
		HistType: rocksdb.HistSSTWriteMicros, Listeners: p.io.Listeners, FileChecksumGenFactory: p.DBOptions.FileChecksumGenFactory,
		PerformDataVerification: p.DBOptions.ChecksumHandoffFileTypes.Contains(rocksdb.TableFile)})
	return p.newBuilder(o, meta, newest)
}

// newOutputMeta gives a table's metadata as far as it is known before it is
// written, and the time of the newest key it may get.
func (p *part) newOutputMeta(number uint64, temperature rocksdb.Temperature) (m *version.FileMetaData, newestKeyTime uint64) {
	now, err := p.DBOptions.Clock.GetCurrentTime()
	if err != nil {
		logging.Warn(p.DBOptions.InfoLog, "Failed to get current time. Status: %s", err.Error())
	}
	var start, end dbformat.InternalKey
	if p.s.start != nil {
		start = dbformat.SetMinPossibleForUserKey(p.s.start)
	}
	if p.s.end != nil {
		end = dbformat.SetMinPossibleForUserKey(p.s.end)
	}
	oldest := p.c.MinInputFileOldestAncesterTime(start, end)
	if oldest == math.MaxUint64 {
		oldest = uint64(now)
	}
	m = version.NewFileMetaData()
	m.FD.Set(number, p.c.OutputPathID(), 0, m.FD.SmallestSeqno, m.FD.LargestSeqno)
	m.OldestAncesterTime, m.FileCreationTime = oldest, uint64(now)
	m.EpochNumber = p.c.MinInputFileEpochNumber()
	m.Temperature = temperature
	db.SetUniqueID(m, p.DBID, p.SessionID)
	return m, p.c.MaxInputFileNewestKeyTime(start, end)
}

func (p *part) newBuilder(o *compactionOutputs, meta *version.FileMetaData, newestKeyTime uint64) error {
	o.wo, o.ro = rocksdb.DefaultWriteOptions(), rocksdb.DefaultReadOptions()
	o.wo.IOActivity, o.ro.IOActivity = rocksdb.IOActivityCompaction, rocksdb.IOActivityCompaction
	o.wo.RateLimiterPriority = p.GetRateLimiterPriority()
	o.wo.IOStatsContext = &p.s.ioStats
	b := table.DefaultTableBuilderOptions(p.io, p.mo, p.icmp)
	b.ColumnFamilyID, b.ColumnFamilyName = p.CFD.GetID(), p.CFD.GetName()
	b.LevelAtCreation, b.NumLevels = p.c.OutputLevel(), p.io.NumLevels
	b.LastLevelInclusiveMaxSeqnoThreshold = p.proximalAfterSeqno
	b.ReadOptions, b.WriteOptions = &o.ro, &o.wo
	b.InternalTblPropCollFactories = db.InternalTblPropCollFactories(p.io)
	b.CompressionType, b.CompressionOpts = p.c.OutputCompression(), *p.c.OutputCompressionOpts()
	b.NewestKeyTime = int64(newestKeyTime)
	b.TargetFileSize = p.c.MaxOutputFileSize()
	b.FileCreationTime = meta.FileCreationTime
	b.DBID, b.DBSessionID = p.DBID, p.SessionID
	b.IsBottommost = p.c.BottommostLevel()
	b.Reason = rocksdb.TableFileCreationReasonCompaction
	b.CurFileNum = meta.FD.GetNumber()
	var err error
	o.builder, err = db.NewTableBuilder(&b, o.writer)
	return err
}

// finish ends the present table; after an error it only closes it.
func (p *part) finish(o *compactionOutputs, err error, nextMinKey []byte) error {
	out := o.current()
	meta := out.meta
	if err == nil && p.s.hasRangeDel() {
		var dropped iterstats.CompactionIterationStats
		p.s.rangeArgs.stats = &dropped
		err = o.addRangeDels(&p.s.rangeArgs, nextMinKey)
		p.recordDroppedKeys(&dropped)
	}
	if err == nil {
		syncpoint.Process("CompactionJob::FinishCompactionOutputFile1")
	}
	entries := o.builder.NumEntries()
	err = o.finish(err, p.mapping)
	syncpoint.ProcessArg("CompactionJob::FinishCompactionOutputFile()::AfterFinish", &err)
	if err == nil && len(meta.Smallest) > 0 && len(meta.Largest) > 0 {
		// Now that the bounds are known, fewer inputs may be ancestors.
		if t := p.c.MinInputFileOldestAncesterTime(meta.Smallest, meta.Largest); t != math.MaxUint64 {
			meta.OldestAncesterTime = t
		}
	}
	if ioErr := o.writerSyncClose(err, p.DBOptions.Clock, p.Statistics, p.DBOptions.UseFsync); err == nil {
		err = ioErr
	}
	path, props := out.path, rocksdb.NewTableProperties()
	if err == nil {
		props = *out.properties
	}
	notifyErr := err
	switch {
	case err == nil && entries == 0 && props.NumRangeDeletions == 0:
		// The part had nothing that is to stay.
		if delErr := p.DBOptions.FS.DeleteFile(path, rocksdb.NewIOOptions()); delErr != nil {
			logging.Warn(p.DBOptions.InfoLog, "[%s] [JOB %d] Unable to remove SST file for table #%d at bottom level%s",
				p.CFD.GetName(), p.JobID, meta.FD.GetNumber(), needCompaction(meta))
		}
		o.removeLastOutput()
		p.notifyFinished(version.NewFileMetaData(), "(nil)", props, rocksdb.Aborted("Empty SST file not kept"))
		o.resetBuilder()
		return nil
	case err == nil:
		logging.Info(p.DBOptions.InfoLog, "[%s] [JOB %d] Generated table #%d: %d keys, %d bytes%s, temperature: %s", p.CFD.GetName(),
			p.JobID, meta.FD.GetNumber(), entries, meta.FD.GetFileSize(), needCompaction(meta), temperatureText(meta.Temperature))
	}
	p.notifyFinished(meta, path, props, notifyErr)
	err = p.reportToSstFileManager(path, err)
	o.resetBuilder()
	return err
}

func needCompaction(m *version.FileMetaData) string {
	if m.MarkedForCompaction.Load() {
		return " (need compaction)"
	}
	return ""
}

func temperatureText(t rocksdb.Temperature) string {
	switch t {
	case rocksdb.TemperatureHot:
		return "kHot"
	case rocksdb.TemperatureWarm:
		return "kWarm"
	case rocksdb.TemperatureCool:
		return "kCool"
	case rocksdb.TemperatureCold:
		return "kCold"
	case rocksdb.TemperatureIce:
		return "kIce"
	}
	return "kUnknown"
}

func (p *part) notifyFinished(meta *version.FileMetaData, path string, props rocksdb.TableProperties, err error) {
	checksum, funcName := rocksdb.UnknownFileChecksum, rocksdb.UnknownFileChecksumFuncName
	if err == nil {
		checksum, funcName = meta.FileChecksum, meta.FileChecksumFuncName
	}
	db.LogAndNotifyTableFileCreationFinished(p.EventLogger, p.io.Listeners, &db.TableFileCreation{DBName: p.DBName,
		CFName: p.CFD.GetName(), Path: path, JobID: p.JobID, Meta: meta, Properties: &props,
		Reason: rocksdb.TableFileCreationReasonCompaction, Status: err, Checksum: checksum, ChecksumFuncName: funcName})
}

// fileAdder is a file manager that wants to know of files.
type fileAdder interface{ OnAddFile(path string) error }

func (p *part) reportToSstFileManager(path string, err error) error {
	sfm := p.DBOptions.SstFileManager
	adder, ok := sfm.(fileAdder)
	if !ok || p.c.OutputPathID() != 0 {
		return err
	}
	if addErr := adder.OnAddFile(path); err == nil {
		err = addErr
	}
	if sfm.IsMaxAllowedSpaceReached() {
		err = rocksdb.WithSubCode(rocksdb.CodeIOError, rocksdb.SubCodeSpaceLimit, "Max allowed space was reached")
		syncpoint.Process("CompactionJob::FinishCompactionOutputFile:MaxAllowedSpaceReached")
		if p.ErrorHandler != nil {
			p.Mutex.Lock()
			p.ErrorHandler.SetBGError(err, rocksdb.BackgroundErrorReasonCompaction)
			p.Mutex.Unlock()
		}
	}
	return err
}

func (p *part) recordDroppedKeys(s *iterstats.CompactionIterationStats) {
	tick := func(t rocksdb.Ticker, n int64) {
		if n > 0 {
			monitoring.RecordTick(p.Statistics, t, uint64(n))
		}
	}
	tick(rocksdb.CompactionKeyDropUser, s.NumRecordDropUser)
	tick(rocksdb.CompactionKeyDropNewerEntry, s.NumRecordDropHidden)
	tick(rocksdb.CompactionKeyDropObsolete, s.NumRecordDropObsolete)
	tick(rocksdb.CompactionKeyDropRangeDel, s.NumRecordDropRangeDel)
	tick(rocksdb.CompactionRangeDelDropObsolete, s.NumRangeDelDropObsolete)
	tick(rocksdb.CompactionOptimizedDelDropObsolete, s.NumOptimizedDelDropObsolete)
	p.s.stats.NumRecordsReplaced += uint64(s.NumRecordDropHidden)
	p.s.stats.NumExpiredDeletionRecords += uint64(s.NumRecordDropObsolete)
}

// reportIncrementally hands on the counters since the last report.
// Upstream: CompactionJob::UpdateSubcompactionJobStatsIncrementally.
func (p *part) reportIncrementally() {
	p.recordDroppedKeys(p.it.IterStats())
	p.it.ResetRecordCounts()
	now := p.DBOptions.Clock.CPUMicros()
	if now > p.prevCPU {
		monitoring.RecordTick(p.Statistics, rocksdb.CompactionCPUTotalTime, now-p.prevCPU)
	}
	p.prevCPU = now
}

// finalizeStats is upstream's CompactionJob::FinalizeSubcompactionJobStats and
// CompactionJob::FinalizeSubcompaction.
func (p *part) finalizeStats(startCPU uint64) {
	it, s := p.it.IterStats(), &p.s.stats
	s.HasAccurateNumInputRecords = s.HasAccurateNumInputRecords && p.it.HasNumInputEntryScanned()
	s.NumInputRecords += p.it.NumInputEntryScanned()
	s.NumBlobsRead, s.TotalBlobBytesRead = it.NumBlobsRead, it.TotalBlobBytesRead
	s.NumInputDeletionRecords = it.NumInputDeletionRecords
	s.NumCorruptKeys = it.NumInputCorruptRecords
	s.NumSingleDelFallthru, s.NumSingleDelMismatch = it.NumSingleDelFallthru, it.NumSingleDelMismatch
	s.TotalInputRawKeyBytes += it.TotalInputRawKeyBytes
	s.TotalInputRawValueBytes += it.TotalInputRawValueBytes
	monitoring.RecordTick(p.Statistics, rocksdb.FilterOperationTotalTime, it.TotalFilterTime)
	if it.NumBlobsRelocated > 0 {
		monitoring.RecordTick(p.Statistics, rocksdb.BlobDBGCNumKeysRelocated, it.NumBlobsRelocated)
		monitoring.RecordTick(p.Statistics, rocksdb.BlobDBGCBytesRelocated, it.TotalBlobBytesRelocated)
	}
	p.reportIncrementally()
	s.CPUMicros = 0
	for _, o := range p.s.groups() {
		s.CPUMicros += o.workerCPUMicros
	}
	if p.prevCPU > startCPU {
		s.CPUMicros += p.prevCPU - startCPU
	}
	if p.mo.ReportBGIOStats {
		c := &p.s.ioStats
		s.FileWriteNanos += c.WriteNanos
		s.FileFsyncNanos += c.FsyncNanos
		s.FileRangeSyncNanos += c.RangeSyncNanos
		s.FilePrepareWriteNanos += c.PrepareWriteNanos
		s.CPUMicros -= min(s.CPUMicros, (c.CPUWriteNanos+c.CPUReadNanos)/1000)
	}
}

func (j *CompactionJob) subcompactionJobInfo(s *subcompactionState) *rocksdb.SubcompactionJobInfo {
	return &rocksdb.SubcompactionJobInfo{CFID: j.CFD.GetID(), CFName: j.CFD.GetName(), Status: s.status, JobID: j.JobID, ThreadID: s.thread,
		SubcompactionJobID: s.id, BaseInputLevel: j.c.StartLevel(), OutputLevel: j.c.OutputLevel(),
		CompactionReason: j.c.CompactionReason(), Compression: j.c.OutputCompression(), Stats: s.stats,
		BlobCompressionType: j.mo.BlobCompressionType}
}

func (j *CompactionJob) notifyOnSubcompactionBegin(s *subcompactionState) {
	if len(j.io.Listeners) == 0 || j.ShuttingDown != nil && j.ShuttingDown.Load() || j.manualPaused() {
		return
	}
	s.notifyCompletion = true
	info := j.subcompactionJobInfo(s)
	for _, l := range j.io.Listeners {
		l.OnSubcompactionBegin(info)
	}
}

func (j *CompactionJob) notifyOnSubcompactionCompleted(s *subcompactionState) {
	if !s.notifyCompletion || j.ShuttingDown != nil && j.ShuttingDown.Load() {
		return
	}
	info := j.subcompactionJobInfo(s)
	for _, l := range j.io.Listeners {
		l.OnSubcompactionCompleted(info)
	}
}

// copyPrefix is the start of a key as job statistics show it.
func copyPrefix(key []byte) string {
	return string(bytes.Clone(key[:min(len(key), rocksdb.CompactionJobStatsMaxPrefixLength)]))
}
