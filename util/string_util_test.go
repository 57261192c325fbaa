// Port of util/string_util_test.cc.

package util_test

import (
	"math"
	"slices"
	"syscall"
	"testing"

	"github.com/rocksdb-go/rocksdb/util"
)

func TestStringUtilTest_NumberToHumanString(t *testing.T) {
	for n, want := range map[int64]string{
		math.MinInt64: "-9223372036G", math.MaxInt64: "9223372036G", 0: "0", 9999: "9999", 10000: "10K",
		10000000: "10M", 10000000000: "10G", -9999: "-9999", -10000: "-10K", -10000000: "-10M", -10000000000: "-10G",
	} {
		if got := util.NumberToHumanString(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}

func TestStringUtilTest_Trim(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "a": "a", "abc": "abc", " a": "a", "   abc": "abc", "a ": "a", "abc   ": "abc", " a ": "a",
		"   abc   ": "abc", "  a b c  ": "a b c", " ": "", "  ": "", "   ": "", "\t": "", "\n": "", " \t\n\r": "",
	} {
		if got := util.Trim(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// The rest has no upstream twin.

func TestHumanForms(t *testing.T) {
	for _, c := range [][2]string{
		{util.BytesToHumanString(512), "0.50 KB"},
		{util.BytesToHumanString(1 << 20), "1.00 MB"},
		{util.BytesToHumanString(math.MaxUint64), "16777216.00 TB"},
		{string(util.AppendHumanBytes(nil, 10)), "10B"},
		{string(util.AppendHumanBytes(nil, 10240)), "10KB"},
		{string(util.AppendHumanBytes(nil, 10<<20-1)), "10239KB"},
		{string(util.AppendHumanBytes(nil, 10<<30)), "10GB"},
		{string(util.AppendHumanBytes(nil, 10<<40)), "10TB"},
		{string(util.AppendHumanMicros(nil, 9999, false)), "9999 us"},
		{string(util.AppendHumanMicros(nil, 10000, false)), "10.000 ms"},
		{string(util.AppendHumanMicros(nil, 10000000, false)), "10.000 sec"},
		{string(util.AppendHumanMicros(nil, 61000000, false)), "01:1.000 M:S"},
		{string(util.AppendHumanMicros(nil, 3661000000, false)), "01:01:1.000 H:M:S"},
		{string(util.AppendHumanMicros(nil, 1500000, true)), "00:00:1.500 H:M:S"},
		{util.EscapeString([]byte("a\x00\xff~")), `a\x00\xff~`},
		{string(util.AppendNumberTo([]byte("n"), 12)), "n12"},
		{util.SliceToHex([]byte("\x00\xabz")), "00AB7A"},
		{util.ErrnoStr(syscall.ENOENT), "No such file or directory"},
	} {
		if c[0] != c[1] {
			t.Errorf("%q, want %q", c[0], c[1])
		}
	}
	if b, ok := util.DecodeHex("00aB7a"); !ok || string(b) != "\x00\xabz" {
		t.Errorf("%q %v", b, ok)
	}
	for _, bad := range []string{"0", "0g", "0x"} {
		if _, ok := util.DecodeHex(bad); ok {
			t.Errorf("%q is hexadecimal", bad)
		}
	}
}

func TestStringSplit(t *testing.T) {
	for in, want := range map[string][]string{
		"": nil, "a": {"a"}, "a:b": {"a", "b"}, "a::b": {"a", "", "b"}, "a:": {"a"}, ":": {""},
	} {
		if got := util.StringSplit(in, ':'); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestOptionStringEscapes(t *testing.T) {
	const raw, escaped = "a:b#c\\d\r\n", `a\:b\#c\\d\r\n`
	if got := util.EscapeOptionString(raw); got != escaped {
		t.Errorf("%q", got)
	}
	if got := util.UnescapeOptionString(escaped + `\`); got != raw {
		t.Errorf("%q", got)
	}
}

func TestParseNumbers(t *testing.T) {
	check := func(what string, got any, err error, want any) {
		t.Helper()
		if err != nil && want != nil || err == nil && got != want {
			t.Errorf("%s: %v, %v; want %v", what, got, err, want)
		}
	}
	for in, want := range map[string]any{
		"1": uint64(1), " 12x": uint64(12), "4k": uint64(4096), "1G": uint64(1 << 30), "2t": uint64(2 << 40),
		"-1": uint64(math.MaxUint64), "18446744073709551615": uint64(math.MaxUint64), "18446744073709551616": nil, "": nil, "k": nil,
	} {
		v, err := util.ParseUint64(in)
		check("ParseUint64 "+in, v, err, want)
	}
	for in, want := range map[string]any{"-2K": int64(-2048), "+7": int64(7), "9223372036854775808": nil} {
		v, err := util.ParseInt64(in)
		check("ParseInt64 "+in, v, err, want)
	}
	for in, want := range map[string]any{"4294967295": uint32(math.MaxUint32), "4g": nil} {
		v, err := util.ParseUint32(in)
		check("ParseUint32 "+in, v, err, want)
	}
	for in, want := range map[string]any{"255": uint8(255), "256": nil} {
		v, err := util.ParseUint8(in)
		check("ParseUint8 "+in, v, err, want)
	}
	for in, want := range map[string]any{"-2147483648": int32(math.MinInt32), "2g": nil} {
		v, err := util.ParseInt32(in)
		check("ParseInt32 "+in, v, err, want)
	}
	for in, want := range map[string]any{"1m": 1 << 20, "3t": 3, "2147483648": nil} {
		v, err := util.ParseInt(in)
		check("ParseInt "+in, v, err, want)
	}
	for in, want := range map[string]any{"1.5": 1.5, " -2e3x": -2000.0, "3.": 3.0, "4e": 4.0, "x": nil} {
		v, err := util.ParseDouble(in)
		check("ParseDouble "+in, v, err, want)
	}
	for in, want := range map[string]any{"true": true, "1": true, "false": false, "0": false, "yes": nil} {
		v, err := util.ParseBoolean("option", in)
		check("ParseBoolean "+in, v, err, want)
	}
	v, err := util.ParseVectorInt("1:-2:3k")
	if err != nil || util.SerializeIntVector(v) != "1:-2:3072" {
		t.Errorf("%v %v", v, err)
	}
	if _, err := util.ParseVectorInt("1:x"); err == nil {
		t.Error("a vector with a letter was read")
	}
	if v, rest, ok := util.ConsumeDecimalNumber("12ab"); v != 12 || rest != "ab" || !ok {
		t.Errorf("%d %q %v", v, rest, ok)
	}
	if _, _, ok := util.ConsumeDecimalNumber("18446744073709551616"); ok {
		t.Error("a number beyond 64 bits was read")
	}
}

func TestParseTimes(t *testing.T) {
	for in, want := range map[string]int{
		"00:00": 0, "1:2": 3720, "23:59": 86340, "24:00": -1, "12:60": -1, "12": -1, "": -1, "a:b": -1, "12:30x": -1, "-1:30": -1,
	} {
		if got := util.ParseTimeStringToSeconds(in); got != want {
			t.Errorf("%q: %d, want %d", in, got, want)
		}
	}
	if start, end, ok := util.TryParseTimeRangeString("08:00-17:30"); !ok || start != 28800 || end != 63000 {
		t.Errorf("%d %d %v", start, end, ok)
	}
	for _, bad := range []string{"08:00", "08:00-", "08:00-25:00", "1-2-3"} {
		if _, _, ok := util.TryParseTimeRangeString(bad); ok {
			t.Errorf("%q is a range", bad)
		}
	}
}

func TestParseBaseChars(t *testing.T) {
	if v, n, ok := util.ParseBaseChars(36, "zZ1", 0); v != 35*36*36+35*36+1 || n != 3 || !ok {
		t.Errorf("%d %d %v", v, n, ok)
	}
	if v, n, ok := util.ParseBaseChars(10, "12a", 5); v != 512 || n != 2 || ok {
		t.Errorf("%d %d %v", v, n, ok)
	}
}
