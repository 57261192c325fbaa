// Port of include/rocksdb/db.h (GetLiveFiles, GetLiveFilesStorageInfo).

package rocksdb

// GetLiveFiles names the files of the present state, without WALs, by paths
// within the database's directory. With flushMemtable memtables are flushed
// first. Of the MANIFEST the first manifestFileSize bytes count. Unless file
// deletions are disabled, files may be gone again on return.
func (x *DB) GetLiveFiles(flushMemtable bool) (files []string, manifestFileSize uint64, err error) {
	return x.impl.GetLiveFiles(flushMemtable)
}

// GetLiveFilesStorageInfo describes the files that a copy of the present state
// needs, WALs included, and how to copy them. Unless file deletions are
// disabled, files may be gone again on return. o may be nil.
func (x *DB) GetLiveFilesStorageInfo(o *LiveFilesStorageInfoOptions) ([]LiveFileStorageInfo, error) {
	return x.impl.GetLiveFilesStorageInfo(o)
}
