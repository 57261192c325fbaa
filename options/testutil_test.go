// No upstream twin: plug-ins for the tests of this package, which stands below
// the packages of the real ones.

package options

import (
	"fmt"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/utilities/registry"
)

// tableFactory is a table format that has options only.
type tableFactory struct {
	name string
	opts any
}

func (f *tableFactory) Name() string                 { return f.name }
func (f *tableFactory) GetPrintableOptions() string  { return f.name }
func (f *tableFactory) IsDeleteRangeSupported() bool { return f.name == rocksdb.BlockBasedTableName }

func (f *tableFactory) OptionsPtr(name string) any {
	switch f.opts.(type) {
	case *rocksdb.BlockBasedTableOptions:
		if name == rocksdb.BlockBasedTableOptionsName {
			return f.opts
		}
	case *rocksdb.PlainTableOptions:
		if name == rocksdb.PlainTableOptionsName {
			return f.opts
		}
	case *rocksdb.CuckooTableOptions:
		if name == rocksdb.CuckooTableOptionsName {
			return f.opts
		}
	}
	return nil
}

func (f *tableFactory) Clone() rocksdb.TableFactory {
	c := &tableFactory{name: f.name}
	switch o := f.opts.(type) {
	case *rocksdb.BlockBasedTableOptions:
		v := *o
		c.opts = &v
	case *rocksdb.PlainTableOptions:
		v := *o
		c.opts = &v
	case *rocksdb.CuckooTableOptions:
		v := *o
		c.opts = &v
	}
	return c
}

func (f *tableFactory) bbto() *rocksdb.BlockBasedTableOptions {
	return f.opts.(*rocksdb.BlockBasedTableOptions)
}

func newBlockBased(o rocksdb.BlockBasedTableOptions) *tableFactory {
	return &tableFactory{rocksdb.BlockBasedTableName, &o}
}

// bbtoOf gives the block-based options of a column family's table factory.
func bbtoOf(t *testing.T, tf rocksdb.TableFactory) *rocksdb.BlockBasedTableOptions {
	t.Helper()
	f, ok := tf.(*tableFactory)
	if !ok {
		t.Fatalf("table factory is %T", tf)
	}
	return f.bbto()
}

// filterPolicy is a filter policy that is its ID.
type filterPolicy struct {
	rocksdb.FilterPolicy
	id    string
	pairs []rocksdb.OptionPair
}

func (p *filterPolicy) Name() string { return p.id[:strings.IndexByte(p.id+":", ':')] }
func (p *filterPolicy) ID() string   { return p.id }
func (p *filterPolicy) OptionPairs() []rocksdb.OptionPair {
	return p.pairs
}

func (p *filterPolicy) ConfigureOption(_ *rocksdb.ConfigOptions, name, value string) error {
	return setPair(p.pairs, name, value)
}

func setPair(pairs []rocksdb.OptionPair, name, value string) error {
	for i := range pairs {
		if pairs[i].Name == name {
			pairs[i].Value = value
			return nil
		}
	}
	return rocksdb.NotFound(name)
}

// mergeOperator has a name and text options.
type mergeOperator struct {
	rocksdb.MergeOperatorBase
	name  string
	pairs []rocksdb.OptionPair
}

func (m *mergeOperator) Name() string { return m.name }
func (m *mergeOperator) FullMergeV2(*rocksdb.MergeOperationInput, *rocksdb.MergeOperationOutput) bool {
	return false
}
func (m *mergeOperator) OptionPairs() []rocksdb.OptionPair { return m.pairs }
func (m *mergeOperator) ConfigureOption(_ *rocksdb.ConfigOptions, name, value string) error {
	return setPair(m.pairs, name, value)
}

// memtableFactory is a memtable factory that is its ID.
type memtableFactory struct{ name, id string }

func (f *memtableFactory) Name() string                        { return f.name }
func (f *memtableFactory) NickName() string                    { return "" }
func (f *memtableFactory) ID() string                          { return f.id }
func (f *memtableFactory) IsInsertConcurrentlySupported() bool { return false }
func (f *memtableFactory) CanHandleDuplicatedKey() bool        { return false }

// listener is an event listener with a name.
type listener struct {
	rocksdb.EventListenerBase
	name string
}

func (l *listener) Name() string { return l.name }

// testCache has a capacity.
type testCache struct {
	rocksdb.Cache
	capacity int
}

func (c *testCache) Name() string     { return "LRUCache" }
func (c *testCache) GetCapacity() int { return c.capacity }

type comparator struct {
	rocksdb.ComparatorBase
	name string
}

func (c *comparator) Name() string            { return c.name }
func (c *comparator) Compare(a, b []byte) int { return strings.Compare(string(a), string(b)) }

// testConfig gives default ConfigOptions with a registry of the plug-ins above.
func testConfig() *rocksdb.ConfigOptions {
	r := registry.NewInstance()
	l := r.AddNewLibrary("test")
	type cfg = *rocksdb.ConfigOptions
	l.AddFactory(registry.KindTableFactory, rocksdb.BlockBasedTableName, func(cfg, string) (any, error) {
		return newBlockBased(rocksdb.DefaultBlockBasedTableOptions()), nil
	})
	l.AddFactory(registry.KindTableFactory, rocksdb.PlainTableName, func(cfg, string) (any, error) {
		o := rocksdb.DefaultPlainTableOptions()
		return &tableFactory{rocksdb.PlainTableName, &o}, nil
	})
	l.AddFactory(registry.KindTableFactory, rocksdb.CuckooTableName, func(cfg, string) (any, error) {
		o := rocksdb.DefaultCuckooTableOptions()
		return &tableFactory{rocksdb.CuckooTableName, &o}, nil
	})
	l.AddPattern(registry.KindFilterPolicy,
		registry.NewPatternEntry("bloomfilter").AnotherName("rocksdb.BloomFilter").AddNumber(":", false).AddSuffix(":true"), newFilter)
	l.AddPattern(registry.KindFilterPolicy,
		registry.NewPatternEntry("bloomfilter").AnotherName("rocksdb.BloomFilter").AddNumber(":", false).AddSuffix(":false"), newFilter)
	l.AddPattern(registry.KindFilterPolicy,
		registry.NewPatternEntry("ribbonfilter").AddNumber(":", false).AddNumber(":", true), newFilter)
	l.AddFactory(registry.KindMergeOperator, "StringAppendOperator", func(cfg, string) (any, error) {
		return &mergeOperator{name: "StringAppendOperator", pairs: []rocksdb.OptionPair{{Name: "delimiter", Value: ","}}}, nil
	})
	l.AddFactory(registry.KindMergeOperator, "UInt64AddOperator", func(cfg, string) (any, error) {
		return &mergeOperator{name: "UInt64AddOperator"}, nil
	})
	l.AddPattern(registry.KindMemTableRepFactory,
		registry.NewPatternEntry("skip_list").AnotherName("SkipListFactory").AddNumber(":", true),
		func(_ cfg, id string) (any, error) {
			f := &memtableFactory{name: "SkipListFactory", id: "SkipListFactory"}
			if _, n, ok := strings.Cut(id, ":"); ok {
				f.id += ":" + n
			}
			return f, nil
		})
	for name, class := range map[string]string{"vector": "VectorRepFactory", "prefix_hash": "HashSkipListRepFactory", "hash_linkedlist": "HashLinkListRepFactory"} {
		l.AddPattern(registry.KindMemTableRepFactory,
			registry.NewPatternEntry(name).AnotherName(class).AddNumber(":", true),
			func(cfg, string) (any, error) { return &memtableFactory{name: class, id: class}, nil })
	}
	l.AddFactory(registry.KindEventListener, "ErrorHandlerListener", func(_ cfg, id string) (any, error) {
		return &listener{name: id}, nil
	})
	cache := func(_ cfg, id string) (any, error) {
		id = strings.TrimPrefix(id, "capacity=")
		var n int
		var unit string
		if _, err := fmt.Sscanf(id+" ", "%d%s", &n, &unit); err != nil && n == 0 {
			return nil, err
		}
		switch unit {
		case "K":
			n <<= 10
		case "M":
			n <<= 20
		}
		return &testCache{capacity: n}, nil
	}
	for d := '0'; d <= '9'; d++ {
		l.AddPattern(registry.KindCache, registry.NewPatternEntry(string(d)).AddSeparator("", false), cache)
		l.AddFactory(registry.KindCache, string(d), cache)
	}
	l.AddPattern(registry.KindCache, registry.NewPatternEntry("capacity=").AddSeparator("", true), cache)
	c := rocksdb.DefaultConfigOptions()
	c.Registry = r
	return &c
}

func newFilter(_ *rocksdb.ConfigOptions, id string) (any, error) {
	p := &filterPolicy{id: id}
	if strings.HasPrefix(id, "ribbon") {
		p.pairs = []rocksdb.OptionPair{{Name: "bloom_before_level", Value: id[strings.LastIndexByte(id, ':')+1:]}}
	}
	return p, nil
}
