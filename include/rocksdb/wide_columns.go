// Port of include/rocksdb/wide_columns.h and db/wide/wide_columns.cc. Differs:
// package db/wide parses entities; this file has the value types.

package rocksdb

import "math/bits"

// WideColumn is a named value of an entity.
type WideColumn struct{ Name, Value []byte }

// WideColumns are an entity's columns, in ascending order of names.
type WideColumns []WideColumn

// SerializedSize is the size of an entity of these columns, in format version 1,
// in bytes.
func (c WideColumns) SerializedSize() int {
	varint := func(n int) int { return (bits.Len(uint(n)|1) + 6) / 7 }
	n := 1 + varint(len(c)) // the version comes first
	for i := range c {
		name, value := len(c[i].Name), len(c[i].Value)
		n += varint(name) + name + varint(value) + value
	}
	return n
}

// DefaultWideColumnName, empty, is the name of the column that stands for a
// plain value.
const DefaultWideColumnName = ""

// PinnableWideColumns is an entity read from the database. Columns is valid
// until Reset; the zero value is ready.
type PinnableWideColumns struct {
	value   PinnableSlice
	columns WideColumns
	blobs   []PinnableSlice // values that are not in value
}

// Columns gives the columns; they must not be changed.
func (p *PinnableWideColumns) Columns() WideColumns { return p.columns }

// PayloadSize is the size of names and values in bytes.
func (p *PinnableWideColumns) PayloadSize() int {
	n := 0
	for _, c := range p.columns {
		n += len(c.Name) + len(c.Value)
	}
	return n
}

// SetPlainValue makes a plain value the only column, the default one. owner
// keeps the value alive; nil copies it.
func (p *PinnableWideColumns) SetPlainValue(value []byte, owner Releaser) {
	p.pin(value, owner)
	p.columns = append(p.columns[:0], WideColumn{Name: []byte{}, Value: p.value.Data()})
}

// SetWideColumnValue takes a serialised entity, which parse appends the columns
// of to its first argument. owner keeps the bytes alive; nil copies them.
func (p *PinnableWideColumns) SetWideColumnValue(entity []byte, owner Releaser, parse func(WideColumns, []byte) (WideColumns, error)) error {
	p.pin(entity, owner)
	columns, err := parse(p.columns[:0], p.value.Data())
	if err != nil {
		p.Reset()
		return err
	}
	p.columns = columns
	return nil
}

// SerializedSize is the size of the columns as an entity, in bytes. PayloadSize
// does not depend on a format.
func (p *PinnableWideColumns) SerializedSize() int { return p.columns.SerializedSize() }

// ResolveColumn gives the i-th column another value, with memory of its own; the
// other columns stay where they are.
func (p *PinnableWideColumns) ResolveColumn(i int, value PinnableSlice) {
	p.blobs = append(p.blobs, value)
	p.columns[i].Value = value.Data()
}

func (p *PinnableWideColumns) pin(value []byte, owner Releaser) {
	p.releaseBlobs()
	if owner != nil {
		p.value.PinSlice(value, owner)
	} else {
		p.value.PinSelf(value)
	}
}

// Reset drops the columns and gives back what they are in.
func (p *PinnableWideColumns) Reset() {
	p.releaseBlobs()
	p.value.Release()
	p.columns = p.columns[:0]
}

func (p *PinnableWideColumns) releaseBlobs() {
	for i := range p.blobs {
		p.blobs[i].Release()
	}
	clear(p.blobs)
	p.blobs = p.blobs[:0]
}
