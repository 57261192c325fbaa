// No upstream twin: how far a long command has come.

package tools

import (
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"time"

	"golang.org/x/term"
)

// progressEvery is how often a terminal's line is renewed.
const progressEvery = 500 * time.Millisecond

// progress shows on a terminal, in one line that is renewed and never longer than
// the terminal is wide, what a long command is doing; elsewhere it shows nothing. A
// nil progress does nothing, and all methods but stop are cheap.
type progress struct {
	w     io.Writer
	what  string
	unit  string // "" where nothing is counted
	total uint64 // about how many there are; 0: not known
	start time.Time
	count atomic.Int64
	quit  chan struct{}
	done  chan struct{}
}

// startProgress begins to show what is done. The caller calls stop.
func startProgress(w io.Writer, what, unit string, total uint64) *progress {
	if !isTerminal(w) {
		return nil
	}
	return newProgress(w, what, unit, total, progressEvery)
}

// isTerminal tells whether f is a terminal's file.
func isTerminal(f any) bool {
	file, ok := f.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// fileSize gives the size of a plain file, 0 for what is none.
func fileSize(f any) uint64 {
	file, ok := f.(*os.File)
	if !ok {
		return 0
	}
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return 0
	}
	return uint64(info.Size())
}

func newProgress(w io.Writer, what, unit string, total uint64, every time.Duration) *progress {
	p := &progress{w: w, what: what, unit: unit, total: total, start: time.Now(), quit: make(chan struct{}), done: make(chan struct{})}
	go func() {
		defer close(p.done)
		t := time.NewTicker(every)
		defer t.Stop()
		for {
			select {
			case <-t.C:
				p.show()
			case <-p.quit:
				return
			}
		}
	}()
	return p
}

// add counts n more units.
func (p *progress) add(n int) {
	if p != nil {
		p.count.Add(int64(n))
	}
}

// set makes n the count.
func (p *progress) set(n uint64) {
	if p != nil {
		p.count.Store(int64(n))
	}
}

func (p *progress) show() {
	line := p.what + ":"
	n := p.count.Load()
	switch {
	case p.unit == "":
	case p.total > 0:
		line += fmt.Sprintf(" %d of about %d %s (%d%%),", n, p.total, p.unit, min(100, uint64(n)*100/p.total))
	default:
		line += fmt.Sprintf(" %d %s,", n, p.unit)
	}
	line += fmt.Sprintf(" %d s", int(time.Since(p.start).Seconds()))
	if file, ok := p.w.(*os.File); ok {
		// The last column stays free: what stands there may begin another line.
		if width, _, err := term.GetSize(int(file.Fd())); err == nil && width > 0 {
			line = line[:min(len(line), width-1)]
		}
	}
	// Nobody is left to tell of an error.
	_, _ = io.WriteString(p.w, "\r\x1b[K"+line)
}

// stop takes the line away.
func (p *progress) stop() {
	if p == nil {
		return
	}
	close(p.quit)
	<-p.done
	_, _ = io.WriteString(p.w, "\r\x1b[K")
}
