//go:build syncpoint

// Port of db/periodic_task_scheduler_test.cc. Differs: a scheduler counts its own
// tasks.

package db_test

import (
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/db"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

func TestPeriodicTaskSchedulerTest_Basic(t *testing.T) {
	const period = 10
	x := newStatsHistoryTest(t)
	o := x.options(period)
	o.StatsDumpPeriodSec = period
	dump, persist := counted("DBImpl::DumpStats:StartRunning"), counted("DBImpl::PersistStats:StartRunning")
	flush, trigger := counted("DBImpl::FlushInfoLog:StartRunning"), counted("DBImpl::TriggerPeriodicCompaction:StartRunning")
	db.TestSetInitialDelay(4) // upstream's fixture has registered four tasks before
	x.reopen(o)
	opts := x.full().GetDBOptions()
	x.equal("stats_dump_period_sec", uint64(opts.StatsDumpPeriodSec), period)
	x.equal("stats_persist_period_sec", uint64(opts.StatsPersistPeriodSec), period)
	scheduler := x.full().TestPeriodicTaskScheduler()
	ran := func(wantDump, wantPersist, wantFlush int64) {
		t.Helper()
		if d, p, f := dump.Load(), persist.Load(), flush.Load(); d != wantDump || p != wantPersist || f != wantFlush {
			t.Fatalf("%d dumps, %d persisted, %d flushes; want %d, %d, %d", d, p, f, wantDump, wantPersist, wantFlush)
		}
	}
	tasks := func(want int) {
		t.Helper()
		x.equal("tasks", uint64(scheduler.TestGetValidTaskNum()), uint64(want))
	}
	x.pass(period - 1)
	tasks(int(db.NumPeriodicTaskTypes) - 1)
	ran(1, 1, 1)
	x.pass(period)
	ran(2, 2, 2)
	x.pass(period)
	ran(3, 3, 3)

	x.must(x.full().SetDBOptions(map[string]string{"stats_dump_period_sec": "0", "stats_persist_period_sec": "0"}))
	x.pass(period)
	ran(3, 3, 4)
	tasks(2)

	x.set("stats_dump_period_sec", "5")
	tasks(3)
	x.pass(period)
	ran(4, 3, 5)
	// The compaction task keeps the period it was registered with; it runs after
	// one, not at once: at 10, 20, 30 and 40 seconds.
	x.equal("compactions looked for", uint64(trigger.Load()), 4)
	x.pass(period)
	x.equal("compactions looked for", uint64(trigger.Load()), 5)
}

func TestPeriodicTaskSchedulerTest_TriggerCompactionPeriodComputation(t *testing.T) {
	x := newStatsHistoryTest(t)
	var got atomic.Uint64
	syncpoint.SetCallBack("PeriodicTaskScheduler::Register:TaskRegistered", func(arg any) {
		if r := arg.(*db.PeriodicTaskRegistration); r.Type == db.PeriodicTaskTriggerCompaction {
			got.Store(r.Period)
		}
	})
	syncpoint.EnableProcessing()
	const hour = 60 * 60
	for i, c := range []struct {
		want   uint64
		set    func(o *rocksdb.Options)
		second func(o *rocksdb.ColumnFamilyOptions) // of another family
	}{
		{12 * hour, func(*rocksdb.Options) {}, nil}, // the cap
		{hour, func(o *rocksdb.Options) { o.StatsDumpPeriodSec = hour }, nil},
		{1800, func(o *rocksdb.Options) { o.StatsDumpPeriodSec, o.StatsPersistPeriodSec = 0, 1800 }, nil},
		{100, func(o *rocksdb.Options) { o.PeriodicCompactionSeconds = 500 }, nil},
		{120, func(o *rocksdb.Options) { o.TTL = 600 }, nil},
		{50, func(o *rocksdb.Options) { o.BottommostFileCompactionDelay = 250 }, nil},
		{200, func(o *rocksdb.Options) {
			o.CompactionStyle, o.NumLevels = rocksdb.CompactionStyleFIFO, 1
			o.CompactionOptionsFIFO.MaxTableFilesSize = 1 << 30
			o.CompactionOptionsFIFO.FileTemperatureAgeThresholds = []rocksdb.FileTemperatureAge{{Temperature: rocksdb.TemperatureWarm, Age: 1000}}
		}, nil},
		{100, func(o *rocksdb.Options) { o.PeriodicCompactionSeconds = 1000 }, func(o *rocksdb.ColumnFamilyOptions) { o.TTL = 500 }},
		{60, func(o *rocksdb.Options) { o.TTL = 300 }, func(o *rocksdb.ColumnFamilyOptions) { o.PeriodicCompactionSeconds = 1000 }},
		{1, func(o *rocksdb.Options) { o.StatsDumpPeriodSec, o.TTL = 0, 3 }, nil},
		{600, func(o *rocksdb.Options) { o.MaxCompactionTriggerWakeupSeconds = 600 }, nil},
		{300, func(o *rocksdb.Options) { o.StatsDumpPeriodSec, o.MaxCompactionTriggerWakeupSeconds = hour, 300 }, nil},
		{300, func(o *rocksdb.Options) { o.StatsDumpPeriodSec, o.MaxCompactionTriggerWakeupSeconds = 300, hour }, nil},
	} {
		t.Run(fmt.Sprint(i+1), func(t *testing.T) {
			x.T = t
			o := x.options(0)
			o.StatsDumpPeriodSec = 24 * hour
			c.set(&o)
			got.Store(0)
			x.reopen(o)
			if c.second != nil {
				x.createColumnFamilies([]string{"cf2"}, o)
				second := o
				second.ColumnFamilyOptions = rocksdb.DefaultColumnFamilyOptions()
				c.second(&second.ColumnFamilyOptions)
				x.reopenWithColumnFamilies([]string{"default", "cf2"}, o, second)
			}
			x.equal("period", got.Load(), c.want)
			x.destroy(o)
		})
	}
	x.T = t
}

func TestTriggerCompactionTest_QueuesAllTimeBasedOptions(t *testing.T) {
	x := newDBTest(t)
	var mu sync.Mutex
	computed := map[string]bool{}
	syncpoint.SetCallBack("DBImpl::TriggerPeriodicCompaction:BeforeComputeCompactionScore", func(arg any) {
		mu.Lock()
		defer mu.Unlock()
		computed[arg.(*db.ColumnFamilyData).GetName()] = true
	})
	syncpoint.EnableProcessing()
	o := x.defaultOptions()
	o.StatsDumpPeriodSec, o.StatsPersistPeriodSec = 1, 0
	o.PeriodicCompactionSeconds, o.TTL, o.BottommostFileCompactionDelay = 0, 0, 0
	x.destroyAndReopen(o)
	names := []string{"cf_periodic", "cf_ttl", "cf_bottommost", "cf_fifo", "cf_read_triggered", "cf_none"}
	x.createColumnFamilies(names, o)
	with := func(f func(o *rocksdb.Options)) rocksdb.Options {
		c := o
		f(&c)
		return c
	}
	x.reopenWithColumnFamilies(append([]string{"default"}, names...), o,
		with(func(o *rocksdb.Options) { o.PeriodicCompactionSeconds = 100 }),
		with(func(o *rocksdb.Options) { o.TTL = 100 }),
		with(func(o *rocksdb.Options) { o.BottommostFileCompactionDelay = 100 }),
		with(func(o *rocksdb.Options) {
			o.CompactionStyle, o.NumLevels = rocksdb.CompactionStyleFIFO, 1
			o.CompactionOptionsFIFO.MaxTableFilesSize = 1 << 30
			o.CompactionOptionsFIFO.FileTemperatureAgeThresholds = []rocksdb.FileTemperatureAge{{Temperature: rocksdb.TemperatureWarm, Age: 100}}
		}),
		with(func(o *rocksdb.Options) { o.ReadTriggeredCompactionThreshold = 0.001 }), o)
	eventually(t, "scores of all families with such options", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return len(computed) >= 5
	})
	x.full().TestWaitForPeriodicTaskRun(func() { time.Sleep(time.Second) })
	mu.Lock()
	defer mu.Unlock()
	for _, name := range append(names, "default") {
		if want := name != "default" && name != "cf_none"; computed[name] != want {
			t.Errorf("%s: score computed %v, want %v", name, computed[name], want)
		}
	}
}

func TestPeriodicTaskSchedulerTest_MultiInstances(t *testing.T) {
	const period, instances = 5, 10
	x := newStatsHistoryTest(t)
	o := x.options(period)
	o.StatsDumpPeriodSec = period
	dump, persist := counted("DBImpl::DumpStats:2"), counted("DBImpl::PersistStats:StartRunning")
	var dbs []*rocksdb.DB
	for i := range instances {
		d, err := rocksdb.Open(filepath.Join(t.TempDir(), fmt.Sprint(i)), o)
		x.must(err)
		defer func() { _ = d.Close() }()
		dbs = append(dbs, d)
	}
	tasks := 0
	for _, d := range dbs {
		tasks += d.Impl().TestPeriodicTaskScheduler().TestGetValidTaskNum()
	}
	x.equal("tasks", uint64(tasks), instances*(uint64(db.NumPeriodicTaskTypes)-1))
	pass := func(open []*rocksdb.DB, seconds int) {
		x.clock.MockSleepForSeconds(seconds)
		for _, d := range open {
			d.Impl().TestWaitForPeriodicTaskRun(func() {})
		}
	}
	want := int64(0)
	check := func() {
		t.Helper()
		x.equal("dumps", uint64(dump.Load()), uint64(want))
		x.equal("persisted", uint64(persist.Load()), uint64(want))
	}
	for _, s := range []int{period - 1, period, period} {
		pass(dbs, s)
		want += instances
		check()
	}
	const half = instances / 2
	for _, d := range dbs[:half] {
		x.must(d.Close())
	}
	pass(dbs[half:], period)
	pass(dbs[half:], period)
	want += (instances - half) * 2
	check()
	for _, d := range dbs[half:] {
		x.must(d.Close())
	}
}

func TestPeriodicTaskSchedulerTest_MultiEnv(t *testing.T) {
	x := newStatsHistoryTest(t)
	o := x.options(10)
	o.StatsDumpPeriodSec = 5
	x.reopen(o)
	other := x.options(10)
	other.StatsDumpPeriodSec = 5
	_, other.Env = x.mockTime()
	d, err := rocksdb.Open(filepath.Join(t.TempDir(), "multi_env_test"), other)
	x.must(err)
	if n := d.Impl().TestPeriodicTaskScheduler().TestGetValidTaskNum(); n != int(db.NumPeriodicTaskTypes)-1 {
		t.Errorf("%d tasks", n)
	}
	x.must(d.Close())
	x.pass(9)
}
