// Port of db/memtable.{h,cc}, writes. Updates in place are in
// memtable_inplace_update.go.

package memtable

import (
	"math"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/db/rangedel"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	rep "github.com/rocksdb-go/rocksdb/memtable"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

// MemTablePostProcessInfo gathers one writer's counters over a batch of
// concurrent inserts; BatchPostProcess adds them in.
type MemTablePostProcessInfo struct {
	DataSize        uint64
	NumEntries      uint64
	NumDeletes      uint64
	NumRangeDeletes uint64
	// KeyComparisons are the inserts' comparisons of keys.
	KeyComparisons uint64
}

// PostProcessInfo is short for it.
type PostProcessInfo = MemTablePostProcessInfo

var errKeySeqExists = rocksdb.TryAgain("key+seq exists")

// Add inserts an entry. Range tombstones have their end key as value. With
// allowConcurrent other Adds may run; their counters go to info, which
// BatchPostProcess must be called with, and hint, if not nil, is where the
// batch inserted last. Without it info and hint are nil.
//
// ErrTryAgain says that user key and sequence number are there already, where
// the container notices: the caller may try a greater sequence number.
func (m *MemTable) Add(seq rocksdb.SequenceNumber, t dbformat.ValueType, key, value []byte,
	allowConcurrent bool, info *MemTablePostProcessInfo, hint *Hint) error {
	return m.AddProtected(seq, t, key, value, nil, allowConcurrent, info, hint)
}

// AddProtected is Add of an entry that has a checksum (see dbformat.ProtectKVO
// and ProtectSequence), unless sum is nil; a Corruption says that it does not
// agree, and nothing was added.
func (m *MemTable) AddProtected(seq rocksdb.SequenceNumber, t dbformat.ValueType, key, value []byte, sum *uint64,
	allowConcurrent bool, info *MemTablePostProcessInfo, hint *Hint) error {
	if uint64(len(key)) > math.MaxUint32-dbformat.NumInternalBytes || uint64(len(value)) > math.MaxUint32 {
		return rocksdb.InvalidArgument("key or value larger than 4GB")
	}
	protection := m.opts.ProtectionBytesPerKey
	size := rep.EncodedLength(len(key)+dbformat.NumInternalBytes, len(value)) + protection
	rangeDel := t == dbformat.TypeRangeDeletion
	var entry rep.KeyHandle
	var buf []byte
	switch {
	case rangeDel:
		entry, buf = m.rangeDelTable.Allocate(size)
	case m.skip != nil:
		entry, buf = m.skip.List.AllocateKey(size)
	default:
		entry, buf = m.table.Allocate(size)
	}
	rep.EncodeEntry(buf, key, dbformat.PackSequenceAndType(seq, t), value)
	if sum != nil {
		if syncpoint.Enabled {
			syncpoint.ProcessArg("MemTable::Add:Encoded", buf[:size-protection])
		}
		if err := verifyEncodedEntry(buf[:size-protection], *sum); err != nil {
			return err
		}
	}
	if protection > 0 {
		s := protect(key, value, t, seq)
		if sum != nil {
			s = *sum
		}
		encodeChecksum(buf[size-protection:], s)
	}
	if !m.insert(entry, rangeDel, allowConcurrent, info, hint) {
		return errKeySeqExists
	}
	if m.bloom != nil {
		m.addToBloom(key, allowConcurrent)
	}
	m.lowerSeqnos(seq)
	if m.tsSize > 0 {
		m.maybeUpdateNewestUDT(entry)
	}
	if rangeDel {
		// A reader that still takes the old cache may: the new sequence number
		// is not published yet.
		m.rangeDel.Lock()
		m.rangeDel.cache.Store(&rangedel.FragmentedRangeTombstoneListCache{})
		m.rangeDel.Unlock()
		m.hasRangeDel.Store(true)
	}
	m.updateOldestKeyTime()
	m.count(t, uint64(size), info)
	if syncpoint.Enabled {
		syncpoint.ProcessArg("MemTable::Add:BeforeReturn:Encoded", buf[:size-protection])
	}
	return nil
}

// insert puts an entry into its container.
func (m *MemTable) insert(entry rep.KeyHandle, rangeDel, concurrent bool, info *MemTablePostProcessInfo, hint *Hint) bool {
	if rangeDel {
		return m.rangeDelTable.InsertConcurrently(entry)
	}
	if concurrent {
		switch {
		case hint != nil:
			return m.table.InsertWithHintConcurrently(entry, hint)
		case m.skip != nil:
			return m.skip.List.InsertConcurrentlyCounting(entry, &info.KeyComparisons)
		default:
			return m.table.InsertConcurrently(entry)
		}
	}
	if m.insertHints != nil {
		user := dbformat.ExtractUserKey(rep.EntryKey(entry))
		if t := m.opts.InsertWithHintPrefixExtractor; t.InDomain(user) {
			prefix := t.Transform(user)
			h := m.insertHints[string(prefix)]
			if h == nil {
				h = &rep.Splice{}
				m.insertHints[string(prefix)] = h
				m.numHints.Add(1)
			}
			return m.table.InsertWithHint(entry, h)
		}
	}
	if m.skip != nil {
		return m.skip.List.Insert(entry)
	}
	return m.table.Insert(entry)
}

// KeyComparisons is the number of comparisons of keys that inserts without
// others beside them have made. Not beside such an insert.
func (m *MemTable) KeyComparisons() uint64 {
	if m.skip == nil {
		return 0
	}
	return m.skip.List.KeyComparisons()
}

// count adds an entry of that size to info, or to the memtable's counters.
func (m *MemTable) count(t dbformat.ValueType, size uint64, info *MemTablePostProcessInfo) {
	deletion := t == dbformat.TypeDeletion || t == dbformat.TypeSingleDeletion || t == dbformat.TypeDeletionWithTimestamp
	if info != nil {
		info.NumEntries++
		info.DataSize += size
		if deletion {
			info.NumDeletes++
		} else if t == dbformat.TypeRangeDeletion {
			info.NumRangeDeletes++
		}
		return
	}
	m.numEntries.Add(1)
	m.dataSize.Add(size)
	if deletion {
		m.numDeletes.Add(1)
	} else if t == dbformat.TypeRangeDeletion {
		m.numRangeDeletes.Add(1)
	}
	m.updateFlushState()
}

// BatchPostProcess ends a writer's batch of concurrent inserts.
func (m *MemTable) BatchPostProcess(info *MemTablePostProcessInfo) {
	m.table.BatchPostProcess()
	m.numEntries.Add(info.NumEntries)
	m.dataSize.Add(info.DataSize)
	if info.NumDeletes > 0 {
		m.numDeletes.Add(info.NumDeletes)
	}
	if info.NumRangeDeletes > 0 {
		m.numRangeDeletes.Add(info.NumRangeDeletes)
	}
	m.updateFlushState()
}

func (m *MemTable) addToBloom(key []byte, concurrent bool) {
	key = dbformat.StripTimestampFromUserKey(key, m.tsSize)
	if m.prefixExtractor != nil && m.prefixExtractor.InDomain(key) {
		m.bloomAdd(m.prefixExtractor.Transform(key), concurrent)
	}
	if m.opts.WholeKeyFiltering {
		m.bloomAdd(key, concurrent)
	}
}

func (m *MemTable) bloomAdd(key []byte, concurrent bool) {
	if concurrent {
		m.bloom.AddConcurrently(key)
	} else {
		m.bloom.Add(key)
	}
}

// lowerSeqnos makes first and earliest sequence number include seq.
func (m *MemTable) lowerSeqnos(seq rocksdb.SequenceNumber) {
	for cur := m.firstSeqno.Load(); cur == 0 || seq < cur; cur = m.firstSeqno.Load() {
		if m.firstSeqno.CompareAndSwap(cur, seq) {
			break
		}
	}
	for cur := m.earliestSeqno.Load(); cur == dbformat.MaxSequenceNumber || seq < cur; cur = m.earliestSeqno.Load() {
		if m.earliestSeqno.CompareAndSwap(cur, seq) {
			break
		}
	}
}

func (m *MemTable) maybeUpdateNewestUDT(entry rep.KeyHandle) {
	ts := dbformat.ExtractTimestampFromKey(rep.EntryKey(entry), m.tsSize)
	cmp := m.icmp.UserComparator()
	for {
		cur := atomic.LoadPointer(&m.newestUDT)
		if cur != nil && cmp.CompareTimestamp(ts, unsafe.Slice((*byte)(cur), m.tsSize)) <= 0 {
			return
		}
		if atomic.CompareAndSwapPointer(&m.newestUDT, cur, unsafe.Pointer(unsafe.SliceData(ts))) {
			return
		}
	}
}

// MaxSuccessiveMerges is the option of the memtable's family, 0 for none; strict
// says that merging may read files.
func (m *MemTable) MaxSuccessiveMerges() (n uint64, strict bool) {
	return m.opts.MaxSuccessiveMerges, m.opts.StrictMaxSuccessiveMerges
}

// CountSuccessiveMergeEntries counts the merge operands on top of the key, up
// to limit.
func (m *MemTable) CountSuccessiveMergeEntries(key *dbformat.LookupKey, limit uint64) uint64 {
	c := mergeCounter{m: m, user: key.UserKey(), limit: limit}
	m.table.Get(key.InternalKey(), &c)
	return c.n
}

type mergeCounter struct {
	m        *MemTable
	user     []byte
	n, limit uint64
}

// VisitEntry counts an operand and ends at anything else.
func (c *mergeCounter) VisitEntry(_ int, entry rep.KeyHandle) bool {
	key := rep.EntryKey(entry)
	if c.n >= c.limit || !c.m.icmp.EqualUserKey(dbformat.ExtractUserKey(key), c.user) ||
		dbformat.ExtractValueType(key) != dbformat.TypeMerge {
		return false
	}
	c.n++
	return true
}

// AddLogicallyRedundantRangeTombstone adds [start, end) at seq, derived from
// point tombstones that delete all of it already, so that later reads skip
// them. It is false, and nothing was added, when the memtable is immutable, the
// tombstone is there, or a file is being ingested or was at a greater sequence
// number: reads take it that what lies below a tombstone's level is older, and
// the file would be shadowed. ingestLock is held for reading by ingestions.
func (m *MemTable) AddLogicallyRedundantRangeTombstone(seq rocksdb.SequenceNumber, start, end []byte, ingestLock *sync.RWMutex) bool {
	if m.isImmutable.Load() {
		return false
	}
	if syncpoint.Enabled {
		syncpoint.ProcessArg("MemTable::AddLogicallyRedundantRangeTombstone:AddRange", [2][]byte{start, end})
	}
	m.immutable.RLock()
	defer m.immutable.RUnlock()
	if m.isImmutable.Load() || !ingestLock.TryLock() {
		return false
	}
	defer ingestLock.Unlock()
	if seq < m.ingestSeqnoBarrier.Load() {
		return false
	}
	var info MemTablePostProcessInfo
	if m.Add(seq, dbformat.TypeRangeDeletion, start, end, true, &info, nil) != nil {
		return false
	}
	m.BatchPostProcess(&info)
	return true
}

// BumpIngestSeqnoBarrier says that a file was ingested at seq; the DB mutex is
// held.
func (m *MemTable) BumpIngestSeqnoBarrier(seq rocksdb.SequenceNumber) {
	if m.ingestSeqnoBarrier.Load() < seq {
		m.ingestSeqnoBarrier.Store(seq)
	}
}
