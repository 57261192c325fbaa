// Port of db/compaction/compaction_iteration_stats.h.

package iterstats

// CompactionIterationStats are one compaction iterator's counters.
type CompactionIterationStats struct {
	// Records dropped by the filter (those skipped over by a
	// remove-and-skip-until apart), hidden by newer ones, no longer needed,
	// and under range tombstones.
	NumRecordDropUser       int64
	NumRecordDropHidden     int64
	NumRecordDropObsolete   int64
	NumRecordDropRangeDel   int64
	NumRangeDelDropObsolete int64
	// Deletions dropped above the bottom level because no file below has the
	// key.
	NumOptimizedDelDropObsolete int64
	TotalFilterTime             uint64 // nanoseconds

	// Input, without what the merge helper consumed.
	NumInputRecords         uint64
	NumInputDeletionRecords uint64
	NumInputCorruptRecords  uint64
	TotalInputRawKeyBytes   uint64
	TotalInputRawValueBytes uint64

	// Single deletions in situations they are not made for.
	NumSingleDelFallthru uint64
	NumSingleDelMismatch uint64

	NumBlobsRead            uint64
	TotalBlobBytesRead      uint64
	NumBlobsRelocated       uint64
	TotalBlobBytesRelocated uint64

	// Entries with a preferred sequence number, and those given it.
	NumInputTimedPutRecords       uint64
	NumTimedPutSwapPreferredSeqno uint64
}
