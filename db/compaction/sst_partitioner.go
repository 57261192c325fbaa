// Port of db/compaction/sst_partitioner.cc.

package compaction

import (
	"bytes"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// SstPartitionerFixedPrefix ends files where the keys' first bytes change.
type SstPartitionerFixedPrefix struct{ length int }

// Name is "SstPartitionerFixedPrefix".
func (SstPartitionerFixedPrefix) Name() string { return "SstPartitionerFixedPrefix" }

func (p SstPartitionerFixedPrefix) prefix(key []byte) []byte { return key[:min(p.length, len(key))] }

// ShouldPartition compares the prefixes of both keys.
func (p SstPartitionerFixedPrefix) ShouldPartition(r *rocksdb.PartitionerRequest) rocksdb.PartitionerResult {
	if bytes.Equal(p.prefix(r.PrevUserKey), p.prefix(r.CurrentUserKey)) {
		return rocksdb.NotRequired
	}
	return rocksdb.Required
}

// CanDoTrivialMove is true for a file of one prefix.
func (p SstPartitionerFixedPrefix) CanDoTrivialMove(smallestUserKey, largestUserKey []byte) bool {
	return bytes.Equal(p.prefix(smallestUserKey), p.prefix(largestUserKey))
}

// SstPartitionerFixedPrefixFactory makes partitioners for one prefix length.
type SstPartitionerFixedPrefixFactory struct{ length int }

// NewSstPartitionerFixedPrefixFactory is for prefixes of length bytes.
func NewSstPartitionerFixedPrefixFactory(length int) *SstPartitionerFixedPrefixFactory {
	return &SstPartitionerFixedPrefixFactory{length: length}
}

// Name is "SstPartitionerFixedPrefixFactory".
func (*SstPartitionerFixedPrefixFactory) Name() string { return "SstPartitionerFixedPrefixFactory" }

// CreatePartitioner makes a partitioner.
func (f *SstPartitionerFixedPrefixFactory) CreatePartitioner(*rocksdb.SstPartitionerContext) rocksdb.SstPartitioner {
	return SstPartitionerFixedPrefix{f.length}
}
