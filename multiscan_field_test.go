// No upstream twin: public reports about MultiScan, each with the outcome that
// is right. Their ids stand beside the tests.

package rocksdb_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb"
)

// rangesOf makes ranges of "a-c" or, without a limit, "a".
func rangesOf(c rocksdb.Comparator, ranges ...string) *rocksdb.MultiScanArgs {
	args := rocksdb.DefaultMultiScanArgs(c)
	for _, r := range ranges {
		start, limit, bounded := strings.Cut(r, "-")
		var l []byte
		if bounded {
			l = []byte(limit)
		}
		args.Insert([]byte(start), l)
	}
	return &args
}

// multiScan gives the ranges' keys with "|" between the ranges, or the error.
func (x *recoveryTest) multiScan(ro *rocksdb.ReadOptions, show func(k, v []byte) string, ranges ...string) string {
	x.Helper()
	m := x.db.NewMultiScan(ro, rangesOf(x.comparator(), ranges...))
	defer m.Close()
	var list []string
	for scan := range m.Scans() {
		var keys []string
		for k, v := range scan {
			keys = append(keys, show(k, v))
		}
		list = append(list, strings.Join(keys, " "))
	}
	if err := m.Err(); err != nil {
		return "~" + err.Error()
	}
	return strings.Join(list, "|")
}

func keyShown(k, _ []byte) string { return string(k) }

func TestFieldMultiScanLimits(t *testing.T) { // facebook/rocksdb#13723
	for _, layout := range []string{"memtable", "last level", "level 0"} {
		x := newFieldTest(t, nil)
		for _, k := range "abcdefg" {
			x.put(string(k), "v")
		}
		if layout != "memtable" {
			x.flush()
		}
		if layout == "last level" {
			x.compact(true)
		}
		for ranges, want := range map[string]string{
			"a-c,d-f": "a b|d e", "e": "e f g", "a-c,d": "a b|d e f g", "e,f-g": "e f g|f", "a-b,b,d-e": "a|b c d e f g|d",
		} {
			x.same(layout+" "+ranges, x.multiScan(nil, keyShown, strings.Split(ranges, ",")...), want)
		}
		if got := x.multiScan(nil, keyShown, "a", "d"); !strings.HasPrefix(got, "~Invalid argument") || !strings.Contains(got, "Scan has no upper bound") {
			t.Error(layout, got)
		}
		x.same(layout+" other bound", x.multiScan(readOptions(func(ro *rocksdb.ReadOptions) { ro.IterateUpperBound = []byte("b") }), keyShown, "a-d"), "a b c")
		it := x.db.NewIterator(nil)
		it.Prepare(rangesOf(x.comparator(), "e"))
		it.Seek([]byte("e"))
		x.same(layout+" prepared", rest(it, it.Next, keyOf), "e f g")
		it.Close()
		x.close()
	}
}

// plain is what iterators give for the ranges.
func (x *recoveryTest) plain(ro *rocksdb.ReadOptions, show func(k, v []byte) string, ranges ...string) string {
	var list []string
	for _, r := range ranges {
		start, limit, bounded := strings.Cut(r, "-")
		o := *readOptions(nil)
		if ro != nil {
			o = *ro
		}
		if bounded {
			o.IterateUpperBound = []byte(limit)
		}
		it := x.db.NewIterator(&o)
		it.Seek([]byte(start))
		list = append(list, rest(it, it.Next, func(it *rocksdb.Iterator) string { return show(it.Key(), it.Value()) }))
		it.Close()
	}
	return strings.Join(list, "|")
}

func TestFieldMultiScanOverFiles(t *testing.T) { // facebook/rocksdb#13822
	x := newFieldTest(t, nil)
	for _, half := range []int{0, 50} {
		for i := half; i < half+50; i++ {
			x.put(fmt.Sprintf("key%02d", i), strings.Repeat("v", 2048))
		}
		x.flush()
		x.moveTo(6)
	}
	x.same("files", x.levels(7), "0 0 0 0 0 0 2")
	for ranges, want := range map[string]string{"key10-key90": "80", "key00-key49,key49-key50,key50-key99": "49 1 49", "key40": "60"} {
		list := strings.Split(ranges, ",")
		got := x.multiScan(nil, keyShown, list...)
		x.same(ranges, got, x.plain(nil, keyShown, list...))
		var n []string
		for _, s := range strings.Split(got, "|") {
			n = append(n, fmt.Sprint(len(strings.Fields(s))))
		}
		x.same(ranges, strings.Join(n, " "), want)
	}
}

func TestFieldMultiScanWithoutFillingCache(t *testing.T) { // facebook/rocksdb#13889
	for _, noCache := range []bool{false, true} {
		x := newFieldTest(t, func(o *rocksdb.Options, b *rocksdb.BlockBasedTableOptions) {
			b.BlockSize, b.NoBlockCache = 128, noCache
		})
		for i := range 200 {
			x.put(fmt.Sprintf("k%03d", i), "v")
		}
		x.flush()
		x.compact(true)
		ro := readOptions(func(ro *rocksdb.ReadOptions) { ro.FillCache = false })
		ranges := []string{"k010-k020", "k050-k055", "k150-k160"}
		got := x.multiScan(ro, keyShown, ranges...)
		x.same("scan", got, x.plain(ro, keyShown, ranges...))
		if n := len(strings.FieldsFunc(got, func(r rune) bool { return r == ' ' || r == '|' })); n != 25 {
			t.Error(n, "keys")
		}
		x.close()
	}
}

func TestFieldMultiScanEmptyRanges(t *testing.T) { // facebook/rocksdb#13960
	for _, level := range []int{0, 1, 6} {
		x := newFieldTest(t, nil)
		for _, keys := range []string{"d e f", "k l"} {
			for _, k := range strings.Fields(keys) {
				x.put(k, "v")
			}
			x.flush()
			if level > 0 {
				x.moveTo(level)
			}
		}
		for ranges, want := range map[string]string{"a-b,d-f,k-m": "|d e|k l", "d-e,g-h,k-l": "d||k", "a-b,g-h,x-z": "||", "A-B,a-b,g-h,l-z": "|||l"} {
			x.same(fmt.Sprint(level, ranges), x.multiScan(nil, keyShown, strings.Split(ranges, ",")...), want)
		}
		x.close()
	}
}

func TestFieldMultiScanBadRanges(t *testing.T) { // facebook/rocksdb#13974
	x := newFieldTest(t, nil)
	for _, k := range "abcdef" {
		x.put(string(k), "v")
	}
	x.flush()
	x.compact(true)
	for _, c := range []struct{ ranges, scan, prepare string }{
		{"c-a", "~at index 0", "~"}, {"c-c", "~at index 0", "~"}, {"a-c,b-d", "~at index 1", "~"}, {"d-e,a-b", "~at index 1", "~"},
		{"a-b,a-b", "~at index 1", "~"}, {"a-b,b-c", "a|b", ""}, {"a,b", "~Scan has no upper bound", "~"}, {"a-b,b", "a|b c d e f", "~Scan has no upper bound"},
		{"a,b-c", "a b c d e f|b", "~"}, {"a-c,b", "a b|b c d e f", "~"},
	} {
		ranges := strings.Split(c.ranges, ",")
		got := x.multiScan(nil, keyShown, ranges...)
		if c.scan[0] != '~' {
			x.same(c.ranges, got, c.scan)
		} else if !strings.HasPrefix(got, "~Invalid argument") || !strings.Contains(got, c.scan[1:]) {
			t.Error(c.ranges, got)
		}
		it := x.db.NewIterator(nil)
		it.Prepare(rangesOf(x.comparator(), ranges...))
		switch err := it.Status(); {
		case c.prepare == "":
			x.must(err)
		case rocksdb.CodeOf(err) != rocksdb.CodeInvalidArgument || !strings.Contains(err.Error(), c.prepare[1:]):
			t.Errorf("prepare %s: %v", c.ranges, err)
		default: // the iterator is as if it had not been prepared
			x.same("after a refusal", seek(it, "+e"), "e")
		}
		it.Close()
	}
	// No range at all, one without a start, no comparator.
	for i, args := range []*rocksdb.MultiScanArgs{rangesOf(x.comparator()), rangesOf(x.comparator()), rangesOf(nil, "a-b")} {
		if i == 1 {
			args.Insert(nil, []byte("b"))
		}
		m := x.db.NewMultiScan(nil, args)
		for scan := range m.Scans() {
			for range scan {
				t.Error("a key")
			}
		}
		if rocksdb.CodeOf(m.Err()) != rocksdb.CodeInvalidArgument {
			t.Error(i, m.Err())
		}
		m.Close()
		it := x.db.NewIterator(nil)
		if it.Prepare(args); rocksdb.CodeOf(it.Status()) != rocksdb.CodeInvalidArgument {
			t.Error(i, it.Status())
		}
		it.Close()
	}
}

func TestFieldMultiScanTimestamps(t *testing.T) { // facebook/rocksdb#14085
	x := newFieldTest(t, func(o *rocksdb.Options, b *rocksdb.BlockBasedTableOptions) {
		o.Comparator, b.BlockSize = rocksdb.BytewiseComparatorWithU64Ts(), 64
	})
	for file := range 4 {
		for i := file * 10; i < file*10+10; i++ {
			for v := uint64(1); v < 4; v++ {
				x.must(x.db.PutWithTimestamp(nil, fmt.Appendf(nil, "k%02d", i), rocksdb.EncodeU64Ts(v*10), fmt.Append(nil, "v", v)))
			}
		}
		x.flush()
		x.moveTo(1)
	}
	x.must(x.db.DeleteWithTimestamp(nil, []byte("k15"), rocksdb.EncodeU64Ts(25)))
	x.flush()
	x.same("files", x.levels(2), "1 4")
	ranges := []string{"k03-k13", "k14-k17", "k19-k21", "k35-k99"}
	pair := func(k, v []byte) string { return string(k) + "=" + string(v) }
	for ts, want := range map[uint64]int{5: 0, 10: 20, 15: 20, 20: 20, 27: 19, 30: 20, 99: 20} {
		ro := readOptions(func(ro *rocksdb.ReadOptions) { ro.Timestamp = rocksdb.EncodeU64Ts(ts) })
		got := x.multiScan(ro, pair, ranges...)
		x.same(fmt.Sprint("at ", ts), got, x.plain(ro, pair, ranges...))
		if n := strings.Count(got, "="); n != want || strings.Count(got, fmt.Sprint("=v", min(ts/10, 3))) != n {
			t.Errorf("at %d: %s", ts, got)
		}
	}
	all := readOptions(func(ro *rocksdb.ReadOptions) {
		ro.Timestamp, ro.IterStartTS = rocksdb.EncodeU64Ts(99), rocksdb.EncodeU64Ts(0)
	})
	if got := x.multiScan(all, pair, "k14-k16"); strings.Count(got, "=") != 7 || got != x.plain(all, pair, "k14-k16") {
		t.Errorf("%q", got)
	}
	if got := x.multiScan(nil, pair, "k14-k16"); !strings.HasPrefix(got, "~Invalid argument") {
		t.Error(got)
	}
}

func TestFieldPreparedSeeks(t *testing.T) { // facebook/rocksdb#14040
	x := newFieldTest(t, nil)
	for _, k := range "abcefg" {
		x.put(string(k), "v")
	}
	x.flush()
	x.compact(true)
	for i, c := range [][]string{
		{"^c", "+e", "~Seek target does not match the start of the next prepared range at index 0", "+a", "a"},
		{"^c", "+b", "~Seek target does not match the start of the next prepared range at index 0"},
		{"^c", "+a", "a", "n", "b", "n", "-", "^g", "+e", "e", "n", "f", "n", "-", "+a", "~Seek called after exhausting all of the scan ranges"},
		{"^c", "+a", "a", "+e", "~Upper bound is not set to the same limit value of the next prepared range at index 1"},
		{"+a", "~Upper bound is not set to the same limit value of the next prepared range at index 0"},
		{"<", "~No seek key for MultiScan"},
		{"-a", "~SeekForPrev called on forward MultiScan"},
		{">", "~SeekForPrev called on forward MultiScan"},
		{"^c", "+a", "a", "^g", "+e", "e"},
		{"!", "~Prepare called more than once on the same iterator"},
	} {
		it := x.db.NewIterator(nil)
		it.Prepare(rangesOf(x.comparator(), "a-c", "e-g"))
		x.must(it.Status())
		for j := 0; j < len(c); j++ {
			op := c[j]
			if op[0] == '^' {
				it.SetBounds(nil, []byte(op[1:]))
				continue
			}
			if op == "!" {
				it.Prepare(rangesOf(x.comparator(), "a-c", "e-g"))
			} else {
				seek(it, op)
			}
			j++
			if c[j][0] != '~' {
				x.same(fmt.Sprint(i, " ", op), at(it), c[j])
			} else if err := it.Status(); it.Valid() || rocksdb.CodeOf(err) != rocksdb.CodeInvalidArgument || !strings.Contains(err.Error(), c[j][1:]) {
				t.Errorf("%d, %s: %s, %v", i, op, at(it), err)
			}
		}
		it.Close()
	}
}
