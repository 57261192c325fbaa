// Port of db/db_merge_operator_test.cc.

package db_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/db/dbformat"
	contract "github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
	"github.com/rocksdb-go/rocksdb/utilities"
)

// limitedAppend appends, and stops collecting operands at limit.
type limitedAppend struct {
	contract.MergeOperator
	limit int
}

func (limitedAppend) Name() string { return "DBMergeOperatorTest::LimitedStringAppendMergeOp" }

func (m limitedAppend) ShouldMerge(operands [][]byte) bool { return len(operands) >= m.limit }

func TestDBMergeOperatorTest_LimitMergeOperands(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.MergeOperator = limitedAppend{x.mergeOperator("stringappendtest"), 2}
	x.reopen(o)
	for _, v := range []string{"a", "b", "c", "d"} {
		x.mustMerge(0, "k1", v)
	}
	x.wantGet(0, "k1", "c,d")
	for _, v := range []string{"a", "b", "c", "d"} {
		x.mustMerge(0, "k2", v)
	}
	x.flush(0)
	x.wantGet(0, "k2", "c,d")
	for _, v := range []string{"ab", "bc", "cd"} { // in files of their own
		x.mustMerge(0, "k3", v)
		x.flush(0)
	}
	x.mustMerge(0, "k3", "de")
	x.wantGet(0, "k3", "cd,de")
	x.mustMerge(0, "k3", "fg") // the limit is met in the memtable
	x.wantGet(0, "k3", "de,fg")
	for i, v := range []string{"ab", "bc", "cd"} {
		x.mustMerge(0, "k4", v)
		x.flushTo([]int{4, 3, 1}[i])
	}
	x.mustMerge(0, "k4", "de")
	x.wantGet(0, "k4", "cd,de")
}

// putOrFail is the put operator that fails on operands called corrupted.
// Upstream: TestPutOperator.
type putOrFail struct{ contract.MergeOperator }

func (m putOrFail) FullMergeV2(in *contract.MergeOperationInput, out *contract.MergeOperationOutput) bool {
	list := in.Operands
	if e := in.ExistingValue; e != nil {
		list = append([][]byte{e}, list...)
	}
	for _, v := range list {
		switch string(v) {
		case "corrupted":
			return false
		case "corrupted_try_merge":
			out.OpFailureScope = contract.OpFailureScopeTryMerge
			return false
		case "corrupted_must_merge":
			out.OpFailureScope = contract.OpFailureScopeMustMerge
			return false
		}
	}
	return m.MergeOperator.FullMergeV2(in, out)
}

func (putOrFail) PartialMergeMulti([]byte, [][]byte, []byte, contract.Logger) ([]byte, bool) {
	return nil, false
}

func (x *dbTest) putOrFail(set ...func(o *contract.Options)) {
	x.Helper()
	o := x.currentOptions()
	o.MergeOperator = putOrFail{x.mergeOperator("put")}
	for _, f := range set {
		f(&o)
	}
	x.destroyAndReopen(o)
}

// wantInternal wants the entries of the whole family, as pairs.
func (x *dbTest) wantInternal(pairs ...string) {
	x.Helper()
	it, done := x.full().TestNewInternalIterator(x.cf(0).Impl())
	defer done()
	defer it.Close()
	i := 0
	for it.SeekToFirst(); it.Valid(); it.Next() {
		k, err := dbformat.ParseInternalKey(it.Key(), true)
		x.must(err)
		if i+1 >= len(pairs) || string(k.UserKey) != pairs[i] || string(it.Value()) != pairs[i+1] {
			x.Fatalf("entry %d: %s->%s, want %q", i/2, k.UserKey, it.Value(), pairs)
		}
		i += 2
	}
	x.must(it.Status())
	if i != len(pairs) {
		x.Fatalf("%d of %q", i/2, pairs)
	}
}

func isCorruption(err error) bool { return errors.Is(err, rocksdb.ErrCorruption) }

func TestDBMergeOperatorTest_MergeErrorOnRead(t *testing.T) {
	x := newDBTest(t)
	x.putOrFail()
	x.mustMerge(0, "k1", "v1")
	x.mustMerge(0, "k1", "corrupted")
	if _, err := x.db.Get(nil, []byte("k1")); !isCorruption(err) {
		t.Fatal(err)
	}
	x.wantInternal("k1", "corrupted", "k1", "v1")
}

func TestDBMergeOperatorTest_MergeErrorOnWrite(t *testing.T) {
	x := newDBTest(t)
	x.putOrFail(func(o *contract.Options) { o.MaxSuccessiveMerges = 3 })
	x.mustMerge(0, "k1", "v1")
	x.mustMerge(0, "k1", "v2")
	x.mustMerge(0, "k1", "corrupted") // the merge at the limit fails; the operand goes in
	x.wantInternal("k1", "corrupted", "k1", "v2", "k1", "v1")
}

func TestDBMergeOperatorTest_MergeErrorOnIteration(t *testing.T) {
	x := newDBTest(t)
	x.putOrFail()
	x.mustMerge(0, "k1", "v1")
	x.mustMerge(0, "k1", "corrupted")
	x.mustPut(0, "k2", "v2")
	it := x.iter(0)
	it.Seek([]byte("k1"))
	it.wantError(isCorruption)
	it = x.iter(0)
	it.walk("seek k2", "=k2")
	it.Prev()
	it.wantError(isCorruption)
	x.wantInternal("k1", "corrupted", "k1", "v1", "k2", "v2")

	x.putOrFail()
	x.mustMerge(0, "k1", "v1")
	x.mustPut(0, "k2", "v2")
	x.mustMerge(0, "k2", "corrupted")
	it = x.iter(0)
	it.walk("seek k1", "=k1")
	it.Next()
	it.wantError(isCorruption)
	x.wantInternal("k1", "v1", "k2", "corrupted", "k2", "v2")
}

func TestDBMergeOperatorTest_DataBlockBinaryAndHash(t *testing.T) {
	const keys = 100
	x := newDBTest(t)
	o := blockTable(x.currentOptions(), func(t *contract.BlockBasedTableOptions) {
		t.BlockRestartInterval, t.DataBlockIndexType = 16, contract.DataBlockBinaryAndHash
	})
	o.MergeOperator = putOrFail{x.mergeOperator("put")}
	x.destroyAndReopen(o)
	for i := range keys {
		x.mustMerge(0, key(i), fmt.Sprint(i))
	}
	x.flush(0)
	for i := range keys {
		x.wantGet(0, key(i), fmt.Sprint(i))
	}
	var snapshots []rocksdb.Snapshot
	for i := range keys {
		x.mustDelete(0, key(i))
		for j := range 3 {
			x.mustMerge(0, key(i), fmt.Sprint(i*3+j))
			snapshots = append(snapshots, x.db.GetSnapshot())
		}
	}
	x.flush(0)
	for i := range keys {
		x.wantGet(0, key(i), fmt.Sprint(i*3+2))
	}
	for _, s := range snapshots {
		x.must(x.db.ReleaseSnapshot(s))
	}
}

// wantEverywhere wants the keys and values by Get and by iterators both ways.
func (x *dbTest) wantEverywhere(want map[string]string) {
	x.Helper()
	for k, v := range want {
		x.wantGet(0, k, v)
	}
	for _, tailing := range []bool{false, true} {
		it := x.iter(0, func(ro *contract.ReadOptions) { ro.Tailing, ro.TotalOrderSeek = tailing, true })
		n := 0
		for it.SeekToFirst(); it.Valid(); it.Next() {
			if v, ok := want[string(it.Key())]; !ok || v != string(it.Value()) {
				x.Fatalf("%s->%.40q", it.Key(), it.Value())
			}
			n++
		}
		if n != len(want) || it.Status() != nil {
			x.Fatal(n, it.Status())
		}
		for k, v := range want {
			it.walk("seek "+k, k+"->"+v)
		}
		if !tailing {
			if n := it.count(true); n != len(want) {
				x.Fatal(n)
			}
		}
		x.must(it.Close())
	}
}

func eachCache(t *testing.T, f func(x *dbTest, noCache bool)) {
	for _, off := range []bool{false, true} {
		t.Run(fmt.Sprintf("no_block_cache=%v", off), func(t *testing.T) { f(newDBTest(t), off) })
	}
}

func TestMergeOperatorPinningTest_OperandsMultiBlocks(t *testing.T) {
	eachCache(t, func(x *dbTest, noCache bool) {
		o := blockTable(x.currentOptions(), func(t *contract.BlockBasedTableOptions) { t.BlockSize, t.NoBlockCache = 1, noCache })
		o.MergeOperator = x.mergeOperator("stringappendtest")
		o.Level0SlowdownWritesTrigger, o.Level0StopWritesTrigger = 1<<30, 1<<30
		o.DisableAutoCompactions = true
		x.destroyAndReopen(o)
		r, want := newRandom(), map[string]string{}
		id, fill := 0, 4
		for batch := 1; ; batch++ {
			for range 10 {
				k := key(id % 35)
				id++
				for range 7 {
					v := r.str(100)
					x.mustMerge(0, k, v)
					if want[k] != "" {
						want[k] += ","
					}
					want[k] += v
				}
			}
			if fill == -1 {
				break // the last ones stay in the memtable
			}
			x.flush(0)
			if batch%3 == 0 {
				if fill != 0 {
					x.moveFilesToLevel(fill, 0)
				}
				fill--
			}
		}
		x.wantFiles(0, "3,1,3,1,3")
		x.wantEverywhere(want)
	})
}

// mergeHook calls functions around full merges.
type mergeHook struct {
	contract.MergeOperator
	before, after func()
}

func (m *mergeHook) FullMergeV2(in *contract.MergeOperationInput, out *contract.MergeOperationOutput) bool {
	m.before()
	defer m.after()
	return m.MergeOperator.FullMergeV2(in, out)
}

func (*mergeHook) PartialMergeMulti([]byte, [][]byte, []byte, contract.Logger) ([]byte, bool) {
	return nil, false
}

func TestMergeOperatorPinningTest_EvictCacheBeforeMerge(t *testing.T) {
	eachCache(t, func(x *dbTest, noCache bool) {
		blocks := rocksdb.NewLRUCache(64 << 20)
		hook := &mergeHook{x.mergeOperator("max"), func() {}, func() {}}
		o := blockTable(x.currentOptions(), func(t *contract.BlockBasedTableOptions) {
			if t.NoBlockCache = noCache; !noCache {
				t.BlockCache = blocks
			}
		})
		o.MergeOperator, o.MaxOpenFiles, o.DisableAutoCompactions = hook, 20, true
		o.Level0SlowdownWritesTrigger, o.Level0StopWritesTrigger = 1<<30, 1<<30
		x.destroyAndReopen(o)
		const operands, keys = 30, 100
		r, want := newRandom(), map[string]string{}
		for range operands {
			for j := range keys {
				v := r.str(100)
				x.mustMerge(0, key(j), v)
				want[key(j)] = max(want[key(j)], v)
			}
			x.flush(0)
		}
		if n := x.numTableFilesAtLevel(0, 0); n != operands {
			x.Fatal(n)
		}
		merges := 0
		hook.before = func() {
			for _, f := range x.level(0) {
				x.cf(0).Impl().CFD().TableCache().Evict(f.FD.GetNumber())
			}
			blocks.SetCapacity(1)
			merges++
		}
		hook.after = func() { blocks.SetCapacity(64 << 20) }
		x.wantEverywhere(want)
		if merges < 3*keys {
			x.Fatal(merges)
		}
		hook.before, hook.after = func() {}, func() {}
		x.compact(0, "", "")
		x.wantEverywhere(want)
	})
}

func TestMergeOperatorPinningTest_TailingIterator(t *testing.T) {
	eachCache(t, func(x *dbTest, noCache bool) {
		o := blockTable(x.currentOptions(), func(t *contract.BlockBasedTableOptions) { t.NoBlockCache = noCache })
		o.MergeOperator = x.mergeOperator("max")
		x.destroyAndReopen(o)
		const operands, writes = 100, 4000
		var wg sync.WaitGroup
		failed := make(chan error, 2)
		wg.Go(func() {
			k := 0
			for i := range writes {
				err := x.db.Merge(nil, []byte(key(k)), []byte(key(k)))
				if i > 0 && i%operands == 0 {
					k++
				}
				if i > 0 && i%127 == 0 && err == nil {
					err = x.db.Flush(nil)
				}
				if i > 0 && i%317 == 0 && err == nil {
					err = x.db.CompactRange(nil, nil, nil)
				}
				if err != nil {
					failed <- err
					return
				}
			}
		})
		wg.Go(func() {
			it := x.cf(0).NewIterator(readOptions(func(ro *contract.ReadOptions) { ro.Tailing = true }))
			defer it.Close()
			deadline := time.Now().Add(time.Minute)
			it.SeekToFirst()
			for i := range writes / operands {
				for !it.Valid() {
					if it.Status() != nil || time.Now().After(deadline) {
						failed <- fmt.Errorf("waiting for %d: %w", i, it.Status())
						return
					}
					time.Sleep(100 * time.Microsecond)
					it.Seek([]byte(key(i)))
				}
				if string(it.Key()) != key(i) || string(it.Value()) != key(i) {
					failed <- fmt.Errorf("%s->%s at %d", it.Key(), it.Value(), i)
					return
				}
				it.Next()
			}
		})
		wg.Wait()
		close(failed)
		for err := range failed {
			x.Fatal(err)
		}
	})
}

func TestDBMergeOperatorTest_MergeOperatorFailsWithMustMerge(t *testing.T) {
	const bad, operands = "corrupted_must_merge", 3
	x := newDBTest(t)
	x.putOrFail()
	for i := range operands { // which of the operands fails
		value := func(j int) string {
			if i == j {
				return bad
			}
			return "ok"
		}
		failed := func(err error) bool {
			return isCorruption(err) && contract.AsStatus(err).SubCode == contract.SubCodeMergeOperatorFailed
		}
		check := func() {
			t.Helper()
			x.wantGet(0, "k0", "val")
			if _, err := x.db.Get(nil, []byte("k1")); !failed(err) {
				t.Fatal(err)
			}
			x.wantGet(0, "k2", "val")
			it := x.iter(0)
			it.walk("first", "=k0", "next")
			it.wantError(failed)
			it.walk("last", "=k2", "prev")
			it.wantError(isCorruption)
			it.walk("seek k2", "=k2")
			x.must(it.Close())
			x.wantOperands("k1", value(0), value(1), value(2))
		}
		everywhere := func() {
			t.Helper()
			check()
			x.flush(0)
			check()
			o := contract.DefaultCompactRangeOptions()
			o.BottommostLevelCompaction = contract.BottommostLevelCompactionForceOptimized
			x.must(x.db.CompactRange(&o, nil, nil))
			check()
		}
		x.puts(0, "k0", "val", "k2", "val")
		for j := range operands {
			x.mustMerge(0, "k1", value(j))
		}
		everywhere()
		x.mustPut(0, "k1", value(0))
		for j := 1; j < operands; j++ {
			x.mustMerge(0, "k1", value(j))
		}
		everywhere()
		x.mustDelete(0, "k1")
		for j := range operands {
			x.mustMerge(0, "k1", value(j))
		}
		everywhere()

		for _, k := range []string{"k0", "k1", "k2"} {
			x.mustDelete(0, k)
			x.wantGet(0, k, "NOT_FOUND")
		}
		o := contract.DefaultCompactRangeOptions()
		o.BottommostLevelCompaction = contract.BottommostLevelCompactionForceOptimized
		x.must(x.db.CompactRange(&o, nil, nil))
		x.wantFiles(0, "")
	}
}

func TestDBMergeOperatorTest_MergeOperandThresholdExceeded(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.MergeOperator = x.mergeOperator("put")
	x.reopen(o)
	keys := []string{"foo", "bar", "baz"}
	for _, k := range keys {
		x.mustPut(0, k, k+"0")
	}
	// As many operands as the key's place says, kept apart by snapshots.
	for i := range keys {
		s := x.db.GetSnapshot()
		defer x.db.ReleaseSnapshot(s)
		for _, k := range keys[i:] {
			x.mustMerge(0, k, fmt.Sprint(k, i+1))
		}
	}
	verify := func(threshold *uint64) {
		t.Helper()
		ro := contract.DefaultReadOptions()
		ro.MergeOperandCountThreshold = threshold
		check := func(i int, v *contract.PinnableSlice, err error) {
			t.Helper()
			marked := threshold != nil && uint64(i+1) > *threshold
			if marked != errors.Is(err, rocksdb.ErrMergeOperandThresholdExceeded) || !marked && err != nil {
				t.Fatalf("%s: %v", keys[i], err)
			}
			if string(v.Data()) != fmt.Sprint(keys[i], i+1) {
				t.Fatalf("%s: %q", keys[i], v.Data())
			}
			v.Release()
		}
		list := make([][]byte, len(keys))
		for i, k := range keys {
			list[i] = []byte(k)
			v, err := x.db.Get(&ro, []byte(k))
			check(i, &v, err)
			if !x.db.KeyMayExist(&ro, []byte(k)) {
				t.Fatal(k)
			}
		}
		values, errs := make([]contract.PinnableSlice, len(keys)), make([]error, len(keys))
		x.db.MultiGet(&ro, list, values, errs)
		for i := range keys {
			check(i, &values[i], errs[i])
		}
	}
	for range 2 {
		verify(nil)
		for i := range uint64(5) {
			verify(&i)
		}
		x.flush(0)
	}
}

func TestPerConfigMergeOperatorPinningTest_Randomized(t *testing.T) {
	for _, off := range []bool{false, true} {
		x := newDBTest(t)
		for more := true; more; more = x.changeOptions(skipMergePut) {
			x.randomMerges(off)
		}
	}
}

func (x *dbTest) randomMerges(noCache bool) {
	x.Helper()
	o := blockTable(x.currentOptions(), func(t *contract.BlockBasedTableOptions) { t.NoBlockCache = noCache })
	o.MergeOperator = x.mergeOperator("max")
	x.destroyAndReopen(o)
	const merges = 1000
	const keys = merges / 10
	r, want := util.NewRandom(301), map[string]string{}
	pair := func() (string, string) { return key(int(r.Next() % keys)), r.RandomString(20) }
	puts := func() {
		for range keys / 10 {
			k, v := pair()
			x.mustPut(0, k, v)
			want[k] = v
		}
	}
	puts()
	for range merges {
		k, v := pair()
		x.mustMerge(0, k, v)
		want[k] = max(want[k], v)
	}
	puts()
	for range keys / 10 {
		k := key(int(r.Next() % keys))
		x.mustDelete(0, k)
		delete(want, k)
	}
	x.wantEverywhere(want)
}

// A merge at insertion takes the checksums of protected entries along, and reads
// files only where that is wanted.
func TestMaxSuccessiveMergesProtectedAndStrict(t *testing.T) {
	for _, strict := range []bool{false, true} {
		x := newDBTest(t)
		x.withMergeOperator("stringappend", func(o *contract.Options) {
			o.MaxSuccessiveMerges, o.StrictMaxSuccessiveMerges, o.MemtableProtectionBytesPerKey = 1, strict, 8
			*o = blockTable(*o, func(t *contract.BlockBasedTableOptions) { t.NoBlockCache = true })
		})
		x.puts(0, "k", "base", "flush")
		b, err := rocksdb.NewWriteBatchWithProtection(8)
		x.must(err)
		for _, v := range []string{"1", "2", "3"} {
			x.must(b.Merge([]byte("k"), []byte(v)))
		}
		x.must(x.db.Write(nil, b))
		x.wantGet(0, "k", "base,1,2,3")
		entries := map[bool]string{false: "[ 3, 2, 1, base ]", true: "[ 3, base,1,2, 1, base ]"}[strict]
		x.wantEntries("k", 0, entries)
		b.Clear()
		x.must(b.Put([]byte("n"), []byte("0"))) // in memory
		x.must(b.Merge([]byte("n"), []byte("1")))
		x.must(b.Merge([]byte("n"), []byte("2")))
		x.must(x.db.Write(nil, b))
		x.wantEntries("n", 0, "[ 0,1,2, 1, 0 ]")
		x.flush(0)
		x.wantGet(0, "n", "0,1,2")
		x.wantGet(0, "k", "base,1,2,3")
	}
}

func TestDBMergeOperatorTest_MaxSuccessiveMergesBaseValues(t *testing.T) {
	x := newDBTest(t)
	x.withMergeOperator("put", func(o *contract.Options) { o.MaxSuccessiveMerges = 1 })
	wantTypes := func(key string, want ...dbformat.ValueType) {
		t.Helper()
		var got []dbformat.ValueType
		x.must(utilities.GetAllKeyVersions(x.cf(0).Impl().CFD(), []byte(key), []byte(key), func(v *utilities.KeyVersion) bool {
			got = append(got, v.Type)
			return true
		}))
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: types %v, not %v", key, got, want)
		}
	}
	// The second operand finds one on top of the memtable and becomes a value.
	x.mergeAll("key1", "foo", "bar")
	x.wantGet(0, "key1", "bar")
	wantTypes("key1", dbformat.TypeValue, dbformat.TypeMerge)
	x.mustPut(0, "key2", "foo")
	x.mergeAll("key2", "bar", "baz")
	x.wantGet(0, "key2", "baz")
	wantTypes("key2", dbformat.TypeValue, dbformat.TypeMerge, dbformat.TypeValue)

	x.must(x.db.PutEntity(nil, []byte("key3"), columns("", "foo", "bar", "baz")))
	x.mergeAll("key3", "qux", "corge")
	var c contract.PinnableWideColumns
	x.must(x.db.GetEntity(nil, []byte("key3"), &c))
	if got := columnsString(c.Columns()); got != "(=corge)(bar=baz)" {
		t.Error(got)
	}
	c.Reset()
	wantTypes("key3", dbformat.TypeWideColumnEntity, dbformat.TypeMerge, dbformat.TypeWideColumnEntity)
}
