// Port of logging/env_logger_test.cc.

package logging_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/rocksdb-go/rocksdb/env"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/logging"
)

const sampleMessage = "this is the message to be written to the log file!!"

func createLogger(t *testing.T, name string) rocksdb.Logger {
	t.Helper()
	l, err := env.DefaultFileSystem().NewLogger(name, nil)
	if err != nil {
		t.Fatal(err)
	}
	l.SetInfoLogLevel(rocksdb.InfoLevel)
	return l
}

func writeLogs(l rocksdb.Logger, n int) {
	for range n {
		logging.Info(l, "%s", sampleMessage)
	}
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func linesWith(t *testing.T, name, pattern string) int {
	t.Helper()
	n := 0
	for line := range strings.Lines(readFile(t, name)) {
		if strings.Contains(line, pattern) {
			n++
		}
	}
	return n
}

func mustClose(t *testing.T, l rocksdb.Logger) {
	t.Helper()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestEnvLoggerTest_EmptyLogFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "log")
	l := createLogger(t, name)
	mustClose(t, l)
	if s := readFile(t, name); s != "" {
		t.Errorf("log has %q", s)
	}
}

func TestEnvLoggerTest_LogMultipleLines(t *testing.T) {
	name := filepath.Join(t.TempDir(), "log")
	l := createLogger(t, name)
	writeLogs(l, 10)
	l.Flush()
	mustClose(t, l)
	if n := linesWith(t, name, sampleMessage); n != 10 {
		t.Errorf("%d lines", n)
	}
}

func TestEnvLoggerTest_Overwrite(t *testing.T) {
	name := filepath.Join(t.TempDir(), "log")
	l := createLogger(t, name)
	writeLogs(l, 10)
	mustClose(t, l)
	if n := linesWith(t, name, sampleMessage); n != 10 {
		t.Errorf("%d lines", n)
	}
	l = createLogger(t, name)
	if s := readFile(t, name); s != "" || l.GetLogFileSize() != 0 {
		t.Errorf("log has %q, size %d", s, l.GetLogFileSize())
	}
	mustClose(t, l)
}

func TestEnvLoggerTest_Close(t *testing.T) {
	name := filepath.Join(t.TempDir(), "log")
	l := createLogger(t, name)
	writeLogs(l, 10)
	mustClose(t, l)
	mustClose(t, l)
	logging.Info(l, "after Close")
	if n := linesWith(t, name, sampleMessage); n != 10 {
		t.Errorf("%d lines", n)
	}
}

func TestEnvLoggerTest_ConcurrentLogging(t *testing.T) {
	name := filepath.Join(t.TempDir(), "log")
	l := createLogger(t, name)
	var wg sync.WaitGroup
	for range 5 {
		wg.Go(func() {
			writeLogs(l, 20)
			l.Flush()
		})
	}
	wg.Wait()
	mustClose(t, l)
	if n := linesWith(t, name, sampleMessage); n != 100 {
		t.Errorf("%d lines", n)
	}
}

// The cases below are not upstream's.

func TestEnvLogger_LineFormat(t *testing.T) {
	name := filepath.Join(t.TempDir(), "log")
	l := createLogger(t, name)
	logging.Debug(l, "below the level")
	logging.Info(l, "info %d", 1)
	logging.Warn(l, "warn")
	if n := linesWith(t, name, "warn"); n != 1 {
		t.Error("a warning was not flushed at once")
	}
	logging.Header(l, "header\n")
	logging.Info(nil, "nobody listens")
	mustClose(t, l)
	const stamp = `^\d{4}/\d\d/\d\d-\d\d:\d\d:\d\d\.\d{6} \d+ `
	want := []string{
		stamp + `\[logging/env_logger_test\.go:\d+\] info 1\n$`,
		stamp + `\[WARN\] \[logging/env_logger_test\.go:\d+\] warn\n$`,
		stamp + `header\n$`,
	}
	i := 0
	for line := range strings.Lines(readFile(t, name)) {
		if i >= len(want) || !regexp.MustCompile(want[i]).MatchString(line) {
			t.Errorf("line %d is %q", i, line)
		}
		i++
	}
	if i != len(want) {
		t.Errorf("%d lines", i)
	}
}

func TestEnvLogger_LongLine(t *testing.T) {
	name := filepath.Join(t.TempDir(), "log")
	l := createLogger(t, name)
	logging.Info(l, "%s", strings.Repeat("x", 100000))
	mustClose(t, l)
	if s := readFile(t, name); len(s) != 64<<10 || !strings.HasSuffix(s, "x\n") {
		t.Errorf("line of %d bytes ends with %q", len(s), s[len(s)-2:])
	}
}
