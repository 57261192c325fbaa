// Port of include/rocksdb/file_system.h (default methods, wrappers) and
// env/file_system.cc. Differs: defaults come from embeddable structs, which
// reach the embedding value through Self; a wrapper embeds the interface it
// forwards to.

package rocksdb

// FileSystemBase gives the optional methods of FileSystem. Embed it and set
// Self to the embedding value.
type FileSystemBase struct{ Self FileSystem }

// RegisterDBPaths does nothing.
func (FileSystemBase) RegisterDBPaths([]string) error { return nil }

// UnregisterDBPaths does nothing.
func (FileSystemBase) UnregisterDBPaths([]string) error { return nil }

// ReopenWritableFile is not supported.
func (FileSystemBase) ReopenWritableFile(string, *FileOptions) (FSWritableFile, error) {
	return nil, NotSupported("ReopenWritableFile")
}

// ReuseWritableFile renames and makes the file anew.
func (b FileSystemBase) ReuseWritableFile(name, oldName string, opts *FileOptions) (FSWritableFile, error) {
	var io *IOOptions
	if opts != nil {
		io = &opts.IOOptions
	}
	if err := b.Self.RenameFile(oldName, name, io); err != nil {
		return nil, err
	}
	return b.Self.NewWritableFile(name, opts)
}

// NewRandomRWFile is not supported.
func (FileSystemBase) NewRandomRWFile(string, *FileOptions) (FSRandomRWFile, error) {
	return nil, NotSupported("RandomRWFile is not implemented in this FileSystem")
}

// NewMemoryMappedFileBuffer is not supported.
func (FileSystemBase) NewMemoryMappedFileBuffer(string) (FSMemoryMappedFileBuffer, error) {
	return nil, NotSupported("MemoryMappedFileBuffer is not implemented in this FileSystem")
}

// GetChildrenFileAttributes asks for each child's size; one that vanishes
// meanwhile is left out.
func (b FileSystemBase) GetChildrenFileAttributes(dir string, opts *IOOptions) ([]FileAttributes, error) {
	names, err := b.Self.GetChildren(dir, opts)
	if err != nil {
		return nil, err
	}
	attrs := make([]FileAttributes, 0, len(names))
	for _, name := range names {
		path := dir + "/" + name
		size, err := b.Self.GetFileSize(path, opts)
		if err != nil {
			if IsNotFound(b.Self.FileExists(path, opts)) {
				continue
			}
			return nil, err
		}
		attrs = append(attrs, FileAttributes{Name: name, SizeBytes: size})
	}
	return attrs, nil
}

// Truncate is not supported.
func (FileSystemBase) Truncate(string, uint64, *IOOptions) error {
	return NotSupported("Truncate is not supported for this FileSystem")
}

// LinkFile is not supported.
func (FileSystemBase) LinkFile(string, string, *IOOptions) error {
	return NotSupported("LinkFile is not supported for this FileSystem")
}

// SyncFile opens the file for appending and syncs it.
func (b FileSystemBase) SyncFile(name string, fileOpts *FileOptions, opts *IOOptions, useFsync bool) error {
	f, err := b.Self.ReopenWritableFile(name, fileOpts)
	if err != nil {
		return err
	}
	if useFsync {
		err = f.Fsync(opts)
	} else {
		err = f.Sync(opts)
	}
	if cerr := f.Close(opts); err == nil {
		err = cerr
	}
	return err
}

// NumFileLinks is not supported.
func (FileSystemBase) NumFileLinks(string, *IOOptions) (uint64, error) {
	return 0, NotSupported("Getting number of file links is not supported for this FileSystem")
}

// AreFilesSame is not supported.
func (FileSystemBase) AreFilesSame(string, string, *IOOptions) (bool, error) {
	return false, NotSupported("AreFilesSame is not supported for this FileSystem")
}

// GetFreeSpace is not supported.
func (FileSystemBase) GetFreeSpace(string, *IOOptions) (uint64, error) {
	return 0, NotSupported("GetFreeSpace")
}

// SanitizeFileOptions changes nothing.
func (FileSystemBase) SanitizeFileOptions(*FileOptions) {}

func copyFileOptions(opts *FileOptions) *FileOptions {
	o := DefaultFileOptions()
	if opts != nil {
		o = *opts
	}
	return &o
}

// OptimizeForLogRead turns direct reads off.
func (FileSystemBase) OptimizeForLogRead(opts *FileOptions) *FileOptions {
	o := copyFileOptions(opts)
	o.UseDirectReads = false
	return o
}

// OptimizeForManifestRead turns direct reads off.
func (FileSystemBase) OptimizeForManifestRead(opts *FileOptions) *FileOptions {
	o := copyFileOptions(opts)
	o.UseDirectReads = false
	return o
}

// OptimizeForLogWrite takes the log's BytesPerSync and buffer size.
func (FileSystemBase) OptimizeForLogWrite(opts *FileOptions, walBytesPerSync uint64, writableFileMaxBufferSize uint64) *FileOptions {
	o := copyFileOptions(opts)
	o.BytesPerSync = walBytesPerSync
	o.WritableFileMaxBufferSize = writableFileMaxBufferSize
	return o
}

// OptimizeForManifestWrite copies.
func (FileSystemBase) OptimizeForManifestWrite(opts *FileOptions) *FileOptions {
	return copyFileOptions(opts)
}

// OptimizeForCompactionTableWrite sets UseDirectWrites.
func (FileSystemBase) OptimizeForCompactionTableWrite(opts *FileOptions, useDirectIOForFlushAndCompaction bool) *FileOptions {
	o := copyFileOptions(opts)
	o.UseDirectWrites = useDirectIOForFlushAndCompaction
	return o
}

// OptimizeForCompactionTableRead sets UseDirectReads.
func (FileSystemBase) OptimizeForCompactionTableRead(opts *FileOptions, useDirectReads bool, _ []string) *FileOptions {
	o := copyFileOptions(opts)
	o.UseDirectReads = useDirectReads
	return o
}

// OptimizeForBlobFileRead sets UseDirectReads.
func (FileSystemBase) OptimizeForBlobFileRead(opts *FileOptions, useDirectReads bool) *FileOptions {
	o := copyFileOptions(opts)
	o.UseDirectReads = useDirectReads
	return o
}

// Poll has nothing to wait for.
func (FileSystemBase) Poll([]IOHandle, int) error { return nil }

// AbortIO has nothing to cancel.
func (FileSystemBase) AbortIO([]IOHandle) error { return nil }

// DiscardCacheForDirectory does nothing.
func (FileSystemBase) DiscardCacheForDirectory(string) {}

// SupportedOps is AsyncIO (done at once) and FSPrefetch.
func (FileSystemBase) SupportedOps() int64 { return 1<<AsyncIO | 1<<FSPrefetch }

// FileSystemWrapper forwards all to the FileSystem it embeds; embed it and
// override. A method of the target that calls another reaches the target's,
// not the override.
type FileSystemWrapper struct{ FileSystem }

// Target is the wrapped file system.
func (w *FileSystemWrapper) Target() FileSystem { return w.FileSystem }

// Inner is the wrapped file system, nil where there is none.
func (w *FileSystemWrapper) Inner() Customizable {
	if w.FileSystem == nil {
		return nil
	}
	return w.FileSystem
}

// OptionsPtr has "target".
func (w *FileSystemWrapper) OptionsPtr(name string) any {
	if name == FileSystemTargetOptionsName {
		return &w.FileSystem
	}
	return nil
}

// FSSequentialFileWrapper forwards all to its target.
type FSSequentialFileWrapper struct{ FSSequentialFile }

// FSRandomAccessFileWrapper forwards all to its target.
type FSRandomAccessFileWrapper struct{ FSRandomAccessFile }

// FSWritableFileWrapper forwards all to its target.
type FSWritableFileWrapper struct{ FSWritableFile }

// FSRandomRWFileWrapper forwards all to its target.
type FSRandomRWFileWrapper struct{ FSRandomRWFile }

// FSDirectoryWrapper forwards all to its target.
type FSDirectoryWrapper struct{ FSDirectory }

// FSSequentialFileBase gives the optional methods of FSSequentialFile.
type FSSequentialFileBase struct{}

// PositionedRead is not supported.
func (FSSequentialFileBase) PositionedRead(uint64, int, *IOOptions, []byte) ([]byte, error) {
	return nil, NotSupported("PositionedRead")
}

// UseDirectIO is false.
func (FSSequentialFileBase) UseDirectIO() bool { return false }

// GetRequiredBufferAlignment is DefaultPageSize.
func (FSSequentialFileBase) GetRequiredBufferAlignment() int { return DefaultPageSize }

// InvalidateCache is not supported.
func (FSSequentialFileBase) InvalidateCache(uint64, uint64) error {
	return NotSupported("InvalidateCache not supported.")
}

// GetTemperature is unknown.
func (FSSequentialFileBase) GetTemperature() Temperature { return TemperatureUnknown }

// FSRandomAccessFileBase gives the optional methods of FSRandomAccessFile.
// Set Self to the embedding value.
type FSRandomAccessFileBase struct{ Self FSRandomAccessFile }

// MultiRead reads one request after another.
func (b FSRandomAccessFileBase) MultiRead(reqs []FSReadRequest, opts *IOOptions) error {
	for i := range reqs {
		r := &reqs[i]
		r.Result, r.Status = b.Self.Read(r.Offset, r.Len, opts, r.Scratch)
	}
	return nil
}

// Prefetch is not supported.
func (FSRandomAccessFileBase) Prefetch(uint64, int, *IOOptions) error {
	return NotSupported("Prefetch")
}

// ReadAsync reads at once.
func (b FSRandomAccessFileBase) ReadAsync(req *FSReadRequest, opts *IOOptions, cb func(*FSReadRequest)) (IOHandle, error) {
	req.Result, req.Status = b.Self.Read(req.Offset, req.Len, opts, req.Scratch)
	cb(req)
	return nil, nil
}

// GetUniqueID has none.
func (FSRandomAccessFileBase) GetUniqueID([]byte) int { return 0 }

// Hint does nothing.
func (FSRandomAccessFileBase) Hint(AccessPattern) {}

// UseDirectIO is false.
func (FSRandomAccessFileBase) UseDirectIO() bool { return false }

// GetRequiredBufferAlignment is DefaultPageSize.
func (FSRandomAccessFileBase) GetRequiredBufferAlignment() int { return DefaultPageSize }

// InvalidateCache is not supported.
func (FSRandomAccessFileBase) InvalidateCache(uint64, uint64) error {
	return NotSupported("InvalidateCache not supported.")
}

// GetFileSize is not supported.
func (FSRandomAccessFileBase) GetFileSize() (uint64, error) {
	return 0, NotSupported("GetFileSize Not Supported")
}

// GetFileOpenMetadata is not supported.
func (FSRandomAccessFileBase) GetFileOpenMetadata() ([]byte, error) {
	return nil, NotSupported("GetFileOpenMetadata not supported")
}

// GetTemperature is unknown.
func (FSRandomAccessFileBase) GetTemperature() Temperature { return TemperatureUnknown }

// FSWritableFileBase gives the optional methods of FSWritableFile and keeps
// its preallocation, priority and hint. Make it with NewFSWritableFileBase and
// set Self to the embedding value.
type FSWritableFileBase struct {
	Self                  FSWritableFile
	lastPreallocatedBlock int
	preallocationBlock    int
	ioPriority            IOPriority
	writeHint             WriteLifeTimeHint
	strictBytesPerSync    bool
}

// NewFSWritableFileBase takes StrictBytesPerSync of opts, which may be nil.
func NewFSWritableFileBase(opts *FileOptions) FSWritableFileBase {
	return FSWritableFileBase{ioPriority: IOTotal, strictBytesPerSync: opts != nil && opts.StrictBytesPerSync}
}

// AppendWithVerification appends and does not look at info.
func (b *FSWritableFileBase) AppendWithVerification(data []byte, opts *IOOptions, _ DataVerificationInfo) error {
	return b.Self.Append(data, opts)
}

// PositionedAppend is not supported.
func (b *FSWritableFileBase) PositionedAppend([]byte, uint64, *IOOptions) error {
	return NotSupported("PositionedAppend")
}

// PositionedAppendWithVerification is not supported.
func (b *FSWritableFileBase) PositionedAppendWithVerification([]byte, uint64, *IOOptions, DataVerificationInfo) error {
	return NotSupported("PositionedAppend")
}

// Truncate does nothing.
func (b *FSWritableFileBase) Truncate(uint64, *IOOptions) error { return nil }

// Fsync is Sync.
func (b *FSWritableFileBase) Fsync(opts *IOOptions) error { return b.Self.Sync(opts) }

// IsSyncThreadSafe is false.
func (b *FSWritableFileBase) IsSyncThreadSafe() bool { return false }

// UseDirectIO is false.
func (b *FSWritableFileBase) UseDirectIO() bool { return false }

// GetRequiredBufferAlignment is DefaultPageSize.
func (b *FSWritableFileBase) GetRequiredBufferAlignment() int { return DefaultPageSize }

// SetWriteLifeTimeHint keeps the hint.
func (b *FSWritableFileBase) SetWriteLifeTimeHint(hint WriteLifeTimeHint) { b.writeHint = hint }

// GetWriteLifeTimeHint is what was set.
func (b *FSWritableFileBase) GetWriteLifeTimeHint() WriteLifeTimeHint { return b.writeHint }

// SetIOPriority keeps the priority.
func (b *FSWritableFileBase) SetIOPriority(pri IOPriority) { b.ioPriority = pri }

// GetIOPriority is IOTotal until it is set.
func (b *FSWritableFileBase) GetIOPriority() IOPriority { return b.ioPriority }

// SetPreallocationBlockSize keeps the size.
func (b *FSWritableFileBase) SetPreallocationBlockSize(size int) { b.preallocationBlock = size }

// GetPreallocationStatus gives the block size and the number of blocks
// allocated.
func (b *FSWritableFileBase) GetPreallocationStatus() (blockSize, lastAllocatedBlock int) {
	return b.preallocationBlock, b.lastPreallocatedBlock
}

// GetUniqueID has none.
func (b *FSWritableFileBase) GetUniqueID([]byte) int { return 0 }

// InvalidateCache is not supported.
func (b *FSWritableFileBase) InvalidateCache(uint64, uint64) error {
	return NotSupported("InvalidateCache not supported.")
}

// RangeSync is a whole Sync when strict, else nothing.
func (b *FSWritableFileBase) RangeSync(_, _ uint64, opts *IOOptions) error {
	if b.strictBytesPerSync {
		return b.Self.Sync(opts)
	}
	return nil
}

// PrepareWrite allocates whole blocks up to the write's end; a failure to is
// no error, since the write itself will meet it.
func (b *FSWritableFileBase) PrepareWrite(offset uint64, length int, opts *IOOptions) {
	if b.preallocationBlock == 0 {
		return
	}
	block := uint64(b.preallocationBlock)
	last := int((offset + uint64(length) + block - 1) / block)
	if last > b.lastPreallocatedBlock {
		n := uint64(last - b.lastPreallocatedBlock)
		_ = b.Self.Allocate(block*uint64(b.lastPreallocatedBlock), block*n, opts)
		b.lastPreallocatedBlock = last
	}
}

// Allocate does nothing.
func (b *FSWritableFileBase) Allocate(uint64, uint64, *IOOptions) error { return nil }

// WriteStringToFile makes or replaces a file. On an error the file is deleted.
// opts and fileOpts may be nil.
func WriteStringToFile(fs FileSystem, data []byte, name string, shouldSync bool, opts *IOOptions, fileOpts *FileOptions) error {
	f, err := fs.NewWritableFile(name, fileOpts)
	if err != nil {
		return err
	}
	err = f.Append(data, opts)
	if err == nil && shouldSync {
		err = f.Sync(opts)
	}
	// Close may write; its error counts.
	if cerr := f.Close(opts); err == nil {
		err = cerr
	}
	if err != nil {
		_ = fs.DeleteFile(name, opts)
	}
	return err
}

// ReadFileToString reads a whole file; opts may be nil. The bytes are the
// caller's.
func ReadFileToString(fs FileSystem, name string, opts *IOOptions) ([]byte, error) {
	f, err := fs.NewSequentialFile(name, nil)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	const chunk = 8192
	scratch := make([]byte, chunk)
	var data []byte
	for {
		part, err := f.Read(chunk, opts, scratch)
		if err != nil {
			return data, err
		}
		if len(part) == 0 {
			return data, nil
		}
		data = append(data, part...)
	}
}
