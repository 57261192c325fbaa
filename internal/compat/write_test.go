// No upstream twin: writes databases with one table, or column family, a cell.

package compat

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/file"
	contract "github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/table"
)

// cellFactory builds each table the way its current cell says.
type cellFactory struct {
	table.Factory
	current atomic.Pointer[cell]
}

func (f *cellFactory) Clone() contract.TableFactory { return f }

func (f *cellFactory) NewTableBuilder(o *table.TableBuilderOptions, w *file.WritableFileWriter) (table.TableBuilder, error) {
	c := f.current.Load()
	tbo := *o
	tbo.CompressionType, tbo.CompressionOpts = compressionTypes[c.compression], c.compressionOpts()
	mo := *tbo.MOptions
	mo.CompressionManager = c.manager()
	tbo.MOptions = &mo
	return rocksdb.NewBlockBasedTableFactory(c.tableOptions()).(table.Factory).NewTableBuilder(&tbo, w)
}

// writeTables makes a database whose tables, one a cell, are all in level 1.
func writeTables(t *testing.T, dir string, cells []cell) {
	t.Helper()
	o := rocksdb.DefaultOptions()
	o.CreateIfMissing, o.DisableAutoCompactions = true, true
	o.Compression, o.PrefixExtractor = rocksdb.NoCompression, prefixExtractor()
	o.Level0SlowdownWritesTrigger, o.Level0StopWritesTrigger = 1<<20, 1<<20
	o.WriteBufferSize, o.MaxOpenFiles = 64<<10, 100
	o.DBWriteBufferSize = 0
	b := rocksdb.DefaultBlockBasedTableOptions()
	b.FormatVersion = 5 // for OPTIONS that every engine can load
	f := &cellFactory{Factory: rocksdb.NewBlockBasedTableFactory(b).(table.Factory)}
	o.TableFactory = f
	db, err := rocksdb.Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	wo := rocksdb.DefaultWriteOptions()
	wo.DisableWAL = true
	for i := range cells {
		f.current.Store(&cells[i])
		if err := putCell(db.ColumnFamily, &wo, i); err != nil {
			t.Fatalf("%+v: %v", cells[i], err)
		}
		if err := db.Flush(nil); err != nil {
			t.Fatalf("%+v: %v", cells[i], err)
		}
	}
	if err := db.CompactRange(nil, nil, nil); err != nil { // moves them
		t.Fatal(err)
	}
	if n := len(db.GetLiveFilesMetaData()); n != len(cells) {
		t.Fatalf("%d tables for %d cells", n, len(cells))
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

func putCell(cf *rocksdb.ColumnFamily, wo *rocksdb.WriteOptions, i int) error {
	entries := entriesOf(i)
	for _, e := range entries {
		if err := cf.Put(wo, e.key, e.value); err != nil {
			return err
		}
	}
	if err := cf.Delete(wo, entries[7].key); err != nil {
		return err
	}
	return cf.DeleteRange(wo, entries[20].key, entries[24].key)
}

// writeFamilies makes a database with a column family a cell, whose entries are
// still in the WAL: the engine that opens it next writes the tables, as the
// OPTIONS file says.
func writeFamilies(t *testing.T, dir string, cells []cell) {
	t.Helper()
	db := rocksdb.DefaultDBOptions()
	db.CreateIfMissing, db.CreateMissingColumnFamilies, db.AvoidFlushDuringShutdown = true, true, true
	unnamed := rocksdb.DefaultColumnFamilyOptions()
	b := rocksdb.DefaultBlockBasedTableOptions()
	b.FormatVersion = 5
	unnamed.TableFactory = rocksdb.NewBlockBasedTableFactory(b)
	families := []rocksdb.ColumnFamilyDescriptor{{Name: rocksdb.DefaultColumnFamilyName, Options: unnamed}}
	for i := range cells {
		c := &cells[i]
		o := rocksdb.DefaultColumnFamilyOptions()
		o.Compression, o.CompressionOpts = compressionTypes[c.compression], c.compressionOpts()
		o.PrefixExtractor, o.WriteBufferSize = prefixExtractor(), 64<<10
		b := c.tableOptions()
		b.NoBlockCache = true
		o.TableFactory = rocksdb.NewBlockBasedTableFactory(b)
		families = append(families, rocksdb.ColumnFamilyDescriptor{Name: cellPrefix(i), Options: o})
	}
	x, cfs, err := rocksdb.OpenColumnFamilies(dir, db, families)
	if err != nil {
		t.Fatal(err)
	}
	for i := range cells {
		if err := putCell(cfs[i+1], nil, i); err != nil {
			t.Fatal(err)
		}
	}
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
}

// checkTables tells whether the tables are of the kinds that the cells say.
func checkTables(t *testing.T, dir string, cells []cell) {
	t.Helper()
	o := rocksdb.DefaultOptions()
	o.PrefixExtractor = prefixExtractor()
	db, err := rocksdb.OpenForReadOnly(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	all, err := db.GetPropertiesOfAllTables()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range db.GetLiveFilesMetaData() {
		i, err := strconv.Atoi(string(f.SmallestKey[1:prefixSize]))
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, f.Name)
		checkTable(t, path, all[path], &cells[i], true)
	}
}

// checkTable compares one table with its cell.
func checkTable(t testing.TB, path string, p *rocksdb.TableProperties, c *cell, ours bool) {
	t.Helper()
	if p == nil {
		t.Errorf("no properties of %s", path)
		return
	}
	bad := func(what string, got any) { t.Errorf("%s, %+v: %s is %v", path, *c, what, got) }
	if p.FormatVersion != 0 && p.FormatVersion != uint64(c.version) {
		bad("format_version", p.FormatVersion)
	}
	if got := p.UserCollectedProperties[rocksdb.BlockBasedTablePropertyIndexType]; len(got) != 4 || int(got[0]) != indexOf(indexes, c.index) {
		bad("index type", got)
	}
	if (p.FilterPolicyName == "") != (c.filter == "none") || (p.FilterSize == 0) != (c.filter == "none") {
		bad("filter", fmt.Sprint(p.FilterPolicyName, p.FilterSize))
	}
	if p.NumDataBlocks < 4 && (ours || c.dict == "none") { // others do not count blocks that wait for a dictionary
		bad("num_data_blocks", p.NumDataBlocks)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Error(err)
		return
	}
	if got := bytes.Contains(b, []byte("rocksdb.compression_dict")); got != (c.dict != "none" || c.dataBlocks == "unused dictionary") {
		bad("dictionary", got)
	}
	if c.version < 6 {
		footer := b[len(b)-53:]
		if int(footer[0]) != indexOf(checksums, c.checksum) {
			bad("checksum", footer[0])
		}
		if int(footer[41]) != int(c.version) {
			bad("footer's version", footer[41])
		}
	}
	if c.compression == "none" {
		return
	}
	// Blocks that are worth it are compressed.
	if p.DataSize >= p.RawKeySize+p.RawValueSize {
		bad("data size", p.DataSize)
	}
}
