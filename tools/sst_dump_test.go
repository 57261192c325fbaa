// Port of tools/sst_dump_test.cc.

package tools_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/db/wide"
	"github.com/rocksdb-go/rocksdb/file"
	contract "github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/options"
	"github.com/rocksdb-go/rocksdb/table"
	"github.com/rocksdb-go/rocksdb/table/sstfile"
	"github.com/rocksdb-go/rocksdb/tools"
	"github.com/rocksdb-go/rocksdb/util"
)

const sstNumKey = 1024

func sstKey(i int, t dbformat.ValueType) []byte {
	return dbformat.AppendInternalKey(nil, fmt.Appendf(nil, "k_%04d", i), 0, t)
}

func sstValue(i int) []byte {
	return dbformat.AppendInternalKey(nil, fmt.Appendf(nil, "v_%04d", i), 0, dbformat.TypeValue)
}

func sstEntity(t *testing.T, i int) []byte {
	t.Helper()
	v := sstValue(i)
	e, err := wide.Serialize(nil, contract.WideColumns{
		{Name: []byte("attr_1"), Value: append([]byte("attr_1_val_"), v...)},
		{Name: []byte("attr_2"), Value: append([]byte("attr_2_val_"), v...)}})
	check(t, err)
	return e
}

// createSST writes a table; of wideOneIn values one is an entity.
func createSST(t *testing.T, o rocksdb.Options, path string, wideOneIn int, rangeDel bool) {
	t.Helper()
	if o.Env == nil {
		o.Env = rocksdb.DefaultEnv()
	}
	cmp := o.Comparator
	if cmp == nil {
		cmp = util.BytewiseComparator()
	}
	io, mo := options.NewImmutableOptions(&o.DBOptions, &o.ColumnFamilyOptions), options.NewMutableCFOptions(&o.ColumnFamilyOptions)
	bo := table.DefaultTableBuilderOptions(&io, &mo, dbformat.NewInternalKeyComparator(cmp))
	bo.CompressionOpts = contract.DefaultCompressionOptions()
	ro, wo := contract.DefaultReadOptions(), contract.DefaultWriteOptions()
	bo.ReadOptions, bo.WriteOptions = &ro, &wo
	fo := contract.DefaultFileOptions()
	w, err := file.CreateWritableFileWriter(o.Env.GetFileSystem(), path, &fo, nil)
	check(t, err)
	b, err := o.TableFactory.(table.Factory).NewTableBuilder(&bo, w)
	check(t, err)
	add := func(i int) {
		if wideOneIn > 0 && i%wideOneIn == 0 {
			b.Add(sstKey(i, dbformat.TypeWideColumnEntity), sstEntity(t, i))
		} else {
			b.Add(sstKey(i, dbformat.TypeValue), sstValue(i))
		}
	}
	switch {
	case cmp.Name() == util.ReverseBytewiseComparator().Name():
		for i := sstNumKey; i > 0; i-- {
			add(i)
		}
	case cmp.TimestampSize() > 0:
		for i := range sstNumKey {
			user := util.AppendU64Ts(fmt.Appendf(nil, "k_%04d", i), uint64(100+i))
			b.Add(dbformat.AppendInternalKey(nil, user, 0, dbformat.TypeValue), sstValue(i))
		}
	default:
		first := 0
		if rangeDel {
			b.Add(sstKey(0, dbformat.TypeRangeDeletion), sstValue(1))
			first = 1
		}
		for i := first; i < sstNumKey; i++ {
			add(i)
		}
	}
	check(t, b.Finish())
	none := contract.DefaultIOOptions()
	check(t, w.Close(&none))
}

func sstOptions(filter bool) rocksdb.Options {
	o := rocksdb.DefaultOptions()
	t := rocksdb.DefaultBlockBasedTableOptions()
	if filter {
		t.FilterPolicy = rocksdb.NewBloomFilterPolicy(10)
	}
	o.TableFactory = rocksdb.NewBlockBasedTableFactory(t)
	return o
}

func sstDump(t *testing.T, o rocksdb.Options, args ...string) result {
	t.Helper()
	rocksdb.RegisterBuiltins()
	var out, errText bytes.Buffer
	x := tools.SSTDumpTool{Options: o, Stdout: &out, Stderr: &errText}
	code := x.Run(args)
	return result{code, out.String(), errText.String()}
}

// sstDumpOK dumps a new table and gives what was printed behind the first line.
func sstDumpOK(t *testing.T, o rocksdb.Options, path string, args ...string) string {
	t.Helper()
	r := sstDump(t, o, append(args, "--file="+path)...)
	if r.code != 0 || r.err != "" {
		t.Fatalf("sst_dump %v: %+v", args, r)
	}
	first, rest, _ := strings.Cut(r.out, "\n")
	if !strings.HasPrefix(first, "options.env is 0x") {
		t.Errorf("first line %q", first)
	}
	return rest
}

func TestSSTDumpToolTest_HelpAndVersion(t *testing.T) {
	o := sstOptions(false)
	if r := sstDump(t, o, "--help"); r.code != 0 || !strings.HasPrefix(r.out, "sst_dump <db_dirs_OR_sst_files...> [--command=") {
		t.Errorf("--help: %+v", r)
	}
	if r := sstDump(t, o, "--", "--help"); r.code != 1 || !strings.Contains(r.err, "--help: No such file or directory\n") {
		t.Errorf("-- --help: %+v", r)
	}
	if r := sstDump(t, o, "--version"); r.code != 0 || r.out != "sst_dump (RocksDB) 11.8.1\n" {
		t.Errorf("--version: %+v", r)
	}
	if r := sstDump(t, o, "--not_an_option"); r.code != 1 || !strings.HasPrefix(r.err, "Unrecognized argument '--not_an_option'\n\n") {
		t.Errorf("--not_an_option: %+v", r)
	}
}

// rawEntries counts the entries of a raw dump's data blocks.
func rawEntries(t *testing.T, path string) int {
	t.Helper()
	data, err := os.ReadFile(path)
	check(t, err)
	_, blocks, ok := strings.Cut(string(data), "Data Block #")
	if !ok {
		t.Fatalf("no data block in %s", path)
	}
	return strings.Count(blocks, "HEX")
}

func testRaw(t *testing.T, o rocksdb.Options, wideOneIn int) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "rocksdb_sst_test.sst")
	createSST(t, o, path, wideOneIn, false)
	dump := strings.TrimSuffix(path, ".sst") + "_dump.txt"
	want := "Process " + path + "\nSst file format: block-based\nraw dump written to file " + dump + "\n"
	if got := sstDumpOK(t, o, path, "--command=raw"); got != want {
		t.Errorf("got %q\nwant %q", got, want)
	}
	if n := rawEntries(t, dump); n != sstNumKey {
		t.Errorf("%d entries", n)
	}
}

func TestSSTDumpToolTest_EmptyFilter(t *testing.T) { testRaw(t, sstOptions(false), 10) }

func TestSSTDumpToolTest_SstDumpReverseBytewiseComparator(t *testing.T) {
	o := sstOptions(true)
	o.Comparator = util.ReverseBytewiseComparator()
	testRaw(t, o, 10)
}

func TestSSTDumpToolTest_SstDumpComparatorWithU64Ts(t *testing.T) {
	o := sstOptions(true)
	o.Comparator = util.BytewiseComparatorWithU64Ts()
	testRaw(t, o, 10)
}

func TestSSTDumpToolTest_FilterBlockWideColumn(t *testing.T) { testRaw(t, sstOptions(true), 10) }

func TestSSTDumpToolTest_FilterBlock(t *testing.T) { testRaw(t, sstOptions(true), 0) }

func TestSSTDumpToolTest_RawOutput(t *testing.T) { testRaw(t, sstOptions(false), 10) }

func TestSSTDumpToolTest_GetProperties(t *testing.T) {
	o := sstOptions(true)
	path := filepath.Join(t.TempDir(), "rocksdb_sst_test.sst")
	createSST(t, o, path, 0, false)
	got := sstDumpOK(t, o, path, "--show_properties", "--show_summary")
	for _, want := range []string{"from [] to []\nTable Properties:\n------------------------------\n  # data blocks: ", "\n  # entries: 1024\n",
		"\n  filter policy name: bloomfilter\n", "\n  Raw user collected properties\n------------------------------\n  # rocksdb.",
		"\ntotal number of files: 1\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

func TestSSTDumpToolTest_ListMetaBlocks(t *testing.T) {
	o := sstOptions(true)
	path := filepath.Join(t.TempDir(), "rocksdb_sst_test.sst")
	createSST(t, o, path, 0, false)
	got := sstDumpOK(t, o, path, "--list_meta_blocks")
	if !regexp.MustCompile(`\nMeta Blocks:\n-{30}\n  fullfilter\.rocksdb\.BuiltinBloomFilter: \d+ \d+\n(  \S+: \d+ \d+\n)*  rocksdb\.properties: \d+ \d+\n`).MatchString(got) {
		t.Errorf("got %s", got)
	}
}

func TestSSTDumpToolTest_MemEnv(t *testing.T) {
	o := sstOptions(false)
	o.Env = rocksdb.NewMemEnv(rocksdb.DefaultEnv())
	createSST(t, o, "/rocksdb_sst_test.sst", 0, false)
	if got := sstDumpOK(t, o, "/rocksdb_sst_test.sst", "--command=verify"); !strings.HasSuffix(got, "The file is ok\n") {
		t.Errorf("got %q", got)
	}
	// That is no command; the file is opened all the same.
	if r := sstDump(t, o, "--command=verify_checksum", "--file=/rocksdb_sst_test.sst"); r.code != 0 ||
		r.err != "sst_dump: unknown command 'verify_checksum'\n" {
		t.Errorf("%+v", r)
	}
}

func TestSSTDumpToolTest_NoSstFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "no_such_file.sst")
	for _, arg := range []string{"--command=check", "--command=dump", "--command=raw", "--command=verify", "--command=recompress",
		"--command=verify_checksum", "--show_properties"} {
		if r := sstDump(t, sstOptions(false), arg, "--file="+path); r.code != 1 || r.err == "" {
			t.Errorf("%s: %+v", arg, r)
		}
	}
}

func TestSSTDumpToolTest_ValidSSTPath(t *testing.T) {
	o := sstOptions(false)
	dir := t.TempDir()
	missing, sst, text, fake := filepath.Join(dir, "missing.sst"), filepath.Join(dir, "rocksdb_sst_test.sst"), filepath.Join(dir, "text_file"),
		filepath.Join(dir, "fake_sst.sst")
	createSST(t, o, sst, 0, false)
	check(t, os.WriteFile(text, []byte("Hello World!"), 0o644))
	check(t, os.WriteFile(fake, []byte("Not an SST file!"), 0o644))
	for _, command := range []string{"--command=verify", "--command=identify"} {
		expect := func(want int, args ...string) {
			t.Helper()
			if r := sstDump(t, o, append([]string{command}, args...)...); r.code != want {
				t.Errorf("%s %v: %+v", command, args, r)
			}
		}
		for _, file := range []string{"--file=", ""} {
			expect(1, file+missing)
			expect(0, file+sst)
			expect(0, file+dir)
			expect(1, file+text)
			expect(1, file+fake)
		}
		// One good file is enough as long as the others are there.
		for _, good := range []string{sst, dir} {
			expect(1, missing, good)
			expect(0, sst, good)
			expect(0, dir, good)
			expect(0, text, good)
			expect(0, fake, good)
			expect(0, "--", good)
			expect(1, "--", good, missing)
			expect(0, "--", good, fake)
		}
	}
	if got := sstDumpOK(t, o, sst, "--command=identify"); !strings.HasSuffix(got, "\n"+sst+" is a valid SST file\n") {
		t.Errorf("got %q", got)
	}
	r := sstDump(t, o, "--command=identify", dir)
	if want := "------------------------------\nList of valid SST files found in " + dir + ":\n" + dir + "/rocksdb_sst_test.sst\nNumber of valid SST files: 1\n"; !strings.HasSuffix(r.out, want) {
		t.Errorf("got %q\nwant %q", r.out, want)
	}
}

func newDumper(t *testing.T, o rocksdb.Options, path string) *sstfile.SstFileDumper {
	t.Helper()
	rocksdb.RegisterBuiltins()
	var out bytes.Buffer
	d, err := sstfile.NewSstFileDumper(&sstfile.DumperOptions{Options: o, Path: path, ReadaheadSize: 1024, VerifyChecksums: true,
		Out: &out, ErrOut: &out, Silent: true})
	check(t, err)
	t.Cleanup(func() { check(t, d.Close()) })
	return d
}

func TestSSTDumpToolTest_SstFileDumperMmapReads(t *testing.T) {
	o := sstOptions(false)
	path := filepath.Join(t.TempDir(), "rocksdb_sst_test.sst")
	createSST(t, o, path, 10, false)
	var size uint64
	for _, mmap := range []bool{false, true} {
		o.AllowMmapReads = mmap
		p := newDumper(t, o, path).Properties()
		if size == 0 {
			size = p.DataSize
		}
		if p.DataSize == 0 || p.DataSize != size {
			t.Errorf("allow_mmap_reads %v: data size %d, before %d", mmap, p.DataSize, size)
		}
	}
}

func TestSSTDumpToolTest_SstFileDumperVerifyNumRecords(t *testing.T) {
	for _, rangeDel := range []bool{false, true} {
		path := filepath.Join(t.TempDir(), "rocksdb_sst_test.sst")
		createSST(t, sstOptions(false), path, 10, rangeDel)
		d := newDumper(t, sstOptions(false), path)
		check(t, d.ReadSequential(false, &sstfile.ReadRange{}))
		// A property that is wrong is a corruption, unless only a part is read.
		d.Properties().NumEntries += 2
		err := d.ReadSequential(false, &sstfile.ReadRange{})
		if !contract.IsCorruption(err) || !strings.Contains(err.Error(), "entries when excluding range deletions, but scanning the table returned") {
			t.Errorf("range deletion %v: %v", rangeDel, err)
		}
		check(t, d.ReadSequential(false, &sstfile.ReadRange{Limit: 10}))
		check(t, d.ReadSequential(false, &sstfile.ReadRange{From: []byte("k_0100")}))
		check(t, d.ReadSequential(false, &sstfile.ReadRange{To: []byte("k_0100")}))
	}
}

// TestSSTDump_Scan: ranges, hexadecimal and the internal key option.
func TestSSTDump_Scan(t *testing.T) {
	o := sstOptions(false)
	path := filepath.Join(t.TempDir(), "t.sst")
	createSST(t, o, path, 0, false)
	head := "Process " + path + "\nSst file format: block-based\n"
	line := func(i int) string {
		return fmt.Sprintf("'%X' seq:0, type:1 => %X\n", fmt.Sprintf("k_%04d", i), sstValue(i))
	}
	for _, x := range []struct{ args, want string }{
		{"--from=k_0005 --to=k_0007", head + "from [6B5F30303035] to [6B5F30303037]\n" + line(5) + line(6)},
		{"--input_key_hex --from=0x6B5F31303232", head + "from [6B5F31303232] to []\n" + line(1022) + line(1023)},
		{"--prefix=k_102 --read_num=2", head + "from [6B5F313032] to []\n" + line(1020) + line(1021)},
	} {
		if got := sstDumpOK(t, o, path, append(strings.Fields(x.args), "--command=scan", "--output_hex")...); got != x.want {
			t.Errorf("%s\n got %q\nwant %q", x.args, got, x.want)
		}
	}
	if r := sstDump(t, o, "--parse_internal_key=0x61620105000000000000"); r.code != 0 || r.out != "key='6162' seq:5, type:1\n" {
		t.Errorf("--parse_internal_key: %+v", r)
	}
	if r := sstDump(t, o, "--parse_internal_key=abc"); r.code != 255 ||
		!strings.HasPrefix(r.err, "Invalid hex input abc.  Must start with 0x\nERROR: Invalid key input 'abc'") {
		t.Errorf("--parse_internal_key: %+v", r)
	}
	// A damaged key is shown as far as it goes.
	if r := sstDump(t, o, "--parse_internal_key=0x613101000000000000"); r.code != 255 || r.out != "key='61' seq:1, type:49\n" || r.err == "" {
		t.Errorf("--parse_internal_key: %+v", r)
	}
	if r := sstDump(t, o, "--parse_internal_key=0x6131"); r.code != 255 || r.out != "key='' seq:72057594037927935, type:0\n" || r.err == "" {
		t.Errorf("--parse_internal_key: %+v", r)
	}
	// A damaged block is found.
	data, err := os.ReadFile(path)
	check(t, err)
	data[100] ^= 0xff
	check(t, os.WriteFile(path, data, 0o644))
	if r := sstDump(t, o, "--command=verify", path); r.code != 1 || !strings.Contains(r.err, path+" is corrupted: Corruption: ") {
		t.Errorf("a damaged file: %+v", r)
	}
	for _, command := range []string{"check", "scan"} {
		if r := sstDump(t, o, "--command="+command, "--verify_checksum", path); r.code != 1 || !strings.Contains(r.err, path+": Corruption: ") {
			t.Errorf("%s of a damaged file: %+v", command, r)
		}
	}
}
