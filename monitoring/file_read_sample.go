// Port of monitoring/file_read_sample.h and FileSampledStats of
// db/version_edit.h. Differs: the counter of Next is the iterator's own.

package monitoring

import (
	"math/rand/v2"
	"sync/atomic"

	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

const (
	// FileReadSampleRate is how many reads a sampled one stands for.
	FileReadSampleRate = 1024
	// FileReadNextSampleRate is the same for Next, which is cheaper than Seek. It
	// is a power of two.
	FileReadNextSampleRate = FileReadSampleRate * 64
)

// FileSampledStats estimates how often a table file is read.
type FileSampledStats struct {
	NumReadsSampled                 atomic.Uint64
	NumCollapsibleEntryReadsSampled atomic.Uint64 // reads that met a merge or a deletion
}

// ShouldSampleFileRead is true once in FileReadSampleRate calls, at random.
func ShouldSampleFileRead() bool {
	result := rand.Uint32()%FileReadSampleRate == 307
	if syncpoint.Enabled {
		syncpoint.ProcessArg("should_sample_file_read:override", &result)
	}
	return result
}

// ShouldSampleFileReadNext is true each FileReadNextSampleRate-th call with the
// same counter.
func ShouldSampleFileReadNext(counter *uint32) bool {
	*counter++
	result := *counter&(FileReadNextSampleRate-1) == 0
	if syncpoint.Enabled {
		syncpoint.ProcessArg("should_sample_file_read:override", &result)
	}
	return result
}

// SampleFileReadInc counts a sampled read.
func SampleFileReadInc(s *FileSampledStats) { s.NumReadsSampled.Add(FileReadSampleRate) }

// SampleCollapsibleEntryFileReadInc counts a sampled read that met a merge or a
// deletion.
func SampleCollapsibleEntryFileReadInc(s *FileSampledStats) {
	s.NumCollapsibleEntryReadsSampled.Add(FileReadSampleRate)
}
