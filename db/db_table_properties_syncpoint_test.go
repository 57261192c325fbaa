//go:build syncpoint

// Port of db/db_table_properties_test.cc (what needs sync points).

package db_test

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

// wantFourTables wants properties of four tables with the entries of all.
func (x *dbTest) wantFourTables() (paths []string) {
	x.Helper()
	props, err := x.db.GetPropertiesOfAllTables()
	x.must(err)
	different, ids, sum := map[uint64]bool{}, map[string]bool{}, uint64(0)
	for path, p := range props {
		different[p.NumEntries] = true
		ids[fmt.Sprint(p.DBSessionID, p.OrigFileNumber)] = true
		sum += p.NumEntries
		paths = append(paths, path)
	}
	if len(props) != 4 || len(different) != 4 || len(ids) != 4 || sum != 10+11+12+13 {
		x.Fatalf("%d tables, %d different, %d ids, %d entries", len(props), len(different), len(ids), sum)
	}
	return paths
}

func TestDBTablePropertiesTest_GetPropertiesOfAllTablesTest(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.Level0FileNumCompactionTrigger = 8
	o.MaxOpenFiles = 42 // with few, tables are not open for good
	x.reopen(o)
	for table := range 4 {
		for i := range 10 + table {
			x.mustPut(0, fmt.Sprint(table*100+i), "val")
		}
		x.flush(0)
	}
	session := x.db.GetDbSessionId()
	syncpoint.SetCallBack("VersionEditHandler::LoadTables:skip_load_table_files", func(arg any) { *arg.(*bool) = true })
	syncpoint.EnableProcessing()
	cold := func() {
		t.Helper()
		x.reopen(o)
		c := x.full().TestTableCache()
		c.EraseUnRefEntries()
		if n := c.GetUsage(); n != 0 {
			t.Fatalf("%d open tables", n)
		}
	}
	read := func(n int) (values []string) {
		for i := range n {
			values = append(values, x.get(0, fmt.Sprint(i*100)))
		}
		return values
	}
	cold() // out of the files
	x.wantFourTables()
	cold()
	read(2) // two tables are open
	x.wantFourTables()
	cold()
	read(4)
	path := x.wantFourTables()[0]
	for _, direct := range []bool{true, false} {
		cold()
		data, err := os.ReadFile(path)
		x.must(err)
		pos := bytes.Index(data, []byte(session))
		if pos < 0 {
			t.Fatal("no session id in the file")
		}
		data[pos] ^= 0x80
		x.must(os.WriteFile(path, data, 0o644))
		if direct {
			_, err = x.db.GetPropertiesOfAllTables()
			x.wantIs(err, rocksdb.ErrCorruption)
		} else if values := read(4); !strings.Contains(fmt.Sprint(values), "block checksum mismatch") {
			t.Errorf("read with damaged properties: %q", values)
		}
		data[pos] ^= 0x80
		x.must(os.WriteFile(path, data, 0o644))
	}
}

func TestDBTablePropertiesTest_InvalidReportedAsCorruption(t *testing.T) {
	x := newDBTest(t)
	syncpoint.SetCallBack("BlockBasedTableBuilder::WritePropertiesBlock:BlockData", func(arg any) { *arg.(*[]byte) = []byte("X") })
	syncpoint.EnableProcessing()
	o := x.currentOptions()
	o.VerifySstUniqueIDInManifest = false // which is made of the properties
	x.reopen(o)
	for i := range 10 {
		x.mustPut(0, fmt.Sprint(i), "val")
	}
	x.wantIs(x.db.Flush(nil), rocksdb.ErrCorruption)
}
