// Port of RegisterBuiltinEnvs, RegisterBuiltinSystemClocks and
// RegisterBuiltinFileSystems of env/{env,file_system}.cc, as far as the objects
// are of this package.

package env

import (
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/utilities/registry"
)

// Register adds this package's environments, file systems, clocks, encryption
// providers and ciphers.
func Register(l *registry.Library) {
	add := func(kind string, names []string, build func() any) {
		for _, name := range names {
			l.AddFactory(kind, name, func(*rocksdb.ConfigOptions, string) (any, error) { return build(), nil })
		}
	}
	def := Default()
	add(registry.KindEnv, []string{def.Name(), rocksdb.DefaultEnvName}, func() any { return def })
	add(registry.KindEnv, []string{"CompositeEnv"}, func() any { return NewCompositeEnvWrapper(def, nil, nil) })

	fs := DefaultFileSystem()
	add(registry.KindFileSystem, []string{fs.Name(), rocksdb.DefaultFileSystemName}, func() any { return fs })
	add(registry.KindFileSystem, []string{"ReadOnlyFileSystem"}, func() any { return NewReadOnlyFileSystem(fs) })
	add(registry.KindFileSystem, []string{"ChrootFS"}, func() any { return newChrootFileSystem(fs, "") })
	add(registry.KindFileSystem, []string{encryptedFSName}, func() any {
		return &EncryptedFileSystem{FileSystemWrapper: rocksdb.FileSystemWrapper{FileSystem: fs}}
	})

	clock := rocksdb.DefaultSystemClock()
	add(registry.KindSystemClock, []string{rocksdb.DefaultSystemClockName, "PosixClock"}, func() any { return clock })
	add(registry.KindSystemClock, []string{"TimeEmulatedSystemClock"}, func() any { return NewEmulatedSystemClock(clock, false) })
	registerEncryption(l)
}
