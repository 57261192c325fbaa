// Port of file/sequence_file_reader.{h,cc}. Differs: Close has to be called.

package file

import (
	"sync"
	"sync/atomic"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// SequentialFileReader reads a file from front to back. It is used by one
// goroutine at a time.
type SequentialFileReader struct {
	name      string
	file      rocksdb.FSSequentialFile
	offset    atomic.Uint64
	listeners ioListeners
	limiter   rocksdb.RateLimiter
	verify    bool
}

// SequentialReaderOptions are a SequentialFileReader's. The zero value has
// none of it.
type SequentialReaderOptions struct {
	Listeners   []rocksdb.EventListener
	RateLimiter rocksdb.RateLimiter
	// VerifyAndReconstructRead is passed with each read.
	VerifyAndReconstructRead bool
	// ReadaheadSize reads so many bytes at once; 0 is none.
	ReadaheadSize int
}

// NewSequentialFileReader takes file over. o may be nil.
func NewSequentialFileReader(file rocksdb.FSSequentialFile, name string, o *SequentialReaderOptions) *SequentialFileReader {
	if o == nil {
		o = &SequentialReaderOptions{}
	}
	if o.ReadaheadSize > 0 {
		file = NewReadaheadSequentialFile(file, o.ReadaheadSize)
	}
	return &SequentialFileReader{
		name: name, file: file, limiter: o.RateLimiter, verify: o.VerifyAndReconstructRead,
		listeners: newIOListeners(o.Listeners, name, rocksdb.TemperatureUnknown),
	}
}

// CreateSequentialFileReader opens a file and makes its reader.
func CreateSequentialFileReader(fs rocksdb.FileSystem, name string, opts *rocksdb.FileOptions, o *SequentialReaderOptions) (*SequentialFileReader, error) {
	f, err := fs.NewSequentialFile(name, opts)
	if err != nil {
		return nil, err
	}
	return NewSequentialFileReader(f, name, o), nil
}

// Read reads up to n bytes into scratch, which holds n or more; less only at
// the file's end. pri charges the rate limiter, IOTotal does not. stats may be
// nil.
func (r *SequentialFileReader) Read(n int, scratch []byte, pri rocksdb.IOPriority, stats *rocksdb.IOStatsContext) ([]byte, error) {
	opts := rocksdb.DefaultIOOptions()
	opts.RateLimiterPriority = pri
	opts.VerifyAndReconstructRead = r.verify
	opts.IOStats = stats
	var got []byte
	var err error
	if r.file.UseDirectIO() {
		got, err = r.readDirect(&opts, n, scratch)
	} else {
		got, err = r.readBuffered(&opts, n, scratch)
	}
	stats.AddBytesRead(uint64(len(got)))
	return got, err
}

func (r *SequentialFileReader) allowed(opts *rocksdb.IOOptions, n, align int) int {
	if r.limiter == nil || opts.RateLimiterPriority == rocksdb.IOTotal {
		return n
	}
	return r.limiter.RequestToken(n, align, opts.RateLimiterPriority, nil, rocksdb.OpTypeRead)
}

func (r *SequentialFileReader) readDirect(opts *rocksdb.IOOptions, n int, scratch []byte) ([]byte, error) {
	align := r.file.GetRequiredBufferAlignment()
	offset := r.offset.Add(uint64(n)) - uint64(n)
	from := roundDown(offset, align)
	skip := int(offset - from)
	size := int(roundUp(offset+uint64(n), align) - from)
	pooled := alignedPool.Get().(*AlignedBuf)
	defer alignedPool.Put(pooled)
	buf, err := pooled.get(size, align)
	if err != nil {
		return nil, err
	}
	done := 0
	for done < size {
		allowed := r.allowed(opts, size-done, align)
		start := r.listeners.start()
		var part []byte
		part, err = r.file.PositionedRead(from+uint64(done), allowed, opts, buf[done:])
		r.notify(start, from+uint64(done), len(part), err)
		done += len(part)
		if err != nil || len(part) < allowed {
			break
		}
	}
	if err != nil || done <= skip {
		return nil, err
	}
	return scratch[:copy(scratch[:n], buf[skip:done])], nil
}

func (r *SequentialFileReader) readBuffered(opts *rocksdb.IOOptions, n int, scratch []byte) ([]byte, error) {
	if n > 0 && len(scratch) > 0 {
		// Should the file claim to have read and not have, an older block
		// in scratch will not pass its checksum.
		scratch[0]++
	}
	done := 0
	for done < n {
		allowed := r.allowed(opts, n-done, 0)
		start := r.listeners.start()
		part, err := r.file.Read(allowed, opts, scratch[done:])
		r.notify(start, r.offset.Load(), len(part), err)
		r.offset.Add(uint64(len(part)))
		if len(part) > 0 && &part[0] != &scratch[done] {
			copy(scratch[done:], part)
		}
		done += len(part)
		if err != nil {
			return scratch[:done], err
		}
		if len(part) < allowed {
			break
		}
	}
	return scratch[:done], nil
}

// Skip goes on by n bytes.
func (r *SequentialFileReader) Skip(n uint64) error {
	if r.file.UseDirectIO() {
		r.offset.Add(n)
		return nil
	}
	return r.file.Skip(n)
}

// File is the file read from.
func (r *SequentialFileReader) File() rocksdb.FSSequentialFile { return r.file }

// FileName is the name the reader was made with.
func (r *SequentialFileReader) FileName() string { return r.name }

// UseDirectIO tells how the file is read.
func (r *SequentialFileReader) UseDirectIO() bool { return r.file.UseDirectIO() }

// Close closes the file.
func (r *SequentialFileReader) Close() error { return r.file.Close() }

// readaheadSequentialFile reads more than it is asked for and keeps the rest.
type readaheadSequentialFile struct {
	rocksdb.FSSequentialFile
	readahead int

	mu struct {
		sync.Mutex
		buf []byte // what was read; valid bytes only
		pos int    // in buf, of the next byte to hand out
	}
}

// NewReadaheadSequentialFile reads readaheadSize bytes of file at a time, or
// gives file itself when that is not more than a page.
func NewReadaheadSequentialFile(file rocksdb.FSSequentialFile, readaheadSize int) rocksdb.FSSequentialFile {
	align := file.GetRequiredBufferAlignment()
	if align >= readaheadSize {
		return file
	}
	r := &readaheadSequentialFile{FSSequentialFile: file, readahead: int(roundUp(uint64(readaheadSize), align))}
	r.mu.buf = newAligned(r.readahead, align)[:0]
	return r
}

// takeLocked hands out buffered bytes.
func (r *readaheadSequentialFile) takeLocked(p []byte) int {
	n := copy(p, r.mu.buf[r.mu.pos:])
	r.mu.pos += n
	return n
}

func (r *readaheadSequentialFile) dropLocked() { r.mu.buf, r.mu.pos = r.mu.buf[:0], 0 }

func (r *readaheadSequentialFile) Read(n int, opts *rocksdb.IOOptions, scratch []byte) ([]byte, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	scratch = scratch[:n]
	cached := r.takeLocked(scratch)
	if cached == n || cached > 0 && len(r.mu.buf) < r.readahead {
		return scratch[:cached], nil // all, or the file's end
	}
	if n-cached+r.GetRequiredBufferAlignment() >= r.readahead {
		r.dropLocked()
		part, err := r.FSSequentialFile.Read(n-cached, opts, scratch[cached:])
		if err != nil {
			return nil, err
		}
		return scratch[:cached+copy(scratch[cached:], part)], nil
	}
	r.dropLocked()
	part, err := r.FSSequentialFile.Read(r.readahead, opts, r.mu.buf[:r.readahead])
	if err != nil {
		return nil, err
	}
	r.mu.buf = r.mu.buf[:copy(r.mu.buf[:r.readahead], part)]
	return scratch[:cached+r.takeLocked(scratch[cached:])], nil
}

func (r *readaheadSequentialFile) Skip(n uint64) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if left := uint64(len(r.mu.buf) - r.mu.pos); n < left {
		r.mu.pos += int(n)
		return nil
	} else {
		n -= left
	}
	r.dropLocked()
	if n == 0 {
		return nil
	}
	return r.FSSequentialFile.Skip(n)
}

func (r *readaheadSequentialFile) InvalidateCache(offset, length uint64) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	// Bytes that were not handed out stay: the file has moved beyond them.
	return r.FSSequentialFile.InvalidateCache(offset, length)
}
