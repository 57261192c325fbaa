// No upstream twin: "upstream completion".

package main

import (
	"flag"
	"fmt"
	"io"

	"github.com/rocksdb-go/rocksdb/internal/completion"
)

// program gives the table of commands with their flags.
func program() completion.Program {
	p := completion.Program{Name: "upstream", Flags: []string{"root"}, Dash: "--"}
	for _, name := range commandNames {
		c := commands()[name]
		fs := flag.NewFlagSet(name, flag.ContinueOnError)
		fs.SetOutput(io.Discard)
		if c.flags != nil {
			c.flags(&app{}, fs)
		}
		x := completion.Command{Name: name, Help: c.help}
		fs.VisitAll(func(f *flag.Flag) { x.Flags = append(x.Flags, f.Name) })
		p.Commands = append(p.Commands, x)
	}
	return p
}

func complete(a *app, args []string) error {
	if len(args) != 1 {
		return usageError("want a shell: bash, zsh or fish")
	}
	text, err := completion.Script(args[0], program())
	if err != nil {
		return usageError(err.Error())
	}
	fmt.Fprint(a.out, text)
	return nil
}
