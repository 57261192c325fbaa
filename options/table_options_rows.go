// Port of the option tables of table/*/*_table_factory.cc: the option table. Rows are in the
// order in which v11.8.1 writes them to an OPTIONS file (the order of its hash
// tables, mutable options first).

package options

import (
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/utilities/registry"
)

// BlockBasedTable has the options of block-based tables.
var BlockBasedTable = NewTable[rocksdb.BlockBasedTableOptions](rocksdb.BlockBasedTableOptionsName,
	F("max_auto_readahead_size", func(o *rocksdb.BlockBasedTableOptions) any { return &o.MaxAutoReadaheadSize }, 0),
	F("initial_auto_readahead_size", func(o *rocksdb.BlockBasedTableOptions) any { return &o.InitialAutoReadaheadSize }, 0),
	F("block_cache", func(o *rocksdb.BlockBasedTableOptions) any { return &o.BlockCache }, CompareNever|DontSerialize).With(Normal, cacheCodec),
	F("fail_if_no_udi_on_open", func(o *rocksdb.BlockBasedTableOptions) any { return &o.FailIfNoUDIOnOpen }, 0),
	F("metadata_cache_options", func(o *rocksdb.BlockBasedTableOptions) any { return &o.MetadataCacheOptions }, 0).With(Normal, &structCodec{name: "metadata_cache_options", table: metadataCacheTable}),
	Old("block_cache_compressed", 0),
	F("pin_top_level_index_and_filter", func(o *rocksdb.BlockBasedTableOptions) any { return &o.PinTopLevelIndexAndFilter }, 0),
	F("super_block_alignment_space_overhead_ratio", func(o *rocksdb.BlockBasedTableOptions) any { return &o.SuperBlockAlignmentSpaceOverheadRatio }, 0),
	F("super_block_alignment_size", func(o *rocksdb.BlockBasedTableOptions) any { return &o.SuperBlockAlignmentSize }, 0),
	F("verify_compression", func(o *rocksdb.BlockBasedTableOptions) any { return &o.VerifyCompression }, 0),
	F("separate_key_value_in_data_block", func(o *rocksdb.BlockBasedTableOptions) any { return &o.SeparateKeyValueInDataBlock }, 0),
	F("num_file_reads_for_auto_readahead", func(o *rocksdb.BlockBasedTableOptions) any { return &o.NumFileReadsForAutoReadahead }, 0),
	F("format_version", func(o *rocksdb.BlockBasedTableOptions) any { return &o.FormatVersion }, 0),
	Old("reserve_table_builder_memory", 0),
	F("use_udi_as_primary_index", func(o *rocksdb.BlockBasedTableOptions) any { return &o.UseUDIAsPrimaryIndex }, 0),
	F("read_amp_bytes_per_bit", func(o *rocksdb.BlockBasedTableOptions) any { return &o.ReadAmpBytesPerBit }, 0).With(Normal, lowUint32Codec{}),
	F("whole_key_filtering", func(o *rocksdb.BlockBasedTableOptions) any { return &o.WholeKeyFiltering }, 0),
	F("prepopulate_block_cache", func(o *rocksdb.BlockBasedTableOptions) any { return &o.PrepopulateBlockCache }, 0),
	F("filter_policy", func(o *rocksdb.BlockBasedTableOptions) any { return &o.FilterPolicy }, 0).With(ByNameAllowFromNull, filterPolicyCodec),
	F("use_delta_encoding", func(o *rocksdb.BlockBasedTableOptions) any { return &o.UseDeltaEncoding }, 0),
	F("optimize_filters_for_memory", func(o *rocksdb.BlockBasedTableOptions) any { return &o.OptimizeFiltersForMemory }, 0),
	F("decouple_partitioned_filters", func(o *rocksdb.BlockBasedTableOptions) any { return &o.DecouplePartitionedFilters }, 0),
	F("partition_filters", func(o *rocksdb.BlockBasedTableOptions) any { return &o.PartitionFilters }, 0),
	F("uniform_cv_threshold", func(o *rocksdb.BlockBasedTableOptions) any { return &o.UniformCVThreshold }, 0),
	F("metadata_block_size", func(o *rocksdb.BlockBasedTableOptions) any { return &o.MetadataBlockSize }, 0),
	Old("index_per_partition", 0),
	F("index_block_restart_interval", func(o *rocksdb.BlockBasedTableOptions) any { return &o.IndexBlockRestartInterval }, 0),
	F("block_size_deviation", func(o *rocksdb.BlockBasedTableOptions) any { return &o.BlockSizeDeviation }, 0),
	F("block_size", func(o *rocksdb.BlockBasedTableOptions) any { return &o.BlockSize }, 0),
	Old("skip_table_builder_flush", 0),
	F("no_block_cache", func(o *rocksdb.BlockBasedTableOptions) any { return &o.NoBlockCache }, 0),
	F("checksum", func(o *rocksdb.BlockBasedTableOptions) any { return &o.Checksum }, 0),
	F("user_defined_index_factory", func(o *rocksdb.BlockBasedTableOptions) any { return &o.UserDefinedIndexFactory }, 0).With(ByNameAllowFromNull, &customCodec[rocksdb.UserDefinedIndexFactory]{kind: registry.KindUserDefinedIndexFactory}),
	F("data_block_hash_table_util_ratio", func(o *rocksdb.BlockBasedTableOptions) any { return &o.DataBlockHashTableUtilRatio }, 0),
	F("enable_index_compression", func(o *rocksdb.BlockBasedTableOptions) any { return &o.EnableIndexCompression }, 0),
	F("index_shortening", func(o *rocksdb.BlockBasedTableOptions) any { return &o.IndexShortening }, 0),
	F("data_block_index_type", func(o *rocksdb.BlockBasedTableOptions) any { return &o.DataBlockIndexType }, 0),
	F("detect_filter_construct_corruption", func(o *rocksdb.BlockBasedTableOptions) any { return &o.DetectFilterConstructCorruption }, 0),
	Old("hash_index_allow_collision", 0),
	F("block_align", func(o *rocksdb.BlockBasedTableOptions) any { return &o.BlockAlign }, 0),
	F("index_block_search_type", func(o *rocksdb.BlockBasedTableOptions) any { return &o.IndexBlockSearchType }, 0),
	F("index_type", func(o *rocksdb.BlockBasedTableOptions) any { return &o.IndexType }, 0),
	F("pin_l0_filter_and_index_blocks_in_cache", func(o *rocksdb.BlockBasedTableOptions) any { return &o.PinL0FilterAndIndexBlocksInCache }, 0),
	F("cache_index_and_filter_blocks", func(o *rocksdb.BlockBasedTableOptions) any { return &o.CacheIndexAndFilterBlocks }, 0),
	Old("reserve_table_reader_memory", 0),
	F("block_restart_interval", func(o *rocksdb.BlockBasedTableOptions) any { return &o.BlockRestartInterval }, 0),
	F("cache_index_and_filter_blocks_with_high_priority", func(o *rocksdb.BlockBasedTableOptions) any { return &o.CacheIndexAndFilterBlocksWithHighPriority }, 0),
	F("flush_block_policy_factory", func(o *rocksdb.BlockBasedTableOptions) any { return &o.FlushBlockPolicyFactory }, CompareNever).With(ByName, flushPolicyCodec),
)

// metadataCacheTable has the pinning of metadata blocks.
var metadataCacheTable = NewTable[rocksdb.MetadataCacheOptions]("MetadataCacheOptions",
	F("unpartitioned_pinning", func(o *rocksdb.MetadataCacheOptions) any { return &o.UnpartitionedPinning }, 0),
	F("partition_pinning", func(o *rocksdb.MetadataCacheOptions) any { return &o.PartitionPinning }, 0),
	F("top_level_index_pinning", func(o *rocksdb.MetadataCacheOptions) any { return &o.TopLevelIndexPinning }, 0),
)

// PlainTable has the options of plain tables.
var PlainTable = NewTable[rocksdb.PlainTableOptions](rocksdb.PlainTableOptionsName,
	F("store_index_in_file", func(o *rocksdb.PlainTableOptions) any { return &o.StoreIndexInFile }, 0),
	F("encoding_type", func(o *rocksdb.PlainTableOptions) any { return &o.EncodingType }, 0),
	F("huge_page_tlb_size", func(o *rocksdb.PlainTableOptions) any { return &o.HugePageTLBSize }, 0),
	F("hash_table_ratio", func(o *rocksdb.PlainTableOptions) any { return &o.HashTableRatio }, 0),
	F("full_scan_mode", func(o *rocksdb.PlainTableOptions) any { return &o.FullScanMode }, 0),
	F("bloom_bits_per_key", func(o *rocksdb.PlainTableOptions) any { return &o.BloomBitsPerKey }, 0),
	F("index_sparseness", func(o *rocksdb.PlainTableOptions) any { return &o.IndexSparseness }, 0),
	F("user_key_len", func(o *rocksdb.PlainTableOptions) any { return &o.UserKeyLen }, 0),
)

// CuckooTable has the options of cuckoo tables.
var CuckooTable = NewTable[rocksdb.CuckooTableOptions](rocksdb.CuckooTableOptionsName,
	F("use_module_hash", func(o *rocksdb.CuckooTableOptions) any { return &o.UseModuleHash }, 0),
	F("identity_as_first_hash", func(o *rocksdb.CuckooTableOptions) any { return &o.IdentityAsFirstHash }, 0),
	F("max_search_depth", func(o *rocksdb.CuckooTableOptions) any { return &o.MaxSearchDepth }, 0),
	F("cuckoo_block_size", func(o *rocksdb.CuckooTableOptions) any { return &o.CuckooBlockSize }, 0),
	F("hash_table_ratio", func(o *rocksdb.CuckooTableOptions) any { return &o.HashTableRatio }, 0),
)
