//go:build !linux || race

// Port of port/mmap.{h,cc}. Differs: the form for systems without our mmap
// binding, and for the race detector: ordinary Go memory.

package memory

import "unsafe"

// offHeap tells whether slabs lie outside the Go heap.
const offHeap = false

func mapPages(int) unsafe.Pointer { return nil }

func unmapPages(unsafe.Pointer, int) {}

func mapHugePages(int) unsafe.Pointer { return nil }

func discardPages(unsafe.Pointer, int) {}

func adviseHuge(unsafe.Pointer, int) {}
