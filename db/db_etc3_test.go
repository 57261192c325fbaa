// Port of db/db_etc3_test.cc.

package db_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

func TestDBEtc3Test_ManifestRollOver(t *testing.T) {
	x := newDBTest(t)
	for more := true; more; more = x.changeCompactOptions() {
		o := x.currentOptions()
		o.MaxManifestFileSize, o.MaxManifestSpaceAmpPct = 0, 0 // each write begins another
		x.createAndReopenWithCF(pikachu[1:], o)
		kvs := map[string]string{"key1": dummyString(1000, '1'), "key2": dummyString(1000, '2'), "key3": dummyString(1000, '3')}
		for k, v := range kvs {
			x.mustPut(1, k, v)
		}
		before := x.manifestNumber()
		x.flush(1)
		after := x.manifestNumber()
		if after <= before {
			t.Fatalf("manifest %d after a flush, %d before", after, before)
		}
		x.reopenWithColumnFamilies(pikachu, o)
		if n := x.manifestNumber(); n <= after {
			t.Fatalf("manifest %d after reopening, %d before", n, after)
		}
		for k, v := range kvs {
			x.wantGet(1, k, v)
		}
	}
}

// manifestTest makes manifest writes and tells whether they began a file.
type manifestTest struct {
	*extTest
	o       rocksdb.Options
	handles []*rocksdb.ColumnFamily
	counter int
	current uint64
}

func (x *manifestTest) next() int { x.counter++; return x.counter }

// start opens anew.
func (x *manifestTest) start(minSize uint64, ampPct int) {
	x.Helper()
	x.o.MaxManifestFileSize, x.o.MaxManifestSpaceAmpPct = minSize, ampPct
	x.destroyAndReopen(x.o)
	x.current = x.manifestNumber()
}

// wantRotation checks whether the manifest is another since the last check.
func (x *manifestTest) wantRotation(want bool) {
	x.Helper()
	n := x.manifestNumber()
	if n != x.current != want {
		x.Fatalf("manifest %d after %d, rotation expected: %v", n, x.current, want)
	}
	x.current = n
}

// background is a flush; the rest are writes that a caller waits for.
func (x *manifestTest) background() {
	x.Helper()
	x.mustPut(0, "x", fmt.Sprint(x.next()))
	x.flush(0)
}

func (x *manifestTest) add(andBackground bool) {
	x.Helper()
	name := fmt.Sprint("cf", x.next())
	c, err := x.db.CreateColumnFamily(x.o.ColumnFamilyOptions, name+strings.Repeat("a", 1000-len(name)))
	x.must(err)
	x.handles = append(x.handles, c)
	if andBackground {
		x.background()
	}
}

func (x *manifestTest) drop(andBackground bool) {
	x.Helper()
	x.must(x.db.DropColumnFamily(x.handles[0]))
	x.must(x.handles[0].Close())
	x.handles = x.handles[1:]
	if andBackground {
		x.background()
	}
}

func (x *manifestTest) setDBOption(name, value string) {
	x.Helper()
	x.must(x.db.SetDBOptions(map[string]string{name: value}))
}

func TestDBEtc3Test_AutoTuneManifestSize(t *testing.T) {
	x := &manifestTest{extTest: newExtTest(t), counter: 4}
	if pct := rocksdb.DefaultDBOptions().MaxManifestSpaceAmpPct; pct != 500 {
		t.Errorf("max_manifest_space_amp_pct is %d", pct)
	}
	x.o = x.currentOptions()
	x.o.DisableAutoCompactions, x.o.Level0SlowdownWritesTrigger, x.o.Level0StopWritesTrigger = true, 100, 200

	// Writes that a caller waits for get a quarter more room, and no more.
	x.start(3000, 0)
	for range 4 {
		x.add(false)
		x.wantRotation(false)
	}
	x.add(false)
	x.wantRotation(true)
	for _, c := range x.handles {
		x.must(c.Close())
	}
	x.handles = nil

	// Without tuning a size below the compacted one rotates at each write.
	x.start(1000000, 0)
	for range 3 {
		x.add(true)
	}
	x.wantRotation(false)
	x.setDBOption("max_manifest_file_size", "3000")
	for _, write := range []func(bool){func(bool) { x.background() }, x.add, x.drop, x.add, func(bool) { x.background() }} {
		write(true)
		x.wantRotation(true)
	}

	x.tuned()
	x.relaxed()
	x.reopened()
}

// tuned lets the manifest grow by a share of its compacted size.
func (x *manifestTest) tuned() {
	x.Helper()
	x.setDBOption("max_manifest_space_amp_pct", "95")
	for i := 1; i <= 3; i++ {
		if i%2 == 1 {
			x.drop(true)
			x.wantRotation(false)
		}
		x.add(true)
		x.wantRotation(false)
	}
	x.add(true)
	x.wantRotation(true)
	if len(x.handles) != 6 {
		x.Fatalf("%d families", len(x.handles))
	}
	x.drop(true)
	x.drop(true)
	for range 4 {
		x.drop(true)
		x.add(true)
		x.wantRotation(false)
	}
	x.setDBOption("max_manifest_space_amp_pct", "51")
	x.background()
	x.wantRotation(true)
	for range 2 {
		x.add(true)
		x.wantRotation(false)
	}
}

// relaxed makes each kind of write that a caller waits for on a manifest that
// the next flush will end.
func (x *manifestTest) relaxed() {
	x.Helper()
	x.add(false)
	x.wantRotation(false)
	x.must(x.db.SetOptions(map[string]string{"level0_slowdown_writes_trigger": "101"}))
	x.wantRotation(false)

	ingested := fmt.Sprint("z", x.next())
	x.ingest(0, x.write(x.o, "ingest.sst", kv(ingested, "v")))
	x.wantGet(0, ingested, "v")
	x.wantRotation(false)

	x.write(x.o, "import.sst", kv("imported", "v"))
	m := rocksdb.ExportImportFilesMetaData{DBComparatorName: util.BytewiseComparator().Name(), Files: []rocksdb.LiveFileMetaData{
		{SstFileMetaData: rocksdb.SstFileMetaData{Name: "import.sst", DBPath: x.sst}}}}
	c, err := x.db.CreateColumnFamilyWithImport(x.o.ColumnFamilyOptions, "import_cf", nil, &m)
	x.must(err)
	x.handles = append(x.handles, c)
	v, err := c.Get(nil, []byte("imported"))
	x.must(err)
	v.Release()
	x.wantRotation(false)

	x.must(x.db.DeleteFilesInRanges([]rocksdb.RangeOpt{{Start: []byte(ingested), Limit: []byte(ingested + "\xff")}}, false))
	x.wantGet(0, ingested, "NOT_FOUND")
	x.wantRotation(false)

	x.background()
	x.wantRotation(true)
}

// reopened goes on with the manifest, whose compacted size is in it.
func (x *manifestTest) reopened() {
	x.Helper()
	if len(x.handles) != 8 {
		x.Fatalf("%d families", len(x.handles))
	}
	names := []string{"default"}
	for _, c := range x.handles {
		names = append(names, c.Impl().GetName())
		x.must(c.Close())
	}
	x.handles = nil
	x.o.MaxManifestFileSize, x.o.MaxManifestSpaceAmpPct, x.o.ReuseManifestOnOpen = 3000, 200, true
	x.reopenWithColumnFamilies(names, x.o)
	x.wantRotation(false)
	for range 8 {
		x.add(true)
		x.wantRotation(false)
	}
	for len(x.handles) > 0 {
		x.drop(false)
	}
}
