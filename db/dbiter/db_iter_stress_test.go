// Port of db/db_iter_stress_test.cc.

package dbiter

import (
	"fmt"
	"math/rand/v2"
	"sort"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/table/internaliter"
	"github.com/rocksdb-go/rocksdb/util"
)

type stressEntry struct {
	key     string
	typ     dbformat.ValueType
	seq     rocksdb.SequenceNumber
	ikey    []byte
	value   string
	visible bool // else it is taken for not there
}

// stressData are entries in order, some of which come and go.
type stressData struct {
	rnd     *rand.Rand
	entries []*stressEntry
	hidden  []int           // which are not visible
	touched map[string]bool // keys of which an entry came or went since the last seek

	failRate, mutateRate float64 // of each move
	hiddenShare          float64 // about so many are to be hidden
}

// mutate hides or shows some entries.
func (d *stressData) mutate() {
	for more := true; more; more = d.rnd.IntN(3) != 0 {
		hide := 2. / 3
		if float64(len(d.hidden)) > float64(len(d.entries))*d.hiddenShare {
			hide = 1. / 3
		}
		if len(d.hidden) == 0 {
			hide = 1
		}
		if d.rnd.Float64() < hide {
			i := d.rnd.IntN(len(d.entries))
			if e := d.entries[i]; e.visible {
				e.visible = false
				d.hidden = append(d.hidden, i)
				d.touched[e.key] = true
				continue
			}
		}
		h := d.rnd.IntN(len(d.hidden))
		e := d.entries[d.hidden[h]]
		e.visible = true
		d.touched[e.key] = true
		d.hidden[h] = d.hidden[len(d.hidden)-1]
		d.hidden = d.hidden[:len(d.hidden)-1]
	}
}

// stressIterator is over entries that come and go, and fails now and then.
type stressIterator struct {
	internaliter.Base
	*stressData
	at  int
	err error
}

func (it *stressIterator) Valid() bool     { return it.at >= 0 && it.at < len(it.entries) }
func (it *stressIterator) Status() error   { return it.err }
func (it *stressIterator) Key() []byte     { return it.entries[it.at].ikey }
func (it *stressIterator) UserKey() []byte { return dbformat.ExtractUserKey(it.Key()) }
func (it *stressIterator) Value() []byte   { return []byte(it.entries[it.at].value) }

// IsKeyPinned is true, and so is IsValuePinned: entries stay where they are.
func (it *stressIterator) IsKeyPinned() bool   { return true }
func (it *stressIterator) IsValuePinned() bool { return true }

// move goes to a place and on from it to a visible entry, or fails.
func (it *stressIterator) move(to func() int, step int) {
	if it.rnd.Float64() < it.failRate {
		it.at = -1
		if it.err = rocksdb.IOError("test"); it.rnd.IntN(2) == 0 {
			it.err = rocksdb.Incomplete("test")
		}
		return
	}
	if it.rnd.Float64() < it.mutateRate {
		it.mutate()
	}
	it.err = nil
	for it.at = to(); it.Valid() && !it.entries[it.at].visible; {
		it.at += step
	}
}

var stressICmp = dbformat.NewInternalKeyComparator(util.BytewiseComparator())

// find gives the first entry whose key is at least target.
func (it *stressIterator) find(target []byte) int {
	return sort.Search(len(it.entries), func(i int) bool { return stressICmp.Compare(it.entries[i].ikey, target) >= 0 })
}

func (it *stressIterator) SeekToFirst()       { it.move(func() int { return 0 }, 1) }
func (it *stressIterator) SeekToLast()        { it.move(func() int { return len(it.entries) - 1 }, -1) }
func (it *stressIterator) Seek(target []byte) { it.move(func() int { return it.find(target) }, 1) }
func (it *stressIterator) Next()              { it.move(func() int { return it.at + 1 }, 1) }
func (it *stressIterator) Prev()              { it.move(func() int { return it.at - 1 }, -1) }

func (it *stressIterator) SeekForPrev(target []byte) {
	it.move(func() int {
		i := it.find(target)
		if i == len(it.entries) || stressICmp.Compare(it.entries[i].ikey, target) > 0 {
			i--
		}
		return i
	}, -1)
}

func (it *stressIterator) NextAndGetResult(res *internaliter.IterateResult) bool {
	return internaliter.NextAndGetResult(it, res)
}

// referenceIterator shows what a DBIter has to, by searches alone, but for keys
// that were touched.
type referenceIterator struct {
	*stressData
	seq   rocksdb.SequenceNumber
	valid bool
	key   string
	value string
}

// move goes to the first key after r.key, or before it, that has a value; with
// same that may be r.key itself.
func (r *referenceIterator) move(forward, same bool) {
	for ; r.nextKey(forward, same); same = false {
		if r.valid = r.findValue(); r.valid {
			return
		}
	}
	r.valid = false
}

func (r *referenceIterator) nextKey(forward, same bool) bool {
	i := sort.Search(len(r.entries), func(i int) bool {
		if forward == same {
			return r.entries[i].key >= r.key
		}
		return r.entries[i].key > r.key
	})
	if !forward {
		i--
	}
	if i < 0 || i >= len(r.entries) {
		return false
	}
	r.key = r.entries[i].key
	return true
}

func (r *referenceIterator) findValue() bool {
	if r.touched[r.key] {
		return false
	}
	i := sort.Search(len(r.entries), func(i int) bool {
		e := r.entries[i]
		return e.key > r.key || e.key == r.key && e.seq <= r.seq
	})
	var operands []string // newest first
	for ; i < len(r.entries) && r.entries[i].key == r.key; i++ {
		e := r.entries[i]
		if !e.visible {
			continue
		}
		if e.typ == dbformat.TypeDeletion {
			break
		}
		if operands = append(operands, e.value); e.typ == dbformat.TypeValue {
			break
		}
	}
	r.value = ""
	for i := len(operands) - 1; i >= 0; i-- {
		if r.value != "" {
			r.value += ","
		}
		r.value += operands[i]
	}
	return len(operands) > 0
}

// stressTest moves a DBIter over changing data and a reference along with it.
type stressTest struct {
	*testing.T
	stressData
	maxKey   int
	db       *DBIter
	ref      *referenceIterator
	matching int
	atEnd    int
	failed   int
	changed  int
}

func (x *stressTest) randomKey() string {
	digits := len(fmt.Sprint(x.maxKey))
	return fmt.Sprintf("%0*d", digits, x.rnd.IntN(x.maxKey))
}

// generate makes n entries, most of them of one type.
func (x *stressTest) generate(n int, prevalent dbformat.ValueType) {
	x.entries, x.hidden, x.touched = nil, nil, map[string]bool{}
	for i := range n {
		e := &stressEntry{key: x.randomKey(), typ: prevalent, seq: rocksdb.SequenceNumber(i), value: fmt.Sprint("v", i), visible: true}
		if x.rnd.IntN(10) == 0 {
			e.typ = []dbformat.ValueType{dbformat.TypeValue, dbformat.TypeDeletion, dbformat.TypeMerge}[x.rnd.IntN(3)]
		}
		e.ikey = dbformat.NewInternalKey([]byte(e.key), e.seq, e.typ)
		x.entries = append(x.entries, e)
	}
	sort.Slice(x.entries, func(i, j int) bool { return stressICmp.Compare(x.entries[i].ikey, x.entries[j].ikey) < 0 })
}

func (x *stressTest) renew() {
	seq := rocksdb.SequenceNumber(x.rnd.IntN(len(x.entries) + 2))
	x.ref = &referenceIterator{stressData: &x.stressData, seq: seq}
	x.db = New(defaultConfig(&stressIterator{stressData: &x.stressData, at: -1}, stressICmp, seq))
}

// step moves both; the reference comes second, when it is known which keys were
// touched.
func (x *stressTest) step() {
	forward := x.rnd.IntN(2) == 0
	if x.ref.valid && x.rnd.IntN(10) != 0 {
		from := x.ref.key
		if forward {
			x.db.Next()
		} else {
			x.db.Prev()
		}
		x.ref.move(forward, false)
		x.check(forward, false, from)
		return
	}
	clear(x.touched)
	ends := x.rnd.IntN(4) == 0
	from := x.randomKey()
	switch {
	case ends && forward:
		from = ""
		x.db.SeekToFirst()
	case ends:
		from = x.entries[len(x.entries)-1].key
		x.db.SeekToLast()
	case forward:
		x.db.Seek([]byte(from))
	default:
		x.db.SeekForPrev([]byte(from))
	}
	x.ref.key = from
	x.ref.move(forward, true)
	x.check(forward, true, from)
}

func (x *stressTest) check(forward, seek bool, from string) {
	x.Helper()
	if !x.db.Valid() {
		if x.db.Status() != nil {
			x.failed++
			x.ref.valid = false // to seek next
			return
		}
		if x.ref.valid {
			x.Fatalf("from %q, forward %v, seek %v: not valid, want %q", from, forward, seek, x.ref.key)
		}
		x.atEnd++
		return
	}
	key := string(x.db.Key())
	if err := x.db.Status(); err != nil {
		x.Fatal(err)
	}
	if !x.touched[key] {
		if !x.ref.valid || key != x.ref.key || string(x.db.Value()) != x.ref.value {
			x.Fatalf("from %q, forward %v, seek %v: %q->%q, want %v %q->%q", from, forward, seek, key, x.db.Value(), x.ref.valid, x.ref.key, x.ref.value)
		}
		x.matching++
		return
	}
	// The reference does not stop here; the direction must be right, and no key
	// that it has may be passed.
	order := func(a, b string) int {
		if forward {
			return strings.Compare(a, b)
		}
		return strings.Compare(b, a)
	}
	if c := order(from, key); c > 0 || c == 0 && !seek || x.ref.valid && order(key, x.ref.key) >= 0 {
		x.Fatalf("from %q, forward %v, seek %v: %q was touched; reference %v %q", from, forward, seek, key, x.ref.valid, x.ref.key)
	}
	x.ref.valid = false
	x.changed++
}

func TestDBIteratorStressTest_StressTest(t *testing.T) {
	const operations = 400 // of each combination
	x := &stressTest{T: t}
	x.rnd = rand.New(rand.NewPCG(826909345792864532, 1))
	for _, entries := range []int{5, 10, 100} {
		for _, keySpace := range []float64{0.1, 1, 3} {
			for _, prevalent := range []dbformat.ValueType{dbformat.TypeValue, dbformat.TypeDeletion, dbformat.TypeMerge} {
				for bits := range 8 {
					pick := func(bit int, no, yes float64) float64 {
						if bits>>bit&1 == 1 {
							return yes
						}
						return no
					}
					x.failRate, x.mutateRate, x.hiddenShare = pick(0, 0.01, 0.1), pick(1, 0.01, 0.5), pick(2, 0.1, 0.5)
					x.maxKey = int(float64(entries)*keySpace) + 1
					x.generate(entries, prevalent)
					x.renew()
					for range operations {
						if x.rnd.IntN(30) == 0 {
							x.renew()
						}
						x.step()
					}
				}
			}
		}
	}
	for what, n := range map[string]int{"matching": x.matching, "at the end": x.atEnd, "failed": x.failed, "changed": x.changed} {
		if n < 2*operations {
			t.Errorf("%s: %d times only", what, n)
		}
	}
}
