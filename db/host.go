// Port of the calls that files of db/ make on DBImpl (db/db_impl/db_impl.h).
// Differs: small interfaces, implemented by package db_impl, break the cycle.

package db

// SuperVersionHost cleans up after the last reference on something.
type SuperVersionHost interface {
	// CleanupSuperVersion takes the DB mutex and lets go of sv, whose last
	// reference is gone.
	CleanupSuperVersion(sv *SuperVersion)
	// ReleaseColumnFamily takes the DB mutex and drops a handle's reference.
	ReleaseColumnFamily(cfd *ColumnFamilyData)
}
