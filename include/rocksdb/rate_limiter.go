// Port of include/rocksdb/rate_limiter.h and Env::IOPriority of
// include/rocksdb/env.h. Differs: one Request method; the mode is the
// implementation's own; NewGenericRateLimiter is in util/ratelimiter.

package rocksdb

// IOPriority is the rank of a request to a RateLimiter.
type IOPriority uint8

// The priorities, lowest first. IOTotal is their number, and stands for all of
// them in queries and for "not rate limited" in options.
const (
	IOLow IOPriority = iota
	IOMid
	IOHigh
	IOUser
	IOTotal
)

// OpType is the kind of operation a token is asked for.
type OpType uint8

// The kinds.
const (
	OpTypeRead OpType = iota
	OpTypeWrite
)

// RateLimiterMode says which operations a RateLimiter limits.
type RateLimiterMode uint8

// The modes.
const (
	ReadsOnly RateLimiterMode = iota
	WritesOnly
	AllIO
)

// RateLimiter bounds bytes per second. One object may serve several databases.
type RateLimiter interface {
	// SetBytesPerSecond changes the rate; n has to be positive.
	SetBytesPerSecond(n int64)
	// SetSingleBurstBytes bounds the bytes of one Request; 0 means those of one
	// refill, a negative number is an InvalidArgument.
	SetSingleBurstBytes(n int64) error
	// Request blocks until bytes tokens are granted, when op is limited.
	// 0 <= bytes <= GetSingleBurstBytes(). stats may be nil.
	Request(bytes int64, pri IOPriority, stats Statistics, op OpType)
	// RequestToken asks for as many of bytes as one Request may, rounded to
	// alignment (0: none) for direct I/O, waits for them and returns their
	// number.
	RequestToken(bytes, alignment int, pri IOPriority, stats Statistics, op OpType) int
	// GetSingleBurstBytes is the most bytes one Request may ask for.
	GetSingleBurstBytes() int64
	// GetTotalBytesThrough is the number of bytes granted at pri.
	GetTotalBytesThrough(pri IOPriority) int64
	// GetTotalRequests is the number of requests granted at pri.
	GetTotalRequests(pri IOPriority) int64
	// GetTotalPendingRequests is the number of requests waiting at pri.
	GetTotalPendingRequests(pri IOPriority) (int64, error)
	GetBytesPerSecond() int64
	// IsRateLimited tells whether operations of that kind are limited.
	IsRateLimited(op OpType) bool
}
