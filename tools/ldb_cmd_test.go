// Port of tools/ldb_cmd_test.cc. Differs: what upstream sees by sync points is
// read from what the commands print.

package tools_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/db"
	"github.com/rocksdb-go/rocksdb/file/filename"
	contract "github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/options"
	"github.com/rocksdb-go/rocksdb/util"
)

// memOptions are those of a database in memory.
func memOptions() rocksdb.Options {
	o := rocksdb.DefaultOptions()
	o.Env = rocksdb.NewMemEnv(rocksdb.DefaultEnv())
	o.CreateIfMissing = true
	return o
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func open(t *testing.T, path string, o rocksdb.Options) *rocksdb.DB {
	t.Helper()
	x, err := rocksdb.Open(path, o)
	check(t, err)
	return x
}

func put(t *testing.T, cf *rocksdb.ColumnFamily, keyValues ...string) {
	t.Helper()
	for i := 0; i < len(keyValues); i += 2 {
		check(t, cf.Put(nil, []byte(keyValues[i]), []byte(keyValues[i+1])))
	}
}

// wantGet checks a key; an empty value stands for none.
func wantGet(t *testing.T, cf *rocksdb.ColumnFamily, key, want string) {
	t.Helper()
	v, err := cf.Get(nil, []byte(key))
	if want == "" {
		if !errors.Is(err, rocksdb.ErrNotFound) {
			t.Fatalf("Get(%q): %q, %v", key, v.Data(), err)
		}
		return
	}
	if err != nil || string(v.Data()) != want {
		t.Fatalf("Get(%q): %q, %v", key, v.Data(), err)
	}
	v.Release()
}

func wantOK(t *testing.T, o rocksdb.Options, args ...string) result {
	t.Helper()
	r := runWith(t, o, "", args...)
	if r.code != 0 {
		t.Fatalf("ldb %v: %+v", args, r)
	}
	return r
}

func TestLdbCmdTest_HelpAndVersion(t *testing.T) {
	r := run(t, "", "--help")
	if r.code != 0 || r.err != "" || !strings.HasPrefix(r.out, "ldb - RocksDB Tool\n\ncommands MUST specify --db=") ||
		!strings.Contains(r.out, "\n\nData Access Commands:\n  put <key> <value> [--create_if_missing] [--ttl]\n") {
		t.Errorf("--help: %+v", r)
	}
	if r := run(t, "", "--version"); r.code != 0 || r.out != "ldb from RocksDB 11.8.1\n" {
		t.Errorf("--version: %+v", r)
	}
	for _, args := range [][]string{{"--not_an_option"}, {}} {
		if bad := run(t, "", args...); bad.code != 1 || bad.err != r.out && bad.out != "" || !strings.HasPrefix(bad.err, "ldb - RocksDB Tool\n") {
			t.Errorf("%v: %+v", args, bad)
		}
	}
}

func TestLdbCmdTest_MemEnv(t *testing.T) {
	o := memOptions()
	x := open(t, "/db", o)
	for i := range 100 {
		k := fmt.Sprintf("%08d", i)
		put(t, x.ColumnFamily, k, k)
	}
	check(t, x.Flush(nil))
	check(t, x.Close())
	// dump_live_files is not built yet; these read the same files.
	if r := wantOK(t, o, "--db=/db", "dump"); strings.Count(r.out, " ==> ") != 100 {
		t.Errorf("dump: %s", r.out)
	}
	if r := wantOK(t, o, "--db=/db", "manifest_dump"); !strings.Contains(r.out, "'00000099' seq:100, type:1") {
		t.Errorf("manifest_dump: %s", r.out)
	}
	if r := wantOK(t, o, "--db=/db", "list_live_files_metadata"); strings.Count(r.out, ".sst\n") != 1 {
		t.Errorf("list_live_files_metadata: %s", r.out)
	}
}

// fileChecksums compares file_checksum_dump with the files' own bytes.
func fileChecksums(t *testing.T, factory contract.FileChecksumGenFactory, wantName string, blobs bool) {
	o := memOptions()
	o.EnableBlobFiles = blobs
	o.FileChecksumGenFactory = factory
	x := open(t, "/db", o)
	for round := range 2 {
		for i := range 200 {
			k := fmt.Sprintf("%08d", i)
			put(t, x.ColumnFamily, k, k)
		}
		check(t, x.Flush(nil))
		if round == 1 {
			check(t, x.CompactRange(nil, nil, nil))
		}
		verifyChecksumDump(t, o, factory, wantName)
	}
	check(t, x.Close())
	verifyChecksumDump(t, o, factory, wantName)
}

func verifyChecksumDump(t *testing.T, o rocksdb.Options, factory contract.FileChecksumGenFactory, wantName string) {
	t.Helper()
	var want strings.Builder
	path, _, err := db.GetCurrentManifestPath("/db", o.Env.GetFileSystem(), false)
	check(t, err)
	check(t, db.GetFileChecksumsFromManifest(path, o.Env.GetFileSystem(), 0, func(number uint64, recorded, name string) error {
		sum := ""
		fs := o.Env.GetFileSystem()
		table := filename.MakeTableFileName("/db", number)
		if fs.FileExists(table, nil) != nil {
			table = filename.BlobFileName("/db", number)
		}
		switch {
		case factory != nil && fs.FileExists(table, nil) != nil:
			sum = recorded // the MANIFEST does not say that a blob file went
		case factory != nil:
			g := factory.CreateFileChecksumGenerator(contract.FileChecksumGenContext{FileName: table})
			data, err := contract.ReadFileToString(o.Env.GetFileSystem(), table, nil)
			check(t, err)
			g.Update([]byte(data))
			g.Finalize()
			sum = g.GetChecksum()
		}
		if name != wantName {
			t.Errorf("table %d has a checksum by %q", number, name)
		}
		fmt.Fprintf(&want, "%d, %s, 0x%X\n", number, wantName, sum)
		return nil
	}))
	want.WriteString("Print SST file checksum information finished \n")
	if r := wantOK(t, o, "--db=/db", "file_checksum_dump", "--hex"); r.out != want.String() || strings.Count(r.out, "\n") < 2 {
		t.Errorf("got %q\nwant %q", r.out, want.String())
	}
}

func TestLdbCmdTest_DumpFileChecksumNoChecksum(t *testing.T) { fileChecksums(t, nil, "Unknown", false) }

func TestLdbCmdTest_DumpFileChecksumCRC32(t *testing.T) {
	fileChecksums(t, util.GetFileChecksumGenCrc32cFactory(), "FileChecksumCrc32c", false)
}

func TestLdbCmdTest_BlobDBDumpFileChecksumNoChecksum(t *testing.T) {
	fileChecksums(t, nil, "Unknown", true)
}

func TestLdbCmdTest_BlobDBDumpFileChecksumCRC32(t *testing.T) {
	fileChecksums(t, util.GetFileChecksumGenCrc32cFactory(), "FileChecksumCrc32c", true)
}

func TestLdbCmdTest_ListFileTombstone(t *testing.T) {
	o := memOptions()
	x := open(t, "/db", o)
	put(t, x.ColumnFamily, "foo", "1", "bar", "2")
	check(t, x.Flush(nil))
	check(t, x.DeleteRange(nil, []byte("foo"), []byte("foo2")))
	check(t, x.DeleteRange(nil, []byte("bar"), []byte("foo2")))
	check(t, x.Flush(nil))
	check(t, x.Close())
	if r := wantOK(t, o, "--db=/db", "list_file_range_deletes"); strings.Count(r.out, "start: ") != 2 {
		t.Errorf("all: %s", r.out)
	}
	if r := wantOK(t, o, "--db=/db", "list_file_range_deletes", "--max_keys=1"); strings.Count(r.out, "start: ") != 1 {
		t.Errorf("one: %s", r.out)
	}
}

func TestLdbCmdTest_TestBadDbPath(t *testing.T) {
	o := memOptions()
	for _, command := range []string{"create_column_family", "drop_column_family"} {
		if r := runWith(t, o, "", "--db=/db/.no_such_dir", command, "bad cf"); r.code != 1 || !strings.HasPrefix(r.err, "Failed: ") {
			t.Errorf("%s: %+v", command, r)
		}
	}
}

// loadOptions reads the newest OPTIONS file of a database.
func loadOptions(t *testing.T, path string) *options.Parser {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(path, "OPTIONS-*"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	slices.Sort(files)
	cfg := contract.DefaultConfigOptions()
	p := options.NewParser()
	check(t, p.Parse(&cfg, files[len(files)-1], rocksdb.DefaultEnv().GetFileSystem()))
	return p
}

func TestLdbCmdTest_LoadCFOptionsAndOverride(t *testing.T) {
	o := rocksdb.DefaultOptions()
	o.CreateIfMissing = true
	path := filepath.Join(t.TempDir(), "db")
	x := open(t, path, o)
	cfOptions := rocksdb.DefaultOptions().ColumnFamilyOptions
	cfOptions.NumLevels = 20
	_, err := x.CreateColumnFamily(cfOptions, "cf1")
	check(t, err)
	check(t, x.Close())
	wantOK(t, o, "--db="+path, "put", "key1", "value1", "--try_load_options", "--column_family=cf1", "--write_buffer_size=268435456")
	p := loadOptions(t, path)
	if p.NumColumnFamilies() != 2 || p.CFOptions()[0].NumLevels != o.NumLevels || p.CFOptions()[1].NumLevels != 20 ||
		p.CFOptions()[1].WriteBufferSize != 268435456 || p.CFOptions()[0].WriteBufferSize != o.WriteBufferSize {
		t.Errorf("families %v: %d and %d levels", p.CFNames(), p.CFOptions()[0].NumLevels, p.CFOptions()[1].NumLevels)
	}
}

// tableNumbers lists a database's tables in rising order.
func tableNumbers(t *testing.T, x *rocksdb.DB) []uint64 {
	t.Helper()
	var numbers []uint64
	for _, f := range x.Impl().Versions().GetLiveFilesMetaData() {
		numbers = append(numbers, f.FileNumber)
	}
	slices.Sort(numbers)
	return numbers
}

func TestLdbCmdTest_UnsafeRemoveSstFile(t *testing.T) {
	o := rocksdb.DefaultOptions()
	o.Level0FileNumCompactionTrigger = 10
	o.CreateIfMissing = true
	path := filepath.Join(t.TempDir(), "db")
	remove := func(number uint64) {
		t.Helper()
		if r := wantOK(t, o, "--db="+path, "unsafe_remove_sst_file", fmt.Sprint(number)); r.err != "unsafely removed SST file\n" {
			t.Errorf("%+v", r)
		}
	}
	x := open(t, path, o)
	for i := range 3 {
		put(t, x.ColumnFamily, fmt.Sprint(i), fmt.Sprint(i))
		check(t, x.Flush(nil))
	}
	numbers := tableNumbers(t, x)
	if len(numbers) != 3 {
		t.Fatal(numbers)
	}
	if r := runWith(t, o, "", "--db="+path, "unsafe_remove_sst_file", fmt.Sprint(numbers[1])); r.code != 1 || !strings.Contains(r.err, "LOCK") {
		t.Errorf("an open database: %+v", r)
	}
	check(t, x.Close())
	remove(numbers[1])

	x = open(t, path, o)
	wantGet(t, x.ColumnFamily, "0", "0")
	wantGet(t, x.ColumnFamily, "1", "")
	wantGet(t, x.ColumnFamily, "2", "2")
	cf, err := x.CreateColumnFamily(o.ColumnFamilyOptions, "cf1")
	check(t, err)
	for i := 3; i < 5; i++ {
		put(t, cf, fmt.Sprint(i), fmt.Sprint(i))
		check(t, cf.Flush(nil))
	}
	numbers = tableNumbers(t, x)
	if len(numbers) != 4 {
		t.Fatal(numbers)
	}
	check(t, x.Close())
	remove(numbers[3])

	families := []rocksdb.ColumnFamilyDescriptor{{Name: "default", Options: o.ColumnFamilyOptions}, {Name: "cf1", Options: o.ColumnFamilyOptions}}
	x, cfs, err := rocksdb.OpenColumnFamilies(path, o.DBOptions, families)
	check(t, err)
	wantGet(t, cfs[1], "3", "3")
	wantGet(t, cfs[1], "4", "")
	wantGet(t, cfs[0], "0", "0")
	numbers = tableNumbers(t, x)
	if len(numbers) != 3 {
		t.Fatal(numbers)
	}
	check(t, x.Close())
	// The file may be gone already.
	check(t, os.Remove(filename.MakeTableFileName(path, numbers[0])))
	remove(numbers[0])

	x, cfs, err = rocksdb.OpenColumnFamilies(path, o.DBOptions, families)
	check(t, err)
	wantGet(t, cfs[1], "3", "3")
	wantGet(t, cfs[0], "0", "")
	check(t, x.Close())
	for _, bad := range []struct{ number, message string }{
		{"99", "Failed: failed to unsafely remove SST file: NotFound: File not present in any level\n"},
		{"x", "Failed: Failed to parse SST file number x\n"},
	} {
		if r := runWith(t, o, "", "--db="+path, "unsafe_remove_sst_file", bad.number); r.code != 1 || r.err != bad.message {
			t.Errorf("%s: %+v", bad.number, r)
		}
	}
}

func TestLdbCmdTest_RenameDbAndLoadOptions(t *testing.T) {
	o := rocksdb.DefaultOptions()
	dir := t.TempDir()
	before, after := filepath.Join(dir, "db"), filepath.Join(dir, "db_2")
	wantOK(t, o, "--db="+before, "put", "key1", "value1", "--try_load_options", "--create_if_missing")
	wantOK(t, o, "--db="+before, "get", "key1", "--try_load_options")
	if p := loadOptions(t, before); p.DBOptions().WALDir != "" {
		t.Errorf("wal_dir is %q", p.DBOptions().WALDir)
	}
	check(t, os.Rename(before, after))
	for _, args := range [][]string{{"put", "key1", "value1"}, {"get", "key1"}} {
		if r := runWith(t, o, "", append(args, "--db="+before, "--try_load_options")...); r.code == 0 {
			t.Errorf("%v on a database that moved: %+v", args, r)
		}
	}
	wantOK(t, o, "--db="+after, "put", "key2", "value2", "--try_load_options")
	for key, want := range map[string]string{"key1": "value1\n", "key2": "value2\n"} {
		if r := wantOK(t, o, "--db="+after, "get", key, "--try_load_options"); r.out != want {
			t.Errorf("%s: %+v", key, r)
		}
	}
}

// myComparator is bytewise under another name.
type myComparator struct{ contract.ComparatorBase }

func (myComparator) Name() string            { return "my_comparator" }
func (myComparator) Compare(a, b []byte) int { return bytes.Compare(a, b) }
func (myComparator) Equal(a, b []byte) bool  { return bytes.Equal(a, b) }
func (myComparator) FindShortestSeparator(dst, start, _ []byte) []byte {
	return append(dst, start...)
}
func (myComparator) FindShortSuccessor(dst, key []byte) []byte { return append(dst, key...) }

func newMyComparator() contract.Comparator {
	c := &myComparator{}
	c.Self = c
	return c
}

func TestLdbCmdTest_CustomComparator(t *testing.T) {
	o := rocksdb.DefaultOptions()
	o.CreateIfMissing = true
	o.CreateMissingColumnFamilies = true
	o.Comparator = newMyComparator()
	path := filepath.Join(t.TempDir(), "db")
	var families []rocksdb.ColumnFamilyDescriptor
	for _, name := range []string{"default", "cf1", "cf2"} {
		families = append(families, rocksdb.ColumnFamilyDescriptor{Name: name, Options: o.ColumnFamilyOptions})
	}
	x, _, err := rocksdb.OpenColumnFamilies(path, o.DBOptions, families)
	check(t, err)
	put(t, x.ColumnFamily, "k1", "v1")
	check(t, x.Close())
	tool := newTool(o, "")
	tool.ColumnFamilies = families
	if r := runTool(t, tool, "--db="+path, "get", "k1"); r.code != 0 || r.out != "v1\n" {
		t.Errorf("%+v", r)
	}
	// Without the families the options are read from the database, and they get
	// the program's comparator for the family named only.
	if r := runWith(t, rocksdb.DefaultOptions(), "", "--db="+path, "get", "k1"); r.code != 1 || !strings.Contains(r.err, "my_comparator") {
		t.Errorf("without the comparator: %+v", r)
	}
}
