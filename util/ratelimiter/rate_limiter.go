// Port of util/{rate_limiter.cc,rate_limiter_impl.h}. Differs: a refill has at
// least one byte, so that no request waits for ever; arguments out of range are
// errors; Close instead of a destructor.

package ratelimiter

import (
	"math"
	"math/rand/v2"
	"sync"
	"sync/atomic"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/monitoring"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

const (
	microsecondsPerSecond = 1000000
	// refillsPerTune is how many refill periods auto-tuning looks at.
	refillsPerTune = 100
)

// request is a caller that waits.
type request struct {
	requestBytes int64 // still missing; 0 once granted
	bytes        int64 // missing when it was queued
	// wake has at most one token, put there under the lock. One that is there
	// when the caller begins to wait is stale: it has just looked.
	wake chan struct{}
}

func (r *request) signal() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// GenericRateLimiter is the built-in RateLimiter.
type GenericRateLimiter struct {
	mode           rocksdb.RateLimiterMode
	refillPeriodUs int64
	fairness       int
	autoTuned      bool
	maxBytesPerSec int64

	// Written under mu, read anywhere.
	rateBytesPerSec      atomic.Int64
	refillBytesPerPeriod atomic.Int64
	rawSingleBurstBytes  atomic.Int64 // 0: as refillBytesPerPeriod

	mu struct {
		sync.Mutex
		clock             rocksdb.SystemClock
		stop              bool
		exited            *sync.Cond // waiting has become 0
		waiting           int        // callers that have a request
		totalRequests     [rocksdb.IOTotal]int64
		totalBytesThrough [rocksdb.IOTotal]int64
		availableBytes    int64
		nextRefillUs      int64
		queues            [rocksdb.IOTotal][]*request
		// waitUntilRefillPending: somebody sleeps until nextRefillUs.
		waitUntilRefillPending bool
		numDrains              int64
		tunedTimeUs            int64
	}
}

var _ rocksdb.RateLimiter = (*GenericRateLimiter)(nil)

// NewGenericRateLimiter grants rateBytesPerSec bytes a second, refillPeriodUs
// microseconds' worth at a time (upstream's default is 100000). A lower priority
// goes before a higher one, IOUser excepted, in one of fairness refills (10; at
// most 100 counts). With autoTuned the rate moves between rateBytesPerSec/20 and
// rateBytesPerSec with demand. singleBurstBytes bounds one request (0: a refill).
func NewGenericRateLimiter(rateBytesPerSec, refillPeriodUs int64, fairness int,
	mode rocksdb.RateLimiterMode, autoTuned bool, singleBurstBytes int64) (*GenericRateLimiter, error) {
	return NewGenericRateLimiterWithClock(rateBytesPerSec, refillPeriodUs, fairness, mode,
		rocksdb.DefaultSystemClock(), autoTuned, singleBurstBytes)
}

// NewGenericRateLimiterWithClock is NewGenericRateLimiter by another clock.
func NewGenericRateLimiterWithClock(rateBytesPerSec, refillPeriodUs int64, fairness int,
	mode rocksdb.RateLimiterMode, clock rocksdb.SystemClock, autoTuned bool, singleBurstBytes int64) (*GenericRateLimiter, error) {
	switch {
	case rateBytesPerSec <= 0:
		return nil, rocksdb.InvalidArgumentf("rate limiter: rate_bytes_per_sec %d is not positive", rateBytesPerSec)
	case refillPeriodUs <= 0:
		return nil, rocksdb.InvalidArgumentf("rate limiter: refill_period_us %d is not positive", refillPeriodUs)
	case fairness <= 0:
		return nil, rocksdb.InvalidArgumentf("rate limiter: fairness %d is not positive", fairness)
	case singleBurstBytes < 0:
		return nil, rocksdb.InvalidArgumentf("rate limiter: single_burst_bytes %d is negative", singleBurstBytes)
	}
	l := &GenericRateLimiter{
		mode:           mode,
		refillPeriodUs: refillPeriodUs,
		fairness:       min(fairness, 100),
		autoTuned:      autoTuned,
		maxBytesPerSec: rateBytesPerSec,
	}
	l.rawSingleBurstBytes.Store(singleBurstBytes)
	l.mu.clock = clock
	l.mu.exited = sync.NewCond(&l.mu)
	if autoTuned {
		rateBytesPerSec = max(rateBytesPerSec/2, 1)
	}
	l.setBytesPerSecondLocked(rateBytesPerSec)
	l.mu.nextRefillUs = l.nowMicrosMonotonicLocked()
	l.mu.tunedTimeUs = l.mu.nextRefillUs
	return l, nil
}

// Close lets waiting callers go, granted or not, and all later ones at once. It
// returns when none waits any more.
func (l *GenericRateLimiter) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.mu.stop = true
	for _, queue := range l.mu.queues {
		for _, r := range queue {
			r.signal()
		}
	}
	for l.mu.waiting > 0 {
		l.mu.exited.Wait()
	}
}

func (l *GenericRateLimiter) nowMicrosMonotonicLocked() int64 {
	return int64(l.mu.clock.NowNanos() / 1000)
}

// IsRateLimited tells whether the mode covers op.
func (l *GenericRateLimiter) IsRateLimited(op rocksdb.OpType) bool {
	return !(l.mode == rocksdb.WritesOnly && op == rocksdb.OpTypeRead ||
		l.mode == rocksdb.ReadsOnly && op == rocksdb.OpTypeWrite)
}

// GetMode is the mode.
func (l *GenericRateLimiter) GetMode() rocksdb.RateLimiterMode { return l.mode }

// GetBytesPerSecond is the rate, as tuned.
func (l *GenericRateLimiter) GetBytesPerSecond() int64 { return l.rateBytesPerSec.Load() }

// SetBytesPerSecond changes the rate from the next refill on; n that is not
// positive is ignored.
func (l *GenericRateLimiter) SetBytesPerSecond(n int64) {
	if n <= 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.setBytesPerSecondLocked(n)
}

func (l *GenericRateLimiter) setBytesPerSecondLocked(n int64) {
	l.rateBytesPerSec.Store(n)
	// An overflow leaves a number that is large enough.
	refill := int64(math.MaxInt64) / microsecondsPerSecond
	if math.MaxInt64/n >= l.refillPeriodUs {
		refill = n * l.refillPeriodUs / microsecondsPerSecond
	}
	l.refillBytesPerPeriod.Store(max(refill, 1))
}

// GetSingleBurstBytes is the most bytes one Request may ask for.
func (l *GenericRateLimiter) GetSingleBurstBytes() int64 {
	if n := l.rawSingleBurstBytes.Load(); n != 0 {
		return n
	}
	return l.refillBytesPerPeriod.Load()
}

// SetSingleBurstBytes sets it; 0 is the bytes of a refill.
func (l *GenericRateLimiter) SetSingleBurstBytes(n int64) error {
	if n < 0 {
		return rocksdb.InvalidArgumentf("rate limiter: single_burst_bytes %d is negative", n)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rawSingleBurstBytes.Store(n)
	return nil
}

// sumOrOne gives counts[pri], or the sum for IOTotal.
func sumOrOne(counts *[rocksdb.IOTotal]int64, pri rocksdb.IOPriority) int64 {
	if pri < rocksdb.IOTotal {
		return counts[pri]
	}
	var sum int64
	for _, n := range counts {
		sum += n
	}
	return sum
}

// GetTotalBytesThrough is the number of bytes granted at pri.
func (l *GenericRateLimiter) GetTotalBytesThrough(pri rocksdb.IOPriority) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return sumOrOne(&l.mu.totalBytesThrough, pri)
}

// GetTotalRequests is the number of requests made at pri.
func (l *GenericRateLimiter) GetTotalRequests(pri rocksdb.IOPriority) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return sumOrOne(&l.mu.totalRequests, pri)
}

// GetTotalPendingRequests is the number of requests waiting at pri.
func (l *GenericRateLimiter) GetTotalPendingRequests(pri rocksdb.IOPriority) (int64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var counts [rocksdb.IOTotal]int64
	for i := range counts {
		counts[i] = int64(len(l.mu.queues[i]))
	}
	return sumOrOne(&counts, pri), nil
}

// RequestToken asks for as many of bytes as one Request may, rounded down to
// alignment but at least one unit of it, waits for them and returns their number.
func (l *GenericRateLimiter) RequestToken(bytes, alignment int, pri rocksdb.IOPriority, stats rocksdb.Statistics, op rocksdb.OpType) int {
	if pri >= rocksdb.IOTotal || !l.IsRateLimited(op) {
		return bytes
	}
	if burst := l.GetSingleBurstBytes(); int64(bytes) > burst {
		bytes = int(burst)
	}
	if alignment > 0 {
		// Direct I/O moves whole pages, even where that exceeds the burst.
		bytes = max(alignment, bytes-bytes%alignment)
	}
	l.Request(int64(bytes), pri, stats, op)
	return bytes
}

// Request blocks until bytes tokens are granted. A negative number counts as 0; at
// IOTotal nothing is limited.
func (l *GenericRateLimiter) Request(bytes int64, pri rocksdb.IOPriority, stats rocksdb.Statistics, op rocksdb.OpType) {
	if pri >= rocksdb.IOTotal || !l.IsRateLimited(op) {
		return
	}
	bytes = max(bytes, 0)
	if syncpoint.Enabled {
		syncpoint.Process("GenericRateLimiter::Request")
		syncpoint.ProcessArg("GenericRateLimiter::Request:1", &l.rateBytesPerSec)
	}
	granted, delayed, waitMicros := l.request(bytes, pri, stats)
	if !granted {
		return
	}
	requests, through, delays, waits, waitHist := rocksdb.RateLimiterRequestsWrite, rocksdb.RateLimiterBytesWrite,
		rocksdb.RateLimiterDelayedRequestsWrite, rocksdb.RateLimiterTotalWaitMicrosWrite, rocksdb.HistRateLimiterWaitMicrosWrite
	if op == rocksdb.OpTypeRead {
		requests, through, delays, waits, waitHist = rocksdb.RateLimiterRequestsRead, rocksdb.RateLimiterBytesRead,
			rocksdb.RateLimiterDelayedRequestsRead, rocksdb.RateLimiterTotalWaitMicrosRead, rocksdb.HistRateLimiterWaitMicrosRead
	}
	monitoring.RecordTick(stats, requests, 1)
	monitoring.RecordTick(stats, through, uint64(bytes))
	if delayed {
		monitoring.RecordTick(stats, delays, 1)
		monitoring.RecordTick(stats, waits, waitMicros)
		monitoring.RecordInHistogram(stats, waitHist, waitMicros)
	}
}

// request takes what there is and waits for the rest. granted is false when the
// limiter was closed.
func (l *GenericRateLimiter) request(bytes int64, pri rocksdb.IOPriority, stats rocksdb.Statistics) (granted, delayed bool, waitMicros uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.autoTuned && l.nowMicrosMonotonicLocked()-l.mu.tunedTimeUs >= refillsPerTune*l.refillPeriodUs {
		l.tuneLocked()
	}
	if l.mu.stop {
		return false, false, 0
	}
	l.mu.totalRequests[pri]++
	through := min(l.mu.availableBytes, bytes)
	l.mu.totalBytesThrough[pri] += through
	l.mu.availableBytes -= through
	bytes -= through
	if bytes == 0 {
		return true, false, 0
	}

	r := &request{requestBytes: bytes, bytes: bytes, wake: make(chan struct{}, 1)}
	l.mu.queues[pri] = append(l.mu.queues[pri], r)
	l.mu.waiting++
	if syncpoint.Enabled {
		syncpoint.ProcessArg("GenericRateLimiter::Request:PostEnqueueRequest", &l.mu.Mutex)
	}
	var waitStartUs int64
	for !l.mu.stop && r.requestBytes > 0 {
		now := l.nowMicrosMonotonicLocked()
		if now >= l.mu.nextRefillUs {
			l.refillBytesAndGrantRequestsLocked()
		} else {
			if !delayed {
				delayed, waitStartUs = true, now
			}
			l.waitLocked(r, l.mu.nextRefillUs-now, stats)
		}
		if r.requestBytes == 0 {
			l.wakeCandidateLocked()
		}
	}
	l.mu.waiting--
	if l.mu.stop {
		if l.mu.waiting == 0 {
			l.mu.exited.Broadcast()
		}
		return false, delayed, 0
	}
	if delayed {
		waitMicros = uint64(l.nowMicrosMonotonicLocked() - waitStartUs)
	}
	return true, delayed, waitMicros
}

// waitLocked sleeps until the refill, if nobody else does; otherwise until
// somebody signals r.
func (l *GenericRateLimiter) waitLocked(r *request, untilRefillUs int64, stats rocksdb.Statistics) {
	select {
	case <-r.wake:
	default:
	}
	if l.mu.waitUntilRefillPending {
		l.mu.Unlock()
		<-r.wake
		l.mu.Lock()
		return
	}
	clock := l.mu.clock
	deadline := clock.NowMicros() + uint64(untilRefillUs)
	monitoring.RecordTick(stats, rocksdb.NumberRateLimiterDrains, 1)
	l.mu.numDrains++
	l.mu.waitUntilRefillPending = true
	l.mu.Unlock()
	clock.TimedWait(r.wake, deadline)
	l.mu.Lock()
	if syncpoint.Enabled {
		syncpoint.ProcessArg("GenericRateLimiter::Request:PostTimedWait", &untilRefillUs)
	}
	l.mu.waitUntilRefillPending = false
}

// wakeCandidateLocked wakes the first waiter, to take over the duties of one who
// leaves.
func (l *GenericRateLimiter) wakeCandidateLocked() {
	for pri := int(rocksdb.IOTotal) - 1; pri >= 0; pri-- {
		if queue := l.mu.queues[pri]; len(queue) > 0 {
			queue[0].signal()
			return
		}
	}
}

// priorityIterationOrder is the order in which the queues are served. IOUser is
// always first.
func priorityIterationOrder(highAfterMidLow, midAfterLow bool) [rocksdb.IOTotal]rocksdb.IOPriority {
	first, second := rocksdb.IOMid, rocksdb.IOLow
	if midAfterLow {
		first, second = second, first
	}
	if highAfterMidLow {
		return [...]rocksdb.IOPriority{rocksdb.IOUser, first, second, rocksdb.IOHigh}
	}
	return [...]rocksdb.IOPriority{rocksdb.IOUser, rocksdb.IOHigh, first, second}
}

func (l *GenericRateLimiter) generatePriorityIterationOrder() [rocksdb.IOTotal]rocksdb.IOPriority {
	highAfterMidLow := rand.IntN(l.fairness) == 0
	midAfterLow := rand.IntN(l.fairness) == 0
	if syncpoint.Enabled {
		const point = "GenericRateLimiter::GeneratePriorityIterationOrderLocked::"
		syncpoint.ProcessArg(point+"PostRandomOneInFairnessForHighPri", &highAfterMidLow)
		syncpoint.ProcessArg(point+"PostRandomOneInFairnessForMidPri", &midAfterLow)
		order := priorityIterationOrder(highAfterMidLow, midAfterLow)
		syncpoint.ProcessArg(point+"PreReturnPriIterationOrder", &order)
		return order
	}
	return priorityIterationOrder(highAfterMidLow, midAfterLow)
}

// refillBytesAndGrantRequestsLocked begins a period. A request that is not
// granted in full keeps what it got, and its place: it may ask for more than a
// refill, after the rate was lowered or the burst raised.
func (l *GenericRateLimiter) refillBytesAndGrantRequestsLocked() {
	if syncpoint.Enabled {
		syncpoint.ProcessArg("GenericRateLimiter::RefillBytesAndGrantRequestsLocked", &l.mu.Mutex)
	}
	l.mu.nextRefillUs = l.nowMicrosMonotonicLocked() + l.refillPeriodUs
	// Somebody waits, so nothing is left of the period before.
	l.mu.availableBytes = l.refillBytesPerPeriod.Load()
	for _, pri := range l.generatePriorityIterationOrder() {
		queue := l.mu.queues[pri]
		for len(queue) > 0 {
			r := queue[0]
			if l.mu.availableBytes < r.requestBytes {
				r.requestBytes -= l.mu.availableBytes
				l.mu.availableBytes = 0
				break
			}
			l.mu.availableBytes -= r.requestBytes
			r.requestBytes = 0
			l.mu.totalBytesThrough[pri] += r.bytes
			queue[0] = nil
			queue = queue[1:]
			r.signal()
		}
		l.mu.queues[pri] = queue
	}
}

// tuneLocked lowers the rate by a twentieth when less than half of the periods
// since the last time were drained, raises it by as much when more than nine
// tenths were, and goes to the least when none was.
func (l *GenericRateLimiter) tuneLocked() {
	const (
		lowWatermarkPct    = 50
		highWatermarkPct   = 90
		adjustFactorPct    = 5
		allowedRangeFactor = 20
	)
	prevTunedTimeUs := l.mu.tunedTimeUs
	l.mu.tunedTimeUs = l.nowMicrosMonotonicLocked()
	elapsedIntervals := (l.mu.tunedTimeUs - prevTunedTimeUs + l.refillPeriodUs - 1) / l.refillPeriodUs
	drainedPct := l.mu.numDrains * 100 / max(elapsedIntervals, 1)
	prev := l.GetBytesPerSecond()
	next := prev
	least := max(l.maxBytesPerSec/allowedRangeFactor, 1)
	switch {
	case drainedPct == 0:
		next = least
	case drainedPct < lowWatermarkPct:
		sanitized := min(prev, math.MaxInt64/100)
		next = max(least, sanitized*100/(100+adjustFactorPct))
	case drainedPct > highWatermarkPct:
		sanitized := min(prev, math.MaxInt64/(100+adjustFactorPct))
		next = min(l.maxBytesPerSec, sanitized*(100+adjustFactorPct)/100)
	}
	if next != prev {
		l.setBytesPerSecondLocked(next)
	}
	l.mu.numDrains = 0
}

// LoopRateLimitRequestHelper asks limiter for total bytes, as many at a time as
// it allows.
func LoopRateLimitRequestHelper(total int64, limiter rocksdb.RateLimiter, pri rocksdb.IOPriority, stats rocksdb.Statistics, op rocksdb.OpType) {
	for total > 0 {
		n := min(max(limiter.GetSingleBurstBytes(), 1), total)
		limiter.Request(n, pri, stats, op)
		total -= n
	}
}
