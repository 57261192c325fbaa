// Port of db/compaction/sst_partitioner.cc.

package compaction

import (
	"bytes"
	"math"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/options"
	"github.com/rocksdb-go/rocksdb/utilities/registry"
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
type SstPartitionerFixedPrefixFactory struct{ length uint64 }

var fixedPrefixTable = options.NewTable[SstPartitionerFixedPrefixFactory]("Length",
	options.F("length", func(f *SstPartitionerFixedPrefixFactory) any { return &f.length }, 0))

// RegisterSstPartitionerFactories registers the factory in l and gives the
// number of factories.
func RegisterSstPartitionerFactories(l *registry.Library) int {
	l.AddFactory(registry.KindSstPartitionerFactory, (*SstPartitionerFixedPrefixFactory)(nil).Name(),
		func(*rocksdb.ConfigOptions, string) (any, error) { return NewSstPartitionerFixedPrefixFactory(0), nil })
	return 1
}

// NewSstPartitionerFixedPrefixFactory is for prefixes of length bytes.
func NewSstPartitionerFixedPrefixFactory(length int) *SstPartitionerFixedPrefixFactory {
	return &SstPartitionerFixedPrefixFactory{length: uint64(max(length, 0))}
}

// Name is "SstPartitionerFixedPrefixFactory".
func (*SstPartitionerFixedPrefixFactory) Name() string { return "SstPartitionerFixedPrefixFactory" }

// OptionSets has the length.
func (f *SstPartitionerFixedPrefixFactory) OptionSets() []options.OptionSet {
	return []options.OptionSet{{Table: fixedPrefixTable, Ptr: f}}
}

// CreatePartitioner makes a partitioner.
func (f *SstPartitionerFixedPrefixFactory) CreatePartitioner(*rocksdb.SstPartitionerContext) rocksdb.SstPartitioner {
	return SstPartitionerFixedPrefix{int(min(f.length, math.MaxInt))}
}
