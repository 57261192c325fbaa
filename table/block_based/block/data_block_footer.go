// Port of table/block_based/data_block_footer.{h,cc}.

package block

import (
	"encoding/binary"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// The footer ends a block: where keys and values are apart, a fixed32 offset of
// the values; then a fixed32 of the number of restart points and flags:
//
//	bit 31      a hash index precedes the footer
//	bit 30      reserved; must be 0
//	bit 29      restart keys are spread evenly
//	bit 28      keys and values are apart
//	bits 0..27  number of restart points
const (
	footerHashIndexBit   uint32 = 1 << 31
	footerUniformBit     uint32 = 1 << 29
	footerSeparatedKVBit uint32 = 1 << 28

	// MaxNumRestarts is the greatest number of restart points.
	MaxNumRestarts uint32 = 1<<28 - 1
	// DataBlockFooterMaxEncodedLength and DataBlockFooterMinEncodedLength are
	// in bytes.
	DataBlockFooterMaxEncodedLength = 8
	DataBlockFooterMinEncodedLength = 4
)

// DataBlockFooter is a decoded footer.
type DataBlockFooter struct {
	IndexType           rocksdb.DataBlockIndexType
	SeparatedKV         bool
	ValuesSectionOffset uint32 // only with SeparatedKV
	NumRestarts         uint32
	IsUniform           bool
}

// AppendTo encodes the footer at dst's end.
func (f *DataBlockFooter) AppendTo(dst []byte) []byte {
	packed := f.NumRestarts
	if f.IndexType == rocksdb.DataBlockBinaryAndHash {
		packed |= footerHashIndexBit
	}
	if f.SeparatedKV {
		dst = binary.LittleEndian.AppendUint32(dst, f.ValuesSectionOffset)
		packed |= footerSeparatedKVBit
	}
	if f.IsUniform {
		packed |= footerUniformBit
	}
	return binary.LittleEndian.AppendUint32(dst, packed)
}

var (
	errFooterTooSmall   = rocksdb.Corruption("Block too small for footer")
	errFooterReserved   = rocksdb.Corruption("Unrecognized feature in block footer (reserved bits set)")
	errFooterSeparated  = rocksdb.Corruption("Block too small for separated KV values section offset")
	errBadBlockContents = rocksdb.Corruption("bad block contents")
	errBadEntry         = rocksdb.Corruption("bad entry in block")
)

// DecodeFrom decodes the footer at the end of block and returns what precedes
// it.
func (f *DataBlockFooter) DecodeFrom(block []byte) ([]byte, error) {
	n := len(block) - 4
	if n < 0 {
		return block, errFooterTooSmall
	}
	packed := binary.LittleEndian.Uint32(block[n:])
	*f = DataBlockFooter{
		SeparatedKV: packed&footerSeparatedKVBit != 0,
		IsUniform:   packed&footerUniformBit != 0,
		NumRestarts: packed &^ (footerHashIndexBit | footerUniformBit | footerSeparatedKVBit),
	}
	if packed&footerHashIndexBit != 0 {
		f.IndexType = rocksdb.DataBlockBinaryAndHash
	}
	if f.NumRestarts > MaxNumRestarts {
		return block, errFooterReserved
	}
	if f.SeparatedKV {
		if n -= 4; n < 0 {
			return block, errFooterSeparated
		}
		f.ValuesSectionOffset = binary.LittleEndian.Uint32(block[n:])
	}
	return block[:n], nil
}
