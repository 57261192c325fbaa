// Port of env/io_posix.{h,cc}. Differs: a sequential file is not buffered, its
// readers bring large buffers; a mapping is trimmed with the other files.
// MultiRead is in io_posix_multi_read.go, ReadAsync in async_read.go.

package env

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// IOErrorMsg is a context followed by a file's name, if there is one.
func IOErrorMsg(context, fileName string) string {
	if fileName == "" {
		return context
	}
	return context + ": " + fileName
}

// errnoStr is the C library's wording: Go's begins in lower case.
func errnoStr(err error) string {
	s := err.Error()
	var errno syscall.Errno
	if errors.As(err, &errno) {
		s = errno.Error()
	}
	if s != "" && s[0] >= 'a' && s[0] <= 'z' {
		s = strings.ToUpper(s[:1]) + s[1:]
	}
	return s
}

// IOError makes an error of a system's one, which it wraps: a full device and
// a missing file get their subcodes. fileName may be "".
func IOError(context, fileName string, err error) error {
	msg := IOErrorMsg(context, fileName)
	switch {
	case errors.Is(err, syscall.ENOSPC):
		s := rocksdb.NoSpace(msg, errnoStr(err)).Wrap(err)
		s.Retryable = true
		return s
	case errors.Is(err, syscall.ESTALE):
		return rocksdb.WithSubCode(rocksdb.CodeIOError, rocksdb.SubCodeStaleFile, msg).Wrap(err)
	case errors.Is(err, syscall.ENOENT):
		return rocksdb.PathNotFound(msg, errnoStr(err)).Wrap(err)
	}
	return rocksdb.IOError(msg, errnoStr(err)).Wrap(err)
}

// ioChunk bounds one write: some systems refuse 2 GiB and more. It is aligned
// for direct I/O.
const ioChunk = 1 << 30

func writeAll(f sysFile, p []byte) error {
	for len(p) > 0 {
		n, err := f.write(p[:min(len(p), ioChunk)])
		if err != nil {
			if isEINTR(err) {
				continue
			}
			return err
		}
		p = p[n:]
	}
	return nil
}

func pwriteAll(f sysFile, p []byte, off int64) error {
	for len(p) > 0 {
		n, err := f.pwrite(p[:min(len(p), ioChunk)], off)
		if err != nil {
			if isEINTR(err) {
				continue
			}
			return err
		}
		if n == 0 {
			return syscall.EIO
		}
		p, off = p[n:], off+int64(n)
	}
	return nil
}

// preadUpTo fills p as far as the file goes. With direct I/O (align > 0) a
// read that ends within a sector was the file's last.
func preadUpTo(f sysFile, p []byte, off uint64, align int) (int, error) {
	if off > math.MaxInt64 {
		return 0, syscall.EINVAL
	}
	done := 0
	for done < len(p) {
		n, err := f.pread(p[done:min(len(p), done+ioChunk)], int64(off)+int64(done))
		if err != nil {
			if isEINTR(err) {
				continue
			}
			return 0, err
		}
		if n == 0 {
			break
		}
		done += n
		if align > 0 && n%align != 0 {
			break
		}
	}
	return done, nil
}

// posixSequentialFile reads through the descriptor's own position.
type posixSequentialFile struct {
	rocksdb.FSSequentialFileBase
	name       string
	f          sysFile
	directIO   bool
	sectorSize int
}

func (s *posixSequentialFile) Read(n int, _ *rocksdb.IOOptions, scratch []byte) ([]byte, error) {
	scratch = scratch[:n]
	done := 0
	for done < n {
		r, err := s.f.read(scratch[done:min(n, done+ioChunk)])
		if err != nil {
			if isEINTR(err) {
				continue
			}
			return scratch[:done], IOError("While reading file sequentially", s.name, err)
		}
		if r == 0 {
			break
		}
		done += r
	}
	return scratch[:done], nil
}

func (s *posixSequentialFile) PositionedRead(offset uint64, n int, _ *rocksdb.IOOptions, scratch []byte) ([]byte, error) {
	r, err := preadUpTo(s.f, scratch[:n], offset, s.sectorSize)
	if err != nil {
		return nil, IOError(fmt.Sprintf("While pread %d bytes from offset %d", n, offset), s.name, err)
	}
	return scratch[:r], nil
}

func (s *posixSequentialFile) Skip(n uint64) error {
	var err error = syscall.EINVAL
	if n <= math.MaxInt64 {
		_, err = s.f.seek(int64(n), io.SeekCurrent)
	}
	if err != nil {
		return IOError(fmt.Sprintf("While fseek to skip %d bytes", n), s.name, err)
	}
	return nil
}

func (s *posixSequentialFile) InvalidateCache(offset, length uint64) error {
	if s.directIO {
		return nil
	}
	return dropCache(s.f, s.name, offset, length)
}

func dropCache(f sysFile, name string, offset, length uint64) error {
	if err := f.dropCache(int64(offset), int64(length)); err != nil {
		return IOError(fmt.Sprintf("While fadvise NotNeeded offset %d len %d", offset, length), name, err)
	}
	return nil
}

func (s *posixSequentialFile) UseDirectIO() bool               { return s.directIO }
func (s *posixSequentialFile) GetRequiredBufferAlignment() int { return s.sectorSize }
func (s *posixSequentialFile) Close() error                    { return s.f.close() }

// posixRandomAccessFile reads by pread, several requests by async's means.
type posixRandomAccessFile struct {
	rocksdb.FSRandomAccessFileBase
	name       string
	f          sysFile
	directIO   bool
	sectorSize int

	async *asyncReads
	// reading counts the goroutines of ReadAsync, which Close waits for: the
	// number of a closed descriptor may soon be another file's.
	reading sync.WaitGroup
	closed  atomic.Bool
}

// alignment is that of direct I/O, 0 without.
func (r *posixRandomAccessFile) alignment() int {
	if r.directIO {
		return r.sectorSize
	}
	return 0
}

func (r *posixRandomAccessFile) preadError(offset uint64, n int, err error) error {
	return IOError(fmt.Sprintf("While pread offset %d len %d", offset, n), r.name, err)
}

func (r *posixRandomAccessFile) Read(offset uint64, n int, _ *rocksdb.IOOptions, scratch []byte) ([]byte, error) {
	done, err := preadUpTo(r.f, scratch[:n], offset, r.alignment())
	if err != nil {
		return nil, r.preadError(offset, n, err)
	}
	return scratch[:done], nil
}

func (r *posixRandomAccessFile) Prefetch(offset uint64, n int, _ *rocksdb.IOOptions) error {
	if r.directIO {
		return nil
	}
	if err := r.f.readahead(int64(offset), int64(n)); err != nil {
		return IOError(fmt.Sprintf("While prefetching offset %d len %d", offset, n), r.name, err)
	}
	return nil
}

func (r *posixRandomAccessFile) GetUniqueID(id []byte) int { return r.f.uniqueID(id) }

func (r *posixRandomAccessFile) Hint(pattern rocksdb.AccessPattern) {
	if !r.directIO {
		r.f.advise(pattern)
	}
}

func (r *posixRandomAccessFile) InvalidateCache(offset, length uint64) error {
	if r.directIO {
		return nil
	}
	return dropCache(r.f, r.name, offset, length)
}

func (r *posixRandomAccessFile) GetFileSize() (uint64, error) {
	size, err := r.f.size()
	if err != nil {
		return 0, IOError(fmt.Sprintf("while fstat a file for size with fd %d", r.f.number()), r.name, err)
	}
	return size, nil
}

func (r *posixRandomAccessFile) UseDirectIO() bool               { return r.directIO }
func (r *posixRandomAccessFile) GetRequiredBufferAlignment() int { return r.sectorSize }

func (r *posixRandomAccessFile) Close() error {
	r.closed.Store(true)
	r.reading.Wait()
	return r.f.close()
}

// posixMmapReadableFile hands out slices of a mapping of the whole file. They
// are valid until Close.
type posixMmapReadableFile struct {
	rocksdb.FSRandomAccessFileBase
	name   string
	f      sysFile
	region []byte
}

func (m *posixMmapReadableFile) Read(offset uint64, n int, _ *rocksdb.IOOptions, _ []byte) ([]byte, error) {
	length := uint64(len(m.region))
	if offset > length {
		return nil, IOError(fmt.Sprintf("While mmap read offset %d larger than file length %d", offset, length), m.name, syscall.EINVAL)
	}
	end := offset + min(uint64(n), length-offset)
	return m.region[offset:end:end], nil
}

func (m *posixMmapReadableFile) Prefetch(uint64, int, *rocksdb.IOOptions) error {
	return rocksdb.NotSupported("Prefetch")
}

func (m *posixMmapReadableFile) GetUniqueID(id []byte) int { return m.f.uniqueID(id) }

func (m *posixMmapReadableFile) Hint(pattern rocksdb.AccessPattern) { madvise(m.region, pattern) }

func (m *posixMmapReadableFile) InvalidateCache(offset, length uint64) error {
	return dropCache(m.f, m.name, offset, length)
}

func (m *posixMmapReadableFile) GetFileSize() (uint64, error) { return uint64(len(m.region)), nil }

func (m *posixMmapReadableFile) Close() error {
	err := munmap(m.region)
	m.region = nil
	if cerr := m.f.close(); err == nil {
		err = cerr
	}
	if err != nil {
		return IOError("While closing mmapped file", m.name, err)
	}
	return nil
}

// posixRandomRWFile reads and writes in place.
type posixRandomRWFile struct {
	name string
	f    sysFile
}

func (w *posixRandomRWFile) Write(offset uint64, data []byte, _ *rocksdb.IOOptions) error {
	if err := pwriteAll(w.f, data, int64(offset)); err != nil {
		return IOError(fmt.Sprintf("While write random read/write file at offset %d", offset), w.name, err)
	}
	return nil
}

func (w *posixRandomRWFile) Read(offset uint64, n int, _ *rocksdb.IOOptions, scratch []byte) ([]byte, error) {
	done, err := preadUpTo(w.f, scratch[:n], offset, 0)
	if err != nil {
		return nil, IOError(fmt.Sprintf("While reading random read/write file offset %d len %d", offset, n), w.name, err)
	}
	return scratch[:done], nil
}

func (w *posixRandomRWFile) Flush(*rocksdb.IOOptions) error { return nil }

func (w *posixRandomRWFile) Sync(*rocksdb.IOOptions) error {
	if err := w.f.fdatasync(); err != nil {
		return IOError("While fdatasync random read/write file", w.name, err)
	}
	return nil
}

func (w *posixRandomRWFile) Fsync(*rocksdb.IOOptions) error {
	if err := w.f.fsync(); err != nil {
		return IOError("While fsync random read/write file", w.name, err)
	}
	return nil
}

func (w *posixRandomRWFile) Close(*rocksdb.IOOptions) error {
	if err := w.f.close(); err != nil {
		return IOError("While close random read/write file", w.name, err)
	}
	return nil
}

func (w *posixRandomRWFile) UseDirectIO() bool                   { return false }
func (w *posixRandomRWFile) GetTemperature() rocksdb.Temperature { return rocksdb.TemperatureUnknown }
func (w *posixRandomRWFile) GetRequiredBufferAlignment() int     { return rocksdb.DefaultPageSize }

// posixMemoryMappedFileBuffer is a writable mapping of a whole file.
type posixMemoryMappedFileBuffer struct{ data []byte }

func (b *posixMemoryMappedFileBuffer) Data() []byte { return b.data }

func (b *posixMemoryMappedFileBuffer) Close() error {
	if b.data == nil {
		return nil
	}
	err := munmap(b.data)
	b.data = nil
	return err
}

// posixDirectory syncs a directory's entries.
type posixDirectory struct {
	name   string
	f      sysFile
	closed bool
	btrfs  bool
}

func (d *posixDirectory) Fsync(opts *rocksdb.IOOptions) error {
	return d.FsyncWithDirOptions(opts, rocksdb.DirFsyncOptions{Reason: rocksdb.DirFsyncDefault})
}

// FsyncWithDirOptions leaves out on Btrfs what its own rules make needless: a
// new file's entry is durable with the file, a renamed file's once the file is
// synced under its new name.
func (d *posixDirectory) FsyncWithDirOptions(_ *rocksdb.IOOptions, o rocksdb.DirFsyncOptions) error {
	if d.closed {
		return rocksdb.IOError("While fsync", d.name, "directory is closed")
	}
	if d.btrfs {
		switch o.Reason {
		case rocksdb.DirFsyncNewFileSynced:
			return nil
		case rocksdb.DirFsyncFileRenamed:
			return fsyncByName(o.RenamedNewName)
		}
	}
	if err := d.f.fsync(); err != nil {
		return IOError("While fsync", "a directory", err)
	}
	return nil
}

func fsyncByName(name string) error {
	f, err := openSys(name, os.O_RDONLY, 0, true)
	if err != nil {
		return IOError("While open renaming file", name, err)
	}
	err = f.fsync()
	if err != nil {
		err = IOError("While fsync renaming file", name, err)
	}
	if cerr := f.close(); cerr != nil && err == nil {
		err = IOError("While closing file after fsync", name, cerr)
	}
	return err
}

func (d *posixDirectory) Close(*rocksdb.IOOptions) error {
	if d.closed {
		return nil
	}
	d.closed = true
	if err := d.f.close(); err != nil {
		return IOError("While closing directory ", d.name, err)
	}
	return nil
}

func (d *posixDirectory) GetUniqueID([]byte) int { return 0 }

// statTimer adds the time until stop to a field of an IOStatsContext; it does
// nothing when that is nil or does not collect times.
type statTimer struct{ start time.Time }

func startTimer(c *rocksdb.IOStatsContext) (t statTimer) {
	if c.Enabled(rocksdb.EnableTimeExceptForMutex) {
		t.start = time.Now()
	}
	return t
}

func (t statTimer) stop(field *uint64) {
	if !t.start.IsZero() {
		*field += uint64(time.Since(t.start))
	}
}
