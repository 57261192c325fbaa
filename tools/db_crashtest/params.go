// Port of tools/db_crashtest.py (the parameter tables).

package main

import "math"

// table has the parameters of a kind of test: constants, and draws whose value
// is drawn anew for each run of the stress test.
type table map[string]any

// defaultParams are of every test.
func defaultParams(r *random) table {
	return table{
		"acquire_snapshot_one_in":                       r.of(100, 10000),
		"backup_max_size":                               104857600,
		"backup_one_in":                                 r.of(1000, 100000),
		"batch_protection_bytes_per_key":                r.of(0, 8),
		"memtable_protection_bytes_per_key":             r.of(0, 1, 2, 4, 8),
		"block_protection_bytes_per_key":                r.of(0, 1, 2, 4, 8),
		"block_size":                                    16384,
		"bloom_bits":                                    r.draw(func() any { return r.choice(r.intIn(0, 19), r.logNormal(2.3, 1.3)) }),
		"cache_index_and_filter_blocks":                 r.of(0, 1),
		"cache_size":                                    r.of(8388608, 33554432),
		"charge_compression_dictionary_building_buffer": r.of(0, 1),
		"charge_filter_construction":                    r.of(0, 1),
		"charge_table_reader":                           r.of(0, 1),
		"charge_file_metadata":                          r.of(0, 1),
		"checkpoint_one_in":                             r.of(0, 0, 10000, 1000000),
		"compression_type":                              r.of("none", "snappy", "zlib", "lz4", "lz4hc", "xpress", "zstd"),
		"bottommost_compression_type": r.draw(func() any {
			if r.intIn(0, 1) == 0 {
				return "disable"
			}
			return r.choice("none", "snappy", "zlib", "lz4", "lz4hc", "xpress", "zstd")
		}),
		"checksum_type":                                  r.of("kNoChecksum", "kCRC32c", "kxxHash", "kxxHash64", "kXXH3"),
		"compression_max_dict_bytes":                     r.of(0, 16384),
		"compression_zstd_max_train_bytes":               r.of(0, 65536),
		"compression_parallel_threads":                   r.of(1, 1, 2, 3, 4, 5, 8, 9, 16),
		"compression_max_dict_buffer_bytes":              r.draw(func() any { return 1<<r.intIn(0, 40) - 1 }),
		"compression_use_zstd_dict_trainer":              r.of(0, 1),
		"compression_checksum":                           r.of(0, 1),
		"clear_column_family_one_in":                     0,
		"compact_files_one_in":                           r.of(1000, 1000000),
		"compact_range_one_in":                           r.of(1000, 1000000),
		"promote_l0_one_in":                              0,
		"compaction_pri":                                 once(r.between(0, 4)),
		"key_may_exist_one_in":                           r.of(100, 100000),
		"data_block_index_type":                          r.of(0, 1),
		"decouple_partitioned_filters":                   r.of(0, 1, 1),
		"delpercent":                                     4,
		"delrangepercent":                                1,
		"db":                                             "",
		"destroy_db_initially":                           0,
		"expected_values_dir":                            "",
		"num_dbs":                                        1,
		"enable_pipelined_write":                         r.of(0, 1),
		"enable_compaction_filter":                       r.of(0, 0, 0, 1),
		"enable_compaction_on_deletion_trigger":          r.of(0, 0, 0, 1),
		"inplace_update_support":                         0,
		"flush_one_in":                                   r.of(1000, 1000000),
		"manual_wal_flush_one_in":                        r.of(0, 1000),
		"sync_wal_one_in":                                0,
		"tolerate_non_injected_io_errors_for_remote_dbs": 0,
		"file_checksum_impl":                             r.of("none", "crc32c", "xxh64", "big"),
		"get_live_files_apis_one_in":                     r.of(10000, 1000000),
		"checkpoint_atomic_flush":                        r.of(0, 1),
		"get_all_column_family_metadata_one_in":          r.of(10000, 1000000),
		"get_sorted_wal_files_one_in":                    0,
		"get_current_wal_file_one_in":                    0,
		"index_type":                                     r.of(0, 0, 0, 2, 2, 3),
		"index_block_search_type":                        r.of(0, 1, 2),
		"uniform_cv_threshold":                           r.of(-1, 0.2, 1000),
		"ingest_external_file_one_in":                    r.of(1000, 1000000),
		"ingest_external_file_prepare_commit_one_in":     r.of(0, 1, 2),
		"ingest_external_file_use_file_info_one_in":      r.of(0, 1, 2),
		"ingest_external_file_with_embedded_blobs":       r.of(0, 1),
		"test_ingest_standalone_range_deletion_one_in":   r.of(0, 5, 10),
		"iterpercent":                                    10,
		"lock_wal_one_in":                                r.of(10000, 1000000),
		"mark_for_compaction_one_file_in":                r.of(0, 10),
		"max_background_compactions":                     r.of(2, 20),
		"num_bottom_pri_threads":                         r.of(0, 1, 20),
		"max_bytes_for_level_base":                       10485760,
		"max_key":                                        once(r.of(100000, 25000000)),
		"max_sequential_skip_in_iterations":              r.of(1, 2, 8, 16),
		"max_write_buffer_number":                        3,
		"mmap_read":                                      r.of(0, 0, 1),
		"nooverwritepercent":                             1,
		"open_files":                                     r.of(-1, -1, 100, 500000),
		"open_files_async":                               r.of(0, 1),
		"async_wal_precreate":                            r.of(0, 1),
		"optimize_filters_for_memory":                    r.of(0, 1),
		"partition_filters":                              r.of(0, 1),
		"partition_pinning":                              r.between(0, 3),
		"rate_limit_auto_wal_flush":                      0,
		"reset_stats_one_in":                             r.of(10000, 1000000),
		"pause_background_one_in":                        r.of(10000, 1000000),
		"disable_file_deletions_one_in":                  r.of(10000, 1000000),
		"disable_manual_compaction_one_in":               r.of(10000, 1000000),
		"abort_and_resume_compactions_one_in":            r.of(10000, 1000000),
		"prefix_size":                                    r.of(-1, 1, 5, 7, 8),
		"prefixpercent":                                  5,
		"progress_reports":                               0,
		"readpercent":                                    45,
		"recycle_log_file_num":                           0,
		"snapshot_hold_ops":                              100000,
		"sqfc_name":                                      r.of("foo", "bar"),
		"sqfc_version":                                   r.of(0, 1, 1, 2, 2),
		"sst_file_manager_bytes_per_sec":                 r.of(0, 104857600),
		"sst_file_manager_bytes_per_truncate":            r.of(0, 1048576),
		"long_running_snapshots":                         r.of(0, 1),
		"subcompactions":                                 r.between(1, 4),
		"target_file_size_base":                          r.of(524288, 2097152),
		"target_file_size_multiplier":                    2,
		"test_batches_snapshots":                         once(r.of(0, 1)),
		"top_level_index_pinning":                        r.between(0, 3),
		"unpartitioned_pinning":                          r.between(0, 3),
		"use_direct_reads":                               r.of(0, 1),
		"use_direct_io_for_compaction_reads":             r.of(0, 1),
		"use_direct_io_for_flush_and_compaction":         r.of(0, 1),
		"use_sqfc_for_range_queries":                     r.of(0, 1, 1, 1),
		"mock_direct_io":                                 false,
		"cache_type":                                     r.of("lru_cache", "fixed_hyper_clock_cache", "auto_hyper_clock_cache", "auto_hyper_clock_cache", "tiered_lru_cache", "tiered_fixed_hyper_clock_cache", "tiered_auto_hyper_clock_cache", "tiered_auto_hyper_clock_cache"),
		"uncache_aggressiveness":                         r.draw(func() any { return int(math.Pow(10, 4*r.Float64()) - 1) }),
		"use_full_merge_v1":                              r.of(0, 1),
		"use_merge":                                      r.of(0, 1),
		"use_trie_index":                                 once(r.oneIn(16)),
		"use_udi_as_primary_index":                       once(r.of(0, 0, 0, 1)),
		"use_put_entity_one_in":                          once(r.of(0, 0, 0, 0, 0, 0, 0, 1, 5, 10)),
		"use_attribute_group":                            r.of(0, 1),
		"use_multi_cf_iterator":                          r.of(0, 1),
		"bloom_before_level":                             r.draw(func() any { return r.choice(r.intIn(-1, 2), r.intIn(-1, 10), math.MaxInt32-1, math.MaxInt32) }),
		"value_size_mult":                                32,
		"verification_only":                              0,
		"verify_checksum":                                1,
		"write_buffer_size":                              r.of(1048576, 4194304),
		"writepercent":                                   35,
		"format_version":                                 r.of(2, 3, 4, 5, 6, 7, 7),
		"separate_key_value_in_data_block":               r.of(0, 1, 1),
		"index_block_restart_interval":                   r.between(1, 15),
		"use_multiget":                                   r.of(0, 1),
		"use_async_db_api":                               r.of(0, 0, 0, 0, 0, 1),
		"use_get_entity":                                 r.of(0, 0, 0, 0, 0, 0, 0, 1),
		"use_multi_get_entity":                           r.of(0, 0, 0, 0, 0, 0, 0, 1),
		"periodic_compaction_seconds":                    r.of(0, 0, 1, 2, 10, 100, 1000),
		"max_compaction_trigger_wakeup_seconds":          r.of(43200, 600, 30),
		"read_triggered_compaction_threshold":            r.of(0.0, 0.001, 0.01),
		"daily_offpeak_time_utc":                         r.of("", "", "00:00-23:59", "04:00-08:00", "23:30-03:15"),
		"stats_dump_period_sec":                          r.of(0, 10, 600),
		"compaction_ttl":                                 r.of(0, 0, 1, 2, 10, 100, 1000),
		"fifo_allow_compaction":                          r.of(0, 1),
		"fifo_compaction_max_data_files_size_mb":         r.of(0, 102400),
		"fifo_compaction_max_table_files_size_mb":        102400,
		"fifo_compaction_use_kv_ratio_compaction":        r.of(0, 1),
		"max_manifest_file_size": r.draw(func() any {
			if t := r.intIn(1, 29); t < 5 {
				return t * 2048
			}
			return 1 << 30
		}),
		"verify_manifest_content_on_close":                  r.of(0, 1),
		"max_manifest_space_amp_pct":                        r.of(0, 10, 100, 1000),
		"sync":                                              r.oneIn(20),
		"bytes_per_sync":                                    r.of(0, 262144),
		"wal_bytes_per_sync":                                0,
		"compaction_readahead_size":                         r.of(0, 0, 1048576),
		"db_write_buffer_size":                              r.of(0, 0, 0, 1048576, 8388608, 134217728),
		"use_write_buffer_manager":                          r.of(0, 1),
		"avoid_unnecessary_blocking_io":                     once(r.of(0, 1)),
		"write_dbid_to_manifest":                            once(r.of(0, 1)),
		"write_identity_file":                               once(r.of(0, 1)),
		"optimize_manifest_for_recovery":                    r.of(0, 0, 0, 0, 1),
		"reuse_manifest_on_open":                            r.of(0, 0, 0, 0, 1),
		"avoid_flush_during_recovery":                       r.oneIn(8),
		"enforce_write_buffer_manager_during_recovery":      once(r.of(0, 1)),
		"max_write_batch_group_size_bytes":                  r.of(16, 64, 1048576, 16777216),
		"level_compaction_dynamic_level_bytes":              r.of(0, 1),
		"verify_checksum_one_in":                            r.of(1000, 1000000),
		"verify_file_checksums_one_in":                      r.of(1000, 1000000),
		"verify_db_one_in":                                  r.of(10000, 100000),
		"continuous_verification_interval":                  0,
		"max_key_len":                                       3,
		"key_len_percent_dist":                              "1,30,69",
		"error_recovery_with_no_fault_injection":            r.of(0, 1),
		"metadata_read_fault_one_in":                        r.of(0, 32, 1000),
		"metadata_write_fault_one_in":                       r.of(0, 128, 1000),
		"read_fault_one_in":                                 r.of(0, 32, 1000),
		"write_fault_one_in":                                r.of(0, 128, 1000),
		"exclude_wal_from_write_fault_injection":            0,
		"open_metadata_write_fault_one_in":                  r.of(0, 0, 8),
		"open_metadata_read_fault_one_in":                   r.of(0, 0, 8),
		"open_write_fault_one_in":                           r.of(0, 0, 16),
		"open_read_fault_one_in":                            r.of(0, 0, 32),
		"sync_fault_injection":                              r.of(0, 1),
		"get_property_one_in":                               r.of(100000, 1000000),
		"get_properties_of_all_tables_one_in":               r.of(100000, 1000000),
		"paranoid_file_checks":                              r.of(0, 1, 1, 1),
		"max_write_buffer_size_to_maintain":                 r.of(0, 1048576, 2097152, 4194304, 8388608),
		"user_timestamp_size":                               0,
		"secondary_cache_fault_one_in":                      r.of(0, 0, 32),
		"compressed_secondary_cache_size":                   r.of(8388608, 16777216),
		"prepopulate_block_cache":                           r.of(0, 1, 2),
		"memtable_prefix_bloom_size_ratio":                  r.of(0.001, 0.01, 0.1, 0.5),
		"memtable_whole_key_filtering":                      r.of(0, 1),
		"detect_filter_construct_corruption":                r.of(0, 1),
		"adaptive_readahead":                                r.of(0, 1),
		"async_io":                                          r.of(0, 1),
		"wal_compression":                                   r.of("none", "zstd"),
		"verify_sst_unique_id_in_manifest":                  1,
		"fast_sst_open":                                     r.of(0, 1),
		"secondary_cache_uri":                               r.of("", "", "", "compressed_secondary_cache://capacity=8388608;enable_custom_split_merge=true"),
		"allow_data_in_errors":                              true,
		"enable_thread_tracking":                            r.of(0, 1),
		"readahead_size":                                    r.of(0, 16384, 524288),
		"initial_auto_readahead_size":                       r.of(0, 16384, 524288),
		"max_auto_readahead_size":                           r.of(0, 16384, 524288),
		"num_file_reads_for_auto_readahead":                 r.of(0, 1, 2),
		"min_write_buffer_number_to_merge":                  r.of(1, 2),
		"preserve_internal_time_seconds":                    r.of(0, 60, 3600, 36000),
		"memtable_max_range_deletions":                      r.of(0, 0, 0, 0, 0, 0, 100, 1000),
		"bottommost_file_compaction_delay":                  r.of(0, 0, 0, 600, 3600, 86400),
		"auto_readahead_size":                               r.of(0, 1),
		"verify_iterator_with_expected_state_one_in":        5,
		"allow_fallocate":                                   r.of(0, 1),
		"table_cache_numshardbits":                          r.of(6, 6, 6, -1, -1, 0),
		"enable_write_thread_adaptive_yield":                r.of(0, 1),
		"log_readahead_size":                                r.of(0, 16777216),
		"bgerror_resume_retry_interval":                     r.of(100, 1000000),
		"delete_obsolete_files_period_micros":               r.of(21600000000, 30000000),
		"max_log_file_size":                                 r.of(0, 1048576),
		"log_file_time_to_roll":                             r.of(0, 60),
		"use_adaptive_mutex":                                r.of(0, 1),
		"advise_random_on_open":                             r.of(0, 1, 1, 1),
		"WAL_ttl_seconds":                                   r.of(0, 60),
		"WAL_size_limit_MB":                                 r.of(0, 1),
		"strict_bytes_per_sync":                             r.of(0, 1),
		"avoid_flush_during_shutdown":                       r.of(0, 1),
		"fill_cache":                                        r.of(0, 1),
		"optimize_multiget_for_io":                          r.of(0, 1),
		"memtable_insert_hint_per_batch":                    r.of(0, 1),
		"dump_malloc_stats":                                 r.of(0, 1),
		"stats_history_buffer_size":                         r.of(0, 1048576),
		"skip_stats_update_on_db_open":                      r.of(0, 1),
		"optimize_filters_for_hits":                         r.of(0, 1),
		"sample_for_compression":                            r.of(0, 5),
		"report_bg_io_stats":                                r.of(0, 1),
		"cache_index_and_filter_blocks_with_high_priority":  r.of(0, 1),
		"use_delta_encoding":                                r.of(0, 1),
		"verify_compression":                                r.of(0, 1),
		"read_amp_bytes_per_bit":                            r.of(0, 32),
		"enable_index_compression":                          r.of(0, 1),
		"index_shortening":                                  r.of(0, 1, 2),
		"metadata_charge_policy":                            r.of(0, 1),
		"use_adaptive_mutex_lru":                            r.of(0, 1),
		"manifest_preallocation_size":                       r.of(0, 5120),
		"enable_checksum_handoff":                           r.of(0, 1),
		"max_total_wal_size":                                r.of(0, 0, 0, 0, 67108864),
		"high_pri_pool_ratio":                               r.of(0, 0.5),
		"low_pri_pool_ratio":                                r.of(0, 0.5),
		"soft_pending_compaction_bytes_limit":               r.of(1048576, 68719476736, 68719476736, 68719476736, 68719476736),
		"hard_pending_compaction_bytes_limit":               r.of(2097152, 274877906944, 274877906944, 274877906944, 274877906944),
		"enable_sst_partitioner_factory":                    r.of(0, 1),
		"enable_do_not_compress_roles":                      r.of(0, 1),
		"block_align":                                       r.of(0, 1),
		"super_block_alignment_size":                        r.of(0, 131072, 524288, 2097152),
		"super_block_alignment_space_overhead_ratio":        r.of(0, 32, 4096),
		"lowest_used_cache_tier":                            r.of(0, 1, 2),
		"enable_custom_split_merge":                         r.of(0, 1),
		"adm_policy":                                        r.of(0, 1, 2, 3),
		"last_level_temperature":                            r.of("kUnknown", "kHot", "kWarm", "kCool", "kCold", "kIce"),
		"default_write_temperature":                         r.of("kUnknown", "kHot", "kWarm", "kCool", "kCold", "kIce"),
		"default_temperature":                               r.of("kUnknown", "kHot", "kWarm", "kCool", "kCold", "kIce"),
		"enable_memtable_insert_with_hint_prefix_extractor": 0,
		"check_multiget_consistency":                        r.of(0, 0, 0, 1),
		"check_multiget_entity_consistency":                 r.of(0, 0, 0, 1),
		"use_timed_put_one_in":                              r.of(0, 0, 0, 0, 0, 0, 0, 1, 5, 10),
		"universal_max_read_amp":                            r.of(-1, -1, -1, 0, 4, 10),
		"verify_output_flags":                               r.of(0, 0, 0, 1031, 3079, 4294967295),
		"paranoid_memory_checks":                            r.of(0, 0, 0, 0, 0, 0, 0, 1),
		"memtable_verify_per_key_checksum_on_seek":          r.of(0, 0, 0, 0, 0, 0, 0, 1),
		"memtable_batch_lookup_optimization":                r.of(0, 1),
		"allow_unprepared_value":                            r.of(0, 1),
		"track_and_verify_wals":                             r.of(0),
		"remote_compaction_worker_threads":                  r.of(0, 8),
		"allow_resumption_one_in":                           r.of(0, 1, 2, 20),
		"remote_compaction_failure_fall_back_to_local":      1,
		"auto_refresh_iterator_with_snapshot":               r.of(0, 1),
		"memtable_op_scan_flush_trigger":                    r.of(0, 10, 100, 1000),
		"memtable_avg_op_scan_flush_trigger":                r.of(0, 2, 20, 200),
		"min_tombstones_for_range_conversion":               r.of(0, 2, 2, 4, 16),
		"ingest_wbwi_one_in":                                r.of(0, 0, 100, 500),
		"universal_reduce_file_locking":                     r.of(0, 1),
		"compression_manager":                               r.of("mixed", "none", "none", "autoskip", "autoskip", "randommixed", "randommixed", "custom", "custom", "custom"),
		"use_multiscan":                                     once(r.of(1, 0, 0, 0)),
		"statistics":                                        once(r.of(0, 1)),
		"multiscan_use_async_io":                            r.of(0, 1),
	}
}

// blackboxParams are of blackbox tests.
func blackboxParams(r *random) table {
	return table{
		"disable_wal":        r.of(0, 0, 0, 1),
		"duration":           6000,
		"interval":           120,
		"verify_timeout":     1200,
		"ops_per_thread":     100000000,
		"reopen":             0,
		"set_options_one_in": 1000,
	}
}

// whiteboxParams are of whitebox tests.
func whiteboxParams(_ *random) table {
	return table{
		"disable_wal":                      0,
		"remote_compaction_worker_threads": 0,
		"duration":                         10000,
		"log2_keys_per_lock":               10,
		"ops_per_thread":                   200000,
		"random_kill_odd":                  888887,
		"reopen":                           20,
	}
}

// simpleParams are of --simple.
func simpleParams(r *random) table {
	return table{
		"allow_concurrent_memtable_write":      r.of(0, 1),
		"column_families":                      1,
		"max_background_compactions":           1,
		"max_bytes_for_level_base":             67108864,
		"memtablerep":                          "skip_list",
		"target_file_size_base":                16777216,
		"target_file_size_multiplier":          1,
		"test_batches_snapshots":               0,
		"write_buffer_size":                    33554432,
		"level_compaction_dynamic_level_bytes": r.of(0, 1),
		"paranoid_file_checks":                 r.of(0, 1, 1, 1),
		"test_secondary":                       r.of(0, 1),
		"open_read_only_one_in":                r.of(0, 0, 0, 16),
	}
}

// blackboxSimpleParams are of blackbox tests with --simple.
func blackboxSimpleParams(_ *random) table {
	return table{
		"open_files":         -1,
		"set_options_one_in": 0,
	}
}

// whiteboxSimpleParams are of whitebox tests with --simple.
func whiteboxSimpleParams(_ *random) table {
	return table{}
}

// cfConsistencyParams are of --cf_consistency.
func cfConsistencyParams(r *random) table {
	return table{
		"disable_wal":                                r.of(0, 1),
		"reopen":                                     0,
		"test_cf_consistency":                        1,
		"write_buffer_size":                          1048576,
		"enable_pipelined_write":                     r.of(0, 1),
		"enable_compaction_filter":                   0,
		"inplace_update_support":                     0,
		"ingest_external_file_one_in":                0,
		"verify_iterator_with_expected_state_one_in": 0,
		"memtablerep":                                once(r.of("skip_list", "skip_list", "skip_list", "skip_list", "skip_list", "skip_list", "skip_list", "skip_list", "skip_list", "vector")),
	}
}

// txnParams are of --txn.
func txnParams(r *random) table {
	return table{
		"use_txn":                            1,
		"use_optimistic_txn":                 0,
		"txn_write_policy":                   once(r.between(0, 2)),
		"unordered_write":                    once(r.of(0, 1)),
		"use_per_key_point_lock_mgr":         r.of(0, 1),
		"disable_wal":                        0,
		"remote_compaction_worker_threads":   0,
		"checkpoint_one_in":                  0,
		"enable_pipelined_write":             0,
		"create_timestamped_snapshot_one_in": once(r.of(0, 20)),
		"inplace_update_support":             0,
		"use_timed_put_one_in":               0,
		"commit_bypass_memtable_one_in":      once(r.of(0, 0, 500, 1000)),
		"two_write_queues":                   r.of(0, 1),
	}
}

// optimisticTxnParams are of --optimistic_txn.
func optimisticTxnParams(r *random) table {
	return table{
		"use_txn":                1,
		"use_optimistic_txn":     1,
		"occ_validation_policy":  once(r.of(0, 1)),
		"share_occ_lock_buckets": once(r.of(0, 1)),
		"occ_lock_bucket_count":  r.of(10, 100, 500),
		"inplace_update_support": 0,
		"use_timed_put_one_in":   0,
	}
}

// bestEffortsRecoveryParams are of --test_best_efforts_recovery.
func bestEffortsRecoveryParams(_ *random) table {
	return table{
		"best_efforts_recovery": 1,
		"disable_wal":           1,
		"column_families":       1,
		"skip_verifydb":         1,
		"verify_db_one_in":      0,
	}
}

// blobParams are of tests that happen to have blob files.
func blobParams(r *random) table {
	return table{
		"allow_setting_blob_options_dynamically":  1,
		"enable_blob_files":                       r.of(0, 1, 1, 1),
		"min_blob_size":                           r.of(0, 8, 16),
		"blob_file_size":                          r.of(1048576, 16777216, 268435456, 1073741824),
		"blob_compression_type":                   r.of("none", "snappy", "lz4", "zstd"),
		"enable_blob_garbage_collection":          r.of(0, 1, 1, 1),
		"blob_garbage_collection_age_cutoff":      r.of(0.0, 0.25, 0.5, 0.75, 1.0),
		"blob_garbage_collection_force_threshold": r.of(0.5, 0.75, 1.0),
		"blob_compaction_readahead_size":          r.of(0, 1048576, 4194304),
		"blob_file_starting_level":                r.of(0, 0, 0, 0, 1, 1, 1, 2, 2, 3),
		"use_blob_cache":                          r.of(0, 1),
		"use_shared_block_and_blob_cache":         r.of(0, 1),
		"blob_cache_size":                         r.of(1048576, 2097152, 4194304, 8388608),
		"prepopulate_blob_cache":                  r.of(0, 1),
		"remote_compaction_worker_threads":        0,
	}
}

// blobDirectWriteParams are of tests that write blobs directly.
func blobDirectWriteParams(r *random) table {
	return table{
		"enable_blob_files":                       1,
		"enable_blob_direct_write":                1,
		"blob_direct_write_partitions":            r.of(1, 2, 4, 8),
		"allow_setting_blob_options_dynamically":  0,
		"inplace_update_support":                  0,
		"min_blob_size":                           r.of(8, 16, 64),
		"blob_file_size":                          r.of(1048576, 16777216, 268435456),
		"blob_compression_type":                   r.of("none", "snappy", "lz4", "zstd"),
		"enable_blob_garbage_collection":          0,
		"blob_garbage_collection_age_cutoff":      0.0,
		"blob_garbage_collection_force_threshold": 1.0,
		"blob_compaction_readahead_size":          0,
		"blob_file_starting_level":                0,
		"use_blob_cache":                          r.of(0, 1),
		"use_shared_block_and_blob_cache":         r.of(0, 1),
		"blob_cache_size":                         r.of(1048576, 2097152, 4194304, 8388608),
		"prepopulate_blob_cache":                  r.of(0, 1),
		"remote_compaction_worker_threads":        0,
	}
}

// timestampParams are of --enable_ts.
func timestampParams(r *random) table {
	return table{
		"test_cf_consistency":              0,
		"test_batches_snapshots":           0,
		"user_timestamp_size":              8,
		"persist_user_defined_timestamps":  once(r.of(0, 1, 1)),
		"use_merge":                        0,
		"use_multiscan":                    0,
		"use_full_merge_v1":                0,
		"use_txn":                          0,
		"ingest_external_file_one_in":      0,
		"use_put_entity_one_in":            0,
		"use_timed_put_one_in":             0,
		"use_trie_index":                   once(r.oneIn(16)),
		"remote_compaction_worker_threads": 0,
	}
}

// tieredParams are of --test_tiered_storage.
func tieredParams(r *random) table {
	return table{
		"preclude_last_level_data_seconds":           r.of(-1, -1, 10, 60, 1200, 86400),
		"last_level_temperature":                     r.of("kCold", "kIce"),
		"file_temperature_age_thresholds":            r.of("{{temperature=kWarm;age=10}:{temperature=kCool;age=30}:{temperature=kCold;age=100}:{temperature=kIce;age=300}}", "{{temperature=kWarm;age=30}:{temperature=kCold;age=300}}", "{{temperature=kCold;age=100}}"),
		"allow_trivial_copy_when_change_temperature": r.of(0, 1),
		"enable_blob_files":                          0,
		"use_blob_db":                                0,
		"default_write_temperature":                  r.of("kUnknown", "kHot", "kWarm"),
	}
}

// multiOpsTxnParams are of --test_multiops_txn.
func multiOpsTxnParams(r *random) table {
	return table{
		"test_cf_consistency":              0,
		"test_batches_snapshots":           0,
		"test_multi_ops_txns":              1,
		"use_txn":                          1,
		"txn_write_policy":                 once(r.between(0, 2)),
		"two_write_queues":                 r.of(0, 1),
		"disable_wal":                      0,
		"remote_compaction_worker_threads": 0,
		"use_only_the_last_commit_time_batch_for_recovery": r.of(0, 1),
		"clear_column_family_one_in":                       0,
		"column_families":                                  1,
		"enable_pipelined_write":                           0,
		"acquire_snapshot_one_in":                          0,
		"backup_one_in":                                    0,
		"writepercent":                                     0,
		"delpercent":                                       0,
		"delrangepercent":                                  0,
		"customopspercent":                                 80,
		"readpercent":                                      5,
		"iterpercent":                                      15,
		"prefixpercent":                                    0,
		"verify_db_one_in":                                 1000,
		"continuous_verification_interval":                 1000,
		"delay_snapshot_read_one_in":                       3,
		"write_buffer_size":                                65536,
		"flush_one_in":                                     1000,
		"rollback_one_in":                                  4,
		"enable_compaction_filter":                         0,
		"create_timestamped_snapshot_one_in":               50,
		"sync_fault_injection":                             0,
		"metadata_write_fault_one_in":                      0,
		"manual_wal_flush_one_in":                          0,
		"write_fault_one_in":                               0,
		"use_put_entity_one_in":                            0,
		"use_get_entity":                                   0,
		"use_multi_get_entity":                             0,
		"verify_iterator_with_expected_state_one_in":       0,
		"inplace_update_support":                           0,
		"use_timed_put_one_in":                             0,
		"use_attribute_group":                              0,
		"commit_bypass_memtable_one_in":                    once(r.of(0, 0, 0, 0, 100)),
	}
}
