// Port of db/db_encryption_test.cc. Differs: runs plain and encrypted, where
// upstream goes by an environment variable.

package db_test

import (
	"bytes"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/env"
)

// encryptionTest runs f with a database that is plain and with one that is
// encrypted; target is the file system without encryption.
func encryptionTest(t *testing.T, f func(x *dbTest, target rocksdb.FileSystem, encrypted bool)) {
	t.Run("plain", func(t *testing.T) {
		x := newDBTest(t)
		f(x, x.env.GetFileSystem(), false)
	})
	t.Run("encrypted", func(t *testing.T) {
		x := newDBTest(t)
		x.destroy(x.currentOptions())
		target := x.env.GetFileSystem()
		e, err := env.NewEncryptedEnv(x.env, env.NewCTRProvider(env.NewROT13Cipher(32)))
		x.must(err)
		x.env = e
		x.reopen(x.currentOptions())
		f(x, target, true)
	})
}

func TestDBEncryptionTest_CheckEncrypted(t *testing.T) {
	encryptionTest(t, func(x *dbTest, target rocksdb.FileSystem, encrypted bool) {
		x.mustPut(0, "foo567", "v1.fetdq")
		x.mustPut(0, "bar123", "v2.dfgkjdfghsd")
		x.close()
		names, err := target.GetChildren(x.dir, nil)
		x.must(err)
		hits := 0
		for _, name := range names {
			if name == "LOCK" {
				continue
			}
			data, err := rocksdb.ReadFileToString(target, x.dir+"/"+name, nil)
			x.must(err)
			for _, text := range []string{"foo567", "v1.fetdq", "bar123", "v2.dfgkjdfghsd", "dfgk"} {
				if bytes.Contains(data, []byte(text)) {
					hits++
				}
			}
		}
		if encrypted && hits != 0 || !encrypted && hits < 4 {
			x.Errorf("%d values are in the files", hits)
		}
		x.reopen(x.currentOptions())
		x.wantGet(0, "foo567", "v1.fetdq")
		x.wantGet(0, "bar123", "v2.dfgkjdfghsd")
	})
}

func TestDBEncryptionTest_ReadEmptyFile(t *testing.T) {
	encryptionTest(t, func(x *dbTest, target rocksdb.FileSystem, _ bool) {
		name := x.dir + "/empty.empty"
		x.must(rocksdb.WriteStringToFile(target, nil, name, false, nil, nil))
		for _, fs := range []rocksdb.FileSystem{target, x.env.GetFileSystem()} {
			data, err := rocksdb.ReadFileToString(fs, name, nil)
			x.must(err)
			if len(data) != 0 {
				x.Errorf("read %q", data)
			}
		}
	})
}

func TestDBEncryptionTest_NotSupportedGetFileSize(t *testing.T) {
	encryptionTest(t, func(x *dbTest, _ rocksdb.FileSystem, encrypted bool) {
		if !encrypted {
			return
		}
		fs := x.env.GetFileSystem()
		name := x.dir + "/empty.empty"
		x.must(rocksdb.WriteStringToFile(fs, nil, name, false, nil, nil))
		f, err := fs.NewRandomAccessFile(name, nil)
		x.must(err)
		defer f.Close()
		if _, err := f.GetFileSize(); !rocksdb.IsNotSupported(err) {
			x.Errorf("GetFileSize: %v", err)
		}
		size, err := fs.GetFileSize(name, nil)
		x.must(err)
		if size != 0 {
			x.Errorf("size %d", size)
		}
	})
}
