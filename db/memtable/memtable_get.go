// Port of db/memtable.{h,cc}, lookups. Differs: what a lookup wants and finds
// is one LookupState, which goes from memtable to memtable; values are handed
// out in place.

package memtable

import (
	"errors"
	"sync"

	"github.com/rocksdb-go/rocksdb/db/blob/blobformat"
	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/db/merge"
	"github.com/rocksdb-go/rocksdb/db/seqnotime"
	"github.com/rocksdb-go/rocksdb/db/wide"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/logging"
	rep "github.com/rocksdb-go/rocksdb/memtable"
	"github.com/rocksdb-go/rocksdb/monitoring"
	"github.com/rocksdb-go/rocksdb/table"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

// LookupState is a point lookup over memtables, newest first. Set the first
// group, call Get on each memtable until it says true, read the second group.
// Reset and reuse it: buffers are kept, and then a lookup allocates nothing.
type LookupState struct {
	// MergeContext collects operands; nil stands for Operands below.
	MergeContext *dbformat.MergeContext
	// Columns, if not nil, gets the entity instead of Value.
	Columns *rocksdb.PinnableWideColumns
	// ColumnsOwner is what Columns is to release when done with memtable
	// memory; nil makes it copy.
	ColumnsOwner rocksdb.Releaser
	// NoValue asks for presence and sequence number only.
	NoValue bool
	// NoMerge leaves operands, and the value under them, in the merge context.
	NoMerge bool
	// ContinueMerge, with NoMerge, ends the lookup after the operand it says
	// false of.
	ContinueMerge func(operand []byte) bool
	// AcceptBlobIndex lets a blob index be the value.
	AcceptBlobIndex bool
	// WantTimestamp asks for the timestamp.
	WantTimestamp bool
	// Callback decides on visibility; may be nil.
	Callback dbformat.ReadCallback
	// BlobFetcher reads what blob references in entities point to; may be nil.
	BlobFetcher blobformat.BlobFetcher

	// Status is nil, rocksdb.ErrNotFound (deleted), rocksdb.ErrMergeInProgress
	// (operands found, not the value under them) or an error.
	Status error
	// Value is the value found: memory of the memtable if Pinned, otherwise of
	// this state, good until its next use.
	Value  []byte
	Pinned bool
	// IsBlobIndex says that Value is a blob index.
	IsBlobIndex bool
	// Timestamp is the newest entry's, where it was wanted.
	Timestamp []byte
	// Seq is the sequence number of the newest entry of the key,
	// MaxSequenceNumber if there is none in the memtable last asked.
	Seq rocksdb.SequenceNumber
	// MaxCoveringTombstoneSeq is the greatest sequence number of a range
	// tombstone over the key, so far.
	MaxCoveringTombstoneSeq rocksdb.SequenceNumber
	// Operands is used when MergeContext is nil.
	Operands dbformat.MergeContext

	mem     *MemTable
	user    []byte // user key looked up, with timestamp
	perf    *rocksdb.PerfContext
	mergeOp merge.FullMerge
	buf     []byte // a value copied
	final   bool
}

// Reset makes the state fresh; it keeps buffers. It runs on every lookup, so
// what is seldom used is only cleared when it was.
func (s *LookupState) Reset() {
	s.MergeContext, s.Columns, s.ColumnsOwner = nil, nil, nil
	s.NoValue, s.NoMerge, s.AcceptBlobIndex, s.WantTimestamp = false, false, false, false
	s.ContinueMerge, s.Callback, s.BlobFetcher = nil, nil, nil
	s.Status, s.Value, s.Pinned, s.IsBlobIndex = nil, nil, false, false
	s.Timestamp = s.Timestamp[:0]
	s.Seq, s.MaxCoveringTombstoneSeq = dbformat.MaxSequenceNumber, 0
	s.mem, s.user, s.perf, s.final = nil, nil, nil, false
	if s.Operands.GetNumOperands() > 0 {
		s.Operands.Clear()
	}
	if op := &s.mergeOp; op.Operator != nil {
		op.Operator, op.Key, op.Value, op.Operands = nil, nil, nil, nil
		op.Logger, op.Statistics, op.Clock, op.PerfContext = nil, nil, nil, nil
	}
}

func (s *LookupState) mergeContext() *dbformat.MergeContext {
	if s.MergeContext != nil {
		return s.MergeContext
	}
	return &s.Operands
}

func (s *LookupState) mergeInProgress() bool {
	return s.Status != nil && errors.Is(s.Status, rocksdb.ErrMergeInProgress)
}

// Get looks key up. True means that st holds the final answer; false, with
// Status nil or ErrMergeInProgress, that older data decides. immutable says
// that the memtable is in an immutable list.
func (m *MemTable) Get(key *dbformat.LookupKey, ro *rocksdb.ReadOptions, st *LookupState, immutable bool) bool {
	if m.IsEmpty() {
		return false
	}
	var timer monitoring.PerfStepTimer
	if ro.PerfContext.Enabled(rocksdb.EnableTimeExceptForMutex) {
		timer.Start(&ro.PerfContext.GetFromMemtableTime, m.clock)
	}
	final := m.get(key, ro, st, immutable)
	if ro.PerfContext.CountEnabled() {
		ro.PerfContext.GetFromMemtableCount++
		timer.Stop()
	}
	return final
}

func (m *MemTable) get(key *dbformat.LookupKey, ro *rocksdb.ReadOptions, st *LookupState, immutable bool) bool {
	st.Seq = dbformat.MaxSequenceNumber
	user := key.UserKey()
	if m.hasRangeDel.Load() && !ro.IgnoreRangeDeletions {
		if !m.applyRangeTombstones(user, dbformat.GetInternalKeySeqno(key.InternalKey()), ro, st, immutable) {
			return true
		}
	}
	if m.bloom != nil && !m.bloomMayContain(user, ro.PerfContext) {
		return false
	}
	st.begin(m, user, ro.PerfContext)
	m.getFromTable(key, st)
	st.mem = nil
	return st.final
}

// applyRangeTombstones raises MaxCoveringTombstoneSeq; false on an error, which
// is then the answer.
func (m *MemTable) applyRangeTombstones(user []byte, readSeq rocksdb.SequenceNumber, ro *rocksdb.ReadOptions, st *LookupState, immutable bool) bool {
	seq, ts, err := m.maxCoveringTombstoneSeq(ro, user, readSeq, immutable)
	if err != nil {
		st.Status = err
		return false
	}
	if seq > st.MaxCoveringTombstoneSeq {
		st.MaxCoveringTombstoneSeq = seq
		if st.WantTimestamp {
			// A newer point entry overwrites it.
			st.Timestamp = append(st.Timestamp[:0], ts...)
		}
	}
	return true
}

// bloomMayContain asks the filter, by whole key where it has those.
func (m *MemTable) bloomMayContain(user []byte, perf *rocksdb.PerfContext) bool {
	user = dbformat.StripTimestampFromUserKey(user, m.tsSize)
	if !m.opts.WholeKeyFiltering {
		if !m.prefixExtractor.InDomain(user) {
			return true
		}
		user = m.prefixExtractor.Transform(user)
	}
	may := m.bloom.MayContain(user)
	if perf.CountEnabled() {
		if may {
			perf.BloomMemtableHitCount++
		} else {
			perf.BloomMemtableMissCount++
		}
	}
	return may
}

// begin prepares st for the walk over m.
func (s *LookupState) begin(m *MemTable, user []byte, perf *rocksdb.PerfContext) {
	s.mem, s.user, s.perf, s.final = m, user, perf, false
	s.Seq = dbformat.MaxSequenceNumber
}

func (m *MemTable) getFromTable(key *dbformat.LookupKey, st *LookupState) {
	o := &m.opts
	if o.ParanoidMemoryChecks || o.VerifyPerKeyChecksumOnSeek {
		if err := m.table.GetAndValidate(key.InternalKey(), st, o.AllowDataInErrors, o.ParanoidMemoryChecks, m.validate); err != nil {
			st.fail(err)
		}
		return
	}
	if m.source != nil {
		m.getFromSource(key, st)
		return
	}
	if m.skip == nil {
		m.table.Get(key.InternalKey(), st)
		return
	}
	it := m.skip.List.NewIterator()
	it.Seek(key.InternalKey())
	if st.perf.CountEnabled() {
		st.perf.UserKeyComparisonCount += it.TakeKeyComparisons()
	}
	for ; it.Valid() && st.VisitEntry(0, it.Key()); it.Next() {
	}
}

// fail makes err the final answer.
func (s *LookupState) fail(err error) bool {
	s.Status, s.final = err, true
	return false
}

// VisitEntry takes an entry of the container; false ends the walk. It is called
// by the containers.
func (s *LookupState) VisitEntry(_ int, entry rep.KeyHandle) bool {
	m := s.mem
	ikey := rep.EntryKey(entry)
	user := dbformat.ExtractUserKey(ikey)
	if !m.sameUserKey(user, s.user) {
		return false
	}
	if syncpoint.Enabled {
		syncpoint.ProcessArg("Memtable::SaveValue:Found:entry", entry)
	}
	if m.opts.InplaceUpdateSupport {
		lock := m.inplaceLock(s.user)
		lock.RLock()
		defer lock.RUnlock()
	}
	return s.saveEntry(entry, ikey, user)
}

// saveEntry takes an entry of the key looked up.
func (s *LookupState) saveEntry(entry rep.KeyHandle, ikey, user []byte) bool {
	m := s.mem
	if m.opts.ProtectionBytesPerKey > 0 {
		if err := m.ValidateKey(entry, m.opts.AllowDataInErrors); err != nil {
			logging.Error(m.opts.InfoLog, "In SaveValue: %s", err)
			return s.fail(err)
		}
	}
	seq, t := dbformat.UnPackSequenceAndType(dbformat.ExtractInternalKeyFooter(ikey))
	_, value := rep.EntryKeyValue(entry)
	return s.saveRecord(user, seq, t, value)
}

// saveRecord takes an entry of the key looked up in its parts.
func (s *LookupState) saveRecord(user []byte, seq rocksdb.SequenceNumber, t dbformat.ValueType, value []byte) bool {
	m := s.mem
	if s.Callback != nil && !s.Callback.IsVisible(seq) {
		return true
	}
	s.noteNewest(user, seq)
	if s.MaxCoveringTombstoneSeq > seq && t != dbformat.TypeRangeDeletion {
		t = dbformat.TypeRangeDeletion
	}
	switch t {
	case dbformat.TypeValue:
		return s.saveValue(value)
	case dbformat.TypeValuePreferredSeqno:
		v, ok := seqnotime.ParsePackedValueForValue(value)
		if !ok {
			return s.fail(m.corruption("Packed value too short.", t, user, seq))
		}
		return s.saveValue(v)
	case dbformat.TypeDeletion, dbformat.TypeDeletionWithTimestamp, dbformat.TypeSingleDeletion, dbformat.TypeRangeDeletion:
		return s.saveDeletion()
	case dbformat.TypeMerge:
		return s.saveMerge(value)
	case dbformat.TypeBlobIndex:
		return s.saveBlobIndex(value)
	case dbformat.TypeWideColumnEntity:
		return s.saveEntity(value)
	}
	return s.fail(m.corruption("Corrupted value not expected.", t, user, seq))
}

func (m *MemTable) corruption(msg string, t dbformat.ValueType, user []byte, seq rocksdb.SequenceNumber) error {
	if m.opts.AllowDataInErrors {
		return rocksdb.Corruptionf("%sUnrecognized value type: %d. User key: %X. seq: %d.", msg, t, user, seq)
	}
	return rocksdb.Corruption(msg)
}

// sameUserKey compares without timestamps.
func (m *MemTable) sameUserKey(a, b []byte) bool {
	if m.tsSize == 0 {
		return m.icmp.EqualUserKey(a, b)
	}
	return m.icmp.CompareWithoutTimestamp(a, b) == 0
}

// noteNewest keeps sequence number and timestamp of the newest visible entry.
func (s *LookupState) noteNewest(user []byte, seq rocksdb.SequenceNumber) {
	first := s.Seq == dbformat.MaxSequenceNumber
	if first {
		s.Seq = max(seq, s.MaxCoveringTombstoneSeq)
	}
	if !s.WantTimestamp || s.mem.tsSize == 0 {
		return
	}
	cmp := s.mem.icmp.UserComparator()
	if first && seq > s.MaxCoveringTombstoneSeq || len(s.Timestamp) == 0 ||
		cmp.CompareTimestamp(s.Timestamp, cmp.MaxTimestamp()) == 0 {
		s.Timestamp = append(s.Timestamp[:0], dbformat.ExtractTimestampFromUserKey(user, s.mem.tsSize)...)
	}
}

// operandsPinned tells whether values stay where they are.
func (s *LookupState) operandsPinned() bool { return !s.mem.opts.InplaceUpdateSupport }

func (s *LookupState) setValue(value []byte) {
	if !s.operandsPinned() {
		s.setUnpinnedValue(value)
		return
	}
	if s.Columns != nil {
		s.Columns.SetPlainValue(value, s.ColumnsOwner)
		return
	}
	s.Value, s.Pinned = value, true
}

// setUnpinnedValue copies a value that may be updated in place.
func (s *LookupState) setUnpinnedValue(value []byte) {
	if s.Columns != nil {
		s.Columns.SetPlainValue(value, nil)
		return
	}
	s.buf = append(s.buf[:0], value...)
	s.Value, s.Pinned = s.buf, false
}

// saveValue is upstream's ReadOnlyMemTable::HandleTypeValue.
func (s *LookupState) saveValue(value []byte) bool {
	s.final = true
	switch {
	case s.NoMerge:
		s.mergeContext().PushOperand(value, s.operandsPinned())
		s.Status = nil
	case s.mergeInProgress():
		s.Status = s.fullMerge(merge.PlainBaseValue, value)
	case s.NoValue:
		s.Status = nil
	default:
		s.Status = nil
		s.setValue(value)
	}
	s.IsBlobIndex = false
	return false
}

// fullMerge applies the operands to a base value, unless no value is wanted.
// Upstream: MergeWithWideColumnEntityBaseValue.
func (s *LookupState) fullMerge(base merge.BaseValueKind, value []byte) error {
	if s.NoValue {
		return nil
	}
	o := &s.mem.opts
	f := &s.mergeOp
	f.Operator, f.Key, f.Base, f.Value = o.MergeOperator, s.user, base, value
	f.Operands = s.mergeContext().GetOperands()
	f.Logger, f.Statistics, f.Clock, f.PerfContext = o.InfoLog, o.Statistics, s.mem.clock, s.perf
	f.UpdateNumOpsStats = true
	if f.Operator == nil {
		return errNoMergeOperator
	}
	if s.Columns != nil {
		return f.ResultEntity(s.Columns)
	}
	var err error
	s.Pinned = false
	s.Value, err = f.ResultValue()
	return err
}

var errNoMergeOperator = rocksdb.InvalidArgument("merge_operator is not properly initialized.")

// saveDeletion is upstream's ReadOnlyMemTable::HandleTypeDeletion.
func (s *LookupState) saveDeletion() bool {
	s.final = true
	switch {
	case !s.mergeInProgress():
		s.Status = rocksdb.ErrNotFound
	case s.NoMerge:
		s.Status = nil
	default:
		s.Status = s.fullMerge(merge.NoBaseValue, nil)
	}
	return false
}

// saveMerge is upstream's ReadOnlyMemTable::HandleTypeMerge.
func (s *LookupState) saveMerge(operand []byte) bool {
	op := s.mem.opts.MergeOperator
	if op == nil {
		// Go no further: an older value must not hide this.
		return s.fail(errNoMergeOperator)
	}
	c := s.mergeContext()
	c.PushOperand(operand, s.operandsPinned())
	if s.perf.CountEnabled() {
		s.perf.InternalMergePointLookupCount++
	}
	s.Status = rocksdb.ErrMergeInProgress
	if !s.NoMerge && op.ShouldMerge(c.GetOperandsDirectionBackward()) {
		s.final = true
		s.Status = s.fullMerge(merge.NoBaseValue, nil)
		return false
	}
	if s.ContinueMerge != nil && !s.ContinueMerge(operand) {
		s.final = true
		s.Status = nil
		return false
	}
	return true
}

func (s *LookupState) saveBlobIndex(value []byte) bool {
	switch {
	case s.NoMerge:
		return s.fail(rocksdb.NotSupported("GetMergeOperands not supported by stacked BlobDB"))
	case s.mergeInProgress():
		return s.fail(rocksdb.NotSupported("Merge operator not supported by stacked BlobDB"))
	case !s.AcceptBlobIndex:
		logging.Error(s.mem.opts.InfoLog, "Encountered unexpected blob index.")
		return s.fail(rocksdb.NotSupported("Encountered unexpected blob index. Please open DB with rocksdb::blob_db::BlobDB."))
	}
	s.Status = nil
	if !s.NoValue {
		s.setValue(value)
	}
	s.final, s.IsBlobIndex = true, true
	return false
}

func (s *LookupState) saveEntity(entity []byte) bool {
	s.final = true
	s.IsBlobIndex = false
	switch {
	case s.NoMerge:
		s.Status = s.pushDefaultColumn(entity)
	case s.mergeInProgress():
		resolved, err := wide.ResolveEntityForMerge(entity, s.user, s.BlobFetcher)
		if err == nil {
			err = s.fullMerge(merge.WideBaseValue, resolved)
		}
		s.Status = err
	case s.NoValue:
		s.Status = nil
	case s.Columns != nil:
		owner := s.ColumnsOwner
		if !s.operandsPinned() {
			owner = nil
		}
		s.Status = s.Columns.SetWideColumnValue(entity, owner, wide.DeserializeSimple)
	default:
		value, isBlob, err := wide.GetValueOfDefaultColumn(entity)
		if err == nil && isBlob && !s.AcceptBlobIndex {
			err = rocksdb.NotSupported("Encountered blob-backed default column without is_blob_index")
		}
		if s.Status = err; err == nil {
			s.setValue(value)
			s.IsBlobIndex = isBlob
		}
	}
	return false
}

// pushDefaultColumn makes an entity's default column the oldest operand.
// Upstream: PushWideColumnEntityDefaultOperand.
func (s *LookupState) pushDefaultColumn(entity []byte) error {
	value, isBlob, err := wide.GetValueOfDefaultColumn(entity)
	if err != nil {
		return err
	}
	if !isBlob {
		s.mergeContext().PushOperand(value, s.operandsPinned())
		return nil
	}
	if s.BlobFetcher == nil {
		return rocksdb.NotSupported("blob-backed default column without a blob fetcher")
	}
	var resolved rocksdb.PinnableSlice
	if _, err := blobformat.FetchEncodedBlob(s.BlobFetcher, s.user, value, &resolved); err != nil {
		return err
	}
	s.mergeContext().PushOperand(resolved.Data(), false)
	resolved.Release()
	return nil
}

// multiState is the lookups of a batch.
type multiState struct {
	states [table.MaxBatchSize]LookupState
	index  [table.MaxBatchSize]int // of the keys in the range
	keys   [table.MaxBatchSize][]byte
	n      int
}

// VisitEntry hands an entry to the lookup it is for.
func (s *multiState) VisitEntry(i int, entry rep.KeyHandle) bool {
	return !s.states[i].final && s.states[i].VisitEntry(i, entry)
}

var multiStates = sync.Pool{New: func() any { return new(multiState) }}

// MultiGet looks up the keys of r that are not done. Values are copied; keys
// that got their final answer are marked done, and all are, with ErrAborted,
// once the values exceed ro.ValueSizeSoftLimit.
func (m *MemTable) MultiGet(ro *rocksdb.ReadOptions, r *table.MultiGetRange, callback dbformat.ReadCallback,
	immutable bool, fetcher blobformat.BlobFetcher) {
	if m.IsEmpty() {
		return
	}
	var timer monitoring.PerfStepTimer
	if ro.PerfContext.Enabled(rocksdb.EnableTimeExceptForMutex) {
		timer.Start(&ro.PerfContext.GetFromMemtableTime, m.clock)
		defer timer.Stop()
	}
	ms := multiStates.Get().(*multiState)
	defer multiStates.Put(ms)
	ms.n = 0
	noRangeDel := ro.IgnoreRangeDeletions || !m.hasRangeDel.Load()
	for i := r.First(); i < r.End(); i = r.NextIndex(i) {
		k := r.Key(i)
		// The filter could hide a key whose range tombstone matters.
		if m.bloom != nil && noRangeDel && !m.bloomMayContain(k.UKeyWithTS, ro.PerfContext) {
			continue
		}
		s := &ms.states[ms.n]
		s.Reset()
		s.MergeContext, s.Columns, s.Callback, s.BlobFetcher = &k.MergeContext, k.Columns, callback, fetcher
		s.AcceptBlobIndex = true
		s.MaxCoveringTombstoneSeq = k.MaxCoveringTombstoneSeq
		s.Status = *k.Err
		if k.Timestamp != nil {
			s.WantTimestamp = true
			s.Timestamp = append(s.Timestamp[:0], *k.Timestamp...)
		}
		s.begin(m, k.UKeyWithTS, ro.PerfContext)
		if !noRangeDel && !m.applyRangeTombstones(k.UKeyWithTS, dbformat.GetInternalKeySeqno(k.IKey), ro, s, immutable) {
			s.final = true
		}
		ms.index[ms.n], ms.keys[ms.n] = i, k.IKey
		ms.n++
	}
	m.multiGetFromTable(ms, r, ro.PerfContext)
	m.finishMultiGet(ro, ms, r)
	if ro.PerfContext.CountEnabled() {
		ro.PerfContext.GetFromMemtableCount++
	}
}

func (m *MemTable) multiGetFromTable(ms *multiState, r *table.MultiGetRange, perf *rocksdb.PerfContext) {
	o := &m.opts
	if !o.BatchLookupOptimization {
		for j := range ms.n {
			if s := &ms.states[j]; !s.final {
				m.getFromTable(r.Key(ms.index[j]).LKey, s)
			}
		}
		return
	}
	checkOrder := o.ParanoidMemoryChecks
	var err error
	if m.skip != nil && perf.CountEnabled() {
		err = m.skip.List.MultiGetCounting(ms.keys[:ms.n], ms, checkOrder, o.AllowDataInErrors, m.validate, &perf.UserKeyComparisonCount)
	} else {
		err = m.table.MultiGet(ms.keys[:ms.n], ms, checkOrder, o.AllowDataInErrors, m.validate)
	}
	if err == nil {
		return
	}
	for j := range ms.n {
		ms.states[j].fail(err)
	}
}

func (m *MemTable) finishMultiGet(ro *rocksdb.ReadOptions, ms *multiState, r *table.MultiGetRange) {
	aborted := false
	for j := range ms.n {
		s, k := &ms.states[j], r.Key(ms.index[j])
		k.MaxCoveringTombstoneSeq = s.MaxCoveringTombstoneSeq
		*k.Err = s.Status
		if k.Timestamp != nil {
			*k.Timestamp = append((*k.Timestamp)[:0], s.Timestamp...)
		}
		if s.final && !aborted {
			k.IsBlobIndex = s.IsBlobIndex
			if s.Status == nil && k.Value != nil {
				k.Value.PinSelf(s.Value)
				r.AddValueSize(uint64(k.Value.Size()))
			} else if s.Status == nil && k.Columns != nil {
				r.AddValueSize(uint64(k.Columns.PayloadSize()))
			}
			r.MarkKeyDone(ms.index[j])
			monitoring.RecordTick(m.opts.Statistics, rocksdb.MemtableHit, 1)
			aborted = r.GetValueSize() > ro.ValueSizeSoftLimit
		}
		s.Reset()
	}
	if aborted {
		for i := r.First(); i < r.End(); i = r.NextIndex(i) {
			r.MarkKeyDone(i)
			*r.Key(i).Err = rocksdb.ErrAborted
		}
	}
}
