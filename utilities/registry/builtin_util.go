// No upstream twin: upstream's util/comparator.cc and util/slice_transform.cc
// register themselves; package util is below this one.

package registry

import (
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

// registerUtil registers the comparators of package util.
func registerUtil(l *Library) {
	for _, c := range []rocksdb.Comparator{
		util.BytewiseComparator(), util.ReverseBytewiseComparator(),
		util.BytewiseComparatorWithU64Ts(), util.ReverseBytewiseComparatorWithU64Ts(),
	} {
		l.AddFactory(KindComparator, c.Name(), func(*rocksdb.ConfigOptions, string) (any, error) {
			return c, nil
		})
	}
}
