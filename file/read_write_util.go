// Port of file/read_write_util.{h,cc}.

package file

import "github.com/rocksdb-go/rocksdb/include/rocksdb"

// NewWritableFile makes a file, having set what of opts the file is told
// beside them.
func NewWritableFile(fs rocksdb.FileSystem, name string, opts *rocksdb.FileOptions) (rocksdb.FSWritableFile, error) {
	return fs.NewWritableFile(name, opts)
}

// IsFileSectorAligned tells whether off is at a sector's start.
func IsFileSectorAligned(off uint64, sectorSize int) bool { return off%uint64(sectorSize) == 0 }
