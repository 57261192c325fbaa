// Port of db/compaction/compaction_job.{h,cc}. Differs: parts run as goroutines;
// there is no resuming and no remote compaction yet.

package job

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/rocksdb-go/rocksdb/db"
	"github.com/rocksdb-go/rocksdb/db/blob"
	"github.com/rocksdb-go/rocksdb/db/blob/blobformat"
	"github.com/rocksdb-go/rocksdb/db/compaction"
	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/db/seqnotime"
	"github.com/rocksdb-go/rocksdb/db/version"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/logging"
	"github.com/rocksdb-go/rocksdb/monitoring"
	"github.com/rocksdb-go/rocksdb/options"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

// Config is what a compaction works with. What says so is optional.
type Config struct {
	JobID            int
	Compaction       *compaction.Compaction // after FinalizeInputInfo
	CFD              *db.ColumnFamilyData
	DBName           string
	DBOptions        *options.ImmutableDBOptions
	MutableDBOptions *options.MutableDBOptions
	FileOptions      rocksdb.FileOptions // of the outputs
	VersionSet       *db.VersionSet
	Mutex            sync.Locker
	ShuttingDown     *atomic.Bool
	// ManualCanceled ends this compaction (optional), Aborted above 0 any
	// compaction (optional).
	ManualCanceled  *atomic.Bool
	Aborted         *atomic.Int32
	LogBuffer       *logging.LogBuffer
	DBDirectory     rocksdb.FSDirectory
	OutputDirectory rocksdb.FSDirectory
	Statistics      rocksdb.Statistics
	ErrorHandler    *db.ErrorHandler // optional
	// Snapshots in rising order.
	Snapshots                     []rocksdb.SequenceNumber
	EarliestWriteConflictSnapshot rocksdb.SequenceNumber
	// JobSnapshot is for SnapshotChecker (optional).
	JobSnapshot     rocksdb.SequenceNumber
	SnapshotChecker dbformat.SnapshotChecker
	EventLogger     *logging.EventLogger
	// Status is told what the job does; nil with no thread tracking.
	Status       *monitoring.ThreadStatusData
	ThreadID     uint64                          // what listeners are told
	BlobCallback blob.BlobFileCompletionCallback // optional
	// BlobOutputDirectory is where blob files go.
	BlobOutputDirectory rocksdb.FSDirectory
	DBID, SessionID     string
	Env                 rocksdb.Env
	// BottomPool says that the job runs in the bottom-priority pool.
	BottomPool bool
	// ReserveThreads asks for up to n more goroutines at the expense of other
	// compactions and gives how many there are; ReleaseThreads gives them back.
	// Optional, both or none; called with the mutex held.
	ReserveThreads func(n int) int
	ReleaseThreads func(n int)
}

// CompactionJob is one compaction at work. The order of calls is Prepare, Run,
// Install.
type CompactionJob struct {
	Config
	c     *compaction.Compaction
	io    *options.ImmutableOptions
	mo    *options.MutableCFOptions
	icmp  *dbformat.InternalKeyComparator
	parts []*subcompactionState

	writeHint          rocksdb.WriteLifeTimeHint
	earliestSnapshot   rocksdb.SequenceNumber
	fullHistoryTSLow   []byte // nil keeps all history
	mapping            *seqnotime.SeqnoToTimeMapping
	preserveSeqnoAfter rocksdb.SequenceNumber
	// What was written after proximalAfterSeqno goes to the proximal level; the
	// greatest number where there is none.
	proximalAfterSeqno rocksdb.SequenceNumber
	reservedThreads    int
	unsupported        error // found by Prepare, told by Run

	status error
	stats  jobStats
	// proximalStats count the outputs on the proximal level alone; stats those on the
	// output level.
	proximalStats db.CompactionStats
	jobStats      rocksdb.CompactionJobStats
}

// jobStats adds to db.CompactionStats what only the job's lines show.
type jobStats struct {
	db.CompactionStats
	numFilteredInputFilesInNonOutputLevels int
	numFilteredInputFilesInOutputLevel     int
	bytesSkippedNonOutputLevels            uint64
	bytesSkippedOutputLevel                uint64
}

// NewCompactionJob makes a job. The database's mutex is held.
func NewCompactionJob(cfg *Config) *CompactionJob {
	j := &CompactionJob{Config: *cfg, c: cfg.Compaction, jobStats: rocksdb.NewCompactionJobStats()}
	j.io, j.mo, j.icmp = j.c.ImmutableOptions(), j.c.MutableCFOptions(), j.c.Comparator()
	j.stats.CompactionStats = db.CompactionStats{Reason: j.c.CompactionReason(), Count: 1}
	j.proximalStats = j.stats.CompactionStats
	j.earliestSnapshot = dbformat.MaxSequenceNumber
	if len(j.Snapshots) > 0 {
		j.earliestSnapshot = j.Snapshots[0]
	}
	if low := j.c.CF().FullHistoryTSLow; len(low) > 0 {
		j.fullHistoryTSLow = append([]byte(nil), low...)
	}
	j.jobStats.IsManualCompaction = j.c.IsManualCompaction()
	j.jobStats.IsFullCompaction = j.c.IsFullCompaction()
	for i := range j.c.NumInputLevels() {
		j.jobStats.NumInputFiles += j.c.InputLevelFiles(i).NumFiles()
	}
	j.jobStats.TotalInputBytes = j.c.CalculateTotalInputSize()
	return j
}

// GetRateLimiterPriority is that of the job's reads and writes: a user's while
// writers wait for compactions.
func (j *CompactionJob) GetRateLimiterPriority() rocksdb.IOPriority {
	if wc := j.VersionSet.GetColumnFamilySet().WriteController(); wc.IsStopped() || wc.NeedsDelay() {
		return rocksdb.IOUser
	}
	return rocksdb.IOLow
}

// Stats are the job's figures, complete after Run.
func (j *CompactionJob) Stats() *rocksdb.CompactionJobStats { return &j.jobStats }

// enterStage tells GetThreadList what step the job is at; the function that it
// gives goes back to the step before.
func (j *CompactionJob) enterStage(stage rocksdb.OperationStage) (leave func()) {
	before := j.Status.SetThreadOperationStage(stage)
	return func() { j.Status.SetThreadOperationStage(before) }
}

// reportStarted tells GetThreadList of the job. Properties come first, so that who
// sees the operation sees them. Upstream: ReportStartedCompaction.
func (j *CompactionJob) reportStarted() {
	s, c := j.Status, j.Compaction
	if s == nil {
		return
	}
	s.SetEnableTracking(j.DBOptions.EnableThreadTracking)
	s.SetColumnFamily(j.CFD.StatusKey())
	s.SetThreadOperationProperty(rocksdb.CompactionJobID, uint64(j.JobID))
	s.SetThreadOperationProperty(rocksdb.CompactionInputOutputLevel, uint64(c.StartLevel())<<32+uint64(c.OutputLevel()))
	var flags uint64
	if c.IsManualCompaction() {
		flags++
	}
	if c.DeletionCompaction() {
		flags += 2
	}
	s.SetThreadOperationProperty(rocksdb.CompactionPropFlags, flags)
	s.SetThreadOperationProperty(rocksdb.CompactionTotalInputBytes, c.CalculateTotalInputSize())
	s.SetThreadOperation(rocksdb.OpCompaction)
}

// Prepare splits the work into parts. The database's mutex is held; it is
// released while index blocks are read.
func (j *CompactionJob) Prepare() {
	j.reportStarted()
	defer j.enterStage(rocksdb.StageCompactionPrepare)()
	if j.DBOptions.CompactionService != nil {
		j.unsupported = rocksdb.NotSupported("compaction_service")
	}
	j.writeHint = j.c.InputVersion().StorageInfo().CalculateSSTWriteHint(j.c.OutputLevel(), j.DBOptions.CalculateSstWriteLifetimeHintSet)
	var boundaries [][]byte
	if j.unsupported == nil && j.c.ShouldFormSubcompactions() {
		start := j.DBOptions.Clock.NowMicros()
		boundaries = j.genSubcompactionBoundaries()
		monitoring.RecordTimeToHistogram(j.Statistics, rocksdb.HistSubcompactionSetupTime, j.DBOptions.Clock.NowMicros()-start)
	}
	var begin []byte
	for i, b := range boundaries {
		j.parts = append(j.parts, newSubcompactionState(j.c, begin, b, i))
		begin = b
	}
	j.parts = append(j.parts, newSubcompactionState(j.c, begin, nil, len(boundaries)))
	if len(boundaries) > 0 {
		monitoring.RecordInHistogram(j.Statistics, rocksdb.HistNumSubcompactionsScheduled, uint64(len(j.parts)))
	}
	j.prepareTimes()
}

// prepareTimes gathers what the inputs know of write times, from which sequence
// number on these have to be kept, and what is to stay out of the last level.
func (j *CompactionJob) prepareTimes() {
	j.mapping = seqnotime.NewSeqnoToTimeMapping()
	preserveMin, precludeMin := dbformat.MaxSequenceNumber, dbformat.MaxSequenceNumber
	if span := max(j.mo.PreserveInternalTimeSeconds, j.mo.PrecludeLastLevelDataSeconds); span > 0 {
		ro := rocksdb.DefaultReadOptions()
		ro.IOActivity = rocksdb.IOActivityCompaction
		j.mapping.SetMaxTimeSpan(span)
		for i := range j.c.NumInputLevels() {
			for _, f := range j.c.InputFiles(i) {
				p, err := j.c.InputVersion().GetTableProperties(&ro, f, "")
				if err == nil {
					err = j.mapping.DecodeFrom([]byte(p.SeqnoToTimeMapping))
				}
				if err != nil {
					logging.Warn(j.DBOptions.InfoLog, "Problem reading or processing seqno-to-time mapping: %s", err.Error())
				}
			}
		}
		if now, err := j.DBOptions.Clock.GetCurrentTime(); err != nil {
			logging.Warn(j.DBOptions.InfoLog, "Failed to get current time in compaction: Status: %s", err.Error())
			preserveMin, precludeMin = 0, 0 // all of it
			j.mapping.Enforce(0)
		} else {
			j.mapping.Enforce(uint64(now))
			preserveMin, precludeMin = j.mapping.GetCurrentTieringCutoffSeqnos(uint64(now), j.mo.PreserveInternalTimeSeconds,
				j.mo.PrecludeLastLevelDataSeconds, preserveMin, precludeMin)
		}
		// Only now: less would make the answers above worse, and each output
		// has its own limit.
		j.mapping.SetCapacity(seqnotime.MaxSeqnoToTimeEntries)
	}
	syncpoint.ProcessArg("CompactionJob::PrepareTimes():preclude_last_level_min_seqno", &precludeMin)
	preserveMin = min(preserveMin, precludeMin)
	j.preserveSeqnoAfter = min(max(preserveMin, 1)-1, j.earliestSnapshot)
	if precludeMin < dbformat.MaxSequenceNumber {
		// What a snapshot sees is likelier to be read.
		precludeMin = min(precludeMin, j.earliestSnapshot)
	}
	// A threshold for all keys, instead of one for each that has to stay in the last
	// level: so range tombstones are sure to stay above what they cover.
	j.proximalAfterSeqno = max(precludeMin, j.c.GetKeepInLastLevelThroughSeqno())
}

// Run reads the inputs and writes the outputs, without the database's mutex.
// Upstream: CompactionJob::InitializeCompactionRun,
// CompactionJob::FinalizeCompactionRun, CompactionJob::SyncOutputDirectories,
// CompactionJob::RemoveEmptyOutputs.
func (j *CompactionJob) Run() error {
	defer j.enterStage(rocksdb.StageCompactionRun)()
	syncpoint.Process("CompactionJob::Run():Start")
	if j.LogBuffer != nil {
		j.LogBuffer.FlushBufferToLog()
	}
	j.logCompaction()
	start := j.DBOptions.Clock.NowMicros()
	if j.unsupported != nil {
		j.status = j.unsupported
		return j.status
	}
	j.runSubcompactions()
	j.updateTimingStats(start)
	syncpoint.Process("CompactionJob::Run:BeforeVerify")

	err := j.firstError()
	if isAbortedOrPaused(err) {
		j.cleanupAbortedSubcompactions()
	}
	if err == nil && j.OutputDirectory != nil {
		err = j.OutputDirectory.FsyncWithDirOptions(rocksdb.NewIOOptions(), rocksdb.DirFsyncOptions{Reason: rocksdb.DirFsyncNewFileSynced})
	}
	if err == nil && j.hasNewBlobFiles() && j.BlobOutputDirectory != nil && j.BlobOutputDirectory != j.OutputDirectory {
		err = j.BlobOutputDirectory.FsyncWithDirOptions(rocksdb.NewIOOptions(), rocksdb.DirFsyncOptions{Reason: rocksdb.DirFsyncNewFileSynced})
	}
	if err == nil {
		err = j.verifyOutputFiles()
	}
	syncpoint.ProcessArg("CompactionJob::Run():AfterVerifyOutputFiles", &err)
	if err == nil {
		for _, s := range j.parts {
			_ = s.eachOutput(func(out *output) error {
				j.c.SetOutputTableProperties(out.path, out.properties)
				return nil
			})
		}
	}
	j.aggregateStats()
	rangeDels, exact := j.updateStatsFromInputFiles()
	if err == nil {
		err = j.verifyRecordCounts(rangeDels, exact)
	}
	j.finalizeStats(err, rangeDels, exact)
	syncpoint.Process("CompactionJob::Run():End")
	j.status = err
	syncpoint.ProcessArg("CompactionJob::Run():EndStatusSet", &err)
	return err
}

func (j *CompactionJob) hasProximalOutput() bool {
	return slices.ContainsFunc(j.parts, func(s *subcompactionState) bool { return s.proximal != nil && len(s.proximal.outputs) > 0 })
}

func (j *CompactionJob) hasNewBlobFiles() bool {
	return slices.ContainsFunc(j.parts, func(s *subcompactionState) bool { return len(s.blobAdditions()) > 0 })
}

func isAbortedOrPaused(err error) bool {
	if rocksdb.CodeOf(err) != rocksdb.CodeIncomplete || err == nil {
		return false
	}
	s := rocksdb.AsStatus(err)
	return s.SubCode == rocksdb.SubCodeCompactionAborted || s.SubCode == rocksdb.SubCodeManualCompactionPaused
}

// firstError is upstream's CompactionJob::CollectSubcompactionErrors.
func (j *CompactionJob) firstError() error {
	for _, s := range j.parts {
		if s.status != nil {
			return s.status
		}
	}
	return nil
}

func (j *CompactionJob) runSubcompactions() {
	syncpoint.Process("CompactionJob::RunSubcompactions:BeforeStart")
	j.c.GetOrInitInputTableProperties()
	var wg sync.WaitGroup
	for _, s := range j.parts[1:] {
		wg.Add(1)
		go func() {
			defer wg.Done()
			s.thread = monitoring.NewThreadID()
			j.processKeyValueCompaction(s)
		}()
	}
	j.parts[0].thread = j.ThreadID
	j.processKeyValueCompaction(j.parts[0])
	wg.Wait()
	for _, s := range j.parts {
		for _, o := range s.groups() {
			o.removeLastEmptyOutput()
		}
	}
	if j.reservedThreads > 0 {
		j.Mutex.Lock()
		j.shrinkSubcompactionResources(j.reservedThreads)
		j.Mutex.Unlock()
	}
	syncpoint.Process("CompactionJob::ReleaseSubcompactionResources")
}

// cleanupAbortedSubcompactions deletes what the parts wrote.
// Upstream: CompactionJob::CleanupCompactionFiles.
func (j *CompactionJob) cleanupAbortedSubcompactions() {
	deleted, blobs, failed := 0, 0, 0
	var first error
	for _, s := range j.parts {
		if s.status == nil {
			s.status = rocksdb.AllCompactionsAborted()
		}
		s.cleanup(j.CFD.TableCache().Cache(), s.status)
		for _, path := range s.allPaths() {
			err := j.DBOptions.FS.DeleteFile(path, rocksdb.NewIOOptions())
			switch {
			case err == nil && strings.HasSuffix(path, ".blob"):
				blobs++
			case err == nil:
				deleted++
			case !rocksdb.IsNotFound(err) && !rocksdb.IsPathNotFound(err):
				failed++
				if first == nil {
					first = err
				}
			}
		}
		s.forget()
	}
	monitoring.RecordTick(j.Statistics, rocksdb.CompactionAborted, 1)
	logging.Info(j.DBOptions.InfoLog, "[%s] [JOB %d] Compaction aborted: deleted %d SST files and %d blob files",
		j.CFD.GetName(), j.JobID, deleted, blobs)
	if first != nil {
		logging.Error(j.DBOptions.InfoLog, "[%s] [JOB %d] Cleanup completed with %d file deletion errors. First error: %s",
			j.CFD.GetName(), j.JobID, failed, first.Error())
	}
}

// addBlobGarbage says how much of the inputs' blobs the outputs do not have.
func (j *CompactionJob) addBlobGarbage(edit *version.VersionEdit) {
	total := map[uint64]blob.BlobStats{}
	for _, s := range j.parts {
		if s.garbage == nil {
			continue
		}
		for number, f := range s.garbage.Flows() {
			if f.HasGarbage() {
				t := total[number]
				t.Count += f.GetGarbageCount()
				t.Bytes += f.GetGarbageBytes()
				total[number] = t
			}
		}
	}
	for _, number := range slices.Sorted(maps.Keys(total)) {
		edit.AddBlobFileGarbage(blobformat.NewBlobFileGarbage(number, total[number].Count, total[number].Bytes))
	}
}

// Install makes the outputs of a Run that gave runErr current; after an error it
// only cleans up. released is called, with the mutex held, once the version edit
// is written or has failed, and before the new version is installed: it releases
// the input files. The database's mutex is held.
// Upstream: CompactionJob::CleanupCompaction.
func (j *CompactionJob) Install(runErr error, released func(error)) error {
	defer j.Status.ResetThreadStatus()
	defer j.enterStage(rocksdb.StageCompactionInstall)()
	err := runErr
	if err == nil {
		err = j.status
	}
	pool := rocksdb.LowPriority
	if j.BottomPool {
		pool = rocksdb.BottomPriority
	}
	j.CFD.InternalStats().AddCompactionStats(j.c.OutputLevel(), pool, &j.stats.CompactionStats)
	if j.hasProximalOutput() {
		j.CFD.InternalStats().AddPerKeyPlacementStats(&j.proximalStats)
	}
	if err == nil {
		err = j.installCompactionResults(released)
	}
	j.logFinished(err)
	j.status = err
	for _, s := range j.parts {
		s.cleanup(j.CFD.TableCache().Cache(), err)
	}
	return err
}

func (j *CompactionJob) installCompactionResults(released func(error)) error {
	last, proximal := j.stats.BytesWritten, j.proximalStats.BytesWritten
	if j.hasProximalOutput() {
		logging.ToBuffer(j.LogBuffer, "[%s] [JOB %d] Compacted %s => output_to_proximal_level: %d bytes + last: %d bytes. Total: %d bytes",
			j.CFD.GetName(), j.JobID, j.c.InputLevelSummary(), proximal, last, proximal+last)
	} else {
		logging.ToBuffer(j.LogBuffer, "[%s] [JOB %d] Compacted %s => %d bytes", j.CFD.GetName(), j.JobID, j.c.InputLevelSummary(), last)
	}
	edit := j.c.Edit()
	j.c.AddInputDeletions(edit)
	for _, s := range j.parts {
		for _, o := range s.groups() {
			for i := range o.outputs {
				edit.AddFile(o.level(), o.outputs[i].meta)
			}
		}
		for _, a := range s.blobAdditions() {
			edit.AddBlobFile(a)
		}
	}
	j.addBlobGarbage(edit)
	reason := j.c.CompactionReason()
	if level := j.c.StartLevel(); level > 0 && j.io.CompactionPri == rocksdb.RoundRobin &&
		(reason == rocksdb.CompactionReasonLevelMaxLevelSize || reason == rocksdb.CompactionReasonRoundRobinTtl) {
		edit.AddCompactCursor(level, j.c.InputVersion().StorageInfo().GetNextCompactCursor(level, j.c.NumInputFiles(0)))
	}
	var err error
	syncpoint.ProcessArg("CompactionJob::InstallCompactionResults:BeforeLogAndApply", &err)
	if err != nil {
		return err
	}
	return j.VersionSet.LogAndApply(&db.LogAndApplyRequest{CFD: j.CFD, Edits: edits(edit), Mutex: j.Mutex,
		DBDirectory: j.DBDirectory, ManifestWritten: released})
}
