// Port of the option tables of env/*.cc, monitoring/statistics.cc and
// memory/memory_allocator.cc, and of Env::CreateFromString and Env::CreateFromUri. Differs: the default
// objects are in the registry.

package options

import (
	"github.com/rocksdb-go/rocksdb/env"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/utilities/registry"
)

// targetTable is the table of what wraps a T in one field.
func targetTable[T any](table, kind, defaultName string) *Table {
	return NewTable[T](table, F("target", func(t *T) any { return t }, DontSerialize|WrappedTarget).With(ByName, &customCodec[T]{kind: kind, nilName: defaultName}))
}

// statisticsCodec makes the built-in Statistics of an empty value.
var statisticsCodec = &customCodec[rocksdb.Statistics]{kind: registry.KindStatistics, emptyID: "BasicStatistics"}

// objectTables are the tables of the objects below this package, in the order in
// which an object with several writes its options.
var objectTables = []*Table{
	BlockBasedTable, PlainTable, CuckooTable,
	targetTable[rocksdb.Env](rocksdb.EnvTargetOptionsName, registry.KindEnv, rocksdb.DefaultEnvName),
	targetTable[rocksdb.FileSystem](rocksdb.FileSystemTargetOptionsName, registry.KindFileSystem, rocksdb.DefaultFileSystemName),
	targetTable[rocksdb.SystemClock](rocksdb.SystemClockTargetOptionsName, registry.KindSystemClock, rocksdb.DefaultSystemClockName),
	NewTable[rocksdb.FileSystem](rocksdb.CompositeFSOptionsName,
		F("file_system", func(f *rocksdb.FileSystem) any { return f }, 0).With(ByName, &customCodec[rocksdb.FileSystem]{kind: registry.KindFileSystem, nilName: rocksdb.DefaultFileSystemName})),
	NewTable[rocksdb.SystemClock](rocksdb.CompositeClockOptionsName,
		F("clock", func(c *rocksdb.SystemClock) any { return c }, 0).With(ByName, &customCodec[rocksdb.SystemClock]{kind: registry.KindSystemClock, nilName: rocksdb.DefaultSystemClockName})),
	NewTable[string](rocksdb.ChrootDirOptionsName, F("chroot_dir", func(s *string) any { return s }, 0)),
	NewTable[bool](rocksdb.MockFSOptionsName, F("supports_direct_io", func(b *bool) any { return b }, 0)),
	NewTable[rocksdb.EncryptionProvider](rocksdb.EncryptedFSOptionsName,
		F("provider", func(p *rocksdb.EncryptionProvider) any { return p }, 0).With(ByName, &customCodec[rocksdb.EncryptionProvider]{kind: registry.KindEncryptionProvider})),
	NewTable[rocksdb.BlockCipher](rocksdb.CTRProviderOptionsName,
		F("cipher", func(c *rocksdb.BlockCipher) any { return c }, 0).With(ByName, &customCodec[rocksdb.BlockCipher]{kind: registry.KindBlockCipher})),
	NewTable[rocksdb.Statistics](rocksdb.StatisticsOptionsName,
		F("inner", func(s *rocksdb.Statistics) any { return s }, CompareNever).With(ByNameAllowFromNull, statisticsCodec)),
	NewTable[rocksdb.MemoryAllocator](rocksdb.MemoryAllocatorTargetOptionsName,
		F("target", func(a *rocksdb.MemoryAllocator) any { return a }, 0).With(ByName, &customCodec[rocksdb.MemoryAllocator]{kind: registry.KindMemoryAllocator})),
	NewTable[int](rocksdb.ROT13CipherOptionsName, F("block_size", func(n *int) any { return n }, 0)),
}

// CreateStatisticsFromString makes a Statistics from its ID or
// "{id=…;name=value;…}": the built-in one for "", nil for "nullptr".
func CreateStatisticsFromString(cfg *rocksdb.ConfigOptions, value string) (s rocksdb.Statistics, err error) {
	return s, statisticsCodec.Parse(cfg, "statistics", value, &s)
}

// CreateEnvFromString makes an Env from its ID or "{id=…;name=value;…}"; "" is
// the default one.
func CreateEnvFromString(cfg *rocksdb.ConfigOptions, value string) (rocksdb.Env, error) {
	if value == "" {
		return env.Default(), nil
	}
	return CreateFromString[rocksdb.Env](cfg, registry.KindEnv, value)
}

// CreateEnvFromURI makes an Env of envURI, or puts the file system of fsURI into
// cfg's Env; both cannot be. Where both are empty it is cfg's Env. What is not
// supported is an error whatever cfg ignores.
func CreateEnvFromURI(cfg *rocksdb.ConfigOptions, envURI, fsURI string) (rocksdb.Env, error) {
	base := cfg.Env
	if base == nil {
		base = env.Default()
	}
	strict := *cfg
	strict.IgnoreUnsupportedOptions = false
	switch {
	case envURI != "" && fsURI != "":
		return nil, rocksdb.InvalidArgument("cannot specify both fs_uri and env_uri")
	case envURI != "":
		return CreateEnvFromString(&strict, envURI)
	case fsURI == "":
		return base, nil
	}
	fs, err := CreateFromString[rocksdb.FileSystem](&strict, registry.KindFileSystem, fsURI)
	if err != nil {
		return nil, err
	}
	return env.NewCompositeEnvWrapper(base, fs, nil), nil
}
