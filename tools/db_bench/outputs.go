// No upstream twin: standard output and error as C's stdio has them.

package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
)

// outputs are the program's two streams. Lines for standard output wait in a
// buffer, unless it is a terminal, so that the two mix in a file as upstream's
// do; flush is called where upstream calls fflush and at exit. out is used by
// one goroutine at a time; errf may be called by all.
type outputs struct {
	out    *bufio.Writer
	err    io.Writer
	direct bool
}

func newOutputs(stdout, stderr io.Writer) *outputs {
	o := &outputs{out: bufio.NewWriterSize(stdout, 4096), err: stderr}
	if f, ok := stdout.(*os.File); ok {
		st, err := f.Stat()
		o.direct = err == nil && st.Mode()&os.ModeCharDevice != 0
	}
	return o
}

// printf writes to standard output.
func (o *outputs) printf(format string, args ...any) {
	fmt.Fprintf(o.out, format, args...)
	if o.direct {
		o.flush()
	}
}

// errf writes to standard error, at once.
func (o *outputs) errf(format string, args ...any) { fmt.Fprintf(o.err, format, args...) }

// flush writes what waits; a failure to write output has nowhere to go.
func (o *outputs) flush() { _ = o.out.Flush() }
