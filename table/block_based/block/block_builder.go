// Port of table/block_based/block_builder.{h,cc}. Differs: the constructor
// takes a struct of options.

package block

import (
	"encoding/binary"
	"math"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/internal/invariants"
	"github.com/rocksdb-go/rocksdb/monitoring"
	"github.com/rocksdb-go/rocksdb/util"
)

// A block is
//
//	entries      in key order; where keys and values are apart, without values
//	values       only where they are apart, in the same order
//	restarts     fixed32 each: the offset of every interval-th entry, whose key
//	             is whole
//	hash index   optional, see data_block_hash_index.go
//	footer       see data_block_footer.go
//
// and an entry is
//
//	shared        varint32: how many bytes of the key before it its key begins
//	              with; 0 at a restart point
//	non_shared    varint32
//	value_length  varint32; absent where index values are delta-encoded
//	              (format_version 4 and later), since these tell their length
//	value_offset  varint32, from where the values begin; only where keys and
//	              values are apart, and then only at a restart point: other
//	              values follow the one before
//	key           non_shared bytes
//	value         unless values are apart

// BlockBuilderOptions configures a BlockBuilder.
type BlockBuilderOptions struct {
	BlockRestartInterval int // at least 1
	// UseDeltaEncoding drops what a key shares with the one before.
	UseDeltaEncoding bool
	// UseValueDeltaEncoding is for index blocks whose values encode themselves.
	UseValueDeltaEncoding       bool
	IndexType                   rocksdb.DataBlockIndexType
	DataBlockHashTableUtilRatio float64
	// TSSize bytes of timestamp are cut off keys unless
	// PersistUserDefinedTimestamps.
	TSSize                       int
	PersistUserDefinedTimestamps bool
	// IsUserKey: keys have no sequence number and type.
	IsUserKey             bool
	UseSeparatedKVStorage bool
	Statistics            rocksdb.Statistics
	// UniformCVThreshold: see BlockBasedTableOptions; negative marks no block.
	UniformCVThreshold float64
	// ReserveSize is the expected size of a block in bytes.
	ReserveSize int
}

// BlockBuilder builds one block after another. Keys must come in order, except
// in range deletion blocks.
type BlockBuilder struct {
	interval      int
	delta         bool
	valueDelta    bool
	separated     bool
	isUserKey     bool
	stripTS       int
	uniformCV     float64
	statistics    rocksdb.Statistics
	buffer        []byte
	values        []byte // where they are apart
	restarts      []uint32
	estimate      int
	counter       int // entries since the last restart point
	finished      bool
	isUniform     bool
	lastKey       []byte
	strippedKey   []byte
	strippedLast  []byte
	hashIndex     DataBlockHashIndexBuilder
	initialSizeOf int
	maxReserve    int      // of a buffer whose predecessor was unusually large
	form          addition // checked where invariants are on
}

// addition is the way entries come in between two Resets.
type addition uint8

const (
	noAddition addition = iota
	withoutLastKey
	withLastKey
)

// NewBlockBuilder makes a builder with an empty block.
func NewBlockBuilder(o *BlockBuilderOptions) *BlockBuilder {
	b := &BlockBuilder{
		interval: max(o.BlockRestartInterval, 1), delta: o.UseDeltaEncoding, valueDelta: o.UseValueDeltaEncoding,
		separated: o.UseSeparatedKVStorage, isUserKey: o.IsUserKey,
		uniformCV: o.UniformCVThreshold, statistics: o.Statistics,
	}
	if !o.PersistUserDefinedTimestamps {
		b.stripTS = o.TSSize
	}
	if o.IndexType == rocksdb.DataBlockBinaryAndHash {
		b.hashIndex.Initialize(o.DataBlockHashTableUtilRatio)
	}
	b.maxReserve = 2 * o.ReserveSize
	b.initialSizeOf = 8
	if b.separated {
		b.initialSizeOf += 4
	}
	if o.ReserveSize > 0 {
		b.buffer = make([]byte, 0, o.ReserveSize)
	}
	b.restarts = append(b.restarts, 0)
	b.estimate = b.initialSizeOf
	return b
}

// Reset begins a new block. The slice of Finish is gone then.
func (b *BlockBuilder) Reset() {
	b.buffer, b.values = b.buffer[:0], b.values[:0]
	b.restarts = b.restarts[:1]
	b.estimate = b.initialSizeOf
	b.counter, b.finished, b.isUniform, b.form = 0, false, false, noAddition
	b.lastKey = b.lastKey[:0]
	// An index that a block of too many restart points has turned off stays
	// off, as upstream's: the same keys give the same bytes.
	if b.hashIndex.Valid() {
		b.hashIndex.Reset()
	}
}

// SwapAndReset exchanges the block's bytes for buffer, which the builder then
// owns, and begins a new block. Where buffer, which may be nil, has less room
// than the block took, the next one is expected to be about as large and gets
// a buffer of that size, so that it does not grow by doubling.
func (b *BlockBuilder) SwapAndReset(buffer []byte) []byte {
	out := b.buffer
	if want := len(out) + len(out)/8; cap(buffer) < len(out) {
		if b.maxReserve > 0 {
			want = min(want, b.maxReserve)
		}
		if cap(buffer) < want {
			buffer = make([]byte, 0, want)
		}
	}
	b.buffer = buffer
	b.Reset()
	return out
}

// CurrentSizeEstimate is the size of the block when finished now, in bytes.
func (b *BlockBuilder) CurrentSizeEstimate() int {
	if b.hashIndex.Valid() {
		return b.estimate + b.hashIndex.EstimateSize()
	}
	return b.estimate
}

// EstimateSizeAfterKV is about the size with one entry more. It takes the whole
// key, and half of a value that may be delta-encoded.
func (b *BlockBuilder) EstimateSizeAfterKV(key, value []byte) int {
	n := b.CurrentSizeEstimate() + len(key) - b.stripTS
	restart := b.counter >= b.interval
	if !b.valueDelta || restart {
		n += len(value) + util.VarintLength(uint64(len(value)))
	} else {
		n += len(value) / 2
	}
	if restart {
		n += 4
	}
	if b.separated && (b.counter == 0 || restart) {
		n += util.VarintLength(uint64(len(b.values)))
	}
	return n + 4 + util.VarintLength(uint64(len(key)))
}

// Empty tells whether nothing was added since the last Reset.
func (b *BlockBuilder) Empty() bool { return len(b.buffer) == 0 }

// IsUniform tells whether the finished block was marked uniform.
func (b *BlockBuilder) IsUniform() bool { return b.isUniform }

// Add adds an entry. Where index values are delta-encoded, deltaValue is the
// value's form after a key with shared bytes. Not to be mixed with
// AddWithLastKey between Resets.
func (b *BlockBuilder) Add(key, value, deltaValue []byte, skipDeltaEncoding bool) {
	if invariants.Enabled {
		b.addedBy(withoutLastKey)
	}
	b.add(key, value, b.lastKey, deltaValue, skipDeltaEncoding)
	if b.delta {
		b.lastKey = append(b.lastKey[:0], key...)
	}
}

// AddWithLastKey is Add for callers that know the key before; lastKey is
// ignored for a block's first entry.
func (b *BlockBuilder) AddWithLastKey(key, value, lastKey, deltaValue []byte, skipDeltaEncoding bool) {
	if invariants.Enabled {
		b.addedBy(withLastKey)
	}
	if len(b.buffer) == 0 {
		lastKey = nil
	}
	b.add(key, value, lastKey, deltaValue, skipDeltaEncoding)
}

func (b *BlockBuilder) addedBy(a addition) {
	if b.finished || b.form != noAddition && b.form != a {
		panic("block: Add and AddWithLastKey are mixed, or an entry is added to a finished block")
	}
	b.form = a
}

func (b *BlockBuilder) add(key, value, lastKey, deltaValue []byte, skipDelta bool) {
	userKeyOf := key
	if b.stripTS > 0 {
		b.strippedKey = b.strip(b.strippedKey[:0], key)
		key = b.strippedKey
		if len(lastKey) > 0 {
			b.strippedLast = b.strip(b.strippedLast[:0], lastKey)
			lastKey = b.strippedLast
		}
	}
	before, valuesBefore := len(b.buffer), len(b.values)
	shared := 0
	if b.counter >= b.interval {
		b.restarts = append(b.restarts, uint32(before))
		b.estimate += 4
		b.counter = 0
	} else if b.delta && !skipDelta {
		shared = differenceOffset(key, lastKey)
	}
	nonShared := len(key) - shared
	buf := b.buffer
	if !b.valueDelta && uint(shared|nonShared|len(value)) < 0x80 {
		buf = append(buf, byte(shared), byte(nonShared), byte(len(value)))
	} else {
		buf = util.AppendVarint32(util.AppendVarint32(buf, uint32(shared)), uint32(nonShared))
		if !b.valueDelta {
			buf = util.AppendVarint32(buf, uint32(len(value)))
		}
	}
	if b.separated && b.counter == 0 {
		buf = util.AppendVarint32(buf, uint32(valuesBefore))
	}
	buf = append(buf, key[shared:]...)
	if shared != 0 && b.valueDelta {
		value = deltaValue
	}
	if b.separated {
		b.values = append(b.values, value...)
	} else {
		buf = append(buf, value...)
	}
	b.buffer = buf
	if b.hashIndex.Valid() {
		b.hashIndex.Add(dbformat.ExtractUserKey(userKeyOf), len(b.restarts)-1)
	}
	b.counter++
	b.estimate += len(buf) - before + len(b.values) - valuesBefore
}

func (b *BlockBuilder) strip(dst, key []byte) []byte {
	if b.isUserKey {
		return append(dst, key[:len(key)-b.stripTS]...)
	}
	return dbformat.StripTimestampFromInternalKey(dst, key, b.stripTS)
}

// Finish ends the block and returns it; the slice is valid until Reset.
func (b *BlockBuilder) Finish() []byte {
	b.isUniform = b.scanForUniformity()
	footer := DataBlockFooter{NumRestarts: uint32(len(b.restarts)), IsUniform: b.isUniform}
	if b.separated {
		footer.SeparatedKV, footer.ValuesSectionOffset = true, uint32(len(b.buffer))
		b.buffer = append(b.buffer, b.values...)
	}
	for _, r := range b.restarts {
		b.buffer = binary.LittleEndian.AppendUint32(b.buffer, r)
	}
	if b.hashIndex.Valid() && b.CurrentSizeEstimate() <= MaxBlockSizeSupportedByHashIndex {
		b.buffer = b.hashIndex.Finish(b.buffer)
		footer.IndexType = rocksdb.DataBlockBinaryAndHash
	}
	b.buffer = footer.AppendTo(b.buffer)
	b.finished = true
	return b.buffer
}

func (b *BlockBuilder) restartKey(i int) []byte {
	var h entryHeader
	at := b.buffer[b.restarts[i]:]
	n := decodeHeader(at, &h, b.valueDelta, b.separated)
	return at[n : n+int(h.nonShared)]
}

// scanForUniformity tells whether the gaps between restart keys vary little:
// whether their coefficient of variation is below the threshold.
func (b *BlockBuilder) scanForUniformity() bool {
	n := len(b.restarts)
	if b.uniformCV < 0 || n < 3 {
		return false
	}
	for i := range b.restarts {
		if !b.isUserKey && len(b.restartKey(i)) < numInternalBytes {
			return false
		}
	}
	prefix := differenceOffset(b.restartKey(0), b.restartKey(n-1))
	// Welford's method for mean and variance.
	var mean, m2 float64
	prev := readBe64FromKey(b.restartKey(0), b.isUserKey, prefix)
	for i := 1; i < n; i++ {
		v := readBe64FromKey(b.restartKey(i), b.isUserKey, prefix)
		gap := float64(v - prev)
		d := gap - mean
		mean += d / float64(i)
		m2 += d * (gap - mean)
		prev = v
	}
	if mean <= 0 {
		return false
	}
	cv := math.Sqrt(m2/float64(n-1)) / mean
	monitoring.RecordInHistogram(b.statistics, rocksdb.HistBlockKeyDistributionCV, uint64(cv*10000))
	return cv < b.uniformCV
}
