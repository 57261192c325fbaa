// Port of db/db_clip_test.cc.

package db_test

import (
	"bytes"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

func TestDBClipTest_TestClipRange(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.WriteBufferSize = 10 << 20
	o.MaxBytesForLevelMultiplier, o.NumLevels = 2, 3
	o.MaxBackgroundCompactions, o.DisableAutoCompactions = 3, true
	o.Statistics = rocksdb.NewStatistics()
	x.destroyAndReopen(o)
	rnd := util.NewRandom(301)
	values := make([]string, 1000)
	for i := range values {
		values[i] = rnd.HumanReadableString(10 << 10)
	}
	write := func(file int) {
		for k := file * 100; k < (file+1)*100; k++ {
			x.mustPut(0, key(k), values[k])
		}
		x.flush(0)
	}
	for i := range 10 {
		write(i)
	}
	x.wantFiles(0, "10")
	clip := func(begin, end int) {
		t.Helper()
		x.must(x.db.ClipColumnFamily([]byte(key(begin)), []byte(key(end))))
		for i, v := range values {
			if i < begin || i >= end {
				v = "NOT_FOUND"
			}
			x.wantGet(0, key(i), v)
		}
		for _, f := range x.db.GetLiveFilesMetaData() {
			if bytes.Compare(f.SmallestKey, []byte(key(begin))) < 0 || bytes.Compare(f.LargestKey, []byte(key(end))) >= 0 {
				t.Errorf("%s has %q to %q", f.RelativeFilename, f.SmallestKey, f.LargestKey)
			}
		}
	}
	clip(251, 751)
	co := rocksdb.DefaultCompactRangeOptions()
	co.ChangeLevel, co.TargetLevel = true, 2
	x.must(x.db.CompactRange(&co, nil, nil))
	x.wantFiles(0, "0,0,3")
	for i := 0; i < 10; i += 2 {
		write(i)
	}
	x.wantFiles(0, "5,0,3")
	x.must(x.full().TestCompactRange(0, nil, nil, x.cf(0).Impl(), false))
	x.wantFiles(0, "0,5,3")
	for i := 1; i < 10; i += 2 {
		write(i)
	}
	x.wantFiles(0, "5,5,3")
	clip(222, 888)
}
