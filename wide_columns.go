// Port of include/rocksdb/db.h (PutEntity, GetEntity, MultiGetEntity).

package rocksdb

// PutEntity stores an entity under key: named columns, in any order, each name
// once. The column with an empty name is what Get reads.
func (c *ColumnFamily) PutEntity(wo *WriteOptions, key []byte, columns WideColumns) error {
	return c.impl.PutEntity(wo, c.ColumnFamilyHandleImpl, key, columns)
}

// GetEntity finds key's entity; of a plain value it is the column with an empty
// name alone. The error is ErrNotFound when there is none; otherwise Reset has
// to be called on columns, which is reset first.
func (c *ColumnFamily) GetEntity(ro *ReadOptions, key []byte, columns *PinnableWideColumns) error {
	return c.impl.GetEntity(ro, c.ColumnFamilyHandleImpl, key, columns)
}

// MultiGetEntity is GetEntity for each key, at one state of the family.
func (c *ColumnFamily) MultiGetEntity(ro *ReadOptions, keys [][]byte, results []PinnableWideColumns, errs []error) {
	c.impl.MultiGetEntity(ro, c.ColumnFamilyHandleImpl, keys, results, errs)
}

// MultiGetEntityCF is MultiGetEntity with a family for each key.
func (x *DB) MultiGetEntityCF(ro *ReadOptions, cfs []*ColumnFamily, keys [][]byte, results []PinnableWideColumns, errs []error) {
	x.impl.MultiGetEntityCF(ro, handlesOf(cfs), keys, results, errs)
}

// PutEntityAttributeGroups stores an entity that is spread over several
// families, all at once.
func (x *DB) PutEntityAttributeGroups(wo *WriteOptions, key []byte, groups []AttributeGroup) error {
	return x.impl.PutEntityAttributeGroups(wo, key, groups)
}

// GetEntityAttributeGroups finds key's entity in the family of each group, at
// one state of the database. The groups have the lookups' errors and columns,
// which are to be reset; the error is one of the arguments.
func (x *DB) GetEntityAttributeGroups(ro *ReadOptions, key []byte, groups []PinnableAttributeGroup) error {
	return x.impl.GetEntityAttributeGroups(ro, key, groups)
}

// MultiGetEntityAttributeGroups is GetEntityAttributeGroups for each key, with
// groups of its own.
func (x *DB) MultiGetEntityAttributeGroups(ro *ReadOptions, keys [][]byte, groups [][]PinnableAttributeGroup) {
	x.impl.MultiGetEntityAttributeGroups(ro, keys, groups)
}
