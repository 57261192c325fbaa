// Port of db/db_wal_test.cc (recovery modes, and recovery without a flush).
// Differs: of the ten logs that are damaged, three are tried.

package db_test

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/db/wal"
	"github.com/rocksdb-go/rocksdb/file"
	"github.com/rocksdb-go/rocksdb/file/filename"
)

// What fillWals writes.
const (
	recoveryWALFiles      = 10
	recoveryWALFileOffset = 10 // the first log's number
	recoveryKeysPerWAL    = 133
	recoveryValueSize     = 96
	recoveryKeys          = recoveryWALFiles * recoveryKeysPerWAL
)

// fillWals makes an empty database and then logs as of a crash: key0, key1, …
func (x *dbTest) fillWals(o rocksdb.Options) {
	x.Helper()
	o.CreateIfMissing = true
	x.destroyAndReopen(o)
	x.close()
	fs := o.Env.GetFileSystem()
	fo := rocksdb.NewFileOptions(&o.DBOptions)
	value := []byte(dummyString(recoveryValueSize, 'a'))
	b := rocksdb.NewWriteBatch()
	seq := uint64(1)
	for number := uint64(recoveryWALFileOffset); number < recoveryWALFileOffset+recoveryWALFiles; number++ {
		f, err := file.CreateWritableFileWriter(fs, filename.LogFileName(x.dir, number), fo, nil)
		x.must(err)
		w := wal.NewWriter(f, wal.WriterOptions{LogNumber: number, RecycleLogFiles: o.RecycleLogFileNum > 0, Compression: o.WALCompression})
		x.must(w.AddCompressionTypeRecord(&rocksdb.IOOptions{}))
		for range recoveryKeysPerWAL {
			b.Clear()
			x.must(b.Put([]byte("key"+strconv.FormatUint(seq-1, 10)), value))
			b.SetSequence(seq)
			x.must(w.AddRecord(&rocksdb.IOOptions{}, b.Data(), seq))
			seq++
		}
		x.must(w.Close(&rocksdb.IOOptions{}))
	}
}

// foundKeys tells which of the keys of fillWals are there.
func (x *dbTest) foundKeys() (found []bool, n int) {
	x.Helper()
	found = make([]bool, recoveryKeys)
	for i := range found {
		if found[i] = x.get(0, "key"+strconv.Itoa(i)) != "NOT_FOUND"; found[i] {
			n++
		}
	}
	return found, n
}

// flipBytes changes n bytes of a file in place.
func (x *dbTest) flipBytes(path string, off, n int64) {
	x.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	x.must(err)
	defer f.Close()
	st, err := f.Stat()
	x.must(err)
	off = min(off, st.Size())
	p := make([]byte, min(n, st.Size()-off))
	_, err = f.ReadAt(p, off)
	x.must(err)
	for i := range p {
		p[i] ^= 0x80
	}
	_, err = f.WriteAt(p, off)
	x.must(err)
}

// cutFile cuts a file that is not open.
func (x *dbTest) cutFile(path string, size int64) {
	x.Helper()
	x.fault.UntrackFile(path) // or it would know better
	x.must(os.Truncate(path, size))
}

// damageWal cuts a log at a part of its size, or changes a tenth of it from
// there on.
func (x *dbTest) damageWal(number uint64, at float64, cut bool) {
	x.Helper()
	path := filename.LogFileName(x.dir, number)
	st, err := os.Stat(path)
	x.must(err)
	size := float64(st.Size())
	if cut {
		x.cutFile(path, int64(size*at))
	} else {
		x.flipBytes(path, int64(size*at)+8, int64(size*.1))
	}
}

// walDamage is one way of damage to one of the logs.
type walDamage struct {
	cut         bool
	at          int // in thirds
	number      uint64
	compression rocksdb.CompressionType
}

func (d *walDamage) name() string {
	return fmt.Sprintf("cut=%t/at=%d/log=%d/compression=%d", d.cut, d.at, d.number, d.compression)
}

func eachWalDamage(f func(d walDamage)) {
	for _, cut := range []bool{false, true} {
		for at := range 4 {
			for _, number := range []uint64{recoveryWALFileOffset, recoveryWALFileOffset + 5, recoveryWALFileOffset + recoveryWALFiles - 1} {
				f(walDamage{cut, at, number, rocksdb.NoCompression})
				if number == recoveryWALFileOffset+5 {
					f(walDamage{cut, at, number, rocksdb.ZSTD})
				}
			}
		}
	}
}

// eachWalParam runs f as a subtest for each damage, with and without
// track_and_verify_wals.
func eachWalParam(t *testing.T, f func(x *dbTest, d walDamage, o rocksdb.Options)) {
	x := newDBTest(t)
	eachWalDamage(func(d walDamage) {
		for _, track := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/track=%t", d.name(), track), func(t *testing.T) {
				y := *x
				y.T = t
				o := y.currentOptions()
				o.TrackAndVerifyWALs = track
				f(&y, d, o)
				y.close()
				x.db, x.cfs, x.last = nil, nil, y.last
			})
		}
	})
}

// An incomplete record at a log's end is taken for one never acknowledged, other
// damage is refused.
func TestDBWALTestWithParams_kTolerateCorruptedTailRecords(t *testing.T) {
	eachWalParam(t, func(x *dbTest, d walDamage, o rocksdb.Options) {
		x.fillWals(o)
		x.damageWal(d.number, float64(d.at)*.3, d.cut)
		o.WALRecoveryMode = rocksdb.TolerateCorruptedTailRecords
		if !d.cut {
			if x.tryReopen(o) == nil {
				x.Fatal("opened")
			}
			return
		}
		o.CreateIfMissing = false
		x.reopen(o)
		if _, n := x.foundKeys(); n >= recoveryKeys || d.at != 0 && n == 0 {
			x.Errorf("%d keys", n)
		}
	})
}

// Any damage is refused.
func TestDBWALTestWithParams_kAbsoluteConsistency(t *testing.T) {
	clean := false
	eachWalParam(t, func(x *dbTest, d walDamage, o rocksdb.Options) {
		if !clean {
			x.fillWals(o)
			o.CreateIfMissing = false
			x.reopen(o)
			if _, n := x.foundKeys(); n != recoveryKeys {
				x.Fatalf("%d keys of undamaged logs", n)
			}
			clean = true
		}
		if d.cut && d.at == 0 {
			return
		}
		o.WALCompression = d.compression
		x.fillWals(o)
		x.damageWal(d.number, float64(d.at)*.33, d.cut)
		o.WALRecoveryMode = rocksdb.AbsoluteConsistency
		o.CreateIfMissing = false
		if x.tryReopen(o) == nil {
			x.Fatal("opened")
		}
	})
}

// Everything before the damage is there and nothing after it.
func TestDBWALTestWithParams_kPointInTimeRecovery(t *testing.T) {
	eachWalParam(t, func(x *dbTest, d walDamage, o rocksdb.Options) {
		o.WALCompression = d.compression
		x.fillWals(o)
		x.damageWal(d.number, float64(d.at)*.33, d.cut)
		o.WALRecoveryMode = rocksdb.PointInTimeRecovery
		o.CreateIfMissing = false
		x.reopen(o)
		found, n := x.foundKeys()
		if n >= recoveryKeys {
			x.Errorf("all %d keys", n)
		}
		// A log that is cut to nothing looks like one never written to.
		if !d.cut || d.at != 0 {
			if first := slices.Index(found, false); slices.Contains(found[first:], true) {
				x.Errorf("key%d is missing, but later ones are there", first)
			}
		}
		least := recoveryKeysPerWAL * int(d.number-recoveryWALFileOffset)
		if n < least || !d.cut && d.at != 0 && n > least+recoveryKeysPerWAL {
			x.Errorf("%d keys, where %d and a log's are expected", n, least)
		}
	})
}

// What is undamaged is there.
func TestDBWALTestWithParams_kSkipAnyCorruptedRecords(t *testing.T) {
	eachWalParam(t, func(x *dbTest, d walDamage, o rocksdb.Options) {
		o.WALCompression = d.compression
		x.fillWals(o)
		x.damageWal(d.number, float64(d.at)*.3, d.cut)
		o.WALRecoveryMode = rocksdb.SkipAnyCorruptedRecords
		o.CreateIfMissing = false
		x.reopen(o)
		if _, n := x.foundKeys(); n >= recoveryKeys || !d.cut && d.at == 0 && n == 0 {
			x.Errorf("%d keys", n)
		}
	})
}

// all lists what the default family holds.
func (x *dbTest) all() (out []string) {
	x.Helper()
	it := x.cf(0).NewIterator(nil)
	defer it.Close()
	for k, v := range it.All() {
		out = append(out, string(k)+"="+string(v))
	}
	x.must(it.Err())
	return out
}

// What a recovery dropped stays dropped after more is written, with the damaged
// log still there.
func TestDBWALTestWithParamsVaryingRecoveryMode_RecoverFromCorruptedWALWithoutFlush(t *testing.T) {
	x := newDBTest(t)
	eachWalDamage(func(d walDamage) {
		for mode := rocksdb.TolerateCorruptedTailRecords; mode <= rocksdb.SkipAnyCorruptedRecords; mode++ {
			t.Run(fmt.Sprintf("%s/mode=%d", d.name(), mode), func(t *testing.T) {
				y := *x
				y.T = t
				y.recoverDamagedTwice(d, mode)
				y.close()
				x.db, x.cfs, x.last = nil, nil, y.last
			})
		}
	})
}

func (x *dbTest) recoverDamagedTwice(d walDamage, mode rocksdb.WALRecoveryMode) {
	o := x.currentOptions()
	o.AvoidFlushDuringRecovery = true
	o.DisableAutoCompactions = true
	o.WriteBufferSize = 64 << 20
	o.WALRecoveryMode = mode
	o.WALCompression = d.compression
	x.fillWals(o)
	o.CreateIfMissing = false
	x.damageWal(d.number, float64(d.at)*.3, d.cut)
	if err := x.tryReopen(o); err != nil {
		if mode != rocksdb.AbsoluteConsistency && (d.cut || mode != rocksdb.TolerateCorruptedTailRecords) {
			x.Fatal(err)
		}
		return
	}
	x.reopen(o)
	for k := range 100 {
		x.mustPut(0, "extra_key"+strconv.Itoa(k), dummyString(recoveryValueSize, 'b'))
	}
	before := x.all()
	x.reopen(o)
	if after := x.all(); !slices.Equal(before, after) {
		x.Errorf("%d entries, then %d", len(before), len(after))
	}
}

// A table that is ahead of what the logs give back is refused.
func TestDBWALTest_kPointInTimeRecoveryCFConsistency(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.AvoidFlushDuringRecovery = true
	x.createAndReopenWithCF([]string{"one", "two"}, o)
	x.mustPut(1, "key1", "val1")
	x.mustPut(2, "key2", "val2")
	path := filename.LogFileName(x.dir, x.full().TestLogfileNumber())
	st, err := os.Stat(path)
	x.must(err)
	if st.Size() == 0 {
		t.Fatal("the log is empty")
	}
	x.mustPut(1, "key3", "val3")
	x.flipBytes(path, st.Size(), 4)
	x.mustPut(2, "key4", "val4")
	x.mustPut(1, "key5", "val5")
	x.flush(2)
	o.WALRecoveryMode = rocksdb.PointInTimeRecovery
	if err := x.tryReopenWithColumnFamilies([]string{"default", "one", "two"}, o); !errors.Is(err, rocksdb.ErrCorruption) {
		t.Errorf("reopened: %v", err)
	}
}

func TestDBWALTest_TrackAndVerifyWALsRecycleWAL(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.AvoidFlushDuringShutdown = true
	o.WALRecoveryMode = rocksdb.PointInTimeRecovery
	o.RecycleLogFileNum = 1
	o.TrackAndVerifyWALs = true
	x.destroyAndReopen(o)
	for range 2 {
		for _, k := range []string{"key_ignore", "key_ignore1", "key_ignore2"} {
			x.mustPut(0, k, "wal_to_recycle")
		}
		x.flush(0)
		x.must(x.full().TestWaitForBackgroundWork())
	}
	release := blockPool(o.Env, rocksdb.HighPriority)
	defer release()
	x.mustPut(0, "key1", "old_value")
	x.must(x.full().TestSwitchWAL())
	x.mustPut(0, "key1", "new_value")
	logs := x.wals()
	if len(logs) != 2 {
		t.Fatalf("%d logs, not 2", len(logs))
	}
	x.close()
	// A hole: the older of the two is gone.
	x.cutFile(filename.LogFileName(x.dir, logs[0].LogNumber), 0)
	x.reopen(o)
	x.wantGet(0, "key_ignore2", "wal_to_recycle")
	x.wantGet(0, "key1", "NOT_FOUND")
}

func TestDBWALTest_AvoidFlushDuringRecovery(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.DisableAutoCompactions = true
	put := func(foo, bar string) {
		t.Helper()
		x.mustPut(0, "foo", foo)
		x.mustPut(0, "bar", bar)
	}
	want := func(foo, bar string, tables int) {
		t.Helper()
		x.wantGet(0, "foo", foo)
		x.wantGet(0, "bar", bar)
		x.wantTables(tables)
	}
	x.reopen(o)
	put("v1", "v2")
	x.flush(0)
	put("v3", "v4")
	x.wantTables(1)
	x.reopen(o)
	want("v3", "v4", 2)

	o.AvoidFlushDuringRecovery = true
	x.destroyAndReopen(o)
	put("v5", "v6")
	x.flush(0)
	put("v7", "v8")
	x.wantTables(1)
	x.reopen(o)
	want("v7", "v8", 1)

	// With two-phase commit it is not avoided.
	o.Allow2PC = true
	put("v9", "v10")
	x.flush(0)
	put("v11", "v12")
	x.reopen(o)
	want("v11", "v12", 3)
}

func TestDBWALTest_WalCleanupAfterAvoidFlushDuringRecovery(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.DisableAutoCompactions = true
	o.AvoidFlushDuringRecovery = true
	x.reopen(o)
	x.mustPut(0, "foo", "v1")
	x.reopen(o)
	if len(x.wals()) == 0 {
		t.Fatal("no logs")
	}
	x.flush(0)
	x.must(x.full().TestWaitForBackgroundWork())
	x.wantWals(0)
}

func TestDBWALTest_RecoverWithoutFlush(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.AvoidFlushDuringRecovery = true
	o.DisableAutoCompactions = true
	o.WriteBufferSize = 64 << 20
	x.fillWals(o)
	o.CreateIfMissing = false
	check := func(v string) {
		t.Helper()
		if _, n := x.foundKeys(); n != recoveryKeys {
			t.Fatalf("%d keys", n)
		}
		if v != "" {
			x.wantGet(0, "foo", "foo_"+v)
			x.wantGet(0, "bar", "bar_"+v)
		}
	}
	x.reopen(o)
	check("")
	for _, v := range []string{"v1", "v2", "v3"} {
		if v == "v3" {
			x.flush(0)
			check("v2")
		}
		x.mustPut(0, "foo", "foo_"+v)
		x.mustPut(0, "bar", "bar_"+v)
		x.reopen(o)
		check(v)
	}
}

func TestDBWALTest_RecoverWithoutFlushMultipleCF(t *testing.T) {
	large := dummyString(1024, 'a')
	names := []string{"default", "one", "two"}
	x := newDBTest(t)
	o := x.currentOptions()
	o.AvoidFlushDuringRecovery = true
	o.CreateIfMissing = false
	o.DisableAutoCompactions = true
	flush := func(cf int) {
		t.Helper()
		x.flush(cf)
		x.must(x.full().TestWaitForBackgroundWork())
	}
	x.createAndReopenWithCF(names[1:], o)
	x.mustPut(0, "key1", "v")
	x.mustPut(1, "key2", large)
	flush(1)
	x.wantWals(1)
	x.mustPut(0, "key3", "v")
	x.mustPut(2, "key4", large)
	flush(2)
	x.wantWals(2)

	o.DBWriteBufferSize = 64 << 20
	x.reopenWithColumnFamilies(names, o)
	check := func() {
		t.Helper()
		x.wantGet(0, "key1", "v")
		x.wantGet(1, "key2", large)
		x.wantGet(0, "key3", "v")
		x.wantGet(2, "key4", large)
	}
	check()
	x.mustPut(0, "key5", large)
	x.mustPut(1, "key6", large)
	x.wantWals(3)
	flush(1)
	x.mustPut(2, "key7", large)
	x.must(x.db.FlushWAL(false))
	x.wantWals(4)
	for range 2 {
		x.reopenWithColumnFamilies(names, o)
		check()
		x.wantGet(0, "key5", large)
		x.wantGet(1, "key6", large)
		x.wantGet(2, "key7", large)
		x.wantWals(4)
	}
}

// flushCounter counts flushes, which have to be for one reason.
type flushCounter struct {
	rocksdb.EventListenerBase
	want  rocksdb.FlushReason
	n     atomic.Int64
	other atomic.Int64
}

func (c *flushCounter) OnFlushBegin(_ rocksdb.DBRef, info *rocksdb.FlushJobInfo) {
	c.n.Add(1)
	if info.FlushReason != c.want {
		c.other.Add(1)
	}
}

func TestDBWALTest_RestoreTotalLogSizeAfterRecoverWithoutFlush(t *testing.T) {
	const kB, mB = 1 << 10, 1 << 20
	x := newDBTest(t)
	c := &flushCounter{want: rocksdb.FlushReasonWalFull}
	o := x.currentOptions()
	o.AvoidFlushDuringRecovery = true
	o.MaxTotalWALSize = mB
	o.Listeners = append(o.Listeners, c)
	// max_total_wal_size matters with several families only.
	x.createAndReopenWithCF([]string{"one"}, o)
	x.mustPut(0, "foo", "v1")
	for i := range 9 {
		x.mustPut(1, "key"+strconv.Itoa(i), dummyString(100*kB, 'v'))
	}
	before := x.wals()
	if len(before) != 1 || before[0].SizeFileBytes <= 900*kB || before[0].SizeFileBytes >= mB {
		t.Fatalf("logs: %+v", before)
	}
	x.reopenWithColumnFamilies([]string{"default", "one"}, o)
	x.mustPut(1, "bar", dummyString(300*kB, 'v'))
	after := x.wals()
	if len(after) != 2 || after[0].LogNumber != before[0].LogNumber || after[0].SizeFileBytes+after[1].SizeFileBytes <= mB {
		t.Fatalf("logs: %+v, before %+v", after, before)
	}
	x.mustPut(0, "foo", "v2")
	for cf := range 2 {
		x.waitForFlush(cf)
	}
	if n := c.n.Load(); n != 2 || c.other.Load() != 0 {
		t.Errorf("%d flushes, %d of them for another reason; two families are to be flushed", n, c.other.Load())
	}
}
