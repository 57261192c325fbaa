// Port of include/rocksdb/user_defined_index.h and
// table/block_based/user_defined_index_wrapper.h. Differs: the table builder
// calls the user's builder beside its own index builder, without a wrapper.

package blockbased

import (
	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/db/seqnotime"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/logging"
	"github.com/rocksdb-go/rocksdb/monitoring"
	"github.com/rocksdb-go/rocksdb/table"
	"github.com/rocksdb-go/rocksdb/table/block_based/block"
	"github.com/rocksdb-go/rocksdb/table/format"
	"github.com/rocksdb-go/rocksdb/table/internaliter"
)

// UserDefinedIndexPrefix and the factory's name make the meta block's name. The
// block is not compressed.
const UserDefinedIndexPrefix = "rocksdb.user_defined_index."

// UserDefinedIndexOption is what an index is made for.
type UserDefinedIndexOption struct {
	Comparator rocksdb.Comparator // of user keys
}

// UserDefinedIndexFactory is what BlockBasedTableOptions.UserDefinedIndexFactory
// has to be. The table has its own index too, whatever happens.
type UserDefinedIndexFactory interface {
	rocksdb.UserDefinedIndexFactory
	// NewBuilder may return nil for no index.
	NewBuilder(o *UserDefinedIndexOption) (UserDefinedIndexBuilder, error)
	// NewReader reads what a builder made; indexBlock stays as long as the
	// reader is used.
	NewReader(o *UserDefinedIndexOption, indexBlock []byte) (UserDefinedIndexReader, error)
}

// UserDefinedIndexValueType is the kind of an added entry.
type UserDefinedIndexValueType uint8

// The kinds.
const (
	UserDefinedIndexValue  UserDefinedIndexValueType = iota // a whole value
	UserDefinedIndexDelete                                  // any kind of point deletion
	UserDefinedIndexMerge                                   // a merge operand
	UserDefinedIndexOther                                   // the value has a form of its own
)

// UserDefinedIndexEntryContext has the sequence numbers and types, packed, of
// the keys around a block's end. The same user key may be on both sides.
type UserDefinedIndexEntryContext struct {
	LastKeyTag, FirstKeyTag uint64
}

// UserDefinedIndexBuilder builds the index of one file. One goroutine calls it.
type UserDefinedIndexBuilder interface {
	// AddIndexEntry is called for each data block; keys are user keys,
	// firstKeyInNextBlock nil for the last block.
	AddIndexEntry(lastKeyInCurrentBlock, firstKeyInNextBlock []byte, handle format.BlockHandle, ctx UserDefinedIndexEntryContext)
	// OnKeyAdded is called for each entry, before its block's AddIndexEntry.
	OnKeyAdded(userKey []byte, t UserDefinedIndexValueType, value []byte)
	// Finish gives the index.
	Finish() ([]byte, error)
	// EstimatedSize is in bytes.
	EstimatedSize() uint64
}

// UserDefinedIndexReader makes iterators over a file's index.
type UserDefinedIndexReader interface {
	NewIterator(ro *rocksdb.ReadOptions) UserDefinedIndexIterator
	// ApproximateMemoryUsage is in bytes.
	ApproximateMemoryUsage() int
}

// UserDefinedIndexIterator walks an index. Each move sets the result's key to a
// user key at or after the block's last and its BoundCheckResult to
// internaliter.Inbound when there is an entry. Embed
// UserDefinedIndexIteratorBase for the optional moves.
type UserDefinedIndexIterator interface {
	// Prepare announces the ranges to be read.
	Prepare(scans []rocksdb.ScanOptions)
	SeekToFirstAndGetResult(res *internaliter.IterateResult) error
	SeekToLastAndGetResult(res *internaliter.IterateResult) error
	// SeekAndGetResult finds the block for a user key; targetTag is the packed
	// sequence number and type looked for.
	SeekAndGetResult(target []byte, targetTag uint64, res *internaliter.IterateResult) error
	NextAndGetResult(res *internaliter.IterateResult) error
	PrevAndGetResult(res *internaliter.IterateResult) error
	// Value is the block's handle.
	Value() format.BlockHandle
}

// UserDefinedIndexIteratorBase refuses to go backward.
type UserDefinedIndexIteratorBase struct{}

// SeekToLastAndGetResult is not supported.
func (UserDefinedIndexIteratorBase) SeekToLastAndGetResult(*internaliter.IterateResult) error {
	return rocksdb.NotSupported("SeekToLast not supported by this UDI")
}

// PrevAndGetResult is not supported.
func (UserDefinedIndexIteratorBase) PrevAndGetResult(*internaliter.IterateResult) error {
	return rocksdb.NotSupported("Prev not supported by this UDI")
}

func asUserDefinedIndexFactory(f rocksdb.UserDefinedIndexFactory) (UserDefinedIndexFactory, error) {
	if u, ok := f.(UserDefinedIndexFactory); ok {
		return u, nil
	}
	return nil, rocksdb.InvalidArgument("user_defined_index_factory makes no indexes of block-based tables", f.Name())
}

// validateUserDefinedIndex checks what goes together with such an index.
func validateUserDefinedIndex(o *rocksdb.BlockBasedTableOptions, threads uint32) error {
	switch {
	case o.UserDefinedIndexFactory == nil && o.UseUDIAsPrimaryIndex:
		return rocksdb.InvalidArgument("use_udi_as_primary_index requires user_defined_index_factory")
	case o.UserDefinedIndexFactory == nil:
		return nil
	case threads > 1:
		return rocksdb.InvalidArgument("user_defined_index_factory not supported with parallel compression")
	case o.UseUDIAsPrimaryIndex && o.IndexType == rocksdb.TwoLevelIndexSearch:
		return rocksdb.InvalidArgument("use_udi_as_primary_index is incompatible with partitioned index (kTwoLevelIndexSearch)")
	case o.UseUDIAsPrimaryIndex && o.PartitionFilters:
		return rocksdb.InvalidArgument("use_udi_as_primary_index is incompatible with partitioned filters")
	}
	_, err := asUserDefinedIndexFactory(o.UserDefinedIndexFactory)
	return err
}

// userIndexBuilder is a table builder's user-defined index; nil without one.
type userIndexBuilder struct {
	name string
	b    UserDefinedIndexBuilder
	err  error // the first, which Finish returns
}

func newUserIndexBuilder(o *rocksdb.BlockBasedTableOptions, icmp *dbformat.InternalKeyComparator) (*userIndexBuilder, error) {
	if o.UserDefinedIndexFactory == nil {
		return nil, nil
	}
	f, err := asUserDefinedIndexFactory(o.UserDefinedIndexFactory)
	if err != nil {
		return nil, err
	}
	b, err := f.NewBuilder(&UserDefinedIndexOption{Comparator: icmp.UserComparator()})
	if err != nil || b == nil {
		return nil, err
	}
	return &userIndexBuilder{name: f.Name(), b: b}, nil
}

func (u *userIndexBuilder) parse(ikey []byte) (p dbformat.ParsedInternalKey, ok bool) {
	p, err := dbformat.ParseInternalKey(ikey, false)
	if err != nil && u.err == nil {
		u.err = err
	}
	return p, u.err == nil
}

func (u *userIndexBuilder) onKeyAdded(ikey, value []byte) {
	p, ok := u.parse(ikey)
	if !ok {
		return
	}
	t := UserDefinedIndexOther
	switch p.Type {
	case dbformat.TypeValuePreferredSeqno:
		t = UserDefinedIndexValue
		if v, ok := seqnotime.ParsePackedValueForValue(value); ok {
			value = v
		}
	case dbformat.TypeValue:
		t = UserDefinedIndexValue
	case dbformat.TypeDeletion, dbformat.TypeSingleDeletion, dbformat.TypeDeletionWithTimestamp:
		t = UserDefinedIndexDelete
	case dbformat.TypeMerge:
		t = UserDefinedIndexMerge
	}
	u.b.OnKeyAdded(p.UserKey, t, value)
}

func (u *userIndexBuilder) addIndexEntry(lastKey, nextKey []byte, h format.BlockHandle) {
	last, ok := u.parse(lastKey)
	if !ok {
		return
	}
	ctx := UserDefinedIndexEntryContext{LastKeyTag: dbformat.PackSequenceAndType(last.Sequence, last.Type)}
	var nextUser []byte
	if nextKey != nil {
		next, ok := u.parse(nextKey)
		if !ok {
			return
		}
		nextUser = next.UserKey
		ctx.FirstKeyTag = dbformat.PackSequenceAndType(next.Sequence, next.Type)
	}
	u.b.AddIndexEntry(last.UserKey, nextUser, h, ctx)
}

// writeUserIndex writes the user-defined index's meta block.
func (b *BlockBasedTableBuilder) writeUserIndex(meta *table.MetaIndexBuilder) {
	u := b.userIndex
	if u == nil || b.failed.Load() {
		return
	}
	contents, err := u.b.Finish()
	if u.err != nil {
		err = u.err
	}
	if err != nil {
		b.setErr(err)
		return
	}
	if h := b.writeRaw(contents, block.TypeUserDefinedIndex); !b.failed.Load() {
		meta.Add(UserDefinedIndexPrefix+u.name, h)
	}
	if b.opts.UseUDIAsPrimaryIndex {
		b.props.UDIIsPrimaryIndex = 1
	}
}

// userIndexReader reads through the user-defined index those who ask for it, or
// all where it is the primary one.
type userIndexReader struct {
	indexReader
	name     string
	udi      UserDefinedIndexReader
	primary  bool
	contents format.BlockContents
}

// addUserIndexReader reads the table's user-defined index, where the options
// name one, and puts it before t.index.
func (t *BlockBasedTable) addUserIndexReader(s *openState) error {
	o := t.opts
	if o.UserDefinedIndexFactory == nil {
		return nil
	}
	f, err := asUserDefinedIndexFactory(o.UserDefinedIndexFactory)
	if err != nil {
		return err
	}
	h, err := table.FindMetaBlock(s.metaIter, UserDefinedIndexPrefix+f.Name())
	if err != nil {
		monitoring.RecordTick(t.ioptions.Stats, rocksdb.SSTUserDefinedIndexLoadFailCount, 1)
		if o.FailIfNoUDIOnOpen || o.UseUDIAsPrimaryIndex {
			logging.Error(t.ioptions.Logger, "Failed to find the UDI block %s in file %s; %v", f.Name(), t.file.FileName(), err)
			return rocksdb.Corruption(err.Error(), t.file.FileName())
		}
		logging.Warn(t.ioptions.Logger, "Failed to find the UDI block %s in file %s; %v", f.Name(), t.file.FileName(), err)
		return nil
	}
	if h.Size == 0 {
		return nil
	}
	contents, _, _, err := t.readBlock(&s.rc, h, block.TypeUserDefinedIndex, t.decompressor)
	if err != nil {
		return err
	}
	r, err := f.NewReader(&UserDefinedIndexOption{Comparator: t.icmp.UserComparator()}, contents.Data)
	if err == nil && r == nil {
		err = rocksdb.Corruption("Failed to create UDI reader for "+f.Name(), t.file.FileName())
	}
	if err != nil {
		contents.Free()
		return err
	}
	t.index = &userIndexReader{t.index, f.Name(), r, o.UseUDIAsPrimaryIndex, contents}
	return nil
}

func (u *userIndexReader) newIterator(rc *readContext, totalOrder bool, scratch *indexScratch) internaliter.InternalIndexIterator {
	asked := rc.ro.TableIndexFactory
	if !u.primary && asked == nil {
		return u.indexReader.newIterator(rc, totalOrder, scratch)
	}
	it := &userIndexIterator{}
	if !u.primary && asked.Name() != u.name {
		it.err = rocksdb.InvalidArgumentf("Bad index name: %s. Only supported UDI is %s", asked.Name(), u.name)
		return it
	}
	if it.udi = u.udi.NewIterator(rc.ro); it.udi == nil {
		it.err = rocksdb.Corruption("Could not create UDI iterator")
	}
	return it
}

func (u *userIndexReader) memoryUsage() int {
	return u.indexReader.memoryUsage() + u.udi.ApproximateMemoryUsage()
}

func (u *userIndexReader) release() {
	u.contents.Free()
	u.indexReader.release()
}

// userIndexIterator makes an index iterator of the user's. Its keys have
// sequence number 0, and so come after all of their user key.
type userIndexIterator struct {
	internaliter.Base
	udi   UserDefinedIndexIterator // nil after an error
	res   internaliter.IterateResult
	key   []byte
	value format.IndexValue
	err   error
	valid bool
}

func (it *userIndexIterator) move(f func(*internaliter.IterateResult) error) {
	it.valid = false
	if it.udi == nil {
		return
	}
	if it.err = f(&it.res); it.err != nil || it.res.BoundCheckResult != internaliter.Inbound {
		return
	}
	it.valid = true
	it.key = dbformat.AppendInternalKey(it.key[:0], it.res.Key, 0, dbformat.TypeValue)
	it.value = format.IndexValue{Handle: it.udi.Value()}
}

func (it *userIndexIterator) Valid() bool   { return it.valid }
func (it *userIndexIterator) Status() error { return it.err }
func (it *userIndexIterator) Key() []byte   { return it.key }
func (it *userIndexIterator) UserKey() []byte {
	return it.key[:len(it.key)-dbformat.NumInternalBytes]
}
func (it *userIndexIterator) Value() format.IndexValue { return it.value }

func (it *userIndexIterator) SeekToFirst() {
	if it.udi != nil {
		it.move(it.udi.SeekToFirstAndGetResult)
	}
}

func (it *userIndexIterator) SeekToLast() {
	if it.udi != nil {
		it.move(it.udi.SeekToLastAndGetResult)
	}
}

func (it *userIndexIterator) Seek(target []byte) {
	if it.udi == nil {
		return
	}
	p, err := dbformat.ParseInternalKey(target, false)
	if err != nil {
		it.valid, it.err = false, err
		return
	}
	it.move(func(r *internaliter.IterateResult) error {
		return it.udi.SeekAndGetResult(p.UserKey, dbformat.PackSequenceAndType(p.Sequence, p.Type), r)
	})
}

// SeekForPrev is not called on an index.
func (it *userIndexIterator) SeekForPrev([]byte) {
	it.valid, it.err = false, rocksdb.NotSupported("SeekForPrev not supported")
}

func (it *userIndexIterator) Next() {
	if it.udi != nil {
		it.move(it.udi.NextAndGetResult)
	}
}

func (it *userIndexIterator) NextAndGetResult(res *internaliter.IterateResult) bool {
	it.Next()
	if it.err == nil {
		*res = it.res
		res.Key = it.key
	}
	return it.valid
}

func (it *userIndexIterator) Prev() {
	if it.udi != nil {
		it.move(it.udi.PrevAndGetResult)
	}
}

func (it *userIndexIterator) UpperBoundCheckResult() internaliter.IterBoundCheck {
	return it.res.BoundCheckResult
}

func (it *userIndexIterator) Prepare(opts any) {
	if a, ok := opts.(*rocksdb.MultiScanArgs); ok && a != nil && it.udi != nil {
		it.udi.Prepare(a.Ranges)
	}
}

func (it *userIndexIterator) Close() error {
	it.udi, it.valid = nil, false
	return it.err
}
