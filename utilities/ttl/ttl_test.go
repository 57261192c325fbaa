// Port of utilities/ttl/ttl_test.cc.

package ttl

import (
	"errors"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/rocksdb-go/rocksdb/db"
	dbimpl "github.com/rocksdb-go/rocksdb/db/db_impl"
	"github.com/rocksdb-go/rocksdb/db/writebatch"
	"github.com/rocksdb-go/rocksdb/env"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/options"
	blockbased "github.com/rocksdb-go/rocksdb/table/block_based"
	"github.com/rocksdb-go/rocksdb/table/builtin"
	mergeoperators "github.com/rocksdb-go/rocksdb/utilities/merge_operators"
	"github.com/rocksdb-go/rocksdb/utilities/registry"
)

const (
	sampleSize = 100
	newValue   = "new_value"
)

// specialClock tells a time that stands still but for sleep.
type specialClock struct {
	rocksdb.SystemClock
	now atomic.Int64
}

func (c *specialClock) GetCurrentTime() (int64, error) { return c.now.Load(), nil }

// ttlTest is a database under test. Keys sort as they are numbered.
type ttlTest struct {
	*testing.T
	dir   string
	o     rocksdb.Options
	clock *specialClock
	db    *DBWithTTL
}

func newTTLTest(t *testing.T) *ttlTest {
	t.Helper()
	x := &ttlTest{T: t, dir: filepath.Join(t.TempDir(), "db"), o: rocksdb.DefaultOptions()}
	x.clock = &specialClock{SystemClock: env.Default().GetSystemClock()}
	now, err := x.clock.SystemClock.GetCurrentTime()
	x.must(err)
	x.clock.now.Store(now)
	builtin.RegisterDefault()
	b := rocksdb.DefaultBlockBasedTableOptions()
	x.o.TableFactory = blockbased.NewBlockBasedTableFactory(&b)
	x.o.CreateIfMissing = true
	x.o.Env = env.NewCompositeEnvWrapper(env.Default(), env.DefaultFileSystem(), x.clock)
	x.o.MaxCompactionBytes = 1
	t.Cleanup(x.close)
	return x
}

func (x *ttlTest) must(err error) {
	x.Helper()
	if err != nil {
		x.Fatal(err)
	}
}

func (x *ttlTest) sleep(seconds int64) { x.clock.now.Add(seconds) }

func (x *ttlTest) open(ttl int32) { x.Helper(); x.openAs(ttl, false) }

func (x *ttlTest) openAs(ttl int32, readOnly bool) {
	x.Helper()
	var err error
	x.db, err = Open(&x.o, x.dir, ttl, readOnly)
	x.must(err)
}

func (x *ttlTest) close() {
	if x.db != nil {
		x.must(x.db.Close())
		x.db = nil
	}
}

func (x *ttlTest) cf(h *db.ColumnFamilyHandleImpl) rocksdb.ColumnFamilyHandle {
	if h == nil {
		return x.db.DefaultColumnFamily()
	}
	return h
}

func sampleKey(i int) []byte   { return fmt.Appendf(nil, "key%03d", i) }
func sampleValue(i int) string { return fmt.Sprintf("value%03d", i) }
func keyNumber(key []byte) (n int, ok bool) {
	_, err := fmt.Sscanf(string(key), "key%d", &n)
	return n, err == nil
}

func (x *ttlTest) putValues(from, n int, flush bool, h *db.ColumnFamilyHandleImpl) {
	x.Helper()
	for i := from; i < from+n; i++ {
		x.must(x.db.Put(nil, x.cf(h), sampleKey(i), []byte(sampleValue(i))))
	}
	x.must(x.db.Put(nil, x.cf(h), []byte("keymock"), []byte("valuemock")))
	if flush {
		x.must(x.db.Flush(nil, x.cf(h)))
	}
}

// get is a key's value, "" for none.
func (x *ttlTest) get(h *db.ColumnFamilyHandleImpl, i int) string {
	x.Helper()
	var v rocksdb.PinnableSlice
	err := x.db.Get(nil, x.cf(h), sampleKey(i), &v)
	defer v.Release()
	if err != nil && !errors.Is(err, rocksdb.ErrNotFound) {
		x.Fatal(err)
	}
	return string(v.Data())
}

// check makes sure that keys are there, with their values or with changed ones,
// or that they are not.
func (x *ttlTest) check(from, n int, present, changed bool, h *db.ColumnFamilyHandleImpl) {
	x.Helper()
	for i := from; i < from+n; i++ {
		want := ""
		if present {
			want = sampleValue(i)
		}
		if changed {
			want = newValue
		}
		if got := x.get(h, i); got != want {
			x.Fatalf("key %d is %q, not %q", i, got, want)
		}
	}
}

func (x *ttlTest) compact(h *db.ColumnFamilyHandleImpl) error {
	return x.db.CompactRange(nil, x.cf(h), nil, nil)
}

func (x *ttlTest) sleepCompactCheck(seconds int64, from, n int, present bool) {
	x.Helper()
	x.sleep(seconds)
	x.must(x.compact(nil))
	x.check(from, n, present, false, nil)
}

func (x *ttlTest) sleepCompactCheckIter(seconds int64, n int, present bool) {
	x.Helper()
	x.sleep(seconds)
	x.must(x.compact(nil))
	it := x.db.NewIterator(nil, x.cf(nil))
	defer it.Close()
	it.Seek(sampleKey(0))
	if !present {
		if it.Valid() && string(it.Value()) == sampleValue(0) {
			x.Error("a key is there")
		}
	} else {
		for i := range n {
			if !it.Valid() || string(it.Value()) != sampleValue(i) {
				x.Fatalf("key %d", i)
			}
			it.Next()
		}
	}
	x.must(it.Status())
}

func noEffect(t *testing.T) {
	x := newTTLTest(t)
	b1, b2 := sampleSize/3, 2*(sampleSize/3)
	x.open(0)
	x.putValues(0, b1, true, nil)
	x.sleepCompactCheck(1, 0, b1, true)
	x.close()
	x.open(0)
	x.putValues(b1, b2-b1, true, nil)
	x.sleepCompactCheck(1, 0, b2, true)
	x.close()
	x.open(-1)
	x.putValues(b2, sampleSize-b2, true, nil)
	x.sleepCompactCheck(1, 0, sampleSize, true)
}

func TestTtlTest_NoEffect(t *testing.T) { noEffect(t) }

func TestTtlTest_PresentDuringTTL(t *testing.T) {
	x := newTTLTest(t)
	x.open(2)
	x.putValues(0, sampleSize, true, nil)
	x.sleepCompactCheck(1, 0, sampleSize, true)
}

func TestTtlTest_AbsentAfterTTL(t *testing.T) {
	x := newTTLTest(t)
	x.open(1)
	x.putValues(0, sampleSize, true, nil)
	x.sleepCompactCheck(2, 0, sampleSize, false)
}

func TestTtlTest_ResetTimestamp(t *testing.T) {
	x := newTTLTest(t)
	x.open(3)
	x.putValues(0, sampleSize, true, nil)
	x.sleep(2)
	x.putValues(0, sampleSize, true, nil)
	x.sleepCompactCheck(2, 0, sampleSize, true)
}

func TestTtlTest_IterPresentDuringTTL(t *testing.T) {
	x := newTTLTest(t)
	x.open(2)
	x.putValues(0, sampleSize, true, nil)
	x.sleepCompactCheckIter(1, sampleSize, true)
}

func TestTtlTest_IterAbsentAfterTTL(t *testing.T) {
	x := newTTLTest(t)
	x.open(1)
	x.putValues(0, sampleSize, true, nil)
	x.sleepCompactCheckIter(2, sampleSize, false)
}

func reopened(t *testing.T, first, second int32, seconds int64, present bool) {
	t.Helper()
	x := newTTLTest(t)
	x.open(first)
	x.putValues(0, sampleSize, true, nil)
	x.close()
	x.open(second)
	x.sleepCompactCheck(seconds, 0, sampleSize, present)
}

func TestTtlTest_MultiOpenSamePresent(t *testing.T) { reopened(t, 2, 2, 1, true) }

func TestTtlTest_MultiOpenSameAbsent(t *testing.T) { reopened(t, 1, 1, 2, false) }

func TestTtlTest_MultiOpenDifferent(t *testing.T) { reopened(t, 1, 3, 2, true) }

func TestTtlTest_ReadOnlyPresentForever(t *testing.T) {
	x := newTTLTest(t)
	x.open(1)
	x.putValues(0, sampleSize, true, nil)
	x.close()
	x.openAs(1, true)
	x.sleep(2)
	if err := x.compact(nil); !rocksdb.IsNotSupported(err) {
		t.Error(err)
	}
	x.check(0, sampleSize, true, false, nil)
}

func TestTtlTest_WriteBatchTest(t *testing.T) {
	x := newTTLTest(t)
	x.open(2)
	write := func(n int, add func(b *writebatch.WriteBatch, i int) error) {
		t.Helper()
		b := writebatch.New()
		for i := range n {
			x.must(add(b, i))
		}
		x.must(x.db.Write(nil, b))
		x.must(x.db.Flush(nil, x.cf(nil)))
	}
	write(sampleSize, func(b *writebatch.WriteBatch, i int) error { return b.Put(sampleKey(i), []byte(sampleValue(i))) })
	write(sampleSize/2, func(b *writebatch.WriteBatch, i int) error { return b.Delete(sampleKey(i)) })
	x.sleepCompactCheck(0, 0, sampleSize/2, false)
	x.sleepCompactCheck(0, sampleSize/2, sampleSize-sampleSize/2, true)
}

// thirds drops the first third of the keys, keeps the second and changes the
// last.
type thirds struct{}

func (thirds) Name() string          { return "TestFilter" }
func (thirds) IgnoreSnapshots() bool { return true }
func (thirds) FilterV3(_ int, key []byte, _ rocksdb.CompactionFilterValueType, _ []byte) (rocksdb.CompactionFilterDecision, []byte, []byte) {
	n, ok := keyNumber(key)
	switch third := sampleSize / 3; {
	case !ok:
		return rocksdb.FilterKeep, nil, nil
	case n < third:
		return rocksdb.FilterRemove, nil, nil
	case n < 2*third:
		return rocksdb.FilterKeep, nil, nil
	}
	return rocksdb.FilterChangeValue, []byte(newValue), nil
}

type thirdsFactory struct{}

func (thirdsFactory) Name() string { return "TestFilterFactory" }
func (thirdsFactory) ShouldFilterTableFileCreation(rocksdb.TableFileCreationReason) bool {
	return false
}
func (thirdsFactory) CreateCompactionFilter(*rocksdb.CompactionFilterContext) rocksdb.CompactionFilter {
	return thirds{}
}

func TestTtlTest_CompactionFilter(t *testing.T) {
	x := newTTLTest(t)
	x.o.CompactionFilterFactory = thirdsFactory{}
	x.open(1)
	x.putValues(0, sampleSize, true, nil)
	x.sleepCompactCheck(2, 0, sampleSize, false)
	x.close()
	x.open(3)
	x.putValues(0, sampleSize, true, nil)
	third := sampleSize / 3
	x.sleepCompactCheck(1, 0, third, false)
	x.sleepCompactCheck(0, third, third, true)
	x.check(2*third, third, true, true, nil)
}

type unregistered struct{ rocksdb.MergeOperatorBase }

func (unregistered) Name() string { return "UnregisteredMergeOperator" }
func (unregistered) FullMergeV2(*rocksdb.MergeOperationInput, *rocksdb.MergeOperationOutput) bool {
	return false
}

func TestTtlTest_UnregisteredMergeOperator(t *testing.T) {
	x := newTTLTest(t)
	x.o.MergeOperator = unregistered{}
	x.open(0)
}

func TestTtlTest_KeyMayExist(t *testing.T) {
	x := newTTLTest(t)
	x.open(0)
	x.putValues(0, sampleSize, false, nil)
	for i := range sampleSize {
		var v rocksdb.PinnableSlice
		may, found := x.db.KeyMayExist(nil, x.cf(nil), sampleKey(i), &v)
		if !may || !found || string(v.Data()) != sampleValue(i) {
			t.Fatalf("key %d: %t, %t, %q", i, may, found, v.Data())
		}
		v.Release()
	}
}

func TestTtlTest_MultiGetTest(t *testing.T) {
	x := newTTLTest(t)
	x.open(0)
	x.putValues(0, sampleSize, false, nil)
	keys := make([][]byte, sampleSize)
	for i := range keys {
		keys[i] = sampleKey(i)
	}
	values, errs := make([]rocksdb.PinnableSlice, sampleSize), make([]error, sampleSize)
	x.db.MultiGet(nil, x.cf(nil), keys, values, errs)
	for i := range keys {
		if errs[i] != nil || string(values[i].Data()) != sampleValue(i) {
			t.Fatalf("key %d: %q, %v", i, values[i].Data(), errs[i])
		}
		values[i].Release()
	}
}

func TestTtlTest_TtlFiftenYears(t *testing.T) {
	x := newTTLTest(t)
	x.open(86400 * 365 * 15) // its end is beyond 32 bits
	x.putValues(0, sampleSize, true, nil)
	x.sleepCompactCheck(1, 0, sampleSize, true)
}

func TestTtlTest_ColumnFamiliesTest(t *testing.T) {
	x := newTTLTest(t)
	const name = "ttl_column_family"
	plain, handles, err := dbimpl.Open(&x.o.DBOptions, x.dir, []rocksdb.ColumnFamilyDescriptor{{Name: rocksdb.DefaultColumnFamilyName, Options: x.o.ColumnFamilyOptions}})
	x.must(err)
	h, err := plain.CreateColumnFamily(&x.o.ColumnFamilyOptions, name)
	x.must(err)
	for _, h := range append(handles, h) {
		x.must(plain.DestroyColumnFamilyHandle(h))
	}
	x.must(plain.Close())
	families := []rocksdb.ColumnFamilyDescriptor{{Name: rocksdb.DefaultColumnFamilyName, Options: x.o.ColumnFamilyOptions}, {Name: name, Options: x.o.ColumnFamilyOptions}}
	if _, _, err := OpenColumnFamilies(&x.o.DBOptions, x.dir, families, []int32{3}, false); err == nil {
		t.Error("a family without a ttl")
	}
	x.db, handles, err = OpenColumnFamilies(&x.o.DBOptions, x.dir, families, []int32{3, 5}, false)
	x.must(err)
	h, err = x.db.CreateColumnFamilyWithTTL(&x.o.ColumnFamilyOptions, "ttl_column_family_2", 2)
	x.must(err)
	handles = append(handles, h)
	for _, h := range handles {
		x.putValues(0, sampleSize, false, h)
	}
	check := func(seconds int64, present ...bool) {
		t.Helper()
		x.sleep(seconds)
		for i, h := range handles {
			x.must(x.compact(h))
			x.check(0, sampleSize, present[i], false, h)
		}
	}
	check(1, true, true, true)
	check(3, false, true, false)
	check(2, false, false, false)
	for _, h := range handles {
		x.must(x.db.Base().DestroyColumnFamilyHandle(h))
	}
}

func TestTtlTest_ChangeTtlOnOpenDb(t *testing.T) {
	x := newTTLTest(t)
	x.open(1)
	x.db.SetTTL(x.cf(nil), 3)
	if ttl, err := x.db.GetTTL(x.cf(nil)); err != nil || ttl != 3 {
		t.Error(ttl, err)
	}
	x.putValues(0, sampleSize, true, nil)
	x.sleepCompactCheck(2, 0, sampleSize, true)
}

func TestTtlTest_DeleteRangeTest(t *testing.T) {
	x := newTTLTest(t)
	x.open(0)
	put := func(key string) { x.must(x.db.Put(nil, x.cf(nil), []byte(key), []byte("val"))) }
	deleteRange := func(begin, end string) {
		b := writebatch.New()
		x.must(b.DeleteRangeCF(x.cf(nil), []byte(begin), []byte(end)))
		x.must(x.db.Write(nil, b))
	}
	put("a")
	deleteRange("a", "b")
	put("c")
	deleteRange("b", "d")
	put("e")
	deleteRange("d", "e")
	for i := range 2 { // in the memtable, then in a table
		if i > 0 {
			x.must(x.db.Flush(nil, x.cf(nil)))
		}
		for k, want := range map[string]bool{"a": false, "c": false, "e": true} {
			var v rocksdb.PinnableSlice
			err := x.db.Get(nil, x.cf(nil), []byte(k), &v)
			if (err == nil) != want || err != nil && !errors.Is(err, rocksdb.ErrNotFound) {
				t.Errorf("%s: %q, %v", k, v.Data(), err)
			}
			v.Release()
		}
	}
}

// TestTTLMerge: operands and results have times, users do not see them.
func TestTTLMerge(t *testing.T) {
	x := newTTLTest(t)
	x.o.MergeOperator = mergeoperators.NewStringAppendOperator(",")
	x.open(3)
	x.must(x.db.Put(nil, x.cf(nil), sampleKey(1), []byte("a")))
	x.must(x.db.Merge(nil, x.cf(nil), sampleKey(1), []byte("b")))
	x.must(x.db.Merge(nil, x.cf(nil), sampleKey(2), []byte("c")))
	for range 2 {
		if a, b := x.get(nil, 1), x.get(nil, 2); a != "a,b" || b != "c" {
			t.Errorf("%q, %q", a, b)
		}
		x.must(x.db.Flush(nil, x.cf(nil)))
		x.must(x.compact(nil))
	}
	it := x.db.NewIterator(nil, x.cf(nil))
	it.SeekToFirst()
	if ts := it.TTLTimestamp(); int64(ts) != x.clock.now.Load() {
		t.Error(ts)
	}
	it.Close()
	x.sleep(4)
	x.must(x.compact(nil))
	if a := x.get(nil, 1); a != "" {
		t.Errorf("%q", a)
	}
	// A value that has no time is damage, not a crash.
	x.must(x.db.Base().Put(nil, x.cf(nil), []byte("k"), []byte("abc")))
	var v rocksdb.PinnableSlice
	if err := x.db.Get(nil, x.cf(nil), []byte("k"), &v); !rocksdb.IsCorruption(err) {
		t.Error(err)
	}
}

// dummyFilter keeps everything.
type dummyFilter struct{}

func (*dummyFilter) Name() string          { return "DummyFilter" }
func (*dummyFilter) IgnoreSnapshots() bool { return true }
func (*dummyFilter) FilterV3(int, []byte, rocksdb.CompactionFilterValueType, []byte) (rocksdb.CompactionFilterDecision, []byte, []byte) {
	return rocksdb.FilterKeep, nil, nil
}

type dummyFilterFactory struct{ thirdsFactory }

func (*dummyFilterFactory) Name() string { return "DummyFilterFactory" }
func (*dummyFilterFactory) CreateCompactionFilter(*rocksdb.CompactionFilterContext) rocksdb.CompactionFilter {
	return &dummyFilter{}
}

// ttlConfig has a registry with the objects of the tests below.
func ttlConfig() *rocksdb.ConfigOptions {
	r := registry.NewInstance()
	l := r.AddNewLibrary("RegisterTtlObjects")
	Register(l)
	mergeoperators.Register(l)
	l.AddFactory(registry.KindCompactionFilter, "DummyFilter", func(*rocksdb.ConfigOptions, string) (any, error) { return &dummyFilter{}, nil })
	l.AddFactory(registry.KindCompactionFilterFactory, "DummyFilterFactory", func(*rocksdb.ConfigOptions, string) (any, error) { return &dummyFilterFactory{}, nil })
	cfg := rocksdb.DefaultConfigOptions()
	cfg.Registry = r
	return &cfg
}

func create[T any](t *testing.T, cfg *rocksdb.ConfigOptions, kind, text string) T {
	t.Helper()
	v, err := options.CreateFromString[T](cfg, kind, text)
	if err != nil || any(v) == nil {
		t.Fatal(text, v, err)
	}
	return v
}

// sameAgain writes an object and reads it back.
func sameAgain[T any](t *testing.T, cfg *rocksdb.ConfigOptions, kind string, v T) {
	t.Helper()
	text, err := options.ObjectToString(cfg, v)
	if err != nil {
		t.Fatal(err)
	}
	if same, what := options.ObjectsAreEquivalent(cfg, v, create[T](t, cfg, kind, text)); !same {
		t.Errorf("%s comes back with another %s", text, what)
	}
}

func valid(v any) error {
	d, c := rocksdb.DefaultDBOptions(), rocksdb.DefaultColumnFamilyOptions()
	return v.(rocksdb.OptionsValidator).ValidateOptions(&d, &c)
}

func TestTtlOptionsTest_LoadTtlCompactionFilter(t *testing.T) {
	cfg := ttlConfig()
	for text, ttl := range map[string]int32{CompactionFilterName: 0, "id=TtlCompactionFilter; ttl=123": 123,
		"id=TtlCompactionFilter; ttl=456; user_filter=DummyFilter;": 456} {
		f, ok := create[rocksdb.CompactionFilter](t, cfg, registry.KindCompactionFilter, text).(*CompactionFilter)
		if !ok || f.Name() != CompactionFilterName || int32(f.ttl) != ttl {
			t.Fatalf("%s: %+v", text, f)
		}
		if err := valid(f); err != nil {
			t.Error(err)
		}
		if _, inner := f.User.(*dummyFilter); inner != (ttl == 456) {
			t.Errorf("%s: user's filter %v", text, f.User)
		}
		sameAgain[rocksdb.CompactionFilter](t, cfg, registry.KindCompactionFilter, f)
	}
}

func TestTtlOptionsTest_LoadTtlCompactionFilterFactory(t *testing.T) {
	cfg := ttlConfig()
	for text, ttl := range map[string]int32{CompactionFilterFactoryName: 0, "id=TtlCompactionFilterFactory; ttl=123": 123,
		"id=TtlCompactionFilterFactory; ttl=456; user_filter_factory=DummyFilterFactory;": 456} {
		f, ok := create[rocksdb.CompactionFilterFactory](t, cfg, registry.KindCompactionFilterFactory, text).(*CompactionFilterFactory)
		if !ok || f.Name() != CompactionFilterFactoryName || f.GetTTL() != ttl {
			t.Fatalf("%s: %+v", text, f)
		}
		if err := valid(f); err != nil {
			t.Error(err)
		}
		filter, ok := f.CreateCompactionFilter(&rocksdb.CompactionFilterContext{}).(*CompactionFilter)
		if !ok || int32(filter.ttl) != ttl {
			t.Fatalf("%s: %v", text, filter)
		}
		if _, inner := filter.User.(*dummyFilter); inner != (ttl == 456) {
			t.Errorf("%s: user's filter %v", text, filter.User)
		}
		sameAgain[rocksdb.CompactionFilterFactory](t, cfg, registry.KindCompactionFilterFactory, f)
	}
}

func TestTtlOptionsTest_LoadTtlMergeOperator(t *testing.T) {
	cfg := ttlConfig()
	cfg.InvokePrepareOptions = false
	m := create[rocksdb.MergeOperator](t, cfg, registry.KindMergeOperator, MergeOperatorName)
	if m.Name() != MergeOperatorName || valid(m) == nil {
		t.Error(m.Name(), "without a user's operator")
	}
	cfg.InvokePrepareOptions = true
	m = create[rocksdb.MergeOperator](t, cfg, registry.KindMergeOperator, "id=TtlMergeOperator; user_operator=bytesxor")
	if err := valid(m); err != nil || m.Name() != MergeOperatorName {
		t.Error(m.Name(), err)
	}
	if _, ok := m.(*MergeOperator).user.(mergeoperators.BytesXOROperator); !ok {
		t.Errorf("%T", m.(*MergeOperator).user)
	}
	sameAgain[rocksdb.MergeOperator](t, cfg, registry.KindMergeOperator, m)
	m = create[rocksdb.MergeOperator](t, cfg, registry.KindMergeOperator, "id=TtlMergeOperator; user_operator=unknown")
	if m.Name() != MergeOperatorName || valid(m) == nil {
		t.Error("an operator that nobody knows")
	}
}
