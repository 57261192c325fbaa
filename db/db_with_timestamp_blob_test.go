// Port of db/db_with_timestamp_basic_test.cc
// (ReverseIterationWithUnpreparedBlobTest).

package db_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/rocksdb-go/rocksdb"
)

func TestReverseIterationWithUnpreparedBlobTest_Basic(t *testing.T) {
	for _, unprepared := range []bool{true, false} {
		for _, skip := range []uint64{0, 2} {
			t.Run(fmt.Sprintf("unprepared=%t,skip=%d", unprepared, skip), func(t *testing.T) {
				x := newTSTest(t, func(o *rocksdb.Options) {
					o.EnableBlobFiles = true
					o.MaxSequentialSkipInIterations = skip
				})
				const maxKey = 1024
				for k := range uint64(maxKey + 1) {
					for i, ts := range []uint64{1, 3} {
						x.putTS(string(key1(k)), ts, fmt.Sprintf("%svalue%d", key1(k), i))
					}
				}
				x.flush(0)
				ro := readAt(timestamp(4, 0))
				ro.AllowUnpreparedValue = unprepared
				it := x.db.NewIterator(ro)
				defer it.Close()
				k := uint64(maxKey)
				count := 0
				for it.SeekForPrev(key1(k)); it.Valid(); it.Prev() {
					if unprepared && len(it.Value()) != 0 {
						t.Fatalf("key %d: the value is there before PrepareValue", k)
					}
					if !it.PrepareValue() || !it.Valid() {
						t.Fatalf("key %d: no value, %v", k, it.Err())
					}
					if !bytes.Equal(it.Key(), key1(k)) || !bytes.Equal(it.Timestamp(), timestamp(3, 0)) || string(it.Value()) != string(key1(k))+"value1" {
						t.Fatalf("key %d: %x at %x = %q", k, it.Key(), it.Timestamp(), it.Value())
					}
					k--
					count++
				}
				x.must(it.Err())
				if count != maxKey+1 {
					t.Errorf("%d keys", count)
				}
			})
		}
	}
}
