// No upstream twin: the properties of files that real engines wrote, read and
// written again byte for byte (table/table_test.cc has a part of it).

package table

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb/env"
	"github.com/rocksdb-go/rocksdb/file"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/table/block_based/block"
	"github.com/rocksdb-go/rocksdb/table/format"
	"github.com/rocksdb-go/rocksdb/util"
)

func readFixture(t *testing.T, path string) []byte {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func openMeta(t *testing.T, data []byte) *MetaReader {
	t.Helper()
	name := filepath.Join(t.TempDir(), "000001.sst")
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
	opts := &rocksdb.FileOptions{}
	r, err := file.CreateRandomAccessFileReader(env.DefaultFileSystem(), name, opts, &file.ReaderOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	ro := rocksdb.DefaultReadOptions()
	return &MetaReader{File: r, FileSize: uint64(len(data)), ReadOptions: &ro}
}

// checkMetaBlocks builds the metaindex anew and compares, and the properties
// too where they are of the version that is ours.
func checkMetaBlocks(t *testing.T, data []byte, ours bool) *rocksdb.TableProperties {
	t.Helper()
	m := openMeta(t, data)
	magic := util.DecodeFixed64(data[len(data)-8:])
	h, footer, err := m.FindMetaBlockInFile(0, PropertiesBlockName)
	if err != nil {
		t.Fatal(err)
	}
	if footer.TableMagicNumber != magic && magic != format.LegacyPlainTableMagicNumber {
		t.Errorf("magic number %#x", footer.TableMagicNumber)
	}
	p, err := m.ReadTableProperties(footer.TableMagicNumber)
	if err != nil {
		t.Fatal(err)
	}
	b := NewPropertyBlockBuilder()
	b.AddTableProperty(p)
	b.AddUserCollectedProperties(p.UserCollectedProperties)
	if got, want := b.Finish(), data[h.Offset:h.Offset+h.Size]; ours && !bytes.Equal(got, want) {
		t.Errorf("properties block differs:\n%q\n%q", got, want)
	}

	mi, _, err := m.ReadMetaIndexBlock(0)
	if err != nil {
		t.Fatal(err)
	}
	defer mi.Free()
	mb := NewMetaIndexBuilder()
	it := mi.NewMetaIterator(true)
	for it.SeekToFirst(); it.Valid(); it.Next() {
		var bh format.BlockHandle
		if _, err := bh.DecodeFrom(it.Value()); err != nil {
			t.Fatal(err)
		}
		mb.Add(string(it.Key()), bh)
	}
	mh := footer.MetaindexHandle
	if got, want := mb.Finish(), data[mh.Offset:mh.Offset+mh.Size]; !bytes.Equal(got, want) {
		t.Errorf("metaindex block differs:\n%q\n%q", got, want)
	}
	return p
}

func TestMetaBlocks_RealFiles(t *testing.T) {
	fixtures, err := filepath.Glob("testdata/*.sst.gz")
	if err != nil || len(fixtures) == 0 {
		t.Fatal(err, fixtures)
	}
	for _, f := range fixtures {
		t.Run(strings.TrimSuffix(filepath.Base(f), ".sst.gz"), func(t *testing.T) {
			p := checkMetaBlocks(t, readFixture(t, f), strings.HasPrefix(filepath.Base(f), "11.8.1"))
			if p.NumEntries == 0 || p.DataSize == 0 || p.DBSessionID == "" || p.ColumnFamilyName != "default" {
				t.Errorf("properties lack something: %+v", p)
			}
		})
	}
}

// Every byte of the meta blocks and the footer is under some check.
func TestMetaBlocks_Corruption(t *testing.T) {
	for _, name := range []string{"11.8.1-format_v2", "11.8.1-format_v7"} {
		good := readFixture(t, "testdata/"+name+".sst.gz")
		m := openMeta(t, good)
		h, footer, err := m.FindMetaBlockInFile(0, PropertiesBlockName)
		if err != nil {
			t.Fatal(err)
		}
		damage := func(at uint64) error {
			bad := bytes.Clone(good)
			bad[at] ^= 0x10
			_, err := openMeta(t, bad).ReadTableProperties(footer.TableMagicNumber)
			return err
		}
		mh := footer.MetaindexHandle
		for _, r := range [][2]uint64{{h.Offset, h.Size + format.BlockTrailerSize}, {mh.Offset, mh.Size + format.BlockTrailerSize}} {
			for at := r[0]; at < r[0]+r[1]; at += 7 {
				if err := damage(at); !rocksdb.IsCorruption(err) || !strings.Contains(err.Error(), ".sst") {
					t.Fatalf("%s: damage at %d gives %v", name, at, err)
				}
			}
		}
		for cut := 1; cut < 60; cut += 3 {
			_, err := openMeta(t, good[:len(good)-cut]).ReadTableProperties(footer.TableMagicNumber)
			if err == nil {
				t.Fatalf("%s: a file cut by %d bytes is accepted", name, cut)
			}
		}
	}
}

// A block handle beyond the file is refused before memory is taken for it.
func TestBlockFetcher_HandleBeyondFile(t *testing.T) {
	m := openMeta(t, readFixture(t, "testdata/11.8.1-format_v7.sst.gz"))
	_, footer, err := m.FindMetaBlockInFile(0, PropertiesBlockName)
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range []format.BlockHandle{{Offset: 0, Size: 1 << 40}, {Offset: 1 << 40, Size: 1}, {Offset: m.FileSize - 4, Size: 0}, {Offset: 1<<64 - 1, Size: 1<<64 - 1}} {
		_, err := m.fetch(&footer, h, block.TypeData, true)
		if !rocksdb.IsCorruption(err) {
			t.Errorf("handle %+v gives %v", h, err)
		}
	}
}
