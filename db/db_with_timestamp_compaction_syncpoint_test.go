//go:build syncpoint

// Port of db/db_with_timestamp_compaction_test.cc (what needs sync points).

package db_test

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/db/compaction"
	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

func TestTimestampCompatibleCompactionTest_UserKeyCrossFileBoundary(t *testing.T) {
	const keys = 101
	x := newTSCompactionTest(t, func(o *rocksdb.Options) {
		o.CompactionStyle = rocksdb.CompactionStyleLevel
		o.Level0FileNumCompactionTrigger = 3
		o.MemtableFactory = newSpecialSkipListFactory(keys)
	})
	syncpoint.SetCallBack("LevelCompactionPicker::PickCompaction:Return", func(arg any) {
		c, _ := arg.(*compaction.Compaction)
		if c == nil || c.StartLevel() != 0 || c.NumInputLevels() != 1 || c.NumInputFiles(0) != 3 {
			t.Errorf("compaction %v", c)
		}
	})
	syncpoint.EnableProcessing()
	ts, k := uint64(100), uint64(0)
	put := func(prefix string) {
		t.Helper()
		x.putU64(string(key1(k)), ts, fmt.Sprint(prefix, k))
		ts++
	}
	for ; k < keys-1; k++ {
		put("foo_")
	}
	x.flush(0)
	first := ts
	ts++
	k = 99
	for range 4 {
		put("bar_")
	}
	x.flush(0)
	second := ts
	ts++
	for ; k <= 150; k++ {
		put("foo1_")
	}
	x.flush(0)
	x.must(x.full().TestWaitForCompact())
	x.wantU64(string(key1(99)), first, "foo_99")
	x.wantU64(string(key1(99)), second, "bar_99")
	x.wantU64(string(key1(99)), ts, "foo1_99")
}

// Sequence numbers become 0 only where the timestamp is below
// full_history_ts_low.
func TestTimestampCompatibleCompactionTest_SeqnoZeroingWithUDT(t *testing.T) {
	x := newTSCompactionTest(t, func(o *rocksdb.Options) { o.DisableAutoCompactions = true })
	var mu sync.Mutex
	zeroed := map[string]bool{}
	syncpoint.SetCallBack("CompactionIterator::PrepareOutput:ZeroingSeq", func(arg any) {
		k := arg.(*dbformat.ParsedInternalKey)
		if k.Sequence != 0 {
			t.Errorf("%x has sequence number %d", k.UserKey, k.Sequence)
		}
		mu.Lock()
		defer mu.Unlock()
		zeroed[string(k.UserKey[:len(k.UserKey)-8])] = true
	})
	syncpoint.EnableProcessing()
	step := func(key string, ts, low uint64) []string {
		t.Helper()
		x.putU64(key, ts, "value"+key[3:])
		x.flush(0)
		clear(zeroed)
		c := rocksdb.DefaultCompactRangeOptions()
		c.BottommostLevelCompaction = rocksdb.BottommostLevelCompactionForce
		if low > 0 {
			c.FullHistoryTSLow = u64ts(low)
		}
		x.must(x.db.CompactRange(&c, nil, nil))
		return slices.Sorted(maps.Keys(zeroed))
	}
	if got := step("key1", 100, 0); len(got) != 0 {
		t.Errorf("without full_history_ts_low: %v", got)
	}
	if got := step("key2", 200, 300); !slices.Equal(got, []string{"key1", "key2"}) {
		t.Errorf("below full_history_ts_low: %v", got)
	}
	if got := step("key3", 500, 400); slices.Contains(got, "key3") {
		t.Errorf("above full_history_ts_low: %v", got)
	}
	for i := range 3 {
		x.wantU64(fmt.Sprint("key", i+1), 600, fmt.Sprint("value", i+1))
	}
}
