// Port of db/db_bloom_filter_test.cc (filters for range queries).

package db_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/db/experimental"
	contract "github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// segmentExtractor divides keys after each '_'; keys that begin before or after the
// letters are of other categories.
type segmentExtractor struct{ first, last byte }

func (e segmentExtractor) Name() string { return "MySegmentExtractor" }
func (e segmentExtractor) GetID() string {
	return "MySegmentExtractor+" + string([]byte{e.first, e.last, '_'})
}

func (e segmentExtractor) Extract(key []byte, _ experimental.KeyKind, result *experimental.KeySegments) {
	switch {
	case len(key) == 0 || key[0] < e.first:
		result.Category = experimental.ReservedLowCategory
	case key[0] > e.last:
		result.Category = experimental.ReservedHighCategory
	}
	for i, c := range key {
		if c == '_' || i == len(key)-1 {
			result.SegmentEnds = append(result.SegmentEnds, uint32(i+1))
		}
	}
}

// sqfcTest is a database whose tables have query filters.
type sqfcTest struct {
	*dbTest
	stats contract.Statistics
}

func newSqfcTest(t *testing.T, f *experimental.Factory, c contract.Comparator) *sqfcTest {
	x := &sqfcTest{newDBTest(t), rocksdb.NewStatistics()}
	o := x.currentOptions()
	o.Statistics, o.Comparator = x.stats, c
	o.TablePropertiesCollectorFactories = append(o.TablePropertiesCollectorFactories, f)
	x.destroyAndReopen(o)
	return x
}

// wantRange wants the keys of a range, and that so many tables were looked into.
func (x *sqfcTest) wantRange(f *experimental.Factory, lower, upper, want string, tables uint64) {
	x.Helper()
	x.stats.GetAndResetTickerCount(contract.NonLastLevelSeekData)
	ro := contract.DefaultReadOptions()
	ro.IterateLowerBound, ro.IterateUpperBound = []byte(lower), []byte(upper)
	ro.TableFilter = f.GetTableFilterForRangeQuery([]byte(lower), []byte(upper))
	it := x.db.NewIterator(&ro)
	var keys []string
	for it.Seek([]byte(lower)); it.Valid(); it.Next() {
		keys = append(keys, string(it.Key()))
	}
	x.must(it.Status())
	x.must(it.Close())
	if got := strings.Join(keys, " "); got != want {
		x.Errorf("%s to %s: %q, want %q", lower, upper, got, want)
	}
	if n := x.stats.GetTickerCount(contract.NonLastLevelSeekData); n != tables {
		x.Errorf("%s to %s: %d tables, want %d", lower, upper, n, tables)
	}
}

// mustMake gives what a constructor makes.
func mustMake[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func (x *sqfcTest) putKeys(keys ...string) {
	x.Helper()
	for _, k := range keys {
		x.mustPut(0, k, "val")
	}
	x.flush(0)
}

func TestDBBloomFilterTest_SstQueryFilter(t *testing.T) {
	second := mustMake(experimental.NewBytewiseMinMaxSQFC(experimental.SelectKeySegment(1), experimental.NewKeyCategorySet(experimental.DefaultCategory)))
	third := mustMake(experimental.NewBytewiseMinMaxSQFC(experimental.SelectKeySegment(2), experimental.AllCategories))
	configs := func(e experimental.KeySegmentsExtractor, filters ...*experimental.SstQueryFilterConfig) experimental.SstQueryFilterConfigs {
		return experimental.SstQueryFilterConfigs{Filters: filters, Extractor: e}
	}
	m := mustMake(experimental.NewSstQueryFilterConfigsManager(
		experimental.VersionConfigs{Version: 42, Configs: []experimental.NamedConfigs{{Name: "foo", Configs: configs(segmentExtractor{'a', 'c'}, second, third)}}},
		experimental.VersionConfigs{Version: 43, Configs: []experimental.NamedConfigs{{Name: "foo", Configs: configs(segmentExtractor{'a', 'z'}, second, third)},
			{Name: "bar", Configs: configs(segmentExtractor{'0', '9'}, third)}}}))
	found := map[string]bool{"foo 42": true, "foo 43": true, "bar 43": true}
	for _, name := range []string{"blah", "foo", "bar"} {
		for _, v := range []experimental.FilteringVersion{0, 42, 43} {
			f := mustMake(m.NewFactory(name, v))
			if got := !f.GetConfigs().IsEmptyNotFound(); got != found[fmt.Sprint(name, " ", v)] || f.GetConfigsName() != name {
				t.Errorf("%s %d: found is %v", name, v, got)
			}
		}
	}
	for _, v := range []experimental.FilteringVersion{1, 41, 44, 500} {
		if _, err := m.NewFactory("foo", v); !errors.Is(err, contract.ErrInvalidArgument) {
			t.Errorf("version %d: %v", v, err)
		}
	}
	f := mustMake(m.NewFactory("foo", 42))
	x := newSqfcTest(t, f, rocksdb.BytewiseComparator())
	x.putKeys("   ", "   _345_678", "aaa", "abc_123", "abc_13", "abc_156_987", "bcd_1722", "xyz_145", "xyz_167", "xyz_178", "zzz", "~~~", "~~~_456_789")
	x.moveFilesToLevel(1, 0)
	for v, ok := range map[experimental.FilteringVersion]bool{41: false, 44: false, 43: true} {
		if err := f.SetFilteringVersion(v); (err == nil) != ok {
			t.Errorf("version %d: %v", v, err)
		}
	}
	if f.GetFilteringVersion() != 43 {
		t.Errorf("version %d", f.GetFilteringVersion())
	}
	x.putKeys("   ", "   _345_680", "aaa", "abc_234", "abc_245_567", "abc_25", "xyz_180", "xyz_191", "xyz_260", "zzz", "~~~", "~~~_456_790")
	for _, r := range []struct {
		lower, upper, want string
		tables             uint64
	}{
		// The second segment, of which both tables have a part, then one, then none.
		{"abc_150", "abc_249", "abc_156_987 abc_234 abc_245_567", 2},
		{"abc_100", "abc_179", "abc_123 abc_13 abc_156_987", 1},
		{"abc_1500_x_y", "abc_16QQ", "abc_156_987", 1},
		{"abc_200", "abc_300", "abc_234 abc_245_567 abc_25", 1},
		{"abc_200", "abc_249", "abc_234 abc_245_567", 1},
		{"abc_300", "abc_400", "", 0},
		{"abc_170", "abc_190", "", 2}, // first segments are not with second ones
		{"baa_170", "baa_190", "", 2}, // there is no filter of the first segment
		{"abc_500", "abd_501", "", 2}, // the first segment is not one
		// The third segment, of all categories.
		{" z__700", " z__750", "", 2},
		{" z__100", " z__300", "", 0},
		{"abc_156_9", "abc_156_99", "abc_156_987", 1},
		{"abc_245_56", "abc_245_57", "abc_245_567", 1},
		{"abc_245_900", "abc_245_999", "", 0},
	} {
		x.wantRange(f, r.lower, r.upper, r.want, r.tables)
	}
	// Whatever the factory's version and name, what is there is read.
	x.must(f.SetFilteringVersion(0))
	for _, other := range []*experimental.Factory{f, mustMake(m.NewFactory("bar", 43)), mustMake(m.NewFactory("blah", 43))} {
		x.wantRange(other, "abc_300", "abc_400", "", 0)
	}
}

func TestDBBloomFilterTest_FixedWidthSegments(t *testing.T) {
	for _, c := range []struct {
		widths []uint64
		id     string
		sizes  map[string][]int // of the segments of keys
	}{
		{nil, "", map[string][]int{"": nil, "blah": nil}},
		{[]uint64{0}, "0b", map[string][]int{"": {0}, "blah": {0}}},
		{[]uint64{1}, "1b", map[string][]int{"": {0}, "blah": {1}}},
		{[]uint64{4}, "4b", map[string][]int{"": {0}, "bla": {3}, "blah": {4}, "blah1234": {4}}},
		{[]uint64{4, 0}, "4b0b", map[string][]int{"": {0, 0}, "bla": {3, 0}, "blah": {4, 0}, "blah1": {4, 0}, "blah1234": {4, 0}}},
		{[]uint64{4, 0, 4}, "4b0b4b", map[string][]int{"": {0, 0, 0}, "blah": {4, 0, 0}, "blah1": {4, 0, 1}, "blah12": {4, 0, 2}, "blah123": {4, 0, 3},
			"blah1234": {4, 0, 4}, "blah12345": {4, 0, 4}}},
		{[]uint64{1, 3, 0, 4}, "1b3b0b4b", map[string][]int{"": {0, 0, 0, 0}, "bla": {1, 2, 0, 0}, "blah": {1, 3, 0, 0}, "blah123": {1, 3, 0, 3},
			"blah1234": {1, 3, 0, 4}, "blah12345": {1, 3, 0, 4}}},
	} {
		e := mustMake(experimental.NewCappedKeySegmentsExtractor(c.widths...))
		if e.GetID() != "CappedKeySegmentsExtractor"+c.id {
			t.Errorf("widths %v: id %s", c.widths, e.GetID())
		}
		for key, want := range c.sizes {
			var s experimental.KeySegments
			e.Extract([]byte(key), experimental.FullUserKey, &s)
			var sizes []int
			last := uint32(0)
			for _, end := range s.SegmentEnds {
				sizes = append(sizes, int(end-last))
				last = end
			}
			if !slices.Equal(sizes, want) {
				t.Errorf("widths %v, key %q: segments of %v, want %v", c.widths, key, sizes, want)
			}
		}
	}
	configs := experimental.SstQueryFilterConfigs{Extractor: mustMake(experimental.NewCappedKeySegmentsExtractor(1, 3, 0, 4))}
	for _, segment := range []uint8{1, 3} {
		configs.Filters = append(configs.Filters, mustMake(experimental.NewReverseBytewiseMinMaxSQFC(experimental.SelectKeySegment(segment), experimental.AllCategories)))
	}
	m := mustMake(experimental.NewSstQueryFilterConfigsManager(
		experimental.VersionConfigs{Version: 42, Configs: []experimental.NamedConfigs{{Name: "foo", Configs: configs}}}))
	f := mustMake(m.NewFactory("foo", 42))
	x := newSqfcTest(t, f, rocksdb.ReverseBytewiseComparator())
	x.putKeys("abcd1234", "abcd1245", "abcd99", "aqua1200", "aqua1230", "zen", "azur1220", "blah", "blah2")
	for _, r := range []struct {
		lower, upper, want string
		tables             uint64
	}{
		{"aczz0000", "acdc0000", "", 1},
		{"aqzz0000", "aqdc0000", "aqua1230 aqua1200", 1}, // the fourth segment says nothing
		{"zabb9999", "zaaa0000", "", 0},                  // no second segment from aaa to abb
		{"aqua1200ZZZ", "aqua1000ZZZ", "aqua1200", 1},
		{"aqua121", "aqua1", "aqua1200", 1},
		{"aqua1100ZZZ", "aqua1000ZZZ", "", 0}, // no fourth segment from 1000 to 1100
		{"aqua11", "aqua1", "", 0},
		{"blah21", "blag", "blah2 blah", 1},
		{"blah0", "blag", "blah", 1},
		{"blah1", "blah0", "", 0},
	} {
		x.wantRange(f, r.lower, r.upper, r.want, r.tables)
	}
}
