// Port of db/version_set_test.cc, the tree of files and the searches in it.

package version

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb/db/blob"
	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/env"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/options"
	"github.com/rocksdb-go/rocksdb/util"
)

func valueKey(userKey string, seq uint64) dbformat.InternalKey {
	return dbformat.NewInternalKey([]byte(userKey), seq, dbformat.TypeValue)
}

func rangeDelKey(userKey string) dbformat.InternalKey {
	return dbformat.NewInternalKey([]byte(userKey), dbformat.MaxSequenceNumber, dbformat.TypeRangeDeletion)
}

// briefOf packs files whose bounds are pairs of user keys at sequence 100.
func briefOf(bounds ...string) ([]*FileMetaData, LevelFilesBrief) {
	var files []*FileMetaData
	for i := 0; i < len(bounds); i += 2 {
		f := NewFileMetaData()
		f.FD.Set(uint64(len(files)+1), 0, 0, 100, 100)
		f.Smallest, f.Largest = valueKey(bounds[i], 100), valueKey(bounds[i+1], 100)
		files = append(files, f)
	}
	return files, DoGenerateLevelFilesBrief(files, bytewise)
}

var bytewise = dbformat.NewInternalKeyComparator(util.BytewiseComparator())

func testGenerateLevelFilesBrief(t *testing.T, bounds ...string) {
	files, brief := briefOf(bounds...)
	if brief.NumFiles() != len(files) {
		t.Fatalf("%d files, want %d", brief.NumFiles(), len(files))
	}
	for i, f := range files {
		if brief.Files[i].FD().GetNumber() != f.FD.GetNumber() {
			t.Errorf("file %d has number %d", i, brief.Files[i].FD().GetNumber())
		}
	}
}

func TestGenerateLevelFilesBriefTest_Empty(t *testing.T)  { testGenerateLevelFilesBrief(t) }
func TestGenerateLevelFilesBriefTest_Single(t *testing.T) { testGenerateLevelFilesBrief(t, "p", "q") }
func TestGenerateLevelFilesBriefTest_Multiple(t *testing.T) {
	testGenerateLevelFilesBrief(t, "150", "200", "200", "250", "300", "350", "400", "450")
}

// countingLogger counts lines.
type countingLogger struct {
	rocksdb.Logger
	n int
}

func (l *countingLogger) Logv(rocksdb.InfoLogLevel, string, ...any) { l.n++ }
func (l *countingLogger) GetInfoLogLevel() rocksdb.InfoLogLevel     { return rocksdb.DebugLevel }

// storageInfoTest builds a tree of six levels.
type storageInfoTest struct {
	t   *testing.T
	io  options.ImmutableOptions
	mo  options.MutableCFOptions
	log countingLogger
	*StorageInfo
}

func newStorageInfoTest(t *testing.T, ucmp rocksdb.Comparator) *storageInfoTest {
	s := &storageInfoTest{t: t}
	db, cf := rocksdb.DefaultDBOptions(), rocksdb.DefaultColumnFamilyOptions()
	db.Env, db.InfoLog, cf.NumLevels = env.Default(), &s.log, 6
	s.io, s.mo = options.NewImmutableOptions(&db, &cf), options.NewMutableCFOptions(&cf)
	s.StorageInfo = NewStorageInfo(StorageInfoOptions{InternalComparator: dbformat.NewInternalKeyComparator(ucmp), NumLevels: 6,
		CompactionStyle: rocksdb.CompactionStyleLevel, EpochNumberRequirement: EpochNumberMustPresent, Clock: s.io.Clock,
		BottommostFileCompactionDelay: s.mo.BottommostFileCompactionDelay})
	return s
}

func newBytewiseStorageInfoTest(t *testing.T) *storageInfoTest {
	return newStorageInfoTest(t, util.BytewiseComparator())
}

func (s *storageInfoTest) sizes(dynamic bool, base uint64, multiplier float64) {
	s.io.LevelCompactionDynamicLevelBytes = dynamic
	s.mo.MaxBytesForLevelBase, s.mo.MaxBytesForLevelMultiplier = base, multiplier
}

func (s *storageInfoTest) addKeys(level int, number uint64, smallest, largest dbformat.InternalKey, size uint64, change ...func(*FileMetaData)) {
	f := NewFileMetaData()
	f.FD.Set(number, 0, size, 0, 0)
	f.Smallest, f.Largest = smallest, largest
	for _, c := range change {
		c(f)
	}
	s.AddFile(level, f)
}

func (s *storageInfoTest) add(level int, number uint64, smallest, largest string, size uint64, change ...func(*FileMetaData)) {
	s.addKeys(level, number, valueKey(smallest, 0), valueKey(largest, 0), size, change...)
}

func (s *storageInfoTest) addBlob(number, count, size, garbageCount, garbageSize uint64, ssts ...uint64) {
	linked := blob.LinkedSsts{}
	for _, n := range ssts {
		linked[n] = struct{}{}
	}
	s.AddBlobFile(blob.NewBlobFileMetaData(blob.NewSharedBlobFileMetaData(number, count, size, "", "", nil), linked, garbageCount, garbageSize))
}

func (s *storageInfoTest) update() {
	s.PrepareForVersionAppend(&s.io, &s.mo)
	s.SetFinalized()
}

func (s *storageInfoTest) overlapping(level int, begin, end dbformat.InternalKey) string {
	var numbers []string
	for _, f := range s.GetOverlappingInputs(level, begin, end) {
		numbers = append(numbers, fmt.Sprint(f.FD.GetNumber()))
	}
	return strings.Join(numbers, ",")
}

func (s *storageInfoTest) wantLogged(n int) {
	s.t.Helper()
	if s.log.n != n {
		s.t.Errorf("%d lines were logged, want %d", s.log.n, n)
	}
}

func (s *storageInfoTest) wantBaseLevel(n int) {
	s.t.Helper()
	if s.BaseLevel() != n {
		s.t.Errorf("base level %d, want %d", s.BaseLevel(), n)
	}
}

// wantMaxBytes compares the levels' target sizes from level on.
func (s *storageInfoTest) wantMaxBytes(level int, want ...uint64) {
	s.t.Helper()
	for i, w := range want {
		if got := s.MaxBytesForLevel(level + i); got != w {
			s.t.Errorf("level %d: at most %d bytes, want %d", level+i, got, w)
		}
	}
}

// wantScoreLevels computes the scores and compares the order of levels.
func (s *storageInfoTest) wantScoreLevels(want ...int) {
	s.t.Helper()
	s.ComputeCompactionScore(&s.io, &s.mo, "")
	for i, w := range want {
		if got := s.CompactionScoreLevel(i); got != w {
			s.t.Errorf("score %d (%f) is of level %d, want %d", i, s.CompactionScore(i), got, w)
		}
	}
}

func TestVersionStorageInfoTest_MaxBytesForLevelStatic(t *testing.T) {
	s := newBytewiseStorageInfoTest(t)
	s.sizes(false, 10, 5)
	s.add(4, 100, "1", "2", 100)
	s.add(5, 101, "1", "2", 100)
	s.update()
	s.wantMaxBytes(1, 10, 50, 250, 1250)
	s.wantLogged(0)
}

func TestVersionStorageInfoTest_MaxBytesForLevelDynamic_1(t *testing.T) {
	s := newBytewiseStorageInfoTest(t)
	s.sizes(true, 1000, 5)
	s.add(5, 1, "1", "2", 500)
	s.update()
	s.wantLogged(0)
	s.wantBaseLevel(5)
}

func TestVersionStorageInfoTest_MaxBytesForLevelDynamic_2(t *testing.T) {
	s := newBytewiseStorageInfoTest(t)
	s.sizes(true, 1000, 5)
	s.add(5, 1, "1", "2", 500)
	s.add(5, 2, "3", "4", 550)
	s.update()
	s.wantLogged(0)
	s.wantMaxBytes(4, 1000)
	s.wantBaseLevel(4)
}

func TestVersionStorageInfoTest_MaxBytesForLevelDynamic_3(t *testing.T) {
	s := newBytewiseStorageInfoTest(t)
	s.sizes(true, 1000, 5)
	s.add(5, 1, "1", "2", 500)
	s.add(5, 2, "3", "4", 550)
	s.add(4, 3, "3", "4", 550)
	s.update()
	s.wantLogged(0)
	s.wantMaxBytes(4, 1000)
	s.wantBaseLevel(4)
}

func TestVersionStorageInfoTest_MaxBytesForLevelDynamic_4(t *testing.T) {
	s := newBytewiseStorageInfoTest(t)
	s.sizes(true, 1000, 5)
	s.add(5, 1, "1", "2", 500)
	s.add(5, 2, "3", "4", 550)
	s.add(4, 3, "3", "4", 550)
	s.add(3, 4, "3", "4", 250)
	s.add(3, 5, "5", "7", 300)
	s.update()
	s.wantLogged(1)
	s.wantMaxBytes(3, 1000, 1005)
	s.wantBaseLevel(3)
}

func TestVersionStorageInfoTest_MaxBytesForLevelDynamic_5(t *testing.T) {
	s := newBytewiseStorageInfoTest(t)
	s.sizes(true, 1000, 5)
	s.add(5, 1, "1", "2", 500)
	s.add(5, 2, "3", "4", 550)
	s.add(4, 3, "3", "4", 550)
	s.add(3, 4, "3", "4", 250)
	s.add(3, 5, "5", "7", 300)
	s.add(1, 6, "3", "4", 5)
	s.add(1, 7, "8", "9", 5)
	s.update()
	s.wantLogged(1)
	if a, b := s.MaxBytesForLevel(4), s.MaxBytesForLevel(3); a <= 1005 || b <= 1005 {
		t.Errorf("levels 4 and 3 have %d and %d bytes, want more than 1005", a, b)
	}
	s.wantMaxBytes(1, 1000, 1005)
	s.wantBaseLevel(1)
}

func TestVersionStorageInfoTest_MaxBytesForLevelDynamicLotsOfData(t *testing.T) {
	s := newBytewiseStorageInfoTest(t)
	s.sizes(true, 100, 2)
	for level, size := range []uint64{50, 50, 500, 500, 1700, 500} {
		s.add(level, uint64(level+1), "1", "2", size)
	}
	s.update()
	s.wantMaxBytes(1, 100, 200, 400, 800)
	s.wantBaseLevel(1)
	s.wantLogged(0)
}

func TestVersionStorageInfoTest_MaxBytesForLevelDynamicLargeLevel(t *testing.T) {
	const gb = 1000 * 1000 * 1000
	s := newBytewiseStorageInfoTest(t)
	s.sizes(true, 10*gb, 10)
	s.add(0, 1, "1", "2", 50)
	s.add(3, 4, "1", "2", 32*gb)
	s.add(4, 5, "1", "2", 500*gb)
	s.add(5, 6, "1", "2", 3000*gb)
	s.update()
	s.wantMaxBytes(2, 10*gb, 30*gb, 300*gb, 3000*gb)
	s.wantBaseLevel(2)
	s.wantLogged(0)
}

func TestVersionStorageInfoTest_MaxBytesForLevelDynamicWithLargeL0_1(t *testing.T) {
	s := newBytewiseStorageInfoTest(t)
	s.sizes(true, 40000, 5)
	s.mo.Level0FileNumCompactionTrigger = 2
	for n := uint64(1); n <= 3; n++ {
		s.add(0, n, "1", "2", 10000)
	}
	s.add(5, 4, "1", "2", 1286250)
	s.add(4, 5, "1", "2", 200000)
	s.add(3, 6, "1", "2", 40000)
	s.add(2, 7, "1", "2", 8000)
	s.update()
	s.wantLogged(0)
	s.wantBaseLevel(2)
	if m := s.LevelMultiplier(); m != 5 {
		t.Errorf("multiplier %f", m)
	}
	s.wantMaxBytes(2, 40000, 51450, 257250)
	s.wantScoreLevels(0) // only level 0 wants compaction
}

func TestVersionStorageInfoTest_MaxBytesForLevelDynamicWithLargeL0_2(t *testing.T) {
	s := newBytewiseStorageInfoTest(t)
	s.sizes(true, 10000, 5)
	s.mo.Level0FileNumCompactionTrigger = 4
	for n := uint64(11); n <= 13; n++ {
		s.add(0, n, "1", "2", 10000)
	}
	s.add(5, 4, "1", "2", 1286250)
	s.add(4, 5, "1", "2", 258000) // score 1.003
	s.add(3, 6, "1", "2", 53000)  // score 1.03
	s.add(2, 7, "1", "2", 20000)  // score 1.94
	s.update()
	s.wantLogged(0)
	s.wantBaseLevel(1)
	s.wantMaxBytes(1, 10000, 10290, 51450, 257250)
	// Levels 2 and 3 exceed their size by more, but with what comes down from
	// level 0 soon it is level 4 that should go first.
	s.wantScoreLevels(0, 4)
}

func TestVersionStorageInfoTest_MaxBytesForLevelDynamicWithLargeL0_3(t *testing.T) {
	s := newBytewiseStorageInfoTest(t)
	s.sizes(true, 20000, 5)
	s.mo.Level0FileNumCompactionTrigger = 5
	for n := uint64(11); n <= 14; n++ {
		s.add(0, n, "1", "2", 2500)
	}
	s.add(5, 4, "1", "2", 1286250)
	s.add(4, 5, "1", "2", 260000)
	s.add(3, 6, "1", "2", 85000)
	s.add(2, 7, "1", "2", 30000)
	s.update()
	s.wantLogged(0)
	s.wantBaseLevel(2)
	s.wantMaxBytes(2, 20000)
	s.wantScoreLevels(3, 2, 4)
}

func TestVersionStorageInfoTest_DrainUnnecessaryLevel(t *testing.T) {
	s := newBytewiseStorageInfoTest(t)
	s.sizes(true, 1000, 10)
	s.add(5, 1, "1", "2", 2000)
	s.add(4, 2, "1", "2", 200)
	s.add(3, 3, "1", "2", 100)
	s.add(1, 4, "1", "2", 10)
	s.update()
	s.wantBaseLevel(1)
	s.wantMaxBytes(1, 1000)
	s.wantMaxBytes(3, 10100)
	// Both are far below their size, but should be emptied.
	s.wantScoreLevels(1, 3)
	for i := range 2 {
		if got := s.CompactionScore(i); got <= 10 {
			t.Errorf("score %d is %f", i, got)
		}
	}
}

func (s *storageInfoTest) wantLiveData(want uint64) {
	s.t.Helper()
	if got := s.EstimateLiveDataSize(); got != want {
		s.t.Errorf("%d bytes are live, want %d", got, want)
	}
}

func TestVersionStorageInfoTest_EstimateLiveDataSize(t *testing.T) {
	s := newBytewiseStorageInfoTest(t)
	s.add(1, 1, "4", "7", 1)
	s.add(2, 2, "3", "5", 1)
	s.add(2, 3, "6", "8", 1)
	s.add(3, 4, "1", "9", 1)
	s.add(4, 5, "4", "5", 1)
	s.add(4, 6, "6", "7", 1)
	s.add(5, 7, "4", "7", 10)
	s.update()
	s.wantLiveData(10) // all overlap the last level's file
}

func TestVersionStorageInfoTest_EstimateLiveDataSize2(t *testing.T) {
	s := newBytewiseStorageInfoTest(t)
	s.add(0, 1, "9", "9", 1)
	s.add(0, 2, "5", "6", 1)
	s.add(1, 3, "1", "2", 1)
	s.add(1, 4, "3", "4", 1)
	s.add(1, 5, "5", "6", 1)
	s.add(2, 6, "2", "3", 1)
	s.add(3, 7, "7", "8", 1)
	s.update()
	s.wantLiveData(4) // files 7, 6, 5, 1
}

func (s *storageInfoTest) wantBottommost(want ...uint64) {
	s.t.Helper()
	var got []uint64
	for _, f := range s.BottommostFiles() {
		got = append(got, f.File.FD.GetNumber())
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		s.t.Errorf("bottommost files %v, want %v", got, want)
	}
}

func TestVersionStorageInfoTest_SingleLevelBottommostData(t *testing.T) {
	s := newBytewiseStorageInfoTest(t)
	s.add(0, 1, "A", "Z", 1)
	s.add(0, 2, "A", "Z", 1)
	s.add(0, 3, "0", "9", 1)
	s.update()
	s.wantBottommost(3)
	if level := s.BottommostFiles()[0].Level; level != 0 {
		t.Errorf("level %d", level)
	}
}

func TestVersionStorageInfoTest_MultiLevelBottommostData(t *testing.T) {
	s := newBytewiseStorageInfoTest(t)
	s.add(0, 1, "A", "Z", 1)
	s.add(0, 2, "0", "9", 1)
	s.add(1, 3, "A", "D", 1)
	s.add(2, 4, "E", "H", 1)
	s.add(2, 5, "I", "L", 1)
	s.update()
	s.wantBottommost(3, 4, 5)
}

func TestVersionStorageInfoTest_GetOverlappingInputs(t *testing.T) {
	s := newBytewiseStorageInfoTest(t)
	last := dbformat.MaxSequenceNumber
	// Two files that meet at the end of a range tombstone.
	s.addKeys(1, 1, valueKey("a", 0), rangeDelKey("b"), 1)
	s.addKeys(1, 2, valueKey("b", 0), valueKey("c", 0), 1)
	// Two files that share a user key.
	s.addKeys(1, 3, valueKey("d", 0), valueKey("e", last), 1)
	s.addKeys(1, 4, valueKey("e", 0), valueKey("f", 0), 1)
	// Two files apart.
	s.addKeys(1, 5, valueKey("g", 0), valueKey("h", 0), 1)
	s.addKeys(1, 6, valueKey("i", 0), valueKey("j", 0), 1)
	s.update()
	for _, c := range []struct {
		begin, end dbformat.InternalKey
		want       string
	}{
		{valueKey("a", 0), valueKey("b", 0), "1,2"},
		{valueKey("a", 0), rangeDelKey("b"), "1"},
		{valueKey("b", last), valueKey("c", 0), "2"},
		{valueKey("d", 0), valueKey("e", 0), "3,4"},
		{valueKey("d", 0), rangeDelKey("e"), "3"},
		{valueKey("e", last), valueKey("f", 0), "3,4"},
		{valueKey("e", 0), valueKey("f", 0), "3,4"},
		{valueKey("g", 0), valueKey("h", 0), "5"},
		{valueKey("i", 0), valueKey("j", 0), "6"},
	} {
		if got := s.overlapping(1, c.begin, c.end); got != c.want {
			t.Errorf("%s … %s: %q, want %q", c.begin.DebugString(false), c.end.DebugString(false), got, c.want)
		}
	}
}

func TestVersionStorageInfoTest_FileLocationAndMetaDataByNumber(t *testing.T) {
	s := newBytewiseStorageInfoTest(t)
	s.add(0, 11, "1", "2", 5000)
	s.add(0, 12, "1", "2", 5000)
	s.add(2, 7, "1", "2", 8000)
	s.update()
	for number, want := range map[uint64]FileLocation{11: {0, 0}, 12: {0, 1}, 7: {2, 0}} {
		if got := s.GetFileLocation(number); got != want {
			t.Errorf("file %d is at %v, want %v", number, got, want)
		}
		if f := s.GetFileMetaDataByNumber(number); f == nil || f.FD.GetNumber() != number {
			t.Errorf("file %d: got %v", number, f)
		}
	}
	if s.GetFileLocation(999).IsValid() || s.GetFileMetaDataByNumber(999) != nil {
		t.Error("found a file that is not there")
	}
}

func (s *storageInfoTest) wantForcedGC(cutoff, threshold float64, want ...uint64) {
	s.t.Helper()
	s.ComputeFilesMarkedForForcedBlobGC(cutoff, threshold, true)
	var got []uint64
	for _, f := range s.FilesMarkedForForcedBlobGC() {
		if f.Level != 0 {
			s.t.Errorf("file %d is said to be in level %d", f.File.FD.GetNumber(), f.Level)
		}
		got = append(got, f.File.FD.GetNumber())
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		s.t.Errorf("age cutoff %g, threshold %g: files %v are marked, want %v", cutoff, threshold, got, want)
	}
}

func TestVersionStorageInfoTest_ForcedBlobGCEmpty(t *testing.T) {
	s := newBytewiseStorageInfoTest(t)
	s.update()
	s.wantForcedGC(0.5, 0.75)
}

func oldestBlob(number uint64) func(*FileMetaData) {
	return func(f *FileMetaData) { f.OldestBlobFileNumber = number }
}

func TestVersionStorageInfoTest_ForcedBlobGCSingleBatch(t *testing.T) {
	s := newBytewiseStorageInfoTest(t)
	s.add(0, 1, "bar1", "foo1", 1000, oldestBlob(10))
	s.addBlob(10, 10, 100000, 2, 15000, 1)
	s.addBlob(11, 4, 400000, 3, 235000)
	s.addBlob(12, 20, 1000000, 8, 400000)
	s.addBlob(13, 128, 1000000, 67, 600000)
	s.update()
	s.wantForcedGC(0.1, 0) // none is old enough
	s.wantForcedGC(1, 0.6) // too little garbage
	s.wantForcedGC(1, 0.5, 1)
}

func TestVersionStorageInfoTest_ForcedBlobGCMultipleBatches(t *testing.T) {
	s := newBytewiseStorageInfoTest(t)
	s.add(0, 1, "bar1", "foo1", 1000, oldestBlob(10))
	s.add(0, 2, "bar2", "foo2", 2000, oldestBlob(10))
	s.add(0, 3, "bar3", "foo3", 3000, oldestBlob(12))
	s.addBlob(10, 10, 100000, 2, 15000, 1, 2)
	s.addBlob(11, 4, 400000, 3, 235000)
	s.addBlob(12, 20, 1000000, 8, 123456, 3)
	s.addBlob(13, 128, 789012345, 67, 88888888)
	s.update()
	s.wantForcedGC(0.1, 0)
	s.wantForcedGC(0.5, 0.6)
	s.wantForcedGC(0.5, 0.5, 1, 2)
}

func TestVersionStorageInfoTest_AddRangeDeletionCompensatedFileSize(t *testing.T) {
	s := newBytewiseStorageInfoTest(t)
	s.add(4, 100, "1", "2", 100, func(f *FileMetaData) { f.CompensatedRangeDeletionSize = 1000 })
	s.update()
	if got := s.GetFileMetaDataByNumber(100).CompensatedFileSize; got != 1100 {
		t.Errorf("size %d, want 1100", got)
	}
}

func TestVersionStorageInfoTimestampTest_GetOverlappingInputs(t *testing.T) {
	s := newStorageInfoTest(t, util.BytewiseComparatorWithU64Ts())
	key := func(userKey string, ts uint64) dbformat.InternalKey {
		return valueKey(string(util.AppendFixed64([]byte(userKey), ts)), 0)
	}
	s.addKeys(1, 1, key("a", 9), key("a", 8), 100)
	s.addKeys(1, 2, key("a", 5), key("b", 10), 100)
	s.addKeys(1, 3, key("c", 12), key("d", 1), 100)
	s.update()
	if got := s.overlapping(1, key("a", 12), key("a", 11)); got != "1,2" {
		t.Errorf("a: got %q", got)
	}
	if got := s.overlapping(1, key("c", 15), key("c", 2)); got != "3" {
		t.Errorf("c: got %q", got)
	}
}

// findLevelFileTest looks into one level.
type findLevelFileTest struct {
	t       *testing.T
	brief   LevelFilesBrief
	overlap bool // the files may overlap one another
}

func newFindLevelFileTest(t *testing.T, bounds ...string) *findLevelFileTest {
	_, brief := briefOf(bounds...)
	return &findLevelFileTest{t: t, brief: brief}
}

func (f *findLevelFileTest) wantFound(want int, keys ...string) {
	f.t.Helper()
	for _, k := range keys {
		if got := FindFile(bytewise, &f.brief, valueKey(k, 100)); got != want {
			f.t.Errorf("%s is in file %d, want %d", k, got, want)
		}
	}
}

// wantOverlaps takes pairs of keys; "-" stands for no bound.
func (f *findLevelFileTest) wantOverlaps(want bool, pairs ...string) {
	f.t.Helper()
	bound := func(s string) []byte {
		if s == "-" {
			return nil
		}
		return []byte(s)
	}
	for i := 0; i < len(pairs); i += 2 {
		if got := SomeFileOverlapsRange(bytewise, !f.overlap, &f.brief, bound(pairs[i]), bound(pairs[i+1])); got != want {
			f.t.Errorf("%s … %s overlaps: %t", pairs[i], pairs[i+1], got)
		}
	}
}

func TestFindLevelFileTest_LevelEmpty(t *testing.T) {
	f := newFindLevelFileTest(t)
	f.wantFound(0, "foo")
	f.wantOverlaps(false, "a", "z", "-", "z", "a", "-", "-", "-")
}

func TestFindLevelFileTest_LevelSingle(t *testing.T) {
	f := newFindLevelFileTest(t, "p", "q")
	f.wantFound(0, "a", "p", "p1", "q")
	f.wantFound(1, "q1", "z")
	f.wantOverlaps(false, "a", "b", "z1", "z2", "-", "j", "r", "-")
	f.wantOverlaps(true, "a", "p", "a", "q", "a", "z", "p", "p1", "p", "q", "p", "z", "p1", "p2", "p1", "z", "q", "q", "q", "q1",
		"-", "p", "-", "p1", "q", "-", "-", "-")
}

func TestFindLevelFileTest_LevelMultiple(t *testing.T) {
	f := newFindLevelFileTest(t, "150", "200", "200", "250", "300", "350", "400", "450")
	f.wantFound(0, "100", "150", "151", "199", "200")
	f.wantFound(1, "201", "249", "250")
	f.wantFound(2, "251", "299", "300", "349", "350")
	f.wantFound(3, "351", "400", "450")
	f.wantFound(4, "451")
	f.wantOverlaps(false, "100", "149", "251", "299", "451", "500", "351", "399")
	f.wantOverlaps(true, "100", "150", "100", "200", "100", "300", "100", "400", "100", "500", "375", "400", "450", "450", "450", "500")
}

func TestFindLevelFileTest_LevelMultipleNullBoundaries(t *testing.T) {
	f := newFindLevelFileTest(t, "150", "200", "200", "250", "300", "350", "400", "450")
	f.wantOverlaps(false, "-", "149", "451", "-")
	f.wantOverlaps(true, "-", "-", "-", "150", "-", "199", "-", "200", "-", "201", "-", "400", "-", "800",
		"100", "-", "200", "-", "449", "-", "450", "-")
}

func TestFindLevelFileTest_LevelOverlapSequenceChecks(t *testing.T) {
	file := NewFileMetaData()
	file.FD.Set(1, 0, 0, 3000, 5000)
	file.Smallest, file.Largest = valueKey("200", 5000), valueKey("200", 3000)
	f := &findLevelFileTest{t: t, brief: DoGenerateLevelFilesBrief([]*FileMetaData{file}, bytewise)}
	f.wantOverlaps(false, "199", "199", "201", "300")
	f.wantOverlaps(true, "200", "200", "190", "200", "200", "210")
}

func TestFindLevelFileTest_LevelOverlappingFiles(t *testing.T) {
	f := newFindLevelFileTest(t, "150", "600", "400", "500")
	f.overlap = true
	f.wantOverlaps(false, "100", "149", "601", "700")
	f.wantOverlaps(true, "100", "150", "100", "200", "100", "300", "100", "400", "100", "500", "375", "400", "450", "450",
		"450", "500", "450", "700", "600", "700")
}

// A search by prefixes gives what a search by comparisons gives.
func TestFindFile_PrefixesAgreeWithComparisons(t *testing.T) {
	keys := []string{"", "a", "a\x00", "a\x00\x00\x00\x00\x00\x00\x00", "a\x00\x00\x00\x00\x00\x00\x00\x00", "abcdefgh", "abcdefgh\x00",
		"abcdefghi", "abcdefgi", "b", "\xff\xff\xff\xff\xff\xff\xff\xff", "\xff\xff\xff\xff\xff\xff\xff\xff\xff"}
	var bounds []string
	for i := 1; i+1 < len(keys); i += 2 {
		bounds = append(bounds, keys[i], keys[i])
	}
	_, brief := briefOf(bounds...)
	plain := brief
	plain.largestPrefix = nil
	for _, k := range keys {
		for _, seq := range []uint64{0, 99, 100, 101, dbformat.MaxSequenceNumber} {
			target := valueKey(k, seq)
			if got, want := FindFile(bytewise, &brief, target), FindFile(bytewise, &plain, target); got != want {
				t.Errorf("%q@%d: file %d, want %d", k, seq, got, want)
			}
		}
	}
}
