// Port of include/rocksdb/universal_compaction.h.

package rocksdb

import "math"

// CompactionStopStyle says when universal compaction stops adding sorted runs.
type CompactionStopStyle uint8

// The stop styles.
const (
	// CompactionStopStyleSimilarSize picks runs of similar size.
	CompactionStopStyleSimilarSize CompactionStopStyle = iota
	// CompactionStopStyleTotalSize compares the next run with the sum of those
	// picked.
	CompactionStopStyleTotalSize
)

// CompactionOptionsUniversal tunes universal compaction.
type CompactionOptionsUniversal struct {
	// SizeRatio is by how many percent a candidate may be smaller than the
	// next run and still include it. Default 1.
	SizeRatio uint32
	// MinMergeWidth is the least number of runs in one compaction. Default 2.
	MinMergeWidth uint32
	// MaxMergeWidth is the greatest number of runs in one compaction. Default
	// no limit (MaxUint32).
	MaxMergeWidth uint32
	// MaxSizeAmplificationPercent is the accepted extra space over the size of
	// the last run. Default 200.
	MaxSizeAmplificationPercent uint32
	// CompressionSizePercent, when not negative, leaves the newest output
	// uncompressed until that share of the data is compressed. Default -1.
	CompressionSizePercent int
	// MaxReadAmp limits the number of sorted runs: -1 (default) is
	// Level0FileNumCompactionTrigger, 0 is chosen by the engine.
	MaxReadAmp int
	// StopStyle. Default CompactionStopStyleTotalSize.
	StopStyle CompactionStopStyle
	// AllowTrivialMove moves non-overlapping files without rewriting them.
	// Default false.
	AllowTrivialMove bool
	// Incremental splits the reduction of space amplification into small
	// compactions. Experimental, default false.
	Incremental bool
	// ReduceFileLocking keeps waiting bottom-priority compactions from locking
	// more files than they need: they lock their last sorted run, and pick files
	// anew once they run. Default true.
	ReduceFileLocking bool
}

// DefaultCompactionOptionsUniversal gives the defaults.
func DefaultCompactionOptionsUniversal() CompactionOptionsUniversal {
	return CompactionOptionsUniversal{
		SizeRatio: 1, MinMergeWidth: 2, MaxMergeWidth: math.MaxUint32,
		MaxSizeAmplificationPercent: 200, CompressionSizePercent: -1, MaxReadAmp: -1,
		StopStyle: CompactionStopStyleTotalSize, ReduceFileLocking: true,
	}
}
