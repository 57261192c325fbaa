// No upstream twin: the engine as db_bench uses it.

package main

import (
	engine "github.com/rocksdb-go/rocksdb"
	rocksdb "github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/options"
	"github.com/rocksdb-go/rocksdb/utilities/registry"
)

// The engine's types, concrete, so that a benchmark's loop has no interface
// between itself and the engine.
type (
	DB           = engine.DB
	ColumnFamily = engine.ColumnFamily
	Iterator     = engine.Iterator
	WriteBatch   = engine.WriteBatch
)

// newWriteBatch makes a batch that --write_batch_protection_bytes_per_key
// protects.
func (b *benchmark) newWriteBatch() (*WriteBatch, error) {
	return engine.NewWriteBatchWithProtection(uint64(b.flags.WriteBatchProtectionBytesPerKey))
}

// registerBuiltins makes plug-ins known by name, for flags that name one.
func registerBuiltins() { engine.RegisterBuiltins() }

func openDB(path string, o *rocksdb.Options) (*DB, error) { return engine.Open(path, *o) }

func openForReadOnly(path string, o *rocksdb.Options) (*DB, error) {
	return engine.OpenForReadOnly(path, *o)
}

func openColumnFamilies(o *rocksdb.Options, path string, readOnly bool, families []rocksdb.ColumnFamilyDescriptor) (*DB, []*ColumnFamily, error) {
	if readOnly {
		return engine.OpenColumnFamiliesForReadOnly(path, o.DBOptions, families, false)
	}
	return engine.OpenColumnFamilies(path, o.DBOptions, families)
}

func newIODispatcher(o *rocksdb.IODispatcherOptions) rocksdb.IODispatcher {
	return engine.NewIODispatcher(o)
}

func destroyDB(path string, o *rocksdb.Options) error { return engine.DestroyDB(path, *o) }

func newBlockBasedTableFactory(o *rocksdb.BlockBasedTableOptions) rocksdb.TableFactory {
	return engine.NewBlockBasedTableFactory(*o)
}

// tableFactoryByName makes a format that not every build has, and sets its
// options, a pointer to the format's struct.
func tableFactoryByName[T any](name, optionsName string, o *T) (rocksdb.TableFactory, error) {
	f, err := createByName[rocksdb.TableFactory](registry.KindTableFactory, name)
	if err != nil {
		return nil, err
	}
	p, ok := f.OptionsPtr(optionsName).(*T)
	if !ok {
		return nil, rocksdb.NotSupported("table format", name)
	}
	*p = *o
	return f, nil
}

// createByName makes a plug-in of the registry; unlike OPTIONS files, flags
// must not name one that is not there.
func createByName[T any](kind, id string) (T, error) {
	cfg := rocksdb.DefaultConfigOptions()
	cfg.IgnoreUnsupportedOptions = false
	v, err := options.CreateFromString[T](&cfg, kind, id)
	if err == nil && any(v) == nil {
		err = rocksdb.NotSupported("Could not load "+kind, id)
	}
	return v, err
}

// The calls below are made where the engine has them.

func resetStats(db *DB) error {
	if d, ok := any(db).(interface{ ResetStats() error }); ok {
		return d.ResetStats()
	}
	return rocksdb.NotSupported("ResetStats")
}

func verifyChecksum(db *DB, ro *rocksdb.ReadOptions) error {
	if d, ok := any(db).(interface {
		VerifyChecksum(*rocksdb.ReadOptions) error
	}); ok {
		return d.VerifyChecksum(ro)
	}
	return rocksdb.NotSupported("VerifyChecksum")
}

func verifyFileChecksums(db *DB, ro *rocksdb.ReadOptions) error {
	if d, ok := any(db).(interface {
		VerifyFileChecksums(*rocksdb.ReadOptions) error
	}); ok {
		return d.VerifyFileChecksums(ro)
	}
	return rocksdb.NotSupported("VerifyFileChecksums")
}
