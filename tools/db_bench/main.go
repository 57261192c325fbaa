// Port of db_bench_tool() of tools/db_bench_tool.cc.

package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/rocksdb-go/rocksdb/env"
	rocksdb "github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/internal/gflags"
	"github.com/rocksdb-go/rocksdb/monitoring"
	"github.com/rocksdb-go/rocksdb/options"
	"github.com/rocksdb-go/rocksdb/util/compression"
)

func main() { os.Exit(run(os.Args, os.Stdout, os.Stderr)) }

// tool is one run of the program: the flags and what is derived from them.
type tool struct {
	flags Flags
	set   *gflags.Set
	out   *outputs
	env   environment

	sysEnv   rocksdb.Env
	seedBase int64
	dbstats  rocksdb.Statistics // nil without statistics

	compressionType      rocksdb.CompressionType
	walCompressionType   rocksdb.CompressionType
	blobCompressionType  rocksdb.CompressionType
	compressionManager   rocksdb.CompressionManager // nil: none
	valueDistribution    distributionType
	multiplierAdditional []int
}

// run is the program; args[0] is its name. It gives the exit code.
func run(args []string, stdout, stderr io.Writer) int {
	t := &tool{out: newOutputs(stdout, stderr), sysEnv: env.Default()}
	defer t.out.flush()
	t.env = environment{flags: &t.flags, clock: t.sysEnv.GetSystemClock(), out: t.out, thread: t.threadStatus}
	err := t.setup(args)
	if err == nil {
		err = t.runBenchmarks()
	}
	var code exitCode
	switch {
	case err == nil:
		return 0
	case errors.As(err, &code):
		return int(code)
	}
	t.out.errf("%v\n", err)
	return 1
}

func (t *tool) setup(args []string) error {
	if err := t.parse(args); err != nil {
		return err
	}
	registerBuiltins()
	if err := t.derive(); err != nil {
		return err
	}
	f := &t.flags
	// --readonly is for what is there.
	f.UseExistingDB = f.UseExistingDB || f.Readonly
	if f.BuildInfo {
		t.out.printf("RocksDB: %s (Go %s, %s/%s)\n", rocksdb.GetRocksVersionAsString(true),
			runtime.Version(), runtime.GOOS, runtime.GOARCH)
		return exitCode(0)
	}
	t.seedBase = f.Seed
	if f.Seed == 0 {
		t.seedBase = int64(t.env.clock.NowMicros())
		t.out.printf("Set seed to %d because --seed was 0\n", uint64(t.seedBase))
	}
	if f.UseExistingKeys && !f.UseExistingDB {
		t.out.errf("`-use_existing_db` must be true for `-use_existing_keys` to be settable\n")
		return exitCode(1)
	}
	if f.UseExistingKeys && f.BgwriterNum > f.Num {
		t.out.errf("`-bgwriter_num` must be less than or equal to `-num` when `-use_existing_keys` is set\n")
		return exitCode(1)
	}
	var ok bool
	if t.valueDistribution, ok = stringToDistributionType(f.ValueSizeDistributionType); !ok {
		t.out.printf("Cannot parse distribution type '%s'\n", f.ValueSizeDistributionType)
		return exitCode(1)
	}
	env.RocksDbIOUringEnable(f.IOUringEnabled)
	t.sysEnv.SetBackgroundThreads(int(f.NumHighPriThreads), rocksdb.HighPriority)
	t.sysEnv.SetBackgroundThreads(int(f.NumBottomPriThreads), rocksdb.BottomPriority)
	t.sysEnv.SetBackgroundThreads(int(f.NumLowPriThreads), rocksdb.LowPriority)
	if f.DB == "" {
		f.DB = filepath.Join(testDirectory(), "dbbench")
	}
	if f.StatsIntervalSeconds > 0 {
		// Then the interval is how often the clock is looked at.
		f.StatsInterval = 1000
	}
	if f.SeekMissingPrefix && f.PrefixSize <= 8 {
		t.out.errf("prefix_size > 8 required by --seek_missing_prefix\n")
		return exitCode(1)
	}
	return t.checkSizes()
}

// testDirectory is where databases go without --db.
func testDirectory() string {
	dir := os.Getenv("TEST_TMPDIR")
	if dir == "" {
		dir = filepath.Join(os.TempDir(), "rocksdbtest-"+strconv.Itoa(os.Geteuid()))
	}
	// An error shows when the database is opened.
	_ = os.MkdirAll(dir, 0o755)
	return dir
}

// checkSizes refuses numbers that upstream would crash on.
func (t *tool) checkSizes() error {
	f := &t.flags
	for _, c := range []struct {
		flag    string
		ok      bool
		problem string
	}{
		{"key_size", f.KeySize > 0 && f.KeySize <= 1<<20, "must be in [1, 1048576]"},
		{"value_size", f.ValueSize >= 0, "is negative"},
		{"value_size_min", f.ValueSizeMin >= 0 && f.ValueSizeMin <= f.ValueSizeMax || t.valueDistribution == distributionFixed,
			"must be in [0, value_size_max]"},
		{"num", f.Num >= 0, "is negative"},
		{"batch_size", f.BatchSize > 0, "must be positive"},
		{"threads", f.Threads > 0, "must be positive"},
		{"numdistinct", f.Numdistinct > 0, "must be positive"},
		{"range_tombstone_width", f.RangeTombstoneWidth >= 0, "is negative"},
		{"max_num_range_tombstones", f.MaxNumRangeTombstones >= 0, "is negative"},
		{"prefix_size", f.KeysPerPrefix <= 0 || f.PrefixSize <= f.KeySize, "is larger than key size"},
		{"same_value_percentage", f.SameValuePercentage >= 0 && f.SameValuePercentage <= 100, "must be in [0, 100]"},
		{"key_id_range", f.KeyIDRange > 0, "must be positive"},
		{"block_size", f.BlockSize > 0, "must be positive"},
	} {
		if !c.ok {
			t.out.errf("db_bench: --%s %s\n", c.flag, c.problem)
			return exitCode(1)
		}
	}
	return nil
}

// parse reads the command line and refuses what is not built.
func (t *tool) parse(args []string) error {
	program := args[0]
	set, err := gflags.New(program, &t.flags)
	if err != nil {
		return err
	}
	t.set = set
	set.Usage = "\nUSAGE:\n" + program + " [OPTIONS]..."
	set.Version = rocksdb.GetRocksVersionAsString(true)
	t.registerValidators()
	if _, err := set.Parse(args[1:]); err != nil {
		var exit *gflags.Exit
		if !errors.As(err, &exit) {
			return err
		}
		if exit.ToStderr {
			t.out.errf("%s", exit.Output)
		} else {
			t.out.printf("%s", exit.Output)
		}
		return exitCode(exit.Code)
	}
	return t.refuseUnbuilt()
}

func (t *tool) registerValidators() {
	f := &t.flags
	invalid := func(name string, v any, rule string) error {
		return errors.New(fmt.Sprint("Invalid value for --", name, ": ", v, rule))
	}
	fits32 := func(name string, v *uint64) {
		t.set.Validate(name, func() error {
			if *v > math.MaxUint32 {
				return invalid(name, *v, ", overflow")
			}
			return nil
		})
	}
	fits32("subcompactions", &f.Subcompactions)
	fits32("blob_direct_write_partitions", &f.BlobDirectWritePartitions)
	percent := func(name string, v *int32) {
		t.set.Validate(name, func() error {
			if *v <= 0 || *v >= 100 {
				return invalid(name, *v, ", 0< pct <100 ")
			}
			return nil
		})
	}
	percent("readwritepercent", &f.Readwritepercent)
	percent("deletepercent", &f.Deletepercent)
	t.set.Validate("cache_numshardbits", func() error {
		if f.CacheNumshardbits >= 20 {
			return invalid("cache_numshardbits", f.CacheNumshardbits, ", must be < 20")
		}
		return nil
	})
	t.set.Validate("table_cache_numshardbits", func() error {
		if v := f.TableCacheNumshardbits; v <= 0 || v >= 20 {
			return invalid("table_cache_numshardbits", v, ", must be  0 < val < 20")
		}
		return nil
	})
	t.set.Validate("prefix_size", func() error {
		if f.PrefixSize < 0 || f.PrefixSize >= 2000000000 {
			return invalid("prefix_size", f.PrefixSize, ". 0<= PrefixSize <=2000000000")
		}
		return nil
	})
}

// refuseUnbuilt ends the program when a flag of a feature that is not built is
// off its default.
func (t *tool) refuseUnbuilt() error {
	bad := false
	for _, flag := range t.set.All() {
		if flag.Tag("todo") != "" && !flag.IsDefault() {
			t.out.errf("db_bench: --%s is not supported yet\n", flag.Name)
			bad = true
		}
	}
	switch t.flags.CacheType {
	case "lru_cache", "hyper_clock_cache", "auto_hyper_clock_cache", "fixed_hyper_clock_cache":
	case "clock_cache":
		t.out.errf("Old clock cache implementation has been removed.\n")
		bad = true
	default:
		t.out.errf("Cache type not supported.")
		bad = true
	}
	if bad {
		return exitCode(1)
	}
	return nil
}

// stringToCompressionType reads a compression's name as flags give it.
func (t *tool) stringToCompressionType(s string) (rocksdb.CompressionType, error) {
	switch strings.ToLower(s) {
	case "none":
		return rocksdb.NoCompression, nil
	case "snappy":
		return rocksdb.SnappyCompression, nil
	case "zlib":
		return rocksdb.ZlibCompression, nil
	case "bzip2":
		return rocksdb.BZip2Compression, nil
	case "lz4":
		return rocksdb.LZ4Compression, nil
	case "lz4hc":
		return rocksdb.LZ4HCCompression, nil
	case "xpress":
		return rocksdb.XpressCompression, nil
	case "zstd":
		return rocksdb.ZSTD, nil
	}
	t.out.errf("Cannot parse compression type '%s'\n", s)
	return 0, exitCode(1)
}

// createEnv makes the Env that --env_uri or --fs_uri names.
func (t *tool) createEnv() (err error) {
	f := &t.flags
	if f.EnvURI != "" && f.FSURI != "" {
		t.out.errf("Error: --env_uri and --fs_uri are mutually exclusive\n")
		return exitCode(1)
	}
	cfg := rocksdb.DefaultConfigOptions()
	if t.sysEnv, err = options.CreateEnvFromURI(&cfg, f.EnvURI, f.FSURI); err != nil {
		t.out.errf("Failed creating env: %v\n", err)
		return exitCode(1)
	}
	t.env.clock = t.sysEnv.GetSystemClock()
	return nil
}

// derive sets what the flags stand for, in upstream's order of complaints.
func (t *tool) derive() (err error) {
	f := &t.flags
	if err := t.createEnv(); err != nil {
		return err
	}
	if f.Statistics && f.StatisticsString != "" {
		t.out.errf("Cannot provide both --statistics and --statistics_string.\n")
		return exitCode(1)
	}
	if f.StatisticsString != "" {
		cfg := rocksdb.DefaultConfigOptions()
		if t.dbstats, err = options.CreateStatisticsFromString(&cfg, f.StatisticsString); err != nil || t.dbstats == nil {
			t.out.errf("No Statistics registered matching string: %s status=%v\n", f.StatisticsString, err)
			return exitCode(1)
		}
	}
	if f.Statistics {
		t.dbstats = monitoring.CreateDBStatistics()
	}
	if t.dbstats != nil {
		t.dbstats.SetStatsLevel(rocksdb.StatsLevel(f.StatsLevel))
	}
	if f.MaxBytesForLevelMultiplierAdditional != "" {
		for s := range strings.SplitSeq(f.MaxBytesForLevelMultiplierAdditional, ",") {
			n, err := strconv.Atoi(strings.TrimSpace(s))
			if err != nil {
				t.out.errf("db_bench: --max_bytes_for_level_multiplier_additional: '%s' is not a number\n", s)
				return exitCode(1)
			}
			t.multiplierAdditional = append(t.multiplierAdditional, n)
		}
	}
	for _, c := range []struct {
		name string
		to   *rocksdb.CompressionType
	}{
		{f.CompressionType, &t.compressionType},
		{f.WALCompression, &t.walCompressionType},
		{f.BlobCompressionType, &t.blobCompressionType},
	} {
		if *c.to, err = t.stringToCompressionType(c.name); err != nil {
			return err
		}
	}
	return t.parseCompressionManager(f.CompressionManager)
}

func (t *tool) parseCompressionManager(name string) error {
	switch strings.ToLower(name) {
	case "none":
		return nil
	case "mixed":
		t.compressionManager = compression.NewRoundRobinManager(nil)
	case "costpredictor":
		t.compressionManager = compression.CreateCostAwareCompressionManager(nil)
	case "autoskip":
		t.compressionManager = compression.CreateAutoSkipCompressionManager(nil)
	default:
		t.out.errf("Requested compression manager not supported")
		return exitCode(1)
	}
	if t.compressionType == rocksdb.NoCompression {
		t.out.errf("Compression type must not be no Compression when using compression manager")
		return exitCode(1)
	}
	return nil
}

// threadStatus is the table of --thread_status_per_interval.
func (t *tool) threadStatus() string {
	list, err := t.sysEnv.GetThreadList()
	if err != nil {
		return fmt.Sprintf("GetThreadList: %v\n", err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\n%18s %10s %12s %20s %13s %45s %12s %s\n", "ThreadID", "ThreadType", "cfName",
		"Operation", "ElapsedTime", "Stage", "State", "OperationProperties")
	for i := range list {
		ts := &list[i]
		fmt.Fprintf(&b, "%18d %10s %12s %20s %13s %45s %12s", ts.ThreadID,
			monitoring.GetThreadTypeName(ts.ThreadType), ts.CFName,
			monitoring.GetOperationName(ts.OperationType), monitoring.MicrosToString(ts.OpElapsedMicros),
			monitoring.GetOperationStageName(ts.OperationStage), monitoring.GetStateName(ts.StateType))
		props := monitoring.InterpretOperationProperties(ts.OperationType, &ts.OpProperties)
		for _, name := range sortedKeys(props) {
			fmt.Fprintf(&b, " %s %d |", name, props[name])
		}
		b.WriteString("\n")
	}
	return b.String()
}
