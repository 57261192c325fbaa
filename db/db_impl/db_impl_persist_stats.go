// Port of db/db_impl/{db_impl,db_impl_open,db_impl_write}.cc (the column family of
// the statistics' history, persist_stats_to_disk).

package dbimpl

import (
	"slices"
	"strconv"

	"github.com/rocksdb-go/rocksdb/db"
	"github.com/rocksdb-go/rocksdb/db/writebatch"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/logging"
	"github.com/rocksdb-go/rocksdb/monitoring"
)

// statsWriteOptions are those of writes to the history: they give way to others.
var statsWriteOptions = func() rocksdb.WriteOptions {
	o := rocksdb.DefaultWriteOptions()
	o.LowPri, o.NoSlowdown = true, true
	return o
}()

// PersistentStatsColumnFamily is the family of the statistics' history; nil
// without persist_stats_to_disk, and in a database that is only read.
func (d *DBImpl) PersistentStatsColumnFamily() *db.ColumnFamilyHandleImpl {
	return d.persistStatsHandle
}

// initPersistStatsColumnFamilyLocked finds or makes the family. The mutex is
// released meanwhile.
func (d *DBImpl) initPersistStatsColumnFamilyLocked() (existed bool, err error) {
	if cfd := d.families.GetColumnFamilyByName(db.PersistentStatsColumnFamilyName); cfd != nil {
		d.persistStatsHandle = db.NewColumnFamilyHandle(cfd, d)
		d.st.heldHandles[d.persistStatsHandle] = true
		return true, nil
	}
	d.mu.Unlock()
	defer d.mu.Lock()
	return false, d.createPersistStatsColumnFamily()
}

func (d *DBImpl) createPersistStatsColumnFamily() (err error) {
	o := rocksdb.DefaultColumnFamilyOptions()
	monitoring.OptimizeForPersistentStats(&o)
	d.persistStatsHandle, err = d.createColumnFamily(&o, db.PersistentStatsColumnFamilyName)
	return err
}

// openPersistStatsColumnFamilyLocked makes the family ready for reading, looks
// whether its format is known (it is made anew otherwise), and writes the format's
// version to a new one. The mutex is released meanwhile.
// Upstream: the end of DBImpl::Open and PersistentStatsProcessFormatVersion.
func (d *DBImpl) openPersistStatsColumnFamilyLocked(existed bool) error {
	sv := &db.SuperVersionContext{}
	d.persistStatsHandle.CFD().InstallSuperVersion(sv, d)
	d.mu.Unlock()
	defer d.mu.Lock()
	sv.Clean()
	if existed {
		known, err := d.persistStatsFormatKnown()
		if err != nil || known {
			return err
		}
		if err := d.dropColumnFamily(d.persistStatsHandle.CFD()); err != nil {
			return err
		}
		if err := d.DestroyColumnFamilyHandle(d.persistStatsHandle); err != nil {
			return err
		}
		if err := d.createPersistStatsColumnFamily(); err != nil {
			return err
		}
	}
	batch := writebatch.New()
	for key, v := range map[string]uint64{
		monitoring.FormatVersionKeyString:     monitoring.StatsCFCurrentFormatVersion,
		monitoring.CompatibleVersionKeyString: monitoring.StatsCFCompatibleFormatVersion,
	} {
		if err := batch.PutCF(d.persistStatsHandle, []byte(key), strconv.AppendUint(nil, v, 10)); err != nil {
			return err
		}
	}
	return d.Write(&statsWriteOptions, batch)
}

// persistStatsFormatKnown is false when the family has to be made anew.
func (d *DBImpl) persistStatsFormatKnown() (bool, error) {
	get := func(key []byte) ([]byte, error) {
		var v rocksdb.PinnableSlice
		defer v.Release()
		if err := d.Get(nil, d.persistStatsHandle, key, &v); err != nil {
			return nil, err
		}
		return slices.Clone(v.Data()), nil
	}
	format, err := monitoring.DecodePersistentStatsVersionNumber(get, monitoring.FormatVersion)
	compatible, err2 := monitoring.DecodePersistentStatsVersionNumber(get, monitoring.CompatibleVersion)
	switch {
	case err != nil || err2 != nil:
		logging.Warn(d.infoLog, "Recreating persistent stats column family since reading persistent stats version key failed. Format key: %v, compatible key: %v", err, err2)
		return false, nil
	case monitoring.StatsCFCurrentFormatVersion < format && monitoring.StatsCFCompatibleFormatVersion < compatible:
		logging.Warn(d.infoLog, "Recreating persistent stats column family due to corrupted or incompatible format version. Recovered format: %d; recovered format compatible since: %d", format, compatible)
		return false, nil
	}
	return true, nil
}

// persistStatsToDisk writes what the tickers grew by since the last call; the
// first call has nothing to compare with.
func (d *DBImpl) persistStatsToDisk(now uint64, tickers map[string]uint64) {
	h := &d.periodic.history
	h.Lock()
	defer h.Unlock()
	batch := writebatch.New()
	var err error
	if h.last != nil {
		logging.Info(d.infoLog, "Reading %d stats from statistics", len(h.last))
		for name, n := range tickers {
			before, known := h.last[name]
			if known && err == nil {
				err = batch.PutCF(d.persistStatsHandle, monitoring.EncodePersistentStatsKey(now, name), strconv.AppendUint(nil, n-before, 10))
			}
		}
	}
	h.last = tickers
	if err == nil {
		err = d.Write(&statsWriteOptions, batch)
	}
	if err != nil {
		logging.Info(d.infoLog, "Writing to persistent stats CF failed -- %v", err)
		return
	}
	logging.Info(d.infoLog, "Writing %d stats with timestamp %d to persistent stats CF succeeded", len(tickers), now)
}

// persistentStatsIterator walks the history.
func (d *DBImpl) persistentStatsIterator() (rocksdb.Iterator, error) {
	if d.persistStatsHandle == nil {
		return nil, rocksdb.NotSupported("the statistics' history of a database that is opened for reading")
	}
	return d.NewIterator(nil, d.persistStatsHandle), nil
}

// laggingStatsFamilyLocked is the family of the history when its memtable alone
// holds back the oldest log: no other family, but for one that is being flushed,
// needs a log as old. Else it is nil.
func (d *DBImpl) laggingStatsFamilyLocked(flushed *db.ColumnFamilyData) *db.ColumnFamilyData {
	if !d.immutable.PersistStatsToDisk {
		return nil
	}
	stats := d.families.GetColumnFamilyByName(db.PersistentStatsColumnFamilyName)
	if stats == nil || stats == flushed || stats.Mem().IsEmpty() {
		return nil
	}
	for _, cfd := range d.families.All() {
		if cfd != stats && cfd != flushed && cfd.GetLogNumber() <= stats.GetLogNumber() {
			return nil
		}
	}
	return stats
}

// withStatsFamilyLocked adds the family of the history to those about to be
// flushed, where it alone holds back the oldest log. Upstream: MaybeFlushStatsCF.
func (d *DBImpl) withStatsFamilyLocked(cfds []*db.ColumnFamilyData) []*db.ColumnFamilyData {
	if len(cfds) == 0 {
		return cfds
	}
	stats := d.laggingStatsFamilyLocked(nil)
	if stats == nil || slices.Contains(cfds, stats) {
		return cfds
	}
	logging.Info(d.infoLog, "Force flushing stats CF with automated flush to avoid holding old logs")
	return append(cfds, stats)
}
