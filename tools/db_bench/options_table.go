// Port of the table formats of Benchmark::InitializeOptionsFromFlags of
// tools/db_bench_tool.cc.

package main

import (
	"github.com/rocksdb-go/rocksdb/cache"
	rocksdb "github.com/rocksdb-go/rocksdb/include/rocksdb"
)

func (b *benchmark) tableFromFlags(o *rocksdb.Options) error {
	f := b.flags
	switch {
	case f.UsePlainTable:
		if !b.isHashMemtable(&o.ColumnFamilyOptions) {
			b.out.errf("Warning: plain table is used with %s\n", o.MemtableFactory.Name())
		}
		opts := rocksdb.DefaultPlainTableOptions()
		opts.UserKeyLen = uint32(f.KeySize)
		if f.BloomBits >= 0 {
			opts.BloomBitsPerKey = int(f.BloomBits)
		}
		opts.HashTableRatio = 0.75
		return setTableFactory(b, o, rocksdb.PlainTableName, rocksdb.PlainTableOptionsName, &opts)
	case f.UseCuckooTable:
		if f.CuckooHashRatio > 1 || f.CuckooHashRatio < 0 {
			b.out.errf("Invalid cuckoo_hash_ratio\n")
			return exitCode(1)
		}
		if !f.MmapRead {
			b.out.errf("cuckoo table format requires mmap read to operate\n")
			return exitCode(1)
		}
		opts := rocksdb.DefaultCuckooTableOptions()
		opts.HashTableRatio = f.CuckooHashRatio
		opts.IdentityAsFirstHash = f.IdentityAsFirstHash
		return setTableFactory(b, o, rocksdb.CuckooTableName, rocksdb.CuckooTableOptionsName, &opts)
	default:
		opts := rocksdb.DefaultBlockBasedTableOptions()
		if err := b.blockBasedFromFlags(&opts); err != nil {
			return err
		}
		if err := b.blobCacheFromFlags(&o.ColumnFamilyOptions); err != nil {
			return err
		}
		o.TableFactory = newBlockBasedTableFactory(&opts)
	}
	return nil
}

func setTableFactory[T any](b *benchmark, o *rocksdb.Options, name, optionsName string, opts *T) error {
	f, err := tableFactoryByName(name, optionsName, opts)
	if err != nil {
		b.out.errf("db_bench: %v\n", err)
		return exitCode(1)
	}
	o.TableFactory = f
	return nil
}

func (b *benchmark) blockBasedFromFlags(o *rocksdb.BlockBasedTableOptions) error {
	f := b.flags
	o.Checksum = rocksdb.ChecksumType(f.ChecksumType)
	if err := b.indexFromFlags(o); err != nil {
		return err
	}
	o.OptimizeFiltersForMemory = f.OptimizeFiltersForMemory
	o.NoBlockCache = b.cache == nil
	o.BlockCache = b.cache
	o.CacheIndexAndFilterBlocks = f.CacheIndexAndFilterBlocks
	o.PinL0FilterAndIndexBlocksInCache = f.PinL0FilterAndIndexBlocksInCache
	o.PinTopLevelIndexAndFilter = f.PinTopLevelIndexAndFilter
	if f.CacheHighPriPoolRatio > 1e-6 {
		o.CacheIndexAndFilterBlocksWithHighPriority = true
	}
	if f.CacheHighPriPoolRatio+f.CacheLowPriPoolRatio > 1 {
		b.out.errf("Sum of high_pri_pool_ratio and low_pri_pool_ratio cannot exceed 1.0.\n")
	}
	o.CacheUsageOptions.OptionsOverrides = map[rocksdb.CacheEntryRole]rocksdb.CacheEntryRoleOptions{}
	for _, c := range []struct {
		role rocksdb.CacheEntryRole
		on   bool
	}{
		{rocksdb.CacheEntryRoleCompressionDictionaryBuildingBuffer, f.ChargeCompressionDictionaryBuildingBuffer},
		{rocksdb.CacheEntryRoleFilterConstruction, f.ChargeFilterConstruction},
		{rocksdb.CacheEntryRoleBlockBasedTableReader, f.ChargeTableReader},
		{rocksdb.CacheEntryRoleFileMetadata, f.ChargeFileMetadata},
		{rocksdb.CacheEntryRoleBlobCache, f.ChargeBlobCache},
	} {
		decision := rocksdb.CacheEntryRoleDisabled
		if c.on {
			decision = rocksdb.CacheEntryRoleEnabled
		}
		o.CacheUsageOptions.OptionsOverrides[c.role] = rocksdb.CacheEntryRoleOptions{Charged: decision}
	}
	o.BlockSize = uint64(f.BlockSize)
	o.BlockRestartInterval = int(f.BlockRestartInterval)
	o.IndexBlockRestartInterval = int(f.IndexBlockRestartInterval)
	o.FormatVersion = uint32(f.FormatVersion)
	o.ReadAmpBytesPerBit = uint32(f.ReadAmpBytesPerBit)
	o.EnableIndexCompression = f.EnableIndexCompression
	o.BlockAlign = f.BlockAlign
	o.SuperBlockAlignmentSize = f.SuperBlockAlignmentSize
	o.SuperBlockAlignmentSpaceOverheadRatio = f.SuperBlockAlignmentSpaceOverheadRatio
	o.SeparateKeyValueInDataBlock = f.SeparateKeyValueInDataBlock
	o.UniformCVThreshold = f.UniformCVThreshold
	o.WholeKeyFiltering = f.WholeKeyFiltering
	o.MaxAutoReadaheadSize = f.MaxAutoReadaheadSize
	o.InitialAutoReadaheadSize = f.InitialAutoReadaheadSize
	o.NumFileReadsForAutoReadahead = f.NumFileReadsForAutoReadahead
	o.VerifyCompression = f.VerifyCompression
	if m := f.PrepopulateBlockCache; m >= 0 && m <= 2 {
		o.PrepopulateBlockCache = rocksdb.PrepopulateBlockCache(m)
	} else {
		b.out.errf("Unknown prepopulate block cache mode\n")
	}
	if f.UseDataBlockHashIndex {
		o.DataBlockIndexType = rocksdb.DataBlockBinaryAndHash
	}
	o.DataBlockHashTableUtilRatio = f.DataBlockHashTableUtilRatio
	return nil
}

func (b *benchmark) indexFromFlags(o *rocksdb.BlockBasedTableOptions) error {
	f := b.flags
	if f.UseHashSearch {
		if f.PrefixSize == 0 {
			b.out.errf("prefix_size not assigned when enable use_hash_search \n")
			return exitCode(1)
		}
		o.IndexType = rocksdb.HashSearch
	}
	switch f.IndexBlockSearchType {
	case "binary_search":
		o.IndexBlockSearchType = rocksdb.BlockSearchBinary
	case "interpolation_search":
		o.IndexBlockSearchType = rocksdb.BlockSearchInterpolation
	case "auto_search":
		o.IndexBlockSearchType = rocksdb.BlockSearchAuto
	default:
		b.out.errf("Unknown index_block_search_type: %s\n", f.IndexBlockSearchType)
		return exitCode(1)
	}
	o.DecouplePartitionedFilters = f.DecouplePartitionedFilters
	switch {
	case f.PartitionIndexAndFilters || f.PartitionIndex:
		if f.IndexWithFirstKey {
			b.out.errf("--index_with_first_key is not compatible with partition index.")
		}
		if f.UseHashSearch {
			b.out.errf("use_hash_search is incompatible with partition index and is ignored")
		}
		o.IndexType = rocksdb.TwoLevelIndexSearch
		o.MetadataBlockSize = uint64(f.MetadataBlockSize)
		o.PartitionFilters = f.PartitionIndexAndFilters
	case f.IndexWithFirstKey:
		o.IndexType = rocksdb.BinarySearchWithFirstKey
	}
	if m := f.IndexShorteningMode; m >= 0 && m <= 2 {
		o.IndexShortening = rocksdb.IndexShorteningMode(m)
	} else {
		b.out.errf("Unknown key shortening mode\n")
	}
	return nil
}

func (b *benchmark) blobCacheFromFlags(o *rocksdb.ColumnFamilyOptions) error {
	f := b.flags
	if !f.UseBlobCache {
		b.out.printf("Integrated BlobDB: blob cache disabled\n")
		return nil
	}
	switch {
	case f.UseSharedBlockAndBlobCache:
		o.BlobCache = b.cache
	case f.BlobCacheSize == 0:
		b.out.errf("Unable to create a standalone blob cache if blob_cache_size <= 0.\n")
		return exitCode(1)
	default:
		opts := rocksdb.DefaultLRUCacheOptions(int(f.BlobCacheSize))
		opts.NumShardBits = int(f.BlobCacheNumshardbits)
		c, err := cache.NewLRUCache(opts)
		if err != nil {
			return err
		}
		o.BlobCache = c
	}
	if m := f.PrepopulateBlobCache; m != 0 && m != 1 {
		b.out.errf("Unknown prepopulate blob cache mode\n")
		return exitCode(1)
	}
	o.PrepopulateBlobCache = rocksdb.PrepopulateBlobCache(f.PrepopulateBlobCache)
	shared := 0
	if f.UseSharedBlockAndBlobCache {
		shared = 1
	}
	b.out.printf("Integrated BlobDB: blob cache enabled, block and blob caches shared: %d", shared)
	if shared == 0 {
		b.out.printf(", blob cache size %d, blob cache num shard bits: %d", f.BlobCacheSize, f.BlobCacheNumshardbits)
	}
	b.out.printf(", blob cache prepopulated: %d\n", f.PrepopulateBlobCache)
	return nil
}
