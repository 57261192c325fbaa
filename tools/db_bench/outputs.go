// No upstream twin: standard output and error as C's stdio has them.

package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"sync"
)

// outputs are the program's two streams; workers use them concurrently. Lines
// for standard output wait in a buffer, unless it is a terminal, so that the two
// mix in a file as upstream's do; flush is called where upstream calls fflush
// and at exit.
type outputs struct {
	mu     sync.Mutex // held while either stream is written
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

// Write writes to standard output.
func (o *outputs) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	n, err := o.out.Write(p)
	if err == nil && o.direct {
		err = o.out.Flush()
	}
	return n, err
}

// printf writes to standard output.
func (o *outputs) printf(format string, args ...any) { fmt.Fprintf(o, format, args...) }

// errf writes to standard error, at once.
func (o *outputs) errf(format string, args ...any) {
	o.mu.Lock()
	defer o.mu.Unlock()
	fmt.Fprintf(o.err, format, args...)
}

// flush writes what waits; a failure to write output has nowhere to go.
func (o *outputs) flush() {
	o.mu.Lock()
	defer o.mu.Unlock()
	_ = o.out.Flush()
}
