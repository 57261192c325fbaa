// Port of db/flush_job.{h,cc} (MemPurge, MemPurgeDecider). Differs: what is left
// takes the place of the memtables that it was made of, at once, and the mempurge
// is given up where a flush was asked for or newer memtables are being flushed;
// upstream puts it before memtables that are newer, which it then hides.

package db

import (
	"math"
	"slices"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/db/memtable"
	"github.com/rocksdb-go/rocksdb/db/rangedel"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/logging"
	rep "github.com/rocksdb-go/rocksdb/memtable"
	"github.com/rocksdb-go/rocksdb/table"
	"github.com/rocksdb-go/rocksdb/table/internaliter"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

// purge replaces the picked memtables by one of what is worth keeping of them,
// if the options ask for it and little enough is; false where they have to be
// flushed. The mutex is released meanwhile.
func (j *FlushJob) purge() bool {
	c := j.c
	threshold := c.MutableCFOptions.ExperimentalMempurgeThreshold
	if !(threshold > 0) || c.FlushReason != rocksdb.FlushReasonWriteBufferFull || c.DBOptions.AtomicFlush || j.flushRequested ||
		slices.ContainsFunc(j.mems, (*memtable.MemTable).HasSource) {
		return false
	}
	c.Mutex.Unlock()
	start := c.DBOptions.Clock.NowMicros()
	var m *memtable.MemTable
	var err error
	purge := j.worthPurging(threshold)
	if purge {
		if m, err = j.purgedMemtable(); err == nil {
			syncpoint.Process("FlushJob::MemPurge:BeforeReacquireMutex")
			syncpoint.Process("FlushJob::MemPurge:AfterWaitForTest")
		}
	}
	c.Mutex.Lock()
	if !purge {
		return false
	}
	if err == nil && !j.mayInstallPurged() {
		err = rocksdb.Aborted("Mempurge came too late: a flush is due.")
	}
	if err != nil {
		if m != nil {
			*c.MemtablesToFree = append(*c.MemtablesToFree, m)
		}
		syncpoint.Process("DBImpl::FlushJob:MemPurgeUnsuccessful")
		logging.Info(c.DBOptions.InfoLog, "[%s] [JOB %d] Mempurge given up after %d microseconds: %v", c.CFD.name, c.JobID,
			c.DBOptions.Clock.NowMicros()-start, err)
		return false
	}
	syncpoint.Process("DBImpl::FlushJob:MemPurgeSuccessful")
	c.CFD.imm.replaceByPurged(j.mems, m, c.MemtablesToFree)
	logging.Info(c.DBOptions.InfoLog, "[%s] [JOB %d] Mempurge of %d memtables lasted %d microseconds", c.CFD.name, c.JobID, len(j.mems),
		c.DBOptions.Clock.NowMicros()-start)
	return true
}

// mayInstallPurged tells whether nobody needs the memtables flushed: who waits
// for a flush of them would wait for ever, and so would memtables whose flush can
// be committed only behind theirs.
func (j *FlushJob) mayInstallPurged() bool {
	imm := j.c.CFD.imm
	if imm.flushRequested || j.c.CFD.IsDropped() || j.c.ShuttingDown.Load() {
		return false
	}
	list := imm.current.list
	newer := len(list) - len(j.mems)
	if newer < 0 || list[len(list)-1] != j.mems[0] {
		return false
	}
	for _, m := range list[:newer] {
		if m.FlushInProgress {
			return false
		}
	}
	return true
}

// purgedMemtable gives an immutable memtable with what a flush would write, nil
// where that is nothing. Aborted says that it is not much smaller.
func (j *FlushJob) purgedMemtable() (*memtable.MemTable, error) {
	c := j.c
	ro := rocksdb.DefaultReadOptions()
	ro.TotalOrderSeek = true
	ro.IOActivity = rocksdb.IOActivityFlush
	var iters []internaliter.InternalIterator
	var tombstones []*rangedel.FragmentedRangeTombstoneIterator
	var err error
	earliest, oldestKey, prep := maxSequence, uint64(math.MaxUint64), uint64(0)
	for _, m := range j.mems {
		iters = append(iters, m.NewIterator(&ro, nil, nil))
		t, terr := m.NewRangeTombstoneIterator(&ro, maxSequence, true)
		if terr != nil {
			err = terr
		} else if t != nil {
			tombstones = append(tombstones, t)
		}
		earliest = min(earliest, m.GetEarliestSequenceNumber())
		oldestKey = min(oldestKey, m.ApproximateOldestKeyTime())
		if n := m.GetMinLogContainingPrepSection(); n > 0 && (prep == 0 || n < prep) {
			prep = n
		}
	}
	iter := table.NewMergingIterator(c.CFD.icmp, iters, false)
	defer iter.Close()
	if err != nil {
		return nil, err
	}
	b := &tableBuild{BuildTableArgs: &BuildTableArgs{DBOptions: c.DBOptions, CFD: c.CFD, MutableCFOptions: c.MutableCFOptions, Iter: iter,
		RangeTombstones: tombstones, Snapshots: c.Snapshots, Reason: rocksdb.TableFileCreationReasonFlush,
		FullHistoryTSLow: j.fullHistoryTSLow}, io: c.CFD.IOptions(), icmp: c.CFD.icmp}
	if err := b.makeFilter(); err != nil {
		return nil, err
	}
	m := c.CFD.ConstructNewMemtable(c.MutableCFOptions, earliest)
	if err := b.fillMemtable(m, c.MutableCFOptions.WriteBufferSize); err != nil || m.IsEmpty() {
		m.Free()
		return nil, err
	}
	m.SetApproximateOldestKeyTime(oldestKey)
	if prep > 0 {
		m.RefLogContainingPrepSection(prep)
	}
	m.MarkImmutable()
	m.ConstructFragmentedRangeTombstones()
	return m, nil
}

var errPurgedTooLarge = rocksdb.Aborted("Mempurge filled more than one memtable.")

// fillMemtable adds to m what would go into the table, up to limit bytes.
func (b *tableBuild) fillMemtable(m *memtable.MemTable, limit uint64) error {
	b.Iter.SeekToFirst()
	b.rangeDel = rangedel.NewCompactionRangeDelAggregator(b.icmp, b.Snapshots, b.FullHistoryTSLow, nil)
	for _, t := range b.RangeTombstones {
		b.rangeDel.AddTombstones(t, nil, nil)
	}
	it := b.newIterator()
	defer it.Close()
	add := func(seq rocksdb.SequenceNumber, t dbformat.ValueType, key, value []byte) error {
		if err := m.Add(seq, t, key, value, false, nil, nil); err != nil {
			return err
		}
		if m.ApproximateMemoryUsage() > limit {
			return errPurgedTooLarge
		}
		return nil
	}
	for it.SeekToFirst(); it.Valid(); it.Next() {
		k := it.IKey()
		if err := add(k.Sequence, k.Type, k.UserKey, it.Value()); err != nil {
			return err
		}
	}
	if err := it.Status(); err != nil {
		return err
	}
	ranges, err := b.rangeDel.NewIterator(nil, nil)
	if err != nil {
		return err
	}
	for ranges.SeekToFirst(); ranges.Valid(); ranges.Next() {
		t := ranges.Tombstone()
		key, value := t.Serialize()
		if err := add(t.Seq, dbformat.TypeRangeDeletion, dbformat.ExtractUserKey(key), value); err != nil {
			return err
		}
	}
	if err := ranges.Status(); err != nil {
		return err
	}
	if m.ApproximateMemoryUsage() >= limit || m.ShouldFlushNow() {
		return errPurgedTooLarge
	}
	return nil
}

// worthPurging estimates, by samples, how much of a memtable's size a mempurge
// would leave, and tells whether it is less than threshold.
func (j *FlushJob) worthPurging(threshold float64) bool {
	if threshold > float64(len(j.mems)) {
		return true
	}
	left := 0.0
	for i, m := range j.mems {
		payload, useful := j.sample(i, m)
		if payload == 0 {
			logging.Warn(j.c.DBOptions.InfoLog, "Mempurge sampling: null payload measured")
			continue
		}
		share := float64(useful) / float64(payload)
		left += float64(m.ApproximateMemoryUsage()) * share
		logging.Info(j.c.DBOptions.InfoLog, "Mempurge sampling [CF %s] - found garbage ratio from sampling: %f. Threshold is %f",
			j.c.CFD.name, 1-share, threshold)
	}
	return left/float64(j.c.MutableCFOptions.WriteBufferSize) < threshold
}

// sampleSize is Cochran's, corrected for small populations, for a confidence of
// 95% and a precision of 7%.
func sampleSize(entries uint64) uint64 {
	const n0 = 196
	if entries == 0 {
		return 0
	}
	return uint64(math.Ceil(n0 / (1 + n0/float64(entries))))
}

// sample gives the bytes of entries taken at random from the job's memtable m,
// the i-th, and how many of them a mempurge would keep: neither deleted nor
// replaced, in it or in those behind.
func (j *FlushJob) sample(i int, m *memtable.MemTable) (payload, useful uint64) {
	entries, err := m.UniqueRandomSample(sampleSize(m.NumEntries()))
	if err != nil {
		return 0, 0
	}
	ro := rocksdb.DefaultReadOptions()
	ro.TotalOrderSeek = true
	var st memtable.LookupState
	var lookup dbformat.LookupKey
	for _, e := range entries {
		key, value := rep.EntryKeyValue(e)
		k, err := dbformat.ParseInternalKey(key, false)
		if err != nil {
			logging.Warn(j.c.DBOptions.InfoLog, "Memtable Decider: %v", err)
			continue
		}
		size := uint64(len(key))
		if k.Type == dbformat.TypeValue {
			size += uint64(len(value))
		}
		payload += size
		// The oldest snapshot that sees the entry, or the newest state.
		at := maxSequence
		for _, s := range j.c.Snapshots {
			if s >= k.Sequence {
				at = s
				break
			}
		}
		lookup.Set(k.UserKey, at, nil)
		st.Reset()
		found := m.Get(&lookup, &ro, &st, true)
		deletion := k.Type == dbformat.TypeDeletion || k.Type == dbformat.TypeSingleDeletion
		keeps := found && st.Seq == k.Sequence &&
			(k.Type == dbformat.TypeValue && st.Status == nil || deletion && rocksdb.CodeOf(st.Status) == rocksdb.CodeNotFound)
		for _, later := range j.mems[i+1:] {
			if !keeps {
				break
			}
			st.Reset()
			keeps = !later.Get(&lookup, &ro, &st, true)
		}
		if keeps {
			useful += size
		}
	}
	return payload, useful
}
