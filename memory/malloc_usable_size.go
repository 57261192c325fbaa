// No upstream twin: malloc_usable_size of the C library that upstream is measured
// with.

package memory

// MallocUsableSize is how large what glibc's malloc(n) gives really is, in bytes.
// What upstream charges to caches follows it, and so do we.
func MallocUsableSize(n int) int {
	if n >= 128<<10 {
		return (n+16+4095)&^4095 - 16 // a mapping of its own
	}
	return max((n+8+15)&^15-8, 24)
}
