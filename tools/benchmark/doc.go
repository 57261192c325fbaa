// Port of tools/benchmark.sh.

// Command benchmark runs db_bench in the ways that are compared from release to
// release, and writes a line a run to report.tsv, in upstream's columns.
//
//	NUM_KEYS=1000000 DB_DIR=/data/db WAL_DIR=/data/db benchmark bulkload,readrandom
//
// The environment says what is run, with upstream's variables: settings.go. The
// argument is a list of jobs (jobs.go); further ones go to db_bench as they are.
// db_bench is ./db_bench.
//
// Main types: settings (the environment), job (one command line of db_bench),
// result (a line of the report, read from what db_bench prints).
//
// Invariants: a job that fails gets a line that says so, and ends the program
// with its exit code; a column that db_bench gives no figure for is NA, never
// empty. Nothing else on the machine is started or ended: resident memory is that
// of the process as the system counted it, there is no sampling by iostat and
// vmstat.
//
// Read jobs.go first.
package main
