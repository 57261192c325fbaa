// Port of util/slice.cc. Differs: a Slice is a []byte; PinnableSlice belongs to
// the package that pins.

package util

import (
	"strconv"
	"strings"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

type fixedPrefixTransform struct{ n int }

type cappedPrefixTransform struct{ n int }

type noopTransform struct{}

const (
	fixedPrefixName  = "rocksdb.FixedPrefix"
	fixedPrefixNick  = "fixed"
	cappedPrefixName = "rocksdb.CappedPrefix"
	cappedPrefixNick = "capped"
	noopName         = "rocksdb.Noop"
)

// NewFixedPrefixTransform takes the first n bytes of keys at least that long;
// shorter keys have no prefix.
func NewFixedPrefixTransform(n int) rocksdb.SliceTransform { return fixedPrefixTransform{n} }

// NewCappedPrefixTransform takes the first n bytes of a key, or all of it.
func NewCappedPrefixTransform(n int) rocksdb.SliceTransform { return cappedPrefixTransform{n} }

// NewNoopTransform takes the whole key.
func NewNoopTransform() rocksdb.SliceTransform { return noopTransform{} }

func (t fixedPrefixTransform) Name() string     { return fixedPrefixName }
func (t fixedPrefixTransform) AsString() string { return fixedPrefixName + "." + strconv.Itoa(t.n) }

// ID and NickName are what the OPTIONS file and short option strings use.
func (t fixedPrefixTransform) ID() string     { return t.AsString() }
func (fixedPrefixTransform) NickName() string { return fixedPrefixNick }

func (t fixedPrefixTransform) Transform(key []byte) []byte               { return key[:t.n:t.n] }
func (t fixedPrefixTransform) InDomain(key []byte) bool                  { return len(key) >= t.n }
func (t fixedPrefixTransform) FullLengthEnabled() (int, bool)            { return t.n, true }
func (t fixedPrefixTransform) SameResultWhenAppended(prefix []byte) bool { return len(prefix) >= t.n }

func (t cappedPrefixTransform) Name() string     { return cappedPrefixName }
func (t cappedPrefixTransform) AsString() string { return cappedPrefixName + "." + strconv.Itoa(t.n) }

func (t cappedPrefixTransform) ID() string     { return t.AsString() }
func (cappedPrefixTransform) NickName() string { return cappedPrefixNick }

func (t cappedPrefixTransform) Transform(key []byte) []byte {
	n := min(t.n, len(key))
	return key[:n:n]
}

func (t cappedPrefixTransform) InDomain(key []byte) bool                  { return true }
func (t cappedPrefixTransform) FullLengthEnabled() (int, bool)            { return t.n, true }
func (t cappedPrefixTransform) SameResultWhenAppended(prefix []byte) bool { return len(prefix) >= t.n }

func (noopTransform) Name() string                              { return noopName }
func (noopTransform) AsString() string                          { return noopName }
func (noopTransform) Transform(key []byte) []byte               { return key }
func (noopTransform) InDomain(key []byte) bool                  { return true }
func (noopTransform) FullLengthEnabled() (int, bool)            { return 0, false }
func (noopTransform) SameResultWhenAppended(prefix []byte) bool { return false }

// BuiltinSliceTransform makes the transform that id names, in the long form
// (rocksdb.FixedPrefix.8) or the short one (fixed:8). ok is false if id is no
// built-in one's.
func BuiltinSliceTransform(id string) (t rocksdb.SliceTransform, ok bool) {
	if id == noopName {
		return noopTransform{}, true
	}
	length := func(prefix string) (int, bool) {
		digits, found := strings.CutPrefix(id, prefix)
		if !found || digits == "" || strings.Trim(digits, "0123456789") != "" {
			return 0, false
		}
		n, err := strconv.Atoi(digits)
		return n, err == nil
	}
	for _, prefix := range []string{fixedPrefixName + ".", fixedPrefixNick + ":"} {
		if n, ok := length(prefix); ok {
			return fixedPrefixTransform{n}, true
		}
	}
	for _, prefix := range []string{cappedPrefixName + ".", cappedPrefixNick + ":"} {
		if n, ok := length(prefix); ok {
			return cappedPrefixTransform{n}, true
		}
	}
	return nil, false
}

// SliceTransformIsInstanceOf tells whether name is t's: its class name, its id
// with the parameter, or the short form (fixed:8).
func SliceTransformIsInstanceOf(t rocksdb.SliceTransform, name string) bool {
	if name == t.Name() || name == t.AsString() {
		return true
	}
	if b, ok := BuiltinSliceTransform(name); ok {
		return b == t
	}
	switch t.(type) {
	case fixedPrefixTransform:
		return name == fixedPrefixNick
	case cappedPrefixTransform:
		return name == cappedPrefixNick
	}
	return false
}

// SliceToHex writes key in upper-case hexadecimal: Slice::ToString(true).
func SliceToHex(key []byte) string {
	const digits = "0123456789ABCDEF"
	b := make([]byte, 0, 2*len(key))
	for _, c := range key {
		b = append(b, digits[c>>4], digits[c&15])
	}
	return string(b)
}

// DecodeHex reads hexadecimal of either case; false if s has odd length or
// other characters.
func DecodeHex(s string) ([]byte, bool) {
	if len(s)%2 != 0 {
		return nil, false
	}
	b := make([]byte, 0, len(s)/2)
	for i := 0; i < len(s); i += 2 {
		hi, lo := fromHex(s[i]), fromHex(s[i+1])
		if hi < 0 || lo < 0 {
			return nil, false
		}
		b = append(b, byte(hi<<4|lo))
	}
	return b, true
}

func fromHex(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

// SliceToString is key as it is, or in upper-case hexadecimal:
// Slice::ToString(hex).
func SliceToString(key []byte, hex bool) string {
	if hex {
		return SliceToHex(key)
	}
	return string(key)
}
