// Port of db/db_test.cc (writers and memtables, files of a snapshot). Differs:
// threads run for a number of operations, not for a time.

package db_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/db/blob"
	"github.com/rocksdb-go/rocksdb/db/blob/blobformat"
	"github.com/rocksdb-go/rocksdb/db/db_impl"
	"github.com/rocksdb-go/rocksdb/file/filename"
	contract "github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

// liveFiles lists the live files, and gives number and size of the MANIFEST.
func (x *dbTest) liveFiles() (files []string, manifest, size uint64) {
	x.Helper()
	files, size, err := x.db.GetLiveFiles(true)
	x.must(err)
	for _, f := range files {
		same(x, "first character of "+f, f[0], '/')
		if p, ok := filename.ParseFileName(f[1:], ""); ok && p.Type == rocksdb.DescriptorFile {
			same(x, "MANIFEST before", manifest, 0)
			manifest = p.Number
			if n := x.fileSize(filepath.Join(x.dir, f)); uint64(n) < size {
				x.Errorf("%s has %d bytes of %d", f, n, size)
			}
		}
	}
	return files, manifest, size
}

func copyFile(t testing.TB, from, to string, size int64) {
	t.Helper()
	in, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = io.CopyN(out, in, size); err != nil || out.Close() != nil {
		t.Fatal(err)
	}
}

func TestDBTest_SnapshotFiles(t *testing.T) {
	x := newDBTest(t)
	for more := true; more; more = x.changeCompactOptions() {
		o := x.currentOptions()
		o.WriteBufferSize = 100000000
		x.createAndReopenWithCF(pikachu[1:], o)
		rnd := util.NewRandom(301)
		same(t, "files", x.numTableFilesAtLevel(0, 1), 0)
		family := func(i int) int {
			if i < 40 {
				return 1
			}
			return 0
		}
		var values []string
		for i := range 80 {
			values = append(values, rnd.RandomString(10000))
			x.mustPut(family(i), key(i), values[i])
		}
		same(t, "files", x.numTableFilesAtLevel(0, 1), 0)
		x.must(x.db.DisableFileDeletions())
		files, manifest, size := x.liveFiles()
		same(t, "live files", len(files), 5) // CURRENT, MANIFEST, OPTIONS, and a table a family
		dir := t.TempDir()
		for _, f := range files {
			n := x.fileSize(filepath.Join(x.dir, f))
			if strings.Contains(f, "MANIFEST") {
				n = int64(size)
			}
			copyFile(t, filepath.Join(x.dir, f), filepath.Join(dir, f), n)
		}
		x.must(x.db.EnableFileDeletions())
		x.mustPut(0, key(0), rnd.RandomString(10000)) // not in the copy
		so := rocksdb.DefaultOptions()
		so.Env = x.env
		d, cfs, err := rocksdb.OpenColumnFamilies(dir, so.DBOptions, descriptors(pikachu, []rocksdb.Options{so}))
		x.must(err)
		for i, want := range values {
			v, err := cfs[family(i)].Get(nil, []byte(key(i)))
			x.must(err)
			same(t, key(i), string(v.Data()), want)
			v.Release()
		}
		for _, c := range cfs {
			c.Close()
		}
		x.must(d.Close())

		x.must(x.db.DisableFileDeletions())
		_, manifest2, size2 := x.liveFiles()
		same(t, "MANIFEST", manifest2, manifest)
		if size2 <= size {
			t.Errorf("MANIFEST has %d bytes after %d", size2, size)
		}
		infos, err := x.db.GetLiveFilesStorageInfo(&rocksdb.LiveFilesStorageInfoOptions{})
		x.must(err)
		x.close() // deletions are disabled
		for _, i := range infos {
			n := uint64(x.fileSize(filepath.Join(i.Directory, i.RelativeFilename)))
			switch {
			case i.TrimToSize:
				if i.Size > n {
					t.Errorf("%s has %d bytes of %d", i.RelativeFilename, n, i.Size)
				}
			case i.ReplacementContents != "":
				same(t, i.RelativeFilename, uint64(len(i.ReplacementContents)), i.Size)
			default:
				same(t, i.RelativeFilename, n, i.Size)
			}
			if i.FileType == rocksdb.DescriptorFile {
				same(t, "MANIFEST", i.FileNumber, manifest)
			}
		}
	}
}

func TestDBTest_ReadonlyDBGetLiveManifestSize(t *testing.T) {
	x := newDBTest(t)
	for more := true; more; more = x.changeCompactOptions() {
		o := x.currentOptions()
		o.Level0FileNumCompactionTrigger = 2
		x.destroyAndReopen(o)
		for range 2 {
			x.mustPut(0, "foo", "bar")
			x.flush(0)
		}
		x.must(x.full().TestWaitForCompact())
		x.must(x.tryReadOnlyReopen(o))
		files, size, err := x.db.GetLiveFiles(true)
		x.must(err)
		for _, f := range files {
			if strings.Contains(f, "MANIFEST") {
				same(t, f, uint64(x.fileSize(filepath.Join(x.dir, f))), size)
			}
		}
	}
}

func TestDBTest_GetLiveBlobFiles(t *testing.T) {
	const number, count, size, method, sum = 234, 555, 66666, "CRC32", "\x3d\x87\xff\x57"
	x := newDBTest(t)
	o := x.currentOptions()
	o.StatsDumpPeriodSec = 0
	x.reopen(o)
	x.full().TestWithMutex(func() {
		x.storage(0).AddBlobFile(blob.NewBlobFileMetaData(blob.NewSharedBlobFileMetaData(number, count, size, method, sum, nil), nil, 0, 0))
	})
	files, _, err := x.db.GetLiveFiles(true)
	x.must(err)
	if name := filename.BlobFileName("", number); len(files) == 0 || strings.TrimPrefix(files[0], "/") != strings.TrimPrefix(name, "/") {
		t.Errorf("live files: %v", files)
	}
	m := x.db.GetColumnFamilyMetaData(nil)
	same(t, "blob files", len(m.BlobFiles), 1)
	same(t, "blob file", m.BlobFiles[0], contract.BlobMetaData{BlobFileNumber: number, BlobFileName: filename.BlobFileName("", number),
		BlobFilePath: x.dir, BlobFileSize: size + blobformat.BlobLogHeaderSize + blobformat.BlobLogFooterSize,
		TotalBlobCount: count, TotalBlobBytes: size, ChecksumMethod: method, ChecksumValue: sum})
	same(t, "blob files counted", m.BlobFileCount, 1)
	same(t, "their size", m.BlobFileSize, m.BlobFiles[0].BlobFileSize)
}

func TestDBTest_PurgeInfoLogs(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.KeepLogFileNum = 5
	for _, dir := range []string{"", x.dir + "_logs"} {
		logs := x.dir
		if o.DBLogDir = dir; dir != "" {
			logs = dir
			x.must(os.MkdirAll(dir, 0o755))
		}
		for range 8 {
			x.reopen(o)
		}
		entries, err := os.ReadDir(logs)
		x.must(err)
		n := 0
		for _, e := range entries {
			if strings.Contains(e.Name(), "LOG") {
				n++
			}
		}
		same(t, "info logs in "+logs, n, 5)
		x.destroy(o)
		if _, err := os.Stat(x.dir); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is still there: %v", x.dir, err)
		}
	}
}

// Writers put one number into every family at once, in values that say who wrote
// them; readers see the same number in all of them, and none newer than was
// written.
func TestMultiThreadedDBTest_MultiThreaded(t *testing.T) {
	const threads, families, keys, steps = 16, 10, 1000, 40
	for c := configDefault; c < configEnd; c++ {
		for _, batched := range []bool{false, true} {
			if c == configPipelinedWrite {
				continue
			}
			t.Run(fmt.Sprintf("%d/batched=%t", c, batched), func(t *testing.T) {
				x := newDBTest(t)
				x.config = c
				var names []string
				for i := 1; i < families; i++ {
					names = append(names, fmt.Sprint(i))
				}
				x.destroyAndReopen(x.currentOptions())
				x.createAndReopenWithCF(names, x.currentOptions())
				var counters [threads]atomic.Int64
				var wg sync.WaitGroup
				for id := range threads {
					wg.Go(func() {
						rnd := util.NewRandom(uint32(1000 + id))
						for n := range int64(steps) {
							counters[id].Store(n)
							number := int(rnd.Uniform(keys))
							k := []byte(fmt.Sprintf("%016d", number))
							var err error
							if rnd.OneIn(2) {
								unique := rnd.Uniform(1000000)
								b := rocksdb.NewWriteBatch()
								for cf := range families {
									err = errors.Join(err, b.PutCF(x.cf(cf).Impl(), k, fmt.Appendf(nil, "%d.%d.%d.%d.%-1000d", number, id, n, cf, unique)))
								}
								err = errors.Join(err, x.db.Write(nil, b))
							} else {
								err = x.readOfAllFamilies(k, number, counters[:], batched)
							}
							if err != nil {
								t.Error(err)
								return
							}
						}
					})
				}
				wg.Wait()
			})
		}
	}
}

func (x *dbTest) readOfAllFamilies(k []byte, number int, counters []atomic.Int64, batched bool) error {
	n := len(x.cfs)
	values, errs, list := make([]rocksdb.PinnableSlice, n), make([]error, n), make([][]byte, n)
	for i := range list {
		list[i] = k
	}
	if batched {
		ro := rocksdb.DefaultReadOptions()
		ro.Snapshot = x.db.GetSnapshot()
		for i, cf := range x.cfs {
			cf.MultiGet(&ro, list[:1], values[i:i+1], errs[i:i+1])
		}
		if err := x.db.ReleaseSnapshot(ro.Snapshot); err != nil {
			return err
		}
	} else {
		x.db.MultiGetCF(nil, x.cfs, list, values, errs)
	}
	first := -1
	for i := range values {
		if errors.Is(errs[0], rocksdb.ErrNotFound) && errors.Is(errs[i], rocksdb.ErrNotFound) {
			continue
		} else if errs[i] != nil || errs[0] != nil {
			return fmt.Errorf("family %d: %w; family 0: %w", i, errs[i], errs[0])
		}
		var num, writer, counter, cf, unique int
		if got, err := fmt.Sscanf(string(values[i].Data()), "%d.%d.%d.%d.%d", &num, &writer, &counter, &cf, &unique); got != 5 {
			return err
		}
		values[i].Release()
		if num != number || int64(counter) > counters[writer].Load() || cf != i || first >= 0 && unique != first {
			return fmt.Errorf("family %d has %d.%d.%d.%d.%d for key %d", i, num, writer, counter, cf, unique, number)
		}
		first = unique
	}
	return nil
}

// randomTestKey is upstream's test::RandomKey, at least so long.
func randomTestKey(rnd *util.Random, least int) string {
	const chars = "\x00\x01abcde\xfd\xfe\xff"
	n := -1
	for n < least {
		switch {
		case rnd.OneIn(3):
			n = 1
		case rnd.OneIn(100):
			n = int(rnd.Skewed(10))
		default:
			n = int(rnd.Uniform(10))
		}
	}
	b := make([]byte, n)
	for i := range b {
		b[i] = chars[rnd.Uniform(len(chars))]
	}
	return string(b)
}

// wantModel compares the database with a map, forwards and by seeks.
func (x *dbTest) wantModel(step int, model map[string]string, s rocksdb.Snapshot) {
	x.Helper()
	keys := make([]string, 0, len(model))
	for k := range model {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	ro := rocksdb.DefaultReadOptions()
	ro.Snapshot = s
	it := x.db.NewIterator(&ro)
	defer it.Close()
	i := 0
	for it.SeekToFirst(); it.Valid(); it.Next() {
		if i >= len(keys) || string(it.Key()) != keys[i] || string(it.Value()) != model[keys[i]] {
			x.Fatalf("step %d, entry %d of %d: %q->%q", step, i, len(keys), it.Key(), it.Value())
		}
		i++
	}
	x.must(it.Err())
	same(x, fmt.Sprint("entries at step ", step), i, len(keys))
	for i := 0; i < len(keys); i += 10 {
		if it.Seek([]byte(keys[i])); !it.Valid() || string(it.Key()) != keys[i] || string(it.Value()) != model[keys[i]] {
			x.Fatalf("step %d: seek of %q", step, keys[i])
		}
	}
}

func TestDBTestRandomized_Randomized(t *testing.T) {
	const steps, every = 1000, 100 // a tenth of upstream's
	for c := configDefault; c < configEnd; c++ {
		if skipped(c, skipDeletesFilterFirst|skipNoSeekToLast) {
			continue
		}
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			x := newDBTest(t)
			x.config = c
			o := x.currentOptions()
			x.destroyAndReopen(o)
			least := 0
			hash := c == configBlockBasedTableWithWholeKeyHashIndex || c == configBlockBasedTableWithPrefixHashIndex
			if hash || c == configPlainTableFirstBytePrefix {
				least = 1
			}
			rnd := util.NewRandom(uint32(301 + int(c)))
			model, old := map[string]string{}, map[string]string(nil)
			var s rocksdb.Snapshot
			release := func() {
				if s != nil {
					x.must(x.db.ReleaseSnapshot(s))
				}
				s = nil
			}
			for step := range steps {
				switch p := rnd.Uniform(100); {
				case p < 45:
					k, n := randomTestKey(rnd, least), rnd.Uniform(8)
					if rnd.OneIn(20) {
						n = 100 + rnd.Uniform(100)
					}
					v := rnd.RandomString(int(n))
					x.must(x.db.Put(nil, []byte(k), []byte(v)))
					model[k] = v
				case p < 90:
					k := randomTestKey(rnd, least)
					x.must(x.db.Delete(nil, []byte(k)))
					delete(model, k)
				default:
					x.randomBatch(rnd, least, model)
				}
				if step%every != 0 {
					continue
				}
				if !hash {
					x.wantModel(step, model, nil)
					if s != nil {
						x.wantModel(step, old, s)
					}
				}
				release()
				x.reopen(o)
				x.wantModel(step, model, nil)
				old = map[string]string{}
				for k, v := range model {
					old[k] = v
				}
				s = x.db.GetSnapshot()
			}
			release()
		})
	}
}

func (x *dbTest) randomBatch(rnd *util.Random, least int, model map[string]string) {
	b := rocksdb.NewWriteBatch()
	k := ""
	for i := range rnd.Uniform(8) {
		if i == 0 || !rnd.OneIn(10) { // else the same key again
			k = randomTestKey(rnd, least)
		}
		if rnd.OneIn(2) {
			v := rnd.RandomString(int(rnd.Uniform(10)))
			x.must(b.Put([]byte(k), []byte(v)))
			model[k] = v
		} else {
			x.must(b.Delete([]byte(k)))
			delete(model, k)
		}
	}
	x.must(x.db.Write(nil, b))
}

// optionless is a rate limiter that lets everything through and knows nothing
// of what waits.
type optionless struct{}

func (optionless) SetBytesPerSecond(int64)                                                {}
func (optionless) SetSingleBurstBytes(int64) error                                        { return rocksdb.NotSupported("") }
func (optionless) Request(int64, rocksdb.IOPriority, rocksdb.Statistics, contract.OpType) {}
func (optionless) RequestToken(n, _ int, _ rocksdb.IOPriority, _ rocksdb.Statistics, _ contract.OpType) int {
	return min(n, 200)
}
func (optionless) GetSingleBurstBytes() int64                    { return 200 }
func (optionless) GetTotalBytesThrough(rocksdb.IOPriority) int64 { return 0 }
func (optionless) GetTotalRequests(rocksdb.IOPriority) int64     { return 0 }
func (optionless) GetTotalPendingRequests(rocksdb.IOPriority) (int64, error) {
	return 0, rocksdb.NotSupported("")
}
func (optionless) GetBytesPerSecond() int64              { return 0 }
func (optionless) IsRateLimited(op contract.OpType) bool { return op == contract.OpTypeWrite }

func TestDBTest_CustomedRateLimiterWithNoOptionalAPIImplTest(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.RateLimiter = optionless{}
	x.destroyAndReopen(o)
	x.mustPut(0, "abc", "def")
	x.wantGet(0, "abc", "def")
	x.flush(0)
	x.wantGet(0, "abc", "def")
}

func TestDBTest_SanitizeNumThreads(t *testing.T) {
	x := newDBTest(t)
	x.close()
	x.poolSize(1, rocksdb.LowPriority)
	x.poolSize(1, rocksdb.HighPriority)
	for attempt := range 2 {
		o := x.currentOptions()
		if attempt == 0 {
			o.MaxBackgroundCompactions, o.MaxBackgroundFlushes = 3, 2
		}
		x.destroyAndReopen(o)
		wake := make(chan struct{})
		var done sync.WaitGroup
		for i := range 8 {
			pri := rocksdb.LowPriority
			if i >= 4 {
				pri = rocksdb.HighPriority
			}
			done.Add(1)
			x.env.Schedule(func() {
				defer done.Done()
				<-wake
			}, pri, nil, nil)
		}
		// Of four tasks three run at once in one pool, two in the other.
		eventually(t, "queues of another length", func() bool {
			return x.env.GetThreadPoolQueueLen(rocksdb.LowPriority) == 1 && x.env.GetThreadPoolQueueLen(rocksdb.HighPriority) == 2
		})
		close(wake)
		done.Wait()
		x.mustPut(0, "abc", "def")
		x.wantGet(0, "abc", "def")
		x.flush(0)
		x.wantGet(0, "abc", "def")
	}
}

func TestDBTest_WriteSingleThreadEntry(t *testing.T) {
	x := newDBTest(t)
	end := x.full().TestBeginWrite()
	errs := make(chan error, 2)
	go func() { errs <- x.put(0, "a", "b") }()
	time.Sleep(10 * time.Millisecond)
	go func() {
		fo := rocksdb.DefaultFlushOptions()
		errs <- x.db.Flush(&fo)
	}()
	time.Sleep(10 * time.Millisecond)
	end()
	x.must(errors.Join(<-errs, <-errs))
	x.wantGet(0, "a", "b")
}

func TestDBTest_ConcurrentFlushWAL(t *testing.T) {
	const n = 100
	for _, twoQueues := range []bool{false, true} {
		for _, manual := range []bool{false, true} {
			x := newDBTest(t)
			o := x.plainOptions()
			o.TwoWriteQueues, o.ManualWALFlush = twoQueues, manual
			x.destroyAndReopen(o)
			var wg sync.WaitGroup
			write := func(from int, put func(k, v []byte) error) {
				wg.Go(func() {
					for i := from; i < from+n; i++ {
						if err := put(fmt.Append(nil, "a", i), fmt.Append(nil, "b", i)); err != nil {
							t.Error(err)
						}
					}
				})
			}
			write(0, func(k, v []byte) error { return x.db.Put(nil, k, v) })
			if twoQueues {
				write(n, func(k, v []byte) error {
					b := rocksdb.NewWriteBatch()
					if err := b.Put(k, v); err != nil {
						return err
					}
					wo := rocksdb.DefaultWriteOptions()
					_, err := x.full().WriteImpl(&wo, b, &dbimpl.WriteImplOptions{DisableMemtable: true})
					return err
				})
			}
			wg.Go(func() {
				for range n * 10 { // a tenth of upstream's
					if err := x.db.FlushWAL(false); err != nil {
						t.Error(err)
					}
				}
			})
			wg.Wait()
			o.CreateIfMissing = false
			x.reopen(o)
			for i := range n {
				x.wantGet(0, fmt.Sprint("a", i), fmt.Sprint("b", i))
			}
		}
	}
}

func TestDBTest_ManualFlushWalAndWriteRace(t *testing.T) {
	x := newDBTest(t)
	o := x.plainOptions()
	o.ManualWALFlush = true
	x.destroyAndReopen(o)
	wo := rocksdb.DefaultWriteOptions()
	wo.Sync = true
	var wg sync.WaitGroup
	for _, f := range []func(i int) error{
		func(i int) error { return x.putWith(0, fmt.Sprint("key_", i), fmt.Sprint("value_", i), &wo) },
		func(int) error { return x.db.FlushWAL(false) },
	} {
		wg.Go(func() {
			for i := range 100 {
				if err := f(i); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	x.mustPutWith(0, "foo1", "value1", &wo)
	x.mustPutWith(0, "foo2", "value2", &wo)
	x.reopen(o)
	x.wantGet(0, "foo1", "value1")
	x.wantGet(0, "foo2", "value2")
}
