// Port of env/io_posix.cc (the calls that Linux has and others lack). Differs:
// read-ahead is asked for by fadvise, which has one form on all machines.

package env

import (
	"io"
	"io/fs"
	"math"
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

const (
	oDirect = unix.O_DIRECT

	zfsSuperMagic   = 0x2fc12fc1
	btrfsSuperMagic = 0x9123683E
	tmpfsMagic      = 0x01021994
	xfsSuperMagic   = 0x58465342
	ext4SuperMagic  = 0xEF53

	fSetRWHint = 1024 + 12
	// The kernel's _IOR('v', 1, long).
	fsIocGetVersion = 2<<30 | uint(unsafe.Sizeof(uintptr(0)))<<16 | 'v'<<8 | 1
)

// sysFile is an open file or directory. Its zero value is not one.
type sysFile struct{ fd int }

func openSys(name string, flags int, mode uint32, cloexec bool) (sysFile, error) {
	if cloexec {
		flags |= unix.O_CLOEXEC
	}
	for {
		fd, err := unix.Open(name, flags|unix.O_LARGEFILE, mode)
		if err != unix.EINTR {
			return sysFile{fd}, err
		}
	}
}

// openSysDir opens a directory for Fsync.
func openSysDir(name string) (sysFile, error) { return openSys(name, unix.O_RDONLY, 0, true) }

func (f sysFile) close() error {
	// The descriptor is gone even after EINTR.
	if err := unix.Close(f.fd); err != unix.EINTR {
		return err
	}
	return nil
}

// isEINTR is for loops that retry.
func isEINTR(err error) bool { return err == unix.EINTR }

func (f sysFile) read(p []byte) (int, error)                { return unix.Read(f.fd, p) }
func (f sysFile) pread(p []byte, off int64) (int, error)    { return unix.Pread(f.fd, p, off) }
func (f sysFile) write(p []byte) (int, error)               { return unix.Write(f.fd, p) }
func (f sysFile) pwrite(p []byte, off int64) (int, error)   { return unix.Pwrite(f.fd, p, off) }
func (f sysFile) seek(off int64, whence int) (int64, error) { return unix.Seek(f.fd, off, whence) }
func (f sysFile) ftruncate(size int64) error                { return unix.Ftruncate(f.fd, size) }
func (f sysFile) fsync() error                              { return unix.Fsync(f.fd) }
func (f sysFile) fdatasync() error                          { return unix.Fdatasync(f.fd) }
func (f sysFile) number() int                               { return f.fd }

func (f sysFile) size() (uint64, error) {
	var st unix.Stat_t
	if err := unix.Fstat(f.fd, &st); err != nil {
		return 0, err
	}
	return uint64(st.Size), nil
}

func (f sysFile) isDir() (bool, error) {
	var st unix.Stat_t
	if err := unix.Fstat(f.fd, &st); err != nil {
		return false, err
	}
	return st.Mode&unix.S_IFMT == unix.S_IFDIR, nil
}

func (f sysFile) fallocate(keepSize bool, off, length int64) error {
	var mode uint32
	if keepSize {
		mode = unix.FALLOC_FL_KEEP_SIZE
	}
	return unix.Fallocate(f.fd, mode, off, length)
}

// releaseTail gives back blocks beyond size that a truncation left allocated,
// as some file systems do. Failure harms nothing.
func (f sysFile) releaseTail(size, allocated int64) {
	var st unix.Stat_t
	if unix.Fstat(f.fd, &st) != nil || st.Blksize < 512 {
		return
	}
	blk := int64(st.Blksize)
	if (st.Size+blk-1)/blk != st.Blocks/(blk/512) && allocated > size {
		_ = unix.Fallocate(f.fd, unix.FALLOC_FL_KEEP_SIZE|unix.FALLOC_FL_PUNCH_HOLE, size, allocated-size)
	}
}

// isSyncFileRangeSupported is false where the call is known not to work: ZFS,
// whose writeback then is not asynchronous, and kernels without it.
func (f sysFile) isSyncFileRangeSupported() bool {
	return f.fsType() != zfsSuperMagic && unix.SyncFileRange(f.fd, 0, 0, 0) != unix.ENOSYS
}

// syncFileRange starts writing back; strict waits first for what was begun
// before, over all of the file up to the range's end.
func (f sysFile) syncFileRange(off, n int64, strict bool) error {
	if strict {
		return unix.SyncFileRange(f.fd, 0, off+n, unix.SYNC_FILE_RANGE_WAIT_BEFORE|unix.SYNC_FILE_RANGE_WRITE)
	}
	return unix.SyncFileRange(f.fd, off, n, unix.SYNC_FILE_RANGE_WRITE)
}

func (f sysFile) dropCache(off, n int64) error {
	return unix.Fadvise(f.fd, off, n, unix.FADV_DONTNEED)
}

func (f sysFile) readahead(off, n int64) error {
	return unix.Fadvise(f.fd, off, n, unix.FADV_WILLNEED)
}

func (f sysFile) advise(p rocksdb.AccessPattern) {
	advice := [...]int{unix.FADV_NORMAL, unix.FADV_RANDOM, unix.FADV_SEQUENTIAL, unix.FADV_WILLNEED, unix.FADV_DONTNEED}
	if int(p) < len(advice) {
		_ = unix.Fadvise(f.fd, 0, 0, advice[p])
	}
}

func madvise(b []byte, p rocksdb.AccessPattern) {
	// Not DONTNEED: the POSIX form of it does nothing here.
	advice := [...]int{unix.MADV_NORMAL, unix.MADV_RANDOM, unix.MADV_SEQUENTIAL, unix.MADV_WILLNEED}
	if int(p) < len(advice) {
		_ = unix.Madvise(b, advice[p])
	}
}

func (f sysFile) setWriteHint(hint rocksdb.WriteLifeTimeHint) bool {
	v := uint64(hint)
	_, _, errno := unix.Syscall(unix.SYS_FCNTL, uintptr(f.fd), fSetRWHint, uintptr(unsafe.Pointer(&v)))
	return errno == 0
}

// uniqueID is device, inode and generation as varints; 0 when the file system
// has no generations.
func (f sysFile) uniqueID(id []byte) int {
	if len(id) < 3*util.MaxVarint64Length {
		return 0
	}
	var st unix.Stat_t
	if unix.Fstat(f.fd, &st) != nil {
		return 0
	}
	version, err := unix.IoctlGetInt(f.fd, fsIocGetVersion)
	if err != nil {
		return 0
	}
	out := util.AppendVarint64(id[:0], uint64(st.Dev))
	out = util.AppendVarint64(out, st.Ino)
	return len(util.AppendVarint64(out, uint64(version)))
}

func (f sysFile) supportsFastAllocate() bool {
	switch f.fsType() {
	case ext4SuperMagic, xfsSuperMagic, tmpfsMagic:
		return true
	}
	return false
}

func (f sysFile) isBtrfs() bool { return f.fsType() == btrfsSuperMagic }

// inMemory tells of a file system without a device behind it.
func (f sysFile) inMemory() bool { return f.fsType() == tmpfsMagic }

// fsType is the file system's magic number, 0 when it is not known.
func (f sysFile) fsType() uint32 {
	var st unix.Statfs_t
	if unix.Fstatfs(f.fd, &st) != nil {
		return 0
	}
	return uint32(st.Type)
}

// deviceOf gives the numbers of the device the file is on.
func (f sysFile) deviceOf() (major, minor uint32, ok bool) {
	var st unix.Stat_t
	if unix.Fstat(f.fd, &st) != nil {
		return 0, 0, false
	}
	return unix.Major(uint64(st.Dev)), unix.Minor(uint64(st.Dev)), true
}

func (f sysFile) mmap(off int64, length uint64, writable bool) ([]byte, error) {
	if length > math.MaxInt {
		return nil, unix.ENOMEM
	}
	prot := unix.PROT_READ
	if writable {
		prot |= unix.PROT_WRITE
	}
	return unix.Mmap(f.fd, off, int(length), prot, unix.MAP_SHARED)
}

func munmap(b []byte) error { return unix.Munmap(b) }

func msync(b []byte) error { return unix.Msync(b, unix.MS_SYNC) }

// lock takes or gives up a write lock on the whole file; it does not wait.
func (f sysFile) lock(take bool) error {
	typ := int16(unix.F_UNLCK)
	if take {
		typ = unix.F_WRLCK
	}
	return unix.FcntlFlock(uintptr(f.fd), unix.F_SETLK, &unix.Flock_t{Type: typ, Whence: int16(io.SeekStart)})
}

func freeSpace(path string) (uint64, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(path, &st); err != nil {
		return 0, err
	}
	// The root user may use the reserve.
	if os.Geteuid() == 0 {
		return uint64(st.Bsize) * st.Bfree, nil
	}
	return uint64(st.Bsize) * st.Bavail, nil
}

func access(name string) error { return unix.Access(name, unix.F_OK) }

func numLinks(fi fs.FileInfo) uint64 {
	if st, ok := fi.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Nlink)
	}
	return 1
}

// threadID is the kernel's number of the thread that runs the caller.
func threadID() uint64 { return uint64(unix.Gettid()) }

// unlink and rmdir do not try each other, as os.Remove would.
func unlink(name string) error { return unix.Unlink(name) }

func rmdir(name string) error { return unix.Rmdir(name) }
