// Port of db/db_etc2_test.cc (opening, epoch numbers).

package db_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/db/version"
)

// fileShape is what epoch numbers' tests look at.
type fileShape struct {
	epoch             uint64
	entries           uint64
	smallest, largest string
}

func (x *dbTest) wantShapes(level, cf int, want ...fileShape) {
	x.Helper()
	files := x.storage(cf).LevelFiles(level)
	same(x, fmt.Sprintf("files at level %d", level), len(files), len(want))
	for i, f := range files {
		same(x, fmt.Sprintf("file %d of level %d", i, level), fileShape{f.EpochNumber, f.NumEntries,
			string(f.Smallest.UserKey()), string(f.Largest.UserKey())}, want[i])
	}
}

func TestDBTest2_SortL0FilesByEpochNumber(t *testing.T) {
	x := newExtTest(t)
	o := x.currentOptions()
	o.NumLevels, o.CompactionStyle = 1, rocksdb.CompactionStyleUniversal
	x.destroyAndReopen(o)
	x.mustPut(0, "key1", "seq1")
	first := x.write(o, "test_files1.sst", kv("key2", "seq0"))
	second := x.write(o, "test_files2.sst", kv("key3", "seq0"))
	x.mustPut(0, "key4", "seq2")
	x.flush(0)
	x.ingest(0, first, second)
	// By epoch numbers, not by sequence numbers.
	x.wantShapes(0, 0, fileShape{3, 1, "key3", "key3"}, fileShape{2, 1, "key2", "key2"}, fileShape{1, 2, "key1", "key4"})
	for i, want := range []rocksdb.SequenceNumber{0, 0, 2} {
		same(t, "largest sequence number", x.level(0)[i].FD.LargestSeqno, want)
	}
	x.compact(0, "", "")
	x.wantShapes(0, 0, fileShape{1, 4, "key1", "key4"}) // the least of the inputs'
}

func TestDBTest2_SameEpochNumberAfterCompactRangeChangeLevel(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.NumLevels, o.DisableAutoCompactions = 7, true
	x.destroyAndReopen(o)
	x.puts(0, "key1", "seq1", "flush")
	x.moveFilesToLevel(1, 0)
	x.wantShapes(0, 0)
	x.wantShapes(1, 0, fileShape{1, 1, "key1", "key1"})
	x.wantShapes(2, 0)
	cro := rocksdb.DefaultCompactRangeOptions()
	cro.ChangeLevel, cro.TargetLevel = true, 0
	x.must(x.db.CompactRange(&cro, nil, nil))
	x.wantShapes(0, 0, fileShape{1, 1, "key1", "key1"})
	x.wantShapes(1, 0)
}

func TestDBTest2_RecoverEpochNumber(t *testing.T) {
	for _, behind := range []bool{true, false} {
		t.Run(fmt.Sprint("behind=", behind), func(t *testing.T) {
			x := newDBTest(t)
			base := uint64(0)
			if behind {
				base = version.ReservedEpochNumberForFileIngestedBehind
			}
			o := x.currentOptions()
			o.AllowIngestBehind, o.NumLevels, o.DisableAutoCompactions = behind, 7, true
			x.destroyAndReopen(o)
			x.createAndReopenWithCF([]string{"cf1"}, o)
			want := func() {
				t.Helper()
				x.wantShapes(0, 0, fileShape{base + 2, 1, "key2", "key2"})
				x.wantShapes(1, 0, fileShape{base + 1, 1, "key1", "key1"})
				x.wantShapes(0, 1, fileShape{base + 1, 1, "cf1_key1", "cf1_key1"})
				for cf, next := range []uint64{3, 2} {
					same(t, "next number", x.cf(cf).Impl().CFD().GetNextEpochNumber(), base+next)
				}
			}
			x.puts(0, "key1", "epoch1", "flush")
			x.moveFilesToLevel(1, 0)
			x.puts(0, "key2", "epoch2", "flush")
			x.puts(1, "cf1_key1", "epoch1", "flush")
			want()
			x.reopenWithColumnFamilies([]string{"default", "cf1"}, o)
			want()
		})
	}
}

func TestDBTest2_RenameDirectory(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	x.destroyAndReopen(o)
	x.mustPut(0, "foo", "value0")
	x.close()
	x.must(os.Rename(x.dir, x.dir+"_2"))
	x.dir += "_2"
	o.CreateIfMissing = false
	x.reopen(o)
	x.wantGet(0, "foo", "value0")
}

func TestDBTest2_CloseWithUnreleasedSnapshot(t *testing.T) {
	x := newDBTest(t)
	s := x.db.GetSnapshot()
	if err := x.db.Close(); err == nil {
		t.Error("closed with a snapshot")
	}
	x.must(x.db.ReleaseSnapshot(s))
	x.must(x.db.Close())
	x.db, x.cfs = nil, nil
}

func TestDBTest2_MultiDBParallelOpenTest(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	parallel := func(f func(dir string) error) {
		t.Helper()
		var wg sync.WaitGroup
		errs := make([]error, 2)
		for i := range errs {
			wg.Go(func() { errs[i] = f(filepath.Join(filepath.Dir(x.dir), "db"+strconv.Itoa(i))) })
		}
		wg.Wait()
		x.must(errors.Join(errs...))
	}
	parallel(func(dir string) error { // empty ones
		d, err := rocksdb.Open(dir, o)
		if err != nil {
			return err
		}
		return errors.Join(d.Put(nil, []byte("xi"), []byte("gua")), d.Close())
	})
	parallel(func(dir string) error { // such as have to be recovered
		d, err := rocksdb.Open(dir, o)
		if err != nil {
			return err
		}
		v, err := d.Get(nil, []byte("xi"))
		v.Release()
		return errors.Join(err, d.Close(), rocksdb.DestroyDB(dir, o))
	})
}
