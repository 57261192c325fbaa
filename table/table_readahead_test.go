// Port of table/table_test.cc: scans whose readahead looks into the block cache.
// Differs: upstream looks at the prefetch buffers, this at what is read to fill
// them.

package table_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb/env"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/monitoring"
	blockbased "github.com/rocksdb-go/rocksdb/table/block_based"
	"github.com/rocksdb-go/rocksdb/table/internaliter"
	"github.com/rocksdb-go/rocksdb/util"
)

// fileRange is what one read asks for, in bytes.
type fileRange struct {
	offset uint64
	n      int
}

// readLogFS notes the reads of its files, in the order in which they begin.
type readLogFS struct {
	rocksdb.FileSystemWrapper
	reads []fileRange
}

func (f *readLogFS) NewRandomAccessFile(name string, o *rocksdb.FileOptions) (rocksdb.FSRandomAccessFile, error) {
	r, err := f.FileSystemWrapper.NewRandomAccessFile(name, o)
	return &readLogFile{r, f}, err
}

type readLogFile struct {
	rocksdb.FSRandomAccessFile
	log *readLogFS
}

func (f *readLogFile) Read(offset uint64, n int, o *rocksdb.IOOptions, scratch []byte) ([]byte, error) {
	f.log.reads = append(f.log.reads, fileRange{offset, n})
	return f.FSRandomAccessFile.Read(offset, n, o, scratch)
}

func (f *readLogFile) MultiRead(reqs []rocksdb.FSReadRequest, o *rocksdb.IOOptions) error {
	for i := range reqs {
		f.log.reads = append(f.log.reads, fileRange{reqs[i].Offset, reqs[i].Len})
	}
	return f.FSRandomAccessFile.MultiRead(reqs, o)
}

func (f *readLogFile) ReadAsync(r *rocksdb.FSReadRequest, o *rocksdb.IOOptions, cb func(*rocksdb.FSReadRequest)) (rocksdb.IOHandle, error) {
	f.log.reads = append(f.log.reads, fileRange{r.Offset, r.Len})
	return f.FSRandomAccessFile.ReadAsync(r, o, cb)
}

// lookupScan scans a table of 1600 entries, 15 in each block of 4 KB, with a bound
// and 16 KB of readahead.
type lookupScan struct {
	*testing.T
	*tableConstructor
	fs    readLogFS
	stats rocksdb.Statistics
	ro    rocksdb.ReadOptions
	it    internaliter.InternalIterator
	at    int // the entry that it is on
}

const lookupBlock = 4096

func newLookupScan(t *testing.T, bbto rocksdb.BlockBasedTableOptions, async bool) *lookupScan {
	x := &lookupScan{T: t, tableConstructor: newTableConstructor(t, util.BytewiseComparator(), true)}
	x.fs.FileSystem = env.DefaultFileSystem()
	bbto.IndexType = rocksdb.TwoLevelIndexSearch
	bbto.BlockCache, bbto.CacheIndexAndFilterBlocks = newLRU(1<<20, 0), true
	bbto.FilterPolicy, bbto.BlockAlign = blockbased.NewBloomFilterPolicy(10), true
	o := optionsFor(&bbto)
	x.stats = monitoring.NewStatisticsImpl(nil)
	o.Statistics, o.Env = x.stats, env.NewCompositeEnvWrapper(env.Default(), &x.fs, nil)
	rnd := util.NewRandom(101)
	for i := range 1600 {
		rnd.RandomString(256)
		x.Add(asString(uint64(i)), rnd.RandomString(256))
	}
	x.Finish(&o, icmp)
	x.ro = rocksdb.DefaultReadOptions()
	x.ro.AutoReadaheadSize, x.ro.AsyncIO = true, async
	x.ro.IterateUpperBound, x.ro.ReadaheadSize = []byte("00000805"), 16384
	return x
}

// seek caches the blocks of the entries warm, and seeks anew.
func (x *lookupScan) seek(to int, warm ...int) {
	x.Helper()
	it := x.iterator(nil, nil)
	for _, w := range warm {
		it.Seek(maxIkey(asString(uint64(w))))
		checkEq(x.T, "valid", it.Valid(), true)
	}
	it.Close()
	if x.it != nil {
		x.it.Close()
	}
	x.it, x.at, x.fs.reads = x.iterator(&x.ro, nil), to, nil
	target := maxIkey(asString(uint64(to)))
	if x.ro.AsyncIO {
		checkEq(x.T, "pending", x.it.(interface{ SeekAsync([]byte) bool }).SeekAsync(target), true)
	}
	x.it.Seek(target)
	x.wantEntry()
}

func (x *lookupScan) wantEntry() {
	x.Helper()
	fatalIf(x.T, x.it.Status())
	k, v := x.data.At(x.at)
	if !x.it.Valid() || string(x.it.UserKey()) != k || string(x.it.Value()) != v {
		x.Fatalf("entry %d is not there", x.at)
	}
}

func (x *lookupScan) walkTo(to int) {
	x.Helper()
	for x.at < to {
		x.it.Next()
		x.at++
		x.wantEntry()
	}
}

// wantReads says what was read since the last call: pairs of an entry, in whose
// block a read begins, and a number of blocks; and how often readahead was trimmed.
func (x *lookupScan) wantReads(trimmed uint64, pairs ...int) {
	x.Helper()
	var want []fileRange
	for i := 0; i < len(pairs); i += 2 {
		want = append(want, fileRange{uint64(pairs[i] / 15 * lookupBlock), pairs[i+1] * lookupBlock})
	}
	if !slices.Equal(x.fs.reads, want) {
		x.Fatalf("reads %v, not %v", x.fs.reads, want)
	}
	checkEq(x.T, "trimmed", x.stats.GetTickerCount(rocksdb.ReadaheadTrimmed), trimmed)
	x.fs.reads = nil
	fatalIf(x.T, x.stats.Reset())
}

func (x *lookupScan) close() {
	x.it.Close()
	x.Close()
}

func eachLookupScan(t *testing.T, async bool, f func(x *lookupScan)) {
	allParams(t, true, func(t *testing.T, bbto rocksdb.BlockBasedTableOptions) {
		if strings.Contains(t.Name(), "separate=true") {
			t.Skip("other blocks")
		}
		x := newLookupScan(t, bbto, async)
		defer x.close()
		f(x)
	})
}

func TestBlockBasedTableTest_BlockCacheLookupSeqScans(t *testing.T) {
	eachLookupScan(t, false, func(x *lookupScan) {
		x.seek(200, 210, 225, 240, 255)
		x.wantReads(1, 200, 1)

		x.seek(315, 360, 375)
		x.wantReads(1, 315, 3)
		x.walkTo(400)
		x.wantReads(0, 400, 5)
	})
}

func TestBlockBasedTableTest_BlockCacheLookupAsyncScansSeek(t *testing.T) {
	eachLookupScan(t, true, func(x *lookupScan) {
		x.seek(200, 210, 225, 240, 255)
		x.wantReads(2, 200, 1)

		x.seek(315, 345)
		x.wantReads(1, 315, 2, 360, 2)

		x.seek(495, 525, 570, 600)
		x.wantReads(1, 495, 2, 540, 2)
		x.walkTo(540)
		x.wantReads(1, 585, 1)
		x.walkTo(585)
		x.wantReads(1, 615, 1)
		x.walkTo(615)
		x.wantReads(0, 630, 2)
	})
}
