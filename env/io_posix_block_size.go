// Port of env/io_posix.{h,cc} (PosixHelper, LogicalBlockSizeCache).

package env

import (
	"fmt"
	"math/bits"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

const (
	logicalBlockSizeFile = "logical_block_size"
	maxSectorsKBFile     = "max_sectors_kb"
	defaultMaxSectorsKB  = 2 * 1024
)

// queueDirOf finds the directory of a device's queue settings under /sys,
// given the device's real path there: a partition has none of its own, its
// disk, the parent directory, has. A disk's parent is "block", but an NVMe
// disk's is the controller: nvme0n1 is a disk, nvme0n1p1 a partition.
func queueDirOf(device string) string {
	device = strings.TrimSuffix(device, "/")
	parent, child := filepath.Base(filepath.Dir(device)), filepath.Base(device)
	if parent != "block" && (!strings.HasPrefix(child, "nvme") || strings.Contains(child, "p")) {
		device = filepath.Dir(device)
	}
	return device + "/queue"
}

// queueSetting reads a number of the queue of the device that f is on; 0 when
// it cannot be known.
func queueSetting(f sysFile, setting string) uint64 {
	major, minor, ok := f.deviceOf()
	if !ok || major == 0 { // 0: not a device
		return 0
	}
	device, err := filepath.EvalSymlinks(fmt.Sprintf("/sys/dev/block/%d:%d", major, minor))
	if err != nil || strings.Count(device, "/") < 2 {
		return 0
	}
	data, err := os.ReadFile(queueDirOf(device) + "/" + setting)
	if err != nil {
		return 0
	}
	n, err := strconv.ParseUint(strings.TrimSpace(string(data)), 10, 32)
	if err != nil {
		return 0
	}
	return n
}

// logicalBlockSizeOf is the alignment that direct I/O on f needs, in bytes.
func logicalBlockSizeOf(f sysFile) int {
	if n := queueSetting(f, logicalBlockSizeFile); bits.OnesCount64(n) == 1 {
		return int(n)
	}
	return rocksdb.DefaultPageSize
}

func maxSectorsKBOf(f sysFile) int {
	if n := queueSetting(f, maxSectorsKBFile); n != 0 {
		return int(n)
	}
	return defaultMaxSectorsKB
}

func ofDirectory(dir string, of func(sysFile) int) (int, error) {
	f, err := openSysDir(dir)
	if err != nil {
		return 0, rocksdb.IOError("Cannot open directory " + dir).Wrap(err)
	}
	n := of(f)
	_ = f.close()
	return n, nil
}

// logicalBlockSizeCache remembers the block sizes of databases' directories,
// by the counts of databases that use them.
type logicalBlockSizeCache struct {
	sizeOfFile func(sysFile) int
	sizeOfDir  func(dir string) (int, error)

	mu struct {
		sync.RWMutex
		entries map[string]*blockSizeEntry
	}
}

type blockSizeEntry struct{ size, refs int }

func newLogicalBlockSizeCache(sizeOfFile func(sysFile) int, sizeOfDir func(string) (int, error)) *logicalBlockSizeCache {
	c := &logicalBlockSizeCache{sizeOfFile: sizeOfFile, sizeOfDir: sizeOfDir}
	c.mu.entries = map[string]*blockSizeEntry{}
	return c
}

func cleanDir(dir string) string {
	if len(dir) > 1 {
		return strings.TrimSuffix(dir, "/")
	}
	return dir
}

// refAndCache counts one more use of each directory. When one cannot be asked
// for its size, none is counted.
func (c *logicalBlockSizeCache) refAndCache(dirs []string) error {
	fresh := map[string]int{}
	c.mu.RLock()
	for _, d := range dirs {
		if d = cleanDir(d); c.mu.entries[d] == nil {
			fresh[d] = 0
		}
	}
	c.mu.RUnlock()
	for d := range fresh {
		size, err := c.sizeOfDir(d)
		if err != nil {
			return err
		}
		fresh[d] = size
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, d := range dirs {
		d = cleanDir(d)
		e := c.mu.entries[d]
		if e == nil {
			size, known := fresh[d]
			if !known {
				// Another database let go of it meanwhile.
				var err error
				if size, err = c.sizeOfDir(d); err != nil {
					size = rocksdb.DefaultPageSize
				}
			}
			e = &blockSizeEntry{size: size}
			c.mu.entries[d] = e
		}
		e.refs++
	}
	return nil
}

// unrefAndTryRemove counts one less; what is no longer used is forgotten.
func (c *logicalBlockSizeCache) unrefAndTryRemove(dirs []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, d := range dirs {
		d = cleanDir(d)
		if e := c.mu.entries[d]; e != nil {
			if e.refs--; e.refs == 0 {
				delete(c.mu.entries, d)
			}
		}
	}
}

// get is the block size for a file, asked of the file itself when its
// directory is not in the cache.
func (c *logicalBlockSizeCache) get(name string, f sysFile) int {
	dir := name
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		dir = name[:i]
	}
	if dir == "" {
		dir = "/"
	}
	c.mu.RLock()
	e := c.mu.entries[dir]
	size := 0
	if e != nil {
		size = e.size
	}
	c.mu.RUnlock()
	if e != nil {
		return size
	}
	return c.sizeOfFile(f)
}
