// No upstream twin: databases with many small compactions against a model.
//
// Strategy: random puts, merges, deletions and range deletions over few keys,
// so that every compaction meets old versions, with a flush every
// 250 steps and files of a few KB, so that there are many compactions and range tombstones cross many
// files. Snapshots are taken on the way, and checked at random and at the end,
// also after a full compaction and a reopening. Invariant: what is read at a
// snapshot is what the model was then.

package job_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb"
)

type model map[string]string

type snapshot struct {
	s rocksdb.Snapshot
	m model
}

type modelTest struct {
	*testing.T
	rnd   *rand.Rand
	keys  int
	db    *rocksdb.DB
	m     model
	snaps []snapshot
}

func (x *modelTest) key(i int) string { return fmt.Sprintf("key%05d", i) }

func (x *modelTest) must(err error) {
	x.Helper()
	if err != nil {
		x.Fatal(err)
	}
}

func (x *modelTest) step() {
	k := x.key(x.rnd.IntN(x.keys))
	switch r := x.rnd.IntN(100); {
	case r < 60:
		v := strings.Repeat(fmt.Sprintf("%x.", x.rnd.Uint64()), 1+x.rnd.IntN(6))
		x.must(x.db.Put(nil, []byte(k), []byte(v)))
		x.m[k] = v
	case r < 75:
		v := fmt.Sprintf("%x", x.rnd.Uint32())
		x.must(x.db.Merge(nil, []byte(k), []byte(v)))
		if old, ok := x.m[k]; ok {
			v = old + "," + v
		}
		x.m[k] = v
	case r < 95:
		x.must(x.db.Delete(nil, []byte(k)))
		delete(x.m, k)
	case r < 98:
		begin := x.rnd.IntN(x.keys)
		end := begin + 1 + x.rnd.IntN(x.keys/20)
		x.must(x.db.DeleteRange(nil, []byte(x.key(begin)), []byte(x.key(end))))
		for i := begin; i < end; i++ {
			delete(x.m, x.key(i))
		}
	default:
		if len(x.snaps) < 6 {
			x.snaps = append(x.snaps, snapshot{x.db.GetSnapshot(), maps.Clone(x.m)})
		} else {
			i := x.rnd.IntN(len(x.snaps))
			x.check("released snapshot", x.snaps[i])
			x.must(x.db.ReleaseSnapshot(x.snaps[i].s))
			x.snaps = slices.Delete(x.snaps, i, i+1)
		}
	}
}

// check compares everything, by iterator and by Get.
func (x *modelTest) check(when string, s snapshot) {
	x.Helper()
	ro := rocksdb.DefaultReadOptions()
	ro.Snapshot = s.s
	want := slices.Sorted(maps.Keys(s.m))
	it := x.db.NewIterator(&ro)
	defer it.Close()
	i := 0
	for it.SeekToFirst(); it.Valid(); it.Next() {
		if i == len(want) {
			x.Fatalf("%s: key %q is too many", when, it.Key())
		}
		if string(it.Key()) != want[i] || string(it.Value()) != s.m[want[i]] {
			x.Fatalf("%s: %q = %q, want %q = %q", when, it.Key(), it.Value(), want[i], s.m[want[i]])
		}
		i++
	}
	x.must(it.Err())
	if i < len(want) {
		x.Fatalf("%s: %d keys, want %d; %q is missing", when, i, len(want), want[i])
	}
	for range 50 {
		k := x.key(x.rnd.IntN(x.keys))
		v, err := x.db.Get(&ro, []byte(k))
		w, ok := s.m[k]
		if ok && (err != nil || !bytes.Equal(v.Data(), []byte(w))) || !ok && !errors.Is(err, rocksdb.ErrNotFound) {
			x.Fatalf("%s: Get(%q) = %q, %v; want %q, %v", when, k, v.Data(), err, w, ok)
		}
		v.Release()
	}
}

func (x *modelTest) checkAll(when string) {
	x.Helper()
	x.check(when, snapshot{m: x.m})
	for i, s := range x.snaps {
		x.check(fmt.Sprintf("%s, snapshot %d", when, i), s)
	}
}

func (x *modelTest) run(o rocksdb.Options, steps int) {
	dir := x.TempDir()
	o.CreateIfMissing = true
	o.MergeOperator = rocksdb.NewStringAppendOperator(",")
	o.WriteBufferSize = 64 << 10
	o.TargetFileSizeBase = 8 << 10
	o.MaxBytesForLevelBase = 32 << 10
	o.MaxBytesForLevelMultiplier = 3
	o.Level0FileNumCompactionTrigger = 2
	o.ParanoidFileChecks = true
	o.MaxBackgroundJobs = 4
	var err error
	x.db, err = rocksdb.Open(dir, o)
	x.must(err)
	x.m = model{}
	for i := range steps {
		x.step()
		if i%250 == 249 { // the least write buffer would hold a hundred KB
			x.must(x.db.Flush(nil))
		}
		if i%(steps/4) == steps/8 {
			x.checkAll(fmt.Sprintf("step %d", i))
		}
	}
	x.checkAll("at the end")
	co := rocksdb.DefaultCompactRangeOptions()
	co.MaxSubcompactions = 3
	co.BottommostLevelCompaction = rocksdb.BottommostLevelCompactionForce
	x.must(x.db.CompactRange(&co, nil, nil))
	x.checkAll("after a full compaction")
	for _, s := range x.snaps {
		x.must(x.db.ReleaseSnapshot(s.s))
	}
	x.snaps = nil
	x.must(x.db.CompactRange(&co, nil, nil))
	x.checkAll("after a full compaction without snapshots")
	x.must(x.db.Close())
	x.checkLog(dir, o.MaxSubcompactions > 1)
	x.db, err = rocksdb.Open(dir, o)
	x.must(err)
	x.checkAll("after a reopening")
	x.must(x.db.Close())
}

// checkLog wants the run to have been a test: many compactions, in parts when
// parts are on.
func (x *modelTest) checkLog(dir string, parts bool) {
	x.Helper()
	log, err := os.ReadFile(filepath.Join(dir, "LOG"))
	x.must(err)
	if n := bytes.Count(log, []byte(`"event": "compaction_finished"`)); n < 10 {
		x.Errorf("%d compactions", n)
	}
	if parts && !regexp.MustCompile(`"num_subcompactions": [2-9]`).Match(log) {
		x.Error("no compaction was done in parts")
	}
}

func TestCompactionModel(t *testing.T) {
	for _, c := range []struct {
		name string
		set  func(o *rocksdb.Options)
	}{
		{"level", func(*rocksdb.Options) {}},
		{"level static sizes", func(o *rocksdb.Options) { o.LevelCompactionDynamicLevelBytes = false }},
		{"level round robin", func(o *rocksdb.Options) {
			o.CompactionPri = rocksdb.RoundRobin
			o.LevelCompactionDynamicLevelBytes = false
		}},
		{"level subcompactions", func(o *rocksdb.Options) { o.MaxSubcompactions = 4 }},
		{"level large compactions", func(o *rocksdb.Options) { o.MaxCompactionBytes = 1 << 30 }},
		{"universal", func(o *rocksdb.Options) { o.CompactionStyle = rocksdb.CompactionStyleUniversal }},
		{"universal one level", func(o *rocksdb.Options) {
			o.CompactionStyle = rocksdb.CompactionStyleUniversal
			o.NumLevels = 1
		}},
		{"universal incremental", func(o *rocksdb.Options) {
			o.CompactionStyle = rocksdb.CompactionStyleUniversal
			o.CompactionOptionsUniversal.Incremental = true
			o.MaxSubcompactions = 3
		}},
	} {
		for seed := range uint64(2) {
			t.Run(fmt.Sprintf("%s/seed=%d", c.name, seed), func(t *testing.T) {
				o := rocksdb.DefaultOptions()
				c.set(&o)
				x := &modelTest{T: t, rnd: rand.New(rand.NewPCG(seed, 1)), keys: 2000}
				x.run(o, 10000)
			})
		}
	}
}
