// Port of db_stress_tool/db_stress.cc and of the reading of its command line.
// Differs: a flag of a feature that is not built is refused by name.

package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"sync/atomic"
	"syscall"

	dbstresstool "github.com/rocksdb-go/rocksdb/db_stress_tool"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/internal/gflags"
)

// tool is the running test.
var tool atomic.Pointer[dbstresstool.Tool]

func main() {
	handleTermination()
	os.Exit(run(os.Args, os.Stdout, os.Stderr))
}

// handleTermination tells of a signal that ends the process, as who runs the
// test expects, and lets it end it.
func handleTermination() {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGTERM, syscall.SIGINT)
	go func() {
		sig := (<-c).(syscall.Signal)
		name := map[syscall.Signal]string{syscall.SIGTERM: "Terminated", syscall.SIGINT: "Interrupt"}[sig]
		fmt.Fprintf(os.Stdout, "Received signal %d (%s)\n", int(sig), name)
		if t := tool.Load(); t != nil {
			fmt.Fprint(os.Stdout, t.Progress())
		}
		signal.Reset(sig)
		_ = syscall.Kill(os.Getpid(), sig)
	}()
}

// run gives the exit code; args[0] is the program's name.
func run(args []string, stdout, stderr io.Writer) int {
	var f dbstresstool.Flags
	set, err := gflags.New(args[0], &f)
	if err != nil {
		fmt.Fprintf(stderr, "db_stress: %v\n", err)
		return 1
	}
	set.Usage = "\nUSAGE:\n" + args[0] + " [OPTIONS]..."
	set.Version = rocksdb.GetRocksVersionAsString(true)
	if _, err := set.Parse(args[1:]); err != nil {
		var exit *gflags.Exit
		if !errors.As(err, &exit) {
			fmt.Fprintf(stderr, "db_stress: %v\n", err)
			return 1
		}
		return exit.Print(stdout, stderr)
	}
	if refuseUnbuilt(set, stderr) {
		return 1
	}
	t := dbstresstool.New(&f, stdout, stderr, os.Exit)
	tool.Store(t)
	code := t.Run()
	fmt.Fprint(stdout, t.Progress())
	return code
}

// refuseUnbuilt tells whether the command line switches on what is not built.
func refuseUnbuilt(set *gflags.Set, stderr io.Writer) (refused bool) {
	for _, flag := range set.All() {
		if !flag.HasTag("unbuilt") || !flag.Given || sameValue(flag.Value(), flag.Tag("unbuilt")) {
			continue
		}
		fmt.Fprintf(stderr, "db_stress: %v\n", rocksdb.NotSupported(fmt.Sprintf("--%s=%s is not built yet", flag.Name, flag.Value())))
		refused = true
	}
	return refused
}

func sameValue(a, b string) bool {
	x, err1 := strconv.ParseFloat(a, 64)
	y, err2 := strconv.ParseFloat(b, 64)
	return a == b || err1 == nil && err2 == nil && x == y
}
