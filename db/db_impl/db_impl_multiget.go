// Port of db/db_impl/db_impl.cc (MultiGet and what it calls). Differs: one
// family's keys need no map of families.

package dbimpl

import (
	"bytes"
	"math"
	"slices"
	"sync"

	"github.com/rocksdb-go/rocksdb/db"
	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/monitoring"
	"github.com/rocksdb-go/rocksdb/table"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
	"github.com/rocksdb-go/rocksdb/util/stopwatch"
)

// multiGetScratch is what a MultiGet needs; it is pooled.
type multiGetScratch struct {
	ro     rocksdb.ReadOptions
	keys   []table.KeyContext
	sorted []*table.KeyContext // keys by family and key
	seen   timestampReadCallback
	// batches are those under way, used in turn.
	batches [maxBatchesUnderWay]*multiGetBatch
}

// maxBatchesUnderWay is how many batches of one call read at a time, with
// asynchronous reads: 256 keys.
const maxBatchesUnderWay = 256 / table.MaxBatchSize

// multiGetBatch is a batch of keys of one family.
type multiGetBatch struct {
	ctx     table.MultiGetContext
	keys    table.MultiGetRange
	reading *db.MultiGet // nil: all keys are done
}

var multiGetScratchPool = sync.Pool{New: func() any { return &multiGetScratch{} }}

// prepare sets a context up for each key; those of one family follow each
// other in sorted, in key order. Entities go to columns where values is nil.
func (s *multiGetScratch) prepare(keys [][]byte, values []rocksdb.PinnableSlice, columns []rocksdb.PinnableWideColumns, timestamps [][]byte, errs []error) {
	if cap(s.keys) < len(keys) {
		s.keys, s.sorted = make([]table.KeyContext, len(keys)), make([]*table.KeyContext, len(keys))
	}
	s.keys, s.sorted = s.keys[:len(keys)], s.sorted[:len(keys)]
	for i, key := range keys {
		k := &s.keys[i]
		errs[i] = nil
		k.Key, k.Err = key, &errs[i]
		if columns != nil {
			columns[i].Reset()
			k.Value, k.Columns = nil, &columns[i]
		} else {
			values[i].Release()
			k.Value, k.Columns = &values[i], nil
		}
		if k.Timestamp = nil; timestamps != nil {
			k.Timestamp, timestamps[i] = &timestamps[i], timestamps[i][:0]
		}
		k.MaxCoveringTombstoneSeq, k.KeyExists, k.IsBlobIndex = 0, false, false
		k.MergeContext.Clear()
		s.sorted[i] = k
	}
}

// batch is the i-th of those under way.
func (s *multiGetScratch) batch(i int) *multiGetBatch {
	if s.batches[i] == nil {
		s.batches[i] = new(multiGetBatch)
	}
	return s.batches[i]
}

func (s *multiGetScratch) release() {
	for i := range s.keys {
		k := &s.keys[i]
		k.Key, k.Value, k.Columns, k.Err, k.ColumnFamily = nil, nil, nil, nil, nil
		k.CBArg, k.GetContext, k.Timestamp = nil, nil, nil
	}
	multiGetScratchPool.Put(s)
}

// sortKeys orders keys of one family.
// Upstream: DBImpl::PrepareMultiGetKeys, CompareKeyContext.
func sortKeys(keys []*table.KeyContext, cfd *db.ColumnFamilyData) {
	if cfd.InternalComparator().IsBytewise() {
		slices.SortFunc(keys, func(a, b *table.KeyContext) int { return bytes.Compare(a.Key, b.Key) })
		return
	}
	c := cfd.UserComparator()
	slices.SortFunc(keys, func(a, b *table.KeyContext) int { return c.CompareWithoutTimestamp(a.Key, false, b.Key, false) })
}

// MultiGet is Get for each key of one family at one state of the database;
// values and errs have keys' length. Keys are looked up in batches, in order,
// whatever their order here; after an error that ends the call early
// (ReadOptions.Deadline, ValueSizeSoftLimit) the keys left have it.
func (d *DBImpl) MultiGet(ro *rocksdb.ReadOptions, cf rocksdb.ColumnFamilyHandle, keys [][]byte, values []rocksdb.PinnableSlice, errs []error) {
	d.MultiGetWithTimestamps(ro, cf, keys, values, nil, errs)
}

// MultiGetWithTimestamps is MultiGet that also gives the entries' timestamps,
// where timestamps is not nil.
func (d *DBImpl) MultiGetWithTimestamps(ro *rocksdb.ReadOptions, cf rocksdb.ColumnFamilyHandle, keys [][]byte, values []rocksdb.PinnableSlice, timestamps [][]byte, errs []error) {
	d.multiGetOne(&multiGetCall, ro, cf, keys, values, nil, timestamps, errs)
}

func failAll(errs []error, err error) {
	for i := range errs {
		errs[i] = err
	}
}

// multiGetOne is the part that MultiGet and MultiGetEntity share.
func (d *DBImpl) multiGetOne(call *readCall, ro *rocksdb.ReadOptions, cf rocksdb.ColumnFamilyHandle, keys [][]byte,
	values []rocksdb.PinnableSlice, columns []rocksdb.PinnableWideColumns, timestamps [][]byte, errs []error) {
	if len(keys) == 0 {
		return
	}
	s := multiGetScratchPool.Get().(*multiGetScratch)
	defer s.release()
	cfd := d.cfd(cf)
	ro, err := call.options(ro, &s.ro)
	if err == nil {
		err = checkReadTimestamp(ro, cfd)
	}
	if err != nil {
		failAll(errs, err)
		return
	}
	d.traceMultiGet(cfd, keys)
	s.prepare(keys, values, columns, timestamps, errs)
	d.multiGetSorted(ro, cfd, s.sorted, s)
}

// MultiGetKeyContexts is MultiGet for keys that go each to its Value or its
// Columns, which are released or reset; the rest of a KeyContext is zero. activity
// is that of MultiGet or of MultiGetEntity.
// Upstream: MultiGetWithCallback, MultiGetEntityWithCallback.
func (d *DBImpl) MultiGetKeyContexts(ro *rocksdb.ReadOptions, activity rocksdb.IOActivity, cf rocksdb.ColumnFamilyHandle, keys []*table.KeyContext) {
	call := &multiGetCall
	if activity == rocksdb.IOActivityMultiGetEntity {
		call = &multiGetEntityCall
	}
	s := multiGetScratchPool.Get().(*multiGetScratch)
	defer s.release()
	s.keys = s.keys[:0]
	cfd := d.cfd(cf)
	ro, err := call.options(ro, &s.ro)
	if err == nil {
		err = checkReadTimestamp(ro, cfd)
	}
	for _, k := range keys {
		*k.Err = err
		if k.Columns != nil {
			k.Columns.Reset()
		} else {
			k.Value.Release()
		}
	}
	if err == nil {
		d.multiGetSorted(ro, cfd, keys, s)
	}
}

// multiGetSorted looks keys of one family up at its present state; it sorts them.
func (d *DBImpl) multiGetSorted(ro *rocksdb.ReadOptions, cfd *db.ColumnFamilyData, keys []*table.KeyContext, s *multiGetScratch) {
	watch := stopwatch.NewStopWatch(d.clock, d.stats, rocksdb.HistDBMultiget)
	defer watch.Stop()
	sortKeys(keys, cfd)
	timer := d.timeSnapshot(ro)
	sv := cfd.GetReferencedSuperVersion()
	defer sv.Release()
	if err := failIfReadCollapsedHistory(ro, sv); err != nil {
		for _, k := range keys {
			*k.Err = err
		}
		return
	}
	seq := d.readSequence(ro)
	syncpoint.Process("DBImpl::MultiCFSnapshot:AfterGetSeqNum1")
	syncpoint.Process("DBImpl::MultiCFSnapshot:AfterGetSeqNum2")
	timer.Stop()
	_ = d.multiGetImpl(ro, sv, keys, seq, s)
}

// MultiGetCF is MultiGet with a family for each key.
func (d *DBImpl) MultiGetCF(ro *rocksdb.ReadOptions, cfs []rocksdb.ColumnFamilyHandle, keys [][]byte, values []rocksdb.PinnableSlice, errs []error) {
	d.MultiGetCFWithTimestamps(ro, cfs, keys, values, nil, errs)
}

// MultiGetCFWithTimestamps is MultiGetWithTimestamps with a family for each key.
func (d *DBImpl) MultiGetCFWithTimestamps(ro *rocksdb.ReadOptions, cfs []rocksdb.ColumnFamilyHandle, keys [][]byte, values []rocksdb.PinnableSlice, timestamps [][]byte, errs []error) {
	d.multiGetMany(&multiGetCall, ro, cfs, keys, values, nil, timestamps, errs)
}

// multiGetMany is the part that MultiGetCF and MultiGetEntityCF share.
func (d *DBImpl) multiGetMany(call *readCall, ro *rocksdb.ReadOptions, cfs []rocksdb.ColumnFamilyHandle, keys [][]byte,
	values []rocksdb.PinnableSlice, columns []rocksdb.PinnableWideColumns, timestamps [][]byte, errs []error) {
	if len(keys) == 0 {
		return
	}
	s := multiGetScratchPool.Get().(*multiGetScratch)
	defer s.release()
	ro, err := call.options(ro, &s.ro)
	if err != nil {
		failAll(errs, err)
		return
	}
	if !d.checkMultiGetTimestamps(ro, cfs, errs) {
		return
	}
	d.traceMultiGetCF(cfs, keys)
	watch := stopwatch.NewStopWatch(d.clock, d.stats, rocksdb.HistDBMultiget)
	defer watch.Stop()
	s.prepare(keys, values, columns, timestamps, errs)
	for i := range s.keys {
		s.keys[i].ColumnFamily = cfs[i]
	}
	slices.SortStableFunc(s.sorted, func(a, b *table.KeyContext) int {
		return int(int64(d.cfd(a.ColumnFamily).GetID()) - int64(d.cfd(b.ColumnFamily).GetID()))
	})
	timer := d.timeSnapshot(ro)
	views, seq := d.multiView(ro, cfs)
	timer.Stop()
	defer func() {
		syncpoint.Process("DBImpl::MultiCFSnapshot::BeforeLastTryUnRefSV")
		for _, sv := range views {
			sv.Release()
		}
	}()
	for _, sv := range views {
		if err == nil {
			err = failIfReadCollapsedHistory(ro, sv)
		}
	}
	for rest := s.sorted; len(rest) > 0; {
		cfd := d.cfd(rest[0].ColumnFamily)
		n := 1
		for n < len(rest) && d.cfd(rest[n].ColumnFamily) == cfd {
			n++
		}
		if err == nil {
			sortKeys(rest[:n], cfd)
			err = d.multiGetImpl(ro, views[cfd.GetID()], rest[:n], seq, s)
		} else {
			for _, k := range rest[:n] {
				*k.Err = err
			}
		}
		rest = rest[n:]
	}
}

// timeSnapshot measures the taking of SuperVersions and a sequence number.
func (d *DBImpl) timeSnapshot(ro *rocksdb.ReadOptions) (timer monitoring.PerfStepTimer) {
	if perf := ro.PerfContext; perf.Enabled(rocksdb.EnableTimeExceptForMutex) {
		timer.Start(&perf.GetSnapshotTime, d.clock)
	}
	return timer
}

// checkMultiGetTimestamps refuses the whole call when a key's family and the
// options do not fit together.
func (d *DBImpl) checkMultiGetTimestamps(ro *rocksdb.ReadOptions, cfs []rocksdb.ColumnFamilyHandle, errs []error) bool {
	ok := true
	for i, cf := range cfs {
		errs[i] = checkReadTimestamp(ro, d.cfd(cf))
		ok = ok && errs[i] == nil
	}
	if !ok {
		for i := range errs {
			if errs[i] == nil {
				errs[i] = rocksdb.Incomplete("DB not queried due to invalid argument(s) in the same MultiGet call")
			}
		}
	}
	return ok
}

// multiGetImpl looks sorted keys of one family up, batch by batch; with
// asynchronous reads several batches' reads are under way at once, unless the
// values' size may end the call. The error is what ended the call early; keys not
// looked up have it.
func (d *DBImpl) multiGetImpl(ro *rocksdb.ReadOptions, sv *db.SuperVersion, keys []*table.KeyContext, seq rocksdb.SequenceNumber, s *multiGetScratch) (err error) {
	perf := ro.PerfContext
	if perf.Enabled(rocksdb.EnableTimeAndCPUTimeExceptForMutex) {
		defer d.addCPUTime(&perf.GetCPUNanos, d.clock.CPUNanos())
	}
	var timer monitoring.PerfStepTimer
	timed := perf.Enabled(rocksdb.EnableTimeExceptForMutex)
	skipMem := ro.ReadTier == rocksdb.PersistedTier && d.hasUnpersistedData.Load()
	left := keys
	var callback dbformat.ReadCallback
	if len(ro.Timestamp) > 0 {
		s.seen.max = seq
		callback = &s.seen
	}
	atOnce := 1
	if ro.AsyncIO && ro.OptimizeMultigetForIO && ro.ValueSizeSoftLimit == math.MaxUint64 {
		atOnce = maxBatchesUnderWay
	}
	valueSize := uint64(0)
	begun, ended := 0, 0
	for err == nil && len(left) > 0 || ended < begun {
		if err == nil && len(left) > 0 && begun-ended < atOnce {
			if ro.Deadline > 0 && d.clock.NowMicros() > uint64(ro.Deadline.Microseconds()) {
				err = rocksdb.TimedOut()
				continue
			}
			b := s.batch(begun % atOnce)
			begun++
			n := min(len(left), table.MaxBatchSize)
			b.ctx.Init(left[:n], seq, ro.Timestamp)
			left = left[n:]
			b.keys = b.ctx.GetMultiGetRange()
			b.keys.AddValueSize(valueSize)
			if !skipMem {
				d.multiGetFromMemtables(ro, sv, &b.keys, n, callback)
			}
			if !b.keys.Empty() {
				if timed {
					timer.Start(&perf.GetFromOutputFilesTime, d.clock)
				}
				b.reading = sv.Current.BeginMultiGet(ro, &b.keys, callback)
				timer.Stop()
			}
			continue
		}
		b := s.batch(ended % atOnce)
		ended++
		if b.reading != nil {
			if timed {
				timer.Start(&perf.GetFromOutputFilesTime, d.clock)
			}
			b.reading.Finish()
			timer.Stop()
			b.reading = nil
		}
		if valueSize = b.keys.GetValueSize(); valueSize > ro.ValueSizeSoftLimit {
			err = rocksdb.Aborted()
		}
	}
	if timed {
		timer.Start(&perf.GetPostProcessTime, d.clock)
	}
	for _, k := range left {
		*k.Err = err
	}
	d.countMultiGet(ro, keys[:len(keys)-len(left)], len(keys))
	if ro.MergeOperandCountThreshold != nil {
		for _, k := range keys[:len(keys)-len(left)] {
			if *k.Err == nil {
				*k.Err = mergeThreshold(ro, &k.MergeContext)
			}
		}
	}
	timer.Stop()
	return err
}

func (d *DBImpl) multiGetFromMemtables(ro *rocksdb.ReadOptions, sv *db.SuperVersion, r *table.MultiGetRange, asked int, callback dbformat.ReadCallback) {
	sv.Mem.MultiGet(ro, r, callback, false, nil)
	for _, m := range sv.Imm.Memtables() {
		if r.Empty() {
			break
		}
		m.MultiGet(ro, r, callback, true, nil)
	}
	if missed := r.KeysLeft(); d.stats != nil {
		monitoring.RecordTick(d.stats, rocksdb.MemtableMiss, uint64(missed))
		monitoring.RecordTick(d.stats, rocksdb.MemtableHit, uint64(asked-missed))
	}
}

func (d *DBImpl) countMultiGet(ro *rocksdb.ReadOptions, done []*table.KeyContext, asked int) {
	if d.stats == nil && ro.PerfContext == nil {
		return
	}
	var found, size uint64
	for _, k := range done {
		if *k.Err == nil {
			found++
			if k.Columns != nil {
				size += uint64(k.Columns.PayloadSize())
			} else {
				size += uint64(k.Value.Size())
			}
		}
	}
	monitoring.RecordTick(d.stats, rocksdb.NumberMultigetCalls, 1)
	monitoring.RecordTick(d.stats, rocksdb.NumberMultigetKeysRead, uint64(asked))
	monitoring.RecordTick(d.stats, rocksdb.NumberMultigetKeysFound, found)
	monitoring.RecordTick(d.stats, rocksdb.NumberMultigetBytesRead, size)
	monitoring.RecordInHistogram(d.stats, rocksdb.HistBytesPerMultiget, size)
	if ro.PerfContext.CountEnabled() {
		ro.PerfContext.MultigetReadBytes += size
	}
}

// multiView references a SuperVersion of each family such that all show one
// state: either no memtable was switched between taking them and taking the
// sequence number, or the mutex is held meanwhile.
// Upstream: DBImpl::MultiCFSnapshot.
func (d *DBImpl) multiView(ro *rocksdb.ReadOptions, cfs []rocksdb.ColumnFamilyHandle) (map[uint32]*db.SuperVersion, rocksdb.SequenceNumber) {
	first := d.cfd(cfs[0])
	if !slices.ContainsFunc(cfs, func(cf rocksdb.ColumnFamilyHandle) bool { return d.cfd(cf) != first }) {
		return map[uint32]*db.SuperVersion{first.GetID(): first.GetReferencedSuperVersion()}, d.readSequence(ro)
	}
	const tries = 3
	for i := 1; ; i++ {
		// Without memtables a snapshot alone does not make families agree.
		locked := i == tries && ro.Snapshot == nil || ro.ReadTier == rocksdb.PersistedTier
		if locked {
			syncpoint.Process("DBImpl::MultiCFSnapshot::LastTry")
			d.mu.Lock()
		}
		views := map[uint32]*db.SuperVersion{}
		for _, cf := range cfs {
			if cfd := d.cfd(cf); views[cfd.GetID()] == nil {
				views[cfd.GetID()] = cfd.GetReferencedSuperVersion()
				syncpoint.Process("DBImpl::MultiCFSnapshot::AfterRefSV")
			}
		}
		seq := d.readSequence(ro)
		if locked {
			d.mu.Unlock()
			syncpoint.Process("DBImpl::MultiCFSnapshot::AfterLastTryRefSV")
			return views, seq
		}
		syncpoint.Process("DBImpl::MultiCFSnapshot::BeforeCheckingSnapshot")
		same := true
		for _, sv := range views {
			same = same && sv.VersionNumber == sv.CFD.GetSuperVersionNumber()
		}
		if same || ro.Snapshot != nil {
			return views, seq
		}
		for _, sv := range views {
			sv.Release()
		}
	}
}
