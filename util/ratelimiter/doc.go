// Package ratelimiter bounds the bytes per second of background work by a token
// bucket (GenericRateLimiter).
//
// Every refill period the bucket gets rate × period tokens; what is left of the
// period before stays. Requests that find too few wait in a queue of their
// priority. There is no goroutine behind it: one of the waiters sleeps until the
// next refill, hands the tokens out and passes the duty on.
//
// Invariants: a request is in exactly one queue until it is granted in full, and
// in none afterwards; while a queue is not empty, some waiter is awake, about to
// wake, or sleeping until the refill.
//
// Lock: GenericRateLimiter.mu, a leaf; statistics are recorded outside of it,
// but for the count of drains.
//
// Read rate_limiter.go.
package ratelimiter
