// Port of memtable/inlineskiplist_test.cc. Differs: keys are entries of internal
// keys; most cases run with keys that differ in their first eight bytes, with
// keys that share those, and with short keys, which take different paths.

package memtable

import (
	"encoding/binary"
	"math/rand"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/memory"
	"github.com/rocksdb-go/rocksdb/util"
)

// keyForms make user keys of a number, in its order.
var keyForms = map[string]struct {
	encode func(key uint64) []byte
	decode func(user []byte) uint64
	cmp    rocksdb.Comparator
}{
	"first bytes differ": {
		func(k uint64) []byte { return binary.BigEndian.AppendUint64(nil, k) },
		binary.BigEndian.Uint64, util.BytewiseComparator(),
	},
	"first bytes equal": {
		func(k uint64) []byte { return binary.BigEndian.AppendUint64([]byte("same prefix"), k) },
		func(u []byte) uint64 { return binary.BigEndian.Uint64(u[11:]) }, util.BytewiseComparator(),
	},
	"short": {
		func(k uint64) []byte { return binary.BigEndian.AppendUint64(nil, k)[1:] },
		func(u []byte) uint64 { return binary.BigEndian.Uint64(append([]byte{0}, u...)) }, util.BytewiseComparator(),
	},
	"own comparator": {
		func(k uint64) []byte { return binary.BigEndian.AppendUint64(nil, ^k) },
		func(u []byte) uint64 { return ^binary.BigEndian.Uint64(u) }, util.ReverseBytewiseComparator(),
	},
}

type testInlineList struct {
	*InlineSkipList
	form  string
	inner map[uint64]bool // keys inserted by the serial forms
}

func newTestInlineList(t *testing.T, form string) *testInlineList {
	arena := memory.NewConcurrentArena(64<<10, nil, 0)
	t.Cleanup(arena.Free)
	icmp := dbformat.NewInternalKeyComparator(keyForms[form].cmp)
	return &testInlineList{NewInlineSkipList(icmp, arena, 0, 0), form, map[uint64]bool{}}
}

func forAllForms(t *testing.T, f func(t *testing.T, l *testInlineList)) {
	for form := range keyForms {
		t.Run(form, func(t *testing.T) { f(t, newTestInlineList(t, form)) })
	}
}

func (l *testInlineList) internalKey(key uint64) []byte {
	return dbformat.NewInternalKey(keyForms[l.form].encode(key), 1, dbformat.TypeValue)
}

func (l *testInlineList) decode(e KeyHandle) uint64 {
	return keyForms[l.form].decode(dbformat.ExtractUserKey(EntryKey(e)))
}

func (l *testInlineList) allocate(key uint64) KeyHandle {
	user := keyForms[l.form].encode(key)
	e, buf := l.AllocateKey(EncodedLength(len(user)+8, 0))
	EncodeEntry(buf, user, dbformat.PackSequenceAndType(1, dbformat.TypeValue), nil)
	return e
}

func (l *testInlineList) Insert(key uint64) {
	l.InlineSkipList.Insert(l.allocate(key))
	l.inner[key] = true
}

func (l *testInlineList) insertWithHint(key uint64, hint *Splice) bool {
	l.inner[key] = true
	return l.InsertWithHint(l.allocate(key), hint)
}

func (l *testInlineList) InsertConcurrently(key uint64, withHint bool) {
	if withHint {
		var hint Splice
		l.InsertWithHintConcurrently(l.allocate(key), &hint)
		return
	}
	l.InlineSkipList.InsertConcurrently(l.allocate(key))
}

func (l *testInlineList) Contains(key uint64) bool {
	return l.InlineSkipList.Contains(l.internalKey(key))
}

func (l *testInlineList) Iterator() testIterator {
	return &testInlineIterator{l.NewIterator(), l}
}

type testInlineIterator struct {
	InlineSkipListIterator
	l *testInlineList
}

func (i *testInlineIterator) Key() uint64     { return i.l.decode(i.InlineSkipListIterator.Key()) }
func (i *testInlineIterator) Seek(key uint64) { i.InlineSkipListIterator.Seek(i.l.internalKey(key)) }
func (i *testInlineIterator) SeekForPrev(key uint64) {
	i.InlineSkipListIterator.SeekForPrev(i.l.internalKey(key))
}

// validate checks that the list has just the keys inserted, and is well formed.
func (l *testInlineList) validate(t *testing.T) {
	t.Helper()
	keys := make([]uint64, 0, len(l.inner))
	for k := range l.inner {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	it := l.Iterator()
	if it.Valid() {
		t.Fatal("valid before the first seek")
	}
	it.Seek(0)
	for i, k := range keys {
		if !l.Contains(k) {
			t.Fatalf("key %x is missing", k)
		}
		if !it.Valid() || it.Key() != k {
			t.Fatalf("key %d is not %x", i, k)
		}
		it.Next()
	}
	if it.Valid() {
		t.Fatalf("extra key %x", it.Key())
	}
	if err := l.TestValidate(); err != nil {
		t.Fatal(err)
	}
}

func TestInlineSkipTest_Empty(t *testing.T) {
	forAllForms(t, func(t *testing.T, l *testInlineList) { checkEmpty(t, l) })
}

func TestInlineSkipTest_InsertAndLookup(t *testing.T) {
	forAllForms(t, func(t *testing.T, l *testInlineList) { checkInsertAndLookup(t, l) })
}

const hintKeys = 10000

func TestInlineSkipTest_InsertWithHint_Sequential(t *testing.T) {
	forAllForms(t, func(t *testing.T, l *testInlineList) {
		var hint Splice
		for i := range uint64(hintKeys) {
			if !l.insertWithHint(i, &hint) {
				t.Fatalf("key %d is a duplicate", i)
			}
		}
		l.validate(t)
	})
}

func TestInlineSkipTest_InsertWithHint_MultipleHints(t *testing.T) {
	forAllForms(t, func(t *testing.T, l *testInlineList) {
		const s = 100
		rnd := util.NewRandom(534)
		var hints [s]Splice
		var last [s]uint64
		for range hintKeys {
			i := rnd.Uniform(s)
			last[i]++
			l.insertWithHint(uint64(i)<<32+last[i], &hints[i])
		}
		l.validate(t)
	})
}

func TestInlineSkipTest_InsertWithHint_MultipleHintsRandom(t *testing.T) {
	forAllForms(t, func(t *testing.T, l *testInlineList) {
		const s = 100
		rnd := util.NewRandom(534)
		var hints [s]Splice
		for range hintKeys {
			i := rnd.Uniform(s)
			l.insertWithHint(uint64(i)<<32+uint64(rnd.Next()), &hints[i])
		}
		l.validate(t)
	})
}

func TestInlineSkipTest_InsertWithHint_CompatibleWithInsertWithoutHint(t *testing.T) {
	forAllForms(t, func(t *testing.T, l *testInlineList) {
		const s1, s2 = 100, 100
		rnd := util.NewRandom(534)
		used := map[uint64]bool{}
		var groups [s1 + s2]uint64
		for i := range groups {
			for groups[i] == 0 || used[groups[i]] {
				groups[i] = uint64(rnd.Next()) & 0xffffff // so that short keys hold it
			}
			used[groups[i]] = true
		}
		var hints [s1]Splice
		for range hintKeys {
			i := rnd.Uniform(s1 + s2)
			key := groups[i]<<32 + uint64(rnd.Next())
			if i < s1 {
				l.insertWithHint(key, &hints[i])
			} else {
				l.Insert(key)
			}
		}
		l.validate(t)
	})
}

// TestInsertNoticesDuplicates has no upstream twin: DB tests cover it there.
func TestInsertNoticesDuplicates(t *testing.T) {
	forAllForms(t, func(t *testing.T, l *testInlineList) {
		for k := range uint64(100) {
			l.Insert(k * 3)
		}
		var hint Splice
		for k := range uint64(100) {
			if l.InlineSkipList.Insert(l.allocate(k*3)) || l.InlineSkipList.InsertConcurrently(l.allocate(k*3)) ||
				l.InsertWithHint(l.allocate(k*3), &hint) || l.InsertWithHintConcurrently(l.allocate(k*3), &hint) {
				t.Fatalf("duplicate of %d was inserted", k*3)
			}
		}
		l.validate(t)
	})
}

// firstFound notes the first entry found for each key.
type firstFound struct {
	l     *testInlineList
	found []bool
	keys  []uint64
}

func (f *firstFound) VisitEntry(i int, e KeyHandle) bool {
	f.found[i], f.keys[i] = true, f.l.decode(e)
	return false
}

func (l *testInlineList) multiGet(t *testing.T, queries []uint64) *firstFound {
	t.Helper()
	f := &firstFound{l, make([]bool, len(queries)), make([]uint64, len(queries))}
	keys := make([][]byte, len(queries))
	for i, q := range queries {
		keys[i] = l.internalKey(q)
	}
	if err := l.MultiGet(keys, f, false, false, nil); err != nil {
		t.Fatal(err)
	}
	return f
}

func TestInlineSkipTest_MultiGetBasic(t *testing.T) {
	forAllForms(t, func(t *testing.T, l *testInlineList) {
		for i := range uint64(1000) {
			l.Insert(i * 2)
		}
		var queries []uint64
		for i := range uint64(10) {
			queries = append(queries, 1+i*100)
		}
		f := l.multiGet(t, queries)
		for i, q := range queries {
			if !f.found[i] || f.keys[i] != q+1 {
				t.Errorf("query %d: %v %d", q, f.found[i], f.keys[i])
			}
		}
	})
}

func TestInlineSkipTest_MultiGetExactMatches(t *testing.T) {
	forAllForms(t, func(t *testing.T, l *testInlineList) {
		for i := range uint64(500) {
			l.Insert(i * 10)
		}
		var queries []uint64
		for i := range uint64(10) {
			queries = append(queries, i*100)
		}
		f := l.multiGet(t, queries)
		for i, q := range queries {
			if !f.found[i] || f.keys[i] != q {
				t.Errorf("query %d: %v %d", q, f.found[i], f.keys[i])
			}
		}
	})
}

func TestInlineSkipTest_MultiGetEmpty(t *testing.T) {
	forAllForms(t, func(t *testing.T, l *testInlineList) {
		if f := l.multiGet(t, []uint64{42}); f.found[0] {
			t.Error("found something in an empty list")
		}
		l.multiGet(t, nil)
	})
}

func TestInlineSkipTest_MultiGetSingleKey(t *testing.T) {
	forAllForms(t, func(t *testing.T, l *testInlineList) {
		l.Insert(100)
		if f := l.multiGet(t, []uint64{100}); !f.found[0] || f.keys[0] != 100 {
			t.Errorf("%v %d", f.found[0], f.keys[0])
		}
	})
}

func TestInlineSkipTest_MultiGetRandomized(t *testing.T) {
	forAllForms(t, func(t *testing.T, l *testInlineList) {
		seed := rand.Int63()
		t.Logf("seed %d", seed)
		rnd := rand.New(rand.NewSource(seed))
		const n, r, q = 5000, 10000, 100
		for range n {
			if k := uint64(rnd.Intn(r)); !l.inner[k] {
				l.Insert(k)
			}
		}
		queries := make([]uint64, q)
		for i := range queries {
			queries[i] = uint64(rnd.Intn(r))
		}
		slices.Sort(queries)
		f := l.multiGet(t, queries)
		for i, q := range queries {
			want := q
			for want < r && !l.inner[want] {
				want++
			}
			if f.found[i] != (want < r) || f.found[i] && f.keys[i] != want {
				t.Errorf("query %d: %v %d, want %d", q, f.found[i], f.keys[i], want)
			}
		}
	})
}

// walking visits entries up to stopAt.
type walking struct {
	l       *testInlineList
	stopAt  []uint64
	first   []uint64
	visited []int
}

func (w *walking) VisitEntry(i int, e KeyHandle) bool {
	k := w.l.decode(e)
	if w.visited[i] == 0 {
		w.first[i] = k
	}
	w.visited[i]++
	return k < w.stopAt[i]
}

func TestInlineSkipTest_MultiGetDuplicateKeysWithCallbackWalk(t *testing.T) {
	forAllForms(t, func(t *testing.T, l *testInlineList) {
		for i := range uint64(6) {
			l.Insert((i + 1) * 10)
		}
		// The first lookup walks past the second, equal key.
		queries := []uint64{20, 20, 50}
		w := &walking{l, []uint64{40, 0, 0}, make([]uint64, 3), make([]int, 3)}
		keys := make([][]byte, len(queries))
		for i, q := range queries {
			keys[i] = l.internalKey(q)
		}
		if err := l.MultiGet(keys, w, true, true, nil); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(w.first, queries) || w.visited[0] < 2 {
			t.Errorf("first %v, visited %v", w.first, w.visited)
		}
	})
}

func inlineListForStress(t *testing.T) testList { return newTestInlineList(t, "first bytes differ") }

func TestInlineSkipTest_ConcurrentReadWithoutThreads(t *testing.T) {
	forAllForms(t, func(t *testing.T, l *testInlineList) { stressWithoutThreads(t, l, false) })
}

func TestInlineSkipTest_ConcurrentInsertWithoutThreads(t *testing.T) {
	forAllForms(t, func(t *testing.T, l *testInlineList) { stressWithoutThreads(t, l, true) })
}

func TestInlineSkipTest_ConcurrentRead1(t *testing.T) {
	stressConcurrently(t, inlineListForStress, 1, 1, false)
}

func TestInlineSkipTest_ConcurrentRead2(t *testing.T) {
	stressConcurrently(t, inlineListForStress, 2, 1, false)
}

func TestInlineSkipTest_ConcurrentRead3(t *testing.T) {
	stressConcurrently(t, inlineListForStress, 3, 1, false)
}

func TestInlineSkipTest_ConcurrentRead4(t *testing.T) {
	stressConcurrently(t, inlineListForStress, 4, 1, false)
}

func TestInlineSkipTest_ConcurrentRead5(t *testing.T) {
	stressConcurrently(t, inlineListForStress, 5, 1, false)
}

func TestInlineSkipTest_ConcurrentInsert1(t *testing.T) {
	stressConcurrently(t, inlineListForStress, 1, 4, false)
}

func TestInlineSkipTest_ConcurrentInsert2(t *testing.T) {
	stressConcurrently(t, inlineListForStress, 2, 4, false)
}

func TestInlineSkipTest_ConcurrentInsert3(t *testing.T) {
	stressConcurrently(t, inlineListForStress, 3, 4, false)
}

func TestInlineSkipTest_ConcurrentInsertWithHint1(t *testing.T) {
	stressConcurrently(t, inlineListForStress, 1, 4, true)
}

func TestInlineSkipTest_ConcurrentInsertWithHint2(t *testing.T) {
	stressConcurrently(t, inlineListForStress, 2, 4, true)
}

func TestInlineSkipTest_ConcurrentInsertWithHint3(t *testing.T) {
	stressConcurrently(t, inlineListForStress, 3, 4, true)
}

func TestInlineSkipTest_ConcurrentMultiGet(t *testing.T) {
	const total, workers, ringSize = 8000, 4, 1024
	seed := rand.Int63()
	t.Logf("seed %d", seed)
	l := newTestInlineList(t, "first bytes differ")
	keys := rand.New(rand.NewSource(seed)).Perm(total)
	var ring [ringSize]atomic.Uint64
	var cursor, batches atomic.Uint64
	var wg sync.WaitGroup
	for w := range workers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			rnd := rand.New(rand.NewSource(seed + int64(w) + 1))
			for _, key := range keys[w*total/workers : (w+1)*total/workers] {
				mine := uint64(key) + 1
				l.InsertConcurrently(mine, false)
				ring[(cursor.Add(1)-1)%ringSize].Store(mine)
				queries := []uint64{mine}
				at := cursor.Load()
				for range 15 {
					i := uint64(rnd.Int63()) % min(at, ringSize)
					if k := ring[(at-1-i)%ringSize].Load(); k != 0 {
						queries = append(queries, k)
					}
				}
				slices.Sort(queries)
				queries = slices.Compact(queries)
				// All of them were inserted before they came into the ring.
				f := l.multiGet(t, queries)
				for i, q := range queries {
					if !f.found[i] || f.keys[i] != q {
						t.Errorf("query %d: %v %d", q, f.found[i], f.keys[i])
						return
					}
				}
				batches.Add(1)
			}
		}()
	}
	wg.Wait()
	if batches.Load() != total {
		t.Errorf("%d batches", batches.Load())
	}
	if err := l.TestValidate(); err != nil {
		t.Error(err)
	}
}

// TestApproximateNumEntries has no upstream twin: DB tests cover it there.
func TestApproximateNumEntries(t *testing.T) {
	forAllForms(t, func(t *testing.T, l *testInlineList) {
		const n = 20000
		for i := range uint64(n) {
			l.Insert(i)
		}
		for _, r := range [][2]uint64{{0, 0}, {10, 13}, {5, 25}, {100, 1100}, {0, n}, {n, 2 * n}} {
			want := float64(min(r[1], n) - min(r[0], n))
			got := float64(l.ApproximateNumEntries(l.internalKey(r[0]), l.internalKey(r[1])))
			if want < 10 && got != want || got < want/3 || got > want*3 {
				t.Errorf("[%d, %d): %v", r[0], r[1], got)
			}
		}
	})
}

// TestValidationFindsDisorder changes a key in place: all validating forms must
// say so.
func TestValidationFindsDisorder(t *testing.T) {
	l := newTestInlineList(t, "first bytes differ")
	for i := range uint64(100) {
		l.Insert(i * 2)
	}
	it := l.NewIterator()
	it.Seek(l.internalKey(100))
	EntryKey(it.Key())[7] = 1
	if err := l.TestValidate(); err == nil {
		t.Error("TestValidate")
	}
	it.SeekToFirst()
	var err error
	for err == nil && it.Valid() {
		err = it.NextAndValidate(true)
	}
	if err == nil || it.Valid() {
		t.Errorf("NextAndValidate: %v", err)
	}
	if err := it.SeekAndValidate(l.internalKey(180), true, true, nil); err == nil || it.Valid() {
		// The search need not pass the bad node; a walk over level 0 does.
		for err == nil && it.Valid() {
			err = it.PrevAndValidate(true)
		}
		if err == nil {
			t.Error("PrevAndValidate")
		}
	}
	if err := l.MultiGet([][]byte{l.internalKey(90)}, &walking{l, []uint64{1000}, make([]uint64, 1), make([]int, 1)}, true, true, nil); err == nil {
		t.Error("MultiGet")
	}
	seen := 0
	checkAll := func(KeyHandle, bool) error {
		seen++
		return nil
	}
	if err := it.SeekAndValidate(l.internalKey(60), false, false, checkAll); err != nil || seen == 0 {
		t.Errorf("entry validation: %v after %d", err, seen)
	}
}
