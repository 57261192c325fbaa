// Port of utilities/counted_fs.{h,cc}. Differs: files count as closed at
// Close, for want of destructors; a file that is closed twice counts once.

package fsutil

import (
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// OpCounter counts the calls of one kind and the bytes that they moved.
type OpCounter struct {
	Ops   atomic.Int64
	Bytes atomic.Uint64
}

// Reset sets it to zero.
func (c *OpCounter) Reset() {
	c.Ops.Store(0)
	c.Bytes.Store(0)
}

// RecordOp counts a call that ended with err; what is not supported does not
// count.
func (c *OpCounter) RecordOp(err error, bytes int) {
	if !rocksdb.IsNotSupported(err) {
		c.Ops.Add(1)
	}
	if err == nil {
		c.Bytes.Add(uint64(bytes))
	}
}

// FileOpCounters is what a CountedFileSystem counts. Directories count in
// Opens and Closes too.
type FileOpCounters struct {
	Opens     atomic.Int64
	Closes    atomic.Int64
	Deletes   atomic.Int64
	Renames   atomic.Int64
	Flushes   atomic.Int64
	Syncs     atomic.Int64
	Dsyncs    atomic.Int64
	Fsyncs    atomic.Int64
	DirOpens  atomic.Int64
	DirCloses atomic.Int64
	Reads     OpCounter
	Writes    OpCounter
}

// Reset sets all to zero.
func (c *FileOpCounters) Reset() {
	for _, n := range []*atomic.Int64{
		&c.Opens, &c.Closes, &c.Deletes, &c.Renames, &c.Flushes, &c.Syncs,
		&c.Dsyncs, &c.Fsyncs, &c.DirOpens, &c.DirCloses,
	} {
		n.Store(0)
	}
	c.Reads.Reset()
	c.Writes.Reset()
}

// PrintCounters gives the counts as text, one a line.
func (c *FileOpCounters) PrintCounters() string {
	var b strings.Builder
	line := func(what string, n any) { fmt.Fprintf(&b, "Num %s: %d\n", what, n) }
	line("files opened", c.Opens.Load())
	line("files deleted", c.Deletes.Load())
	line("files renamed", c.Renames.Load())
	line("Flush()", c.Flushes.Load())
	line("Sync()", c.Syncs.Load())
	line("Fsync()", c.Fsyncs.Load())
	line("Dir Fsync()", c.Dsyncs.Load())
	line("Close()", c.Closes.Load())
	line("Dir Open()", c.DirOpens.Load())
	line("Dir Close()", c.DirCloses.Load())
	line("Read()", c.Reads.Ops.Load())
	line("Append()", c.Writes.Ops.Load())
	line("bytes read", c.Reads.Bytes.Load())
	line("bytes written", c.Writes.Bytes.Load())
	return b.String()
}

// countOK counts a call that worked and hands its error on.
func countOK(n *atomic.Int64, err error) error {
	if err == nil {
		n.Add(1)
	}
	return err
}

// CountedFileSystem counts the calls that reach its target.
type CountedFileSystem struct {
	rocksdb.FileSystemWrapper
	counters FileOpCounters
}

// NewCountedFileSystem counts what is done to base.
func NewCountedFileSystem(base rocksdb.FileSystem) *CountedFileSystem {
	return &CountedFileSystem{FileSystemWrapper: rocksdb.FileSystemWrapper{FileSystem: base}}
}

// Name is upstream's.
func (f *CountedFileSystem) Name() string { return "CountedFileSystem" }

// Counters are live.
func (f *CountedFileSystem) Counters() *FileOpCounters { return &f.counters }

// PrintCounters gives the counts as text.
func (f *CountedFileSystem) PrintCounters() string { return f.counters.PrintCounters() }

// ResetCounters sets all counts to zero.
func (f *CountedFileSystem) ResetCounters() { f.counters.Reset() }

// NewSequentialFile counts an open.
func (f *CountedFileSystem) NewSequentialFile(name string, opts *rocksdb.FileOptions) (rocksdb.FSSequentialFile, error) {
	file, err := f.Target().NewSequentialFile(name, opts)
	if countOK(&f.counters.Opens, err) != nil {
		return nil, err
	}
	return &countedSequentialFile{FSSequentialFile: file, c: &f.counters}, nil
}

// NewRandomAccessFile counts an open.
func (f *CountedFileSystem) NewRandomAccessFile(name string, opts *rocksdb.FileOptions) (rocksdb.FSRandomAccessFile, error) {
	file, err := f.Target().NewRandomAccessFile(name, opts)
	if countOK(&f.counters.Opens, err) != nil {
		return nil, err
	}
	return &countedRandomAccessFile{FSRandomAccessFile: file, c: &f.counters}, nil
}

func (f *CountedFileSystem) writable(file rocksdb.FSWritableFile, err error) (rocksdb.FSWritableFile, error) {
	if countOK(&f.counters.Opens, err) != nil {
		return nil, err
	}
	return &countedWritableFile{FSWritableFile: file, c: &f.counters}, nil
}

// NewWritableFile counts an open.
func (f *CountedFileSystem) NewWritableFile(name string, opts *rocksdb.FileOptions) (rocksdb.FSWritableFile, error) {
	return f.writable(f.Target().NewWritableFile(name, opts))
}

// ReopenWritableFile counts an open.
func (f *CountedFileSystem) ReopenWritableFile(name string, opts *rocksdb.FileOptions) (rocksdb.FSWritableFile, error) {
	return f.writable(f.Target().ReopenWritableFile(name, opts))
}

// ReuseWritableFile counts an open.
func (f *CountedFileSystem) ReuseWritableFile(name, oldName string, opts *rocksdb.FileOptions) (rocksdb.FSWritableFile, error) {
	return f.writable(f.Target().ReuseWritableFile(name, oldName, opts))
}

// NewRandomRWFile counts an open.
func (f *CountedFileSystem) NewRandomRWFile(name string, opts *rocksdb.FileOptions) (rocksdb.FSRandomRWFile, error) {
	file, err := f.Target().NewRandomRWFile(name, opts)
	if countOK(&f.counters.Opens, err) != nil {
		return nil, err
	}
	return &countedRandomRWFile{FSRandomRWFile: file, c: &f.counters}, nil
}

// NewDirectory counts an open.
func (f *CountedFileSystem) NewDirectory(name string, opts *rocksdb.IOOptions) (rocksdb.FSDirectory, error) {
	dir, err := f.Target().NewDirectory(name, opts)
	if countOK(&f.counters.Opens, err) != nil {
		return nil, err
	}
	f.counters.DirOpens.Add(1)
	return &countedDirectory{FSDirectory: dir, c: &f.counters}, nil
}

// DeleteFile counts.
func (f *CountedFileSystem) DeleteFile(name string, opts *rocksdb.IOOptions) error {
	return countOK(&f.counters.Deletes, f.Target().DeleteFile(name, opts))
}

// RenameFile counts.
func (f *CountedFileSystem) RenameFile(src, target string, opts *rocksdb.IOOptions) error {
	return countOK(&f.counters.Renames, f.Target().RenameFile(src, target, opts))
}

type countedSequentialFile struct {
	rocksdb.FSSequentialFile
	c      *FileOpCounters
	closed atomic.Bool
}

func (f *countedSequentialFile) Read(n int, opts *rocksdb.IOOptions, scratch []byte) ([]byte, error) {
	got, err := f.FSSequentialFile.Read(n, opts, scratch)
	f.c.Reads.RecordOp(err, len(got))
	return got, err
}

func (f *countedSequentialFile) PositionedRead(offset uint64, n int, opts *rocksdb.IOOptions, scratch []byte) ([]byte, error) {
	got, err := f.FSSequentialFile.PositionedRead(offset, n, opts, scratch)
	f.c.Reads.RecordOp(err, len(got))
	return got, err
}

func (f *countedSequentialFile) Close() error {
	if !f.closed.Swap(true) {
		f.c.Closes.Add(1)
	}
	return f.FSSequentialFile.Close()
}

type countedRandomAccessFile struct {
	rocksdb.FSRandomAccessFile
	c      *FileOpCounters
	closed atomic.Bool
}

func (f *countedRandomAccessFile) Read(offset uint64, n int, opts *rocksdb.IOOptions, scratch []byte) ([]byte, error) {
	got, err := f.FSRandomAccessFile.Read(offset, n, opts, scratch)
	f.c.Reads.RecordOp(err, len(got))
	return got, err
}

func (f *countedRandomAccessFile) MultiRead(reqs []rocksdb.FSReadRequest, opts *rocksdb.IOOptions) error {
	err := f.FSRandomAccessFile.MultiRead(reqs, opts)
	for i := range reqs {
		f.c.Reads.RecordOp(reqs[i].Status, len(reqs[i].Result))
	}
	return err
}

func (f *countedRandomAccessFile) Close() error {
	if !f.closed.Swap(true) {
		f.c.Closes.Add(1)
	}
	return f.FSRandomAccessFile.Close()
}

type countedWritableFile struct {
	rocksdb.FSWritableFile
	c      *FileOpCounters
	closed atomic.Bool
}

func (f *countedWritableFile) Append(data []byte, opts *rocksdb.IOOptions) error {
	err := f.FSWritableFile.Append(data, opts)
	f.c.Writes.RecordOp(err, len(data))
	return err
}

func (f *countedWritableFile) AppendWithVerification(data []byte, opts *rocksdb.IOOptions, info rocksdb.DataVerificationInfo) error {
	err := f.FSWritableFile.AppendWithVerification(data, opts, info)
	f.c.Writes.RecordOp(err, len(data))
	return err
}

func (f *countedWritableFile) PositionedAppend(data []byte, offset uint64, opts *rocksdb.IOOptions) error {
	err := f.FSWritableFile.PositionedAppend(data, offset, opts)
	f.c.Writes.RecordOp(err, len(data))
	return err
}

func (f *countedWritableFile) PositionedAppendWithVerification(data []byte, offset uint64, opts *rocksdb.IOOptions, info rocksdb.DataVerificationInfo) error {
	err := f.FSWritableFile.PositionedAppendWithVerification(data, offset, opts, info)
	f.c.Writes.RecordOp(err, len(data))
	return err
}

func (f *countedWritableFile) Close(opts *rocksdb.IOOptions) error {
	err := f.FSWritableFile.Close(opts)
	if err == nil && !f.closed.Swap(true) {
		f.c.Closes.Add(1)
	}
	return err
}

func (f *countedWritableFile) Flush(opts *rocksdb.IOOptions) error {
	return countOK(&f.c.Flushes, f.FSWritableFile.Flush(opts))
}

func (f *countedWritableFile) Sync(opts *rocksdb.IOOptions) error {
	return countOK(&f.c.Syncs, f.FSWritableFile.Sync(opts))
}

func (f *countedWritableFile) Fsync(opts *rocksdb.IOOptions) error {
	return countOK(&f.c.Fsyncs, f.FSWritableFile.Fsync(opts))
}

func (f *countedWritableFile) RangeSync(offset, nbytes uint64, opts *rocksdb.IOOptions) error {
	return countOK(&f.c.Syncs, f.FSWritableFile.RangeSync(offset, nbytes, opts))
}

type countedRandomRWFile struct {
	rocksdb.FSRandomRWFile
	c      *FileOpCounters
	closed atomic.Bool
}

func (f *countedRandomRWFile) Write(offset uint64, data []byte, opts *rocksdb.IOOptions) error {
	err := f.FSRandomRWFile.Write(offset, data, opts)
	f.c.Writes.RecordOp(err, len(data))
	return err
}

func (f *countedRandomRWFile) Read(offset uint64, n int, opts *rocksdb.IOOptions, scratch []byte) ([]byte, error) {
	got, err := f.FSRandomRWFile.Read(offset, n, opts, scratch)
	f.c.Reads.RecordOp(err, len(got))
	return got, err
}

func (f *countedRandomRWFile) Flush(opts *rocksdb.IOOptions) error {
	return countOK(&f.c.Flushes, f.FSRandomRWFile.Flush(opts))
}

func (f *countedRandomRWFile) Sync(opts *rocksdb.IOOptions) error {
	return countOK(&f.c.Syncs, f.FSRandomRWFile.Sync(opts))
}

func (f *countedRandomRWFile) Fsync(opts *rocksdb.IOOptions) error {
	return countOK(&f.c.Fsyncs, f.FSRandomRWFile.Fsync(opts))
}

func (f *countedRandomRWFile) Close(opts *rocksdb.IOOptions) error {
	err := f.FSRandomRWFile.Close(opts)
	if err == nil && !f.closed.Swap(true) {
		f.c.Closes.Add(1)
	}
	return err
}

type countedDirectory struct {
	rocksdb.FSDirectory
	c      *FileOpCounters
	closed atomic.Bool
}

func (d *countedDirectory) Fsync(opts *rocksdb.IOOptions) error {
	return countOK(&d.c.Dsyncs, d.FSDirectory.Fsync(opts))
}

func (d *countedDirectory) FsyncWithDirOptions(opts *rocksdb.IOOptions, dirOpts rocksdb.DirFsyncOptions) error {
	return countOK(&d.c.Dsyncs, d.FSDirectory.FsyncWithDirOptions(opts, dirOpts))
}

func (d *countedDirectory) Close(opts *rocksdb.IOOptions) error {
	err := d.FSDirectory.Close(opts)
	if err == nil && !d.closed.Swap(true) {
		d.c.Closes.Add(1)
		d.c.DirCloses.Add(1)
	}
	return err
}
