// Port of options/customizable_test.cc: the case of table factories; and what
// OPTIONS files and SetOptions do with plain and cuckoo tables.

package builtin

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rocksdb-go/rocksdb/env"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/options"
	"github.com/rocksdb-go/rocksdb/table/mocktable"
	"github.com/rocksdb-go/rocksdb/utilities/registry"
)

func TestLoadCustomizableTest_LoadTableFactoryTest(t *testing.T) {
	cfg := testConfig()
	base := rocksdb.DefaultColumnFamilyOptions()
	load := func(name string) (rocksdb.TableFactory, error) {
		o, err := options.GetColumnFamilyOptionsFromString(cfg, &base, "table_factory="+name)
		return o.TableFactory, err
	}
	for _, name := range []string{rocksdb.BlockBasedTableName, rocksdb.PlainTableName, rocksdb.CuckooTableName} {
		f, err := load(name)
		noError(t, err)
		check(t, f.Name(), name)
		check(t, f.IsDeleteRangeSupported(), name == rocksdb.BlockBasedTableName)
	}
	if _, err := load("MockTable"); err == nil {
		t.Error("a factory that nobody registered")
	}
	r := registry.NewInstance()
	Register(r.AddNewLibrary("builtin"))
	r.AddNewLibrary("test").AddFactory(registry.KindTableFactory, "MockTable", func(config, string) (any, error) {
		return mocktable.NewMockTableFactory(), nil
	})
	cfg.Registry = r
	f, err := load("MockTable")
	noError(t, err)
	check(t, f.Name(), "MockTable")
}

// Each option of a format comes back from its string and from an OPTIONS file.
func TestTableFormatsRoundTrip(t *testing.T) {
	for id, want := range map[string]any{
		"{id=PlainTable;user_key_len=66;bloom_bits_per_key=20;hash_table_ratio=0.5;index_sparseness=8;huge_page_tlb_size=4;" +
			"encoding_type=kPrefix;full_scan_mode=true;store_index_in_file=true}": &rocksdb.PlainTableOptions{UserKeyLen: 66, BloomBitsPerKey: 20,
			HashTableRatio: 0.5, IndexSparseness: 8, HugePageTLBSize: 4, EncodingType: rocksdb.EncodingPrefix, FullScanMode: true, StoreIndexInFile: true},
		"{id=CuckooTable;hash_table_ratio=0.75;max_search_depth=7;cuckoo_block_size=9;identity_as_first_hash=true;use_module_hash=false}": &rocksdb.CuckooTableOptions{
			HashTableRatio: 0.75, MaxSearchDepth: 7, CuckooBlockSize: 9, IdentityAsFirstHash: true},
	} {
		cfg := testConfig()
		cf := rocksdb.DefaultColumnFamilyOptions()
		cf, err := options.GetColumnFamilyOptionsFromString(cfg, &cf, "table_factory="+id)
		noError(t, err)
		same := func(f rocksdb.TableFactory) {
			t.Helper()
			got := f.OptionsPtr(rocksdb.PlainTableOptionsName)
			if got == nil {
				got = f.OptionsPtr(rocksdb.CuckooTableOptionsName)
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Error(d)
			}
		}
		same(cf.TableFactory)
		same(cf.TableFactory.Clone())
		name := filepath.Join(t.TempDir(), "OPTIONS")
		db := rocksdb.DefaultDBOptions()
		noError(t, options.PersistRocksDBOptions(cfg, &db, []string{"default"}, []rocksdb.ColumnFamilyOptions{cf}, name, env.DefaultFileSystem()))
		p := options.NewParser()
		noError(t, p.Parse(cfg, name, env.DefaultFileSystem()))
		same(p.CFOptions()[0].TableFactory)
		// In a string of all options, a factory is only a name.
		text, err := options.GetStringFromColumnFamilyOptions(cfg, &cf)
		noError(t, err)
		again := rocksdb.DefaultColumnFamilyOptions()
		again, err = options.GetColumnFamilyOptionsFromString(cfg, &again, text)
		noError(t, err)
		check(t, again.TableFactory.Name(), cf.TableFactory.Name())
	}
}
