// Port of db/memtable_list_test.cc. Differs: the database whose MANIFEST is
// written to is made without its higher layers.

package db

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/db/memtable"
	"github.com/rocksdb-go/rocksdb/db/version"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/logging"
	"github.com/rocksdb-go/rocksdb/memory"
	"github.com/rocksdb-go/rocksdb/options"
	"github.com/rocksdb-go/rocksdb/util"
)

// listTest makes memtables and lists, and commits their flushes to a database
// of three families.
type listTest struct {
	*versionSetTest
	ioptions options.ImmutableOptions
	mutable  options.MutableCFOptions
	icmp     *dbformat.InternalKeyComparator
	seq      rocksdb.SequenceNumber
	nextFile uint64
	free     []*memtable.MemTable
}

func newListTest(t *testing.T, change func(o *rocksdb.ColumnFamilyOptions)) *listTest {
	x := &listTest{versionSetTest: newVersionSetTest(t), seq: 1, nextFile: 1}
	x.newDB("one", "two")
	o := rocksdb.DefaultColumnFamilyOptions()
	if change != nil {
		change(&o)
	}
	o = SanitizeColumnFamilyOptions(&x.imm, false, &o)
	x.ioptions = options.ImmutableOptions{ImmutableDBOptions: x.imm, ImmutableCFOptions: options.NewImmutableCFOptions(&o)}
	x.mutable = options.NewMutableCFOptions(&o)
	x.icmp = dbformat.NewInternalKeyComparator(o.Comparator)
	return x
}

// newMemTable is one with a reference and an ID.
func (x *listTest) newMemTable(id uint64) *memtable.MemTable {
	m := memtable.New(x.icmp, &x.ioptions, &x.mutable, nil, dbformat.MaxSequenceNumber, 0)
	m.SetID(id)
	m.Ref()
	return m
}

// add inserts an entry with the next sequence number.
func (x *listTest) add(m *memtable.MemTable, t dbformat.ValueType, key, value string) {
	x.t.Helper()
	x.seq++
	x.noErr(m.Add(x.seq, t, []byte(key), []byte(value), false, nil, nil))
}

// fill inserts upstream's five entries of the i-th memtable.
func (x *listTest) fill(m *memtable.MemTable, i int) {
	x.t.Helper()
	x.add(m, dbformat.TypeValue, "key1", fmt.Sprint(i))
	x.add(m, dbformat.TypeValue, fmt.Sprint("keyN", i), "valueN")
	x.add(m, dbformat.TypeValue, fmt.Sprint("keyX", i), "value")
	x.add(m, dbformat.TypeValue, fmt.Sprint("keyM", i), "valueM")
	x.add(m, dbformat.TypeDeletion, fmt.Sprint("keyX", i), "")
}

// lookup runs a Get; the answer is "value", "deleted", or "" when it is not
// there.
func (x *listTest) lookup(get func(k *dbformat.LookupKey, ro *rocksdb.ReadOptions, st *memtable.LookupState) bool, key string, seq rocksdb.SequenceNumber) string {
	x.t.Helper()
	ro := rocksdb.DefaultReadOptions()
	var st memtable.LookupState
	st.Reset()
	switch found := get(dbformat.NewLookupKey([]byte(key), seq, nil), &ro, &st); {
	case !found:
		x.noErr(st.Status)
		return ""
	case errors.Is(st.Status, rocksdb.ErrNotFound):
		return "deleted"
	default:
		x.noErr(st.Status)
		return "value " + string(st.Value)
	}
}

func (x *listTest) wantIn(m *memtable.MemTable, key string, seq rocksdb.SequenceNumber, want string) {
	x.t.Helper()
	get := func(k *dbformat.LookupKey, ro *rocksdb.ReadOptions, st *memtable.LookupState) bool {
		return m.Get(k, ro, st, false)
	}
	if got := x.lookup(get, key, seq); got != want {
		x.t.Fatalf("%q at %d: %q, not %q", key, seq, got, want)
	}
}

func (x *listTest) wantInList(l *MemTableList, key string, seq rocksdb.SequenceNumber, want string) {
	x.t.Helper()
	if got := x.lookup(l.Current().Get, key, seq); got != want {
		x.t.Fatalf("%q at %d: %q, not %q", key, seq, got, want)
	}
}

func (x *listTest) wantInHistory(l *MemTableList, key string, want string) {
	x.t.Helper()
	if got := x.lookup(l.Current().GetFromHistory, key, x.seq); got != want {
		x.t.Fatalf("%q: %q in history, not %q", key, got, want)
	}
}

// wantState checks whether a flush is pending, and whether one is needed.
func (x *listTest) wantState(l *MemTableList, pending, needed bool) {
	x.t.Helper()
	if p, n := l.IsFlushPending(), l.FlushNeeded.Load(); p != pending || n != needed {
		x.t.Fatalf("flush pending %v, needed %v", p, n)
	}
}

// pick picks memtables up to maxID, and checks how many there are.
func (x *listTest) pick(l *MemTableList, maxID uint64, want int) []*memtable.MemTable {
	x.t.Helper()
	picked, _ := l.PickMemtablesToFlush(maxID)
	if len(picked) != want {
		x.t.Fatalf("%d memtables picked, not %d", len(picked), want)
	}
	return picked
}

func (x *listTest) wantCounts(l *MemTableList, notFlushed, flushed, freed int) {
	x.t.Helper()
	if l.NumNotFlushed() != notFlushed || l.NumFlushed() != flushed || len(x.free) != freed {
		x.t.Fatalf("%d memtables wait, %d are kept, %d are to be freed; not %d, %d, %d", l.NumNotFlushed(), l.NumFlushed(), len(x.free),
			notFlushed, flushed, freed)
	}
}

// freeAll checks that nobody refers to the memtables to be freed, and frees
// them.
func (x *listTest) freeAll() {
	x.t.Helper()
	for _, m := range x.free {
		m.Ref()
		if m.Unref() != m {
			x.t.Fatal("a memtable to be freed has references")
		}
		m.Free()
	}
	x.free = nil
}

// commit recovers the database and is what flushes commit with.
func (x *listTest) commit() *FlushCommit {
	x.t.Helper()
	x.reset()
	x.mustRecover("one", "two")
	return &FlushCommit{CFD: x.def(), VersionSet: x.vs, Mutex: &x.mu, LogBuffer: logging.NewLogBuffer(rocksdb.DebugLevel, nil), Free: &x.free}
}

// install commits the flush of memtables.
func (x *listTest) install(l *MemTableList, mems []*memtable.MemTable) {
	x.t.Helper()
	c := x.commit()
	number := x.nextFile
	x.nextFile++
	x.mu.Lock()
	defer x.mu.Unlock()
	x.noErr(l.TryInstallMemtableFlushResults(c, mems, number))
}

// installAtomic commits the flush of memtables of several families.
func (x *listTest) installAtomic(lists []*MemTableList, families []uint32, mems [][]*memtable.MemTable) {
	x.t.Helper()
	c := x.commit()
	var cfds []*ColumnFamilyData
	var files []*version.FileMetaData
	for _, id := range families {
		cfd := x.vs.GetColumnFamilySet().GetColumnFamily(id)
		if cfd == nil {
			x.t.Fatalf("no family %d", id)
		}
		cfds = append(cfds, cfd)
		f := version.NewFileMetaData()
		f.FD.Set(x.nextFile, 0, 0, 0, 0)
		x.nextFile++
		files = append(files, f)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.noErr(InstallMemtableAtomicFlushResults(c, lists, cfds, mems, files))
}

func TestMemTableListTest_Empty(t *testing.T) {
	x := newListTest(t, nil)
	l := NewMemTableList(1, 0)
	x.wantCounts(l, 0, 0, 0)
	x.wantState(l, false, false)
	x.pick(l, math.MaxUint64, 0)
	l.UnrefCurrent(&x.free)
	if len(x.free) != 0 {
		t.Fatalf("%d memtables to be freed", len(x.free))
	}
}

func TestMemTableListTest_GetTest(t *testing.T) {
	x := newListTest(t, func(o *rocksdb.ColumnFamilyOptions) {
		o.MergeOperator = testMergeOperator{name: "StringAppendOperator"}
	})
	l := NewMemTableList(2, 0)
	x.wantInList(l, "key1", x.seq, "")

	m := x.newMemTable(1)
	x.add(m, dbformat.TypeDeletion, "key1", "")
	x.add(m, dbformat.TypeValue, "key2", "value2")
	x.add(m, dbformat.TypeValue, "key1", "value1")
	x.add(m, dbformat.TypeValue, "key2", "value2.2")
	x.add(m, dbformat.TypeValuePreferredSeqno, "key3", "value3.1"+string(binary.LittleEndian.AppendUint64(nil, 20)))
	x.wantIn(m, "key1", x.seq, "value value1")
	x.wantIn(m, "key1", 2, "deleted")
	x.wantIn(m, "key2", x.seq, "value value2.2")
	x.wantIn(m, "key3", x.seq, "value value3.1")
	if m.NumEntries() != 5 || m.NumDeletion() != 1 {
		t.Fatalf("%d entries, %d deletions", m.NumEntries(), m.NumDeletion())
	}
	m.ConstructFragmentedRangeTombstones()
	l.Add(m, &x.free)

	saved := x.seq
	m2 := x.newMemTable(2)
	x.add(m2, dbformat.TypeDeletion, "key1", "")
	x.add(m2, dbformat.TypeValue, "key2", "value2.3")
	x.add(m2, dbformat.TypeMerge, "key3", "value3.2")
	m2.ConstructFragmentedRangeTombstones()
	l.Add(m2, &x.free)

	x.wantInList(l, "key1", x.seq, "deleted")
	x.wantInList(l, "key1", saved, "value value1")
	x.wantInList(l, "key2", x.seq, "value value2.3")
	x.wantInList(l, "key2", 1, "")
	x.wantInList(l, "key3", x.seq, "value value3.1,value3.2")
	x.wantCounts(l, 2, 0, 0)
	l.UnrefCurrent(&x.free)
	x.freeAll()
}

func TestMemTableListTest_GetFromHistoryTest(t *testing.T) {
	x := newListTest(t, nil)
	// Room for two memtables.
	l := NewMemTableList(2, 2*memory.InlineSize)
	x.wantInList(l, "key1", x.seq, "")

	m := x.newMemTable(0)
	x.add(m, dbformat.TypeDeletion, "key1", "")
	x.add(m, dbformat.TypeValue, "key2", "value2")
	x.add(m, dbformat.TypeValue, "key2", "value2.2")
	x.wantIn(m, "key1", x.seq, "deleted")
	x.wantIn(m, "key2", x.seq, "value value2.2")
	m.ConstructFragmentedRangeTombstones()
	l.Add(m, &x.free)
	x.wantCounts(l, 1, 0, 0)
	x.wantInList(l, "key1", x.seq, "deleted")
	x.wantInList(l, "key2", x.seq, "value value2.2")

	// Flushed, it is found in the history alone.
	x.install(l, x.pick(l, math.MaxUint64, 1))
	x.wantCounts(l, 0, 1, 0)
	x.wantInList(l, "key1", x.seq, "")
	x.wantInList(l, "key2", x.seq, "")
	x.wantInHistory(l, "key1", "deleted")
	x.wantInHistory(l, "key2", "value value2.2")

	m2 := x.newMemTable(0)
	x.add(m2, dbformat.TypeDeletion, "key1", "")
	x.add(m2, dbformat.TypeValue, "key3", "value3")
	m2.ConstructFragmentedRangeTombstones()
	l.Add(m2, &x.free)
	x.wantCounts(l, 1, 1, 0)
	x.install(l, x.pick(l, math.MaxUint64, 1))
	x.wantCounts(l, 0, 2, 0)

	// A third one pushes the first one out.
	m3 := x.newMemTable(0)
	m3.ConstructFragmentedRangeTombstones()
	l.Add(m3, &x.free)
	x.wantCounts(l, 1, 1, 1)
	for _, k := range []string{"key1", "key2", "key3"} {
		x.wantInList(l, k, x.seq, "")
	}
	x.wantInHistory(l, "key1", "deleted")
	x.wantInHistory(l, "key3", "value value3")
	x.wantInHistory(l, "key2", "")

	l.UnrefCurrent(&x.free)
	if len(x.free) != 3 {
		t.Fatalf("%d memtables to be freed", len(x.free))
	}
	x.freeAll()
}

func TestMemTableListTest_FlushPendingTest(t *testing.T) {
	const all = math.MaxUint64
	x := newListTest(t, nil)
	// Three to merge; room for seven.
	l := NewMemTableList(3, 7*int64(x.mutable.WriteBufferSize))
	var tables []*memtable.MemTable
	for i := range 6 {
		m := x.newMemTable(uint64(i))
		x.fill(m, i)
		tables = append(tables, m)
	}
	x.wantState(l, false, false)
	x.pick(l, all, 0)
	// A request with nothing to flush is forgotten by the next pick only.
	l.FlushRequested()
	x.wantState(l, false, false)
	x.pick(l, all, 0)
	x.wantState(l, false, false)
	l.FlushRequested()
	x.wantState(l, false, false)
	l.Add(tables[0], &x.free)
	l.Add(tables[1], &x.free)
	x.wantCounts(l, 2, 0, 0)
	x.wantState(l, true, true)

	first := x.pick(l, all, 2)
	x.wantCounts(l, 2, 0, 0)
	x.wantState(l, false, false)
	l.RollbackMemtableFlush(first, false)
	// Too few without a request.
	x.wantState(l, false, true)
	l.Add(tables[2], &x.free)
	x.wantState(l, true, true)
	x.wantCounts(l, 3, 0, 0)
	first = x.pick(l, all, 3)
	x.wantCounts(l, 3, 0, 0)
	x.wantState(l, false, false)
	x.pick(l, all, 0)
	x.wantCounts(l, 3, 0, 0)
	x.wantState(l, false, false)

	l.Add(tables[3], &x.free)
	x.wantState(l, false, true)
	x.wantCounts(l, 4, 0, 0)
	l.FlushRequested()
	x.wantState(l, true, true)
	second := x.pick(l, all, 1)
	x.wantCounts(l, 4, 0, 0)
	x.wantState(l, false, false)

	// The first three wait again, and a fifth one; the fourth is in between.
	l.RollbackMemtableFlush(first, false)
	x.wantState(l, true, true)
	l.Add(tables[4], &x.free)
	x.wantCounts(l, 5, 0, 0)
	x.wantState(l, true, true)
	first = x.pick(l, all, 3)
	x.wantCounts(l, 5, 0, 0)
	x.wantState(l, false, true)
	third := x.pick(l, all, 1)
	x.wantCounts(l, 5, 0, 0)
	x.wantState(l, false, false)
	x.pick(l, all, 0)
	x.wantCounts(l, 5, 0, 0)
	x.wantState(l, false, false)

	x.install(l, first)
	x.wantCounts(l, 2, 3, 0)
	l.FlushRequested()
	x.wantState(l, false, false)
	// The fifth one is committed after the fourth.
	x.install(l, third)
	x.wantCounts(l, 2, 3, 0)
	x.install(l, second)
	x.wantCounts(l, 0, 5, 0)

	l.Add(tables[5], &x.free)
	x.wantCounts(l, 1, 5, 0)
	if id := l.GetLatestMemTableID(false); id != 5 {
		t.Fatalf("the latest memtable is %d", id)
	}
	// A pick of older ones gives none, and ends the request.
	l.FlushRequested()
	if !l.HasFlushRequested() {
		t.Fatal("no request")
	}
	x.pick(l, 4, 0)
	x.wantCounts(l, 1, 5, 0)
	x.wantState(l, false, true)
	if l.HasFlushRequested() {
		t.Fatal("the request is in force")
	}
	l.FlushRequested()
	x.pick(l, 5, 1)
	x.wantCounts(l, 1, 5, 0)
	x.wantState(l, false, false)

	l.UnrefCurrent(&x.free)
	if len(x.free) != 6 {
		t.Fatalf("%d memtables to be freed", len(x.free))
	}
	x.freeAll()
}

func TestMemTableListTest_EmptyAtomicFlushTest(t *testing.T) {
	x := newListTest(t, nil)
	x.installAtomic(nil, nil, nil)
	if len(x.free) != 0 {
		t.Fatalf("%d memtables to be freed", len(x.free))
	}
}

func TestMemTableListTest_AtomicFlushTest(t *testing.T) {
	const families, each = 3, 2
	x := newListTest(t, nil)
	var lists []*MemTableList
	var tables [families][]*memtable.MemTable
	for i := range families {
		lists = append(lists, NewMemTableList(3, 7*int64(x.mutable.WriteBufferSize)))
		for j := range each {
			m := x.newMemTable(uint64(j))
			x.fill(m, j)
			tables[i] = append(tables[i], m)
		}
	}
	for _, l := range lists {
		x.wantState(l, false, false)
		x.pick(l, math.MaxUint64, 0)
	}
	for _, l := range lists {
		l.FlushRequested()
		x.wantState(l, false, false)
	}
	for i, l := range lists {
		for _, m := range tables[i] {
			l.Add(m, &x.free)
		}
		x.wantCounts(l, each, 0, 0)
		x.wantState(l, true, true)
	}
	// Of the last family only the first memtable.
	upTo := []uint64{1, 1, 0}
	var picked [][]*memtable.MemTable
	var ids []uint32
	for i, l := range lists {
		picked = append(picked, x.pick(l, upTo[i], int(upTo[i])+1))
		ids = append(ids, uint32(i))
	}
	x.installAtomic(lists, ids, picked)
	for i, l := range lists {
		for j, m := range tables[i] {
			if uint64(j) <= upTo[i] && m.FileNumber == 0 {
				t.Errorf("family %d, memtable %d: no file", i, j)
			}
		}
		if l.NumNotFlushed() != each-len(picked[i]) {
			t.Errorf("family %d: %d memtables wait", i, l.NumNotFlushed())
		}
	}
	x.free = nil
	for _, l := range lists {
		l.UnrefCurrent(&x.free)
	}
	if len(x.free) != families*each {
		t.Fatalf("%d memtables to be freed", len(x.free))
	}
	x.freeAll()
}

// udtOptions have timestamps that are not kept.
func udtOptions(o *rocksdb.ColumnFamilyOptions) {
	o.Comparator = util.BytewiseComparatorWithU64Ts()
	o.PersistUserDefinedTimestamps = false
}

func TestMemTableListWithTimestampTest_GetTableNewestUDT(t *testing.T) {
	x := newListTest(t, udtOptions)
	l := NewMemTableList(1, 4*int64(x.mutable.WriteBufferSize))
	var want [][]byte
	var ts uint64
	for i := range 3 {
		m := x.newMemTable(uint64(i))
		var last []byte
		for range 5 {
			last = binary.LittleEndian.AppendUint64(nil, ts)
			x.add(m, dbformat.TypeValue, "key1"+string(last), fmt.Sprint(i))
			ts++
		}
		l.Add(m, &x.free)
		want = append(want, last)
	}
	x.wantCounts(l, 3, 0, 0)
	x.wantState(l, true, true)
	if got := l.GetTablesNewestUDT(3); !slices.EqualFunc(got, want, slices.Equal) {
		t.Fatalf("newest timestamps %x, not %x", got, want)
	}
	if got := l.GetTablesNewestUDT(1); !slices.EqualFunc(got, want[:2], slices.Equal) {
		t.Fatalf("newest timestamps up to the second %x, not %x", got, want[:2])
	}
	l.UnrefCurrent(&x.free)
	x.freeAll()
}

func TestMemTableListWithTimestampTest_ConcurrentGetTableNewestUDT(t *testing.T) {
	const writers, each = 4, 100
	x := newListTest(t, udtOptions)
	m := x.newMemTable(0)
	var seq atomic.Uint64
	var wg sync.WaitGroup
	var infoMu sync.Mutex
	for w := range writers {
		wg.Go(func() {
			var info memtable.MemTablePostProcessInfo
			for j := range each {
				ts := uint64(w*each + j)
				key := binary.LittleEndian.AppendUint64(fmt.Appendf(nil, "key%d", ts), ts)
				if err := m.Add(seq.Add(1), dbformat.TypeValue, key, []byte("val"), true, &info, nil); err != nil {
					t.Error(err)
				}
			}
			infoMu.Lock()
			defer infoMu.Unlock()
			m.BatchPostProcess(&info)
		})
	}
	wg.Wait()
	if m.NumEntries() != writers*each {
		t.Fatalf("%d entries", m.NumEntries())
	}
	newest := m.GetNewestUDT()
	if len(newest) != 8 || binary.LittleEndian.Uint64(newest) != writers*each-1 {
		t.Fatalf("newest timestamp %x", newest)
	}
	m.Unref().Free()
}
