// Port of db/wide/db_wide_basic_test.cc. Differs: each check reads by all ways
// at once; calls without a family are the default one's, and Go has no slices
// that are missing, so that SanityChecks is of the options alone.

package wide_test

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/rocksdb-go/rocksdb"
)

// wideTest is a database of entities.
type wideTest struct {
	*testing.T
	dir string
	o   rocksdb.Options
	db  *rocksdb.DB
	cfs []*rocksdb.ColumnFamily
}

func newWideTest(t *testing.T, change func(o *rocksdb.Options)) *wideTest {
	t.Helper()
	x := &wideTest{T: t, dir: filepath.Join(t.TempDir(), "db"), o: rocksdb.DefaultOptions()}
	x.o.CreateIfMissing, x.o.CreateMissingColumnFamilies = true, true
	if change != nil {
		change(&x.o)
	}
	x.reopen()
	t.Cleanup(func() { x.close() })
	return x
}

// newBlobTest moves values of some size to blob files.
func newBlobTest(t *testing.T, size uint64, change func(o *rocksdb.Options)) *wideTest {
	t.Helper()
	return newWideTest(t, func(o *rocksdb.Options) {
		o.EnableBlobFiles, o.MinBlobSize, o.DisableAutoCompactions = true, size, true
		if change != nil {
			change(o)
		}
	})
}

func (x *wideTest) must(err error) {
	x.Helper()
	if err != nil {
		x.Fatal(err)
	}
}

func (x *wideTest) close() {
	x.Helper()
	if x.db != nil {
		x.must(x.db.Close())
		x.db = nil
	}
}

func (x *wideTest) reopen(names ...string) {
	x.Helper()
	x.close()
	var families []rocksdb.ColumnFamilyDescriptor
	for _, n := range append([]string{"default"}, names...) {
		families = append(families, rocksdb.ColumnFamilyDescriptor{Name: n, Options: x.o.ColumnFamilyOptions})
	}
	var err error
	x.db, x.cfs, err = rocksdb.OpenColumnFamilies(x.dir, x.o.DBOptions, families)
	x.must(err)
}

func (x *wideTest) destroyAndReopen(change func(o *rocksdb.Options)) {
	x.Helper()
	x.close()
	x.must(rocksdb.DestroyDB(x.dir, x.o))
	if change != nil {
		change(&x.o)
	}
	x.reopen()
}

func (x *wideTest) flush()   { x.Helper(); x.must(x.db.Flush(nil)) }
func (x *wideTest) compact() { x.Helper(); x.must(x.db.CompactRange(nil, nil, nil)) }

func (x *wideTest) put(key, value string) {
	x.Helper()
	x.must(x.db.Put(nil, []byte(key), []byte(value)))
}

func (x *wideTest) merge(key, operand string) {
	x.Helper()
	x.must(x.db.Merge(nil, []byte(key), []byte(operand)))
}

func (x *wideTest) putEntity(key string, columns rocksdb.WideColumns) {
	x.Helper()
	x.must(x.db.PutEntity(nil, []byte(key), columns))
}

// columns makes columns of names and values.
func columns(parts ...string) rocksdb.WideColumns {
	list := rocksdb.WideColumns{}
	for i := 0; i < len(parts); i += 2 {
		list = append(list, rocksdb.WideColumn{Name: []byte(parts[i]), Value: []byte(parts[i+1])})
	}
	return list
}

func text(c rocksdb.WideColumns) string {
	var list []string
	for _, c := range c {
		list = append(list, fmt.Sprintf("%s=%s", c.Name, c.Value))
	}
	return strings.Join(list, "|")
}

func defaultValue(c rocksdb.WideColumns) string {
	if len(c) > 0 && len(c[0].Name) == 0 {
		return string(c[0].Value)
	}
	return ""
}

// entity is a key and what is there.
type entity struct {
	key     string
	columns rocksdb.WideColumns
}

// verify reads all of the database, which is want in the order of keys, by Get,
// GetEntity, MultiGet, MultiGetEntity and iterators of both directions.
func (x *wideTest) verify(want ...entity) {
	x.Helper()
	same := func(how, key, got, want string) {
		x.Helper()
		if got != want {
			x.Errorf("%s of %s: %.200q, not %.200q", how, key, got, want)
		}
	}
	keys := make([][]byte, len(want))
	for i, e := range want {
		keys[i] = []byte(e.key)
		v, err := x.db.Get(nil, keys[i])
		x.must(err)
		same("Get", e.key, string(v.Data()), defaultValue(e.columns))
		v.Release()
		var c rocksdb.PinnableWideColumns
		x.must(x.db.GetEntity(nil, keys[i], &c))
		same("GetEntity", e.key, text(c.Columns()), text(e.columns))
		c.Reset()
	}
	values, entities := make([]rocksdb.PinnableSlice, len(want)), make([]rocksdb.PinnableWideColumns, len(want))
	errs := make([]error, len(want))
	x.db.MultiGet(nil, keys, values, errs)
	for i, e := range want {
		x.must(errs[i])
		same("MultiGet", e.key, string(values[i].Data()), defaultValue(e.columns))
		values[i].Release()
	}
	x.db.MultiGetEntity(nil, keys, entities, errs)
	for i, e := range want {
		x.must(errs[i])
		same("MultiGetEntity", e.key, text(entities[i].Columns()), text(e.columns))
		entities[i].Reset()
	}
	it := x.db.NewIterator(nil)
	defer it.Close()
	at := func(how string, e entity) {
		x.Helper()
		if !it.Valid() {
			x.Fatalf("%s: no %s, %v", how, e.key, it.Status())
		}
		same(how, e.key, string(it.Key())+"|"+string(it.Value())+"|"+text(it.Columns()), e.key+"|"+defaultValue(e.columns)+"|"+text(e.columns))
	}
	it.SeekToFirst()
	for _, e := range want {
		at("Next", e)
		it.Next()
	}
	if it.Valid() || it.Status() != nil {
		x.Error("more entries", it.Status())
	}
	it.SeekToLast()
	for i := range want {
		at("Prev", want[len(want)-1-i])
		it.Prev()
	}
	if it.Valid() || it.Status() != nil {
		x.Error("more entries", it.Status())
	}
	for _, e := range want {
		it.SeekForPrev([]byte(e.key))
		at("SeekForPrev", e)
	}
}

func TestDBWideBasicTest_PutEntity(t *testing.T) {
	x := newWideTest(t, nil)
	first := columns("", "hello", "attr_name1", "foo", "attr_name2", "bar")
	second := columns("attr_one", "two", "attr_three", "four")
	verify := func() {
		t.Helper()
		x.verify(entity{"first", first}, entity{"second", columns("attr_one", "two", "attr_three", "four")}, entity{"third", columns("", "baz")})
	}
	x.putEntity("first", first)
	var b rocksdb.WriteBatch
	x.must(b.PutEntityCF(x.cfs[0].Impl(), []byte("second"), second))
	x.must(x.db.Write(nil, &b))
	x.put("third", "baz")
	verify()
	x.o.AvoidFlushDuringRecovery = true
	x.reopen()
	verify()
	x.flush()
	verify()
	x.close()
	var err error
	x.db, err = rocksdb.OpenForReadOnly(x.dir, x.o)
	x.must(err)
	verify()
}

func TestDBWideBasicTest_PutEntityColumnFamily(t *testing.T) {
	x := newWideTest(t, nil)
	x.reopen("corinthian")
	first, second := columns("attr_name1", "foo", "attr_name2", "bar"), columns("attr_one", "two", "attr_three", "four")
	x.must(x.cfs[1].PutEntity(nil, []byte("first"), first))
	var b rocksdb.WriteBatch
	x.must(b.PutEntityCF(x.cfs[1].Impl(), []byte("second"), second))
	x.must(x.db.Write(nil, &b))
	for key, want := range map[string]rocksdb.WideColumns{"first": first, "second": second} {
		var c rocksdb.PinnableWideColumns
		x.must(x.cfs[1].GetEntity(nil, []byte(key), &c))
		if text(c.Columns()) != text(want) {
			t.Error(key, text(c.Columns()))
		}
		c.Reset()
	}
}

// families are a result's groups.
func families(list ...*rocksdb.ColumnFamily) []rocksdb.PinnableAttributeGroup {
	groups := make([]rocksdb.PinnableAttributeGroup, len(list))
	for i, c := range list {
		if c != nil {
			groups[i].ColumnFamily = c.Impl()
		}
	}
	return groups
}

var (
	firstGroups = []rocksdb.WideColumns{columns("default_cf_col_1_name", "first_key_default_cf_col_1_value", "default_cf_col_2_name", "first_key_default_cf_col_2_value"),
		columns("hot_cf_col_1_name", "first_key_hot_cf_col_1_value", "hot_cf_col_2_name", "first_key_hot_cf_col_2_value"),
		columns("cold_cf_col_1_name", "first_key_cold_cf_col_1_value")}
	secondGroups = []rocksdb.WideColumns{nil, columns("hot_cf_col_1_name", "second_key_hot_cf_col_1_value"), columns("cold_cf_col_1_name", "second_key_cold_cf_col_1_value")}
)

// putGroups writes both keys, spread over three families.
func (x *wideTest) putGroups() {
	x.Helper()
	x.reopen("hot_cf", "cold_cf")
	for key, list := range map[string][]rocksdb.WideColumns{"first": firstGroups, "second": secondGroups} {
		var groups []rocksdb.AttributeGroup
		for i, c := range list {
			if c != nil {
				groups = append(groups, rocksdb.AttributeGroup{ColumnFamily: x.cfs[i].Impl(), Columns: c})
			}
		}
		x.must(x.db.PutEntityAttributeGroups(nil, []byte(key), groups))
	}
}

// checkGroups compares a result; nil stands for NotFound.
func (x *wideTest) checkGroups(got []rocksdb.PinnableAttributeGroup, want ...rocksdb.WideColumns) {
	x.Helper()
	if len(got) != len(want) {
		x.Fatal(len(got), "groups")
	}
	for i := range got {
		g := &got[i]
		if want[i] == nil {
			if rocksdb.CodeOf(g.Err) != rocksdb.CodeNotFound || len(g.Columns.Columns()) != 0 {
				x.Error(i, g.Err, g.Columns.Columns())
			}
			continue
		}
		if x.must(g.Err); text(g.Columns.Columns()) != text(want[i]) {
			x.Error(i, text(g.Columns.Columns()))
		}
		g.Columns.Reset()
	}
}

func (x *wideTest) codes(got []rocksdb.PinnableAttributeGroup, want ...rocksdb.Code) {
	x.Helper()
	for i := range got {
		if rocksdb.CodeOf(got[i].Err) != want[i] {
			x.Errorf("group %d: %v", i, got[i].Err)
		}
	}
}

func TestDBWideBasicTest_GetEntityAsPinnableAttributeGroups(t *testing.T) {
	x := newWideTest(t, nil)
	x.putGroups()
	d, hot, cold := x.cfs[0], x.cfs[1], x.cfs[2]
	get := func(key string, list ...*rocksdb.ColumnFamily) []rocksdb.PinnableAttributeGroup {
		t.Helper()
		groups := families(list...)
		x.must(x.db.GetEntityAttributeGroups(nil, []byte(key), groups))
		return groups
	}
	// A group without a family fails all.
	if err := x.db.PutEntityAttributeGroups(nil, []byte("first"), []rocksdb.AttributeGroup{{Columns: firstGroups[0]}, {ColumnFamily: hot.Impl(), Columns: firstGroups[1]}}); err == nil {
		t.Error("written without a family")
	}
	bad := families(d, nil, hot, nil)
	if err := x.db.GetEntityAttributeGroups(nil, []byte("first"), bad); rocksdb.CodeOf(err) != rocksdb.CodeInvalidArgument {
		t.Error(err)
	}
	x.codes(bad, rocksdb.CodeIncomplete, rocksdb.CodeInvalidArgument, rocksdb.CodeIncomplete, rocksdb.CodeIncomplete)
	x.checkGroups(get("first", d, hot), firstGroups[0], firstGroups[1])
	x.checkGroups(get("second", hot, cold), secondGroups[1], secondGroups[2])
	x.checkGroups(get("first", d, hot, cold), firstGroups...)
	x.checkGroups(get("second", d, hot, cold), secondGroups...)
}

func TestDBWideBasicTest_MultiCFMultiGetEntity(t *testing.T) {
	x := newWideTest(t, nil)
	x.reopen("corinthian")
	want := []rocksdb.WideColumns{columns("attr_name1", "foo", "attr_name2", "bar"), columns("attr_one", "two", "attr_three", "four")}
	keys := [][]byte{[]byte("first"), []byte("second")}
	for i, c := range x.cfs {
		x.must(c.PutEntity(nil, keys[i], want[i]))
	}
	results, errs := make([]rocksdb.PinnableWideColumns, 2), make([]error, 2)
	x.db.MultiGetEntityCF(nil, x.cfs, keys, results, errs)
	for i := range results {
		if x.must(errs[i]); text(results[i].Columns()) != text(want[i]) {
			t.Error(i, text(results[i].Columns()))
		}
		results[i].Reset()
	}
}

func TestDBWideBasicTest_MultiCFMultiGetEntityAsPinnableAttributeGroups(t *testing.T) {
	x := newWideTest(t, nil)
	x.putGroups()
	d, hot, cold := x.cfs[0], x.cfs[1], x.cfs[2]
	keys := [][]byte{[]byte("first"), []byte("second")}
	ro := rocksdb.DefaultReadOptions()
	ro.IOActivity = rocksdb.IOActivityGetEntity
	groups := [][]rocksdb.PinnableAttributeGroup{families(d, hot, cold), families(d, hot, cold)}
	x.db.MultiGetEntityAttributeGroups(&ro, keys, groups)
	const bad, incomplete = rocksdb.CodeInvalidArgument, rocksdb.CodeIncomplete
	x.codes(groups[0], bad, bad, bad)
	x.codes(groups[1], bad, bad, bad)
	groups = [][]rocksdb.PinnableAttributeGroup{families(nil, hot, nil), families(d, hot, cold)}
	x.db.MultiGetEntityAttributeGroups(nil, keys, groups)
	x.codes(groups[0], bad, incomplete, bad)
	x.codes(groups[1], incomplete, incomplete, incomplete)
	groups = [][]rocksdb.PinnableAttributeGroup{families(d, hot), families(hot, cold)}
	x.db.MultiGetEntityAttributeGroups(nil, keys, groups)
	x.checkGroups(groups[0], firstGroups[:2]...)
	x.checkGroups(groups[1], secondGroups[1:]...)
	groups = [][]rocksdb.PinnableAttributeGroup{families(d, hot, cold), families(d, hot, cold)}
	x.db.MultiGetEntityAttributeGroups(nil, keys, groups)
	x.checkGroups(groups[0], firstGroups...)
	x.checkGroups(groups[1], secondGroups...)
}

func TestDBWideBasicTest_MergePlainKeyValue(t *testing.T) {
	x := newWideTest(t, func(o *rocksdb.Options) { o.MergeOperator = rocksdb.NewStringAppendOperator(",") })
	base := func() {
		x.put("first", "hello")
		x.must(x.db.Delete(nil, []byte("second")))
	}
	operands := func() {
		x.merge("first", "world")
		x.merge("second", "foo")
		x.merge("third", "bar")
	}
	verify := func() {
		t.Helper()
		x.verify(entity{"first", columns("", "hello,world")}, entity{"second", columns("", "foo")}, entity{"third", columns("", "bar")})
	}
	base()
	s := x.db.GetSnapshot()
	operands()
	verify()
	x.flush()
	verify()
	x.must(x.db.ReleaseSnapshot(s))
	x.destroyAndReopen(nil)
	base()
	x.flush()
	operands()
	verify()
}

// columnsFilter is a filter of columns.
type columnsFilter struct {
	decide func(value []byte, c rocksdb.WideColumns) (d rocksdb.CompactionFilterDecision, newValue []byte, newColumns rocksdb.WideColumns)
}

func (*columnsFilter) Name() string          { return "columnsFilter" }
func (*columnsFilter) IgnoreSnapshots() bool { return true }
func (*columnsFilter) FilterV3(int, []byte, rocksdb.CompactionFilterValueType, []byte) (d rocksdb.CompactionFilterDecision, newValue, skipUntil []byte) {
	return rocksdb.FilterKeep, nil, nil
}

func (f *columnsFilter) FilterV4(_ int, _ []byte, _ rocksdb.CompactionFilterValueType, value []byte, c rocksdb.WideColumns, _ rocksdb.WideColumnBlobResolver) (
	d rocksdb.CompactionFilterDecision, newValue []byte, newColumns rocksdb.WideColumns, skipUntil []byte) {
	d, newValue, newColumns = f.decide(value, c)
	return d, newValue, newColumns, nil
}

func TestDBWideBasicTest_CompactionFilter(t *testing.T) {
	upper := func(b []byte) []byte { return []byte(strings.ToUpper(string(b))) }
	first, second := columns("", "a", "attr_name1", "foo", "attr_name2", "bar"), columns("attr_one", "two", "attr_three", "four")
	for name, c := range map[string]struct {
		filter columnsFilter
		want   []entity
	}{
		"keep": {columnsFilter{func([]byte, rocksdb.WideColumns) (rocksdb.CompactionFilterDecision, []byte, rocksdb.WideColumns) {
			return rocksdb.FilterKeep, nil, nil
		}}, []entity{{"first", first}, {"last", columns("", "baz")}, {"second", second}}},
		"remove": {columnsFilter{func([]byte, rocksdb.WideColumns) (rocksdb.CompactionFilterDecision, []byte, rocksdb.WideColumns) {
			return rocksdb.FilterRemove, nil, nil
		}}, nil},
		"values": {columnsFilter{func(value []byte, c rocksdb.WideColumns) (rocksdb.CompactionFilterDecision, []byte, rocksdb.WideColumns) {
			if len(c) > 0 {
				value = c[0].Value
			}
			return rocksdb.FilterChangeValue, upper(value), nil
		}}, []entity{{"first", columns("", "A")}, {"last", columns("", "BAZ")}, {"second", columns("", "TWO")}}},
		"entities": {columnsFilter{func(value []byte, c rocksdb.WideColumns) (rocksdb.CompactionFilterDecision, []byte, rocksdb.WideColumns) {
			if value != nil {
				return rocksdb.FilterChangeWideColumnEntity, nil, columns("", string(upper(value)))
			}
			var list rocksdb.WideColumns
			for _, c := range c {
				list = append(list, rocksdb.WideColumn{Name: c.Name, Value: upper(c.Value)})
			}
			return rocksdb.FilterChangeWideColumnEntity, nil, list
		}}, []entity{{"first", columns("", "A", "attr_name1", "FOO", "attr_name2", "BAR")}, {"last", columns("", "BAZ")},
			{"second", columns("attr_one", "TWO", "attr_three", "FOUR")}}},
	} {
		t.Run(name, func(t *testing.T) {
			x := newWideTest(t, func(o *rocksdb.Options) { o.CompactionFilter = &c.filter })
			x.putEntity("first", first)
			x.putEntity("second", second)
			x.flush()
			x.put("last", "baz")
			x.flush()
			x.compact()
			x.verify(c.want...)
		})
	}
}

func TestDBWideBasicTest_PutEntityTimestampError(t *testing.T) {
	x := newWideTest(t, nil)
	o := x.o.ColumnFamilyOptions
	o.Comparator = rocksdb.BytewiseComparatorWithU64Ts()
	c, err := x.db.CreateColumnFamily(o, "corinthian")
	x.must(err)
	if err := c.PutEntity(nil, []byte("first"), columns("attr_name1", "foo", "attr_name2", "bar")); rocksdb.CodeOf(err) != rocksdb.CodeInvalidArgument {
		t.Error(err)
	}
	var b rocksdb.WriteBatch
	if err := b.PutEntityCF(c.Impl(), []byte("second"), columns("doric", "column", "ionic", "column")); rocksdb.CodeOf(err) != rocksdb.CodeInvalidArgument {
		t.Error(err)
	}
	x.must(x.db.Write(nil, &b))
	x.must(c.Close())
}

func TestDBWideBasicTest_PutEntitySerializationError(t *testing.T) {
	x := newWideTest(t, nil)
	if err := x.db.PutEntity(nil, []byte("first"), columns("foo", "bar", "foo", "baz")); rocksdb.CodeOf(err) != rocksdb.CodeCorruption {
		t.Error(err)
	}
	var b rocksdb.WriteBatch
	if err := b.PutEntityCF(x.cfs[0].Impl(), []byte("second"), columns("column", "doric", "column", "ionic")); rocksdb.CodeOf(err) != rocksdb.CodeCorruption {
		t.Error(err)
	}
	x.must(x.db.Write(nil, &b))
	x.verify()
}

func TestDBWideBasicTest_PinnableWideColumnsMove(t *testing.T) {
	x := newWideTest(t, nil)
	x.put("foo", "bar")
	x.putEntity("baz", columns("quux", "corge"))
	x.flush()
	for _, fill := range []bool{false, true} {
		ro := rocksdb.DefaultReadOptions()
		ro.FillCache = fill
		for key, want := range map[string]string{"foo": "=bar", "baz": "quux=corge"} {
			var result rocksdb.PinnableWideColumns
			x.must(x.db.GetEntity(&ro, []byte(key), &result))
			if got := text(result.Columns()); got != want {
				t.Error(key, got)
			}
			moved := result
			result = rocksdb.PinnableWideColumns{}
			if got := text(moved.Columns()); got != want {
				t.Error(key, "moved", got)
			}
			moved.Reset()
			result.Reset()
		}
	}
}

func large(n int, c string) string { return strings.Repeat(c, n) }

// number is an integer property.
func (x *wideTest) number(name string) uint64 {
	x.Helper()
	n, ok := x.db.GetIntProperty(name)
	if !ok {
		x.Error(name)
	}
	return n
}

func TestDBWideBasicTest_PutEntityWithBlobValue(t *testing.T) {
	x := newBlobTest(t, 100, nil)
	e := entity{"blob_entity_key", columns("", large(200, "v"), "large_col", large(200, "v"), "small_col", "small")}
	x.putEntity(e.key, e.columns)
	x.verify(e)
	x.flush()
	x.verify(e)
	x.compact()
	x.verify(e)
	if x.blobFiles() < 1 || x.number("rocksdb.num-blob-files") < 1 || x.number("rocksdb.total-blob-file-size") == 0 {
		t.Error("no blob files")
	}
}

func (x *wideTest) blobFiles() int {
	files, err := filepath.Glob(filepath.Join(x.dir, "*.blob"))
	x.must(err)
	return len(files)
}

func TestDBWideBasicTest_GetEntityWithBlobResolution(t *testing.T) {
	x := newBlobTest(t, 50, func(o *rocksdb.Options) { o.Statistics = rocksdb.NewStatistics() })
	first := entity{"first", columns("", large(100, "v"), "attr1", "inline", "attr2", large(150, "v"))}
	second := entity{"second", columns("col1", large(100, "v"), "col2", "inline")}
	x.putEntity(first.key, first.columns)
	x.putEntity(second.key, second.columns)
	x.must(x.o.Statistics.Reset())
	x.flush()
	x.compact()
	if n := x.o.Statistics.GetTickerCount(rocksdb.BlobDBBlobFileBytesWritten); n < 350 {
		t.Error(n, "bytes in blob files")
	}
	if x.blobFiles() < 1 {
		t.Error("no blob files")
	}
	x.verify(first, second)
}

func TestDBWideBasicTest_IterateEntityWithBlobResolution(t *testing.T) {
	x := newBlobTest(t, 50, nil)
	list := []entity{{"key1", columns("", large(100, "v"), "a", "small")}, {"key2", columns("b", large(100, "v"), "c", "small")},
		{"key3", columns("", "small", "d", large(100, "v"))}}
	for _, e := range list {
		x.putEntity(e.key, e.columns)
	}
	x.flush()
	x.compact()
	x.verify(list...)
}

func TestDBWideBasicTest_MultiGetEntityWithBlobResolution(t *testing.T) {
	x := newBlobTest(t, 50, nil)
	list := []entity{{"key1", columns("", large(100, "v"))}, {"key2", columns("attr", large(100, "v"), "attr2", "small")},
		{"key3", columns("", "small")}, {"key4", columns("x", large(100, "v"), "y", large(100, "v"))}}
	for _, e := range list {
		x.putEntity(e.key, e.columns)
	}
	x.flush()
	x.compact()
	x.verify(list...)
}

func entityBlobAfterFlush(t *testing.T, style rocksdb.CompactionStyle) {
	x := newBlobTest(t, 64, func(o *rocksdb.Options) { o.CompactionStyle = style })
	blob := large(128, "v")
	list := []entity{{"flush_key1", columns("", blob, "col1", "small")}, {"flush_key2", columns("col2", blob, "col3", "small")}}
	for _, e := range list {
		x.putEntity(e.key, e.columns)
	}
	x.verify(list...)
	x.flush()
	if x.blobFiles() != 1 {
		t.Error(x.blobFiles(), "blob files")
	}
	x.verify(list...)
	list = append(list, entity{"flush_key3", columns("", "small", "col4", blob)})
	x.putEntity(list[2].key, list[2].columns)
	x.flush()
	x.verify(list...)
}

func TestDBWideBasicTest_EntityBlobAfterFlush(t *testing.T) {
	entityBlobAfterFlush(t, rocksdb.CompactionStyleLevel)
}

func TestDBWideBasicTest_EntityBlobAfterFlushUniversal(t *testing.T) {
	entityBlobAfterFlush(t, rocksdb.CompactionStyleUniversal)
}

func entityBlobAfterCompaction(t *testing.T, style rocksdb.CompactionStyle) {
	x := newBlobTest(t, 64, func(o *rocksdb.Options) { o.CompactionStyle = style })
	list := []entity{{"compact_key1", columns("", large(128, "v"), "attr1", "small")}, {"compact_key2", columns("attr2", large(128, "v"), "attr3", large(256, "v"))},
		{"compact_key3", columns("", "small", "attr4", large(256, "v"))}}
	x.putEntity(list[0].key, list[0].columns)
	x.putEntity(list[1].key, list[1].columns)
	x.flush()
	x.putEntity(list[2].key, list[2].columns)
	x.flush()
	x.verify(list...)
	x.compact()
	x.verify(list...)
	x.reopen()
	x.verify(list...)
}

func TestDBWideBasicTest_EntityBlobAfterCompaction(t *testing.T) {
	entityBlobAfterCompaction(t, rocksdb.CompactionStyleLevel)
}

func TestDBWideBasicTest_EntityBlobAfterCompactionUniversal(t *testing.T) {
	entityBlobAfterCompaction(t, rocksdb.CompactionStyleUniversal)
}

func TestDBWideBasicTest_SanityChecks(t *testing.T) {
	x := newWideTest(t, nil)
	ro := rocksdb.DefaultReadOptions()
	ro.IOActivity = rocksdb.IOActivityGet
	var c rocksdb.PinnableWideColumns
	if err := x.db.GetEntity(&ro, []byte("foo"), &c); rocksdb.CodeOf(err) != rocksdb.CodeInvalidArgument {
		t.Error(err)
	}
	ro.IOActivity = rocksdb.IOActivityMultiGet
	keys := [][]byte{[]byte("foo"), []byte("bar")}
	results, errs := make([]rocksdb.PinnableWideColumns, 2), make([]error, 2)
	x.db.MultiGetEntity(&ro, keys, results, errs)
	for _, err := range errs {
		if rocksdb.CodeOf(err) != rocksdb.CodeInvalidArgument {
			t.Error(err)
		}
	}
	errs = make([]error, 2)
	x.db.MultiGetEntityCF(&ro, []*rocksdb.ColumnFamily{x.cfs[0], x.cfs[0]}, keys, results, errs)
	for _, err := range errs {
		if rocksdb.CodeOf(err) != rocksdb.CodeInvalidArgument {
			t.Error(err)
		}
	}
}

func compactionFilterWithBlobGC(t *testing.T, style rocksdb.CompactionStyle) {
	const records, perFlush = 100, 10
	var threshold atomic.Int64
	x := newBlobTest(t, 100, func(o *rocksdb.Options) {
		o.EnableBlobGarbageCollection, o.BlobGarbageCollectionAgeCutoff, o.CompactionStyle = true, 0, style
		o.CompactionFilter = &columnsFilter{func(_ []byte, c rocksdb.WideColumns) (rocksdb.CompactionFilterDecision, []byte, rocksdb.WideColumns) {
			for _, c := range c {
				if string(c.Name) != "ttl" {
					continue
				}
				if n, err := strconv.Atoi(string(c.Value)); err != nil || int64(n) < threshold.Load() {
					return rocksdb.FilterRemove, nil, nil
				}
			}
			return rocksdb.FilterKeep, nil, nil
		}}
	})
	var list []entity
	for i := range records {
		list = append(list, entity{fmt.Sprintf("key_%04d", i), columns("ttl", fmt.Sprint(i), "value1", large(1024, "x"), "value2", large(1024, "y"))})
		x.putEntity(list[i].key, list[i].columns)
		if i%perFlush == perFlush-1 {
			x.flush()
		}
	}
	if n := x.blobFiles(); n != records/perFlush {
		t.Error(n, "blob files")
	}
	x.verify(list...)
	for round := 1; round <= records/perFlush; round++ {
		threshold.Store(int64(round * perFlush))
		x.compact()
		x.verify(list[round*perFlush:]...)
	}
	if n := x.blobFiles(); n != 0 {
		t.Error(n, "blob files")
	}
}

func TestDBWideBasicTest_CompactionFilterWithBlobGC(t *testing.T) {
	compactionFilterWithBlobGC(t, rocksdb.CompactionStyleLevel)
}

func TestDBWideBasicTest_CompactionFilterWithBlobGCUniversal(t *testing.T) {
	compactionFilterWithBlobGC(t, rocksdb.CompactionStyleUniversal)
}

// cached is for reads of what is in memory.
func cached() *rocksdb.ReadOptions {
	ro := rocksdb.DefaultReadOptions()
	ro.ReadTier = rocksdb.BlockCacheTier
	return &ro
}

// fineOrIncomplete takes what a read without I/O may answer.
func (x *wideTest) fineOrIncomplete(err error) {
	x.Helper()
	if err != nil && rocksdb.CodeOf(err) != rocksdb.CodeIncomplete {
		x.Error(err)
	}
}

func TestDBWideBasicTest_EntityBlobBlockCacheTierGet(t *testing.T) {
	x := newBlobTest(t, 50, nil)
	x.putEntity("test_key", columns("", large(100, "v"), "col_small", "small"))
	x.flush()
	x.reopen()
	v, err := x.db.Get(cached(), []byte("test_key"))
	if x.fineOrIncomplete(err); err == nil && string(v.Data()) != large(100, "v") {
		t.Errorf("%q", v.Data())
	}
	v.Release()
}

func TestDBWideBasicTest_EntityBlobBlockCacheTierGetEntity(t *testing.T) {
	x := newBlobTest(t, 50, nil)
	want := columns("col_large", large(100, "v"), "col_small", "small")
	x.putEntity("test_key", want)
	x.flush()
	x.reopen()
	var c rocksdb.PinnableWideColumns
	err := x.db.GetEntity(cached(), []byte("test_key"), &c)
	if x.fineOrIncomplete(err); err == nil && text(c.Columns()) != text(want) || err != nil && len(c.Columns()) != 0 {
		t.Error(text(c.Columns()))
	}
	c.Reset()
}

func TestDBWideBasicTest_MergeEntityWithBlobColumns(t *testing.T) {
	x := newBlobTest(t, 50, func(o *rocksdb.Options) { o.MergeOperator = rocksdb.NewStringAppendOperator("|") })
	x.putEntity("merge_test", columns("", "hello", "col_large", large(100, "v"), "col_small", "small"))
	x.flush()
	x.compact()
	x.merge("merge_test", "world")
	want := entity{"merge_test", columns("", "hello|world", "col_large", large(100, "v"), "col_small", "small")}
	x.verify(want)
	x.compact()
	x.verify(want)
}

func TestDBWideBasicTest_MergeEntityWithBlobColumnsNoDefault(t *testing.T) {
	x := newBlobTest(t, 50, func(o *rocksdb.Options) { o.MergeOperator = rocksdb.NewStringAppendOperator("|") })
	x.putEntity("merge_no_default", columns("col_large", large(100, "v")))
	x.flush()
	x.compact()
	x.merge("merge_no_default", "merged")
	want := entity{"merge_no_default", columns("", "|merged", "col_large", large(100, "v"))}
	x.verify(want)
	x.compact()
	x.verify(want)
}

func TestDBWideBasicTest_MergeEntityWithBlobColumnsBlockCacheTier(t *testing.T) {
	x := newBlobTest(t, 50, func(o *rocksdb.Options) { o.MergeOperator = rocksdb.NewStringAppendOperator("|") })
	x.putEntity("merge_cache_test", columns("", "hello", "col_large", large(100, "v")))
	x.flush()
	x.compact()
	x.merge("merge_cache_test", "world")
	x.reopen()
	v, err := x.db.Get(cached(), []byte("merge_cache_test"))
	if x.fineOrIncomplete(err); err == nil && string(v.Data()) != "hello|world" {
		t.Errorf("%q", v.Data())
	}
	v.Release()
}

func TestDBWideBasicTest_AllBlobColumnsEntity(t *testing.T) {
	x := newBlobTest(t, 50, nil)
	e := entity{"all_blob_key", columns("", large(100, "a"), "col1", large(200, "b"), "col2", large(300, "c"))}
	x.putEntity(e.key, e.columns)
	x.flush()
	x.compact()
	x.verify(e)
}

func TestDBWideBasicTest_EmptyEntityWithBlobOptions(t *testing.T) {
	x := newBlobTest(t, 50, nil)
	x.putEntity("empty_entity_key", nil)
	x.flush()
	x.compact()
	x.verify(entity{"empty_entity_key", nil})
}

func TestDBWideBasicTest_EntityBlobReverseIteration(t *testing.T) {
	x := newBlobTest(t, 50, nil)
	list := []entity{{"key1", columns("", large(100, "v"), "a", "small")}, {"key2", columns("b", large(100, "v"), "c", "small")}}
	for _, e := range list {
		x.putEntity(e.key, e.columns)
	}
	x.flush()
	x.compact()
	x.verify(list...)
}

// operands are a key's, or the error.
func (x *wideTest) operands(ro *rocksdb.ReadOptions, key string, max int) ([]string, error) {
	slices := make([]rocksdb.PinnableSlice, max)
	n, err := x.db.GetMergeOperands(ro, []byte(key), slices, &rocksdb.GetMergeOperandsOptions{ExpectedMaxNumberOfOperands: max})
	if err != nil {
		return nil, err
	}
	var list []string
	for i := range n {
		list = append(list, string(slices[i].Data()))
		slices[i].Release()
	}
	return list, nil
}

// wantOperands checks that a key has exactly these operands.
func (x *wideTest) wantOperands(key string, want ...string) {
	x.Helper()
	got, err := x.operands(nil, key, len(want))
	if x.must(err); strings.Join(got, ",") != strings.Join(want, ",") {
		x.Errorf("operands of %s: %.300q, not %.300q", key, got, want)
	}
}

func TestDBWideBasicTest_MergeEntity(t *testing.T) {
	x := newWideTest(t, func(o *rocksdb.Options) { o.MergeOperator = rocksdb.NewStringAppendOperator("|") })
	base := func() {
		x.putEntity("first", columns("", "a", "attr_name1", "foo", "attr_name2", "bar"))
		var b rocksdb.WriteBatch
		x.must(b.PutEntityCF(x.cfs[0].Impl(), []byte("second"), columns("attr_one", "two", "attr_three", "four")))
		x.must(x.db.Write(nil, &b))
	}
	operands := func() {
		x.merge("first", "bla1")
		x.merge("second", "bla2")
	}
	verify := func() {
		t.Helper()
		x.verify(entity{"first", columns("", "a|bla1", "attr_name1", "foo", "attr_name2", "bar")},
			entity{"second", columns("", "|bla2", "attr_one", "two", "attr_three", "four")})
	}
	before := func() {
		t.Helper()
		verify()
		x.wantOperands("first", "a", "bla1")
		x.wantOperands("second", "", "bla2")
	}
	base()
	s := x.db.GetSnapshot()
	operands()
	before()
	x.flush()
	before()
	x.must(x.db.ReleaseSnapshot(s))
	x.destroyAndReopen(nil)
	base()
	x.flush()
	operands()
	before()
	x.flush()
	x.compact()
	verify()
	x.wantOperands("first", "a|bla1")
	x.wantOperands("second", "|bla2")
}

// newOperandsTest has an entity whose default column is in a blob file.
func newOperandsTest(t *testing.T) (x *wideTest, value string) {
	t.Helper()
	x = newBlobTest(t, 50, func(o *rocksdb.Options) { o.MergeOperator = rocksdb.NewStringAppendOperator("|") })
	value = large(100, "d")
	x.putEntity("key", columns("", value, "col_large", large(120, "l"), "col_small", "small"))
	x.flush()
	x.compact()
	if x.blobFiles() == 0 {
		t.Error("no blob files")
	}
	return x, value
}

func TestDBWideBasicTest_GetMergeOperandsWithBlobBackedEntityDefaultColumn(t *testing.T) {
	x, value := newOperandsTest(t)
	x.wantOperands("key", value)
	x.merge("key", "suffix")
	x.wantOperands("key", value, "suffix")
}

func TestDBWideBasicTest_GetMergeOperandsWithBlobBackedEntityDefaultColumnReadOnly(t *testing.T) {
	x, value := newOperandsTest(t)
	x.merge("key", "suffix")
	x.flush()
	x.close()
	var err error
	x.db, err = rocksdb.OpenForReadOnly(x.dir, x.o)
	x.must(err)
	v, err := x.db.Get(nil, []byte("key"))
	if x.must(err); string(v.Data()) != value+"|suffix" {
		t.Errorf("%q", v.Data())
	}
	v.Release()
	x.wantOperands("key", value, "suffix")
	// The expected maximum counts here, too.
	if _, err := x.operands(nil, "key", 1); rocksdb.CodeOf(err) != rocksdb.CodeIncomplete {
		t.Error(err)
	}
}

func TestDBWideBasicTest_GetMergeOperandsWithBlobBackedEntityDefaultColumnBlockCacheTier(t *testing.T) {
	x, _ := newOperandsTest(t)
	x.putEntity("merged", columns("", large(100, "e"), "col_large", large(120, "l")))
	x.flush()
	x.compact()
	x.merge("merged", "suffix")
	x.flush()
	x.reopen()
	for key, n := range map[string]int{"key": 1, "merged": 2} {
		if _, err := x.operands(cached(), key, n); rocksdb.CodeOf(err) != rocksdb.CodeIncomplete {
			t.Error(key, err)
		}
	}
}
