// No upstream twin: every property of a database that the C++ engine wrote,
// compared with what that says of it.

package rocksdb_test

import (
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb"
)

// propertyText is a property as ldb's get_property prints it.
func propertyText(db *rocksdb.DB, name string) string {
	if m, ok := db.GetMapProperty(name); ok {
		var lines []string
		for k, v := range m {
			lines = append(lines, name+"."+k+": "+v+"\n")
		}
		sort.Strings(lines)
		return strings.Join(lines, "")
	}
	if v, ok := db.GetProperty(name); ok {
		return name + ": " + v + "\n"
	}
	return "Failed: failed to get property: " + name + "\n"
}

// differing are the lines that depend on time, on the kind of block cache, or on
// how memory is used.
var differing = regexp.MustCompile(`(?m)^rocksdb\.(dbstats\.db\.uptime|(fast-)?block-cache-entry-stats\.(id|secs_for_last_collection)` +
	`|block-cache-(pinned-)?usage|estimate-table-readers-mem|cur-size-active-mem-table|(cur-)?size-all-mem-tables):.*$`)

func TestGoldenProperties(t *testing.T) {
	dir := filepath.Join(unpackGolden(t), "rocksdb-11.8.1/leveled_many/db")
	data, err := os.ReadFile("testdata/properties/leveled_many.txt")
	if err != nil {
		t.Fatal(err)
	}
	o, families, err := rocksdb.LoadLatestOptions(nil, dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	db, _, err := rocksdb.OpenColumnFamiliesForReadOnly(dir, o, families, false)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	n := 0
	for _, part := range strings.Split(string(data), "== ")[1:] {
		name, want, _ := strings.Cut(part, "\n")
		n++
		got := differing.ReplaceAllString(propertyText(db, name), "$1")
		if want = differing.ReplaceAllString(want, "$1"); got != want {
			t.Errorf("%s is\n%s\nnot\n%s", name, got, want)
		}
	}
	if n < 60 {
		t.Errorf("%d properties", n)
	}
}
