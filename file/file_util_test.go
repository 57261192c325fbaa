// Port of test_util/testutil_test.cc.

package file_test

import (
	"path/filepath"
	"testing"

	"github.com/rocksdb-go/rocksdb/env"
	"github.com/rocksdb-go/rocksdb/file"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

func TestTestUtil_DestroyDirRecursively(t *testing.T) {
	fs := env.DefaultFileSystem()
	dir := filepath.Join(t.TempDir(), "test_util")
	ok(t, fs.CreateDir(dir, nil))
	ok(t, rocksdb.WriteStringToFile(fs, nil, dir+"/file", false, nil, nil))
	ok(t, fs.CreateDir(dir+"/dir", nil))
	ok(t, rocksdb.WriteStringToFile(fs, nil, dir+"/dir/file", false, nil, nil))
	ok(t, file.DestroyDir(fs, dir))
	eq(t, rocksdb.IsNotFound(fs.FileExists(dir, nil)), true)
}
