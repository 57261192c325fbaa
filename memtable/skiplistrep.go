// Port of memtable/skiplistrep.cc and of SkipListFactory in
// include/rocksdb/memtablerep.h.

package memtable

import (
	"bytes"
	"math"
	"math/rand/v2"
	"strconv"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/memory"
)

// SkipListRep keeps entries in an InlineSkipList. Package db/memtable holds it
// as itself, so that its calls are direct.
type SkipListRep struct {
	RepBase
	List      *InlineSkipList
	transform rocksdb.SliceTransform
	lookahead int
}

// NewSkipListRep makes an empty one; see SkipListFactory for lookahead.
func NewSkipListRep(cmp *dbformat.InternalKeyComparator, arena *memory.ConcurrentArena,
	transform rocksdb.SliceTransform, lookahead int) *SkipListRep {
	return &SkipListRep{
		RepBase:   RepBase{arena},
		List:      NewInlineSkipList(cmp, arena, 0, 0),
		transform: transform,
		lookahead: lookahead,
	}
}

// IsPlain tells whether iterators are the list's own: there is no lookahead.
func (r *SkipListRep) IsPlain() bool { return r.lookahead == 0 }

// Allocate gives the place for an entry, its node around it.
func (r *SkipListRep) Allocate(size int) (KeyHandle, []byte) { return r.List.AllocateKey(size) }

// Insert adds an entry unless it is a duplicate.
func (r *SkipListRep) Insert(entry KeyHandle) bool { return r.List.Insert(entry) }

// InsertWithHint is Insert near the hint.
func (r *SkipListRep) InsertWithHint(entry KeyHandle, hint *Splice) bool {
	return r.List.InsertWithHint(entry, hint)
}

// InsertConcurrently is Insert beside others.
func (r *SkipListRep) InsertConcurrently(entry KeyHandle) bool {
	return r.List.InsertConcurrently(entry)
}

// InsertWithHintConcurrently is InsertWithHint beside others.
func (r *SkipListRep) InsertWithHintConcurrently(entry KeyHandle, hint *Splice) bool {
	return r.List.InsertWithHintConcurrently(entry, hint)
}

// Contains looks an entry up.
func (r *SkipListRep) Contains(internalKey []byte) bool { return r.List.Contains(internalKey) }

// ApproximateMemoryUsage is 0: all memory is the arena's.
func (r *SkipListRep) ApproximateMemoryUsage() int { return 0 }

// Get walks from the key on.
func (r *SkipListRep) Get(internalKey []byte, v EntryVisitor) {
	it := r.List.NewIterator()
	for it.Seek(internalKey); it.Valid() && v.VisitEntry(0, it.Key()); it.Next() {
	}
}

// GetAndValidate walks from the key on, with checks.
func (r *SkipListRep) GetAndValidate(internalKey []byte, v EntryVisitor, allowData, checkOrder bool, validate KeyValidation) error {
	it := r.List.NewIterator()
	err := it.SeekAndValidate(internalKey, allowData, checkOrder, validate)
	for err == nil && it.Valid() && v.VisitEntry(0, it.Key()) {
		err = it.NextAndValidate(allowData)
	}
	return err
}

// MultiGet looks up keys in rising order, each search from the last one's end.
func (r *SkipListRep) MultiGet(keys [][]byte, v EntryVisitor, checkOrder, allowData bool, validate KeyValidation) error {
	return r.List.MultiGet(keys, v, checkOrder, allowData, validate)
}

// ApproximateNumEntries estimates by the list's upper levels.
func (r *SkipListRep) ApproximateNumEntries(start, end []byte) uint64 {
	return r.List.ApproximateNumEntries(start, end)
}

// UniqueRandomSample walks the list and draws, or, for fewer than the square
// root of all entries, seeks at random with up to five tries an entry.
func (r *SkipListRep) UniqueRandomSample(numEntries, targetSampleSize uint64) ([]KeyHandle, error) {
	var sample []KeyHandle
	it := r.List.NewIterator()
	if targetSampleSize > uint64(math.Sqrt(float64(numEntries))) {
		left := targetSampleSize
		i := uint64(0)
		for it.SeekToFirst(); it.Valid() && left > 0 && i < numEntries; it.Next() {
			if rand.Uint64N(numEntries-i) < left {
				sample = append(sample, it.Key())
				left--
			}
			i++
		}
		return sample, nil
	}
	seen := make(map[KeyHandle]struct{}, targetSampleSize)
	for range targetSampleSize {
		for range 5 {
			it.RandomSeek()
			if !it.Valid() {
				return sample, nil
			}
			if _, ok := seen[it.Key()]; !ok {
				seen[it.Key()] = struct{}{}
				sample = append(sample, it.Key())
				break
			}
		}
	}
	return sample, nil
}

// NewIterator gives an *InlineSkipListIterator, or one that looks ahead.
func (r *SkipListRep) NewIterator() Iterator {
	it := r.List.NewIterator()
	if r.lookahead > 0 {
		return &lookaheadIterator{rep: r, it: it, prev: it}
	}
	return &it
}

// NewDynamicPrefixIterator is NewIterator.
func (r *SkipListRep) NewDynamicPrefixIterator() Iterator { return r.NewIterator() }

// lookaheadIterator keeps the place before the current one; a Seek looks at a
// few entries from there on before it searches the list.
type lookaheadIterator struct {
	IteratorBase
	rep      *SkipListRep
	it, prev InlineSkipListIterator
}

func (l *lookaheadIterator) Valid() bool    { return l.it.Valid() }
func (l *lookaheadIterator) Key() KeyHandle { return l.it.Key() }

// Next leaves prev behind while the user key, or the prefix, stays the same.
func (l *lookaheadIterator) Next() {
	advance := true
	if l.prev.Valid() {
		a := dbformat.ExtractUserKey(EntryKey(l.prev.Key()))
		b := dbformat.ExtractUserKey(EntryKey(l.it.Key()))
		t := l.rep.transform
		switch {
		case bytes.Equal(a, b):
			advance = false
		case t != nil && t.InDomain(a) && t.InDomain(b):
			advance = bytes.Equal(t.Transform(a), t.Transform(b))
		}
	}
	if advance {
		l.prev = l.it
	}
	l.it.Next()
}

func (l *lookaheadIterator) Prev() {
	l.it.Prev()
	l.prev = l.it
}

func (l *lookaheadIterator) Seek(internalKey []byte) {
	cmp := l.rep.List.cmp
	if l.prev.Valid() && cmp.CompareKeySeq(internalKey, EntryKey(l.prev.Key())) >= 0 {
		l.it = l.prev
		for i := 0; i <= l.rep.lookahead && l.it.Valid(); i++ {
			if cmp.CompareKeySeq(internalKey, EntryKey(l.it.Key())) <= 0 {
				return
			}
			l.Next()
		}
	}
	l.it.Seek(internalKey)
	l.prev = l.it
}

func (l *lookaheadIterator) SeekForPrev(internalKey []byte) {
	l.it.SeekForPrev(internalKey)
	l.prev = l.it
}

func (l *lookaheadIterator) SeekToFirst() {
	l.it.SeekToFirst()
	l.prev = l.it
}

func (l *lookaheadIterator) SeekToLast() {
	l.it.SeekToLast()
	l.prev = l.it
}

// SkipListFactory makes the default container.
type SkipListFactory struct {
	// Lookahead, when above 0, makes each iterator's Seek first look at up to
	// that many entries from the last place on; good for seeks to keys near
	// each other.
	Lookahead int
}

// NewSkipListFactory makes the factory; 0 is the default.
func NewSkipListFactory(lookahead int) *SkipListFactory { return &SkipListFactory{lookahead} }

// Name is "SkipListFactory".
func (*SkipListFactory) Name() string { return "SkipListFactory" }

// NickName is "skip_list".
func (*SkipListFactory) NickName() string { return "skip_list" }

// ID is the name, followed by ":" and the lookahead where there is one.
func (f *SkipListFactory) ID() string {
	if f.Lookahead > 0 {
		return f.Name() + ":" + strconv.Itoa(f.Lookahead)
	}
	return f.Name()
}

// IsInsertConcurrentlySupported is true.
func (*SkipListFactory) IsInsertConcurrentlySupported() bool { return true }

// CanHandleDuplicatedKey is true.
func (*SkipListFactory) CanHandleDuplicatedKey() bool { return true }

// CreateMemTableRep makes a *SkipListRep.
func (f *SkipListFactory) CreateMemTableRep(cmp *dbformat.InternalKeyComparator, arena *memory.ConcurrentArena,
	transform rocksdb.SliceTransform, _ rocksdb.Logger) MemTableRep {
	return NewSkipListRep(cmp, arena, transform, f.Lookahead)
}
