// No upstream twin: upstream has no test of these filters.

package compactionfilters

import (
	"testing"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/options"
	"github.com/rocksdb-go/rocksdb/utilities/registry"
)

func TestRemoveEmptyValueCompactionFilter(t *testing.T) {
	cfg := rocksdb.DefaultConfigOptions()
	r := registry.NewInstance()
	if n := Register(r.AddNewLibrary("filters")); n != 1 {
		t.Errorf("%d filters", n)
	}
	cfg.Registry = r
	f, err := options.CreateFromString[rocksdb.CompactionFilter](&cfg, registry.KindCompactionFilter, "RemoveEmptyValueCompactionFilter")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		vt    rocksdb.CompactionFilterValueType
		value string
		want  rocksdb.CompactionFilterDecision
	}{
		{rocksdb.CompactionFilterValue, "", rocksdb.FilterRemove},
		{rocksdb.CompactionFilterValue, "v", rocksdb.FilterKeep},
		{rocksdb.CompactionFilterMergeOperand, "", rocksdb.FilterKeep},
		{rocksdb.CompactionFilterWideColumnEntity, "", rocksdb.FilterKeep},
	} {
		if d, _, _ := f.FilterV3(0, []byte("key"), c.vt, []byte(c.value)); d != c.want {
			t.Errorf("type %d, value %q: %d, not %d", c.vt, c.value, d, c.want)
		}
	}
	if !f.IgnoreSnapshots() {
		t.Error("the filter keeps snapshots")
	}
}

func TestLayeredCompactionFilterBase(t *testing.T) {
	user := RemoveEmptyValueCompactionFilter{}
	for _, b := range []LayeredCompactionFilterBase{NewLayeredCompactionFilterBase(user, nil), NewLayeredCompactionFilterBase(nil, user)} {
		if b.User != user || b.Inner() != user {
			t.Error("the user's filter got lost")
		}
	}
	if b := NewLayeredCompactionFilterBase(nil, nil); b.Inner() != nil {
		t.Error("a filter of nothing")
	}
}
