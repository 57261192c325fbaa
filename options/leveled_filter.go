// Port of the option table of table/block_based/filter_policy.cc.

package options

import (
	"strconv"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

// stringConfigurable gives obj's own options as strings, if it has any.
func stringConfigurable(obj any) (rocksdb.StringConfigurable, bool) {
	if sc, ok := obj.(rocksdb.StringConfigurable); ok {
		return sc, true
	}
	if p, ok := obj.(leveledFilter); ok {
		return leveledFilterOptions{p}, true
	}
	return nil, false
}

// leveledFilter is the Ribbon filter policy: the level below which it makes
// Bloom filters is its one option, and changes while the database is open.
type leveledFilter interface {
	BloomBeforeLevel() int
	SetBloomBeforeLevel(level int)
}

const bloomBeforeLevel = "bloom_before_level"

type leveledFilterOptions struct{ leveledFilter }

func (o leveledFilterOptions) ConfigureOption(_ *rocksdb.ConfigOptions, name, value string) error {
	if name != bloomBeforeLevel {
		return rocksdb.NotFound("Could not find option", name)
	}
	level, err := util.ParseInt(value)
	if err != nil {
		return err
	}
	o.SetBloomBeforeLevel(level)
	return nil
}

func (o leveledFilterOptions) OptionPairs() []rocksdb.OptionPair {
	return []rocksdb.OptionPair{{Name: bloomBeforeLevel, Value: strconv.Itoa(o.BloomBeforeLevel())}}
}
