// Port of utilities/cassandra/format.{h,cc}. Differs: a damaged row is a
// corruption; times are compared without overflowing.

package cassandra

import (
	"math"
	"slices"
	"time"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// A row is a header and its columns, numbers high byte first:
//
//	local deletion time  int32, seconds; the greatest one when not deleted
//	marked for delete at int64, microseconds; the least one when not deleted
//	columns, each:
//	    mask  int8, of the masks below
//	    index int8
//	    a column:          timestamp int64, microseconds; value size int32; value
//	    an expiring one:   the same; time to live int32, seconds
//	    a tombstone:       local deletion time int32; marked for delete at int64
//
// A deleted row has no columns.

// The masks tell the kinds of columns.
const (
	DeletionMask   int8 = 0x01
	ExpirationMask int8 = 0x02
)

const (
	defaultLocalDeletionTime int32 = math.MaxInt32
	defaultMarkedForDeleteAt int64 = math.MinInt64
)

const microsPerSecond = 1000 * 1000

// ColumnBase is a column of a row.
type ColumnBase interface {
	Mask() int8
	Index() int8
	// Timestamp is when it was written or deleted, in microseconds.
	Timestamp() int64
	// Size is that of the serialized form, in bytes.
	Size() int
	// Serialize appends the column to dst.
	Serialize(dst []byte) []byte
}

// columnHead is what all columns have.
type columnHead struct{ mask, index int8 }

func (c columnHead) Mask() int8                  { return c.mask }
func (c columnHead) Index() int8                 { return c.index }
func (c columnHead) size() int                   { return 2 }
func (c columnHead) serialize(dst []byte) []byte { return append(dst, byte(c.mask), byte(c.index)) }

// Column is a column with a value.
type Column struct {
	columnHead
	timestamp int64
	value     []byte
}

// NewColumn makes a column, which keeps value.
func NewColumn(mask, index int8, timestamp int64, value []byte) *Column {
	return &Column{columnHead{mask, index}, timestamp, value}
}

// Timestamp implements ColumnBase.
func (c *Column) Timestamp() int64 { return c.timestamp }

// Size implements ColumnBase.
func (c *Column) Size() int { return c.size() + 8 + 4 + len(c.value) }

// Serialize implements ColumnBase.
func (c *Column) Serialize(dst []byte) []byte {
	dst = Serialize(c.serialize(dst), c.timestamp)
	return append(Serialize(dst, int32(len(c.value))), c.value...)
}

// ExpiringColumn is a column with a time to live, in seconds.
type ExpiringColumn struct {
	Column
	ttl int32
}

// NewExpiringColumn makes a column, which keeps value.
func NewExpiringColumn(mask, index int8, timestamp int64, value []byte, ttl int32) *ExpiringColumn {
	return &ExpiringColumn{*NewColumn(mask, index, timestamp, value), ttl}
}

// Size implements ColumnBase.
func (c *ExpiringColumn) Size() int { return c.Column.Size() + 4 }

// Serialize implements ColumnBase.
func (c *ExpiringColumn) Serialize(dst []byte) []byte {
	return Serialize(c.Column.Serialize(dst), c.ttl)
}

// Expired tells whether its time is over.
func (c *ExpiringColumn) Expired() bool {
	return c.timestamp < time.Now().UnixMicro()-int64(c.ttl)*microsPerSecond
}

// ToTombstone is the column deleted at the end of its time.
func (c *ExpiringColumn) ToTombstone() *Tombstone {
	at := c.timestamp + int64(c.ttl)*microsPerSecond
	return NewTombstone(DeletionMask, c.index, int32(at/microsPerSecond), at)
}

// Tombstone is a deleted column.
type Tombstone struct {
	columnHead
	localDeletionTime int32
	markedForDeleteAt int64
}

// NewTombstone makes a tombstone; localDeletionTime is in seconds,
// markedForDeleteAt in microseconds.
func NewTombstone(mask, index int8, localDeletionTime int32, markedForDeleteAt int64) *Tombstone {
	return &Tombstone{columnHead{mask, index}, localDeletionTime, markedForDeleteAt}
}

// Timestamp implements ColumnBase.
func (t *Tombstone) Timestamp() int64 { return t.markedForDeleteAt }

// Size implements ColumnBase.
func (t *Tombstone) Size() int { return t.size() + 4 + 8 }

// Serialize implements ColumnBase.
func (t *Tombstone) Serialize(dst []byte) []byte {
	return Serialize(Serialize(t.serialize(dst), t.localDeletionTime), t.markedForDeleteAt)
}

// Collectable tells whether the grace period, in seconds, is over.
func (t *Tombstone) Collectable(gcGracePeriod uint32) bool {
	return (int64(t.localDeletionTime)+int64(gcGracePeriod))*microsPerSecond < time.Now().UnixMicro()
}

// DeserializeColumn takes a column off src, whose memory its value is in; it is
// not ok when src is damaged.
func DeserializeColumn(src []byte) (c ColumnBase, rest []byte, ok bool) {
	if len(src) < 2 {
		return nil, nil, false
	}
	head := columnHead{int8(src[0]), int8(src[1])}
	src = src[2:]
	if head.mask&DeletionMask != 0 {
		t := &Tombstone{columnHead: head}
		if t.localDeletionTime, src, ok = Deserialize[int32](src); ok {
			t.markedForDeleteAt, src, ok = Deserialize[int64](src)
		}
		return t, src, ok
	}
	column := Column{columnHead: head}
	var n int32
	if column.timestamp, src, ok = Deserialize[int64](src); ok {
		n, src, ok = Deserialize[int32](src)
	}
	if !ok || n < 0 || int(n) > len(src) {
		return nil, nil, false
	}
	column.value, src = src[:n:n], src[n:]
	if head.mask&ExpirationMask == 0 {
		return &column, src, true
	}
	e := &ExpiringColumn{Column: column}
	e.ttl, src, ok = Deserialize[int32](src)
	return e, src, ok
}

// Columns are those of a row.
type Columns []ColumnBase

// RowValue is a row: a tombstone, or columns.
type RowValue struct {
	localDeletionTime int32
	markedForDeleteAt int64
	columns           Columns
	lastModifiedTime  int64
}

// NewRowTombstone makes a deleted row; localDeletionTime is in seconds,
// markedForDeleteAt in microseconds.
func NewRowTombstone(localDeletionTime int32, markedForDeleteAt int64) RowValue {
	return RowValue{localDeletionTime: localDeletionTime, markedForDeleteAt: markedForDeleteAt}
}

// NewRowValue makes a row of columns.
func NewRowValue(columns Columns, lastModifiedTime int64) RowValue {
	return RowValue{defaultLocalDeletionTime, defaultMarkedForDeleteAt, columns, lastModifiedTime}
}

// Columns are the row's columns.
func (r *RowValue) Columns() Columns { return r.columns }

// Size is that of the serialized form, in bytes.
func (r *RowValue) Size() int {
	n := 4 + 8
	for _, c := range r.columns {
		n += c.Size()
	}
	return n
}

// IsTombstone tells whether the row is deleted.
func (r *RowValue) IsTombstone() bool { return r.markedForDeleteAt > defaultMarkedForDeleteAt }

// LastModifiedTime is when the row was deleted, or the newest of its columns
// written, in microseconds.
func (r *RowValue) LastModifiedTime() int64 {
	if r.IsTombstone() {
		return r.markedForDeleteAt
	}
	return r.lastModifiedTime
}

// Serialize appends the row to dst.
func (r *RowValue) Serialize(dst []byte) []byte {
	dst = Serialize(Serialize(slices.Grow(dst, r.Size()), r.localDeletionTime), r.markedForDeleteAt)
	for _, c := range r.columns {
		dst = c.Serialize(dst)
	}
	return dst
}

// without gives the columns that change does not drop, by giving nil for them;
// others may take their place.
func (r *RowValue) without(change func(ColumnBase) ColumnBase) (row RowValue, changed bool) {
	var columns Columns
	for _, c := range r.columns {
		next := change(c)
		if next != c {
			changed = true
		}
		if next != nil {
			columns = append(columns, next)
		}
	}
	return NewRowValue(columns, r.lastModifiedTime), changed
}

// expired gives c where it is an expired column.
func expired(c ColumnBase) (*ExpiringColumn, bool) {
	e, ok := c.(*ExpiringColumn)
	return e, ok && c.Mask() == ExpirationMask && e.Expired()
}

// RemoveExpiredColumns gives the row without its expired columns.
func (r *RowValue) RemoveExpiredColumns() (row RowValue, changed bool) {
	return r.without(func(c ColumnBase) ColumnBase {
		if _, ok := expired(c); ok {
			return nil
		}
		return c
	})
}

// ConvertExpiredColumnsToTombstones gives the row with its expired columns
// deleted.
func (r *RowValue) ConvertExpiredColumnsToTombstones() (row RowValue, changed bool) {
	return r.without(func(c ColumnBase) ColumnBase {
		if e, ok := expired(c); ok {
			return e.ToTombstone()
		}
		return c
	})
}

// RemoveTombstones gives the row without the columns deleted longer ago than the
// grace period, in seconds.
func (r *RowValue) RemoveTombstones(gcGracePeriod uint32) RowValue {
	row, _ := r.without(func(c ColumnBase) ColumnBase {
		if t, ok := c.(*Tombstone); ok && c.Mask() == DeletionMask && t.Collectable(gcGracePeriod) {
			return nil
		}
		return c
	})
	return row
}

// Empty tells whether the row has no columns.
func (r *RowValue) Empty() bool { return len(r.columns) == 0 }

// DeserializeRowValue reads a row, whose values are in src's memory. A damaged
// one is a corruption.
func DeserializeRowValue(src []byte) (r RowValue, err error) {
	local, rest, ok := Deserialize[int32](src)
	if !ok {
		return r, damagedRow()
	}
	marked, rest, ok := Deserialize[int64](rest)
	if !ok {
		return r, damagedRow()
	}
	if len(rest) == 0 {
		return NewRowTombstone(local, marked), nil
	}
	if local != defaultLocalDeletionTime || marked != defaultMarkedForDeleteAt {
		return r, damagedRow()
	}
	var columns Columns
	last := int64(0)
	for len(rest) > 0 {
		var c ColumnBase
		if c, rest, ok = DeserializeColumn(rest); !ok {
			return r, damagedRow()
		}
		last = max(last, c.Timestamp())
		columns = append(columns, c)
	}
	return NewRowValue(columns, last), nil
}

func damagedRow() error { return rocksdb.Corruption("damaged row of Cassandra") }

// MergeRows merges rows, at least one, whose order it changes: of each column the
// newest counts, unless a row was deleted after it.
// Upstream: RowValue::Merge.
func MergeRows(rows []RowValue) RowValue {
	if len(rows) == 1 {
		return rows[0]
	}
	slices.SortStableFunc(rows, func(a, b RowValue) int {
		switch ta, tb := a.LastModifiedTime(), b.LastModifiedTime(); {
		case ta > tb:
			return -1
		case ta < tb:
			return 1
		}
		return 0
	})
	merged := map[int8]ColumnBase{}
	deletedAt := int64(0)
	for i := range rows {
		if rows[i].IsTombstone() {
			if len(merged) == 0 {
				return rows[i]
			}
			deletedAt = rows[i].LastModifiedTime()
			break
		}
		for _, c := range rows[i].columns {
			if old := merged[c.Index()]; old == nil || c.Timestamp() > old.Timestamp() {
				merged[c.Index()] = c
			}
		}
	}
	var columns Columns
	last := int64(0)
	for index := math.MinInt8; index <= math.MaxInt8; index++ {
		// A row that is newer than the deletion may have columns that are older.
		if c := merged[int8(index)]; c != nil && c.Timestamp() > deletedAt {
			last = max(last, c.Timestamp())
			columns = append(columns, c)
		}
	}
	return NewRowValue(columns, last)
}
