// Port of db/db_basic_test.cc (MultiGet). Differs: there is one way of calling
// it, the batched one; reading without waiting is not built.

package db_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
	"github.com/rocksdb-go/rocksdb/utilities/merge_operators"
)

// sevenFamilies are those that upstream's tests of many families add.
var sevenFamilies = []string{"pikachu", "ilya", "muromec", "dobrynia", "nikitich", "alyosha", "popovich"}

// keysPerBlock ends data blocks after that many keys.
type keysPerBlock int

func (keysPerBlock) Name() string { return "MyFlushBlockPolicyFactory" }

func (n keysPerBlock) NewFlushBlockPolicy(_ *rocksdb.BlockBasedTableOptions, b rocksdb.DataBlockBuilder) rocksdb.FlushBlockPolicy {
	return &keysPerBlockPolicy{n: int(n), builder: b}
}

type keysPerBlockPolicy struct {
	n, have int
	builder rocksdb.DataBlockBuilder
}

func (p *keysPerBlockPolicy) Update(_, _ []byte) bool {
	if p.builder.Empty() || p.have == p.n {
		full := !p.builder.Empty()
		p.have = 1
		return full
	}
	p.have++
	return false
}

// withOperator sets the options' merge operator.
func (x *dbTest) withOperator(o rocksdb.Options, name string) rocksdb.Options {
	x.Helper()
	op, err := mergeoperators.New(name)
	x.must(err)
	o.MergeOperator = op
	return o
}

// multiGetRaw is multiGet with options of one's own, and the errors.
func (x *dbTest) multiGetRaw(cf int, ro rocksdb.ReadOptions, keys ...string) ([]string, []error) {
	list := make([][]byte, len(keys))
	for i, k := range keys {
		list[i] = []byte(k)
	}
	values, errs := make([]rocksdb.PinnableSlice, len(keys)), make([]error, len(keys))
	x.cf(cf).MultiGet(&ro, list, values, errs)
	return takeValues(values), errs
}

func takeValues(values []rocksdb.PinnableSlice) []string {
	out := make([]string, len(values))
	for i := range values {
		out[i] = string(values[i].Data())
		values[i].Release()
	}
	return out
}

// multiGetCF is multiGet with a family for each key.
func (x *dbTest) multiGetCF(cfs []int, s rocksdb.Snapshot, keys ...string) []string {
	x.Helper()
	ro := rocksdb.DefaultReadOptions()
	ro.Snapshot = s
	families, list := make([]*rocksdb.ColumnFamily, len(cfs)), make([][]byte, len(cfs))
	for i, cf := range cfs {
		families[i], list[i] = x.cf(cf), []byte(keys[i])
	}
	values, errs := make([]rocksdb.PinnableSlice, len(keys)), make([]error, len(keys))
	x.db.MultiGetCF(&ro, families, list, values, errs)
	out := takeValues(values)
	for i, err := range errs {
		if errors.Is(err, rocksdb.ErrNotFound) {
			out[i] = "NOT_FOUND"
		} else if err != nil {
			out[i] = err.Error()
		}
	}
	return out
}

// wantMulti checks values and errors: "NOT_FOUND" and "ABORTED" are errors.
func (x *dbTest) wantMulti(values []string, errs []error, want ...string) {
	x.Helper()
	for i, w := range want {
		ok := errs[i] == nil && values[i] == w
		switch w {
		case "NOT_FOUND":
			ok = errors.Is(errs[i], rocksdb.ErrNotFound)
		case "ABORTED":
			ok = errors.Is(errs[i], rocksdb.ErrAborted)
		}
		if !ok {
			x.Fatalf("key %d: %q %v, not %q", i, values[i], errs[i], w)
		}
	}
}

// perfReadOptions are the default ones with a PerfContext.
func perfReadOptions() (rocksdb.ReadOptions, *rocksdb.PerfContext) {
	ro := rocksdb.DefaultReadOptions()
	ro.PerfContext = &rocksdb.PerfContext{Level: rocksdb.EnableCount}
	return ro, ro.PerfContext
}

func TestDBBasicTest_MultiGetSimple(t *testing.T) {
	x := newDBTest(t)
	for more := true; more; more = x.changeCompactOptions() {
		x.fiveKeys()
		ro, perf := perfReadOptions()
		values, errs := x.multiGetRaw(1, ro, "k1", "k2", "k3", "k4", "k5", "no_key")
		x.wantMulti(values, errs, "v1", "v2", "v3", "NOT_FOUND", "v5", "NOT_FOUND")
		if perf.MultigetReadBytes != 8 {
			t.Fatal(perf.MultigetReadBytes)
		}
	}
}

// fiveKeys writes k1 to k5, without k4, to a new family.
func (x *dbTest) fiveKeys() {
	x.Helper()
	x.createAndReopenWithCF([]string{"pikachu"}, x.currentOptions())
	for i := 1; i <= 5; i++ {
		x.mustPut(1, fmt.Sprintf("k%d", i), fmt.Sprintf("v%d", i))
	}
	x.mustDelete(1, "k4")
	x.mustDelete(1, "no_key")
}

func TestDBBasicTest_MultiGetEmpty(t *testing.T) {
	x := newDBTest(t)
	for more := true; more; more = x.changeCompactOptions() {
		x.createAndReopenWithCF([]string{"pikachu"}, x.currentOptions())
		x.db.MultiGetCF(nil, nil, nil, nil, nil)
		x.cf(1).MultiGet(nil, nil, nil, nil)
		x.destroyAndReopen(x.currentOptions())
		x.createAndReopenWithCF([]string{"pikachu"}, x.currentOptions())
		x.db.MultiGetCF(nil, nil, nil, nil, nil)
		if got := x.multiGetCF([]int{0, 1}, nil, "a", "b"); !slices.Equal(got, []string{"NOT_FOUND", "NOT_FOUND"}) {
			t.Fatal(got)
		}
	}
}

func TestDBMultiGetTestWithParam_MultiGetMultiCFUnsorted(t *testing.T) {
	x := newDBTest(t)
	x.createAndReopenWithCF([]string{"one", "two"}, x.currentOptions())
	x.mustPut(1, "foo", "bar")
	x.mustPut(2, "baz", "xyz")
	x.mustPut(1, "abc", "def")
	// The keys of a family need not be next to each other.
	if got := x.multiGetCF([]int{1, 2, 1}, nil, "foo", "baz", "abc"); !slices.Equal(got, []string{"bar", "xyz", "def"}) {
		t.Fatal(got)
	}
}

func TestDBMultiGetTestWithParam_MultiGetBatchedSimpleUnsorted(t *testing.T) {
	x := newDBTest(t)
	for more := true; more; more = x.changeCompactOptions() {
		x.fiveKeys()
		ro, perf := perfReadOptions()
		values, errs := x.multiGetRaw(1, ro, "no_key", "k5", "k4", "k3", "k2", "k1")
		x.wantMulti(values, errs, "NOT_FOUND", "v5", "NOT_FOUND", "v3", "v2", "v1")
		if perf.MultigetReadBytes != 8 {
			t.Fatal(perf.MultigetReadBytes)
		}
	}
}

func TestDBMultiGetTestWithParam_MultiGetBatchedSortedMultiFile(t *testing.T) {
	eachOptions(t, skipNone, func(x *dbTest) {
		x.createAndReopenWithCF([]string{"pikachu"}, x.currentOptions())
		x.mustPut(1, "k1", "v1")
		x.mustPut(1, "k2", "v2")
		x.flush(1)
		x.mustPut(1, "k3", "v3")
		x.mustPut(1, "k4", "v4")
		x.flush(1)
		x.mustDelete(1, "k4")
		x.mustPut(1, "k5", "v5")
		x.mustDelete(1, "no_key")
		ro, perf := perfReadOptions()
		values, errs := x.multiGetRaw(1, ro, "k1", "k2", "k3", "k4", "k5", "no_key")
		x.wantMulti(values, errs, "v1", "v2", "v3", "NOT_FOUND", "v5", "NOT_FOUND")
		if perf.MultigetReadBytes != 8 {
			t.Fatal(perf.MultigetReadBytes)
		}
	})
}

func TestDBMultiGetTestWithParam_MultiGetBatchedDuplicateKeys(t *testing.T) {
	x := newDBTest(t)
	x.createAndReopenWithCF([]string{"pikachu"}, x.withOperator(x.currentOptions(), "stringappend"))
	for _, pair := range [][4]string{{"k1", "v1", "k2", "v2"}, {"k3", "v3", "k4", "v4"}, {"k4", "v4_2", "k6", "v6"}, {"k7", "v7", "k8", "v8"}} {
		x.mustMerge(1, pair[0], pair[1])
		x.mustMerge(1, pair[2], pair[3])
		x.flush(1)
		x.moveFilesToLevel(2, 1)
	}
	ro, perf := perfReadOptions()
	values, errs := x.multiGetRaw(1, ro, "k8", "k8", "k8", "k4", "k4", "k1", "k3")
	x.wantMulti(values, errs, "v8", "v8", "v8", "v4,v4_2", "v4,v4_2", "v1", "v3")
	if perf.MultigetReadBytes != 24 {
		t.Fatal(perf.MultigetReadBytes)
	}
}

// layered writes n keys to level 2, every third to level 1, every fifth to
// level 0 and every ninth to the memtable, by write.
func (x *dbTest) layered(n int, write func(cf int, key, value string)) {
	x.Helper()
	layer := func(step int, what string, write func(cf int, key, value string)) {
		x.Helper()
		for i, j := 0, 1; i < n; i, j = i+step, j+1 {
			write(0, fmt.Sprintf("key_%d", i), fmt.Sprintf("val_%s_%d", what, i))
			if what != "mem" && j%8 == 0 {
				x.flush(0)
			}
		}
	}
	layer(1, "l2", x.mustPut)
	x.flush(0)
	x.moveFilesToLevel(2, 0)
	layer(3, "l1", write)
	x.flush(0)
	x.moveFilesToLevel(1, 0)
	layer(5, "l0", write)
	x.flush(0)
	layer(9, "mem", write)
}

// layeredKeys names the keys from to end, and what merging wrote to them.
func layeredKeys(from, end int) (keys, merged []string) {
	for i := from; i < end; i++ {
		keys = append(keys, fmt.Sprintf("key_%d", i))
		value := fmt.Sprintf("val_l2_%d", i)
		for _, l := range []struct {
			step int
			what string
		}{{3, "l1"}, {5, "l0"}, {9, "mem"}} {
			if i%l.step == 0 {
				value += fmt.Sprintf(",val_%s_%d", l.what, i)
			}
		}
		merged = append(merged, value)
	}
	return keys, merged
}

func TestDBMultiGetTestWithParam_MultiGetBatchedMultiLevel(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.DisableAutoCompactions = true
	x.reopen(o)
	x.layered(128, x.mustPut)
	keys, merged := layeredKeys(64, 80)
	for i, v := range merged { // the newest counts
		merged[i] = v[strings.LastIndexByte(v, ',')+1:]
	}
	if got := x.multiGet(0, nil, keys...); !slices.Equal(got, merged) {
		t.Fatal(got, merged)
	}
}

func TestDBMultiGetTestWithParam_MultiGetBatchedMultiLevelMerge(t *testing.T) {
	x := newDBTest(t)
	x.reopen(x.mergingWithFilter())
	x.layered(128, x.mustMerge)
	keys, merged := layeredKeys(32, 80)
	if got := x.multiGet(0, nil, keys...); !slices.Equal(got, merged) {
		t.Fatal(got, merged)
	}
}

func (x *dbTest) mergingWithFilter() rocksdb.Options {
	o := x.withOperator(x.currentOptions(), "stringappend")
	o.DisableAutoCompactions = true
	table := rocksdb.DefaultBlockBasedTableOptions()
	table.FilterPolicy = rocksdb.NewBloomFilterPolicy(10)
	o.TableFactory = rocksdb.NewBlockBasedTableFactory(table)
	return o
}

func TestDBMultiGetTestWithParam_MultiGetBatchedValueSizeInMemory(t *testing.T) {
	x := newDBTest(t)
	x.createAndReopenWithCF([]string{"pikachu"}, x.currentOptions())
	var keys []string
	for i := 1; i <= 6; i++ {
		keys = append(keys, fmt.Sprintf("k%d", i))
		x.mustPut(1, keys[i-1], fmt.Sprintf("v_%d", i))
	}
	ro, perf := perfReadOptions()
	ro.ValueSizeSoftLimit = 11
	values, errs := x.multiGetRaw(1, ro, keys...)
	x.wantMulti(values, errs, "v_1", "v_2", "v_3", "v_4", "ABORTED", "ABORTED")
	if perf.MultigetReadBytes != 12 {
		t.Fatal(perf.MultigetReadBytes)
	}
}

func TestDBMultiGetTestWithParam_MultiGetBatchedValueSize(t *testing.T) {
	x := newDBTest(t)
	for more := true; more; more = x.changeCompactOptions() {
		x.createAndReopenWithCF([]string{"pikachu"}, x.currentOptions())
		put := func(pairs ...string) {
			t.Helper()
			for i := 0; i < len(pairs); i += 2 {
				x.mustPut(1, pairs[i], pairs[i+1])
			}
		}
		put("k6", "v6", "k7", "v7_", "k3", "v3_", "k4", "v4")
		x.flush(1)
		x.mustDelete(1, "k4")
		put("k11", "v11")
		x.mustDelete(1, "no_key")
		put("k8", "v8_", "k13", "v13", "k14", "v14", "k15", "v15", "k16", "v16", "k17", "v17")
		x.flush(1)
		put("k1", "v1_", "k2", "v2_", "k5", "v5_", "k9", "v9_", "k10", "v10")
		x.mustDelete(1, "k2")
		x.mustDelete(1, "k6")

		ro, perf := perfReadOptions()
		ro.ValueSizeSoftLimit = 20
		values, errs := x.multiGetRaw(1, ro, "k1", "k10", "k11", "k12", "k13", "k14", "k15", "k16", "k17", "k2", "k3", "k4", "k5",
			"k6", "k7", "k8", "k9", "no_key")
		const no, cut = "NOT_FOUND", "ABORTED"
		// All that the memtable has, then tables' until the limit.
		x.wantMulti(values, errs, "v1_", "v10", "v11", cut, "v13", "v14", cut, cut, cut, no, cut, cut, "v5_", no, cut, cut, "v9_", cut)
		if perf.MultigetReadBytes != 21 {
			t.Fatal(perf.MultigetReadBytes)
		}
	}
}

func TestDBMultiGetTestWithParam_MultiGetBatchedValueSizeMultiLevelMerge(t *testing.T) {
	x := newDBTest(t)
	x.reopen(x.mergingWithFilter())
	x.layered(64, x.mustMerge)
	keys, want := layeredKeys(10, 50)
	ro := rocksdb.DefaultReadOptions()
	ro.ValueSizeSoftLimit = 380
	values, errs := x.multiGetRaw(0, ro, keys...)
	for i := 26; i < len(want); i++ {
		want[i] = "ABORTED"
	}
	x.wantMulti(values, errs, want...)
}

// batchLookup opens a family whose memtable finds sorted keys together.
func batchLookup(t *testing.T, change func(o *rocksdb.Options)) *dbTest {
	x := newDBTest(t)
	o := x.withOperator(x.currentOptions(), "stringappend")
	o.MemtableBatchLookupOptimization = true
	if change != nil {
		change(&o)
	}
	x.createAndReopenWithCF([]string{"pikachu"}, o)
	return x
}

// fill writes what and the number to the keys from to end.
func (x *dbTest) fill(from, end, step int, what string) {
	x.Helper()
	for i := from; i < end; i += step {
		x.mustPut(1, key(i), fmt.Sprint(what, i))
	}
}

// wantKeys looks the numbered keys up together.
func (x *dbTest) wantKeys(s rocksdb.Snapshot, numbers []int, want ...string) {
	x.Helper()
	var keys []string
	for _, n := range numbers {
		keys = append(keys, key(n))
	}
	if got := x.multiGet(1, s, keys...); !slices.Equal(got, want) {
		x.Fatalf("%q, not %q", got, want)
	}
}

func TestDBMultiGetTestWithParam_MultiGetMemtableBatchLookup(t *testing.T) {
	x := batchLookup(t, nil)
	x.fill(0, 100, 1, "val")
	x.mustDelete(1, key(25))
	x.mustDelete(1, key(75))
	x.wantKeys(nil, []int{0, 10, 25, 50, 75, 99, 200}, "val0", "val10", "NOT_FOUND", "val50", "NOT_FOUND", "val99", "NOT_FOUND")
}

func TestDBMultiGetTestWithParam_MultiGetBatchLookupOverwrite(t *testing.T) {
	x := batchLookup(t, nil)
	x.fill(0, 50, 1, "old")
	x.fill(0, 50, 5, "new")
	x.wantKeys(nil, []int{0, 5, 10, 15, 20, 25, 30, 35, 40, 45}, "new0", "new5", "new10", "new15", "new20", "new25", "new30", "new35", "new40", "new45")
}

func TestDBMultiGetTestWithParam_MultiGetBatchLookupWithFlush(t *testing.T) {
	x := batchLookup(t, nil)
	x.fill(0, 50, 1, "sst")
	x.flush(1)
	x.fill(25, 75, 1, "mem")
	x.wantKeys(nil, []int{10, 30, 60, 80}, "sst10", "mem30", "mem60", "NOT_FOUND")
}

func TestDBMultiGetTestWithParam_MultiGetBatchLookupWithMerge(t *testing.T) {
	x := batchLookup(t, nil)
	x.mustPut(1, key(1), "a")
	x.mustPut(1, key(2), "x")
	x.mustMerge(1, key(1), "b")
	x.mustMerge(1, key(1), "c")
	x.mustMerge(1, key(2), "y")
	x.wantKeys(nil, []int{1, 2, 3}, "a,b,c", "x,y", "NOT_FOUND")
}

func TestDBBasicTest_MultiGetBatchLookupDisabledByDefault(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	if o.MemtableBatchLookupOptimization {
		t.Fatal("on by default")
	}
	x.createAndReopenWithCF([]string{"pikachu"}, o)
	x.mustPut(1, key(1), "v1")
	x.mustPut(1, key(2), "v2")
	x.wantKeys(nil, []int{1, 2, 3}, "v1", "v2", "NOT_FOUND")
}

func TestDBMultiGetTestWithParam_MultiGetBatchLookupWithParanoid(t *testing.T) {
	x := batchLookup(t, func(o *rocksdb.Options) { o.ParanoidMemoryChecks = true })
	x.fill(0, 100, 1, "val")
	x.mustDelete(1, key(25))
	x.wantKeys(nil, []int{0, 10, 25, 50, 99, 200}, "val0", "val10", "NOT_FOUND", "val50", "val99", "NOT_FOUND")
}

func TestDBMultiGetTestWithParam_MultiGetBatchLookupSnapshot(t *testing.T) {
	x := batchLookup(t, nil)
	x.fill(1, 3, 1, "old")
	s := x.db.GetSnapshot()
	x.fill(1, 4, 1, "new")
	x.wantKeys(s, []int{1, 2, 3}, "old1", "old2", "NOT_FOUND")
	x.must(x.db.ReleaseSnapshot(s))
	x.wantKeys(nil, []int{1, 2, 3}, "new1", "new2", "new3")
}

// duplicates opens with one key a block and partitioned indexes in the cache.
func (x *dbTest) duplicates() rocksdb.Cache {
	x.Helper()
	o := x.withOperator(x.currentOptions(), "stringappend")
	o.DisableAutoCompactions = true
	table := rocksdb.DefaultBlockBasedTableOptions()
	table.MetadataCacheOptions.TopLevelIndexPinning = rocksdb.PinningTierAll
	table.MetadataCacheOptions.PartitionPinning = rocksdb.PinningTierNone
	table.IndexType = rocksdb.TwoLevelIndexSearch
	table.CacheIndexAndFilterBlocks = true
	table.BlockCache = rocksdb.NewLRUCache(1 << 20)
	table.FlushBlockPolicyFactory = keysPerBlock(1)
	o.TableFactory = rocksdb.NewBlockBasedTableFactory(table)
	x.reopen(o)
	return table.BlockCache
}

// failSecondRead empties the cache and makes the second single read of a file
// fail; reads of several blocks together are not counted.
func (x *dbTest) failSecondRead(c rocksdb.Cache) {
	n := 0
	x.fault.SetErrorInjector(func(op, name string) error {
		if op == "Read" && strings.HasSuffix(name, ".sst") {
			if n++; n == 2 {
				return rocksdb.Corruption("Not active")
			}
		}
		return nil
	})
	x.Cleanup(func() { x.fault.SetErrorInjector(nil) })
	capacity := c.GetCapacity()
	c.SetCapacity(0)
	c.SetCapacity(capacity)
}

func TestDBMultiGetTestWithParam_MultiGetDuplicatesEmptyLevel(t *testing.T) {
	x := newDBTest(t)
	cache := x.duplicates()
	x.mustPut(0, "key_9", "val_l2_9")
	x.flush(0)
	x.moveFilesToLevel(4, 0)
	x.mustPut(0, "key_5", "val_l2_5")
	x.mustMerge(0, "key_9", "val_l2_9")
	s := x.db.GetSnapshot()
	x.mustMerge(0, "key_9", "val_l2_ext_9")
	x.flush(0)
	x.moveFilesToLevel(2, 0) // level 3 stays empty
	x.mustPut(0, "key_2", "val_l2_2")
	x.mustMerge(0, "key_6", "val_l2_6")
	x.flush(0)
	x.moveFilesToLevel(1, 0)
	x.wantFiles(0, "0,1,1,0,1")

	x.failSecondRead(cache)
	got := x.multiGet(0, nil, "key_9", "key_9")
	for _, v := range got {
		if v != "val_l2_9,val_l2_9,val_l2_ext_9" && v != "Corruption: Not active" {
			t.Fatal(got)
		}
	}
	x.must(x.db.ReleaseSnapshot(s))
}

func TestDBMultiGetTestWithParam_MultiGetDuplicatesNonEmptyLevel(t *testing.T) {
	x := newDBTest(t)
	cache := x.duplicates()
	x.mustPut(0, "key_8", "val_l2_8")
	x.flush(0)
	x.moveFilesToLevel(4, 0)
	x.mustPut(0, "key_7", "val_l2_7")
	x.flush(0)
	x.mustPut(0, "key_9", "val_l2_9")
	x.flush(0)
	x.moveFilesToLevel(3, 0)
	x.mustPut(0, "key_5", "val_l2_5")
	x.mustMerge(0, "key_9", "merge1_l2_9")
	s := x.db.GetSnapshot()
	x.mustMerge(0, "key_9", "merge2_l2_9")
	x.flush(0)
	x.moveFilesToLevel(2, 0)
	x.mustPut(0, "key_2", "val_l2_2")
	x.mustMerge(0, "key_6", "val_l2_6")
	x.flush(0)
	x.moveFilesToLevel(1, 0)

	x.failSecondRead(cache)
	got := x.multiGet(0, nil, "key_9", "key_9")
	if !slices.Equal(got, []string{"Corruption: Not active", "val_l2_9,merge1_l2_9,merge2_l2_9"}) {
		t.Fatal(got)
	}
	x.must(x.db.ReleaseSnapshot(s))
}

// A MultiGet of the persisted tier beside an atomic flush sees all families
// before or after it.
func TestDBBasicTest_MultiGetWithSnapshotsAndPersistedTier(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.AtomicFlush = true
	x.destroyAndReopen(o)
	x.createAndReopenWithCF([]string{"cf1", "cf2"}, o)
	put := func(version int) {
		for i := range x.cfs {
			x.mustPut(i, "key1", fmt.Sprintf("value%d_cf%d", version, i))
		}
	}
	put(1)
	x.must(x.db.FlushColumnFamilies(nil, x.cfs))
	for i := range x.cfs {
		if n := x.numTableFilesAtLevel(0, i); n != 1 {
			t.Fatalf("family %d: %d tables", i, n)
		}
	}
	put(2)
	flushed := make(chan error)
	go func() { flushed <- x.db.FlushColumnFamilies(nil, x.cfs) }()
	snapshot := x.db.GetSnapshot()
	ro := rocksdb.DefaultReadOptions()
	ro.Snapshot, ro.ReadTier = snapshot, rocksdb.PersistedTier
	keys := [][]byte{[]byte("key1"), []byte("key1"), []byte("key1")}
	values, errs := make([]rocksdb.PinnableSlice, 3), make([]error, 3)
	x.db.MultiGetCF(&ro, x.cfs, keys, values, errs)
	version := ""
	for i := range values {
		x.must(errs[i])
		got := string(values[i].Data())
		if version == "" {
			version = got[:len("value1")]
		}
		if want := fmt.Sprintf("%s_cf%d", version, i); got != want {
			t.Errorf("family %d: %s, not %s", i, got, want)
		}
		values[i].Release()
	}
	x.must(<-flushed)
	x.must(x.db.ReleaseSnapshot(snapshot))
}

func TestDBBasicTest_MultiGetStats(t *testing.T) {
	x := newDBTest(t)
	o := rocksdb.DefaultOptions()
	o.CreateIfMissing, o.DisableAutoCompactions, o.Env = true, true, x.env
	o.Statistics = rocksdb.NewStatistics()
	table := rocksdb.DefaultBlockBasedTableOptions()
	table.BlockSize = 1
	table.IndexType, table.PartitionFilters = rocksdb.TwoLevelIndexSearch, true
	table.NoBlockCache = true
	table.FilterPolicy = rocksdb.NewBloomFilterPolicy(10)
	o.TableFactory = rocksdb.NewBlockBasedTableFactory(table)
	x.createAndReopenWithCF([]string{"pikachu"}, o)
	rnd := util.NewRandom(309)
	fill := func(from, end, level int) {
		t.Helper()
		for i := from; i < end; i++ {
			x.mustPut(1, fmt.Sprintf("k%d", i), rnd.RandomString(1000))
			if i%100 == 0 {
				x.flush(1)
			}
		}
		x.flush(1)
		x.moveFilesToLevel(level, 1)
	}
	fill(0, 500, 2)
	fill(501, 1000, 2)
	fill(1001, 2000, 1)
	x.reopenWithColumnFamilies([]string{"default", "pikachu"}, o)
	x.must(o.Statistics.Reset())
	get := func(from int) {
		var keys []string
		for i := from; i < from+100; i++ {
			keys = append(keys, fmt.Sprintf("k%d", i))
		}
		x.multiGetRaw(1, rocksdb.DefaultReadOptions(), keys...)
	}
	get(1250)
	levels := o.Statistics.GetHistogramData(rocksdb.HistNumLevelReadPerMultiget)
	meta := o.Statistics.GetHistogramData(rocksdb.HistNumIndexAndFilterBlocksReadPerLevel)
	tables := o.Statistics.GetHistogramData(rocksdb.HistNumSSTReadPerLevel)
	if levels.Max != 1 || levels.Min != 1 || meta.Max == 0 || meta.Min == 0 || tables.Max != 2 || tables.Min != 1 {
		t.Fatal(levels, meta, tables)
	}
	get(950)
	if levels = o.Statistics.GetHistogramData(rocksdb.HistNumLevelReadPerMultiget); levels.Max != 2 {
		t.Fatal(levels)
	}
}

func TestMultiGetPrefixExtractorTest_Batched(t *testing.T) {
	for _, partitioned := range []bool{false, true} {
		x := newDBTest(t)
		o := x.currentOptions()
		o.PrefixExtractor = rocksdb.NewFixedPrefixTransform(2)
		o.MemtablePrefixBloomSizeRatio = 10
		table := rocksdb.DefaultBlockBasedTableOptions()
		if partitioned {
			table.IndexType, table.PartitionFilters = rocksdb.TwoLevelIndexSearch, true
		}
		table.FilterPolicy = rocksdb.NewBloomFilterPolicy(10)
		table.WholeKeyFiltering = false
		o.TableFactory = rocksdb.NewBlockBasedTableFactory(table)
		x.reopen(o)
		keys := []string{"k", "kk1", "kk2", "kk3", "kk4", "rofl", "lmho"}
		want := []string{"v0", "v1", "v2", "v3", "v4", "NOT_FOUND", "NOT_FOUND"}
		for i := range 5 {
			x.mustPut(0, keys[i], want[i])
		}
		// "k" has no prefix, so that its lookup asks no filter.
		ro, perf := perfReadOptions()
		values, errs := x.multiGetRaw(0, ro, keys...)
		x.wantMulti(values, errs, want...)
		if perf.BloomMemtableMissCount != 2 || perf.BloomMemtableHitCount != 4 {
			t.Fatal(partitioned, perf.BloomMemtableMissCount, perf.BloomMemtableHitCount)
		}
		x.flush(0)
		ro, perf = perfReadOptions()
		values, errs = x.multiGetRaw(0, ro, keys...)
		x.wantMulti(values, errs, want...)
		if perf.BloomSSTMissCount != 2 || perf.BloomSSTHitCount != 4 {
			t.Fatal(partitioned, perf.BloomSSTMissCount, perf.BloomSSTHitCount)
		}
		perf.Reset()
		for i, k := range keys {
			if got := x.getPerf(0, k, perf); got != want[i] {
				t.Fatal(k, got)
			}
		}
		if perf.BloomSSTMissCount != 2 || perf.BloomSSTHitCount != 4 {
			t.Fatal(partitioned, perf.BloomSSTMissCount, perf.BloomSSTHitCount)
		}
	}
}

func TestDBMultiGetRowCacheTest_MultiGetBatched(t *testing.T) {
	for _, snapshots := range []bool{true, false} {
		x := newDBTest(t)
		x.config = configRowCache
		o := x.currentOptions()
		o.Statistics = rocksdb.NewStatistics()
		x.destroyAndReopen(o)
		x.createAndReopenWithCF([]string{"pikachu"}, o)
		for i := 1; i <= 4; i++ {
			x.mustPut(1, fmt.Sprintf("k%d", i), fmt.Sprintf("v%d", i))
		}
		x.flush(1)
		x.mustPut(1, "k5", "v5")
		s1 := x.db.GetSnapshot()
		x.mustDelete(1, "k4")
		x.flush(1)
		s2 := x.db.GetSnapshot()

		ro, perf := perfReadOptions()
		if snapshots {
			ro.Snapshot = s2
		}
		values, errs := x.multiGetRaw(1, ro, "no_key", "k5", "k4", "k3", "k1")
		x.wantMulti(values, errs, "NOT_FOUND", "v5", "NOT_FOUND", "v3", "v1")
		if perf.MultigetReadBytes != 6 {
			t.Fatal(perf.MultigetReadBytes)
		}
		// What both calls ask for is in the cache by now.
		ro, perf = perfReadOptions()
		values, errs = x.multiGetRaw(1, ro, "no_key", "k5", "k3", "k2")
		x.wantMulti(values, errs, "NOT_FOUND", "v5", "v3", "v2")
		if perf.MultigetReadBytes != 6 {
			t.Fatal(perf.MultigetReadBytes)
		}
		hits := uint64(2)
		if snapshots { // only tables older than the snapshot gave cached rows
			hits = 1
		}
		if got := o.Statistics.GetTickerCount(rocksdb.RowCacheHit); got != hits {
			t.Fatal(got, hits)
		}
		x.must(x.db.ReleaseSnapshot(s1))
		x.must(x.db.ReleaseSnapshot(s2))
	}
}

func TestDBBasicTest_MultiGetIOBufferOverrun(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	table := rocksdb.DefaultBlockBasedTableOptions()
	table.PinL0FilterAndIndexBlocksInCache = true
	table.BlockSize = 16 << 10
	o.TableFactory = rocksdb.NewBlockBasedTableFactory(table)
	x.reopen(o)
	rnd := util.NewRandom(301)
	var values []string
	for i := range 100 {
		values = append(values, rnd.RandomString(128)+dummyString(128, 0))
		x.mustPut(0, key(i), values[i])
	}
	x.flush(0)
	if got := x.multiGet(0, nil, key(0), key(50)); got[0] != values[0] || got[1] != values[50] {
		t.Fatal(got)
	}
}
