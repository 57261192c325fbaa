// Port of db/db_impl/db_impl_write.cc (its perf timers) and of
// WriteThread::AwaitState's. Differs: the context comes with WriteOptions; a
// leader's has what it inserts for its group.

package dbimpl

import (
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/monitoring"
)

// writePhase is what a write is at.
type writePhase uint8

const (
	phaseDone writePhase = iota
	phasePrePost
	phaseScheduling
	phaseDelay
	phaseWAL
	phaseMemtable
)

// writePerf times the phases of one write, one at a time. Without a context it
// does nothing.
type writePerf struct {
	perf  *rocksdb.PerfContext
	clock rocksdb.SystemClock
	timer monitoring.PerfStepTimer
}

func (p *writePerf) init(perf *rocksdb.PerfContext, clock rocksdb.SystemClock) {
	if p.perf == nil && perf == nil {
		return
	}
	*p = writePerf{perf: perf, clock: clock}
}

// enter ends the phase before and begins another one.
func (p *writePerf) enter(phase writePhase) {
	if p.perf != nil {
		p.change(phase)
	}
}

func (p *writePerf) change(phase writePhase) {
	p.timer.Stop()
	c := &p.perf.PerfCounters
	level := rocksdb.EnableTimeExceptForMutex
	var metric *uint64
	switch phase {
	case phaseDone:
		return
	case phasePrePost:
		metric = &c.WritePreAndPostProcessTime
	case phaseScheduling:
		metric = &c.WriteSchedulingFlushesCompactionsTime
	case phaseDelay:
		metric, level = &c.WriteDelayTime, rocksdb.EnableWait
	case phaseWAL:
		metric = &c.WriteWALTime
	case phaseMemtable:
		metric, level = &c.WriteMemtableTime, rocksdb.EnableWait
	}
	if p.perf.Enabled(level) {
		p.timer.Start(metric, p.clock)
	}
}

// waitCounter is where the write thread adds the time that a writer waits, nil
// for nowhere.
func waitCounter(perf *rocksdb.PerfContext) *uint64 {
	if perf.Enabled(rocksdb.EnableWait) {
		return &perf.WriteThreadWaitNanos
	}
	return nil
}
