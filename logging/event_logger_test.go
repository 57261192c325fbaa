// Port of logging/event_logger_test.cc.

package logging_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/logging"
)

type stringLogger struct {
	rocksdb.LoggerBase
	lines []string
}

func (l *stringLogger) Logv(level rocksdb.InfoLogLevel, format string, args ...any) {
	if l.Admits(level) {
		l.lines = append(l.lines, fmt.Sprintf(format, args...))
	}
}

func (l *stringLogger) LogHeader(format string, args ...any) {
	l.lines = append(l.lines, fmt.Sprintf(format, args...))
}

func TestEventLoggerTest_SimpleTest(t *testing.T) {
	var l stringLogger
	logging.NewEventLogger(&l).Log().Add("id", 5).Add("event", "just_testing").End()
	if len(l.lines) != 1 {
		t.Fatalf("%d lines", len(l.lines))
	}
	for _, want := range []string{`"event": "just_testing"`, `"id": 5`, `"time_micros"`} {
		if !strings.Contains(l.lines[0], want) {
			t.Errorf("no %s in %q", want, l.lines[0])
		}
	}
}

// The cases below are not upstream's.

func TestEventLogger_Text(t *testing.T) {
	w := logging.NewJSONWriter()
	w.AddKey("a")
	w.AddUint(1)
	w.AddKey("list")
	w.StartArray()
	w.AddInt(-1)
	w.AddString("x")
	w.StartArrayedObject()
	w.AddKey("f")
	w.AddFloat(0.25)
	w.AddKey("g")
	w.AddBool(true)
	w.EndArrayedObject()
	w.EndArray()
	w.AddKey("o")
	w.StartObject()
	w.AddKey("s")
	w.AddString("q\"\\\n\x01\xff")
	w.EndObject()
	w.EndObject()
	const want = `{"a": 1, "list": [-1, "x", {"f": 0.25, "g": 1}], "o": {"s": "q\"\\\n\u0001\u00ff"}}`
	if got := w.Get(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	var v any
	if err := json.Unmarshal([]byte(w.Get()), &v); err != nil {
		t.Error(err)
	}
}

func TestEventLogger_Nil(t *testing.T) {
	logging.NewEventLogger(nil).Log().Add("id", 5).End()
	var e *logging.EventLogger
	e.Log().Add("id", 5).End()
	e.LogToBuffer(nil, 100).Add("id", 5).End()
}

func TestEventLogger_ToBuffer(t *testing.T) {
	var l stringLogger
	b := logging.NewLogBuffer(rocksdb.InfoLevel, &l)
	logging.NewEventLogger(&l).LogToBuffer(b, 8192).Add("id", uint64(5)).End()
	if len(l.lines) != 0 || b.IsEmpty() {
		t.Fatalf("%d lines before the flush", len(l.lines))
	}
	b.FlushBufferToLog()
	if len(l.lines) != 1 || !strings.HasPrefix(l.lines[0], "(Original Log Time ") || !strings.Contains(l.lines[0], `EVENT_LOG_v1 {"time_micros": `) {
		t.Errorf("lines %q", l.lines)
	}
}
