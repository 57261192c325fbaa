// Port of utilities/trie_index/bitvector.{h,cc} (BitvectorBuilder, Bitvector). Differs: what is read is
// copied, at any alignment, and compared with what the bits say.

package trieindex

import (
	"encoding/binary"
	"math"
	"math/bits"
	"slices"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

const (
	bitsPerRankSample  = 256
	wordsPerRankSample = bitsPerRankSample / 64
	onesPerSelectHint  = 256
)

// findNthSetBitInWord gives the place of the set bit number i, counted from 0; there
// must be one.
func findNthSetBitInWord(word uint64, i int) int {
	pos := 0
	for width := 32; width > 0; width /= 2 {
		if ones := bits.OnesCount64(word & (1<<width - 1)); i >= ones {
			i -= ones
			word >>= width
			pos += width
		}
	}
	return pos
}

// BitvectorBuilder gathers bits.
type BitvectorBuilder struct {
	words []uint64
	n     uint64
}

// Append adds a bit.
func (b *BitvectorBuilder) Append(bit bool) {
	if b.n%64 == 0 {
		b.words = append(b.words, 0)
	}
	if bit {
		b.words[len(b.words)-1] |= 1 << (b.n % 64)
	}
	b.n++
}

// AppendWord adds the n low bits of word, the lowest first, 1 to 64; the number of
// bits so far must be a multiple of 64.
func (b *BitvectorBuilder) AppendWord(word uint64, n uint64) {
	b.words = append(b.words, word&(math.MaxUint64>>(64-n)))
	b.n += n
}

// AppendMultiple adds a bit count times.
func (b *BitvectorBuilder) AppendMultiple(bit bool, count uint64) {
	for ; count > 0 && b.n%64 != 0; count-- {
		b.Append(bit)
	}
	full := uint64(0)
	if bit {
		full = math.MaxUint64
	}
	for ; count > 0; count -= min(count, 64) {
		b.AppendWord(full, min(count, 64))
	}
}

// Reserve makes room for n bits.
func (b *BitvectorBuilder) Reserve(n uint64) {
	if want := int((n + 63) / 64); want > len(b.words) {
		b.words = slices.Grow(b.words, want-len(b.words))
	}
}

// NumBits counts the bits.
func (b *BitvectorBuilder) NumBits() uint64 { return b.n }

// GetBit gives the bit at pos.
func (b *BitvectorBuilder) GetBit(pos uint64) bool { return b.words[pos/64]>>(pos%64)&1 == 1 }

// Bitvector is bits that do not change, with what makes it fast to count them up to
// a place and to find the i-th one: the ones before each 256th bit, and in which
// 256 bits each 256th one and zero is. The zero value has no bits.
//
// Encoded: the numbers of bits and of ones, fixed64; the bits, fixed64 of 64 each,
// the lowest first; then the ones before each 256th bit, and the places of each
// 256th one, and zero, as fixed32, each list filled up with zeros to a multiple of
// 8 bytes.
type Bitvector struct {
	words            []uint64
	rank             []uint32 // ones before each sample
	select1, select0 []uint32 // the sample of each onesPerSelectHint-th one, zero
	numBits, numOnes uint64
}

// NewBitvector makes one of at most 1<<32-1 bits, and keeps the builder's words.
func NewBitvector(b *BitvectorBuilder) Bitvector {
	v := Bitvector{words: b.words, numBits: b.n}
	v.index()
	return v
}

// index finds ranks and hints.
// Upstream: Bitvector::BuildRankLUT, Bitvector::BuildSelectHints.
func (v *Bitvector) index() {
	v.rank = make([]uint32, v.numBits/bitsPerRankSample+1)
	for i, w := range v.words {
		if i%wordsPerRankSample == 0 {
			v.rank[i/wordsPerRankSample] = uint32(v.numOnes)
		}
		v.numOnes += uint64(bits.OnesCount64(w))
	}
	if v.numBits%bitsPerRankSample == 0 {
		v.rank[len(v.rank)-1] = uint32(v.numOnes)
	}
	v.select1 = v.hints(v.numOnes, v.onesBefore)
	v.select0 = v.hints(v.NumZeros(), v.zerosBefore)
}

func (v *Bitvector) onesBefore(sample uint64) uint64 { return uint64(v.rank[sample]) }
func (v *Bitvector) zerosBefore(sample uint64) uint64 {
	return sample*bitsPerRankSample - uint64(v.rank[sample])
}

// numHints is the number of hints for n bits of a kind.
func numHints(n uint64) uint64 { return (n + onesPerSelectHint - 1) / onesPerSelectHint }

func (v *Bitvector) hints(n uint64, before func(sample uint64) uint64) []uint32 {
	var hints []uint32
	sample := uint64(0)
	for k := range numHints(n) {
		for sample+1 < uint64(len(v.rank)) && before(sample+1) <= k*onesPerSelectHint {
			sample++
		}
		hints = append(hints, uint32(sample))
	}
	return hints
}

// NumBits counts the bits.
func (v *Bitvector) NumBits() uint64 { return v.numBits }

// NumOnes counts those set.
func (v *Bitvector) NumOnes() uint64 { return v.numOnes }

// NumZeros counts those not set.
func (v *Bitvector) NumZeros() uint64 { return v.numBits - v.numOnes }

// GetBit gives the bit at pos.
func (v *Bitvector) GetBit(pos uint64) bool { return v.words[pos/64]>>(pos%64)&1 == 1 }

// Rank1 counts the ones before pos, at most NumBits.
func (v *Bitvector) Rank1(pos uint64) uint64 {
	sample := pos / bitsPerRankSample
	n := uint64(v.rank[sample])
	last := pos / 64
	for w := sample * wordsPerRankSample; w < last; w++ {
		n += uint64(bits.OnesCount64(v.words[w]))
	}
	if rest := pos % 64; rest > 0 {
		n += uint64(bits.OnesCount64(v.words[last] & (1<<rest - 1)))
	}
	return n
}

// Rank0 counts the zeros before pos.
func (v *Bitvector) Rank0(pos uint64) uint64 { return pos - v.Rank1(pos) }

// FindNthOneBit gives the place of the one number i, counted from 0; NumBits when
// there is none.
func (v *Bitvector) FindNthOneBit(i uint64) uint64 {
	if i >= v.numOnes {
		return v.numBits
	}
	sample := uint64(v.select1[i/onesPerSelectHint])
	for sample+1 < uint64(len(v.rank)) && uint64(v.rank[sample+1]) <= i {
		sample++
	}
	rest := int(i - uint64(v.rank[sample]))
	for w := sample * wordsPerRankSample; ; w++ {
		ones := bits.OnesCount64(v.words[w])
		if rest < ones {
			return w*64 + uint64(findNthSetBitInWord(v.words[w], rest))
		}
		rest -= ones
	}
}

// FindNthZeroBit is FindNthOneBit for zeros.
func (v *Bitvector) FindNthZeroBit(i uint64) uint64 {
	if i >= v.NumZeros() {
		return v.numBits
	}
	sample := uint64(v.select0[i/onesPerSelectHint])
	for sample+1 < uint64(len(v.rank)) && v.zerosBefore(sample+1) <= i {
		sample++
	}
	rest := int(i - v.zerosBefore(sample))
	for w := sample * wordsPerRankSample; ; w++ {
		zeros := bits.OnesCount64(^v.words[w])
		if rest < zeros {
			return w*64 + uint64(findNthSetBitInWord(^v.words[w], rest))
		}
		rest -= zeros
	}
}

// NextSetBit gives the place of the first one at or after pos; NumBits when there
// is none.
func (v *Bitvector) NextSetBit(pos uint64) uint64 {
	if pos >= v.numBits {
		return v.numBits
	}
	w := pos / 64
	word := v.words[w] & (math.MaxUint64 << (pos % 64))
	for word == 0 {
		if w++; w == uint64(len(v.words)) {
			return v.numBits
		}
		word = v.words[w]
	}
	return w*64 + uint64(bits.TrailingZeros64(word))
}

// PrevSetBit gives the place of the last one before pos; NumBits when there is none.
func (v *Bitvector) PrevSetBit(pos uint64) uint64 {
	pos = min(pos, v.numBits)
	if pos == 0 {
		return v.numBits
	}
	w := (pos - 1) / 64
	word := v.words[w] & (math.MaxUint64 >> (63 - (pos-1)%64))
	for word == 0 {
		if w == 0 {
			return v.numBits
		}
		w--
		word = v.words[w]
	}
	return w*64 + uint64(bits.Len64(word)) - 1
}

// DistanceToNextSetBit is how far the next one is from the one at pos; the end
// counts as one.
func (v *Bitvector) DistanceToNextSetBit(pos uint64) uint64 { return v.NextSetBit(pos+1) - pos }

// padded is the bytes of n fixed32, filled up.
func padded(n int) int { return (n*4 + 7) &^ 7 }

// SerializedSize is the bytes that AppendTo appends.
func (v *Bitvector) SerializedSize() int {
	return 16 + len(v.words)*8 + padded(v.rankLen()) + padded(len(v.select1)) + padded(len(v.select0))
}

// rankLen is 1 for the zero value too.
func (v *Bitvector) rankLen() int { return int(v.numBits/bitsPerRankSample + 1) }

// AppendTo appends the encoding.
// Upstream: Bitvector::EncodeTo.
func (v *Bitvector) AppendTo(dst []byte) []byte {
	dst = binary.LittleEndian.AppendUint64(dst, v.numBits)
	dst = binary.LittleEndian.AppendUint64(dst, v.numOnes)
	for _, w := range v.words {
		dst = binary.LittleEndian.AppendUint64(dst, w)
	}
	rank := v.rank
	if rank == nil {
		rank = []uint32{0}
	}
	for _, list := range [][]uint32{rank, v.select1, v.select0} {
		for _, n := range list {
			dst = binary.LittleEndian.AppendUint32(dst, n)
		}
		if len(list)%2 == 1 {
			dst = append(dst, 0, 0, 0, 0)
		}
	}
	return dst
}

// DecodeBitvector reads what AppendTo wrote and gives the rest. Errors are
// Corruption.
// Upstream: Bitvector::InitFromData.
func DecodeBitvector(src []byte) (v Bitvector, rest []byte, err error) {
	bad := func(what string) (Bitvector, []byte, error) {
		return Bitvector{}, nil, rocksdb.Corruption("bit vector: " + what)
	}
	if len(src) < 16 {
		return bad("cut off in its header")
	}
	numBits, numOnes := binary.LittleEndian.Uint64(src), binary.LittleEndian.Uint64(src[8:])
	src = src[16:]
	switch {
	case numOnes > numBits:
		return bad("more ones than bits")
	case numBits > math.MaxUint32:
		return bad("more than 1<<32-1 bits")
	case (numBits+63)/64*8 > uint64(len(src)):
		return bad("cut off in its bits")
	}
	b := BitvectorBuilder{words: make([]uint64, (numBits+63)/64), n: numBits}
	for i := range b.words {
		b.words[i] = binary.LittleEndian.Uint64(src[i*8:])
	}
	src = src[len(b.words)*8:]
	if n := numBits % 64; n > 0 && b.words[len(b.words)-1]>>n != 0 {
		return bad("bits beyond its end")
	}
	v = NewBitvector(&b)
	if v.numOnes != numOnes {
		return bad("wrong number of ones")
	}
	for _, list := range [][]uint32{v.rank, v.select1, v.select0} {
		if padded(len(list)) > len(src) {
			return bad("cut off in its ranks or hints")
		}
		for i, n := range list {
			if binary.LittleEndian.Uint32(src[i*4:]) != n {
				return bad("wrong rank or hint")
			}
		}
		src = src[padded(len(list)):]
	}
	return v, src, nil
}
