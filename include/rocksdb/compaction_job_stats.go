// Port of include/rocksdb/compaction_job_stats.h and
// util/compaction_job_stats_impl.cc. Differs: Reset and Add treat every counter
// alike; upstream's leave out NumInputFilesTriviallyMoved.

package rocksdb

// CompactionJobStatsMaxPrefixLength bounds the key prefixes, in bytes.
const CompactionJobStatsMaxPrefixLength = 8

// CompactionJobStats tells what one compaction did. Start from
// NewCompactionJobStats or Reset.
type CompactionJobStats struct {
	ElapsedMicros uint64 // elapsed time, microseconds
	CPUMicros     uint64 // CPU time, microseconds

	HasAccurateNumInputRecords         bool   // NumInputRecords is exact across subcompactions
	NumInputRecords                    uint64 // records read
	NumBlobsRead                       uint64 // blobs read from blob files
	NumInputFiles                      int    // table files read
	NumInputFilesTriviallyMoved        int    // table files moved without being read
	NumInputFilesAtOutputLevel         int    // those of NumInputFiles at the output level
	NumFilteredInputFiles              int    // table files left out by optimizations
	NumFilteredInputFilesAtOutputLevel int    // those of them at the output level

	NumOutputRecords   uint64 // records written
	NumOutputFiles     int    // table files written
	NumOutputFilesBlob int    // blob files written

	IsFullCompaction   bool // all live table files were input
	IsManualCompaction bool // asked for by CompactRange or CompactFiles
	IsRemoteCompaction bool // ran in a remote worker

	TotalInputBytes        uint64 // size of the table files read
	TotalBlobBytesRead     uint64 // size of the blobs read
	TotalOutputBytes       uint64 // size of the table files written
	TotalOutputBytesBlob   uint64 // size of the blob files written
	TotalSkippedInputBytes uint64 // size of the table files left out

	NumRecordsReplaced        uint64 // records overwritten or deleted by newer ones
	TotalInputRawKeyBytes     uint64 // size of the keys read, uncompressed
	TotalInputRawValueBytes   uint64 // size of the values read, uncompressed
	NumInputDeletionRecords   uint64 // deletions read
	NumExpiredDeletionRecords uint64 // deletions dropped, nothing being left to delete
	NumCorruptKeys            uint64 // keys that do not parse, written out as they are

	FileWriteNanos        uint64 // time in Append; these four with ReportBgIOStats only
	FileRangeSyncNanos    uint64 // time in RangeSync
	FileFsyncNanos        uint64 // time in Fsync
	FilePrepareWriteNanos uint64 // time preparing writes (fallocate and the like)

	SmallestOutputKeyPrefix string // of up to CompactionJobStatsMaxPrefixLength bytes
	LargestOutputKeyPrefix  string // likewise

	NumSingleDelFallthru uint64 // single deletions that met no put
	NumSingleDelMismatch uint64 // single deletions that met something other than a put
}

// NewCompactionJobStats gives zero counters, exact so far.
func NewCompactionJobStats() CompactionJobStats {
	return CompactionJobStats{HasAccurateNumInputRecords: true}
}

// Reset starts again.
func (s *CompactionJobStats) Reset() { *s = NewCompactionJobStats() }

// Add adds the counters of o, a part of the same compaction. Key prefixes and
// the full and manual marks stay.
func (s *CompactionJobStats) Add(o *CompactionJobStats) {
	s.ElapsedMicros += o.ElapsedMicros
	s.CPUMicros += o.CPUMicros
	s.HasAccurateNumInputRecords = s.HasAccurateNumInputRecords && o.HasAccurateNumInputRecords
	s.NumInputRecords += o.NumInputRecords
	s.NumBlobsRead += o.NumBlobsRead
	s.NumInputFiles += o.NumInputFiles
	s.NumInputFilesTriviallyMoved += o.NumInputFilesTriviallyMoved
	s.NumInputFilesAtOutputLevel += o.NumInputFilesAtOutputLevel
	s.NumFilteredInputFiles += o.NumFilteredInputFiles
	s.NumFilteredInputFilesAtOutputLevel += o.NumFilteredInputFilesAtOutputLevel
	s.NumOutputRecords += o.NumOutputRecords
	s.NumOutputFiles += o.NumOutputFiles
	s.NumOutputFilesBlob += o.NumOutputFilesBlob
	s.IsRemoteCompaction = s.IsRemoteCompaction || o.IsRemoteCompaction
	s.TotalInputBytes += o.TotalInputBytes
	s.TotalBlobBytesRead += o.TotalBlobBytesRead
	s.TotalOutputBytes += o.TotalOutputBytes
	s.TotalOutputBytesBlob += o.TotalOutputBytesBlob
	s.TotalSkippedInputBytes += o.TotalSkippedInputBytes
	s.NumRecordsReplaced += o.NumRecordsReplaced
	s.TotalInputRawKeyBytes += o.TotalInputRawKeyBytes
	s.TotalInputRawValueBytes += o.TotalInputRawValueBytes
	s.NumInputDeletionRecords += o.NumInputDeletionRecords
	s.NumExpiredDeletionRecords += o.NumExpiredDeletionRecords
	s.NumCorruptKeys += o.NumCorruptKeys
	s.FileWriteNanos += o.FileWriteNanos
	s.FileRangeSyncNanos += o.FileRangeSyncNanos
	s.FileFsyncNanos += o.FileFsyncNanos
	s.FilePrepareWriteNanos += o.FilePrepareWriteNanos
	s.NumSingleDelFallthru += o.NumSingleDelFallthru
	s.NumSingleDelMismatch += o.NumSingleDelMismatch
}
