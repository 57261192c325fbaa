// Port of tools/ldb_test.py (external files).

package tools_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// withInput runs a command whose message, as all results', goes to the errors.
func (c *ldbTestCase) withInput(input, line, want string) {
	c.Helper()
	r := run(c.T, input, c.args(line)...)
	if r.code != 0 || r.out != "" || r.err != want {
		c.Fatalf("ldb %s: exit code %d, errors %q\n got %q\nwant %q", line, r.code, r.err, r.out, want)
	}
}

// TestLDB_Issue6245 is facebook/rocksdb#6245 by commands.
func TestLDB_Issue6245(t *testing.T) {
	c := newLDBTestCase(t)
	for range 3 {
		c.ok("put --create_if_missing k a", "OK")
	}
	sst := filepath.Join(c.dir, "x.sst")
	c.withInput("k ==> b\n", "write_extern_sst "+sst, "external SST file written to "+sst+"\n")
	c.withInput("", "ingest_extern_sst "+sst, "external SST files ingested\n")
	c.ok("get k", "b")
	c.ok("scan", "k ==> b")
	if _, err := os.Stat(sst); err != nil {
		t.Fatal("not copied:", err)
	}
}

// TestLDB_ExternalSst: upstream's ldb_test.py does this dump and ingestion.
func TestLDB_ExternalSst(t *testing.T) {
	c := newLDBTestCase(t)
	c.ok("batchput --create_if_missing x1 y1 x2 y2 x3 y3 x4 y4", "OK")
	dumped := run(t, "", c.args("dump")...).out
	external := &ldbTestCase{t, c.dir, filepath.Join(c.dir, "otherdb")}
	sst := filepath.Join(c.dir, "extern_data1.sst")
	external.withInput(dumped, "write_extern_sst --create_if_missing "+sst, "external SST file written to "+sst+"\n")
	external.fails("ingest_extern_sst", "input SST path must be specified")
	external.fails("write_extern_sst", "output SST file path must be specified")
	external.fails("ingest_extern_sst --allow_global_seqno=false "+sst, "ldb cannot write global_seqno to the ingested SST when global_seqno is not allowed")
	external.withInput("", "ingest_extern_sst --move_files "+sst, "external SST files ingested\n")
	if _, err := os.Stat(sst); err == nil {
		t.Fatal("not moved")
	}
	external.ok("scan", "x1 ==> y1\nx2 ==> y2\nx3 ==> y3\nx4 ==> y4")
	r := run(t, "z ==> 1\nnonsense\n", external.args("write_extern_sst "+sst)...)
	if r.code != 0 || !strings.Contains(r.err, "Warning: 1 bad lines ignored.") {
		t.Fatalf("%+v", r)
	}
	// Out of order.
	r = run(t, "z ==> 1\na ==> 2\n", external.args("write_extern_sst "+sst)...)
	if r.code != 1 || !strings.Contains(r.err, "failed to write record to file: Invalid argument: Keys must be added in strict ascending order.") {
		t.Fatalf("%+v", r)
	}
}

func TestLDB_Checkpoint(t *testing.T) {
	c := newLDBTestCase(t)
	c.ok("batchput --create_if_missing a 1 b 2", "OK")
	dir := filepath.Join(c.dir, "copy")
	c.ok("checkpoint --checkpoint_dir="+dir, "OK")
	c.fails("checkpoint --checkpoint_dir="+dir, "Directory exists")
	c.ok("put a 3", "OK")
	copied := &ldbTestCase{t, c.dir, dir}
	copied.ok("scan", "a ==> 1\nb ==> 2")
}
