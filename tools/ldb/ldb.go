// Port of tools/ldb.cc.

package main

import (
	"os"

	engine "github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/tools"
)

func main() {
	engine.RegisterBuiltins()
	t := tools.LDBTool{Options: engine.DefaultOptions(), LDBOptions: tools.DefaultLDBOptions(),
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr}
	os.Exit(t.Run(os.Args[1:]))
}
