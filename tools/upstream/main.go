// No upstream twin: the cross-reference's command line.

package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/rocksdb-go/rocksdb/internal/xref"
)

// Exit codes: 0 found and true, 1 not found or not true, 2 wrong use or an
// error of reading.
const (
	exitOK    = 0
	exitNo    = 1
	exitUsage = 2
)

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

// command is one of the program's commands.
type command struct {
	args, help string
	flags      func(*app, *flag.FlagSet)
	run        func(*app, []string) error
}

// app is one run.
type app struct {
	in       io.Reader
	out, err io.Writer
	root     string
	json     bool
	markdown bool
	dry      bool
	update   bool
	lower    bool
	least    int
	ref      *xref.Ref
}

// errNo says that the answer is no; it has been printed.
var errNo = errors.New("no")

type usageError string

func (e usageError) Error() string { return string(e) }

func run(args []string, in io.Reader, out, errw io.Writer) int {
	return (&app{in: in, out: out, err: errw}).run(args)
}

func (a *app) run(args []string) int {
	out, errw := a.out, a.err
	if len(args) == 0 {
		usage(errw)
		return exitUsage
	}
	if args[0] == "help" || args[0] == "-h" || args[0] == "--help" {
		usage(out)
		return exitOK
	}
	c, ok := commands()[args[0]]
	if !ok {
		fmt.Fprintf(errw, "upstream: unknown command %q\n", args[0])
		usage(errw)
		return exitUsage
	}
	fs := flag.NewFlagSet("upstream "+args[0], flag.ContinueOnError)
	fs.SetOutput(errw)
	fs.StringVar(&a.root, "root", "", "directory of the module (default: found from the current one)")
	if c.flags != nil {
		c.flags(a, fs)
	}
	rest, err := parseMixed(fs, args[1:])
	if err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return exitOK
		}
		return exitUsage
	}
	switch err := c.run(a, rest); {
	case err == nil:
		return exitOK
	case errors.Is(err, errNo):
		return exitNo
	default:
		fmt.Fprintf(errw, "upstream %s: %v\n", args[0], err)
		return exitUsage
	}
}

// parseMixed lets flags stand after arguments, too.
func parseMixed(fs *flag.FlagSet, args []string) ([]string, error) {
	var rest []string
	for {
		if err := fs.Parse(args); err != nil {
			return nil, err
		}
		args = fs.Args()
		if len(args) == 0 {
			return rest, nil
		}
		rest = append(rest, args[0])
		args = args[1:]
	}
}

func usage(w io.Writer) {
	fmt.Fprint(w, "usage: upstream COMMAND [flags] [arguments]\n\n")
	for _, name := range commandNames {
		c := commands()[name]
		fmt.Fprintf(w, "  %-32s %s\n", name+" "+c.args, c.help)
	}
	fmt.Fprint(w, "\nExit status: 0 found, placed or true; 1 not; 2 wrong use.\n")
}

// moduleRoot finds the directory with go.mod and porting/ above the current
// one.
func (a *app) moduleRoot() (string, error) {
	if a.root != "" {
		return a.root, nil
	}
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		_, err1 := os.Stat(filepath.Join(dir, "go.mod"))
		_, err2 := os.Stat(filepath.Join(dir, "porting"))
		if err1 == nil && err2 == nil {
			a.root = dir
			return dir, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", errors.New("not within the module: no go.mod with porting/ above the current directory; use --root")
		}
		dir = up
	}
}

// load reads both sides.
func (a *app) load() (*xref.Ref, error) {
	root, err := a.moduleRoot()
	if err != nil {
		return nil, err
	}
	if a.ref == nil {
		a.ref, err = xref.Open(root)
	}
	return a.ref, err
}

func (a *app) printJSON(v any) error {
	e := json.NewEncoder(a.out)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

var commandNames = []string{"where", "status", "patch", "check", "facts", "score", "completion"}

func jsonFlag(a *app, fs *flag.FlagSet) { fs.BoolVar(&a.json, "json", false, "print JSON") }

func commands() map[string]command {
	return map[string]command{
		"where": {"NAME…", "where a name of upstream is here, or a Go name upstream", jsonFlag, where},
		"status": {"[DIR|FILE]", "how far the port is: source, tests, options, tickers, flags, commands", func(a *app, fs *flag.FlagSet) {
			jsonFlag(a, fs)
			fs.BoolVar(&a.markdown, "markdown", false, "print the tables of docs/porting.md")
			fs.BoolVar(&a.update, "update", false, "write them, and the counts of porting/counts.tsv")
			fs.BoolVar(&a.lower, "lower", false, "with --update: counts may go down")
		}, status},
		"patch": {"FILE|-", "what a diff of upstream touches here, hunk by hunk", jsonFlag, patch},
		"score": {"TREE", "place the commits named on standard input, of an upstream clone", func(a *app, fs *flag.FlagSet) {
			fs.BoolVar(&a.update, "update", false, "write porting/scores.tsv")
			fs.IntVar(&a.least, "least", 0, "only commits with that many hunks in files marked ported")
		}, score},
		"completion": {"SHELL", "what bash, zsh or fish is to source", nil, complete},
		"check":      {"", "what must hold: headers, test names, ledger, assertions, counts, docs", nil, check},
		"facts": {"TREE [DIR]", "write the tables of porting/upstream (or DIR) from an upstream tree, and say what is new", func(a *app, fs *flag.FlagSet) {
			fs.BoolVar(&a.dry, "n", false, "write nothing, only say what is new and what is gone")
		}, facts},
	}
}
