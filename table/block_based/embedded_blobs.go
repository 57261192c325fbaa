// Port of table/block_based/block_based_table_reader.cc (blobs within the file),
// table/block_based/embedded_blob_resolving_iterator.h and
// db/blob/same_file_blob_reader.h. Differs: which entries are blobs is looked at
// when the iterator moves, not when the key is asked for.

package blockbased

import (
	"github.com/rocksdb-go/rocksdb/db/blob/blobformat"
	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/db/wide"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/table"
	"github.com/rocksdb-go/rocksdb/table/format"
	"github.com/rocksdb-go/rocksdb/table/internaliter"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

// setupEmbeddedBlobs makes the file's blobs readable, if it has any.
func (t *BlockBasedTable) setupEmbeddedBlobs(source table.EmbeddedBlobSource) {
	if _, ok := t.props.UserCollectedProperties[table.EmbeddedBlobSstStatsPropertyName]; !ok {
		return
	}
	t.blobSource = source
	t.blobs = &blobformat.SimpleGen2File{
		SimpleGen2Format: blobformat.SimpleGen2Format{Checksum: t.footer.ChecksumType, BaseContextChecksum: t.footer.BaseContextChecksum},
		File:             t.file, Size: t.fileSize, CacheKey: t.baseCacheKey,
	}
}

// appendKeyOfType appends an internal key with another type.
func appendKeyOfType(dst, ikey []byte, t dbformat.ValueType) []byte {
	dst = append(dst, ikey...)
	dst[len(dst)-dbformat.NumInternalBytes] = byte(t)
	return dst
}

// sameFileBlob gives the blob of an index that is IsSameFile, and what keeps it;
// nil: the bytes are the caller's.
func (t *BlockBasedTable) sameFileBlob(ro *rocksdb.ReadOptions, index *blobformat.BlobIndex) (data []byte, owner rocksdb.Releaser, err error) {
	if err := t.blobs.Validate(index); err != nil {
		return nil, nil, err
	}
	if ro.ReadTier == rocksdb.BlockCacheTier {
		return nil, nil, rocksdb.Incomplete("Cannot read embedded blob in block-cache-only mode")
	}
	if t.blobSource != nil {
		return t.blobSource.GetSimpleGen2Blob(ro, t.blobs, index)
	}
	data, err = t.blobs.Read(ro, index)
	return data, nil, err
}

// injectedBlobError is what a test wants to go wrong.
func injectedBlobError() (err error) {
	syncpoint.ProcessArg("BlockBasedTable::MaybeResolveEmbeddedValue:InjectError", &err)
	return err
}

// resolveEntity gives an entity whose columns' blobs within the file are put in
// place, or entity itself when there are none. Blobs of other files stay
// references.
func (t *BlockBasedTable) resolveEntity(ro *rocksdb.ReadOptions, entity []byte) (_ []byte, resolved bool, err error) {
	columns, blobs, err := wide.Deserialize(nil, nil, entity)
	if err != nil || len(blobs) == 0 {
		return entity, false, err
	}
	others := blobs[:0]
	var owners []rocksdb.Releaser
	defer func() {
		for _, o := range owners {
			o.Release()
		}
	}()
	for _, b := range blobs {
		if !b.Index.IsSameFile() {
			others = append(others, b)
			continue
		}
		data, owner, err := t.sameFileBlob(ro, &b.Index)
		if err != nil {
			return nil, false, err
		}
		if owner != nil {
			owners = append(owners, owner)
		}
		columns[b.Column].Value, resolved = data, true
	}
	switch {
	case !resolved:
		return entity, false, nil
	case len(others) > 0:
		entity, err = wide.SerializeV2(nil, columns, others)
	default:
		entity, err = wide.Serialize(nil, columns)
	}
	return entity, true, err
}

// embeddedLookup reads blobs for a point lookup in a table that has some. It is
// the lookup's blobformat.BlobFetcher meanwhile, so that each column of an
// entity is read by itself.
type embeddedLookup struct {
	t     *BlockBasedTable
	ro    *rocksdb.ReadOptions
	base  blobformat.BlobFetcher // of blob files; may be nil
	whole bool                   // entities are wanted without references
	owner rocksdb.Releaser       // of the last value; nil when taken
}

func (l *embeddedLookup) begin(t *BlockBasedTable, ro *rocksdb.ReadOptions, gc *table.GetContext) {
	// What is found in the row cache has no table to read blobs of.
	*l = embeddedLookup{t: t, ro: ro, base: gc.BlobFetcher(), whole: gc.HasReplayLog()}
	gc.SetBlobFetcher(l)
}

func (l *embeddedLookup) end(gc *table.GetContext) {
	gc.SetBlobFetcher(l.base)
	l.release()
	*l = embeddedLookup{}
}

func (l *embeddedLookup) release() {
	if l.owner != nil {
		l.owner.Release()
		l.owner = nil
	}
}

// FetchBlob implements blobformat.BlobFetcher.
func (l *embeddedLookup) FetchBlob(userKey []byte, index *blobformat.BlobIndex, value *rocksdb.PinnableSlice) (bytesRead uint64, err error) {
	if !index.IsSameFile() {
		if l.base == nil {
			return 0, rocksdb.Corruption("Cannot resolve blob reference without a blob fetcher")
		}
		return l.base.FetchBlob(userKey, index, value)
	}
	data, owner, err := l.t.sameFileBlob(l.ro, index)
	if err == nil {
		value.PinSlice(data, owner)
	}
	return 0, err
}

// ownMemory keeps bytes that nothing but references to them keep.
type ownMemory struct{}

// Release has nothing to give back.
func (ownMemory) Release() {}

// Pin implements table.ValuePinner for the value of resolve.
func (l *embeddedLookup) Pin() rocksdb.Releaser {
	if o := l.owner; o != nil {
		l.owner = nil
		return o
	}
	return ownMemory{}
}

// resolve gives the value that an entry stands for and what pins it, and changes
// the key's type.
// Upstream: BlockBasedTable::ResolveEmbeddedValueForGet.
func (l *embeddedLookup) resolve(key *dbformat.ParsedInternalKey, value []byte, pinner table.ValuePinner) ([]byte, table.ValuePinner, error) {
	if err := injectedBlobError(); err != nil {
		return nil, nil, err
	}
	l.release()
	switch key.Type {
	case dbformat.TypeBlobIndex:
		var index blobformat.BlobIndex
		if err := index.DecodeFrom(value); err != nil || !index.IsSameFile() {
			return value, pinner, err
		}
		data, owner, err := l.t.sameFileBlob(l.ro, &index)
		if err != nil {
			return nil, nil, err
		}
		l.owner = owner
		key.Type = dbformat.TypeValue
		return data, l, nil
	case dbformat.TypeWideColumnEntity:
		if l.whole {
			entity, resolved, err := l.t.resolveEntity(l.ro, value)
			if err != nil || !resolved {
				return value, pinner, err
			}
			return entity, l, nil
		}
	}
	return value, pinner, nil
}

// embeddedBlobIterator shows the values of blobs within the file. Its keys have
// the values' types; values are read when they are asked for or, where nobody
// looks for errors then, when the iterator moves.
type embeddedBlobIterator struct {
	*BlockBasedTableIterator
	eager bool
	mgr   *internaliter.PinnedIteratorsManager

	kind     embeddedKind
	index    blobformat.BlobIndex // of blobEntry
	key      []byte               // of blobEntry
	value    []byte               // when resolved
	owner    rocksdb.Releaser     // of value; may be nil
	resolved bool
	err      error
}

// embeddedKind is what has to be done about an iterator's entry.
type embeddedKind uint8

const (
	plainEntry  embeddedKind = iota // nothing, or nothing any more
	blobEntry                       // its value is a blob within the file
	entityEntry                     // it may have such columns
)

// leave forgets the entry.
func (it *embeddedBlobIterator) leave() {
	if it.owner != nil {
		if it.mgr.PinningEnabled() {
			it.mgr.PinReleaser(it.owner)
		} else {
			it.owner.Release()
		}
	}
	it.kind, it.key, it.value, it.owner, it.resolved, it.err = plainEntry, it.key[:0], nil, nil, false, nil
}

// arrive looks at the entry.
func (it *embeddedBlobIterator) arrive() {
	if !it.BlockBasedTableIterator.Valid() {
		return
	}
	ikey := it.BlockBasedTableIterator.Key()
	switch dbformat.ExtractValueType(ikey) {
	case dbformat.TypeBlobIndex:
		if err := it.index.DecodeFrom(it.data.Value()); err != nil {
			it.fail(err)
			return
		}
		if it.index.IsSameFile() {
			it.kind = blobEntry
			it.key = appendKeyOfType(it.key[:0], ikey, dbformat.TypeValue)
		}
	case dbformat.TypeWideColumnEntity:
		it.kind = entityEntry
	}
	if it.eager {
		it.resolve()
	}
}

// fail ends the iteration; a corruption is located.
func (it *embeddedBlobIterator) fail(err error) {
	it.err = it.t.located(err, format.BlockHandle{Offset: it.prevBlockOffset})
}

// resolve reads what the entry refers to.
func (it *embeddedBlobIterator) resolve() bool {
	kind := it.kind
	if kind == plainEntry || it.err != nil {
		return it.err == nil
	}
	it.kind = plainEntry
	err := injectedBlobError()
	if err == nil {
		raw := it.BlockBasedTableIterator.Value()
		if kind == blobEntry {
			it.value, it.owner, err = it.t.sameFileBlob(it.ro, &it.index)
			it.resolved = err == nil
		} else {
			it.value, it.resolved, err = it.t.resolveEntity(it.ro, raw)
		}
	}
	if err != nil {
		it.resolved = false
		it.fail(err)
	}
	return err == nil
}

func (it *embeddedBlobIterator) SeekToFirst() {
	it.leave()
	it.BlockBasedTableIterator.SeekToFirst()
	it.arrive()
}

func (it *embeddedBlobIterator) SeekToLast() {
	it.leave()
	it.BlockBasedTableIterator.SeekToLast()
	it.arrive()
}

func (it *embeddedBlobIterator) Seek(target []byte) {
	it.leave()
	it.BlockBasedTableIterator.Seek(target)
	it.arrive()
}

func (it *embeddedBlobIterator) SeekAsync(target []byte) (pending bool) {
	it.leave()
	if it.BlockBasedTableIterator.SeekAsync(target) {
		return true
	}
	it.arrive()
	return false
}

func (it *embeddedBlobIterator) SeekForPrev(target []byte) {
	it.leave()
	it.BlockBasedTableIterator.SeekForPrev(target)
	it.arrive()
}

func (it *embeddedBlobIterator) Next() {
	it.leave()
	it.BlockBasedTableIterator.Next()
	it.arrive()
}

func (it *embeddedBlobIterator) Prev() {
	it.leave()
	it.BlockBasedTableIterator.Prev()
	it.arrive()
}

func (it *embeddedBlobIterator) NextAndGetResult(res *internaliter.IterateResult) bool {
	it.Next()
	res.BoundCheckResult = it.UpperBoundCheckResult()
	if !it.Valid() {
		return false
	}
	res.Key = it.Key()
	res.ValuePrepared = it.eager
	return true
}

func (it *embeddedBlobIterator) Valid() bool {
	return it.err == nil && it.BlockBasedTableIterator.Valid()
}

func (it *embeddedBlobIterator) Status() error {
	if it.err != nil {
		return it.err
	}
	return it.BlockBasedTableIterator.Status()
}

func (it *embeddedBlobIterator) Key() []byte {
	if len(it.key) > 0 {
		return it.key
	}
	return it.BlockBasedTableIterator.Key()
}

// Value is nil when it cannot be read; Status tells why.
func (it *embeddedBlobIterator) Value() []byte {
	if !it.resolve() {
		return nil
	}
	if it.resolved {
		return it.value
	}
	return it.BlockBasedTableIterator.Value()
}

func (it *embeddedBlobIterator) PrepareValue() bool {
	return it.BlockBasedTableIterator.PrepareValue() && it.resolve()
}

func (it *embeddedBlobIterator) SetPinnedItersMgr(mgr *internaliter.PinnedIteratorsManager) {
	it.mgr = mgr
	it.BlockBasedTableIterator.SetPinnedItersMgr(mgr)
}

func (it *embeddedBlobIterator) IsKeyPinned() bool {
	return len(it.key) == 0 && it.BlockBasedTableIterator.IsKeyPinned()
}

func (it *embeddedBlobIterator) IsValuePinned() bool {
	if it.resolved {
		return it.mgr.PinningEnabled()
	}
	return it.BlockBasedTableIterator.IsValuePinned()
}

func (it *embeddedBlobIterator) Close() error {
	err := it.err
	it.leave()
	if cerr := it.BlockBasedTableIterator.Close(); err == nil {
		err = cerr
	}
	return err
}
