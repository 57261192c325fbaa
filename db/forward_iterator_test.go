// No upstream twin: tailing iterators against fresh plain ones.

package db_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

// tailTest is a tailing iterator about to be moved while its tree changes.
type tailTest struct {
	*cfTest
	ro    rocksdb.ReadOptions // of plain iterators with the same bound
	it    *rocksdb.Iterator
	n     int             // values written
	known map[string]bool // the keys at the last move
}

// live is what a fresh iterator shows from a key on, in order; nil is the first.
func (x *tailTest) live(from []byte) (entries []string) {
	it := x.db.NewIterator(&x.ro)
	defer it.Close()
	for it.Seek(from); it.Valid(); it.Next() {
		entries = append(entries, iterStatus(it))
	}
	x.must(it.Status())
	return append(entries, "(invalid)")
}

func keyOf(entry string) string { k, _, _ := strings.Cut(entry, "->"); return k }

func (x *tailTest) remember() {
	x.known = map[string]bool{}
	for _, e := range x.live(nil) {
		x.known[keyOf(e)] = true
	}
}

// seek has to find what a fresh iterator does.
func (x *tailTest) seek(target []byte) {
	if target == nil {
		x.it.SeekToFirst()
	} else {
		x.it.Seek(target)
	}
	x.must(x.it.Status())
	if got, want := iterStatus(x.it), x.live(target)[0]; got != want {
		x.Fatalf("seek to %q: at %q, not %q", target, got, want)
	}
	x.remember()
}

// next has to go on without leaving out what was there all the time. What was
// written or deleted since the last move may be seen or not.
func (x *tailTest) next() {
	if !x.it.Valid() {
		return
	}
	from := string(x.it.Key())
	x.it.Next()
	x.must(x.it.Status())
	to := "(invalid)"
	if x.it.Valid() {
		if to = string(x.it.Key()); to <= from {
			x.Fatalf("next after %q: at %q", from, to)
		}
	}
	for _, e := range x.live([]byte(from)) {
		k := keyOf(e)
		if k == "(invalid)" || x.it.Valid() && k >= to {
			break
		}
		if k > from && x.known[k] {
			x.Fatalf("next after %q: at %q, not %q", from, to, k)
		}
	}
	x.remember()
}

func (x *tailTest) step(rnd *util.Random) {
	k := key(int(rnd.Uniform(30)))
	switch rnd.Uniform(16) {
	case 0, 1, 2:
		x.n++
		x.put(0, k, fmt.Sprint(x.n, rnd.HumanReadableString(200)))
	case 3:
		x.n++
		x.must(x.merge(0, k, fmt.Sprint(x.n)))
	case 4, 5:
		x.must(x.db.Delete(nil, []byte(k)))
	case 6:
		x.flush(0)
	case 7:
		if rnd.OneIn(4) {
			x.compactAll(0, true)
		}
	case 8, 9, 10, 11:
		x.seek([]byte(k))
	case 12:
		x.seek(nil)
	default:
		x.next()
	}
}

// TestForwardIterator_SeesWhatIsThere moves a tailing iterator about in a tree
// that changes.
func TestForwardIterator_SeesWhatIsThere(t *testing.T) {
	for seed := range uint32(6) {
		x := &tailTest{cfTest: newCFTest(t), ro: rocksdb.DefaultReadOptions()}
		x.cfo.DisableAutoCompactions = true
		x.cfo.TargetFileSizeBase = 2 << 10 // several tables a level
		x.cfo.MergeOperator = rocksdb.NewStringAppendOperator(",")
		x.open()
		if seed%2 == 1 {
			x.ro.IterateUpperBound = []byte(key(25))
		}
		tailing := x.ro
		tailing.Tailing = true
		x.it = x.db.NewIterator(&tailing)
		rnd := util.NewRandom(seed + 301)
		for range 1000 {
			x.step(rnd)
		}
		x.must(x.it.Close())
		x.destroy()
	}
}

func TestForwardIterator_NotSupported(t *testing.T) {
	x := newCFTest(t)
	x.open()
	x.put(0, "a", "1")
	x.put(0, "b", "2")
	ro := rocksdb.DefaultReadOptions()
	ro.Tailing = true
	for what, move := range map[string]func(it *rocksdb.Iterator){
		"SeekToLast":  func(it *rocksdb.Iterator) { it.SeekToLast() },
		"SeekForPrev": func(it *rocksdb.Iterator) { it.SeekForPrev([]byte("b")) },
		"Prev": func(it *rocksdb.Iterator) {
			it.Seek([]byte("b"))
			it.Prev()
		},
	} {
		it := x.db.NewIterator(&ro)
		move(it)
		if it.Valid() || !errors.Is(it.Status(), rocksdb.ErrNotSupported) {
			t.Errorf("%s: valid %v, %v", what, it.Valid(), it.Status())
		}
		x.must(it.Close())
	}
	// A range tombstone in the memtable, in level 0, further down.
	x.must(x.db.DeleteRange(nil, []byte("b"), []byte("c")))
	snap := x.db.GetSnapshot()
	for i := range 3 {
		it := x.db.NewIterator(&ro)
		it.SeekToFirst()
		if it.Valid() || !errors.Is(it.Status(), rocksdb.ErrNotSupported) {
			t.Errorf("range tombstone, place %d: valid %v, %v", i, it.Valid(), it.Status())
		}
		x.must(it.Close())
		if i == 0 {
			x.flush(0)
		} else if i == 1 {
			x.compactAll(0, true)
		}
	}
	x.must(x.db.ReleaseSnapshot(snap))
	x.close()
}
