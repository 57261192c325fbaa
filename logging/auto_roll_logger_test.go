// Port of logging/auto_roll_logger_test.cc. Differs: LogFlushWhileRolling has
// no sync points, its flushes and rolls run against each other many times.

package logging_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/rocksdb-go/rocksdb/env"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/logging"
)

// rollTest has a directory for logs and one for a database. Its goroutine
// keeps to one thread, whose number is part of a line and so of its length.
type rollTest struct {
	*testing.T
	dir, dbDir string
}

func newRollTest(t *testing.T) *rollTest {
	runtime.LockOSThread()
	t.Cleanup(runtime.UnlockOSThread)
	r := &rollTest{T: t}
	r.initTestDB()
	return r
}

func (r *rollTest) initTestDB() {
	base := r.TempDir()
	r.dir, r.dbDir = filepath.Join(base, "db_log_test"), filepath.Join(base, "db_log_test_db")
	for _, d := range []string{r.dir, r.dbDir} {
		if err := os.Mkdir(d, 0o755); err != nil {
			r.Fatal(err)
		}
	}
}

func (r *rollTest) newLogger(clock rocksdb.SystemClock, dbname, logDir string, maxSize int, timeToRoll uint64, keep int) *logging.AutoRollLogger {
	r.Helper()
	l, err := logging.NewAutoRollLogger(env.DefaultFileSystem(), clock, dbname, logDir, maxSize, timeToRoll, keep, rocksdb.InfoLevel)
	if err != nil {
		r.Fatal(err)
	}
	r.Cleanup(func() { _ = l.Close() })
	return l
}

func (r *rollTest) fromOptions(dbname string, o *rocksdb.DBOptions) rocksdb.Logger {
	r.Helper()
	l, err := logging.CreateLoggerFromOptions(dbname, o)
	if err != nil {
		r.Fatal(err)
	}
	r.Cleanup(func() { _ = l.Close() })
	return l
}

func (r *rollTest) autoRoll(l rocksdb.Logger) *logging.AutoRollLogger {
	r.Helper()
	a, ok := l.(*logging.AutoRollLogger)
	if !ok {
		r.Fatalf("logger is a %T", l)
	}
	return a
}

func (r *rollTest) logFiles() (names []string) {
	entries, err := os.ReadDir(r.dir)
	if err != nil {
		r.Fatal(err)
	}
	for _, e := range entries {
		if strings.Contains(e.Name(), "LOG") {
			names = append(names, e.Name())
		}
	}
	return names
}

func (r *rollTest) wantLogFiles(n int) {
	r.Helper()
	if names := r.logFiles(); len(names) != n {
		r.Fatalf("%d log files, want %d: %q", len(names), n, names)
	}
}

func (r *rollTest) rollBySize(l *logging.AutoRollLogger, maxSize int, msg string) {
	r.Helper()
	l.SetInfoLogLevel(rocksdb.InfoLevel)
	if l.GetInfoLogLevel() != rocksdb.InfoLevel || l.InnerLogger().GetInfoLogLevel() != rocksdb.InfoLevel {
		r.Fatal("level not set")
	}
	log := func() { logging.Info(l, "%s", msg) }
	log()
	size := l.GetLogFileSize()
	cur := size
	for cur+size < maxSize {
		log()
		cur += size
		if got := l.GetLogFileSize(); got != cur {
			r.Fatalf("size %d, want %d", got, cur)
		}
	}
	log() // fills the file
	log() // begins another
	if got := l.GetLogFileSize(); got != size {
		r.Fatalf("size after the roll %d, want %d", got, size)
	}
}

func (r *rollTest) rollByTime(clock rocksdb.SystemClock, l *logging.AutoRollLogger, seconds int, msg string) {
	r.Helper()
	total, err := env.DefaultFileSystem().GetFileSize(r.dir+"/LOG", nil)
	if err != nil {
		r.Fatal(err)
	}
	begun := l.Ctime()
	l.SetCallNowMicrosEveryNRecords(0)
	for range 10 {
		clock.SleepForMicroseconds(50000)
		logging.Info(l, "%s", msg)
		if err := l.GetStatus(); err != nil {
			r.Fatal(err)
		}
		if l.Ctime() != begun {
			r.Fatal("rolled before its time")
		}
		if n := uint64(l.GetLogFileSize()); n <= total {
			r.Fatalf("size %d after %d", n, total)
		} else {
			total = n
		}
	}
	clock.SleepForMicroseconds(seconds * 1000000)
	logging.Info(l, "%s", msg)
	if l.Ctime() <= begun || uint64(l.GetLogFileSize()) >= total {
		r.Fatal("not rolled at its time")
	}
}

func stoppedClock() *env.EmulatedSystemClock {
	return env.NewEmulatedSystemClock(rocksdb.DefaultSystemClock(), true)
}

func TestAutoRollLoggerTest_RollLogFileBySize(t *testing.T) {
	r := newRollTest(t)
	l := r.newLogger(rocksdb.DefaultSystemClock(), r.dir, "", 5*1024, 0, 10)
	r.rollBySize(l, 5*1024, sampleMessage+":RollLogFileBySize")
}

func TestAutoRollLoggerTest_RollLogFileByTime(t *testing.T) {
	r := newRollTest(t)
	clock := stoppedClock()
	l := r.newLogger(clock, r.dir, "", 5*1024, 2, 10)
	if err := env.DefaultFileSystem().FileExists(r.dir+"/LOG", nil); err != nil {
		t.Fatal(err)
	}
	r.rollByTime(clock, l, 2, sampleMessage+":RollLogFileByTime")
}

func testOptions() *rocksdb.DBOptions {
	o := rocksdb.DefaultDBOptions()
	o.Env = env.Default()
	return &o
}

func TestAutoRollLoggerTest_SetInfoLogLevel(t *testing.T) {
	r := newRollTest(t)
	o := testOptions()
	o.InfoLogLevel = rocksdb.FatalLevel
	o.MaxLogFileSize = 1024
	l := r.autoRoll(r.fromOptions(r.dir, o))
	for _, level := range []rocksdb.InfoLogLevel{rocksdb.FatalLevel, rocksdb.DebugLevel} {
		if l.GetInfoLogLevel() != level || l.InnerLogger().GetInfoLogLevel() != level {
			t.Errorf("levels %d and %d, want %d", l.GetInfoLogLevel(), l.InnerLogger().GetInfoLogLevel(), level)
		}
		l.SetInfoLogLevel(rocksdb.DebugLevel)
	}
}

func TestAutoRollLoggerTest_OpenLogFilesMultipleTimesWithOptionLog_max_size(t *testing.T) {
	r := newRollTest(t)
	l := r.newLogger(rocksdb.DefaultSystemClock(), r.dir, "", 1024, 0, 10)
	logging.Info(l, "%s", sampleMessage)
	if l.GetLogFileSize() == 0 {
		t.Error("nothing logged")
	}
	mustClose(t, l)
	l = r.newLogger(rocksdb.DefaultSystemClock(), r.dir, "", 1024, 0, 10)
	if n := l.GetLogFileSize(); n != 0 {
		t.Errorf("size of a new log %d", n)
	}
}

func TestAutoRollLoggerTest_CompositeRollByTimeAndSizeLogger(t *testing.T) {
	r := newRollTest(t)
	clock := stoppedClock()
	l := r.newLogger(clock, r.dir, "", 5*1024, 2, 10)
	r.rollBySize(l, 5*1024, sampleMessage)
	r.rollByTime(clock, l, 2, sampleMessage)
}

func TestAutoRollLoggerTest_CreateLoggerFromOptions(t *testing.T) {
	r := newRollTest(t)
	clock := stoppedClock()
	o := testOptions()
	if l := r.fromOptions(r.dir, o); l == nil {
		t.Fatal("no logger")
	} else if _, ok := l.(*logging.EnvLogger); !ok {
		t.Fatalf("logger is a %T", l)
	}

	r.initTestDB() // only by size
	o.MaxLogFileSize = 1024
	r.rollBySize(r.autoRoll(r.fromOptions(r.dir, o)), 1024, sampleMessage)

	r.initTestDB() // only by time
	o.Env = env.NewCompositeEnvWrapper(env.Default(), nil, clock)
	o.MaxLogFileSize, o.LogFileTimeToRoll = 0, 2
	r.rollByTime(clock, r.autoRoll(r.fromOptions(r.dir, o)), 2, sampleMessage)

	r.initTestDB() // by both
	o.MaxLogFileSize = 5 * 1024
	l := r.autoRoll(r.fromOptions(r.dir, o))
	r.rollBySize(l, 5*1024, sampleMessage)
	r.rollByTime(clock, l, 2, sampleMessage)

	r.initTestDB()
	o.MaxLogFileSize, o.KeepLogFileNum = 512, 3
	l = r.autoRoll(r.fromOptions(r.dir, o))
	r.rollNTimesBySize(l, 3, 512)
	r.wantLogFiles(3)

	r.initTestDB() // logs elsewhere
	o.DBLogDir = r.dir
	l = r.autoRoll(r.fromOptions(r.dbDir, o))
	r.rollNTimesBySize(l, 3, 512)
	r.wantLogFiles(3)
	for _, name := range r.logFiles() {
		if !strings.Contains(name, "db_log_test_db") {
			t.Errorf("log %q does not name its database", name)
		}
	}
}

func (r *rollTest) rollNTimesBySize(l rocksdb.Logger, n, maxSize int) {
	l.SetInfoLogLevel(rocksdb.InfoLevel)
	for range n + 1 {
		logging.Info(l, "%s", strings.Repeat("=", maxSize))
		logging.Info(l, "")
	}
}

func TestAutoRollLoggerTest_AutoDeleting(t *testing.T) {
	for _, elsewhere := range []bool{false, true} {
		r := newRollTest(t)
		dbname, logDir := r.dir, ""
		if elsewhere {
			dbname, logDir = "/test/dummy/dir", r.dir
		}
		open := func(keep int) *logging.AutoRollLogger {
			return r.newLogger(rocksdb.DefaultSystemClock(), dbname, logDir, 512, 0, keep)
		}
		l := open(8)
		r.rollNTimesBySize(l, 8, 512)
		r.wantLogFiles(8)
		mustClose(t, l)

		l = open(5)
		r.wantLogFiles(5)
		r.rollNTimesBySize(l, 3, 512)
		r.wantLogFiles(5)
		mustClose(t, l)

		l = open(7)
		r.wantLogFiles(6)
		r.rollNTimesBySize(l, 3, 512)
		r.wantLogFiles(7)
	}
}

func TestAutoRollLoggerTest_LogFlushWhileRolling(t *testing.T) {
	r := newRollTest(t)
	o := testOptions()
	o.MaxLogFileSize = 5 * 1024
	l := r.autoRoll(r.fromOptions(r.dir, o))
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				l.Flush()
			}
		}
	})
	for range 5 {
		r.rollNTimesBySize(l, 1, 5*1024)
	}
	close(stop)
	wg.Wait()
	if n := len(r.logFiles()); n < 5 {
		t.Errorf("%d log files", n)
	}
}

// logAtAllLevels logs at all levels under all levels, and returns how many
// lines were to be written.
func logAtAllLevels(l rocksdb.Logger) (lines int) {
	for level := int(rocksdb.HeaderLevel); level >= 0; level-- {
		l.SetInfoLogLevel(rocksdb.InfoLogLevel(level))
		for at := rocksdb.DebugLevel; at <= rocksdb.HeaderLevel; at++ {
			logging.Log(l, at, "%s", sampleMessage)
		}
		lines += int(rocksdb.HeaderLevel) - level + 1
	}
	for level := int(rocksdb.HeaderLevel); level >= 0; level-- {
		l.SetInfoLogLevel(rocksdb.InfoLogLevel(level))
		logging.Header(l, "%s", sampleMessage)
		logging.Debug(l, "%s", sampleMessage)
		logging.Info(l, "%s", sampleMessage)
		logging.Warn(l, "%s", sampleMessage)
		logging.Error(l, "%s", sampleMessage)
		logging.Fatal(l, "%s", sampleMessage)
		lines += int(rocksdb.HeaderLevel) - level + 1
	}
	return lines
}

func TestAutoRollLoggerTest_InfoLogLevel(t *testing.T) {
	r := newRollTest(t)
	l := r.newLogger(rocksdb.DefaultSystemClock(), r.dir, "", 8192, 0, 10)
	want := logAtAllLevels(l)
	l.Flush()
	if n := strings.Count(readFile(t, r.dir+"/LOG"), "\n"); n != want {
		t.Errorf("%d lines, want %d", n, want)
	}
}

func TestAutoRollLoggerTest_Close(t *testing.T) {
	r := newRollTest(t)
	l := r.newLogger(rocksdb.DefaultSystemClock(), r.dir, "", 8192, 0, 10)
	want := logAtAllLevels(l)
	mustClose(t, l)
	if n := strings.Count(readFile(t, r.dir+"/LOG"), "\n"); n != want {
		t.Errorf("%d lines, want %d", n, want)
	}
}

func TestAutoRollLoggerTest_LogHeaderTest(t *testing.T) {
	for _, byLevel := range []bool{false, true} {
		r := newRollTest(t)
		l := r.newLogger(rocksdb.DefaultSystemClock(), r.dir, "", 5*1024, 0, 10)
		for i := range 10 {
			if byLevel {
				logging.Log(l, rocksdb.HeaderLevel, "Log header line %d", i)
			} else {
				logging.Header(l, "Log header line %d", i)
			}
		}
		i := 0
		for range 2 {
			for l.GetLogFileSize() < 5*1024 {
				logging.Info(l, sampleMessage+":LogHeaderTest line %d", i)
				i++
			}
			logging.Info(l, "Rollover")
		}
		l.Flush()
		old := 0
		for _, name := range r.logFiles() {
			if r.dir+"/"+name == l.LogName() {
				continue
			}
			old++
			if n := linesWith(t, r.dir+"/"+name, "Log header line"); n != 10 {
				t.Errorf("%s has %d header lines", name, n)
			}
		}
		if old != 2 {
			t.Errorf("%d old logs", old)
		}
	}
}

func TestAutoRollLoggerTest_FileCreateFailure(t *testing.T) {
	o := testOptions()
	o.MaxLogFileSize = 100 << 20
	o.DBLogDir = "/a/dir/does/not/exist/at/all"
	if l, err := logging.CreateLoggerFromOptions("", o); err == nil || l != nil {
		t.Errorf("logger %v, error %v", l, err)
	}
}

// renameFS counts renames, or fails them.
type renameFS struct {
	rocksdb.FileSystemWrapper
	count int
	fail  bool
}

func (f *renameFS) RenameFile(src, target string, opts *rocksdb.IOOptions) error {
	f.count++
	if f.fail {
		return rocksdb.NotSupported("Simulated `RenameFile()` error.")
	}
	return f.FileSystem.RenameFile(src, target, opts)
}

func TestAutoRollLoggerTest_RenameOnlyWhenExists(t *testing.T) {
	r := newRollTest(t)
	fs := &renameFS{FileSystemWrapper: rocksdb.FileSystemWrapper{FileSystem: env.DefaultFileSystem()}}
	o := testOptions()
	o.Env = env.NewCompositeEnv(fs)
	for want := range 2 {
		r.fromOptions(r.dir, o)
		if fs.count != want {
			t.Errorf("%d renames, want %d", fs.count, want)
		}
	}
}

func TestAutoRollLoggerTest_RenameError(t *testing.T) {
	r := newRollTest(t)
	fs := &renameFS{FileSystemWrapper: rocksdb.FileSystemWrapper{FileSystem: env.DefaultFileSystem()}, fail: true}
	o := testOptions()
	o.Env = env.NewCompositeEnv(fs)
	r.fromOptions(r.dir, o)
	if l, err := logging.CreateLoggerFromOptions(r.dir, o); err == nil || l != nil {
		t.Errorf("logger %v, error %v", l, err)
	}
}
