// No upstream twin: Go package documentation.

// Command cache_bench measures a cache by itself, with upstream's flags and output:
// threads look up, insert and erase keys of a skewed distribution.
package main
