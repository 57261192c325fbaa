// Port of db_stress_tool/db_stress.cc. Differs: the stress test is not built
// yet; the command refuses by name.

package main

import (
	"fmt"
	"io"
	"os"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

func main() { os.Exit(run(os.Args[1:], os.Stderr)) }

// run gives the exit code.
func run(_ []string, stderr io.Writer) int {
	fmt.Fprintf(stderr, "db_stress: %v\n", rocksdb.NotSupported("db_stress"))
	return 1
}
