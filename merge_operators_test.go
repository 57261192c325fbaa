// No upstream twin: merge operators and partitioners by name through OPTIONS
// files.

package rocksdb_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb"
)

func TestPluginsByNameRoundTrip(t *testing.T) {
	dir := t.TempDir()
	o := rocksdb.DefaultOptions()
	o.CreateIfMissing = true
	op, err := rocksdb.NewMergeOperator("id=stringappend;delimiter=|")
	if err != nil {
		t.Fatal(err)
	}
	o.MergeOperator = op
	o.SstPartitionerFactory = rocksdb.NewSstPartitionerFixedPrefixFactory(4)
	o.PrefixExtractor = rocksdb.NewFixedPrefixTransform(3)
	o.MemtableFactory = rocksdb.NewSkipListFactory()
	db, err := rocksdb.Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range []string{"a", "b", "c"} {
		if err := db.Merge(nil, []byte("key"), []byte(v)); err != nil {
			t.Fatal(err)
		}
	}
	v, err := db.Get(nil, []byte("key"))
	if err != nil || string(v.Data()) != "a|b|c" {
		t.Fatalf("got %q, %v", v.Data(), err)
	}
	v.Release()
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	files, _ := filepath.Glob(filepath.Join(dir, "OPTIONS-*"))
	if len(files) == 0 {
		t.Fatal("no OPTIONS file")
	}
	text, err := os.ReadFile(files[len(files)-1])
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"merge_operator={id=StringAppendOperator;delimiter=|;}",
		"sst_partitioner_factory={id=SstPartitionerFixedPrefixFactory;length=4;}",
		"prefix_extractor=rocksdb.FixedPrefix.3",
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %q in the OPTIONS file", want)
		}
	}
	if _, err := rocksdb.NewMergeOperator("no such operator"); err == nil {
		t.Error("an unknown operator was made")
	}
}
