// No upstream twin: a terminal of the kernel's.

package tools

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// openTerminal gives a terminal of some width, and what is shown on it.
func openTerminal(t *testing.T, columns uint16) (terminal, screen *os.File) {
	t.Helper()
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip("no terminals here: ", err)
	}
	t.Cleanup(func() { screen.Close() })
	fd := int(screen.Fd())
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: columns}); err != nil {
		t.Fatal(err)
	}
	terminal, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip("no terminals here: ", err)
	}
	t.Cleanup(func() { terminal.Close() })
	return terminal, screen
}

// TestProgressOnTerminal: a terminal has a line that leaves its last column free,
// and that is taken away in the end.
func TestProgressOnTerminal(t *testing.T) {
	for columns, want := range map[uint16]string{
		80: `load: 30 of about 120 bytes \(25%\), \d s`,
		20: `load: 30 of about 1`, // 19 characters
		1:  ``,
	} {
		terminal, screen := openTerminal(t, columns)
		if !isTerminal(terminal) {
			t.Fatal("no terminal")
		}
		p := startProgress(terminal, "load", "bytes", 120)
		p.add(10)
		p.set(30)
		p.show()
		p.stop()
		if _, err := terminal.WriteString("\nend\n"); err != nil {
			t.Fatal(err)
		}
		var shown strings.Builder
		buf := make([]byte, 4096)
		for !strings.Contains(shown.String(), "end") {
			n, err := screen.Read(buf)
			if err != nil {
				t.Fatal(err)
			}
			shown.Write(buf[:n])
		}
		// The line may have been renewed in between.
		if ok, _ := regexp.MatchString(`\r\x1b\[K`+want+`\r\x1b\[K\r\nend\r\n$`, shown.String()); !ok {
			t.Errorf("%d columns: %q", columns, shown.String())
		}
	}
}
