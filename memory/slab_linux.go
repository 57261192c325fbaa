//go:build linux && !race

// Port of port/mmap.{h,cc}, as far as the arenas use it. Differs: plain
// functions over pointer and length instead of an owning object.

package memory

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// offHeap tells whether slabs lie outside the Go heap.
const offHeap = true

// mapPages maps n bytes (a multiple of the page size) of zeroed, not yet
// resident memory; nil when the system has none.
func mapPages(n int) unsafe.Pointer {
	p, err := unix.MmapPtr(-1, 0, nil, uintptr(n), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return nil
	}
	return p
}

// unmapPages gives back what mapPages or mapHugePages returned.
func unmapPages(p unsafe.Pointer, n int) {
	// Fails only for arguments that were never mapped.
	_ = unix.MunmapPtr(p, uintptr(n))
}

// mapHugePages maps n bytes from the reserved huge pages; nil when there are
// not enough.
func mapHugePages(n int) unsafe.Pointer {
	p, err := unix.MmapPtr(-1, 0, nil, uintptr(n), unix.PROT_READ|unix.PROT_WRITE,
		unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_HUGETLB)
	if err != nil {
		return nil
	}
	return p
}

// discardPages gives the pages back and keeps the addresses; the memory reads
// as zeros afterwards.
func discardPages(p unsafe.Pointer, n int) {
	_ = unix.Madvise(unsafe.Slice((*byte)(p), n), unix.MADV_DONTNEED)
}

// adviseHuge asks for huge pages where the system has them to give.
func adviseHuge(p unsafe.Pointer, n int) {
	// Refused where the kernel was built without them.
	_ = unix.Madvise(unsafe.Slice((*byte)(p), n), unix.MADV_HUGEPAGE)
}
