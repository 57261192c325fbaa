// Port of the parts of util/bloom_test.cc and of
// db_stress_tool/db_stress_test_base.cc that set the Ribbon filter's level through options.

package builtin

import (
	"testing"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/options"
	blockbased "github.com/rocksdb-go/rocksdb/table/block_based"
)

// The Ribbon filter's level changes while the database is open.
func TestSetOptionsOfRibbonFilter(t *testing.T) {
	RegisterDefault() // SetOptions makes plug-ins from the registry of the process
	cf := rocksdb.DefaultColumnFamilyOptions()
	noError(t, func() (err error) {
		cf, err = options.GetColumnFamilyOptionsFromString(testConfig(), &cf,
			"table_factory={id=BlockBasedTable;filter_policy={id=ribbonfilter:10:0;bloom_before_level=2;}}")
		return err
	}())
	level := func(m options.MutableCFOptions) int {
		o := m.TableFactory.(rocksdb.Configurable).OptionsPtr("BlockTableOptions").(*rocksdb.BlockBasedTableOptions)
		return o.FilterPolicy.(*blockbased.RibbonFilterPolicy).BloomBeforeLevel()
	}
	m := options.NewMutableCFOptions(&cf)
	check(t, level(m), 2)
	for _, opts := range []map[string]string{
		{"table_factory.filter_policy.bloom_before_level": "5"},
		{"block_based_table_factory": "{filter_policy={bloom_before_level=5;}}"},
	} {
		changed, err := options.GetMutableOptionsFromStrings(m, opts, nil)
		noError(t, err)
		check(t, level(changed), 5)
		changed, err = options.GetMutableOptionsFromStrings(m, map[string]string{"table_factory.filter_policy.bloom_before_level": "3"}, nil)
		noError(t, err)
		check(t, level(changed), 3)
	}
}
