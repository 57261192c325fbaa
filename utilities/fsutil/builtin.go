// Port of RegisterBuiltinEnvs and RegisterBuiltinFileSystems of
// env/{env,file_system}.cc.

package fsutil

import (
	"sync"

	"github.com/rocksdb-go/rocksdb/env"
	"github.com/rocksdb-go/rocksdb/env/mockenv"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/utilities/registry"
)

// RegisterDefault adds all environments, file systems, clocks, encryption
// providers and ciphers to the process's registry, once.
var RegisterDefault = sync.OnceFunc(func() {
	l := registry.DefaultLibrary()
	env.Register(l)
	l.AddFactory(registry.KindEnv, "MockEnv", func(*rocksdb.ConfigOptions, string) (any, error) {
		return mockenv.Create(env.Default()), nil
	})
	fs := env.DefaultFileSystem()
	for name, build := range map[string]func() any{
		"TimedFS":           func() any { return NewTimedFileSystem(fs) },
		"CountedFileSystem": func() any { return NewCountedFileSystem(fs) },
		"MemoryFileSystem":  func() any { return mockenv.NewMockFileSystem(rocksdb.DefaultSystemClock(), true) },
	} {
		l.AddFactory(registry.KindFileSystem, name, func(*rocksdb.ConfigOptions, string) (any, error) { return build(), nil })
	}
})
