// No upstream twin.

package tools

import (
	"bytes"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// TestProgress: a terminal has a line that is taken away in the end; a pipe, a
// file or a buffer has nothing.
func TestProgress(t *testing.T) {
	var out lockedBuffer
	p := newProgress(&out, "load", "keys", 0, time.Millisecond)
	p.add(3)
	for !regexp.MustCompile(`^(\r\x1b\[Kload: \d+ keys, \d+ s)*\r\x1b\[Kload: 3 keys, 0 s`).MatchString(out.String()) {
		time.Sleep(time.Millisecond)
	}
	p.stop()
	if got := out.String(); !regexp.MustCompile(`s\r\x1b\[K$`).MatchString(got) {
		t.Errorf("%q", got)
	}
	var ofTotal lockedBuffer
	p = newProgress(&ofTotal, "dump", "keys", 200, time.Millisecond)
	p.add(50)
	for !strings.Contains(ofTotal.String(), "dump: 50 of about 200 keys (25%), 0 s") {
		time.Sleep(time.Millisecond)
	}
	p.add(200) // more than was thought
	for !strings.Contains(ofTotal.String(), "dump: 250 of about 200 keys (100%), 0 s") {
		time.Sleep(time.Millisecond)
	}
	p.stop()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	f, err := os.Create(t.TempDir() + "/f")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	for _, to := range []any{w, f, null, &out} {
		if isTerminal(to) {
			t.Errorf("%T is no terminal", to)
		}
	}
	none := startProgress(&out, "x", "", 0)
	if none != nil {
		t.Error("progress without a terminal")
	}
	none.add(1)
	none.stop()
}
