// No upstream twin: DBIter against a sorted list of what it has to show.

package dbiter

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/db/seqnotime"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

// version is an entry of a key; a key's versions are kept oldest first.
type version struct {
	t     dbformat.ValueType
	value string
	seq   uint64
	ts    uint64
}

// modelEntry is a key as it is to be shown.
type modelEntry struct {
	key, value string
	ts         uint64
	internal   string // the whole internal key; with all versions shown
}

// model is the list and how far a seek opens it.
type model struct {
	cmp          rocksdb.Comparator
	entries      []modelEntry
	lower, upper []byte
	prefixLen    int // 0: iteration is not confined to the target's prefix
	at           int
	valid        bool
	prefix       string
	confined     bool
}

func (m *model) compare(a, b string) int {
	return m.cmp.CompareWithoutTimestamp([]byte(a), false, []byte(b), false)
}

func (m *model) confine(target string) {
	if m.confined = m.prefixLen > 0 && len(target) >= m.prefixLen; m.confined {
		m.prefix = target[:m.prefixLen]
	}
}

// settle tells whether the position is one to stand on.
func (m *model) settle() {
	m.valid = m.at >= 0 && m.at < len(m.entries)
	if !m.valid {
		return
	}
	k := m.entries[m.at].key
	m.valid = (m.lower == nil || m.compare(k, string(m.lower)) >= 0) && (m.upper == nil || m.compare(k, string(m.upper)) < 0) &&
		(!m.confined || strings.HasPrefix(k, m.prefix))
}

func (m *model) first(op string, target string) int {
	i := 0
	for i < len(m.entries) && (op == "seek" && m.compare(m.entries[i].key, target) < 0 || op == "seekp" && m.compare(m.entries[i].key, target) <= 0) {
		i++
	}
	return i
}

func (m *model) step(op, target string) {
	switch op {
	case "first":
		if m.lower != nil {
			m.step("seek", string(m.lower))
			return
		}
		m.at, m.confined = 0, false
		if m.settle(); m.valid {
			m.confine(m.entries[0].key)
		}
		return
	case "last":
		if m.upper != nil {
			m.step("seekp", string(m.upper))
			return
		}
		m.at, m.confined = len(m.entries)-1, false
		if m.settle(); m.valid {
			m.confine(m.entries[m.at].key)
		}
		return
	case "seek":
		m.confine(target)
		if m.lower != nil && m.compare(target, string(m.lower)) < 0 {
			target = string(m.lower)
		}
		m.at = m.first(op, target)
	case "seekp":
		m.confine(target)
		if m.upper != nil && m.compare(target, string(m.upper)) >= 0 {
			m.at = m.first("seek", string(m.upper)) - 1
		} else {
			m.at = m.first(op, target) - 1
		}
	case "next":
		m.at++
	case "prev":
		m.at--
	}
	m.settle()
}

// show gives what a key's versions amount to at a sequence number and a
// timestamp.
func show(versions []version, seq, ts uint64) (value string, at uint64, ok bool) {
	var operands []string
	merging := false
	for _, v := range versions {
		if v.seq > seq || v.ts > ts {
			continue
		}
		at = v.ts
		switch v.t {
		case dbformat.TypeValue, dbformat.TypeValuePreferredSeqno:
			operands, merging, ok = []string{v.value}, false, true
		case dbformat.TypeMerge:
			operands, merging, ok = append(operands, v.value), true, true
		default:
			operands, merging, ok = nil, false, false
		}
	}
	_ = merging
	return strings.Join(operands, ","), at, ok
}

func tsBytes(ts uint64) string { return string(binary.LittleEndian.AppendUint64(nil, ts)) }

type modelCase struct {
	withTS  bool
	reverse bool
	all     bool // IterStartTS: all versions are shown
}

// showAll gives the versions of a key in a range of timestamps, newest first:
// of those with the same timestamp the one of the greatest sequence number.
func showAll(key string, versions []version, seq, from, to uint64) (entries []modelEntry) {
	for _, v := range slices.Backward(versions) {
		if v.seq > seq || v.ts > to || v.ts < from || len(entries) > 0 && entries[len(entries)-1].ts == v.ts {
			continue
		}
		value := v.value
		if isDeletion(v.t) {
			value = ""
		}
		internal := dbformat.AppendInternalKey(nil, []byte(key+tsBytes(v.ts)), v.seq, v.t)
		entries = append(entries, modelEntry{key, value, v.ts, string(internal)})
	}
	return entries
}

func comparatorOf(c modelCase) rocksdb.Comparator {
	switch {
	case c.withTS && c.reverse:
		return util.ReverseBytewiseComparatorWithU64Ts()
	case c.withTS:
		return util.BytewiseComparatorWithU64Ts()
	case c.reverse:
		return util.ReverseBytewiseComparator()
	}
	return util.BytewiseComparator()
}

// drawIterator makes a random iterator and its model.
func drawIterator(rt *rapid.T, c modelCase) (*DBIter, *testIterator, *model) {
	keys := rapid.SliceOfNDistinct(rapid.StringMatching("[abc]{1,3}"), 0, 8, rapid.ID).Draw(rt, "keys")
	inner := newTestIteratorOf(comparatorOf(c))
	inner.unpinned = rapid.Bool().Draw(rt, "unpinned")
	all := map[string][]version{}
	var newest uint64
	tsOf := map[string]uint64{}
	if len(keys) > 0 {
		types := []dbformat.ValueType{dbformat.TypeValue, dbformat.TypeValue, dbformat.TypeDeletion, dbformat.TypeSingleDeletion,
			dbformat.TypeMerge, dbformat.TypeValuePreferredSeqno}
		if c.withTS {
			types[2] = dbformat.TypeDeletionWithTimestamp
		}
		if c.all {
			types[4] = dbformat.TypeValue // no merges
		}
		newest = rapid.Uint64Range(0, 1).Draw(rt, "first seq")
		zeroes := 0 // at the bottom all sequence numbers are 0, timestamps tell versions apart
		if c.withTS {
			zeroes = rapid.IntRange(0, 10).Draw(rt, "zeroes")
		}
		for i := range rapid.IntRange(0, 40).Draw(rt, "versions") {
			key := rapid.SampledFrom(keys).Draw(rt, "key")
			v := version{t: rapid.SampledFrom(types).Draw(rt, "type"), value: fmt.Sprint("v", i), seq: newest}
			stored := key
			if i < zeroes {
				v.seq = 0
				newest = 0
				tsOf[key]++
			}
			newest++
			if c.withTS {
				tsOf[key] += rapid.Uint64Range(0, 2).Draw(rt, "ts step")
				v.ts = tsOf[key]
				stored += tsBytes(v.ts)
			}
			value := v.value
			if v.t == dbformat.TypeValuePreferredSeqno {
				value = string(seqnotime.PackValueAndWriteTime(nil, []byte(value), 5))
			}
			inner.addAt(stored, v.t, value, v.seq, false)
			all[key] = append(all[key], v)
		}
	}
	inner.finish()

	m := &model{cmp: comparatorOf(c)}
	seq := rapid.Uint64Range(0, newest+1).Draw(rt, "seq")
	readTS := ^uint64(0)
	var options []iterOptions
	options = append(options, maxSequentialSkip(rapid.Uint64Range(0, 9).Draw(rt, "max sequential skip")))
	if c.withTS {
		readTS = rapid.Uint64Range(0, 12).Draw(rt, "read ts")
		options = append(options, func(_ *Config, ro *rocksdb.ReadOptions) { ro.Timestamp = []byte(tsBytes(readTS)) })
	}
	startTS := uint64(0)
	if c.all {
		startTS = rapid.Uint64Range(0, 8).Draw(rt, "start ts")
		options = append(options, func(_ *Config, ro *rocksdb.ReadOptions) { ro.IterStartTS = []byte(tsBytes(startTS)) })
	}
	if rapid.Bool().Draw(rt, "pin") && !inner.unpinned {
		options = append(options, func(_ *Config, ro *rocksdb.ReadOptions) { ro.PinData = true })
	}
	if rapid.IntRange(0, 2).Draw(rt, "lower") == 0 {
		m.lower = []byte(rapid.StringMatching("[abc]{1,2}").Draw(rt, "lower bound"))
		options = append(options, lowerBound(string(m.lower)))
	}
	if rapid.IntRange(0, 2).Draw(rt, "upper") == 0 {
		m.upper = []byte(rapid.StringMatching("[abc]{1,2}").Draw(rt, "upper bound"))
		options = append(options, upperBound(string(m.upper)))
	}
	switch rapid.IntRange(0, 3).Draw(rt, "prefix mode") {
	case 0: // an extractor that confines nothing
		options = append(options, func(c *Config, _ *rocksdb.ReadOptions) { c.PrefixExtractor = util.NewFixedPrefixTransform(1) })
	case 1:
		m.prefixLen = 1
		options = append(options, func(c *Config, ro *rocksdb.ReadOptions) {
			c.PrefixExtractor = util.NewFixedPrefixTransform(1)
			ro.PrefixSameAsStart = true
		})
	}
	if rapid.Bool().Draw(rt, "perf") {
		options = append(options, withPerf(&rocksdb.PerfContext{Level: rocksdb.EnableTime}))
	}
	for key, versions := range all {
		if c.all {
			m.entries = append(m.entries, showAll(key, versions, seq, startTS, readTS)...)
			continue
		}
		if value, ts, ok := show(versions, seq, readTS); ok {
			m.entries = append(m.entries, modelEntry{key, value, ts, ""})
		}
	}
	slices.SortStableFunc(m.entries, func(a, b modelEntry) int { return m.compare(a.key, b.key) })
	return New(defaultConfig(inner, inner.icmp, seq, options...)), inner, m
}

func TestDBIter_Model(t *testing.T) {
	for _, c := range []modelCase{{false, false, false}, {false, true, false}, {true, false, false}, {true, true, false},
		{true, false, true}, {true, true, true}} {
		t.Run(fmt.Sprintf("timestamps=%v,reverse=%v,versions=%v", c.withTS, c.reverse, c.all), func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) { checkModel(rt, c) })
		})
	}
}

func checkModel(rt *rapid.T, c modelCase) {
	d, _, m := drawIterator(rt, c)
	defer func() {
		if err := d.Close(); err != nil {
			rt.Fatal(err)
		}
	}()
	for range rapid.IntRange(1, 25).Draw(rt, "steps") {
		ops := []string{"first", "last", "seek", "seekp"}
		if m.valid {
			ops = []string{"next", "next", "next", "prev", "prev", "prev", "seek", "seekp", "first", "last"}
		}
		op := rapid.SampledFrom(ops).Draw(rt, "op")
		target := ""
		if op == "seek" || op == "seekp" {
			target = rapid.StringMatching("[abc]{0,3}").Draw(rt, "target")
		}
		m.step(op, target)
		switch op {
		case "first":
			d.SeekToFirst()
		case "last":
			d.SeekToLast()
		case "seek":
			d.Seek([]byte(target))
		case "seekp":
			d.SeekForPrev([]byte(target))
		case "next":
			d.Next()
		case "prev":
			d.Prev()
		}
		if d.Status() != nil {
			rt.Fatal(d.Status())
		}
		if d.Valid() != m.valid {
			rt.Fatalf("%s %q: valid %v, want %v; entries %v at %d", op, target, d.Valid(), m.valid, m.entries, m.at)
		}
		if !m.valid {
			continue
		}
		want := m.entries[m.at]
		wantKey := want.key
		if c.all {
			wantKey = want.internal
		}
		if string(d.Key()) != wantKey || string(d.Value()) != want.value {
			rt.Fatalf("%s %q: %q=%q, want %v of %v", op, target, d.Key(), d.Value(), want, m.entries)
		}
		if c.withTS && !bytes.Equal(d.Timestamp(), []byte(tsBytes(want.ts))) {
			rt.Fatalf("%s %q: key %q has timestamp %x, want %x", op, target, d.Key(), d.Timestamp(), tsBytes(want.ts))
		}
	}
}

// Whenever the inner iterator fails, the iterator is invalid and says why; the
// next seek begins anew.
func TestDBIter_InnerErrors(t *testing.T) {
	bad := rocksdb.IOError("the disk is gone")
	rapid.Check(t, func(rt *rapid.T) {
		d, inner, m := drawIterator(rt, modelCase{})
		defer d.Close()
		inner.err = bad
		inner.failAt = rapid.IntRange(0, 20).Draw(rt, "fail at")
		d.SeekToFirst()
		m.step("first", "")
		backward := rapid.Bool().Draw(rt, "backward")
		if backward {
			d.SeekToLast()
			m.step("last", "")
		}
		for d.Valid() && d.Status() == nil {
			if m.valid && (string(d.Key()) != m.entries[m.at].key || string(d.Value()) != m.entries[m.at].value) {
				rt.Fatalf("%q=%q, want %v", d.Key(), d.Value(), m.entries[m.at])
			}
			if backward {
				d.Prev()
				m.step("prev", "")
			} else {
				d.Next()
				m.step("next", "")
			}
		}
		if d.Valid() {
			rt.Fatal("valid with an error")
		}
		if inner.failed != (d.Status() != nil) || d.Status() != nil && !errors.Is(d.Status(), rocksdb.ErrIOError) {
			rt.Fatalf("inner failed %v, status %v", inner.failed, d.Status())
		}
		if !inner.failed && m.valid {
			rt.Fatalf("ended before %v", m.entries[m.at])
		}
		inner.err = nil
		d.SeekToFirst()
		m.step("first", "")
		if d.Status() != nil || d.Valid() != m.valid || m.valid && string(d.Key()) != m.entries[m.at].key {
			rt.Fatalf("after the error: %v, %v", d.Valid(), d.Status())
		}
	})
}

// A key too short for its footer or its timestamp, or of a type that is none,
// is a corruption in both directions.
func TestDBIter_BadKeys(t *testing.T) {
	for _, c := range []struct {
		cmp rocksdb.Comparator
		key []byte
	}{
		{util.BytewiseComparator(), dbformat.AppendInternalKey(nil, []byte("b"), 1, dbformat.TypeLogData)},
		{util.BytewiseComparator(), dbformat.AppendInternalKey(nil, []byte("b"), 1, dbformat.TypeRangeDeletion)},
		{util.BytewiseComparatorWithU64Ts(), dbformat.AppendInternalKey(nil, []byte("b"), 1, dbformat.TypeValue)},
	} {
		for _, script := range []string{"first", "last", "seek:a", "seekp:c"} {
			inner := newTestIteratorOf(c.cmp)
			inner.data = []entry{{c.key, []byte("v")}}
			d := New(defaultConfig(noCompare{inner}, inner.icmp, 10))
			if c.cmp.TimestampSize() > 0 {
				d.ro.Timestamp = []byte(tsBytes(9))
			}
			run(t, d, script)
			if d.Valid() || !errors.Is(d.Status(), rocksdb.ErrCorruption) {
				t.Fatalf("%s over %x: %v, %v", script, c.key, d.Valid(), d.Status())
			}
			if err := d.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// noCompare seeks to the only entry without looking at it.
type noCompare struct{ *testIterator }

func (n noCompare) Seek([]byte)        { n.SeekToFirst() }
func (n noCompare) SeekForPrev([]byte) { n.SeekToLast() }

func TestDBIter_MergeWithoutOperator(t *testing.T) {
	for _, script := range []string{"first", "last"} {
		it := newIterTest(t, newTestIterator().load("merge a 1"), 10, noMerger)
		it.run(script)
		if it.Valid() || !errors.Is(it.Status(), rocksdb.ErrInvalidArgument) {
			t.Fatalf("%s: %v, %v", script, it.Valid(), it.Status())
		}
	}
}

func TestDBIter_PreparedScans(t *testing.T) {
	prepare := func(it iterTest, reverse bool, ranges ...string) {
		args := rocksdb.DefaultMultiScanArgs(util.BytewiseComparator())
		args.Reverse = reverse
		for i := 0; i < len(ranges); i += 2 {
			var limit []byte
			if ranges[i+1] != "" {
				limit = []byte(ranges[i+1])
			}
			args.Insert([]byte(ranges[i]), limit)
		}
		it.Prepare(&args)
	}
	refused := func(it iterTest, script string) {
		t.Helper()
		it.run(script)
		if it.Valid() || !errors.Is(it.Status(), rocksdb.ErrInvalidArgument) {
			t.Fatalf("%s: %v, %v", script, it.Valid(), it.Status())
		}
	}
	const entries = "put a 1; put b 2; put c 3; put d 4"
	it := newIterTest(t, newTestIterator().load(entries), 10, upperBound("c"))
	prepare(it, false, "a", "c", "c", "e")
	it.run("seek:a a; next b; next end")
	refused(it, "seek:c") // the bound is not that of the second range
	refused(it, "seekp:c")
	it = newIterTest(t, newTestIterator().load(entries), 10)
	prepare(it, false, "b", "")
	refused(it, "seek:a")
	it.run("seek:b b; next c")
	refused(it, "seek:b")
	it = newIterTest(t, newTestIterator().load(entries), 10, lowerBound("b"), upperBound("d"))
	prepare(it, true, "b", "d")
	refused(it, "seek:b")
	it.run("seekp:d c; prev b; prev end")
	refused(it, "seekp:d")
	for _, ranges := range [][]string{{}, {"a", "", "b", "c"}, {"b", "a"}, {"a", "a"}, {"a", "c", "b", "d"}, {"a", "b", "c", ""}} {
		it := newIterTest(t, newTestIterator().load(entries), 10)
		prepare(it, false, ranges...)
		if !errors.Is(it.Status(), rocksdb.ErrInvalidArgument) {
			t.Errorf("%q: %v", ranges, it.Status())
		}
	}
}

// Steps take no memory of the heap once warm.
func TestDBIter_Allocations(t *testing.T) {
	inner := newTestIterator()
	for i := range 100 {
		inner.add(fmt.Sprintf("key%03d", i), dbformat.TypeValue, "value")
	}
	inner.finish()
	it := newIterTest(t, inner, 1000)
	key := []byte("key050")
	for name, f := range map[string]func(){
		"next": func() { it.Seek(key); it.Next(); it.Next() },
		"prev": func() { it.SeekForPrev(key); it.Prev(); it.Prev() },
		"turn": func() { it.Seek(key); it.Prev(); it.Next() },
	} {
		f()
		if n := testing.AllocsPerRun(50, f); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

func TestDBIter_VersionsRefuseMerges(t *testing.T) {
	for _, script := range []string{"first", "last"} {
		inner := newTestIteratorOf(util.BytewiseComparatorWithU64Ts())
		inner.add("a"+tsBytes(5), dbformat.TypeMerge, "1")
		it := newIterTest(t, inner, 10, func(_ *Config, ro *rocksdb.ReadOptions) {
			ro.Timestamp, ro.IterStartTS = []byte(tsBytes(9)), []byte(tsBytes(1))
		})
		it.run(script)
		if it.Valid() || !errors.Is(it.Status(), rocksdb.ErrNotSupported) {
			t.Fatalf("%s: %v, %v", script, it.Valid(), it.Status())
		}
	}
}
