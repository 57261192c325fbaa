// Port of db/forward_iterator.{h,cc}. Differs: when the family's state has
// changed all iterators are made anew; those beyond the upper bound are kept;
// nothing is pinned.

package db

import (
	"sort"
	"strconv"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/db/memtable"
	"github.com/rocksdb-go/rocksdb/db/rangedel"
	"github.com/rocksdb-go/rocksdb/db/tablecache"
	"github.com/rocksdb-go/rocksdb/db/version"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/table"
	"github.com/rocksdb-go/rocksdb/table/internaliter"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

// ForwardIterator is the iterator under a tailing one: it goes forward, and a
// seek shows what was written since. Seeks that stay between the place of the
// last one and the next immutable entry do not touch tables. Range tombstones
// are NotSupported.
//
// There is one iterator over the active memtable and one that merges all the
// rest; the lesser of their keys is the current one.
type ForwardIterator struct {
	internaliter.Base
	cfd     *ColumnFamilyData
	ro      *rocksdb.ReadOptions
	release func(*SuperVersion) // drops the reference
	sv      *SuperVersion

	mutable   internaliter.InternalIterator
	immutable internaliter.InternalIterator
	current   internaliter.InternalIterator // nil when not valid
	overBound bool                          // current is past the upper bound
	err       error

	// No immutable entry lies between prevKey and the immutable iterator's key.
	prevKey       []byte
	prevSet       bool
	prevInclusive bool
	saved         []byte
}

var _ internaliter.InternalIterator = (*ForwardIterator)(nil)

// NewForwardIterator takes over a reference on sv, and gives those that it
// takes to release. ro stays the caller's.
func NewForwardIterator(cfd *ColumnFamilyData, ro *rocksdb.ReadOptions, sv *SuperVersion, release func(*SuperVersion)) *ForwardIterator {
	f := &ForwardIterator{cfd: cfd, ro: ro, release: release, sv: sv}
	f.build()
	return f
}

// SuperVersion is the state that the iterator is over; it may change with every
// move.
func (f *ForwardIterator) SuperVersion() *SuperVersion { return f.sv }

// build makes the iterators over sv.
func (f *ForwardIterator) build() {
	f.err, f.current, f.prevSet = nil, nil, false
	prefix := f.sv.MutableCFOptions.PrefixExtractor
	f.mutable = f.memtableIterator(f.sv.Mem, false)
	var list []internaliter.InternalIterator
	for _, m := range f.sv.Imm.Memtables() {
		list = append(list, f.memtableIterator(m, true))
	}
	if f.ro.ReadTier != rocksdb.MemtableTier {
		vs := f.sv.Current.StorageInfo()
		for _, file := range vs.LevelFiles(0) {
			list = append(list, f.tableIterator(file))
		}
		for level := 1; level < vs.NumLevels(); level++ {
			if files := vs.LevelFiles(level); len(files) > 0 {
				list = append(list, &forwardLevelIterator{f: f, files: files})
			}
		}
	}
	prefixSeek := !f.ro.TotalOrderSeek && !f.ro.AutoPrefixMode && prefix != nil
	f.immutable = table.NewMergingIterator(f.cfd.icmp, list, prefixSeek)
}

func errRangeTombstones() error {
	return rocksdb.NotSupported("Range tombstones unsupported with ForwardIterator")
}

func (f *ForwardIterator) memtableIterator(m *memtable.MemTable, immutable bool) internaliter.InternalIterator {
	if !f.ro.IgnoreRangeDeletions {
		t, err := m.NewRangeTombstoneIterator(f.ro, maxSequence, immutable)
		if err == nil && t != nil && !t.Empty() {
			err = errRangeTombstones()
		}
		if err != nil {
			f.err = err
		}
	}
	return m.NewIterator(f.ro, f.sv.MutableCFOptions.PrefixExtractor, nil)
}

func (f *ForwardIterator) tableIterator(file *version.FileMetaData) internaliter.InternalIterator {
	var tombstones *rangedel.TruncatedRangeDelIterator
	it := f.cfd.tableCache.NewIterator(f.ro, file, f.sv.MutableCFOptions, &tablecache.IteratorOptions{Caller: rocksdb.CallerUserIterator,
		AllowUnpreparedValue: true, RangeDelIter: &tombstones, RangeDelReadSeqno: maxSequence, MaybePin: true})
	if tombstones != nil {
		f.err = errRangeTombstones()
	}
	return it
}

// renew follows the family's state; true when it had changed.
func (f *ForwardIterator) renew() bool {
	if f.sv.VersionNumber == f.cfd.GetSuperVersionNumber() {
		return false
	}
	sv := f.cfd.GetReferencedSuperVersion()
	if sv == nil {
		return false // the family is gone; what is held is its last state
	}
	err := f.closeIterators()
	f.release(f.sv)
	f.sv = sv
	f.build()
	if err != nil && f.err == nil {
		f.err = err
	}
	return true
}

func (f *ForwardIterator) closeIterators() error {
	err := f.mutable.Close()
	if e := f.immutable.Close(); err == nil {
		err = e
	}
	f.current = nil
	return err
}

// Valid tells whether the iterator is at an entry.
func (f *ForwardIterator) Valid() bool { return f.current != nil && !f.overBound && f.err == nil }

// SeekToFirst moves to the first entry there is now.
func (f *ForwardIterator) SeekToFirst() {
	f.renew()
	f.seek(nil, true)
}

// Seek moves to the first entry at or after the internal key that there is now.
func (f *ForwardIterator) Seek(target []byte) {
	f.renew()
	f.seek(target, false)
}

func (f *ForwardIterator) seek(target []byte, first bool) {
	if first {
		f.mutable.SeekToFirst()
	} else {
		f.mutable.Seek(target)
	}
	switch {
	case first:
		f.immutable.SeekToFirst()
		f.prevSet = false
	case f.needsImmutable(target):
		syncpoint.Process("ForwardIterator::SeekInternal:Immutable")
		f.immutable.Seek(target)
		f.prevKey = append(f.prevKey[:0], target...)
		f.prevSet, f.prevInclusive = true, true
	}
	f.update()
}

func (f *ForwardIterator) samePrefix(a, b []byte) bool {
	p := f.sv.MutableCFOptions.PrefixExtractor
	if p == nil {
		return true
	}
	ua, ub := dbformat.ExtractUserKey(a), dbformat.ExtractUserKey(b)
	ia, ib := p.InDomain(ua), p.InDomain(ub)
	return ia == ib && (!ia || string(p.Transform(ua)) == string(p.Transform(ub)))
}

// needsImmutable tells whether the immutable iterator may have to move for
// target.
func (f *ForwardIterator) needsImmutable(target []byte) bool {
	if f.current == nil || !f.prevSet || f.immutable.Status() != nil || !f.samePrefix(f.prevKey, target) {
		return true
	}
	if c := f.cfd.icmp.Compare(f.prevKey, target); c > 0 || c == 0 && !f.prevInclusive {
		return true
	}
	return f.immutable.Valid() && f.cfd.icmp.Compare(target, f.immutable.Key()) > 0
}

// update chooses the current entry.
func (f *ForwardIterator) update() {
	m, i := f.mutable.Valid(), f.immutable.Valid()
	switch {
	case m && (!i || f.cfd.icmp.Compare(f.mutable.Key(), f.immutable.Key()) < 0):
		f.current = f.mutable
	case i:
		f.current = f.immutable
	default:
		f.current = nil
	}
	// Memtables know no bound. The place is kept, for a later seek.
	upper := f.ro.IterateUpperBound
	f.overBound = f.current != nil && upper != nil &&
		f.cfd.UserComparator().CompareWithoutTimestamp(dbformat.ExtractUserKey(f.current.Key()), true, upper, false) >= 0
}

// Next moves to the entry after the current one that there is now.
func (f *ForwardIterator) Next() {
	f.saved = append(f.saved[:0], f.current.Key()...)
	if f.renew() {
		f.seek(f.saved, false)
		if !f.Valid() || f.cfd.icmp.Compare(f.current.Key(), f.saved) != 0 {
			return
		}
	} else if f.current == f.immutable && (!f.prevSet || f.samePrefix(f.prevKey, f.saved)) {
		f.prevKey = append(f.prevKey[:0], f.saved...)
		f.prevSet, f.prevInclusive = true, false
		f.current.Next()
		if !f.immutable.Valid() {
			// The memtable's iterator may have been at its end while entries came.
			f.mutable.Seek(f.prevKey)
		}
		f.update()
		return
	}
	f.current.Next()
	f.update()
}

// NextAndGetResult is Next.
func (f *ForwardIterator) NextAndGetResult(res *internaliter.IterateResult) bool {
	return internaliter.NextAndGetResult(f, res)
}

func (f *ForwardIterator) unsupported(call string) {
	f.err = rocksdb.NotSupported("ForwardIterator::" + call + "()")
	f.current = nil
}

// SeekToLast is not supported.
func (f *ForwardIterator) SeekToLast() { f.unsupported("SeekToLast") }

// SeekForPrev is not supported.
func (f *ForwardIterator) SeekForPrev([]byte) { f.unsupported("SeekForPrev") }

// Prev is not supported.
func (f *ForwardIterator) Prev() { f.unsupported("Prev") }

// Key is the entry's internal key.
func (f *ForwardIterator) Key() []byte { return f.current.Key() }

// UserKey is the entry's user key.
func (f *ForwardIterator) UserKey() []byte { return dbformat.ExtractUserKey(f.current.Key()) }

// Value is the entry's value.
func (f *ForwardIterator) Value() []byte { return f.current.Value() }

// WriteUnixTime is when the entry was written.
func (f *ForwardIterator) WriteUnixTime() uint64 { return f.current.WriteUnixTime() }

// PrepareValue reads the value; false ends the iterator's validity.
func (f *ForwardIterator) PrepareValue() bool {
	if f.current.PrepareValue() {
		return true
	}
	f.update()
	return false
}

// Status is the first error.
func (f *ForwardIterator) Status() error {
	if f.err != nil {
		return f.err
	}
	if err := f.mutable.Status(); err != nil {
		return err
	}
	return f.immutable.Status()
}

// GetProperty knows the SuperVersion's number.
func (f *ForwardIterator) GetProperty(name string) (string, error) {
	if name == "rocksdb.iterator.super-version-number" {
		return strconv.FormatUint(f.sv.VersionNumber, 10), nil
	}
	return "", rocksdb.InvalidArgument("Unrecognized property " + name)
}

// Close lets go of everything.
func (f *ForwardIterator) Close() error {
	if f.sv == nil {
		return nil
	}
	err := f.closeIterators()
	f.release(f.sv)
	f.sv = nil
	return err
}

// forwardLevelIterator goes through the tables of a level above 0.
type forwardLevelIterator struct {
	internaliter.Base
	f     *ForwardIterator
	files []*version.FileMetaData
	index int
	file  internaliter.InternalIterator // of files[index]; nil before the first seek
	err   error
}

// open makes the iterator over files[index].
func (l *forwardLevelIterator) open(index int) {
	if l.file != nil && l.index == index {
		return
	}
	_ = l.Close() // what was read was good
	l.index = index
	if index < len(l.files) {
		l.file = l.f.tableIterator(l.files[index])
	}
}

// skipEmpty goes on to the next table at the end of one.
func (l *forwardLevelIterator) skipEmpty() {
	l.err = nil
	for l.file != nil && !l.file.Valid() {
		if l.err = l.file.Status(); l.err != nil {
			return
		}
		if l.open(l.index + 1); l.file != nil {
			l.file.SeekToFirst()
		}
	}
}

// Valid tells whether the iterator is at an entry.
func (l *forwardLevelIterator) Valid() bool { return l.err == nil && l.file != nil && l.file.Valid() }

// SeekToFirst moves to the level's first entry.
func (l *forwardLevelIterator) SeekToFirst() {
	l.open(0)
	l.file.SeekToFirst()
	l.skipEmpty()
}

// Seek moves to the first entry at or after the internal key.
func (l *forwardLevelIterator) Seek(target []byte) {
	l.open(sort.Search(len(l.files), func(i int) bool { return l.f.cfd.icmp.Compare(l.files[i].Largest, target) >= 0 }))
	if l.file != nil {
		l.file.Seek(target)
	}
	l.skipEmpty()
}

// Next moves to the next entry.
func (l *forwardLevelIterator) Next() {
	l.file.Next()
	l.skipEmpty()
}

// NextAndGetResult is Next.
func (l *forwardLevelIterator) NextAndGetResult(res *internaliter.IterateResult) bool {
	return internaliter.NextAndGetResult(l, res)
}

func (l *forwardLevelIterator) unsupported(call string) {
	_ = l.Close()
	l.err = rocksdb.NotSupported("ForwardLevelIterator::" + call + "()")
}

// SeekToLast is not supported.
func (l *forwardLevelIterator) SeekToLast() { l.unsupported("SeekToLast") }

// SeekForPrev is not supported.
func (l *forwardLevelIterator) SeekForPrev([]byte) { l.unsupported("SeekForPrev") }

// Prev is not supported.
func (l *forwardLevelIterator) Prev() { l.unsupported("Prev") }

// Key is the entry's internal key.
func (l *forwardLevelIterator) Key() []byte { return l.file.Key() }

// UserKey is the entry's user key.
func (l *forwardLevelIterator) UserKey() []byte { return l.file.UserKey() }

// Value is the entry's value.
func (l *forwardLevelIterator) Value() []byte { return l.file.Value() }

// PrepareValue reads the value.
func (l *forwardLevelIterator) PrepareValue() bool { return l.file.PrepareValue() }

// Status is the first error.
func (l *forwardLevelIterator) Status() error {
	if l.err != nil {
		return l.err
	}
	if l.file != nil {
		return l.file.Status()
	}
	return nil
}

// Close lets go of the table.
func (l *forwardLevelIterator) Close() error {
	if l.file == nil {
		return nil
	}
	err := l.file.Close()
	l.file = nil
	return err
}
