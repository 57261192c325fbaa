// Port of table/block_based/block.h (BlockReadAmpBitmap).

package block

import (
	"math/bits"
	"math/rand/v2"
	"sync/atomic"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/monitoring"
)

// BlockReadAmpBitmap marks which parts of a block were read, a bit for 2^shift
// bytes, so that statistics tell how much of what was loaded was of use. It may
// be marked by many goroutines.
type BlockReadAmpBitmap struct {
	words      []atomic.Uint32
	shift      uint
	offset     uint32 // where in the first bit's bytes a mark counts
	statistics atomic.Pointer[rocksdb.Statistics]
}

// NewBlockReadAmpBitmap counts blockSize bytes as loaded.
func NewBlockReadAmpBitmap(blockSize, bytesPerBit int, stats rocksdb.Statistics) *BlockReadAmpBitmap {
	m := &BlockReadAmpBitmap{
		shift:  uint(bits.Len(uint(bytesPerBit)) - 1),
		offset: rand.Uint32N(uint32(bytesPerBit)),
	}
	m.statistics.Store(&stats)
	numBits := (blockSize-1)>>m.shift + 1
	m.words = make([]atomic.Uint32, (numBits-1)/32+1)
	monitoring.RecordTick(stats, rocksdb.ReadAmpTotalReadBytes, uint64(blockSize))
	return m
}

// Mark counts the bytes from start to end, inclusive, as read, unless they were
// before.
func (m *BlockReadAmpBitmap) Mark(start, end uint32) {
	first := (start + 1<<m.shift - m.offset - 1) >> m.shift
	past := (end + 1<<m.shift - m.offset) >> m.shift
	if first >= past || int(first/32) >= len(m.words) {
		return
	}
	mask := uint32(1) << (first % 32)
	if m.words[first/32].Or(mask)&mask == 0 {
		monitoring.RecordTick(*m.statistics.Load(), rocksdb.ReadAmpEstimateUsefulBytes, uint64(past-first)<<m.shift)
	}
}

// SetStatistics sets where marks are counted, which changes when another database
// takes over a block in a cache.
func (m *BlockReadAmpBitmap) SetStatistics(stats rocksdb.Statistics) {
	if *m.statistics.Load() != stats {
		s := stats // not the parameter, which would be allocated with each call
		m.statistics.Store(&s)
	}
}

// GetBytesPerBit is a power of two.
func (m *BlockReadAmpBitmap) GetBytesPerBit() int { return 1 << m.shift }

// ApproximateMemoryUsage is in bytes.
func (m *BlockReadAmpBitmap) ApproximateMemoryUsage() int { return 64 + 4*len(m.words) }
