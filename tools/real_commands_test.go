// No upstream twin: command lines of ldb and sst_dump as people write them, with
// what they answer.

package tools_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb"
)

// commandLine is a line run in a directory; out and err are patterns.
type commandLine struct {
	line     string
	stdin    string
	code     int
	out, err string
}

// runLines runs the lines in turn in the present directory.
func runLines(t *testing.T, lines []commandLine) {
	t.Helper()
	for _, l := range lines {
		var words []string
		for i, part := range strings.Split(l.line, `"`) {
			if i%2 == 1 {
				words = append(words, part)
			} else {
				words = append(words, strings.Fields(part)...)
			}
		}
		var r result
		if words[0] == "ldb" {
			r = run(t, l.stdin, words[1:]...)
		} else {
			r = sstDump(t, rocksdb.DefaultOptions(), words[1:]...)
		}
		if r.code != l.code {
			t.Errorf("%s: exit code %d\n%.600s%s", l.line, r.code, r.out, r.err)
		}
		if !regexp.MustCompile(l.out).MatchString(r.out) {
			t.Errorf("%s\nprinted  %.900q\nnot      %q", l.line, r.out, l.out)
		}
		if l.err != "" && !regexp.MustCompile(l.err).MatchString(r.err) || l.err == "" && l.code == 0 && r.err != "" {
			t.Errorf("%s\ncomplained %.600q\nnot        %q", l.line, r.err, l.err)
		}
	}
}

func TestRealCommandLines(t *testing.T) {
	t.Chdir(t.TempDir())
	runLines(t, []commandLine{
		{line: "ldb --db=test_db --create_if_missing put a1 b1", out: `^OK\n$`},
		{line: "ldb --db=test_db get a1", out: `^b1\n$`},
		{line: "ldb --db=test_db get a2", out: `^Key not found\n$`},
		{line: "ldb --db=test_db scan --hex", out: `^0x6131 ==> 0x6231\n$`},
		{line: "ldb --db=test_db put --key_hex 0x6132 b2", out: `^OK\n$`},
		{line: "ldb --db=test_db get --value_hex a2", out: `^0x6232\n$`},
		{line: "ldb --db=test_db batchput a3 b3 a4 b4", out: `^OK\n$`},
		{line: `ldb --db=test_db batchput "multiple words key" "multiple words value"`, out: `^OK\n$`},
		{line: "ldb --db=test_db --try_load_options get a1", out: `^b1\n$`},
		{line: "ldb --db=test_db --try_load_options --ignore_unknown_options get a1", out: `^b1\n$`},
		{line: "ldb --db=test_db scan --from=a3 --max_keys=1", out: `^a3 ==> b3\n$`},
		{line: "ldb scan --db=test_db/ --try_load_options", out: `^a1 ==> b1\n(?s:.*)multiple words key ==> multiple words value\n$`},
		{line: "ldb --db=test_db list_column_families", out: `^Column families in test_db: \n\{default\}\n$`},
		{line: "ldb --db=test_db --column_family=default --hex dump", out: `^0x6131 ==> 0x6231\n(?s:.*)Keys in range: 5\n$`},
		{line: "ldb --db=test_db --column_family=1 --hex dump", code: 1, err: `^Failed: Non-existing column family 1\n$`},
		{line: "ldb --db=test_db idump", out: `^'a1' seq:1, type:1 => b1\n(?s:.*)Internal keys in range: 5\n$`},
		{line: "ldb --db=test_db --try_load_options --ignore_unknown_options idump --count_only", out: `^Internal keys in range: 5\n$`},
		{line: "ldb --db=test_db compact", out: `^$`},
		{line: "ldb --db=test_db dump_live_files", out: `^Manifest File\n={30}\ntest_db/MANIFEST-\d{6}\n(?s:.*)SST Files\n(?s:.*)Write Ahead Log Files\n`},
		{line: "ldb --db=test_db --hex multi_get 0x6131 0x7A", out: `^0x6131 ==> 0x6231\nKey not found: 0x7A\n$`},
		{line: "ldb --db=test_db put_entity a1 :z1 b1:c1 b2:f1", out: `^OK\n$`},
		{line: "ldb --db=test_db get_entity a1", out: `^:z1 b1:c1 b2:f1\n$`},
		{line: "ldb --db=test_db put_entity x4 x5", code: 1, err: `wide column format needs to be <column_name>:<column_value>`},
		{line: "ldb --db=test_db put_entity 0x7834 0x6234:0x6635 --hex", out: `^OK\n$`},
		{line: "ldb --db=test_db get_entity 0x7834 --key_hex", out: `^b4:f5\n$`},
		{line: "ldb --db=test_db get_property rocksdb.aggregated-table-properties", out: `^rocksdb\.aggregated-table-properties\.`},
		{line: "ldb --db=test_db get_property rocksdb.block-cache-entry-stats", out: `^rocksdb\.block-cache-entry-stats\.`},
		{line: "ldb file_checksum_dump --hex --db=test_db", out: `Print SST file checksum information finished \n$`},
		{line: "ldb --db=test_db list_live_files_metadata --sort_by_filename", out: `^Live SST and Blob Files:\n(?s:.*)\.sst : level \d, column family 'default'\n`},
		{line: "ldb list_live_files_metadata --db=test_db --try_load_options=false", out: `^===== Column Family: default =====\nLive SST Files:\n`},
		{line: "ldb --db=test_db manifest_dump", out: `^-+ Column family "default"  \(ID 0\) -+\n`},
		{line: "ldb --db=test_db --hex manifest_dump --verbose", out: `^Processing Manifest file test_db/MANIFEST-\d{6}\n`},
		{line: "ldb --db=test_db update_manifest --update_temperatures", out: `^$`, err: `^Manifest updates successful\n$`},
		{line: "ldb --db=test_db --hex manifest_dump --sst_file_number=7", code: 1, err: `^Invalid command-line option sst_file_number\n$`},
		{line: "ldb backup --fs_uri=zenfs://dev:nvme2n1 --backup_fs_uri=posix:// --backup_dir=backup --db=test_db", code: 1, err: `^Failed: `},
	})
	sst, err := filepath.Glob("test_db/*.sst")
	if err != nil || len(sst) == 0 {
		t.Fatal(sst, err)
	}
	table := sst[0]
	manifest, _ := filepath.Glob("test_db/MANIFEST-*")
	const head = `^options\.env is 0x[0-9a-f]+\n(Process |from )?(?s:.*)`
	runLines(t, []commandLine{
		{line: "ldb dump --path=" + table + " --from=a1 --to=a3", out: `'a1'(?s:.*)'a2'`},
		{line: "ldb manifest_dump --path=" + manifest[0] + " --verbose", out: `^Processing Manifest file ` + manifest[0] + `\n`},
		{line: "ldb manifest_dump --hex --verbose --json --path=" + manifest[0], out: `\{"EditNumber": \d+`},
		{line: "sst_dump --show_properties --file=" + table, out: head + `Table Properties:\n-+\n`},
		{line: "sst_dump --command=scan --file=" + table + " --read_num=1 --output_hex", out: head + `'6131' seq:\d+, type:1 => 6231\n$`},
		{line: "sst_dump --file=" + table + " --command=scan --output_hex", out: head + `'6134' seq:\d+, type:1 => 6234\n`},
		{line: "sst_dump --command=raw --show_properties --file=" + table, out: head + `raw dump written to file test_db/\d+_dump\.txt\n$`},
		{line: "sst_dump --file=" + table + "  --command=raw --show_sequence_number_type", out: head + `raw dump written to file`},
		{line: "sst_dump --command=recompress --compression_types=kLZ4Compression " + table, out: head + `Compression: kLZ4Compression +Block Size: 16384  Threads: 1\nCx level: 32767 Cx size: `},
		{line: "sst_dump --command=recompress --compression_parallel_threads=2 --block_size=16384 --compression_types=kLZ4Compression --verify_compression=1 " + table,
			out: head + `Compression: kLZ4Compression +Block Size: 16384  Threads: 2\n`},
		{line: "sst_dump --command=verify --file=" + table, out: head + `The file is ok\n$`},
	})
	runLines(t, []commandLine{
		{line: "ldb --db=test_db_new load --hex --compression_type=bzip2 --block_size=65536 --create_if_missing --disable_wal",
			stdin: "0x6131 ==> 0x6231\n0x6132 ==> 0x6232\nKeys in range: 2\n", out: `^$`},
		{line: "ldb --db=test_db_new scan", out: `^a1 ==> b1\na2 ==> b2\n$`},
		{line: "ldb --db=logged --create_if_missing put foo bar", out: `^OK\n$`},
	})
	runLines(t, []commandLine{ // facebook/rocksdb#6245
		{line: "ldb put k a --create_if_missing --db=./tmp", out: `^OK\n$`},
		{line: "ldb put k a --create_if_missing --db=./tmp", out: `^OK\n$`},
		{line: "ldb write_extern_sst ./tmp.sst --db=./tmp/", stdin: "k ==> b\n", out: `^$`, err: `^external SST file written to \./tmp\.sst\n$`},
		{line: "ldb ingest_extern_sst ./tmp.sst --db=./tmp", out: `^$`, err: `^external SST files ingested\n$`},
		{line: "ldb get k --db=./tmp", out: `^b\n$`},
		{line: "ldb idump ./tmp.sst --db=./tmp", out: `^'k' seq:3, type:1 => b\n'k' seq:2, type:1 => a\n'k' seq:1, type:1 => a\nInternal keys in range: 3\n$`},
		{line: "ldb manifest_dump --db=./tmp", out: `(?m)^--- level 0 --- version# 1 ---\n \d+:\d+\[3 \.\. 3\]\['k' seq:3, type:1 \.\. 'k' seq:3, type:1\]\n`},
		{line: "ldb scan --max_keys=10 --db=test_db --secondary_path=secondary --no_value --hex", out: `^0x6131\n0x6132\n0x6133\n0x6134\n0x6D75[0-9A-F]+\n0x7834\n$`},
		{line: "ldb get 0x6132 --hex --db=test_db --secondary_path=secondary", out: `^0x6232\n$`},
		{line: "ldb --db=test_db scan --from=q=3 --max_keys=1", out: `^x4 ==> b4:f5\n$`},
		{line: "ldb --db=test_db multi_get_entity 0x6131 --key_hex --value_hex", out: `^0x6131 ==> :0x7A31 0x6231:0x6331 0x6232:0x6631\n$`},
		{line: "ldb --db=test_db multi_get_entity 0x00000000000000950000000000000120 --key_hex --column_family=7 --read_timestamp=1115613683797942 --value_hex",
			code: 1, err: `^Failed: Non-existing column family 7\n$`},
		{line: "ldb --db=test_db get_property rocksdb.aggregated-table-properties-at-level1", out: `(?m)^rocksdb\.aggregated-table-properties-at-level1\.num_entries: 0$`},
		{line: "ldb update_manifest --update_temperatures", code: 1, err: `Failed: failed to update manifest: IO error: No such file or directory: `},
		{line: "ldb write_extern_sst ./copy.sst --db=copied --compression_type=no --hex --create_if_missing", stdin: "0x61 ==> 0x31\n0x62 ==> 0x32\n",
			err: `^external SST file written to \./copy\.sst\n$`},
		{line: "sst_dump --file=copy.sst", out: `Sst file format: block-based\nfrom \[\] to \[\]\n$`},
		{line: "ldb write_extern_sst ./part.sst --db=copied --from=b --to=c", stdin: "a ==> 1\nb ==> 2\nc ==> 3\n",
			err: `^external SST file written to \./part\.sst\n$`},
		{line: "sst_dump --file=part.sst --command=scan", out: `from \[\] to \[\]\n'b' seq:0, type:1 => 2\n$`},
		{line: "sst_dump --command=recompress --compression_types=kLZ4Compression", code: 1, err: `^file or directory must be specified\.\n`},
		{line: "sst_dump --file=copy.sst --command=recompress --compression_level_from=6 --compression_level_to=6 --compression_types=kZSTD " +
			"--compression_max_dict_bytes=1024 --compression_zstd_max_train_bytes=4096 --compression_use_zstd_finalize_dict",
			out: `Compression: kZSTD +Block Size: 16384  Threads: 1\nCx level: 6 Cx size: `},
		{line: "sst_dump --file=write_example --command=scan --show_properties --verify_checksum", code: 1,
			err: `^NotFound: write_example: No such file or directory\n$`},
	})
	logs, _ := filepath.Glob("logged/*.log")
	if len(logs) > 0 {
		if info, err := os.Stat(logs[0]); err == nil && info.Size() > 0 {
			runLines(t, []commandLine{
				{line: "ldb --walfile=" + logs[0] + " dump_wal  --print_value", out: `^1,1,\d+,0,PUT\(0\) : 0x666F6F : 0x626172 \n`},
				{line: "ldb --walfile=" + logs[0] + " dump_wal  --db=logged --print_value", out: `PUT\(0\) : 0x666F6F : 0x626172 \n$`},
				{line: "ldb dump_wal --walfile=" + logs[0] + " --print_value --header", out: `^Sequence,Count,ByteSize,Physical Offset,Key\(s\) : value \n`},
			})
		}
	}
}

// TestMistakenCommandLines: what Debian's ldb answers to arguments that are
// wrong, with its exit code.
func TestMistakenCommandLines(t *testing.T) {
	t.Chdir(t.TempDir())
	runLines(t, []commandLine{
		{line: "ldb --db=db --create_if_missing batchput a1 b1 a2 b2 zz yy", out: `^OK\n$`},
		{line: "ldb --db=db create_column_family cf2", out: `^OK\n$`},
		{line: "ldb --db=db --column_family=cf2 put x y", out: `^OK\n$`},
		{line: "ldb --db=db get", code: 1, err: `^Failed: <key> must be specified for the get command\n$`},
		{line: "ldb --db=db put k", code: 1, err: `^Failed: <key> and <value> must be specified for the put command\n$`},
		{line: "ldb --db=db batchput", code: 1, err: `^Failed: At least one <key> <value> pair must be specified batchput\.\n$`},
		{line: "ldb --db=db batchput a b c", code: 1, err: `^Failed: Equal number of <key>s and <value>s must be specified for batchput\.\n$`},
		{line: "ldb --db=db delete", code: 1, err: `^Failed: KEY must be specified for the delete command\n$`},
		{line: "ldb --db=db deleterange a1", code: 1, err: `^Failed: begin and end keys must be specified for the delete command\n$`},
		{line: "ldb --db=db approxsize", code: 1, err: `^Failed: from must be specified for approxsize command\n$`},
		{line: "ldb --db=db approxsize --from=a1", code: 1, err: `^Failed: to must be specified for approxsize command\n$`},
		{line: "ldb --db=db scan --max_keys=x", code: 1, err: `^Failed: max_keys has an invalid value\n$`},
		{line: "ldb --db=db scan --column_family=nope", code: 1, err: `^Failed: Non-existing column family nope\n$`},
		{line: "ldb --db=db drop_column_family default", code: 1, err: `^Failed: Fail to drop column family: Invalid argument: Can't drop default column family\n$`},
		{line: "ldb --db=db reduce_levels --new_levels=3", code: 1, err: `^Failed: Invalid argument: Column families not opened: cf2\n$`},
		{line: "ldb --db=db reduce_levels", code: 1, err: `^Failed:  Use --new_levels to specify a new level number\n`},
		{line: "ldb --db=db get a1 --env_uri=a --fs_uri=b", code: 1, err: `Failed: Invalid argument: cannot specify both fs_uri and env_uri\n$`},
		{line: "ldb --db=db get a1 --fs_uri=b", code: 1, err: `^Not implemented: Could not load FileSystem: b\nFailed: Not implemented: Could not load FileSystem: b\n$`},
		{line: "sst_dump --file=db --env_uri=a --fs_uri=b", code: 1, err: `^CreateEnvFromUri: Invalid argument: cannot specify both fs_uri and env_uri\n$`},
		{line: "ldb --db=db get a1 --leader_path=sec", code: 1, err: `^Failed: Not implemented: --leader_path\n$`},
		{line: "ldb --db=db unsafe_remove_sst_file x", code: 1, err: `^Failed: Failed to parse SST file number x\n$`},
		{line: "ldb --db=db checkpoint", code: 1, err: `^Failed: Invalid argument: invalid checkpoint directory name\n$`},
		{line: "ldb --db=db get a1 --block_size=-1", code: 1, err: `^Failed: block_size must be > 0\.\n$`},
		{line: "ldb --db=db get a1 --compression_type=zzz", code: 1, err: `^Failed: Unknown compression algorithm: zzz\n$`},
	})
}

// TestRealOptionsFiles: OPTIONS files as people write them by hand, or as other
// programs do.
func TestRealOptionsFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, c := range map[string]struct {
		text, want string // what ldb prints, or complains of
	}{
		"short": {"[DBOptions]\n max_open_files= 500\n[CFOptions \"default\"]\n level0_file_num_compaction_trigger= 0\n", `^v\n$`},
		"comments after values": {"# by hand\n[Version]\nrocksdb_version=10.7.0\noptions_file_version=1.1\n" +
			"[DBOptions]\n# IO\nbytes_per_sync=1048576              # 1 MiB\nenable_pipelined_write=true         # DBOptions::enable_pipelined_write\n" +
			"[CFOptions \"default\"]\nmax_bytes_for_level_base=2684354560     # ~2.5 GiB\nbottommost_compression=kZSTD\n" +
			"[TableOptions/BlockBasedTable \"default\"]\nblock_size=65536                        # 64 KiB blocks (adjust per workload)\n" +
			"filter_policy=rocksdb.BuiltinBloomFilter\n", `^v\n$`},
		"a prefix extractor of another program": {"[Version]\nrocksdb_version=11.0.0\noptions_file_version=1.1\n[DBOptions]\n" +
			"[CFOptions \"default\"]\nprefix_extractor=surrealdb.TablePrefix.v1\n", `^v\n$`},
		"a secondary cache of another program": {"[Version]\nrocksdb_version=9.1.1\noptions_file_version=1.1\n[DBOptions]\n[CFOptions \"default\"]\n" +
			"[TableOptions/BlockBasedTable \"default\"]\nblock_cache={capacity=1048576;num_shard_bits=4;secondary_cache={id=CacheLibSecondaryCache;truncate=false}}\n",
			`^Failed: Invalid argument: .*Unrecognized option: \.secondary_cache\nThis tool was built with version `},
		"an older version's unknown option": {"[Version]\nrocksdb_version=4.3.1\noptions_file_version=1.1\n[DBOptions]\nno_such=1\n[CFOptions \"default\"]\n",
			`^Failed: Invalid argument: Extra option not recognized: no_such\nThis tool was built with version `},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			runLines(t, []commandLine{{line: "ldb --db=" + dir + " --create_if_missing put k v", out: `^OK\n$`}})
			files, err := filepath.Glob(dir + "/OPTIONS-*")
			if err != nil || len(files) == 0 {
				t.Fatal(files, err)
			}
			check(t, os.WriteFile(files[len(files)-1], []byte(c.text), 0o644))
			r := run(t, "", "--db="+dir, "--try_load_options", "get", "k")
			if got := r.out + r.err; !regexp.MustCompile(c.want).MatchString(got) {
				t.Errorf("%q, not %q", got, c.want)
			}
		})
	}
}
