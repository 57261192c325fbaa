// Port of tools/sst_dump.cc.

package main

import (
	"os"

	engine "github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/tools"
)

func main() {
	engine.RegisterBuiltins()
	t := tools.SSTDumpTool{Options: engine.DefaultOptions(), Stdout: os.Stdout, Stderr: os.Stderr}
	os.Exit(t.Run(os.Args[1:]))
}
