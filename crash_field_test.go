// No upstream twin: public reports about crashes and logs that need a file
// system or a clock of the test's, each with the outcome that is right. Their
// ids stand beside the tests.

package rocksdb_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/env"
	contract "github.com/rocksdb-go/rocksdb/include/rocksdb"
)

func TestFieldCrashWhileOpening(t *testing.T) { // cockroachdb/cockroach#70995
	x := newRecoveryTest(t, nil)
	for i := range 10 {
		x.put(fmt.Sprint("k", i), "v")
	}
	left := x.copy("db")
	x.close()
	x.cut(x.newest(left, "*.log"), 4)
	fs := newHookFS()
	var mu sync.Mutex
	var copies []string
	fs.hook = func(op, path string, _ uint64, _ int) error {
		switch op {
		case "+create", "+append", "+sync", "+rename", "rename", "delete":
			if base := filepath.Base(path); base == "LOG" {
				return nil
			}
			mu.Lock()
			defer mu.Unlock()
			copies = append(copies, x.copy(left))
		}
		return nil
	}
	o := x.o
	o.Env = fs.env()
	x.must(x.open(left, o))
	x.close()
	fs.hook = nil
	if len(copies) < 15 {
		t.Fatal(len(copies), "points")
	}
	const want = "k0=v k1=v k2=v k3=v k4=v k5=v k6=v k7=v k8=v"
	modes := []rocksdb.WALRecoveryMode{rocksdb.PointInTimeRecovery, rocksdb.TolerateCorruptedTailRecords}
	for i, c := range copies {
		o := inMode(x.o, modes[i%2])
		for range 2 {
			if err := x.open(c, o); err != nil {
				t.Fatalf("point %d, mode %d: %v", i, o.WALRecoveryMode, err)
			}
			x.same(fmt.Sprintf("point %d, mode %d", i, o.WALRecoveryMode), x.scan("default"), want)
		}
		x.close()
	}
}

// errorsSeen counts background errors.
type errorsSeen struct {
	rocksdb.EventListenerBase
	n      atomic.Int32
	reason atomic.Int32
	fatal  atomic.Bool
}

func (*errorsSeen) Name() string { return "errorsSeen" }

func (e *errorsSeen) OnBackgroundError(reason rocksdb.BackgroundErrorReason, err *error) {
	e.n.Add(1)
	e.reason.Store(int32(reason))
	e.fatal.Store(contract.AsStatus(*err).Severity == rocksdb.SeverityFatalError)
}

func TestFieldFailedLogWrites(t *testing.T) { // facebook/rocksdb#12995
	for _, c := range []struct {
		manual      bool
		fail        string
		defaultSeen string
		familySeen  string
	}{{true, "append", "a=0", "a=0"}, {true, "sync", "a=0 k=1", "a=0 k=1"}, {false, "append", "a=0", "a=0"}} {
		t.Run(fmt.Sprintf("manual=%t,%s", c.manual, c.fail), func(t *testing.T) {
			fs, seen := newHookFS(), &errorsSeen{}
			x := newRecoveryTest(t, func(o *rocksdb.Options) {
				o.ManualWALFlush, o.Env, o.Listeners = c.manual, fs.env(), append(o.Listeners, seen)
			}, "c")
			both := func(key, value string) error {
				var b rocksdb.WriteBatch
				x.must(b.PutCF(x.cfs["default"].Impl(), []byte(key), []byte(value)))
				x.must(b.PutCF(x.cfs["c"].Impl(), []byte(key), []byte(value)))
				return x.db.Write(nil, &b)
			}
			x.must(both("a", "0"))
			x.must(x.db.FlushWAL(true))
			failed := false
			fail := func(op, path string, _ uint64, _ int) error {
				if op == c.fail && !failed && strings.HasSuffix(path, ".log") {
					failed = true
					return contract.IOError("injected")
				}
				return nil
			}
			if !c.manual {
				fs.hook = fail
			}
			err := both("k", "1")
			if c.manual {
				x.must(err)
				fs.hook = fail
				err = x.db.FlushWAL(true)
			}
			fs.hook = nil
			is := func(what string, err error) {
				t.Helper()
				if rocksdb.CodeOf(err) != rocksdb.CodeIOError {
					t.Error(what, err)
				}
			}
			is("write", err)
			if n, reason := seen.n.Load(), rocksdb.BackgroundErrorReason(seen.reason.Load()); n != 1 || reason != rocksdb.BackgroundErrorReasonWriteCallback || !seen.fatal.Load() {
				t.Error(n, reason, seen.fatal.Load())
			}
			is("Put", x.db.Put(nil, []byte("z"), nil))
			is("Flush", x.cfs["c"].Flush(nil))
			is("Resume", x.db.Resume())
			is("Put", x.db.Put(nil, []byte("z2"), nil))
			left := x.copy("db")
			o := x.o
			o.Env, o.Listeners = nil, nil
			x.must(x.open(left, o, "c"))
			x.same("default", x.scan("default"), c.defaultSeen)
			x.same("c", x.scan("c"), c.familySeen)
		})
	}
}

// offsetClock is the system's clock, moved.
type offsetClock struct {
	contract.SystemClock
	seconds atomic.Int64
}

func (c *offsetClock) NowMicros() uint64 {
	return uint64(int64(c.SystemClock.NowMicros()) + c.seconds.Load()*1e6)
}

func (c *offsetClock) GetCurrentTime() (int64, error) {
	n, err := c.SystemClock.GetCurrentTime()
	return n + c.seconds.Load(), err
}

func TestFieldClockGoesBack(t *testing.T) { // facebook/rocksdb#14016
	for _, c := range []struct {
		offset int64
		kept   bool
	}{{-1000, true}, {-100000, true}, {50, true}, {1000, false}} {
		clock := &offsetClock{SystemClock: env.Default().GetSystemClock()}
		x := newRecoveryTest(t, func(o *rocksdb.Options) {
			o.WALTTLSeconds, o.Env = 100, env.NewCompositeEnvWrapper(env.Default(), nil, clock)
		})
		for i := range 3 {
			x.put(fmt.Sprint("k", i), "v")
			x.flush()
		}
		x.close()
		archived := func() []string {
			l, _ := filepath.Glob(filepath.Join(x.root, "db", "archive", "*.log"))
			return l
		}
		first := archived()
		if len(first) != 3 {
			t.Fatal(first)
		}
		clock.seconds.Store(c.offset)
		x.must(x.open("db", x.o))
		x.put("k3", "v")
		x.flush()
		kept := 0
		for _, path := range first {
			if _, err := os.Stat(path); err == nil {
				kept++
			}
		}
		if (kept == 3) != c.kept || !c.kept && kept != 0 {
			t.Errorf("%+d seconds: %d of the archived logs are left", c.offset, kept)
		}
		logs, err := x.db.GetSortedWalFiles()
		x.must(err)
		if c.kept != (len(logs) > 3) {
			t.Errorf("%+d seconds: %d logs", c.offset, len(logs))
		}
		x.close()
	}
}

func TestFieldPointInTimeOverFamilies(t *testing.T) { // facebook/rocksdb#7701, with families and with the later log
	x := newRecoveryTest(t, func(o *rocksdb.Options) { o.AvoidFlushDuringRecovery = true }, "c")
	x.put("a1", "1")
	x.putIn("c", "c1", "1")
	x.put("a2", "2")
	x.must(x.cfs["c"].Flush(nil))
	x.put("a3", "3")
	left := x.copy("db")
	x.close()
	logs, _ := filepath.Glob(filepath.Join(x.root, left, "*.log"))
	if len(logs) != 2 {
		t.Fatal(logs)
	}
	x.cut(logs[0], 3)
	err := x.open(left, inMode(x.o, rocksdb.PointInTimeRecovery), "c")
	if rocksdb.CodeOf(err) != rocksdb.CodeCorruption || !strings.Contains(err.Error(), "Column family inconsistency: SST file contains data beyond the point of corruption in CF c") {
		t.Error(err)
	}

	x = newRecoveryTest(t, func(o *rocksdb.Options) { o.AvoidFlushDuringRecovery = true })
	x.put("a1", "1", "a2", "2")
	first := x.copy("db")
	x.must(x.open(first, x.o))
	x.put("a3", "3")
	both := x.copy(first)
	x.close()
	logs, _ = filepath.Glob(filepath.Join(x.root, both, "*.log"))
	x.cut(logs[0], 3)
	scan := func() string { return x.scan("default") }
	x.must(x.open(both, inMode(x.o, rocksdb.PointInTimeRecovery)))
	if n := x.db.GetLatestSequenceNumber(); n != 1 {
		t.Error("sequence", n)
	}
	x.put("b1", "1", "b2", "2")
	again := x.copy(both)
	x.close()
	want := allModes("~set backwards", "~Corruption")
	want[rocksdb.PointInTimeRecovery] = "a1=1 b1=1 b2=2"
	if logs, _ := filepath.Glob(filepath.Join(x.root, again, "*.log")); len(logs) < 3 {
		// The log behind the damage is gone: nothing is in the way.
		want = allModes("a1=1 b1=1 b2=2", "~Corruption")
	}
	x.eachMode(again, want, scan)
}

func TestFieldCheckpointSyncsLogs(t *testing.T) { // facebook/rocksdb#12731
	fs := newHookFS()
	var mu sync.Mutex
	synced := map[os.FileInfo]int64{} // by file, whatever its name
	lookup := func(path string) (os.FileInfo, int64) {
		info, err := os.Stat(path)
		if err != nil {
			return nil, 0
		}
		for have, n := range synced {
			if os.SameFile(have, info) {
				return have, n
			}
		}
		return info, 0
	}
	fs.hook = func(op, path string, _ uint64, _ int) error {
		if op == "+sync" {
			mu.Lock()
			defer mu.Unlock()
			if info, _ := lookup(path); info != nil {
				now, err := os.Stat(path)
				if err == nil {
					synced[info] = now.Size()
				}
			}
		}
		return nil
	}
	x := newRecoveryTest(t, func(o *rocksdb.Options) { o.Env = fs.env() }, "cf1")
	x.put("a", "1")
	x.putIn("cf1", "x", "1")
	x.must(x.cfs["cf1"].Flush(nil))
	x.put("b", "2")
	x.putIn("cf1", "y", "2")
	dir := filepath.Join(x.root, "copied")
	_, err := rocksdb.NewCheckpoint(x.db).CreateCheckpoint(dir, 1<<40)
	x.must(err)
	files, err := os.ReadDir(dir)
	x.must(err)
	for _, f := range files {
		path := filepath.Join(dir, f.Name())
		info, err := os.Stat(path)
		x.must(err)
		mu.Lock()
		_, n := lookup(path)
		mu.Unlock()
		if n != info.Size() && f.Name() != "IDENTITY" {
			t.Errorf("%s: %d of %d bytes are synced", f.Name(), n, info.Size())
		}
	}
	x.must(x.open("copied", x.o, "cf1"))
	x.same("default", x.scan("default"), "a=1 b=2")
	x.same("cf1", x.scan("cf1"), "x=1 y=2")
}

func TestFieldCheckpointStaging(t *testing.T) { // facebook/rocksdb#12894
	for _, c := range []struct {
		name string
		make func(tmp string) error
		ok   bool
	}{
		{"file inside", func(tmp string) error {
			if err := os.Mkdir(tmp, 0o755); err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(tmp, "junk"), nil, 0o644)
		}, true},
		{"directory inside", func(tmp string) error { return os.MkdirAll(filepath.Join(tmp, "sub"), 0o755) }, false},
		{"a file", func(tmp string) error { return os.WriteFile(tmp, nil, 0o644) }, false},
	} {
		x := newRecoveryTest(t, nil)
		x.put("a", "1")
		dir := filepath.Join(x.root, "copied")
		x.must(c.make(dir + ".tmp"))
		_, err := rocksdb.NewCheckpoint(x.db).CreateCheckpoint(dir, 0)
		_, left := os.Stat(dir + ".tmp")
		if !c.ok {
			_, made := os.Stat(dir)
			if rocksdb.CodeOf(err) != rocksdb.CodeAborted || !strings.Contains(err.Error(), "Failed to clean the temporary directory") || left != nil || made == nil {
				t.Error(c.name, err, left, made)
			}
			x.close()
			continue
		}
		x.must(err)
		if left == nil {
			t.Error(c.name, "is left")
		}
		if _, err := rocksdb.NewCheckpoint(x.db).CreateCheckpoint(dir, 0); rocksdb.CodeOf(err) != rocksdb.CodeInvalidArgument || !strings.Contains(err.Error(), "Directory exists") {
			t.Error(err)
		}
		x.must(x.open("copied", x.o))
		x.same(c.name, x.scan("default"), "a=1")
		x.close()
	}
}

func TestFieldCheckpointsOfCompressedLogs(t *testing.T) { // facebook/rocksdb#10130
	x := newRecoveryTest(t, func(o *rocksdb.Options) { o.WALCompression = rocksdb.ZSTD })
	var wants []string
	point := func(want string) {
		t.Helper()
		logs, err := x.db.GetSortedWalFiles()
		x.must(err)
		if len(logs) != 1 || logs[0].StartSequence != 1 && want == "" || logs[0].SizeFileBytes < 11 {
			t.Errorf("%+v", logs)
		}
		_, err = rocksdb.NewCheckpoint(x.db).CreateCheckpoint(filepath.Join(x.root, fmt.Sprint("point", len(wants))), 1<<30)
		x.must(err)
		wants = append(wants, want)
	}
	point("")
	x.put("a", "1")
	point("a=1")
	x.flush()
	point("a=1")
	x.put("b", "2")
	point("a=1 b=2")
	for i, want := range wants {
		x.must(x.open(fmt.Sprint("point", i), x.o))
		x.same(fmt.Sprint(i), x.scan("default"), want)
	}
}

func TestFieldFileChecksumsOfAlignedBlocks(t *testing.T) { // facebook/rocksdb#12542
	for i := range 4 {
		x := newFieldTest(t, func(o *rocksdb.Options, b *rocksdb.BlockBasedTableOptions) {
			o.FileChecksumGenFactory, o.Compression = rocksdb.GetFileChecksumGenCrc32cFactory(), rocksdb.NoCompression
			b.BlockAlign = i&1 != 0
			if i&2 != 0 {
				b.BlockAlign, b.SuperBlockAlignmentSize, b.SuperBlockAlignmentSpaceOverheadRatio = false, 64<<10, 128
			}
		})
		for j := range 500 {
			x.put(fmt.Sprint("k", j), strings.Repeat("v", 100))
		}
		x.flush()
		x.must(x.db.VerifyFileChecksums(nil))
		x.compact(true)
		x.must(x.db.VerifyFileChecksums(nil))
		for _, f := range x.db.GetLiveFilesMetaData() {
			x.same("name", f.FileChecksumFuncName, "FileChecksumCrc32c")
		}
		x.close()
	}
}

func TestFieldChecksumsOfDroppedFamilies(t *testing.T) { // facebook/rocksdb#13832
	for _, held := range []bool{false, true} {
		x := newFieldTest(t, func(o *rocksdb.Options, _ *rocksdb.BlockBasedTableOptions) {
			o.FileChecksumGenFactory = rocksdb.GetFileChecksumGenCrc32cFactory()
		})
		count := func(when string, want int) {
			t.Helper()
			list, err := rocksdb.GetFileChecksumsFromCurrentManifest(rocksdb.DefaultEnv().GetFileSystem(), filepath.Join(x.root, "db"))
			x.must(err)
			x.same("checksums "+when, fmt.Sprint(list.Size()), fmt.Sprint(want))
		}
		x.put("a", "1")
		x.flush()
		cf, err := x.db.CreateColumnFamily(x.o.ColumnFamilyOptions, "cf")
		x.must(err)
		for _, k := range []string{"x", "y"} {
			x.must(cf.Put(nil, []byte(k), []byte("1")))
			x.must(cf.Flush(nil))
		}
		count("before the drop", 3)
		x.must(x.db.DropColumnFamily(cf))
		if !held {
			x.must(cf.Close())
		}
		count("after the drop", 1)
		list, err := x.db.GetLiveFilesChecksumInfo()
		x.must(err)
		x.same("live files after the drop", fmt.Sprint(list.Size()), "1")
		if held {
			x.must(cf.Close())
		}
		x.close()
		count("after Close", 1)
	}
}
