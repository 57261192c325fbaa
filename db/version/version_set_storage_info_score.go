// Port of db/version_set.cc, VersionStorageInfo's compaction scores and the
// files marked for compaction.

package version

import (
	"cmp"
	"math"
	"slices"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/file/filename"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/logging"
	"github.com/rocksdb-go/rocksdb/options"
)

// scoreScale lifts scores of at least 1, so that they can be lowered for the
// sake of order and stay above 1, which is what triggers compaction.
const scoreScale = 10.0

// CompactionScoreLevel is the level of the idx'th highest score.
func (s *StorageInfo) CompactionScoreLevel(idx int) int { return s.compactionLevel[idx] }

// CompactionScore is the idx'th highest score; 1 and more calls for compaction.
func (s *StorageInfo) CompactionScore(idx int) float64 { return s.compactionScore[idx] }

// EstimatedCompactionNeededBytes is what compaction would have to rewrite for
// all levels to reach their targets.
func (s *StorageInfo) EstimatedCompactionNeededBytes() uint64 {
	return s.estimatedCompactionNeeded
}

// TESTSetEstimatedCompactionNeededBytes sets it; the caller holds the
// database's mutex.
func (s *StorageInfo) TESTSetEstimatedCompactionNeededBytes(v uint64) {
	s.estimatedCompactionNeeded = v
}

// ComputeCompactionScore scores every level and marks files. The caller holds
// the database's mutex.
func (s *StorageInfo) ComputeCompactionScore(io *options.ImmutableOptions, mo *options.MutableCFOptions, fullHistoryTsLow string) {
	ingestBehind := io.CFAllowIngestBehind || io.AllowIngestBehind
	maxOutputLevel := s.MaxOutputLevel(ingestBehind)
	// Bytes that are going to be compacted down into the level at hand.
	downcompact := 0.0
	for level := 0; level <= s.MaxInputLevel(); level++ {
		var score float64
		if level == 0 {
			downcompact += float64(TotalFileSize(s.files[0]))
			score = s.level0Score(io, mo, maxOutputLevel)
		} else {
			score = s.levelScore(level, io.LevelCompactionDynamicLevelBytes, &downcompact)
		}
		s.compactionLevel[level], s.compactionScore[level] = level, score
	}
	// The order of equal scores is that of upstream's exchange sort.
	for i := 0; i < s.numLevels-2; i++ {
		for j := i + 1; j < s.numLevels-1; j++ {
			if s.compactionScore[i] < s.compactionScore[j] {
				s.compactionScore[i], s.compactionScore[j] = s.compactionScore[j], s.compactionScore[i]
				s.compactionLevel[i], s.compactionLevel[j] = s.compactionLevel[j], s.compactionLevel[i]
			}
		}
	}
	s.ComputeFilesMarkedForCompaction(maxOutputLevel)
	s.ComputeBottommostFilesMarkedForCompaction(ingestBehind, fullHistoryTsLow)
	s.ComputeExpiredTtlFiles(mo.TTL)
	s.ComputeFilesMarkedForPeriodicCompaction(io, mo.PeriodicCompactionSeconds, maxOutputLevel)
	s.ComputeFilesMarkedForForcedBlobGC(mo.BlobGarbageCollectionAgeCutoff,
		mo.BlobGarbageCollectionForceThreshold, mo.EnableBlobGarbageCollection)
	s.ComputeFilesMarkedForReadTriggeredCompaction(mo.ReadTriggeredCompactionThreshold, io.CompactionStyle)
	s.EstimateCompactionBytesNeeded(mo)
}

// level0Score goes by the number of files, since every read looks at all of
// them; under leveled compaction also by their size, and under universal the
// levels below count as one more run each.
func (s *StorageInfo) level0Score(io *options.ImmutableOptions, mo *options.MutableCFOptions, maxOutputLevel int) float64 {
	runs, size := 0, uint64(0)
	for _, f := range s.files[0] {
		if !f.BeingCompacted {
			size += f.CompensatedFileSize
			runs++
		}
	}
	trigger := float64(mo.Level0FileNumCompactionTrigger)
	switch s.compactionStyle {
	case rocksdb.CompactionStyleFIFO:
		return s.fifoScore(mo, runs, size)
	case rocksdb.CompactionStyleUniversal:
		for level := 1; level <= maxOutputLevel; level++ {
			if files := s.files[level]; len(files) > 0 && !files[0].BeingCompacted {
				runs++
			}
		}
	}
	score := float64(runs) / trigger
	if s.compactionStyle != rocksdb.CompactionStyleLevel || s.numLevels <= 1 {
		return score
	}
	if !io.LevelCompactionDynamicLevelBytes {
		return max(score, float64(size)/float64(mo.MaxBytesForLevelBase))
	}
	if size >= mo.MaxBytesForLevelBase {
		// The estimate of pending bytes counts on level 0 being compacted.
		score = max(score, 1.01)
	}
	if base := s.levelMaxBytes[s.baseLevel]; size > base {
		// Level 0 larger than the base level goes first, so that the base level
		// does not push down what is about to be merged with.
		var baseSize uint64
		for _, f := range s.files[s.baseLevel] {
			baseSize += f.CompensatedFileSize
		}
		score = max(score, float64(size)/float64(max(baseSize, base)))
	}
	if score > 1 {
		score *= scoreScale
	}
	return score
}

func (s *StorageInfo) fifoScore(mo *options.MutableCFOptions, runs int, size uint64) float64 {
	fifo := &mo.CompactionOptionsFIFO
	limit := fifo.MaxTableFilesSize
	if fifo.MaxDataFilesSize > 0 {
		size += s.GetBlobStats().TotalFileSize
		limit = fifo.MaxDataFilesSize
	}
	score := float64(size) / float64(max(limit, 1))
	if score < 1 && fifo.AllowCompaction {
		score = max(float64(runs)/float64(mo.Level0FileNumCompactionTrigger), score)
	}
	if score < 1 && mo.TTL > 0 {
		score = max(float64(s.expiredTtlFilesCount(mo.TTL)), score)
	}
	if score < 1 && s.shouldChangeFileTemperature(fifo.FileTemperatureAgeThresholds) {
		score = 1.1
	}
	return score
}

func (s *StorageInfo) expiredTtlFilesCount(ttl uint64) int {
	now, err := s.clock.GetCurrentTime()
	if err != nil {
		return 0
	}
	n := 0
	for _, f := range s.files[0] {
		if t := f.TryGetOldestAncesterTime(); !f.BeingCompacted && t != 0 && t < uint64(now)-ttl {
			n++
		}
	}
	return n
}

// shouldChangeFileTemperature decides as the FIFO picker does, oldest file
// first.
func (s *StorageInfo) shouldChangeFileTemperature(ages []rocksdb.FileTemperatureAge) bool {
	files := s.files[0]
	if len(ages) == 0 || len(files) == 0 {
		return false
	}
	t, err := s.clock.GetCurrentTime()
	now := uint64(t)
	if err != nil || now < ages[0].Age {
		return false
	}
	for i := len(files) - 1; i >= 0; i-- {
		f := files[i]
		if f.BeingCompacted {
			continue
		}
		var prev *FileMetaData
		if i > 0 {
			prev = files[i-1]
		}
		newest := f.TryGetNewestKeyTime(prev)
		if newest == UnknownNewestKeyTime {
			continue
		}
		if newest > now-ages[0].Age {
			return false
		}
		target := ages[0].Temperature
		for _, a := range ages[1:] {
			if now >= a.Age && newest <= now-a.Age {
				target = a.Temperature
			}
		}
		if f.Temperature != target {
			return true
		}
	}
	return false
}

// levelScore is the level's size over its target; under dynamic level sizes it
// is lowered when much is coming down from above.
func (s *StorageInfo) levelScore(level int, dynamic bool, downcompact *float64) float64 {
	var idle, total uint64
	for _, f := range s.files[level] {
		total += f.FD.FileSize
		if !f.BeingCompacted {
			idle += f.CompensatedFileSize
		}
	}
	target := s.levelMaxBytes[level]
	score := float64(idle) / float64(target)
	if dynamic {
		if idle >= target {
			score = float64(idle) / (float64(target) + *downcompact) * scoreScale
		}
		if idle > 0 && level <= s.lowestUnnecessaryLevel {
			// Drain it, after level 0, the higher level first.
			score = max(score, scoreScale*(1.001+0.001*float64(s.lowestUnnecessaryLevel-level)))
		}
	}
	if level <= s.lowestUnnecessaryLevel {
		*downcompact += float64(total)
	} else if total > target {
		*downcompact += float64(total - target)
	}
	return score
}

// EstimateCompactionBytesNeeded adds up, from level 0 down, what each level
// would have to give to the next, with what the next level rewrites for it.
func (s *StorageInfo) EstimateCompactionBytesNeeded(mo *options.MutableCFOptions) {
	s.estimatedCompactionNeeded = 0
	if s.compactionStyle != rocksdb.CompactionStyleLevel {
		return
	}
	var down uint64
	size := TotalFileSize(s.files[0])
	l0Triggered := len(s.files[0]) >= mo.Level0FileNumCompactionTrigger || size >= mo.MaxBytesForLevelBase
	if l0Triggered {
		s.estimatedCompactionNeeded = size
		down = size
	}
	for level := max(s.baseLevel, 0); level <= s.MaxInputLevel(); level++ {
		size = TotalFileSize(s.files[level])
		if level == s.baseLevel && l0Triggered {
			s.estimatedCompactionNeeded += size
		}
		size += down
		down = 0
		target := s.levelMaxBytes[level]
		if size <= target {
			continue
		}
		down = size - target
		if level+1 < s.numLevels {
			if next := TotalFileSize(s.files[level+1]); next > 0 {
				s.estimatedCompactionNeeded += uint64(float64(down) * (float64(next)/float64(size) + 1))
			}
		}
	}
}

// FilesMarkedForCompaction lists files a table property collector marked.
func (s *StorageInfo) FilesMarkedForCompaction() []LevelFile {
	return s.filesMarkedForCompaction
}

// ExpiredTtlFiles lists files older than the TTL.
func (s *StorageInfo) ExpiredTtlFiles() []LevelFile { return s.expiredTtlFiles }

// FilesMarkedForPeriodicCompaction lists files due for periodic compaction.
func (s *StorageInfo) FilesMarkedForPeriodicCompaction() []LevelFile {
	return s.filesMarkedForPeriodicCompaction
}

// BottommostFiles lists files with no older data for their keys below.
func (s *StorageInfo) BottommostFiles() []LevelFile { return s.bottommostFiles }

// BottommostFilesMarkedForCompaction lists those that a rewrite would shrink.
func (s *StorageInfo) BottommostFilesMarkedForCompaction() []LevelFile {
	return s.bottommostFilesMarkedForCompaction
}

// FilesMarkedForForcedBlobGC lists the files that keep the oldest, mostly
// garbage blob files alive.
func (s *StorageInfo) FilesMarkedForForcedBlobGC() []LevelFile {
	return s.filesMarkedForForcedBlobGC
}

// ReadTriggeredCompactionFiles lists files read much for their size, hottest
// first.
func (s *StorageInfo) ReadTriggeredCompactionFiles() []LevelFile {
	return s.readTriggeredCompactionFiles
}

// BottommostFilesMarkThreshold is the oldest snapshot's sequence number beyond
// which more bottommost files may be marked.
func (s *StorageInfo) BottommostFilesMarkThreshold() rocksdb.SequenceNumber {
	return s.bottommostFilesMarkThreshold
}

// StandaloneRangeTombstoneFilesMarkThreshold is the least sequence number of
// the marked files that are one range tombstone.
func (s *StorageInfo) StandaloneRangeTombstoneFilesMarkThreshold() rocksdb.SequenceNumber {
	return s.standaloneRangeTombstoneFilesMarkThreshold
}

// TESTAddFileMarkedForCompaction marks f.
func (s *StorageInfo) TESTAddFileMarkedForCompaction(level int, f *FileMetaData) {
	f.MarkedForCompaction.Store(true)
	s.filesMarkedForCompaction = append(s.filesMarkedForCompaction, LevelFile{level, f})
}

// TESTAddFileMarkedForPeriodicCompaction marks f.
func (s *StorageInfo) TESTAddFileMarkedForPeriodicCompaction(level int, f *FileMetaData) {
	s.filesMarkedForPeriodicCompaction = append(s.filesMarkedForPeriodicCompaction, LevelFile{level, f})
}

// TESTAddFileMarkedForReadTriggeredCompaction marks f.
func (s *StorageInfo) TESTAddFileMarkedForReadTriggeredCompaction(level int, f *FileMetaData) {
	s.readTriggeredCompactionFiles = append(s.readTriggeredCompactionFiles, LevelFile{level, f})
}

// ComputeFilesMarkedForCompaction collects marked files of the levels that
// have data below them.
func (s *StorageInfo) ComputeFilesMarkedForCompaction(lastLevel int) {
	s.filesMarkedForCompaction = nil
	s.standaloneRangeTombstoneFilesMarkThreshold = dbformat.MaxSequenceNumber
	lastQualified := 0
	for level := lastLevel; level >= 1; level-- {
		if len(s.files[level]) > 0 {
			lastQualified = level - 1
			break
		}
	}
	for level := 0; level <= lastQualified; level++ {
		for _, f := range s.files[level] {
			if f.BeingCompacted || !f.MarkedForCompaction.Load() {
				continue
			}
			s.filesMarkedForCompaction = append(s.filesMarkedForCompaction, LevelFile{level, f})
			if f.FileIsStandAloneRangeTombstone() {
				s.standaloneRangeTombstoneFilesMarkThreshold =
					min(s.standaloneRangeTombstoneFilesMarkThreshold, f.FD.SmallestSeqno)
			}
		}
	}
}

// ComputeExpiredTtlFiles collects the files whose oldest data is older than
// ttl seconds, under leveled compaction.
func (s *StorageInfo) ComputeExpiredTtlFiles(ttl uint64) {
	s.expiredTtlFiles = nil
	if ttl == 0 || s.compactionStyle != rocksdb.CompactionStyleLevel {
		return
	}
	now, err := s.clock.GetCurrentTime()
	if err != nil {
		return
	}
	for level := 0; level < s.numLevels-1; level++ {
		for _, f := range s.files[level] {
			if t := f.TryGetOldestAncesterTime(); !f.BeingCompacted && t > 0 && t < uint64(now)-ttl {
				s.expiredTtlFiles = append(s.expiredTtlFiles, LevelFile{level, f})
			}
		}
	}
}

// ComputeFilesMarkedForPeriodicCompaction collects the files last written more
// than that many seconds ago; in off-peak hours also those that will be before
// the next ones begin.
func (s *StorageInfo) ComputeFilesMarkedForPeriodicCompaction(io *options.ImmutableOptions, seconds uint64, lastLevel int) {
	s.filesMarkedForPeriodicCompaction = nil
	if seconds == 0 {
		return
	}
	now, err := s.clock.GetCurrentTime()
	if err != nil || seconds > uint64(now) {
		return
	}
	limit := uint64(now) - seconds
	if info := s.offpeak.GetOffpeakTimeInfo(now); info.IsNowOffpeak {
		limit += uint64(info.SecondsTillNextOffpeakStart)
	}
	for level := 0; level <= lastLevel; level++ {
		for _, f := range s.files[level] {
			if f.BeingCompacted {
				continue
			}
			t := f.TryGetFileCreationTime()
			if t == UnknownFileCreationTime {
				t = f.TryGetOldestAncesterTime()
			}
			if t == UnknownOldestAncesterTime {
				path := filename.TableFileName(io.CFPaths, f.FD.GetNumber(), f.FD.GetPathId())
				if t, err = io.FS.GetFileModificationTime(path, nil); err != nil {
					logging.Warn(io.Logger, "Can't get file modification time: %s: %v", path, err)
					continue
				}
			}
			if t > 0 && t < limit {
				s.filesMarkedForPeriodicCompaction = append(s.filesMarkedForPeriodicCompaction, LevelFile{level, f})
			}
		}
	}
}

// ComputeFilesMarkedForForcedBlobGC looks at the oldest blob files, as many as
// ageCutoff says. If at least forceThreshold of their bytes are garbage, the
// tables linked to the oldest are marked: rewriting those frees it and the
// ones after it that no table is linked to.
func (s *StorageInfo) ComputeFilesMarkedForForcedBlobGC(ageCutoff, forceThreshold float64, enabled bool) {
	s.filesMarkedForForcedBlobGC = nil
	if !enabled || ageCutoff <= 0 || forceThreshold >= 1 || len(s.blobFiles) == 0 {
		return
	}
	cutoff := min(int(ageCutoff*float64(len(s.blobFiles))), len(s.blobFiles))
	if cutoff == 0 {
		return
	}
	var total, garbage uint64
	for _, m := range s.blobFiles[:cutoff] {
		total += m.GetTotalBlobBytes()
		garbage += m.GetGarbageBlobBytes()
	}
	if float64(garbage) < forceThreshold*float64(total) {
		return
	}
	for _, number := range s.blobFiles[0].SortedLinkedSsts() {
		l := s.GetFileLocation(number)
		if !l.IsValid() {
			continue
		}
		if f := s.files[l.Level][l.Position]; !f.BeingCompacted {
			s.filesMarkedForForcedBlobGC = append(s.filesMarkedForForcedBlobGC, LevelFile{l.Level, f})
		}
	}
}

// ComputeFilesMarkedForReadTriggeredCompaction collects the files with more
// than threshold sampled reads a byte that have data below them, or are in
// level 0.
func (s *StorageInfo) ComputeFilesMarkedForReadTriggeredCompaction(threshold float64, style rocksdb.CompactionStyle) {
	s.readTriggeredCompactionFiles = nil
	if threshold <= 0 || style == rocksdb.CompactionStyleFIFO {
		return
	}
	type hot struct {
		LevelFile
		readsPerByte float64
	}
	var found []hot
	for level, files := range s.files {
		if level >= s.numNonEmptyLevels-1 && level != 0 {
			continue
		}
		for _, f := range files {
			if f.BeingCompacted || f.FD.FileSize == 0 {
				continue
			}
			if r := float64(f.Stats.NumCollapsibleEntryReadsSampled.Load()) / float64(f.FD.FileSize); r > threshold {
				found = append(found, hot{LevelFile{level, f}, r})
			}
		}
	}
	slices.SortStableFunc(found, func(a, b hot) int { return cmp.Compare(b.readsPerByte, a.readsPerByte) })
	for _, h := range found {
		s.readTriggeredCompactionFiles = append(s.readTriggeredCompactionFiles, h.LevelFile)
	}
}

// UpdateOldestSnapshot tells of the oldest snapshot, which only rises. The
// caller holds the database's mutex.
func (s *StorageInfo) UpdateOldestSnapshot(seqno rocksdb.SequenceNumber, allowIngestBehind bool, fullHistoryTsLow string) {
	s.oldestSnapshotSeqnum = seqno
	if seqno > s.bottommostFilesMarkThreshold {
		s.ComputeBottommostFilesMarkedForCompaction(allowIngestBehind, fullHistoryTsLow)
	}
}

// ComputeBottommostFilesMarkedForCompaction collects the bottommost files
// whose entries no snapshot holds back: rewriting them drops tombstones and
// zeroes sequence numbers. A file with timestamps not all below
// fullHistoryTsLow would not shrink and would be marked for ever.
func (s *StorageInfo) ComputeBottommostFilesMarkedForCompaction(allowIngestBehind bool, fullHistoryTsLow string) {
	s.bottommostFilesMarkedForCompaction = nil
	s.bottommostFilesMarkThreshold = dbformat.MaxSequenceNumber
	if allowIngestBehind {
		return
	}
	createdBefore := int64(math.MaxInt64)
	if s.bottommostCompactionDelaySec > 0 {
		now, err := s.clock.GetCurrentTime()
		if err != nil {
			now = 0 // every file is then too new
		}
		createdBefore = now - int64(s.bottommostCompactionDelaySec)
	}
	hasTimestamps := s.userComparator != nil && s.userComparator.TimestampSize() > 0
	for _, lf := range s.bottommostFiles {
		f := lf.File
		// A sequence number may be nonzero in a file just compacted: the last
		// key's may not have been zeroed.
		if f.BeingCompacted || f.FD.LargestSeqno == 0 {
			continue
		}
		if f.FD.LargestSeqno >= s.oldestSnapshotSeqnum {
			s.bottommostFilesMarkThreshold = min(s.bottommostFilesMarkThreshold, f.FD.LargestSeqno)
			continue
		}
		if hasTimestamps && f.MaxTimestamp != "" && (fullHistoryTsLow == "" ||
			s.userComparator.CompareTimestamp([]byte(f.MaxTimestamp), []byte(fullHistoryTsLow)) >= 0) {
			continue
		}
		if s.bottommostCompactionDelaySec > 0 {
			created := int64(f.TryGetFileCreationTime())
			if createdBefore <= 0 || created != int64(UnknownFileCreationTime) && created > createdBefore {
				continue // looked at again when scores are next computed
			}
		}
		s.bottommostFilesMarkedForCompaction = append(s.bottommostFilesMarkedForCompaction, lf)
	}
}
