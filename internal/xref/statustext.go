// No upstream twin: the status as text.

package xref

import (
	"fmt"
	"strings"
)

// Text writes the status of directories, or of files where one directory or file
// was asked for. The last line is the total.
func (s *Status) Text(byFile bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-44s %6s %6s %6s %11s   %8s %5s %6s %7s\n", "RocksDB "+s.Version, "ported", "partly", "not", "names", "mirrored", "n/a", "later", "missing")
	row := func(name string, ported, partly, not int, names Count, t Tests) {
		fmt.Fprintf(&b, "%-44s %6d %6d %6d %5d/%-5d   %8d %5d %6d %7d\n", name, ported, partly, not, names.Have, names.All, t.Mirrored, t.NotApplicable, t.Later, t.Missing)
	}
	if byFile {
		for _, f := range s.Files {
			n := map[string]int{f.State: 1}
			row(f.Path, n[StatePorted], n[StatePartly], n[StateNot], f.Names, f.Tests)
			if len(f.Go) > 0 {
				fmt.Fprintf(&b, "    in %s\n", strings.Join(f.Go, ", "))
			}
			if len(s.Files) == 1 {
				for _, n := range f.Unplaced {
					fmt.Fprintf(&b, "    not here by name: %s\n", n)
				}
			}
		}
	} else {
		for _, d := range s.Dirs {
			row(d.Dir, d.Ported, d.Partly, d.Not, d.Names, d.Tests)
		}
	}
	for _, kind := range StatusKinds {
		if c, ok := s.Facts[kind]; ok {
			fmt.Fprintf(&b, "%-44s %d of %d", kind, c.Have, c.All)
			if m := s.Missing[kind]; len(m) > 0 && byFile {
				fmt.Fprintf(&b, "; not: %s", strings.Join(m, " "))
			}
			b.WriteByte('\n')
		}
	}
	b.WriteString(s.TotalLine())
	return b.String()
}

// TotalLine sums all up in one line.
func (s *Status) TotalLine() string {
	t := s.Total
	return fmt.Sprintf("total: %d files ported, %d partly, %d not; %d of %d names; tests: %d mirrored, %d not applicable, %d later, %d missing\n",
		t.Ported, t.Partly, t.Not, t.Names.Have, t.Names.All, t.Tests.Mirrored, t.Tests.NotApplicable, t.Tests.Later, t.Tests.Missing)
}

// Markdown writes the tables of docs/porting.md.
func (s *Status) Markdown() string {
	var b strings.Builder
	b.WriteString("| upstream's directory | ported | partly | not | tests mirrored | not applicable | later | missing |\n")
	b.WriteString("|---|---:|---:|---:|---:|---:|---:|---:|\n")
	for _, d := range append(append([]DirStatus{}, s.Dirs...), s.Total) {
		name := "`" + d.Dir + "`"
		if d.Dir == "total" {
			name = "**total**"
		}
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d | %d | %d | %d |\n", name, d.Ported, d.Partly, d.Not,
			d.Tests.Mirrored, d.Tests.NotApplicable, d.Tests.Later, d.Tests.Missing)
	}
	b.WriteString("\n| names that users see | here | of | not here |\n|---|---:|---:|---|\n")
	for _, kind := range StatusKinds {
		c, ok := s.Facts[kind]
		if !ok {
			continue
		}
		missing := s.Missing[kind]
		text := strings.Join(missing, ", ")
		if len(missing) > 12 {
			text = strings.Join(missing[:8], ", ") + fmt.Sprintf(" and %d more", len(missing)-8)
		}
		fmt.Fprintf(&b, "| %s | %d | %d | %s |\n", kind, c.Have, c.All, text)
	}
	return b.String()
}
