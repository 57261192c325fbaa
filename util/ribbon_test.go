// Port of util/ribbon_test.cc. Differs: of the types and settings, that of the
// format's filters only; no in-memory solution to compare with.

package util_test

import (
	"math"
	"testing"

	"github.com/rocksdb-go/rocksdb/util"
)

// The bounds of a Poisson-distributed count that is off once in about a
// thousand times (frequent checks) or in a hundred thousand (infrequent).
func poissonUpperBound(mean, stddevs float64) float64 { return mean + stddevs*math.Sqrt(mean) + 4 }

func poissonLowerBound(mean, stddevs float64) float64 {
	return max(0, mean-stddevs*math.Sqrt(mean)-4)
}

const frequentPoisson, infrequentPoisson = 4.4, 5.1

// ribbonKeys gives the hashes of n keys that begin with prefix.
func ribbonKeys(prefix string, n uint32) []uint64 {
	keys := make([]uint64, n)
	buf := util.AppendFixed64([]byte(prefix), 0)
	for i := range keys {
		util.EncodeFixed64(buf[len(prefix):], uint64(i)*0x1500000001)
		keys[i] = util.GetSliceHash64(buf)
	}
	return keys
}

// ribbonTotals sums up a run over filters of many sizes.
type ribbonTotals struct {
	reseeds, singles, singleFailures, batches, batchSuccesses uint64
	expandTrials, expandFailures                              uint64
}

func TestRibbonTypeParamTest_CompactnessAndBacktrackAndFpRate(t *testing.T) {
	const thoroughness = 60
	logMaxAdd, logMinAdd := math.Log(128*128*8), math.Log(0.66*256)
	for _, c := range []struct {
		name            string
		chance          util.RibbonFailureChance
		expectedReseeds float64
	}{
		{"OneIn2", util.RibbonOneIn2, 1},
		{"OneIn20", util.RibbonOneIn20, 0.053},
		{"OneIn1000", util.RibbonOneIn1000, 0.001},
	} {
		t.Run(c.name, func(t *testing.T) {
			var total ribbonTotals
			rnd := util.NewRandom32(thoroughness)
			for i := 0; i < thoroughness; i++ {
				diff := logMaxAdd - logMinAdd
				logAdd := math.Mod(0.6180339887498948482*diff*float64(i), diff) + logMinAdd
				checkRibbon(t, &total, rnd, i, uint32(math.Exp(logAdd)), c.chance)
			}
			expected := c.expectedReseeds * thoroughness
			if got := float64(total.reseeds); got > poissonUpperBound(1.15*expected, infrequentPoisson) ||
				got < poissonLowerBound(0.75*expected, infrequentPoisson) {
				t.Errorf("%d reseeds, expected %g", total.reseeds, expected)
			}
			if float64(total.expandFailures) > poissonUpperBound(float64(total.expandTrials), infrequentPoisson) {
				t.Errorf("%d of %d expansions failed", total.expandFailures, total.expandTrials)
			}
			if float64(total.singleFailures) > poissonUpperBound(float64(total.singles)/128, infrequentPoisson) {
				t.Errorf("%d of %d single keys failed", total.singleFailures, total.singles)
			}
			if float64(total.batchSuccesses) < poissonLowerBound(float64(total.batches)/2, infrequentPoisson) {
				t.Errorf("%d of %d batches added", total.batchSuccesses, total.batches)
			}
		})
	}
}

// checkRibbon makes and asks one filter of numToAdd keys, or as many as go into
// the same number of slots.
func checkRibbon(t *testing.T, total *ribbonTotals, rnd *util.Random32, i int, numToAdd uint32, chance util.RibbonFailureChance) {
	t.Helper()
	const maxCheck = 20000
	numSlots := uint32(math.MaxUint32)
	numToAdd--
	for {
		next := util.RibbonRoundUpNumSlots(util.RibbonGetNumSlots(numToAdd+1, chance))
		if next != util.RibbonRoundUpNumSlots(next) {
			t.Fatalf("rounding %d again gives another number", next)
		}
		if next > numSlots {
			break
		}
		numSlots = next
		numToAdd++
	}
	if util.RibbonGetNumToAdd(numSlots, chance)+1 < numToAdd {
		t.Errorf("%d slots take %d keys, used for %d", numSlots, util.RibbonGetNumToAdd(numSlots, chance), numToAdd)
	}
	prefix := string(util.AppendFixed32(nil, rnd.Next()))
	keys, others := ribbonKeys(prefix+"added", numToAdd), ribbonKeys(prefix+"not", maxCheck)
	more := ribbonKeys(prefix+"more", 2)
	batchSize := uint32(2 * math.Sqrt(float64(numSlots-numToAdd)))
	if batchSize < 10 {
		batchSize = 0
	}
	batch := ribbonKeys(prefix+"batch", batchSize)

	var b util.RibbonBanding
	if !b.ResetAndFindSeedToSolve(numSlots, keys, 0, 63) {
		t.Fatalf("%d keys do not go into %d slots", numToAdd, numSlots)
	}
	present := keys
	occupied := b.GetOccupiedCount()
	moreAdded := 0
	if float64(numSlots)/float64(numToAdd) >= 1.01 && batchSize > 0 {
		if b.AddRangeOrRollBack(ribbonKeys(prefix+"too many", numToAdd)) {
			t.Error("twice as many keys were added")
		}
		if got := b.GetOccupiedCount(); got != occupied {
			t.Fatalf("rolling back leaves %d slots, %d before", got, occupied)
		}
		for _, k := range more {
			total.singles++
			if b.Add(k) {
				moreAdded++
				present = append(present, k)
			} else {
				total.singleFailures++
			}
		}
		total.batches++
		if b.AddRangeOrRollBack(batch) {
			total.batchSuccesses++
			moreAdded += len(batch)
			present = append(present, batch...)
		}
	}
	// Adding again changes nothing.
	if !b.AddRange(keys[:numToAdd/8]) || b.GetOccupiedCount() > occupied+moreAdded {
		t.Errorf("%d slots, expected at most %d", b.GetOccupiedCount(), occupied+moreAdded)
	}

	size := 4 * numSlots
	switch i {
	case 0:
		size = 0
	case 1:
	default:
		size = max(rnd.Uniformish(size), rnd.Uniformish(size))
	}
	data := make([]byte, size)
	s := util.NewRibbonSolution(data)
	s.BackSubstFrom(&b)
	reseeds := b.GetOrdinalSeed()
	total.reseeds += uint64(reseeds)
	if reseeds > 13 {
		t.Errorf("%d keys in %d slots took %d reseeds", numToAdd, numSlots, reseeds)
	}

	// What is stored is enough to ask.
	stored := util.NewRibbonSolution(data)
	stored.ConfigureForNumBlocks(s.GetNumBlocks())
	var storedHasher util.RibbonHasher
	storedHasher.SetOrdinalSeed(reseeds)
	if stored.GetUpperNumColumns() != s.GetUpperNumColumns() || stored.GetUpperStartBlock() != s.GetUpperStartBlock() {
		t.Fatalf("restored as %+v, was %+v", stored, s)
	}
	for _, k := range present {
		if !stored.FilterQuery(k, &storedHasher) {
			t.Fatalf("%d keys in %d slots: a key is missing", numToAdd, numSlots)
		}
	}
	positives := 0
	for _, k := range others {
		if stored.FilterQuery(k, &storedHasher) {
			positives++
		}
	}
	expected := s.ExpectedFpRate()*maxCheck + maxCheck*util.RibbonExpectedCollisionFpRate(float64(numToAdd))
	if got := float64(positives); got > poissonUpperBound(expected, frequentPoisson) ||
		got < poissonLowerBound(0.95*expected, frequentPoisson) {
		t.Errorf("%d keys in %d slots, %d bytes: %d false positives, expected %g", numToAdd, numSlots, size, positives, expected)
	}

	if reseeds > 0 {
		// More slots instead of another seed help as well.
		total.expandTrials++
		b.SetOrdinalSeed(0)
		for slots := numSlots; ; total.expandFailures++ {
			slots = util.RibbonRoundUpNumSlots(slots + slots/128)
			b.Reset(slots)
			if b.AddRange(keys) {
				break
			}
		}
	}
}

func TestRibbonTypeParamTest_Extremes(t *testing.T) {
	const maxCheck = 20000
	data := make([]byte, 128*1024)
	var b util.RibbonBanding
	var hasher util.RibbonHasher
	if !b.ResetAndFindSeedToSolve(128, nil, 0, 0) {
		t.Fatal("no keys could not be added")
	}
	s := util.NewRibbonSolution(data)
	s.BackSubstFrom(&b)
	if s.GetUpperNumColumns() != 32 || s.GetUpperStartBlock() != 0 {
		t.Errorf("%d columns, from block %d", s.GetUpperNumColumns(), s.GetUpperStartBlock())
	}
	others := ribbonKeys("not", maxCheck)
	positives := 0
	for _, k := range others {
		if s.FilterQuery(k, &hasher) {
			positives++
		}
	}
	if float64(positives) > poissonUpperBound(s.ExpectedFpRate()*maxCheck, infrequentPoisson) {
		t.Errorf("%d false positives", positives)
	}

	if !b.ResetAndFindSeedToSolve(128, ribbonKeys("added", 1), 0, 0) {
		t.Fatal("one key could not be added")
	}
	empty := util.NewRibbonSolution(nil)
	empty.BackSubstFrom(&b)
	if empty.GetUpperNumColumns() != 0 || empty.GetUpperStartBlock() != 0 {
		t.Errorf("%d columns, from block %d", empty.GetUpperNumColumns(), empty.GetUpperStartBlock())
	}
	if !empty.FilterQuery(others[0], &hasher) || empty.ExpectedFpRate() != 1 {
		t.Error("a filter of no bytes does not match")
	}
}

func TestRibbonTest_AllowZeroStarts(t *testing.T) {
	var b util.RibbonBanding
	keys := ribbonKeys("foo", 1)
	if b.ResetAndFindSeedToSolve(0, keys, 0, 63) {
		t.Error("a key goes into no slots")
	}
	if !b.ResetAndFindSeedToSolve(0, nil, 0, 63) || b.GetOrdinalSeed() != 0 {
		t.Error("no keys do not go into no slots")
	}
	s := util.NewRibbonSolution(nil)
	s.BackSubstFrom(&b)
	if s.FilterQuery(keys[0], &b.RibbonHasher) || s.ExpectedFpRate() != 0 {
		t.Error("a filter of no slots matches")
	}
}

func TestRibbonTest_RawAndOrdinalSeeds(t *testing.T) {
	var h util.RibbonHasher
	for _, limit := range []uint32{0xff, 0xffff} {
		seen := make([]bool, limit+1)
		for i := uint32(0); i < limit; i++ {
			h.SetOrdinalSeed(i)
			raw := h.GetRawSeed()
			if h.GetOrdinalSeed() != i {
				t.Fatalf("ordinal %d comes back as %d", i, h.GetOrdinalSeed())
			}
			if (i == 0) != (raw == 0) || i > 0 && raw <= 0xff {
				t.Fatalf("ordinal %d is raw %#x", i, raw)
			}
			if seen[raw&limit] {
				t.Fatalf("raw %#x twice", raw&limit)
			}
			seen[raw&limit] = true
		}
	}
}

// TestRibbonNumbers has no upstream twin: what upstream's templates, built with
// the filter's settings, give.
func TestRibbonNumbers(t *testing.T) {
	chances := []util.RibbonFailureChance{util.RibbonOneIn2, util.RibbonOneIn20, util.RibbonOneIn1000}
	step := func(n uint32) uint32 { return uint32(float64(float64(n)*1.01) + 1) }
	check := func(what string, got, want uint64) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %d, want %d", what, got, want)
		}
	}
	var sum uint64
	for n := uint32(256); n < 3000000000; n = step(n) {
		for _, c := range chances {
			sum = sum*31 + uint64(util.RibbonGetNumToAdd(n, c))
		}
	}
	check("RibbonGetNumToAdd", sum, 4083922330729805200)
	sum = 0
	for n := uint32(1); n < 3000000000; n = step(n) {
		for _, c := range chances {
			sum = sum*31 + uint64(util.RibbonGetNumSlots(n, c))
		}
	}
	check("RibbonGetNumSlots", sum, 5686831638565954302)
	sum = 0
	for n := uint32(256); n < 100000000; n = util.RibbonRoundUpNumSlots(uint32(float64(n) * 1.1)) {
		for _, r := range []float64{1, 1.5, 2, 3.7, 100, 123.456, 1e6, 4e9, 1e10} {
			for _, bias := range []uint32{0, 1 << 31, math.MaxUint32} {
				sum = sum*31 + util.RibbonGetBytesForOneInFpRate(n, r, bias)
			}
		}
	}
	check("RibbonGetBytesForOneInFpRate", sum, 3152327997345084768)

	for _, c := range []struct {
		keys, slots, seed, blocks uint32
		bytes                     uint64
		sum                       uint64
		positives                 int
		fpRate                    float64
	}{
		{1, 256, 104, 2, 224, 7838958665618072070, 770, 0.0078125},
		{100, 256, 118, 2, 224, 1267240452844414049, 813, 0.0078125},
		{1000, 1024, 46, 8, 880, 17575419176714780111, 905, 0.0089273272017837239},
		{20000, 20608, 163, 161, 17328, 9186302751467376151, 1003, 0.0099608326009472184},
	} {
		r := util.NewRandom64(uint64(c.keys))
		keys := make([]uint64, c.keys)
		for i := range keys {
			keys[i] = r.Next()
		}
		slots := util.RibbonRoundUpNumSlots(util.RibbonGetNumSlots(c.keys, util.RibbonOneIn20))
		var b util.RibbonBanding
		if !b.ResetAndFindSeedToSolve(slots, keys, uint32(keys[0])&255, 255) {
			t.Fatalf("%d keys: no seed", c.keys)
		}
		data := make([]byte, util.RibbonGetBytesForOneInFpRate(slots, 100, 123456789))
		s := util.NewRibbonSolution(data)
		s.BackSubstFrom(&b)
		var sum uint64
		for _, d := range data {
			sum = sum*31 + uint64(d)
		}
		positives := 0
		for i := 0; i < 100000; i++ {
			if s.FilterQuery(r.Next(), &b.RibbonHasher) {
				positives++
			}
		}
		if slots != c.slots || b.GetOrdinalSeed() != c.seed || s.GetNumBlocks() != c.blocks || uint64(len(data)) != c.bytes ||
			sum != c.sum || positives != c.positives || s.ExpectedFpRate() != c.fpRate {
			t.Errorf("%d keys: %d slots, seed %d, %d blocks, %d bytes, sum %d, %d positives, rate %v; want %+v",
				c.keys, slots, b.GetOrdinalSeed(), s.GetNumBlocks(), len(data), sum, positives, s.ExpectedFpRate(), c)
		}
	}
}

// FuzzRibbonSolution asks damaged filters: no answer is wrong, but each must
// come.
func FuzzRibbonSolution(f *testing.F) {
	f.Add([]byte{}, uint32(0), uint32(0), uint64(1))
	f.Add(make([]byte, 100), uint32(1<<24-1), uint32(3), uint64(12345))
	f.Add(make([]byte, 5000), uint32(2), uint32(3), uint64(12345))
	f.Fuzz(func(t *testing.T, data []byte, blocks, seed uint32, key uint64) {
		s := util.NewRibbonSolution(data)
		s.ConfigureForNumBlocks(blocks & (1<<24 - 1))
		var h util.RibbonHasher
		h.SetOrdinalSeed(seed)
		got := s.FilterQuery(key, &h)
		if blocks&(1<<24-1) == 0 && got {
			t.Error("a filter without blocks matches")
		}
	})
}
