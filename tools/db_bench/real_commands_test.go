// No upstream twin: command lines of db_bench as people posted them in issues and
// changes of facebook/rocksdb, with fewer keys, and what they answer.

package main

import (
	"regexp"
	"strings"
	"testing"
)

func TestRealCommandLines(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("TEST_TMPDIR", t.TempDir())
	for _, c := range []struct {
		line string
		code int
		ran  string // the benchmarks with a line of results, in order
		want string // a pattern of the output
	}{
		{line: "--compression_type=none --num=100 --benchmarks=fillrandom,readrandom", // 6664
			ran: "fillrandom readrandom", want: `\(\d+ of 100 found\)`},
		{line: "--write_buffer_size=67108864 --threads=1 --bloom_bits=10 --cache_size=134217728 --benchmarks=fillseq,readrandom --compression_type=lz4 " +
			"--block_size=4096 --memtablerep=skip_list --compression_ratio=0.5 --key_size=30 --value_size=256 --num=1000 --batch_size=100 --db=9307 --use_existing_db=0",
			ran: "fillseq readrandom", want: `Compression: LZ4\n(?s:.*)\(1000 of 1000 found\)`},
		{line: "--benchmarks=compact --use_existing_db=1 --num=9000 --benchmark_write_rate_limit=0 --hard_rate_limit=3 --rate_limit_delay_max_milliseconds=1000000", // 9536
			code: 1, want: `^ERROR: unknown command line flag 'hard_rate_limit'\nERROR: unknown command line flag 'rate_limit_delay_max_milliseconds'\n$`},
		{line: "--benchmarks=compact --use_existing_db=1 --disable_auto_compactions=1 --sync=0 --level0_file_num_compaction_trigger=4 --level0_stop_writes_trigger=20 " +
			"--max_background_compactions=16 --max_write_buffer_number=8 --max_background_flushes=7 --db=9307 --wal_dir=9307 --num=1000 --num_levels=7 --key_size=30 " +
			"--value_size=256 --block_size=8192 --cache_size=6442450 --cache_numshardbits=6 --compression_max_dict_bytes=0 --compression_ratio=0.5 --compression_type=zstd " +
			"--level_compaction_dynamic_level_bytes=true --bytes_per_sync=8388608 --cache_index_and_filter_blocks=0 --pin_l0_filter_and_index_blocks_in_cache=1 " +
			"--benchmark_write_rate_limit=0 --write_buffer_size=134217728 --target_file_size_base=134217728 --max_bytes_for_level_base=1073741824 --verify_checksum=1 " +
			"--delete_obsolete_files_period_micros=62914560 --max_bytes_for_level_multiplier=8 --statistics=0 --stats_per_interval=1",
			ran: "compact"},
		{line: "--num=100 --db=11426 --histogram=1 --key_size=4096 --value_size=8192 --compression_type=none --benchmarks=fillrandom,stats --statistics " +
			"--stats_per_interval=1 --stats_interval_seconds=240 --threads=1 --target_file_size_multiplier=10 --write_buffer_size=134217728 --use_existing_db=0 " +
			"--disable_wal=false --cache_size=536870 --bloom_bits=10 --bloom_locality=1 --compaction_style=0 --universal_max_size_amplification_percent=500 " +
			"--max_write_buffer_number=16 --max_background_flushes=16 --level0_file_num_compaction_trigger=64 --level0_slowdown_writes_trigger=320 " +
			"--level0_stop_writes_trigger=576 --soft_pending_compaction_bytes_limit=549755813888 --hard_pending_compaction_bytes_limit=1099511627776",
			ran: "fillrandom", want: `Microseconds per write:\nCount: 100 (?s:.*)\*\* Compaction Stats \[default\] \*\*(?s:.*)STATISTICS:\nrocksdb\.block\.cache\.miss COUNT : \d+\n`},
		// Flags with one dash, without '='; the word after a bool is none of its own.
		{line: "--compression_type=none --compression_ratio=0.75 --benchmarks=fillseq --histogram true --num 100 -block_size 1048576 --compression_level=6 " +
			"--db=4984 -key_size 20 -value_size 4096 -num_low_pri_threads 8 -num_multi_db 4 -threads 12",
			ran: "fillseq", want: `\nEntries: +100\n(?s:.*) 4800 operations;(?s:.*)Microseconds per write:\nCount: 4800 `},
		{line: "--benchmarks=fillrandom -num=5000 -perf_level=3 -use_direct_io_for_flush_and_compaction=true -use_direct_reads=true -cache_size=268435456 -key_size=48 -value_size=43", // 8231
			ran: "fillrandom", want: ` PERF_CONTEXT:\nuser_key_comparison_count = [1-9]`},
		{line: "--benchmarks=fillrandom --disable_seek_compaction=1 --mmap_read=0 --statistics=1 --num=1000 --disable_data_sync=1 --source_compaction_factor=10000000", // 113
			code: 1, want: `^ERROR: unknown command line flag 'disable_data_sync'\nERROR: unknown command line flag 'source_compaction_factor'\n$`},
		{line: "--db=1292 --num_levels=6 --key_size=20 --value_size=800 --block_size=4096 --cache_size=171798691 --cache_numshardbits=6 --compression_type=snappy " +
			"--compression_ratio=0.5 --write_buffer_size=13421772 --max_write_buffer_number=2 --sync=0 --verify_checksum=1 --statistics=1 --stats_per_interval=1 " +
			"--stats_interval=1048576 --histogram=1 --memtablerep=skip_list --bloom_bits=10 --num_multi_db=8 --rate_limiter_bytes_per_sec=157286400 --open_files=2048 " +
			"--level0_file_num_compaction_trigger=8 --level0_slowdown_writes_trigger=16 --level0_stop_writes_trigger=24 --max_background_compactions=16 " +
			"--max_background_flushes=16 --benchmarks=filluniquerandom --use_existing_db=0 --num=100 --threads=1",
			ran: "filluniquerandom", want: ` 800 operations;(?s:.*)\nrocksdb\.number\.keys\.written COUNT : 800\n`},
		{line: "--benchmarks=fillrandom,seekrandomwhilewriting --threads=1 --num=1000 --reads=150 --key_size=66 --value_size=1262 --statistics=0 --compression_ratio=0.5 " +
			"--histogram=1 --seek_nexts=1 --stats_per_interval=1 --stats_interval_seconds=600 --max_background_flushes=4 --num_multi_db=1 --max_background_compactions=16 " +
			"--seed=1522388277 -write_buffer_size=1048576 --level0_file_num_compaction_trigger=10000 --compression_type=none", // 3672
			ran: "fillrandom seekrandomwhilewriting", want: `Microseconds per write:\nCount: 1000 (?s:.*) 150 operations; .* \(\d+ of 150 found\)\n\nMicroseconds per seek:\nCount: 150 `},
		{line: "--compression_type=None -db=154 -num=2000 -value_size=1000 -key_size=16 --delayed_write_rate=536870912 -report_interval_seconds=1 -max_write_buffer_number=4 " +
			"-num_column_families=1 -histogram -max_background_compactions=8 -max_background_flushes=4 -bloom_bits=10 -benchmark_read_rate_limit=0 -benchmark_write_rate_limit=0 " +
			"-report_file=fillrandom.csv --disable_wal=true --benchmarks=fillrandom,levelstats --seed=1265287313674435 -write_buffer_size=268435456",
			ran: "fillrandom", want: `Level Files Size\(MB\)\n-+\n +0 +0 +0\n`},
		{line: "--compression_type=None -db=154 -num=2000 -value_size=1000 -duration=1 --use_existing_db -threads=5 -benchmarks=overwrite", ran: "overwrite"},
		{line: "--benchmarks=fillseq --use_existing_db=0 --sync=0 --db=ldb --num=1048 --value_size=800 --cache_size=34359738 --compression_ratio=0.5 " +
			"--write_buffer_size=2097152 --histogram=1 --bloom_bits=10 --open_files=20480 --threads=1 --seed=1429748618",
			ran: "fillseq"},
		{line: "--benchmarks=overwrite --use_existing_db=1 --sync=0 --db=ldb --num=1048 --value_size=800 --cache_size=34359738 --compression_ratio=0.5 " +
			"--write_buffer_size=2097152 --histogram=1 --bloom_bits=10 --open_files=20480 --threads=1 --seed=1429748625",
			ran: "overwrite", want: `Count: 1048 `},

		{line: "--db=scanned --benchmarks=fillseq --num=2000", ran: "fillseq"},
		{line: "--db=scanned --use_existing_db=1 --benchmarks=multiscan --disable_auto_compactions=1 --seek_nexts=10 --key_size=16 --value_size=100 --num=2000 --reads=100 --threads=3", // 13765
			ran: "multiscan", want: ` 3 operations; \(multiscans:1\)`},
		{line: "--benchmarks=fillseq,compact --disable_wal=1 --threads=1 --num_levels=1 --compaction_style=2 --fifo_compaction_max_table_files_size_mb=1000 " +
			"--write_buffer_size=268435456 --num=1000", // 13778, 13886
			ran: "fillseq compact"},
		{line: "--db=scanned --use_existing_db=1 --benchmarks=multiscan --disable_auto_compactions=1 --threads=1 --statistics=0 --use_direct_reads=1 --cache_size=2097152 " +
			"--multiscan_size=10 --multiscan_stride=100 --seek_nexts=50 --seed=1 --multiscan_coalesce_threshold=0 --multiscan_use_async_io=0 --num=2000 --reads=500", // 13932
			ran: "multiscan", want: `multiscan_stride = 100\nmultiscan_size = 10\nseek_nexts = 50\n(?s:.*)\(multiscans:1\)`},
		{line: "--db=scanned --use-existing-db=1 --benchmarks=multiscan --multiscan-use-async-io=1 --seek-nexts=50 --num=2000 --reads=500",
			ran: "multiscan", want: `seek_nexts = 50\n`},
		{line: "--benchmarks=seekrandomwhilewriting --expand_range_tombstones=true --perf_level=2 --range_tombstone_width=100 --memtable_tombstone_scan_limit=", // 13523
			code: 1, want: `^ERROR: unknown command line flag 'memtable_tombstone_scan_limit'\n$`},
		{line: "--benchmarks=seekrandomwhilewriting --expand_range_tombstones=true --writes_per_range_tombstone=1 --max_num_range_tombstones=1000 --perf_level=2 " +
			"--range_tombstone_width=100 --num=300", ran: "seekrandomwhilewriting"},
		{line: "--benchmarks=seekrandom,flush --seed=1 --compression_type=none --num=2000 --seek_nexts=0 --seek_nexts_to_delete=100 --use_existing_db=1 --threads=1 --db=scanned", // 14448
			ran: "seekrandom", want: `\(\d+ of 2000 found\)`},
		{line: "-benchmarks=readrandomwriterandom -seed=1 -compression_type=none -use_existing_db=1 -readwritepercent=50 -deletepercent=20 -threads=2 -db=scanned -num=1000", // 14506
			ran: "readrandomwriterandom", want: `\( reads:\d+ writes:\d+ total:1000 found:\d+\)`},
		{line: "-benchmarks=fillrandom -seed=1 -compression_type=none -writes_per_range_tombstone=100 -range_tombstone_width=10 -max_num_range_tombstones=1000 -threads=8 -db=14506 -num=1000",
			ran: "fillrandom", want: `Number of range deletions: 10\n`},
		{line: "--benchmarks=fillseq,readrandom --num=1000 --reads=5000 --key_size=16 --value_size=100 --seed=12345 --db=14934",
			ran: "fillseq readrandom", want: `\(5000 of 5000 found\)`},
		{line: "--benchmarks=fillseq,readwhilewriting --num=1000 --reads=1000 --bgwriter_num=100 --db=14743", ran: "fillseq readwhilewriting"},
		{line: "-use_existing_db=true -benchmarks=readrandom -seed=1 -index_search_type=interpolation_search", // 14247
			code: 1, want: `^ERROR: unknown command line flag 'index_search_type'\n$`},
		{line: "--num=1000 --separate_key_value_in_data_block=true --value_size=100 --benchmarks=fillrandom,compact", ran: "fillrandom compact"}, // 14287
		{line: "-db=13910 -benchmarks=fillseq,compact -num=10000 -compression_type=zstd -compression_level=8 -compression_parallel_threads=8",
			ran: "fillseq compact", want: `\nCompression: ZSTD\n`},
		{line: "--benchmarks=fillseq,readrandom --writes=250 --num=250 --paranoid_memory_check_key_checksum_on_seek=true --memtable_protection_bytes_per_key=8", // 13902
			code: 1, want: `^ERROR: unknown command line flag 'paranoid_memory_check_key_checksum_on_seek'\n$`},
		{line: "--benchmarks=fillseq,readrandom --write_buffer_size=268435456 --writes=250 --value_size=100 --num=250 --reads=500 --seed=1723056275 " +
			"--memtable_protection_bytes_per_key=8", ran: "fillseq readrandom", want: `\(500 of 500 found\)`},
		{line: "--benchmarks=fillseq[-X3] --num=100 --block_align=1 --compression_type=none", // 12542
			ran: "fillseq fillseq fillseq", want: `Running benchmark for 3 times\n(?s:.*)fillseq \[AVG 2 runs\] : (?s:.*)fillseq \[AVG    3 runs\] : \d+ \(± \d+\) ops/sec; [\d.]+ ms/op; +[\d.]+ \(± [\d.]+\) MB/sec\nfillseq \[MEDIAN 3 runs\] : `},
		{line: "-user_timestamp_size=8 -db=11258 -disable_wal=1 -benchmarks=fillseq,seekrandom[-W1-X6] -reverse_iterator=1 -seek_nexts=5 -num=200",
			ran: "fillseq seekrandom seekrandom seekrandom seekrandom seekrandom seekrandom seekrandom", want: `Warming up benchmark by running 1 times\n(?s:.*)Running benchmark for 6 times\n(?s:.*)seekrandom \[MEDIAN 6 runs\] : `},
		{line: "-db=9453 -benchmarks=fillrandom -num=1000 -write_buffer_size=250000000", ran: "fillrandom"},
		{line: "-db=9453 -use_existing_db -readonly -benchmarks=multireadrandom -num=1000 -write_buffer_size=250000000 -memtable_bloom_size_ratio=0.015 -multiread_batched " +
			"-batch_size=24 -threads=8 -memtable_whole_key_filtering=true -prefix_size=8", ran: "multireadrandom", want: `\(\d+ of 984 found\)`},
		{line: "-db=8315 -benchmarks=fillseq -num=1000 -key_size=32 -value_size=256", ran: "fillseq"},
		{line: "-db=8315 -use_existing_db=true -benchmarks=readrandom -num=1000 -key_size=32 -value_size=256 -use_direct_reads=true -cache_size=1073741824 -cache_numshardbits=5 " +
			"-cache_index_and_filter_blocks=true -read_random_exp_range=17 -statistics -partition_index_and_filters=true -stats_dump_period_sec=30 -reads=5000",
			ran: "readrandom", want: `\(5000 of 5000 found\)`},
		{line: "--benchmarks=fillseq -num_column_families=3 -num=300", ran: "fillseq"},                                              // 8154
		{line: "-benchmarks=compress,uncompress --compression_type ...", code: 1, want: `Cannot parse compression type '\.\.\.'\n`}, // 7434
		{line: "-perf_level=1 -stats_level=0 -statistics -benchmarks=fillseq,readrandom -num=1000 -reads=1000", // 7329
			ran: "fillseq readrandom", want: `\nrocksdb\.db\.get\.micros P50 : 0\.000000 P95 : 0\.000000 P99 : 0\.000000 P100 : 0\.000000 COUNT : 0 SUM : 0\n`},
		{line: "--db=7292 --use_existing_db=false --benchmarks=fred --compression_type=none", code: 1, want: `unknown benchmark 'fred'\n`},
		{line: "--benchmarks=fillrandom,stats --statistics --num=1000 -base_background_compactions=16 -periodic_compaction_seconds=1", // 7165
			code: 1, want: `^ERROR: unknown command line flag 'base_background_compactions'\n$`},
		{line: "--benchmarks=fillrandom,stats --statistics --num=1000 -periodic_compaction_seconds=1", ran: "fillrandom", want: `\*\* Compaction Stats \[default\] \*\*`},
		{line: "-benchmarks=fillrandom,compact -write_buffer_size=1048576 -target_file_size_base=1048576 -max_bytes_for_level_base=4194304 -max_background_jobs=12 " +
			"-level_compaction_dynamic_level_bytes=true -num=20000", ran: "fillrandom compact"}, // 7068
		{line: "--db=scanned --use-existing-db --benchmarks=multireadrandom --num=2000 --cache_index_and_filter_blocks --bloom_bits=10 --threads=16 --cache_size=20000000 " +
			"-partition_index_and_filters -batch_size=32 -multiread_batched -statistics --reads=640", // 6757
			ran: "multireadrandom", want: ` 10240 operations; .*\(\d+ of 640 found\)(?s:.*)\nrocksdb\.number\.multiget\.keys\.read COUNT : 10240\n`},
		{line: "-benchmarks=randomtransaction -optimistic_transaction_db=1 -statistics -num=500 --transaction_set_snapshot=1 --threads=2", // 6177
			code: 1, want: `^db_bench: --optimistic_transaction_db is not supported yet\ndb_bench: --transaction_set_snapshot is not supported yet\n$`},
		{line: "--benchmarks=mixgraph -use_direct_io_for_flush_and_compaction=true -use_direct_reads=true -cache_size=268435456 -key_dist_a=0.002312 -key_dist_b=0.3467 " +
			"-keyrange_dist_a=14.18 -keyrange_dist_b=-2.917 -keyrange_dist_c=0.0164 -keyrange_dist_d=-0.08082 -keyrange_num=30 -value_k=0.2615 -value_sigma=25.45 " +
			"-iter_k=2.517 -iter_sigma=14.236 -mix_get_ratio=0.85 -mix_put_ratio=0.14 -mix_seek_ratio=0.01 -sine_mix_rate_interval_milliseconds=5000 -sine_a=350 " +
			"-sine_b=0.0105 -sine_d=50000 --perf_level=2 -reads=1000 -num=5000 -key_size=48", // 5953
			ran: "mixgraph", want: `\( Gets:\d+ Puts:\d+ Seek:\d+, `},
		{line: "--benchmarks=fillrandom,readmissing,readrandom,stats --num=1000", // 5762
			ran: "fillrandom readmissing readrandom", want: `\(0 of 1000 found\)`},
		{line: "-use_existing_db=true -use_existing_keys=false -benchmarks=readtorowcache,[read|multiread]random -num=1000", // 5706: a choice to make
			code: 1, want: `Please set use_existing_keys to true and specify a row cache size in readtorowcache benchmark\n`},
		{line: "-db=scanned -use_existing_db=true -use_existing_keys=true -benchmarks=readtorowcache,multireadrandom -write_buffer_size=16777216 -target_file_size_base=4194304 " +
			"-max_bytes_for_level_base=16777216 -num=1000 -reads=1000 -threads=1 -compression_type=none -cache_size=4194304 -row_cache_size=4194304 -batch_size=2 " +
			"-disable_auto_compactions=true -bloom_bits=10 -cache_index_and_filter_blocks=true -pin_l0_filter_and_index_blocks_in_cache=true -multiread_batched=true -multiread_stride=131072",
			ran: "readtorowcache multireadrandom"},
		{line: "--benchmarks=readrandom,stats --use_existing_db --threads=1 --key_size=20 --prefix_size=20 --keys_per_prefix=0 --value_size=100 --statistics " +
			"--cache_index_and_filter_blocks --cache_size=10737418 --disable_auto_compactions=1 --disable_wal=1 --compression_type=none --min_level_to_compress=-1 " +
			"--compression_ratio=1 --num=1000 --duration=1 --db=5421", // no such database: an empty one
			ran: "readrandom", want: `\(0 of [1-9]\d* found\)`},
		{line: "-db=4449 -use_existing_db=false -benchmarks=filluniquerandom -write_buffer_size=1048576 -compression_type=lz4 -target_file_size_base=1048576 " +
			"-max_bytes_for_level_base=4194304 -value_size=112 -key_size=16 -block_size=4096 -level_compaction_dynamic_level_bytes=true -num=1000 -max_background_jobs=12 " +
			"-benchmark_write_rate_limit=20971520 -range_tombstone_width=100 -writes_per_range_tombstone=100 -max_num_range_tombstones=50000 -bloom_bits=8",
			ran: "filluniquerandom", want: `Number of range deletions: 10\n`},
		{line: "--benchmarks=fillseq,readtocache,readmissing --cache_size=20000000 --use_data_block_hash_index=true --num=1000", // 4296
			ran: "fillseq readtocache readmissing"},
	} {
		output, code := runTool(t, strings.Fields(c.line)...)
		if code != c.code {
			t.Errorf("%s: exit code %d\n%s", c.line, code, output)
			continue
		}
		var ran []string
		for _, m := range results.FindAllStringSubmatch(output, -1) {
			ran = append(ran, m[1])
		}
		if got := strings.Join(ran, " "); got != c.ran {
			t.Errorf("%s: results of %q, want %q\n%s", c.line, got, c.ran, output)
		}
		if !regexp.MustCompile(c.want).MatchString(output) {
			t.Errorf("%s\nprinted  %.3000s\nnot      %q", c.line, output, c.want)
		}
	}
}

// results matches a benchmark's line.
var results = regexp.MustCompile(`(?m)^(?:.*\r)?(\w+) +: +[\d.]+ micros/op \d+ ops/sec [\d.]+ seconds \d+ operations;`)
