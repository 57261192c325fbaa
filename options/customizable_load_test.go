// Port of the LoadCustomizableTest cases of options/customizable_test.cc, the
// OptionsTest and ConfigOptionsTest cases of options/options_test.cc and
// StatisticsTest.NoNameStats of monitoring/statistics_test.cc that need plug-ins
// of higher packages.

package options_test

import (
	"slices"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/db/compaction"
	contract "github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/options"
	"github.com/rocksdb-go/rocksdb/utilities/leveldb_options"
	"github.com/rocksdb-go/rocksdb/utilities/registry"
)

func noError(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantError(t *testing.T, err error) {
	t.Helper()
	if err == nil {
		t.Fatal("no error")
	}
}

func check[T comparable](t *testing.T, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%v, not %v", got, want)
	}
}

// loadConfig ignores nothing and has a registry of its own.
func loadConfig() *contract.ConfigOptions {
	rocksdb.RegisterBuiltins()
	cfg := contract.DefaultConfigOptions()
	cfg.IgnoreUnsupportedOptions, cfg.InvokePrepareOptions = false, false
	cfg.Registry = registry.NewInstance()
	return &cfg
}

// testBuiltins makes all that is registered of a kind, where name has to be
// among and mock not; it gives the names that failed.
func testBuiltins[T contract.Customizable](t *testing.T, cfg *contract.ConfigOptions, kind, mock string, names ...string) (failed []string) {
	t.Helper()
	_, err := options.CreateFromString[T](cfg, kind, mock)
	wantError(t, err)
	registered := registry.Default().GetFactoryNames(kind)
	for _, name := range append(slices.Clone(registered), names...) {
		o, err := options.CreateFromString[T](cfg, kind, name)
		if err != nil {
			failed = append(failed, name)
			continue
		}
		if !contract.IsInstanceOf(o, name) {
			t.Errorf("%s is %s", name, o.Name())
		}
	}
	return failed
}

// loadMock registers a plug-in and makes it.
func loadMock[T contract.Customizable](t *testing.T, cfg *contract.ConfigOptions, kind string, mock T) {
	t.Helper()
	cfg.Registry.(*registry.Registry).AddNewLibrary("test").AddPattern(kind, registry.NewPatternEntry(mock.Name()).AddSuffix("://test"),
		func(*contract.ConfigOptions, string) (any, error) { return mock, nil })
	for _, id := range []string{mock.Name(), mock.Name() + "://test"} {
		o, err := options.CreateFromString[T](cfg, kind, id)
		noError(t, err)
		check(t, o.Name(), mock.Name())
	}
}

// Plug-ins known to these tests only.
type (
	mockFS             struct{ contract.FileSystemWrapper }
	mockSecondaryCache struct{ contract.SecondaryCache }
	mockPartitioner    struct{ contract.SstPartitionerFactory }
	mockMerge          struct{ contract.MergeOperator }
	mockProvider       struct{ contract.EncryptionProvider }
	mockCipher         struct{ contract.BlockCipher }
	mockClock          struct{ contract.SystemClockWrapper }
	mockAllocator      struct{ contract.MemoryAllocator }
)

func (mockFS) Name() string             { return "DummyFileSystem" }
func (mockSecondaryCache) Name() string { return "Test" }
func (mockPartitioner) Name() string    { return "Mock" }
func (mockMerge) Name() string          { return "Changling" }
func (mockProvider) Name() string       { return "Mock" }
func (mockCipher) Name() string         { return "Mock" }
func (*mockClock) Name() string         { return "MockSystemClock" }
func (mockAllocator) Name() string      { return "MockMemoryAllocator" }

func TestLoadCustomizableTest_LoadFileSystemTest(t *testing.T) {
	cfg := loadConfig()
	failed := testBuiltins[contract.FileSystem](t, cfg, registry.KindFileSystem, "DummyFileSystem", contract.DefaultFileSystemName)
	check(t, len(failed), 0)
	loadMock[contract.FileSystem](t, cfg, registry.KindFileSystem, mockFS{})
	check(t, contract.IsInstanceOf(mockFS{}, contract.DefaultFileSystemName), false)
}

func TestLoadCustomizableTest_LoadSecondaryCacheTest(t *testing.T) {
	cfg := loadConfig()
	check(t, len(testBuiltins[contract.SecondaryCache](t, cfg, registry.KindSecondaryCache, "Test")), 0)
	loadMock[contract.SecondaryCache](t, cfg, registry.KindSecondaryCache, mockSecondaryCache{})
}

func TestLoadCustomizableTest_LoadSstPartitionerFactoryTest(t *testing.T) {
	cfg := loadConfig()
	failed := testBuiltins[contract.SstPartitionerFactory](t, cfg, registry.KindSstPartitionerFactory, "Mock", "SstPartitionerFixedPrefixFactory")
	check(t, len(failed), 0)
	loadMock[contract.SstPartitionerFactory](t, cfg, registry.KindSstPartitionerFactory, mockPartitioner{})
}

func TestLoadCustomizableTest_LoadMergeOperatorTest(t *testing.T) {
	cfg := loadConfig()
	failed := testBuiltins[contract.MergeOperator](t, cfg, registry.KindMergeOperator, "Changling",
		"put", "put_v1", "PutOperator", "uint64add", "UInt64AddOperator", "max", "MaxOperator",
		"StringAppendOperator", "stringappend", "StringAppendTESTOperator", "stringappendtest",
		"MergeSortOperator", "sortlist", "BytesXOR", "bytesxor")
	check(t, len(failed), 0)
	loadMock[contract.MergeOperator](t, cfg, registry.KindMergeOperator, mockMerge{})
}

func TestLoadCustomizableTest_LoadEncryptionProviderTest(t *testing.T) {
	cfg := loadConfig()
	_, err := options.CreateFromString[contract.EncryptionProvider](cfg, registry.KindEncryptionProvider, "Mock")
	wantError(t, err)
	valid := func(id string) error {
		p, err := options.CreateFromString[contract.EncryptionProvider](cfg, registry.KindEncryptionProvider, id)
		noError(t, err)
		check(t, p.Name(), "CTR")
		return p.(contract.OptionsValidator).ValidateOptions(nil, nil)
	}
	wantError(t, valid("CTR"))
	noError(t, valid("CTR://test"))
	noError(t, valid("1://test"))
	loadMock[contract.EncryptionProvider](t, cfg, registry.KindEncryptionProvider, mockProvider{})
}

func TestLoadCustomizableTest_LoadEncryptionCipherTest(t *testing.T) {
	cfg := loadConfig()
	check(t, len(testBuiltins[contract.BlockCipher](t, cfg, registry.KindBlockCipher, "Mock", "ROT13")), 0)
	loadMock[contract.BlockCipher](t, cfg, registry.KindBlockCipher, mockCipher{})
}

func TestLoadCustomizableTest_LoadSystemClockTest(t *testing.T) {
	cfg := loadConfig()
	failed := testBuiltins[contract.SystemClock](t, cfg, registry.KindSystemClock, "MockSystemClock", contract.DefaultSystemClockName)
	check(t, len(failed), 0)
	loadMock[contract.SystemClock](t, cfg, registry.KindSystemClock, &mockClock{})
	check(t, contract.IsInstanceOf(&mockClock{}, contract.DefaultSystemClockName), false)
}

func TestLoadCustomizableTest_LoadMemoryAllocatorTest(t *testing.T) {
	cfg := loadConfig()
	failed := testBuiltins[contract.MemoryAllocator](t, cfg, registry.KindMemoryAllocator, "MockMemoryAllocator", "DefaultMemoryAllocator")
	slices.Sort(failed)
	if want := []string{"JemallocNodumpAllocator", "MemkindKmemAllocator"}; !slices.Equal(failed, want) {
		t.Errorf("not made: %q, want %q", failed, want)
	}
	loadMock[contract.MemoryAllocator](t, cfg, registry.KindMemoryAllocator, mockAllocator{})
}

func TestOptionsTest_SstPartitionerTest(t *testing.T) {
	cfg := loadConfig()
	const name = "SstPartitionerFixedPrefixFactory"
	def := contract.DefaultColumnFamilyOptions()
	f, err := options.CreateFromString[contract.SstPartitionerFactory](cfg, registry.KindSstPartitionerFactory, name)
	noError(t, err)
	check(t, f.Name(), name)
	_, err = options.GetColumnFamilyOptionsFromString(cfg, &def, "sst_partitioner_factory={id="+name+"; unknown=10;}")
	wantError(t, err)
	cf, err := options.GetColumnFamilyOptionsFromString(cfg, &def, "sst_partitioner_factory={id="+name+"; length=10;}")
	noError(t, err)
	check(t, cf.SstPartitionerFactory.Name(), name)
	text, err := options.GetStringFromColumnFamilyOptions(cfg, &cf)
	noError(t, err)
	again, err := options.GetColumnFamilyOptionsFromString(cfg, &cf, text)
	noError(t, err)
	check(t, again.SstPartitionerFactory.Name(), name)
	noError(t, options.VerifyCFOptions(cfg, &cf, &again, nil))
	same, mismatch := options.ObjectsAreEquivalent(cfg, cf.SstPartitionerFactory, again.SstPartitionerFactory)
	check(t, same, true)
	check(t, mismatch, "")
	other, _ := options.ObjectsAreEquivalent(cfg, cf.SstPartitionerFactory, compaction.NewSstPartitionerFixedPrefixFactory(9))
	check(t, other, false)
}

func TestConfigOptionsTest_MergeOperatorFromString(t *testing.T) {
	cfg := loadConfig()
	delimiter := func(m contract.MergeOperator) string {
		t.Helper()
		s, err := options.GetObjectOption(cfg, m, "delimiter")
		noError(t, err)
		return s
	}
	for _, c := range []struct{ value, instanceOf, name, delimiter string }{
		{"put", "put", "PutOperator", ""},
		{"put_v1", "PutOperator", "PutOperator", ""},
		{"uint64add", "uint64add", "UInt64AddOperator", ""},
		{"max", "max", "MaxOperator", ""},
		{"bytesxor", "bytesxor", "BytesXOR", ""},
		{"sortlist", "sortlist", "MergeSortOperator", ""},
		{"stringappend", "stringappend", "StringAppendOperator", ","},
		{"stringappendtest", "stringappendtest", "StringAppendTESTOperator", ","},
		{"id=stringappend; delimiter=||", "stringappend", "StringAppendOperator", "||"},
		{"id=stringappendtest; delimiter=&&", "stringappendtest", "StringAppendTESTOperator", "&&"},
	} {
		m, err := options.CreateFromString[contract.MergeOperator](cfg, registry.KindMergeOperator, c.value)
		noError(t, err)
		check(t, contract.IsInstanceOf(m, c.instanceOf), true)
		check(t, m.Name(), c.name)
		if c.delimiter == "" {
			continue
		}
		check(t, delimiter(m), c.delimiter)
		text, err := options.ObjectToString(cfg, m)
		noError(t, err)
		again, err := options.CreateFromString[contract.MergeOperator](cfg, registry.KindMergeOperator, text)
		noError(t, err)
		same, _ := options.ObjectsAreEquivalent(cfg, m, again)
		check(t, same, true)
		check(t, delimiter(again), c.delimiter)
	}
}

// noNameStatistics has options but no name.
type noNameStatistics struct {
	contract.Statistics
	inner contract.Statistics
}

func (*noNameStatistics) Name() string { return "" }
func (s *noNameStatistics) OptionsPtr(name string) any {
	if name == contract.StatisticsOptionsName {
		return &s.inner
	}
	return nil
}

func TestStatisticsTest_NoNameStats(t *testing.T) {
	cfg := loadConfig()
	text := func(s contract.Statistics) string {
		t.Helper()
		out, err := options.ObjectToString(cfg, s)
		noError(t, err)
		return out
	}
	stats := &noNameStatistics{}
	check(t, text(stats), "")
	noError(t, options.ConfigureObjectFromString(cfg, stats, "inner="))
	check(t, text(stats), "")
	check(t, text(stats.inner), "{id=BasicStatistics;inner=nullptr;}")
}

func TestOptionsTest_ConvertOptionsTest(t *testing.T) {
	l := leveldboptions.DefaultOptions()
	o := leveldboptions.ConvertOptions(&l)
	check(t, o.CreateIfMissing, l.CreateIfMissing)
	check(t, o.ErrorIfExists, l.ErrorIfExists)
	check(t, o.ParanoidChecks, l.ParanoidChecks)
	check(t, o.Env, l.Env)
	check(t, o.InfoLog, l.InfoLog)
	check(t, o.WriteBufferSize, l.WriteBufferSize)
	check(t, o.MaxOpenFiles, l.MaxOpenFiles)
	check(t, o.Compression, l.Compression)
	b := o.TableFactory.OptionsPtr(contract.BlockBasedTableOptionsName).(*contract.BlockBasedTableOptions)
	check(t, b.BlockCache.GetCapacity(), 32<<20)
	check(t, int(b.BlockSize), l.BlockSize)
	check(t, b.BlockRestartInterval, l.BlockRestartInterval)
	check(t, b.FilterPolicy, l.FilterPolicy)
}
