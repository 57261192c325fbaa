// Port of include/rocksdb/utilities/cache_dump_load.h, as Go programs use it.

package rocksdb

import "github.com/rocksdb-go/rocksdb/utilities"

// What dumps of block caches are made with.
type (
	CacheDumpOptions         = utilities.CacheDumpOptions
	CacheDumpWriter          = utilities.CacheDumpWriter
	CacheDumpReader          = utilities.CacheDumpReader
	CloseableCacheDumpReader = utilities.CloseableCacheDumpReader
	CacheDumper              = utilities.CacheDumper
	CacheDumpedLoader        = utilities.CacheDumpedLoader
)

// NewToFileCacheDumpWriter makes a new file for a dump.
func NewToFileCacheDumpWriter(fs FileSystem, o *FileOptions, name string) (CacheDumpWriter, error) {
	return utilities.NewToFileCacheDumpWriter(fs, o, name)
}

// NewFromFileCacheDumpReader opens a dump in a file; it has to be closed.
func NewFromFileCacheDumpReader(fs FileSystem, o *FileOptions, name string) (CloseableCacheDumpReader, error) {
	return utilities.NewFromFileCacheDumpReader(fs, o, name)
}

// NewDefaultCacheDumper makes what writes the blocks of c to w, and closes w.
func NewDefaultCacheDumper(o CacheDumpOptions, c Cache, w CacheDumpWriter) *CacheDumper {
	return utilities.NewDefaultCacheDumper(o, c, w)
}

// NewDefaultCacheDumpedLoader makes what puts the blocks that r gives into a
// secondary cache.
func NewDefaultCacheDumpedLoader(secondary SecondaryCache, r CacheDumpReader) *CacheDumpedLoader {
	return utilities.NewDefaultCacheDumpedLoader(secondary, r)
}
