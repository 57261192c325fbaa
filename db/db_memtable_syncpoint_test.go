//go:build syncpoint

// Port of db/db_memtable_test.cc (integrity checks).

package db_test

import (
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

// lookups are the ways to look a key up; each gives the error.
func (x *dbTest) lookups(key string) map[string]error {
	it := x.db.NewIterator(nil)
	defer it.Close()
	_, get := x.db.Get(nil, []byte(key))
	values, errs := make([]rocksdb.PinnableSlice, 1), make([]error, 1)
	x.cf(0).MultiGet(nil, [][]byte{[]byte(key)}, values, errs)
	it.Seek([]byte(key))
	return map[string]error{"Get": get, "MultiGet": errs[0], "Seek": it.Err()}
}

func (x *dbTest) wantCorruptionOf(what string, err error, data string, shown bool) {
	x.Helper()
	if !rocksdb.IsCorruption(err) || strings.Contains(strings.ToUpper(err.Error()), strings.ToUpper(hex.EncodeToString([]byte(data)))) != shown {
		x.Fatalf("%s: %v, with %x: %v", what, err, data, shown)
	}
}

func TestDBMemTableTestForSeek_IntegrityChecks(t *testing.T) {
	for i := range 8 {
		showData, paranoid, onSeek := i&1 != 0, i&2 != 0, i&4 != 0
		t.Run(fmt.Sprintf("allow_data_in_errors=%v,paranoid=%v,on_seek=%v", showData, paranoid, onSeek), func(t *testing.T) {
			x := newDBTest(t)
			o := x.currentOptions()
			o.AllowDataInErrors, o.ParanoidMemoryChecks, o.MemtableVerifyPerKeyChecksumOnSeek = showData, paranoid, onSeek
			o.MemtableProtectionBytesPerKey = 8
			x.destroyAndReopen(o)
			const n = 100
			var entries [][]byte
			syncpoint.SetCallBack("MemTable::Add:BeforeReturn:Encoded", func(arg any) { entries = append(entries, arg.([]byte)) })
			syncpoint.EnableProcessing()
			for i := range n {
				x.mustPut(0, key(i*10), "val0")
			}
			endSyncPoints()
			it := x.db.NewIterator(nil)
			for it.Seek([]byte(key(0))); it.Valid(); it.Next() {
			}
			x.must(it.Err())
			it.Close()
			if len(entries) != n {
				t.Fatal(len(entries))
			}
			for i, e := range entries {
				k := key(i * 10)
				e[len(k)] = '5' // the last digit
				corrupted := k[:len(k)-1] + "5"
				for what, err := range x.lookups(k) {
					switch {
					case onSeek:
						x.wantCorruptionOf(what, err, corrupted, showData)
					case what == "Seek" && !rocksdb.IsCorruption(err), what != "Seek" && !rocksdb.IsNotFound(err):
						t.Fatalf("%s: %v", what, err)
					}
				}
				e[len(k)] = '0'
			}
		})
	}
}

func TestDBMemTableTest_IntegrityChecks(t *testing.T) {
	for _, showData := range []bool{false, true} {
		x := newDBTest(t)
		o := x.currentOptions()
		o.AllowDataInErrors, o.ParanoidMemoryChecks = showData, true
		x.destroyAndReopen(o)
		syncpoint.SetCallBack("InlineSkipList::RandomHeight::height", func(arg any) { *arg.(*int) = 1 })
		syncpoint.EnableProcessing()
		x.mustPut(0, key(0), "val0")
		x.mustPut(0, key(2), "val2")
		var entry []byte
		syncpoint.SetCallBack("MemTable::Add:BeforeReturn:Encoded", func(arg any) { entry = arg.([]byte) })
		x.mustPut(0, key(1), "val1")
		endSyncPoints()
		entry[1] = 'a' // before key(0) now
		for what, err := range x.lookups(key(1)) {
			x.wantCorruptionOf(what, err, key(0), showData)
		}
		it := x.db.NewIterator(nil)
		if it.Seek([]byte(key(0))); !it.Valid() || it.Err() != nil {
			t.Fatal(it.Err())
		}
		it.Next()
		x.wantCorruptionOf("Next", it.Err(), key(0), showData)
		if it.Valid() {
			t.Error("valid")
		}
		it.SeekForPrev([]byte(key(2)))
		x.wantCorruptionOf("SeekForPrev", it.Err(), key(0), showData)
		it.SeekToLast()
		x.wantCorruptionOf("SeekToLast", it.Err(), key(0), showData)
		if it.Valid() {
			t.Error("valid")
		}
		it.Close()
		entry[1] = 'k' // so that the flush of Close finds nothing wrong
	}
}
