// Port of include/rocksdb/ldb_tool.h and tools/ldb_tool.cc. Differs: streams
// are given, and the exit code is returned.

package tools

import (
	"bufio"
	"fmt"
	"io"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// SliceFormatter turns a key into text for people.
type SliceFormatter interface {
	Format(key []byte) string
}

// LDBOptions adapt the tool to a program.
type LDBOptions struct {
	// KeyFormatter prints keys where a command prints keys alone and not in
	// hexadecimal; nil (default) prints their bytes.
	KeyFormatter SliceFormatter
	// PrintHelpHeader is the first line of the help.
	PrintHelpHeader string
}

// DefaultLDBOptions gives the defaults.
func DefaultLDBOptions() LDBOptions { return LDBOptions{PrintHelpHeader: "ldb - RocksDB Tool"} }

// LDBTool runs ldb's command lines.
type LDBTool struct {
	Options    rocksdb.Options // base of what databases are opened with
	LDBOptions LDBOptions
	// ColumnFamilies, when not empty, are what databases are opened with,
	// instead of what their OPTIONS file or MANIFEST names.
	ColumnFamilies []rocksdb.ColumnFamilyDescriptor

	Stdin          io.Reader
	Stdout, Stderr io.Writer
}

// Run runs one command line, without the program's name, and returns the exit
// code: 0, or 1 after a failure, which was told to Stderr.
func (t *LDBTool) Run(args []string) int {
	if len(args) == 0 {
		t.printHelp(t.Stderr)
		return 1
	}
	if len(args) == 1 {
		switch args[0] {
		case "--version":
			fmt.Fprintf(t.Stdout, "ldb from RocksDB %s\n", rocksdb.GetRocksVersionAsString(true))
			return 0
		case "--help":
			t.printHelp(t.Stdout)
			return 0
		}
		t.printHelp(t.Stderr)
		return 1
	}
	out := bufio.NewWriterSize(t.Stdout, 64<<10)
	c := newLDBCommand(args, t, out)
	if c == nil {
		fmt.Fprintln(t.Stderr, "Unknown command")
		t.printHelp(t.Stderr)
		return 1
	}
	if !c.validateCmdLineOptions() {
		return 1
	}
	c.run()
	err := out.Flush()
	if c.state == execFailed {
		fmt.Fprintln(t.Stderr, "Failed: "+c.message)
		return 1
	}
	if c.message != "" {
		fmt.Fprintln(t.Stderr, c.message)
	}
	if err != nil {
		fmt.Fprintf(t.Stderr, "Failed: %v\n", err)
		return 1
	}
	return 0
}
