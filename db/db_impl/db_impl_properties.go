// Port of db/db_impl/db_impl.cc (GetProperty, GetMapProperty, GetIntProperty,
// GetAggregatedIntProperty, ResetStats, DumpStats).

package dbimpl

import (
	"slices"
	"strconv"
	"strings"

	"github.com/rocksdb-go/rocksdb/db"
	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/db/memtable"
	"github.com/rocksdb-go/rocksdb/db/snapshot"
	"github.com/rocksdb-go/rocksdb/db/writethread"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/logging"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

// GetProperty gives a property by name (rocksdb.PropertyStats, …); ok is false
// when there is none of that name.
func (d *DBImpl) GetProperty(cf rocksdb.ColumnFamilyHandle, name string) (value string, ok bool) {
	info := db.GetPropertyInfo(name)
	if info == nil {
		return "", false
	}
	cfd := d.cfd(cf)
	if info.IsInt() {
		n, ok := d.intProperty(cfd, info)
		if !ok {
			return "", false
		}
		return strconv.FormatUint(n, 10), true
	}
	if !info.NeedOutOfMutex {
		d.mu.Lock()
		defer d.mu.Unlock()
	}
	return cfd.InternalStats().GetStringProperty(info, name)
}

// GetMapProperty gives a property by its parts; ok is false when there is none
// of that name, or it has no parts.
func (d *DBImpl) GetMapProperty(cf rocksdb.ColumnFamilyHandle, name string) (values map[string]string, ok bool) {
	info := db.GetPropertyInfo(name)
	if info == nil || !info.HasMap() {
		return nil, false
	}
	if !info.NeedOutOfMutex {
		d.mu.Lock()
		defer d.mu.Unlock()
	}
	return d.cfd(cf).InternalStats().GetMapProperty(info, name)
}

// GetIntProperty gives a property that is a number.
func (d *DBImpl) GetIntProperty(cf rocksdb.ColumnFamilyHandle, name string) (value uint64, ok bool) {
	info := db.GetPropertyInfo(name)
	if info == nil || !info.IsInt() {
		return 0, false
	}
	return d.intProperty(d.cfd(cf), info)
}

// intProperty is called without the mutex; cfd is referenced.
func (d *DBImpl) intProperty(cfd *db.ColumnFamilyData, info *db.PropertyInfo) (uint64, bool) {
	if !info.NeedOutOfMutex {
		d.mu.Lock()
		defer d.mu.Unlock()
		return cfd.InternalStats().GetIntProperty(info, d)
	}
	sv := cfd.GetReferencedSuperVersion()
	defer sv.Release()
	return cfd.InternalStats().GetIntPropertyOutOfMutex(info, sv.Current)
}

// GetAggregatedIntProperty sums a property up over all families; ok is false
// when one of them does not have it.
func (d *DBImpl) GetAggregatedIntProperty(name string) (value uint64, ok bool) {
	info := db.GetPropertyInfo(name)
	if info == nil || !info.IsInt() {
		return 0, false
	}
	families := d.refFamilies()
	defer d.unrefFamilies(families)
	sum := db.NewIntPropertyAggregator(name)
	ok = true
	for _, cfd := range families {
		if !ok || cfd.GetSuperVersion() == nil {
			continue
		}
		var n uint64
		if n, ok = d.intProperty(cfd, info); ok {
			sum.Add(cfd, n)
		}
	}
	return sum.Aggregate(), ok
}

// ResetStats sets the figures of all families to zero.
func (d *DBImpl) ResetStats() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, cfd := range d.families.All() {
		cfd.InternalStats().Clear()
	}
	return nil
}

// The methods below make DBImpl a db.StatsHost.
var _ db.StatsHost = (*DBImpl)(nil)

// NumRunningFlushesLocked counts flushes at work.
func (d *DBImpl) NumRunningFlushesLocked() int { return d.st.numRunningFlushes }

// NumRunningCompactionsLocked counts compactions at work.
func (d *DBImpl) NumRunningCompactionsLocked() int { return d.st.numRunningCompacts }

// NumRunningCompactionSortedRunsLocked counts the sorted runs these read.
func (d *DBImpl) NumRunningCompactionSortedRunsLocked() (n uint64) {
	for _, cfd := range d.families.All() {
		n += uint64(max(cfd.InternalStats().RunningCompactionSortedRuns().Load(), 0))
	}
	return n
}

// IsFileDeletionsEnabledLocked tells whether obsolete files are deleted.
func (d *DBImpl) IsFileDeletionsEnabledLocked() bool { return d.st.deletesDisabled == 0 }

// SnapshotsLocked are the snapshots taken.
func (d *DBImpl) SnapshotsLocked() *snapshot.List { return &d.st.snapshots }

// ObsoleteSstFilesSizeLocked is the bytes of tables to delete.
func (d *DBImpl) ObsoleteSstFilesSizeLocked() uint64 { return d.versions.GetObsoleteSstFilesSize() }

// MinLogNumberToKeep is the oldest WAL that recovery needs.
func (d *DBImpl) MinLogNumberToKeep() uint64 { return d.minLogNumberToKeep() }

// MinObsoleteSstNumberToKeepLocked is the least number of a table that a job
// may be writing.
func (d *DBImpl) MinObsoleteSstNumberToKeepLocked() uint64 {
	return d.minObsoleteSSTNumberToKeepLocked()
}

// WriteController says whether writers are held back.
func (d *DBImpl) WriteController() *writethread.WriteController { return d.writeCtl }

// GetPropertiesOfAllTables gives the properties of a family's tables by path.
func (d *DBImpl) GetPropertiesOfAllTables(cf rocksdb.ColumnFamilyHandle) (map[string]*rocksdb.TableProperties, error) {
	sv := d.cfd(cf).GetReferencedSuperVersion()
	defer sv.Release()
	ro := rocksdb.DefaultReadOptions()
	return sv.Current.GetPropertiesOfAllTables(&ro)
}

// GetPropertiesOfTablesByLevel gives them by level and path.
func (d *DBImpl) GetPropertiesOfTablesByLevel(cf rocksdb.ColumnFamilyHandle) ([]map[string]*rocksdb.TableProperties, error) {
	sv := d.cfd(cf).GetReferencedSuperVersion()
	defer sv.Release()
	ro := rocksdb.DefaultReadOptions()
	return sv.Current.GetPropertiesOfTablesByLevel(&ro)
}

// GetPropertiesOfTablesInRange gives those of the tables that overlap one of the
// ranges, by path.
func (d *DBImpl) GetPropertiesOfTablesInRange(cf rocksdb.ColumnFamilyHandle, ranges []rocksdb.Range) (map[string]*rocksdb.TableProperties, error) {
	ts := d.cfd(cf).UserComparator().TimestampSize()
	keys := make([]dbformat.UserKeyRange, len(ranges))
	for i, r := range ranges {
		keys[i] = dbformat.UserKeyRange{Start: r.Start, Limit: r.Limit}
		if ts > 0 {
			keys[i].Start = dbformat.AppendKeyWithMaxTimestamp(nil, r.Start, ts)
			keys[i].Limit = dbformat.AppendKeyWithMinTimestamp(nil, r.Limit, ts)
		}
	}
	sv := d.cfd(cf).GetReferencedSuperVersion()
	defer sv.Release()
	ro := rocksdb.DefaultReadOptions()
	return sv.Current.GetPropertiesOfTablesInRange(&ro, keys)
}

// DumpStats writes the figures of the database, of the families in which
// something has happened and of the Statistics to the info log; it begins a new
// interval of those.
func (d *DBImpl) DumpStats() {
	if d.shuttingDown.Load() {
		return
	}
	syncpoint.Process("DBImpl::DumpStats:StartRunning")
	families := d.refFamilies()
	defer d.unrefFamilies(families)
	reported := map[rocksdb.Cache]bool{}
	for _, cfd := range families {
		cfd.InternalStats().CollectCacheEntryStats(false)
		if d.infoLog != nil {
			cfd.InternalStats().ReportCacheProblems(d.infoLog, reported)
		}
	}
	syncpoint.Process("DBImpl::DumpStats:1")
	var text strings.Builder
	d.mu.Lock()
	dump := func(cfd *db.ColumnFamilyData, name string) {
		s, _ := cfd.InternalStats().GetStringProperty(db.GetPropertyInfo(name), name)
		text.WriteString(s)
	}
	dump(d.families.GetDefault(), rocksdb.PropertyDBStats)
	for _, cfd := range families {
		if cfd.GetSuperVersion() != nil {
			dump(cfd, db.PropertyPeriodicCFStats)
		}
	}
	d.mu.Unlock()
	if d.immutable.DumpMallocStats {
		dumpMallocStats(&text)
	}
	syncpoint.Process("DBImpl::DumpStats:2")
	logging.Info(d.infoLog, "------- DUMPING STATS -------")
	logging.Info(d.infoLog, "%s", text.String())
	if d.stats != nil {
		logging.Info(d.infoLog, "STATISTICS:\n %s", d.stats.ToString())
	}
}

// refFamilies references all families; give them to unrefFamilies.
func (d *DBImpl) refFamilies() []*db.ColumnFamilyData {
	d.mu.Lock()
	defer d.mu.Unlock()
	families := slices.Clone(d.families.All())
	for _, cfd := range families {
		cfd.Ref()
	}
	return families
}

func (d *DBImpl) unrefFamilies(families []*db.ColumnFamilyData) {
	var free []*memtable.MemTable
	d.mu.Lock()
	for _, cfd := range families {
		cfd.UnrefLocked(&free)
	}
	d.mu.Unlock()
	freeMemtables(free)
}

// GetCreationTimeOfOldestFile is when the oldest table was made, in seconds
// since the Unix epoch, 0 where one does not say. All tables have to be open
// (max_open_files of -1).
func (d *DBImpl) GetCreationTimeOfOldestFile() (uint64, error) {
	if d.mutableDBOptions.Load().MaxOpenFiles != -1 {
		return 0, rocksdb.NotSupported("This API only works if max_open_files = -1")
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	oldest := d.creationTimeOfOldestFileLocked()
	if oldest == 0 && d.st.filesOpening {
		// The MANIFEST did not say, so that the tables have to.
		d.waitForFileOpeningLocked()
		oldest = d.creationTimeOfOldestFileLocked()
	}
	return oldest, nil
}

func (d *DBImpl) creationTimeOfOldestFileLocked() uint64 {
	oldest := ^uint64(0)
	for _, cfd := range d.families.All() {
		if !cfd.IsDropped() {
			oldest = min(oldest, cfd.Current().GetCreationTimeOfOldestFile())
		}
	}
	return oldest
}
