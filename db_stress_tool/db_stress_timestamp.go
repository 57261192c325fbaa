// Port of db_stress_tool/db_stress_test_base.cc (CheckAndSetOptionsForUserTimestamp,
// MaybeUseOlderTimestampForPointLookup, MaybeUseOlderTimestampForRangeScan,
// GetNowNanos): keys with user-defined timestamps. A write is stamped while its
// key is locked, so that of one key later sequence numbers have later timestamps.

package dbstresstool

import (
	"encoding/binary"
	"time"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

// timestampSize is the only one there is.
const timestampSize = 8

func (f *Flags) stamped() bool { return f.UserTimestampSize > 0 }

func encodeTimestamp(nanos uint64) []byte { return binary.LittleEndian.AppendUint64(nil, nanos) }

// now is the present timestamp, nil where keys have none.
func (f *Flags) now() []byte {
	if !f.stamped() {
		return nil
	}
	return encodeTimestamp(uint64(time.Now().UnixNano()))
}

// stripTimestamp gives the key without its timestamp.
func (f *Flags) stripTimestamp(key []byte) []byte {
	return key[:max(len(key)-int(f.UserTimestampSize), 0)]
}

func (s *stressTest) timestampsFromFlags(o *rocksdb.ColumnFamilyOptions) {
	if s.flags.stamped() {
		o.Comparator = util.BytewiseComparatorWithU64Ts()
		o.PersistUserDefinedTimestamps = s.flags.PersistUserDefinedTimestamps
	}
}

// earlier draws a timestamp since the start.
func (s *stressTest) earlier(t *threadState) []byte {
	start := t.shared.startTime
	return encodeTimestamp(start + t.rand.Next64()%(uint64(time.Now().UnixNano())-start))
}

// readsHistory draws whether a read is to be one of the past; one of timestamps
// that are not kept would be refused.
func (s *stressTest) readsHistory(t *threadState) bool {
	return s.flags.stamped() && s.flags.PersistUserDefinedTimestamps && t.rand.OneIn(3)
}

// stampLookup gives a lookup the present timestamp or, old, an earlier one. What
// is expected of the key before is to be asked for before.
func (s *stressTest) stampLookup(t *threadState, ro *rocksdb.ReadOptions) (old bool) {
	ro.Timestamp = s.flags.now()
	if old = s.readsHistory(t); old {
		ro.Timestamp = s.earlier(t)
	}
	return old
}

// stampScan gives a scan an earlier timestamp, sometimes, or asks for all
// versions since the start.
func (s *stressTest) stampScan(t *threadState, ro *rocksdb.ReadOptions) {
	switch f := s.flags; {
	case !s.readsHistory(t):
	case t.rand.OneIn(3) && !f.UseMerge && !f.UseFullMergeV1:
		ro.IterStartTS = encodeTimestamp(t.shared.startTime)
	default:
		ro.Timestamp = s.earlier(t)
	}
}

// deleteKey deletes a key the way that it may be.
func (s *stressTest) deleteKey(wo *rocksdb.WriteOptions, cf int, key []byte, single bool) error {
	ts := s.flags.now()
	switch {
	case single && ts != nil:
		return s.db.SingleDeleteWithTimestamp(wo, s.cf(cf), key, ts)
	case single:
		return s.db.SingleDelete(wo, s.cf(cf), key)
	case ts != nil:
		return s.db.DeleteWithTimestamp(wo, s.cf(cf), key, ts)
	}
	return s.db.Delete(wo, s.cf(cf), key)
}

func (s *stressTest) deleteKeyRange(wo *rocksdb.WriteOptions, cf int, begin, end []byte) error {
	if ts := s.flags.now(); ts != nil {
		return s.db.DeleteRangeWithTimestamp(wo, s.cf(cf), begin, end, ts)
	}
	return s.db.DeleteRange(wo, s.cf(cf), begin, end)
}
