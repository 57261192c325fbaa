// Port of table/block_based/index_builder.{h,cc}. Differs: an entry prepared by
// one goroutine and finished by another is a plain struct.

package blockbased

import (
	"sync/atomic"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/table/block_based/block"
	"github.com/rocksdb-go/rocksdb/table/format"
	"github.com/rocksdb-go/rocksdb/util"
)

// IndexBlocks is a finished index or a part of it.
type IndexBlocks struct {
	IndexBlockContents []byte
	// MetaBlocks are named blocks that belong to the index, in the order of
	// their names; each is compressed like an index block.
	MetaBlocks []IndexMetaBlock
}

// IndexMetaBlock is one of them.
type IndexMetaBlock struct {
	Name     string
	Contents []byte
}

// PreparedIndexEntry is an index entry whose block is not written yet.
type PreparedIndexEntry struct {
	separatorWithSeq        []byte
	firstInternalKey        []byte
	mustUseSeparatorWithSeq bool
}

// IndexBuilder builds a table's index. OnKeyAdded and PrepareIndexEntry belong
// to the goroutine that adds keys, FinishIndexEntry to the one that writes
// blocks.
type IndexBuilder interface {
	// OnKeyAdded sees each key of the data blocks.
	OnKeyAdded(key []byte)
	// AddIndexEntry adds the entry of a written block. firstKeyInNextBlock is
	// nil for the last.
	AddIndexEntry(lastKeyInCurrentBlock, firstKeyInNextBlock []byte, handle format.BlockHandle, skipDeltaEncoding bool)
	// PrepareIndexEntry and FinishIndexEntry do the same in two steps.
	PrepareIndexEntry(lastKeyInCurrentBlock, firstKeyInNextBlock []byte, out *PreparedIndexEntry)
	FinishIndexEntry(handle format.BlockHandle, entry *PreparedIndexEntry, skipDeltaEncoding bool)
	// Finish gives the index. While more is true, the contents are one
	// partition, to be written before Finish is called again with its handle;
	// the last contents are the top level.
	Finish(lastPartition format.BlockHandle) (blocks IndexBlocks, more bool, err error)
	// IndexSize is in bytes, after Finish.
	IndexSize() int
	NumUniformIndexBlocks() uint64
	// CurrentIndexSizeEstimate is in bytes, generously; 0 when not known.
	CurrentIndexSizeEstimate() uint64
	// SeparatorIsKeyPlusSeq tells whether index keys are internal keys.
	SeparatorIsKeyPlusSeq() bool
}

// indexConfig is what the index builders take from the table's options.
type indexConfig struct {
	icmp            *dbformat.InternalKeyComparator
	restartInterval int
	formatVersion   uint32
	valueDelta      bool
	shortening      rocksdb.IndexShorteningMode
	firstKey        bool
	persistTS       bool
	statistics      rocksdb.Statistics
	uniformCV       float64
}

func (c *indexConfig) newBlockBuilder(isUserKey bool) *block.BlockBuilder {
	return block.NewBlockBuilder(&block.BlockBuilderOptions{
		BlockRestartInterval: c.restartInterval, UseDeltaEncoding: true, UseValueDeltaEncoding: c.valueDelta,
		TSSize: c.icmp.TimestampSize(), PersistUserDefinedTimestamps: c.persistTS, IsUserKey: isUserKey,
		Statistics: c.statistics, UniformCVThreshold: c.uniformCV,
	})
}

func newIndexBuilder(o *rocksdb.BlockBasedTableOptions, c indexConfig, prefix rocksdb.SliceTransform) (IndexBuilder, error) {
	switch o.IndexType {
	case rocksdb.BinarySearch:
		return newShortenedIndexBuilder(c), nil
	case rocksdb.BinarySearchWithFirstKey:
		c.firstKey = true
		return newShortenedIndexBuilder(c), nil
	case rocksdb.HashSearch:
		if prefix == nil {
			return nil, rocksdb.InvalidArgument("Hash index is specified for block-based table, but prefix_extractor is not given")
		}
		c.restartInterval = 1
		c.statistics = nil
		return &hashIndexBuilder{primary: newShortenedIndexBuilder(c), extractor: prefix}, nil
	case rocksdb.TwoLevelIndexSearch:
		return newPartitionedIndexBuilder(o, c), nil
	}
	return nil, rocksdb.InvalidArgumentf("unknown index type %d", o.IndexType)
}

// shortenedIndexBuilder has one entry a block, whose key is the shortest that
// separates it from the next block. The index is built twice, with and without
// sequence numbers, until two blocks share a user key.
type shortenedIndexBuilder struct {
	indexConfig
	withSeq       *block.BlockBuilder
	withoutSeq    *block.BlockBuilder
	mustUseSeq    bool
	lastHandle    format.BlockHandle
	firstKeyBuf   []byte // the current block's first key, empty until there is one
	entry         PreparedIndexEntry
	encoded       []byte
	delta         []byte
	numEntries    uint64
	sizeEstimate  atomic.Uint64
	indexSize     int
	uniformBlocks uint64
}

func newShortenedIndexBuilder(c indexConfig) *shortenedIndexBuilder {
	return &shortenedIndexBuilder{
		indexConfig: c, withSeq: c.newBlockBuilder(false), withoutSeq: c.newBlockBuilder(true),
		mustUseSeq: c.formatVersion <= 2,
	}
}

func (b *shortenedIndexBuilder) OnKeyAdded(key []byte) {
	if b.firstKey && len(b.firstKeyBuf) == 0 {
		b.firstKeyBuf = append(b.firstKeyBuf, key...)
	}
}

// separator appends to dst the key of the entry.
func (b *shortenedIndexBuilder) separator(dst, last, next []byte) []byte {
	if next == nil {
		if b.shortening == rocksdb.ShortenSeparatorsAndSuccessor {
			return b.icmp.FindShortInternalKeySuccessor(dst, last)
		}
		return append(dst, last...)
	}
	if !b.mustUseSeq && b.sameUserKey(last, next) {
		b.mustUseSeq = true
	}
	if b.shortening == rocksdb.NoShortening {
		return append(dst, last...)
	}
	return b.icmp.FindShortestInternalKeySeparator(dst, last, next)
}

func (b *shortenedIndexBuilder) sameUserKey(last, next []byte) bool {
	l, n := dbformat.ExtractUserKey(last), dbformat.ExtractUserKey(next)
	if b.persistTS {
		return b.icmp.CompareUserKey(l, n) == 0
	}
	return b.icmp.CompareWithoutTimestamp(l, n) == 0
}

func (b *shortenedIndexBuilder) PrepareIndexEntry(last, next []byte, out *PreparedIndexEntry) {
	out.separatorWithSeq = b.separator(out.separatorWithSeq[:0], last, next)
	out.firstInternalKey = out.firstInternalKey[:0]
	if b.firstKey {
		if ts := b.icmp.TimestampSize(); ts > 0 && !b.persistTS {
			out.firstInternalKey = dbformat.StripTimestampFromInternalKey(out.firstInternalKey, b.firstKeyBuf, ts)
		} else {
			out.firstInternalKey = append(out.firstInternalKey, b.firstKeyBuf...)
		}
	}
	out.mustUseSeparatorWithSeq = b.mustUseSeq
	b.firstKeyBuf = b.firstKeyBuf[:0]
}

func (b *shortenedIndexBuilder) FinishIndexEntry(handle format.BlockHandle, e *PreparedIndexEntry, skipDelta bool) {
	v := format.IndexValue{Handle: handle, FirstInternalKey: e.firstInternalKey}
	b.encoded = v.AppendTo(b.encoded[:0], b.firstKey, nil)
	b.delta = b.delta[:0]
	if b.valueDelta && !b.lastHandle.IsNull() && !skipDelta {
		b.delta = v.AppendTo(b.delta, b.firstKey, &b.lastHandle)
	}
	b.lastHandle = handle
	b.withSeq.Add(e.separatorWithSeq, b.encoded, b.delta, skipDelta)
	if !e.mustUseSeparatorWithSeq {
		b.withoutSeq.Add(dbformat.ExtractUserKey(e.separatorWithSeq), b.encoded, b.delta, skipDelta)
	}
	b.numEntries++
	// mustUseSeq may be changed by another goroutine at this moment.
	cur := b.withoutSeq
	if e.mustUseSeparatorWithSeq {
		cur = b.withSeq
	}
	size := uint64(cur.CurrentSizeEstimate())
	b.sizeEstimate.Store(size + 2*(size/b.numEntries))
}

func (b *shortenedIndexBuilder) AddIndexEntry(last, next []byte, handle format.BlockHandle, skipDelta bool) {
	b.PrepareIndexEntry(last, next, &b.entry)
	b.FinishIndexEntry(handle, &b.entry, skipDelta)
}

// current is the index that will be written.
func (b *shortenedIndexBuilder) current() *block.BlockBuilder {
	if b.mustUseSeq {
		return b.withSeq
	}
	return b.withoutSeq
}

func (b *shortenedIndexBuilder) Finish(format.BlockHandle) (IndexBlocks, bool, error) {
	cur := b.current()
	out := IndexBlocks{IndexBlockContents: cur.Finish()}
	if cur.IsUniform() {
		b.uniformBlocks = 1
	}
	b.indexSize = len(out.IndexBlockContents)
	return out, false, nil
}

func (b *shortenedIndexBuilder) IndexSize() int                   { return b.indexSize }
func (b *shortenedIndexBuilder) NumUniformIndexBlocks() uint64    { return b.uniformBlocks }
func (b *shortenedIndexBuilder) CurrentIndexSizeEstimate() uint64 { return b.sizeEstimate.Load() }
func (b *shortenedIndexBuilder) SeparatorIsKeyPlusSeq() bool      { return b.mustUseSeq }

// Names of the hash index's meta blocks.
const (
	HashIndexPrefixesBlock         = "rocksdb.hashindex.prefixes"
	HashIndexPrefixesMetadataBlock = "rocksdb.hashindex.metadata"
)

// hashIndexBuilder is a binary search index and, beside it, the blocks of each
// prefix; block.BlockPrefixIndex describes the two meta blocks.
type hashIndexBuilder struct {
	primary      *shortenedIndexBuilder
	extractor    rocksdb.SliceTransform
	prefixes     []byte
	meta         []byte
	pending      []byte // the prefix being collected
	pendingStart uint32
	pendingCount uint32 // of blocks; 0: none pending
	current      uint32 // number of the data block being built
}

func (b *hashIndexBuilder) OnKeyAdded(key []byte) {
	prefix := b.extractor.Transform(dbformat.ExtractUserKey(key))
	if b.pendingCount > 0 && string(b.pending) == string(prefix) {
		if b.pendingStart+b.pendingCount-1 != b.current {
			b.pendingCount++
		}
		return
	}
	b.flushPending()
	b.pending = append(b.pending[:0], prefix...)
	b.pendingStart, b.pendingCount = b.current, 1
}

func (b *hashIndexBuilder) flushPending() {
	if b.pendingCount == 0 {
		return
	}
	b.prefixes = append(b.prefixes, b.pending...)
	b.meta = util.AppendVarint32(b.meta, uint32(len(b.pending)))
	b.meta = util.AppendVarint32(b.meta, b.pendingStart)
	b.meta = util.AppendVarint32(b.meta, b.pendingCount)
	b.pendingCount = 0
}

func (b *hashIndexBuilder) AddIndexEntry(last, next []byte, handle format.BlockHandle, skipDelta bool) {
	b.current++
	b.primary.AddIndexEntry(last, next, handle, skipDelta)
}

func (b *hashIndexBuilder) PrepareIndexEntry(last, next []byte, out *PreparedIndexEntry) {
	b.current++
	b.primary.PrepareIndexEntry(last, next, out)
}

func (b *hashIndexBuilder) FinishIndexEntry(handle format.BlockHandle, e *PreparedIndexEntry, skipDelta bool) {
	b.primary.FinishIndexEntry(handle, e, skipDelta)
}

func (b *hashIndexBuilder) Finish(last format.BlockHandle) (IndexBlocks, bool, error) {
	b.flushPending()
	out, more, err := b.primary.Finish(last)
	out.MetaBlocks = []IndexMetaBlock{
		{HashIndexPrefixesMetadataBlock, b.meta},
		{HashIndexPrefixesBlock, b.prefixes},
	}
	return out, more, err
}

func (b *hashIndexBuilder) IndexSize() int {
	return b.primary.IndexSize() + len(b.prefixes) + len(b.meta)
}
func (b *hashIndexBuilder) NumUniformIndexBlocks() uint64    { return b.primary.NumUniformIndexBlocks() }
func (b *hashIndexBuilder) CurrentIndexSizeEstimate() uint64 { return 0 }
func (b *hashIndexBuilder) SeparatorIsKeyPlusSeq() bool      { return b.primary.SeparatorIsKeyPlusSeq() }

// partitionedIndexBuilder cuts the index into partitions of about the metadata
// block size and indexes these by their last keys.
type partitionedIndexBuilder struct {
	indexConfig
	withSeq    *block.BlockBuilder // the top level
	withoutSeq *block.BlockBuilder
	preparer   *shortenedIndexBuilder // of PrepareIndexEntry
	entries    []indexPartition       // the last is being filled
	mustUseSeq bool
	policy     *flushBlockBySizePolicy
	// cutRequested asks for a new partition, for the sake of a filter
	// partition; cutFilter tells the filter to end one.
	cutRequested bool
	cutFilter    bool
	entry        PreparedIndexEntry
	finishing    bool
	finished     int
	lastHandle   format.BlockHandle
	numParts     int
	topLevelSize int
	indexSize    int
	uniform      uint64
	completed    uint64 // estimated size of full partitions
	sizeEstimate atomic.Uint64
}

type indexPartition struct {
	key     []byte // last, with sequence number
	builder *shortenedIndexBuilder
}

func newPartitionedIndexBuilder(o *rocksdb.BlockBasedTableOptions, c indexConfig) *partitionedIndexBuilder {
	top := c
	top.statistics, top.uniformCV = nil, -1
	b := &partitionedIndexBuilder{
		indexConfig: c, withSeq: top.newBlockBuilder(false), withoutSeq: top.newBlockBuilder(true),
		preparer: newShortenedIndexBuilder(c),
	}
	b.policy = newFlushBlockBySizePolicy(o.MetadataBlockSize, o.BlockSizeDeviation, false, nil)
	b.newPartition()
	return b
}

func (b *partitionedIndexBuilder) last() *indexPartition { return &b.entries[len(b.entries)-1] }

func (b *partitionedIndexBuilder) newPartition() {
	sub := newShortenedIndexBuilder(b.indexConfig)
	if b.mustUseSeq {
		sub.mustUseSeq = true
	}
	b.entries = append(b.entries, indexPartition{builder: sub})
	b.retarget()
	b.cutRequested = false
}

func (b *partitionedIndexBuilder) retarget() {
	sub := b.last().builder
	if b.mustUseSeq {
		b.policy.builder = sub.withSeq
	} else {
		b.policy.builder = sub.withoutSeq
	}
}

// RequestPartitionCut asks for a new partition as soon as possible.
func (b *partitionedIndexBuilder) RequestPartitionCut() { b.cutRequested = true }

// ShouldCutFilterBlock tells, once for each new partition, that the filter
// partition is to end.
func (b *partitionedIndexBuilder) ShouldCutFilterBlock() bool {
	cut := b.cutFilter
	b.cutFilter = false
	return cut
}

// GetPartitionKey is the last key of the partition that was cut last.
func (b *partitionedIndexBuilder) GetPartitionKey() []byte { return b.last().key }

func (b *partitionedIndexBuilder) maybeFlush(key []byte, handle format.BlockHandle) {
	sub := b.last().builder
	if sub.withSeq.Empty() {
		return
	}
	var buf [format.MaxEncodedLength]byte
	if b.cutRequested || b.policy.Update(key, handle.AppendTo(buf[:0])) {
		b.completed += sub.CurrentIndexSizeEstimate()
		b.cutFilter = true
		b.newPartition()
	}
}

func (b *partitionedIndexBuilder) OnKeyAdded([]byte) {}

func (b *partitionedIndexBuilder) PrepareIndexEntry(last, next []byte, out *PreparedIndexEntry) {
	b.preparer.PrepareIndexEntry(last, next, out)
}

func (b *partitionedIndexBuilder) FinishIndexEntry(handle format.BlockHandle, e *PreparedIndexEntry, skipDelta bool) {
	b.maybeFlush(e.separatorWithSeq, handle)
	b.add(handle, e, skipDelta)
}

func (b *partitionedIndexBuilder) add(handle format.BlockHandle, e *PreparedIndexEntry, skipDelta bool) {
	p := b.last()
	if e.mustUseSeparatorWithSeq {
		p.builder.mustUseSeq = true
	}
	p.builder.FinishIndexEntry(handle, e, skipDelta)
	p.key = append(p.key[:0], e.separatorWithSeq...)
	b.updateEstimate()
	if !b.mustUseSeq && e.mustUseSeparatorWithSeq {
		// Then it holds for all partitions.
		b.mustUseSeq = true
		b.retarget()
	}
}

func (b *partitionedIndexBuilder) AddIndexEntry(last, next []byte, handle format.BlockHandle, skipDelta bool) {
	// No partition for the last entry alone.
	if next != nil {
		b.maybeFlush(last, handle)
	}
	b.preparer.PrepareIndexEntry(last, next, &b.entry)
	b.add(handle, &b.entry, skipDelta)
	if next == nil {
		b.cutFilter = true
	}
}

func (b *partitionedIndexBuilder) updateEstimate() {
	current := b.last().builder.CurrentIndexSizeEstimate()
	full := uint64(len(b.entries) - 1)
	total := b.completed + current
	if full > 0 {
		const topLevelEntry = 70 // about
		b.sizeEstimate.Store(total + full*topLevelEntry + 2*(b.completed/full+topLevelEntry))
	} else {
		b.sizeEstimate.Store(total + 2*current)
	}
}

func (b *partitionedIndexBuilder) Finish(lastPartition format.BlockHandle) (IndexBlocks, bool, error) {
	if !b.finishing {
		if b.last().builder.withSeq.Empty() {
			b.entries = b.entries[:len(b.entries)-1]
		}
		b.numParts = len(b.entries)
		b.finishing = true
	} else {
		key := b.entries[b.finished].key
		full := lastPartition.AppendTo(nil)
		delta := util.AppendVarsignedint64(nil, int64(lastPartition.Size-b.lastHandle.Size))
		b.lastHandle = lastPartition
		b.withSeq.Add(key, full, delta, false)
		if !b.mustUseSeq {
			b.withoutSeq.Add(dbformat.ExtractUserKey(key), full, delta, false)
		}
		b.finished++
	}
	if b.finished < len(b.entries) {
		sub := b.entries[b.finished].builder
		sub.mustUseSeq = b.mustUseSeq
		out, _, err := sub.Finish(format.BlockHandle{})
		b.uniform += sub.NumUniformIndexBlocks()
		b.indexSize += len(out.IndexBlockContents)
		return out, true, err
	}
	top := b.withoutSeq
	if b.mustUseSeq {
		top = b.withSeq
	}
	out := IndexBlocks{IndexBlockContents: top.Finish()}
	if top.IsUniform() {
		b.uniform++
	}
	b.topLevelSize = len(out.IndexBlockContents)
	b.indexSize += b.topLevelSize
	return out, false, nil
}

// NumPartitions counts them, after Finish.
func (b *partitionedIndexBuilder) NumPartitions() int { return b.numParts }

// TopLevelIndexSize is in bytes, after Finish.
func (b *partitionedIndexBuilder) TopLevelIndexSize() int { return b.topLevelSize }

func (b *partitionedIndexBuilder) IndexSize() int                   { return b.indexSize }
func (b *partitionedIndexBuilder) NumUniformIndexBlocks() uint64    { return b.uniform }
func (b *partitionedIndexBuilder) CurrentIndexSizeEstimate() uint64 { return b.sizeEstimate.Load() }
func (b *partitionedIndexBuilder) SeparatorIsKeyPlusSeq() bool      { return b.mustUseSeq }
