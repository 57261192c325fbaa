// Port of file/readahead_raf.{h,cc}.

package file

import (
	"sync"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// readaheadRandomAccessFile reads more than it is asked for and keeps the last
// piece, for readers that go forward.
type readaheadRandomAccessFile struct {
	rocksdb.FSRandomAccessFile
	align     int
	readahead int

	mu struct {
		sync.Mutex
		buf    []byte // valid bytes only
		offset uint64 // of the first
	}
}

// NewReadaheadRandomAccessFile takes file over and reads readaheadSize bytes at
// a time. MultiRead and ReadAsync go to file itself.
func NewReadaheadRandomAccessFile(file rocksdb.FSRandomAccessFile, readaheadSize int) rocksdb.FSRandomAccessFile {
	align := file.GetRequiredBufferAlignment()
	r := &readaheadRandomAccessFile{FSRandomAccessFile: file, align: align, readahead: int(roundUp(uint64(readaheadSize), align))}
	r.mu.buf = newAligned(r.readahead, align)[:0]
	return r
}

// takeLocked copies what is buffered of a range.
func (r *readaheadRandomAccessFile) takeLocked(offset uint64, p []byte) int {
	if offset < r.mu.offset || offset >= r.mu.offset+uint64(len(r.mu.buf)) {
		return 0
	}
	return copy(p, r.mu.buf[offset-r.mu.offset:])
}

func (r *readaheadRandomAccessFile) fillLocked(offset uint64, n int, opts *rocksdb.IOOptions) error {
	to := r.mu.buf[:min(n, cap(r.mu.buf))]
	r.mu.buf = r.mu.buf[:0]
	part, err := r.FSRandomAccessFile.Read(offset, len(to), opts, to)
	if err != nil {
		return err
	}
	r.mu.buf, r.mu.offset = to[:copy(to, part)], offset
	return nil
}

func (r *readaheadRandomAccessFile) Read(offset uint64, n int, opts *rocksdb.IOOptions, scratch []byte) ([]byte, error) {
	if n+r.align >= r.readahead {
		return r.FSRandomAccessFile.Read(offset, n, opts, scratch)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	scratch = scratch[:n]
	cached := r.takeLocked(offset, scratch)
	if cached == n || cached > 0 && len(r.mu.buf) < r.readahead {
		return scratch[:cached], nil // all, or the file's end
	}
	next := offset + uint64(cached)
	if err := r.fillLocked(roundDown(next, r.align), r.readahead, opts); err != nil {
		return nil, err
	}
	return scratch[:cached+r.takeLocked(next, scratch[cached:])], nil
}

// Prefetch of less than the read-ahead does nothing: a buffer that is not full
// means the file's end.
func (r *readaheadRandomAccessFile) Prefetch(offset uint64, n int, opts *rocksdb.IOOptions) error {
	if n < r.readahead {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	from := roundDown(offset, r.align)
	if from == r.mu.offset && len(r.mu.buf) > 0 {
		return nil
	}
	return r.fillLocked(from, int(roundUp(offset+uint64(n), r.align)-from), opts)
}

func (r *readaheadRandomAccessFile) InvalidateCache(offset, length uint64) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.mu.buf = r.mu.buf[:0]
	return r.FSRandomAccessFile.InvalidateCache(offset, length)
}
