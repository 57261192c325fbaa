// Port of include/rocksdb/secondary_cache.h.

package rocksdb

// SecondaryCacheResultHandle is what SecondaryCache.Lookup gives. Once it is
// ready, Value is the object, which is the caller's then, or nil for a miss or an
// error.
type SecondaryCacheResultHandle interface {
	IsReady() bool
	// Wait returns when it is ready.
	Wait()
	Value() any
	// Size is the charge of the object.
	Size() int
}

// SecondaryCache is a cache of bytes below a cache of objects: compressed, or on a
// device. Its methods are safe for concurrent use. Keys and bytes passed in are
// the caller's.
type SecondaryCache interface {
	// Name is upstream's class name.
	Name() string
	// Insert may take a copy of obj, in the bytes that helper makes of it; with
	// force it does not wait for a second coming. nil does not mean that it did.
	Insert(key []byte, obj any, helper *CacheItemHelper, force bool) error
	// InsertSaved may take bytes that are such already, compressed by typ where
	// that is not NoCompression; source is the tier that will decompress them.
	InsertSaved(key, saved []byte, typ CompressionType, source CacheTier) error
	// Lookup gives nil for a miss. The handle may be not ready unless wait is
	// set. adviseErase says that the caller keeps the object, so that the entry
	// may go; kept tells whether it stays.
	Lookup(key []byte, helper *CacheItemHelper, ctx CacheCreateContext, wait, adviseErase bool, stats Statistics) (h SecondaryCacheResultHandle, kept bool)
	// SupportForceErase tells whether adviseErase is followed.
	SupportForceErase() bool
	Erase(key []byte)
	// WaitAll returns when all handles are ready.
	WaitAll(hs []SecondaryCacheResultHandle)
	// SetCapacity and GetCapacity are in bytes; NotSupported where there is no
	// such thing.
	SetCapacity(capacity int) error
	GetCapacity() (int, error)
	// Deflate takes so many bytes of the capacity away until Inflate gives them
	// back.
	Deflate(decrease int) error
	Inflate(increase int) error
	GetPrintableOptions() string
}

// SecondaryCacheWrapper hands every call on to Target; embed it to change some.
type SecondaryCacheWrapper struct{ Target SecondaryCache }

// Name implements SecondaryCache, as do the others.
func (w SecondaryCacheWrapper) Name() string { return w.Target.Name() }

// Insert hands on.
func (w SecondaryCacheWrapper) Insert(key []byte, obj any, helper *CacheItemHelper, force bool) error {
	return w.Target.Insert(key, obj, helper, force)
}

// InsertSaved hands on.
func (w SecondaryCacheWrapper) InsertSaved(key, saved []byte, typ CompressionType, source CacheTier) error {
	return w.Target.InsertSaved(key, saved, typ, source)
}

// Lookup hands on.
func (w SecondaryCacheWrapper) Lookup(key []byte, helper *CacheItemHelper, ctx CacheCreateContext, wait, adviseErase bool, stats Statistics) (SecondaryCacheResultHandle, bool) {
	return w.Target.Lookup(key, helper, ctx, wait, adviseErase, stats)
}

// SupportForceErase hands on.
func (w SecondaryCacheWrapper) SupportForceErase() bool { return w.Target.SupportForceErase() }

// Erase hands on.
func (w SecondaryCacheWrapper) Erase(key []byte) { w.Target.Erase(key) }

// WaitAll hands on.
func (w SecondaryCacheWrapper) WaitAll(hs []SecondaryCacheResultHandle) { w.Target.WaitAll(hs) }

// SetCapacity hands on.
func (w SecondaryCacheWrapper) SetCapacity(capacity int) error { return w.Target.SetCapacity(capacity) }

// GetCapacity hands on.
func (w SecondaryCacheWrapper) GetCapacity() (int, error) { return w.Target.GetCapacity() }

// Deflate hands on.
func (w SecondaryCacheWrapper) Deflate(decrease int) error { return w.Target.Deflate(decrease) }

// Inflate hands on.
func (w SecondaryCacheWrapper) Inflate(increase int) error { return w.Target.Inflate(increase) }

// GetPrintableOptions hands on.
func (w SecondaryCacheWrapper) GetPrintableOptions() string { return w.Target.GetPrintableOptions() }
