// Port of db_stress_tool/batched_ops_stress.cc. Differs: what does not agree
// fails the verification, where upstream prints it.

package dbstresstool

import (
	"bytes"
	"strconv"

	dbimpl "github.com/rocksdb-go/rocksdb/db/db_impl"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

// batchedOpsTest writes ten keys at a time: "0" and the key to "9" and the key,
// with the digit behind each value. A snapshot has all ten of a batch or none.
type batchedOpsTest struct{ *stressTest }

const batchKeys = 10

func (*batchedOpsTest) stateTracked() bool                       { return false }
func (*batchedOpsTest) families(cf int) []int                    { return []int{cf} }
func (*batchedOpsTest) controlFamily(_ *threadState, cf int) int { return cf }
func (*batchedOpsTest) verifyDB(*threadState)                    {}
func (*batchedOpsTest) verifyWhileRunning(*util.Random)          {}
func (*batchedOpsTest) keyMayExist(*threadState, *rocksdb.ReadOptions, int, int64) {
}
func (*batchedOpsTest) iterateAgainstExpected(*threadState, *rocksdb.ReadOptions, []int, []int64) {
}

func (b *batchedOpsTest) ingestFiles(*threadState, []int, []int64) {
	b.tool.terminate("--ingest_external_file_one_in is not for --test_batches_snapshots")
}

func (b *batchedOpsTest) deleteRange(*threadState, *rocksdb.WriteOptions, []int, []int64) {
	b.tool.terminate("--delrangepercent is not for --test_batches_snapshots")
}

func (b *batchedOpsTest) key(digit int, key int64) []byte {
	return append(strconv.AppendInt(nil, int64(digit), 10), b.tool.keys.key(key)...)
}

func (b *batchedOpsTest) put(t *threadState, wo *rocksdb.WriteOptions, cfs []int, keys []int64) {
	f, cf := b.flags, b.cf(cfs[0])
	base := t.rand.Next()
	value := f.generateValue(base)
	batch := newBatch()
	var err error
	for i := batchKeys - 1; i >= 0 && err == nil; i-- {
		k, v := b.key(i, keys[0]), append(bytes.Clone(value), byte('0'+i))
		switch {
		case b.putsEntity(base):
			err = b.addEntity(batch, cf, k, base, v)
		case b.putsTimed(base):
			err = batch.TimedPut(cf, k, v, b.writeTime(t))
		case f.UseMerge:
			err = batch.MergeCF(cf, k, v)
		default:
			err = batch.PutCF(cf, k, v)
		}
	}
	b.write(t, wo, "multiput", err, batch, func() { t.stats.addWrites(batchKeys, batchKeys*(len(value)+1)) })
}

func (b *batchedOpsTest) write(t *threadState, wo *rocksdb.WriteOptions, what string, err error, batch interface{ Data() []byte }, count func()) {
	if err == nil {
		wb := newBatch()
		if err = wb.SetContents(batch.Data()); err == nil {
			_, err = b.writeUntilDone(what, func() error { return b.db.Write(wo, wb) })
		}
	}
	if err == nil {
		count()
	} else if !isInjected(err) && !b.dbStopped.Load() {
		t.stats.errors++
		b.abort("%s error: %v", what, err)
	}
}

func (b *batchedOpsTest) delete(t *threadState, wo *rocksdb.WriteOptions, cfs []int, keys []int64) {
	batch := newBatch()
	var err error
	for _, i := range []int{9, 7, 5, 3, 1, 8, 6, 4, 2, 0} {
		if err == nil {
			err = batch.DeleteCF(b.cf(cfs[0]), b.key(i, keys[0]))
		}
	}
	b.write(t, wo, "multidelete", err, batch, func() { t.stats.deletes += batchKeys })
}

// agree checks that the ten values are of one batch; nil is not found.
func (b *batchedOpsTest) agree(what string, key int64, values [][]byte) {
	for i, v := range values {
		if v == nil != (values[0] == nil) {
			b.abort("%s error: inconsistent values for key %X: %X, %X", what, b.key(i, key), values[0], v)
			return
		}
		if v == nil {
			continue
		}
		if len(v) == 0 || v[len(v)-1] != byte('0'+i) || !bytes.Equal(v[:len(v)-1], values[0][:len(values[0])-1]) {
			b.abort("%s error: inconsistent values for key %X: %X, %X", what, b.key(i, key), values[0], v)
			return
		}
	}
}

func (b *batchedOpsTest) get(t *threadState, base *rocksdb.ReadOptions, cfs []int, keys []int64) {
	snap := b.db.GetSnapshot()
	defer b.releaseSnapshot(snap)
	ro := *base
	ro.Snapshot = snap
	values := make([][]byte, batchKeys)
	for i := range values {
		v, err := b.stressTest.get(&ro, cfs[0], b.key(i, keys[0]))
		if err != nil && !rocksdb.IsNotFound(err) {
			if !isInjected(err) {
				t.stats.errors++
				b.abort("get error: %v", err)
			}
			return
		}
		t.stats.addGets(err == nil)
		values[i] = v
	}
	b.agree("get", keys[0], values)
}

func (b *batchedOpsTest) multiGet(t *threadState, base *rocksdb.ReadOptions, cfs []int, keys []int64) {
	for _, key := range keys {
		b.multiGetOne(t, base, cfs[0], key)
	}
}

func (b *batchedOpsTest) multiGetOne(t *threadState, base *rocksdb.ReadOptions, cf int, key int64) {
	snap := b.db.GetSnapshot()
	defer b.releaseSnapshot(snap)
	ro := *base
	ro.Snapshot = snap
	encoded := make([][]byte, batchKeys)
	for i := range encoded {
		encoded[i] = b.key(i, key)
	}
	values, errs := b.stressTest.multiGet(&ro, cf, encoded)
	for _, err := range errs {
		if err != nil && !rocksdb.IsNotFound(err) {
			if !isInjected(err) {
				t.stats.errors++
				b.abort("multiget error: %v", err)
			}
			return
		}
		t.stats.addGets(err == nil)
	}
	b.agree("multiget", key, values)
}

// prefixScan scans the ten prefixes side by side.
func (b *batchedOpsTest) prefixScan(t *threadState, base *rocksdb.ReadOptions, cfs []int, keys []int64) {
	snap := b.db.GetSnapshot()
	defer b.releaseSnapshot(snap)
	var its [batchKeys]*dbimpl.Iterator
	var prefixes [batchKeys][]byte
	var ros [batchKeys]rocksdb.ReadOptions
	for i := range its {
		prefixes[i] = b.key(i, keys[0])[:b.flags.PrefixSize]
		ro := &ros[i]
		*ro = *base
		ro.Snapshot = snap
		if upper, ok := nextPrefix(prefixes[i]); ok && t.rand.OneIn(2) {
			ro.IterateUpperBound, ro.TableFilter = upper, b.queryFilter(prefixes[i], upper)
		} else {
			ro.PrefixSameAsStart = true
		}
		its[i] = b.db.NewIterator(ro, b.cf(cfs[0]))
		defer b.closeIterator(its[i])
		its[i].Seek(prefixes[i])
	}
	in := func(i int) bool { return its[i].Valid() && bytes.HasPrefix(its[i].Key(), prefixes[i]) }
	count := int64(0)
	for in(0) {
		count++
		var first []byte
		for i := range its {
			if !in(i) {
				b.prefixError(its[i].Status(), "prefix scan of %X ends before that of %X", prefixes[i], prefixes[0])
				return
			}
			if ros[i].AllowUnpreparedValue && !its[i].PrepareValue() {
				b.prefixError(its[i].Status(), "PrepareValue")
				return
			}
			v := its[i].Value()
			if len(v) == 0 || v[len(v)-1] != byte('0'+i) {
				b.abort("prefix scan error: value %X of key %X", v, its[i].Key())
				return
			}
			if i == 0 {
				first = bytes.Clone(v[:len(v)-1])
			} else if !bytes.Equal(first, v[:len(v)-1]) {
				b.abort("prefix scan error: inconsistent values for prefix %X: %X, %X", prefixes[i], first, v)
				return
			}
			if !b.flags.verifyWideColumns(v, its[i].Columns()) {
				b.abort("prefix scan error: value and columns inconsistent for prefix %X: %X, %X", prefixes[i], v, its[i].Columns())
				return
			}
		}
		for i := range its {
			its[i].Next()
		}
	}
	for i := range its {
		if err := its[i].Status(); err != nil || in(i) {
			b.prefixError(err, "prefix scan of %X goes on after that of %X", prefixes[i], prefixes[0])
			return
		}
	}
	t.stats.addPrefixes(1, count)
}

func (b *batchedOpsTest) prefixError(err error, format string, args ...any) {
	if !isInjected(err) {
		b.abort(format+": %v", append(args, err)...)
	}
}
