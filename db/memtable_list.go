// Port of db/memtable_list.{h,cc}. Differs: prepared transactions' sections
// are not tracked yet.

package db

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/db/memtable"
	"github.com/rocksdb-go/rocksdb/db/rangedel"
	"github.com/rocksdb-go/rocksdb/db/version"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/internal/invariants"
	"github.com/rocksdb-go/rocksdb/logging"
	"github.com/rocksdb-go/rocksdb/table/internaliter"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

// MemTableListVersion is a state of a MemTableList. It does not change while
// more than the list refers to it.
type MemTableListVersion struct {
	list    []*memtable.MemTable // newest first
	history []*memtable.MemTable // flushed ones, newest first

	maxSizeToMaintain int64  // bytes of memtables kept, flushed ones included
	parentUsage       *int64 // of the list: bytes of all memtables held by any version
	refs              int32  // under the DB mutex
}

// Ref adds a reference; the DB mutex is held.
func (v *MemTableListVersion) Ref() { v.refs++ }

// Unref drops a reference; memtables nobody refers to are added to free. The DB
// mutex is held.
func (v *MemTableListVersion) Unref(free *[]*memtable.MemTable) {
	if v.refs--; v.refs > 0 {
		return
	}
	for _, m := range v.list {
		v.unrefMemTable(m, free)
	}
	for _, m := range v.history {
		v.unrefMemTable(m, free)
	}
}

func (v *MemTableListVersion) unrefMemTable(m *memtable.MemTable, free *[]*memtable.MemTable) {
	if m.Unref() != nil {
		*free = append(*free, m)
		*v.parentUsage -= int64(m.ApproximateMemoryUsage())
	}
}

// Memtables gives those waiting for flush, newest first.
func (v *MemTableListVersion) Memtables() []*memtable.MemTable { return v.list }

// History gives the flushed ones that are kept, newest first.
func (v *MemTableListVersion) History() []*memtable.MemTable { return v.history }

// NumNotFlushed counts those waiting for flush.
func (v *MemTableListVersion) NumNotFlushed() int { return len(v.list) }

// NumFlushed counts those kept.
func (v *MemTableListVersion) NumFlushed() int { return len(v.history) }

// Get looks a key up in the memtables, newest first; true when st holds the
// final answer.
func (v *MemTableListVersion) Get(key *dbformat.LookupKey, ro *rocksdb.ReadOptions, st *memtable.LookupState) bool {
	return getFromList(v.list, key, ro, st)
}

// GetFromHistory is Get in the flushed memtables that are kept.
func (v *MemTableListVersion) GetFromHistory(key *dbformat.LookupKey, ro *rocksdb.ReadOptions, st *memtable.LookupState) bool {
	return getFromList(v.history, key, ro, st)
}

func getFromList(list []*memtable.MemTable, key *dbformat.LookupKey, ro *rocksdb.ReadOptions, st *memtable.LookupState) bool {
	for _, m := range list {
		if m.Get(key, ro, st, true) {
			return true
		}
	}
	return false
}

// GetNewestUDT is the newest timestamp of the waiting memtables, which lies in
// the newest one that has any; nil for none.
func (v *MemTableListVersion) GetNewestUDT() []byte {
	for _, m := range v.list {
		if ts := m.GetNewestUDT(); ts != nil {
			return ts
		}
	}
	return nil
}

// MultiScanIntersectsMemTable tells whether a memtable may have entries or range
// tombstones in a scan's ranges, all bounded; true without a scan.
func MultiScanIntersectsMemTable(m *memtable.MemTable, ro *rocksdb.ReadOptions, scan *rocksdb.MultiScanArgs) bool {
	if scan == nil || m.NumRangeDeletion() > 0 {
		return true
	}
	if m.IsEmpty() {
		return false
	}
	all := *ro
	all.TotalOrderSeek, all.IterateLowerBound, all.IterateUpperBound = true, nil, nil
	it := m.NewIterator(&all, nil, nil)
	defer it.Close()
	it.SeekToFirst()
	if !it.Valid() {
		return true // what is wrong with it is the scan's to tell
	}
	smallest := bytes.Clone(it.UserKey())
	it.SeekToLast()
	return !it.Valid() || multiScanOverlaps(m.GetInternalKeyComparator(), scan, smallest, it.UserKey())
}

// AddIterators appends an iterator of each memtable and its range tombstones
// through add.
func (v *MemTableListVersion) AddIterators(ro *rocksdb.ReadOptions, prefixExtractor rocksdb.SliceTransform, readSeq rocksdb.SequenceNumber,
	add func(it internaliter.InternalIterator, tombstones *rangedel.FragmentedRangeTombstoneIterator)) error {
	for _, m := range v.list {
		var tombstones *rangedel.FragmentedRangeTombstoneIterator
		if !ro.IgnoreRangeDeletions {
			var err error
			if tombstones, err = m.NewRangeTombstoneIterator(ro, readSeq, true); err != nil {
				return err
			}
		}
		add(m.NewIterator(ro, prefixExtractor, nil), tombstones)
	}
	return nil
}

// GetTotalNumEntries counts the entries of those waiting for flush.
func (v *MemTableListVersion) GetTotalNumEntries() (n uint64) {
	for _, m := range v.list {
		n += m.NumEntries()
	}
	return n
}

// GetTotalNumDeletes counts their deletions.
func (v *MemTableListVersion) GetTotalNumDeletes() (n uint64) {
	for _, m := range v.list {
		n += m.NumDeletion()
	}
	return n
}

// ApproximateStats estimates entries and bytes between two internal keys.
func (v *MemTableListVersion) ApproximateStats(start, end []byte) (size, count uint64) {
	for _, m := range v.list {
		s, c := m.ApproximateStats(start, end)
		size += s
		count += c
	}
	return size, count
}

// GetEarliestSequenceNumber gives the bound below which nothing is held.
func (v *MemTableListVersion) GetEarliestSequenceNumber(includeHistory bool) rocksdb.SequenceNumber {
	if includeHistory && len(v.history) > 0 {
		return v.history[len(v.history)-1].GetEarliestSequenceNumber()
	}
	if len(v.list) > 0 {
		return v.list[len(v.list)-1].GetEarliestSequenceNumber()
	}
	return dbformat.MaxSequenceNumber
}

func (v *MemTableListVersion) add(m *memtable.MemTable, free *[]*memtable.MemTable) {
	v.list = slices.Insert(v.list, 0, m)
	*v.parentUsage += int64(m.ApproximateMemoryUsage())
	v.trimHistory(free, 0)
}

// remove takes a flushed memtable off the list, into the history where one is
// kept.
func (v *MemTableListVersion) remove(m *memtable.MemTable, free *[]*memtable.MemTable) {
	i := slices.Index(v.list, m)
	v.list = slices.Delete(v.list, i, i+1)
	m.MarkFlushed()
	if v.maxSizeToMaintain > 0 {
		v.history = slices.Insert(v.history, 0, m)
		v.trimHistory(free, 0)
	} else {
		v.unrefMemTable(m, free)
	}
}

func (v *MemTableListVersion) memoryExcludingLast() (n uint64) {
	for _, m := range v.list {
		n += m.MemoryAllocatedBytes()
	}
	for _, m := range v.history {
		n += m.MemoryAllocatedBytes()
	}
	if len(v.history) > 0 {
		n -= v.history[len(v.history)-1].MemoryAllocatedBytes()
	}
	return n
}

func (v *MemTableListVersion) historyShouldBeTrimmed(usage uint64) bool {
	return len(v.history) > 0 && v.memoryExcludingLast()+usage >= uint64(max(v.maxSizeToMaintain, 0))
}

func (v *MemTableListVersion) trimHistory(free *[]*memtable.MemTable, usage uint64) bool {
	trimmed := false
	for v.historyShouldBeTrimmed(usage) {
		last := v.history[len(v.history)-1]
		v.history = v.history[:len(v.history)-1]
		v.unrefMemTable(last, free)
		trimmed = true
	}
	return trimmed
}

// MemTableList holds a family's immutable memtables. Its methods need the DB
// mutex unless they say otherwise.
//
// A memtable's way: added (not started) → picked (in progress) → completed,
// its file written → committed: off the list once it and all older ones are
// completed and in the MANIFEST. A failure leads back to not started.
type MemTableList struct {
	// FlushNeeded and TrimNeeded may be read without the mutex.
	FlushNeeded atomic.Bool
	TrimNeeded  atomic.Bool

	minToMerge       int
	current          *MemTableListVersion
	numNotStarted    int
	commitInProgress bool
	flushRequested   bool
	usage            int64
	// pendingNotifications counts the flushes that are committed while listeners
	// are being told.
	pendingNotifications int

	// May be read without the mutex.
	cachedUsageExcludingLast atomic.Uint64
	cachedHasHistory         atomic.Bool
}

// NewMemTableList makes an empty list; a flush is due from minToMerge memtables
// on, and flushed ones are kept up to maxSizeToMaintain bytes.
func NewMemTableList(minToMerge int, maxSizeToMaintain int64) *MemTableList {
	l := &MemTableList{minToMerge: minToMerge}
	l.current = &MemTableListVersion{maxSizeToMaintain: maxSizeToMaintain, parentUsage: &l.usage}
	l.current.Ref()
	return l
}

// Current gives the present state; Ref it to keep it.
func (l *MemTableList) Current() *MemTableListVersion { return l.current }

// UnrefCurrent lets the list's own reference go; the list is not used after.
func (l *MemTableList) UnrefCurrent(free *[]*memtable.MemTable) { l.current.Unref(free) }

// NumNotFlushed counts memtables waiting for flush.
func (l *MemTableList) NumNotFlushed() int { return len(l.current.list) }

// NumFlushed counts flushed memtables that are kept.
func (l *MemTableList) NumFlushed() int { return len(l.current.history) }

// IsFlushPending tells whether a flush job would find work and is due.
func (l *MemTableList) IsFlushPending() bool {
	return l.flushRequested && l.numNotStarted > 0 || l.numNotStarted >= l.minToMerge
}

// IsFlushPendingOrRunning also counts running jobs.
func (l *MemTableList) IsFlushPendingOrRunning() bool {
	return l.IsFlushRunning() || l.IsFlushPending()
}

// IsFlushRunning tells whether memtables are being flushed.
func (l *MemTableList) IsFlushRunning() bool { return len(l.current.list) > l.numNotStarted }

// FlushRequested makes a flush due however few memtables there are.
func (l *MemTableList) FlushRequested() {
	l.flushRequested = true
	if l.numNotStarted > 0 {
		l.FlushNeeded.Store(true)
	}
}

// AddPendingFlushNotifications changes the count of committed flushes that
// listeners are being told of.
func (l *MemTableList) AddPendingFlushNotifications(n int) { l.pendingNotifications += n }

// NumPendingFlushNotifications is that count.
func (l *MemTableList) NumPendingFlushNotifications() int { return l.pendingNotifications }

// HasFlushRequested tells whether FlushRequested is in force.
func (l *MemTableList) HasFlushRequested() bool { return l.flushRequested }

// ApproximateMemoryUsage is the bytes of all memtables that any version holds.
func (l *MemTableList) ApproximateMemoryUsage() uint64 { return uint64(max(l.usage, 0)) }

// ApproximateUnflushedMemTablesMemoryUsage is the bytes of those waiting.
func (l *MemTableList) ApproximateUnflushedMemTablesMemoryUsage() (n uint64) {
	for _, m := range l.current.list {
		n += m.ApproximateMemoryUsage()
	}
	return n
}

// MemoryAllocatedBytesExcludingLast and HasHistory may be called without the
// mutex.
func (l *MemTableList) MemoryAllocatedBytesExcludingLast() uint64 {
	return l.cachedUsageExcludingLast.Load()
}

// HasHistory tells whether flushed memtables are kept.
func (l *MemTableList) HasHistory() bool { return l.cachedHasHistory.Load() }

// ApproximateOldestKeyTime is the time of the oldest key waiting, in seconds.
func (l *MemTableList) ApproximateOldestKeyTime() uint64 {
	if n := len(l.current.list); n > 0 {
		return l.current.list[n-1].ApproximateOldestKeyTime()
	}
	return math.MaxUint64
}

// GetLatestMemTableID is the newest waiting memtable's ID, 0 when there is
// none; with atomic flush the newest that was assigned a flush sequence number.
func (l *MemTableList) GetLatestMemTableID(atomicFlush bool) uint64 {
	for _, m := range l.current.list {
		if !atomicFlush || m.AtomicFlushSeqno != dbformat.MaxSequenceNumber {
			return m.GetID()
		}
	}
	return 0
}

// GetEarliestMemTableID is the oldest waiting memtable's ID.
func (l *MemTableList) GetEarliestMemTableID() uint64 {
	if n := len(l.current.list); n > 0 {
		return l.current.list[n-1].GetID()
	}
	return math.MaxUint64
}

// GetTablesNewestUDT gives the newest timestamps of the waiting memtables with
// IDs up to maxID, oldest memtable first; they are the memtables' memory.
func (l *MemTableList) GetTablesNewestUDT(maxID uint64) (newest [][]byte) {
	list := l.current.list
	for i := len(list) - 1; i >= 0 && list[i].GetID() <= maxID; i-- {
		newest = append(newest, list[i].GetNewestUDT())
	}
	return newest
}

// AssignAtomicFlushSeq gives the waiting memtables without one a sequence
// number.
func (l *MemTableList) AssignAtomicFlushSeq(seq rocksdb.SequenceNumber) {
	for _, m := range l.current.list {
		if m.AtomicFlushSeqno != dbformat.MaxSequenceNumber {
			return
		}
		m.AtomicFlushSeqno = seq
	}
}

// GetEarliestLogContainingData is the least WAL that memtables other than
// dropping still need; 0 when none is known.
func (l *MemTableList) GetMinLogContainingPrepSection(dropping map[*memtable.MemTable]bool) uint64 {
	return l.PrecomputeMinLogContainingPrepSection(dropping)
}

// PrecomputeMinLogContainingPrepSection is the least WAL with a prepared
// section that memtables besides those of flushed refer to; 0 when there is
// none.
func (l *MemTableList) PrecomputeMinLogContainingPrepSection(flushed map[*memtable.MemTable]bool) uint64 {
	var least uint64
	for _, m := range l.current.list {
		if flushed[m] {
			continue
		}
		if n := m.GetMinLogContainingPrepSection(); n > 0 && (least == 0 || n < least) {
			least = n
		}
	}
	return least
}

// installNewVersion makes the present state one that may be changed.
func (l *MemTableList) installNewVersion() {
	if l.current.refs == 1 {
		return
	}
	old := l.current
	v := &MemTableListVersion{list: slices.Clone(old.list), history: slices.Clone(old.history),
		maxSizeToMaintain: old.maxSizeToMaintain, parentUsage: &l.usage}
	for _, m := range v.list {
		m.Ref()
	}
	for _, m := range v.history {
		m.Ref()
	}
	v.Ref()
	l.current = v
	old.refs-- // others refer to it, so nothing is freed
}

func (l *MemTableList) updateCached() {
	l.cachedUsageExcludingLast.Store(l.current.memoryExcludingLast())
	l.cachedHasHistory.Store(len(l.current.history) > 0)
	l.TrimNeeded.Store(false)
}

// Add takes over a memtable that became immutable, with the caller's reference.
func (l *MemTableList) Add(m *memtable.MemTable, free *[]*memtable.MemTable) {
	l.installNewVersion()
	if list := l.current.list; invariants.Enabled && len(list) > 0 && m.GetID() < list[0].GetID() {
		panic(fmt.Sprintf("memtable %d comes after memtable %d", m.GetID(), list[0].GetID()))
	}
	l.current.add(m, free)
	l.numNotStarted++
	if l.numNotStarted == 1 {
		l.FlushNeeded.Store(true)
	}
	l.updateCached()
}

// replaceByPurged puts purged, which takes over their entries, in the place of
// mems, the oldest memtables, oldest first; nil where no entry is left. Nothing
// asks for its flush by itself.
func (l *MemTableList) replaceByPurged(mems []*memtable.MemTable, purged *memtable.MemTable, free *[]*memtable.MemTable) {
	l.installNewVersion()
	v := l.current
	if purged != nil {
		newest := mems[len(mems)-1]
		purged.SetID(newest.GetID())
		purged.SetNextLogNumber(newest.GetNextLogNumber())
		purged.Ref()
		v.list = slices.Insert(v.list, len(v.list)-len(mems), purged)
		l.usage += int64(purged.ApproximateMemoryUsage())
		if l.numNotStarted++; l.numNotStarted == 1 {
			l.FlushNeeded.Store(true)
		}
	}
	for _, m := range mems {
		v.remove(m, free)
	}
	l.updateCached()
}

// TrimHistory lets flushed memtables go, usage being the active one's bytes.
func (l *MemTableList) TrimHistory(free *[]*memtable.MemTable, usage uint64) bool {
	if !l.current.historyShouldBeTrimmed(usage) {
		l.TrimNeeded.Store(false)
		return false
	}
	l.installNewVersion()
	trimmed := l.current.trimHistory(free, usage)
	l.updateCached()
	return trimmed
}

// PickMemtablesToFlush marks the oldest memtables that are not being flushed,
// with IDs up to maxID, as in progress and gives them, oldest first; and the
// greatest of their next log numbers.
func (l *MemTableList) PickMemtablesToFlush(maxID uint64) (picked []*memtable.MemTable, nextLogNumber uint64) {
	atomicFlush := false
	for i := len(l.current.list) - 1; i >= 0; i-- {
		m := l.current.list[i]
		if m.AtomicFlushSeqno != dbformat.MaxSequenceNumber {
			atomicFlush = true
		}
		if m.GetID() > maxID {
			break
		}
		if m.FlushInProgress {
			if len(picked) > 0 {
				// Only neighbours are flushed together.
				break
			}
			continue
		}
		l.numNotStarted--
		if l.numNotStarted == 0 {
			l.FlushNeeded.Store(false)
		}
		m.FlushInProgress = true
		nextLogNumber = max(nextLogNumber, m.GetNextLogNumber())
		picked = append(picked, m)
	}
	if !atomicFlush || l.numNotStarted == 0 {
		l.flushRequested = false
	}
	return picked, nextLogNumber
}

func (l *MemTableList) resetFlush(m *memtable.MemTable) {
	m.FlushInProgress, m.FlushCompleted = false, false
	m.Edits().Clear()
	m.FileNumber = 0
	l.numNotStarted++
}

// RollbackMemtableFlush makes picked memtables wait again; with succeeding the
// completed ones behind them too, since they cannot be committed before.
func (l *MemTableList) RollbackMemtableFlush(mems []*memtable.MemTable, succeeding bool) {
	syncpoint.Process("RollbackMemtableFlush")
	if len(mems) == 0 {
		return
	}
	if succeeding {
		if at := slices.Index(l.current.list, mems[0]); at >= 0 {
			for i := at - 1; i >= 0 && l.current.list[i].FlushCompleted; i-- {
				l.resetFlush(l.current.list[i])
			}
		}
	}
	for _, m := range mems {
		if m.FlushInProgress {
			l.resetFlush(m)
		}
	}
	l.FlushNeeded.Store(true)
}

// FlushCommit is what TryInstallMemtableFlushResults works with.
type FlushCommit struct {
	CFD          *ColumnFamilyData
	VersionSet   *VersionSet
	Mutex        sync.Locker
	DBDirectory  rocksdb.FSDirectory
	LogBuffer    *logging.LogBuffer
	Free         *[]*memtable.MemTable
	WriteOptions *rocksdb.WriteOptions // for the MANIFEST; optional
	// Committed (optional) takes what listeners are to be told.
	Committed *[]*rocksdb.FlushJobInfo
}

// TryInstallMemtableFlushResults marks mems, whose data is in the table
// fileNumber (0: nothing was left of it), as completed, and commits all
// completed memtables that have no older one waiting. The mutex is released
// while the MANIFEST is written. When another goroutine is committing it
// returns at once, and that one commits.
func (l *MemTableList) TryInstallMemtableFlushResults(x *FlushCommit, mems []*memtable.MemTable, fileNumber uint64) error {
	for _, m := range mems {
		m.FlushCompleted = true
		m.FileNumber = fileNumber
	}
	if l.commitInProgress {
		syncpoint.Process("MemTableList::TryInstallMemtableFlushResults:InProgress")
		return nil
	}
	l.commitInProgress = true
	defer func() { l.commitInProgress = false }()
	for {
		list := l.current.list
		var edits []*version.VersionEdit
		n := 0
		var batchFile uint64
		for i := len(list) - 1; i >= 0 && list[i].FlushCompleted; i-- {
			if m := list[i]; n == 0 || batchFile != m.FileNumber {
				batchFile = m.FileNumber
				logging.ToBuffer(x.LogBuffer, "[%s] Level-0 commit flush result of table #%d started", x.CFD.name, batchFile)
				edits = append(edits, m.Edits())
			}
			n++
		}
		if n == 0 {
			return nil
		}
		edits = append(edits, recoveryEditForObsoletingMemTables(x.VersionSet, x.CFD, edits))
		syncpoint.Process("MemTableList::TryInstallMemtableFlushResults:AfterComputeMinWalToKeep")
		done := false
		err := x.VersionSet.LogAndApply(&LogAndApplyRequest{CFD: x.CFD, Edits: edits, Mutex: x.Mutex, DBDirectory: x.DBDirectory, WriteOptions: x.WriteOptions,
			ManifestWritten: func(err error) {
				done = true
				l.removeOrRestore(err, x, n)
			}})
		if !done {
			l.removeOrRestore(err, x, n)
		}
		if err != nil {
			return err
		}
	}
}

// removeOrRestore takes the n oldest memtables off the list, or makes them
// wait again after a failure.
func (l *MemTableList) removeOrRestore(err error, x *FlushCommit, n int) {
	l.installNewVersion()
	if err == nil && !x.CFD.IsDropped() {
		for i := range n {
			m := l.current.list[len(l.current.list)-1]
			logging.ToBuffer(x.LogBuffer, "[%s] Level-0 commit flush result of table #%d: memtable #%d done", x.CFD.name, m.FileNumber, i+1)
			if info := m.ReleaseFlushJobInfo(); info != nil && x.Committed != nil {
				*x.Committed = append(*x.Committed, info)
			}
			l.current.remove(m, x.Free)
		}
		l.updateCached()
		return
	}
	for i := range n {
		m := l.current.list[len(l.current.list)-1-i]
		logging.ToBuffer(x.LogBuffer, "Level-0 commit table #%d: memtable #%d failed", m.FileNumber, i+1)
		l.resetFlush(m)
	}
	l.FlushNeeded.Store(true)
}

// RemoveOldMemTables drops memtables whose WALs are all before logNumber; for
// recovery and secondary instances.
func (l *MemTableList) RemoveOldMemTables(logNumber uint64, free *[]*memtable.MemTable) {
	l.installNewVersion()
	for i := len(l.current.list) - 1; i >= 0; i-- {
		m := l.current.list[i]
		if m.GetNextLogNumber() > logNumber {
			break
		}
		l.current.remove(m, free)
		if !m.FlushInProgress {
			if l.numNotStarted--; l.numNotStarted == 0 {
				l.FlushNeeded.Store(false)
			}
		}
	}
	l.updateCached()
}

// InstallMemtableAtomicFlushResults commits one flush of several families: mems
// has each family's flushed memtables and files its table, nil where nothing
// was left.
func InstallMemtableAtomicFlushResults(x *FlushCommit, lists []*MemTableList, cfds []*ColumnFamilyData,
	mems [][]*memtable.MemTable, files []*version.FileMetaData) error {
	var groups []EditsForFamily
	for k, cfd := range cfds {
		if len(mems[k]) == 0 {
			continue
		}
		var number uint64
		if files[k] != nil {
			number = files[k].FD.GetNumber()
		}
		for _, m := range mems[k] {
			m.FlushCompleted = true
			m.FileNumber = number
		}
		groups = append(groups, EditsForFamily{CFD: cfd, Edits: []*version.VersionEdit{mems[k][0].Edits()}})
	}
	if len(groups) == 0 {
		return nil
	}
	var minLog uint64 = math.MaxUint64
	flushed := map[*ColumnFamilyData]bool{}
	for i := range groups {
		g := &groups[i]
		flushed[g.CFD] = true
		n := g.CFD.GetLogNumber()
		if g.Edits[0].HasLogNumber() {
			n = max(n, g.Edits[0].GetLogNumber())
		}
		minLog = min(minLog, n)
	}
	minLog = min(minLog, x.VersionSet.MinLogNumberWithUnflushedData(flushed))
	last := &groups[len(groups)-1]
	last.Edits = append(last.Edits, x.VersionSet.walObsoletionEdit(minLog))
	err := x.VersionSet.LogAndApplyGroup(groups, x.Mutex, x.DBDirectory)
	for k := range cfds {
		y := *x
		y.CFD = cfds[k]
		lists[k].finishAtomic(err, &y, mems[k])
	}
	return err
}

func (l *MemTableList) finishAtomic(err error, x *FlushCommit, mems []*memtable.MemTable) {
	l.installNewVersion()
	for _, m := range mems {
		if err == nil && !x.CFD.IsDropped() {
			logging.ToBuffer(x.LogBuffer, "[%s] Level-0 commit table #%d: memtable #%d done", x.CFD.name, m.FileNumber, m.GetID())
			l.current.remove(m, x.Free)
		} else {
			l.resetFlush(m)
			l.FlushNeeded.Store(true)
		}
	}
	l.updateCached()
}

// recoveryEditForObsoletingMemTables says which WALs recovery needs once the
// edits of cfd's flush are in force.
func recoveryEditForObsoletingMemTables(vs *VersionSet, cfd *ColumnFamilyData, edits []*version.VersionEdit) *version.VersionEdit {
	var own uint64
	for _, e := range edits {
		if e.HasLogNumber() {
			own = max(own, e.GetLogNumber())
		}
	}
	if own == 0 {
		own = cfd.GetLogNumber()
	}
	least := vs.MinLogNumberWithUnflushedData(map[*ColumnFamilyData]bool{cfd: true})
	if own != 0 {
		least = min(own, least)
	}
	return vs.walObsoletionEdit(least)
}

// walObsoletionEdit says that WALs before minLog are not needed.
func (vs *VersionSet) walObsoletionEdit(minLog uint64) *version.VersionEdit {
	e := &version.VersionEdit{}
	e.SetMinLogNumberToKeep(minLog)
	if vs.dbOptions.TrackAndVerifyWALsInManifest && minLog > vs.GetWalSet().GetMinWalNumberToKeep() {
		e.DeleteWalsBefore(minLog)
	}
	return e
}
