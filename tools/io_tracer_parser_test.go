// Port of tools/io_tracer_parser_test.cc.

package tools_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	engine "github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/tools"
)

// ioTraceTest is a database and the path of a trace of its I/O.
type ioTraceTest struct {
	*testing.T
	db   *engine.DB
	path string
}

func newIOTraceTest(t *testing.T) *ioTraceTest {
	dir := t.TempDir()
	o := engine.DefaultOptions()
	o.CreateIfMissing = true
	db, err := engine.Open(filepath.Join(dir, "db"), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return &ioTraceTest{t, db, filepath.Join(dir, "io_trace_file")}
}

func (x *ioTraceTest) must(err error) {
	x.Helper()
	if err != nil {
		x.Fatal(err)
	}
}

// write puts keys first to last, each into a table of its own.
func (x *ioTraceTest) write(first, last int) {
	x.Helper()
	for i := first; i <= last; i++ {
		x.must(x.db.Put(nil, []byte("key_"+strconv.Itoa(i)), []byte("value_"+strconv.Itoa(i))))
		x.must(x.db.Flush(nil))
	}
}

func (x *ioTraceTest) generate() {
	x.Helper()
	w, err := engine.NewFileTraceWriter(nil, nil, x.path)
	x.must(err)
	x.must(x.db.StartIOTrace(engine.DefaultTraceOptions(), w))
	x.write(0, 9)
	x.must(x.db.EndIOTrace())
	x.must(func() error { _, err := os.Stat(x.path); return err }())
}

var (
	ioTraceHeader = regexp.MustCompile(`\AStart Time: \d+\nRocksDB Major Version: 11\nRocksDB Minor Version: 8\n`)
	ioTraceLine   = regexp.MustCompile(`(?m)^Access Time : \d+ *, File Name: \S+ *, File Operation: \w+ *, Latency: \d+ *, IO Status: .+$`)
)

// parse runs the tool and checks that each of ten tables was made and written.
func (x *ioTraceTest) parse() {
	x.Helper()
	var stdout, stderr bytes.Buffer
	if code := tools.IOTracerParser([]string{"./io_tracer_parser", "-io_trace_file=" + x.path}, &stdout, &stderr); code != 0 {
		x.Fatalf("exit code %d: %s", code, &stderr)
	}
	out := stdout.Bytes()
	if !ioTraceHeader.Match(out) {
		x.Fatalf("header: %.200s", out)
	}
	if lines := bytes.Count(out, []byte("\n")); len(ioTraceLine.FindAll(out, -1)) != lines-3 {
		x.Fatalf("of %d lines some are no records: %.2000s", lines, out)
	}
	for op, want := range map[string]int{
		`\d{6}\.sst *, File Operation: NewWritableFile *, Latency: \d+ *, IO Status: OK$`:         10,
		`\d{6}\.sst *, File Operation: Append *, Latency: \d+ *, IO Status: OK, Length: \d+$`:     10,
		`\d{6}\.sst *, File Operation: Close *, Latency: \d+ *, IO Status: OK$`:                   10,
		`\d{6}\.log *, File Operation: Append *, Latency: \d+ *, IO Status: OK, Length: \d+$`:     10,
		`MANIFEST-\d{6} *, File Operation: Append *, Latency: \d+ *, IO Status: OK, Length: \d+$`: 10,
		`\d{6}\.sst *, File Operation: NewRandomAccessFile *, Latency: \d+ *, IO Status: OK$`:     10,
		`\d{6}\.sst *, File Operation: (Prefetch|Read) *, Latency: .*, Length: \d+, Offset: \d+$`: 10,
	} {
		if n := len(regexp.MustCompile(`(?m)`+op).FindAll(out, -1)); n < want {
			x.Errorf("%d lines of %s", n, op)
		}
	}
}

func TestIOTracerParserTest_InvalidArguments(t *testing.T) {
	var stdout, stderr bytes.Buffer
	if code := tools.IOTracerParser([]string{"./io_tracer_parser"}, &stdout, &stderr); code != 1 || stderr.String() != "IO Trace file path is empty\n" {
		t.Errorf("exit code %d: %s", code, &stderr)
	}
}

func TestIOTracerParserTest_DumpAndParseIOTraceRecords(t *testing.T) {
	x := newIOTraceTest(t)
	x.generate()
	x.parse()
}

func TestIOTracerParserTest_NoRecordingAfterEndIOTrace(t *testing.T) {
	x := newIOTraceTest(t)
	x.generate()
	x.parse()
	before, err := os.Stat(x.path)
	x.must(err)
	x.write(10, 19)
	after, err := os.Stat(x.path)
	x.must(err)
	if after.Size() != before.Size() {
		t.Errorf("%d bytes after the end of the trace", after.Size()-before.Size())
	}
}

func TestIOTracerParserTest_NoRecordingBeforeStartIOTrace(t *testing.T) {
	x := newIOTraceTest(t)
	x.write(10, 19)
	if _, err := os.Stat(x.path); err == nil {
		t.Error("a trace before its start")
	}
	x.generate()
	x.parse()
}

// TestIOTracerParser_Damage: what is wrong is told.
func TestIOTracerParser_Damage(t *testing.T) {
	x := newIOTraceTest(t)
	x.generate()
	data, err := os.ReadFile(x.path)
	x.must(err)
	run := func(data []byte) (int, string) {
		x.must(os.WriteFile(x.path, data, 0o644))
		var stdout, stderr bytes.Buffer
		return tools.IOTracerParser([]string{"io_tracer_parser", "--io_trace_file=" + x.path}, &stdout, &stderr), stderr.String()
	}
	if code, msg := run(data[:len(data)-3]); code != 1 || !regexp.MustCompile(`Corrupt`).MatchString(msg) {
		t.Errorf("cut off: exit code %d: %s", code, msg)
	}
	bad := bytes.Clone(data)
	bad[13+4] ^= 1 // of the magic
	if code, msg := run(bad); code != 1 || !regexp.MustCompile(`Magic number does not match`).MatchString(msg) {
		t.Errorf("magic: exit code %d: %s", code, msg)
	}
	bad = bytes.Clone(data)
	bad[13+1+16+8+13] = 0xff // the fields of the first record
	if code, msg := run(bad); code != 1 || !regexp.MustCompile(`fields 0xff`).MatchString(msg) {
		t.Errorf("fields: exit code %d: %s", code, msg)
	}
}
