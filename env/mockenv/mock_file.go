// Port of env/mock_env.cc (MemFile and the files over it).

package mockenv

import (
	"math"
	"sync"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

type fileKind uint8

const (
	regular fileKind = iota
	directory
	lockFile
)

// memFile is what a name stands for. Its names and open files share it.
type memFile struct {
	clock  rocksdb.SystemClock
	kind   fileKind
	locked bool // guarded by the file system's mutex

	mu struct {
		sync.Mutex
		// data is only ever appended to or replaced by a copy where slices of it
		// may be out (mapped reads).
		data     []byte
		modified uint64
		synced   int
		rnd      *util.Random
	}
}

func newMemFile(clock rocksdb.SystemClock, name string, kind fileKind) *memFile {
	f := &memFile{clock: clock, kind: kind}
	f.mu.modified = f.now()
	f.mu.rnd = util.NewRandom(uint32(len(name)) + 1)
	return f
}

func (f *memFile) now() uint64 {
	t, _ := f.clock.GetCurrentTime()
	return uint64(t)
}

func (f *memFile) size() uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return uint64(len(f.mu.data))
}

func (f *memFile) modifiedTime() uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.mu.modified
}

func (f *memFile) truncate(size uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if size < uint64(len(f.mu.data)) {
		// A later append must not write where a mapped read looks.
		f.mu.data = f.mu.data[:size:size]
		f.mu.synced = min(f.mu.synced, int(size))
	}
}

// read copies to scratch, or gives the bytes themselves when scratch is nil.
func (f *memFile) read(offset uint64, n int, scratch []byte) []byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	if offset >= uint64(len(f.mu.data)) || n <= 0 {
		return nil
	}
	data := f.mu.data[offset:]
	data = data[:min(n, len(data)):min(n, len(data))]
	if scratch == nil {
		return data
	}
	return scratch[:copy(scratch[:n], data)]
}

func (f *memFile) write(offset uint64, data []byte) error {
	if offset > math.MaxInt/2 {
		return rocksdb.InvalidArgumentf("write at offset %d", offset)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	buf := f.mu.data
	if end := offset + uint64(len(data)); end > uint64(len(buf)) {
		buf = append(buf, make([]byte, end-uint64(len(buf)))...)
	}
	copy(buf[offset:], data)
	f.mu.data, f.mu.modified = buf, f.now()
	return nil
}

func (f *memFile) append(data []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.mu.data = append(f.mu.data, data...)
	f.mu.modified = f.now()
}

func (f *memFile) fsync() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.mu.synced = len(f.mu.data)
}

func (f *memFile) corruptBuffer() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.mu.synced >= len(f.mu.data) {
		return
	}
	data := append([]byte(nil), f.mu.data...)
	start := f.mu.synced + int(f.mu.rnd.Uniform(len(data)-f.mu.synced))
	for i := start; i < min(start+512, len(data)); i++ {
		data[i] ^= byte(1 + f.mu.rnd.Uniform(255))
	}
	f.mu.data = data
}

type mockSequentialFile struct {
	rocksdb.FSSequentialFileBase
	f              *memFile
	directIO, mmap bool
	pos            uint64
}

func (s *mockSequentialFile) Read(n int, _ *rocksdb.IOOptions, scratch []byte) ([]byte, error) {
	if s.mmap {
		scratch = nil
	}
	data := s.f.read(s.pos, n, scratch)
	s.pos += uint64(len(data))
	return data, nil
}

func (s *mockSequentialFile) PositionedRead(offset uint64, n int, _ *rocksdb.IOOptions, scratch []byte) ([]byte, error) {
	return s.f.read(offset, n, scratch), nil
}

func (s *mockSequentialFile) Skip(n uint64) error {
	size := s.f.size()
	if s.pos > size {
		return rocksdb.IOError("pos_ > file_->Size()")
	}
	s.pos += min(n, size-s.pos)
	return nil
}

func (s *mockSequentialFile) UseDirectIO() bool                    { return s.directIO }
func (s *mockSequentialFile) InvalidateCache(uint64, uint64) error { return nil }
func (s *mockSequentialFile) Close() error                         { return nil }

type mockRandomAccessFile struct {
	rocksdb.FSRandomAccessFileBase
	f              *memFile
	directIO, mmap bool
}

func (r *mockRandomAccessFile) Read(offset uint64, n int, _ *rocksdb.IOOptions, scratch []byte) ([]byte, error) {
	if r.mmap {
		scratch = nil
	}
	return r.f.read(offset, n, scratch), nil
}

func (r *mockRandomAccessFile) Prefetch(uint64, int, *rocksdb.IOOptions) error { return nil }
func (r *mockRandomAccessFile) InvalidateCache(uint64, uint64) error           { return nil }
func (r *mockRandomAccessFile) UseDirectIO() bool                              { return r.directIO }
func (r *mockRandomAccessFile) GetFileSize() (uint64, error)                   { return r.f.size(), nil }
func (r *mockRandomAccessFile) Close() error                                   { return nil }

type mockRandomRWFile struct{ f *memFile }

func (w *mockRandomRWFile) Write(offset uint64, data []byte, _ *rocksdb.IOOptions) error {
	return w.f.write(offset, data)
}

func (w *mockRandomRWFile) Read(offset uint64, n int, _ *rocksdb.IOOptions, scratch []byte) ([]byte, error) {
	return w.f.read(offset, n, scratch), nil
}

func (w *mockRandomRWFile) sync() error {
	w.f.fsync()
	return nil
}

func (w *mockRandomRWFile) Flush(*rocksdb.IOOptions) error      { return nil }
func (w *mockRandomRWFile) Sync(*rocksdb.IOOptions) error       { return w.sync() }
func (w *mockRandomRWFile) Fsync(*rocksdb.IOOptions) error      { return w.sync() }
func (w *mockRandomRWFile) Close(*rocksdb.IOOptions) error      { return w.sync() }
func (w *mockRandomRWFile) UseDirectIO() bool                   { return false }
func (w *mockRandomRWFile) GetRequiredBufferAlignment() int     { return rocksdb.DefaultPageSize }
func (w *mockRandomRWFile) GetTemperature() rocksdb.Temperature { return rocksdb.TemperatureUnknown }

// mockWritableFile is never written directly, also when that was asked for: the
// writer's padding would have to be cut again.
type mockWritableFile struct {
	rocksdb.FSWritableFileBase
	f       *memFile
	limiter rocksdb.RateLimiter
}

func (w *mockWritableFile) Append(data []byte, _ *rocksdb.IOOptions) error {
	for len(data) > 0 {
		n := len(data)
		if w.limiter != nil && w.GetIOPriority() < rocksdb.IOTotal {
			n = min(n, int(w.limiter.GetSingleBurstBytes()))
			w.limiter.Request(int64(n), w.GetIOPriority(), nil, rocksdb.OpTypeWrite)
		}
		w.f.append(data[:n])
		data = data[n:]
	}
	return nil
}

func (w *mockWritableFile) Truncate(size uint64, _ *rocksdb.IOOptions) error {
	w.f.truncate(size)
	return nil
}

func (w *mockWritableFile) Flush(*rocksdb.IOOptions) error { return nil }

func (w *mockWritableFile) Sync(*rocksdb.IOOptions) error {
	w.f.fsync()
	return nil
}

func (w *mockWritableFile) Close(opts *rocksdb.IOOptions) error   { return w.Sync(opts) }
func (w *mockWritableFile) IsSyncThreadSafe() bool                { return true }
func (w *mockWritableFile) GetFileSize(*rocksdb.IOOptions) uint64 { return w.f.size() }
func (w *mockWritableFile) InvalidateCache(uint64, uint64) error  { return nil }
