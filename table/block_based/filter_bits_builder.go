// Port of table/block_based/filter_policy.cc: the builders. Differs: for
// optimize_filters_for_memory the size an allocation would take is that of
// glibc, computed, so that files come out as upstream's on Linux.

package blockbased

import (
	"math"
	"sync/atomic"

	"github.com/rocksdb-go/rocksdb/cache"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/logging"
	"github.com/rocksdb-go/rocksdb/table/format"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
	"github.com/rocksdb-go/rocksdb/util"
)

// postVerifier is a builder that can check the filter it made.
type postVerifier interface {
	// MaybePostVerify looks all keys up in the finished filter, where that was
	// asked for, and forgets them.
	MaybePostVerify(filter []byte) error
}

var (
	finishAlwaysFalse = []byte{}
	finishAlwaysTrue  = []byte{0, 0, 0, 0, 0, 0}
)

// hashBucketSize is how many hashes are charged to the cache at a time.
const hashBucketSize = 256 << 10 / 8

// filterReservation charges a builder's memory to the block cache, where that
// is asked for.
func filterReservation(ctx *rocksdb.FilterBuildingContext) *cache.CacheReservationManager {
	o := ctx.TableOptions
	if o == nil || o.BlockCache == nil {
		return nil
	}
	charged := o.CacheUsageOptions.Options.Charged
	if over, ok := o.CacheUsageOptions.OptionsOverrides[rocksdb.CacheEntryRoleFilterConstruction]; ok {
		charged = over.Charged
	}
	if charged != rocksdb.CacheEntryRoleEnabled {
		return nil
	}
	return cache.NewCacheReservationManager(o.BlockCache, rocksdb.CacheEntryRoleFilterConstruction, false)
}

// xxph3Builder collects 64-bit hashes, and is the base of the two newer kinds.
type xxph3Builder struct {
	entries     []uint64
	count       atomic.Int64 // of entries, for readers on other goroutines
	prevAlt     uint64
	hasPrevAlt  bool
	detect      bool
	xorChecksum uint64
	rounding    *atomic.Int64 // nil: no rounding
	reservation *cache.CacheReservationManager
	reserved    []*cache.CacheReservationHandle
	final       []*cache.CacheReservationHandle
	// tamper changes entries before they are used; for tests.
	tamper func([]uint64)
}

func (b *xxph3Builder) AddKey(key []byte) {
	h := util.GetSliceHash64(key)
	if n := len(b.entries); n == 0 || b.entries[n-1] != h {
		b.addHash(h)
	}
}

// AddKeyAndAlt adds the alternative first, so that the last entry is always the
// key before.
func (b *xxph3Builder) AddKeyAndAlt(key, alt []byte) {
	kh, ah := util.GetSliceHash64(key), util.GetSliceHash64(alt)
	n := len(b.entries)
	hasPrev := n > 0
	var prevKey uint64
	if hasPrev {
		prevKey = b.entries[n-1]
	}
	prevAlt, hadAlt := b.prevAlt, b.hasPrevAlt
	if !(hadAlt && ah == prevAlt) && ah != kh && !(hasPrev && ah == prevKey) {
		b.addHash(ah)
	}
	b.prevAlt, b.hasPrevAlt = ah, true
	if !(hasPrev && kh == prevKey) && !(hadAlt && kh == prevAlt) {
		b.addHash(kh)
	}
}

func (b *xxph3Builder) EstimateEntriesAdded() int { return int(b.count.Load()) }

func (b *xxph3Builder) addHash(h uint64) {
	if b.detect {
		b.xorChecksum ^= h
	}
	b.entries = append(b.entries, h)
	b.count.Store(int64(len(b.entries)))
	if b.reservation != nil && len(b.entries)%hashBucketSize == hashBucketSize/2 {
		r, _ := b.reservation.MakeCacheReservation(hashBucketSize * 8) // a full cache does not stop us
		b.reserved = append(b.reserved, r)
	}
}

func (b *xxph3Builder) resetEntries() {
	b.entries, b.xorChecksum, b.hasPrevAlt = b.entries[:0], 0, false
	b.count.Store(0)
	for _, r := range b.reserved {
		r.Release()
	}
	b.reserved = b.reserved[:0]
}

// moveEntriesTo hands all entries to another builder.
func (b *xxph3Builder) moveEntriesTo(o *xxph3Builder) {
	b.entries, o.entries = o.entries, b.entries
	b.reserved, o.reserved = o.reserved, b.reserved
	b.xorChecksum, o.xorChecksum = o.xorChecksum, b.xorChecksum
	b.prevAlt, o.prevAlt = o.prevAlt, b.prevAlt
	b.hasPrevAlt, o.hasPrevAlt = o.hasPrevAlt, b.hasPrevAlt
	b.count.Store(int64(len(b.entries)))
	o.count.Store(int64(len(o.entries)))
}

func (b *xxph3Builder) verifyEntries() error {
	if b.tamper != nil {
		b.tamper(b.entries)
	}
	syncpoint.ProcessArg("XXPH3FilterBitsBuilder::Finish::TamperHashEntries", b.entries)
	if !b.detect {
		return nil
	}
	sum := uint64(0)
	for _, h := range b.entries {
		sum ^= h
	}
	if sum != b.xorChecksum {
		b.resetEntries()
		return rocksdb.Corruption("Filter's hash entries checksum mismatched")
	}
	return nil
}

func (b *xxph3Builder) MaybePostVerify(filter []byte) error {
	if !b.detect {
		return nil
	}
	r := NewBuiltinFilterBitsReader(filter)
	var err error
	for _, h := range b.entries {
		if !r.HashMayMatch(h) {
			err = rocksdb.Corruption("Corrupted filter content")
			break
		}
	}
	b.resetEntries()
	return err
}

func (b *xxph3Builder) chargeFinal(n int) {
	if b.reservation != nil {
		r, _ := b.reservation.MakeCacheReservation(n) // a full cache does not stop us
		b.final = append(b.final, r)
	}
}

// Release gives the cache reservations back.
func (b *xxph3Builder) Release() {
	b.resetEntries()
	for _, r := range b.final {
		r.Release()
	}
	b.final = nil
	if b.reservation != nil {
		b.reservation.Close()
		b.reservation = nil
	}
}

// roundSize chooses the filter's size. With a rounding balance it is one that
// fills its allocation, smaller than asked as long as earlier filters were more
// accurate than asked.
func (b *xxph3Builder) roundSize(target, numEntries int, fpRate func(n, size int) float64, roundDown func(int) int) int {
	if b.rounding == nil {
		return target
	}
	size := target
	targetRate := fpRate(numEntries, target)
	rate := targetRate
	if balance := b.rounding.Load(); balance < 0 {
		allowed := -float64(balance)/(1<<32) + targetRate
		n := uint64(target - filterMetadataLen)
		for _, rough := range [...]uint64{3 * n / 4, 13 * n / 16, 7 * n / 8, 15 * n / 16} {
			maybe := roundDown(int(rough) + filterMetadataLen)
			if r := fpRate(numEntries, maybe); r <= allowed {
				size, rate = maybe, r
				break
			}
		}
	}
	// In the cache a filter is followed by its block's trailer.
	const trailer = 5
	requested := size + trailer
	if usable := format.MallocUsableSize(requested); usable-usable/4 <= requested && usable > requested {
		size = roundDown(usable - trailer)
		rate = fpRate(numEntries, size)
	}
	b.rounding.Add(int64((rate - targetRate) * (1 << 32)))
	return size
}

// maxBloomLen is the most that 32-bit line offsets reach.
const maxBloomLen = 0xffffffc0

// fastLocalBloomBitsBuilder makes the Bloom filter of format_version 5.
type fastLocalBloomBitsBuilder struct {
	xxph3Builder
	millibitsPerKey int
}

func newFastLocalBloomBitsBuilder(millibits int, rounding *atomic.Int64, res *cache.CacheReservationManager, detect bool) *fastLocalBloomBitsBuilder {
	return &fastLocalBloomBitsBuilder{xxph3Builder{rounding: rounding, reservation: res, detect: detect}, millibits}
}

func (b *fastLocalBloomBitsBuilder) Finish() ([]byte, error) {
	n := len(b.entries)
	if n == 0 {
		return finishAlwaysFalse, nil
	}
	size := b.roundSize(b.CalculateSpace(n), n, b.EstimatedFpRate, b.roundDown)
	out := make([]byte, size)
	b.chargeFinal(size)
	probes := b.numProbes(n, size)
	data := out[:size-filterMetadataLen]
	if err := b.verifyEntries(); err != nil {
		return finishAlwaysTrue, err
	}
	if len(data) > 0 {
		addAllBloom(b.entries, data, probes)
	}
	if !b.detect {
		b.resetEntries()
	}
	out[len(data)] = 0xff
	out[len(data)+2] = byte(probes)
	syncpoint.ProcessArg("XXPH3FilterBitsBuilder::Finish::TamperFilter", data)
	return out, nil
}

// addAllBloom sets the bits of all hashes, eight ahead of the memory accesses.
func addAllBloom(entries []uint64, data []byte, probes int) {
	const ahead = 8
	var hashes, offsets [ahead]uint32
	for i, h := range entries {
		at := i % ahead
		if i >= ahead {
			util.FastLocalBloomAddHashPrepared(hashes[at], probes, data[offsets[at]:])
		}
		hashes[at], offsets[at] = uint32(h>>32), util.FastLocalBloomPrepareHash(uint32(h), len(data))
	}
	for i := 0; i < min(ahead, len(entries)); i++ {
		util.FastLocalBloomAddHashPrepared(hashes[i], probes, data[offsets[i]:])
	}
}

func (b *fastLocalBloomBitsBuilder) ApproximateNumEntries(bytes int) int {
	n := 0
	if bytes >= filterMetadataLen {
		n = b.roundDown(bytes) - filterMetadataLen
	}
	return int(8000 * uint64(n) / uint64(b.millibitsPerKey))
}

func (b *fastLocalBloomBitsBuilder) CalculateSpace(n int) int {
	raw := min((uint64(n)*uint64(b.millibitsPerKey)+7999)/8000, maxBloomLen)
	return int((raw+63)&^63) + filterMetadataLen
}

func (b *fastLocalBloomBitsBuilder) EstimatedFpRate(n, size int) float64 {
	if size <= filterMetadataLen {
		if n > 0 {
			return 1
		}
		return 0
	}
	return util.FastLocalBloomEstimatedFpRate(uint64(n), uint64(size-filterMetadataLen), b.numProbes(n, size), 64)
}

func (b *fastLocalBloomBitsBuilder) roundDown(size int) int {
	return min(size-filterMetadataLen, maxBloomLen)&^63 + filterMetadataLen
}

func (b *fastLocalBloomBitsBuilder) numProbes(n, size int) int {
	millibits := b.millibitsPerKey
	if b.rounding != nil {
		millibits = int(uint64(size-filterMetadataLen) * 8000 / uint64(max(n, 1)))
	}
	return util.FastLocalBloomChooseNumProbes(millibits)
}

// maxRibbonEntries keeps sizes within 32 bits.
const maxRibbonEntries = 950000000

// standard128RibbonBitsBuilder makes Ribbon filters, and Bloom filters where
// these are smaller or a Ribbon filter cannot be made.
type standard128RibbonBitsBuilder struct {
	xxph3Builder
	oneIn    float64
	infoLog  rocksdb.Logger
	fallback *fastLocalBloomBitsBuilder
}

func newStandard128RibbonBitsBuilder(oneIn float64, millibits int, rounding *atomic.Int64, res *cache.CacheReservationManager, detect bool, log rocksdb.Logger) *standard128RibbonBitsBuilder {
	return &standard128RibbonBitsBuilder{
		xxph3Builder{rounding: rounding, reservation: res, detect: detect}, oneIn, log,
		newFastLocalBloomBitsBuilder(millibits, rounding, res, detect),
	}
}

func (b *standard128RibbonBitsBuilder) bloom() ([]byte, error) {
	b.moveEntriesTo(&b.fallback.xxph3Builder)
	return b.fallback.Finish()
}

func (b *standard128RibbonBitsBuilder) Finish() ([]byte, error) {
	n := len(b.entries)
	if n > maxRibbonEntries {
		logging.Warn(b.infoLog, "Too many keys for Ribbon filter: %d", n)
		return b.bloom()
	}
	if n == 0 {
		return finishAlwaysFalse, nil
	}
	size, slots := b.spaceAndSlots(n)
	if slots == 0 {
		return b.bloom()
	}
	if b.reservation != nil {
		r, err := b.reservation.MakeCacheReservation(int(util.RibbonBandingEstimateMemoryUsage(slots)))
		defer r.Release() // there is a part of it even on an error
		if err != nil {
			logging.Warn(b.infoLog, "Cache charging for Ribbon filter banding failed due to cache full")
			return b.bloom()
		}
	}
	entropy := uint32(b.entries[0])
	if b.tamper != nil {
		b.tamper(b.entries)
		b.tamper = nil
	}
	var banding util.RibbonBanding
	if !banding.ResetAndFindSeedToSolve(slots, b.entries, entropy&255, 255) {
		logging.Warn(b.infoLog, "Too many re-seeds (256) for Ribbon filter, %d / %d", n, slots)
		return b.bloom()
	}
	if err := b.verifyEntries(); err != nil {
		logging.Warn(b.infoLog, "Verify hash entries checksum error: %v", err)
		return finishAlwaysTrue, err
	}
	if !b.detect {
		b.resetEntries()
	}
	size = b.roundSize(size, n, b.EstimatedFpRate, b.roundDown)
	out := make([]byte, size)
	b.chargeFinal(size)
	solution := util.NewRibbonSolution(out[:size-filterMetadataLen])
	solution.BackSubstFrom(&banding)
	blocks := solution.GetNumBlocks()
	meta := out[size-filterMetadataLen:]
	meta[0] = 0xfe
	meta[1] = byte(banding.GetOrdinalSeed())
	meta[2], meta[3], meta[4] = byte(blocks), byte(blocks>>8), byte(blocks>>16)
	syncpoint.ProcessArg("XXPH3FilterBitsBuilder::Finish::TamperFilter", out[:size-filterMetadataLen])
	return out, nil
}

func ribbonSlots(n int) uint32 {
	return util.RibbonRoundUpNumSlots(util.RibbonGetNumSlots(uint32(n), util.RibbonOneIn20))
}

// spaceAndSlots gives the size and the number of slots; no slots mean a Bloom
// filter.
func (b *standard128RibbonBitsBuilder) spaceAndSlots(n int) (size int, slots uint32) {
	if n > maxRibbonEntries {
		return b.fallback.CalculateSpace(n), 0
	}
	entropy := uint32(0)
	if len(b.entries) > 0 {
		entropy = uint32(b.entries[0] >> 32)
	}
	slots = ribbonSlots(n)
	size = int(util.RibbonGetBytesForOneInFpRate(slots, b.oneIn, entropy)) + filterMetadataLen
	if slots < 1024 {
		if bloom := b.fallback.CalculateSpace(n); bloom < size {
			return bloom, 0
		}
	}
	return size, slots
}

func (b *standard128RibbonBitsBuilder) CalculateSpace(n int) int {
	if n == 0 {
		return 0
	}
	size, _ := b.spaceAndSlots(n)
	return size
}

func (b *standard128RibbonBitsBuilder) ApproximateNumEntries(bytes int) int {
	length := b.roundDown(max(bytes, filterMetadataLen)) - filterMetadataLen
	if !(b.oneIn > 1) {
		return maxRibbonEntries
	}
	bitsPerSlot := 32.0
	if b.oneIn < 1+math.MaxUint32 {
		// Blocks have b or b+1 columns; the mix is slightly worse than ideal.
		upper := 1 + util.FloorLog2(uint32(b.oneIn))
		upperRate := math.Pow(2, -float64(upper))
		bitsPerSlot = float64(upper) - (1/b.oneIn-upperRate)/upperRate
	}
	maxSlots := float64(length) * 8 / bitsPerSlot
	if !(maxSlots < float64(util.RibbonGetNumSlots(maxRibbonEntries, util.RibbonOneIn20))) {
		return maxRibbonEntries
	}
	slots := util.RibbonRoundUpNumSlots(uint32(maxSlots))
	for i := 0; slots > 0 && i < 3; i++ {
		if util.RibbonGetBytesForOneInFpRate(slots, b.oneIn, 0) <= uint64(length) {
			break
		}
		slots = util.RibbonRoundDownNumSlots(slots - 1)
	}
	n := int(util.RibbonGetNumToAdd(slots, util.RibbonOneIn20))
	if slots < 1024 {
		return max(n, b.fallback.ApproximateNumEntries(bytes))
	}
	return min(n, maxRibbonEntries)
}

func (b *standard128RibbonBitsBuilder) EstimatedFpRate(n, size int) float64 {
	if size <= filterMetadataLen {
		if n > 0 {
			return 1
		}
		return 0
	}
	if n > maxRibbonEntries {
		return b.fallback.EstimatedFpRate(n, size)
	}
	s := util.NewRibbonSolutionForLength(uint64(size))
	s.ConfigureForNumSlots(ribbonSlots(n))
	return s.ExpectedFpRate()
}

func (b *standard128RibbonBitsBuilder) roundDown(size int) int {
	return (size-filterMetadataLen)&^15 + filterMetadataLen
}

func (b *standard128RibbonBitsBuilder) MaybePostVerify(filter []byte) error {
	if b.fallback.EstimateEntriesAdded() > 0 {
		return b.fallback.MaybePostVerify(filter)
	}
	return b.xxph3Builder.MaybePostVerify(filter)
}

func (b *standard128RibbonBitsBuilder) Release() {
	b.fallback.reservation = nil // the same as b's
	b.fallback.Release()
	b.xxph3Builder.Release()
}

// legacyBloomBitsBuilder makes the Bloom filter of the formats before 5.
type legacyBloomBitsBuilder struct {
	bitsPerKey, probes int
	entries            []uint32
	prevAlt            int64 // -1: none
	infoLog            rocksdb.Logger
}

func newLegacyBloomBitsBuilder(bitsPerKey int, log rocksdb.Logger) *legacyBloomBitsBuilder {
	return &legacyBloomBitsBuilder{
		bitsPerKey: bitsPerKey, probes: util.LegacyNoLocalityBloomChooseNumProbes(bitsPerKey),
		prevAlt: -1, infoLog: log,
	}
}

func (b *legacyBloomBitsBuilder) AddKey(key []byte) {
	h := util.BloomHash(key)
	if n := len(b.entries); n == 0 || b.entries[n-1] != h {
		b.entries = append(b.entries, h)
	}
}

func (b *legacyBloomBitsBuilder) AddKeyAndAlt(key, alt []byte) {
	kh, ah := int64(util.BloomHash(key)), int64(util.BloomHash(alt))
	prevKey, prevAlt := int64(-1), b.prevAlt
	if n := len(b.entries); n > 0 {
		prevKey = int64(b.entries[n-1])
	}
	if ah != prevAlt && ah != kh && ah != prevKey {
		b.entries = append(b.entries, uint32(ah))
	}
	b.prevAlt = ah
	if kh != prevKey && kh != prevAlt {
		b.entries = append(b.entries, uint32(kh))
	}
}

func (b *legacyBloomBitsBuilder) EstimateEntriesAdded() int { return len(b.entries) }

func (b *legacyBloomBitsBuilder) Finish() ([]byte, error) {
	n := len(b.entries)
	if n == 0 {
		return finishAlwaysFalse, nil
	}
	lines := b.lines(n)
	size := int(lines) * legacyCacheLineSize
	out := make([]byte, size+filterMetadataLen)
	for _, h := range b.entries {
		util.LegacyLocalityBloomAddHash(h, lines, b.probes, out[:size], legacyLog2CacheLineSize, false)
	}
	b.warnExcessive(n, size)
	out[size] = byte(b.probes)
	util.EncodeFixed32(out[size+1:], lines)
	b.entries, b.prevAlt = b.entries[:0], -1
	return out, nil
}

func (b *legacyBloomBitsBuilder) warnExcessive(n, size int) {
	if n < 3000000 {
		return
	}
	rate := util.LegacyLocalityBloomEstimatedFpRate(uint64(n), uint64(size), b.probes)
	normal := util.LegacyLocalityBloomEstimatedFpRate(1<<16, uint64(b.bitsPerKey)<<16/8, b.probes)
	if rate >= 1.5*normal {
		logging.Warn(b.infoLog, "Using legacy SST/BBT Bloom filter with excessive key count (%.1fM @ %dbpk), "+
			"causing estimated %.1fx higher filter FP rate. Consider using new Bloom with format_version>=5, "+
			"smaller SST file size, or partitioned filters.", float64(n)/1e6, b.bitsPerKey, rate/normal)
	}
}

// lines is the number of cache lines, odd so that more bits of the hash count.
func (b *legacyBloomBitsBuilder) lines(n int) uint32 {
	bits := min(uint64(n)*uint64(b.bitsPerKey), 0xffff0000)
	const lineBits = legacyCacheLineSize * 8
	return (uint32(bits)+lineBits-1)/lineBits | 1
}

func (b *legacyBloomBitsBuilder) CalculateSpace(n int) int {
	if n == 0 {
		return filterMetadataLen
	}
	return int(b.lines(n))*legacyCacheLineSize + filterMetadataLen
}

func (b *legacyBloomBitsBuilder) ApproximateNumEntries(bytes int) int {
	high := uint32(min(uint64(bytes)*8, 0xffff0000))/uint32(b.bitsPerKey) + 1
	// The size grows with the number of keys.
	low, n := 1, int(high)
	if b.CalculateSpace(n) <= bytes {
		return n
	}
	for low <= n {
		mid := (low + n) / 2
		if b.CalculateSpace(mid) <= bytes {
			low = mid + 1
		} else {
			n = mid - 1
		}
	}
	return n
}

func (b *legacyBloomBitsBuilder) EstimatedFpRate(n, size int) float64 {
	if size <= filterMetadataLen {
		if n > 0 {
			return 1
		}
		return 0
	}
	return util.LegacyLocalityBloomEstimatedFpRate(uint64(n), uint64(size-filterMetadataLen), b.probes)
}
