// Port of db/write_batch.cc (MemTableInserter). Differs: prepared transactions
// found in a WAL are refused until transactions are there.

package db

import (
	"fmt"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/db/memtable"
	"github.com/rocksdb-go/rocksdb/db/seqnotime"
	"github.com/rocksdb-go/rocksdb/db/writebatch"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/monitoring"
)

// MemTableInserter puts a batch's entries into the memtables of their families.
// It is a writebatch.Handler and may be reused by Reset. It is used by one
// goroutine; several may insert side by side with Concurrent set.
type MemTableInserter struct {
	// ReadValue (optional) reads a value, nil when there is none, for
	// inplace_callback to change it; the result may be written to.
	ReadValue func(cfd *ColumnFamilyData, key []byte, seq rocksdb.SequenceNumber) ([]byte, error)

	// ReadEntity (optional) reads an entity for max_successive_merges; mayRead
	// allows I/O.
	ReadEntity func(cfd *ColumnFamilyData, key []byte, seq rocksdb.SequenceNumber, mayRead bool, columns *rocksdb.PinnableWideColumns) error

	writebatch.HandlerBase

	Families             *ColumnFamilySet
	FlushScheduler       *FamilyScheduler
	TrimHistoryScheduler *FamilyScheduler
	// Sequence of the next entry.
	Sequence rocksdb.SequenceNumber
	// IgnoreMissingColumnFamilies skips entries of unknown families.
	IgnoreMissingColumnFamilies bool
	// RecoveringLogNumber is the WAL being replayed, 0 for a fresh write:
	// families that have its data in SSTs skip it.
	RecoveringLogNumber uint64
	// Concurrent says that others insert at the same time.
	Concurrent bool
	// HintPerBatch begins each entry's search where the batch's last one of the
	// memtable ended; with Concurrent only.
	HintPerBatch bool
	// PerfContext (optional) counts comparisons of keys.
	PerfContext *rocksdb.PerfContext
	// HasValidWrites is set once something was inserted.
	HasValidWrites bool

	cfd    *ColumnFamilyData // of the entry at hand
	post   []postInfo        // concurrent: counts to add at the end
	hints  []batchHint       // with HintPerBatch
	packed []byte            // a timed put's value, reused

	counted     *memtable.MemTable // whose comparisons are being counted
	comparisons uint64             // its number of them when that began
	lookup      dbformat.LookupKey // of merges, reused

	protection []uint64               // checksums of the batch's entries, nil for none
	changed    uint64                 // what takes the checksum of the entry at hand to that of what it became
	first      rocksdb.SequenceNumber // of the batch
}

type postInfo struct {
	mem  *memtable.MemTable
	info memtable.MemTablePostProcessInfo
}

// batchHint is where a batch inserted last into mem.
type batchHint struct {
	mem  *memtable.MemTable
	hint memtable.Hint
}

// Reset prepares for another batch.
func (m *MemTableInserter) Reset() {
	m.HintPerBatch = false
	m.HasValidWrites = false
	m.PerfContext = nil
	m.cfd = nil
	m.post = m.post[:0]
	m.protection = nil
}

// Insert applies batch, whose first entry gets Sequence. Where entries have
// checksums they are compared with what goes into the memtables.
func (m *MemTableInserter) Insert(batch *writebatch.WriteBatch) error {
	m.protection, m.first = batch.Protection(), m.Sequence
	m.counted = nil
	err := batch.Iterate(m)
	m.countComparisons(nil)
	m.protection = nil // it is the batch's
	return err
}

// PostProcess adds the counts of concurrent inserts to the memtables.
func (m *MemTableInserter) PostProcess() {
	for i := range m.post {
		m.post[i].mem.BatchPostProcess(&m.post[i].info)
		if m.PerfContext.CountEnabled() {
			m.PerfContext.UserKeyComparisonCount += m.post[i].info.KeyComparisons
		}
	}
	m.post = m.post[:0]
	m.hints = m.hints[:0]
}

// hintOf is nil without HintPerBatch.
func (m *MemTableInserter) hintOf(mem *memtable.MemTable) *memtable.Hint {
	if !m.HintPerBatch {
		return nil
	}
	for i := range m.hints {
		if m.hints[i].mem == mem {
			return &m.hints[i].hint
		}
	}
	m.hints = append(m.hints, batchHint{mem: mem})
	return &m.hints[len(m.hints)-1].hint
}

// seekToFamily finds the entry's family; ok is false when the entry is to be
// skipped.
func (m *MemTableInserter) seekToFamily(id uint32) (ok bool, err error) {
	if m.cfd == nil || m.cfd.id != id {
		m.cfd = m.Families.GetColumnFamily(id)
	}
	if m.cfd == nil {
		if m.IgnoreMissingColumnFamilies {
			return false, nil
		}
		return false, rocksdb.InvalidArgument("Invalid column family specified in write batch")
	}
	if m.cfd.ioptions.DisallowMemtableWrites {
		return false, rocksdb.InvalidArgument("This column family has disallow_memtable_writes=true")
	}
	if m.RecoveringLogNumber != 0 && m.RecoveringLogNumber < m.cfd.GetLogNumber() {
		// The family's SSTs have this WAL's data already.
		return false, nil
	}
	return true, nil
}

// countComparisons adds what the memtable last written to has compared since it
// was begun with, where others do not insert beside, and begins with mem.
func (m *MemTableInserter) countComparisons(mem *memtable.MemTable) {
	if !m.PerfContext.CountEnabled() || m.Concurrent || m.counted == mem {
		return
	}
	if m.counted != nil {
		m.PerfContext.UserKeyComparisonCount += m.counted.KeyComparisons() - m.comparisons
	}
	if m.counted = mem; mem != nil {
		m.comparisons = mem.KeyComparisons()
	}
}

func (m *MemTableInserter) postInfoOf(mem *memtable.MemTable) *memtable.MemTablePostProcessInfo {
	for i := range m.post {
		if m.post[i].mem == mem {
			return &m.post[i].info
		}
	}
	m.post = append(m.post, postInfo{mem: mem})
	return &m.post[len(m.post)-1].info
}

func (m *MemTableInserter) add(id uint32, t dbformat.ValueType, key, value []byte) error {
	ok, err := m.seekToFamily(id)
	if err != nil {
		return err
	}
	if !ok {
		m.Sequence++
		return nil
	}
	mem := m.cfd.mem
	m.countComparisons(mem)
	var post *memtable.MemTablePostProcessInfo
	if m.Concurrent {
		post = m.postInfoOf(mem)
	}
	switch {
	case m.protection != nil:
		err = m.addProtected(id, mem, t, key, value, post)
	case m.cfd.ioptions.InplaceUpdateSupport:
		err = m.update(mem, t, key, value)
	default:
		err = mem.Add(m.Sequence, t, key, value, m.Concurrent, post, m.hintOf(mem))
	}
	if err != nil {
		return err
	}
	m.HasValidWrites = true
	m.Sequence++
	m.checkMemtableFull(mem)
	return nil
}

// addProtected is add for a batch whose entries have checksums.
func (m *MemTableInserter) addProtected(id uint32, mem *memtable.MemTable, t dbformat.ValueType, key, value []byte, post *memtable.MemTablePostProcessInfo) error {
	i := m.Sequence - m.first
	if i >= uint64(len(m.protection)) {
		return rocksdb.Corruption("Write batch has inconsistent count and number of checksums")
	}
	sum := m.protection[i] ^ dbformat.ProtectColumnFamily(id) ^ m.changed
	if t == dbformat.TypeDeletionWithTimestamp {
		sum ^= dbformat.ProtectType(dbformat.TypeDeletion) ^ dbformat.ProtectType(t)
	}
	if m.cfd.ioptions.InplaceUpdateSupport {
		if dbformat.ProtectKVO(key, value, t) != sum {
			return rocksdb.Corruption("ProtectionInfo mismatch")
		}
		return m.update(mem, t, key, value)
	}
	sum ^= dbformat.ProtectSequence(m.Sequence)
	return mem.AddProtected(m.Sequence, t, key, value, &sum, m.Concurrent, post, m.hintOf(mem))
}

// update is add with inplace_update_support: only values and entities are
// written over older ones.
func (m *MemTableInserter) update(mem *memtable.MemTable, t dbformat.ValueType, key, value []byte) error {
	callback := m.cfd.ioptions.InplaceCallback
	switch {
	case t != dbformat.TypeValue && t != dbformat.TypeWideColumnEntity && t != dbformat.TypeBlobIndex && t != dbformat.TypeValuePreferredSeqno:
		return mem.Add(m.Sequence, t, key, value, false, nil, nil)
	case callback == nil || t != dbformat.TypeValue:
		return mem.Update(m.Sequence, t, key, value)
	}
	if err := mem.UpdateCallback(m.Sequence, key, value); !rocksdb.IsNotFound(err) {
		return err
	}
	// The value to change is further down, if anywhere. In recovery that is not
	// asked.
	var old []byte
	if m.ReadValue != nil && m.RecoveringLogNumber == 0 {
		var err error
		if old, err = m.ReadValue(m.cfd, key, m.Sequence); err != nil {
			return err
		}
	}
	status, n, merged := callback(old, value)
	switch {
	case status == rocksdb.UpdatedInplace && (n < 0 || n > len(old)):
		return rocksdb.InvalidArgumentf("inplace_callback gave %d bytes for a value of %d", n, len(old))
	case status == rocksdb.UpdatedInplace:
		merged = old[:n]
	case status != rocksdb.UpdatedNewValue:
		return nil
	}
	monitoring.RecordTick(m.cfd.ioptions.Statistics, rocksdb.NumberKeysWritten, 1)
	return mem.Add(m.Sequence, dbformat.TypeValue, key, merged, false, nil, nil)
}

func (m *MemTableInserter) checkMemtableFull(mem *memtable.MemTable) {
	if m.FlushScheduler != nil && mem.ShouldScheduleFlush() && mem.MarkFlushScheduled() {
		m.FlushScheduler.ScheduleWork(m.cfd)
	}
	if m.TrimHistoryScheduler == nil {
		return
	}
	limit := m.cfd.ioptions.MaxWriteBufferSizeToMaintain
	imm := m.cfd.imm
	if limit > 0 && imm.HasHistory() &&
		mem.MemoryAllocatedBytes()+imm.MemoryAllocatedBytesExcludingLast() >= uint64(limit) &&
		imm.TrimNeeded.CompareAndSwap(false, true) {
		m.TrimHistoryScheduler.ScheduleWork(m.cfd)
	}
}

// PutCF inserts a value.
func (m *MemTableInserter) PutCF(id uint32, key, value []byte) error {
	return m.add(id, dbformat.TypeValue, key, value)
}

// TimedPutCF inserts a value with the time it was written.
func (m *MemTableInserter) TimedPutCF(id uint32, key, value []byte, writeTime uint64) error {
	m.packed = seqnotime.PackValueAndWriteTime(m.packed[:0], value, writeTime)
	return m.add(id, dbformat.TypeValuePreferredSeqno, key, m.packed)
}

// PutEntityCF inserts a wide-column entity.
func (m *MemTableInserter) PutEntityCF(id uint32, key, entity []byte) error {
	return m.add(id, dbformat.TypeWideColumnEntity, key, entity)
}

// DeleteCF inserts a deletion.
func (m *MemTableInserter) DeleteCF(id uint32, key []byte) error {
	if ok, err := m.seekToFamily(id); err == nil && ok && m.cfd.icmp.TimestampSize() > 0 {
		return m.add(id, dbformat.TypeDeletionWithTimestamp, key, nil)
	}
	return m.add(id, dbformat.TypeDeletion, key, nil)
}

// SingleDeleteCF inserts a single deletion.
func (m *MemTableInserter) SingleDeleteCF(id uint32, key []byte) error {
	return m.add(id, dbformat.TypeSingleDeletion, key, nil)
}

// DeleteRangeCF inserts a range tombstone. An empty range is nothing; a
// backward one was refused before the WAL was written.
func (m *MemTableInserter) DeleteRangeCF(id uint32, begin, end []byte) error {
	ok, err := m.seekToFamily(id)
	if err != nil {
		return err
	}
	if ok {
		c := m.cfd.icmp.CompareUserKey(begin, end)
		if c > 0 && m.RecoveringLogNumber == 0 {
			return rocksdb.InvalidArgument("end key comes before start key")
		}
		if c >= 0 {
			m.Sequence++
			return nil
		}
		if err := m.cfd.checkRangeDeletion(); err != nil {
			return err
		}
	}
	return m.add(id, dbformat.TypeRangeDeletion, begin, end)
}

// MergeCF inserts a merge operand.
func (m *MemTableInserter) MergeCF(id uint32, key, operand []byte) error {
	ok, err := m.seekToFamily(id)
	if err != nil {
		return err
	}
	if ok && m.cfd.ioptions.MergeOperator == nil {
		return rocksdb.InvalidArgument("Merge requires `ColumnFamilyOptions::merge_operator != nullptr`")
	}
	if ok && m.mergesAtInsertion(m.cfd.mem, key) {
		if value, t, ok := m.mergeAtInsertion(m.cfd.mem, key, operand); ok {
			if m.protection != nil {
				m.changed = dbformat.ProtectKVO(key, operand, dbformat.TypeMerge) ^ dbformat.ProtectKVO(key, value, t)
			}
			err = m.add(id, t, key, value)
			m.changed = 0
			return err
		}
	}
	return m.add(id, dbformat.TypeMerge, key, operand)
}

// PutBlobIndexCF inserts a blob's place.
func (m *MemTableInserter) PutBlobIndexCF(id uint32, key, index []byte) error {
	return m.add(id, dbformat.TypeBlobIndex, key, index)
}

func (m *MemTableInserter) transaction(what string) error {
	return rocksdb.NotSupported(fmt.Sprintf("WAL %d holds a transaction record (%s); transactions are not built yet", m.RecoveringLogNumber, what))
}

// MarkBeginPrepare refuses.
func (m *MemTableInserter) MarkBeginPrepare(bool) error { return m.transaction("begin prepare") }

// MarkEndPrepare refuses.
func (m *MemTableInserter) MarkEndPrepare([]byte) error { return m.transaction("end prepare") }

// MarkNoop does nothing.
func (m *MemTableInserter) MarkNoop(bool) error { return nil }

// MarkCommit refuses.
func (m *MemTableInserter) MarkCommit([]byte) error { return m.transaction("commit") }

// MarkCommitWithTimestamp refuses.
func (m *MemTableInserter) MarkCommitWithTimestamp([]byte, []byte) error {
	return m.transaction("commit")
}

// MarkRollback refuses.
func (m *MemTableInserter) MarkRollback([]byte) error { return m.transaction("rollback") }

// BatchValidator checks, before the WAL is written, that a batch will go into
// the memtables whole: a batch that fails half-way would leave the log and the
// memtables in disagreement.
type BatchValidator struct {
	writebatch.HandlerBase
	Families      *ColumnFamilySet
	IgnoreMissing bool
}

func (v *BatchValidator) family(id uint32) (*ColumnFamilyData, error) {
	cfd := v.Families.GetColumnFamily(id)
	if cfd == nil && !v.IgnoreMissing {
		return nil, rocksdb.InvalidArgument(fmt.Sprintf("Invalid column family specified in write batch: %d", id))
	}
	if cfd != nil && cfd.ioptions.DisallowMemtableWrites {
		return nil, rocksdb.InvalidArgument("This column family has disallow_memtable_writes=true")
	}
	return cfd, nil
}

func (v *BatchValidator) check(id uint32) error {
	_, err := v.family(id)
	return err
}

// PutCF checks the family.
func (v *BatchValidator) PutCF(id uint32, _, _ []byte) error { return v.check(id) }

// TimedPutCF checks the family.
func (v *BatchValidator) TimedPutCF(id uint32, _, _ []byte, _ uint64) error { return v.check(id) }

// PutEntityCF checks the family.
func (v *BatchValidator) PutEntityCF(id uint32, _, _ []byte) error { return v.check(id) }

// DeleteCF checks the family.
func (v *BatchValidator) DeleteCF(id uint32, _ []byte) error { return v.check(id) }

// SingleDeleteCF checks the family.
func (v *BatchValidator) SingleDeleteCF(id uint32, _ []byte) error { return v.check(id) }

// PutBlobIndexCF checks the family.
func (v *BatchValidator) PutBlobIndexCF(id uint32, _, _ []byte) error { return v.check(id) }

// MergeCF checks the family and its operator.
func (v *BatchValidator) MergeCF(id uint32, _, _ []byte) error {
	cfd, err := v.family(id)
	if err == nil && cfd != nil && cfd.ioptions.MergeOperator == nil {
		return rocksdb.NotSupported("Provide a merge_operator when opening DB")
	}
	return err
}

// DeleteRangeCF checks the family and the range.
func (v *BatchValidator) DeleteRangeCF(id uint32, begin, end []byte) error {
	cfd, err := v.family(id)
	if err != nil || cfd == nil {
		return err
	}
	if err := cfd.checkRangeDeletion(); err != nil {
		return err
	}
	if cfd.icmp.CompareUserKey(begin, end) > 0 {
		return rocksdb.InvalidArgument("end key comes before start key")
	}
	return nil
}

// checkRangeDeletion tells why the family's tables can have no range tombstones.
func (c *ColumnFamilyData) checkRangeDeletion() error {
	if f := c.mutable.Load().TableFactory; f != nil && !f.IsDeleteRangeSupported() {
		return rocksdb.NotSupported("CompactFiles and DeleteRange are not supported for table type " + f.Name())
	}
	return nil
}

// CheckRangeDeletions tells whether a batch from a log has a range deletion that
// its family's tables cannot have. Upstream writes such batches to the log before
// it refuses them.
func CheckRangeDeletions(b *writebatch.WriteBatch, families *ColumnFamilySet) error {
	if !b.HasDeleteRange() {
		return nil
	}
	v := rangeDeletionChecker{BatchValidator: BatchValidator{Families: families, IgnoreMissing: true}}
	_ = b.Iterate(&v) // what else is wrong is found when the batch is inserted
	return v.err
}

type rangeDeletionChecker struct {
	BatchValidator
	err error
}

// DeleteRangeCF remembers the first that is not supported.
func (v *rangeDeletionChecker) DeleteRangeCF(id uint32, begin, end []byte) error {
	cfd, _ := v.family(id)
	if cfd != nil && v.err == nil && cfd.icmp.CompareUserKey(begin, end) < 0 {
		v.err = cfd.checkRangeDeletion()
	}
	return v.err
}

// MergeCF accepts.
func (v *rangeDeletionChecker) MergeCF(uint32, []byte, []byte) error { return nil }

// MarkNoop accepts.
func (v *BatchValidator) MarkNoop(bool) error { return nil }
