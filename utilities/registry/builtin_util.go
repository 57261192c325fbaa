// No upstream twin: upstream's util/comparator.cc and util/slice_transform.cc
// register themselves; package util is below this one.

package registry

import (
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

// registerUtil registers the comparators, slice transforms and file checksums of
// package util.
func registerUtil(l *Library) {
	for _, c := range []rocksdb.Comparator{
		util.BytewiseComparator(), util.ReverseBytewiseComparator(),
		util.BytewiseComparatorWithU64Ts(), util.ReverseBytewiseComparatorWithU64Ts(),
	} {
		l.AddFactory(KindComparator, c.Name(), func(*rocksdb.ConfigOptions, string) (any, error) {
			return c, nil
		})
	}
	l.AddFactory(KindFileChecksumGenFactory, util.FileChecksumGenCrc32cFactoryName,
		func(*rocksdb.ConfigOptions, string) (any, error) {
			return util.GetFileChecksumGenCrc32cFactory(), nil
		})
	transform := func(_ *rocksdb.ConfigOptions, id string) (any, error) {
		if t, ok := util.BuiltinSliceTransform(id); ok {
			return t, nil
		}
		return nil, rocksdb.InvalidArgument("No such slice transform", id)
	}
	for _, e := range []*PatternEntry{
		NewPatternEntry("rocksdb.Noop"),
		NewPatternEntry("fixed").SetOptional(false).AddNumber(":", true),
		NewPatternEntry("rocksdb.FixedPrefix").SetOptional(false).AddNumber(".", true),
		NewPatternEntry("capped").SetOptional(false).AddNumber(":", true),
		NewPatternEntry("rocksdb.CappedPrefix").SetOptional(false).AddNumber(".", true),
	} {
		l.AddPattern(KindSliceTransform, e, transform)
	}
}
