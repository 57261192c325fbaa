// Port of db/internal_stats.{h,cc} (the counters).

package db

import (
	"github.com/rocksdb-go/rocksdb/monitoring"
	"sync/atomic"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

const maxSequence = dbformat.MaxSequenceNumber

// CompactionStats sums up flushes or compactions into one level.
type CompactionStats struct {
	Micros                         uint64
	CPUMicros                      uint64
	BytesReadNonOutputLevels       uint64
	BytesReadOutputLevel           uint64
	BytesReadBlob                  uint64
	BytesWritten                   uint64
	BytesWrittenBlob               uint64
	BytesMoved                     uint64
	NumInputFilesInNonOutputLevels int
	NumInputFilesInOutputLevel     int
	NumOutputFiles                 int
	NumInputRecords                uint64
	NumDroppedRecords              uint64
	NumOutputRecords               uint64
	Count                          int
	Reason                         rocksdb.CompactionReason
	CountsByReason                 map[rocksdb.CompactionReason]int
}

// Add adds o.
func (s *CompactionStats) Add(o *CompactionStats) {
	s.Micros += o.Micros
	s.CPUMicros += o.CPUMicros
	s.BytesReadNonOutputLevels += o.BytesReadNonOutputLevels
	s.BytesReadOutputLevel += o.BytesReadOutputLevel
	s.BytesReadBlob += o.BytesReadBlob
	s.BytesWritten += o.BytesWritten
	s.BytesWrittenBlob += o.BytesWrittenBlob
	s.BytesMoved += o.BytesMoved
	s.NumInputFilesInNonOutputLevels += o.NumInputFilesInNonOutputLevels
	s.NumInputFilesInOutputLevel += o.NumInputFilesInOutputLevel
	s.NumOutputFiles += o.NumOutputFiles
	s.NumInputRecords += o.NumInputRecords
	s.NumDroppedRecords += o.NumDroppedRecords
	s.NumOutputRecords += o.NumOutputRecords
	s.Count += o.Count
	if o.Count > 0 {
		if s.CountsByReason == nil {
			s.CountsByReason = map[rocksdb.CompactionReason]int{}
		}
		s.CountsByReason[o.Reason] += o.Count
	}
}

// InternalCFStat is a counter of one column family.
type InternalCFStat uint8

// The counters.
const (
	L0FileCountLimitDelays InternalCFStat = iota
	L0FileCountLimitDelaysWithOngoingCompaction
	MemtableLimitDelays
	L0FileCountLimitStops
	L0FileCountLimitStopsWithOngoingCompaction
	MemtableLimitStops
	PendingCompactionBytesLimitDelays
	PendingCompactionBytesLimitStops
	WriteStallsTotal
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

// InternalStats are a column family's counters. The DB mutex protects what is
// not atomic.
type InternalStats struct {
	db    [numInternalDBStats]atomic.Uint64
	cf    [numInternalCFStats]uint64
	comp  []CompactionStats // by output level
	clock rocksdb.SystemClock
	cfd   *ColumnFamilyData
	start uint64 // µs

	bgErrorCount uint64
	readHist     []*monitoring.HistogramImpl // of file reads, by level

	// What the last dump showed, for intervals.
	last struct {
		micros uint64
		cf     [numInternalCFStats]uint64
		db     [numInternalDBStats]uint64
		comp   CompactionStats
	}
}

// NewInternalStats makes counters at zero.
func NewInternalStats(numLevels int, clock rocksdb.SystemClock, cfd *ColumnFamilyData) *InternalStats {
	s := &InternalStats{comp: make([]CompactionStats, numLevels), clock: clock, cfd: cfd, start: clock.NowMicros()}
	for range numLevels {
		s.readHist = append(s.readHist, monitoring.NewHistogramImpl())
	}
	return s
}

// AddDBStats adds to a counter of the database; no lock is needed.
func (s *InternalStats) AddDBStats(t InternalDBStat, n uint64) { s.db[t].Add(n) }

// GetDBStats gives a counter of the database.
func (s *InternalStats) GetDBStats(t InternalDBStat) uint64 { return s.db[t].Load() }

// AddCFStats adds to a counter.
func (s *InternalStats) AddCFStats(t InternalCFStat, n uint64) {
	s.cf[t] += n
	if t < WriteStallsTotal {
		s.cf[WriteStallsTotal] += n
	}
}

// GetCFStats gives a counter.
func (s *InternalStats) GetCFStats(t InternalCFStat) uint64 { return s.cf[t] }

// AddCompactionStats adds a job's figures to its output level's.
func (s *InternalStats) AddCompactionStats(level int, c *CompactionStats) {
	if level < len(s.comp) {
		s.comp[level].Add(c)
	}
}

// IncBytesMoved notes a trivial move into level.
func (s *InternalStats) IncBytesMoved(level int, n uint64) { s.comp[level].BytesMoved += n }

// BumpAndGetBackgroundErrorCount counts a background error.
func (s *InternalStats) BumpAndGetBackgroundErrorCount() uint64 {
	s.bgErrorCount++
	return s.bgErrorCount
}

// GetBackgroundErrorCount gives the number of background errors.
func (s *InternalStats) GetBackgroundErrorCount() uint64 { return s.bgErrorCount }

// CountStall notes a stall condition by its cause.
func (s *InternalStats) CountStall(condition rocksdb.WriteStallCondition, cause WriteStallCause, l0Busy bool) {
	stopped := condition == rocksdb.WriteStallConditionStopped
	pick := func(stop, delay InternalCFStat) InternalCFStat {
		if stopped {
			return stop
		}
		return delay
	}
	switch cause {
	case StallMemtableLimit:
		s.AddCFStats(pick(MemtableLimitStops, MemtableLimitDelays), 1)
	case StallL0FileCountLimit:
		s.AddCFStats(pick(L0FileCountLimitStops, L0FileCountLimitDelays), 1)
		if l0Busy {
			s.cf[pick(L0FileCountLimitStopsWithOngoingCompaction, L0FileCountLimitDelaysWithOngoingCompaction)]++
		}
	case StallPendingCompactionBytes:
		s.AddCFStats(pick(PendingCompactionBytesLimitStops, PendingCompactionBytesLimitDelays), 1)
	}
}

// GetFileReadHist gives the histogram of a level's file reads, in microseconds.
func (s *InternalStats) GetFileReadHist(level int) *monitoring.HistogramImpl {
	return s.readHist[level]
}
