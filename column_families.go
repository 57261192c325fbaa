// Port of include/rocksdb/db.h (calls about several column families).

package rocksdb

import (
	"github.com/rocksdb-go/rocksdb/db"
	dbimpl "github.com/rocksdb-go/rocksdb/db/db_impl"
)

// CreateColumnFamilies adds families with the same options. On an error it
// gives those that were made before.
func (x *DB) CreateColumnFamilies(o ColumnFamilyOptions, names []string) ([]*ColumnFamily, error) {
	families := make([]ColumnFamilyDescriptor, len(names))
	for i, n := range names {
		families[i] = ColumnFamilyDescriptor{Name: n, Options: o}
	}
	return x.CreateColumnFamiliesByDescriptors(families)
}

// CreateColumnFamiliesByDescriptors is CreateColumnFamilies with options for
// each.
func (x *DB) CreateColumnFamiliesByDescriptors(families []ColumnFamilyDescriptor) ([]*ColumnFamily, error) {
	handles, err := x.impl.CreateColumnFamilies(families)
	return x.wrapHandles(handles), err
}

func (x *DB) wrapHandles(handles []*db.ColumnFamilyHandleImpl) []*ColumnFamily {
	cfs := make([]*ColumnFamily, len(handles))
	for i, h := range handles {
		cfs[i] = &ColumnFamily{h, x.impl}
	}
	return cfs
}

// DropColumnFamilies removes families in turn, up to the first that cannot be;
// their data stays readable through what is open on them.
func (x *DB) DropColumnFamilies(cfs []*ColumnFamily) error {
	handles := make([]ColumnFamilyHandle, len(cfs))
	for i, c := range cfs {
		handles[i] = c.ColumnFamilyHandleImpl
	}
	return x.impl.DropColumnFamilies(handles)
}

// NewIterators makes an iterator over each family, all at one state of the
// database.
func (x *DB) NewIterators(ro *ReadOptions, cfs []*ColumnFamily) ([]*Iterator, error) {
	handles := make([]ColumnFamilyHandle, len(cfs))
	for i, c := range cfs {
		handles[i] = c.ColumnFamilyHandleImpl
	}
	list, err := x.impl.NewIterators(ro, handles)
	if err != nil {
		return nil, err
	}
	its := make([]*Iterator, len(list))
	for i, it := range list {
		its[i] = &Iterator{it}
	}
	return its, nil
}

// CoalescingIterator walks the keys of several families, with the columns of all
// that have the key. It has to be closed before the database.
type CoalescingIterator = dbimpl.CoalescingIterator

// AttributeGroupIterator walks the keys of several families and shows the
// columns of each. It has to be closed before the database.
type AttributeGroupIterator = dbimpl.AttributeGroupIterator

// IteratorAttributeGroup is what one family has of an AttributeGroupIterator's
// key.
type IteratorAttributeGroup = dbimpl.IteratorAttributeGroup

// NewCoalescingIterator makes an iterator over the keys of the families, all at
// one state of the database. Wrong arguments are its Status.
func (x *DB) NewCoalescingIterator(ro *ReadOptions, cfs []*ColumnFamily) *CoalescingIterator {
	return x.impl.NewCoalescingIterator(ro, handlesOf(cfs))
}

// NewAttributeGroupIterator is NewCoalescingIterator that keeps the families
// apart.
func (x *DB) NewAttributeGroupIterator(ro *ReadOptions, cfs []*ColumnFamily) *AttributeGroupIterator {
	return x.impl.NewAttributeGroupIterator(ro, handlesOf(cfs))
}

func handlesOf(cfs []*ColumnFamily) []ColumnFamilyHandle {
	handles := make([]ColumnFamilyHandle, len(cfs))
	for i, c := range cfs {
		handles[i] = c.ColumnFamilyHandleImpl
	}
	return handles
}

// GetLiveFilesMetaData describes the tables of all families.
func (x *DB) GetLiveFilesMetaData() []LiveFileMetaData { return x.impl.GetLiveFilesMetaData() }

// DisableFileDeletions keeps all files, for instance while they are copied,
// until EnableFileDeletions was called as often.
func (x *DB) DisableFileDeletions() error { return x.impl.DisableFileDeletions() }

// EnableFileDeletions undoes one DisableFileDeletions.
func (x *DB) EnableFileDeletions() error { return x.impl.EnableFileDeletions() }
