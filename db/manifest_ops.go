// Port of db/manifest_ops.{h,cc}.

package db

import (
	"strings"

	"github.com/rocksdb-go/rocksdb/file/filename"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// GetCurrentManifestPath reads CURRENT and gives path and number of the
// MANIFEST it names. isRetry asks the file system to read from redundant
// copies.
func GetCurrentManifestPath(dbname string, fs rocksdb.FileSystem, isRetry bool) (path string, number uint64, err error) {
	opts := rocksdb.DefaultIOOptions()
	opts.VerifyAndReconstructRead = isRetry
	current := filename.CurrentFileName(dbname)
	data, err := rocksdb.ReadFileToString(fs, current, &opts)
	if err != nil {
		return "", 0, err
	}
	name, ok := strings.CutSuffix(string(data), "\n")
	if !ok {
		return "", 0, rocksdb.Corruption("CURRENT file does not end with newline").In(current)
	}
	p, ok := filename.ParseFileName(name, "")
	if !ok || p.Type != rocksdb.DescriptorFile {
		return "", 0, rocksdb.Corruption("CURRENT file corrupted").In(current)
	}
	return joinPath(dbname, name), p.Number, nil
}

func joinPath(dir, name string) string {
	if strings.HasSuffix(dir, "/") {
		return dir + name
	}
	return dir + "/" + name
}
