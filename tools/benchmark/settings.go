// Port of tools/benchmark.sh (the environment).

package main

import (
	"fmt"
	"strconv"
	"strings"
)

const (
	kib = 1 << 10
	mib = 1 << 20
	gib = 1 << 30
)

// settings are what the environment says, in upstream's variables.
type settings struct {
	get func(string) string // as os.Getenv

	jobID, dbDir, walDir, outputDir string
	style                           string // leveled, universal or blob
	numKeys, valueSize, duration    int64
	threads                         int64
	nextsPerSeek                    int64
	sync                            int
	err                             error // the first bad value
}

// str is a variable, or what it is without.
func (s *settings) str(name, otherwise string) string {
	if v := s.get(name); v != "" {
		return v
	}
	return otherwise
}

// num is a variable that is a number.
func (s *settings) num(name string, otherwise int64) int64 {
	v := s.get(name)
	if v == "" {
		return otherwise
	}
	n, err := strconv.ParseInt(v, 10, 64)
	if err != nil && s.err == nil {
		s.err = fmt.Errorf("%s is :: %s :: and must be a number", name, v)
	}
	return n
}

func readSettings(get func(string) string) (*settings, error) {
	s := &settings{get: get}
	s.jobID, s.dbDir, s.walDir = get("JOB_ID"), get("DB_DIR"), get("WAL_DIR")
	s.outputDir = s.str("OUTPUT_DIR", "/tmp")
	s.style = s.str("COMPACTION_STYLE", "leveled")
	s.numKeys, s.valueSize = s.num("NUM_KEYS", 8000000000), s.num("VALUE_SIZE", 400)
	s.duration, s.threads = s.num("DURATION", 0), s.num("NUM_THREADS", 64)
	s.nextsPerSeek = s.num("NUM_NEXTS_PER_SEEK", 10)
	s.sync = 1
	if get("DB_BENCH_NO_SYNC") != "" {
		s.sync = 0
	}
	switch {
	case s.err != nil:
	case s.dbDir == "":
		s.err = fmt.Errorf("DB_DIR is not defined")
	case s.walDir == "":
		s.err = fmt.Errorf("WAL_DIR is not defined")
	case s.style != "leveled" && s.style != "universal" && s.style != "blob":
		s.err = fmt.Errorf("COMPACTION_STYLE is :: %s :: and must be one of leveled, universal, blob", s.style)
	}
	return s, s.err
}

// flags collects --name=value.
type flags []string

func (f *flags) add(name string, value any) { *f = append(*f, fmt.Sprintf("--%s=%v", name, value)) }

// base are the flags of every run.
func (s *settings) base() flags {
	var f flags
	f.add("db", s.dbDir)
	f.add("wal_dir", s.walDir)
	f.add("num", s.numKeys)
	f.add("key_size", s.num("KEY_SIZE", 20))
	f.add("value_size", s.valueSize)
	f.add("block_size", s.num("BLOCK_SIZE", 8192))
	f.add("cache_size", s.num("CACHE_SIZE", 16*gib))
	f.add("cache_numshardbits", s.num("CACHE_NUMSHARDBITS", 6))
	f.add("compression_max_dict_bytes", s.num("COMPRESSION_MAX_DICT_BYTES", 0))
	f.add("compression_ratio", 0.5)
	f.add("compression_type", s.str("COMPRESSION_TYPE", "zstd"))
	if s.num("CACHE_INDEX_AND_FILTER_BLOCKS", 0) != 0 {
		f.add("cache_index_and_filter_blocks", 1)
		f.add("cache_high_pri_pool_ratio", 0.5)
		f.add("cache_low_pri_pool_ratio", 0)
	}
	bytesPerSync := s.num("BYTES_PER_SYNC", mib)
	if s.get("USE_O_DIRECT") != "" {
		f = append(f, "--use_direct_reads", "--use_direct_io_for_flush_and_compaction", "--prepopulate_block_cache=1")
		bytesPerSync = 0
	}
	f.add("bytes_per_sync", bytesPerSync)
	f.add("benchmark_write_rate_limit", mib*s.num("MB_WRITE_PER_SEC", 0))
	f.add("write_buffer_size", mib*s.num("WRITE_BUFFER_SIZE_MB", 128))
	f.add("target_file_size_base", mib*s.num("TARGET_FILE_SIZE_BASE_MB", 128))
	f.add("max_bytes_for_level_base", mib*s.num("MAX_BYTES_FOR_LEVEL_BASE_MB", 1024))
	f.add("verify_checksum", 1)
	f.add("delete_obsolete_files_period_micros", 60*mib)
	f.add("max_bytes_for_level_multiplier", s.num("PER_LEVEL_FANOUT", 8))
	f.add("statistics", 0)
	f.add("stats_per_interval", 1)
	f.add("stats_interval_seconds", s.num("STATS_INTERVAL_SECONDS", 60))
	f.add("report_interval_seconds", s.num("REPORT_INTERVAL_SECONDS", 1))
	f.add("histogram", 1)
	f.add("memtablerep", "skip_list")
	f.add("bloom_bits", 10)
	f.add("open_files", -1)
	f.add("subcompactions", s.num("SUBCOMPACTIONS", 1))
	return f
}

// common are base and the flags of the compaction style.
func (s *settings) common() flags {
	f := s.base()
	if s.style == "universal" {
		f.add("compaction_style", 1)
		f.add("num_levels", 40)
		f.add("universal_compression_size_percent", s.num("COMPRESSION_SIZE_PERCENT", -1))
		f.add("pin_l0_filter_and_index_blocks_in_cache", 1)
		f.add("universal_min_merge_width", s.num("UNIVERSAL_MIN_MERGE_WIDTH", 2))
		f.add("universal_max_merge_width", s.num("UNIVERSAL_MAX_MERGE_WIDTH", 20))
		f.add("universal_size_ratio", s.num("UNIVERSAL_SIZE_RATIO", 1))
		f.add("universal_max_size_amplification_percent", s.num("UNIVERSAL_MAX_SIZE_AMP", 200))
		trivial := 0
		if s.get("UNIVERSAL_ALLOW_TRIVIAL_MOVE") != "" {
			trivial = 1
		}
		f.add("universal_allow_trivial_move", trivial)
	} else {
		f.add("compaction_style", 0)
		f.add("num_levels", 8)
		f.add("min_level_to_compress", s.num("MIN_LEVEL_TO_COMPRESS", -1))
		f.add("level_compaction_dynamic_level_bytes", true)
		f.add("pin_l0_filter_and_index_blocks_in_cache", 1)
		for _, limit := range []string{"soft", "hard"} {
			if v := s.get(strings.ToUpper(limit) + "_PENDING_COMPACTION_BYTES_LIMIT_IN_GB"); v != "" {
				gb, err := strconv.ParseFloat(v, 64)
				if err != nil && s.err == nil {
					s.err = fmt.Errorf("%s_PENDING_COMPACTION_BYTES_LIMIT_IN_GB is :: %s :: and must be a number", strings.ToUpper(limit), v)
				}
				f.add(limit+"_pending_compaction_bytes_limit", int64(gb*gib))
			}
		}
	}
	if s.style == "blob" {
		s.addBlob(&f)
	}
	if s.duration > 0 {
		f.add("duration", s.duration)
	}
	if n := s.num("WRITES", 0); n > 0 {
		f.add("writes", n)
	}
	return f
}

func (s *settings) addBlob(f *flags) {
	f.add("enable_blob_files", true)
	f.add("min_blob_size", s.num("MIN_BLOB_SIZE", 0))
	f.add("blob_file_size", s.num("BLOB_FILE_SIZE", 256*mib))
	f.add("blob_compression_type", s.str("BLOB_COMPRESSION_TYPE", s.str("COMPRESSION_TYPE", "zstd")))
	f.add("enable_blob_garbage_collection", true)
	f.add("blob_garbage_collection_age_cutoff", s.str("BLOB_GC_AGE_CUTOFF", "0.25"))
	f.add("blob_garbage_collection_force_threshold", s.str("BLOB_GC_FORCE_THRESHOLD", "1"))
	f.add("blob_file_starting_level", s.num("BLOB_FILE_STARTING_LEVEL", 0))
	f.add("use_blob_cache", s.num("USE_BLOB_CACHE", 1))
	f.add("use_shared_block_and_blob_cache", s.num("USE_SHARED_BLOCK_AND_BLOB_CACHE", 1))
	f.add("blob_cache_size", s.num("BLOB_CACHE_SIZE", 16*gib))
	f.add("blob_cache_numshardbits", s.num("BLOB_CACHE_NUMSHARDBITS", 6))
	f.add("prepopulate_blob_cache", s.num("PREPOPULATE_BLOB_CACHE", 0))
}

// writing are the flags of all jobs but bulkload.
func (s *settings) writing() flags {
	trigger := int64(4)
	if s.style == "universal" {
		trigger = 8
	}
	var f flags
	f.add("level0_file_num_compaction_trigger", s.num("LEVEL0_FILE_NUM_COMPACTION_TRIGGER", trigger))
	f.add("level0_slowdown_writes_trigger", s.num("LEVEL0_SLOWDOWN_WRITES_TRIGGER", 20))
	f.add("level0_stop_writes_trigger", s.num("LEVEL0_STOP_WRITES_TRIGGER", 30))
	f.add("max_background_jobs", s.num("MAX_BACKGROUND_JOBS", 16))
	f.add("max_write_buffer_number", 8)
	return append(f, s.common()...)
}

// bulkload are the flags of loading without compactions.
func (s *settings) bulkload() flags {
	var f flags
	f.add("max_background_jobs", s.num("MAX_BACKGROUND_JOBS", 16))
	f.add("max_write_buffer_number", 8)
	for _, name := range []string{"file_num_compaction", "slowdown_writes", "stop_writes"} {
		f.add("level0_"+name+"_trigger", 10*mib)
	}
	return append(f, s.common()...)
}
