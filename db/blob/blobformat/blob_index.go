// Port of db/blob/{blob_index,blob_constants}.h.

package blobformat

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
	"github.com/rocksdb-go/rocksdb/util/compression"
)

// InvalidBlobFileNumber is no blob file.
const InvalidBlobFileNumber uint64 = 0

// CurrentFileBlobIndexFileNumber refers to a blob in the same file as the
// index. Only the reader and the writer of a table with embedded blobs may take
// it so; to all others the number is invalid.
const CurrentFileBlobIndexFileNumber = InvalidBlobFileNumber

// BlobIndexType is the first byte of a BlobIndex.
type BlobIndexType uint8

// The types; the numbers are on disk.
const (
	BlobIndexInlinedTTL BlobIndexType = iota
	BlobIndexBlob
	BlobIndexBlobTTL
	BlobIndexUnknown
)

// BlobIndex is the value of a TypeBlobIndex entry. On disk:
//
//	InlinedTTL  type byte, varint64 expiration, value
//	Blob        type byte, varint64 file number, offset, size, compression byte
//	BlobTTL     type byte, varint64 expiration, then as Blob
//
// Offset and size are those of the blob's value, size after compression.
type BlobIndex struct {
	Type        BlobIndexType
	Expiration  uint64 // seconds since the Unix epoch
	Value       []byte // of an inlined one; points into what was decoded
	FileNumber  uint64
	Offset      uint64
	Size        uint64
	Compression rocksdb.CompressionType
}

// IsInlined tells whether the value is in the index itself.
func (b *BlobIndex) IsInlined() bool { return b.Type == BlobIndexInlinedTTL }

// IsSameFile tells whether the blob is in the same file as the index.
func (b *BlobIndex) IsSameFile() bool {
	return (b.Type == BlobIndexBlob || b.Type == BlobIndexBlobTTL) && b.FileNumber == CurrentFileBlobIndexFileNumber
}

// HasTTL tells whether Expiration is set.
func (b *BlobIndex) HasTTL() bool { return b.Type == BlobIndexInlinedTTL || b.Type == BlobIndexBlobTTL }

const blobIndexError = "Error while decoding blob index"

// DecodeFrom decodes an index that is all of src.
func (b *BlobIndex) DecodeFrom(src []byte) error {
	*b = BlobIndex{Type: BlobIndexUnknown}
	if len(src) == 0 {
		return rocksdb.Corruption(blobIndexError, "Empty blob index")
	}
	t := BlobIndexType(src[0])
	if t >= BlobIndexUnknown {
		return rocksdb.Corruption(blobIndexError, "Unknown blob index type: "+strconv.Itoa(int(t)))
	}
	b.Type = t
	src = src[1:]
	var ok bool
	if b.HasTTL() {
		if b.Expiration, src, ok = util.GetVarint64(src); !ok {
			return rocksdb.Corruption(blobIndexError, "Corrupted expiration")
		}
	}
	if b.IsInlined() {
		b.Value = src
		return nil
	}
	if b.FileNumber, src, ok = util.GetVarint64(src); ok {
		if b.Offset, src, ok = util.GetVarint64(src); ok {
			b.Size, src, ok = util.GetVarint64(src)
		}
	}
	if !ok || len(src) != 1 {
		return rocksdb.Corruption(blobIndexError, "Corrupted blob offset")
	}
	b.Compression = rocksdb.CompressionType(src[0])
	return nil
}

// EncodeTo appends the index to dst.
func (b *BlobIndex) EncodeTo(dst []byte) []byte {
	dst = append(dst, byte(b.Type))
	if b.HasTTL() {
		dst = util.AppendVarint64(dst, b.Expiration)
	}
	if b.IsInlined() {
		return append(dst, b.Value...)
	}
	dst = util.AppendVarint64(dst, b.FileNumber)
	dst = util.AppendVarint64(dst, b.Offset)
	dst = util.AppendVarint64(dst, b.Size)
	return append(dst, byte(b.Compression))
}

// EncodeBlob appends the index of a blob without expiration to dst.
func EncodeBlob(dst []byte, fileNumber, offset, size uint64, c rocksdb.CompressionType) []byte {
	b := BlobIndex{Type: BlobIndexBlob, FileNumber: fileNumber, Offset: offset, Size: size, Compression: c}
	return b.EncodeTo(dst)
}

// EncodeBlobTTL appends the index of a blob with an expiration to dst.
func EncodeBlobTTL(dst []byte, expiration, fileNumber, offset, size uint64, c rocksdb.CompressionType) []byte {
	b := BlobIndex{Type: BlobIndexBlobTTL, Expiration: expiration, FileNumber: fileNumber, Offset: offset, Size: size, Compression: c}
	return b.EncodeTo(dst)
}

// EncodeInlinedTTL appends the index of an inlined value to dst.
func EncodeInlinedTTL(dst []byte, expiration uint64, value []byte) []byte {
	b := BlobIndex{Type: BlobIndexInlinedTTL, Expiration: expiration, Value: value}
	return b.EncodeTo(dst)
}

// DebugString formats the index as the tools print it.
func (b *BlobIndex) DebugString(hex bool) string {
	var s strings.Builder
	if b.IsInlined() {
		s.WriteString("[inlined blob] value:" + util.SliceToString(b.Value, hex))
	} else {
		file := "same"
		if !b.IsSameFile() {
			file = strconv.FormatUint(b.FileNumber, 10)
		}
		fmt.Fprintf(&s, "[blob ref] file:%s offset:%d size:%d compression: %s", file, b.Offset, b.Size, compression.CompressionTypeToString(b.Compression))
	}
	if b.HasTTL() {
		fmt.Fprintf(&s, " exp:%d", b.Expiration)
	}
	return s.String()
}
