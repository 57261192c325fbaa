// Port of table/external_table.cc. Differs: reads count in statistics by
// RandomAccessFileReader; properties are read at opening.

package table

import (
	"bytes"
	"fmt"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/db/tblpropcoll"
	"github.com/rocksdb-go/rocksdb/file"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/options"
	"github.com/rocksdb-go/rocksdb/table/block_based/block"
	"github.com/rocksdb-go/rocksdb/table/format"
	"github.com/rocksdb-go/rocksdb/table/internaliter"
)

// externalTableFactory makes an application's tables ours.
type externalTableFactory struct{ inner rocksdb.ExternalTableFactory }

// NewExternalTableFactory makes a factory of tables of an application's own
// format.
func NewExternalTableFactory(inner rocksdb.ExternalTableFactory) Factory {
	return &externalTableFactory{inner}
}

// Name is the application's name for it.
func (f *externalTableFactory) Name() string { return f.inner.Name() }

// IsDeleteRangeSupported is false.
func (*externalTableFactory) IsDeleteRangeSupported() bool { return false }

// Clone shares the application's factory.
func (f *externalTableFactory) Clone() rocksdb.TableFactory {
	c := *f
	return &c
}

// OptionsPtr has none.
func (*externalTableFactory) OptionsPtr(string) any { return nil }

// GetPrintableOptions has none.
func (*externalTableFactory) GetPrintableOptions() string { return "" }

// NewTableReader implements Factory.
func (f *externalTableFactory) NewTableReader(ro *rocksdb.ReadOptions, o *TableReaderOptions, r *file.RandomAccessFileReader,
	_ uint64, _ bool) (TableReader, error) {
	name := r.FileName()
	if err := r.Close(); err != nil { // the application opens it itself
		return nil, err
	}
	if o.LargestSeqno > 0 && o.LargestSeqno != dbformat.MaxSequenceNumber {
		return nil, rocksdb.NotSupported("Ingesting file with sequence number larger than 0")
	}
	io := o.IOptions
	if io.UserComparator != nil && io.UserComparator.TimestampSize() != 0 {
		return nil, rocksdb.NotSupported("External table does not support user-defined timestamps")
	}
	eo := rocksdb.ExternalTableOptions{PrefixExtractor: o.PrefixExtractor, Comparator: io.UserComparator, FS: io.FS, FileOptions: o.FileOptions}
	eo.FileOptions.IOOptions.IOActivity = ro.IOActivity
	if io.Stats != nil || len(io.Listeners) > 0 {
		eo.FS = &meteredFS{rocksdb.FileSystemWrapper{FileSystem: io.FS}, io, o.Level >= 0 && o.Level == io.NumLevels-1}
	}
	inner, err := f.inner.NewTableReader(ro, name, &eo)
	if err != nil {
		return nil, err
	}
	t := &externalTableReader{inner: inner}
	if t.props, err = externalProperties(io, name, inner); err != nil {
		_ = inner.Close() // the first error is the one to tell
		return nil, err
	}
	return t, nil
}

// externalProperties reads the properties block or, where there is none, what
// the reader says instead. Sequence numbers are not stored, but the offset of one
// is told.
func externalProperties(io *options.ImmutableOptions, name string, r rocksdb.ExternalTableReader) (*rocksdb.TableProperties, error) {
	data, offset, err := r.GetPropertiesBlock()
	if err != nil {
		p := *r.GetTableProperties()
		p.KeyLargestSeqno, p.KeySmallestSeqno = 0, 0
		return &p, nil
	}
	b := block.NewBlock(format.BorrowBlock(data), 0, nil)
	defer b.Free()
	p, err := ParsePropertiesBlock(io.Logger, offset, b)
	if err != nil {
		return nil, rocksdb.AsStatus(err).InAt(name, offset)
	}
	return p, nil
}

// NewTableBuilder implements Factory.
func (f *externalTableFactory) NewTableBuilder(o *TableBuilderOptions, w *file.WritableFileWriter) (TableBuilder, error) {
	out := &externalTableFile{FSWritableFileBase: rocksdb.NewFSWritableFileBase(nil), w: w}
	out.Self = out
	inner, err := f.inner.NewTableBuilder(&rocksdb.ExternalTableBuilderOptions{
		ReadOptions: o.ReadOptions, WriteOptions: o.WriteOptions, PrefixExtractor: o.MOptions.PrefixExtractor,
		Comparator: o.IOptions.UserComparator, ColumnFamilyName: o.ColumnFamilyName, Reason: o.Reason, FS: o.IOptions.FS,
	}, w.FileName(), out)
	if err != nil {
		return nil, err
	}
	b := &externalTableBuilder{inner: inner, io: o.IOptions, props: rocksdb.NewTableProperties()}
	p := &b.props
	p.NumDataBlocks, p.KeyLargestSeqno, p.KeySmallestSeqno = 1, 0, 0
	p.ColumnFamilyID, p.ColumnFamilyName = uint64(o.ColumnFamilyID), o.ColumnFamilyName
	p.DBID, p.DBSessionID, p.DBHostID, p.OrigFileNumber = o.DBID, o.DBSessionID, DBHostID(o.IOptions), o.CurFileNum
	p.ComparatorName, p.PrefixExtractorName = "nullptr", "nullptr"
	if c := o.IOptions.UserComparator; c != nil {
		p.ComparatorName = c.Name()
	}
	if e := o.MOptions.PrefixExtractor; e != nil {
		p.PrefixExtractorName = e.AsString()
	}
	p.UserCollectedProperties, p.ReadableProperties = rocksdb.UserCollectedProperties{}, rocksdb.UserCollectedProperties{}
	b.collectors = o.NewCollectors()
	return b, nil
}

// externalTableReader is upstream's ExternalTableReaderAdapter.
type externalTableReader struct {
	TableReaderBase
	inner rocksdb.ExternalTableReader
	props *rocksdb.TableProperties
}

// NewIterator implements TableReader.
func (t *externalTableReader) NewIterator(ro *rocksdb.ReadOptions, prefixExtractor rocksdb.SliceTransform, _ bool,
	_ rocksdb.TableReaderCaller, _ uint64, _ bool) internaliter.InternalIterator {
	return &externalTableIterator{inner: t.inner.NewIterator(ro, prefixExtractor), prepared: true}
}

// ApproximateOffsetOf is not known.
func (*externalTableReader) ApproximateOffsetOf(*rocksdb.ReadOptions, []byte, rocksdb.TableReaderCaller) uint64 {
	return 0
}

// ApproximateSize is not known.
func (*externalTableReader) ApproximateSize(_ *rocksdb.ReadOptions, _, _ []byte, _ rocksdb.TableReaderCaller) uint64 {
	return 0
}

// SetupForCompaction has nothing to do.
func (*externalTableReader) SetupForCompaction() {}

// GetTableProperties gives the properties.
func (t *externalTableReader) GetTableProperties() *rocksdb.TableProperties { return t.props }

// ApproximateMemoryUsage is not known.
func (*externalTableReader) ApproximateMemoryUsage() int { return 0 }

// pinnedValue hands an application's pinned value on.
type pinnedValue struct{ rocksdb.PinnableSlice }

// Pin implements ValuePinner.
func (v *pinnedValue) Pin() rocksdb.Releaser { return v }

// Get implements TableReader.
func (t *externalTableReader) Get(ro *rocksdb.ReadOptions, key []byte, gc *GetContext, prefixExtractor rocksdb.SliceTransform, _ bool) error {
	v := new(pinnedValue)
	err := t.inner.Get(ro, dbformat.ExtractUserKey(key), prefixExtractor, &v.PinnableSlice)
	switch {
	case rocksdb.IsNotFound(err):
		return nil
	case err != nil:
		return err
	case v.IsPinned():
		gc.SaveValueSimple(v.Data(), v)
	default:
		gc.SaveValueSimple(v.Data(), nil)
	}
	return nil
}

// MultiGet implements TableReader.
func (t *externalTableReader) MultiGet(ro *rocksdb.ReadOptions, r *MultiGetRange, prefixExtractor rocksdb.SliceTransform, skipFilters bool) {
	MultiGetByGet(t, ro, r, prefixExtractor, skipFilters)
}

// VerifyChecksum lets files pass that cannot be checked.
func (t *externalTableReader) VerifyChecksum(ro *rocksdb.ReadOptions, _ rocksdb.TableReaderCaller, _ bool) error {
	if err := t.inner.VerifyChecksum(ro); !rocksdb.IsNotSupported(err) {
		return err
	}
	return nil
}

// Close closes the application's reader.
func (t *externalTableReader) Close() error { return t.inner.Close() }

// externalTableIterator is upstream's ExternalTableIteratorAdapter.
type externalTableIterator struct {
	internaliter.Base
	inner    rocksdb.ExternalTableIterator
	key      []byte // internal
	valid    bool
	prepared bool
	err      error
}

// moved takes over where inner stands, on userKey where that is known.
func (it *externalTableIterator) moved(userKey []byte) {
	it.valid, it.err, it.prepared = it.inner.Valid(), it.inner.Status(), true
	if !it.valid || it.err != nil {
		it.valid = false
		return
	}
	if userKey == nil {
		userKey = it.inner.Key()
	}
	it.key = dbformat.AppendInternalKey(it.key[:0], userKey, 0, dbformat.TypeValue)
}

func (it *externalTableIterator) Valid() bool { return it.valid }

func (it *externalTableIterator) SeekToFirst() {
	it.inner.SeekToFirst()
	it.moved(nil)
}

func (it *externalTableIterator) SeekToLast() {
	it.inner.SeekToLast()
	it.moved(nil)
}

func (it *externalTableIterator) Seek(target []byte) {
	it.inner.Seek(dbformat.ExtractUserKey(target))
	it.moved(nil)
}

func (it *externalTableIterator) SeekForPrev(target []byte) {
	it.inner.SeekForPrev(dbformat.ExtractUserKey(target))
	it.moved(nil)
}

func (it *externalTableIterator) Next() {
	it.inner.Next()
	it.moved(nil)
}

func (it *externalTableIterator) Prev() {
	it.inner.Prev()
	it.moved(nil)
}

func (it *externalTableIterator) NextAndGetResult(res *internaliter.IterateResult) bool {
	valid := it.inner.NextAndGetResult(res)
	prepared := res.ValuePrepared
	it.moved(res.Key)
	it.valid = it.valid && valid
	it.prepared = prepared
	res.Key = it.key
	return it.valid
}

func (it *externalTableIterator) PrepareValue() bool {
	if !it.prepared {
		if !it.inner.PrepareValue() {
			it.valid, it.err = false, it.inner.Status()
		}
		it.prepared = true
	}
	return it.valid
}

func (it *externalTableIterator) UpperBoundCheckResult() internaliter.IterBoundCheck {
	return it.inner.UpperBoundCheckResult()
}

func (it *externalTableIterator) Key() []byte     { return it.key }
func (it *externalTableIterator) UserKey() []byte { return dbformat.ExtractUserKey(it.key) }
func (it *externalTableIterator) Value() []byte   { return it.inner.Value() }
func (it *externalTableIterator) Status() error   { return it.err }

func (it *externalTableIterator) Prepare(opts any) {
	if o, ok := opts.(*rocksdb.MultiScanArgs); ok && o != nil {
		it.inner.Prepare(o.Ranges)
	} else {
		it.inner.Prepare(nil)
	}
}

func (it *externalTableIterator) Close() error {
	err := it.err
	if cerr := it.inner.Close(); err == nil {
		err = cerr
	}
	return err
}

// externalTableBuilder is upstream's ExternalTableBuilderAdapter.
type externalTableBuilder struct {
	TableBuilderBase
	inner      rocksdb.ExternalTableBuilder
	io         *options.ImmutableOptions
	props      rocksdb.TableProperties
	collectors []tblpropcoll.InternalTblPropColl
	err        error
}

// Add takes puts alone.
func (b *externalTableBuilder) Add(key, value []byte) error {
	if b.Status() != nil {
		return b.Status()
	}
	if t := dbformat.ExtractValueType(key); t != dbformat.TypeValue {
		b.err = rocksdb.NotSupported(fmt.Sprintf("value type %d in an external table", t))
		return b.err
	}
	b.inner.Add(dbformat.ExtractUserKey(key), value)
	b.props.NumEntries++
	b.props.RawKeySize += uint64(len(key))
	b.props.RawValueSize += uint64(len(value))
	NotifyCollectTableCollectorsOnAdd(key, value, 0, b.collectors, b.io.Logger)
	return b.Status()
}

// Status implements TableBuilder.
func (b *externalTableBuilder) Status() error {
	if b.err != nil {
		return b.err
	}
	return b.inner.Status()
}

// IOStatus implements TableBuilder.
func (b *externalTableBuilder) IOStatus() error {
	if err := b.Status(); rocksdb.IsIOError(err) {
		return err
	}
	return nil
}

// Finish implements TableBuilder.
func (b *externalTableBuilder) Finish() error {
	if err := b.Status(); err != nil {
		return err
	}
	p := &b.props
	p.DataSize = p.RawKeySize + p.RawValueSize // about
	props := NewPropertyBlockBuilder()
	props.AddTableProperty(p)
	NotifyCollectTableCollectorsOnFinish(b.collectors, b.io.Logger, props, p.UserCollectedProperties, p.ReadableProperties)
	if err := b.inner.PutPropertiesBlock(bytes.Clone(props.Finish())); err != nil && !rocksdb.IsNotSupported(err) {
		return err
	}
	return b.inner.Finish()
}

// Abandon implements TableBuilder.
func (b *externalTableBuilder) Abandon() { b.inner.Abandon() }

// NumEntries counts the calls of Add.
func (b *externalTableBuilder) NumEntries() uint64 { return b.props.NumEntries }

// IsEmpty tells whether nothing was added.
func (b *externalTableBuilder) IsEmpty() bool { return b.props.NumEntries == 0 }

// FileSize is the application's answer.
func (b *externalTableBuilder) FileSize() uint64 { return b.inner.FileSize() }

// EstimatedFileSize is FileSize.
func (b *externalTableBuilder) EstimatedFileSize() uint64 { return b.inner.FileSize() }

// GetTableProperties is the application's answer.
func (b *externalTableBuilder) GetTableProperties() rocksdb.TableProperties {
	return b.inner.GetTableProperties()
}

// GetFileChecksum is the application's answer.
func (b *externalTableBuilder) GetFileChecksum() string { return b.inner.GetFileChecksum() }

// GetFileChecksumFuncName is the application's answer.
func (b *externalTableBuilder) GetFileChecksumFuncName() string {
	return b.inner.GetFileChecksumFuncName()
}

// externalTableFile lets an application write by a WritableFileWriter, which
// computes the file's checksum.
type externalTableFile struct {
	rocksdb.FSWritableFileBase
	w *file.WritableFileWriter
}

// Append implements rocksdb.FSWritableFile.
func (f *externalTableFile) Append(data []byte, opts *rocksdb.IOOptions) error {
	return f.w.Append(opts, data, 0)
}

// Close implements rocksdb.FSWritableFile.
func (f *externalTableFile) Close(opts *rocksdb.IOOptions) error { return f.w.Close(opts) }

// Flush implements rocksdb.FSWritableFile.
func (f *externalTableFile) Flush(opts *rocksdb.IOOptions) error { return f.w.Flush(opts) }

// Sync implements rocksdb.FSWritableFile.
func (f *externalTableFile) Sync(opts *rocksdb.IOOptions) error { return f.w.Sync(opts, false) }

// GetFileSize implements rocksdb.FSWritableFile.
func (f *externalTableFile) GetFileSize(opts *rocksdb.IOOptions) uint64 {
	return f.w.WritableFile().GetFileSize(opts)
}

// meteredFS opens files whose reads count in a database's statistics and go to
// its listeners.
type meteredFS struct {
	rocksdb.FileSystemWrapper
	io        *options.ImmutableOptions
	lastLevel bool
}

// NewRandomAccessFile implements rocksdb.FileSystem.
func (fs *meteredFS) NewRandomAccessFile(name string, opts *rocksdb.FileOptions) (rocksdb.FSRandomAccessFile, error) {
	f, err := fs.FileSystem.NewRandomAccessFile(name, opts)
	if err != nil {
		return nil, err
	}
	return &meteredFile{rocksdb.FSRandomAccessFileWrapper{FSRandomAccessFile: f},
		file.NewRandomAccessFileReader(f, name, &file.ReaderOptions{
			Stats: fs.io.Stats, HistType: rocksdb.HistSSTReadMicros, Listeners: fs.io.Listeners,
			FileTemperature: opts.Temperature, IsLastLevel: fs.lastLevel,
		})}, nil
}

type meteredFile struct {
	rocksdb.FSRandomAccessFileWrapper
	r *file.RandomAccessFileReader
}

// Read implements rocksdb.FSRandomAccessFile.
func (f *meteredFile) Read(offset uint64, n int, opts *rocksdb.IOOptions, scratch []byte) ([]byte, error) {
	return f.r.Read(opts, offset, n, scratch, nil)
}

// MultiRead implements rocksdb.FSRandomAccessFile.
func (f *meteredFile) MultiRead(reqs []rocksdb.FSReadRequest, opts *rocksdb.IOOptions) error {
	return f.r.MultiRead(opts, reqs, nil)
}
