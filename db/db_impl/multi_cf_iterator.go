// Port of db/multi_cf_iterator_impl.h, db/coalescing_iterator.{h,cc} and
// db/attribute_group_iterator_impl.{h,cc}. Differs: the few families of one
// iterator are looked through, where upstream has a heap; a failed seek is
// forgotten by the next one.

package dbimpl

import (
	"bytes"
	"slices"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// multiCfChild is one family's iterator and its place among the families.
type multiCfChild struct {
	cf rocksdb.ColumnFamilyHandle
	it *Iterator
}

// multiCfIterator walks the keys of several families as if they were one.
//
// Going forward each child stands at its first entry at or after the present
// key, going backward at its last one at or before it.
type multiCfIterator struct {
	children   []multiCfChild
	cmp        rocksdb.Comparator
	unprepared bool // values are left unread until PrepareValue
	direct     bool // of one family: shown as its own iterator shows it, prepared or not
	backward   bool
	current    int   // child with the present key, -1 for none
	at         []int // children with the present key, in the families' order
	populate   func(at []int)
	reset      func()
	err        error
	closed     bool
	key        []byte // that a step leaves
}

// newMultiCfIterator makes the children; an error is kept as the iterator's.
// Upstream: DBImpl::NewMultiCfIterator.
func (d *DBImpl) newMultiCfIterator(ro *rocksdb.ReadOptions, cfs []rocksdb.ColumnFamilyHandle) *multiCfIterator {
	m := &multiCfIterator{current: -1, unprepared: ro != nil && ro.AllowUnpreparedValue}
	if len(cfs) == 0 {
		m.err = rocksdb.InvalidArgument("No Column Family was provided")
		return m
	}
	m.cmp = cfs[0].GetComparator()
	for _, cf := range cfs[1:] {
		if cf.GetComparator().Name() != m.cmp.Name() {
			m.err = rocksdb.InvalidArgument("Different comparators are being used across CFs")
			return m
		}
	}
	its, err := d.NewIterators(ro, cfs)
	if err != nil {
		m.err = err
		return m
	}
	for i, it := range its {
		m.children = append(m.children, multiCfChild{cfs[i], it})
	}
	return m
}

// Valid tells whether the iterator stands on a key.
func (m *multiCfIterator) Valid() bool { return m.current >= 0 && m.err == nil }

// Status is what ended the iteration, nil at the end of the keys.
func (m *multiCfIterator) Status() error { return m.err }

// Key is the present key, valid until the iterator moves.
func (m *multiCfIterator) Key() []byte { return m.children[m.current].it.Key() }

// SeekToFirst goes to the first key.
func (m *multiCfIterator) SeekToFirst() { m.seek(false, (*Iterator).SeekToFirst) }

// SeekToLast goes to the last key.
func (m *multiCfIterator) SeekToLast() { m.seek(true, (*Iterator).SeekToLast) }

// Seek goes to the first key at or after target.
func (m *multiCfIterator) Seek(target []byte) {
	m.seek(false, func(it *Iterator) { it.Seek(target) })
}

// SeekForPrev goes to the last key at or before target.
func (m *multiCfIterator) SeekForPrev(target []byte) {
	m.seek(true, func(it *Iterator) { it.SeekForPrev(target) })
}

// Next moves to the next key. The iterator must be valid.
func (m *multiCfIterator) Next() {
	if !m.Valid() {
		return
	}
	m.key = append(m.key[:0], m.Key()...)
	if m.backward {
		m.turn(false)
	}
	m.advance((*Iterator).Next)
}

// Prev moves to the key before. The iterator must be valid.
func (m *multiCfIterator) Prev() {
	if !m.Valid() {
		return
	}
	m.key = append(m.key[:0], m.Key()...)
	if !m.backward {
		m.turn(true)
	}
	m.advance((*Iterator).Prev)
}

// PrepareValue loads the values that ReadOptions.AllowUnpreparedValue left
// unread; false is an error, which Status has.
func (m *multiCfIterator) PrepareValue() bool {
	if !m.Valid() {
		return false
	}
	return !m.unprepared || m.fill()
}

// Close lets go of all families' iterators.
func (m *multiCfIterator) Close() error {
	var first error
	if !m.closed {
		m.closed, m.current = true, -1
		for _, c := range m.children {
			if err := c.it.Close(); first == nil {
				first = err
			}
		}
		if m.err == nil {
			m.err = rocksdb.InvalidArgument("the iterator is closed")
		}
	}
	return first
}

// turn makes the children stand for the other direction, at m.key.
func (m *multiCfIterator) turn(backward bool) {
	m.backward = backward
	for _, c := range m.children {
		if backward {
			c.it.SeekForPrev(m.key)
		} else {
			c.it.Seek(m.key)
		}
	}
}

func (m *multiCfIterator) seek(backward bool, move func(*Iterator)) {
	if m.closed || len(m.children) == 0 {
		return
	}
	m.backward, m.err = backward, nil
	for _, c := range m.children {
		move(c.it)
	}
	m.choose()
}

// advance moves all children that stand on m.key.
func (m *multiCfIterator) advance(step func(*Iterator)) {
	for _, c := range m.children {
		if c.it.Valid() && m.cmp.Compare(c.it.Key(), m.key) == 0 {
			step(c.it)
		}
	}
	m.choose()
}

// choose finds the next key among the children and who has it.
func (m *multiCfIterator) choose() {
	m.reset()
	m.current, m.at = -1, m.at[:0]
	for i, c := range m.children {
		if !c.it.Valid() {
			if m.err = c.it.Status(); m.err != nil {
				m.current = -1
				return
			}
			continue
		}
		order := 0
		if m.current >= 0 {
			if order = m.cmp.Compare(c.it.Key(), m.Key()); m.backward {
				order = -order
			}
		}
		if m.current < 0 || order < 0 {
			m.current, m.at = i, append(m.at[:0], i)
		} else if order == 0 {
			m.at = append(m.at, i)
		}
	}
	if m.current >= 0 && !m.unprepared {
		m.fill()
	}
}

// fill takes the values over. Upstream: PopulateIterator.
func (m *multiCfIterator) fill() bool {
	m.reset()
	for _, i := range m.at {
		if it := m.children[i].it; !it.PrepareValue() {
			m.err, m.current = it.Status(), -1
			return false
		}
	}
	m.populate(m.at)
	return true
}

// CoalescingIterator walks the keys of several families. Of a key in more than
// one the columns are put together; of a column in more than one the last
// family's, in the order they were given, is shown.
type CoalescingIterator struct {
	multiCfIterator
	value   []byte
	columns rocksdb.WideColumns
	buf     rocksdb.WideColumns // memory of columns
	all     []rocksdb.WideColumn
}

// NewCoalescingIterator makes an iterator over the keys of the families, all at
// one state of the database. Their comparators have to be alike.
func (d *DBImpl) NewCoalescingIterator(ro *rocksdb.ReadOptions, cfs []rocksdb.ColumnFamilyHandle) *CoalescingIterator {
	c := &CoalescingIterator{}
	c.multiCfIterator = *d.newMultiCfIterator(ro, cfs)
	c.direct = len(cfs) == 1
	c.reset = func() { c.value, c.columns = nil, nil }
	c.populate = c.coalesce
	return c
}

// Value is the default column's, nil when there is none or it is not prepared;
// valid until the iterator moves.
func (c *CoalescingIterator) Value() []byte {
	if c.direct && c.Valid() {
		return c.children[0].it.Value()
	}
	return c.value
}

// Columns are the columns of all families, in order; valid until the iterator
// moves.
func (c *CoalescingIterator) Columns() rocksdb.WideColumns {
	if c.direct && c.Valid() {
		return c.children[0].it.Columns()
	}
	return c.columns
}

func (c *CoalescingIterator) coalesce(at []int) {
	all := c.all[:0]
	for _, i := range at {
		all = append(all, c.children[i].it.Columns()...)
	}
	// Stable: of one name the last family's comes last.
	slices.SortStableFunc(all, func(a, b rocksdb.WideColumn) int { return bytes.Compare(a.Name, b.Name) })
	c.all, c.buf = all, c.buf[:0]
	for i := range all {
		if i+1 == len(all) || !bytes.Equal(all[i].Name, all[i+1].Name) {
			c.buf = append(c.buf, all[i])
		}
	}
	c.columns = c.buf
	if len(c.columns) > 0 && len(c.columns[0].Name) == 0 {
		c.value = c.columns[0].Value
	}
}

// IteratorAttributeGroup is what one family has of a key.
type IteratorAttributeGroup struct {
	ColumnFamily rocksdb.ColumnFamilyHandle
	Columns      rocksdb.WideColumns
}

// AttributeGroupIterator walks the keys of several families and shows the
// columns of each family that has the key.
type AttributeGroupIterator struct {
	multiCfIterator
	groups []IteratorAttributeGroup
}

// NewAttributeGroupIterator makes an iterator over the keys of the families, all
// at one state of the database. Their comparators have to be alike.
func (d *DBImpl) NewAttributeGroupIterator(ro *rocksdb.ReadOptions, cfs []rocksdb.ColumnFamilyHandle) *AttributeGroupIterator {
	g := &AttributeGroupIterator{}
	g.multiCfIterator = *d.newMultiCfIterator(ro, cfs)
	g.reset = func() { g.groups = g.groups[:0] }
	g.populate = func(at []int) {
		for _, i := range at {
			c := g.children[i]
			g.groups = append(g.groups, IteratorAttributeGroup{c.cf, c.it.Columns()})
		}
	}
	return g
}

// AttributeGroups are the present key's, in the families' order; valid until the
// iterator moves.
func (g *AttributeGroupIterator) AttributeGroups() []IteratorAttributeGroup { return g.groups }
