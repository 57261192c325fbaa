// Port of db/db_impl/db_impl.cc (GetImpl, MultiGet, NewIterator) and
// db/arena_wrapped_db_iter.{h,cc}.

package dbimpl

import (
	"strconv"
	"sync"

	"github.com/rocksdb-go/rocksdb/db"
	"github.com/rocksdb-go/rocksdb/db/blob/blobformat"
	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/db/dbiter"
	"github.com/rocksdb-go/rocksdb/db/memtable"
	"github.com/rocksdb-go/rocksdb/db/merge"
	"github.com/rocksdb-go/rocksdb/db/rangedel"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/internal/invariants"
	"github.com/rocksdb-go/rocksdb/monitoring"
	"github.com/rocksdb-go/rocksdb/table"
	"github.com/rocksdb-go/rocksdb/table/internaliter"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
	"github.com/rocksdb-go/rocksdb/util/stopwatch"
)

var (
	getCall            = readCall{"Get", "kGet", readOptionsFor(rocksdb.IOActivityGet)}
	multiGetCall       = readCall{"MultiGet", "kMultiGet", readOptionsFor(rocksdb.IOActivityMultiGet)}
	defaultReadOptions = readOptionsFor(rocksdb.IOActivityDBIterator)
)

// readCall is a call that reads: its name, and its activity's, as errors give
// them, and its options where the caller has none, which tell the activity.
type readCall struct {
	name, activity string
	defaults       rocksdb.ReadOptions
}

func readOptionsFor(a rocksdb.IOActivity) rocksdb.ReadOptions {
	ro := rocksdb.DefaultReadOptions()
	ro.IOActivity = a
	return ro
}

// options gives options that tell what the call's reads are for: ro, a copy of it
// in scratch, or the defaults. Options of another activity are refused.
func (c *readCall) options(ro, scratch *rocksdb.ReadOptions) (*rocksdb.ReadOptions, error) {
	switch {
	case ro == nil:
		return &c.defaults, nil
	case ro.IOActivity == c.defaults.IOActivity:
		return ro, nil
	case ro.IOActivity != rocksdb.IOActivityUnknown:
		return nil, rocksdb.InvalidArgumentf("Can only call %s with `ReadOptions::io_activity` is `Env::IOActivity::kUnknown` or `Env::IOActivity::%s`", c.name, c.activity)
	}
	*scratch = *ro
	scratch.IOActivity = c.defaults.IOActivity
	return scratch, nil
}

// getScratch is what a point lookup needs; it is pooled.
type getScratch struct {
	ro          rocksdb.ReadOptions
	key         dbformat.LookupKey
	mem         memtable.LookupState
	table       db.PointLookup
	merge       dbformat.MergeContext
	pinned      internaliter.PinnedIteratorsManager
	maxCovering rocksdb.SequenceNumber
	ts          *[]byte                      // where the found entry's timestamp goes; nil: nowhere
	columns     *rocksdb.PinnableWideColumns // takes the entity instead of a value
	visible     timestampReadCallback
}

var getScratchPool = sync.Pool{New: func() any { return &getScratch{} }}

// checkReadTimestamp makes sure that a timestamp is given exactly where keys
// have one.
func checkReadTimestamp(ro *rocksdb.ReadOptions, cfd *db.ColumnFamilyData) error {
	size := cfd.UserComparator().TimestampSize()
	if ro.Timestamp == nil {
		if size > 0 {
			return timestampsEnabled(cfd.GetName())
		}
		return nil
	}
	return checkTimestampSize(cfd.GetName(), size, ro.Timestamp)
}

// Get finds key's value and pins it in value, which is released first. The
// error is rocksdb.ErrNotFound when there is none.
func (d *DBImpl) Get(ro *rocksdb.ReadOptions, cf rocksdb.ColumnFamilyHandle, key []byte, value *rocksdb.PinnableSlice) error {
	return d.get(ro, cf, key, value, nil)
}

func (d *DBImpl) get(ro *rocksdb.ReadOptions, cf rocksdb.ColumnFamilyHandle, key []byte, value *rocksdb.PinnableSlice, ts *[]byte) error {
	cfd := d.cfd(cf)
	s := getScratchPool.Get().(*getScratch)
	defer getScratchPool.Put(s)
	ro, err := getCall.options(ro, &s.ro)
	if err == nil {
		err = checkReadTimestamp(ro, cfd)
	}
	if err != nil {
		return err
	}
	d.traceGet(cfd, key)
	watch := stopwatch.NewStopWatch(d.clock, d.stats, rocksdb.HistDBGet)
	value.Release()
	timed := ro.PerfContext.Enabled(rocksdb.EnableTimeExceptForMutex)
	var start uint64
	if timed {
		start = d.clock.NowNanos()
	}
	sv := cfd.GetReferencedSuperVersion()
	syncpoint.Process("DBImpl::GetImpl:AfterAcquireSv")
	syncpoint.Process("DBImpl::GetImpl:1")
	syncpoint.Process("DBImpl::GetImpl:2")
	seq := d.readSequence(ro)
	syncpoint.Process("DBImpl::GetImpl:3")
	syncpoint.Process("DBImpl::GetImpl:4")
	if timed {
		ro.PerfContext.GetSnapshotTime += d.clock.NowNanos() - start
	}
	var kept bool
	if err = failIfReadCollapsedHistory(ro, sv); err == nil {
		s.ts = ts
		kept, err = d.getFrom(sv, ro, key, seq, value, s)
		s.ts = nil
	}
	if !kept {
		sv.Release()
	}
	watch.Stop()
	return err
}

// readSequence is the number to read at; it has to be taken after the
// SuperVersion, so that nothing below it is missing from that.
func (d *DBImpl) readSequence(ro *rocksdb.ReadOptions) rocksdb.SequenceNumber {
	if ro.Snapshot != nil {
		return ro.Snapshot.GetSequenceNumber()
	}
	return d.versions.LastSequence()
}

// getFrom looks key up in sv. kept says that value took over the reference on
// sv. With s.columns it is nil.
// Upstream: DBImpl::GetImpl, DBImplReadOnly::GetImpl.
func (d *DBImpl) getFrom(sv *db.SuperVersion, ro *rocksdb.ReadOptions, key []byte, seq rocksdb.SequenceNumber, value *rocksdb.PinnableSlice, s *getScratch) (kept bool, err error) {
	s.key.Set(key, seq, ro.Timestamp)
	st := &s.mem
	st.Reset()
	s.merge.Clear()
	st.MergeContext, st.Columns = &s.merge, s.columns
	s.table.Callback = nil
	if len(ro.Timestamp) > 0 {
		s.visible.max = seq
		st.Callback, s.table.Callback = &s.visible, &s.visible
	}
	if s.ts != nil {
		st.WantTimestamp, *s.ts = true, (*s.ts)[:0]
	}
	if perf := ro.PerfContext; perf.Enabled(rocksdb.EnableTimeAndCPUTimeExceptForMutex) {
		defer d.addCPUTime(&perf.GetCPUNanos, d.clock.CPUNanos())
	}
	skipMem := ro.ReadTier == rocksdb.PersistedTier && d.hasUnpersistedData.Load()
	done := false
	timed := ro.PerfContext.Enabled(rocksdb.EnableTimeExceptForMutex)
	var start uint64
	if timed {
		start = d.clock.NowNanos()
	}
	if !skipMem {
		if done = sv.Mem.Get(&s.key, ro, st, false); !done {
			done = sv.Imm.Get(&s.key, ro, st)
		}
		if timed {
			start = d.clock.NowNanos() // the memtables have counted theirs
		}
		if done {
			monitoring.RecordTick(d.stats, rocksdb.MemtableHit, 1)
			if s.ts != nil {
				*s.ts = append((*s.ts)[:0], st.Timestamp...)
			}
			if err = st.Status; err == nil && s.columns == nil {
				if st.Pinned {
					value.PinSlice(st.Value, sv)
					kept = true
				} else {
					value.PinSelf(st.Value)
				}
			}
		}
	}
	if !done {
		if !skipMem && st.Status != nil && rocksdb.CodeOf(st.Status) != rocksdb.CodeMergeInProgress && !rocksdb.IsNotFound(st.Status) {
			return false, st.Status
		}
		s.maxCovering = st.MaxCoveringTombstoneSeq
		x := &s.table
		x.Value, x.Columns, x.Timestamp = value, s.columns, s.ts
		if s.ts != nil { // a range deletion's, from a memtable
			*s.ts = append((*s.ts)[:0], st.Timestamp...)
		}
		x.MergeContext = &s.merge
		x.MergeInProgress = rocksdb.CodeOf(st.Status) == rocksdb.CodeMergeInProgress
		x.MaxCoveringTombstoneSeq = &s.maxCovering
		x.PinnedIters = &s.pinned
		x.DoMerge = true
		err = sv.Current.Get(ro, &s.key, x)
		x.Value, x.Columns, x.MergeContext, x.Timestamp = nil, nil, nil, nil
		_ = s.pinned.ReleasePinnedData() // blocks of operands, now merged; no iterators
		if timed {
			now := d.clock.NowNanos()
			ro.PerfContext.GetFromOutputFilesTime += now - start
			start = now
		}
		monitoring.RecordTick(d.stats, rocksdb.MemtableMiss, 1)
	}
	d.countGet(ro, err, value, s.columns)
	if err == nil {
		err = mergeThreshold(ro, &s.merge)
	}
	if timed && !d.readOnly {
		ro.PerfContext.GetPostProcessTime += d.clock.NowNanos() - start
	}
	return kept, err
}

// mergeThreshold is the mark of a value that was merged of many operands.
func mergeThreshold(ro *rocksdb.ReadOptions, m *dbformat.MergeContext) error {
	if t := ro.MergeOperandCountThreshold; t != nil && uint64(m.GetNumOperands()) > *t {
		return rocksdb.ErrMergeOperandThresholdExceeded
	}
	return nil
}

// addCPUTime adds the goroutine's CPU time since start to metric; nothing where
// it has gone to a thread that has run less.
func (d *DBImpl) addCPUTime(metric *uint64, start uint64) {
	now := d.clock.CPUNanos()
	*metric += now - min(start, now)
}

func (d *DBImpl) countGet(ro *rocksdb.ReadOptions, err error, value *rocksdb.PinnableSlice, columns *rocksdb.PinnableWideColumns) {
	if d.stats == nil && ro.PerfContext == nil {
		return
	}
	monitoring.RecordTick(d.stats, rocksdb.NumberKeysRead, 1)
	n := 0
	if err == nil {
		if columns != nil {
			n = columns.PayloadSize()
		} else {
			n = value.Size()
		}
		monitoring.RecordTick(d.stats, rocksdb.BytesRead, uint64(n))
		if ro.PerfContext.CountEnabled() {
			ro.PerfContext.GetReadBytes += uint64(n)
		}
	}
	monitoring.RecordInHistogram(d.stats, rocksdb.HistBytesPerRead, uint64(n))
}

// KeyMayExist is false only when key surely has no value; it reads no file.
// Where the value was at hand it is put into value.
func (d *DBImpl) KeyMayExist(ro *rocksdb.ReadOptions, cf rocksdb.ColumnFamilyHandle, key []byte, value *rocksdb.PinnableSlice) (mayExist, found bool) {
	var o rocksdb.ReadOptions
	if ro == nil {
		o = rocksdb.DefaultReadOptions()
	} else {
		o = *ro
	}
	o.ReadTier, o.MergeOperandCountThreshold = rocksdb.BlockCacheTier, nil
	err := d.Get(&o, cf, key, value)
	return err == nil || rocksdb.IsIncomplete(err), err == nil
}

// merger applies a family's merge operator.
type merger struct {
	cfd  *db.ColumnFamilyData
	perf *rocksdb.PerfContext
	m    merge.FullMerge
}

// FullMerge implements dbiter.Merger.
func (g *merger) FullMerge(key []byte, kind merge.BaseValueKind, base []byte, operands [][]byte) ([]byte, dbformat.ValueType, error) {
	io := g.cfd.IOptions()
	g.m.Operator, g.m.Key, g.m.Base, g.m.Value, g.m.Operands = io.MergeOperator, key, kind, base, operands
	g.m.Logger, g.m.Statistics, g.m.Clock, g.m.PerfContext = io.Logger, io.Stats, io.Clock, g.perf
	return g.m.Result()
}

// resolver finds blob values through the iterator's version.
type resolver struct{ it *Iterator }

// GetBlob implements dbiter.Resolver.
func (r *resolver) GetBlob(ro *rocksdb.ReadOptions, userKey, index []byte, value *rocksdb.PinnableSlice) error {
	var b blobformat.BlobIndex
	if err := b.DecodeFrom(index); err != nil {
		return err
	}
	_, err := r.it.superVersion().Current.FetchBlob(ro, userKey, &b, value)
	return err
}

// Iterator is a database iterator: a DBIter over a SuperVersion that it holds.
type Iterator struct {
	dbiter.DBIter
	d        *DBImpl
	cfd      *db.ColumnFamilyData
	sv       *db.SuperVersion    // nil with tail
	tail     *db.ForwardIterator // of a tailing iterator; nil otherwise
	ro       rocksdb.ReadOptions
	merger   merger
	resolver resolver
	kept     []byte // bounds and timestamps of ro
	closed   bool

	deferred    bool // the inner iterator is still to be made, by open
	boundsMove  bool // SetBounds was used: range tombstones of every bound may be wanted
	autoRefresh bool // ReadOptions.AutoRefreshIteratorWithSnapshot, with a snapshot
	refreshKey  []byte
	callback    dbformat.ReadCallback
}

// iterators are those recycled.
var iterators = sync.Pool{New: func() any { return new(Iterator) }}

// newIterator gives an iterator to be initialized; sv is taken over.
func (d *DBImpl) newIterator(ro *rocksdb.ReadOptions, cfd *db.ColumnFamilyData, sv *db.SuperVersion) *Iterator {
	it := iterators.Get().(*Iterator)
	it.d, it.cfd, it.ro, it.sv, it.closed, it.boundsMove = d, cfd, *ro, sv, false, false
	it.deferred, it.autoRefresh, it.callback = false, false, nil
	d.openIterators.Add(1)
	return it
}

// Recycle gives a closed iterator's memory to others. Nobody may hold the
// iterator any more.
func (it *Iterator) Recycle() {
	if invariants.Enabled {
		return
	}
	it.DBIter.Recycle()
	it.d, it.cfd, it.tail, it.ro, it.callback = nil, nil, nil, rocksdb.ReadOptions{}, nil
	it.merger, it.resolver, it.kept = merger{}, resolver{}, it.kept[:0]
	iterators.Put(it)
}

// keepSlices copies what the caller of NewIterator may change.
func (it *Iterator) keepSlices() {
	for _, p := range []*[]byte{&it.ro.IterateLowerBound, &it.ro.IterateUpperBound, &it.ro.Timestamp, &it.ro.IterStartTS} {
		if *p != nil {
			from := len(it.kept)
			it.kept = append(it.kept, *p...)
			*p = it.kept[from:len(it.kept):len(it.kept)]
		}
	}
}

// NewIterator makes an iterator over a family at the present state, or that of
// ro's snapshot.
func (d *DBImpl) NewIterator(ro *rocksdb.ReadOptions, cf rocksdb.ColumnFamilyHandle) *Iterator {
	if ro == nil {
		ro = &defaultReadOptions
	}
	cfd := d.cfd(cf)
	it := d.newIterator(ro, cfd, nil)
	if err := checkIteratorOptions("NewIterator", ro, cfd); err != nil {
		it.InitError(err, cfd.InternalComparator())
		return it
	}
	it.sv = cfd.GetReferencedSuperVersion()
	err := failIfReadCollapsedHistory(ro, it.sv)
	if err == nil {
		err = d.failIfTableFilterWithRangeConversion(ro, it.sv)
	}
	if err != nil {
		it.releaseSuperVersion(it.sv)
		it.sv = nil
		it.InitError(err, cfd.InternalComparator())
		return it
	}
	syncpoint.Process("DBImpl::NewIterator:1")
	syncpoint.Process("DBImpl::NewIterator:2")
	seq := d.readSequence(ro)
	syncpoint.Process("DBImpl::NewIterator:3")
	syncpoint.Process("DBImpl::NewIterator:4")
	it.init(seq)
	return it
}

// NewIterators makes an iterator over each family, all at one state of the
// database.
func (d *DBImpl) NewIterators(ro *rocksdb.ReadOptions, cfs []rocksdb.ColumnFamilyHandle) ([]*Iterator, error) {
	if ro == nil {
		ro = &defaultReadOptions
	}
	for _, cf := range cfs {
		if err := checkIteratorOptions("NewIterators", ro, d.cfd(cf)); err != nil {
			return nil, err
		}
	}
	if len(cfs) == 0 {
		return nil, nil
	}
	views, seq := d.multiView(ro, cfs)
	for _, sv := range views {
		err := failIfReadCollapsedHistory(ro, sv)
		if err == nil {
			err = d.failIfTableFilterWithRangeConversion(ro, sv)
		}
		if err != nil {
			for _, sv := range views {
				sv.Release()
			}
			return nil, err
		}
	}
	its := make([]*Iterator, len(cfs))
	for i, cf := range cfs {
		cfd := d.cfd(cf)
		its[i] = d.newIterator(ro, cfd, views[cfd.GetID()].Ref())
		its[i].init(seq)
	}
	for _, sv := range views {
		sv.Release()
	}
	return its, nil
}

// NewIteratorImpl makes an iterator over a family at the sequence number seq;
// callback, nil for none, says which entries up to it are seen. The options are
// those of NewIterator and were checked. An iterator of a callback does not
// refresh itself: what the callback saw is not known of a newer state.
func (d *DBImpl) NewIteratorImpl(ro *rocksdb.ReadOptions, cf rocksdb.ColumnFamilyHandle, seq rocksdb.SequenceNumber, callback dbformat.ReadCallback) *Iterator {
	if ro == nil {
		ro = &defaultReadOptions
	}
	cfd := d.cfd(cf)
	it := d.newIterator(ro, cfd, cfd.GetReferencedSuperVersion())
	it.callback = callback
	it.init(seq)
	return it
}

func checkIteratorOptions(call string, ro *rocksdb.ReadOptions, cfd *db.ColumnFamilyData) error {
	switch {
	case ro.IOActivity != rocksdb.IOActivityUnknown && ro.IOActivity != rocksdb.IOActivityDBIterator:
		return rocksdb.InvalidArgumentf("Can only call %s with `ReadOptions::io_activity` is `Env::IOActivity::kUnknown` or `Env::IOActivity::kDBIterator`", call)
	case ro.ReadTier == rocksdb.PersistedTier:
		return rocksdb.NotSupported("ReadTier::kPersistedData is not yet supported in iterators.")
	case ro.IterStartTS != nil && len(ro.IterStartTS) != cfd.UserComparator().TimestampSize():
		return rocksdb.InvalidArgumentf("timestamp size mismatch: iter_start_ts has %d bytes, %d expected",
			len(ro.IterStartTS), cfd.UserComparator().TimestampSize())
	}
	return checkReadTimestamp(ro, cfd)
}

func (it *Iterator) init(seq rocksdb.SequenceNumber) {
	sv := it.sv
	it.keepSlices()
	it.ro.TotalOrderSeek = it.ro.TotalOrderSeek || it.d.immutable.PrefixSeekOptInOnly
	it.ro.IOActivity = rocksdb.IOActivityDBIterator
	it.ro.AsyncIO = it.ro.AsyncIO && rocksdb.CheckFSFeatureSupport(it.d.fs, rocksdb.AsyncIO)
	it.merger = merger{cfd: it.cfd, perf: it.ro.PerfContext}
	it.resolver = resolver{it}
	if it.ro.Tailing {
		it.tail = db.NewForwardIterator(it.cfd, &it.ro, sv, it.releaseSuperVersion)
		it.sv, seq = nil, dbMaxSequence
	}
	it.autoRefresh = it.mayAutoRefresh()
	c := it.config(sv, seq)
	it.DBIter.Init(&c)
}

// config is what a DBIter over sv is made of; the inner iterator is left to
// open.
func (it *Iterator) config(sv *db.SuperVersion, seq rocksdb.SequenceNumber) dbiter.Config {
	mo := sv.MutableCFOptions
	c := dbiter.Config{ReadOptions: &it.ro, Comparator: it.cfd.InternalComparator(), Sequence: seq,
		Callback: it.callback, Resolver: &it.resolver, PrefixExtractor: mo.PrefixExtractor, MaxSequentialSkip: mo.MaxSequentialSkipInIterations,
		Statistics: it.d.stats, Clock: it.d.clock}
	if it.cfd.IOptions().MergeOperator != nil {
		c.Merger = &it.merger
	}
	if it.tail != nil {
		c.Iter = it.tail
		return c
	}
	it.deferred = true
	it.setMemtable(&c)
	return c
}

// open makes the inner iterator, as late as may be: by then it is known whether
// only ranges are wanted of it (scan, nil for all).
// Upstream: ArenaWrappedDBIter::EnsureInternalIteratorInitialized.
func (it *Iterator) open(scan *rocksdb.MultiScanArgs) {
	it.deferred = false
	it.SetIter(it.internalIterator(it.Sequence(), scan))
}

// setMemtable lets the iterator act on the active memtable of its view.
func (it *Iterator) setMemtable(c *dbiter.Config) {
	if it.d.readOnly {
		return
	}
	sv := it.sv
	mo := sv.MutableCFOptions
	c.Memtable, c.TombstoneMemtable, c.IngestLock, c.InfoLog = sv.Mem, sv.Mem, it.cfd.IngestSstLock(), it.d.infoLog
	c.OpScanFlushTrigger, c.AvgScanFlushTrigger = mo.MemtableOpScanFlushTrigger, mo.MemtableAvgOpScanFlushTrigger
	c.MinTombstonesForRangeConversion = mo.MinTombstonesForRangeConversion
}

// failIfTableFilterWithRangeConversion refuses a filter where the tombstones of
// a table it hides may show up in a memtable.
func (d *DBImpl) failIfTableFilterWithRangeConversion(ro *rocksdb.ReadOptions, sv *db.SuperVersion) error {
	if ro.TableFilter == nil || d.readOnly || sv.MutableCFOptions.MinTombstonesForRangeConversion == 0 {
		return nil
	}
	return rocksdb.InvalidArgument("ReadOptions::table_filter is not supported when min_tombstones_for_range_conversion > 0")
}

// internalIterator merges memtables and tables of the SuperVersion, with scan,
// of bounded ranges, only those that have a part in these.
func (it *Iterator) internalIterator(seq rocksdb.SequenceNumber, scan *rocksdb.MultiScanArgs) internaliter.InternalIterator {
	sv, ro := it.sv, &it.ro
	prefix := sv.MutableCFOptions.PrefixExtractor
	prefixSeek := !ro.TotalOrderSeek && !ro.AutoPrefixMode && prefix != nil
	tombstonesUpTo := ro.IterateUpperBound
	if it.boundsMove || scan != nil {
		tombstonesUpTo = nil
	}
	b := table.NewMergeIteratorBuilder(it.cfd.InternalComparator(), prefixSeek, tombstonesUpTo)
	if ro.PerfContext != nil {
		b.SetPerfContext(ro.PerfContext)
	}
	add := func(m *memtable.MemTable, immutable bool) error {
		if !db.MultiScanIntersectsMemTable(m, ro, scan) {
			return nil
		}
		point := m.NewIterator(ro, prefix, sv.SeqnoToTimeMapping)
		if ro.IgnoreRangeDeletions {
			b.AddIterator(point)
			return nil
		}
		t, err := m.NewRangeTombstoneIterator(ro, seq, immutable)
		if err != nil {
			return err
		}
		var tr *rangedel.TruncatedRangeDelIterator
		if t != nil && !t.Empty() {
			tr = rangedel.NewTruncatedRangeDelIterator(t, it.cfd.InternalComparator(), nil, nil)
		}
		b.AddPointAndTombstoneIterator(point, tr, nil)
		return nil
	}
	err := add(sv.Mem, false)
	for _, m := range sv.Imm.Memtables() {
		if err == nil {
			err = add(m, true)
		}
	}
	syncpoint.ProcessArg("DBImpl::NewInternalIterator:StatusCallback", &err)
	if err != nil {
		return internaliter.NewErrorInternalIterator(err)
	}
	if ro.ReadTier != rocksdb.MemtableTier {
		sv.Current.AddIterators(ro, b, true, seq, scan) // DBIter prepares what it needs
	}
	return b.Finish(nil)
}

// Refresh shows the present state, or a snapshot's; the iterator then stands
// nowhere.
func (it *Iterator) Refresh(snapshot rocksdb.Snapshot) error {
	if it.tail != nil {
		return rocksdb.NotSupported("Refresh() is not supported")
	}
	if it.sv == nil {
		return it.Status()
	}
	syncpoint.Process("ArenaWrappedDBIter::Refresh:1")
	syncpoint.Process("ArenaWrappedDBIter::Refresh:2")
	if it.deferred {
		it.open(nil) // as upstream does: tables are opened with the options of their time
	}
	if it.ro.Snapshot != nil && snapshot == nil {
		// The state asked for is no longer that of the options' snapshot.
		it.ro.Snapshot = nil
	}
	if snapshot != nil {
		it.ro.Snapshot = snapshot
	}
	it.autoRefresh = it.mayAutoRefresh()
	return it.renew()
}

func (it *Iterator) releaseSuperVersion(sv *db.SuperVersion) {
	if sv.Unref() {
		it.d.cleanupSuperVersion(sv, it.ro.BackgroundPurgeOnIteratorCleanup)
	}
}

// superVersion is the state that the iterator is over.
func (it *Iterator) superVersion() *db.SuperVersion {
	if it.tail != nil {
		return it.tail.SuperVersion()
	}
	return it.sv
}

// GetProperty answers iterator properties, "rocksdb.iterator.super-version-number"
// among them, which tells states of the family apart.
func (it *Iterator) GetProperty(name string) (string, error) {
	if sv := it.superVersion(); name == "rocksdb.iterator.super-version-number" && sv != nil {
		return strconv.FormatUint(sv.VersionNumber, 10), nil
	}
	return it.DBIter.GetProperty(name)
}

// Close lets go of everything the iterator holds.
func (it *Iterator) Close() error {
	if it.closed {
		return nil
	}
	it.closed = true
	err := it.DBIter.Close()
	if it.sv != nil {
		it.releaseSuperVersion(it.sv)
		it.sv = nil
	}
	it.d.openIterators.Add(-1)
	monitoring.RecordTick(it.d.stats, rocksdb.NoIteratorDeleted, 1)
	return err
}
