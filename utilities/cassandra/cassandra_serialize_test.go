// Port of utilities/cassandra/cassandra_serialize_test.cc.

package cassandra

import (
	"math"
	"testing"
)

func wantBytes[T int8 | int32 | int64](t *testing.T, want map[T]string) {
	t.Helper()
	for v, b := range want {
		if got := string(Serialize(nil, v)); got != b {
			t.Errorf("%d is %x, not %x", v, got, b)
		}
	}
}

// wantReadBack writes numbers after each other, and reads each of them.
func wantReadBack[T int8 | int32 | int64](t *testing.T, values ...T) {
	t.Helper()
	var b []byte
	for _, v := range values {
		at := len(b)
		b = Serialize(b, v)
		if got, rest, ok := Deserialize[T](b[at:]); !ok || got != v || len(rest) != 0 {
			t.Errorf("%d is read as %d, %t, %d bytes left", v, got, ok, len(rest))
		}
		if _, _, ok := Deserialize[T](b[at+1:]); ok {
			t.Errorf("%d is read of too few bytes", v)
		}
	}
}

func TestSerializeTest_SerializeI64(t *testing.T) {
	wantBytes(t, map[int64]string{0: "\x00\x00\x00\x00\x00\x00\x00\x00", 1: "\x00\x00\x00\x00\x00\x00\x00\x01",
		-1: "\xff\xff\xff\xff\xff\xff\xff\xff", math.MaxInt64: "\x7f\xff\xff\xff\xff\xff\xff\xff",
		-math.MaxInt64: "\x80\x00\x00\x00\x00\x00\x00\x01"})
}

func TestSerializeTest_DeserializeI64(t *testing.T) {
	wantReadBack[int64](t, 0, 1, -1, -math.MaxInt64, math.MaxInt64)
}

func TestSerializeTest_SerializeI32(t *testing.T) {
	wantBytes(t, map[int32]string{0: "\x00\x00\x00\x00", 1: "\x00\x00\x00\x01", -1: "\xff\xff\xff\xff",
		math.MaxInt32: "\x7f\xff\xff\xff", math.MinInt32: "\x80\x00\x00\x00"})
}

func TestSerializeTest_DeserializeI32(t *testing.T) {
	wantReadBack[int32](t, 0, 1, -1, math.MaxInt32, math.MinInt32)
}

func TestSerializeTest_SerializeI8(t *testing.T) {
	wantBytes(t, map[int8]string{0: "\x00", 1: "\x01", -1: "\xff", 127: "\x7f", -128: "\x80"})
}

func TestSerializeTest_DeserializeI8(t *testing.T) {
	wantReadBack[int8](t, 0, 1, -1, 127, -128)
}
