// Port of util/string_util.{h,cc}. Differs: parsers return errors; they take
// what C++'s parsers take (leading space, a sign, text after the number).

package util

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// NullptrString stands for no object in option strings.
const NullptrString = "nullptr"

// StringSplit splits at delim; an empty last part is left out, as are all parts
// of the empty string.
func StringSplit(s string, delim byte) []string {
	var parts []string
	for s != "" {
		part, rest, _ := strings.Cut(s, string(delim))
		parts = append(parts, part)
		s = rest
	}
	return parts
}

// AppendNumberTo appends v in decimal.
func AppendNumberTo(dst []byte, v uint64) []byte { return strconv.AppendUint(dst, v, 10) }

// AppendEscapedStringTo appends value with the bytes outside printable ASCII as
// \xNN.
func AppendEscapedStringTo(dst, value []byte) []byte {
	const digits = "0123456789abcdef"
	for _, c := range value {
		if c >= ' ' && c <= '~' {
			dst = append(dst, c)
		} else {
			dst = append(dst, '\\', 'x', digits[c>>4], digits[c&15])
		}
	}
	return dst
}

// EscapeString is AppendEscapedStringTo as a string.
func EscapeString(value []byte) string { return string(AppendEscapedStringTo(nil, value)) }

// ToBaseCharsString writes the lowest n digits of v in a base of 2 to 36.
func ToBaseCharsString(base uint64, n int, v uint64, uppercase bool) string {
	b := make([]byte, n)
	PutBaseChars(base, b, v, uppercase)
	return string(b)
}

// PutBaseChars fills b with the lowest len(b) digits of v in a base of 2 to 36.
func PutBaseChars(base uint64, b []byte, v uint64, uppercase bool) {
	digits := "0123456789abcdefghijklmnopqrstuvwxyz"
	if uppercase {
		digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	}
	for i := len(b) - 1; i >= 0; i-- {
		b[i] = digits[v%base]
		v /= base
	}
}

// ParseBaseChars adds the digits of s, of a base of 2 to 36, to those in v,
// modulo 2^64. ok is false at the first byte that is no digit; n is then its
// index, else len(s).
func ParseBaseChars(base uint64, s string, v uint64) (result uint64, n int, ok bool) {
	for i := 0; i < len(s); i++ {
		var d uint64
		switch c := s[i]; {
		case c >= '0' && c <= '9':
			d = uint64(c - '0')
		case c >= 'A' && c <= 'Z':
			d = uint64(c-'A') + 10
		case c >= 'a' && c <= 'z':
			d = uint64(c-'a') + 10
		default:
			d = base
		}
		if d >= base {
			return v, i, false
		}
		v = v*base + d
	}
	return v, len(s), true
}

// NumberToHumanString writes numbers from 10000 up in thousands (K), from
// 10000K in millions (M), from 10000M in billions (G), cut off.
func NumberToHumanString(n int64) string {
	abs := n
	if n == math.MinInt64 {
		abs = math.MaxInt64
	} else if n < 0 {
		abs = -n
	}
	switch {
	case abs < 10000:
		return strconv.FormatInt(n, 10)
	case abs < 10000000:
		return strconv.FormatInt(n/1000, 10) + "K"
	case abs < 10000000000:
		return strconv.FormatInt(n/1000000, 10) + "M"
	}
	return strconv.FormatInt(n/1000000000, 10) + "G"
}

// BytesToHumanString writes a size in KB, MB, GB or TB with two decimals.
func BytesToHumanString(bytes uint64) string {
	size := float64(bytes) / 1024
	unit := 0
	for unit < 3 && size >= 1024 {
		size /= 1024
		unit++
	}
	return fmt.Sprintf("%.2f %cB", size, "KMGT"[unit])
}

// TimeToHumanString writes seconds since 1970 as local time, in the C locale's
// form.
func TimeToHumanString(unixTime int64) string {
	return time.Unix(unixTime, 0).Format("Mon Jan _2 15:04:05 2006")
}

// AppendHumanMicros appends a time in the unit that suits it; with fixedFormat
// always as hours, minutes and seconds.
func AppendHumanMicros(dst []byte, micros uint64, fixedFormat bool) []byte {
	seconds := float64(micros%60000000) / 1000000
	switch {
	case micros < 10000 && !fixedFormat:
		return fmt.Appendf(dst, "%d us", micros)
	case micros < 10000000 && !fixedFormat:
		return fmt.Appendf(dst, "%.3f ms", float64(micros)/1000)
	case micros < 60*1000000 && !fixedFormat:
		return fmt.Appendf(dst, "%.3f sec", float64(micros)/1000000)
	case micros < 3600*1000000 && !fixedFormat:
		return fmt.Appendf(dst, "%02d:%05.3f M:S", micros/1000000/60, seconds)
	}
	return fmt.Appendf(dst, "%02d:%02d:%05.3f H:M:S", micros/1000000/3600, micros/1000000/60%60, seconds)
}

// AppendHumanBytes appends a size in a unit that makes it at least 10, cut off.
func AppendHumanBytes(dst []byte, bytes uint64) []byte {
	for i, unit := range [...]string{"TB", "GB", "MB", "KB"} {
		if shift := uint(40 - 10*i); bytes >= 10<<shift {
			return append(strconv.AppendUint(dst, bytes>>shift, 10), unit...)
		}
	}
	return append(strconv.AppendUint(dst, bytes, 10), 'B')
}

// ConsumeDecimalNumber takes the decimal number at the front of in; ok is false
// if there is none or it is beyond 64 bits.
func ConsumeDecimalNumber(in string) (v uint64, rest string, ok bool) {
	n := 0
	for n < len(in) && in[n] >= '0' && in[n] <= '9' {
		n++
	}
	v, err := strconv.ParseUint(in[:n], 10, 64)
	return v, in[n:], err == nil
}

// IsSpecialChar tells whether EscapeOptionString escapes c.
func IsSpecialChar(c byte) bool { return strings.IndexByte("\\#:\r\n", c) >= 0 }

// UnescapeChar gives what c stands for after a backslash.
func UnescapeChar(c byte) byte {
	switch c {
	case 'r':
		return '\r'
	case 'n':
		return '\n'
	}
	return c
}

// EscapeChar gives what stands for c after a backslash.
func EscapeChar(c byte) byte {
	switch c {
	case '\r':
		return 'r'
	case '\n':
		return 'n'
	}
	return c
}

// EscapeOptionString puts a backslash before special characters.
func EscapeOptionString(raw string) string {
	out := make([]byte, 0, len(raw))
	for i := 0; i < len(raw); i++ {
		if IsSpecialChar(raw[i]) {
			out = append(out, '\\', EscapeChar(raw[i]))
		} else {
			out = append(out, raw[i])
		}
	}
	return string(out)
}

// UnescapeOptionString is the inverse of EscapeOptionString; a lone backslash
// at the end is dropped.
func UnescapeOptionString(escaped string) string {
	out := make([]byte, 0, len(escaped))
	for i := 0; i < len(escaped); i++ {
		c := escaped[i]
		if c == '\\' {
			if i++; i == len(escaped) {
				break
			}
			c = UnescapeChar(escaped[i])
		}
		out = append(out, c)
	}
	return string(out)
}

const cSpace = " \t\n\v\f\r"

// Trim removes white space, as C knows it, at both ends.
func Trim(s string) string { return strings.Trim(s, cSpace) }

// ParseBoolean takes true, 1, false and 0; name is for the error.
func ParseBoolean(name, value string) (bool, error) {
	switch value {
	case "true", "1":
		return true, nil
	case "false", "0":
		return false, nil
	}
	return false, rocksdb.InvalidArgumentf("%s: %q is not a boolean", name, value)
}

// splitNumber parts value into sign, digits and what follows them.
func splitNumber(value string) (negative bool, digits, rest string) {
	s := strings.TrimLeft(value, cSpace)
	if s != "" && (s[0] == '-' || s[0] == '+') {
		negative = s[0] == '-'
		s = s[1:]
	}
	rest = strings.TrimLeft(s, "0123456789")
	return negative, s[:len(s)-len(rest)], rest
}

// unitShift is log2 of the unit that rest starts with: k, m, g, t.
func unitShift(rest string) uint {
	if rest == "" {
		return 0
	}
	switch rest[0] {
	case 'k', 'K':
		return 10
	case 'm', 'M':
		return 20
	case 'g', 'G':
		return 30
	case 't', 'T':
		return 40
	}
	return 0
}

func badNumber(value string, err error) error {
	if err != nil && strings.HasSuffix(err.Error(), strconv.ErrRange.Error()) {
		return rocksdb.InvalidArgumentf("number out of range: %q", value)
	}
	return rocksdb.InvalidArgumentf("not a number: %q", value)
}

// ParseUint64 reads a number with an optional unit of k, m, g or t (times 2^10
// and so on; bits beyond 64 are lost). A negative one counts modulo 2^64.
func ParseUint64(value string) (uint64, error) {
	negative, digits, rest := splitNumber(value)
	v, err := strconv.ParseUint(digits, 10, 64)
	if err != nil {
		return 0, badNumber(value, err)
	}
	if negative {
		v = -v
	}
	return v << unitShift(rest), nil
}

// ParseInt64 is ParseUint64 for signed numbers.
func ParseInt64(value string) (int64, error) {
	negative, digits, rest := splitNumber(value)
	if negative {
		digits = "-" + digits
	}
	v, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		return 0, badNumber(value, err)
	}
	return v << unitShift(rest), nil
}

// ParseUint32 is ParseUint64 within 32 bits.
func ParseUint32(value string) (uint32, error) {
	v, err := ParseUint64(value)
	if err == nil && v>>32 != 0 {
		err = badNumber(value, strconv.ErrRange)
	}
	return uint32(v), err
}

// ParseUint8 is ParseUint64 within 8 bits.
func ParseUint8(value string) (uint8, error) {
	v, err := ParseUint64(value)
	if err == nil && v>>8 != 0 {
		err = badNumber(value, strconv.ErrRange)
	}
	return uint8(v), err
}

// ParseInt32 is ParseInt64 within 32 bits.
func ParseInt32(value string) (int32, error) {
	v, err := ParseInt64(value)
	if err == nil && int64(int32(v)) != v {
		err = badNumber(value, strconv.ErrRange)
	}
	return int32(v), err
}

// ParseInt reads a C++ int, with a unit up to g; the product wraps at 32 bits.
func ParseInt(value string) (int, error) {
	negative, digits, rest := splitNumber(value)
	if negative {
		digits = "-" + digits
	}
	v, err := strconv.ParseInt(digits, 10, 32)
	if err != nil {
		return 0, badNumber(value, err)
	}
	shift := unitShift(rest)
	if shift == 40 {
		shift = 0
	}
	return int(int32(v) << shift), nil
}

// ParseSizeT is ParseUint64.
func ParseSizeT(value string) (uint64, error) { return ParseUint64(value) }

// ParseDouble reads a decimal floating-point number.
func ParseDouble(value string) (float64, error) {
	s := strings.TrimLeft(value, cSpace)
	if v, err := strconv.ParseFloat(s, 64); err == nil && !strings.Contains(s, "_") {
		return v, nil
	}
	v, err := strconv.ParseFloat(s[:floatPrefix(s)], 64)
	if err != nil {
		return 0, badNumber(value, err)
	}
	return v, nil
}

// floatPrefix is the length of the decimal number at the front of s.
func floatPrefix(s string) int {
	digits := func(i int) int {
		for i < len(s) && s[i] >= '0' && s[i] <= '9' {
			i++
		}
		return i
	}
	i := 0
	if i < len(s) && (s[i] == '-' || s[i] == '+') {
		i++
	}
	i = digits(i)
	if i < len(s) && s[i] == '.' {
		i = digits(i + 1)
	}
	if i < len(s) && (s[i] == 'e' || s[i] == 'E') {
		j := i + 1
		if j < len(s) && (s[j] == '-' || s[j] == '+') {
			j++
		}
		if end := digits(j); end > j {
			i = end
		}
	}
	return i
}

// ParseVectorInt reads ints separated by colons.
func ParseVectorInt(value string) ([]int, error) {
	var out []int
	for value != "" {
		part, rest, _ := strings.Cut(value, ":")
		v, err := ParseInt(part)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
		value = rest
	}
	return out, nil
}

// SerializeIntVector is the inverse of ParseVectorInt.
func SerializeIntVector(v []int) string {
	var out []byte
	for i, x := range v {
		if i > 0 {
			out = append(out, ':')
		}
		out = strconv.AppendInt(out, int64(x), 10)
	}
	return string(out)
}

// ParseTimeStringToSeconds reads HH:MM as seconds since midnight; -1 for
// anything else.
func ParseTimeStringToSeconds(value string) int {
	h, m, found := strings.Cut(value, ":")
	number := func(s string) int {
		negative, digits, rest := splitNumber(s)
		v, err := strconv.Atoi(digits)
		if err != nil || negative && v != 0 || strings.TrimLeft(rest, cSpace) != "" {
			return -1
		}
		return v
	}
	hours, minutes := number(h), number(m)
	if !found || m != strings.TrimRight(m, cSpace) || hours < 0 || hours > 23 || minutes < 0 || minutes > 59 {
		return -1
	}
	return hours*3600 + minutes*60
}

// TryParseTimeRangeString reads HH:MM-HH:MM as seconds since midnight; the
// empty string gives 0 and 0.
func TryParseTimeRangeString(value string) (start, end int, ok bool) {
	if value == "" {
		return 0, 0, true
	}
	parts := StringSplit(value, '-')
	if len(parts) != 2 {
		return 0, 0, false
	}
	start, end = ParseTimeStringToSeconds(parts[0]), ParseTimeStringToSeconds(parts[1])
	return start, end, start >= 0 && end >= 0
}

// ErrnoStr is the C library's text for a system error.
func ErrnoStr(errno syscall.Errno) string {
	text := errno.Error()
	if text != "" && text[0] >= 'a' && text[0] <= 'z' {
		return string(text[0]-'a'+'A') + text[1:]
	}
	return text
}
