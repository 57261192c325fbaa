// Port of file/delete_scheduler_test.cc. Differs: a file system that counts and
// holds deletions stands for sync points, a clock that notes deadlines for the
// penalties.

package file_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rocksdb-go/rocksdb/env"
	"github.com/rocksdb-go/rocksdb/file"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/monitoring"
)

// trashFS counts what happens to trash, and holds deletions of it.
type trashFS struct {
	rocksdb.FileSystemWrapper
	mu                        sync.Mutex
	bgDeletes, fgDeletes      int
	truncates, syncs, dirSync int
	hold                      func(name string) // before each deletion of trash
}

func (f *trashFS) count(n *int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	*n++
}

func (f *trashFS) get(n *int) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return *n
}

func (f *trashFS) DeleteFile(name string, opts *rocksdb.IOOptions) error {
	if !file.IsTrashFile(name) {
		f.count(&f.fgDeletes)
		return f.FileSystem.DeleteFile(name, opts)
	}
	if f.hold != nil {
		f.hold(name)
	}
	f.count(&f.bgDeletes)
	return f.FileSystem.DeleteFile(name, opts)
}

type trashWriter struct {
	rocksdb.FSWritableFileWrapper
	fs *trashFS
}

func (w *trashWriter) Truncate(size uint64, opts *rocksdb.IOOptions) error {
	w.fs.count(&w.fs.truncates)
	return w.FSWritableFile.Truncate(size, opts)
}

func (w *trashWriter) Fsync(opts *rocksdb.IOOptions) error {
	w.fs.count(&w.fs.syncs)
	return w.FSWritableFile.Fsync(opts)
}

func (f *trashFS) ReopenWritableFile(name string, opts *rocksdb.FileOptions) (rocksdb.FSWritableFile, error) {
	w, err := f.FileSystem.ReopenWritableFile(name, opts)
	return &trashWriter{rocksdb.FSWritableFileWrapper{FSWritableFile: w}, f}, err
}

type trashDir struct {
	rocksdb.FSDirectoryWrapper
	fs *trashFS
}

func (d *trashDir) FsyncWithDirOptions(opts *rocksdb.IOOptions, o rocksdb.DirFsyncOptions) error {
	d.fs.count(&d.fs.dirSync)
	return d.FSDirectory.FsyncWithDirOptions(opts, o)
}

func (f *trashFS) NewDirectory(name string, opts *rocksdb.IOOptions) (rocksdb.FSDirectory, error) {
	d, err := f.FileSystem.NewDirectory(name, opts)
	return &trashDir{rocksdb.FSDirectoryWrapper{FSDirectory: d}, f}, err
}

// penaltyClock stands at 0 and notes the deadlines waited for, which it meets
// at once.
type penaltyClock struct {
	rocksdb.SystemClockWrapper
	mu        sync.Mutex
	penalties []uint64
}

func (c *penaltyClock) Name() string      { return "penaltyClock" }
func (c *penaltyClock) NowMicros() uint64 { return 0 }
func (c *penaltyClock) TimedWait(_ <-chan struct{}, deadline uint64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.penalties = append(c.penalties, deadline)
	return true
}

type deleteTest struct {
	*testing.T
	fs    *trashFS
	clock *penaltyClock
	dirs  []string
	sfm   *file.SstFileManagerImpl
	d     *file.DeleteScheduler
	stats *monitoring.StatisticsImpl
}

// newDeleteTest makes a scheduler; a nil clock is replaced by a penaltyClock.
func newDeleteTest(t *testing.T, rate int64, clock rocksdb.SystemClock) *deleteTest {
	x := &deleteTest{T: t, stats: monitoring.NewStatisticsImpl(nil)}
	x.fs = &trashFS{FileSystemWrapper: rocksdb.FileSystemWrapper{FileSystem: env.DefaultFileSystem()}}
	for range 3 {
		x.dirs = append(x.dirs, t.TempDir())
	}
	if clock == nil {
		x.clock = &penaltyClock{SystemClockWrapper: rocksdb.SystemClockWrapper{Target: rocksdb.DefaultSystemClock()}}
		clock = x.clock
	}
	x.sfm = file.NewSstFileManagerImpl(clock, x.fs, nil, rate, 1.1, 128*1024)
	x.d = x.sfm.DeleteScheduler()
	x.sfm.SetStatisticsPtr(x.stats)
	t.Cleanup(x.sfm.Close)
	return x
}

// holdTrash holds deletions until the returned function is called.
func (x *deleteTest) holdTrash() (release func()) {
	gate := make(chan struct{})
	x.fs.hold = func(string) { <-gate }
	release = sync.OnceFunc(func() { close(gate) })
	x.Cleanup(release)
	return release
}

func (x *deleteTest) files(dir int) (normal, trash int) {
	x.Helper()
	names, err := x.fs.GetChildren(x.dirs[dir], nil)
	ok(x.T, err)
	for _, name := range names {
		if file.IsTrashFile(name) {
			trash++
		} else {
			normal++
		}
	}
	return normal, trash
}

func (x *deleteTest) wantFiles(dir, normal, trash int) {
	x.Helper()
	n, tr := x.files(dir)
	eq(x.T, [2]int{n, tr}, [2]int{normal, trash})
}

func (x *deleteTest) newFile(name string, size, dir int, track bool) string {
	x.Helper()
	path := filepath.Join(x.dirs[dir], name)
	ok(x.T, rocksdb.WriteStringToFile(env.DefaultFileSystem(), make([]byte, size), path, false, nil, nil))
	if track {
		ok(x.T, x.sfm.OnAddFile(path))
	}
	return path
}

func (x *deleteTest) newFiles(n, size int, track bool) (paths []string) {
	for i := range n {
		paths = append(paths, x.newFile(fmt.Sprintf("file%d.data", i), size, 0, track))
	}
	return paths
}

// wantTicks checks the counters and resets them.
func (x *deleteTest) wantTicks(marked, fromTrash, immediately int) {
	x.Helper()
	got := [3]int{
		int(x.stats.GetAndResetTickerCount(rocksdb.FilesMarkedTrash)),
		int(x.stats.GetAndResetTickerCount(rocksdb.FilesDeletedFromTrashQueue)),
		int(x.stats.GetAndResetTickerCount(rocksdb.FilesDeletedImmediately)),
	}
	eq(x.T, got, [3]int{marked, fromTrash, immediately})
}

func (x *deleteTest) wantPenalties(n, size int, rate int64) {
	x.Helper()
	eq(x.T, len(x.clock.penalties), n)
	for i, p := range x.clock.penalties {
		eq(x.T, p, uint64((i+1)*size)*1000000/uint64(rate))
	}
}

func TestDeleteSchedulerTest_BasicRateLimiting(t *testing.T) {
	for _, kb := range []int64{512, 200, 100, 50, 25} {
		x := newDeleteTest(t, kb*1024, nil)
		release := x.holdTrash()
		paths := x.newFiles(100, 1024, true)
		for _, p := range paths {
			ok(t, x.d.DeleteFile(p, x.dirs[0], false))
		}
		x.wantFiles(0, 0, 100)
		eq(t, x.d.GetTotalTrashSize(), 100*1024)
		release()
		x.d.WaitForEmptyTrash()
		eq(t, len(x.d.GetBackgroundErrors()), 0)
		x.wantPenalties(100, 1024, kb*1024)
		eq(t, x.fs.get(&x.fs.dirSync), 100)
		x.wantFiles(0, 0, 0)
		x.wantTicks(100, 100, 0)
		eq(t, x.d.GetTotalTrashSize(), 0)
		eq(t, x.sfm.GetTotalSize(), 0)
	}
}

func TestDeleteSchedulerTest_MultiDirectoryDeletionsScheduled(t *testing.T) {
	x := newDeleteTest(t, 1<<20, nil)
	release := x.holdTrash()
	for i := range x.dirs {
		p := x.newFile("file", 1024, i, true)
		x.wantFiles(i, 1, 0)
		ok(t, x.d.DeleteFile(p, "", false))
		x.wantFiles(i, 0, 1)
	}
	release()
	x.d.WaitForEmptyTrash()
	for i := range x.dirs {
		x.wantFiles(i, 0, 0)
	}
	x.wantTicks(len(x.dirs), len(x.dirs), 0)
}

func TestDeleteSchedulerTest_RateLimitingMultiThreaded(t *testing.T) {
	x := newDeleteTest(t, 100*1024, nil)
	release := x.holdTrash()
	paths := x.newFiles(100, 1024, true)
	var wg sync.WaitGroup
	for i := range 10 {
		wg.Go(func() {
			for _, p := range paths[i*10 : i*10+10] {
				if err := x.d.DeleteFile(p, "", false); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	release()
	x.d.WaitForEmptyTrash()
	eq(t, len(x.d.GetBackgroundErrors()), 0)
	x.wantPenalties(100, 1024, 100*1024)
	x.wantFiles(0, 0, 0)
	x.wantTicks(100, 100, 0)
}

func TestDeleteSchedulerTest_DisableRateLimiting(t *testing.T) {
	x := newDeleteTest(t, 0, nil)
	for range 10 {
		p := x.newFile("dummy.data", 1024, 0, true)
		ok(t, x.d.DeleteFile(p, "", false))
		eq(t, rocksdb.IsNotFound(x.fs.FileExists(p, nil)), true)
		x.wantFiles(0, 0, 0)
	}
	eq(t, x.fs.get(&x.fs.bgDeletes), 0)
	x.wantTicks(0, 0, 10)
	if x.d.NewTrashBucket() != nil {
		t.Error("a bucket without a rate")
	}
}

func TestDeleteSchedulerTest_ConflictNames(t *testing.T) {
	x := newDeleteTest(t, 1<<20, nil)
	release := x.holdTrash()
	for range 10 {
		ok(t, x.d.DeleteFile(x.newFile("conflict.data", 1024, 0, true), "", false))
	}
	x.wantFiles(0, 0, 10)
	release()
	x.d.WaitForEmptyTrash()
	x.wantFiles(0, 0, 0)
	eq(t, len(x.d.GetBackgroundErrors()), 0)
	x.wantTicks(10, 10, 0)
}

func TestDeleteSchedulerTest_BackgroundError(t *testing.T) {
	x := newDeleteTest(t, 1<<20, nil)
	release := x.holdTrash()
	for _, p := range x.newFiles(10, 1024, true) {
		ok(t, x.d.DeleteFile(p, "", false))
	}
	x.wantFiles(0, 0, 10)
	for i := range 10 {
		ok(t, env.DefaultFileSystem().DeleteFile(fmt.Sprintf("%s/file%d.data.trash", x.dirs[0], i), nil))
	}
	release()
	x.d.WaitForEmptyTrash()
	errs := x.d.GetBackgroundErrors()
	eq(t, len(errs), 10)
	for _, err := range errs {
		eq(t, rocksdb.IsPathNotFound(err), true)
	}
}

func TestDeleteSchedulerTest_StartBGEmptyTrashMultipleTimes(t *testing.T) {
	x := newDeleteTest(t, 1<<20, nil)
	x.sfm.SetMaxTrashDBRatio(11)
	for run := 1; run <= 5; run++ {
		for _, p := range x.newFiles(10, 1024, true) {
			ok(t, x.d.DeleteFile(p, "", false))
		}
		x.d.WaitForEmptyTrash()
		eq(t, x.fs.get(&x.fs.bgDeletes), 10*run)
		x.wantFiles(0, 0, 0)
		eq(t, len(x.d.GetBackgroundErrors()), 0)
		x.wantTicks(10, 10, 0)
	}
}

func TestDeleteSchedulerTest_DeletePartialFile(t *testing.T) {
	x := newDeleteTest(t, 1<<20, nil)
	ok(t, x.d.DeleteFile(x.newFile("data_1", 500*1024, 0, true), "", false)) // in 4 steps
	ok(t, x.d.DeleteFile(x.newFile("data_2", 100*1024, 0, true), "", true))
	ok(t, x.d.DeleteFile(x.newFile("data_2", 200*1024, 0, true), "", true)) // in 2
	x.d.WaitForEmptyTrash()
	eq(t, len(x.d.GetBackgroundErrors()), 0)
	eq(t, [3]int{x.fs.get(&x.fs.bgDeletes), x.fs.get(&x.fs.truncates), x.fs.get(&x.fs.syncs)}, [3]int{3, 4, 4})
	eq(t, x.d.GetTotalTrashSize(), 0)
}

func TestDeleteSchedulerTest_NoPartialDeleteWithLink(t *testing.T) {
	x := newDeleteTest(t, 1<<20, nil)
	for _, size := range []int{500, 100} {
		p := x.newFile(fmt.Sprint("data_", size), size*1024, 0, true)
		ok(t, x.fs.LinkFile(p, p+"b", nil))
		ok(t, x.d.DeleteFile(p, "", false))
	}
	x.d.WaitForEmptyTrash()
	eq(t, len(x.d.GetBackgroundErrors()), 0)
	eq(t, [2]int{x.fs.get(&x.fs.bgDeletes), x.fs.get(&x.fs.syncs)}, [2]int{2, 0})
	x.wantFiles(0, 2, 0)
}

func TestDeleteSchedulerTest_DestructorWithNonEmptyQueue(t *testing.T) {
	x := newDeleteTest(t, 1, rocksdb.DefaultSystemClock())
	for _, p := range x.newFiles(100, 1024, true) {
		ok(t, x.d.DeleteFile(p, "", false))
	}
	x.sfm.Close() // deleting would take a day
	_, trash := x.files(0)
	if trash == 0 || x.fs.get(&x.fs.bgDeletes) >= 100 {
		t.Errorf("%d files of trash left", trash)
	}
	// The next process cleans up.
	ok(t, file.CleanupDirectory(x.fs, nil, x.dirs[0]))
	x.wantFiles(0, 0, 0)
}

func TestDeleteSchedulerTest_ImmediateDeleteOn25PercDBSize(t *testing.T) {
	x := newDeleteTest(t, 1, rocksdb.DefaultSystemClock())
	x.d.SetMaxTrashDBRatio(0.25)
	x.holdTrash()
	for _, p := range x.newFiles(100, 10*1024, true) {
		ok(t, x.d.DeleteFile(p, "", false))
	}
	eq(t, x.fs.get(&x.fs.fgDeletes), 74)
	x.wantTicks(26, 0, 74)
}

func TestDeleteSchedulerTest_IsTrashCheck(t *testing.T) {
	for _, name := range []string{"x.trash", ".trash", "abc.sst.trash", "/a/b/c/abc..sst.trash", "log.trash", "^^^^^.log.trash", "abc.t.trash"} {
		eq(t, file.IsTrashFile(name), true)
	}
	for _, name := range []string{"abc.sst", "abc.txt", "/a/b/c/abc.sst", "/a/b/c/abc.sstrash", "^^^^^.trashh", "abc.ttrash", ".ttrash", "abc.trashx"} {
		eq(t, file.IsTrashFile(name), false)
	}
}

func TestDeleteSchedulerTest_DeleteAccountedAndUnaccountedFiles(t *testing.T) {
	x := newDeleteTest(t, 1<<20, nil)
	for i, p := range x.newFiles(100, 1024, false) {
		if i%2 == 1 {
			x.sfm.OnAddFileWithSize(p, 1024)
			ok(t, x.d.DeleteFile(p, "", false))
		} else {
			ok(t, x.d.DeleteUnaccountedFile(p, "", false, nil))
		}
	}
	x.d.WaitForEmptyTrash()
	eq(t, x.d.GetTotalTrashSize(), 0)
	eq(t, x.sfm.GetTotalSize(), 0)
	x.wantFiles(0, 0, 0)
}

func TestDeleteSchedulerTest_ConcurrentlyDeleteUnaccountedFilesInBuckets(t *testing.T) {
	x := newDeleteTest(t, 1<<20, nil)
	paths := x.newFiles(500, 1024, false)
	var wg sync.WaitGroup
	for i := range 10 {
		wg.Go(func() {
			bucket := x.d.NewTrashBucket()
			for _, p := range paths[i*50 : i*50+50] {
				if err := x.d.DeleteUnaccountedFile(p, "", false, bucket); err != nil {
					t.Error(err)
				}
			}
			x.d.WaitForEmptyTrashBucket(*bucket)
		})
	}
	wg.Wait()
	eq(t, x.d.GetTotalTrashSize(), 0)
	x.wantTicks(500, 500, 0)
	eq(t, [2]int{x.fs.get(&x.fs.fgDeletes), x.fs.get(&x.fs.bgDeletes)}, [2]int{0, 500})
	x.d.WaitForEmptyTrashBucket(9)   // gone
	x.d.WaitForEmptyTrashBucket(100) // never was
	eq(t, *x.d.NewTrashBucket(), 10)
	x.d.WaitForEmptyTrashBucket(10)
}

func TestDeleteSchedulerTest_ImmediatelyDeleteUnaccountedFilesWithRemainingLinks(t *testing.T) {
	x := newDeleteTest(t, 1<<20, nil)
	for _, size := range []int{500, 100} {
		p := x.newFile(fmt.Sprint("data_", size), size*1024, 0, false)
		ok(t, x.fs.LinkFile(p, p+"b", nil))
		ok(t, x.d.DeleteUnaccountedFile(p, "", false, nil))
	}
	x.d.WaitForEmptyTrash()
	eq(t, [2]int{x.fs.get(&x.fs.fgDeletes), x.fs.get(&x.fs.bgDeletes)}, [2]int{2, 0})
	x.wantTicks(0, 0, 2)
}

func TestDeleteSchedulerTest_BucketSignalOnSingleFileCompletion(t *testing.T) {
	x := newDeleteTest(t, 1<<20, nil)
	gates := map[string]chan struct{}{"f0": make(chan struct{}), "f1": make(chan struct{})}
	x.fs.hold = func(name string) {
		for f, gate := range gates {
			if strings.Contains(name, f) {
				<-gate
			}
		}
	}
	b0, b1 := x.d.NewTrashBucket(), x.d.NewTrashBucket()
	ok(t, x.d.DeleteUnaccountedFile(x.newFile("f0", 1024, 0, false), "", false, b0))
	ok(t, x.d.DeleteUnaccountedFile(x.newFile("f1", 1024, 0, false), "", false, b1))
	done := make(chan struct{})
	go func() {
		x.d.WaitForEmptyTrashBucket(*b0)
		close(done)
	}()
	close(gates["f0"])
	select {
	case <-done: // though f1 is pending
	case <-time.After(20 * time.Second):
		t.Error("the first bucket's waiter was not woken")
	}
	close(gates["f1"])
	x.d.WaitForEmptyTrashBucket(*b1)
}

// The cases below are not upstream's; its database tests cover them.

func TestSstFileManager_Space(t *testing.T) {
	m := file.NewSstFileManager(env.Default(), nil, nil, 0, file.DefaultMaxTrashDBRatio, file.DefaultBytesMaxDeleteChunk)
	defer m.Close()
	m.OnAddFileWithSize("/a", 100)
	m.OnAddFileWithSize("/a", 60)
	m.OnAddFileWithSize("/b", 40)
	eq(t, m.OnMoveFile("/b", "/c"), 40)
	eq(t, m.GetTotalSize(), 100)
	files := m.GetTrackedFiles()
	eq(t, len(files), 2)
	eq(t, files["/c"], 40)
	eq(t, m.IsMaxAllowedSpaceReached(), false)
	m.SetMaxAllowedSpaceUsage(150)
	eq(t, m.IsMaxAllowedSpaceReached(), false)
	eq(t, m.EnoughRoomForCompaction(60, "/a", nil), false)
	eq(t, m.EnoughRoomForCompaction(50, "/a", nil), true)
	eq(t, m.GetCompactionsReservedSize(), 50)
	eq(t, m.IsMaxAllowedSpaceReachedIncludingCompactions(), true)
	m.OnCompactionCompletion(50)
	m.SetCompactionBufferSize(30)
	eq(t, m.EnoughRoomForCompaction(30, "/a", nil), false)
	eq(t, m.EnoughRoomForCompaction(20, "/a", nil), true)
	m.OnUntrackFile("/a")
	m.OnDeleteFile("/c")
	eq(t, m.GetTotalSize(), 0)
}

// recoverer recovers at the n-th attempt.
type recoverer struct {
	mu    sync.Mutex
	left  int
	done  chan struct{}
	bgErr error
}

func (r *recoverer) RecoverFromBGError() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.left--; r.left > 0 {
		return rocksdb.NoSpace("still")
	}
	r.bgErr = nil
	close(r.done)
	return nil
}

func (r *recoverer) GetBGError() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.bgErr
}

func TestSstFileManager_ErrorRecovery(t *testing.T) {
	clock := &penaltyClock{SystemClockWrapper: rocksdb.SystemClockWrapper{Target: rocksdb.DefaultSystemClock()}}
	m := file.NewSstFileManagerImpl(clock, env.DefaultFileSystem(), nil, 0, 0.25, 0)
	defer m.Close()
	m.ReserveDiskBuffer(1, t.TempDir())
	full := rocksdb.NoSpace("full").WithSeverity(rocksdb.SeverityHardError)
	for range 2 {
		a := &recoverer{left: 3, done: make(chan struct{}), bgErr: full}
		b := &recoverer{left: 1, done: make(chan struct{}), bgErr: full}
		m.StartErrorRecovery(a, full)
		m.StartErrorRecovery(a, full)
		m.StartErrorRecovery(b, full)
		<-a.done
		<-b.done
	}
	never := &recoverer{left: 1 << 30, done: make(chan struct{}), bgErr: full}
	eq(t, m.CancelErrorRecovery(never), false)
}

func TestDeleteSchedulerTest_DISABLED_DynamicRateLimiting1(t *testing.T) {
	const files, size = 10, 1024
	x := newDeleteTest(t, 0, nil)
	for _, kb := range []int64{512, 200, 0, 100, 50, -2, 25} {
		rate := kb * 1024
		x.d.SetRateBytesPerSecond(rate)
		x.clock.penalties, x.fs.hold = nil, nil
		release := func() {}
		if rate > 0 {
			release = x.holdTrash()
		}
		for _, p := range x.newFiles(files, size, true) {
			ok(t, x.d.DeleteFile(p, "", false))
		}
		release()
		x.d.WaitForEmptyTrash()
		eq(t, len(x.d.GetBackgroundErrors()), 0)
		x.wantFiles(0, 0, 0)
		if rate > 0 {
			x.wantPenalties(files, size, rate)
			x.wantTicks(files, files, 0)
		} else {
			x.wantPenalties(0, size, 1)
			x.wantTicks(0, 0, files)
		}
	}
}
