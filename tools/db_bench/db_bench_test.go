// No upstream twin: tests of the parts of db_bench_tool.cc.

package main

import (
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb/env"
	rocksdb "github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/internal/gflags"
	"github.com/rocksdb-go/rocksdb/util"
)

func testFlags(t *testing.T, args ...string) *Flags {
	t.Helper()
	f := new(Flags)
	set, err := gflags.New("db_bench", f)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := set.Parse(args); err != nil {
		t.Fatal(err)
	}
	return f
}

// TestFlags_DefaultsOfOptions: flags that stand for an option have its default.
func TestFlags_DefaultsOfOptions(t *testing.T) {
	f, o, bb := testFlags(t), rocksdb.DefaultOptions(), rocksdb.DefaultBlockBasedTableOptions()
	c, u := rocksdb.DefaultCompressionOptions(), rocksdb.DefaultCompactionOptionsUniversal()
	for name, pair := range map[string][2]any{
		"db_write_buffer_size":              {uint64(f.DBWriteBufferSize), o.DBWriteBufferSize},
		"max_manifest_file_size":            {uint64(f.MaxManifestFileSize), o.MaxManifestFileSize},
		"max_manifest_space_amp_pct":        {int(f.MaxManifestSpaceAmpPct), o.MaxManifestSpaceAmpPct},
		"arena_block_size":                  {uint64(f.ArenaBlockSize), o.ArenaBlockSize},
		"write_buffer_size":                 {uint64(f.WriteBufferSize), o.WriteBufferSize},
		"max_write_buffer_number":           {int(f.MaxWriteBufferNumber), o.MaxWriteBufferNumber},
		"min_write_buffer_number_to_merge":  {int(f.MinWriteBufferNumberToMerge), o.MinWriteBufferNumberToMerge},
		"max_background_jobs":               {int(f.MaxBackgroundJobs), o.MaxBackgroundJobs},
		"max_background_compactions":        {int(f.MaxBackgroundCompactions), o.MaxBackgroundCompactions},
		"max_background_flushes":            {int(f.MaxBackgroundFlushes), o.MaxBackgroundFlushes},
		"compaction_style":                  {rocksdb.CompactionStyle(f.CompactionStyle), o.CompactionStyle},
		"compaction_pri":                    {rocksdb.CompactionPri(f.CompactionPri), o.CompactionPri},
		"universal_stop_style":              {rocksdb.CompactionStopStyle(f.UniversalStopStyle), u.StopStyle},
		"universal_reduce_file_locking":     {f.UniversalReduceFileLocking, u.ReduceFileLocking},
		"universal_max_read_amp":            {int(f.UniversalMaxReadAmp), u.MaxReadAmp},
		"decouple_partitioned_filters":      {f.DecouplePartitionedFilters, bb.DecouplePartitionedFilters},
		"optimize_filters_for_memory":       {f.OptimizeFiltersForMemory, bb.OptimizeFiltersForMemory},
		"metadata_block_size":               {uint64(f.MetadataBlockSize), bb.MetadataBlockSize},
		"block_size":                        {uint64(f.BlockSize), bb.BlockSize},
		"format_version":                    {uint32(f.FormatVersion), bb.FormatVersion},
		"block_restart_interval":            {int(f.BlockRestartInterval), bb.BlockRestartInterval},
		"index_block_restart_interval":      {int(f.IndexBlockRestartInterval), bb.IndexBlockRestartInterval},
		"enable_index_compression":          {f.EnableIndexCompression, bb.EnableIndexCompression},
		"super_block_alignment_ratio":       {f.SuperBlockAlignmentSpaceOverheadRatio, bb.SuperBlockAlignmentSpaceOverheadRatio},
		"uniform_cv_threshold":              {f.UniformCVThreshold, bb.UniformCVThreshold},
		"whole_key_filtering":               {f.WholeKeyFiltering, bb.WholeKeyFiltering},
		"checksum_type":                     {rocksdb.ChecksumType(f.ChecksumType), bb.Checksum},
		"initial_auto_readahead_size":       {f.InitialAutoReadaheadSize, bb.InitialAutoReadaheadSize},
		"max_auto_readahead_size":           {f.MaxAutoReadaheadSize, bb.MaxAutoReadaheadSize},
		"num_file_reads_for_auto_readahead": {f.NumFileReadsForAutoReadahead, bb.NumFileReadsForAutoReadahead},
		"open_files":                        {int(f.OpenFiles), o.MaxOpenFiles},
		"file_opening_threads":              {int(f.FileOpeningThreads), o.MaxFileOpeningThreads},
		"compaction_readahead_size":         {f.CompactionReadaheadSize, o.CompactionReadaheadSize},
		"target_file_size_base":             {uint64(f.TargetFileSizeBase), o.TargetFileSizeBase},
		"max_bytes_for_level_base":          {f.MaxBytesForLevelBase, o.MaxBytesForLevelBase},
		"level0_stop_writes_trigger":        {int(f.Level0StopWritesTrigger), o.Level0StopWritesTrigger},
		"level0_slowdown_writes_trigger":    {int(f.Level0SlowdownWritesTrigger), o.Level0SlowdownWritesTrigger},
		"periodic_compaction_seconds":       {f.PeriodicCompactionSeconds, o.PeriodicCompactionSeconds},
		"ttl_seconds":                       {f.TTLSeconds, o.TTL},
		"paranoid_checks":                   {f.ParanoidChecks, o.ParanoidChecks},
		"force_consistency_checks":          {f.ForceConsistencyChecks, o.ForceConsistencyChecks},
		"blob_file_size":                    {f.BlobFileSize, o.BlobFileSize},
		"blob_direct_write_partitions":      {uint32(f.BlobDirectWritePartitions), o.BlobDirectWritePartitions},
		"blob_gc_age_cutoff":                {f.BlobGarbageCollectionAgeCutoff, o.BlobGarbageCollectionAgeCutoff},
		"blob_gc_force_threshold":           {f.BlobGarbageCollectionForceThreshold, o.BlobGarbageCollectionForceThreshold},
		"compression_level":                 {int(f.CompressionLevel), c.Level},
		"compression_use_zstd_dict_trainer": {f.CompressionUseZSTDDictTrainer, c.UseZSTDDictTrainer},
		"inplace_update_num_locks":          {f.InplaceUpdateNumLocks, o.InplaceUpdateNumLocks},
		"advise_random_on_open":             {f.AdviseRandomOnOpen, o.AdviseRandomOnOpen},
		"stats_dump_period_sec":             {uint32(f.StatsDumpPeriodSec), o.StatsDumpPeriodSec},
		"stats_persist_period_sec":          {uint32(f.StatsPersistPeriodSec), o.StatsPersistPeriodSec},
		"stats_history_buffer_size":         {f.StatsHistoryBufferSize, o.StatsHistoryBufferSize},
		"max_compaction_trigger_wakeup":     {f.MaxCompactionTriggerWakeupSeconds, o.MaxCompactionTriggerWakeupSeconds},
		"perf_level":                        {rocksdb.PerfLevel(f.PerfLevel), rocksdb.DisablePerf},
		"stats_level":                       {rocksdb.StatsLevel(f.StatsLevel), rocksdb.ExceptDetailedTimers},
	} {
		if pair[0] != pair[1] {
			t.Errorf("--%s is %v, the option %v", name, pair[0], pair[1])
		}
	}
}

// TestFlags_UnbuiltAreRefused: every flag that is tagged so is refused by name.
func TestFlags_UnbuiltAreRefused(t *testing.T) {
	f := new(Flags)
	set, err := gflags.New("db_bench", f)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, flag := range set.All() {
		if flag.Help == "" {
			t.Errorf("--%s has no help", flag.Name)
		}
		if flag.Tag("todo") == "" {
			continue
		}
		n++
		value := map[string]string{"bool": "true", "string": "x"}[flag.Type]
		if flag.Type == "bool" && flag.Default == "true" {
			value = "false"
		} else if value == "" {
			value = "7"
		}
		out, code := runTool(t, "--db="+t.TempDir(), "--benchmarks=", "--"+flag.Name+"="+value)
		if code != 1 || out != "db_bench: --"+flag.Name+" is not supported yet\n" {
			t.Errorf("--%s=%s: exit %d, %q", flag.Name, value, code, out)
		}
	}
	if n == 0 || len(set.All()) != 418 {
		t.Errorf("%d flags, %d not built", len(set.All()), n)
	}
}

// TestBenchmarks_AllNamesKnown: each of upstream's names runs, or is refused.
func TestBenchmarks_AllNamesKnown(t *testing.T) {
	for name := range strings.FieldsSeq(upstreamBenchmarks) {
		if slices.Contains(slowBenchmarks, name) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			out, code := runTool(t, "--db="+dir+"/db", "--num=200", "--reads=200", "--benchmarks=fillrandom,"+name,
				"--disable_auto_compactions", "--progress_reports=false", "--threads=2", "--numdistinct=100", "--truth_db="+dir+"/db",
				"--seek_nexts=3", "--batch_size=4", "--key_id_range=10", "--multiscan_stride=5")
			refused := strings.Contains(out, "benchmark '"+name+"' is not supported yet")
			switch {
			case refused && (code != 1 || !strings.Contains(notBuilt, " "+name+" ")):
				t.Errorf("refused with exit %d: %s", code, out)
			case refused, code == 0, strings.Contains(out, "skipped (--merge_operator is unknown)"),
				strings.Contains(out, "Please set use_existing_keys"), strings.Contains(out, "Multi-threaded replay is not yet supported"),
				strings.Contains(out, "not null") || strings.Contains(out, "is null"),
				strings.Contains(out, "Not implemented: "),
				strings.Contains(out, "No such file or directory"):
			case name == "seekrandomwhilemerging", name == "readwhilemerging", name == "getmergeoperands":
				if !strings.Contains(out, "put or merge error: ") {
					t.Errorf("exit %d: %s", code, out)
				}
			default:
				t.Errorf("exit %d: %s", code, out)
			}
			if strings.Contains(out, "unknown benchmark") {
				t.Error(out)
			}
		})
	}
}

// slowBenchmarks go over gigabytes.
var slowBenchmarks = []string{"crc32c", "xxhash", "xxhash64", "xxh3", "compress", "compressreject", "uncompress", "acquireload"}

const upstreamBenchmarks = "fillseqdeterministic filluniquerandomdeterministic fillseq fillbatch fillrandom" +
	" filluniquerandom fillanddeleteuniquerandom overwrite fillsync fill100K readseq readtorowcache readtocache" +
	" readreverse readrandom readrandomcoroutine readrandomfast multireadrandom multireadrandomcoroutine" +
	" readrandomentity multireadentity multiscan multiscanrandom multireadwhilewriting approximatesizerandom" +
	" approximatememtablestats mixgraph readmissing newiterator newiteratorwhilewriting seekrandom" +
	" seekrandomwhilewriting seekrandomwhilemerging readrandomsmall deleteseq deleterandom readwhilewriting" +
	" readwhilemerging readwhilescanning readrandomwriterandom readrandommergerandom updaterandom xorupdaterandom" +
	" appendrandom mergerandom randomwithverify fillseekseq compact ingestexternalfile fillembeddedentity" +
	" fillembeddedblob compactall compact0 compact1 waitforcompaction flush crc32c xxhash xxhash64 xxh3 acquireload" +
	" compress compressreject uncompress randomtransaction randomreplacekeys timeseries block_cache_entry_stats" +
	" cache_report_problems stats resetstats verify levelstats memstats sstables stats_history replay" +
	" getmergeoperands verifychecksum verifyfilechecksums readrandomoperands backup restore openandcompact"

// TestChecksums_LikeUpstream: the sums that upstream's benchmarks print.
func TestChecksums_LikeUpstream(t *testing.T) {
	block, rounds := []byte(strings.Repeat("x", 4096)), uint32(5000*1048576/4096)
	for name, c := range map[string]struct {
		fn   func([]byte) uint32
		want uint32
	}{
		"crc32c": {crc32cOf, 0xe6ed7800}, "xxhash": {xxhash32Of, 0x5b2b2800},
		"xxhash64": {xxhash64Of, 0x5796f800}, "xxh3": {xxh3Of, 0x1a371800},
	} {
		if got := c.fn(block) * rounds; got != c.want {
			t.Errorf("%s: val=%#x, want %#x", name, got, c.want)
		}
	}
}

func TestDefaultRandomEngine_LikeStandard(t *testing.T) {
	// The C++ standard gives minstd_rand0's 10000th number.
	e, last := newDefaultRandomEngine(1), uint64(0)
	for range 10000 {
		last = e.next()
	}
	if last != 1043618065 {
		t.Errorf("10000th number %d", last)
	}
	n := normalDistribution{mean: 500, stddev: 2000}
	sum, squares := 0.0, 0.0
	for range 20000 {
		v := n.next(e.canonical)
		sum += v
		squares += (v - 500) * (v - 500)
	}
	if mean, dev := sum/20000, math.Sqrt(squares/20000); math.Abs(mean-500) > 60 || math.Abs(dev-2000) > 60 {
		t.Errorf("mean %f, deviation %f", mean, dev)
	}
}

func TestKeyMaker(t *testing.T) {
	for _, c := range []struct {
		keySize, prefixSize int
		perPrefix           int64
		v                   uint64
		want                string
	}{
		{16, 0, 0, 0x0102, "\x00\x00\x00\x00\x00\x00\x01\x0200000000"},
		{4, 0, 0, 0x01020304, "\x00\x00\x00\x00"},
		{16, 4, 10, 123, "\x00\x00\x00\x17\x00\x00\x00\x00\x00\x00\x00\x7b0000"},
		{22, 10, 10, 123, "\x00\x00\x00\x00\x00\x00\x00\x1700\x00\x00\x00\x00\x00\x00\x00\x7b0000"},
	} {
		m := keyMaker{keySize: c.keySize, prefixSize: c.prefixSize, keysPerPrefix: c.perPrefix}
		got := m.generate(c.v, 1000, m.keyBuffer())
		want := c.want
		if c.keySize == 4 {
			want = "\x01\x02\x03\x04"
		}
		if string(got) != want {
			t.Errorf("%+v: %q", c, got)
		}
	}
	// More keys a prefix than keys is one prefix, not a crash.
	m := keyMaker{keySize: 16, prefixSize: 4, keysPerPrefix: 5000}
	if got := m.generate(7, 1000, m.keyBuffer()); string(got[:4]) != "\x00\x00\x00\x00" {
		t.Errorf("%q", got)
	}
}

func TestKeyGenerator_Unique(t *testing.T) {
	for _, n := range []uint64{0, 1, 2, 3, 1000, 1001, 70000} {
		g := newKeyGenerator(util.NewRandom64(1), writeUniqueRandom, n, 42)
		seen := make([]bool, n)
		for range n {
			v, ok := g.draw()
			if !ok || seen[v] {
				t.Fatalf("of %d: %d, %v", n, v, ok)
			}
			seen[v] = true
		}
		if _, ok := g.draw(); ok {
			t.Errorf("more than %d keys", n)
		}
	}
}

func TestRandomGenerator_Sizes(t *testing.T) {
	f := testFlags(t, "--value_size_min=10", "--value_size_max=50")
	for _, kind := range []distributionType{distributionUniform, distributionNormal} {
		g := newRandomGenerator(f, kind, 100)
		small, big := 1000, 0
		for range 5000 {
			n := len(g.generate())
			small, big = min(small, n), max(big, n)
		}
		if small < 10 || big > 50 || big-small < 20 {
			t.Errorf("kind %d: sizes %d to %d", kind, small, big)
		}
	}
	f.SameValuePercentage = 100
	g := newRandomGenerator(f, distributionFixed, 8)
	if a, b := string(g.generate()), string(g.generate()); a != b {
		t.Errorf("%q, %q", a, b)
	}
}

func TestCombinedStats(t *testing.T) {
	var c combinedStats
	var b strings.Builder
	c.add(&stats{start: 0, finish: 1e6, done: 100, bytes: 1048576})
	c.report(&b, "x")
	c.add(&stats{start: 0, finish: 1e6, done: 200, bytes: 3 * 1048576})
	c.report(&b, "x")
	c.reportWithConfidenceIntervals(&b, "x")
	c.reportFinal(&b, "x")
	want := "x [AVG 2 runs] : 150 (± 97) ops/sec;    2.0 (± 2.0) MB/sec\n" +
		"x [CI95 2 runs] : (53, 247) ops/sec; (0.0, 4.0) MB/sec\n" +
		"\nx [AVG    2 runs] : 150 (± 97) ops/sec; 6.667 ms/op;    2.0 (± 2.0) MB/sec\n" +
		"x [MEDIAN 2 runs] : 150 ops/sec;    2.0 MB/sec\n"
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
}

func TestStats_HistogramsInOrderOfUse(t *testing.T) {
	f := testFlags(t, "--histogram", "--progress_reports=0")
	env := &environment{flags: f, clock: rocksdb.DefaultSystemClock()}
	one, two, merged := newStats(env), newStats(env), newStats(env)
	for _, op := range []operationType{opMerge, opRead, opMerge} {
		one.finishedOps(nil, 1, op)
	}
	two.finishedOps(nil, 1, opWrite)
	two.finishedOps(nil, 1, opRead)
	for _, s := range []*stats{one, two} {
		s.stop()
		merged.merge(s)
	}
	var b strings.Builder
	merged.print(&b, "x")
	got := regexp.MustCompile(`Microseconds per (\w+):\nCount: (\d)`).FindAllString(b.String(), -1)
	want := []string{"write:\nCount: 1", "merge:\nCount: 2", "read:\nCount: 2"}
	if len(got) != len(want) {
		t.Fatalf("%q", got)
	}
	for i := range want {
		if got[i] != "Microseconds per "+want[i] {
			t.Errorf("%q, want %q", got[i], want[i])
		}
	}
}

func TestOperations_CountsAndDuration(t *testing.T) {
	dir := t.TempDir()
	operations := regexp.MustCompile(`(\w+) +: .* seconds (\d+) operations;.*`)
	for _, c := range []struct {
		args string
		want string
		ops  int
	}{
		{"--benchmarks=fillrandom --num=300", "fillrandom", 300},
		{"--use_existing_db --benchmarks=readrandom --num=300 --reads=3000", "of 3000 found)", 3000},
		{"--use_existing_db --benchmarks=readrandom --num=300 --reads=3000 --threads=3", "of 3000 found)", 9000},
		{"--benchmarks=fillrandom --num=300 --threads=2", "fillrandom", 600},
		{"--benchmarks=fillseq,multireadrandom --num=1000 --reads=1000 --batch_size=10 --multiread_batched", "(1000 of 1000 found)", 1000},
		{"--use_existing_db --benchmarks=multireadrandom --num=1000 --reads=1000 --batch_size=7", "(994 of 994 found)", 994},
		{"--benchmarks=fillseq --num=100 --num_multi_db=3", "fillseq", 300},
		{"--benchmarks=filluniquerandom --num=100 --num_multi_db=8", "filluniquerandom", 800},
		{"--benchmarks=fillseq,multiscan --num=2000 --reads=400 --multiscan_size=4 --seek_nexts=25 --multiscan_stride=50", "(multiscans:4)", 4},
		{"--use_existing_db --benchmarks=multiscan --num=2000 --reads=400 --multiscan_size=4 --seek_nexts=25 --multiscan_use_async_io --reverse_iterator", "(multiscans:4)", 4},
		{"--use_existing_db --benchmarks=multiscanrandom --num=2000 --reads=1 --io_dispatcher_max_prefetch_memory_bytes=65536", "(multiscans:1 rows_scanned:", 1},
		{"--use_existing_db --benchmarks=multiscanrandom --num=2000 --reads=1 --use_multiscan=false", "(multiscans:1 rows_scanned:", 1},
	} {
		out, code := runTool(t, append([]string{"--db=" + dir + "/db", "--seed=1", "--progress_reports=0"}, strings.Fields(c.args)...)...)
		if code != 0 || !strings.Contains(out, c.want) {
			t.Errorf("%s: exit %d: %s", c.args, code, out)
			continue
		}
		all := operations.FindAllStringSubmatch(out, -1)
		if n, _ := strconv.Atoi(all[len(all)-1][2]); n != c.ops {
			t.Errorf("%s: %d operations, want %d", c.args, n, c.ops)
		}
	}
	out, code := runTool(t, "--db="+dir+"/db", "--use_existing_db", "--benchmarks=readrandom", "--num=300",
		"--reads=10", "--duration=1", "--progress_reports=0")
	if code != 0 || !regexp.MustCompile(`[ ]1\.0\d\d seconds \d{4,} operations`).MatchString(out) {
		t.Errorf("duration: exit %d: %s", code, out)
	}
}

func TestMixGraph(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []string{
		"",
		"-key_dist_a=0.002312 -key_dist_b=0.3467",
		"-key_dist_a=0.002312 -key_dist_b=0.3467 -keyrange_dist_a=14.18 -keyrange_dist_b=-2.917 -keyrange_dist_c=0.0164 -keyrange_dist_d=-0.08082 -keyrange_num=30",
		"-sine_mix_rate -sine_mix_rate_interval_milliseconds=10 -sine_a=350 -sine_b=0.0105 -sine_d=50000 -sine_mix_rate_noise=0.5",
	} {
		args := "--benchmarks=fillseq,mixgraph --num=3000 --reads=2000 --seed=7 --progress_reports=0" +
			" -mix_get_ratio=0.83 -mix_put_ratio=0.14 -mix_seek_ratio=0.03 " + c
		out, code := runTool(t, append([]string{"--db=" + dir + "/db"}, strings.Fields(args)...)...)
		m := regexp.MustCompile(`2000 operations; .*\( Gets:(\d+) Puts:(\d+) Seek:(\d+), reads (\d+) in (\d+) found, avg size: [\d.]+ value, [\d.]+ scan\)`).FindStringSubmatch(out)
		if code != 0 || m == nil {
			t.Errorf("%s: exit %d: %s", c, code, out)
			continue
		}
		var n [6]int
		for i := 1; i < 6; i++ {
			n[i], _ = strconv.Atoi(m[i])
		}
		if n[1]+n[2]+n[3] != 2000 || n[1] < 1500 || n[2] < 150 || n[3] < 20 ||
			// Without ranges a power law's key may be negative, upstream's, too.
			n[4] != n[5] && !strings.HasSuffix(c, "-key_dist_b=0.3467") {
			t.Errorf("%s: %v", c, n)
		}
	}
}

func TestReport_File(t *testing.T) {
	dir := t.TempDir()
	out, code := runTool(t, "--db="+dir+"/db", "--benchmarks=fillseq,readrandom", "--num=1000", "--duration=2",
		"--report_interval_seconds=1", "--report_file="+dir+"/report.csv", "--progress_reports=0")
	text, err := os.ReadFile(filepath.Join(dir, "report.csv"))
	if code != 0 || err != nil {
		t.Fatalf("exit %d, %v: %s", code, err, out)
	}
	if !regexp.MustCompile(`^secs_elapsed,interval_qps\n1,\d+\n`).Match(text) {
		t.Errorf("%q", text)
	}
}

func TestStats_FinishedOpsDoesNotAllocate(t *testing.T) {
	f := testFlags(t)
	f.ProgressReports = false
	env := &environment{flags: f, clock: rocksdb.DefaultSystemClock()}
	shared := &sharedState{env: env}
	s, d := newStats(env), shared.makeDuration(0, 1<<40, 0)
	m := keyMaker{keySize: 16}
	key, g := m.keyBuffer(), newRandomGenerator(f, distributionFixed, 100)
	rand := util.NewRandom64(1)
	if n := testing.AllocsPerRun(1000, func() {
		d.finished(1)
		m.generate(rand.Next()%1000, 1000, key)
		g.generate()
		s.finishedOps(nil, 1, opWrite)
	}); n != 0 {
		t.Errorf("%v allocations an operation", n)
	}
	if s.done != 1001 {
		t.Errorf("%d operations", s.done)
	}
}

func TestErrors_CommandLine(t *testing.T) {
	for args, want := range map[string]string{
		"--benchmarks=fillseq]":                                    "unknown benchmark arguments 'fillseq]'\n",
		"--benchmarks=openandcompact":                              "db_bench: benchmark 'openandcompact' is not supported yet\n",
		"--benchmarks=multiscan --num=1000":                        "need more than --num=1000 keys",
		"--benchmarks=fillseqdeterministic":                        "Please disable_auto_compactions in FillDeterministic benchmark\n",
		"--compression_ratio=2":                                    "compression_ratio should be between 0 and 1\n",
		"--use_existing_keys":                                      "`-use_existing_db` must be true",
		"--seek_missing_prefix":                                    "prefix_size > 8 required",
		"--value_size_distribution_type=odd":                       "Cannot parse distribution type 'odd'\n",
		"--statistics --statistics_string=x":                       "Cannot provide both",
		"--key_size=0":                                             "db_bench: --key_size must be in",
		"--memtablerep=nosuch":                                     "Could not create memtable factory: ",
		"--memtablerep=prefix_hash":                                "prefix_size should be non-zero",
		"--use_hash_search":                                        "prefix_size not assigned",
		"--cache_type=clock_cache":                                 "Old clock cache implementation has been removed.\n",
		"--readwritepercent=100":                                   "Invalid value for --readwritepercent: 100, 0< pct <100 \nERROR: failed validation of new value '100' for flag 'readwritepercent'\n",
		"--options_file=/no/such":                                  "Unable to load options file /no/such --- ",
		"--benchmarks=filluniquerandom --writes=500 --num=9":       "all 9 unique keys are used",
		"--num_column_families=2 --column_family_distribution=1,2": "column_family_distribution items must sum to 100\n",
		"--enable_numa":                                            "NUMA is not defined in the system.\n",
		"--db=/proc/no/such --benchmarks=fillseq":                  "open error: ",
	} {
		out, code := runTool(t, append([]string{"--db=" + t.TempDir() + "/db", "--num=100"}, strings.Fields(args)...)...)
		if code != 1 || !strings.Contains(out, want) {
			t.Errorf("%s: exit %d: %s", args, code, out)
		}
	}
}

func TestFlags_IOUringEnabled(t *testing.T) {
	t.Cleanup(func() { env.RocksDbIOUringEnable(true) })
	fs, ok := env.DefaultFileSystem().(*env.PosixFileSystem)
	if !ok {
		t.Skip("another file system")
	}
	for flag, want := range map[string]env.AsyncReadMode{"false": env.AsyncReadGoroutines, "true": env.AsyncReadAuto} {
		out, code := runTool(t, "--db="+t.TempDir()+"/db", "--num=500", "--io_uring_enabled="+flag, "--async_io",
			"--benchmarks=fillseq,flush,multireadrandom", "--multiread_batched", "--batch_size=10")
		if code != 0 || !strings.Contains(out, "(500 of 500 found)") || fs.AsyncReadMode() != want {
			t.Errorf("%s: exit %d, mode %d: %s", flag, code, fs.AsyncReadMode(), out)
		}
	}
}

// TestFlags_CompressionManager: each manager writes what fillseq can read back,
// and what upstream refuses is refused.
func TestFlags_CompressionManager(t *testing.T) {
	for _, m := range []string{"mixed", "costpredictor", "AutoSkip"} {
		out, code := runTool(t, "--db="+t.TempDir()+"/db", "--num=2000", "--benchmarks=fillseq,flush,readseq",
			"--compression_type=zstd", "--compression_manager="+m)
		if code != 0 || !strings.Contains(out, "Compression manager: "+m+"\n") {
			t.Errorf("%s: exit %d, %q", m, code, out)
		}
	}
	for m, want := range map[string]string{
		"mixed": "Compression type must not be no Compression when using compression manager",
		"other": "Requested compression manager not supported",
	} {
		out, code := runTool(t, "--db="+t.TempDir()+"/db", "--num=10", "--benchmarks=fillseq", "--compression_type=none", "--compression_manager="+m)
		if code != 1 || !strings.Contains(out, want) {
			t.Errorf("%s: exit %d, %q", m, code, out)
		}
	}
}

// TestMicrosPerOpOfThreads: micros/op is the mean time of an operation over all
// threads, not the inverse of ops/sec.
func TestMicrosPerOpOfThreads(t *testing.T) { // facebook/rocksdb#4949
	dir := t.TempDir()
	if out, code := runTool(t, "--db="+dir+"/db", "--benchmarks=fillrandom", "--num=300"); code != 0 {
		t.Fatal(out)
	}
	line := regexp.MustCompile(`readrandom +: +([\d.]+) micros/op \d+ ops/sec ([\d.]+) seconds (\d+) operations`)
	for _, threads := range []int{1, 4} {
		out, code := runTool(t, "--db="+dir+"/db", "--use_existing_db", "--benchmarks=readrandom", "--num=300", "--reads=50000", "--threads="+strconv.Itoa(threads))
		m := line.FindStringSubmatch(out)
		if code != 0 || m == nil {
			t.Fatal(out)
		}
		micros, _ := strconv.ParseFloat(m[1], 64)
		seconds, _ := strconv.ParseFloat(m[2], 64)
		operations, _ := strconv.Atoi(m[3])
		if operations != 50000*threads {
			t.Error(operations, "operations")
		}
		// The threads' times sum to more than the run's, and to no more than as
		// many of them.
		if sum := micros * float64(operations) / 1e6; sum > 1.1*seconds*float64(threads)+0.2 || threads > 1 && sum < 1.05*seconds {
			t.Errorf("%d threads: %v micros/op of %d operations in %v seconds", threads, micros, operations, seconds)
		}
	}
}
