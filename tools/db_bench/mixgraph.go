// Port of Benchmark::MixGraph and its distributions of
// tools/db_bench_tool.cc. Differs: logarithms and powers are Go's, which may
// differ from the C library's in the last bit; the noise of the rate is Go's.

package main

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"

	rocksdb "github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

// paretoCDFInversion maps u in [0, 1) to a Pareto distribution.
func paretoCDFInversion(u, theta, k, sigma float64) int64 {
	if k == 0 {
		return toInt64(math.Ceil(theta - sigma*math.Log(u)))
	}
	return toInt64(math.Ceil(theta + sigma*(math.Pow(u, -k)-1)/k))
}

// powerCDFInversion inverts y = a * x^b.
func powerCDFInversion(u, a, b float64) int64 { return toInt64(math.Ceil(math.Pow(u/a, 1/b))) }

// queryDecider picks kinds of queries by their shares: of thousandths, each
// rounded up.
type queryDecider struct {
	upTo   []int64
	ratios []float64
	total  int64
}

func newQueryDecider(ratios ...float64) *queryDecider {
	sum := 0.0
	for _, r := range ratios {
		sum += r
	}
	q := &queryDecider{}
	for _, r := range ratios {
		q.total += toInt64(math.Ceil(1000 * (r / sum)))
		q.upTo = append(q.upTo, q.total)
		q.ratios = append(q.ratios, r/sum)
	}
	return q
}

func (q *queryDecider) kind(n int64) int {
	at := n % q.total
	for i, upTo := range q.upTo {
		if at < upTo {
			return i
		}
	}
	return 0
}

// keyRanges spreads the keys over equal ranges whose popularity follows
// a*exp(b*x) + c*exp(d*x), shuffled. A range takes as many of the numbers in
// [0, total) as it is popular.
type keyRanges struct {
	starts []int64 // of the range's numbers
	access []int64 // how many numbers
	keys   int64   // of a range
	total  int64
}

func newKeyRanges(f *Flags) (*keyRanges, error) {
	n := max(1, f.KeyrangeNum)
	r := &keyRanges{keys: f.Num / n}
	amplify := int64(0)
	for x := float64(n); x >= 1; x-- {
		p := f.KeyrangeDistA*math.Exp(f.KeyrangeDistB*x) + f.KeyrangeDistC*math.Exp(f.KeyrangeDistD*x)
		if p < 1e-16 {
			p = 0
		}
		// The least popular range gets one number or more.
		if amplify == 0 && p > 0 {
			amplify = toInt64(math.Floor(1/p)) + 1
		}
		access := int64(0)
		if p > 0 {
			access = toInt64(math.Floor(float64(amplify) * p))
		}
		r.access = append(r.access, access)
		r.total += access
	}
	if r.total <= 0 || r.keys <= 0 {
		return nil, rocksdb.InvalidArgumentf("mixgraph: the key ranges are empty (%d keys a range, %d numbers)", r.keys, r.total)
	}
	// The same parameters give the same order.
	shuffle := util.NewRandom64(uint64(r.total))
	for i := range f.KeyrangeNum {
		j := shuffle.Next() % uint64(f.KeyrangeNum)
		r.access[i], r.access[j] = r.access[j], r.access[i]
	}
	offset := int64(0)
	for _, a := range r.access {
		r.starts = append(r.starts, offset)
		offset += a
	}
	return r, nil
}

// key maps a random number to a key's.
func (r *keyRanges) key(n int64, a, b float64) int64 {
	at := n % r.total
	lo, hi := 0, len(r.starts)
	for lo+1 < hi {
		if mid := lo + (hi-lo)/2; at < r.starts[mid] {
			hi = mid
		} else {
			lo = mid
		}
	}
	offset := n % r.keys
	if a != 0 && b != 0 {
		u := float64(offset) / float64(r.keys)
		offset = int64(util.NewRandom64(uint64(powerCDFInversion(u, a, b))).Next() % uint64(r.keys))
	}
	return r.keys*int64(lo) + offset
}

// mixer is one worker of mixgraph: gets, puts and scans in given shares, with
// popular keys, and sizes and lengths of Pareto distributions.
type mixer struct {
	b      *benchmark
	t      *threadState
	gen    *randomGenerator
	query  *queryDecider
	ranges *keyRanges // nil unless --keyrange_dist_*
	buf    []byte
	value  rocksdb.PinnableSlice
	copied []byte

	gets, puts, seeks, found, bytes int64
	scanLength, valueSize           float64
}

func (b *benchmark) mixGraph(t *threadState) error {
	f := b.flags
	if err := b.needKeys(); err != nil {
		return err
	}
	if f.MixMaxValueSize <= 0 || f.MixMaxScanLen <= 0 || f.MixGetRatio+f.MixPutRatio+f.MixSeekRatio <= 0 {
		b.out.errf("db_bench: mixgraph needs positive --mix_max_value_size, --mix_max_scan_len and ratios\n")
		return exitCode(1)
	}
	m := &mixer{b: b, t: t, gen: b.newGenerator(), buf: b.keys.keyBuffer(),
		query: newQueryDecider(f.MixGetRatio, f.MixPutRatio, f.MixSeekRatio)}
	if f.SineMixRate {
		for mode, to := range map[rocksdb.RateLimiterMode]func(*limiter){
			rocksdb.WritesOnly: func(l *limiter) { t.shared.writeRateLimiter.Store(l) },
			rocksdb.AllIO:      func(l *limiter) { t.shared.mixReadLimiter.Store(l) },
		} {
			l, err := newLimiter(1000000, mode)
			if err != nil {
				return err
			}
			to(l)
		}
	}
	if f.KeyrangeDistA != 0 || f.KeyrangeDistB != 0 || f.KeyrangeDistC != 0 || f.KeyrangeDistD != 0 {
		var err error
		if m.ranges, err = newKeyRanges(f); err != nil {
			return t.failed("mixgraph", err)
		}
	}
	d := t.shared.makeDuration(int64(f.Duration), b.reads, 0)
	for !d.finished(1) {
		if err := m.one(); err != nil {
			return err
		}
	}
	t.stats.addBytes(m.bytes)
	t.stats.addMessage(fmt.Sprintf("( Gets:%d Puts:%d Seek:%d, reads %d in %d found, avg size: %s value, %s scan)\n",
		m.gets, m.puts, m.seeks, m.found, m.gets+m.seeks, ratio(m.valueSize, m.puts), ratio(m.scanLength, m.seeks)))
	return nil
}

// ratio prints a quotient as C does: nothing by nothing is -nan on x86.
func ratio(sum float64, n int64) string {
	if n == 0 {
		return "-nan"
	}
	return fmt.Sprintf("%.1f", sum/float64(n))
}

// one does one query.
func (m *mixer) one() error {
	b, t, f := m.b, m.t, m.b.flags
	db := b.selectDB(t.rand)
	drawn := b.randomKey(t.rand)
	u := float64(drawn) / float64(f.Num)
	n := drawn
	switch {
	case f.KeyDistA == 0 || f.KeyDistB == 0:
	case m.ranges != nil:
		n = m.ranges.key(drawn, f.KeyDistA, f.KeyDistB)
	default:
		seed := powerCDFInversion(u, f.KeyDistA, f.KeyDistB)
		n = int64(util.NewRandom64(uint64(seed)).Next()) % f.Num
	}
	key := b.keys.generate(uint64(n), f.Num, m.buf)
	if f.SineMixRate {
		m.followSine()
	}
	switch m.query.kind(drawn) {
	case 0:
		return m.get(db, key, uint64(n))
	case 1:
		return m.put(db, key, u)
	}
	return m.scan(db, key, u)
}

// followSine sets the rates anew when their interval is over.
func (m *mixer) followSine() {
	f, s := m.b.flags, m.t.stats
	now := m.b.tool.env.clock.NowMicros()
	if now <= s.sineInterval || now-s.sineInterval <= f.SineMixRateIntervalMilliseconds*1000 {
		return
	}
	s.sineInterval = now
	rate := m.b.sineRate(float64(now-s.start) / 1e6)
	if noise, band := f.SineMixRateNoise, int(f.SineA); noise >= 0 && noise <= 1 && band > 0 {
		if v := rate + float64(rand.IntN(band)-band/2)*noise; v >= 0 {
			rate = v
		}
	}
	if r := rate * (m.query.ratios[0] + m.query.ratios[2]); r >= 1 {
		m.t.shared.mixReadLimiter.Load().SetBytesPerSecond(int64(r))
	}
	if w := rate * m.query.ratios[1]; w >= 1 {
		m.t.shared.writeRateLimiter.Load().SetBytesPerSecond(int64(w))
	}
}

func (m *mixer) get(db *benchDB, key []byte, n uint64) error {
	t := m.t
	m.gets++
	if err := db.pick(n).GetInto(&t.ro, key, &m.value); err == nil {
		m.found++
		m.bytes += int64(len(key) + m.value.Size())
		m.value.Release()
	} else if !isNotFound(err) {
		return t.failed("Get returned an error", err)
	}
	l := t.shared.mixReadLimiter.Load()
	if l == nil {
		l = t.shared.readRateLimiter
	}
	if l != nil && (m.gets+m.seeks)%100 == 0 {
		l.request(100, rocksdb.OpTypeRead)
	}
	t.stats.finishedOps(db, 1, opRead)
	return nil
}

func (m *mixer) put(db *benchDB, key []byte, u float64) error {
	t, f := m.t, m.b.flags
	m.puts++
	most := min(f.MixMaxValueSize, 1<<20)
	size := paretoCDFInversion(u, f.ValueTheta, f.ValueK, f.ValueSigma)
	if size < 10 {
		size = 10
	} else if size > most {
		size %= most
	}
	m.valueSize += float64(size)
	if err := db.db.Put(&t.wo, key, m.gen.generateN(int(size))); err != nil {
		return t.failed("put error", err)
	}
	if l := t.shared.writeRateLimiter.Load(); l != nil && m.puts%100 == 0 {
		l.request(100, rocksdb.OpTypeWrite)
	}
	t.stats.finishedOps(db, 1, opWrite)
	return nil
}

func (m *mixer) scan(db *benchDB, key []byte, u float64) error {
	t, f := m.t, m.b.flags
	it := db.db.NewIterator(&t.ro)
	it.Seek(key)
	m.seeks++
	if it.Valid() && bytes.Equal(it.Key(), key) {
		m.found++
	}
	length := paretoCDFInversion(u, f.IterTheta, f.IterK, f.IterSigma) % f.MixMaxScanLen
	for j := int64(0); j < length && it.Valid(); j++ {
		m.copied = append(m.copied[:0], it.Value()...)
		m.bytes += int64(len(it.Key()) + len(m.copied))
		it.Next()
		m.scanLength++
	}
	err := it.Status()
	closeIterator(it)
	if err != nil {
		return t.failed("Iterator error", err)
	}
	t.stats.finishedOps(db, 1, opSeek)
	return nil
}
