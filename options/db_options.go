// Port of options/db_options.{h,cc}. Differs: the option table is in
// db_options_rows.go, the log text in db_options_dump.go; strings for the
// mutable half go through the one table of DBOptions.

package options

import (
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// ImmutableDBOptions are the options of an open database that do not change.
// Fields are as in rocksdb.DBOptions.
type ImmutableDBOptions struct {
	CreateIfMissing                         bool
	CreateMissingColumnFamilies             bool
	ErrorIfExists                           bool
	ParanoidChecks                          bool
	OpenFilesAsync                          bool
	FlushVerifyMemtableCount                bool
	CompactionVerifyRecordCount             bool
	TrackAndVerifyWALsInManifest            bool
	TrackAndVerifyWALs                      bool
	VerifySstUniqueIDInManifest             bool
	Env                                     rocksdb.Env
	RateLimiter                             rocksdb.RateLimiter
	SstFileManager                          rocksdb.SstFileManager
	InfoLog                                 rocksdb.Logger
	InfoLogLevel                            rocksdb.InfoLogLevel
	MaxFileOpeningThreads                   int
	ReadIOExecutorThreads                   int
	Statistics                              rocksdb.Statistics
	UseFsync                                bool
	DBPaths                                 []rocksdb.DBPath
	DBLogDir                                string
	WALDir                                  string
	MaxLogFileSize                          uint64
	LogFileTimeToRoll                       uint64
	KeepLogFileNum                          uint64
	RecycleLogFileNum                       uint64
	AsyncWALPrecreate                       bool
	TableCacheNumshardbits                  int
	WALTTLSeconds                           uint64
	WALSizeLimitMB                          uint64
	MaxWriteBatchGroupSizeBytes             uint64
	AllowMmapReads                          bool
	AllowMmapWrites                         bool
	UseDirectReads                          bool
	UseDirectIOForCompactionReads           bool
	UseDirectIOForFlushAndCompaction        bool
	AllowFallocate                          bool
	IsFDCloseOnExec                         bool
	AdviseRandomOnOpen                      bool
	DBWriteBufferSize                       uint64
	WriteBufferManager                      rocksdb.WriteBufferManager
	UseAdaptiveMutex                        bool
	Listeners                               []rocksdb.EventListener
	EnableThreadTracking                    bool
	EnablePipelinedWrite                    bool
	UnorderedWrite                          bool
	AllowConcurrentMemtableWrite            bool
	EnableWriteThreadAdaptiveYield          bool
	WriteThreadMaxYieldUsec                 uint64
	WriteThreadSlowYieldUsec                uint64
	SkipStatsUpdateOnDBOpen                 bool
	WALRecoveryMode                         rocksdb.WALRecoveryMode
	Allow2PC                                bool
	RowCache                                rocksdb.Cache
	WalFilter                               rocksdb.WalFilter
	DumpMallocStats                         bool
	AvoidFlushDuringRecovery                bool
	EnforceWriteBufferManagerDuringRecovery bool
	AllowIngestBehind                       bool
	TwoWriteQueues                          bool
	ManualWALFlush                          bool
	WALCompression                          rocksdb.CompressionType
	BackgroundCloseInactiveWALs             bool
	AtomicFlush                             bool
	AvoidUnnecessaryBlockingIO              bool
	PrefixSeekOptInOnly                     bool
	PersistStatsToDisk                      bool
	WriteDBIDToManifest                     bool
	ReuseManifestOnOpen                     bool
	WriteIdentityFile                       bool
	LogReadaheadSize                        uint64
	FileChecksumGenFactory                  rocksdb.FileChecksumGenFactory
	BestEffortsRecovery                     bool
	MaxBGErrorResumeCount                   int
	BGErrorResumeRetryInterval              uint64
	AllowDataInErrors                       bool
	DBHostID                                string
	ChecksumHandoffFileTypes                rocksdb.FileTypeSet
	LowestUsedCacheTier                     rocksdb.CacheTier
	CompactionService                       rocksdb.CompactionService
	EnforceSingleDelContracts               bool
	FollowerRefreshCatchupPeriodMS          uint64
	FollowerCatchupRetryCount               uint64
	FollowerCatchupRetryWaitMS              uint64
	MetadataWriteTemperature                rocksdb.Temperature
	WALWriteTemperature                     rocksdb.Temperature
	CalculateSstWriteLifetimeHintSet        rocksdb.CompactionStyleSet

	// Of Env, Statistics and InfoLog; nil when those are.
	FS     rocksdb.FileSystem
	Clock  rocksdb.SystemClock
	Stats  rocksdb.Statistics
	Logger rocksdb.Logger
}

// NewImmutableDBOptions takes them out of o.
func NewImmutableDBOptions(o *rocksdb.DBOptions) ImmutableDBOptions {
	i := ImmutableDBOptions{
		CreateIfMissing:                         o.CreateIfMissing,
		CreateMissingColumnFamilies:             o.CreateMissingColumnFamilies,
		ErrorIfExists:                           o.ErrorIfExists,
		ParanoidChecks:                          o.ParanoidChecks,
		OpenFilesAsync:                          o.OpenFilesAsync,
		FlushVerifyMemtableCount:                o.FlushVerifyMemtableCount,
		CompactionVerifyRecordCount:             o.CompactionVerifyRecordCount,
		TrackAndVerifyWALsInManifest:            o.TrackAndVerifyWALsInManifest,
		TrackAndVerifyWALs:                      o.TrackAndVerifyWALs,
		VerifySstUniqueIDInManifest:             o.VerifySstUniqueIDInManifest,
		Env:                                     o.Env,
		RateLimiter:                             o.RateLimiter,
		SstFileManager:                          o.SstFileManager,
		InfoLog:                                 o.InfoLog,
		InfoLogLevel:                            o.InfoLogLevel,
		MaxFileOpeningThreads:                   o.MaxFileOpeningThreads,
		ReadIOExecutorThreads:                   o.ReadIOExecutorThreads,
		Statistics:                              o.Statistics,
		UseFsync:                                o.UseFsync,
		DBPaths:                                 o.DBPaths,
		DBLogDir:                                o.DBLogDir,
		WALDir:                                  o.WALDir,
		MaxLogFileSize:                          o.MaxLogFileSize,
		LogFileTimeToRoll:                       o.LogFileTimeToRoll,
		KeepLogFileNum:                          o.KeepLogFileNum,
		RecycleLogFileNum:                       o.RecycleLogFileNum,
		AsyncWALPrecreate:                       o.AsyncWALPrecreate,
		TableCacheNumshardbits:                  o.TableCacheNumshardbits,
		WALTTLSeconds:                           o.WALTTLSeconds,
		WALSizeLimitMB:                          o.WALSizeLimitMB,
		MaxWriteBatchGroupSizeBytes:             o.MaxWriteBatchGroupSizeBytes,
		AllowMmapReads:                          o.AllowMmapReads,
		AllowMmapWrites:                         o.AllowMmapWrites,
		UseDirectReads:                          o.UseDirectReads,
		UseDirectIOForCompactionReads:           o.UseDirectIOForCompactionReads,
		UseDirectIOForFlushAndCompaction:        o.UseDirectIOForFlushAndCompaction,
		AllowFallocate:                          o.AllowFallocate,
		IsFDCloseOnExec:                         o.IsFDCloseOnExec,
		AdviseRandomOnOpen:                      o.AdviseRandomOnOpen,
		DBWriteBufferSize:                       o.DBWriteBufferSize,
		WriteBufferManager:                      o.WriteBufferManager,
		UseAdaptiveMutex:                        o.UseAdaptiveMutex,
		Listeners:                               o.Listeners,
		EnableThreadTracking:                    o.EnableThreadTracking,
		EnablePipelinedWrite:                    o.EnablePipelinedWrite,
		UnorderedWrite:                          o.UnorderedWrite,
		AllowConcurrentMemtableWrite:            o.AllowConcurrentMemtableWrite,
		EnableWriteThreadAdaptiveYield:          o.EnableWriteThreadAdaptiveYield,
		WriteThreadMaxYieldUsec:                 o.WriteThreadMaxYieldUsec,
		WriteThreadSlowYieldUsec:                o.WriteThreadSlowYieldUsec,
		SkipStatsUpdateOnDBOpen:                 o.SkipStatsUpdateOnDBOpen,
		WALRecoveryMode:                         o.WALRecoveryMode,
		Allow2PC:                                o.Allow2PC,
		RowCache:                                o.RowCache,
		WalFilter:                               o.WalFilter,
		DumpMallocStats:                         o.DumpMallocStats,
		AvoidFlushDuringRecovery:                o.AvoidFlushDuringRecovery,
		EnforceWriteBufferManagerDuringRecovery: o.EnforceWriteBufferManagerDuringRecovery,
		AllowIngestBehind:                       o.AllowIngestBehind,
		TwoWriteQueues:                          o.TwoWriteQueues,
		ManualWALFlush:                          o.ManualWALFlush,
		WALCompression:                          o.WALCompression,
		BackgroundCloseInactiveWALs:             o.BackgroundCloseInactiveWALs,
		AtomicFlush:                             o.AtomicFlush,
		AvoidUnnecessaryBlockingIO:              o.AvoidUnnecessaryBlockingIO,
		PrefixSeekOptInOnly:                     o.PrefixSeekOptInOnly,
		PersistStatsToDisk:                      o.PersistStatsToDisk,
		WriteDBIDToManifest:                     o.WriteDBIDToManifest,
		ReuseManifestOnOpen:                     o.ReuseManifestOnOpen,
		WriteIdentityFile:                       o.WriteIdentityFile,
		LogReadaheadSize:                        o.LogReadaheadSize,
		FileChecksumGenFactory:                  o.FileChecksumGenFactory,
		BestEffortsRecovery:                     o.BestEffortsRecovery,
		MaxBGErrorResumeCount:                   o.MaxBGErrorResumeCount,
		BGErrorResumeRetryInterval:              o.BGErrorResumeRetryInterval,
		AllowDataInErrors:                       o.AllowDataInErrors,
		DBHostID:                                o.DBHostID,
		ChecksumHandoffFileTypes:                o.ChecksumHandoffFileTypes,
		LowestUsedCacheTier:                     o.LowestUsedCacheTier,
		CompactionService:                       o.CompactionService,
		EnforceSingleDelContracts:               o.EnforceSingleDelContracts,
		FollowerRefreshCatchupPeriodMS:          o.FollowerRefreshCatchupPeriodMS,
		FollowerCatchupRetryCount:               o.FollowerCatchupRetryCount,
		FollowerCatchupRetryWaitMS:              o.FollowerCatchupRetryWaitMS,
		MetadataWriteTemperature:                o.MetadataWriteTemperature,
		WALWriteTemperature:                     o.WALWriteTemperature,
		CalculateSstWriteLifetimeHintSet:        o.CalculateSstWriteLifetimeHintSet,
	}
	if o.Env != nil {
		i.FS, i.Clock = o.Env.GetFileSystem(), o.Env.GetSystemClock()
	}
	i.Stats, i.Logger = o.Statistics, o.InfoLog
	return i
}

// IsWalDirSameAsDBPath tells whether logs are in the database's first
// directory.
func (o *ImmutableDBOptions) IsWalDirSameAsDBPath() bool {
	return len(o.DBPaths) > 0 && o.IsWalDirSameAs(o.DBPaths[0].Path)
}

// IsWalDirSameAs tells whether logs are in path.
func (o *ImmutableDBOptions) IsWalDirSameAs(path string) bool {
	if o.WALDir == "" {
		return true
	}
	if o.FS != nil {
		same, err := o.FS.AreFilesSame(o.WALDir, path, nil)
		if err == nil {
			return same
		}
		if !rocksdb.IsNotSupported(err) {
			return false
		}
	}
	return o.WALDir == path
}

// GetWalDir is where logs are: WALDir, or the first of DBPaths.
func (o *ImmutableDBOptions) GetWalDir() string {
	if o.WALDir == "" && len(o.DBPaths) > 0 {
		return o.DBPaths[0].Path
	}
	return o.WALDir
}

// GetWalDirFor is WALDir, or path where there is none.
func (o *ImmutableDBOptions) GetWalDirFor(path string) string {
	if o.WALDir == "" {
		return path
	}
	return o.WALDir
}

// MutableDBOptions are the options of an open database that SetDBOptions
// changes. Fields are as in rocksdb.DBOptions; the struct may be compared.
type MutableDBOptions struct {
	MaxBackgroundJobs                 int
	MaxBackgroundCompactions          int
	MaxSubcompactions                 uint32
	AvoidFlushDuringShutdown          bool
	WritableFileMaxBufferSize         uint64
	DelayedWriteRate                  uint64
	MaxTotalWALSize                   uint64
	DeleteObsoleteFilesPeriodMicros   uint64
	StatsDumpPeriodSec                uint32
	StatsPersistPeriodSec             uint32
	StatsHistoryBufferSize            uint64
	MaxOpenFiles                      int
	BytesPerSync                      uint64
	WALBytesPerSync                   uint64
	StrictBytesPerSync                bool
	CompactionReadaheadSize           uint64
	MaxBackgroundFlushes              int
	MaxManifestFileSize               uint64
	MaxManifestSpaceAmpPct            int
	ManifestPreallocationSize         uint64
	VerifyManifestContentOnClose      bool
	OptimizeManifestForRecovery       bool
	FastSstOpen                       bool
	DailyOffpeakTimeUTC               string
	MaxCompactionTriggerWakeupSeconds uint64
}

// NewMutableDBOptions takes them out of o.
func NewMutableDBOptions(o *rocksdb.DBOptions) MutableDBOptions {
	return MutableDBOptions{
		MaxBackgroundJobs:                 o.MaxBackgroundJobs,
		MaxBackgroundCompactions:          o.MaxBackgroundCompactions,
		MaxSubcompactions:                 o.MaxSubcompactions,
		AvoidFlushDuringShutdown:          o.AvoidFlushDuringShutdown,
		WritableFileMaxBufferSize:         o.WritableFileMaxBufferSize,
		DelayedWriteRate:                  o.DelayedWriteRate,
		MaxTotalWALSize:                   o.MaxTotalWALSize,
		DeleteObsoleteFilesPeriodMicros:   o.DeleteObsoleteFilesPeriodMicros,
		StatsDumpPeriodSec:                o.StatsDumpPeriodSec,
		StatsPersistPeriodSec:             o.StatsPersistPeriodSec,
		StatsHistoryBufferSize:            o.StatsHistoryBufferSize,
		MaxOpenFiles:                      o.MaxOpenFiles,
		BytesPerSync:                      o.BytesPerSync,
		WALBytesPerSync:                   o.WALBytesPerSync,
		StrictBytesPerSync:                o.StrictBytesPerSync,
		CompactionReadaheadSize:           o.CompactionReadaheadSize,
		MaxBackgroundFlushes:              o.MaxBackgroundFlushes,
		MaxManifestFileSize:               o.MaxManifestFileSize,
		MaxManifestSpaceAmpPct:            o.MaxManifestSpaceAmpPct,
		ManifestPreallocationSize:         o.ManifestPreallocationSize,
		VerifyManifestContentOnClose:      o.VerifyManifestContentOnClose,
		OptimizeManifestForRecovery:       o.OptimizeManifestForRecovery,
		FastSstOpen:                       o.FastSstOpen,
		DailyOffpeakTimeUTC:               o.DailyOffpeakTimeUTC,
		MaxCompactionTriggerWakeupSeconds: o.MaxCompactionTriggerWakeupSeconds,
	}
}

func (o *MutableDBOptions) apply(to *rocksdb.DBOptions) {
	to.MaxBackgroundJobs = o.MaxBackgroundJobs
	to.MaxBackgroundCompactions = o.MaxBackgroundCompactions
	to.MaxSubcompactions = o.MaxSubcompactions
	to.AvoidFlushDuringShutdown = o.AvoidFlushDuringShutdown
	to.WritableFileMaxBufferSize = o.WritableFileMaxBufferSize
	to.DelayedWriteRate = o.DelayedWriteRate
	to.MaxTotalWALSize = o.MaxTotalWALSize
	to.DeleteObsoleteFilesPeriodMicros = o.DeleteObsoleteFilesPeriodMicros
	to.StatsDumpPeriodSec = o.StatsDumpPeriodSec
	to.StatsPersistPeriodSec = o.StatsPersistPeriodSec
	to.StatsHistoryBufferSize = o.StatsHistoryBufferSize
	to.MaxOpenFiles = o.MaxOpenFiles
	to.BytesPerSync = o.BytesPerSync
	to.WALBytesPerSync = o.WALBytesPerSync
	to.StrictBytesPerSync = o.StrictBytesPerSync
	to.CompactionReadaheadSize = o.CompactionReadaheadSize
	to.MaxBackgroundFlushes = o.MaxBackgroundFlushes
	to.MaxManifestFileSize = o.MaxManifestFileSize
	to.MaxManifestSpaceAmpPct = o.MaxManifestSpaceAmpPct
	to.ManifestPreallocationSize = o.ManifestPreallocationSize
	to.VerifyManifestContentOnClose = o.VerifyManifestContentOnClose
	to.OptimizeManifestForRecovery = o.OptimizeManifestForRecovery
	to.FastSstOpen = o.FastSstOpen
	to.DailyOffpeakTimeUTC = o.DailyOffpeakTimeUTC
	to.MaxCompactionTriggerWakeupSeconds = o.MaxCompactionTriggerWakeupSeconds
}

// BuildDBOptions puts the two halves together.
func BuildDBOptions(i *ImmutableDBOptions, m *MutableDBOptions) rocksdb.DBOptions {
	o := rocksdb.DBOptions{
		CreateIfMissing:                         i.CreateIfMissing,
		CreateMissingColumnFamilies:             i.CreateMissingColumnFamilies,
		ErrorIfExists:                           i.ErrorIfExists,
		ParanoidChecks:                          i.ParanoidChecks,
		OpenFilesAsync:                          i.OpenFilesAsync,
		FlushVerifyMemtableCount:                i.FlushVerifyMemtableCount,
		CompactionVerifyRecordCount:             i.CompactionVerifyRecordCount,
		TrackAndVerifyWALsInManifest:            i.TrackAndVerifyWALsInManifest,
		TrackAndVerifyWALs:                      i.TrackAndVerifyWALs,
		VerifySstUniqueIDInManifest:             i.VerifySstUniqueIDInManifest,
		Env:                                     i.Env,
		RateLimiter:                             i.RateLimiter,
		SstFileManager:                          i.SstFileManager,
		InfoLog:                                 i.InfoLog,
		InfoLogLevel:                            i.InfoLogLevel,
		MaxFileOpeningThreads:                   i.MaxFileOpeningThreads,
		ReadIOExecutorThreads:                   i.ReadIOExecutorThreads,
		Statistics:                              i.Statistics,
		UseFsync:                                i.UseFsync,
		DBPaths:                                 i.DBPaths,
		DBLogDir:                                i.DBLogDir,
		WALDir:                                  i.WALDir,
		MaxLogFileSize:                          i.MaxLogFileSize,
		LogFileTimeToRoll:                       i.LogFileTimeToRoll,
		KeepLogFileNum:                          i.KeepLogFileNum,
		RecycleLogFileNum:                       i.RecycleLogFileNum,
		AsyncWALPrecreate:                       i.AsyncWALPrecreate,
		TableCacheNumshardbits:                  i.TableCacheNumshardbits,
		WALTTLSeconds:                           i.WALTTLSeconds,
		WALSizeLimitMB:                          i.WALSizeLimitMB,
		MaxWriteBatchGroupSizeBytes:             i.MaxWriteBatchGroupSizeBytes,
		AllowMmapReads:                          i.AllowMmapReads,
		AllowMmapWrites:                         i.AllowMmapWrites,
		UseDirectReads:                          i.UseDirectReads,
		UseDirectIOForCompactionReads:           i.UseDirectIOForCompactionReads,
		UseDirectIOForFlushAndCompaction:        i.UseDirectIOForFlushAndCompaction,
		AllowFallocate:                          i.AllowFallocate,
		IsFDCloseOnExec:                         i.IsFDCloseOnExec,
		AdviseRandomOnOpen:                      i.AdviseRandomOnOpen,
		DBWriteBufferSize:                       i.DBWriteBufferSize,
		WriteBufferManager:                      i.WriteBufferManager,
		UseAdaptiveMutex:                        i.UseAdaptiveMutex,
		Listeners:                               i.Listeners,
		EnableThreadTracking:                    i.EnableThreadTracking,
		EnablePipelinedWrite:                    i.EnablePipelinedWrite,
		UnorderedWrite:                          i.UnorderedWrite,
		AllowConcurrentMemtableWrite:            i.AllowConcurrentMemtableWrite,
		EnableWriteThreadAdaptiveYield:          i.EnableWriteThreadAdaptiveYield,
		WriteThreadMaxYieldUsec:                 i.WriteThreadMaxYieldUsec,
		WriteThreadSlowYieldUsec:                i.WriteThreadSlowYieldUsec,
		SkipStatsUpdateOnDBOpen:                 i.SkipStatsUpdateOnDBOpen,
		WALRecoveryMode:                         i.WALRecoveryMode,
		Allow2PC:                                i.Allow2PC,
		RowCache:                                i.RowCache,
		WalFilter:                               i.WalFilter,
		DumpMallocStats:                         i.DumpMallocStats,
		AvoidFlushDuringRecovery:                i.AvoidFlushDuringRecovery,
		EnforceWriteBufferManagerDuringRecovery: i.EnforceWriteBufferManagerDuringRecovery,
		AllowIngestBehind:                       i.AllowIngestBehind,
		TwoWriteQueues:                          i.TwoWriteQueues,
		ManualWALFlush:                          i.ManualWALFlush,
		WALCompression:                          i.WALCompression,
		BackgroundCloseInactiveWALs:             i.BackgroundCloseInactiveWALs,
		AtomicFlush:                             i.AtomicFlush,
		AvoidUnnecessaryBlockingIO:              i.AvoidUnnecessaryBlockingIO,
		PrefixSeekOptInOnly:                     i.PrefixSeekOptInOnly,
		PersistStatsToDisk:                      i.PersistStatsToDisk,
		WriteDBIDToManifest:                     i.WriteDBIDToManifest,
		ReuseManifestOnOpen:                     i.ReuseManifestOnOpen,
		WriteIdentityFile:                       i.WriteIdentityFile,
		LogReadaheadSize:                        i.LogReadaheadSize,
		FileChecksumGenFactory:                  i.FileChecksumGenFactory,
		BestEffortsRecovery:                     i.BestEffortsRecovery,
		MaxBGErrorResumeCount:                   i.MaxBGErrorResumeCount,
		BGErrorResumeRetryInterval:              i.BGErrorResumeRetryInterval,
		AllowDataInErrors:                       i.AllowDataInErrors,
		DBHostID:                                i.DBHostID,
		ChecksumHandoffFileTypes:                i.ChecksumHandoffFileTypes,
		LowestUsedCacheTier:                     i.LowestUsedCacheTier,
		CompactionService:                       i.CompactionService,
		EnforceSingleDelContracts:               i.EnforceSingleDelContracts,
		FollowerRefreshCatchupPeriodMS:          i.FollowerRefreshCatchupPeriodMS,
		FollowerCatchupRetryCount:               i.FollowerCatchupRetryCount,
		FollowerCatchupRetryWaitMS:              i.FollowerCatchupRetryWaitMS,
		MetadataWriteTemperature:                i.MetadataWriteTemperature,
		WALWriteTemperature:                     i.WALWriteTemperature,
		CalculateSstWriteLifetimeHintSet:        i.CalculateSstWriteLifetimeHintSet,
	}
	m.apply(&o)
	return o
}

// GetMutableDBOptionsFromStrings changes base by options given as strings, as
// SetDBOptions does. An immutable option is an InvalidArgument.
func GetMutableDBOptionsFromStrings(base MutableDBOptions, opts map[string]string) (MutableDBOptions, error) {
	full := rocksdb.DefaultDBOptions()
	base.apply(&full)
	cfg := rocksdb.DefaultConfigOptions()
	cfg.MutableOptionsOnly = true
	if err := parseTypeMutable(&cfg, opts, dbOptionsTable, &full); err != nil {
		return base, err
	}
	return NewMutableDBOptions(&full), nil
}

// MutableDBOptionsAreEqual compares all of them.
func MutableDBOptionsAreEqual(a, b *MutableDBOptions) bool { return *a == *b }

// GetStringFromMutableDBOptions writes them as "name=value" with
// cfg.Delimiter.
func GetStringFromMutableDBOptions(cfg *rocksdb.ConfigOptions, m *MutableDBOptions) (string, error) {
	full := rocksdb.DefaultDBOptions()
	m.apply(&full)
	c := *cfg
	c.MutableOptionsOnly = true
	return serializeRows(&c, dbOptionsTable, &full, "")
}
