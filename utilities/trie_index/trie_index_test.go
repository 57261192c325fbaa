// Port of utilities/trie_index/trie_index_test.cc (BitvectorTest, EliasFanoTest).

package trieindex

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"testing"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"pgregory.net/rapid"
)

// vector has n bits, those set for which set is true.
func vector(n uint64, set func(i uint64) bool) *Bitvector {
	var b BitvectorBuilder
	for i := range n {
		b.Append(set(i))
	}
	v := NewBitvector(&b)
	return &v
}

func every(k uint64) func(uint64) bool { return func(i uint64) bool { return i%k == 0 } }
func all(uint64) bool                  { return true }
func none(uint64) bool                 { return false }

func eq(t *testing.T, what string, got, want uint64) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %d, want %d", what, got, want)
	}
}

// wantVector compares all that a vector tells with its bits.
func wantVector(t *testing.T, v *Bitvector, n uint64, set func(uint64) bool) {
	t.Helper()
	eq(t, "bits", v.NumBits(), n)
	var places [2][]uint64 // of zeros and ones
	for i := range n {
		bit := 0
		if set(i) {
			bit = 1
		}
		eq(t, "Rank0", v.Rank0(i), uint64(len(places[0])))
		eq(t, "Rank1", v.Rank1(i), uint64(len(places[1])))
		places[bit] = append(places[bit], i)
		if v.GetBit(i) != set(i) {
			t.Errorf("bit %d is %v", i, v.GetBit(i))
		}
		next, _ := slices.BinarySearch(places[1], i)
		prev := n
		if next > 0 {
			prev = places[1][next-1]
		}
		eq(t, "PrevSetBit", v.PrevSetBit(i), prev)
		if t.Failed() {
			return
		}
	}
	eq(t, "Rank0 at the end", v.Rank0(n), uint64(len(places[0])))
	eq(t, "Rank1 at the end", v.Rank1(n), uint64(len(places[1])))
	eq(t, "zeros", v.NumZeros(), uint64(len(places[0])))
	eq(t, "ones", v.NumOnes(), uint64(len(places[1])))
	for i, p := range places[0] {
		eq(t, "FindNthZeroBit", v.FindNthZeroBit(uint64(i)), p)
	}
	from := uint64(0)
	for i, p := range places[1] {
		eq(t, "FindNthOneBit", v.FindNthOneBit(uint64(i)), p)
		for ; from <= p; from++ {
			eq(t, "NextSetBit", v.NextSetBit(from), p)
		}
	}
	eq(t, "FindNthZeroBit past the last", v.FindNthZeroBit(uint64(len(places[0]))), n)
	eq(t, "FindNthOneBit past the last", v.FindNthOneBit(uint64(len(places[1]))), n)
	eq(t, "NextSetBit past the last", v.NextSetBit(from), n)
}

func TestBitvectorTest_EmptyBitvector(t *testing.T) { wantVector(t, vector(0, none), 0, none) }

func TestBitvectorTest_SingleBit(t *testing.T) {
	wantVector(t, vector(1, all), 1, all)
	wantVector(t, vector(1, none), 1, none)
}

func TestBitvectorTest_RankAndSelect(t *testing.T) {
	wantVector(t, vector(1000, every(2)), 1000, every(2))
}

func TestBitvectorTest_AllOnes(t *testing.T)  { wantVector(t, vector(512, all), 512, all) }
func TestBitvectorTest_AllZeros(t *testing.T) { wantVector(t, vector(512, none), 512, none) }

func TestBitvectorTest_LargeBitvector(t *testing.T) {
	wantVector(t, vector(2000, every(3)), 2000, every(3))
}

// reread encodes and decodes.
func reread(t *testing.T, v *Bitvector) *Bitvector {
	t.Helper()
	b := v.AppendTo([]byte{7}) // at no alignment
	if len(b) != 1+v.SerializedSize() || len(b)%8 != 1 {
		t.Errorf("%d bytes, not %d", len(b)-1, v.SerializedSize())
	}
	got, rest, err := DecodeBitvector(append(b[1:], "rest"...))
	if err != nil || string(rest) != "rest" {
		t.Fatalf("rest %q; %v", rest, err)
	}
	return &got
}

func TestBitvectorTest_SerializeAndDeserialize(t *testing.T) {
	wantVector(t, reread(t, vector(1500, every(5))), 1500, every(5))
}

func TestBitvectorTest_SerializeRoundTripNonAligned(t *testing.T) {
	wantVector(t, reread(t, vector(100, every(7))), 100, every(7))
}

func TestBitvectorTest_AppendWord(t *testing.T) {
	var b BitvectorBuilder
	for _, w := range []uint64{9, 0, 0, 1 << 63} {
		b.AppendWord(w, 64)
	}
	places := []uint64{0, 3, 255}
	for i := range b.NumBits() {
		if b.GetBit(i) != slices.Contains(places, i) {
			t.Errorf("bit %d", i)
		}
	}
	v := NewBitvector(&b)
	wantVector(t, &v, 256, func(i uint64) bool { return slices.Contains(places, i) })
}

func TestBitvectorTest_AppendWordAndAppendInterleaved(t *testing.T) {
	var b BitvectorBuilder
	b.AppendWord(0xAAAAAAAAAAAAAAAA, 64)
	eq(t, "bits", b.NumBits(), 64)
	for i := range 64 {
		b.Append(i%2 == 0)
	}
	eq(t, "bits", b.NumBits(), 128)
	b.AppendWord(1<<64-1, 64)
	v := NewBitvector(&b)
	wantVector(t, &v, 192, func(i uint64) bool { return i >= 128 || i < 64 && i%2 == 1 || i >= 64 && i%2 == 0 })
}

func TestBitvectorTest_NextSetBit(t *testing.T) {
	v := vector(129, func(i uint64) bool { return i == 64 || i == 128 })
	for from, want := range map[uint64]uint64{0: 64, 64: 64, 65: 128, 128: 128, 129: 129} {
		eq(t, "NextSetBit", v.NextSetBit(from), want)
	}
}

func TestBitvectorTest_NextSetBitAllZeros(t *testing.T) {
	v := vector(200, none)
	for _, from := range []uint64{0, 100, 199} {
		eq(t, "NextSetBit", v.NextSetBit(from), 200)
	}
}

func TestBitvectorTest_DistanceToNextSetBit(t *testing.T) {
	v := vector(6, func(i uint64) bool { return i == 0 || i == 3 || i == 5 })
	for from, want := range map[uint64]uint64{0: 3, 3: 2, 5: 1} {
		eq(t, "DistanceToNextSetBit", v.DistanceToNextSetBit(from), want)
	}
}

func TestBitvectorTest_MultipleRankSampleBoundaries(t *testing.T) {
	v := vector(2048, every(100))
	for pos, want := range map[uint64]uint64{512: 6, 1024: 11, 1536: 16} {
		eq(t, "Rank1", v.Rank1(pos), want)
	}
	wantVector(t, v, 2048, every(100))
}

func wantCorrupt(t *testing.T, data []byte) {
	t.Helper()
	if _, _, err := DecodeBitvector(data); !rocksdb.IsCorruption(err) {
		t.Errorf("%d bytes: %v", len(data), err)
	}
}

// header is a bit vector's.
func header(numBits, numOnes uint64) []byte {
	return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, numBits), numOnes)
}

func TestBitvectorTest_InitFromDataCorruption(t *testing.T) {
	wantCorrupt(t, []byte("short"))
	wantCorrupt(t, header(1024, 0))
}

func TestBitvectorTest_FindNthSetBitInWordExhaustive(t *testing.T) {
	const word = uint64(0xDEADBEEFCAFEBABE)
	for i := range bits.OnesCount64(word) {
		at := findNthSetBitInWord(word, i)
		if word>>at&1 == 0 || bits.OnesCount64(word&(1<<at-1)) != i {
			t.Errorf("one %d at %d", i, at)
		}
	}
}

func TestBitvectorTest_SerializedSizeMatchesEncoded(t *testing.T) {
	v := vector(1000, every(7))
	eq(t, "size", uint64(v.SerializedSize()), uint64(len(v.AppendTo(nil))))
}

func TestBitvectorTest_DistanceToNextSetBitCrossWordBoundary(t *testing.T) {
	v := vector(130, every(128))
	eq(t, "DistanceToNextSetBit", v.DistanceToNextSetBit(0), 128)
}

func TestBitvectorTest_NumZeros(t *testing.T) {
	v := vector(300, every(4))
	eq(t, "ones", v.NumOnes(), 75)
	eq(t, "zeros", v.NumZeros(), 225)
}

func TestBitvectorTest_InitFromDataNumOnesExceedsNumBits(t *testing.T) {
	wantCorrupt(t, header(64, 65))
}

func TestBitvectorTest_InitFromDataNumBitsExceedsUint32(t *testing.T) {
	wantCorrupt(t, header(1<<32, 0))
}

func TestBitvectorTest_InitFromDataTruncatedRankLUT(t *testing.T) {
	wantCorrupt(t, vector(512, every(5)).AppendTo(nil)[:16+512/8])
}

func TestBitvectorTest_InitFromDataTruncatedSelect1Hints(t *testing.T) {
	b := vector(600, all).AppendTo(nil)
	wantCorrupt(t, b[:len(b)-8])
}

func TestBitvectorTest_InitFromDataTruncatedSelect0Hints(t *testing.T) {
	b := vector(600, none).AppendTo(nil)
	wantCorrupt(t, b[:len(b)-8])
}

func TestBitvectorTest_BuilderReserve(t *testing.T) {
	var b BitvectorBuilder
	b.Reserve(1000)
	for i := range 1000 {
		b.Append(i%2 == 0)
	}
	v := NewBitvector(&b)
	wantVector(t, &v, 1000, every(2))
}

func TestBitvectorTest_AppendMultipleZeroCount(t *testing.T) {
	var b BitvectorBuilder
	b.Append(true)
	b.AppendMultiple(true, 0)
	b.AppendMultiple(false, 0)
	if eq(t, "bits", b.NumBits(), 1); !b.GetBit(0) {
		t.Error("not set")
	}
}

func TestBitvectorTest_AppendMultipleTruePartialWord(t *testing.T) {
	var b BitvectorBuilder
	b.AppendMultiple(false, 7)
	b.AppendMultiple(true, 200)
	b.AppendMultiple(false, 5)
	middle := func(i uint64) bool { return i >= 7 && i < 207 }
	for i := range b.NumBits() {
		if b.GetBit(i) != middle(i) {
			t.Errorf("bit %d", i)
		}
	}
	v := NewBitvector(&b)
	wantVector(t, &v, 212, middle)
}

func TestBitvectorTest_FindNthZeroBitNonAligned(t *testing.T) {
	v := vector(100, every(2))
	for i := range uint64(50) {
		eq(t, "FindNthZeroBit", v.FindNthZeroBit(i), 2*i+1)
	}
	eq(t, "FindNthZeroBit", v.FindNthZeroBit(50), 100)
}

func wantValues(t *testing.T, e *EliasFano, values []uint64, universe uint64) {
	t.Helper()
	eq(t, "count", e.Count(), uint64(len(values)))
	eq(t, "universe", e.Universe(), universe)
	for i, v := range values {
		eq(t, "value", e.Access(uint64(i)), v)
	}
}

// wantSequence builds a sequence, encodes and decodes it.
func wantSequence(t *testing.T, values []uint64, universe uint64) {
	t.Helper()
	e := NewEliasFano(values, universe)
	wantValues(t, &e, values, universe)
	b := e.AppendTo(nil)
	eq(t, "bytes", uint64(len(b)), uint64(e.SerializedSize()))
	got, rest, err := DecodeEliasFano(append(b, "rest"...))
	if err != nil || string(rest) != "rest" {
		t.Fatalf("rest %q; %v", rest, err)
	}
	wantValues(t, &got, values, universe)
}

// rising is f of 0 to n-1.
func rising(n int, f func(i uint64) uint64) (values []uint64) {
	for i := range n {
		values = append(values, f(uint64(i)))
	}
	return values
}

func TestEliasFanoTest_EmptySequence(t *testing.T) {
	e := NewEliasFano(nil, 0)
	wantValues(t, &e, nil, 0)
}

func TestEliasFanoTest_SingleElement(t *testing.T) { wantSequence(t, []uint64{42}, 100) }

func TestEliasFanoTest_BuildAccessVariants(t *testing.T) {
	for name, s := range map[string]struct {
		values   []uint64
		universe uint64
	}{
		"MonotonicSequence":    {rising(11, func(i uint64) uint64 { return 10 * i }), 101},
		"ConstantSequence":     {rising(50, func(uint64) uint64 { return 7 }), 8},
		"LargeUniverse":        {rising(1000, func(i uint64) uint64 { return i * (4 << 30 / 1000) }), 4 << 30},
		"ConsecutiveValues":    {rising(100, func(i uint64) uint64 { return i }), 100},
		"WordBoundaryCrossing": {rising(100, func(i uint64) uint64 { return i*131072 + i%7 }), 100 * 131072},
	} {
		t.Run(name, func(t *testing.T) { wantSequence(t, s.values, s.universe) })
	}
}

func TestEliasFanoTest_SerializeDeserializeRoundTrip(t *testing.T) {
	wantSequence(t, []uint64{0, 5, 100, 1000, 5000, 10000, 50000}, 100000)
}

func TestEliasFanoTest_SerializeDeserializeEmpty(t *testing.T) { wantSequence(t, nil, 0) }

func wantCorruptSequence(t *testing.T, data []byte) {
	t.Helper()
	if _, _, err := DecodeEliasFano(data); !rocksdb.IsCorruption(err) {
		t.Errorf("%d bytes: %v", len(data), err)
	}
}

func encoded(universe uint64, values ...uint64) []byte {
	e := NewEliasFano(values, universe)
	return e.AppendTo(nil)
}

func TestEliasFanoTest_InitFromDataCorruptionTruncatedHeader(t *testing.T) {
	wantCorruptSequence(t, make([]byte, 10))
}

func TestEliasFanoTest_InitFromDataCorruptionBadLowBits(t *testing.T) {
	b := encoded(100, 0, 10, 20)
	binary.LittleEndian.PutUint64(b[16:], 64)
	wantCorruptSequence(t, b)
}

func TestEliasFanoTest_InitFromDataCorruptionTruncatedLowWords(t *testing.T) {
	b := encoded(1000, 0, 100, 200, 300, 400)
	wantCorruptSequence(t, b[:len(b)-4])
}

func TestEliasFanoTest_LargeCount(t *testing.T) {
	wantSequence(t, rising(10000, func(i uint64) uint64 { return i * 1000 }), 10000*1000)
}

func TestEliasFanoTest_InitFromDataTruncatedHighBitvector(t *testing.T) {
	wantCorruptSequence(t, encoded(100, 10, 20, 30, 40, 50)[:24+4])
}

func TestBitvector_IsBits(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var b BitvectorBuilder
		var want []bool
		for range rapid.IntRange(0, 20).Draw(rt, "runs") {
			bit, n := rapid.Bool().Draw(rt, "bit"), rapid.SampledFrom([]uint64{0, 1, 2, 63, 64, 65, 200, 256}).Draw(rt, "length")
			b.AppendMultiple(bit, n)
			for range n {
				want = append(want, bit)
			}
		}
		v := NewBitvector(&b)
		wantVector(t, reread(t, &v), uint64(len(want)), func(i uint64) bool { return want[i] })
		if t.Failed() {
			rt.Fatal("see above")
		}
	})
}

func FuzzDecode(f *testing.F) {
	f.Add(vector(600, every(7)).AppendTo(nil))
	f.Add(encoded(1000, 0, 100, 200, 300, 400))
	f.Fuzz(func(t *testing.T, data []byte) {
		if v, rest, err := DecodeBitvector(data); err == nil {
			if got := v.AppendTo(nil); len(got)+len(rest) != len(data) {
				t.Errorf("%d and %d bytes of %d", len(got), len(rest), len(data))
			}
			for i := range v.NumOnes() {
				v.FindNthOneBit(i)
			}
		}
		if e, _, err := DecodeEliasFano(data); err == nil {
			for i := range e.Count() {
				e.Access(i)
			}
		}
	})
}
