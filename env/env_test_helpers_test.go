// No upstream twin: what the tests of this package share.

package env_test

import (
	"fmt"
	"os"
	"reflect"
	"testing"
)

func fmtSprintf(format string, args []any) string { return fmt.Sprintf(format, args...) }

// allocatedBlocks counts 512-byte blocks.
func allocatedBlocks(t *testing.T, name string) int64 {
	t.Helper()
	fi, err := os.Stat(name)
	ok(t, err)
	// By reflection, for not every system has a syscall.Stat_t.
	blocks := reflect.Indirect(reflect.ValueOf(fi.Sys())).FieldByName("Blocks")
	if !blocks.IsValid() {
		return 0
	}
	return blocks.Int()
}
