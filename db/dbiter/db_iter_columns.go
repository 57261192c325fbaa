// Port of db/db_iter.{h,cc} (wide columns). Differs: columns are parsed when
// they are asked for, so that who reads values alone does not pay for them.

package dbiter

import (
	"github.com/rocksdb-go/rocksdb/db/blob/blobformat"
	"github.com/rocksdb-go/rocksdb/db/wide"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// wideState is what Columns needs of the present entry.
// Upstream: DBIter::ValueColumnsState.
type wideState struct {
	entity  []byte // as stored; nil: a plain value
	ready   bool   // columns are those of the present entry
	columns rocksdb.WideColumns
	blobBuf []byte
}

// clear is upstream's DBIter::ValueColumnsState::ClearWideColumns and
// DBIter::ValueColumnsState::ClearLazyEntity.
func (w *wideState) clear() { w.entity, w.ready = nil, false }

// blobFetcher gives the resolver the form that package wide wants.
type blobFetcher struct{ d *DBIter }

// FetchBlob is upstream's DBIter::BlobReader::RetrieveAndSetBlobValue.
func (f blobFetcher) FetchBlob(userKey []byte, index *blobformat.BlobIndex, value *rocksdb.PinnableSlice) (uint64, error) {
	if f.d.resolver == nil {
		return 0, rocksdb.Corruption("Encountered unexpected blob index.")
	}
	err := f.d.resolver.GetBlob(&f.d.ro, userKey, index.EncodeTo(nil), value)
	return uint64(value.Size()), err
}

// Columns gives the present entry's columns in order: of a plain value it is
// the default one alone. They are valid until d moves. An entity that is
// damaged makes d invalid.
func (d *DBIter) Columns() rocksdb.WideColumns {
	if !d.valid || d.unprepared && !d.PrepareValue() {
		return nil
	}
	w := &d.wide
	if w.ready {
		return w.columns
	}
	w.columns = w.columns[:0]
	if w.entity == nil {
		w.columns = append(w.columns, rocksdb.WideColumn{Name: emptyName, Value: d.value})
		w.ready = true
		return w.columns
	}
	if err := d.parseColumns(); err != nil {
		d.fail(err)
		return nil
	}
	w.ready = true
	return w.columns
}

var emptyName = []byte{}

// parseColumns is upstream's DBIter::SetValueAndColumnsFromEntity and
// DBIter::MaterializeLazyEntityColumns.
func (d *DBIter) parseColumns() (err error) {
	w := &d.wide
	entity := w.entity
	hasBlobs, err := wide.HasBlobColumns(entity)
	if err != nil {
		return err
	}
	if hasBlobs {
		w.blobBuf, _, _, _, err = wide.ResolveEntityBlobColumns(w.blobBuf[:0], entity, d.savedKey.GetUserKey(), blobFetcher{d})
		if err != nil {
			return err
		}
		entity = w.blobBuf
	}
	w.columns, err = wide.DeserializeSimple(w.columns, entity)
	return err
}
