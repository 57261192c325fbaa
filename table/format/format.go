// Port of table/format.{h,cc}: handles and index values. The footer is in
// footer.go, checksums in checksum.go, block contents in block_contents.go.

package format

import (
	"encoding/hex"
	"math"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

// Sizes in bytes.
const (
	MagicNumberLengthByte = 8
	// MaxEncodedLength is that of a BlockHandle: two varint64.
	MaxEncodedLength = 20
	// BlockTrailerSize is that of a block-based table's block: the compression
	// type and a 32-bit checksum, little-endian.
	BlockTrailerSize = 5
)

// The magic numbers that end a table file.
const (
	BlockBasedTableMagicNumber       uint64 = 0x88e241b785f4cff7
	LegacyBlockBasedTableMagicNumber uint64 = 0xdb4775248b80fb57
	PlainTableMagicNumber            uint64 = 0x8242229663bf9564
	LegacyPlainTableMagicNumber      uint64 = 0x4f3418eb7a8f13b8
	CuckooTableMagicNumber           uint64 = 0x926789d0c5f17873
	NullTableMagicNumber             uint64 = 0
)

// BlockHandle is an extent of a file: a block without its trailer. On disk it
// is offset and size, each a varint64. Offset and size 0 is the null handle.
type BlockHandle struct {
	Offset uint64
	Size   uint64
}

// NullBlockHandle points nowhere.
var NullBlockHandle = BlockHandle{}

// UninitializedBlockHandle is not a handle yet; it must not be encoded.
var UninitializedBlockHandle = BlockHandle{Offset: math.MaxUint64, Size: math.MaxUint64}

// IsNull tells whether the handle points nowhere.
func (h BlockHandle) IsNull() bool { return h.Offset == 0 && h.Size == 0 }

// AppendTo encodes the handle at dst's end.
func (h BlockHandle) AppendTo(dst []byte) []byte {
	return util.AppendVarint64(util.AppendVarint64(dst, h.Offset), h.Size)
}

// DecodeFrom decodes a handle and returns what follows it.
func (h *BlockHandle) DecodeFrom(src []byte) ([]byte, error) {
	off, rest, ok := util.GetVarint64(src)
	if ok {
		var size uint64
		if size, rest, ok = util.GetVarint64(rest); ok {
			h.Offset, h.Size = off, size
			return rest, nil
		}
	}
	*h = BlockHandle{}
	return src, errBadBlockHandle
}

// DecodeSizeFrom decodes a size for a known offset.
func (h *BlockHandle) DecodeSizeFrom(offset uint64, src []byte) ([]byte, error) {
	size, rest, ok := util.GetVarint64(src)
	if !ok {
		*h = BlockHandle{}
		return src, errBadBlockHandle
	}
	h.Offset, h.Size = offset, size
	return rest, nil
}

// ToString gives the encoded handle in hexadecimal, as tools print it.
func (h BlockHandle) ToString() string {
	return upperHex(h.AppendTo(nil))
}

// FitsIn tells whether block and trailer lie within a file of fileSize bytes.
func (h BlockHandle) FitsIn(fileSize, trailerSize uint64) bool {
	return h.Size <= fileSize && h.Offset <= fileSize-h.Size &&
		trailerSize <= fileSize-h.Size-h.Offset
}

var (
	errBadBlockHandle = rocksdb.Corruption("bad block handle")
	errBadDeltaValue  = rocksdb.Corruption("bad delta-encoded index value")
	errBadFirstKey    = rocksdb.Corruption("bad first key in block info")
)

// IndexValue is the value of an index entry, whose key lies between the last
// key of its block and the first of the next.
//
// On disk:
//
//	handle          varint64 offset, varint64 size; or, where the entry before
//	                it is of the same restart interval and delta encoding is
//	                on, a zigzag varint64: size minus the size before (the
//	                blocks are neighbours)
//	first key       varint32 length and bytes; only in an index of type
//	                BinarySearchWithFirstKey
type IndexValue struct {
	Handle BlockHandle
	// FirstInternalKey is the block's first key; empty when not known. After
	// DecodeFrom it points into the source.
	FirstInternalKey []byte
}

// AppendTo encodes the value at dst's end. With previous, which must be the
// block right before, it is delta-encoded.
func (v *IndexValue) AppendTo(dst []byte, haveFirstKey bool, previous *BlockHandle) []byte {
	if previous != nil {
		dst = util.AppendVarsignedint64(dst, int64(v.Handle.Size-previous.Size))
	} else {
		dst = v.Handle.AppendTo(dst)
	}
	if haveFirstKey {
		dst = util.AppendLengthPrefixedSlice(dst, v.FirstInternalKey)
	}
	return dst
}

// DecodeFrom decodes a value and returns what follows it.
func (v *IndexValue) DecodeFrom(src []byte, haveFirstKey bool, previous *BlockHandle) ([]byte, error) {
	if previous != nil {
		delta, rest, ok := util.GetVarsignedint64(src)
		if !ok {
			return src, errBadDeltaValue
		}
		v.Handle = BlockHandle{
			Offset: previous.Offset + previous.Size + BlockTrailerSize,
			Size:   previous.Size + uint64(delta),
		}
		src = rest
	} else {
		rest, err := v.Handle.DecodeFrom(src)
		if err != nil {
			return src, err
		}
		src = rest
	}
	if !haveFirstKey {
		v.FirstInternalKey = nil
		return src, nil
	}
	key, rest, ok := util.GetLengthPrefixedSlice(src)
	if !ok {
		return src, errBadFirstKey
	}
	v.FirstInternalKey = key
	return rest, nil
}

// ToString gives the encoded value in hexadecimal.
func (v *IndexValue) ToString(haveFirstKey bool) string {
	return upperHex(v.AppendTo(nil, haveFirstKey, nil))
}

func upperHex(b []byte) string {
	s := []byte(hex.EncodeToString(b))
	for i, c := range s {
		if c >= 'a' {
			s[i] = c - 'a' + 'A'
		}
	}
	return string(s)
}
