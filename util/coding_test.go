// Port of util/coding_test.cc.

package util_test

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb/util"
)

func TestCoding_Fixed16(t *testing.T) {
	var s []byte
	for v := 0; v < 0xffff; v++ {
		s = util.AppendFixed16(s, uint16(v))
	}
	for v := 0; v < 0xffff; v++ {
		if got := util.DecodeFixed16(s[2*v:]); got != uint16(v) {
			t.Fatalf("%d: %d", v, got)
		}
	}
}

func TestCoding_Fixed32(t *testing.T) {
	var s []byte
	for v := uint32(0); v < 100000; v++ {
		s = util.AppendFixed32(s, v)
	}
	for v := uint32(0); v < 100000; v++ {
		if got := util.DecodeFixed32(s[4*v:]); got != v {
			t.Fatalf("%d: %d", v, got)
		}
	}
}

func TestCoding_Fixed64(t *testing.T) {
	var s []byte
	for power := 0; power <= 63; power++ {
		v := uint64(1) << power
		s = util.AppendFixed64(util.AppendFixed64(util.AppendFixed64(s, v-1), v), v+1)
	}
	for power := 0; power <= 63; power++ {
		v := uint64(1) << power
		for _, want := range []uint64{v - 1, v, v + 1} {
			got, rest, ok := util.GetFixed64(s)
			if !ok || got != want || util.DecodeFixed64(s) != want {
				t.Fatalf("%d: %d %v", want, got, ok)
			}
			s = rest
		}
	}
	if len(s) != 0 {
		t.Fatalf("%d bytes left", len(s))
	}
}

func TestCoding_EncodingOutput(t *testing.T) {
	if got := util.AppendFixed32(nil, 0x04030201); !bytes.Equal(got, []byte{1, 2, 3, 4}) {
		t.Errorf("32: %x", got)
	}
	if got := util.AppendFixed64(nil, 0x0807060504030201); !bytes.Equal(got, []byte{1, 2, 3, 4, 5, 6, 7, 8}) {
		t.Errorf("64: %x", got)
	}
}

// checkVarint64 takes want from the front of s.
func checkVarint64(t *testing.T, s []byte, want uint64) []byte {
	t.Helper()
	got, rest, ok := util.GetVarint64(s)
	if !ok || got != want || len(s)-len(rest) != util.VarintLength(want) {
		t.Fatalf("%d: %d %v, %d bytes", want, got, ok, len(s)-len(rest))
	}
	if v, n := util.DecodeVarint64(s); v != want || n != util.VarintLength(want) {
		t.Fatalf("%d: %d, %d bytes", want, v, n)
	}
	return rest
}

func TestCoding_Varint32(t *testing.T) {
	var s []byte
	for i := uint32(0); i < 32*32; i++ {
		s = util.AppendVarint32(s, (i/32)<<(i%32))
	}
	for i := uint32(0); i < 32*32; i++ {
		want := (i / 32) << (i % 32)
		got, rest, ok := util.GetVarint32(s)
		if !ok || got != want || len(s)-len(rest) != util.VarintLength(uint64(want)) {
			t.Fatalf("%d: %d %v, %d bytes", want, got, ok, len(s)-len(rest))
		}
		if v, n := util.DecodeVarint32(s); v != want || n != len(s)-len(rest) {
			t.Fatalf("%d: %d, %d bytes", want, v, n)
		}
		var buf [util.MaxVarint32Length]byte
		if n := util.EncodeVarint32(buf[:], want); !bytes.Equal(buf[:n], s[:n]) {
			t.Fatalf("%d: encodes as %x", want, buf[:n])
		}
		s = rest
	}
	if len(s) != 0 {
		t.Fatalf("%d bytes left", len(s))
	}
}

func TestCoding_Varint64(t *testing.T) {
	values := []uint64{0, 100, math.MaxUint64, math.MaxUint64 - 1}
	for k := 0; k < 64; k++ {
		power := uint64(1) << k
		values = append(values, power, power-1, power+1)
	}
	var s []byte
	for _, v := range values {
		s = util.AppendVarint64(s, v)
	}
	for _, v := range values {
		s = checkVarint64(t, s, v)
	}
	if len(s) != 0 {
		t.Fatalf("%d bytes left", len(s))
	}
}

func TestCoding_Varint32Overflow(t *testing.T) {
	s := []byte("\x81\x82\x83\x84\x85\x11")
	if v, rest, ok := util.GetVarint32(s); ok || len(rest) != len(s) {
		t.Errorf("%d, %x", v, rest)
	}
}

func TestCoding_Varint32Truncation(t *testing.T) {
	const large = 1<<31 + 100
	s := util.AppendVarint32(nil, large)
	for n := 0; n < len(s); n++ {
		if v, _, ok := util.GetVarint32(s[:n]); ok {
			t.Errorf("%d bytes: %d", n, v)
		}
	}
	if v, _, ok := util.GetVarint32(s); !ok || v != large {
		t.Errorf("%d %v", v, ok)
	}
}

func TestCoding_Varint64Overflow(t *testing.T) {
	s := []byte("\x81\x82\x83\x84\x85\x81\x82\x83\x84\x85\x11")
	if v, rest, ok := util.GetVarint64(s); ok || len(rest) != len(s) {
		t.Errorf("%d, %x", v, rest)
	}
}

func TestCoding_Varint64Truncation(t *testing.T) {
	const large = 1<<63 + 100
	s := util.AppendVarint64(nil, large)
	for n := 0; n < len(s); n++ {
		if v, _, ok := util.GetVarint64(s[:n]); ok {
			t.Errorf("%d bytes: %d", n, v)
		}
	}
	if rest := checkVarint64(t, s, large); len(rest) != 0 {
		t.Errorf("%d bytes left", len(rest))
	}
}

func TestCoding_Strings(t *testing.T) {
	want := []string{"", "foo", "bar", strings.Repeat("x", 200)}
	var s []byte
	for _, w := range want {
		s = util.AppendLengthPrefixedSlice(s, []byte(w))
	}
	for _, w := range want {
		got, rest, ok := util.GetLengthPrefixedSlice(s)
		if !ok || string(got) != w {
			t.Fatalf("%q %v, want %q", got, ok, w)
		}
		s = rest
	}
	if len(s) != 0 {
		t.Fatalf("%d bytes left", len(s))
	}
}

type prefixVarintCase struct {
	value   uint64
	encoded []byte
}

var prefixVarint32Cases = []prefixVarintCase{
	{0, []byte{0x01}},
	{1, []byte{0x03}},
	{127, []byte{0xff}},
	{128, []byte{0x02, 0x02}},
	{255, []byte{0xfe, 0x03}},
	{16383, []byte{0xfe, 0xff}},
	{16384, []byte{0x04, 0, 0x02}},
	{1<<21 - 1, []byte{0xfc, 0xff, 0xff}},
	{1 << 21, []byte{0x08, 0, 0, 0x02}},
	{1<<28 - 1, []byte{0xf8, 0xff, 0xff, 0xff}},
	{1 << 28, []byte{0x10, 0, 0, 0, 0x02}},
	{math.MaxUint32, []byte{0xf0, 0xff, 0xff, 0xff, 0x1f}},
}

var prefixVarint64Cases = []prefixVarintCase{
	{0, []byte{0x01}},
	{1, []byte{0x03}},
	{127, []byte{0xff}},
	{128, []byte{0x02, 0x02}},
	{16383, []byte{0xfe, 0xff}},
	{1 << 21, []byte{0x08, 0, 0, 0x02}},
	{1 << 28, []byte{0x10, 0, 0, 0, 0x02}},
	{1 << 35, []byte{0x20, 0, 0, 0, 0, 0x02}},
	{1 << 42, []byte{0x40, 0, 0, 0, 0, 0, 0x02}},
	{1 << 49, []byte{0x80, 0, 0, 0, 0, 0, 0, 0x02}},
	{1<<56 - 1, []byte{0x80, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}},
	{1 << 56, []byte{0, 0, 0, 0, 0, 0, 0, 0, 0x01}},
	{math.MaxUint64, []byte{0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}},
}

// prefixVarintCodec lets the two widths share their tests.
type prefixVarintCodec struct {
	length func(uint64) int
	append func([]byte, uint64) []byte
	get    func([]byte) (uint64, []byte, bool)
	addl   func(byte) int
	decode func(byte, []byte) (uint64, bool)
}

var prefixVarint32Codec = prefixVarintCodec{
	func(v uint64) int { return util.PrefixVarint32Length(uint32(v)) },
	func(dst []byte, v uint64) []byte { return util.AppendPrefixVarint32(dst, uint32(v)) },
	func(s []byte) (uint64, []byte, bool) {
		v, rest, ok := util.GetPrefixVarint32(s)
		return uint64(v), rest, ok
	},
	util.PrefixVarint32AddlByteCount,
	func(first byte, addl []byte) (uint64, bool) {
		v, ok := util.DecodePrefixVarint32(first, addl)
		return uint64(v), ok
	},
}

var prefixVarint64Codec = prefixVarintCodec{
	util.PrefixVarint64Length, util.AppendPrefixVarint64, util.GetPrefixVarint64,
	util.PrefixVarint64AddlByteCount, util.DecodePrefixVarint64,
}

func (c prefixVarintCodec) checkRoundTrip(t *testing.T, cases []prefixVarintCase) {
	t.Helper()
	var s []byte
	for _, k := range cases {
		if got := c.append(nil, k.value); !bytes.Equal(got, k.encoded) || c.length(k.value) != len(k.encoded) {
			t.Errorf("%d: %x, length %d, want %x", k.value, got, c.length(k.value), k.encoded)
		}
		s = c.append(s, k.value)
	}
	for _, k := range cases {
		got, rest, ok := c.get(s)
		if !ok || got != k.value || len(s)-len(rest) != len(k.encoded) {
			t.Fatalf("%d: %d %v, %d bytes", k.value, got, ok, len(s)-len(rest))
		}
		s = rest
	}
	if len(s) != 0 {
		t.Fatalf("%d bytes left", len(s))
	}
}

func (c prefixVarintCodec) checkDiskReadAPI(t *testing.T, cases []prefixVarintCase) {
	t.Helper()
	for _, k := range cases {
		first, addl := k.encoded[0], k.encoded[1:]
		if n := c.addl(first); n != len(addl) {
			t.Errorf("%d: %d additional bytes", k.value, n)
		}
		if v, ok := c.decode(first, addl); !ok || v != k.value {
			t.Errorf("%d: %d %v", k.value, v, ok)
		}
		if len(addl) > 0 {
			if v, ok := c.decode(first, addl[:len(addl)-1]); ok {
				t.Errorf("%d truncated: %d", k.value, v)
			}
		}
	}
}

func (c prefixVarintCodec) checkTruncation(t *testing.T, v uint64) {
	t.Helper()
	s := c.append(nil, v)
	for n := 0; n < len(s); n++ {
		if got, rest, ok := c.get(s[:n]); ok || len(rest) != n {
			t.Errorf("%d of %d bytes: %d", n, len(s), got)
		}
	}
	if got, _, ok := c.get(s); !ok || got != v {
		t.Errorf("%d %v, want %d", got, ok, v)
	}
}

func TestCoding_PrefixVarint32(t *testing.T) {
	for _, k := range prefixVarint32Cases {
		if util.VarintLength(k.value) != len(k.encoded) {
			t.Errorf("%d: a varint has %d bytes", k.value, util.VarintLength(k.value))
		}
	}
	prefixVarint32Codec.checkRoundTrip(t, prefixVarint32Cases)
}

func TestCoding_PrefixVarint32DiskReadApi(t *testing.T) {
	prefixVarint32Codec.checkDiskReadAPI(t, prefixVarint32Cases)
	for _, first := range []byte{0, 0x20, 0x40, 0x80} {
		if n := util.PrefixVarint32AddlByteCount(first); n != util.InvalidPrefixVarint32AddlByteCount {
			t.Errorf("%#x: %d", first, n)
		}
	}
}

func TestCoding_PrefixVarint64(t *testing.T) {
	for _, k := range prefixVarint64Cases {
		want := 9
		if k.value < 1<<56 {
			want = util.VarintLength(k.value)
		}
		if len(k.encoded) != want {
			t.Errorf("%d: %d bytes, want %d", k.value, len(k.encoded), want)
		}
	}
	prefixVarint64Codec.checkRoundTrip(t, prefixVarint64Cases)
}

func TestCoding_PrefixVarint64DiskReadApi(t *testing.T) {
	prefixVarint64Codec.checkDiskReadAPI(t, prefixVarint64Cases)
	if a, b := util.PrefixVarint64AddlByteCount(0), util.PrefixVarint64AddlByteCount(0x80); a != 8 || b != 7 {
		t.Errorf("%d %d", a, b)
	}
}

func TestCoding_PrefixVarint32Overflow(t *testing.T) {
	s := util.AppendFixed64(nil, 1<<37|0x10)[:util.MaxPrefixVarint32Length]
	if v, ok := util.DecodePrefixVarint32(s[0], s[1:]); ok {
		t.Errorf("decodes as %d", v)
	}
	if v, _, ok := util.GetPrefixVarint32(s); ok {
		t.Errorf("reads as %d", v)
	}
}

func TestCoding_PrefixVarint32Truncation(t *testing.T) {
	prefixVarint32Codec.checkTruncation(t, math.MaxUint32)
}

func TestCoding_PrefixVarint64Truncation(t *testing.T) {
	prefixVarint64Codec.checkTruncation(t, math.MaxUint64)
}

func TestCoding_PrefixVarint64ImproperEncoding(t *testing.T) {
	values := []uint64{0, 1, 63, 127, 128, 255, 16383, 16384, 1<<21 - 1, 1 << 21, 1<<28 - 1, 1 << 28,
		1<<35 - 1, 1 << 35, 1<<42 - 1, 1 << 42, 1<<49 - 1, 1 << 49, 1<<56 - 1, 1 << 56, math.MaxUint64}
	for minimum := 2; minimum <= 8; minimum++ {
		for _, v := range values {
			s := util.AppendPrefixVarint64WithMinimumBytes(nil, v, minimum)
			if want := max(util.PrefixVarint64Length(v), minimum); len(s) != want ||
				util.PrefixVarint64AddlByteCount(s[0])+1 != want {
				t.Errorf("%d in %d: %x", v, minimum, s)
			}
			if got, ok := util.DecodePrefixVarint64(s[0], s[1:]); !ok || got != v {
				t.Errorf("%d in %d decodes as %d", v, minimum, got)
			}
			if got, rest, ok := util.GetPrefixVarint64(s); !ok || got != v || len(rest) != 0 {
				t.Errorf("%d in %d reads as %d", v, minimum, got)
			}
		}
	}
	for _, c := range []struct {
		minimum int
		v       uint64
		want    []byte
	}{
		{2, 0, []byte{0x02, 0}},
		{3, 0, []byte{0x04, 0, 0}},
		{2, 1, []byte{0x06, 0}},
		{2, 127, []byte{0xfe, 0x01}},
		{8, 0, []byte{0x80, 0, 0, 0, 0, 0, 0, 0}},
		{8, 1, []byte{0x80, 0x01, 0, 0, 0, 0, 0, 0}},
	} {
		if got := util.AppendPrefixVarint64WithMinimumBytes(nil, c.v, c.minimum); !bytes.Equal(got, c.want) {
			t.Errorf("%d in %d: %x, want %x", c.v, c.minimum, got, c.want)
		}
	}
}

// The rest has no upstream twin.

func TestVarsignedint64(t *testing.T) {
	for _, v := range []int64{0, -1, 1, 63, -64, 64, math.MaxInt64, math.MinInt64} {
		s := util.AppendVarsignedint64(nil, v)
		if got, rest, ok := util.GetVarsignedint64(s); !ok || got != v || len(rest) != 0 {
			t.Errorf("%d: %x reads as %d", v, s, got)
		}
	}
	if s := util.AppendVarsignedint64(nil, -64); len(s) != 1 {
		t.Errorf("-64 takes %d bytes", len(s))
	}
}

func TestLengthPrefixedSliceParts(t *testing.T) {
	s := util.AppendLengthPrefixedSlicePartsWithPadding([]byte("x"), 2, []byte("ab"), []byte("c"))
	if string(s) != "x\x05abc\x00\x00" {
		t.Errorf("%q", s)
	}
	if s = util.AppendLengthPrefixedSliceParts(nil, []byte("ab"), []byte("c")); string(s) != "\x03abc" {
		t.Errorf("%q", s)
	}
	if _, rest, ok := util.GetLengthPrefixedSlice([]byte("\x05abc")); ok || len(rest) != 4 {
		t.Error("a truncated slice was read")
	}
	got, rest := util.GetSliceUntil([]byte("ab:c"), ':')
	last, empty := util.GetSliceUntil(rest, ':')
	if string(got) != "ab" || string(last) != "c" || len(empty) != 0 {
		t.Errorf("%q %q %q", got, last, empty)
	}
}

func FuzzVarint(f *testing.F) {
	f.Add([]byte("\x81\x82\x83\x84\x85\x81\x82\x83\x84\x85\x11"))
	f.Add(util.AppendVarint64(nil, math.MaxUint64))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, s []byte) {
		if v, rest, ok := util.GetVarint64(s); ok {
			if n := len(s) - len(rest); n < util.VarintLength(v) || n > util.MaxVarint64Length {
				t.Errorf("%d in %d bytes", v, n)
			}
		}
		if v, rest, ok := util.GetVarint32(s); ok {
			if n := len(s) - len(rest); n < util.VarintLength(uint64(v)) || n > util.MaxVarint32Length {
				t.Errorf("%d in %d bytes", v, n)
			}
		}
		if got, rest, ok := util.GetLengthPrefixedSlice(s); ok && len(got)+len(rest) >= len(s) {
			t.Errorf("%d and %d bytes of %d", len(got), len(rest), len(s))
		}
		if v, rest, ok := util.GetPrefixVarint64(s); ok {
			if n := len(s) - len(rest); !bytes.Equal(util.AppendPrefixVarint64WithMinimumBytes(nil, v, n), s[:n]) && n < 9 {
				t.Errorf("%d does not encode as %x", v, s[:n])
			}
		}
		if v, rest, ok := util.GetPrefixVarint32(s); ok && len(s)-len(rest) < util.PrefixVarint32Length(v) {
			t.Errorf("%d in %d bytes", v, len(s)-len(rest))
		}
	})
}
