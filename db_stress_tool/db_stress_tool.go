// Port of db_stress_tool/db_stress_tool.cc.

package dbstresstool

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rocksdb-go/rocksdb/cache"
	"github.com/rocksdb-go/rocksdb/db/compaction"
	dbimpl "github.com/rocksdb-go/rocksdb/db/db_impl"
	"github.com/rocksdb-go/rocksdb/env"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/memtable"
	"github.com/rocksdb-go/rocksdb/monitoring"
	"github.com/rocksdb-go/rocksdb/options"
	"github.com/rocksdb-go/rocksdb/table/builtin"
	"github.com/rocksdb-go/rocksdb/test_util/killpoint"
	"github.com/rocksdb-go/rocksdb/util/compression"
	"github.com/rocksdb-go/rocksdb/util/ratelimiter"
	compactionfilters "github.com/rocksdb-go/rocksdb/utilities/compaction_filters"
	"github.com/rocksdb-go/rocksdb/utilities/fsutil"
	mergeoperators "github.com/rocksdb-go/rocksdb/utilities/merge_operators"
	"github.com/rocksdb-go/rocksdb/utilities/registry"
	tablepropertiescollectors "github.com/rocksdb-go/rocksdb/utilities/table_properties_collectors"
)

// Tool is one run of the stress test.
type Tool struct {
	flags *Flags
	exit  func(code int) // ends the process; does not return
	outMu sync.Mutex
	out   io.Writer
	err   io.Writer

	rawEnv rocksdb.Env
	keys   *keyGenerator
	hot    *hotKeys
	cache  rocksdb.Cache
	// compressedSecondary is below cache, where --compressed_secondary_cache_size
	// says so.
	compressedSecondary *cache.CompressedSecondaryCache
	wbm                 rocksdb.WriteBufferManager
	rateLimiter         rocksdb.RateLimiter
	compression         rocksdb.CompressionType
	bottommost          rocksdb.CompressionType
	stopOnce            sync.Once

	operations atomic.Uint64
	faultsMu   sync.Mutex
	faults     []*fsutil.FaultInjectionTestFS
}

// Progress counts the operations and injected errors so far.
func (t *Tool) Progress() string {
	t.faultsMu.Lock()
	defer t.faultsMu.Unlock()
	errors := 0
	for _, f := range t.faults {
		errors += f.InjectedErrors()
	}
	return fmt.Sprintf("Operations: %d\nInjected errors: %d\n", t.operations.Load(), errors)
}

// New makes a run. out and err get what upstream prints to standard output and
// error: anything on err is a failure to who runs the test. exit ends the
// process at once, with its threads running, and does not return.
func New(f *Flags, out, err io.Writer, exit func(code int)) *Tool {
	t := &Tool{flags: f, err: err, exit: exit, rawEnv: env.Default()}
	t.out = &lockedWriter{mu: &t.outMu, w: out}
	return t
}

type lockedWriter struct {
	mu *sync.Mutex
	w  io.Writer
}

func (l *lockedWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}

func (t *Tool) printf(format string, args ...any) { fmt.Fprintf(t.out, format, args...) }

func (t *Tool) errf(format string, args ...any) {
	t.outMu.Lock()
	defer t.outMu.Unlock()
	fmt.Fprintf(t.err, format, args...)
}

// terminate ends the process for what the test found.
func (t *Tool) terminate(format string, args ...any) {
	t.stopOnce.Do(func() {
		t.errf(format+"\n", args...)
		t.exit(1)
	})
	select {} // another goroutine is at it
}

func (t *Tool) fatal(err error) { t.terminate("%v", err) }

// Run checks the flags, runs the test, and gives the exit code.
func (t *Tool) Run() int {
	f := t.flags
	if !t.createEnv() {
		return 1
	}
	if f.DestroyDBAndExit {
		return t.destroyAll()
	}
	if dir := f.DeleteDirAndExit; dir != "" {
		if err := t.removeDir(dir); err != nil {
			t.errf("Failed to delete directory %s: %v\n", dir, err)
			return 1
		}
		t.printf("Successfully deleted directory %s\n", dir)
		return 0
	}
	if problem := t.checkFlags(); problem != "" {
		t.errf("Error: %s\n", problem)
		return 1
	}
	var problem string
	if t.keys, problem = newKeyGenerator(f); problem != "" {
		t.errf("%s\n", problem)
		return 1
	}
	if err := t.setUp(); err != nil {
		t.errf("%v\n", err)
		return 1
	}
	killpoint.Set(int(f.KillRandomTest), splitList(f.KillExcludePrefixes))
	return t.runAll()
}

// createEnv makes the Env that --env_uri or --fs_uri names, or says why not.
func (t *Tool) createEnv() bool {
	f := t.flags
	if f.EnvUri != "" && f.FsUri != "" {
		t.errf("Error: --env_uri and --fs_uri are mutually exclusive\n")
		return false
	}
	fsutil.RegisterDefault()
	cfg := rocksdb.DefaultConfigOptions()
	e, err := options.CreateEnvFromURI(&cfg, f.EnvUri, f.FsUri)
	if err != nil {
		t.errf("Error Creating Env URI: %s: %v\n", f.EnvUri, err)
		return false
	}
	t.rawEnv = e
	return true
}

// setUp makes what all databases share.
func (t *Tool) setUp() (err error) {
	f := t.flags
	builtin.RegisterDefault()
	l := registry.DefaultLibrary()
	monitoring.RegisterBuiltinStatistics(l)
	mergeoperators.RegisterDefault()
	compactionfilters.Register(l)
	tablepropertiescollectors.Register(l)
	compaction.RegisterSstPartitionerFactories(l)
	registerCompressionManager(l)
	for _, x := range []*float64{&f.BloomBits, &f.MemtablePrefixBloomSizeRatio, &f.MaxBytesForLevelMultiplier} {
		// What the command line prints gives the same value again.
		*x, _ = strconv.ParseFloat(strconv.FormatFloat(*x, 'f', 6, 64), 64)
	}
	t.compression, t.bottommost = t.compressionType(f.CompressionType), t.compressionType(f.BottommostCompressionType)
	t.rawEnv.SetBackgroundThreads(int(f.MaxBackgroundCompactions), rocksdb.LowPriority)
	t.rawEnv.SetBackgroundThreads(int(f.NumBottomPriThreads), rocksdb.BottomPriority)
	if f.HotKeyAlpha != 0 {
		t.hot = newHotKeys(f.HotKeyAlpha)
	}
	if t.cache, err = t.newCache(); err != nil {
		return err
	}
	if f.UseWriteBufferManager {
		t.wbm = memtable.NewWriteBufferManager(f.DBWriteBufferSize, t.cache, false)
	}
	if f.RateLimiterBytesPerSec > 0 {
		mode := rocksdb.WritesOnly
		if f.RateLimitBgReads {
			mode = rocksdb.ReadsOnly
		}
		if t.rateLimiter, err = ratelimiter.NewGenericRateLimiter(int64(f.RateLimiterBytesPerSec), 1000, 10, mode, false, 0); err != nil {
			return err
		}
	}
	if f.DB == "" {
		dir, err := t.rawEnv.GetFileSystem().GetTestDirectory(nil)
		if err != nil {
			return err
		}
		f.DB = filepath.Join(dir, "dbstress")
	}
	return nil
}

func splitList(s string) []string {
	if s == "" {
		return nil
	}
	var all []string
	for start, i := 0, 0; i <= len(s); i++ {
		if i == len(s) || s[i] == ',' {
			all = append(all, s[start:i])
			start = i + 1
		}
	}
	return all
}

// runAll tests all databases side by side.
func (t *Tool) runAll() int {
	f, fs := t.flags, t.rawEnv.GetFileSystem()
	n := int(f.NumDbs)
	tests := make([]*stressTest, n)
	if n > 1 {
		if err := fs.CreateDirIfMissing(f.DB, nil); err != nil {
			t.errf("Failed to create directory %s: %v\n", f.DB, err)
			return 1
		}
	}
	for i := range tests {
		suffix := ""
		if n > 1 {
			suffix = "/db_" + strconv.Itoa(i)
		}
		expected := f.ExpectedValuesDir
		if expected != "" {
			expected += suffix
			if err := os.MkdirAll(expected, 0o755); err != nil {
				t.errf("Failed to create directory %s: %v\n", expected, err)
				return 1
			}
		}
		s, err := newStressTest(t, i, f.DB+suffix, expected)
		if err == nil {
			s.shared, err = newSharedState(f, s)
		}
		if err == nil && f.TestSecondary {
			s.secondary.path, err = t.makeSecondaryPath(suffix)
		}
		if err != nil {
			t.errf("Failed setting up expected state with error: %v\n", err)
			return 1
		}
		tests[i] = s
	}
	passed := make([]bool, n)
	var wg sync.WaitGroup
	for i, s := range tests {
		wg.Go(func() {
			ok, err := s.run()
			if err != nil {
				t.errf("%v\n", err)
			}
			passed[i] = ok && err == nil && !s.shared.failed()
		})
	}
	wg.Wait()
	for _, ok := range passed {
		if !ok {
			return 1
		}
	}
	return 0
}

// destroyDB removes a database and all else in its directory.
func (t *Tool) destroyDB(path string) error {
	o := rocksdb.DefaultOptions()
	o.Env = t.rawEnv
	if err := dbimpl.DestroyDB(path, &o, nil); err != nil {
		return err
	}
	return t.removeDir(path)
}

func (t *Tool) removeDir(path string) error {
	if err := os.RemoveAll(path); err != nil {
		return rocksdb.IOError("While removing directory", path, err.Error()).Wrap(err)
	}
	return nil
}

func (t *Tool) destroyAll() int {
	f, code := t.flags, 0
	destroy := func(path string) {
		if err := t.destroyDB(path); err != nil {
			t.errf("Failed to destroy db at %s: %v\n", path, err)
			code = 1
			return
		}
		t.printf("Successfully destroyed db at %s\n", path)
	}
	if f.NumDbs <= 1 {
		destroy(f.DB)
		return code
	}
	for i := range f.NumDbs {
		destroy(fmt.Sprintf("%s/db_%d", f.DB, i))
	}
	if err := t.removeDir(f.DB); err != nil {
		t.errf("%v\n", err)
		code = 1
	}
	return code
}

func (t *Tool) needsFaultInjection() bool {
	f := t.flags
	return f.OpenMetadataReadFaultOneIn != 0 || f.OpenMetadataWriteFaultOneIn != 0 || f.OpenReadFaultOneIn != 0 || f.OpenWriteFaultOneIn != 0 ||
		f.MetadataReadFaultOneIn != 0 || f.MetadataWriteFaultOneIn != 0 || f.ReadFaultOneIn != 0 || f.WriteFaultOneIn != 0 || f.SyncFaultInjection
}

// faultLogPath is where the log of injected errors goes: where upstream's
// script looks for it.
func (t *Tool) faultLogPath(label string) string {
	dir := os.Getenv("TEST_TMPDIR")
	if dir == "" {
		dir = os.TempDir()
	}
	dir = filepath.Join(dir, "fault_injection_logs")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.terminate("Failed to create directory %s: %v", dir, err)
	}
	return filepath.Join(dir, fmt.Sprintf("fault_injection_%d_%d_%s.bin", os.Getpid(), time.Now().UnixMicro(), label))
}

// copyUnverified links the files of the directories into their "unverified",
// for who looks at a verification that failed.
func (t *Tool) copyUnverified(dirs ...string) error {
	for _, dir := range dirs {
		entries, err := os.ReadDir(dir)
		if os.IsNotExist(err) {
			continue
		}
		if err != nil {
			return err
		}
		to := filepath.Join(dir, "unverified")
		if err := os.RemoveAll(to); err != nil {
			return err
		}
		if err := os.Mkdir(to, 0o755); err != nil {
			return err
		}
		for _, e := range entries {
			if e.IsDir() {
				continue
			}
			if err := os.Link(filepath.Join(dir, e.Name()), filepath.Join(to, e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// openAndClose opens s's database to read only, beside s.
func (t *Tool) openAndClose(s *stressTest) error {
	o := s.options
	o.Listeners, o.Env = nil, t.rawEnv
	descriptors := make([]rocksdb.ColumnFamilyDescriptor, len(s.names))
	for i, name := range s.names {
		descriptors[i] = rocksdb.ColumnFamilyDescriptor{Name: name, Options: o.ColumnFamilyOptions}
	}
	d, handles, err := dbimpl.OpenForReadOnly(&o.DBOptions, s.dbPath, descriptors, false)
	if err != nil {
		return err
	}
	for _, h := range handles {
		if err := d.DestroyColumnFamilyHandle(h); err != nil {
			return err
		}
	}
	return d.Close()
}

// writeCorruption writes what --verify_cpu_corruption_dir is for.
func (t *Tool) writeCorruption(tid int, kind string, cf int, key int64, value, want []byte, status string) {
	data, err := json.MarshalIndent(struct {
		Kind     string `json:"kind"`
		CF       int    `json:"cf"`
		Key      int64  `json:"key"`
		Value    string `json:"value_from_db"`
		Expected string `json:"value_from_expected"`
		Status   string `json:"op_status"`
	}{kind, cf, key, fmt.Sprintf("%X", value), fmt.Sprintf("%X", want), status}, "", "  ")
	if err == nil {
		err = os.WriteFile(filepath.Join(t.flags.VerifyCpuCorruptionDir, fmt.Sprintf("data_corruption.%d.json", tid)), append(data, '\n'), 0o644)
	}
	if err != nil {
		t.terminate("Failed to write CPU corruption result file: %v", err)
	}
}

// problemUnless is text when a condition does not hold.
type problemUnless struct {
	ok   bool
	text string
}

// checkFlags tells what is wrong with the flags together, "" when nothing is.
func (t *Tool) checkFlags() string {
	f := t.flags
	sum := f.Readpercent + f.Prefixpercent + f.Writepercent + f.Delpercent + f.Delrangepercent + f.Iterpercent + f.Customopspercent
	if f.ActiveWidth == 0 {
		f.ActiveWidth = f.MaxKey
	}
	if f.TestCFConsistency && f.DisableWAL {
		f.AtomicFlush = true
	}
	faults := t.needsFaultInjection() || f.SecondaryCacheFaultOneIn != 0
	filter := f.EnableCompactionFilter || f.InplaceUpdateSupport
	for _, c := range []problemUnless{
		{f.NumDbs >= 1, "--num_dbs must be >= 1"},
		{f.NumDbs <= 1 || f.ClearColumnFamilyOneIn <= 0, "--num_dbs > 1 incompatible with --clear_column_family_one_in"},
		{f.VerifyCpuCorruptionDir == "" || f.Threads == 1, "--verify_cpu_corruption_dir requires --threads=1"},
		{f.VerifyCpuCorruptionDir == "" || !faults, "--verify_cpu_corruption_dir requires all fault injection off (every *_fault_one_in = 0 and sync_fault_injection = false)"},
		{f.VerifyCpuCorruptionDir == "" || !f.TestBatchesSnapshots && !f.TestCFConsistency, "--verify_cpu_corruption_dir requires the default state-tracked stress test"},
		{f.Prefixpercent <= 0 || f.PrefixSize >= 0, "prefixpercent is non-zero while prefix_size is not positive!"},
		{!f.TestBatchesSnapshots || f.PrefixSize > 0, "please specify prefix_size for test_batches_snapshots test!"},
		{f.MemtablePrefixBloomSizeRatio <= 0 || f.PrefixSize >= 0 || f.MemtableWholeKeyFiltering, "please specify positive prefix_size or enable whole key filtering in order to use memtable_prefix_bloom_size_ratio"},
		{sum == 100, fmt.Sprintf("Read(-readpercent=%d)+Prefix(-prefixpercent=%d)+Write(-writepercent=%d)+Delete(-delpercent=%d)+DeleteRange(-delrangepercent=%d)+Iterate(-iterpercent=%d)+CustomOps(-customopspercent=%d) percents != 100!",
			f.Readpercent, f.Prefixpercent, f.Writepercent, f.Delpercent, f.Delrangepercent, f.Iterpercent, f.Customopspercent)},
		{f.Customopspercent == 0, "NotSupported: --customopspercent is of --test_multi_ops_txns, which is not built yet"},
		{!f.DisableWAL || f.Reopen <= 0, "Db cannot reopen safely with disable_wal set!"},
		{f.Reopen >= 0 && uint64(f.Reopen) < f.OpsPerThread, fmt.Sprintf("#DB-reopens should be < ops_per_thread\nProvided reopens = %d and ops_per_thread = %d", f.Reopen, f.OpsPerThread)},
		{!f.TestBatchesSnapshots || f.Delrangepercent <= 0, "nonzero delrangepercent unsupported in test_batches_snapshots mode"},
		{f.ActiveWidth <= f.MaxKey, "active_width can be at most max_key"},
		{f.MaxKey > 0 && f.ActiveWidth > 0 && f.MaxKey <= math.MaxInt32*4, "max_key must be positive, and less than 8 billion"},
		{f.Threads > 0 && f.ColumnFamilies > 0, "threads and column_families must be positive"},
		{f.RangeDeletionWidth > 0 && int64(f.RangeDeletionWidth) <= f.MaxKey, "range_deletion_width must be positive and at most max_key"},
		{f.Log2KeysPerLock < 32, "log2_keys_per_lock can be at most 31"},
		{f.ValueSizeMult*randomValueMaxFactor <= valueMaxLen && f.ValueSizeMult >= 4, fmt.Sprintf("value_size_mult can be at most %d and at least 4", valueMaxLen/randomValueMaxFactor)},
		{!f.UseMerge || f.Nooverwritepercent != 100, "nooverwritepercent must not be 100 when using merge operands"},
		{f.IngestExternalFileOneIn <= 0 || f.Nooverwritepercent != 100, "nooverwritepercent must not be 100 when using file ingestion"},
		{!f.ReadOnly || f.Writepercent == 0 && f.Delpercent == 0 && f.Delrangepercent == 0, "updates are not supported in read only mode"},
		{f.OpenReadOnlyOneIn <= 0 || !f.ReadOnly, "open_read_only_one_in needs a read-write primary and is incompatible with read_only"},
		{!f.BestEffortsRecovery || f.SkipVerifydb && f.DisableWAL, "With best-efforts recovery, skip_verifydb and disable_wal should be set to true."},
		{!f.BestEffortsRecovery || !f.EnableBlobFiles && !f.EnableBlobGarbageCollection && !f.AllowSettingBlobOptionsDynamically, "Integrated BlobDB is currently incompatible with best-effort recovery"},
		{!f.SkipVerifydb || f.VerifyDBOneIn <= 0, "Must set -verify_db_one_in=0 if skip_verifydb is true."},
		{!f.SkipVerifydb || f.ContinuousVerificationInterval <= 0, "Must set -continuous_verification_interval=0 if skip_verifydb is true."},
		{!filter || f.AcquireSnapshotOneIn <= 0 && f.CompactRangeOneIn <= 0 && f.Iterpercent <= 0 && f.Prefixpercent <= 0 && !f.TestBatchesSnapshots && !f.TestCFConsistency && !f.CheckMultigetConsistency && !f.CheckMultigetEntityConsistency,
			"acquire_snapshot_one_in, compact_range_one_in, iterpercent, prefixpercent, test_batches_snapshots, test_cf_consistency, check_multiget_consistency, check_multiget_entity_consistency must all be 0 when using compaction filter or inplace update support"},
		{!f.stamped() || f.UserTimestampSize == timestampSize, fmt.Sprintf("Only -user_timestamp_size=%d is supported in stress test.", timestampSize)},
		{!f.stamped() || !f.TestCFConsistency && !f.TestBatchesSnapshots, "Due to per-key ts-seq ordering constraint, only the (default) non-batched test is supported with timestamp."},
		{!f.stamped() || f.IngestExternalFileOneIn <= 0, "Bulk loading may not support timestamp yet."},
		{f.UsePutEntityOneIn == 0 || !f.UseFullMergeV1 && !f.TestMultiOpsTxns && !f.stamped(), "Wide columns are incompatible with V1 Merge, the multi-op transaction test, and user-defined timestamps"},
		{f.KillRandomTest == 0 || killpoint.Enabled, "NotSupported: --kill_random_test in a program that was built without the tag killpoint"},
		{f.Memtablerep == "skip_list" || f.Memtablerep == "prefix_hash" || f.Memtablerep == "vector", "Cannot parse memreptable " + f.Memtablerep},
	} {
		if !c.ok {
			return c.text
		}
	}
	return ""
}

// printEnv prints what the test does.
func (s *stressTest) printEnv() {
	f, t := s.flags, s.tool
	line := func(name string, v any) { t.printf("%-26s: %v\n", name, v) }
	yes := func(b bool) string { return strconv.FormatBool(b) }
	num := func(b bool) int {
		if b {
			return 1
		}
		return 0
	}
	line("RocksDB version", rocksdb.GetRocksVersionAsString(false))
	line("Format version", f.FormatVersion)
	line("TransactionDB", yes(f.UseTxn))
	line("Stacked BlobDB", yes(f.UseBlobDB))
	line("Read only mode", yes(f.ReadOnly))
	line("Atomic flush", yes(f.AtomicFlush))
	line("Manual WAL flush", yes(f.ManualWALFlushOneIn > 0))
	line("Column families", f.ColumnFamilies)
	if !f.TestBatchesSnapshots {
		line("Clear CFs one in", f.ClearColumnFamilyOneIn)
	}
	line("Number of threads", f.Threads)
	line("Ops per thread", f.OpsPerThread)
	line("Time to live(sec)", "unused")
	line("Read percentage", fmt.Sprint(f.Readpercent, "%"))
	line("Prefix percentage", fmt.Sprint(f.Prefixpercent, "%"))
	line("Write percentage", fmt.Sprint(f.Writepercent, "%"))
	line("Delete percentage", fmt.Sprint(f.Delpercent, "%"))
	line("Delete range percentage", fmt.Sprint(f.Delrangepercent, "%"))
	line("No overwrite percentage", fmt.Sprint(f.Nooverwritepercent, "%"))
	line("Iterate percentage", fmt.Sprint(f.Iterpercent, "%"))
	line("Custom ops percentage", fmt.Sprint(f.Customopspercent, "%"))
	line("DB-write-buffer-size", f.DBWriteBufferSize)
	line("Write-buffer-size", f.WriteBufferSize)
	line("Iterations", f.NumIterations)
	line("Max key", f.MaxKey)
	line("Ratio #ops/#keys", fmt.Sprintf("%f", float64(f.OpsPerThread)*float64(f.Threads)/float64(f.MaxKey)))
	line("Num times DB reopens", f.Reopen)
	line("Batches/snapshots", num(f.TestBatchesSnapshots))
	line("Do update in place", num(f.InplaceUpdateSupport))
	line("Num keys per lock", uint64(1)<<f.Log2KeysPerLock)
	line("Compression", compression.CompressionTypeToString(t.compression))
	line("Bottommost Compression", compression.CompressionTypeToString(t.bottommost))
	line("Checksum type", f.ChecksumType)
	line("File checksum impl", f.FileChecksumImpl)
	line("Bloom bits / key", fmt.Sprintf("%f", f.BloomBits))
	line("Max subcompactions", f.Subcompactions)
	line("Use MultiGet", yes(f.UseMultiget))
	line("Use async DB API", yes(f.UseAsyncDBApi))
	line("Verification only", yes(f.VerificationOnly))
	line("Memtablerep", f.Memtablerep)
	line("Test kill odd", killpoint.Odds())
	for _, p := range splitList(f.KillExcludePrefixes) {
		t.printf("Skipping kill points prefix: %s\n", p)
	}
	line("Periodic Compaction Secs", f.PeriodicCompactionSeconds)
	line("Compaction TTL", f.CompactionTtl)
	line("Compaction style", f.CompactionStyle)
	line("Compaction Pri", f.CompactionPri)
	line("Max Write Batch Group Size", f.MaxWriteBatchGroupSizeBytes)
	line("Use dynamic level", num(f.LevelCompactionDynamicLevelBytes))
	line("Metadata read fault one in", f.MetadataReadFaultOneIn)
	line("Metadata write fault one in", f.MetadataWriteFaultOneIn)
	line("Read fault one in", f.ReadFaultOneIn)
	line("Write fault one in", f.WriteFaultOneIn)
	line("Open metadata read fault one in", f.OpenMetadataReadFaultOneIn)
	line("Open metadata write fault one in", f.OpenMetadataWriteFaultOneIn)
	line("Open read fault one in", f.OpenReadFaultOneIn)
	line("Open write fault one in", f.OpenWriteFaultOneIn)
	line("Sync fault injection", num(f.SyncFaultInjection))
	line("Best efforts recovery", num(f.BestEffortsRecovery))
	line("User timestamp size bytes", f.UserTimestampSize)
	line("WAL compression", f.WALCompression)
	line("Fast SST open", num(f.FastSstOpen))
	t.printf("------------------------------------------------\n")
}
