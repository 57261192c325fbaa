// Port of db/blob/blob_log_format.{h,cc}.

package blobformat

import (
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

// A blob file is a header, records, and, when it was closed properly, a footer.
const (
	MagicNumber uint32 = 2395959
	Version1    uint32 = 1
)

// ExpirationRange is a range of Unix times in seconds; zeros without TTL.
type ExpirationRange struct{ First, Last uint64 }

// BlobLogHeaderSize is the size of a header in bytes.
const BlobLogHeaderSize = 30

// BlobLogHeader begins a blob file:
//
//	magic number        fixed32
//	version             fixed32
//	column family id    fixed32
//	flags               1 byte; bit 0: has TTL
//	compression         1 byte
//	expiration range    2 fixed64
type BlobLogHeader struct {
	Version         uint32
	ColumnFamilyID  uint32
	Compression     rocksdb.CompressionType
	HasTTL          bool
	ExpirationRange ExpirationRange
}

// EncodeTo appends the header to dst.
func (h *BlobLogHeader) EncodeTo(dst []byte) []byte {
	dst = util.AppendFixed32(dst, MagicNumber)
	dst = util.AppendFixed32(dst, h.Version)
	dst = util.AppendFixed32(dst, h.ColumnFamilyID)
	flags := byte(0)
	if h.HasTTL {
		flags = 1
	}
	dst = append(dst, flags, byte(h.Compression))
	dst = util.AppendFixed64(dst, h.ExpirationRange.First)
	return util.AppendFixed64(dst, h.ExpirationRange.Last)
}

// DecodeFrom decodes a header that is all of src.
func (h *BlobLogHeader) DecodeFrom(src []byte) error {
	const what = "Error while decoding blob log header"
	if len(src) != BlobLogHeaderSize {
		return rocksdb.Corruption(what, "Unexpected blob file header size")
	}
	if util.DecodeFixed32(src) != MagicNumber {
		return rocksdb.Corruption(what, "Magic number mismatch")
	}
	h.Version = util.DecodeFixed32(src[4:])
	if h.Version != Version1 {
		return rocksdb.Corruption(what, "Unknown header version")
	}
	h.ColumnFamilyID = util.DecodeFixed32(src[8:])
	h.HasTTL = src[12]&1 == 1
	h.Compression = rocksdb.CompressionType(src[13])
	h.ExpirationRange = ExpirationRange{util.DecodeFixed64(src[14:]), util.DecodeFixed64(src[22:])}
	return nil
}

// BlobLogFooterSize is the size of a footer in bytes.
const BlobLogFooterSize = 32

// BlobLogFooter ends a blob file:
//
//	magic number        fixed32
//	blob count          fixed64
//	expiration range    2 fixed64, exact
//	crc                 fixed32, masked crc32c of the above
type BlobLogFooter struct {
	BlobCount       uint64
	ExpirationRange ExpirationRange
	CRC             uint32
}

// EncodeTo sets CRC and appends the footer to dst.
func (f *BlobLogFooter) EncodeTo(dst []byte) []byte {
	begin := len(dst)
	dst = util.AppendFixed32(dst, MagicNumber)
	dst = util.AppendFixed64(dst, f.BlobCount)
	dst = util.AppendFixed64(dst, f.ExpirationRange.First)
	dst = util.AppendFixed64(dst, f.ExpirationRange.Last)
	f.CRC = util.Crc32cMask(util.Crc32cValue(dst[begin:]))
	return util.AppendFixed32(dst, f.CRC)
}

// DecodeFrom decodes a footer that is all of src and checks its crc.
func (f *BlobLogFooter) DecodeFrom(src []byte) error {
	const what = "Error while decoding blob log footer"
	if len(src) != BlobLogFooterSize {
		return rocksdb.Corruption(what, "Unexpected blob file footer size")
	}
	f.BlobCount = util.DecodeFixed64(src[4:])
	f.ExpirationRange = ExpirationRange{util.DecodeFixed64(src[12:]), util.DecodeFixed64(src[20:])}
	f.CRC = util.DecodeFixed32(src[28:])
	if util.DecodeFixed32(src) != MagicNumber {
		return rocksdb.Corruption(what, "Magic number mismatch")
	}
	if util.Crc32cMask(util.Crc32cValue(src[:28])) != f.CRC {
		return rocksdb.Corruption(what, "CRC mismatch")
	}
	return nil
}

// BlobLogRecordHeaderSize is the size of a record without key and value.
const BlobLogRecordHeaderSize = 32

// BlobLogRecord is a blob:
//
//	key length      fixed64
//	value length    fixed64, compressed
//	expiration      fixed64, 0 without TTL
//	header crc      fixed32, masked crc32c of the above
//	blob crc        fixed32, masked crc32c of key and value
//	key, value
type BlobLogRecord struct {
	KeySize    uint64
	ValueSize  uint64
	Expiration uint64
	HeaderCRC  uint32
	BlobCRC    uint32
	Key        []byte
	Value      []byte
}

// CalculateAdjustmentForRecordHeader is how far before its value, where a
// BlobIndex points, a record begins.
func CalculateAdjustmentForRecordHeader(keySize uint64) uint64 {
	return keySize + BlobLogRecordHeaderSize
}

// RecordSize is the size of the whole record.
func (r *BlobLogRecord) RecordSize() uint64 { return BlobLogRecordHeaderSize + r.KeySize + r.ValueSize }

// EncodeHeaderTo appends the header of the record of Key, Value and Expiration
// to dst; the other fields are set.
func (r *BlobLogRecord) EncodeHeaderTo(dst []byte) []byte {
	begin := len(dst)
	r.KeySize, r.ValueSize = uint64(len(r.Key)), uint64(len(r.Value))
	dst = util.AppendFixed64(dst, r.KeySize)
	dst = util.AppendFixed64(dst, r.ValueSize)
	dst = util.AppendFixed64(dst, r.Expiration)
	r.HeaderCRC = util.Crc32cMask(util.Crc32cValue(dst[begin:]))
	r.BlobCRC = r.blobCRC()
	dst = util.AppendFixed32(dst, r.HeaderCRC)
	return util.AppendFixed32(dst, r.BlobCRC)
}

// DecodeHeaderFrom decodes a header that is all of src and checks its crc.
func (r *BlobLogRecord) DecodeHeaderFrom(src []byte) error {
	const what = "Error while decoding blob record"
	if len(src) != BlobLogRecordHeaderSize {
		return rocksdb.Corruption(what, "Unexpected blob record header size")
	}
	r.KeySize = util.DecodeFixed64(src)
	r.ValueSize = util.DecodeFixed64(src[8:])
	r.Expiration = util.DecodeFixed64(src[16:])
	r.HeaderCRC = util.DecodeFixed32(src[24:])
	r.BlobCRC = util.DecodeFixed32(src[28:])
	if util.Crc32cMask(util.Crc32cValue(src[:24])) != r.HeaderCRC {
		return rocksdb.Corruption(what, "Header CRC mismatch")
	}
	return nil
}

// CheckBlobCRC checks Key and Value against BlobCRC.
func (r *BlobLogRecord) CheckBlobCRC() error {
	if r.blobCRC() != r.BlobCRC {
		return rocksdb.Corruption("Blob CRC mismatch")
	}
	return nil
}

func (r *BlobLogRecord) blobCRC() uint32 {
	return util.Crc32cMask(util.Crc32cExtend(util.Crc32cValue(r.Key), r.Value))
}

// IsValidBlobOffset tells whether a value of such a place and size may be in a
// blob file of fileSize bytes.
func IsValidBlobOffset(valueOffset, keySize, valueSize, fileSize uint64, hasFooter bool) bool {
	const minPrefix = BlobLogHeaderSize + BlobLogRecordHeaderSize
	if valueOffset < minPrefix || valueOffset-minPrefix < keySize {
		return false
	}
	footer := uint64(0)
	if hasFooter {
		footer = BlobLogFooterSize
	}
	if fileSize < footer {
		return false
	}
	end := fileSize - footer
	return valueSize <= end && valueOffset <= end-valueSize
}
