// Package leveldboptions turns the options that LevelDB has into those of
// RocksDB: Options, DefaultOptions, ConvertOptions.
//
// It has no state and no locks. Read leveldb_options.go first.
package leveldboptions
