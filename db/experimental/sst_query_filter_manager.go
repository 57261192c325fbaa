// Port of db/experimental.cc (SstQueryFilterConfigsManager).

package experimental

import (
	"bytes"
	"sync/atomic"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

const (
	propertyName  = "rocksdb.sqfc"
	schemaVersion = 1
)

// SstQueryFilterConfigs are the filters that tables get. Without an extractor they
// can be of whole keys only.
type SstQueryFilterConfigs struct {
	Filters   []*SstQueryFilterConfig
	Extractor KeySegmentsExtractor
}

// IsEmptyNotFound tells that there are none of a name and version, or that the
// version is 0.
func (c *SstQueryFilterConfigs) IsEmptyNotFound() bool { return c == nil }

// FilteringVersion counts the configurations of an application. 0 has no filters.
type FilteringVersion = uint32

// NamedConfigs is the configuration of a name.
type NamedConfigs struct {
	Name    string
	Configs SstQueryFilterConfigs
}

// VersionConfigs is what changes with a version: names that are not here keep the
// configuration they had.
type VersionConfigs struct {
	Version FilteringVersion
	Configs []NamedConfigs
}

// SstQueryFilterConfigsManager knows all versions of an application's filters. It
// does not change, and is safe for concurrent use.
type SstQueryFilterConfigsManager struct {
	min, max   FilteringVersion
	names      map[string][]versionedConfigs // in rising versions
	extractors map[string]KeySegmentsExtractor
}

type versionedConfigs struct {
	version FilteringVersion
	configs *SstQueryFilterConfigs
}

// NewSstQueryFilterConfigsManager makes one of the versions, which rise by 1 from
// any above 0.
func NewSstQueryFilterConfigsManager(data ...VersionConfigs) (*SstQueryFilterConfigsManager, error) {
	m := &SstQueryFilterConfigsManager{names: map[string][]versionedConfigs{}, extractors: map[string]KeySegmentsExtractor{}}
	for i, v := range data {
		switch {
		case v.Version == 0:
			return nil, rocksdb.InvalidArgument("filtering version 0 has no filters and can get none")
		case i == 0:
			m.min = v.Version
		case v.Version != m.max+1:
			return nil, rocksdb.InvalidArgumentf("filtering version %d does not follow on %d", v.Version, m.max)
		}
		m.max = v.Version
		for _, c := range v.Configs {
			list := m.names[c.Name]
			if n := len(list); n > 0 && list[n-1].version == v.Version {
				return nil, rocksdb.InvalidArgumentf("filtering version %d has %q twice", v.Version, c.Name)
			}
			m.names[c.Name] = append(list, versionedConfigs{v.Version, &c.Configs})
			if e := c.Configs.Extractor; e != nil {
				m.extractors[e.GetID()] = e
			}
		}
	}
	return m, nil
}

// NewFactory gives the factory of a name and version.
// Upstream: MakeSharedFactory.
func (m *SstQueryFilterConfigsManager) NewFactory(name string, version FilteringVersion) (*Factory, error) {
	f := &Factory{m: m, name: name}
	if err := f.SetFilteringVersion(version); err != nil {
		return nil, err
	}
	return f, nil
}

// Factory puts filters into the tables of a family, as one of
// ColumnFamilyOptions.TablePropertiesCollectorFactories, and asks them.
type Factory struct {
	m       *SstQueryFilterConfigsManager
	name    string
	version atomic.Uint32
}

// SetFilteringVersion changes the version that new tables are written with: 0, or
// one that the manager knows.
func (f *Factory) SetFilteringVersion(v FilteringVersion) error {
	if v > 0 && v < f.m.min || v > f.m.max {
		return rocksdb.InvalidArgumentf("filtering version %d is not among %d to %d", v, f.m.min, f.m.max)
	}
	f.version.Store(v)
	return nil
}

// GetFilteringVersion gives the version.
func (f *Factory) GetFilteringVersion() FilteringVersion { return f.version.Load() }

// GetConfigsName gives the name.
func (f *Factory) GetConfigsName() string { return f.name }

// GetConfigs gives the filters that new tables get; they must not be changed.
func (f *Factory) GetConfigs() *SstQueryFilterConfigs {
	v := f.version.Load()
	if v == 0 {
		return nil
	}
	var found *SstQueryFilterConfigs
	for _, c := range f.m.names[f.name] {
		if c.version <= v {
			found = c.configs
		}
	}
	return found
}

// Name implements rocksdb.TablePropertiesCollectorFactory.
func (f *Factory) Name() string { return "SstQueryFilterConfigsManagerImpl::MyFactory" }

// CreateTablePropertiesCollector implements rocksdb.TablePropertiesCollectorFactory.
func (f *Factory) CreateTablePropertiesCollector(rocksdb.TablePropertiesCollectorFactoryContext) rocksdb.TablePropertiesCollector {
	configs := f.GetConfigs()
	if configs.IsEmptyNotFound() {
		return nil
	}
	c := &collector{extractor: configs.Extractor}
	for _, config := range configs.Filters {
		c.builders = append(c.builders, &minMaxBuilder{SstQueryFilterConfig: config})
	}
	return c
}

// GetTableFilterForRangeQuery gives ReadOptions.TableFilter for an iterator that is
// used between lower and upper, which is not included, without timestamps: false
// for tables that have no key there. The bounds are copied.
func (f *Factory) GetTableFilterForRangeQuery(lower, upper []byte) func(*rocksdb.TableProperties) bool {
	own := KeySegmentsExtractor(nil)
	if c := f.GetConfigs(); !c.IsEmptyNotFound() {
		own = c.Extractor
	}
	q := &rangeQuery{lower: bytes.Clone(lower), upper: bytes.Clone(upper), extractors: func(id string) KeySegmentsExtractor {
		if own != nil && own.GetID() == id {
			return own
		}
		return f.m.extractors[id]
	}}
	return func(p *rocksdb.TableProperties) bool {
		filters := p.UserCollectedProperties[propertyName]
		if len(filters) < 2 || filters[0] != schemaVersion {
			return true
		}
		return q.mayMatch([]byte(filters[1:]), nil)
	}
}

// collector builds the filters of a table.
type collector struct {
	extractor KeySegmentsExtractor // may be nil
	builders  []*minMaxBuilder
	err       error

	segments, prev KeySegments
	prevKey        []byte
	began          bool
	categories     KeyCategorySet // seen so far
}

// Name implements rocksdb.TablePropertiesCollector.
func (c *collector) Name() string { return "SstQueryFilterConfigsImpl::MyCollector" }

// AddUserKey implements rocksdb.TablePropertiesCollector.
func (c *collector) AddUserKey(key, _ []byte, _ rocksdb.EntryType, _ rocksdb.SequenceNumber, _ uint64) error {
	c.segments.reset()
	if c.extractor != nil {
		if err := c.extract(key); err != nil {
			if c.err == nil {
				c.err = err
			}
			return err
		}
	}
	prev := &c.prev
	if !c.began {
		prev = nil
	}
	for _, b := range c.builders {
		b.add(key, &c.segments, c.prevKey, prev)
	}
	c.prevKey = append(c.prevKey[:0], key...)
	c.prev, c.segments = c.segments, c.prev
	c.began = true
	return nil
}

func (c *collector) extract(key []byte) error {
	c.extractor.Extract(key, FullUserKey, &c.segments)
	category := c.segments.Category
	if category > MaxUsableCategory {
		return rocksdb.Corruptionf("extractor %s gives category %d for key 0x%X", c.extractor.GetID(), category, key)
	}
	if added := c.categories.add(category); c.began && !added && c.prev.Category != category {
		return rocksdb.Corruptionf("categories of extractor %s do not lie together: key 0x%X after 0x%X", c.extractor.GetID(), key, c.prevKey)
	}
	return nil
}

// BlockAdd implements rocksdb.TablePropertiesCollector.
func (c *collector) BlockAdd(uint64, uint64, uint64) {}

// Finish implements rocksdb.TablePropertiesCollector.
func (c *collector) Finish(properties rocksdb.UserCollectedProperties) error {
	if c.err != nil {
		return c.err
	}
	var filters [][]byte
	for _, b := range c.builders {
		if f := b.finish(); f != nil {
			filters = append(filters, f)
		}
	}
	if len(filters) == 0 {
		return nil
	}
	out := []byte{schemaVersion}
	if c.extractor != nil {
		id := c.extractor.GetID()
		out = append(util.AppendVarint64(out, 1), extractorAndCategoriesFilter)
		out = append(util.AppendVarint64(out, uint64(len(id))), id...)
		out = util.AppendVarint64(out, uint64(c.categories))
	}
	out = util.AppendVarint64(out, uint64(len(filters)))
	for i, f := range filters {
		if i < len(filters)-1 {
			out = util.AppendVarint64(out, uint64(len(f)))
		}
		out = append(out, f...)
	}
	properties[propertyName] = string(out)
	return nil
}

// GetReadableProperties implements rocksdb.TablePropertiesCollector.
func (c *collector) GetReadableProperties() rocksdb.UserCollectedProperties { return nil }

// NeedCompact implements rocksdb.TablePropertiesCollector.
func (c *collector) NeedCompact() bool { return false }
