// Port of cache/cache_bench_tool.cc: the command line.

package main

// Flags are upstream's. A flag tagged unbuilt is refused off that value.
type Flags struct {
	Threads                   uint32  `flag:"threads,16" help:"goroutines that use the cache"`
	CacheSize                 uint64  `flag:"cache_size,1073741824" help:"bytes of the cache"`
	NumShardBits              int32   `flag:"num_shard_bits,-1" help:"log2 of its shards; -1 chooses"`
	EvictionEffortCap         int32   `flag:"eviction_effort_cap,30" help:"HyperClockCacheOptions::eviction_effort_cap"`
	ResidentRatio             float64 `flag:"resident_ratio,0.25" help:"part of the keys that fits into the cache"`
	OpsPerThread              uint64  `flag:"ops_per_thread,2000000" help:"operations of each thread"`
	ValueBytes                uint32  `flag:"value_bytes,8192" help:"bytes of a value"`
	ValueBytesEstimate        uint32  `flag:"value_bytes_estimate,0" help:"if above 0, what the cache takes for the bytes of a value"`
	CompressibleToRatio       float64 `flag:"compressible_to_ratio,0.5" help:"size ratio to which values can be compressed"`
	DegenerateHashBits        int32   `flag:"degenerate_hash_bits,0" unbuilt:"0" help:"hash bits that all keys share"`
	Skew                      uint32  `flag:"skew,5" help:"how much some keys are preferred; 0 for not"`
	PopulateCache             bool    `flag:"populate_cache,true" help:"fill the cache first"`
	PinnedRatio               float64 `flag:"pinned_ratio,0.25" help:"part of the entries that is kept pinned"`
	VaryCapacityRatio         float64 `flag:"vary_capacity_ratio,0" help:"part of the capacity by which it is changed now and then"`
	LookupInsertPercent       uint32  `flag:"lookup_insert_percent,82" help:"percentage of lookups that insert what is missing"`
	InsertPercent             uint32  `flag:"insert_percent,2" help:"percentage of inserts"`
	BlindInsertPercent        uint32  `flag:"blind_insert_percent,5" help:"percentage of inserts without a handle"`
	LookupPercent             uint32  `flag:"lookup_percent,10" help:"percentage of lookups"`
	ErasePercent              uint32  `flag:"erase_percent,1" help:"percentage of erasures"`
	GatherStats               bool    `flag:"gather_stats,false" help:"go over all entries now and then in one more thread"`
	GatherStatsSleepMs        uint32  `flag:"gather_stats_sleep_ms,1000" help:"milliseconds between that"`
	GatherStatsEntriesPerLock uint32  `flag:"gather_stats_entries_per_lock,256" unbuilt:"256" help:"entries that are looked at under one lock"`
	Usleep                    uint32  `flag:"usleep,0" help:"sleep up to so many microseconds after an operation"`
	Lean                      bool    `flag:"lean,false" help:"do nothing with what is found"`
	EarlyExit                 bool    `flag:"early_exit,false" help:"exit before most memory is freed"`
	Histograms                bool    `flag:"histograms,true" help:"print histograms of latencies"`
	ReportProblems            bool    `flag:"report_problems,true" help:"tell in the end of what is not as it should be"`
	Seed                      uint32  `flag:"seed,0" help:"seed of keys and hashes; 0 chooses one"`
	SecondaryCacheURI         string  `flag:"secondary_cache_uri," help:"secondary cache to put below"`
	CacheType                 string  `flag:"cache_type,hyper_clock_cache" help:"lru_cache, or one of the hyper_clock_cache kinds"`
	UseJemalloc               bool    `flag:"use_jemalloc_no_dump_allocator,false" unbuilt:"false" help:"take memory from jemalloc"`
	JemallocArenas            uint32  `flag:"jemalloc_no_dump_allocator_num_arenas,1" unbuilt:"1" help:"its arenas"`
	JemallocLimitTcache       bool    `flag:"jemalloc_no_dump_allocator_limit_tcache_size,false" unbuilt:"false" help:"limit its caches"`
	StressCacheKey            bool    `flag:"stress_cache_key,false" unbuilt:"false" help:"simulate collisions of cache keys instead"`
	SckFilesPerDay            uint32  `flag:"sck_files_per_day,2500000" unbuilt:"2500000" help:"(stress_cache_key) files a day"`
	SckDaysPerRun             uint32  `flag:"sck_days_per_run,90" unbuilt:"90" help:"(stress_cache_key) days of a run"`
	SckMinCollision           uint32  `flag:"sck_min_collision,15" unbuilt:"15" help:"(stress_cache_key) collisions to wait for"`
	SckFileSizeMb             uint32  `flag:"sck_file_size_mb,32" unbuilt:"32" help:"(stress_cache_key) MiB of a file"`
	SckReopenNfiles           uint32  `flag:"sck_reopen_nfiles,100" unbuilt:"100" help:"(stress_cache_key) files between reopenings"`
	SckNewdbNreopen           uint32  `flag:"sck_newdb_nreopen,1000" unbuilt:"1000" help:"(stress_cache_key) reopenings between new databases"`
	SckRestartsPerDay         uint32  `flag:"sck_restarts_per_day,24" unbuilt:"24" help:"(stress_cache_key) restarts of the process a day"`
	SckDbCount                uint32  `flag:"sck_db_count,100" unbuilt:"100" help:"(stress_cache_key) databases that share a cache"`
	SckTableBits              uint32  `flag:"sck_table_bits,20" unbuilt:"20" help:"(stress_cache_key) log2 of the files that are tracked"`
	SckKeepBits               uint32  `flag:"sck_keep_bits,50" unbuilt:"50" help:"(stress_cache_key) bits that are kept of a key"`
	SckRandomize              bool    `flag:"sck_randomize,false" unbuilt:"false" help:"(stress_cache_key) hash the keys"`
	SckFooterUniqueID         bool    `flag:"sck_footer_unique_id,false" unbuilt:"false" help:"(stress_cache_key) take unique ids of footers"`
	StressCacheInstances      uint32  `flag:"stress_cache_instances,0" unbuilt:"0" help:"make and drop so many caches instead"`
}
