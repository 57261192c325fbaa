// No upstream twin: what the tools tell shells about themselves.

package tools

import (
	"slices"
	"strings"

	"github.com/rocksdb-go/rocksdb/internal/completion"
)

// LDBCompletion gives ldb's commands and their options.
func LDBCompletion() completion.Program {
	p := completion.Program{Name: "ldb", Flags: []string{"db", "path", "help", "version"}}
	for _, d := range commandDefs() {
		c := completion.Command{Name: d.name, Flags: slices.Clone(d.options)}
		if !d.onlyOptions {
			c.Flags = append(c.Flags, commonOptions...)
		}
		p.Commands = append(p.Commands, c)
	}
	return p
}

// SSTDumpCompletion gives sst_dump's flags.
func SSTDumpCompletion() completion.Program {
	p := completion.Program{Name: "sst_dump", Flags: []string{"help", "version", "parse_internal_key"}}
	for _, name := range sstDumpFlags {
		p.Flags = append(p.Flags, strings.TrimPrefix(name, "--"))
	}
	p.Flags = append(p.Flags, sstDumpOptions...)
	return p
}
