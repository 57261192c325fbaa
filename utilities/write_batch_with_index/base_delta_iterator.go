// Port of utilities/write_batch_with_index/write_batch_with_index_internal.{h,cc}
// (BaseDeltaIterator). Differs: ReadOptions.PrefixSameAsStart ends the batch's
// entries, too; bounds are copied, and changed by SetBounds.

package writebatchwithindex

import (
	"bytes"
	"iter"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/db/merge"
	"github.com/rocksdb-go/rocksdb/db/wide"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// BaseIterator is a database iterator that a batch is laid over.
type BaseIterator interface {
	rocksdb.Iterator
	Columns() rocksdb.WideColumns
	SetBounds(lower, upper []byte)
}

// BaseDeltaIterator shows a database iterator as it would be if a batch had been
// written. It is used by one goroutine at a time and has to be closed. The batch
// may be added to meanwhile: what is ahead of the iterator is seen, the present
// value stays as it is.
//
// Forward, the current entry is the lesser of base's and delta's, backward the
// greater; the other iterator, if valid, is ahead of it. equal: they are at the
// same key, and delta is current.
type BaseDeltaIterator struct {
	base    BaseIterator
	delta   Iterator
	cf      rocksdb.ColumnFamilyHandle
	order   keyOrder
	forward bool
	atBase  bool // base is current
	equal   bool

	allowUnpreparedValue bool
	err                  error

	// With ReadOptions.PrefixSameAsStart: the prefix that the last seek began
	// with; hasPrefix is false where there is none.
	extractor   rocksdb.SliceTransform
	prefix      []byte
	hasPrefix   bool
	outOfPrefix bool

	operands dbformat.MergeContext
	merge    merge.FullMerge
	entity   []byte // of base's columns
	value    []byte
	columns  rocksdb.WideColumns
}

// NewIteratorWithBase lays the batch's entries of cf, nil being the default
// family, over base, which is taken over: closing the result closes it. ro, which
// may be nil, should be what base was made with: its bounds hold for the batch as
// well then.
func (b *WriteBatchWithIndex) NewIteratorWithBase(cf rocksdb.ColumnFamilyHandle, base BaseIterator, ro *rocksdb.ReadOptions) *BaseDeltaIterator {
	d := &BaseDeltaIterator{base: base, delta: b.newIterator(familyID(cf)), cf: cf, order: b.backup, forward: true, atBase: true}
	if cf != nil && cf.GetComparator() != nil {
		d.order = newKeyOrder(cf.GetComparator())
	}
	if ro == nil {
		return d
	}
	d.delta.SetBounds(ro.IterateLowerBound, ro.IterateUpperBound)
	d.allowUnpreparedValue = ro.AllowUnpreparedValue
	if ro.PrefixSameAsStart && cf != nil {
		var desc rocksdb.ColumnFamilyDescriptor
		desc, d.err = cf.GetDescriptor()
		d.extractor = desc.Options.PrefixExtractor
	}
	return d
}

// Valid tells whether the iterator stands on an entry.
func (d *BaseDeltaIterator) Valid() bool {
	if d.outOfPrefix || d.Status() != nil {
		return false
	}
	if d.atBase {
		return d.base.Valid()
	}
	return d.delta.Valid()
}

// Status is what ended the iteration, nil at the end of the keys.
func (d *BaseDeltaIterator) Status() error {
	if d.err != nil {
		return d.err
	}
	return d.base.Status()
}

// Err is Status.
func (d *BaseDeltaIterator) Err() error { return d.Status() }

// SeekToFirst goes to the first entry.
func (d *BaseDeltaIterator) SeekToFirst() {
	d.forward = true
	d.base.SeekToFirst()
	d.delta.SeekToFirst()
	d.begin(nil)
}

// SeekToLast goes to the last entry.
func (d *BaseDeltaIterator) SeekToLast() {
	d.forward = false
	d.base.SeekToLast()
	d.delta.SeekToLast()
	d.begin(nil)
}

// Seek goes to the first entry at or after target.
func (d *BaseDeltaIterator) Seek(target []byte) {
	d.forward = true
	d.base.Seek(target)
	d.delta.Seek(target)
	d.begin(target)
}

// SeekForPrev goes to the last entry at or before target.
func (d *BaseDeltaIterator) SeekForPrev(target []byte) {
	d.forward = false
	d.base.SeekForPrev(target)
	d.delta.SeekForPrev(target)
	d.begin(target)
}

// begin finds the current entry after a seek; target, nil for the first and last
// entry, has the prefix to stay in.
func (d *BaseDeltaIterator) begin(target []byte) {
	d.hasPrefix, d.outOfPrefix = false, false
	d.updateCurrent()
	if d.extractor == nil {
		return
	}
	if target == nil {
		if !d.Valid() {
			return
		}
		target = d.Key()
	}
	if d.hasPrefix = d.extractor.InDomain(target); d.hasPrefix {
		d.prefix = append(d.prefix[:0], d.extractor.Transform(target)...)
	}
	d.checkPrefix()
}

func (d *BaseDeltaIterator) checkPrefix() {
	if d.hasPrefix && d.Valid() {
		key := d.Key()
		d.outOfPrefix = !d.extractor.InDomain(key) || !bytes.Equal(d.extractor.Transform(key), d.prefix)
	}
}

// Next moves to the next entry; one that is not valid gets the error
// NotSupported.
func (d *BaseDeltaIterator) Next() { d.step(true) }

// Prev moves to the entry before; one that is not valid gets the error
// NotSupported.
func (d *BaseDeltaIterator) Prev() { d.step(false) }

func (d *BaseDeltaIterator) step(forward bool) {
	if !d.Valid() {
		call := "Prev"
		if forward {
			call = "Next"
		}
		d.err = rocksdb.NotSupported(call + "() on invalid iterator")
		return
	}
	if d.forward != forward {
		d.turn(forward)
	}
	switch {
	case d.equal:
		d.advanceBase()
		d.advanceDelta()
	case d.atBase:
		d.advanceBase()
	default:
		d.advanceDelta()
	}
	d.updateCurrent()
	d.checkPrefix()
}

// turn changes the direction, which puts the iterator that is not current on the
// other side of the current entry.
func (d *BaseDeltaIterator) turn(forward bool) {
	d.forward = forward
	switch {
	case !d.base.Valid(): // it has nothing on this side: all of it is on the other
		if forward {
			d.base.SeekToFirst()
		} else {
			d.base.SeekToLast()
		}
	case !d.delta.Valid():
		if forward {
			d.delta.SeekToFirst()
		} else {
			d.delta.SeekToLast()
		}
	case d.atBase:
		d.advanceDelta()
	default:
		d.advanceBase()
	}
	d.equal = d.base.Valid() && d.delta.Valid() && d.order.compare(d.delta.key(), d.base.Key()) == 0
}

func (d *BaseDeltaIterator) advanceBase() {
	if d.forward {
		d.base.Next()
	} else {
		d.base.Prev()
	}
}

func (d *BaseDeltaIterator) advanceDelta() {
	if d.forward {
		d.delta.NextKey()
	} else {
		d.delta.PrevKey()
	}
}

// updateCurrent finds which iterator is current, past what the batch deletes, and
// its value.
func (d *BaseDeltaIterator) updateCurrent() {
	d.err, d.value, d.columns = nil, nil, d.columns[:0]
	for {
		d.equal = false
		result := d.delta.FindLatestUpdate(&d.operands)
		if result == Failed {
			d.err = rocksdb.Corruption("Unexpected entry in WriteBatchWithIndex")
			return
		}
		baseValid, deltaValid := d.base.Valid(), d.delta.Valid()
		switch {
		case !baseValid && (d.base.Status() != nil || !deltaValid):
			d.atBase = true // its error, or the end of both
			return
		case !baseValid:
			d.atBase = false
		case !deltaValid:
			d.atBase = true
		default:
			c := d.order.compare(d.delta.key(), d.base.Key())
			d.equal = c == 0
			d.atBase = c != 0 && (c > 0) == d.forward
		}
		if d.atBase {
			if !d.allowUnpreparedValue {
				d.setValueFromBase()
			}
			return
		}
		if result != Deleted || d.operands.GetNumOperands() > 0 {
			d.err = d.setValueFromDelta()
			return
		}
		d.advanceDelta()
		if d.equal {
			d.advanceBase()
		}
	}
}

func (d *BaseDeltaIterator) setValueFromBase() bool {
	if !d.base.PrepareValue() {
		d.err = d.base.Status()
		return false
	}
	d.value, d.columns = d.base.Value(), append(d.columns[:0], d.base.Columns()...)
	return true
}

func (d *BaseDeltaIterator) setValueFromDelta() error {
	e := d.delta.Entry()
	if d.operands.GetNumOperands() == 0 {
		if e.Type == PutEntityRecord {
			return d.setEntity(e.Value)
		}
		d.setPlain(e.Value)
		return nil
	}
	m := &d.merge
	if err := prepareMerge(m, d.cf, e.Key, &d.operands); err != nil {
		return err
	}
	switch {
	case e.Type == PutRecord:
		m.Base, m.Value = merge.PlainBaseValue, e.Value
	case e.Type == PutEntityRecord:
		m.Base, m.Value = merge.WideBaseValue, e.Value
	case e.Type == MergeRecord && d.equal:
		if !d.base.PrepareValue() {
			return d.base.Status()
		}
		var err error
		if d.entity, err = setBase(m, d.base.Columns(), d.entity); err != nil {
			return err
		}
	}
	result, t, err := m.Result()
	if err != nil {
		return err
	}
	if t == dbformat.TypeWideColumnEntity {
		return d.setEntity(result)
	}
	d.setPlain(result)
	return nil
}

func (d *BaseDeltaIterator) setPlain(value []byte) {
	d.value = value
	d.columns = append(d.columns[:0], rocksdb.WideColumn{Name: []byte{}, Value: value})
}

func (d *BaseDeltaIterator) setEntity(entity []byte) (err error) {
	if d.columns, err = wide.DeserializeSimple(d.columns[:0], entity); err == nil {
		d.value = wide.GetDefaultColumn(d.columns)
	}
	return err
}

// Key is the user key without timestamp, valid until the iterator moves. The
// iterator must be valid.
func (d *BaseDeltaIterator) Key() []byte {
	if d.atBase {
		return d.base.Key()
	}
	return d.delta.key()
}

// Value is the present value, of an entity its default column, valid until the
// iterator moves. The iterator must be valid.
func (d *BaseDeltaIterator) Value() []byte { return d.value }

// Columns gives the present entry's columns in order, of a plain value the
// default one alone; valid until the iterator moves.
func (d *BaseDeltaIterator) Columns() rocksdb.WideColumns { return d.columns }

// Timestamp is the entry's timestamp; what is of the batch has none yet. The
// iterator must be valid.
func (d *BaseDeltaIterator) Timestamp() []byte {
	if d.atBase {
		return d.base.Timestamp()
	}
	return nil
}

// PrepareValue loads a value that ReadOptions.AllowUnpreparedValue left unread;
// false is an error, which Status has. The iterator must be valid.
func (d *BaseDeltaIterator) PrepareValue() bool {
	return !d.allowUnpreparedValue || !d.atBase || d.setValueFromBase()
}

// SetBounds changes the bounds of both iterators, for the seeks to come; nil is
// none.
func (d *BaseDeltaIterator) SetBounds(lower, upper []byte) {
	d.base.SetBounds(lower, upper)
	d.delta.SetBounds(lower, upper)
}

// Refresh is refused, as upstream does.
func (d *BaseDeltaIterator) Refresh(rocksdb.Snapshot) error {
	return rocksdb.NotSupported("Refresh() is not supported")
}

// GetProperty answers "rocksdb.iterator.is-key-pinned" with 0 and knows no other.
func (d *BaseDeltaIterator) GetProperty(name string) (string, error) {
	if name == "rocksdb.iterator.is-key-pinned" {
		return "0", nil
	}
	return "", rocksdb.InvalidArgument("Unidentified property.")
}

// Close closes the base iterator.
func (d *BaseDeltaIterator) Close() error { return d.base.Close() }

// All gives keys and values from the present position on, or from the first key
// when the iterator stands nowhere. Both are valid for one round.
func (d *BaseDeltaIterator) All() iter.Seq2[[]byte, []byte] {
	return func(yield func(k, v []byte) bool) {
		if !d.Valid() && d.Status() == nil {
			d.SeekToFirst()
		}
		for ; d.Valid(); d.Next() {
			if !yield(d.Key(), d.Value()) {
				return
			}
		}
	}
}
