// Port of utilities/ttl/db_ttl_impl.{h,cc} and include/rocksdb/utilities/db_ttl.h,
// the database. Differs: what a TTL database does not do is not there instead of
// going to the database below.

package ttl

import (
	"math"
	"slices"

	"github.com/rocksdb-go/rocksdb/db"
	dbimpl "github.com/rocksdb-go/rocksdb/db/db_impl"
	"github.com/rocksdb-go/rocksdb/db/writebatch"
	"github.com/rocksdb-go/rocksdb/env"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

const (
	// TimestampLength is how many bytes the time at a value's end takes.
	TimestampLength = 4
	// MinTimestamp is the earliest time that a value can have: before, there
	// were no such databases.
	MinTimestamp = 1368146402
	// MaxTimestamp is the latest one.
	MaxTimestamp = math.MaxInt32
)

// DBWithTTL is a database with ages. It is safe for concurrent use and has to be
// closed.
type DBWithTTL struct {
	db    *dbimpl.DBImpl
	clock rocksdb.SystemClock
}

// Open opens the database at path, which has no family but the default one.
// Compactions drop values that are older than ttl seconds; 0 or less keeps all.
func Open(o *rocksdb.Options, path string, ttl int32, readOnly bool) (*DBWithTTL, error) {
	d, handles, err := OpenColumnFamilies(&o.DBOptions, path,
		[]rocksdb.ColumnFamilyDescriptor{{Name: rocksdb.DefaultColumnFamilyName, Options: o.ColumnFamilyOptions}}, []int32{ttl}, readOnly)
	for _, h := range handles {
		if e := d.db.DestroyColumnFamilyHandle(h); err == nil {
			err = e
		}
	}
	return d, err
}

// OpenColumnFamilies is Open with families, of which each has its ttl.
func OpenColumnFamilies(o *rocksdb.DBOptions, path string, families []rocksdb.ColumnFamilyDescriptor, ttls []int32,
	readOnly bool) (*DBWithTTL, []*db.ColumnFamilyHandleImpl, error) {
	RegisterDefault()
	if len(ttls) != len(families) {
		return nil, nil, rocksdb.InvalidArgument("ttls size has to be the same as number of column families")
	}
	e := o.Env
	if e == nil {
		e = env.Default()
	}
	d := &DBWithTTL{clock: e.GetSystemClock()}
	families = slices.Clone(families)
	for i := range families {
		SanitizeOptions(ttls[i], &families[i].Options, d.clock)
	}
	var handles []*db.ColumnFamilyHandleImpl
	var err error
	if readOnly {
		d.db, handles, err = dbimpl.OpenForReadOnly(o, path, families, false)
	} else {
		d.db, handles, err = dbimpl.Open(o, path, families)
	}
	if err != nil {
		return nil, nil, err
	}
	return d, handles, nil
}

// SanitizeOptions puts a family's filter and merge operator behind those that
// know of times.
func SanitizeOptions(ttl int32, o *rocksdb.ColumnFamilyOptions, clock rocksdb.SystemClock) {
	if o.CompactionFilter != nil {
		o.CompactionFilter = NewCompactionFilter(ttl, clock, o.CompactionFilter, nil)
	} else {
		o.CompactionFilterFactory = NewCompactionFilterFactory(ttl, clock, o.CompactionFilterFactory)
	}
	if o.MergeOperator != nil {
		o.MergeOperator = NewMergeOperator(o.MergeOperator, clock)
	}
}

// Base is the database below, in which values have their times.
func (d *DBWithTTL) Base() *dbimpl.DBImpl { return d.db }

// DefaultColumnFamily is the default family's handle.
func (d *DBWithTTL) DefaultColumnFamily() *db.ColumnFamilyHandleImpl {
	return d.db.DefaultColumnFamily()
}

// Close waits for background work and closes the database.
func (d *DBWithTTL) Close() error { return d.db.Close() }

// CreateColumnFamilyWithTTL makes a family whose values live ttl seconds.
func (d *DBWithTTL) CreateColumnFamilyWithTTL(o *rocksdb.ColumnFamilyOptions, name string, ttl int32) (*db.ColumnFamilyHandleImpl, error) {
	s := *o
	SanitizeOptions(ttl, &s, d.clock)
	return d.db.CreateColumnFamily(&s, name)
}

// CreateColumnFamily makes a family that keeps all values.
func (d *DBWithTTL) CreateColumnFamily(o *rocksdb.ColumnFamilyOptions, name string) (*db.ColumnFamilyHandleImpl, error) {
	return d.CreateColumnFamilyWithTTL(o, name, 0)
}

// AppendTS appends val and the time to dst.
func AppendTS(dst, val []byte, clock rocksdb.SystemClock) ([]byte, error) {
	now, err := clock.GetCurrentTime()
	if err != nil {
		return dst, err
	}
	return util.AppendFixed32(append(dst, val...), uint32(int32(now))), nil
}

// timestampOf is the time at a value's end.
func timestampOf(value []byte) int32 {
	return int32(util.DecodeFixed32(value[len(value)-TimestampLength:]))
}

// SanityCheckTimestamp makes sure that a value ends in a time.
func SanityCheckTimestamp(value []byte) error {
	if len(value) < TimestampLength {
		return rocksdb.Corruption("Error: value's length less than timestamp's\n")
	}
	if timestampOf(value) < MinTimestamp {
		return rocksdb.Corruption("Error: Timestamp < ttl feature release time!\n")
	}
	return nil
}

// IsStale tells whether a value is older than ttl seconds. A value without a
// time, and all values where ttl is not positive, are fresh.
func IsStale(value []byte, ttl int32, clock rocksdb.SystemClock) bool {
	if ttl <= 0 || len(value) < TimestampLength {
		return false
	}
	now, err := clock.GetCurrentTime()
	return err == nil && int64(util.DecodeFixed32(value[len(value)-TimestampLength:]))+int64(ttl) < now
}

// strip takes the time off a value that was read.
func strip(value *rocksdb.PinnableSlice) error {
	if err := SanityCheckTimestamp(value.Data()); err != nil {
		value.Release()
		return err
	}
	value.RemoveSuffix(TimestampLength)
	return nil
}

// Put stores value under key.
func (d *DBWithTTL) Put(wo *rocksdb.WriteOptions, cf rocksdb.ColumnFamilyHandle, key, value []byte) error {
	b := writebatch.New()
	if err := b.PutCF(cf, key, value); err != nil {
		return err
	}
	return d.Write(wo, b)
}

// Merge adds an operand to key's value.
func (d *DBWithTTL) Merge(wo *rocksdb.WriteOptions, cf rocksdb.ColumnFamilyHandle, key, operand []byte) error {
	b := writebatch.New()
	if err := b.MergeCF(cf, key, operand); err != nil {
		return err
	}
	return d.Write(wo, b)
}

// Delete removes key.
func (d *DBWithTTL) Delete(wo *rocksdb.WriteOptions, cf rocksdb.ColumnFamilyHandle, key []byte) error {
	return d.db.Delete(wo, cf, key)
}

// SingleDelete removes key, which was put at most once.
func (d *DBWithTTL) SingleDelete(wo *rocksdb.WriteOptions, cf rocksdb.ColumnFamilyHandle, key []byte) error {
	return d.db.SingleDelete(wo, cf, key)
}

// DeleteRange removes the keys in [begin, end).
func (d *DBWithTTL) DeleteRange(wo *rocksdb.WriteOptions, cf rocksdb.ColumnFamilyHandle, begin, end []byte) error {
	return d.db.DeleteRange(wo, cf, begin, end)
}

// Write applies batch, whose values get the present time.
func (d *DBWithTTL) Write(wo *rocksdb.WriteOptions, batch *writebatch.WriteBatch) error {
	h := timeAdder{clock: d.clock, batch: writebatch.New()}
	if err := batch.Iterate(&h); err != nil {
		return err
	}
	return d.db.Write(wo, h.batch)
}

// Get finds key's value; Release has to be called on it.
func (d *DBWithTTL) Get(ro *rocksdb.ReadOptions, cf rocksdb.ColumnFamilyHandle, key []byte, value *rocksdb.PinnableSlice) error {
	if err := d.db.Get(ro, cf, key, value); err != nil {
		return err
	}
	return strip(value)
}

// MultiGet is Get of several keys.
func (d *DBWithTTL) MultiGet(ro *rocksdb.ReadOptions, cf rocksdb.ColumnFamilyHandle, keys [][]byte, values []rocksdb.PinnableSlice, errs []error) {
	d.db.MultiGet(ro, cf, keys, values, errs)
	for i := range keys {
		if errs[i] == nil {
			errs[i] = strip(&values[i])
		}
	}
}

// KeyMayExist tells whether key may be there, without reading files, and its
// value where that is at hand.
func (d *DBWithTTL) KeyMayExist(ro *rocksdb.ReadOptions, cf rocksdb.ColumnFamilyHandle, key []byte, value *rocksdb.PinnableSlice) (mayExist, found bool) {
	mayExist, found = d.db.KeyMayExist(ro, cf, key, value)
	if found && strip(value) != nil {
		return false, false
	}
	return mayExist, found
}

// Flush writes a family's memtable to a table.
func (d *DBWithTTL) Flush(o *rocksdb.FlushOptions, cf rocksdb.ColumnFamilyHandle) error {
	return d.db.Flush(o, cf)
}

// CompactRange compacts a range of a family, nil bounds being open: values that
// are too old go.
func (d *DBWithTTL) CompactRange(o *rocksdb.CompactRangeOptions, cf rocksdb.ColumnFamilyHandle, begin, end []byte) error {
	return d.db.CompactRange(o, cf, begin, end)
}

// factory is a family's filter factory; nil where the user set a filter.
func (d *DBWithTTL) factory(cf rocksdb.ColumnFamilyHandle) *CompactionFilterFactory {
	f, _ := d.db.GetOptions(cf).CompactionFilterFactory.(*CompactionFilterFactory)
	return f
}

// SetTTL changes a family's ttl, for compactions that start from now on.
func (d *DBWithTTL) SetTTL(cf rocksdb.ColumnFamilyHandle, ttl int32) {
	if f := d.factory(cf); f != nil {
		f.SetTTL(ttl)
	}
}

// GetTTL gives a family's ttl.
func (d *DBWithTTL) GetTTL(cf rocksdb.ColumnFamilyHandle) (int32, error) {
	if cf == nil {
		return 0, rocksdb.InvalidArgument("column family handle or ttl cannot be null")
	}
	f := d.factory(cf)
	if f == nil {
		return 0, rocksdb.InvalidArgument("TTLCompactionFilterFactory is not set for TTLDB")
	}
	return f.GetTTL(), nil
}

// Iterator is an iterator over values without their times.
type Iterator struct{ *dbimpl.Iterator }

// NewIterator makes an iterator over a family; it has to be closed.
func (d *DBWithTTL) NewIterator(ro *rocksdb.ReadOptions, cf rocksdb.ColumnFamilyHandle) Iterator {
	return Iterator{d.db.NewIterator(ro, cf)}
}

// TTLTimestamp is the time at which the value was written, 0 where there is
// none.
func (it Iterator) TTLTimestamp() int32 {
	if v := it.Iterator.Value(); len(v) >= TimestampLength {
		return timestampOf(v)
	}
	return 0
}

// Value is the value; one that is too short for a time is given as it is.
func (it Iterator) Value() []byte {
	v := it.Iterator.Value()
	if len(v) < TimestampLength {
		return v
	}
	return v[:len(v)-TimestampLength]
}

// timeAdder copies a batch, with times. What has no time is refused.
type timeAdder struct {
	writebatch.HandlerBase
	clock rocksdb.SystemClock
	batch *writebatch.WriteBatch
	buf   []byte
}

// PutCF adds a value, as do the methods below with what they are named for.
func (h *timeAdder) PutCF(cf uint32, key, value []byte) (err error) {
	if h.buf, err = AppendTS(h.buf[:0], value, h.clock); err != nil {
		return err
	}
	return h.batch.PutByID(cf, key, h.buf)
}

func (h *timeAdder) MergeCF(cf uint32, key, operand []byte) (err error) {
	if h.buf, err = AppendTS(h.buf[:0], operand, h.clock); err != nil {
		return err
	}
	return h.batch.MergeByID(cf, key, h.buf)
}

func (h *timeAdder) DeleteCF(cf uint32, key []byte) error { return h.batch.DeleteByID(cf, key) }

func (h *timeAdder) SingleDeleteCF(cf uint32, key []byte) error {
	return h.batch.SingleDeleteByID(cf, key)
}

func (h *timeAdder) DeleteRangeCF(cf uint32, begin, end []byte) error {
	return h.batch.DeleteRangeByID(cf, begin, end)
}

func (h *timeAdder) LogData(blob []byte) { _ = h.batch.PutLogData(blob) }

func defaultClock() rocksdb.SystemClock { return env.Default().GetSystemClock() }
