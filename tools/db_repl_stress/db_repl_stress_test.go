// No upstream twin: the tool runs, and its flags are upstream's.

package main

import (
	"strings"
	"testing"
)

func TestReplStress(t *testing.T) {
	var out, err strings.Builder
	if code := run([]string{"db_repl_stress", "--num_inserts=3000", "--wal_ttl_seconds=60"}, &out, &err); code != 0 || !strings.HasSuffix(err.String(), "Successful!\n") {
		t.Fatalf("exit code %d, %q, %q", code, out.String(), err.String())
	}
	err.Reset()
	if code := run([]string{"db_repl_stress", "--num_insert=1"}, &out, &err); code != 1 || !strings.Contains(err.String(), "num_insert") {
		t.Fatalf("exit code %d, %q", code, err.String())
	}
}
