// Package cache holds the block cache and what belongs to it: LRUCache, cache
// keys, the names of entry roles, and reservations of cache capacity for
// memory used elsewhere.
//
// Main types: LRUCache (shards of a hash table and an LRU list with three
// priority pools), LRUHandle (an entry; the concrete rocksdb.CacheHandle),
// CacheKey and OffsetableCacheKey (16-byte keys of blocks),
// HyperClockCache (lookups without locks, for blocks only; ClockHandle),
// CacheWithSecondaryAdapter (a cache with a secondary cache below it),
// CompressedSecondaryCache, TieredSecondaryCache, ChargedCache,
// ConcurrentCacheReservationManager.
//
// Invariants of an LRUCache's shard, all under its mutex:
//   - An entry is in the LRU list exactly when it is in the table and has no
//     reference from outside.
//   - usage is the charge of the entries in the table and of those that were
//     taken out but are still referenced; lruUsage that of the list alone.
//   - Deleters run outside the mutex, after the entry left the table, so that
//     they may use the cache themselves.
//
// Invariants of a HyperClockCache's slot: see clockMeta. Its entries never move,
// and displacements of a slot count those whose probing passed over it, so that
// looking up may stop at 0. In a growing table entries never move either: they are
// on one list in the order of their reversed hashes, heads of buckets between
// them; links change under the mutex of the head before them.
//
// Locks: the configuration mutex of a cache comes before its shards' mutexes;
// one shard's mutex is held at a time. An adapter's reservation mutex comes before
// both caches'; no lock of the upper cache is held when it tells of evictions.
//
// Callers on hot paths hold the concrete cache and use LookupKey,
// InsertKey and ReleaseHandle: they take keys by value, so that nothing
// escapes to the heap.
//
// Read lru_cache.go first.
package cache
