// No upstream twin: "upstream where" and "upstream facts".

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/rocksdb-go/rocksdb/internal/xref"
)

// maxShown limits the names printed for one query.
const maxShown = 40

func where(a *app, args []string) error {
	if len(args) == 0 {
		return usageError("a name is missing")
	}
	r, err := a.load()
	if err != nil {
		return err
	}
	// "ldb dump_wal" may come as two words.
	if len(args) == 2 && xref.IsTool(args[0]) {
		args = []string{args[0] + " " + args[1]}
	}
	found := true
	var answers []xref.Answer
	for _, name := range args {
		ans := r.Where(name)
		found = found && ans.Found()
		answers = append(answers, ans)
		if !a.json {
			a.printAnswer(&ans)
		}
	}
	if a.json {
		if err := a.printJSON(answers); err != nil {
			return err
		}
	}
	if !found {
		return errNo
	}
	return nil
}

func (a *app) printAnswer(ans *xref.Answer) {
	if len(ans.Upstream) == 0 && len(ans.Go) == 0 {
		fmt.Fprintf(a.out, "%s: no name of upstream or of this module\n", ans.Query)
		if len(ans.Nearest) > 0 {
			fmt.Fprintf(a.out, "  nearest: %s\n", strings.Join(ans.Nearest, ", "))
		}
		a.printPlacements(ans.Guess)
		return
	}
	a.printPlacements(ans.Upstream)
	a.printReverse(ans.Go)
}

func (a *app) printPlacements(list []xref.Placement) {
	for i, p := range list {
		if i == maxShown {
			fmt.Fprintf(a.out, "… and %d more\n", len(list)-i)
			break
		}
		at := fmt.Sprintf("%s:%d", p.File, p.Line)
		if p.File == p.Name {
			at = p.File
		} else {
			at += " " + p.Name
		}
		fmt.Fprintf(a.out, "%s (%s)\n", at, p.Kind)
		for j, s := range p.Spots {
			if j == 12 {
				fmt.Fprintf(a.out, "  … and %d more\n", len(p.Spots)-j)
				break
			}
			rule := ""
			if j == 0 {
				rule = "    [" + p.Rule + "]"
			}
			fmt.Fprintf(a.out, "  %s%s\n", s, rule)
		}
		if !p.Placed() {
			fmt.Fprintf(a.out, "  not here: %s\n", p.Why)
		}
	}
}

func (a *app) printReverse(list []xref.Reverse) {
	for i, g := range list {
		if i == maxShown {
			fmt.Fprintf(a.out, "… and %d more\n", len(list)-i)
			break
		}
		fmt.Fprintf(a.out, "%s\n", g.Go)
		for j, u := range g.Upstream {
			rule := ""
			if j == 0 {
				rule = "    [" + g.Rule + "]"
			}
			fmt.Fprintf(a.out, "  %s%s\n", u, rule)
		}
		if len(g.Upstream) == 0 {
			fmt.Fprintf(a.out, "  %s\n", g.Why)
		}
	}
}

// facts writes the tables from an upstream tree and says what changed.
func facts(a *app, args []string) error {
	if len(args) < 1 || len(args) > 2 {
		return usageError("want the upstream tree, and perhaps a directory for the tables")
	}
	var dir string
	if len(args) == 2 {
		dir = args[1]
	} else {
		root, err := a.moduleRoot()
		if err != nil {
			return err
		}
		dir = filepath.Join(root, xref.TablesDir)
	}
	f, err := xref.ReadTree(args[0])
	if err != nil {
		return err
	}
	old, err := xref.Load(dir)
	if err != nil && !os.IsNotExist(err) {
		fmt.Fprintf(a.err, "upstream facts: the tables there are not read (%v), and written anew\n", err)
	}
	if !a.dry {
		if err := f.Save(dir); err != nil {
			return err
		}
	}
	fmt.Fprintf(a.out, "%s: %d files, %d symbols, %d names of options, tickers, flags and the like\n", f.Version, len(f.Files), len(f.Symbols), len(f.Facts))
	if old != nil && err == nil {
		d := xref.Compare(old, f)
		fmt.Fprintf(a.out, "from %s to %s:\n%s", old.Version, f.Version, d)
	}
	return nil
}

// status prints how far the port is.
func status(a *app, args []string) error {
	if len(args) > 1 {
		return usageError("want one directory or file at most")
	}
	r, err := a.load()
	if err != nil {
		return err
	}
	under := ""
	if len(args) == 1 {
		under = strings.TrimSuffix(args[0], "/")
	}
	s := r.Status(under)
	if len(s.Files) == 0 {
		fmt.Fprintf(a.out, "upstream has no file or directory %s\n", under)
		return errNo
	}
	switch {
	case a.update:
		if under != "" {
			return usageError("--update is for the whole")
		}
		if err := r.UpdateFiles(a.root, s, a.lower); err != nil {
			return err
		}
		fmt.Fprint(a.out, s.TotalLine())
	case a.json:
		return a.printJSON(s)
	case a.markdown:
		fmt.Fprint(a.out, s.Markdown())
	default:
		fmt.Fprint(a.out, s.Text(under != ""))
	}
	return nil
}

// check prints what does not hold.
func check(a *app, args []string) error {
	if len(args) > 0 {
		return usageError("check takes no arguments")
	}
	r, err := a.load()
	if err != nil {
		return err
	}
	found := r.Check()
	files, err := r.CheckFiles(a.root, r.Status(""))
	if err != nil {
		return err
	}
	found = append(found, files...)
	for _, f := range found {
		fmt.Fprintln(a.out, f)
	}
	if len(found) > 0 {
		fmt.Fprintf(a.out, "%d findings\n", len(found))
		return errNo
	}
	return nil
}
