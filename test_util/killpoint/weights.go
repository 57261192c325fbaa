// Port of test_util/sync_point.h (REDUCE_ODDS).

package killpoint

// Weights of points that are passed less often than others: the odds at them
// are that many times longer.
const (
	ReduceOdds  = 2
	ReduceOdds2 = 4
)
