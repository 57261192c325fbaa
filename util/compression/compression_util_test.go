//go:build syncpoint

// Port of db/db_test_util.{h,cc} and test_util/testutil.h, as far as the cases of
// util/compression_test.cc need it.

package compression_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/env"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
	"github.com/rocksdb-go/rocksdb/util"
	"github.com/rocksdb-go/rocksdb/util/compression"
)

var builtin = compression.GetBuiltinV2CompressionManager()

// supported are the algorithms that write, without none.
func supported() (types []rocksdb.CompressionType) {
	for t := rocksdb.NoCompression + 1; t <= rocksdb.LastBuiltinCompression; t++ {
		if compression.CompressionTypeSupported(t) {
			types = append(types, t)
		}
	}
	return types
}

func name(t rocksdb.CompressionType) string { return compression.CompressionTypeToString(t) }

// noSyncFS takes every sync for done.
type noSyncFS struct{ rocksdb.FileSystemWrapper }

type noSyncFile struct{ rocksdb.FSWritableFileWrapper }

func (noSyncFile) Sync(*rocksdb.IOOptions) error  { return nil }
func (noSyncFile) Fsync(*rocksdb.IOOptions) error { return nil }

func (f *noSyncFS) NewWritableFile(name string, o *rocksdb.FileOptions) (rocksdb.FSWritableFile, error) {
	w, err := f.FileSystem.NewWritableFile(name, o)
	if err != nil {
		return nil, err
	}
	return &noSyncFile{rocksdb.FSWritableFileWrapper{FSWritableFile: w}}, nil
}

// dbTest is a database under test.
type dbTest struct {
	*testing.T
	dir string
	env rocksdb.Env
	db  *rocksdb.DB
}

func newDBTest(t *testing.T) *dbTest {
	t.Helper()
	fs := &noSyncFS{rocksdb.FileSystemWrapper{FileSystem: env.DefaultFileSystem()}}
	x := &dbTest{T: t, dir: filepath.Join(t.TempDir(), "db"), env: env.NewCompositeEnvWrapper(env.Default(), fs, nil)}
	t.Cleanup(func() {
		syncpoint.Reset()
		x.close()
	})
	return x
}

func (x *dbTest) must(err error) {
	x.Helper()
	if err != nil {
		x.Fatal(err)
	}
}

func (x *dbTest) close() {
	if x.db != nil {
		if err := x.db.Close(); err != nil {
			x.Error(err)
		}
		x.db = nil
	}
}

// currentOptions are those that upstream's tests start from.
func (x *dbTest) currentOptions() rocksdb.Options {
	o := rocksdb.DefaultOptions()
	o.WriteBufferSize = 4090 * 4096
	o.TargetFileSizeBase = 2 << 20
	o.MaxBytesForLevelBase = 10 << 20
	o.CompactionPri = rocksdb.ByCompensatedSize
	o.LevelCompactionDynamicLevelBytes = false
	o.CreateIfMissing = true
	o.Env = x.env
	return o
}

func (x *dbTest) tryReopen(o rocksdb.Options) (err error) {
	x.close()
	x.db, err = rocksdb.Open(x.dir, o)
	if err != nil {
		x.db = nil
	}
	return err
}

func (x *dbTest) reopen(o rocksdb.Options) {
	x.Helper()
	x.must(x.tryReopen(o))
}

func (x *dbTest) destroyAndReopen(o rocksdb.Options) {
	x.Helper()
	x.close()
	x.must(rocksdb.DestroyDB(x.dir, o))
	x.reopen(o)
}

func (x *dbTest) put(key, value string) {
	x.Helper()
	x.must(x.db.Put(nil, []byte(key), []byte(value)))
}

func (x *dbTest) get(key string) string {
	x.Helper()
	v, err := x.db.Get(nil, []byte(key))
	if errors.Is(err, rocksdb.ErrNotFound) {
		return "NOT_FOUND"
	}
	x.must(err)
	defer v.Release()
	return string(v.Data())
}

func (x *dbTest) wantGet(key, want string) {
	x.Helper()
	if got := x.get(key); got != want {
		x.Fatalf("%s: %d bytes, want %d", key, len(got), len(want))
	}
}

func (x *dbTest) flush() {
	x.Helper()
	x.must(x.db.Flush(nil))
}

func (x *dbTest) waitForCompact() {
	x.Helper()
	x.must(x.db.Impl().TestWaitForCompact())
}

func (x *dbTest) filesAt(level int) (n int) {
	x.Helper()
	v, ok := x.db.GetProperty(fmt.Sprint("rocksdb.num-files-at-level", level))
	if !ok {
		x.Fatalf("no number of files at level %d", level)
	}
	fmt.Sscan(v, &n)
	return n
}

// wantFiles checks the numbers of files from level 0 on; the other levels are
// empty.
func (x *dbTest) wantFiles(want ...int) {
	x.Helper()
	for level := range 7 {
		n := 0
		if level < len(want) {
			n = want[level]
		}
		if got := x.filesAt(level); got != n {
			x.Fatalf("%d files at level %d, want %d", got, level, n)
		}
	}
}

func (x *dbTest) moveFilesToLevel(level int) {
	x.Helper()
	for l := range level {
		x.must(x.db.Impl().TestCompactRange(l, nil, nil, x.db.ColumnFamily.Impl(), false))
	}
}

// contents is everything in the database.
func (x *dbTest) contents() map[string]string {
	x.Helper()
	m := map[string]string{}
	it := x.db.NewIterator(nil)
	defer it.Close()
	for k, v := range it.All() {
		m[string(k)] = string(v)
	}
	x.must(it.Err())
	return m
}

// oneTable gives the properties of the only table with keys from start to limit.
func (x *dbTest) oneTable(start, limit string) *rocksdb.TableProperties {
	x.Helper()
	all, err := x.db.GetPropertiesOfTablesInRange([]rocksdb.Range{{Start: []byte(start), Limit: []byte(limit)}})
	x.must(err)
	if len(all) != 1 {
		x.Fatalf("%d tables in [%s, %s]", len(all), start, limit)
	}
	for _, p := range all {
		return p
	}
	return nil
}

func key(i int) string { return string(dbKey(i)) }

// compressible gives n bytes that are to compress to the given share.
func compressible(r *util.Random, share float64, n int) string {
	raw := r.RandomString(max(1, int(float64(n)*share)))
	b := make([]byte, 0, n+len(raw))
	for len(b) < n {
		b = append(b, raw...)
	}
	return string(b[:n])
}

func pop(o *rocksdb.Options, t rocksdb.Ticker) uint64 { return o.Statistics.GetAndResetTickerCount(t) }
