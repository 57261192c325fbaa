// Port of table/block_based/block_based_table_iterator.h (write_unix_time) and
// block_based_table_reader.h (GetSeqnoToTimeMapping). Differs: the mapping is
// decoded when it is first asked for.

package blockbased

import (
	"sync"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/db/seqnotime"
	"github.com/rocksdb-go/rocksdb/table/internaliter"
)

// writeTimes is a table's mapping of sequence numbers to times.
type writeTimes struct {
	once sync.Once
	m    *seqnotime.SeqnoToTimeMapping
}

// GetSeqnoToTimeMapping is the one in the table's properties, empty when there
// is none or it is damaged.
func (t *BlockBasedTable) GetSeqnoToTimeMapping() *seqnotime.SeqnoToTimeMapping {
	t.times.once.Do(func() {
		m := seqnotime.NewSeqnoToTimeMapping()
		if s := t.props.SeqnoToTimeMapping; s == "" || m.DecodeFrom([]byte(s)) != nil {
			m = seqnotime.NewSeqnoToTimeMapping()
		}
		t.times.m = m
	})
	return t.times.m
}

// WriteUnixTime is about when the entry was written.
func (it *BlockBasedTableIterator) WriteUnixTime() uint64 {
	seq, typ := dbformat.UnPackSequenceAndType(dbformat.ExtractInternalKeyFooter(it.Key()))
	if seq == seqnotime.UnknownSeqnoBeforeAll {
		return seqnotime.UnknownTimeBeforeAll
	}
	m := it.t.GetSeqnoToTimeMapping()
	if m.Empty() {
		return internaliter.UnknownUnixTime
	}
	if typ == dbformat.TypeValuePreferredSeqno {
		_, preferred, ok := seqnotime.ParsePackedValueWithSeqno(it.Value())
		if !ok {
			return internaliter.UnknownUnixTime
		}
		seq = preferred
	}
	return m.GetProximalTimeBeforeSeqno(seq)
}
