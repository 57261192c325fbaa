// Port of table/block_based/block.{h,cc}: Block. The iterators are in files of
// their own.

package block

import (
	"encoding/binary"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/table/format"
	"github.com/rocksdb-go/rocksdb/util"
)

// Block is a parsed block of keys and values. It owns its contents.
type Block struct {
	contents       format.BlockContents
	err            error  // of the footer; then nothing else is set
	restarts       uint32 // offset of the restart array
	numRestarts    uint32
	valuesOffset   uint32
	separated      bool
	isUniform      bool
	indexType      rocksdb.DataBlockIndexType
	hashIndex      DataBlockHashIndex
	hashMap        uint32 // offset of the hash index's buckets
	readAmp        *BlockReadAmpBitmap
	kvChecksum     []byte
	kvInterval     uint32
	protectionSize uint8
}

// NewBlock parses the footer of contents and takes them over. What is wrong
// with it is told by the iterators. readAmpBytesPerBit is 0 for no measuring.
func NewBlock(contents format.BlockContents, readAmpBytesPerBit int, stats rocksdb.Statistics) *Block {
	b := &Block{contents: contents}
	b.parse()
	if readAmpBytesPerBit > 0 && stats != nil && b.err == nil && b.restarts > 0 {
		b.readAmp = NewBlockReadAmpBitmap(int(b.restarts), readAmpBytesPerBit, stats)
	}
	return b
}

func (b *Block) parse() {
	data := b.contents.Data
	if uint64(len(data)) > 1<<32-1 {
		b.err = errBadBlockContents
		return
	}
	var f DataBlockFooter
	rest, err := f.DecodeFrom(data)
	if err != nil {
		b.err = err
		return
	}
	b.indexType = f.IndexType
	if f.IndexType == rocksdb.DataBlockBinaryAndHash {
		mapOffset, ok := b.hashIndex.Initialize(rest)
		if !ok {
			b.err = errBadBlockContents
			return
		}
		b.hashMap = uint32(mapOffset)
		rest = rest[:mapOffset]
	}
	if uint64(len(rest)) < uint64(f.NumRestarts)*4 {
		b.err = errBadBlockContents
		return
	}
	b.numRestarts, b.isUniform = f.NumRestarts, f.IsUniform
	b.restarts = uint32(len(rest)) - f.NumRestarts*4
	if f.SeparatedKV {
		if f.ValuesSectionOffset > b.restarts {
			b.err = errBadBlockContents
			return
		}
		b.separated, b.valuesOffset = true, f.ValuesSectionOffset
	}
	if len(data) < 8 {
		// No restart array at all.
		b.err = errBadBlockContents
	}
}

// Free gives the block's memory back. No iterator may be in use.
func (b *Block) Free() { b.contents.Free() }

// Size is that of the contents in bytes; 0 when they are damaged.
func (b *Block) Size() int {
	if b.err != nil {
		return 0
	}
	return len(b.contents.Data)
}

// Data gives the contents.
func (b *Block) Data() []byte { return b.contents.Data }

// Err tells what is wrong with the block's footer; nil when nothing is.
func (b *Block) Err() error { return b.err }

// UsableSize is the memory of the contents in bytes.
func (b *Block) UsableSize() int { return b.contents.UsableSize() }

// NumRestarts is the number of restart points.
func (b *Block) NumRestarts() uint32 { return b.numRestarts }

// OwnBytes tells whether the memory is the block's own.
func (b *Block) OwnBytes() bool { return b.contents.OwnBytes() }

// IsUniform tells whether the block was marked uniform.
func (b *Block) IsUniform() bool { return b.isUniform }

// IndexType is that of a data block.
func (b *Block) IndexType() rocksdb.DataBlockIndexType { return b.indexType }

// HasSeparatedKV tells whether keys and values are apart.
func (b *Block) HasSeparatedKV() bool { return b.separated }

// ApproximateMemoryUsage is what the cache charges, in bytes.
func (b *Block) ApproximateMemoryUsage() int {
	const own = 104 // upstream's object, so that charges are the same
	n := b.contents.UsableSize() + own + len(b.kvChecksum)
	if b.readAmp != nil {
		n += b.readAmp.ApproximateMemoryUsage()
	}
	return n
}

// DataIterOptions says how to read a data block.
type DataIterOptions struct {
	// GlobalSeqno replaces the sequence numbers of an ingested file's keys;
	// dbformat.DisableGlobalSequenceNumber for none.
	GlobalSeqno rocksdb.SequenceNumber
	// BlockContentsPinned: the bytes outlive the iterator as long as its
	// reference is handed on, or for good.
	BlockContentsPinned bool
	// PadMinTimestamp: timestamps were cut off the keys of this file.
	PadMinTimestamp bool
	// Statistics (optional) count what is read of a block with a read
	// amplification bitmap.
	Statistics rocksdb.Statistics
}

// NewDataIterator initialises it (nil makes a new one) for this data block and
// returns it.
func (b *Block) NewDataIterator(icmp *dbformat.InternalKeyComparator, o DataIterOptions, it *DataBlockIter) *DataBlockIter {
	if it == nil {
		it = new(DataBlockIter)
	}
	if !it.initialize(b, icmp, o.GlobalSeqno, false, o.PadMinTimestamp, o.BlockContentsPinned) {
		it.resetPrev()
		return it
	}
	it.readAmp, it.lastBitmapOffset = b.readAmp, it.current+1
	if b.readAmp != nil && o.Statistics != nil {
		b.readAmp.SetStatistics(o.Statistics)
	}
	it.hashIndex, it.hashMap = nil, 0
	if b.hashIndex.Valid() {
		it.hashIndex, it.hashMap = &b.hashIndex, b.hashMap
	}
	it.resetPrev()
	return it
}

// NewMetaIterator makes an iterator over a block of plain keys in bytewise
// order, e.g. properties.
func (b *Block) NewMetaIterator(blockContentsPinned bool) *MetaBlockIter {
	it := new(MetaBlockIter)
	it.initialize(b, metaComparator, dbformat.DisableGlobalSequenceNumber, true, false, blockContentsPinned)
	return it
}

var metaComparator = dbformat.NewInternalKeyComparator(util.BytewiseComparator())

// IndexIterOptions says how to read an index block.
type IndexIterOptions struct {
	GlobalSeqno         rocksdb.SequenceNumber // for first keys
	TotalOrderSeek      bool
	HaveFirstKey        bool
	KeyIncludesSeq      bool
	ValueIsFull         bool // not delta-encoded
	BlockContentsPinned bool
	PadMinTimestamp     bool
	PrefixIndex         *BlockPrefixIndex
	SearchType          rocksdb.BlockSearchType
}

// NewIndexIterator initialises it (nil makes a new one) for this index block
// and returns it.
func (b *Block) NewIndexIterator(icmp *dbformat.InternalKeyComparator, o IndexIterOptions, it *IndexBlockIter) *IndexBlockIter {
	if it == nil {
		it = new(IndexBlockIter)
	}
	if !it.initialize(b, icmp, dbformat.DisableGlobalSequenceNumber, !o.KeyIncludesSeq, o.PadMinTimestamp, o.BlockContentsPinned) {
		return it
	}
	it.valueDelta, it.haveFirstKey = !o.ValueIsFull, o.HaveFirstKey
	it.prefixIndex = nil
	if !o.TotalOrderSeek {
		it.prefixIndex = o.PrefixIndex
	}
	it.firstKeySeqno = dbformat.DisableGlobalSequenceNumber
	if o.HaveFirstKey {
		it.firstKeySeqno = o.GlobalSeqno
	}
	// Interpolation compares keys as numbers, so it needs bytewise order.
	it.interpolate = icmp.IsBytewise() && !o.PadMinTimestamp &&
		(o.SearchType == rocksdb.BlockSearchInterpolation ||
			o.SearchType == rocksdb.BlockSearchAuto && b.isUniform)
	return it
}

// Seeds of the in-memory checksum of a key and its value.
const (
	protectKeySeed   uint64 = 0
	protectValueSeed uint64 = 0xD28AAD72F49BD50B
)

func protectKV(key, value []byte) uint64 {
	return util.NPHash64(key, protectKeySeed) ^ util.NPHash64(value, protectValueSeed)
}

func putChecksum(dst []byte, n uint8, sum uint64) []byte {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], sum)
	return append(dst, b[:n]...)
}

func verifyChecksum(b []byte, sum uint64) bool {
	for _, c := range b {
		if c != byte(sum) {
			return false
		}
		sum >>= 8
	}
	return true
}

// InitializeDataBlockProtectionInfo makes a checksum of so many bytes (1, 2, 4
// or 8) of each entry; iterators verify them from then on.
func (b *Block) InitializeDataBlockProtectionInfo(bytesPerKey uint8, icmp *dbformat.InternalKeyComparator) {
	if bytesPerKey == 0 || b.err != nil || b.numRestarts == 0 {
		return
	}
	it := b.NewDataIterator(icmp, DataIterOptions{GlobalSeqno: dbformat.DisableGlobalSequenceNumber}, nil)
	b.protect(bytesPerKey, &it.blockIter, it.SeekToFirst, it.Next)
}

// InitializeIndexBlockProtectionInfo is the same for index blocks.
func (b *Block) InitializeIndexBlockProtectionInfo(bytesPerKey uint8, icmp *dbformat.InternalKeyComparator, valueIsFull, haveFirstKey, keyIncludesSeq bool) {
	if bytesPerKey == 0 || b.err != nil || b.numRestarts == 0 {
		return
	}
	it := b.NewIndexIterator(icmp, IndexIterOptions{
		GlobalSeqno: dbformat.DisableGlobalSequenceNumber, TotalOrderSeek: true,
		HaveFirstKey: haveFirstKey, KeyIncludesSeq: keyIncludesSeq, ValueIsFull: valueIsFull,
	}, nil)
	b.protect(bytesPerKey, &it.blockIter, it.SeekToFirst, it.Next)
}

// InitializeMetaIndexBlockProtectionInfo is the same for blocks of plain keys.
func (b *Block) InitializeMetaIndexBlockProtectionInfo(bytesPerKey uint8) {
	if bytesPerKey == 0 || b.err != nil || b.numRestarts == 0 {
		return
	}
	it := b.NewMetaIterator(true)
	b.protect(bytesPerKey, &it.blockIter, it.SeekToFirst, it.Next)
}

func (b *Block) protect(bytesPerKey uint8, it *blockIter, first, next func()) {
	var sums []byte
	interval := uint32(0)
	count := uint32(0)
	for first(); it.Valid(); next() {
		sums = putChecksum(sums, bytesPerKey, protectKV(it.raw, it.value))
		count++
		if interval == 0 && b.numRestarts > 1 && it.next >= it.restartPoint(1) {
			interval = count
		}
	}
	if it.status != nil {
		b.err = it.status
		return
	}
	b.kvChecksum, b.protectionSize, b.kvInterval = sums, bytesPerKey, max(interval, 1)
}
