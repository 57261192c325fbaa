// Port of utilities/leveldb_options/leveldb_options.cc and
// include/rocksdb/utilities/leveldb_options.h. Differs: the comparator is
// converted, too.

package leveldboptions

import (
	"github.com/rocksdb-go/rocksdb/env"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	blockbased "github.com/rocksdb-go/rocksdb/table/block_based"
	"github.com/rocksdb-go/rocksdb/util"
)

// Options are LevelDB's. Begin with DefaultOptions. Upstream: LevelDBOptions.
type Options struct {
	Comparator      rocksdb.Comparator
	CreateIfMissing bool
	ErrorIfExists   bool
	// ParanoidChecks stops at the first sign of damage.
	ParanoidChecks bool
	Env            rocksdb.Env
	// InfoLog is nil for a file in the database's directory.
	InfoLog rocksdb.Logger
	// WriteBufferSize is in bytes.
	WriteBufferSize uint64
	MaxOpenFiles    int
	// BlockCache is nil for the default of block-based tables.
	BlockCache rocksdb.Cache
	// BlockSize is in bytes, before compression.
	BlockSize            int
	BlockRestartInterval int
	Compression          rocksdb.CompressionType
	// FilterPolicy is nil for none.
	FilterPolicy rocksdb.FilterPolicy
}

// DefaultOptions are those of LevelDB.
func DefaultOptions() Options {
	return Options{
		Comparator:           util.BytewiseComparator(),
		Env:                  env.Default(),
		WriteBufferSize:      4 << 20,
		MaxOpenFiles:         1000,
		BlockSize:            4096,
		BlockRestartInterval: 16,
		Compression:          rocksdb.SnappyCompression,
	}
}

// ConvertOptions gives the options for a database that l describes; what LevelDB
// does not have is the default.
func ConvertOptions(l *Options) rocksdb.Options {
	o := rocksdb.DefaultOptions()
	o.Comparator = l.Comparator
	o.CreateIfMissing = l.CreateIfMissing
	o.ErrorIfExists = l.ErrorIfExists
	o.ParanoidChecks = l.ParanoidChecks
	o.Env = l.Env
	o.InfoLog = l.InfoLog
	o.WriteBufferSize = l.WriteBufferSize
	o.MaxOpenFiles = l.MaxOpenFiles
	o.Compression = l.Compression

	t := rocksdb.DefaultBlockBasedTableOptions()
	t.BlockCache = l.BlockCache
	t.BlockSize = uint64(l.BlockSize)
	t.BlockRestartInterval = l.BlockRestartInterval
	t.FilterPolicy = l.FilterPolicy
	o.TableFactory = blockbased.NewBlockBasedTableFactory(&t)
	return o
}
