// Port of db/db_logical_block_size_cache_test.cc. Differs: the cache belongs to
// package env; here it is told by a file system that counts the same calls.

package db_test

import (
	"maps"
	"sync"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/env"
)

// pathCountingFS counts how often directories are registered.
type pathCountingFS struct {
	rocksdb.FileSystemWrapper
	mu   sync.Mutex
	refs map[string]int
}

func (f *pathCountingFS) count(paths []string, by int) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, p := range paths {
		if f.refs[p] += by; f.refs[p] == 0 {
			delete(f.refs, p)
		}
	}
	return nil
}

func (f *pathCountingFS) RegisterDBPaths(paths []string) error   { return f.count(paths, 1) }
func (f *pathCountingFS) UnregisterDBPaths(paths []string) error { return f.count(paths, -1) }

// blockSizeTest has databases on a pathCountingFS.
type blockSizeTest struct {
	*testing.T
	fs                     *pathCountingFS
	dir                    string
	data0, data1, cf0, cf1 string
	o                      rocksdb.Options
}

func newBlockSizeTest(t *testing.T) *blockSizeTest {
	dir := t.TempDir() + "/db"
	x := &blockSizeTest{T: t, dir: dir, data0: dir + "/data_path_0", data1: dir + "/data_path_1", cf0: dir + "/cf_path_0", cf1: dir + "/cf_path_1"}
	x.fs = &pathCountingFS{FileSystemWrapper: rocksdb.FileSystemWrapper{FileSystem: env.DefaultFileSystem()}, refs: map[string]int{}}
	x.o = rocksdb.DefaultOptions()
	x.o.CreateIfMissing, x.o.Env = true, env.NewCompositeEnv(x.fs)
	return x
}

func (x *blockSizeTest) must(err error) {
	x.Helper()
	if err != nil {
		x.Fatal(err)
	}
}

func (x *blockSizeTest) want(refs map[string]int) {
	x.Helper()
	x.fs.mu.Lock()
	defer x.fs.mu.Unlock()
	if !maps.Equal(x.fs.refs, refs) {
		x.Errorf("registered %v, want %v", x.fs.refs, refs)
	}
}

func paths(list ...string) (p []rocksdb.DBPath) {
	for _, path := range list {
		p = append(p, rocksdb.DBPath{Path: path, TargetSize: 2048})
	}
	return p
}

func cfOptions(list ...string) rocksdb.ColumnFamilyOptions {
	o := rocksdb.DefaultColumnFamilyOptions()
	o.CFPaths = paths(list...)
	return o
}

func (x *blockSizeTest) open(dir string) *rocksdb.DB {
	x.Helper()
	db, err := rocksdb.Open(dir, x.o)
	x.must(err)
	return db
}

func (x *blockSizeTest) create(db *rocksdb.DB, o rocksdb.ColumnFamilyOptions, name string) *rocksdb.ColumnFamily {
	x.Helper()
	cf, err := db.CreateColumnFamily(o, name)
	x.must(err)
	return cf
}

// openBoth calls f for the database open and open for reading.
func (x *blockSizeTest) openBoth(families []rocksdb.ColumnFamilyDescriptor, f func(db *rocksdb.DB, cfs []*rocksdb.ColumnFamily)) {
	x.Helper()
	families = append(families, rocksdb.ColumnFamilyDescriptor{Name: "default", Options: rocksdb.DefaultColumnFamilyOptions()})
	for _, readOnly := range []bool{false, true} {
		var db *rocksdb.DB
		var cfs []*rocksdb.ColumnFamily
		var err error
		if readOnly {
			db, cfs, err = rocksdb.OpenColumnFamiliesForReadOnly(x.dir, x.o.DBOptions, families, false)
		} else {
			db, cfs, err = rocksdb.OpenColumnFamilies(x.dir, x.o.DBOptions, families)
		}
		x.must(err)
		f(db, cfs)
		x.must(db.Close())
		x.want(nil)
	}
}

func TestDBLogicalBlockSizeCacheTest_OpenClose(t *testing.T) {
	x := newBlockSizeTest(t)
	x.o.DBPaths = paths(x.data0, x.data1)
	x.openBoth(nil, func(*rocksdb.DB, []*rocksdb.ColumnFamily) { x.want(map[string]int{x.data0: 1, x.data1: 1}) })
}

func TestDBLogicalBlockSizeCacheTest_OpenDelete(t *testing.T) {
	x := newBlockSizeTest(t)
	x.openBoth(nil, func(*rocksdb.DB, []*rocksdb.ColumnFamily) { x.want(map[string]int{x.dir: 1}) })
}

func TestDBLogicalBlockSizeCacheTest_CreateColumnFamily(t *testing.T) {
	x := newBlockSizeTest(t)
	db := x.open(x.dir)
	x.want(map[string]int{x.dir: 1})
	cf := x.create(db, cfOptions(x.cf0, x.cf1), "cf")
	all := map[string]int{x.dir: 1, x.cf0: 1, x.cf1: 1}
	x.want(all)
	x.must(db.DropColumnFamily(cf))
	x.want(all)
	x.must(cf.Close())
	x.want(map[string]int{x.dir: 1})
	x.must(db.Close())
	x.want(nil)
}

func TestDBLogicalBlockSizeCacheTest_CreateColumnFamilies(t *testing.T) {
	x := newBlockSizeTest(t)
	db := x.open(x.dir)
	cfs, err := db.CreateColumnFamilies(cfOptions(x.cf0), []string{"cf1", "cf2"})
	x.must(err)
	both := map[string]int{x.dir: 1, x.cf0: 2}
	x.want(both)
	for _, cf := range cfs {
		x.must(db.DropColumnFamily(cf))
		x.want(both)
	}
	x.must(cfs[0].Close())
	x.want(map[string]int{x.dir: 1, x.cf0: 1})
	x.must(cfs[1].Close())
	x.want(map[string]int{x.dir: 1})
	x.must(db.Close())
	x.want(nil)
}

func TestDBLogicalBlockSizeCacheTest_OpenWithColumnFamilies(t *testing.T) {
	x := newBlockSizeTest(t)
	o := cfOptions(x.cf0)
	families := []rocksdb.ColumnFamilyDescriptor{{Name: "cf1", Options: o}, {Name: "cf2", Options: o}}
	db := x.open(x.dir)
	for _, f := range families {
		x.must(x.create(db, o, f.Name).Close())
	}
	x.must(db.Close())
	x.want(nil)
	first := true
	x.openBoth(families, func(db *rocksdb.DB, cfs []*rocksdb.ColumnFamily) {
		both := map[string]int{x.dir: 1, x.cf0: 2}
		x.want(both)
		if !first { // nothing is dropped of a database that is only read
			return
		}
		first = false
		for _, cf := range cfs[:2] {
			x.must(db.DropColumnFamily(cf))
			x.want(both)
		}
		x.must(cfs[0].Close())
		x.want(map[string]int{x.dir: 1, x.cf0: 1})
		x.must(cfs[1].Close())
		x.want(map[string]int{x.dir: 1})
		x.must(cfs[2].Close())
		x.want(map[string]int{x.dir: 1})
		x.must(db.Close())
		x.want(nil)
		// For the second opening.
		db = x.open(x.dir)
		for _, f := range families {
			x.create(db, o, f.Name)
		}
		x.must(db.Close())
	})
}

func TestDBLogicalBlockSizeCacheTest_DestroyColumnFamilyHandle(t *testing.T) {
	x := newBlockSizeTest(t)
	o := cfOptions(x.cf0)
	db := x.open(x.dir)
	cf := x.create(db, o, "cf")
	all := map[string]int{x.dir: 1, x.cf0: 1}
	x.want(all)
	x.must(cf.Close())
	x.want(all)
	x.must(db.Close())
	x.want(nil)
	x.openBoth([]rocksdb.ColumnFamilyDescriptor{{Name: "cf", Options: o}}, func(_ *rocksdb.DB, cfs []*rocksdb.ColumnFamily) {
		x.want(all)
		for _, cf := range cfs {
			x.must(cf.Close())
		}
		x.want(all)
	})
}

func TestDBLogicalBlockSizeCacheTest_MultiDBWithDifferentPaths(t *testing.T) {
	x := newBlockSizeTest(t)
	x.must(x.fs.CreateDirIfMissing(x.dir, nil))
	db0 := x.open(x.data0)
	x.want(map[string]int{x.data0: 1})
	cf0 := x.create(db0, cfOptions(x.cf0), "cf")
	x.want(map[string]int{x.data0: 1, x.cf0: 1})
	db1 := x.open(x.data1)
	x.want(map[string]int{x.data0: 1, x.cf0: 1, x.data1: 1})
	cf1 := x.create(db1, cfOptions(x.cf1), "cf")
	x.want(map[string]int{x.data0: 1, x.cf0: 1, x.data1: 1, x.cf1: 1})
	x.must(cf0.Close())
	x.must(db0.Close())
	x.want(map[string]int{x.data1: 1, x.cf1: 1})
	x.must(cf1.Close())
	x.must(db1.Close())
	x.want(nil)
}

func TestDBLogicalBlockSizeCacheTest_MultiDBWithSamePaths(t *testing.T) {
	x := newBlockSizeTest(t)
	x.o.DBPaths = paths(x.data0)
	o := cfOptions(x.cf0)
	x.must(x.fs.CreateDirIfMissing(x.dir, nil))
	db0 := x.open(x.dir + "/db0")
	x.want(map[string]int{x.data0: 1})
	x.create(db0, o, "cf")
	x.want(map[string]int{x.data0: 1, x.cf0: 1})
	db1 := x.open(x.dir + "/db1")
	x.want(map[string]int{x.data0: 2, x.cf0: 1})
	x.create(db1, o, "cf")
	x.want(map[string]int{x.data0: 2, x.cf0: 2})
	x.must(db0.Close())
	x.want(map[string]int{x.data0: 1, x.cf0: 1})
	x.must(db1.Close())
	x.want(nil)
}
