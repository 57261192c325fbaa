// Port of db/db_impl/db_impl.cc (GetMergeOperands, ShouldReferenceSuperVersion)
// and of the part of GetImpl that collects operands. Differs: what many operands
// share is given back by a counter.

package dbimpl

import (
	"sync/atomic"

	"github.com/rocksdb-go/rocksdb/db"
	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/monitoring"
	"github.com/rocksdb-go/rocksdb/table/internaliter"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
	"github.com/rocksdb-go/rocksdb/util/stopwatch"
)

var getMergeOperandsCall = readCall{"GetMergeOperands", "kGet", readOptionsFor(rocksdb.IOActivityGet)}

// From these sizes on operands are pinned rather than copied: so many bytes in
// all, and so many on average.
const (
	pinOperandsFrom        = 32768
	pinOperandsFromAverage = 256
)

// pinnedOperands is what the operands of one call lie in.
type pinnedOperands struct {
	refs   atomic.Int64
	sv     *db.SuperVersion
	merge  dbformat.MergeContext
	blocks internaliter.PinnedIteratorsManager
}

// Release gives one operand's reference back.
func (p *pinnedOperands) Release() {
	if p.refs.Add(-1) == 0 {
		_ = p.blocks.ReleasePinnedData() // no iterators
		p.sv.Release()
	}
}

// GetMergeOperands gives a key's merge operands unmerged, oldest first; its base
// value counts as the oldest. What tables hold was merged where ShouldMerge or a
// compaction had it so. operands, released first, has room for as many as
// o.ExpectedMaxNumberOfOperands; nil options expect as many as there is room
// for. A key with more is an Incomplete with SubCodeMergeOperandsInsufficientCapacity
// and n says how many there are; a key with none is rocksdb.ErrNotFound. The
// caller releases the operands before the database is closed.
func (d *DBImpl) GetMergeOperands(ro *rocksdb.ReadOptions, cf rocksdb.ColumnFamilyHandle, key []byte, operands []rocksdb.PinnableSlice,
	o *rocksdb.GetMergeOperandsOptions) (n int, err error) {
	if o == nil {
		o = &rocksdb.GetMergeOperandsOptions{ExpectedMaxNumberOfOperands: len(operands)}
	}
	if o.ExpectedMaxNumberOfOperands > len(operands) {
		return 0, rocksdb.InvalidArgumentf("GetMergeOperands: room for %d operands, %d expected", len(operands), o.ExpectedMaxNumberOfOperands)
	}
	cfd := d.cfd(cf)
	var scratch rocksdb.ReadOptions
	if ro, err = getMergeOperandsCall.options(ro, &scratch); err != nil {
		return 0, err
	}
	if err = checkReadTimestamp(ro, cfd); err != nil {
		return 0, err
	}
	d.traceGet(cfd, key)
	watch := stopwatch.NewStopWatch(d.clock, d.stats, rocksdb.HistDBGet)
	defer watch.Stop()
	for i := range operands {
		operands[i].Release()
	}
	sv := cfd.GetReferencedSuperVersion()
	if err = failIfReadCollapsedHistory(ro, sv); err != nil {
		sv.Release()
		return 0, err
	}
	p := &pinnedOperands{sv: sv}
	p.merge.Clear()
	p.refs.Store(1)
	defer p.Release()
	err = d.collectOperands(p, ro, key, d.readSequence(ro), o)
	monitoring.RecordTick(d.stats, rocksdb.NumberKeysRead, 1)
	size := 0
	if err == nil {
		n = p.merge.GetNumOperands()
		if n > o.ExpectedMaxNumberOfOperands {
			err = rocksdb.WithSubCode(rocksdb.CodeIncomplete, rocksdb.SubCodeMergeOperandsInsufficientCapacity)
		} else {
			size = p.give(operands)
			monitoring.RecordTick(d.stats, rocksdb.BytesRead, uint64(size))
			if ro.PerfContext != nil {
				ro.PerfContext.GetReadBytes += uint64(size)
			}
		}
	}
	monitoring.RecordInHistogram(d.stats, rocksdb.HistBytesPerRead, uint64(size))
	return n, err
}

// collectOperands fills p.merge.
func (d *DBImpl) collectOperands(p *pinnedOperands, ro *rocksdb.ReadOptions, key []byte, seq rocksdb.SequenceNumber, o *rocksdb.GetMergeOperandsOptions) error {
	s := getScratchPool.Get().(*getScratch)
	defer getScratchPool.Put(s)
	s.key.Set(key, seq, ro.Timestamp)
	st := &s.mem
	st.Reset()
	st.MergeContext, st.NoMerge, st.ContinueMerge = &p.merge, true, o.ContinueCB
	s.table.Callback = nil
	if len(ro.Timestamp) > 0 {
		s.visible.max = seq
		st.Callback, s.table.Callback = &s.visible, &s.visible
	}
	done := false
	if skip := ro.ReadTier == rocksdb.PersistedTier && d.hasUnpersistedData.Load(); !skip {
		if done = p.sv.Mem.Get(&s.key, ro, st, false); !done {
			done = p.sv.Imm.Get(&s.key, ro, st)
		}
	}
	syncpoint.Process("DBImpl::GetImpl:PostMemTableGet:0")
	syncpoint.Process("DBImpl::GetImpl:PostMemTableGet:1")
	err := st.Status
	st.MergeContext, st.ContinueMerge = nil, nil
	switch {
	case done:
		monitoring.RecordTick(d.stats, rocksdb.MemtableHit, 1)
		return err
	case err != nil && rocksdb.CodeOf(err) != rocksdb.CodeMergeInProgress && !rocksdb.IsNotFound(err):
		return err
	}
	s.maxCovering = st.MaxCoveringTombstoneSeq
	x := &s.table
	x.MergeContext, x.MergeInProgress = &p.merge, rocksdb.CodeOf(err) == rocksdb.CodeMergeInProgress
	x.MaxCoveringTombstoneSeq, x.PinnedIters, x.DoMerge, x.ContinueMerge = &s.maxCovering, &p.blocks, false, o.ContinueCB
	err = p.sv.Current.Get(ro, &s.key, x)
	x.MergeContext, x.PinnedIters, x.ContinueMerge = nil, nil, nil
	monitoring.RecordTick(d.stats, rocksdb.MemtableMiss, 1)
	return err
}

// give hands the operands out, and says how long they are.
func (p *pinnedOperands) give(dst []rocksdb.PinnableSlice) (size int) {
	list := p.merge.GetOperands()
	for _, o := range list {
		size += len(o)
	}
	pin := size >= pinOperandsFrom && size/pinOperandsFromAverage >= len(list)
	for i, o := range list {
		if pin {
			p.refs.Add(1)
			dst[i].PinSlice(o, p)
		} else {
			dst[i].PinSelf(o)
		}
	}
	return size
}
