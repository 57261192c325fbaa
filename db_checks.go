// Port of include/rocksdb/db.h (calls about the database's identity and the
// soundness of its files).

package rocksdb

// GetDbIdentity gives the database's unique id; it stays over all openings.
func (x *DB) GetDbIdentity() string { return x.impl.GetDbIdentity() }

// GetDbSessionId gives the unique id of this opening: 20 of 0-9A-Z.
func (x *DB) GetDbSessionId() string { return x.impl.GetDbSessionId() }
