// Port of db/version_set.cc, VersionStorageInfo's queries by key range.

package version

import (
	"slices"
	"sort"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
)

// OverlapInLevel tells whether a file of the level overlaps the user keys from
// smallest to largest, both included; nil stands for no bound.
func (s *StorageInfo) OverlapInLevel(level int, smallest, largest []byte) bool {
	return level < s.numNonEmptyLevels &&
		SomeFileOverlapsRange(s.icmp, level > 0, &s.levelFilesBrief[level], smallest, largest)
}

// OverlapOptions are GetOverlappingInputsWithOptions' rarer arguments.
type OverlapOptions struct {
	// NoExpandRange takes only files that overlap the range itself. Otherwise
	// files of level 0 that overlap a file taken are taken as well.
	NoExpandRange bool
	// StartingL0File leaves out the files of level 0 newer than this one.
	StartingL0File *FileMetaData
}

// GetOverlappingInputs lists the files of a level that overlap the range from
// begin to end, both included; nil stands for no bound.
func (s *StorageInfo) GetOverlappingInputs(level int, begin, end dbformat.InternalKey) []*FileMetaData {
	inputs, _, _ := s.GetOverlappingInputsWithOptions(level, begin, end, OverlapOptions{})
	return inputs
}

// GetOverlappingInputsWithOptions is GetOverlappingInputs that also gives the
// position of the first file found (-1 for none) and, above level 0, the
// smallest key of the file after the last one found (nil for none).
func (s *StorageInfo) GetOverlappingInputsWithOptions(level int, begin, end dbformat.InternalKey,
	o OverlapOptions) (inputs []*FileMetaData, fileIndex int, nextSmallest dbformat.InternalKey) {
	if level >= s.numNonEmptyLevels {
		return nil, -1, nil
	}
	if level > 0 {
		return s.overlappingInputsBinarySearch(level, begin, end, false)
	}
	inputs, fileIndex = s.overlappingL0Inputs(begin, end, o)
	return inputs, fileIndex, nil
}

// overlappingL0Inputs goes over the files until no pass finds another.
func (s *StorageInfo) overlappingL0Inputs(begin, end dbformat.InternalKey, o OverlapOptions) (inputs []*FileMetaData, fileIndex int) {
	files := s.levelFilesBrief[0].Files
	start := 0
	if o.StartingL0File != nil {
		start = max(0, slices.IndexFunc(files, func(f FdWithKeyRange) bool {
			return f.FileMetadata.FD.GetNumber() == o.StartingL0File.FD.GetNumber()
		}))
	}
	var userBegin, userEnd []byte
	if begin != nil {
		userBegin = begin.UserKey()
	}
	if end != nil {
		userEnd = end.UserKey()
	}
	left := make([]int, 0, len(files)-start)
	for i := start; i < len(files); i++ {
		left = append(left, i)
	}
	fileIndex = -1
	for found := true; found && len(left) > 0; {
		found = false
		rest := left[:0]
		for _, i := range left {
			lo, hi := dbformat.ExtractUserKey(files[i].SmallestKey), dbformat.ExtractUserKey(files[i].LargestKey)
			if begin != nil && s.icmp.CompareWithoutTimestamp(hi, userBegin) < 0 ||
				end != nil && s.icmp.CompareWithoutTimestamp(lo, userEnd) > 0 {
				rest = append(rest, i)
				continue
			}
			found = true
			inputs = append(inputs, files[i].FileMetadata)
			if fileIndex == -1 {
				fileIndex = i
			}
			if o.NoExpandRange {
				continue
			}
			if begin != nil && s.icmp.CompareWithoutTimestamp(lo, userBegin) < 0 {
				userBegin = lo
			}
			if end != nil && s.icmp.CompareWithoutTimestamp(hi, userEnd) > 0 {
				userEnd = hi
			}
		}
		left = rest
	}
	return inputs, fileIndex
}

// GetCleanInputsWithinInterval lists the files of a level above 0 that lie
// within the range from begin to end and share no user key with a neighbour
// that does not. It also gives the position of the first (-1 for none).
func (s *StorageInfo) GetCleanInputsWithinInterval(level int, begin, end dbformat.InternalKey) (inputs []*FileMetaData, fileIndex int) {
	if level >= s.numNonEmptyLevels || level == 0 || s.levelFilesBrief[level].NumFiles() == 0 {
		return nil, -1
	}
	inputs, fileIndex, _ = s.overlappingInputsBinarySearch(level, begin, end, true)
	return inputs, fileIndex
}

// overlappingInputsBinarySearch works on a level above 0; within takes only
// files inside the range, with clean cuts at both ends.
// Upstream: VersionStorageInfo::GetOverlappingInputsRangeBinarySearch.
func (s *StorageInfo) overlappingInputsBinarySearch(level int, begin, end dbformat.InternalKey,
	within bool) (inputs []*FileMetaData, fileIndex int, nextSmallest dbformat.InternalKey) {
	files := s.files[level]
	start, limit := 0, len(files)
	touches := func(i int) bool { // files i-1 and i share a user key
		return SstableKeyCompare(s.icmp, files[i-1].Largest, files[i].Smallest) == 0
	}
	if begin != nil {
		start = sort.Search(limit, func(i int) bool {
			key := files[i].Largest
			if within {
				key = files[i].Smallest
			}
			return SstableKeyCompare(s.icmp, key, begin) >= 0
		})
		for within && start > 0 && start < len(files) && touches(start) {
			start++
		}
	}
	if end != nil {
		limit = start + sort.Search(len(files)-start, func(i int) bool {
			key := files[start+i].Smallest
			if within {
				key = files[start+i].Largest
			}
			return SstableKeyCompare(s.icmp, end, key) < 0
		})
		for within && limit < len(files) && limit > start && touches(limit) {
			limit--
		}
	}
	if start >= limit {
		return nil, -1, nil
	}
	if limit < len(files) {
		nextSmallest = files[limit].Smallest
	}
	return slices.Clone(files[start:limit]), start, nextSmallest
}

// MaxNextLevelOverlappingBytes is the most bytes of a next level that one file
// of a level above 0 overlaps.
func (s *StorageInfo) MaxNextLevelOverlappingBytes() uint64 {
	var most uint64
	for level := 1; level < s.numLevels-1; level++ {
		for _, f := range s.files[level] {
			most = max(most, TotalFileSize(s.GetOverlappingInputs(level+1, f.Smallest, f.Largest)))
		}
	}
	return most
}
