// Port of db_stress_tool/db_stress_filters.{h,cc}.

package dbstresstool

import (
	"github.com/rocksdb-go/rocksdb/db/experimental"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// variableWidthExtractor ends a segment with each zero byte after another byte.
type variableWidthExtractor struct{}

func (variableWidthExtractor) Name() string  { return "VariableWidthExtractor" }
func (variableWidthExtractor) GetID() string { return "VariableWidthExtractor" }

func (variableWidthExtractor) Extract(key []byte, _ experimental.KeyKind, result *experimental.KeySegments) {
	for i, c := range key {
		if c == 0 && i > 0 && key[i-1] != 0 || i == len(key)-1 {
			result.SegmentEnds = append(result.SegmentEnds, uint32(i+1))
		}
	}
}

// fixedWidthExtractor ends a segment every 8 bytes.
type fixedWidthExtractor struct{}

func (fixedWidthExtractor) Name() string  { return "FixedWidthExtractor" }
func (fixedWidthExtractor) GetID() string { return "FixedWidthExtractor" }

func (fixedWidthExtractor) Extract(key []byte, _ experimental.KeyKind, result *experimental.KeySegments) {
	for end := 8; end < len(key)+8; end += 8 {
		result.SegmentEnds = append(result.SegmentEnds, uint32(min(end, len(key))))
	}
}

// newSqfcFactory gives the query filters of --sqfc_name and --sqfc_version.
// Upstream: DbStressSqfcManager.
func newSqfcFactory(name string, version uint32) (*experimental.Factory, error) {
	configs := func(e experimental.KeySegmentsExtractor, segments ...uint8) (experimental.SstQueryFilterConfigs, error) {
		c := experimental.SstQueryFilterConfigs{Extractor: e}
		for _, i := range segments {
			f, err := experimental.NewBytewiseMinMaxSQFC(experimental.SelectKeySegment(i), experimental.AllCategories)
			if err != nil {
				return c, err
			}
			c.Filters = append(c.Filters, f)
		}
		return c, nil
	}
	var data []experimental.VersionConfigs
	for _, v := range []struct {
		version   uint32
		name      string
		extractor experimental.KeySegmentsExtractor
		segments  []uint8
	}{
		{1, "foo", variableWidthExtractor{}, []uint8{0, 2}},
		{2, "foo", variableWidthExtractor{}, []uint8{1, 3}},
		{2, "bar", fixedWidthExtractor{}, []uint8{1, 2}},
	} {
		c, err := configs(v.extractor, v.segments...)
		if err != nil {
			return nil, err
		}
		if n := len(data); n == 0 || data[n-1].Version != v.version {
			data = append(data, experimental.VersionConfigs{Version: v.version})
		}
		last := &data[len(data)-1]
		last.Configs = append(last.Configs, experimental.NamedConfigs{Name: v.name, Configs: c})
	}
	m, err := experimental.NewSstQueryFilterConfigsManager(data...)
	if err != nil {
		return nil, err
	}
	return m.NewFactory(name, version)
}

// queryFilter gives what leaves out tables in a scan from lower up to upper, nil
// with --use_sqfc_for_range_queries=false.
func (s *stressTest) queryFilter(lower, upper []byte) func(*rocksdb.TableProperties) bool {
	if !s.flags.UseSqfcForRangeQueries {
		return nil
	}
	return s.sqfc.GetTableFilterForRangeQuery(lower, upper)
}
