// No upstream twin: examples of running a database: flushes, compactions,
// properties, statistics, listeners, logs, files, recovery.

package rocksdb_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/syndtr/goleveldb/leveldb"

	"github.com/rocksdb-go/rocksdb"
)

func ExampleColumnFamily_Flush() {
	db, done := openTemp(rocksdb.DefaultOptions())
	defer done()
	fill(db, "a")
	check(db.Flush(nil)) // nil options: wait for it
	n, ok := db.GetProperty(rocksdb.PropertyNumFilesAtLevelPrefix + "0")
	fmt.Println(n, ok)
	// Output: 1 true
}

func ExampleDB_SyncWAL() {
	db, done := openTemp(rocksdb.DefaultOptions())
	defer done()
	fill(db, "a", "b") // not synced one by one
	check(db.SyncWAL())
	fmt.Println(db.GetLatestSequenceNumber())
	// Output: 2
}

func ExampleDB_FlushWAL() {
	o := rocksdb.DefaultOptions()
	o.ManualWALFlush = true // records stay in a buffer of the process
	db, done := openTemp(o)
	defer done()
	fill(db, "a")
	check(db.FlushWAL(true)) // to the file, and synced
	fmt.Println(get(db.ColumnFamily, "a"))
	// Output: <a>
}

func ExampleColumnFamily_CompactRange() {
	db, done := openTemp(rocksdb.DefaultOptions())
	defer done()
	for _, k := range []string{"a", "b", "c"} {
		fill(db, k)
		check(db.Flush(nil))
	}
	o := rocksdb.DefaultCompactRangeOptions()
	o.BottommostLevelCompaction = rocksdb.BottommostLevelCompactionForce
	check(db.CompactRange(&o, []byte("a"), nil)) // nil is an open end
	check(db.WaitForCompact(nil))
	m := db.GetColumnFamilyMetaData(nil)
	for _, level := range m.Levels {
		if len(level.Files) > 0 {
			fmt.Println(len(level.Files), "table with", level.Files[0].NumEntries, "entries")
		}
	}
	// Output: 1 table with 3 entries
}

func ExampleDB_PauseBackgroundWork() {
	db, done := openTemp(rocksdb.DefaultOptions())
	defer done()
	check(db.PauseBackgroundWork()) // nothing runs now
	check(db.ContinueBackgroundWork())
	fmt.Println("goes on")
	// Output: goes on
}

func ExampleColumnFamily_GetProperty() {
	db, done := openTemp(rocksdb.DefaultOptions())
	defer done()
	fill(db, "a", "b")
	n, ok := db.GetIntProperty(rocksdb.PropertyEstimateNumKeys)
	fmt.Println(n, ok)
	text, ok := db.GetProperty("rocksdb.stats")
	fmt.Println(len(text) > 0, ok)
	m, ok := db.GetMapProperty(rocksdb.PropertyCFStats)
	fmt.Println(len(m) > 0, ok)
	_, ok = db.GetProperty("rocksdb.no-such-property")
	fmt.Println(ok)
	// Output:
	// 2 true
	// true true
	// true true
	// false
}

func ExampleColumnFamily_GetApproximateSizes() {
	db, done := openTemp(rocksdb.DefaultOptions())
	defer done()
	fill(db, "a", "b")
	o := rocksdb.DefaultSizeApproximationOptions()
	o.IncludeMemtables = true
	sizes, err := db.GetApproximateSizes(&o, []rocksdb.Range{{Start: []byte("a"), Limit: []byte("c")}, {Start: []byte("x"), Limit: []byte("z")}})
	check(err)
	fmt.Println(sizes[0] > 0, sizes[1])
	// Output: true 0
}

func ExampleNewStatistics() {
	o := rocksdb.DefaultOptions()
	o.Statistics = rocksdb.NewStatistics()
	db, done := openTemp(o)
	defer done()
	fill(db, "a", "b")
	get(db.ColumnFamily, "a")
	fmt.Println(o.Statistics.GetTickerCount(rocksdb.NumberKeysWritten), o.Statistics.GetTickerCount(rocksdb.MemtableHit))
	h := o.Statistics.GetHistogramData(rocksdb.HistDBGet)
	fmt.Println(h.Count, h.Max >= h.Min)
	// Output:
	// 2 1
	// 1 true
}

func ExamplePerfContext() {
	db, done := openTemp(rocksdb.DefaultOptions())
	defer done()
	fill(db, "a")
	check(db.Flush(nil))
	perf := &rocksdb.PerfContext{Level: rocksdb.EnableTimeExceptForMutex}
	iostats := &rocksdb.IOStatsContext{}
	ro := rocksdb.DefaultReadOptions()
	ro.PerfContext, ro.IOStatsContext = perf, iostats // of this goroutine alone
	v, err := db.Get(&ro, []byte("a"))
	check(err)
	v.Release()
	fmt.Println(perf.BlockReadCount+perf.BlockCacheHitCount > 0, perf.GetFromOutputFilesTime > 0)
	// Output: true true
}

// flushes counts the flushes of a database.
type flushes struct {
	rocksdb.EventListenerBase
	n atomic.Int32
}

func (f *flushes) OnFlushCompleted(db rocksdb.DBRef, info *rocksdb.FlushJobInfo) { f.n.Add(1) }

func ExampleEventListener() {
	l := &flushes{}
	o := rocksdb.DefaultOptions()
	o.Listeners = append(o.Listeners, l)
	dir, done := tempDir()
	defer done()
	o.CreateIfMissing = true
	db, err := rocksdb.Open(dir, o)
	check(err)
	fill(db, "a")
	check(db.Flush(nil))
	check(db.Close()) // listeners are called before it returns
	fmt.Println(l.n.Load())
	// Output: 1
}

func ExampleDB_GetStatsHistory() {
	o := rocksdb.DefaultOptions()
	o.Statistics = rocksdb.NewStatistics()
	o.StatsPersistPeriodSec = 1
	db, done := openTemp(o)
	defer done()
	fill(db, "a")
	end := uint64(time.Now().Add(time.Hour).Unix())
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if it := db.GetStatsHistory(0, end); it.Valid() {
			_, ok := it.GetStatsMap()["rocksdb.number.keys.written"]
			fmt.Println(it.GetStatsTime() > 0, ok)
			break
		}
	}
	// Output: true true
}

func ExampleOpenForReadOnly() {
	dir, done := tempDir()
	defer done()
	o := rocksdb.DefaultOptions()
	o.CreateIfMissing = true
	db, err := rocksdb.Open(dir, o)
	check(err)
	fill(db, "a")
	check(db.Close())

	db, err = rocksdb.OpenForReadOnly(dir, o) // any number of processes may
	check(err)
	fmt.Println(get(db.ColumnFamily, "a"))
	fmt.Println(errors.Is(db.Put(nil, []byte("b"), nil), rocksdb.ErrNotSupported))
	check(db.Close())
	// Output:
	// <a>
	// true
}

func ExampleDB_GetUpdatesSince() {
	o := rocksdb.DefaultOptions()
	o.WALTTLSeconds = 3600 // keeps logs that are not needed any more
	db, done := openTemp(o)
	defer done()
	fill(db, "a", "b", "c")
	it, err := db.GetUpdatesSince(2, nil)
	check(err)
	for ; it.Valid(); it.Next() {
		r := it.GetBatch()
		fmt.Print(r.Sequence, ": ")
		check(r.Batch.Iterate(printer{}))
	}
	check(it.Err())
	check(it.Close())
	// Output:
	// 2: put b=<b>
	// 3: put c=<c>
}

func ExampleDB_GetSortedWalFiles() {
	db, done := openTemp(rocksdb.DefaultOptions())
	defer done()
	fill(db, "a")
	logs, err := db.GetSortedWalFiles()
	check(err)
	fmt.Println(len(logs), logs[0].StartSequence, logs[0].SizeFileBytes > 0)
	// Output: 1 1 true
}

func ExampleDB_GetLiveFilesStorageInfo() {
	db, done := openTemp(rocksdb.DefaultOptions())
	defer done()
	fill(db, "a")
	check(db.DisableFileDeletions()) // while files are copied
	files, err := db.GetLiveFilesStorageInfo(nil)
	check(err)
	target, remove := tempDir()
	defer remove()
	for _, f := range files {
		data := []byte(f.ReplacementContents)
		if len(data) == 0 {
			data, err = os.ReadFile(filepath.Join(f.Directory, f.RelativeFilename))
			check(err)
		}
		if f.TrimToSize {
			data = data[:f.Size]
		}
		check(os.WriteFile(filepath.Join(target, f.RelativeFilename), data, 0o644))
	}
	check(db.EnableFileDeletions())

	backup, err := rocksdb.Open(target, rocksdb.DefaultOptions())
	check(err)
	fmt.Println(get(backup.ColumnFamily, "a"))
	check(backup.Close())
	// Output: <a>
}

func ExampleDB_GetLiveFilesMetaData() {
	db, done := openTemp(rocksdb.DefaultOptions())
	defer done()
	fill(db, "a", "b")
	check(db.Flush(nil))
	for _, f := range db.GetLiveFilesMetaData() {
		fmt.Printf("%s level %d: %s to %s\n", f.ColumnFamilyName, f.Level, f.SmallestKey, f.LargestKey)
	}
	// Output: default level 0: a to b
}

func ExampleDB_VerifyChecksum() {
	o := rocksdb.DefaultOptions()
	o.FileChecksumGenFactory = rocksdb.GetFileChecksumGenCrc32cFactory() // of whole files
	db, done := openTemp(o)
	defer done()
	fill(db, "a")
	check(db.Flush(nil))
	fmt.Println(db.VerifyChecksum(nil), db.VerifyFileChecksums(nil))
	// Output: <nil> <nil>
}

func ExampleDBOptions_bestEffortsRecovery() {
	dir, done := tempDir()
	defer done()
	o := rocksdb.DefaultOptions()
	o.CreateIfMissing, o.DisableAutoCompactions = true, true
	db, err := rocksdb.Open(dir, o)
	check(err)
	fill(db, "a")
	check(db.Flush(nil))
	fill(db, "b")
	check(db.Flush(nil))
	newest := db.GetLiveFilesMetaData()[0]
	check(db.Close())
	check(os.Remove(filepath.Join(newest.Directory, newest.RelativeFilename)))

	_, err = rocksdb.Open(dir, o)
	fmt.Println(errors.Is(err, rocksdb.ErrCorruption))
	o.BestEffortsRecovery = true // the newest state whose files are there
	db, err = rocksdb.Open(dir, o)
	check(err)
	fmt.Println(get(db.ColumnFamily, "a"), get(db.ColumnFamily, "b"))
	check(db.Close())
	// Output:
	// true
	// <a> (none)
}

func ExampleDestroyDB() {
	dir, done := tempDir()
	defer done()
	o := rocksdb.DefaultOptions()
	o.CreateIfMissing = true
	db, err := rocksdb.Open(filepath.Join(dir, "db"), o)
	check(err)
	check(db.Close())
	check(rocksdb.DestroyDB(filepath.Join(dir, "db"), o))
	_, err = os.Stat(filepath.Join(dir, "db"))
	fmt.Println(os.IsNotExist(err))
	// Output: true
}

func ExampleImportLevelDB() {
	dir, done := tempDir()
	defer done()
	old, err := leveldb.OpenFile(filepath.Join(dir, "old"), nil)
	check(err)
	check(old.Put([]byte("a"), []byte("1"), nil))
	check(old.Close())

	stats, err := rocksdb.ImportLevelDB(filepath.Join(dir, "old"), filepath.Join(dir, "new"),
		&rocksdb.LevelDBImportOptions{Target: rocksdb.DefaultOptions()})
	check(err)
	db, err := rocksdb.Open(filepath.Join(dir, "new"), rocksdb.DefaultOptions())
	check(err)
	fmt.Println(stats.Keys, get(db.ColumnFamily, "a"))
	check(db.Close())
	// Output: 1 1
}

func ExampleColumnFamily_IngestExternalFile() {
	db, done := openTemp(rocksdb.DefaultOptions())
	defer done()
	fill(db, "b")
	dir, remove := tempDir()
	defer remove()
	path := filepath.Join(dir, "new.sst")
	w := rocksdb.NewSstFileWriter(rocksdb.DefaultOptions(), nil)
	check(w.Open(path, rocksdb.TemperatureUnknown))
	for _, k := range []string{"a", "b", "c"} { // in order
		check(w.Put([]byte(k), []byte("ingested")))
	}
	check(w.Finish(nil))
	check(w.Close())
	check(db.IngestExternalFile([]string{path}, nil)) // newer than what is there
	fmt.Println(get(db.ColumnFamily, "a"), get(db.ColumnFamily, "b"))
	// Output: ingested ingested
}

func ExampleNewSstFileReader() {
	dir, remove := tempDir()
	defer remove()
	path := filepath.Join(dir, "some.sst")
	w := rocksdb.NewSstFileWriter(rocksdb.DefaultOptions(), nil)
	check(w.Open(path, rocksdb.TemperatureUnknown))
	check(w.Put([]byte("a"), []byte("1")))
	check(w.Finish(nil))
	check(w.Close())

	r := rocksdb.NewSstFileReader(rocksdb.DefaultOptions())
	check(r.Open(path))
	fmt.Println(r.GetTableProperties().NumEntries, r.VerifyChecksum(nil))
	check(r.Close())
	// Output: 1 <nil>
}

func ExampleRepairDB() {
	dir, done := tempDir()
	defer done()
	o := rocksdb.DefaultOptions()
	o.CreateIfMissing = true
	db, err := rocksdb.Open(dir, o)
	check(err)
	fill(db, "a")
	check(db.Close())
	manifests, err := filepath.Glob(filepath.Join(dir, "MANIFEST-*"))
	check(err)
	check(os.Remove(manifests[0]))

	_, err = rocksdb.Open(dir, o)
	fmt.Println(err != nil)
	check(rocksdb.RepairDB(dir, o)) // of tables and logs
	db, err = rocksdb.Open(dir, o)
	check(err)
	fmt.Println(get(db.ColumnFamily, "a"))
	check(db.Close())
	// Output:
	// true
	// <a>
}

func ExampleColumnFamily_CompactFiles() {
	o := rocksdb.DefaultOptions()
	o.DisableAutoCompactions = true // the program decides
	db, done := openTemp(o)
	defer done()
	fill(db, "a")
	check(db.Flush(nil))
	fill(db, "b")
	check(db.Flush(nil))
	var files []string
	for _, f := range db.GetColumnFamilyMetaData(nil).Levels[0].Files {
		files = append(files, f.RelativeFilename)
	}
	outputs, err := db.CompactFiles(nil, files, 6, -1, nil)
	check(err)
	fmt.Println(len(files), "files became", len(outputs))
	// Output: 2 files became 1
}

func ExampleCheckpoint() {
	db, done := openTemp(rocksdb.DefaultOptions())
	defer done()
	fill(db, "a")
	dir, remove := tempDir()
	defer remove()
	copied := filepath.Join(dir, "checkpoint")
	_, err := rocksdb.NewCheckpoint(db).CreateCheckpoint(copied, 0) // hard links where it can
	check(err)
	fill(db, "b") // later

	other, err := rocksdb.Open(copied, rocksdb.DefaultOptions())
	check(err)
	fmt.Println(get(other.ColumnFamily, "a"), get(other.ColumnFamily, "b"))
	check(other.Close())
	// Output: <a> (none)
}

func ExampleOpenTTL() {
	dir, done := tempDir()
	defer done()
	o := rocksdb.DefaultOptions()
	o.CreateIfMissing = true
	db, err := rocksdb.OpenTTL(dir, o, 3600, false) // compactions drop values older than an hour
	check(err)
	check(db.Put(nil, nil, []byte("k"), []byte("v"))) // nil is the default family
	var v rocksdb.PinnableSlice
	check(db.Get(nil, nil, []byte("k"), &v))
	fmt.Printf("%s\n", v.Data())
	v.Release()
	check(db.Close())
	// Output: v
}

func ExampleColumnFamily_PutWithTimestamp() {
	dir, done := tempDir()
	defer done()
	o := rocksdb.DefaultOptions()
	o.CreateIfMissing = true
	o.Comparator = rocksdb.BytewiseComparatorWithU64Ts()
	db, err := rocksdb.Open(dir, o)
	check(err)
	check(db.PutWithTimestamp(nil, []byte("k"), rocksdb.EncodeU64Ts(10), []byte("first")))
	check(db.PutWithTimestamp(nil, []byte("k"), rocksdb.EncodeU64Ts(20), []byte("second")))
	for _, at := range []uint64{15, 25} {
		ro := rocksdb.DefaultReadOptions()
		ro.Timestamp = rocksdb.EncodeU64Ts(at)
		v, err := db.Get(&ro, []byte("k"))
		check(err)
		fmt.Printf("%d: %s\n", at, v.Data())
		v.Release()
	}
	check(db.Close())
	// Output:
	// 15: first
	// 25: second
}

func ExampleOptions_blobFiles() {
	dir, done := tempDir()
	defer done()
	o := rocksdb.DefaultOptions()
	o.CreateIfMissing = true
	o.EnableBlobFiles, o.MinBlobSize = true, 1024 // bytes; smaller values stay with their keys
	o.EnableBlobGarbageCollection = true
	db, err := rocksdb.Open(dir, o)
	check(err)
	check(db.Put(nil, []byte("small"), []byte("v")))
	check(db.Put(nil, []byte("large"), make([]byte, 4096)))
	check(db.Flush(nil))
	n, _ := db.GetProperty("rocksdb.num-blob-files")
	fmt.Println(n, "blob file")
	check(db.Close())
	// Output: 1 blob file
}
