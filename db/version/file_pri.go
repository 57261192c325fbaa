// Port of db/compaction/file_pri.h.

package version

// FileTtlBooster raises the priority of files that come near their TTL, so
// that they reach the last level before it runs out instead of all at once.
type FileTtlBooster struct {
	enabled       bool
	currentTime   uint64
	boostAgeStart uint64
	boostStep     uint64
}

// NewFileTtlBooster is for the files of a level; times in seconds. Level 0, the
// last level and ttl 0 are not boosted.
func NewFileTtlBooster(currentTime, ttl uint64, numNonEmptyLevels, level int) FileTtlBooster {
	if ttl == 0 || level == 0 || level >= numNonEmptyLevels-1 {
		return FileTtlBooster{boostStep: 1, currentTime: currentTime}
	}
	// Boosting begins between half the TTL and 31/32 of it, the later the
	// closer the level is to the last, and rises in 16 steps.
	start := ttl / 2
	ageRange := (ttl/32*31 - start) >> min(63, numNonEmptyLevels-level-1)
	return FileTtlBooster{
		enabled: true, currentTime: currentTime,
		boostAgeStart: start + ageRange, boostStep: max(ageRange/16, 1),
	}
}

// GetBoostScore is 1 for no boost, more for older files.
func (b *FileTtlBooster) GetBoostScore(f *FileMetaData) uint64 {
	if !b.enabled {
		return 1
	}
	oldest := f.TryGetOldestAncesterTime()
	if oldest >= b.currentTime {
		return 1
	}
	if age := b.currentTime - oldest; age > b.boostAgeStart {
		return (age-b.boostAgeStart)/b.boostStep + 1
	}
	return 1
}
