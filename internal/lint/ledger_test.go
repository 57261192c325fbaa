// No upstream twin: the porting ledger.

package lint

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
	"testing"
)

// mirrored lists the upstream test files whose every case must be here under
// its name, or in one of the two lists of porting/: not_applicable.tsv with the
// reason, later.tsv with what the case waits for.
var mirrored = strings.Fields(`
	util/coding_test.cc util/crc32c_test.cc util/hash_test.cc util/slice_test.cc util/autovector_test.cc
	util/heap_test.cc util/random_test.cc util/string_util_test.cc util/rate_limiter_test.cc
	util/dynamic_bloom_test.cc util/bloom_test.cc util/file_reader_writer_test.cc util/filelock_test.cc
	util/thread_local_test.cc util/timer_test.cc util/defer_test.cc util/work_queue_test.cc
	util/interval_test.cc util/slice_transform_test.cc
	memory/arena_test.cc memtable/skiplist_test.cc memtable/inlineskiplist_test.cc
	logging/auto_roll_logger_test.cc logging/env_logger_test.cc logging/event_logger_test.cc
	db/dbformat_test.cc db/log_test.cc db/filename_test.cc db/write_batch_test.cc db/version_edit_test.cc
	db/version_builder_test.cc db/version_set_test.cc db/wal_edit_test.cc db/wal_manager_test.cc
	db/file_indexer_test.cc db/memtable_list_test.cc db/flush_job_test.cc db/options_file_test.cc
	db/comparator_db_test.cc db/db_basic_test.cc db/db_wal_test.cc db/column_family_test.cc
	db/repair_test.cc
`)

var testFunc = regexp.MustCompile(`(?m)^func (Test(\w+?)_(\w+))\(t \*testing\.T\)`)

// goTests gives the mirrored tests of the module: "Suite.Name" to its file.
func goTests(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && strings.HasPrefix(d.Name(), ".") && len(d.Name()) > 2 {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, m := range testFunc.FindAllStringSubmatch(string(data), -1) {
			found[m[2]+"."+m[3]] = path
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// rows reads a table with a head line; each row has at least three columns.
func rows(t *testing.T, name string) [][]string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("../../porting", name))
	if err != nil {
		t.Fatal(err)
	}
	var out [][]string
	for i, line := range strings.Split(strings.TrimSuffix(string(data), "\n"), "\n") {
		cols := strings.Split(line, "\t")
		if i == 0 {
			continue
		}
		if len(cols) < 3 {
			t.Errorf("porting/%s:%d has %d columns: %q", name, i+1, len(cols), line)
			continue
		}
		out = append(out, cols)
	}
	return out
}

// TestLedger holds the porting ledger: upstream's cases of the mirrored files
// are all accounted for, and the lists name only cases that exist upstream, are
// not here, and say why.
func TestLedger(t *testing.T) {
	here := goTests(t)
	upstream := map[string]bool{}
	byFile := map[string][]string{}
	for _, r := range rows(t, "upstream/tests.tsv") {
		upstream[r[0]+"\t"+r[1]+"."+r[2]] = true
		byFile[r[0]] = append(byFile[r[0]], r[1]+"."+r[2])
	}
	listed := map[string]bool{}
	for _, name := range []string{"not_applicable.tsv", "later.tsv"} {
		for _, r := range rows(t, name) {
			key := r[0] + "\t" + r[1] + "." + r[2]
			switch {
			case !upstream[key]:
				t.Errorf("porting/%s: %s %s.%s is no test of upstream", name, r[0], r[1], r[2])
			case listed[key]:
				t.Errorf("porting/%s: %s %s.%s is listed twice", name, r[0], r[1], r[2])
			case len(r) < 4 || strings.TrimSpace(r[3]) == "":
				t.Errorf("porting/%s: %s %s.%s does not say why", name, r[0], r[1], r[2])
			case here[r[1]+"."+r[2]] != "":
				t.Errorf("porting/%s: %s %s.%s is in %s", name, r[0], r[1], r[2], here[r[1]+"."+r[2]])
			}
			listed[key] = true
		}
	}
	for _, f := range mirrored {
		if byFile[f] == nil {
			t.Errorf("%s has no tests upstream", f)
		}
		var missing []string
		for _, name := range byFile[f] {
			if here[name] == "" && !listed[f+"\t"+name] {
				missing = append(missing, name)
			}
		}
		sort.Strings(missing)
		if len(missing) > 0 {
			t.Errorf("%s: %d of %d cases are neither here nor in the ledger: %s", f, len(missing), len(byFile[f]), strings.Join(missing, " "))
		}
	}
}
