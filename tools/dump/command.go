// Port of tools/dump/rocksdb_dump.cc and tools/dump/rocksdb_undump.cc (what the two
// commands share).

package dump

import (
	"errors"
	"fmt"
	"io"
	"strings"

	engine "github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/internal/gflags"
)

// Command runs rocksdb_dump or rocksdb_undump and gives the exit code; args[0] is
// the program's name. The command line is read into flags, which dbPath, location
// and options are fields of; then do is called with the database's options.
func Command(args []string, stdout, stderr io.Writer, flags any, dbPath, location, options *string, do func(*rocksdb.Options) error) int {
	set, err := gflags.New(args[0], flags)
	if err == nil {
		_, err = set.Parse(args[1:])
	}
	if exit := (*gflags.Exit)(nil); errors.As(err, &exit) {
		return exit.Print(stdout, stderr)
	} else if err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	if *dbPath == "" || *location == "" {
		fmt.Fprintln(stderr, "Please set --db_path and --dump_location")
		return 1
	}
	engine.RegisterBuiltins()
	o := engine.DefaultOptions()
	if *options != "" {
		if o, err = engine.GetOptionsFromString(nil, o, *options); err != nil {
			fmt.Fprintln(stderr, "Cannot parse provided db_options")
			return 1
		}
	}
	if err := do(&o); err != nil {
		text := err.Error()
		fmt.Fprintln(stderr, strings.ToUpper(text[:1])+text[1:])
		return 1
	}
	return 0
}
