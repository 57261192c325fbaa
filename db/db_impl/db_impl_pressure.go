// Port of db/db_impl/db_impl_compaction_flush.cc (CaptureBackgroundJobPressure,
// NotifyOnBackgroundJobPressureChanged).

package dbimpl

import (
	"cmp"

	"github.com/rocksdb-go/rocksdb/db"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// captureBackgroundJobPressureLocked says how much background work is scheduled
// and running, and how close the nearest family is to a write stall.
func (d *DBImpl) captureBackgroundJobPressureLocked() *rocksdb.BackgroundJobPressure {
	st := &d.st
	p := &rocksdb.BackgroundJobPressure{
		CompactionScheduled:       st.bgCompactScheduled + st.bgBottomScheduled,
		CompactionRunning:         st.numRunningCompacts,
		CompactionLowScheduled:    st.bgCompactScheduled,
		CompactionLowRunning:      max(0, st.numRunningCompacts-st.numRunningBottom),
		CompactionBottomScheduled: st.bgBottomScheduled,
		CompactionBottomRunning:   st.numRunningBottom,
		FlushScheduled:            st.bgFlushScheduled,
		FlushRunning:              st.numRunningFlushes,
		CompactionSpeedupActive:   d.writeCtl.NeedSpeedupCompaction(),
	}
	for _, cfd := range d.families.All() {
		if !cfd.IsDropped() && cfd.Current() != nil {
			p.WriteStallProximityPct = max(p.WriteStallProximityPct, writeStallProximity(cfd))
		}
	}
	return p
}

// writeStallProximity is in percent of the limits at which writes are slowed
// down, or of those at which they stop where there are none.
func writeStallProximity(cfd *db.ColumnFamilyData) int {
	vs, mo := cfd.Current().StorageInfo(), cfd.GetLatestMutableCFOptions()
	percent := 0
	if limit := cmp.Or(mo.Level0SlowdownWritesTrigger, mo.Level0StopWritesTrigger); limit > 0 {
		percent = int(100 * float64(vs.L0DelayTriggerCount()) / float64(limit))
	}
	if limit := cmp.Or(mo.SoftPendingCompactionBytesLimit, mo.HardPendingCompactionBytesLimit); limit > 0 {
		percent = max(percent, int(100*float64(vs.EstimatedCompactionNeededBytes())/float64(limit)))
	}
	return percent
}

// notifyOnBackgroundJobPressureChangedLocked tells listeners after a job; the
// mutex is released meanwhile. Who waits for background work waits for this too.
func (d *DBImpl) notifyOnBackgroundJobPressureChangedLocked() {
	if len(d.immutable.Listeners) == 0 {
		return
	}
	p := d.captureBackgroundJobPressureLocked()
	d.st.pressureCallbacks++
	d.mu.Unlock()
	for _, l := range d.immutable.Listeners {
		l.OnBackgroundJobPressureChanged(d, p)
	}
	d.mu.Lock()
	d.st.pressureCallbacks--
}
