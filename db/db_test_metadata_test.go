// Port of db/db_test.cc (what a database says of its files, and sizes of ranges).

package db_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/db/blob"
	"github.com/rocksdb-go/rocksdb/db/blob/blobformat"
	"github.com/rocksdb-go/rocksdb/db/version"
	"github.com/rocksdb-go/rocksdb/file/filename"
	contract "github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

// generateFile puts what about fills a memtable of 100 KB, in new keys.
func (x *dbTest) generateFile(cf int, rnd *util.Random, k *int, wait bool) {
	x.Helper()
	for i := range 100 {
		n := 990
		if i == 99 {
			n = 1
		}
		x.mustPut(cf, key(*k), rnd.RandomString(n))
		*k++
	}
	if wait {
		x.waitForFlush(cf)
		x.must(x.full().TestWaitForCompact())
	}
}

func (x *dbTest) filesByLevel(cf int) (levels [][]*version.FileMetaData) {
	s := x.storage(cf)
	for l := range s.NumLevels() {
		levels = append(levels, s.LevelFiles(l))
	}
	return levels
}

// wantFileMeta checks what is said of a file.
func wantFileMeta(t testing.TB, m *contract.SstFileMetaData, f *version.FileMetaData) {
	t.Helper()
	same(t, "number", m.FileNumber, f.FD.GetNumber())
	same(t, "name", m.Name, "/"+m.RelativeFilename)
	same(t, "number of the name", filename.TableFileNameToNumber(m.Name), f.FD.GetNumber())
	same(t, "size", m.Size, f.FD.GetFileSize())
	same(t, "smallest sequence number", m.SmallestSeqno, f.FD.SmallestSeqno)
	same(t, "largest sequence number", m.LargestSeqno, f.FD.LargestSeqno)
	if !bytes.Equal(m.SmallestKey, f.Smallest.UserKey()) || !bytes.Equal(m.LargestKey, f.Largest.UserKey()) {
		t.Errorf("keys %q to %q", m.SmallestKey, m.LargestKey)
	}
	same(t, "oldest blob file", m.OldestBlobFileNumber, f.OldestBlobFileNumber)
	same(t, "epoch", m.EpochNumber, f.EpochNumber)
	same(t, "type", m.FileType, rocksdb.TableFile)
	same(t, "directory", m.Directory, m.DBPath)
}

func wantFamilyMeta(t testing.TB, m *contract.ColumnFamilyMetaData, name string, levels [][]*version.FileMetaData, start, end uint64) {
	t.Helper()
	same(t, "name", m.Name, name)
	same(t, "levels", len(m.Levels), len(levels))
	size, count := uint64(0), 0
	for i := range m.Levels {
		l := &m.Levels[i]
		same(t, "level", l.Level, i)
		same(t, "files", len(l.Files), len(levels[i]))
		n := uint64(0)
		for j := range l.Files {
			f := &l.Files[j]
			wantFileMeta(t, f, levels[i][j])
			same(t, "oldest time", f.OldestAncesterTime, levels[i][j].OldestAncesterTime)
			same(t, "creation time", f.FileCreationTime, levels[i][j].FileCreationTime)
			if f.FileCreationTime < start || f.FileCreationTime > end || f.OldestAncesterTime < start || f.OldestAncesterTime > end {
				t.Errorf("created %d, oldest %d, between %d and %d", f.FileCreationTime, f.OldestAncesterTime, start, end)
			}
			n += f.Size
			count++
		}
		same(t, "level's size", l.Size, n)
		size += n
	}
	same(t, "file count", m.FileCount, count)
	same(t, "size", m.Size, size)
}

func (x *dbTest) nowSeconds() uint64 {
	n, err := x.env.GetSystemClock().GetCurrentTime()
	x.must(err)
	return uint64(n)
}

// hundredFiles flushes files, each with a reference to a blob file, which is
// not there.
func (x *dbTest) hundredFiles() {
	x.Helper()
	o := x.currentOptions()
	o.DisableAutoCompactions = true
	x.destroyAndReopen(o)
	rnd, k := util.NewRandom(301), 0
	for i := range 100 {
		b := rocksdb.NewWriteBatch()
		x.must(b.PutBlobIndex(0, []byte(key(k)), blobformat.EncodeBlob(nil, uint64(i+1000), 1234, 5678, rocksdb.NoCompression)))
		x.must(x.db.Write(nil, b))
		k++
		x.generateFile(0, rnd, &k, false)
		x.flush(0)
	}
}

func TestDBTest_MetaDataTest(t *testing.T) {
	x := newDBTest(t)
	start := x.nowSeconds()
	x.hundredFiles()
	end, levels := x.nowSeconds(), x.filesByLevel(0)
	m := x.db.GetColumnFamilyMetaData(nil)
	wantFamilyMeta(t, &m, "default", levels, start, end)
	same(t, "files", m.FileCount, 100)
	live := x.db.GetLiveFilesMetaData()
	same(t, "live files", len(live), 100)
	at := map[int]int{}
	for i := range live {
		f := &live[i]
		same(t, "family", f.ColumnFamilyName, "default")
		wantFileMeta(t, &f.SstFileMetaData, levels[f.Level][at[f.Level]])
		at[f.Level]++
	}
}

// rangeOf selects files; "" is no bound, -1 all levels.
func (x *dbTest) rangeOf(start, limit string, level int) contract.ColumnFamilyMetaData {
	o := contract.GetColumnFamilyMetaDataOptions{Level: level}
	if start != "" {
		o.Range.Start = []byte(start)
	}
	if limit != "" {
		o.Range.Limit = []byte(limit)
	}
	return x.db.GetColumnFamilyMetaData(&o)
}

func TestDBTest_GetColumnFamilyMetaDataWithKeyRangeAndLevel(t *testing.T) {
	x := newDBTest(t)
	x.hundredFiles() // of keys 0 to 100, 101 to 201, and so on
	const start, limit = "key000050", "key000150"
	m := x.rangeOf(start, limit, 0)
	same(t, "levels", len(m.Levels), 1)
	files := m.Levels[0].Files
	same(t, "files", len(files), 2)
	if string(files[1].SmallestKey) >= start || string(files[0].LargestKey) <= limit {
		t.Errorf("%q, %q", files[1].SmallestKey, files[0].LargestKey)
	}
	for _, c := range []struct {
		start, limit string
		level, want  int
	}{{"", "", -1, 100}, {"key000150", "", 0, 99}, {"", "key000250", 0, 3}} {
		m := x.rangeOf(c.start, c.limit, c.level)
		same(t, "levels", len(m.Levels), 1)
		same(t, fmt.Sprintf("files from %q to %q", c.start, c.limit), len(m.Levels[0].Files), c.want)
	}
}

// toLastLevel generates files and compacts them to level 6.
func (x *dbTest) toLastLevel(n int, rnd *util.Random, k *int) {
	x.Helper()
	o := x.currentOptions()
	o.DisableAutoCompactions, o.NumLevels = true, 7
	x.destroyAndReopen(o)
	for range n {
		x.generateFile(0, rnd, k, false)
		x.flush(0)
	}
	cro := rocksdb.DefaultCompactRangeOptions()
	cro.BottommostLevelCompaction, cro.ChangeLevel, cro.TargetLevel = contract.BottommostLevelCompactionForce, true, 6
	x.must(x.db.CompactRange(&cro, nil, nil))
}

func TestDBTest_GetColumnFamilyMetaDataBottommostLevel(t *testing.T) {
	x := newDBTest(t)
	k := 0
	x.toLastLevel(100, util.NewRandom(301), &k)
	m := x.rangeOf("", "", 0)
	same(t, "levels", len(m.Levels), 0)
	same(t, "files", m.FileCount, 0)
	last := func(start, limit string) int {
		t.Helper()
		m := x.rangeOf(start, limit, 6)
		same(t, "levels", len(m.Levels), 1)
		same(t, "level", m.Levels[0].Level, 6)
		if len(m.Levels[0].Files) == 0 {
			t.Error("no files")
		}
		return len(m.Levels[0].Files)
	}
	if all, some := last("", ""), last("key000050", "key000150"); some > all {
		t.Errorf("%d files of %d", some, all)
	}
}

func TestDBTest_GetColumnFamilyMetaDataMultipleLevels(t *testing.T) {
	x := newDBTest(t)
	rnd, k := util.NewRandom(301), 0
	x.toLastLevel(50, rnd, &k)
	for range 30 {
		x.generateFile(0, rnd, &k, false)
		x.flush(0)
	}
	filesAt := func(m contract.ColumnFamilyMetaData, level int) int {
		for _, l := range m.Levels {
			if l.Level == level {
				return len(l.Files)
			}
		}
		return 0
	}
	all := x.rangeOf("", "", -1)
	if filesAt(all, 0) == 0 || filesAt(all, 6) == 0 {
		t.Fatalf("%d files at level 0, %d at level 6", filesAt(all, 0), filesAt(all, 6))
	}
	const start, limit = "key000050", "key000150"
	m := x.rangeOf(start, limit, 6)
	same(t, "levels", len(m.Levels), 1)
	same(t, "level", m.Levels[0].Level, 6)
	n := filesAt(m, 6)
	if n == 0 {
		t.Error("no files")
	}
	same(t, "files of level 6 among all levels", filesAt(x.rangeOf(start, limit, -1), 6), n)
}

func TestDBTest_GetColumnFamilyMetaDataEmptyDB(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.NumLevels = 7
	x.destroyAndReopen(o)
	for _, m := range []contract.ColumnFamilyMetaData{x.rangeOf("", "", -1), x.rangeOf("key000050", "key000150", -1)} {
		same(t, "levels", len(m.Levels), 0)
		same(t, "files", m.FileCount, 0)
		same(t, "size", m.Size, 0)
	}
}

func TestDBTest_AllMetaDataTest(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.DisableAutoCompactions = true
	x.destroyAndReopen(o)
	x.createAndReopenWithCF(pikachu[1:], o)
	start := x.nowSeconds()
	const number, count, size, method, sum = 234, 555, 66666, "CRC32", "\x3d\x87\xff\x57"
	x.full().TestWithMutex(func() {
		for cf := range uint64(2) {
			s := blob.NewSharedBlobFileMetaData(number*(cf+1), count*(cf+1), size*(cf+1), method, sum, nil)
			x.storage(int(cf)).AddBlobFile(blob.NewBlobFileMetaData(s, nil, 0, 0))
		}
	})
	all := x.db.GetAllColumnFamilyMetaData()
	end := x.nowSeconds()
	same(t, "families", len(all), 2)
	for cf := range uint64(2) {
		m := &all[cf]
		wantFamilyMeta(t, m, pikachu[cf], x.filesByLevel(int(cf)), start, end)
		same(t, "blob files", len(m.BlobFiles), 1)
		b := m.BlobFiles[0]
		same(t, "blob files counted", m.BlobFileCount, 1)
		same(t, "size of blob files", m.BlobFileSize, b.BlobFileSize)
		want := contract.BlobMetaData{BlobFileNumber: number * (cf + 1), BlobFileName: filename.BlobFileName("", number*(cf+1)), BlobFilePath: x.dir,
			BlobFileSize:   size*(cf+1) + blobformat.BlobLogHeaderSize + blobformat.BlobLogFooterSize,
			TotalBlobCount: count * (cf + 1), TotalBlobBytes: size * (cf + 1), ChecksumMethod: method, ChecksumValue: sum}
		same(t, "blob file", b, want)
	}
}

// sizeOf is the approximate size of a range, with memtables where asked.
func (x *dbTest) sizeOf(cf int, start, limit string, set ...func(o *contract.SizeApproximationOptions)) uint64 {
	x.Helper()
	o := contract.DefaultSizeApproximationOptions()
	for _, f := range set {
		f(&o)
	}
	sizes, err := x.cf(cf).GetApproximateSizes(&o, []contract.Range{{Start: []byte(start), Limit: []byte(limit)}})
	x.must(err)
	return sizes[0]
}

func (x *dbTest) wantSize(cf int, start, limit string, low, high uint64) {
	x.Helper()
	if n := x.sizeOf(cf, start, limit); n < low || n > high {
		x.Fatalf("%q to %q has about %d bytes, not %d to %d", start, limit, n, low, high)
	}
}

func withMemtables(o *contract.SizeApproximationOptions) {
	o.IncludeMemtables, o.IncludeFiles = true, true
}

func TestDBTest_ApproximateSizesMemTable(t *testing.T) {
	const n = 128
	x := newDBTest(t)
	o := x.currentOptions()
	o.WriteBufferSize, o.Compression = 100000000, rocksdb.NoCompression
	x.destroyAndReopen(o)
	rnd := util.NewRandom(301)
	fill := func(from int) {
		for i := range n {
			x.mustPut(0, key(from+i), rnd.RandomString(1024))
		}
	}
	none := func(from, to int) {
		t.Helper()
		same(t, fmt.Sprintf("size of keys %d to %d", from, to), x.sizeOf(0, key(from), key(to), withMemtables), 0)
	}
	some := func(from, to int) uint64 {
		t.Helper()
		size := x.sizeOf(0, key(from), key(to), withMemtables)
		if size <= 6000 {
			t.Fatalf("size of keys %d to %d: %d", from, to, size)
		}
		return size
	}
	fill(0)
	if size := some(50, 60); size >= 204800 {
		t.Fatalf("size %d", size)
	}
	same(t, "size without memtables", x.sizeOf(0, key(50), key(60)), 0)
	none(500, 600)
	fill(1000)
	none(500, 600)
	some(100, 1020)

	o.MaxWriteBufferNumber, o.MinWriteBufferNumberToMerge, o.WriteBufferSize = 8, 5, 1024*n
	x.destroyAndReopen(o)
	var keys []int
	for i := range n {
		keys = append(keys, i*5, i*5+1, i*5+2)
	}
	util.RandomShuffle(keys, rnd.Next())
	for _, k := range keys {
		x.mustPut(0, key(k+1000), rnd.RandomString(1024))
	}
	none(100, 300)
	some(1050, 1080)
	none(2100, 2300)
	some(1050, 1080)
	same(t, "size without memtables", x.sizeOf(0, key(1050), key(1080)), 0)
	x.flush(0)
	fill(1000)
	with, without := some(1050, 1080), x.sizeOf(0, key(1050), key(1080))
	if with <= without || without <= 6000 {
		t.Fatalf("%d with memtables, %d without", with, without)
	}
	same(t, "size without memtables", x.sizeOf(0, key(1050), key(1080), withMemtables,
		func(o *contract.SizeApproximationOptions) { o.IncludeMemtables = false }), without)
	margin := func(m float64) uint64 {
		return x.sizeOf(0, key(1), key(1000+n-2), func(o *contract.SizeApproximationOptions) { o.FilesSizeErrorMargin = m })
	}
	same(t, "size with a margin that does not come to use", margin(0.5), margin(-1))
}

func TestDBTest_ApproximateSizesFilesWithErrorMargin(t *testing.T) {
	x := newDBTest(t)
	b := rocksdb.DefaultBlockBasedTableOptions()
	b.FilterPolicy, b.BlockSize = rocksdb.NewBloomFilterPolicy(16), 100
	o := x.currentOptions()
	o.TableFactory = rocksdb.NewBlockBasedTableFactory(b)
	o.WriteBufferSize, o.TargetFileSizeBase, o.Compression = 24<<10, 24<<10, rocksdb.NoCompression
	x.destroyAndReopen(o)
	const n = 16000 // a quarter of upstream's
	rnd := util.NewRandom(301)
	fill := func(from, to int) {
		for i := from; i < to; i++ {
			x.mustPut(0, key(i), rnd.RandomString(24))
		}
		x.flush(0)
	}
	fill(0, n)
	x.compact(0, "", "")
	fill(n, n+n/4)
	x.must(x.full().TestWaitForCompact())
	margin := func(m float64) float64 {
		return float64(x.sizeOf(0, key(0), key(2*n), func(o *contract.SizeApproximationOptions) { o.FilesSizeErrorMargin = m }))
	}
	exact, about := margin(-1), margin(0.2)
	if exact == 0 || about >= exact*1.2 || about <= exact*0.8 {
		t.Errorf("size %f, by a margin of 0.2 %f", exact, about)
	}
	// A large filter does not count for the last keys of a file alone.
	for i := 0; i < 3000; i += 10 {
		x.wantSize(0, key(i), key(i+11), 0, 11*100)
	}
}

func TestDBTest_GetApproximateMemTableStats(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.WriteBufferSize, o.Compression = 100000000, rocksdb.NoCompression
	x.destroyAndReopen(o)
	rnd := util.NewRandom(301)
	fill := func(from int) {
		for i := range 128 {
			x.mustPut(0, key(from+i), rnd.RandomString(1024))
		}
	}
	// The count is an estimate by the heights of nodes, which are drawn at random;
	// the size is that of as many entries.
	want := func(from, to int, low, high uint64) {
		t.Helper()
		count, size := x.db.GetApproximateMemTableStats(contract.Range{Start: []byte(key(from)), Limit: []byte(key(to))})
		if count < low || count > high || size != count*1044 {
			t.Errorf("keys %d to %d: %d of %d bytes", from, to, count, size)
		}
	}
	fill(0)
	want(50, 60, 10, 10) // up to 10 are counted
	want(20, 100, 40, 128)
	want(500, 600, 0, 0)
	x.flush(0)
	want(50, 60, 0, 0)
	fill(1000)
	want(100, 1020, 10, 40)
}

func TestDBTest_ApproximateSizes(t *testing.T) {
	const n, low, high = 80, 10000, 10500 // a tenth of upstream's values
	eachOptions(t, skipUniversalCompaction|skipFIFOCompaction|skipPlainTable|skipHashIndex, func(x *dbTest) {
		o := x.currentOptions()
		o.WriteBufferSize, o.Compression = 100000000, rocksdb.NoCompression
		x.destroyAndReopen(o)
		x.createAndReopenWithCF(pikachu[1:], o)
		x.wantSize(1, "", "xyz", 0, 0)
		x.reopenWithColumnFamilies(pikachu, o)
		x.wantSize(1, "", "xyz", 0, 0)
		same(x, "files", x.numTableFilesAtLevel(0, 1), 0)
		rnd := util.NewRandom(301)
		for i := range n {
			x.mustPut(1, key(i), rnd.RandomString(low))
		}
		x.wantSize(1, "", key(50), 0, 0)
		for range 3 {
			x.reopenWithColumnFamilies(pikachu, o)
			for at := 0; at < n; at += 10 {
				for i := uint64(0); i < n; i += 10 {
					k := key(int(i))
					x.wantSize(1, "", k, low*i, high*i)
					x.wantSize(1, "", k+".suffix", low*(i+1), high*(i+1))
					x.wantSize(1, k, key(int(i)+10), low*10, high*10)
				}
				x.wantSize(1, "", key(50), low*50, high*50)
				x.wantSize(1, "", key(50)+".suffix", low*50, high*50+high)
				x.must(x.full().TestCompactRange(0, []byte(key(at)), []byte(key(at+9)), x.cf(1).Impl(), false))
			}
			same(x, "files at level 0", x.numTableFilesAtLevel(0, 1), 0)
			if x.numTableFilesAtLevel(1, 1) == 0 {
				x.Error("no files at level 1")
			}
		}
	})
}

func TestDBTest_ApproximateSizes_MixOfSmallAndLarge(t *testing.T) {
	eachOptions(t, skipPlainTable, func(x *dbTest) {
		o := x.currentOptions()
		o.Compression = rocksdb.NoCompression
		x.createAndReopenWithCF(pikachu[1:], o)
		rnd := util.NewRandom(301)
		big := rnd.RandomString(100000)
		for i, v := range []string{rnd.RandomString(10000), rnd.RandomString(10000), big, rnd.RandomString(10000), big,
			rnd.RandomString(10000), rnd.RandomString(300000), rnd.RandomString(10000)} {
			x.mustPut(1, key(i), v)
		}
		for range 3 {
			x.reopenWithColumnFamilies(pikachu, o)
			for i, b := range [][2]uint64{{0, 0}, {10000, 11000}, {20000, 21000}, {120000, 121000}, {130000, 131000}, {230000, 232000},
				{240000, 242000}, {540500, 545000}, {550500, 555000}} {
				x.wantSize(1, "", key(i), b[0], b[1])
			}
			x.wantSize(1, key(3), key(5), 110100, 111000)
			x.must(x.full().TestCompactRange(0, nil, nil, x.cf(1).Impl(), false))
		}
	})
}

func TestDBTest_HiddenValuesAreRemoved(t *testing.T) {
	eachOptions(t, skipUniversalCompaction|skipFIFOCompaction|skipPlainTable, func(x *dbTest) {
		x.createAndReopenWithCF(pikachu[1:], x.currentOptions())
		x.fillLevels("a", "z", 1)
		big := util.NewRandom(301).RandomString(50000)
		x.mustPut(1, "foo", big)
		x.mustPut(1, "pastfoo", "v")
		s := x.db.GetSnapshot()
		x.mustPut(1, "foo", "tiny")
		x.mustPut(1, "pastfoo2", "v2")
		x.flush(1)
		if x.numTableFilesAtLevel(0, 1) == 0 {
			x.Fatal("no files at level 0")
		}
		x.wantGetAt(1, "foo", s, big)
		x.wantSize(1, "", "pastfoo", 50000, 60000)
		x.must(x.db.ReleaseSnapshot(s))
		x.wantEntries("foo", 1, "[ tiny, "+big+" ]")
		x.must(x.full().TestCompactRange(0, nil, []byte("x"), x.cf(1).Impl(), false))
		x.wantEntries("foo", 1, "[ tiny ]")
		same(x, "files at level 0", x.numTableFilesAtLevel(0, 1), 0)
		if x.numTableFilesAtLevel(1, 1) == 0 {
			x.Fatal("no files at level 1")
		}
		x.must(x.full().TestCompactRange(1, nil, []byte("x"), x.cf(1).Impl(), false))
		x.wantEntries("foo", 1, "[ tiny ]")
		x.wantSize(1, "", "pastfoo", 0, 1000)
	})
}
