// Port of table/merger_test.cc.

package table

import (
	"bytes"
	"testing"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/table/internaliter"
	"github.com/rocksdb-go/rocksdb/util"
)

var bytewiseICmp = dbformat.NewInternalKeyComparator(util.BytewiseComparator())

type mergerTest struct {
	*testing.T
	rnd    *util.Random
	merged internaliter.InternalIterator
	single internaliter.InternalIterator
}

func newMergerTest(t *testing.T, iterators, strings, letters int) *mergerTest {
	m := &mergerTest{T: t, rnd: util.NewRandom(3)}
	var all [][]byte
	var list []internaliter.InternalIterator
	for range iterators {
		var keys [][]byte
		for range strings {
			keys = append(keys, m.key(letters))
		}
		list = append(list, internaliter.NewVectorIterator(keys, keys, bytewiseICmp.Compare))
		all = append(all, keys...)
	}
	m.merged = NewMergingIterator(bytewiseICmp, list, false)
	m.single = internaliter.NewVectorIterator(all, all, bytewiseICmp.Compare)
	t.Cleanup(func() {
		if err := m.merged.Close(); err != nil {
			t.Error(err)
		}
	})
	return m
}

func (m *mergerTest) key(letters int) []byte {
	return dbformat.NewInternalKey([]byte(m.rnd.HumanReadableString(letters)), 0, dbformat.TypeValue)
}

func (m *mergerTest) assertEquivalence() {
	m.Helper()
	if m.merged.Valid() != m.single.Valid() {
		m.Fatalf("valid is %v, want %v", m.merged.Valid(), m.single.Valid())
	}
	if m.merged.Valid() && (!bytes.Equal(m.merged.Key(), m.single.Key()) || !bytes.Equal(m.merged.Value(), m.single.Value())) {
		m.Fatalf("at %q, want %q", m.merged.Key(), m.single.Key())
	}
}

func (m *mergerTest) seekToRandom() {
	target := m.key(5)
	m.merged.Seek(target)
	m.single.Seek(target)
	m.assertEquivalence()
}

func (m *mergerTest) walk(times int, back func() bool) {
	m.Helper()
	for range times {
		if !m.merged.Valid() {
			break
		}
		m.assertEquivalence()
		if back() {
			m.merged.Prev()
			m.single.Prev()
		} else {
			m.merged.Next()
			m.single.Next()
		}
	}
	m.assertEquivalence()
}

func forward() bool  { return false }
func backward() bool { return true }

func TestMergerTest_SeekToRandomNextTest(t *testing.T) {
	m := newMergerTest(t, 200, 50, 50)
	for range 5 {
		m.seekToRandom()
		m.walk(10000, forward)
	}
}

func TestMergerTest_SeekToRandomNextSmallStringsTest(t *testing.T) {
	m := newMergerTest(t, 200, 50, 2)
	for range 5 {
		m.seekToRandom()
		m.walk(10000, forward)
	}
}

func TestMergerTest_SeekToRandomPrevTest(t *testing.T) {
	m := newMergerTest(t, 200, 50, 50)
	for range 5 {
		m.seekToRandom()
		m.walk(10000, backward)
	}
}

func TestMergerTest_SeekToRandomRandomTest(t *testing.T) {
	m := newMergerTest(t, 100, 50, 50)
	for range 3 {
		m.seekToRandom()
		m.walk(2000, func() bool { return m.rnd.OneIn(2) })
	}
}

func TestMergerTest_SeekToFirstTest(t *testing.T) {
	m := newMergerTest(t, 200, 50, 50)
	for range 5 {
		m.merged.SeekToFirst()
		m.single.SeekToFirst()
		m.walk(10000, forward)
	}
}

func TestMergerTest_SeekToLastTest(t *testing.T) {
	m := newMergerTest(t, 200, 50, 50)
	for range 5 {
		m.merged.SeekToLast()
		m.single.SeekToLast()
		m.walk(10000, backward)
	}
}

func BenchmarkMergingIteratorNext(b *testing.B) {
	for _, n := range []int{2, 4, 8} {
		b.Run(string(rune('0'+n))+"children", func(b *testing.B) {
			lists := make([][][]byte, n)
			for i := range 100000 {
				c := (i * 7919 >> 3) % n
				lists[c] = append(lists[c], dbformat.NewInternalKey(util.AppendFixed64([]byte{byte(i >> 16), byte(i >> 8), byte(i)}, 0), 1, dbformat.TypeValue))
			}
			var list []internaliter.InternalIterator
			for _, l := range lists {
				list = append(list, internaliter.NewVectorIterator(l, l, nil))
			}
			it := NewMergingIterator(bytewiseICmp, list, false)
			it.SeekToFirst()
			b.ReportAllocs()
			for b.Loop() {
				if it.Next(); !it.Valid() {
					it.SeekToFirst()
				}
			}
		})
	}
}
