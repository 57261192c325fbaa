// Port of include/rocksdb/{db,experimental}.h (calls about the database's identity
// and the soundness of its files).

package rocksdb

import (
	"github.com/rocksdb-go/rocksdb/db"
	"github.com/rocksdb-go/rocksdb/util"
)

// GetDbIdentity gives the database's unique id; it stays over all openings.
func (x *DB) GetDbIdentity() string { return x.impl.GetDbIdentity() }

// GetDbSessionId gives the unique id of this opening: 20 of 0-9A-Z.
func (x *DB) GetDbSessionId() string { return x.impl.GetDbSessionId() }

// VerifyChecksum reads all blocks of all tables and checks them. ro may be nil.
func (x *DB) VerifyChecksum(ro *ReadOptions) error { return x.impl.VerifyChecksum(ro) }

// VerifyFileChecksums checks tables and blob files as a whole, where they were
// written with a checksum (DBOptions.FileChecksumGenFactory). ro may be nil.
func (x *DB) VerifyFileChecksums(ro *ReadOptions) error { return x.impl.VerifyFileChecksums(ro) }

// GetLiveFilesChecksumInfo gives the checksums of the present tables and blob
// files, as the MANIFEST has them.
func (x *DB) GetLiveFilesChecksumInfo() (FileChecksumList, error) {
	list := util.NewFileChecksumList()
	return list, x.impl.GetLiveFilesChecksumInfo(list)
}

// GetFileChecksumsFromCurrentManifest gives the checksums of the tables and blob
// files that the MANIFEST of the database at path names, which may be open. It
// only reads.
func GetFileChecksumsFromCurrentManifest(fs FileSystem, path string) (FileChecksumList, error) {
	list := util.NewFileChecksumList()
	return list, db.GetFileChecksumsFromCurrentManifest(fs, path, list)
}
