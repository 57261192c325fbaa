// Port of tools/sst_dump.cc. Differs: --completion=bash|zsh|fish, alone, prints what the
// shell is to source.

package main

import (
	"fmt"
	"os"

	engine "github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/internal/completion"
	"github.com/rocksdb-go/rocksdb/tools"
)

func main() {
	if text, ok := completion.Asked(os.Args[1:], tools.SSTDumpCompletion()); ok {
		fmt.Print(text)
		return
	}
	engine.RegisterBuiltins()
	t := tools.SSTDumpTool{Options: engine.DefaultOptions(), Stdout: os.Stdout, Stderr: os.Stderr}
	os.Exit(t.Run(os.Args[1:]))
}
