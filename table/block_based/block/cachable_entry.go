// Port of table/block_based/cachable_entry.h. Differs: moved by hand; Release
// must be called once on the last holder.

package block

import (
	"sync"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// Freer is what a CachableEntry may own.
type Freer interface{ Free() }

// CachableEntry refers to an object in one of three ways: through a cache
// handle, as its only owner, or without owning it. The zero value refers to
// nothing. It is copied only to hand it over.
type CachableEntry[T Freer] struct {
	value    T
	cache    rocksdb.Cache
	handle   rocksdb.CacheHandle
	ownValue bool
	set      bool
}

// SetOwnedValue takes v over.
func (e *CachableEntry[T]) SetOwnedValue(v T) {
	*e = CachableEntry[T]{value: v, ownValue: true, set: true}
}

// SetUnownedValue refers to v without taking it over.
func (e *CachableEntry[T]) SetUnownedValue(v T) { *e = CachableEntry[T]{value: v, set: true} }

// SetCachedValue takes a cache handle over, whose object is v.
func (e *CachableEntry[T]) SetCachedValue(v T, cache rocksdb.Cache, handle rocksdb.CacheHandle) {
	*e = CachableEntry[T]{value: v, cache: cache, handle: handle, set: true}
}

// IsEmpty tells whether there is no object.
func (e *CachableEntry[T]) IsEmpty() bool { return !e.set }

// IsCached tells whether the object is held through a cache handle.
func (e *CachableEntry[T]) IsCached() bool { return e.handle != nil }

// OwnValue tells whether the object is owned.
func (e *CachableEntry[T]) OwnValue() bool { return e.ownValue }

// Value is the object.
func (e *CachableEntry[T]) Value() T { return e.value }

// Cache is the cache of a cached object.
func (e *CachableEntry[T]) Cache() rocksdb.Cache { return e.cache }

// CacheHandle is the handle of a cached object.
func (e *CachableEntry[T]) CacheHandle() rocksdb.CacheHandle { return e.handle }

// Release gives the reference back; e is empty then.
func (e *CachableEntry[T]) Release() {
	if e.handle != nil {
		e.cache.Release(e.handle, false)
	} else if e.ownValue {
		e.value.Free()
	}
	*e = CachableEntry[T]{}
}

// Pin turns the reference on a cached or owned block into one that lives by
// itself; nil when e owns nothing. e is empty then.
func Pin(e *CachableEntry[*Block]) rocksdb.Releaser {
	if e.handle == nil && !e.ownValue {
		*e = CachableEntry[*Block]{}
		return nil
	}
	p := pinPool.Get().(*blockPin)
	p.entry = *e
	*e = CachableEntry[*Block]{}
	return p
}

// PinMore is Pin that leaves e its reference: a second one is taken. Only for
// cached blocks; nil for others.
func PinMore(e *CachableEntry[*Block]) rocksdb.Releaser {
	if e.handle == nil || !e.cache.Ref(e.handle) {
		return nil
	}
	p := pinPool.Get().(*blockPin)
	p.entry = *e
	return p
}

// blockPin is a counted reference; pooled, so that pinning allocates nothing.
type blockPin struct{ entry CachableEntry[*Block] }

var pinPool = sync.Pool{New: func() any { return new(blockPin) }}

// Release gives the reference back, once.
func (p *blockPin) Release() {
	e := p.entry
	p.entry = CachableEntry[*Block]{}
	pinPool.Put(p)
	e.Release()
}
