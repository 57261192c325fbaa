// Port of options/options_test.cc, the case about memtable factories' options.

package memtable

import (
	"testing"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/options"
	"github.com/rocksdb-go/rocksdb/utilities/registry"
)

func TestOptionsTest_MemTableRepFactoryCreateFromString(t *testing.T) {
	r := registry.NewInstance()
	if n := RegisterBuiltinMemTableRepFactory(r.AddNewLibrary("memtable")); n != 5 {
		t.Fatalf("%d factories", n)
	}
	cfg := rocksdb.DefaultConfigOptions()
	cfg.Registry = r
	cfg.IgnoreUnknownOptions, cfg.IgnoreUnsupportedOptions = false, false
	create := func(text string) (rocksdb.MemTableRepFactory, error) {
		return options.CreateFromString[rocksdb.MemTableRepFactory](&cfg, registry.KindMemTableRepFactory, text)
	}
	for _, c := range []struct {
		text, name, nick string
		want             string // as options.ObjectToString gives it back
	}{
		{"skip_list", "SkipListFactory", "skip_list", "SkipListFactory"},
		{"skip_list:16", "SkipListFactory", "skip_list", "SkipListFactory:16"},
		{"SkipListFactory:3", "SkipListFactory", "skip_list", "SkipListFactory:3"},
		{"id=skip_list; lookahead=32", "SkipListFactory", "skip_list", "SkipListFactory:32"},
		{"prefix_hash", "HashSkipListRepFactory", "prefix_hash",
			"{id=HashSkipListRepFactory;branching_factor=4;bucket_count=1000000;skiplist_height=4;}"},
		{"prefix_hash:1000", "HashSkipListRepFactory", "prefix_hash",
			"{id=HashSkipListRepFactory;branching_factor=4;bucket_count=1000;skiplist_height=4;}"},
		{"id=prefix_hash; bucket_count=32; skiplist_height=64; branching_factor=16", "HashSkipListRepFactory", "prefix_hash",
			"{id=HashSkipListRepFactory;branching_factor=16;bucket_count=32;skiplist_height=64;}"},
		{"hash_linkedlist", "HashLinkListRepFactory", "hash_linkedlist",
			"{id=HashLinkListRepFactory;bucket_count=50000;huge_page_size=0;log_when_flash=true;logging_threshold=4096;threshold=256;}"},
		{"hash_linkedlist:1000", "HashLinkListRepFactory", "hash_linkedlist",
			"{id=HashLinkListRepFactory;bucket_count=1000;huge_page_size=0;log_when_flash=true;logging_threshold=4096;threshold=256;}"},
		{"id=hash_linkedlist; bucket_count=32; threshold=64; huge_page_size=16; logging_threshold=12; log_when_flash=true",
			"HashLinkListRepFactory", "hash_linkedlist",
			"{id=HashLinkListRepFactory;bucket_count=32;huge_page_size=16;log_when_flash=true;logging_threshold=12;threshold=64;}"},
		{"vector", "VectorRepFactory", "vector", "{id=VectorRepFactory;count=0;}"},
		{"vector:1024", "VectorRepFactory", "vector", "{id=VectorRepFactory;count=1024;}"},
		{"id=vector; count=42", "VectorRepFactory", "vector", "{id=VectorRepFactory;count=42;}"},
	} {
		f, err := create(c.text)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		if !rocksdb.IsInstanceOf(f, c.name) || !rocksdb.IsInstanceOf(f, c.nick) {
			t.Errorf("%s: a %s", c.text, f.Name())
		}
		if _, err := Factory(f); err != nil {
			t.Errorf("%s: %v", c.text, err)
		}
		embedded := cfg
		embedded.Delimiter = ";"
		s, err := options.ObjectToString(&embedded, f)
		if err != nil || s != c.want {
			t.Errorf("%s: written as %q (%v), want %q", c.text, s, err, c.want)
		}
	}
	for _, text := range []string{
		"skip_list:16:invalid_opt", "invalid_opt=10", "prefix_hash:1000:invalid_opt",
		"id=prefix_hash; bucket_count=32; skiplist_height=64; branching_factor=16; invalid=unknown",
		"hash_linkedlist:1000:invalid_opt", "id=hash_linkedlist; bucket_count=32; invalid=unknown",
		"vector:1024:invalid_opt", "id=vector; invalid=unknown", "id=vector; count=many", "cuckoo", "cuckoo:1024", "bad_factory",
	} {
		if f, err := create(text); err == nil {
			t.Errorf("%s: made a %s", text, f.Name())
		}
	}
	if f, err := create(""); err != nil || f != nil {
		t.Errorf("empty: %v", err)
	}
}
