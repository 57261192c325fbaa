// No upstream twin: public reports about the tools, each with the outcome that
// is right. Their ids stand in the names of the cases.

package tools_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	contract "github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/table/plain"
	"github.com/rocksdb-go/rocksdb/util"
)

// onlyTable is the path of a database's only table.
func onlyTable(t *testing.T, dir string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.sst"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	return files[0]
}

// fieldDB makes a database of one table and gives its directory.
func fieldDB(t *testing.T, change func(o *rocksdb.Options), fill func(x *rocksdb.DB)) string {
	t.Helper()
	o := rocksdb.DefaultOptions()
	o.CreateIfMissing = true
	if change != nil {
		change(&o)
	}
	dir := filepath.Join(t.TempDir(), "db")
	x := open(t, dir, o)
	fill(x)
	check(t, x.Flush(nil))
	check(t, x.Close())
	return dir
}

// Tools that read no values do not need blob files.
func TestFieldBlobReferences(t *testing.T) { // cockroachdb/pebble@2fc75dfa8
	root := t.TempDir()
	unpack(t, "../testdata/blob_files.tar.zst", root)
	dir := filepath.Join(root, "rocksdb-11.8.1", "blob_files", "db")
	table := onlyTable(t, dir)
	blobs, _ := filepath.Glob(dir + "/*.blob")
	if len(blobs) != 1 {
		t.Fatal(blobs)
	}
	o := rocksdb.DefaultOptions()
	for _, there := range []bool{true, false} {
		if !there {
			check(t, os.Remove(blobs[0]))
		}
		if out := sstDumpOK(t, o, table, "--command=check"); strings.Count(out, "\n") != 3 {
			t.Errorf("check: %q", out)
		}
		if out := sstDumpOK(t, o, table, "--command=check", "--verify_checksum"); strings.Count(out, "\n") != 3 {
			t.Errorf("check: %q", out)
		}
		if out := sstDumpOK(t, o, table, "--command=verify"); !strings.HasSuffix(out, "The file is ok\n") {
			t.Errorf("verify: %q", out)
		}
		if out := sstDumpOK(t, o, table, "--command=scan", "--output_hex"); !strings.Contains(out, ", type:17 => ") {
			t.Errorf("scan: %.300q", out)
		}
		out := sstDumpOK(t, o, table, "--command=scan", "--decode_blob_index")
		if !regexp.MustCompile(`type:17 => \[blob ref\] file:10 offset:\d+ size:60 compression: NoCompression`).MatchString(out) {
			t.Errorf("scan: %.300q", out)
		}
		if out := sstDumpOK(t, o, table, "--command=raw"); !strings.HasSuffix(out, "raw dump written to file "+strings.TrimSuffix(table, ".sst")+"_dump.txt\n") {
			t.Errorf("raw: %q", out)
		}
		if there {
			if r := sstDump(t, o, "--command=scan", "--file="+blobs[0]); r.code != 1 || r.err != blobs[0]+" is not a valid SST file\n" {
				t.Errorf("a blob file: %+v", r)
			}
		}
	}
}

func TestFieldNewerOptions(t *testing.T) { // facebook/rocksdb#10111
	c := newLDBTestCase(t)
	c.ok("put key000001 val1 --create_if_missing", "OK")
	options := c.files("OPTIONS-*")
	path := options[len(options)-1]
	old, err := os.ReadFile(path)
	check(t, err)
	set := func(version string) {
		text := regexp.MustCompile(`rocksdb_version=\S+`).ReplaceAllString(string(old), "rocksdb_version="+version)
		check(t, os.WriteFile(path, []byte(strings.Replace(text, "[DBOptions]\n", "[DBOptions]\n  brand_new_option=7\n", 1)), 0o644))
	}
	set("99.9.9")
	const failed = "Failed: Invalid argument: Extra option not recognized: brand_new_option\n"
	r := run(t, "", "--db="+c.db, "get", "key000001")
	if r.code != 1 || !strings.HasPrefix(r.err, failed) || !strings.Contains(r.err, "This tool was built with version 11.8.1") || !strings.Contains(r.err, "--ignore_unknown_options") {
		t.Errorf("%+v", r)
	}
	c.ok("get key000001 --ignore_unknown_options", "val1")
	c.ok("get key000001 --try_load_options=false", "val1")
	set("11.8.1") // then the option can be of no later version
	c.fails("get key000001 --ignore_unknown_options", failed)
}

func TestFieldRangesWithTimestamps(t *testing.T) { // facebook/rocksdb#11757
	dir := fieldDB(t, func(o *rocksdb.Options) { o.Comparator = util.BytewiseComparatorWithU64Ts() }, func(x *rocksdb.DB) {
		for _, k := range []string{"a", "b", "c", "d"} {
			for ts := uint64(1); ts <= 2; ts++ {
				b := rocksdb.NewWriteBatch()
				check(t, b.PutWithTimestamp(x, []byte(k), util.EncodeU64Ts(ts), fmt.Appendf(nil, "%s%d", k, ts)))
				check(t, x.Write(nil, b))
			}
		}
	})
	table := onlyTable(t, dir)
	for _, c := range []struct{ args, want string }{
		{"--from=b --to=c", "b2 b1"},
		{"--from=b", "b2 b1 c2 c1 d2 d1"},
		{"--to=b", "a2 a1"},
		{"--prefix=b", "b2 b1"},
		{"--read_num=3", "a2 a1 b2"},
		{"--from=0x62 --to=0x63 --input_key_hex", "b2 b1"},
	} {
		out := sstDumpOK(t, rocksdb.DefaultOptions(), table, append(strings.Fields(c.args), "--command=scan")...)
		var got []string
		for _, m := range regexp.MustCompile(`(?m)^'(.)\|timestamp:(\d)' seq:\d+, type:1 => (..)$`).FindAllStringSubmatch(out, -1) {
			if m[1]+m[2] != m[3] {
				t.Errorf("%q", m[0])
			}
			got = append(got, m[3])
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %v, not %s\n%s", c.args, got, c.want, out)
		}
	}
}

func TestFieldPlainTable(t *testing.T) { // facebook/rocksdb#12223
	dir := fieldDB(t, func(o *rocksdb.Options) {
		p := rocksdb.DefaultPlainTableOptions()
		o.TableFactory = plain.NewPlainTableFactory(&p)
		o.PrefixExtractor = rocksdb.NewFixedPrefixTransform(2)
		o.AllowMmapReads = true
	}, func(x *rocksdb.DB) { put(t, x.ColumnFamily, "aa1", "1", "aa2", "2", "bb1", "3") })
	table, o := onlyTable(t, dir), rocksdb.DefaultOptions()
	out := sstDumpOK(t, o, table, "--command=scan", "--show_properties", "--verify_checksum")
	if !strings.Contains(out, "Sst file format: plain table\n") || !strings.Contains(out, "'aa1' seq:1, type:1 => 1\n'aa2' seq:2, type:1 => 2\n'bb1' seq:3, type:1 => 3\n") ||
		!strings.Contains(out, "# entries: 3\n") {
		t.Errorf("scan: %s", out)
	}
	sstDumpOK(t, o, table, "--command=check")
	if r := sstDump(t, o, "--command=verify", "--file="+table); r.code != 0 || r.err != table+" is corrupted: Not implemented: VerifyChecksum() not supported\n" {
		t.Errorf("verify: %+v", r)
	}
	if r := sstDump(t, o, "--command=raw", "--file="+table); r.code != 1 || r.err != table+": Not implemented: DumpTable() not supported\n" {
		t.Errorf("raw: %+v", r)
	}
	if out := sstDumpOK(t, o, table, "--command=identify"); !strings.HasSuffix(out, table+" is a valid SST file\n") {
		t.Errorf("identify: %s", out)
	}
}

func TestFieldEntryCount(t *testing.T) { // facebook/rocksdb#12322; a damaged file makes the exit code 1
	dir := fieldDB(t, func(o *rocksdb.Options) {
		b := rocksdb.DefaultBlockBasedTableOptions()
		b.Checksum = rocksdb.NoChecksum
		o.TableFactory = rocksdb.NewBlockBasedTableFactory(b)
	}, func(x *rocksdb.DB) {
		for i := range 5 {
			put(t, x.ColumnFamily, fmt.Sprint("k", i), "v")
		}
	})
	table, o := onlyTable(t, dir), rocksdb.DefaultOptions()
	data, err := os.ReadFile(table)
	check(t, err)
	at := bytes.Index(data, []byte("entries\x05"))
	if at < 0 {
		t.Fatal("no such property")
	}
	data[at+len("entries")] = 6
	check(t, os.WriteFile(table, data, 0o644))
	message := table + ": Corruption: Table property expects 6 entries when excluding range deletions, but scanning the table returned 5 entries"
	for _, command := range []string{"check", "scan"} {
		if r := sstDump(t, o, "--command="+command, "--file="+table); r.code != 1 || !strings.HasPrefix(r.err, message) {
			t.Errorf("%s: %+v", command, r)
		}
	}
	for _, arg := range []string{"--read_num=10", "--from=k0"} {
		sstDumpOK(t, o, table, "--command=check", arg)
	}
	if out := sstDumpOK(t, o, table, "--command=verify"); !strings.HasSuffix(out, "The file is ok\n") {
		t.Errorf("verify: %s", out)
	}
}

func TestFieldManifestDumpJSON(t *testing.T) { // facebook/rocksdb#12703
	dir := fieldDB(t, nil, func(x *rocksdb.DB) {
		for i := range 20 {
			put(t, x.ColumnFamily, fmt.Sprintf("key%06d", i), "v")
		}
	})
	manifests, _ := filepath.Glob(dir + "/MANIFEST-*")
	if len(manifests) != 1 {
		t.Fatal(manifests)
	}
	for _, verbose := range []bool{false, true} {
		args := []string{"manifest_dump", "--path=" + manifests[0], "--json"}
		if verbose {
			args = append(args, "--verbose")
		}
		r := run(t, "", args...)
		edits := 0
		keys := map[string]bool{}
		for line := range strings.Lines(r.out) {
			if !strings.HasPrefix(line, "{") {
				continue
			}
			var edit struct {
				EditNumber int
				AddedFiles []map[string]any
			}
			check(t, json.Unmarshal([]byte(line), &edit))
			if edit.EditNumber != edits {
				t.Errorf("edit %d has number %d", edits, edit.EditNumber)
			}
			edits++
			for _, f := range edit.AddedFiles {
				for k := range f {
					keys[k] = true
				}
				if f["Level"] != 0.0 || f["SmallestIKey"] != "'key000000' seq:1, type:1" || f["LargestIKey"] != "'key000019' seq:20, type:1" {
					t.Errorf("added %v", f)
				}
			}
		}
		got := strings.Join(slices.Sorted(maps.Keys(keys)), " ")
		if want := "EpochNumber FileChecksum FileChecksumFuncName FileCreationTime FileNumber FileSize LargestIKey Level OldestAncesterTime " +
			"SmallestIKey TailSize UserDefinedTimestampsPersisted"; got != want {
			t.Errorf("added files have %s", got)
		}
		if r.code != 0 || edits < 4 || !strings.Contains(r.out, "--------------- Column family \"default\"") {
			t.Errorf("%+v", r)
		}
		if verbose != strings.Contains(r.out, "Processing Manifest file "+manifests[0]) {
			t.Errorf("%+v", r)
		}
	}
}

func TestFieldIteratorErrors(t *testing.T) { // facebook/rocksdb#14422; idump, too, tells of the damage
	dir := fieldDB(t, func(o *rocksdb.Options) {
		b := rocksdb.DefaultBlockBasedTableOptions()
		b.BlockSize = 256
		o.TableFactory = rocksdb.NewBlockBasedTableFactory(b)
		o.Compression = rocksdb.NoCompression
	}, func(x *rocksdb.DB) {
		for i := range 100 {
			put(t, x.ColumnFamily, fmt.Sprintf("key%06d", i), fmt.Sprintf("val%d", i))
		}
	})
	table := onlyTable(t, dir)
	data, err := os.ReadFile(table)
	check(t, err)
	data[1000] ^= 0xff
	check(t, os.WriteFile(table, data, 0o644))
	for _, c := range []struct{ command, last, err string }{
		{"dump", "Keys in range: %d", "Failed: Iterator error: Corruption: block checksum mismatch"},
		{"dump --count_only", "Keys in range: %d", "Failed: Iterator error: Corruption: block checksum mismatch"},
		{"scan", "", "Failed: Corruption: block checksum mismatch"},
		{"idump", "", "Failed: Corruption: block checksum mismatch"},
	} {
		r := run(t, "", append(strings.Fields(c.command), "--db="+dir)...)
		n := strings.Count(r.out, "key0")
		if r.code != 1 || !strings.HasPrefix(r.err, c.err) {
			t.Errorf("%s: %d %q", c.command, r.code, r.err)
		}
		if c.command != "dump --count_only" && (n < 20 || n > 60) {
			t.Errorf("%s: %d keys", c.command, n)
		}
		if c.last != "" && c.command == "dump" && !strings.Contains(r.out, fmt.Sprintf(c.last, n)) {
			t.Errorf("%s: %s", c.command, r.out)
		}
	}
	if r := run(t, "", "dump", "--path="+table); r.code != 0 || strings.Count(r.out, "'key0") != 100 {
		t.Errorf("a table without its checksums: %d, %d keys, %q", r.code, strings.Count(r.out, "'key0"), r.err)
	}
}

func TestFieldRawDump(t *testing.T) { // facebook/rocksdb#624
	dir := fieldDB(t, func(o *rocksdb.Options) { o.MergeOperator = rocksdb.NewStringAppendOperator(",") }, func(x *rocksdb.DB) {
		put(t, x.ColumnFamily, "", "emptykey", "a", "")
		s := x.GetSnapshot()
		put(t, x.ColumnFamily, "a", "2", "\x00", "nul")
		check(t, x.Merge(nil, []byte("m"), []byte("x")))
		check(t, x.Merge(nil, []byte("m"), []byte("y")))
		check(t, x.Delete(nil, []byte("d")))
		check(t, x.SingleDelete(nil, []byte("sd")))
		check(t, x.DeleteRange(nil, []byte("p"), []byte("q")))
		put(t, x.ColumnFamily, "new\nline", "v")
		b := rocksdb.NewWriteBatch()
		check(t, b.PutEntityCF(x, []byte("we"), contract.WideColumns{{Name: nil, Value: []byte("d")}, {Name: []byte("c"), Value: []byte("v")}}))
		check(t, x.Write(nil, b))
		check(t, x.Flush(nil))
		check(t, x.ReleaseSnapshot(s))
	})
	table, o := onlyTable(t, dir), rocksdb.DefaultOptions()
	dump := strings.TrimSuffix(table, ".sst") + "_dump.txt"
	for _, types := range []bool{false, true} {
		args := []string{"--command=raw"}
		if types {
			args = append(args, "--show_sequence_number_type")
		}
		if out := sstDumpOK(t, o, table, args...); !strings.HasSuffix(out, "raw dump written to file "+dump+"\n") {
			t.Errorf("%s", out)
		}
		data, err := os.ReadFile(dump)
		check(t, err)
		text := string(data)
		for _, want := range []string{"Range deletions:", "ASCII  p : q \n", "HEX    70: 71\n", "HEX    00: 6E756C\n", "HEX    6D: 782C79\n",
			"HEX    6E65770A6C696E65: 76\n", "HEX    : 656D7074796B6579\n"} {
			if types {
				want = regexp.MustCompile(`^(HEX    \w*): `).ReplaceAllString(want, "$1  seq: N  type: T : ")
			}
			if !strings.Contains(regexp.MustCompile(`seq: \d+  type: \d+`).ReplaceAllString(text, "seq: N  type: T"), want) {
				t.Errorf("no %q in\n%s", want, text)
			}
		}
		for _, typ := range []string{"1", "2", "0", "7", "15", "22"} {
			if types != regexp.MustCompile(`seq: \d+  type: `+typ+`\b`).MatchString(text) {
				t.Errorf("type %s: %t\n%s", typ, !types, text)
			}
		}
	}
}

func TestFieldOptionsOfAFamily(t *testing.T) { // facebook/rocksdb#7847
	o := rocksdb.DefaultOptions()
	o.CreateIfMissing = true
	dir := filepath.Join(t.TempDir(), "db")
	x := open(t, dir, o)
	f := o.ColumnFamilyOptions
	f.Comparator = rocksdb.ReverseBytewiseComparator()
	f.MergeOperator = rocksdb.NewStringAppendOperator(",")
	f.WriteBufferSize = 1234567
	f.PrefixExtractor = rocksdb.NewFixedPrefixTransform(2)
	f.NumLevels = 5
	cf, err := x.CreateColumnFamily(f, "cf")
	check(t, err)
	put(t, cf, "a", "1", "b", "2")
	check(t, cf.Merge(nil, []byte("b"), []byte("3")))
	check(t, cf.Close())
	check(t, x.Close())
	c := &ldbTestCase{t, filepath.Dir(dir), dir}
	const of = " --try_load_options --column_family=cf"
	c.ok("scan"+of, "b ==> 2,3\na ==> 1")
	c.ok("get b"+of, "2,3")
	c.ok("put c x"+of, "OK")
	c.ok("scan"+of, "c ==> x\nb ==> 2,3\na ==> 1")
	c.fails("scan --column_family=cf --try_load_options=false",
		"Failed: Invalid argument: leveldb.BytewiseComparator: does not match existing comparator rocksdb.ReverseBytewiseComparator\n")
	c.ok("put e y --write_buffer_size=7654321"+of, "OK")
	cfg := rocksdb.DefaultConfigOptions()
	_, families, err := rocksdb.LoadLatestOptions(&cfg, dir, nil)
	check(t, err)
	if len(families) != 2 || families[0].Options.WriteBufferSize != 67108864 {
		t.Fatalf("%+v", families)
	}
	got := families[1].Options
	if got.WriteBufferSize != 7654321 || got.Comparator.Name() != f.Comparator.Name() || got.MergeOperator.Name() != f.MergeOperator.Name() ||
		got.PrefixExtractor == nil || got.NumLevels != 5 {
		t.Errorf("%+v", got)
	}
	c.fails("scan --try_load_options --column_family=nope", "Failed: Non-existing column family nope\n")
}

func TestFieldNewlines(t *testing.T) { // facebook/rocksdb#938
	dir := fieldDB(t, nil, func(x *rocksdb.DB) {
		put(t, x.ColumnFamily, "a\nb", "x\ny", "c", "1", "d\x00e", "1")
	})
	c := &ldbTestCase{t, filepath.Dir(dir), dir}
	c.ok("scan --no_value --hex", "0x610A62\n0x63\n0x640065")
	if r := run(t, "", "scan", "--no_value", "--db="+dir); strings.Count(r.out, "\n") != 4 {
		t.Errorf("%+v", r)
	}
	c.ok("scan --hex", "0x610A62 ==> 0x780A79\n0x63 ==> 0x31\n0x640065 ==> 0x31")
	c.matches("dump --count_only", `^Keys in range: 3\n`)
}
