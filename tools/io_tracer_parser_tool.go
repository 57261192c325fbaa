// Port of tools/io_tracer_parser_tool.{h,cc}. Differs: a damaged trace is told of and
// makes the exit code 1, where upstream's is 0.

package tools

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"github.com/rocksdb-go/rocksdb/env"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/internal/gflags"
	tracereplay "github.com/rocksdb-go/rocksdb/trace_replay"
	"github.com/rocksdb-go/rocksdb/utilities/trace"
)

// IOTracerParser runs io_tracer_parser's command line; args[0] is its name. It
// gives the exit code.
func IOTracerParser(args []string, stdout, stderr io.Writer) int {
	var f struct {
		IOTraceFile string `flag:"io_trace_file," help:"The IO trace file path."`
	}
	return gflags.Program(args, stdout, stderr, &f, rocksdb.GetRocksVersionAsString(true), func(*gflags.Set) error {
		if f.IOTraceFile == "" {
			return errors.New("IO Trace file path is empty")
		}
		if err := printIOTrace(stdout, f.IOTraceFile); err != nil {
			return fmt.Errorf("%s: %w", f.IOTraceFile, err)
		}
		return nil
	})
}

// printIOTrace is upstream's IOTraceRecordParser::ReadIOTraceRecords.
func printIOTrace(stdout io.Writer, name string) (err error) {
	fo := rocksdb.DefaultFileOptions()
	f, err := trace.NewFileTraceReader(env.DefaultFileSystem(), name, &fo)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // it was read only
	r := tracereplay.NewIOTraceReader(f)
	h, err := r.ReadHeader()
	if err != nil {
		return err
	}
	w := bufio.NewWriter(stdout)
	defer func() {
		if e := w.Flush(); err == nil {
			err = e
		}
	}()
	fmt.Fprintf(w, "Start Time: %d\nRocksDB Major Version: %d\nRocksDB Minor Version: %d\n", h.StartTime, h.MajorVersion, h.MinorVersion)
	for {
		a, err := r.ReadIOOp()
		if rocksdb.IsIncomplete(err) {
			return nil // the end
		}
		if err != nil {
			return err
		}
		printIORecord(w, &a)
	}
}

// printIORecord is upstream's IOTraceRecordParser::PrintHumanReadableIOTraceRecord.
func printIORecord(w io.Writer, a *tracereplay.IOTraceRecord) {
	fmt.Fprintf(w, "Access Time : %-20d, File Name: %-20s, File Operation: %-18s, Latency: %-10d, IO Status: %s",
		a.AccessTimestamp, a.FileName, a.FileOperation, a.Latency, a.IOStatus)
	for op, f := range [...]struct {
		name  string
		value uint64
	}{tracereplay.IOFileSize: {"File Size", a.FileSize}, tracereplay.IOLen: {"Length", a.Len}, tracereplay.IOOffset: {"Offset", a.Offset}} {
		if a.IOOpData>>op&1 != 0 {
			fmt.Fprintf(w, ", %s: %d", f.name, f.value)
		}
	}
	if a.TraceData != 0 {
		fmt.Fprintf(w, ", Request Id: %s", a.RequestID)
	}
	fmt.Fprintln(w)
}
