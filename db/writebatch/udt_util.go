// Port of util/udt_util.{h,cc}. Differs: it stands with the batches that it
// rebuilds; the record of sizes in a WAL is package wal's.

package writebatch

import (
	"strings"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

// TimestampSizeConsistencyMode says what to do with a batch that was written
// under other sizes of timestamps.
type TimestampSizeConsistencyMode uint8

const (
	// VerifyConsistency refuses it.
	VerifyConsistency TimestampSizeConsistencyMode = iota
	// ReconcileInconsistency strips timestamps from keys of families that have
	// none any more, and gives keys of families that have got some the least.
	ReconcileInconsistency
)

// timestampRecovery is what a family's keys need.
type timestampRecovery uint8

const (
	recoverNothing timestampRecovery = iota
	recoverImpossible
	recoverByStripping
	recoverByPadding
)

// timestampSizes are the sizes at present, of all families, and those recorded
// in the WAL, which names only families with timestamps.
type timestampSizes struct {
	running  map[uint32]int
	recorded map[uint32]uint16
}

func (s *timestampSizes) recoveryOf(cf uint32, running int) timestampRecovery {
	recorded, known := s.recorded[cf]
	switch {
	case running == 0 && known:
		return recoverByStripping
	case running == 0:
		return recoverNothing
	case !known:
		return recoverByPadding
	case running != int(recorded):
		return recoverImpossible
	}
	return recoverNothing
}

// HandleWriteBatchTimestampSizeDifference compares the sizes of timestamps
// under which b was written with those at present. Where they differ for a
// family that b writes to, and mode allows it, it gives another batch to use
// instead, of as many entries; otherwise nil. Dropped families do not matter.
func HandleWriteBatchTimestampSizeDifference(b *WriteBatch, running map[uint32]int, recorded map[uint32]uint16, mode TimestampSizeConsistencyMode) (*WriteBatch, error) {
	s := &timestampSizes{running, recorded}
	same := true
	for cf, size := range running {
		same = same && s.recoveryOf(cf, size) == recoverNothing
	}
	if same {
		return nil, nil
	}
	h := &timestampRecoveryHandler{sizes: s}
	if err := b.Iterate(h); err != nil {
		return nil, err
	}
	switch {
	case !h.needed:
		return nil, nil
	case mode == VerifyConsistency:
		return nil, rocksdb.InvalidArgument("WriteBatch contains timestamp size inconsistency.")
	case h.impossible:
		return nil, rocksdb.InvalidArgument("WriteBatch contains unrecoverable timestamp size inconsistency.")
	case h.err != nil:
		return nil, h.err
	}
	h.out.SetSequence(b.Sequence())
	return &h.out, nil
}

// timestampRecoveryHandler copies a batch, changing its keys where needed.
type timestampRecoveryHandler struct {
	sizes              *timestampSizes
	out                WriteBatch
	keys               [2][]byte // padded, of the record at hand
	needed, impossible bool
	err                error // of copying, which matters only where it is needed
}

// key gives a key as it has to be now; i tells the two of a record apart.
func (h *timestampRecoveryHandler) key(i int, cf uint32, key []byte) []byte {
	running, alive := h.sizes.running[cf]
	if !alive {
		return key
	}
	recovery := h.sizes.recoveryOf(cf, running)
	h.needed = h.needed || recovery != recoverNothing
	switch recovery {
	case recoverImpossible:
		h.impossible = true
	case recoverByStripping:
		n := int(h.sizes.recorded[cf])
		if len(key) < n {
			h.keep(rocksdb.Corruptionf("a key of %d bytes cannot end with a timestamp of %d", len(key), n))
			return key
		}
		return key[:len(key)-n]
	case recoverByPadding:
		h.keys[i] = dbformat.AppendKeyWithMinTimestamp(h.keys[i][:0], key, running)
		return h.keys[i]
	}
	return key
}

func (h *timestampRecoveryHandler) keep(err error) error {
	if h.err == nil {
		h.err = err
	}
	return nil
}

func (h *timestampRecoveryHandler) PutCF(cf uint32, key, value []byte) error {
	return h.keep(h.out.PutByID(cf, h.key(0, cf, key), value))
}

func (h *timestampRecoveryHandler) TimedPutCF(cf uint32, key, value []byte, writeTime uint64) error {
	return h.keep(h.out.TimedPutByID(cf, h.key(0, cf, key), value, writeTime))
}

func (h *timestampRecoveryHandler) PutEntityCF(cf uint32, key, entity []byte) error {
	return h.keep(h.out.PutEntitySerialized(cf, h.key(0, cf, key), entity))
}

func (h *timestampRecoveryHandler) DeleteCF(cf uint32, key []byte) error {
	return h.keep(h.out.DeleteByID(cf, h.key(0, cf, key)))
}

func (h *timestampRecoveryHandler) SingleDeleteCF(cf uint32, key []byte) error {
	return h.keep(h.out.SingleDeleteByID(cf, h.key(0, cf, key)))
}

func (h *timestampRecoveryHandler) DeleteRangeCF(cf uint32, begin, end []byte) error {
	return h.keep(h.out.DeleteRangeByID(cf, h.key(0, cf, begin), h.key(1, cf, end)))
}

func (h *timestampRecoveryHandler) MergeCF(cf uint32, key, operand []byte) error {
	return h.keep(h.out.MergeByID(cf, h.key(0, cf, key), operand))
}

func (h *timestampRecoveryHandler) PutBlobIndexCF(cf uint32, key, index []byte) error {
	return h.keep(h.out.PutBlobIndex(cf, h.key(0, cf, key), index))
}

func (h *timestampRecoveryHandler) LogData([]byte) {}

// MarkBeginPrepare refuses what only the policy WriteUnprepared writes, which
// does not go with timestamps.
func (h *timestampRecoveryHandler) MarkBeginPrepare(unprepare bool) error {
	if unprepare {
		return h.keep(rocksdb.InvalidArgument("Handle user defined timestamp setting change is not supported for" +
			"write unprepared policy. The WAL must be emptied."))
	}
	h.out.InsertBeginPrepare(true, false)
	return nil
}

func (h *timestampRecoveryHandler) MarkEndPrepare(xid []byte) error {
	h.out.InsertEndPrepare(xid)
	return nil
}

func (h *timestampRecoveryHandler) MarkNoop(bool) error { h.out.InsertNoop(); return nil }

func (h *timestampRecoveryHandler) MarkRollback(xid []byte) error {
	h.out.MarkRollback(xid)
	return nil
}

func (h *timestampRecoveryHandler) MarkCommit(xid []byte) error { h.out.MarkCommit(xid); return nil }

func (h *timestampRecoveryHandler) MarkCommitWithTimestamp(xid, ts []byte) error {
	return h.keep(h.out.MarkCommitWithTimestamp(xid, ts))
}

func (h *timestampRecoveryHandler) Continue() bool                  { return true }
func (h *timestampRecoveryHandler) WriteAfterCommit() OptionState   { return OptionEnabled }
func (h *timestampRecoveryHandler) WriteBeforePrepare() OptionState { return OptionDisabled }

// u64TsSuffix ends the names of comparators with 64-bit timestamps.
const u64TsSuffix = ".u64ts"

// ValidateUserDefinedTimestampsOptions tells whether a family whose MANIFEST
// names a comparator may be opened with another. Timestamps may be turned on
// and off where files do not keep them; turned on, existing files have to be
// marked as having none.
func ValidateUserDefinedTimestampsOptions(cmp rocksdb.Comparator, oldName string, newPersist, oldPersist bool) (markNoUDT bool, err error) {
	name := cmp.Name()
	added, isOn := strings.CutSuffix(name, u64TsSuffix)
	removed, wasOn := strings.CutSuffix(oldName, u64TsSuffix)
	switch {
	case name == oldName:
		if oldPersist != newPersist && cmp.TimestampSize() > 0 {
			return false, rocksdb.InvalidArgument("Cannot toggle the persist_user_defined_timestamps flag for a column family with user-defined timestamps feature enabled.")
		}
		return false, nil
	case isOn && added == oldName:
		if newPersist {
			return false, rocksdb.InvalidArgument("Cannot open a column family and enable user-defined timestamps feature without setting persist_user_defined_timestamps flag to false.")
		}
		return true, nil
	case wasOn && removed == name:
		if oldPersist {
			return false, rocksdb.InvalidArgument("Cannot open a column family and disable user-defined timestamps feature if its existing persist_user_defined_timestamps flag is not false.")
		}
		return false, nil
	}
	return false, rocksdb.InvalidArgument(name, "does not match existing comparator "+oldName)
}

// GetFullHistoryTsLowFromU64CutoffTs gives the timestamp after cutoff, the
// newest that may go.
func GetFullHistoryTsLowFromU64CutoffTs(cutoff []byte) ([]byte, error) {
	ts, err := util.DecodeU64Ts(cutoff)
	if err != nil {
		return nil, err
	}
	return util.EncodeU64Ts(ts + 1), nil
}
