// Port of tools/reduce_levels_test.cc.

package tools_test

import (
	"fmt"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/rocksdb-go/rocksdb"
)

type reduceLevelTest struct {
	*testing.T
	path string
	db   *rocksdb.DB
}

func newReduceLevelTest(t *testing.T) *reduceLevelTest {
	return &reduceLevelTest{T: t, path: filepath.Join(t.TempDir(), "db")}
}

func (r *reduceLevelTest) open(levels int) {
	r.Helper()
	o := rocksdb.DefaultOptions()
	o.LevelCompactionDynamicLevelBytes = false
	o.NumLevels = levels
	o.CreateIfMissing = true
	r.db = open(r.T, r.path, o)
}

func (r *reduceLevelTest) close() {
	r.Helper()
	check(r.T, r.db.Close())
}

// fill puts a key, flushes it and moves the table down to a level.
func (r *reduceLevelTest) fill(key, value string, level int) {
	r.Helper()
	put(r.T, r.db.ColumnFamily, key, value)
	check(r.T, r.db.Flush(nil))
	for i := range level {
		check(r.T, r.db.Impl().TestCompactRange(i, nil, nil, r.db.ColumnFamilyHandleImpl, false))
	}
}

func (r *reduceLevelTest) wantFiles(level, want int) {
	r.Helper()
	text, _ := r.db.GetProperty(fmt.Sprintf("rocksdb.num-files-at-level%d", level))
	if n, err := strconv.Atoi(text); n != want || err != nil {
		r.Fatalf("level %d has %q files, not %d", level, text, want)
	}
}

func (r *reduceLevelTest) reduce(levels int) {
	r.Helper()
	wantOK(r.T, rocksdb.DefaultOptions(), "reduce_levels", "--db="+r.path, fmt.Sprintf("--new_levels=%d", levels))
}

func TestReduceLevelTest_Last_Level(t *testing.T) {
	r := newReduceLevelTest(t)
	r.open(4)
	r.fill("aaaa", "11111", 3)
	r.wantFiles(3, 1)
	r.close()
	for _, levels := range []int{3, 2} {
		r.reduce(levels)
		r.open(levels)
		r.wantFiles(levels-1, 1)
		wantGet(t, r.db.ColumnFamily, "aaaa", "11111")
		r.close()
	}
}

func TestReduceLevelTest_Top_Level(t *testing.T) {
	r := newReduceLevelTest(t)
	r.open(5)
	r.fill("aaaa", "11111", 0)
	r.wantFiles(0, 1)
	r.close()
	for _, levels := range []int{4, 3, 2} {
		r.reduce(levels)
		r.open(levels)
		r.close()
	}
}

func TestReduceLevelTest_All_Levels(t *testing.T) {
	r := newReduceLevelTest(t)
	values := map[string]string{"a": "a11111", "b": "b11111", "c": "c11111", "d": "d11111"}
	for i, key := range []string{"a", "b", "c", "d"} {
		r.open(5)
		r.fill(key, values[key], 4-i)
		for level := 4 - i; level <= 4; level++ {
			r.wantFiles(level, 1)
		}
		r.close()
	}
	for _, levels := range []int{4, 3, 2} {
		r.reduce(levels)
		r.open(levels)
		for key, want := range values {
			wantGet(t, r.db.ColumnFamily, key, want)
		}
		r.close()
	}
}
