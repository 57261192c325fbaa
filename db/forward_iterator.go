// Port of db/forward_iterator.{h,cc}. Differs: when the family's state has
// changed the iterators over levels are made anew; nothing is pinned.

package db

import (
	"bytes"
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
// rest; the lesser of their keys is the current one. Tables that are past the
// upper bound are let go until a seek goes back; those of level 0 are kept when
// the state changes.
type ForwardIterator struct {
	internaliter.Base
	cfd     *ColumnFamilyData
	ro      *rocksdb.ReadOptions
	release func(*SuperVersion) // drops the reference
	sv      *SuperVersion

	mutable   internaliter.InternalIterator
	immutable internaliter.InternalIterator
	level0    []*forwardLevelIterator // of one table each
	levels    []*forwardLevelIterator
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
	f.build(nil)
	return f
}

// SuperVersion is the state that the iterator is over; it may change with every
// move.
func (f *ForwardIterator) SuperVersion() *SuperVersion { return f.sv }

// build makes the iterators over sv, and takes those of level 0 over that are in
// old.
func (f *ForwardIterator) build(old []*forwardLevelIterator) {
	f.err, f.current, f.prevSet, f.level0, f.levels = nil, nil, false, nil, nil
	prefix := f.sv.MutableCFOptions.PrefixExtractor
	f.mutable = f.memtableIterator(f.sv.Mem, false)
	var list []internaliter.InternalIterator
	for _, m := range f.sv.Imm.Memtables() {
		list = append(list, f.memtableIterator(m, true))
	}
	if f.ro.ReadTier != rocksdb.MemtableTier {
		vs := f.sv.Current.StorageInfo()
		for _, file := range vs.LevelFiles(0) {
			t := f.level0Iterator(file, old)
			f.level0 = append(f.level0, t)
			list = append(list, t)
		}
		for level := 1; level < vs.NumLevels(); level++ {
			if files := vs.LevelFiles(level); len(files) > 0 {
				l := &forwardLevelIterator{f: f, files: files}
				f.levels = append(f.levels, l)
				list = append(list, l)
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
	return m.NewIterator(f.ro, f.sv.MutableCFOptions.PrefixExtractor, f.sv.SeqnoToTimeMapping)
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

// level0Iterator is over a table of level 0, the one in old where it is there.
func (f *ForwardIterator) level0Iterator(file *version.FileMetaData, old []*forwardLevelIterator) *forwardLevelIterator {
	for _, o := range old {
		if o.files[0] != file {
			continue
		}
		if o.file == nil {
			syncpoint.Process("ForwardIterator::RenewIterators:Null")
		} else {
			syncpoint.Process("ForwardIterator::RenewIterators:Copy")
		}
		t := *o
		o.file = nil // it is not the old one's to close
		return &t
	}
	return &forwardLevelIterator{f: f, files: []*version.FileMetaData{file}, file: f.tableIterator(file)}
}

// TestCheckDeletedIters counts the tables of level 0 and the levels of which
// nothing is held, and the others.
func (f *ForwardIterator) TestCheckDeletedIters() (deleted, held int) {
	for _, t := range f.level0 {
		if t.file != nil {
			held++
		}
	}
	for _, l := range f.levels {
		if l.file != nil {
			held++
		}
	}
	return len(f.level0) + len(f.levels) - held, held
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
	mutable, immutable, old := f.mutable, f.immutable, f.sv
	f.sv = sv
	tables := f.level0
	if f.err != nil {
		tables = nil // to meet what is wrong with them again
	}
	f.build(tables)
	err := mutable.Close()
	if e := immutable.Close(); err == nil {
		err = e
	}
	f.release(old)
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
	syncpoint.ProcessArg("ForwardIterator::SeekInternal:Return", f)
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
		syncpoint.ProcessArg("ForwardIterator::Next:Return", f)
		return
	}
	f.current.Next()
	f.update()
	syncpoint.ProcessArg("ForwardIterator::Next:Return", f)
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

// trimmed tells that an iterator was let go because all its entries from a key on
// are past the upper bound.
type trimmed struct {
	is        bool
	inclusive bool   // the key's own entry too
	from      []byte // nil: all entries
	bound     []byte
}

// pastBound tells whether an iterator over a table is past the upper bound.
func (f *ForwardIterator) pastBound(it internaliter.InternalIterator) bool {
	upper := f.ro.IterateUpperBound
	switch {
	case upper == nil || it.Status() != nil:
		return false
	case it.Valid():
		return f.cfd.UserComparator().CompareWithoutTimestamp(it.UserKey(), true, upper, false) >= 0
	}
	return it.UpperBoundCheckResult() == internaliter.OutOfBound
}

// forwardLevelIterator goes through the tables of a level above 0, or is over one
// of level 0.
type forwardLevelIterator struct {
	internaliter.Base
	f       *ForwardIterator
	files   []*version.FileMetaData
	index   int
	file    internaliter.InternalIterator // of files[index]; nil before the first seek, and past the upper bound
	past    bool                          // beyond the last table
	trimmed trimmed
	err     error
}

// open makes the iterator over files[index].
func (l *forwardLevelIterator) open(index int) {
	if l.file != nil && l.index == index {
		return
	}
	_ = l.Close() // what was read was good
	l.index = index
	l.file = l.f.tableIterator(l.files[index])
}

// settle goes on to the next table at the end of one, and lets go of one that is
// past the upper bound: the entries from from on are.
func (l *forwardLevelIterator) settle(from []byte, inclusive bool) {
	for !l.file.Valid() && !l.f.pastBound(l.file) {
		if l.err = l.file.Status(); l.err != nil || l.index == len(l.files)-1 {
			return
		}
		l.open(l.index + 1)
		l.file.SeekToFirst()
	}
	if l.f.pastBound(l.file) {
		l.trimmed = trimmed{is: true, inclusive: inclusive, from: bytes.Clone(from), bound: bytes.Clone(l.f.ro.IterateUpperBound)}
		_ = l.Close() // what was read was good
	}
}

// stillTrimmed tells whether a seek to target finds nothing in what was let go.
func (l *forwardLevelIterator) stillTrimmed(target []byte) bool {
	t := &l.trimmed
	if !t.is || !bytes.Equal(t.bound, l.f.ro.IterateUpperBound) {
		return false
	}
	if t.from == nil {
		return true
	}
	c := l.f.cfd.icmp.Compare(target, t.from)
	return c > 0 || c == 0 && t.inclusive
}

// Valid tells whether the iterator is at an entry.
func (l *forwardLevelIterator) Valid() bool {
	return l.err == nil && !l.past && l.file != nil && l.file.Valid()
}

// SeekToFirst moves to the level's first entry.
func (l *forwardLevelIterator) SeekToFirst() {
	l.err, l.past, l.trimmed.is = nil, false, false
	l.open(0)
	l.file.SeekToFirst()
	l.settle(nil, true)
}

// Seek moves to the first entry at or after the internal key.
func (l *forwardLevelIterator) Seek(target []byte) {
	l.err = nil
	if l.stillTrimmed(target) {
		return
	}
	l.trimmed.is = false
	at := sort.Search(len(l.files), func(i int) bool { return l.f.cfd.icmp.Compare(l.files[i].Largest, target) >= 0 })
	if l.past = at == len(l.files); l.past {
		return
	}
	l.open(at)
	l.file.Seek(target)
	l.settle(target, true)
}

// Next moves to the next entry; the ForwardIterator has saved the present one's
// key.
func (l *forwardLevelIterator) Next() {
	l.file.Next()
	l.settle(l.f.saved, false)
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

// WriteUnixTime is when the entry was written.
func (l *forwardLevelIterator) WriteUnixTime() uint64 { return l.file.WriteUnixTime() }

// PrepareValue reads the value.
func (l *forwardLevelIterator) PrepareValue() bool { return l.file.PrepareValue() }

// Status is the first error.
func (l *forwardLevelIterator) Status() error {
	if l.err != nil {
		return l.err
	}
	if l.file != nil && !l.past {
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
