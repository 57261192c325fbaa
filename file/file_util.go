// Port of file/file_util.{h,cc}. Differs: PrepareIOFromReadOptions and its like
// are in io_options.go; deletion takes the manager, not the database's options.

package file

import (
	"fmt"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

// defaultChecksumReadahead was found best for computing checksums.
const defaultChecksumReadahead = 256 << 10

// CopyOptions are CopyFile's. The zero value reads 4 KiB at a time and does
// not charge rate limiters.
type CopyOptions struct {
	SrcTemperature, DstTemperature rocksdb.Temperature
	UseFsync                       bool
	MaxReadBufferSize              int
	// Progress is told of each piece read, before it is written; it may wait.
	Progress func(bytes int)
	// ReadOptions and WriteOptions may be nil.
	ReadOptions, WriteOptions *rocksdb.IOOptions
}

// CopyFile copies the first size bytes of source, or all when size is 0, to a
// new file and syncs it.
func CopyFile(fs rocksdb.FileSystem, source, destination string, size uint64, o *CopyOptions) error {
	if o == nil {
		o = &CopyOptions{}
	}
	opts := rocksdb.DefaultFileOptions()
	opts.Temperature = o.DstTemperature
	w, err := CreateWritableFileWriter(fs, destination, &opts, nil)
	if err != nil {
		return err
	}
	err = CopyToWriter(fs, source, w, size, o)
	if cerr := w.Close(o.WriteOptions); err == nil {
		err = cerr
	}
	return err
}

// CopyToWriter is CopyFile to a writer, which it syncs and leaves open.
func CopyToWriter(fs rocksdb.FileSystem, source string, w *WritableFileWriter, size uint64, o *CopyOptions) error {
	if o == nil {
		o = &CopyOptions{}
	}
	opts := rocksdb.DefaultFileOptions()
	opts.Temperature = o.SrcTemperature
	r, err := CreateSequentialFileReader(fs, source, &opts, nil)
	if err != nil {
		return err
	}
	defer r.Close()
	if size == 0 {
		if size, err = fs.GetFileSize(source, o.ReadOptions); err != nil {
			return err
		}
	}
	pri := rocksdb.IOTotal
	if o.ReadOptions != nil {
		pri = o.ReadOptions.RateLimiterPriority
	}
	buf := make([]byte, max(4096, o.MaxReadBufferSize))
	for size > 0 {
		data, err := r.Read(int(min(uint64(len(buf)), size)), buf, pri, nil)
		if err != nil {
			return err
		}
		if len(data) == 0 {
			return rocksdb.Corruptionf("File smaller than expected for copy: %s expecting %d more bytes after %d",
				source, size, w.GetFileSize())
		}
		if o.Progress != nil {
			o.Progress(len(data))
		}
		if err := w.Append(o.WriteOptions, data, 0); err != nil {
			return err
		}
		size -= uint64(len(data))
	}
	return w.Sync(o.WriteOptions, o.UseFsync)
}

// CreateFile makes a file of the contents and syncs it.
func CreateFile(fs rocksdb.FileSystem, name string, contents []byte, useFsync bool) error {
	w, err := CreateWritableFileWriter(fs, name, nil, nil)
	if err != nil {
		return err
	}
	err = w.Append(nil, contents, 0)
	if err == nil {
		err = w.Sync(nil, useFsync)
	}
	if cerr := w.Close(nil); err == nil {
		err = cerr
	}
	return err
}

// FileDeleter is what a SstFileManager that deletes files slowly does.
type FileDeleter interface {
	// ScheduleFileDeletion deletes a tracked file, now or in the background;
	// dirToSync is synced then, if not "". forceBG wants the background.
	ScheduleFileDeletion(path, dirToSync string, forceBG bool) error
	// ScheduleUnaccountedFileDeletion does so for a file that is not tracked.
	// bucket, if not nil, groups deletions to wait for.
	ScheduleUnaccountedFileDeletion(path, dirToSync string, forceBG bool, bucket *int32) error
}

// DeleteDBFile deletes a file by way of sfm, if that deletes files and forceFG
// is not set. sfm may be nil.
func DeleteDBFile(fs rocksdb.FileSystem, sfm rocksdb.SstFileManager, name, dirToSync string, forceBG, forceFG bool) error {
	if d, ok := sfm.(FileDeleter); ok && !forceFG {
		return d.ScheduleFileDeletion(name, dirToSync, forceBG)
	}
	return fs.DeleteFile(name, nil)
}

// DeleteUnaccountedDBFile is DeleteDBFile for a file that sfm does not track.
func DeleteUnaccountedDBFile(fs rocksdb.FileSystem, sfm rocksdb.SstFileManager, name, dirToSync string, forceBG, forceFG bool, bucket *int32) error {
	if d, ok := sfm.(FileDeleter); ok && !forceFG {
		return d.ScheduleUnaccountedFileDeletion(name, dirToSync, forceBG, bucket)
	}
	return fs.DeleteFile(name, nil)
}

// ChecksumOptions are GenerateOneFileChecksum's. The zero value has none of it.
type ChecksumOptions struct {
	// RequestedFuncName has to be the generator's, unless "".
	RequestedFuncName string
	// ReadaheadSize in bytes; 0 is 256 KiB.
	ReadaheadSize int
	// ReadOptions and FileOptions may be nil.
	ReadOptions *rocksdb.ReadOptions
	FileOptions *rocksdb.FileOptions
	Stats       rocksdb.Statistics
	Clock       rocksdb.SystemClock
	RateLimiter rocksdb.RateLimiter
}

func newChecksumGenerator(name, requested string, factory rocksdb.FileChecksumGenFactory) (rocksdb.FileChecksumGenerator, error) {
	if factory == nil {
		return nil, rocksdb.InvalidArgument("Checksum factory is invalid")
	}
	gen := factory.CreateFileChecksumGenerator(rocksdb.FileChecksumGenContext{FileName: name, RequestedChecksumFuncName: requested})
	switch {
	case gen == nil:
		return nil, rocksdb.InvalidArgument("Cannot get the file checksum generator based on the requested checksum function name: " +
			requested + " from checksum factory: " + factory.Name())
	case requested != "" && gen.Name() != requested:
		return nil, rocksdb.InvalidArgumentf("Expected file checksum generator named '%s', while the factory created one named '%s'",
			requested, gen.Name())
	}
	return gen, nil
}

// GenerateOneFileChecksum reads a file and computes its checksum; it also gives
// the function's name. o may be nil.
func GenerateOneFileChecksum(fs rocksdb.FileSystem, name string, factory rocksdb.FileChecksumGenFactory, o *ChecksumOptions) (checksum, funcName string, err error) {
	if o == nil {
		o = &ChecksumOptions{}
	}
	gen, err := newChecksumGenerator(name, o.RequestedFuncName, factory)
	if err != nil {
		return "", "", err
	}
	fileOpts := rocksdb.DefaultFileOptions()
	if o.FileOptions != nil {
		fileOpts = *o.FileOptions
	}
	if fileOpts.FileChecksum == "" {
		fileOpts.FileChecksumFuncName = rocksdb.NoFileChecksumFuncName
	}
	r, err := CreateRandomAccessFileReader(fs, name, &fileOpts, &ReaderOptions{
		Clock: o.Clock, Stats: o.Stats, RateLimiter: o.RateLimiter, HistType: rocksdb.HistSSTReadMicros,
	})
	if err != nil {
		return "", "", err
	}
	defer r.Close()
	size, err := fs.GetFileSize(name, nil)
	if err != nil {
		return "", "", err
	}
	opts := rocksdb.DefaultIOOptions()
	if err := r.PrepareIOOptions(o.ReadOptions, &opts); err != nil {
		return "", "", err
	}
	step := o.ReadaheadSize
	if step <= 0 {
		step = defaultChecksumReadahead
	}
	step = int(roundUp(uint64(step), r.Alignment()))
	buf := newAligned(step, r.Alignment())
	for offset := uint64(0); offset < size; {
		n := int(min(uint64(step), size-offset))
		data, err := r.Read(&opts, offset, n, buf, nil)
		if err != nil {
			return "", "", rocksdb.AppendMessage(err, " ", fmt.Sprintf("file read failed with error while computing the checksum of %s", name))
		}
		if len(data) == 0 {
			return "", "", rocksdb.IOError("file too short: " + name)
		}
		syncpoint.Process("GenerateOneFileChecksum::Chunk:0")
		gen.Update(data)
		offset += uint64(len(data))
	}
	gen.Finalize()
	return gen.GetChecksum(), gen.Name(), nil
}

// DestroyDir deletes a directory with all that is in it. It is meant for
// tests. A directory that does not exist is no error.
func DestroyDir(fs rocksdb.FileSystem, dir string) error {
	err := fs.FileExists(dir, nil)
	if rocksdb.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	names, err := fs.GetChildren(dir, nil)
	if err != nil {
		return err
	}
	for _, name := range names {
		path := dir + "/" + name
		is, err := fs.IsDirectory(path, nil)
		if err != nil {
			if rocksdb.IsNotFound(fs.FileExists(path, nil)) {
				continue
			}
			if !rocksdb.IsNotSupported(err) {
				return err
			}
		}
		if is {
			err = DestroyDir(fs, path)
		} else {
			err = fs.DeleteFile(path, nil)
		}
		if err != nil {
			return err
		}
	}
	return fs.DeleteDir(dir, nil)
}

// ReadWhole gives a file's contents; for small ones such as CURRENT.
func ReadWhole(fs rocksdb.FileSystem, name string) ([]byte, error) {
	fo := rocksdb.DefaultFileOptions()
	r, err := CreateSequentialFileReader(fs, name, &fo, nil)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	var data []byte
	buf := make([]byte, 8192)
	for {
		got, err := r.Read(len(buf), buf, rocksdb.IOTotal, nil)
		if err != nil {
			return nil, err
		}
		if len(got) == 0 {
			return data, nil
		}
		data = append(data, got...)
	}
}
