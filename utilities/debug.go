// Port of include/rocksdb/utilities/debug.h and utilities/debug.cc. Differs: the entries are handed to a function,
// so that a whole database need not fit in memory.

package utilities

import (
	"bytes"

	"github.com/rocksdb-go/rocksdb/db"
	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/db/memtable"
	"github.com/rocksdb-go/rocksdb/db/rangedel"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/table"
	"github.com/rocksdb-go/rocksdb/table/internaliter"
)

// KeyVersion is one entry of the tree as it is stored.
type KeyVersion struct {
	UserKey  []byte // with its timestamp; valid during the call only
	Value    []byte // valid during the call only
	Sequence rocksdb.SequenceNumber
	Type     dbformat.ValueType
}

// valueTypeNames are upstream's.
var valueTypeNames = [dbformat.TypeMaxValid]string{
	dbformat.TypeDeletion:                        "TypeDeletion",
	dbformat.TypeValue:                           "TypeValue",
	dbformat.TypeMerge:                           "TypeMerge",
	dbformat.TypeLogData:                         "TypeLogData",
	dbformat.TypeColumnFamilyDeletion:            "TypeColumnFamilyDeletion",
	dbformat.TypeColumnFamilyValue:               "TypeColumnFamilyValue",
	dbformat.TypeColumnFamilyMerge:               "TypeColumnFamilyMerge",
	dbformat.TypeSingleDeletion:                  "TypeSingleDeletion",
	dbformat.TypeColumnFamilySingleDeletion:      "TypeColumnFamilySingleDeletion",
	dbformat.TypeBeginPrepareXID:                 "TypeBeginPrepareXID",
	dbformat.TypeEndPrepareXID:                   "TypeEndPrepareXID",
	dbformat.TypeCommitXID:                       "TypeCommitXID",
	dbformat.TypeRollbackXID:                     "TypeRollbackXID",
	dbformat.TypeNoop:                            "TypeNoop",
	dbformat.TypeColumnFamilyRangeDeletion:       "TypeColumnFamilyRangeDeletion",
	dbformat.TypeRangeDeletion:                   "TypeRangeDeletion",
	dbformat.TypeColumnFamilyBlobIndex:           "TypeColumnFamilyBlobIndex",
	dbformat.TypeBlobIndex:                       "TypeBlobIndex",
	dbformat.TypeBeginPersistedPrepareXID:        "TypeBeginPersistedPrepareXID",
	dbformat.TypeBeginUnprepareXID:               "TypeBeginUnprepareXID",
	dbformat.TypeDeletionWithTimestamp:           "TypeDeletionWithTimestamp",
	dbformat.TypeCommitXIDAndTimestamp:           "TypeCommitXIDAndTimestamp",
	dbformat.TypeWideColumnEntity:                "TypeWideColumnEntity",
	dbformat.TypeColumnFamilyWideColumnEntity:    "TypeColumnFamilyWideColumnEntity",
	dbformat.TypeValuePreferredSeqno:             "TypeValuePreferredSeqno",
	dbformat.TypeColumnFamilyValuePreferredSeqno: "TypeColumnFamilyValuePreferredSeqno",
}

// GetTypeName names the entry's type, "Invalid" for none.
func (v *KeyVersion) GetTypeName() string {
	if v.Type >= dbformat.TypeMaxValid {
		return "Invalid"
	}
	return valueTypeNames[v.Type]
}

// GetAllKeyVersions calls f for the entries with user keys from begin to end,
// both included and without timestamps; nil is open. What range tombstones of
// the tree cover is left out. It stops early when f says so.
func GetAllKeyVersions(cfd *db.ColumnFamilyData, begin, end []byte, f func(*KeyVersion) (more bool)) error {
	sv := cfd.GetReferencedSuperVersion()
	defer sv.Release()
	ro := rocksdb.DefaultReadOptions()
	it := newInternalIterator(cfd, sv, &ro)
	ucmp := cfd.UserComparator()
	if n := ucmp.TimestampSize(); n > 0 {
		newest := bytes.Repeat([]byte{0xff}, n)
		if begin != nil {
			begin = append(bytes.Clone(begin), newest...)
		}
		if end != nil {
			end = append(bytes.Clone(end), newest...)
		}
	}
	if begin != nil {
		it.Seek(dbformat.AppendInternalKey(nil, begin, dbformat.MaxSequenceNumber, dbformat.ValueTypeForSeek))
	} else {
		it.SeekToFirst()
	}
	var v KeyVersion
	for ; it.Valid(); it.Next() {
		k, err := dbformat.ParseInternalKey(it.Key(), true)
		if err != nil {
			_ = it.Close()
			return err
		}
		if end != nil && ucmp.Compare(k.UserKey, end) > 0 {
			break
		}
		v = KeyVersion{UserKey: k.UserKey, Value: it.Value(), Sequence: k.Sequence, Type: k.Type}
		if !f(&v) {
			break
		}
	}
	err := it.Status()
	if e := it.Close(); err == nil {
		err = e
	}
	return err
}

// newInternalIterator merges memtables and tables of sv.
func newInternalIterator(cfd *db.ColumnFamilyData, sv *db.SuperVersion, ro *rocksdb.ReadOptions) internaliter.InternalIterator {
	prefix := sv.MutableCFOptions.PrefixExtractor
	b := table.NewMergeIteratorBuilder(cfd.InternalComparator(), !ro.TotalOrderSeek && prefix != nil, ro.IterateUpperBound)
	add := func(m *memtable.MemTable, immutable bool) error {
		t, err := m.NewRangeTombstoneIterator(ro, dbformat.MaxSequenceNumber, immutable)
		if err != nil {
			return err
		}
		var tr *rangedel.TruncatedRangeDelIterator
		if t != nil && !t.Empty() {
			tr = rangedel.NewTruncatedRangeDelIterator(t, cfd.InternalComparator(), nil, nil)
		}
		b.AddPointAndTombstoneIterator(m.NewIterator(ro, prefix, nil), tr, nil)
		return nil
	}
	err := add(sv.Mem, false)
	for _, m := range sv.Imm.Memtables() {
		if err == nil {
			err = add(m, true)
		}
	}
	if err != nil {
		return internaliter.NewErrorInternalIterator(err)
	}
	sv.Current.AddIterators(ro, b, false, dbformat.MaxSequenceNumber, nil)
	return b.Finish(nil)
}
