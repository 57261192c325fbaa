// Port of tools/dump/rocksdb_dump.cc.

package main

import (
	"io"
	"os"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/tools/dump"
)

type flags struct {
	DBPath       string `flag:"db_path," help:"Path to the db that will be dumped"`
	DumpLocation string `flag:"dump_location," help:"Path to where the dump file location"`
	Anonymous    bool   `flag:"anonymous,false" help:"Remove information like db path, creation time from dumped file"`
	DBOptions    string `flag:"db_options," help:"Options string used to open the database that will be dumped"`
}

func main() { os.Exit(run(os.Args, os.Stdout, os.Stderr)) }

// run gives the exit code; args[0] is the program's name.
func run(args []string, stdout, stderr io.Writer) int {
	var f flags
	return dump.Command(args, stdout, stderr, &f, &f.DBPath, &f.DumpLocation, &f.DBOptions, func(o *rocksdb.Options) error {
		return dump.Dump(&dump.DumpOptions{DBPath: f.DBPath, DumpLocation: f.DumpLocation, Anonymous: f.Anonymous}, o)
	})
}
