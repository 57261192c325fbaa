// Port of db/db_iter_test.cc (TestIterator and the fixtures).

package dbiter

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/db/merge"
	"github.com/rocksdb-go/rocksdb/db/seqnotime"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/table/internaliter"
	"github.com/rocksdb-go/rocksdb/util"
	"github.com/rocksdb-go/rocksdb/utilities/merge_operators"
)

type entry struct {
	key   dbformat.InternalKey
	value []byte
}

// testIterator walks internal keys in memory, which can be added and taken
// away while it is walked.
type testIterator struct {
	internaliter.Base
	icmp            *dbformat.InternalKeyComparator
	data            []entry
	at              int
	valid           bool
	seq             uint64
	steps           int
	prepares        int
	deleteCurrent   bool
	unpinned        bool  // what it gives is gone when it moves
	err             error // of any move from failAt steps on
	failAt          int
	failed          bool
	afterSeekBefore func() // runs at the end of SeekForPrev
	keyBuf          []byte
	valueBuf        []byte
}

func newTestIterator() *testIterator {
	return newTestIteratorOf(util.BytewiseComparator())
}

func newTestIteratorOf(c rocksdb.Comparator) *testIterator {
	return &testIterator{icmp: dbformat.NewInternalKeyComparator(c)}
}

// add adds an entry with the next sequence number. Call finish afterwards.
func (it *testIterator) add(key string, t dbformat.ValueType, value string) {
	it.addAt(key, t, value, it.seq, false)
	it.seq++
}

// addAt adds an entry; with update one before the present entry leaves the
// iterator on the latter.
func (it *testIterator) addAt(key string, t dbformat.ValueType, value string, seq uint64, update bool) {
	it.valid = true
	e := entry{dbformat.NewInternalKey([]byte(key), seq, t), []byte(value)}
	before := update && it.at < len(it.data) && it.icmp.Compare(e.key, it.data[it.at].key) < 0
	it.data = append(it.data, e)
	if before {
		it.finish()
		it.at++
	}
}

func (it *testIterator) finish() {
	slices.SortFunc(it.data, func(a, b entry) int { return it.icmp.Compare(a.key, b.key) })
}

// vanish takes the entry of a user key away; the present one goes at the next
// move.
func (it *testIterator) vanish(key string) {
	for i := range it.data {
		if string(it.data[i].key.UserKey()) != key {
			continue
		}
		if it.valid && it.at > i {
			it.at--
		}
		it.data = slices.Delete(it.data, i, i+1)
		return
	}
	panic("no such key")
}

// move counts a move and tells whether it fails.
func (it *testIterator) move(seek bool) bool {
	it.steps++
	it.failed = it.err != nil && it.steps > it.failAt || it.failed && !seek
	if it.deleteCurrent {
		it.data = slices.Delete(it.data, it.at, it.at+1)
		it.deleteCurrent = false
	}
	if it.unpinned {
		for _, b := range [][]byte{it.keyBuf, it.valueBuf} {
			for i := range b {
				b[i] = 0xdd
			}
		}
	}
	if it.failed {
		it.valid = false
	}
	return it.failed
}

func (it *testIterator) Valid() bool { return it.valid }
func (it *testIterator) SeekToFirst() {
	if !it.move(true) {
		it.at, it.valid = 0, len(it.data) > 0
	}
}
func (it *testIterator) SeekToLast() {
	if !it.move(true) {
		it.at, it.valid = len(it.data)-1, len(it.data) > 0
	}
}
func (it *testIterator) Seek(target []byte) {
	if !it.move(true) {
		it.seek(target)
	}
}
func (it *testIterator) seek(target []byte) {
	for it.at = 0; it.at < len(it.data) && it.icmp.Compare(it.data[it.at].key, target) < 0; {
		it.at++
	}
	it.valid = it.at < len(it.data)
}
func (it *testIterator) SeekForPrev(target []byte) {
	if it.move(true) {
		return
	}
	it.seek(target)
	if !it.valid {
		it.at = len(it.data)
	}
	if !it.valid || it.icmp.Compare(it.data[it.at].key, target) > 0 {
		it.at--
	}
	it.valid = it.at >= 0
	if it.afterSeekBefore != nil {
		it.afterSeekBefore()
	}
}
func (it *testIterator) Next() {
	if !it.valid {
		panic("Next of an invalid iterator")
	}
	gone := it.deleteCurrent
	if it.move(false) {
		return
	}
	if !gone {
		it.at++
	}
	it.valid = it.at < len(it.data)
}
func (it *testIterator) Prev() {
	if !it.valid {
		panic("Prev of an invalid iterator")
	}
	if it.move(false) {
		return
	}
	it.at--
	it.valid = it.at >= 0
}
func (it *testIterator) NextAndGetResult(res *internaliter.IterateResult) bool {
	it.Next()
	if it.valid {
		*res = internaliter.IterateResult{Key: it.Key(), ValuePrepared: true}
	}
	return it.valid
}
func (it *testIterator) Key() []byte {
	if it.unpinned {
		it.keyBuf = append(it.keyBuf[:0], it.data[it.at].key...)
		return it.keyBuf
	}
	return it.data[it.at].key
}
func (it *testIterator) UserKey() []byte { return dbformat.ExtractUserKey(it.Key()) }
func (it *testIterator) Value() []byte {
	if it.unpinned {
		it.valueBuf = append(it.valueBuf[:0], it.data[it.at].value...)
		return it.valueBuf
	}
	return it.data[it.at].value
}
func (it *testIterator) Status() error {
	if it.failed {
		return it.err
	}
	return nil
}
func (it *testIterator) IsKeyPinned() bool   { return !it.unpinned }
func (it *testIterator) IsValuePinned() bool { return !it.unpinned }
func (it *testIterator) Prepare(opts any)    { it.prepares++ }

// joinMerger joins what there is by commas.
type joinMerger struct{ m merge.FullMerge }

func (j *joinMerger) FullMerge(key []byte, kind merge.BaseValueKind, base []byte, operands [][]byte) ([]byte, dbformat.ValueType, error) {
	j.m.Operator = mergeoperators.NewStringAppendOperator(",")
	j.m.Key, j.m.Base, j.m.Value, j.m.Operands = key, kind, base, operands
	return j.m.Result()
}

// iterTest is a DBIter over a testIterator, driven by scripts.
type iterTest struct {
	*testing.T
	*DBIter
	inner *testIterator
}

// load adds entries written as "put a val; del b; sdel b; merge a 1; timed a 1".
func (it *testIterator) load(entries string) *testIterator {
	for _, line := range strings.Split(entries, ";") {
		f := strings.Fields(line)
		if len(f) == 0 {
			continue
		}
		value := ""
		if len(f) > 2 {
			value = f[2]
		}
		switch f[0] {
		case "put":
			it.add(f[1], dbformat.TypeValue, value)
		case "timed":
			it.add(f[1], dbformat.TypeValuePreferredSeqno, string(seqnotime.PackValueAndWriteTime(nil, []byte(value), 0)))
		case "del":
			it.add(f[1], dbformat.TypeDeletion, "")
		case "sdel":
			it.add(f[1], dbformat.TypeSingleDeletion, "")
		case "merge":
			it.add(f[1], dbformat.TypeMerge, value)
		default:
			panic(line)
		}
	}
	it.finish()
	return it
}

// iterOptions change a Config; ro is the config's own.
type iterOptions func(c *Config, ro *rocksdb.ReadOptions)

func defaultConfig(inner internaliter.InternalIterator, icmp *dbformat.InternalKeyComparator, seq uint64, options ...iterOptions) *Config {
	ro := rocksdb.DefaultReadOptions()
	c := &Config{ReadOptions: &ro, Comparator: icmp, Iter: inner, Sequence: seq, MaxSequentialSkip: 8, Merger: &joinMerger{}}
	for _, o := range options {
		o(c, &ro)
	}
	return c
}

func newIterTest(t *testing.T, inner *testIterator, seq uint64, options ...iterOptions) iterTest {
	t.Helper()
	d := New(defaultConfig(inner, inner.icmp, seq, options...))
	t.Cleanup(func() {
		if err := d.Close(); err != nil && inner.err == nil {
			t.Error(err)
		}
	})
	return iterTest{t, d, inner}
}

func upperBound(key string) iterOptions {
	return func(_ *Config, ro *rocksdb.ReadOptions) { ro.IterateUpperBound = []byte(key) }
}
func lowerBound(key string) iterOptions {
	return func(_ *Config, ro *rocksdb.ReadOptions) { ro.IterateLowerBound = []byte(key) }
}
func maxSequentialSkip(n uint64) iterOptions {
	return func(c *Config, _ *rocksdb.ReadOptions) { c.MaxSequentialSkip = n }
}
func maxSkippable(n uint64) iterOptions {
	return func(_ *Config, ro *rocksdb.ReadOptions) { ro.MaxSkippableInternalKeys = n }
}
func withPerf(p *rocksdb.PerfContext) iterOptions {
	return func(_ *Config, ro *rocksdb.ReadOptions) { ro.PerfContext = p }
}

// run moves the iterator and checks where it stands, by a script as "first a=1;
// next b=2; prev end; seek:b c; last incomplete". A key without "=" leaves its
// value unchecked, "end" is invalid without error, "incomplete" with that
// error, and nothing checks nothing.
func (it iterTest) run(script string) {
	it.Helper()
	run(it.T, it.DBIter, script)
}

func run(t *testing.T, d *DBIter, script string) {
	t.Helper()
	for i, line := range strings.Split(script, ";") {
		f := strings.Fields(line)
		if len(f) == 0 {
			continue
		}
		op, target, _ := strings.Cut(f[0], ":")
		switch op {
		case "first":
			d.SeekToFirst()
		case "last":
			d.SeekToLast()
		case "next":
			d.Next()
		case "prev":
			d.Prev()
		case "seek":
			d.Seek([]byte(target))
		case "seekp":
			d.SeekForPrev([]byte(target))
		default:
			t.Fatalf("step %q", line)
		}
		if len(f) == 1 {
			continue
		}
		switch f[1] {
		case "end":
			if d.Valid() || d.Status() != nil {
				t.Fatalf("step %d (%s): valid %v, %v", i, line, d.Valid(), d.Status())
			}
			continue
		case "incomplete":
			if d.Valid() || !errors.Is(d.Status(), rocksdb.ErrIncomplete) {
				t.Fatalf("step %d (%s): valid %v, %v", i, line, d.Valid(), d.Status())
			}
			continue
		}
		key, value, checkValue := strings.Cut(f[1], "=")
		if !d.Valid() {
			t.Fatalf("step %d (%s): not valid, %v", i, line, d.Status())
		}
		if string(d.Key()) != key || checkValue && string(d.Value()) != value {
			t.Fatalf("step %d (%s): %q=%q", i, line, d.Key(), d.Value())
		}
	}
}
