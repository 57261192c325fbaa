// Port of util/{ribbon_impl,ribbon_alg}.h. Differs: one concrete instance, that
// of the format's filters (upstream's Standard128Ribbon), in place of templates;
// the in-memory solution and the key-value map that only tests use are left out.

package util

import (
	"math"
	"math/bits"
)

// A ribbon filter solves linear equations over bits. A key's hash gives a start
// slot s, 128 coefficient bits of which the first is one, and 32 expected bits.
// The solution has a column of bits for each bit of the filter's answer; a key
// matches if in every column the parity of (coefficients AND the column's bits
// at slots s to s+127) is the expected bit.
//
// Stored form: slots come in blocks of 128; each block has a segment of 16 bytes
// (a little-endian 128-bit integer, bit i for slot i) for each of its columns,
// lowest column first, blocks in order. So that any number of segments can be
// used, the first blocks have one column less than the others: with n segments
// in b blocks, c = ceil(n/b) columns, the first c*b-n blocks have c-1.
//
// The seed comes from an ordinal that counts tries; it is stored beside the
// solution, as is the number of blocks.

const (
	ribbonCoeffBits  = 128
	ribbonResultBits = 32
	ribbonSegment    = 16 // bytes

	ribbonCoeffAndResultFactor = 0xc28f82822b650bed
	ribbonCoeffXor64           = 0xc367844a6e52731d
	ribbonSeedMixMask          = 0xf0f0f0f0f0f0f0f0
	ribbonSeedMixShift         = 4
	ribbonToRawSeedFactor      = 0xc78219a23eeadd03
	ribbonFromRawSeedFactor    = 0xfe1a137d14b475ab
	ribbonRehashFactor         = 0x6193d459236a3a0d
)

// RibbonHasher derives equations from keys' 64-bit hashes (GetSliceHash64) and
// a seed.
type RibbonHasher struct{ rawSeed uint32 }

// SetRawSeed sets the seed as it enters the hash.
func (h *RibbonHasher) SetRawSeed(seed uint32) { h.rawSeed = seed }

// GetRawSeed gives the seed as it enters the hash.
func (h *RibbonHasher) GetRawSeed() uint32 { return h.rawSeed }

// SetOrdinalSeed sets the seed by its ordinal, the form that is stored.
func (h *RibbonHasher) SetOrdinalSeed(ordinal uint32) {
	v := uint64(ordinal) * ribbonToRawSeedFactor
	v ^= v & ribbonSeedMixMask >> ribbonSeedMixShift
	h.rawSeed = uint32(v)
}

// GetOrdinalSeed is the inverse of SetOrdinalSeed.
func (h *RibbonHasher) GetOrdinalSeed() uint32 {
	v := uint64(h.rawSeed)
	v ^= v & ribbonSeedMixMask >> ribbonSeedMixShift
	return uint32(v * ribbonFromRawSeedFactor)
}

// GetHash mixes the seed into a key's hash.
func (h *RibbonHasher) GetHash(key uint64) uint64 {
	return (key ^ uint64(h.rawSeed)) * ribbonRehashFactor
}

func ribbonStart(hash uint64, numStarts uint32) uint32 {
	return uint32(FastRange64(hash, uint64(numStarts)))
}

func ribbonCoeffRow(hash uint64) Unsigned128 {
	a := hash * ribbonCoeffAndResultFactor
	return Unsigned128{Hi: a, Lo: a ^ ribbonCoeffXor64 | 1}
}

func ribbonResultRow(hash uint64) uint32 {
	return uint32(bits.ReverseBytes64(hash * ribbonCoeffAndResultFactor))
}

// RibbonExpectedCollisionFpRate is the part of the false positive rate that
// comes of equal hashes, with added keys.
func RibbonExpectedCollisionFpRate(added float64) float64 { return added / math.Pow(256, 8) }

// RibbonBanding holds equations in echelon form: the equation that leads with
// slot i is row i.
type RibbonBanding struct {
	RibbonHasher
	coeff     []Unsigned128
	result    []uint32
	numStarts uint32
	backtrack []uint32
}

// RibbonBandingEstimateMemoryUsage is the memory for numSlots slots, in bytes.
func RibbonBandingEstimateMemoryUsage(numSlots uint32) uint64 {
	return uint64(numSlots) * (16 + 4)
}

// Reset clears it for numSlots slots: 0, or at least 128. Memory is kept.
func (b *RibbonBanding) Reset(numSlots uint32) {
	b.numStarts = 0
	if numSlots != 0 {
		b.numStarts = numSlots - ribbonCoeffBits + 1
	}
	if uint64(numSlots) > uint64(cap(b.coeff)) {
		b.coeff = make([]Unsigned128, numSlots)
		b.result = make([]uint32, numSlots)
		return
	}
	b.coeff, b.result = b.coeff[:numSlots], b.result[:numSlots]
	clear(b.coeff)
	clear(b.result)
}

// GetNumStarts is the number of slots at which an equation may start.
func (b *RibbonBanding) GetNumStarts() uint32 { return b.numStarts }

// GetOccupiedCount is the number of slots with an equation.
func (b *RibbonBanding) GetOccupiedCount() int {
	n := 0
	for i := range b.coeff {
		if !b.coeff[i].IsZero() {
			n++
		}
	}
	return n
}

// IsOccupied tells whether slot i has an equation.
func (b *RibbonBanding) IsOccupied(i uint32) bool { return !b.coeff[i].IsZero() }

// add adds the equation of a key. It tells the slot taken, -1 if the equation
// followed from the others, and whether it does not contradict them.
func (b *RibbonBanding) add(key uint64) (slot int, ok bool) {
	hash := b.GetHash(key)
	i := uint64(ribbonStart(hash, b.numStarts))
	cr := ribbonCoeffRow(hash)
	hi, lo := cr.Hi, cr.Lo
	rr := ribbonResultRow(hash)
	for {
		row := &b.coeff[i]
		if row.Hi|row.Lo == 0 {
			*row = Unsigned128{Hi: hi, Lo: lo}
			b.result[i] = rr
			return int(i), true
		}
		hi ^= row.Hi
		lo ^= row.Lo
		rr ^= b.result[i]
		// Shift the lowest one bit, which the xor moved up, to bit 0.
		if lo == 0 {
			if hi == 0 {
				return -1, rr == 0
			}
			i += 64
			lo, hi = hi, 0
		}
		tz := uint(bits.TrailingZeros64(lo))
		i += uint64(tz)
		lo = lo>>tz | hi<<(64-tz)
		hi >>= tz
	}
}

// AddRange adds keys by their hashes. On failure, some may have been added.
func (b *RibbonBanding) AddRange(keys []uint64) bool {
	if b.numStarts == 0 {
		return len(keys) == 0
	}
	for _, key := range keys {
		if _, ok := b.add(key); !ok {
			return false
		}
	}
	return true
}

// AddRangeOrRollBack adds all keys or none.
func (b *RibbonBanding) AddRangeOrRollBack(keys []uint64) bool {
	if b.numStarts == 0 {
		return len(keys) == 0
	}
	b.backtrack = b.backtrack[:0]
	for _, key := range keys {
		slot, ok := b.add(key)
		if !ok {
			// Later rows were never folded into earlier ones, so that rows can
			// simply be taken out.
			for _, i := range b.backtrack {
				b.coeff[i], b.result[i] = Unsigned128{}, 0
			}
			return false
		}
		if slot >= 0 {
			b.backtrack = append(b.backtrack, uint32(slot))
		}
	}
	return true
}

// Add adds one key.
func (b *RibbonBanding) Add(key uint64) bool {
	if b.numStarts == 0 {
		return false
	}
	_, ok := b.add(key)
	return ok
}

// ResetAndFindSeedToSolve tries seeds from startingOrdinalSeed on, wrapping at
// ordinalSeedMask (2^n-1), until all keys can be added. On success the seed is
// that of the hasher.
func (b *RibbonBanding) ResetAndFindSeedToSolve(numSlots uint32, keys []uint64, startingOrdinalSeed, ordinalSeedMask uint32) bool {
	startingOrdinalSeed &= ordinalSeedMask
	for seed := startingOrdinalSeed; ; {
		b.SetOrdinalSeed(seed)
		b.Reset(numSlots)
		if b.AddRange(keys) {
			return true
		}
		if seed = (seed + 1) & ordinalSeedMask; seed == startingOrdinalSeed {
			return false
		}
	}
}

// RibbonSolution is a filter over bytes it does not own. Queries need no locks.
type RibbonSolution struct {
	data            []byte
	numSegments     uint32
	numStarts       uint32
	upperNumColumns uint32
	upperStartBlock uint32
}

// NewRibbonSolution makes a solution over data, whose length tells the number
// of segments; Configure before use. data may be nil with a length given by
// NewRibbonSolutionForLength.
func NewRibbonSolution(data []byte) *RibbonSolution {
	return &RibbonSolution{data: data, numSegments: uint32(len(data) / ribbonSegment)}
}

// NewRibbonSolutionForLength makes a solution without data, to ask what one of
// so many bytes would be like.
func NewRibbonSolutionForLength(dataLen uint64) *RibbonSolution {
	return &RibbonSolution{numSegments: uint32(dataLen / ribbonSegment)}
}

// ConfigureForNumBlocks sets the number of blocks, as stored.
func (s *RibbonSolution) ConfigureForNumBlocks(numBlocks uint32) {
	if numBlocks == 0 {
		s.numStarts, s.upperNumColumns, s.upperStartBlock = 0, 0, 0
		s.numSegments = 0
		return
	}
	s.numStarts = numBlocks*ribbonCoeffBits - ribbonCoeffBits + 1
	segments, blocks := uint64(s.numSegments), uint64(numBlocks)
	columns := (segments + blocks - 1) / blocks
	if columns > ribbonResultBits {
		s.upperNumColumns, s.upperStartBlock = ribbonResultBits, 0
		s.numSegments = numBlocks * ribbonResultBits // more bytes than bits
		return
	}
	s.upperNumColumns, s.upperStartBlock = uint32(columns), uint32(columns*blocks-segments)
}

// ConfigureForNumSlots sets the number of slots, a multiple of 128.
func (s *RibbonSolution) ConfigureForNumSlots(numSlots uint32) {
	s.ConfigureForNumBlocks(numSlots / ribbonCoeffBits)
}

// GetNumBlocks is the number of blocks, which is stored.
func (s *RibbonSolution) GetNumBlocks() uint32 {
	return (s.numStarts + ribbonCoeffBits - 1) / ribbonCoeffBits
}

// GetNumStarts is the number of slots at which an equation may start.
func (s *RibbonSolution) GetNumStarts() uint32 { return s.numStarts }

// GetUpperNumColumns is the number of columns of the later blocks.
func (s *RibbonSolution) GetUpperNumColumns() uint32 { return s.upperNumColumns }

// GetUpperStartBlock is the number of blocks with a column less.
func (s *RibbonSolution) GetUpperStartBlock() uint32 { return s.upperStartBlock }

// GetNumSegments is the number of segments in use.
func (s *RibbonSolution) GetNumSegments() uint32 { return s.numSegments }

// BackSubstFrom solves b's equations into the data.
func (s *RibbonSolution) BackSubstFrom(b *RibbonBanding) {
	s.ConfigureForNumBlocks((b.numStarts + ribbonCoeffBits - 1) / ribbonCoeffBits)
	if s.upperNumColumns == 0 {
		return
	}
	// The columns' bits at the 128 slots from the current one on.
	var state [ribbonResultBits]Unsigned128
	at := int(s.numSegments) * ribbonSegment
	for block := s.GetNumBlocks(); block > 0; {
		block--
		columns := s.upperNumColumns
		if block < s.upperStartBlock {
			columns--
		}
		cols := state[:columns]
		ribbonBackSubstBlock(cols, b, int(block)*ribbonCoeffBits)
		at -= len(cols) * ribbonSegment
		for i := range cols {
			EncodeFixed128(s.data[at+i*ribbonSegment:], cols[i])
		}
	}
}

func ribbonBackSubstBlock(cols []Unsigned128, b *RibbonBanding, start int) {
	for i := start + ribbonCoeffBits - 1; i >= start; i-- {
		cr, rr := b.coeff[i], uint64(b.result[i])
		for j := range cols {
			c := &cols[j]
			hi, lo := c.Hi<<1|c.Lo>>63, c.Lo<<1
			bit := uint64(bits.OnesCount64(hi&cr.Hi^lo&cr.Lo))&1 ^ rr&1
			c.Hi, c.Lo = hi, lo|bit
			rr >>= 1
		}
	}
}

// RibbonQuery is what PrepareQuery found out about a key.
type RibbonQuery struct {
	hash                             uint64
	segmentNum, numColumns, startBit uint32
}

// PrepareQuery finds where a key's segments are. There must be blocks.
func (s *RibbonSolution) PrepareQuery(key uint64, hasher *RibbonHasher) RibbonQuery {
	hash := hasher.GetHash(key)
	slot := ribbonStart(hash, s.numStarts)
	q := RibbonQuery{hash: hash, numColumns: s.upperNumColumns, startBit: slot % ribbonCoeffBits}
	block := slot / ribbonCoeffBits
	q.segmentNum = block*q.numColumns - min(block, s.upperStartBlock)
	if block < s.upperStartBlock {
		q.numColumns--
	}
	return q
}

// QueryPrepared tells whether the key may have been added.
func (s *RibbonSolution) QueryPrepared(q RibbonQuery) bool {
	cr, expected := ribbonCoeffRow(q.hash), uint64(ribbonResultRow(q.hash))
	size := int(q.numColumns) * ribbonSegment
	left := s.data[int(q.segmentNum)*ribbonSegment:][:size]
	if q.startBit == 0 {
		for ; len(left) >= ribbonSegment; left = left[ribbonSegment:] {
			got := le64(left, 0)&cr.Lo ^ le64(left, 8)&cr.Hi
			if (uint64(bits.OnesCount64(got))^expected)&1 != 0 {
				return false
			}
			expected >>= 1
		}
		return true
	}
	right := s.data[int(q.segmentNum)*ribbonSegment+size:][:size]
	crLeft, crRight := cr.Lsh(uint(q.startBit)), cr.Rsh(ribbonCoeffBits-uint(q.startBit))
	for len(left) >= ribbonSegment && len(right) >= ribbonSegment {
		got := le64(left, 0)&crLeft.Lo ^ le64(left, 8)&crLeft.Hi ^
			le64(right, 0)&crRight.Lo ^ le64(right, 8)&crRight.Hi
		if (uint64(bits.OnesCount64(got))^expected)&1 != 0 {
			return false
		}
		expected >>= 1
		left, right = left[ribbonSegment:], right[ribbonSegment:]
	}
	return true
}

// FilterQuery tells whether the key with that hash may have been added; never
// if there are no blocks.
func (s *RibbonSolution) FilterQuery(key uint64, hasher *RibbonHasher) bool {
	if s.numStarts == 0 {
		return false
	}
	return s.QueryPrepared(s.PrepareQuery(key, hasher))
}

// ExpectedFpRate is the false positive rate, but for equal hashes.
func (s *RibbonSolution) ExpectedFpRate() float64 {
	if s.numStarts == 0 {
		return 0
	}
	lower := float64(s.upperStartBlock) * ribbonCoeffBits / float64(s.numStarts)
	return lower*math.Pow(0.5, float64(s.upperNumColumns)-1) + (1-lower)*math.Pow(0.5, float64(s.upperNumColumns))
}

// RibbonRoundUpNumSlots gives the next usable number of slots.
func RibbonRoundUpNumSlots(numSlots uint32) uint32 {
	n := (numSlots + ribbonCoeffBits - 1) / ribbonCoeffBits * ribbonCoeffBits
	if n == ribbonCoeffBits {
		n += ribbonCoeffBits // one start would not do
	}
	return n
}

// RibbonRoundDownNumSlots gives the usable number of slots below.
func RibbonRoundDownNumSlots(numSlots uint32) uint32 {
	n := numSlots / ribbonCoeffBits * ribbonCoeffBits
	if n == ribbonCoeffBits {
		n = 0
	}
	return n
}

// RibbonGetBytesForFpRate is the solution's size for a false positive rate, by
// interpolation between whole numbers of columns. roundingBias32 (the fraction
// of 2^32 to round up by) makes sizes right on average.
func RibbonGetBytesForFpRate(numSlots uint32, desiredFpRate float64, roundingBias32 uint32) uint64 {
	return ribbonGetBytes(numSlots, desiredFpRate, 1/desiredFpRate, roundingBias32)
}

// RibbonGetBytesForOneInFpRate is RibbonGetBytesForFpRate for a rate of one in
// so many.
func RibbonGetBytesForOneInFpRate(numSlots uint32, desiredOneInFpRate float64, roundingBias32 uint32) uint64 {
	return ribbonGetBytes(numSlots, 1/desiredOneInFpRate, desiredOneInFpRate, roundingBias32)
}

func ribbonGetBytes(numSlots uint32, fpRate, oneInFpRate float64, roundingBias32 uint32) uint64 {
	switch {
	case numSlots == 0:
		return 0
	case !(oneInFpRate > 1 && fpRate < 1):
		return ribbonSegment // every query matches
	case oneInFpRate > math.MaxUint32:
		return uint64(numSlots) * (ribbonResultBits / 8)
	}
	lowerColumns := FloorLog2(uint32(oneInFpRate))
	lowerRate, upperRate := math.Pow(2, -float64(lowerColumns)), math.Pow(2, -float64(lowerColumns+1))
	lowerPortion := (fpRate - upperRate) / (lowerRate - upperRate)
	bias := (float64(roundingBias32) + 0.5) / (1 << 32)
	numStarts := numSlots - ribbonCoeffBits + 1
	upperStartBlock := uint32((float64(lowerPortion*float64(numStarts)) + bias) / ribbonCoeffBits)
	numBlocks := numSlots / ribbonCoeffBits
	segments := uint64(numBlocks)*uint64(lowerColumns) + uint64(numBlocks-upperStartBlock)
	return segments * ribbonSegment
}
