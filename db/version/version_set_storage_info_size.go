// Port of db/version_set.cc, VersionStorageInfo's level sizes and the order of
// files for compaction.

package version

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/logging"
	"github.com/rocksdb-go/rocksdb/options"
)

// computeCompensatedSizes makes a file that is mostly deletions look larger,
// by twice the values that they may free, so that compaction picks it sooner.
// Files that have a size keep it.
func (s *StorageInfo) computeCompensatedSizes() {
	const deletionWeight = 2
	average := s.GetAverageValueSize()
	for _, files := range s.files {
		for _, f := range files {
			if f.CompensatedFileSize != 0 {
				continue
			}
			f.CompensatedFileSize = f.FD.FileSize
			if d := (f.NumDeletions - f.NumRangeDeletions) * 2; d >= f.NumEntries {
				f.CompensatedFileSize += (d - f.NumEntries) * average * deletionWeight
			}
			f.CompensatedFileSize += f.CompensatedRangeDeletionSize
		}
	}
}

// MaxInputLevel is the last level that compaction takes files from.
func (s *StorageInfo) MaxInputLevel() int {
	if s.compactionStyle == rocksdb.CompactionStyleLevel {
		return s.numLevels - 2
	}
	return 0
}

// MaxOutputLevel is the last level that compaction puts files on: the last is
// kept free for files ingested behind.
func (s *StorageInfo) MaxOutputLevel(allowIngestBehind bool) int {
	if allowIngestBehind {
		return s.numLevels - 2
	}
	return s.numLevels - 1
}

// MaxBytesForLevel is the level's target size; not meaningful for level 0.
func (s *StorageInfo) MaxBytesForLevel(level int) uint64 { return s.levelMaxBytes[level] }

// CalculateBaseBytes sets the base level and the levels' target sizes.
func (s *StorageInfo) CalculateBaseBytes(io *options.ImmutableOptions, mo *options.MutableCFOptions) {
	runs := len(s.files[0])
	if s.compactionStyle == rocksdb.CompactionStyleUniversal {
		for _, files := range s.files[1:] {
			if len(files) > 0 {
				runs++
			}
		}
	}
	s.l0DelayTriggerCount = runs

	s.levelMaxBytes = make([]uint64, max(io.NumLevels, s.numLevels))
	if io.LevelCompactionDynamicLevelBytes {
		s.calculateDynamicBaseBytes(io, mo)
		return
	}
	s.baseLevel = -1
	if io.CompactionStyle == rocksdb.CompactionStyleLevel {
		s.baseLevel = 1
	}
	for i := range s.levelMaxBytes {
		if i > 1 {
			s.levelMaxBytes[i] = options.MultiplyCheckOverflow(
				options.MultiplyCheckOverflow(s.levelMaxBytes[i-1], mo.MaxBytesForLevelMultiplier),
				float64(mo.MaxBytesMultiplerAdditional(i-1)))
		} else {
			s.levelMaxBytes[i] = mo.MaxBytesForLevelBase
		}
	}
}

// calculateDynamicBaseBytes sizes the levels from the last one up: the largest
// level keeps its size, each level above is smaller by the multiplier, and the
// base level is the first whose size is not below base/multiplier.
func (s *StorageInfo) calculateDynamicBaseBytes(io *options.ImmutableOptions, mo *options.MutableCFOptions) {
	var maxLevelSize uint64
	firstNonEmpty := -1
	for i := 1; i < s.numLevels; i++ {
		size := TotalFileSize(s.files[i])
		if size > 0 && firstNonEmpty == -1 {
			firstNonEmpty = i
		}
		maxLevelSize = max(maxLevelSize, size)
	}
	// Until a level has a target, nothing is to be compacted out of it.
	for i := range s.levelMaxBytes {
		s.levelMaxBytes[i] = math.MaxUint64
	}
	s.lowestUnnecessaryLevel = -1
	if maxLevelSize == 0 {
		s.baseLevel = s.numLevels - 1
		return
	}
	multiplier := mo.MaxBytesForLevelMultiplier
	baseMax := mo.MaxBytesForLevelBase
	baseMin := uint64(float64(baseMax) / multiplier)
	size := maxLevelSize
	for i := s.numLevels - 2; i >= firstNonEmpty; i-- {
		size = uint64(float64(size) / multiplier)
		// The level before the last is needed when per-key placement is on.
		if s.lowestUnnecessaryLevel == -1 && size <= baseMin &&
			(mo.PrecludeLastLevelDataSeconds == 0 || i < s.numLevels-2) {
			s.lowestUnnecessaryLevel = i
		}
	}
	s.baseLevel = firstNonEmpty
	var baseSize uint64
	if size <= baseMin {
		baseSize = baseMin + 1
		if s.baseLevel < s.numLevels-1 {
			logging.Info(io.Logger, "More existing levels in DB than needed: all non-zero levels <= level %d are unnecessary.  "+
				"max_bytes_for_level_multiplier may not be guaranteed.", s.lowestUnnecessaryLevel)
		}
	} else {
		for s.baseLevel > 1 && size > baseMax {
			s.baseLevel--
			size = uint64(float64(size) / multiplier)
		}
		baseSize = min(max(1, size), baseMax)
	}
	s.levelMultiplier = multiplier
	levelSize := baseSize
	for i := s.baseLevel; i < s.numLevels; i++ {
		if i > s.baseLevel {
			levelSize = options.MultiplyCheckOverflow(levelSize, multiplier)
		}
		// A target below the base's would give an hourglass, in which scores
		// favour the lower levels while level 0 fills up.
		s.levelMaxBytes[i] = max(levelSize, baseMax)
	}
}

// CalculateSSTWriteHint says how long a file written to a level is likely to
// live, for the styles of set.
func (s *StorageInfo) CalculateSSTWriteHint(level int, set rocksdb.CompactionStyleSet) rocksdb.WriteLifeTimeHint {
	if !set.Contains(s.compactionStyle) {
		return rocksdb.WriteLifeNotSet
	}
	switch s.compactionStyle {
	case rocksdb.CompactionStyleLevel:
		switch {
		case level == 0 || level < s.baseLevel:
			return rocksdb.WriteLifeMedium
		case level-s.baseLevel >= 2:
			return rocksdb.WriteLifeExtreme
		}
		return rocksdb.WriteLifeMedium + rocksdb.WriteLifeTimeHint(level-s.baseLevel)
	case rocksdb.CompactionStyleUniversal:
		switch level {
		case 0:
			return rocksdb.WriteLifeShort
		case 1:
			return rocksdb.WriteLifeMedium
		}
		return rocksdb.WriteLifeLong
	}
	return rocksdb.WriteLifeNotSet
}

// rankedFile is a file of a level, its position there and its rank among
// files to compact (lower first).
// Upstream: Fsize.
type rankedFile struct {
	index int
	file  *FileMetaData
	rank  uint64
}

// UpdateFilesByCompactionPri puts each level's files in the order in which
// leveled compaction takes them. The last level is never compacted further.
func (s *StorageInfo) UpdateFilesByCompactionPri(io *options.ImmutableOptions, mo *options.MutableCFOptions) {
	if s.compactionStyle != rocksdb.CompactionStyleLevel {
		return
	}
	for level := 0; level < s.numLevels-1; level++ {
		files := s.files[level]
		ranked := make([]rankedFile, len(files))
		for i, f := range files {
			ranked[i] = rankedFile{index: i, file: f}
		}
		switch io.CompactionPri {
		case rocksdb.ByCompensatedSize:
			partialSort(ranked, NumberFilesToSort, func(a, b rankedFile) int {
				return cmp.Compare(b.file.CompensatedFileSize, a.file.CompensatedFileSize)
			})
		case rocksdb.OldestLargestSeqFirst:
			slices.SortStableFunc(ranked, func(a, b rankedFile) int {
				return cmp.Compare(a.file.FD.LargestSeqno, b.file.FD.LargestSeqno)
			})
		case rocksdb.OldestSmallestSeqFirst:
			slices.SortStableFunc(ranked, oldestSmallestSeqFirst)
		case rocksdb.MinOverlappingRatio:
			s.sortFileByOverlappingRatio(level, mo.TTL, ranked)
		case rocksdb.RoundRobin:
			ranked = s.sortFileByRoundRobin(level, ranked)
		}
		pri := make([]int, len(ranked))
		for i := range ranked {
			pri[i] = ranked[i].index
		}
		s.filesByCompactionPri[level] = pri
		s.nextFileToCompact[level] = 0
	}
}

func oldestSmallestSeqFirst(a, b rankedFile) int {
	return cmp.Compare(a.file.FD.SmallestSeqno, b.file.FD.SmallestSeqno)
}

// sortFileByOverlappingRatio puts first what rewrites the fewest bytes of the
// next level for each of its own, and among equals the smaller keys, which
// helps a trivial move to take several files at once.
func (s *StorageInfo) sortFileByOverlappingRatio(level int, ttl uint64, ranked []rankedFile) {
	now, err := s.clock.GetCurrentTime()
	if err != nil {
		ttl = 0
	}
	booster := NewFileTtlBooster(uint64(now), ttl, s.numNonEmptyLevels, level)
	next := s.files[level+1]
	for i := range ranked {
		f := ranked[i].file
		var overlapping uint64
		for len(next) > 0 && s.icmp.Compare(next[0].Largest, f.Smallest) < 0 {
			next = next[1:]
		}
		for len(next) > 0 && s.icmp.Compare(next[0].Smallest, f.Largest) < 0 {
			overlapping += next[0].FD.FileSize
			if s.icmp.Compare(next[0].Largest, f.Largest) > 0 {
				break // the next file may overlap it too
			}
			next = next[1:]
		}
		boost := uint64(1)
		if ttl > 0 {
			boost = booster.GetBoostScore(f)
		}
		ranked[i].rank = overlapping * 1024 / max(1, f.CompensatedFileSize) / boost
	}
	partialSort(ranked, NumberFilesToSort, func(a, b rankedFile) int {
		if a.file.MarkedForCompaction.Load() != b.file.MarkedForCompaction.Load() {
			if a.file.MarkedForCompaction.Load() {
				return -1
			}
			return 1
		}
		if c := cmp.Compare(a.rank, b.rank); c != 0 {
			return c
		}
		return s.icmp.Compare(a.file.Smallest, b.file.Smallest)
	})
}

// sortFileByRoundRobin begins with the file at the level's cursor.
func (s *StorageInfo) sortFileByRoundRobin(level int, ranked []rankedFile) []rankedFile {
	if level == 0 && !s.level0NonOverlapping {
		slices.SortStableFunc(ranked, oldestSmallestSeqFirst)
		return ranked
	}
	cursor := s.compactCursor[level]
	if len(cursor) == 0 || len(ranked) <= 1 {
		return ranked
	}
	at := sort.Search(len(ranked), func(i int) bool { return s.icmp.Compare(cursor, ranked[i].file.Smallest) <= 0 })
	if at == 0 || at == len(ranked) {
		return ranked
	}
	return append(slices.Clone(ranked[at:]), ranked[:at]...)
}

// partialSort puts the n least elements in front, in order; the others follow
// in some order.
func partialSort[T any](a []T, n int, compare func(x, y T) int) {
	if len(a) <= 2*n {
		slices.SortStableFunc(a, compare)
		return
	}
	// a[:n] is a heap with the greatest on top; whatever is less takes its place.
	head := a[:n]
	down := func(i int) {
		for {
			child := 2*i + 1
			if child >= n {
				return
			}
			if child+1 < n && compare(head[child+1], head[child]) > 0 {
				child++
			}
			if compare(head[child], head[i]) <= 0 {
				return
			}
			head[i], head[child] = head[child], head[i]
			i = child
		}
	}
	for i := n/2 - 1; i >= 0; i-- {
		down(i)
	}
	for i := n; i < len(a); i++ {
		if compare(a[i], head[0]) < 0 {
			a[i], head[0] = head[0], a[i]
			down(0)
		}
	}
	slices.SortStableFunc(head, compare)
}
