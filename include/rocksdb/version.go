// Port of include/rocksdb/version.h and util/build_version.cc.in.

package rocksdb

import "strconv"

// The version of RocksDB whose behaviour and formats this is.
const (
	Major = 11
	Minor = 8
	Patch = 1
)

// GetRocksVersionAsString is "11.8.1", or "11.8" without the patch.
func GetRocksVersionAsString(withPatch bool) string {
	s := strconv.Itoa(Major) + "." + strconv.Itoa(Minor)
	if withPatch {
		s += "." + strconv.Itoa(Patch)
	}
	return s
}
