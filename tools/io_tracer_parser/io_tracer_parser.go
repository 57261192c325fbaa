// Port of tools/io_tracer_parser.cc.

package main

import (
	"os"

	"github.com/rocksdb-go/rocksdb/tools"
)

func main() { os.Exit(tools.IOTracerParser(os.Args, os.Stdout, os.Stderr)) }
