// Port of utilities/compaction_filters.cc. Differs: Register is called
// explicitly.

package compactionfilters

import (
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/utilities/registry"
)

// Register registers the filters in l and gives their number.
func Register(l *registry.Library) int {
	l.AddFactory(registry.KindCompactionFilter, RemoveEmptyValueCompactionFilterName, func(*rocksdb.ConfigOptions, string) (any, error) {
		return RemoveEmptyValueCompactionFilter{}, nil
	})
	return 1
}
