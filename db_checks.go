// Port of include/rocksdb/db.h (calls about the database's identity and the
// soundness of its files).

package rocksdb

// GetDbIdentity gives the database's unique id; it stays over all openings.
func (x *DB) GetDbIdentity() string { return x.impl.GetDbIdentity() }

// GetDbSessionId gives the unique id of this opening: 20 of 0-9A-Z.
func (x *DB) GetDbSessionId() string { return x.impl.GetDbSessionId() }

// VerifyChecksum reads all blocks of all tables and checks them. ro may be nil.
func (x *DB) VerifyChecksum(ro *ReadOptions) error { return x.impl.VerifyChecksum(ro) }

// VerifyFileChecksums checks tables and blob files as a whole, where they were
// written with a checksum (DBOptions.FileChecksumGenFactory). ro may be nil.
func (x *DB) VerifyFileChecksums(ro *ReadOptions) error { return x.impl.VerifyFileChecksums(ro) }
