// Port of table/plain/plain_table_bloom.{h,cc}. Differs: the caller hands the
// filter's memory in; lines are of 64 bytes on all machines.

package plain

import (
	"math"

	"github.com/rocksdb-go/rocksdb/util"
)

// BloomBlockName is the filter's name in the metaindex.
const BloomBlockName = "kBloomBlock"

const (
	log2LineSize = 6
	lineBits     = 8 << log2LineSize
	// defaultNumProbes is what every plain table is written and read with.
	defaultNumProbes = 6
)

// PlainTableBloomV1 is the filter of plain tables, over 32-bit hashes of
// prefixes or keys. With locality, all bits of a hash are in one line of 64
// bytes.
//
// In the file it is the bits alone; the number of lines is a property.
type PlainTableBloomV1 struct {
	totalBits uint32
	numBlocks uint32 // lines; 0 without locality
	numProbes int
	data      []byte
}

// NewPlainTableBloomV1 makes one without bits.
func NewPlainTableBloomV1(numProbes int) *PlainTableBloomV1 {
	return &PlainTableBloomV1{numProbes: numProbes}
}

// totalBitsForLocality rounds up to an odd number of lines, which makes the
// line depend on more bits of the hash.
func totalBitsForLocality(bits uint32) uint32 {
	lines := (uint64(bits) + lineBits - 1) / lineBits
	return uint32((lines | 1) * lineBits)
}

// SetTotalBits makes room for so many bits, in memory of allocate, which gives
// zeros. A positive locality keeps the bits of a hash together.
func (b *PlainTableBloomV1) SetTotalBits(bits, locality uint32, allocate func(n int) []byte) {
	bits = min(bits, math.MaxUint32-2*lineBits)
	if locality > 0 {
		b.totalBits = totalBitsForLocality(bits)
		b.numBlocks = b.totalBits / lineBits
	} else {
		b.totalBits = (bits + 7) / 8 * 8
		b.numBlocks = 0
	}
	b.data = allocate(int(b.totalBits / 8))
}

// SetRawData takes the bits of a file. It is false for bits that cannot be a
// filter of so many lines.
func (b *PlainTableBloomV1) SetRawData(data []byte, numBlocks uint32) bool {
	if len(data) > math.MaxUint32/8 || uint64(numBlocks)<<log2LineSize > uint64(len(data)) {
		return false
	}
	b.data, b.totalBits, b.numBlocks = data, uint32(len(data))*8, numBlocks
	return true
}

// GetRawData gives the bits as they are in the file.
func (b *PlainTableBloomV1) GetRawData() []byte { return b.data }

// GetNumBlocks is the number of lines, 0 without locality.
func (b *PlainTableBloomV1) GetNumBlocks() uint32 { return b.numBlocks }

// GetTotalBits is the number of bits.
func (b *PlainTableBloomV1) GetTotalBits() uint32 { return b.totalBits }

// IsInitialized tells whether there are bits.
func (b *PlainTableBloomV1) IsInitialized() bool { return b.totalBits > 0 }

// AddHash adds the hash of a prefix or key.
func (b *PlainTableBloomV1) AddHash(h uint32) {
	if b.numBlocks != 0 {
		util.LegacyLocalityBloomAddHash(h, b.numBlocks, b.numProbes, b.data, log2LineSize, true)
	} else {
		util.LegacyNoLocalityBloomAddHash(h, b.totalBits, b.numProbes, b.data)
	}
}

// AddKeysHashes adds many.
func (b *PlainTableBloomV1) AddKeysHashes(hashes []uint32) {
	for _, h := range hashes {
		b.AddHash(h)
	}
}

// MayContainHash tells whether a hash may have been added.
func (b *PlainTableBloomV1) MayContainHash(h uint32) bool {
	if b.numBlocks != 0 {
		return util.LegacyLocalityBloomHashMayMatch(h, b.numBlocks, b.numProbes, b.data, log2LineSize, true)
	}
	return util.LegacyNoLocalityBloomHashMayMatch(h, b.totalBits, b.numProbes, b.data)
}
