// Port of options/options_test.cc: the OPTIONS file. Differs: plug-ins are those
// of testutil_test.go.

package options

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb/env"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

const optionsFile = "OPTIONS"

func fileIn(t *testing.T) (fs rocksdb.FileSystem, name string) {
	return env.DefaultFileSystem(), filepath.Join(t.TempDir(), optionsFile)
}

const versionSection = "# This is a testing option string.\n" +
	"# Currently we only support \"#\" styled comment.\n\n" +
	"[Version]\n  rocksdb_version=3.14.0\n  options_file_version=1\n"

const dbSection = "[DBOptions]\n  max_open_files=12345\n  max_background_flushes=301\n" +
	"  max_total_wal_size=1024  # keep_log_file_num=1000\n"

func TestOptionsParserTest_Comment(t *testing.T) {
	want := rocksdb.DefaultDBOptions()
	want.MaxOpenFiles, want.MaxBackgroundFlushes, want.MaxTotalWALSize = 12345, 301, 1024
	p := NewParser()
	noError(t, p.ParseText(testConfig(), versionSection+
		"[ DBOptions ]\n"+
		"  # note that we don't support space around \"=\"\n"+
		"  max_open_files=12345;\n"+
		"  max_background_flushes=301  # comment after a statement is fine\n"+
		"  # max_background_flushes=1000  # this line would be ignored\n"+
		"  # max_background_compactions=2000 # so does this one\n"+
		"  max_total_wal_size=1024  # keep_log_file_num=1000\n"+
		"[CFOptions   \"default\"]  # column family must be specified\n"+
		"                     # in the correct order\n"+
		"  # if a section is blank, we will use the default\n"))
	noError(t, VerifyDBOptions(plainConfig(), p.DBOptions(), &want, nil))
	check(t, p.NumColumnFamilies(), 1)
	cf := rocksdb.DefaultColumnFamilyOptions()
	noError(t, VerifyCFOptions(plainConfig(), p.GetCFOptions("default"), &cf, nil))
}

func TestOptionsParserTest_ExtraSpace(t *testing.T) {
	p := NewParser()
	noError(t, p.ParseText(testConfig(), "# This is a testing option string.\n\n"+
		"[      Version   ]\n"+
		"  rocksdb_version     = 3.14.0      \n"+
		"  options_file_version=1   # some comment\n"+
		"[DBOptions  ]  # some comment\n"+
		"max_open_files=12345   \n"+
		"    max_background_flushes   =    301   \n"+
		" max_total_wal_size     =   1024  # keep_log_file_num=1000\n"+
		"        [CFOptions      \"default\"     ]\n"+
		"  # if a section is blank, we will use the default\n"))
	check(t, p.DBOptions().MaxBackgroundFlushes, 301)
	check(t, p.RocksDBVersion(), [3]int{3, 14, 0})
}

func wantParseError(t *testing.T, text, message string) {
	t.Helper()
	err := NewParser().ParseText(testConfig(), text)
	if err == nil || !strings.Contains(err.Error(), message) {
		t.Errorf("got %v, want %q", err, message)
	}
}

func TestOptionsParserTest_MissingDBOptions(t *testing.T) {
	wantParseError(t, versionSection+"[CFOptions \"default\"]\n", "must have a single DBOptions section")
}

func TestOptionsParserTest_DoubleDBOptions(t *testing.T) {
	wantParseError(t, versionSection+dbSection+"[DBOptions]\n[CFOptions \"default\"]\n", "More than one DBOption section")
}

func TestOptionsParserTest_NoDefaultCFOptions(t *testing.T) {
	wantParseError(t, versionSection+dbSection+"[CFOptions \"something_else\"]\n", "Default column family must be the first")
}

func TestOptionsParserTest_DefaultCFOptionsMustBeTheFirst(t *testing.T) {
	wantParseError(t, versionSection+dbSection+"[CFOptions \"something_else\"]\n[CFOptions \"default\"]\n",
		"Default column family must be the first")
}

func TestOptionsParserTest_DuplicateCFOptions(t *testing.T) {
	wantParseError(t, versionSection+dbSection+
		"[CFOptions \"default\"]\n[CFOptions \"something_else\"]\n[CFOptions \"something_else\"]\n", "Two identical column families")
}

func TestOptionsParserTest_IgnoreUnknownOptions(t *testing.T) {
	for _, c := range []struct {
		ignored             bool
		major, minor, patch int
	}{
		{false, 0, 0, 0}, {true, 1, 0, -rocksdb.Patch}, {true, 0, 1, -rocksdb.Patch}, {true, 0, 0, 1},
		{false, 0, 0, -rocksdb.Patch}, {false, -1, 0, -rocksdb.Patch}, {false, 0, -1, -rocksdb.Patch}, {false, 0, -1, -1},
	} {
		version := fmt.Sprintf("%d.%d.%d", rocksdb.Major+c.major, rocksdb.Minor+c.minor, rocksdb.Patch+c.patch)
		t.Run(version, func(t *testing.T) {
			text := "[Version]\n  rocksdb_version=" + version + "\n  options_file_version=1\n" + dbSection +
				"  unknown_db_option1=321\n  unknown_db_option2=false\n" +
				"[CFOptions \"default\"]\n  unknown_cf_option1=hello\n" +
				"[CFOptions \"something_else\"]\n  unknown_cf_option2=world\n"
			cfg := testConfig()
			wantError(t, NewParser().ParseText(cfg, text))
			cfg.IgnoreUnknownOptions = true
			if err := NewParser().ParseText(cfg, text); (err == nil) != c.ignored {
				t.Errorf("ignored %v: %v", c.ignored, err)
			}
		})
	}
}

func TestOptionsParserTest_ParseVersion(t *testing.T) {
	text := "[Version]\n  rocksdb_version=3.13.1\n  options_file_version=%s\n[DBOptions]\n[CFOptions \"default\"]\n"
	for _, bad := range []string{
		"a.b.c", "3.2.2b", "3.-12", "3. 1", "1.2.3.4", "1.2.3", "0", "3..2", ".", ".1.2", "1.2.", "1.", "2.34.",
	} {
		if err := NewParser().ParseText(testConfig(), fmt.Sprintf(text, bad)); err == nil {
			t.Errorf("no error from %s", bad)
		}
	}
	for _, good := range []string{"1.232", "100", "3.12", "1", "12.3  ", "  1.25  "} {
		noError(t, NewParser().ParseText(testConfig(), fmt.Sprintf(text, good)))
	}
}

// countingFS counts the reads of sequential files.
type countingFS struct {
	rocksdb.FileSystem
	reads int
}

type countingFile struct {
	rocksdb.FSSequentialFile
	fs *countingFS
}

func (fs *countingFS) NewSequentialFile(name string, o *rocksdb.FileOptions) (rocksdb.FSSequentialFile, error) {
	f, err := fs.FileSystem.NewSequentialFile(name, o)
	if err != nil {
		return nil, err
	}
	return &countingFile{f, fs}, nil
}

func (f *countingFile) Read(n int, o *rocksdb.IOOptions, scratch []byte) ([]byte, error) {
	f.fs.reads++
	return f.FSSequentialFile.Read(n, o, scratch)
}

func TestOptionsParserTest_Readahead(t *testing.T) {
	base, name := fileIn(t)
	fs := &countingFS{FileSystem: base}
	db := rocksdb.DefaultDBOptions()
	cf := rocksdb.DefaultColumnFamilyOptions()
	cfg := testConfig()
	noError(t, PersistRocksDBOptions(cfg, &db, []string{"default", strings.Repeat("x", 1<<20)},
		[]rocksdb.ColumnFamilyOptions{cf, cf}, name, fs))
	size, err := fs.GetFileSize(name, nil)
	noError(t, err)
	read := func(readahead uint64) int {
		fs.reads = 0
		cfg.FileReadaheadSize = readahead
		noError(t, NewParser().Parse(cfg, name, fs))
		return fs.reads
	}
	for _, ra := range []uint64{128 << 10, 1 << 20} {
		check(t, read(ra), int((size-1)/ra+1))
	}
	if n := uint64(read(1)); n < size/(8<<10) || n >= size/(8<<10)*2 {
		t.Errorf("%d reads with the least buffer", n)
	}
	if n := uint64(read(0)); n < (size-1)/(512<<10)+1 {
		t.Errorf("%d reads with the default buffer", n)
	}
}

// verifyPointerOptions checks that a changed plug-in is noticed.
func verifyPointerOptions(t *testing.T, base *rocksdb.ColumnFamilyOptions, file *rocksdb.ColumnFamilyOptions, opts map[string]string) {
	t.Helper()
	cfg := plainConfig()
	ok := func() { t.Helper(); noError(t, VerifyCFOptions(cfg, base, file, opts)) }
	differs := func() { t.Helper(); wantError(t, VerifyCFOptions(cfg, base, file, opts)) }
	ok()
	merge := base.MergeOperator.(*changling)
	old := merge.name
	merge.name = "some-other-name"
	differs()
	merge.name = old
	ok()
	filters := base.CompactionFilterFactory.(*changlingFactory)
	old, filters.name = filters.name, "some-other-name"
	differs()
	filters.name = old
	ok()
	filter := base.CompactionFilter
	base.CompactionFilter = nil
	differs()
	base.CompactionFilter = filter
	ok()
	// No factory stands for the default one.
	if tf := base.TableFactory; tf != nil && tf.Name() != rocksdb.BlockBasedTableName {
		base.TableFactory = nil
		differs()
		base.TableFactory = tf
		ok()
	}
}

func TestOptionsParserTest_DumpAndParse(t *testing.T) {
	fs, name := fileIn(t)
	cfg := testConfig()
	names := []string{"default", "cf1", "cf2", "cf3", "c:f:4:4:4p\\i\\k\\a\\chu\\\\\\", "###rocksdb#1-testcf#2###"}
	db := randomDB(302)
	db.DBLogDir += "/#odd #but #could #happen #path #/\\\\#OMG"
	special := rocksdb.DefaultBlockBasedTableOptions()
	special.CacheIndexAndFilterBlocks = true
	special.BlockSize = 999999
	var cfs []rocksdb.ColumnFamilyOptions
	for i := range names {
		cf := randomCF(uint32(0xFB + i))
		switch i {
		case 1:
			o := rocksdb.DefaultPlainTableOptions()
			o.BloomBitsPerKey = 11
			cf.TableFactory = &tableFactory{rocksdb.PlainTableName, &o}
		case 2:
			o := rocksdb.DefaultCuckooTableOptions()
			cf.TableFactory = &tableFactory{rocksdb.CuckooTableName, &o}
		case 4:
			cf.TableFactory = newBlockBased(special)
		case 5:
			cf.TableFactory = &tableFactory{name: "Unregistered"}
		}
		cfs = append(cfs, cf)
	}
	noError(t, PersistRocksDBOptions(cfg, &db, names, cfs, name, fs))

	p := NewParser()
	noError(t, p.Parse(cfg, name, fs))
	b := bbtoOf(t, p.CFOptions()[4].TableFactory)
	check(t, b.BlockSize, special.BlockSize)
	check(t, b.CacheIndexAndFilterBlocks, true)
	noError(t, VerifyRocksDBOptionsFromFile(cfg, &db, names, cfs, name, fs))
	noError(t, VerifyDBOptions(cfg, p.DBOptions(), &db, nil))
	for i, n := range names {
		cf := p.GetCFOptions(n)
		if cf == nil {
			t.Fatalf("no column family %s", n)
		}
		noError(t, VerifyCFOptions(cfg, &cfs[i], cf, p.CFOptMaps()[i]))
		verifyPointerOptions(t, &cfs[i], cf, p.CFOptMaps()[i])
	}
	if p.GetCFOptions("does not exist") != nil {
		t.Error("a column family from nowhere")
	}
	db.MaxOpenFiles++
	wantError(t, VerifyRocksDBOptionsFromFile(cfg, &db, names, cfs, name, fs))
}

func TestOptionsParserTest_DifferentDefault(t *testing.T) {
	fs, name := fileIn(t)
	cfg := testConfig()
	db := rocksdb.DefaultDBOptions()
	level, universal := rocksdb.DefaultColumnFamilyOptions(), rocksdb.DefaultColumnFamilyOptions()
	check(t, level.CompactionPri, rocksdb.MinOverlappingRatio)
	level.OptimizeLevelStyleCompaction(512 << 20)
	universal.OptimizeUniversalStyleCompaction(512 << 20)
	noError(t, PersistRocksDBOptions(cfg, &db, []string{"default", "universal"},
		[]rocksdb.ColumnFamilyOptions{level, universal}, name, fs))
	noError(t, NewParser().Parse(cfg, name, fs))

	old := func(major, minor int) *rocksdb.Options {
		o := rocksdb.DefaultOptions()
		return o.OldDefaults(major, minor)
	}
	o := old(4, 6)
	check(t, o.MaxBytesForLevelBase, 10<<20)
	check(t, o.MaxOpenFiles, 5000)
	check(t, o.DelayedWriteRate, 2<<20)
	check(t, o.WALRecoveryMode, rocksdb.TolerateCorruptedTailRecords)
	check(t, o.TargetFileSizeBase, 2<<20)
	check(t, o.WriteBufferSize, 4<<20)
	check(t, o.SoftPendingCompactionBytesLimit, 0)
	check(t, o.HardPendingCompactionBytesLimit, 0)
	check(t, o.CompactionPri, rocksdb.ByCompensatedSize)
	o = old(4, 7)
	check(t, o.MaxBytesForLevelBase != 10<<20, true)
	check(t, o.TableCacheNumshardbits != 4, true)
	check(t, o.TargetFileSizeBase != 2<<20, true)
	check(t, o.MaxOpenFiles, 5000)
	check(t, o.DelayedWriteRate, 2<<20)
	check(t, o.CompactionPri, rocksdb.ByCompensatedSize)
	check(t, old(5, 1).DelayedWriteRate, 2<<20)
	o = old(5, 2)
	check(t, o.DelayedWriteRate, 16<<20)
	check(t, o.CompactionPri, rocksdb.ByCompensatedSize)
	check(t, old(5, 18).CompactionPri, rocksdb.ByCompensatedSize)
	check(t, old(5, 19).CompactionPri, rocksdb.MinOverlappingRatio)

	small := rocksdb.DefaultOptions()
	noError(t, OptimizeForSmallDB(cfg, &small, nil, nil))
	check(t, small.WriteBufferSize, 2<<20)
	check(t, small.MaxOpenFiles, 5000)
}

// sanity persists options and compares others with them.
type sanity struct {
	t    *testing.T
	cfg  *rocksdb.ConfigOptions
	fs   rocksdb.FileSystem
	name string
}

func newSanity(t *testing.T, ignoreUnsupported bool) *sanity {
	fs, name := fileIn(t)
	cfg := testConfig()
	cfg.IgnoreUnsupportedOptions = ignoreUnsupported
	return &sanity{t, cfg, fs, name}
}

func (s *sanity) persist(db rocksdb.DBOptions, cf rocksdb.ColumnFamilyOptions) {
	s.t.Helper()
	cfg := testConfig()
	cfg.InvokePrepareOptions = false
	noError(s.t, PersistRocksDBOptions(cfg, &db, []string{"default"}, []rocksdb.ColumnFamilyOptions{cf}, s.name, s.fs))
}

func (s *sanity) verify(level rocksdb.SanityLevel, db rocksdb.DBOptions, cf rocksdb.ColumnFamilyOptions) error {
	c := *s.cfg
	c.SanityLevel = level
	return VerifyRocksDBOptionsFromFile(&c, &db, []string{"default"}, []rocksdb.ColumnFamilyOptions{cf}, s.name, s.fs)
}

// expect says at which levels the options match the file.
func (s *sanity) expect(db rocksdb.DBOptions, cf rocksdb.ColumnFamilyOptions, loose, exact bool) {
	s.t.Helper()
	noError(s.t, s.verify(rocksdb.SanityLevelNone, db, cf))
	for level, want := range map[rocksdb.SanityLevel]bool{rocksdb.SanityLevelLooselyCompatible: loose, rocksdb.SanityLevelExactMatch: exact} {
		if err := s.verify(level, db, cf); (err == nil) != want {
			s.t.Errorf("level %d: got %v, want a match: %v", level, err, want)
		}
	}
}

func eachSanity(t *testing.T, f func(t *testing.T, s *sanity, ignoreUnsupported bool)) {
	for _, ignore := range []bool{false, true} {
		t.Run(fmt.Sprintf("ignore_unsupported_options=%v", ignore), func(t *testing.T) { f(t, newSanity(t, ignore), ignore) })
	}
}

func TestOptionsSanityCheckTest_MergeOperatorErrorMessage(t *testing.T) {
	eachSanity(t, func(t *testing.T, s *sanity, _ bool) {
		db, cf := rocksdb.DefaultDBOptions(), rocksdb.DefaultColumnFamilyOptions()
		cf.MergeOperator = &changling{name: "first_operator"}
		s.persist(db, cf)
		for _, c := range []struct {
			op   rocksdb.MergeOperator
			name string
		}{{nil, "nullptr"}, {&changling{name: "second_operator"}, "second_operator"}} {
			cf.MergeOperator = c.op
			err := s.verify(rocksdb.SanityLevelLooselyCompatible, db, cf)
			wantInvalid(t, err)
			for _, part := range []string{"The specified one is " + c.name, "the persisted one is first_operator"} {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%q lacks %q", err, part)
				}
			}
		}
	})
}

func TestOptionsSanityCheckTest_CFOptionsSanityCheck(t *testing.T) {
	eachSanity(t, func(t *testing.T, s *sanity, ignore bool) {
		db, cf := rocksdb.DefaultDBOptions(), rocksdb.DefaultColumnFamilyOptions()
		s.persist(db, cf)
		s.expect(db, cf, true, true)

		cf.PrefixExtractor = util.NewCappedPrefixTransform(10)
		noError(t, s.verify(rocksdb.SanityLevelLooselyCompatible, db, cf))
		s.persist(db, cf)
		s.expect(db, cf, true, true)
		cf.PrefixExtractor = util.NewCappedPrefixTransform(15)
		s.expect(db, cf, true, false)
		cf.PrefixExtractor = util.NewFixedPrefixTransform(10)
		s.expect(db, cf, true, false)
		s.persist(db, cf)
		s.expect(db, cf, true, true)
		cf.PrefixExtractor = util.NewFixedPrefixTransform(15)
		s.expect(db, cf, true, false)
		cf.PrefixExtractor = nil
		noError(t, s.verify(rocksdb.SanityLevelLooselyCompatible, db, cf))
		s.persist(db, cf)
		s.expect(db, cf, true, true)

		plain, cuckoo := rocksdb.DefaultPlainTableOptions(), rocksdb.DefaultCuckooTableOptions()
		for _, tf := range []rocksdb.TableFactory{
			&tableFactory{rocksdb.PlainTableName, &plain}, newBlockBased(rocksdb.DefaultBlockBasedTableOptions()),
			&tableFactory{rocksdb.CuckooTableName, &cuckoo},
		} {
			cf.TableFactory = tf
			s.expect(db, cf, false, false)
			s.persist(db, cf)
			s.expect(db, cf, true, true)
		}

		for i := range 5 {
			cf.MergeOperator = &changling{name: fmt.Sprintf("merge%d", i)}
			s.expect(db, cf, i == 0, i == 0)
			s.persist(db, cf)
			s.expect(db, cf, true, ignore)
		}
		cf.MergeOperator = nil
		s.expect(db, cf, false, false)
		s.persist(db, cf)
		s.expect(db, cf, true, true)

		for i := range 3 {
			cf.CompactionFilter = &changling{name: fmt.Sprintf("filter%d", i)}
			s.expect(db, cf, true, false)
			s.persist(db, cf)
			s.expect(db, cf, true, ignore)
			cf.CompactionFilter = nil
		}
		for i := range 3 {
			cf.CompactionFilterFactory = &changlingFactory{name: fmt.Sprintf("factory%d", i)}
			s.expect(db, cf, true, false)
			s.persist(db, cf)
			s.expect(db, cf, true, ignore)
		}

		for _, keep := range []bool{false, true} {
			cf.PersistUserDefinedTimestamps = keep
			s.expect(db, cf, false, false)
			s.persist(db, cf)
			s.expect(db, cf, true, ignore)
		}
	})
}

type mockChecksum struct{}

func (mockChecksum) Name() string { return "Mock" }
func (mockChecksum) CreateFileChecksumGenerator(rocksdb.FileChecksumGenContext) rocksdb.FileChecksumGenerator {
	return nil
}

func TestOptionsSanityCheckTest_DBOptionsSanityCheck(t *testing.T) {
	eachSanity(t, func(t *testing.T, s *sanity, ignore bool) {
		db, cf := rocksdb.DefaultDBOptions(), rocksdb.DefaultColumnFamilyOptions()
		s.persist(db, cf)
		s.expect(db, cf, true, true)
		db.FileChecksumGenFactory = mockChecksum{}
		s.persist(db, cf)
		s.expect(db, cf, true, ignore)
		db.FileChecksumGenFactory = nil
		s.expect(db, cf, true, false)
		s.persist(db, cf)
		s.expect(db, cf, true, true)
	})
}

func TestOptionsParserTest_IntegerParsing(t *testing.T) {
	u64, err := util.ParseUint64("18446744073709551615")
	noError(t, err)
	check(t, u64, 18446744073709551615)
	u32, err := util.ParseUint32("4294967295")
	noError(t, err)
	check(t, u32, 4294967295)
	for text, want := range map[string]int64{"9223372036854775807": 9223372036854775807, "-9223372036854775808": -9223372036854775808} {
		i64, err := util.ParseInt64(text)
		noError(t, err)
		check(t, i64, want)
	}
	for text, want := range map[string]int32{"2147483647": 2147483647, "-2147483648": -2147483648} {
		i32, err := util.ParseInt32(text)
		noError(t, err)
		check(t, i32, want)
	}
	i, err := util.ParseInt("-32767")
	noError(t, err)
	check(t, i, -32767)
	d, err := util.ParseDouble("-1.234567")
	noError(t, err)
	check(t, d, -1.234567)
}

// isEscaped tells whether every special byte has a backslash and nothing else.
func isEscaped(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			if util.IsSpecialChar(s[i]) {
				return false
			}
			continue
		}
		i++
		if i == len(s) || !strings.ContainsRune(`\:#`, rune(s[i])) && util.UnescapeChar(s[i]) == s[i] {
			return false
		}
	}
	return true
}

func TestOptionsParserTest_EscapeOptionString(t *testing.T) {
	const plain, escaped = `This is a test string with # : and \ escape chars.`, `This is a test string with \# \: and \\ escape chars.`
	check(t, util.UnescapeOptionString(escaped), plain)
	check(t, util.EscapeOptionString(plain), escaped)
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	for _, s := range []string{
		"A String like this \"1234567890-=_)(*&^%$#@!ertyuiop[]{POIUYTREWQasdfghjkl;':LKJHGFDSAzxcvbnm,.?>" +
			"<MNBVCXZ\\\" should be okay to \\#\\\\\\:\\#\\#\\#\\ be serialized and deserialized", string(all),
	} {
		e := util.EscapeOptionString(s)
		if !isEscaped(e) {
			t.Errorf("not escaped: %q", e)
		}
		check(t, util.UnescapeOptionString(e), s)
	}
	check(t, TrimAndRemoveComment("     A simple statement with a comment.  # like this :)", false), "A simple statement with a comment.")
	check(t, TrimAndRemoveComment("Escape \\# and # comment together   .", false), "Escape \\# and")
}

// secondCopyFS gives damaged bytes until a read asks for another copy.
type secondCopyFS struct{ rocksdb.FileSystem }

func (fs secondCopyFS) SupportedOps() int64 { return 1 << rocksdb.VerifyAndReconstructRead }
func (fs secondCopyFS) NewSequentialFile(name string, o *rocksdb.FileOptions) (rocksdb.FSSequentialFile, error) {
	f, err := fs.FileSystem.NewSequentialFile(name, o)
	return secondCopyFile{f}, err
}

type secondCopyFile struct{ rocksdb.FSSequentialFile }

func (f secondCopyFile) Read(n int, o *rocksdb.IOOptions, scratch []byte) ([]byte, error) {
	b, err := f.FSSequentialFile.Read(n, o, scratch)
	if !o.VerifyAndReconstructRead && len(b) > 0 {
		copy(b, "[Nonsense]")
	}
	return b, err
}

func TestDamagedOptionsFileIsReadFromAnotherCopy(t *testing.T) {
	fs, name := fileIn(t)
	cfg := testConfig()
	db, cf := randomDB(9), rocksdb.DefaultColumnFamilyOptions()
	noError(t, PersistRocksDBOptions(cfg, &db, []string{"default"}, []rocksdb.ColumnFamilyOptions{cf}, name, fs))
	p := NewParser()
	noError(t, p.Parse(cfg, name, secondCopyFS{fs}))
	noError(t, VerifyDBOptions(cfg, &db, p.DBOptions(), p.DBOptMap()))
	wantError(t, p.Parse(cfg, name+"x", fs))
}

// Public reports about options; the numbers are of facebook/rocksdb.

// sections gives an OPTIONS file of a version with an extra line in one section.
func sections(t *testing.T, version, section, line string) string {
	t.Helper()
	db, cf := rocksdb.DefaultDBOptions(), rocksdb.DefaultColumnFamilyOptions()
	b, err := AppendRocksDBOptions(nil, testConfig(), &db, []string{"default"}, []rocksdb.ColumnFamilyOptions{cf})
	noError(t, err)
	text := strings.Replace(string(b), "rocksdb_version=11.8.1", "rocksdb_version="+version, 1)
	return strings.Replace(text, section+"\n", section+"\n  "+line+"\n", 1)
}

// 3527: unknown options are forgiven in files of later versions only.
func TestUnknownOptionsAreForgivenInLaterFilesOnly(t *testing.T) {
	for version, forgiven := range map[string]bool{
		"9.0.0": false, "11.8.0": false, "11.8.1": false, "11.8.2": true, "11.9.0": true, "12.0.0": true,
	} {
		for _, section := range []string{"[DBOptions]", "[CFOptions \"default\"]", "[TableOptions/BlockBasedTable \"default\"]"} {
			text := sections(t, version, section, "no_such_option=5")
			for _, ignore := range []bool{false, true} {
				cfg := testConfig()
				cfg.IgnoreUnknownOptions = ignore
				err := NewParser().ParseText(cfg, text)
				if ignore && forgiven {
					noError(t, err)
					continue
				}
				wantInvalid(t, err)
				check(t, strings.Contains(err.Error(), "Extra option not recognized: no_such_option"), true)
			}
		}
	}
}

// 10094: an unknown table factory is an error or stays missing; it never
// becomes the default one.
func TestUnknownTableFactoryIsNotTheDefault(t *testing.T) {
	file := sections(t, "11.8.1", "[DBOptions]", "")
	named := strings.Replace(file, "table_factory=BlockBasedTable", "table_factory=NoSuchTable", 1)
	renamed := strings.Replace(named, "TableOptions/BlockBasedTable", "TableOptions/NoSuchTable", 1)
	removed, _, _ := strings.Cut(named, "[TableOptions/")
	for i, text := range []string{named, renamed, removed} {
		strict := testConfig()
		strict.IgnoreUnsupportedOptions = false
		err := NewParser().ParseText(strict, text)
		wantInvalid(t, err)
		check(t, strings.Contains(err.Error(), "Could not load TableFactory: NoSuchTable"), true)

		p := NewParser()
		noError(t, p.ParseText(testConfig(), text))
		cf := p.GetCFOptions("default")
		missing := i > 0
		check(t, IsMissingTableFactory(cf.TableFactory), missing)
		err = ValidateOptions(p.DBOptions(), cf)
		if !missing {
			noError(t, err)
			continue
		}
		check(t, rocksdb.IsNotFound(err), true)
		check(t, cf.TableFactory.Name(), "NoSuchTable")
	}
}

// 14811: the old spelling of a name is read and not written.
func TestOldSpellingIsRead(t *testing.T) {
	text := strings.Replace(sections(t, "11.8.1", "[DBOptions]", ""),
		"memtable_verify_per_key_checksum_on_seek=false", "memtable_veirfy_per_key_checksum_on_seek=true", 1)
	p := NewParser()
	noError(t, p.ParseText(testConfig(), text))
	check(t, p.CFOptions()[0].MemtableVerifyPerKeyChecksumOnSeek, true)
	b, err := AppendRocksDBOptions(nil, testConfig(), p.DBOptions(), p.CFNames(), p.CFOptions())
	noError(t, err)
	check(t, strings.Contains(string(b), "memtable_verify_per_key_checksum_on_seek=true"), true)
	check(t, strings.Contains(string(b), "veirfy"), false)
	m := NewMutableCFOptions(&p.CFOptions()[0])
	m, err = GetMutableOptionsFromStrings(m, map[string]string{"memtable_veirfy_per_key_checksum_on_seek": "false"}, nil)
	noError(t, err)
	check(t, m.MemtableVerifyPerKeyChecksumOnSeek, false)
}

// 13038: each option that is changed alone keeps its value, and no other
// changes.
func TestEachOptionChangesAlone(t *testing.T) {
	cfg := testConfig()
	flip := func(v string) string {
		switch v {
		case "true":
			return "false"
		case "false":
			return "true"
		}
		if n, err := util.ParseUint64(v); err == nil && !strings.ContainsAny(v, "-.:{") {
			return fmt.Sprint(n%1000 + 3)
		}
		return ""
	}
	count := func(whole string, set func(text string) string) int {
		changed := 0
		m := mustMap(t, whole)
		for name, value := range m {
			v := flip(value)
			if v == "" {
				continue
			}
			changed++
			got := mustMap(t, set(name+"="+v))
			for other, want := range m {
				if other == name {
					want = v
				}
				if got[other] != want {
					t.Errorf("after %s=%s: %s is %s, want %s", name, v, other, got[other], want)
				}
			}
		}
		return changed
	}
	db, cf := rocksdb.DefaultDBOptions(), rocksdb.DefaultColumnFamilyOptions()
	whole, err := GetStringFromDBOptions(cfg, &db)
	noError(t, err)
	n := count(whole, func(text string) string {
		o, err := GetDBOptionsFromString(cfg, &db, text)
		noError(t, err)
		s, err := GetStringFromDBOptions(cfg, &o)
		noError(t, err)
		return s
	})
	check(t, n >= 85, true)
	whole, err = GetStringFromColumnFamilyOptions(cfg, &cf)
	noError(t, err)
	n = count(whole, func(text string) string {
		o, err := GetColumnFamilyOptionsFromString(cfg, &cf, text)
		noError(t, err)
		s, err := GetStringFromColumnFamilyOptions(cfg, &o)
		noError(t, err)
		return s
	})
	check(t, n >= 55, true)
}
