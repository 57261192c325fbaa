// Port of db/version_set.{h,cc}, VersionStorageInfo. Differs: epoch
// numbers come and go as arguments instead of through ColumnFamilyData;
// optional arguments are a struct; summaries are plain strings.

package version

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/rocksdb-go/rocksdb/db/blob"
	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/options"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
	"github.com/rocksdb-go/rocksdb/util"
)

// EpochNumberRequirement says whether files without epoch numbers are allowed.
type EpochNumberRequirement uint8

// The requirements. Files written before epoch numbers existed lack them until
// RecoverEpochNumbers has run.
const (
	EpochNumberMightMissing EpochNumberRequirement = iota
	EpochNumberMustPresent
)

// NumberFilesToSort is how many files of a level are put in order for
// compaction; the rest follow in no order.
const NumberFilesToSort = 50

// LevelFile is a file and its level.
type LevelFile struct {
	Level int
	File  *FileMetaData
}

// FileLocation is a file's level and position there; level -1 for none.
type FileLocation struct {
	Level    int
	Position int
}

// IsValid tells whether the location names a file.
func (l FileLocation) IsValid() bool { return l.Level >= 0 }

// BlobStats sums up a version's blob files, in bytes.
type BlobStats struct {
	TotalFileSize    uint64
	TotalGarbageSize uint64
	SpaceAmp         float64
}

// StorageInfo is the shape of one version's tree of files. It is filled
// with AddFile and AddBlobFile, completed by PrepareForVersionAppend and
// SetFinalized; afterwards only the compaction scores and the lists of files
// marked for compaction change, under the database's mutex.
type StorageInfo struct {
	icmp              *dbformat.InternalKeyComparator
	userComparator    rocksdb.Comparator
	numLevels         int
	numNonEmptyLevels int
	levelMaxBytes     []uint64
	levelFilesBrief   []LevelFilesBrief
	fileIndexer       *FileIndexer
	compactionStyle   rocksdb.CompactionStyle
	files             [][]*FileMetaData
	fileLocations     map[uint64]FileLocation
	blobFiles         []*blob.BlobFileMetaData // by file number

	// baseLevel is where level 0 is compacted to; -1 when there is only one
	// level or the style is not leveled.
	baseLevel int
	// lowestUnnecessaryLevel and the levels above it should be emptied, under
	// dynamic level sizes; -1 for none.
	lowestUnnecessaryLevel int
	levelMultiplier        float64
	filesByCompactionPri   [][]int
	level0NonOverlapping   bool
	nextFileToCompact      []int

	filesMarkedForCompaction           []LevelFile
	expiredTtlFiles                    []LevelFile
	filesMarkedForPeriodicCompaction   []LevelFile
	bottommostFiles                    []LevelFile
	bottommostFilesMarkedForCompaction []LevelFile
	filesMarkedForForcedBlobGC         []LevelFile
	readTriggeredCompactionFiles       []LevelFile

	// bottommostFilesMarkThreshold is the least largest sequence number of the
	// bottommost files not yet marked: a snapshot released beyond it may allow
	// more of them to be marked.
	bottommostFilesMarkThreshold               rocksdb.SequenceNumber
	standaloneRangeTombstoneFilesMarkThreshold rocksdb.SequenceNumber
	oldestSnapshotSeqnum                       rocksdb.SequenceNumber

	compactionScore     []float64 // sorted, highest first
	compactionLevel     []int
	l0DelayTriggerCount int
	compactCursor       []dbformat.InternalKey

	// Sums over files whose properties were read. The accumulated ones only
	// grow, over all versions; the current ones are of live files.
	accumulatedFileSize          uint64
	accumulatedRawKeySize        uint64
	accumulatedRawValueSize      uint64
	accumulatedNumNonDeletions   uint64
	accumulatedNumDeletions      uint64
	currentNumNonDeletions       uint64
	currentNumDeletions          uint64
	currentNumSamples            uint64
	estimatedCompactionNeeded    uint64
	clock                        rocksdb.SystemClock
	bottommostCompactionDelaySec uint32
	finalized                    bool
	forceConsistencyChecks       bool
	epochNumberRequirement       EpochNumberRequirement
	offpeak                      options.OffpeakTimeOption
}

// StorageInfoOptions are what NewStorageInfo needs.
type StorageInfoOptions struct {
	InternalComparator            *dbformat.InternalKeyComparator
	NumLevels                     int
	CompactionStyle               rocksdb.CompactionStyle
	Ref                           *StorageInfo // the version before, whose sums go on; may be nil
	ForceConsistencyChecks        bool
	EpochNumberRequirement        EpochNumberRequirement
	Clock                         rocksdb.SystemClock
	BottommostFileCompactionDelay uint32 // seconds
	OffpeakTimeOption             options.OffpeakTimeOption
}

// NewStorageInfo makes an empty tree. A nil comparator is for a dummy
// version, which holds no files.
func NewStorageInfo(o StorageInfoOptions) *StorageInfo {
	var ucmp rocksdb.Comparator
	if o.InternalComparator != nil {
		ucmp = o.InternalComparator.UserComparator()
	}
	s := &StorageInfo{
		icmp: o.InternalComparator, userComparator: ucmp, numLevels: o.NumLevels,
		fileIndexer:     NewFileIndexer(ucmp),
		compactionStyle: o.CompactionStyle,
		files:           make([][]*FileMetaData, o.NumLevels),
		baseLevel:       1, lowestUnnecessaryLevel: -1,
		filesByCompactionPri: make([][]int, o.NumLevels),
		nextFileToCompact:    make([]int, o.NumLevels),
		compactionScore:      make([]float64, o.NumLevels),
		compactionLevel:      make([]int, o.NumLevels),
		compactCursor:        make([]dbformat.InternalKey, o.NumLevels),

		bottommostFilesMarkThreshold:               dbformat.MaxSequenceNumber,
		standaloneRangeTombstoneFilesMarkThreshold: dbformat.MaxSequenceNumber,

		clock: o.Clock, bottommostCompactionDelaySec: o.BottommostFileCompactionDelay,
		forceConsistencyChecks: o.ForceConsistencyChecks,
		epochNumberRequirement: o.EpochNumberRequirement,
		offpeak:                o.OffpeakTimeOption,
	}
	if o.NumLevels == 1 {
		s.baseLevel = -1
	}
	if r := o.Ref; r != nil {
		s.accumulatedFileSize = r.accumulatedFileSize
		s.accumulatedRawKeySize = r.accumulatedRawKeySize
		s.accumulatedRawValueSize = r.accumulatedRawValueSize
		s.accumulatedNumNonDeletions = r.accumulatedNumNonDeletions
		s.accumulatedNumDeletions = r.accumulatedNumDeletions
		s.currentNumNonDeletions = r.currentNumNonDeletions
		s.currentNumDeletions = r.currentNumDeletions
		s.currentNumSamples = r.currentNumSamples
		s.oldestSnapshotSeqnum = r.oldestSnapshotSeqnum
		copy(s.compactCursor, r.compactCursor)
	}
	return s
}

// Reserve makes room for size files in a level.
func (s *StorageInfo) Reserve(level, size int) {
	s.files[level] = slices.Grow(s.files[level], size)
}

// AddFile appends f to a level and counts a reference. The caller keeps each
// level's order.
func (s *StorageInfo) AddFile(level int, f *FileMetaData) {
	s.files[level] = append(s.files[level], f)
	f.Refs++
}

// AddBlobFile appends a blob file and counts a reference; numbers have to rise.
func (s *StorageInfo) AddBlobFile(m *blob.BlobFileMetaData) {
	m.Ref()
	s.blobFiles = append(s.blobFiles, m)
}

// ReleaseBlobFiles gives back the references to blob files; for a version
// that is going away.
func (s *StorageInfo) ReleaseBlobFiles() {
	for _, m := range s.blobFiles {
		m.Unref()
	}
	s.blobFiles = nil
}

// ReserveBlob makes room for size blob files.
func (s *StorageInfo) ReserveBlob(size int) { s.blobFiles = slices.Grow(s.blobFiles, size) }

// ResizeCompactCursors makes room for the cursors of that many levels, all
// empty where they are new.
func (s *StorageInfo) ResizeCompactCursors(levels int) {
	for len(s.compactCursor) < levels {
		s.compactCursor = append(s.compactCursor, nil)
	}
	s.compactCursor = s.compactCursor[:levels]
}

// GetCompactCursors lists the round-robin cursors by level.
func (s *StorageInfo) GetCompactCursors() []dbformat.InternalKey { return s.compactCursor }

// AddCursorForOneLevel sets a level's cursor.
func (s *StorageInfo) AddCursorForOneLevel(level int, key dbformat.InternalKey) {
	s.compactCursor[level] = key
}

// GetNextCompactCursor is the smallest key of the file that is increment
// places after the next one to compact, around the end of the level.
func (s *StorageInfo) GetNextCompactCursor(level, increment int) dbformat.InternalKey {
	pri := s.filesByCompactionPri[level]
	i := s.nextFileToCompact[level] + increment
	if i >= len(pri) {
		i = 0
	}
	return s.files[level][pri[i]].Smallest
}

// PrepareForVersionAppend computes everything that is derived from the files,
// apart from the compaction scores.
func (s *StorageInfo) PrepareForVersionAppend(io *options.ImmutableOptions, mo *options.MutableCFOptions) {
	s.computeCompensatedSizes()
	s.updateNumNonEmptyLevels()
	s.CalculateBaseBytes(io, mo)
	s.UpdateFilesByCompactionPri(io, mo)
	s.fileIndexer.UpdateIndex(s.numNonEmptyLevels, s.files)
	s.generateLevelFilesBrief()
	s.generateLevel0NonOverlapping()
	s.generateBottommostFiles()
	s.generateFileLocationIndex()
}

// SetFinalized says that the files will not change any more.
func (s *StorageInfo) SetFinalized() { s.finalized = true }

// Finalized tells whether SetFinalized was called.
func (s *StorageInfo) Finalized() bool { return s.finalized }

func (s *StorageInfo) updateNumNonEmptyLevels() {
	s.numNonEmptyLevels = s.numLevels
	for s.numNonEmptyLevels > 0 && len(s.files[s.numNonEmptyLevels-1]) == 0 {
		s.numNonEmptyLevels--
	}
}

func (s *StorageInfo) generateLevelFilesBrief() {
	s.levelFilesBrief = make([]LevelFilesBrief, s.numNonEmptyLevels)
	for level := range s.levelFilesBrief {
		s.levelFilesBrief[level] = DoGenerateLevelFilesBrief(s.files[level], s.icmp)
	}
}

func (s *StorageInfo) generateLevel0NonOverlapping() {
	s.level0NonOverlapping = true
	if len(s.levelFilesBrief) == 0 {
		return
	}
	sorted := slices.Clone(s.levelFilesBrief[0].Files)
	slices.SortFunc(sorted, func(a, b FdWithKeyRange) int { return s.icmp.Compare(a.SmallestKey, b.SmallestKey) })
	for i := 1; i < len(sorted); i++ {
		if s.icmp.Compare(sorted[i-1].LargestKey, sorted[i].SmallestKey) >= 0 {
			s.level0NonOverlapping = false
			return
		}
	}
}

func (s *StorageInfo) generateBottommostFiles() {
	s.bottommostFiles = nil
	for level := range s.levelFilesBrief {
		for i := range s.levelFilesBrief[level].Files {
			f := &s.levelFilesBrief[level].Files[i]
			l0Index := -1
			if level == 0 {
				l0Index = i
			}
			if !s.RangeMightExistAfterSortedRun(dbformat.ExtractUserKey(f.SmallestKey),
				dbformat.ExtractUserKey(f.LargestKey), level, l0Index) {
				s.bottommostFiles = append(s.bottommostFiles, LevelFile{level, f.FileMetadata})
			}
		}
	}
}

func (s *StorageInfo) generateFileLocationIndex() {
	n := 0
	for _, files := range s.files {
		n += len(files)
	}
	s.fileLocations = make(map[uint64]FileLocation, n)
	for level, files := range s.files {
		for i, f := range files {
			s.fileLocations[f.FD.GetNumber()] = FileLocation{level, i}
		}
	}
}

// RangeMightExistAfterSortedRun tells whether user keys of the range may be in
// runs older than the one of lastLevel (and, in level 0, of position lastL0;
// -1 otherwise).
func (s *StorageInfo) RangeMightExistAfterSortedRun(smallest, largest []byte, lastLevel, lastL0 int) bool {
	if lastLevel == 0 && lastL0 != len(s.files[0])-1 {
		return true
	}
	for level := lastLevel + 1; level < s.numLevels; level++ {
		if len(s.files[level]) > 0 && (lastLevel == 0 || s.OverlapInLevel(level, smallest, largest)) {
			return true
		}
	}
	return false
}

// UpdateAccumulatedStats adds a file whose properties were read.
func (s *StorageInfo) UpdateAccumulatedStats(f *FileMetaData) {
	syncpoint.Process("VersionStorageInfo::UpdateAccumulatedStats")
	s.accumulatedFileSize += f.FD.FileSize
	s.accumulatedRawKeySize += f.RawKeySize
	s.accumulatedRawValueSize += f.RawValueSize
	s.accumulatedNumNonDeletions += f.NumEntries - f.NumDeletions
	s.accumulatedNumDeletions += f.NumDeletions
	s.currentNumNonDeletions += f.NumEntries - f.NumDeletions
	s.currentNumDeletions += f.NumDeletions
	s.currentNumSamples++
}

// RemoveCurrentStats takes out a file that is going to be deleted.
func (s *StorageInfo) RemoveCurrentStats(f *FileMetaData) {
	if f.InitStatsFromFile {
		s.currentNumNonDeletions -= f.NumEntries - f.NumDeletions
		s.currentNumDeletions -= f.NumDeletions
		s.currentNumSamples--
	}
}

// AccumulatedRawValueSize is 0 as long as no sampled file held values.
func (s *StorageInfo) AccumulatedRawValueSize() uint64 { return s.accumulatedRawValueSize }

// GetAverageValueSize estimates the stored size of a value, in bytes.
func (s *StorageInfo) GetAverageValueSize() uint64 {
	if s.accumulatedNumNonDeletions == 0 || s.accumulatedRawKeySize+s.accumulatedRawValueSize == 0 {
		return 0
	}
	return s.accumulatedRawValueSize / s.accumulatedNumNonDeletions * s.accumulatedFileSize /
		(s.accumulatedRawKeySize + s.accumulatedRawValueSize)
}

// GetEstimatedActiveKeys estimates the number of live keys. Merges, keys that
// were overwritten and deletions of absent keys make it wrong.
func (s *StorageInfo) GetEstimatedActiveKeys() uint64 {
	if s.currentNumSamples == 0 || s.currentNumNonDeletions <= s.currentNumDeletions {
		return 0
	}
	est := s.currentNumNonDeletions - s.currentNumDeletions
	fileCount := uint64(0)
	for _, files := range s.files {
		fileCount += uint64(len(files))
	}
	if s.currentNumSamples >= fileCount {
		return est
	}
	multiplier := float64(fileCount) / float64(s.currentNumSamples)
	if multiplier >= float64(math.MaxUint64)/float64(est) {
		return math.MaxUint64
	}
	return uint64(float64(est) * multiplier)
}

// GetEstimatedCompressionRatioAtLevel is raw over stored bytes, -1 when not
// known.
func (s *StorageInfo) GetEstimatedCompressionRatioAtLevel(level int) float64 {
	var stored, raw uint64
	for _, f := range s.files[level] {
		if n := f.RawKeySize + f.RawValueSize; n > 0 {
			stored += f.FD.FileSize
			raw += n
		}
	}
	if stored == 0 {
		return -1
	}
	return float64(raw) / float64(stored)
}

// NumLevels is the number of levels.
func (s *StorageInfo) NumLevels() int { return s.numLevels }

// NumNonEmptyLevels is one more than the last level with files.
func (s *StorageInfo) NumNonEmptyLevels() int { return s.numNonEmptyLevels }

// L0DelayTriggerCount is the number of sorted runs that write stalls go by.
func (s *StorageInfo) L0DelayTriggerCount() int { return s.l0DelayTriggerCount }

// SetL0DelayTriggerCount sets it.
func (s *StorageInfo) SetL0DelayTriggerCount(v int) { s.l0DelayTriggerCount = v }

// NumLevelFiles is the number of files in a level.
func (s *StorageInfo) NumLevelFiles(level int) int { return len(s.files[level]) }

// NumLevelBytes is the size of a level's files.
func (s *StorageInfo) NumLevelBytes(level int) uint64 { return TotalFileSize(s.files[level]) }

// TotalFileSize sums up file sizes, in bytes.
func TotalFileSize(files []*FileMetaData) uint64 {
	var sum uint64
	for _, f := range files {
		sum += f.FD.FileSize
	}
	return sum
}

// LevelFiles lists a level's files. Not to be changed.
func (s *StorageInfo) LevelFiles(level int) []*FileMetaData { return s.files[level] }

// LevelFilesBrief is a level's files packed for searching; level is below
// NumNonEmptyLevels.
func (s *StorageInfo) LevelFilesBrief(level int) *LevelFilesBrief {
	return &s.levelFilesBrief[level]
}

// FilesByCompactionPri lists a level's positions, first to compact first.
func (s *StorageInfo) FilesByCompactionPri(level int) []int {
	return s.filesByCompactionPri[level]
}

// FileIndexer gives search hints between levels.
func (s *StorageInfo) FileIndexer() *FileIndexer { return s.fileIndexer }

// Level0NonOverlapping tells whether level 0's files are disjoint.
func (s *StorageInfo) Level0NonOverlapping() bool { return s.level0NonOverlapping }

// BaseLevel is where level 0 is compacted to.
func (s *StorageInfo) BaseLevel() int { return s.baseLevel }

// LevelMultiplier is the size ratio of levels under dynamic level sizes.
func (s *StorageInfo) LevelMultiplier() float64 { return s.levelMultiplier }

// SetNextCompactionIndex sets which of FilesByCompactionPri comes next.
func (s *StorageInfo) SetNextCompactionIndex(level, i int) { s.nextFileToCompact[level] = i }

// NextCompactionIndex is which of FilesByCompactionPri comes next.
func (s *StorageInfo) NextCompactionIndex(level int) int { return s.nextFileToCompact[level] }

// ResetNextCompactionIndex starts a level over.
func (s *StorageInfo) ResetNextCompactionIndex(level int) { s.nextFileToCompact[level] = 0 }

// InternalComparator orders the internal keys.
func (s *StorageInfo) InternalComparator() *dbformat.InternalKeyComparator { return s.icmp }

// UserComparator orders the user keys.
func (s *StorageInfo) UserComparator() rocksdb.Comparator { return s.userComparator }

// ForceConsistencyChecks tells whether the builder checks in all builds.
func (s *StorageInfo) ForceConsistencyChecks() bool { return s.forceConsistencyChecks }

// GetEpochNumberRequirement tells whether epoch numbers may be missing.
func (s *StorageInfo) GetEpochNumberRequirement() EpochNumberRequirement {
	return s.epochNumberRequirement
}

// SetEpochNumberRequirement sets it.
func (s *StorageInfo) SetEpochNumberRequirement(r EpochNumberRequirement) {
	s.epochNumberRequirement = r
}

// GetFileLocation finds a table file.
func (s *StorageInfo) GetFileLocation(number uint64) FileLocation {
	if l, ok := s.fileLocations[number]; ok {
		return l
	}
	return FileLocation{Level: -1}
}

// GetFileMetaDataByNumber finds a table file, nil when it is not live here.
func (s *StorageInfo) GetFileMetaDataByNumber(number uint64) *FileMetaData {
	if l, ok := s.fileLocations[number]; ok {
		return s.files[l.Level][l.Position]
	}
	return nil
}

// GetBlobFiles lists the blob files by number.
func (s *StorageInfo) GetBlobFiles() []*blob.BlobFileMetaData { return s.blobFiles }

// GetBlobFileMetaDataLB is the position of the first blob file whose number is
// not below number.
func (s *StorageInfo) GetBlobFileMetaDataLB(number uint64) int {
	i, _ := slices.BinarySearchFunc(s.blobFiles, number, func(m *blob.BlobFileMetaData, n uint64) int {
		switch k := m.GetBlobFileNumber(); {
		case k < n:
			return -1
		case k > n:
			return 1
		}
		return 0
	})
	return i
}

// GetBlobFileMetaData finds a blob file, nil when it is not live here.
func (s *StorageInfo) GetBlobFileMetaData(number uint64) *blob.BlobFileMetaData {
	if i := s.GetBlobFileMetaDataLB(number); i < len(s.blobFiles) && s.blobFiles[i].GetBlobFileNumber() == number {
		return s.blobFiles[i]
	}
	return nil
}

// GetBlobStats sums up the blob files.
func (s *StorageInfo) GetBlobStats() BlobStats {
	var b BlobStats
	for _, m := range s.blobFiles {
		b.TotalFileSize += m.GetBlobFileSize()
		b.TotalGarbageSize += m.GetGarbageBlobBytes()
	}
	if b.TotalFileSize > b.TotalGarbageSize {
		b.SpaceAmp = float64(b.TotalFileSize) / float64(b.TotalFileSize-b.TotalGarbageSize)
	}
	return b
}

// HasMissingEpochNumber tells whether some file has no epoch number.
func (s *StorageInfo) HasMissingEpochNumber() bool {
	for _, files := range s.files {
		for _, f := range files {
			if f.EpochNumber == UnknownEpochNumber {
				return true
			}
		}
	}
	return false
}

// GetMaxEpochNumberOfFiles is the highest epoch number, UnknownEpochNumber
// without files.
func (s *StorageInfo) GetMaxEpochNumberOfFiles() uint64 {
	highest := UnknownEpochNumber
	for _, files := range s.files {
		for _, f := range files {
			highest = max(highest, f.EpochNumber)
		}
	}
	return highest
}

// RecoverEpochNumbers starts the family's epoch numbers over, as after a
// recovery, and gives the next one: see RecoverEpochNumbersFrom.
func (s *StorageInfo) RecoverEpochNumbers(allowIngestBehind bool) (next uint64) {
	next = UnknownEpochNumber + 1
	if allowIngestBehind {
		next = ReservedEpochNumberForFileIngestedBehind + 1
	}
	next, _ = s.RecoverEpochNumbersFrom(next, false)
	return next
}

// RecoverEpochNumbersFrom gives every file an epoch number. If one lacks it,
// or with force, all are numbered anew from next on, oldest run first; then
// inferred tells that numbers were missing. Otherwise the family goes on after
// the highest. It gives the family's next number.
func (s *StorageInfo) RecoverEpochNumbersFrom(next uint64, force bool) (after uint64, inferred bool) {
	missing := s.HasMissingEpochNumber()
	if !missing && !force {
		return max(s.GetMaxEpochNumberOfFiles()+1, next), false
	}
	for level := s.numLevels - 1; level >= 1; level-- {
		if len(s.files[level]) == 0 {
			continue
		}
		for _, f := range s.files[level] {
			f.EpochNumber = next
		}
		next++
	}
	for _, f := range slices.Backward(s.files[0]) {
		f.EpochNumber = next
		next++
	}
	if missing {
		s.epochNumberRequirement = EpochNumberMustPresent
	}
	return next, missing
}

// EstimateLiveDataSize adds up a maximal set of files that do not overlap,
// from the last level up, and the live bytes of blob files.
func (s *StorageInfo) EstimateLiveDataSize() uint64 {
	var size uint64
	var chosen []*FileMetaData // by largest key
	for level := s.numLevels - 1; level >= 0; level-- {
		foundEnd := false
		for _, f := range s.files[level] {
			at := len(chosen)
			if !foundEnd || level == 0 {
				at, _ = slices.BinarySearchFunc(chosen, f, func(c, f *FileMetaData) int {
					if s.icmp.Compare(c.Largest, f.Smallest) < 0 {
						return -1
					}
					return 1
				})
			}
			foundEnd = at == len(chosen)
			if foundEnd || s.icmp.Compare(f.Largest, chosen[at].Smallest) < 0 {
				chosen = slices.Insert(chosen, at, f)
				size += f.FD.FileSize
			}
		}
	}
	for _, m := range s.blobFiles {
		size += m.GetTotalBlobBytes() - m.GetGarbageBlobBytes()
	}
	return size
}

// LevelSummary is a line about all levels, for the log.
func (s *StorageInfo) LevelSummary() string {
	var r strings.Builder
	if s.compactionStyle == rocksdb.CompactionStyleLevel && s.numLevels > 1 && s.levelMultiplier != 0 {
		fmt.Fprintf(&r, "base level %d level multiplier %.2f max bytes base %d ",
			s.baseLevel, s.levelMultiplier, s.levelMaxBytes[s.baseLevel])
	}
	r.WriteString("files[")
	for i, files := range s.files {
		if i > 0 {
			r.WriteByte(' ')
		}
		fmt.Fprintf(&r, "%d", len(files))
	}
	fmt.Fprintf(&r, "] max score %.2f, estimated pending compaction bytes %d", s.compactionScore[0], s.estimatedCompactionNeeded)
	if n := len(s.filesMarkedForCompaction); n > 0 {
		fmt.Fprintf(&r, " (%d files need compaction)", n)
	}
	return r.String()
}

// maxFileSummary is upstream's buffer: a longer summary ends at a file.
const maxFileSummary = 3000

// LevelFileSummary is a line about a level's files, for the log.
func (s *StorageInfo) LevelFileSummary(level int) string {
	var r strings.Builder
	r.WriteString("files_size[")
	for i, f := range s.files[level] {
		sep := ""
		if i > 0 {
			sep = " "
		}
		compacted := 0
		if f.BeingCompacted {
			compacted = 1
		}
		one := fmt.Sprintf("%s#%d(seq=%d,sz=%s,%d)", sep, f.FD.GetNumber(), f.FD.SmallestSeqno,
			util.AppendHumanBytes(nil, f.FD.FileSize), compacted)
		if r.Len()+len(one)+1 >= maxFileSummary {
			break
		}
		r.WriteString(one)
	}
	r.WriteByte(']')
	return r.String()
}
