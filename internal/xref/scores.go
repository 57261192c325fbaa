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
	// Hunks are those in files marked ported; Placed those of them for which a Go
	// function was named.
	Hunks, Placed int
	// PartlyHunks and PartlyPlaced are the same in files marked partly ported.
	PartlyHunks, PartlyPlaced int
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
		if len(c) != 6 {
			return nil, fmt.Errorf("%s:%d: %d columns", path, i+1, len(c))
		}
		var n [4]int
		for k := range n {
			if n[k], err = strconv.Atoi(c[k+1]); err != nil {
				return nil, fmt.Errorf("%s:%d: %w", path, i+1, err)
			}
		}
		out = append(out, Score{c[0], c[5], n[0], n[1], n[2], n[3]})
	}
	return out, nil
}

// Table writes the scores as a table.
func (s Scores) Table() string {
	var b strings.Builder
	b.WriteString("commit\thunks\tplaced\tpartly\tplaced\tsubject\n")
	for _, x := range s {
		fmt.Fprintf(&b, "%s\t%d\t%d\t%d\t%d\t%s\n", x.Commit, x.Hunks, x.Placed, x.PartlyHunks, x.PartlyPlaced, x.Subject)
	}
	return b.String()
}

// Total sums the hunks.
func (s Scores) Total() (t Score) {
	for _, x := range s {
		t.Hunks += x.Hunks
		t.Placed += x.Placed
		t.PartlyHunks += x.PartlyHunks
		t.PartlyPlaced += x.PartlyPlaced
	}
	return t
}

// Markdown writes them for the docs.
func (s Scores) Markdown() string {
	var b strings.Builder
	b.WriteString("| commit | subject | in ported files | in partly ported files |\n|---|---|---:|---:|\n")
	for _, x := range s {
		fmt.Fprintf(&b, "| %s | %s | %d of %d | %d of %d |\n", x.Commit, strings.ReplaceAll(x.Subject, "|", "\\|"), x.Placed, x.Hunks, x.PartlyPlaced, x.PartlyHunks)
	}
	t := s.Total()
	fmt.Fprintf(&b, "| **total** | %d commits | %d of %d (%s) | %d of %d (%s) |\n", len(s), t.Placed, t.Hunks, percent(t.Placed, t.Hunks),
		t.PartlyPlaced, t.PartlyHunks, percent(t.PartlyPlaced, t.PartlyHunks))
	return b.String()
}

func percent(n, of int) string {
	if of == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f%%", 100*float64(n)/float64(of))
}

// Score counts the hunks of ported source files that touch a class or function
// which is not new: how many there are, and for how many a place is named.
func (r *Ref) Score(p *Patch) (Score, []string) {
	var s Score
	var missed []string
	for _, f := range p.Files {
		if len(f.Go) == 0 || !sourceFile(f.Kind) {
			continue
		}
		hunks, placed := &s.PartlyHunks, &s.PartlyPlaced
		if r.state(f.Path) == StatePorted {
			hunks, placed = &s.Hunks, &s.Placed
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
			*hunks++
			if h.OK {
				*placed++
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

// state gives the state of a file, worked out once.
func (r *Ref) state(file string) string {
	s, ok := r.states[file]
	if !ok {
		if i, have := r.Up.fileAt[file]; have {
			s = r.FileStatus(r.Up.Files[i]).State
		}
		r.states[file] = s
	}
	return s
}
