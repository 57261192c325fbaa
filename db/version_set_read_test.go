// No upstream twin: reads databases of real engines through Version and
// compares with what the real tools print of them.

package db

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/db/version"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/table"
	"github.com/rocksdb-go/rocksdb/table/internaliter"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
	"github.com/rocksdb-go/rocksdb/util"
)

// dumpedEntry is a line of "ldb idump".
type dumpedEntry struct {
	userKey string
	seq     uint64
	t       dbformat.ValueType
	value   string
}

func unhex(t *testing.T, s string) string {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func parseIdump(t *testing.T, data string) []dumpedEntry {
	t.Helper()
	var entries []dumpedEntry
	for line := range strings.Lines(data) {
		rest, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "'")
		if !ok {
			continue
		}
		key, rest, _ := strings.Cut(rest, "' seq:")
		seq, rest, _ := strings.Cut(rest, ", type:")
		vt, value, _ := strings.Cut(rest, " =>")
		e := dumpedEntry{userKey: unhex(t, key), value: unhex(t, strings.TrimPrefix(value, " "))}
		n, err := strconv.ParseUint(vt, 10, 8)
		if err == nil {
			e.t = dbformat.ValueType(n)
			e.seq, err = strconv.ParseUint(seq, 10, 64)
		}
		if err != nil {
			t.Fatal(err)
		}
		entries = append(entries, e)
	}
	return entries
}

// parseScan gives the pairs of "ldb scan"; keys end in their timestamps.
func parseScan(t *testing.T, data string) map[string]string {
	t.Helper()
	pairs := map[string]string{}
	for line := range strings.Lines(data) {
		key, value, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " ==> 0x")
		if key, isKey := strings.CutPrefix(key, "0x"); ok && isKey {
			key, ts, hasTS := strings.Cut(key, "|timestamp:")
			k := unhex(t, key)
			if hasTS {
				n, err := strconv.ParseUint(ts, 10, 64)
				if err != nil {
					t.Fatal(err)
				}
				k = string(util.AppendFixed64([]byte(k), n))
			}
			pairs[k] = unhex(t, value)
		}
	}
	return pairs
}

// testMergeOperator joins values with commas, or adds them up.
type testMergeOperator struct {
	rocksdb.MergeOperatorBase
	name string
}

func (o testMergeOperator) Name() string { return o.name }

func (o testMergeOperator) FullMergeV2(in *rocksdb.MergeOperationInput, out *rocksdb.MergeOperationOutput) bool {
	values := in.Operands
	if in.ExistingValue != nil {
		values = slices.Concat([][]byte{in.ExistingValue}, values)
	}
	if o.name == "UInt64AddOperator" {
		var sum uint64
		for _, v := range values {
			sum += binary.LittleEndian.Uint64(v)
		}
		out.NewValue = binary.LittleEndian.AppendUint64(nil, sum)
		return true
	}
	out.NewValue = bytes.Join(values, []byte{','})
	return true
}

// goldenVersion is a recovered database's default family.
type goldenVersion struct {
	*versionSetTest
	v       *Version
	icmp    *dbformat.InternalKeyComparator
	ro      rocksdb.ReadOptions
	entries []dumpedEntry
	scan    map[string]string
	flushed bool // nothing is in a WAL only
}

func copyDB(t *testing.T, from, to string) (walBytes int) {
	t.Helper()
	files, err := os.ReadDir(from)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		data, err := os.ReadFile(filepath.Join(from, f.Name()))
		if err == nil {
			err = os.WriteFile(filepath.Join(to, f.Name()), data, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(f.Name(), ".log") {
			walBytes += len(data)
		}
	}
	return walBytes
}

func openGolden(t *testing.T, dir string) *goldenVersion {
	t.Helper()
	g := &goldenVersion{versionSetTest: newVersionSetTest(t), ro: rocksdb.DefaultReadOptions()}
	g.flushed = copyDB(t, filepath.Join(dir, "db"), g.dir) == 0
	opts, err := filepath.Glob(filepath.Join(g.dir, "OPTIONS-*"))
	if err != nil || len(opts) == 0 {
		t.Fatalf("no OPTIONS file: %v", err)
	}
	text, err := os.ReadFile(opts[0])
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(text, []byte("comparator=leveldb.BytewiseComparator.u64ts")) {
		g.cf.Comparator = util.BytewiseComparatorWithU64Ts()
	}
	g.cf.MergeOperator = testMergeOperator{name: "StringAppendOperator"}
	if bytes.Contains(text, []byte("UInt64AddOperator")) {
		g.cf.MergeOperator = testMergeOperator{name: "UInt64AddOperator"}
	}
	names, err := ListColumnFamilies(g.dir, g.imm.FS)
	if err != nil {
		t.Fatal(err)
	}
	g.reset()
	g.mustRecover(names[1:]...)
	cfd := g.vs.GetColumnFamilySet().GetDefault()
	g.v, g.icmp = cfd.Current(), cfd.InternalComparator()

	var last uint64 // of the tables
	for level := range g.v.StorageInfo().NumNonEmptyLevels() {
		for _, f := range g.v.StorageInfo().LevelFiles(level) {
			last = max(last, f.FD.LargestSeqno)
		}
	}
	read := func(name string) string {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	for _, e := range parseIdump(t, read("idump.txt")) {
		if e.seq <= last {
			g.entries = append(g.entries, e)
		}
	}
	g.scan = parseScan(t, read("scan.txt"))
	return g
}

func (g *goldenVersion) iterator() internaliter.InternalIterator {
	b := table.NewMergeIteratorBuilder(g.icmp, false, nil)
	g.v.AddIterators(&g.ro, b, false, dbformat.MaxSequenceNumber, nil)
	return b.Finish(nil)
}

func (g *goldenVersion) entryAt(it internaliter.InternalIterator) dumpedEntry {
	p, err := dbformat.ParseInternalKey(it.Key(), true)
	if err != nil {
		g.t.Fatal(err)
	}
	return dumpedEntry{string(p.UserKey), p.Sequence, p.Type, string(it.Value())}
}

// testIterators walks the tree both ways and seeks to every entry.
func (g *goldenVersion) testIterators() {
	it := g.iterator()
	defer func() {
		if err := it.Close(); err != nil {
			g.t.Error(err)
		}
	}()
	check := func(i int, how string) bool {
		if !it.Valid() || it.Status() != nil {
			g.t.Errorf("%s: not valid at entry %d of %d: %v", how, i, len(g.entries), it.Status())
			return false
		}
		if got := g.entryAt(it); got != g.entries[i] {
			g.t.Errorf("%s: entry %d is %+v, want %+v", how, i, got, g.entries[i])
			return false
		}
		return true
	}
	it.SeekToFirst()
	for i := range g.entries {
		if !check(i, "forwards") {
			return
		}
		it.Next()
	}
	if it.Valid() || it.Status() != nil {
		g.t.Errorf("after the last entry: %t, %v", it.Valid(), it.Status())
	}
	it.SeekToLast()
	for i := len(g.entries) - 1; i >= 0; i-- {
		if !check(i, "backwards") {
			return
		}
		it.Prev()
	}
	if it.Valid() || it.Status() != nil {
		g.t.Errorf("before the first entry: %t, %v", it.Valid(), it.Status())
	}
	for i, e := range g.entries {
		key := dbformat.NewInternalKey([]byte(e.userKey), e.seq, e.t)
		it.Seek(key)
		if !check(i, "Seek") {
			return
		}
		it.SeekForPrev(key)
		if !check(i, "SeekForPrev") {
			return
		}
		if i+1 < len(g.entries) {
			it.SeekForPrev(key)
			if it.Next(); !check(i+1, "SeekForPrev, Next") {
				return
			}
		}
	}
}

// want is what a lookup gives: the value, or else not found.
func (g *goldenVersion) want(userKey string) (value string, found bool) {
	if g.flushed {
		value, found = g.scan[userKey]
		return value, found
	}
	i := slices.IndexFunc(g.entries, func(e dumpedEntry) bool { return e.userKey == userKey })
	if i < 0 || g.entries[i].t != dbformat.TypeValue {
		return "", false
	}
	return g.entries[i].value, true
}

// keys are those of the database and as many beside.
func (g *goldenVersion) keys() []string {
	seen := map[string]bool{}
	var keys []string
	add := func(k string) {
		if !seen[k] {
			seen[k] = true
			keys = append(keys, k)
		}
	}
	for _, e := range g.entries {
		add(e.userKey)
	}
	for i := range uint64(600) {
		add(string(append(binary.BigEndian.AppendUint64(nil, i), "00000000"...)))
	}
	slices.Sort(keys)
	return keys
}

func (g *goldenVersion) checkLookup(how, key string, got []byte, err error) bool {
	value, found := g.want(key)
	switch {
	case !found && rocksdb.IsNotFound(err):
	case found && err == nil && string(got) == value:
	default:
		g.t.Errorf("%s %x: %x, %v; want %x, found %t", how, key, got, err, value, found)
		return false
	}
	return true
}

func (g *goldenVersion) testGet() {
	var x PointLookup
	for _, key := range g.keys() {
		var value rocksdb.PinnableSlice
		var covering uint64
		var mc dbformat.MergeContext
		x.Value, x.MergeContext, x.MaxCoveringTombstoneSeq, x.DoMerge = &value, &mc, &covering, true
		err := g.v.Get(&g.ro, dbformat.NewLookupKey([]byte(key), dbformat.MaxSequenceNumber, nil), &x)
		ok := g.checkLookup("Get", key, value.Data(), err)
		value.Release()
		if !ok {
			return
		}
	}
}

func (g *goldenVersion) testMultiGet() {
	for batch := range slices.Chunk(g.keys(), table.MaxBatchSize) {
		keys := make([]table.KeyContext, len(batch))
		sorted := make([]*table.KeyContext, len(batch))
		values := make([]rocksdb.PinnableSlice, len(batch))
		errs := make([]error, len(batch))
		for i, k := range batch {
			keys[i] = table.KeyContext{Key: []byte(k), Value: &values[i], Err: &errs[i]}
			sorted[i] = &keys[i]
		}
		var ctx table.MultiGetContext
		ctx.Init(sorted, dbformat.MaxSequenceNumber, nil)
		r := ctx.GetMultiGetRange()
		g.v.MultiGet(&g.ro, &r, nil)
		for i, k := range batch {
			ok := g.checkLookup("MultiGet", k, values[i].Data(), errs[i])
			values[i].Release()
			if !ok {
				return
			}
		}
	}
}

func TestGolden_ReadVersion(t *testing.T) {
	root := "testdata"
	if dir := os.Getenv("ROCKSDB_GOLDEN"); dir != "" {
		root = dir
	}
	files, err := filepath.Glob(filepath.Join(root, "rocksdb-*", "*", "idump.txt"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden files: %v", err)
	}
	for _, f := range files {
		dir := filepath.Dir(f)
		t.Run(filepath.ToSlash(dir), func(t *testing.T) {
			if strings.Contains(dir, "table_plain") || strings.Contains(dir, "table_cuckoo") {
				return // other formats than the block-based one
			}
			g := openGolden(t, dir)
			if g.icmp.TimestampSize() > 0 {
				g.testTimestamps() // there is no idump of these
			} else {
				g.testIterators()
				g.testGet()
				g.testMultiGet()
			}
			if props, err := g.v.GetPropertiesOfAllTables(&g.ro); err != nil {
				t.Error(err)
			} else {
				checkProperties(t, g.v.StorageInfo(), props)
			}
		})
	}
}

// testTimestamps compares the newest entry of each key with the scan.
func (g *goldenVersion) testTimestamps() {
	it := g.iterator()
	defer it.Close()
	ts := g.icmp.TimestampSize()
	prev, left := "", len(g.scan)
	var x PointLookup
	for it.SeekToFirst(); it.Valid(); it.Next() {
		e := g.entryAt(it)
		key := e.userKey[:len(e.userKey)-ts]
		if key == prev {
			continue
		}
		prev = key
		left--
		if want, ok := g.scan[e.userKey]; !ok || e.t != dbformat.TypeValue || e.value != want {
			g.t.Errorf("got %+v, want value %x (%t)", e, want, ok)
		}
		var value rocksdb.PinnableSlice
		var covering uint64
		var timestamp []byte
		x.Value, x.MergeContext, x.MaxCoveringTombstoneSeq, x.Timestamp, x.DoMerge = &value, new(dbformat.MergeContext), &covering, &timestamp, true
		newest := bytes.Repeat([]byte{0xff}, ts)
		if err := g.v.Get(&g.ro, dbformat.NewLookupKey([]byte(key), dbformat.MaxSequenceNumber, newest), &x); err != nil ||
			string(value.Data()) != e.value || key+string(timestamp) != e.userKey {
			g.t.Errorf("Get %x: %x at %x, %v; want %+v", key, value.Data(), timestamp, err, e)
		}
		value.Release()
	}
	if err := it.Status(); err != nil || left != 0 {
		g.t.Errorf("%d keys were not seen: %v", left, err)
	}
}

// checkProperties compares counts that the tables and the MANIFEST both have.
func checkProperties(t *testing.T, s *version.StorageInfo, props map[string]*rocksdb.TableProperties) {
	t.Helper()
	files := 0
	for level := range s.NumLevels() {
		files += s.NumLevelFiles(level)
	}
	if len(props) != files {
		t.Errorf("properties of %d tables, want %d", len(props), files)
	}
	for name, p := range props {
		if p.NumEntries == 0 && p.NumRangeDeletions == 0 {
			t.Errorf("%s: no entries", name)
		}
	}
}

// A lookup of a table that is open, in blocks that are cached, allocates
// nothing.
func TestVersion_GetDoesNotAllocate(t *testing.T) {
	g := openGolden(t, filepath.Join("testdata", "rocksdb-11.8.1", "deletes"))
	var x PointLookup
	var k dbformat.LookupKey
	var value rocksdb.PinnableSlice
	var mc dbformat.MergeContext
	var covering uint64
	keys := g.keys()
	i := 0
	allocs := testing.AllocsPerRun(2*len(keys), func() {
		covering = 0
		mc.Clear()
		x.Value, x.MergeContext, x.MaxCoveringTombstoneSeq, x.DoMerge = &value, &mc, &covering, true
		k.Set([]byte(keys[i%len(keys)]), dbformat.MaxSequenceNumber, nil)
		if err := g.v.Get(&g.ro, &k, &x); err != nil && !rocksdb.IsNotFound(err) {
			t.Error(err)
		}
		value.Release()
		i++
	})
	if allocs >= 0.5 && !syncpoint.Enabled { // their arguments are boxed
		t.Errorf("%.2f allocations a lookup", allocs)
	}
}
