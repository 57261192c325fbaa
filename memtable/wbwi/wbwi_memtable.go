// Port of memtable/wbwi_memtable.{h,cc}.

package wbwi

import (
	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/db/memtable"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/options"
	writebatchwithindex "github.com/rocksdb-go/rocksdb/utilities/write_batch_with_index"
)

// SeqnoRange is the sequence numbers of a batch, both ends included.
type SeqnoRange struct{ LowerBound, UpperBound rocksdb.SequenceNumber }

// Source is one family's entries of a batch; see memtable.Source.
type Source struct {
	batch  *writebatchwithindex.WriteBatchWithIndex
	family uint32
	seqnos SeqnoRange
	icmp   *dbformat.InternalKeyComparator
	count  uint64
}

// NewMemTable makes an immutable memtable, without references, of a family's
// entries of b, which must have been made with OverwriteKey and must not be changed
// any more. stat is what b counted of the family.
func NewMemTable(b *writebatchwithindex.WriteBatchWithIndex, family uint32, stat writebatchwithindex.CFStat, seqnos SeqnoRange,
	icmp *dbformat.InternalKeyComparator, io *options.ImmutableOptions, mo *options.MutableCFOptions) *memtable.MemTable {
	s := &Source{batch: b, family: family, seqnos: seqnos, icmp: icmp, count: uint64(stat.EntryCount) + uint64(stat.OverwrittenSDCount)}
	return memtable.NewWithSource(icmp, io, mo, s, seqnos.LowerBound)
}

// NumEntries implements memtable.Source: overwritten single deletions count.
func (s *Source) NumEntries() uint64 { return s.count }

// NewIterator implements memtable.Source.
func (s *Source) NewIterator(forFlush bool) memtable.SourceIterator {
	return &iterator{s: s, it: s.batch.NewIteratorByID(s.family), forFlush: forFlush}
}

// iterator gives a batch's entries sequence numbers.
type iterator struct {
	s        *Source
	it       *writebatchwithindex.Iterator
	entry    writebatchwithindex.WriteEntry
	key      []byte
	err      error
	forFlush bool // overwritten single deletions are shown behind what did so
	atSD     bool // and this is one
}

var valueTypes = map[writebatchwithindex.WriteType]dbformat.ValueType{
	writebatchwithindex.PutRecord:          dbformat.TypeValue,
	writebatchwithindex.MergeRecord:        dbformat.TypeMerge,
	writebatchwithindex.DeleteRecord:       dbformat.TypeDeletion,
	writebatchwithindex.SingleDeleteRecord: dbformat.TypeSingleDeletion,
	writebatchwithindex.PutEntityRecord:    dbformat.TypeWideColumnEntity,
}

// settle takes over the entry that the batch's iterator is at.
func (i *iterator) settle() {
	i.atSD = false
	if !i.it.Valid() {
		return
	}
	i.entry = i.it.Entry()
	t, ok := valueTypes[i.entry.Type]
	if !ok {
		i.err = rocksdb.Corruptionf("Unexpected write_batch_with_index entry type %d", i.entry.Type)
		return
	}
	i.setKey(i.seqno(), t)
}

// setKey makes key of the entry.
func (i *iterator) setKey(seq rocksdb.SequenceNumber, t dbformat.ValueType) {
	i.key = dbformat.AppendInternalKey(i.key[:0], i.entry.Key, seq, t)
}

// seqno is that of the batch iterator's entry.
func (i *iterator) seqno() rocksdb.SequenceNumber {
	return i.s.seqnos.LowerBound + rocksdb.SequenceNumber(i.it.GetUpdateCount()) - 1
}

func (i *iterator) Valid() bool   { return i.err == nil && i.it.Valid() }
func (i *iterator) Status() error { return i.err }
func (i *iterator) Key() []byte   { return i.key }

func (i *iterator) Value() []byte {
	if i.atSD {
		return nil
	}
	return i.entry.Value
}

func (i *iterator) SeekToFirst() {
	i.it.SeekToFirst()
	i.settle()
}

func (i *iterator) SeekToLast() {
	i.it.SeekToLast()
	i.settle()
}

func (i *iterator) Seek(internalKey []byte) {
	user, seq := dbformat.ExtractUserKey(internalKey), dbformat.GetInternalKeySeqno(internalKey)
	i.it.Seek(user)
	for i.it.Valid() && seq < i.seqno() && i.s.icmp.EqualUserKey(i.it.Entry().Key, user) {
		i.it.Next()
	}
	i.settle()
}

func (i *iterator) Next() {
	if i.forFlush && !i.atSD && i.it.HasOverWrittenSingleDel() {
		// What overwrites it is numbered from the lower bound + 1 on.
		i.atSD = true
		i.setKey(i.s.seqnos.LowerBound, dbformat.TypeSingleDeletion)
		return
	}
	i.it.Next()
	i.settle()
}

func (i *iterator) Prev() {
	i.it.Prev()
	i.settle()
}
