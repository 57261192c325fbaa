// Port of include/rocksdb/attribute_groups.h. Differs: fields, not accessors;
// what iterators give is rocksdb.IteratorAttributeGroup.

package rocksdb

// AttributeGroup is the part of an entity that is in one column family.
type AttributeGroup struct {
	ColumnFamily ColumnFamilyHandle
	Columns      WideColumns
}

// PinnableAttributeGroup asks for a key's entity in a column family and takes
// the answer.
type PinnableAttributeGroup struct {
	ColumnFamily ColumnFamilyHandle
	// Err is the lookup's error; ErrNotFound where the family does not have the
	// key.
	Err error
	// Columns is what was found, valid until its Reset.
	Columns PinnableWideColumns
}
