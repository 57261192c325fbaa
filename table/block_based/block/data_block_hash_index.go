// Port of table/block_based/data_block_hash_index.{h,cc}.

package block

import (
	"encoding/binary"

	"github.com/rocksdb-go/rocksdb/util"
)

// The hash index lets a point lookup go to a key's restart interval at once. It
// lies between the restart array and the footer:
//
//	buckets      one byte each: the restart index of the keys hashed there,
//	             NoEntry, or Collision when they are of several intervals
//	num_buckets  fixed16, odd
//
// A key's bucket is its hash (GetSliceHash of the user key) modulo num_buckets.
const (
	NoEntry                          uint8 = 255
	Collision                        uint8 = 254
	MaxRestartSupportedByHashIndex         = 253
	MaxBlockSizeSupportedByHashIndex       = 1 << 16 // bytes
	defaultUtilRatio                       = 0.75
)

type hashAndRestart struct {
	hash    uint32
	restart uint8
}

// DataBlockHashIndexBuilder collects a block's keys.
type DataBlockHashIndexBuilder struct {
	bucketPerKey        float64
	estimatedNumBuckets float64
	valid               bool
	pairs               []hashAndRestart
}

// Initialize turns the index on. utilRatio is keys over buckets; where it is
// not positive the default is taken.
func (b *DataBlockHashIndexBuilder) Initialize(utilRatio float64) {
	if utilRatio <= 0 {
		utilRatio = defaultUtilRatio
	}
	b.bucketPerKey, b.valid = 1/utilRatio, true
}

// Valid tells whether an index is to be written.
func (b *DataBlockHashIndexBuilder) Valid() bool { return b.valid && b.bucketPerKey > 0 }

// Add enters a user key of a restart interval. Too many intervals turn the
// index off.
func (b *DataBlockHashIndexBuilder) Add(userKey []byte, restartIndex int) {
	if restartIndex > MaxRestartSupportedByHashIndex {
		b.valid = false
		return
	}
	b.pairs = append(b.pairs, hashAndRestart{util.GetSliceHash(userKey), uint8(restartIndex)})
	b.estimatedNumBuckets += b.bucketPerKey
}

// EstimateSize is the index's size in bytes.
func (b *DataBlockHashIndexBuilder) EstimateSize() int {
	return 2 + int(uint16(b.estimatedNumBuckets)|1)
}

// Finish appends the index to dst.
func (b *DataBlockHashIndexBuilder) Finish(dst []byte) []byte {
	// The hash spreads badly over a power of two.
	n := uint16(b.estimatedNumBuckets) | 1
	start := len(dst)
	for i := 0; i < int(n); i++ {
		dst = append(dst, NoEntry)
	}
	buckets := dst[start:]
	for _, p := range b.pairs {
		switch at := &buckets[p.hash%uint32(n)]; {
		case *at == NoEntry:
			*at = p.restart
		case *at != p.restart:
			*at = Collision
		}
	}
	return binary.LittleEndian.AppendUint16(dst, n)
}

// Reset forgets the keys and turns the index on again.
func (b *DataBlockHashIndexBuilder) Reset() {
	b.estimatedNumBuckets, b.valid, b.pairs = 0, true, b.pairs[:0]
}

// DataBlockHashIndex looks keys up in a finished index.
type DataBlockHashIndex struct{ numBuckets uint16 }

// Initialize reads the index that ends data; mapOffset is where its buckets
// begin. ok is false when data cannot hold it.
func (x *DataBlockHashIndex) Initialize(data []byte) (mapOffset int, ok bool) {
	x.numBuckets = 0
	n := len(data)
	if n < 2 || n >= MaxBlockSizeSupportedByHashIndex {
		return 0, false
	}
	buckets := binary.LittleEndian.Uint16(data[n-2:])
	if buckets == 0 || int(buckets)+2 > n {
		return 0, false
	}
	x.numBuckets = buckets
	return n - 2 - int(buckets), true
}

// Valid tells whether there is an index.
func (x *DataBlockHashIndex) Valid() bool { return x.numBuckets != 0 }

// Lookup gives a restart index, NoEntry or Collision.
func (x *DataBlockHashIndex) Lookup(data []byte, mapOffset int, userKey []byte) uint8 {
	return data[mapOffset+int(util.GetSliceHash(userKey)%uint32(x.numBuckets))]
}
