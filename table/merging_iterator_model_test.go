// No upstream twin. Strategy: random levels with random files, keys and range
// tombstones; every walk of a merging iterator, with changes of direction and
// seeks, against a sorted list of what no tombstone hides. Levels show file
// boundaries as the engine's do.

package table

import (
	"fmt"
	"math/rand"
	"sort"
	"sync/atomic"
	"testing"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/db/rangedel"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/table/internaliter"
)

type modelFile struct {
	keys              [][]byte
	tombstones        *rangedel.FragmentedRangeTombstoneList
	smallest, largest dbformat.InternalKey
}

// levelIter walks a level's files and shows, after the keys of each file (before
// them, backward), a sentinel.
type levelIter struct {
	internaliter.Base
	files    []*modelFile
	slot     **rangedel.TruncatedRangeDelIterator
	readSeq  rocksdb.SequenceNumber
	file     int // len(files) or -1 when not valid
	at       int
	sentinel []byte // the present one, nil on a key
}

func (l *levelIter) inFile() bool { return l.file >= 0 && l.file < len(l.files) }
func (l *levelIter) Valid() bool  { return l.inFile() }
func (l *levelIter) Key() []byte {
	if l.sentinel != nil {
		return l.sentinel
	}
	return l.files[l.file].keys[l.at]
}
func (l *levelIter) UserKey() []byte                { return dbformat.ExtractUserKey(l.Key()) }
func (l *levelIter) Value() []byte                  { return l.Key() }
func (l *levelIter) Status() error                  { return nil }
func (l *levelIter) IsDeleteRangeSentinelKey() bool { return l.sentinel != nil }

func (l *levelIter) open(i int) {
	l.file, l.sentinel = i, nil
	if l.slot == nil {
		return
	}
	*l.slot = nil
	if l.inFile() && !l.files[i].tombstones.Empty() {
		f := l.files[i]
		*l.slot = rangedel.NewTruncatedRangeDelIterator(
			rangedel.NewFragmentedRangeTombstoneIterator(f.tombstones, bytewiseICmp, l.readSeq, nil, 0), bytewiseICmp, f.smallest, f.largest)
	}
}

// settle goes on from a place that may be off the file's end.
func (l *levelIter) settle(back bool) {
	for l.inFile() {
		f := l.files[l.file]
		if l.at >= 0 && l.at < len(f.keys) {
			return
		}
		if l.slot != nil && l.sentinel == nil {
			if back {
				l.sentinel = f.smallest
			} else {
				l.sentinel = f.largest
			}
			return
		}
		l.step(back)
	}
}

func (l *levelIter) step(back bool) {
	if back {
		if l.open(l.file - 1); l.inFile() {
			l.at = len(l.files[l.file].keys) - 1
			if l.slot != nil && *l.slot != nil {
				(*l.slot).SeekToLast()
			}
		}
		return
	}
	if l.open(l.file + 1); l.inFile() {
		l.at = 0
		if l.slot != nil && *l.slot != nil {
			(*l.slot).SeekToFirst()
		}
	}
}

func (l *levelIter) SeekToFirst() { l.open(0); l.at = 0; l.settle(false) }
func (l *levelIter) SeekToLast() {
	l.open(len(l.files) - 1)
	if l.inFile() {
		l.at = len(l.files[l.file].keys) - 1
	}
	l.settle(true)
}

func (l *levelIter) Seek(target []byte) {
	l.open(sort.Search(len(l.files), func(i int) bool { return bytewiseICmp.Compare(l.files[i].largest, target) >= 0 }))
	if l.inFile() {
		keys := l.files[l.file].keys
		l.at = sort.Search(len(keys), func(i int) bool { return bytewiseICmp.Compare(keys[i], target) >= 0 })
	}
	l.settle(false)
}

func (l *levelIter) SeekForPrev(target []byte) {
	i := sort.Search(len(l.files), func(i int) bool { return bytewiseICmp.Compare(l.files[i].largest, target) >= 0 })
	l.open(min(i, len(l.files)-1))
	if l.inFile() {
		keys := l.files[l.file].keys
		l.at = sort.Search(len(keys), func(i int) bool { return bytewiseICmp.Compare(keys[i], target) > 0 }) - 1
		if bytewiseICmp.Compare(target, l.files[l.file].smallest) < 0 {
			l.step(true) // a sentinel here would be after target
		}
	}
	l.settle(true)
}

func (l *levelIter) Next() { l.move(false) }
func (l *levelIter) Prev() { l.move(true) }

func (l *levelIter) move(back bool) {
	if l.sentinel != nil {
		l.step(back)
	} else if back {
		l.at--
	} else {
		l.at++
	}
	l.settle(back)
}

func (l *levelIter) NextAndGetResult(res *internaliter.IterateResult) bool {
	return internaliter.NextAndGetResult(l, res)
}

type model struct {
	r       *rand.Rand
	levels  [][]*modelFile
	visible [][]byte // keys, in order
	all     [][]byte
	starts  int // tombstones in all files
}

func userKey(i int) []byte { return []byte(fmt.Sprintf("k%02d", i)) }

func makeModel(seed int64) *model {
	m := &model{r: rand.New(rand.NewSource(seed))}
	const keySpace = 30
	var tombstones []dbformat.RangeTombstone
	seq := uint64(1000)
	for range 1 + m.r.Intn(5) {
		seq -= 100 // older levels have smaller sequence numbers
		var keys [][]byte
		for i := range keySpace {
			if m.r.Intn(3) == 0 {
				for v := range 1 + m.r.Intn(3) {
					keys = append(keys, dbformat.NewInternalKey(userKey(i), seq+90-uint64(v*20+m.r.Intn(19)), dbformat.TypeValue))
				}
			}
		}
		var level []dbformat.RangeTombstone
		for range m.r.Intn(4) {
			a := m.r.Intn(keySpace)
			level = append(level, dbformat.RangeTombstone{StartKey: userKey(a), EndKey: userKey(a + 1 + m.r.Intn(10)), Seq: seq + uint64(m.r.Intn(95))})
		}
		tombstones = append(tombstones, level...)
		m.all = append(m.all, keys...)
		m.levels = append(m.levels, m.cut(keys, level, keySpace))
	}
	for _, k := range m.all {
		hidden := false
		for _, d := range tombstones {
			u := string(dbformat.ExtractUserKey(k))
			hidden = hidden || d.Seq > dbformat.GetInternalKeySeqno(k) && string(d.StartKey) <= u && u < string(d.EndKey)
		}
		if !hidden {
			m.visible = append(m.visible, k)
		}
	}
	less := func(s [][]byte) func(i, j int) bool {
		return func(i, j int) bool { return bytewiseICmp.Compare(s[i], s[j]) < 0 }
	}
	sort.Slice(m.visible, less(m.visible))
	sort.Slice(m.all, less(m.all))
	return m
}

// cut makes files of a level, at random user keys.
func (m *model) cut(keys [][]byte, tombstones []dbformat.RangeTombstone, keySpace int) []*modelFile {
	var files []*modelFile
	for from := 0; from < keySpace+20; {
		to := from + 1 + m.r.Intn(keySpace)
		lo, hi := string(userKey(from)), string(userKey(to))
		from = to
		f := &modelFile{}
		for _, k := range keys {
			if u := string(dbformat.ExtractUserKey(k)); lo <= u && u < hi {
				f.keys = append(f.keys, k)
			}
		}
		var tk, tv [][]byte
		extend := func(k dbformat.InternalKey, largest bool) {
			if !largest && (f.smallest == nil || bytewiseICmp.Compare(k, f.smallest) < 0) {
				f.smallest = k
			}
			if largest && (f.largest == nil || bytewiseICmp.Compare(k, f.largest) > 0) {
				f.largest = k
			}
		}
		if len(f.keys) > 0 {
			extend(f.keys[0], false)
			extend(f.keys[len(f.keys)-1], true)
		}
		for i := range tombstones {
			d := &tombstones[i]
			s, e := string(d.StartKey), string(d.EndKey)
			if s >= hi || e <= lo {
				continue
			}
			k, v := d.Serialize()
			tk, tv = append(tk, k), append(tv, v)
			m.starts++
			extend(dbformat.NewInternalKey([]byte(max(s, lo)), d.Seq, dbformat.TypeRangeDeletion), false)
			extend(dbformat.NewInternalKey([]byte(min(e, hi)), dbformat.MaxSequenceNumber, dbformat.TypeRangeDeletion), true)
		}
		if f.smallest == nil {
			continue
		}
		list, err := rangedel.NewFragmentedRangeTombstoneList(internaliter.NewVectorIterator(tk, tv, bytewiseICmp.Compare), bytewiseICmp, false, nil, true)
		if err != nil {
			panic(err)
		}
		f.tombstones = list
		files = append(files, f)
	}
	return files
}

// SetRangeDelIterSlot implements LevelTombstones.
func (l *levelIter) SetRangeDelIterSlot(slot **rangedel.TruncatedRangeDelIterator) { l.slot = slot }

func (m *model) iterator() internaliter.InternalIterator {
	b := NewMergeIteratorBuilder(bytewiseICmp, false, nil)
	for _, files := range m.levels {
		l := &levelIter{files: files, readSeq: dbformat.MaxSequenceNumber, file: -1}
		b.AddPointAndTombstoneIterator(l, nil, l)
	}
	return b.Finish(nil)
}

func TestMergingIterator_Model(t *testing.T) {
	for seed := range int64(1500) {
		m := makeModel(seed)
		it := m.iterator()
		at := len(m.visible) // the expected place; -1 or len when not valid
		check := func(what string) {
			t.Helper()
			valid := at >= 0 && at < len(m.visible)
			if it.Status() != nil || it.Valid() != valid {
				t.Fatalf("seed %d: after %s valid is %v, want %v (%v)", seed, what, it.Valid(), valid, it.Status())
			}
			if valid && bytewiseICmp.Compare(it.Key(), m.visible[at]) != 0 {
				t.Fatalf("seed %d: after %s at %s, want %s", seed, what, dbformat.InternalKey(it.Key()).DebugString(false), dbformat.InternalKey(m.visible[at]).DebugString(false))
			}
		}
		it.SeekToFirst()
		for at = 0; at <= len(m.visible); at++ {
			check("forward scan")
			if it.Valid() {
				it.Next()
			}
		}
		it.SeekToLast()
		for at = len(m.visible) - 1; at >= -1; at-- {
			check("backward scan")
			if it.Valid() {
				it.Prev()
			}
		}
		for range 60 {
			target := dbformat.NewInternalKey(userKey(m.r.Intn(34)), uint64(m.r.Intn(1100)), dbformat.ValueTypeForSeek)
			switch op := m.r.Intn(10); {
			case op == 0:
				it.Seek(target)
				at = sort.Search(len(m.visible), func(i int) bool { return bytewiseICmp.Compare(m.visible[i], target) >= 0 })
				check("Seek " + target.DebugString(false))
			case op == 1:
				it.SeekForPrev(target)
				at = sort.Search(len(m.visible), func(i int) bool { return bytewiseICmp.Compare(m.visible[i], target) > 0 }) - 1
				check("SeekForPrev " + target.DebugString(false))
			case !it.Valid():
				it.SeekToFirst()
				at = 0
				check("SeekToFirst")
			case op%2 == 0:
				it.Next()
				at++
				check("Next")
			default:
				it.Prev()
				at--
				check("Prev")
			}
		}
		if err := it.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// A compaction's merge shows all keys, and each file's tombstone starts, in
// order.
func TestCompactionMergingIterator_Model(t *testing.T) {
	for seed := range int64(500) {
		m := makeModel(seed)
		var children []CompactionChild
		wantStarts := 0
		for _, files := range m.levels {
			l := &levelIter{files: files, readSeq: dbformat.MaxSequenceNumber, file: -1}
			children = append(children, CompactionChild{Point: l, SetSlot: func(slot **rangedel.TruncatedRangeDelIterator) { l.slot = slot }})
			for _, f := range files {
				tr := rangedel.NewTruncatedRangeDelIterator(rangedel.NewFragmentedRangeTombstoneIterator(f.tombstones, bytewiseICmp, dbformat.MaxSequenceNumber, nil, 0), bytewiseICmp, f.smallest, f.largest)
				for tr.SeekToFirst(); tr.Valid(); tr.Next() {
					wantStarts++
				}
			}
		}
		var runs atomic.Int64
		it := NewCompactionMergingIterator(bytewiseICmp, children, &runs)
		if int(runs.Load()) != len(children) {
			t.Fatalf("%d runs", runs.Load())
		}
		var last []byte
		keys, starts := 0, 0
		for it.SeekToFirst(); it.Valid(); it.Next() {
			if last != nil && bytewiseICmp.Compare(last, it.Key()) > 0 {
				t.Fatalf("seed %d: %q after %q", seed, it.Key(), last)
			}
			last = append(last[:0], it.Key()...)
			if it.IsDeleteRangeSentinelKey() {
				starts++
				continue
			}
			if keys >= len(m.all) || bytewiseICmp.Compare(it.Key(), m.all[keys]) != 0 {
				t.Fatalf("seed %d: key %d is %q", seed, keys, it.Key())
			}
			keys++
		}
		if keys != len(m.all) || starts != wantStarts || it.Status() != nil {
			t.Fatalf("seed %d: %d keys of %d, %d starts of %d, %v", seed, keys, len(m.all), starts, wantStarts, it.Status())
		}
		if err := it.Close(); err != nil || runs.Load() != 0 {
			t.Fatal(err, runs.Load())
		}
	}
}
