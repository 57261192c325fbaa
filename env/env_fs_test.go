// Port of the EnvFSTestWithParam case of env/env_test.cc.

package env_test

import (
	"fmt"
	"path/filepath"
	"testing"

	engine "github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/env"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/utilities/fsutil"
)

func TestEnvFSTestWithParam_OptionsTest(t *testing.T) {
	for i := range 8 {
		given, defaultEnv, defaultFS := i&4 != 0, i&2 != 0, i&1 != 0
		t.Run(fmt.Sprintf("env=%v,default=%v,defaultFS=%v", given, defaultEnv, defaultFS), func(t *testing.T) {
			var e rocksdb.Env
			var fs rocksdb.FileSystem = fsutil.NewFaultInjectionTestFS(env.DefaultFileSystem())
			switch {
			case !given || defaultEnv && defaultFS: // upstream leaves the Env out then, too
			case defaultEnv:
				e = env.NewCompositeEnv(fs)
			case defaultFS:
				e, fs = fsutil.NewFaultInjectionTestEnv(env.Default()), nil
			default:
				e = env.NewCompositeEnvWrapper(fsutil.NewFaultInjectionTestEnv(env.Default()), fs, nil)
			}
			if e != nil && fs != nil {
				eq(t, e.GetFileSystem(), fs)
			} else if e != nil && e.GetFileSystem() == env.DefaultFileSystem() {
				t.Fatal("the default file system")
			}
			o := engine.DefaultOptions()
			o.Env, o.CreateIfMissing = e, true
			for _, name := range []string{"env_fs_test1", "env_fs_test2"} {
				dir := filepath.Join(t.TempDir(), name)
				db, err := engine.Open(dir, o)
				ok(t, err)
				for _, k := range []string{"a", "b"} {
					ok(t, db.Put(nil, []byte(k), []byte(k)))
					ok(t, db.Flush(nil))
				}
				ok(t, db.CompactRange(nil, nil, nil))
				for _, k := range []string{"a", "b"} {
					v, err := db.Get(nil, []byte(k))
					ok(t, err)
					eq(t, string(v.Data()), k)
					v.Release()
				}
				ok(t, db.Close())
				ok(t, engine.DestroyDB(dir, o))
			}
		})
	}
}
