// Port of env/io_posix.{h,cc} (PosixWritableFile, PosixMmapFile). Differs: a
// mapped file's pages are synced before the file is, Close may be repeated, and in
// memory (tmpfs) nothing is preallocated: it would only be cleared in advance.

package env

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/test_util/killpoint"
)

// posixWritableFile writes by write and pwrite.
type posixWritableFile struct {
	rocksdb.FSWritableFileBase
	name       string
	f          sysFile
	closed     bool
	directIO   bool
	sectorSize int
	// size counts what was written, not what is preallocated.
	size           uint64
	allowFallocate bool
	keepSize       bool
	strictSync     bool
	rangeSyncWorks bool
}

func newPosixWritableFile(name string, f sysFile, sectorSize int, opts *rocksdb.FileOptions, directIO bool, size uint64) *posixWritableFile {
	w := &posixWritableFile{
		FSWritableFileBase: rocksdb.NewFSWritableFileBase(opts),
		name:               name,
		f:                  f,
		directIO:           directIO,
		sectorSize:         sectorSize,
		size:               size,
		allowFallocate:     opts.AllowFallocate && !(opts.FallocateWithKeepSize && f.inMemory()),
		keepSize:           opts.FallocateWithKeepSize,
		strictSync:         opts.StrictBytesPerSync,
		rangeSyncWorks:     f.isSyncFileRangeSupported(),
	}
	w.Self = w
	return w
}

func (w *posixWritableFile) Append(data []byte, _ *rocksdb.IOOptions) error {
	if err := writeAll(w.f, data); err != nil {
		return IOError("While appending to file", w.name, err)
	}
	w.size += uint64(len(data))
	return nil
}

func (w *posixWritableFile) PositionedAppend(data []byte, offset uint64, _ *rocksdb.IOOptions) error {
	if err := pwriteAll(w.f, data, int64(offset)); err != nil {
		return IOError(fmt.Sprintf("While pwrite to file at offset %d", offset), w.name, err)
	}
	w.size = offset + uint64(len(data))
	return nil
}

func (w *posixWritableFile) PositionedAppendWithVerification(data []byte, offset uint64, opts *rocksdb.IOOptions, _ rocksdb.DataVerificationInfo) error {
	return w.PositionedAppend(data, offset, opts)
}

func (w *posixWritableFile) Truncate(size uint64, _ *rocksdb.IOOptions) error {
	if err := w.f.ftruncate(int64(size)); err != nil {
		return IOError(fmt.Sprintf("While ftruncate file to size %d", size), w.name, err)
	}
	w.size = size
	_, _ = w.f.seek(int64(size), io.SeekStart)
	return nil
}

// Close gives back what was preallocated and not written; failing at that is
// no error, the data are there.
func (w *posixWritableFile) Close(*rocksdb.IOOptions) error {
	if w.closed {
		return nil
	}
	w.closed = true
	if block, last := w.GetPreallocationStatus(); last > 0 {
		_ = w.f.ftruncate(int64(w.size))
		if w.allowFallocate {
			w.f.releaseTail(int64(w.size), int64(block)*int64(last))
		}
	}
	if err := w.f.close(); err != nil {
		return IOError("While closing file after writing", w.name, err)
	}
	return nil
}

func (w *posixWritableFile) Flush(*rocksdb.IOOptions) error { return nil }

func (w *posixWritableFile) Sync(*rocksdb.IOOptions) error {
	if err := w.f.fdatasync(); err != nil {
		return IOError("While fdatasync", w.name, err)
	}
	return nil
}

func (w *posixWritableFile) Fsync(*rocksdb.IOOptions) error {
	if err := w.f.fsync(); err != nil {
		return IOError("While fsync", w.name, err)
	}
	return nil
}

func (w *posixWritableFile) IsSyncThreadSafe() bool                { return true }
func (w *posixWritableFile) UseDirectIO() bool                     { return w.directIO }
func (w *posixWritableFile) GetRequiredBufferAlignment() int       { return w.sectorSize }
func (w *posixWritableFile) GetFileSize(*rocksdb.IOOptions) uint64 { return w.size }
func (w *posixWritableFile) GetUniqueID(id []byte) int             { return w.f.uniqueID(id) }

func (w *posixWritableFile) SetWriteLifeTimeHint(hint rocksdb.WriteLifeTimeHint) {
	if hint != w.GetWriteLifeTimeHint() && w.f.setWriteHint(hint) {
		w.FSWritableFileBase.SetWriteLifeTimeHint(hint)
	}
}

func (w *posixWritableFile) InvalidateCache(offset, length uint64) error {
	if w.directIO {
		return nil
	}
	if err := w.f.dropCache(int64(offset), int64(length)); err != nil {
		return IOError("While fadvise NotNeeded", w.name, err)
	}
	return nil
}

func (w *posixWritableFile) Allocate(offset, length uint64, opts *rocksdb.IOOptions) error {
	killpoint.Random("PosixWritableFile::Allocate:0")
	return allocate(w.f, w.name, w.allowFallocate, w.keepSize, offset, length, opts)
}

func allocate(f sysFile, name string, allowed, keepSize bool, offset, length uint64, opts *rocksdb.IOOptions) error {
	if !allowed {
		return nil
	}
	var stats *rocksdb.IOStatsContext
	if opts != nil {
		stats = opts.IOStats
	}
	t := startTimer(stats)
	err := f.fallocate(keepSize, int64(offset), int64(length))
	if stats != nil {
		t.stop(&stats.AllocateNanos)
	}
	if err != nil {
		return IOError(fmt.Sprintf("While fallocate offset %d len %d", offset, length), name, err)
	}
	return nil
}

func (w *posixWritableFile) RangeSync(offset, nbytes uint64, opts *rocksdb.IOOptions) error {
	if !w.rangeSyncWorks {
		return w.FSWritableFileBase.RangeSync(offset, nbytes, opts)
	}
	if err := w.f.syncFileRange(int64(offset), int64(nbytes), w.strictSync); err != nil {
		return IOError("While sync_file_range returned -1", w.name, err)
	}
	return nil
}

const (
	mmapFirstSize = 64 << 10
	mmapMaxSize   = 1 << 20
)

// posixMmapFile appends by copying into a mapping of the file's end, which is
// extended as it fills. Until Close the file is longer than its data, by zeros.
type posixMmapFile struct {
	rocksdb.FSWritableFileBase
	name   string
	f      sysFile
	closed bool
	// region begins at fileOffset of the file; used bytes of it hold data,
	// synced of those were synced.
	region         []byte
	fileOffset     uint64
	used, synced   int
	mapSize        int
	allowFallocate bool
	keepSize       bool
}

func newPosixMmapFile(name string, f sysFile, opts *rocksdb.FileOptions, size uint64) (*posixMmapFile, error) {
	m := &posixMmapFile{
		FSWritableFileBase: rocksdb.NewFSWritableFileBase(opts),
		name:               name,
		f:                  f,
		fileOffset:         size,
		mapSize:            mmapFirstSize,
		allowFallocate:     opts.AllowFallocate,
		keepSize:           opts.FallocateWithKeepSize,
	}
	m.Self = m
	if part := size % uint64(os.Getpagesize()); part != 0 {
		// A mapping begins at a page; take the last one up with its data.
		m.fileOffset -= part
		m.used, m.synced = int(part), int(part)
		if err := m.mapNewRegion(); err != nil {
			return nil, err
		}
	}
	return m, nil
}

func (m *posixMmapFile) unmapCurrentRegion() error {
	if m.region == nil {
		return nil
	}
	killpoint.Random("PosixMmapFile::UnmapCurrentRegion:0")
	if err := munmap(m.region); err != nil {
		return IOError("While munmap", m.name, err)
	}
	m.fileOffset += uint64(len(m.region))
	m.region, m.used, m.synced = nil, 0, 0
	if m.mapSize < mmapMaxSize {
		m.mapSize *= 2
	}
	return nil
}

func (m *posixMmapFile) mapNewRegion() error {
	killpoint.Random("PosixMmapFile::Append:1")
	off := int64(m.fileOffset)
	err := error(syscall.ENOSYS)
	if m.allowFallocate {
		err = m.f.fallocate(false, off, int64(m.mapSize))
	}
	if err != nil && (!m.allowFallocate || errors.Is(err, syscall.ENOSYS) || errors.Is(err, syscall.EOPNOTSUPP)) {
		// Without blocks a full device would be met as a fault on the mapping,
		// so write them.
		err = pwriteAll(m.f, make([]byte, m.mapSize-m.used), off+int64(m.used))
	}
	if err != nil {
		return IOError("Error allocating space to file", m.name, err)
	}
	killpoint.Random("PosixMmapFile::Append:2")
	m.region, err = m.f.mmap(off, uint64(m.mapSize), true)
	if err != nil {
		return IOError("MMap failed on", m.name, err)
	}
	return nil
}

func (m *posixMmapFile) msync() error {
	if m.used == m.synced {
		return nil
	}
	killpoint.Random("PosixMmapFile::Msync:0")
	page := os.Getpagesize()
	from := m.synced / page * page
	to := (m.used + page - 1) / page * page
	m.synced = m.used
	if err := msync(m.region[from:to]); err != nil {
		return IOError("While msync", m.name, err)
	}
	return nil
}

func (m *posixMmapFile) Append(data []byte, _ *rocksdb.IOOptions) error {
	for len(data) > 0 {
		if m.used == len(m.region) {
			killpoint.Random("PosixMmapFile::Append:0")
			// What leaves the mapping unsynced is synced by the file's own sync.
			if err := m.unmapCurrentRegion(); err != nil {
				return err
			}
			if err := m.mapNewRegion(); err != nil {
				return err
			}
		}
		n := copy(m.region[m.used:], data)
		m.used += n
		data = data[n:]
	}
	return nil
}

func (m *posixMmapFile) Close(*rocksdb.IOOptions) error {
	if m.closed {
		return nil
	}
	m.closed = true
	size := m.GetFileSize(nil)
	mapped := m.region != nil
	err := m.unmapCurrentRegion()
	if err == nil && mapped {
		if terr := m.f.ftruncate(int64(size)); terr != nil {
			err = IOError("While ftruncating mmaped file", m.name, terr)
		}
	}
	if cerr := m.f.close(); cerr != nil && err == nil {
		err = IOError("While closing mmapped file", m.name, cerr)
	}
	return err
}

func (m *posixMmapFile) Flush(*rocksdb.IOOptions) error { return nil }

func (m *posixMmapFile) Sync(*rocksdb.IOOptions) error {
	if err := m.msync(); err != nil {
		return err
	}
	if err := m.f.fdatasync(); err != nil {
		return IOError("While fdatasync mmapped file", m.name, err)
	}
	return nil
}

func (m *posixMmapFile) Fsync(*rocksdb.IOOptions) error {
	if err := m.msync(); err != nil {
		return err
	}
	if err := m.f.fsync(); err != nil {
		return IOError("While fsync mmaped file", m.name, err)
	}
	return nil
}

func (m *posixMmapFile) GetFileSize(*rocksdb.IOOptions) uint64 {
	return m.fileOffset + uint64(m.used)
}

func (m *posixMmapFile) InvalidateCache(offset, length uint64) error {
	if err := m.f.dropCache(int64(offset), int64(length)); err != nil {
		return IOError("While fadvise NotNeeded mmapped file", m.name, err)
	}
	return nil
}

func (m *posixMmapFile) Allocate(offset, length uint64, opts *rocksdb.IOOptions) error {
	killpoint.Random("PosixMmapFile::Allocate:0")
	return allocate(m.f, m.name, m.allowFallocate, m.keepSize, offset, length, opts)
}
