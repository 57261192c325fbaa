// No upstream twin: "upstream patch" and "upstream score".

package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"

	"github.com/rocksdb-go/rocksdb/internal/xref"
)

func patch(a *app, args []string) error {
	if len(args) != 1 {
		return usageError("want a file with a diff, or - for standard input")
	}
	in := a.in
	if args[0] != "-" {
		f, err := os.Open(args[0])
		if err != nil {
			return err
		}
		defer f.Close()
		in = f
	}
	files, err := xref.ParseDiff(in)
	if err != nil {
		return fmt.Errorf("%s: %w", args[0], err)
	}
	r, err := a.load()
	if err != nil {
		return err
	}
	p := r.Patch(files)
	if a.json {
		if err := a.printJSON(p); err != nil {
			return err
		}
	} else {
		a.printPatch(r, p)
	}
	if !p.OK() {
		return errNo
	}
	return nil
}

func (a *app) printPatch(r *xref.Ref, p *xref.Patch) {
	hunks, placed := 0, 0
	for i := range p.Files {
		f := &p.Files[i]
		a.printPatchFile(f)
		for _, h := range f.Hunks {
			hunks++
			if h.OK && len(f.Go) > 0 {
				placed++
			}
		}
	}
	a.printNew(r, p.New)
	if p.OK() {
		fmt.Fprintf(a.out, "everything is placed: %d files, %d hunks\n", len(p.Files), hunks)
		return
	}
	fmt.Fprintf(a.out, "not everything is placed: %d of %d hunks; without a place:\n", placed, hunks)
	for _, f := range p.Files {
		if f.OK {
			continue
		}
		if len(f.Go) == 0 {
			fmt.Fprintf(a.out, "  %s: %s\n", f.Path, f.Note)
			continue
		}
		for _, h := range f.Hunks {
			for _, t := range h.Touches {
				if !h.OK && !t.Placed() && t.Near == nil && !t.New {
					fmt.Fprintf(a.out, "  %s:%d %s: %s\n", f.Path, h.Line, t.Name, t.Why)
				}
			}
		}
	}
}

func (a *app) printPatchFile(f *xref.PatchFile) {
	what := f.Status
	if f.From != "" {
		what += " from " + f.From
	}
	if f.Binary {
		what += ", binary"
	}
	if f.Mode != "" {
		what += ", mode " + f.Mode
	}
	fmt.Fprintf(a.out, "%s (%s, %s)\n", f.Path, f.Kind, what)
	var names []string
	for _, g := range f.Go {
		names = append(names, g.Path)
	}
	if len(names) > 0 {
		fmt.Fprintf(a.out, "  ported in %s\n", strings.Join(names, ", "))
	}
	if f.Note != "" {
		fmt.Fprintf(a.out, "  %s\n", f.Note)
	}
	if f.Differs != "" {
		fmt.Fprintf(a.out, "  differs on purpose: %s\n", f.Differs)
	}
	for _, h := range f.Hunks {
		fmt.Fprintf(a.out, "  @@ line %d %s\n", h.Line, h.Context)
		if len(h.Touches) == 0 {
			fmt.Fprintf(a.out, "     no function: the file's own lines (includes, comments)\n")
		}
		for i := range h.Touches {
			a.printTouch(&h.Touches[i])
		}
	}
}

func (a *app) printTouch(t *xref.PatchName) {
	mark := ""
	if t.New {
		mark = ", new"
	}
	fmt.Fprintf(a.out, "     %s (%s%s, %s)\n", t.Name, t.Kind, mark, t.Found)
	switch {
	case t.Placed():
		for i, s := range t.Spots {
			if i == 4 {
				fmt.Fprintf(a.out, "       … and %d more\n", len(t.Spots)-i)
				break
			}
			rule := ""
			if i == 0 {
				rule = "    [" + t.Rule + "]"
			}
			fmt.Fprintf(a.out, "       %s%s\n", s, rule)
		}
	case t.Near != nil:
		fmt.Fprintf(a.out, "       not here by name; upstream calls it from %s: %s\n", t.Near.Name, t.Near.Spots[0])
	default:
		fmt.Fprintf(a.out, "       not here: %s\n", t.Why)
	}
	if len(t.Tests) > 0 {
		shown := t.Tests[:min(len(t.Tests), 6)]
		more := ""
		if n := len(t.Tests) - len(shown); n > 0 {
			more = fmt.Sprintf(" and %d more", n)
		}
		of := "that call it"
		if t.TestsOfFile != "" {
			of = "of " + t.TestsOfFile
		}
		fmt.Fprintf(a.out, "       tests %s: %s%s\n", of, strings.Join(shown, " "), more)
	}
}

func (a *app) printNew(r *xref.Ref, names []xref.NewName) {
	kinds := map[string][]xref.NewName{}
	var order []string
	for _, n := range names {
		if kinds[n.Kind] == nil {
			order = append(order, n.Kind)
		}
		kinds[n.Kind] = append(kinds[n.Kind], n)
	}
	for _, kind := range order {
		fmt.Fprintf(a.out, "the patch adds (%s): see %s\n", kind, xref.Recipe(kind))
		for _, n := range kinds[kind] {
			if n.Known != "" {
				fmt.Fprintf(a.out, "  %s: here already: %s\n", n.Name, n.Known)
			} else {
				fmt.Fprintf(a.out, "  %s (%s)\n", n.Name, n.File)
			}
		}
	}
	skeleton := r.Skeleton(names)
	var files []string
	for f := range skeleton {
		files = append(files, f)
	}
	sort.Strings(files)
	for _, f := range files {
		fmt.Fprintf(a.out, "tests to write in %s:\n", f)
		for _, s := range skeleton[f] {
			fmt.Fprintf(a.out, "  %s\n", s)
		}
	}
}

// score places commits of an upstream clone, one hash a line on standard input.
func score(a *app, args []string) error {
	if len(args) != 1 {
		return usageError("want an upstream clone; the commits come on standard input, one a line")
	}
	r, err := a.load()
	if err != nil {
		return err
	}
	var scores xref.Scores
	in := bufio.NewScanner(a.in)
	for in.Scan() {
		commit, _, _ := strings.Cut(strings.TrimSpace(in.Text()), "\t")
		if commit == "" || commit == "commit" {
			continue
		}
		s, missed, err := scoreOne(r, args[0], commit)
		if err != nil {
			return err
		}
		if s.Hunks < a.least {
			continue
		}
		scores = append(scores, s)
		for _, m := range missed {
			fmt.Fprintf(a.err, "%s %s\n", s.Commit, m)
		}
	}
	if err := in.Err(); err != nil {
		return err
	}
	fmt.Fprint(a.out, scores.Table())
	t := scores.Total()
	fmt.Fprintf(a.err, "%d commits; in ported files %d of %d hunks placed, in partly ported ones %d of %d\n", len(scores), t.Placed, t.Hunks,
		t.PartlyPlaced, t.PartlyHunks)
	if a.update {
		return os.WriteFile(filepath.Join(a.root, xref.ScoresFile), []byte(scores.Table()), 0o644)
	}
	return nil
}

func scoreOne(r *xref.Ref, tree, commit string) (xref.Score, []string, error) {
	git := func(args ...string) ([]byte, error) {
		out, err := exec.Command("git", append([]string{"-C", tree}, args...)...).Output()
		if err != nil {
			return nil, fmt.Errorf("git %s: %w", strings.Join(args, " "), err)
		}
		return out, nil
	}
	head, err := git("log", "-1", "--format=%h\t%s", "--abbrev=10", commit)
	if err != nil {
		return xref.Score{}, nil, err
	}
	diff, err := git("show", "--format=", commit)
	if err != nil {
		return xref.Score{}, nil, err
	}
	hash, subject, _ := strings.Cut(strings.TrimSpace(string(head)), "\t")
	files, err := xref.ParseDiff(io.Reader(bytes.NewReader(diff)))
	if err != nil {
		return xref.Score{}, nil, fmt.Errorf("%s: %w", commit, err)
	}
	s, missed := r.Score(r.Patch(files))
	s.Commit, s.Subject = hash, subject
	return s, missed, nil
}
