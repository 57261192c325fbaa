// Port of db/db_impl/db_impl.cc (the times of sequence numbers). Differs: a family
// holds the mapping that its next SuperVersions get.

package dbimpl

import (
	"github.com/rocksdb-go/rocksdb/db"
	"github.com/rocksdb-go/rocksdb/db/seqnotime"
	"github.com/rocksdb-go/rocksdb/db/version"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

// preserveSecondsOf are the spans that a family's options ask for.
func preserveSecondsOf(cfd *db.ColumnFamilyData) seqnotime.MinAndMaxPreserveSeconds {
	s := seqnotime.NewMinAndMaxPreserveSeconds()
	addPreserveSeconds(&s, cfd)
	return s
}

func addPreserveSeconds(s *seqnotime.MinAndMaxPreserveSeconds, cfd *db.ColumnFamilyData) {
	mo := cfd.GetLatestMutableCFOptions()
	s.Combine(mo.PreserveInternalTimeSeconds, mo.PrecludeLastLevelDataSeconds)
}

// tracksTimes tells whether a family's options ask for the times of its sequence
// numbers.
func tracksTimes(cfd *db.ColumnFamilyData) bool {
	span := preserveSecondsOf(cfd)
	return span.IsEnabled()
}

// seqnoTimeSampleLocked gives the last sequence number and the time. The number
// comes first: how long ago it was written is not known, so that the time is a
// bound on one side. The mutex keeps samples in order.
// Upstream: DBImpl::GetSeqnoToTimeSample.
func (d *DBImpl) seqnoTimeSampleLocked() (rocksdb.SequenceNumber, uint64) {
	seq := max(d.GetLatestSequenceNumber(), 1) // 0 cannot be recorded
	now, _ := d.clock.GetCurrentTime()         // 0 where it fails
	return seq, uint64(now)
}

// ensureSeqnoToTimeMappingLocked makes sure that there is a recent sample before
// anything is written under the options.
func (d *DBImpl) ensureSeqnoToTimeMappingLocked(span seqnotime.MinAndMaxPreserveSeconds) {
	m := d.st.seqnoTimes
	seq, now := d.seqnoTimeSampleLocked()
	var last uint64
	if m.Empty() {
		m.SetCapacity(seqnotime.MaxSeqnoToTimeEntries) // until the recorder is registered
	} else {
		last = m.GetProximalTimeBeforeSeqno(1<<56 - 1)
	}
	cadence := span.GetRecodingCadence()
	cadence += 3 + cadence/100 // the recorder may lag a little
	if now >= cadence && last <= now-cadence {
		m.Append(seq, now)
	}
}

// prepopulateSeqnoToTimeMappingLocked sets sequence numbers aside in a new
// database and gives them the times back to where the options look, so that data
// of before can be imported with its times. It runs in Open alone: later it would
// race with the first write.
func (d *DBImpl) prepopulateSeqnoToTimeMappingLocked(span seqnotime.MinAndMaxPreserveSeconds) error {
	const reserved = seqnotime.MaxSeqnoTimePairsPerSST
	d.versions.SetAllSequences(reserved)
	// In the MANIFEST, so that a later Open does not go back.
	e := &version.VersionEdit{}
	e.SetLastSequence(reserved)
	if err := d.versions.LogAndApply(&db.LogAndApplyRequest{CFD: d.families.GetDefault(), Edits: []*version.VersionEdit{e},
		Mutex: &d.mu, DBDirectory: d.dirs.DBDir()}); err != nil {
		return err
	}
	if seq, now := d.seqnoTimeSampleLocked(); now > span.MaxPreserveSeconds {
		d.st.seqnoTimes.PrePopulate(1, seq, now-span.MaxPreserveSeconds, now)
	}
	return nil
}

// setSeqnoTimesForConfigLocked gives a family the mapping that its options ask
// for, or none; the next SuperVersion has it. It comes before every SuperVersion
// of changed options.
func (d *DBImpl) setSeqnoTimesForConfigLocked(cfd *db.ColumnFamilyData) {
	span := preserveSecondsOf(cfd)
	if !span.IsEnabled() {
		cfd.SetSeqnoToTimeMapping(nil)
		return
	}
	d.ensureSeqnoToTimeMappingLocked(span)
	cfd.SetSeqnoToTimeMapping(d.copySeqnoTimesLocked())
}

// installSuperVersionForConfigChangeLocked is installSuperVersionAndScheduleLocked
// where the family is new or its options may have changed.
func (d *DBImpl) installSuperVersionForConfigChangeLocked(cfd *db.ColumnFamilyData, ctx *db.SuperVersionContext) {
	d.setSeqnoTimesForConfigLocked(cfd)
	d.installSuperVersionAndScheduleLocked(cfd, ctx)
}

// copySeqnoTimesLocked is a copy that does not change any more.
func (d *DBImpl) copySeqnoTimesLocked() *seqnotime.SeqnoToTimeMapping {
	m := seqnotime.NewSeqnoToTimeMapping()
	m.CopyFrom(d.st.seqnoTimes)
	return m
}

// registerRecordSeqnoTimeWorker starts, changes or ends the recording, by the
// options of all families. optionsMu is held, or the database is being opened.
func (d *DBImpl) registerRecordSeqnoTimeWorker() error {
	span := seqnotime.NewMinAndMaxPreserveSeconds()
	d.mu.Lock()
	for _, cfd := range d.families.All() {
		if !cfd.IsDropped() {
			addPreserveSeconds(&span, cfd)
		}
	}
	cadence := span.GetRecodingCadence()
	if cadence == 0 {
		d.st.seqnoTimes = seqnotime.NewSeqnoToTimeMapping()
		d.st.seqnoTimes.SetCapacity(0)
	} else {
		d.st.seqnoTimes.SetCapacity(seqnotime.CapacityFor(span))
		d.st.seqnoTimes.SetMaxTimeSpan(span.MaxPreserveSeconds)
	}
	d.mu.Unlock()
	syncpoint.Process("DBImpl::RegisterRecordSeqnoTimeWorker:BeforePeriodicTaskType")

	p := &d.periodic
	p.mu.Lock()
	defer p.mu.Unlock()
	if d.shuttingDown.Load() || p.stopped {
		return nil
	}
	if cadence == 0 {
		p.scheduler.Unregister(db.PeriodicTaskRecordSeqnoTime)
		return nil
	}
	return p.scheduler.Register(db.PeriodicTaskRecordSeqnoTime, d.recordSeqnoToTimeMapping, cadence, true)
}

// recordSeqnoToTimeMapping takes a sample and shows it to the families that want
// it.
func (d *DBImpl) recordSeqnoToTimeMapping() {
	ctx := &db.SuperVersionContext{}
	d.mu.Lock()
	d.st.seqnoTimes.Append(d.seqnoTimeSampleLocked())
	m := d.copySeqnoTimesLocked()
	for _, cfd := range d.families.All() {
		if !cfd.IsDropped() && tracksTimes(cfd) {
			cfd.SetSeqnoToTimeMapping(m)
			cfd.InstallSuperVersion(ctx, d)
		}
	}
	d.bgCond.Broadcast()
	d.mu.Unlock()
	ctx.Clean()
}

// TestGetSeqnoToTimeMapping copies the database's mapping; upstream:
// TEST_GetSeqnoToTimeMapping.
func (d *DBImpl) TestGetSeqnoToTimeMapping() *seqnotime.SeqnoToTimeMapping {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.copySeqnoTimesLocked()
}
