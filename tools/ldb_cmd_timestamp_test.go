// No upstream twin: ldb on families whose keys have user-defined timestamps,
// with the texts of tools/ldb_cmd.cc.

package tools_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb"
)

// timestampedDB makes a database of which the default family has timestamps,
// and "plain" has not; one log has it all.
func timestampedDB(t *testing.T) *ldbTestCase {
	t.Helper()
	c := newLDBTestCase(t)
	o := rocksdb.DefaultDBOptions()
	o.CreateIfMissing, o.CreateMissingColumnFamilies, o.AvoidFlushDuringRecovery = true, true, true
	stamped := rocksdb.DefaultColumnFamilyOptions()
	stamped.Comparator = rocksdb.BytewiseComparatorWithU64Ts()
	x, families, err := rocksdb.OpenColumnFamilies(c.db, o, []rocksdb.ColumnFamilyDescriptor{
		{Name: rocksdb.DefaultColumnFamilyName, Options: stamped},
		{Name: "plain", Options: rocksdb.DefaultColumnFamilyOptions()}})
	check(t, err)
	put(t, families[1], "p", "1") // before the log has a size of timestamps
	for _, e := range []struct {
		key, value string
		ts         uint64
	}{{"a", "a1", 1}, {"a", "a5", 5}, {"b", "b3", 3}, {"longer_key", "c4", 4}} {
		check(t, families[0].PutWithTimestamp(nil, []byte(e.key), rocksdb.EncodeU64Ts(e.ts), []byte(e.value)))
	}
	check(t, families[0].DeleteWithTimestamp(nil, []byte("b"), rocksdb.EncodeU64Ts(6)))
	check(t, x.Close())
	return c
}

func TestLDB_Timestamps(t *testing.T) {
	c := timestampedDB(t)
	const invalid = "Invalid argument: "
	c.ok("get a --read_timestamp=4", "a1")
	c.ok("get a --read_timestamp=5x", "a5")
	c.ok("get a --read_timestamp=0", "Key not found")
	c.ok("get b --read_timestamp=-1", "Key not found")
	c.ok("get b --read_timestamp=+5", "b3")
	c.ok("multi_get a b z --read_timestamp=3", "a ==> a1\nb ==> b3\nKey not found: z")
	c.ok("get_entity a --read_timestamp=5", ":a5")
	c.fails("get_entity a --read_timestamp=0", "Failed: GetEntity failed: NotFound: ")
	c.ok("multi_get_entity a b --read_timestamp=7", "a ==> :a5\nKey not found: b")
	c.ok("scan --read_timestamp=18446744073709551615", "a|timestamp:5 ==> a5\nlonger_key|timestamp:4 ==> c4")
	c.ok("scan --read_timestamp=3 --hex", "0x61|timestamp:1 ==> 0x6131\n0x62|timestamp:3 ==> 0x6233")
	c.ok("scan --read_timestamp=3 --from=b --to=c", "b|timestamp:3 ==> b3")
	c.ok("scan --read_timestamp=3 --no_value", "a\nb")
	c.ok("dump", "a|timestamp:5 ==> a5\nlonger_key|timestamp:4 ==> c4\nKeys in range: 2")
	// Bounds are as long as a key and its timestamp, or shorter.
	c.ok("dump --from=a --to=longer_key", "a|timestamp:5 ==> a5\nKeys in range: 1")
	c.ok("dump --to=lo", "a|timestamp:5 ==> a5\nKeys in range: 1")
	c.ok("idump", "'a|timestamp:5' seq:3, type:1 => a5\n'a|timestamp:1' seq:2, type:1 => a1\n"+
		"'b|timestamp:6' seq:6, type:20 => \n'b|timestamp:3' seq:4, type:1 => b3\n'longer_key|timestamp:4' seq:5, type:1 => c4\nInternal keys in range: 5")
	c.ok("idump --from=b --to=longer_key", "'b|timestamp:6' seq:6, type:20 => \n'b|timestamp:3' seq:4, type:1 => b3\nInternal keys in range: 2")
	c.ok("--column_family=plain scan", "p ==> 1")

	for _, cmd := range []string{"get a", "get_entity a", "multi_get a", "multi_get_entity a", "scan"} {
		what := map[string]string{"get a": "Get", "get_entity a": "GetEntity", "multi_get a": "MultiGet", "multi_get_entity a": "MultiGetEntity", "scan": "Scan"}[cmd]
		head := "Failed: " + what + " failed: " + invalid
		c.fails(cmd, head+"column family enables user-defined timestamp while --read_timestamp is not provided.\n")
		c.fails(cmd+" --read_timestamp=", head+"column family enables user-defined timestamp while --read_timestamp is empty.\n")
		c.fails(cmd+" --read_timestamp=x", head+"user provided timestamp is not a valid uint64 value.\n")
		c.fails(cmd+" --read_timestamp=18446744073709551616", head+"user provided timestamp is not a valid uint64 value.\n")
		c.fails(cmd+" --column_family=plain --read_timestamp=1", head+"column family does not enable user-defined timestamps while --read_timestamp is provided.\n")
	}
	refused := "Failed: " + invalid + "cannot call this method on column family default that enables timestamp\n"
	for _, cmd := range []string{"put a b", "delete a", "singledelete a", "deleterange a b"} {
		c.fails(cmd, refused)
	}
	c.fails("batchput a b", "Failed: Put to write batch failed: a=>b error: "+invalid)
	c.fails("put_entity a b:c", "Failed: "+invalid)
}

func TestLDB_TimestampsQuery(t *testing.T) {
	c := timestampedDB(t)
	query := func(in, want string, more ...string) {
		t.Helper()
		if r := run(t, in, append(more, "query", "--db="+c.db)...); r.code != 0 || r.out != want {
			t.Errorf("%q: exit code %d %s\n got %q\nwant %q", in, r.code, r.err, r.out, want)
		}
	}
	query("put k 7 v\nget k --read_timestamp=7\nget k --read_timestamp=6\ndelete k 9\nget k --read_timestamp=10\nput k x v\ndelete k x\n"+
		"count --read_timestamp=8\ncount --read_timestamp=5 --from=b\ncount --from=a --to=b --read_timestamp=5\n",
		"put k write_ts: 7 => v succeeded\nk|timestamp:7 ==> v\nget k read_timestamp: 6 status: NotFound: \n"+
			"delete k write_ts: 9 succeeded\nget k read_timestamp: 10 status: NotFound: \n"+
			"put gets invalid argument: Invalid argument: user provided timestamp is not a valid uint64 value.\n"+
			"delete gets invalid argument: Invalid argument: user provided timestamp is not a valid uint64 value.\n3\n2\n1\n")
	const enabled = "Invalid argument: cannot call this method on column family default that enables timestamp\n"
	query("put k v\ndelete k\nget k\ncount --to=z\nget k --read_timestamp=\nput 1 2 3 4\n",
		"put k => v failed: "+enabled+"delete k failed: "+enabled+"get k status: "+enabled+"scan from  to z failed: "+enabled+
			"Bad command\nput gets invalid arguments\n")
	const disabled = "Invalid argument: cannot call this method on column family plain that does not enable timestamp\n"
	query("put k 1 v\ndelete k 1\nget k --read_timestamp=1\ncount --read_timestamp=1 --from=a\n",
		"put k write_ts:  => v failed: "+disabled+"delete k write_ts:  failed: "+disabled+
			"get k read_timestamp:  status: "+disabled+"scan from a read_timestamp:  to  failed: "+disabled,
		"--column_family=plain")
}

func TestLDB_TimestampsDumpWAL(t *testing.T) {
	c := timestampedDB(t)
	logs := c.files("*.log")
	if len(logs) == 0 {
		t.Fatal("no log")
	}
	log := logs[0]
	dump := "dump_wal --print_value --walfile=" + log
	stamped := "PUT(0) : 0x61|timestamp:1 : 0x6131 \n"
	r := run(t, "", append(strings.Fields(dump), "--db="+c.db)...)
	if r.code != 0 || !strings.Contains(r.out, "PUT(1) : 0x70 : 0x31 \n") || !strings.Contains(r.out, stamped) ||
		!strings.Contains(r.out, "DELETE(0) : 0x62|timestamp:6 \n") {
		t.Errorf("%+v", r)
	}
	r = run(t, "", strings.Fields(dump)...)
	if r.code != 0 || !strings.Contains(r.out, "PUT(0) : 0x610100000000000000 : 0x6131 \n") ||
		!strings.Contains(r.out, " contained in WAL are not opened in DB. Applied default hex formatting for user key. Specify --db=<db_path> ") {
		t.Errorf("%+v", r)
	}
	// A database whose families are the other way round.
	other := filepath.Join(c.dir, "other")
	copied := filepath.Join(c.dir, filepath.Base(log))
	data, err := os.ReadFile(log)
	check(t, err)
	check(t, os.WriteFile(copied, data, 0o600))
	o := rocksdb.DefaultOptions()
	o.CreateIfMissing = true
	check(t, open(t, other, o).Close())
	r = run(t, "", "dump_wal", "--walfile="+copied, "--db="+other)
	if want := "Failed: Format for user keys in WAL file is inconsistent with the comparator used to open the DB. " +
		"Timestamp size recorded in WAL vs specified by comparator: {(cf_id: 0, [recorded: 8, comparator: 0])}\n"; r.code != 1 || !strings.HasSuffix(r.err, want) ||
		!strings.Contains(r.out, "PUT(1) : 0x70") {
		t.Errorf("%+v", r)
	}
}
