// Port of db/periodic_task_scheduler.{h,cc} and db/db_impl/db_impl.cc (the tasks
// and GetStatsHistory). Differs: one timer a database; the first dump of the
// statistics comes a period after Open; no task flushes the info log, which is not
// buffered.

package dbimpl

import (
	"runtime"
	"strconv"
	"strings"
	"sync"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/logging"
	"github.com/rocksdb-go/rocksdb/monitoring"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
	"github.com/rocksdb-go/rocksdb/util/timer"
)

const microsInSecond = 1000000

// periodicTasks are what the database does every so often.
type periodicTasks struct {
	mu      sync.Mutex        // before DBImpl.mu
	timer   *timer.Timer      // nil before Open and after Close
	periods map[string]uint64 // seconds, by the tasks' names

	history struct {
		sync.Mutex
		last   map[string]uint64            // tickers at the newest snapshot
		times  []uint64                     // seconds since 1970, oldest first
		slices map[uint64]map[string]uint64 // what the tickers grew by
		bytes  uint64                       // about, of slices
	}
}

// schedulePeriodicTasks starts the tasks, or gives them the periods now in force.
// Upstream: DBImpl::StartPeriodicTaskScheduler.
func (d *DBImpl) schedulePeriodicTasks() {
	p := &d.periodic
	p.mu.Lock()
	defer p.mu.Unlock()
	if d.shuttingDown.Load() {
		return
	}
	if p.timer == nil {
		p.timer = timer.NewTimer(d.clock)
		p.timer.Start()
		p.periods = map[string]uint64{}
	}
	o := d.mutableDBOptions.Load()
	set := func(name string, seconds uint64, immediately bool, f func()) {
		if p.periods[name] == seconds {
			return
		}
		p.timer.Cancel(name)
		if p.periods[name] = seconds; seconds == 0 {
			return
		}
		first := seconds * microsInSecond
		if immediately {
			first = 0
		}
		p.timer.Add(f, name, first, seconds*microsInSecond)
	}
	set("st_dump", uint64(o.StatsDumpPeriodSec), false, d.DumpStats)
	set("pst_st", uint64(o.StatsPersistPeriodSec), true, d.persistStats)
	set("trigger_compaction", d.triggerCompactionPeriod(), false, d.triggerPeriodicCompaction)
}

// stopPeriodicTasks waits for one that runs.
// Upstream: DBImpl::CancelPeriodicTaskScheduler.
func (d *DBImpl) stopPeriodicTasks() {
	p := &d.periodic
	p.mu.Lock()
	t := p.timer
	p.timer = nil
	p.mu.Unlock()
	if t != nil {
		t.Shutdown()
	}
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
		mo := cfd.GetLatestMutableCFOptions()
		due := []uint64{mo.PeriodicCompactionSeconds, mo.TTL, uint64(mo.BottommostFileCompactionDelay)}
		if ages := mo.CompactionOptionsFIFO.FileTemperatureAgeThresholds; len(ages) > 0 {
			due = append(due, ages[0].Age)
		}
		for _, s := range due {
			if s > 0 && s < ^uint64(0)/2 {
				// A fifth of it late is good enough.
				period = min(period, s/5)
			}
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
		cfd.Current().StorageInfo().ComputeCompactionScore(cfd.IOptions(), cfd.GetLatestMutableCFOptions(), string(cfd.GetFullHistoryTsLow()))
		d.enqueuePendingCompactionLocked(cfd)
	}
	d.maybeScheduleLocked()
}

// persistStats adds to the history what the tickers grew by.
func (d *DBImpl) persistStats() {
	syncpoint.Process("DBImpl::PersistStats:Entry")
	if d.shuttingDown.Load() || d.stats == nil {
		return
	}
	syncpoint.Process("DBImpl::PersistStats:StartRunning")
	now := d.clock.NowMicros() / microsInSecond
	tickers := d.stats.GetTickerMap()
	if tickers == nil {
		return
	}
	logging.Info(d.infoLog, "------- PERSISTING STATS -------")
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
// that stats_persist_period_sec has left.
func (d *DBImpl) GetStatsHistory(start, end uint64) rocksdb.StatsHistoryIterator {
	return monitoring.NewInMemoryStatsHistoryIterator(start, end, d)
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
