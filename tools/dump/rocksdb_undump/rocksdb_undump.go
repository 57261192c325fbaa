// Port of tools/dump/rocksdb_undump.cc.

package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	engine "github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/internal/gflags"
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
	set, err := gflags.New(args[0], &f)
	if err == nil {
		_, err = set.Parse(args[1:])
	}
	if exit := (*gflags.Exit)(nil); errors.As(err, &exit) {
		if exit.ToStderr {
			stdout = stderr
		}
		fmt.Fprint(stdout, exit.Output)
		return exit.Code
	} else if err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	if f.DBPath == "" || f.DumpLocation == "" {
		fmt.Fprintln(stderr, "Please set --db_path and --dump_location")
		return 1
	}
	engine.RegisterBuiltins()
	o := engine.DefaultOptions()
	if f.DBOptions != "" {
		if o, err = engine.GetOptionsFromString(nil, o, f.DBOptions); err != nil {
			fmt.Fprintln(stderr, "Cannot parse provided db_options")
			return 1
		}
	}
	if err := dump.Undump(&dump.UndumpOptions{DBPath: f.DBPath, DumpLocation: f.DumpLocation, CompactDB: f.Compact}, &o); err != nil {
		text := err.Error()
		fmt.Fprintln(stderr, strings.ToUpper(text[:1])+text[1:])
		return 1
	}
	return 0
}
