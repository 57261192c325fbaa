// Port of db/file_indexer_test.cc. Differs: keys are big endian, so that the
// bytewise comparator orders them.

package version

import (
	"encoding/binary"
	"testing"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/util"
)

type fileIndexerTest struct {
	t       *testing.T
	indexer *FileIndexer
	files   [4][]*FileMetaData
}

func newFileIndexerTest(t *testing.T) *fileIndexerTest {
	return &fileIndexerTest{t: t, indexer: NewFileIndexer(util.BytewiseComparator())}
}

func intKey(v uint64) dbformat.InternalKey {
	return dbformat.NewInternalKey(binary.BigEndian.AppendUint64(nil, v), 0, dbformat.TypeValue)
}

func (x *fileIndexerTest) add(level int, ranges ...[2]uint64) {
	for _, r := range ranges {
		f := NewFileMetaData()
		f.Smallest, f.Largest = intKey(r[0]), intKey(r[1])
		x.files[level] = append(x.files[level], f)
	}
}

func (x *fileIndexerTest) update() { x.indexer.UpdateIndex(len(x.files), x.files[:]) }

// expect compares one answer; the comparisons are with the file's smallest and
// largest key.
func (x *fileIndexerTest) expect(level, file, cmpSmallest, cmpLargest int, left, right int32) {
	x.t.Helper()
	if l, r := x.indexer.GetNextLevelIndex(level, file, cmpSmallest, cmpLargest); l != left || r != right {
		x.t.Errorf("level %d file %d (%d, %d): %d…%d, want %d…%d", level, file, cmpSmallest, cmpLargest, l, r, left, right)
	}
}

// expectAll gives the answers for a key below, at the smallest, inside, at the
// largest and above.
func (x *fileIndexerTest) expectAll(level, file int, want [5][2]int32) {
	x.t.Helper()
	for i, c := range [5][2]int{{-1, -1}, {0, -1}, {1, -1}, {1, 0}, {1, 1}} {
		x.expect(level, file, c[0], c[1], want[i][0], want[i][1])
	}
}

func TestFileIndexerTest_Empty(t *testing.T) {
	x := NewFileIndexer(util.BytewiseComparator())
	x.UpdateIndex(0, nil)
	if x.NumLevelIndex() != 0 {
		t.Errorf("%d levels", x.NumLevelIndex())
	}
}

func TestFileIndexerTest_no_overlap_left(t *testing.T) {
	x := newFileIndexerTest(t)
	x.add(1, [2]uint64{100, 200}, [2]uint64{300, 400}, [2]uint64{500, 600})
	x.add(2, [2]uint64{1500, 1600}, [2]uint64{1601, 1699}, [2]uint64{1700, 1800})
	x.add(3, [2]uint64{2500, 2600}, [2]uint64{2601, 2699}, [2]uint64{2700, 2800})
	x.update()
	for level := 1; level < 3; level++ {
		for f := range 3 {
			x.expectAll(level, f, [5][2]int32{{0, -1}, {0, -1}, {0, -1}, {0, -1}, {0, 2}})
		}
	}
}

func TestFileIndexerTest_no_overlap_right(t *testing.T) {
	x := newFileIndexerTest(t)
	x.add(1, [2]uint64{2100, 2200}, [2]uint64{2300, 2400}, [2]uint64{2500, 2600})
	x.add(2, [2]uint64{1500, 1600}, [2]uint64{1501, 1699}, [2]uint64{1700, 1800})
	x.add(3, [2]uint64{500, 600}, [2]uint64{501, 699}, [2]uint64{700, 800})
	x.update()
	for level := 1; level < 3; level++ {
		for f := range 3 {
			below := [2]int32{3, 2}
			if f == 0 {
				below[0] = 0
			}
			x.expectAll(level, f, [5][2]int32{below, {3, 2}, {3, 2}, {3, 2}, {3, 2}})
		}
	}
}

func TestFileIndexerTest_empty_L2(t *testing.T) {
	x := newFileIndexerTest(t)
	for level := 1; level < len(x.files); level++ {
		if n := x.indexer.LevelIndexSize(level); n != 0 {
			t.Errorf("level %d has %d entries", level, n)
		}
	}
	x.add(1, [2]uint64{2100, 2200}, [2]uint64{2300, 2400}, [2]uint64{2500, 2600})
	x.add(3, [2]uint64{500, 600}, [2]uint64{501, 699}, [2]uint64{700, 800})
	x.update()
	for f := range 3 {
		x.expectAll(1, f, [5][2]int32{{0, -1}, {0, -1}, {0, -1}, {0, -1}, {0, -1}})
	}
}

func TestFileIndexerTest_mixed(t *testing.T) {
	x := newFileIndexerTest(t)
	x.add(1, [2]uint64{100, 200}, [2]uint64{250, 400}, [2]uint64{450, 500})
	x.add(2, [2]uint64{100, 150}, [2]uint64{200, 250}, [2]uint64{251, 300}, [2]uint64{301, 350}, [2]uint64{500, 600})
	x.add(3, [2]uint64{0, 50}, [2]uint64{100, 200}, [2]uint64{201, 250})
	x.update()
	x.expectAll(1, 0, [5][2]int32{{0, 0}, {0, 0}, {0, 1}, {1, 1}, {1, 4}})
	x.expectAll(1, 1, [5][2]int32{{1, 1}, {1, 1}, {1, 3}, {4, 3}, {4, 4}})
	x.expectAll(1, 2, [5][2]int32{{4, 3}, {4, 3}, {4, 4}, {4, 4}, {4, 4}})
	x.expectAll(2, 0, [5][2]int32{{0, 1}, {1, 1}, {1, 1}, {1, 1}, {1, 2}})
	x.expectAll(2, 1, [5][2]int32{{1, 1}, {1, 1}, {1, 2}, {2, 2}, {2, 2}})
	x.expectAll(2, 2, [5][2]int32{{2, 2}, {3, 2}, {3, 2}, {3, 2}, {3, 2}})
	for f := 3; f <= 4; f++ {
		x.expectAll(2, f, [5][2]int32{{3, 2}, {3, 2}, {3, 2}, {3, 2}, {3, 2}})
	}
}
