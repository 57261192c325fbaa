// Port of db/db_iterator_test.cc (DBIteratorTest and its read callback).

package db_test

import (
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/db/db_impl"
	contract "github.com/rocksdb-go/rocksdb/include/rocksdb"
	blockbased "github.com/rocksdb-go/rocksdb/table/block_based"
	"github.com/rocksdb-go/rocksdb/utilities/merge_operators"
)

// seenUpTo is a read callback to which everything up to it is visible.
type seenUpTo struct{ seq contract.SequenceNumber }

func (c *seenUpTo) IsVisible(seq contract.SequenceNumber) bool { return seq <= c.seq }
func (c *seenUpTo) MaxVisibleSeq() contract.SequenceNumber     { return c.seq }
func (c *seenUpTo) Refresh(seq contract.SequenceNumber)        { c.seq = seq }

// iterTest runs a case with iterators with and without a read callback.
type iterTest struct {
	*dbTest
	callback bool
}

func eachCallback(t *testing.T, f func(x *iterTest)) {
	t.Helper()
	for name, callback := range map[string]bool{"read_callback=false": false, "read_callback=true": true} {
		t.Run(name, func(t *testing.T) { f(&iterTest{newDBTest(t), callback}) })
	}
}

// testIter is an iterator under test.
type testIter struct {
	*dbimpl.Iterator
	x *dbTest
}

func readOptions(set ...func(ro *contract.ReadOptions)) *contract.ReadOptions {
	ro := contract.DefaultReadOptions()
	for _, f := range set {
		f(&ro)
	}
	return &ro
}

func upperBound(key string) func(*contract.ReadOptions) {
	return func(ro *contract.ReadOptions) { ro.IterateUpperBound = []byte(key) }
}

func lowerBound(key string) func(*contract.ReadOptions) {
	return func(ro *contract.ReadOptions) { ro.IterateLowerBound = []byte(key) }
}

func atSnapshot(s contract.Snapshot) func(*contract.ReadOptions) {
	return func(ro *contract.ReadOptions) { ro.Snapshot = s }
}

// iter makes an iterator over a family, closed at the test's end if not before.
func (x *dbTest) iter(cf int, set ...func(*contract.ReadOptions)) testIter {
	it := testIter{x.full().NewIterator(readOptions(set...), x.cf(cf).Impl()), x}
	x.toClose = append(x.toClose, it)
	return it
}

// iter makes an iterator, with the callback where the parameter says so.
func (x *iterTest) iter(cf int, set ...func(*contract.ReadOptions)) testIter {
	if !x.callback {
		return x.dbTest.iter(cf, set...)
	}
	ro := readOptions(set...)
	seq := x.full().GetLatestSequenceNumber()
	if ro.Snapshot != nil {
		seq = ro.Snapshot.GetSequenceNumber()
	}
	it := testIter{x.full().NewIteratorImpl(ro, x.cf(cf).Impl(), seq, &seenUpTo{seq}), x.dbTest}
	x.toClose = append(x.toClose, it)
	return it
}

// walk takes steps and checks where they lead: "first", "last", "next", "prev",
// "seek K", "for-prev K" move; "K->V" is the entry stood on, "=K" its key, and
// "(invalid)" no entry and no error.
func (it testIter) walk(steps ...string) {
	it.x.Helper()
	done := ""
	for _, s := range steps {
		done += " " + shorten(s)
		op, arg, _ := strings.Cut(s, " ")
		switch {
		case s == "first":
			it.SeekToFirst()
		case s == "last":
			it.SeekToLast()
		case s == "next":
			it.Next()
		case s == "prev":
			it.Prev()
		case op == "seek":
			it.Seek([]byte(arg))
		case op == "for-prev":
			it.SeekForPrev([]byte(arg))
		default:
			got := it.at()
			if strings.HasPrefix(s, "=") && it.Valid() {
				got = "=" + string(it.Key())
			}
			if err := it.Status(); err != nil {
				it.x.Fatalf("%s: %v", done, err)
			}
			if got != s {
				it.x.Fatalf("%s: at %.100q", done, got)
			}
		}
	}
}

func shorten(s string) string { return s[:min(len(s), 100)] }

// at is the entry, or "(invalid)".
func (it testIter) at() string {
	if !it.Valid() {
		return "(invalid)"
	}
	return string(it.Key()) + "->" + string(it.Value())
}

// wantProperty checks a property of the iterator.
func (it testIter) wantProperty(name, want string) {
	it.x.Helper()
	if got, err := it.GetProperty("rocksdb.iterator." + name); err != nil || got != want {
		it.x.Fatalf("%s: %q, %v", name, got, err)
	}
}

// wantIncomplete wants the iterator to have ended for want of I/O or steps.
func (it testIter) wantError(is func(error) bool) {
	it.x.Helper()
	if it.Valid() || !is(it.Status()) {
		it.x.Fatalf("%s, %v", it.at(), it.Status())
	}
}

// count counts the entries, forwards or backwards.
func (it testIter) count(backwards bool) (n int) {
	it.x.Helper()
	if backwards {
		for it.SeekToLast(); it.Valid(); it.Prev() {
			n++
		}
	} else {
		for it.SeekToFirst(); it.Valid(); it.Next() {
			n++
		}
	}
	return n
}

// puts writes pairs of keys and values, where "flush" in a key's place flushes.
func (x *dbTest) puts(cf int, pairs ...string) {
	x.Helper()
	for i := 0; i < len(pairs); i++ {
		if pairs[i] == "flush" {
			x.flush(cf)
			continue
		}
		x.mustPut(cf, pairs[i], pairs[i+1])
		i++
	}
}

func (x *dbTest) deleteRange(cf int, begin, end string) {
	x.Helper()
	x.must(x.cf(cf).DeleteRange(nil, []byte(begin), []byte(end)))
}

// ticker reads a ticker of the options last opened with.
func (x *dbTest) ticker(t contract.Ticker) int {
	return int(x.last.Statistics.GetTickerCount(t))
}

func (x *dbTest) wantTicker(t contract.Ticker, want int) {
	x.Helper()
	if got := x.ticker(t); got != want {
		x.Fatalf("%v is %d, not %d", t, got, want)
	}
}

// blockTable are options with a changed block based table.
func blockTable(o contract.Options, set func(t *contract.BlockBasedTableOptions)) contract.Options {
	t := contract.DefaultBlockBasedTableOptions()
	set(&t)
	o.TableFactory = rocksdb.NewBlockBasedTableFactory(t)
	return o
}

// blockAKey puts each entry into a block of its own.
func blockAKey(t *contract.BlockBasedTableOptions) {
	t.FlushBlockPolicyFactory = blockbased.FlushBlockEveryKeyPolicyFactory{}
}

// mergeOperator gives an operator by name.
func (x *dbTest) mergeOperator(name string) contract.MergeOperator {
	x.Helper()
	m, err := mergeoperators.New(name)
	x.must(err)
	return m
}

// isBlockedOnSeekToLast tells of the configurations that cannot go backwards.
func (x *dbTest) noBackwards() bool {
	switch x.config {
	case configMergePut, configPlainTableAllBytesPrefix, configBlockBasedTableWithWholeKeyHashIndex, configHashLinkList, configHashSkipList:
		return true
	}
	return false
}
