// Port of env/file_system_tracer.{h,cc}. Differs: the file system and its files are
// wrapped once; without a trace they hand calls on. Infos that a call fails to give
// are traced as 0.

package env

import (
	"path/filepath"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	tracereplay "github.com/rocksdb-go/rocksdb/trace_replay"
)

// FileSystemTracer tells an IOTracer of what is done with the file system and the
// files that it opens, also those opened before the trace.
type FileSystemTracer struct {
	rocksdb.FileSystemWrapper
	tracer *tracereplay.IOTracer
	clock  rocksdb.SystemClock
}

// NewFileSystemTracer wraps base.
func NewFileSystemTracer(base rocksdb.FileSystem, tracer *tracereplay.IOTracer) *FileSystemTracer {
	return &FileSystemTracer{rocksdb.FileSystemWrapper{FileSystem: base}, tracer, rocksdb.DefaultSystemClock()}
}

// tracedOp is an operation under way; the zero value is of none that is traced.
type tracedOp struct {
	t     *FileSystemTracer
	name  string
	file  string
	start uint64
}

func (t *FileSystemTracer) begin(name, file string) (op tracedOp) {
	if t.tracer.IsTracingEnabled() {
		op = tracedOp{t, name, file, t.clock.NowNanos()}
	}
	return op
}

// The fields that operations have of their own.
const (
	ioPlain = 0
	ioSize  = 1 << tracereplay.IOFileSize
	ioLen   = 1 << tracereplay.IOLen
	ioRange = ioLen | 1<<tracereplay.IOOffset
)

// end traces the operation. n is the size or the length of the fields, offset is 0
// where they have none; opts may be nil.
func (op *tracedOp) end(err error, opts *rocksdb.IOOptions, fields, n, offset uint64) {
	if op.t != nil {
		op.write(err, opts, fields, n, offset)
	}
}

func (op *tracedOp) write(err error, opts *rocksdb.IOOptions, fields, n, offset uint64) {
	now := op.t.clock.NowNanos()
	r := tracereplay.IOTraceRecord{AccessTimestamp: now, TraceType: tracereplay.TraceIO, IOOpData: fields, FileOperation: op.name,
		Latency: now - op.start, IOStatus: "OK", FileName: filepath.Base(op.file), Len: n, Offset: offset, FileSize: n}
	if err != nil {
		r.IOStatus = err.Error()
	}
	if opts != nil && opts.Dbg != nil && opts.Dbg.RequestID != nil {
		r.RequestID = *opts.Dbg.RequestID
	}
	op.t.tracer.WriteIOOp(&r)
}

// NewSequentialFile traces the call, and what is done with the file.
func (t *FileSystemTracer) NewSequentialFile(name string, opts *rocksdb.FileOptions) (rocksdb.FSSequentialFile, error) {
	op := t.begin("NewSequentialFile", name)
	f, err := t.FileSystem.NewSequentialFile(name, opts)
	op.end(err, nil, ioPlain, 0, 0)
	if err != nil {
		return nil, err
	}
	return &tracedSequentialFile{f, t, name}, nil
}

// NewRandomAccessFile traces the call, and what is done with the file.
func (t *FileSystemTracer) NewRandomAccessFile(name string, opts *rocksdb.FileOptions) (rocksdb.FSRandomAccessFile, error) {
	op := t.begin("NewRandomAccessFile", name)
	f, err := t.FileSystem.NewRandomAccessFile(name, opts)
	op.end(err, nil, ioPlain, 0, 0)
	if err != nil {
		return nil, err
	}
	return &tracedRandomAccessFile{f, t, name}, nil
}

// NewWritableFile traces the call, and what is done with the file.
func (t *FileSystemTracer) NewWritableFile(name string, opts *rocksdb.FileOptions) (rocksdb.FSWritableFile, error) {
	op := t.begin("NewWritableFile", name)
	f, err := t.FileSystem.NewWritableFile(name, opts)
	op.end(err, nil, ioPlain, 0, 0)
	if err != nil {
		return nil, err
	}
	return &tracedWritableFile{f, t, name}, nil
}

// ReopenWritableFile traces the call, and what is done with the file.
func (t *FileSystemTracer) ReopenWritableFile(name string, opts *rocksdb.FileOptions) (rocksdb.FSWritableFile, error) {
	op := t.begin("ReopenWritableFile", name)
	f, err := t.FileSystem.ReopenWritableFile(name, opts)
	op.end(err, nil, ioPlain, 0, 0)
	if err != nil {
		return nil, err
	}
	return &tracedWritableFile{f, t, name}, nil
}

// ReuseWritableFile traces the call, and what is done with the file.
func (t *FileSystemTracer) ReuseWritableFile(name, oldName string, opts *rocksdb.FileOptions) (rocksdb.FSWritableFile, error) {
	op := t.begin("ReuseWritableFile", name)
	f, err := t.FileSystem.ReuseWritableFile(name, oldName, opts)
	op.end(err, nil, ioPlain, 0, 0)
	if err != nil {
		return nil, err
	}
	return &tracedWritableFile{f, t, name}, nil
}

// NewRandomRWFile traces the call, and what is done with the file.
func (t *FileSystemTracer) NewRandomRWFile(name string, opts *rocksdb.FileOptions) (rocksdb.FSRandomRWFile, error) {
	op := t.begin("NewRandomRWFile", name)
	f, err := t.FileSystem.NewRandomRWFile(name, opts)
	op.end(err, nil, ioPlain, 0, 0)
	if err != nil {
		return nil, err
	}
	return &tracedRandomRWFile{f, t, name}, nil
}

// NewDirectory traces the call.
func (t *FileSystemTracer) NewDirectory(name string, opts *rocksdb.IOOptions) (rocksdb.FSDirectory, error) {
	op := t.begin("NewDirectory", name)
	x, err := t.FileSystem.NewDirectory(name, opts)
	op.end(err, opts, ioPlain, 0, 0)
	return x, err
}

// GetChildren traces the call.
func (t *FileSystemTracer) GetChildren(dir string, opts *rocksdb.IOOptions) ([]string, error) {
	op := t.begin("GetChildren", dir)
	x, err := t.FileSystem.GetChildren(dir, opts)
	op.end(err, opts, ioPlain, 0, 0)
	return x, err
}

// DeleteFile traces the call.
func (t *FileSystemTracer) DeleteFile(name string, opts *rocksdb.IOOptions) error {
	op := t.begin("DeleteFile", name)
	err := t.FileSystem.DeleteFile(name, opts)
	op.end(err, opts, ioPlain, 0, 0)
	return err
}

// CreateDir traces the call.
func (t *FileSystemTracer) CreateDir(name string, opts *rocksdb.IOOptions) error {
	op := t.begin("CreateDir", name)
	err := t.FileSystem.CreateDir(name, opts)
	op.end(err, opts, ioPlain, 0, 0)
	return err
}

// CreateDirIfMissing traces the call.
func (t *FileSystemTracer) CreateDirIfMissing(name string, opts *rocksdb.IOOptions) error {
	op := t.begin("CreateDirIfMissing", name)
	err := t.FileSystem.CreateDirIfMissing(name, opts)
	op.end(err, opts, ioPlain, 0, 0)
	return err
}

// DeleteDir traces the call.
func (t *FileSystemTracer) DeleteDir(name string, opts *rocksdb.IOOptions) error {
	op := t.begin("DeleteDir", name)
	err := t.FileSystem.DeleteDir(name, opts)
	op.end(err, opts, ioPlain, 0, 0)
	return err
}

// GetFileSize traces the call.
func (t *FileSystemTracer) GetFileSize(name string, opts *rocksdb.IOOptions) (uint64, error) {
	op := t.begin("GetFileSize", name)
	x, err := t.FileSystem.GetFileSize(name, opts)
	op.end(err, opts, ioSize, x, 0)
	return x, err
}

// Truncate traces the call.
func (t *FileSystemTracer) Truncate(name string, size uint64, opts *rocksdb.IOOptions) error {
	op := t.begin("Truncate", name)
	err := t.FileSystem.Truncate(name, size, opts)
	op.end(err, opts, ioSize, size, 0)
	return err
}

type tracedSequentialFile struct {
	rocksdb.FSSequentialFile
	t    *FileSystemTracer
	name string
}

func (f *tracedSequentialFile) Read(n int, opts *rocksdb.IOOptions, scratch []byte) ([]byte, error) {
	op := f.t.begin("Read", f.name)
	x, err := f.FSSequentialFile.Read(n, opts, scratch)
	op.end(err, opts, ioLen, uint64(len(x)), 0)
	return x, err
}

func (f *tracedSequentialFile) PositionedRead(offset uint64, n int, opts *rocksdb.IOOptions, scratch []byte) ([]byte, error) {
	op := f.t.begin("PositionedRead", f.name)
	x, err := f.FSSequentialFile.PositionedRead(offset, n, opts, scratch)
	op.end(err, opts, ioRange, uint64(len(x)), offset)
	return x, err
}

func (f *tracedSequentialFile) InvalidateCache(offset, length uint64) error {
	op := f.t.begin("InvalidateCache", f.name)
	err := f.FSSequentialFile.InvalidateCache(offset, length)
	op.end(err, nil, ioRange, length, offset)
	return err
}

type tracedRandomAccessFile struct {
	rocksdb.FSRandomAccessFile
	t    *FileSystemTracer
	name string
}

func (f *tracedRandomAccessFile) Read(offset uint64, n int, opts *rocksdb.IOOptions, scratch []byte) ([]byte, error) {
	op := f.t.begin("Read", f.name)
	x, err := f.FSRandomAccessFile.Read(offset, n, opts, scratch)
	op.end(err, opts, ioRange, uint64(n), offset)
	return x, err
}

// MultiRead traces each request, all with the time of the call.
func (f *tracedRandomAccessFile) MultiRead(reqs []rocksdb.FSReadRequest, opts *rocksdb.IOOptions) error {
	op := f.t.begin("MultiRead", f.name)
	err := f.FSRandomAccessFile.MultiRead(reqs, opts)
	for i := range reqs {
		op.end(reqs[i].Status, opts, ioRange, uint64(reqs[i].Len), reqs[i].Offset)
	}
	return err
}

func (f *tracedRandomAccessFile) Prefetch(offset uint64, n int, opts *rocksdb.IOOptions) error {
	op := f.t.begin("Prefetch", f.name)
	err := f.FSRandomAccessFile.Prefetch(offset, n, opts)
	op.end(err, opts, ioRange, uint64(n), offset)
	return err
}

// ReadAsync is traced when the read is done.
func (f *tracedRandomAccessFile) ReadAsync(req *rocksdb.FSReadRequest, opts *rocksdb.IOOptions, cb func(*rocksdb.FSReadRequest)) (rocksdb.IOHandle, error) {
	if !f.t.tracer.IsTracingEnabled() {
		return f.FSRandomAccessFile.ReadAsync(req, opts, cb)
	}
	op := f.t.begin("ReadAsync", f.name)
	return f.FSRandomAccessFile.ReadAsync(req, opts, func(r *rocksdb.FSReadRequest) {
		op.end(r.Status, nil, ioRange, uint64(len(r.Result)), r.Offset)
		cb(r)
	})
}

func (f *tracedRandomAccessFile) InvalidateCache(offset, length uint64) error {
	op := f.t.begin("InvalidateCache", f.name)
	err := f.FSRandomAccessFile.InvalidateCache(offset, length)
	op.end(err, nil, ioRange, length, offset)
	return err
}

type tracedWritableFile struct {
	rocksdb.FSWritableFile
	t    *FileSystemTracer
	name string
}

func (f *tracedWritableFile) Append(data []byte, opts *rocksdb.IOOptions) error {
	op := f.t.begin("Append", f.name)
	err := f.FSWritableFile.Append(data, opts)
	op.end(err, opts, ioLen, uint64(len(data)), 0)
	return err
}

// AppendWithVerification is traced as an Append.
func (f *tracedWritableFile) AppendWithVerification(data []byte, opts *rocksdb.IOOptions, info rocksdb.DataVerificationInfo) error {
	op := f.t.begin("Append", f.name)
	err := f.FSWritableFile.AppendWithVerification(data, opts, info)
	op.end(err, opts, ioLen, uint64(len(data)), 0)
	return err
}

func (f *tracedWritableFile) PositionedAppend(data []byte, offset uint64, opts *rocksdb.IOOptions) error {
	op := f.t.begin("PositionedAppend", f.name)
	err := f.FSWritableFile.PositionedAppend(data, offset, opts)
	op.end(err, opts, ioRange, uint64(len(data)), offset)
	return err
}

// PositionedAppendWithVerification is traced as a PositionedAppend.
func (f *tracedWritableFile) PositionedAppendWithVerification(data []byte, offset uint64, opts *rocksdb.IOOptions, info rocksdb.DataVerificationInfo) error {
	op := f.t.begin("PositionedAppend", f.name)
	err := f.FSWritableFile.PositionedAppendWithVerification(data, offset, opts, info)
	op.end(err, opts, ioRange, uint64(len(data)), offset)
	return err
}

func (f *tracedWritableFile) Truncate(size uint64, opts *rocksdb.IOOptions) error {
	op := f.t.begin("Truncate", f.name)
	err := f.FSWritableFile.Truncate(size, opts)
	op.end(err, opts, ioLen, size, 0)
	return err
}

func (f *tracedWritableFile) Close(opts *rocksdb.IOOptions) error {
	op := f.t.begin("Close", f.name)
	err := f.FSWritableFile.Close(opts)
	op.end(err, opts, ioPlain, 0, 0)
	return err
}

func (f *tracedWritableFile) GetFileSize(opts *rocksdb.IOOptions) uint64 {
	op := f.t.begin("GetFileSize", f.name)
	n := f.FSWritableFile.GetFileSize(opts)
	op.end(nil, opts, ioSize, n, 0)
	return n
}

func (f *tracedWritableFile) InvalidateCache(offset, length uint64) error {
	op := f.t.begin("InvalidateCache", f.name)
	err := f.FSWritableFile.InvalidateCache(offset, length)
	op.end(err, nil, ioRange, length, offset)
	return err
}

type tracedRandomRWFile struct {
	rocksdb.FSRandomRWFile
	t    *FileSystemTracer
	name string
}

func (f *tracedRandomRWFile) Write(offset uint64, data []byte, opts *rocksdb.IOOptions) error {
	op := f.t.begin("Write", f.name)
	err := f.FSRandomRWFile.Write(offset, data, opts)
	op.end(err, opts, ioRange, uint64(len(data)), offset)
	return err
}

func (f *tracedRandomRWFile) Read(offset uint64, n int, opts *rocksdb.IOOptions, scratch []byte) ([]byte, error) {
	op := f.t.begin("Read", f.name)
	x, err := f.FSRandomRWFile.Read(offset, n, opts, scratch)
	op.end(err, opts, ioRange, uint64(n), offset)
	return x, err
}

func (f *tracedRandomRWFile) Flush(opts *rocksdb.IOOptions) error {
	op := f.t.begin("Flush", f.name)
	err := f.FSRandomRWFile.Flush(opts)
	op.end(err, opts, ioPlain, 0, 0)
	return err
}

func (f *tracedRandomRWFile) Close(opts *rocksdb.IOOptions) error {
	op := f.t.begin("Close", f.name)
	err := f.FSRandomRWFile.Close(opts)
	op.end(err, opts, ioPlain, 0, 0)
	return err
}

func (f *tracedRandomRWFile) Sync(opts *rocksdb.IOOptions) error {
	op := f.t.begin("Sync", f.name)
	err := f.FSRandomRWFile.Sync(opts)
	op.end(err, opts, ioPlain, 0, 0)
	return err
}

func (f *tracedRandomRWFile) Fsync(opts *rocksdb.IOOptions) error {
	op := f.t.begin("Fsync", f.name)
	err := f.FSRandomRWFile.Fsync(opts)
	op.end(err, opts, ioPlain, 0, 0)
	return err
}
