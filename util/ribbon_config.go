// Port of util/ribbon_config.{h,cc}. Differs: only the settings that the filter
// uses: 128-bit rows, no smash, not homogeneous.

package util

import "math"

// RibbonFailureChance is how often adding the most keys that a number of slots
// is said to take may fail, for one seed.
type RibbonFailureChance uint8

// The failure chances.
const (
	RibbonOneIn2 RibbonFailureChance = iota
	RibbonOneIn20
	RibbonOneIn1000
)

const (
	ribbonKnownSize     = 18
	ribbonFactorPerPow2 = 0.0038
	// Slightly above 1/ln 2, so that the logarithm of a power of two never comes
	// out below the whole number.
	ribbonLog2Factor = 1.4426950409
)

// ribbonKnownToAdd gives, for 2^i slots, how many keys can be added with each
// chance of failure; 0 for too few slots. Upstream measured these; numbers of
// slots in files follow from them.
var ribbonKnownToAdd = [...][ribbonKnownSize]float64{
	RibbonOneIn2: {0, 0, 0, 0, 0, 0, 0, 0, 252.984, 506.109, 1013.71, 2029.47,
		4060.43, 8115.63, 16202.2, 32305.1, 64383.5, 128274},
	RibbonOneIn20: {0, 0, 0, 0, 0, 0, 0, 0, 248.851, 499.532, 1001.26, 2003.97,
		4005.59, 8000.39, 15966.6, 31828.1, 63447.3, 126506},
	RibbonOneIn1000: {0, 0, 0, 0, 0, 0, 0, 0, 242.61, 491.887, 983.603, 1968.21,
		3926.98, 7833.99, 15629, 31199.9, 62307.8, 123870},
}

// factorForLarge is slots over keys for a large number of slots. The explicit
// conversions keep compilers from fusing, which would change results.
func (c RibbonFailureChance) factorForLarge(log2Slots float64) float64 {
	final := float64(uint32(1)<<(ribbonKnownSize-1)) / ribbonKnownToAdd[c][ribbonKnownSize-1]
	perPow2 := float64(ribbonFactorPerPow2) // at run time, as upstream's
	base := final - float64((ribbonKnownSize-1)*perPow2)
	return base + float64(log2Slots*perPow2)
}

func (c RibbonFailureChance) numToAddForPow2(log2Slots uint32) float64 {
	if log2Slots < ribbonKnownSize {
		return ribbonKnownToAdd[c][log2Slots]
	}
	return float64(uint64(1)<<log2Slots) / c.factorForLarge(float64(log2Slots))
}

// RibbonGetNumToAdd is how many keys numSlots slots take; numSlots is 0 or at
// least 256.
func RibbonGetNumToAdd(numSlots uint32, chance RibbonFailureChance) uint32 {
	if numSlots == 0 {
		return 0
	}
	log2Slots := math.Log(float64(numSlots)) * ribbonLog2Factor
	floor := uint32(log2Slots)
	if floor+1 < ribbonKnownSize {
		known := &ribbonKnownToAdd[chance]
		portion := float64(numSlots)/float64(uint32(1)<<floor) - 1
		return uint32(float64(portion*known[floor+1]) + float64((1-portion)*known[floor]))
	}
	return uint32(float64(numSlots) / chance.factorForLarge(log2Slots))
}

// RibbonGetNumSlots is how many slots numToAdd keys need, before rounding with
// RibbonRoundUpNumSlots.
func RibbonGetNumSlots(numToAdd uint32, chance RibbonFailureChance) uint32 {
	if numToAdd == 0 {
		return 0
	}
	add := float64(numToAdd)
	log2Slots := uint32(float64(math.Log(add)*ribbonLog2Factor) + 0.5)
	lower := chance.numToAddForPow2(log2Slots)
	var upper float64
	switch {
	case log2Slots == 0 || lower == 0:
		return 2 * ribbonCoeffBits
	case add < lower:
		upper = lower
		log2Slots--
		lower = chance.numToAddForPow2(log2Slots)
	default:
		upper = chance.numToAddForPow2(log2Slots + 1)
	}
	portion := (add - lower) / (upper - lower)
	slots := float64(uint64(1) << log2Slots)
	return uint32(float64(portion*slots) + slots + 0.999999999)
}
