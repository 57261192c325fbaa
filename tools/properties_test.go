// No upstream twin: what v11.8.1's ldb get_property printed of the golden database
// leveled_many, for every property, compared with ours.

package tools_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// propertyMasks are for times, addresses, and what memory costs: arenas, table
// readers and cache entries are made of other objects here, and ldb's block cache
// is of another kind.
var propertyMasks = []struct {
	re *regexp.Regexp
	to string
}{
	{regexp.MustCompile(`(uptime: |secs_for_last_collection: )[\d.e-]+`), "${1}N"},
	{regexp.MustCompile(`\.id: \w+Cache@0x[0-9a-f]+#\d+`), ".id: CACHE"},
	{regexp.MustCompile(`(?m)^(rocksdb\.(cur-size-active-mem-table|cur-size-all-mem-tables|size-all-mem-tables|estimate-table-readers-mem|block-cache-usage|block-cache-pinned-usage): )[1-9]\d*$`), "${1}N"},
	{regexp.MustCompile(`Block cache \w+Cache@0x[0-9a-f]+#\d+`), "Block cache CACHE"},
	{regexp.MustCompile(`last_secs: [\d.e-]+ secs_since: \d+`), "TIMES"},
	{regexp.MustCompile(`Uptime\(secs\): [\d.]+ total, [\d.]+ interval`), "Uptime"},
}

func maskProperty(text string) string {
	for _, m := range propertyMasks {
		text = m.re.ReplaceAllString(text, m.to)
	}
	return text
}

func TestGolden_Properties(t *testing.T) {
	dir := t.TempDir()
	unpack(t, "../testdata/golden.tar.zst", dir)
	found, err := filepath.Glob(filepath.Join(dir, "*11.8.1/leveled_many/db"))
	if err != nil || len(found) != 1 {
		t.Fatal(found, err)
	}
	text, err := os.ReadFile("testdata/properties.txt")
	if err != nil {
		t.Fatal(err)
	}
	sections := strings.Split("\n"+string(text), "\n== ")[1:]
	if len(sections) != 63 {
		t.Fatalf("%d properties", len(sections))
	}
	for _, s := range sections {
		name, want, _ := strings.Cut(s, "\n")
		want = strings.TrimRight(want, "\n")
		t.Run(name, func(t *testing.T) {
			r := run(t, "", "--db="+found[0], "get_property", name)
			got := maskProperty(strings.TrimRight(r.out+r.err, "\n"))
			if want := maskProperty(want); got != want {
				t.Errorf("%s\n%s\nwant\n%s", firstDifference(want, got), got, want)
			}
		})
	}
}
