// No upstream twin: reads unified diffs as git and diff write them.

package xref

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
)

// DiffFile is one file of a diff.
type DiffFile struct {
	Old, New string // paths; "" where there is none
	Renamed  bool
	Copied   bool
	Binary   bool
	Mode     string // "100644 to 100755", if it changes
	Hunks    []DiffHunk
}

// Path is the path after the change, or the one before of a deleted file.
func (f *DiffFile) Path() string {
	if f.New == "" {
		return f.Old
	}
	return f.New
}

// Status says in a word what happens to the file.
func (f *DiffFile) Status() string {
	switch {
	case f.Old == "":
		return "new"
	case f.New == "":
		return "deleted"
	case f.Renamed:
		return "renamed"
	case f.Copied:
		return "copied"
	case len(f.Hunks) == 0 && f.Mode != "" && !f.Binary:
		return "mode"
	}
	return "modified"
}

// DiffHunk is a hunk.
type DiffHunk struct {
	OldLine, OldCount, NewLine, NewCount int
	Context                              string // what follows the second @@
	Lines                                []string
}

var hunkLine = regexp.MustCompile(`^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@ ?(.*)$`)

// ErrNoDiff says that a text holds no diff.
var ErrNoDiff = errors.New("no diff in it")

// ParseDiff reads a diff: git's with its extended headers, plain unified ones,
// alone or in a mail, one after another.
func ParseDiff(r io.Reader) ([]DiffFile, error) {
	p := &diffParser{}
	in := bufio.NewReaderSize(r, 1<<16)
	for n := 1; ; n++ {
		line, err := in.ReadString('\n')
		if line != "" {
			if perr := p.line(strings.TrimRight(line, "\r\n")); perr != nil {
				return nil, fmt.Errorf("line %d: %w", n, perr)
			}
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	if p.oldLeft > 0 || p.newLeft > 0 {
		return nil, errors.New("the last hunk is cut short")
	}
	p.flush()
	if len(p.out) == 0 {
		return nil, ErrNoDiff
	}
	return p.out, nil
}

type diffParser struct {
	out              []DiffFile
	cur              *DiffFile
	fromHeader       bool // the current file began with "diff --git"
	oldLeft, newLeft int
	minus            string // of a plain diff, the --- line's path
}

func (p *diffParser) flush() {
	if p.cur != nil {
		p.out = append(p.out, *p.cur)
	}
	p.cur, p.minus = nil, ""
}

func (p *diffParser) line(s string) error {
	if p.oldLeft > 0 || p.newLeft > 0 {
		return p.body(s)
	}
	if strings.HasPrefix(s, `\ No newline`) {
		return nil
	}
	switch {
	case strings.HasPrefix(s, "diff --git "):
		p.flush()
		a, b, err := gitPaths(strings.TrimPrefix(s, "diff --git "))
		if err != nil {
			return err
		}
		p.cur, p.fromHeader = &DiffFile{Old: a, New: b}, true
		return nil
	case strings.HasPrefix(s, "diff --cc ") || strings.HasPrefix(s, "diff --combined "):
		return errors.New("a merge's combined diff is not read; give the diff against one parent")
	case strings.HasPrefix(s, "--- ") && p.cur == nil || strings.HasPrefix(s, "--- ") && !p.fromHeader:
		p.minus = s
		return nil
	case strings.HasPrefix(s, "+++ ") && p.minus != "":
		old, err := plainPath(p.minus[4:])
		if err != nil {
			return err
		}
		now, err := plainPath(s[4:])
		if err != nil {
			return err
		}
		p.flush()
		p.cur, p.fromHeader = &DiffFile{Old: old, New: now}, false
		return nil
	case strings.HasPrefix(s, "@@ ") && p.cur != nil:
		return p.hunk(s)
	}
	if p.cur != nil && p.fromHeader {
		return p.extended(s)
	}
	return nil
}

// extended reads git's lines between the first and the hunks.
func (p *diffParser) extended(s string) error {
	f := p.cur
	var err error
	switch {
	case strings.HasPrefix(s, "new file mode "):
		f.Old = ""
	case strings.HasPrefix(s, "deleted file mode "):
		f.New = ""
	case strings.HasPrefix(s, "old mode "):
		f.Mode = strings.TrimPrefix(s, "old mode ")
	case strings.HasPrefix(s, "new mode "):
		f.Mode += " to " + strings.TrimPrefix(s, "new mode ")
	case strings.HasPrefix(s, "rename from "):
		f.Renamed = true
		f.Old, err = unquote(strings.TrimPrefix(s, "rename from "))
	case strings.HasPrefix(s, "rename to "):
		f.New, err = unquote(strings.TrimPrefix(s, "rename to "))
	case strings.HasPrefix(s, "copy from "):
		f.Copied = true
		f.Old, err = unquote(strings.TrimPrefix(s, "copy from "))
	case strings.HasPrefix(s, "copy to "):
		f.New, err = unquote(strings.TrimPrefix(s, "copy to "))
	case strings.HasPrefix(s, "Binary files ") || s == "GIT binary patch":
		f.Binary = true
	}
	return err
}

func (p *diffParser) hunk(s string) error {
	m := hunkLine.FindStringSubmatch(s)
	if m == nil {
		return fmt.Errorf("%q is no hunk's line", s)
	}
	var n [4]int
	for i := range n {
		if m[i+1] == "" {
			n[i] = 1
			continue
		}
		v, err := strconv.Atoi(m[i+1])
		if err != nil {
			return fmt.Errorf("%q: %w", s, err)
		}
		n[i] = v
	}
	p.cur.Hunks = append(p.cur.Hunks, DiffHunk{n[0], n[1], n[2], n[3], m[5], nil})
	p.oldLeft, p.newLeft = n[1], n[3]
	return nil
}

func (p *diffParser) body(s string) error {
	h := &p.cur.Hunks[len(p.cur.Hunks)-1]
	kind := byte(' ')
	if s != "" { // mailers strip the blank of an empty line
		kind = s[0]
	}
	switch kind {
	case ' ', '\t':
		p.oldLeft--
		p.newLeft--
	case '-':
		p.oldLeft--
	case '+':
		p.newLeft--
	case '\\':
		return nil
	default:
		return fmt.Errorf("%q within a hunk that has %d old and %d new lines left", s, p.oldLeft, p.newLeft)
	}
	if p.oldLeft < 0 || p.newLeft < 0 {
		return errors.New("the hunk has more lines than its head says")
	}
	if s == "" {
		s = " "
	}
	h.Lines = append(h.Lines, s)
	return nil
}

// gitPaths takes apart "a/x b/y".
func gitPaths(s string) (a, b string, err error) {
	if strings.HasPrefix(s, `"`) || strings.HasSuffix(s, `"`) {
		parts := splitQuoted(s)
		if len(parts) != 2 {
			return "", "", fmt.Errorf("%q does not name two files", s)
		}
		if a, err = unquote(parts[0]); err != nil {
			return "", "", err
		}
		if b, err = unquote(parts[1]); err != nil {
			return "", "", err
		}
		return cutPrefix(a), cutPrefix(b), nil
	}
	// Where the paths have blanks, they are the same: halve the text.
	if parts := strings.Split(s, " "); len(parts) == 2 {
		return cutPrefix(parts[0]), cutPrefix(parts[1]), nil
	}
	for i := strings.Index(s, " b/"); i >= 0 && i < len(s); {
		a, b := s[:i], s[i+1:]
		if cutPrefix(a) == cutPrefix(b) {
			return cutPrefix(a), cutPrefix(b), nil
		}
		next := strings.Index(s[i+1:], " b/")
		if next < 0 {
			return cutPrefix(a), cutPrefix(b), nil // a rename; its own lines say more
		}
		i += 1 + next
	}
	return "", "", fmt.Errorf("%q does not name two files", s)
}

func splitQuoted(s string) []string {
	var out []string
	for s = strings.TrimSpace(s); s != ""; s = strings.TrimSpace(s) {
		end := strings.IndexByte(s, ' ')
		if s[0] == '"' {
			end = 1
			for end < len(s) && s[end] != '"' {
				if s[end] == '\\' {
					end++
				}
				end++
			}
			end++
		}
		if end < 0 || end > len(s) {
			end = len(s)
		}
		out = append(out, s[:end])
		s = s[end:]
	}
	return out
}

// unquote undoes git's quoting of paths.
func unquote(s string) (string, error) {
	if !strings.HasPrefix(s, `"`) {
		return s, nil
	}
	out, err := strconv.Unquote(s)
	if err != nil {
		return "", fmt.Errorf("path %s: %w", s, err)
	}
	return out, nil
}

func cutPrefix(s string) string {
	for _, p := range []string{"a/", "b/", "i/", "w/", "c/", "o/"} {
		if rest, ok := strings.CutPrefix(s, p); ok {
			return rest
		}
	}
	return s
}

// plainPath takes the path of a --- or +++ line: a tab and a time may follow.
func plainPath(s string) (string, error) {
	s, _, _ = strings.Cut(s, "\t")
	s = strings.TrimSpace(s)
	if s == "/dev/null" {
		return "", nil
	}
	s, err := unquote(s)
	return cutPrefix(s), err
}
