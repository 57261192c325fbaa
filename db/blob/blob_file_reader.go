// Port of db/blob/blob_file_reader.{h,cc}.

package blob

import (
	"bytes"

	"github.com/rocksdb-go/rocksdb/db/blob/blobformat"
	"github.com/rocksdb-go/rocksdb/file"
	"github.com/rocksdb-go/rocksdb/file/filename"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/monitoring"
	"github.com/rocksdb-go/rocksdb/options"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
	"github.com/rocksdb-go/rocksdb/util/compression"
	"github.com/rocksdb-go/rocksdb/util/stopwatch"
)

// BlobFileReader reads one blob file. Safe for concurrent use.
type BlobFileReader struct {
	file        *file.RandomAccessFileReader
	size        uint64
	compression rocksdb.CompressionType
	clock       rocksdb.SystemClock
	stats       rocksdb.Statistics
}

// OpenBlobFileReader opens a family's blob file and checks its header and
// footer. hist, of reads' micros, may be nil.
func OpenBlobFileReader(io *options.ImmutableOptions, ro *rocksdb.ReadOptions, fo *rocksdb.FileOptions,
	columnFamilyID uint32, hist *monitoring.HistogramImpl, number uint64) (*BlobFileReader, error) {
	path := filename.BlobFileName(io.CFPaths[0].Path, number)
	syncpoint.Process("BlobFileReader::OpenFile:NewRandomAccessFile")
	f, err := io.FS.NewRandomAccessFile(path, fo)
	if err != nil {
		return nil, err
	}
	syncpoint.Process("BlobFileReader::OpenFile:GetFileSize")
	size, err := file.GetFileSizeFromOpenFileOrPath(f, io.FS, path, false)
	if err == nil && size < blobformat.BlobLogHeaderSize+blobformat.BlobLogFooterSize {
		err = rocksdb.Corruption("Malformed blob file").In(path)
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	if io.AdviseRandomOnOpen {
		f.Hint(rocksdb.AccessRandom)
	}
	r := &BlobFileReader{size: size, clock: io.Clock, stats: io.Stats}
	r.file = file.NewRandomAccessFileReader(f, path, &file.ReaderOptions{Clock: io.Clock, Stats: io.Stats,
		HistType: rocksdb.HistBlobDBBlobFileReadMicros, FileReadHist: hist, RateLimiter: io.RateLimiter, Listeners: io.Listeners})
	if err = r.readHeader(ro, columnFamilyID); err == nil {
		err = r.readFooter(ro)
	}
	if err != nil {
		_ = r.Close()
		return nil, err
	}
	return r, nil
}

// Close closes the file.
func (r *BlobFileReader) Close() error { return r.file.Close() }

// GetCompressionType is that of all blobs of the file.
func (r *BlobFileReader) GetCompressionType() rocksdb.CompressionType { return r.compression }

// GetFileSize is the file's size in bytes.
func (r *BlobFileReader) GetFileSize() uint64 { return r.size }

// inFile says where a damaged record is.
func (r *BlobFileReader) inFile(err error, offset uint64) error {
	if err == nil {
		return nil
	}
	return rocksdb.AsStatus(err).InAt(r.file.FileName(), offset)
}

func (r *BlobFileReader) readHeader(ro *rocksdb.ReadOptions, columnFamilyID uint32) error {
	syncpoint.Process("BlobFileReader::ReadHeader:ReadFromFile")
	data, err := r.read(ro, 0, blobformat.BlobLogHeaderSize)
	if err != nil {
		return err
	}
	syncpoint.ProcessArg("BlobFileReader::ReadHeader:TamperWithResult", &data)
	var h blobformat.BlobLogHeader
	switch err := h.DecodeFrom(data); {
	case err != nil:
		return r.inFile(err, 0)
	case h.HasTTL || h.ExpirationRange != (blobformat.ExpirationRange{}):
		return r.inFile(rocksdb.Corruption("Unexpected TTL blob file"), 0)
	case h.ColumnFamilyID != columnFamilyID:
		return r.inFile(rocksdb.Corruption("Column family ID mismatch"), 0)
	}
	r.compression = h.Compression
	return nil
}

func (r *BlobFileReader) readFooter(ro *rocksdb.ReadOptions) error {
	syncpoint.Process("BlobFileReader::ReadFooter:ReadFromFile")
	at := r.size - blobformat.BlobLogFooterSize
	data, err := r.read(ro, at, blobformat.BlobLogFooterSize)
	if err != nil {
		return err
	}
	syncpoint.ProcessArg("BlobFileReader::ReadFooter:TamperWithResult", &data)
	var f blobformat.BlobLogFooter
	if err := f.DecodeFrom(data); err != nil {
		return r.inFile(err, at)
	}
	if f.ExpirationRange != (blobformat.ExpirationRange{}) {
		return r.inFile(rocksdb.Corruption("Unexpected TTL blob file"), at)
	}
	return nil
}

// read gives n bytes at offset, in memory that is the caller's. offset+n is
// within the file.
func (r *BlobFileReader) read(ro *rocksdb.ReadOptions, offset, n uint64) ([]byte, error) {
	monitoring.RecordTick(r.stats, rocksdb.BlobDBBlobFileBytesRead, n)
	var o rocksdb.IOOptions
	if err := r.file.PrepareIOOptions(ro, &o); err != nil {
		return nil, err
	}
	buf := make([]byte, n)
	data, err := r.file.Read(&o, offset, int(n), buf, nil)
	if err != nil {
		return nil, err
	}
	if uint64(len(data)) != n {
		return nil, r.inFile(rocksdb.Corruption("Failed to read data from blob file"), offset)
	}
	if n > 0 && &data[0] != &buf[0] { // in the file's mapping
		copy(buf, data)
	}
	return buf, nil
}

// GetBlob reads the blob whose value, of valueSize stored bytes, lies at
// offset. The value is the caller's; bytesRead counts what was read of the
// file: with verify_checksums the whole record. prefetch, which may be nil, has
// the bytes or reads them ahead.
func (r *BlobFileReader) GetBlob(ro *rocksdb.ReadOptions, userKey []byte, offset, valueSize uint64,
	c rocksdb.CompressionType, prefetch *file.FilePrefetchBuffer) (value []byte, bytesRead uint64, err error) {
	if err := r.checkPlace(len(userKey), offset, valueSize, c); err != nil {
		return nil, 0, err
	}
	adjustment := adjustmentOf(ro, userKey)
	at, n := offset-adjustment, valueSize+adjustment
	record, prefetched, err := r.readPrefetched(ro, at, n, prefetch)
	if err == nil && !prefetched {
		record, err = r.readBlob(ro, at, n)
	}
	if err != nil {
		return nil, 0, err
	}
	syncpoint.ProcessArg("BlobFileReader::GetBlob:TamperWithResult", &record)
	if value, err = r.valueOf(ro, record, userKey, offset, valueSize); err != nil {
		return nil, 0, err
	}
	return value, n, nil
}

// checkPlace refuses what cannot be the place of a blob in the file.
func (r *BlobFileReader) checkPlace(keySize int, offset, valueSize uint64, c rocksdb.CompressionType) error {
	if !blobformat.IsValidBlobOffset(offset, uint64(keySize), valueSize, r.size, true) {
		return r.inFile(rocksdb.Corruption("Invalid blob offset"), offset)
	}
	if c != r.compression {
		return r.inFile(rocksdb.Corruption("Compression type mismatch when reading blob"), offset)
	}
	return nil
}

// adjustmentOf is how far before a value its record begins, where the record is
// read to be verified.
func adjustmentOf(ro *rocksdb.ReadOptions, userKey []byte) uint64 {
	if !ro.VerifyChecksums {
		return 0
	}
	return blobformat.CalculateAdjustmentForRecordHeader(uint64(len(userKey)))
}

// valueOf verifies and uncompresses what was read of a blob at offset.
func (r *BlobFileReader) valueOf(ro *rocksdb.ReadOptions, record, userKey []byte, offset, valueSize uint64) ([]byte, error) {
	adjustment := adjustmentOf(ro, userKey)
	if ro.VerifyChecksums {
		if err := r.verifyBlob(ro.PerfContext, record, userKey, valueSize); err != nil {
			return nil, r.inFile(err, offset-adjustment)
		}
	}
	value, err := r.uncompress(ro.PerfContext, record[adjustment:])
	return value, r.inFile(err, offset)
}

// readBlob reads a blob from the file and counts it.
func (r *BlobFileReader) readBlob(ro *rocksdb.ReadOptions, offset, n uint64) ([]byte, error) {
	syncpoint.Process("BlobFileReader::GetBlob:ReadFromFile")
	pc := ro.PerfContext
	if pc.Enabled(rocksdb.EnableCount) {
		pc.BlobReadCount++
		pc.BlobReadByte += n
	}
	if pc.Enabled(rocksdb.EnableTimeExceptForMutex) {
		var timer monitoring.PerfStepTimer
		timer.Start(&pc.BlobReadTime, r.clock)
		defer timer.Stop()
	}
	return r.read(ro, offset, n)
}

// readPrefetched gives a copy of n bytes at offset out of a prefetch buffer; it is
// not ok when there is none or it does not have them.
func (r *BlobFileReader) readPrefetched(ro *rocksdb.ReadOptions, offset, n uint64, prefetch *file.FilePrefetchBuffer) (data []byte, ok bool, err error) {
	if prefetch == nil {
		return nil, false, nil
	}
	var o rocksdb.IOOptions
	if err := r.file.PrepareIOOptions(ro, &o); err != nil {
		return nil, false, err
	}
	data, ok, err = prefetch.TryReadFromCache(&o, r.file, offset, int(n), true)
	if err != nil || !ok {
		return nil, false, err
	}
	if uint64(len(data)) != n {
		return nil, false, r.inFile(rocksdb.Corruption("Failed to read data from blob file"), offset)
	}
	return bytes.Clone(data), true, nil
}

func (r *BlobFileReader) verifyBlob(pc *rocksdb.PerfContext, data, userKey []byte, valueSize uint64) error {
	if pc.Enabled(rocksdb.EnableTimeExceptForMutex) {
		var timer monitoring.PerfStepTimer
		timer.Start(&pc.BlobChecksumTime, r.clock)
		defer timer.Stop()
	}
	var rec blobformat.BlobLogRecord
	if err := rec.DecodeHeaderFrom(data[:blobformat.BlobLogRecordHeaderSize]); err != nil {
		return err
	}
	data = data[blobformat.BlobLogRecordHeaderSize:]
	switch {
	case rec.KeySize != uint64(len(userKey)):
		return rocksdb.Corruption("Key size mismatch when reading blob")
	case rec.ValueSize != valueSize:
		return rocksdb.Corruption("Value size mismatch when reading blob")
	case !bytes.Equal(data[:len(userKey)], userKey):
		return rocksdb.Corruption("Key mismatch when reading blob")
	}
	rec.Key, rec.Value = data[:len(userKey)], data[len(userKey):]
	syncpoint.ProcessArg("BlobFileReader::VerifyBlob:CheckBlobCRC", &rec)
	return rec.CheckBlobCRC()
}

// uncompress gives data itself when it is not compressed. Blobs have always had
// the second format of compression.
func (r *BlobFileReader) uncompress(pc *rocksdb.PerfContext, data []byte) ([]byte, error) {
	if r.compression == rocksdb.NoCompression {
		return data, nil
	}
	size, rest, err := compression.UncompressedSize(r.compression, data)
	if err != nil {
		return nil, rocksdb.Corruption(err.Error())
	}
	value := make([]byte, size)
	if pc.Enabled(rocksdb.EnableTimeExceptForMutex) {
		var timer monitoring.PerfStepTimer
		timer.Start(&pc.BlobDecompressTime, r.clock)
		defer timer.Stop()
	}
	watch := stopwatch.NewStopWatch(r.clock, r.stats, rocksdb.HistBlobDBDecompressionMicros)
	err = compression.GetBuiltinDecompressor().Decompress(r.compression, rest, value)
	watch.Stop()
	syncpoint.ProcessArg("BlobFileReader::UncompressBlobIfNeeded:TamperWithResult", &err)
	if err != nil {
		return nil, rocksdb.Corruption(err.Error())
	}
	return value, nil
}
