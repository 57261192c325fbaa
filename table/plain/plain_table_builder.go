// Port of table/plain/plain_table_builder.{h,cc}. Differs: a row is appended to
// the file in one piece; keys of another length than user_key_len and files over
// 2 GiB are refused.

package plain

import (
	"fmt"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/db/tblpropcoll"
	"github.com/rocksdb-go/rocksdb/file"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/options"
	"github.com/rocksdb-go/rocksdb/table"
	"github.com/rocksdb-go/rocksdb/table/format"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
	"github.com/rocksdb-go/rocksdb/util"
)

// PlainTableBuilder writes a plain table. One goroutine uses it.
type PlainTableBuilder struct {
	table.TableBuilderBase
	ioptions        *options.ImmutableOptions
	opts            rocksdb.PlainTableOptions
	prefixExtractor rocksdb.SliceTransform
	file            *file.WritableFileWriter
	ioOpts          rocksdb.IOOptions
	encoder         *PlainTableKeyEncoder
	index           *PlainTableIndexBuilder // nil unless it goes to the file
	bloom           *PlainTableBloomV1
	hashes          []uint32 // of keys or prefixes, for the filter
	collectors      []tblpropcoll.InternalTblPropColl
	props           rocksdb.TableProperties
	offset          uint64
	row             []byte
	status, ioErr   error
	closed          bool
}

var _ table.TableBuilder = (*PlainTableBuilder)(nil)

// NewPlainTableBuilder begins a table in f, which stays the caller's.
func NewPlainTableBuilder(opts *rocksdb.PlainTableOptions, tbo *table.TableBuilderOptions, f *file.WritableFileWriter) (*PlainTableBuilder, error) {
	e := tbo.MOptions.PrefixExtractor
	if opts.StoreIndexInFile && e != nil && opts.HashTableRatio <= 0 {
		return nil, rocksdb.InvalidArgument("store_index_in_file of a plain table with a prefix extractor wants a hash_table_ratio above 0")
	}
	b := &PlainTableBuilder{
		ioptions: tbo.IOptions, opts: *opts, prefixExtractor: e, file: f, bloom: NewPlainTableBloomV1(defaultNumProbes),
		encoder: NewPlainTableKeyEncoder(opts.EncodingType, opts.UserKeyLen, e, opts.IndexSparseness),
		ioOpts:  rocksdb.DefaultIOOptions(),
	}
	file.PrepareIOFromWriteOptions(tbo.WriteOptions, &b.ioOpts)
	b.initProperties(tbo)
	if opts.StoreIndexInFile {
		b.index = NewPlainTableIndexBuilder(e != nil, opts.IndexSparseness, opts.HashTableRatio, tbo.IOptions.Logger)
		b.props.UserCollectedProperties[rocksdb.PlainTablePropertyBloomVersion] = "1"
	}
	b.collectors = tbo.NewCollectors()
	return b, nil
}

func (b *PlainTableBuilder) initProperties(tbo *table.TableBuilderOptions) {
	b.props = rocksdb.NewTableProperties()
	p := &b.props
	p.FixedKeyLen = uint64(b.opts.UserKeyLen)
	p.NumDataBlocks = 1
	if b.opts.EncodingType != rocksdb.EncodingPlain {
		p.FormatVersion = 1
	}
	p.ColumnFamilyID, p.ColumnFamilyName = uint64(tbo.ColumnFamilyID), tbo.ColumnFamilyName
	p.DBID, p.DBSessionID, p.DBHostID = tbo.DBID, tbo.DBSessionID, table.DBHostID(tbo.IOptions)
	p.OrigFileNumber = tbo.CurFileNum
	p.PrefixExtractorName = "nullptr"
	if b.prefixExtractor != nil {
		p.PrefixExtractorName = b.prefixExtractor.AsString()
	}
	p.ReadableProperties = rocksdb.UserCollectedProperties{}
	p.UserCollectedProperties = rocksdb.UserCollectedProperties{
		rocksdb.PlainTablePropertyEncodingType: string(util.AppendFixed32(nil, uint32(b.encoder.GetEncodingType()))),
	}
}

func (b *PlainTableBuilder) prefix(userKey []byte) []byte {
	if b.prefixExtractor == nil {
		return nil
	}
	return prefixOf(b.prefixExtractor, userKey)
}

// Add is table.TableBuilder's.
func (b *PlainTableBuilder) Add(key, value []byte) error {
	if b.status != nil {
		return b.status
	}
	p, err := dbformat.ParseInternalKey(key, false)
	switch {
	case err != nil:
		return b.fail(err)
	case p.Type == dbformat.TypeRangeDeletion:
		return b.fail(rocksdb.NotSupported("Range deletion unsupported"))
	case uint64(len(value)) > MaxFileSize || b.offset+uint64(len(key))+uint64(len(value)) > MaxFileSize:
		return b.fail(rocksdb.NotSupported(fmt.Sprintf("a plain table of more than %d bytes", MaxFileSize)))
	}
	skip := false
	syncpoint.ProcessArg("PlainTableBuilder::Add::skip", &skip)
	if skip {
		return nil
	}
	if b.row, err = b.encoder.AppendKey(b.row[:0], key, &p); err != nil {
		return b.fail(err)
	}
	if b.index != nil {
		hashed := p.UserKey
		if b.prefixExtractor != nil {
			hashed = b.prefix(hashed)
		}
		b.hashes = append(b.hashes, util.GetSliceHash(hashed))
		b.index.AddKeyPrefix(b.prefix(p.UserKey), uint32(b.offset))
	}
	b.row = append(util.AppendVarint32(b.row, uint32(len(value))), value...)
	if err := b.append(b.row); err != nil {
		return err
	}
	b.count(&p, key, value)
	table.NotifyCollectTableCollectorsOnAdd(key, value, b.offset, b.collectors, b.ioptions.Logger)
	return nil
}

func (b *PlainTableBuilder) count(p *dbformat.ParsedInternalKey, key, value []byte) {
	b.props.NumEntries++
	b.props.RawKeySize += uint64(len(key))
	b.props.RawValueSize += uint64(len(value))
	switch p.Type {
	case dbformat.TypeDeletion, dbformat.TypeSingleDeletion:
		b.props.NumDeletions++
	case dbformat.TypeMerge:
		b.props.NumMergeOperands++
	}
}

func (b *PlainTableBuilder) fail(err error) error {
	b.status = err
	return err
}

func (b *PlainTableBuilder) append(data []byte) error {
	if err := b.file.Append(&b.ioOpts, data, 0); err != nil {
		b.ioErr = err
		return b.fail(err)
	}
	b.offset += uint64(len(data))
	return nil
}

// Status is table.TableBuilder's.
func (b *PlainTableBuilder) Status() error { return b.status }

// IOStatus is table.TableBuilder's.
func (b *PlainTableBuilder) IOStatus() error { return b.ioErr }

// writeBlock appends a block and enters it in the metaindex, if it has a name.
func (b *PlainTableBuilder) writeBlock(meta *table.MetaIndexBuilder, name string, data []byte) (format.BlockHandle, error) {
	h := format.BlockHandle{Offset: b.offset, Size: uint64(len(data))}
	if err := b.append(data); err != nil {
		return h, err
	}
	if name != "" {
		meta.Add(name, h)
	}
	return h, nil
}

func makeZeros(n int) []byte { return make([]byte, n) }

func (b *PlainTableBuilder) writeFilterAndIndex(meta *table.MetaIndexBuilder) error {
	if b.opts.BloomBitsPerKey > 0 {
		bits := max(uint32(b.props.NumEntries)*uint32(b.opts.BloomBitsPerKey), 1)
		b.bloom.SetTotalBits(bits, b.ioptions.BloomLocality, makeZeros)
		b.props.UserCollectedProperties[rocksdb.PlainTablePropertyNumBloomBlocks] = string(util.AppendVarint32(nil, b.bloom.GetNumBlocks()))
		b.bloom.AddKeysHashes(b.hashes)
		b.props.FilterSize = uint64(len(b.bloom.GetRawData()))
		if _, err := b.writeBlock(meta, BloomBlockName, b.bloom.GetRawData()); err != nil {
			return err
		}
	}
	index := b.index.Finish(makeZeros)
	b.props.IndexSize = uint64(len(index))
	_, err := b.writeBlock(meta, PlainTableIndexBlockName, index)
	return err
}

// Finish is table.TableBuilder's.
func (b *PlainTableBuilder) Finish() error {
	b.closed = true
	if b.status != nil {
		return b.status
	}
	b.props.DataSize = b.offset
	meta := table.NewMetaIndexBuilder()
	if b.index != nil && b.props.NumEntries > 0 {
		if err := b.writeFilterAndIndex(meta); err != nil {
			return err
		}
	}
	props := table.NewPropertyBlockBuilder()
	props.AddTableProperty(&b.props)
	props.AddUserCollectedProperties(b.props.UserCollectedProperties)
	more := rocksdb.UserCollectedProperties{}
	table.NotifyCollectTableCollectorsOnFinish(b.collectors, b.ioptions.Logger, props, more, b.props.ReadableProperties)
	for k, v := range more {
		if _, ok := b.props.UserCollectedProperties[k]; !ok {
			b.props.UserCollectedProperties[k] = v
		}
	}
	if _, err := b.writeBlock(meta, table.PropertiesBlockName, props.Finish()); err != nil {
		return err
	}
	h, err := b.writeBlock(nil, "", meta.Finish())
	if err != nil {
		return err
	}
	footer, err := format.BuildFooter(&format.Footer{
		TableMagicNumber: format.PlainTableMagicNumber, MetaindexHandle: h, ChecksumType: rocksdb.NoChecksum,
	}, b.offset)
	if err != nil {
		return b.fail(err)
	}
	return b.append(footer)
}

// Abandon is table.TableBuilder's.
func (b *PlainTableBuilder) Abandon() { b.closed = true }

// NumEntries is table.TableBuilder's.
func (b *PlainTableBuilder) NumEntries() uint64 { return b.props.NumEntries }

// IsEmpty is table.TableBuilder's.
func (b *PlainTableBuilder) IsEmpty() bool { return b.props.NumEntries == 0 }

// FileSize is table.TableBuilder's.
func (b *PlainTableBuilder) FileSize() uint64 { return b.offset }

// EstimatedFileSize is FileSize.
func (b *PlainTableBuilder) EstimatedFileSize() uint64 { return b.offset }

// GetTableProperties is table.TableBuilder's.
func (b *PlainTableBuilder) GetTableProperties() rocksdb.TableProperties { return b.props }

// SaveIndexInFile tells whether index and filter go to the file.
func (b *PlainTableBuilder) SaveIndexInFile() bool { return b.index != nil }

// GetFileChecksum is table.TableBuilder's.
func (b *PlainTableBuilder) GetFileChecksum() string { return b.file.GetFileChecksum() }

// GetFileChecksumFuncName is table.TableBuilder's.
func (b *PlainTableBuilder) GetFileChecksumFuncName() string { return b.file.GetFileChecksumFuncName() }
