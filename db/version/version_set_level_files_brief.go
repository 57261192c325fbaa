// Port of db/version_set.{h,cc} and db/version_edit.h, LevelFilesBrief and the
// searches in it. Differs: the largest keys' first eight bytes are kept as
// integers, so that a search in bytewise order seldom touches a key.

package version

import (
	"encoding/binary"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// FdWithKeyRange is a file as reads see it. The keys lie in one array for the
// whole level.
type FdWithKeyRange struct {
	FileMetadata *FileMetaData
	SmallestKey  []byte
	LargestKey   []byte
}

// FD is the file's descriptor.
func (f *FdWithKeyRange) FD() *FileDescriptor { return &f.FileMetadata.FD }

// LevelFilesBrief is a level's files packed for searching. It does not change
// once made.
type LevelFilesBrief struct {
	Files         []FdWithKeyRange
	largestPrefix []uint64 // nil unless the order is bytewise
}

// NumFiles is the number of files in the level.
func (b *LevelFilesBrief) NumFiles() int { return len(b.Files) }

// DoGenerateLevelFilesBrief packs files, in their order.
func DoGenerateLevelFilesBrief(files []*FileMetaData, icmp *dbformat.InternalKeyComparator) LevelFilesBrief {
	total := 0
	for _, f := range files {
		total += len(f.Smallest) + len(f.Largest)
	}
	keys := make([]byte, 0, total)
	keep := func(k []byte) []byte {
		at := len(keys)
		keys = append(keys, k...)
		return keys[at:len(keys):len(keys)]
	}
	b := LevelFilesBrief{Files: make([]FdWithKeyRange, len(files))}
	for i, f := range files {
		b.Files[i] = FdWithKeyRange{FileMetadata: f, SmallestKey: keep(f.Smallest), LargestKey: keep(f.Largest)}
	}
	if icmp != nil && icmp.IsBytewise() {
		b.largestPrefix = make([]uint64, len(files))
		for i := range b.Files {
			b.largestPrefix[i] = keyPrefix(b.Files[i].LargestKey)
		}
	}
	return b
}

// keyPrefix is the first eight bytes of an internal key's user key, padded
// with zeros: of two keys, the one with the lesser prefix is the lesser.
func keyPrefix(key []byte) uint64 {
	if len(key) >= 16 {
		return binary.BigEndian.Uint64(key)
	}
	var buf [8]byte
	copy(buf[:], key[:len(key)-dbformat.NumInternalBytes])
	return binary.BigEndian.Uint64(buf[:])
}

// FindFile gives the first file whose largest key is not below key, an
// internal key; NumFiles when there is none. The files have to be sorted and
// disjoint.
func FindFile(icmp *dbformat.InternalKeyComparator, b *LevelFilesBrief, key []byte) int {
	return FindFileInRange(icmp, b, key, 0, len(b.Files))
}

// FindFileInRange is FindFile among the files left … right-1; right when there
// is none.
func FindFileInRange(icmp *dbformat.InternalKeyComparator, b *LevelFilesBrief, key []byte, left, right int) int {
	if b.largestPrefix == nil {
		for left < right {
			mid := int(uint(left+right) / 2)
			if icmp.Compare(b.Files[mid].LargestKey, key) < 0 {
				left = mid + 1
			} else {
				right = mid
			}
		}
		return right
	}
	prefix := keyPrefix(key)
	for left < right {
		mid := int(uint(left+right) / 2)
		p := b.largestPrefix[mid]
		if p < prefix || p == prefix && icmp.Compare(b.Files[mid].LargestKey, key) < 0 {
			left = mid + 1
		} else {
			right = mid
		}
	}
	return right
}

// FindFileCounting is FindFileInRange that counts its comparisons in perf, unless
// that is nil.
func FindFileCounting(icmp *dbformat.InternalKeyComparator, b *LevelFilesBrief, key []byte, left, right int, perf *rocksdb.PerfContext) int {
	at := FindFileInRange(icmp, b, key, left, right)
	if perf.CountEnabled() {
		// The search's steps follow from where it ends.
		for left < right {
			perf.UserKeyComparisonCount++
			if mid := int(uint(left+right) / 2); mid < at {
				left = mid + 1
			} else {
				right = mid
			}
		}
	}
	return at
}

// SomeFileOverlapsRange tells whether a file overlaps the user keys from
// smallest to largest, both included; nil stands for no bound. disjointSorted
// says that the files are sorted and disjoint.
// Upstream: AfterFile, BeforeFile.
func SomeFileOverlapsRange(icmp *dbformat.InternalKeyComparator, disjointSorted bool, b *LevelFilesBrief,
	smallest, largest []byte) bool {
	afterFile := func(key []byte, f *FdWithKeyRange) bool {
		return key != nil && icmp.CompareWithoutTimestamp(key, dbformat.ExtractUserKey(f.LargestKey)) > 0
	}
	beforeFile := func(key []byte, f *FdWithKeyRange) bool {
		return key != nil && icmp.CompareWithoutTimestamp(key, dbformat.ExtractUserKey(f.SmallestKey)) < 0
	}
	if !disjointSorted {
		for i := range b.Files {
			f := &b.Files[i]
			if !afterFile(smallest, f) && !beforeFile(largest, f) {
				return true
			}
		}
		return false
	}
	i := 0
	if smallest != nil {
		i = FindFile(icmp, b, dbformat.NewInternalKey(smallest, dbformat.MaxSequenceNumber, dbformat.ValueTypeForSeek))
	}
	return i < len(b.Files) && !beforeFile(largest, &b.Files[i])
}

// SstableKeyCompare orders internal keys as bounds of tables: by user key
// without timestamp, and then the end of a range tombstone, which the table
// does not hold, before an entry.
func SstableKeyCompare(icmp *dbformat.InternalKeyComparator, a, b []byte) int {
	if c := icmp.CompareWithoutTimestamp(dbformat.ExtractUserKey(a), dbformat.ExtractUserKey(b)); c != 0 {
		return c
	}
	aEnd := dbformat.ExtractInternalKeyFooter(a) == dbformat.RangeTombstoneSentinel
	bEnd := dbformat.ExtractInternalKeyFooter(b) == dbformat.RangeTombstoneSentinel
	switch {
	case aEnd && !bEnd:
		return -1
	case bEnd && !aEnd:
		return 1
	}
	return 0
}
