// Port of db/write_controller_test.cc.

package writethread

import (
	"testing"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// timeSetClock stands at micros.
type timeSetClock struct {
	rocksdb.SystemClock
	micros uint64
}

func (c *timeSetClock) NowNanos() uint64 { return c.micros * 1000 }

const (
	mb   = 1000000
	mbps = 1000000
	sec  = 1000000 // in microseconds
)

func newTimeSetClock() *timeSetClock { return &timeSetClock{micros: 6666} }

type controllerTest struct {
	*testing.T
	*WriteController
	clock *timeSetClock
}

func newControllerTest(t *testing.T, rate uint64) controllerTest {
	return controllerTest{t, NewWriteController(rate), newTimeSetClock()}
}

func (c controllerTest) wantDelay(bytes, want uint64) {
	c.Helper()
	if got := c.GetDelay(c.clock, bytes); got != want {
		c.Fatalf("a delay of %d µs for %d bytes, want %d", got, bytes, want)
	}
}

func (c controllerTest) wantRate(want uint64) {
	c.Helper()
	if got := c.DelayedWriteRate(); got != want {
		c.Fatalf("rate %d, want %d", got, want)
	}
}

func (c controllerTest) wantState(stopped, delay bool) {
	c.Helper()
	if c.IsStopped() != stopped || c.NeedsDelay() != delay {
		c.Fatalf("stopped %v, delay %v", c.IsStopped(), c.NeedsDelay())
	}
}

func TestWriteControllerTest_BasicAPI(t *testing.T) {
	c := newControllerTest(t, 40*mbps)
	c.wantRate(40 * mbps)
	c.wantState(false, false)
	c.wantDelay(100*mb, 0)

	c.SetDelayedWriteRate(20 * mbps)
	c.wantRate(20 * mbps)
	c.wantState(false, false)
	c.wantDelay(100*mb, 0)

	tokens := []*Token{c.GetDelayToken(10 * mbps)}
	c.wantRate(10 * mbps)
	c.wantState(false, true)
	c.wantDelay(20*mb, 2*sec)
	c.clock.micros += 2 * sec // pays the debt
	for _, x := range []struct{ rate, delay uint64 }{{2 * mbps, 10 * sec}, {1 * mbps, 20 * sec}, {20 * mbps, 1 * sec}} {
		tokens = append(tokens, c.GetDelayToken(x.rate))
		c.wantDelay(20*mb, x.delay)
		c.clock.micros += x.delay
	}
	// Three times the rate is more than the maximum, which is used.
	c.wantRate(20 * mbps)
	tokens = append(tokens, c.GetDelayToken(3*c.DelayedWriteRate()))
	c.wantRate(40 * mbps)
	c.wantDelay(20*mb, sec/2)
	c.wantState(false, true)

	stop1 := c.GetStopToken()
	c.wantState(true, true)
	c.wantDelay(100*mb, 0)
	stop2 := c.GetStopToken()
	c.wantState(true, true)
	c.wantDelay(100*mb, 0)
	stop2.Release()
	c.wantState(true, true)
	c.wantDelay(100*mb, 0)
	stop1.Release()
	c.wantState(false, true)
	c.wantRate(40 * mbps)
	c.clock.micros += sec / 2
	c.wantDelay(40*mb, sec)
	for _, x := range tokens {
		x.Release()
	}
	c.wantState(false, false)
	if c.NeedSpeedupCompaction() {
		t.Fatal("compactions are to hurry without a token")
	}
}

func TestWriteControllerTest_StartFilled(t *testing.T) {
	c := newControllerTest(t, 10*mbps)
	defer c.GetDelayToken(c.DelayedWriteRate()).Release()
	// Two writes that fit into one refill together.
	c.wantDelay(2000, 0)
	c.wantDelay(2000, 0)
	c.clock.micros += 1000
	c.wantDelay(2000, 0)
	c.wantDelay(2000, 0)
	if d := c.GetDelay(c.clock, 10*mb); d <= 999000 || d >= 1001000 {
		t.Fatalf("a delay of %d µs", d)
	}
}

func TestWriteControllerTest_DebtAccumulation(t *testing.T) {
	c := newControllerTest(t, 10*mbps)
	var tokens [10]*Token
	var debt uint64
	owe := func(i int) {
		t.Helper()
		n := uint64(i + 1)
		old := tokens[i]
		tokens[i] = c.GetDelayToken(n * mbps)
		old.Release()
		delay := c.GetDelay(c.clock, 63*mb)
		if delay <= debt || delay-debt != 63*sec/n {
			t.Fatalf("%d: a delay of %d µs, %d were owed", i, delay, debt)
		}
		debt = delay
	}
	// Debt grows while no time goes by.
	for i := range tokens {
		owe(i)
	}
	c.clock.micros += debt
	debt = 0
	// Debt is time, not bytes: a new rate does not change what was owed.
	for i := range tokens {
		owe(i)
		credit := debt / 2
		c.clock.micros += credit
		debt -= credit
	}
	c.clock.micros += debt
	c.wantDelay(100, 0)
	for i := range tokens {
		for _, n := range []uint64{63 * mb, 100} {
			if c.GetDelay(c.clock, n) == 0 {
				t.Fatalf("%d: no delay for %d bytes", i, n)
			}
		}
		tokens[i].Release()
	}
	// Without tokens the debt is forgotten.
	defer c.GetDelayToken(1 * mbps).Release()
	c.wantDelay(100, 0)
}

func TestWriteControllerTest_CreditAccumulation(t *testing.T) {
	c := newControllerTest(t, 10*mbps)
	var tokens [10]*Token
	take := func(i int, rate uint64) {
		old := tokens[i]
		tokens[i] = c.GetDelayToken(rate)
		old.Release()
	}
	take(0, 1*mbps)
	c.wantDelay(10*mb, 10*sec)
	c.clock.micros += 10 * sec

	credit := uint64(1000 * sec)
	c.clock.micros += credit
	// Credit is bytes: it is taken in at the rate of the first write after.
	for i := range tokens {
		take(i, uint64(i+1)*mbps)
		c.wantDelay(63*mb, 0)
		credit -= 63 * mb
	}
	take(0, 1*mbps)
	c.wantDelay(credit, 0)
	c.wantDelay(10*mb, 10*sec)
	c.clock.micros += 10 * sec

	c.clock.micros += 1000 * sec
	for i := range tokens {
		c.wantDelay(3*mb, 0)
		tokens[i].Release()
	}
	// Without tokens the credit is forgotten.
	take(0, 1*mbps)
	c.wantDelay(10*mb, 10*sec)
}

func TestWriteController_CompactionPressure(t *testing.T) {
	c := newControllerTest(t, 0)
	c.wantRate(1)
	for i, get := range []func() *Token{c.GetCompactionPressureToken, c.GetStopToken, func() *Token { return c.GetDelayToken(5) }} {
		token := get()
		if !c.NeedSpeedupCompaction() {
			t.Fatalf("token %d does not speed compactions up", i)
		}
		token.Release()
		token.Release()
		if c.NeedSpeedupCompaction() {
			t.Fatalf("token %d is still out", i)
		}
	}
	var none *Token
	none.Release()
}
