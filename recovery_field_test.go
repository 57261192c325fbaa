// No upstream twin: public reports about recovery, each with the outcome that is
// right. Their ids stand beside the tests.

package rocksdb_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/db/version"
	"github.com/rocksdb-go/rocksdb/db/wal"
	"github.com/rocksdb-go/rocksdb/env"
	"github.com/rocksdb-go/rocksdb/file"
	contract "github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

var recoveryModes = []rocksdb.WALRecoveryMode{rocksdb.TolerateCorruptedTailRecords, rocksdb.AbsoluteConsistency,
	rocksdb.PointInTimeRecovery, rocksdb.SkipAnyCorruptedRecords}

// recoveryTest is a database whose directory is copied while it is open, as a
// killed process would leave it.
type recoveryTest struct {
	*testing.T
	root string
	o    rocksdb.Options
	db   *rocksdb.DB
	cfs  map[string]*rocksdb.ColumnFamily
	n    int
}

func newRecoveryTest(t *testing.T, change func(o *rocksdb.Options), names ...string) *recoveryTest {
	t.Helper()
	x := &recoveryTest{T: t, root: t.TempDir(), o: rocksdb.DefaultOptions()}
	x.o.CreateIfMissing, x.o.CreateMissingColumnFamilies = true, true
	if change != nil {
		change(&x.o)
	}
	x.must(x.open("db", x.o, names...))
	t.Cleanup(x.close)
	return x
}

func (x *recoveryTest) must(err error) {
	x.Helper()
	if err != nil {
		x.Fatal(err)
	}
}

func (x *recoveryTest) open(dir string, o rocksdb.Options, names ...string) error {
	x.Helper()
	x.close()
	db, cfs, err := rocksdb.OpenColumnFamilies(filepath.Join(x.root, dir), o.DBOptions, describe(o, append([]string{"default"}, names...)...))
	if err != nil {
		return err
	}
	x.db, x.cfs = db, map[string]*rocksdb.ColumnFamily{}
	for _, c := range cfs {
		x.cfs[c.GetName()] = c
	}
	return nil
}

func (x *recoveryTest) close() {
	if x.db != nil {
		_ = x.db.Close() // some tests break it
		x.db = nil
	}
}

// copy copies the directory and gives the copy's name.
func (x *recoveryTest) copy(from string) string {
	x.Helper()
	x.n++
	name := fmt.Sprint("copy", x.n)
	x.must(os.CopyFS(filepath.Join(x.root, name), os.DirFS(filepath.Join(x.root, from))))
	return name
}

func (x *recoveryTest) put(keyValues ...string) {
	x.Helper()
	for i := 0; i < len(keyValues); i += 2 {
		x.must(x.db.Put(nil, []byte(keyValues[i]), []byte(keyValues[i+1])))
	}
}

func (x *recoveryTest) putIn(cf, key, value string) {
	x.Helper()
	x.must(x.cfs[cf].Put(nil, []byte(key), []byte(value)))
}

func (x *recoveryTest) flush() { x.Helper(); x.must(x.db.Flush(nil)) }

// scan is a family as "k=v k=v".
func (x *recoveryTest) scan(cf string) string {
	x.Helper()
	it := x.cfs[cf].NewIterator(nil)
	defer it.Close()
	var all []string
	for it.SeekToFirst(); it.Valid(); it.Next() {
		all = append(all, string(it.Key())+"="+string(it.Value()))
	}
	x.must(it.Status())
	return strings.Join(all, " ")
}

// count counts the default family's keys.
func (x *recoveryTest) count() int {
	x.Helper()
	s := x.scan("default")
	if s == "" {
		return 0
	}
	return strings.Count(s, " ") + 1
}

// newest is the path of the newest file of a kind.
func (x *recoveryTest) newest(dir, pattern string) string {
	x.Helper()
	files, _ := filepath.Glob(filepath.Join(x.root, dir, pattern))
	if len(files) == 0 {
		x.Fatal("no", pattern)
	}
	return slices.Max(files)
}

func (x *recoveryTest) cut(path string, n int64) {
	x.Helper()
	info, err := os.Stat(path)
	x.must(err)
	x.must(os.Truncate(path, info.Size()-n))
}

func (x *recoveryTest) flip(path string, at int, mask byte) {
	x.Helper()
	data, err := os.ReadFile(path)
	x.must(err)
	if at < 0 {
		at += len(data)
	}
	data[at] ^= mask
	x.must(os.WriteFile(path, data, 0o644))
}

func inMode(o rocksdb.Options, m rocksdb.WALRecoveryMode) rocksdb.Options {
	o.WALRecoveryMode, o.RecycleLogFileNum = m, 0
	return o
}

// eachMode opens a copy of dir in each mode and gives what is in it, or the
// error's text.
func (x *recoveryTest) eachMode(dir string, want map[rocksdb.WALRecoveryMode]string, got func() string) {
	x.Helper()
	for _, m := range recoveryModes {
		c := x.copy(dir)
		text := ""
		if err := x.open(c, inMode(x.o, m)); err != nil {
			text = err.Error()
		} else {
			text = got()
		}
		x.close()
		if w := want[m]; text != w && (!strings.HasPrefix(w, "~") || !strings.Contains(text, w[1:])) {
			x.Errorf("mode %d: %.300q, not %q", m, text, w)
		}
	}
}

// allModes is one outcome for all modes but those in except.
func allModes(want string, except ...string) map[rocksdb.WALRecoveryMode]string {
	m := map[rocksdb.WALRecoveryMode]string{}
	for _, mode := range recoveryModes {
		m[mode] = want
	}
	if len(except) > 0 {
		m[rocksdb.AbsoluteConsistency] = except[0]
	}
	return m
}

func TestFieldUnknownManifestTags(t *testing.T) { // aalhour/rockyardkv, issues 1, 5, 6, 7
	x := newRecoveryTest(t, nil, "c")
	x.put("k", "dv")
	x.putIn("c", "k", "cv")
	x.flush()
	x.must(x.cfs["c"].Flush(nil))
	x.close()
	for _, c := range []struct {
		tag  uint32
		more bool
		err  string
	}{{8192 | 900, false, ""}, {8192 | 900, true, ""}, {900, false, "unknown tag"}} {
		dir := x.copy("db")
		path := x.newest(dir, "MANIFEST-*")
		data, err := os.ReadFile(path)
		x.must(err)
		record := util.AppendVarint32(nil, c.tag)
		record = append(util.AppendVarint32(record, 3), "abc"...)
		if c.more {
			e := version.VersionEdit{}
			e.SetLastSequence(77)
			rest, _ := e.EncodeTo(nil, 0)
			record = append(record, rest...)
		}
		fo := contract.DefaultFileOptions()
		w, err := env.DefaultFileSystem().NewWritableFile(path, &fo)
		x.must(err)
		x.must(w.Append(data, nil))
		f := file.NewWritableFileWriter(w, path, &fo, &file.WriterOptions{})
		log := wal.NewWriter(f, wal.WriterOptions{})
		if len(data)%wal.BlockSize+wal.HeaderSize+len(record) > wal.BlockSize {
			t.Fatal("the record does not fit")
		}
		x.must(log.AddRecord(&contract.IOOptions{}, record, 0))
		x.must(log.Close(&contract.IOOptions{}))
		err = x.open(dir, x.o, "c")
		if c.err != "" {
			if rocksdb.CodeOf(err) != rocksdb.CodeCorruption || !strings.Contains(err.Error(), c.err) {
				t.Errorf("tag %d: %v", c.tag, err)
			}
			continue
		}
		x.must(err)
		if d, o := x.scan("default"), x.scan("c"); d != "k=dv" || o != "k=cv" {
			t.Errorf("tag %d: %q, %q", c.tag, d, o)
		}
	}
	// Each byte damaged in turn: an error, or all of the data; no table goes.
	size := len(snapshotOf(t, filepath.Join(x.root, "db"))[filepath.Base(x.newest("db", "MANIFEST-*"))])
	for at := range size {
		dir := x.copy("db")
		x.flip(x.newest(dir, "MANIFEST-*"), at, 0x55)
		if err := x.open(dir, x.o, "c"); err == nil {
			if d, o := x.scan("default"), x.scan("c"); d != "k=dv" || o != "k=cv" {
				t.Errorf("byte %d: %q, %q", at, d, o)
			}
		}
		x.close()
		if tables, _ := filepath.Glob(filepath.Join(x.root, dir, "*.sst")); len(tables) < 2 {
			t.Errorf("byte %d: tables are gone", at)
		}
		x.must(os.RemoveAll(filepath.Join(x.root, dir)))
	}
}

func TestFieldFormats(t *testing.T) { // aalhour/rockyardkv, issues 0, 3, 4, 8
	names := map[rocksdb.CompressionType]string{rocksdb.NoCompression: "NoCompression", rocksdb.SnappyCompression: "Snappy", rocksdb.ZlibCompression: "Zlib",
		rocksdb.BZip2Compression: "BZip2", rocksdb.LZ4Compression: "LZ4", rocksdb.LZ4HCCompression: "LZ4HC", rocksdb.ZSTD: "ZSTD"}
	for format := range uint32(9) {
		for c, name := range names {
			o := rocksdb.DefaultOptions()
			o.CreateIfMissing, o.Compression = true, c
			b := rocksdb.DefaultBlockBasedTableOptions()
			b.FormatVersion = format
			o.TableFactory = rocksdb.NewBlockBasedTableFactory(b)
			db, err := rocksdb.Open(t.TempDir(), o)
			if format == 8 {
				if rocksdb.CodeOf(err) != rocksdb.CodeInvalidArgument || !strings.Contains(err.Error(), "Unsupported BlockBasedTable format_version") {
					t.Error(err)
				}
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			for i := range 1000 {
				if err := db.Put(nil, fmt.Appendf(nil, "key%04d", i), []byte(strings.Repeat(fmt.Sprint(i%10), 100))); err != nil {
					t.Fatal(err)
				}
			}
			if err := errors.Join(db.Flush(nil), db.VerifyChecksum(nil)); err != nil {
				t.Fatal(err)
			}
			if n := strings.Count(scanLines(t, db.ColumnFamily, false), "\n"); n != 1000 {
				t.Errorf("format %d, %s: %d keys", format, name, n)
			}
			props, err := db.GetPropertiesOfAllTables()
			if err != nil || len(props) != 1 {
				t.Fatal(props, err)
			}
			for _, p := range props {
				want := name
				if format == 7 {
					want = fmt.Sprintf("BuiltinV2;%02X;", c)
					if c == rocksdb.NoCompression {
						want = ";;"
					} else if c == rocksdb.LZ4HCCompression {
						want = p.CompressionName // one of LZ4's
					}
				}
				if p.CompressionName != want || p.FormatVersion != uint64(max(format, 2)) {
					t.Errorf("format %d, %s: %q, format %d", format, name, p.CompressionName, p.FormatVersion)
				}
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestFieldRecycledLogs(t *testing.T) { // cockroachdb/pebble#566, facebook/rocksdb#12403
	value := strings.Repeat("v", 100)
	x := newRecoveryTest(t, func(o *rocksdb.Options) { o.RecycleLogFileNum = 2 })
	wo := rocksdb.DefaultWriteOptions()
	wo.DisableWAL = true
	if err := x.db.Put(&wo, []byte("n"), nil); rocksdb.CodeOf(err) != rocksdb.CodeInvalidArgument ||
		!strings.Contains(err.Error(), "disableWAL option is not supported if DBOptions::recycle_log_file_num > 0") {
		t.Error(err)
	}
	for round := range 6 {
		for i := range 20 {
			x.put(fmt.Sprintf("k%d-%02d", round, i), value)
		}
		x.flush()
	}
	x.put("t1", "1", "t2", "2")
	left := x.copy("db")
	x.eachMode(left, allModes("122", "~truncated record body"), func() string { return fmt.Sprint(x.count()) })
	x.close()
	x.eachMode("db", allModes("122"), func() string { return fmt.Sprint(x.count()) })
	// Two modes cannot tell a recycled log's old records from damage.
	for mode, disabled := range map[rocksdb.WALRecoveryMode]bool{rocksdb.TolerateCorruptedTailRecords: true, rocksdb.AbsoluteConsistency: true,
		rocksdb.PointInTimeRecovery: false, rocksdb.SkipAnyCorruptedRecords: false} {
		o := x.o
		o.WALRecoveryMode = mode
		x.must(x.open(x.copy("db"), o))
		if n := x.db.GetOptions().RecycleLogFileNum; (n == 0) != disabled {
			t.Errorf("mode %d: recycle_log_file_num %d", mode, n)
		}
	}
}

func TestFieldCompressedLogs(t *testing.T) { // facebook/rocksdb#10130, #12643
	x := newRecoveryTest(t, func(o *rocksdb.Options) { o.WALCompression = rocksdb.ZSTD })
	logs := func(size uint64) {
		t.Helper()
		l, err := x.db.GetSortedWalFiles()
		x.must(err)
		if len(l) != 1 || l[0].SizeFileBytes != size {
			for _, f := range l {
				t.Errorf("%d logs: %s of %d bytes, not %d", len(l), f.PathName(), f.SizeFileBytes, size)
			}
		}
	}
	logs(11) // the record of the compression alone
	x.put("a", "1")
	l, err := x.db.GetSortedWalFiles()
	x.must(err)
	if len(l) != 1 || l[0].SizeFileBytes <= 11 || l[0].StartSequence != 1 {
		t.Errorf("%+v", l)
	}
	x.flush()
	logs(11)
	for _, recycle := range []uint64{0, 1, 4} {
		x := newRecoveryTest(t, func(o *rocksdb.Options) {
			o.WALCompression, o.RecycleLogFileNum, o.WALRecoveryMode = rocksdb.ZSTD, recycle, rocksdb.PointInTimeRecovery
		})
		value := strings.Repeat("v", 500)
		for round := range 6 {
			for i := range 50 {
				x.put(fmt.Sprintf("k%d-%02d", round, i), value)
			}
			if round < 5 {
				x.flush()
			}
		}
		// v11.8.1 takes the old bytes behind a recycled log's tail for damage in
		// AbsoluteConsistency.
		x.eachMode(x.copy("db"), allModes("300"), func() string { return fmt.Sprint(x.count()) })
	}
}

func TestFieldCompressedFragments(t *testing.T) { // facebook/rocksdb#11198
	for _, recycle := range []uint64{0, 1} {
		x := newRecoveryTest(t, func(o *rocksdb.Options) { o.WALCompression, o.RecycleLogFileNum = rocksdb.ZSTD, recycle })
		r := rand.New(rand.NewPCG(1, 2))
		n := 0
		add := func(size int, random bool) {
			b := make([]byte, size)
			for i := range b {
				if b[i] = 'c'; random {
					b[i] = byte(r.Uint32())
				}
			}
			x.must(x.db.Put(nil, fmt.Appendf(nil, "k%04d", n), b))
			n++
		}
		for s := 32708; s <= 32787; s += 3 {
			add(s, true)
		}
		for s := 16364; s <= 16423; s += 3 {
			add(s, true)
		}
		for _, s := range []int{65536, 65529, 98304, 131072, 200000} {
			add(s, true)
		}
		for s := 98304; s <= 98343; s += 3 {
			add(s, false)
		}
		x.eachMode(x.copy("db"), allModes(fmt.Sprint(n)), func() string {
			got := 0
			it := x.db.NewIterator(nil)
			defer it.Close()
			for it.SeekToFirst(); it.Valid(); it.Next() {
				got++
			}
			return fmt.Sprint(got)
		})
	}
}

func TestFieldFailedBatches(t *testing.T) { // facebook/rocksdb#13429
	x := newRecoveryTest(t, nil)
	x.put("k0", "v0")
	for name, fill := range map[string]func(b *rocksdb.WriteBatch) error{
		"unknown family": func(b *rocksdb.WriteBatch) error { return b.PutByID(77, []byte("k2"), nil) },
		"backward range": func(b *rocksdb.WriteBatch) error { return b.DeleteRange([]byte("z"), []byte("a")) },
	} {
		b := rocksdb.NewWriteBatch()
		x.must(b.Put([]byte("k1"), []byte("v")))
		x.must(fill(b))
		x.must(b.Put([]byte("k3"), []byte("v")))
		if err := x.db.Write(nil, b); rocksdb.CodeOf(err) != rocksdb.CodeInvalidArgument {
			t.Errorf("%s: %v", name, err)
		}
		if s := x.scan("default"); s != "k0=v0" || x.db.GetLatestSequenceNumber() != 1 {
			t.Errorf("%s: %q", name, s)
		}
	}
	left := x.copy("db")
	x.put("k4", "v4") // the database goes on
	x.flush()
	x.close()
	x.eachMode(left, allModes("k0=v0"), func() string { return x.scan("default") })
	x.eachMode("db", allModes("k0=v0 k4=v4"), func() string { return x.scan("default") })
}

func TestFieldBestEfforts(t *testing.T) { // facebook/rocksdb#6824, #14155
	x := newRecoveryTest(t, func(o *rocksdb.Options) { o.DisableAutoCompactions = true })
	for i := 1; i <= 3; i++ {
		x.put("k", fmt.Sprint("v", i), fmt.Sprint("f", i), "x")
		x.flush()
	}
	x.put("w", "wal")
	left := x.copy("db")
	x.close()
	tables, _ := filepath.Glob(filepath.Join(x.root, left, "*.sst"))
	if len(tables) != 3 {
		t.Fatal(tables)
	}
	best := x.o
	best.BestEffortsRecovery = true
	half := func(path string) {
		info, err := os.Stat(path)
		x.must(err)
		x.must(os.Truncate(path, info.Size()/2))
	}
	const two, three = "f1=x f2=x k=v2", "f1=x f2=x f3=x k=v3"
	for name, c := range map[string]struct {
		damage func(dir string)
		want   string
	}{
		"nothing":         {func(string) {}, three},
		"newest deleted":  {func(dir string) { x.must(os.Remove(x.newest(dir, "*.sst"))) }, two},
		"newest halved":   {func(dir string) { half(x.newest(dir, "*.sst")) }, two},
		"newest emptied":  {func(dir string) { x.must(os.Truncate(x.newest(dir, "*.sst"), 0)) }, two},
		"newest's footer": {func(dir string) { x.flip(x.newest(dir, "*.sst"), -3, 0xff) }, two},
		"middle deleted":  {func(dir string) { x.must(os.Remove(filepath.Join(x.root, dir, filepath.Base(tables[1])))) }, "f1=x k=v1"},
		"oldest deleted":  {func(dir string) { x.must(os.Remove(filepath.Join(x.root, dir, filepath.Base(tables[0])))) }, ""},
		"CURRENT":         {func(dir string) { x.must(os.Remove(filepath.Join(x.root, dir, "CURRENT"))) }, three},
	} {
		for _, slash := range []string{"", "/"} {
			dir := x.copy(left)
			c.damage(dir)
			if err := x.open(dir+slash, best); err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if s := x.scan("default"); s != c.want {
				t.Errorf("%s%s: %q, not %q", name, slash, s, c.want)
			}
			x.close()
		}
	}
	dir := x.copy(left)
	x.must(os.Remove(x.newest(dir, "*.sst")))
	if err := x.open(dir, x.o); rocksdb.CodeOf(err) != rocksdb.CodeCorruption {
		t.Error("without the option:", err)
	}
}

func TestFieldManyManifests(t *testing.T) { // facebook/rocksdb#14155
	x := newRecoveryTest(t, func(o *rocksdb.Options) { o.DisableAutoCompactions = true })
	manifests := map[string]string{}
	for r := range 4 {
		x.must(x.open("db", x.o))
		x.put(fmt.Sprint("k", r), "v")
		x.flush()
		path := x.newest("db", "MANIFEST-*")
		data, err := os.ReadFile(path)
		x.must(err)
		manifests[filepath.Base(path)] = string(data)
	}
	x.close()
	best := x.o
	best.BestEffortsRecovery = true
	names := make([]string, 0, len(manifests))
	for name := range manifests {
		names = append(names, name)
	}
	slices.Sort(names)
	slices.Reverse(names) // the newest first
	for n := range 5 {
		dir := x.copy("db")
		for i, name := range names {
			path := filepath.Join(x.root, dir, name)
			x.must(os.WriteFile(path, []byte(manifests[name]), 0o644))
			if i < n {
				x.flip(path, 20, 0xff)
			}
		}
		err := x.open(dir, best)
		if n == 4 {
			if rocksdb.CodeOf(err) != rocksdb.CodeCorruption {
				t.Error(err)
			}
			continue
		}
		x.must(err)
		var want []string
		for i := range 4 - n {
			want = append(want, fmt.Sprintf("k%d=v", i))
		}
		if s := x.scan("default"); s != strings.Join(want, " ") {
			t.Errorf("%d damaged: %q", n, s)
		}
	}
}

func TestFieldEmptyFamilyName(t *testing.T) { // facebook/rocksdb#14732
	x := newRecoveryTest(t, nil)
	const empty = "Column family name cannot be the empty string"
	refused := func(err error, text string) {
		t.Helper()
		if rocksdb.CodeOf(err) != rocksdb.CodeInvalidArgument || !strings.Contains(err.Error(), text) {
			t.Error(err)
		}
	}
	c, err := x.db.CreateColumnFamily(x.o.ColumnFamilyOptions, "")
	if refused(err, empty); c != nil {
		t.Error("a handle")
	}
	cs, err := x.db.CreateColumnFamilies(x.o.ColumnFamilyOptions, []string{"a", "", "b"})
	if refused(err, empty); len(cs) != 1 {
		t.Error(cs)
	}
	cs, err = x.db.CreateColumnFamiliesByDescriptors(describe(x.o, "", "c"))
	if refused(err, empty); len(cs) != 0 {
		t.Error(cs)
	}
	_, err = x.db.CreateColumnFamily(x.o.ColumnFamilyOptions, "default")
	refused(err, "Column family already exists")
	x.close()
	if names, err := rocksdb.ListColumnFamilies(x.o.DBOptions, filepath.Join(x.root, "db")); err != nil || !slices.Equal(names, []string{"default", "a"}) {
		t.Error(names, err)
	}
	refused(x.open("db", x.o, "a", ""), empty)
}

// failingReads fails reads of logs that cover an offset.
type failingReads struct {
	contract.FileSystemWrapper
	at uint64
}

type failingSequential struct {
	contract.FSSequentialFile
	pos, at uint64
}

func (f *failingSequential) Read(n int, opts *contract.IOOptions, scratch []byte) ([]byte, error) {
	if f.pos <= f.at && f.at < f.pos+uint64(n) {
		return nil, contract.IOError("injected")
	}
	b, err := f.FSSequentialFile.Read(n, opts, scratch)
	f.pos += uint64(len(b))
	return b, err
}

func (f *failingReads) NewSequentialFile(path string, o *contract.FileOptions) (contract.FSSequentialFile, error) {
	s, err := f.FileSystemWrapper.NewSequentialFile(path, o)
	if err == nil && strings.HasSuffix(path, ".log") {
		s = &failingSequential{FSSequentialFile: s, at: f.at}
	}
	return s, err
}

func TestFieldReadErrorIsNoEnd(t *testing.T) { // facebook/rocksdb#6288
	x := newRecoveryTest(t, nil)
	value := strings.Repeat("v", 1000)
	for i := range 200 {
		x.put(fmt.Sprintf("k%03d", i), value)
	}
	left := x.copy("db")
	x.close()
	for _, at := range []uint64{0, 70000} {
		fs := &failingReads{contract.FileSystemWrapper{FileSystem: env.DefaultFileSystem()}, at}
		for _, m := range recoveryModes[:3] {
			dir := x.copy(left)
			o := inMode(x.o, m)
			o.Env = env.NewCompositeEnvWrapper(env.Default(), fs, nil)
			if err := x.open(dir, o); rocksdb.CodeOf(err) != rocksdb.CodeIOError {
				t.Errorf("mode %d, offset %d: %v", m, at, err)
			}
			x.must(x.open(dir, inMode(x.o, m)))
			if n := x.count(); n != 200 {
				t.Errorf("mode %d, offset %d: %d keys", m, at, n)
			}
		}
	}
}

func TestFieldPointInTime(t *testing.T) { // facebook/rocksdb#7701
	x := newRecoveryTest(t, func(o *rocksdb.Options) { o.AvoidFlushDuringRecovery = true })
	x.put("a1", "1", "a2", "2")
	first := x.copy("db")
	x.must(x.open(first, x.o))
	x.put("a3", "3")
	both := x.copy(first)
	x.close()
	logs, _ := filepath.Glob(filepath.Join(x.root, both, "*.log"))
	if len(logs) != 2 {
		t.Fatal(logs)
	}
	scan := func() string { return x.scan("default") }
	cut := x.copy(both)
	x.cut(filepath.Join(x.root, cut, filepath.Base(logs[0])), 3)
	const hole = "a1=1 a3=3"
	x.eachMode(cut, map[rocksdb.WALRecoveryMode]string{rocksdb.TolerateCorruptedTailRecords: hole, rocksdb.SkipAnyCorruptedRecords: hole,
		rocksdb.AbsoluteConsistency: "~truncated record body", rocksdb.PointInTimeRecovery: "a1=1"}, scan)
	whole := x.copy(both)
	x.cut(filepath.Join(x.root, whole, filepath.Base(logs[0])), 25) // exactly a2
	x.eachMode(whole, allModes(hole), scan)
	// A log that ends at the damage is gone on from.
	again := x.copy(both)
	x.must(os.Remove(filepath.Join(x.root, again, filepath.Base(logs[1]))))
	x.cut(filepath.Join(x.root, again, filepath.Base(logs[0])), 3)
	x.must(x.open(again, x.o))
	x.put("b1", "1", "b2", "2")
	more := x.copy(again)
	x.close()
	x.eachMode(more, allModes("a1=1 b1=1 b2=2", "~Corruption: "), scan)
}

func TestFieldReadOnlyWritesNothing(t *testing.T) { // facebook/rocksdb#8164
	x := newRecoveryTest(t, func(o *rocksdb.Options) { o.WriteDBIDToManifest, o.AvoidFlushDuringShutdown = true, true })
	x.put("a", "1")
	x.flush()
	x.put("b", "2")
	x.close()
	for _, remove := range []bool{false, true} {
		dir := filepath.Join(x.root, x.copy("db"))
		if remove {
			x.must(os.Remove(filepath.Join(dir, "IDENTITY")))
		}
		before := snapshotOf(t, dir)
		db, err := rocksdb.OpenForReadOnly(dir, x.o)
		x.must(err)
		if s := scanLines(t, db.ColumnFamily, false); s != "0x61 ==> 0x31\n0x62 ==> 0x32\n" || len(db.GetDbIdentity()) != 36 {
			t.Errorf("%q, identity %q", s, db.GetDbIdentity())
		}
		x.must(db.Close())
		after := snapshotOf(t, dir)
		if len(before) != len(after) {
			t.Errorf("%d files, then %d", len(before), len(after))
		}
		for name, data := range before {
			if after[name] != data {
				t.Errorf("%s changed", name)
			}
		}
	}
}

func TestFieldManualWALFlush(t *testing.T) { // facebook/rocksdb#8746
	x := newRecoveryTest(t, func(o *rocksdb.Options) { o.ManualWALFlush = true })
	done, stop := make(chan error), make(chan struct{})
	go func() {
		for {
			select {
			case <-stop:
				done <- nil
				return
			default:
				if err := x.db.FlushWAL(true); err != nil {
					done <- err
					return
				}
			}
		}
	}()
	wo := rocksdb.DefaultWriteOptions()
	wo.Sync = true
	value := make([]byte, 200)
	var copies []string
	var counts []int
	for i := range 1200 {
		x.must(x.db.Put(&wo, fmt.Appendf(nil, "k%05d", i), value))
		if i%400 == 399 {
			copies, counts = append(copies, x.copy("db")), append(counts, i+1)
		}
	}
	close(stop)
	x.must(<-done)
	x.must(x.db.Put(nil, []byte("u"), []byte("1")))
	without := x.copy("db")
	x.must(x.db.FlushWAL(false))
	with := x.copy("db")
	for i, c := range append(copies, without, with) {
		want := 1200 + i - len(copies)
		if i < len(copies) {
			want = counts[i]
		}
		x.must(x.open(c, x.o))
		if n := x.count(); n != want {
			t.Errorf("copy %d: %d keys, not %d", i, n, want)
		}
	}
}
