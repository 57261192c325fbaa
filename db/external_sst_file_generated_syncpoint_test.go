//go:build syncpoint

// Port of db/external_sst_file_test.cc (IngestDBGeneratedFileTest,
// IngestDBGeneratedFileTest2). Differs: the configurations of options, of
// IngestDBGeneratedFileTest2 every second one, take the sets of parameters in turn.

package db_test

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/memtable"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
	"github.com/rocksdb-go/rocksdb/util"
)

const (
	notZeroSeqno  = "An ingested file overlaps with existing data in the DB and has been assigned a non-zero sequence number"
	notBottommost = "Files cannot be ingested to Lmax"
)

func (x *extTest) wantMessage(err error, text string) {
	x.Helper()
	if err == nil || !strings.Contains(err.Error(), text) {
		x.Fatalf("error %v, not %q", err, text)
	}
}

// eachGenerated runs f for each configuration with one of 1<<bits parameters.
func eachGenerated(t *testing.T, bits int, f func(x *extTest, params int)) {
	t.Helper()
	x := newExtTest(t)
	params := 0
	next := func() bool { return x.changeOptions(skipPlainTable | skipFIFOCompaction) }
	for more := true; more; more = next() && (bits < 5 || next()) {
		x.Logf("parameters %05b", params)
		f(x, params)
		params = (params + 1) % (1 << bits)
	}
}

// wantMap reads all keys.
func (x *extTest) wantMap(cf int, want map[string]string) {
	x.Helper()
	for _, k := range slices.Sorted(maps.Keys(want)) {
		x.wantGet(cf, k, want[k])
	}
}

func bottommost(b rocksdb.BottommostLevelCompaction) *rocksdb.CompactRangeOptions {
	c := rocksdb.DefaultCompactRangeOptions()
	c.BottommostLevelCompaction = b
	return &c
}

// pathsOf lists a family's tables from the oldest, and whether all of them have
// sequence numbers of the kind.
func pathsOf(cf *rocksdb.ColumnFamily) (paths []string, smallest, largest []uint64) {
	meta := cf.GetColumnFamilyMetaData(nil)
	for _, l := range slices.Backward(meta.Levels) {
		for _, f := range slices.Backward(l.Files) {
			paths = append(paths, filepath.Join(f.Directory, f.RelativeFilename))
			smallest, largest = append(smallest, f.SmallestSeqno), append(largest, f.LargestSeqno)
		}
	}
	return paths, smallest, largest
}

func TestIngestDBGeneratedFileTest_FailureCase(t *testing.T) {
	eachGenerated(t, 2, func(x *extTest, params int) {
		io := ingestOptions(func(o *rocksdb.IngestExternalFileOptions) {
			o.LinkFiles, o.VerifyChecksumsBeforeIngest, o.SnapshotConsistency = params&1 != 0, params&2 != 0, false
		})
		o := x.currentOptions()
		x.createAndReopenWithCF([]string{"toto"}, o)
		want := map[string]string{}
		for k := range 50 {
			want[key(k)] = "default_cf_" + key(k)
			x.mustPut(0, key(k), want[key(k)])
		}
		for k := 49; k < 100; k++ {
			x.mustPut(1, key(k), "cf1_"+key(k))
			if k > 49 {
				want[key(k)] = "cf1_" + key(k)
			}
		}
		x.flush(1)
		c := bottommost(rocksdb.BottommostLevelCompactionForceOptimized)
		table := func() []string {
			x.Helper()
			x.must(x.cf(1).CompactRange(c, nil, nil))
			paths, _, largest := pathsOf(x.cf(1))
			if len(paths) != 1 || largest[0] != 0 {
				x.Fatalf("tables %v with sequence numbers up to %v", paths, largest)
			}
			return paths
		}
		files := table()
		io.AllowDBGeneratedFiles = false
		x.wantMessage(x.db.IngestExternalFile(files, io), "External file version not found")
		io.AllowDBGeneratedFiles = true
		x.wantMessage(x.db.IngestExternalFile(files, io), notZeroSeqno)
		if o.NumLevels > 1 {
			io.FailIfNotBottommostLevel = true
			x.wantMessage(x.db.IngestExternalFile(files, io), notBottommost)
			io.FailIfNotBottommostLevel = false
		}
		io.WriteGlobalSeqno = true
		x.wantMessage(x.db.IngestExternalFile(files, io), "write_global_seqno is deprecated and does not work with allow_db_generated_files")
		io.WriteGlobalSeqno = false

		// Without the key that both have.
		x.mustDelete(1, key(49))
		files = table()
		s := x.db.GetSnapshot()
		io.SnapshotConsistency = true
		x.wantMessage(x.db.IngestExternalFile(files, io), notZeroSeqno) // a snapshot has to be hidden from
		io.SnapshotConsistency = false
		x.must(x.db.IngestExternalFile(files, io))
		x.db.ReleaseSnapshot(s)
		x.wantMap(0, want)
	})
}

func generatedOptions(params int) *rocksdb.IngestExternalFileOptions {
	return ingestOptions(func(o *rocksdb.IngestExternalFileOptions) {
		o.AllowDBGeneratedFiles = true
		o.SnapshotConsistency, o.AllowGlobalSeqno, o.AllowBlockingFlush = params&1 != 0, params&2 != 0, params&4 != 0
		o.FailIfNotBottommostLevel, o.LinkFiles = params&8 != 0, params&16 != 0
	})
}

// dropFamily drops a family and closes its handle.
func (x *extTest) dropFamily(cf *rocksdb.ColumnFamily) {
	x.Helper()
	x.must(x.full().WaitForCompact(nil))
	x.must(x.db.DropColumnFamily(cf))
	cf.Close()
}

// Tables that a family was used to sort go to another family and to another
// database.
func TestIngestDBGeneratedFileTest2_NotOverlapWithDB(t *testing.T) {
	eachGenerated(t, 5, func(x *extTest, params int) {
		io := generatedOptions(params)
		o := x.currentOptions()
		o.AllowConcurrentMemtableWrite = false
		x.createAndReopenWithCF([]string{"toto"}, o)
		want := map[string]string{}
		base := func(from, to int) {
			for k := from; k < to; k++ {
				want[key(k)] = "base_val_" + key(k)
				x.mustPut(1, key(k), want[key(k)])
			}
		}
		base(0, 50)
		x.flush(0)
		c := bottommost(rocksdb.BottommostLevelCompactionForceOptimized)
		x.must(x.cf(1).CompactRange(c, nil, nil))
		base(50, 100)

		to := rocksdb.DefaultOptions()
		to.TargetFileSizeBase = 4 << 10
		to.MemtableFactory = memtable.NewVectorRepFactory(0)
		to.CompactionStyle = rocksdb.CompactionStyleUniversal
		temp, err := x.db.CreateColumnFamily(to.ColumnFamilyOptions, "temp_cf")
		x.must(err)
		rnd, sorted := util.NewRandom(301), map[string]string{}
		for k := 199; k >= 100; k-- {
			sorted[key(k)] = rnd.RandomString(200)
			x.must(temp.Put(nil, []byte(key(k)), []byte(sorted[key(k)])))
		}
		x.must(temp.CompactRange(c, nil, nil))
		files, _, largest := pathsOf(temp)
		if len(files) < 2 || slices.Max(largest) != 0 {
			x.Fatalf("%d tables, sequence numbers up to %v", len(files), largest)
		}
		x.must(x.cf(1).IngestExternalFile(files, io))
		maps.Copy(want, sorted)
		x.wantMap(1, want)

		o2 := rocksdb.DefaultOptions()
		o2.CreateIfMissing = true
		dir := x.dir + "_2"
		db2, err := rocksdb.Open(dir, o2)
		x.must(err)
		sorted[key(200)], sorted[key(201)] = rnd.RandomString(100), rnd.RandomString(100)
		x.must(db2.Put(nil, []byte(key(200)), []byte(sorted[key(200)])))
		x.must(db2.CompactRange(c, nil, nil))
		x.must(db2.Put(nil, []byte(key(201)), []byte(sorted[key(201)])))
		x.must(db2.IngestExternalFile(files, io))
		it, got := db2.NewIterator(nil), map[string]string{}
		for k, v := range it.All() {
			got[string(k)] = string(v)
		}
		x.must(it.Err())
		x.must(it.Close())
		if !maps.Equal(got, sorted) {
			x.Fatalf("%d keys in the other database, not %d", len(got), len(sorted))
		}
		// The other database's files are its own.
		x.dropFamily(temp)
		x.must(db2.Close())
		db2, err = rocksdb.Open(dir, o2)
		x.must(err)
		x.must(db2.Close())
		x.must(rocksdb.DestroyDB(dir, o2))
	})
}

func TestIngestDBGeneratedFileTest2_NonZeroSeqno(t *testing.T) {
	rnd := util.NewRandom(301)
	eachGenerated(t, 5, func(x *extTest, params int) {
		io := generatedOptions(params)
		o := x.currentOptions()
		o.AllowConcurrentMemtableWrite = false
		x.createAndReopenWithCF([]string{"non_overlap", "overlap"}, o)
		want := map[string]string{key(0): rnd.RandomString(100), key(99): rnd.RandomString(100)}
		x.mustPut(1, key(0), want[key(0)])
		x.flush(1)
		x.mustPut(1, key(99), want[key(99)])
		x.mustPut(2, key(50), rnd.RandomString(100))

		// The tables come from a family, or from another database, whose sequence
		// numbers this one has to go beyond.
		to := rocksdb.DefaultOptions()
		to.TargetFileSizeBase, to.NumLevels, to.DisableAutoCompactions, to.CreateIfMissing = 20<<10, 7, true, true
		to.Env = x.env
		from, dir := x.db, ""
		var temp *rocksdb.ColumnFamily
		var err error
		if rnd.OneIn(2) {
			dir = x.dir + "_temp"
			from, err = rocksdb.Open(dir, to)
			x.must(err)
			temp = from.ColumnFamily
		} else {
			temp, err = from.CreateColumnFamily(to.ColumnFamilyOptions, "temp_cf")
			x.must(err)
		}
		s := from.GetSnapshot() // keeps sequence numbers
		put := func(first, end, size int) {
			x.Helper()
			for k := first; k < end; k++ {
				want[key(k)] = rnd.RandomString(size)
				x.must(temp.Put(nil, []byte(key(k)), []byte(want[key(k)])))
			}
			x.must(temp.Flush(nil))
		}
		put(1, 99, 2000)
		x.must(temp.CompactRange(bottommost(rocksdb.BottommostLevelCompactionForceOptimized), nil, nil))
		levels := rnd.OneIn(2)
		if levels {
			put(80, 99, 500)
			put(70, 82, 500)
			if rnd.OneIn(2) {
				for l := range 5 {
					x.must(from.Impl().TestCompactRange(l, nil, nil, temp.Impl(), false))
				}
			}
		}
		files, smallest, _ := pathsOf(temp)
		if len(files) < 2 || slices.Min(smallest) == 0 {
			x.Fatalf("%d tables, sequence numbers from %v", len(files), smallest)
		}
		from.ReleaseSnapshot(s)

		if levels && o.NumLevels > 1 {
			io.FailIfNotBottommostLevel = true
			x.wantMessage(x.cf(1).IngestExternalFile(files, io), notBottommost)
			io.FailIfNotBottommostLevel = false
		}
		if io.SnapshotConsistency {
			s := x.db.GetSnapshot()
			x.wantErr(x.cf(1).IngestExternalFile(files, io))
			x.db.ReleaseSnapshot(s)
		}
		var scans atomic.Int64
		syncpoint.SetCallBack("ExternalSstFileIngestionJob::GetSeqnoBoundaryForFile:FileScan", func(any) { scans.Add(1) })
		syncpoint.EnableProcessing()
		x.must(x.cf(1).IngestExternalFile(files, io))
		endSyncPoints()
		if n := scans.Load(); n != 0 {
			x.Fatalf("%d tables were scanned for their sequence numbers", n)
		}
		x.wantMap(1, want)
		if io.AllowBlockingFlush {
			message := notZeroSeqno
			if io.FailIfNotBottommostLevel && o.NumLevels > 1 { // of one level all is the last
				message = notBottommost
			}
			x.wantMessage(x.cf(2).IngestExternalFile(files, io), message)
		}
		if dir == "" {
			x.dropFamily(temp)
		} else {
			x.must(from.Close())
			x.must(rocksdb.DestroyDB(dir, to))
		}
	})
}

// secondaryKey is where a value's index entry for a key is.
func secondaryKey(k, value string) string { return "index_" + value + "_" + k }

// An index of a family is built from a snapshot in another database, all of
// sequence number 0, and from the writes since in another family; both are
// ingested together.
func TestIngestDBGeneratedFileTest2_ZeroAndNonZeroSeqno(t *testing.T) {
	rnd := util.NewRandom(301)
	eachGenerated(t, 5, func(x *extTest, params int) {
		io := generatedOptions(params)
		o := x.currentOptions()
		o.AllowConcurrentMemtableWrite = false
		o.TargetFileSizeBase = 1 << 10
		o.MaxBytesForLevelBase, o.MaxBytesForLevelMultiplier = 2<<10, 2
		o.Level0FileNumCompactionTrigger = 2
		o.LevelCompactionDynamicLevelBytes = true
		x.destroyAndReopen(o)
		x.createAndReopenWithCF([]string{"target_cf"}, o)
		target := x.cf(1)
		lo := o
		lo.MemtableFactory = memtable.NewVectorRepFactory(0)
		lo.CompactionStyle = rocksdb.CompactionStyleUniversal
		lo.CFAllowIngestBehind = true
		lo.NumLevels = 50
		live, err := x.db.CreateColumnFamily(lo.ColumnFamilyOptions, "live_write_cf")
		x.must(err)
		want, deleted := map[string]string{}, map[string]bool{}
		for k := range 100 {
			want[key(k)] = fmt.Sprint(rnd.Uniform(20))
			x.mustPut(1, key(k), want[key(k)])
			if rnd.OneIn(20) {
				x.flush(1)
			}
		}
		to := rocksdb.DefaultOptions()
		to.CreateIfMissing = true
		to.TargetFileSizeBase, to.WriteBufferSize = 1<<10, 1<<10
		to.MemtableFactory = memtable.NewVectorRepFactory(0)
		to.AllowConcurrentMemtableWrite = false
		to.CompactionStyle, to.NumLevels = rocksdb.CompactionStyleUniversal, 7
		to.Env = x.env
		dir := x.dir + "_temp"
		temp, err := rocksdb.Open(dir, to)
		x.must(err)
		size := int(rnd.Uniform(200))
		s := x.db.GetSnapshot()
		ro := rocksdb.DefaultReadOptions()
		ro.Snapshot, ro.TotalOrderSeek = s, true
		it := target.NewIterator(&ro)
		for k, v := range it.All() {
			sk := secondaryKey(string(k), string(v))
			want[sk] = rnd.RandomString(size)
			x.must(temp.Put(nil, []byte(sk), []byte(want[sk])))
		}
		x.must(it.Err())
		for range 10 {
			b := rocksdb.NewWriteBatch()
			for range 5 {
				k := key(int(rnd.Uniform(100)))
				value := fmt.Sprint(rnd.Uniform(20))
				old, now := secondaryKey(k, want[k]), secondaryKey(k, value)
				index := rnd.RandomString(size)
				x.must(b.SingleDeleteCF(live, []byte(old)))
				x.must(b.PutCF(live, []byte(now), []byte(index)))
				x.must(b.PutCF(target, []byte(k), []byte(value)))
				delete(want, old)
				deleted[old] = true
				want[k], want[now] = value, index
				delete(deleted, now)
			}
			x.must(x.db.Write(nil, b))
			if rnd.OneIn(3) {
				x.must(live.Flush(nil))
			}
		}
		x.must(it.Close())
		x.db.ReleaseSnapshot(s)

		x.must(temp.CompactRange(bottommost(rocksdb.BottommostLevelCompactionForce), nil, nil))
		x.must(temp.DisableFileDeletions())
		zero, _, largest := pathsOf(temp.ColumnFamily)
		if len(zero) == 0 || slices.Max(largest) != 0 {
			x.Fatalf("%d tables of the snapshot, sequence numbers up to %v", len(zero), largest)
		}
		x.must(live.Flush(nil))
		x.must(x.db.DisableFileDeletions())
		newer, smallest, _ := pathsOf(live)
		if len(newer) == 0 || slices.Min(smallest) == 0 {
			x.Fatalf("%d tables of live writes, sequence numbers from %v", len(newer), smallest)
		}
		err = target.IngestExternalFile(append(zero, newer...), io)
		if io.FailIfNotBottommostLevel && o.NumLevels > 1 {
			x.wantMessage(err, notBottommost)
		} else {
			x.must(err)
			x.wantMap(1, want)
			for k := range deleted {
				x.wantGet(1, k, "NOT_FOUND")
			}
		}
		x.must(x.db.EnableFileDeletions())
		x.must(temp.EnableFileDeletions())
		x.dropFamily(live)
		x.must(temp.Close())
		x.must(rocksdb.DestroyDB(dir, to))
	})
}
