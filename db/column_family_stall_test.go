// Port of db/column_family_test.cc: write stalls, compactions sped up.

package db_test

import (
	"math"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/db/version"
	"github.com/rocksdb-go/rocksdb/options"
)

// stallTest is a database whose families are given debts.
type stallTest struct {
	*cfTest
	base uint64 // delayed_write_rate, bytes/s
}

func newStallTest(t *testing.T, base uint64, maxCompactions int) *stallTest {
	x := &stallTest{newCFTest(t), base}
	if base > 0 {
		x.dbo.DelayedWriteRate = base
	}
	if maxCompactions > 0 {
		x.dbo.MaxBackgroundCompactions = maxCompactions
	}
	return x
}

// stallOptions are mutable options with these triggers of level 0 and limits of
// pending bytes.
func (x *stallTest) stallOptions(slowdown, stop int, soft, hard uint64) *options.MutableCFOptions {
	mo := options.NewMutableCFOptions(&x.cfo)
	mo.Level0SlowdownWritesTrigger, mo.Level0StopWritesTrigger = slowdown, stop
	mo.SoftPendingCompactionBytesLimit, mo.HardPendingCompactionBytesLimit = soft, hard
	return &mo
}

func (x *stallTest) vs(cf int) *version.StorageInfo {
	return x.cfs[cf].Impl().CFD().Current().StorageInfo()
}

// needed sets the bytes that a family has to compact.
func (x *stallTest) needed(cf int, n uint64) {
	x.full().TestWithMutex(func() { x.vs(cf).TESTSetEstimatedCompactionNeededBytes(n) })
}

func (x *stallTest) recalculate(cf int, mo *options.MutableCFOptions) {
	x.full().TestWithMutex(func() { x.cfs[cf].Impl().CFD().RecalculateWriteStallConditions(mo) })
}

// wantFree checks that writes are neither delayed nor stopped.
func (x *stallTest) wantFree() {
	x.Helper()
	x.want(x.intProperty("rocksdb.is-write-stopped") == 0, "writes are stopped")
	x.want(!x.full().TestWriteController().NeedsDelay(), "writes are delayed")
}

// wantDelayed checks that writes are delayed, to the base rate slowed down that
// many times.
func (x *stallTest) wantDelayed(slowed int) {
	x.Helper()
	x.want(x.intProperty("rocksdb.is-write-stopped") == 0, "writes are stopped")
	x.want(x.full().TestWriteController().NeedsDelay(), "writes are not delayed")
	want := float64(x.base)
	for range slowed {
		want /= 1.25
	}
	got := x.intProperty("rocksdb.actual-delayed-write-rate")
	x.want(float64(got) == want, "delayed to %d bytes/s, not %g", got, want)
}

func (x *stallTest) wantStopped() {
	x.Helper()
	x.want(x.intProperty("rocksdb.is-write-stopped") == 1, "writes are not stopped")
	x.want(!x.full().TestWriteController().NeedsDelay(), "writes are delayed")
}

// wantCompactions checks how many compactions may run.
func (x *stallTest) wantCompactions(want int) {
	x.Helper()
	n := x.full().TestBGCompactionsAllowed()
	x.want(n == want, "%d compactions are allowed, not %d", n, want)
}

func TestColumnFamilyTest_WriteStallSingleColumnFamily(t *testing.T) {
	x := newStallTest(t, 800000, 6)
	x.open()
	mo := x.stallOptions(20, 10000, 200, 2000)
	mo.DisableAutoCompactions = false
	set := func(n uint64) {
		x.needed(0, n)
		x.recalculate(0, mo)
	}
	delayed := func(n uint64, slowed int) {
		t.Helper()
		set(n)
		x.wantDelayed(slowed)
	}
	set(50)
	x.wantFree()
	delayed(201, 0)
	x.wantCompactions(6)
	delayed(400, 1)
	x.wantCompactions(6)
	delayed(500, 2)
	delayed(450, 1)
	delayed(205, 0)
	delayed(202, 0)
	delayed(201, 0)
	set(198)
	x.wantFree()
	delayed(399, 0)
	delayed(599, 1)
	set(2001)
	x.wantStopped()
	x.wantCompactions(6)
	set(3001)
	x.wantStopped()
	delayed(390, 1)
	set(100)
	x.wantFree()

	// Files in level 0.
	files := func(n int) {
		x.full().TestWithMutex(func() { x.vs(0).SetL0DelayTriggerCount(n) })
	}
	files(100)
	x.recalculate(0, mo)
	x.wantDelayed(0)
	x.wantCompactions(6)
	files(101)
	x.recalculate(0, mo)
	x.wantDelayed(1)
	files(0)
	delayed(300, 2)
	files(101)
	x.recalculate(0, mo)
	x.wantDelayed(3)
	delayed(200, 2)
	files(0)
	set(0)
	x.wantFree()

	// Without automatic compactions nothing is held back.
	wc := x.full().TestWriteController()
	mo.DisableAutoCompactions = true
	x.full().TestWithMutex(func() { wc.SetDelayedWriteRate(x.base) })
	x.recalculate(0, mo)
	x.wantFree()
	wantRate := func() {
		t.Helper()
		x.wantFree()
		rate := x.intProperty("rocksdb.actual-delayed-write-rate")
		x.want(rate == 0, "delayed to %d bytes/s", rate)
		x.want(wc.DelayedWriteRate() == x.base, "the rate would be %d", wc.DelayedWriteRate())
	}
	files(50)
	x.recalculate(0, mo)
	wantRate()
	files(60)
	set(300)
	wantRate()

	mo.DisableAutoCompactions = false
	files(70)
	delayed(500, 0)
	files(71)
	delayed(501, 1)
}

func TestColumnFamilyTest_CompactionSpeedupSingleColumnFamily(t *testing.T) {
	x := newStallTest(t, 0, 6)
	x.open()
	mo := x.stallOptions(36, 50, 200, 2000)
	mo.Level0FileNumCompactionTrigger = 4
	set := func(n uint64, want int) {
		t.Helper()
		x.needed(0, n)
		x.recalculate(0, mo)
		x.wantCompactions(want)
	}
	set(40, 1)
	// From a quarter of the soft limit on.
	set(50, 6)
	set(300, 6)
	set(45, 1)

	files := func(n, want int) {
		t.Helper()
		x.full().TestWithMutex(func() { x.vs(0).SetL0DelayTriggerCount(n) })
		x.recalculate(0, mo)
		x.wantCompactions(want)
	}
	// Twice the trigger of compactions is less than a quarter of the way to the
	// slowdown.
	files(7, 1)
	files(9, 6)
	files(6, 1)

	mo.Level0SlowdownWritesTrigger, mo.Level0StopWritesTrigger = 16, 30
	// A quarter of the way is less.
	files(5, 1)
	files(7, 6)
	files(3, 1)
}

func TestColumnFamilyTest_WriteStallTwoColumnFamilies(t *testing.T) {
	x := newStallTest(t, 810000, 0)
	x.open()
	x.create([]string{"one"})
	mo := x.stallOptions(20, 10000, 200, 2000)
	set := func(cf int, n uint64) {
		x.needed(cf, n)
		x.recalculate(cf, mo)
	}
	set(0, 50)
	x.wantFree()
	x.needed(1, 201)
	x.recalculate(0, mo)
	x.wantFree()
	for _, s := range []struct {
		cf     int
		needed uint64
		slowed int
	}{{1, 600, 0}, {0, 70, 0}, {1, 800, 1}, {0, 300, 2}, {1, 700, 1}, {0, 500, 2}, {1, 600, 1}} {
		set(s.cf, s.needed)
		x.wantDelayed(s.slowed)
	}
}

func TestColumnFamilyTest_CompactionSpeedupTwoColumnFamilies(t *testing.T) {
	x := newStallTest(t, 0, 6)
	x.cfo.SoftPendingCompactionBytesLimit, x.cfo.HardPendingCompactionBytesLimit = 200, 2000
	x.open()
	x.create([]string{"one"})
	mo := x.stallOptions(36, 30, 200, 2000)
	mo.Level0FileNumCompactionTrigger = 4
	check := func(cf, want int) {
		t.Helper()
		x.recalculate(cf, mo)
		x.wantCompactions(want)
	}
	x.needed(0, 40)
	check(0, 1)
	x.needed(0, 60)
	check(1, 1)
	check(0, 6)
	x.needed(1, 30)
	check(1, 6)
	x.needed(1, 70)
	check(1, 6)
	x.needed(0, 20)
	check(0, 6)
	x.needed(1, 3)
	check(1, 1)

	files := func(cf, n int) {
		x.full().TestWithMutex(func() { x.vs(cf).SetL0DelayTriggerCount(n) })
	}
	files(0, 9)
	check(0, 6)
	files(1, 2)
	check(1, 6)
	files(0, 0)
	check(0, 1)
}

func TestColumnFamilyTest_CompactionSpeedupForCompactionDebt(t *testing.T) {
	x := newStallTest(t, 0, 6)
	x.open()
	mo := options.NewMutableCFOptions(&x.cfo)
	mo.SoftPendingCompactionBytesLimit = math.MaxUint64
	set := func(n uint64, want int) {
		t.Helper()
		x.needed(0, n)
		x.recalculate(0, &mo)
		x.wantCompactions(want)
	}
	// Nothing in the bottommost level: there is no debt to compare with.
	set(1<<20, 1)
	x.put(0, "foo", "bar")
	x.flush(0)
	// An eighth of the bottommost files is reached, but that is too little to
	// count.
	set(8, 1)
	set(1<<20, 1)
	set(2*mo.MaxBytesForLevelBase, 6)
}

// alwaysCompact marks each table for compaction.
type alwaysCompact struct{}

func (alwaysCompact) Name() string { return "AlwaysCompactTpc" }
func (alwaysCompact) AddUserKey(_, _ []byte, _ rocksdb.EntryType, _ rocksdb.SequenceNumber, _ uint64) error {
	return nil
}
func (alwaysCompact) BlockAdd(_, _, _ uint64)                                       {}
func (alwaysCompact) Finish(rocksdb.UserCollectedProperties) error                  { return nil }
func (alwaysCompact) GetReadableProperties() (none rocksdb.UserCollectedProperties) { return none }
func (alwaysCompact) NeedCompact() bool                                             { return true }

type alwaysCompactFactory struct{}

func (alwaysCompactFactory) Name() string { return "AlwaysCompactTpcf" }
func (alwaysCompactFactory) CreateTablePropertiesCollector(rocksdb.TablePropertiesCollectorFactoryContext) rocksdb.TablePropertiesCollector {
	return alwaysCompact{}
}

func TestColumnFamilyTest_CompactionSpeedupForMarkedFiles(t *testing.T) {
	const limit = 3
	x := newStallTest(t, 0, limit)
	x.cfo.NumLevels = 2
	x.cfo.TablePropertiesCollectorFactories = []rocksdb.TablePropertiesCollectorFactory{alwaysCompactFactory{}}
	x.open()
	x.put(0, "foo", "bar")
	x.flush(0)
	x.waitForCompaction()
	x.wantFiles("0,1", 0)

	// With the pool busy, what is marked waits.
	release := blockPool(x.dbo.Env, rocksdb.LowPriority)
	x.wantCompactions(1)
	x.wantFiles("0,1", 0)
	x.put(0, "foo", "bar")
	x.flush(0)
	x.wantCompactions(1)
	x.wantFiles("1,1", 0)
	x.put(0, "foo", "bar")
	x.flush(0)
	x.wantCompactions(limit)
	x.wantFiles("2,1", 0)
	release()
}
