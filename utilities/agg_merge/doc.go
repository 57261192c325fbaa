// Package aggmerge has a merge operator whose operands name the function that
// aggregates them.
//
// Functions are registered by AddAggregator, for the whole process; values and
// operands are made by EncodeAggFuncAndPayload. What cannot be aggregated does not
// fail the database: the operands are kept side by side, under the name
// ErrorFuncName. The only lock is that of the registered functions. Start at
// agg_merge.go.
package aggmerge
