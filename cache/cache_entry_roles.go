// Port of cache/cache_entry_roles.{h,cc}.

package cache

import "github.com/rocksdb-go/rocksdb/include/rocksdb"

var roleCamel = [rocksdb.NumCacheEntryRoles]string{
	"DataBlock", "FilterBlock", "FilterMetaBlock", "DeprecatedFilterBlock", "IndexBlock", "OtherBlock", "WriteBuffer",
	"CompressionDictionaryBuildingBuffer", "FilterConstruction", "BlockBasedTableReader", "FileMetadata", "BlobValue",
	"BlobCache", "Misc",
}

var roleHyphen = [rocksdb.NumCacheEntryRoles]string{
	"data-block", "filter-block", "filter-meta-block", "deprecated-filter-block", "index-block", "other-block", "write-buffer",
	"compression-dictionary-building-buffer", "filter-construction", "block-based-table-reader", "file-metadata", "blob-value",
	"blob-cache", "misc",
}

// CacheEntryRoleToCamelString is a role's name as printed in the LOG.
func CacheEntryRoleToCamelString(r rocksdb.CacheEntryRole) string {
	if r >= rocksdb.NumCacheEntryRoles {
		return ""
	}
	return roleCamel[r]
}

// GetCacheEntryRoleName is a role's name as used in properties and options.
func GetCacheEntryRoleName(r rocksdb.CacheEntryRole) string {
	if r >= rocksdb.NumCacheEntryRoles {
		return ""
	}
	return roleHyphen[r]
}

// The keys of the map property "rocksdb.block-cache-entry-stats".
const (
	BlockCacheEntryStatsCacheID                       = "id"
	BlockCacheEntryStatsCacheCapacityBytes            = "capacity"
	BlockCacheEntryStatsLastCollectionDurationSeconds = "secs_for_last_collection"
	BlockCacheEntryStatsLastCollectionAgeSeconds      = "secs_since_last_collection"
)

// BlockCacheEntryStatsEntryCount is the key of a role's number of entries.
func BlockCacheEntryStatsEntryCount(r rocksdb.CacheEntryRole) string {
	return "count." + GetCacheEntryRoleName(r)
}

// BlockCacheEntryStatsUsedBytes is the key of a role's bytes.
func BlockCacheEntryStatsUsedBytes(r rocksdb.CacheEntryRole) string {
	return "bytes." + GetCacheEntryRoleName(r)
}

// BlockCacheEntryStatsUsedPercent is the key of a role's part of the capacity.
func BlockCacheEntryStatsUsedPercent(r rocksdb.CacheEntryRole) string {
	return "percent." + GetCacheEntryRoleName(r)
}
