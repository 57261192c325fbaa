// Port of DumpRocksDBBuildVersion of db/db_impl/db_impl.cc. Differs: what is told
// is of the program that the engine is built into.

package dbimpl

import (
	"runtime/debug"
	"sync"
)

// buildVersion gives the lines of the info log that tell which source the
// program is built from. They are left out when the build did not note them.
// Upstream: DumpRocksDBBuildVersion.
var buildVersion = sync.OnceValue(func() (lines []string) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return nil
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			lines = append(lines, "Git sha "+s.Value)
		case "vcs.time":
			lines = append(lines, "Compile date "+s.Value)
		}
	}
	return lines
})
