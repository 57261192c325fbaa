// Port of db/internal_stats.cc (properties).

package db

import (
	"fmt"
	"math"
	"strings"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

// PropertyPeriodicCFStats is PropertyCFStats for the LOG: empty when nothing has
// changed, and the start of a new interval otherwise.
const PropertyPeriodicCFStats = rocksdb.PropertyCFStats + ".periodic"

// PropertyInfo says how to get a property.
type PropertyInfo struct {
	// NeedOutOfMutex properties take long and are got without the DB mutex.
	NeedOutOfMutex bool
	// Exactly one of text and number is set. arg is the number at the name's
	// end; v is for those got without the mutex, host for the others.
	text   func(s *InternalStats, arg string) (string, bool)
	number func(s *InternalStats, host StatsHost, v *Version) (uint64, bool)
	values func(s *InternalStats, arg string) (map[string]string, bool) // may be nil
}

// IsInt tells whether the property is a number.
func (p *PropertyInfo) IsInt() bool { return p.number != nil }

// HasMap tells whether the property has a map form.
func (p *PropertyInfo) HasMap() bool { return p.values != nil }

// splitProperty takes an argument, a number, off a name's end.
func splitProperty(property string) (name, arg string) {
	name = strings.TrimRight(property, "0123456789")
	return name, property[len(name):]
}

// GetPropertyInfo gives nil for an unknown property.
func GetPropertyInfo(property string) *PropertyInfo {
	name, _ := splitProperty(property)
	return properties[name]
}

// GetStringProperty gives a property that is text. The DB mutex is held unless
// info says otherwise.
func (s *InternalStats) GetStringProperty(info *PropertyInfo, property string) (string, bool) {
	_, arg := splitProperty(property)
	return info.text(s, arg)
}

// GetMapProperty gives a property by parts, which info has to have. The DB mutex
// is held unless info says otherwise.
func (s *InternalStats) GetMapProperty(info *PropertyInfo, property string) (map[string]string, bool) {
	_, arg := splitProperty(property)
	return info.values(s, arg)
}

// GetIntProperty gives a property that is a number. The DB mutex is held.
func (s *InternalStats) GetIntProperty(info *PropertyInfo, host StatsHost) (uint64, bool) {
	return info.number(s, host, nil)
}

// GetIntPropertyOutOfMutex is the same for those that need it; v is referenced.
func (s *InternalStats) GetIntPropertyOutOfMutex(info *PropertyInfo, v *Version) (uint64, bool) {
	return info.number(s, nil, v)
}

func textOf(f func(s *InternalStats, arg string) (string, bool)) *PropertyInfo {
	return &PropertyInfo{text: f}
}

func always(f func(s *InternalStats) string) *PropertyInfo {
	return textOf(func(s *InternalStats, _ string) (string, bool) { return f(s), true })
}

func (p *PropertyInfo) withMap(f func(s *InternalStats) map[string]string) *PropertyInfo {
	p.values = func(s *InternalStats, _ string) (map[string]string, bool) { return f(s), true }
	return p
}

func numberOf(f func(s *InternalStats) uint64) *PropertyInfo {
	return &PropertyInfo{number: func(s *InternalStats, _ StatsHost, _ *Version) (uint64, bool) { return f(s), true }}
}

func ofHost(f func(h StatsHost) uint64) *PropertyInfo {
	return &PropertyInfo{number: func(_ *InternalStats, h StatsHost, _ *Version) (uint64, bool) { return f(h), true }}
}

func ofVersion(f func(v *Version) uint64) *PropertyInfo {
	return &PropertyInfo{NeedOutOfMutex: true, number: func(_ *InternalStats, _ StatsHost, v *Version) (uint64, bool) { return f(v), true }}
}

func ofCache(cache func(s *InternalStats) rocksdb.Cache, f func(c rocksdb.Cache) int) *PropertyInfo {
	return &PropertyInfo{number: func(s *InternalStats, _ StatsHost, _ *Version) (uint64, bool) {
		if c := cache(s); c != nil {
			return uint64(f(c)), true
		}
		return 0, false
	}}
}

func oneIf(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// level reads an argument that is a level.
func (s *InternalStats) level(arg string) (level int, ok bool) {
	n, err := util.ParseUint64(arg)
	return int(n), err == nil && n < uint64(len(s.comp))
}

// aggregated sums up the properties of a level's tables, or for -1 of all.
func (s *InternalStats) aggregated(level int) (*rocksdb.TableProperties, bool) {
	ro := rocksdb.DefaultReadOptions()
	p, err := s.cfd.current.GetAggregatedTableProperties(&ro, level)
	return p, err == nil
}

func aggregatedText(p *rocksdb.TableProperties, ok bool) (string, bool) {
	if !ok {
		return "", false
	}
	return p.ToString("; ", "=", "", ""), true
}

func aggregatedMap(p *rocksdb.TableProperties, ok bool) (map[string]string, bool) {
	if !ok {
		return nil, false
	}
	m := map[string]string{}
	for k, v := range p.GetAggregatablePropertiesAsMap() {
		m[k] = decimal(v)
	}
	return m, true
}

// cacheProperty is the block cache's entries; figures for fast are older.
func cacheProperty(foreground bool) *PropertyInfo {
	return &PropertyInfo{
		NeedOutOfMutex: true,
		text: func(s *InternalStats, _ string) (string, bool) {
			c := s.cacheEntryRoleStats(foreground)
			if c == nil {
				return "", false
			}
			return c.ToString(s.clock.NowMicros()), true
		},
		values: func(s *InternalStats, _ string) (map[string]string, bool) {
			c := s.cacheEntryRoleStats(foreground)
			if c == nil {
				return nil, false
			}
			return c.ToMap(s.clock.NowMicros()), true
		},
	}
}

func (s *InternalStats) levelStatsText() string {
	var b strings.Builder
	b.WriteString("Level Files Size(MB)\n--------------------\n")
	vs := s.cfd.current.StorageInfo()
	for level := range s.comp {
		fmt.Fprintf(&b, "%3d %8d %8.0f\n", level, vs.NumLevelFiles(level), float64(vs.NumLevelBytes(level))/bytesInMB)
	}
	return b.String()
}

func (s *InternalStats) sizeAtTemperature(arg string) (string, bool) {
	temperature, err := util.ParseUint64(arg)
	if err != nil {
		return "", false
	}
	var size uint64
	vs := s.cfd.current.StorageInfo()
	for level := range vs.NumLevels() {
		for _, f := range vs.LevelFiles(level) {
			if uint64(f.Temperature) == temperature {
				size += f.FD.GetFileSize()
			}
		}
	}
	return decimal(size), true
}

func (s *InternalStats) blobStatsText() string {
	vs := s.cfd.current.StorageInfo()
	b := vs.GetBlobStats()
	return fmt.Sprintf("Number of blob files: %d\nTotal size of blob files: %d\nTotal size of garbage in blob files: %d\nBlob file space amplification: %.6g\n",
		len(vs.GetBlobFiles()), b.TotalFileSize, b.TotalGarbageSize, b.SpaceAmp)
}

func (s *InternalStats) estimateNumKeys() uint64 {
	mem, imm := s.cfd.mem, s.cfd.imm.Current()
	keys := mem.NumEntries() + imm.GetTotalNumEntries() + s.cfd.current.StorageInfo().GetEstimatedActiveKeys()
	// A deletion is an entry itself, and takes another one away.
	deletes := 2 * (mem.NumDeletion() + imm.GetTotalNumDeletes())
	return keys - min(deletes, keys)
}

// estimateOldestKeyTime is known of FIFO families without compactions only,
// since those do not keep the time.
func (s *InternalStats) estimateOldestKeyTime(StatsHost, *Version) (uint64, bool) {
	c := s.cfd
	if c.ioptions.CompactionStyle != rocksdb.CompactionStyleFIFO || c.GetLatestMutableCFOptions().CompactionOptionsFIFO.AllowCompaction {
		return 0, false
	}
	ro := rocksdb.DefaultReadOptions()
	tables, err := c.current.GetPropertiesOfAllTables(&ro)
	if err != nil {
		return 0, false
	}
	oldest := uint64(math.MaxUint64)
	for _, p := range tables {
		oldest = min(oldest, p.OldestKeyTime)
	}
	if oldest > 0 {
		oldest = min(oldest, c.mem.ApproximateOldestKeyTime(), c.imm.ApproximateOldestKeyTime())
	}
	return oldest, oldest > 0 && oldest < math.MaxUint64
}

func blobCache(s *InternalStats) rocksdb.Cache { return s.cfd.ioptions.BlobCache }

// properties are by name, without the argument.
var properties = map[string]*PropertyInfo{
	rocksdb.PropertyNumFilesAtLevelPrefix: textOf(func(s *InternalStats, arg string) (string, bool) {
		level, ok := s.level(arg)
		if !ok {
			return "", false
		}
		return decimal(uint64(s.cfd.current.StorageInfo().NumLevelFiles(level))), true
	}),
	rocksdb.PropertyCompressionRatioAtLevelPrefix: textOf(func(s *InternalStats, arg string) (string, bool) {
		level, ok := s.level(arg)
		if !ok {
			return "", false
		}
		return fixed6(s.cfd.current.StorageInfo().GetEstimatedCompressionRatioAtLevel(level)), true
	}),
	rocksdb.PropertyLevelStats: always((*InternalStats).levelStatsText),
	rocksdb.PropertyStats: always(func(s *InternalStats) string {
		return s.cfStatsText(false) + s.fileHistogramText() + s.dbStatsText()
	}),
	rocksdb.PropertyCFStats: always(func(s *InternalStats) string {
		return s.cfStatsText(false) + s.fileHistogramText()
	}).withMap((*InternalStats).cfMapStats),
	PropertyPeriodicCFStats:                always((*InternalStats).periodicCFStats),
	rocksdb.PropertyCFStatsNoFileHistogram: always(func(s *InternalStats) string { return s.cfStatsText(false) }),
	rocksdb.PropertyCFFileHistogram:        always((*InternalStats).fileHistogramText),
	rocksdb.PropertyCFWriteStallStats: always(func(s *InternalStats) string {
		text, _ := s.cfWriteStallText(false)
		return text
	}).withMap(func(s *InternalStats) map[string]string {
		m := map[string]string{}
		s.addCFWriteStalls(m)
		return m
	}),
	rocksdb.PropertyDBStats: always((*InternalStats).dbStatsText).withMap((*InternalStats).dbMapStats),
	rocksdb.PropertyDBWriteStallStats: always(func(s *InternalStats) string {
		return writeStallLine(s.dbWriteStalls())
	}).withMap((*InternalStats).dbWriteStalls),
	rocksdb.PropertyBlockCacheEntryStats:     cacheProperty(true),
	rocksdb.PropertyFastBlockCacheEntryStats: cacheProperty(false),
	rocksdb.PropertySSTables:                 always(func(s *InternalStats) string { return s.cfd.current.DebugString(true, true) }),
	rocksdb.PropertyAggregatedTableProperties: {
		text:   func(s *InternalStats, _ string) (string, bool) { return aggregatedText(s.aggregated(-1)) },
		values: func(s *InternalStats, _ string) (map[string]string, bool) { return aggregatedMap(s.aggregated(-1)) },
	},
	rocksdb.PropertyAggregatedTablePropertiesAtLevel: {
		text: func(s *InternalStats, arg string) (string, bool) {
			level, ok := s.level(arg)
			if !ok {
				return "", false
			}
			return aggregatedText(s.aggregated(level))
		},
		values: func(s *InternalStats, arg string) (map[string]string, bool) {
			level, ok := s.level(arg)
			if !ok {
				return nil, false
			}
			return aggregatedMap(s.aggregated(level))
		},
	},
	rocksdb.PropertyLiveSstFilesSizeAtTemperature: textOf((*InternalStats).sizeAtTemperature),
	rocksdb.PropertyBlobStats:                     always((*InternalStats).blobStatsText),
	rocksdb.PropertyOptionsStatistics: {NeedOutOfMutex: true, text: func(s *InternalStats, _ string) (string, bool) {
		if s.cfd.ioptions.Statistics == nil {
			return "", false
		}
		return s.cfd.ioptions.Statistics.ToString(), true
	}},

	rocksdb.PropertyNumImmutableMemTable:        numberOf(func(s *InternalStats) uint64 { return uint64(s.cfd.imm.NumNotFlushed()) }),
	rocksdb.PropertyNumImmutableMemTableFlushed: numberOf(func(s *InternalStats) uint64 { return uint64(s.cfd.imm.NumFlushed()) }),
	rocksdb.PropertyMemTableFlushPending:        numberOf(func(s *InternalStats) uint64 { return oneIf(s.cfd.imm.IsFlushPending()) }),
	rocksdb.PropertyCompactionPending: numberOf(func(s *InternalStats) uint64 {
		return oneIf(s.cfd.picker.NeedsCompaction(s.cfd.current.StorageInfo()))
	}),
	rocksdb.PropertyBackgroundErrors:         numberOf((*InternalStats).GetBackgroundErrorCount),
	rocksdb.PropertyCurSizeActiveMemTable:    numberOf(func(s *InternalStats) uint64 { return s.cfd.mem.ApproximateMemoryUsageFast() }),
	rocksdb.PropertyNumEntriesActiveMemTable: numberOf(func(s *InternalStats) uint64 { return s.cfd.mem.NumEntries() }),
	rocksdb.PropertyNumDeletesActiveMemTable: numberOf(func(s *InternalStats) uint64 { return s.cfd.mem.NumDeletion() }),
	rocksdb.PropertyNumEntriesImmMemTables:   numberOf(func(s *InternalStats) uint64 { return s.cfd.imm.Current().GetTotalNumEntries() }),
	rocksdb.PropertyNumDeletesImmMemTables:   numberOf(func(s *InternalStats) uint64 { return s.cfd.imm.Current().GetTotalNumDeletes() }),
	rocksdb.PropertyCurSizeAllMemTables: numberOf(func(s *InternalStats) uint64 {
		return s.cfd.mem.ApproximateMemoryUsageFast() + s.cfd.imm.ApproximateUnflushedMemTablesMemoryUsage()
	}),
	rocksdb.PropertySizeAllMemTables: numberOf(func(s *InternalStats) uint64 {
		return s.cfd.mem.ApproximateMemoryUsageFast() + s.cfd.imm.ApproximateMemoryUsage()
	}),
	rocksdb.PropertyEstimateNumKeys:           numberOf((*InternalStats).estimateNumKeys),
	rocksdb.PropertyNumLiveVersions:           numberOf(func(s *InternalStats) uint64 { return uint64(GetNumLiveVersions(s.cfd.dummyVersions)) }),
	rocksdb.PropertyCurrentSuperVersionNumber: numberOf(func(s *InternalStats) uint64 { return s.cfd.GetSuperVersionNumber() }),
	rocksdb.PropertyBaseLevel:                 numberOf(func(s *InternalStats) uint64 { return uint64(s.cfd.current.StorageInfo().BaseLevel()) }),
	rocksdb.PropertyTotalSstFilesSize:         numberOf(func(s *InternalStats) uint64 { return GetTotalSstFilesSize(s.cfd.dummyVersions) }),
	rocksdb.PropertyLiveSstFilesSize:          numberOf(func(s *InternalStats) uint64 { return s.cfd.current.GetSstFilesSize() }),
	rocksdb.PropertyEstimatePendingCompactionBytes: numberOf(func(s *InternalStats) uint64 {
		return s.cfd.current.StorageInfo().EstimatedCompactionNeededBytes()
	}),
	rocksdb.PropertyNumBlobFiles:            numberOf(func(s *InternalStats) uint64 { return uint64(len(s.cfd.current.StorageInfo().GetBlobFiles())) }),
	rocksdb.PropertyTotalBlobFileSize:       numberOf(func(s *InternalStats) uint64 { return GetTotalBlobFileSize(s.cfd.dummyVersions) }),
	rocksdb.PropertyLiveBlobFileSize:        numberOf(func(s *InternalStats) uint64 { return s.cfd.current.StorageInfo().GetBlobStats().TotalFileSize }),
	rocksdb.PropertyLiveBlobFileGarbageSize: numberOf(func(s *InternalStats) uint64 { return s.cfd.current.StorageInfo().GetBlobStats().TotalGarbageSize }),
	rocksdb.PropertyEstimateOldestKeyTime:   {number: (*InternalStats).estimateOldestKeyTime},

	rocksdb.PropertyEstimateTableReadersMem: ofVersion(func(v *Version) uint64 {
		ro := rocksdb.DefaultReadOptions()
		return v.GetMemoryUsageByTableReaders(&ro)
	}),
	rocksdb.PropertyEstimateLiveDataSize: ofVersion(func(v *Version) uint64 { return v.StorageInfo().EstimateLiveDataSize() }),

	rocksdb.PropertyNumRunningFlushes:              ofHost(func(h StatsHost) uint64 { return uint64(h.NumRunningFlushesLocked()) }),
	rocksdb.PropertyNumRunningCompactions:          ofHost(func(h StatsHost) uint64 { return uint64(h.NumRunningCompactionsLocked()) }),
	rocksdb.PropertyNumRunningCompactionSortedRuns: ofHost(func(h StatsHost) uint64 { return h.NumRunningCompactionSortedRunsLocked() }),
	rocksdb.PropertyCompactionAbortCount:           ofHost(func(h StatsHost) uint64 { return h.CompactionAbortCount() }),
	rocksdb.PropertyIsFileDeletionsEnabled:         ofHost(func(h StatsHost) uint64 { return oneIf(h.IsFileDeletionsEnabledLocked()) }),
	rocksdb.PropertyNumSnapshots:                   ofHost(func(h StatsHost) uint64 { return uint64(h.SnapshotsLocked().Count()) }),
	rocksdb.PropertyOldestSnapshotTime:             ofHost(func(h StatsHost) uint64 { return uint64(h.SnapshotsLocked().GetOldestSnapshotTime()) }),
	rocksdb.PropertyOldestSnapshotSequence:         ofHost(func(h StatsHost) uint64 { return h.SnapshotsLocked().GetOldestSnapshotSequence() }),
	rocksdb.PropertyObsoleteSstFilesSize:           ofHost(func(h StatsHost) uint64 { return h.ObsoleteSstFilesSizeLocked() }),
	rocksdb.PropertyMinLogNumberToKeep:             ofHost(func(h StatsHost) uint64 { return h.MinLogNumberToKeep() }),
	rocksdb.PropertyMinObsoleteSstNumberToKeep:     ofHost(func(h StatsHost) uint64 { return h.MinObsoleteSstNumberToKeepLocked() }),
	rocksdb.PropertyActualDelayedWriteRate: ofHost(func(h StatsHost) uint64 {
		if wc := h.WriteController(); wc.NeedsDelay() {
			return wc.DelayedWriteRate()
		}
		return 0
	}),
	rocksdb.PropertyIsWriteStopped: ofHost(func(h StatsHost) uint64 { return oneIf(h.WriteController().IsStopped()) }),

	rocksdb.PropertyBlockCacheCapacity:    ofCache((*InternalStats).blockCache, rocksdb.Cache.GetCapacity),
	rocksdb.PropertyBlockCacheUsage:       ofCache((*InternalStats).blockCache, rocksdb.Cache.GetUsage),
	rocksdb.PropertyBlockCachePinnedUsage: ofCache((*InternalStats).blockCache, rocksdb.Cache.GetPinnedUsage),
	rocksdb.PropertyBlobCacheCapacity:     ofCache(blobCache, rocksdb.Cache.GetCapacity),
	rocksdb.PropertyBlobCacheUsage:        ofCache(blobCache, rocksdb.Cache.GetUsage),
	rocksdb.PropertyBlobCachePinnedUsage:  ofCache(blobCache, rocksdb.Cache.GetPinnedUsage),
}

// IntPropertyAggregator sums a property up over families.
type IntPropertyAggregator struct {
	perCache bool
	seen     map[rocksdb.Cache]bool
	sum      uint64
}

// NewIntPropertyAggregator makes one at zero. A block cache that several
// families share counts once.
func NewIntPropertyAggregator(property string) *IntPropertyAggregator {
	switch property {
	case rocksdb.PropertyBlockCacheCapacity, rocksdb.PropertyBlockCacheUsage, rocksdb.PropertyBlockCachePinnedUsage:
		return &IntPropertyAggregator{perCache: true, seen: map[rocksdb.Cache]bool{}}
	}
	return &IntPropertyAggregator{}
}

// Add adds the value of a family. The DB mutex is held.
func (a *IntPropertyAggregator) Add(cfd *ColumnFamilyData, value uint64) {
	if a.perCache {
		c := cfd.internalStats.blockCache()
		if c == nil || a.seen[c] {
			return
		}
		a.seen[c] = true
	}
	a.sum += value
}

// Aggregate gives the sum.
func (a *IntPropertyAggregator) Aggregate() uint64 { return a.sum }
