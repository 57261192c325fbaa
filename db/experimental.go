// Port of db/experimental.cc (GetFileChecksumsFromCurrentManifest).

package db

import "github.com/rocksdb-go/rocksdb/include/rocksdb"

// GetFileChecksumsFromCurrentManifest makes list, which is reset, hold the
// checksums of the tables and blob files that the MANIFEST of the database at
// dbname names, whether it is open or not. It only reads.
func GetFileChecksumsFromCurrentManifest(fs rocksdb.FileSystem, dbname string, list rocksdb.FileChecksumList) error {
	path, _, err := GetCurrentManifestPath(dbname, fs, true)
	if err != nil {
		return err
	}
	if list == nil {
		return rocksdb.InvalidArgument("checksum_list is nullptr")
	}
	list.Reset()
	return GetFileChecksumsFromManifest(path, fs, 0, func(number uint64, checksum, funcName string) error {
		list.InsertOneFileChecksum(number, checksum, funcName)
		return nil
	})
}
