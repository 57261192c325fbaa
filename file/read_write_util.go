// Port of file/read_write_util.{h,cc}.

package file

import "github.com/rocksdb-go/rocksdb/include/rocksdb"

// GetFileSizeFromOpenFileOrPath asks the file, and the file system when the
// file cannot tell; with anyError also when it failed to.
func GetFileSizeFromOpenFileOrPath(f rocksdb.FSRandomAccessFile, fs rocksdb.FileSystem, name string, anyError bool) (uint64, error) {
	size, err := f.GetFileSize()
	if err == nil || !anyError && !rocksdb.IsNotSupported(err) {
		return size, err
	}
	return fs.GetFileSize(name, nil)
}

// IsFileSectorAligned tells whether off is at a sector's start.
func IsFileSectorAligned(off uint64, sectorSize int) bool { return off%uint64(sectorSize) == 0 }
