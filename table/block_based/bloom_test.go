// Port of util/bloom_test.cc: the filters of the policies. Differs: filters are
// as on machines with cache lines of 64 bytes, and the size of an allocation is
// that which the builders assume.

package blockbased

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb/cache"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/table/format"
	"github.com/rocksdb-go/rocksdb/util"
)

func bloomKey(i int) []byte { return util.AppendFixed32(nil, uint32(i)) }

func nextLength(n int) int {
	switch {
	case n < 10:
		return n + 1
	case n < 100:
		return n + 10
	case n < 1000:
		return n + 100
	}
	return n + 1000
}

// fullBloom is one filter and its policy.
type fullBloom struct {
	t      *testing.T
	kind   string
	opts   rocksdb.BlockBasedTableOptions
	policy rocksdb.FilterPolicy
	bits   rocksdb.FilterBitsBuilder
	reader rocksdb.FilterBitsReader
	filter []byte
}

// forFilterImpls runs a test with each kind of filter.
func forFilterImpls(t *testing.T, test func(t *testing.T, f *fullBloom)) {
	for _, kind := range AllFixedFilterImpls {
		t.Run(kind, func(t *testing.T) {
			f := &fullBloom{t: t, kind: kind, opts: rocksdb.DefaultBlockBasedTableOptions()}
			f.resetPolicy(10)
			test(t, f)
		})
	}
}

func (f *fullBloom) legacy() bool { return f.kind == LegacyBloomFilterClassName }
func (f *fullBloom) ribbon() bool { return f.kind == Standard128RibbonFilterClassName }

func (f *fullBloom) reset() {
	f.bits = f.policy.GetBuilderWithContext(&rocksdb.FilterBuildingContext{TableOptions: &f.opts, LevelAtCreation: -1, NumLevels: -1})
	f.reader, f.filter = nil, nil
}

func (f *fullBloom) resetPolicy(bitsPerKey float64) {
	f.policy = CreateBloomLikeFilterPolicy(f.kind, bitsPerKey)
	f.reset()
}

func (f *fullBloom) add(from, to int) {
	for i := from; i < to; i++ {
		f.bits.AddKey(bloomKey(i))
	}
}

func (f *fullBloom) build() {
	f.t.Helper()
	var err error
	if f.filter, err = f.bits.Finish(); err != nil {
		f.t.Fatal(err)
	}
	f.reader = f.policy.GetFilterBitsReader(f.filter)
}

func (f *fullBloom) matches(key []byte) bool {
	if f.reader == nil {
		f.build()
	}
	return f.reader.MayMatch(key)
}

func (f *fullBloom) matchesBoth(want bool, what string) {
	f.t.Helper()
	for _, k := range []string{"hello", "world"} {
		if f.matches([]byte(k)) != want {
			f.t.Errorf("%s: %s: matches %v", what, k, !want)
		}
	}
}

func (f *fullBloom) metadata() []byte { return f.filter[len(f.filter)-5:] }

func (f *fullBloom) numProbes() int {
	if m := f.metadata(); m[0] != 0xff {
		return int(int8(m[0]))
	}
	return int(f.metadata()[2])
}

func (f *fullBloom) packedMatches() (packed uint64) {
	for i := range 64 {
		if f.matches(bloomKey(i + 12345)) {
			packed |= 1 << i
		}
	}
	return packed
}

func (f *fullBloom) firstFPs(n int) string {
	var fps []string
	for i := 0; i < 1000000 && len(fps) < n; i++ {
		if f.matches(bloomKey(i + 1000000)) {
			fps = append(fps, strconv.Itoa(i))
		}
	}
	return strings.Join(fps, ",")
}

func (f *fullBloom) falsePositiveRate() float64 {
	n := 0
	for i := range 10000 {
		if f.matches(bloomKey(i + 1000000000)) {
			n++
		}
	}
	return float64(n) / 10000
}

func (f *fullBloom) openRaw(filter []byte) { f.reader = f.policy.GetFilterBitsReader(filter) }

func (f *fullBloom) checkMillibits(bits float64, want int) {
	f.t.Helper()
	f.resetPolicy(bits)
	p := f.policy.(*fixedImplPolicy)
	if p.GetMillibitsPerKey() != want || p.GetWholeBitsPerKey() != (want+500)/1000 {
		f.t.Errorf("%v bits: %d millibits, not %d; %d bits", bits, p.GetMillibitsPerKey(), want, p.GetWholeBitsPerKey())
	}
}

func TestFullBloomTest_FilterSize(t *testing.T) {
	forFilterImpls(t, func(t *testing.T, f *fullBloom) {
		computedLess := false
		for _, c := range []struct {
			bits float64
			want int
		}{
			{-math.MaxFloat64, 0}, {math.Inf(-1), 0}, {0, 0}, {0.499, 0}, {0.5, 1000}, {1.234, 1234}, {3.456, 3456},
			{9.5, 9500}, {10, 10000}, {10.499, 10499}, {21.345, 21345}, {99.999, 99999}, {1234, 100000},
			{math.MaxFloat64, 100000}, {math.Inf(1), 100000}, {math.NaN(), 100000},
		} {
			f.checkMillibits(c.bits, c.want)
			computed := c.bits + 0.5
			computed /= 1234567.0
			computed *= 1234567.0
			computed -= 0.5
			computedLess = computedLess || computed < c.bits
			f.checkMillibits(computed, c.want)
			if c.want == 0 {
				if f.bits != nil {
					t.Errorf("%v bits: a builder", c.bits)
				}
				continue
			}
			n, space := 1, 0
			for ; n < 1000000; n += 1 + n/100 {
				space = f.bits.CalculateSpace(n)
				n2 := f.bits.ApproximateNumEntries(space)
				space2 := f.bits.CalculateSpace(n2)
				ok := space2 == space
				if n > 12000 && f.ribbon() {
					ok = space2 >= space && float64(space2)*0.998 <= float64(space)
				}
				if n2 < n || !ok {
					t.Errorf("%v bits: %d keys: %d bytes, for %d keys, %d bytes", c.bits, n, space, n2, space2)
				}
			}
			for ; n > 0; n += n / 3 {
				space2 := f.bits.CalculateSpace(n)
				if space2 < space {
					t.Errorf("%v bits: %d keys: %d bytes after %d", c.bits, n, space2, space)
				}
				space = space2
			}
		}
		if !computedLess {
			t.Error("nothing was rounded")
		}
	})
}

func TestFullBloomTest_FullEmptyFilter(t *testing.T) {
	forFilterImpls(t, func(_ *testing.T, f *fullBloom) { f.matchesBoth(false, "empty") })
}

func TestFullBloomTest_FullSmall(t *testing.T) {
	forFilterImpls(t, func(t *testing.T, f *fullBloom) {
		f.bits.AddKey([]byte("hello"))
		f.bits.AddKey([]byte("world"))
		f.matchesBoth(true, "small")
		if f.matches([]byte("x")) || f.matches([]byte("foo")) {
			t.Error("absent keys match")
		}
	})
}

func TestFullBloomTest_FullVaryingLengths(t *testing.T) {
	forFilterImpls(t, func(t *testing.T, f *fullBloom) {
		f.opts.OptimizeFiltersForMemory = false
		good, mediocre := 0, 0
		for n := 1; n <= 10000; n = nextLength(n) {
			f.reset()
			f.add(0, n)
			f.build()
			if len(f.filter) > n*10/8+64*2+5 {
				t.Errorf("%d keys: %d bytes", n, len(f.filter))
			}
			for i := range n {
				if !f.matches(bloomKey(i)) {
					t.Fatalf("%d keys: key %d is missing", n, i)
				}
			}
			rate := f.falsePositiveRate()
			if rate > 0.02 {
				t.Errorf("%d keys: false positive rate %v", n, rate)
			}
			if rate > 0.0125 {
				mediocre++
			} else {
				good++
			}
		}
		if mediocre > good/5 {
			t.Errorf("%d good, %d mediocre", good, mediocre)
		}
	})
}

func TestFullBloomTest_OptimizeForMemory(t *testing.T) {
	forFilterImpls(t, func(t *testing.T, f *fullBloom) {
		if !f.opts.OptimizeFiltersForMemory {
			t.Error("it is not the default")
		}
		for _, optimize := range []bool{true, false} {
			f.opts.OptimizeFiltersForMemory = optimize
			f.resetPolicy(10)
			rnd := util.NewRandom32(12345)
			const filters = 100
			var size, mem, keys int
			rate := 0.0
			for range filters {
				n := int(rnd.Uniformish(10000)) + 100
				f.reset()
				f.add(0, n)
				f.build()
				const trailer = 5
				size += len(f.filter)
				mem += format.MallocUsableSize(len(f.filter)+trailer) - trailer
				keys += n
				rate += f.falsePositiveRate()
			}
			if rate/filters > 0.011 || rate/filters < 0.008 {
				t.Errorf("optimize %v: rate %v", optimize, rate/filters)
			}
			least := 10 * keys / 8
			if f.ribbon() {
				least = 7 * least / 10
			}
			overhead := filters * (64 + 5)
			if f.legacy() {
				overhead += filters * 64
			}
			most := least + overhead
			if optimize && !f.legacy() {
				most = least*102/100 + overhead
				if mem > size*101/100 {
					t.Errorf("%d bytes take %d", size, mem)
				}
			}
			if size < least || size > most || mem < size {
				t.Errorf("optimize %v: %d bytes (%d of memory), not %d to %d", optimize, size, mem, least, most)
			}
		}
	})
}

func TestChargeFilterConstructionTest_RibbonFilterFallBackOnLargeBanding(t *testing.T) {
	const capacity = 8 * cache.DummyEntrySize
	for _, charged := range []rocksdb.CacheEntryRoleDecision{rocksdb.CacheEntryRoleEnabled, rocksdb.CacheEntryRoleDisabled} {
		o := rocksdb.DefaultBlockBasedTableOptions()
		o.CacheUsageOptions.OptionsOverrides = map[rocksdb.CacheEntryRole]rocksdb.CacheEntryRoleOptions{
			rocksdb.CacheEntryRoleFilterConstruction: {Charged: charged},
		}
		lo := rocksdb.DefaultLRUCacheOptions(capacity)
		lo.NumShardBits, lo.StrictCapacityLimit = 0, true
		c, err := cache.NewLRUCache(lo)
		if err != nil {
			t.Fatal(err)
		}
		o.BlockCache = c
		o.FilterPolicy = CreateBloomLikeFilterPolicy(Standard128RibbonFilterClassName, 10)
		b := o.FilterPolicy.GetBuilderWithContext(&rocksdb.FilterBuildingContext{TableOptions: &o})
		for i := range capacity / 8 {
			b.AddKey(bloomKey(i))
		}
		filter, err := b.Finish()
		if err != nil {
			t.Fatal(err)
		}
		pinned := int(c.GetPinnedUsage())
		kind := int8(filter[len(filter)-5])
		if charged != rocksdb.CacheEntryRoleEnabled {
			if kind != -2 || pinned != 0 {
				t.Errorf("not charged: kind %d, %d bytes pinned", kind, pinned)
			}
			continue
		}
		n := (len(filter) + cache.DummyEntrySize - 1) / cache.DummyEntrySize
		if kind != -1 || pinned < n*cache.DummyEntrySize || pinned >= (n+1)*cache.DummyEntrySize {
			t.Errorf("charged: kind %d, %d bytes pinned for %d", kind, pinned, len(filter))
		}
		b.(rocksdb.Releaser).Release()
		if n := c.GetPinnedUsage(); n != 0 {
			t.Errorf("%d bytes stay pinned", n)
		}
	}
}

// schema is what a filter is and does: number of probes or Ribbon seed, hash of
// the filter (0: not checked), and the first false positives.
type schema struct {
	probesOrSeed int
	hash         uint32
	fps          string
}

var bloomSchemas = []struct {
	bits                 float64
	from, to             int // keys
	legacy, fast, ribbon schema
}{
	{5, 0, 87, schema{3, 0, ""}, schema{3, 4130687756, "31,38,40,43,61,83,86,112,125,131"}, schema{3, 4130687756, "31,38,40,43,61,83,86,112,125,131"}},
	{2, 0, 2087, schema{1, 1567096579, ""}, schema{1, 3817481309, "11,13,17,25,29,30,35,37,45,53"}, schema{61, 1705851228, "3,8,10,17,19,20,23,28,31,32"}},
	{3, 0, 2087, schema{2, 2707206547, ""}, schema{2, 2807269961, "4,15,17,24,27,28,29,53,63,70"}, schema{61, 1095342358, "3,17,20,28,32,33,36,43,49,54"}},
	{5, 0, 2087, schema{3, 515748486, ""}, schema{3, 204628445, "15,24,29,39,53,87,89,100,103,104"}, schema{61, 3971337699, "3,33,36,43,67,70,76,78,84,102"}},
	{8, 0, 2087, schema{5, 1302145999, ""}, schema{5, 355564975, "16,60,66,126,220,238,244,256,265,287"}, schema{61, 3651449053, "33,187,203,296,300,322,411,419,547,582"}},
	{9, 0, 2087, schema{6, 2092755149, ""}, schema{6, 2137566013, "156,367,791,872,945,1015,1139,1159,1265"}, schema{61, 1005676675, "33,187,203,296,411,419,604,612,615,619"}},
	{11, 0, 2087, schema{7, 3755609649, ""}, schema{7, 2561502687, "34,74,130,236,643,882,962,1015,1035,1110"}, schema{61, 3129900846, "411,419,623,665,727,794,955,1052,1323,1330"}},
	{14, 0, 2087, schema{9, 178861123, ""}, schema{8, 3709876890, "130,240,522,565,989,2002,2526,3147,3543"}, schema{61, 1855638875, "665,727,1323,1755,3866,4232,4442,4492,4736"}},
	{16, 0, 2087, schema{11, 1129406313, ""}, schema{9, 1087138490, "3299,3611,3916,6620,7822,8079,8482,8942"}, schema{61, 459379967, "727,1323,1755,4442,4736,5386,6974,7154,8222"}},
	{10, 0, 2087, schema{6, 1478976371, ""}, schema{6, 2498541272, "16,126,133,422,466,472,813,1002,1035"}, schema{61, 1273231667, "296,411,419,612,619,623,630,665,686,727"}},
	{10, 1, 2087, schema{6, 4205696321, ""}, schema{6, 2058382345, "16,126,133,422,466,472,813,1002,1035"}, schema{184, 3007790572, "33,152,383,497,589,633,737,781,911,990"}},
	{10, 1, 2088, schema{6, 2885052954, ""}, schema{6, 23699164, "16,126,133,422,466,472,813,1002,1035"}, schema{184, 1942323379, "33,95,360,589,737,911,990,1048,1081,1414"}},
	{9.5, 1, 2088, schema{6, 2885052954, ""}, schema{6, 3166884174, "126,156,367,444,458,791,813,976,1015"}, schema{184, 1148258663, "33,54,95,360,589,693,737,911,990,1048"}},
	{10.499, 1, 2088, schema{6, 2885052954, ""}, schema{7, 4098502778, "16,236,240,472,1015,1045,1111,1409,1465"}, schema{184, 792138188, "33,95,360,589,737,990,1048,1081,1414,1643"}},
}

func TestFullBloomTest_Schema(t *testing.T) {
	forFilterImpls(t, func(t *testing.T, f *fullBloom) {
		f.opts.OptimizeFiltersForMemory = false
		for i, c := range bloomSchemas {
			f.resetPolicy(c.bits)
			f.add(c.from, c.to)
			f.build()
			want, got := c.fast, schema{probesOrSeed: f.numProbes(), hash: util.BloomHash(f.filter)}
			switch {
			case f.legacy():
				want = c.legacy
			case f.ribbon():
				if want = c.ribbon; i > 0 { // too few keys: Bloom
					if got.probesOrSeed != -2 {
						t.Errorf("%+v: no Ribbon filter", c)
					}
					got.probesOrSeed = int(f.metadata()[1])
				}
			}
			if want.hash == 0 {
				got.hash = 0
			}
			if want.fps != "" {
				got.fps = f.firstFPs(strings.Count(want.fps, ",") + 1)
			}
			if got != want {
				t.Errorf("%v bits, keys %d-%d: %+v, not %+v", c.bits, c.from, c.to, got, want)
			}
		}
	})
}

// rawFilter is a filter of n bytes of data, the fixed32 and the marker in its
// metadata.
func rawFilter(fill func(i int) byte, n int, lines uint32, probes byte) []byte {
	data := make([]byte, 3000)
	for i := range data {
		data[i] = fill(i)
	}
	m := data[len(data)-5:]
	m[0] = probes
	util.EncodeFixed32(m[1:], lines)
	return data[len(data)-5-n:]
}

func TestFullBloomTest_RawSchema(t *testing.T) {
	forFilterImpls(t, func(t *testing.T, f *fullBloom) {
		for _, c := range []struct {
			n      int
			lines  uint32
			probes byte
			want   uint64
		}{
			{256, 1, 2, 11384799501900898790},       // legacy, a line of 256 bytes
			{256, 2, 2, 10157853359773492589},       // two of 128
			{256, 4, 2, 7123594913907464682},        // four of 64
			{256, 2 << 8, 255, 9957045189927952471}, // Bloom
			{32, 2 << 8, 254, 6193930559317665002},  // Ribbon, one column
			{112, 2 << 8, 254, 9007200345328128},    // three to four columns
		} {
			f.openRaw(rawFilter(func(i int) byte { return byte(uint(0x7b7b) >> (i % 7)) }, c.n, c.lines, c.probes))
			if got := f.packedMatches(); got != c.want {
				t.Errorf("%+v: %d", c, got)
			}
		}
	})
}

func TestFullBloomTest_CorruptFilters(t *testing.T) {
	const line = 64
	const asFilled = 2
	cases := []struct {
		what   string
		n      int
		lines  uint32
		probes byte
		match  int // 0, 1 or asFilled
	}{
		{"good", line, 1, 6, asFilled},
		{"good, three lines", line * 3, 3, 6, asFilled},
		{"good, lines of 256", 256 * 3, 3, 6, asFilled},
		{"30 probes", line, 1, 30, asFilled},
		{"1 probe", line, 1, 1, asFilled},
		{"no probes", line, 1, 0, 1},
		{"no data", 0, 0, 6, 0},
		{"no data, lines", 0, 37, 6, 0},
		{"no data, no probes", 0, 0, 0, 0},
		{"no lines", line, 0, 6, 1},
		{"4 bytes of 3 lines", 4, 3, 6, 1},
		{"lines of 97 bytes", 97 * 3, 3, 6, 1},
		{"lines of 65 bytes", 65 * 3, 3, 6, 1},
		{"4 bytes in all", -1, 3, 6, 0},
		{"nothing at all", -5, 3, 6, 0},
		{"31 probes", line, 1, 31, asFilled},
		{"127 probes", line, 1, 127, asFilled},
		{"-128 probes", line, 1, 128, 1},
		{"-3 probes", line, 1, 253, 1},
		{"Bloom", line, 6 << 8, 255, asFilled},
		{"Bloom, first byte", line, 6<<8 | 1, 255, 1},
		{"Bloom, third byte", line, 6<<8 | 1<<16, 255, 1},
		{"Bloom, fourth byte", line, 6<<8 | 1<<24, 255, 1},
		{"Bloom, 30 probes", line, 30 << 8, 255, asFilled},
		{"Bloom, 31 probes", line, 31 << 8, 255, 1},
		{"Bloom, 33 probes", line, 33 << 8, 255, 1},
		{"Bloom, 66 probes", line, 66 << 8, 255, 1},
		{"Bloom, 130 probes", line, 130 << 8, 255, 1},
	}
	forFilterImpls(t, func(t *testing.T, f *fullBloom) {
		for filled, b := range []byte{0, 0xff} {
			fill := func(int) byte { return b }
			for _, c := range cases {
				f.openRaw(rawFilter(fill, c.n, c.lines, c.probes))
				want := c.match
				if want == asFilled {
					want = filled
				}
				f.matchesBoth(want == 1, c.what)
			}
		}
		zero := func(int) byte { return 0 }
		f.openRaw(rawFilter(zero, 128, 2<<8+123, 254))
		f.matchesBoth(false, "Ribbon, 4 columns")
		f.openRaw(rawFilter(zero, 256, 2<<8+123, 254))
		f.matchesBoth(false, "Ribbon, 8 columns")
		f.openRaw(rawFilter(zero, 128, 5000<<8+123, 254))
		f.matchesBoth(true, "Ribbon, almost no columns")
		i := 0
		for f.matches([]byte(strconv.Itoa(i))) && i < 1000 {
			i++
		}
		if i == 1000 {
			t.Error("Ribbon, almost no columns: all keys match")
		}
		f.openRaw(rawFilter(zero, 128, 1<<8+123, 254))
		f.matchesBoth(true, "Ribbon, 1 block")
		f.openRaw(rawFilter(zero, 128, 123, 254))
		f.matchesBoth(true, "Ribbon, no block")
	})
}

func effectiveBitsPerKey(t *testing.T, b rocksdb.FilterBitsBuilder) float64 {
	t.Helper()
	for i := range 1000 {
		b.AddKey(util.AppendFixed64(nil, uint64(i)))
	}
	filter, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	return float64(len(filter)) * 8 / 1000
}

func setTestingLevel(level int, ctx *rocksdb.FilterBuildingContext) {
	ctx.LevelAtCreation, ctx.Reason = level, rocksdb.TableFileCreationReasonCompaction
	if level == -1 {
		ctx.LevelAtCreation, ctx.Reason = 0, rocksdb.TableFileCreationReasonFlush
	}
}

func TestRibbonTest_RibbonTestLevelThreshold(t *testing.T) {
	o := rocksdb.DefaultBlockBasedTableOptions()
	ctx := &rocksdb.FilterBuildingContext{TableOptions: &o}
	reused := NewRibbonFilterPolicy(10, 0)
	for _, style := range []rocksdb.CompactionStyle{rocksdb.CompactionStyleLevel, rocksdb.CompactionStyleUniversal,
		rocksdb.CompactionStyleFIFO, rocksdb.CompactionStyleNone} {
		ctx.CompactionStyle = style
		levelled := style == rocksdb.CompactionStyleLevel || style == rocksdb.CompactionStyleUniversal
		for _, before := range []int{-1, 0, 1, 10, math.MaxInt32 - 1, math.MaxInt32} {
			reused.SetBloomBeforeLevel(before)
			for _, p := range []*RibbonFilterPolicy{NewRibbonFilterPolicy(10, before), reused} {
				check := func(what string, bloom bool) {
					bits := effectiveBitsPerKey(t, p.GetBuilderWithContext(ctx))
					if bloom && bits <= 9 || !bloom && bits >= 8 {
						t.Errorf("style %d, before %d, %s: %v bits per key", style, before, what, bits)
					}
				}
				if before < math.MaxInt32 {
					setTestingLevel(before, ctx)
					check("that level", false)
				}
				if before >= 0 {
					setTestingLevel(before-1, ctx)
					check("the level before", levelled || before == math.MaxInt32)
				}
				ctx.LevelAtCreation, ctx.Reason = -1, rocksdb.TableFileCreationReasonMisc
				check("no level", before == math.MaxInt32)
			}
		}
	}
}
