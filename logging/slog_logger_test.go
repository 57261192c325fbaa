// No upstream twin.

package logging_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/logging"
)

func withoutTime(_ []string, a slog.Attr) slog.Attr {
	if a.Key == slog.TimeKey {
		return slog.Attr{}
	}
	return a
}

func TestSlogLogger(t *testing.T) {
	var out bytes.Buffer
	l := logging.NewSlogLogger(slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug, ReplaceAttr: withoutTime})))
	l.Logv(rocksdb.DebugLevel, "below the level")
	l.Logv(rocksdb.InfoLevel, "job %d\n", 3)
	l.Logv(rocksdb.WarnLevel, "w")
	l.Logv(rocksdb.FatalLevel, "f")
	l.LogHeader("version %s", "11")
	l.SetInfoLogLevel(rocksdb.DebugLevel)
	l.Logv(rocksdb.DebugLevel, "d")
	want := []string{`level=INFO msg="job 3"`, `level=WARN msg=w`, `level=ERROR msg=f`, `level=INFO msg="version 11" header=true`, `level=DEBUG msg=d`}
	if got := strings.Split(strings.TrimSpace(out.String()), "\n"); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%q", got)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}

func ExampleNewSlogLogger() {
	h := slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: withoutTime})
	l := logging.NewSlogLogger(slog.New(h)) // goes to DBOptions.InfoLog
	l.Logv(rocksdb.WarnLevel, "Stalling writes")
	// Output: level=WARN msg="Stalling writes"
}
