// Port of db_stress_tool/no_batched_ops_stress.cc. Differs: that an injected
// error was swallowed shows in what the read gave, which is verified, not in the
// number of errors.

package dbstresstool

import (
	"bytes"
	"fmt"
	"strings"
	"sync"

	dbimpl "github.com/rocksdb-go/rocksdb/db/db_impl"
	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
	writebatchwithindex "github.com/rocksdb-go/rocksdb/utilities/write_batch_with_index"
)

// nonBatchedTest writes and reads single keys, with their expected state.
type nonBatchedTest struct{ *stressTest }

func (*nonBatchedTest) stateTracked() bool                       { return true }
func (*nonBatchedTest) families(cf int) []int                    { return []int{cf} }
func (*nonBatchedTest) controlFamily(_ *threadState, cf int) int { return cf }

// The ways to verify.
const (
	byIterator = iota
	byGet
	byMultiGet
	byMultiScan
	numVerifications
)

// verifyDB compares the worker's share of the keys.
func (n *nonBatchedTest) verifyDB(t *threadState) {
	f, sh := n.flags, t.shared
	share := f.MaxKey / int64(f.Threads)
	start := share * int64(t.tid)
	end := start + share
	if t.tid == int(f.Threads)-1 {
		end = f.MaxKey
	}
	ro := n.verifyReadOptions()
	for cf := range n.cfs {
		if sh.failed() || start >= end {
			return
		}
		ways := numVerifications
		if f.stamped() {
			ways = byMultiScan // prepared ranges are not for timestamps
		}
		switch t.rand.Uniform(ways) {
		case byIterator:
			n.verifyByIterator(t, &ro, cf, start, end)
		case byMultiGet:
			n.verifyByMultiGet(t, &ro, cf, start, end)
		case byMultiScan:
			n.verifyByMultiScan(t, &ro, cf, start, end)
		default:
			for i := start; i < end && !sh.failed(); i++ {
				value, err := n.get2(&ro, cf, i)
				n.verifyOrSync(cf, i, value, "Get verification", err)
			}
			if n.secondary.db != nil && !sh.failed() {
				n.verifySecondary(&ro, cf, start, end)
			}
		}
	}
}

func (n *nonBatchedTest) get2(ro *rocksdb.ReadOptions, cf int, key int64) ([]byte, error) {
	return n.stressTest.get(ro, cf, n.tool.keys.key(key))
}

func (n *nonBatchedTest) verifyByIterator(t *threadState, ro *rocksdb.ReadOptions, cf int, start, end int64) {
	prefixLen := max(int(n.flags.PrefixSize), 0)
	if n.flags.PrefixSize < 0 {
		prefixLen = 1
	}
	it := n.db.NewIterator(ro, n.cf(cf))
	defer n.closeIterator(it)
	it.Seek(n.tool.keys.key(start))
	prefix := n.tool.keys.key(start)[:prefixLen]
	for i := start; i < end && !t.shared.failed(); i++ {
		key := n.tool.keys.key(i)
		if prefixLen > 0 && !bytes.Equal(prefix, key[:prefixLen]) {
			it.Seek(key)
			prefix = key[:prefixLen]
		}
		err := it.Status()
		var value []byte
		if it.Valid() {
			switch c := bytes.Compare(it.Key(), key); {
			case c > 0:
				err = rocksdb.NotFound()
			case c == 0:
				if !n.flags.verifyWideColumns(it.Value(), it.Columns()) {
					n.abortKey(cf, i, "Value and columns inconsistent: value: %X, columns: %X", it.Value(), it.Columns())
				}
				value = bytes.Clone(it.Value())
				it.Next()
			default:
				n.abortKey(cf, i, "An out of range key was found: %X", it.Key())
				return
			}
		} else if err == nil {
			err = rocksdb.NotFound()
		}
		n.verifyOrSync(cf, i, value, "Iterator verification", err)
	}
}

func (n *nonBatchedTest) verifyByMultiGet(t *threadState, ro *rocksdb.ReadOptions, cf int, start, end int64) {
	for i := start; i < end && !t.shared.failed(); {
		size := min(int64(t.rand.Uniform(128))+1, end-i)
		keys := make([][]byte, size)
		for j := range keys {
			keys[j] = n.tool.keys.key(i + int64(j))
		}
		values, errs := n.stressTest.multiGet(ro, cf, keys)
		for j := range keys {
			n.verifyOrSync(cf, i+int64(j), values[j], "MultiGet verification", errs[j])
		}
		i += size
	}
}

// verifyByMultiScan reads the share in prepared ranges.
func (n *nonBatchedTest) verifyByMultiScan(t *threadState, ro *rocksdb.ReadOptions, cf int, start, end int64) {
	args := rocksdb.DefaultMultiScanArgs(util.BytewiseComparator())
	total := *ro
	total.TotalOrderSeek = true
	const ranges = 8
	for r := range int64(ranges) {
		from, to := start+(end-start)*r/ranges, start+(end-start)*(r+1)/ranges
		if from < to {
			args.Insert(n.tool.keys.key(from), n.tool.keys.key(to))
		}
	}
	scan := n.db.NewMultiScan(&total, n.cf(cf), &args)
	defer scan.Close()
	next := start
	for entries := range scan.Scans() {
		for k, v := range entries {
			at, ok := n.tool.keys.intVal(k)
			if !ok || int64(at) < next || int64(at) >= end || !bytes.Equal(k, n.tool.keys.key(int64(at))) {
				n.abortKey(cf, next, "MultiScan verification: unexpected key %X", k)
				return
			}
			for ; next < int64(at); next++ {
				n.verifyOrSync(cf, next, nil, "MultiScan verification", rocksdb.NotFound())
			}
			n.verifyOrSync(cf, next, v, "MultiScan verification", nil)
			next++
		}
		if t.shared.failed() {
			return
		}
	}
	if err := scan.Err(); err != nil {
		n.abort("MultiScan verification: %v", err)
		return
	}
	for ; next < end && !t.shared.failed(); next++ {
		n.verifyOrSync(cf, next, nil, "MultiScan verification", rocksdb.NotFound())
	}
}

// verifyOrSync compares a key with its expected value. A write that was under
// way when the process died may have happened or not: the expected value is
// then what the database has.
func (n *nonBatchedTest) verifyOrSync(cf int, key int64, value []byte, what string, err error) bool {
	sh := n.shared
	if sh.failed() {
		return false
	}
	if n.flags.Verbose && len(value) > 0 {
		n.tool.printf("[CF %d] %X (%d) == > (%d) %X\n", cf, n.tool.keys.key(key), key, len(value), value)
	}
	state := sh.expected.latest
	v := state.get(cf, key)
	base, ok := getValueBase(value)
	if err == nil && !ok {
		n.abortKey(cf, key, "%s: value_from_db: %X is no value", what, value)
		return false
	}
	if v.pendingWrite() || v.pendingDelete() {
		switch {
		case err == nil:
			state.syncPut(cf, key, base)
			return true
		case rocksdb.IsNotFound(err):
			state.syncDelete(cf, key)
			return true
		}
	}
	want := n.flags.generateValue(v.valueBase())
	problem := ""
	switch {
	case err == nil && mustHaveNotExisted(v, v):
		problem, want = "Unexpected value found", nil
	case err == nil && !inExpectedValueBaseRange(base, v, v):
		problem = "Unexpected value found"
	case err == nil && len(value) != len(want):
		problem = "Length of value read is not equal"
	case err == nil && !bytes.Equal(value, want):
		problem = "Contents of value read don't match"
	case rocksdb.IsNotFound(err) && mustHaveExisted(v, v):
		problem = "Value not found"
	case err != nil && !rocksdb.IsNotFound(err):
		problem = "Non-OK status " + err.Error()
	default:
		return true
	}
	n.abortKey(cf, key, "value_from_db: %X, value_from_expected: %X, expected state %#08x, msg: %s: %s", value, want, uint32(v), what, problem)
	return false
}

func (n *nonBatchedTest) keyMayExist(t *threadState, base *rocksdb.ReadOptions, cf int, key int64) {
	ro, pre := *base, t.shared.get(cf, key)
	old := n.stampLookup(t, &ro)
	var v rocksdb.PinnableSlice
	may, _ := n.db.KeyMayExist(&ro, n.cf(cf), n.tool.keys.key(key), &v)
	v.Release()
	if post := t.shared.get(cf, key); !may && !old && !n.flags.SkipVerifydb && mustHaveExisted(pre, post) {
		n.abortKey(cf, key, "inconsistent values: expected state has the key, KeyMayExist() returns false")
	}
}

// checkRead compares what a read gave with the expected values before and after
// it.
func (n *nonBatchedTest) checkRead(what string, cf int, key int64, pre, post expectedValue, value []byte, err error) {
	switch {
	case err == nil:
		base, ok := getValueBase(value)
		switch {
		case n.flags.SkipVerifydb:
		case mustHaveNotExisted(pre, post):
			n.abortKey(cf, key, "inconsistent values: %s returns %X, but expected state is \"deleted\" (%#08x, %#08x)", what, value, uint32(pre), uint32(post))
		case !ok || !inExpectedValueBaseRange(base, pre, post):
			n.abortKey(cf, key, "inconsistent values: %s returns %X with value base %d that falls out of expected state's value base range (%#08x, %#08x)", what, value, base, uint32(pre), uint32(post))
		case !bytes.Equal(value, n.flags.generateValue(base)):
			n.abortKey(cf, key, "%s returns %X, which is not the value of its base", what, value)
		}
	case rocksdb.IsNotFound(err):
		if !n.flags.SkipVerifydb && mustHaveExisted(pre, post) {
			n.abortKey(cf, key, "inconsistent values: expected state has the key (%#08x, %#08x), %s returns NotFound", uint32(pre), uint32(post), what)
		}
	case !isInjected(err):
		n.abortKey(cf, key, "%s returns %v", what, err)
	}
}

// checkOldRead checks what a read at an earlier timestamp gave: any value, or
// none.
func (n *nonBatchedTest) checkOldRead(what string, cf int, key int64, value []byte, err error) {
	if base, ok := getValueBase(value); err == nil && (!ok || !bytes.Equal(value, n.flags.generateValue(base))) {
		n.abortKey(cf, key, "%s of an earlier timestamp returns %X, which is not the value of its base", what, value)
	}
	if err != nil && !rocksdb.IsNotFound(err) && !isInjected(err) {
		n.abortKey(cf, key, "%s of an earlier timestamp returns %v", what, err)
	}
}

func (n *nonBatchedTest) get(t *threadState, base *rocksdb.ReadOptions, cfs []int, keys []int64) {
	cf, key, ro := cfs[0], keys[0], *base
	pre := t.shared.get(cf, key)
	old := n.stampLookup(t, &ro)
	value, err := n.get2(&ro, cf, key)
	post := t.shared.get(cf, key)
	if old {
		n.checkOldRead("Get()", cf, key, value, err)
	} else {
		n.checkRead("Get()", cf, key, pre, post, value, err)
	}
	if err == nil || rocksdb.IsNotFound(err) {
		t.stats.addGets(err == nil)
	}
}

func (n *nonBatchedTest) multiGet(t *threadState, base *rocksdb.ReadOptions, cfs []int, keys []int64) {
	cf, ro := cfs[0], *base
	if n.flags.CheckMultigetConsistency {
		snap := n.db.GetSnapshot()
		defer n.releaseSnapshot(snap)
		ro.Snapshot = snap
	}
	encoded := make([][]byte, len(keys))
	pre := make([]expectedValue, len(keys))
	for i, k := range keys {
		encoded[i], pre[i] = n.tool.keys.key(k), t.shared.get(cf, k)
	}
	old := n.stampLookup(t, &ro)
	values, errs := n.stressTest.multiGet(&ro, cf, encoded)
	for i, k := range keys {
		switch {
		case ro.Snapshot != nil:
			if !isInjected(errs[i]) {
				n.compareWithGet(&ro, cf, encoded[i], values[i], errs[i])
			}
		case old:
			n.checkOldRead("MultiGet()", cf, k, values[i], errs[i])
		default:
			n.checkRead("MultiGet()", cf, k, pre[i], t.shared.get(cf, k), values[i], errs[i])
		}
		if errs[i] == nil || rocksdb.IsNotFound(errs[i]) {
			t.stats.addGets(errs[i] == nil)
		}
	}
}

// compareWithGet holds MultiGet to what Get gives of the same snapshot.
func (n *nonBatchedTest) compareWithGet(ro *rocksdb.ReadOptions, cf int, key, value []byte, err error) {
	quiet := *ro
	quiet.IOStatsContext = nil
	want, wantErr := n.stressTest.get(&quiet, cf, key)
	if wantErr != nil && !rocksdb.IsNotFound(wantErr) || rocksdb.IsNotFound(wantErr) != rocksdb.IsNotFound(err) || err != nil && !rocksdb.IsNotFound(err) || !bytes.Equal(value, want) {
		n.abort("MultiGet(%d) returned different results with key %X. Snapshot Seq No: %d. MultiGet: %X, %v. Get: %X, %v", cf, key, ro.Snapshot.GetSequenceNumber(), value, err, want, wantErr)
	}
}

func (n *nonBatchedTest) prefixScan(t *threadState, base *rocksdb.ReadOptions, cfs []int, keys []int64) {
	prefix := n.tool.keys.key(keys[0])[:max(n.flags.PrefixSize, 0)]
	ro := *base
	upper, hasUpper := nextPrefix(prefix)
	bounded := true
	switch {
	case hasUpper && t.rand.OneIn(2):
		ro.IterateUpperBound, ro.TableFilter = upper, n.queryFilter(prefix, upper)
	case n.options.PrefixExtractor != nil && t.rand.OneIn(2):
		ro.PrefixSameAsStart = true
	default:
		bounded = false
	}
	n.stampScan(t, &ro)
	it := n.db.NewIterator(&ro, n.cf(cfs[0]))
	defer n.closeIterator(it)
	count := int64(0)
	for it.Seek(prefix); it.Valid(); it.Next() {
		if !bytes.HasPrefix(it.Key(), prefix) {
			if bounded {
				n.abort("TestPrefixScan of %X, bound %X, prefix_same_as_start %v: found %X", prefix, ro.IterateUpperBound, ro.PrefixSameAsStart, it.Key())
			}
			break
		}
		count++
		if ro.IterStartTS != nil && !holdsValue(it.Key()) {
			continue
		}
		if ro.AllowUnpreparedValue && !it.PrepareValue() {
			break
		}
		if !n.flags.verifyWideColumns(it.Value(), it.Columns()) {
			n.abort("TestPrefixScan: Value and columns inconsistent for %X: %X, %X", it.Key(), it.Value(), it.Columns())
			break
		}
	}
	if hasUpper && ro.IterStartTS == nil && uint64(count) > n.tool.keys.prefixKeyCount(prefix, upper) {
		n.abort("TestPrefixScan of %X found %d keys", prefix, count)
	}
	if err := it.Status(); err == nil {
		t.stats.addPrefixes(1, count)
	} else if !isInjected(err) {
		n.abort("TestPrefixScan error: %v with prefix %X, iterate_upper_bound: %X, prefix_same_as_start: %v", err, prefix, ro.IterateUpperBound, ro.PrefixSameAsStart)
	}
}

// holdsValue tells of an internal key whether its entry has a value.
func holdsValue(key []byte) bool {
	switch _, t := dbformat.UnPackSequenceAndType(dbformat.ExtractInternalKeyFooter(key)); t {
	case dbformat.TypeValue, dbformat.TypeBlobIndex, dbformat.TypeWideColumnEntity:
		return true
	}
	return false
}

// lockForPut locks a key that may be written: one that is not to be overwritten
// has to be absent.
func (n *nonBatchedTest) lockForPut(t *threadState, cf int, key int64) (int, int64, *sync.Mutex) {
	sh := t.shared
	l := sh.keyLock(cf, key)
	l.Lock()
	for !sh.allowsOverwrite(key) && (n.flags.UseMerge || sh.exists(cf, key)) {
		l.Unlock()
		key, cf = int64(t.rand.Next())%n.flags.MaxKey, int(t.rand.Next()%uint32(n.flags.ColumnFamilies))
		l = sh.keyLock(cf, key)
		l.Lock()
	}
	return cf, key, l
}

func (n *nonBatchedTest) put(t *threadState, wo *rocksdb.WriteOptions, cfs []int, keys []int64) {
	cf, key, l := n.lockForPut(t, cfs[0], keys[0])
	defer l.Unlock()
	k := n.tool.keys.key(key)
	if n.flags.VerifyBeforeWrite {
		ro := n.verifyReadOptions()
		if value, err := n.stressTest.get(&ro, cf, k); !n.verifyOrSync(cf, key, value, "Pre-Put Get verification", err) {
			return
		}
	}
	p := t.shared.preparePut(cf, key)
	base := p.finalValueBase()
	v := n.flags.generateValue(base)
	timed := n.putsTimed(base)
	ingested := !timed && !n.putsEntity(base) && n.ingestsBatch(t)
	done, err := n.writeUntilDone("TestPut", func() error {
		if timed {
			b := newBatch()
			if err := b.TimedPut(n.cf(cf), k, v, n.writeTime(t)); err != nil {
				return err
			}
			return n.db.Write(wo, b)
		}
		if ingested {
			return n.ingest(wo, func(b *writebatchwithindex.WriteBatchWithIndex) error {
				if n.flags.UseMerge {
					return b.MergeCF(n.cf(cf), k, v)
				}
				return b.PutCF(n.cf(cf), k, v)
			})
		}
		return n.putOrMerge(wo, cf, k, base, v)
	})
	if !done {
		p.rollback()
	} else {
		p.commit()
		t.stats.addWrites(1, len(v))
	}
	n.verifyAllKeys(t, "put", err)
}

// ingestsBatch tells whether an update is to be an ingested batch.
func (n *nonBatchedTest) ingestsBatch(t *threadState) bool {
	return !n.flags.stamped() && t.rand.OneInOpt(int(n.flags.IngestWbwiOneIn))
}

// ingest applies an indexed batch that fill fills.
func (n *nonBatchedTest) ingest(wo *rocksdb.WriteOptions, fill func(*writebatchwithindex.WriteBatchWithIndex) error) error {
	b, err := writebatchwithindex.New(writebatchwithindex.Options{BackupIndexComparator: n.options.Comparator, OverwriteKey: true})
	if err == nil {
		err = fill(b)
	}
	if err != nil {
		return err
	}
	return n.db.IngestWriteBatchWithIndex(wo, b)
}

func (n *nonBatchedTest) delete(t *threadState, wo *rocksdb.WriteOptions, cfs []int, keys []int64) {
	cf, key := cfs[0], keys[0]
	l := t.shared.keyLock(cf, key)
	l.Lock()
	defer l.Unlock()
	k := n.tool.keys.key(key)
	p := t.shared.prepareDelete(cf, key)
	overwrite := t.shared.allowsOverwrite(key)
	ingested := n.ingestsBatch(t)
	done, err := n.writeUntilDone("TestDelete", func() error {
		if ingested {
			return n.ingest(wo, func(b *writebatchwithindex.WriteBatchWithIndex) error {
				if overwrite {
					return b.DeleteCF(n.cf(cf), k)
				}
				return b.SingleDeleteCF(n.cf(cf), k)
			})
		}
		return n.deleteKey(wo, cf, k, !overwrite)
	})
	switch {
	case !done:
		p.rollback()
	case overwrite:
		p.commit()
		t.stats.deletes++
	default:
		p.commit()
		t.stats.singleDeletes++
	}
	n.verifyAllKeys(t, "delete", err)
}

func (n *nonBatchedTest) deleteRange(t *threadState, wo *rocksdb.WriteOptions, cfs []int, keys []int64) {
	cf, key, width := cfs[0], keys[0], int64(n.flags.RangeDeletionWidth)
	if key > n.flags.MaxKey-width {
		key = int64(t.rand.Next()) % (n.flags.MaxKey - width + 1)
	}
	defer t.shared.lockKeyRange(cf, key, key+width)()
	pending := t.shared.prepareDeleteRange(cf, key, key+width)
	begin, end := n.tool.keys.key(key), n.tool.keys.key(key+width)
	done, err := n.writeUntilDone("TestDeleteRange", func() error { return n.deleteKeyRange(wo, cf, begin, end) })
	for i := range pending {
		if done {
			pending[i].commit()
		} else {
			pending[i].rollback()
		}
	}
	if done {
		t.stats.rangeDeletions++
		t.stats.rangeCovered += int64(len(pending))
	}
	n.verifyAllKeys(t, "deleterange", err)
}

// verifyAllKeys reads all keys, where --verify_cpu_corruption_dir asks for it,
// and writes the first difference to a file there.
func (n *nonBatchedTest) verifyAllKeys(t *threadState, op string, err error) {
	if n.flags.VerifyCpuCorruptionDir == "" || t.shared.failed() {
		return
	}
	if rocksdb.IsCorruption(err) {
		n.tool.writeCorruption(t.tid, "detected-corruption", -1, -1, nil, nil, op+": "+err.Error())
		n.abort("%s detected data corruption: %v", op, err)
		return
	}
	ro := n.verifyReadOptions()
	ro.VerifyChecksums = true
	for cf := range n.cfs {
		for key := range n.flags.MaxKey {
			v := t.shared.get(cf, key)
			value, err := n.get2(&ro, cf, key)
			want := n.flags.generateValue(v.valueBase())
			kind := ""
			switch {
			case rocksdb.IsCorruption(err):
				kind = "detected-corruption"
			case err != nil && !rocksdb.IsNotFound(err):
				n.tool.terminate("verify_cpu_corruption: unexpected read-back status: %v", err)
			case v.exists() && err != nil:
				kind = "lost"
			case !v.exists() && err == nil:
				kind, want = "resurrected", nil
			case err == nil && !bytes.Equal(value, want):
				kind = "wrong-value"
			}
			if kind != "" {
				n.tool.writeCorruption(t.tid, kind, cf, key, value, want, fmt.Sprintf("Get: %v", err))
				n.abortKey(cf, key, "%s (Get: %v)", kind, err)
				return
			}
		}
	}
}

// expectedScan checks an iterator over [lb, ub) against the expected values
// around its making.
type expectedScan struct {
	n         *nonBatchedTest
	t         *threadState
	cf        int
	lb, ub    int64
	ro        *rocksdb.ReadOptions
	it        columnsIterator
	pre, post []expectedValue
	log       strings.Builder
}

func (e *expectedScan) read(to *[]expectedValue) {
	*to = (*to)[:0]
	for k := e.lb; k < e.ub; k++ {
		*to = append(*to, e.t.shared.get(e.cf, k))
	}
}

func (e *expectedScan) fail(format string, args ...any) bool {
	at := "invalid"
	if e.it.Valid() {
		at = fmt.Sprintf("at %X", e.it.Key())
	}
	e.t.stats.errors++
	e.n.abort("TestIterateAgainstExpected: %s. Iterator is %s. Column family: %s, range [%d, %d), op_logs: %s", fmt.Sprintf(format, args...), at, e.n.cf(e.cf).GetName(), e.lb, e.ub, e.log.String())
	return false
}

// absent checks that no key of [from, to) had to be there.
func (e *expectedScan) absent(from, to int64) bool {
	for k := max(from, e.lb); k < min(to, e.ub); k++ {
		if i := k - e.lb; mustHaveExisted(e.pre[i], e.post[i]) {
			return e.fail("Expected state has key %X (%#08x, %#08x)", e.n.tool.keys.key(k), uint32(e.pre[i]), uint32(e.post[i]))
		}
	}
	return true
}

// current gives the number of the iterator's key after checking its columns.
func (e *expectedScan) current() (int64, bool) {
	k, ok := e.n.tool.keys.intVal(e.it.Key())
	if !ok {
		return 0, e.fail("unparsable key")
	}
	return int64(k), true
}

func (e *expectedScan) columns() bool {
	if !e.n.flags.verifyWideColumns(e.it.Value(), e.it.Columns()) {
		return e.fail("Value and columns inconsistent: value: %X, columns: %X", e.it.Value(), e.it.Columns())
	}
	return true
}

// value checks the value of the key with that number.
func (e *expectedScan) value(k int64) bool {
	base, _ := getValueBase(e.it.Value())
	i := k - e.lb
	if mustHaveNotExisted(e.pre[i], e.post[i]) || !inExpectedValueBaseRange(base, e.pre[i], e.post[i]) {
		return e.fail("iterator has key %X with value base %d, but expected state does not (%#08x, %#08x)", e.it.Key(), base, uint32(e.pre[i]), uint32(e.post[i]))
	}
	return true
}

func (e *expectedScan) prepare() {
	if e.ro.AllowUnpreparedValue && e.it.Valid() {
		e.log.WriteByte('*')
		e.it.PrepareValue()
	}
}

// ended checks an iterator that is not valid: keys of [from, to) are absent,
// or an error was injected. It tells whether the test may go on.
func (e *expectedScan) ended(from, to int64) bool {
	if err := e.it.Status(); err != nil {
		if !isInjected(err) {
			e.fail("%v", err)
		}
		return false
	}
	return e.absent(from, to)
}

func (e *expectedScan) forward() bool {
	last := e.lb - 1
	e.it.Seek(e.n.tool.keys.key(e.lb))
	fmt.Fprintf(&e.log, "S %X ", e.n.tool.keys.key(e.lb))
	for {
		e.prepare()
		if !e.it.Valid() {
			return e.ended(last+1, e.ub)
		}
		k, ok := e.current()
		if !ok || !e.columns() {
			return false
		}
		if k <= last {
			return e.fail("found unexpectedly small key")
		}
		if !e.absent(last+1, k) || k < e.ub && !e.value(k) {
			return false
		}
		if last = k; last >= e.ub-1 {
			return true
		}
		e.it.Next()
		e.log.WriteByte('N')
	}
}

func (e *expectedScan) backward() bool {
	last := e.ub
	e.it.SeekForPrev(e.n.tool.keys.key(e.ub - 1))
	fmt.Fprintf(&e.log, " SFP %X ", e.n.tool.keys.key(e.ub-1))
	for {
		e.prepare()
		if !e.it.Valid() {
			return e.ended(e.lb, last)
		}
		k, ok := e.current()
		if !ok || !e.columns() {
			return false
		}
		if k >= last {
			return e.fail("found unexpectedly large key")
		}
		if !e.absent(k+1, last) || k >= e.lb && !e.value(k) {
			return false
		}
		if last = k; last <= e.lb {
			return true
		}
		e.it.Prev()
		e.log.WriteByte('P')
	}
}

// random steps to and fro from the middle.
func (e *expectedScan) random() bool {
	mid := e.lb + (e.ub-e.lb)/2
	key := e.n.tool.keys.key(mid)
	back := e.n.flags.TestBackwardScan
	if !back || e.t.rand.OneIn(2) {
		e.it.Seek(key)
		fmt.Fprintf(&e.log, " S %X ", key)
		if !e.it.Valid() {
			return e.ended(mid, e.ub)
		}
		if k, ok := e.current(); !ok || k < mid {
			return ok && e.fail("found unexpectedly small key")
		}
	} else {
		e.it.SeekForPrev(key)
		fmt.Fprintf(&e.log, " SFP %X ", key)
		if !e.it.Valid() {
			return e.ended(e.lb, mid+1)
		}
		if k, ok := e.current(); !ok || k > mid {
			return ok && e.fail("found unexpectedly large key")
		}
	}
	for i := int64(0); i < e.ub-e.lb && e.it.Valid(); i++ {
		if !e.randomStep(back) {
			return false
		}
	}
	if err := e.it.Status(); err != nil && !isInjected(err) {
		return e.fail("%v", err)
	}
	return true
}

func (e *expectedScan) randomStep(back bool) bool {
	e.prepare()
	if !e.it.Valid() {
		return true
	}
	k, ok := e.current()
	if !ok || !e.columns() {
		return false
	}
	inside := k >= e.lb && k < e.ub
	if inside && !e.value(k) {
		return false
	}
	forward := k < e.lb || !back || k < e.ub && e.t.rand.OneIn(2)
	if forward {
		e.it.Next()
		e.log.WriteByte('N')
	} else {
		e.it.Prev()
		e.log.WriteByte('P')
	}
	if !inside || !e.it.Valid() {
		return true
	}
	next, ok := e.current()
	switch {
	case !ok:
		return false
	case forward && next <= k:
		return e.fail("found unexpectedly small key after %d", k)
	case !forward && next >= k:
		return e.fail("found unexpectedly large key after %d", k)
	case forward:
		return e.absent(k+1, next)
	}
	return e.absent(next+1, k)
}

// iterateAgainstExpected scans a few keys forward, backward and at random.
func (n *nonBatchedTest) iterateAgainstExpected(t *threadState, base *rocksdb.ReadOptions, cfs []int, keys []int64) {
	f := n.flags
	width := min(int64(f.NumIterations), f.MaxKey)
	lb := keys[0]
	if lb > f.MaxKey-width {
		lb = int64(t.rand.Next()) % (f.MaxKey - width + 1)
	}
	ro := *base
	ro.TotalOrderSeek = ro.TotalOrderSeek || f.PrefixSize > 0
	if f.stamped() {
		// What is written meanwhile could have an earlier timestamp and be seen.
		defer t.shared.lockKeyRange(cfs[0], lb, lb+width)()
		ro.Timestamp = f.now()
	}
	if !f.DestroyDBInitially {
		// Beyond may be keys of a test of batches.
		ro.IterateUpperBound = n.tool.keys.key(f.MaxKey)
	}
	ro.TableFilter = n.queryFilter(n.tool.keys.key(lb), n.tool.keys.key(lb+width))
	e := &expectedScan{n: n, t: t, cf: cfs[0], lb: lb, ub: lb + width, ro: &ro}
	e.read(&e.pre)
	e.it = n.newIterator(&ro, cfs)
	defer n.closeIterator(e.it)
	e.read(&e.post)
	if !e.forward() || f.TestBackwardScan && !e.backward() {
		return
	}
	if it, ok := e.it.(*dbimpl.Iterator); ok && t.rand.OneIn(2) {
		e.read(&e.pre)
		if err := it.Refresh(nil); err != nil {
			if !isInjected(err) {
				e.fail("Refresh: %v", err)
			}
			return
		}
		e.log.WriteString("Refresh ")
		e.read(&e.post)
	}
	if e.random() {
		t.stats.iterations++
	}
}
