// Port of util/slice_transform_test.cc: the part with a database.

package util_test

import (
	"testing"

	root "github.com/rocksdb-go/rocksdb"
)

func TestSliceTransformDBTest_CapPrefix(t *testing.T) {
	o := root.DefaultOptions()
	o.CreateIfMissing = true
	o.PrefixExtractor = root.NewCappedPrefixTransform(8)
	o.Statistics = root.NewStatistics()
	b := root.DefaultBlockBasedTableOptions()
	b.FilterPolicy = root.NewBloomFilterPolicy(10)
	b.WholeKeyFiltering = false
	o.TableFactory = root.NewBlockBasedTableFactory(b)
	db, err := root.Open(t.TempDir(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, kv := range [][2]string{{"barbarbar", "foo"}, {"barbarbar2", "foo2"}, {"foo", "bar"}, {"foo3", "bar3"}} {
		if err := db.Put(nil, []byte(kv[0]), []byte(kv[1])); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Flush(nil); err != nil {
		t.Fatal(err)
	}
	it := db.NewIterator(nil)
	defer it.Close()
	for _, c := range []struct {
		seek, value     string // value "": not valid
		match, filtered uint64
	}{
		{"foo", "bar", 1, 0},
		{"foo2", "", 0, 1},
		{"barbarbar", "foo", 1, 0},
		{"barfoofoo", "", 0, 1},
		{"foobarbar", "", 0, 1},
	} {
		it.Seek([]byte(c.seek))
		if err := it.Err(); err != nil || it.Valid() != (c.value != "") || it.Valid() && string(it.Value()) != c.value {
			t.Errorf("Seek %s: valid %v, %v", c.seek, it.Valid(), err)
		}
		if n := o.Statistics.GetAndResetTickerCount(root.NonLastLevelSeekFilterMatch); n != c.match {
			t.Errorf("Seek %s: %d filter matches, not %d", c.seek, n, c.match)
		}
		if n := o.Statistics.GetAndResetTickerCount(root.NonLastLevelSeekFiltered); n != c.filtered {
			t.Errorf("Seek %s: %d filtered, not %d", c.seek, n, c.filtered)
		}
	}
}
