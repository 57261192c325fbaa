// Port of db/filename_test.cc.

package filename

import (
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

func TestFileNameTest_Parse(t *testing.T) {
	const (
		defaultDir = 1 << iota
		differentDir
		noCheck
		all = defaultDir | differentDir | noCheck
	)
	cases := []struct {
		name   string
		number uint64
		typ    rocksdb.FileType
		mode   int
	}{
		{"100.log", 100, rocksdb.WalFile, all},
		{"0.log", 0, rocksdb.WalFile, all},
		{"0.sst", 0, rocksdb.TableFile, all},
		{"CURRENT", 0, rocksdb.CurrentFile, all},
		{"LOCK", 0, rocksdb.DBLockFile, all},
		{"MANIFEST-2", 2, rocksdb.DescriptorFile, all},
		{"MANIFEST-7", 7, rocksdb.DescriptorFile, all},
		{"METADB-2", 2, rocksdb.MetaDatabase, all},
		{"METADB-7", 7, rocksdb.MetaDatabase, all},
		{"LOG", 0, rocksdb.InfoLogFile, defaultDir},
		{"LOG.old", 0, rocksdb.InfoLogFile, defaultDir},
		{"LOG.old.6688", 6688, rocksdb.InfoLogFile, defaultDir},
		{"rocksdb_dir_LOG", 0, rocksdb.InfoLogFile, differentDir},
		{"rocksdb_dir_LOG.old", 0, rocksdb.InfoLogFile, differentDir},
		{"rocksdb_dir_LOG.old.6688", 6688, rocksdb.InfoLogFile, differentDir},
		{"18446744073709551615.log", 18446744073709551615, rocksdb.WalFile, all},
	}
	prefixes := map[int]string{
		defaultDir:   InfoLogPrefix(false, "/rocksdb/dir"),
		differentDir: InfoLogPrefix(true, "/rocksdb/dir"),
		noCheck:      "",
	}
	for mode, prefix := range prefixes {
		for _, c := range cases {
			if c.mode&mode == 0 {
				continue
			}
			p, ok := ParseFileName(c.name, prefix)
			if !ok || p.Type != c.typ || p.Number != c.number {
				t.Errorf("%q with prefix %q: %+v, %v", c.name, prefix, p, ok)
			}
		}
	}
	for _, name := range []string{
		"", "foo", "foo-dx-100.log", ".log", "manifest", "CURREN", "CURRENTX", "MANIFES",
		"MANIFEST", "MANIFEST-", "XMANIFEST-3", "MANIFEST-3x", "META", "METADB", "METADB-",
		"XMETADB-3", "METADB-3x", "LOC", "LOCKx", "LO", "LOGx", "18446744073709551616.log",
		"184467440737095516150.log", "100", "100.", "100.lop",
	} {
		if p, ok := ParseFileName(name, ""); ok {
			t.Errorf("%q parsed as %+v", name, p)
		}
	}
}

func TestFileNameTest_InfoLogFileName(t *testing.T) {
	const db, logDir = "/data/rocksdb", "/data/rocksdb_log"
	for _, c := range []struct{ got, want string }{
		{InfoLogFileName(db, db, ""), "/data/rocksdb/LOG"},
		{OldInfoLogFileName(db, 666, db, ""), "/data/rocksdb/LOG.old.666"},
		{InfoLogFileName(db, db, logDir), "/data/rocksdb_log/data_rocksdb_LOG"},
		{OldInfoLogFileName(db, 666, db, logDir), "/data/rocksdb_log/data_rocksdb_LOG.old.666"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

func TestFileNameTest_Construction(t *testing.T) {
	check := func(name, dir string, number uint64, typ rocksdb.FileType) {
		t.Helper()
		rest, ok := strings.CutPrefix(name, dir+"/")
		if !ok {
			t.Fatalf("%q is not in %q", name, dir)
		}
		p, ok := ParseFileName(rest, "")
		if !ok || p.Number != number || p.Type != typ {
			t.Errorf("%q: %+v, %v", name, p, ok)
		}
	}
	check(CurrentFileName("foo"), "foo", 0, rocksdb.CurrentFile)
	check(LockFileName("foo"), "foo", 0, rocksdb.DBLockFile)
	check(LogFileName("foo", 192), "foo", 192, rocksdb.WalFile)
	one := TableFileName([]rocksdb.DBPath{{Path: "bar"}}, 200, 0)
	two := TableFileName([]rocksdb.DBPath{{Path: "foo"}, {Path: "bar"}}, 200, 1)
	if one != two {
		t.Errorf("%q != %q", one, two)
	}
	check(one, "bar", 200, rocksdb.TableFile)
	check(DescriptorFileName("bar", 100), "bar", 100, rocksdb.DescriptorFile)
	check(TempFileName("tmp", 999), "tmp", 999, rocksdb.TempFile)
	check(MetaDatabaseName("met", 100), "met", 100, rocksdb.MetaDatabase)
}

func TestFileNameTest_NormalizePath(t *testing.T) {
	sep := string(rune(FilePathSeparator))
	for _, c := range []struct{ given, want string }{
		{"FOLDER" + sep + "filename.ext", "FOLDER" + sep + "filename.ext"},
		{sep + "a", sep + "a"},
		{"a" + sep, "a" + sep},
		{sep + sep + "a", sep + sep + "a"},
		{"a" + sep + sep, "a" + sep},
		{sep, sep},
		{sep + sep, sep},
		{sep + sep + sep, sep + sep},
		{sep + sep + sep + "a" + sep, sep + sep + "a" + sep},
		{"a" + sep + sep + "b", "a" + sep + "b"},
		{sep + sep + "SERVER" + sep + "a" + sep + sep + "b" + sep + "c", sep + sep + "SERVER" + sep + "a" + sep + "b" + sep + "c"},
	} {
		if got := NormalizePath(c.given); got != c.want {
			t.Errorf("%q: got %q, want %q", c.given, got, c.want)
		}
	}
}

// The names below have no case upstream.
func TestNames(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{BlobFileName("d", 12), "d/000012.blob"},
		{BlobFileNameIn("d", "blobs", 1234567), "d/blobs/1234567.blob"},
		{ArchivedLogFileName("d", 7), "d/archive/000007.log"},
		{Rocks2LevelTableFileName("d/000007.sst"), "d/000007.ldb"},
		{Rocks2LevelTableFileName("sst"), ""},
		{FormatFileNumber(9, 0), "9"},
		{FormatFileNumber(9, 2), "9(path 2)"},
		{TempOptionsFileName("d", 5), "d/OPTIONS-000005.dbtmp"},
		{CompactionProgressFileName("d", 5), "d/COMPACTION_PROGRESS-5"},
		{IdentityFileName("d"), "d/IDENTITY"},
		{InfoLogPrefix(true, "/"+strings.Repeat("x", 400)), strings.Repeat("x", 255) + "_LOG"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
	if n := TableFileNameToNumber("d/001234.sst"); n != 1234 {
		t.Errorf("number %d", n)
	}
	for _, c := range []struct {
		name string
		want Parsed
	}{
		{"OPTIONS-000005", Parsed{5, rocksdb.OptionsFile, 0}},
		{"OPTIONS-000005.dbtmp", Parsed{5, rocksdb.TempFile, 0}},
		{"COMPACTION_PROGRESS-55", Parsed{55, rocksdb.CompactionProgressFile, 0}},
		{"COMPACTION_PROGRESS-55.dbtmp", Parsed{55, rocksdb.TempFile, 0}},
		{"/000003.ldb", Parsed{3, rocksdb.TableFile, rocksdb.AliveLogFile}},
		{"archive/000003.log", Parsed{3, rocksdb.WalFile, rocksdb.ArchivedLogFile}},
		{"000003.blob", Parsed{3, rocksdb.BlobFile, rocksdb.AliveLogFile}},
	} {
		if got, ok := ParseFileName(c.name, "LOG"); !ok || got != c.want {
			t.Errorf("%q: %+v, %v", c.name, got, ok)
		}
	}
	for _, name := range []string{"archive/000003.sst", "archive", "LOGx", "COMPACTION_PROGRESS-5x"} {
		if p, ok := ParseFileName(name, "LOG"); ok {
			t.Errorf("%q parsed as %+v", name, p)
		}
	}
}

func FuzzParseFileName(f *testing.F) {
	f.Add("archive/000003.log", "LOG")
	f.Add("LOG.old.12", "LOG")
	f.Fuzz(func(t *testing.T, name, prefix string) {
		p, ok := ParseFileName(name, prefix)
		if ok && p.Type > rocksdb.CompactionProgressFile {
			t.Errorf("%q: type %d", name, p.Type)
		}
	})
}
