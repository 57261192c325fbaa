// Port of options/options_test.cc: maps and strings. Differs: plug-ins are those
// of testutil_test.go; the tests of the old interface are these as well.

package options

import (
	"testing"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
	"github.com/rocksdb-go/rocksdb/utilities/registry"
)

func check[T comparable](t *testing.T, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("got %v, want %v", got, want)
	}
}

func noError(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantError(t *testing.T, err error) {
	t.Helper()
	if err == nil {
		t.Fatal("no error")
	}
}

func wantInvalid(t *testing.T, err error) {
	t.Helper()
	if rocksdb.CodeOf(err) != rocksdb.CodeInvalidArgument {
		t.Fatalf("got %v, want an InvalidArgument", err)
	}
}

// plainConfig is strict and takes strings as they are.
func plainConfig() *rocksdb.ConfigOptions {
	c := testConfig()
	c.InputStringsEscaped = false
	return c
}

var fromMapCF = map[string]string{
	"write_buffer_size":                         "1",
	"max_write_buffer_number":                   "2",
	"min_write_buffer_number_to_merge":          "3",
	"max_write_buffer_number_to_maintain":       "99",
	"max_write_buffer_size_to_maintain":         "-99999",
	"compression":                               "kSnappyCompression",
	"compression_per_level":                     "kNoCompression:kSnappyCompression:kZlibCompression:kBZip2Compression:kLZ4Compression:kLZ4HCCompression:kXpressCompression:kZSTD",
	"bottommost_compression":                    "kLZ4Compression",
	"bottommost_compression_opts":               "5:6:7:8:10:true",
	"compression_opts":                          "4:5:6:7:8:2:true:100:false",
	"num_levels":                                "8",
	"level0_file_num_compaction_trigger":        "8",
	"level0_slowdown_writes_trigger":            "9",
	"level0_stop_writes_trigger":                "10",
	"target_file_size_base":                     "12",
	"target_file_size_multiplier":               "13",
	"max_bytes_for_level_base":                  "14",
	"level_compaction_dynamic_level_bytes":      "true",
	"max_bytes_for_level_multiplier":            "15.0",
	"max_bytes_for_level_multiplier_additional": "16:17:18",
	"max_compaction_bytes":                      "21",
	"hard_pending_compaction_bytes_limit":       "211",
	"arena_block_size":                          "22",
	"disable_auto_compactions":                  "true",
	"compaction_style":                          "kCompactionStyleLevel",
	"compaction_pri":                            "kOldestSmallestSeqFirst",
	"verify_checksums_in_compaction":            "false",
	"compaction_options_fifo":                   "{allow_compaction=true;max_table_files_size=11002244;file_temperature_age_thresholds={{temperature=kCold;age=12345}}}",
	"max_sequential_skip_in_iterations":         "24",
	"inplace_update_support":                    "true",
	"report_bg_io_stats":                        "true",
	"compaction_measure_io_stats":               "false",
	"purge_redundant_kvs_while_flush":           "false",
	"inplace_update_num_locks":                  "25",
	"memtable_prefix_bloom_size_ratio":          "0.26",
	"memtable_whole_key_filtering":              "true",
	"memtable_huge_page_size":                   "28",
	"bloom_locality":                            "29",
	"max_successive_merges":                     "30",
	"strict_max_successive_merges":              "true",
	"min_partial_merge_operands":                "31",
	"prefix_extractor":                          "fixed:31",
	"experimental_mempurge_threshold":           "0.003",
	"optimize_filters_for_hits":                 "true",
	"enable_blob_files":                         "true",
	"min_blob_size":                             "1K",
	"blob_file_size":                            "1G",
	"blob_compression_type":                     "kZSTD",
	"blob_compression_opts":                     "-14:1:0:0:0:true",
	"enable_blob_garbage_collection":            "true",
	"blob_garbage_collection_age_cutoff":        "0.5",
	"blob_garbage_collection_force_threshold":   "0.75",
	"blob_compaction_readahead_size":            "256K",
	"blob_file_starting_level":                  "1",
	"prepopulate_blob_cache":                    "kDisable",
	"last_level_temperature":                    "kWarm",
	"default_write_temperature":                 "kCold",
	"default_temperature":                       "kHot",
	"persist_user_defined_timestamps":           "true",
	"memtable_max_range_deletions":              "0",
}

var fromMapDB = map[string]string{
	"create_if_missing":                      "false",
	"create_missing_column_families":         "true",
	"error_if_exists":                        "false",
	"paranoid_checks":                        "true",
	"track_and_verify_wals_in_manifest":      "true",
	"track_and_verify_wals":                  "true",
	"verify_sst_unique_id_in_manifest":       "true",
	"async_wal_precreate":                    "true",
	"fast_sst_open":                          "true",
	"max_open_files":                         "32",
	"max_total_wal_size":                     "33",
	"use_fsync":                              "true",
	"db_log_dir":                             "/db_log_dir",
	"wal_dir":                                "/wal_dir",
	"delete_obsolete_files_period_micros":    "34",
	"max_background_compactions":             "35",
	"max_background_flushes":                 "36",
	"max_log_file_size":                      "37",
	"log_file_time_to_roll":                  "38",
	"keep_log_file_num":                      "39",
	"recycle_log_file_num":                   "5",
	"max_manifest_file_size":                 "40",
	"max_manifest_space_amp_pct":             "42",
	"table_cache_numshardbits":               "41",
	"WAL_ttl_seconds":                        "43",
	"WAL_size_limit_MB":                      "44",
	"manifest_preallocation_size":            "45",
	"allow_mmap_reads":                       "true",
	"allow_mmap_writes":                      "false",
	"use_direct_reads":                       "false",
	"use_direct_io_for_compaction_reads":     "false",
	"use_direct_io_for_flush_and_compaction": "false",
	"is_fd_close_on_exec":                    "true",
	"skip_log_error_on_recovery":             "false",
	"stats_dump_period_sec":                  "46",
	"stats_persist_period_sec":               "57",
	"persist_stats_to_disk":                  "false",
	"stats_history_buffer_size":              "69",
	"advise_random_on_open":                  "true",
	"use_adaptive_mutex":                     "false",
	"compaction_readahead_size":              "100",
	"writable_file_max_buffer_size":          "314159",
	"bytes_per_sync":                         "47",
	"wal_bytes_per_sync":                     "48",
	"strict_bytes_per_sync":                  "true",
	"preserve_deletes":                       "false",
	"daily_offpeak_time_utc":                 "",
}

func with(m map[string]string, name, value string) map[string]string {
	out := map[string]string{name: value}
	for k, v := range m {
		if k != name {
			out[k] = v
		}
	}
	return out
}

func TestOptionsTest_GetOptionsFromMapTest(t *testing.T) {
	exact, loose := plainConfig(), plainConfig()
	loose.SanityLevel = rocksdb.SanityLevelLooselyCompatible
	loose.IgnoreUnknownOptions = true

	base := rocksdb.DefaultColumnFamilyOptions()
	n, err := GetColumnFamilyOptionsFromMap(exact, &base, fromMapCF)
	noError(t, err)
	check(t, n.WriteBufferSize, 1)
	check(t, n.MaxWriteBufferNumber, 2)
	check(t, n.MinWriteBufferNumberToMerge, 3)
	check(t, n.MaxWriteBufferSizeToMaintain, -99999)
	check(t, n.Compression, rocksdb.SnappyCompression)
	check(t, len(n.CompressionPerLevel), 8)
	check(t, n.CompressionPerLevel[0], rocksdb.NoCompression)
	check(t, n.CompressionPerLevel[1], rocksdb.SnappyCompression)
	check(t, n.CompressionPerLevel[2], rocksdb.ZlibCompression)
	check(t, n.CompressionPerLevel[3], rocksdb.BZip2Compression)
	check(t, n.CompressionPerLevel[4], rocksdb.LZ4Compression)
	check(t, n.CompressionPerLevel[5], rocksdb.LZ4HCCompression)
	check(t, n.CompressionPerLevel[6], rocksdb.XpressCompression)
	check(t, n.CompressionPerLevel[7], rocksdb.ZSTD)
	check(t, n.CompressionOpts.WindowBits, 4)
	check(t, n.CompressionOpts.Level, 5)
	check(t, n.CompressionOpts.Strategy, 6)
	check(t, n.CompressionOpts.MaxDictBytes, 7)
	check(t, n.CompressionOpts.ZSTDMaxTrainBytes, 8)
	check(t, n.CompressionOpts.ParallelThreads, 2)
	check(t, n.CompressionOpts.Enabled, true)
	check(t, n.CompressionOpts.MaxDictBufferBytes, 100)
	check(t, n.CompressionOpts.UseZSTDDictTrainer, false)
	check(t, n.BottommostCompression, rocksdb.LZ4Compression)
	check(t, n.BottommostCompressionOpts.WindowBits, 5)
	check(t, n.BottommostCompressionOpts.Level, 6)
	check(t, n.BottommostCompressionOpts.Strategy, 7)
	check(t, n.BottommostCompressionOpts.MaxDictBytes, 8)
	check(t, n.BottommostCompressionOpts.ZSTDMaxTrainBytes, 10)
	check(t, n.BottommostCompressionOpts.ParallelThreads, rocksdb.DefaultCompressionOptions().ParallelThreads)
	check(t, n.BottommostCompressionOpts.Enabled, true)
	check(t, n.BottommostCompressionOpts.UseZSTDDictTrainer, rocksdb.DefaultCompressionOptions().UseZSTDDictTrainer)
	check(t, n.NumLevels, 8)
	check(t, n.Level0FileNumCompactionTrigger, 8)
	check(t, n.Level0SlowdownWritesTrigger, 9)
	check(t, n.Level0StopWritesTrigger, 10)
	check(t, n.TargetFileSizeBase, 12)
	check(t, n.TargetFileSizeMultiplier, 13)
	check(t, n.MaxBytesForLevelBase, 14)
	check(t, n.LevelCompactionDynamicLevelBytes, true)
	check(t, n.MaxBytesForLevelMultiplier, 15.0)
	check(t, len(n.MaxBytesForLevelMultiplierAdditional), 3)
	check(t, n.MaxBytesForLevelMultiplierAdditional[0], 16)
	check(t, n.MaxBytesForLevelMultiplierAdditional[1], 17)
	check(t, n.MaxBytesForLevelMultiplierAdditional[2], 18)
	check(t, n.MaxCompactionBytes, 21)
	check(t, n.HardPendingCompactionBytesLimit, 211)
	check(t, n.ArenaBlockSize, 22)
	check(t, n.DisableAutoCompactions, true)
	check(t, n.CompactionStyle, rocksdb.CompactionStyleLevel)
	check(t, n.CompactionPri, rocksdb.OldestSmallestSeqFirst)
	check(t, n.CompactionOptionsFIFO.MaxTableFilesSize, 11002244)
	check(t, n.CompactionOptionsFIFO.AllowCompaction, true)
	check(t, len(n.CompactionOptionsFIFO.FileTemperatureAgeThresholds), 1)
	check(t, n.CompactionOptionsFIFO.FileTemperatureAgeThresholds[0].Temperature, rocksdb.TemperatureCold)
	check(t, n.CompactionOptionsFIFO.FileTemperatureAgeThresholds[0].Age, 12345)
	check(t, n.MaxSequentialSkipInIterations, 24)
	check(t, n.InplaceUpdateSupport, true)
	check(t, n.InplaceUpdateNumLocks, 25)
	check(t, n.MemtablePrefixBloomSizeRatio, 0.26)
	check(t, n.MemtableWholeKeyFiltering, true)
	check(t, n.MemtableHugePageSize, 28)
	check(t, n.BloomLocality, 29)
	check(t, n.MaxSuccessiveMerges, 30)
	check(t, n.StrictMaxSuccessiveMerges, true)
	check(t, n.OptimizeFiltersForHits, true)
	check(t, n.ExperimentalMempurgeThreshold, 0.003)
	check(t, n.EnableBlobFiles, true)
	check(t, n.MinBlobSize, 1<<10)
	check(t, n.BlobFileSize, 1<<30)
	check(t, n.BlobCompressionType, rocksdb.ZSTD)
	check(t, n.BlobCompressionOpts.Level, 1)
	check(t, n.EnableBlobGarbageCollection, true)
	check(t, n.BlobGarbageCollectionAgeCutoff, 0.5)
	check(t, n.BlobGarbageCollectionForceThreshold, 0.75)
	check(t, n.BlobCompactionReadaheadSize, 262144)
	check(t, n.BlobFileStartingLevel, 1)
	check(t, n.PrepopulateBlobCache, rocksdb.PrepopulateBlobCacheDisable)
	check(t, n.LastLevelTemperature, rocksdb.TemperatureWarm)
	check(t, n.DefaultWriteTemperature, rocksdb.TemperatureCold)
	check(t, n.DefaultTemperature, rocksdb.TemperatureHot)
	check(t, n.PersistUserDefinedTimestamps, true)
	check(t, n.MemtableMaxRangeDeletions, 0)
	check(t, n.PrefixExtractor.AsString(), "rocksdb.FixedPrefix.31")

	for _, bad := range [][2]string{{"write_buffer_size", "hello"}, {"unknown_option", "1"}} {
		n, err = GetColumnFamilyOptionsFromMap(exact, &base, with(fromMapCF, bad[0], bad[1]))
		wantInvalid(t, err)
		noError(t, VerifyCFOptions(exact, &base, &n, nil))
	}
	n, err = GetColumnFamilyOptionsFromMap(loose, &base, with(fromMapCF, "unknown_option", "1"))
	noError(t, err)
	noError(t, VerifyCFOptions(loose, &base, &n, nil))
	wantError(t, VerifyCFOptions(exact, &base, &n, nil))

	baseDB := rocksdb.DefaultDBOptions()
	d, err := GetDBOptionsFromMap(exact, &baseDB, fromMapDB)
	noError(t, err)
	check(t, d.CreateIfMissing, false)
	check(t, d.CreateMissingColumnFamilies, true)
	check(t, d.ErrorIfExists, false)
	check(t, d.ParanoidChecks, true)
	check(t, d.TrackAndVerifyWALsInManifest, true)
	check(t, d.TrackAndVerifyWALs, true)
	check(t, d.VerifySstUniqueIDInManifest, true)
	check(t, d.AsyncWALPrecreate, true)
	check(t, d.FastSstOpen, true)
	check(t, d.MaxOpenFiles, 32)
	check(t, d.MaxTotalWALSize, 33)
	check(t, d.UseFsync, true)
	check(t, d.DBLogDir, "/db_log_dir")
	check(t, d.WALDir, "/wal_dir")
	check(t, d.DeleteObsoleteFilesPeriodMicros, 34)
	check(t, d.MaxBackgroundCompactions, 35)
	check(t, d.MaxBackgroundFlushes, 36)
	check(t, d.MaxLogFileSize, 37)
	check(t, d.LogFileTimeToRoll, 38)
	check(t, d.KeepLogFileNum, 39)
	check(t, d.RecycleLogFileNum, 5)
	check(t, d.MaxManifestFileSize, 40)
	check(t, d.MaxManifestSpaceAmpPct, 42)
	check(t, d.TableCacheNumshardbits, 41)
	check(t, d.WALTTLSeconds, 43)
	check(t, d.WALSizeLimitMB, 44)
	check(t, d.ManifestPreallocationSize, 45)
	check(t, d.AllowMmapReads, true)
	check(t, d.AllowMmapWrites, false)
	check(t, d.UseDirectReads, false)
	check(t, d.UseDirectIOForCompactionReads, false)
	check(t, d.UseDirectIOForFlushAndCompaction, false)
	check(t, d.IsFDCloseOnExec, true)
	check(t, d.StatsDumpPeriodSec, 46)
	check(t, d.StatsPersistPeriodSec, 57)
	check(t, d.PersistStatsToDisk, false)
	check(t, d.StatsHistoryBufferSize, 69)
	check(t, d.AdviseRandomOnOpen, true)
	check(t, d.UseAdaptiveMutex, false)
	check(t, d.CompactionReadaheadSize, 100)
	check(t, d.WritableFileMaxBufferSize, 314159)
	check(t, d.BytesPerSync, 47)
	check(t, d.WALBytesPerSync, 48)
	check(t, d.StrictBytesPerSync, true)
	check(t, d.DailyOffpeakTimeUTC, "")

	for _, bad := range [][2]string{{"max_open_files", "hello"}, {"unknown_db_option", "1"}} {
		d, err = GetDBOptionsFromMap(exact, &baseDB, with(fromMapDB, bad[0], bad[1]))
		wantInvalid(t, err)
		noError(t, VerifyDBOptions(exact, &baseDB, &d, nil))
		noError(t, VerifyDBOptions(loose, &baseDB, &d, nil))
	}
	d, err = GetDBOptionsFromMap(loose, &baseDB, with(fromMapDB, "unknown_db_option", "1"))
	noError(t, err)
	noError(t, VerifyDBOptions(loose, &baseDB, &d, nil))
	wantError(t, VerifyDBOptions(exact, &baseDB, &d, nil))
}

func TestOptionsTest_CompressionOptionsFromString(t *testing.T) {
	cfg := testConfig()
	dflt := rocksdb.DefaultCompressionOptions()
	def := rocksdb.DefaultColumnFamilyOptions()
	b, err := GetColumnFamilyOptionsFromString(cfg, &def, "compression_opts=3:4:5; bottommost_compression_opts=4:5:6:7")
	noError(t, err)
	check(t, b.CompressionOpts.WindowBits, 3)
	check(t, b.CompressionOpts.Level, 4)
	check(t, b.CompressionOpts.Strategy, 5)
	check(t, b.CompressionOpts.MaxDictBytes, dflt.MaxDictBytes)
	check(t, b.CompressionOpts.ZSTDMaxTrainBytes, dflt.ZSTDMaxTrainBytes)
	check(t, b.CompressionOpts.ParallelThreads, dflt.ParallelThreads)
	check(t, b.CompressionOpts.Enabled, dflt.Enabled)
	check(t, b.CompressionOpts.UseZSTDDictTrainer, dflt.UseZSTDDictTrainer)
	check(t, b.BottommostCompressionOpts.WindowBits, 4)
	check(t, b.BottommostCompressionOpts.Level, 5)
	check(t, b.BottommostCompressionOpts.Strategy, 6)
	check(t, b.BottommostCompressionOpts.MaxDictBytes, 7)
	check(t, b.BottommostCompressionOpts.ZSTDMaxTrainBytes, dflt.ZSTDMaxTrainBytes)
	check(t, b.BottommostCompressionOpts.ParallelThreads, dflt.ParallelThreads)
	check(t, b.BottommostCompressionOpts.Enabled, dflt.Enabled)
	check(t, b.BottommostCompressionOpts.UseZSTDDictTrainer, dflt.UseZSTDDictTrainer)

	b, err = GetColumnFamilyOptionsFromString(cfg, &def,
		"compression_opts=4:5:6:7:8:9:true:10:false; bottommost_compression_opts=5:6:7:8:9:false")
	noError(t, err)
	check(t, b.CompressionOpts.WindowBits, 4)
	check(t, b.CompressionOpts.Level, 5)
	check(t, b.CompressionOpts.Strategy, 6)
	check(t, b.CompressionOpts.MaxDictBytes, 7)
	check(t, b.CompressionOpts.ZSTDMaxTrainBytes, 8)
	check(t, b.CompressionOpts.ParallelThreads, 9)
	check(t, b.CompressionOpts.Enabled, true)
	check(t, b.CompressionOpts.MaxDictBufferBytes, 10)
	check(t, b.CompressionOpts.UseZSTDDictTrainer, false)
	check(t, b.BottommostCompressionOpts.WindowBits, 5)
	check(t, b.BottommostCompressionOpts.Level, 6)
	check(t, b.BottommostCompressionOpts.Strategy, 7)
	check(t, b.BottommostCompressionOpts.MaxDictBytes, 8)
	check(t, b.BottommostCompressionOpts.ZSTDMaxTrainBytes, 9)
	check(t, b.BottommostCompressionOpts.ParallelThreads, dflt.ParallelThreads)
	check(t, b.BottommostCompressionOpts.Enabled, false)
	check(t, b.BottommostCompressionOpts.UseZSTDDictTrainer, dflt.UseZSTDDictTrainer)

	text, err := GetStringFromColumnFamilyOptions(cfg, &b)
	noError(t, err)
	n, err := GetColumnFamilyOptionsFromString(cfg, &def, text)
	noError(t, err)
	check(t, n.CompressionOpts, b.CompressionOpts)
	check(t, n.BottommostCompressionOpts, b.BottommostCompressionOpts)

	n, err = GetColumnFamilyOptionsFromString(cfg, &def,
		"compression_opts={window_bits=5; level=6; strategy=7; max_dict_bytes=8;"+
			"zstd_max_train_bytes=9;parallel_threads=10;enabled=true;use_zstd_dict_trainer=false}; "+
			"bottommost_compression_opts={window_bits=4; level=5; strategy=6; max_dict_bytes=7;"+
			"zstd_max_train_bytes=8;parallel_threads=9;enabled=false;use_zstd_dict_trainer=true}; ")
	noError(t, err)
	check(t, n.CompressionOpts.WindowBits, 5)
	check(t, n.CompressionOpts.Level, 6)
	check(t, n.CompressionOpts.Strategy, 7)
	check(t, n.CompressionOpts.MaxDictBytes, 8)
	check(t, n.CompressionOpts.ZSTDMaxTrainBytes, 9)
	check(t, n.CompressionOpts.ParallelThreads, 10)
	check(t, n.CompressionOpts.Enabled, true)
	check(t, n.CompressionOpts.UseZSTDDictTrainer, false)
	check(t, n.BottommostCompressionOpts.WindowBits, 4)
	check(t, n.BottommostCompressionOpts.Level, 5)
	check(t, n.BottommostCompressionOpts.Strategy, 6)
	check(t, n.BottommostCompressionOpts.MaxDictBytes, 7)
	check(t, n.BottommostCompressionOpts.ZSTDMaxTrainBytes, 8)
	check(t, n.BottommostCompressionOpts.ParallelThreads, 9)
	check(t, n.BottommostCompressionOpts.Enabled, false)
	check(t, n.BottommostCompressionOpts.UseZSTDDictTrainer, true)

	n, err = GetColumnFamilyOptionsFromString(cfg, &b,
		"compression_opts={window_bits=4; strategy=5;};bottommost_compression_opts={level=6; strategy=7;}")
	noError(t, err)
	want, wantBottom := b.CompressionOpts, b.BottommostCompressionOpts
	want.WindowBits, want.Strategy = 4, 5
	wantBottom.Level, wantBottom.Strategy = 6, 7
	check(t, n.CompressionOpts, want)
	check(t, n.BottommostCompressionOpts, wantBottom)

	n, err = GetColumnFamilyOptionsFromString(cfg, &b,
		"compression_opts.enabled=false; bottommost_compression_opts.enabled=true; ")
	noError(t, err)
	check(t, n.CompressionOpts.Enabled, false)
	check(t, n.BottommostCompressionOpts.Enabled, true)

	ignore := testConfig()
	ignore.IgnoreUnknownOptions = true
	for _, bad := range []string{
		"compression_opts=5:6:7:8:9:x:false", "compression_opts=1:2:3:4:5:6:true:8:9",
		"compression_opts={unknown=bad;}", "compression_opts.unknown=bad",
		"new_unknown_field=whatever; bottommost_compression_opts=4:5:6:7",
	} {
		_, err = GetColumnFamilyOptionsFromString(cfg, &def, bad)
		wantError(t, err)
		_, err = GetColumnFamilyOptionsFromString(ignore, &def, bad)
		noError(t, err)
	}
	for _, c := range []*rocksdb.ConfigOptions{cfg, ignore} {
		_, err = GetColumnFamilyOptionsFromString(c, &def, "compression_opts=1:2:3:4:5:6:true:8")
		noError(t, err)
	}
}

func TestOptionsTest_GetColumnFamilyOptionsFromStringTest(t *testing.T) {
	cfg := plainConfig()
	base := rocksdb.DefaultColumnFamilyOptions()
	ok := func(s string) rocksdb.ColumnFamilyOptions {
		t.Helper()
		n, err := GetColumnFamilyOptionsFromString(cfg, &base, s)
		noError(t, err)
		return n
	}
	bad := func(s string) {
		t.Helper()
		n, err := GetColumnFamilyOptionsFromString(cfg, &base, s)
		wantInvalid(t, err)
		noError(t, VerifyCFOptions(cfg, &base, &n, nil))
	}
	ok("")
	n := ok("write_buffer_size=5")
	check(t, n.WriteBufferSize, 5)
	if n.TableFactory != nil {
		t.Error("a table factory from nowhere")
	}
	check(t, ok("write_buffer_size=6;").WriteBufferSize, 6)
	check(t, ok("memtable_verify_per_key_checksum_on_seek=true").MemtableVerifyPerKeyChecksumOnSeek, true)
	check(t, ok("memtable_veirfy_per_key_checksum_on_seek=true").MemtableVerifyPerKeyChecksumOnSeek, true)
	check(t, ok("  write_buffer_size =  7  ").WriteBufferSize, 7)
	check(t, ok("  write_buffer_size =  8 ; ").WriteBufferSize, 8)
	n = ok("write_buffer_size=9;max_write_buffer_number=10")
	check(t, n.WriteBufferSize, 9)
	check(t, n.MaxWriteBufferNumber, 10)
	n = ok("write_buffer_size=11; max_write_buffer_number  =  12 ;")
	check(t, n.WriteBufferSize, 11)
	check(t, n.MaxWriteBufferNumber, 12)
	bad("write_buffer_size=13;max_write_buffer_number_=14;")

	cfg.Registry.(*registry.Registry).AddNewLibrary("comp").AddFactory(registry.KindComparator, "reverse_comp",
		func(*rocksdb.ConfigOptions, string) (any, error) { return util.ReverseBytewiseComparator(), nil })
	check(t, ok("comparator=reverse_comp;").Comparator, util.ReverseBytewiseComparator())
	check(t, ok("merge_operator=UInt64AddOperator;").MergeOperator.Name(), "UInt64AddOperator")

	bad("write_buffer_size=13;max_write_buffer_number;")
	bad("write_buffer_size=13;max_write_buffer_number=;")
	bad("write_buffer_size=13; =100;")

	const kilo, mega, giga, tera = 1 << 10, 1 << 20, 1 << 30, 1 << 40
	check(t, ok("max_write_buffer_number=15K").MaxWriteBufferNumber, 15*kilo)
	n = ok("max_write_buffer_number=16m;inplace_update_num_locks=17M")
	check(t, n.MaxWriteBufferNumber, 16*mega)
	check(t, n.InplaceUpdateNumLocks, 17*mega)
	n = ok("write_buffer_size=18g;prefix_extractor=capped:8;arena_block_size=19G")
	check(t, n.WriteBufferSize, 18*giga)
	check(t, n.ArenaBlockSize, 19*giga)
	check(t, n.PrefixExtractor.AsString(), "rocksdb.CappedPrefix.8")
	n = ok("write_buffer_size=20t;arena_block_size=21T")
	check(t, n.WriteBufferSize, 20*tera)
	check(t, n.ArenaBlockSize, 21*tera)

	const head = "write_buffer_size=10;max_write_buffer_number=16;"
	for _, s := range []string{
		"block_based_table_factory={};arena_block_size=1024",
		"block_based_table_factory={block_cache=1M;block_size=4;};arena_block_size=1024",
		"block_based_table_factory={block_cache=1M;block_size=4;}",
	} {
		if n = ok(head + s); n.TableFactory == nil {
			t.Errorf("no table factory from %s", s)
		}
	}
	check(t, bbtoOf(t, n.TableFactory).BlockSize, 4)
	check(t, bbtoOf(t, n.TableFactory).BlockCache.GetCapacity(), mega)
	for _, s := range []string{
		"block_based_table_factory={{{block_size=4;};arena_block_size=1024",
		"block_based_table_factory={block_size=4;}};arena_block_size=1024",
		"block_based_table_factory={block_size=4;}xdfa;arena_block_size=1024",
		"block_based_table_factory={block_size=4;}xdfa",
		"block_based_table_factory={xx_block_size=4;}",
	} {
		bad(head + s)
	}
	check(t, ok("optimize_filters_for_hits=true").OptimizeFiltersForHits, true)
	check(t, ok("optimize_filters_for_hits=false").OptimizeFiltersForHits, false)
	bad("optimize_filters_for_hits=junk")

	for _, s := range []string{"plain_table_factory={};", "plain_table_factory={user_key_len=66;bloom_bits_per_key=20;};"} {
		check(t, ok(head+s+"arena_block_size=1024").TableFactory.Name(), rocksdb.PlainTableName)
	}
	check(t, ok(head+"memtable=skip_list:10;arena_block_size=1024").MemtableFactory.Name(), "SkipListFactory")
	check(t, ok("blob_cache={capacity=1M};").BlobCache.GetCapacity(), mega)
}

func TestOptionsTest_OldInterfaceTest(t *testing.T) {
	cfg := plainConfig()
	base := rocksdb.DefaultColumnFamilyOptions()
	n, err := GetColumnFamilyOptionsFromString(cfg, &base, "write_buffer_size=18;prefix_extractor=capped:8;arena_block_size=19")
	noError(t, err)
	check(t, n.WriteBufferSize, 18)
	check(t, n.ArenaBlockSize, 19)
	if n.PrefixExtractor == nil {
		t.Error("no prefix extractor")
	}
	n, err = GetColumnFamilyOptionsFromString(cfg, &base,
		"write_buffer_size=10;max_write_buffer_number=16;block_based_table_factory={xx_block_size=4;}")
	wantError(t, err)
	noError(t, VerifyCFOptions(testConfig(), &base, &n, nil))

	m := map[string]string{"write_buffer_size": "1", "max_write_buffer_number": "2", "min_write_buffer_number_to_merge": "3"}
	_, err = GetColumnFamilyOptionsFromMap(cfg, &base, m)
	noError(t, err)
	m["unknown_option"] = "1"
	n, err = GetColumnFamilyOptionsFromMap(cfg, &base, m)
	wantError(t, err)
	noError(t, VerifyCFOptions(testConfig(), &base, &n, nil))
	ignore := testConfig()
	ignore.IgnoreUnknownOptions = true
	_, err = GetColumnFamilyOptionsFromMap(ignore, &base, m)
	noError(t, err)

	baseDB := rocksdb.DefaultDBOptions()
	dm := map[string]string{
		"create_if_missing": "false", "create_missing_column_families": "true", "error_if_exists": "false",
		"paranoid_checks": "true", "track_and_verify_wals_in_manifest": "true", "track_and_verify_wals": "true",
		"verify_sst_unique_id_in_manifest": "true", "async_wal_precreate": "true", "fast_sst_open": "true",
		"max_open_files": "32", "daily_offpeak_time_utc": "06:30-23:30",
	}
	d, err := GetDBOptionsFromMap(cfg, &baseDB, dm)
	noError(t, err)
	check(t, d.CreateMissingColumnFamilies, true)
	check(t, d.TrackAndVerifyWALsInManifest, true)
	check(t, d.TrackAndVerifyWALs, true)
	check(t, d.AsyncWALPrecreate, true)
	check(t, d.FastSstOpen, true)
	check(t, d.MaxOpenFiles, 32)
	check(t, d.DailyOffpeakTimeUTC, "06:30-23:30")
	dm["unknown_option"] = "1"
	d, err = GetDBOptionsFromMap(cfg, &baseDB, dm)
	wantInvalid(t, err)
	noError(t, VerifyDBOptions(testConfig(), &baseDB, &d, nil))
	_, err = GetDBOptionsFromMap(ignore, &baseDB, dm)
	noError(t, err)
	d, err = GetDBOptionsFromString(cfg, &baseDB,
		"create_if_missing=false;error_if_exists=false;max_open_files=42;daily_offpeak_time_utc=08:30-19:00;")
	noError(t, err)
	check(t, d.MaxOpenFiles, 42)
	check(t, d.DailyOffpeakTimeUTC, "08:30-19:00")
	d, err = GetDBOptionsFromString(cfg, &baseDB, "create_if_missing=false;max_open_files=42;unknown_option=1;")
	wantInvalid(t, err)
	noError(t, VerifyDBOptions(testConfig(), &baseDB, &d, nil))
}

func TestOptionsTest_GetBlockBasedTableOptionsFromString(t *testing.T) {
	cfg := plainConfig()
	cfg.IgnoreUnsupportedOptions = false
	base := rocksdb.DefaultBlockBasedTableOptions()
	ok := func(s string) rocksdb.BlockBasedTableOptions {
		t.Helper()
		n, err := GetBlockBasedTableOptionsFromString(cfg, &base, s)
		noError(t, err)
		return n
	}
	n := ok("cache_index_and_filter_blocks=1;index_type=kHashSearch;checksum=kxxHash;" +
		"block_cache=1M;block_cache_compressed=1k;block_size=1024;block_size_deviation=8;block_restart_interval=4;" +
		"format_version=5;whole_key_filtering=1;filter_policy=bloomfilter:4.567:false;" +
		"detect_filter_construct_corruption=true;read_amp_bytes_per_bit=17179869185;")
	check(t, n.CacheIndexAndFilterBlocks, true)
	check(t, n.IndexType, rocksdb.HashSearch)
	check(t, n.Checksum, rocksdb.XXHash)
	check(t, n.BlockCache.GetCapacity(), 1<<20)
	check(t, n.BlockSize, 1024)
	check(t, n.BlockSizeDeviation, 8)
	check(t, n.BlockRestartInterval, 4)
	check(t, n.FormatVersion, 5)
	check(t, n.WholeKeyFiltering, true)
	check(t, n.DetectFilterConstructCorruption, true)
	check(t, n.FilterPolicy.ID(), "bloomfilter:4.567:false")
	check(t, n.ReadAmpBytesPerBit, 1) // the low half of the number

	for _, bad := range []string{
		"cache_index_and_filter_blocks=1;index_type=kBinarySearch;bad_option=1",
		"cache_index_and_filter_blocks=1;index_type=kBinarySearchXX",
		"cache_index_and_filter_blocks=1;checksum=kxxHashXX",
		"filter_policy=bloomfilterxx:4:true",
	} {
		n, err := GetBlockBasedTableOptionsFromString(cfg, &base, bad)
		wantInvalid(t, err)
		check(t, n.CacheIndexAndFilterBlocks, base.CacheIndexAndFilterBlocks)
		check(t, n.IndexType, base.IndexType)
	}
	check(t, ok("filter_policy=rocksdb.BloomFilter:1.234:false").FilterPolicy.ID(), "rocksdb.BloomFilter:1.234:false")
	check(t, ok("filter_policy=ribbonfilter:6.789:5;").FilterPolicy.ID(), "ribbonfilter:6.789:5")
	check(t, ok("block_cache={capacity=2M}").BlockCache.GetCapacity(), 2<<20)
}

func TestOptionsTest_GetPlainTableOptionsFromString(t *testing.T) {
	cfg := plainConfig()
	base := rocksdb.DefaultPlainTableOptions()
	n, err := GetPlainTableOptionsFromString(cfg, &base,
		"user_key_len=66;bloom_bits_per_key=20;hash_table_ratio=0.5;index_sparseness=8;huge_page_tlb_size=4;"+
			"encoding_type=kPrefix;full_scan_mode=true;store_index_in_file=true")
	noError(t, err)
	check(t, n, rocksdb.PlainTableOptions{UserKeyLen: 66, BloomBitsPerKey: 20, HashTableRatio: 0.5, IndexSparseness: 8,
		HugePageTLBSize: 4, EncodingType: rocksdb.EncodingPrefix, FullScanMode: true, StoreIndexInFile: true})
	for _, bad := range []string{"bad_option=1", "encoding_type=kPrefixXX"} {
		_, err = GetPlainTableOptionsFromString(cfg, &base, "user_key_len=66;bloom_bits_per_key=20;hash_table_ratio=0.5;"+bad)
		wantInvalid(t, err)
	}
}

func TestOptionsTest_GetMemTableRepFactoryFromString(t *testing.T) {
	cfg := testConfig()
	for id, name := range map[string]string{
		"skip_list": "SkipListFactory", "skip_list:16": "SkipListFactory",
		"prefix_hash": "HashSkipListRepFactory", "prefix_hash:1000": "HashSkipListRepFactory",
		"hash_linkedlist": "HashLinkListRepFactory", "hash_linkedlist:1000": "HashLinkListRepFactory",
		"vector": "VectorRepFactory", "vector:1024": "VectorRepFactory",
	} {
		f, err := GetMemTableRepFactoryFromString(cfg, id)
		noError(t, err)
		check(t, f.Name(), name)
	}
	for _, bad := range []string{
		"skip_list:16:invalid_opt", "prefix_hash:1000:invalid_opt", "hash_linkedlist:1000:invalid_opt",
		"vector:1024:invalid_opt", "cuckoo", "cuckoo:1024", "bad_factory",
	} {
		_, err := GetMemTableRepFactoryFromString(cfg, bad)
		wantError(t, err)
	}
}

func TestOptionsTest_GetOptionsFromStringTest(t *testing.T) {
	cfg := plainConfig()
	base := rocksdb.DefaultOptions()
	base.WriteBufferSize = 20
	base.MinWriteBufferNumberToMerge = 15
	bbto := rocksdb.DefaultBlockBasedTableOptions()
	bbto.CacheIndexAndFilterBlocks = true
	base.TableFactory = newBlockBased(bbto)

	n, err := GetOptionsFromString(cfg, &base,
		"write_buffer_size=10;max_write_buffer_number=16;block_based_table_factory={block_cache=1M;block_size=4;};"+
			"compression_opts=4:5:6;create_if_missing=true;max_open_files=1;bottommost_compression_opts=5:6:7")
	noError(t, err)
	want := rocksdb.DefaultCompressionOptions()
	want.WindowBits, want.Level, want.Strategy = 4, 5, 6
	check(t, n.CompressionOpts, want)
	want.WindowBits, want.Level, want.Strategy = 5, 6, 7
	check(t, n.BottommostCompressionOpts, want)
	check(t, n.BottommostCompression, rocksdb.DisableCompressionOption)
	check(t, n.WriteBufferSize, 10)
	check(t, n.MaxWriteBufferNumber, 16)
	nb := bbtoOf(t, n.TableFactory)
	check(t, nb.BlockCache.GetCapacity(), 1<<20)
	check(t, nb.BlockSize, 4)
	check(t, nb.CacheIndexAndFilterBlocks, true)
	check(t, n.CreateIfMissing, true)
	check(t, n.MaxOpenFiles, 1)
	check(t, bbtoOf(t, base.TableFactory).BlockSize, 4096)

	base.WriteBufferSize = 1024
	for _, bad := range []string{
		"create_if_missing=XX;dump_malloc_stats=true", "write_buffer_size=XX;dump_malloc_stats=true",
		"write_buffer_size=16;dump_malloc_stats=trueblock_based_table_factory={block_size=XX;};",
	} {
		n, err = GetOptionsFromString(cfg, &base, bad)
		wantInvalid(t, err)
		check(t, n.DumpMallocStats, false)
		check(t, n.WriteBufferSize, 1024)
	}
	cfg.IgnoreUnknownOptions = true
	n, err = GetOptionsFromString(cfg, &base, "create_if_missing=XX;dump_malloc_stats=true;write_buffer_size=XX;"+
		"block_based_table_factory={block_size=XX;};")
	noError(t, err)
	check(t, n.CreateIfMissing, base.CreateIfMissing)
	check(t, n.DumpMallocStats, true)
	check(t, n.WriteBufferSize, base.WriteBufferSize)
	n, err = GetOptionsFromString(plainConfig(), &base, "write_buffer_size=22;max_write_buffer_number=33;max_open_files=44;")
	noError(t, err)
	check(t, n.WriteBufferSize, 22)
	check(t, n.MaxWriteBufferNumber, 33)
	check(t, n.MaxOpenFiles, 44)
}
