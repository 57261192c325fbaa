// Port of db/comparator_db_test.cc.

package db_test

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

// testOrder is a comparator of a function.
type testOrder struct {
	rocksdb.ComparatorBase
	name    string
	compare func(a, b []byte) int
}

func newOrder(name string, compare func(a, b []byte) int) rocksdb.Comparator {
	c := &testOrder{name: name, compare: compare}
	c.Self = c
	return c
}

func (c *testOrder) Name() string            { return c.name }
func (c *testOrder) Compare(a, b []byte) int { return c.compare(a, b) }

// modelIter is an iterator over a sorted list of keys, each its own value.
type modelIter struct {
	c    rocksdb.Comparator
	keys []string
	at   int // -1 or len(keys): nowhere
}

func (m *modelIter) find(key string) int {
	return sort.Search(len(m.keys), func(i int) bool { return m.c.Compare([]byte(m.keys[i]), []byte(key)) >= 0 })
}

func (m *modelIter) valid() bool { return m.at >= 0 && m.at < len(m.keys) }

// checkRandomIterator writes some of the keys and walks at random over what is
// there, beside a model. Every flushEvery writes the memtable is flushed.
func (x *dbTest) checkRandomIterator(keys []string, rnd *rand.Rand, c rocksdb.Comparator, writes, steps, flushEvery int) {
	x.Helper()
	there := map[string]bool{}
	for i := range writes {
		if flushEvery > 0 && i != 0 && i%flushEvery == 0 {
			x.flush(0)
		}
		k := keys[rnd.Intn(len(keys))]
		if rnd.Intn(2) == 0 {
			there[k] = true
			x.mustPut(0, k, k)
		} else {
			delete(there, k)
			x.mustDelete(0, k)
		}
	}
	m := &modelIter{c: c}
	for k := range there {
		m.keys = append(m.keys, k)
	}
	sort.Slice(m.keys, func(i, j int) bool { return c.Compare([]byte(m.keys[i]), []byte(m.keys[j])) < 0 })
	it := x.db.NewIterator(nil)
	defer it.Close()
	valid := false
	for range steps {
		switch k := keys[rnd.Intn(len(keys))]; rnd.Intn(6) {
		case 0:
			it.SeekToFirst()
			m.at = 0
		case 1:
			it.SeekToLast()
			m.at = len(m.keys) - 1
		case 2:
			it.Seek([]byte(k))
			m.at = m.find(k)
		case 3:
			if !valid {
				continue
			}
			it.Next()
			m.at++
		case 4:
			if !valid {
				continue
			}
			it.Prev()
			m.at--
		case 5:
			v, err := x.db.Get(nil, []byte(k))
			if there[k] != (err == nil) || err != nil && !errors.Is(err, rocksdb.ErrNotFound) || err == nil && string(v.Data()) != k {
				x.Fatalf("Get %q: %q, %v", k, v.Data(), err)
			}
			v.Release()
			continue
		}
		x.must(it.Err())
		if valid = it.Valid(); valid != m.valid() {
			x.Fatalf("valid is %v, not %v", valid, m.valid())
		}
		if valid && (string(it.Key()) != m.keys[m.at] || string(it.Value()) != m.keys[m.at]) {
			x.Fatalf("at %q->%q, not %q", it.Key(), it.Value(), m.keys[m.at])
		}
	}
}

// checkOrder runs checkRandomIterator with keys that make gives, for both
// format versions and some seeds.
func checkOrder(t *testing.T, c rocksdb.Comparator, seeds, writes, steps, flushEvery int, makeKeys func(rnd *rand.Rand) []string) {
	x := newDBTest(t)
	for _, version := range []uint32{6, 7} {
		for seed := range seeds {
			o := rocksdb.DefaultOptions()
			o.CreateIfMissing = true
			o.Comparator = c
			b := rocksdb.DefaultBlockBasedTableOptions()
			b.FormatVersion = version
			o.TableFactory = rocksdb.NewBlockBasedTableFactory(b)
			x.destroyAndReopen(o)
			rnd := rand.New(rand.NewSource(int64(301 + seed)))
			x.checkRandomIterator(makeKeys(rnd), rnd, c, writes, steps, flushEvery)
		}
	}
}

func readable(rnd *rand.Rand, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte('a' + rnd.Intn(26))
	}
	return string(b)
}

// boundaryKey is a key of bytes near the ends of their range.
func boundaryKey(rnd *rand.Rand, n int) string {
	const chars = "\x00\x01abcde\xfd\xfe\xff"
	b := make([]byte, n)
	for i := range b {
		b[i] = chars[rnd.Intn(len(chars))]
	}
	return string(b)
}

// hundred makes a hundred keys.
func hundred(f func(rnd *rand.Rand) string) func(rnd *rand.Rand) []string {
	return func(rnd *rand.Rand) []string {
		keys := make([]string, 100)
		for i := range keys {
			keys[i] = f(rnd)
		}
		return keys
	}
}

func TestComparatorDBTest_Bytewise(t *testing.T) {
	checkOrder(t, rocksdb.BytewiseComparator(), 5, 8, 100, 3, func(*rand.Rand) []string { return strings.Split("abcdefghi", "") })
}

func TestComparatorDBTest_SimpleSuffixReverseComparator(t *testing.T) {
	c := newOrder("SimpleSuffixReverseComparator", func(a, b []byte) int {
		return cmp.Or(bytes.Compare(a[:8], b[:8]), -bytes.Compare(a[8:], b[8:]))
	})
	checkOrder(t, c, 5, 30, 600, 66, func(rnd *rand.Rand) []string {
		var prefixes, keys []string
		for range 5 {
			prefixes = append(prefixes, readable(rnd, 8))
		}
		for range 20 {
			keys = append(keys, prefixes[rnd.Intn(5)]+readable(rnd, rnd.Intn(8)))
		}
		return keys
	})
}

func TestComparatorDBTest_Uint64Comparator(t *testing.T) {
	checkOrder(t, rocksdb.Uint64Comparator(), 5, 200, 1000, 66, hundred(func(rnd *rand.Rand) string {
		return string(binary.LittleEndian.AppendUint64(nil, rnd.Uint64()))
	}))
}

func TestComparatorDBTest_DoubleComparator(t *testing.T) {
	c := newOrder("DoubleComparator", func(a, b []byte) int {
		x, errX := strconv.ParseFloat(string(a), 64)
		y, errY := strconv.ParseFloat(string(b), 64)
		if errX != nil || errY != nil {
			t.Errorf("keys %q %q", a, b)
		}
		return cmp.Or(cmp.Compare(x, y), bytes.Compare(a, b))
	})
	checkOrder(t, c, 5, 200, 1000, 66, hundred(func(rnd *rand.Rand) string {
		divisor := 1.0
		for range rnd.Intn(8) {
			divisor *= 10
		}
		return fmt.Sprintf("%f", float64(rnd.Uint32())/divisor)
	}))
}

func TestComparatorDBTest_HashComparator(t *testing.T) {
	c := newOrder("HashComparator", func(a, b []byte) int {
		return cmp.Or(cmp.Compare(util.Hash(a, 66), util.Hash(b, 66)), bytes.Compare(a, b))
	})
	checkOrder(t, c, 5, 200, 1000, 66, hundred(func(rnd *rand.Rand) string { return boundaryKey(rnd, 8) }))
}

func TestComparatorDBTest_TwoStrComparator(t *testing.T) {
	split := func(k []byte) (first, second []byte) {
		if len(k) < 2 || len(k) != 2+int(k[0])+int(k[1]) {
			t.Errorf("key %q", k)
			return nil, nil
		}
		return k[2 : 2+k[0]], k[2+k[0]:]
	}
	c := newOrder("TwoStrComparator", func(a, b []byte) int {
		a1, a2 := split(a)
		b1, b2 := split(b)
		return cmp.Or(bytes.Compare(a1, b1), bytes.Compare(a2, b2))
	})
	checkOrder(t, c, 5, 200, 1000, 66, hundred(func(rnd *rand.Rand) string {
		n1, n2 := rnd.Intn(8), rnd.Intn(8)
		return string([]byte{byte(n1), byte(n2)}) + boundaryKey(rnd, n1) + boundaryKey(rnd, n2)
	}))
}

func TestComparatorDBTest_IsSameLengthImmediateSuccessor(t *testing.T) {
	for _, c := range []struct {
		s, t string
		want bool
	}{
		{"abcxy", "abcxyz", false},
		{"abcxyz", "abcxy", false},
		{"abc1xyz", "abc2xyz", false}, // other than the last byte
		{"abcxyz", "abcxyz", false},
		{"abcxy", "abcxz", true},
		{"\x50\x8a\xac", "\x50\x8a\xad", true},
		{"\x50\x8a\xff", "\x50\x8b\x00", true},
		{"\x50\x8a\xff\xff", "\x50\x8b\x00\x00", true},
		{"\x50\x8a\xff\xff", "\x50\x8b\x00\x01", false},
	} {
		forward, reverse := rocksdb.BytewiseComparator(), rocksdb.ReverseBytewiseComparator()
		if got := forward.IsSameLengthImmediateSuccessor([]byte(c.s), []byte(c.t)); got != c.want {
			t.Errorf("%q %q: %v", c.s, c.t, got)
		}
		// The reverse order always says no, as prefix seeks rely on.
		if forward.IsSameLengthImmediateSuccessor([]byte(c.t), []byte(c.s)) ||
			reverse.IsSameLengthImmediateSuccessor([]byte(c.s), []byte(c.t)) || reverse.IsSameLengthImmediateSuccessor([]byte(c.t), []byte(c.s)) {
			t.Errorf("%q %q the other way round", c.s, c.t)
		}
	}
}

func TestComparatorDBTest_FindShortestSeparator(t *testing.T) {
	forward, reverse := rocksdb.BytewiseComparator(), rocksdb.ReverseBytewiseComparator()
	for _, c := range []struct {
		c                  rocksdb.Comparator
		start, limit, want string
	}{
		{forward, "abc1xyz", "abc3xy", "abc2"},
		{reverse, "abc5xyztt", "abc3xy", "abc5"},
		{reverse, "abc3", "abc2xy", "abc3"},
		{reverse, "abc3xyz", "abc2xy", "abc3"},
		{reverse, "abc3xyz", "abc2", "abc3"},
	} {
		if got := c.c.FindShortestSeparator(nil, []byte(c.start), []byte(c.limit)); string(got) != c.want {
			t.Errorf("%s %q %q: %q, not %q", c.c.Name(), c.start, c.limit, got, c.want)
		}
	}
	if got := string(reverse.FindShortestSeparator(nil, []byte("abc2xy"), []byte("abc2"))); got > "abc2xy" || got <= "abc2" {
		t.Errorf("%q", got)
	}
}

func TestComparatorDBTest_SeparatorSuccessorRandomizeTest(t *testing.T) {
	const chars = "\x00\x01\x02\xfd\xfe\xff"
	r := util.NewRandom(301)
	for range 1000 {
		n1 := int(r.Skewed(4))
		n2 := int(r.Skewed(4))
		if !r.OneIn(2) {
			n2 = max(0, n1+int(r.Uniform(5))-2)
		}
		s1 := make([]byte, n1)
		for i := range s1 {
			if s1[i] = byte(r.Uniform(256)); !r.OneIn(2) {
				s1[i] = chars[r.Uniform(len(chars))]
			}
		}
		s2 := make([]byte, n2)
		copy(s2, s1)
		// The second key differs from the first at its end, by little.
		for pos := n2 - 1; pos >= 0; pos-- {
			if pos >= n1 || r.OneIn(4) {
				s2[pos] = byte(r.Uniform(256))
			} else if r.OneIn(4) {
				break
			} else {
				s2[pos] = byte(min(255, max(0, int(s1[pos])+int(r.Uniform(5))-2)))
			}
		}
		checkSeparators(t, s1, s2)
		checkSeparators(t, s2, s1)
	}
}

func checkSeparators(t *testing.T, start, limit []byte) {
	t.Helper()
	forward, reverse := rocksdb.BytewiseComparator(), rocksdb.ReverseBytewiseComparator()
	f, r := forward.FindShortestSeparator(nil, start, limit), reverse.FindShortestSeparator(nil, start, limit)
	longest := max(len(start), len(limit))
	ok := false
	switch c := bytes.Compare(start, limit); {
	case c == 0:
		ok = bytes.Equal(f, start) && bytes.Equal(r, limit)
	case c < 0:
		ok = bytes.Compare(start, f) <= 0 && bytes.Compare(limit, f) > 0 && len(f) <= longest && bytes.Equal(r, start)
	default:
		ok = bytes.Compare(start, r) >= 0 && bytes.Compare(limit, r) < 0 && len(r) <= longest && bytes.Equal(f, start)
	}
	if !ok {
		t.Fatalf("between %q and %q: %q, reverse %q", start, limit, f, r)
	}
	if s := forward.FindShortSuccessor(nil, start); bytes.Compare(s, start) < 0 {
		t.Fatalf("successor of %q: %q", start, s)
	}
	if s := reverse.FindShortSuccessor(nil, start); bytes.Compare(s, start) > 0 {
		t.Fatalf("reverse successor of %q: %q", start, s)
	}
}
