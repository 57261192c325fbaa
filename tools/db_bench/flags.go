// Port of the flags of tools/db_bench_tool.cc. Differs: one struct instead of
// globals, so that a program (and a test) may run the tool more than once.

package main

// Flags are all flags of db_bench, with upstream's names and defaults. A field
// tagged todo belongs to a feature that is not built: the tool refuses the flag
// when it is set off its default (see refuseUnbuilt). Later steps of the setup
// derive some fields from others, as upstream does with its globals.
type Flags struct {
	Benchmarks                                         string  `flag:"benchmarks,fillseq,fillseqdeterministic,fillsync,fillrandom,filluniquerandomdeterministic,overwrite,readrandom,newiterator,newiteratorwhilewriting,seekrandom,seekrandomwhilewriting,seekrandomwhilemerging,readseq,readreverse,compact,compactall,flush,compact0,compact1,waitforcompaction,multireadrandom,multiscan,multiscanrandom,mixgraph,readseq,readtorowcache,readtocache,readreverse,readwhilewriting,readwhilemerging,readwhilescanning,readrandomwriterandom,updaterandom,xorupdaterandom,approximatesizerandom,randomwithverify,fill100K,crc32c,xxhash,xxhash64,xxh3,compress,uncompress,acquireload,fillseekseq,randomtransaction,randomreplacekeys,timeseries,getmergeoperands,readrandomoperands,backup,restore,openandcompact,approximatememtablestats" help:"benchmarks to run in order, comma-separated; NAME[X5] repeats, NAME[W1-X5] warms up first"`
	Num                                                int64   `flag:"num,1000000" help:"keys in the database"`
	BgwriterNum                                        int64   `flag:"bgwriter_num,0" help:"key range of the background writer, when above 0"`
	Numdistinct                                        int64   `flag:"numdistinct,1000" help:"distinct keys of randomwithverify and randomreplacekeys"`
	MergeKeys                                          int64   `flag:"merge_keys,-1" help:"distinct keys of merge benchmarks; negative means num"`
	NumColumnFamilies                                  int32   `flag:"num_column_families,1" help:"column families to use"`
	NumHotColumnFamilies                               int32   `flag:"num_hot_column_families,0" help:"column families written at a time; new ones are made when they are full"`
	ColumnFamilyDistribution                           string  `flag:"column_family_distribution," help:"percentages of operations by column family, comma-separated"`
	Reads                                              int64   `flag:"reads,-1" help:"read operations; negative means num"`
	Deletes                                            int64   `flag:"deletes,-1" help:"delete operations; negative means num"`
	BloomLocality                                      int32   `flag:"bloom_locality,0" help:"ColumnFamilyOptions::bloom_locality"`
	Seed                                               int64   `flag:"seed,0" help:"base of all random numbers; 0 takes the time"`
	Threads                                            int32   `flag:"threads,1" help:"concurrent workers"`
	Duration                                           int32   `flag:"duration,0" help:"seconds to run random benchmarks; 0 goes by counts"`
	ValueSizeDistributionType                          string  `flag:"value_size_distribution_type,fixed" help:"fixed, uniform or normal"`
	ValueSize                                          int32   `flag:"value_size,100" help:"bytes of a value"`
	ValueSizeMin                                       int32   `flag:"value_size_min,100" help:"least bytes of a value, when not fixed"`
	ValueSizeMax                                       int32   `flag:"value_size_max,102400" help:"most bytes of a value, when not fixed"`
	SeekNexts                                          int32   `flag:"seek_nexts,0" help:"Next calls after each seek"`
	SeekNextsToDelete                                  int32   `flag:"seek_nexts_to_delete,0" help:"keys deleted after each seek"`
	ReverseIterator                                    bool    `flag:"reverse_iterator,false" help:"use Prev instead of Next after seeks"`
	AutoPrefixMode                                     bool    `flag:"auto_prefix_mode,false" help:"ReadOptions::auto_prefix_mode for seeks"`
	MaxScanDistance                                    int64   `flag:"max_scan_distance,0" help:"iterator bound that many keys from the seek; 0 for none"`
	UseUint64Comparator                                bool    `flag:"use_uint64_comparator,false" help:"order keys as 64-bit numbers"`
	BatchSize                                          int64   `flag:"batch_size,1" help:"operations in a batch"`
	MultiscanSize                                      int64   `flag:"multiscan_size,10" help:"scans of a multiscan"`
	MultiscanStride                                    int64   `flag:"multiscan_stride,100" help:"keys between scans of a multiscan"`
	KeySize                                            int32   `flag:"key_size,16" help:"bytes of a key"`
	UserTimestampSize                                  int32   `flag:"user_timestamp_size,0" help:"bytes of a user-defined timestamp"`
	NumMultiDB                                         int32   `flag:"num_multi_db,0" help:"databases used at once; 0 is one"`
	CompressionRatio                                   float64 `flag:"compression_ratio,0.5" help:"size that values compress to"`
	OverwriteProbability                               float64 `flag:"overwrite_probability,0.0" help:"share of filluniquerandom's writes that repeat a recent key"`
	OverwriteWindowSize                                uint32  `flag:"overwrite_window_size,1" help:"recent keys that may be repeated"`
	DisposableEntriesDeleteDelay                       uint64  `flag:"disposable_entries_delete_delay,0" help:"microseconds before disposable keys are deleted"`
	DisposableEntriesBatchSize                         uint64  `flag:"disposable_entries_batch_size,0" help:"disposable keys of a set"`
	DisposableEntriesValueSize                         int32   `flag:"disposable_entries_value_size,64" help:"bytes of their values"`
	PersistentEntriesBatchSize                         uint64  `flag:"persistent_entries_batch_size,0" help:"persistent keys of a set"`
	PersistentEntriesValueSize                         int32   `flag:"persistent_entries_value_size,64" help:"bytes of their values"`
	ReadRandomExpRange                                 float64 `flag:"read_random_exp_range,0.0" help:"skew of random reads: keys follow num * exp(-range * uniform)"`
	Histogram                                          bool    `flag:"histogram,false" help:"print histograms of operation times"`
	ConfidenceIntervalOnly                             bool    `flag:"confidence_interval_only,false" help:"print 95% intervals after each repeat"`
	EnableNUMA                                         bool    `flag:"enable_numa,false" help:"bind threads to NUMA nodes"`
	DBWriteBufferSize                                  int64   `flag:"db_write_buffer_size,0" help:"DBOptions::db_write_buffer_size"`
	MaxManifestFileSize                                int64   `flag:"max_manifest_file_size,1073741824" help:"DBOptions::max_manifest_file_size"`
	MaxManifestSpaceAmpPct                             int32   `flag:"max_manifest_space_amp_pct,500" help:"DBOptions::max_manifest_space_amp_pct"`
	VerifyManifestContentOnClose                       bool    `flag:"verify_manifest_content_on_close,false" help:"DBOptions::verify_manifest_content_on_close"`
	CostWriteBufferToCache                             bool    `flag:"cost_write_buffer_to_cache,false" help:"charge memtables to the block cache"`
	ArenaBlockSize                                     int64   `flag:"arena_block_size,0" help:"ColumnFamilyOptions::arena_block_size"`
	WriteBufferSize                                    int64   `flag:"write_buffer_size,67108864" help:"ColumnFamilyOptions::write_buffer_size"`
	MaxWriteBufferNumber                               int32   `flag:"max_write_buffer_number,2" help:"ColumnFamilyOptions::max_write_buffer_number"`
	MinWriteBufferNumberToMerge                        int32   `flag:"min_write_buffer_number_to_merge,1" help:"ColumnFamilyOptions::min_write_buffer_number_to_merge"`
	MaxWriteBufferSizeToMaintain                       int64   `flag:"max_write_buffer_size_to_maintain,0" help:"ColumnFamilyOptions::max_write_buffer_size_to_maintain"`
	MaxBackgroundJobs                                  int32   `flag:"max_background_jobs,2" help:"DBOptions::max_background_jobs"`
	NumBottomPriThreads                                int32   `flag:"num_bottom_pri_threads,0" help:"threads of the bottom-priority pool"`
	NumHighPriThreads                                  int32   `flag:"num_high_pri_threads,0" help:"threads of the high-priority pool"`
	NumLowPriThreads                                   int32   `flag:"num_low_pri_threads,0" help:"threads of the low-priority pool"`
	MaxBackgroundCompactions                           int32   `flag:"max_background_compactions,-1" help:"DBOptions::max_background_compactions"`
	Subcompactions                                     uint64  `flag:"subcompactions,1" help:"DBOptions::max_subcompactions"`
	MaxBackgroundFlushes                               int32   `flag:"max_background_flushes,-1" help:"DBOptions::max_background_flushes"`
	CompactionStyle                                    int32   `flag:"compaction_style,0" help:"0 level, 1 universal, 2 FIFO, 3 none"`
	CompactionPri                                      int32   `flag:"compaction_pri,3" help:"ColumnFamilyOptions::compaction_pri as a number"`
	UniversalSizeRatio                                 int32   `flag:"universal_size_ratio,0" help:"CompactionOptionsUniversal::size_ratio, unless 0"`
	UniversalMinMergeWidth                             int32   `flag:"universal_min_merge_width,0" help:"CompactionOptionsUniversal::min_merge_width, unless 0"`
	UniversalMaxMergeWidth                             int32   `flag:"universal_max_merge_width,0" help:"CompactionOptionsUniversal::max_merge_width, unless 0"`
	UniversalMaxSizeAmplificationPercent               int32   `flag:"universal_max_size_amplification_percent,0" help:"CompactionOptionsUniversal::max_size_amplification_percent, unless 0"`
	UniversalCompressionSizePercent                    int32   `flag:"universal_compression_size_percent,-1" help:"CompactionOptionsUniversal::compression_size_percent, unless -1"`
	UniversalMaxReadAmp                                int32   `flag:"universal_max_read_amp,-1" help:"CompactionOptionsUniversal::max_read_amp"`
	UniversalAllowTrivialMove                          bool    `flag:"universal_allow_trivial_move,false" help:"CompactionOptionsUniversal::allow_trivial_move"`
	UniversalIncremental                               bool    `flag:"universal_incremental,false" help:"CompactionOptionsUniversal::incremental"`
	UniversalStopStyle                                 int32   `flag:"universal_stop_style,1" help:"CompactionOptionsUniversal::stop_style as a number"`
	CacheSize                                          int64   `flag:"cache_size,33554432" help:"bytes of the block cache; 0 or less for none"`
	CacheNumshardbits                                  int32   `flag:"cache_numshardbits,-1" help:"log2 of the block cache's shards; negative lets it choose"`
	CacheHighPriPoolRatio                              float64 `flag:"cache_high_pri_pool_ratio,0.0" help:"share of the block cache for high-priority blocks"`
	CacheLowPriPoolRatio                               float64 `flag:"cache_low_pri_pool_ratio,0.0" help:"share of the block cache for low-priority blocks"`
	CacheType                                          string  `flag:"cache_type,hyper_clock_cache" help:"lru_cache, or one of the hyper_clock_cache kinds"`
	UseCompressedSecondaryCache                        bool    `flag:"use_compressed_secondary_cache,false" help:"put a compressed cache behind the block cache"`
	CompressedSecondaryCacheSize                       int64   `flag:"compressed_secondary_cache_size,33554432" help:"bytes of the compressed cache"`
	CompressedSecondaryCacheNumshardbits               int32   `flag:"compressed_secondary_cache_numshardbits,6" help:"log2 of the compressed cache's shards"`
	CompressedSecondaryCacheHighPriPoolRatio           float64 `flag:"compressed_secondary_cache_high_pri_pool_ratio,0.0" help:"its share for high-priority blocks"`
	CompressedSecondaryCacheLowPriPoolRatio            float64 `flag:"compressed_secondary_cache_low_pri_pool_ratio,0.0" help:"its share for low-priority blocks"`
	CompressedSecondaryCacheCompressionType            string  `flag:"compressed_secondary_cache_compression_type,lz4" help:"its compression"`
	CompressionManager                                 string  `flag:"compression_manager,none" help:"none, mixed, costpredictor or autoskip"`
	CompressedSecondaryCacheCompressionLevel           int32   `flag:"compressed_secondary_cache_compression_level,32767" help:"its compression level"`
	UseTieredCache                                     bool    `flag:"use_tiered_cache,false" help:"use a tiered block cache"`
	TieredAdmPolicy                                    string  `flag:"tiered_adm_policy,auto" help:"admission policy of the tiered cache"`
	SimcacheSize                                       int64   `flag:"simcache_size,-1" help:"bytes of a simulated cache; negative for none" todo:"1"`
	CacheIndexAndFilterBlocks                          bool    `flag:"cache_index_and_filter_blocks,false" help:"BlockBasedTableOptions::cache_index_and_filter_blocks"`
	UseCacheJemallocNoDumpAllocator                    bool    `flag:"use_cache_jemalloc_no_dump_allocator,false" help:"take cache memory from jemalloc" todo:"1"`
	UseCacheMemkindKmemAllocator                       bool    `flag:"use_cache_memkind_kmem_allocator,false" help:"take cache memory from memkind" todo:"1"`
	DecouplePartitionedFilters                         bool    `flag:"decouple_partitioned_filters,true" help:"BlockBasedTableOptions::decouple_partitioned_filters"`
	PartitionIndexAndFilters                           bool    `flag:"partition_index_and_filters,false" help:"partition index and filters"`
	PartitionIndex                                     bool    `flag:"partition_index,false" help:"partition the index"`
	IndexWithFirstKey                                  bool    `flag:"index_with_first_key,false" help:"index blocks hold first keys"`
	UseTrieIndex                                       bool    `flag:"use_trie_index,false" help:"use a trie as index" todo:"1"`
	OptimizeFiltersForMemory                           bool    `flag:"optimize_filters_for_memory,true" help:"BlockBasedTableOptions::optimize_filters_for_memory"`
	IndexShorteningMode                                int64   `flag:"index_shortening_mode,2" help:"0 no shortening, 1 separators, 2 separators and successor"`
	MetadataBlockSize                                  int64   `flag:"metadata_block_size,4096" help:"BlockBasedTableOptions::metadata_block_size, when partitioned"`
	OpsBetweenDurationChecks                           int32   `flag:"ops_between_duration_checks,1000" help:"operations between looks at the clock"`
	PinL0FilterAndIndexBlocksInCache                   bool    `flag:"pin_l0_filter_and_index_blocks_in_cache,false" help:"BlockBasedTableOptions::pin_l0_filter_and_index_blocks_in_cache"`
	PinTopLevelIndexAndFilter                          bool    `flag:"pin_top_level_index_and_filter,false" help:"BlockBasedTableOptions::pin_top_level_index_and_filter"`
	BlockSize                                          int32   `flag:"block_size,4096" help:"bytes of a block, and of checksum and compression benchmarks"`
	FormatVersion                                      int32   `flag:"format_version,7" help:"BlockBasedTableOptions::format_version"`
	BlockRestartInterval                               int32   `flag:"block_restart_interval,16" help:"BlockBasedTableOptions::block_restart_interval"`
	IndexBlockRestartInterval                          int32   `flag:"index_block_restart_interval,1" help:"BlockBasedTableOptions::index_block_restart_interval"`
	ReadAmpBytesPerBit                                 int32   `flag:"read_amp_bytes_per_bit,0" help:"BlockBasedTableOptions::read_amp_bytes_per_bit"`
	EnableIndexCompression                             bool    `flag:"enable_index_compression,true" help:"BlockBasedTableOptions::enable_index_compression"`
	BlockAlign                                         bool    `flag:"block_align,false" help:"BlockBasedTableOptions::block_align"`
	SuperBlockAlignmentSize                            uint64  `flag:"super_block_alignment_size,0" help:"BlockBasedTableOptions::super_block_alignment_size"`
	SuperBlockAlignmentSpaceOverheadRatio              uint64  `flag:"super_block_alignment_space_overhead_ratio,128" help:"BlockBasedTableOptions::super_block_alignment_space_overhead_ratio"`
	SeparateKeyValueInDataBlock                        bool    `flag:"separate_key_value_in_data_block,false" help:"BlockBasedTableOptions::separate_key_value_in_data_block"`
	PrepopulateBlockCache                              int64   `flag:"prepopulate_block_cache,0" help:"0 disabled, 1 on flush, 2 on flush and compaction"`
	UncacheAggressiveness                              uint32  `flag:"uncache_aggressiveness,0" help:"ColumnFamilyOptions::uncache_aggressiveness"`
	UseDataBlockHashIndex                              bool    `flag:"use_data_block_hash_index,false" help:"add hash indexes to data blocks"`
	DataBlockHashTableUtilRatio                        float64 `flag:"data_block_hash_table_util_ratio,0.75" help:"BlockBasedTableOptions::data_block_hash_table_util_ratio"`
	UniformCVThreshold                                 float64 `flag:"uniform_cv_threshold,-1" help:"BlockBasedTableOptions::uniform_cv_threshold"`
	CompressedCacheSize                                int64   `flag:"compressed_cache_size,-1" help:"unused; kept for old command lines"`
	RowCacheSize                                       int64   `flag:"row_cache_size,0" help:"bytes of the row cache; 0 for none"`
	OpenFiles                                          int32   `flag:"open_files,-1" help:"DBOptions::max_open_files"`
	FileOpeningThreads                                 int32   `flag:"file_opening_threads,16" help:"DBOptions::max_file_opening_threads"`
	CompactionReadaheadSize                            uint64  `flag:"compaction_readahead_size,2097152" help:"DBOptions::compaction_readahead_size"`
	LogReadaheadSize                                   int32   `flag:"log_readahead_size,0" help:"DBOptions::log_readahead_size"`
	WritableFileMaxBufferSize                          int32   `flag:"writable_file_max_buffer_size,1048576" help:"DBOptions::writable_file_max_buffer_size"`
	BloomBits                                          int32   `flag:"bloom_bits,-1" help:"bits per key of the filter; 0 for no filter, negative for the default"`
	UseRibbonFilter                                    bool    `flag:"use_ribbon_filter,false" help:"ribbon instead of Bloom filters"`
	MemtableBloomSizeRatio                             float64 `flag:"memtable_bloom_size_ratio,0" help:"ColumnFamilyOptions::memtable_prefix_bloom_size_ratio"`
	MemtableWholeKeyFiltering                          bool    `flag:"memtable_whole_key_filtering,false" help:"ColumnFamilyOptions::memtable_whole_key_filtering"`
	MemtableUseHugePage                                bool    `flag:"memtable_use_huge_page,false" help:"use huge pages for memtables"`
	MemtableBatchLookupOptimization                    bool    `flag:"memtable_batch_lookup_optimization,false" help:"ColumnFamilyOptions::memtable_batch_lookup_optimization"`
	WholeKeyFiltering                                  bool    `flag:"whole_key_filtering,true" help:"BlockBasedTableOptions::whole_key_filtering"`
	UseExistingDB                                      bool    `flag:"use_existing_db,false" help:"use the database as it is; fill benchmarks are then skipped"`
	UseExistingKeys                                    bool    `flag:"use_existing_keys,false" help:"read keys that are in the database"`
	ShowTableProperties                                bool    `flag:"show_table_properties,false" help:"print table properties by level with interval statistics"`
	DB                                                 string  `flag:"db," help:"directory of the database"`
	ProgressReports                                    bool    `flag:"progress_reports,true" help:"report progress on standard error"`
	ReadCachePath                                      string  `flag:"read_cache_path," help:"directory of a persistent read cache" todo:"1"`
	ReadCacheSize                                      int64   `flag:"read_cache_size,4294967296" help:"bytes of the read cache" todo:"1"`
	ReadCacheDirectWrite                               bool    `flag:"read_cache_direct_write,true" help:"direct I/O for its writes" todo:"1"`
	ReadCacheDirectRead                                bool    `flag:"read_cache_direct_read,true" help:"direct I/O for its reads" todo:"1"`
	UseKeepFilter                                      bool    `flag:"use_keep_filter,false" help:"use a compaction filter that keeps everything"`
	VerifyChecksum                                     bool    `flag:"verify_checksum,true" help:"ReadOptions::verify_checksums"`
	ChecksumType                                       int32   `flag:"checksum_type,4" help:"BlockBasedTableOptions::checksum as a number"`
	Statistics                                         bool    `flag:"statistics,false" help:"collect statistics and print them at the end"`
	StatsLevel                                         int32   `flag:"stats_level,3" help:"StatsLevel as a number"`
	StatisticsString                                   string  `flag:"statistics_string," help:"statistics object to make, from the registry"`
	Writes                                             int64   `flag:"writes,-1" help:"write operations; negative means num"`
	FinishAfterWrites                                  bool    `flag:"finish_after_writes,false" help:"background writers end after writes operations"`
	Sync                                               bool    `flag:"sync,false" help:"sync every write"`
	UseFsync                                           bool    `flag:"use_fsync,false" help:"DBOptions::use_fsync"`
	DisableWAL                                         bool    `flag:"disable_wal,false" help:"WriteOptions::disableWAL"`
	ManualWALFlush                                     bool    `flag:"manual_wal_flush,false" help:"DBOptions::manual_wal_flush"`
	WALCompression                                     string  `flag:"wal_compression,none" help:"compression of the log"`
	WALDir                                             string  `flag:"wal_dir," help:"directory of the log"`
	TruthDB                                            string  `flag:"truth_db,/dev/shm/truth_db/dbbench" help:"database that verify compares with"`
	NumLevels                                          int32   `flag:"num_levels,7" help:"ColumnFamilyOptions::num_levels"`
	TargetFileSizeBase                                 int64   `flag:"target_file_size_base,67108864" help:"ColumnFamilyOptions::target_file_size_base"`
	TargetFileSizeMultiplier                           int32   `flag:"target_file_size_multiplier,1" help:"ColumnFamilyOptions::target_file_size_multiplier"`
	MaxBytesForLevelBase                               uint64  `flag:"max_bytes_for_level_base,268435456" help:"ColumnFamilyOptions::max_bytes_for_level_base"`
	LevelCompactionDynamicLevelBytes                   bool    `flag:"level_compaction_dynamic_level_bytes,false" help:"ColumnFamilyOptions::level_compaction_dynamic_level_bytes"`
	MaxBytesForLevelMultiplier                         float64 `flag:"max_bytes_for_level_multiplier,10" help:"ColumnFamilyOptions::max_bytes_for_level_multiplier"`
	MaxBytesForLevelMultiplierAdditional               string  `flag:"max_bytes_for_level_multiplier_additional," help:"further multipliers by level, comma-separated"`
	Level0StopWritesTrigger                            int32   `flag:"level0_stop_writes_trigger,36" help:"ColumnFamilyOptions::level0_stop_writes_trigger"`
	Level0SlowdownWritesTrigger                        int32   `flag:"level0_slowdown_writes_trigger,20" help:"ColumnFamilyOptions::level0_slowdown_writes_trigger"`
	Level0FileNumCompactionTrigger                     int32   `flag:"level0_file_num_compaction_trigger,4" help:"ColumnFamilyOptions::level0_file_num_compaction_trigger"`
	PeriodicCompactionSeconds                          uint64  `flag:"periodic_compaction_seconds,18446744073709551614" help:"ColumnFamilyOptions::periodic_compaction_seconds"`
	TTLSeconds                                         uint64  `flag:"ttl_seconds,18446744073709551614" help:"ColumnFamilyOptions::ttl"`
	Readwritepercent                                   int32   `flag:"readwritepercent,90" help:"percentage of reads in readrandomwriterandom and randomwithverify"`
	Mergereadpercent                                   int32   `flag:"mergereadpercent,70" help:"percentage of merges in readrandommergerandom"`
	Deletepercent                                      int32   `flag:"deletepercent,2" help:"percentage of deletes in randomwithverify"`
	OptimizeFiltersForHits                             bool    `flag:"optimize_filters_for_hits,false" help:"ColumnFamilyOptions::optimize_filters_for_hits"`
	ParanoidChecks                                     bool    `flag:"paranoid_checks,true" help:"DBOptions::paranoid_checks"`
	ForceConsistencyChecks                             bool    `flag:"force_consistency_checks,true" help:"ColumnFamilyOptions::force_consistency_checks"`
	DeleteObsoleteFilesPeriodMicros                    uint64  `flag:"delete_obsolete_files_period_micros,0" help:"unused; kept for old command lines"`
	WritesBeforeDeleteRange                            int64   `flag:"writes_before_delete_range,0" help:"writes before the first range deletion"`
	WritesPerRangeTombstone                            int64   `flag:"writes_per_range_tombstone,0" help:"writes between range deletions; 0 for none"`
	RangeTombstoneWidth                                int64   `flag:"range_tombstone_width,100" help:"keys a range deletion covers"`
	MaxNumRangeTombstones                              int64   `flag:"max_num_range_tombstones,0" help:"most range deletions"`
	ExpandRangeTombstones                              bool    `flag:"expand_range_tombstones,false" help:"delete the keys of a range one by one"`
	OptimisticTransactionDB                            bool    `flag:"optimistic_transaction_db,false" help:"open an OptimisticTransactionDB" todo:"1"`
	TransactionDB                                      bool    `flag:"transaction_db,false" help:"open a TransactionDB" todo:"1"`
	TransactionSets                                    uint64  `flag:"transaction_sets,2" help:"key sets of randomtransaction" todo:"1"`
	TransactionSetSnapshot                             bool    `flag:"transaction_set_snapshot,false" help:"set snapshots in transactions" todo:"1"`
	TransactionSleep                                   int32   `flag:"transaction_sleep,0" help:"microseconds between a transaction's reads and writes" todo:"1"`
	TransactionLockTimeout                             uint64  `flag:"transaction_lock_timeout,100" help:"milliseconds to wait for locks" todo:"1"`
	OptionsFile                                        string  `flag:"options_file," help:"OPTIONS file to take all options from"`
	FIFOCompactionMaxTableFilesSizeMB                  uint64  `flag:"fifo_compaction_max_table_files_size_mb,0" help:"CompactionOptionsFIFO::max_table_files_size in MiB"`
	FIFOCompactionAllowCompaction                      bool    `flag:"fifo_compaction_allow_compaction,true" help:"CompactionOptionsFIFO::allow_compaction"`
	FIFOCompactionTTL                                  uint64  `flag:"fifo_compaction_ttl,0" help:"unused: ttl_seconds wins"`
	FIFOAgeForWarm                                     uint64  `flag:"fifo_age_for_warm,0" help:"CompactionOptionsFIFO::age_for_warm"`
	FIFOCompactionMaxDataFilesSizeMB                   uint64  `flag:"fifo_compaction_max_data_files_size_mb,0" help:"CompactionOptionsFIFO::max_data_files_size in MiB"`
	FIFOCompactionUseKVRatioCompaction                 bool    `flag:"fifo_compaction_use_kv_ratio_compaction,false" help:"CompactionOptionsFIFO::use_kv_ratio_compaction"`
	UseBlobDB                                          bool    `flag:"use_blob_db,false" help:"open a stacked BlobDB" todo:"1"`
	BlobDBEnableGC                                     bool    `flag:"blob_db_enable_gc,false" help:"stacked BlobDB: collect garbage" todo:"1"`
	BlobDBMaxDBSize                                    uint64  `flag:"blob_db_max_db_size,0" help:"stacked BlobDB: bytes of the whole database" todo:"1"`
	BlobDBMaxTTLRange                                  uint64  `flag:"blob_db_max_ttl_range,0" help:"stacked BlobDB: longest random TTL" todo:"1"`
	BlobDBTTLRangeSecs                                 uint64  `flag:"blob_db_ttl_range_secs,3600" help:"stacked BlobDB: TTL range of a file" todo:"1"`
	BlobDBFileSize                                     uint64  `flag:"blob_db_file_size,268435456" help:"stacked BlobDB: bytes of a file" todo:"1"`
	EnableBlobFiles                                    bool    `flag:"enable_blob_files,false" help:"ColumnFamilyOptions::enable_blob_files"`
	EnableBlobDirectWrite                              bool    `flag:"enable_blob_direct_write,false" help:"ColumnFamilyOptions::enable_blob_direct_write"`
	BlobDirectWritePartitions                          uint64  `flag:"blob_direct_write_partitions,1" help:"ColumnFamilyOptions::blob_direct_write_partitions"`
	MinBlobSize                                        uint64  `flag:"min_blob_size,0" help:"ColumnFamilyOptions::min_blob_size"`
	BlobFileSize                                       uint64  `flag:"blob_file_size,268435456" help:"ColumnFamilyOptions::blob_file_size"`
	BlobCompressionType                                string  `flag:"blob_compression_type,none" help:"compression of blobs"`
	EnableBlobGarbageCollection                        bool    `flag:"enable_blob_garbage_collection,false" help:"ColumnFamilyOptions::enable_blob_garbage_collection"`
	BlobGarbageCollectionAgeCutoff                     float64 `flag:"blob_garbage_collection_age_cutoff,0.25" help:"ColumnFamilyOptions::blob_garbage_collection_age_cutoff"`
	BlobGarbageCollectionForceThreshold                float64 `flag:"blob_garbage_collection_force_threshold,1" help:"ColumnFamilyOptions::blob_garbage_collection_force_threshold"`
	BlobCompactionReadaheadSize                        uint64  `flag:"blob_compaction_readahead_size,0" help:"ColumnFamilyOptions::blob_compaction_readahead_size"`
	ReadTriggeredCompactionThreshold                   float64 `flag:"read_triggered_compaction_threshold,0" help:"ColumnFamilyOptions::read_triggered_compaction_threshold"`
	BlobFileStartingLevel                              int32   `flag:"blob_file_starting_level,0" help:"ColumnFamilyOptions::blob_file_starting_level"`
	UseBlobCache                                       bool    `flag:"use_blob_cache,false" help:"cache blobs"`
	UseSharedBlockAndBlobCache                         bool    `flag:"use_shared_block_and_blob_cache,true" help:"use the block cache for blobs"`
	BlobCacheSize                                      uint64  `flag:"blob_cache_size,8388608" help:"bytes of a blob cache of its own"`
	BlobCacheNumshardbits                              int32   `flag:"blob_cache_numshardbits,6" help:"log2 of its shards"`
	PrepopulateBlobCache                               int32   `flag:"prepopulate_blob_cache,0" help:"0 disabled, 1 on flush"`
	EmbeddedBlobMinSize                                uint64  `flag:"embedded_blob_min_size,2048" help:"least bytes of an embedded blob"`
	NumWideColumns                                     int32   `flag:"num_wide_columns,4" help:"large columns of an entity"`
	NumShortWideColumns                                int32   `flag:"num_short_wide_columns,1" help:"small columns of an entity"`
	UseSecondaryDB                                     bool    `flag:"use_secondary_db,false" help:"open as a secondary instance" todo:"1"`
	SecondaryPath                                      string  `flag:"secondary_path," help:"directory of the secondary instance" todo:"1"`
	SecondaryUpdateInterval                            int32   `flag:"secondary_update_interval,5" help:"seconds between its updates" todo:"1"`
	OpenAsFollower                                     bool    `flag:"open_as_follower,false" help:"open as a follower" todo:"1"`
	LeaderPath                                         string  `flag:"leader_path," help:"directory of the leader" todo:"1"`
	ReportBGIOStats                                    bool    `flag:"report_bg_io_stats,false" help:"ColumnFamilyOptions::report_bg_io_stats"`
	UseStderrInfoLogger                                bool    `flag:"use_stderr_info_logger,false" help:"write the info log to standard error"`
	TraceFile                                          string  `flag:"trace_file," help:"file to trace operations to, or to replay"`
	TraceReplayFastForward                             float64 `flag:"trace_replay_fast_forward,1.0" help:"speed of a replay"`
	BlockCacheTraceSamplingFrequency                   int32   `flag:"block_cache_trace_sampling_frequency,1" help:"one block access in that many is traced"`
	BlockCacheTraceMaxTraceFileSizeInBytes             int64   `flag:"block_cache_trace_max_trace_file_size_in_bytes,68719476736" help:"most bytes of the block cache trace"`
	BlockCacheTraceFile                                string  `flag:"block_cache_trace_file," help:"file to trace block cache accesses to"`
	TraceReplayThreads                                 int32   `flag:"trace_replay_threads,1" help:"threads of a replay"`
	IOUringEnabled                                     bool    `flag:"io_uring_enabled,true" help:"allow io_uring"`
	AdaptiveReadahead                                  bool    `flag:"adaptive_readahead,false" help:"ReadOptions::adaptive_readahead"`
	RateLimitUserOps                                   bool    `flag:"rate_limit_user_ops,false" help:"charge user operations to the rate limiter"`
	FileChecksum                                       bool    `flag:"file_checksum,false" help:"make CRC32C checksums of whole files"`
	RateLimitAutoWALFlush                              bool    `flag:"rate_limit_auto_wal_flush,false" help:"charge log flushes of writes to the rate limiter"`
	AsyncIO                                            bool    `flag:"async_io,false" help:"ReadOptions::async_io"`
	OptimizeMultigetForIO                              bool    `flag:"optimize_multiget_for_io,true" help:"ReadOptions::optimize_multiget_for_io"`
	ChargeCompressionDictionaryBuildingBuffer          bool    `flag:"charge_compression_dictionary_building_buffer,false" help:"charge dictionary buffers to the block cache"`
	ChargeFilterConstruction                           bool    `flag:"charge_filter_construction,false" help:"charge filter construction to the block cache"`
	ChargeTableReader                                  bool    `flag:"charge_table_reader,false" help:"charge table readers to the block cache"`
	ChargeFileMetadata                                 bool    `flag:"charge_file_metadata,false" help:"charge file metadata to the block cache"`
	ChargeBlobCache                                    bool    `flag:"charge_blob_cache,false" help:"charge the blob cache to the block cache"`
	BackupRateLimit                                    uint64  `flag:"backup_rate_limit,0" help:"bytes a second of backups" todo:"1"`
	RestoreRateLimit                                   uint64  `flag:"restore_rate_limit,0" help:"bytes a second of restores" todo:"1"`
	BackupDir                                          string  `flag:"backup_dir," help:"directory of backups" todo:"1"`
	RestoreDir                                         string  `flag:"restore_dir," help:"directory to restore to" todo:"1"`
	IngestExternalFileBatchSize                        int32   `flag:"ingest_external_file_batch_size,10" help:"files of an ingestion"`
	IngestExternalFileNumBatches                       int32   `flag:"ingest_external_file_num_batches,1" help:"ingestions"`
	IngestExternalFileFileOpeningThreads               int32   `flag:"ingest_external_file_file_opening_threads,1" help:"threads that open ingested files"`
	IngestExternalFileUseFileInfo                      bool    `flag:"ingest_external_file_use_file_info,false" help:"give the writer's metadata to the ingestion"`
	IngestExternalFileFillCache                        bool    `flag:"ingest_external_file_fill_cache,true" help:"ingestion fills the block cache"`
	IngestExternalFilePrefetchLmaxIndexAndFilterBlocks bool    `flag:"ingest_external_file_prefetch_lmax_index_and_filter_blocks,true" help:"ingestion prefetches index and filters"`
	InitialAutoReadaheadSize                           uint64  `flag:"initial_auto_readahead_size,8192" help:"BlockBasedTableOptions::initial_auto_readahead_size"`
	MaxAutoReadaheadSize                               uint64  `flag:"max_auto_readahead_size,262144" help:"BlockBasedTableOptions::max_auto_readahead_size"`
	NumFileReadsForAutoReadahead                       uint64  `flag:"num_file_reads_for_auto_readahead,2" help:"BlockBasedTableOptions::num_file_reads_for_auto_readahead"`
	AutoReadaheadSize                                  bool    `flag:"auto_readahead_size,false" help:"ReadOptions::auto_readahead_size"`
	ParanoidMemoryChecks                               bool    `flag:"paranoid_memory_checks,false" help:"ColumnFamilyOptions::paranoid_memory_checks"`
	MemtableVerifyPerKeyChecksumOnSeek                 bool    `flag:"memtable_verify_per_key_checksum_on_seek,false" help:"ColumnFamilyOptions::memtable_verify_per_key_checksum_on_seek"`
	AutoRefreshIteratorWithSnapshot                    bool    `flag:"auto_refresh_iterator_with_snapshot,false" help:"ReadOptions::auto_refresh_iterator_with_snapshot"`
	ExplicitSnapshot                                   bool    `flag:"explicit_snapshot,false" help:"read through a snapshot"`
	MemtableOpScanFlushTrigger                         uint32  `flag:"memtable_op_scan_flush_trigger,0" help:"ColumnFamilyOptions::memtable_op_scan_flush_trigger"`
	MinTombstonesForRangeConversion                    uint32  `flag:"min_tombstones_for_range_conversion,0" help:"ColumnFamilyOptions::min_tombstones_for_range_conversion"`
	VerifyCompression                                  bool    `flag:"verify_compression,false" help:"BlockBasedTableOptions::verify_compression"`
	TolerateIOErrorsForRemoteDbs                       bool    `flag:"tolerate_io_errors_for_remote_dbs,false" help:"go on after I/O errors of remote file systems" todo:"1"`
	CompressionType                                    string  `flag:"compression_type,snappy" help:"none, snappy, zlib, bzip2, lz4, lz4hc, xpress or zstd"`
	SampleForCompression                               int64   `flag:"sample_for_compression,0" help:"ColumnFamilyOptions::sample_for_compression"`
	CompressionLevel                                   int32   `flag:"compression_level,32767" help:"CompressionOptions::level"`
	CompressionMaxDictBytes                            int32   `flag:"compression_max_dict_bytes,0" help:"CompressionOptions::max_dict_bytes"`
	CompressionZSTDMaxTrainBytes                       int32   `flag:"compression_zstd_max_train_bytes,0" help:"CompressionOptions::zstd_max_train_bytes"`
	MinLevelToCompress                                 int32   `flag:"min_level_to_compress,-1" help:"first level that is compressed; negative for all"`
	CompressionParallelThreads                         int32   `flag:"compression_parallel_threads,1" help:"CompressionOptions::parallel_threads"`
	CompressionMaxDictBufferBytes                      uint64  `flag:"compression_max_dict_buffer_bytes,0" help:"CompressionOptions::max_dict_buffer_bytes"`
	CompressionUseZSTDDictTrainer                      bool    `flag:"compression_use_zstd_dict_trainer,true" help:"CompressionOptions::use_zstd_dict_trainer"`
	TableCacheNumshardbits                             int32   `flag:"table_cache_numshardbits,4" help:"DBOptions::table_cache_numshardbits"`
	EnvURI                                             string  `flag:"env_uri," help:"environment to use, from the registry"`
	FSURI                                              string  `flag:"fs_uri," help:"file system to use, from the registry"`
	SimulateHybridFSFile                               string  `flag:"simulate_hybrid_fs_file," help:"file naming the warm files of a simulated hybrid file system" todo:"1"`
	SimulateHybridHDDMultipliers                       int32   `flag:"simulate_hybrid_hdd_multipliers,1" help:"its throughput multiplier" todo:"1"`
	SimulateHDD                                        bool    `flag:"simulate_hdd,false" help:"simulate a disk" todo:"1"`
	FaultInjectionReadAfterReads                       int64   `flag:"fault_injection_read_after_reads,0" help:"reads fail after that many; 0 never" todo:"1"`
	PrecludeLastLevelDataSeconds                       int64   `flag:"preclude_last_level_data_seconds,0" help:"ColumnFamilyOptions::preclude_last_level_data_seconds"`
	PreserveInternalTimeSeconds                        int64   `flag:"preserve_internal_time_seconds,0" help:"ColumnFamilyOptions::preserve_internal_time_seconds"`
	StatsInterval                                      int64   `flag:"stats_interval,0" help:"operations between reports; 0 grows the interval"`
	StatsIntervalSeconds                               int64   `flag:"stats_interval_seconds,0" help:"seconds between reports; wins over stats_interval"`
	StatsPerInterval                                   int32   `flag:"stats_per_interval,0" help:"print database statistics with each report"`
	SlowUsecs                                          uint64  `flag:"slow_usecs,1000000" help:"report operations that took longer, microseconds"`
	ReportIntervalSeconds                              int64   `flag:"report_interval_seconds,0" help:"seconds between lines of report_file; 0 for none"`
	ReportFile                                         string  `flag:"report_file,report.csv" help:"CSV file of operations by interval"`
	ThreadStatusPerInterval                            int32   `flag:"thread_status_per_interval,0" help:"print thread states with each report"`
	PerfLevel                                          int32   `flag:"perf_level,1" help:"PerfLevel as a number"`
	SoftPendingCompactionBytesLimit                    uint64  `flag:"soft_pending_compaction_bytes_limit,68719476736" help:"ColumnFamilyOptions::soft_pending_compaction_bytes_limit"`
	HardPendingCompactionBytesLimit                    uint64  `flag:"hard_pending_compaction_bytes_limit,137438953472" help:"ColumnFamilyOptions::hard_pending_compaction_bytes_limit"`
	DelayedWriteRate                                   uint64  `flag:"delayed_write_rate,8388608" help:"DBOptions::delayed_write_rate"`
	EnablePipelinedWrite                               bool    `flag:"enable_pipelined_write,true" help:"DBOptions::enable_pipelined_write"`
	UnorderedWrite                                     bool    `flag:"unordered_write,false" help:"DBOptions::unordered_write"`
	AllowConcurrentMemtableWrite                       bool    `flag:"allow_concurrent_memtable_write,true" help:"DBOptions::allow_concurrent_memtable_write"`
	ExperimentalMempurgeThreshold                      float64 `flag:"experimental_mempurge_threshold,0.0" help:"ColumnFamilyOptions::experimental_mempurge_threshold"`
	InplaceUpdateSupport                               bool    `flag:"inplace_update_support,false" help:"ColumnFamilyOptions::inplace_update_support"`
	InplaceUpdateNumLocks                              uint64  `flag:"inplace_update_num_locks,10000" help:"ColumnFamilyOptions::inplace_update_num_locks"`
	EnableWriteThreadAdaptiveYield                     bool    `flag:"enable_write_thread_adaptive_yield,true" help:"DBOptions::enable_write_thread_adaptive_yield"`
	WriteThreadMaxYieldUsec                            uint64  `flag:"write_thread_max_yield_usec,100" help:"DBOptions::write_thread_max_yield_usec"`
	WriteThreadSlowYieldUsec                           uint64  `flag:"write_thread_slow_yield_usec,3" help:"DBOptions::write_thread_slow_yield_usec"`
	RateLimiterBytesPerSec                             uint64  `flag:"rate_limiter_bytes_per_sec,0" help:"bytes a second of DBOptions::rate_limiter; 0 for none"`
	RateLimiterRefillPeriodUs                          int64   `flag:"rate_limiter_refill_period_us,100000" help:"its refill period, microseconds"`
	RateLimiterAutoTuned                               bool    `flag:"rate_limiter_auto_tuned,false" help:"let it adjust itself"`
	RateLimiterSingleBurstBytes                        int64   `flag:"rate_limiter_single_burst_bytes,0" help:"its burst"`
	SineWriteRate                                      bool    `flag:"sine_write_rate,false" help:"write rate follows a sine"`
	SineWriteRateIntervalMilliseconds                  uint64  `flag:"sine_write_rate_interval_milliseconds,10000" help:"milliseconds between its changes"`
	SineA                                              float64 `flag:"sine_a,1" help:"a of a * sin(b * x + c) + d"`
	SineB                                              float64 `flag:"sine_b,1" help:"b of a * sin(b * x + c) + d"`
	SineC                                              float64 `flag:"sine_c,0" help:"c of a * sin(b * x + c) + d"`
	SineD                                              float64 `flag:"sine_d,1" help:"d of a * sin(b * x + c) + d"`
	RateLimitBGReads                                   bool    `flag:"rate_limit_bg_reads,false" help:"the rate limiter limits reads"`
	BenchmarkWriteRateLimit                            uint64  `flag:"benchmark_write_rate_limit,0" help:"bytes a second of benchmark writes; 0 for no limit"`
	KeyrangeDistA                                      float64 `flag:"keyrange_dist_a,0.0" help:"mixgraph: parameter of key ranges"`
	KeyrangeDistB                                      float64 `flag:"keyrange_dist_b,0.0" help:"mixgraph: parameter of key ranges"`
	KeyrangeDistC                                      float64 `flag:"keyrange_dist_c,0.0" help:"mixgraph: parameter of key ranges"`
	KeyrangeDistD                                      float64 `flag:"keyrange_dist_d,0.0" help:"mixgraph: parameter of key ranges"`
	KeyrangeNum                                        int64   `flag:"keyrange_num,1" help:"mixgraph: key ranges"`
	KeyDistA                                           float64 `flag:"key_dist_a,0.0" help:"mixgraph: parameter of keys"`
	KeyDistB                                           float64 `flag:"key_dist_b,0.0" help:"mixgraph: parameter of keys"`
	ValueTheta                                         float64 `flag:"value_theta,0.0" help:"mixgraph: parameter of value sizes"`
	ValueK                                             float64 `flag:"value_k,0.2615" help:"mixgraph: parameter of value sizes"`
	ValueSigma                                         float64 `flag:"value_sigma,25.45" help:"mixgraph: parameter of value sizes"`
	IterTheta                                          float64 `flag:"iter_theta,0.0" help:"mixgraph: parameter of scan lengths"`
	IterK                                              float64 `flag:"iter_k,2.517" help:"mixgraph: parameter of scan lengths"`
	IterSigma                                          float64 `flag:"iter_sigma,14.236" help:"mixgraph: parameter of scan lengths"`
	MixGetRatio                                        float64 `flag:"mix_get_ratio,1.0" help:"mixgraph: share of gets"`
	MixPutRatio                                        float64 `flag:"mix_put_ratio,0.0" help:"mixgraph: share of puts"`
	MixSeekRatio                                       float64 `flag:"mix_seek_ratio,0.0" help:"mixgraph: share of seeks"`
	MixMaxScanLen                                      int64   `flag:"mix_max_scan_len,10000" help:"mixgraph: longest scan"`
	MixMaxValueSize                                    int64   `flag:"mix_max_value_size,1024" help:"mixgraph: largest value"`
	SineMixRateNoise                                   float64 `flag:"sine_mix_rate_noise,0.0" help:"mixgraph: noise of the rate"`
	SineMixRate                                        bool    `flag:"sine_mix_rate,false" help:"mixgraph: rate follows a sine"`
	SineMixRateIntervalMilliseconds                    uint64  `flag:"sine_mix_rate_interval_milliseconds,10000" help:"mixgraph: milliseconds between its changes"`
	MixAccesses                                        int64   `flag:"mix_accesses,-1" help:"unused; kept for old command lines"`
	BenchmarkReadRateLimit                             uint64  `flag:"benchmark_read_rate_limit,0" help:"benchmark reads a second; 0 for no limit"`
	MaxCompactionBytes                                 uint64  `flag:"max_compaction_bytes,0" help:"ColumnFamilyOptions::max_compaction_bytes"`
	Readonly                                           bool    `flag:"readonly,false" help:"open read-only"`
	PrintMallocStats                                   bool    `flag:"print_malloc_stats,false" help:"print the allocator's statistics at the end" todo:"1"`
	DisableAutoCompactions                             bool    `flag:"disable_auto_compactions,false" help:"ColumnFamilyOptions::disable_auto_compactions"`
	OpenFilesAsync                                     bool    `flag:"open_files_async,false" help:"DBOptions::open_files_async"`
	SkipStatsUpdateOnDBOpen                            bool    `flag:"skip_stats_update_on_db_open,false" help:"DBOptions::skip_stats_update_on_db_open"`
	WALTTLSeconds                                      uint64  `flag:"wal_ttl_seconds,0" help:"DBOptions::WAL_ttl_seconds"`
	WALSizeLimitMB                                     uint64  `flag:"wal_size_limit_MB,0" help:"DBOptions::WAL_size_limit_MB"`
	MaxTotalWALSize                                    uint64  `flag:"max_total_wal_size,0" help:"DBOptions::max_total_wal_size"`
	MmapRead                                           bool    `flag:"mmap_read,false" help:"DBOptions::allow_mmap_reads"`
	MmapWrite                                          bool    `flag:"mmap_write,false" help:"DBOptions::allow_mmap_writes"`
	UseDirectReads                                     bool    `flag:"use_direct_reads,false" help:"DBOptions::use_direct_reads"`
	UseDirectIOForCompactionReads                      bool    `flag:"use_direct_io_for_compaction_reads,false" help:"DBOptions::use_direct_io_for_compaction_reads"`
	UseDirectIOForFlushAndCompaction                   bool    `flag:"use_direct_io_for_flush_and_compaction,false" help:"DBOptions::use_direct_io_for_flush_and_compaction"`
	AdviseRandomOnOpen                                 bool    `flag:"advise_random_on_open,true" help:"DBOptions::advise_random_on_open"`
	UseTailingIterator                                 bool    `flag:"use_tailing_iterator,false" help:"ReadOptions::tailing"`
	UseAdaptiveMutex                                   bool    `flag:"use_adaptive_mutex,false" help:"DBOptions::use_adaptive_mutex"`
	BytesPerSync                                       uint64  `flag:"bytes_per_sync,0" help:"DBOptions::bytes_per_sync"`
	WALBytesPerSync                                    uint64  `flag:"wal_bytes_per_sync,0" help:"DBOptions::wal_bytes_per_sync"`
	UseSingleDeletes                                   bool    `flag:"use_single_deletes,true" help:"randomreplacekeys uses SingleDelete"`
	Stddev                                             float64 `flag:"stddev,2000.0" help:"randomreplacekeys: standard deviation of keys"`
	KeyIDRange                                         int32   `flag:"key_id_range,100000" help:"timeseries: number of ids"`
	ExpireStyle                                        string  `flag:"expire_style,none" help:"timeseries: none, delete or compaction_filter"`
	TimeRange                                          uint64  `flag:"time_range,100000" help:"timeseries: age at which entries expire"`
	NumDeletionThreads                                 int32   `flag:"num_deletion_threads,1" help:"timeseries: workers that delete"`
	MaxSuccessiveMerges                                int32   `flag:"max_successive_merges,0" help:"ColumnFamilyOptions::max_successive_merges"`
	StrictMaxSuccessiveMerges                          bool    `flag:"strict_max_successive_merges,false" help:"ColumnFamilyOptions::strict_max_successive_merges"`
	PrefixSize                                         int32   `flag:"prefix_size,0" help:"bytes of a key's prefix; 0 for none"`
	KeysPerPrefix                                      int64   `flag:"keys_per_prefix,0" help:"keys that share a prefix; 0 for random ones"`
	TotalOrderSeek                                     bool    `flag:"total_order_seek,false" help:"ReadOptions::total_order_seek"`
	PrefixSameAsStart                                  bool    `flag:"prefix_same_as_start,false" help:"ReadOptions::prefix_same_as_start"`
	SeekMissingPrefix                                  bool    `flag:"seek_missing_prefix,false" help:"seek to prefixes that are not there"`
	MemtableInsertWithHintPrefixSize                   int32   `flag:"memtable_insert_with_hint_prefix_size,0" help:"prefix length of memtable insert hints; 0 for none"`
	EnableIOPrio                                       bool    `flag:"enable_io_prio,false" help:"lower the I/O priority of background threads"`
	EnableCPUPrio                                      bool    `flag:"enable_cpu_prio,false" help:"lower the CPU priority of background threads"`
	IdentityAsFirstHash                                bool    `flag:"identity_as_first_hash,false" help:"cuckoo tables: the key is the first hash"`
	DumpMallocStats                                    bool    `flag:"dump_malloc_stats,true" help:"DBOptions::dump_malloc_stats"`
	StatsDumpPeriodSec                                 uint64  `flag:"stats_dump_period_sec,600" help:"DBOptions::stats_dump_period_sec"`
	MaxCompactionTriggerWakeupSeconds                  uint64  `flag:"max_compaction_trigger_wakeup_seconds,43200" help:"DBOptions::max_compaction_trigger_wakeup_seconds"`
	StatsPersistPeriodSec                              uint64  `flag:"stats_persist_period_sec,600" help:"DBOptions::stats_persist_period_sec"`
	PersistStatsToDisk                                 bool    `flag:"persist_stats_to_disk,false" help:"DBOptions::persist_stats_to_disk"`
	StatsHistoryBufferSize                             uint64  `flag:"stats_history_buffer_size,1048576" help:"DBOptions::stats_history_buffer_size"`
	AvoidFlushDuringRecovery                           bool    `flag:"avoid_flush_during_recovery,false" help:"DBOptions::avoid_flush_during_recovery"`
	AvoidFlushDuringShutdown                           bool    `flag:"avoid_flush_during_shutdown,false" help:"DBOptions::avoid_flush_during_shutdown"`
	MultireadStride                                    int64   `flag:"multiread_stride,0" help:"keys between the keys of a MultiGet; 0 takes random ones"`
	MultireadBatched                                   bool    `flag:"multiread_batched,false" help:"use the batched MultiGet"`
	CoroJobsPerThread                                  int32   `flag:"coro_jobs_per_thread,1" help:"coroutines of a thread" todo:"1"`
	Memtablerep                                        string  `flag:"memtablerep,skip_list" help:"skip_list, prefix_hash, hash_linkedlist, vector, or a registered name"`
	HashBucketCount                                    int64   `flag:"hash_bucket_count,1048576" help:"buckets of hash memtables"`
	UsePlainTable                                      bool    `flag:"use_plain_table,false" help:"write plain tables"`
	UseCuckooTable                                     bool    `flag:"use_cuckoo_table,false" help:"write cuckoo tables"`
	CuckooHashRatio                                    float64 `flag:"cuckoo_hash_ratio,0.9" help:"CuckooTableOptions::hash_table_ratio"`
	UseHashSearch                                      bool    `flag:"use_hash_search,false" help:"index blocks by prefix hashes"`
	IndexBlockSearchType                               string  `flag:"index_block_search_type,binary_search" help:"binary_search, interpolation_search or auto_search"`
	MergeOperator                                      string  `flag:"merge_operator," help:"merge operator to use, from the registry"`
	SkipListLookahead                                  int32   `flag:"skip_list_lookahead,0" help:"lookahead of the skip list memtable"`
	ReportFileOperations                               bool    `flag:"report_file_operations,false" help:"print counts of file operations" todo:"1"`
	ReportOpenTiming                                   bool    `flag:"report_open_timing,false" help:"print how long opening took"`
	ReadaheadSize                                      int32   `flag:"readahead_size,0" help:"ReadOptions::readahead_size"`
	ReadWithLatestUserTimestamp                        bool    `flag:"read_with_latest_user_timestamp,true" help:"read at the newest timestamp"`
	CacheURI                                           string  `flag:"cache_uri," help:"block cache to make, from the registry"`
	SecondaryCacheURI                                  string  `flag:"secondary_cache_uri," help:"secondary cache to make, from the registry"`
	DisableSeekCompaction                              int32   `flag:"disable_seek_compaction,0" help:"unused; kept for old command lines"`
	AllowDataInErrors                                  bool    `flag:"allow_data_in_errors,false" help:"DBOptions::allow_data_in_errors"`
	WriteBatchProtectionBytesPerKey                    uint32  `flag:"write_batch_protection_bytes_per_key,0" help:"checksum bytes of each entry of a write batch"`
	MemtableProtectionBytesPerKey                      uint32  `flag:"memtable_protection_bytes_per_key,0" help:"ColumnFamilyOptions::memtable_protection_bytes_per_key"`
	BlockProtectionBytesPerKey                         uint32  `flag:"block_protection_bytes_per_key,0" help:"ColumnFamilyOptions::block_protection_bytes_per_key"`
	BuildInfo                                          bool    `flag:"build_info,false" help:"print how the program was built and exit"`
	TrackAndVerifyWALsInManifest                       bool    `flag:"track_and_verify_wals_in_manifest,false" help:"DBOptions::track_and_verify_wals_in_manifest"`
	TrackAndVerifyWALs                                 bool    `flag:"track_and_verify_wals,false" help:"DBOptions::track_and_verify_wals"`
	AsyncWALPrecreate                                  bool    `flag:"async_wal_precreate,false" help:"DBOptions::async_wal_precreate"`
	SameValuePercentage                                int32   `flag:"same_value_percentage,0" help:"percentage of values that are all the same"`
	UniversalReduceFileLocking                         bool    `flag:"universal_reduce_file_locking,true" help:"CompactionOptionsUniversal::reduce_file_locking"`
	MultiscanCoalesceThreshold                         uint64  `flag:"multiscan_coalesce_threshold,16384" help:"MultiScanArgs::io_coalesce_threshold"`
	MultiscanUseAsyncIO                                bool    `flag:"multiscan_use_async_io,false" help:"MultiScanArgs::use_async_io"`
	IODispatcherMaxPrefetchMemoryBytes                 uint64  `flag:"io_dispatcher_max_prefetch_memory_bytes,0" help:"memory of the I/O dispatcher"`
	MultiscanMaxPrefetchSize                           uint64  `flag:"multiscan_max_prefetch_size,0" help:"MultiScanArgs::max_prefetch_size"`
	UseMultiscan                                       bool    `flag:"use_multiscan,true" help:"multiscanrandom prepares its iterators"`
	OpenandcompactAllowResumption                      bool    `flag:"openandcompact_allow_resumption,false" help:"openandcompact: resume" todo:"1"`
	OpenandcompactTestCancelOnOdd                      bool    `flag:"openandcompact_test_cancel_on_odd,false" help:"openandcompact: cancel odd runs" todo:"1"`
	OpenandcompactCancelAfterMillseconds               uint32  `flag:"openandcompact_cancel_after_millseconds,1" help:"openandcompact: milliseconds before that" todo:"1"`
	FatalShutdownWatchdogSeconds                       uint64  `flag:"fatal_shutdown_watchdog_seconds,180" help:"seconds a shutdown after an error may take; 0 for no limit"`
}
