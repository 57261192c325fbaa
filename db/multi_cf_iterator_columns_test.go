// Port of db/multi_cf_iterator_test.cc (wide columns, attribute groups, values
// left unread). Differs: a file of its own.

package db_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	contract "github.com/rocksdb-go/rocksdb/include/rocksdb"
)

func unprepared(ro *contract.ReadOptions) { ro.AllowUnpreparedValue = true }

// columns makes columns of names and values.
func columns(pairs ...string) (c contract.WideColumns) {
	for i := 0; i < len(pairs); i += 2 {
		c = append(c, contract.WideColumn{Name: []byte(pairs[i]), Value: []byte(pairs[i+1])})
	}
	return c
}

func columnsString(c contract.WideColumns) string {
	var b strings.Builder
	for _, x := range c {
		fmt.Fprintf(&b, "(%s=%s)", x.Name, x.Value)
	}
	return b.String()
}

// group is what an entity has in a family.
type group struct {
	cf      int
	columns contract.WideColumns
}

// putGroups stores an entity that is spread over families.
func (x *dbTest) putGroups(key string, groups []group) {
	x.Helper()
	var list []rocksdb.AttributeGroup
	for _, g := range groups {
		list = append(list, rocksdb.AttributeGroup{ColumnFamily: x.cf(g.cf), Columns: g.columns})
	}
	x.must(x.db.PutEntityAttributeGroups(nil, []byte(key), list))
}

// putEntities stores upstream's four entities; overlap adds a column of one name
// to several families.
func (x *dbTest) putEntities(overlap bool) (all [][]group) {
	x.Helper()
	x.createAndReopenWithCF(threeFamilies, x.defaultOptions())
	add := func(key, cf int, c contract.WideColumns) group {
		if overlap {
			c = append(c, columns("cf_overlap_col_name", fmt.Sprintf("cf_%d_overlap_value_key_%d", cf, key))...)
		}
		return group{cf, c}
	}
	column := func(key, cf, n int) []string {
		return []string{fmt.Sprintf("cf_%d_col_name_%d", cf, n), fmt.Sprintf("cf_%d_col_val_%d_key_%d", cf, n, key)}
	}
	of := func(key, cf, n int) (c contract.WideColumns) {
		for i := 1; i <= n; i++ {
			c = append(c, columns(column(key, cf, i)...)...)
		}
		return c
	}
	key2 := of(2, 1, 1)
	if overlap {
		key2 = nil
	}
	all = [][]group{
		{add(1, 2, append(columns("", "cf_2_col_val_0_key_1"), of(1, 2, 2)...)), add(1, 3, of(1, 3, 3))},
		{add(2, 1, key2), add(2, 2, of(2, 2, 2))},
		{{1, of(3, 1, 1)}, {3, of(3, 3, 1)}},
		{{0, of(4, 0, 1)}, {2, of(4, 2, 1)}},
	}
	for i, groups := range all {
		x.putGroups(fmt.Sprint("key_", i+1), groups)
	}
	return all
}

func TestCoalescingIteratorTest_WideColumns(t *testing.T) {
	x := newDBTest(t)
	x.putEntities(true)
	for _, c := range []struct {
		order              []int
		overlap1, overlap2 string // of keys 1 and 2, the last family's
	}{{order0123, "cf_3_overlap_value_key_1", "cf_2_overlap_value_key_2"}, {order3201, "cf_2_overlap_value_key_1", "cf_1_overlap_value_key_2"}} {
		want := []string{
			"key_1->cf_2_col_val_0_key_1 " + columnsString(columns("", "cf_2_col_val_0_key_1", "cf_2_col_name_1", "cf_2_col_val_1_key_1",
				"cf_2_col_name_2", "cf_2_col_val_2_key_1", "cf_3_col_name_1", "cf_3_col_val_1_key_1", "cf_3_col_name_2", "cf_3_col_val_2_key_1",
				"cf_3_col_name_3", "cf_3_col_val_3_key_1", "cf_overlap_col_name", c.overlap1)),
			"key_2-> " + columnsString(columns("cf_2_col_name_1", "cf_2_col_val_1_key_2", "cf_2_col_name_2", "cf_2_col_val_2_key_2",
				"cf_overlap_col_name", c.overlap2)),
			"key_3-> " + columnsString(columns("cf_1_col_name_1", "cf_1_col_val_1_key_3", "cf_3_col_name_1", "cf_3_col_val_1_key_3")),
			"key_4-> " + columnsString(columns("cf_0_col_name_1", "cf_0_col_val_1_key_4", "cf_2_col_name_1", "cf_2_col_val_1_key_4")),
		}
		it := x.db.NewCoalescingIterator(nil, x.families(c.order...))
		check := func(i int) {
			t.Helper()
			if got := fmt.Sprintf("%s->%s %s", it.Key(), it.Value(), columnsString(it.Columns())); got != want[i] {
				t.Fatalf("%s, not %s", got, want[i])
			}
		}
		n := 0
		for it.SeekToFirst(); it.Valid(); it.Next() {
			check(n)
			n++
		}
		for it.SeekToLast(); it.Valid(); it.Prev() {
			n--
			check(n)
		}
		if x.must(it.Status()); n != 0 {
			t.Fatal(n)
		}
		x.must(it.Close())
	}
}

// wantGroups wants the groups of keys from first on, both ways.
func (x *dbTest) wantGroups(order []int, first int, want [][]group, set ...func(*contract.ReadOptions)) {
	x.Helper()
	ro := readOptions(set...)
	it := x.db.NewAttributeGroupIterator(ro, x.families(order...))
	check := func(i int) {
		x.Helper()
		if ro.AllowUnpreparedValue {
			if len(it.AttributeGroups()) != 0 || !it.PrepareValue() {
				x.Fatalf("%v, %v", it.AttributeGroups(), it.Status())
			}
		}
		if string(it.Key()) != fmt.Sprint("key_", first+i) || len(it.AttributeGroups()) != len(want[i]) {
			x.Fatalf("%s: %v", it.Key(), it.AttributeGroups())
		}
		for j, g := range it.AttributeGroups() {
			if w := want[i][j]; g.ColumnFamily.GetID() != x.cf(w.cf).GetID() || columnsString(g.Columns) != columnsString(w.columns) {
				x.Fatalf("%s: group %d of family %d: %s, not %s", it.Key(), j, g.ColumnFamily.GetID(), columnsString(g.Columns), columnsString(w.columns))
			}
		}
	}
	n := 0
	for it.SeekToFirst(); it.Valid(); it.Next() {
		check(n)
		n++
	}
	if n != len(want) {
		x.Fatalf("%d keys, not %d", n, len(want))
	}
	for it.SeekToLast(); it.Valid(); it.Prev() {
		n--
		check(n)
	}
	if x.must(it.Status()); n != 0 {
		x.Fatal(n)
	}
	x.must(it.Close())
}

func TestAttributeGroupIteratorTest_IterateAttributeGroups(t *testing.T) {
	x := newDBTest(t)
	all := x.putEntities(false)
	x.wantGroups(order0123, 1, all)
	x.wantGroups(order0123, 2, all[1:], lowerBound("key_2"))
	x.wantGroups(order0123, 1, all[:3], upperBound("key_4"))
	x.wantGroups(order0123, 2, all[1:3], lowerBound("key_2"), upperBound("key_4"))
}

func TestAttributeGroupIteratorTest_AllowUnpreparedValue(t *testing.T) {
	x := newDBTest(t)
	x.wantGroups(order0123, 1, x.putEntities(false), unprepared)
}

func TestCoalescingIteratorTest_AllowUnpreparedValue(t *testing.T) {
	x := newDBTest(t)
	o := x.defaultOptions()
	o.EnableBlobFiles = true
	x.sharedKeys(o)
	x.flush(0)
	e := entries(1, 0, 2, 1, 3, 1)
	x.wantBoth(order3201, e, unprepared)
	x.coalesce(order3201, unprepared).walk("seek ", "key_1->", "prepare", e[0], "seek key_1", "key_1->", "prepare", e[0],
		"seek key_2", "key_2->", "prepare", e[1], "next", "key_3->", "prepare", e[2], "seek key_x", "(invalid)")
	x.coalesce(order3201, unprepared).walk("for-prev ", "(invalid)", "for-prev key_1", "key_1->", "prepare", e[0], "next", "key_2->", "prepare", e[1],
		"for-prev key_x", "key_3->", "prepare", e[2], "next", "(invalid)")
}

func TestCoalescingIteratorTest_SingleColumnFamilyAllowUnpreparedValueMatchesDirectIterator(t *testing.T) {
	x := newDBTest(t)
	x.createAndReopenWithCF([]string{"cf_1"}, x.defaultOptions())
	x.puts(0, "key_1", "value_1", "key_2", "value_2")
	many := x.db.NewCoalescingIterator(readOptions(unprepared), x.families(0))
	one := x.cf(0).NewIterator(readOptions(unprepared))
	for _, k := range []string{"key_1", "key_2"} {
		many.Seek([]byte(k))
		one.Seek([]byte(k))
		if !many.Valid() || !one.Valid() || many.Status() != nil || one.Status() != nil || string(many.Key()) != string(one.Key()) ||
			string(many.Value()) != string(one.Value()) || columnsString(many.Columns()) != columnsString(one.Columns()) {
			t.Errorf("%s: %s->%q %s; %s->%q %s", k, many.Key(), many.Value(), columnsString(many.Columns()), one.Key(), one.Value(), columnsString(one.Columns()))
		}
	}
	x.must(many.Close())
	x.must(one.Close())
}

func TestCoalescingIteratorTest_AllowUnpreparedValueWithSnapshotAutoRefresh(t *testing.T) {
	const keys = 32
	x := newDBTest(t)
	o := x.defaultOptions()
	o.DisableAutoCompactions, o.EnableBlobFiles, o.MinBlobSize = true, true, 16
	x.createAndReopenWithCF([]string{"cf_1"}, o)
	value := func(cf int, phase string, k int) string {
		return fmt.Sprintf("cf%d_%s_%d%s", cf, phase, k, dummyString(32, byte('a'+cf)))
	}
	put := func(phase string) {
		for k := range keys {
			for cf := range 2 {
				x.mustPut(cf, key(k), value(cf, phase, k))
			}
		}
	}
	put("base")
	for cf := range 2 {
		x.flush(cf)
		x.moveFilesToLevel(1, cf)
	}
	put("visible")
	s := x.db.GetSnapshot()
	it := x.db.NewCoalescingIterator(readOptions(unprepared, atSnapshot(s), func(ro *contract.ReadOptions) { ro.AutoRefreshIteratorWithSnapshot = true }),
		x.families(1, 0))
	n := 0
	for it.SeekToFirst(); it.Valid(); it.Next() {
		if string(it.Key()) != key(n) || len(it.Value()) != 0 || !it.PrepareValue() || !it.Valid() || string(it.Value()) != value(0, "visible", n) {
			t.Fatalf("%s->%s, %v", it.Key(), it.Value(), it.Status())
		}
		if n == keys/2 {
			for cf := range 2 {
				x.flush(cf)
				x.compact(cf, "", "")
			}
		}
		n++
	}
	if x.must(it.Status()); n != keys {
		t.Fatal(n)
	}
	x.must(it.Close())
	x.must(x.db.ReleaseSnapshot(s))
}
