// Port of db/db_test_util.{h,cc}. Differs: the environment with counters and
// faults is fsutil's.

package db_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/db/db_impl"
	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/db/version"
	"github.com/rocksdb-go/rocksdb/env"
	"github.com/rocksdb-go/rocksdb/file/filename"
	"github.com/rocksdb-go/rocksdb/memtable"
	"github.com/rocksdb-go/rocksdb/util"
	"github.com/rocksdb-go/rocksdb/utilities/fsutil"
	"github.com/rocksdb-go/rocksdb/utilities/merge_operators"
)

// optionConfig is one of the sets of options that tests are run with.
type optionConfig int

// Upstream's values; those of features not built are left out of changeOptions.
const (
	configDefault                                        optionConfig = 0
	configBlockBasedTableWithPrefixHashIndex             optionConfig = 1
	configBlockBasedTableWithWholeKeyHashIndex           optionConfig = 2
	configPlainTableFirstBytePrefix                      optionConfig = 3
	configPlainTableCappedPrefix                         optionConfig = 4
	configPlainTableCappedPrefixNonMmap                  optionConfig = 5
	configPlainTableAllBytesPrefix                       optionConfig = 6
	configVectorRep                                      optionConfig = 7
	configHashLinkList                                   optionConfig = 8
	configMergePut                                       optionConfig = 9
	configFilter                                         optionConfig = 10
	configFullFilterWithNewTableReaderForCompactions     optionConfig = 11
	configUncompressed                                   optionConfig = 12
	configNumLevel3                                      optionConfig = 13
	configDBLogDir                                       optionConfig = 14
	configWalDirAndMmapReads                             optionConfig = 15
	configManifestFileSize                               optionConfig = 16
	configPerfOptions                                    optionConfig = 17
	configHashSkipList                                   optionConfig = 18
	configUniversalCompaction                            optionConfig = 19
	configUniversalCompactionMultiLevel                  optionConfig = 20
	configInfiniteMaxOpenFiles                           optionConfig = 21
	configCRC32cChecksum                                 optionConfig = 22
	configFIFOCompaction                                 optionConfig = 23
	configOptimizeFiltersForHits                         optionConfig = 24
	configRowCache                                       optionConfig = 25
	configRecycleLogFiles                                optionConfig = 26
	configConcurrentSkipList                             optionConfig = 27
	configPipelinedWrite                                 optionConfig = 28
	configConcurrentWALWrites                            optionConfig = 29
	configDirectIO                                       optionConfig = 30
	configLevelSubcompactions                            optionConfig = 31
	configBlockBasedTableWithIndexRestartInterval        optionConfig = 32
	configBlockBasedTableWithPartitionedIndex            optionConfig = 33
	configBlockBasedTableWithPartitionedIndexFormat4     optionConfig = 34
	configBlockBasedTableWithLatestFormat                optionConfig = 35
	configPartitionedFilterWithNewTableReader            optionConfig = 36
	configUniversalSubcompactions                        optionConfig = 37
	configUnorderedWrite                                 optionConfig = 38
	configBlockBasedTableWithBinarySearchWithFirstKeyIdx optionConfig = 39
	configEnd                                            optionConfig = 40
)

// skipMask says which configurations a test cannot run with.
type skipMask int

const (
	skipNone                skipMask = 0
	skipDeletesFilterFirst  skipMask = 1
	skipUniversalCompaction skipMask = 2
	skipMergePut            skipMask = 4
	skipPlainTable          skipMask = 8
	skipHashIndex           skipMask = 16
	skipNoSeekToLast        skipMask = 32
	skipFIFOCompaction      skipMask = 128
	skipMmapReads           skipMask = 256
	skipRowCache            skipMask = 512
)

// resetSyncPoints clears hooks that a test left; with the tag syncpoint.
var resetSyncPoints = func() {}

// dbTest is a database under test with the options it was last opened with. It
// fails the test where a step that has to succeed does not.
type dbTest struct {
	*testing.T
	dir    string
	env    rocksdb.Env
	fault  *fsutil.FaultInjectionTestFS // of env
	count  *fsutil.CountedFileSystem    // below fault
	db     *rocksdb.DB
	cfs    []*rocksdb.ColumnFamily // as opened or made, the default one first
	config optionConfig
	last   rocksdb.Options

	toClose []testIter // closed before the database
}

// newDBTest opens a fresh database with the default configuration, on the
// posix file system.
func newDBTest(t *testing.T) *dbTest {
	t.Helper()
	x := &dbTest{T: t, dir: filepath.Join(t.TempDir(), "db")}
	x.count = fsutil.NewCountedFileSystem(&noSyncFS{rocksdb.FileSystemWrapper{FileSystem: env.DefaultFileSystem()}})
	x.fault = fsutil.NewFaultInjectionTestFS(x.count)
	x.env = env.NewCompositeEnvWrapper(env.Default(), x.fault, nil)
	t.Cleanup(func() {
		resetSyncPoints()
		x.close()
	})
	x.reopen(x.currentOptions())
	return x
}

// must fails the test on an error.
func (x *dbTest) must(err error) {
	x.Helper()
	if err != nil {
		x.Fatal(err)
	}
}

// tableNames are of all families.
func (x *dbTest) tableNames() (names []string) {
	for _, f := range x.db.GetLiveFilesMetaData() {
		names = append(names, f.Name)
	}
	return names
}

// defaultOptions are those that upstream's tests start from.
func (x *dbTest) defaultOptions() rocksdb.Options {
	o := rocksdb.DefaultOptions()
	o.WriteBufferSize = 4090 * 4096
	o.TargetFileSizeBase = 2 << 20
	o.MaxBytesForLevelBase = 10 << 20
	o.MaxOpenFiles = 5000
	o.WALRecoveryMode = rocksdb.TolerateCorruptedTailRecords
	o.CompactionPri = rocksdb.ByCompensatedSize
	o.LevelCompactionDynamicLevelBytes = false
	o.Env = x.env
	o.TrackAndVerifyWALsInManifest = true
	o.CreateIfMissing = true
	return o
}

// currentOptions are the default ones changed by the present configuration.
func (x *dbTest) currentOptions() rocksdb.Options { return x.withConfig(x.defaultOptions()) }

func (x *dbTest) withConfig(o rocksdb.Options) rocksdb.Options {
	t := rocksdb.DefaultBlockBasedTableOptions()
	switch x.config {
	case configHashSkipList:
		o.PrefixExtractor = rocksdb.NewFixedPrefixTransform(1)
		o.MemtableFactory = memtable.NewHashSkipListRepFactory(16, 4, 4)
		o.AllowConcurrentMemtableWrite = false
	case configPlainTableFirstBytePrefix:
		return plainTableConfig(o, rocksdb.NewFixedPrefixTransform(1), true)
	case configPlainTableCappedPrefix:
		return plainTableConfig(o, rocksdb.NewCappedPrefixTransform(8), true)
	case configPlainTableCappedPrefixNonMmap:
		return plainTableConfig(o, rocksdb.NewCappedPrefixTransform(8), false)
	case configPlainTableAllBytesPrefix:
		return plainTableConfig(o, util.NewNoopTransform(), true)
	case configVectorRep:
		o.MemtableFactory = memtable.NewVectorRepFactory(100)
		o.AllowConcurrentMemtableWrite = false
	case configHashLinkList:
		o.PrefixExtractor = rocksdb.NewFixedPrefixTransform(1)
		o.MemtableFactory = memtable.NewHashLinkListRepFactory(4)
		o.AllowConcurrentMemtableWrite = false
	case configDirectIO:
		o.UseDirectReads, o.UseDirectIOForFlushAndCompaction = true, true
		o.CompactionReadaheadSize = 2 << 20
	case configMergePut:
		m, err := mergeoperators.New("put")
		x.must(err)
		o.MergeOperator = m
	case configFilter:
		t.FilterPolicy = rocksdb.NewBloomFilterPolicy(10)
	case configFullFilterWithNewTableReaderForCompactions:
		t.FilterPolicy = rocksdb.NewBloomFilterPolicy(10)
		o.CompactionReadaheadSize = 10 << 20
	case configPartitionedFilterWithNewTableReader:
		t.FilterPolicy = rocksdb.NewBloomFilterPolicy(10)
		t.PartitionFilters = true
		t.IndexType = rocksdb.TwoLevelIndexSearch
		o.CompactionReadaheadSize = 10 << 20
	case configUncompressed:
		o.Compression = rocksdb.NoCompression
	case configNumLevel3:
		o.NumLevels = 3
	case configDBLogDir:
		o.DBLogDir = x.dir + "_log"
	case configWalDirAndMmapReads:
		o.WALDir = x.dir + "_wal"
		o.AllowMmapReads = true
	case configManifestFileSize:
		o.MaxManifestFileSize, o.MaxManifestSpaceAmpPct = 50, 0
	case configPerfOptions:
		o.DelayedWriteRate = 8 << 20
		o.ReportBGIOStats = true
	case configUniversalCompaction:
		o.CompactionStyle, o.NumLevels = rocksdb.CompactionStyleUniversal, 1
	case configUniversalCompactionMultiLevel:
		o.CompactionStyle, o.NumLevels = rocksdb.CompactionStyleUniversal, 8
	case configUniversalSubcompactions:
		o.CompactionStyle, o.NumLevels = rocksdb.CompactionStyleUniversal, 8
		o.MaxSubcompactions = 4
	case configInfiniteMaxOpenFiles:
		o.MaxOpenFiles = -1
	case configCRC32cChecksum:
		t.Checksum = rocksdb.CRC32c
		o.DisableExtraChecks()
	case configFIFOCompaction:
		o.CompactionStyle, o.MaxOpenFiles = rocksdb.CompactionStyleFIFO, -1
	case configBlockBasedTableWithPrefixHashIndex:
		t.IndexType = rocksdb.HashSearch
		o.PrefixExtractor = rocksdb.NewFixedPrefixTransform(1)
	case configBlockBasedTableWithWholeKeyHashIndex:
		t.IndexType = rocksdb.HashSearch
		o.PrefixExtractor = util.NewNoopTransform()
	case configBlockBasedTableWithPartitionedIndex:
		t.FormatVersion, t.IndexType = 3, rocksdb.TwoLevelIndexSearch
		o.PrefixExtractor = util.NewNoopTransform()
	case configBlockBasedTableWithPartitionedIndexFormat4:
		t.FormatVersion, t.IndexType = 4, rocksdb.TwoLevelIndexSearch
		t.FilterPolicy, t.PartitionFilters = rocksdb.NewBloomFilterPolicy(10), true
		t.IndexBlockRestartInterval = 8
	case configBlockBasedTableWithIndexRestartInterval:
		t.IndexBlockRestartInterval = 8
	case configBlockBasedTableWithBinarySearchWithFirstKeyIdx:
		t.IndexType = rocksdb.BinarySearchWithFirstKey
	case configOptimizeFiltersForHits:
		o.OptimizeFiltersForHits = true
	case configRowCache:
		o.RowCache = rocksdb.NewLRUCache(1 << 20)
	case configRecycleLogFiles:
		o.RecycleLogFileNum = 2
	case configLevelSubcompactions:
		o.MaxSubcompactions = 4
	case configConcurrentSkipList:
		o.AllowConcurrentMemtableWrite, o.EnableWriteThreadAdaptiveYield = true, true
	case configPipelinedWrite:
		o.EnablePipelinedWrite = true
	case configConcurrentWALWrites:
		o.TwoWriteQueues, o.ManualWALFlush = true, true
	case configUnorderedWrite:
		o.AllowConcurrentMemtableWrite = false
	}
	o.TableFactory = rocksdb.NewBlockBasedTableFactory(t)
	return o
}

func plainTableConfig(o rocksdb.Options, prefix rocksdb.SliceTransform, mmap bool) rocksdb.Options {
	o.TableFactory, o.PrefixExtractor = rocksdb.NewPlainTableFactory(rocksdb.DefaultPlainTableOptions()), prefix
	o.AllowMmapReads, o.MaxSequentialSkipInIterations = mmap, 999999
	return o
}

func skipped(c optionConfig, m skipMask) bool {
	is := func(list ...optionConfig) bool { return slices.Contains(list, c) }
	return m&skipPlainTable != 0 && is(configPlainTableFirstBytePrefix, configPlainTableCappedPrefix, configPlainTableCappedPrefixNonMmap,
		configPlainTableAllBytesPrefix) ||
		m&skipUniversalCompaction != 0 && is(configUniversalCompaction, configUniversalCompactionMultiLevel, configUniversalSubcompactions) ||
		m&skipMergePut != 0 && is(configMergePut) ||
		m&skipNoSeekToLast != 0 && is(configHashLinkList, configHashSkipList) ||
		m&skipHashIndex != 0 && is(configBlockBasedTableWithPrefixHashIndex, configBlockBasedTableWithWholeKeyHashIndex) ||
		m&skipFIFOCompaction != 0 && is(configFIFOCompaction) ||
		m&skipMmapReads != 0 && is(configWalDirAndMmapReads) ||
		m&skipRowCache != 0 && is(configRowCache)
}

// eachOptions runs f with a fresh database of each configuration.
func eachOptions(t *testing.T, m skipMask, f func(x *dbTest)) {
	x := newDBTest(t)
	for f(x); x.changeOptions(m); {
		f(x)
	}
}

// changeOptions goes on to the next configuration, with a fresh database; false
// after the last one.
func (x *dbTest) changeOptions(m skipMask) bool {
	x.Helper()
	for x.config++; x.config < configEnd && skipped(x.config, m); x.config++ {
	}
	if x.config >= configEnd {
		return false
	}
	x.Logf("options configuration %d", x.config)
	x.destroyAndReopen(x.currentOptions())
	return true
}

// changeWalOptions goes through the configurations that matter to logs.
func (x *dbTest) changeWalOptions() bool {
	next := map[optionConfig]optionConfig{configDefault: configDBLogDir, configDBLogDir: configWalDirAndMmapReads, configWalDirAndMmapReads: configRecycleLogFiles}
	return x.changeTo(next)
}

// changeCompactOptions goes through the configurations that matter to
// compaction.
func (x *dbTest) changeCompactOptions() bool {
	return x.changeTo(map[optionConfig]optionConfig{configDefault: configUniversalCompaction, configUniversalCompaction: configUniversalCompactionMultiLevel,
		configUniversalCompactionMultiLevel: configLevelSubcompactions, configLevelSubcompactions: configUniversalSubcompactions})
}

func (x *dbTest) changeTo(next map[optionConfig]optionConfig) bool {
	x.Helper()
	c, more := next[x.config]
	if more {
		x.config = c
		x.Logf("options configuration %d", x.config)
		x.destroyAndReopen(x.currentOptions())
	}
	return more
}

func (x *dbTest) close() {
	if x.db == nil {
		return
	}
	for _, it := range x.toClose {
		it.Close()
	}
	x.toClose = nil
	for _, c := range x.cfs {
		c.Close()
	}
	if err := x.db.Close(); err != nil {
		x.Logf("close: %v", err)
	}
	x.db, x.cfs = nil, nil
}

func (x *dbTest) tryReopen(o rocksdb.Options) (err error) {
	x.close()
	x.last = o
	x.db, err = rocksdb.Open(x.dir, o)
	return err
}

func (x *dbTest) reopen(o rocksdb.Options) {
	x.Helper()
	x.must(x.tryReopen(o))
}

func (x *dbTest) tryReadOnlyReopen(o rocksdb.Options) (err error) {
	x.close()
	x.last = o
	x.db, err = rocksdb.OpenForReadOnly(x.dir, o)
	return err
}

func (x *dbTest) destroy(o rocksdb.Options) {
	x.Helper()
	x.close()
	x.must(rocksdb.DestroyDB(x.dir, o))
}

func (x *dbTest) destroyAndReopen(o rocksdb.Options) {
	x.Helper()
	x.destroy(x.last)
	x.reopen(o)
}

// createColumnFamilies makes families with the options and adds their handles.
func (x *dbTest) createColumnFamilies(names []string, o rocksdb.Options) {
	x.Helper()
	for _, n := range names {
		c, err := x.db.CreateColumnFamily(o.ColumnFamilyOptions, n)
		x.must(err)
		x.cfs = append(x.cfs, c)
	}
}

// createAndReopenWithCF makes the families and reopens with the default one
// first.
func (x *dbTest) createAndReopenWithCF(names []string, o rocksdb.Options) {
	x.Helper()
	x.createColumnFamilies(names, o)
	x.reopenWithColumnFamilies(append([]string{"default"}, names...), o)
}

// reopenWithColumnFamilies opens with the families; one set of options serves
// all of them.
func (x *dbTest) reopenWithColumnFamilies(names []string, o ...rocksdb.Options) {
	x.Helper()
	x.must(x.tryReopenWithColumnFamilies(names, o...))
}

func (x *dbTest) tryReopenWithColumnFamilies(names []string, o ...rocksdb.Options) (err error) {
	x.close()
	x.last = o[0]
	x.db, x.cfs, err = rocksdb.OpenColumnFamilies(x.dir, o[0].DBOptions, descriptors(names, o))
	return err
}

func descriptors(names []string, o []rocksdb.Options) []rocksdb.ColumnFamilyDescriptor {
	var list []rocksdb.ColumnFamilyDescriptor
	for i, n := range names {
		list = append(list, rocksdb.ColumnFamilyDescriptor{Name: n, Options: o[min(i, len(o)-1)].ColumnFamilyOptions})
	}
	return list
}

// cf gives a family by its place; without handles 0 is the default one.
func (x *dbTest) cf(i int) *rocksdb.ColumnFamily {
	if i == 0 && len(x.cfs) == 0 {
		return x.db.ColumnFamily
	}
	return x.cfs[i]
}

// full is the engine below the facade.
func (x *dbTest) full() *dbimpl.DBImpl { return x.db.Impl() }

// put writes to a family; with the configuration of the put operator by merging.
func (x *dbTest) put(cf int, key, value string) error {
	if x.config == configMergePut {
		return x.cf(cf).Merge(nil, []byte(key), []byte(value))
	}
	return x.cf(cf).Put(nil, []byte(key), []byte(value))
}

func (x *dbTest) mustPut(cf int, key, value string) {
	x.Helper()
	x.must(x.put(cf, key, value))
}

func (x *dbTest) mustDelete(cf int, key string) {
	x.Helper()
	x.must(x.cf(cf).Delete(nil, []byte(key)))
}

func (x *dbTest) mustSingleDelete(cf int, key string) {
	x.Helper()
	x.must(x.cf(cf).SingleDelete(nil, []byte(key)))
}

func (x *dbTest) mustMerge(cf int, key, operand string) {
	x.Helper()
	x.must(x.cf(cf).Merge(nil, []byte(key), []byte(operand)))
}

// get reads a value, "NOT_FOUND", or the error's text.
func (x *dbTest) get(cf int, key string) string { return x.getAt(cf, key, nil) }

func (x *dbTest) getAt(cf int, key string, s rocksdb.Snapshot) string {
	ro := rocksdb.DefaultReadOptions()
	ro.VerifyChecksums = true
	ro.Snapshot = s
	v, err := x.cf(cf).Get(&ro, []byte(key))
	if errors.Is(err, rocksdb.ErrNotFound) {
		return "NOT_FOUND"
	} else if err != nil {
		return err.Error()
	}
	defer v.Release()
	return string(v.Data())
}

// wantGet checks what get gives.
func (x *dbTest) wantGet(cf int, key, want string) {
	x.Helper()
	if got := x.get(cf, key); got != want {
		x.Fatalf("family %d: %q is %.100q, not %.100q", cf, key, got, want)
	}
}

// wantGetAt checks what a snapshot shows.
func (x *dbTest) wantGetAt(cf int, key string, s rocksdb.Snapshot, want string) {
	x.Helper()
	if got := x.getAt(cf, key, s); got != want {
		x.Fatalf("family %d: %q is %.100q, not %.100q", cf, key, got, want)
	}
}

// multiGet reads keys of one family; "NOT_FOUND" for those that are not there.
func (x *dbTest) multiGet(cf int, s rocksdb.Snapshot, keys ...string) []string {
	x.Helper()
	ro := rocksdb.DefaultReadOptions()
	ro.VerifyChecksums, ro.Snapshot = true, s
	list := make([][]byte, len(keys))
	for i, k := range keys {
		list[i] = []byte(k)
	}
	values, errs := make([]rocksdb.PinnableSlice, len(keys)), make([]error, len(keys))
	x.cf(cf).MultiGet(&ro, list, values, errs)
	out := make([]string, len(keys))
	for i := range keys {
		switch {
		case errors.Is(errs[i], rocksdb.ErrNotFound):
			out[i] = "NOT_FOUND"
		case errs[i] != nil:
			out[i] = errs[i].Error()
		default:
			out[i] = string(values[i].Data())
			values[i].Release()
		}
	}
	return out
}

// flush writes a family's memtable to a table.
func (x *dbTest) flush(cf int) {
	x.Helper()
	o := rocksdb.DefaultFlushOptions()
	x.must(x.cf(cf).Flush(&o))
}

// compact compacts a range of a family, the ends included; "" is no end.
func (x *dbTest) compact(cf int, begin, end string) {
	x.Helper()
	var b, e []byte
	if begin != "" {
		b = []byte(begin)
	}
	if end != "" {
		e = []byte(end)
	}
	x.must(x.cf(cf).CompactRange(nil, b, e))
}

// contents lists a family as "(k->v)(k->v)"; backwards has to give the reverse.
func (x *dbTest) contents(cf int) string {
	x.Helper()
	it := x.cf(cf).NewIterator(nil)
	defer it.Close()
	var forward []string
	for k, v := range it.All() {
		forward = append(forward, fmt.Sprintf("%s->%s", k, v))
	}
	x.must(it.Err())
	i := len(forward)
	for k, v := range it.Backward() {
		i--
		if i < 0 || forward[i] != fmt.Sprintf("%s->%s", k, v) {
			x.Fatalf("backwards %q->%q at %d of %d", k, v, i, len(forward))
		}
	}
	x.must(it.Err())
	if i != 0 {
		x.Fatalf("backwards misses %d entries", i)
	}
	var b strings.Builder
	for _, f := range forward {
		b.WriteString("(" + f + ")")
	}
	return b.String()
}

// iterStatus is an iterator's "key->value", or "(invalid)".
func iterStatus(it *rocksdb.Iterator) string {
	if !it.Valid() {
		return "(invalid)"
	}
	return string(it.Key()) + "->" + string(it.Value())
}

// allEntriesFor lists the entries of a key, newest first: "[ v2, DEL, v1 ]".
func (x *dbTest) allEntriesFor(key string, cf int) string {
	x.Helper()
	it, done := x.full().TestNewInternalIterator(x.cf(cf).Impl())
	defer done()
	defer it.Close()
	it.Seek(dbformat.AppendInternalKey(nil, []byte(key), dbformat.MaxSequenceNumber, dbformat.ValueTypeForSeek))
	if err := it.Status(); err != nil {
		return err.Error()
	}
	var list []string
	for ; it.Valid(); it.Next() {
		k, err := dbformat.ParseInternalKey(it.Key(), true)
		if err != nil {
			list = append(list, "CORRUPTED")
			continue
		}
		if string(k.UserKey) != key {
			break
		}
		switch k.Type {
		case dbformat.TypeDeletion:
			list = append(list, "DEL")
		case dbformat.TypeSingleDeletion:
			list = append(list, "SDEL")
		default:
			list = append(list, string(it.Value()))
		}
	}
	x.must(it.Status())
	if len(list) == 0 {
		return "[ ]"
	}
	return "[ " + strings.Join(list, ", ") + " ]"
}

// storage is the shape of a family's tree.
func (x *dbTest) storage(cf int) *version.StorageInfo {
	return x.cf(cf).Impl().CFD().Current().StorageInfo()
}

func (x *dbTest) numTableFilesAtLevel(level, cf int) int {
	x.Helper()
	v, ok := x.cf(cf).GetProperty(fmt.Sprintf("rocksdb.num-files-at-level%d", level))
	if !ok {
		x.Fatalf("no property num-files-at-level%d", level)
	}
	n := 0
	fmt.Sscan(v, &n)
	return n
}

// filesPerLevel lists the number of tables a level: "2,0,1".
func (x *dbTest) filesPerLevel(cf int) string {
	x.Helper()
	var counts []string
	last := 0
	for level := range x.cf(cf).Impl().CFD().NumberLevels() {
		n := x.numTableFilesAtLevel(level, cf)
		counts = append(counts, fmt.Sprint(n))
		if n > 0 {
			last = level + 1
		}
	}
	return strings.Join(counts[:last], ",")
}

// wantFiles checks what filesPerLevel gives.
func (x *dbTest) wantFiles(cf int, want string) {
	x.Helper()
	if got := x.filesPerLevel(cf); got != want {
		x.Fatalf("files per level: %q, not %q", got, want)
	}
}

func (x *dbTest) totalTableFiles(cf int) int {
	x.Helper()
	n := 0
	for level := range x.cf(cf).Impl().CFD().NumberLevels() {
		n += x.numTableFilesAtLevel(level, cf)
	}
	return n
}

// reopenDirect reopens with options for direct I/O. As upstream's, the test ends
// here where the file system has none.
func (x *dbTest) reopenDirect(o rocksdb.Options) {
	x.Helper()
	err := x.tryReopen(o)
	if c := rocksdb.CodeOf(err); c == rocksdb.CodeNotSupported || c == rocksdb.CodeInvalidArgument {
		x.Skip("the file system has no direct I/O: ", err)
	}
	x.must(err)
}

// makeTables flushes n tables with the keys small and large, and moves each to a
// level of its own, the last one to level 0.
func (x *dbTest) makeTables(n int, small, large string, cf int) {
	x.Helper()
	for i := range n {
		x.mustPut(cf, small, "begin")
		x.mustPut(cf, large, "end")
		x.flush(cf)
		x.moveFilesToLevel(n-i-1, cf)
	}
}

// moveFilesToLevel compacts everything down to a level.
func (x *dbTest) moveFilesToLevel(level, cf int) {
	x.Helper()
	for l := range level {
		x.must(x.full().TestCompactRange(l, nil, nil, x.cf(cf).Impl(), false))
	}
}

// files lists the paths of the database's files of a type, by number.
func (x *dbTest) files(t rocksdb.FileType) []string {
	x.Helper()
	dirs := []string{x.dir}
	if x.last.WALDir != "" && x.last.WALDir != x.dir && t == rocksdb.WalFile {
		dirs = []string{x.last.WALDir}
	}
	type numbered struct {
		path   string
		number uint64
	}
	var list []numbered
	for _, dir := range dirs {
		entries, err := os.ReadDir(dir)
		x.must(err)
		for _, e := range entries {
			if p, ok := filename.ParseFileName(e.Name(), ""); ok && p.Type == t {
				list = append(list, numbered{filepath.Join(dir, e.Name()), p.Number})
			}
		}
	}
	slices.SortFunc(list, func(a, b numbered) int { return int(a.number) - int(b.number) })
	var out []string
	for _, f := range list {
		out = append(out, f.path)
	}
	return out
}

// countFiles counts the database's files of a type.
func (x *dbTest) countFiles(t rocksdb.FileType) int { x.Helper(); return len(x.files(t)) }

// property is a property that has to exist.
func (x *dbTest) property(cf int, name string) string {
	x.Helper()
	v, ok := x.cf(cf).GetProperty(name)
	if !ok {
		x.Fatalf("no property %s", name)
	}
	return v
}

func (x *dbTest) intProperty(cf int, name string) uint64 {
	x.Helper()
	v, ok := x.cf(cf).GetIntProperty(name)
	if !ok {
		x.Fatalf("no property %s", name)
	}
	return v
}

// dummyString is a value of n bytes.
func dummyString(n int, c byte) string { return strings.Repeat(string(c), n) }

// key is upstream's Key(i).
func key(i int) string { return fmt.Sprintf("key%06d", i) }
