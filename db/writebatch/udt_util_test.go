// Port of util/udt_util_test.cc.

package writebatch

import (
	"bytes"
	"errors"
	"testing"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/db/wide"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

const (
	udtKey       = "key"
	udtValue     = "value"
	udtWriteTime = 100
)

// udtKeys collects families and keys of a batch, and checks that values stay.
type udtKeys struct {
	HandlerBase
	t    testing.TB
	cfs  []uint32
	keys [][]byte
}

func (h *udtKeys) add(cf uint32, key []byte, value string) error {
	if value != udtValue {
		h.t.Errorf("value %q", value)
	}
	h.cfs, h.keys = append(h.cfs, cf), append(h.keys, bytes.Clone(key))
	return nil
}

func (h *udtKeys) PutCF(cf uint32, key, value []byte) error { return h.add(cf, key, string(value)) }
func (h *udtKeys) TimedPutCF(cf uint32, key, value []byte, at uint64) error {
	if at != udtWriteTime {
		h.t.Errorf("written at %d", at)
	}
	return h.add(cf, key, string(value))
}

func (h *udtKeys) PutEntityCF(cf uint32, key, entity []byte) error {
	columns, err := wide.DeserializeSimple(nil, entity)
	if err != nil || len(columns) != 1 {
		h.t.Fatalf("%d columns, %v", len(columns), err)
	}
	return h.add(cf, key, string(columns[0].Value))
}

func (h *udtKeys) DeleteCF(cf uint32, key []byte) error       { return h.add(cf, key, udtValue) }
func (h *udtKeys) SingleDeleteCF(cf uint32, key []byte) error { return h.add(cf, key, udtValue) }
func (h *udtKeys) DeleteRangeCF(cf uint32, begin, end []byte) error {
	_ = h.add(cf, begin, udtValue)
	return h.add(cf, end, udtValue)
}
func (h *udtKeys) MergeCF(cf uint32, key, v []byte) error        { return h.add(cf, key, string(v)) }
func (h *udtKeys) PutBlobIndexCF(cf uint32, key, v []byte) error { return h.add(cf, key, string(v)) }
func (h *udtKeys) MarkBeginPrepare(bool) error                   { return nil }
func (h *udtKeys) MarkEndPrepare([]byte) error                   { return nil }
func (h *udtKeys) MarkRollback([]byte) error                     { return nil }
func (h *udtKeys) MarkCommit([]byte) error                       { return nil }
func (h *udtKeys) MarkCommitWithTimestamp(_, _ []byte) error     { return nil }
func (h *udtKeys) MarkNoop(bool) error                           { return nil }

// udtBatch has each kind of record for each family, with timestamps of sizes.
func udtBatch(t *testing.T, sizes map[uint32]int) *WriteBatch {
	t.Helper()
	b := New()
	entity, err := wide.Serialize(nil, rocksdb.WideColumns{{Value: []byte(udtValue)}})
	if err != nil {
		t.Fatal(err)
	}
	for cf, size := range sizes {
		key := []byte(udtKey)
		if size > 0 {
			key = dbformat.AppendKeyWithMinTimestamp(nil, key, size)
		}
		for _, err := range []error{
			b.PutByID(cf, key, []byte(udtValue)), b.DeleteByID(cf, key), b.SingleDeleteByID(cf, key),
			b.DeleteRangeByID(cf, key, key), b.MergeByID(cf, key, []byte(udtValue)),
			b.PutBlobIndex(cf, key, []byte(udtValue)), b.PutEntitySerialized(cf, key, entity),
			b.TimedPutByID(cf, key, []byte(udtValue), udtWriteTime),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	b.SetSequence(77)
	return b
}

func udtKeysOf(t *testing.T, b *WriteBatch) *udtKeys {
	t.Helper()
	h := &udtKeys{t: t}
	if err := b.Iterate(h); err != nil {
		t.Fatal(err)
	}
	return h
}

// udtSame wants longer to have the keys of shorter with size bytes of zero
// more, but for a family that was dropped, which is the same.
func udtSame(t *testing.T, longer, shorter *WriteBatch, size int, dropped uint32) {
	t.Helper()
	if longer.Sequence() != shorter.Sequence() || longer.Count() != shorter.Count() {
		t.Fatalf("sequence %d, %d entries, not %d, %d", longer.Sequence(), longer.Count(), shorter.Sequence(), shorter.Count())
	}
	l, s := udtKeysOf(t, longer), udtKeysOf(t, shorter)
	if len(l.keys) != len(s.keys) || len(l.keys) == 0 {
		t.Fatalf("%d keys, %d keys", len(l.keys), len(s.keys))
	}
	for i, key := range s.keys {
		if l.cfs[i] != s.cfs[i] {
			t.Fatalf("%d: family %d, family %d", i, l.cfs[i], s.cfs[i])
		}
		if s.cfs[i] != dropped {
			key = append(key, make([]byte, size)...)
		}
		if !bytes.Equal(l.keys[i], key) {
			t.Errorf("%d: %q, want %q", i, l.keys[i], key)
		}
	}
}

const noCF = ^uint32(0)

// udtHandled tries both modes: verifying is wantVerify, the new batch the
// result of reconciling.
func udtHandled(t *testing.T, b *WriteBatch, running map[uint32]int, recorded map[uint32]uint16, verifies bool) *WriteBatch {
	t.Helper()
	if x, err := HandleWriteBatchTimestampSizeDifference(b, running, recorded, VerifyConsistency); x != nil || (err == nil) != verifies ||
		err != nil && !errors.Is(err, rocksdb.ErrInvalidArgument) {
		t.Fatalf("verifying: %v, %v", x, err)
	}
	x, err := HandleWriteBatchTimestampSizeDifference(b, running, recorded, ReconcileInconsistency)
	if err != nil || verifies && x != nil {
		t.Fatalf("reconciling: %v, %v", x, err)
	}
	return x
}

func TestHandleTimestampSizeDifferenceTest_AllColumnFamiliesConsistent(t *testing.T) {
	running := map[uint32]int{1: 8, 2: 0}
	udtHandled(t, udtBatch(t, running), running, map[uint32]uint16{1: 8}, true)
}

func TestHandleTimestampSizeDifferenceTest_AllInconsistentColumnFamiliesDropped(t *testing.T) {
	udtHandled(t, udtBatch(t, map[uint32]int{1: 8, 3: 1}), map[uint32]int{2: 0}, map[uint32]uint16{1: 8, 3: 1}, true)
}

func TestHandleTimestampSizeDifferenceTest_InvolvedColumnFamiliesConsistent(t *testing.T) {
	udtHandled(t, udtBatch(t, map[uint32]int{1: 8}), map[uint32]int{1: 8, 2: 1}, map[uint32]uint16{1: 8}, true)
}

func TestHandleTimestampSizeDifferenceTest_InconsistentColumnFamilyNeedsTimestampStripping(t *testing.T) {
	b := udtBatch(t, map[uint32]int{1: 8})
	x := udtHandled(t, b, map[uint32]int{1: 0, 2: 1}, map[uint32]uint16{1: 8}, false)
	udtSame(t, b, x, 8, noCF)
}

func TestHandleTimestampSizeDifferenceTest_InconsistentColumnFamilyNeedsTimestampPadding(t *testing.T) {
	b := udtBatch(t, map[uint32]int{1: 0})
	x := udtHandled(t, b, map[uint32]int{1: 8}, nil, false)
	udtSame(t, x, b, 8, noCF)
}

func TestHandleTimestampSizeDifferenceTest_InconsistencyReconcileCopyOverDroppedColumnFamily(t *testing.T) {
	b := udtBatch(t, map[uint32]int{1: 8, 2: 1})
	x := udtHandled(t, b, map[uint32]int{1: 0}, map[uint32]uint16{1: 8, 2: 1}, false)
	udtSame(t, b, x, 8, 2)
}

func TestHandleTimestampSizeDifferenceTest_UnrecoverableInconsistency(t *testing.T) {
	for _, mode := range []TimestampSizeConsistencyMode{VerifyConsistency, ReconcileInconsistency} {
		x, err := HandleWriteBatchTimestampSizeDifference(udtBatch(t, map[uint32]int{1: 8}), map[uint32]int{1: 1}, map[uint32]uint16{1: 8}, mode)
		if x != nil || !errors.Is(err, rocksdb.ErrInvalidArgument) {
			t.Errorf("mode %d: %v, %v", mode, x, err)
		}
	}
}

// udtChange tries a change of comparator; the flags are those that are allowed
// to be new and old persist_user_defined_timestamps.
func udtChange(t *testing.T, now, before rocksdb.Comparator, allowed func(newPersist, oldPersist bool) bool, marks bool) {
	t.Helper()
	for _, n := range []bool{false, true} {
		for _, o := range []bool{false, true} {
			mark, err := ValidateUserDefinedTimestampsOptions(now, before.Name(), n, o)
			switch ok := allowed(n, o); {
			case ok && (err != nil || mark != marks):
				t.Errorf("%v, %v: %v, mark %v", n, o, err, mark)
			case !ok && !errors.Is(err, rocksdb.ErrInvalidArgument):
				t.Errorf("%v, %v: %v", n, o, err)
			}
		}
	}
}

var (
	udtPlain, udtStamped              = util.BytewiseComparator(), util.BytewiseComparatorWithU64Ts()
	udtReverse, udtReverseStamped     = util.ReverseBytewiseComparator(), util.ReverseBytewiseComparatorWithU64Ts()
	udtNewOff                         = func(n, _ bool) bool { return !n }
	udtOldOff                         = func(_, o bool) bool { return !o }
	udtAlways, udtSameFlags, udtNever = func(_, _ bool) bool { return true }, func(n, o bool) bool { return n == o }, func(_, _ bool) bool { return false }
)

func TestValidateUserDefinedTimestampsOptionsTest_EnableUserDefinedTimestamps(t *testing.T) {
	udtChange(t, udtStamped, udtPlain, udtNewOff, true)
}

func TestValidateUserDefinedTimestampsOptionsTest_EnableUserDefinedTimestampsNewPersistUDTFlagIncorrect(t *testing.T) {
	for _, old := range []bool{true, false} {
		if _, err := ValidateUserDefinedTimestampsOptions(udtStamped, udtPlain.Name(), true, old); !errors.Is(err, rocksdb.ErrInvalidArgument) {
			t.Error(err)
		}
	}
}

func TestValidateUserDefinedTimestampsOptionsTest_DisableUserDefinedTimestamps(t *testing.T) {
	udtChange(t, udtReverse, udtReverseStamped, udtOldOff, false)
}

func TestValidateUserDefinedTimestampsOptionsTest_DisableUserDefinedTimestampsOldPersistUDTFlagIncorrect(t *testing.T) {
	for _, now := range []bool{false, true} {
		if _, err := ValidateUserDefinedTimestampsOptions(udtPlain, udtStamped.Name(), now, true); !errors.Is(err, rocksdb.ErrInvalidArgument) {
			t.Error(err)
		}
	}
}

func TestValidateUserDefinedTimestampsOptionsTest_UserComparatorUnchanged(t *testing.T) {
	udtChange(t, udtPlain, udtPlain, udtAlways, false)
	udtChange(t, udtStamped, udtStamped, udtSameFlags, false)
}

func TestValidateUserDefinedTimestampsOptionsTest_InvalidUserComparatorChange(t *testing.T) {
	udtChange(t, udtPlain, udtReverse, udtNever, false)
}

func TestGetFullHistoryTsLowFromU64CutoffTsTest_Success(t *testing.T) {
	low, err := GetFullHistoryTsLowFromU64CutoffTs(util.EncodeU64Ts(3))
	if err != nil || !bytes.Equal(low, util.EncodeU64Ts(4)) {
		t.Errorf("%x, %v", low, err)
	}
}
