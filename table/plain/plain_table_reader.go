// Port of table/plain/plain_table_reader.{h,cc}; the iterator is in
// plain_table_iterator.go. Differs: lookups and seeks in full-scan mode fail;
// what comes from the file is checked; values of immortal mapped tables are
// pinned by a counted reference on the file.

package plain

import (
	"strconv"
	"sync"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/file"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/memory"
	"github.com/rocksdb-go/rocksdb/options"
	"github.com/rocksdb-go/rocksdb/table"
	"github.com/rocksdb-go/rocksdb/table/block_based/block"
	"github.com/rocksdb-go/rocksdb/table/format"
	"github.com/rocksdb-go/rocksdb/table/internaliter"
	"github.com/rocksdb-go/rocksdb/util"
)

// PlainTableReader reads a plain table.
type PlainTableReader struct {
	table.TableReaderBase
	ioptions        *options.ImmutableOptions
	icmp            *dbformat.InternalKeyComparator
	prefixExtractor rocksdb.SliceTransform // nil: total order
	encodingType    rocksdb.EncodingType
	userKeyLen      uint32
	fullScanMode    bool
	info            PlainTableReaderFileInfo
	props           *rocksdb.TableProperties

	index       PlainTableIndex
	bloom       *PlainTableBloomV1
	enableBloom bool
	// What index and filter are in: made here, or read.
	arena                  *memory.Arena
	indexBlock, bloomBlock format.BlockContents

	pinner   table.ValuePinner // nil: values are copied
	decoders sync.Pool
}

var _ table.TableReader = (*PlainTableReader)(nil)

// Open reads a table's properties, and makes its index or reads it. It takes f
// over, also on an error.
func Open(opts *rocksdb.PlainTableOptions, o *table.TableReaderOptions, f *file.RandomAccessFileReader, fileSize uint64) (*PlainTableReader, error) {
	r := &PlainTableReader{
		ioptions: o.IOptions, icmp: o.InternalComparator, prefixExtractor: o.PrefixExtractor, fullScanMode: opts.FullScanMode,
		info:  PlainTableReaderFileInfo{isMmapMode: o.FileOptions.UseMmapReads, file: f},
		bloom: NewPlainTableBloomV1(defaultNumProbes),
		arena: memory.NewArena(memory.MinBlockSize, nil, int(opts.HugePageTLBSize)),
	}
	if err := r.open(opts, fileSize); err != nil {
		_ = r.Close() // the first error counts
		return nil, err
	}
	if o.Immortal && r.info.isMmapMode {
		r.pinner = f
	}
	return r, nil
}

func (r *PlainTableReader) open(opts *rocksdb.PlainTableOptions, fileSize uint64) error {
	if fileSize > MaxFileSize {
		return rocksdb.NotSupported("File size " + strconv.FormatUint(fileSize, 10) +
			" exceeds PlainTableReader max file size " + strconv.Itoa(MaxFileSize))
	}
	ro := rocksdb.DefaultReadOptions()
	m := table.MetaReader{File: r.info.file, FileSize: fileSize, ReadOptions: &ro, IOptions: r.ioptions}
	props, err := m.ReadTableProperties(format.PlainTableMagicNumber)
	if err != nil {
		return err
	}
	r.props = props
	if err := r.checkPrefixExtractor(); err != nil {
		return err
	}
	if err := r.readProperties(fileSize); err != nil {
		return err
	}
	if r.info.isMmapMode {
		data, err := r.info.file.Read(nil, 0, int(fileSize), nil, nil)
		if err != nil {
			return err
		}
		if len(data) < int(fileSize) {
			return r.info.corruption(len(data), "file is shorter than it was")
		}
		r.info.fileData = data
	}
	r.decoders.New = func() any { return NewPlainTableKeyDecoder(&r.info, r.encodingType, r.userKeyLen) }
	if r.fullScanMode {
		return nil
	}
	return r.populateIndex(opts, &m)
}

func (r *PlainTableReader) checkPrefixExtractor() error {
	name := r.props.PrefixExtractorName
	if r.fullScanMode || name == "" || name == "nullptr" {
		return nil
	}
	if r.prefixExtractor == nil {
		return rocksdb.InvalidArgument("Prefix extractor is missing when opening a PlainTable built using a prefix extractor")
	}
	if name != r.prefixExtractor.AsString() {
		return rocksdb.InvalidArgument("Prefix extractor given doesn't match the one used to build PlainTable")
	}
	return nil
}

func (r *PlainTableReader) readProperties(fileSize uint64) error {
	p := r.props
	if p.DataSize > fileSize || p.NumEntries > p.DataSize {
		return r.info.corruption(0, "plain table of "+strconv.FormatUint(fileSize, 10)+" bytes says that "+
			strconv.FormatUint(p.NumEntries, 10)+" rows have "+strconv.FormatUint(p.DataSize, 10))
	}
	if p.FixedKeyLen > fileSize {
		return r.info.corruption(0, "user keys are longer than the file")
	}
	r.info.dataEndOffset, r.userKeyLen = int(p.DataSize), uint32(p.FixedKeyLen)
	if v, ok := p.UserCollectedProperties[rocksdb.PlainTablePropertyEncodingType]; ok {
		t, _, ok := util.GetFixed32([]byte(v))
		if !ok || t > uint32(rocksdb.EncodingPrefix) {
			return r.info.corruption(0, "unknown encoding type of a plain table")
		}
		r.encodingType = rocksdb.EncodingType(t)
	}
	return nil
}

func (r *PlainTableReader) isTotalOrderMode() bool { return r.prefixExtractor == nil }

// getPrefix is empty in total order.
func (r *PlainTableReader) getPrefix(userKey []byte) []byte {
	if r.prefixExtractor == nil {
		return nil
	}
	return prefixOf(r.prefixExtractor, userKey)
}

// allocate gives zeroed memory of the reader's.
func (r *PlainTableReader) allocate(hugePageSize uint64) func(n int) []byte {
	return func(n int) []byte {
		b := r.arena.AllocateAlignedHuge(n, int(hugePageSize), r.ioptions.Logger)
		clear(b)
		return b
	}
}

// readOptionalBlock reads a block that a table may do without; nil then.
func (r *PlainTableReader) readOptionalBlock(m *table.MetaReader, name string, t block.BlockType, to *format.BlockContents) (bool, error) {
	b, _, err := m.ReadMetaIndexBlock(format.PlainTableMagicNumber)
	if err != nil {
		return false, err
	}
	it := b.NewMetaIterator(true)
	h, err := table.FindOptionalMetaBlock(it, name)
	_ = it.Close() // holds nothing
	b.Free()
	if err != nil || h.IsNull() {
		return false, err
	}
	*to, err = m.ReadMetaBlock(format.PlainTableMagicNumber, name, t)
	return err == nil, err
}

func (r *PlainTableReader) populateIndex(opts *rocksdb.PlainTableOptions, m *table.MetaReader) error {
	indexInFile, err := r.readOptionalBlock(m, PlainTableIndexBlockName, block.TypeIndex, &r.indexBlock)
	if err != nil {
		return err
	}
	if r.prefixExtractor == nil && opts.HashTableRatio != 0 {
		return rocksdb.NotSupported("PlainTable requires a prefix extractor enable prefix hash mode.")
	}
	hashTableSize, subIndexSize := 0, 0
	if indexInFile {
		err = r.takeIndexOfFile(m)
	} else if err = r.makeIndex(opts); err == nil {
		hashTableSize, subIndexSize = int(r.index.GetIndexSize())*offsetLen, int(r.index.GetSubIndexSize())
	}
	if err != nil {
		return err
	}
	r.props.UserCollectedProperties["plain_table_hash_table_size"] = strconv.Itoa(hashTableSize)
	r.props.UserCollectedProperties["plain_table_sub_index_size"] = strconv.Itoa(subIndexSize)
	return nil
}

func (r *PlainTableReader) takeIndexOfFile(m *table.MetaReader) error {
	if err := r.index.InitFromRawData(r.indexBlock.Data); err != nil {
		return rocksdb.AsStatus(err).In(r.info.file.FileName())
	}
	bloomInFile, err := r.readOptionalBlock(m, BloomBlockName, block.TypeFilter, &r.bloomBlock)
	if err != nil || !bloomInFile || len(r.bloomBlock.Data) == 0 {
		return err
	}
	var blocks uint32
	if v, ok := r.props.UserCollectedProperties[rocksdb.PlainTablePropertyNumBloomBlocks]; ok {
		blocks, _, _ = util.GetVarint32([]byte(v))
	}
	if !r.bloom.SetRawData(r.bloomBlock.Data, blocks) {
		return r.info.corruption(0, "filter of "+strconv.Itoa(len(r.bloomBlock.Data))+" bytes cannot have "+
			strconv.FormatUint(uint64(blocks), 10)+" blocks")
	}
	r.enableBloom = true
	return nil
}

// makeIndex reads all rows for index and filter. The filter is of keys in total
// order, else of prefixes.
func (r *PlainTableReader) makeIndex(opts *rocksdb.PlainTableOptions) error {
	allocate := r.allocate(opts.HugePageTLBSize)
	setBits := func(n uint64) {
		if bits := uint32(n) * uint32(opts.BloomBitsPerKey); bits > 0 {
			r.enableBloom = true
			r.bloom.SetTotalBits(bits, r.ioptions.BloomLocality, allocate)
		}
	}
	if r.isTotalOrderMode() {
		setBits(r.props.NumEntries)
	}
	index := NewPlainTableIndexBuilder(!r.isTotalOrderMode(), opts.IndexSparseness, opts.HashTableRatio, r.ioptions.Logger)
	var prefixHashes []uint32
	var prev []byte
	d := r.decoder()
	defer r.decoders.Put(d)
	for pos := 0; pos < r.info.dataEndOffset; {
		k, _, err := d.nextKey(pos, false)
		if err != nil {
			return err
		}
		if pos == 0 && !k.seekable {
			return r.info.corruption(pos, "Key for a prefix is not seekable")
		}
		prefix := r.getPrefix(d.parsed.UserKey)
		switch {
		case r.isTotalOrderMode():
			if r.enableBloom {
				r.bloom.AddHash(util.GetSliceHash(d.parsed.UserKey))
			}
		case pos == 0 || string(prev) != string(prefix):
			prefixHashes = append(prefixHashes, util.GetSliceHash(prefix))
			prev = append(prev[:0], prefix...)
		}
		index.AddKeyPrefix(prefix, uint32(pos))
		pos = k.next
	}
	if err := r.index.InitFromRawData(index.Finish(allocate)); err != nil {
		return err
	}
	if !r.isTotalOrderMode() {
		if setBits(uint64(r.index.GetNumPrefixes())); r.enableBloom {
			r.bloom.AddKeysHashes(prefixHashes)
		}
	}
	return nil
}

func (r *PlainTableReader) decoder() *PlainTableKeyDecoder {
	return r.decoders.Get().(*PlainTableKeyDecoder)
}

// getOffset gives the offset of a row from which a key of the prefix may be
// found going on, or the rows' end. matched tells that the row is of the prefix.
func (r *PlainTableReader) getOffset(d *PlainTableKeyDecoder, target *dbformat.ParsedInternalKey, prefix []byte, prefixHash uint32) (offset int, matched bool, err error) {
	kind, at := r.index.GetOffset(prefixHash)
	switch kind {
	case NoPrefixForBucket:
		return r.info.dataEndOffset, false, nil
	case DirectToFile:
		return int(at), false, nil
	}
	entries := r.index.subIndexEntries(at)
	if entries == nil {
		return 0, false, r.info.corruption(int(at), "no entries at this offset of the plain table's sub-index")
	}
	entry := func(i int) int { return int(util.DecodeFixed32(entries[i*offsetLen:])) }
	// The key is in [low, high).
	low, high := 0, len(entries)/offsetLen
	for high-low > 1 {
		mid := (low + high) / 2
		if _, err := d.nextKeyNoValue(entry(mid), false); err != nil {
			return 0, false, err
		}
		switch c := r.icmp.CompareParsed(&d.parsed, target); {
		case c < 0:
			low = mid
		case c == 0:
			return entry(mid), true, nil
		default:
			high = mid
		}
	}
	// The rows at low and after it may both be of another prefix.
	if _, err := d.nextKeyNoValue(entry(low), false); err != nil {
		return 0, false, err
	}
	switch {
	case string(r.getPrefix(d.parsed.UserKey)) == string(prefix):
		return entry(low), true, nil
	case low+1 < len(entries)/offsetLen:
		return entry(low + 1), false, nil
	}
	return r.info.dataEndOffset, false, nil
}

func (r *PlainTableReader) matchBloom(hash uint32, perf *rocksdb.PerfContext) bool {
	if !r.enableBloom {
		return true
	}
	may := r.bloom.MayContainHash(hash)
	if perf.CountEnabled() {
		if may {
			perf.BloomSSTHitCount++
		} else {
			perf.BloomSSTMissCount++
		}
	}
	return may
}

// Get is table.TableReader's.
func (r *PlainTableReader) Get(ro *rocksdb.ReadOptions, key []byte, gc *table.GetContext, _ rocksdb.SliceTransform, _ bool) error {
	if r.fullScanMode {
		return rocksdb.InvalidArgument("Get() is not allowed in full scan mode.")
	}
	target, err := dbformat.ParseInternalKey(key, false)
	if err != nil {
		return err
	}
	var prefix []byte
	var prefixHash uint32 // 0 is the one bucket of total order
	if r.isTotalOrderMode() {
		if r.enableBloom && !r.matchBloom(util.GetSliceHash(target.UserKey), ro.PerfContext) {
			return nil
		}
	} else {
		prefix = r.getPrefix(target.UserKey)
		prefixHash = util.GetSliceHash(prefix)
		if !r.matchBloom(prefixHash, ro.PerfContext) {
			return nil
		}
	}
	d := r.decoder()
	err = r.getFrom(d, &target, prefix, prefixHash, gc)
	r.decoders.Put(d)
	return err
}

func (r *PlainTableReader) getFrom(d *PlainTableKeyDecoder, target *dbformat.ParsedInternalKey, prefix []byte, prefixHash uint32, gc *table.GetContext) error {
	offset, matched, err := r.getOffset(d, target, prefix, prefixHash)
	if err != nil {
		return err
	}
	for offset < r.info.dataEndOffset {
		k, value, err := d.nextKey(offset, false)
		if err != nil {
			return err
		}
		offset = k.next
		if !matched {
			if string(r.getPrefix(d.parsed.UserKey)) != string(prefix) {
				return nil
			}
			matched = true
		}
		if r.icmp.CompareParsed(&d.parsed, target) >= 0 {
			more, _, err := gc.SaveValue(&d.parsed, value, r.pinner)
			if err != nil || !more {
				return err
			}
		}
	}
	return nil
}

// MultiGet is Get of each key.
func (r *PlainTableReader) MultiGet(ro *rocksdb.ReadOptions, keys *table.MultiGetRange, e rocksdb.SliceTransform, skipFilters bool) {
	table.MultiGetByGet(r, ro, keys, e, skipFilters)
}

// NewIterator is table.TableReader's. The iterator knows SeekToFirst, Seek and
// Next; with a prefix extractor, Seek stays among the keys of the prefix, and
// total-order seeks fail.
func (r *PlainTableReader) NewIterator(ro *rocksdb.ReadOptions, _ rocksdb.SliceTransform, _ bool, _ rocksdb.TableReaderCaller, _ uint64, _ bool) internaliter.InternalIterator {
	usePrefixSeek := !r.isTotalOrderMode() && (ro.PrefixSameAsStart || !ro.TotalOrderSeek && !ro.AutoPrefixMode)
	it := &plainTableIterator{r: r, perf: ro.PerfContext, usePrefixSeek: usePrefixSeek,
		d: NewPlainTableKeyDecoder(&r.info, r.encodingType, r.userKeyLen)}
	it.toEnd()
	return it
}

// ApproximateOffsetOf is 0.
func (*PlainTableReader) ApproximateOffsetOf(*rocksdb.ReadOptions, []byte, rocksdb.TableReaderCaller) uint64 {
	return 0
}

// ApproximateSize is 0.
func (*PlainTableReader) ApproximateSize(*rocksdb.ReadOptions, []byte, []byte, rocksdb.TableReaderCaller) uint64 {
	return 0
}

// SetupForCompaction does nothing.
func (*PlainTableReader) SetupForCompaction() {}

// GetTableProperties is table.TableReader's.
func (r *PlainTableReader) GetTableProperties() *rocksdb.TableProperties { return r.props }

// GetIndexSize is the number of the index's buckets.
func (r *PlainTableReader) GetIndexSize() uint32 { return r.index.GetIndexSize() }

// ApproximateMemoryUsage is that of the index and filter made here, in bytes.
func (r *PlainTableReader) ApproximateMemoryUsage() int { return r.arena.MemoryAllocatedBytes() }

// Close gives index and filter back, and the file unless a value is pinned.
func (r *PlainTableReader) Close() error {
	r.indexBlock.Free()
	r.bloomBlock.Free()
	r.arena.Free()
	return r.info.file.Close()
}
