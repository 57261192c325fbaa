// Port of options/options_test.cc: whole option sets there and back. Differs:
// plug-ins are those of testutil_test.go.

package options

import (
	"maps"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
	"github.com/rocksdb-go/rocksdb/utilities/registry"
)

func TestOptionsTest_DBOptionsSerialization(t *testing.T) {
	cfg := plainConfig()
	base, def := randomDB(301), rocksdb.DefaultDBOptions()
	text, err := GetStringFromDBOptions(cfg, &base)
	noError(t, err)
	n, err := GetDBOptionsFromString(cfg, &def, text)
	noError(t, err)
	noError(t, VerifyDBOptions(cfg, &base, &n, nil))
	wantError(t, VerifyDBOptions(cfg, &base, &def, nil))
}

func TestOptionsTest_OptionsComposeDecompose(t *testing.T) {
	cfg := plainConfig()
	o := rocksdb.Options{DBOptions: randomDB(301), ColumnFamilyOptions: randomCF(301)}
	db, cf := randomDB(301), randomCF(301)
	noError(t, VerifyDBOptions(cfg, &db, &o.DBOptions, nil))
	noError(t, VerifyCFOptions(cfg, &cf, &o.ColumnFamilyOptions, nil))
}

func TestOptionsTest_DBOptionsComposeImmutable(t *testing.T) {
	base := randomDB(301)
	m, i := NewMutableDBOptions(&base), NewImmutableDBOptions(&base)
	n := BuildDBOptions(&i, &m)
	noError(t, VerifyDBOptions(testConfig(), &base, &n, nil))
}

func TestOptionsTest_GetMutableDBOptions(t *testing.T) {
	cfg := testConfig()
	base := randomDB(228)
	m, i := NewMutableDBOptions(&base), NewImmutableDBOptions(&base)
	text, err := GetStringFromMutableDBOptions(cfg, &m)
	noError(t, err)
	opts, err := StringToMap(text)
	noError(t, err)
	def := rocksdb.DefaultDBOptions()
	got, err := GetMutableDBOptionsFromStrings(NewMutableDBOptions(&def), opts)
	noError(t, err)
	check(t, MutableDBOptionsAreEqual(&got, &m), true)
	n := BuildDBOptions(&i, &got)
	noError(t, VerifyDBOptions(cfg, &base, &n, nil))
	_, err = GetMutableDBOptionsFromStrings(m, map[string]string{"create_if_missing": "true"})
	wantError(t, err)
}

func TestOptionsTest_CFOptionsComposeImmutable(t *testing.T) {
	base, n := randomCF(301), rocksdb.DefaultColumnFamilyOptions()
	m, i := NewMutableCFOptions(&base), NewImmutableCFOptions(&base)
	i.UpdateColumnFamilyOptions(&n)
	m.UpdateColumnFamilyOptions(&n)
	noError(t, VerifyCFOptions(testConfig(), &base, &n, nil))
}

func TestOptionsTest_GetMutableCFOptions(t *testing.T) {
	cfg := testConfig()
	base, n := randomCF(228), rocksdb.DefaultColumnFamilyOptions()
	m, i := NewMutableCFOptions(&base), NewImmutableCFOptions(&base)
	text, err := GetStringFromMutableCFOptions(cfg, &m)
	noError(t, err)
	opts, err := StringToMap(text)
	noError(t, err)
	got, err := GetMutableOptionsFromStrings(m, opts, nil)
	noError(t, err)
	i.UpdateColumnFamilyOptions(&n)
	got.UpdateColumnFamilyOptions(&n)
	noError(t, VerifyCFOptions(cfg, &base, &n, nil))
	_, err = GetMutableOptionsFromStrings(m, map[string]string{"num_levels": "3"}, nil)
	wantError(t, err)
}

func TestOptionsTest_ColumnFamilyOptionsSerialization(t *testing.T) {
	cfg := plainConfig()
	base, def := randomCF(302), rocksdb.DefaultColumnFamilyOptions()
	base.Comparator = util.BytewiseComparatorWithU64Ts()
	text, err := GetStringFromColumnFamilyOptions(cfg, &base)
	noError(t, err)
	n, err := GetColumnFamilyOptionsFromString(cfg, &def, text)
	noError(t, err)
	noError(t, VerifyCFOptions(cfg, &base, &n, nil))
	check(t, n.Comparator, base.Comparator)
}

func TestOptionsTest_MutableTableOptions(t *testing.T) {
	cfg := testConfig()
	tf := newBlockBased(rocksdb.DefaultBlockBasedTableOptions())
	noError(t, ConfigureObjectOption(cfg, tf, "no_block_cache", "true"))
	noError(t, ConfigureObjectOption(cfg, tf, "block_size", "1024"))
	check(t, tf.bbto().NoBlockCache, true)
	check(t, tf.bbto().BlockSize, 1024)
	cfg.MutableOptionsOnly = true
	wantError(t, ConfigureObjectOption(cfg, tf, "no_block_cache", "false"))
	wantError(t, ConfigureObjectOption(cfg, tf, "block_size", "2048"))
	check(t, tf.bbto().NoBlockCache, true)
	check(t, tf.bbto().BlockSize, 1024)

	cf := rocksdb.DefaultColumnFamilyOptions()
	cf.TableFactory = tf
	n, err := GetColumnFamilyOptionsFromString(cfg, &cf, "block_based_table_factory.block_size=8192")
	noError(t, err)
	if n.TableFactory == rocksdb.TableFactory(tf) {
		t.Error("the table factory in use was changed")
	}
	check(t, bbtoOf(t, n.TableFactory).NoBlockCache, true)
	check(t, bbtoOf(t, n.TableFactory).BlockSize, 8192)
	check(t, tf.bbto().BlockSize, 1024)
}

func TestOptionsTest_MutableCFOptions(t *testing.T) {
	cfg := testConfig()
	cf := rocksdb.DefaultColumnFamilyOptions()
	set := func(name, value string) {
		t.Helper()
		n, err := GetColumnFamilyOptionsFromMap(cfg, &cf, map[string]string{name: value})
		noError(t, err)
		cf = n
	}
	fail := func(name, value string) {
		t.Helper()
		before := cf.TableFactory
		_, err := GetColumnFamilyOptionsFromMap(cfg, &cf, map[string]string{name: value})
		wantError(t, err)
		check(t, cf.TableFactory, before)
	}
	n, err := GetColumnFamilyOptionsFromString(cfg, &cf, "paranoid_file_checks=true; verify_output_flags=2049; "+
		"block_based_table_factory.block_align=false; block_based_table_factory.super_block_alignment_size=65536; "+
		"block_based_table_factory.super_block_alignment_space_overhead_ratio=4096; "+
		"block_based_table_factory.block_size=8192;")
	noError(t, err)
	cf = n
	check(t, cf.ParanoidFileChecks, true)
	check(t, cf.VerifyOutputFlags, rocksdb.VerifyBlockChecksum|rocksdb.EnableForRemoteCompaction)
	b := bbtoOf(t, cf.TableFactory)
	check(t, b.BlockSize, 8192)
	check(t, b.BlockAlign, false)
	check(t, b.SuperBlockAlignmentSize, 65536)
	check(t, b.SuperBlockAlignmentSpaceOverheadRatio, 4096)
	set("paranoid_file_checks", "false")
	check(t, cf.ParanoidFileChecks, false)
	set("verify_output_flags", "2052")
	check(t, cf.VerifyOutputFlags, rocksdb.VerifyFileChecksum|rocksdb.EnableForRemoteCompaction)
	set("block_based_table_factory.block_size", "16384")
	check(t, bbtoOf(t, cf.TableFactory).BlockSize, 16384)

	cfg.MutableOptionsOnly = true
	fail("force_consistency_checks", "true")
	for _, name := range []string{"table_factory", "table_factory.id"} {
		set(name, "PlainTable")
		check(t, cf.TableFactory.Name(), rocksdb.PlainTableName)
		set(name, "BlockBasedTable")
		check(t, cf.TableFactory.Name(), rocksdb.BlockBasedTableName)
	}
	set("table_factory", "{id=PlainTable;bloom_bits_per_key=42}")
	check(t, cf.TableFactory.Name(), rocksdb.PlainTableName)
	cf.TableFactory = nil
	set("table_factory", "{id=BlockBasedTable;block_size=12345}")
	check(t, bbtoOf(t, cf.TableFactory).BlockSize, 12345)
	fail("plain_table_factory", "{bloom_bits_per_key=42}")
	fail("plain_table_factory.bloom_bits_per_key", "42")
	set("block_based_table_factory.block_size", "8192")
	check(t, bbtoOf(t, cf.TableFactory).BlockSize, 8192)
	set("block_based_table_factory", "{block_size=32768}")
	check(t, bbtoOf(t, cf.TableFactory).BlockSize, 32768)
	cf.TableFactory = nil
	set("table_factory", "{id=PlainTable;bloom_bits_per_key=42}")
	check(t, cf.TableFactory.OptionsPtr(rocksdb.PlainTableOptionsName).(*rocksdb.PlainTableOptions).BloomBitsPerKey, 42)
	fail("block_based_table_factory.block_size", "8192")
	fail("block_based_table_factory", "{block_size=32768}")
}

func TestOptionsTest_StringToMapTest(t *testing.T) {
	for _, c := range []struct {
		text string
		want map[string]string
	}{
		{"k1=v1;k2=v2;k3=v3", map[string]string{"k1": "v1", "k2": "v2", "k3": "v3"}},
		{"k1==v1;k2=v2=;", map[string]string{"k1": "=v1", "k2": "v2="}},
		{"k1=v1;k1=v2;k3=v3", map[string]string{"k1": "v2", "k3": "v3"}},
		{"k1=v1;k2=;k3=v3;k4=", map[string]string{"k1": "v1", "k2": "", "k3": "v3", "k4": ""}},
		{"k1=v1;k2=;k3=v3;k4=   ", map[string]string{"k1": "v1", "k2": "", "k3": "v3", "k4": ""}},
		{"k1=v1;k2=;k3=", map[string]string{"k1": "v1", "k2": "", "k3": ""}},
		{"k1=v1;k2=;k3=;", map[string]string{"k1": "v1", "k2": "", "k3": ""}},
		{"k1=v1;k2={nk1=nv1;nk2=nv2};k3=v3", map[string]string{"k1": "v1", "k2": "{nk1=nv1;nk2=nv2}", "k3": "v3"}},
		{"k1=v1;k2={nk1=nv1;nk2={nnk1=nnk2}};k3={nk1={nnk1={nnnk1=nnnv1;nnnk2;nnnv2}}};k4=v4",
			map[string]string{"k1": "v1", "k2": "{nk1=nv1;nk2={nnk1=nnk2}}", "k3": "{nk1={nnk1={nnnk1=nnnv1;nnnk2;nnnv2}}}", "k4": "v4"}},
		{"k1=v1;k2={dfad=};k3={=};k4=v4", map[string]string{"k1": "v1", "k2": "{dfad=}", "k3": "{=}", "k4": "v4"}},
		{"k1=v1;k2={};", map[string]string{"k1": "v1", "k2": "{}"}},
		{"k1=v1;k2={{{{}}}{}{}};", map[string]string{"k1": "v1", "k2": "{{{{}}}{}{}}"}},
		{"  k1 =  v1 ; k2= {nk1=nv1; nk2={nnk1=nnk2}}  ; k3={  {   } }; k4= v4  ",
			map[string]string{"k1": "v1", "k2": "{nk1=nv1; nk2={nnk1=nnk2}}", "k3": "{  {   } }", "k4": "v4"}},
		{"k1=v1;k2=};k3=v3", map[string]string{"k1": "v1", "k2": "}", "k3": "v3"}},
	} {
		got, err := StringToMap(c.text)
		noError(t, err)
		if !maps.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v", c.text, got, c.want)
		}
	}
	for _, bad := range []string{
		"k1=v1;k2=v2;=", "=v1;k2=v2", "k1=v1;k2v2;", "k1=v1;k2=v2;fadfa", "k1=v1;k2=v2;;",
		"k1=v1;k2={;k3=v3", "k1=v1;k2={{};k3=v3", "k1=v1;k2={}};k3=v3", "k1=v1;k2={{}{}}};k3=v3",
		"k1=v1;k2={{}}{};k3=v3", "k1=v1;k2={{}}cfda;k3=v3", "k1=v1;k2={{}}  cfda;k3=v3",
		"k1=v1;k2={{}}  cfda", "k1=v1;k2={{}}{}", "k1=v1;k2={{dfdl}adfa}{}",
	} {
		if _, err := StringToMap(bad); err == nil {
			t.Errorf("no error from %s", bad)
		}
	}
}

func TestOptionsTest_EmptyBracedVectorAndBracedScalarTest(t *testing.T) {
	cfg := testConfig()
	cf, db := rocksdb.DefaultColumnFamilyOptions(), rocksdb.DefaultDBOptions()
	n, err := GetColumnFamilyOptionsFromString(cfg, &cf, "compression_per_level={};")
	noError(t, err)
	check(t, len(n.CompressionPerLevel), 0)
	d, err := GetDBOptionsFromString(cfg, &db, "max_open_files={42};create_if_missing={true};")
	noError(t, err)
	check(t, d.MaxOpenFiles, 42)
	check(t, d.CreateIfMissing, true)
}

func TestOptionsTest_MapToStringTest(t *testing.T) {
	check(t, MapToString(map[string]string{"a": "1", "b": "hello"}), "a=1;b=hello;")
	check(t, MapToString(map[string]string{"k": "{a=b;c=d}"}), "k={a=b;c=d};")
}

func wantRoundTrip(t *testing.T, m map[string]string) {
	t.Helper()
	again, err := StringToMap(MapToString(m))
	noError(t, err)
	if !maps.Equal(again, m) {
		t.Fatalf("got %v, want %v", again, m)
	}
}

func TestOptionsTest_StringToMapMapToStringRoundTripTest(t *testing.T) {
	m, err := StringToMap("filter_policy={id=ribbonfilter:10:-1;bloom_before_level=-1;};block_size=4096;cache_index_and_filter_blocks=true")
	noError(t, err)
	check(t, m["filter_policy"], "{id=ribbonfilter:10:-1;bloom_before_level=-1;}")
	check(t, m["block_size"], "4096")
	check(t, m["cache_index_and_filter_blocks"], "true")
	again, err := StringToMap("filter_policy=" + m["filter_policy"] + ";other_opt=42")
	noError(t, err)
	check(t, again["filter_policy"], m["filter_policy"])
	check(t, again["other_opt"], "42")
	wantRoundTrip(t, m)
}

func TestOptionsTest_FullOptionsStringToMapRoundTripTest(t *testing.T) {
	cfg := plainConfig()
	cf, db := randomCF(607), randomDB(607)
	cf.Comparator = util.BytewiseComparatorWithU64Ts()
	defCF, defDB := rocksdb.DefaultColumnFamilyOptions(), rocksdb.DefaultDBOptions()
	cfText, err := GetStringFromColumnFamilyOptions(cfg, &cf)
	noError(t, err)
	dbText, err := GetStringFromDBOptions(cfg, &db)
	noError(t, err)
	for _, text := range []string{cfText, dbText} {
		m, err := StringToMap(text)
		noError(t, err)
		for k, v := range m {
			wantRoundTrip(t, map[string]string{k: v})
		}
		wantRoundTrip(t, m)
	}
	cfMap, _ := StringToMap(cfText)
	cfBack, err := GetColumnFamilyOptionsFromString(cfg, &defCF, MapToString(cfMap))
	noError(t, err)
	noError(t, VerifyCFOptions(cfg, &cf, &cfBack, nil))
	dbMap, _ := StringToMap(dbText)
	dbBack, err := GetDBOptionsFromString(cfg, &defDB, MapToString(dbMap))
	noError(t, err)
	noError(t, VerifyDBOptions(cfg, &db, &dbBack, nil))
}

func TestOptionsTest_StringToMapRandomTest(t *testing.T) {
	try := func(text string) {
		m, err := StringToMap(text)
		if err == nil {
			wantRoundTrip(t, m)
		} else {
			wantInvalid(t, err)
		}
	}
	for _, base := range []string{
		"a={aa={};tt={xxx={}}};c=defff", "a={aa={};tt={xxx={}}};c=defff;d={{}yxx{}3{xx}}",
		"abc={{}{}{}{{{}}}{{}{}{}{}{}{}{}",
	} {
		for seed := uint32(301); seed < 401; seed++ {
			r := util.NewRandom(seed)
			for range 10 {
				b := []byte(base)
				b[r.Uniform(len(b))] = ' '
				try(string(b))
			}
		}
	}
	const chars = "{} =;c"
	for seed := uint32(301); seed < 1301; seed++ {
		r := util.NewRandom(seed)
		var b strings.Builder
		for n := r.Uniform(30); n > 0; n-- {
			b.WriteByte(chars[r.Uniform(len(chars))])
		}
		try(b.String())
		try("name=" + b.String())
	}
}

func TestOptionsTest_GetStringFromCompressionType(t *testing.T) {
	for c, want := range map[rocksdb.CompressionType]string{
		rocksdb.NoCompression: "kNoCompression", rocksdb.SnappyCompression: "kSnappyCompression",
		rocksdb.DisableCompressionOption: "kDisableCompressionOption",
		rocksdb.LZ4Compression:           "kLZ4Compression", rocksdb.ZlibCompression: "kZlibCompression",
	} {
		got, err := GetStringFromCompressionType(c)
		noError(t, err)
		check(t, got, want)
	}
	_, err := GetStringFromCompressionType(0x7F)
	wantError(t, err)
}

// onlyMutable checks that with MutableOptionsOnly exactly the mutable options
// are written and compared.
func onlyMutable(t *testing.T, cfg *rocksdb.ConfigOptions, table *Table, full, mutable any) {
	all := GetOptionNames(cfg, []OptionSet{{table, full}})
	exact := *cfg
	cfg.MutableOptionsOnly = true
	names := GetOptionNames(cfg, []OptionSet{{table, full}})
	if len(all) <= len(names) || len(names) == 0 {
		t.Fatalf("%d options, %d mutable", len(all), len(names))
	}
	if ok, mismatch := tablesEqual(cfg, table, full, mutable, rowEqualByMap(nil)); !ok {
		t.Errorf("mutable options differ: %s", mismatch)
	}
	for _, name := range names {
		a, err := GetOption(cfg, []OptionSet{{table, full}}, name)
		noError(t, err)
		b, err := GetOption(cfg, []OptionSet{{table, mutable}}, name)
		noError(t, err)
		check(t, a, b)
	}
	if ok, _ := tablesEqual(&exact, table, full, mutable, rowEqualByMap(nil)); ok {
		t.Error("no immutable option differs")
	}
}

func TestOptionsTest_OnlyMutableDBOptions(t *testing.T) {
	cfg := testConfig()
	db := randomDB(302)
	cfg.MutableOptionsOnly = true
	text, err := GetStringFromDBOptions(cfg, &db)
	noError(t, err)
	def := rocksdb.DefaultDBOptions()
	m, err := GetDBOptionsFromString(cfg, &def, text)
	noError(t, err)
	cfg.MutableOptionsOnly = false
	_, err = GetDBOptionsFromString(cfg, &def, text)
	noError(t, err)
	onlyMutable(t, cfg, dbOptionsTable, &db, &m)
}

func TestOptionsTest_OnlyMutableCFOptions(t *testing.T) {
	cfg := testConfig()
	cf := randomCF(302)
	cf.Comparator = util.ReverseBytewiseComparator()
	cfg.MutableOptionsOnly = true
	text, err := GetStringFromColumnFamilyOptions(cfg, &cf)
	noError(t, err)
	def := rocksdb.DefaultColumnFamilyOptions()
	m, err := GetColumnFamilyOptionsFromString(cfg, &def, text)
	noError(t, err)
	cfg.MutableOptionsOnly = false
	_, err = GetColumnFamilyOptionsFromString(cfg, &def, text)
	noError(t, err)
	onlyMutable(t, cfg, cfOptionsTable, &cf, &m)
}

func TestOptionsTest_FileChecksumGenFactoryTest(t *testing.T) {
	cfg := testConfig()
	cfg.IgnoreUnsupportedOptions = false
	def := rocksdb.DefaultDBOptions()
	text, err := GetStringFromDBOptions(cfg, &def)
	noError(t, err)
	_, err = GetDBOptionsFromString(cfg, &def, text)
	noError(t, err)
	want := util.GetFileChecksumGenCrc32cFactory()
	f, err := CreateFromString[rocksdb.FileChecksumGenFactory](cfg, registry.KindFileChecksumGenFactory, want.Name())
	noError(t, err)
	check(t, f.Name(), want.Name())
	_, err = GetDBOptionsFromString(cfg, &def, "file_checksum_gen_factory=unknown")
	wantError(t, err)
	db, err := GetDBOptionsFromString(cfg, &def, "file_checksum_gen_factory="+want.Name())
	noError(t, err)
	check(t, db.FileChecksumGenFactory.Name(), want.Name())
	text, err = GetStringFromDBOptions(cfg, &db)
	noError(t, err)
	n, err := GetDBOptionsFromString(cfg, &def, text)
	noError(t, err)
	noError(t, VerifyDBOptions(cfg, &db, &n, nil))
	if ok, m := ObjectsAreEquivalent(cfg, want, n.FileChecksumGenFactory); !ok {
		t.Errorf("differs in %s", m)
	}
}

type collectorFactory struct{ id string }

func (c *collectorFactory) Name() string { return "TestCollector" }
func (c *collectorFactory) ID() string   { return "TestCollector:" + c.id }
func (c *collectorFactory) CreateTablePropertiesCollector(rocksdb.TablePropertiesCollectorFactoryContext) rocksdb.TablePropertiesCollector {
	return nil
}

func TestOptionsTest_OptionTablePropertiesTest(t *testing.T) {
	cfg := testConfig()
	o := rocksdb.DefaultColumnFamilyOptions()
	o.TablePropertiesCollectorFactories = []rocksdb.TablePropertiesCollectorFactory{&collectorFactory{"1"}, &collectorFactory{"2"}}
	text, err := GetStringFromColumnFamilyOptions(cfg, &o)
	noError(t, err)
	n, err := GetColumnFamilyOptionsFromString(cfg, &o, text)
	noError(t, err)
	check(t, len(n.TablePropertiesCollectorFactories), 0)
	noError(t, VerifyCFOptions(cfg, &o, &n, nil))

	cfg.Registry.(*registry.Registry).AddNewLibrary("collector").AddPattern(registry.KindTablePropertiesCollectorFactory,
		registry.NewPatternEntry("TestCollector").SetOptional(false).AddSeparator(":", true),
		func(_ *rocksdb.ConfigOptions, id string) (any, error) {
			return &collectorFactory{strings.TrimPrefix(id, "TestCollector:")}, nil
		})
	n, err = GetColumnFamilyOptionsFromString(cfg, &o, text)
	noError(t, err)
	check(t, len(n.TablePropertiesCollectorFactories), 2)
	noError(t, VerifyCFOptions(cfg, &o, &n, nil))
}

// configListener is a listener with an option.
type configListener struct {
	listener
	s string
}

func (l *configListener) OptionPairs() []rocksdb.OptionPair {
	return []rocksdb.OptionPair{{Name: "s", Value: l.s}}
}
func (l *configListener) ConfigureOption(_ *rocksdb.ConfigOptions, name, value string) error {
	if name != "s" {
		return rocksdb.NotFound(name)
	}
	l.s = value
	return nil
}

func TestOptionsTest_OptionsListenerTest(t *testing.T) {
	plain := func(id string) rocksdb.EventListener { return &listener{name: "Test" + id} }
	config := func(id string) rocksdb.EventListener {
		return &configListener{listener{name: "TestConfig" + id}, id}
	}
	cfg := testConfig()
	l := cfg.Registry.(*registry.Registry).AddNewLibrary("listener")
	l.AddFactory(registry.KindEventListener, "Test1", func(*rocksdb.ConfigOptions, string) (any, error) { return plain("1"), nil })
	l.AddFactory(registry.KindEventListener, "TestConfig1", func(*rocksdb.ConfigOptions, string) (any, error) { return config("1"), nil })
	o := rocksdb.DefaultDBOptions()
	o.Listeners = []rocksdb.EventListener{plain("1"), plain("2"), plain(""), config("1"), config("2"), config("")}
	text, err := GetStringFromDBOptions(cfg, &o)
	noError(t, err)
	n, err := GetDBOptionsFromString(cfg, &o, text)
	noError(t, err)
	// Only two of them can be made.
	check(t, len(n.Listeners), 2)
	check(t, n.Listeners[1].(*configListener).s, "1")
	_, err = GetStringFromDBOptions(cfg, &n)
	noError(t, err)
	noError(t, VerifyDBOptions(cfg, &o, &n, nil))
}

func TestOptionsTest_SliceTransformCreateFromString(t *testing.T) {
	cfg := testConfig()
	cfg.IgnoreUnsupportedOptions = false
	for id, want := range map[string]string{
		"fixed:31": "rocksdb.FixedPrefix.31", "rocksdb.FixedPrefix.42": "rocksdb.FixedPrefix.42",
		"capped:16": "rocksdb.CappedPrefix.16", "rocksdb.CappedPrefix.11": "rocksdb.CappedPrefix.11",
		"rocksdb.Noop": "rocksdb.Noop",
	} {
		tr, err := CreateFromString[rocksdb.SliceTransform](cfg, registry.KindSliceTransform, id)
		noError(t, err)
		check(t, tr.AsString(), want)
		check(t, util.SliceTransformIsInstanceOf(tr, want), true)
	}
	for _, bad := range []string{"fixed:21:invalid", "capped:21:invalid", "fixed", "capped", "fixed:", "capped:",
		"rocksdb.FixedPrefix:42", "rocksdb.CappedPrefix:42", "rocksdb.FixedPrefix", "rocksdb.CappedPrefix",
		"rocksdb.FixedPrefix.", "rocksdb.CappedPrefix.", "invalid"} {
		if _, err := CreateFromString[rocksdb.SliceTransform](cfg, registry.KindSliceTransform, bad); err == nil {
			t.Errorf("no error from %s", bad)
		}
	}
}
