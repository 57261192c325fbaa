// No upstream twin: the same --seed gives the data of v11.8.1's db_bench.

package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	engine "github.com/rocksdb-go/rocksdb"
	rocksdb "github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/utilities/registry"
)

// unbuiltKinds may be refused still; once they work they are compared, too.
const unbuiltKinds = " merge_append merge_uint64add blob_files "

// TestSameSeed runs the commands of testdata/same_seed.tsv and compares the
// database with what upstream's had: lines `0xKEY ==> 0xVALUE` by sum.
func TestSameSeed(t *testing.T) {
	text, err := os.ReadFile("testdata/same_seed.tsv")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		col := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if col[0] == "kind" {
			continue
		}
		t.Run(col[0], func(t *testing.T) {
			t.Chdir(t.TempDir())
			flags := strings.Fields(col[3])
			out, code := runTool(t, append([]string{"--db=db"}, flags...)...)
			if code != 0 {
				// What is not built has to be refused by its name.
				if code != 1 || notBuiltYet(out) == "" || !strings.Contains(unbuiltKinds, " "+col[0]+" ") {
					t.Fatalf("exit %d: %s", code, out)
				}
				return
			}
			lines, sum := scanSum(t, "db", flags)
			if want, _ := strconv.Atoi(col[1]); lines != want || sum != col[2] {
				t.Errorf("%d lines, sum %s; want %d, %s", lines, sum, want, col[2])
			}
		})
	}
}

// notBuiltYet gives the line by which the tool refused what is not built.
func notBuiltYet(out string) string {
	for line := range strings.Lines(out) {
		if strings.Contains(line, "is not supported yet") || strings.Contains(line, "Not implemented: ") {
			return strings.TrimSpace(line)
		}
	}
	return ""
}

// scanSum reads the default column family of a database whole.
func scanSum(t *testing.T, path string, flags []string) (lines int, sum string) {
	t.Helper()
	o, families, err := engine.LoadLatestOptions(nil, path, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range flags {
		if id, ok := strings.CutPrefix(f, "--merge_operator="); ok {
			op, err := createByName[rocksdb.MergeOperator](registry.KindMergeOperator, id)
			if err != nil {
				t.Fatal(err)
			}
			families[0].Options.MergeOperator = op
		}
	}
	db, _, err := engine.OpenColumnFamiliesForReadOnly(path, o, families, false)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}()
	ro := rocksdb.DefaultReadOptions()
	ro.TotalOrderSeek = true
	cmp := families[0].Options.Comparator
	stamped := cmp != nil && cmp.TimestampSize() > 0
	if stamped {
		ro.Timestamp = cmp.MaxTimestamp()
	}
	it := db.NewIterator(&ro)
	defer closeIterator(it)
	h := sha256.New()
	for it.SeekToFirst(); it.Valid(); it.Next() {
		ts := ""
		if stamped {
			ts = "|timestamp:" + cmp.TimestampToString(it.Timestamp())
		}
		fmt.Fprintf(h, "0x%X%s ==> 0x%X\n", it.Key(), ts, it.Value())
		lines++
	}
	if err := it.Status(); err != nil {
		t.Fatal(err)
	}
	return lines, fmt.Sprintf("%x", h.Sum(nil))
}
