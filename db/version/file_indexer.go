// Port of db/file_indexer.{h,cc}.

package version

import (
	"math"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// LevelMaxIndex is a bound beyond every file of a level.
const LevelMaxIndex = math.MaxInt32

// FileIndexer narrows the search for a key in a level by what the comparison
// with a file of the level above has shown already. For each file of a level
// above 0 it keeps four positions in the next level:
//
//	smallestLB  first file whose largest key is ≥ the file's smallest
//	largestLB   first file whose largest key is ≥ the file's largest
//	smallestRB  last file whose smallest key is ≤ the file's smallest
//	largestRB   last file whose smallest key is ≤ the file's largest
//
// A key below the file can only be in files up to smallestRB; one inside it in
// smallestLB … largestRB; one above it from largestLB on.
type FileIndexer struct {
	numLevels int
	ucmp      rocksdb.Comparator
	next      [][]indexUnit // by level
	levelRB   []int32       // by level, the position of its last file
}

type indexUnit struct{ smallestLB, largestLB, smallestRB, largestRB int32 }

// NewFileIndexer makes an empty indexer.
func NewFileIndexer(ucmp rocksdb.Comparator) *FileIndexer { return &FileIndexer{ucmp: ucmp} }

// NumLevelIndex is the number of levels indexed.
func (x *FileIndexer) NumLevelIndex() int { return len(x.next) }

// LevelIndexSize is the number of files indexed in a level.
func (x *FileIndexer) LevelIndexSize(level int) int {
	if level >= len(x.next) {
		return 0
	}
	return len(x.next[level])
}

// GetNextLevelIndex gives the range of files of the next level (both ends
// included; empty when left > right) that may hold a key, from how the key
// compared with the smallest and largest key of a file of level > 0.
func (x *FileIndexer) GetNextLevelIndex(level, fileIndex, cmpSmallest, cmpLargest int) (left, right int32) {
	if level == x.numLevels-1 {
		return 0, -1
	}
	units := x.next[level]
	u := &units[fileIndex]
	switch {
	case cmpSmallest < 0:
		if fileIndex > 0 {
			left = units[fileIndex-1].largestLB
		}
		return left, u.smallestRB
	case cmpSmallest == 0:
		return u.smallestLB, u.smallestRB
	case cmpLargest < 0:
		return u.smallestLB, u.largestRB
	case cmpLargest == 0:
		return u.largestLB, u.largestRB
	default:
		return u.largestLB, x.levelRB[level+1]
	}
}

// UpdateIndex builds the index of numLevels levels. It may be called once.
func (x *FileIndexer) UpdateIndex(numLevels int, files [][]*FileMetaData) {
	x.numLevels = numLevels
	if numLevels == 0 || files == nil {
		return
	}
	x.next = make([][]indexUnit, numLevels)
	x.levelRB = make([]int32, numLevels)
	for i := range x.levelRB {
		x.levelRB[i] = -1
	}
	for level := 1; level < numLevels-1; level++ {
		upper, lower := files[level], files[level+1]
		x.levelRB[level] = int32(len(upper)) - 1
		if len(upper) == 0 {
			continue
		}
		units := make([]indexUnit, len(upper))
		x.calculateLB(upper, lower, smallestUserKey, func(i int, at int32) { units[i].smallestLB = at })
		x.calculateLB(upper, lower, largestUserKey, func(i int, at int32) { units[i].largestLB = at })
		x.calculateRB(upper, lower, smallestUserKey, func(i int, at int32) { units[i].smallestRB = at })
		x.calculateRB(upper, lower, largestUserKey, func(i int, at int32) { units[i].largestRB = at })
		x.next[level] = units
	}
	x.levelRB[numLevels-1] = int32(len(files[numLevels-1])) - 1
}

func smallestUserKey(f *FileMetaData) []byte { return f.Smallest.UserKey() }
func largestUserKey(f *FileMetaData) []byte  { return f.Largest.UserKey() }

// calculateLB walks both levels forwards: for each upper file's key, the first
// lower file whose largest key is not below it.
func (x *FileIndexer) calculateLB(upper, lower []*FileMetaData, key func(*FileMetaData) []byte, set func(int, int32)) {
	at := 0
	for i, f := range upper {
		k := key(f)
		for at < len(lower) && x.ucmp.CompareWithoutTimestamp(k, true, lower[at].Largest.UserKey(), true) > 0 {
			at++
		}
		set(i, int32(at))
	}
}

// calculateRB walks both levels backwards: for each upper file's key, the last
// lower file whose smallest key is not above it, or -1.
func (x *FileIndexer) calculateRB(upper, lower []*FileMetaData, key func(*FileMetaData) []byte, set func(int, int32)) {
	at := len(lower) - 1
	for i := len(upper) - 1; i >= 0; i-- {
		k := key(upper[i])
		for at >= 0 && x.ucmp.CompareWithoutTimestamp(k, true, lower[at].Smallest.UserKey(), true) < 0 {
			at--
		}
		set(i, int32(at))
	}
}
