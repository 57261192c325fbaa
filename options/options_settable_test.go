// Port of options/options_settable_test.cc. Differs: fields are found by
// reflection instead of by unset bytes.

package options

import (
	"reflect"
	"testing"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
	"github.com/rocksdb-go/rocksdb/utilities/registry"
)

// wantAllFields checks that each field of the struct at base has a row, those
// in excluded apart, and that excluded names fields only.
func wantAllFields(t *testing.T, table *Table, base any, excluded ...string) {
	t.Helper()
	v := reflect.ValueOf(base).Elem()
	reached := map[uintptr]bool{}
	for i := range table.Rows {
		if f := table.Rows[i].Field; f != nil {
			p := reflect.ValueOf(f(base)).Pointer()
			if start := v.Addr().Pointer(); p < start || p >= start+v.Type().Size() {
				t.Errorf("%s is no field of the struct", table.Rows[i].Name)
			}
			reached[p] = true
		}
	}
	skip := map[string]bool{}
	for _, name := range excluded {
		skip[name] = true
	}
	for i := range v.NumField() {
		name := v.Type().Field(i).Name
		switch has := reached[v.Field(i).Addr().Pointer()]; {
		case !has && !skip[name]:
			t.Errorf("no row for %s", name)
		case has && skip[name]:
			t.Errorf("%s is excluded but has a row", name)
		}
		delete(skip, name)
	}
	for name := range skip {
		t.Errorf("%s is excluded but no field", name)
	}
}

// wantRoundTripOf checks that all plain options come through a string.
func wantRoundTripOf[S any](t *testing.T, table *Table, def S, set func(r *util.Random, o *S)) {
	t.Helper()
	cfg := testConfig()
	for seed := uint32(1); seed < 20; seed++ {
		want, got := def, def
		set(util.NewRandom(seed), &want)
		text, err := GetOptionString(cfg, []OptionSet{{table, &want}})
		noError(t, err)
		m, err := StringToMap(text)
		noError(t, err)
		noError(t, ConfigureFromMap(cfg, m, []OptionSet{{table, &got}}, nil))
		if !reflect.DeepEqual(want, got) {
			t.Errorf("seed %d: got %+v\nwant %+v", seed, got, want)
		}
	}
}

func TestOptionsSettableTest_BlockBasedTableOptionsAllFieldsSettable(t *testing.T) {
	o := rocksdb.DefaultBlockBasedTableOptions()
	// Upstream cannot set this one from strings either; see its table.
	wantAllFields(t, BlockBasedTable, &o, "PersistentCache", "CacheUsageOptions")
	wantAllFields(t, metadataCacheTable, &o.MetadataCacheOptions)
	wantRoundTripOf(t, BlockBasedTable, o, func(r *util.Random, o *rocksdb.BlockBasedTableOptions) {
		randomize(r, BlockBasedTable, o)
		o.IndexType = rocksdb.IndexType(r.Uniform(4))
		o.IndexBlockSearchType = rocksdb.BlockSearchType(r.Uniform(3))
		o.DataBlockIndexType = rocksdb.DataBlockIndexType(r.Uniform(2))
		o.Checksum = rocksdb.ChecksumType(r.Uniform(5))
		o.IndexShortening = rocksdb.IndexShorteningMode(r.Uniform(3))
		o.PrepopulateBlockCache = rocksdb.PrepopulateBlockCache(r.Uniform(3))
		o.MetadataCacheOptions.TopLevelIndexPinning = rocksdb.PinningTier(r.Uniform(4))
		o.MetadataCacheOptions.PartitionPinning = rocksdb.PinningTier(r.Uniform(4))
		o.MetadataCacheOptions.UnpartitionedPinning = rocksdb.PinningTier(r.Uniform(4))
		o.DataBlockHashTableUtilRatio = 0.25
		o.UniformCVThreshold = 0.5
	})
}

func TestOptionsSettableTest_TablePropertiesAllFieldsSettable(t *testing.T) {
	p := rocksdb.NewTableProperties()
	wantAllFields(t, tablePropertiesTable, &p)
	randomize(util.NewRandom(7), tablePropertiesTable, &p)
	p.DBHostID = "db_host_id\x00\xff"
	p.UserCollectedProperties = map[string]string{"user_key": "user_value", "\x01": ""}
	p.ReadableProperties = map[string]string{"readable_key": "readable_value"}
	cfg := testConfig()
	text, err := SerializeTableProperties(cfg, &p)
	noError(t, err)
	got, err := ParseTableProperties(cfg, text)
	noError(t, err)
	if !reflect.DeepEqual(got, p) {
		t.Errorf("got %+v\nwant %+v", got, p)
	}
	if ok, m := TablePropertiesAreEqual(cfg, &p, &got); !ok {
		t.Errorf("differs in %s", m)
	}
	got.NumEntries++
	if ok, m := TablePropertiesAreEqual(cfg, &p, &got); ok || m != "num_entries" {
		t.Errorf("equal %v, mismatch %q", ok, m)
	}

	// Upstream's own text.
	got, err = ParseTableProperties(cfg, "readable_properties={7265616461626C655F6B6579=7265616461626C655F76616C7565;};"+
		"compression_options=;db_host_id=64625F686F73745F6964;num_data_blocks=123;data_size=100;"+
		"user_collected_properties={757365725F6B6579=757365725F76616C7565;};num_entries=100;"+
		"key_largest_seqno=18446744073709551615;key_smallest_seqno=18;")
	noError(t, err)
	check(t, got.DBHostID, "db_host_id")
	check(t, got.NumEntries, 100)
	check(t, got.NumDataBlocks, 123)
	check(t, got.UserCollectedProperties["user_key"], "user_value")
	check(t, got.ReadableProperties["readable_key"], "readable_value")
}

// namedManager names two custom types.
type namedManager struct{ rocksdb.CompressionManager }

func (namedManager) CompatibilityName() string { return "Named" }

func (namedManager) CompressionTypeToString(t rocksdb.CompressionType) string {
	return map[rocksdb.CompressionType]string{0x8A: "CustomAlpha", 0x8B: "CustomBeta"}[t]
}
func (m namedManager) FindCompatibleCompressionManager(name string) rocksdb.CompressionManager {
	if name == "Named" {
		return m
	}
	return nil
}

// Of db/db_table_properties_test.cc: the function is here.
func TestDBTablePropertiesTest_ParseCompressionNameForDisplay(t *testing.T) {
	cfg := testConfig()
	for name, want := range map[string]string{
		"": "NoCompression", "ZSTD": "ZSTD", "Snappy": "Snappy", "kZSTD": "kZSTD", "kSnappyCompression": "kSnappyCompression",
		"zstd;07;": "ZSTD", "BuiltinV2;07;": "ZSTD", ";07;": "ZSTD", "custom_mgr;07;extra;": "ZSTD", "lz4;04;": "LZ4",
		"test;7f;": "Reserved7F", "test;8a;": "Custom8A", "test;0407;": "LZ4,ZSTD", "test;0704;": "ZSTD,LZ4", "test;0007;": "ZSTD",
		"test;00;": "NoCompression", "test;01;": "Snappy", "test;02;": "Zlib", "test;03;": "BZip2", "test;05;": "LZ4HC",
		"test;06;": "Xpress", "test;08;": "Reserved08", "test;80;": "Custom80", "test;FE;": "CustomFE", "test;FF;": "NoCompression",
		"BuiltinV2;;": "NoCompression", "test;;": "NoCompression", "test;07;extra;fields;": "ZSTD",
		"LZ4": "LZ4", "builtin_v2;07;": "ZSTD", "zstd;04;": "LZ4", "test;7F;": "Reserved7F", "bad;GG;": "Unknown",
		"only_one;": "Unknown", "bad;0;": "Unknown", "bad;0G;": "Unknown",
	} {
		if got := ParseCompressionNameForDisplay(cfg, name, nil); got != want {
			t.Errorf("%q: got %s, want %s", name, got, want)
		}
	}
	check(t, ParseCompressionNameForDisplay(cfg, "Named;8A048B;", namedManager{}), "CustomAlpha,LZ4,CustomBeta")
	check(t, ParseCompressionNameForDisplay(cfg, "other;8A;", namedManager{}), "Custom8A")
	cfg.Registry.(*registry.Registry).AddNewLibrary("named").AddFactory(registry.KindCompressionManager, "Named",
		func(*rocksdb.ConfigOptions, string) (any, error) { return namedManager{}, nil })
	check(t, ParseCompressionNameForDisplay(cfg, "Named;8A;", nil), "CustomAlpha")
}

func TestOptionsSettableTest_DBOptionsAllFieldsSettable(t *testing.T) {
	o := rocksdb.DefaultDBOptions()
	wantAllFields(t, dbOptionsTable, &o, "SstFileManager", "InfoLog", "DBPaths", "WriteBufferManager",
		"RowCache", "ChecksumHandoffFileTypes", "CompactionService", "CalculateSstWriteLifetimeHintSet")
	wantRoundTripOf(t, dbOptionsTable, o, func(r *util.Random, o *rocksdb.DBOptions) { randomize(r, dbOptionsTable, o) })
}

func TestOptionsSettableTest_ColumnFamilyOptionsAllFieldsSettable(t *testing.T) {
	o := rocksdb.DefaultColumnFamilyOptions()
	wantAllFields(t, cfOptionsTable, &o, "CFPaths", "CompactionThreadLimiter", "InplaceCallback")
	wantAllFields(t, compressionTable, &o.CompressionOpts)
	wantAllFields(t, universalTable, &o.CompactionOptionsUniversal)
	wantAllFields(t, fifoTable, &o.CompactionOptionsFIFO)
	var age rocksdb.FileTemperatureAge
	wantAllFields(t, temperatureAgeTable, &age)
	o.Comparator = util.BytewiseComparator()
	wantRoundTripOf(t, cfOptionsTable, o, func(r *util.Random, o *rocksdb.ColumnFamilyOptions) {
		*o = randomCF(r.Next())
		o.Comparator = util.BytewiseComparator()
		o.CompactionFilter, o.CompactionFilterFactory, o.MergeOperator = nil, nil, nil
		for _, c := range []*rocksdb.CompressionOptions{&o.CompressionOpts, &o.BottommostCompressionOpts, &o.BlobCompressionOpts} {
			c.Strategy = 3
		}
		// Six digits are written of a fraction.
		o.MaxBytesForLevelMultiplier, o.BlobGarbageCollectionAgeCutoff = 2.5, 0.125
		o.BlobGarbageCollectionForceThreshold, o.ExperimentalMempurgeThreshold = 0.75, 0.5
		o.MemtablePrefixBloomSizeRatio, o.ReadTriggeredCompactionThreshold = 0.25, 0.0625
		// The default memtable is made by name.
		o.MemtableFactory = &memtableFactory{"SkipListFactory", "SkipListFactory"}
		o.TableFactory = newBlockBased(rocksdb.DefaultBlockBasedTableOptions())
	})
}

// The halves of an open database's options have all fields between them.
func TestMutableAndImmutableHalvesCoverAllFields(t *testing.T) {
	fields := func(types ...reflect.Type) map[string]int {
		m := map[string]int{}
		for _, ty := range types {
			for i := range ty.NumField() {
				m[ty.Field(i).Name]++
			}
		}
		return m
	}
	for _, c := range []struct {
		whole   reflect.Type
		halves  []reflect.Type
		renamed map[string]string
	}{
		{reflect.TypeFor[rocksdb.DBOptions](), []reflect.Type{reflect.TypeFor[ImmutableDBOptions](), reflect.TypeFor[MutableDBOptions]()}, nil},
		{reflect.TypeFor[rocksdb.ColumnFamilyOptions](), []reflect.Type{reflect.TypeFor[ImmutableCFOptions](), reflect.TypeFor[MutableCFOptions]()},
			map[string]string{"Comparator": "UserComparator"}},
	} {
		have := fields(c.halves...)
		for i := range c.whole.NumField() {
			name := c.whole.Field(i).Name
			if r, ok := c.renamed[name]; ok {
				name = r
			}
			if have[name] != 1 {
				t.Errorf("%s is in %d halves", name, have[name])
			}
		}
	}
}
