// Port of tools/benchmark.sh. Differs: no iostat and vmstat beside the runs; the
// columns that upstream's leaves empty are filled or NA.

package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// The exit codes.
const (
	exitInvalidArgs = 1
	exitUnknownJob  = 3
	exitInvalidPath = 4
)

func main() { os.Exit(run(os.Args[1:], os.Getenv, "./db_bench", os.Stdout)) }

const help = `usage: benchmark [--help] <tests> [db_bench flags]

Tests, separated by commas:
	bulkload, fillseq_disable_wal, fillseq_enable_wal, filluniquerandom,
	overwrite, overwritesome, overwriteandwait, updaterandom, mergerandom,
	flush_mt_l0, waitforcompaction, readrandom, multireadrandom, fwdrange, revrange,
	readwhilewriting, readwhilemerging, fwdrangewhilewriting, revrangewhilewriting,
	fwdrangewhilemerging, revrangewhilemerging, debug

The environment has DB_DIR, WAL_DIR, OUTPUT_DIR, JOB_ID, NUM_KEYS, KEY_SIZE, VALUE_SIZE, BLOCK_SIZE, NUM_THREADS,
CACHE_SIZE, DURATION, WRITES, COMPACTION_STYLE, COMPRESSION_TYPE, USE_O_DIRECT and the others of upstream's
tools/benchmark.sh. Results go to OUTPUT_DIR/report.tsv.
`

// run does the jobs of a command line and gives the exit code.
func run(args []string, getenv func(string) string, dbBench string, out io.Writer) int {
	if len(args) == 0 || args[0] == "--help" {
		fmt.Fprint(out, help)
		if len(args) == 0 {
			return exitInvalidArgs
		}
		return 0
	}
	if i, err := os.Stat(dbBench); err != nil || i.Mode()&0o111 == 0 {
		fmt.Fprintf(out, "%s not found. Please make sure it exists in the current directory.\n", dbBench)
		return exitInvalidPath
	}
	s, err := readSettings(getenv)
	if err != nil {
		fmt.Fprintln(out, err)
		return exitInvalidArgs
	}
	if err := os.MkdirAll(s.outputDir, 0o755); err != nil {
		fmt.Fprintln(out, err)
		return exitInvalidPath
	}
	fmt.Fprintln(out, "===== Benchmark =====")
	for name := range strings.SplitSeq(args[0], ",") {
		if name == "debug" {
			s.numKeys = 1000
			fmt.Fprintf(out, "Setting num_keys to %d\n", s.numKeys)
			continue
		}
		if code := s.runJobs(name, dbBench, args[1:], out); code != 0 {
			return code
		}
	}
	return 0
}

// runJobs does one of the jobs that were asked for.
func (s *settings) runJobs(name, dbBench string, more []string, out io.Writer) int {
	jobs := s.jobsOf(name)
	switch {
	case s.err != nil:
		fmt.Fprintln(out, s.err)
		return exitInvalidArgs
	case slices.Contains(notBuilt, name):
		fmt.Fprintf(out, "job %s is not supported yet\n", name)
		return exitUnknownJob
	case jobs == nil:
		fmt.Fprintf(out, "unknown job %s\n", name)
		return exitUnknownJob
	}
	schedule := func(format string, a ...any) error {
		line := fmt.Sprintf(format, a...)
		fmt.Fprint(out, line)
		f, err := os.OpenFile(filepath.Join(s.outputDir, "schedule.txt"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		if err != nil {
			return err
		}
		defer f.Close()
		_, err = f.WriteString(line)
		return err
	}
	begun := time.Now()
	if err := schedule("Starting %s (ID: %s) at %s\n", name, s.jobID, begun.Format(time.UnixDate)); err != nil {
		fmt.Fprintln(out, err)
		return exitInvalidPath
	}
	for i := range jobs {
		code, err := s.runJob(&jobs[i], dbBench, more, out)
		if err != nil {
			fmt.Fprintln(out, err)
			return exitInvalidPath
		}
		if code != 0 {
			return code
		}
	}
	if err := schedule("Completed %s (ID: %s) in %d seconds\n", name, s.jobID, int(time.Since(begun).Seconds())); err != nil {
		fmt.Fprintln(out, err)
		return exitInvalidPath
	}
	return 0
}

// runJob runs db_bench once; what it prints goes to out and to the run's log. The
// code is db_bench's.
func (s *settings) runJob(j *job, dbBench string, more []string, out io.Writer) (code int, err error) {
	path := filepath.Join(s.outputDir, "benchmark_"+j.log+".log")
	log, err := os.Create(path)
	if err != nil {
		return 0, err
	}
	args := append([]string{"--benchmarks=" + j.benchmarks + ",stats"}, j.flags...)
	if j.report {
		args = append(args, "--report_file="+path+".r.csv")
	}
	cmd := exec.Command(dbBench, append(args, more...)...)
	var text strings.Builder
	all := io.MultiWriter(out, log, &text)
	fmt.Fprintf(all, "%s\n", strings.Join(cmd.Args, " "))
	cmd.Stdout, cmd.Stderr = all, all
	begun := time.Now()
	err = cmd.Run()
	if e := log.Close(); err == nil {
		err = e
	}
	if cmd.ProcessState == nil {
		return 0, err
	}
	code = cmd.ProcessState.ExitCode()
	if code < 0 {
		code = 1 // by a signal
	}
	if j.name == "" {
		return code, nil
	}
	u := usage{cmd.ProcessState.UserTime(), cmd.ProcessState.SystemTime(), maxRSS(cmd.ProcessState)}
	r, ok := summarize(text.String(), j.bench, u)
	if !ok && code == 0 {
		code = 1
	}
	r["test"], r["date"], r["job_id"] = j.name, begun.Format("2006-01-02T15:04:05"), s.jobID
	if text, err := os.ReadFile(filepath.Join(s.dbDir, "LOG")); err == nil {
		r.addLog(string(text))
	}
	line := r.line()
	fmt.Fprintf(out, "%s\n%s\n", header(), line)
	return code, appendReport(filepath.Join(s.outputDir, "report.tsv"), line)
}
