// Port of env/env_encryption.cc and include/rocksdb/env_encryption.h. Differs:
// a file shorter than its prefix is Corruption, not a size below zero; Truncate
// by name leaves the prefix out; files are not mapped; times of encryption are
// not taken, the perf context being the reader's.

package env

import (
	"unsafe"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

// EncryptedFileSystem encrypts the contents of files. Names, the info log and
// directories are as they are in its target.
type EncryptedFileSystem struct {
	rocksdb.FileSystemWrapper
	provider rocksdb.EncryptionProvider
}

const encryptedFSName = "EncryptedFileSystem"

// NewEncryptedFS encrypts what base keeps.
func NewEncryptedFS(base rocksdb.FileSystem, provider rocksdb.EncryptionProvider) (*EncryptedFileSystem, error) {
	cfg := rocksdb.DefaultConfigOptions()
	e := &EncryptedFileSystem{rocksdb.FileSystemWrapper{FileSystem: base}, provider}
	if err := e.PrepareOptions(&cfg); err != nil {
		return nil, err
	}
	if p, ok := provider.(rocksdb.OptionsPreparer); ok {
		if err := p.PrepareOptions(&cfg); err != nil {
			return nil, err
		}
	}
	return e, nil
}

// NewEncryptedEnv is base with an EncryptedFileSystem.
func NewEncryptedEnv(base rocksdb.Env, provider rocksdb.EncryptionProvider) (rocksdb.Env, error) {
	fs, err := NewEncryptedFS(base.GetFileSystem(), provider)
	if err != nil {
		return nil, err
	}
	return NewCompositeEnvWrapper(base, fs, nil), nil
}

// Name is EncryptedFileSystem.
func (e *EncryptedFileSystem) Name() string { return encryptedFSName }

// OptionsPtr has "provider" and the target.
func (e *EncryptedFileSystem) OptionsPtr(name string) any {
	if name == rocksdb.EncryptedFSOptionsName {
		return &e.provider
	}
	return e.FileSystemWrapper.OptionsPtr(name)
}

// PrepareOptions wants a provider.
func (e *EncryptedFileSystem) PrepareOptions(*rocksdb.ConfigOptions) error {
	if e.provider == nil {
		return rocksdb.NotFound("Missing configurable object", "provider")
	}
	return nil
}

// AddCipher is the provider's.
func (e *EncryptedFileSystem) AddCipher(descriptor, cipher string, length int, forWrite bool) error {
	return e.provider.AddCipher(descriptor, cipher, length, forWrite)
}

// SupportedOps is the target's without buffers of its own, which could not be
// decrypted in place.
func (e *EncryptedFileSystem) SupportedOps() int64 {
	return e.FileSystem.SupportedOps() &^ (1 << rocksdb.FSBuffer)
}

// prefixSize is the length of the prefix as files count.
func (e *EncryptedFileSystem) prefixSize() uint64 { return uint64(e.provider.GetPrefixLength()) }

func refuseMmap(opts *rocksdb.FileOptions, reads, writes bool) error {
	switch {
	case reads && opts.UseMmapReads:
		return rocksdb.InvalidArgument(encryptedFSName, "allow_mmap_reads is set")
	case writes && opts.UseMmapWrites:
		return rocksdb.InvalidArgument(encryptedFSName, "allow_mmap_writes is set")
	}
	return nil
}

// newStream makes a new file's prefix, writes it and gives the file's stream.
func (e *EncryptedFileSystem) newStream(name string, opts *rocksdb.FileOptions, alignment int, write func(prefix []byte) error) (rocksdb.BlockAccessCipherStream, error) {
	prefix := util.AlignedSlice(e.provider.GetPrefixLength(), alignment)
	if err := e.provider.CreateNewPrefix(name, prefix); err != nil {
		return nil, err
	}
	if len(prefix) > 0 {
		if err := write(prefix); err != nil {
			return nil, err
		}
	}
	return e.provider.CreateCipherStream(name, &opts.EnvOptions, prefix)
}

// oldStream reads a file's prefix and gives the file's stream.
func (e *EncryptedFileSystem) oldStream(name string, opts *rocksdb.FileOptions, alignment int, read func(n int, scratch []byte) ([]byte, error)) (rocksdb.BlockAccessCipherStream, error) {
	n := e.provider.GetPrefixLength()
	var prefix []byte
	if n > 0 {
		var err error
		if prefix, err = read(n, util.AlignedSlice(n, alignment)); err != nil {
			return nil, err
		}
		if len(prefix) < n {
			return nil, rocksdb.Corruption("encryption prefix is cut off").InAt(name, uint64(len(prefix)))
		}
	}
	return e.provider.CreateCipherStream(name, &opts.EnvOptions, prefix)
}

// NewSequentialFile decrypts; an empty file has no prefix.
func (e *EncryptedFileSystem) NewSequentialFile(name string, opts *rocksdb.FileOptions) (rocksdb.FSSequentialFile, error) {
	opts = orDefault(opts)
	if err := refuseMmap(opts, true, false); err != nil {
		return nil, err
	}
	f, err := e.FileSystem.NewSequentialFile(name, opts)
	if err != nil {
		return nil, err
	}
	size, err := e.FileSystem.GetFileSize(name, &opts.IOOptions)
	if err == nil && size == 0 {
		return f, nil
	}
	var stream rocksdb.BlockAccessCipherStream
	if err == nil {
		stream, err = e.oldStream(name, opts, f.GetRequiredBufferAlignment(), func(n int, scratch []byte) ([]byte, error) {
			return f.Read(n, &opts.IOOptions, scratch)
		})
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return &encryptedSequentialFile{f, stream, e.prefixSize(), e.prefixSize()}, nil
}

// NewRandomAccessFile decrypts.
func (e *EncryptedFileSystem) NewRandomAccessFile(name string, opts *rocksdb.FileOptions) (rocksdb.FSRandomAccessFile, error) {
	opts = orDefault(opts)
	if err := refuseMmap(opts, true, false); err != nil {
		return nil, err
	}
	f, stream, err := e.openRandom(name, opts)
	if err != nil {
		return nil, err
	}
	r := &encryptedRandomAccessFile{FSRandomAccessFile: f, stream: stream, prefix: e.prefixSize()}
	r.base.Self = r
	return r, nil
}

// openRandom opens a file of the target with its stream.
func (e *EncryptedFileSystem) openRandom(name string, opts *rocksdb.FileOptions) (rocksdb.FSRandomAccessFile, rocksdb.BlockAccessCipherStream, error) {
	f, err := e.FileSystem.NewRandomAccessFile(name, opts)
	if err != nil {
		return nil, nil, err
	}
	stream, err := e.oldStream(name, opts, f.GetRequiredBufferAlignment(), func(n int, scratch []byte) ([]byte, error) {
		return f.Read(0, n, &opts.IOOptions, scratch)
	})
	if err != nil {
		_ = f.Close()
		return nil, nil, err
	}
	return f, stream, nil
}

// encryptNew makes the prefix of a file that was opened to be written.
func (e *EncryptedFileSystem) encryptNew(name string, opts *rocksdb.FileOptions, f rocksdb.FSWritableFile, err error) (rocksdb.FSWritableFile, error) {
	if err != nil {
		return nil, err
	}
	stream, err := e.newStream(name, opts, f.GetRequiredBufferAlignment(), func(prefix []byte) error {
		return f.Append(prefix, &opts.IOOptions)
	})
	if err != nil {
		_ = f.Close(&opts.IOOptions)
		return nil, err
	}
	return &encryptedWritableFile{FSWritableFile: f, stream: stream, prefix: e.prefixSize()}, nil
}

// NewWritableFile encrypts.
func (e *EncryptedFileSystem) NewWritableFile(name string, opts *rocksdb.FileOptions) (rocksdb.FSWritableFile, error) {
	opts = orDefault(opts)
	if err := refuseMmap(opts, false, true); err != nil {
		return nil, err
	}
	f, err := e.FileSystem.NewWritableFile(name, opts)
	return e.encryptNew(name, opts, f, err)
}

// ReuseWritableFile gives the file a new prefix.
func (e *EncryptedFileSystem) ReuseWritableFile(name, oldName string, opts *rocksdb.FileOptions) (rocksdb.FSWritableFile, error) {
	opts = orDefault(opts)
	if err := refuseMmap(opts, false, true); err != nil {
		return nil, err
	}
	f, err := e.FileSystem.ReuseWritableFile(name, oldName, opts)
	return e.encryptNew(name, opts, f, err)
}

// ReopenWritableFile goes on with the file's own stream.
func (e *EncryptedFileSystem) ReopenWritableFile(name string, opts *rocksdb.FileOptions) (rocksdb.FSWritableFile, error) {
	opts = orDefault(opts)
	if err := refuseMmap(opts, true, true); err != nil {
		return nil, err
	}
	f, err := e.FileSystem.ReopenWritableFile(name, opts)
	if err != nil || f.GetFileSize(&opts.IOOptions) == 0 {
		return e.encryptNew(name, opts, f, err)
	}
	r, stream, err := e.openRandom(name, opts)
	if err == nil {
		err = r.Close()
	}
	if err != nil {
		_ = f.Close(&opts.IOOptions)
		return nil, err
	}
	return &encryptedWritableFile{FSWritableFile: f, stream: stream, prefix: e.prefixSize()}, nil
}

// NewRandomRWFile encrypts and decrypts.
func (e *EncryptedFileSystem) NewRandomRWFile(name string, opts *rocksdb.FileOptions) (rocksdb.FSRandomRWFile, error) {
	opts = orDefault(opts)
	if err := refuseMmap(opts, true, true); err != nil {
		return nil, err
	}
	isNew := e.FileExists(name, &opts.IOOptions) != nil
	f, err := e.FileSystem.NewRandomRWFile(name, opts)
	if err != nil {
		return nil, err
	}
	var stream rocksdb.BlockAccessCipherStream
	if isNew {
		stream, err = e.newStream(name, opts, f.GetRequiredBufferAlignment(), func(prefix []byte) error {
			return f.Write(0, prefix, &opts.IOOptions)
		})
	} else {
		stream, err = e.oldStream(name, opts, f.GetRequiredBufferAlignment(), func(n int, scratch []byte) ([]byte, error) {
			return f.Read(0, n, &opts.IOOptions, scratch)
		})
	}
	if err != nil {
		_ = f.Close(&opts.IOOptions)
		return nil, err
	}
	return &encryptedRandomRWFile{FSRandomRWFile: f, stream: stream, prefix: e.prefixSize()}, nil
}

// NewMemoryMappedFileBuffer is not supported.
func (e *EncryptedFileSystem) NewMemoryMappedFileBuffer(string) (rocksdb.FSMemoryMappedFileBuffer, error) {
	return nil, rocksdb.NotSupported("Mapped files in " + encryptedFSName)
}

// GetChildrenFileAttributes gives sizes without prefixes.
func (e *EncryptedFileSystem) GetChildrenFileAttributes(dir string, opts *rocksdb.IOOptions) ([]rocksdb.FileAttributes, error) {
	attrs, err := e.FileSystem.GetChildrenFileAttributes(dir, opts)
	for i := range attrs { // directories are among them
		attrs[i].SizeBytes -= min(attrs[i].SizeBytes, e.prefixSize())
	}
	return attrs, err
}

// GetFileSize is without the prefix; an empty file has none.
func (e *EncryptedFileSystem) GetFileSize(name string, opts *rocksdb.IOOptions) (uint64, error) {
	size, err := e.FileSystem.GetFileSize(name, opts)
	if err != nil || size == 0 {
		return size, err
	}
	if size < e.prefixSize() {
		return 0, rocksdb.Corruption("encryption prefix is cut off").InAt(name, size)
	}
	return size - e.prefixSize(), nil
}

// Truncate leaves size bytes after the prefix.
func (e *EncryptedFileSystem) Truncate(name string, size uint64, opts *rocksdb.IOOptions) error {
	return e.FileSystem.Truncate(name, size+e.prefixSize(), opts)
}

// decrypt gives what was read at an offset that counts the prefix. A target may
// have answered from memory that is not to change.
func decrypt(stream rocksdb.BlockAccessCipherStream, offset uint64, data, scratch []byte, err error) ([]byte, error) {
	if err != nil || len(data) == 0 {
		return nil, err
	}
	if unsafe.SliceData(data) != unsafe.SliceData(scratch) {
		data = scratch[:copy(scratch, data)]
	}
	if err := stream.Decrypt(offset, data); err != nil {
		return nil, err
	}
	return data, nil
}

type encryptedSequentialFile struct {
	rocksdb.FSSequentialFile
	stream rocksdb.BlockAccessCipherStream
	offset uint64 // in the target's file
	prefix uint64
}

func (f *encryptedSequentialFile) Read(n int, opts *rocksdb.IOOptions, scratch []byte) ([]byte, error) {
	data, err := f.FSSequentialFile.Read(n, opts, scratch)
	data, err = decrypt(f.stream, f.offset, data, scratch, err)
	f.offset += uint64(len(data))
	return data, err
}

func (f *encryptedSequentialFile) Skip(n uint64) error {
	if err := f.FSSequentialFile.Skip(n); err != nil {
		return err
	}
	f.offset += n
	return nil
}

func (f *encryptedSequentialFile) PositionedRead(offset uint64, n int, opts *rocksdb.IOOptions, scratch []byte) ([]byte, error) {
	offset += f.prefix
	data, err := f.FSSequentialFile.PositionedRead(offset, n, opts, scratch)
	data, err = decrypt(f.stream, offset, data, scratch, err)
	if err == nil {
		f.offset = offset + uint64(len(data))
	}
	return data, err
}

func (f *encryptedSequentialFile) InvalidateCache(offset, length uint64) error {
	return f.FSSequentialFile.InvalidateCache(offset+f.prefix, length)
}

type encryptedRandomAccessFile struct {
	rocksdb.FSRandomAccessFile
	base   rocksdb.FSRandomAccessFileBase // reads one by one, through Read
	stream rocksdb.BlockAccessCipherStream
	prefix uint64
}

func (f *encryptedRandomAccessFile) Read(offset uint64, n int, opts *rocksdb.IOOptions, scratch []byte) ([]byte, error) {
	offset += f.prefix
	data, err := f.FSRandomAccessFile.Read(offset, n, opts, scratch)
	return decrypt(f.stream, offset, data, scratch, err)
}

func (f *encryptedRandomAccessFile) MultiRead(reqs []rocksdb.FSReadRequest, opts *rocksdb.IOOptions) error {
	return f.base.MultiRead(reqs, opts)
}

func (f *encryptedRandomAccessFile) ReadAsync(req *rocksdb.FSReadRequest, opts *rocksdb.IOOptions, cb func(*rocksdb.FSReadRequest)) (rocksdb.IOHandle, error) {
	return f.base.ReadAsync(req, opts, cb)
}

func (f *encryptedRandomAccessFile) Prefetch(offset uint64, n int, opts *rocksdb.IOOptions) error {
	return f.FSRandomAccessFile.Prefetch(offset+f.prefix, n, opts)
}

func (f *encryptedRandomAccessFile) InvalidateCache(offset, length uint64) error {
	return f.FSRandomAccessFile.InvalidateCache(offset+f.prefix, length)
}

// GetFileSize is not supported, as upstream has it: the file system is asked.
func (f *encryptedRandomAccessFile) GetFileSize() (uint64, error) { return f.base.GetFileSize() }

type encryptedWritableFile struct {
	rocksdb.FSWritableFile
	stream rocksdb.BlockAccessCipherStream
	prefix uint64
	buf    util.AlignedBuffer
}

// encrypted gives data as it is in the file, valid until the next call.
func (f *encryptedWritableFile) encrypted(offset uint64, data []byte) ([]byte, error) {
	if f.buf.Capacity() < len(data) {
		f.buf.SetAlignment(f.GetRequiredBufferAlignment())
		f.buf.AllocateNewBuffer(len(data))
	}
	f.buf.Clear()
	f.buf.Append(data)
	err := f.stream.Encrypt(offset, f.buf.BufferStart())
	return f.buf.BufferStart(), err
}

func (f *encryptedWritableFile) Append(data []byte, opts *rocksdb.IOOptions) error {
	data, err := f.encrypted(f.FSWritableFile.GetFileSize(opts), data)
	if err != nil {
		return err
	}
	return f.FSWritableFile.Append(data, opts)
}

// AppendWithVerification does not hand on the checksum, which is of other bytes.
func (f *encryptedWritableFile) AppendWithVerification(data []byte, opts *rocksdb.IOOptions, _ rocksdb.DataVerificationInfo) error {
	return f.Append(data, opts)
}

func (f *encryptedWritableFile) PositionedAppend(data []byte, offset uint64, opts *rocksdb.IOOptions) error {
	offset += f.prefix
	data, err := f.encrypted(offset, data)
	if err != nil {
		return err
	}
	return f.FSWritableFile.PositionedAppend(data, offset, opts)
}

func (f *encryptedWritableFile) PositionedAppendWithVerification(data []byte, offset uint64, opts *rocksdb.IOOptions, _ rocksdb.DataVerificationInfo) error {
	return f.PositionedAppend(data, offset, opts)
}

func (f *encryptedWritableFile) GetFileSize(opts *rocksdb.IOOptions) uint64 {
	size := f.FSWritableFile.GetFileSize(opts)
	return size - min(size, f.prefix)
}

func (f *encryptedWritableFile) Truncate(size uint64, opts *rocksdb.IOOptions) error {
	return f.FSWritableFile.Truncate(size+f.prefix, opts)
}

func (f *encryptedWritableFile) InvalidateCache(offset, length uint64) error {
	return f.FSWritableFile.InvalidateCache(offset+f.prefix, length)
}

func (f *encryptedWritableFile) RangeSync(offset, nbytes uint64, opts *rocksdb.IOOptions) error {
	return f.FSWritableFile.RangeSync(offset+f.prefix, nbytes, opts)
}

func (f *encryptedWritableFile) PrepareWrite(offset uint64, length int, opts *rocksdb.IOOptions) {
	f.FSWritableFile.PrepareWrite(offset+f.prefix, length, opts)
}

func (f *encryptedWritableFile) Allocate(offset, length uint64, opts *rocksdb.IOOptions) error {
	return f.FSWritableFile.Allocate(offset+f.prefix, length, opts)
}

type encryptedRandomRWFile struct {
	rocksdb.FSRandomRWFile
	stream rocksdb.BlockAccessCipherStream
	prefix uint64
}

func (f *encryptedRandomRWFile) Write(offset uint64, data []byte, opts *rocksdb.IOOptions) error {
	offset += f.prefix
	own := util.AlignedSlice(len(data), f.GetRequiredBufferAlignment())
	copy(own, data)
	if err := f.stream.Encrypt(offset, own); err != nil {
		return err
	}
	return f.FSRandomRWFile.Write(offset, own, opts)
}

func (f *encryptedRandomRWFile) Read(offset uint64, n int, opts *rocksdb.IOOptions, scratch []byte) ([]byte, error) {
	offset += f.prefix
	data, err := f.FSRandomRWFile.Read(offset, n, opts, scratch)
	return decrypt(f.stream, offset, data, scratch, err)
}
