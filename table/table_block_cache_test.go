// Port of table/table_test.cc: block-based tables and the block cache,
// checksums of files, estimates of offsets.

package table_test

import (
	"github.com/rocksdb-go/rocksdb/cache"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

func newLRU(capacity, shardBits int) rocksdb.Cache {
	o := rocksdb.DefaultLRUCacheOptions(capacity)
	o.NumShardBits = shardBits
	c, err := cache.NewLRUCache(o)
	if err != nil {
		panic(err)
	}
	return c
}
