// No upstream twin: the files that are written from the status: counts and docs.

package xref

import (
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
)

// Files that UpdateFiles writes, from the module's root.
const (
	CountsFile = "porting/counts.tsv"
	ScoresFile = "porting/scores.tsv"
	DocsFile   = "docs/porting.md"
)

// Counts gives what may not go down.
func (s *Status) Counts() map[string]int {
	out := map[string]int{"tests mirrored": s.Total.Tests.Mirrored, "upstream files named by header lines": 0}
	for _, f := range s.Files {
		if len(f.Go) > 0 {
			out["upstream files named by header lines"]++
		}
	}
	for kind, c := range s.Facts {
		out[kind] = c.Have
	}
	return out
}

// readCounts reads the committed counts; none is no error.
func readCounts(root string) (map[string]int, error) {
	out := map[string]int{}
	path := filepath.Join(root, CountsFile)
	data, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return out, nil
	}
	if err != nil {
		return nil, err
	}
	for i, line := range strings.Split(strings.TrimSuffix(string(data), "\n"), "\n") {
		if i == 0 {
			continue
		}
		name, n, ok := strings.Cut(line, "\t")
		v, err := strconv.Atoi(n)
		if !ok || err != nil {
			return nil, fmt.Errorf("%s:%d: want a name and a number", path, i+1)
		}
		out[name] = v
	}
	return out, nil
}

func countsText(counts map[string]int) string {
	var names []string
	for n := range counts {
		names = append(names, n)
	}
	sort.Strings(names)
	var b strings.Builder
	b.WriteString("what\tcount\n")
	for _, n := range names {
		fmt.Fprintf(&b, "%s\t%d\n", n, counts[n])
	}
	return b.String()
}

// Marks in docs/porting.md around what is generated.
const (
	beginStatus = "<!-- tables of `upstream status --markdown`; `make porting` writes them -->\n"
	endStatus   = "<!-- end of the tables -->\n"
	beginScores = "<!-- table of porting/scores.tsv; `make porting` writes it -->\n"
	endScores   = "<!-- end of the table -->\n"
)

// between replaces what is between two marks.
func between(text, begin, end, fill string) (string, error) {
	i := strings.Index(text, begin)
	j := strings.Index(text, end)
	if i < 0 || j < i {
		return "", fmt.Errorf("%s lacks the line %q", DocsFile, strings.TrimSpace(begin))
	}
	return text[:i+len(begin)] + fill + text[j:], nil
}

// docsText gives docs/porting.md with its tables up to date.
func docsText(root string, s *Status) (was, now string, err error) {
	data, err := os.ReadFile(filepath.Join(root, DocsFile))
	if err != nil {
		return "", "", err
	}
	was = string(data)
	if now, err = between(was, beginStatus, endStatus, "\n"+s.Markdown()+"\n"); err != nil {
		return "", "", err
	}
	scores, err := ReadScores(filepath.Join(root, ScoresFile))
	if err != nil {
		return "", "", err
	}
	now, err = between(now, beginScores, endScores, "\n"+scores.Markdown()+"\n")
	return was, now, err
}

// CheckFiles finds counts that went down and docs that are out of date.
func (r *Ref) CheckFiles(root string, s *Status) ([]Finding, error) {
	c := &checker{r: r}
	old, err := readCounts(root)
	if err != nil {
		return nil, err
	}
	now := s.Counts()
	var names []string
	for n := range old {
		names = append(names, n)
	}
	sort.Strings(names)
	for _, n := range names {
		if now[n] < old[n] {
			c.add(RuleCounts, CountsFile, "%s: %d, and %d before; if that is meant, upstream status --update --lower", n, now[n], old[n])
		}
	}
	was, want, err := docsText(root, s)
	if err != nil {
		return nil, err
	}
	if was != want {
		c.add(RuleDocs, DocsFile, "is out of date: make porting")
	}
	return c.list, nil
}

// UpdateFiles writes the counts, which only rise unless lower is set, and the
// docs.
func (r *Ref) UpdateFiles(root string, s *Status, lower bool) error {
	old, err := readCounts(root)
	if err != nil {
		return err
	}
	now := s.Counts()
	for n, v := range old {
		if !lower && v > now[n] {
			now[n] = v
		}
	}
	if err := os.WriteFile(filepath.Join(root, CountsFile), []byte(countsText(now)), 0o644); err != nil {
		return err
	}
	_, text, err := docsText(root, s)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(root, DocsFile), []byte(text), 0o644)
}
