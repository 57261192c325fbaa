// No upstream twin: the MathTest suite of util/hash_test.cc, kept beside math.go.

package util_test

import (
	"testing"
	"unsafe"

	"github.com/rocksdb-go/rocksdb/util"
)

// bitOps is what the test needs of an integer, so that 128-bit ones can take
// part.
type bitOps[T any] struct {
	width                                                int
	lsh, rsh                                             func(T, int) T
	and, or, xor                                         func(a, b T) T
	not                                                  func(T) T
	less                                                 func(a, b T) bool
	of                                                   func(hi, lo uint64) T
	low8                                                 func(T) uint8
	bottomNBits                                          func(T, int) T
	floorLog2, countTrailingZeroBits, bitsSetTo1, parity func(T) int
	endianSwap, reverse, involution                      func(T) T
}

func smallBitOps[T util.Integer]() bitOps[T] {
	var zero T
	return bitOps[T]{
		width: int(unsafe.Sizeof(zero)) * 8,
		lsh:   func(v T, n int) T { return v << n }, rsh: func(v T, n int) T { return v >> n },
		and: func(a, b T) T { return a & b }, or: func(a, b T) T { return a | b },
		xor: func(a, b T) T { return a ^ b }, not: func(v T) T { return ^v },
		less:        func(a, b T) bool { return a < b },
		of:          func(_, lo uint64) T { return T(lo) },
		low8:        func(v T) uint8 { return uint8(v) },
		bottomNBits: util.BottomNBits[T], floorLog2: util.FloorLog2[T],
		countTrailingZeroBits: util.CountTrailingZeroBits[T], bitsSetTo1: util.BitsSetToOne[T],
		parity: util.BitParity[T], endianSwap: util.EndianSwapValue[T],
		reverse: util.ReverseBits[T], involution: util.DownwardInvolution[T],
	}
}

func testBitOps[T comparable](t *testing.T, o bitOps[T]) {
	zero, one := o.of(0, 0), o.of(0, 1)
	everyOther := o.of(0x5555555555555555, 0x5555555555555555)
	positive := func(v T) bool { return o.less(zero, v) }
	vm1 := zero // 2^i - 1
	for i := 0; i < o.width; i++ {
		v := o.lsh(one, i)
		check := func(what string, got, want any) {
			t.Helper()
			if got != want {
				t.Errorf("width %d bit %d: %s = %v, want %v", o.width, i, what, got, want)
			}
		}

		x := everyOther
		if i > 2 {
			x = o.xor(x, o.lsh(one, i/2))
		}
		a, b := o.bottomNBits(x, i), o.bottomNBits(o.not(x), i)
		check("BottomNBits", a, o.and(x, vm1))
		check("BottomNBits of complement", b, o.and(o.not(x), vm1))
		check("a|b", o.or(a, b), vm1)
		check("a&b", o.and(a, b), zero)
		check("rest", o.bottomNBits(o.xor(x, a), i), zero)

		if positive(v) {
			check("FloorLog2", o.floorLog2(v), i)
		}
		if positive(vm1) {
			check("FloorLog2 below", o.floorLog2(vm1), i-1)
			check("FloorLog2 every other", o.floorLog2(o.and(everyOther, vm1)), (i-1)&^1)
		}
		check("CountTrailingZeroBits", o.countTrailingZeroBits(v), i)
		if vm1 != zero {
			check("CountTrailingZeroBits below", o.countTrailingZeroBits(vm1), 0)
		}
		if i < o.width-1 {
			check("CountTrailingZeroBits every other",
				o.countTrailingZeroBits(o.and(o.not(vm1), everyOther)), (i+1)&^1)
		}
		check("BitsSetToOne", o.bitsSetTo1(v), 1)
		check("BitsSetToOne below", o.bitsSetTo1(vm1), i)
		check("BitsSetToOne every other", o.bitsSetTo1(o.and(vm1, everyOther)), (i+1)/2)
		check("BitParity", o.parity(v), 1)
		check("BitParity below", o.parity(vm1), i&1)
		check("BitParity every other", o.parity(o.and(vm1, everyOther)), (i+1)/2&1)
		check("EndianSwapValue", o.endianSwap(v), o.lsh(one, (o.width/8-1-i/8)*8+i%8))
		check("ReverseBits", o.reverse(v), o.lsh(one, o.width-1-i))
		// Ones below bit i become ones above bit width-1-i.
		check("ReverseBits below", o.reverse(vm1), o.not(o.reverse(o.not(vm1))))
		testDownwardInvolution(t, o, i, vm1)
		vm1 = o.or(o.lsh(vm1, 1), one)
	}
	for v, want := range map[uint64]int{1: 0, 2: 1, 3: 1, 42: 5} {
		if got := o.floorLog2(o.of(0, v)); got != want {
			t.Errorf("FloorLog2(%d) = %d", v, got)
		}
	}
}

func testDownwardInvolution[T comparable](t *testing.T, o bitOps[T], i int, vm1 T) {
	zero := o.of(0, 0)
	misc := o.of(0xc682cd153d0e3279+uint64(i)*0x9b3972f3bea0baa3, 0x52af031a38ced62d+uint64(i)*0x936f803d9752ddc3)
	if o.width <= 64 {
		misc = o.of(0, 0xc682cd153d0e3279+uint64(i)*0x9b3972f3bea0baa3)
	}
	di := o.involution
	masked := o.and(misc, vm1)
	diMasked := di(masked)
	if o.less(vm1, masked) && o.less(zero, vm1) || o.and(diMasked, vm1) != diMasked {
		t.Fatalf("width %d bit %d: involution leaves its bits", o.width, i)
	}
	if o.less(zero, masked) && o.floorLog2(masked) != o.floorLog2(diMasked) {
		t.Fatalf("width %d bit %d: highest bit moved", o.width, i)
	}
	if di(diMasked) != masked || di(di(misc)) != misc {
		t.Fatalf("width %d bit %d: not an involution", o.width, i)
	}
	if o.less(zero, misc) && o.floorLog2(misc) != o.floorLog2(di(misc)) {
		t.Fatalf("width %d bit %d: highest bit moved", o.width, i)
	}
	misc2 := o.rsh(misc, 1)
	if di(o.xor(masked, vm1)) != o.xor(diMasked, di(vm1)) || di(o.xor(misc, misc2)) != o.xor(di(misc), di(misc2)) {
		t.Fatalf("width %d bit %d: does not distribute over xor", o.width, i)
	}
	// Some bits of the input with the others of the output still tell apart
	// inputs that differ in their lowest eight bits.
	inBits := i % 7
	inMask := uint8(1)<<inBits - 1
	var seen, seenHigh [256]bool
	for j := uint64(0); j < 255; j++ {
		in := o.xor(misc, o.of(0, j))
		val := o.low8(di(in))<<inBits | o.low8(in)&inMask
		if seen[val] {
			t.Fatalf("width %d bit %d: %d twice", o.width, i, val)
		}
		seen[val] = true
		if i+8 < o.width {
			val = o.low8(di(o.xor(misc, o.lsh(o.of(0, j), i))))
			if seenHigh[val] {
				t.Fatalf("width %d bit %d: %d twice from the middle", o.width, i, val)
			}
			seenHigh[val] = true
		}
	}
}

func TestMathTest_BitOps(t *testing.T) {
	testBitOps(t, smallBitOps[uint8]())
	testBitOps(t, smallBitOps[uint16]())
	testBitOps(t, smallBitOps[uint32]())
	testBitOps(t, smallBitOps[uint64]())
	testBitOps(t, smallBitOps[uint]())
	testBitOps(t, smallBitOps[uintptr]())
	testBitOps(t, smallBitOps[int8]())
	testBitOps(t, smallBitOps[int16]())
	testBitOps(t, smallBitOps[int32]())
	testBitOps(t, smallBitOps[int64]())
	testBitOps(t, smallBitOps[int]())
}

func TestMathTest_BitOps128(t *testing.T) {
	type u128 = util.Unsigned128
	testBitOps(t, bitOps[u128]{
		width: 128,
		lsh:   func(v u128, n int) u128 { return v.Lsh(uint(n)) }, rsh: func(v u128, n int) u128 { return v.Rsh(uint(n)) },
		and: u128.And, or: u128.Or, xor: u128.Xor, not: u128.Not,
		less:        func(a, b u128) bool { return a.Cmp(b) < 0 },
		of:          func(hi, lo uint64) u128 { return u128{Hi: hi, Lo: lo} },
		low8:        func(v u128) uint8 { return uint8(v.Lo) },
		bottomNBits: u128.BottomNBits, floorLog2: u128.FloorLog2,
		countTrailingZeroBits: u128.CountTrailingZeroBits, bitsSetTo1: u128.BitsSetToOne,
		parity: u128.BitParity, endianSwap: u128.EndianSwapValue,
		reverse: u128.ReverseBits, involution: u128.DownwardInvolution,
	})
}

func TestMathTest_Math128(t *testing.T) {
	ones16 := util.Unsigned128{Lo: 0x1111111111111111}
	ones := ones16.Lsh(56).Or(ones16)
	twos16 := util.Unsigned128{Lo: 0x2222222222222222}
	twos := twos16.Lsh(56).Or(twos16)
	v := ones // slides to twos, a digit at a time
	for i := 0; i <= 30; i++ {
		counts := [...][2]int{
			{v.BitsSetToOne(), 30}, {v.Not().BitsSetToOne(), 98},
			{v.And(ones).BitsSetToOne(), 30 - i}, {v.Or(ones).BitsSetToOne(), 30 + i},
			{v.Xor(ones).BitsSetToOne(), 2 * i}, {v.And(twos).BitsSetToOne(), i},
			{v.Or(twos).BitsSetToOne(), 60 - i}, {v.Xor(twos).BitsSetToOne(), 60 - 2*i},
		}
		for k, c := range counts {
			if c[0] != c[1] {
				t.Errorf("step %d, count %d: %d, want %d", i, k, c[0], c[1])
			}
		}
		wantOnes, wantTwos := min(i, 1), -1
		if i == 30 {
			wantTwos = 0
		}
		if v.Cmp(ones) != wantOnes || v.Cmp(twos) != wantTwos || (v == ones) != (i == 0) {
			t.Errorf("step %d: compares %d, %d", i, v.Cmp(ones), v.Cmp(twos))
		}
		v = v.Lsh(12).Rsh(8).Or(util.Unsigned128{Lo: 2})
	}
	for i := 0; i < 128; i++ {
		sl, sr := ones.Lsh(uint(i)), ones.Rsh(uint(i))
		both := 0
		if i%2 == 0 {
			both = max(0, 30-i/2)
		}
		if sl.BitsSetToOne() != min(30, 32-i/4) || sr.BitsSetToOne() != max(0, 30-(i+3)/4) ||
			sl.And(sr).BitsSetToOne() != both {
			t.Errorf("shift %d: %x %x", i, sl, sr)
		}
	}
	product := util.Multiply64to128(0x1111111111111111, 0x2222222222222222)
	if util.Lower64of128(product) != 2295594818061633090 || util.Upper64of128(product) != 163971058432973792 {
		t.Errorf("product %v", product)
	}
}

func TestMathTest_Coding128(t *testing.T) {
	const in = "_1234567890123456"
	v := util.DecodeFixed128([]byte(in)[1:])
	if v.Lo != 0x3837363534333231 || v.Hi != 0x3635343332313039 {
		t.Errorf("decoded %x", v)
	}
	out := make([]byte, 17)
	out[0] = '_'
	util.EncodeFixed128(out[1:], v)
	if string(out) != in {
		t.Errorf("encoded %q", out)
	}
}

// Go has no EncodeFixedGeneric; its cases are those of the sized functions.
func TestMathTest_CodingGeneric(t *testing.T) {
	in := []byte("_1234567890123456")[1:]
	if v := util.DecodeFixed128(in); v.Lo != 0x3837363534333231 || v.Hi != 0x3635343332313039 {
		t.Errorf("128: %x", v)
	}
	v64, v32, v16 := util.DecodeFixed64(in), util.DecodeFixed32(in), util.DecodeFixed16(in)
	if v64 != 0x3837363534333231 || v32 != 0x34333231 || v16 != 0x3231 {
		t.Errorf("%x %x %x", v64, v32, v16)
	}
	out := make([]byte, 8)
	util.EncodeFixed64(out, v64)
	if string(out) != "12345678" {
		t.Errorf("64: %q", out)
	}
	out = make([]byte, 4)
	util.EncodeFixed32(out, v32)
	if string(out) != "1234" {
		t.Errorf("32: %q", out)
	}
	out = make([]byte, 2)
	util.EncodeFixed16(out, v16)
	if string(out) != "12" {
		t.Errorf("16: %q", out)
	}
}
