// Port of db/db_iter.{h,cc} (the value shown: plain, of a blob, of an entity, merged).

package dbiter

import (
	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/db/merge"
	"github.com/rocksdb-go/rocksdb/db/seqnotime"
	"github.com/rocksdb-go/rocksdb/db/wide"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/table/internaliter"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

// PrepareValue loads a value left unread.
func (d *DBIter) PrepareValue() bool {
	if !d.unprepared {
		return d.valid
	}
	d.unprepared = false
	if raw := d.lazyBlob; raw != nil {
		d.lazyBlob = nil
		return d.setInPlaceValue(dbformat.TypeBlobIndex, raw)
	}
	if !d.iter.PrepareValue() {
		d.fail(d.iter.Status())
		return false
	}
	return d.setInPlaceValue(d.ikey.Type, d.iter.Value())
}

// prepareInner is upstream's DBIter::PrepareInternalChildren.
func (d *DBIter) prepareInner() bool {
	if d.iter.IsValuePrepared() || d.iter.PrepareValue() {
		return true
	}
	return d.fail(d.iter.Status())
}

// resetValue is upstream's DBIter::ResetValueAndColumns, DBIter::ResetBlobData
// and DBIter::ValueColumnsState::Reset.
func (d *DBIter) resetValue() {
	d.value = nil
	d.wide.clear()
	d.unprepared, d.lazyBlob = false, nil
	if d.blob.IsPinned() {
		d.blob.Release()
	}
}

// showValue is setInPlaceValue, but for a blob that PrepareValue is to read. raw
// stays until the next move.
func (d *DBIter) showValue(t dbformat.ValueType, raw []byte) bool {
	if t == dbformat.TypeBlobIndex && d.ro.AllowUnpreparedValue && d.resolver != nil && len(raw) > 0 {
		d.lazyBlob, d.unprepared = raw, true
		return true
	}
	return d.setInPlaceValue(t, raw)
}

// setInPlaceValue makes raw, of an entry of type t, the value shown.
// Upstream: DBIter::SetValueAndColumnsFromPlain,
// DBIter::SetValueAndColumnsFromBlob, DBIter::SetValueAndColumnsFromBlobImpl.
func (d *DBIter) setInPlaceValue(t dbformat.ValueType, raw []byte) bool {
	switch t {
	case dbformat.TypeValue:
		d.value = raw
		return true
	case dbformat.TypeValuePreferredSeqno:
		v, _, ok := seqnotime.ParsePackedValueWithWriteTime(raw)
		if !ok {
			return d.fail(rocksdb.Corruption("packed value without write time"))
		}
		d.value = v
		return true
	case dbformat.TypeBlobIndex:
		if d.resolver == nil {
			return d.fail(rocksdb.NotSupported("Encounter unexpected blob index. Please open DB with ROCKSDB_NAMESPACE::blob_db::BlobDB instead."))
		}
		if err := d.resolver.GetBlob(&d.ro, d.savedKey.GetUserKey(), raw, &d.blob); err != nil {
			return d.fail(err)
		}
		d.value = d.blob.Data()
		return true
	case dbformat.TypeWideColumnEntity:
		v, isBlob, err := wide.GetValueOfDefaultColumn(raw)
		if err != nil {
			return d.fail(err)
		}
		d.wide.entity = raw
		if isBlob {
			return d.setInPlaceValue(dbformat.TypeBlobIndex, v)
		}
		d.value = v
		return true
	}
	return d.fail(rocksdb.Corruptionf("Unknown value type: %d", t))
}

func (d *DBIter) pushOperand() {
	d.mergeContext.PushOperand(d.iter.Value(), d.iter.IsValuePinned())
	if d.perf != nil {
		d.perf.InternalMergeCount++
	}
}

// mergeValuesNewToOld collects the saved key's operands, the inner iterator
// standing on the newest, and merges them. It leaves the inner iterator behind
// the key's entries that went in.
func (d *DBIter) mergeValuesNewToOld() bool {
	if d.merger == nil {
		return d.fail(rocksdb.InvalidArgument("merge_operator_ must be set."))
	}
	d.tempPin()
	d.mergeContext.Clear()
	d.pushOperand()
	syncpoint.Process("DBIter::MergeValuesNewToOld:PushedFirstOperand")
	for d.iter.Next(); d.iter.Valid(); d.iter.Next() {
		syncpoint.Process("DBIter::MergeValuesNewToOld:SteppedToNextOperand")
		if !d.parse() {
			return false
		}
		if !d.equalUserKey(d.ikey.UserKey, d.savedKey.GetUserKey()) {
			break
		}
		if isDeletion(d.ikey.Type) {
			d.iter.Next()
			break
		}
		if !d.prepareInner() {
			return false
		}
		if d.ikey.Type == dbformat.TypeMerge {
			d.pushOperand()
			continue
		}
		if !d.mergeWithPresent() {
			return false
		}
		d.iter.Next()
		if err := d.iter.Status(); err != nil {
			return d.fail(err)
		}
		return true
	}
	if err := d.iter.Status(); err != nil {
		return d.fail(err)
	}
	return d.mergeWithBase(dbformat.TypeDeletion, nil)
}

// mergeWithPresent merges the collected operands over the inner iterator's entry.
func (d *DBIter) mergeWithPresent() bool {
	d.savedWriteTime = d.iter.WriteUnixTime()
	return d.mergeWithBase(d.ikey.Type, d.iter.Value())
}

// mergeWithBase merges the collected operands over a base entry; a deletion is
// no base.
// Upstream: DBIter::SetValueAndColumnsFromMergeResult.
func (d *DBIter) mergeWithBase(t dbformat.ValueType, raw []byte) bool {
	if d.merger == nil {
		return d.fail(rocksdb.InvalidArgument("merge_operator_ must be set."))
	}
	d.wide.clear()
	kind, base := merge.NoBaseValue, []byte(nil)
	switch {
	case isDeletion(t):
		d.savedWriteTime = internaliter.UnknownUnixTime
	case t == dbformat.TypeWideColumnEntity:
		entity, err := wide.ResolveEntityForMerge(raw, d.savedKey.GetUserKey(), blobFetcher{d})
		if err != nil {
			return d.fail(err)
		}
		kind, base = merge.WideBaseValue, entity
	case d.setInPlaceValue(t, raw):
		kind, base = merge.PlainBaseValue, d.value
	default:
		return false
	}
	result, t, err := d.merger.FullMerge(d.userKey(), kind, base, d.mergeContext.GetOperands())
	if err != nil {
		return d.fail(err)
	}
	// The operands may be gone when the iterator moves; copy what is not ours.
	d.mergeBuf = append(d.mergeBuf[:0], result...)
	d.value = d.mergeBuf
	if t == dbformat.TypeWideColumnEntity {
		if d.value, _, err = wide.GetValueOfDefaultColumn(d.mergeBuf); err != nil {
			return d.fail(err)
		}
		d.wide.entity = d.mergeBuf
	}
	d.valid = true
	return true
}
