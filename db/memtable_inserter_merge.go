// Port of db/write_batch.cc (MemTableInserter::MergeCF, the merge at insertion).

package db

import (
	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/db/memtable"
	"github.com/rocksdb-go/rocksdb/db/merge"
	"github.com/rocksdb-go/rocksdb/db/wide"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// mergesAtInsertion tells whether there are max_successive_merges operands of
// the key on top of the memtable, so that the next one is merged with what is
// there. In recovery, and while others insert, nothing is read.
func (m *MemTableInserter) mergesAtInsertion(mem *memtable.MemTable, key []byte) bool {
	limit, _ := mem.MaxSuccessiveMerges()
	if limit == 0 || m.ReadEntity == nil || m.RecoveringLogNumber != 0 || m.Concurrent || m.cfd.UserComparator().TimestampSize() > 0 {
		return false
	}
	m.lookup.Set(key, m.Sequence, nil)
	return mem.CountSuccessiveMergeEntries(&m.lookup, limit) >= limit
}

// mergeAtInsertion merges operand with the key's value, earlier entries of the
// batch included. It is false when the value cannot be read without I/O, unless
// strict_max_successive_merges allows that, or the merge fails; the operand is
// then stored as it is.
func (m *MemTableInserter) mergeAtInsertion(mem *memtable.MemTable, key, operand []byte) (value []byte, t dbformat.ValueType, ok bool) {
	_, strict := mem.MaxSuccessiveMerges()
	var existing rocksdb.PinnableWideColumns
	defer existing.Reset()
	if err := m.ReadEntity(m.cfd, key, m.Sequence, strict, &existing); err != nil {
		return nil, 0, false
	}
	io := m.cfd.IOptions()
	f := merge.FullMerge{Operator: io.MergeOperator, Key: key, Operands: [][]byte{operand}, Base: merge.PlainBaseValue,
		Logger: io.Logger, Statistics: io.Stats, Clock: io.Clock}
	if c := existing.Columns(); len(c) == 1 && len(c[0].Name) == 0 {
		f.Value = c[0].Value
	} else {
		var err error
		if f.Value, err = wide.Serialize(nil, c); err != nil {
			return nil, 0, false
		}
		f.Base = merge.WideBaseValue
	}
	value, t, err := f.Result()
	return value, t, err == nil
}
