// Port of the constructors in include/rocksdb/*.h.

package rocksdb

import (
	"log/slog"
	"sync"

	"github.com/rocksdb-go/rocksdb/cache"
	"github.com/rocksdb-go/rocksdb/env"
	"github.com/rocksdb-go/rocksdb/env/mockenv"
	"github.com/rocksdb-go/rocksdb/file"
	"github.com/rocksdb-go/rocksdb/logging"
	"github.com/rocksdb-go/rocksdb/memtable"
	"github.com/rocksdb-go/rocksdb/monitoring"
	"github.com/rocksdb-go/rocksdb/table"
	"github.com/rocksdb-go/rocksdb/table/adaptive"
	blockbased "github.com/rocksdb-go/rocksdb/table/block_based"
	"github.com/rocksdb-go/rocksdb/table/cuckoo"
	"github.com/rocksdb-go/rocksdb/table/plain"
	"github.com/rocksdb-go/rocksdb/util"
	"github.com/rocksdb-go/rocksdb/util/compression"
	"github.com/rocksdb-go/rocksdb/util/iodispatcher"
	"github.com/rocksdb-go/rocksdb/util/ratelimiter"
)

// NewBlockBasedTableFactory makes the factory of the usual tables.
func NewBlockBasedTableFactory(o BlockBasedTableOptions) TableFactory {
	return blockbased.NewBlockBasedTableFactory(&o)
}

// NewPlainTableFactory makes the factory of plain tables, which suit files that
// are mapped (DBOptions.AllowMmapReads) and lookups by prefix.
func NewPlainTableFactory(o PlainTableOptions) TableFactory { return plain.NewPlainTableFactory(&o) }

// NewCuckooTableFactory makes the factory of cuckoo tables: hash tables of keys and
// values of fixed lengths. It wants DBOptions.AllowMmapReads.
func NewCuckooTableFactory(o CuckooTableOptions) TableFactory {
	return cuckoo.NewCuckooTableFactory(&o)
}

// NewExternalTableFactory makes a factory of tables of an application's own
// format, which are written by SstFileWriter and ingested.
func NewExternalTableFactory(inner ExternalTableFactory) TableFactory {
	return table.NewExternalTableFactory(inner)
}

// NewAdaptiveTableFactory makes a factory that reads tables of every format and
// writes with the first one. A nil factory is that of the format with default
// options, the first the one for block-based tables. The factories have to be of
// this module.
func NewAdaptiveTableFactory(write, blockBased, plainTable, cuckooTable TableFactory) (TableFactory, error) {
	var list [4]table.Factory
	for i, f := range []TableFactory{write, blockBased, plainTable, cuckooTable} {
		if f == nil {
			continue
		}
		t, ok := f.(table.Factory)
		if !ok {
			return nil, NotSupported("table factory", f.Name())
		}
		list[i] = t
	}
	return adaptive.NewAdaptiveTableFactory(list[0], list[1], list[2], list[3]), nil
}

// GetBuiltinV2CompressionManager is the compression manager of options that name
// no other; wrap it (CompressionManagerWrapper) for a strategy of one's own.
func GetBuiltinV2CompressionManager() CompressionManager {
	return compression.GetBuiltinV2CompressionManager()
}

// CreateAutoSkipCompressionManager wraps a manager (nil: the built-in one) whose
// compressors then skip blocks that would be rejected, judging by those before.
// Experimental, as upstream's.
func CreateAutoSkipCompressionManager(wrapped CompressionManager) CompressionManager {
	return compression.CreateAutoSkipCompressionManager(wrapped)
}

// CreateCostAwareCompressionManager wraps a manager (nil: the built-in one) with
// compressors that predict what compressing costs. As in upstream they only
// measure, and compress with zstd at its highest level. Experimental.
func CreateCostAwareCompressionManager(wrapped CompressionManager) CompressionManager {
	return compression.CreateCostAwareCompressionManager(wrapped)
}

// NewLRUCache makes a block cache of capacity bytes.
func NewLRUCache(capacity int) Cache { return cache.NewLRUCacheOfCapacity(capacity) }

// NewLRUCacheWithOptions makes a block cache, with the options' secondary cache
// below it where there is one.
func NewLRUCacheWithOptions(o LRUCacheOptions) (Cache, error) { return cache.MakeSharedLRUCache(o) }

// NewCompressedSecondaryCache makes a cache of compressed blocks in memory, for
// the SecondaryCache of a block cache's options.
func NewCompressedSecondaryCache(o CompressedSecondaryCacheOptions) (SecondaryCache, error) {
	c, err := cache.NewCompressedSecondaryCache(o)
	if err != nil {
		return nil, err
	}
	return c, nil
}

// NewSecondaryCacheFromString makes a secondary cache of a string such as
// "compressed_secondary_cache://capacity=8M;compression_type=kZSTD".
func NewSecondaryCacheFromString(value string) (SecondaryCache, error) {
	o := DefaultConfigOptions()
	return cache.SecondaryCacheFromString(&o, value)
}

// NewTieredCache makes a block cache with a compressed secondary cache below it,
// within one capacity, and a third tier where the options have one.
func NewTieredCache(o TieredCacheOptions) (Cache, error) { return cache.NewTieredCache(o) }

// UpdateTieredCache changes a cache of NewTieredCache: its capacity in bytes, -1 for
// none; the compressed cache's part of it, -1 for none; the admission policy,
// AdmPolicyMax for none.
func UpdateTieredCache(c Cache, totalCapacity int, compressedSecondaryRatio float64, policy TieredAdmissionPolicy) error {
	return cache.UpdateTieredCache(c, totalCapacity, compressedSecondaryRatio, policy)
}

// NewIODispatcher makes what reads ahead for MultiScans; several may share one.
// Nil options are the defaults.
func NewIODispatcher(o *IODispatcherOptions) IODispatcher { return iodispatcher.NewIODispatcher(o) }

// NewHyperClockCache makes a block cache that is looked up without locks, for
// keys of the block cache only; its table grows, or is sized at once for entries
// of EstimatedEntryCharge bytes where that is above 0.
func NewHyperClockCache(o HyperClockCacheOptions) (Cache, error) {
	return cache.MakeSharedHyperClockCache(o)
}

// NewBloomFilterPolicy makes Bloom filters of so many bits a key.
func NewBloomFilterPolicy(bitsPerKey float64) FilterPolicy {
	return blockbased.NewBloomFilterPolicy(bitsPerKey)
}

// NewRibbonFilterPolicy makes ribbon filters, smaller than Bloom filters of the
// same false positive rate and slower to build; tables on levels before
// bloomBeforeLevel get Bloom filters (0: flushes alone, -1: none).
func NewRibbonFilterPolicy(bloomEquivalentBitsPerKey float64, bloomBeforeLevel int) FilterPolicy {
	return blockbased.NewRibbonFilterPolicy(bloomEquivalentBitsPerKey, bloomBeforeLevel)
}

// NewSlogLogger gives an info log, for DBOptions.InfoLog, that goes to l. Its
// SetInfoLogLevel says what is written (from InfoLevel on at first), and l's handler
// filters once more. Closing the database leaves l alone.
func NewSlogLogger(l *slog.Logger) Logger { return logging.NewSlogLogger(l) }

// NewStatistics makes an empty set of tickers and histograms.
func NewStatistics() Statistics { return monitoring.CreateDBStatistics() }

// NewWriteBufferManager limits the memory of memtables, of several databases
// where they share it. cache may be nil.
func NewWriteBufferManager(size uint64, c Cache, allowStall bool) WriteBufferManager {
	return memtable.NewWriteBufferManager(size, c, allowStall)
}

// NewGenericRateLimiter limits the rate of file writes (and reads, by mode).
func NewGenericRateLimiter(bytesPerSec, refillPeriodUs int64, fairness int, mode RateLimiterMode, autoTuned bool) (RateLimiter, error) {
	return ratelimiter.NewGenericRateLimiter(bytesPerSec, refillPeriodUs, fairness, mode, autoTuned, 0)
}

// SstFileManagerImpl is the built-in SstFileManager.
type SstFileManagerImpl = file.SstFileManagerImpl

// NewSstFileManager limits the space that tables take and the rate (bytes a
// second, 0: no limit) at which deleted ones are given back; it may be shared by
// databases. logger may be nil, and e, too: the default environment. Close it
// after the databases that use it.
func NewSstFileManager(e Env, logger Logger, rateBytesPerSec int64) *SstFileManagerImpl {
	if e == nil {
		e = env.Default()
	}
	return file.NewSstFileManager(e, nil, logger, rateBytesPerSec, maxTrashDBRatio, bytesMaxDeleteChunk)
}

// Upstream's defaults of NewSstFileManager.
const (
	maxTrashDBRatio     = 0.25
	bytesMaxDeleteChunk = 64 << 20
)

// GetFileChecksumGenCrc32cFactory makes DBOptions.FileChecksumGenFactory keep a
// CRC-32C of each table and blob file in the MANIFEST (see VerifyFileChecksums).
func GetFileChecksumGenCrc32cFactory() FileChecksumGenFactory {
	return util.GetFileChecksumGenCrc32cFactory()
}

// NewConcurrentTaskLimiter limits how many compactions of the families that
// share it run at once; a negative limit is none.
func NewConcurrentTaskLimiter(name string, limit int32) ConcurrentTaskLimiter {
	return util.NewConcurrentTaskLimiter(name, limit)
}

// DefaultEnv is the process's environment: the system's files and clock.
func DefaultEnv() Env { return env.Default() }

// NewMemEnv makes an environment whose files are in memory, on top of base's
// clock and threads.
func NewMemEnv(base Env) Env { return mockenv.NewMemEnv(base) }

// BytewiseComparator orders keys by their bytes; the default.
func BytewiseComparator() Comparator { return util.BytewiseComparator() }

// ReverseBytewiseComparator is the reverse of BytewiseComparator.
func ReverseBytewiseComparator() Comparator { return util.ReverseBytewiseComparator() }

// Uint64Comparator orders keys of eight bytes as little-endian numbers.
func Uint64Comparator() Comparator { return util.Uint64Comparator() }

// NewFixedPrefixTransform takes the first n bytes as the prefix; shorter keys
// have none.
func NewFixedPrefixTransform(n int) SliceTransform { return util.NewFixedPrefixTransform(n) }

// NewCappedPrefixTransform takes up to n bytes as the prefix.
func NewCappedPrefixTransform(n int) SliceTransform { return util.NewCappedPrefixTransform(n) }

// NewNoopTransform takes the whole key as its prefix.
func NewNoopTransform() SliceTransform { return util.NewNoopTransform() }

// NewHashSkipListRepFactory makes a memtable of skip lists by prefix; the
// defaults of upstream are 1000000, 4 and 4.
func NewHashSkipListRepFactory(bucketCount, skiplistHeight, skiplistBranchingFactor int) MemTableRepFactory {
	return memtable.NewHashSkipListRepFactory(bucketCount, skiplistHeight, skiplistBranchingFactor)
}

// NewHashLinkListRepFactory makes a memtable of sorted lists by prefix, for few
// keys a prefix; upstream's default is 50000.
func NewHashLinkListRepFactory(bucketCount int) MemTableRepFactory {
	return memtable.NewHashLinkListRepFactory(bucketCount)
}

// NewSkipListFactory makes the default memtable.
func NewSkipListFactory() MemTableRepFactory { return memtable.NewSkipListFactory(0) }

// NewVectorRepFactory makes a memtable that is sorted when it is read.
func NewVectorRepFactory(count int) MemTableRepFactory { return memtable.NewVectorRepFactory(count) }

var registerOnce sync.Once

// RegisterBuiltins makes the engine's own plug-ins known by name, for OPTIONS
// files and option strings; Open does it.
func RegisterBuiltins() { registerOnce.Do(registerBuiltins) }
