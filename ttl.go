// Port of include/rocksdb/utilities/db_ttl.h.

package rocksdb

import "github.com/rocksdb-go/rocksdb/utilities/ttl"

// DBWithTTL is a database that drops values which have become too old, in
// compactions.
type DBWithTTL = ttl.DBWithTTL

// OpenTTL opens the database at path with a default family whose values live
// that many seconds, or for ever when that is 0 or less. It has to be opened this way
// always: values carry their times.
func OpenTTL(path string, o Options, seconds int32, readOnly bool) (*DBWithTTL, error) {
	RegisterBuiltins()
	return ttl.Open(&o, path, seconds, readOnly)
}
