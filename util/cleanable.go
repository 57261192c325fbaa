// Port of include/rocksdb/cleanable.h and util/cleanable.cc. Differs: cleanups
// are objects with a Release method and run by Reset; Go has no destructors. A
// shared Cleanable is a reference count of the releaser's own.

package util

// Releaser gives back what it stands for: a cache handle, a pinned block.
type Releaser interface{ Release() }

// ReleaseFunc makes a function a Releaser.
type ReleaseFunc func()

// Release calls the function.
func (f ReleaseFunc) Release() { f() }

// Cleanable holds cleanups to run once. The first takes no memory of its own.
// Not safe for concurrent use; the zero value is empty.
type Cleanable struct {
	first Releaser
	rest  []Releaser
}

// RegisterCleanup adds a cleanup.
func (c *Cleanable) RegisterCleanup(r Releaser) {
	if c.first == nil {
		c.first = r
	} else {
		c.rest = append(c.rest, r)
	}
}

// DelegateCleanupsTo moves the cleanups to other.
func (c *Cleanable) DelegateCleanupsTo(other *Cleanable) {
	if c.first == nil {
		return
	}
	other.RegisterCleanup(c.first)
	for _, r := range c.rest {
		other.RegisterCleanup(r)
	}
	c.first = nil
	clear(c.rest)
	c.rest = c.rest[:0]
}

// HasCleanups tells whether there is a cleanup.
func (c *Cleanable) HasCleanups() bool { return c.first != nil }

// Reset runs the cleanups, in order, and forgets them.
func (c *Cleanable) Reset() {
	if c.first == nil {
		return
	}
	first := c.first
	c.first = nil
	first.Release()
	for i, r := range c.rest {
		c.rest[i] = nil
		r.Release()
	}
	c.rest = c.rest[:0]
}
