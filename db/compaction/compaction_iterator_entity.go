// Port of db/compaction/compaction_iterator.cc (entities: blobs, filters) and
// db/wide/blob_column_resolver_util.h. Differs: entities are not parsed where
// nothing can move.

package compaction

import (
	"slices"

	"github.com/rocksdb-go/rocksdb/db/blob/blobformat"
	"github.com/rocksdb-go/rocksdb/db/wide"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

// entityState is the present entity in its parts. It is reused.
type entityState struct {
	columns rocksdb.WideColumns // of the entity; blob columns have their index
	blobs   []wide.BlobColumn
	parsed  bool // a filter has seen these parts and kept the entity
	buf     []byte
	fetched []rocksdb.PinnableSlice // values of blobs, by place in blobs
	seen    rocksdb.WideColumns     // columns as a filter sees them
	failed  error                   // of the resolver
}

// parseEntity takes the present entity apart.
func (c *CompactionIterator) parseEntity() bool {
	e := &c.entity
	var err error
	if e.columns, e.blobs, err = wide.Deserialize(e.columns[:0], e.blobs[:0], c.value); err != nil {
		c.fail(err)
		return false
	}
	return true
}

// prepareEntity moves columns of the present entity to blob files where it has
// none there, and out of old blob files where it has.
// Upstream: ExtractLargeColumnValuesIfNeeded, GarbageCollectEntityBlobsIfNeeded.
func (c *CompactionIterator) prepareEntity() {
	e := &c.entity
	parsed := e.parsed
	e.parsed = false
	collects := c.comp != nil && c.o.BlobGarbageCollectionCutoffFileNumber > 0
	switch {
	case c.o.BlobFileBuilder == nil && !collects:
		return
	case parsed:
		syncpoint.Process("CompactionIterator::PrepareOutput:SkipDeserializeEntity")
	default:
		syncpoint.Process("CompactionIterator::PrepareOutput:DeserializeEntity")
		if !c.parseEntity() {
			return
		}
	}
	switch {
	case len(e.blobs) > 0:
		if collects {
			c.collectEntity()
		}
	case c.o.BlobFileBuilder != nil:
		c.extractEntity()
	}
}

// moveColumn puts a column's value into a blob file where it is large enough.
func (c *CompactionIterator) moveColumn(i int, value []byte) (ok bool) {
	if c.o.BlobFileBuilder == nil {
		return true
	}
	index, err := c.o.BlobFileBuilder.Add(c.UserKey(), value)
	b := wide.BlobColumn{Column: i}
	if err == nil && len(index) > 0 {
		if err = b.Index.DecodeFrom(index); err == nil {
			c.entity.blobs = append(c.entity.blobs, b)
		}
	}
	if err != nil {
		c.fail(err)
	}
	return err == nil
}

func (c *CompactionIterator) extractEntity() {
	e := &c.entity
	for i := range e.columns {
		if !c.moveColumn(i, e.columns[i].Value) {
			return
		}
	}
	if len(e.blobs) > 0 {
		c.rewriteEntity()
	}
}

// collectEntity moves the columns that are in blob files below the cutoff.
func (c *CompactionIterator) collectEntity() {
	e := &c.entity
	old := slices.Clone(e.blobs)
	e.blobs = e.blobs[:0]
	moved := 0
	for i := range old {
		b := &old[i]
		if b.Index.IsInlined() || b.Index.FileNumber >= c.o.BlobGarbageCollectionCutoffFileNumber {
			e.blobs = append(e.blobs, *b)
			continue
		}
		value, ok := c.fetchColumn(moved, e.columns[b.Column].Value)
		if !ok {
			return
		}
		moved++
		c.stats.NumBlobsRelocated++
		c.stats.TotalBlobBytesRelocated += b.Index.Size
		e.columns[b.Column].Value = value
		if !c.moveColumn(b.Column, value) {
			return
		}
	}
	if moved > 0 {
		c.rewriteEntity()
	}
}

// fetchColumn reads a blob into slot n; the value is good until the slot is used
// again.
func (c *CompactionIterator) fetchColumn(n int, index []byte) (value []byte, ok bool) {
	e := &c.entity
	for len(e.fetched) <= n {
		e.fetched = append(e.fetched, rocksdb.PinnableSlice{})
	}
	if c.o.BlobFetcher == nil {
		c.fail(rocksdb.NotSupported("entities with columns in blob files where blobs cannot be read"))
		return nil, false
	}
	v := &e.fetched[n]
	v.Release()
	size, err := blobformat.FetchEncodedBlob(c.o.BlobFetcher, c.ikey.UserKey, index, v)
	if err != nil {
		c.fail(err)
		return nil, false
	}
	c.stats.NumBlobsRead++
	c.stats.TotalBlobBytesRead += size
	return v.Data(), true
}

// rewriteEntity makes the parts the present value.
func (c *CompactionIterator) rewriteEntity() {
	e := &c.entity
	var err error
	if len(e.blobs) == 0 {
		e.buf, err = wide.Serialize(e.buf[:0], e.columns)
	} else {
		e.buf, err = wide.SerializeV2(e.buf[:0], e.columns, e.blobs)
	}
	if err != nil {
		c.fail(err)
		return
	}
	c.value = e.buf
}

// columnResolver reads an entity's blobs for a filter.
type columnResolver struct{ c *CompactionIterator }

func (r columnResolver) blob(column int) int {
	return slices.IndexFunc(r.c.entity.blobs, func(b wide.BlobColumn) bool { return b.Column == column })
}

// IsBlobColumn implements rocksdb.WideColumnBlobResolver.
func (r columnResolver) IsBlobColumn(column int) bool { return r.blob(column) >= 0 }

// ResolveColumn implements rocksdb.WideColumnBlobResolver.
func (r columnResolver) ResolveColumn(column int) ([]byte, error) {
	e := &r.c.entity
	if column < 0 || column >= len(e.columns) {
		return nil, rocksdb.InvalidArgument("Column index out of range")
	}
	n := r.blob(column)
	if n < 0 {
		return e.columns[column].Value, nil
	}
	for len(e.fetched) <= n {
		e.fetched = append(e.fetched, rocksdb.PinnableSlice{})
	}
	v := &e.fetched[n]
	if v.Size() == 0 {
		var err error
		var size uint64
		if r.c.o.BlobFetcher == nil {
			err = rocksdb.NotSupported("entities with columns in blob files where blobs cannot be read")
		} else {
			size, err = blobformat.FetchEncodedBlob(r.c.o.BlobFetcher, r.c.ikey.UserKey, e.columns[column].Value, v)
		}
		if err != nil {
			e.failed = err
			return nil, err
		}
		r.c.stats.NumBlobsRead++
		r.c.stats.TotalBlobBytesRead += size
	}
	return v.Data(), nil
}

// filterEntity shows the present entity to the filter: as columns, or, to one
// that takes no columns, in the stored form with all values in it.
func (c *CompactionIterator) filterEntity() (d rocksdb.CompactionFilterDecision, newValue, skipUntil []byte, ok bool) {
	e := &c.entity
	if c.filterV4 == nil {
		value := c.value
		has, err := wide.HasBlobColumns(value)
		if err == nil && has {
			value, err = wide.ResolveEntityForMerge(value, c.ikey.UserKey, c.o.BlobFetcher)
		}
		if err != nil {
			c.fail(err)
			return 0, nil, nil, false
		}
		d, newValue, skipUntil = c.filter.FilterV3(c.level, c.ikey.UserKey, rocksdb.CompactionFilterWideColumnEntity, value)
		return d, newValue, skipUntil, true
	}
	if !c.parseEntity() {
		return 0, nil, nil, false
	}
	for i := range e.fetched {
		e.fetched[i].Release()
	}
	e.seen, e.failed = append(e.seen[:0], e.columns...), nil
	var newColumns rocksdb.WideColumns
	d, newValue, newColumns, skipUntil = c.filterV4.FilterV4(c.level, c.ikey.UserKey, rocksdb.CompactionFilterWideColumnEntity, nil, e.seen, columnResolver{c})
	if e.failed != nil {
		c.fail(e.failed)
		return 0, nil, nil, false
	}
	e.parsed = d == rocksdb.FilterKeep
	if d == rocksdb.FilterChangeWideColumnEntity {
		newValue, ok = c.newEntity(newColumns)
		return d, newValue, skipUntil, ok
	}
	return d, newValue, skipUntil, true
}

// newEntity puts a filter's columns into the stored form.
func (c *CompactionIterator) newEntity(columns rocksdb.WideColumns) ([]byte, bool) {
	sorted := slices.Clone(columns)
	wide.SortColumns(sorted)
	entity, err := wide.Serialize(nil, sorted)
	if err != nil {
		c.fail(err)
		return nil, false
	}
	return entity, true
}
