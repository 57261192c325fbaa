// Port of db/memtable.h (ReadOnlyMemTable). Differs: what upstream's interface is
// for, a memtable whose entries lie elsewhere, is a MemTable with a Source.

package memtable

import (
	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/db/seqnotime"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/options"
)

// Source has the entries of a memtable that nothing is inserted into. Keys have no
// timestamps. It may be read by several goroutines.
type Source interface {
	// NewIterator walks the entries; one for a flush may show more of them than
	// lookups see, and is only moved from the first to the last.
	NewIterator(forFlush bool) SourceIterator
	// NumEntries is the number of entries that a flush sees.
	NumEntries() uint64
}

// SourceIterator walks a Source in order of internal keys. Key is valid until the
// iterator moves, Value as long as the source is there.
type SourceIterator interface {
	Valid() bool
	Status() error
	SeekToFirst()
	SeekToLast()
	Seek(internalKey []byte)
	Next()
	Prev()
	Key() []byte
	Value() []byte
}

// NewWithSource makes an immutable memtable, without references, of src's entries.
// Their least sequence number is first; 0 for no entries.
func NewWithSource(icmp *dbformat.InternalKeyComparator, io *options.ImmutableOptions, mo *options.MutableCFOptions,
	src Source, first rocksdb.SequenceNumber) *MemTable {
	m := New(icmp, io, mo, nil, first, 0)
	m.source, m.skip, m.bloom, m.validate = src, nil, nil, nil
	// What is about entries of the container.
	o := &m.opts
	o.InplaceUpdateSupport, o.ParanoidMemoryChecks, o.VerifyPerKeyChecksumOnSeek = false, false, false
	o.BatchLookupOptimization, o.ProtectionBytesPerKey = false, 0
	m.numEntries.Store(src.NumEntries())
	m.firstSeqno.Store(first)
	m.MarkImmutable()
	m.ConstructFragmentedRangeTombstones()
	return m
}

// HasSource tells whether the memtable was made by NewWithSource.
func (m *MemTable) HasSource() bool { return m.source != nil }

// NewFlushIterator is NewIterator for a flush.
func (m *MemTable) NewFlushIterator(ro *rocksdb.ReadOptions, toTime *seqnotime.SeqnoToTimeMapping) *MemTableIterator {
	it := m.NewIterator(ro, nil, toTime)
	if m.source != nil {
		it.src = m.source.NewIterator(true)
	}
	return it
}

// getFromSource is getFromTable.
// Upstream: WBWIMemTable::Get.
func (m *MemTable) getFromSource(key *dbformat.LookupKey, st *LookupState) {
	it := m.source.NewIterator(false)
	for it.Seek(key.InternalKey()); it.Valid(); it.Next() {
		ikey := it.Key()
		user := dbformat.ExtractUserKey(ikey)
		if !m.sameUserKey(user, st.user) {
			break
		}
		seq, t := dbformat.UnPackSequenceAndType(dbformat.ExtractInternalKeyFooter(ikey))
		if !st.saveRecord(user, seq, t, it.Value()) {
			return
		}
	}
	if err := it.Status(); err != nil {
		st.fail(err)
	}
}
