// Port of table/block_based/block_based_table_factory.{h,cc}. Differs: option
// strings are package options' matter; the default block cache is an LRU cache.

package blockbased

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/rocksdb-go/rocksdb/cache"
	"github.com/rocksdb-go/rocksdb/file"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/table"
	"github.com/rocksdb-go/rocksdb/table/format"
	"github.com/rocksdb-go/rocksdb/util"
	"github.com/rocksdb-go/rocksdb/util/compression"
)

// defaultBlockCacheSize is in bytes.
const defaultBlockCacheSize = 32 << 20

// TailPrefetchStats remembers how much of files' ends was needed to open them.
type TailPrefetchStats struct {
	mu struct {
		sync.Mutex
		records []uint64 // a ring
		next    int
	}
}

const tailRecords = 32

// RecordEffectiveSize notes a file's, in bytes.
func (s *TailPrefetchStats) RecordEffectiveSize(n uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.mu.records) < tailRecords {
		s.mu.records = append(s.mu.records, n)
		return
	}
	s.mu.records[s.mu.next] = n
	s.mu.next = (s.mu.next + 1) % tailRecords
}

// GetSuggestedPrefetchSize is the greatest size of which, read for all the
// files remembered, less than an eighth would have been in vain; at most 512
// KiB, and 0 when there is none to remember.
func (s *TailPrefetchStats) GetSuggestedPrefetchSize() uint64 {
	s.mu.Lock()
	sorted := slices.Clone(s.mu.records)
	s.mu.Unlock()
	if len(sorted) == 0 {
		return 0
	}
	slices.Sort(sorted)
	const most = 512 << 10
	n := uint64(len(sorted))
	best, prev, wasted := sorted[0], sorted[0], uint64(0)
	for i := 1; i < len(sorted); i++ {
		read := sorted[i] * n
		wasted += (sorted[i] - prev) * uint64(i)
		if wasted <= read/8 {
			best = sorted[i]
		}
		prev = sorted[i]
	}
	return min(best, most)
}

// BlockBasedTableFactory makes block-based tables. The options may be changed
// through OptionsPtr until PrepareOptions or the first use.
type BlockBasedTableFactory struct {
	opts   rocksdb.BlockBasedTableOptions
	shared *factoryShared
}

// factoryShared is what clones of a factory have in common.
type factoryShared struct {
	tail        TailPrefetchStats
	once        sync.Mutex
	reservation *cache.ConcurrentCacheReservationManager
}

// NewBlockBasedTableFactory makes a factory; nil means the default options.
func NewBlockBasedTableFactory(o *rocksdb.BlockBasedTableOptions) *BlockBasedTableFactory {
	f := &BlockBasedTableFactory{shared: &factoryShared{}}
	if o != nil {
		f.opts = *o
	} else {
		f.opts = rocksdb.DefaultBlockBasedTableOptions()
	}
	f.initializeOptions()
	return f
}

// Name is "BlockBasedTable".
func (*BlockBasedTableFactory) Name() string { return rocksdb.BlockBasedTableName }

// IsDeleteRangeSupported is true.
func (*BlockBasedTableFactory) IsDeleteRangeSupported() bool { return true }

// Options gives the options, which must not be changed once in use.
func (f *BlockBasedTableFactory) Options() *rocksdb.BlockBasedTableOptions { return &f.opts }

// Clone copies the factory; the caches are shared.
func (f *BlockBasedTableFactory) Clone() rocksdb.TableFactory {
	c := *f
	return &c
}

// OptionsPtr gives the options or the block cache.
func (f *BlockBasedTableFactory) OptionsPtr(name string) any {
	switch name {
	case rocksdb.BlockBasedTableOptionsName:
		return &f.opts
	case rocksdb.BlockCacheOptsName:
		if f.opts.NoBlockCache || f.opts.BlockCache == nil {
			return nil
		}
		return f.opts.BlockCache
	}
	return nil
}

// PrepareOptions fills in what is left open and mends what can be.
func (f *BlockBasedTableFactory) PrepareOptions(*rocksdb.ConfigOptions) error {
	f.initializeOptions()
	return nil
}

func (f *BlockBasedTableFactory) initializeOptions() {
	o := &f.opts
	if o.FlushBlockPolicyFactory == nil {
		o.FlushBlockPolicyFactory = FlushBlockBySizePolicyFactory{}
	}
	if o.NoBlockCache {
		o.BlockCache = nil
	} else if o.BlockCache == nil {
		o.BlockCache = cache.NewHyperClockCacheOfCapacity(defaultBlockCacheSize)
	}
	if o.BlockSizeDeviation < 0 || o.BlockSizeDeviation > 100 {
		o.BlockSizeDeviation = 0
	}
	o.BlockRestartInterval = max(o.BlockRestartInterval, 1)
	o.IndexBlockRestartInterval = max(o.IndexBlockRestartInterval, 1)
	if o.IndexType == rocksdb.HashSearch {
		o.IndexBlockRestartInterval = 1
	}
	if o.IndexType != rocksdb.TwoLevelIndexSearch {
		o.PartitionFilters = false
	}
	o.FormatVersion = max(o.FormatVersion, format.MinSupportedBbtFormatVersionForWrite)
	overrides := make(map[rocksdb.CacheEntryRole]rocksdb.CacheEntryRoleOptions, rocksdb.NumCacheEntryRoles)
	for role := rocksdb.CacheEntryRole(0); role < rocksdb.NumCacheEntryRoles; role++ {
		v, ok := o.CacheUsageOptions.OptionsOverrides[role]
		if !ok || v.Charged == rocksdb.CacheEntryRoleFallback {
			v = o.CacheUsageOptions.Options
		}
		overrides[role] = v
	}
	o.CacheUsageOptions.OptionsOverrides = overrides
}

// readerReservation charges open readers to the block cache, where that is
// asked for.
func (f *BlockBasedTableFactory) readerReservation() *cache.ConcurrentCacheReservationManager {
	role := rocksdb.CacheEntryRoleBlockBasedTableReader
	if f.opts.BlockCache == nil || f.opts.CacheUsageOptions.OptionsOverrides[role].Charged != rocksdb.CacheEntryRoleEnabled {
		return nil
	}
	f.shared.once.Lock()
	defer f.shared.once.Unlock()
	if f.shared.reservation == nil {
		f.shared.reservation = cache.NewConcurrentCacheReservationManager(
			cache.NewCacheReservationManager(f.opts.BlockCache, role, false))
	}
	return f.shared.reservation
}

// ready gives a copy of the options that may be used.
func (f *BlockBasedTableFactory) ready() *rocksdb.BlockBasedTableOptions {
	f.shared.once.Lock()
	defer f.shared.once.Unlock()
	if f.opts.FlushBlockPolicyFactory == nil || f.opts.BlockCache == nil && !f.opts.NoBlockCache {
		f.initializeOptions()
	}
	o := f.opts
	return &o
}

// NewTableReader implements table.Factory.
func (f *BlockBasedTableFactory) NewTableReader(ro *rocksdb.ReadOptions, o *table.TableReaderOptions, r *file.RandomAccessFileReader,
	fileSize uint64, prefetchIndexAndFilterInCache bool) (table.TableReader, error) {
	t, err := Open(ro, &OpenParams{
		Table: f.ready(), Reader: o, PrefetchIndexAndFilterInCache: prefetchIndexAndFilterInCache,
		TailPrefetchStats: &f.shared.tail, Reservation: f.readerReservation(),
	}, r, fileSize)
	if err != nil {
		return nil, err
	}
	return t, nil
}

// NewTableBuilder implements table.Factory.
func (f *BlockBasedTableFactory) NewTableBuilder(o *table.TableBuilderOptions, w *file.WritableFileWriter) (table.TableBuilder, error) {
	b, err := NewBlockBasedTableBuilder(f.ready(), o, w)
	if err != nil {
		return nil, err
	}
	return b, nil
}

var _ table.Factory = (*BlockBasedTableFactory)(nil)

// ValidateOptions checks the options against those of the column family.
func (f *BlockBasedTableFactory) ValidateOptions(db *rocksdb.DBOptions, cf *rocksdb.ColumnFamilyOptions) error {
	o := &f.opts
	bad := func(text string) error { return rocksdb.InvalidArgument(text) }
	powerOf2 := func(n uint64) bool { return n&(n-1) == 0 }
	switch {
	case o.IndexType == rocksdb.HashSearch && cf.PrefixExtractor == nil:
		return bad("Hash index is specified for block-based table, but prefix_extractor is not given")
	case o.IndexBlockSearchType == rocksdb.BlockSearchInterpolation && cf.Comparator != nil && !util.IsBytewise(cf.Comparator):
		return bad("Interpolation search requires BytewiseComparator")
	case o.CacheIndexAndFilterBlocks && o.NoBlockCache:
		return bad("Enable cache_index_and_filter_blocks, , but block cache is disabled")
	case o.PinL0FilterAndIndexBlocksInCache && o.NoBlockCache:
		return bad("Enable pin_l0_filter_and_index_blocks_in_cache, , but block cache is disabled")
	case !format.IsSupportedFormatVersionForWrite(format.BlockBasedTableMagicNumber, o.FormatVersion):
		return bad("Unsupported BlockBasedTable format_version. Please check include/rocksdb/table.h for more info")
	}
	if err := f.validateCompression(cf); err != nil {
		return err
	}
	if err := f.ValidateSizes(); err != nil {
		return err
	}
	switch {
	case o.BlockAlign && !powerOf2(o.BlockSize):
		return bad("Block alignment requested but block size is not a power of 2")
	case !powerOf2(o.SuperBlockAlignmentSize):
		return bad("Super Block alignment requested but super block alignment size is not a power of 2")
	case o.SuperBlockAlignmentSpaceOverheadRatio > 0 && o.SuperBlockAlignmentSpaceOverheadRatio < 4:
		return bad("Super block alignment space overhead is too high")
	case o.DataBlockIndexType == rocksdb.DataBlockBinaryAndHash && o.DataBlockHashTableUtilRatio <= 0:
		return bad("data_block_hash_table_util_ratio should be greater than 0 when data_block_index_type is set to kDataBlockBinaryAndHash")
	case o.PersistentCache != nil:
		return rocksdb.NotSupported("persistent_cache")
	case db.UnorderedWrite && cf.MaxSuccessiveMerges > 0:
		return bad("max_successive_merges larger than 0 is currently inconsistent with unordered_write")
	case o.Checksum > rocksdb.XXH3:
		return rocksdb.InvalidArgumentf("Unrecognized ChecksumType for checksum: %d", o.Checksum)
	}
	if err := validateUserDefinedIndex(o, max(cf.CompressionOpts.ParallelThreads, cf.BottommostCompressionOpts.ParallelThreads)); err != nil {
		return err
	}
	return f.validateCacheUsage(cf)
}

// ValidateSizes refuses sizes that no database may have, whatever its other
// options; SetOptions asks for no more than that.
func (f *BlockBasedTableFactory) ValidateSizes() error {
	switch {
	case f.opts.BlockSize > math.MaxUint32:
		return rocksdb.InvalidArgument("block size exceeds maximum number (4GiB) allowed")
	case f.opts.SuperBlockAlignmentSize > math.MaxUint32:
		return rocksdb.InvalidArgument("Super block alignment size exceeds maximum number (4GiB) allowed")
	}
	return nil
}

func (f *BlockBasedTableFactory) validateCompression(cf *rocksdb.ColumnFamilyOptions) error {
	builtin := true
	if m := cf.CompressionManager; m != nil && m.CompatibilityName() != compression.BuiltinCompatibilityName {
		if !format.FormatVersionUsesCompressionManagerName(f.opts.FormatVersion) {
			return rocksdb.InvalidArgument("Using a CompressionManager incompatible with built-in (custom CompatibilityName()) " +
				"is not supported for format_version < 7")
		}
		builtin = false
	}
	check := func(t rocksdb.CompressionType, option string) error {
		switch {
		case t == rocksdb.NoCompression:
			return nil
		case t == rocksdb.DisableCompressionOption:
			if option == "compression" {
				return rocksdb.InvalidArgument("kDisableCompressionOption not permitted for option", option)
			}
			return nil
		case f.opts.BlockAlign:
			return rocksdb.InvalidArgument("Enable block_align, but " + option + " enabled")
		case t > rocksdb.LastBuiltinCompression && builtin:
			return rocksdb.InvalidArgument("Using a CompressionType other than built-in needs a compression manager", option)
		}
		return nil
	}
	if err := check(cf.Compression, "compression"); err != nil {
		return err
	}
	if err := check(cf.BottommostCompression, "bottommost_compression"); err != nil {
		return err
	}
	for _, t := range cf.CompressionPerLevel {
		if err := check(t, "compression_per_level"); err != nil {
			return err
		}
	}
	return nil
}

func (f *BlockBasedTableFactory) validateCacheUsage(cf *rocksdb.ColumnFamilyOptions) error {
	supported := []rocksdb.CacheEntryRole{
		rocksdb.CacheEntryRoleCompressionDictionaryBuildingBuffer, rocksdb.CacheEntryRoleFilterConstruction,
		rocksdb.CacheEntryRoleBlockBasedTableReader, rocksdb.CacheEntryRoleFileMetadata, rocksdb.CacheEntryRoleBlobCache,
	}
	for role := rocksdb.CacheEntryRole(0); role < rocksdb.NumCacheEntryRoles; role++ {
		o, ok := f.opts.CacheUsageOptions.OptionsOverrides[role]
		if !ok {
			continue
		}
		what := "CacheEntryRoleOptions::charged for CacheEntryRole " + cache.CacheEntryRoleToCamelString(role)
		enabled := o.Charged == rocksdb.CacheEntryRoleEnabled
		switch {
		case o.Charged != rocksdb.CacheEntryRoleFallback && !slices.Contains(supported, role):
			return rocksdb.NotSupported("Enable/Disable " + what + " is not supported")
		case enabled && f.opts.NoBlockCache:
			return rocksdb.InvalidArgument("Enable " + what + " but block cache is disabled")
		case enabled && role == rocksdb.CacheEntryRoleBlobCache && cf.BlobCache == nil:
			return rocksdb.InvalidArgument("Enable " + what + " but blob cache is not configured")
		case enabled && role == rocksdb.CacheEntryRoleBlobCache && cf.BlobCache == f.opts.BlockCache:
			return rocksdb.InvalidArgument("Enable " + what + " but blob cache is the same as block cache")
		case enabled && role == rocksdb.CacheEntryRoleBlobCache && cf.BlobCache.GetCapacity() > f.opts.BlockCache.GetCapacity():
			return rocksdb.InvalidArgument("Enable " + what + " but blob cache capacity is larger than block cache capacity")
		}
	}
	return nil
}

// pointerText is where v is, (nil) when it is none, and (value) of what has no
// place of its own.
func pointerText(v any) string {
	switch r := reflect.ValueOf(v); {
	case !r.IsValid():
		return "(nil)"
	case r.Kind() == reflect.Pointer:
		return fmt.Sprintf("%p", v)
	}
	return "(value)"
}

// GetPrintableOptions gives the options for the LOG, one a line.
func (f *BlockBasedTableFactory) GetPrintableOptions() string {
	o := &f.opts
	var s strings.Builder
	p := func(name string, v any) {
		if b, ok := v.(bool); ok {
			v = b2u(b)
		}
		if d, ok := v.(float64); ok {
			v = fmt.Sprintf("%f", d)
		}
		fmt.Fprintf(&s, "  %s: %v\n", name, v)
	}
	name := "nullptr"
	if o.FlushBlockPolicyFactory != nil {
		name = o.FlushBlockPolicyFactory.Name()
	}
	fmt.Fprintf(&s, "  flush_block_policy_factory: %s (%s)\n", name, pointerText(o.FlushBlockPolicyFactory))
	p("cache_index_and_filter_blocks", o.CacheIndexAndFilterBlocks)
	p("cache_index_and_filter_blocks_with_high_priority", o.CacheIndexAndFilterBlocksWithHighPriority)
	p("pin_l0_filter_and_index_blocks_in_cache", o.PinL0FilterAndIndexBlocksInCache)
	p("pin_top_level_index_and_filter", o.PinTopLevelIndexAndFilter)
	p("index_type", o.IndexType)
	p("data_block_index_type", o.DataBlockIndexType)
	p("index_shortening", o.IndexShortening)
	p("data_block_hash_table_util_ratio", o.DataBlockHashTableUtilRatio)
	p("checksum", o.Checksum)
	p("no_block_cache", o.NoBlockCache)
	fmt.Fprintf(&s, "  block_cache: %s\n", pointerText(o.BlockCache))
	if o.BlockCache != nil {
		p("block_cache_name", o.BlockCache.Name())
		s.WriteString("  block_cache_options:\n" + o.BlockCache.GetPrintableOptions())
	}
	fmt.Fprintf(&s, "  persistent_cache: %s\n", pointerText(o.PersistentCache))
	if o.PersistentCache != nil {
		s.WriteString("  persistent_cache_options:\n" + o.PersistentCache.GetPrintableOptions())
	}
	p("block_size", o.BlockSize)
	p("block_size_deviation", o.BlockSizeDeviation)
	p("block_restart_interval", o.BlockRestartInterval)
	p("index_block_restart_interval", o.IndexBlockRestartInterval)
	p("metadata_block_size", o.MetadataBlockSize)
	p("partition_filters", o.PartitionFilters)
	p("use_delta_encoding", o.UseDeltaEncoding)
	filter, udi := "nullptr", "nullptr"
	if o.FilterPolicy != nil {
		filter = o.FilterPolicy.Name()
	}
	if o.UserDefinedIndexFactory != nil {
		udi = o.UserDefinedIndexFactory.Name()
	}
	p("filter_policy", filter)
	p("user_defined_index_factory", udi)
	p("use_udi_as_primary_index", o.UseUDIAsPrimaryIndex)
	p("fail_if_no_udi_on_open", o.FailIfNoUDIOnOpen)
	p("whole_key_filtering", o.WholeKeyFiltering)
	p("verify_compression", o.VerifyCompression)
	p("read_amp_bytes_per_bit", o.ReadAmpBytesPerBit)
	p("format_version", o.FormatVersion)
	p("uniform_cv_threshold", o.UniformCVThreshold)
	p("enable_index_compression", o.EnableIndexCompression)
	p("block_align", o.BlockAlign)
	p("super_block_alignment_size", o.SuperBlockAlignmentSize)
	p("super_block_alignment_space_overhead_ratio", o.SuperBlockAlignmentSpaceOverheadRatio)
	p("max_auto_readahead_size", o.MaxAutoReadaheadSize)
	p("prepopulate_block_cache", o.PrepopulateBlockCache)
	p("initial_auto_readahead_size", o.InitialAutoReadaheadSize)
	p("num_file_reads_for_auto_readahead", o.NumFileReadsForAutoReadahead)
	return s.String()
}
