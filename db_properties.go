// Port of include/rocksdb/db.h (GetMapProperty, GetAggregatedIntProperty,
// ResetStats).

package rocksdb

// GetMapProperty gives a property by its parts, e.g. PropertyCFStats; ok is
// false when there is none of that name, or it has no parts.
func (c *ColumnFamily) GetMapProperty(name string) (values map[string]string, ok bool) {
	return c.impl.GetMapProperty(c.ColumnFamilyHandleImpl, name)
}

// GetAggregatedIntProperty sums a property that is a number up over all
// families; a block cache that they share counts once.
func (x *DB) GetAggregatedIntProperty(name string) (value uint64, ok bool) {
	return x.impl.GetAggregatedIntProperty(name)
}

// ResetStats sets what PropertyStats and the like count to zero.
func (x *DB) ResetStats() error { return x.impl.ResetStats() }
