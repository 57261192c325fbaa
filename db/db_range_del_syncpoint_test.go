//go:build syncpoint

// Port of db/db_range_del_test.cc (cases with sync points) and of
// DBTestTailingIterator.TailingIteratorUpperBound.

package db_test

import (
	"testing"

	compactionjob "github.com/rocksdb-go/rocksdb/db/compaction/job"
	"github.com/rocksdb-go/rocksdb/db/dbformat"
	contract "github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

// cutBefore makes compactions end a table before each entry of a key with a
// sequence number of at most seq, or before the first such one.
func cutBefore(userKey string, seq contract.SequenceNumber, once bool) {
	syncpoint.SetCallBack("CompactionOutputs::ShouldStopBefore::manual_decision", func(arg any) {
		d := arg.(*compactionjob.ManualDecision)
		k, err := dbformat.ParseInternalKey(d.Key, true)
		if err == nil && string(k.UserKey) == userKey && k.Sequence <= seq {
			d.Stop = true
			if once {
				syncpoint.DisableProcessing()
			}
		}
	})
	syncpoint.EnableProcessing()
}

// lastLevelPair puts a table on the last level, so that compactions above it
// estimate sizes.
func (x *dbTest) lastLevelPair() {
	x.Helper()
	o := x.currentOptions()
	o.DisableAutoCompactions, o.TargetFileSizeBase = true, 1<<10
	x.destroyAndReopen(o)
	x.puts(0, key(1), "v1", key(4), "v2")
	x.flushTo(6)
}

func TestDBRangeDelTest_AddRangeDelsSameLowerAndUpperBound(t *testing.T) {
	x, rnd := newDBTest(t), newRandom()
	x.lastLevelPair()
	x.puts(0, key(1), rnd.str(4<<10), key(3), rnd.str(4<<10))
	s := x.db.GetSnapshot() // keeps key 3
	defer x.db.ReleaseSnapshot(s)
	x.deleteRange(0, key(2), key(4))
	x.flush(0)
	x.puts(0, key(3), rnd.str(4<<10), key(4), rnd.str(4<<10), "flush")
	x.moveFilesToLevel(1, 0)
	// Key 3 is in both tables.
	files := x.level(1)
	if len(files) != 2 {
		t.Fatal(x.filesPerLevel(0))
	}
	for i, want := range []string{
		string(dbformat.AppendInternalKey(nil, []byte(key(3)), 6, dbformat.TypeValue)),
		string(dbformat.AppendInternalKey(nil, []byte(key(3)), 4, dbformat.TypeValue)),
	} {
		if got := []string{string(files[0].Largest), string(files[1].Smallest)}[i]; got != want {
			t.Fatalf("bound %d: %q, not %q", i, got, want)
		}
	}
	// Cut before the tombstone's sentinel and the point of the same key.
	cutBefore(key(3), 4, false)
	x.compactLevel(1, key(0), key(5))
	syncpoint.Reset()
	x.iter(0).walk("first", "="+key(1), "next", "="+key(3), "next", "="+key(4), "next", "(invalid)")
}

func TestDBRangeDelTest_AddRangeDelsSingleUserKeyTombstoneOnlyFile(t *testing.T) {
	x, rnd := newDBTest(t), newRandom()
	x.lastLevelPair()
	x.puts(0, key(1), rnd.str(10), key(3), rnd.str(10)) // key 3 at 4
	s1 := x.db.GetSnapshot()
	defer x.db.ReleaseSnapshot(s1)
	x.mustPut(0, key(3), rnd.str(10)) // at 5
	s2 := x.db.GetSnapshot()
	x.deleteRange(0, key(2), key(4))
	x.puts(0, key(3), rnd.str(10), "flush") // at 7
	// The tombstone ends with 7 in the first table and starts from 5 in the other.
	cutBefore(key(3), 6, true)
	x.compactLevel(0, key(0), key(5))
	if n := x.numTableFilesAtLevel(1, 0); n != 2 {
		t.Fatal(x.filesPerLevel(0))
	}
	// Between 5, dropped, and 4 there is a table of a tombstone alone, which is
	// not kept.
	x.must(x.db.ReleaseSnapshot(s2))
	cutBefore(key(3), 6, false)
	x.compactLevel(1, key(0), key(5))
	syncpoint.Reset()
	if n := x.numTableFilesAtLevel(2, 0); n != 2 {
		t.Fatal(x.filesPerLevel(0))
	}
	x.iter(0).walk("first", "="+key(1), "next", "="+key(3), "next", "="+key(4), "next", "(invalid)")
}

func TestDBRangeDelTest_RangeTombstoneRespectIterateUpperBound(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.DisableAutoCompactions = true
	x.destroyAndReopen(o)
	x.mustPut(0, "a", "bar")
	x.deleteRange(0, "b", "bz")
	syncpoint.SetCallBack("MergeIterator::PopDeleteRangeStart", func(any) { t.Error("a tombstone beyond the bound was looked at") })
	syncpoint.EnableProcessing()
	x.iter(0, upperBound("az")).walk("seek a", "=a", "next", "(invalid)")
}

func TestDBTestTailingIterator_TailingIteratorUpperBound(t *testing.T) {
	eachTailing(t, func(x *tailingTest) {
		x.pikachu()
		x.puts(1, "11", "11", "12", "12", "22", "22", "flush", "21", "21")
		it := x.tail(1, upperBound("20"))
		it.walk("seek 12", "=12", "next", "(invalid)") // 21 is in the memtable
		seeks := countHits("ForwardIterator::SeekInternal:Immutable")
		syncpoint.EnableProcessing()
		it.walk("seek 13", "(invalid)")
		syncpoint.Reset()
		if *seeks != 0 {
			t.Errorf("%d seeks in tables", *seeks)
		}
	})
}
