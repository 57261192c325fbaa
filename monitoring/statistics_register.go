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

// CreateStatisticsFromString gives the Statistics of that name: the built-in one
// for "" as well, nil for "nullptr", others from config's registry
// (the default one where config is nil).
func CreateStatisticsFromString(config *rocksdb.ConfigOptions, id string) (rocksdb.Statistics, error) {
	switch id {
	case "", (*StatisticsImpl)(nil).Name():
		return CreateDBStatistics(), nil
	case "nullptr":
		return nil, nil
	}
	if config == nil {
		config = &rocksdb.ConfigOptions{}
	}
	return registry.NewObject[rocksdb.Statistics](config, registry.KindStatistics, id)
}
