// No upstream twin: random runs of keys and range tombstones under a merging
// iterator, which any walk has to show as a sorted list of what no tombstone
// hides.

package table

import (
	"bytes"
	"fmt"
	"slices"
	"sort"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

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

// tombstoneIter is over the file's tombstones up to readSeq, nil when it has none.
func (f *modelFile) tombstoneIter(readSeq rocksdb.SequenceNumber) *rangedel.TruncatedRangeDelIterator {
	if f.tombstones.Empty() {
		return nil
	}
	return rangedel.NewTruncatedRangeDelIterator(
		rangedel.NewFragmentedRangeTombstoneIterator(f.tombstones, bytewiseICmp, readSeq, nil, 0), bytewiseICmp, f.smallest, f.largest)
}

// levelIter walks a level's files and shows, after the keys of each file (before
// them, backward), a sentinel, where a merge has given it a slot for tombstones.
type levelIter struct {
	internaliter.Base
	files    []*modelFile
	slot     **rangedel.TruncatedRangeDelIterator
	readSeq  rocksdb.SequenceNumber
	file     int // len(files) or -1 when not valid
	at       int
	sentinel []byte // the present one, nil on a key

	lazy     bool // values have to be prepared
	prepared bool
	async    []bool // of each seek in turn, whether it stays pending at first
	seeks    int
	pending  []byte // target of the pending seek
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
func (l *levelIter) PrepareValue() bool             { l.prepared = true; return true }
func (l *levelIter) Status() error                  { return nil }
func (l *levelIter) IsDeleteRangeSentinelKey() bool { return l.sentinel != nil }

// Value is the key, nil where it was not prepared.
func (l *levelIter) Value() []byte {
	if l.lazy && !l.prepared {
		return nil
	}
	return l.Key()
}

// SetRangeDelReadSeqno is for the files to come.
func (l *levelIter) SetRangeDelReadSeqno(seq rocksdb.SequenceNumber) { l.readSeq = seq }

// SetRangeDelIterSlot implements LevelTombstones.
func (l *levelIter) SetRangeDelIterSlot(slot **rangedel.TruncatedRangeDelIterator) { l.slot = slot }

// began has to be called first by every move.
func (l *levelIter) began() {
	if l.pending != nil {
		panic("a move before the pending seek has ended")
	}
	l.prepared = false
}

func (l *levelIter) open(i int) {
	l.file, l.sentinel = i, nil
	if l.slot == nil {
		return
	}
	*l.slot = nil
	if l.inFile() {
		*l.slot = l.files[i].tombstoneIter(l.readSeq)
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

func (l *levelIter) SeekToFirst() {
	l.began()
	l.open(0)
	l.at = 0
	l.settle(false)
}

func (l *levelIter) SeekToLast() {
	l.began()
	l.open(len(l.files) - 1)
	if l.inFile() {
		l.at = len(l.files[l.file].keys) - 1
	}
	l.settle(true)
}

// find gives the first file that ends at or after target.
func (l *levelIter) find(target []byte) int {
	return sort.Search(len(l.files), func(i int) bool { return bytewiseICmp.Compare(l.files[i].largest, target) >= 0 })
}

func (l *levelIter) Seek(target []byte) {
	if l.pending != nil && !bytes.Equal(l.pending, target) {
		panic("another target than the pending seek's")
	}
	if l.pending != nil {
		l.pending, l.file = nil, l.find(target) // which is open
	} else {
		l.open(l.find(target))
	}
	l.prepared = false
	if l.inFile() {
		keys := l.files[l.file].keys
		l.at = sort.Search(len(keys), func(i int) bool { return bytewiseICmp.Compare(keys[i], target) >= 0 })
	}
	l.settle(false)
}

// AsyncSeekable implements internaliter.AsyncSeeker.
func (l *levelIter) AsyncSeekable() bool { return len(l.async) > 0 }

// SeekAsync opens the file, with its tombstones; a pending seek has yet to find
// the key.
func (l *levelIter) SeekAsync(target []byte) bool {
	l.seeks++
	if !l.async[l.seeks%len(l.async)] {
		l.Seek(target)
		return false
	}
	l.began()
	if l.open(l.find(target)); !l.inFile() {
		return false
	}
	l.file, l.pending = len(l.files), bytes.Clone(target)
	return true
}

func (l *levelIter) SeekForPrev(target []byte) {
	l.began()
	l.open(min(l.find(target), len(l.files)-1))
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
	l.began()
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

// runs are sorted runs, the newest first, and what a merge of them has to show.
type runs struct {
	t       *rapid.T
	readSeq rocksdb.SequenceNumber
	runs    [][]*modelFile
	level   []bool   // whether the run is a level of files, else it is one file
	visible [][]byte // keys that no tombstone up to readSeq hides, in order
	all     [][]byte
}

const numUserKeys = 30

func userKey(i int) []byte { return []byte(fmt.Sprintf("k%02d", i)) }

func drawUserKey(t *rapid.T, label string) int {
	return rapid.IntRange(0, numUserKeys-1).Draw(t, label)
}

func drawRuns(t *rapid.T) *runs {
	m := &runs{t: t, readSeq: dbformat.MaxSequenceNumber}
	if rapid.Bool().Draw(t, "snapshot") {
		m.readSeq = rocksdb.SequenceNumber(rapid.IntRange(400, 1100).Draw(t, "read seq"))
	}
	var tombstones []dbformat.RangeTombstone
	for run := range rapid.IntRange(1, 6).Draw(t, "runs") {
		base := rocksdb.SequenceNumber(900 - 100*run) // older runs have smaller sequence numbers
		var keys [][]byte
		taken := map[rocksdb.SequenceNumber]bool{}
		for range rapid.IntRange(0, 30).Draw(t, "keys") {
			seq := base + rocksdb.SequenceNumber(rapid.IntRange(0, 95).Draw(t, "seq"))
			if !taken[seq] {
				taken[seq] = true
				keys = append(keys, dbformat.NewInternalKey(userKey(drawUserKey(t, "key")), seq, dbformat.TypeValue))
			}
		}
		slices.SortFunc(keys, bytewiseICmp.Compare)
		var own []dbformat.RangeTombstone
		for range rapid.IntRange(0, 4).Draw(t, "tombstones") {
			begin := drawUserKey(t, "begin")
			end := begin + rapid.IntRange(1, 10).Draw(t, "length")
			seq := base + rocksdb.SequenceNumber(rapid.IntRange(0, 95).Draw(t, "seq"))
			own = append(own, dbformat.RangeTombstone{StartKey: userKey(begin), EndKey: userKey(end), Seq: seq})
		}
		tombstones = append(tombstones, own...)
		m.all = append(m.all, keys...)
		level := rapid.Bool().Draw(t, "level")
		m.level = append(m.level, level)
		m.runs = append(m.runs, cutFiles(t, keys, own, level))
	}
	slices.SortFunc(m.all, bytewiseICmp.Compare)
	for _, k := range m.all {
		if !slices.ContainsFunc(tombstones, func(d dbformat.RangeTombstone) bool { return m.hides(&d, k) }) {
			m.visible = append(m.visible, k)
		}
	}
	return m
}

func (m *runs) hides(d *dbformat.RangeTombstone, key []byte) bool {
	user := dbformat.ExtractUserKey(key)
	return d.Seq <= m.readSeq && d.Seq > dbformat.GetInternalKeySeqno(key) &&
		bytes.Compare(d.StartKey, user) <= 0 && bytes.Compare(user, d.EndKey) < 0
}

// cutFiles makes files of a run, one or some, which end at user keys.
func cutFiles(t *rapid.T, keys [][]byte, tombstones []dbformat.RangeTombstone, several bool) []*modelFile {
	var files []*modelFile
	for from := 0; from < numUserKeys+20; {
		to := numUserKeys + 20
		if several {
			to = from + rapid.IntRange(1, numUserKeys).Draw(t, "file")
		}
		if f := newModelFile(keys, tombstones, userKey(from), userKey(to)); f.smallest != nil {
			files = append(files, f)
		}
		from = to
	}
	return files
}

// newModelFile has what lies from lo to before hi; without bounds when it is empty.
func newModelFile(keys [][]byte, tombstones []dbformat.RangeTombstone, lo, hi []byte) *modelFile {
	f := &modelFile{}
	extend := func(smallest, largest dbformat.InternalKey) {
		if f.smallest == nil || bytewiseICmp.Compare(smallest, f.smallest) < 0 {
			f.smallest = smallest
		}
		if f.largest == nil || bytewiseICmp.Compare(largest, f.largest) > 0 {
			f.largest = largest
		}
	}
	for _, k := range keys {
		if u := dbformat.ExtractUserKey(k); bytes.Compare(lo, u) <= 0 && bytes.Compare(u, hi) < 0 {
			f.keys = append(f.keys, k)
			extend(k, k)
		}
	}
	var starts, ends [][]byte
	for i := range tombstones {
		d := &tombstones[i]
		if bytes.Compare(d.StartKey, hi) >= 0 || bytes.Compare(d.EndKey, lo) <= 0 {
			continue
		}
		k, v := d.Serialize()
		starts, ends = append(starts, k), append(ends, v)
		begin, end := d.StartKey, d.EndKey
		if bytes.Compare(begin, lo) < 0 {
			begin = lo
		}
		if bytes.Compare(end, hi) > 0 {
			end = hi
		}
		extend(dbformat.NewInternalKey(begin, d.Seq, dbformat.TypeRangeDeletion),
			dbformat.NewInternalKey(end, dbformat.MaxSequenceNumber, dbformat.TypeRangeDeletion))
	}
	list, err := rangedel.NewFragmentedRangeTombstoneList(internaliter.NewVectorIterator(starts, ends, bytewiseICmp.Compare), bytewiseICmp, false, nil, true)
	if err != nil {
		panic(err)
	}
	f.tombstones = list
	return f
}

// walk is a merge of the runs, of which the model knows the place.
type walk struct {
	*runs
	it    internaliter.InternalIterator
	upper []byte // user key; past it tombstones may be left out. nil for none
	at    int    // place in visible; -1 or its length when not valid
}

func (m *runs) walk() *walk {
	w := &walk{runs: m}
	if rapid.Bool().Draw(m.t, "upper?") {
		w.upper = userKey(drawUserKey(m.t, "upper"))
	}
	var async []bool
	if rapid.Bool().Draw(m.t, "async?") {
		async = rapid.SliceOfN(rapid.Bool(), 1, 8).Draw(m.t, "async")
	}
	lazy := rapid.Bool().Draw(m.t, "lazy")
	b := NewMergeIteratorBuilder(bytewiseICmp, false, w.upper)
	for i, files := range m.runs {
		l := &levelIter{files: files, readSeq: dbformat.MaxSequenceNumber, file: -1, async: async, seeks: i, lazy: lazy}
		switch {
		case m.level[i]:
			b.AddPointAndTombstoneIterator(l, nil, l)
		case len(files) == 0:
			b.AddIterator(l)
		default:
			b.AddPointAndTombstoneIterator(l, files[0].tombstoneIter(dbformat.MaxSequenceNumber), nil)
		}
	}
	w.it = b.Finish(nil)
	if merge, ok := w.it.(*MergingIterator); ok {
		merge.SetRangeDelReadSeqno(m.readSeq)
	}
	return w
}

// beyond tells whether key is past the upper bound.
func (w *walk) beyond(key []byte) bool {
	return w.upper != nil && bytes.Compare(dbformat.ExtractUserKey(key), w.upper) >= 0
}

func (w *walk) show(i int) string {
	if i < 0 || i >= len(w.visible) {
		return "nothing"
	}
	return dbformat.InternalKey(w.visible[i]).DebugString(false)
}

// check compares after a move forward or back.
func (w *walk) check(what string, back bool) {
	w.t.Helper()
	if err := w.it.Status(); err != nil {
		w.t.Fatalf("%s: %v", what, err)
	}
	valid := w.at >= 0 && w.at < len(w.visible)
	if !back && (!valid || w.beyond(w.visible[w.at])) {
		// Forward and past the bound keys may come that tombstones hide, not too
		// many.
		if !w.it.Valid() && valid || w.it.Valid() && !w.beyond(w.it.Key()) ||
			valid && bytewiseICmp.Compare(w.it.Key(), w.visible[w.at]) > 0 {
			w.t.Fatalf("%s: valid is %v past the bound; %s", what, w.it.Valid(), w.show(w.at))
		}
		return
	}
	if w.it.Valid() != valid {
		w.t.Fatalf("%s: valid is %v, want %s", what, w.it.Valid(), w.show(w.at))
	}
	if !valid {
		return
	}
	key := w.it.Key()
	if !bytes.Equal(key, w.visible[w.at]) {
		w.t.Fatalf("%s: at %s, want %s", what, dbformat.InternalKey(key).DebugString(false), w.show(w.at))
	}
	if !w.it.PrepareValue() || !bytes.Equal(w.it.Value(), w.visible[w.at]) {
		w.t.Fatalf("%s: value %q of %s; %v", what, w.it.Value(), w.show(w.at), w.it.Status())
	}
}

// atOrAfter is the place of the first visible key at or after target.
func (w *walk) atOrAfter(target []byte) (place int, found bool) {
	return slices.BinarySearchFunc(w.visible, target, bytewiseICmp.Compare)
}

// seek makes one of the four kinds of seek.
func (w *walk) seek() {
	target := dbformat.NewInternalKey(userKey(drawUserKey(w.t, "target")),
		rapid.SampledFrom([]rocksdb.SequenceNumber{0, 450, 555, 640, 777, 888, 950, dbformat.MaxSequenceNumber}).Draw(w.t, "target seq"), dbformat.ValueTypeForSeek)
	switch rapid.IntRange(0, 5).Draw(w.t, "seek") {
	case 0:
		w.it.SeekToFirst()
		w.at = 0
		w.check("SeekToFirst", false)
	case 1:
		w.it.SeekToLast()
		w.at = len(w.visible) - 1
		w.check("SeekToLast", true)
	case 2, 3:
		w.it.Seek(target)
		w.at, _ = w.atOrAfter(target)
		w.check("Seek "+target.DebugString(false), false)
	default:
		w.it.SeekForPrev(target)
		place, found := w.atOrAfter(target)
		if w.at = place; !found {
			w.at--
		}
		w.check("SeekForPrev "+target.DebugString(false), true)
	}
}

// step goes on or back from the present key, which may be past the bound.
func (w *walk) step(back bool) {
	place, found := w.atOrAfter(w.it.Key())
	if back {
		w.it.Prev()
		w.at = place - 1
		w.check("Prev", true)
		return
	}
	w.it.Next()
	if w.at = place; found {
		w.at++
	}
	w.check("Next", false)
}

func (w *walk) close() {
	if err := w.it.Close(); err != nil {
		w.t.Fatal(err)
	}
}

func TestMergingIterator_IsSortedMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawRuns(t).walk()
		defer w.close()
		w.seek()
		for range rapid.IntRange(1, 60).Draw(t, "moves") {
			switch move := rapid.IntRange(0, 9).Draw(t, "move"); {
			case move == 0 || !w.it.Valid():
				w.seek()
			default:
				w.step(move >= 5)
			}
		}
	})
}

// A compaction's merge shows all keys, and each file's tombstone starts, in
// order.
func TestCompactionMergingIterator_ShowsAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawRuns(t)
		var children []CompactionChild
		wantStarts := 0
		for _, files := range m.runs {
			l := &levelIter{files: files, readSeq: dbformat.MaxSequenceNumber, file: -1}
			children = append(children, CompactionChild{Point: l, SetSlot: l.SetRangeDelIterSlot})
			for _, f := range files {
				if tr := f.tombstoneIter(dbformat.MaxSequenceNumber); tr != nil {
					for tr.SeekToFirst(); tr.Valid(); tr.Next() {
						wantStarts++
					}
				}
			}
		}
		var open atomic.Int64
		it := NewCompactionMergingIterator(bytewiseICmp, children, &open)
		if int(open.Load()) != len(children) {
			t.Fatalf("%d runs are open", open.Load())
		}
		var last []byte
		keys, starts := 0, 0
		for it.SeekToFirst(); it.Valid(); it.Next() {
			if last != nil && bytewiseICmp.Compare(last, it.Key()) > 0 {
				t.Fatalf("%q after %q", it.Key(), last)
			}
			last = append(last[:0], it.Key()...)
			if it.IsDeleteRangeSentinelKey() {
				starts++
				continue
			}
			if keys >= len(m.all) || !bytes.Equal(it.Key(), m.all[keys]) {
				t.Fatalf("key %d is %q", keys, it.Key())
			}
			keys++
		}
		if keys != len(m.all) || starts != wantStarts || it.Status() != nil {
			t.Fatalf("%d keys of %d, %d starts of %d, %v", keys, len(m.all), starts, wantStarts, it.Status())
		}
		if err := it.Close(); err != nil || open.Load() != 0 {
			t.Fatal(err, open.Load())
		}
	})
}
