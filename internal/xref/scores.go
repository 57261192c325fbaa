// No upstream twin: how well patches of upstream are placed.

package xref

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Score is how one commit of upstream was placed.
type Score struct {
	Commit  string
	Subject string
	// Hunks are those in ported files; Placed those of them for which a Go
	// function was named.
	Hunks, Placed int
}

// Scores is a list of them.
type Scores []Score

// ReadScores reads the table; none is no error.
func ReadScores(path string) (Scores, error) {
	data, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out Scores
	for i, line := range strings.Split(strings.TrimSuffix(string(data), "\n"), "\n") {
		if i == 0 {
			continue
		}
		c := strings.Split(line, "\t")
		if len(c) != 4 {
			return nil, fmt.Errorf("%s:%d: %d columns", path, i+1, len(c))
		}
		hunks, err1 := strconv.Atoi(c[1])
		placed, err2 := strconv.Atoi(c[2])
		if err1 != nil || err2 != nil {
			return nil, fmt.Errorf("%s:%d: want numbers", path, i+1)
		}
		out = append(out, Score{c[0], c[3], hunks, placed})
	}
	return out, nil
}

// Table writes the scores as a table.
func (s Scores) Table() string {
	var b strings.Builder
	b.WriteString("commit\thunks\tplaced\tsubject\n")
	for _, x := range s {
		fmt.Fprintf(&b, "%s\t%d\t%d\t%s\n", x.Commit, x.Hunks, x.Placed, x.Subject)
	}
	return b.String()
}

// Total sums the hunks.
func (s Scores) Total() (hunks, placed int) {
	for _, x := range s {
		hunks += x.Hunks
		placed += x.Placed
	}
	return hunks, placed
}

// Markdown writes them for the docs.
func (s Scores) Markdown() string {
	var b strings.Builder
	b.WriteString("| commit | subject | hunks in ported files | placed |\n|---|---|---:|---:|\n")
	for _, x := range s {
		fmt.Fprintf(&b, "| %s | %s | %d | %d |\n", x.Commit, strings.ReplaceAll(x.Subject, "|", "\\|"), x.Hunks, x.Placed)
	}
	hunks, placed := s.Total()
	percent := 0.0
	if hunks > 0 {
		percent = 100 * float64(placed) / float64(hunks)
	}
	fmt.Fprintf(&b, "| **total** | %d commits | %d | %d (%.1f%%) |\n", len(s), hunks, placed, percent)
	return b.String()
}

// Score counts the hunks of ported source files that touch a class or function
// which is not new: how many there are, and for how many a place is named.
func (p *Patch) Score() (Score, []string) {
	var s Score
	var missed []string
	for _, f := range p.Files {
		if len(f.Go) == 0 || !sourceFile(f.Kind) {
			continue
		}
		for _, h := range f.Hunks {
			old := 0
			for _, t := range h.Touches {
				if !t.New {
					old++
				}
			}
			if old == 0 {
				continue
			}
			s.Hunks++
			if h.OK {
				s.Placed++
				continue
			}
			for _, t := range h.Touches {
				if !t.Placed() && t.Near == nil && !t.New {
					missed = append(missed, f.Path+":"+itoa(int64(h.Line))+" "+t.Name+": "+t.Why)
				}
			}
		}
	}
	return s, missed
}
