// Port of tools/db_crashtest.py (main and its arguments). Differs: a failure
// keeps the files as they were before the failing run, and --rerun runs it
// again.

package main

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

const usage = `db_crashtest runs db_stress and kills it, again and again, and lets the next run verify what the killed one left.

USAGE:
  db_crashtest {blackbox|whitebox} [--simple] [--cf_consistency] [--test_best_efforts_recovery] [--enable_ts] [--duration=SECONDS]
               [--interval=SECONDS] [--random_kill_odd=N] [--initial_random_seed_override=N]
               [--per_iteration_random_seed_override=N] [--stress_cmd=PROGRAM] [--overrun=SECONDS] [--flag_of_db_stress=VALUE ...]
  db_crashtest --rerun=DIRECTORY
`

func main() {
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// run gives the exit code: 2 after a failed run of db_stress.
func run(args []string, stdout, stderr io.Writer) int {
	o, err := parseArgs(args)
	if err != nil {
		fmt.Fprintf(stderr, "db_crashtest: %v\n%s", err, usage)
		return 1
	}
	if o == nil {
		fmt.Fprint(stdout, usage)
		return 0
	}
	if dir := o.own["rerun"]; dir != "" {
		return rerun(dir, stdout, stderr)
	}
	if dir := os.Getenv("TEST_TMPDIR"); dir != "" {
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			fmt.Fprintf(stdout, "ERROR: TEST_TMPDIR env var is set to a non-existent directory: %s. Update it to correct directory path.\n", dir)
			return 1
		}
	}
	fmt.Fprintf(stdout, "Start with random seed %d\n", o.initialSeed)
	s, err := newSession(o, stdout)
	if err == nil {
		err = s.test()
	}
	var failed *failure
	switch {
	case errors.As(err, &failed):
		s.tellFailure(failed)
		return failed.code
	case err != nil:
		fmt.Fprintf(stderr, "db_crashtest: %v\n", err)
		return 1
	}
	return 0
}

// parseArgs reads the command line; nil asks for help.
func parseArgs(args []string) (*options, error) {
	o := &options{switches: make(map[string]bool), own: make(map[string]string), given: make(params), initialSeed: rand.Uint64()}
	known := params{"compaction_style": 0, "num_levels": 7} // in no table, but in rules
	for _, t := range newTables(newRandom(0)) {
		for name, v := range t {
			if d, ok := v.(draw); ok {
				v = d()
			}
			if _, text := known[name].(string); !text {
				known[name] = v
			}
		}
	}
	for len(args) > 0 {
		arg := args[0]
		args = args[1:]
		if !strings.HasPrefix(arg, "-") {
			if o.testType != "" {
				return nil, fmt.Errorf("what is %q?", arg)
			}
			o.testType = arg
			continue
		}
		name, value, hasValue := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(arg, "-"), "-"), "=")
		if name == "help" || name == "h" {
			return nil, nil
		}
		if slices.Contains(switchNames, name) {
			on := true
			if hasValue {
				var err error
				if on, err = strconv.ParseBool(value); err != nil {
					return nil, err
				}
			}
			o.switches[name] = on
			continue
		}
		like, isParam := known[name]
		isOwn := slices.Contains(ownFlags, name) || strings.HasSuffix(name, "_random_seed_override")
		if !isParam && !isOwn {
			o.passedOn = append(o.passedOn, arg)
			continue
		}
		if !hasValue {
			if len(args) == 0 {
				return nil, fmt.Errorf("--%s: expected one argument", name)
			}
			value, args = args[0], args[1:]
		}
		var err error
		switch {
		case name == "initial_random_seed_override":
			if value != "0" {
				o.initialSeed, err = strconv.ParseUint(value, 10, 64)
			}
		case name == "per_iteration_random_seed_override":
			o.runSeed, err = strconv.ParseUint(value, 10, 64)
		case isOwn:
			o.own[name] = value
		default:
			o.given[name], err = parseAs(like, value)
		}
		if err != nil {
			return nil, fmt.Errorf("--%s: %w", name, err)
		}
	}
	if o.testType != "blackbox" && o.testType != "whitebox" && o.own["rerun"] == "" {
		return nil, errors.New("blackbox or whitebox?")
	}
	return o, nil
}

// parseAs reads a value of like's type.
func parseAs(like any, text string) (any, error) {
	switch like.(type) {
	case string:
		return text, nil
	case bool:
		on, err := strconv.ParseBool(text)
		return on, err
	}
	if n, err := strconv.Atoi(text); err == nil {
		return n, nil
	}
	f, err := strconv.ParseFloat(text, 64)
	return f, err
}

// onTermination calls f when the process is told to end.
func onTermination(f func()) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGTERM, syscall.SIGINT)
	go func() {
		<-c
		f()
		os.Exit(1)
	}()
}
