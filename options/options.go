// Port of the tuning methods of options/options.cc that make plug-ins. Differs:
// functions; the plug-ins come from the registry of cfg.

package options

import (
	"strconv"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/utilities/registry"
)

// OptimizeForSmallDB sets o for a database of about a gigabyte or less, with
// blocks, indexes and filters in cache (nil for the table format's own). When
// wbm is not nil it becomes the write buffer manager; to bound all memory, let
// it charge cache.
func OptimizeForSmallDB(cfg *rocksdb.ConfigOptions, o *rocksdb.Options, cache rocksdb.Cache, wbm rocksdb.WriteBufferManager) error {
	t := rocksdb.DefaultBlockBasedTableOptions()
	t.BlockCache = cache
	t.CacheIndexAndFilterBlocks = true
	t.IndexType = rocksdb.TwoLevelIndexSearch
	tf, err := newBlockBasedFactory(cfg, &t)
	if err != nil {
		return err
	}
	o.TableFactory = tf
	o.WriteBufferSize = 2 << 20
	o.TargetFileSizeBase = 2 << 20
	o.MaxBytesForLevelBase = 10 << 20
	o.SoftPendingCompactionBytesLimit = 256 << 20
	o.HardPendingCompactionBytesLimit = 1 << 30
	o.MaxFileOpeningThreads = 1
	o.MaxOpenFiles = 5000
	if wbm != nil {
		o.WriteBufferManager = wbm
	}
	return nil
}

// OptimizeForPointLookup sets o for Gets without iterators: a block cache of
// that many MiB, a filter of 10 bits a key, hash indexes in data blocks.
func OptimizeForPointLookup(cfg *rocksdb.ConfigOptions, o *rocksdb.ColumnFamilyOptions, blockCacheSizeMB uint64) error {
	t := rocksdb.DefaultBlockBasedTableOptions()
	t.DataBlockIndexType = rocksdb.DataBlockBinaryAndHash
	t.DataBlockHashTableUtilRatio = 0.75
	var err error
	if t.FilterPolicy, err = registry.NewObject[rocksdb.FilterPolicy](cfg, registry.KindFilterPolicy, "bloomfilter:10:false"); err != nil {
		return err
	}
	size := strconv.FormatUint(blockCacheSizeMB<<20, 10)
	if t.BlockCache, err = registry.NewObject[rocksdb.Cache](cfg, registry.KindCache, size); err != nil {
		return err
	}
	tf, err := newBlockBasedFactory(cfg, &t)
	if err != nil {
		return err
	}
	o.TableFactory = tf
	o.MemtablePrefixBloomSizeRatio = 0.02
	o.MemtableWholeKeyFiltering = true
	return nil
}

func newBlockBasedFactory(cfg *rocksdb.ConfigOptions, t *rocksdb.BlockBasedTableOptions) (rocksdb.TableFactory, error) {
	tf, err := registry.NewObject[rocksdb.TableFactory](cfg, registry.KindTableFactory, rocksdb.BlockBasedTableName)
	if err != nil {
		return nil, err
	}
	p, ok := tf.OptionsPtr(rocksdb.BlockBasedTableOptionsName).(*rocksdb.BlockBasedTableOptions)
	if !ok {
		return nil, rocksdb.InvalidArgument("The block-based table factory has no block-based table options")
	}
	*p = *t
	return tf, nil
}
