// Port of utilities/memory/memory_util.cc and
// include/rocksdb/utilities/memory_util.h.

package memory

import "github.com/rocksdb-go/rocksdb/include/rocksdb"

// UsageType is a kind of memory.
type UsageType int

// The kinds.
const (
	// MemTableTotal is that of all memtables, also of those only readers hold.
	MemTableTotal UsageType = iota
	// MemTableUnFlushed is that of memtables that are still to be flushed.
	MemTableUnFlushed
	TableReadersTotal
	CacheTotal
	NumUsageTypes
)

// DB is what is asked of a database.
type DB interface {
	GetAggregatedIntProperty(name string) (uint64, bool)
}

// GetApproximateMemoryUsageByType adds up, in bytes, what databases and caches use. A
// cache that several databases share is to be given once; nil ones are left out.
func GetApproximateMemoryUsageByType(dbs []DB, caches []rocksdb.Cache) (usage [NumUsageTypes]uint64) {
	for _, db := range dbs {
		for kind, property := range map[UsageType]string{
			MemTableTotal: rocksdb.PropertySizeAllMemTables, MemTableUnFlushed: rocksdb.PropertyCurSizeAllMemTables,
			TableReadersTotal: rocksdb.PropertyEstimateTableReadersMem,
		} {
			if n, ok := db.GetAggregatedIntProperty(property); ok {
				usage[kind] += n
			}
		}
	}
	for _, c := range caches {
		if c != nil {
			usage[CacheTotal] += uint64(c.GetUsage())
		}
	}
	return usage
}
