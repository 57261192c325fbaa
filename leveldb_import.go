// No upstream twin: importing LevelDB directories.

package rocksdb

import leveldbimport "github.com/rocksdb-go/rocksdb/utilities/leveldb_import"

// LevelDBImportOptions say how to import.
type LevelDBImportOptions = leveldbimport.Options

// LevelDBImportStats tell what was read.
type LevelDBImportStats = leveldbimport.Stats

// ImportLevelDB makes a new database at target of what the LevelDB (or
// goleveldb) directory source holds, its log included; source is not changed.
// target must not exist, or be an empty directory. A source that is damaged, is
// open in another process, or has a comparator of its own is an error, after
// which target is as it was. `ldb import_leveldb` does the same.
func ImportLevelDB(source, target string, o *LevelDBImportOptions) (LevelDBImportStats, error) {
	RegisterBuiltins()
	return leveldbimport.Import(source, target, o)
}
