// Port of utilities/options/options_util_test.cc.

package optionsutil_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/env"
	"github.com/rocksdb-go/rocksdb/env/mockenv"
	"github.com/rocksdb-go/rocksdb/options"
	"github.com/rocksdb-go/rocksdb/util"
)

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func fails(t *testing.T, err error) {
	t.Helper()
	if err == nil {
		t.Fatal("no error")
	}
}

func strict(e rocksdb.Env) *rocksdb.ConfigOptions {
	c := rocksdb.DefaultConfigOptions()
	c.IgnoreUnknownOptions = false
	c.InputStringsEscaped = true
	c.Env = e
	return &c
}

func randomDBOptions(r *util.Random) rocksdb.DBOptions {
	o := rocksdb.DefaultDBOptions()
	o.CreateIfMissing = r.OneIn(2)
	o.ParanoidChecks = r.OneIn(2)
	o.UseFsync = r.OneIn(2)
	o.MaxOpenFiles = int(r.Uniform(1000)) + 1
	o.MaxTotalWALSize = uint64(r.Uniform(100000)) + 1
	o.WALTTLSeconds = uint64(r.Uniform(100000)) + 1
	o.DBLogDir = fmt.Sprintf("path/to/db_log_dir%d", r.Uniform(1000000))
	return o
}

func randomCFOptions(r *util.Random) rocksdb.ColumnFamilyOptions {
	o := rocksdb.DefaultColumnFamilyOptions()
	o.TableFactory = rocksdb.NewBlockBasedTableFactory(rocksdb.DefaultBlockBasedTableOptions())
	o.CompactionStyle = rocksdb.CompactionStyle(r.Uniform(4))
	o.WriteBufferSize = uint64(r.Uniform(1000000)) + 1
	o.MaxWriteBufferNumber = int(r.Uniform(100)) + 1
	o.Level0FileNumCompactionTrigger = int(r.Uniform(100)) + 1
	o.TargetFileSizeBase = uint64(r.Uniform(1000000)) + 1
	o.Compression = rocksdb.NoCompression
	o.PrefixExtractor = randomSliceTransform(r)
	o.MergeOperator = randomMergeOperator(r)
	return o
}

func randomSliceTransform(r *util.Random) rocksdb.SliceTransform {
	n := int(r.Uniform(20)) + 1
	if r.OneIn(2) {
		return rocksdb.NewFixedPrefixTransform(n)
	}
	return rocksdb.NewCappedPrefixTransform(n)
}

func randomMergeOperator(r *util.Random) rocksdb.MergeOperator {
	if r.OneIn(2) {
		return rocksdb.NewUInt64AddOperator()
	}
	return rocksdb.NewStringAppendOperator(string(rune('a' + r.Uniform(26))))
}

func familyName(i int, r *util.Random) string {
	if i == 0 {
		return rocksdb.DefaultColumnFamilyName
	}
	return "cf" + strconv.Itoa(int(r.Uniform(1000000)))
}

func TestOptionsUtilTest_SaveAndLoad(t *testing.T) {
	rocksdb.RegisterBuiltins()
	const cfCount = 5
	r := util.NewRandom(0xFB)
	e := mockenv.NewMemEnv(env.Default())
	dbOpt := randomDBOptions(r)
	var names []string
	var cfOpts []rocksdb.ColumnFamilyOptions
	for i := range cfCount {
		names = append(names, familyName(i, r))
		cfOpts = append(cfOpts, randomCFOptions(r))
	}
	const fileName = "/OPTIONS-123456"
	cfg := options.DefaultPersistConfig(&dbOpt)
	ok(t, options.PersistRocksDBOptions(&cfg, &dbOpt, names, cfOpts, fileName, e.GetFileSystem()))

	loaded, descs, err := rocksdb.LoadOptionsFromFile(strict(e), fileName, nil)
	ok(t, err)
	exact := rocksdb.DefaultConfigOptions()
	exact.SanityLevel = rocksdb.SanityLevelExactMatch
	ok(t, options.VerifyDBOptions(&exact, &dbOpt, &loaded, nil))
	dbOpt = randomDBOptions(r)
	fails(t, options.VerifyDBOptions(&exact, &dbOpt, &loaded, nil))
	if len(descs) != cfCount {
		t.Fatalf("%d families", len(descs))
	}
	for i := range cfCount {
		if descs[i].Name != names[i] {
			t.Fatalf("family %q, not %q", descs[i].Name, names[i])
		}
		ok(t, options.VerifyCFOptions(&exact, &cfOpts[i], &descs[i].Options, nil))
		ok(t, options.VerifyTableFactory(&exact, cfOpts[i].TableFactory, descs[i].Options.TableFactory))
		cfOpts[i] = randomCFOptions(r)
		fails(t, options.VerifyCFOptions(&exact, &cfOpts[i], &descs[i].Options, nil))
	}
}

func TestOptionsUtilTest_SaveAndLoadWithCacheCheck(t *testing.T) {
	rocksdb.RegisterBuiltins()
	e := mockenv.NewMemEnv(env.Default())
	dbOpt := rocksdb.DefaultDBOptions()
	dbOpt.CreateIfMissing = true
	cache := rocksdb.NewLRUCache(1024)
	bbto := rocksdb.DefaultBlockBasedTableOptions()
	bbto.BlockSize = 32 * 1024
	family := func() rocksdb.ColumnFamilyOptions {
		o := rocksdb.DefaultColumnFamilyOptions()
		o.TableFactory = rocksdb.NewBlockBasedTableFactory(bbto)
		return o
	}
	cfOpts := []rocksdb.ColumnFamilyOptions{family(), family()}
	names := []string{rocksdb.DefaultColumnFamilyName, "cf_sample"}
	const fileName = "/OPTIONS-LOAD_CACHE_123456"
	cfg := options.DefaultPersistConfig(&dbOpt)
	ok(t, options.PersistRocksDBOptions(&cfg, &dbOpt, names, cfOpts, fileName, e.GetFileSystem()))
	_, descs, err := rocksdb.LoadOptionsFromFile(strict(e), fileName, cache)
	ok(t, err)
	if len(descs) != len(names) {
		t.Fatalf("%d families", len(descs))
	}
	for _, d := range descs {
		loaded := d.Options.TableFactory.(rocksdb.Configurable).OptionsPtr(rocksdb.BlockBasedTableOptionsName).(*rocksdb.BlockBasedTableOptions)
		if loaded.BlockCache != cache {
			t.Errorf("family %s has a cache of its own", d.Name)
		}
		if loaded.BlockSize != 32*1024 {
			t.Errorf("family %s has block size %d", d.Name, loaded.BlockSize)
		}
	}
}

type dummyTableFactory struct{}

func (dummyTableFactory) Name() string                  { return "DummyTableFactory" }
func (dummyTableFactory) OptionsPtr(string) any         { return nil }
func (dummyTableFactory) GetPrintableOptions() string   { return "" }
func (dummyTableFactory) IsDeleteRangeSupported() bool  { return false }
func (d dummyTableFactory) Clone() rocksdb.TableFactory { return d }

type dummyMergeOperator struct{ rocksdb.MergeOperatorBase }

func (dummyMergeOperator) Name() string { return "DummyMergeOperator" }
func (dummyMergeOperator) FullMergeV2(*rocksdb.MergeOperationInput, *rocksdb.MergeOperationOutput) bool {
	return false
}

type dummySliceTransform struct{}

func (dummySliceTransform) Name() string                       { return "DummySliceTransform" }
func (dummySliceTransform) AsString() string                   { return "DummySliceTransform" }
func (dummySliceTransform) Transform(key []byte) []byte        { return key }
func (dummySliceTransform) InDomain([]byte) bool               { return false }
func (dummySliceTransform) FullLengthEnabled() (int, bool)     { return 0, false }
func (dummySliceTransform) SameResultWhenAppended([]byte) bool { return false }

type suffixReverse struct{ rocksdb.Comparator }

func (suffixReverse) Name() string { return "SimpleSuffixReverseComparator" }

func closeAll(t *testing.T, db *rocksdb.DB, families []*rocksdb.ColumnFamily) {
	t.Helper()
	for _, cf := range families {
		ok(t, cf.Close())
	}
	ok(t, db.Close())
}

func TestOptionsUtilTest_SanityCheck(t *testing.T) {
	r := util.NewRandom(0xFB)
	dir := filepath.Join(t.TempDir(), "db")
	dbOpt := rocksdb.DefaultDBOptions()
	var descs []rocksdb.ColumnFamilyDescriptor
	for i := range 5 {
		o := rocksdb.DefaultColumnFamilyOptions()
		o.TableFactory = rocksdb.NewBlockBasedTableFactory(rocksdb.DefaultBlockBasedTableOptions())
		if i != 0 {
			o.PrefixExtractor = randomSliceTransform(r)
		}
		o.MergeOperator = randomMergeOperator(r)
		descs = append(descs, rocksdb.ColumnFamilyDescriptor{Name: familyName(i, r), Options: o})
	}
	dbOpt.CreateMissingColumnFamilies = true
	dbOpt.CreateIfMissing = true
	db, families, err := rocksdb.OpenColumnFamilies(dir, dbOpt, descs)
	ok(t, err)
	closeAll(t, db, families)

	cfg := strict(nil)
	cfg.SanityLevel = rocksdb.SanityLevelLooselyCompatible
	check := func() error { return rocksdb.CheckOptionsCompatibility(cfg, dir, &dbOpt, descs) }
	ok(t, check())

	merge := descs[0].Options.MergeOperator
	descs[0].Options.MergeOperator = nil
	fails(t, check())
	descs[0].Options.MergeOperator = dummyMergeOperator{}
	fails(t, check())
	descs[0].Options.MergeOperator = merge
	ok(t, check())

	// A prefix extractor may go, change, and appear.
	prefix := descs[1].Options.PrefixExtractor
	descs[1].Options.PrefixExtractor = nil
	ok(t, check())
	descs[1].Options.PrefixExtractor = dummySliceTransform{}
	ok(t, check())
	descs[1].Options.PrefixExtractor = prefix
	ok(t, check())
	descs[0].Options.PrefixExtractor = dummySliceTransform{}
	ok(t, check())
	descs[0].Options.PrefixExtractor = nil
	ok(t, check())

	comparator := descs[2].Options.Comparator
	descs[2].Options.Comparator = suffixReverse{rocksdb.BytewiseComparator()}
	fails(t, check())
	descs[2].Options.Comparator = comparator
	ok(t, check())

	table := descs[3].Options.TableFactory
	descs[3].Options.TableFactory = dummyTableFactory{}
	fails(t, check())
	descs[3].Options.TableFactory = table
	ok(t, check())

	descs[2].Options.PersistUserDefinedTimestamps = false
	fails(t, check())
	descs[2].Options.PersistUserDefinedTimestamps = true
	ok(t, check())
}

func TestOptionsUtilTest_LatestOptionsNotFound(t *testing.T) {
	e := mockenv.NewMemEnv(env.Default())
	const dir = "/options_util_test"
	notFound := func() {
		t.Helper()
		_, err := rocksdb.GetLatestOptionsFileName(dir, e)
		if !rocksdb.IsNotFound(err) || !rocksdb.IsPathNotFound(err) {
			t.Fatal(err)
		}
		_, _, err = rocksdb.LoadLatestOptions(strict(e), dir, nil)
		if !rocksdb.IsNotFound(err) || !rocksdb.IsPathNotFound(err) {
			t.Fatal(err)
		}
	}
	io := &rocksdb.IOOptions{}
	fs := e.GetFileSystem()
	_, err := fs.GetChildren(dir, io)
	fails(t, err)
	notFound()
	ok(t, fs.CreateDir(dir, io))
	notFound()
	writeFile(t, e, dir+"/temp.txt", "")
	notFound()
}

func writeFile(t *testing.T, e rocksdb.Env, name, text string) {
	t.Helper()
	f, err := e.GetFileSystem().NewWritableFile(name, &rocksdb.FileOptions{})
	ok(t, err)
	ok(t, f.Append([]byte(text), &rocksdb.IOOptions{}))
	ok(t, f.Close(&rocksdb.IOOptions{}))
}

func TestOptionsUtilTest_LoadLatestOptions(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "db")
	family := func(name string) rocksdb.ColumnFamilyDescriptor {
		o := rocksdb.DefaultColumnFamilyOptions()
		o.TableFactory = rocksdb.NewBlockBasedTableFactory(rocksdb.DefaultBlockBasedTableOptions())
		return rocksdb.ColumnFamilyDescriptor{Name: name, Options: o}
	}
	dbOpt := rocksdb.DefaultDBOptions()
	dbOpt.CreateMissingColumnFamilies = true
	dbOpt.CreateIfMissing = true
	db, families, err := rocksdb.OpenColumnFamilies(dir, dbOpt, []rocksdb.ColumnFamilyDescriptor{family(rocksdb.DefaultColumnFamilyName), family("Other")})
	ok(t, err)
	cfg := rocksdb.DefaultConfigOptions()
	check := func() {
		t.Helper()
		loaded, descs, err := rocksdb.LoadLatestOptions(nil, dir, nil)
		ok(t, err)
		if len(descs) != 2 {
			t.Fatalf("%d families", len(descs))
		}
		now := db.GetOptions().DBOptions
		ok(t, options.VerifyDBOptions(&cfg, &now, &loaded, nil))
		for i, cf := range families {
			d, err := cf.GetDescriptor()
			ok(t, err)
			ok(t, options.VerifyCFOptions(&cfg, &d.Options, &descs[i].Options, nil))
		}
	}
	latest := func() string {
		t.Helper()
		name, err := rocksdb.GetLatestOptionsFileName(dir, nil)
		ok(t, err)
		return name
	}
	first := latest()
	check()
	ok(t, db.SetDBOptions(map[string]string{"delayed_write_rate": "1234", "bytes_per_sync": "32768"}))
	second := latest()
	if second == first {
		t.Error("SetDBOptions wrote no file")
	}
	check()
	ok(t, families[1].SetOptions(map[string]string{"write_buffer_size": "32768"}))
	if latest() == second {
		t.Error("SetOptions wrote no file")
	}
	check()
	closeAll(t, db, families)
}

func TestOptionsUtilTest_BadLatestOptions(t *testing.T) {
	e := mockenv.NewMemEnv(env.Default())
	const dir = "/options_util_test"
	cfg := strict(e)
	cfg.Delimiter = "\n"
	ignoring := *cfg
	ignoring.IgnoreUnknownOptions = true
	ok(t, e.GetFileSystem().CreateDir(dir, &rocksdb.IOOptions{}))
	_, err := rocksdb.GetLatestOptionsFileName(dir, e)
	fails(t, err)
	_, _, err = rocksdb.LoadLatestOptions(cfg, dir, nil)
	fails(t, err)

	major, minor := rocksdb.Major, rocksdb.Minor
	for i, c := range []struct {
		major, minor     int
		db, family, bbto string
		future           bool
	}{
		{major: major - 1, minor: minor, db: "unknown_db_opt=true"},
		{major: major, minor: minor - 1, family: "unknown_cf_opt=true"},
		{major: major, minor: minor - 1, bbto: "unknown_bbt_opt=true"},
		{major: major, minor: minor, db: "unknown_db_opt=true"},
		{major: major, minor: minor, family: "unknown_cf_opt=true"},
		{major: major, minor: minor, db: "create_if_missing=hello"},
		{major: major, minor: minor + 1, db: "create_if_missing=hello", future: true},
		{major: major, minor: minor + 1, db: "unknown_db_opt=true", future: true},
		{major: major + 1, minor: minor, family: "unknown_cf_opt=true", future: true},
	} {
		name := fmt.Sprintf("OPTIONS-%04d", i+1)
		writeFile(t, e, dir+"/"+name, fmt.Sprintf("\n[Version]\n  rocksdb_version=%d.%d.0\n  options_file_version=1\n"+
			"[ DBOptions ]\n%s\n[CFOptions   \"default\"]  # column family must be specified\n%s\n[TableOptions/BlockBasedTable   \"default\"]\n%s\n",
			c.major, c.minor, c.db, c.family, c.bbto))
		latest, err := rocksdb.GetLatestOptionsFileName(dir, e)
		ok(t, err)
		if latest != name {
			t.Fatalf("newest is %s, not %s", latest, name)
		}
		_, _, err = rocksdb.LoadLatestOptions(cfg, dir, nil)
		fails(t, err)
		_, _, ignored := rocksdb.LoadLatestOptions(&ignoring, dir, nil)
		if c.future {
			ok(t, ignored)
			continue
		}
		// Files of no newer release have no unknown options.
		if !errors.Is(err, rocksdb.ErrInvalidArgument) || !errors.Is(ignored, rocksdb.ErrInvalidArgument) {
			t.Errorf("%s: %v, %v", name, err, ignored)
		}
	}
}

func TestOptionsUtilTest_RenameDatabaseDirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "db")
	o := rocksdb.DefaultOptions()
	o.CreateIfMissing = true
	db, err := rocksdb.Open(dir, o)
	ok(t, err)
	ok(t, db.Put(nil, []byte("foo"), []byte("value0")))
	ok(t, db.Close())
	renamed := dir + "_2"
	ok(t, env.Default().GetFileSystem().RenameFile(dir, renamed, &rocksdb.IOOptions{}))
	dbOpt, descs, err := rocksdb.LoadLatestOptions(strict(nil), renamed, nil)
	ok(t, err)
	if len(descs) != 1 {
		t.Fatalf("%d families", len(descs))
	}
	dbOpt.CreateIfMissing = false
	db, families, err := rocksdb.OpenColumnFamilies(renamed, dbOpt, descs)
	ok(t, err)
	v, err := db.Get(nil, []byte("foo"))
	ok(t, err)
	if string(v.Data()) != "value0" {
		t.Errorf("%q", v.Data())
	}
	v.Release()
	closeAll(t, db, families)
}

// openAndLoad opens and closes a database and gives the wal_dir that its newest
// OPTIONS file has.
func openAndLoad(t *testing.T, dir string, o rocksdb.Options) string {
	t.Helper()
	db, err := rocksdb.Open(dir, o)
	ok(t, err)
	ok(t, db.Close())
	loaded, _, err := rocksdb.LoadLatestOptions(strict(nil), dir, nil)
	ok(t, err)
	return loaded.WALDir
}

func TestOptionsUtilTest_WalDirSettings(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "db")
	o := rocksdb.DefaultOptions()
	o.CreateIfMissing = true
	same := rocksdb.DBPath{Path: dir, TargetSize: 1 << 62}
	expect := func(what, want string) {
		t.Helper()
		if got := openAndLoad(t, dir, o); got != want {
			t.Errorf("%s: wal_dir is %q, not %q", what, got, want)
		}
	}
	expect("none", "")
	o.WALDir = dir
	expect("the database's", "")
	o.WALDir = ""
	o.DBPaths = []rocksdb.DBPath{same}
	expect("none, and the database's path as db_path", "")
	o.WALDir = dir + "/"
	o.DBPaths = append(o.DBPaths, same)
	expect("the database's with a slash", "")
	ok(t, rocksdb.DestroyDB(dir, o))

	o.WALDir = ""
	o.DBPaths = []rocksdb.DBPath{{Path: dir + "_0", TargetSize: 1 << 62}}
	expect("none, and another db_path", dir)
	ok(t, rocksdb.DestroyDB(dir, o))

	o.WALDir = dir + "/wal"
	o.DBPaths = nil
	expect("another", dir+"/wal")
	ok(t, rocksdb.DestroyDB(dir, o))
}

func TestOptionsUtilTest_WalDirInOptins(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "db")
	o := rocksdb.DefaultOptions()
	o.CreateIfMissing = true
	openAndLoad(t, dir, o)
	o.WALDir = dir
	name, err := rocksdb.GetLatestOptionsFileName(dir, nil)
	ok(t, err)
	cfg := options.DefaultPersistConfig(&o.DBOptions)
	ok(t, options.PersistRocksDBOptions(&cfg, &o.DBOptions, []string{"default"}, []rocksdb.ColumnFamilyOptions{o.ColumnFamilyOptions},
		dir+"/"+name, env.Default().GetFileSystem()))
	loaded, _, err := rocksdb.LoadLatestOptions(strict(nil), dir, nil)
	ok(t, err)
	if loaded.WALDir != dir {
		t.Errorf("wal_dir is %q", loaded.WALDir)
	}
	o.WALDir = ""
	if got := openAndLoad(t, dir, o); got != "" {
		t.Errorf("wal_dir is %q", got)
	}
}
