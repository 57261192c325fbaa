// Port of table/plain/plain_table_index.{h,cc}. Differs: buckets are filled by
// counting instead of by linked records; what comes from a file is checked.

package plain

import (
	"math"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/logging"
	"github.com/rocksdb-go/rocksdb/monitoring"
	"github.com/rocksdb-go/rocksdb/util"
)

// The index block, made when a table is opened or stored in the file:
//
//	number of buckets   varint32
//	number of prefixes  varint32
//	buckets             fixed32 each
//	sub-index
//
// The bucket of a prefix is its hash (GetSliceHash) modulo the number of
// buckets. A bucket is one of
//
//	7fffffff            no prefix is here
//	0xxxxxxx            the offset in the file of the only index entry's row
//	1xxxxxxx            without the upper bit, an offset in the sub-index
//
// At an offset in the sub-index is the number of entries (varint32), at least
// two, and their rows' offsets in the file (fixed32 each), which ascend as their
// keys do. An index entry is made for the first key of a prefix and, index
// sparseness permitting, for every so many more of the same prefix.

// PlainTableIndexBlockName is the index's name in the metaindex.
const PlainTableIndexBlockName = "PlainTableIndexBlock"

const (
	// MaxFileSize is the greatest size of a plain table, in bytes, and the
	// bucket without a prefix.
	MaxFileSize  = 1<<31 - 1
	subIndexMask = 1 << 31
	offsetLen    = 4
)

// IndexSearchResult is what a bucket holds.
type IndexSearchResult uint8

// The kinds of buckets.
const (
	NoPrefixForBucket IndexSearchResult = iota
	DirectToFile
	Subindex
)

// PlainTableIndex looks prefixes up.
type PlainTableIndex struct {
	indexSize   uint32 // buckets
	numPrefixes uint32
	index       []byte
	subIndex    []byte
}

// InitFromRawData takes an index block, which has to outlive the index.
func (x *PlainTableIndex) InitFromRawData(data []byte) error {
	size, rest, ok := util.GetVarint32(data)
	if ok {
		x.numPrefixes, rest, ok = util.GetVarint32(rest)
	}
	if !ok {
		return rocksdb.Corruption("Couldn't read the index size!")
	}
	if size == 0 || uint64(size)*offsetLen > uint64(len(rest)) {
		return rocksdb.Corruptionf("plain table index of %d bytes cannot have %d buckets", len(data), size)
	}
	x.indexSize = size
	x.index, x.subIndex = rest[:size*offsetLen], rest[size*offsetLen:]
	return nil
}

// GetOffset gives what the bucket of a hash holds, and the offset in file or
// sub-index.
func (x *PlainTableIndex) GetOffset(prefixHash uint32) (IndexSearchResult, uint32) {
	bucket := prefixHash % x.indexSize
	v := util.DecodeFixed32(x.index[bucket*offsetLen:])
	switch {
	case v&subIndexMask != 0:
		return Subindex, v ^ subIndexMask
	case v >= MaxFileSize:
		return NoPrefixForBucket, 0
	}
	return DirectToFile, v
}

// subIndexEntries gives the entries at an offset of the sub-index, fixed32 each;
// nil for an offset that cannot be right.
func (x *PlainTableIndex) subIndexEntries(offset uint32) []byte {
	if uint64(offset) >= uint64(len(x.subIndex)) {
		return nil
	}
	n, rest, ok := util.GetVarint32(x.subIndex[offset:])
	if !ok || n == 0 || uint64(n)*offsetLen > uint64(len(rest)) {
		return nil
	}
	return rest[:n*offsetLen]
}

// GetIndexSize is the number of buckets.
func (x *PlainTableIndex) GetIndexSize() uint32 { return x.indexSize }

// GetSubIndexSize is in bytes.
func (x *PlainTableIndex) GetSubIndexSize() uint32 { return uint32(len(x.subIndex)) }

// GetNumPrefixes is the number of prefixes in the table.
func (x *PlainTableIndex) GetNumPrefixes() uint32 { return x.numPrefixes }

type indexRecord struct{ hash, offset uint32 }

// PlainTableIndexBuilder makes an index block of the keys' prefixes in order.
type PlainTableIndexBuilder struct {
	hasPrefixes    bool // whether there is a prefix extractor
	sparseness     uint64
	hashTableRatio float64
	logger         rocksdb.Logger

	records          []indexRecord
	first            bool
	due              bool // the next key gets an entry
	numPrefixes      uint32
	numKeysPerPrefix uint32
	prevPrefix       []byte
	prevPrefixHash   uint32
	keysPerPrefix    *monitoring.HistogramImpl
}

// NewPlainTableIndexBuilder has no keys yet. The number of buckets is that of
// prefixes divided by hashTableRatio, or one without prefix extractor or ratio.
// sparseness is as PlainTableOptions.IndexSparseness.
func NewPlainTableIndexBuilder(hasPrefixes bool, sparseness uint64, hashTableRatio float64, logger rocksdb.Logger) *PlainTableIndexBuilder {
	return &PlainTableIndexBuilder{hasPrefixes: hasPrefixes, sparseness: sparseness, hashTableRatio: hashTableRatio, logger: logger,
		first: true, keysPerPrefix: monitoring.NewHistogramImpl()}
}

// AddKeyPrefix adds a key's prefix and its row's offset.
func (b *PlainTableIndexBuilder) AddKeyPrefix(prefix []byte, keyOffset uint32) {
	if b.first || string(b.prevPrefix) != string(prefix) {
		b.numPrefixes++
		if !b.first {
			b.keysPerPrefix.Add(uint64(b.numKeysPerPrefix))
		}
		b.numKeysPerPrefix = 0
		b.prevPrefix = append(b.prevPrefix[:0], prefix...)
		b.prevPrefixHash = util.GetSliceHash(prefix)
		b.due = true
	}
	if b.due {
		b.records = append(b.records, indexRecord{b.prevPrefixHash, keyOffset})
		b.due = false
	}
	b.numKeysPerPrefix++
	if b.sparseness == 0 || uint64(b.numKeysPerPrefix)%b.sparseness == 0 {
		b.due = true
	}
	b.first = false
}

func (b *PlainTableIndexBuilder) indexSize() uint32 {
	if !b.hasPrefixes || b.hashTableRatio <= 0 {
		return 1
	}
	// A block has to stay below the file's greatest size.
	n := float64(b.numPrefixes) * (1.0 / b.hashTableRatio)
	return uint32(min(n, MaxFileSize/offsetLen-1)) + 1
}

// Finish gives the block, in memory of allocate.
func (b *PlainTableIndexBuilder) Finish(allocate func(n int) []byte) []byte {
	buckets := b.indexSize()
	// The number of entries of each bucket, then where its next entry goes.
	at := make([]uint32, buckets)
	for _, r := range b.records {
		at[r.hash%buckets]++
	}
	subSize := 0
	for _, n := range at {
		if n > 1 {
			subSize += util.VarintLength(uint64(n)) + int(n)*offsetLen
		}
	}
	b.keysPerPrefix.Add(uint64(b.numKeysPerPrefix))
	logging.Info(b.logger, "Number of Keys per prefix Histogram: %s", b.keysPerPrefix.ToString())

	block := allocate(util.VarintLength(uint64(buckets)) + util.VarintLength(uint64(b.numPrefixes)) + int(buckets)*offsetLen + subSize)
	head := util.EncodeVarint32(block, buckets)
	head += util.EncodeVarint32(block[head:], b.numPrefixes)
	index := block[head:]
	sub := index[int(buckets)*offsetLen:]
	const direct = math.MaxUint32
	var pos uint32
	for i, n := range at {
		v := uint32(MaxFileSize)
		switch {
		case n == 1:
			at[i] = direct
		case n > 1:
			v = pos | subIndexMask
			pos += uint32(util.EncodeVarint32(sub[pos:], n))
			at[i] = pos
			pos += n * offsetLen
		}
		util.EncodeFixed32(index[i*offsetLen:], v)
	}
	for _, r := range b.records {
		i := r.hash % buckets
		if at[i] == direct {
			util.EncodeFixed32(index[i*offsetLen:], r.offset)
			continue
		}
		util.EncodeFixed32(sub[at[i]:], r.offset)
		at[i] += offsetLen
	}
	logging.Debug(b.logger, "hash table size: %d, suffix_map length %d", buckets, subSize)
	return block
}
