// Port of tools/db_crashtest.py (finalize_and_sanitize): the reasons for each
// rule stand there.

package main

import (
	"math"
	"strings"
)

// sanitize turns off, among a run's parameters, what the others exclude.
func (s *session) sanitize(p params) {
	s.files(p)
	s.blobDirectWrite(p)
	s.modes(p)
	s.writes(p)
	s.shape(p)
	s.caches(p)
	s.errors(p)
	s.rest(p)
}

// files is for what reads and writes of files leave of each other.
func (s *session) files(p params) {
	if releaseMode() {
		p["read_fault_one_in"] = 0
	}
	if p.num("compression_max_dict_bytes") == 0 {
		p["compression_zstd_max_train_bytes"] = 0
		p["compression_max_dict_buffer_bytes"] = 0
	}
	if p.str("compression_type") != "zstd" {
		p["compression_zstd_max_train_bytes"] = 0
	}
	if p.num("mmap_read") == 1 {
		p["use_direct_io_for_flush_and_compaction"] = 0
		p["use_direct_reads"] = 0
		p["use_direct_io_for_compaction_reads"] = 0
		p["multiscan_use_async_io"] = 0
		p["open_read_only_one_in"] = 0
	}
	if p.num("min_tombstones_for_range_conversion", 0) > 0 {
		p["use_sqfc_for_range_queries"] = 0
		p["inplace_update_support"] = 0
	}
	if (p.num("use_direct_io_for_flush_and_compaction") == 1 || p.num("use_direct_reads") == 1 || p.num("use_direct_io_for_compaction_reads") == 1) && !s.directIO(p.str("db")) {
		p["use_direct_reads"] = 0
		p["use_direct_io_for_compaction_reads"] = 0
		p["use_direct_io_for_flush_and_compaction"] = 0
	}
	if s.remote {
		p["enable_blob_direct_write"] = 0
	}
	if !s.remote {
		p["tolerate_non_injected_io_errors_for_remote_dbs"] = 0
	}
}

// blobDirectWrite is for the narrow profile in which blobs are written directly.
func (*session) blobDirectWrite(p params) {
	if p.num("enable_blob_direct_write", 0) == 1 {
		p["enable_blob_files"] = 1
		p["blob_direct_write_partitions"] = max(int(p.num("blob_direct_write_partitions", 1)), 1)
		p["allow_concurrent_memtable_write"] = 0
		p["enable_pipelined_write"] = 0
		p["two_write_queues"] = 0
		p["unordered_write"] = 0
		p["inplace_update_support"] = 0
		p["use_blob_db"] = 0
		p["allow_setting_blob_options_dynamically"] = 0
		p["enable_blob_garbage_collection"] = 0
		p["blob_garbage_collection_age_cutoff"] = 0.0
		p["blob_garbage_collection_force_threshold"] = 1.0
		p["blob_compaction_readahead_size"] = 0
		p["blob_file_starting_level"] = 0
		p["use_merge"] = 0
		p["use_full_merge_v1"] = 0
		p["use_timed_put_one_in"] = 0
		p["use_attribute_group"] = 0
		p["user_timestamp_size"] = 0
		p["persist_user_defined_timestamps"] = 0
		p["create_timestamped_snapshot_one_in"] = 0
		p["use_txn"] = 0
		p["txn_write_policy"] = 0
		p["use_optimistic_txn"] = 0
		p["test_multi_ops_txns"] = 0
		p["commit_bypass_memtable_one_in"] = 0
		p["disable_wal"] = 1
		p["best_efforts_recovery"] = 0
		p["reopen"] = 0
		p["manual_wal_flush_one_in"] = 0
		p["sync_wal_one_in"] = 0
		p["lock_wal_one_in"] = 0
		p["get_sorted_wal_files_one_in"] = 0
		p["get_current_wal_file_one_in"] = 0
		p["track_and_verify_wals"] = 0
		p["rate_limit_auto_wal_flush"] = 0
		p["recycle_log_file_num"] = 0
		p["sync_fault_injection"] = 0
		p["write_fault_one_in"] = 0
		p["metadata_write_fault_one_in"] = 0
		p["read_fault_one_in"] = 0
		p["metadata_read_fault_one_in"] = 0
		p["open_metadata_write_fault_one_in"] = 0
		p["open_metadata_read_fault_one_in"] = 0
		p["open_write_fault_one_in"] = 0
		p["open_read_fault_one_in"] = 0
		p["remote_compaction_worker_threads"] = 0
		p["test_secondary"] = 0
		p["backup_one_in"] = 0
		p["checkpoint_one_in"] = 0
		p["get_live_files_apis_one_in"] = 0
		p["ingest_external_file_one_in"] = 0
		p["ingest_wbwi_one_in"] = 0
	}
}

// modes is for what the kind of test and the memtable leave.
func (s *session) modes(p params) {
	if p.str("memtablerep") == "vector" {
		p["inplace_update_support"] = 0
	}
	if p.str("memtablerep") != "skip_list" {
		p["paranoid_memory_checks"] = 0
		p["memtable_verify_per_key_checksum_on_seek"] = 0
	}
	if p.num("test_batches_snapshots") == 1 {
		p["enable_compaction_filter"] = 0
		p["inplace_update_support"] = 0
		p["write_fault_one_in"] = 0
		p["metadata_write_fault_one_in"] = 0
		p["read_fault_one_in"] = 0
		p["metadata_read_fault_one_in"] = 0
		p["use_multiscan"] = 0
		if p.num("prefix_size") < 0 {
			p["prefix_size"] = 1
		}
	}
	if p.num("best_efforts_recovery") == 1 {
		p["inplace_update_support"] = 0
		p["enable_blob_files"] = 0
		p["enable_blob_garbage_collection"] = 0
		p["allow_setting_blob_options_dynamically"] = 0
		p["enable_blob_direct_write"] = 0
	}
	if p.num("remote_compaction_worker_threads", 0) > 0 {
		p["enable_blob_files"] = 0
		p["enable_blob_garbage_collection"] = 0
		p["allow_setting_blob_options_dynamically"] = 0
		p["inplace_update_support"] = 0
		p["checkpoint_one_in"] = 0
		p["use_timed_put_one_in"] = 0
		p["test_secondary"] = 0
		p["mmap_read"] = 0
		p["skip_stats_update_on_db_open"] = 0
		p["open_metadata_write_fault_one_in"] = 0
		p["open_metadata_read_fault_one_in"] = 0
		p["open_write_fault_one_in"] = 0
		p["open_read_fault_one_in"] = 0
		p["sync_fault_injection"] = 0
	}
	if p.num("use_trie_index") == 1 {
		p["mmap_read"] = 0
		p["compression_parallel_threads"] = 1
		if p.num("use_udi_as_primary_index") == 1 {
			p["index_type"] = s.r.choice(0, 0, 3)
			p["partition_filters"] = 0
			p["backup_one_in"] = 0
			p["test_secondary"] = 0
		}
	} else {
		p["use_udi_as_primary_index"] = 0
	}
}

// writes is for what loss of unsynced data, snapshots and transactions leave.
func (*session) writes(p params) {
	if p.num("test_batches_snapshots") == 1 || p.num("use_txn") == 1 || p.num("user_timestamp_size", 0) > 0 {
		p["ingest_external_file_one_in"] = 0
	}
	if p.num("test_batches_snapshots") == 1 || p.num("use_txn") == 1 {
		p.add("delpercent", p.num("delrangepercent"))
		p["delrangepercent"] = 0
	}
	if p.num("inplace_update_support") == 1 {
		p.add("delpercent", p.num("delrangepercent"))
		p["delrangepercent"] = 0
		p.add("readpercent", p.num("prefixpercent"))
		p["prefixpercent"] = 0
		p["allow_concurrent_memtable_write"] = 0
		p["sync_fault_injection"] = 0
		p["disable_wal"] = 0
		p["manual_wal_flush_one_in"] = 0
	}
	if p.num("sync_fault_injection") == 1 || p.num("disable_wal") == 1 || p.num("manual_wal_flush_one_in", 0) > 0 {
		p["ingest_external_file_one_in"] = 0
		p["enable_compaction_filter"] = 0
	}
	if p.num("create_timestamped_snapshot_one_in", 0) > 0 {
		p["unordered_write"] = 0
		if p.num("txn_write_policy", 0) != 0 {
			p["create_timestamped_snapshot_one_in"] = 0
		}
	}
	if p.num("unordered_write", 0) == 1 {
		if p.num("txn_write_policy", 0) == 1 {
			p["allow_concurrent_memtable_write"] = 1
		} else {
			p["unordered_write"] = 0
		}
	}
	if p.num("disable_wal", 0) == 1 {
		p["atomic_flush"] = 1
		p["sync"] = 0
		p["write_fault_one_in"] = 0
		p["reopen"] = 0
		p["manual_wal_flush_one_in"] = 0
		p["recycle_log_file_num"] = 0
	}
}

// shape is for compaction styles, filters and prefixes.
func (*session) shape(p params) {
	if p.num("open_files", 1) != -1 {
		p["compaction_ttl"] = 0
		p["periodic_compaction_seconds"] = 0
	}
	if p.num("compaction_style", 0) == 2 {
		p["compaction_ttl"] = 0
		p["periodic_compaction_seconds"] = 0
		p["open_files_async"] = 0
		p["preclude_last_level_data_seconds"] = 0
		p["last_level_temperature"] = "kUnknown"
	} else {
		p["file_temperature_age_thresholds"] = ""
		p["fifo_compaction_max_data_files_size_mb"] = 0
		p["fifo_compaction_max_table_files_size_mb"] = 0
		p["fifo_compaction_use_kv_ratio_compaction"] = 0
	}
	if p.num("partition_filters") == 1 {
		if p.num("index_type") != 2 {
			p["partition_filters"] = 0
		}
	}
	if p.num("atomic_flush", 0) == 1 {
		p["enable_pipelined_write"] = 0
	}
	if p.num("sst_file_manager_bytes_per_sec", 0) == 0 || p.num("test_secondary") == 1 {
		p["sst_file_manager_bytes_per_truncate"] = 0
	}
	if p.num("prefix_size") == -1 {
		p.add("readpercent", p.num("prefixpercent", 20))
		p["prefixpercent"] = 0
	} else if p.flag("simple") && p.str("test_type") == "blackbox" {
		p.add("readpercent", p.num("iterpercent", 10))
		p["iterpercent"] = 0
	}
	if p.num("prefix_size") == -1 && p.num("memtable_whole_key_filtering") == 0 {
		p["memtable_prefix_bloom_size_ratio"] = 0
	}
	if p.num("two_write_queues") == 1 {
		p["enable_pipelined_write"] = 0
	}
	if p.num("best_efforts_recovery") == 1 {
		p["disable_wal"] = 1
		p["enable_compaction_filter"] = 0
		p["sync"] = 0
		p["write_fault_one_in"] = 0
		p["skip_verifydb"] = 1
		p["verify_db_one_in"] = 0
	}
	if p.num("use_txn") == 1 && p.num("txn_write_policy", 0) != 0 {
		p["sync_fault_injection"] = 0
		p["disable_wal"] = 0
		p["manual_wal_flush_one_in"] = 0
		p["use_put_entity_one_in"] = 0
		p["use_multi_cf_iterator"] = 0
		p["commit_bypass_memtable_one_in"] = 0
		p["remote_compaction_worker_threads"] = 0
	}
	if p.num("test_multi_ops_txns") == 1 {
		p["write_fault_one_in"] = 0
		p["metadata_write_fault_one_in"] = 0
		p["read_fault_one_in"] = 0
		p["metadata_read_fault_one_in"] = 0
		if p.num("txn_write_policy", 0) != 0 {
			p["wp_snapshot_cache_bits"] = 1
			p["wp_commit_cache_bits"] = 10
			p["enable_pipelined_write"] = 0
			p["checkpoint_one_in"] = 0
			p["use_only_the_last_commit_time_batch_for_recovery"] = 1
			p["clear_wp_commit_cache_one_in"] = 10
			p["lock_wal_one_in"] = 0
		}
	}
}

// caches is for values, caches, timestamps and filters of compactions.
func (s *session) caches(p params) {
	if p.num("use_put_entity_one_in") != 0 {
		p["use_full_merge_v1"] = 0
	}
	if p.str("file_checksum_impl") == "none" {
		p["verify_file_checksums_one_in"] = 0
	}
	if p.num("write_fault_one_in") > 0 {
		p["max_write_buffer_number"] = max(int(p.num("max_write_buffer_number")), 10)
	}
	if strings.Contains(p.str("secondary_cache_uri"), "compressed_secondary_cache") {
		p["compressed_secondary_cache_size"] = 0
		p["compressed_secondary_cache_ratio"] = 0.0
	}
	if strings.Contains(p.str("cache_type"), "tiered_") {
		if p.num("compressed_secondary_cache_size") > 0 {
			p["compressed_secondary_cache_ratio"] = p.num("compressed_secondary_cache_size") / (p.num("cache_size") + p.num("compressed_secondary_cache_size"))
			p["compressed_secondary_cache_size"] = 0
		} else {
			p["compressed_secondary_cache_ratio"] = 0.0
			p["cache_type"] = strings.ReplaceAll(p.str("cache_type"), "tiered_", "")
		}
	} else if p.str("secondary_cache_uri") != "" {
		p["compressed_secondary_cache_size"] = 0
		p["compressed_secondary_cache_ratio"] = 0.0
	}
	if p.num("use_write_buffer_manager") != 0 {
		if p.num("cache_size") <= 0 || p.num("db_write_buffer_size") <= 0 {
			p["use_write_buffer_manager"] = 0
		}
	}
	if p.num("user_timestamp_size") > 0 && p.num("persist_user_defined_timestamps") == 0 {
		p["enable_blob_files"] = 0
		p["allow_setting_blob_options_dynamically"] = 0
		p["atomic_flush"] = 0
		p["allow_concurrent_memtable_write"] = 0
		p["block_protection_bytes_per_key"] = 0
		p["use_multiget"] = 0
		p["use_multi_get_entity"] = 0
		p.add("readpercent", p.num("iterpercent", 10))
		p["iterpercent"] = 0
		if p.num("test_best_efforts_recovery") == 0 {
			p["disable_wal"] = 0
		}
	}
	if p.num("user_timestamp_size", 0) > 0 {
		p["index_block_search_type"] = 0
		p["use_trie_index"] = 0
	}
	if p.num("enable_compaction_filter", 0) == 1 || p.num("inplace_update_support", 0) == 1 {
		p["acquire_snapshot_one_in"] = 0
		p["compact_range_one_in"] = 0
		p.add("readpercent", p.num("iterpercent", 10)+p.num("prefixpercent", 20))
		p["iterpercent"] = 0
		p["prefixpercent"] = 0
		p["check_multiget_consistency"] = 0
		p["check_multiget_entity_consistency"] = 0
	}
}

// errors is for errors of WALs and what compresses.
func (s *session) errors(p params) {
	if p.num("disable_wal") == 0 {
		if p.num("reopen", 0) > 0 || p.num("manual_wal_flush_one_in", 0) != 0 && p.num("column_families") != 1 || p.num("use_txn") != 0 && p.num("use_optimistic_txn") == 0 {
			p["exclude_wal_from_write_fault_injection"] = 1
			p["metadata_write_fault_one_in"] = 0
		}
	}
	if p.str("compression_manager") == "custom" {
		if p.num("block_align") == 1 {
			p["block_align"] = 0
		}
		if p.num("format_version") < 7 {
			p["format_version"] = 7
		}
	} else if p.str("compression_manager") == "mixed" || p.str("compression_manager") == "randommixed" {
		p["block_align"] = 0
	} else if p.str("compression_manager") == "autoskip" {
		if p.str("compression_type") == "none" {
			p["compression_type"] = s.r.choice("snappy", "zlib", "lz4", "lz4hc", "xpress", "zstd")
		}
		if p.str("bottommost_compression_type") == "none" {
			p["bottommost_compression_type"] = s.r.choice("snappy", "zlib", "lz4", "lz4hc", "xpress", "zstd")
		}
		p["block_align"] = 0
	} else if p.num("block_align") == 1 {
		p["compression_type"] = "none"
		p["bottommost_compression_type"] = "none"
	}
	if p.num("periodic_compaction_seconds") == 0 {
		p["daily_offpeak_time_utc"] = ""
	}
}

// rest is for what is left.
func (s *session) rest(p params) {
	if p.num("use_put_entity_one_in") == 1 {
		p["use_timed_put_one_in"] = 0
	} else if p.num("use_put_entity_one_in", 0) > 1 && p.num("use_timed_put_one_in") == 1 {
		p["use_timed_put_one_in"] = 3
	}
	if p.num("write_dbid_to_manifest") == 0 && p.num("write_identity_file") == 0 {
		p["write_dbid_to_manifest"] = 1
	}
	if p.num("checkpoint_one_in") != 0 {
		p["lock_wal_one_in"] = 0
	}
	if p.num("ingest_external_file_one_in") == 0 || p.num("delrangepercent") == 0 {
		p["test_ingest_standalone_range_deletion_one_in"] = 0
	}
	if p.num("ingest_external_file_one_in") == 0 || p.num("format_version", 2) < 7 {
		p["ingest_external_file_with_embedded_blobs"] = 0
	}
	if p.num("use_txn", 0) == 1 && p.num("commit_bypass_memtable_one_in", 0) > 0 {
		p["enable_blob_files"] = 0
		p["allow_setting_blob_options_dynamically"] = 0
		p["allow_concurrent_memtable_write"] = 0
		p["use_put_entity_one_in"] = 0
		p["use_get_entity"] = 0
		p["use_multi_get_entity"] = 0
		p["enable_pipelined_write"] = 0
		p["use_attribute_group"] = 0
	}
	if p.num("enable_pipelined_write", 0) != 0 || p.num("unordered_write", 0) != 0 || p.num("disable_wal", 0) == 0 || p.num("user_timestamp_size", 0) != 0 {
		p["ingest_wbwi_one_in"] = 0
	}
	if p.num("test_secondary") == 1 {
		p["continuous_verification_interval"] = 0
	}
	if p.num("use_txn", 0) == 1 || p.num("use_optimistic_txn", 0) == 1 || p.num("use_blob_db", 0) == 1 || p.num("ttl", -1) != -1 {
		p["open_read_only_one_in"] = 0
	}
	if p.num("use_multiscan") == 1 {
		p["async_io"] = 0
		p.add("delpercent", p.num("delrangepercent"))
		p["delrangepercent"] = 0
		p["prefix_size"] = -1
		p.add("iterpercent", p.num("prefixpercent"))
		p["prefixpercent"] = 0
		p["read_fault_one_in"] = 0
		p["memtable_prefix_bloom_size_ratio"] = 0
		p["max_sequential_skip_in_iterations"] = math.MaxInt64
		p["min_tombstones_for_range_conversion"] = 0
		p["test_ingest_standalone_range_deletion_one_in"] = 0
		p["skip_stats_update_on_db_open"] = 0
		p["multiscan_max_prefetch_memory_bytes"] = s.r.choice(0, 0, 65536, 262144)
	}
	if p.num("skip_stats_update_on_db_open", 0) == 0 {
		p["open_files_async"] = 0
	}
	if p.num("inplace_update_support") == 1 {
		p["memtable_verify_per_key_checksum_on_seek"] = 0
	}
	if p.num("remote_compaction_worker_threads", 0) == 0 {
		p["allow_resumption_one_in"] = 0
	}
	if p.num("read_triggered_compaction_threshold", 0) > 0 {
		p["max_compaction_trigger_wakeup_seconds"] = 20
	}
	if p.num("disable_wal", 0) == 1 {
		p["test_batches_snapshots"] = 0
	}
	if p.num("num_dbs", 1) > 1 {
		p["clear_column_family_one_in"] = 0
		p["test_multi_ops_txns"] = 0
	}
}
