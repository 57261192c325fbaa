// Port of table/block_based/filter_policy.cc and filter_policy_internal.h: the
// policies and the readers. The builders are in filter_bits_builder.go.

package blockbased

import (
	"math"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/logging"
	"github.com/rocksdb-go/rocksdb/util"
)

// A finished filter ends in 5 bytes of metadata, of which the first tells the
// kind:
//
//	1..127   legacy Bloom: number of probes, then a fixed32 number of cache
//	         lines
//	0        matches everything
//	-1       Bloom: implementation (0), then 3 bits of block size (0: 64 bytes)
//	         and 5 bits of probes, then 2 zeros
//	-2       Ribbon: seed, then number of blocks in 24 bits, little-endian
//
// Anything else is of the future and matches everything. A filter of 5 bytes or
// fewer has no keys.
const filterMetadataLen = 5

// legacyCacheLineSize is what files are written with on x86-64.
const (
	legacyCacheLineSize     = 64
	legacyLog2CacheLineSize = 6
)

// Names of the policies.
const (
	BuiltinFilterCompatibilityName = "rocksdb.BuiltinBloomFilter"
	BloomFilterClassName           = "bloomfilter"
	BloomFilterNickName            = "rocksdb.BloomFilter"
	RibbonFilterClassName          = "ribbonfilter"
	RibbonFilterNickName           = "rocksdb.RibbonFilter"

	LegacyBloomFilterClassName       = "rocksdb.internal.LegacyBloomFilter"
	FastLocalBloomFilterClassName    = "rocksdb.internal.FastLocalBloomFilter"
	Standard128RibbonFilterClassName = "rocksdb.internal.Standard128RibbonFilter"
)

// BuiltinFilterPolicy reads filters of all the built-in kinds, and on its own
// makes none.
type BuiltinFilterPolicy struct{}

// Name is that of the filters' format.
func (BuiltinFilterPolicy) Name() string { return BuiltinFilterCompatibilityName }

// CompatibilityName is what files name.
func (BuiltinFilterPolicy) CompatibilityName() string { return BuiltinFilterCompatibilityName }

// ID is the name.
func (BuiltinFilterPolicy) ID() string { return BuiltinFilterCompatibilityName }

// GetBuilderWithContext gives none.
func (BuiltinFilterPolicy) GetBuilderWithContext(*rocksdb.FilterBuildingContext) rocksdb.FilterBitsBuilder {
	return nil
}

// GetFilterBitsReader reads contents by their metadata.
func (BuiltinFilterPolicy) GetFilterBitsReader(contents []byte) rocksdb.FilterBitsReader {
	return NewBuiltinFilterBitsReader(contents)
}

// BloomLikeFilterPolicy is what the policies that make filters share.
type BloomLikeFilterPolicy struct {
	BuiltinFilterPolicy
	className          string
	millibitsPerKey    int
	wholeBitsPerKey    int
	desiredOneInFpRate float64
	warned             atomic.Bool
	// The sum, in units of 2^-32, of how much worse (positive) or better the
	// false positive rates of filters rounded to allocations were than asked.
	aggregateRoundingBalance atomic.Int64
}

func newBloomLike(className string, bitsPerKey float64) *BloomLikeFilterPolicy {
	switch {
	case bitsPerKey < 0.5:
		bitsPerKey = 0 // no filter
	case bitsPerKey < 1:
		bitsPerKey = 1
	case !(bitsPerKey < 100): // NaN too
		bitsPerKey = 100
	}
	p := &BloomLikeFilterPolicy{className: className}
	p.millibitsPerKey = int(bitsPerKey*1000 + 0.500001)
	p.desiredOneInFpRate = 1 / util.BloomMathCacheLocalFpRate(bitsPerKey,
		util.FastLocalBloomChooseNumProbes(p.millibitsPerKey), 512)
	p.wholeBitsPerKey = (p.millibitsPerKey + 500) / 1000
	return p
}

// Name is the class name.
func (p *BloomLikeFilterPolicy) Name() string { return p.className }

// ID is the class name and the bits per key, in up to three decimals.
func (p *BloomLikeFilterPolicy) ID() string {
	s := p.className + ":" + strconv.Itoa(p.millibitsPerKey/1000)
	if frac := p.millibitsPerKey % 1000; frac > 0 {
		s += "." + strings.TrimRight(strconv.Itoa(1000 + frac)[1:], "0")
	}
	return s
}

// GetMillibitsPerKey is in thousandths of a bit; 0 makes no filters.
func (p *BloomLikeFilterPolicy) GetMillibitsPerKey() int { return p.millibitsPerKey }

// GetWholeBitsPerKey is the number of bits rounded.
func (p *BloomLikeFilterPolicy) GetWholeBitsPerKey() int { return p.wholeBitsPerKey }

func (p *BloomLikeFilterPolicy) rounding(ctx *rocksdb.FilterBuildingContext) *atomic.Int64 {
	if ctx.TableOptions != nil && ctx.TableOptions.OptimizeFiltersForMemory {
		return &p.aggregateRoundingBalance
	}
	return nil
}

func (p *BloomLikeFilterPolicy) fastLocalBloomBuilder(ctx *rocksdb.FilterBuildingContext) rocksdb.FilterBitsBuilder {
	return newFastLocalBloomBitsBuilder(p.millibitsPerKey, p.rounding(ctx), filterReservation(ctx), detectCorruption(ctx))
}

func (p *BloomLikeFilterPolicy) ribbonBuilder(ctx *rocksdb.FilterBuildingContext) rocksdb.FilterBitsBuilder {
	return newStandard128RibbonBitsBuilder(p.desiredOneInFpRate, p.millibitsPerKey, p.rounding(ctx),
		filterReservation(ctx), detectCorruption(ctx), ctx.InfoLog)
}

func (p *BloomLikeFilterPolicy) legacyBloomBuilder(ctx *rocksdb.FilterBuildingContext) rocksdb.FilterBitsBuilder {
	if p.wholeBitsPerKey >= 14 && ctx.InfoLog != nil && !p.warned.Swap(true) {
		how := "much"
		if p.wholeBitsPerKey >= 20 {
			how = "very much"
		}
		logging.Warn(ctx.InfoLog, "Using legacy Bloom filter with high (%d) bits/key: with format_version>=5 it "+
			"takes %s less space or is more accurate.", p.wholeBitsPerKey, how)
	}
	return newLegacyBloomBitsBuilder(p.wholeBitsPerKey, ctx.InfoLog)
}

func detectCorruption(ctx *rocksdb.FilterBuildingContext) bool {
	return ctx.TableOptions != nil && ctx.TableOptions.DetectFilterConstructCorruption
}

// BloomFilterPolicy makes Bloom filters: the legacy kind for files of
// format_version below 5.
type BloomFilterPolicy struct{ *BloomLikeFilterPolicy }

// NewBloomFilterPolicy makes filters of so many bits per key; below 0.5 none.
func NewBloomFilterPolicy(bitsPerKey float64) *BloomFilterPolicy {
	return &BloomFilterPolicy{newBloomLike(BloomFilterClassName, bitsPerKey)}
}

// ID ends in ":false", which versions before 7 need.
func (p *BloomFilterPolicy) ID() string { return p.BloomLikeFilterPolicy.ID() + ":false" }

// GetBuilderWithContext gives a builder, nil for no bits.
func (p *BloomFilterPolicy) GetBuilderWithContext(ctx *rocksdb.FilterBuildingContext) rocksdb.FilterBitsBuilder {
	switch {
	case p.millibitsPerKey == 0:
		return nil
	case ctx.TableOptions != nil && ctx.TableOptions.FormatVersion < 5:
		return p.legacyBloomBuilder(ctx)
	}
	return p.fastLocalBloomBuilder(ctx)
}

// RibbonFilterPolicy makes Ribbon filters, which are about 30% smaller than
// Bloom filters and slower to build; on the levels before BloomBeforeLevel it
// makes Bloom filters.
type RibbonFilterPolicy struct {
	*BloomLikeFilterPolicy
	bloomBeforeLevel atomic.Int64
}

// NewRibbonFilterPolicy makes filters as accurate as Bloom filters of so many
// bits per key. Flushes count as level -1; math.MaxInt32 makes Bloom filters
// always.
func NewRibbonFilterPolicy(bloomEquivalentBitsPerKey float64, bloomBeforeLevel int) *RibbonFilterPolicy {
	p := &RibbonFilterPolicy{BloomLikeFilterPolicy: newBloomLike(RibbonFilterClassName, bloomEquivalentBitsPerKey)}
	p.bloomBeforeLevel.Store(int64(bloomBeforeLevel))
	return p
}

// BloomBeforeLevel is the first level with Ribbon filters.
func (p *RibbonFilterPolicy) BloomBeforeLevel() int { return int(p.bloomBeforeLevel.Load()) }

// SetBloomBeforeLevel changes it for new files.
func (p *RibbonFilterPolicy) SetBloomBeforeLevel(level int) { p.bloomBeforeLevel.Store(int64(level)) }

// ID ends in the level.
func (p *RibbonFilterPolicy) ID() string {
	return p.BloomLikeFilterPolicy.ID() + ":" + strconv.Itoa(p.BloomBeforeLevel())
}

// GetBuilderWithContext gives a builder, nil for no bits.
func (p *RibbonFilterPolicy) GetBuilderWithContext(ctx *rocksdb.FilterBuildingContext) rocksdb.FilterBitsBuilder {
	if p.millibitsPerKey == 0 {
		return nil
	}
	// A file of unknown level counts as one of the last.
	level := math.MaxInt32 - 1
	before := p.BloomBeforeLevel()
	if before < math.MaxInt32 && (ctx.CompactionStyle == rocksdb.CompactionStyleLevel ||
		ctx.CompactionStyle == rocksdb.CompactionStyleUniversal) {
		switch {
		case ctx.Reason == rocksdb.TableFileCreationReasonFlush:
			level = -1
		case ctx.LevelAtCreation != -1:
			level = ctx.LevelAtCreation
		}
	}
	if level < before {
		return p.fastLocalBloomBuilder(ctx)
	}
	return p.ribbonBuilder(ctx)
}

// fixedImplPolicy makes one kind of filter whatever the format_version; for
// tests and filter_bench.
type fixedImplPolicy struct {
	*BloomLikeFilterPolicy
	build func(*BloomLikeFilterPolicy, *rocksdb.FilterBuildingContext) rocksdb.FilterBitsBuilder
}

func (p *fixedImplPolicy) GetBuilderWithContext(ctx *rocksdb.FilterBuildingContext) rocksdb.FilterBitsBuilder {
	if p.millibitsPerKey == 0 {
		return nil
	}
	return p.build(p.BloomLikeFilterPolicy, ctx)
}

// AllFixedFilterImpls names the kinds of filter that CreateBloomLikeFilterPolicy
// makes apart from the policies.
var AllFixedFilterImpls = []string{
	LegacyBloomFilterClassName, FastLocalBloomFilterClassName, Standard128RibbonFilterClassName,
}

// CreateBloomLikeFilterPolicy makes a policy by class name; nil when there is
// none of that name.
func CreateBloomLikeFilterPolicy(name string, bitsPerKey float64) rocksdb.FilterPolicy {
	fixed := func(b func(*BloomLikeFilterPolicy, *rocksdb.FilterBuildingContext) rocksdb.FilterBitsBuilder) rocksdb.FilterPolicy {
		return &fixedImplPolicy{newBloomLike(name, bitsPerKey), b}
	}
	switch name {
	case LegacyBloomFilterClassName:
		return fixed((*BloomLikeFilterPolicy).legacyBloomBuilder)
	case FastLocalBloomFilterClassName:
		return fixed((*BloomLikeFilterPolicy).fastLocalBloomBuilder)
	case Standard128RibbonFilterClassName:
		return fixed((*BloomLikeFilterPolicy).ribbonBuilder)
	case BloomFilterClassName:
		return NewBloomFilterPolicy(bitsPerKey)
	case RibbonFilterClassName:
		return NewRibbonFilterPolicy(bitsPerKey, 0)
	}
	return nil
}

// FilterPolicyFromString makes a policy of an ID: "bloomfilter:bits[:false]",
// "ribbonfilter:bits[:level]" and the other names; "" and "nullptr" give nil.
func FilterPolicyFromString(id string) (rocksdb.FilterPolicy, error) {
	switch id {
	case "", "nullptr":
		return nil, nil
	case BuiltinFilterCompatibilityName:
		return BuiltinFilterPolicy{}, nil
	}
	bad := rocksdb.NotSupported("Could not load filter policy", id)
	parts := strings.Split(id, ":")
	if len(parts) < 2 || len(parts) > 3 {
		return nil, bad
	}
	bits, err := strconv.ParseFloat(parts[1], 64)
	if err != nil {
		return nil, bad
	}
	switch parts[0] {
	case BloomFilterClassName, BloomFilterNickName:
		if len(parts) == 2 || parts[2] == "false" || parts[2] == "true" {
			return NewBloomFilterPolicy(bits), nil
		}
	case RibbonFilterClassName, RibbonFilterNickName:
		level := 0
		if len(parts) == 3 {
			if level, err = strconv.Atoi(parts[2]); err != nil {
				return nil, bad
			}
		}
		return NewRibbonFilterPolicy(bits, level), nil
	case LegacyBloomFilterClassName, FastLocalBloomFilterClassName, Standard128RibbonFilterClassName:
		if len(parts) == 2 {
			return CreateBloomLikeFilterPolicy(parts[0], bits), nil
		}
	}
	return nil, bad
}

// alwaysFilter answers the same to every key.
type alwaysFilter bool

func (a alwaysFilter) MayMatch([]byte) bool     { return bool(a) }
func (a alwaysFilter) HashMayMatch(uint64) bool { return bool(a) }
func (a alwaysFilter) MayMatchBatch(keys [][]byte, may []bool) {
	for i := range keys {
		may[i] = bool(a)
	}
}

// NewBuiltinFilterBitsReader makes a reader for a filter of any built-in kind.
// It keeps contents.
func NewBuiltinFilterBitsReader(contents []byte) rocksdb.FilterBitsReader {
	n := len(contents) - filterMetadataLen
	if n <= 0 {
		return alwaysFilter(false)
	}
	data, meta := contents[:n:n], contents[n:]
	switch kind := int8(meta[0]); {
	case kind == -1:
		return newFastLocalBloomReader(data, meta)
	case kind == -2:
		blocks := uint32(meta[2]) | uint32(meta[3])<<8 | uint32(meta[4])<<16
		// One block would have one start, which the hashing cannot do.
		if blocks < 2 || uint64(n)/16 == 0 {
			return alwaysFilter(true)
		}
		r := &ribbonReader{solution: util.NewRibbonSolution(data)}
		r.solution.ConfigureForNumBlocks(blocks)
		if uint64(r.solution.GetNumSegments())*16 > uint64(n) {
			return alwaysFilter(true)
		}
		r.hasher.SetOrdinalSeed(uint32(meta[1]))
		return r
	case kind < 1:
		return alwaysFilter(true)
	default:
		return newLegacyBloomReader(data, int(kind), util.DecodeFixed32(meta[1:]))
	}
}

func newFastLocalBloomReader(data, meta []byte) rocksdb.FilterBitsReader {
	probes := int(meta[2] & 31)
	if meta[1] != 0 || meta[2]>>5 != 0 || probes < 1 || probes > 30 || meta[3] != 0 || meta[4] != 0 ||
		len(data) < util.FastLocalBloomLineSize {
		return alwaysFilter(true)
	}
	return &fastLocalBloomReader{data, probes}
}

type fastLocalBloomReader struct {
	data   []byte
	probes int
}

func (r *fastLocalBloomReader) MayMatch(key []byte) bool {
	return r.HashMayMatch(util.GetSliceHash64(key))
}

func (r *fastLocalBloomReader) HashMayMatch(h uint64) bool {
	return util.FastLocalBloomHashMayMatch(uint32(h), uint32(h>>32), r.probes, r.data)
}

func (r *fastLocalBloomReader) MayMatchBatch(keys [][]byte, may []bool) {
	// Two passes, so that the lines are on their way when they are needed.
	const batch = 32
	for len(keys) > 0 {
		n := min(len(keys), batch)
		var hashes, offsets [batch]uint32
		for i, k := range keys[:n] {
			h := util.GetSliceHash64(k)
			hashes[i], offsets[i] = uint32(h>>32), util.FastLocalBloomPrepareHash(uint32(h), len(r.data))
		}
		for i := range keys[:n] {
			may[i] = util.FastLocalBloomHashMayMatchPrepared(hashes[i], r.probes, r.data[offsets[i]:])
		}
		keys, may = keys[n:], may[n:]
	}
}

type ribbonReader struct {
	solution *util.RibbonSolution
	hasher   util.RibbonHasher
}

func (r *ribbonReader) MayMatch(key []byte) bool { return r.HashMayMatch(util.GetSliceHash64(key)) }

func (r *ribbonReader) HashMayMatch(h uint64) bool { return r.solution.FilterQuery(h, &r.hasher) }

func (r *ribbonReader) MayMatchBatch(keys [][]byte, may []bool) {
	for i, k := range keys {
		may[i] = r.MayMatch(k)
	}
}

func newLegacyBloomReader(data []byte, probes int, lines uint32) rocksdb.FilterBitsReader {
	n := uint64(len(data))
	if lines == 0 || n%uint64(lines) != 0 {
		return alwaysFilter(true)
	}
	// The line size is that of the machine the file was written on.
	log2 := uint(0)
	for uint64(lines)<<log2 < n {
		log2++
	}
	if uint64(lines)<<log2 != n {
		return alwaysFilter(true)
	}
	return &legacyBloomReader{data, probes, lines, log2}
}

type legacyBloomReader struct {
	data   []byte
	probes int
	lines  uint32
	log2   uint
}

func (r *legacyBloomReader) MayMatch(key []byte) bool {
	return util.LegacyLocalityBloomHashMayMatch(util.BloomHash(key), r.lines, r.probes, r.data, r.log2, false)
}

// HashMayMatch is false: legacy filters have another hash.
func (r *legacyBloomReader) HashMayMatch(uint64) bool { return false }

func (r *legacyBloomReader) MayMatchBatch(keys [][]byte, may []bool) {
	for i, k := range keys {
		may[i] = r.MayMatch(k)
	}
}
