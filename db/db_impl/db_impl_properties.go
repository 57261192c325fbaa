// Port of db/db_impl/db_impl.cc (GetProperty, GetIntProperty).

package dbimpl

import (
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// GetProperty gives a property by name; ok is false when there is none of that
// name.
func (d *DBImpl) GetProperty(cf rocksdb.ColumnFamilyHandle, name string) (value string, ok bool) {
	cfd := d.cfd(cf)
	d.mu.Lock()
	defer d.mu.Unlock()
	return cfd.InternalStats().GetStringProperty(name, d)
}

// GetIntProperty gives a property that is a number.
func (d *DBImpl) GetIntProperty(cf rocksdb.ColumnFamilyHandle, name string) (value uint64, ok bool) {
	cfd := d.cfd(cf)
	d.mu.Lock()
	defer d.mu.Unlock()
	return cfd.InternalStats().GetIntProperty(name, d)
}
