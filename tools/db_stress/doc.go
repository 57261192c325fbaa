// No upstream twin: Go package documentation.

// Command db_stress is the stress test, with upstream's flags: threads write
// and read at random and verify; expected_values_dir lets a run verify what a
// killed one left. The test itself is package db_stress_tool; tools/db_crashtest
// runs and kills it.
package main
