// No upstream twin: completion offers what the tools take.

package tools

import (
	"bufio"
	"io"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb/internal/completion"
)

func TestCompletionOffersWhatToolsTake(t *testing.T) {
	for _, c := range LDBCompletion().Commands {
		def := findCommand(c.Name)
		if def == nil {
			t.Fatalf("ldb has no command %s", c.Name)
		}
		cmd := &LDBCommand{def: def}
		for _, f := range c.Flags {
			if !cmd.takes(f) {
				t.Errorf("ldb %s does not take --%s", c.Name, f)
			}
		}
	}
	for _, name := range sstDumpFlags {
		if new(sstDumpArgs).flag(name) == nil {
			t.Errorf("sst_dump does not know %s", name)
		}
	}
	for _, name := range sstDumpOptions {
		s := &sstDump{t: &SSTDumpTool{Stdout: io.Discard, Stderr: io.Discard}, out: bufio.NewWriter(io.Discard)}
		if known, _ := s.option(name, "1"); !known {
			t.Errorf("sst_dump does not know --%s", name)
		}
	}
	for _, shell := range completion.Shells {
		text, ok := completion.Asked([]string{"--completion=" + shell}, SSTDumpCompletion())
		if !ok || !strings.Contains(text, "--show_properties") || !strings.Contains(text, "--readahead_size") {
			t.Errorf("%s: %q", shell, text)
		}
	}
}
