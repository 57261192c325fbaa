// Package rocksdb is RocksDB v11.8.1 in Go: an embedded, ordered key-value
// store whose files are those of the C++ engine.
//
//	db, err := rocksdb.Open(dir, rocksdb.DefaultOptions())
//	err = db.Put(nil, key, value)
//	v, err := db.Get(nil, key)   // errors.Is(err, rocksdb.ErrNotFound)
//	defer v.Release()            // v.Data() is pinned, not copied
//
//	it := db.NewIterator(nil)
//	defer it.Close()
//	for k, v := range it.All() { … }
//	err = it.Err()
//
// A *DB is its default column family: all methods of *ColumnFamily are its own.
// Options of nil stand for the defaults. Slices given to a method are the
// caller's again when it returns. Names are upstream's in Go's case; the
// engine's packages stand under upstream's directory names, and this package
// re-exports the contract (package include/rocksdb) by alias.
//
// Errors are *Status; match them with errors.Is.
package rocksdb

//go:generate go run ./internal/cmd/aliases
