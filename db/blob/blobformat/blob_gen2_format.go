// Port of db/blob/blob_gen2_format.{h,cc}. Differs: what a file's records have in
// common is one struct; only records without compression are there.

package blobformat

import (
	"encoding/binary"
	"math"

	"github.com/rocksdb-go/rocksdb/cache"
	"github.com/rocksdb-go/rocksdb/file"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/table/format"
)

// SimpleGen2BlobTrailerSize is what a record has behind its payload, in bytes.
const SimpleGen2BlobTrailerSize = 5

// SimpleGen2Format is what the records of one file have in common. A record is
//
//	payload
//	compression type (1 byte)
//	checksum of payload and type, plus the modifier for the record's offset (fixed32)
type SimpleGen2Format struct {
	Checksum            rocksdb.ChecksumType
	BaseContextChecksum uint32
}

func (f *SimpleGen2Format) checksum(payload []byte, c rocksdb.CompressionType, offset uint64) uint32 {
	return format.ComputeBuiltinChecksumWithLastByte(f.Checksum, payload, byte(c)) +
		format.ChecksumModifierForContext(f.BaseContextChecksum, offset)
}

// Write appends a record to w, whose size is offset.
// Upstream: WriteSimpleGen2BlobRecord.
func (f *SimpleGen2Format) Write(w *file.WritableFileWriter, opts *rocksdb.IOOptions, offset uint64, payload []byte) error {
	var trailer [SimpleGen2BlobTrailerSize]byte
	trailer[0] = byte(rocksdb.NoCompression)
	binary.LittleEndian.PutUint32(trailer[1:], f.checksum(payload, rocksdb.NoCompression, offset))
	if len(payload) > 0 {
		if err := w.Append(opts, payload, 0); err != nil {
			return err
		}
	}
	return w.Append(opts, trailer[:], 0)
}

// SimpleGen2File is a file whose records are read.
type SimpleGen2File struct {
	SimpleGen2Format
	File *file.RandomAccessFileReader
	Size uint64 // bytes
	// CacheKey is the base of the records' keys in a cache. They are made as
	// those of a table's blocks, and differ from them.
	CacheKey cache.OffsetableCacheKey
}

// RecordCacheKey is the key of the record at offset.
func (f *SimpleGen2File) RecordCacheKey(offset uint64) cache.CacheKey {
	return f.CacheKey.WithOffsetForMinSizeRecord(offset)
}

// Validate tells whether index, one to this file, can be that of a record.
func (f *SimpleGen2File) Validate(index *BlobIndex) error {
	switch {
	case index.HasTTL():
		return f.corrupt("Embedded blob index must not contain TTL metadata", index)
	case index.Size > math.MaxUint64-SimpleGen2BlobTrailerSize:
		return f.corrupt("Embedded blob record is too large", index)
	case index.Offset > f.Size || index.Size+SimpleGen2BlobTrailerSize > f.Size-index.Offset:
		return f.corrupt("Embedded blob record extends past file size", index)
	}
	return nil
}

// Read gives the payload of the record that index, which is valid, points to.
// The bytes are the caller's.
// Upstream: ReadAndVerifySimpleGen2BlobRecord.
func (f *SimpleGen2File) Read(ro *rocksdb.ReadOptions, index *BlobIndex) ([]byte, error) {
	var opts rocksdb.IOOptions
	if err := f.File.PrepareIOOptions(ro, &opts); err != nil {
		return nil, err
	}
	n := int(index.Size) + SimpleGen2BlobTrailerSize
	buf := make([]byte, n)
	record, err := f.File.Read(&opts, index.Offset, n, buf, nil)
	switch {
	case err != nil:
		return nil, err
	case len(record) != n:
		return nil, f.corrupt("Could not read complete blob record", index)
	case &record[0] != &buf[0]: // mapped
		record = buf[:copy(buf, record)]
	}
	payload, trailer := record[:index.Size:index.Size], record[index.Size:]
	c := rocksdb.CompressionType(trailer[0])
	switch {
	case c != index.Compression:
		return nil, f.corrupt("Blob record compression does not match blob index", index)
	case ro.VerifyChecksums && binary.LittleEndian.Uint32(trailer[1:]) != f.checksum(payload, c, index.Offset):
		return nil, f.corrupt("Blob record checksum mismatch", index)
	case c != rocksdb.NoCompression:
		return nil, f.corrupt("Blob record compression is not supported", index)
	}
	return payload, nil
}

func (f *SimpleGen2File) corrupt(text string, index *BlobIndex) error {
	return rocksdb.Corruption(text).InAt(f.File.FileName(), index.Offset)
}
