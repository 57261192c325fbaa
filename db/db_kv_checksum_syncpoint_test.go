//go:build syncpoint

// Port of db/db_kv_checksum_test.cc. Differs: each byte is corrupted by one of
// upstream's three addends, in turn; of a group's batches every third byte is.

package db_test

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"unsafe"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/db/writebatch"
	"github.com/rocksdb-go/rocksdb/db/writethread"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
	"github.com/rocksdb-go/rocksdb/util"
	"github.com/rocksdb-go/rocksdb/utilities/merge_operators"
)

// protectedOps are the kinds of entries, each of which batch makes.
var protectedOps = []string{"Put", "Delete", "SingleDelete", "Merge", "PutEntity", "DeleteRange"}

// corruptAddends are added to the byte that is corrupted.
var corruptAddends = []byte{2, 103, 251}

func protectedBatch(t *testing.T, cf rocksdb.ColumnFamilyHandle, protection uint64, op string) *writebatch.WriteBatch {
	t.Helper()
	b, err := writebatch.NewWithProtection(0, 0, protection, 0)
	if err == nil {
		switch op {
		case "Put":
			err = b.PutCF(cf, []byte("key"), []byte("val"))
		case "Delete":
			err = b.DeleteCF(cf, []byte("key"))
		case "SingleDelete":
			err = b.SingleDeleteCF(cf, []byte("key"))
		case "DeleteRange":
			err = b.DeleteRangeCF(cf, []byte("begin"), []byte("end"))
		case "Merge":
			err = b.MergeCF(cf, []byte("key"), []byte("val"))
		case "PutEntity":
			err = b.PutEntityCF(cf, []byte("key"), rocksdb.WideColumns{
				{Name: []byte("attr_name1"), Value: []byte("foo")}, {Name: []byte("attr_name2"), Value: []byte("bar")}})
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// checksumTest corrupts the next byte at each call of a sync point.
type checksumTest struct {
	*dbTest
	op       string
	mode     string
	offset   int
	entryLen int
	options  rocksdb.Options
	cfs      []string
}

// writeModes are how a write gets its checksums.
const (
	unprotectedBatch = "unprotected batch"
	protectedByBatch = "protected batch"
	protectedByWrite = "protected by WriteOptions"
)

func eachProtected(t *testing.T, ops, modes []string, withFamily bool, f func(x *checksumTest)) {
	for _, op := range ops {
		for _, mode := range modes {
			t.Run(op+"/"+mode, func(t *testing.T) {
				d := newDBTest(t)
				x := &checksumTest{dbTest: d, op: op, mode: mode, entryLen: math.MaxInt, options: d.currentOptions()}
				if op == "Merge" {
					x.options.MergeOperator = mergeoperators.NewStringAppendOperator(",")
				}
				x.destroyAndReopen(x.options)
				if withFamily {
					x.cfs = []string{"default", "pikachu"}
					x.createAndReopenWithCF(x.cfs[1:], x.options)
				}
				f(x)
			})
		}
	}
}

func (x *checksumTest) again() {
	x.Helper()
	if x.cfs != nil {
		x.reopenWithColumnFamilies(x.cfs, x.options)
		return
	}
	x.reopen(x.options)
}

func (x *checksumTest) execute() error {
	x.Helper()
	cf := x.last().Impl()
	wo := rocksdb.DefaultWriteOptions()
	protection := uint64(0)
	switch x.mode {
	case protectedByBatch:
		protection = 8
	case protectedByWrite:
		wo.ProtectionBytesPerKey = 8
	}
	return x.db.Write(&wo, protectedBatch(x.T, cf, protection, x.op))
}

func (x *checksumTest) corruptAt(point string, from int) {
	x.offset = from
	syncpoint.SetCallBack(point, func(arg any) {
		var entry []byte
		switch a := arg.(type) {
		case []byte:
			entry = a
		case *[]byte:
			entry = *a
		}
		x.entryLen = len(entry)
		entry[x.offset] += x.addend()
		x.offset++
	})
}

// addend is what the next byte is corrupted by.
func (x *checksumTest) addend() byte { return corruptAddends[x.offset%len(corruptAddends)] }

func (x *checksumTest) wantCorruption(err error) {
	x.Helper()
	if rocksdb.CodeOf(err) != rocksdb.CodeCorruption {
		x.Fatalf("byte %d of %d: %v", x.offset-1, x.entryLen, err)
	}
}

var protectedModes = []string{protectedByBatch, protectedByWrite}

func memTableAddCorrupted(t *testing.T, withFamily bool) {
	eachProtected(t, protectedOps, protectedModes, withFamily, func(x *checksumTest) {
		x.corruptAt("MemTable::Add:Encoded", 0)
		for x.offset < x.entryLen {
			x.again()
			syncpoint.EnableProcessing()
			x.wantCorruption(x.execute())
			syncpoint.DisableProcessing()
		}
	})
}

func TestDbKvChecksumTest_MemTableAddCorrupted(t *testing.T) { memTableAddCorrupted(t, false) }

func TestDbKvChecksumTest_MemTableAddWithColumnFamilyCorrupted(t *testing.T) {
	memTableAddCorrupted(t, true)
}

func TestDbKvChecksumTest_NoCorruptionCase(t *testing.T) {
	for _, op := range protectedOps {
		x := newDBTest(t)
		if err := protectedBatch(t, x.cf(0).Impl(), 8, op).VerifyChecksum(); err != nil {
			t.Fatal(op, err)
		}
	}
}

func writeToWALCorrupted(t *testing.T, withFamily bool) {
	eachProtected(t, protectedOps, protectedModes, withFamily, func(x *checksumTest) {
		x.corruptAt("DBImpl::WriteToWAL:log_entry", 8)
		for x.offset < x.entryLen {
			x.again()
			before := x.full().TestWALsTotalSize()
			syncpoint.EnableProcessing()
			x.wantCorruption(x.execute())
			syncpoint.DisableProcessing()
			x.wantNothingLogged(before)
		}
	})
}

func (x *checksumTest) wantNothingLogged(before uint64) {
	x.Helper()
	if n := x.full().TestWALsTotalSize(); n != before {
		x.Fatalf("the log grew from %d to %d", before, n)
	}
	x.wantCorruption(x.full().TestGetBGError())
}

func TestDbKvChecksumTest_WriteToWALCorrupted(t *testing.T) { writeToWALCorrupted(t, false) }

func TestDbKvChecksumTest_WriteToWALWithColumnFamilyCorrupted(t *testing.T) {
	writeToWALCorrupted(t, true)
}

// mergedBatchCorrupted corrupts a batch of a group of two, before the group is
// written.
func mergedBatchCorrupted(t *testing.T, withFamily bool) {
	for _, op := range protectedOps {
		for _, op2 := range protectedOps {
			t.Run(op+"/"+op2, func(t *testing.T) {
				x := &checksumTest{dbTest: newDBTest(t)}
				x.options = x.currentOptions()
				x.options.MergeOperator = mergeoperators.NewStringAppendOperator(",")
				x.reopen(x.options)
				if withFamily {
					x.cfs = []string{"default", "ramen"}
					x.createAndReopenWithCF(x.cfs[1:], x.options)
				}
				total := protectedBatch(t, x.last().Impl(), 8, op).GetDataSize() +
					protectedBatch(t, x.last().Impl(), 8, op2).GetDataSize()
				for i := 8; i < total; i += 3 {
					x.corruptGroup(op, op2, i, corruptAddends[i/3%len(corruptAddends)])
				}
			})
		}
	}
}

// corruptGroup writes a group of two, of whose batches byte i is corrupt.
func (x *checksumTest) corruptGroup(op, op2 string, i int, addend byte) {
	x.Helper()
	x.again()
	cf := x.last().Impl()
	leader, follower := protectedBatch(x.T, cf, 8, op), protectedBatch(x.T, cf, 8, op2)
	b := leader
	if n := leader.GetDataSize(); i >= n {
		b, i = follower, i-n
	}
	if i < 8 {
		return // the sequence number
	}
	joined, done := make(chan struct{}), make(chan error, 1)
	leaders := 0
	syncpoint.SetCallBack("WriteThread::JoinBatchGroup:Wait2", func(arg any) {
		if arg.(*writethread.Writer).Batch != leader {
			return
		}
		leaders++
		syncpoint.SetCallBack("WriteThread::JoinBatchGroup:Wait", func(arg any) {
			if arg.(*writethread.Writer).Batch == follower {
				b.Data()[i] += addend
				close(joined)
			}
		})
		go func() { done <- x.db.Write(nil, follower) }()
		<-joined
	})
	before := x.full().TestWALsTotalSize()
	syncpoint.EnableProcessing()
	x.wantCorruption(x.db.Write(nil, leader))
	x.wantCorruption(<-done)
	syncpoint.Reset()
	if leaders != 1 {
		x.Fatal(leaders)
	}
	x.wantNothingLogged(before)
}

func TestDbKvChecksumTestMergedBatch_WriteToWALCorrupted(t *testing.T) {
	mergedBatchCorrupted(t, false)
}

func TestDbKvChecksumTestMergedBatch_WriteToWALWithColumnFamilyCorrupted(t *testing.T) {
	mergedBatchCorrupted(t, true)
}

func TestDbKvChecksumTestMergedBatch_NoCorruptionCase(t *testing.T) {
	x := newDBTest(t)
	for _, op := range protectedOps {
		for _, op2 := range protectedOps {
			a, b := protectedBatch(t, x.cf(0).Impl(), 8, op), protectedBatch(t, x.cf(0).Impl(), 8, op2)
			x.must(a.Append(b, false))
			if err := a.VerifyChecksum(); err != nil || a.Count() != 2 || len(a.Protection()) != 2 {
				t.Fatal(op, op2, err)
			}
		}
	}
}

// The value's length is at this byte of the entries of keys and values of three
// bytes; it and the key's length, at byte 0, are not corrupted.
const valueLenOffset = 12

func (x *checksumTest) skipLengths() {
	for x.offset == 0 || x.offset == valueLenOffset {
		x.offset++
	}
}

// eachProtectedMemtable runs f with each size of memtable checksums.
func eachProtectedMemtable(t *testing.T, withFamily bool, f func(x *checksumTest)) {
	for _, n := range []uint32{2, 4, 8} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			ops := slices.DeleteFunc(slices.Clone(protectedOps), func(s string) bool { return s == "DeleteRange" })
			eachProtected(t, ops, []string{unprotectedBatch, protectedByBatch}, withFamily, func(x *checksumTest) {
				x.options.MemtableProtectionBytesPerKey = n
				f(x)
			})
		})
	}
}

// fresh opens an empty database and writes to it.
func (x *checksumTest) fresh() {
	x.Helper()
	x.destroyAndReopen(x.options)
	if x.cfs != nil {
		x.createAndReopenWithCF(x.cfs[1:], x.options)
	}
	x.must(x.execute())
}

func (x *checksumTest) last() *rocksdb.ColumnFamily { return x.cf(max(0, len(x.dbTest.cfs)-1)) }

func getCorrupted(t *testing.T, withFamily bool, from int) {
	eachProtectedMemtable(t, withFamily, func(x *checksumTest) {
		syncpoint.SetCallBack("MemTable::Add:BeforeReturn:Encoded", func(arg any) { x.entryLen = len(arg.([]byte)) })
		x.offset = from
		syncpoint.SetCallBack("Memtable::SaveValue:Found:entry", func(arg any) {
			*(*byte)(unsafe.Add(arg.(unsafe.Pointer), x.offset)) += x.addend()
			x.offset++
		})
		syncpoint.EnableProcessing()
		for x.skipLengths(); x.offset < x.entryLen; x.skipLengths() {
			x.fresh()
			_, err := x.last().Get(nil, []byte("key"))
			x.wantCorruption(err)
			if from > 0 {
				// Only the value is corrupt; the key is found again.
				var values [1]rocksdb.PinnableSlice
				var errs [1]error
				x.last().MultiGet(nil, [][]byte{[]byte("key")}, values[:], errs[:])
				x.wantCorruption(errs[0])
			}
		}
	})
}

func TestDbMemtableKVChecksumTest_GetWithCorruptAfterMemtableInsert(t *testing.T) {
	getCorrupted(t, false, valueLenOffset+1)
}

func TestDbMemtableKVChecksumTest_GetWithColumnFamilyCorruptAfterMemtableInsert(t *testing.T) {
	getCorrupted(t, true, 0)
}

func iteratorCorrupted(t *testing.T, withFamily bool) {
	eachProtectedMemtable(t, withFamily, func(x *checksumTest) {
		x.corruptAt("MemTable::Add:BeforeReturn:Encoded", 0)
		syncpoint.EnableProcessing()
		for x.skipLengths(); x.offset < x.entryLen; x.skipLengths() {
			x.fresh()
			it := x.last().NewIterator(nil)
			if it.SeekToFirst(); it.Valid() {
				t.Fatal("valid")
			}
			x.wantCorruption(it.Status())
			it.Close()
		}
	})
}

func TestDbMemtableKVChecksumTest_IteratorWithCorruptAfterMemtableInsert(t *testing.T) {
	iteratorCorrupted(t, false)
}

func TestDbMemtableKVChecksumTest_IteratorWithColumnFamilyCorruptAfterMemtableInsert(t *testing.T) {
	iteratorCorrupted(t, true)
}

func TestDbMemtableKVChecksumTest_FlushWithCorruptAfterMemtableInsert(t *testing.T) {
	eachProtectedMemtable(t, false, func(x *checksumTest) {
		x.corruptAt("MemTable::Add:BeforeReturn:Encoded", 1)
		syncpoint.EnableProcessing()
		x.fresh()
		x.wantCorruption(x.cf(0).Flush(nil))
		x.wantCorruption(x.full().TestGetBGError())
	})
}

func TestDbKVChecksumWALToWriteBatchTest_WriteBatchChecksumHandoff(t *testing.T) {
	for _, size := range []int{3, 100_000} { // one fragment of a log record, and several
		x := newDBTest(t)
		x.mustPut(0, "key", dummyString(size, 'v'))
		var content []byte
		syncpoint.SetCallBack("DBImpl::RecoverLogFiles:BeforeUpdateProtectionInfo:batch", func(arg any) {
			b := arg.(*writebatch.WriteBatch).Data()
			content = slices.Clone(b)
			b[0]++
		})
		syncpoint.SetCallBack("DBImpl::RecoverLogFiles:BeforeUpdateProtectionInfo:checksum", func(arg any) {
			if sum := *arg.(*uint64); sum != util.ComputeXXH3(content) {
				t.Errorf("checksum %x, not %x", sum, util.ComputeXXH3(content))
			}
		})
		syncpoint.EnableProcessing()
		wantCorruption(t, x.tryReopen(x.currentOptions()), "Write batch content corrupted", ".log")
		if content == nil {
			t.Error("no batch")
		}
		endSyncPoints()
		x.reopen(x.currentOptions())
		x.wantGet(0, "key", dummyString(size, 'v'))
	}
}
