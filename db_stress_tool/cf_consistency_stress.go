// Port of db_stress_tool/cf_consistency_stress.cc. Differs: no history of
// operations is kept to print.

package dbstresstool

import (
	"bytes"
	"sync/atomic"

	dbimpl "github.com/rocksdb-go/rocksdb/db/db_impl"
	"github.com/rocksdb-go/rocksdb/db/writebatch"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

// cfConsistencyTest writes the same to all families, in one batch, so that they
// are the same at all times.
type cfConsistencyTest struct {
	*stressTest
	batchID atomic.Uint32
}

func (*cfConsistencyTest) stateTracked() bool { return false }

func (c *cfConsistencyTest) families(int) []int {
	all := make([]int, c.flags.ColumnFamilies)
	for i := range all {
		all[i] = i
	}
	return all
}

func (c *cfConsistencyTest) controlFamily(t *threadState, _ int) int {
	return int(t.rand.Uniform(len(c.cfs)))
}

func (*cfConsistencyTest) keyMayExist(*threadState, *rocksdb.ReadOptions, int, int64) {}
func (*cfConsistencyTest) iterateAgainstExpected(*threadState, *rocksdb.ReadOptions, []int, []int64) {
}

func (c *cfConsistencyTest) ingestFiles(*threadState, []int, []int64) {
	c.tool.terminate("--ingest_external_file_one_in is not for --test_cf_consistency")
}

// write writes the same operation to all families.
func (c *cfConsistencyTest) write(t *threadState, wo *rocksdb.WriteOptions, what string, cfs []int, add func(b *writebatch.WriteBatch, cf rocksdb.ColumnFamilyHandle) error) bool {
	b := newBatch()
	for _, cf := range cfs {
		if err := add(b, c.cf(cf)); err != nil {
			c.tool.terminate("%s: %v", what, err)
		}
	}
	before := c.db.GetLatestSequenceNumber()
	done, err := c.writeUntilDone(what, func() error { return c.db.Write(wo, b) })
	if err != nil && !isInjected(err) && !c.dbStopped.Load() {
		t.stats.errors++
		c.abort("%s error: %v", what, err)
	}
	if after := c.db.GetLatestSequenceNumber(); done && after < before+uint64(b.Count()) {
		c.abort("%s: a write of %d operations took the sequence number from %d to %d", what, b.Count(), before, after)
	}
	return done
}

func (c *cfConsistencyTest) put(t *threadState, wo *rocksdb.WriteOptions, cfs []int, keys []int64) {
	f, k := c.flags, c.tool.keys.key(keys[0])
	base := c.batchID.Add(1) - 1
	v := f.generateValue(base)
	at := c.writeTime(t)
	if c.write(t, wo, "multi put or merge", cfs, func(b *writebatch.WriteBatch, cf rocksdb.ColumnFamilyHandle) error {
		switch {
		case c.putsEntity(base):
			return c.addEntity(b, cf, k, base, v)
		case c.putsTimed(base):
			return b.TimedPut(cf, k, v, at)
		case f.UseMerge:
			return b.MergeCF(cf, k, v)
		}
		return b.PutCF(cf, k, v)
	}) {
		t.stats.addWrites(int64(len(cfs)), len(cfs)*(len(v)+1))
	}
}

func (c *cfConsistencyTest) delete(t *threadState, wo *rocksdb.WriteOptions, cfs []int, keys []int64) {
	k := c.tool.keys.key(keys[0])
	if c.write(t, wo, "multidel", cfs, func(b *writebatch.WriteBatch, cf rocksdb.ColumnFamilyHandle) error { return b.DeleteCF(cf, k) }) {
		t.stats.deletes += int64(len(cfs))
	}
}

func (c *cfConsistencyTest) deleteRange(t *threadState, wo *rocksdb.WriteOptions, cfs []int, keys []int64) {
	key, width := keys[0], int64(c.flags.RangeDeletionWidth)
	if key > c.flags.MaxKey-width {
		key = int64(t.rand.Next()) % (c.flags.MaxKey - width + 1)
	}
	begin, end := c.tool.keys.key(key), c.tool.keys.key(key+width)
	if c.write(t, wo, "multi del range", cfs, func(b *writebatch.WriteBatch, cf rocksdb.ColumnFamilyHandle) error {
		return b.DeleteRangeCF(cf, begin, end)
	}) {
		t.stats.rangeDeletions += int64(len(cfs))
	}
}

func (c *cfConsistencyTest) get(t *threadState, base *rocksdb.ReadOptions, cfs []int, keys []int64) {
	k, ro := c.tool.keys.key(keys[0]), *base
	if t.rand.OneIn(2) {
		_, err := c.stressTest.get(&ro, cfs[t.rand.Uniform(len(cfs))], k)
		c.countGet(t, "TestGet", err)
		return
	}
	snap := c.db.GetSnapshot()
	defer c.releaseSnapshot(snap)
	ro.Snapshot = snap
	first, err := c.stressTest.get(&ro, cfs[0], k)
	if err == nil || rocksdb.IsNotFound(err) {
		ro.IOStatsContext = nil
		for _, cf := range cfs[1:] {
			v, err1 := c.stressTest.get(&ro, cf, k)
			if err1 != nil && !rocksdb.IsNotFound(err1) {
				err = err1
				break
			}
			if (err1 == nil) != (err == nil) || !bytes.Equal(first, v) {
				t.stats.errors++
				c.abort("Get() return different results with key %X at snapshot %d: CF %s: %X, %v. CF %s: %X, %v", k, snap.GetSequenceNumber(), c.names[cfs[0]], first, err, c.names[cf], v, err1)
				return
			}
		}
	}
	c.countGet(t, "TestGet", err)
}

func (c *cfConsistencyTest) countGet(t *threadState, what string, err error) {
	switch {
	case err == nil || rocksdb.IsNotFound(err):
		t.stats.addGets(err == nil)
	case !isInjected(err):
		t.stats.errors++
		c.abort("%s error: %v", what, err)
	}
}

func (c *cfConsistencyTest) multiGet(t *threadState, ro *rocksdb.ReadOptions, cfs []int, keys []int64) {
	encoded := make([][]byte, len(keys))
	for i, k := range keys {
		encoded[i] = c.tool.keys.key(k)
	}
	_, errs := c.stressTest.multiGet(ro, cfs[0], encoded)
	for _, err := range errs {
		c.countGet(t, "MultiGet", err)
	}
}

func (c *cfConsistencyTest) prefixScan(t *threadState, base *rocksdb.ReadOptions, cfs []int, keys []int64) {
	size := int(c.flags.PrefixSize)
	if size < 0 {
		size = 7
	}
	prefix, ro := c.tool.keys.key(keys[0])[:size], *base
	upper, ok := nextPrefix(prefix)
	if ok && t.rand.OneIn(2) {
		ro.IterateUpperBound, ro.TableFilter = upper, c.queryFilter(prefix, upper)
	}
	it := c.db.NewIterator(&ro, c.cf(cfs[t.rand.Uniform(len(cfs))]))
	defer c.closeIterator(it)
	count := int64(0)
	for it.Seek(prefix); it.Valid() && bytes.HasPrefix(it.Key(), prefix); it.Next() {
		count++
		if ro.AllowUnpreparedValue && !it.PrepareValue() {
			break
		}
		if !c.flags.verifyWideColumns(it.Value(), it.Columns()) {
			c.abort("TestPrefixScan: Value and columns inconsistent for %X: %X, %X", it.Key(), it.Value(), it.Columns())
			return
		}
	}
	if err := it.Status(); err != nil {
		if !isInjected(err) {
			t.stats.errors++
			c.abort("TestPrefixScan error: %v", err)
		}
		return
	}
	if size > 0 && ok && uint64(count) > c.tool.keys.prefixKeyCount(prefix, upper) {
		c.abort("TestPrefixScan of %X found %d keys", prefix, count)
	}
	t.stats.addPrefixes(1, count)
}

// verifyDB walks all families side by side.
func (c *cfConsistencyTest) verifyDB(t *threadState) {
	ro := c.verifyReadOptions()
	ro.TotalOrderSeek = true
	snap := c.db.GetSnapshot()
	defer c.releaseSnapshot(snap)
	ro.Snapshot = snap
	its := make([]*dbimpl.Iterator, len(c.cfs))
	for i := range its {
		its[i] = c.db.NewIterator(&ro, c.cf(i))
		defer c.closeIterator(its[i])
		its[i].SeekToFirst()
	}
	for !t.shared.failed() && its[0].Valid() {
		for i, it := range its {
			if !it.Valid() || !bytes.Equal(it.Key(), its[0].Key()) || !bytes.Equal(it.Value(), its[0].Value()) {
				other := []byte(nil)
				if it.Valid() {
					other = it.Key()
				}
				c.abort("column families %s and %s differ at snapshot %d: %X and %X (%v)", c.names[0], c.names[i], snap.GetSequenceNumber(), its[0].Key(), other, it.Status())
				return
			}
			if !c.flags.verifyWideColumns(it.Value(), it.Columns()) {
				c.abort("Value and columns inconsistent for %X: %X, %X", it.Key(), it.Value(), it.Columns())
				return
			}
		}
		for _, it := range its {
			it.Next()
		}
	}
	for i, it := range its {
		if err := it.Status(); err != nil {
			c.abort("Iterator on cf %s has error: %v", c.names[i], err)
		} else if it.Valid() && !t.shared.failed() {
			c.abort("cf %s has remaining data to scan: %X", c.names[i], it.Key())
		}
	}
}

// verifyWhileRunning compares sums of all families at one snapshot. A secondary
// instance has no snapshots: there, families are at one state only where all
// that is read comes of atomic flushes.
func (c *cfConsistencyTest) verifyWhileRunning(*util.Random) {
	snap := c.db.GetSnapshot()
	defer c.releaseSnapshot(snap)
	ro := c.verifyReadOptions()
	ro.TotalOrderSeek = true
	d, cfs := c.db, c.cfs
	if sec := &c.secondary; sec.db != nil {
		d, cfs = sec.db, sec.cfs
		if err := d.TryCatchUpWithPrimary(); err != nil {
			c.abort("TryCatchUpWithPrimary: %v", err)
			return
		}
		if !c.flags.DisableWAL {
			cfs = cfs[:1]
		}
	} else {
		ro.Snapshot = snap
	}
	first := uint32(0)
	for i, h := range cfs {
		sum, err := c.checksum(d, &ro, h)
		if err != nil {
			c.abort("Computing checksum of %s: %v", c.names[i], err)
			return
		}
		if i == 0 {
			first = sum
		} else if sum != first {
			c.abort("column families %s and %s have different checksums at snapshot %d", c.names[0], c.names[i], snap.GetSequenceNumber())
			c.shared.shouldStopTest.Store(true)
			return
		}
	}
}
