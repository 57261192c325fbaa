// Port of the flags of db_stress_tool/db_stress_gflags.cc. Differs: one struct
// instead of globals.

package dbstresstool

// Flags are all flags of db_stress, with upstream's names and defaults. A field
// tagged unbuilt belongs to a feature that is not built: the command line may
// set it to the tag's value only, and a default that is another value counts as
// that one (see refuseUnbuilt).
type Flags struct {
	flagsMore

	Seed                                      uint64  `flag:"seed,2341234" help:"base of all random numbers"`
	ReadOnly                                  bool    `flag:"read_only,false" help:"fill the database, reopen it to read only, and verify"`
	MaxKey                                    int64   `flag:"max_key,1048576" help:"keys are numbers below this"`
	MaxKeyLen                                 int32   `flag:"max_key_len,3" help:"most parts of 8 bytes a key has"`
	MaxSequentialSkipInIterations             uint64  `flag:"max_sequential_skip_in_iterations,8" help:"Options::max_sequential_skip_in_iterations"`
	KeyLenPercentDist                         string  `flag:"key_len_percent_dist," help:"percentages of keys with 1, 2, … parts, comma-separated; empty is even"`
	KeyWindowScaleFactor                      int32   `flag:"key_window_scale_factor,10" help:"keys of a cycle of key lengths, in hundreds"`
	ColumnFamilies                            int32   `flag:"column_families,10" help:"number of column families"`
	HotKeyAlpha                               float64 `flag:"hot_key_alpha,0.0" help:"skew of keys (Zipf); 0 is uniform"`
	OptionsFile                               string  `flag:"options_file," help:"take options from an OPTIONS file instead of flags"`
	ActiveWidth                               int64   `flag:"active_width,0" help:"keys in use at a time; 0 is all"`
	TestBatchesSnapshots                      bool    `flag:"test_batches_snapshots,false" help:"test batches of ten keys and snapshots instead of single keys"`
	AtomicFlush                               bool    `flag:"atomic_flush,false" help:"Options::atomic_flush"`
	ManualWALFlushOneIn                       int32   `flag:"manual_wal_flush_one_in,0" help:"manual wal flush once in that many operations; 0 never"`
	LockWALOneIn                              int32   `flag:"lock_wal_one_in,1000000" help:"lock wal once in that many operations; 0 never"`
	TestCFConsistency                         bool    `flag:"test_cf_consistency,false" help:"write the same to all column families and compare them"`
	TestMultiOpsTxns                          bool    `flag:"test_multi_ops_txns,false" unbuilt:"false" help:"test transactions of several operations"`
	Threads                                   int32   `flag:"threads,32" help:"concurrent workers"`
	Ttl                                       int32   `flag:"ttl,-1" unbuilt:"-1" help:"open with a time to live in seconds; -1 does not"`
	ValueSizeMult                             int32   `flag:"value_size_mult,8" help:"values have 1 to 3 times this many bytes"`
	CompactionReadaheadSize                   int32   `flag:"compaction_readahead_size,0" help:"Options::compaction_readahead_size"`
	EnablePipelinedWrite                      bool    `flag:"enable_pipelined_write,false" help:"Options::enable_pipelined_write"`
	VerifyBeforeWrite                         bool    `flag:"verify_before_write,false" help:"read and verify a key before it is written"`
	VerifyCpuCorruptionDir                    string  `flag:"verify_cpu_corruption_dir," help:"verify every key after each operation and write what is wrong here"`
	Histogram                                 bool    `flag:"histogram,false" help:"print a histogram of operation times"`
	DestroyDBInitially                        bool    `flag:"destroy_db_initially,true" help:"begin with an empty database"`
	DestroyDBAndExit                          bool    `flag:"destroy_db_and_exit,false" help:"remove the database and do nothing else"`
	DeleteDirAndExit                          string  `flag:"delete_dir_and_exit," help:"remove this directory and do nothing else"`
	Verbose                                   bool    `flag:"verbose,false" help:"print each key and value"`
	ProgressReports                           bool    `flag:"progress_reports,true" help:"report progress"`
	DBWriteBufferSize                         uint64  `flag:"db_write_buffer_size,0" help:"Options::db_write_buffer_size"`
	UseWriteBufferManager                     bool    `flag:"use_write_buffer_manager,false" help:"charge memtables to the block cache"`
	WriteBufferSize                           int32   `flag:"write_buffer_size,67108864" help:"Options::write_buffer_size"`
	MaxWriteBufferNumber                      int32   `flag:"max_write_buffer_number,2" help:"Options::max_write_buffer_number"`
	MinWriteBufferNumberToMerge               int32   `flag:"min_write_buffer_number_to_merge,1" help:"Options::min_write_buffer_number_to_merge"`
	MaxWriteBufferSizeToMaintain              int64   `flag:"max_write_buffer_size_to_maintain,0" help:"Options::max_write_buffer_size_to_maintain"`
	MemtablePrefixBloomSizeRatio              float64 `flag:"memtable_prefix_bloom_size_ratio,0.0" help:"Options::memtable_prefix_bloom_size_ratio"`
	MemtableWholeKeyFiltering                 bool    `flag:"memtable_whole_key_filtering,false" help:"Options::memtable_whole_key_filtering"`
	OpenFiles                                 int32   `flag:"open_files,-1" help:"open files"`
	OpenFilesAsync                            bool    `flag:"open_files_async,false" help:"Options::open_files_async"`
	AsyncWALPrecreate                         bool    `flag:"async_wal_precreate,false" help:"Options::async_wal_precreate"`
	CompressedSecondaryCacheSize              uint64  `flag:"compressed_secondary_cache_size,0" help:"bytes of a compressed cache behind the block cache"`
	CompressedSecondaryCacheNumshardbits      int32   `flag:"compressed_secondary_cache_numshardbits,-1" help:"log2 of its shards"`
	CompressedSecondaryCacheRatio             float64 `flag:"compressed_secondary_cache_ratio,0.0" help:"share of a tiered cache that is compressed"`
	SecondaryCacheUpdateInterval              int32   `flag:"secondary_cache_update_interval,30000000" help:"microseconds between changes of the secondary cache's capacity"`
	CompactionStyle                           int32   `flag:"compaction_style,0" help:"Options::compaction_style"`
	CompactionPri                             int32   `flag:"compaction_pri,3" help:"Options::compaction_pri"`
	NumLevels                                 int32   `flag:"num_levels,7" help:"Options::num_levels"`
	Level0FileNumCompactionTrigger            int32   `flag:"level0_file_num_compaction_trigger,4" help:"Options::level0_file_num_compaction_trigger"`
	Level0SlowdownWritesTrigger               int32   `flag:"level0_slowdown_writes_trigger,20" help:"Options::level0_slowdown_writes_trigger"`
	Level0StopWritesTrigger                   int32   `flag:"level0_stop_writes_trigger,36" help:"Options::level0_stop_writes_trigger"`
	BlockSize                                 int32   `flag:"block_size,4096" help:"BlockBasedTableOptions::block_size"`
	FormatVersion                             int32   `flag:"format_version,7" help:"BlockBasedTableOptions::format_version"`
	SeparateKeyValueInDataBlock               bool    `flag:"separate_key_value_in_data_block,false" help:"BlockBasedTableOptions::separate_key_value_in_data_block"`
	IndexBlockRestartInterval                 int32   `flag:"index_block_restart_interval,1" help:"BlockBasedTableOptions::index_block_restart_interval"`
	DisableAutoCompactions                    bool    `flag:"disable_auto_compactions,false" help:"Options::disable_auto_compactions"`
	MaxBackgroundCompactions                  int32   `flag:"max_background_compactions,-1" help:"Options::max_background_compactions"`
	NumBottomPriThreads                       int32   `flag:"num_bottom_pri_threads,0" help:"threads of the bottom-priority pool"`
	CompactionThreadPoolAdjustInterval        int32   `flag:"compaction_thread_pool_adjust_interval,0" help:"milliseconds between changes of the compaction pool's size; 0 for none"`
	CompactionThreadPoolVariations            int32   `flag:"compaction_thread_pool_variations,2" help:"how far the size changes"`
	MaxBackgroundFlushes                      int32   `flag:"max_background_flushes,-1" help:"Options::max_background_flushes"`
	UniversalSizeRatio                        int32   `flag:"universal_size_ratio,0" help:"universal size ratio"`
	UniversalMinMergeWidth                    int32   `flag:"universal_min_merge_width,0" help:"universal min merge width"`
	UniversalMaxMergeWidth                    int32   `flag:"universal_max_merge_width,0" help:"universal max merge width"`
	UniversalMaxSizeAmplificationPercent      int32   `flag:"universal_max_size_amplification_percent,0" help:"universal max size amplification percent"`
	UniversalMaxReadAmp                       int32   `flag:"universal_max_read_amp,-1" help:"universal max read amp"`
	ClearColumnFamilyOneIn                    int32   `flag:"clear_column_family_one_in,1000000" help:"clear column family once in that many operations; 0 never"`
	GetLiveFilesApisOneIn                     int32   `flag:"get_live_files_apis_one_in,1000000" help:"get live files apis once in that many operations; 0 never"`
	CheckpointAtomicFlush                     bool    `flag:"checkpoint_atomic_flush,false" help:"checkpoint atomic flush"`
	GetAllColumnFamilyMetadataOneIn           int32   `flag:"get_all_column_family_metadata_one_in,1000000" help:"get all column family metadata once in that many operations; 0 never"`
	GetSortedWALFilesOneIn                    int32   `flag:"get_sorted_wal_files_one_in,1000000" help:"get sorted wal files once in that many operations; 0 never"`
	GetCurrentWALFileOneIn                    int32   `flag:"get_current_wal_file_one_in,1000000" help:"get current wal file once in that many operations; 0 never"`
	SetOptionsOneIn                           int32   `flag:"set_options_one_in,0" help:"set options once in that many operations; 0 never"`
	SetInPlaceOneIn                           int32   `flag:"set_in_place_one_in,0" help:"set in place once in that many operations; 0 never"`
	CacheSize                                 int64   `flag:"cache_size,2147483648" help:"bytes of the block cache"`
	CacheNumshardbits                         int32   `flag:"cache_numshardbits,6" help:"log2 of its shards"`
	CacheIndexAndFilterBlocks                 bool    `flag:"cache_index_and_filter_blocks,false" help:"BlockBasedTableOptions::cache_index_and_filter_blocks"`
	ChargeCompressionDictionaryBuildingBuffer bool    `flag:"charge_compression_dictionary_building_buffer,false" help:"charge compression dictionary building buffer"`
	ChargeFilterConstruction                  bool    `flag:"charge_filter_construction,false" help:"charge filter construction"`
	ChargeTableReader                         bool    `flag:"charge_table_reader,false" help:"charge table reader"`
	ChargeFileMetadata                        bool    `flag:"charge_file_metadata,false" help:"charge file metadata"`
	ChargeBlobCache                           bool    `flag:"charge_blob_cache,false" help:"charge blob cache"`
	DecouplePartitionedFilters                bool    `flag:"decouple_partitioned_filters,true" help:"BlockBasedTableOptions::decouple_partitioned_filters"`
	TopLevelIndexPinning                      int32   `flag:"top_level_index_pinning,0" help:"top level index pinning"`
	PartitionPinning                          int32   `flag:"partition_pinning,0" help:"partition pinning"`
	UnpartitionedPinning                      int32   `flag:"unpartitioned_pinning,0" help:"unpartitioned pinning"`
	CacheType                                 string  `flag:"cache_type,lru_cache" help:"lru_cache, fixed_hyper_clock_cache, auto_hyper_clock_cache, or tiered_ one of them"`
	Subcompactions                            uint64  `flag:"subcompactions,1" help:"subcompactions"`
	PeriodicCompactionSeconds                 uint64  `flag:"periodic_compaction_seconds,1000" help:"Options::periodic_compaction_seconds"`
	DailyOffpeakTimeUtc                       string  `flag:"daily_offpeak_time_utc," help:"Options::daily_offpeak_time_utc"`
	CompactionTtl                             uint64  `flag:"compaction_ttl,1000" help:"compaction ttl"`
	FifoAllowCompaction                       bool    `flag:"fifo_allow_compaction,false" help:"fifo allow compaction"`
	FifoCompactionMaxDataFilesSizeMB          uint64  `flag:"fifo_compaction_max_data_files_size_mb,0" help:"fifo compaction max data files size mb"`
	FifoCompactionMaxTableFilesSizeMB         uint64  `flag:"fifo_compaction_max_table_files_size_mb,0" help:"fifo compaction max table files size mb"`
	FifoCompactionUseKvRatioCompaction        bool    `flag:"fifo_compaction_use_kv_ratio_compaction,false" help:"fifo compaction use kv ratio compaction"`
	AllowConcurrentMemtableWrite              bool    `flag:"allow_concurrent_memtable_write,false" help:"Options::allow_concurrent_memtable_write"`
	ExperimentalMempurgeThreshold             float64 `flag:"experimental_mempurge_threshold,0.0" help:"Options::experimental_mempurge_threshold"`
	EnableWriteThreadAdaptiveYield            bool    `flag:"enable_write_thread_adaptive_yield,true" help:"Options::enable_write_thread_adaptive_yield"`
	UseBlobDB                                 bool    `flag:"use_blob_db,false" unbuilt:"false" help:"use the stacked BlobDB"`
	BlobDBFileSize                            uint64  `flag:"blob_db_file_size,268435456" help:"blob db file size"`
	BlobDBEnableGc                            bool    `flag:"blob_db_enable_gc,false" help:"blob db enable gc"`
	AllowSettingBlobOptionsDynamically        bool    `flag:"allow_setting_blob_options_dynamically,false" help:"let --set_options_one_in change options of blob files"`
	EnableBlobFiles                           bool    `flag:"enable_blob_files,false" help:"Options::enable_blob_files"`
	EnableBlobDirectWrite                     bool    `flag:"enable_blob_direct_write,false" unbuilt:"false" help:"Options::enable_blob_direct_write"`
	BlobDirectWritePartitions                 uint64  `flag:"blob_direct_write_partitions,1" help:"Options::blob_direct_write_partitions"`
	MinBlobSize                               uint64  `flag:"min_blob_size,0" help:"Options::min_blob_size"`
	BlobFileSize                              uint64  `flag:"blob_file_size,268435456" help:"Options::blob_file_size"`
	BlobCompressionType                       string  `flag:"blob_compression_type,none" help:"Options::blob_compression_type"`
	CompressionManager                        string  `flag:"compression_manager,mixed" help:"mixed, randommixed, autoskip, custom or none"`
	EnableBlobGarbageCollection               bool    `flag:"enable_blob_garbage_collection,false" help:"Options::enable_blob_garbage_collection"`
	BlobGarbageCollectionAgeCutoff            float64 `flag:"blob_garbage_collection_age_cutoff,0.25" help:"Options::blob_garbage_collection_age_cutoff"`
	BlobGarbageCollectionForceThreshold       float64 `flag:"blob_garbage_collection_force_threshold,1.0" help:"Options::blob_garbage_collection_force_threshold"`
	BlobCompactionReadaheadSize               uint64  `flag:"blob_compaction_readahead_size,0" help:"Options::blob_compaction_readahead_size"`
	BlobFileStartingLevel                     int32   `flag:"blob_file_starting_level,0" help:"Options::blob_file_starting_level"`
	UseBlobCache                              bool    `flag:"use_blob_cache,false" help:"cache blobs"`
	UseSharedBlockAndBlobCache                bool    `flag:"use_shared_block_and_blob_cache,true" help:"in the block cache, not in one of their own"`
	BlobCacheSize                             uint64  `flag:"blob_cache_size,2147483648" help:"bytes of a blob cache of its own"`
	BlobCacheNumshardbits                     int32   `flag:"blob_cache_numshardbits,6" help:"log2 of its shards"`
	PrepopulateBlobCache                      int32   `flag:"prepopulate_blob_cache,0" help:"Options::prepopulate_blob_cache"`
	PrecludeLastLevelDataSeconds              int64   `flag:"preclude_last_level_data_seconds,0" help:"Options::preclude_last_level_data_seconds"`
	PreserveInternalTimeSeconds               int64   `flag:"preserve_internal_time_seconds,0" help:"Options::preserve_internal_time_seconds"`
	UseTimedPutOneIn                          uint32  `flag:"use_timed_put_one_in,0" help:"use timed put once in that many operations; 0 never"`
	FileTemperatureAgeThresholds              string  `flag:"file_temperature_age_thresholds," help:"file temperature age thresholds"`
	AllowTrivialCopyWhenChangeTemperature     bool    `flag:"allow_trivial_copy_when_change_temperature,true" help:"allow trivial copy when change temperature"`
	Reopen                                    int32   `flag:"reopen,10" help:"times the database is reopened"`
	BloomBits                                 float64 `flag:"bloom_bits,10" help:"bits a key of the filter"`
	BloomBeforeLevel                          int32   `flag:"bloom_before_level,999" help:"levels below this have Bloom filters, others Ribbon; 2147483647 for Bloom"`
	PartitionFilters                          bool    `flag:"partition_filters,false" help:"BlockBasedTableOptions::partition_filters"`
	OptimizeFiltersForMemory                  bool    `flag:"optimize_filters_for_memory,true" help:"BlockBasedTableOptions::optimize_filters_for_memory"`
	DetectFilterConstructCorruption           bool    `flag:"detect_filter_construct_corruption,false" help:"BlockBasedTableOptions::detect_filter_construct_corruption"`
	SqfcName                                  string  `flag:"sqfc_name,foo" help:"sqfc name"`
	SqfcVersion                               uint32  `flag:"sqfc_version,0" help:"sqfc version"`
	UseSqfcForRangeQueries                    bool    `flag:"use_sqfc_for_range_queries,true" help:"use sqfc for range queries"`
	IndexType                                 int32   `flag:"index_type,0" help:"BlockBasedTableOptions::index_type as a number"`
	DataBlockIndexType                        int32   `flag:"data_block_index_type,0" help:"BlockBasedTableOptions::data_block_index_type"`
	IndexBlockSearchType                      int32   `flag:"index_block_search_type,0" help:"BlockBasedTableOptions::index_block_search_type"`
	UniformCvThreshold                        float64 `flag:"uniform_cv_threshold,-1.0" help:"BlockBasedTableOptions::uniform_cv_threshold"`
	UseTrieIndex                              bool    `flag:"use_trie_index,false" unbuilt:"false" help:"use trie index"`
	UseUdiAsPrimaryIndex                      bool    `flag:"use_udi_as_primary_index,false" unbuilt:"false" help:"BlockBasedTableOptions::use_udi_as_primary_index"`
	TestBackwardScan                          bool    `flag:"test_backward_scan,true" help:"iterate backwards, too"`
	DB                                        string  `flag:"db," help:"directory of the database"`
	SecondariesBase                           string  `flag:"secondaries_base," help:"directory of secondary instances"`
	TestSecondary                             bool    `flag:"test_secondary,false" help:"verify a secondary instance"`
	OpenReadOnlyOneIn                         int32   `flag:"open_read_only_one_in,0" help:"open read only once in that many operations; 0 never"`
	ExpectedValuesDir                         string  `flag:"expected_values_dir," help:"directory of the expected state; empty keeps it in memory"`
	VerifyChecksum                            bool    `flag:"verify_checksum,false" help:"ReadOptions::verify_checksums"`
	MmapRead                                  bool    `flag:"mmap_read,false" help:"DBOptions::allow_mmap_reads"`
	MmapWrite                                 bool    `flag:"mmap_write,false" help:"DBOptions::allow_mmap_writes"`
	UseDirectReads                            bool    `flag:"use_direct_reads,false" help:"Options::use_direct_reads"`
	UseDirectIOForCompactionReads             bool    `flag:"use_direct_io_for_compaction_reads,false" help:"Options::use_direct_io_for_compaction_reads"`
	UseDirectIOForFlushAndCompaction          bool    `flag:"use_direct_io_for_flush_and_compaction,false" help:"Options::use_direct_io_for_flush_and_compaction"`
	MockDirectIO                              bool    `flag:"mock_direct_io,false" help:"do without direct I/O where flags ask for it"`
	Statistics                                bool    `flag:"statistics,false" help:"collect statistics and print them"`
	Sync                                      bool    `flag:"sync,false" help:"WriteOptions::sync"`
	UseFsync                                  bool    `flag:"use_fsync,false" help:"Options::use_fsync"`
	BytesPerSync                              uint64  `flag:"bytes_per_sync,0" help:"Options::bytes_per_sync"`
	WALBytesPerSync                           uint64  `flag:"wal_bytes_per_sync,0" help:"Options::wal_bytes_per_sync"`
	KillRandomTest                            int32   `flag:"kill_random_test,0" help:"die at one in that many passages of a kill point; 0 never does"`
	KillExcludePrefixes                       string  `flag:"kill_exclude_prefixes," help:"kill points to leave out, comma-separated prefixes"`
	DisableWAL                                bool    `flag:"disable_wal,false" help:"WriteOptions::disableWAL"`
	RecycleLogFileNum                         uint64  `flag:"recycle_log_file_num,0" help:"Options::recycle_log_file_num"`
	TargetFileSizeBase                        int64   `flag:"target_file_size_base,67108864" help:"Options::target_file_size_base"`
	TargetFileSizeMultiplier                  int32   `flag:"target_file_size_multiplier,1" help:"Options::target_file_size_multiplier"`
	MaxBytesForLevelBase                      uint64  `flag:"max_bytes_for_level_base,268435456" help:"Options::max_bytes_for_level_base"`
	MaxBytesForLevelMultiplier                float64 `flag:"max_bytes_for_level_multiplier,2.0" help:"Options::max_bytes_for_level_multiplier"`
	RangeDeletionWidth                        int32   `flag:"range_deletion_width,10" help:"keys a range deletion covers"`
	RateLimiterBytesPerSec                    uint64  `flag:"rate_limiter_bytes_per_sec,0" help:"rate of the rate limiter; 0 for none"`
	RateLimitBgReads                          bool    `flag:"rate_limit_bg_reads,false" help:"limit reads of background jobs, not writes"`
	RateLimitUserOps                          bool    `flag:"rate_limit_user_ops,false" help:"limit reads of users"`
	RateLimitAutoWALFlush                     bool    `flag:"rate_limit_auto_wal_flush,false" help:"limit writes of the WAL"`
	SstFileManagerBytesPerSec                 uint64  `flag:"sst_file_manager_bytes_per_sec,0" help:"rate of deletion of files"`
	SstFileManagerBytesPerTruncate            uint64  `flag:"sst_file_manager_bytes_per_truncate,0" help:"bytes cut from a file at a time when it is deleted"`
	UseTxn                                    bool    `flag:"use_txn,false" unbuilt:"false" help:"use a TransactionDB"`
	TxnWritePolicy                            uint64  `flag:"txn_write_policy,0" help:"0 write committed, 1 write prepared, 2 write unprepared"`
	UsePerKeyPointLockMgr                     bool    `flag:"use_per_key_point_lock_mgr,true" help:"use per key point lock mgr"`
	UseOptimisticTxn                          bool    `flag:"use_optimistic_txn,false" unbuilt:"false" help:"use an OptimisticTransactionDB"`
	OccValidationPolicy                       uint64  `flag:"occ_validation_policy,1" help:"occ validation policy"`
	ShareOccLockBuckets                       bool    `flag:"share_occ_lock_buckets,false" help:"share occ lock buckets"`
	OccLockBucketCount                        uint32  `flag:"occ_lock_bucket_count,500" help:"occ lock bucket count"`
	UnorderedWrite                            bool    `flag:"unordered_write,false" help:"Options::unordered_write"`
	BackupOneIn                               int32   `flag:"backup_one_in,0" unbuilt:"0" help:"backup once in that many operations; 0 never"`
	BackupMaxSize                             uint64  `flag:"backup_max_size,104857600" help:"no backups of databases larger than this"`
	CheckpointOneIn                           int32   `flag:"checkpoint_one_in,0" help:"checkpoint once in that many operations; 0 never"`
	IngestExternalFileOneIn                   int32   `flag:"ingest_external_file_one_in,0" help:"ingest external file once in that many operations; 0 never"`
	IngestExternalFileWidth                   int32   `flag:"ingest_external_file_width,100" help:"keys of an ingested file"`
	IngestExternalFilePrepareCommitOneIn      int32   `flag:"ingest_external_file_prepare_commit_one_in,0" help:"ingest external file prepare commit once in that many operations; 0 never"`
	IngestExternalFileUseFileInfoOneIn        int32   `flag:"ingest_external_file_use_file_info_one_in,0" help:"ingest external file use file info once in that many operations; 0 never"`
	IngestExternalFileWithEmbeddedBlobs       bool    `flag:"ingest_external_file_with_embedded_blobs,false" help:"ingest external file with embedded blobs"`
	CompactFilesOneIn                         int32   `flag:"compact_files_one_in,0" help:"compact files once in that many operations; 0 never"`
	CompactRangeOneIn                         int32   `flag:"compact_range_one_in,0" help:"compact range once in that many operations; 0 never"`
	PromoteL0OneIn                            int32   `flag:"promote_l0_one_in,0" help:"promote l0 once in that many operations; 0 never"`
	MarkForCompactionOneFileIn                int32   `flag:"mark_for_compaction_one_file_in,0" help:"mark for compaction one file in"`
	FlushOneIn                                int32   `flag:"flush_one_in,0" help:"flush once in that many operations; 0 never"`
	KeyMayExistOneIn                          int32   `flag:"key_may_exist_one_in,0" help:"key may exist once in that many operations; 0 never"`
	ResetStatsOneIn                           int32   `flag:"reset_stats_one_in,0" help:"reset stats once in that many operations; 0 never"`
	PauseBackgroundOneIn                      int32   `flag:"pause_background_one_in,0" help:"pause background once in that many operations; 0 never"`
}
