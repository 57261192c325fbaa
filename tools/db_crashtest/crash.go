// Port of tools/db_crashtest.py (execute_cmd, blackbox_crash_main,
// whitebox_crash_main). Differs: a line after each run tells what has been done
// so far.

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	sigtermMarker = "Received signal 15 (Terminated)"
	failureFile   = "FAILED.json"          // in a failed run's directory
	settle        = 200 * time.Millisecond // after a run
)

// counts tell how far a test is.
type counts struct{ runs, kills, operations, faults, verifications uint64 }

// result is a run of db_stress.
type result struct {
	args     []string
	seed     uint64
	timedOut bool
	code     int // of the exit; negative for a signal
	out, err string
	length   time.Duration
}

// failure is a run that should have ended otherwise.
type failure struct {
	*result
	why  string
	code int
}

func (f *failure) Error() string { return f.why }

// kept is what --rerun needs.
type kept struct {
	Command           []string
	DB, ExpectedState string   // where they were when the run began
	Seeds             []uint64 // of the test and of the run
	Interval          float64  // seconds until the run was killed; 0 is never
}

func (s *session) printf(format string, args ...any) { fmt.Fprintf(s.out, format, args...) }

func (s *session) stressCommand() string {
	if c := s.own["stress_cmd"]; c != "" {
		return c
	}
	return "./db_stress"
}

// running is the process of the present run, for who is told to end.
var running atomic.Pointer[os.Process]

// execute runs db_stress and ends it after the time, first in the way that it
// may notice; no time is none.
func (s *session) execute(args []string, limit time.Duration) (*result, error) {
	res := &result{args: append([]string{s.stressCommand()}, args...), seed: s.runSeedNow}
	cmd := exec.Command(res.args[0], args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	begin := time.Now()
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	running.Store(cmd.Process)
	s.printf("Running db_stress with pid=%d: %s\n\n", cmd.Process.Pid, quoted(res.args))
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	var err error
	select {
	case err = <-done:
		s.printf("WARNING: db_stress ended before kill: exitcode=%d\n\n", exitCode(cmd.ProcessState))
	case <-timer.C:
		res.timedOut = true
		_ = cmd.Process.Signal(syscall.SIGTERM)
		select {
		case err = <-done:
			s.printf("TERMINATED %d\n\n", cmd.Process.Pid)
		case <-time.After(3 * time.Second):
			_ = cmd.Process.Kill()
			s.printf("KILLED %d (SIGTERM did not work)\n\n", cmd.Process.Pid)
			err = <-done
		}
	}
	running.Store(nil)
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return nil, err
	}
	res.code, res.out, res.err, res.length = exitCode(cmd.ProcessState), out.String(), errs.String(), time.Since(begin)
	s.count(res)
	return res, nil
}

func exitCode(state *os.ProcessState) int {
	if w, ok := state.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return -int(w.Signal())
	}
	return state.ExitCode()
}

// quoted is the command for a shell.
func quoted(args []string) string {
	parts := make([]string, len(args))
	for i, arg := range args {
		name, value, ok := strings.Cut(arg, "=")
		if ok && strings.ContainsAny(value, " \t\n'\"\\$`;&|<>()*?[]{}#~!") {
			arg = name + "='" + strings.ReplaceAll(value, "'", `'"'"'`) + "'"
		}
		parts[i] = arg
	}
	return strings.Join(parts, " ")
}

var (
	operationsLine = regexp.MustCompile(`(?m)^Operations: (\d+)`)
	faultsLine     = regexp.MustCompile(`(?m)^Injected errors: (\d+)`)
)

func (s *session) count(r *result) {
	s.counts.runs++
	if r.timedOut || r.code < 0 {
		s.counts.kills++
	}
	for line, to := range map[*regexp.Regexp]*uint64{operationsLine: &s.counts.operations, faultsLine: &s.counts.faults} {
		for _, m := range line.FindAllStringSubmatch(r.out, -1) {
			n, _ := strconv.ParseUint(m[1], 10, 64)
			*to += n
		}
	}
	s.counts.verifications += uint64(strings.Count(r.out, "Crash-recovery verification passed") + strings.Count(r.out, "Verification successful"))
	c := &s.counts
	s.printf("Run %d ended after %.1fs: %d operations, %d kills, %d faults, %d verifications so far\n",
		c.runs, r.length.Seconds(), c.operations, c.kills, c.faults, c.verifications)
}

// tell prints a run's output; errors among it end the test.
func (s *session) tell(r *result) error {
	s.printf("stdout:\n %s\n", r.out)
	if r.err == "" {
		return nil
	}
	if s.switches["print_stderr_separately"] {
		fmt.Fprintf(os.Stderr, "stderr:\n %s\n", r.err)
	} else {
		s.printf("stderr:\n %s\n", r.err)
	}
	return &failure{r, "db_stress wrote errors", 2}
}

// nextSeed begins a run.
func (s *session) nextSeed() {
	s.runSeedNow = s.runSeed
	if s.runSeedNow == 0 {
		s.runSeedNow = s.r.Uint64() | 1
	}
	s.printf("Use random seed for iteration %d\n", s.runSeedNow)
	s.r.seed(s.runSeedNow)
}

// test is the whole test.
func (s *session) test() error {
	p := s.testParams()
	var made []string
	if p.str("db") == "" {
		dir, isNew, err := testDirectory("TEST_TMPDIR", "", "rocksdb_crashtest_"+s.testType)
		if err != nil {
			return err
		}
		if isNew {
			made = append(made, dir)
		}
		p["db"] = dir
	}
	if p.str("expected_values_dir") == "" {
		dir, _, err := testDirectory("TEST_TMPDIR_EXPECTED", "TEST_TMPDIR", "rocksdb_crashtest_expected")
		if err != nil {
			return err
		}
		made = append(made, dir)
		p["expected_values_dir"] = dir
	}
	s.params = p
	onTermination(func() {
		if child := running.Load(); child != nil {
			_ = child.Kill()
		}
	})
	begin := time.Now()
	course := s.blackbox
	if s.testType == "whitebox" {
		course = s.whitebox
	}
	if err := course(p); err != nil {
		return err
	}
	if err := s.cleanUp(p); err != nil {
		return err
	}
	for _, dir := range append(made, s.beforeDirectory()) {
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
	}
	c := &s.counts
	s.printf("%s crash test passed: %d runs, %d kills, %d operations, %d faults, %d verifications in %.0fs\n",
		s.testType, c.runs, c.kills, c.operations, c.faults, c.verifications, time.Since(begin).Seconds())
	return nil
}

// testDirectory is the name under the environment's test directory, or one of
// its own.
func testDirectory(variable, otherwise, name string) (dir string, isNew bool, err error) {
	parent := os.Getenv(variable)
	if parent == "" && otherwise != "" {
		parent = os.Getenv(otherwise)
	}
	if parent == "" {
		dir, err = os.MkdirTemp("", name)
		return dir, true, err
	}
	dir = filepath.Join(parent, name)
	return dir, false, os.MkdirAll(dir, 0o755)
}

func (s *session) cleanUp(p params) error {
	args := []string{"--destroy_db_and_exit=1", "--db=" + p.str("db"), fmt.Sprintf("--num_dbs=%d", int(p.num("num_dbs", 1)))}
	for _, arg := range s.passedOn {
		if strings.HasPrefix(arg, "--env_uri=") || strings.HasPrefix(arg, "--fs_uri=") {
			args = append(args, arg)
		}
	}
	cmd := exec.Command(s.stressCommand(), args...)
	cmd.Stdout, cmd.Stderr = s.out, s.out
	s.printf("Running DB cleanup command - %s\n\n", quoted(append([]string{s.stressCommand()}, args...)))
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("DB cleanup: %w", err)
	}
	return nil
}

func seconds(n float64) time.Duration { return time.Duration(n * float64(time.Second)) }

// blackbox kills runs after a time, and lets a last one verify all.
func (s *session) blackbox(p params) error {
	s.printf("Running blackbox-crash-test with \ninterval_between_crash=%v\ntotal-duration=%v\n\n", p["interval"], p["duration"])
	for end := time.Now().Add(seconds(p.num("duration"))); time.Now().Before(end); {
		s.nextSeed()
		args, _, err := s.command(p)
		if err != nil {
			return err
		}
		if err := s.keepBefore(args, p.num("interval")); err != nil {
			return err
		}
		res, err := s.execute(args, seconds(p.num("interval")))
		if err != nil {
			return err
		}
		p["destroy_db_initially"] = 0
		if err := s.tell(res); err != nil {
			return err
		}
		if !res.timedOut {
			s.printf("Exit Before Killing\n")
			return &failure{res, "db_stress ended before it was killed", 2}
		}
		time.Sleep(2 * settle)
	}
	s.printf("Running final time for verification\n")
	p["verification_only"], p["skip_verifydb"] = 1, 0
	args, _, err := s.command(p)
	if err != nil {
		return err
	}
	if err := s.keepBefore(args, 0); err != nil {
		return err
	}
	res, err := s.execute(args, seconds(p.num("verify_timeout", 1200)))
	if err != nil {
		return err
	}
	if err := s.tell(res); err != nil {
		return err
	}
	if !res.timedOut && res.code != 0 {
		return &failure{res, "the last verification did not end well", 2}
	}
	return nil
}

// killModes are taken by turn: all kill points, and fewer of them that are less
// often passed, each more often deadly.
func killModes(mode, odd int, disableWAL bool) params {
	switch mode {
	case 0:
		return params{"kill_random_test": odd}
	case 1:
		part := 10
		if disableWAL {
			part = 50
		}
		return params{"kill_random_test": odd/part + 1, "kill_exclude_prefixes": "WritableFileWriter::Append,WritableFileWriter::WriteBuffered"}
	}
	return params{"kill_random_test": odd/5000 + 1,
		"kill_exclude_prefixes": "WritableFileWriter::Append,WritableFileWriter::WriteBuffered,PosixMmapFile::Allocate,WritableFileWriter::Flush"}
}

// whitebox lets runs kill themselves, and in the second half of the time also
// has ones that end, of each compaction style.
func (s *session) whitebox(p params) error {
	duration := seconds(p.num("duration"))
	begin := time.Now()
	end, half := begin.Add(duration), begin.Add(duration/2)
	overrun := 900.0
	if text := s.own["overrun"]; text != "" {
		var err error
		if overrun, err = strconv.ParseFloat(text, 64); err != nil {
			return err
		}
	}
	s.printf("Running whitebox-crash-test with \ntotal-duration=%v\n\n", p["duration"])
	operations, style, checkMode, killMode := int(p.num("ops_per_thread")), -1, 0, 0
	for time.Now().Before(end) {
		s.nextSeed()
		more := params{"kill_random_test": nil, "ops_per_thread": operations}
		switch checkMode {
		case 0:
			more["ops_per_thread"] = 100 * operations
			maps.Copy(more, killModes(killMode, int(p.num("random_kill_odd")), p.num("disable_wal", 0) == 1))
			killMode = (killMode + 1) % 3
		case 1:
			more["compaction_style"] = 1
			if !s.switches["test_tiered_storage"] && s.r.intIn(0, 1) == 1 {
				more["num_levels"] = 1
			}
		case 2:
			more["ops_per_thread"], more["compaction_style"] = operations/5, 2
			if s.switches["test_tiered_storage"] {
				more["num_levels"] = 1
			}
		}
		all := maps.Clone(p)
		maps.Copy(all, more)
		if now := int(all.num("compaction_style", 0)); now != style {
			if style != -1 {
				s.printf("`compaction_style` is changed in current run so `destroy_db_initially` is set to 1\n\n")
				all["destroy_db_initially"] = 1
			}
			style = now
		}
		args, _, err := s.command(all)
		if err != nil {
			return err
		}
		if err := s.keepBefore(args, 0); err != nil {
			return err
		}
		res, err := s.execute(args, time.Until(end)+seconds(overrun))
		if err != nil {
			return err
		}
		p["destroy_db_initially"] = 0
		s.printf("check_mode=%d, kill option=%v, exitcode=%d\n\n", checkMode, more["kill_random_test"], res.code)
		if err := s.tell(res); err != nil {
			return err
		}
		if res.timedOut {
			s.printf("Killing the run for running too long\n")
			break
		}
		if res.code > 0 || res.code < 0 && more["kill_random_test"] == nil {
			s.printf("TEST FAILED. See kill option and exit code above!!!\n\n")
			return &failure{res, "db_stress ended as it should not", 1}
		}
		if time.Now().After(half) {
			p["destroy_db_initially"] = 1
			checkMode = (checkMode + 1) % 4
		}
		time.Sleep(settle)
	}
	return nil
}

// beforeDirectory has the files as they were before the present run.
func (s *session) beforeDirectory() string { return s.params.str("db") + ".before" }

// keepBefore copies what the run is going to change.
func (s *session) keepBefore(args []string, interval float64) error {
	dir := s.beforeDirectory()
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	k := kept{Command: append([]string{s.stressCommand()}, args...), DB: s.params.str("db"), ExpectedState: s.params.str("expected_values_dir"),
		Seeds: []uint64{s.initialSeed, s.runSeedNow}, Interval: interval}
	for _, from := range []struct{ dir, name string }{{k.DB, "db"}, {k.ExpectedState, "expected"}} {
		if _, err := os.Stat(from.dir); err == nil {
			if err := os.CopyFS(filepath.Join(dir, from.name), os.DirFS(from.dir)); err != nil {
				return err
			}
		}
	}
	text, err := json.MarshalIndent(&k, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, failureFile), append(text, '\n'), 0o644)
}

func (s *session) tellFailure(f *failure) {
	s.printf("FAILED: %s (exit code %d)\nseed %d, iteration's seed %d\ncommand: %s\ndatabase kept in %s, expected state in %s\nrun it again: db_crashtest --rerun=%s\n",
		f.why, f.result.code, s.initialSeed, f.seed, quoted(f.args), s.params.str("db"), s.params.str("expected_values_dir"), s.beforeDirectory())
}

// rerun runs a failed command again, over copies of the files it began with.
func rerun(dir string, stdout, stderr io.Writer) int {
	err := func() error {
		text, err := os.ReadFile(filepath.Join(dir, failureFile))
		if err != nil {
			return err
		}
		var k kept
		if err := json.Unmarshal(text, &k); err != nil {
			return err
		}
		at, err := os.MkdirTemp("", "rocksdb_crashtest_rerun")
		if err != nil {
			return err
		}
		args := append([]string(nil), k.Command[1:]...)
		for _, to := range []struct{ name, flag string }{{"db", "--db="}, {"expected", "--expected_values_dir="}} {
			if err := os.CopyFS(filepath.Join(at, to.name), os.DirFS(filepath.Join(dir, to.name))); err != nil && !os.IsNotExist(err) {
				return err
			}
			args = append(args, to.flag+filepath.Join(at, to.name))
		}
		s := &session{options: options{own: map[string]string{"stress_cmd": k.Command[0]}}, out: stdout}
		limit := seconds(k.Interval)
		if k.Interval == 0 {
			limit = time.Hour
		}
		res, err := s.execute(args, limit)
		if err != nil {
			return err
		}
		if err := s.tell(res); err != nil {
			return fmt.Errorf("%w; files in %s", err, at)
		}
		if res.code > 0 {
			return fmt.Errorf("exit code %d; files in %s", res.code, at)
		}
		fmt.Fprintln(stdout, "the run did not fail")
		return os.RemoveAll(at)
	}()
	if err != nil {
		fmt.Fprintf(stderr, "db_crashtest: %v\n", err)
		return 2
	}
	return 0
}
