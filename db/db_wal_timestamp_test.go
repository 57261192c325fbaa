// Port of db/db_wal_test.cc (DBWALTestWithTimestamp).

package db_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

// walTSTest is a database with a family that has timestamps of 8 bytes.
type walTSTest struct {
	*dbTest
	persisted, avoidFlush bool
}

func (x *walTSTest) defaults() rocksdb.Options {
	o := x.currentOptions()
	o.AllowConcurrentMemtableWrite = x.persisted
	return o
}

func (x *walTSTest) reopenFamily(o rocksdb.Options) {
	x.Helper()
	d := x.defaults()
	d.AvoidFlushDuringRecovery = x.avoidFlush
	x.reopenWithColumnFamilies([]string{"default", "pikachu"}, d, o)
}

func (x *walTSTest) create(o rocksdb.Options) {
	x.Helper()
	x.destroyAndReopen(x.defaults())
	x.createColumnFamilies([]string{"pikachu"}, o)
	x.reopenFamily(o)
}

func (x *walTSTest) putAt(key string, ts uint64, value string) {
	x.Helper()
	x.must(x.cf(1).PutWithTimestamp(nil, []byte(key), u64ts(ts), []byte(value)))
}

// wantAt wants a value and its timestamp, read at a timestamp.
func (x *walTSTest) wantAt(read uint64, key, value string, ts uint64) {
	x.Helper()
	v, got, err := x.cf(1).GetWithTimestamp(readAt(u64ts(read)), []byte(key))
	x.must(err)
	defer v.Release()
	if string(v.Data()) != value || !bytes.Equal(got, u64ts(ts)) {
		x.Fatalf("%s at %d is %q of %x, not %q of %d", key, read, v.Data(), got, value, ts)
	}
}

func (x *walTSTest) wantTables(n int) {
	x.Helper()
	if got := x.totalTableFiles(1); got != n {
		x.Fatalf("%d tables, not %d", got, n)
	}
}

func (x *walTSTest) fullHistoryTSLow() []byte {
	x.Helper()
	low, err := x.cf(1).GetFullHistoryTsLow()
	x.must(err)
	return low
}

func eachWALTS(t *testing.T, avoidFlush bool, f func(x *walTSTest, o rocksdb.Options)) {
	for _, persisted := range []bool{false, true} {
		t.Run(fmt.Sprintf("persisted=%t", persisted), func(t *testing.T) {
			x := &walTSTest{dbTest: newDBTest(t), persisted: persisted, avoidFlush: avoidFlush}
			o := rocksdb.DefaultOptions()
			o.Env = x.env
			o.Comparator = util.BytewiseComparatorWithU64Ts()
			o.PersistUserDefinedTimestamps = persisted
			o.AllowConcurrentMemtableWrite = persisted
			f(x, o)
		})
	}
}

// Timestamps are recovered from the log even where tables do without.
func TestDBWALTestWithTimestamp_RecoverAndNoFlush(t *testing.T) {
	eachWALTS(t, true, func(x *walTSTest, o rocksdb.Options) {
		for more := true; more; more = x.changeWalOptions() {
			x.create(o)
			x.wantTables(0)
			x.putAt("foo", 1, "v1")
			x.putAt("baz", 1, "v5")
			x.reopenFamily(o)
			x.wantTables(0)
			x.wantAt(1, "foo", "v1", 1)
			x.wantAt(1, "baz", "v5", 1)
			x.putAt("bar", 2, "v2")
			x.putAt("foo", 2, "v3")
			x.reopenFamily(o)
			x.wantTables(0)
			x.putAt("foo", 3, "v4")

			x.wantAt(1, "foo", "v1", 1)
			_, err := x.cf(1).Get(readAt(u64ts(1)), []byte("bar"))
			x.wantIs(err, rocksdb.ErrNotFound)
			x.wantAt(1, "baz", "v5", 1)
			x.wantAt(2, "foo", "v3", 2)
			x.wantAt(2, "bar", "v2", 2)
			x.wantAt(2, "baz", "v5", 1)
			x.wantAt(3, "foo", "v4", 3)
			x.wantAt(3, "bar", "v2", 2)
			x.wantAt(3, "baz", "v5", 1)
			if low := x.fullHistoryTSLow(); len(low) != 0 {
				x.Errorf("full_history_ts_low is %x", low)
			}
		}
	})
}

func TestDBWALTestWithTimestamp_RecoverAndFlush(t *testing.T) {
	eachWALTS(t, false, func(x *walTSTest, o rocksdb.Options) {
		x.create(o)
		x.wantTables(0)
		x.putAt("foo", 1, "v1")
		x.putAt("baz", 1, "v5")
		x.reopenFamily(o)
		x.wantTables(1)
		files := x.storage(1).LevelFiles(0)
		if len(files) != 1 {
			x.Fatalf("%d tables on level 0", len(files))
		}
		kept, low := u64ts(0), u64ts(2) // what is below the cutoff after the write has no timestamp
		if x.persisted {
			kept, low = u64ts(1), nil
		}
		smallest, largest := files[0].Smallest.UserKey(), files[0].Largest.UserKey()
		if string(smallest) != "baz"+string(kept) || string(largest) != "foo"+string(kept) {
			x.Errorf("keys %q to %q", smallest, largest)
		}
		if got := x.fullHistoryTSLow(); !bytes.Equal(got, low) {
			x.Errorf("full_history_ts_low is %x, not %x", got, low)
		}
	})
}

func TestDBWALTestWithTimestamp_EnableDisableUDT(t *testing.T) {
	x := &walTSTest{dbTest: newDBTest(t), persisted: true, avoidFlush: true}
	o := rocksdb.DefaultOptions()
	o.Env = x.env
	x.create(o)
	x.mustPut(1, "foo", "v1")
	x.mustPut(1, "baz", "v5")

	ts := o
	ts.Comparator = util.BytewiseComparatorWithU64Ts()
	ts.PersistUserDefinedTimestamps, ts.AllowConcurrentMemtableWrite = false, false
	x.persisted = false
	x.reopenFamily(ts)
	x.wantAt(0, "foo", "v1", 0)
	x.wantAt(0, "baz", "v5", 0)
	x.putAt("foo", 1, "v2")
	x.putAt("baz", 1, "v6")
	x.wantAt(1, "foo", "v2", 1)
	x.wantAt(1, "baz", "v6", 1)

	x.persisted = true
	x.reopenFamily(o)
	x.wantGet(1, "foo", "v2")
	x.wantGet(1, "baz", "v6")
}
