// No upstream twin: ldb import_leveldb.

package tools_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/syndtr/goleveldb/leveldb"
)

func TestLDBImportLevelDB(t *testing.T) {
	dir := t.TempDir()
	source, target := filepath.Join(dir, "old"), filepath.Join(dir, "new")
	d, err := leveldb.OpenFile(source, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, kv := range [][2]string{{"a", "1"}, {"b", "2"}, {"c", "3"}, {"a", "4"}} {
		if err := d.Put([]byte(kv[0]), []byte(kv[1]), nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.Delete([]byte("b"), nil); err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		"import_leveldb --db=" + target:                                    "Failed: --source=",
		"import_leveldb --source=" + source:                                "Failed: --db=",
		"import_leveldb --source=" + source + " --db=" + target + " x":     "Failed: import_leveldb takes no arguments but options, not x\n",
		"import_leveldb --source=" + source + " --db=" + dir:               "is not empty",
		"import_leveldb --source=" + dir + " --db=" + target:               "Failed: Import failed: ",
		"import_leveldb --source=" + source + " --db=" + target + " --foo": "Invalid command-line flag foo\n",
	} {
		if r := run(t, "", strings.Fields(args)...); r.code != 1 || !strings.Contains(r.err, want) {
			t.Errorf("ldb %s: %+v", args, r)
		}
	}
	if _, err := os.Stat(target); !os.IsNotExist(err) {
		t.Errorf("a failed import left something: %v", err)
	}
	r := run(t, "", "import_leveldb", "--source="+source, "--db="+target, "--compression_type=lz4", "--bloom_bits=10")
	if r.code != 0 || r.err != "" || r.out != "Imported 2 keys (4 bytes) from 0 tables and 1 logs; 3 entries were overwritten or deleted\n" {
		t.Errorf("%+v", r)
	}
	if r := run(t, "", "scan", "--db="+target); r.code != 0 || r.out != "a ==> 4\nc ==> 3\n" {
		t.Errorf("%+v", r)
	}
}
