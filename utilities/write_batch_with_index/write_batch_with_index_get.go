// Port of utilities/write_batch_with_index/write_batch_with_index.cc and
// write_batch_with_index_internal.cc: lookups.

package writebatchwithindex

import (
	"errors"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/db/merge"
	"github.com/rocksdb-go/rocksdb/db/wide"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/options"
	"github.com/rocksdb-go/rocksdb/table"
)

// DB is a database that a batch is read together with.
type DB interface {
	Get(ro *rocksdb.ReadOptions, cf rocksdb.ColumnFamilyHandle, key []byte, value *rocksdb.PinnableSlice) error
	GetEntity(ro *rocksdb.ReadOptions, cf rocksdb.ColumnFamilyHandle, key []byte, columns *rocksdb.PinnableWideColumns) error
	// MultiGetKeyContexts looks keys of one family up at one state of the
	// database, each into its Value or its Columns; activity is what it is for.
	MultiGetKeyContexts(ro *rocksdb.ReadOptions, activity rocksdb.IOActivity, cf rocksdb.ColumnFamilyHandle, keys []*table.KeyContext)
	DefaultColumnFamilyHandle() rocksdb.ColumnFamilyHandle
}

// mergingHandle is a handle of a database that is open.
type mergingHandle interface {
	GetImmutableOptions() *options.ImmutableOptions
}

// prepareMerge sets m up for cf's merge operator, without a base value.
func prepareMerge(m *merge.FullMerge, cf rocksdb.ColumnFamilyHandle, key []byte, operands *dbformat.MergeContext) error {
	if cf == nil {
		return rocksdb.InvalidArgument("Must provide a column family")
	}
	h, ok := cf.(mergingHandle)
	if !ok || h.GetImmutableOptions().MergeOperator == nil {
		return rocksdb.InvalidArgument("Merge operator must be set for column family")
	}
	o := h.GetImmutableOptions()
	m.Operator, m.Logger, m.Statistics, m.Clock = o.MergeOperator, o.Logger, o.Stats, o.Clock
	m.Key, m.Operands = key, operands.GetOperands()
	m.Base, m.Value = merge.NoBaseValue, nil
	return nil
}

// setBase makes columns what m merges into; buf is used for them and given back.
func setBase(m *merge.FullMerge, columns rocksdb.WideColumns, buf []byte) ([]byte, error) {
	if len(columns) == 1 && len(columns[0].Name) == 0 {
		m.Base, m.Value = merge.PlainBaseValue, columns[0].Value
		return buf, nil
	}
	buf, err := wide.Serialize(buf[:0], columns)
	m.Base, m.Value = merge.WideBaseValue, buf
	return buf, err
}

// output is where a lookup's result goes: one of the two.
type output struct {
	value   *rocksdb.PinnableSlice
	columns *rocksdb.PinnableWideColumns
}

func (o output) reset() {
	if o.columns != nil {
		o.columns.Reset()
	} else {
		o.value.Release()
	}
}

func (o output) setPlain(value []byte) {
	if o.columns != nil {
		o.columns.SetPlainValue(value, nil)
	} else {
		o.value.PinSelf(value)
	}
}

func (o output) setEntity(entity []byte) error {
	if o.columns != nil {
		return o.columns.SetWideColumnValue(entity, nil, wide.DeserializeSimple)
	}
	value, isBlob, err := wide.GetValueOfDefaultColumn(entity)
	if err == nil && isBlob {
		err = rocksdb.NotSupported("Blob-backed default column not supported in WriteBatchWithIndex")
	}
	if err == nil {
		o.value.PinSelf(value)
	}
	return err
}

func (o output) setMerged(m *merge.FullMerge) error {
	if o.columns != nil {
		return m.ResultEntity(o.columns)
	}
	value, err := m.ResultValue()
	if err == nil {
		o.value.PinSelf(value)
	}
	return err
}

// get looks key up in the batch. The error is set with Failed only; operands are
// those of MergeInProgress.
// Upstream: WriteBatchWithIndexInternal::GetFromBatchImpl.
func (b *WriteBatchWithIndex) get(cf rocksdb.ColumnFamilyHandle, key []byte, operands *dbformat.MergeContext, out output) (Result, error) {
	it := b.newIterator(familyID(cf))
	it.Seek(key)
	result := it.FindLatestUpdateOf(key, operands)
	out.reset()
	var err error
	switch {
	case result == Failed:
		return Failed, rocksdb.Corruption("Unexpected entry in WriteBatchWithIndex")
	case result != Found && (result != Deleted || operands.GetNumOperands() == 0):
		return result, nil
	case operands.GetNumOperands() == 0:
		if e := it.Entry(); e.Type == PutEntityRecord {
			err = out.setEntity(e.Value)
		} else {
			out.setPlain(e.Value)
		}
	default:
		var m merge.FullMerge
		if err = prepareMerge(&m, cf, key, operands); err != nil {
			break
		}
		if result == Found {
			e := it.Entry()
			if m.Base, m.Value = merge.PlainBaseValue, e.Value; e.Type == PutEntityRecord {
				m.Base = merge.WideBaseValue
			}
		}
		err = out.setMerged(&m)
	}
	if err != nil {
		out.reset()
		return Failed, err
	}
	return Found, nil
}

// statusOf is the error of a lookup in the batch alone.
func statusOf(result Result, err error) error {
	switch result {
	case Deleted, NotFound:
		return rocksdb.ErrNotFound
	case MergeInProgress:
		return rocksdb.ErrMergeInProgress
	}
	return err
}

// GetFromBatch finds what the batch says of key and copies it into value, of an
// entity its default column. The error is ErrNotFound where the batch deletes the
// key or does not have it, and of code MergeInProgress where the database is
// needed. Merging wants a cf, which otherwise may be nil: the default family.
func (b *WriteBatchWithIndex) GetFromBatch(cf rocksdb.ColumnFamilyHandle, key []byte, value *rocksdb.PinnableSlice) error {
	var operands dbformat.MergeContext
	return statusOf(b.get(cf, key, &operands, output{value: value}))
}

// GetEntityFromBatch is GetFromBatch for an entity.
func (b *WriteBatchWithIndex) GetEntityFromBatch(cf rocksdb.ColumnFamilyHandle, key []byte, columns *rocksdb.PinnableWideColumns) error {
	switch {
	case cf == nil:
		return rocksdb.InvalidArgument("Cannot call GetEntityFromBatch without a column family handle")
	case columns == nil:
		return rocksdb.InvalidArgument("Cannot call GetEntityFromBatch without a PinnableWideColumns object")
	}
	var operands dbformat.MergeContext
	return statusOf(b.get(cf, key, &operands, output{columns: columns}))
}

// checkTimestamp refuses options that do not fit cf's keys.
func checkTimestamp(ro *rocksdb.ReadOptions, cf rocksdb.ColumnFamilyHandle) error {
	size, given := 0, 0
	if c := cf.GetComparator(); c != nil {
		size = c.TimestampSize()
	}
	if ro != nil {
		given = len(ro.Timestamp)
	}
	switch {
	case size == given:
		return nil
	case size == 0:
		return rocksdb.InvalidArgument("Cannot specify timestamp since the column family does not have timestamps enabled")
	case given == 0:
		return rocksdb.InvalidArgument("Must specify timestamp")
	}
	return rocksdb.InvalidArgument("Timestamp size does not match the timestamp size of the column family")
}

// isFound tells whether a lookup gave a value: one of too many operands is one.
func isFound(err error) bool {
	return err == nil || errors.Is(err, rocksdb.ErrMergeOperandThresholdExceeded)
}

// mergeAcross merges the batch's operands into what the database has, found being
// the error of the lookup.
func mergeAcross(cf rocksdb.ColumnFamilyHandle, key []byte, found error, existing *rocksdb.PinnableWideColumns, operands *dbformat.MergeContext, out output) error {
	if !isFound(found) && !rocksdb.IsNotFound(found) {
		return found
	}
	var m merge.FullMerge
	if err := prepareMerge(&m, cf, key, operands); err != nil {
		return err
	}
	if isFound(found) {
		if _, err := setBase(&m, existing.Columns(), nil); err != nil {
			return err
		}
	}
	return out.setMerged(&m)
}

// anyActivity is ro for a call that is not the caller's.
func anyActivity(ro *rocksdb.ReadOptions) *rocksdb.ReadOptions {
	if ro == nil || ro.IOActivity == rocksdb.IOActivityUnknown {
		return ro
	}
	o := *ro
	o.IOActivity = rocksdb.IOActivityUnknown
	return &o
}

// GetFromBatchAndDB finds key's value as it would be once the batch is written to
// db. cf may be nil: the default family. The error is ErrNotFound when there is
// none; otherwise Release has to be called on value, which is released first.
func (b *WriteBatchWithIndex) GetFromBatchAndDB(db DB, ro *rocksdb.ReadOptions, cf rocksdb.ColumnFamilyHandle, key []byte, value *rocksdb.PinnableSlice) error {
	cf, err := checkValueCall("GetFromBatchAndDB", db, ro, cf)
	if err != nil {
		return err
	}
	return b.getAcross(db, anyActivity(ro), cf, key, output{value: value}, func() error { return db.Get(ro, cf, key, value) })
}

// getAcross looks a key up in the batch, and where that does not decide in the
// database: by fromDB, or for the batch's operands as an entity.
func (b *WriteBatchWithIndex) getAcross(db DB, ro *rocksdb.ReadOptions, cf rocksdb.ColumnFamilyHandle, key []byte, out output, fromDB func() error) error {
	var operands dbformat.MergeContext
	switch result, err := b.get(cf, key, &operands, out); result {
	case Deleted:
		return rocksdb.ErrNotFound
	case NotFound:
		return fromDB()
	case MergeInProgress:
		var existing rocksdb.PinnableWideColumns
		defer existing.Reset()
		return mergeAcross(cf, key, db.GetEntity(ro, cf, key, &existing), &existing, &operands, out)
	default:
		return err
	}
}

// checkValueCall refuses a lookup of values that cannot be made, and gives the
// family, which may be nil: the default one.
func checkValueCall(call string, db DB, ro *rocksdb.ReadOptions, cf rocksdb.ColumnFamilyHandle) (rocksdb.ColumnFamilyHandle, error) {
	if db == nil {
		return nil, rocksdb.InvalidArgument("Cannot call " + call + " without a DB object")
	}
	if cf == nil {
		cf = db.DefaultColumnFamilyHandle()
	}
	return cf, checkTimestamp(ro, cf)
}

// checkEntityCall refuses a lookup of entities that cannot be made.
func checkEntityCall(call string, activity rocksdb.IOActivity, db DB, ro *rocksdb.ReadOptions, cf rocksdb.ColumnFamilyHandle) error {
	switch {
	case db == nil:
		return rocksdb.InvalidArgument("Cannot call " + call + " without a DB object")
	case ro != nil && ro.IOActivity != rocksdb.IOActivityUnknown && ro.IOActivity != activity:
		return rocksdb.InvalidArgument("Can only call " + call + " with ReadOptions.IOActivity unknown or its own")
	case cf == nil:
		return rocksdb.InvalidArgument("Cannot call " + call + " without a column family handle")
	}
	return checkTimestamp(ro, cf)
}

// GetEntityFromBatchAndDB is GetFromBatchAndDB for an entity; cf must not be nil.
func (b *WriteBatchWithIndex) GetEntityFromBatchAndDB(db DB, ro *rocksdb.ReadOptions, cf rocksdb.ColumnFamilyHandle, key []byte, columns *rocksdb.PinnableWideColumns) error {
	if err := checkEntityCall("GetEntityFromBatchAndDB", rocksdb.IOActivityGetEntity, db, ro, cf); err != nil {
		return err
	}
	if columns == nil {
		return rocksdb.InvalidArgument("Cannot call GetEntityFromBatchAndDB without a PinnableWideColumns object")
	}
	return b.getAcross(db, ro, cf, key, output{columns: columns}, func() error { return db.GetEntity(ro, cf, key, columns) })
}

func failAll(errs []error, err error) {
	for i := range errs {
		errs[i] = err
	}
}

// MultiGetFromBatchAndDB is GetFromBatchAndDB for each key, at one state of the
// database; values and errs have keys' length.
func (b *WriteBatchWithIndex) MultiGetFromBatchAndDB(db DB, ro *rocksdb.ReadOptions, cf rocksdb.ColumnFamilyHandle, keys [][]byte, values []rocksdb.PinnableSlice, errs []error) {
	cf, err := checkValueCall("MultiGetFromBatchAndDB", db, ro, cf)
	if err != nil {
		failAll(errs, err)
		return
	}
	b.multiGet(db, ro, rocksdb.IOActivityMultiGet, cf, keys, errs, func(i int) output { return output{value: &values[i]} })
}

// MultiGetEntityFromBatchAndDB is GetEntityFromBatchAndDB for each key, at one
// state of the database; results and errs have keys' length.
func (b *WriteBatchWithIndex) MultiGetEntityFromBatchAndDB(db DB, ro *rocksdb.ReadOptions, cf rocksdb.ColumnFamilyHandle, keys [][]byte, results []rocksdb.PinnableWideColumns, errs []error) {
	const call = "MultiGetEntityFromBatchAndDB"
	err := checkEntityCall(call, rocksdb.IOActivityMultiGetEntity, db, ro, cf)
	if err == nil && (len(keys) != len(errs) || len(results) != len(errs)) {
		err = rocksdb.InvalidArgument("Cannot call " + call + " with keys, results and errors of different numbers")
	}
	if err != nil {
		failAll(errs, err)
		return
	}
	b.multiGet(db, ro, rocksdb.IOActivityMultiGetEntity, cf, keys, errs, func(i int) output { return output{columns: &results[i]} })
}

// pendingMerge is a key of which the batch has operands only.
type pendingMerge struct {
	index    int
	operands dbformat.MergeContext
	existing rocksdb.PinnableWideColumns
}

// multiGet looks keys up in the batch and those that it does not decide in the
// database, in one go; out gives where a key's result goes.
func (b *WriteBatchWithIndex) multiGet(db DB, ro *rocksdb.ReadOptions, activity rocksdb.IOActivity, cf rocksdb.ColumnFamilyHandle, keys [][]byte, errs []error, out func(int) output) {
	var merges []*pendingMerge
	var left []*table.KeyContext
	m := &pendingMerge{}
	for i, key := range keys {
		o := out(i)
		result, err := b.get(cf, key, &m.operands, o)
		errs[i] = err
		switch result {
		case Deleted:
			errs[i] = rocksdb.ErrNotFound
		case NotFound:
			left = append(left, &table.KeyContext{Key: key, Err: &errs[i], Value: o.value, Columns: o.columns})
		case MergeInProgress:
			m.index = i
			merges = append(merges, m)
			left = append(left, &table.KeyContext{Key: key, Err: &errs[i], Columns: &m.existing})
			m = &pendingMerge{}
		}
	}
	if len(left) > 0 {
		db.MultiGetKeyContexts(ro, activity, cf, left)
	}
	for _, m := range merges {
		i := m.index
		errs[i] = mergeAcross(cf, keys[i], errs[i], &m.existing, &m.operands, out(i))
		m.existing.Reset()
	}
}
