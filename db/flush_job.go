// Port of db/flush_job.{h,cc}. Mempurge is in flush_job_mempurge.go.

package db

import (
	"bytes"
	"sync"
	"sync/atomic"

	"github.com/rocksdb-go/rocksdb/db/blob"
	"github.com/rocksdb-go/rocksdb/db/memtable"
	"github.com/rocksdb-go/rocksdb/db/rangedel"
	"github.com/rocksdb-go/rocksdb/db/seqnotime"
	"github.com/rocksdb-go/rocksdb/db/tablecache"
	"github.com/rocksdb-go/rocksdb/db/version"
	"github.com/rocksdb-go/rocksdb/file/filename"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/logging"
	"github.com/rocksdb-go/rocksdb/monitoring"
	"github.com/rocksdb-go/rocksdb/options"
	"github.com/rocksdb-go/rocksdb/table"
	"github.com/rocksdb-go/rocksdb/table/internaliter"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
	"github.com/rocksdb-go/rocksdb/util/compression"
)

// FlushJobConfig is what a flush works with.
type FlushJobConfig struct {
	DBName            string
	CFD               *ColumnFamilyData
	DBOptions         *options.ImmutableDBOptions
	MutableCFOptions  *options.MutableCFOptions
	MaxMemtableID     uint64
	FileOptions       rocksdb.FileOptions
	VersionSet        *VersionSet
	Mutex             sync.Locker
	ShuttingDown      *atomic.Bool
	Snapshots         []rocksdb.SequenceNumber
	JobID             int
	FlushReason       rocksdb.FlushReason
	LogBuffer         *logging.LogBuffer
	DBDirectory       rocksdb.FSDirectory
	OutputDirectory   rocksdb.FSDirectory
	OutputCompression rocksdb.CompressionType
	Statistics        rocksdb.Statistics
	EventLogger       *logging.EventLogger
	// Status is told what the job does; nil with no thread tracking.
	Status     *monitoring.ThreadStatusData
	ThreadID   uint64 // what listeners are told
	SyncOutput bool
	// FastSstOpen keeps what the file system wants back when the table is opened.
	FastSstOpen     bool
	WriteManifest   bool // false: the caller commits several families' flushes at once
	DBID, SessionID string
	HostID          string
	// SeqnoToTimeMapping (optional) says when sequence numbers were written.
	SeqnoToTimeMapping *seqnotime.SeqnoToTimeMapping
	MemtablesToFree    *[]*memtable.MemTable
	// ErrorHandler (optional) tells of an error that came up while the table was
	// written; unless the flush is a recovery's, it is not committed then.
	ErrorHandler *ErrorHandler
	// BlobCallback (optional) hears of the blob files.
	BlobCallback blob.BlobFileCompletionCallback
}

// FlushJob writes a family's oldest immutable memtables to one L0 table. The
// order of calls is PickMemTable, then Run or Cancel.
type FlushJob struct {
	c     *FlushJobConfig
	mems  []*memtable.MemTable // oldest first
	edit  *version.VersionEdit
	meta  version.FileMetaData
	base  *Version
	props rocksdb.TableProperties
	stats CompactionStats
	io    rocksdb.IOStatsContext // of the table and the MANIFEST
	blobs BlobFileArgs
	// cutoffUDT is the newest timestamp of the memtables when timestamps are not
	// kept; history below it is gone with the flush.
	cutoffUDT        []byte
	fullHistoryTSLow []byte

	committed []*rocksdb.FlushJobInfo
	skipped   bool
	// flushRequested says that somebody wants the memtables in a table.
	flushRequested bool
}

// NewFlushJob makes a job; the DB mutex is held, as in all methods here.
func NewFlushJob(c *FlushJobConfig) *FlushJob {
	syncpoint.Process("FlushJob::FlushJob()")
	return &FlushJob{c: c}
}

// PickMemTable takes the memtables to flush.
func (j *FlushJob) PickMemTable() {
	defer j.enterStage(rocksdb.StagePickMemtablesToFlush)()
	j.flushRequested = j.c.CFD.imm.HasFlushRequested()
	mems, nextLog := j.c.CFD.imm.PickMemtablesToFlush(j.c.MaxMemtableID)
	j.mems = mems
	if len(mems) == 0 {
		return
	}
	j.reportStarted()
	// All edits of the job go with the oldest memtable.
	j.edit = mems[0].Edits()
	j.edit.SetPrevLogNumber(0)
	j.edit.SetLogNumber(nextLog)
	j.edit.SetColumnFamily(j.c.CFD.id)
	j.meta.FD.Set(j.c.VersionSet.NewFileNumber(), 0, 0, maxSequence, 0)
	j.meta.EpochNumber = j.c.CFD.NewEpochNumber()
	j.base = j.c.CFD.current
	j.base.Ref()
	j.fullHistoryTSLow = bytes.Clone(j.c.CFD.fullHistoryTSLow)
	j.pickCutoffUDT()
}

// enterStage tells GetThreadList what step the job is at; the function that it
// gives goes back to the step before.
func (j *FlushJob) enterStage(stage rocksdb.OperationStage) (leave func()) {
	before := j.c.Status.SetThreadOperationStage(stage)
	return func() { j.c.Status.SetThreadOperationStage(before) }
}

// reportStarted tells GetThreadList of the job.
// Upstream: ReportStartedFlush, ReportFlushInputSize.
func (j *FlushJob) reportStarted() {
	s := j.c.Status
	s.SetEnableTracking(j.c.DBOptions.EnableThreadTracking)
	s.SetColumnFamily(j.c.CFD.StatusKey())
	s.SetThreadOperationProperty(rocksdb.FlushJobID, uint64(j.c.JobID))
	var bytes uint64
	for _, m := range j.mems {
		bytes += uint64(m.ApproximateMemoryUsage())
	}
	s.SetThreadOperationProperty(rocksdb.FlushBytesMemtables, bytes)
	s.SetThreadOperation(rocksdb.OpFlush)
}

// stripsTimestamps tells whether the table is written without timestamps.
func (j *FlushJob) stripsTimestamps() bool {
	return j.c.CFD.keepsTimestampsInMemtablesOnly()
}

func (j *FlushJob) pickCutoffUDT() {
	if j.c.DBOptions.AtomicFlush || !j.stripsTimestamps() {
		return
	}
	ucmp := j.c.CFD.UserComparator()
	for _, m := range j.mems {
		// A memtable without entries has none.
		if ts := m.GetNewestUDT(); ts != nil && (j.cutoffUDT == nil || ucmp.CompareTimestamp(ts, j.cutoffUDT) > 0) {
			j.cutoffUDT = bytes.Clone(ts)
		}
	}
}

// raiseFullHistoryTsLow commits that history up to the cutoff is gone.
func (j *FlushJob) raiseFullHistoryTsLow() error {
	c := j.c
	low := c.CFD.GetFullHistoryTsLow()
	if j.cutoffUDT == nil || len(low) > 0 && c.CFD.UserComparator().CompareTimestamp(j.cutoffUDT, low) < 0 {
		return nil
	}
	e := &version.VersionEdit{}
	e.SetColumnFamily(c.CFD.id)
	e.SetFullHistoryTsLow(string(FullHistoryTsLowFromCutoff(j.cutoffUDT)))
	return c.VersionSet.LogAndApply(&LogAndApplyRequest{CFD: c.CFD, Edits: []*version.VersionEdit{e}, Mutex: c.Mutex, DBDirectory: c.OutputDirectory})
}

// GetRateLimiterPriority is that of the table's writes: a user's while writers
// wait for the flush.
func (j *FlushJob) GetRateLimiterPriority() rocksdb.IOPriority {
	if wc := j.c.CFD.set.writeController; wc.IsStopped() || wc.NeedsDelay() {
		return rocksdb.IOUser
	}
	return rocksdb.IOHigh
}

// MemTables gives what PickMemTable took.
func (j *FlushJob) MemTables() []*memtable.MemTable { return j.mems }

// Meta describes the table, of which PickMemTable knows the number only; nil
// where it took nothing.
func (j *FlushJob) Meta() *version.FileMetaData {
	if len(j.mems) == 0 {
		return nil
	}
	return &j.meta
}

// TableProperties gives the properties of the table written.
func (j *FlushJob) TableProperties() *rocksdb.TableProperties { return &j.props }

// Cancel lets go of what PickMemTable took hold of; the memtables are left for
// the caller to roll back.
func (j *FlushJob) Cancel() {
	if j.base != nil {
		j.base.Unref()
		j.base = nil
	}
}

// Run writes the table and, with WriteManifest, commits it. It gives the
// table's metadata, nil when the memtables held nothing that had to be kept, or
// stay in memory: see experimental_mempurge_threshold.
func (j *FlushJob) Run() (*version.FileMetaData, error) {
	defer j.c.Status.ResetThreadStatus()
	defer j.enterStage(rocksdb.StageFlushRun)()
	syncpoint.Process("FlushJob::Start")
	c := j.c
	if len(j.mems) == 0 {
		logging.ToBuffer(c.LogBuffer, "[%s] No memtable to flush", c.CFD.name)
		return nil, nil
	}
	if j.purge() {
		j.Cancel()
		j.logFinished()
		syncpoint.Process("FlushJob::End")
		return nil, nil
	}
	err := j.writeLevel0Table()
	if err == nil && c.CFD.IsDropped() {
		err = rocksdb.ColumnFamilyDropped("Column family dropped during compaction")
	}
	if (err == nil || rocksdb.CodeOf(err) == rocksdb.CodeColumnFamilyDropped) && c.ShuttingDown.Load() {
		err = rocksdb.ShutdownInProgress("Database shutdown")
	}
	if err == nil {
		err = j.raiseFullHistoryTsLow()
	}
	syncpoint.ProcessArg("FlushJob::Run:PostBuildTable", &err)
	if h := c.ErrorHandler; err == nil && c.WriteManifest && h != nil && h.IsBGWorkStopped() &&
		c.FlushReason != rocksdb.FlushReasonErrorRecovery && c.FlushReason != rocksdb.FlushReasonErrorRecoveryRetryFlush {
		err, j.skipped = h.GetBGError(), true
	}
	switch {
	case err != nil:
		defer j.enterStage(rocksdb.StageMemtableRollback)()
		c.CFD.imm.RollbackMemtableFlush(j.mems, !c.DBOptions.AtomicFlush)
	case c.WriteManifest:
		syncpoint.Process("FlushJob::InstallResults")
		defer j.enterStage(rocksdb.StageMemtableInstallFlushResults)()
		wo := rocksdb.DefaultWriteOptions()
		wo.IOStatsContext = &j.io
		commit := &FlushCommit{CFD: c.CFD, VersionSet: c.VersionSet, Mutex: c.Mutex, DBDirectory: c.DBDirectory,
			LogBuffer: c.LogBuffer, Free: c.MemtablesToFree, Committed: &j.committed, WriteOptions: &wo}
		var number uint64
		if j.meta.FD.GetFileSize() > 0 {
			number = j.meta.FD.GetNumber()
		}
		err = c.CFD.imm.TryInstallMemtableFlushResults(commit, j.mems, number)
	}
	if err != nil && j.meta.FD.GetFileSize() > 0 && !j.mems[0].FlushCompleted {
		j.ReleaseTable()
	}
	monitoring.RecordTick(c.Statistics, rocksdb.FlushWriteBytes, j.io.BytesWritten)
	c.Status.IncreaseThreadOperationProperty(rocksdb.FlushBytesWritten, j.io.BytesWritten)
	j.logFinished()
	syncpoint.Process("FlushJob::End")
	if err != nil {
		return nil, err
	}
	if j.meta.FD.GetFileSize() == 0 {
		return nil, nil
	}
	return &j.meta, nil
}

// ReleaseTable takes the table's reader out of the cache, when no version will
// name the table and so let go of it.
func (j *FlushJob) ReleaseTable() {
	tablecache.ReleaseObsolete(j.c.CFD.TableCache().Cache(), &j.meta, j.c.MutableCFOptions.UncacheAggressiveness)
}

// CommittedJobs describes the flushes that Run has committed, this one's or
// others' whose turn it was.
func (j *FlushJob) CommittedJobs() []*rocksdb.FlushJobInfo { return j.committed }

// SkippedByBGError tells that Run failed on an error that was in force already.
func (j *FlushJob) SkippedByBGError() bool { return j.skipped }

// jobInfo is what listeners are told once the flush is committed.
func (j *FlushJob) jobInfo() *rocksdb.FlushJobInfo {
	c := j.c
	info := &rocksdb.FlushJobInfo{CFID: c.CFD.id, CFName: c.CFD.name, JobID: c.JobID, ThreadID: c.ThreadID, FlushReason: c.FlushReason,
		FileNumber: j.meta.FD.GetNumber(), FilePath: filename.TableFileName(c.CFD.ioptions.CFPaths, j.meta.FD.GetNumber(), 0),
		SmallestSeqno: j.meta.FD.SmallestSeqno, LargestSeqno: j.meta.FD.LargestSeqno, TableProperties: j.props,
		BlobCompressionType: c.MutableCFOptions.BlobCompressionType, OldestBlobFileNumber: j.meta.OldestBlobFileNumber,
		BlobFileAdditionInfos: BlobFileAdditionInfos(c.CFD.ioptions.CFPaths[0].Path, j.blobs.Additions)}
	return info
}

func (j *FlushJob) logFinished() {
	c := j.c
	vs := c.CFD.current.StorageInfo()
	e := c.EventLogger.LogToBuffer(c.LogBuffer, 1024)
	e.Add("job", c.JobID).Add("event", "flush_finished").Add("output_compression", compression.CompressionTypeToString(c.OutputCompression))
	files := make([]int, vs.NumLevels())
	for level := range files {
		files[level] = vs.NumLevelFiles(level)
	}
	e.Add("lsm_state", files)
	if blobs := vs.GetBlobFiles(); len(blobs) > 0 {
		e.Add("blob_file_head", blobs[0].GetBlobFileNumber()).Add("blob_file_tail", blobs[len(blobs)-1].GetBlobFileNumber())
	}
	e.Add("immutable_memtables", c.CFD.imm.NumNotFlushed()).End()
}

// writeLevel0Table builds the table with the mutex released.
func (j *FlushJob) writeLevel0Table() error {
	defer j.enterStage(rocksdb.StageFlushWriteL0)()
	c := j.c
	start := c.DBOptions.Clock.NowMicros()
	j.stats = CompactionStats{Reason: rocksdb.CompactionReasonFlush, Count: 1}
	c.Mutex.Unlock()
	c.LogBuffer.FlushBufferToLog()
	numMems := uint64(len(j.mems))
	syncpoint.ProcessArg("FlushJob::WriteLevel0Table:num_memtables", &numMems)
	err := j.buildTable()
	logging.ToBuffer(c.LogBuffer, "[%s] [JOB %d] Level-0 flush table #%d: %d bytes %s", c.CFD.name, c.JobID,
		j.meta.FD.GetNumber(), j.meta.FD.GetFileSize(), statusText(err))
	if err == nil && c.OutputDirectory != nil && c.SyncOutput {
		err = c.OutputDirectory.FsyncWithDirOptions(rocksdb.NewIOOptions(), rocksdb.DirFsyncOptions{Reason: rocksdb.DirFsyncNewFileSynced})
	}
	syncpoint.ProcessArg("FlushJob::WriteLevel0Table", &j.mems)
	c.Mutex.Lock()
	j.base.Unref()
	j.base = nil
	if err == nil && j.meta.FD.GetFileSize() > 0 {
		syncpoint.Process("DBImpl::FlushJob:SSTFileCreated")
		j.edit.AddFile(0, &j.meta)
		for _, a := range j.blobs.Additions {
			j.edit.AddBlobFile(a)
		}
	}
	j.mems[0].SetFlushJobInfo(j.jobInfo())
	j.stats.Micros = c.DBOptions.Clock.NowMicros() - start
	if size := j.meta.FD.GetFileSize(); size > 0 {
		j.stats.BytesWritten = size
		j.stats.NumOutputFiles = 1
	}
	j.stats.CountBlobFiles(j.blobs.Additions)
	monitoring.RecordTimeToHistogram(c.Statistics, rocksdb.HistFlushTime, j.stats.Micros)
	c.CFD.internalStats.AddCompactionStats(0, rocksdb.HighPriority, &j.stats)
	c.CFD.internalStats.AddCFStats(BytesFlushed, j.stats.BytesWritten+j.stats.BytesWrittenBlob)
	return err
}

func statusText(err error) string {
	if err == nil {
		return "OK"
	}
	return err.Error()
}

func (j *FlushJob) buildTable() error {
	c := j.c
	ro := rocksdb.DefaultReadOptions()
	ro.TotalOrderSeek = true
	ro.IOActivity = rocksdb.IOActivityFlush
	ro.RateLimiterPriority = j.GetRateLimiterPriority()
	var iters []internaliter.InternalIterator
	var tombstones []*rangedel.FragmentedRangeTombstoneIterator
	var entries, deletes, rangeDeletes, dataSize, memory uint64
	for _, m := range j.mems {
		logging.Info(c.DBOptions.InfoLog, "[%s] [JOB %d] Flushing memtable id %d with next log file: %d, marked_for_flush: %v",
			c.CFD.name, c.JobID, m.GetID(), m.GetNextLogNumber(), m.IsMarkedForFlush())
		it, t, err := j.iterators(m, &ro)
		iters = append(iters, it)
		if err != nil {
			return err
		}
		if t != nil {
			tombstones = append(tombstones, t)
		}
		entries += m.NumEntries()
		deletes += m.NumDeletion()
		rangeDeletes += m.NumRangeDeletion()
		dataSize += m.GetDataSize()
		memory += m.ApproximateMemoryUsage()
	}
	monitoring.RecordInHistogram(c.Statistics, rocksdb.HistFlushMemtableMemoryBytes, memory)
	monitoring.RecordInHistogram(c.Statistics, rocksdb.HistFlushMemtableTotalDataSize, dataSize)
	switch c.FlushReason {
	case rocksdb.FlushReasonWriteBufferFull:
		monitoring.RecordTick(c.Statistics, rocksdb.TickerFlushReasonWriteBufferFull, 1)
		monitoring.RecordInHistogram(c.Statistics, rocksdb.HistFlushWriteBufferFullMemtableMemoryBytes, memory)
	case rocksdb.FlushReasonWriteBufferManager:
		monitoring.RecordTick(c.Statistics, rocksdb.TickerFlushReasonWriteBufferManager, 1)
		monitoring.RecordInHistogram(c.Statistics, rocksdb.HistFlushWriteBufferManagerMemtableMemoryBytes, memory)
	case rocksdb.FlushReasonMemtableMaxRangeDeletions:
		monitoring.RecordTick(c.Statistics, rocksdb.TickerFlushReasonMemtableMaxRangeDeletions, 1)
	}
	c.EventLogger.Log().Add("job", c.JobID).Add("event", "flush_started").Add("num_memtables", len(j.mems)).
		Add("total_num_input_entries", entries).Add("num_deletes", deletes).Add("total_data_size", dataSize).
		Add("memory_usage", memory).Add("num_range_deletes", rangeDeletes).
		Add("flush_reason", c.FlushReason.String()).End()
	logging.Info(c.DBOptions.InfoLog, "[%s] [JOB %d] Level-0 flush table #%d: started", c.CFD.name, c.JobID, j.meta.FD.GetNumber())

	iter := table.NewMergingIterator(c.CFD.icmp, iters, false)
	defer iter.Close()
	seconds, err := c.DBOptions.Clock.GetCurrentTime()
	if err != nil {
		logging.Warn(c.DBOptions.InfoLog, "Failed to get current time to populate creation_time property. Status: %v", err)
	}
	now := uint64(seconds)
	oldest := j.mems[0].ApproximateOldestKeyTime()
	ancester := min(now, oldest)
	syncpoint.ProcessArg("FlushJob::WriteLevel0Table:oldest_ancester_time", &ancester)
	j.meta.OldestAncesterTime = ancester
	j.meta.FileCreationTime = now
	j.meta.Temperature = c.MutableCFOptions.DefaultWriteTemperature

	syncpoint.ProcessArg("FlushJob::WriteLevel0Table:output_compression", &c.OutputCompression)
	args := &BuildTableArgs{
		DBName: c.DBName, DBOptions: c.DBOptions, CFD: c.CFD, FileOptions: c.FileOptions, MutableCFOptions: c.MutableCFOptions,
		Iter: iter, RangeTombstones: tombstones, Meta: &j.meta, Snapshots: c.Snapshots, Compression: c.OutputCompression,
		Reason: rocksdb.TableFileCreationReasonFlush, EventLogger: c.EventLogger, JobID: c.JobID,
		OldestKeyTime: oldest, CurrentTime: now, DBID: c.DBID, SessionID: c.SessionID, Priority: ro.RateLimiterPriority,
		Properties: &j.props, Stats: &j.stats, ReadOptions: &ro, FullHistoryTSLow: j.fullHistoryTSLow,
		SeqnoToTimeMapping: c.SeqnoToTimeMapping, LastLevelInclusiveMaxSeqnoThreshold: j.lastLevelThreshold(), IOStats: &j.io,
		BlobFiles: &j.blobs, FastSstOpen: c.FastSstOpen,
		RangeSize: func(start, end []byte) uint64 { return j.base.CoveredSize(&ro, start, end) },
	}
	j.blobs = BlobFileArgs{NewFileNumber: c.VersionSet.NewFileNumber, Reason: rocksdb.BlobFileCreationReasonFlush, Callback: c.BlobCallback}
	var payload, garbage uint64
	args.MemtablePayloadBytes, args.MemtableGarbageBytes = &payload, &garbage
	err = BuildTable(args)
	syncpoint.ProcessArg("FlushJob::WriteLevel0Table:s", &err)
	if err != nil {
		return err
	}
	if err := args.VerifyCounts(entries); err != nil {
		return err
	}
	syncpoint.Process("DBImpl::FlushJob:Flush")
	monitoring.RecordTick(c.Statistics, rocksdb.MemtablePayloadBytesAtFlush, payload)
	monitoring.RecordTick(c.Statistics, rocksdb.MemtableGarbageBytesAtFlush, garbage)
	return nil
}

// lastLevelThreshold is the greatest sequence number that a compaction of now would
// let go to the last level; 0 for any.
// Upstream: FlushJob::GetPrecludeLastLevelMinSeqno.
func (j *FlushJob) lastLevelThreshold() rocksdb.SequenceNumber {
	mo := j.c.MutableCFOptions
	if mo.PrecludeLastLevelDataSeconds == 0 || j.c.SeqnoToTimeMapping == nil {
		return 0
	}
	now, err := j.c.DBOptions.Clock.GetCurrentTime()
	if err != nil {
		logging.Warn(j.c.DBOptions.InfoLog, "Failed to get current time in Flush: Status: %v", err)
		return 0
	}
	_, n := j.c.SeqnoToTimeMapping.GetCurrentTieringCutoffSeqnos(uint64(now), mo.PreserveInternalTimeSeconds,
		mo.PrecludeLastLevelDataSeconds, maxSequence, maxSequence)
	if len(j.c.Snapshots) > 0 {
		n = min(n, j.c.Snapshots[0])
	}
	return n
}

// iterators are over a memtable's entries and range tombstones; without
// timestamps where they are not kept.
func (j *FlushJob) iterators(m *memtable.MemTable, ro *rocksdb.ReadOptions) (internaliter.InternalIterator, *rangedel.FragmentedRangeTombstoneIterator, error) {
	if j.stripsTimestamps() {
		t, err := m.NewTimestampStrippingRangeTombstoneIterator(ro, maxSequence)
		return m.NewTimestampStrippingIterator(ro, nil, j.c.SeqnoToTimeMapping), t, err
	}
	t, err := m.NewRangeTombstoneIterator(ro, maxSequence, true)
	return m.NewFlushIterator(ro, j.c.SeqnoToTimeMapping), t, err
}

// GetCompressionFlush is the compression of flushed tables.
func GetCompressionFlush(io *options.ImmutableOptions, mo *options.MutableCFOptions) rocksdb.CompressionType {
	if io.CompactionStyle == rocksdb.CompactionStyleUniversal && mo.CompactionOptionsUniversal.CompressionSizePercent >= 0 {
		return rocksdb.NoCompression
	}
	if len(mo.CompressionPerLevel) > 0 {
		return mo.CompressionPerLevel[0]
	}
	return mo.Compression
}
