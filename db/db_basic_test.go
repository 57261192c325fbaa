// Port of db/db_basic_test.cc.

package db_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb"
)

func TestDBBasicTest_OpenWhenOpen(t *testing.T) {
	x := newDBTest(t)
	_, err := rocksdb.Open(x.dir, x.currentOptions())
	if !errors.Is(err, rocksdb.ErrIOError) || !strings.Contains(err.Error(), "lock ") {
		t.Fatal(err)
	}
}

func TestDBBasicTest_LevelLimitReopen(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	x.createAndReopenWithCF([]string{"pikachu"}, o)
	value := dummyString(1<<20, ' ')
	for i := 0; x.numTableFilesAtLevel(2, 1) == 0; i++ {
		x.mustPut(1, key(i), value)
		x.must(x.full().TestWaitForFlushMemTable(nil))
		x.must(x.full().TestWaitForCompact())
	}
	o.NumLevels = 1
	o.MaxBytesForLevelMultiplierAdditional = []int{1}
	err := x.tryReopenWithColumnFamilies([]string{"default", "pikachu"}, o)
	if !errors.Is(err, rocksdb.ErrInvalidArgument) || err.Error() != "Invalid argument: db has more levels than options.num_levels" {
		t.Fatal(err)
	}
	o.NumLevels = 10
	o.MaxBytesForLevelMultiplierAdditional = []int{1, 1, 1, 1, 1, 1, 1, 1, 1, 1}
	x.reopenWithColumnFamilies([]string{"default", "pikachu"}, o)
}

func TestDBBasicGetWithParam_PutDeleteGet(t *testing.T) {
	eachOptions(t, skipNone, func(x *dbTest) {
		x.createAndReopenWithCF([]string{"pikachu"}, x.currentOptions())
		x.mustPut(1, "foo", "v1")
		x.wantGet(1, "foo", "v1")
		x.mustPut(1, "foo", "v2")
		x.wantGet(1, "foo", "v2")
		x.mustDelete(1, "foo")
		x.wantGet(1, "foo", "NOT_FOUND")
		x.mustPut(0, "default_foo", "default_v1")
		x.wantGet(0, "default_foo", "default_v1")
	})
}

func TestDBBasicGetWithParam_PutSingleDeleteGet(t *testing.T) {
	eachOptions(t, skipFIFOCompaction|skipUniversalCompaction|skipMergePut, func(x *dbTest) {
		x.createAndReopenWithCF([]string{"pikachu"}, x.currentOptions())
		x.mustPut(1, "foo", "v1")
		x.wantGet(1, "foo", "v1")
		x.mustPut(1, "foo2", "v2")
		x.wantGet(1, "foo2", "v2")
		x.mustSingleDelete(1, "foo")
		x.wantGet(1, "foo", "NOT_FOUND")
	})
}

func TestDBBasicTest_EmptyFlush(t *testing.T) {
	eachOptions(t, skipFIFOCompaction|skipUniversalCompaction|skipMergePut, func(x *dbTest) {
		o := x.currentOptions()
		o.DisableAutoCompactions = true
		x.createAndReopenWithCF([]string{"pikachu"}, o)
		x.mustPut(1, "a", "")
		x.mustSingleDelete(1, "a")
		x.flush(1)
		if got := x.allEntriesFor("a", 1); got != "[ ]" {
			t.Fatal(got)
		}
	})
}

func TestDBBasicGetWithParam_GetFromVersions(t *testing.T) {
	eachOptions(t, skipNone, func(x *dbTest) {
		x.createAndReopenWithCF([]string{"pikachu"}, x.currentOptions())
		x.mustPut(1, "foo", "v1")
		x.flush(1)
		x.wantGet(1, "foo", "v1")
		x.wantGet(0, "foo", "NOT_FOUND")
	})
}

func TestDBBasicGetWithParam_GetSnapshot(t *testing.T) {
	eachOptions(t, skipNone, func(x *dbTest) {
		x.createAndReopenWithCF([]string{"pikachu"}, x.currentOptions())
		for _, k := range []string{"foo", dummyString(200, 'x')} {
			x.mustPut(1, k, "v1")
			s := x.db.GetSnapshot()
			x.mustPut(1, k, "v2")
			x.wantGet(1, k, "v2")
			x.wantGetAt(1, k, s, "v1")
			x.flush(1)
			x.wantGet(1, k, "v2")
			x.wantGetAt(1, k, s, "v1")
			x.must(x.db.ReleaseSnapshot(s))
		}
	})
}
