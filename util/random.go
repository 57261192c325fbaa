// Port of util/random.{h,cc}. Differs: no per-thread instance (Go has no
// thread-locals: keep a Random where it is used, or use math/rand/v2).
// RandomShuffle's order differs from libstdc++'s.

package util

import "math/bits"

// Random is the minimal standard generator of Park and Miller: weak and fast,
// with the same numbers as upstream's for a seed. Not safe for concurrent use.
type Random struct{ seed uint32 }

// RandomMaxNext is the greatest value of (*Random).Next, 2^31-1.
const RandomMaxNext = 1<<31 - 1

// NewRandom makes a generator; seeds count modulo 2^31-1 and 0 becomes 1.
func NewRandom(seed uint32) *Random {
	r := new(Random)
	r.Reset(seed)
	return r
}

// Reset starts again from seed.
func (r *Random) Reset(seed uint32) {
	r.seed = seed & RandomMaxNext
	if r.seed == 0 {
		r.seed = 1
	}
}

// Next gives a number in [1, 2^31-2], for a seed other than 2^31-1.
func (r *Random) Next() uint32 {
	const a = 16807
	product := uint64(r.seed) * a
	// 2^31 is 1 modulo 2^31-1, so that the halves can be added.
	s := uint32(product>>31) + uint32(product&RandomMaxNext)
	if s > RandomMaxNext {
		s -= RandomMaxNext
	}
	r.seed = s
	return s
}

// Next64 makes 64 bits of two numbers.
func (r *Random) Next64() uint64 {
	hi := uint64(r.Next()) << 32
	return hi | uint64(r.Next())
}

// Uniform gives a number in [0, n); n > 0.
func (r *Random) Uniform(n int) uint32 { return r.Next() % uint32(n) }

// OneIn is true once in n times; n > 0.
func (r *Random) OneIn(n int) bool { return r.Uniform(n) == 0 }

// OneInOpt is OneIn, and false for n <= 0.
func (r *Random) OneInOpt(n int) bool { return n > 0 && r.OneIn(n) }

// PercentTrue is true percentage times in a hundred.
func (r *Random) PercentTrue(percentage int) bool { return int(r.Uniform(100)) < percentage }

// Skewed gives a number in [0, 2^maxLog), smaller ones more often.
func (r *Random) Skewed(maxLog int) uint32 { return r.Uniform(1 << r.Uniform(maxLog+1)) }

// RandomString gives n printable ASCII characters.
func (r *Random) RandomString(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(' ' + r.Uniform(95))
	}
	return string(b)
}

// HumanReadableString gives n lower-case letters.
func (r *Random) HumanReadableString(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte('a' + r.Uniform(26))
	}
	return string(b)
}

// RandomBinaryString gives n bytes in [0, 127).
func (r *Random) RandomBinaryString(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uniform(127))
	}
	return string(b)
}

// Random32 is the Mersenne twister MT19937, with C++'s numbers.
type Random32 struct {
	state [624]uint32
	pos   int
}

// NewRandom32 makes a generator.
func NewRandom32(seed uint32) *Random32 {
	r := new(Random32)
	r.Seed(seed)
	return r
}

// Seed starts again from seed.
func (r *Random32) Seed(seed uint32) {
	r.state[0] = seed
	for i := 1; i < len(r.state); i++ {
		prev := r.state[i-1]
		r.state[i] = 1812433253*(prev^prev>>30) + uint32(i)
	}
	r.pos = len(r.state)
}

func (r *Random32) refill() {
	const n, m = 624, 397
	for i := range r.state {
		y := r.state[i]&(1<<31) | r.state[(i+1)%n]&(1<<31-1)
		r.state[i] = r.state[(i+m)%n] ^ y>>1 ^ 0x9908b0df&-(y&1)
	}
	r.pos = 0
}

// Next gives 32 random bits.
func (r *Random32) Next() uint32 {
	if r.pos >= len(r.state) {
		r.refill()
	}
	y := r.state[r.pos]
	r.pos++
	y ^= y >> 11
	y ^= y << 7 & 0x9d2c5680
	y ^= y << 15 & 0xefc60000
	return y ^ y>>18
}

// Uniform gives a number in [0, n), by libstdc++'s uniform_int_distribution;
// n = 0 stands for 2^32.
func (r *Random32) Uniform(n uint32) uint32 {
	if n == 0 {
		return r.Next()
	}
	product := uint64(r.Next()) * uint64(n)
	if uint32(product) < n {
		threshold := -n % n
		for uint32(product) < threshold {
			product = uint64(r.Next()) * uint64(n)
		}
	}
	return uint32(product >> 32)
}

// Uniformish gives an almost uniform number in [0, n), faster.
func (r *Random32) Uniformish(n uint32) uint32 { return uint32(uint64(r.Next()) * uint64(n) >> 32) }

// OneIn is true once in n times; n > 0.
func (r *Random32) OneIn(n uint32) bool { return r.Uniform(n) == 0 }

// Skewed gives a number in [0, 2^maxLog), smaller ones more often.
func (r *Random32) Skewed(maxLog int) uint32 { return r.Uniform(1 << r.Uniform(uint32(maxLog+1))) }

// Random64 is the Mersenne twister MT19937-64, with C++'s numbers. Not safe for
// concurrent use.
type Random64 struct {
	state [312]uint64
	pos   int
}

// NewRandom64 makes a generator.
func NewRandom64(seed uint64) *Random64 {
	r := new(Random64)
	r.state[0] = seed
	for i := 1; i < len(r.state); i++ {
		prev := r.state[i-1]
		r.state[i] = 6364136223846793005*(prev^prev>>62) + uint64(i)
	}
	r.pos = len(r.state)
	return r
}

func mt64Twist(upper, lower uint64) uint64 {
	y := upper&^(1<<31-1) | lower&(1<<31-1)
	return y>>1 ^ 0xb5026f5aa96619e9&-(y&1)
}

func (r *Random64) refill() {
	const n, m = 312, 156
	s := &r.state
	for i := 0; i < n-m; i++ {
		s[i] = s[i+m] ^ mt64Twist(s[i], s[i+1])
	}
	for i := n - m; i < n-1; i++ {
		s[i] = s[i+m-n] ^ mt64Twist(s[i], s[i+1])
	}
	s[n-1] = s[m-1] ^ mt64Twist(s[n-1], s[0])
	r.pos = 0
}

// Next gives 64 random bits.
func (r *Random64) Next() uint64 {
	if r.pos >= len(r.state) {
		r.refill()
	}
	y := r.state[r.pos]
	r.pos++
	y ^= y >> 29 & 0x5555555555555555
	y ^= y << 17 & 0x71d67fffeda60000
	y ^= y << 37 & 0xfff7eee000000000
	return y ^ y>>43
}

// Uniform gives a number in [0, n), by libstdc++'s uniform_int_distribution;
// n = 0 stands for 2^64.
func (r *Random64) Uniform(n uint64) uint64 {
	if n == 0 {
		return r.Next()
	}
	hi, lo := bits.Mul64(r.Next(), n)
	if lo < n {
		threshold := -n % n
		for lo < threshold {
			hi, lo = bits.Mul64(r.Next(), n)
		}
	}
	return hi
}

// OneIn is true once in n times; n > 0.
func (r *Random64) OneIn(n uint64) bool { return r.Uniform(n) == 0 }

// Skewed gives a number in [0, 2^maxLog), smaller ones more often.
func (r *Random64) Skewed(maxLog int) uint64 { return r.Uniform(1 << r.Uniform(uint64(maxLog+1))) }

// RandomShuffle permutes s by seed.
func RandomShuffle[T any](s []T, seed uint32) {
	r := NewRandom32(seed)
	for i := len(s) - 1; i > 0; i-- {
		j := int(r.Uniform(uint32(i + 1)))
		s[i], s[j] = s[j], s[i]
	}
}
