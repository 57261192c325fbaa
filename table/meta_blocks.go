// Port of table/meta_blocks.{h,cc} and table/table_properties_internal.h. Differs: the
// properties' numbers and strings are tables of rows, from which the block is
// both written and read.

package table

import (
	"bytes"
	"math"
	"slices"

	"github.com/rocksdb-go/rocksdb/db/tblpropcoll"
	"github.com/rocksdb-go/rocksdb/file"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/logging"
	"github.com/rocksdb-go/rocksdb/monitoring"
	"github.com/rocksdb-go/rocksdb/options"
	"github.com/rocksdb-go/rocksdb/table/block_based/block"
	"github.com/rocksdb-go/rocksdb/table/format"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
	"github.com/rocksdb-go/rocksdb/util"
	"github.com/rocksdb-go/rocksdb/util/compression"
)

// The names of meta blocks in the metaindex.
const (
	PropertiesBlockName      = "rocksdb.properties"
	IndexBlockName           = "rocksdb.index" // format_version >= 6 only
	CompressionDictBlockName = "rocksdb.compression_dict"
	RangeDelBlockName        = "rocksdb.range_del"
)

// ExternalSstFileGlobalSeqnoProperty is written by SstFileWriter as 8 bytes
// that an ingestion may have overwritten after the block's checksum was made.
const ExternalSstFileGlobalSeqnoProperty = "rocksdb.external_sst_file.global_seqno"

// sortedBlockBuilder makes a block of entries that come in any order. Of equal
// keys the first counts.
type sortedBlockBuilder struct {
	entries map[string]string
	builder *block.BlockBuilder
}

func newSortedBlockBuilder(restartInterval int) sortedBlockBuilder {
	return sortedBlockBuilder{
		entries: make(map[string]string),
		builder: block.NewBlockBuilder(&block.BlockBuilderOptions{
			BlockRestartInterval: restartInterval, UseDeltaEncoding: true, PersistUserDefinedTimestamps: true,
			IsUserKey: true, UniformCVThreshold: -1,
		}),
	}
}

func (b *sortedBlockBuilder) add(key, value string) {
	if _, ok := b.entries[key]; !ok {
		b.entries[key] = value
	}
}

// maxMetaEntry bounds keys and values, which block builders take below 4 GiB.
const maxMetaEntry = math.MaxUint32

func (b *sortedBlockBuilder) finish() []byte {
	keys := make([]string, 0, len(b.entries))
	for k := range b.entries {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		v := b.entries[k]
		b.builder.Add([]byte(k[:min(len(k), maxMetaEntry)]), []byte(v[:min(len(v), maxMetaEntry)]), nil, false)
	}
	return b.builder.Finish()
}

// MetaIndexBuilder makes the metaindex block: meta blocks' names and handles.
type MetaIndexBuilder struct{ b sortedBlockBuilder }

// NewMetaIndexBuilder has no entries yet.
func NewMetaIndexBuilder() *MetaIndexBuilder { return &MetaIndexBuilder{newSortedBlockBuilder(1)} }

// Add adds a meta block.
func (m *MetaIndexBuilder) Add(name string, h format.BlockHandle) {
	m.b.add(name, string(h.AppendTo(nil)))
}

// Finish gives the block, which is the builder's.
func (m *MetaIndexBuilder) Finish() []byte { return m.b.finish() }

// PropertyBlockBuilder makes the properties block: names and values, numbers as
// varint64. It is read from front to back, so that it has one restart point.
type PropertyBlockBuilder struct{ b sortedBlockBuilder }

// NewPropertyBlockBuilder has no entries yet.
func NewPropertyBlockBuilder() *PropertyBlockBuilder {
	return &PropertyBlockBuilder{newSortedBlockBuilder(math.MaxInt32)}
}

// Add adds a string property; of a name added before, the first value counts.
func (p *PropertyBlockBuilder) Add(name, value string) { p.b.add(name, value) }

// AddUint64 adds a number.
func (p *PropertyBlockBuilder) AddUint64(name string, v uint64) {
	p.b.add(name, string(util.AppendVarint64(nil, v)))
}

// AddUserCollectedProperties adds all of props.
func (p *PropertyBlockBuilder) AddUserCollectedProperties(props rocksdb.UserCollectedProperties) {
	for k, v := range props {
		p.Add(k, v)
	}
}

// AddTableProperty adds all that props says about the table.
func (p *PropertyBlockBuilder) AddTableProperty(props *rocksdb.TableProperties) {
	syncpoint.ProcessArg("PropertyBlockBuilder::AddTableProperty:Start", props)
	for i := range uint64Properties {
		row := &uint64Properties[i]
		v := *row.field(props)
		if row.written == nil || row.written(props, v) {
			p.AddUint64(row.name, v)
		}
	}
	for i := range stringProperties {
		row := &stringProperties[i]
		if v := *row.field(props); v != "" {
			p.Add(row.name, v)
		}
	}
}

// Finish gives the block, which is the builder's.
func (p *PropertyBlockBuilder) Finish() []byte { return p.b.finish() }

type uint64Property struct {
	name  string
	field func(*rocksdb.TableProperties) *uint64
	// written tells whether a value is written; nil is always.
	written func(*rocksdb.TableProperties, uint64) bool
}

type stringProperty struct {
	name  string
	field func(*rocksdb.TableProperties) *string
}

func notZero(_ *rocksdb.TableProperties, v uint64) bool  { return v != 0 }
func isZero(_ *rocksdb.TableProperties, v uint64) bool   { return v == 0 }
func isKnown(_ *rocksdb.TableProperties, v uint64) bool  { return v != math.MaxUint64 }
func hasParts(p *rocksdb.TableProperties, _ uint64) bool { return p.IndexPartitions != 0 }

type props = rocksdb.TableProperties

var uint64Properties = [...]uint64Property{
	{rocksdb.TablePropertyOriginalFileNumber, func(p *props) *uint64 { return &p.OrigFileNumber }, nil},
	{rocksdb.TablePropertyRawKeySize, func(p *props) *uint64 { return &p.RawKeySize }, nil},
	{rocksdb.TablePropertyRawValueSize, func(p *props) *uint64 { return &p.RawValueSize }, nil},
	{rocksdb.TablePropertyDataSize, func(p *props) *uint64 { return &p.DataSize }, nil},
	{rocksdb.TablePropertyIndexSize, func(p *props) *uint64 { return &p.IndexSize }, nil},
	{rocksdb.TablePropertyIndexPartitions, func(p *props) *uint64 { return &p.IndexPartitions }, hasParts},
	{rocksdb.TablePropertyTopLevelIndexSize, func(p *props) *uint64 { return &p.TopLevelIndexSize }, hasParts},
	{rocksdb.TablePropertyIndexKeyIsUserKey, func(p *props) *uint64 { return &p.IndexKeyIsUserKey }, nil},
	{rocksdb.TablePropertyIndexValueIsDeltaEncoded, func(p *props) *uint64 { return &p.IndexValueIsDeltaEncoded }, nil},
	{rocksdb.TablePropertyUDIIsPrimaryIndex, func(p *props) *uint64 { return &p.UDIIsPrimaryIndex }, notZero},
	{rocksdb.TablePropertyNumEntries, func(p *props) *uint64 { return &p.NumEntries }, nil},
	{rocksdb.TablePropertyNumFilterEntries, func(p *props) *uint64 { return &p.NumFilterEntries }, nil},
	{rocksdb.TablePropertyDeletedKeys, func(p *props) *uint64 { return &p.NumDeletions }, nil},
	{rocksdb.TablePropertyMergeOperands, func(p *props) *uint64 { return &p.NumMergeOperands }, nil},
	{rocksdb.TablePropertyNumRangeDeletions, func(p *props) *uint64 { return &p.NumRangeDeletions }, nil},
	{rocksdb.TablePropertyNumDataBlocks, func(p *props) *uint64 { return &p.NumDataBlocks }, nil},
	{rocksdb.TablePropertyNumDataBlocksCompressionRejected, func(p *props) *uint64 { return &p.NumDataBlocksCompressionRejected }, notZero},
	{rocksdb.TablePropertyNumDataBlocksCompressionBypassed, func(p *props) *uint64 { return &p.NumDataBlocksCompressionBypassed }, notZero},
	{rocksdb.TablePropertyNumUniformBlocks, func(p *props) *uint64 { return &p.NumUniformBlocks }, nil},
	{rocksdb.TablePropertyFilterSize, func(p *props) *uint64 { return &p.FilterSize }, nil},
	{rocksdb.TablePropertyFormatVersion, func(p *props) *uint64 { return &p.FormatVersion }, nil},
	{rocksdb.TablePropertyFixedKeyLen, func(p *props) *uint64 { return &p.FixedKeyLen }, nil},
	{rocksdb.TablePropertyColumnFamilyID, func(p *props) *uint64 { return &p.ColumnFamilyID }, nil},
	{rocksdb.TablePropertyCreationTime, func(p *props) *uint64 { return &p.CreationTime }, nil},
	{rocksdb.TablePropertyOldestKeyTime, func(p *props) *uint64 { return &p.OldestKeyTime }, nil},
	{rocksdb.TablePropertyNewestKeyTime, func(p *props) *uint64 { return &p.NewestKeyTime }, nil},
	{rocksdb.TablePropertyFileCreationTime, func(p *props) *uint64 { return &p.FileCreationTime }, notZero},
	{rocksdb.TablePropertySlowCompressionEstimatedDataSize, func(p *props) *uint64 { return &p.SlowCompressionEstimatedDataSize }, notZero},
	{rocksdb.TablePropertyFastCompressionEstimatedDataSize, func(p *props) *uint64 { return &p.FastCompressionEstimatedDataSize }, notZero},
	{rocksdb.TablePropertyTailStartOffset, func(p *props) *uint64 { return &p.TailStartOffset }, nil},
	{rocksdb.TablePropertyUserDefinedTimestampsPersisted, func(p *props) *uint64 { return &p.UserDefinedTimestampsPersisted }, isZero},
	{rocksdb.TablePropertyKeyLargestSeqno, func(p *props) *uint64 { return &p.KeyLargestSeqno }, isKnown},
	{rocksdb.TablePropertyKeySmallestSeqno, func(p *props) *uint64 { return &p.KeySmallestSeqno }, isKnown},
	{rocksdb.TablePropertyDataBlockRestartInterval, func(p *props) *uint64 { return &p.DataBlockRestartInterval }, notZero},
	{rocksdb.TablePropertyIndexBlockRestartInterval, func(p *props) *uint64 { return &p.IndexBlockRestartInterval }, notZero},
	{rocksdb.TablePropertySeparateKeyValueInDataBlock, func(p *props) *uint64 { return &p.SeparateKeyValueInDataBlock }, notZero},
}

var stringProperties = [...]stringProperty{
	{rocksdb.TablePropertyDBID, func(p *props) *string { return &p.DBID }},
	{rocksdb.TablePropertyDBSessionID, func(p *props) *string { return &p.DBSessionID }},
	{rocksdb.TablePropertyDBHostID, func(p *props) *string { return &p.DBHostID }},
	{rocksdb.TablePropertyFilterPolicy, func(p *props) *string { return &p.FilterPolicyName }},
	{rocksdb.TablePropertyComparator, func(p *props) *string { return &p.ComparatorName }},
	{rocksdb.TablePropertyMergeOperator, func(p *props) *string { return &p.MergeOperatorName }},
	{rocksdb.TablePropertyPrefixExtractorName, func(p *props) *string { return &p.PrefixExtractorName }},
	{rocksdb.TablePropertyPropertyCollectors, func(p *props) *string { return &p.PropertyCollectorsNames }},
	{rocksdb.TablePropertyColumnFamilyName, func(p *props) *string { return &p.ColumnFamilyName }},
	{rocksdb.TablePropertyCompression, func(p *props) *string { return &p.CompressionName }},
	{rocksdb.TablePropertyCompressionOptions, func(p *props) *string { return &p.CompressionOptions }},
	{rocksdb.TablePropertySequenceNumberTimeMapping, func(p *props) *string { return &p.SeqnoToTimeMapping }},
}

func logPropertiesCollectionError(log rocksdb.Logger, method, name string) {
	logging.Error(log, "Encountered error when calling TablePropertiesCollector::%s() with collector name: %s", method, name)
}

// NotifyCollectTableCollectorsOnAdd shows collectors an entry. It is false when
// one of them failed.
func NotifyCollectTableCollectorsOnAdd(key, value []byte, fileSize uint64, collectors []tblpropcoll.InternalTblPropColl, log rocksdb.Logger) bool {
	all := true
	for _, c := range collectors {
		if err := c.InternalAdd(key, value, fileSize); err != nil {
			all = false
			logPropertiesCollectionError(log, "Add", c.Name())
		}
	}
	return all
}

// NotifyCollectTableCollectorsOnBlockAdd shows collectors a data block's sizes.
func NotifyCollectTableCollectorsOnBlockAdd(collectors []tblpropcoll.InternalTblPropColl, uncompressed, fast, slow uint64) {
	for _, c := range collectors {
		c.BlockAdd(uncompressed, fast, slow)
	}
}

// NotifyCollectTableCollectorsOnFinish adds what collectors gathered to builder
// and the two maps. It is false when one of them failed.
func NotifyCollectTableCollectorsOnFinish(collectors []tblpropcoll.InternalTblPropColl, log rocksdb.Logger, builder *PropertyBlockBuilder,
	userCollected, readable rocksdb.UserCollectedProperties) bool {
	all := true
	for _, c := range collectors {
		gathered := rocksdb.UserCollectedProperties{}
		if err := c.Finish(gathered); err != nil {
			all = false
			logPropertiesCollectionError(log, "Finish", c.Name())
			continue
		}
		addMissing(readable, c.GetReadableProperties())
		addMissing(userCollected, gathered)
	}
	builder.AddUserCollectedProperties(userCollected)
	return all
}

func addMissing(dst, src rocksdb.UserCollectedProperties) {
	for k, v := range src {
		if _, ok := dst[k]; !ok {
			dst[k] = v
		}
	}
}

// ParsePropertiesBlock reads the properties of a block that lies at offset of
// its file.
func ParsePropertiesBlock(log rocksdb.Logger, offset uint64, b *block.Block) (*rocksdb.TableProperties, error) {
	p := rocksdb.NewTableProperties()
	p.UserCollectedProperties = rocksdb.UserCollectedProperties{}
	p.ReadableProperties = rocksdb.UserCollectedProperties{}
	it := b.NewMetaIterator(true)
	defer func() { _ = it.Close() }() // the block is the caller's
	var last []byte
	first := true
	for it.SeekToFirst(); it.Valid(); it.Next() {
		key := it.Key()
		if !first && bytes.Compare(key, last) <= 0 {
			return nil, rocksdb.Corruption("properties unsorted")
		}
		first = false
		last = append(last[:0], key...)
		if string(key) == ExternalSstFileGlobalSeqnoProperty {
			p.ExternalSstFileGlobalSeqnoOffset = offset + uint64(it.ValueOffset())
		}
		setProperty(&p, string(key), string(it.Value()), log)
	}
	if err := it.Status(); err != nil {
		return nil, err
	}
	return &p, nil
}

func setProperty(p *rocksdb.TableProperties, key, value string, log rocksdb.Logger) {
	for i := range uint64Properties {
		row := &uint64Properties[i]
		if row.name != key {
			continue
		}
		if key == rocksdb.TablePropertyDeletedKeys || key == rocksdb.TablePropertyMergeOperands {
			p.UserCollectedProperties[key] = value // where they used to be
		}
		if v, _, ok := util.GetVarint64([]byte(value)); ok {
			*row.field(p) = v
		} else {
			logging.Error(log, "Detect malformed value in properties meta-block:\tkey: %s\tval: %s", key, value)
		}
		return
	}
	for i := range stringProperties {
		if stringProperties[i].name == key {
			*stringProperties[i].field(p) = value
			return
		}
	}
	p.UserCollectedProperties[key] = value
}

// MetaReader reads meta blocks of one table file.
type MetaReader struct {
	File           *file.RandomAccessFileReader
	PrefetchBuffer PrefetchBuffer // nil for none
	FileSize       uint64
	ReadOptions    *rocksdb.ReadOptions
	IOptions       *options.ImmutableOptions
	Allocator      rocksdb.MemoryAllocator
	// OldFormats is as in TableReaderOptions.
	OldFormats bool
}

func (r *MetaReader) fetch(footer *format.Footer, h format.BlockHandle, t block.BlockType, verify bool) (format.BlockContents, error) {
	f := GetBlockFetcher()
	defer PutBlockFetcher(f)
	ro := r.ReadOptions
	if ro.VerifyChecksums != verify {
		c := *ro
		c.VerifyChecksums = verify
		ro = &c
	}
	f.File, f.PrefetchBuffer, f.Footer, f.ReadOptions, f.IOptions = r.File, r.PrefetchBuffer, footer, ro, r.IOptions
	f.FileSize, f.Handle, f.BlockType, f.Memory.Allocator = r.FileSize, h, t, r.Allocator
	if r.OldFormats && footer.FormatVersion < format.MinSupportedBbtFormatVersionForRead {
		f.DoUncompress, f.MaybeCompressed, f.Decompressor = true, true, compression.GetLevelDBDecompressor()
	}
	return f.ReadBlockContents()
}

// ReadTablePropertiesHelper reads the properties block at a handle.
//
// The checksum is verified last: an ingestion may have overwritten the global
// sequence number after it was made, and then it has to match the block with
// that number 0, as it was.
func (r *MetaReader) ReadTablePropertiesHelper(h format.BlockHandle, footer *format.Footer) (*rocksdb.TableProperties, error) {
	p, err := r.readProperties(h, footer, false)
	if rocksdb.IsCorruption(err) && r.IOptions != nil && supportsReconstruction(r.IOptions.FS) {
		monitoring.RecordTick(r.IOptions.Stats, rocksdb.FileReadCorruptionRetryCount, 1)
		again, err2 := r.readProperties(h, footer, true)
		if err2 != nil {
			return nil, err // the first is the more telling
		}
		monitoring.RecordTick(r.IOptions.Stats, rocksdb.FileReadCorruptionRetrySuccessCount, 1)
		return again, nil
	}
	return p, err
}

func (r *MetaReader) readProperties(h format.BlockHandle, footer *format.Footer, reconstruct bool) (*rocksdb.TableProperties, error) {
	whole, err := r.readWithTrailer(h, footer, reconstruct)
	if err != nil {
		return nil, err
	}
	defer whole.Free()
	syncpoint.ProcessArg("ReadTablePropertiesHelper:0", whole.Data)
	b := block.NewBlock(format.BorrowBlock(whole.Data[:h.Size:h.Size]), 0, nil)
	name := r.File.FileName()
	p, err := ParsePropertiesBlock(r.logger(), h.Offset, b)
	if err != nil {
		return nil, rocksdb.AsStatus(err).InAt(name, h.Offset)
	}
	if footer.BlockTrailerSize == 0 {
		return p, nil
	}
	err = VerifyBlockChecksum(footer, whole.Data, name, h.Offset, block.TypeProperties)
	if at := p.ExternalSstFileGlobalSeqnoOffset; err != nil && at != 0 && at >= h.Offset && at-h.Offset+8 <= h.Size {
		original := bytes.Clone(whole.Data)
		util.EncodeFixed64(original[at-h.Offset:], 0)
		err = VerifyBlockChecksum(footer, original, name, h.Offset, block.TypeProperties)
	}
	if err != nil {
		return nil, err
	}
	return p, nil
}

func (r *MetaReader) logger() rocksdb.Logger {
	if r.IOptions == nil {
		return nil
	}
	return r.IOptions.Logger
}

// readWithTrailer reads a block as it is in the file.
func (r *MetaReader) readWithTrailer(h format.BlockHandle, footer *format.Footer, reconstruct bool) (format.BlockContents, error) {
	f := GetBlockFetcher()
	defer PutBlockFetcher(f)
	ro := *r.ReadOptions
	ro.VerifyChecksums = false
	f.File, f.PrefetchBuffer, f.Footer, f.ReadOptions, f.IOptions = r.File, r.PrefetchBuffer, footer, &ro, r.IOptions
	f.FileSize, f.Handle, f.BlockType, f.Memory.Allocator = r.FileSize, h, block.TypeProperties, r.Allocator
	return f.readRaw(reconstruct)
}

// ReadMetaIndexBlock reads footer and metaindex block. enforceMagic is as in
// ReadFooterFromFile. The block is the caller's to free.
func (r *MetaReader) ReadMetaIndexBlock(enforceMagic uint64) (*block.Block, format.Footer, error) {
	var opts rocksdb.IOOptions
	if err := r.File.PrepareIOOptions(r.ReadOptions, &opts); err != nil {
		return nil, format.Footer{}, err
	}
	var fs rocksdb.FileSystem
	var stats rocksdb.Statistics
	if r.IOptions != nil {
		fs, stats = r.IOptions.FS, r.IOptions.Stats
	}
	decode := (*format.Footer).DecodeFrom
	if r.OldFormats {
		decode = (*format.Footer).DecodeForImport
	}
	footer, err := readFooterAgain(&opts, r.File, fs, r.PrefetchBuffer, r.FileSize, enforceMagic, stats, decode)
	if err != nil {
		return nil, footer, err
	}
	b, err := r.ReadMetaIndexBlockOf(&footer)
	return b, footer, err
}

// ReadMetaIndexBlockOf is ReadMetaIndexBlock with a footer that is known.
func (r *MetaReader) ReadMetaIndexBlockOf(footer *format.Footer) (*block.Block, error) {
	contents, err := r.fetch(footer, footer.MetaindexHandle, block.TypeMetaIndex, r.ReadOptions.VerifyChecksums)
	if err != nil {
		return nil, err
	}
	return block.NewBlock(contents, 0, nil), nil
}

// FindMetaBlockInFile reads footer and metaindex and gives a meta block's
// handle; a block that is not there is a corruption.
func (r *MetaReader) FindMetaBlockInFile(enforceMagic uint64, name string) (format.BlockHandle, format.Footer, error) {
	b, footer, err := r.ReadMetaIndexBlock(enforceMagic)
	if err != nil {
		return format.NullBlockHandle, footer, err
	}
	defer b.Free()
	it := b.NewMetaIterator(true)
	h, err := FindMetaBlock(it, name)
	_ = it.Close() // holds nothing
	if err != nil {
		err = rocksdb.AsStatus(err).In(r.File.FileName())
	}
	return h, footer, err
}

// ReadTableProperties reads a table's properties.
func (r *MetaReader) ReadTableProperties(enforceMagic uint64) (*rocksdb.TableProperties, error) {
	h, footer, err := r.FindMetaBlockInFile(enforceMagic, PropertiesBlockName)
	if err != nil {
		return nil, err
	}
	return r.ReadTablePropertiesHelper(h, &footer)
}

// ReadMetaBlock reads a meta block that is not compressed; not the properties,
// for which there is ReadTableProperties. It is the caller's to free.
func (r *MetaReader) ReadMetaBlock(enforceMagic uint64, name string, t block.BlockType) (format.BlockContents, error) {
	h, footer, err := r.FindMetaBlockInFile(enforceMagic, name)
	if err != nil {
		return format.BlockContents{}, err
	}
	return r.fetch(&footer, h, t, r.ReadOptions.VerifyChecksums)
}

// ReadTableProperties reads the properties of a table file; see MetaReader.
func ReadTableProperties(r *file.RandomAccessFileReader, fileSize, enforceMagic uint64, io *options.ImmutableOptions, ro *rocksdb.ReadOptions, prefetch PrefetchBuffer) (*rocksdb.TableProperties, error) {
	m := MetaReader{File: r, PrefetchBuffer: prefetch, FileSize: fileSize, ReadOptions: ro, IOptions: io}
	return m.ReadTableProperties(enforceMagic)
}

// FindOptionalMetaBlock gives a meta block's handle, the null one when it is
// not there.
func FindOptionalMetaBlock(it *block.MetaBlockIter, name string) (format.BlockHandle, error) {
	it.Seek([]byte(name))
	if err := it.Status(); err != nil {
		return format.NullBlockHandle, err
	}
	if !it.Valid() || string(it.Key()) != name {
		return format.NullBlockHandle, nil
	}
	var h format.BlockHandle
	if _, err := h.DecodeFrom(it.Value()); err != nil {
		return format.NullBlockHandle, err
	}
	return h, nil
}

// FindMetaBlock is FindOptionalMetaBlock of a block that has to be there.
func FindMetaBlock(it *block.MetaBlockIter, name string) (format.BlockHandle, error) {
	h, err := FindOptionalMetaBlock(it, name)
	if err == nil && h.IsNull() {
		err = rocksdb.Corruption("Cannot find the meta block", name)
	}
	return h, err
}
