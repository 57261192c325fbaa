// Port of utilities/env_timed_test.cc.

package fsutil

import (
	"testing"

	"github.com/rocksdb-go/rocksdb/env"
	"github.com/rocksdb-go/rocksdb/env/mockenv"
)

func TestTimedEnvTest_BasicTest(t *testing.T) {
	fs := NewTimedEnv(mockenv.NewMemEnv(env.Default())).GetFileSystem().(*TimedFileSystem)
	nanos := func() uint64 { p := fs.EnvNanos(); return p.EnvNewWritableFileNanos }
	if n := nanos(); n != 0 {
		t.Errorf("%d ns before the first file", n)
	}
	f, err := fs.NewWritableFile("f", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close(nil)
	if nanos() == 0 {
		t.Error("no time was taken")
	}
}
