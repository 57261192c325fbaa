// Port of db/blob/blob_file_builder.{h,cc} and the interface of
// db/blob/blob_file_completion_callback.h. Differs: the arguments are a struct;
// the paths and additions are asked for in the end.

package blob

import (
	"github.com/rocksdb-go/rocksdb/cache"
	"github.com/rocksdb-go/rocksdb/db/blob/blobformat"
	"github.com/rocksdb-go/rocksdb/file"
	"github.com/rocksdb-go/rocksdb/file/filename"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/logging"
	"github.com/rocksdb-go/rocksdb/monitoring"
	"github.com/rocksdb-go/rocksdb/options"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
	"github.com/rocksdb-go/rocksdb/util/compression"
	"github.com/rocksdb-go/rocksdb/util/stopwatch"
)

// FileCreation says which blob file a BlobFileCompletionCallback hears of.
type FileCreation struct {
	Path             string
	ColumnFamilyName string
	JobID            int
	Reason           rocksdb.BlobFileCreationReason

	// The rest is known when the file is completed.
	Number         uint64
	Status         error
	ChecksumMethod string // "" for none
	ChecksumValue  string
	BlobCount      uint64
	BlobBytes      uint64
}

// BlobFileCompletionCallback hears of the blob files that a job makes.
type BlobFileCompletionCallback interface {
	OnBlobFileCreationStarted(c *FileCreation)
	// OnBlobFileCompleted may fail the job.
	OnBlobFileCompleted(c *FileCreation) error
}

// BlobFileBuilderOptions are NewBlobFileBuilder's arguments.
type BlobFileBuilderOptions struct {
	NewFileNumber    func() uint64
	IOptions         *options.ImmutableOptions
	MutableCFOptions *options.MutableCFOptions
	FileOptions      *rocksdb.FileOptions
	WriteOptions     *rocksdb.WriteOptions
	DBID             string
	DBSessionID      string
	JobID            int
	ColumnFamilyID   uint32
	ColumnFamilyName string
	WriteHint        rocksdb.WriteLifeTimeHint
	Callback         BlobFileCompletionCallback // may be nil
	Reason           rocksdb.BlobFileCreationReason
}

// BlobFileBuilder moves the large values of a job's output to blob files, one
// after the other as they get full. It belongs to one goroutine; Finish or
// Abandon ends it.
type BlobFileBuilder struct {
	o           BlobFileBuilderOptions
	minBlobSize uint64
	fileSize    uint64
	compression rocksdb.CompressionType
	compressor  rocksdb.Compressor // nil for no compression
	area        any                // the compressor's
	warmCache   bool

	writer    *BlobLogWriter // nil while no file is open
	count     uint64         // of the open file
	bytes     uint64
	buf       []byte // of compressed values
	index     []byte // the last one given
	paths     []string
	additions []blobformat.BlobFileAddition
}

// NewBlobFileBuilder makes a builder; no file is made before one is needed.
func NewBlobFileBuilder(o BlobFileBuilderOptions) *BlobFileBuilder {
	mo := o.MutableCFOptions
	b := &BlobFileBuilder{o: o, minBlobSize: mo.MinBlobSize, fileSize: mo.BlobFileSize, compression: mo.BlobCompressionType}
	b.warmCache = o.IOptions.BlobCache != nil && mo.PrepopulateBlobCache == rocksdb.PrepopulateBlobCacheFlushOnly &&
		o.Reason == rocksdb.BlobFileCreationReasonFlush
	if b.compression != rocksdb.NoCompression {
		b.compressor = compression.GetBuiltinV2CompressionManager().GetCompressor(&mo.BlobCompressionOpts, b.compression)
		if b.compressor != nil {
			b.area = b.compressor.ObtainWorkingArea()
		}
	}
	return b
}

// Paths are those of all files made, also of one that failed.
func (b *BlobFileBuilder) Paths() []string { return b.paths }

// Additions describe the files that are complete.
func (b *BlobFileBuilder) Additions() []blobformat.BlobFileAddition { return b.additions }

// Add moves value to a blob file and gives the blob index that stands for it,
// valid until the next call; nil when the value is too small to be moved.
func (b *BlobFileBuilder) Add(key, value []byte) (index []byte, err error) {
	if len(value) == 0 || uint64(len(value)) < b.minBlobSize {
		return nil, nil
	}
	if err := b.openIfNeeded(); err != nil {
		return nil, err
	}
	stored, err := b.compress(value)
	if err != nil {
		return nil, err
	}
	number := b.writer.GetLogNumber()
	offset, err := b.writer.AddRecord(b.o.WriteOptions, key, stored)
	syncpoint.ProcessArg("BlobFileBuilder::WriteBlobToFile:AddRecord", &err)
	if err != nil {
		return nil, err
	}
	b.count++
	b.bytes += blobformat.BlobLogRecordHeaderSize + uint64(len(key)) + uint64(len(stored))
	if b.writer.File().GetFileSize() >= b.fileSize {
		if err := b.closeFile(); err != nil {
			return nil, err
		}
	}
	b.putIntoCache(value, number, offset)
	b.index = blobformat.EncodeBlob(b.index[:0], number, offset, uint64(len(stored)), b.compression)
	return b.index, nil
}

// Finish completes the open file, if any.
func (b *BlobFileBuilder) Finish() error {
	defer b.releaseArea()
	if b.writer == nil {
		return nil
	}
	return b.closeFile()
}

// Abandon gives the open file up because of err.
func (b *BlobFileBuilder) Abandon(err error) {
	b.releaseArea()
	if b.writer == nil {
		return
	}
	if b.o.Callback != nil {
		c := b.creation()
		c.Status = err
		// There is an error already.
		_ = b.o.Callback.OnBlobFileCompleted(&c)
	}
	b.dropFile()
}

// End finishes the files of a job that went well, and abandons those of one that
// failed with err. It gives the job's error. b may be nil: there are none.
// Upstream: CompactionJob::FinalizeBlobFiles.
func (b *BlobFileBuilder) End(err error) error {
	if b == nil {
		return err
	}
	if err == nil {
		err = b.Finish()
	}
	if err != nil {
		b.Abandon(err)
	}
	return err
}

func (b *BlobFileBuilder) releaseArea() {
	if b.compressor != nil && b.area != nil {
		b.compressor.ReleaseWorkingArea(b.area)
		b.area = nil
	}
}

func (b *BlobFileBuilder) dropFile() {
	b.writer.Close()
	b.writer, b.count, b.bytes = nil, 0, 0
}

func (b *BlobFileBuilder) creation() FileCreation {
	c := FileCreation{ColumnFamilyName: b.o.ColumnFamilyName, JobID: b.o.JobID, Reason: b.o.Reason,
		BlobCount: b.count, BlobBytes: b.bytes}
	if n := len(b.paths); n > 0 {
		c.Path = b.paths[n-1]
	}
	if b.writer != nil {
		c.Number = b.writer.GetLogNumber()
	}
	return c
}

func (b *BlobFileBuilder) openIfNeeded() error {
	if b.writer != nil {
		return nil
	}
	io := b.o.IOptions
	number := b.o.NewFileNumber()
	path := filename.BlobFileName(io.CFPaths[0].Path, number)
	if b.o.Callback != nil {
		b.o.Callback.OnBlobFileCreationStarted(&FileCreation{Path: path, ColumnFamilyName: b.o.ColumnFamilyName, JobID: b.o.JobID,
			Reason: b.o.Reason, Number: number})
	}
	fo := *b.o.FileOptions
	fo.OpenContract = rocksdb.FileOpenNoReopenForWrite | rocksdb.FileOpenNoReadersWhileOpenForWrite
	fo.WriteHint = b.o.WriteHint
	f, err := io.FS.NewWritableFile(path, &fo)
	syncpoint.ProcessArg("BlobFileBuilder::OpenBlobFileIfNeeded:NewWritableFile", &err)
	if err != nil {
		if f != nil {
			_ = f.Close(nil)
		}
		return err
	}
	b.paths = append(b.paths, path) // to be removed should the job fail
	f.SetIOPriority(b.o.WriteOptions.RateLimiterPriority)
	f.SetWriteLifeTimeHint(fo.WriteHint)
	w := NewBlobLogWriter(file.NewWritableFileWriter(f, path, b.o.FileOptions, &file.WriterOptions{
		Clock: io.Clock, Stats: io.Stats, HistType: rocksdb.HistBlobDBBlobFileWriteMicros, Listeners: io.Listeners,
		FileChecksumGenFactory:  io.FileChecksumGenFactory,
		PerformDataVerification: io.ChecksumHandoffFileTypes.Contains(rocksdb.BlobFile)}), io.Clock, io.Stats, number, io.UseFsync)
	err = w.WriteHeader(b.o.WriteOptions, &blobformat.BlobLogHeader{Version: blobformat.Version1, ColumnFamilyID: b.o.ColumnFamilyID,
		Compression: b.compression})
	syncpoint.ProcessArg("BlobFileBuilder::OpenBlobFileIfNeeded:WriteHeader", &err)
	if err != nil {
		w.Close()
		return err
	}
	b.writer = w
	return nil
}

// compress gives value as it is to be stored. With compression on it is always
// stored compressed, even where that makes it longer.
func (b *BlobFileBuilder) compress(value []byte) ([]byte, error) {
	if b.compression == rocksdb.NoCompression {
		return value, nil
	}
	if b.compressor == nil {
		return nil, rocksdb.NotSupported("blob_compression_type", compression.CompressionTypeToString(b.compression))
	}
	watch := stopwatch.NewStopWatch(b.o.IOptions.Clock, b.o.IOptions.Stats, rocksdb.HistBlobDBCompressionMicros)
	defer watch.Stop()
	if need := len(value) + len(value)/2 + 1024; cap(b.buf) < need {
		b.buf = make([]byte, need)
	}
	b.buf = b.buf[:cap(b.buf)]
	n, t, err := b.compressor.CompressBlock(value, b.buf, b.area)
	syncpoint.ProcessArg("BlobFileBuilder::CompressBlobIfNeeded:TamperWithReturnValue", &err)
	if err != nil {
		return nil, err
	}
	if t != b.compression {
		return nil, rocksdb.Corruption("Error compressing blob")
	}
	return b.buf[:n], nil
}

func (b *BlobFileBuilder) closeFile() error {
	method, value, err := b.writer.AppendFooter(b.o.WriteOptions, &blobformat.BlobLogFooter{BlobCount: b.count})
	syncpoint.ProcessArg("BlobFileBuilder::WriteBlobToFile:AppendFooter", &err)
	if err != nil {
		return err // Abandon comes next
	}
	c := b.creation()
	if b.o.Callback != nil {
		c.ChecksumMethod, c.ChecksumValue = method, value
		err = b.o.Callback.OnBlobFileCompleted(&c)
	}
	b.additions = append(b.additions, blobformat.NewBlobFileAddition(c.Number, b.count, b.bytes, method, value))
	logging.Info(b.o.IOptions.Logger, "[%s] [JOB %d] Generated blob file #%d: %d total blobs, %d total bytes",
		b.o.ColumnFamilyName, b.o.JobID, c.Number, b.count, b.bytes)
	b.dropFile()
	return err
}

// putIntoCache puts a value just written into the blob cache, if it should be
// warm. A full cache is no error.
func (b *BlobFileBuilder) putIntoCache(value []byte, number, offset uint64) {
	if !b.warmCache {
		return
	}
	io := b.o.IOptions
	key := cache.NewOffsetableCacheKey(b.o.DBID, b.o.DBSessionID, number).WithOffset(offset).AsSlice()
	own := append([]byte(nil), value...)
	if _, err := io.BlobCache.Insert(key, own, helperFor(io), contentsCharge(own), rocksdb.CachePriorityBottom, false); err != nil {
		monitoring.RecordTick(io.Stats, rocksdb.BlobDBCacheAddFailures, 1)
		logging.Warn(io.Logger, "Failed to pre-populate the blob into blob cache: %v", err)
		return
	}
	monitoring.RecordTick(io.Stats, rocksdb.BlobDBCacheAdd, 1)
	monitoring.RecordTick(io.Stats, rocksdb.BlobDBCacheBytesWrite, uint64(len(own)))
}
