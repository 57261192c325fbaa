// No upstream twin: ldb's commands about wide columns, and repair.

package tools_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func contains(s, part string) bool { return strings.Contains(s, part) }

func TestLDB_Entity(t *testing.T) {
	c := newLDBTestCase(t)
	c.ok("put_entity k1 a:1 b:2 --create_if_missing", "OK")
	c.ok("put_entity k2 :default c:3", "OK")
	c.ok("put k3 plain", "OK")
	c.ok("get_entity k1", "a:1 b:2")
	c.ok("get_entity k2", ":default c:3")
	c.ok("get_entity k3", ":plain")
	c.ok("get k2", "default")
	if r := run(t, "", "get", "k1", "--db="+c.db); r.code != 0 || r.out != "\n" { // there is no default column
		t.Errorf("%+v", r)
	}
	c.fails("get_entity none", "Failed: GetEntity failed: NotFound: \n")
	c.ok("multi_get_entity k1 none k3", "k1 ==> a:1 b:2\nKey not found: none\nk3 ==> :plain")
	c.ok("scan", "k1 ==> a:1 b:2\nk2 ==> :default c:3\nk3 ==> plain")
	c.ok("dump", "k1 ==> a:1 b:2\nk2 ==> :default c:3\nk3 ==> plain\nKeys in range: 3")
	c.ok("scan --hex --max_keys=2", "0x6B31 ==> 0x61:0x31 0x62:0x32\n0x6B32 ==> :0x64656661756C74 0x63:0x33")
	c.ok("put_entity 0x6B34 0x64:0x34 --hex", "OK")
	c.ok("get_entity 0x6B34 --key_hex", "d:4")
	c.fails("put_entity k", "Failed: <key> and at least one column <column_name>:<column_value> must be specified for the put_entity command\n")
	c.fails("put_entity k v", "Failed: wide column format needs to be <column_name>:<column_value> (did you mean put <key> <value>?)\n")
	c.fails("get_entity", "Failed: <key> must be specified for the get_entity command\n")
	c.fails("multi_get_entity", "Failed: At least one <key> must be specified for the multi_get_entity command\n")
}

func TestLDB_Repair(t *testing.T) {
	c := newLDBTestCase(t)
	c.ok("put a 1 --create_if_missing", "OK")
	c.ok("create_column_family x", "OK")
	c.ok("put k 2 --column_family=x", "OK")
	if err := os.Remove(filepath.Join(c.db, "CURRENT")); err != nil {
		t.Fatal(err)
	}
	r := run(t, "", "repair", "--db="+c.db)
	if r.code != 0 || r.out != "OK\n" || strings.Count(r.err, "\n") > 1 && !contains(r.err, "**** Repaired rocksdb "+c.db) {
		t.Errorf("%+v", r)
	}
	c.ok("scan", "a ==> 1")
	c.ok("scan --column_family=x", "k ==> 2")
	if r := run(t, "", "repair", "--db="+c.db, "--verbose"); r.code != 0 || !contains(r.err, "Searching path "+c.db) {
		t.Errorf("%+v", r)
	}
	missing := filepath.Join(c.dir, "none")
	if r := run(t, "", "repair", "--db="+missing); r.code != 1 || !strings.HasPrefix(r.err, "Failed: IO error: ") {
		t.Errorf("%+v", r)
	}
	if _, err := os.Stat(missing); !os.IsNotExist(err) {
		t.Error(err)
	}
}
