// Port of the tuning methods of options/options.cc. Differs: those that make
// caches or table formats are functions of package options.

package rocksdb

// OldDefaults changes the options to the defaults of an old version.
func (o *DBOptions) OldDefaults(major, minor int) *DBOptions {
	before := func(ma, mi int) bool { return major < ma || major == ma && minor < mi }
	if before(4, 7) {
		o.MaxFileOpeningThreads = 1
		o.TableCacheNumshardbits = 4
	}
	if before(5, 2) {
		o.DelayedWriteRate = 2 << 20
	} else if before(5, 6) {
		o.DelayedWriteRate = 16 << 20
	}
	o.MaxOpenFiles = 5000
	o.WALRecoveryMode = TolerateCorruptedTailRecords
	return o
}

// OldDefaults changes the options to the defaults of an old version.
func (o *ColumnFamilyOptions) OldDefaults(major, minor int) *ColumnFamilyOptions {
	before := func(ma, mi int) bool { return major < ma || major == ma && minor < mi }
	if before(5, 19) {
		o.CompactionPri = ByCompensatedSize
	}
	if before(4, 7) {
		o.WriteBufferSize = 4 << 20
		o.TargetFileSizeBase = 2 << 20
		o.MaxBytesForLevelBase = 10 << 20
		o.SoftPendingCompactionBytesLimit = 0
		o.HardPendingCompactionBytesLimit = 0
	}
	if major < 5 {
		o.Level0StopWritesTrigger = 24
	} else if before(5, 2) {
		o.Level0StopWritesTrigger = 30
	}
	return o
}

// OldDefaults changes the options to the defaults of an old version.
func (o *Options) OldDefaults(major, minor int) *Options {
	o.ColumnFamilyOptions.OldDefaults(major, minor)
	o.DBOptions.OldDefaults(major, minor)
	return o
}

// OptimizeLevelStyleCompaction sizes leveled compaction for memtables of that
// many bytes in all (upstream's default is 512 MiB).
func (o *ColumnFamilyOptions) OptimizeLevelStyleCompaction(memtableMemoryBudget uint64) *ColumnFamilyOptions {
	o.WriteBufferSize = memtableMemoryBudget / 4
	o.MinWriteBufferNumberToMerge = 2
	o.MaxWriteBufferNumber = 6
	o.Level0FileNumCompactionTrigger = 2
	o.TargetFileSizeBase = memtableMemoryBudget / 8
	o.MaxBytesForLevelBase = memtableMemoryBudget
	o.CompactionStyle = CompactionStyleLevel
	o.CompressionPerLevel = make([]CompressionType, max(o.NumLevels, 0))
	for i := 2; i < len(o.CompressionPerLevel); i++ {
		o.CompressionPerLevel[i] = LZ4Compression
	}
	return o
}

// OptimizeUniversalStyleCompaction sizes universal compaction for memtables of
// that many bytes in all (upstream's default is 512 MiB).
func (o *ColumnFamilyOptions) OptimizeUniversalStyleCompaction(memtableMemoryBudget uint64) *ColumnFamilyOptions {
	o.WriteBufferSize = memtableMemoryBudget / 4
	o.MinWriteBufferNumberToMerge = 2
	o.MaxWriteBufferNumber = 6
	o.CompactionStyle = CompactionStyleUniversal
	o.CompactionOptionsUniversal.CompressionSizePercent = 80
	return o
}

// IncreaseParallelism sets the number of background jobs (upstream's default
// is 16) and, where Env is set, of its threads.
func (o *DBOptions) IncreaseParallelism(totalThreads int) *DBOptions {
	o.MaxBackgroundJobs = totalThreads
	if o.Env != nil {
		o.Env.SetBackgroundThreads(totalThreads, LowPriority)
		o.Env.SetBackgroundThreads(1, HighPriority)
	}
	return o
}

// PrepareForBulkLoad turns compactions off for loading into level 0; compact
// everything afterwards.
func (o *Options) PrepareForBulkLoad() *Options {
	o.Level0FileNumCompactionTrigger = 1 << 30
	o.Level0SlowdownWritesTrigger = 1 << 30
	o.Level0StopWritesTrigger = 1 << 30
	o.SoftPendingCompactionBytesLimit = 0
	o.HardPendingCompactionBytesLimit = 0
	o.DisableAutoCompactions = true
	o.MaxCompactionBytes = 1 << 60
	o.NumLevels = 2
	o.MaxWriteBufferNumber = 6
	o.MinWriteBufferNumberToMerge = 1
	o.MaxBackgroundFlushes = 4
	o.MaxBackgroundCompactions = 2
	o.TargetFileSizeBase = 256 << 20
	return o
}

// DisableExtraChecks turns off checks that cost time.
func (o *Options) DisableExtraChecks() *Options {
	o.ForceConsistencyChecks = false
	return o
}
