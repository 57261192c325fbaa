//go:build syncpoint

// Port of db/db_test.cc (OpenFilesAsyncTest).

package db_test

import (
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/db/version"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

const (
	asyncOpenStart = "DBImpl::BGWorkAsyncFileOpen::Start"
	asyncOpenDone  = "DBImpl::BGWorkAsyncFileOpen:Done"
	asyncOpenFile  = "VersionBuilder::Rep::LoadTableHandlers::BeforeFindTable"
	// asyncTables is how many tables a family has.
	asyncTables = 4
)

// asyncOpenTest is a database whose tables are opened in the background.
type asyncOpenTest struct {
	*dbTest
	o            rocksdb.Options
	maxOpenFiles int
	readOnly     bool
}

func eachAsyncOpen(t *testing.T, f func(x *asyncOpenTest)) {
	for _, maxOpenFiles := range []int{-1, 10} {
		for _, readOnly := range []bool{false, true} {
			t.Run(fmt.Sprintf("max_open_files=%d,read_only=%t", maxOpenFiles, readOnly), func(t *testing.T) {
				x := &asyncOpenTest{dbTest: newDBTest(t), maxOpenFiles: maxOpenFiles, readOnly: readOnly}
				x.o = x.currentOptions()
				x.o.MaxOpenFiles, x.o.DisableAutoCompactions = maxOpenFiles, true
				f(x)
			})
		}
	}
}

func asyncKey(i int) string   { return fmt.Sprintf("key%04d", i) }
func asyncValue(i int) string { return fmt.Sprintf("value%04d", i) }

// fillTables makes asyncTables tables in each family, and closes.
func (x *asyncOpenTest) fillTables(families ...string) {
	x.Helper()
	x.destroyAndReopen(x.o)
	x.createAndReopenWithCF(families, x.o)
	for i := range asyncTables {
		for cf := range len(families) + 1 {
			x.mustPut(cf, asyncKey(i), asyncValue(i))
			x.flush(cf)
		}
	}
	x.close()
}

// openAsync opens all families and counts anew.
func (x *asyncOpenTest) openAsync() {
	x.Helper()
	x.o.OpenFilesAsync, x.o.SkipStatsUpdateOnDBOpen = true, true
	x.o.Statistics = rocksdb.NewStatistics()
	names, err := rocksdb.ListColumnFamilies(x.o.DBOptions, x.dir)
	x.must(err)
	if !x.readOnly {
		x.reopenWithColumnFamilies(names, x.o)
		return
	}
	x.close()
	x.db, x.cfs, err = rocksdb.OpenColumnFamiliesForReadOnly(x.dir, x.o.DBOptions, descriptors(names, []rocksdb.Options{x.o}), false)
	x.must(err)
}

// wantOpens says that every table was opened once, where all of them stay open.
func (x *asyncOpenTest) wantOpens() {
	x.Helper()
	if n := x.o.Statistics.GetTickerCount(rocksdb.NoFileOpens); n < asyncTables || x.maxOpenFiles == -1 && n > asyncTables {
		x.Errorf("%d opens of %d tables", n, asyncTables)
	}
}

// asyncRead is a way of reading: read looks at all keys, fail gives the error of
// reading the first.
type asyncRead struct {
	name, point string
	read        func(x *asyncOpenTest)
	fail        func(x *asyncOpenTest) error
}

var asyncReads = []asyncRead{
	{"get", "TableCache::Get::BeforeFindTable", func(x *asyncOpenTest) {
		for i := range asyncTables {
			if got := x.get(0, asyncKey(i)); got != asyncValue(i) {
				x.Errorf("%s is %q", asyncKey(i), got)
			}
		}
	}, func(x *asyncOpenTest) error {
		_, err := x.db.Get(nil, []byte(asyncKey(0)))
		return err
	}},
	{"multiget", "TableCache::MultiGet::BeforeFindTable", func(x *asyncOpenTest) {
		var keys []string
		for i := range asyncTables {
			keys = append(keys, asyncKey(i))
		}
		for i, got := range x.multiGet(0, nil, keys...) {
			if got != asyncValue(i) {
				x.Errorf("%s is %q", keys[i], got)
			}
		}
	}, func(x *asyncOpenTest) error {
		values, errs := make([]rocksdb.PinnableSlice, 1), make([]error, 1)
		x.cf(0).MultiGet(nil, [][]byte{[]byte(asyncKey(0))}, values, errs)
		return errs[0]
	}},
	{"iterator", "TableCache::NewIterator::BeforeFindTable", func(x *asyncOpenTest) {
		it := x.db.NewIterator(nil)
		defer it.Close()
		it.SeekToFirst()
		for i := range asyncTables {
			if !it.Valid() || string(it.Key()) != asyncKey(i) || string(it.Value()) != asyncValue(i) {
				x.Errorf("entry %d is %s: %v", i, iterStatus(it), it.Status())
				return
			}
			it.Next()
		}
		if it.Valid() || it.Status() != nil {
			x.Errorf("after the last: %s, %v", iterStatus(it), it.Status())
		}
	}, func(x *asyncOpenTest) error {
		it := x.db.NewIterator(nil)
		defer it.Close()
		it.SeekToFirst()
		return it.Status()
	}},
}

func TestOpenFilesAsyncTest_ConcurrentFileAccess(t *testing.T) {
	eachAsyncOpen(t, func(x *asyncOpenTest) {
		x.fillTables()
		for _, r := range asyncReads {
			x.openAsync()
			var wg sync.WaitGroup
			wg.Go(func() { r.read(x) })
			if !x.readOnly {
				wg.Go(func() {
					if err := x.db.CompactRange(nil, nil, nil); err != nil {
						x.Errorf("%s: %v", r.name, err)
					}
				})
			}
			wg.Wait()
			x.wantOpens()
			x.close()
		}
	})
}

// Reads come before the background job: they open the tables, and where all stay
// open the job finds them pinned.
func TestOpenFilesAsyncTest_AfterRead(t *testing.T) {
	const read, end = "OpenFilesAsyncTest::AfterRead", "OpenFilesAsyncTest::AfterRead::BeforeClose"
	eachAsyncOpen(t, func(x *asyncOpenTest) {
		x.fillTables()
		for _, r := range asyncReads {
			syncpoint.LoadDependency(syncpoint.Pair{Predecessor: read, Successor: asyncOpenFile},
				syncpoint.Pair{Predecessor: asyncOpenDone, Successor: end})
			var reads, opens atomic.Int32
			syncpoint.SetCallBack(r.point, func(arg any) {
				reads.Add(1)
				if x.maxOpenFiles == -1 && arg.(*version.FileDescriptor).PinnedReader() != nil {
					x.Errorf("%s: a table is open before it is read", r.name)
				}
			})
			syncpoint.SetCallBack(asyncOpenFile, func(arg any) {
				opens.Add(1)
				if x.maxOpenFiles == -1 && arg.(*version.FileMetaData).FD.PinnedReader() == nil {
					x.Errorf("%s: a table was read and is not pinned", r.name)
				}
			})
			syncpoint.EnableProcessing()
			x.openAsync()
			r.read(x)
			syncpoint.Process(read)
			syncpoint.Process(end)
			if reads.Load() < asyncTables || x.maxOpenFiles == -1 && opens.Load() != asyncTables {
				x.Errorf("%s: %d tables read, the job saw %d", r.name, reads.Load(), opens.Load())
			}
			x.wantOpens()
			syncpoint.Reset()
			x.close()
		}
	})
}

func TestOpenFilesAsyncTest_BeforeRead(t *testing.T) {
	const read = "OpenFilesAsyncTest::BeforeRead"
	eachAsyncOpen(t, func(x *asyncOpenTest) {
		x.fillTables()
		for _, r := range asyncReads {
			syncpoint.LoadDependency(syncpoint.Pair{Predecessor: asyncOpenDone, Successor: read})
			var opens atomic.Int32
			syncpoint.SetCallBack(r.point, func(arg any) {
				if x.maxOpenFiles == -1 && arg.(*version.FileDescriptor).PinnedReader() == nil {
					x.Errorf("%s: the job opened the table and it is not pinned", r.name)
				}
			})
			syncpoint.SetCallBack(asyncOpenFile, func(arg any) {
				opens.Add(1)
				if arg.(*version.FileMetaData).FD.PinnedReader() != nil {
					x.Errorf("%s: Open opened the table", r.name)
				}
			})
			syncpoint.EnableProcessing()
			x.openAsync()
			syncpoint.Process(read)
			r.read(x)
			if x.maxOpenFiles == -1 && opens.Load() != asyncTables {
				x.Errorf("%s: the job opened %d tables", r.name, opens.Load())
			}
			x.wantOpens()
			syncpoint.Reset()
			x.close()
		}
	})
}

func (x *asyncOpenTest) wantCreationTime(got uint64, err error) {
	x.Helper()
	if err != nil || got == 0 || got == math.MaxUint64 {
		x.Errorf("creation time %d, %v", got, err)
	}
}

func TestOpenFilesAsyncTest_GetCreationTimeOfOldestFileSkipsWaitForModernDB(t *testing.T) {
	eachAsyncOpen(t, func(x *asyncOpenTest) {
		if x.maxOpenFiles != -1 {
			return
		}
		x.fillTables()
		syncpoint.SetCallBack("DBImpl::WaitForAsyncFileOpen::BeforeWait", func(any) { x.Error("waits for the tables") })
		syncpoint.EnableProcessing()
		x.openAsync()
		x.wantCreationTime(x.db.GetCreationTimeOfOldestFile())
		x.close()
	})
}

// The MANIFEST of an old database does not say when tables were made.
func TestOpenFilesAsyncTest_GetCreationTimeOfOldestFileBlocksOnAsyncOpenForLegacyDB(t *testing.T) {
	eachAsyncOpen(t, func(x *asyncOpenTest) {
		if x.maxOpenFiles != -1 {
			return
		}
		x.fillTables()
		var done atomic.Bool
		syncpoint.SetCallBack(asyncOpenDone, func(any) { done.Store(true) })
		syncpoint.SetCallBack("Version::GetCreationTimeOfOldestFile::FileCreationTime", func(arg any) {
			if !done.Load() {
				*arg.(*uint64) = version.UnknownFileCreationTime
			}
		})
		syncpoint.LoadDependency(syncpoint.Pair{Predecessor: "DBImpl::WaitForAsyncFileOpen::BeforeWait", Successor: asyncOpenStart})
		syncpoint.EnableProcessing()
		x.openAsync()
		x.wantCreationTime(x.db.GetCreationTimeOfOldestFile())
		x.close()
	})
}

func TestOpenFilesAsyncTest_Shutdown(t *testing.T) {
	const end = "OpenFilesAsyncTest::Shutdown"
	eachAsyncOpen(t, func(x *asyncOpenTest) {
		x.fillTables()
		syncpoint.SetCallBack(asyncOpenFile, func(any) { x.Error("a table is opened while the database closes") })
		syncpoint.LoadDependency(syncpoint.Pair{Predecessor: "DBImpl::~DBImpl:WaitJob", Successor: asyncOpenStart},
			syncpoint.Pair{Predecessor: asyncOpenDone, Successor: end})
		syncpoint.EnableProcessing()
		x.openAsync()
		x.close()
		syncpoint.Process(end)
	})
}

func TestOpenFilesAsyncTest_Error(t *testing.T) {
	const read = "OpenFilesAsyncTest::Error"
	eachAsyncOpen(t, func(x *asyncOpenTest) {
		x.fillTables()
		for _, path := range x.files(rocksdb.TableFile) {
			x.flipBytes(path, 0, 100)
		}
		for _, r := range asyncReads {
			syncpoint.LoadDependency(syncpoint.Pair{Predecessor: asyncOpenDone, Successor: read})
			syncpoint.EnableProcessing()
			x.openAsync()
			syncpoint.Process(read)
			x.wantIs(x.full().TestGetBGError(), rocksdb.ErrCorruption)
			x.wantIs(r.fail(x), rocksdb.ErrCorruption)
			if err := x.db.Resume(); !errors.Is(err, rocksdb.ErrCorruption) {
				x.Errorf("Resume: %v", err)
			}
			syncpoint.Reset()
			x.close()
		}
		if n := x.countFiles(rocksdb.TableFile); n != asyncTables {
			x.Errorf("%d tables are left", n)
		}
	})
}

func TestOpenFilesAsyncTest_DropColumnFamily(t *testing.T) {
	const dropped, end = "OpenFilesAsyncTest::DropColumnFamily::AfterDrop", "OpenFilesAsyncTest::DropColumnFamily::BeforeClose"
	eachAsyncOpen(t, func(x *asyncOpenTest) {
		if x.readOnly {
			return
		}
		for _, r := range asyncReads {
			x.o.OpenFilesAsync = false
			x.fillTables("cf1")
			syncpoint.LoadDependency(syncpoint.Pair{Predecessor: dropped, Successor: asyncOpenStart},
				syncpoint.Pair{Predecessor: asyncOpenDone, Successor: end})
			syncpoint.EnableProcessing()
			x.openAsync()
			x.must(x.db.DropColumnFamily(x.cf(1)))
			x.cf(1).Close()
			x.cfs = x.cfs[:1]
			syncpoint.Process(dropped)
			r.read(x)
			syncpoint.Process(end)
			x.wantOpens()
			syncpoint.Reset()
			x.close()
		}
	})
}

// No upstream twin: what the option needs, and what it cannot have.
func TestOpenFilesAsync_Refused(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.OpenFilesAsync, o.SkipStatsUpdateOnDBOpen = true, false
	x.wantIs(x.tryReopen(o), rocksdb.ErrInvalidArgument)
	o.SkipStatsUpdateOnDBOpen, o.CompactionStyle = true, rocksdb.CompactionStyleFIFO
	x.wantIs(x.tryReopen(o), rocksdb.ErrNotSupported)
}
