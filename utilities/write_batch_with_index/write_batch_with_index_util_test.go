// Port of utilities/write_batch_with_index/write_batch_with_index_test.cc: what
// the cases share.

package writebatchwithindex_test

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/db/writebatch"
	mergeoperators "github.com/rocksdb-go/rocksdb/utilities/merge_operators"
)

// dummyHandle names a family of no database.
type dummyHandle struct {
	id  uint32
	cmp rocksdb.Comparator
}

func (h *dummyHandle) GetName() string                                              { return strconv.Itoa(int(h.id)) }
func (h *dummyHandle) GetID() uint32                                                { return h.id }
func (h *dummyHandle) GetComparator() rocksdb.Comparator                            { return h.cmp }
func (h *dummyHandle) GetDescriptor() (d rocksdb.ColumnFamilyDescriptor, err error) { return d, nil }

// kvMap is a sorted map.
type kvMap map[string]string

func (m kvMap) keys() []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// kvIter is an iterator over a kvMap as it is when it is positioned.
type kvIter struct {
	m           kvMap
	keys        []string
	at          int
	unprepared  bool // values want PrepareValue
	failPrepare bool
	prepared    bool
	err         error
}

func newKVIter(m kvMap) *kvIter { return &kvIter{m: m, at: -1} }

func (i *kvIter) move(at int) {
	i.at, i.prepared, i.err = at, !i.unprepared, nil
}

func (i *kvIter) find(target []byte) (int, bool) {
	i.keys = i.m.keys()
	return slices.BinarySearch(i.keys, string(target))
}

func (i *kvIter) Valid() bool   { return i.err == nil && i.at >= 0 && i.at < len(i.keys) }
func (i *kvIter) Status() error { return i.err }
func (i *kvIter) SeekToFirst()  { i.find(nil); i.move(0) }
func (i *kvIter) SeekToLast()   { i.find(nil); i.move(len(i.keys) - 1) }
func (i *kvIter) Seek(target []byte) {
	at, _ := i.find(target)
	i.move(at)
}
func (i *kvIter) SeekForPrev(target []byte) {
	at, ok := i.find(target)
	if !ok {
		at--
	}
	i.move(at)
}
func (i *kvIter) Next()       { i.move(i.at + 1) }
func (i *kvIter) Prev()       { i.move(i.at - 1) }
func (i *kvIter) Key() []byte { return []byte(i.keys[i.at]) }
func (i *kvIter) Value() []byte {
	if !i.prepared {
		return nil
	}
	return []byte(i.m[i.keys[i.at]])
}
func (i *kvIter) Columns() rocksdb.WideColumns {
	return rocksdb.WideColumns{{Name: []byte{}, Value: i.Value()}}
}
func (i *kvIter) PrepareValue() bool {
	if i.unprepared && i.failPrepare {
		i.err = rocksdb.Corruption("PrepareValue() failed")
		return false
	}
	i.prepared = true
	return true
}
func (i *kvIter) Timestamp() []byte                  { return nil }
func (i *kvIter) SetBounds([]byte, []byte)           {}
func (i *kvIter) Refresh(rocksdb.Snapshot) error     { return nil }
func (i *kvIter) GetProperty(string) (string, error) { return "", nil }
func (i *kvIter) Close() error                       { return nil }

// wbwiTest is a batch under test and, once opened, a database.
type wbwiTest struct {
	*testing.T
	overwrite bool
	o         rocksdb.Options
	ro        rocksdb.ReadOptions
	db        *rocksdb.DB
	batch     *rocksdb.WriteBatchWithIndex
}

func newWBWITest(t *testing.T, overwrite bool) *wbwiTest {
	t.Helper()
	x := &wbwiTest{T: t, overwrite: overwrite, o: rocksdb.DefaultOptions(), ro: rocksdb.DefaultReadOptions()}
	x.o.CreateIfMissing = true
	x.o.MergeOperator = mergeoperators.NewStringAppendOperator(",")
	x.batch = x.newBatch(rocksdb.WriteBatchWithIndexOptions{ReservedBytes: 20, OverwriteKey: overwrite})
	t.Cleanup(func() {
		x.checkCount()
		if x.db != nil {
			x.must(x.db.Close())
		}
	})
	return x
}

// eachMode runs a case without and with OverwriteKey.
func eachMode(t *testing.T, f func(x *wbwiTest)) {
	for _, overwrite := range []bool{false, true} {
		t.Run(fmt.Sprintf("overwrite=%v", overwrite), func(t *testing.T) { f(newWBWITest(t, overwrite)) })
	}
}

func (x *wbwiTest) must(errs ...error) {
	x.Helper()
	for _, err := range errs {
		if err != nil {
			x.Fatal(err)
		}
	}
}

func (x *wbwiTest) newBatch(o rocksdb.WriteBatchWithIndexOptions) *rocksdb.WriteBatchWithIndex {
	x.Helper()
	b, err := rocksdb.NewWriteBatchWithIndex(o)
	x.must(err)
	return b
}

func (x *wbwiTest) open() {
	x.Helper()
	var err error
	x.db, err = rocksdb.Open(filepath.Join(x.TempDir(), "db"), x.o)
	x.must(err)
}

// cf is the default family's handle.
func (x *wbwiTest) cf() rocksdb.ColumnFamilyHandle { return x.db.ColumnFamily }

func (x *wbwiTest) checkCount() {
	x.Helper()
	if got, want := x.batch.GetWBWIOpCount(), int(x.batch.GetWriteBatch().Count()); got != want {
		x.Errorf("%d operations, the batch has %d", got, want)
	}
}

// do makes updates of the batch: "put k v", "merge k v", "del k", "sdel k".
func (x *wbwiTest) do(cf rocksdb.ColumnFamilyHandle, ops ...string) {
	x.Helper()
	for _, op := range ops {
		w := append(strings.Fields(op), "")
		key, value := []byte(w[1]), []byte(w[2])
		switch w[0] {
		case "put":
			x.must(x.batch.PutCF(cf, key, value))
		case "merge":
			x.must(x.batch.MergeCF(cf, key, value))
		case "del":
			x.must(x.batch.DeleteCF(cf, key))
		case "sdel":
			x.must(x.batch.SingleDeleteCF(cf, key))
		default:
			x.Fatalf("operation %q", op)
		}
	}
}

// add makes an update for each of key's letters: d deletes it, p puts, e puts an
// entity, m merges, other letters nothing. It gives the value.
func (x *wbwiTest) add(cf rocksdb.ColumnFamilyHandle, key string) (value string) {
	x.Helper()
	for i, c := range key {
		suffix := strconv.Itoa(i)
		v := key + suffix
		switch c {
		case 'd':
			x.must(x.batch.DeleteCF(cf, []byte(key)))
			value = ""
		case 'p':
			x.must(x.batch.PutCF(cf, []byte(key), []byte(v)))
			value = v
		case 'e':
			x.must(x.batch.PutEntityCF(cf, []byte(key), columns("", v, key, suffix)))
			value = v
		case 'm':
			x.must(x.batch.MergeCF(cf, []byte(key), []byte(v)))
			value = strings.TrimPrefix(value+","+v, ",")
		}
	}
	return value
}

// outcome is a lookup's value, or its error's code in angle brackets.
func outcome(value []byte, err error) string {
	if err == nil {
		return string(value)
	}
	return fmt.Sprintf("<%v>", rocksdb.CodeOf(err))
}

var (
	notFound        = outcome(nil, rocksdb.ErrNotFound)
	mergeInProgress = outcome(nil, rocksdb.ErrMergeInProgress)
	invalidArgument = outcome(nil, rocksdb.ErrInvalidArgument)
	corruption      = outcome(nil, rocksdb.ErrCorruption)
)

func (x *wbwiTest) expect(what, got, want string) {
	x.Helper()
	if got != want {
		x.Fatalf("%s: %q, expected %q", what, got, want)
	}
}

// fromBatch is a key in the batch alone.
func (x *wbwiTest) fromBatch(cf rocksdb.ColumnFamilyHandle, key string) string {
	var v rocksdb.PinnableSlice
	err := x.batch.GetFromBatch(cf, []byte(key), &v)
	return outcome(v.Data(), err)
}

// fromBoth is a key in batch and database.
func (x *wbwiTest) fromBoth(key string) string {
	var v rocksdb.PinnableSlice
	defer v.Release()
	err := x.batch.GetFromBatchAndDB(x.db, &x.ro, nil, []byte(key), &v)
	return outcome(v.Data(), err)
}

func (x *wbwiTest) expectBatch(cf rocksdb.ColumnFamilyHandle, pairs ...string) {
	x.Helper()
	for i := 0; i < len(pairs); i += 2 {
		x.expect("batch's "+pairs[i], x.fromBatch(cf, pairs[i]), pairs[i+1])
	}
}

func (x *wbwiTest) expectBoth(pairs ...string) {
	x.Helper()
	for i := 0; i < len(pairs); i += 2 {
		x.expect("batch and database's "+pairs[i], x.fromBoth(pairs[i]), pairs[i+1])
	}
}

// positioner is what moves, a BaseDeltaIterator or a kvIter.
type positioner interface {
	Valid() bool
	SeekToFirst()
	SeekToLast()
	Seek([]byte)
	SeekForPrev([]byte)
	Next()
	Prev()
}

// move makes a move: "first", "last", "next", "prev", "seek k", "for_prev k".
func (x *wbwiTest) move(it positioner, move string) {
	x.Helper()
	w := append(strings.Fields(move), "")
	switch w[0] {
	case "first":
		it.SeekToFirst()
	case "last":
		it.SeekToLast()
	case "next":
		it.Next()
	case "prev":
		it.Prev()
	case "seek":
		it.Seek([]byte(w[1]))
	case "for_prev":
		it.SeekForPrev([]byte(w[1]))
	default:
		x.Fatalf("move %q", move)
	}
}

// keyed is a valid iterator's "key=value", or "-" at the end of the keys, or its
// error's code.
func keyed(it rocksdb.BaseIterator) string {
	switch {
	case it.Status() != nil:
		return outcome(nil, it.Status())
	case !it.Valid():
		return "-"
	}
	return string(it.Key()) + "=" + string(it.Value())
}

// walk makes moves; each "move -> entry" has what keyed then says.
func (x *wbwiTest) walk(it rocksdb.BaseIterator, steps ...string) {
	x.Helper()
	for _, s := range steps {
		move, want, _ := strings.Cut(s, " -> ")
		x.move(it, move)
		x.expect(move, keyed(it), want)
	}
}

// over is the batch laid over m.
func (x *wbwiTest) over(cf rocksdb.ColumnFamilyHandle, m kvMap) *rocksdb.BaseDeltaIterator {
	return x.batch.NewIteratorWithBase(cf, newKVIter(m), nil)
}

// expectAll compares all entries with m.
func (x *wbwiTest) expectAll(it rocksdb.BaseIterator, m kvMap) {
	x.Helper()
	it.SeekToFirst()
	for _, k := range m.keys() {
		x.expect("entry", keyed(it), k+"="+m[k])
		it.Next()
	}
	x.expect("the end", keyed(it), "-")
}

var typeNames = map[rocksdb.WriteType]string{
	rocksdb.PutRecord: "PUT", rocksdb.MergeRecord: "MERGE", rocksdb.DeleteRecord: "DEL", rocksdb.SingleDeleteRecord: "SINGLE-DEL",
}

// entry is a batch iterator's "TYPE(key)" with ":value" where there is one, or
// "-".
func entry(it *rocksdb.WBWIIterator) string {
	if !it.Valid() {
		return "-"
	}
	e := it.Entry()
	s := typeNames[e.Type] + "(" + string(e.Key) + ")"
	if e.Type == rocksdb.PutRecord || e.Type == rocksdb.MergeRecord {
		s += ":" + string(e.Value)
	}
	return s
}

// walkEntries is walk for a batch iterator.
func (x *wbwiTest) walkEntries(it *rocksdb.WBWIIterator, steps ...string) {
	x.Helper()
	for _, s := range steps {
		move, want, _ := strings.Cut(s, " -> ")
		switch move {
		case "next_key":
			it.NextKey()
		case "prev_key":
			it.PrevKey()
		case "here":
		default:
			x.move(it, move)
		}
		x.expect(move, entry(it), want)
	}
}

// contents are all entries of a family.
func (x *wbwiTest) contents(cf rocksdb.ColumnFamilyHandle) string {
	var all []string
	it := x.batch.NewIterator(cf)
	for it.SeekToFirst(); it.Valid(); it.Next() {
		all = append(all, entry(it))
	}
	return strings.Join(all, ",")
}

// recorder keeps what a batch has, by family.
type recorder struct {
	writebatch.HandlerBase
	seen   map[uint32][]rocksdb.WriteEntry
	counts map[uint32]map[string]uint32
}

func (r *recorder) add(cf uint32, t rocksdb.WriteType, key, value []byte) error {
	r.seen[cf] = append(r.seen[cf], rocksdb.WriteEntry{Type: t, Key: bytes.Clone(key), Value: bytes.Clone(value)})
	if r.counts[cf] == nil {
		r.counts[cf] = map[string]uint32{}
	}
	r.counts[cf][string(key)]++
	return nil
}

func (r *recorder) PutCF(cf uint32, key, value []byte) error {
	return r.add(cf, rocksdb.PutRecord, key, value)
}
func (r *recorder) MergeCF(cf uint32, key, value []byte) error {
	return r.add(cf, rocksdb.MergeRecord, key, value)
}
func (r *recorder) DeleteCF(cf uint32, key []byte) error {
	return r.add(cf, rocksdb.DeleteRecord, key, nil)
}
func (r *recorder) SingleDeleteCF(cf uint32, key []byte) error {
	return r.add(cf, rocksdb.DeleteRecord, key, nil)
}

func (x *wbwiTest) record() *recorder {
	x.Helper()
	r := &recorder{seen: map[uint32][]rocksdb.WriteEntry{}, counts: map[uint32]map[string]uint32{}}
	x.must(x.batch.GetWriteBatch().Iterate(r))
	return r
}

// checkUpdateCounts compares the index's counts with the batch.
func (x *wbwiTest) checkUpdateCounts(cf rocksdb.ColumnFamilyHandle) {
	x.Helper()
	id := uint32(0)
	if cf != nil {
		id = cf.GetID()
	}
	counts := x.record().counts[id]
	seen := 0
	it := x.batch.NewIterator(cf)
	for it.SeekToFirst(); it.Valid(); seen++ {
		key := string(it.Entry().Key)
		count := it.GetUpdateCount()
		if count != counts[key] {
			x.Fatalf("%q was updated %d times, the index says %d", key, counts[key], count)
		}
		// What lies below a merge may have been overwritten any number of times.
		for it.Next(); it.Valid() && string(it.Entry().Key) == key; it.Next() {
			if it.GetUpdateCount() >= count {
				x.Fatalf("%q: count %d below %d", key, it.GetUpdateCount(), count)
			}
			count = it.GetUpdateCount()
		}
	}
	if seen != len(counts) {
		x.Fatalf("%d keys in the index, %d in the batch", seen, len(counts))
	}
}

// columns makes columns of names and values.
func columns(words ...string) rocksdb.WideColumns {
	var c rocksdb.WideColumns
	for i := 0; i < len(words); i += 2 {
		c = append(c, rocksdb.WideColumn{Name: []byte(words[i]), Value: []byte(words[i+1])})
	}
	return c
}

func columnsText(c rocksdb.WideColumns) string {
	var s []string
	for _, c := range c {
		s = append(s, string(c.Name)+":"+string(c.Value))
	}
	return strings.Join(s, " ")
}

func isCode(err error, want error) bool { return errors.Is(err, want) }
