// Port of db/db_impl/db_impl.cc (the periodic tasks and GetStatsHistory). Differs:
// dump_malloc_stats prints what the Go runtime knows.

package dbimpl

import (
	"runtime"
	"strconv"
	"strings"
	"sync"

	"github.com/rocksdb-go/rocksdb/db"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/logging"
	"github.com/rocksdb-go/rocksdb/monitoring"
	"github.com/rocksdb-go/rocksdb/options"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

const microsInSecond = 1000000

// periodicTasks are what the database does every so often.
type periodicTasks struct {
	mu        sync.Mutex // before DBImpl.mu
	scheduler db.PeriodicTaskScheduler
	stopped   bool // for good; under mu

	history struct {
		sync.Mutex
		last   map[string]uint64            // tickers at the newest snapshot
		times  []uint64                     // seconds since 1970, oldest first
		slices map[uint64]map[string]uint64 // what the tickers grew by
		bytes  uint64                       // about, of slices
	}
}

// startPeriodicTasks is the end of Open.
// Upstream: DBImpl::StartPeriodicTaskScheduler.
func (d *DBImpl) startPeriodicTasks() error {
	p := &d.periodic
	p.scheduler.Clock = d.clock
	syncpoint.ProcessArg("DBImpl::StartPeriodicTaskScheduler:Init", &p.scheduler)
	if err := d.setPeriodsOfStats(); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.scheduler.Register(db.PeriodicTaskFlushInfoLog, d.flushInfoLog, db.FlushInfoLogPeriodSec, true); err != nil {
		return err
	}
	return p.scheduler.Register(db.PeriodicTaskTriggerCompaction, d.triggerPeriodicCompaction, d.triggerCompactionPeriod(), false)
}

// setPeriodsOfStats gives the tasks of the statistics the periods now in force.
func (d *DBImpl) setPeriodsOfStats() error {
	p := &d.periodic
	p.mu.Lock()
	defer p.mu.Unlock()
	if d.shuttingDown.Load() || p.stopped {
		return nil
	}
	set := func(t db.PeriodicTaskType, seconds uint32, f func()) error {
		if seconds == 0 {
			p.scheduler.Unregister(t)
			return nil
		}
		return p.scheduler.Register(t, f, uint64(seconds), true)
	}
	o := d.mutableDBOptions.Load()
	if err := set(db.PeriodicTaskDumpStats, o.StatsDumpPeriodSec, d.DumpStats); err != nil {
		return err
	}
	return set(db.PeriodicTaskPersistStats, o.StatsPersistPeriodSec, d.persistStats)
}

// stopPeriodicTasks waits for one that runs.
// Upstream: DBImpl::CancelPeriodicTaskScheduler.
func (d *DBImpl) stopPeriodicTasks() {
	p := &d.periodic
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stopped = true
	p.scheduler.UnregisterAll()
}

func (d *DBImpl) flushInfoLog() {
	if d.shuttingDown.Load() {
		return
	}
	syncpoint.Process("DBImpl::FlushInfoLog:StartRunning")
	if d.infoLog != nil {
		d.infoLog.Flush()
	}
}

// minTimeBasedCompactionInterval is the least of the ages, in seconds, at which
// files of a family are compacted; 0 when there is none.
// Upstream: GetMinTimeBasedCompactionInterval.
func minTimeBasedCompactionInterval(mo *options.MutableCFOptions) (least uint64) {
	due := []uint64{mo.PeriodicCompactionSeconds, mo.TTL, uint64(mo.BottommostFileCompactionDelay)}
	if ages := mo.CompactionOptionsFIFO.FileTemperatureAgeThresholds; len(ages) > 0 {
		due = append(due, ages[0].Age)
	}
	for _, s := range due {
		if s > 0 && s < ^uint64(0)/2 && (least == 0 || s < least) {
			least = s
		}
	}
	return least
}

// triggerCompactionPeriod is how often, in seconds, families are looked at for
// compactions that time alone makes due.
// Upstream: GetMinTimeBasedCompactionInterval.
func (d *DBImpl) triggerCompactionPeriod() uint64 {
	o := d.mutableDBOptions.Load()
	period := o.MaxCompactionTriggerWakeupSeconds
	for _, s := range []uint32{o.StatsDumpPeriodSec, o.StatsPersistPeriodSec} {
		if s > 0 {
			period = min(period, uint64(s))
		}
	}
	families := d.refFamilies()
	defer d.unrefFamilies(families)
	for _, cfd := range families {
		if s := minTimeBasedCompactionInterval(cfd.GetLatestMutableCFOptions()); s > 0 {
			// A fifth of it late is good enough.
			period = min(period, s/5)
		}
	}
	return max(period, 1)
}

func (d *DBImpl) triggerPeriodicCompaction() {
	syncpoint.Process("DBImpl::TriggerPeriodicCompaction:StartRunning")
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.shuttingDown.Load() {
		return
	}
	for _, cfd := range d.families.All() {
		if cfd.IsDropped() || cfd.GetSuperVersion() == nil {
			continue
		}
		if mo := cfd.GetLatestMutableCFOptions(); minTimeBasedCompactionInterval(mo) == 0 && mo.ReadTriggeredCompactionThreshold <= 0 {
			continue
		}
		syncpoint.ProcessArg("DBImpl::TriggerPeriodicCompaction:BeforeComputeCompactionScore", cfd)
		cfd.Current().StorageInfo().ComputeCompactionScore(cfd.IOptions(), cfd.GetLatestMutableCFOptions(), string(cfd.GetFullHistoryTsLow()))
		d.enqueuePendingCompactionLocked(cfd)
	}
	d.maybeScheduleLocked()
}

// persistStats adds to the history what the tickers grew by.
func (d *DBImpl) persistStats() {
	syncpoint.Process("DBImpl::PersistStats:Entry")
	if d.shuttingDown.Load() {
		return
	}
	syncpoint.Process("DBImpl::PersistStats:StartRunning")
	if d.stats == nil {
		return
	}
	now := d.clock.NowMicros() / microsInSecond
	tickers := d.stats.GetTickerMap()
	if tickers == nil {
		return
	}
	logging.Info(d.infoLog, "------- PERSISTING STATS -------")
	if d.immutable.PersistStatsToDisk {
		d.persistStatsToDisk(now, tickers)
		syncpoint.Process("DBImpl::PersistStats:End")
		return
	}
	h := &d.periodic.history
	h.Lock()
	defer h.Unlock()
	if h.last != nil {
		delta := make(map[string]uint64, len(tickers))
		for name, n := range tickers {
			if before, known := h.last[name]; known {
				delta[name] = n - before
			}
		}
		logging.Info(d.infoLog, "Storing %d stats with timestamp %d to in-memory stats history", len(delta), now)
		if h.slices == nil {
			h.slices = map[uint64]map[string]uint64{}
		}
		if old, again := h.slices[now]; again {
			h.bytes -= sliceBytes(old)
		} else {
			h.times = append(h.times, now)
		}
		h.slices[now] = delta
		h.bytes += sliceBytes(delta)
	}
	h.last = tickers
	syncpoint.Process("DBImpl::PersistStats:StatsCopied")
	for limit := d.mutableDBOptions.Load().StatsHistoryBufferSize; h.bytes > limit && len(h.times) > 0; {
		h.bytes -= sliceBytes(h.slices[h.times[0]])
		delete(h.slices, h.times[0])
		h.times = h.times[1:]
	}
	syncpoint.Process("DBImpl::PersistStats:End")
}

// sliceBytes is about what a snapshot takes.
func sliceBytes(s map[string]uint64) uint64 {
	n := uint64(16)
	for name := range s {
		n += uint64(len(name)) + 24
	}
	return n
}

// FindStatsByTime implements monitoring.StatsSource.
func (d *DBImpl) FindStatsByTime(start, end uint64) (time uint64, stats map[string]uint64, ok bool) {
	h := &d.periodic.history
	h.Lock()
	defer h.Unlock()
	for _, t := range h.times {
		if t >= start && t < end {
			stats = make(map[string]uint64, len(h.slices[t]))
			for name, n := range h.slices[t] {
				stats[name] = n
			}
			return t, stats, true
		}
	}
	return 0, nil, false
}

// GetStatsHistory walks the snapshots of [start, end), in seconds since 1970,
// that stats_persist_period_sec has left in memory; with persist_stats_to_disk
// those of [start, end] in the database. Upstream's text names no difference.
func (d *DBImpl) GetStatsHistory(start, end uint64) rocksdb.StatsHistoryIterator {
	if d.immutable.PersistStatsToDisk {
		return monitoring.NewPersistentStatsHistoryIterator(start, end, d.persistentStatsIterator)
	}
	return monitoring.NewInMemoryStatsHistoryIterator(start, end, d)
}

// TestEstimateInMemoryStatsHistorySize is about what the history takes; upstream:
// TEST_EstimateInMemoryStatsHistorySize.
func (d *DBImpl) TestEstimateInMemoryStatsHistorySize() uint64 {
	h := &d.periodic.history
	h.Lock()
	defer h.Unlock()
	return h.bytes
}

// TestPeriodicTaskScheduler gives the scheduler; upstream:
// TEST_GetPeriodicTaskScheduler.
func (d *DBImpl) TestPeriodicTaskScheduler() *db.PeriodicTaskScheduler { return &d.periodic.scheduler }

// TestWaitForPeriodicTaskRun calls advance, which moves the clock, and waits for
// what is due then; upstream: TEST_WaitForPeriodicTaskRun.
func (d *DBImpl) TestWaitForPeriodicTaskRun(advance func()) {
	d.periodic.scheduler.TestWaitForRun(advance)
}

// dumpMallocStats writes what the Go runtime knows of its memory.
func dumpMallocStats(b *strings.Builder) {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	for _, v := range []struct {
		name string
		n    uint64
	}{{"allocated", m.HeapAlloc}, {"active", m.HeapInuse}, {"idle", m.HeapIdle}, {"released", m.HeapReleased},
		{"stacks", m.StackInuse}, {"mapped", m.Sys}, {"objects", m.HeapObjects}, {"collections", uint64(m.NumGC)}} {
		b.WriteString(v.name + ": " + strconv.FormatUint(v.n, 10) + "\n")
	}
}
