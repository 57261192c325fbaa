// Port of db/internal_stats.{h,cc} (the counters). Differs: a job's reason is
// one field beside the counts.

package db

import (
	"sync/atomic"

	"github.com/rocksdb-go/rocksdb/cache"
	"github.com/rocksdb-go/rocksdb/db/blob/blobformat"
	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/monitoring"
)

const maxSequence = dbformat.MaxSequenceNumber

// CompactionStats sums up flushes or compactions into one level. Sizes are in
// bytes.
type CompactionStats struct {
	Micros                         uint64
	CPUMicros                      uint64
	BytesReadNonOutputLevels       uint64
	BytesReadOutputLevel           uint64
	BytesReadBlob                  uint64
	BytesWritten                   uint64
	BytesWrittenPreComp            uint64 // before compression
	BytesWrittenBlob               uint64
	BytesMoved                     uint64
	NumInputFilesInNonOutputLevels int
	NumInputFilesInOutputLevel     int
	NumOutputFiles                 int
	NumOutputFilesBlob             int
	NumInputRecords                uint64
	NumDroppedRecords              uint64
	NumOutputRecords               uint64
	Count                          int
	Reason                         rocksdb.CompactionReason // of a single job
	// CountsByReason are the parts of Count in a sum.
	CountsByReason [rocksdb.NumCompactionReasons]int
}

// CountBlobFiles counts the blob files that a job has made.
func (s *CompactionStats) CountBlobFiles(files []blobformat.BlobFileAddition) {
	s.NumOutputFilesBlob += len(files)
	for i := range files {
		s.BytesWrittenBlob += files[i].GetTotalBlobBytes()
	}
}

// Add adds the job or sum o.
func (s *CompactionStats) Add(o *CompactionStats) {
	s.Micros += o.Micros
	s.CPUMicros += o.CPUMicros
	s.BytesReadNonOutputLevels += o.BytesReadNonOutputLevels
	s.BytesReadOutputLevel += o.BytesReadOutputLevel
	s.BytesReadBlob += o.BytesReadBlob
	s.BytesWritten += o.BytesWritten
	s.BytesWrittenPreComp += o.BytesWrittenPreComp
	s.BytesWrittenBlob += o.BytesWrittenBlob
	s.BytesMoved += o.BytesMoved
	s.NumInputFilesInNonOutputLevels += o.NumInputFilesInNonOutputLevels
	s.NumInputFilesInOutputLevel += o.NumInputFilesInOutputLevel
	s.NumOutputFiles += o.NumOutputFiles
	s.NumOutputFilesBlob += o.NumOutputFilesBlob
	s.NumInputRecords += o.NumInputRecords
	s.NumDroppedRecords += o.NumDroppedRecords
	s.NumOutputRecords += o.NumOutputRecords
	s.Count += o.Count
	counted := 0
	for r, n := range o.CountsByReason {
		s.CountsByReason[r] += n
		counted += n
	}
	if r := o.Reason; counted == 0 && r >= 0 && r < rocksdb.NumCompactionReasons {
		s.CountsByReason[r] += o.Count
	}
}

// Subtract takes what Add added of an earlier state away.
func (s *CompactionStats) Subtract(o *CompactionStats) {
	s.Micros -= o.Micros
	s.CPUMicros -= o.CPUMicros
	s.BytesReadNonOutputLevels -= o.BytesReadNonOutputLevels
	s.BytesReadOutputLevel -= o.BytesReadOutputLevel
	s.BytesReadBlob -= o.BytesReadBlob
	s.BytesWritten -= o.BytesWritten
	s.BytesWrittenPreComp -= o.BytesWrittenPreComp
	s.BytesWrittenBlob -= o.BytesWrittenBlob
	s.BytesMoved -= o.BytesMoved
	s.NumInputFilesInNonOutputLevels -= o.NumInputFilesInNonOutputLevels
	s.NumInputFilesInOutputLevel -= o.NumInputFilesInOutputLevel
	s.NumOutputFiles -= o.NumOutputFiles
	s.NumOutputFilesBlob -= o.NumOutputFilesBlob
	s.NumInputRecords -= o.NumInputRecords
	s.NumDroppedRecords -= o.NumDroppedRecords
	s.NumOutputRecords -= o.NumOutputRecords
	s.Count -= o.Count
	for r, n := range o.CountsByReason {
		s.CountsByReason[r] -= n
	}
}

// InternalCFStat is a counter of one column family.
type InternalCFStat uint8

// The counters; those before BytesFlushed are of write stalls.
const (
	MemtableLimitDelays InternalCFStat = iota
	MemtableLimitStops
	L0FileCountLimitDelays
	L0FileCountLimitStops
	PendingCompactionBytesLimitDelays
	PendingCompactionBytesLimitStops
	L0FileCountLimitDelaysWithOngoingCompaction
	L0FileCountLimitStopsWithOngoingCompaction
	BytesFlushed
	BytesIngestedAddFile
	IngestedNumFilesTotal
	IngestedLevel0NumFilesTotal
	IngestedNumKeysTotal
	numInternalCFStats
)

// InternalDBStat is a counter of the whole database, kept with the default
// family.
type InternalDBStat uint8

// The counters.
const (
	WalFileBytes InternalDBStat = iota
	WalFileSynced
	BytesWritten
	NumberKeysWritten
	WriteDoneByOther
	WriteDoneBySelf
	WriteWithWal
	WriteStallMicros
	WriteBufferManagerLimitStops
	numInternalDBStats
)

// cfStatsSnapshot is what the last periodic dump of a family's figures showed.
type cfStatsSnapshot struct {
	cf                       [numInternalCFStats]uint64
	comp                     CompactionStats
	stallCount               uint64
	compactRead, compactWrit uint64 // bytes
	compactMicros            uint64
	secondsUp                float64
}

// dbStatsSnapshot is what the last dump of the database's figures showed.
type dbStatsSnapshot struct {
	db        [numInternalDBStats]uint64
	secondsUp float64
}

// InternalStats are a column family's counters. The DB mutex protects what is
// not atomic.
type InternalStats struct {
	db             [numInternalDBStats]atomic.Uint64
	cf             [numInternalCFStats]uint64 // sums
	cfCount        [numInternalCFStats]uint64 // calls
	comp           []CompactionStats          // by output level
	compByPriority [rocksdb.TotalPriority]CompactionStats
	// perKeyPlacement sums up the outputs on the level above the last one.
	perKeyPlacement CompactionStats
	sortedRuns      atomic.Int64 // that compactions at work read
	clock           rocksdb.SystemClock
	cfd             *ColumnFamilyData
	started         uint64 // µs

	bgErrorCount uint64
	readHist     []*monitoring.HistogramImpl // of file reads, by level
	blobReadHist *monitoring.HistogramImpl

	// cacheStats is nil without a block cache.
	cacheStats        *cacheStatsCollector
	releaseCacheStats func()

	lastCF cfStatsSnapshot
	lastDB dbStatsSnapshot

	// Whether periodic dumps may be left out as nothing has changed.
	changedSinceDump    bool
	unchangedDumps      int
	lastNumOfHistograms uint64
}

type cacheStatsCollector = cache.EntryStatsCollector[CacheEntryRoleStats, *CacheEntryRoleStats]

// NewInternalStats makes counters at zero.
func NewInternalStats(numLevels int, clock rocksdb.SystemClock, cfd *ColumnFamilyData) *InternalStats {
	s := &InternalStats{comp: make([]CompactionStats, numLevels), clock: clock, cfd: cfd, started: clock.NowMicros(),
		blobReadHist: monitoring.NewHistogramImpl(), changedSinceDump: true, lastNumOfHistograms: ^uint64(0)}
	for range numLevels {
		s.readHist = append(s.readHist, monitoring.NewHistogramImpl())
	}
	if c := s.blockCache(); c != nil {
		// A full cache has no figures.
		s.cacheStats, s.releaseCacheStats, _ = cache.SharedEntryStatsCollector[CacheEntryRoleStats](c, clock)
	}
	return s
}

// Close lets go of the block cache.
func (s *InternalStats) Close() {
	if s.releaseCacheStats != nil {
		s.releaseCacheStats()
	}
}

// Clear sets all counters to zero. The DB mutex is held.
func (s *InternalStats) Clear() {
	for i := range s.db {
		s.db[i].Store(0)
	}
	s.cf, s.cfCount = [numInternalCFStats]uint64{}, [numInternalCFStats]uint64{}
	clear(s.comp)
	clear(s.compByPriority[:])
	s.perKeyPlacement = CompactionStats{}
	for _, h := range s.readHist {
		h.Clear()
	}
	s.blobReadHist.Clear()
	s.lastCF, s.lastDB = cfStatsSnapshot{}, dbStatsSnapshot{}
	s.bgErrorCount = 0
	s.started = s.clock.NowMicros()
	s.changedSinceDump = true
}

// AddDBStats adds to a counter of the database; no lock is needed.
func (s *InternalStats) AddDBStats(t InternalDBStat, n uint64) { s.db[t].Add(n) }

// GetDBStats gives a counter of the database.
func (s *InternalStats) GetDBStats(t InternalDBStat) uint64 { return s.db[t].Load() }

// AddCFStats adds to a counter.
func (s *InternalStats) AddCFStats(t InternalCFStat, n uint64) {
	s.changedSinceDump = true
	s.cf[t] += n
	s.cfCount[t]++
}

// GetCFStats gives a counter.
func (s *InternalStats) GetCFStats(t InternalCFStat) uint64 { return s.cf[t] }

// AddCompactionStats adds a job's figures, which ran in the pool of pri, to its
// output level's.
func (s *InternalStats) AddCompactionStats(level int, pri rocksdb.Priority, c *CompactionStats) {
	if level < len(s.comp) {
		s.comp[level].Add(c)
	}
	if int(pri) < len(s.compByPriority) {
		s.compByPriority[pri].Add(c)
	}
}

// AddPerKeyPlacementStats adds a job's figures of its outputs on the proximal level.
func (s *InternalStats) AddPerKeyPlacementStats(c *CompactionStats) { s.perKeyPlacement.Add(c) }

// TESTGetPerKeyPlacementCompactionStats gives the sums of AddPerKeyPlacementStats.
func (s *InternalStats) TESTGetPerKeyPlacementCompactionStats() CompactionStats {
	return s.perKeyPlacement
}

// TESTGetCompactionStats gives the sums by output level.
func (s *InternalStats) TESTGetCompactionStats() []CompactionStats { return s.comp }

// IncBytesMoved notes a trivial move into level.
func (s *InternalStats) IncBytesMoved(level int, n uint64) { s.comp[level].BytesMoved += n }

// RunningCompactionSortedRuns is the number of sorted runs that compactions at
// work read; those count themselves in it.
func (s *InternalStats) RunningCompactionSortedRuns() *atomic.Int64 { return &s.sortedRuns }

// BumpAndGetBackgroundErrorCount counts a background error.
func (s *InternalStats) BumpAndGetBackgroundErrorCount() uint64 {
	s.bgErrorCount++
	return s.bgErrorCount
}

// GetBackgroundErrorCount gives the number of background errors.
func (s *InternalStats) GetBackgroundErrorCount() uint64 { return s.bgErrorCount }

// CountStall notes a stall condition by its cause; l0Busy tells whether L0 is
// being compacted.
func (s *InternalStats) CountStall(condition rocksdb.WriteStallCondition, cause WriteStallCause, l0Busy bool) {
	t, ok := internalCFStat(cause, condition)
	if !ok {
		return
	}
	s.AddCFStats(t, 1)
	switch {
	case !l0Busy:
	case t == L0FileCountLimitDelays:
		s.AddCFStats(L0FileCountLimitDelaysWithOngoingCompaction, 1)
	case t == L0FileCountLimitStops:
		s.AddCFStats(L0FileCountLimitStopsWithOngoingCompaction, 1)
	}
}

// GetFileReadHist gives the histogram of a level's file reads, in microseconds.
func (s *InternalStats) GetFileReadHist(level int) *monitoring.HistogramImpl {
	return s.readHist[level]
}

// GetBlobFileReadHist gives the histogram of blob file reads, in microseconds.
func (s *InternalStats) GetBlobFileReadHist() *monitoring.HistogramImpl { return s.blobReadHist }
