// Port of db/memtable.{h,cc}. Differs: there is no interface ReadOnlyMemTable, the
// memtable of an indexed write batch has a Source; the default container is called
// directly. Writes are in memtable_add.go and
// memtable_inplace_update.go, lookups in memtable_get.go, iterators in
// memtable_iterator.go, range tombstones in memtable_range_del.go.

package memtable

import (
	"math"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/db/rangedel"
	"github.com/rocksdb-go/rocksdb/db/version"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/memory"
	rep "github.com/rocksdb-go/rocksdb/memtable"
	"github.com/rocksdb-go/rocksdb/options"
	"github.com/rocksdb-go/rocksdb/util"
)

// Hint is a place in a memtable near which a batch inserts; the zero value is a
// fresh one. It belongs to one goroutine and one memtable.
type Hint = rep.Splice

// ImmutableMemTableOptions are the options a memtable keeps from its start.
type ImmutableMemTableOptions struct {
	ArenaBlockSize                int
	PrefixBloomBits               uint32
	HugePageSize                  int
	WholeKeyFiltering             bool
	InplaceUpdateSupport          bool
	InplaceUpdateNumLocks         uint64
	InplaceCallback               rocksdb.InplaceCallback
	MaxSuccessiveMerges           uint64
	StrictMaxSuccessiveMerges     bool
	Statistics                    rocksdb.Statistics
	MergeOperator                 rocksdb.MergeOperator
	InfoLog                       rocksdb.Logger
	ProtectionBytesPerKey         int
	AllowDataInErrors             bool
	ParanoidMemoryChecks          bool
	VerifyPerKeyChecksumOnSeek    bool
	BatchLookupOptimization       bool
	InsertWithHintPrefixExtractor rocksdb.SliceTransform
	MaxRangeDeletions             uint64
}

func immutableOptions(io *options.ImmutableOptions, mo *options.MutableCFOptions) ImmutableMemTableOptions {
	// Upstream multiplies by 8 in 32 bits; a big buffer's filter would wrap to
	// a small one.
	bloomBytes := float64(mo.WriteBufferSize) * mo.MemtablePrefixBloomSizeRatio
	return ImmutableMemTableOptions{
		ArenaBlockSize:                int(mo.ArenaBlockSize),
		PrefixBloomBits:               uint32(min(bloomBytes*8, math.MaxUint32)),
		HugePageSize:                  int(mo.MemtableHugePageSize),
		WholeKeyFiltering:             mo.MemtableWholeKeyFiltering,
		InplaceUpdateSupport:          io.InplaceUpdateSupport,
		InplaceUpdateNumLocks:         mo.InplaceUpdateNumLocks,
		InplaceCallback:               io.InplaceCallback,
		MaxSuccessiveMerges:           mo.MaxSuccessiveMerges,
		StrictMaxSuccessiveMerges:     mo.StrictMaxSuccessiveMerges,
		Statistics:                    io.Statistics,
		MergeOperator:                 io.MergeOperator,
		InfoLog:                       io.InfoLog,
		ProtectionBytesPerKey:         int(mo.MemtableProtectionBytesPerKey),
		AllowDataInErrors:             io.AllowDataInErrors,
		ParanoidMemoryChecks:          mo.ParanoidMemoryChecks && !io.DisallowMemtableWrites,
		VerifyPerKeyChecksumOnSeek:    mo.MemtableVerifyPerKeyChecksumOnSeek && !io.DisallowMemtableWrites,
		BatchLookupOptimization:       io.MemtableBatchLookupOptimization,
		InsertWithHintPrefixExtractor: io.MemtableInsertWithHintPrefixExtractor,
		MaxRangeDeletions:             uint64(mo.MemtableMaxRangeDeletions),
	}
}

// The states of flushState; see doc.go.
const (
	flushNotRequested int32 = iota
	flushRequested
	flushScheduled
)

// MemTable is a memtable. Add may run beside Add with allowConcurrent, if the
// container supports that; reads may run beside everything.
type MemTable struct {
	icmp            *dbformat.InternalKeyComparator
	opts            ImmutableMemTableOptions
	tsSize          int
	arenaBlockSize  int
	clock           rocksdb.SystemClock
	tracker         *memory.AllocTracker
	arena           *memory.ConcurrentArena
	skip            *rep.SkipListRep // the container if it is the default one, else nil
	table           rep.MemTableRep
	source          Source // of the entries, where they were not inserted; else nil
	rangeDelTable   *rep.SkipListRep
	prefixExtractor rocksdb.SliceTransform
	bloom           *util.DynamicBloom
	validate        rep.KeyValidation // nil unless checksums are checked on seeks
	insertHints     map[string]*rep.Splice
	inplaceLocks    []sync.RWMutex // by hash of user key; of values

	// Under the DB mutex, as are refs and the fields it shares a line with.
	// AtomicFlushSeqno is the sequence number of the atomic flush the memtable
	// belongs to, MaxSequenceNumber for none: it has no entry at or after it.
	AtomicFlushSeqno rocksdb.SequenceNumber
	FlushInProgress  bool
	FlushCompleted   bool
	// FileNumber is the table written, 0 before.
	FileNumber    uint64
	refs          int
	id            uint64
	nextLogNumber uint64
	edits         version.VersionEdit
	flushJobInfo  *rocksdb.FlushJobInfo

	_ [64]byte // what follows is written by writers

	dataSize           atomic.Uint64
	numEntries         atomic.Uint64
	numDeletes         atomic.Uint64
	numRangeDeletes    atomic.Uint64
	approximateMemory  atomic.Uint64
	writeBufferSize    atomic.Uint64
	firstSeqno         atomic.Uint64
	earliestSeqno      atomic.Uint64
	creationSeq        atomic.Uint64
	ingestSeqnoBarrier atomic.Uint64
	minPrepLog         atomic.Uint64
	oldestKeyTime      atomic.Uint64
	numHints           atomic.Int64   // in insertHints, which is the writer's alone
	newestUDT          unsafe.Pointer // into the arena; atomic
	flushState         atomic.Int32
	markedForFlush     atomic.Bool
	hasRangeDel        atomic.Bool

	isImmutable atomic.Bool
	immutable   sync.RWMutex

	rangeDel struct {
		sync.Mutex // among writers of tombstones
		cache      atomic.Pointer[rangedel.FragmentedRangeTombstoneListCache]
		// Made when the memtable becomes immutable; constant then.
		fragmented   *rangedel.FragmentedRangeTombstoneList
		fragmentErr  error
		strippedOnce sync.Once
		stripped     *rangedel.FragmentedRangeTombstoneList
		strippedErr  error
	}
}

// New makes an empty memtable without references. earliestSeq is the database's
// present sequence number: all entries will be at or after it;
// MaxSequenceNumber if it is not known. A container that is not of this engine
// is replaced by the default one; Open refuses it before (see rep.Factory).
func New(icmp *dbformat.InternalKeyComparator, io *options.ImmutableOptions, mo *options.MutableCFOptions,
	wbm rocksdb.WriteBufferManager, earliestSeq rocksdb.SequenceNumber, columnFamilyID uint32) *MemTable {
	m := &MemTable{
		icmp:             icmp,
		opts:             immutableOptions(io, mo),
		tsSize:           icmp.TimestampSize(),
		clock:            io.Clock,
		prefixExtractor:  mo.PrefixExtractor,
		AtomicFlushSeqno: dbformat.MaxSequenceNumber,
	}
	if m.clock == nil {
		m.clock = rocksdb.DefaultSystemClock()
	}
	m.arenaBlockSize = memory.OptimizeBlockSize(m.opts.ArenaBlockSize)
	if wbm != nil && (wbm.Enabled() || wbm.CostToCache()) {
		m.tracker = memory.NewAllocTracker(wbm)
	}
	m.arena = memory.NewConcurrentArena(m.opts.ArenaBlockSize, m.tracker, m.opts.HugePageSize)
	factory, err := rep.Factory(io.MemtableFactory)
	if err != nil {
		factory = rep.NewSkipListFactory(0)
	}
	if f, ok := factory.(rep.FamilyMemTableRepFactory); ok {
		m.table = f.CreateMemTableRepForFamily(icmp, m.arena, mo.PrefixExtractor, io.InfoLog, columnFamilyID)
	} else {
		m.table = factory.CreateMemTableRep(icmp, m.arena, mo.PrefixExtractor, io.InfoLog)
	}
	m.skip, _ = m.table.(*rep.SkipListRep)
	m.rangeDelTable = rep.NewSkipListRep(icmp, m.arena, nil, 0)
	m.rangeDel.cache.Store(&rangedel.FragmentedRangeTombstoneListCache{})
	m.writeBufferSize.Store(mo.WriteBufferSize)
	m.earliestSeqno.Store(earliestSeq)
	m.creationSeq.Store(earliestSeq)
	m.oldestKeyTime.Store(math.MaxUint64)
	if m.opts.InsertWithHintPrefixExtractor != nil {
		m.insertHints = make(map[string]*rep.Splice)
	}
	if m.opts.InplaceUpdateSupport {
		m.inplaceLocks = make([]sync.RWMutex, max(m.opts.InplaceUpdateNumLocks, 1))
	}
	if m.opts.ProtectionBytesPerKey != 0 && m.opts.VerifyPerKeyChecksumOnSeek {
		m.validate = m.ValidateKey
	}
	// A buffer too small for its first block asks for a flush from the start.
	m.updateFlushState()
	if (m.prefixExtractor != nil || m.opts.WholeKeyFiltering) && m.opts.PrefixBloomBits > 0 {
		m.bloom = util.NewDynamicBloom(m.opts.PrefixBloomBits, 6, func(n int) []byte {
			return m.arena.AllocateAlignedHuge(n, m.opts.HugePageSize, m.opts.InfoLog)
		})
	}
	return m
}

// Name is "MemTable".
func (m *MemTable) Name() string { return "MemTable" }

// Ref adds a reference; the DB mutex is held.
func (m *MemTable) Ref() { m.refs++ }

// Unref drops a reference and gives m if that was the last one, for the caller
// to Free without the DB mutex, which is held here.
func (m *MemTable) Unref() *MemTable {
	if m.refs--; m.refs > 0 {
		return nil
	}
	return m
}

// Free gives the memory back. Nothing of the memtable may be used afterwards.
func (m *MemTable) Free() {
	m.arena.Free()
}

// ApproximateMemoryUsage is the memory in use, in bytes.
func (m *MemTable) ApproximateMemoryUsage() uint64 {
	n := uint64(m.arena.ApproximateMemoryUsage() + m.table.ApproximateMemoryUsage() +
		int(m.numHints.Load())*int(unsafe.Sizeof(rep.Splice{})))
	m.approximateMemory.Store(n)
	return n
}

// ApproximateMemoryUsageFast is what ApproximateMemoryUsage or the last write
// found; it may be called at any time.
func (m *MemTable) ApproximateMemoryUsageFast() uint64 { return m.approximateMemory.Load() }

// MemoryAllocatedBytes is the memory taken, used or not.
func (m *MemTable) MemoryAllocatedBytes() uint64 {
	return uint64(m.table.ApproximateMemoryUsage() + m.arena.MemoryAllocatedBytes())
}

// UniqueRandomSample gives about target entries at random; skip list only.
func (m *MemTable) UniqueRandomSample(target uint64) ([]rep.KeyHandle, error) {
	return m.table.UniqueRandomSample(m.NumEntries(), target)
}

// ShouldScheduleFlush tells whether the memtable is full and nobody has
// scheduled its flush.
func (m *MemTable) ShouldScheduleFlush() bool { return m.flushState.Load() == flushRequested }

// MarkFlushScheduled tells the one caller that is to schedule the flush.
func (m *MemTable) MarkFlushScheduled() bool {
	return m.flushState.CompareAndSwap(flushRequested, flushScheduled)
}

// HasFlushScheduled tells whether the flush is scheduled.
func (m *MemTable) HasFlushScheduled() bool { return m.flushState.Load() == flushScheduled }

// MarkForFlush makes the next write ask for a flush.
func (m *MemTable) MarkForFlush() { m.markedForFlush.Store(true) }

// IsMarkedForFlush tells whether MarkForFlush was called.
func (m *MemTable) IsMarkedForFlush() bool { return m.markedForFlush.Load() }

// ShouldFlushNow tells whether the memtable is as full as it should get. The
// arena grows by blocks that rarely fit the write buffer exactly, so up to 0.6
// of a block more is allowed; the last block counts as full at three quarters,
// for an entry bigger than its rest would open a new block.
func (m *MemTable) ShouldFlushNow() bool {
	if m.markedForFlush.Load() || m.tooManyRangeDeletes() {
		return true
	}
	allocated := m.MemoryAllocatedBytes()
	if m.approximateMemory.Load() != allocated {
		m.approximateMemory.Store(allocated)
	}
	block := uint64(m.arenaBlockSize)
	limit := m.writeBufferSize.Load() + block*6/10
	if allocated+block < limit {
		return false
	}
	if allocated > limit {
		return true
	}
	return uint64(m.arena.AllocatedAndUnused()) < block/4
}

func (m *MemTable) tooManyRangeDeletes() bool {
	return m.opts.MaxRangeDeletions > 0 && m.numRangeDeletes.Load() >= m.opts.MaxRangeDeletions
}

// GetFlushReason says why the memtable asked for its flush.
func (m *MemTable) GetFlushReason() rocksdb.FlushReason {
	if m.tooManyRangeDeletes() {
		return rocksdb.FlushReasonMemtableMaxRangeDeletions
	}
	return rocksdb.FlushReasonWriteBufferFull
}

func (m *MemTable) updateFlushState() {
	if m.flushState.Load() == flushNotRequested && m.ShouldFlushNow() {
		m.flushState.CompareAndSwap(flushNotRequested, flushRequested)
	}
}

func (m *MemTable) updateOldestKeyTime() {
	if m.oldestKeyTime.Load() != math.MaxUint64 {
		return
	}
	if now, err := m.clock.GetCurrentTime(); err == nil && now >= 0 {
		m.oldestKeyTime.CompareAndSwap(math.MaxUint64, uint64(now))
	}
}

// NumEntries counts all entries, range tombstones included.
func (m *MemTable) NumEntries() uint64 { return m.numEntries.Load() }

// NumDeletion counts point deletions.
func (m *MemTable) NumDeletion() uint64 { return m.numDeletes.Load() }

// NumRangeDeletion counts range tombstones.
func (m *MemTable) NumRangeDeletion() uint64 { return m.numRangeDeletes.Load() }

// GetDataSize is the size of all entries as encoded, in bytes.
func (m *MemTable) GetDataSize() uint64 { return m.dataSize.Load() }

// WriteBufferSize is the size at which the memtable is full.
func (m *MemTable) WriteBufferSize() uint64 { return m.writeBufferSize.Load() }

// UpdateWriteBufferSize changes that size, under the DB mutex. With a Bloom
// filter, made for the old size, it cannot grow.
func (m *MemTable) UpdateWriteBufferSize(size uint64) {
	if m.bloom == nil || size < m.writeBufferSize.Load() {
		m.writeBufferSize.Store(size)
	}
}

// IsEmpty tells whether nothing was inserted.
func (m *MemTable) IsEmpty() bool { return m.firstSeqno.Load() == 0 }

// GetFirstSequenceNumber is the least sequence number inserted, 0 for none.
func (m *MemTable) GetFirstSequenceNumber() rocksdb.SequenceNumber { return m.firstSeqno.Load() }

// SetFirstSequenceNumber sets it.
func (m *MemTable) SetFirstSequenceNumber(seq rocksdb.SequenceNumber) { m.firstSeqno.Store(seq) }

// FirstSequenceForScan bounds from below the entries that count as this
// memtable's for iterators that ask for flushes. An empty memtable has none yet:
// what hides in older memtables and files must not count for it.
func (m *MemTable) FirstSequenceForScan() rocksdb.SequenceNumber {
	if first := m.firstSeqno.Load(); first != 0 {
		return first
	}
	return m.earliestSeqno.Load()
}

// GetEarliestSequenceNumber bounds what is or may be inserted from below;
// MaxSequenceNumber if it is not known.
func (m *MemTable) GetEarliestSequenceNumber() rocksdb.SequenceNumber { return m.earliestSeqno.Load() }

// SetEarliestSequenceNumber sets it.
func (m *MemTable) SetEarliestSequenceNumber(seq rocksdb.SequenceNumber) { m.earliestSeqno.Store(seq) }

// GetCreationSeq is the database's sequence number when the memtable was made,
// or a later one before its first entry.
func (m *MemTable) GetCreationSeq() rocksdb.SequenceNumber { return m.creationSeq.Load() }

// SetCreationSeq sets it.
func (m *MemTable) SetCreationSeq(seq rocksdb.SequenceNumber) { m.creationSeq.Store(seq) }

// RefLogContainingPrepSection says that the memtable has data of a transaction
// prepared in that log.
func (m *MemTable) RefLogContainingPrepSection(log uint64) {
	for cur := m.minPrepLog.Load(); cur == 0 || log < cur; cur = m.minPrepLog.Load() {
		if m.minPrepLog.CompareAndSwap(cur, log) {
			return
		}
	}
}

// GetMinLogContainingPrepSection is the least such log, 0 for none.
func (m *MemTable) GetMinLogContainingPrepSection() uint64 { return m.minPrepLog.Load() }

// MarkImmutable says that no write follows. Iterators that add redundant range
// tombstones are waited for.
func (m *MemTable) MarkImmutable() {
	m.immutable.Lock()
	defer m.immutable.Unlock()
	m.isImmutable.Store(true)
	m.table.MarkReadOnly()
	if m.tracker != nil {
		m.tracker.DoneAllocating()
	}
}

// MarkFlushed says that the data is in a table file.
func (m *MemTable) MarkFlushed() { m.table.MarkFlushed() }

// IsMergeOperatorSupported tells what the container can do.
func (m *MemTable) IsMergeOperatorSupported() bool { return m.table.IsMergeOperatorSupported() }

// IsSnapshotSupported tells whether snapshots keep their view.
func (m *MemTable) IsSnapshotSupported() bool {
	return m.table.IsSnapshotSupported() && !m.opts.InplaceUpdateSupport
}

// IsRangeDelSupported is true: tombstones have a list of their own, whatever the
// container. Whether the table format can store them is its factory's to say.
func (m *MemTable) IsRangeDelSupported() bool { return true }

// ApproximateStats estimates bytes and number of the entries in [start, end),
// internal keys.
func (m *MemTable) ApproximateStats(start, end []byte) (size, count uint64) {
	count = m.table.ApproximateNumEntries(start, end) + m.rangeDelTable.ApproximateNumEntries(start, end)
	n := m.numEntries.Load()
	if count == 0 || n == 0 {
		return 0, 0
	}
	count = min(count, n)
	return count * (m.dataSize.Load() / n), count
}

// GetInternalKeyComparator orders the entries.
func (m *MemTable) GetInternalKeyComparator() *dbformat.InternalKeyComparator { return m.icmp }

// GetImmutableMemTableOptions gives the options.
func (m *MemTable) GetImmutableMemTableOptions() *ImmutableMemTableOptions { return &m.opts }

// ApproximateOldestKeyTime is when the first entry came, in seconds since 1970;
// MaxUint64 before.
func (m *MemTable) ApproximateOldestKeyTime() uint64 { return m.oldestKeyTime.Load() }

// SetApproximateOldestKeyTime sets it, for a memtable of entries that were
// written before.
func (m *MemTable) SetApproximateOldestKeyTime(seconds uint64) { m.oldestKeyTime.Store(seconds) }

// GetNewestUDT is the newest user-defined timestamp inserted; nil for none.
func (m *MemTable) GetNewestUDT() []byte {
	p := atomic.LoadPointer(&m.newestUDT)
	if p == nil {
		return nil
	}
	return unsafe.Slice((*byte)(p), m.tsSize)
}

// Edits is what the flush adds to the MANIFEST.
func (m *MemTable) Edits() *version.VersionEdit { return &m.edits }

// GetNextLogNumber is the log that follows the memtable's entries: older ones
// are not needed once it is flushed.
func (m *MemTable) GetNextLogNumber() uint64 { return m.nextLogNumber }

// SetNextLogNumber sets it; the DB mutex is held, as in the rest.
func (m *MemTable) SetNextLogNumber(n uint64) { m.nextLogNumber = n }

// GetID numbers the memtables of a column family in order of creation.
func (m *MemTable) GetID() uint64 { return m.id }

// SetID sets it.
func (m *MemTable) SetID(id uint64) { m.id = id }

// SetFlushJobInfo keeps what listeners are told when the flush is committed.
func (m *MemTable) SetFlushJobInfo(info *rocksdb.FlushJobInfo) { m.flushJobInfo = info }

// ReleaseFlushJobInfo hands it over, nil if there is none.
func (m *MemTable) ReleaseFlushJobInfo() *rocksdb.FlushJobInfo {
	info := m.flushJobInfo
	m.flushJobInfo = nil
	return info
}

// ValidateKey checks an entry's checksum.
func (m *MemTable) ValidateKey(entry rep.KeyHandle, allowData bool) error {
	return VerifyEntryChecksum(entry, m.opts.ProtectionBytesPerKey, allowData)
}
