// Port of include/rocksdb/sst_partitioner.h. Differs: the fixed-prefix
// partitioner lives with the compactions.

package rocksdb

// PartitionerResult says whether a file must end.
type PartitionerResult uint8

// The results.
const (
	NotRequired PartitionerResult = iota
	Required
)

// PartitionerRequest is what a partitioner decides from; its slices are valid
// during the call.
type PartitionerRequest struct {
	PrevUserKey           []byte
	CurrentUserKey        []byte
	CurrentOutputFileSize uint64
}

// SstPartitionerContext describes the compaction; its keys are valid while the
// partitioner lives.
type SstPartitionerContext struct {
	IsFullCompaction   bool
	IsManualCompaction bool
	OutputLevel        int
	SmallestUserKey    []byte
	LargestUserKey     []byte
}

// SstPartitioner decides where compactions cut their output files. One
// goroutine uses it.
type SstPartitioner interface {
	Name() string
	// ShouldPartition tells whether the file must end before CurrentUserKey.
	ShouldPartition(request *PartitionerRequest) PartitionerResult
	// CanDoTrivialMove tells whether a file of that range may be moved as it is.
	CanDoTrivialMove(smallestUserKey, largestUserKey []byte) bool
}

// SstPartitionerFactory makes a partitioner for each compaction; nil for none.
type SstPartitionerFactory interface {
	Name() string
	CreatePartitioner(ctx *SstPartitionerContext) SstPartitioner
}
