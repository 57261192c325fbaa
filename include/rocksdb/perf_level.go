// Port of include/rocksdb/perf_level.h. Differs: a field of PerfContext and
// IOStatsContext instead of a thread-local, so there is no SetPerfLevel.

package rocksdb

// PerfLevel says how much PerfContext and IOStatsContext collect. Each level
// adds to the one before.
type PerfLevel uint8

// The levels.
const (
	// PerfLevelUninitialized is the zero value; it collects as EnableCount does.
	PerfLevelUninitialized PerfLevel = iota
	// DisablePerf collects nothing.
	DisablePerf
	// EnableCount collects numbers of events and bytes.
	EnableCount
	// EnableWait adds the time a caller waits for the engine itself (delays,
	// other writers), not for mutexes and input or output.
	EnableWait
	// EnableTimeExceptForMutex adds the time operations and their parts take.
	EnableTimeExceptForMutex
	// EnableTimeAndCPUTimeExceptForMutex adds CPU time.
	EnableTimeAndCPUTimeExceptForMutex
	// EnableTime adds the time spent in mutexes and condition variables.
	EnableTime
	// PerfLevelOutOfBounds is one past the last level.
	PerfLevelOutOfBounds
)
