// Port of tools/dump/rocksdb_undump.cc.

package main

import (
	"io"
	"os"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/tools/dump"
)

type flags struct {
	DBPath       string `flag:"db_path," help:"Path to the db that we will undump the file into"`
	DumpLocation string `flag:"dump_location," help:"Path to the dump file that will be loaded"`
	Compact      bool   `flag:"compact,false" help:"Compact the db after loading the dumped file"`
	DBOptions    string `flag:"db_options," help:"Options string used to open the database that will be loaded"`
}

func main() { os.Exit(run(os.Args, os.Stdout, os.Stderr)) }

// run gives the exit code; args[0] is the program's name.
func run(args []string, stdout, stderr io.Writer) int {
	var f flags
	return dump.Command(args, stdout, stderr, &f, &f.DBPath, &f.DumpLocation, &f.DBOptions, func(o *rocksdb.Options) error {
		return dump.Undump(&dump.UndumpOptions{DBPath: f.DBPath, DumpLocation: f.DumpLocation, CompactDB: f.Compact}, o)
	})
}
