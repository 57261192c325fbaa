// Port of Benchmark::Run and RunBenchmark of tools/db_bench_tool.cc.

package main

import (
	"errors"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	rocksdb "github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
	"github.com/rocksdb-go/rocksdb/util/ratelimiter"
)

// benchmark runs the list of --benchmarks. The fields below flags are set anew
// for each of them; workers only read them.
type benchmark struct {
	tool  *tool
	flags *Flags
	out   *outputs

	cache       rocksdb.Cache // block cache; nil for none
	db          benchDB       // open unless there are several
	multiDBs    []*benchDB
	openOptions rocksdb.Options
	listener    *errorHandlerListener
	threadCount int64 // workers started so far: seeds differ by it

	keys            keyMaker
	num             int64
	valueSize       int
	reads           int64
	writes          int64
	deletes         int64
	readWrites      int64
	mergeKeys       int64
	entriesPerBatch int64
	readOptions     rocksdb.ReadOptions
	writeOptions    rocksdb.WriteOptions
	clock           *timestampEmulator       // of --user_timestamp_size; nil for none
	timestamps      *timestampEmulator       // of timeseries
	expiryFilter    rocksdb.CompactionFilter // of timeseries; nil for none
}

type benchmarkFunc func(*threadState) error

// sortedKeys gives a map's keys in order.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

func orNum(n, num int64) int64 {
	if n < 0 {
		return num
	}
	return n
}

func (t *tool) newBenchmark() (*benchmark, error) {
	f := &t.flags
	b := &benchmark{
		tool: t, flags: f, out: t.out, num: f.Num, listener: &errorHandlerListener{},
		keys: keyMaker{keySize: int(f.KeySize), prefixSize: int(f.PrefixSize), keysPerPrefix: f.KeysPerPrefix},
	}
	if f.UserTimestampSize > 0 {
		b.clock = &timestampEmulator{}
	}
	b.mergeKeys = orNum(f.MergeKeys, f.Num)
	b.readWrites = max(f.Writes, f.Reads)
	if f.Writes < 0 && f.Reads < 0 {
		b.readWrites = f.Num
	}
	var err error
	if b.cache, err = t.newCache(f.CacheSize); err != nil {
		return nil, err
	}
	if f.PrefixSize > f.KeySize {
		t.out.errf("prefix size is larger than key size")
		return nil, exitCode(1)
	}
	heaps, _ := filepath.Glob(filepath.Join(f.DB, "heap-*"))
	for _, path := range heaps {
		_ = os.Remove(path)
	}
	if !f.UseExistingDB {
		opts := rocksdb.DefaultOptions()
		opts.Env, opts.WALDir = t.sysEnv, f.WALDir
		// As upstream: where it cannot be destroyed, opening says why.
		_ = destroyDB(f.DB, &opts)
		if f.WALDir != "" {
			_ = os.Remove(f.WALDir)
		}
		if f.NumMultiDB > 1 {
			_ = os.MkdirAll(f.DB, 0o755)
			if f.WALDir != "" {
				_ = os.MkdirAll(f.WALDir, 0o755)
			}
		}
	}
	return b, nil
}

func (t *tool) runBenchmarks() (err error) {
	b, err := t.newBenchmark()
	if err != nil {
		return err
	}
	defer func() {
		if e := b.closeDBs(); e != nil && err == nil {
			err = e
		}
	}()
	return b.run()
}

func (b *benchmark) closeDBs() error {
	errs := []error{b.db.close()}
	for _, d := range b.multiDBs {
		errs = append(errs, d.close())
	}
	b.multiDBs = nil
	return errors.Join(errs...)
}

func (b *benchmark) run() error {
	f := b.flags
	if f.CompressionRatio > 1 {
		b.out.errf("compression_ratio should be between 0 and 1\n")
		return exitCode(1)
	}
	if err := b.open(); err != nil {
		return err
	}
	if err := b.printHeader(); err != nil {
		return err
	}
	last := ""
	for name := range strings.SplitSeq(f.Benchmarks, ",") {
		last = name
		if err := b.runNamed(name); err != nil {
			return err
		}
	}
	b.endTraces(last)
	if f.Statistics {
		b.out.printf("STATISTICS:\n%s\n", b.tool.dbstats.ToString())
	}
	return nil
}

// resetParameters sets what a benchmark may change.
func (b *benchmark) resetParameters() {
	f := b.flags
	b.num, b.valueSize = f.Num, int(f.ValueSize)
	b.reads, b.writes, b.deletes = orNum(f.Reads, f.Num), orNum(f.Writes, f.Num), orNum(f.Deletes, f.Num)
	b.keys.keySize = int(f.KeySize)
	b.entriesPerBatch = f.BatchSize
	wo := rocksdb.DefaultWriteOptions()
	wo.Sync, wo.DisableWAL = f.Sync, f.DisableWAL
	if f.RateLimitAutoWALFlush {
		wo.RateLimiterPriority = rocksdb.IOUser
	}
	b.writeOptions = wo
	ro := rocksdb.DefaultReadOptions()
	ro.VerifyChecksums = f.VerifyChecksum
	ro.TotalOrderSeek, ro.PrefixSameAsStart = f.TotalOrderSeek, f.PrefixSameAsStart
	if f.RateLimitUserOps {
		ro.RateLimiterPriority = rocksdb.IOUser
	}
	ro.Tailing = f.UseTailingIterator
	ro.ReadaheadSize = uint64(f.ReadaheadSize)
	ro.AdaptiveReadahead, ro.AsyncIO = f.AdaptiveReadahead, f.AsyncIO
	ro.OptimizeMultigetForIO = f.OptimizeMultigetForIO
	ro.AutoReadaheadSize = f.AutoReadaheadSize
	ro.AutoRefreshIteratorWithSnapshot = f.AutoRefreshIteratorWithSnapshot
	b.readOptions = ro
}

// parseRepeats takes NAME[X5] and NAME[W1-X5] apart.
func (b *benchmark) parseRepeats(s string) (name string, repeat, warmup int, err error) {
	repeat = 1
	if !strings.HasSuffix(s, "]") {
		return s, repeat, 0, nil
	}
	name, args, ok := strings.Cut(s[:len(s)-1], "[")
	if !ok {
		b.out.errf("unknown benchmark arguments '%s'\n", s)
		return "", 0, 0, exitCode(1)
	}
	for arg := range strings.SplitSeq(args, "-") {
		if arg == "" || arg[0] != 'X' && arg[0] != 'W' {
			continue
		}
		n, e := strconv.Atoi(arg[1:])
		if e != nil {
			b.out.errf("db_bench: '%s' of benchmark '%s' is not a number\n", arg[1:], s)
			return "", 0, 0, exitCode(1)
		}
		if arg[0] == 'X' {
			repeat = n
		} else {
			warmup = n
		}
	}
	return name, repeat, warmup, nil
}

// runNamed runs one entry of --benchmarks.
func (b *benchmark) runNamed(entry string) error {
	b.resetParameters()
	name, repeat, warmup, err := b.parseRepeats(entry)
	if err != nil || name == "" {
		return err
	}
	c := benchmarkCase{threads: int(b.flags.Threads)}
	if err := b.find(name, &c); err != nil {
		return err
	}
	if c.fresh {
		if err := b.reopenFresh(name, &c); err != nil {
			return err
		}
	}
	if c.method == nil {
		return nil
	}
	b.out.printf("DB path: [%s]\n", b.flags.DB)
	if err := b.startTraces(name); err != nil {
		return err
	}
	if warmup > 0 {
		b.out.printf("Warming up benchmark by running %d times\n", warmup)
	}
	for range warmup {
		if _, err := b.runBenchmark(c.threads, name, c.method); err != nil {
			return err
		}
	}
	if repeat > 1 {
		b.out.printf("Running benchmark for %d times\n", repeat)
	}
	var combined combinedStats
	for range repeat {
		s, err := b.runBenchmark(c.threads, name, c.method)
		if err != nil {
			return err
		}
		combined.add(s)
		if b.flags.ConfidenceIntervalOnly {
			combined.reportWithConfidenceIntervals(b.out, name)
		} else {
			combined.report(b.out, name)
		}
	}
	if repeat > 1 {
		combined.reportFinal(b.out, name)
	}
	return nil
}

// reopenFresh empties the database of a benchmark that fills it.
func (b *benchmark) reopenFresh(name string, c *benchmarkCase) error {
	f := b.flags
	if f.UseExistingDB {
		b.out.printf("%-12s : skipped (--use_existing_db is true)\n", name)
		c.method = nil
	}
	if err := b.closeDBs(); err != nil {
		return err
	}
	if !f.UseExistingDB {
		opts := b.openOptions
		if f.NumMultiDB <= 1 {
			_ = destroyDB(f.DB, &opts)
		}
		for i := 0; f.NumMultiDB > 1 && i < int(f.NumMultiDB); i++ {
			if b.openOptions.WALDir != "" {
				opts.WALDir = pathForMultiple(b.openOptions.WALDir, i)
			}
			_ = destroyDB(pathForMultiple(f.DB, i), &opts)
		}
	}
	return b.open()
}

// pathForMultiple is the directory of the i-th of several databases.
func pathForMultiple(base string, i int) string {
	if base != "" && !strings.HasSuffix(base, "/") {
		base += "/"
	}
	return base + strconv.Itoa(i)
}

// runBenchmark runs method on n workers, prints its line and gives the counts.
func (b *benchmark) runBenchmark(n int, name string, method benchmarkFunc) (*stats, error) {
	f := b.flags
	shared := &sharedState{env: &b.tool.env, total: n}
	if f.BenchmarkWriteRateLimit > 0 {
		l, err := newLimiter(f.BenchmarkWriteRateLimit, rocksdb.WritesOnly)
		if err != nil {
			return nil, err
		}
		shared.writeRateLimiter.Store(l)
	}
	if f.BenchmarkReadRateLimit > 0 {
		l, err := newLimiter(f.BenchmarkReadRateLimit, rocksdb.ReadsOnly)
		if err != nil {
			return nil, err
		}
		shared.readRateLimiter = l
	}
	var reporter *reporterAgent
	if f.ReportIntervalSeconds > 0 {
		var err error
		if reporter, err = newReporterAgent(f.ReportFile, f.ReportIntervalSeconds, b.out); err != nil {
			return nil, err
		}
		defer reporter.close()
	}
	workers := make([]*threadState, n)
	start := make(chan struct{})
	var wg sync.WaitGroup
	for i := range workers {
		b.threadCount++
		t := newThreadState(b, i, b.threadCount, shared)
		t.stats.reporter = reporter
		workers[i] = t
		wg.Go(func() {
			<-start
			b.worker(t, method)
		})
	}
	close(start)
	wg.Wait()
	return b.collect(shared, workers, name)
}

// worker runs one worker from begin to end.
func (b *benchmark) worker(t *threadState, method benchmarkFunc) {
	t.stats.begin(t.tid)
	if err := method(t); err != nil {
		t.shared.setFatal(err)
	}
	if t.ro.PerfContext != nil {
		t.stats.addMessage("PERF_CONTEXT:\n" + t.perf.ToString(false))
	}
	t.stats.stop()
	t.shared.done.Add(1)
}

func (b *benchmark) collect(shared *sharedState, workers []*threadState, name string) (*stats, error) {
	shared.mu.Lock()
	err := shared.mu.err
	if shared.watchdog != nil {
		// What is left is closing the databases; the process' end is near.
		defer shared.watchdog.Stop()
	}
	shared.mu.Unlock()
	merged := newStats(&b.tool.env)
	for _, t := range workers {
		merged.merge(t.stats)
	}
	var fatal *fatalError
	if err != nil && !errors.As(err, &fatal) {
		return nil, errors.Join(err, b.closeDBs())
	}
	merged.print(b.out, name)
	b.out.flush()
	if fatal != nil {
		b.out.errf("Fatal error during \"%s\": %s\n", name, fatal.what)
		if err := b.closeDBs(); err != nil {
			b.out.errf("%v\n", err)
		}
		return nil, exitCode(1)
	}
	return merged, nil
}

func newLimiter(rate uint64, mode rocksdb.RateLimiterMode) (*limiter, error) {
	l, err := ratelimiter.NewGenericRateLimiter(int64(min(rate, math.MaxInt64)), 100000, 10, mode, false, 0)
	if err != nil {
		return nil, err
	}
	return &limiter{l}, nil
}

// selectDB draws for the database that an operation goes to; upstream draws
// when there is one only as well.
func (b *benchmark) selectDB(rand *util.Random64) *benchDB { return b.selectBy(rand.Next()) }

func (b *benchmark) selectBy(n uint64) *benchDB {
	if b.db.db != nil {
		return &b.db
	}
	return b.multiDBs[n%uint64(len(b.multiDBs))]
}

// newGenerator makes the values of one worker.
func (b *benchmark) newGenerator() *randomGenerator {
	return newRandomGenerator(b.flags, b.tool.valueDistribution, b.valueSize)
}
