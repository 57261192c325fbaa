// Port of db/multi_cf_iterator_test.cc.

package db_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	contract "github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// multiIter is an iterator over several families under test.
type multiIter struct {
	x  *dbTest
	it *rocksdb.CoalescingIterator
}

// families lists families by number.
func (x *dbTest) families(order ...int) (list []*rocksdb.ColumnFamily) {
	for _, i := range order {
		list = append(list, x.cf(i))
	}
	return list
}

func (x *dbTest) coalesce(order []int, set ...func(*contract.ReadOptions)) multiIter {
	return multiIter{x, x.db.NewCoalescingIterator(readOptions(set...), x.families(order...))}
}

// walk is testIter's, with "prepare" for PrepareValue; it closes the iterator.
func (m multiIter) walk(steps ...string) {
	m.x.Helper()
	it := m.it
	done := ""
	for _, s := range steps {
		done += " " + s
		var op, arg string
		fmt.Sscan(s, &op)
		if len(s) > len(op) {
			arg = s[len(op)+1:]
		}
		switch {
		case s == "first":
			it.SeekToFirst()
		case s == "last":
			it.SeekToLast()
		case s == "next":
			it.Next()
		case s == "prev":
			it.Prev()
		case s == "prepare":
			if !it.PrepareValue() {
				m.x.Fatalf("%s: %v", done, it.Status())
			}
		case op == "seek":
			it.Seek([]byte(arg))
		case op == "for-prev":
			it.SeekForPrev([]byte(arg))
		default:
			got := "(invalid)"
			if it.Valid() {
				got = fmt.Sprintf("%s->%s", it.Key(), it.Value())
			}
			if got != s || it.Status() != nil {
				m.x.Fatalf("%s: at %s, %v", done, got, it.Status())
			}
		}
	}
	m.x.must(it.Close())
}

// wantBoth wants the entries forwards and backwards.
func (x *dbTest) wantBoth(order []int, entries []string, set ...func(*contract.ReadOptions)) {
	x.Helper()
	ro := readOptions(set...)
	check := func(it *rocksdb.CoalescingIterator, want string) {
		x.Helper()
		if ro.AllowUnpreparedValue {
			if len(it.Value()) != 0 || !it.PrepareValue() {
				x.Fatalf("%q, %v", it.Value(), it.Status())
			}
		}
		if got := fmt.Sprintf("%s->%s", it.Key(), it.Value()); got != want {
			x.Fatalf("%s, not %s", got, want)
		}
	}
	it := x.db.NewCoalescingIterator(ro, x.families(order...))
	n := 0
	for it.SeekToFirst(); it.Valid() && n < len(entries); it.Next() {
		check(it, entries[n])
		n++
	}
	if it.Valid() || n != len(entries) || it.Status() != nil {
		x.Fatal(n, it.Status())
	}
	for it.SeekToLast(); it.Valid() && n > 0; it.Prev() {
		n--
		check(it, entries[n])
	}
	if it.Valid() || n != 0 || it.Status() != nil {
		x.Fatal(n, it.Status())
	}
	x.must(it.Close())
}

var threeFamilies = []string{"cf_1", "cf_2", "cf_3"}

// familyEntry is key_K's value in family cf.
func familyEntry(k, cf int) string { return fmt.Sprintf("key_%d->key_%d_cf_%d_val", k, k, cf) }

// uniqueKeys writes key_1 to key_4, each to a family of its own.
func (x *dbTest) uniqueKeys() {
	x.Helper()
	x.createAndReopenWithCF(threeFamilies, x.defaultOptions())
	for i := range 4 {
		x.mustPut(i, fmt.Sprintf("key_%d", i+1), fmt.Sprintf("key_%d_cf_%d_val", i+1, i))
	}
}

// sharedKeys writes each key to several families.
func (x *dbTest) sharedKeys(o contract.Options) {
	x.Helper()
	x.destroyAndReopen(o)
	x.createAndReopenWithCF(threeFamilies, o)
	for _, e := range [][2]int{{1, 0}, {1, 3}, {2, 1}, {2, 2}, {3, 0}, {3, 1}, {3, 3}} {
		x.mustPut(e[1], fmt.Sprintf("key_%d", e[0]), fmt.Sprintf("key_%d_cf_%d_val", e[0], e[1]))
	}
}

// entries are those of pairs of key and family.
func entries(pairs ...int) (list []string) {
	for i := 0; i < len(pairs); i += 2 {
		list = append(list, familyEntry(pairs[i], pairs[i+1]))
	}
	return list
}

var (
	order0123 = []int{0, 1, 2, 3}
	order3201 = []int{3, 2, 0, 1}
)

func TestCoalescingIteratorTest_InvalidArguments(t *testing.T) {
	x := newDBTest(t)
	x.createAndReopenWithCF(threeFamilies, x.defaultOptions())
	it := x.db.NewCoalescingIterator(nil, nil)
	if err := it.Status(); !errors.Is(err, rocksdb.ErrInvalidArgument) {
		t.Fatal(err)
	}
	it.SeekToFirst()
	if it.Valid() || it.Status() == nil {
		t.Fatal("an iterator over nothing")
	}
	x.must(it.Close())
}

func TestCoalescingIteratorTest_SimpleValues(t *testing.T) {
	x := newDBTest(t)
	x.uniqueKeys()
	e := entries(1, 0, 2, 1, 3, 2, 4, 3)
	x.wantBoth(order0123, e)
	x.wantBoth([]int{3, 1, 0, 2}, e)
	x.coalesce(order0123).walk("seek ", e[0], "seek key_1", e[0], "seek key_2", e[1], "next", e[2], "seek key_x", "(invalid)")
	x.coalesce(order0123).walk("for-prev ", "(invalid)", "for-prev key_1", e[0], "next", e[1],
		"for-prev key_x", e[3], "prev", e[2], "next", e[3], "next", "(invalid)")

	x.sharedKeys(x.defaultOptions())
	x.wantBoth(order0123, entries(1, 3, 2, 2, 3, 3))
	e = entries(1, 0, 2, 1, 3, 1)
	x.wantBoth(order3201, e)
	x.coalesce(order3201).walk("seek ", e[0], "seek key_1", e[0], "seek key_2", e[1], "next", e[2], "seek key_x", "(invalid)")
	x.coalesce(order3201).walk("for-prev ", "(invalid)", "for-prev key_1", e[0], "next", e[1], "for-prev key_x", e[2], "next", "(invalid)")
}

func TestCoalescingIteratorTest_LowerAndUpperBounds(t *testing.T) {
	x := newDBTest(t)
	x.uniqueKeys()
	lower, upper3, upper4 := lowerBound("key_2"), upperBound("key_3"), upperBound("key_4")
	x.wantBoth(order0123, entries(2, 1, 3, 2, 4, 3), lower)
	x.wantBoth(order0123, entries(1, 0, 2, 1), upper3)
	e := entries(2, 1, 3, 2)
	x.wantBoth(order0123, e, lower, upper4)
	x.coalesce(order0123, lower, upper4).walk("seek ", e[0], "next", e[1], "seek key_x", "(invalid)")
	x.coalesce(order0123, lower, upper4).walk("for-prev ", "(invalid)", "for-prev key_1", "(invalid)", "for-prev key_2", e[0], "next", e[1],
		"for-prev key_x", e[1], "prev", e[0], "next", e[1], "next", "(invalid)")

	x.sharedKeys(x.defaultOptions())
	x.wantBoth(order0123, entries(2, 2, 3, 3), lower)
	x.wantBoth(order0123, entries(1, 3, 2, 2), upper3)
	x.wantBoth(order0123, entries(2, 2), lower, upper3)
	x.wantBoth(order3201, entries(2, 1, 3, 1), lower)
	x.wantBoth(order3201, entries(1, 0, 2, 1), upper3)
	x.wantBoth(order3201, entries(2, 1), lower, upper3)
	two := familyEntry(2, 1)
	x.coalesce(order3201, lower, upper3).walk("seek ", two, "next", "(invalid)", "seek key_x", "(invalid)")
	x.coalesce(order3201, lower, upper3).walk("for-prev ", "(invalid)", "for-prev key_1", "(invalid)", "for-prev key_2", two,
		"for-prev key_x", two, "next", "(invalid)")
}

func TestCoalescingIteratorTest_EmptyCfs(t *testing.T) {
	x := newDBTest(t)
	x.createAndReopenWithCF(threeFamilies, x.defaultOptions())
	const none = "(invalid)"
	x.coalesce(order0123).walk("first", none, "last", none, "seek foo", none, "for-prev foo", none)
	x.mustPut(1, "key_1", "key_1_cf_1_val")
	one := familyEntry(1, 1)
	x.coalesce(order0123).walk("first", one, "next", none, "last", one, "prev", none)
	x.mustPut(0, "key_1", "key_1_cf_0_val")
	x.mustPut(3, "key_1", "key_1_cf_3_val")
	one = familyEntry(1, 3)
	x.coalesce(order0123).walk("first", one, "next", none, "last", one, "prev", none)
}

func TestCoalescingIteratorTest_DifferentComparatorsInMultiCFs(t *testing.T) {
	x := newDBTest(t)
	o := x.defaultOptions()
	x.destroyAndReopen(o)
	x.createColumnFamilies([]string{"cf_forward"}, o)
	o.Comparator = rocksdb.ReverseBytewiseComparator()
	x.createColumnFamilies([]string{"cf_reverse"}, o)
	for i := range 2 {
		x.puts(i, "key_1", "value_1", "key_2", "value_2", "key_3", "value_3")
	}
	x.iter(0).walk("first", "=key_1", "next", "=key_2", "next", "=key_3", "next", "(invalid)")
	x.iter(1).walk("first", "=key_3", "next", "=key_2", "next", "=key_1", "next", "(invalid)")
	it := x.coalesce([]int{0, 1}).it
	if err := it.Status(); !errors.Is(err, rocksdb.ErrInvalidArgument) {
		t.Fatal(err)
	}
	x.must(it.Close())
}

func TestCoalescingIteratorTest_CustomComparatorsInMultiCFs(t *testing.T) {
	x := newDBTest(t)
	o := x.defaultOptions()
	x.destroyAndReopen(o)
	for _, name := range threeFamilies[:2] {
		o.Comparator = simpleSuffixReverse() // one of its own for each
		x.createColumnFamilies([]string{name}, o)
	}
	x.puts(0, "key_001_001", "value_0_3", "key_001_002", "value_0_2", "key_001_003", "value_0_1",
		"key_002_001", "value_0_6", "key_002_002", "value_0_5", "key_002_003", "value_0_4")
	x.puts(1, "key_001_001", "value_1_3", "key_001_002", "value_1_2", "key_001_003", "value_1_1",
		"key_003_004", "value_1_6", "key_003_005", "value_1_5", "key_003_006", "value_1_4")
	x.wantBoth([]int{0, 1}, []string{"key_001_003->value_1_1", "key_001_002->value_1_2", "key_001_001->value_1_3",
		"key_002_003->value_0_4", "key_002_002->value_0_5", "key_002_001->value_0_6",
		"key_003_006->value_1_4", "key_003_005->value_1_5", "key_003_004->value_1_6"})
}
