// Port of db/log_format.h, util/compression.h (CompressionTypeRecord),
// util/udt_util.h (UserDefinedTimestampSizeRecord) and db/dbformat.h
// (PredecessorWALInfo).

package wal

import (
	"encoding/binary"
	"fmt"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// RecordType is the kind of a physical record. The numbers are on disk.
type RecordType = uint8

// The record types. ZeroType marks preallocated space.
const (
	ZeroType   RecordType = 0
	FullType   RecordType = 1
	FirstType  RecordType = 2
	MiddleType RecordType = 3
	LastType   RecordType = 4

	RecyclableFullType   RecordType = 5
	RecyclableFirstType  RecordType = 6
	RecyclableMiddleType RecordType = 7
	RecyclableLastType   RecordType = 8

	SetCompressionType RecordType = 9

	UserDefinedTimestampSizeType           RecordType = 10
	RecyclableUserDefinedTimestampSizeType RecordType = 11

	PredecessorWALInfoType        RecordType = 130
	RecyclePredecessorWALInfoType RecordType = 131
)

// RecordTypeSafeIgnoreMask is set in types that an old reader may skip.
const RecordTypeSafeIgnoreMask = 1 << 7

// Sizes in bytes.
const (
	BlockSize            = 32768
	HeaderSize           = 4 + 2 + 1
	RecyclableHeaderSize = HeaderSize + 4
)

func isRecyclable(t RecordType) bool {
	return t >= RecyclableFullType && t <= RecyclableLastType ||
		t == RecyclableUserDefinedTimestampSizeType || t == RecyclePredecessorWALInfoType
}

// PredecessorWALInfo describes the WAL before this one, to find out that one
// is missing or cut short.
type PredecessorWALInfo struct {
	LogNumber         uint64
	SizeBytes         uint64
	LastSeqnoRecorded rocksdb.SequenceNumber
	Initialized       bool
}

// AppendTo appends the encoding to dst.
func (p *PredecessorWALInfo) AppendTo(dst []byte) []byte {
	dst = binary.LittleEndian.AppendUint64(dst, p.LogNumber)
	dst = binary.LittleEndian.AppendUint64(dst, p.SizeBytes)
	return binary.LittleEndian.AppendUint64(dst, p.LastSeqnoRecorded)
}

// DecodeFrom is the inverse of AppendTo.
func (p *PredecessorWALInfo) DecodeFrom(src []byte) error {
	if len(src) < 24 {
		return rocksdb.Corruption("Error decoding predecessor WAL info")
	}
	p.LogNumber = binary.LittleEndian.Uint64(src)
	p.SizeBytes = binary.LittleEndian.Uint64(src[8:])
	p.LastSeqnoRecorded = binary.LittleEndian.Uint64(src[16:])
	p.Initialized = true
	return nil
}

// TimestampSize is a column family's timestamp size in bytes.
type TimestampSize struct {
	ColumnFamily uint32
	Size         uint16
}

const timestampSizeEntry = 4 + 2

func appendTimestampSizes(dst []byte, sizes []TimestampSize) []byte {
	for _, s := range sizes {
		dst = binary.LittleEndian.AppendUint32(dst, s.ColumnFamily)
		dst = binary.LittleEndian.AppendUint16(dst, s.Size)
	}
	return dst
}

func decodeTimestampSizes(src []byte) ([]TimestampSize, error) {
	if len(src)%timestampSizeEntry != 0 {
		return nil, rocksdb.Corruption(fmt.Sprintf(
			"User-defined timestamp size record length: %d is not a multiple of %d\n", len(src), timestampSizeEntry))
	}
	sizes := make([]TimestampSize, 0, len(src)/timestampSizeEntry)
	for ; len(src) > 0; src = src[timestampSizeEntry:] {
		sizes = append(sizes, TimestampSize{binary.LittleEndian.Uint32(src), binary.LittleEndian.Uint16(src[4:])})
	}
	return sizes, nil
}
