// No upstream twin: a database with timed puts and data on two last levels, read and
// written by a real engine.

package rocksdb_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/internal/engines"
)

// TestTiersTakenInTurnsWith11_8_1 writes timed puts to the WAL, to a table whose
// sequence numbers a snapshot keeps from being replaced, and to the last two levels;
// the C++ engine reads all of it, writes, and is read again.
func TestTiersTakenInTurnsWith11_8_1(t *testing.T) {
	dir := t.TempDir()
	o := rocksdb.DefaultOptions()
	o.CreateIfMissing, o.CompactionStyle, o.NumLevels = true, rocksdb.CompactionStyleUniversal, 7
	o.PrecludeLastLevelDataSeconds, o.LastLevelTemperature = 24*60*60, rocksdb.TemperatureCold
	db, err := rocksdb.Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	// put writes a hundred keys, every other one as if long ago.
	put := func(name string) {
		t.Helper()
		for i := range 100 {
			k, v := fmt.Appendf(nil, "%s%03d", name, i), fmt.Appendf(nil, "%s value %d", name, i)
			if i%2 == 0 {
				must(db.Put(nil, k, v))
				continue
			}
			b := rocksdb.NewWriteBatch()
			must(b.TimedPut(db.ColumnFamily, k, v, 1000000000))
			must(db.Write(nil, b))
		}
	}
	put("tiered")
	must(db.Flush(nil))
	must(db.CompactRange(nil, nil, nil))
	levels := db.GetColumnFamilyMetaData(nil).Levels
	if len(levels[5].Files) == 0 || len(levels[6].Files) == 0 || levels[6].Files[0].Temperature != rocksdb.TemperatureCold {
		t.Fatalf("levels %+v", levels)
	}
	s := db.GetSnapshot()
	put("held")
	must(db.Flush(nil))
	must(db.ReleaseSnapshot(s))
	put("logged")
	must(db.Close())

	ours := scanHere(t, dir, o)
	if n := strings.Count(ours, "\n"); n != 300 {
		t.Fatalf("%d entries", n)
	}
	sameLines(t, "11.8.1", engines.Scan(t, "11.8.1", dir), ours)
	engines.Put(t, "11.8.1", dir, fmt.Sprintf("0x%X ==> 0x%X\n", "zzz", "of the engine"))
	after := scanHere(t, dir, o)
	if want := ours + fmt.Sprintf("0x%X ==> 0x%X\n", "zzz", "of the engine"); after != want {
		sameLines(t, "what was expected", want, after)
	}
}
