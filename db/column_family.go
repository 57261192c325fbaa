// Port of db/column_family.{h,cc}. Differs: readers reference the SuperVersion
// through an atomic pointer and a counter instead of thread-local copies; a
// dropped family is freed by the garbage collector once its files are let go.

package db

import (
	"math"
	"sync"
	"sync/atomic"

	"github.com/rocksdb-go/rocksdb/db/blob"
	"github.com/rocksdb-go/rocksdb/db/compaction"
	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/db/memtable"
	"github.com/rocksdb-go/rocksdb/db/seqnotime"
	"github.com/rocksdb-go/rocksdb/db/tablecache"
	"github.com/rocksdb-go/rocksdb/db/version"
	"github.com/rocksdb-go/rocksdb/db/wal"
	"github.com/rocksdb-go/rocksdb/db/writethread"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/logging"
	"github.com/rocksdb-go/rocksdb/monitoring"
	"github.com/rocksdb-go/rocksdb/options"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
	tracereplay "github.com/rocksdb-go/rocksdb/trace_replay"
)

// Factors by which a delayed write rate changes.
const (
	incSlowdownRatio       = 0.8
	decSlowdownRatio       = 1 / incSlowdownRatio
	nearStopSlowdownRatio  = 0.6
	delayRecoverSlowdown   = 1.4
	lowPriShare            = 4        // the delayed write rate is that many times the rate of low priority
	minDelayedWriteRate    = 16 << 10 // bytes/s
	markedFilesForSpeedup  = 2
	dummyColumnFamilyID    = math.MaxUint32
	defaultColumnFamilyNum = 0
)

// SuperVersion is a consistent view of a column family. It is immutable; its
// counter keeps what it refers to alive.
type SuperVersion struct {
	CFD              *ColumnFamilyData
	Mem              *memtable.MemTable
	Imm              *MemTableListVersion
	Current          *Version
	MutableCFOptions *options.MutableCFOptions
	// VersionNumber rises with every SuperVersion installed in the family.
	VersionNumber uint64
	// FullHistoryTSLow is the timestamp below which this one's tables may have
	// lost history; nil for none.
	FullHistoryTSLow []byte
	// SeqnoToTimeMapping says when sequence numbers were written; nil when the
	// family's options do not ask for it. It does not change.
	SeqnoToTimeMapping  *seqnotime.SeqnoToTimeMapping
	WriteStallCondition rocksdb.WriteStallCondition

	refs atomic.Int32
	met  atomic.Bool // a reader has come to it
	host SuperVersionHost
}

// Ref adds a reference; the caller holds one already.
func (s *SuperVersion) Ref() *SuperVersion {
	s.refs.Add(1)
	return s
}

// tryRef adds a reference unless the last one is gone.
func (s *SuperVersion) tryRef() bool {
	for {
		n := s.refs.Load()
		if n == 0 {
			return false
		}
		if s.refs.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// Unref drops a reference and tells whether it was the last; CleanupLocked has
// to follow then.
func (s *SuperVersion) Unref() bool { return s.refs.Add(-1) == 0 }

// Release drops a reference, cleaning up after the last one. The DB mutex must
// not be held.
// Upstream: ColumnFamilyData::ReturnThreadLocalSuperVersion.
func (s *SuperVersion) Release() {
	if s.Unref() {
		s.host.CleanupSuperVersion(s)
	}
}

// CleanupLocked lets go of what s refers to, with the DB mutex held. Memtables
// that nobody else refers to are given back to free, which the caller frees
// without the mutex.
func (s *SuperVersion) CleanupLocked(free *[]*memtable.MemTable) {
	s.Imm.Unref(free)
	if m := s.Mem.Unref(); m != nil {
		// It was flushed meanwhile, and the list counts what readers hold.
		s.CFD.imm.usage -= int64(m.ApproximateMemoryUsage())
		*free = append(*free, m)
	}
	s.Current.Unref()
}

// ColumnFamilyData is one column family of an open database. Fields without
// another comment are protected by the DB mutex.
type ColumnFamilyData struct {
	statusKey monitoring.InfoKey
	id        uint32 // constant
	name      string // constant

	set           *ColumnFamilySet
	icmp          *dbformat.InternalKeyComparator // constant
	initialCF     rocksdb.ColumnFamilyOptions     // sanitized, as opened; constant
	ioptions      *options.ImmutableOptions       // constant
	mutable       atomic.Pointer[options.MutableCFOptions]
	tableCache    *tablecache.TableCache // constant; nil for the dummy
	blobSource    *blob.BlobSource       // constant; nil for the dummy
	picker        compaction.Picker      // constant
	internalStats *InternalStats         // constant

	dummyVersions *Version // head of the list of versions
	current       *Version
	mem           *memtable.MemTable
	imm           *MemTableList

	superVersion       atomic.Pointer[SuperVersion] // read without the mutex
	superVersionNumber atomic.Uint64

	// logNumber is the least WAL that may hold data of this family that is not
	// in SSTs; -1 semantics of upstream do not exist.
	logNumber uint64

	refs                      atomic.Int32
	dropped                   atomic.Bool
	queuedForFlush            bool
	queuedForCompaction       bool
	prevCompactionNeededBytes uint64
	writeControllerToken      *writethread.Token
	lastMemtableID            atomic.Uint64
	allow2PC                  bool
	nextEpochNumber           atomic.Uint64
	fullHistoryTSLow          []byte
	seqnoToTimeMapping        *seqnotime.SeqnoToTimeMapping // of the next SuperVersion
	flushSkipsReschedule      bool                          // see SetFlushSkipReschedule
	pathsRegistered           bool                          // at the file system; constant

	// ingestSstLock is held for reading while files are ingested, and for
	// writing while what reads found is written to the memtable. It comes before
	// the DB mutex.
	ingestSstLock sync.RWMutex
}

// IngestSstLock is held for reading while files are ingested; it comes before
// the DB mutex.
func (c *ColumnFamilyData) IngestSstLock() *sync.RWMutex { return &c.ingestSstLock }

// AllowIngestBehind tells whether files may be ingested below all data.
func (c *ColumnFamilyData) AllowIngestBehind() bool {
	return c.ioptions.AllowIngestBehind || c.ioptions.CFAllowIngestBehind
}

// GetID gives the family's number.
func (c *ColumnFamilyData) GetID() uint32 { return c.id }

// GetName gives the family's name.
func (c *ColumnFamilyData) GetName() string { return c.name }

// Ref keeps c alive.
func (c *ColumnFamilyData) Ref() { c.refs.Add(1) }

// UnrefLocked drops a reference; after the last one the family leaves its set.
// The DB mutex is held.
// Upstream: ColumnFamilyData::UnrefAndTryDelete.
func (c *ColumnFamilyData) UnrefLocked(free *[]*memtable.MemTable) bool {
	if c.refs.Add(-1) > 0 {
		return false
	}
	c.destroyLocked(free)
	return true
}

func (c *ColumnFamilyData) destroyLocked(free *[]*memtable.MemTable) {
	if c.internalStats != nil {
		c.internalStats.Close()
	}
	c.writeControllerToken.Release()
	c.writeControllerToken = nil
	if sv := c.superVersion.Swap(nil); sv != nil && sv.Unref() {
		sv.CleanupLocked(free)
	}
	if c.current != nil {
		c.current.Unref()
		c.current = nil
	}
	if c.mem != nil {
		if m := c.mem.Unref(); m != nil {
			*free = append(*free, m)
		}
		c.mem = nil
	}
	if c.imm != nil {
		c.imm.UnrefCurrent(free)
	}
	if c.blobSource != nil {
		c.blobSource.Close()
	}
	c.unregisterDBPaths()
	c.set.removeLocked(c)
}

// SetDropped marks the family as dropped: it takes no writes and no jobs, and
// goes away with its last reference. The DB mutex is held, and the caller is
// the leader of the write thread.
func (c *ColumnFamilyData) SetDropped() {
	c.dropped.Store(true)
	c.writeControllerToken.Release()
	c.writeControllerToken = nil
	c.set.forgetName(c)
}

// IsDropped tells whether the family was dropped.
func (c *ColumnFamilyData) IsDropped() bool { return c.dropped.Load() }

// NumberLevels is the number of levels.
func (c *ColumnFamilyData) NumberLevels() int { return c.ioptions.NumLevels }

// SetLogNumber sets the least WAL that the family needs.
func (c *ColumnFamilyData) SetLogNumber(n uint64) { c.logNumber = n }

// StatusKey names the family to a ThreadStatusUpdater.
func (c *ColumnFamilyData) StatusKey() monitoring.InfoKey { return c.statusKey }

// GetLogNumber gives the least WAL that the family needs.
func (c *ColumnFamilyData) GetLogNumber() uint64 { return c.logNumber }

// IOptions gives the immutable options, the database's included.
func (c *ColumnFamilyData) IOptions() *options.ImmutableOptions { return c.ioptions }

// GetLatestMutableCFOptions gives the present mutable options.
// Upstream: ColumnFamilyData::GetCurrentMutableCFOptions.
func (c *ColumnFamilyData) GetLatestMutableCFOptions() *options.MutableCFOptions {
	return c.mutable.Load()
}

// GetLatestCFOptions gives all options as they are now.
func (c *ColumnFamilyData) GetLatestCFOptions() rocksdb.ColumnFamilyOptions {
	return options.BuildColumnFamilyOptions(&c.initialCF, c.mutable.Load())
}

// InternalComparator gives the order of internal keys.
func (c *ColumnFamilyData) InternalComparator() *dbformat.InternalKeyComparator { return c.icmp }

// UserComparator gives the order of user keys.
func (c *ColumnFamilyData) UserComparator() rocksdb.Comparator { return c.icmp.UserComparator() }

// TableCache gives the cache of open tables.
func (c *ColumnFamilyData) TableCache() *tablecache.TableCache { return c.tableCache }

// CompactionPicker gives the picker.
func (c *ColumnFamilyData) CompactionPicker() compaction.Picker { return c.picker }

// InternalStats gives the statistics of flushes, compactions and stalls.
func (c *ColumnFamilyData) InternalStats() *InternalStats { return c.internalStats }

// Imm gives the immutable memtables.
func (c *ColumnFamilyData) Imm() *MemTableList { return c.imm }

// GetUnflushedMemTableCountForWriteStallCheck counts the memtables that wait,
// and the active one unless it is empty.
func (c *ColumnFamilyData) GetUnflushedMemTableCountForWriteStallCheck() int {
	n := c.imm.NumNotFlushed()
	if !c.mem.IsEmpty() {
		n++
	}
	return n
}

// Mem gives the active memtable.
func (c *ColumnFamilyData) Mem() *memtable.MemTable { return c.mem }

// Current gives the present version.
func (c *ColumnFamilyData) Current() *Version { return c.current }

// SetCurrent makes v the present version.
func (c *ColumnFamilyData) SetCurrent(v *Version) { c.current = v }

// DummyVersions is the head of the list of versions.
func (c *ColumnFamilyData) DummyVersions() *Version { return c.dummyVersions }

// IsEmpty tells whether neither memtables nor files hold anything.
func (c *ColumnFamilyData) IsEmpty() bool {
	return c.mem.GetFirstSequenceNumber() == 0 && c.imm.NumNotFlushed() == 0
}

// QueuedForFlush and its kin say that the family waits for a background job.
func (c *ColumnFamilyData) QueuedForFlush() bool { return c.queuedForFlush }

// SetQueuedForFlush sets it.
func (c *ColumnFamilyData) SetQueuedForFlush(v bool) { c.queuedForFlush = v }

// QueuedForCompaction tells whether the family waits for a compaction.
func (c *ColumnFamilyData) QueuedForCompaction() bool { return c.queuedForCompaction }

// SetQueuedForCompaction sets it.
func (c *ColumnFamilyData) SetQueuedForCompaction(v bool) { c.queuedForCompaction = v }

// GetFullHistoryTsLow gives the timestamp below which history is gone.
func (c *ColumnFamilyData) GetFullHistoryTsLow() []byte { return c.fullHistoryTSLow }

// SetFullHistoryTsLow raises it.
func (c *ColumnFamilyData) SetFullHistoryTsLow(ts []byte) {
	ucmp := c.UserComparator()
	if ucmp.TimestampSize() == 0 {
		return // of a session in which keys had timestamps
	}
	if len(c.fullHistoryTSLow) == 0 || ucmp.CompareTimestamp(ts, c.fullHistoryTSLow) > 0 {
		c.fullHistoryTSLow = ts
	}
}

// GetNextEpochNumber gives the next epoch number without taking it.
func (c *ColumnFamilyData) GetNextEpochNumber() uint64 { return c.nextEpochNumber.Load() }

// SetNextEpochNumber sets the next epoch number.
func (c *ColumnFamilyData) SetNextEpochNumber(n uint64) { c.nextEpochNumber.Store(n) }

// NewEpochNumber takes an epoch number.
func (c *ColumnFamilyData) NewEpochNumber() uint64 { return c.nextEpochNumber.Add(1) - 1 }

// ResetNextEpochNumber starts over.
func (c *ColumnFamilyData) ResetNextEpochNumber() {
	c.nextEpochNumber.Store(version.UnknownEpochNumber + 1)
}

// RecoverEpochNumbers gives epoch numbers to files that came without, and sets
// the next one.
func (c *ColumnFamilyData) RecoverEpochNumbers() {
	vs := c.current.StorageInfo()
	next := vs.RecoverEpochNumbers(c.ioptions.AllowIngestBehind || c.ioptions.CFAllowIngestBehind)
	c.SetNextEpochNumber(max(next, c.GetNextEpochNumber()))
}

// OldestLogToKeep is the least WAL the family needs, prepared transactions
// included.
func (c *ColumnFamilyData) OldestLogToKeep() uint64 {
	n := c.logNumber
	if c.allow2PC {
		if p := c.imm.PrecomputeMinLogContainingPrepSection(nil); p > 0 && p < n {
			n = p
		}
		if p := c.mem.GetMinLogContainingPrepSection(); p > 0 && p < n {
			n = p
		}
	}
	return n
}

// ConstructNewMemtable makes an empty memtable, whose entries are at or after
// earliestSeq.
func (c *ColumnFamilyData) ConstructNewMemtable(mo *options.MutableCFOptions, earliestSeq rocksdb.SequenceNumber) *memtable.MemTable {
	m := memtable.New(c.icmp, c.ioptions, mo, c.set.writeBufferManager, earliestSeq, c.id)
	m.SetID(c.lastMemtableID.Add(1))
	return m
}

// CreateNewMemtable replaces the active memtable by an empty one; the old one
// is let go.
func (c *ColumnFamilyData) CreateNewMemtable(earliestSeq rocksdb.SequenceNumber) {
	if c.mem != nil {
		if m := c.mem.Unref(); m != nil {
			m.Free()
		}
	}
	c.mem = c.ConstructNewMemtable(c.mutable.Load(), earliestSeq)
	c.mem.Ref()
}

// AddImmutableMemtable puts m, with one reference of the caller's, in front of the
// immutable memtables. The active memtable, which must be empty, gets a number after
// m's: a flush of all up to a number must not take later ones.
func (c *ColumnFamilyData) AddImmutableMemtable(m *memtable.MemTable, free *[]*memtable.MemTable) {
	m.SetID(c.lastMemtableID.Add(1))
	c.imm.Add(m, free)
	c.mem.SetID(c.lastMemtableID.Add(1))
}

// SetMemtable makes m the active memtable, taking over the caller's reference.
func (c *ColumnFamilyData) SetMemtable(m *memtable.MemTable) {
	m.SetID(c.lastMemtableID.Add(1))
	c.mem = m
}

// GetReferencedSuperVersion gives the current SuperVersion with a reference
// that Release gives back; nil once the family is destroyed. It takes no lock.
// Upstream: ColumnFamilyData::GetThreadLocalSuperVersion.
func (c *ColumnFamilyData) GetReferencedSuperVersion() *SuperVersion {
	for {
		sv := c.superVersion.Load()
		if sv == nil {
			return nil
		}
		if sv.tryRef() {
			if !sv.met.Load() && sv.met.CompareAndSwap(false, true) {
				// Upstream counts each thread's first use of it.
				monitoring.RecordTick(c.ioptions.Stats, rocksdb.NumberSuperversionAcquires, 1)
			}
			return sv
		}
	}
}

// GetSuperVersion gives the current one without a reference; with the DB mutex
// held.
func (c *ColumnFamilyData) GetSuperVersion() *SuperVersion { return c.superVersion.Load() }

// GetSuperVersionNumber is the number of the current one; no lock is needed.
// Upstream: ColumnFamilyData::GetSuperVersionNumberRelaxed.
func (c *ColumnFamilyData) GetSuperVersionNumber() uint64 { return c.superVersionNumber.Load() }

// SeqnoToTimeMapping is the current SuperVersion's; with the DB mutex held.
func (c *ColumnFamilyData) SeqnoToTimeMapping() *seqnotime.SeqnoToTimeMapping {
	return c.superVersion.Load().SeqnoToTimeMapping
}

// SetSeqnoToTimeMapping sets what SuperVersions installed from now on have; m, which
// may be nil, does not change any more. The DB mutex is held.
func (c *ColumnFamilyData) SetSeqnoToTimeMapping(m *seqnotime.SeqnoToTimeMapping) {
	c.seqnoToTimeMapping = m
}

// InstallSuperVersion makes the family's present memtables and version the
// current SuperVersion. What the old one alone referred to is added to ctx. The
// DB mutex is held.
// Upstream: SuperVersion::Init.
func (c *ColumnFamilyData) InstallSuperVersion(ctx *SuperVersionContext, host SuperVersionHost) {
	mo := c.mutable.Load()
	sv := &SuperVersion{CFD: c, Mem: c.mem, Imm: c.imm.Current(), Current: c.current, MutableCFOptions: mo, host: host,
		FullHistoryTSLow: c.fullHistoryTSLow, SeqnoToTimeMapping: c.seqnoToTimeMapping}
	sv.Mem.Ref()
	sv.Imm.Ref()
	sv.Current.Ref()
	sv.refs.Store(1)
	sv.VersionNumber = c.superVersionNumber.Add(1)
	old := c.superVersion.Load()
	if old == nil || old.Current != sv.Current || old.Mem != sv.Mem || old.Imm != sv.Imm || old.MutableCFOptions != mo {
		sv.WriteStallCondition = c.RecalculateWriteStallConditions(mo)
	} else {
		sv.WriteStallCondition = old.WriteStallCondition
	}
	c.superVersion.Store(sv)
	if old == nil {
		return
	}
	if n := mo.WriteBufferSize; old.MutableCFOptions.WriteBufferSize != n {
		c.mem.UpdateWriteBufferSize(n)
	}
	if old.WriteStallCondition != sv.WriteStallCondition {
		ctx.pushWriteStallNotification(c, old.WriteStallCondition, sv.WriteStallCondition)
	}
	if old.Unref() {
		old.CleanupLocked(&ctx.MemtablesToFree)
	}
}

// NeedsCompaction tells whether the picker would find work.
func (c *ColumnFamilyData) NeedsCompaction() bool {
	return !c.mutable.Load().DisableAutoCompactions && c.picker.NeedsCompaction(c.current.StorageInfo())
}

// PickCompaction asks the picker for a compaction, nil when there is none. The
// result's input version is referenced.
func (c *ColumnFamilyData) PickCompaction(mo *options.MutableCFOptions, mdb *options.MutableDBOptions,
	snapshots []rocksdb.SequenceNumber, snapshotChecker dbformat.SnapshotChecker, requireMaxOutputLevel bool) *compaction.Compaction {
	p := c.picker.PickCompaction(c.name, mo, mdb, snapshots, snapshotChecker, c.current.StorageInfo(), requireMaxOutputLevel)
	if p != nil {
		p.FinalizeInputInfo(c.current, c.cfView())
	}
	return p
}

// IntendCompaction releases the files of a compaction that was picked, all but
// its last sorted run, and gives one that stands for it until files are picked
// anew. p is closed.
func (c *ColumnFamilyData) IntendCompaction(p *compaction.Compaction, mdb *options.MutableDBOptions) *compaction.Compaction {
	p.ReleaseCompactionFiles(nil)
	defer p.Close()
	intended := compaction.NewIntendedCompaction(p, mdb)
	c.picker.RegisterCompaction(intended)
	c.current.StorageInfo().ComputeCompactionScore(c.ioptions, p.MutableCFOptions(), string(c.fullHistoryTSLow))
	intended.FinalizeInputInfo(c.current, c.cfView())
	return intended
}

// CompactRange asks the picker for one step of a manual compaction. conflict is
// set when it has to wait for others.
func (c *ColumnFamilyData) CompactRange(mo *options.MutableCFOptions, mdb *options.MutableDBOptions, in compaction.ManualRange) (p *compaction.Compaction, compactionEnd dbformat.InternalKey, conflict bool) {
	p, compactionEnd, conflict = c.picker.CompactRange(c.name, mo, mdb, c.current.StorageInfo(), in)
	if p != nil {
		p.FinalizeInputInfo(c.current, c.cfView())
	}
	syncpoint.Process("ColumnFamilyData::CompactRange:Return")
	return p, compactionEnd, conflict
}

// PickCompactionForCompactFiles makes a compaction of files that the picker
// sanitized.
func (c *ColumnFamilyData) PickCompactionForCompactFiles(o *rocksdb.CompactionOptions, inputs []compaction.CompactionInputFiles, outputLevel int,
	mdb *options.MutableDBOptions, outputPathID uint32) *compaction.Compaction {
	p := c.picker.PickCompactionForCompactFiles(o, inputs, outputLevel, c.current.StorageInfo(), c.mutable.Load(), mdb, outputPathID, nil, nil)
	p.FinalizeInputInfo(c.current, c.cfView())
	return p
}

func (c *ColumnFamilyData) cfView() *compaction.CFView {
	return &compaction.CFView{ID: c.id, Name: c.name, IOptions: c.ioptions, Comparator: c.icmp, Picker: c.picker,
		FullHistoryTSLow: c.fullHistoryTSLow}
}

// RangeOverlapWithMemtable tells, for each range of user keys, whether a
// memtable of sv has something in any of them.
func (c *ColumnFamilyData) RangesOverlapWithMemtables(ranges []dbformat.UserKeyRange, sv *SuperVersion) (bool, error) {
	ro := rocksdb.DefaultReadOptions()
	ro.TotalOrderSeek = true
	overlaps := func(m *memtable.MemTable) (bool, error) {
		it := m.NewIterator(&ro, nil, nil)
		defer it.Close()
		frag, err := m.NewRangeTombstoneIterator(&ro, dbformat.MaxSequenceNumber, false)
		if err != nil {
			return false, err
		}
		for _, r := range ranges {
			it.Seek(dbformat.SetMinPossibleForUserKey(r.Start))
			if it.Valid() && c.icmp.CompareUserKey(it.UserKey(), r.Limit) <= 0 {
				return true, nil
			}
			if err := it.Status(); err != nil {
				return false, err
			}
			if frag == nil {
				continue
			}
			if frag.Seek(r.Start); frag.Valid() && c.icmp.CompareUserKey(frag.StartKey(), r.Limit) <= 0 {
				return true, nil
			}
		}
		return false, nil
	}
	if yes, err := overlaps(sv.Mem); yes || err != nil {
		return yes, err
	}
	for _, m := range sv.Imm.Memtables() {
		if yes, err := overlaps(m); yes || err != nil {
			return yes, err
		}
	}
	return false, nil
}

// SetOptionsLocked replaces the mutable options by those that values describe.
func (c *ColumnFamilyData) SetOptionsLocked(dbOptions *rocksdb.DBOptions, values map[string]string) error {
	mo, err := options.GetMutableOptionsFromStrings(*c.mutable.Load(), values, c.ioptions.InfoLog)
	if err != nil {
		return err
	}
	full := options.BuildColumnFamilyOptions(&c.initialCF, &mo)
	if err := ValidateOptions(dbOptions, &full); err != nil {
		return err
	}
	if err := CheckBuilt(&full); err != nil {
		return err
	}
	if f, ok := full.TableFactory.(interface{ ValidateSizes() error }); ok {
		if err := f.ValidateSizes(); err != nil {
			return err
		}
	}
	mo.RefreshDerivedOptions(c.ioptions.NumLevels, c.ioptions.CompactionStyle)
	c.mutable.Store(&mo)
	return nil
}

// ColumnFamilySet is all families of a database. Changes are made under the DB
// mutex by the leader of the write thread; so either of them suffices to read.
type ColumnFamilySet struct {
	byName    map[string]*ColumnFamilyData
	byID      map[uint32]*ColumnFamilyData
	list      []*ColumnFamilyData // live ones, by creation
	maxFamily uint32
	def       *ColumnFamilyData // read without lock after recovery

	dbName             string
	dbOptions          *options.ImmutableDBOptions
	mutableDBOptions   *options.MutableDBOptions // in force for tables opened from now on
	fileOptions        rocksdb.FileOptions
	tableCache         rocksdb.Cache
	writeBufferManager rocksdb.WriteBufferManager
	writeController    *writethread.WriteController
	blockCacheTracer   *tracereplay.BlockCacheTracer // may be nil
	dbID, dbSessionID  string
	timestampSizes     []wal.TimestampSize
}

// NewColumnFamilySet makes an empty set.
func NewColumnFamilySet(dbName string, dbOptions *options.ImmutableDBOptions, fo rocksdb.FileOptions, tableCache rocksdb.Cache,
	wbm rocksdb.WriteBufferManager, wc *writethread.WriteController, tracer *tracereplay.BlockCacheTracer, dbID, dbSessionID string) *ColumnFamilySet {
	s := &ColumnFamilySet{byName: map[string]*ColumnFamilyData{}, byID: map[uint32]*ColumnFamilyData{}, dbName: dbName,
		dbOptions: dbOptions, fileOptions: fo, tableCache: tableCache, writeBufferManager: wbm, writeController: wc,
		blockCacheTracer: tracer, dbID: dbID, dbSessionID: dbSessionID}
	return s
}

// UpdatedMutableDBOptions takes over what options say of opening tables.
func (s *ColumnFamilySet) UpdatedMutableDBOptions(o *options.MutableDBOptions) {
	s.mutableDBOptions = o
	for _, c := range s.list {
		if c.tableCache != nil {
			c.tableCache.UpdatedMutableDBOptions(o)
		}
	}
}

// WriteController delays writers of all families.
func (s *ColumnFamilySet) WriteController() *writethread.WriteController { return s.writeController }

// GetDefault gives the default family.
func (s *ColumnFamilySet) GetDefault() *ColumnFamilyData { return s.def }

// TimestampSizesForRecord gives the sizes of the timestamps of families that
// have any, for the WAL; usually none. The leader of the write thread calls it.
// Upstream: ColumnFamilySet::GetRunningColumnFamiliesTimestampSize,
// ColumnFamilySet::GetColumnFamiliesTimestampSizeForRecord.
func (s *ColumnFamilySet) TimestampSizesForRecord() []wal.TimestampSize { return s.timestampSizes }

// GetColumnFamily gives the family of an ID, nil when there is none.
func (s *ColumnFamilySet) GetColumnFamily(id uint32) *ColumnFamilyData {
	if id == defaultColumnFamilyNum {
		return s.def
	}
	return s.byID[id]
}

// GetColumnFamilyByName gives the family of a name, nil when there is none.
func (s *ColumnFamilySet) GetColumnFamilyByName(name string) *ColumnFamilyData { return s.byName[name] }

// All gives the families in order of creation, dropped ones that are still
// referenced included. The slice must not be kept past the lock.
// Upstream: ColumnFamilySet::iterator, RefedColumnFamilySet.
func (s *ColumnFamilySet) All() []*ColumnFamilyData { return s.list }

// NumberOfColumnFamilies counts the families that are not dropped.
func (s *ColumnFamilySet) NumberOfColumnFamilies() int { return len(s.byName) }

// GetNextColumnFamilyID takes the next ID.
func (s *ColumnFamilySet) GetNextColumnFamilyID() uint32 {
	s.maxFamily++
	return s.maxFamily
}

// GetMaxColumnFamily gives the greatest ID in use or used before.
func (s *ColumnFamilySet) GetMaxColumnFamily() uint32 { return s.maxFamily }

// UpdateMaxColumnFamily raises it.
func (s *ColumnFamilySet) UpdateMaxColumnFamily(id uint32) { s.maxFamily = max(s.maxFamily, id) }

// WriteBufferManager gives the manager that memtables are charged to.
func (s *ColumnFamilySet) WriteBufferManager() rocksdb.WriteBufferManager {
	return s.writeBufferManager
}

// GetTableCache gives the cache of open tables that all families share.
func (s *ColumnFamilySet) GetTableCache() rocksdb.Cache { return s.tableCache }

// CreateColumnFamily adds a family. dummyVersions is the head of its list of
// versions, nil only in tests. The set holds a reference on it.
func (s *ColumnFamilySet) CreateColumnFamily(name string, id uint32, dummyVersions *Version, o *rocksdb.ColumnFamilyOptions, readOnly bool) *ColumnFamilyData {
	c := newColumnFamilyData(id, name, s, dummyVersions, o, readOnly)
	s.byName[name] = c
	s.byID[id] = c
	s.list = append(s.list, c)
	if n := c.icmp.TimestampSize(); n > 0 {
		s.timestampSizes = append(s.timestampSizes, wal.TimestampSize{ColumnFamily: id, Size: uint16(n)})
	}
	s.UpdateMaxColumnFamily(id)
	if id == defaultColumnFamilyNum {
		s.def = c
	}
	return c
}

func (s *ColumnFamilySet) forgetName(c *ColumnFamilyData) {
	if s.byName[c.name] == c {
		delete(s.byName, c.name)
	}
	if s.byID[c.id] == c {
		delete(s.byID, c.id)
	}
}

// removeLocked is upstream's ColumnFamilySet::RemoveColumnFamily.
func (s *ColumnFamilySet) removeLocked(c *ColumnFamilyData) {
	s.forgetName(c)
	for i, x := range s.list {
		if x == c {
			s.list = append(s.list[:i:i], s.list[i+1:]...)
			return
		}
	}
}

// familiesDumped is of how many families the info log gets the options.
const familiesDumped = 10

func newColumnFamilyData(id uint32, name string, s *ColumnFamilySet, dummyVersions *Version, o *rocksdb.ColumnFamilyOptions, readOnly bool) *ColumnFamilyData {
	c := &ColumnFamilyData{id: id, name: name, set: s, dummyVersions: dummyVersions}
	c.initialCF = SanitizeColumnFamilyOptions(s.dbOptions, readOnly, o)
	c.icmp = dbformat.NewInternalKeyComparator(c.initialCF.Comparator)
	c.ioptions = &options.ImmutableOptions{ImmutableDBOptions: *s.dbOptions, ImmutableCFOptions: options.NewImmutableCFOptions(&c.initialCF)}
	mo := options.NewMutableCFOptions(&c.initialCF)
	c.mutable.Store(&mo)
	c.allow2PC = s.dbOptions.Allow2PC
	c.statusKey = monitoring.NewInfoKey()
	c.refs.Store(1)
	c.ResetNextEpochNumber()
	c.imm = NewMemTableList(c.ioptions.MinWriteBufferNumberToMerge, c.ioptions.MaxWriteBufferSizeToMaintain)
	if id == dummyColumnFamilyID {
		return c
	}
	c.internalStats = NewInternalStats(c.ioptions.NumLevels, s.dbOptions.Clock, c)
	c.tableCache = tablecache.New(c.ioptions, c.icmp, s.fileOptions, s.tableCache, s.dbSessionID)
	c.tableCache.SetBlockCacheTracer(s.blockCacheTracer)
	if s.mutableDBOptions != nil {
		c.tableCache.UpdatedMutableDBOptions(s.mutableDBOptions)
	}
	c.picker = compaction.NewPicker(c.ioptions, c.icmp)
	if log := s.dbOptions.Logger; log != nil && s.NumberOfColumnFamilies() < familiesDumped {
		logging.Info(log, "--------------- Options for column family [%s]:", name)
		options.DumpColumnFamilyOptions(&c.initialCF, log)
	} else if log != nil {
		logging.Info(log, "\t(skipping printing options)")
	}
	c.registerDBPaths()
	return c
}

// registerDBPaths tells the file system that tables will be in the family's
// directories.
func (c *ColumnFamilyData) registerDBPaths() {
	err := c.ioptions.FS.RegisterDBPaths(c.getDBPaths())
	c.pathsRegistered = err == nil
	if err != nil {
		logging.Error(c.ioptions.Logger, "Failed to register data paths of column family (id: %d, name: %s): %v", c.id, c.name, err)
	}
}

func (c *ColumnFamilyData) unregisterDBPaths() {
	if !c.pathsRegistered {
		return
	}
	if err := c.ioptions.FS.UnregisterDBPaths(c.getDBPaths()); err != nil {
		logging.Error(c.ioptions.Logger, "Failed to unregister data paths of column family (id: %d, name: %s): %v", c.id, c.name, err)
	}
}

func (c *ColumnFamilyData) getDBPaths() []string {
	paths := make([]string, len(c.ioptions.CFPaths))
	for i, p := range c.ioptions.CFPaths {
		paths[i] = p.Path
	}
	return paths
}

// SuperVersionContext collects what has to be done without the DB mutex after
// SuperVersions were installed.
type SuperVersionContext struct {
	MemtablesToFree    []*memtable.MemTable
	stallNotifications []stallNotification
}

type stallNotification struct {
	cf        *ColumnFamilyData
	info      rocksdb.WriteStallInfo
	listeners []rocksdb.EventListener
}

func (x *SuperVersionContext) pushWriteStallNotification(c *ColumnFamilyData, prev, cur rocksdb.WriteStallCondition) {
	if len(c.ioptions.Listeners) == 0 {
		return
	}
	x.stallNotifications = append(x.stallNotifications, stallNotification{cf: c, listeners: c.ioptions.Listeners,
		info: rocksdb.WriteStallInfo{CFName: c.name, Cur: cur, Prev: prev}})
}

// Clean frees memtables and tells listeners; the DB mutex is not held.
func (x *SuperVersionContext) Clean() {
	for i := range x.stallNotifications {
		n := &x.stallNotifications[i]
		for _, l := range n.listeners {
			l.OnStallConditionsChanged(&n.info)
		}
	}
	x.stallNotifications = nil
	for _, m := range x.MemtablesToFree {
		m.Free()
	}
	x.MemtablesToFree = nil
}

// ColumnFamilyHandleImpl is the user's name for a family of an open database.
// It holds a reference on the family until Close.
type ColumnFamilyHandleImpl struct {
	cfd    *ColumnFamilyData
	host   SuperVersionHost
	closed atomic.Bool
}

// NewColumnFamilyHandle references cfd; the DB mutex is held.
func NewColumnFamilyHandle(cfd *ColumnFamilyData, host SuperVersionHost) *ColumnFamilyHandleImpl {
	cfd.Ref()
	return &ColumnFamilyHandleImpl{cfd: cfd, host: host}
}

// CFD gives the family.
func (h *ColumnFamilyHandleImpl) CFD() *ColumnFamilyData { return h.cfd }

// GetName gives the family's name.
func (h *ColumnFamilyHandleImpl) GetName() string { return h.cfd.name }

// GetID gives the family's number.
func (h *ColumnFamilyHandleImpl) GetID() uint32 { return h.cfd.id }

// GetComparator gives the order of user keys.
func (h *ColumnFamilyHandleImpl) GetComparator() rocksdb.Comparator { return h.cfd.UserComparator() }

// GetImmutableOptions gives the options that do not change while the database is
// open; they must not be changed.
func (h *ColumnFamilyHandleImpl) GetImmutableOptions() *options.ImmutableOptions {
	return h.cfd.ioptions
}

// DisallowMemtableWrites tells whether the family takes ingested files only.
func (h *ColumnFamilyHandleImpl) DisallowMemtableWrites() bool {
	return h.cfd.ioptions.DisallowMemtableWrites
}

// GetDescriptor gives name and present options.
func (h *ColumnFamilyHandleImpl) GetDescriptor() (rocksdb.ColumnFamilyDescriptor, error) {
	return rocksdb.ColumnFamilyDescriptor{Name: h.cfd.name, Options: h.cfd.GetLatestCFOptions()}, nil
}

// Close gives the reference back; a dropped family is gone with its last one.
func (h *ColumnFamilyHandleImpl) Close() {
	if !h.closed.Swap(true) {
		for _, l := range h.cfd.ioptions.Listeners {
			l.OnColumnFamilyHandleDeletionStarted(h)
		}
		h.host.ReleaseColumnFamily(h.cfd)
	}
}

// evictBlobFile lets go of the reader of a blob file that no version lists.
func (c *ColumnFamilyData) evictBlobFile(number uint64) {
	if c.blobSource != nil {
		c.blobSource.Evict(number)
	}
}
