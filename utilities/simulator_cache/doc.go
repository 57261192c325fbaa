// Package simcache tells how a block cache of another size would do.
//
// SimCache goes between a database and its cache, and keeps the keys alone in a
// second cache, of the simulated capacity. Read sim_cache.go.
package simcache
