// Port of db/db_impl/db_impl.{h,cc} and db_impl_compaction_flush.cc: calls of
// column families whose keys have user-defined timestamps.

package dbimpl

import (
	"bytes"

	"github.com/rocksdb-go/rocksdb/db"
	"github.com/rocksdb-go/rocksdb/db/version"
	"github.com/rocksdb-go/rocksdb/db/writebatch"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

var errNoTimestamps = rocksdb.InvalidArgument("Timestamp is not enabled in this column family")

// failIfReadCollapsedHistory refuses to read at a timestamp at which sv's tables
// may have lost entries. It is asked once sv is referenced, since the limit may
// rise meanwhile.
func failIfReadCollapsedHistory(ro *rocksdb.ReadOptions, sv *db.SuperVersion) error {
	if len(sv.FullHistoryTSLow) == 0 || len(ro.Timestamp) == 0 {
		return nil
	}
	ucmp := sv.CFD.UserComparator()
	if ucmp.TimestampSize() != len(ro.Timestamp) || ucmp.CompareTimestamp(ro.Timestamp, sv.FullHistoryTSLow) >= 0 {
		return nil
	}
	return rocksdb.InvalidArgumentf("Read timestamp: %s is smaller than full_history_ts_low: %s",
		ucmp.TimestampToString(ro.Timestamp), ucmp.TimestampToString(sv.FullHistoryTSLow))
}

// timestampReadCallback hides entries above a sequence number. Keys with
// timestamps need it: a lookup starts at the newest version up to the read
// timestamp, whatever its sequence number.
type timestampReadCallback struct{ max rocksdb.SequenceNumber }

// IsVisible implements dbformat.ReadCallback.
func (c *timestampReadCallback) IsVisible(seq rocksdb.SequenceNumber) bool { return seq <= c.max }

// MaxVisibleSeq implements dbformat.ReadCallback.
func (c *timestampReadCallback) MaxVisibleSeq() rocksdb.SequenceNumber { return c.max }

// Refresh implements dbformat.ReadCallback.
func (c *timestampReadCallback) Refresh(seq rocksdb.SequenceNumber) { c.max = seq }

// GetWithTimestamp is Get that also appends the entry's timestamp to (*ts)[:0],
// a deletion's, too.
func (d *DBImpl) GetWithTimestamp(ro *rocksdb.ReadOptions, cf rocksdb.ColumnFamilyHandle, key []byte, value *rocksdb.PinnableSlice, ts *[]byte) error {
	return d.get(ro, cf, key, value, ts)
}

// timestampsEnabled is the error of a call that should have had a timestamp.
func timestampsEnabled(family string) error {
	return rocksdb.InvalidArgumentf("cannot call this method on column family %s that enables timestamp", family)
}

// checkTimestampSize refuses a timestamp that is not of the size, 0 for none,
// that the family's keys have.
func checkTimestampSize(family string, size int, ts []byte) error {
	switch {
	case size == 0:
		return rocksdb.InvalidArgumentf("cannot call this method on column family %s that does not enable timestamp", family)
	case size != len(ts):
		return rocksdb.InvalidArgumentf("Timestamp sizes mismatch: expect %d, %d given", size, len(ts))
	}
	return nil
}

// failIfHasTimestamps refuses a call without timestamp where keys have some.
func (d *DBImpl) failIfHasTimestamps(cf rocksdb.ColumnFamilyHandle) error {
	if cf == nil {
		cf = d.defaultHandle
	}
	if cf.GetComparator().TimestampSize() > 0 {
		return timestampsEnabled(cf.GetName())
	}
	return nil
}

// stamped runs one call of a family with timestamps as a batch of its own.
func (d *DBImpl) stamped(wo *rocksdb.WriteOptions, cf rocksdb.ColumnFamilyHandle, ts []byte, fill func(*writebatch.WriteBatch, rocksdb.ColumnFamilyHandle) error) error {
	if cf == nil {
		cf = d.defaultHandle
	}
	if err := checkTimestampSize(cf.GetName(), cf.GetComparator().TimestampSize(), ts); err != nil {
		return err
	}
	return d.single(wo, func(b *writebatch.WriteBatch) error { return fill(b, cf) })
}

// PutWithTimestamp stores value under key at time ts, which has the size that
// the family's comparator wants, here and below.
func (d *DBImpl) PutWithTimestamp(wo *rocksdb.WriteOptions, cf rocksdb.ColumnFamilyHandle, key, ts, value []byte) error {
	return d.stamped(wo, cf, ts, func(b *writebatch.WriteBatch, cf rocksdb.ColumnFamilyHandle) error {
		return b.PutWithTimestamp(cf, key, ts, value)
	})
}

// DeleteWithTimestamp removes key at time ts.
func (d *DBImpl) DeleteWithTimestamp(wo *rocksdb.WriteOptions, cf rocksdb.ColumnFamilyHandle, key, ts []byte) error {
	return d.stamped(wo, cf, ts, func(b *writebatch.WriteBatch, cf rocksdb.ColumnFamilyHandle) error {
		return b.DeleteWithTimestamp(cf, key, ts)
	})
}

// SingleDeleteWithTimestamp removes key, which was put at most once since its
// last removal, at time ts.
func (d *DBImpl) SingleDeleteWithTimestamp(wo *rocksdb.WriteOptions, cf rocksdb.ColumnFamilyHandle, key, ts []byte) error {
	return d.stamped(wo, cf, ts, func(b *writebatch.WriteBatch, cf rocksdb.ColumnFamilyHandle) error {
		return b.SingleDeleteWithTimestamp(cf, key, ts)
	})
}

// DeleteRangeWithTimestamp removes the keys in [begin, end) at time ts.
func (d *DBImpl) DeleteRangeWithTimestamp(wo *rocksdb.WriteOptions, cf rocksdb.ColumnFamilyHandle, begin, end, ts []byte) error {
	return d.stamped(wo, cf, ts, func(b *writebatch.WriteBatch, cf rocksdb.ColumnFamilyHandle) error {
		return b.DeleteRangeWithTimestamp(cf, begin, end, ts)
	})
}

// MergeWithTimestamp adds an operand to key at time ts.
func (d *DBImpl) MergeWithTimestamp(wo *rocksdb.WriteOptions, cf rocksdb.ColumnFamilyHandle, key, ts, operand []byte) error {
	return d.stamped(wo, cf, ts, func(b *writebatch.WriteBatch, cf rocksdb.ColumnFamilyHandle) error {
		return b.MergeWithTimestamp(cf, key, ts, operand)
	})
}

// IncreaseFullHistoryTsLow raises the timestamp below which compactions may
// drop all but the newest version of a key. It never falls.
func (d *DBImpl) IncreaseFullHistoryTsLow(cf rocksdb.ColumnFamilyHandle, ts []byte) error {
	if d.readOnly {
		return d.readOnlyError()
	}
	cfd := d.cfd(cf)
	ucmp := cfd.UserComparator()
	switch ucmp.TimestampSize() {
	case 0:
		return errNoTimestamps
	case len(ts):
	default:
		return rocksdb.InvalidArgument("ts_low size mismatch")
	}
	e := &version.VersionEdit{}
	e.SetColumnFamily(cfd.GetID())
	e.SetFullHistoryTsLow(string(ts))
	syncpoint.ProcessArg("DBImpl::IncreaseFullHistoryTsLowImpl:BeforeEdit", e)
	d.mu.Lock()
	defer d.mu.Unlock()
	if now := cfd.GetFullHistoryTsLow(); len(now) > 0 && ucmp.CompareTimestamp(ts, now) < 0 {
		return rocksdb.InvalidArgumentf("Current full_history_ts_low: %s is higher than provided ts: %s",
			ucmp.TimestampToString(now), ucmp.TimestampToString(ts))
	}
	err := d.versions.LogAndApply(&db.LogAndApplyRequest{CFD: cfd, Edits: []*version.VersionEdit{e}, Mutex: &d.mu, DBDirectory: d.dirs.DBDir()})
	if err != nil {
		return err
	}
	if now := cfd.GetFullHistoryTsLow(); len(now) > 0 && ucmp.CompareTimestamp(now, ts) > 0 {
		return rocksdb.TryAgain("full_history_ts_low was meanwhile set higher than the requested timestamp")
	}
	return nil
}

// GetFullHistoryTsLow gives a copy of that timestamp; nil when it was never set.
func (d *DBImpl) GetFullHistoryTsLow(cf rocksdb.ColumnFamilyHandle) ([]byte, error) {
	cfd := d.cfd(cf)
	if cfd.UserComparator().TimestampSize() == 0 {
		return nil, errNoTimestamps
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return bytes.Clone(cfd.GetFullHistoryTsLow()), nil
}

// GetNewestUserDefinedTimestamp gives the newest timestamp the family has seen,
// nil for none; only for families that keep timestamps in memtables alone, of
// whose tables full_history_ts_low tells.
func (d *DBImpl) GetNewestUserDefinedTimestamp(cf rocksdb.ColumnFamilyHandle) ([]byte, error) {
	cfd := d.cfd(cf)
	if cfd.UserComparator().TimestampSize() == 0 {
		return nil, errNoTimestamps
	}
	if cfd.IOptions().PersistUserDefinedTimestamps {
		return nil, rocksdb.NotSupported("GetNewestUserDefinedTimestamp doesn't support the case when user" +
			"defined timestamps are persisted.")
	}
	sv := cfd.GetReferencedSuperVersion()
	defer d.returnSuperVersion(sv)
	d.mu.Lock()
	var w *unbatched
	if sv.Mem == cfd.Mem() && !d.readOnly {
		w = d.enterUnbatchedLocked() // no write beside
	}
	newest := bytes.Clone(sv.Mem.GetNewestUDT())
	if w != nil {
		d.exitUnbatchedLocked(w)
	}
	d.mu.Unlock()
	if newest == nil {
		newest = bytes.Clone(sv.Imm.GetNewestUDT())
	}
	if newest == nil && sv.Current.GetSstFilesSize() != 0 && len(sv.FullHistoryTSLow) > 0 {
		newest = db.CutoffFromFullHistoryTsLow(sv.FullHistoryTSLow)
	}
	return newest, nil
}

// shouldPostponeFlushLocked tells whether a family's flush has to wait, since
// its memtables hold history that is to be kept. A flush that a caller asked for
// does not wait, nor one without which writers would.
// Upstream: DBImpl::ShouldRescheduleFlushRequestToRetainUDT.
func (d *DBImpl) shouldPostponeFlushLocked(f familyFlush) bool {
	cfd := f.cfd
	if cfd.GetAndClearFlushSkipReschedule() || cfd.IsDropped() || !cfd.ShouldPostponeFlushToRetainUDT(f.maxID) {
		return false
	}
	stall, _ := db.GetWriteStallConditionAndCause(cfd.GetUnflushedMemTableCountForWriteStallCheck(), 0, 0,
		cfd.GetLatestMutableCFOptions(), cfd.IOptions().MinWriteBufferNumberToMerge)
	return stall == rocksdb.WriteStallConditionNormal
}

// OpenAndTrimHistory opens a database as Open does and takes out, of families
// with timestamps, all entries newer than trimTS.
func OpenAndTrimHistory(o *rocksdb.DBOptions, dbName string, families []rocksdb.ColumnFamilyDescriptor, trimTS []byte) (*DBImpl, []*db.ColumnFamilyHandleImpl, error) {
	if o.AvoidFlushDuringRecovery {
		return nil, nil, rocksdb.InvalidArgument("avoid_flush_during_recovery incompatible with OpenAndTrimHistory")
	}
	d, handles, err := Open(o, dbName, families)
	if err != nil {
		return nil, nil, err
	}
	cro := rocksdb.DefaultCompactRangeOptions()
	cro.BottommostLevelCompaction = rocksdb.BottommostLevelCompactionForceOptimized
	for _, h := range handles {
		if err == nil && h.GetComparator().TimestampSize() > 0 {
			err = d.compactRangeTrimming(&cro, h, nil, nil, trimTS)
		}
	}
	if err == nil {
		return d, handles, nil
	}
	for _, h := range handles {
		h.Close()
	}
	_ = d.Close()
	return nil, nil, err
}
