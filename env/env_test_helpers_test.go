// No upstream twin: what the tests of this package share.

package env_test

import (
	"fmt"
	"os"
	"syscall"
	"testing"
)

func fmtSprintf(format string, args []any) string { return fmt.Sprintf(format, args...) }

// allocatedBlocks counts 512-byte blocks.
func allocatedBlocks(t *testing.T, name string) int64 {
	t.Helper()
	fi, err := os.Stat(name)
	ok(t, err)
	if st, isStat := fi.Sys().(*syscall.Stat_t); isStat {
		return st.Blocks
	}
	return 0
}
