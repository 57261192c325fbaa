// Port of include/rocksdb/utilities/object_registry.h and
// utilities/object_registry.cc. Differs: one New for all kinds (ownership is the
// garbage collector's), kinds are strings, managed objects are kept by weak
// pointers; plug-ins register by AddLibrary.

package registry

import (
	"sort"
	"strings"
	"sync"
	"weak"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// The kinds, as upstream's classes call their type.
const (
	KindBlockCipher                     = "BlockCipher"
	KindCache                           = "Cache"
	KindComparator                      = "Comparator"
	KindCompactionFilter                = "CompactionFilter"
	KindCompactionFilterFactory         = "CompactionFilterFactory"
	KindCompressionManager              = "CompressionManager"
	KindEncryptionProvider              = "EncryptionProvider"
	KindEnv                             = "Environment"
	KindEventListener                   = "EventListener"
	KindFileChecksumGenFactory          = "FileChecksumGenFactory"
	KindFileSystem                      = "FileSystem"
	KindFilterPolicy                    = "FilterPolicy"
	KindFlushBlockPolicyFactory         = "FlushBlockPolicyFactory"
	KindMemoryAllocator                 = "MemoryAllocator"
	KindMemTableRepFactory              = "MemTableRepFactory"
	KindMergeOperator                   = "MergeOperator"
	KindRateLimiter                     = "RateLimiter"
	KindSecondaryCache                  = "SecondaryCache"
	KindSliceTransform                  = "SliceTransform"
	KindSstPartitionerFactory           = "SstPartitionerFactory"
	KindStatistics                      = "Statistics"
	KindSystemClock                     = "SystemClock"
	KindTableFactory                    = "TableFactory"
	KindTablePropertiesCollectorFactory = "TablePropertiesCollectorFactory"
	KindUserDefinedIndexFactory         = "UserDefinedIndexFactory"
	KindWalFilter                       = "WalFilter"
)

// FactoryFunc makes the object of an ID; an error says why it cannot. A nil
// object without error is InvalidArgument for the caller.
type FactoryFunc func(config *rocksdb.ConfigOptions, id string) (any, error)

type factory struct {
	entry PatternEntry
	fn    FactoryFunc
}

// Library is a named set of factories. It is safe for concurrent use.
type Library struct {
	id string
	mu struct {
		sync.Mutex
		factories map[string][]factory // by kind, in order of registration
	}
}

// NewLibrary makes an empty library.
func NewLibrary(id string) *Library {
	l := &Library{id: id}
	l.mu.factories = map[string][]factory{}
	return l
}

// GetID is the library's name.
func (l *Library) GetID() string { return l.id }

// AddFactory registers fn for exactly that name.
func (l *Library) AddFactory(kind, name string, fn FactoryFunc) {
	l.AddPattern(kind, NewPatternEntry(name), fn)
}

// AddPattern registers fn for the names that entry matches. Of several matches
// the first registered wins.
func (l *Library) AddPattern(kind string, entry *PatternEntry, fn FactoryFunc) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.mu.factories[kind] = append(l.mu.factories[kind], factory{*entry, fn})
}

// FindFactory gives the factory for a name, nil when there is none.
func (l *Library) FindFactory(kind, target string) FactoryFunc {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range l.mu.factories[kind] {
		if f := &l.mu.factories[kind][i]; f.entry.Matches(target) {
			return f.fn
		}
	}
	return nil
}

// GetFactoryCount is the number of factories of a kind.
func (l *Library) GetFactoryCount(kind string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.mu.factories[kind])
}

// GetTotalFactoryCount is the number of factories and of kinds.
func (l *Library) GetTotalFactoryCount() (factories, kinds int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, f := range l.mu.factories {
		factories += len(f)
	}
	return factories, len(l.mu.factories)
}

// GetFactoryNames lists the factories' names of a kind.
func (l *Library) GetFactoryNames(kind string) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var names []string
	for i := range l.mu.factories[kind] {
		names = append(names, l.mu.factories[kind][i].entry.Name())
	}
	return names
}

// GetFactoryTypes lists the kinds, sorted.
func (l *Library) GetFactoryTypes() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	kinds := make([]string, 0, len(l.mu.factories))
	for k := range l.mu.factories {
		kinds = append(kinds, k)
	}
	sort.Strings(kinds)
	return kinds
}

// Dump writes what is registered.
func (l *Library) Dump(log rocksdb.Logger) {
	kinds := l.GetFactoryTypes()
	if log == nil || len(kinds) == 0 {
		return
	}
	log.LogHeader("    Registered Library: %s\n", l.id)
	for _, kind := range kinds {
		log.LogHeader("    Registered factories for type[%s] ", kind)
		for i, name := range l.GetFactoryNames(kind) {
			sep := ','
			if i == 0 {
				sep = ':'
			}
			log.LogHeader("%c %s", sep, name)
		}
	}
}

// Registry searches libraries for factories. It is safe for concurrent use.
type Registry struct {
	parent *Registry // nil for the root
	mu     struct {
		sync.Mutex
		libraries []*Library
		plugins   []string
		// managed keeps objects to share by kind and ID for as long as
		// somebody else does; each value gives nil once its object is gone.
		managed map[string]func() any
	}
}

var (
	defaultOnce     sync.Once
	defaultRegistry *Registry
)

// Default is the process's registry.
func Default() *Registry {
	defaultOnce.Do(func() {
		defaultRegistry = New(nil)
		l := defaultRegistry.AddNewLibrary("default")
		registerUtil(l)
	})
	return defaultRegistry
}

// NewInstance is a fresh child of Default.
func NewInstance() *Registry { return New(Default()) }

// New makes an empty registry that falls back on parent, which may be nil.
// Upstream: ObjectRegistry::ObjectRegistry.
func New(parent *Registry) *Registry {
	r := &Registry{parent: parent}
	r.mu.managed = map[string]func() any{}
	return r
}

// Of gives config's registry, Default where it has none.
func Of(config *rocksdb.ConfigOptions) rocksdb.ObjectRegistry {
	if config.Registry != nil {
		return config.Registry
	}
	return Default()
}

// DefaultLibrary is the first library of Default, where built-ins go.
func DefaultLibrary() *Library {
	r := Default()
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.mu.libraries[0]
}

// AddLibrary adds a library, which is searched before those added earlier.
func (r *Registry) AddLibrary(l *Library) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.mu.libraries = append(r.mu.libraries, l)
}

// AddNewLibrary adds an empty library and gives it.
func (r *Registry) AddNewLibrary(id string) *Library {
	l := NewLibrary(id)
	r.AddLibrary(l)
	return l
}

// RegisterPlugin adds a library of that name and lets register fill it; it
// gives the number that register counts, -1 without name or function.
func (r *Registry) RegisterPlugin(name string, register func(l *Library, name string) int) int {
	if name == "" || register == nil {
		return -1
	}
	r.mu.Lock()
	r.mu.plugins = append(r.mu.plugins, name)
	r.mu.Unlock()
	return register(r.AddNewLibrary(name), name)
}

func (r *Registry) snapshot() []*Library {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.mu.libraries[:len(r.mu.libraries):len(r.mu.libraries)]
}

// FindFactory gives the factory for a name, nil when there is none.
func (r *Registry) FindFactory(kind, target string) FactoryFunc {
	libs := r.snapshot()
	for i := len(libs) - 1; i >= 0; i-- {
		if f := libs[i].FindFactory(kind, target); f != nil {
			return f
		}
	}
	if r.parent != nil {
		return r.parent.FindFactory(kind, target)
	}
	return nil
}

// NewObject makes the object of that kind and ID: NotSupported when nothing is
// registered for it, InvalidArgument when its factory fails.
func (r *Registry) NewObject(config *rocksdb.ConfigOptions, kind, id string) (any, error) {
	f := r.FindFactory(kind, id)
	if f == nil {
		return nil, rocksdb.NotSupported("Could not load "+kind, id)
	}
	obj, err := f(config, id)
	if err != nil {
		if _, ok := err.(*rocksdb.Status); ok {
			return nil, err
		}
		return nil, rocksdb.InvalidArgument(err.Error(), id)
	}
	if obj == nil {
		return nil, rocksdb.InvalidArgument("Could not load "+kind, id)
	}
	return obj, nil
}

// NewObject makes an object and asserts that it is a T.
func NewObject[T any](config *rocksdb.ConfigOptions, kind, id string) (T, error) {
	var zero T
	obj, err := Of(config).NewObject(config, kind, id)
	if err != nil {
		return zero, err
	}
	t, ok := obj.(T)
	if !ok {
		return zero, rocksdb.InvalidArgument("The registered object is no "+kind, id)
	}
	return t, nil
}

// GetFactoryCount counts the factories of a kind, the parent's included.
func (r *Registry) GetFactoryCount(kind string) int {
	n := 0
	if r.parent != nil {
		n = r.parent.GetFactoryCount(kind)
	}
	for _, l := range r.snapshot() {
		n += l.GetFactoryCount(kind)
	}
	return n
}

// GetFactoryNames lists the names of a kind, the parent's first.
func (r *Registry) GetFactoryNames(kind string) []string {
	var names []string
	if r.parent != nil {
		names = r.parent.GetFactoryNames(kind)
	}
	for _, l := range r.snapshot() {
		names = append(names, l.GetFactoryNames(kind)...)
	}
	return names
}

// GetFactoryTypes lists the kinds, sorted, the parent's included.
func (r *Registry) GetFactoryTypes() []string {
	set := map[string]bool{}
	for reg := r; reg != nil; reg = reg.parent {
		for _, l := range reg.snapshot() {
			for _, k := range l.GetFactoryTypes() {
				set[k] = true
			}
		}
	}
	kinds := make([]string, 0, len(set))
	for k := range set {
		kinds = append(kinds, k)
	}
	sort.Strings(kinds)
	return kinds
}

// Dump writes what is registered, the newest library first.
func (r *Registry) Dump(log rocksdb.Logger) {
	if log != nil {
		r.mu.Lock()
		plugins := strings.Join(r.mu.plugins, ", ")
		r.mu.Unlock()
		if plugins != "" {
			log.LogHeader("    Registered Plugins: %s\n", plugins)
		}
		libs := r.snapshot()
		for i := len(libs) - 1; i >= 0; i-- {
			libs[i].Dump(log)
		}
	}
	if r.parent != nil {
		r.parent.Dump(log)
	}
}

func managedKey(kind, id string) string { return kind + "://" + id }

func (r *Registry) managed(kind, id string) any {
	r.mu.Lock()
	get := r.mu.managed[managedKey(kind, id)]
	r.mu.Unlock()
	if get != nil {
		return get()
	}
	if r.parent != nil {
		return r.parent.managed(kind, id)
	}
	return nil
}

// SetManagedObject lets others share object under an ID for as long as it is
// in use; InvalidArgument when another object has the ID.
func SetManagedObject[T any](r *Registry, kind, id string, object *T) error {
	var curr any
	if r.parent != nil {
		curr = r.parent.managed(kind, id)
	}
	key := managedKey(kind, id)
	if curr == nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		if get := r.mu.managed[key]; get != nil {
			curr = get()
		}
		if curr == nil {
			w := weak.Make(object)
			r.mu.managed[key] = func() any {
				if p := w.Value(); p != nil {
					return p
				}
				return nil
			}
			return nil
		}
	}
	if curr != any(object) {
		return rocksdb.InvalidArgument("Object already exists: ", key)
	}
	return nil
}

// GetManagedObject gives the object shared under an ID, nil when there is none.
func GetManagedObject[T any](r *Registry, kind, id string) *T {
	p, _ := r.managed(kind, id).(*T)
	return p
}

// ListManagedObjects gives the shared objects of a kind whose ID starts with
// name (all for "") and that are instances of it, in the order of their IDs,
// the parent's last.
func ListManagedObjects[T any](r *Registry, kind, name string) []*T {
	var out []*T
	for reg := r; reg != nil; reg = reg.parent {
		prefix := managedKey(kind, name)
		reg.mu.Lock()
		keys := make([]string, 0, len(reg.mu.managed))
		for k := range reg.mu.managed {
			if strings.HasPrefix(k, prefix) {
				keys = append(keys, k)
			}
		}
		sort.Strings(keys)
		for _, k := range keys {
			p, ok := reg.mu.managed[k]().(*T)
			if !ok {
				continue
			}
			c, named := any(p).(rocksdb.Customizable)
			if name == "" || named && rocksdb.IsInstanceOf(c, name) {
				out = append(out, p)
			}
		}
		reg.mu.Unlock()
	}
	return out
}

// GetOrCreateManagedObject gives the object shared under an ID, or makes it,
// configures it and shares it. created tells which.
func GetOrCreateManagedObject[T any](r *Registry, config *rocksdb.ConfigOptions, kind, id string, configure func(*T) error) (object *T, created bool, err error) {
	if p := GetManagedObject[T](r, kind, id); p != nil {
		return p, false, nil
	}
	obj, err := r.NewObject(config, kind, id)
	if err != nil {
		return nil, false, err
	}
	p, ok := obj.(*T)
	if !ok {
		return nil, false, rocksdb.InvalidArgument("Cannot make a shared "+kind+" from", id)
	}
	if configure != nil {
		if err := configure(p); err != nil {
			return nil, false, err
		}
	}
	// Another goroutine may have been faster; its object then wins.
	if err := SetManagedObject(r, kind, id, p); err != nil {
		if q := GetManagedObject[T](r, kind, id); q != nil {
			return q, false, nil
		}
		return nil, false, err
	}
	return p, true, nil
}
