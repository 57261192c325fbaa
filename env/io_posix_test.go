// Port of env/io_posix_test.cc.

package env

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

func wantInt(t *testing.T, got, want int) {
	t.Helper()
	if got != want {
		t.Fatalf("got %d, want %d", got, want)
	}
}

func noError(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// blockSizeCacheTest has a cache whose files are of size, and whose directories
// of dirs; calls counts the questions asked.
type blockSizeCacheTest struct {
	*logicalBlockSizeCache
	calls, size int
}

func newBlockSizeCacheTest(dirs map[string]int) *blockSizeCacheTest {
	c := &blockSizeCacheTest{}
	c.logicalBlockSizeCache = newLogicalBlockSizeCache(
		func(sysFile) int { c.calls++; return c.size },
		func(dir string) (int, error) { c.calls++; return dirs[dir], nil })
	return c
}

func (c *blockSizeCacheTest) check(t *testing.T, name string, size, want, calls int) {
	t.Helper()
	c.size = size
	wantInt(t, c.get(name, sysFile{}), want)
	wantInt(t, c.calls, calls)
}

func (c *blockSizeCacheTest) refs(dir string) int { return c.mu.entries[dir].refs }

func TestLogicalBlockSizeCacheTest_Cache(t *testing.T) {
	c := newBlockSizeCacheTest(map[string]int{"/": 0, "/db": 1, "/db1": 2, "/db2": 3})
	c.check(t, "/sst", 6, 6, 1)
	c.check(t, "/db/sst1", 7, 7, 2)
	c.check(t, "/db/sst2", 8, 8, 3)

	noError(t, c.refAndCache([]string{"/", "/db1/", "/db2"}))
	wantInt(t, len(c.mu.entries), 3)
	for _, d := range []string{"/", "/db1", "/db2"} {
		wantInt(t, c.refs(d), 1)
	}
	wantInt(t, c.calls, 6)
	c.check(t, "/sst", 6, 0, 6)
	c.check(t, "/db/sst1", 7, 7, 7)
	c.check(t, "/db/sst2", 8, 8, 8)
	c.check(t, "/db1/sst1", 4, 2, 8)
	c.check(t, "/db1/sst2", 5, 2, 8)
	c.check(t, "/db2/sst1", 6, 3, 8)
	c.check(t, "/db2/sst2", 7, 3, 8)

	noError(t, c.refAndCache([]string{"/db"}))
	wantInt(t, len(c.mu.entries), 4)
	wantInt(t, c.calls, 9)
	c.check(t, "/db/sst1", 7, 1, 9)
	c.check(t, "/db/sst2", 8, 1, 9)
}

func TestLogicalBlockSizeCacheTest_Ref(t *testing.T) {
	c := newBlockSizeCacheTest(map[string]int{"/db": 0})
	db := []string{"/db"}
	c.check(t, "/db/sst0", 1, 1, 1)
	noError(t, c.refAndCache(db))
	wantInt(t, c.refs("/db"), 1)
	c.check(t, "/db/sst1", 1, 0, 2)
	noError(t, c.refAndCache(db))
	wantInt(t, c.refs("/db"), 2)
	wantInt(t, c.calls, 2)
	c.unrefAndTryRemove(db)
	wantInt(t, c.refs("/db"), 1)
	c.check(t, "/db/sst2", 1, 0, 2)
	c.unrefAndTryRemove(db)
	wantInt(t, len(c.mu.entries), 0)
	c.check(t, "/db/sst0", 1, 1, 3)
}

func seekAfterTruncate(t *testing.T, first, size, second, want int) {
	fs := DefaultFileSystem()
	name := filepath.Join(t.TempDir(), "f")
	w, err := fs.NewWritableFile(name, nil)
	noError(t, err)
	noError(t, w.Append(make([]byte, first), nil))
	noError(t, w.Truncate(uint64(size), nil))
	noError(t, w.Append(make([]byte, second), nil))
	noError(t, w.Close(nil))
	n, err := fs.GetFileSize(name, nil)
	noError(t, err)
	wantInt(t, int(n), want)
}

func TestPosixWritableFileTest_SeekAfterTruncate(t *testing.T) {
	seekAfterTruncate(t, 16384, 4096, 4096, 8192)
}

func TestPosixWritableFileTest_SeekAfterExtend(t *testing.T) {
	seekAfterTruncate(t, 4096, 8192, 8192, 16384)
}

func TestPosixDirectoryTest_BtrfsFsyncFailedOpenDoesNotCloseInvalidFd(t *testing.T) {
	dir := t.TempDir()
	d, err := DefaultFileSystem().NewDirectory(dir, nil)
	noError(t, err)
	d.(*posixDirectory).btrfs = true
	err = d.FsyncWithDirOptions(nil, rocksdb.DirFsyncOptions{
		Reason: rocksdb.DirFsyncFileRenamed, RenamedNewName: dir + "/nonexistent_file"})
	if !rocksdb.IsIOError(err) || !strings.Contains(err.Error(), "open") || strings.Contains(err.Error(), "closing") {
		t.Fatalf("error %v", err)
	}
	// On Btrfs a new file needs nothing, a renamed one its own sync.
	noError(t, d.FsyncWithDirOptions(nil, rocksdb.DirFsyncOptions{Reason: rocksdb.DirFsyncNewFileSynced}))
	noError(t, os.WriteFile(dir+"/f", nil, 0o600))
	noError(t, d.FsyncWithDirOptions(nil, rocksdb.DirFsyncOptions{
		Reason: rocksdb.DirFsyncFileRenamed, RenamedNewName: dir + "/f"}))
	noError(t, d.Close(nil))
	noError(t, d.Close(nil))
	if d.Fsync(nil) == nil {
		t.Error("a closed directory was synced")
	}
}

// Upstream has no such case: where the queue of a device is found.
func TestQueueDirOf(t *testing.T) {
	for device, want := range map[string]string{
		"/sys/devices/block/sda":                        "/sys/devices/block/sda/queue",
		"/sys/devices/block/sda/sda3":                   "/sys/devices/block/sda/queue",
		"/sys/devices/pci/nvme/nvme0/nvme0n1":           "/sys/devices/pci/nvme/nvme0/nvme0n1/queue",
		"/sys/devices/pci/nvme/nvme0/nvme0n1/nvme0n1p1": "/sys/devices/pci/nvme/nvme0/nvme0n1/queue",
		"/sys/devices/virtual/block/dm-0/":              "/sys/devices/virtual/block/dm-0/queue",
	} {
		if got := queueDirOf(device); got != want {
			t.Errorf("%s: got %s, want %s", device, got, want)
		}
	}
}
