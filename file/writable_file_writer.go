// Port of file/writable_file_writer.{h,cc}. Differs: no I/O tracer yet; Close
// has to be called, no destructor does.

package file

import (
	"strings"
	"sync/atomic"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/monitoring"
	"github.com/rocksdb-go/rocksdb/test_util/killpoint"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
	"github.com/rocksdb-go/rocksdb/util"
	"github.com/rocksdb-go/rocksdb/util/stopwatch"
)

const (
	firstBufferSize = 64 << 10
	// With BytesPerSync the last 1 MiB is left alone: it may still change, and
	// XFS writes back beyond the range asked for.
	bytesNotSyncRange  = 1 << 20
	bytesAlignWhenSync = 4 << 10
)

// WriterOptions are a WritableFileWriter's beside its file's. The zero value
// has none of it.
type WriterOptions struct {
	// Clock may be nil: the system's.
	Clock rocksdb.SystemClock
	Stats rocksdb.Statistics
	// HistType receives the time of each Append; 0 is none.
	HistType  rocksdb.Histogram
	Listeners []rocksdb.EventListener
	// FileChecksumGenFactory makes the file's checksum, if not nil.
	FileChecksumGenFactory rocksdb.FileChecksumGenFactory
	// PerformDataVerification hands a checksum to the file with each write.
	PerformDataVerification bool
	// BufferedDataWithChecksum makes it of the checksums given to Append rather
	// than of the buffer, so that damage in the buffer is found.
	BufferedDataWithChecksum bool
	// InitialFileSize is where a reopened file is written on.
	InitialFileSize uint64
}

// WritableFileWriter collects appended data and writes it in large pieces, at
// the pace of a rate limiter. See the package comment for who may call what.
type WritableFileWriter struct {
	name         string
	file         rocksdb.FSWritableFile // nil once closed
	clock        rocksdb.SystemClock
	buf          []byte // its capacity is the buffer's
	alignment    int
	maxBuffer    int
	directIO     bool
	fileSize     atomic.Uint64 // appended
	flushedSize  atomic.Uint64 // written, with padding
	nextOffset   uint64        // of the next direct write, aligned
	pendingSync  bool
	seenError    atomic.Bool
	seenInjected atomic.Bool
	lastSyncSize uint64
	bytesPerSync uint64
	rateLimiter  rocksdb.RateLimiter
	stats        rocksdb.Statistics
	histType     rocksdb.Histogram
	listeners    ioListeners

	checksumGen       rocksdb.FileChecksumGenerator
	checksumFinalized bool

	verify          bool
	bufferedWithCRC bool
	bufferedCRC     uint32
	checksumBuf     [4]byte
	finalOpts       rocksdb.IOOptions // of a call whose priority is the file's
}

// NewWritableFileWriter takes file over. opts may be nil, o too.
func NewWritableFileWriter(file rocksdb.FSWritableFile, name string, opts *rocksdb.FileOptions, o *WriterOptions) *WritableFileWriter {
	if opts == nil {
		d := rocksdb.DefaultFileOptions()
		opts = &d
	}
	if o == nil {
		o = &WriterOptions{}
	}
	w := &WritableFileWriter{
		name: name, file: file, clock: o.Clock, stats: o.Stats, histType: o.HistType,
		alignment: file.GetRequiredBufferAlignment(), directIO: file.UseDirectIO(),
		maxBuffer: int(opts.WritableFileMaxBufferSize), bytesPerSync: opts.BytesPerSync,
		rateLimiter: opts.RateLimiter, nextOffset: o.InitialFileSize, lastSyncSize: o.InitialFileSize,
		listeners: newIOListeners(o.Listeners, name, opts.Temperature),
		verify:    o.PerformDataVerification, bufferedWithCRC: o.BufferedDataWithChecksum,
	}
	if w.clock == nil {
		w.clock = rocksdb.DefaultSystemClock()
	}
	if w.histType == 0 {
		w.histType = rocksdb.HistogramEnumMax
	}
	if w.directIO && w.maxBuffer < w.alignment {
		w.maxBuffer = w.alignment
	}
	syncpoint.ProcessArg("WritableFileWriter::WritableFileWriter:0", w.maxBuffer)
	w.fileSize.Store(o.InitialFileSize)
	w.flushedSize.Store(o.InitialFileSize)
	w.growBuffer(min(firstBufferSize, w.maxBuffer))
	if o.FileChecksumGenFactory != nil {
		w.checksumGen = o.FileChecksumGenFactory.CreateFileChecksumGenerator(rocksdb.FileChecksumGenContext{FileName: name})
	}
	return w
}

// CreateWritableFileWriter makes a new file and its writer.
func CreateWritableFileWriter(fs rocksdb.FileSystem, name string, opts *rocksdb.FileOptions, o *WriterOptions) (*WritableFileWriter, error) {
	if opts != nil && opts.UseDirectWrites && opts.WritableFileMaxBufferSize == 0 {
		return nil, rocksdb.InvalidArgument("Direct write requires writable_file_max_buffer_size > 0")
	}
	f, err := fs.NewWritableFile(name, opts)
	killpoint.RandomWithWeight("NewWritableFile:0", killpoint.ReduceOdds2)
	if err != nil {
		return nil, err
	}
	return NewWritableFileWriter(f, name, opts, o), nil
}

// growBuffer gives the buffer a new capacity and keeps its bytes.
func (w *WritableFileWriter) growBuffer(capacity int) {
	if w.directIO {
		capacity = int(roundUp(uint64(capacity), w.alignment))
	}
	b := newAligned(capacity, w.alignment)
	w.buf = b[:copy(b, w.buf)]
}

func (w *WritableFileWriter) room() int { return cap(w.buf) - len(w.buf) }

// fill moves what fits of data to the buffer and returns how much.
func (w *WritableFileWriter) fill(data []byte) int {
	n := min(w.room(), len(data))
	w.buf = append(w.buf, data[:n]...)
	return n
}

func writeHistogram(h rocksdb.Histogram, a rocksdb.IOActivity) rocksdb.Histogram {
	if h == rocksdb.HistSSTWriteMicros || h == rocksdb.HistBlobDBBlobFileWriteMicros {
		switch a {
		case rocksdb.IOActivityFlush:
			return rocksdb.HistFileWriteFlushMicros
		case rocksdb.IOActivityCompaction:
			return rocksdb.HistFileWriteCompactionMicros
		case rocksdb.IOActivityDBOpen:
			return rocksdb.HistFileWriteDBOpenMicros
		}
	}
	return rocksdb.HistogramEnumMax
}

// finalize gives the options of a call: where it sets no priority, the file's
// holds.
func (w *WritableFileWriter) finalize(opts *rocksdb.IOOptions) *rocksdb.IOOptions {
	return w.finalizeIn(&w.finalOpts, orDefault(opts))
}

// finalizeIn is finalize with the place for changed options.
func (w *WritableFileWriter) finalizeIn(to, opts *rocksdb.IOOptions) *rocksdb.IOOptions {
	if opts.RateLimiterPriority != rocksdb.IOTotal || w.file == nil {
		return opts
	}
	pri := w.file.GetIOPriority()
	if pri == rocksdb.IOTotal {
		return opts
	}
	*to = *opts
	to.RateLimiterPriority = pri
	return to
}

// usable says why the writer cannot go on.
func (w *WritableFileWriter) usable() error {
	if w.seenError.Load() {
		return w.GetWriterHasPreviousErrorStatus()
	}
	if w.file == nil {
		return rocksdb.IOError("Writer is closed: " + w.name)
	}
	return nil
}

// Append adds data to the file. crc32c is data's, or 0 when it is not known.
func (w *WritableFileWriter) Append(opts *rocksdb.IOOptions, data []byte, crc32c uint32) error {
	if err := w.usable(); err != nil {
		return err
	}
	opts = w.finalize(opts)
	sw := stopwatch.NewStopWatchElapsed(w.clock, w.stats, w.histType, writeHistogram(w.histType, opts.IOActivity), nil, true, false)
	defer sw.Stop()
	w.pendingSync = true
	killpoint.RandomWithWeight("WritableFileWriter::Append:0", killpoint.ReduceOdds2)
	if w.checksumGen != nil {
		w.checksumGen.Update(data)
	}
	var t monitoring.PerfStepTimer
	if opts.IOStats != nil {
		startNanos(&t, opts.IOStats, &opts.IOStats.PrepareWriteNanos, w.clock)
	}
	syncpoint.Process("WritableFileWriter::Append:BeforePrepareWrite")
	w.file.PrepareWrite(w.fileSize.Load(), len(data), opts)
	t.Stop()
	w.makeRoom(len(data))

	err := w.append(opts, data, crc32c)
	killpoint.Random("WritableFileWriter::Append:1")
	if err != nil {
		w.setSeenError(err)
		return err
	}
	w.fileSize.Add(uint64(len(data)))
	return nil
}

// makeRoom enlarges the buffer, by doubling and up to its maximum, if then n
// bytes fit; for direct I/O also if they do not, since all goes through it.
func (w *WritableFileWriter) makeRoom(n int) {
	if w.room() >= n {
		return
	}
	for c := cap(w.buf); c < w.maxBuffer; c *= 2 {
		want := min(c*2, w.maxBuffer)
		if want-len(w.buf) >= n || w.directIO && want == w.maxBuffer {
			w.growBuffer(want)
			return
		}
		if c == 0 {
			return
		}
	}
}

func (w *WritableFileWriter) append(opts *rocksdb.IOOptions, data []byte, crc32c uint32) error {
	size := len(data)
	if !w.directIO && w.room() < size && len(w.buf) > 0 {
		if !w.bufferedWithCRC {
			// A full buffer makes aligned writes.
			data = data[w.fill(data):]
		}
		if err := w.Flush(opts); err != nil {
			return err
		}
	}
	withCRC := w.verify && w.bufferedWithCRC
	switch {
	case withCRC && crc32c != 0 && w.room() >= len(data):
		// data was not cut, or its checksum would not be its.
		w.buf = append(w.buf, data...)
		w.bufferedCRC = util.Crc32cCombine(w.bufferedCRC, crc32c, uint64(size))
		return nil
	case w.directIO || cap(w.buf) >= len(data):
		return w.appendInPieces(opts, data, withCRC)
	case withCRC:
		if crc32c == 0 {
			crc32c = util.Crc32cValue(data)
		}
		w.bufferedCRC = crc32c
		return w.writeBufferedWithChecksum(opts, data)
	}
	return w.writeBuffered(opts, data)
}

func (w *WritableFileWriter) appendInPieces(opts *rocksdb.IOOptions, data []byte, withCRC bool) error {
	for {
		n := w.fill(data)
		if withCRC {
			w.bufferedCRC = util.Crc32cExtend(w.bufferedCRC, data[:n])
		}
		data = data[n:]
		if len(data) == 0 {
			return nil
		}
		if err := w.Flush(opts); err != nil {
			return err
		}
	}
}

// Pad appends zero bytes.
func (w *WritableFileWriter) Pad(opts *rocksdb.IOOptions, padBytes int) error {
	if err := w.usable(); err != nil {
		return err
	}
	opts = w.finalize(opts)
	for left := padBytes; left > 0; {
		if w.room() == 0 {
			if cap(w.buf) == 0 {
				w.growBuffer(w.alignment)
			} else if err := w.Flush(opts); err != nil {
				w.setSeenError(err)
				return err
			}
		}
		n := min(w.room(), left)
		start := len(w.buf)
		w.buf = w.buf[:start+n]
		clear(w.buf[start:])
		left -= n
		if w.checksumGen != nil {
			w.checksumGen.Update(w.buf[start:])
		}
		if w.verify {
			w.bufferedCRC = util.Crc32cExtend(w.bufferedCRC, w.buf[start:])
		}
	}
	w.pendingSync = true
	w.fileSize.Add(uint64(padBytes))
	return nil
}

// Close writes what is buffered and closes the file, which happens also when
// an error was seen, then and now. It does not sync, but with direct I/O. A
// second Close does nothing.
func (w *WritableFileWriter) Close(opts *rocksdb.IOOptions) error {
	if w.file == nil {
		if w.seenError.Load() {
			return rocksdb.IOError("File is closed but data not flushed as writer has previous error.")
		}
		return nil
	}
	opts = w.finalize(opts)
	f := w.file
	if w.seenError.Load() {
		w.file = nil
		if err := f.Close(opts); err != nil {
			return err
		}
		return rocksdb.IOError("File is closed but data not flushed as writer has previous error.")
	}
	err := w.Flush(opts)
	if w.directIO {
		if terr := w.cutAndSync(opts); err == nil {
			err = terr
		}
	}
	killpoint.Random("WritableFileWriter::Close:0")
	start := w.listeners.start()
	cerr := f.Close(opts)
	w.listeners.notify(start, rocksdb.FileOperationTypeClose, rocksdb.FileOperationTypeClose, 0, 0, cerr)
	if err == nil {
		err = cerr
	}
	w.file = nil
	killpoint.Random("WritableFileWriter::Close:1")
	if err != nil {
		w.setSeenError(err)
		return err
	}
	if w.checksumGen != nil && !w.checksumFinalized {
		w.checksumGen.Finalize()
		w.checksumFinalized = true
	}
	return nil
}

// cutAndSync takes off the padding of the last direct write.
func (w *WritableFileWriter) cutAndSync(opts *rocksdb.IOOptions) error {
	size := w.fileSize.Load()
	start := w.listeners.start()
	err := w.file.Truncate(size, opts)
	w.listeners.notify(start, rocksdb.FileOperationTypeTruncate, rocksdb.FileOperationTypeTruncate, 0, int(size), err)
	if err != nil {
		return err
	}
	start = w.listeners.start()
	err = w.file.Fsync(opts)
	w.listeners.notify(start, rocksdb.FileOperationTypeFsync, rocksdb.FileOperationTypeFsync, 0, 0, err)
	return err
}

// Flush writes what is buffered to the system, and starts syncing as
// BytesPerSync says.
func (w *WritableFileWriter) Flush(opts *rocksdb.IOOptions) error {
	if err := w.usable(); err != nil {
		return err
	}
	opts = w.finalize(opts)
	killpoint.RandomWithWeight("WritableFileWriter::Flush:0", killpoint.ReduceOdds2)
	if len(w.buf) > 0 {
		var err error
		withCRC := w.verify && w.bufferedWithCRC
		switch {
		case w.directIO && !w.pendingSync: // the tail is written already
		case w.directIO:
			err = w.writeDirect(opts, withCRC)
		case withCRC:
			err = w.writeBufferedWithChecksum(opts, w.buf)
		default:
			err = w.writeBuffered(opts, w.buf)
		}
		if err != nil {
			w.setSeenError(err)
			return err
		}
	}
	start := w.listeners.start()
	err := w.file.Flush(opts)
	w.listeners.notify(start, rocksdb.FileOperationTypeFlush, rocksdb.FileOperationTypeFlush, 0, 0, err)
	if err != nil {
		w.setSeenError(err)
		return err
	}
	if !w.directIO && w.bytesPerSync != 0 {
		return w.syncStep(opts)
	}
	return nil
}

// syncStep begins to write back what BytesPerSync has let grow.
func (w *WritableFileWriter) syncStep(opts *rocksdb.IOOptions) error {
	size := w.fileSize.Load()
	if size <= bytesNotSyncRange {
		return nil
	}
	to := roundDown(size-bytesNotSyncRange, bytesAlignWhenSync)
	if to <= w.lastSyncSize || to-w.lastSyncSize < w.bytesPerSync {
		return nil
	}
	err := w.rangeSync(opts, w.lastSyncSize, to-w.lastSyncSize)
	w.lastSyncSize = to
	return err
}

// Sync flushes and makes the data durable; with useFsync the metadata too.
func (w *WritableFileWriter) Sync(opts *rocksdb.IOOptions, useFsync bool) error {
	if err := w.usable(); err != nil {
		return err
	}
	opts = w.finalize(opts)
	if err := w.Flush(opts); err != nil {
		return err
	}
	killpoint.Random("WritableFileWriter::Sync:0")
	if !w.directIO && w.pendingSync {
		if err := w.syncInternal(opts, useFsync); err != nil {
			w.setSeenError(err)
			return err
		}
	}
	killpoint.Random("WritableFileWriter::Sync:1")
	w.pendingSync = false
	return nil
}

// SyncWithoutFlush makes durable what was flushed. It may be called while
// another goroutine appends, if the file allows.
func (w *WritableFileWriter) SyncWithoutFlush(opts *rocksdb.IOOptions, useFsync bool) error {
	if err := w.usable(); err != nil {
		return err
	}
	if !w.file.IsSyncThreadSafe() {
		return rocksdb.NotSupported("Can't WritableFileWriter::SyncWithoutFlush() because WritableFile::IsSyncThreadSafe() is false")
	}
	syncpoint.Process("WritableFileWriter::SyncWithoutFlush:1")
	// finalOpts may be in use by the goroutine that appends.
	err := w.syncInternal(w.finalizeIn(new(rocksdb.IOOptions), orDefault(opts)), useFsync)
	syncpoint.Process("WritableFileWriter::SyncWithoutFlush:2")
	if err != nil {
		w.setSeenError(err)
	}
	return err
}

func (w *WritableFileWriter) syncInternal(opts *rocksdb.IOOptions, useFsync bool) error {
	var t, cpu monitoring.PerfStepTimer
	if opts.IOStats != nil {
		startNanos(&t, opts.IOStats, &opts.IOStats.FsyncNanos, w.clock)
		startCPUNanos(&cpu, opts.IOStats, &opts.IOStats.CPUWriteNanos, w.clock)
	}
	syncpoint.Process("WritableFileWriter::SyncInternal:0")
	start := w.listeners.start()
	var err error
	op := rocksdb.FileOperationTypeSync
	if useFsync {
		op = rocksdb.FileOperationTypeFsync
		err = w.file.Fsync(opts)
	} else {
		err = w.file.Sync(opts)
	}
	t.Stop()
	cpu.Stop()
	w.listeners.notify(start, op, op, 0, 0, err)
	return err
}

func (w *WritableFileWriter) rangeSync(opts *rocksdb.IOOptions, offset, n uint64) error {
	var t monitoring.PerfStepTimer
	if opts.IOStats != nil {
		startNanos(&t, opts.IOStats, &opts.IOStats.RangeSyncNanos, w.clock)
	}
	syncpoint.Process("WritableFileWriter::RangeSync:0")
	start := w.listeners.start()
	err := w.file.RangeSync(offset, n, opts)
	t.Stop()
	w.listeners.notify(start, rocksdb.FileOperationTypeRangeSync, rocksdb.FileOperationTypeRangeSync, offset, int(n), err)
	if err != nil {
		w.setSeenError(err)
	}
	return err
}

// GetFileSize counts what was appended, written or not. Safe for concurrent
// use, as GetFlushedSize.
func (w *WritableFileWriter) GetFileSize() uint64 { return w.fileSize.Load() }

// GetFlushedSize counts what was handed to the file.
func (w *WritableFileWriter) GetFlushedSize() uint64 { return w.flushedSize.Load() }

// InvalidateCache drops cached pages.
func (w *WritableFileWriter) InvalidateCache(offset, length uint64) error {
	if w.file == nil {
		return rocksdb.IOError("Writer is closed: " + w.name)
	}
	return w.file.InvalidateCache(offset, length)
}

// FileName is the name the writer was made with.
func (w *WritableFileWriter) FileName() string { return w.name }

// WritableFile is the file; nil once closed.
func (w *WritableFileWriter) WritableFile() rocksdb.FSWritableFile { return w.file }

// UseDirectIO tells how the file is written.
func (w *WritableFileWriter) UseDirectIO() bool { return w.directIO }

// BufferIsEmpty tells whether all was handed to the file.
func (w *WritableFileWriter) BufferIsEmpty() bool { return len(w.buf) == 0 }

// IsClosed tells whether Close was called.
func (w *WritableFileWriter) IsClosed() bool { return w.file == nil }

// GetFileChecksum is the checksum of the closed file, UnknownFileChecksum
// without a generator or before a successful Close.
func (w *WritableFileWriter) GetFileChecksum() string {
	if w.checksumGen == nil || !w.checksumFinalized {
		return rocksdb.UnknownFileChecksum
	}
	return w.checksumGen.GetChecksum()
}

// GetFileChecksumFuncName names the checksum's function.
func (w *WritableFileWriter) GetFileChecksumFuncName() string {
	if w.checksumGen == nil {
		return rocksdb.UnknownFileChecksumFuncName
	}
	return w.checksumGen.Name()
}

// SetFileChecksumGenerator replaces the generator; for tests.
func (w *WritableFileWriter) SetFileChecksumGenerator(g rocksdb.FileChecksumGenerator) {
	w.checksumGen = g
}

// SeenError tells whether an operation failed.
func (w *WritableFileWriter) SeenError() bool { return w.seenError.Load() }

// ResetSeenError lets the writer go on after an error; what of the data is in
// the file is not known.
func (w *WritableFileWriter) ResetSeenError() {
	w.seenError.Store(false)
	w.seenInjected.Store(false)
}

// SetSeenError makes the writer refuse all, for err's sake.
func (w *WritableFileWriter) SetSeenError(err error) { w.setSeenError(err) }

func (w *WritableFileWriter) setSeenError(err error) {
	w.seenError.Store(true)
	if err != nil && strings.Contains(rocksdb.AsStatus(err).Message, "inject") {
		w.seenInjected.Store(true)
	}
}

// SeenInjectedError tells whether the error came from fault injection.
func (w *WritableFileWriter) SeenInjectedError() bool { return w.seenInjected.Load() }

// GetWriterHasPreviousErrorStatus is what operations fail with after an error.
func (w *WritableFileWriter) GetWriterHasPreviousErrorStatus() error {
	if w.seenInjected.Load() {
		return rocksdb.IOError("Writer has previous injected error.")
	}
	return rocksdb.IOError("Writer has previous error.")
}
