// Port of db/db_impl/db_impl.cc (column families).

package dbimpl

import (
	"errors"
	"slices"

	"github.com/rocksdb-go/rocksdb/db"
	"github.com/rocksdb-go/rocksdb/db/version"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/logging"
	"github.com/rocksdb-go/rocksdb/options"
)

// CreateColumnFamily adds a family of that name.
func (d *DBImpl) CreateColumnFamily(o *rocksdb.ColumnFamilyOptions, name string) (*db.ColumnFamilyHandleImpl, error) {
	handles, err := d.CreateColumnFamilies([]rocksdb.ColumnFamilyDescriptor{{Name: name, Options: *o}})
	if len(handles) == 0 {
		return nil, err
	}
	return handles[0], err
}

// CreateColumnFamilies adds families in turn. On an error it gives the handles
// of those that were made before.
func (d *DBImpl) CreateColumnFamilies(families []rocksdb.ColumnFamilyDescriptor) ([]*db.ColumnFamilyHandleImpl, error) {
	if d.readOnly {
		return nil, d.readOnlyError()
	}
	d.optionsMu.Lock()
	defer d.optionsMu.Unlock()
	var handles []*db.ColumnFamilyHandleImpl
	for i := range families {
		h, err := d.createColumnFamily(&families[i].Options, families[i].Name)
		if err != nil {
			if i > 0 {
				err = errors.Join(err, d.wrapUpCreateColumnFamilies(handles))
			}
			return handles, err
		}
		handles = append(handles, h)
	}
	if len(families) == 0 {
		return nil, nil
	}
	return handles, d.wrapUpCreateColumnFamilies(handles)
}

// wrapUpCreateColumnFamilies writes the OPTIONS file and sees to what new families'
// options ask for; both, though one fails.
func (d *DBImpl) wrapUpCreateColumnFamilies(handles []*db.ColumnFamilyHandleImpl) error {
	err := d.persistOptions()
	if slices.ContainsFunc(handles, func(h *db.ColumnFamilyHandleImpl) bool { return tracksTimes(h.CFD()) }) {
		err = errors.Join(err, d.registerRecordSeqnoTimeWorker())
	}
	return err
}

// createColumnFamily adds a family without writing an OPTIONS file; optionsMu
// is held, or the database is being opened.
func (d *DBImpl) createColumnFamily(o *rocksdb.ColumnFamilyOptions, name string) (*db.ColumnFamilyHandleImpl, error) {
	if name == "" {
		// It means "no family" in tables and elsewhere.
		return nil, rocksdb.InvalidArgument("Column family name cannot be the empty string")
	}
	dbo := d.GetDBOptions()
	if err := db.ValidateOptions(&dbo, o); err != nil {
		return nil, err
	}
	if err := options.ValidateOptions(&dbo, o); err != nil {
		return nil, err
	}
	if err := db.CheckBuilt(o); err != nil {
		return nil, err
	}
	for _, p := range o.CFPaths {
		if err := d.fs.CreateDirIfMissing(p.Path, rocksdb.NewIOOptions()); err != nil {
			return nil, err
		}
	}
	ctx := &db.SuperVersionContext{}
	h, err := d.addColumnFamily(o, name, ctx)
	ctx.Clean()
	if err != nil {
		logging.Error(d.infoLog, "Creating column family [%s] FAILED -- %v", name, err)
		return nil, err
	}
	logging.Info(d.infoLog, "Created column family [%s] (ID %d)", name, h.GetID())
	return h, nil
}

// addColumnFamily commits the family and makes it visible.
func (d *DBImpl) addColumnFamily(o *rocksdb.ColumnFamilyOptions, name string, ctx *db.SuperVersionContext) (*db.ColumnFamilyHandleImpl, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.families.GetColumnFamilyByName(name) != nil {
		return nil, rocksdb.InvalidArgument("Column family already exists")
	}
	edit := &version.VersionEdit{}
	edit.AddColumnFamily(name)
	edit.SetColumnFamily(d.families.GetNextColumnFamilyID())
	edit.SetLogNumber(d.logNumber.Load())
	edit.SetComparatorName(db.SanitizeColumnFamilyOptions(d.immutable, false, o).Comparator.Name())
	edit.SetPersistUserDefinedTimestamps(o.PersistUserDefinedTimestamps)
	d.st.openingColumnFamily = true
	err := d.logAndApplyUnbatchedLocked(&db.LogAndApplyRequest{Edits: []*version.VersionEdit{edit}, NewCFOptions: o})
	d.st.openingColumnFamily = false
	if err != nil {
		return nil, err
	}
	if o.InplaceUpdateSupport {
		d.inplaceUpdates.Store(true)
	}
	cfd := d.families.GetColumnFamilyByName(name)
	if err := d.dirs.AddFamily(d.fs, cfd); err != nil {
		return nil, err
	}
	d.setSeqnoTimesForConfigLocked(cfd)
	cfd.InstallSuperVersion(ctx, d)
	d.newThreadStatusCFInfo(cfd)
	d.updateMaxInMemoryStateLocked()
	h := db.NewColumnFamilyHandle(cfd, d)
	d.st.heldHandles[h] = true
	return h, nil
}

// logAndApplyUnbatchedLocked commits edits that add or drop a family, while no
// group of writes is under way.
func (d *DBImpl) logAndApplyUnbatchedLocked(r *db.LogAndApplyRequest) error {
	r.Mutex, r.DBDirectory = &d.mu, d.dirs.DBDir()
	w := d.enterUnbatchedLocked()
	defer d.exitUnbatchedLocked(w)
	return d.versions.LogAndApply(r)
}

// DropColumnFamily removes a family; its data stays readable through handles
// and iterators that are open.
func (d *DBImpl) DropColumnFamily(cf rocksdb.ColumnFamilyHandle) error {
	return d.DropColumnFamilies([]rocksdb.ColumnFamilyHandle{cf})
}

// DropColumnFamilies removes families in turn, up to the first that cannot be.
func (d *DBImpl) DropColumnFamilies(cfs []rocksdb.ColumnFamilyHandle) error {
	if d.readOnly {
		return d.readOnlyError()
	}
	d.optionsMu.Lock()
	defer d.optionsMu.Unlock()
	for i, cf := range cfs {
		if err := d.dropColumnFamily(d.cfd(cf)); err != nil {
			if i > 0 {
				err = errors.Join(err, d.persistOptions())
			}
			return err
		}
	}
	if len(cfs) == 0 {
		return nil
	}
	return d.persistOptions()
}

func (d *DBImpl) dropColumnFamily(cfd *db.ColumnFamilyData) error {
	if cfd.GetID() == 0 {
		return rocksdb.InvalidArgument("Can't drop default column family")
	}
	edit := &version.VersionEdit{}
	edit.DropColumnFamily()
	edit.SetColumnFamily(cfd.GetID())
	d.mu.Lock()
	err := error(nil)
	if cfd.IsDropped() {
		err = rocksdb.InvalidArgument("Column family already dropped!\n")
	} else {
		err = d.logAndApplyUnbatchedLocked(&db.LogAndApplyRequest{CFD: cfd, Edits: []*version.VersionEdit{edit}})
	}
	if err == nil {
		d.eraseThreadStatusCFInfo(cfd)
		d.updateMaxInMemoryStateLocked()
		// Who waits for the family's flush or compaction waits in vain.
		d.bgCond.Broadcast()
	}
	d.mu.Unlock()
	if err != nil {
		logging.Error(d.infoLog, "Dropping column family with id %d FAILED -- %v", cfd.GetID(), err)
		return err
	}
	logging.Info(d.infoLog, "Dropped column family with id %d", cfd.GetID())
	if tracksTimes(cfd) {
		return d.registerRecordSeqnoTimeWorker()
	}
	return nil
}

// GetLiveFilesMetaData describes the tables of all families.
func (d *DBImpl) GetLiveFilesMetaData() []rocksdb.LiveFileMetaData {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.versions.GetLiveFilesMetaData()
}
