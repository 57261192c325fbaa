// Port of util/rate_limiter_test.cc. Differs: time is that of testing/synctest
// instead of a mock clock and sync points.

package ratelimiter

import (
	"errors"
	"math"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/monitoring"
)

func newLimiter(t *testing.T, rate, refillPeriodUs int64, mode rocksdb.RateLimiterMode, autoTuned bool) *GenericRateLimiter {
	t.Helper()
	l, err := NewGenericRateLimiter(rate, refillPeriodUs, 10, mode, autoTuned, 0)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func check[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

func pending(t *testing.T, l *GenericRateLimiter, pri rocksdb.IOPriority) int64 {
	t.Helper()
	n, err := l.GetTotalPendingRequests(pri)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestRateLimiterTest_OverflowRate(t *testing.T) {
	l := newLimiter(t, math.MaxInt64, 1000, rocksdb.WritesOnly, false)
	if n := l.GetSingleBurstBytes(); n <= 1000000000 {
		t.Errorf("burst of %d bytes", n)
	}
}

func TestRateLimiterTest_StartStop(t *testing.T) {
	l := newLimiter(t, 100, 100, rocksdb.WritesOnly, false)
	l.Close()
	l.Request(1, rocksdb.IOHigh, nil, rocksdb.OpTypeWrite) // lets go at once
	check(t, "requests", l.GetTotalRequests(rocksdb.IOTotal), 0)
}

func TestRateLimiterTest_GetTotalBytesThrough(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t, 200, 1000*1000, rocksdb.WritesOnly, false)
		for pri := rocksdb.IOLow; pri <= rocksdb.IOTotal; pri++ {
			check(t, "bytes", l.GetTotalBytesThrough(pri), 0)
		}
		for pri := rocksdb.IOLow; pri < rocksdb.IOTotal; pri++ {
			l.Request(200, pri, nil, rocksdb.OpTypeWrite)
		}
		for pri := rocksdb.IOLow; pri < rocksdb.IOTotal; pri++ {
			check(t, "bytes", l.GetTotalBytesThrough(pri), 200)
		}
		check(t, "bytes", l.GetTotalBytesThrough(rocksdb.IOTotal), 4*200)
	})
}

func TestRateLimiterTest_GetTotalRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t, 200, 1000*1000, rocksdb.WritesOnly, false)
		for pri := rocksdb.IOLow; pri <= rocksdb.IOTotal; pri++ {
			check(t, "requests", l.GetTotalRequests(pri), 0)
		}
		for pri := rocksdb.IOLow; pri < rocksdb.IOTotal; pri++ {
			l.Request(200, pri, nil, rocksdb.OpTypeWrite)
		}
		for pri := rocksdb.IOLow; pri < rocksdb.IOTotal; pri++ {
			check(t, "requests", l.GetTotalRequests(pri), 1)
		}
		check(t, "requests", l.GetTotalRequests(rocksdb.IOTotal), 4)
	})
}

func TestRateLimiterTest_GetTotalPendingRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t, 200, 1000*1000, rocksdb.WritesOnly, false)
		for pri := rocksdb.IOLow; pri <= rocksdb.IOTotal; pri++ {
			check(t, "pending", pending(t, l, pri), 0)
		}
		l.Request(200, rocksdb.IOUser, nil, rocksdb.OpTypeWrite)
		var wg sync.WaitGroup
		wg.Go(func() { l.Request(200, rocksdb.IOUser, nil, rocksdb.OpTypeWrite) })
		synctest.Wait()
		for pri := rocksdb.IOLow; pri <= rocksdb.IOTotal; pri++ {
			want := int64(0)
			if pri == rocksdb.IOUser || pri == rocksdb.IOTotal {
				want = 1
			}
			check(t, "pending", pending(t, l, pri), want)
		}
		wg.Wait()
		for pri := rocksdb.IOLow; pri <= rocksdb.IOTotal; pri++ {
			check(t, "pending", pending(t, l, pri), 0)
		}
	})
}

func TestRateLimiterTest_Modes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, mode := range []rocksdb.RateLimiterMode{rocksdb.WritesOnly, rocksdb.ReadsOnly, rocksdb.AllIO} {
			l := newLimiter(t, 2000, 1000*1000, mode, false)
			l.Request(1000, rocksdb.IOHigh, nil, rocksdb.OpTypeRead)
			want := int64(1000)
			if mode == rocksdb.WritesOnly {
				want = 0
			}
			check(t, "bytes", l.GetTotalBytesThrough(rocksdb.IOHigh), want)
			l.Request(1000, rocksdb.IOHigh, nil, rocksdb.OpTypeWrite)
			want = 1000
			if mode == rocksdb.AllIO {
				want = 2000
			}
			check(t, "bytes", l.GetTotalBytesThrough(rocksdb.IOHigh), want)
		}
	})
}

func TestRateLimiterTest_Statistics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const bytesPerRefill = 100
		stats := monitoring.CreateDBStatistics()
		l := newLimiter(t, bytesPerRefill, 1000*1000, rocksdb.WritesOnly, false)
		l.Request(1, rocksdb.IOHigh, stats, rocksdb.OpTypeRead)
		check(t, "bytes read", stats.GetTickerCount(rocksdb.RateLimiterBytesRead), 0)
		check(t, "reads", stats.GetTickerCount(rocksdb.RateLimiterRequestsRead), 0)

		l.Request(bytesPerRefill, rocksdb.IOHigh, stats, rocksdb.OpTypeWrite)
		check(t, "bytes", stats.GetTickerCount(rocksdb.RateLimiterBytesWrite), bytesPerRefill)
		check(t, "requests", stats.GetTickerCount(rocksdb.RateLimiterRequestsWrite), 1)
		check(t, "delayed", stats.GetTickerCount(rocksdb.RateLimiterDelayedRequestsWrite), 0)
		check(t, "wait", stats.GetTickerCount(rocksdb.RateLimiterTotalWaitMicrosWrite), 0)
		check(t, "waits", stats.GetHistogramData(rocksdb.HistRateLimiterWaitMicrosWrite).Count, 0)

		l.Request(1, rocksdb.IOHigh, stats, rocksdb.OpTypeWrite)
		check(t, "bytes", stats.GetTickerCount(rocksdb.RateLimiterBytesWrite), bytesPerRefill+1)
		check(t, "requests", stats.GetTickerCount(rocksdb.RateLimiterRequestsWrite), 2)
		check(t, "delayed", stats.GetTickerCount(rocksdb.RateLimiterDelayedRequestsWrite), 1)
		check(t, "drains", stats.GetTickerCount(rocksdb.NumberRateLimiterDrains) > 0, true)
		check(t, "wait", stats.GetTickerCount(rocksdb.RateLimiterTotalWaitMicrosWrite), 1000*1000)
		hist := stats.GetHistogramData(rocksdb.HistRateLimiterWaitMicrosWrite)
		check(t, "waits", hist.Count, 1)
		check(t, "sum of waits", hist.Sum > 0, true)

		stats = monitoring.CreateDBStatistics()
		l = newLimiter(t, bytesPerRefill, 1000*1000, rocksdb.AllIO, false)
		l.Request(10, rocksdb.IOHigh, stats, rocksdb.OpTypeRead)
		check(t, "bytes read", stats.GetTickerCount(rocksdb.RateLimiterBytesRead), 10)
		check(t, "reads", stats.GetTickerCount(rocksdb.RateLimiterRequestsRead), 1)
		check(t, "bytes", stats.GetTickerCount(rocksdb.RateLimiterBytesWrite), 0)
		check(t, "requests", stats.GetTickerCount(rocksdb.RateLimiterRequestsWrite), 0)
	})
}

func TestRateLimiterTest_GeneratePriorityIterationOrder(t *testing.T) {
	const user, high, mid, low = rocksdb.IOUser, rocksdb.IOHigh, rocksdb.IOMid, rocksdb.IOLow
	for _, c := range []struct {
		highAfterMidLow, midAfterLow bool
		want                         [rocksdb.IOTotal]rocksdb.IOPriority
	}{
		{false, false, [...]rocksdb.IOPriority{user, high, mid, low}},
		{false, true, [...]rocksdb.IOPriority{user, high, low, mid}},
		{true, false, [...]rocksdb.IOPriority{user, mid, low, high}},
		{true, true, [...]rocksdb.IOPriority{user, low, mid, high}},
	} {
		check(t, "order", priorityIterationOrder(c.highAfterMidLow, c.midAfterLow), c.want)
	}
	// Each order turns up with its chance: 0.81, 0.09, 0.09, 0.01.
	l := newLimiter(t, 200, 1000*1000, rocksdb.WritesOnly, false)
	seen := map[[rocksdb.IOTotal]rocksdb.IOPriority]int{}
	for range 20000 {
		seen[l.generatePriorityIterationOrder()]++
	}
	usual := seen[[...]rocksdb.IOPriority{user, high, mid, low}]
	if len(seen) != 4 || usual < 15500 || usual > 16900 {
		t.Errorf("orders seen: %v", seen)
	}
}

// TestRateLimiterTest_Rate has writers of all priorities ask at random for two
// seconds, then again with the rate doubled.
func TestRateLimiterTest_Rate(t *testing.T) {
	for i := 1; i <= 16; i *= 2 {
		synctest.Test(t, func(t *testing.T) {
			target := int64(i * 1024 * 10)
			burst, requestSize := i/4+1, target/10
			l := newLimiter(t, target, 100*1000, rocksdb.WritesOnly, false)
			skewed := func(max int) int { return rand.IntN(1<<rand.IntN(max+1)) + 1 }
			writer := func() {
				for until := time.Now().Add(2 * time.Second); time.Now().Before(until); {
					for _, c := range []struct {
						times int
						pri   rocksdb.IOPriority
					}{
						{skewed(burst * 2), rocksdb.IOUser}, {skewed(burst), rocksdb.IOHigh},
						{skewed(burst/2 + 1), rocksdb.IOMid}, {1, rocksdb.IOLow},
					} {
						for range c.times {
							l.Request(rand.Int64N(requestSize-1)+1, c.pri, nil, rocksdb.OpTypeWrite)
						}
					}
				}
			}
			var before int64
			for iter := 1; iter <= 2; iter++ {
				if iter == 2 {
					target *= 2
					l.SetBytesPerSecond(target)
				}
				start := time.Now()
				var wg sync.WaitGroup
				for range i {
					wg.Go(writer)
				}
				wg.Wait()
				through := l.GetTotalBytesThrough(rocksdb.IOTotal)
				ratio := float64(through-before) / time.Since(start).Seconds() / float64(target)
				before = through
				if ratio < 0.80 || ratio > 1.25 {
					t.Errorf("%d writers, iteration %d: %.3f of the rate", i, iter, ratio)
				}
			}
		})
	}
}

// TestRateLimiterTest_LimitChangeTest changes the rate while a request waits;
// that one must not starve.
func TestRateLimiterTest_LimitChangeTest(t *testing.T) {
	for i := int64(1); i <= 16; i <<= 1 {
		for iter := range 2 {
			synctest.Test(t, func(t *testing.T) {
				target := i * 1024 * 10
				l := newLimiter(t, target, 1000*1000, rocksdb.WritesOnly, false)
				l.Request(target, rocksdb.IOHigh, nil, rocksdb.OpTypeWrite)
				var wg sync.WaitGroup
				wg.Go(func() { l.Request(target, rocksdb.IOHigh, nil, rocksdb.OpTypeWrite) })
				synctest.Wait()
				check(t, "pending", pending(t, l, rocksdb.IOHigh), 1)
				start := time.Now()
				l.SetBytesPerSecond(target << 1 >> (iter << 1)) // double, half
				wg.Wait()
				want := time.Second
				if iter == 1 {
					want = 2 * time.Second
				}
				check(t, "wait", time.Since(start), want)
				check(t, "bytes", l.GetTotalBytesThrough(rocksdb.IOHigh), 2*target)
			})
		}
	}
}

func TestRateLimiterTest_AvailableByteSizeExhaustTest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const perPeriod = 500
		l := newLimiter(t, perPeriod, 1000*1000, rocksdb.WritesOnly, false)
		l.Request(100, rocksdb.IOUser, nil, rocksdb.OpTypeWrite)
		time.Sleep(time.Second)
		var wg sync.WaitGroup
		wg.Go(func() { l.Request(500, rocksdb.IOUser, nil, rocksdb.OpTypeWrite) })
		// The second request takes the 400 that are left, and only 100 of the
		// refill that is due by now.
		wg.Wait()
		check(t, "bytes", l.GetTotalBytesThrough(rocksdb.IOUser), 600)
		check(t, "left", l.mu.availableBytes, perPeriod-100)

		l.Request(perPeriod-100, rocksdb.IOUser, nil, rocksdb.OpTypeWrite)
		wg.Go(func() { l.Request(100, rocksdb.IOUser, nil, rocksdb.OpTypeWrite) })
		wg.Wait()
		wg.Go(func() { l.Request(perPeriod, rocksdb.IOUser, nil, rocksdb.OpTypeWrite) })
		synctest.Wait()
		check(t, "pending", pending(t, l, rocksdb.IOUser), 1)
		check(t, "bytes while one waits", l.GetTotalBytesThrough(rocksdb.IOUser), 1100+perPeriod-100)
		wg.Wait()
	})
}

func TestRateLimiterTest_AutoTuneIncreaseWhenFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const perRefill = time.Second
		stats := monitoring.CreateDBStatistics()
		l := newLimiter(t, 1000, perRefill.Microseconds(), rocksdb.WritesOnly, true)
		orig := l.GetSingleBurstBytes()
		start := time.Now()
		l.Request(orig, rocksdb.IOHigh, stats, rocksdb.OpTypeWrite)
		for time.Since(start) <= refillsPerTune*perRefill {
			l.Request(orig, rocksdb.IOHigh, stats, rocksdb.OpTypeWrite)
		}
		raised := l.GetSingleBurstBytes()
		if raised <= orig {
			t.Errorf("burst went from %d to %d although always drained", orig, raised)
		}
		time.Sleep(refillsPerTune * perRefill)
		l.Request(1, rocksdb.IOHigh, stats, rocksdb.OpTypeWrite)
		if n := l.GetSingleBurstBytes(); n >= raised {
			t.Errorf("burst went from %d to %d although idle", raised, n)
		}
	})
}

// TestRateLimiterTest_WaitHangingBug queues a third request at the moment the
// waiter of the second one wakes.
func TestRateLimiterTest_WaitHangingBug(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const perRefill = 100
		l := newLimiter(t, perRefill, 1000*1000, rocksdb.WritesOnly, false)
		start := time.Now()
		var wg sync.WaitGroup
		for i := range 3 {
			wg.Go(func() {
				if i == 2 {
					time.Sleep(time.Second) // the first refill
				}
				l.Request(perRefill, rocksdb.IOLow, nil, rocksdb.OpTypeWrite)
			})
		}
		wg.Wait()
		check(t, "requests", l.GetTotalRequests(rocksdb.IOTotal), 3)
		check(t, "bytes", l.GetTotalBytesThrough(rocksdb.IOTotal), 3*perRefill)
		if took := time.Since(start); took > 2*time.Second {
			t.Errorf("took %v", took)
		}
	})
}

func TestRateLimiterTest_RuntimeSingleBurstBytesChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const (
			rate, refill    = 400, 100
			refillPeriodUs  = refill * 1000000 / rate
			refillsPerBurst = 17
		)
		l := newLimiter(t, rate, refillPeriodUs, rocksdb.WritesOnly, false)
		check(t, "burst", l.GetSingleBurstBytes(), refill)
		check(t, "error", l.SetSingleBurstBytes(0), nil)
		check(t, "burst", l.GetSingleBurstBytes(), refill)
		if err := l.SetSingleBurstBytes(-1); !errors.Is(err, rocksdb.ErrInvalidArgument) {
			t.Errorf("a negative burst: %v", err)
		}
		check(t, "burst", l.GetSingleBurstBytes(), refill)
		check(t, "error", l.SetSingleBurstBytes(refill*refillsPerBurst), nil)
		check(t, "burst", l.GetSingleBurstBytes(), refill*refillsPerBurst)
		// The bucket is filled at once, so one refill need not be waited for.
		start := time.Now()
		l.Request(l.GetSingleBurstBytes(), rocksdb.IOUser, nil, rocksdb.OpTypeWrite)
		check(t, "wait", time.Since(start), (refillsPerBurst-1)*refillPeriodUs*time.Microsecond)
	})
}

func TestGenericRateLimiter_BadArguments(t *testing.T) {
	for _, a := range [][4]int64{{0, 1, 1, 0}, {1, 0, 1, 0}, {1, 1, 0, 0}, {1, 1, 1, -1}, {-5, 1, 1, 0}} {
		if _, err := NewGenericRateLimiter(a[0], a[1], int(a[2]), rocksdb.AllIO, false, a[3]); !errors.Is(err, rocksdb.ErrInvalidArgument) {
			t.Errorf("%v: %v", a, err)
		}
	}
	l := newLimiter(t, 1000, 1000*1000, rocksdb.WritesOnly, false)
	l.SetBytesPerSecond(0)
	check(t, "rate", l.GetBytesPerSecond(), 1000)
	l.Request(1<<40, rocksdb.IOTotal, nil, rocksdb.OpTypeWrite)
	l.Request(-1, rocksdb.IOLow, nil, rocksdb.OpTypeWrite)
	check(t, "bytes", l.GetTotalBytesThrough(rocksdb.IOTotal), 0)
}

func TestGenericRateLimiter_RequestToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t, 10000, 1000*1000, rocksdb.WritesOnly, false)
		token := func(bytes, alignment int, pri rocksdb.IOPriority, op rocksdb.OpType) int {
			return l.RequestToken(bytes, alignment, pri, nil, op)
		}
		check(t, "over the burst", token(50000, 0, rocksdb.IOLow, rocksdb.OpTypeWrite), 10000)
		check(t, "aligned", token(50000, 4096, rocksdb.IOLow, rocksdb.OpTypeWrite), 8192)
		check(t, "a page at least", token(100, 4096, rocksdb.IOLow, rocksdb.OpTypeWrite), 4096)
		check(t, "not limited", token(50000, 4096, rocksdb.IOLow, rocksdb.OpTypeRead), 50000)
		check(t, "no priority", token(50000, 4096, rocksdb.IOTotal, rocksdb.OpTypeWrite), 50000)
		check(t, "bytes", l.GetTotalBytesThrough(rocksdb.IOTotal), 10000+8192+4096)
		LoopRateLimitRequestHelper(25000, l, rocksdb.IOMid, nil, rocksdb.OpTypeWrite)
		check(t, "bytes", l.GetTotalBytesThrough(rocksdb.IOMid), 25000)
		check(t, "requests", l.GetTotalRequests(rocksdb.IOMid), 3)
	})
}

func TestGenericRateLimiter_CloseFreesWaiters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t, 1, 1000*1000, rocksdb.WritesOnly, false)
		var wg sync.WaitGroup
		for pri := rocksdb.IOLow; pri < rocksdb.IOTotal; pri++ {
			for range 3 {
				wg.Go(func() { l.Request(1<<30, pri, nil, rocksdb.OpTypeWrite) })
			}
		}
		synctest.Wait()
		start := time.Now()
		l.Close()
		wg.Wait()
		check(t, "wait", time.Since(start), 0)
	})
}
