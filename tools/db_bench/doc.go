// Port of tools/{db_bench,db_bench_tool}.cc.

// Command db_bench measures the engine with upstream's benchmarks, flags and
// output, and makes the same data as upstream for the same --seed.
//
// Main types: Flags (every flag, one field each), tool (one run of the
// program), benchmark (the options, the databases and the loop over
// --benchmarks), threadState (a worker), stats (what it counted),
// randomGenerator and keyGenerator (the data).
//
// Invariants:
//   - Random numbers are drawn in upstream's order: a worker's own Random64 is
//     seeded by seed + the number of workers started so far, and each operation
//     draws for the database, then for the key.
//   - The path of an operation allocates nothing and reads the clock only for
//     histograms, every --ops_between_duration_checks operations with
//     --duration, and for reports.
//   - What is not built fails by the name of its flag or benchmark.
//   - Workers never exit the process: they return an error, the benchmark ends
//     the others at their next look at the clock, closes the databases and
//     returns the exit code.
//
// Locks: benchDB.createMu (making column families) and sharedState.mu are
// never held together.
//
// engine.go is the only file that names the engine's API. Read main.go first,
// then benchmark.go.
package main
