// Port of db/db_impl/db_impl_readonly.{h,cc}. Differs: a mode of DBImpl, in
// which all writing calls answer NotSupported.

package dbimpl

import (
	"github.com/rocksdb-go/rocksdb/db"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// OpenForReadOnly opens families of a database for reading. Nothing is written
// and no lock is taken; families that are not named are left out, but the
// default one has to be. With errorIfWALFileExists data in WALs is refused,
// else it is read into memory.
func OpenForReadOnly(o *rocksdb.DBOptions, dbName string, families []rocksdb.ColumnFamilyDescriptor, errorIfWALFileExists bool) (*DBImpl, []*db.ColumnFamilyHandleImpl, error) {
	if err := validateOpen(o, families); err != nil {
		return nil, nil, err
	}
	d, err := newDBImpl(o, dbName, openReadOnly)
	if err != nil {
		return nil, nil, err
	}
	if !o.CreateIfMissing {
		if _, _, err := db.GetCurrentManifestPath(dbName, d.fs, false); err != nil {
			_ = d.closeImpl()
			return nil, nil, err
		}
	}
	return d.openWith(func() ([]*db.ColumnFamilyHandleImpl, error) {
		return d.openReadOnlyLocked(families, errorIfWALFileExists)
	})
}

// openWith gives d and what open, which is called with the mutex held, gives; where
// that fails d is closed.
func (d *DBImpl) openWith(open func() ([]*db.ColumnFamilyHandleImpl, error)) (*DBImpl, []*db.ColumnFamilyHandleImpl, error) {
	d.mu.Lock()
	handles, err := open()
	d.mu.Unlock()
	if err != nil {
		for _, h := range handles {
			h.Close()
		}
		_ = d.closeImpl()
		return nil, nil, err
	}
	return d, handles, nil
}

func (d *DBImpl) openReadOnlyLocked(families []rocksdb.ColumnFamilyDescriptor, errorIfWALFileExists bool) (handles []*db.ColumnFamilyHandleImpl, err error) {
	ctx := &recoveryContext{}
	if _, _, err := d.recoverLocked(families, recoverOptions{readOnly: true, errorIfWALFileExists: errorIfWALFileExists}, ctx); err != nil {
		return nil, err
	}
	sv := &db.SuperVersionContext{}
	if handles, err = d.handlesOfFamiliesLocked(families, sv); err != nil {
		return handles, err
	}
	d.st.opened = true
	d.scheduleFileOpeningLocked()
	d.mu.Unlock()
	sv.Clean()
	d.mu.Lock()
	return handles, nil
}

// handlesOfFamiliesLocked gives the handles of the families named, and makes the
// state of all families visible.
func (d *DBImpl) handlesOfFamiliesLocked(families []rocksdb.ColumnFamilyDescriptor, sv *db.SuperVersionContext) (handles []*db.ColumnFamilyHandleImpl, err error) {
	for i := range families {
		cfd := d.families.GetColumnFamilyByName(families[i].Name)
		if cfd == nil {
			return handles, rocksdb.InvalidArgument("Column family not found", families[i].Name)
		}
		h := db.NewColumnFamilyHandle(cfd, d)
		d.st.heldHandles[h] = true
		handles = append(handles, h)
	}
	for _, cfd := range d.families.All() {
		cfd.InstallSuperVersion(sv, d)
	}
	return handles, nil
}
