// Port of utilities/trie_index/bitvector.{h,cc} (EliasFano).

package trieindex

import (
	"encoding/binary"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

// EliasFano is numbers that do not fall, in about 2 bits and the bits of universe
// over count each, with access to each. The zero value has none.
//
// A number's low bits, as many as universe over count has, lie in a row; of the high
// ones, in a bit vector, number i is as many zeros as lie before one i.
//
// Encoded: count, universe and number of low bits, fixed64; the bit vector; the low
// bits, fixed64 of 64 each.
type EliasFano struct {
	count, universe uint64
	lowBits         uint64
	high            Bitvector
	low             []uint64
}

// maxEliasFanoCount bounds the numbers of what is read, as upstream.
const maxEliasFanoCount = 1 << 30

// NewEliasFano makes one of numbers below universe.
func NewEliasFano(values []uint64, universe uint64) EliasFano {
	e := EliasFano{count: uint64(len(values)), universe: universe}
	if e.count == 0 {
		return e
	}
	if universe > e.count {
		e.lowBits = uint64(util.FloorLog2(universe / e.count))
	}
	var b BitvectorBuilder
	e.low = make([]uint64, (e.count*e.lowBits+63)/64)
	last := uint64(0)
	for i, v := range values {
		high := v >> e.lowBits
		b.AppendMultiple(false, high-last)
		b.Append(true)
		last = high
		low, at := v&e.lowMask(), uint64(i)*e.lowBits
		if e.lowBits == 0 {
			continue
		}
		e.low[at/64] |= low << (at % 64)
		if at%64+e.lowBits > 64 {
			e.low[at/64+1] |= low >> (64 - at%64)
		}
	}
	e.high = NewBitvector(&b)
	return e
}

func (e *EliasFano) lowMask() uint64 { return 1<<e.lowBits - 1 }

// Count counts the numbers.
func (e *EliasFano) Count() uint64 { return e.count }

// Universe is what all numbers are below.
func (e *EliasFano) Universe() uint64 { return e.universe }

// Access gives number i, counted from 0, of Count.
func (e *EliasFano) Access(i uint64) uint64 {
	high := e.high.FindNthOneBit(i) - i
	if e.lowBits == 0 {
		return high
	}
	at := i * e.lowBits
	low := e.low[at/64] >> (at % 64)
	if at%64+e.lowBits > 64 {
		low |= e.low[at/64+1] << (64 - at%64)
	}
	return high<<e.lowBits | low&e.lowMask()
}

// SerializedSize is the bytes that AppendTo appends.
func (e *EliasFano) SerializedSize() int { return 24 + e.high.SerializedSize() + len(e.low)*8 }

// AppendTo appends the encoding.
// Upstream: EliasFano::EncodeTo.
func (e *EliasFano) AppendTo(dst []byte) []byte {
	for _, n := range []uint64{e.count, e.universe, e.lowBits} {
		dst = binary.LittleEndian.AppendUint64(dst, n)
	}
	dst = e.high.AppendTo(dst)
	for _, w := range e.low {
		dst = binary.LittleEndian.AppendUint64(dst, w)
	}
	return dst
}

// DecodeEliasFano reads what AppendTo wrote and gives the rest. Errors are
// Corruption.
// Upstream: EliasFano::InitFromData.
func DecodeEliasFano(src []byte) (e EliasFano, rest []byte, err error) {
	bad := func(what string) (EliasFano, []byte, error) {
		return EliasFano{}, nil, rocksdb.Corruption("Elias-Fano sequence: " + what)
	}
	if len(src) < 24 {
		return bad("cut off in its header")
	}
	e.count, e.universe, e.lowBits = binary.LittleEndian.Uint64(src), binary.LittleEndian.Uint64(src[8:]), binary.LittleEndian.Uint64(src[16:])
	switch {
	case e.lowBits > 63:
		return bad("more than 63 low bits")
	case e.count > maxEliasFanoCount:
		return bad("more than 1<<30 numbers")
	}
	if e.high, src, err = DecodeBitvector(src[24:]); err != nil {
		return bad(err.Error())
	}
	words := (e.count*e.lowBits + 63) / 64
	switch {
	case e.high.NumOnes() != e.count:
		return bad("another number of high bits than of numbers")
	case words*8 > uint64(len(src)):
		return bad("cut off in its low bits")
	}
	e.low = make([]uint64, words)
	for i := range e.low {
		e.low[i] = binary.LittleEndian.Uint64(src[i*8:])
	}
	return e, src[words*8:], nil
}
