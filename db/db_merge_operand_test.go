// Port of db/db_merge_operand_test.cc.

package db_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	contract "github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

// operands gives a key's operands, at most max.
func (x *dbTest) operands(key string, max int, more func([]byte) bool) ([]contract.PinnableSlice, int, error) {
	list := make([]contract.PinnableSlice, max)
	n, err := x.db.GetMergeOperands(nil, []byte(key), list, &contract.GetMergeOperandsOptions{ExpectedMaxNumberOfOperands: max, ContinueCB: more})
	return list, n, err
}

func (x *dbTest) wantOperands(key string, want ...string) {
	x.Helper()
	list, n, err := x.operands(key, 4, nil)
	x.must(err)
	if n != len(want) {
		x.Fatalf("%s: %d operands, want %q", key, n, want)
	}
	for i, w := range want {
		if string(list[i].Data()) != w {
			x.Fatalf("%s: operand %d is %q, not %q", key, i, list[i].Data(), w)
		}
		list[i].Release()
	}
}

func (x *dbTest) withMergeOperator(name string, set ...func(o *contract.Options)) {
	x.Helper()
	o := x.currentOptions()
	o.MergeOperator = x.mergeOperator(name)
	for _, f := range set {
		f(&o)
	}
	x.destroyAndReopen(o)
}

func (x *dbTest) mergeAll(key string, operands ...string) {
	x.Helper()
	for _, o := range operands {
		x.mustMerge(0, key, o)
	}
}

func TestDBMergeOperandTest_CacheEvictedMergeOperandReadAfterFreeBug(t *testing.T) {
	x := newDBTest(t)
	x.withMergeOperator("stringappend", func(o *contract.Options) {
		*o = blockTable(*o, func(t *contract.BlockBasedTableOptions) { t.BlockCache = rocksdb.NewLRUCache(1) }) // always full
	})
	for _, v := range []string{"v1", "v2", "v3"} {
		x.mustMerge(0, "k1", v)
		x.flush(0)
	}
	x.mustMerge(0, "k1", "v4")
	x.wantOperands("k1", "v1", "v2", "v3", "v4")
}

func TestDBMergeOperandTest_GetMergeOperandsBasic(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.MergeOperator = limitedAppend{x.mergeOperator("stringappendtest"), 2}
	x.reopen(o)
	x.mustPut(0, "k0", "PutARock")
	x.wantOperands("k0", "PutARock")
	x.puts(0, "k0.1", "RockInSST", "flush")
	x.wantOperands("k0.1", "RockInSST")

	x.mergeAll("k1", "a")
	x.mustPut(0, "k1", "x")
	x.mergeAll("k1", "b", "c", "d")
	x.wantOperands("k1", "x", "b", "c", "d")
	_, n, err := x.operands("k1", 3, nil)
	if !errors.Is(err, rocksdb.ErrIncomplete) || contract.AsStatus(err).SubCode != contract.SubCodeMergeOperandsInsufficientCapacity || n != 4 {
		t.Fatal(n, err)
	}

	x.mergeAll("k1.1", "r")
	x.mustDelete(0, "k1.1")
	x.mergeAll("k1.1", "c", "k", "s")
	x.wantOperands("k1.1", "c", "k", "s")

	// In one table: a flush merges what has a base.
	x.mergeAll("k2", "q", "w", "e", "r")
	x.flush(0)
	x.wantOperands("k2", "q", "w", "e", "r")
	x.mergeAll("k2.1", "m")
	x.mustPut(0, "k2.1", "l")
	x.mergeAll("k2.1", "n", "o")
	x.flush(0)
	x.wantOperands("k2.1", "l,n,o")
	x.mergeAll("k2.2", "g")
	x.mustDelete(0, "k2.2")
	x.mergeAll("k2.2", "o", "t")
	x.flush(0)
	x.wantOperands("k2.2", "o,t")
	x.compact(0, "", "")

	// In tables of their own.
	for _, v := range []string{"ab", "bc", "cd"} {
		x.mustMerge(0, "k3", v)
		x.flush(0)
	}
	x.mustMerge(0, "k3", "de")
	x.wantOperands("k3", "ab", "bc", "cd", "de")
	x.mustMerge(0, "k3.1", "ab")
	x.flush(0)
	x.puts(0, "k3.1", "bc", "flush")
	x.mustMerge(0, "k3.1", "cd")
	x.flush(0)
	x.mustMerge(0, "k3.1", "de")
	x.wantOperands("k3.1", "bc", "cd", "de")
	x.mustMerge(0, "k3.2", "ab")
	x.flush(0)
	x.mustDelete(0, "k3.2")
	x.flush(0)
	x.mustMerge(0, "k3.2", "cd")
	x.flush(0)
	x.mustMerge(0, "k3.2", "de")
	x.wantOperands("k3.2", "cd", "de")

	// On levels of their own.
	for i, v := range []string{"ba", "cb", "dc"} {
		x.mustMerge(0, "k4", v)
		x.flushTo([]int{4, 3, 1}[i])
	}
	x.mustMerge(0, "k4", "ed")
	x.wantOperands("k4", "ba", "cb", "dc", "ed")

	// In a table and an immutable memtable.
	x.mergeAll("k5", "who", "am", "i")
	x.flush(0)
	x.mustPut(0, "k5", "remember")
	x.mergeAll("k5", "i", "am", "rocks")
	x.must(x.full().TestSwitchMemtable(x.cf(0).Impl()))
	x.wantOperands("k5", "remember", "i", "am", "rocks")

	x.mergeAll("k6", "better", "call", "saul")
	x.must(x.tryReadOnlyReopen(o))
	x.wantOperands("k6", "better", "call", "saul")
}

func TestDBMergeOperandTest_BlobDBGetMergeOperandsBasic(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.EnableBlobFiles, o.MinBlobSize = true, 0
	o.MergeOperator = limitedAppend{x.mergeOperator("stringappendtest"), 2}
	x.reopen(o)
	x.mustPut(0, "k1", "x")
	x.mergeAll("k1", "b", "c", "d")
	x.wantOperands("k1", "x", "b", "c", "d")
	if _, n, err := x.operands("k1", 3, nil); !errors.Is(err, rocksdb.ErrIncomplete) || n != 4 {
		t.Fatal(n, err)
	}
	x.mustPut(0, "k2", "q")
	x.mergeAll("k2", "w", "e", "r")
	x.flush(0)
	x.wantOperands("k2", "q,w,e,r")
	x.compact(0, "", "")
	x.puts(0, "k3", "ab", "flush")
	for _, v := range []string{"bc", "cd"} {
		x.mustMerge(0, "k3", v)
		x.flush(0)
	}
	x.mustMerge(0, "k3", "de")
	x.wantOperands("k3", "ab", "bc", "cd", "de")
	x.mustPut(0, "k4", "ba")
	x.flushTo(4)
	for i, v := range []string{"cb", "dc"} {
		x.mustMerge(0, "k4", v)
		x.flushTo([]int{3, 1}[i])
	}
	x.mustMerge(0, "k4", "ed")
	x.wantOperands("k4", "ba", "cb", "dc", "ed")
}

func TestDBMergeOperandTest_GetMergeOperandsLargeResultOptimization(t *testing.T) {
	x := newDBTest(t)
	x.withMergeOperator("stringappend")
	rnd := util.NewRandom(301)
	const n, size = 1024, 1024
	want := make([]string, n)
	for i := range want {
		want[i] = rnd.RandomString(size)
	}
	x.mergeAll("key", want...)
	list, got, err := x.operands("key", n, nil)
	if x.must(err); got != n {
		t.Fatal(got)
	}
	x.flush(0) // the memtable they lie in is replaced
	for i := range list {
		if !list[i].IsPinned() || string(list[i].Data()) != want[i] {
			t.Fatalf("operand %d: pinned %v, %.20q", i, list[i].IsPinned(), list[i].Data())
		}
		list[i].Release()
	}
}

func TestDBMergeOperandTest_GetMergeOperandsShortCircuitInMemtable(t *testing.T) {
	shortCircuit(t, false)
}
func TestDBMergeOperandTest_GetMergeOperandsShortCircuitInSst(t *testing.T) { shortCircuit(t, true) }

func shortCircuit(t *testing.T, flush bool) {
	x := newDBTest(t)
	x.withMergeOperator("stringappend", func(o *contract.Options) { o.DisableAutoCompactions = true })
	rnd := util.NewRandom(301)
	const n, fetch = 10, 5
	var want []string
	for range n {
		want = append(want, rnd.RandomString(7))
		x.mustMerge(0, "key", want[len(want)-1])
		if flush {
			x.flush(0)
		}
	}
	calls := 0
	list, got, err := x.operands("key", n, func(o []byte) bool {
		if string(o) != want[n-1-calls] {
			t.Errorf("call %d: %q", calls, o)
		}
		calls++
		return calls != fetch
	})
	if x.must(err); got != fetch || calls != fetch {
		t.Fatal(got, calls)
	}
	for i := range fetch {
		if string(list[i].Data()) != want[n-fetch+i] {
			t.Fatalf("operand %d is %q", i, list[i].Data())
		}
	}
}

func TestDBMergeOperandTest_GetMergeOperandsShortCircuitBaseValue(t *testing.T) {
	x := newDBTest(t)
	x.withMergeOperator("stringappend")
	x.mustPut(0, "key", "value")
	list, n, err := x.operands("key", 1, func([]byte) bool { t.Error("asked of a base value"); return true })
	if x.must(err); n != 1 || string(list[0].Data()) != "value" {
		t.Fatal(n, list)
	}
}

func TestDBMergeOperandTest_GetMergeOperandsBaseDeletionInImmMem(t *testing.T) {
	x := newDBTest(t)
	x.withMergeOperator("put_v1", func(o *contract.Options) { o.MaxWriteBufferNumber, o.MinWriteBufferNumberToMerge = 10, 10 })
	x.puts(0, "k1", "val", "flush", "k0", "val")
	x.mustDelete(0, "k1")
	x.mustPut(0, "k2", "val")
	x.must(x.full().TestSwitchMemtable(x.cf(0).Impl()))
	x.mustMerge(0, "k1", "val")
	x.wantOperands("k1", "val")
	x.wantGet(0, "k1", "val")
}

func TestDBMergeOperandTest_GetMergeOperandCallbackStopAtImm(t *testing.T) {
	x := newDBTest(t)
	x.withMergeOperator("stringappend", func(o *contract.Options) { o.MaxWriteBufferNumber = 10 })
	x.must(x.db.PauseBackgroundWork())
	x.mustMerge(0, "key", "v1")
	x.must(x.full().TestSwitchMemtable(x.cf(0).Impl()))
	if n := x.intProperty(0, "rocksdb.num-immutable-mem-table"); n != 1 {
		t.Fatal(n)
	}
	x.mustMerge(0, "key", "v2")
	calls := 0
	list, n, err := x.operands("key", 2, func([]byte) bool { calls++; return calls < 2 })
	if x.must(err); n != 2 || calls != 2 || string(list[0].Data()) != "v1" || string(list[1].Data()) != "v2" {
		t.Fatal(n, calls, list)
	}
	x.must(x.db.ContinueBackgroundWork())
}

// Blocks that operands were found in are given back after the lookup.
func TestMergeOperandBlocksAreReleased(t *testing.T) {
	x := newDBTest(t)
	cache := rocksdb.NewLRUCache(8 << 20)
	x.withMergeOperator("stringappend", func(o *contract.Options) {
		*o = blockTable(*o, func(t *contract.BlockBasedTableOptions) { t.BlockCache = cache })
		o.DisableAutoCompactions = true
	})
	for range 3 {
		x.mustMerge(0, "k", strings.Repeat("v", 20000))
		x.flush(0)
	}
	x.get(0, "k")
	before := cache.GetPinnedUsage()
	x.get(0, "k")
	x.multiGet(0, nil, "k", "k2")
	list, n, err := x.operands("k", 3, nil)
	if x.must(err); n != 3 || !list[0].IsPinned() {
		t.Fatal(n, list[0].IsPinned())
	}
	if p := cache.GetPinnedUsage(); p < before+3*20000 {
		t.Errorf("%d bytes pinned with operands out, %d before", p, before)
	}
	cache.EraseUnRefEntries()
	for i := range list {
		if list[i].Size() != 20000 {
			t.Error(list[i].Size())
		}
		list[i].Release()
	}
	if p := cache.GetPinnedUsage(); p != before || p >= 3*20000 {
		t.Errorf("%d bytes pinned, %d before", p, before)
	}
}

// The row cache holds rows of lookups that merge; those of operands pass it by.
func TestMergeOperandsWithRowCache(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.RowCache, o.MergeOperator = rocksdb.NewLRUCache(1<<20), limitedAppend{x.mergeOperator("stringappendtest"), 2}
	x.reopen(o)
	x.mergeAll("k", "a", "b", "c", "d")
	x.flush(0)
	x.wantGet(0, "k", "c,d") // stops at two operands
	x.wantOperands("k", "a", "b", "c", "d")
	if _, n, err := x.operands("k", 4, func([]byte) bool { return false }); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	x.wantOperands("k", "a", "b", "c", "d")
	x.wantGet(0, "k", "c,d")
}
