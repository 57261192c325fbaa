// Port of db/db_etc2_test.cc (temperatures).

package db_test

import (
	"fmt"
	"maps"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/db"
	"github.com/rocksdb-go/rocksdb/file/filename"
	contract "github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

var knownTemperatures = []rocksdb.Temperature{rocksdb.TemperatureHot, rocksdb.TemperatureWarm, rocksdb.TemperatureCool,
	rocksdb.TemperatureCold, rocksdb.TemperatureIce}

func newTemperatureFS(x *dbTest) *temperatureFS {
	return &temperatureFS{FileSystemWrapper: rocksdb.FileSystemWrapper{FileSystem: x.env.GetFileSystem()}, temps: map[string]rocksdb.Temperature{}}
}

// fileKindsFS checks the temperatures that files other than tables are made with,
// and counts the files made.
type fileKindsFS struct {
	*temperatureFS
	t             *testing.T
	optimizeWAL   rocksdb.Temperature
	optimizeOther rocksdb.Temperature // of the MANIFEST
	wal, manifest rocksdb.Temperature // expected
	metadata      rocksdb.Temperature
	muKinds       sync.Mutex
	made          map[rocksdb.FileType]int
}

func (f *fileKindsFS) count(name string, delta int) rocksdb.FileType {
	p, ok := filename.ParseFileName(filepath.Base(name), "LOG")
	if !ok {
		f.t.Errorf("a file of no kind: %s", name)
	}
	f.muKinds.Lock()
	defer f.muKinds.Unlock()
	f.made[p.Type] += delta
	return p.Type
}

func (f *fileKindsFS) NewWritableFile(name string, o *rocksdb.FileOptions) (rocksdb.FSWritableFile, error) {
	w, err := f.temperatureFS.NewWritableFile(name, o)
	if err != nil {
		return nil, err
	}
	kind := f.count(name, 1)
	want := f.metadata
	switch kind {
	case rocksdb.TableFile:
		return w, nil
	case rocksdb.WalFile:
		want = f.wal
	case rocksdb.DescriptorFile:
		want = f.manifest
	}
	if o.Temperature != want {
		f.t.Errorf("%s was made with the temperature %v, not %v", name, o.Temperature, want)
	}
	return w, nil
}

func (f *fileKindsFS) RenameFile(from, to string, o *rocksdb.IOOptions) error {
	err := f.temperatureFS.RenameFile(from, to, o)
	if err == nil {
		f.count(from, -1)
		f.count(to, 1)
	}
	return err
}

func (f *fileKindsFS) OptimizeForLogWrite(o *rocksdb.FileOptions, bytesPerSync, buffer uint64) *rocksdb.FileOptions {
	return withTemperature(f.temperatureFS.OptimizeForLogWrite(o, bytesPerSync, buffer), f.optimizeWAL)
}

func (f *fileKindsFS) OptimizeForManifestWrite(o *rocksdb.FileOptions) *rocksdb.FileOptions {
	return withTemperature(f.temperatureFS.OptimizeForManifestWrite(o), f.optimizeOther)
}

func withTemperature(o *rocksdb.FileOptions, t rocksdb.Temperature) *rocksdb.FileOptions {
	c := *o
	if t != rocksdb.TemperatureUnknown {
		c.Temperature = t
	}
	return &c
}

// wantMade checks how many files of each kind there are more than at the last
// call; the ones that are gone do not count.
func (f *fileKindsFS) wantMade(want map[rocksdb.FileType]int) {
	f.t.Helper()
	f.muKinds.Lock()
	defer f.muKinds.Unlock()
	maps.DeleteFunc(f.made, func(_ rocksdb.FileType, n int) bool { return n <= 0 })
	if !maps.Equal(f.made, want) {
		f.t.Fatalf("files made: %v, not %v", f.made, want)
	}
	clear(f.made)
}

// wantTables checks how many tables there are of each temperature.
func (f *fileKindsFS) wantTables(want ...rocksdb.Temperature) {
	f.t.Helper()
	n := map[rocksdb.Temperature]int{}
	for _, t := range want {
		n[t]++
	}
	for _, t := range append(knownTemperatures, rocksdb.TemperatureUnknown) {
		same(f.t, fmt.Sprintf("tables of temperature %v", t), f.temperatureFS.count(t), n[t])
	}
}

func TestDBTest2_VariousFileTemperatures(t *testing.T) {
	for _, optimize := range []bool{false, true} {
		for _, set := range []bool{false, true} {
			t.Run(fmt.Sprintf("optimize=%t,options=%t", optimize, set), func(t *testing.T) { testVariousFileTemperatures(t, optimize, set) })
		}
	}
}

func testVariousFileTemperatures(t *testing.T, optimize, set bool) {
	x := newDBTest(t)
	rnd := util.NewRandom(17)
	known := func() rocksdb.Temperature { return knownTemperatures[rnd.Uniform(len(knownTemperatures))] }
	fs := &fileKindsFS{temperatureFS: newTemperatureFS(x), t: t, made: map[rocksdb.FileType]int{}}
	o := x.onFS(x.currentOptions(), fs)
	o.CompactionStyle = rocksdb.CompactionStyleUniversal
	if optimize {
		fs.optimizeOther, fs.optimizeWAL = known(), known()
		fs.manifest, fs.wal = fs.optimizeOther, fs.optimizeWAL
	}
	if set { // goes before what the file system says
		o.MetadataWriteTemperature, o.WALWriteTemperature = known(), known()
		o.LastLevelTemperature, o.DefaultWriteTemperature = known(), known()
		fs.manifest, fs.metadata, fs.wal = o.MetadataWriteTemperature, o.MetadataWriteTemperature, o.WALWriteTemperature
	}
	x.destroyAndReopen(o)
	defer x.close()
	fs.wantMade(map[rocksdb.FileType]int{rocksdb.WalFile: 1, rocksdb.DescriptorFile: 2, rocksdb.CurrentFile: 2,
		rocksdb.IdentityFile: 1, rocksdb.OptionsFile: 1})
	fs.wantTables()
	x.puts(0, "foo", "1", "bar", "1", "flush", "foo", "2", "bar", "2", "flush")
	fs.wantTables(o.DefaultWriteTemperature, o.DefaultWriteTemperature)
	x.compact(0, "", "")
	x.must(x.full().TestWaitForBackgroundWork())
	x.full().TestWaitForPurge()
	fs.wantTables(o.LastLevelTemperature)
	x.puts(0, "foo", "3", "bar", "3", "flush", "dog", "3") // the last one is in the log alone
	fs.wantTables(o.DefaultWriteTemperature, o.LastLevelTemperature)
	fs.wantMade(map[rocksdb.FileType]int{rocksdb.WalFile: 3, rocksdb.TableFile: 4})
	x.reopen(o)
	fs.wantMade(map[rocksdb.FileType]int{rocksdb.WalFile: 1, rocksdb.TableFile: 1, rocksdb.DescriptorFile: 1,
		rocksdb.CurrentFile: 1, rocksdb.OptionsFile: 1})
}

// wantSizesAt checks of which temperatures there are tables; of a family's that
// has none at all is nothing.
func (x *dbTest) wantSizesAt(of ...rocksdb.Temperature) {
	x.Helper()
	want := map[rocksdb.Temperature]bool{}
	for _, t := range of {
		want[t] = true
	}
	for _, t := range append(knownTemperatures, rocksdb.TemperatureUnknown) {
		size := x.property(0, fmt.Sprint(rocksdb.PropertyLiveSstFilesSizeAtTemperature, int(t)))
		if size != "0" != want[t] {
			x.Fatalf("%s bytes of temperature %v", size, t)
		}
	}
}

// temperatureListener notes the temperature that each table is read and written with.
type temperatureListener struct {
	rocksdb.EventListenerBase
	t     *testing.T
	mu    sync.Mutex
	temps map[uint64]rocksdb.Temperature
}

func (l *temperatureListener) note(i *rocksdb.FileOperationInfo) {
	p, ok := filename.ParseFileName(filepath.Base(i.Path), "")
	if !ok || p.Type != rocksdb.TableFile {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if before, ok := l.temps[p.Number]; ok && before != i.Temperature {
		l.t.Errorf("table %d has the temperatures %v and %v", p.Number, before, i.Temperature)
	}
	l.temps[p.Number] = i.Temperature
}

func (l *temperatureListener) OnFileReadFinish(i *rocksdb.FileOperationInfo)  { l.note(i) }
func (l *temperatureListener) OnFileWriteFinish(i *rocksdb.FileOperationInfo) { l.note(i) }
func (l *temperatureListener) OnFileFlushFinish(i *rocksdb.FileOperationInfo) { l.note(i) }
func (l *temperatureListener) OnFileSyncFinish(i *rocksdb.FileOperationInfo)  { l.note(i) }
func (l *temperatureListener) OnFileCloseFinish(i *rocksdb.FileOperationInfo) { l.note(i) }
func (*temperatureListener) ShouldBeNotifiedOnFileIO() bool                   { return true }

// wantTableTemperatures checks the only table of each level that is named.
func (x *dbTest) wantTableTemperatures(l *temperatureListener, want map[int]rocksdb.Temperature) {
	x.Helper()
	meta := x.full().GetColumnFamilyMetaData(x.cf(0).Impl(), nil)
	same(x, "files", int(meta.FileCount), len(want))
	for level, t := range want {
		f := meta.Levels[level].Files[0]
		same(x, fmt.Sprintf("temperature at level %d", level), f.Temperature, t)
		if l != nil {
			l.mu.Lock()
			same(x, "temperature told of", l.temps[f.FileNumber], t)
			l.mu.Unlock()
		}
	}
}

// wantReads checks that tables were read of the temperatures named, and no
// others.
func (x *dbTest) wantReads(of ...rocksdb.Temperature) {
	x.Helper()
	want := map[rocksdb.Temperature]bool{}
	for _, t := range of {
		want[t] = true
	}
	for t, tickers := range map[rocksdb.Temperature][2]contract.Ticker{
		rocksdb.TemperatureHot:  {contract.HotFileReadBytes, contract.HotFileReadCount},
		rocksdb.TemperatureWarm: {contract.WarmFileReadBytes, contract.WarmFileReadCount},
		rocksdb.TemperatureCold: {contract.ColdFileReadBytes, contract.ColdFileReadCount},
	} {
		for _, k := range tickers {
			if n := x.ticker(k); n > 0 != want[t] {
				x.Fatalf("%v is %d", k, n)
			}
		}
	}
}

// getIO reads a key and counts into io.
func (x *dbTest) getIO(key, want string, io *rocksdb.IOStatsContext) {
	x.Helper()
	ro := rocksdb.DefaultReadOptions()
	ro.IOStatsContext = io
	v, err := x.db.Get(&ro, []byte(key))
	x.must(err)
	same(x, key, string(v.Data()), want)
	v.Release()
}

func TestDBTest2_LastLevelTemperature(t *testing.T) {
	const levels = 7
	x := newDBTest(t)
	l := &temperatureListener{t: t, temps: map[uint64]rocksdb.Temperature{}}
	o := x.currentOptions()
	o.LastLevelTemperature, o.Level0FileNumCompactionTrigger, o.NumLevels = rocksdb.TemperatureWarm, 2, levels
	o.LevelCompactionDynamicLevelBytes, o.Statistics = true, rocksdb.NewStatistics()
	o.Listeners = append(o.Listeners, l)
	x.reopen(o)
	x.wantSizesAt()
	for range 2 {
		x.puts(0, "foo", "bar", "bar", "bar", "flush")
	}
	x.must(x.full().TestWaitForCompact())
	x.wantTableTemperatures(l, map[int]rocksdb.Temperature{levels - 1: rocksdb.TemperatureWarm})
	x.wantSizesAt(rocksdb.TemperatureWarm)
	x.wantReads(rocksdb.TemperatureWarm)
	var io rocksdb.IOStatsContext
	x.getIO("foo", "bar", &io)
	check := func() {
		t.Helper()
		s := &io.FileIOStatsByTemperature
		if s.HotFileReadCount != 0 || s.WarmFileReadCount != 1 || s.ColdFileReadCount != 0 ||
			s.HotFileBytesRead != 0 || s.WarmFileBytesRead == 0 || s.ColdFileBytesRead != 0 {
			t.Errorf("reads by temperature: %+v", s)
		}
		x.wantReads(rocksdb.TemperatureWarm)
	}
	check()
	x.puts(0, "foo", "bar", "bar", "bar", "flush") // not at the last level
	x.getIO("bar", "bar", &io)
	check()
	both := map[int]rocksdb.Temperature{0: rocksdb.TemperatureUnknown, levels - 1: rocksdb.TemperatureWarm}
	x.wantTableTemperatures(l, both)
	x.wantSizesAt(rocksdb.TemperatureUnknown, rocksdb.TemperatureWarm)
	for range 2 { // the MANIFEST has them
		x.reopen(o)
		x.wantTableTemperatures(l, both)
		x.wantSizesAt(rocksdb.TemperatureUnknown, rocksdb.TemperatureWarm)
		same(t, "bytes of no temperature", x.property(0, rocksdb.PropertyLiveSstFilesSizeAtTemperature+"22"), "0")
	}
}

func TestDBTest2_LastLevelTemperatureUniversal(t *testing.T) {
	const trigger, bottom = 3, 4
	x := newDBTest(t)
	o := x.currentOptions()
	o.CompactionStyle, o.Level0FileNumCompactionTrigger, o.NumLevels = rocksdb.CompactionStyleUniversal, trigger, bottom+1
	o.Statistics = rocksdb.NewStatistics()
	x.destroyAndReopen(o)
	x.wantSizesAt()
	add := func(n int) {
		t.Helper()
		for range n {
			x.puts(0, "foo", "bar", "bar", "bar", "flush")
		}
		x.must(x.full().TestWaitForCompact())
	}
	unknown, warm, cold := rocksdb.TemperatureUnknown, rocksdb.TemperatureWarm, rocksdb.TemperatureCold
	add(trigger)
	x.wantTableTemperatures(nil, map[int]rocksdb.Temperature{bottom: unknown})
	x.wantSizesAt(unknown)
	x.wantReads()
	var io rocksdb.IOStatsContext
	x.getIO("foo", "bar", &io)
	if s := io.FileIOStatsByTemperature; s.HotFileReadCount+s.WarmFileReadCount+s.ColdFileReadCount+
		s.HotFileBytesRead+s.WarmFileBytesRead+s.ColdFileBytesRead != 0 {
		t.Errorf("reads by temperature: %+v", s)
	}
	x.wantReads()
	add(1)
	x.wantTableTemperatures(nil, map[int]rocksdb.Temperature{0: unknown, bottom: unknown})
	x.wantSizesAt(unknown)

	// A new temperature is that of new tables.
	o.LastLevelTemperature = warm
	x.reopen(o)
	x.wantSizesAt(unknown)
	x.compact(0, "", "")
	x.wantTableTemperatures(nil, map[int]rocksdb.Temperature{bottom: warm})
	x.wantSizesAt(warm)
	x.wantReads(warm)
	add(1)
	x.wantTableTemperatures(nil, map[int]rocksdb.Temperature{0: unknown, bottom: warm})
	x.wantSizesAt(unknown, warm)
	same(t, "bytes of no temperature", x.property(0, rocksdb.PropertyLiveSstFilesSizeAtTemperature+"22"), "0")
	x.setOptions("last_level_temperature", "kCold")
	same(t, "option", x.db.GetOptions().LastLevelTemperature, cold)
	x.wantTableTemperatures(nil, map[int]rocksdb.Temperature{0: unknown, bottom: warm})
	x.compact(0, "", "")
	x.wantTableTemperatures(nil, map[int]rocksdb.Temperature{bottom: cold})
	x.wantSizesAt(cold)

	o.LastLevelTemperature = contract.TemperatureIce + 1
	if err := x.tryReopen(o); err == nil {
		t.Error("opened with a temperature that there is none of")
	}
}

// wantSameReads checks that two kinds of read are the same ones.
func (x *dbTest) wantSameReads(bytes, sameBytes, count, sameCount contract.Ticker) {
	x.Helper()
	same(x, bytes.String(), x.ticker(bytes), x.ticker(sameBytes))
	same(x, count.String(), x.ticker(count), x.ticker(sameCount))
}

func TestDBTest2_LastLevelStatistics(t *testing.T) {
	for _, writeTime := range []bool{false, true} {
		t.Run(fmt.Sprint("writeTime=", writeTime), func(t *testing.T) { testLastLevelStatistics(t, writeTime) })
	}
}

func testLastLevelStatistics(t *testing.T, writeTime bool) {
	x := newDBTest(t)
	o := blockTable(x.currentOptions(), func(b *contract.BlockBasedTableOptions) { b.NoBlockCache = true })
	o.LastLevelTemperature, o.Level0FileNumCompactionTrigger = rocksdb.TemperatureWarm, 2
	o.LevelCompactionDynamicLevelBytes, o.Statistics = true, rocksdb.NewStatistics()
	if writeTime {
		o.DefaultWriteTemperature = rocksdb.TemperatureHot
	} else {
		o.DefaultTemperature = rocksdb.TemperatureHot
	}
	x.destroyAndReopen(o)
	var io rocksdb.IOStatsContext
	read := func(keys ...string) {
		t.Helper()
		for _, k := range keys {
			x.getIO(k, "bar", &io)
		}
	}
	hot := func() {
		t.Helper()
		x.wantSameReads(contract.NonLastLevelReadBytes, contract.HotFileReadBytes, contract.NonLastLevelReadCount, contract.HotFileReadCount)
	}
	warm := func() {
		t.Helper()
		x.wantSameReads(contract.LastLevelReadBytes, contract.WarmFileReadBytes, contract.LastLevelReadCount, contract.WarmFileReadCount)
	}
	x.puts(0, "foo1", "bar", "bar", "bar", "flush")
	read("bar")
	if x.ticker(contract.NonLastLevelReadBytes) == 0 || x.ticker(contract.NonLastLevelReadCount) == 0 {
		t.Error("no reads above the last level")
	}
	hot()
	x.wantTicker(contract.LastLevelReadBytes, 0)
	x.wantTicker(contract.LastLevelReadCount, 0)
	x.puts(0, "foo2", "bar", "bar", "bar", "flush")
	x.must(x.full().TestWaitForCompact())
	read("bar")
	hot()
	warm()
	bytes, count := x.ticker(contract.NonLastLevelReadBytes), x.ticker(contract.NonLastLevelReadCount)
	x.puts(0, "foo3", "bar", "bar", "bar", "flush")
	all := []string{"foo1", "foo2", "foo3", "bar"}
	read(all...)
	if b, c := x.ticker(contract.NonLastLevelReadBytes), x.ticker(contract.NonLastLevelReadCount); b <= bytes || c <= count {
		t.Errorf("%d bytes in %d reads above the last level, %d in %d before", b, c, bytes, count)
	}
	hot()
	warm()
	differ := func() {
		t.Helper()
		if n := x.ticker(contract.LastLevelReadCount); n == x.ticker(contract.NonLastLevelReadCount) {
			t.Errorf("%d reads of either kind", n)
		}
	}
	differ()
	// What a table of unknown temperature is taken for changes with the options;
	// what it was written with does not.
	o.DefaultTemperature = rocksdb.TemperatureCold
	x.must(o.Statistics.Reset())
	x.reopen(o)
	read(all...)
	if writeTime {
		hot()
		x.wantReads(rocksdb.TemperatureHot, rocksdb.TemperatureWarm)
	} else {
		x.wantSameReads(contract.NonLastLevelReadBytes, contract.ColdFileReadBytes, contract.NonLastLevelReadCount, contract.ColdFileReadCount)
		x.wantReads(rocksdb.TemperatureCold, rocksdb.TemperatureWarm)
	}
	warm()
	differ()
	if s := io.FileIOStatsByTemperature; s.UnknownLastLevelBytesRead+s.UnknownLastLevelReadCount+
		s.UnknownNonLastLevelBytesRead+s.UnknownNonLastLevelReadCount != 0 {
		t.Errorf("reads by temperature: %+v", s)
	}
}

func TestDBTest2_UnknownLastLevelStatistics(t *testing.T) {
	x := newDBTest(t)
	o := blockTable(x.currentOptions(), func(b *contract.BlockBasedTableOptions) { b.NoBlockCache = true })
	o.Statistics = rocksdb.NewStatistics()
	x.destroyAndReopen(o)
	x.puts(0, "foo", "bar", "flush")
	want := func(last bool) {
		t.Helper()
		var io rocksdb.IOStatsContext
		x.getIO("foo", "bar", &io)
		s := io.FileIOStatsByTemperature
		if last != (s.UnknownLastLevelBytesRead > 0) || last != (s.UnknownLastLevelReadCount > 0) ||
			last == (s.UnknownNonLastLevelBytesRead > 0) || last == (s.UnknownNonLastLevelReadCount > 0) {
			t.Errorf("last level: %t, reads by temperature: %+v", last, s)
		}
	}
	want(false)
	x.compact(0, "", "")
	x.moveFilesToLevel(6, 0)
	x.reopen(o)
	want(true)
}

// copyingFS has no links, and notes what temperatures tables are opened with for
// copying.
type copyingFS struct {
	*temperatureFS
	mu        sync.Mutex
	requested map[uint64][]rocksdb.Temperature
}

func (*copyingFS) LinkFile(string, string, *rocksdb.IOOptions) error {
	return rocksdb.NotSupported("links")
}

func (f *copyingFS) NewSequentialFile(name string, o *rocksdb.FileOptions) (rocksdb.FSSequentialFile, error) {
	if p, ok := filename.ParseFileName(filepath.Base(name), ""); ok && p.Type == rocksdb.TableFile {
		f.mu.Lock()
		f.requested[p.Number] = append(f.requested[p.Number], o.Temperature)
		f.mu.Unlock()
	}
	return f.temperatureFS.NewSequentialFile(name, o)
}

func TestDBTest2_CheckpointFileTemperature(t *testing.T) {
	x := newDBTest(t)
	fs := &copyingFS{temperatureFS: newTemperatureFS(x), requested: map[uint64][]rocksdb.Temperature{}}
	o := x.onFS(x.currentOptions(), fs)
	o.LastLevelTemperature, o.LevelCompactionDynamicLevelBytes, o.Level0FileNumCompactionTrigger = rocksdb.TemperatureWarm, true, 2
	x.reopen(o)
	for range 2 {
		x.puts(0, "foo", "bar", "bar", "bar", "flush")
	}
	x.must(x.full().TestWaitForCompact())
	x.puts(0, "foo", "bar", "bar", "bar", "flush")
	x.wantSizesAt(rocksdb.TemperatureUnknown, rocksdb.TemperatureWarm)
	infos, err := x.db.GetLiveFilesStorageInfo(nil)
	x.must(err)
	want := map[uint64]rocksdb.Temperature{}
	for _, i := range infos {
		if strings.HasSuffix(i.RelativeFilename, ".sst") {
			want[i.FileNumber] = i.Temperature
		}
	}
	same(t, "tables", len(want), 2)
	clear(fs.requested)
	_, err = rocksdb.NewCheckpoint(x.db).CreateCheckpoint(filepath.Join(filepath.Dir(x.dir), "tempcp"), 0)
	x.must(err)
	for n, temp := range want {
		if got := fs.requested[n]; len(got) != 1 || got[0] != temp {
			t.Errorf("table %d, of temperature %v, was opened with %v", n, temp, got)
		}
	}
	same(t, "tables opened", len(fs.requested), len(want))
}

// retemper changes what the file system says of tables of a temperature.
func (f *temperatureFS) retemper(from, to rocksdb.Temperature) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for name, t := range f.temps {
		if strings.HasSuffix(name, ".sst") && t == from {
			f.temps[name] = to
		}
	}
}

// NewSequentialFile tells of the temperature too.
func (f *temperatureFS) NewSequentialFile(name string, o *rocksdb.FileOptions) (rocksdb.FSSequentialFile, error) {
	s, err := f.FileSystemWrapper.NewSequentialFile(name, o)
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return temperatureSequentialFile{s, f.temps[filepath.Clean(name)]}, nil
}

type temperatureSequentialFile struct {
	rocksdb.FSSequentialFile
	t rocksdb.Temperature
}

func (f temperatureSequentialFile) GetTemperature() rocksdb.Temperature { return f.t }

func TestDBTest2_FileTemperatureManifestFixup(t *testing.T) {
	unknown, hot, warm, cold := rocksdb.TemperatureUnknown, rocksdb.TemperatureHot, rocksdb.TemperatureWarm, rocksdb.TemperatureCold
	x := newDBTest(t)
	fs := newTemperatureFS(x)
	o := x.onFS(x.currentOptions(), fs)
	o.LastLevelTemperature, o.LevelCompactionDynamicLevelBytes, o.Level0FileNumCompactionTrigger = warm, true, 2
	names := []string{"default", "test1", "test2"}
	x.createAndReopenWithCF(names[1:], o)
	for cf := range names {
		x.puts(cf, "a", "val", "c", "val", "flush", "b", "val", "d", "val", "flush")
	}
	x.must(x.full().TestWaitForCompact())
	x.wantSizesAt(warm)
	for cf := range names {
		x.puts(cf, "e", "val", "flush")
	}
	x.wantSizesAt(unknown, warm)

	update := func(want ...rocksdb.Temperature) {
		t.Helper()
		x.close()
		x.must(db.UpdateManifestTemperatures(&o.DBOptions, x.dir, descriptors(names, []rocksdb.Options{o})))
		x.reopenWithColumnFamilies(names, o)
		x.wantSizesAt(want...)
	}
	fs.retemper(warm, cold)
	x.wantGet(0, "a", "val")
	x.wantSizesAt(unknown, warm) // not yet
	update(unknown, cold)
	fs.retemper(unknown, hot)
	update(hot, cold)
}
