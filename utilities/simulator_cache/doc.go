// Package simcache tells how a block cache of another size would do.
//
// SimCache goes between a database and its cache, and keeps the keys alone in a
// second cache, of the simulated capacity. CacheSimulator runs a trace of a block
// cache (trace_replay) by a cache without contents, and BlockCacheTraceSimulator by
// several. Read sim_cache.go, and then cache_simulator.go.
package simcache
