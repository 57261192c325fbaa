// Port of tools/sst_dump.cc. Differs: the dumper is not built yet; each command
// is refused by name.

package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

var commands = []string{"check", "scan", "raw", "verify", "recompress", "identify"}

// run gives the exit code. Without --command upstream checks the files.
func run(args []string, stdout, stderr io.Writer) int {
	command := "check"
	for _, a := range args {
		if c, ok := strings.CutPrefix(a, "--command="); ok {
			command = c
		}
		if a == "--version" {
			fmt.Fprintf(stdout, "sst_dump from RocksDB %s\n", rocksdb.GetRocksVersionAsString(true))
			return 0
		}
	}
	if !slices.Contains(commands, command) {
		fmt.Fprintf(stderr, "sst_dump: unknown command '%s'\n", command)
		return 1
	}
	fmt.Fprintf(stderr, "sst_dump: %v\n", rocksdb.NotSupported("--command="+command))
	return 1
}
