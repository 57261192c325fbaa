// Port of the registration part of monitoring/statistics.cc.

package monitoring

import (
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/utilities/registry"
)

// RegisterBuiltinStatistics puts the built-in Statistics into a library, and
// returns how many there are.
func RegisterBuiltinStatistics(l *registry.Library) int {
	l.AddFactory(registry.KindStatistics, (*StatisticsImpl)(nil).Name(), func(*rocksdb.ConfigOptions, string) (any, error) {
		return CreateDBStatistics(), nil
	})
	return 1
}
