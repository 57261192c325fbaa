// Port of db/dbformat_test.cc.

package dbformat

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

func ikey(userKey string, seq uint64, t ValueType) string {
	return string(AppendInternalKey(nil, []byte(userKey), seq, t))
}

func shorten(s, l string) string {
	c := NewInternalKeyComparator(util.BytewiseComparator())
	return string(c.FindShortestInternalKeySeparator(nil, []byte(s), []byte(l)))
}

func shortSuccessor(s string) string {
	c := NewInternalKeyComparator(util.BytewiseComparator())
	return string(c.FindShortInternalKeySuccessor(nil, []byte(s)))
}

func wantKey(t *testing.T, got, want string) {
	t.Helper()
	if got != want {
		t.Fatalf("%q, want %q", got, want)
	}
}

func wantParsed(t *testing.T, encoded []byte, userKey string, seq uint64, vt ValueType) {
	t.Helper()
	p, err := ParseInternalKey(encoded, true)
	if err != nil {
		t.Fatal(err)
	}
	if string(p.UserKey) != userKey || p.Sequence != seq || p.Type != vt {
		t.Fatalf("parsed %s, want %q, %d, %d", p.DebugString(true, false), userKey, seq, vt)
	}
}

func TestFormatTest_InternalKey_EncodeDecode(t *testing.T) {
	keys := []string{"", "k", "hello", "longggggggggggggggggggggg"}
	seqs := []uint64{1, 2, 3, 1<<8 - 1, 1 << 8, 1<<8 + 1, 1<<16 - 1, 1 << 16, 1<<16 + 1, 1<<32 - 1, 1 << 32, 1<<32 + 1}
	for _, k := range keys {
		for _, seq := range seqs {
			wantParsed(t, []byte(ikey(k, seq, TypeValue)), k, seq, TypeValue)
			wantParsed(t, []byte(ikey("hello", 1, TypeDeletion)), "hello", 1, TypeDeletion)
		}
	}
	if _, err := ParseInternalKey([]byte("bar"), true); err == nil {
		t.Fatal("3 bytes are an internal key")
	}
}

func TestFormatTest_InternalKeyShortSeparator(t *testing.T) {
	foo := ikey("foo", 100, TypeValue)
	// Equal user keys.
	wantKey(t, shorten(foo, ikey("foo", 99, TypeValue)), foo)
	wantKey(t, shorten(foo, ikey("foo", 101, TypeValue)), foo)
	wantKey(t, shorten(foo, ikey("foo", 100, TypeValue)), foo)
	wantKey(t, shorten(foo, ikey("foo", 100, TypeDeletion)), foo)
	// In the wrong order.
	wantKey(t, shorten(foo, ikey("bar", 99, TypeValue)), foo)
	// In order.
	for _, c := range [][3]string{
		{"foo", "hello", "g"},
		{"ABC1AAAAA", "ABC2ABB", "ABC2"},
		{"AAA1AAA", "AAA2AA", "AAA2"},
		{"AAA1AAA", "AAA4", "AAA2"},
		{"AAA1AAA", "AAA2", "AAA1B"},
		{"AAA1AAA", "AAA2A", "AAA2"},
	} {
		wantKey(t, shorten(ikey(c[0], 100, TypeValue), ikey(c[1], 200, TypeValue)), ikey(c[2], MaxSequenceNumber, ValueTypeForSeek))
	}
	wantKey(t, shorten(ikey("AAA1", 100, TypeValue), ikey("AAA2", 200, TypeValue)), ikey("AAA1", 100, TypeValue))
	// The first is a prefix of the second.
	wantKey(t, shorten(foo, ikey("foobar", 200, TypeValue)), foo)
	// The second is a prefix of the first.
	wantKey(t, shorten(ikey("foobar", 100, TypeValue), ikey("foo", 200, TypeValue)), ikey("foobar", 100, TypeValue))
}

func TestFormatTest_InternalKeyShortestSuccessor(t *testing.T) {
	wantKey(t, shortSuccessor(ikey("foo", 100, TypeValue)), ikey("g", MaxSequenceNumber, ValueTypeForSeek))
	wantKey(t, shortSuccessor(ikey("\xff\xff", 100, TypeValue)), ikey("\xff\xff", 100, TypeValue))
}

const (
	letters = "abcdefghijklmnopqrstuvwxyz"
	digits  = "0123456789"
)

func TestFormatTest_IterKeyOperation(t *testing.T) {
	var k IterKey
	wantKey(t, string(k.GetUserKey()), "")
	for _, c := range []struct {
		shared    int
		nonShared string
		want      string
	}{
		{0, letters[:3], "abc"},
		{1, letters[:3], "aabc"},
		{0, letters, letters},
		{26, digits, letters + digits},
		{36, digits[:1], letters + digits + "0"},
		{26, digits[:1], letters + "0"},
		{27, letters, letters + "0" + letters},
	} {
		k.TrimAppend(c.shared, []byte(c.nonShared))
		wantKey(t, string(k.GetUserKey()), c.want)
	}
}

// A pinned key is copied before it is changed.
func TestIterKey_TrimAppendPinned(t *testing.T) {
	pinned := []byte("pinned")
	var k IterKey
	k.SetUserKey(pinned, false)
	k.TrimAppend(3, []byte("k"))
	wantKey(t, string(k.GetUserKey()), "pink")
	wantKey(t, string(pinned), "pinned")
}

func TestIterKeySwapTest_SwapAndDestroy(t *testing.T) {
	populate := func(k *IterKey, n int, fill string, copyKey, secondary bool) string {
		base := strings.Repeat(fill, n)
		k.SetUserKey([]byte(base), copyKey)
		if copyKey && secondary {
			k.TrimAppendWithTimestamp(1, []byte(base[1:]), 8)
			return base + strings.Repeat("\x00", 8)
		}
		return base
	}
	bools := []bool{false, true}
	for _, aLen := range []int{10, 50} {
		for _, bLen := range []int{10, 50} {
			for i := range 16 {
				aCopy, aSecond, bCopy, bSecond := bools[i&1], bools[i>>1&1], bools[i>>2&1], bools[i>>3&1]
				t.Run(fmt.Sprintf("%d,%v,%v,%d,%v,%v", aLen, aCopy, aSecond, bLen, bCopy, bSecond), func(t *testing.T) {
					var a IterKey
					wantA := populate(&a, aLen, "a", aCopy, aSecond)
					var wantB string
					func() {
						var b IterKey
						wantB = populate(&b, bLen, "b", bCopy, bSecond)
						wantKey(t, string(b.GetUserKey()), wantB)
						a.Swap(&b)
						wantKey(t, string(a.GetUserKey()), wantB)
						wantKey(t, string(b.GetUserKey()), wantA)
						// The other's buffers are its own.
						b.SetUserKey([]byte(strings.Repeat("z", 60)), true)
						b.TrimAppendWithTimestamp(0, []byte("y"), 8)
					}()
					wantKey(t, string(a.GetUserKey()), wantB)
				})
			}
		}
	}
}

func TestFormatTest_IterKeyWithTimestampOperation(t *testing.T) {
	const tsSize = 8
	least := strings.Repeat("\x00", tsSize)
	var k IterKey
	k.SetUserKey(nil, true)
	wantKey(t, string(k.GetUserKey()), "")
	for _, c := range []struct {
		shared    int
		nonShared string
		want      string
	}{
		{0, letters[:3], "abc"},
		{1, letters[:3], "aabc"},
		{0, letters, letters},
		{26, digits, letters + digits},
		{36, digits[:1], letters + digits + "0"},
		{26, digits[:1], letters + "0"},
		{27, letters, letters + "0" + letters},
	} {
		k.TrimAppendWithTimestamp(c.shared, []byte(c.nonShared), tsSize)
		wantKey(t, string(k.GetUserKey()), c.want+least)
	}
	// In an internal key the timestamp stands before the footer.
	k.SetInternalKey([]byte("keywithoutts"+least+"internal"), true)
	wantKey(t, string(k.GetInternalKey()), "keywithoutts"+least+"internal")
	for _, c := range []struct {
		shared     int
		nonShared  string
		user, foot string
	}{
		{0, letters[:10], "ab", "cdefghij"},
		{1, letters[:8], "a", "abcdefgh"},
		{9, letters[:3], "aabc", "defghabc"},
		{10, digits, "aabcdefgha01", "23456789"},
		{20, digits[:1], "aabcdefgha012", "34567890"},
		{21, letters, "aabcdefgha01234567890abcdefghijklmnopqr", "stuvwxyz"},
	} {
		k.TrimAppendWithTimestamp(c.shared, []byte(c.nonShared), tsSize)
		wantKey(t, string(k.GetInternalKey()), c.user+least+c.foot)
	}
}

func TestFormatTest_UpdateInternalKey(t *testing.T) {
	k := []byte(ikey(letters, 100, TypeValue))
	n := len(k)
	UpdateInternalKey(k, 0x123456, TypeDeletion)
	if len(k) != n {
		t.Fatal("the size has changed")
	}
	wantParsed(t, k, letters, 0x123456, TypeDeletion)
}

func TestFormatTest_RangeTombstoneSerializeEndKey(t *testing.T) {
	rt := NewRangeTombstone([]byte("a"), []byte("b"), 2, nil)
	k := NewInternalKey([]byte("b"), 3, TypeValue)
	if NewInternalKeyComparator(util.BytewiseComparator()).Compare(rt.SerializeEndKey(), k) >= 0 {
		t.Fatal("the end key is not before an entry of the key")
	}
}

// With timestamps the end key is before entries of any timestamp.
func TestRangeTombstone_SerializeEndKeyWithTimestamp(t *testing.T) {
	for _, c := range []rocksdb.Comparator{util.BytewiseComparatorWithU64Ts(), util.ReverseBytewiseComparatorWithU64Ts()} {
		icmp := NewInternalKeyComparator(c)
		ts := []byte{7, 0, 0, 0, 0, 0, 0, 0}
		rt := NewRangeTombstone([]byte("a12345678"), []byte("b12345678"), 2, ts)
		wantKey(t, string(rt.StartKey), "a"+string(ts))
		wantKey(t, string(rt.EndKey), "b"+string(ts))
		wantKey(t, string(rt.Timestamp), string(ts))
		k := NewInternalKey(append([]byte("b"), c.MaxTimestamp()...), MaxSequenceNumber, TypeValue)
		if icmp.Compare(rt.SerializeEndKey(), k) >= 0 {
			t.Fatalf("%s: the end key is not before an entry of the key", c.Name())
		}
	}
}

func TestFormatTest_PadInternalKeyWithMinTimestamp(t *testing.T) {
	k := PadInternalKeyWithMinTimestamp(nil, []byte(ikey("foo", 100, TypeValue)), 8)
	wantParsed(t, k, "foo\x00\x00\x00\x00\x00\x00\x00\x00", 100, TypeValue)
	k = PadInternalKeyWithMaxTimestamp(nil, []byte(ikey("foo", 100, TypeValue)), 2)
	wantParsed(t, k, "foo\xff\xff", 100, TypeValue)
}

func TestFormatTest_StripTimestampFromInternalKey(t *testing.T) {
	k := StripTimestampFromInternalKey(nil, []byte(ikey("foo\x00\x00\x00\x00\x00\x00\x00\x00", 100, TypeValue)), 8)
	wantParsed(t, k, "foo", 100, TypeValue)
}

func TestFormatTest_ReplaceInternalKeyWithMinTimestamp(t *testing.T) {
	k := ReplaceInternalKeyWithMinTimestamp(nil, []byte(ikey("foo"+strings.Repeat("\x01", 8), 100, TypeValue)), 8)
	wantParsed(t, k, "foo"+strings.Repeat("\x00", 8), 100, TypeValue)
}

func TestVersion_Constants(t *testing.T) {
	if rocksdb.Major != 11 || rocksdb.Minor != 8 || rocksdb.Patch != 1 {
		t.Fatalf("version %d.%d.%d", rocksdb.Major, rocksdb.Minor, rocksdb.Patch)
	}
	wantKey(t, rocksdb.GetRocksVersionAsString(true), "11.8.1")
	wantKey(t, rocksdb.GetRocksVersionAsString(false), "11.8")
}

// All entries of a user key lie between its greatest and its least key.
func TestInternalKey_PossibleForUserKey(t *testing.T) {
	icmp := NewInternalKeyComparator(util.BytewiseComparator())
	rapid.Check(t, func(rt *rapid.T) {
		uk := rapid.SliceOfN(rapid.Byte(), 0, 4).Draw(rt, "user key")
		k := NewInternalKey(uk, rapid.Uint64Range(0, MaxSequenceNumber).Draw(rt, "seq"),
			rapid.SampledFrom([]ValueType{TypeDeletion, TypeValue, TypeMerge, TypeSingleDeletion, TypeBlobIndex, TypeWideColumnEntity}).Draw(rt, "type"))
		lo, hi := SetMinPossibleForUserKey(uk), SetMaxPossibleForUserKey(uk)
		if icmp.Compare(lo, k) > 0 || icmp.Compare(k, hi) > 0 {
			rt.Fatalf("%s is not between %s and %s", k.DebugString(false), lo.DebugString(false), hi.DebugString(false))
		}
	})
}

// The comparators agree, and separators and successors stand where they must.
func TestInternalKeyComparator_Properties(t *testing.T) {
	comparators := []rocksdb.Comparator{util.BytewiseComparator(), util.ReverseBytewiseComparator()}
	rapid.Check(t, func(rt *rapid.T) {
		icmp := NewInternalKeyComparator(rapid.SampledFrom(comparators).Draw(rt, "comparator"))
		draw := func(name string) InternalKey {
			return NewInternalKey(rapid.SliceOfN(rapid.SampledFrom([]byte{0, 1, 'a', 'b', 0xff}), 0, 5).Draw(rt, name),
				rapid.Uint64Range(0, 3).Draw(rt, "seq"), rapid.SampledFrom([]ValueType{TypeDeletion, TypeValue}).Draw(rt, "type"))
		}
		a, b := draw("a"), draw("b")
		pa, _ := ParseInternalKey(a, true)
		pb, _ := ParseInternalKey(b, true)
		r := icmp.Compare(a, b)
		if icmp.Compare(b, a) != -r || icmp.CompareParsed(&pa, &pb) != r || icmp.CompareToParsed(a, &pb) != r {
			rt.Fatal("comparisons disagree")
		}
		if s := icmp.CompareKeySeq(a, b); s != r && (s != 0 || pa.Sequence != pb.Sequence) {
			rt.Fatalf("CompareKeySeq %d, Compare %d", s, r)
		}
		if r < 0 {
			sep := icmp.FindShortestInternalKeySeparator([]byte("x"), a, b)[1:]
			if icmp.Compare(a, sep) > 0 || icmp.Compare(sep, b) >= 0 || len(sep) > len(a) {
				rt.Fatalf("separator %q of %q and %q", sep, a, b)
			}
		}
		if suc := icmp.FindShortInternalKeySuccessor(nil, a); icmp.Compare(a, suc) > 0 || len(suc) > len(a) {
			rt.Fatalf("successor %q of %q", suc, a)
		}
	})
}

func TestLookupKey(t *testing.T) {
	var k LookupKey
	for _, uk := range []string{"", "a", strings.Repeat("long", 100)} {
		for _, ts := range []string{"", "12345678"} {
			k.Set([]byte(uk), 77, []byte(ts))
			wantKey(t, string(k.UserKey()), uk+ts)
			wantKey(t, string(k.InternalKey()), ikey(uk+ts, 77, ValueTypeForSeek))
			wantKey(t, string(k.MemtableKey()), string(util.AppendLengthPrefixedSlice(nil, k.InternalKey())))
		}
	}
	uk := []byte("again")
	if n := testing.AllocsPerRun(50, func() { k.Set(uk, 5, nil) }); n != 0 {
		t.Fatalf("%v allocations", n)
	}
}

// Operands come out oldest first whatever way they went in, and unpinned ones
// do not depend on the caller's bytes.
func TestMergeContext(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var m MergeContext
		for range rapid.IntRange(1, 3).Draw(rt, "rounds") {
			m.Clear()
			var want [][]byte
			scratch := make([]byte, 0, 1000)
			for i := range rapid.IntRange(0, 20).Draw(rt, "operands") {
				operand := bytes.Repeat([]byte{byte(i)}, rapid.IntRange(0, 200).Draw(rt, "size"))
				scratch = append(scratch[:0], operand...)
				if rapid.Bool().Draw(rt, "newer") {
					m.PushOperandBack(scratch, false)
					want = append(want, operand)
				} else {
					m.PushOperand(scratch, false)
					want = slices.Insert(want, 0, operand)
				}
				clear(scratch)
			}
			if !slices.EqualFunc(m.GetOperands(), want, bytes.Equal) || m.GetNumOperands() != len(want) {
				rt.Fatalf("%v, want %v", m.GetOperands(), want)
			}
			for i := range want {
				if !bytes.Equal(m.GetOperand(i), want[i]) {
					rt.Fatalf("operand %d", i)
				}
			}
			slices.Reverse(want)
			if !slices.EqualFunc(m.GetOperandsDirectionBackward(), want, bytes.Equal) {
				rt.Fatal("backward")
			}
		}
	})
}

func FuzzParseInternalKey(f *testing.F) {
	f.Add([]byte(ikey("foo", 100, TypeValue)))
	f.Add([]byte("short"))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := ParseInternalKey(data, true)
		if err != nil {
			return
		}
		if again := AppendInternalKey(nil, p.UserKey, p.Sequence, p.Type); !bytes.Equal(again, data) {
			t.Fatalf("%q became %q", data, again)
		}
	})
}
