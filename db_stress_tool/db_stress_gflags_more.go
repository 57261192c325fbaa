// Port of the flags of db_stress_tool/db_stress_gflags.cc. Differs: one struct
// instead of globals.

package dbstresstool

// flagsMore is the second half of Flags.
type flagsMore struct {
	DisableFileDeletionsOneIn                   int32   `flag:"disable_file_deletions_one_in,0" help:"disable file deletions once in that many operations; 0 never"`
	DisableManualCompactionOneIn                int32   `flag:"disable_manual_compaction_one_in,0" help:"disable manual compaction once in that many operations; 0 never"`
	AbortAndResumeCompactionsOneIn              int32   `flag:"abort_and_resume_compactions_one_in,0" help:"abort and resume compactions once in that many operations; 0 never"`
	CompactRangeWidth                           int32   `flag:"compact_range_width,10000" help:"keys of a manual compaction"`
	AcquireSnapshotOneIn                        int32   `flag:"acquire_snapshot_one_in,0" help:"acquire snapshot once in that many operations; 0 never"`
	CompareFullDBStateSnapshot                  bool    `flag:"compare_full_db_state_snapshot,false" help:"compare all keys of a snapshot when it is released"`
	SnapshotHoldOps                             uint64  `flag:"snapshot_hold_ops,0" help:"operations a snapshot is held for"`
	LongRunningSnapshots                        bool    `flag:"long_running_snapshots,false" help:"hold some snapshots 10 or 100 times longer"`
	UseMultiget                                 bool    `flag:"use_multiget,false" help:"read by MultiGet"`
	UseAsyncDBApi                               bool    `flag:"use_async_db_api,false" help:"read by the asynchronous calls"`
	UseGetEntity                                bool    `flag:"use_get_entity,false" help:"read by GetEntity"`
	UseMultiGetEntity                           bool    `flag:"use_multi_get_entity,false" help:"read by MultiGetEntity"`
	TestIngestStandaloneRangeDeletionOneIn      int32   `flag:"test_ingest_standalone_range_deletion_one_in,0" help:"test ingest standalone range deletion once in that many operations; 0 never"`
	AllowUnpreparedValue                        bool    `flag:"allow_unprepared_value,false" help:"ReadOptions::allow_unprepared_value"`
	TrackAndVerifyWals                          bool    `flag:"track_and_verify_wals,false" help:"Options::track_and_verify_wals"`
	RemoteCompactionWorkerThreads               int32   `flag:"remote_compaction_worker_threads,2" unbuilt:"0" help:"remote compaction worker threads"`
	RemoteCompactionWorkerInterval              int32   `flag:"remote_compaction_worker_interval,10" help:"remote compaction worker interval"`
	RemoteCompactionFailureFallBackToLocal      bool    `flag:"remote_compaction_failure_fall_back_to_local,true" help:"remote compaction failure fall back to local"`
	AllowResumptionOneIn                        int32   `flag:"allow_resumption_one_in,0" unbuilt:"0" help:"allow resumption once in that many operations; 0 never"`
	IngestWbwiOneIn                             uint32  `flag:"ingest_wbwi_one_in,0" help:"apply an update as an ingested indexed batch once in that many; 0 never"`
	Readpercent                                 int32   `flag:"readpercent,10" help:"share of reads"`
	Prefixpercent                               int32   `flag:"prefixpercent,20" help:"share of prefix scans"`
	Writepercent                                int32   `flag:"writepercent,45" help:"share of writes"`
	Delpercent                                  int32   `flag:"delpercent,15" help:"share of deletions"`
	Delrangepercent                             int32   `flag:"delrangepercent,0" help:"share of range deletions"`
	Nooverwritepercent                          int32   `flag:"nooverwritepercent,60" help:"share of keys that are not overwritten"`
	Iterpercent                                 int32   `flag:"iterpercent,10" help:"share of iterator operations"`
	NumIterations                               uint64  `flag:"num_iterations,10" help:"steps of an iterator operation"`
	Customopspercent                            int32   `flag:"customopspercent,0" help:"share of the test's own operations"`
	CompressionType                             string  `flag:"compression_type,snappy" help:"compression by name"`
	CompressionMaxDictBytes                     int32   `flag:"compression_max_dict_bytes,0" help:"compression max dict bytes"`
	CompressionZstdMaxTrainBytes                int32   `flag:"compression_zstd_max_train_bytes,0" help:"compression zstd max train bytes"`
	CompressionParallelThreads                  int32   `flag:"compression_parallel_threads,1" help:"compression parallel threads"`
	CompressionMaxDictBufferBytes               uint64  `flag:"compression_max_dict_buffer_bytes,0" help:"compression max dict buffer bytes"`
	CompressionUseZstdDictTrainer               bool    `flag:"compression_use_zstd_dict_trainer,true" help:"compression use zstd dict trainer"`
	CompressionChecksum                         bool    `flag:"compression_checksum,false" help:"compression checksum"`
	BottommostCompressionType                   string  `flag:"bottommost_compression_type,disable" help:"compression of the last level by name; disable takes compression_type"`
	ChecksumType                                string  `flag:"checksum_type,kCRC32c" help:"kind of block checksum by name"`
	EnvUri                                      string  `flag:"env_uri," help:"environment to use, from the registry"`
	FsUri                                       string  `flag:"fs_uri," help:"file system to use, from the registry"`
	TolerateNonInjectedIOErrorsForRemoteDbs     bool    `flag:"tolerate_non_injected_io_errors_for_remote_dbs,false" help:"tolerate non injected io errors for remote dbs"`
	OpsPerThread                                uint64  `flag:"ops_per_thread,1200000" help:"operations of a worker"`
	Log2KeysPerLock                             uint64  `flag:"log2_keys_per_lock,2" help:"log2 of the keys a lock covers"`
	MaxManifestFileSize                         uint64  `flag:"max_manifest_file_size,16384" help:"Options::max_manifest_file_size"`
	MaxManifestSpaceAmpPct                      int32   `flag:"max_manifest_space_amp_pct,500" help:"Options::max_manifest_space_amp_pct"`
	VerifyManifestContentOnClose                bool    `flag:"verify_manifest_content_on_close,false" help:"Options::verify_manifest_content_on_close"`
	InPlaceUpdate                               bool    `flag:"in_place_update,false" help:"not used"`
	Memtablerep                                 string  `flag:"memtablerep,skip_list" help:"skip_list, prefix_hash or vector"`
	PrefixSize                                  int32   `flag:"prefix_size,7" help:"bytes of the prefix; -1 for no prefix extractor"`
	UseMerge                                    bool    `flag:"use_merge,false" help:"write by Merge"`
	UsePutEntityOneIn                           uint32  `flag:"use_put_entity_one_in,0" help:"use put entity once in that many operations; 0 never"`
	UseAttributeGroup                           bool    `flag:"use_attribute_group,false" help:"read and write entities as attribute groups"`
	UseMultiCFIterator                          bool    `flag:"use_multi_cf_iterator,false" help:"iterate over several column families at once"`
	UseFullMergeV1                              bool    `flag:"use_full_merge_v1,false" help:"use the merge operator with the oldest interface"`
	SyncWALOneIn                                int32   `flag:"sync_wal_one_in,0" help:"sync wal once in that many operations; 0 never"`
	AvoidUnnecessaryBlockingIO                  bool    `flag:"avoid_unnecessary_blocking_io,false" help:"Options::avoid_unnecessary_blocking_io"`
	WriteDbidToManifest                         bool    `flag:"write_dbid_to_manifest,true" help:"Options::write_dbid_to_manifest"`
	OptimizeManifestForRecovery                 bool    `flag:"optimize_manifest_for_recovery,false" help:"Options::optimize_manifest_for_recovery"`
	WriteIdentityFile                           bool    `flag:"write_identity_file,true" help:"Options::write_identity_file"`
	ReuseManifestOnOpen                         bool    `flag:"reuse_manifest_on_open,false" help:"Options::reuse_manifest_on_open"`
	AvoidFlushDuringRecovery                    bool    `flag:"avoid_flush_during_recovery,false" help:"Options::avoid_flush_during_recovery"`
	EnforceWriteBufferManagerDuringRecovery     bool    `flag:"enforce_write_buffer_manager_during_recovery,true" help:"Options::enforce_write_buffer_manager_during_recovery"`
	MaxWriteBatchGroupSizeBytes                 uint64  `flag:"max_write_batch_group_size_bytes,1048576" help:"Options::max_write_batch_group_size_bytes"`
	LevelCompactionDynamicLevelBytes            bool    `flag:"level_compaction_dynamic_level_bytes,true" help:"Options::level_compaction_dynamic_level_bytes"`
	VerifyChecksumOneIn                         int32   `flag:"verify_checksum_one_in,0" help:"verify checksum once in that many operations; 0 never"`
	VerifyFileChecksumsOneIn                    int32   `flag:"verify_file_checksums_one_in,0" help:"verify file checksums once in that many operations; 0 never"`
	VerifyDBOneIn                               int32   `flag:"verify_db_one_in,0" help:"verify db once in that many operations; 0 never"`
	ContinuousVerificationInterval              int32   `flag:"continuous_verification_interval,1000" help:"milliseconds between verifications against the secondary; 0 for none"`
	ApproximateSizeOneIn                        int32   `flag:"approximate_size_one_in,64" help:"approximate size once in that many operations; 0 never"`
	ReadFaultOneIn                              int32   `flag:"read_fault_one_in,1000" help:"one in that many read operations fails; 0 for none"`
	ErrorRecoveryWithNoFaultInjection           bool    `flag:"error_recovery_with_no_fault_injection,false" help:"inject nothing while the database recovers from an error"`
	MetadataReadFaultOneIn                      int32   `flag:"metadata_read_fault_one_in,1000" help:"one in that many metadata read operations fails; 0 for none"`
	GetPropertyOneIn                            int32   `flag:"get_property_one_in,1000" help:"get property once in that many operations; 0 never"`
	GetPropertiesOfAllTablesOneIn               int32   `flag:"get_properties_of_all_tables_one_in,1000" help:"get properties of all tables once in that many operations; 0 never"`
	SyncFaultInjection                          bool    `flag:"sync_fault_injection,false" help:"lose what is not synced when killed"`
	BestEffortsRecovery                         bool    `flag:"best_efforts_recovery,false" help:"Options::best_efforts_recovery"`
	SkipVerifydb                                bool    `flag:"skip_verifydb,false" help:"do not verify"`
	EnableCompactionFilter                      bool    `flag:"enable_compaction_filter,false" help:"use a compaction filter that drops deleted keys"`
	ParanoidFileChecks                          bool    `flag:"paranoid_file_checks,true" help:"Options::paranoid_file_checks"`
	BatchProtectionBytesPerKey                  uint64  `flag:"batch_protection_bytes_per_key,0" help:"batch protection bytes per key"`
	MemtableProtectionBytesPerKey               uint32  `flag:"memtable_protection_bytes_per_key,0" help:"Options::memtable_protection_bytes_per_key"`
	BlockProtectionBytesPerKey                  uint32  `flag:"block_protection_bytes_per_key,0" help:"Options::block_protection_bytes_per_key"`
	FileChecksumImpl                            string  `flag:"file_checksum_impl,none" help:"none, crc32c, xxh64 or big"`
	WriteFaultOneIn                             int32   `flag:"write_fault_one_in,0" help:"one in that many write operations fails; 0 for none"`
	ExcludeWALFromWriteFaultInjection           bool    `flag:"exclude_wal_from_write_fault_injection,false" help:"no write errors of WAL files"`
	MetadataWriteFaultOneIn                     int32   `flag:"metadata_write_fault_one_in,1000" help:"one in that many metadata write operations fails; 0 for none"`
	UserTimestampSize                           uint64  `flag:"user_timestamp_size,0" help:"bytes of the timestamps that keys have: 0 or 8"`
	PersistUserDefinedTimestamps                bool    `flag:"persist_user_defined_timestamps,true" help:"Options::persist_user_defined_timestamps"`
	OpenMetadataReadFaultOneIn                  int32   `flag:"open_metadata_read_fault_one_in,0" help:"one in that many open metadata read operations fails; 0 for none"`
	OpenMetadataWriteFaultOneIn                 int32   `flag:"open_metadata_write_fault_one_in,0" help:"one in that many open metadata write operations fails; 0 for none"`
	SecondaryCacheUri                           string  `flag:"secondary_cache_uri," help:"secondary cache uri"`
	SecondaryCacheFaultOneIn                    int32   `flag:"secondary_cache_fault_one_in,0" help:"one in that many secondary cache operations fails; 0 for none"`
	TieredCachePercentCompressed                float64 `flag:"tiered_cache_percent_compressed,0.0" unbuilt:"0" help:"read by nothing, in upstream neither"`
	OpenWriteFaultOneIn                         int32   `flag:"open_write_fault_one_in,0" help:"one in that many open write operations fails; 0 for none"`
	OpenReadFaultOneIn                          int32   `flag:"open_read_fault_one_in,0" help:"one in that many open read operations fails; 0 for none"`
	InjectErrorSeverity                         int32   `flag:"inject_error_severity,1" help:"1 retryable errors, 2 errors with data loss"`
	PrepopulateBlockCache                       int32   `flag:"prepopulate_block_cache,0" help:"BlockBasedTableOptions::prepopulate_block_cache"`
	TwoWriteQueues                              bool    `flag:"two_write_queues,false" help:"Options::two_write_queues"`
	UseOnlyTheLastCommitTimeBatchForRecovery    bool    `flag:"use_only_the_last_commit_time_batch_for_recovery,false" help:"use only the last commit time batch for recovery"`
	WpSnapshotCacheBits                         uint64  `flag:"wp_snapshot_cache_bits,7" help:"wp snapshot cache bits"`
	WpCommitCacheBits                           uint64  `flag:"wp_commit_cache_bits,23" help:"wp commit cache bits"`
	AdaptiveReadahead                           bool    `flag:"adaptive_readahead,false" help:"ReadOptions::adaptive_readahead"`
	AsyncIO                                     bool    `flag:"async_io,false" help:"ReadOptions::async_io"`
	WALCompression                              string  `flag:"wal_compression,none" help:"Options::wal_compression"`
	VerifySstUniqueIDInManifest                 bool    `flag:"verify_sst_unique_id_in_manifest,false" help:"Options::verify_sst_unique_id_in_manifest"`
	FastSstOpen                                 bool    `flag:"fast_sst_open,false" help:"Options::fast_sst_open"`
	CreateTimestampedSnapshotOneIn              int32   `flag:"create_timestamped_snapshot_one_in,0" unbuilt:"0" help:"create timestamped snapshot once in that many operations; 0 never"`
	AllowDataInErrors                           bool    `flag:"allow_data_in_errors,false" help:"Options::allow_data_in_errors"`
	EnableThreadTracking                        bool    `flag:"enable_thread_tracking,false" help:"Options::enable_thread_tracking"`
	VerifyIteratorWithExpectedStateOneIn        int32   `flag:"verify_iterator_with_expected_state_one_in,0" help:"verify iterator with expected state once in that many operations; 0 never"`
	ReadaheadSize                               uint64  `flag:"readahead_size,0" help:"ReadOptions::readahead_size"`
	InitialAutoReadaheadSize                    uint64  `flag:"initial_auto_readahead_size,0" help:"BlockBasedTableOptions::initial_auto_readahead_size"`
	MaxAutoReadaheadSize                        uint64  `flag:"max_auto_readahead_size,0" help:"BlockBasedTableOptions::max_auto_readahead_size"`
	NumFileReadsForAutoReadahead                uint64  `flag:"num_file_reads_for_auto_readahead,0" help:"BlockBasedTableOptions::num_file_reads_for_auto_readahead"`
	PreserveUnverifiedChanges                   bool    `flag:"preserve_unverified_changes,false" help:"keep a copy of what the first verification did not see yet"`
	StatsDumpPeriodSec                          uint64  `flag:"stats_dump_period_sec,600" help:"Options::stats_dump_period_sec"`
	MaxCompactionTriggerWakeupSeconds           uint64  `flag:"max_compaction_trigger_wakeup_seconds,43200" help:"Options::max_compaction_trigger_wakeup_seconds"`
	VerificationOnly                            bool    `flag:"verification_only,false" help:"verify and stop"`
	MemtableMaxRangeDeletions                   uint32  `flag:"memtable_max_range_deletions,0" help:"Options::memtable_max_range_deletions"`
	BottommostFileCompactionDelay               uint32  `flag:"bottommost_file_compaction_delay,0" help:"Options::bottommost_file_compaction_delay"`
	AutoReadaheadSize                           bool    `flag:"auto_readahead_size,false" help:"ReadOptions::auto_readahead_size"`
	AllowFallocate                              bool    `flag:"allow_fallocate,true" help:"Options::allow_fallocate"`
	TableCacheNumshardbits                      int32   `flag:"table_cache_numshardbits,6" help:"Options::table_cache_numshardbits"`
	LogReadaheadSize                            uint64  `flag:"log_readahead_size,0" help:"Options::log_readahead_size"`
	BgerrorResumeRetryInterval                  uint64  `flag:"bgerror_resume_retry_interval,1000000" help:"Options::bgerror_resume_retry_interval"`
	DeleteObsoleteFilesPeriodMicros             uint64  `flag:"delete_obsolete_files_period_micros,21600000000" help:"Options::delete_obsolete_files_period_micros"`
	MaxLogFileSize                              uint64  `flag:"max_log_file_size,0" help:"Options::max_log_file_size"`
	LogFileTimeToRoll                           uint64  `flag:"log_file_time_to_roll,0" help:"Options::log_file_time_to_roll"`
	UseAdaptiveMutex                            bool    `flag:"use_adaptive_mutex,false" help:"Options::use_adaptive_mutex"`
	AdviseRandomOnOpen                          bool    `flag:"advise_random_on_open,true" help:"Options::advise_random_on_open"`
	WALTtlSeconds                               uint64  `flag:"WAL_ttl_seconds,0" help:"Options::WAL_ttl_seconds"`
	WALSizeLimitMB                              uint64  `flag:"WAL_size_limit_MB,0" help:"Options::WAL_size_limit_MB"`
	StrictBytesPerSync                          bool    `flag:"strict_bytes_per_sync,false" help:"Options::strict_bytes_per_sync"`
	AvoidFlushDuringShutdown                    bool    `flag:"avoid_flush_during_shutdown,false" help:"Options::avoid_flush_during_shutdown"`
	FillCache                                   bool    `flag:"fill_cache,true" help:"ReadOptions::fill_cache"`
	OptimizeMultigetForIO                       bool    `flag:"optimize_multiget_for_io,true" help:"ReadOptions::optimize_multiget_for_io"`
	MemtableInsertHintPerBatch                  bool    `flag:"memtable_insert_hint_per_batch,false" help:"WriteOptions::memtable_insert_hint_per_batch"`
	DumpMallocStats                             bool    `flag:"dump_malloc_stats,false" help:"Options::dump_malloc_stats"`
	StatsHistoryBufferSize                      uint64  `flag:"stats_history_buffer_size,1048576" help:"Options::stats_history_buffer_size"`
	SkipStatsUpdateOnDBOpen                     bool    `flag:"skip_stats_update_on_db_open,false" help:"Options::skip_stats_update_on_db_open"`
	OptimizeFiltersForHits                      bool    `flag:"optimize_filters_for_hits,false" help:"Options::optimize_filters_for_hits"`
	SampleForCompression                        uint64  `flag:"sample_for_compression,0" help:"Options::sample_for_compression"`
	ReportBgIOStats                             bool    `flag:"report_bg_io_stats,false" help:"Options::report_bg_io_stats"`
	CacheIndexAndFilterBlocksWithHighPriority   bool    `flag:"cache_index_and_filter_blocks_with_high_priority,true" help:"BlockBasedTableOptions::cache_index_and_filter_blocks_with_high_priority"`
	UseDeltaEncoding                            bool    `flag:"use_delta_encoding,true" help:"BlockBasedTableOptions::use_delta_encoding"`
	VerifyCompression                           bool    `flag:"verify_compression,false" help:"BlockBasedTableOptions::verify_compression"`
	ReadAmpBytesPerBit                          uint32  `flag:"read_amp_bytes_per_bit,0" help:"BlockBasedTableOptions::read_amp_bytes_per_bit"`
	EnableIndexCompression                      bool    `flag:"enable_index_compression,true" help:"BlockBasedTableOptions::enable_index_compression"`
	IndexShortening                             uint32  `flag:"index_shortening,1" help:"BlockBasedTableOptions::index_shortening"`
	MetadataChargePolicy                        uint32  `flag:"metadata_charge_policy,1" help:"metadata charge policy"`
	UseAdaptiveMutexLru                         bool    `flag:"use_adaptive_mutex_lru,false" help:"use adaptive mutex lru"`
	ManifestPreallocationSize                   uint64  `flag:"manifest_preallocation_size,4194304" help:"Options::manifest_preallocation_size"`
	MaxTotalWALSize                             uint64  `flag:"max_total_wal_size,0" help:"Options::max_total_wal_size"`
	EnableChecksumHandoff                       bool    `flag:"enable_checksum_handoff,false" help:"enable checksum handoff"`
	HighPriPoolRatio                            float64 `flag:"high_pri_pool_ratio,0.5" help:"high pri pool ratio"`
	LowPriPoolRatio                             float64 `flag:"low_pri_pool_ratio,0.0" help:"low pri pool ratio"`
	SoftPendingCompactionBytesLimit             uint64  `flag:"soft_pending_compaction_bytes_limit,68719476736" help:"Options::soft_pending_compaction_bytes_limit"`
	HardPendingCompactionBytesLimit             uint64  `flag:"hard_pending_compaction_bytes_limit,274877906944" help:"Options::hard_pending_compaction_bytes_limit"`
	EnableSstPartitionerFactory                 bool    `flag:"enable_sst_partitioner_factory,false" help:"enable sst partitioner factory"`
	EnableDoNotCompressRoles                    bool    `flag:"enable_do_not_compress_roles,false" help:"enable do not compress roles"`
	BlockAlign                                  bool    `flag:"block_align,false" help:"BlockBasedTableOptions::block_align"`
	SuperBlockAlignmentSize                     uint64  `flag:"super_block_alignment_size,0" help:"BlockBasedTableOptions::super_block_alignment_size"`
	SuperBlockAlignmentSpaceOverheadRatio       uint64  `flag:"super_block_alignment_space_overhead_ratio,128" help:"BlockBasedTableOptions::super_block_alignment_space_overhead_ratio"`
	LowestUsedCacheTier                         uint32  `flag:"lowest_used_cache_tier,2" help:"Options::lowest_used_cache_tier"`
	EnableCustomSplitMerge                      bool    `flag:"enable_custom_split_merge,false" help:"enable custom split merge"`
	AdmPolicy                                   uint32  `flag:"adm_policy,0" help:"adm policy"`
	LastLevelTemperature                        string  `flag:"last_level_temperature,kUnknown" help:"Options::last_level_temperature"`
	DefaultWriteTemperature                     string  `flag:"default_write_temperature,kUnknown" help:"Options::default_write_temperature"`
	DefaultTemperature                          string  `flag:"default_temperature,kUnknown" help:"Options::default_temperature"`
	EnableMemtableInsertWithHintPrefixExtractor bool    `flag:"enable_memtable_insert_with_hint_prefix_extractor,false" help:"enable memtable insert with hint prefix extractor"`
	CheckMultigetConsistency                    bool    `flag:"check_multiget_consistency,true" help:"check multiget consistency"`
	CheckMultigetEntityConsistency              bool    `flag:"check_multiget_entity_consistency,true" help:"check multiget entity consistency"`
	InplaceUpdateSupport                        bool    `flag:"inplace_update_support,false" help:"Options::inplace_update_support"`
	UncacheAggressiveness                       uint32  `flag:"uncache_aggressiveness,0" help:"Options::uncache_aggressiveness"`
	VerifyOutputFlags                           uint32  `flag:"verify_output_flags,0" help:"Options::verify_output_flags"`
	ParanoidMemoryChecks                        bool    `flag:"paranoid_memory_checks,false" help:"Options::paranoid_memory_checks"`
	MemtableVerifyPerKeyChecksumOnSeek          bool    `flag:"memtable_verify_per_key_checksum_on_seek,false" help:"Options::memtable_verify_per_key_checksum_on_seek"`
	MemtableBatchLookupOptimization             bool    `flag:"memtable_batch_lookup_optimization,false" help:"Options::memtable_batch_lookup_optimization"`
	CommitBypassMemtableOneIn                   uint32  `flag:"commit_bypass_memtable_one_in,0" unbuilt:"0" help:"commit bypass memtable once in that many operations; 0 never"`
	EnableCompactionOnDeletionTrigger           bool    `flag:"enable_compaction_on_deletion_trigger,false" help:"compact tables with many deletions"`
	CompactionOnDeletionMinFileSize             uint64  `flag:"compaction_on_deletion_min_file_size,32768" help:"compaction on deletion min file size"`
	CompactionOnDeletionTriggerCount            int32   `flag:"compaction_on_deletion_trigger_count,50" help:"compaction on deletion trigger count"`
	CompactionOnDeletionWindowSize              int32   `flag:"compaction_on_deletion_window_size,100" help:"compaction on deletion window size"`
	CompactionOnDeletionRatio                   float64 `flag:"compaction_on_deletion_ratio,0.5" help:"compaction on deletion ratio"`
	ReadTriggeredCompactionThreshold            float64 `flag:"read_triggered_compaction_threshold,0.0" help:"Options::read_triggered_compaction_threshold"`
	ListenerUri                                 string  `flag:"listener_uri," help:"name of one more event listener"`
	AutoRefreshIteratorWithSnapshot             bool    `flag:"auto_refresh_iterator_with_snapshot,false" help:"ReadOptions::auto_refresh_iterator_with_snapshot"`
	MemtableOpScanFlushTrigger                  uint32  `flag:"memtable_op_scan_flush_trigger,0" help:"Options::memtable_op_scan_flush_trigger"`
	MemtableAvgOpScanFlushTrigger               uint32  `flag:"memtable_avg_op_scan_flush_trigger,0" help:"Options::memtable_avg_op_scan_flush_trigger"`
	MinTombstonesForRangeConversion             uint32  `flag:"min_tombstones_for_range_conversion,0" help:"Options::min_tombstones_for_range_conversion"`
	UniversalReduceFileLocking                  bool    `flag:"universal_reduce_file_locking,false" help:"universal reduce file locking"`
	UseMultiscan                                bool    `flag:"use_multiscan,false" help:"iterate by prepared scans of several ranges"`
	MultiscanReverse                            bool    `flag:"multiscan_reverse,false" help:"scan them backwards"`
	MultiscanUseAsyncIO                         bool    `flag:"multiscan_use_async_io,false" help:"MultiScanArgs::use_async_io"`
	ReadScopedBlockBufferProvider               bool    `flag:"read_scoped_block_buffer_provider,false" help:"scans read data blocks into memory that is checked to come back"`
	MultiscanMaxPrefetchMemoryBytes             uint64  `flag:"multiscan_max_prefetch_memory_bytes,0" help:"IODispatcherOptions::max_prefetch_memory_bytes"`
	NumDbs                                      int32   `flag:"num_dbs,1" help:"databases tested at once"`
}
