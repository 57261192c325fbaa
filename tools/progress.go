// No upstream twin: how far a long command has come.

package tools

import (
	"fmt"
	"io"
	"sync/atomic"
	"time"
)

// progressEvery is how often a terminal's line is renewed.
const progressEvery = 500 * time.Millisecond

// progress shows on a terminal, in one line that is renewed, what a long command
// is doing; elsewhere it shows nothing. A nil progress does nothing, and all
// methods but stop are cheap.
type progress struct {
	w     io.Writer
	what  string
	unit  string // "" where nothing is counted
	start time.Time
	count atomic.Int64
	quit  chan struct{}
	done  chan struct{}
}

// startProgress begins to show what is done. The caller calls stop.
func startProgress(w io.Writer, what, unit string) *progress {
	if !isTerminal(w) {
		return nil
	}
	return newProgress(w, what, unit, progressEvery)
}

func newProgress(w io.Writer, what, unit string, every time.Duration) *progress {
	p := &progress{w: w, what: what, unit: unit, start: time.Now(), quit: make(chan struct{}), done: make(chan struct{})}
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

func (p *progress) show() {
	counted := ""
	if p.unit != "" {
		counted = fmt.Sprintf(" %d %s,", p.count.Load(), p.unit)
	}
	// Nobody is left to tell of an error.
	_, _ = fmt.Fprintf(p.w, "\r\x1b[K%s:%s %d s", p.what, counted, int(time.Since(p.start).Seconds()))
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
