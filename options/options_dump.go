// Port of options/options.cc: the options in the LOG file.

package options

import (
	"fmt"
	"strings"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
	"github.com/rocksdb-go/rocksdb/util/compression"
)

// dumper writes lines of options.
type dumper struct {
	log    rocksdb.Logger
	header bool
}

// line writes one; truth values are 1 and 0.
func (d dumper) line(format string, args ...any) {
	for i, a := range args {
		if b, ok := a.(bool); ok {
			args[i] = 0
			if b {
				args[i] = 1
			}
		}
	}
	if d.log == nil {
		return
	}
	if d.header {
		d.log.LogHeader(format, args...)
	} else {
		d.log.Logv(rocksdb.InfoLevel, format, args...)
	}
}

func trueFalse(b bool) string { return fmt.Sprint(b) }

func pointerText(p any) string {
	if p == nil {
		return "(nil)"
	}
	if s := fmt.Sprintf("%p", p); strings.HasPrefix(s, "0x") {
		return s
	}
	return fmt.Sprintf("%T", p)
}

func nameOr(c rocksdb.Customizable, none string) string {
	if c == nil {
		return none
	}
	return c.Name()
}

func idOr(c rocksdb.Customizable, none string) string {
	if c == nil {
		return none
	}
	return objectID(c)
}

func compressionName(t rocksdb.CompressionType) string { return compression.CompressionTypeToString(t) }

func prepopulateText(p rocksdb.PrepopulateBlobCache, otherwise string) string {
	if p == rocksdb.PrepopulateBlobCacheFlushOnly {
		return "flush only"
	}
	return otherwise
}

func enumText[T ~uint8](t enumTable[T], v T, unknown string) string {
	if s, ok := t.nameOf(v); ok {
		return s
	}
	return unknown + fmt.Sprint(uint8(v))
}

func multipliersText(m []int) string {
	parts := make([]string, len(m))
	for i := range m {
		parts[i] = fmt.Sprint(m[i])
	}
	return strings.Join(parts, ", ")
}

// DumpColumnFamilyOptions writes the options to log.
func DumpColumnFamilyOptions(o *rocksdb.ColumnFamilyOptions, log rocksdb.Logger) {
	d := dumper{log: log, header: true}
	d.line("              Options.comparator: %s", nameOr(o.Comparator, util.BytewiseComparatorName))
	if o.Comparator != nil && o.Comparator.TimestampSize() > 0 {
		d.line("              Options.persist_user_defined_timestamps: %s", trueFalse(o.PersistUserDefinedTimestamps))
	}
	d.line("          Options.merge_operator: %s", nameOr(o.MergeOperator, "None"))
	d.line("       Options.compaction_filter: %s", nameOr(o.CompactionFilter, "None"))
	d.line("       Options.compaction_filter_factory: %s", nameOr(o.CompactionFilterFactory, "None"))
	d.line(" Options.sst_partitioner_factory: %s", nameOr(o.SstPartitionerFactory, "None"))
	d.line("        Options.memtable_factory: %s", nameOr(o.MemtableFactory, memtableCodec.nilName))
	d.line("           Options.table_factory: %s", nameOr(o.TableFactory, rocksdb.BlockBasedTableName))
	if o.TableFactory != nil {
		d.line("           table_factory options: %s", o.TableFactory.GetPrintableOptions())
	}
	d.line("       Options.write_buffer_size: %d", o.WriteBufferSize)
	d.line(" Options.max_write_buffer_number: %d", o.MaxWriteBufferNumber)
	for i, c := range o.CompressionPerLevel {
		d.line("       Options.compression[%d]: %s", i, compressionName(c))
	}
	if len(o.CompressionPerLevel) == 0 {
		d.line("         Options.compression: %s", compressionName(o.Compression))
	}
	if o.BottommostCompression == rocksdb.DisableCompressionOption {
		d.line("                 Options.bottommost_compression: %s", "Disabled")
	} else {
		d.line("                 Options.bottommost_compression: %s", compressionName(o.BottommostCompression))
	}
	d.line("      Options.prefix_extractor: %s", nameOr(o.PrefixExtractor, "nullptr"))
	d.line("  Options.memtable_insert_with_hint_prefix_extractor: %s", nameOr(o.MemtableInsertWithHintPrefixExtractor, "nullptr"))
	d.line("            Options.num_levels: %d", o.NumLevels)
	d.line("       Options.min_write_buffer_number_to_merge: %d", o.MinWriteBufferNumberToMerge)
	d.line("    Options.max_write_buffer_size_to_maintain: %d", o.MaxWriteBufferSizeToMaintain)
	d.line("           Options.bottommost_compression_opts.window_bits: %d", o.BottommostCompressionOpts.WindowBits)
	d.line("                 Options.bottommost_compression_opts.level: %d", o.BottommostCompressionOpts.Level)
	d.line("              Options.bottommost_compression_opts.strategy: %d", o.BottommostCompressionOpts.Strategy)
	d.line("        Options.bottommost_compression_opts.max_dict_bytes: %d", o.BottommostCompressionOpts.MaxDictBytes)
	d.line("        Options.bottommost_compression_opts.zstd_max_train_bytes: %d", o.BottommostCompressionOpts.ZSTDMaxTrainBytes)
	d.line("        Options.bottommost_compression_opts.parallel_threads: %d", o.BottommostCompressionOpts.ParallelThreads)
	d.line("                 Options.bottommost_compression_opts.enabled: %s", trueFalse(o.BottommostCompressionOpts.Enabled))
	d.line("        Options.bottommost_compression_opts.max_dict_buffer_bytes: %d", o.BottommostCompressionOpts.MaxDictBufferBytes)
	d.line("        Options.bottommost_compression_opts.use_zstd_dict_trainer: %s", trueFalse(o.BottommostCompressionOpts.UseZSTDDictTrainer))
	d.line("           Options.compression_opts.window_bits: %d", o.CompressionOpts.WindowBits)
	d.line("                 Options.compression_opts.level: %d", o.CompressionOpts.Level)
	d.line("              Options.compression_opts.strategy: %d", o.CompressionOpts.Strategy)
	d.line("        Options.compression_opts.max_dict_bytes: %d", o.CompressionOpts.MaxDictBytes)
	d.line("        Options.compression_opts.zstd_max_train_bytes: %d", o.CompressionOpts.ZSTDMaxTrainBytes)
	d.line("        Options.compression_opts.use_zstd_dict_trainer: %s", trueFalse(o.CompressionOpts.UseZSTDDictTrainer))
	d.line("        Options.compression_opts.parallel_threads: %d", o.CompressionOpts.ParallelThreads)
	d.line("                 Options.compression_opts.enabled: %s", trueFalse(o.CompressionOpts.Enabled))
	d.line("        Options.compression_opts.max_dict_buffer_bytes: %d", o.CompressionOpts.MaxDictBufferBytes)
	d.line("     Options.level0_file_num_compaction_trigger: %d", o.Level0FileNumCompactionTrigger)
	d.line("         Options.level0_slowdown_writes_trigger: %d", o.Level0SlowdownWritesTrigger)
	d.line("             Options.level0_stop_writes_trigger: %d", o.Level0StopWritesTrigger)
	d.line("                  Options.target_file_size_base: %d", o.TargetFileSizeBase)
	d.line("            Options.target_file_size_multiplier: %d", o.TargetFileSizeMultiplier)
	d.line("           Options.target_file_size_is_upper_bound: %d", o.TargetFileSizeIsUpperBound)
	d.line("               Options.max_bytes_for_level_base: %d", o.MaxBytesForLevelBase)
	d.line("Options.level_compaction_dynamic_level_bytes: %d", o.LevelCompactionDynamicLevelBytes)
	d.line("         Options.max_bytes_for_level_multiplier: %f", o.MaxBytesForLevelMultiplier)
	for i, m := range o.MaxBytesForLevelMultiplierAdditional {
		d.line("Options.max_bytes_for_level_multiplier_addtl[%d]: %d", i, m)
	}
	d.line("      Options.max_sequential_skip_in_iterations: %d", o.MaxSequentialSkipInIterations)
	d.line("         Options.memtable_op_scan_flush_trigger: %d", o.MemtableOpScanFlushTrigger)
	d.line("     Options.memtable_avg_op_scan_flush_trigger: %d", o.MemtableAvgOpScanFlushTrigger)
	d.line("     Options.min_tombstones_for_range_conversion: %d", o.MinTombstonesForRangeConversion)
	d.line("                   Options.max_compaction_bytes: %d", o.MaxCompactionBytes)
	d.line("                       Options.arena_block_size: %d", o.ArenaBlockSize)
	d.line("  Options.soft_pending_compaction_bytes_limit: %d", o.SoftPendingCompactionBytesLimit)
	d.line("  Options.hard_pending_compaction_bytes_limit: %d", o.HardPendingCompactionBytesLimit)
	d.line("               Options.disable_auto_compactions: %d", o.DisableAutoCompactions)
	d.line("                       Options.compaction_style: %s", enumText(compactionStyles, o.CompactionStyle, "unknown_"))
	d.line("                         Options.compaction_pri: %s", enumText(compactionPris, o.CompactionPri, "unknown_"))
	d.line("Options.compaction_options_universal.size_ratio: %d", o.CompactionOptionsUniversal.SizeRatio)
	d.line("Options.compaction_options_universal.min_merge_width: %d", o.CompactionOptionsUniversal.MinMergeWidth)
	d.line("Options.compaction_options_universal.max_merge_width: %d", o.CompactionOptionsUniversal.MaxMergeWidth)
	d.line("Options.compaction_options_universal.max_size_amplification_percent: %d", o.CompactionOptionsUniversal.MaxSizeAmplificationPercent)
	d.line("Options.compaction_options_universal.compression_size_percent: %d", o.CompactionOptionsUniversal.CompressionSizePercent)
	d.line("Options.compaction_options_universal.stop_style: %s", enumText(compactionStopStyles, o.CompactionOptionsUniversal.StopStyle, "unknown_"))
	d.line("Options.compaction_options_universal.max_read_amp: %d", o.CompactionOptionsUniversal.MaxReadAmp)
	d.line("Options.compaction_options_universal.reduce_file_locking: %d", o.CompactionOptionsUniversal.ReduceFileLocking)
	d.line("Options.compaction_options_fifo.max_table_files_size: %d", o.CompactionOptionsFIFO.MaxTableFilesSize)
	d.line("Options.compaction_options_fifo.allow_compaction: %d", o.CompactionOptionsFIFO.AllowCompaction)
	var collectors strings.Builder
	for _, f := range o.TablePropertiesCollectorFactories {
		collectors.WriteString(f.Name() + "; ")
	}
	d.line("                  Options.table_properties_collectors: %s", collectors.String())
	d.line("                  Options.inplace_update_support: %d", o.InplaceUpdateSupport)
	d.line("                Options.inplace_update_num_locks: %d", o.InplaceUpdateNumLocks)
	d.line("              Options.memtable_prefix_bloom_size_ratio: %f", o.MemtablePrefixBloomSizeRatio)
	d.line("              Options.memtable_whole_key_filtering: %d", o.MemtableWholeKeyFiltering)
	d.line("  Options.memtable_huge_page_size: %d", o.MemtableHugePageSize)
	d.line("                          Options.bloom_locality: %d", o.BloomLocality)
	d.line("                   Options.max_successive_merges: %d", o.MaxSuccessiveMerges)
	d.line("            Options.strict_max_successive_merges: %d", o.StrictMaxSuccessiveMerges)
	d.line("               Options.optimize_filters_for_hits: %d", o.OptimizeFiltersForHits)
	d.line("               Options.paranoid_file_checks: %d", o.ParanoidFileChecks)
	d.line("               Options.force_consistency_checks: %d", o.ForceConsistencyChecks)
	d.line("               Options.report_bg_io_stats: %d", o.ReportBGIOStats)
	d.line("               Options.disallow_memtable_writes: %d", o.DisallowMemtableWrites)
	d.line("                              Options.ttl: %d", o.TTL)
	d.line("         Options.periodic_compaction_seconds: %d", o.PeriodicCompactionSeconds)
	d.line("                       Options.default_temperature: %s", enumText(temperatures, o.DefaultTemperature, "unknown_temperature"))
	d.line(" Options.preclude_last_level_data_seconds: %d", o.PrecludeLastLevelDataSeconds)
	d.line("   Options.preserve_internal_time_seconds: %d", o.PreserveInternalTimeSeconds)
	d.line("                      Options.enable_blob_files: %s", trueFalse(o.EnableBlobFiles))
	d.line("                          Options.min_blob_size: %d", o.MinBlobSize)
	d.line("                         Options.blob_file_size: %d", o.BlobFileSize)
	d.line("                  Options.blob_compression_type: %s", compressionName(o.BlobCompressionType))
	d.line("            Options.blob_compression_opts.level: %d", o.BlobCompressionOpts.Level)
	d.line("         Options.enable_blob_garbage_collection: %s", trueFalse(o.EnableBlobGarbageCollection))
	d.line("     Options.blob_garbage_collection_age_cutoff: %f", o.BlobGarbageCollectionAgeCutoff)
	d.line("Options.blob_garbage_collection_force_threshold: %f", o.BlobGarbageCollectionForceThreshold)
	d.line("         Options.blob_compaction_readahead_size: %d", o.BlobCompactionReadaheadSize)
	d.line("               Options.blob_file_starting_level: %d", o.BlobFileStartingLevel)
	if o.BlobCache != nil {
		d.line("                          Options.blob_cache: %s", o.BlobCache.Name())
		d.line("                          blob_cache options: %s", o.BlobCache.GetPrintableOptions())
		d.line("                          blob_cache prepopulated: %s", prepopulateText(o.PrepopulateBlobCache, "disabled"))
	}
	d.line("        Options.experimental_mempurge_threshold: %f", o.ExperimentalMempurgeThreshold)
	d.line("           Options.memtable_max_range_deletions: %d", o.MemtableMaxRangeDeletions)
	d.line("                 Options.cf_allow_ingest_behind: %s", trueFalse(o.CFAllowIngestBehind))
	d.line("  Options.memtable_batch_lookup_optimization: %s", trueFalse(o.MemtableBatchLookupOptimization))
	d.line("             Options.enable_blob_direct_write: %s", trueFalse(o.EnableBlobDirectWrite))
	d.line("           Options.blob_direct_write_partitions: %d", o.BlobDirectWritePartitions)
}

// DumpDBOptions writes the options to log.
func DumpDBOptions(o *rocksdb.DBOptions, log rocksdb.Logger) {
	i, m := NewImmutableDBOptions(o), NewMutableDBOptions(o)
	i.Dump(log)
	m.Dump(log)
}
