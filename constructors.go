// Port of the constructors in include/rocksdb/*.h.

package rocksdb

import (
	"sync"

	"github.com/rocksdb-go/rocksdb/cache"
	"github.com/rocksdb-go/rocksdb/env"
	"github.com/rocksdb-go/rocksdb/env/mockenv"
	"github.com/rocksdb-go/rocksdb/memtable"
	"github.com/rocksdb-go/rocksdb/monitoring"
	"github.com/rocksdb-go/rocksdb/table"
	"github.com/rocksdb-go/rocksdb/table/adaptive"
	blockbased "github.com/rocksdb-go/rocksdb/table/block_based"
	"github.com/rocksdb-go/rocksdb/table/cuckoo"
	"github.com/rocksdb-go/rocksdb/table/plain"
	"github.com/rocksdb-go/rocksdb/util"
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

// NewLRUCache makes a block cache of capacity bytes.
func NewLRUCache(capacity int) Cache { return cache.NewLRUCacheOfCapacity(capacity) }

// NewLRUCacheWithOptions makes a block cache.
func NewLRUCacheWithOptions(o LRUCacheOptions) (Cache, error) {
	c, err := cache.NewLRUCache(o)
	if err != nil {
		return nil, err
	}
	return c, nil
}

// NewIODispatcher makes what reads ahead for MultiScans; several may share one.
// Nil options are the defaults.
func NewIODispatcher(o *IODispatcherOptions) IODispatcher { return iodispatcher.NewIODispatcher(o) }

// NewHyperClockCache makes a block cache without locks, for keys of the block
// cache only; its table is sized at once, for entries of about
// EstimatedEntryCharge bytes.
func NewHyperClockCache(o HyperClockCacheOptions) (Cache, error) {
	c, err := cache.NewHyperClockCache(o)
	if err != nil {
		return nil, err
	}
	return c, nil
}

// NewBloomFilterPolicy makes Bloom filters of so many bits a key.
func NewBloomFilterPolicy(bitsPerKey float64) FilterPolicy {
	return blockbased.NewBloomFilterPolicy(bitsPerKey)
}

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

// NewSkipListFactory makes the default memtable.
func NewSkipListFactory() MemTableRepFactory { return memtable.NewSkipListFactory(0) }

// NewVectorRepFactory makes a memtable that is sorted when it is read.
func NewVectorRepFactory(count int) MemTableRepFactory { return memtable.NewVectorRepFactory(count) }

var registerOnce sync.Once

// RegisterBuiltins makes the engine's own plug-ins known by name, for OPTIONS
// files and option strings; Open does it.
func RegisterBuiltins() { registerOnce.Do(registerBuiltins) }
