// No upstream twin: many goroutines on one database; for the race detector.

package rocksdb_test

import (
	"errors"
	"fmt"
	"math/rand"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rocksdb-go/rocksdb"
)

// TestConcurrent writes, reads, iterates, flushes, compacts, and makes and drops
// families at the same time. A batch gives one value to a key in each of two
// families, so every consistent view finds both alike, and no later view finds
// an older one.
func TestConcurrent(t *testing.T) {
	for name, change := range map[string]func(o *rocksdb.Options){
		"default":    func(*rocksdb.Options) {},
		"pipelined":  func(o *rocksdb.Options) { o.EnablePipelinedWrite = true },
		"universal":  func(o *rocksdb.Options) { o.CompactionStyle = rocksdb.CompactionStyleUniversal },
		"subcompact": func(o *rocksdb.Options) { o.MaxSubcompactions = 4; o.MaxBackgroundJobs = 4 },
		"manifests": func(o *rocksdb.Options) {
			o.MaxManifestFileSize, o.MaxManifestSpaceAmpPct, o.MaxBackgroundJobs = 1, 0, 4
		},
	} {
		t.Run(name, func(t *testing.T) {
			o := rocksdb.DefaultOptions()
			o.CreateIfMissing, o.CreateMissingColumnFamilies = true, true
			o.WriteBufferSize = 64 << 10
			o.TargetFileSizeBase = 64 << 10
			o.MaxBytesForLevelBase = 256 << 10
			o.Level0FileNumCompactionTrigger = 2
			change(&o)
			runConcurrent(t, o)
		})
	}
}

// Who asks for files' metadata does not race with compactions, which mark the files.
func TestConcurrent_Metadata(t *testing.T) {
	o := rocksdb.DefaultOptions()
	o.CreateIfMissing, o.DisableAutoCompactions = true, true
	db, err := rocksdb.Open(t.TempDir(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var stop atomic.Bool
	var wg sync.WaitGroup
	wg.Go(func() {
		for !stop.Load() {
			db.GetLiveFilesMetaData()
			for _, m := range append(db.GetAllColumnFamilyMetaData(), db.GetColumnFamilyMetaData(nil)) {
				n := 0
				for _, l := range m.Levels {
					n += len(l.Files)
				}
				if n != m.FileCount {
					t.Errorf("%d files on levels of %s, not %d", n, m.Name, m.FileCount)
				}
			}
		}
	})
	for i := range 100 {
		if err := errors.Join(db.Put(nil, pairKey(i%2), []byte("v")), db.Flush(nil)); err != nil {
			t.Fatal(err)
		}
		if i%2 == 1 {
			if err := db.CompactRange(nil, nil, nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	stop.Store(true)
	wg.Wait()
}

// pairDB is a database of pairs: keys with the same value in two families.
type pairDB struct {
	*testing.T
	db   *rocksdb.DB
	cfs  []*rocksdb.ColumnFamily
	seen [pairKeys]atomic.Uint64 // each key's newest number known to be written
	next [pairKeys]atomic.Uint64
	stop atomic.Bool
}

const pairKeys = 500

func pairKey(i int) []byte { return fmt.Appendf(nil, "key%05d", i) }

// number reads the number a value begins with.
func number(v []byte) uint64 {
	n, _ := strconv.ParseUint(string(v[:min(10, len(v))]), 10, 64)
	return n
}

func runConcurrent(t *testing.T, o rocksdb.Options) {
	dir := t.TempDir()
	families := []rocksdb.ColumnFamilyDescriptor{{Name: "default", Options: o.ColumnFamilyOptions}, {Name: "other", Options: o.ColumnFamilyOptions}}
	db, cfs, err := rocksdb.OpenColumnFamilies(dir, o.DBOptions, families)
	if err != nil {
		t.Fatal(err)
	}
	x := &pairDB{T: t, db: db, cfs: cfs}
	var wg sync.WaitGroup
	run := func(f func(rnd *rand.Rand) error) {
		seed := rand.Int63()
		wg.Go(func() {
			for rnd := rand.New(rand.NewSource(seed)); !x.stop.Load() && !t.Failed(); {
				if err := f(rnd); err != nil {
					t.Error(err)
				}
			}
		})
	}
	// A writer owns the keys of its remainder, so that numbers of a key rise.
	const writers = 4
	for w := range writers {
		run(func(rnd *rand.Rand) error { return x.write(rnd, rnd.Intn(pairKeys/writers)*writers+w) })
	}
	run(x.get)
	run(x.multiGet)
	run(x.iterate)
	run(x.maintain)
	time.Sleep(2 * time.Second)
	x.stop.Store(true)
	wg.Wait()
	if t.Failed() {
		db.Close()
		return
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	db, cfs, err = rocksdb.OpenColumnFamilies(dir, o.DBOptions, families)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for i := range pairKeys {
		for _, cf := range cfs {
			v, err := cf.Get(nil, pairKey(i))
			switch want := x.seen[i].Load(); {
			case want == 0 && errors.Is(err, rocksdb.ErrNotFound):
			case err != nil:
				t.Fatalf("%s after reopening: %v", pairKey(i), err)
			default:
				if n := number(v.Data()); n != want {
					t.Fatalf("%s after reopening: %d, not %d", pairKey(i), n, want)
				}
				v.Release()
			}
		}
	}
}

func (x *pairDB) write(rnd *rand.Rand, i int) error {
	n := x.next[i].Add(1)
	value := fmt.Appendf(nil, "%010d%*d", n, 50+rnd.Intn(500), n)
	b := rocksdb.NewWriteBatch()
	for _, cf := range x.cfs {
		if err := b.PutCF(cf, pairKey(i), value); err != nil {
			return err
		}
	}
	wo := rocksdb.DefaultWriteOptions()
	wo.Sync = rnd.Intn(200) == 0
	if err := x.db.Write(&wo, b); err != nil {
		return err
	}
	x.seen[i].Store(n)
	return nil
}

func (x *pairDB) get(rnd *rand.Rand) error {
	i := rnd.Intn(pairKeys)
	least := x.seen[i].Load()
	v, err := x.cfs[rnd.Intn(2)].Get(nil, pairKey(i))
	if errors.Is(err, rocksdb.ErrNotFound) && least == 0 {
		return nil
	} else if err != nil {
		return err
	}
	defer v.Release()
	if n := number(v.Data()); n < least {
		return fmt.Errorf("%s is %d, after %d", pairKey(i), n, least)
	}
	return nil
}

// multiGet reads keys of both families in one call, which has one view.
func (x *pairDB) multiGet(rnd *rand.Rand) error {
	const n = 20
	var cfs []*rocksdb.ColumnFamily
	var keys [][]byte
	for range n {
		k := pairKey(rnd.Intn(pairKeys))
		cfs, keys = append(cfs, x.cfs...), append(keys, k, k)
	}
	values, errs := make([]rocksdb.PinnableSlice, 2*n), make([]error, 2*n)
	x.db.MultiGetCF(nil, cfs, keys, values, errs)
	var err error
	for i := 0; i < 2*n; i += 2 {
		a, b := &values[i], &values[i+1]
		if fmt.Sprint(errs[i]) != fmt.Sprint(errs[i+1]) || string(a.Data()) != string(b.Data()) {
			err = fmt.Errorf("%s differs between families: %.20q %v, %.20q %v", keys[i], a.Data(), errs[i], b.Data(), errs[i+1])
		}
		a.Release()
		b.Release()
	}
	return err
}

// iterate walks both families at one snapshot, one of them backwards.
func (x *pairDB) iterate(rnd *rand.Rand) error {
	least := make([]uint64, pairKeys)
	for i := range least {
		least[i] = x.seen[i].Load()
	}
	ro := rocksdb.DefaultReadOptions()
	s := x.db.GetSnapshot()
	defer x.db.ReleaseSnapshot(s)
	ro.Snapshot = s
	found := map[string]string{}
	it := x.cfs[0].NewIterator(&ro)
	defer it.Close()
	for k, v := range it.All() {
		found[string(k)] = string(v)
	}
	back := x.cfs[1].NewIterator(&ro)
	defer back.Close()
	n := 0
	for k, v := range back.Backward() {
		n++
		if found[string(k)] != string(v) {
			return fmt.Errorf("%s at one snapshot: %.20q and %.20q", k, found[string(k)], v)
		}
	}
	if n != len(found) {
		return fmt.Errorf("%d keys, and %d in the other family", len(found), n)
	}
	for i, want := range least {
		if v := found[string(pairKey(i))]; want > 0 && (v == "" || number([]byte(v)) < want) {
			return fmt.Errorf("%s is %.10q in a snapshot taken after %d", pairKey(i), v, want)
		}
	}
	return errors.Join(it.Err(), back.Err())
}

// maintain does what changes the tree.
func (x *pairDB) maintain(rnd *rand.Rand) error {
	cf := x.cfs[rnd.Intn(2)]
	switch rnd.Intn(7) {
	case 0:
		o := rocksdb.DefaultFlushOptions()
		return cf.Flush(&o)
	case 1:
		return cf.CompactRange(nil, pairKey(rnd.Intn(pairKeys)), nil)
	case 2:
		return cf.SetOptions(map[string]string{"write_buffer_size": fmt.Sprint(64<<10 + rnd.Intn(64<<10))})
	case 3:
		name := fmt.Sprint("temporary", rnd.Int31())
		c, err := x.db.CreateColumnFamily(rocksdb.DefaultColumnFamilyOptions(), name)
		if err != nil {
			return err
		}
		err = c.Put(nil, []byte("k"), []byte("v"))
		return errors.Join(err, x.db.DropColumnFamily(c), c.Close())
	case 4:
		if _, ok := cf.GetProperty("rocksdb.stats"); !ok {
			return errors.New("no property rocksdb.stats")
		}
		return nil
	case 5:
		_, err := cf.GetPropertiesOfAllTables()
		return err
	default:
		return x.db.SyncWAL()
	}
}
