// No upstream twin: OPTIONS files that real engines wrote are read and written
// again.

package options

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

func parseFile(t *testing.T, name string) (*Parser, string) {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	p := NewParser()
	if err := p.ParseText(testConfig(), string(data)); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return p, string(data)
}

// A file that v11.8.1 wrote comes out of the parsed options byte for byte.
func TestGoldenOptionsFilesAreReproduced(t *testing.T) {
	files, err := filepath.Glob("testdata/11.8.1/*.ini")
	if err != nil || len(files) < 10 {
		t.Fatalf("files: %v %v", files, err)
	}
	for _, name := range files {
		t.Run(filepath.Base(name), func(t *testing.T) {
			p, want := parseFile(t, name)
			if v := p.RocksDBVersion(); v != [3]int{11, 8, 1} {
				t.Errorf("version %v", v)
			}
			cfg := testConfig()
			got, err := AppendRocksDBOptions(nil, cfg, p.DBOptions(), p.CFNames(), p.CFOptions())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, string(got)); diff != "" {
				t.Errorf("written again (-golden +ours):\n%s", diff)
			}
			if err := p.verify(cfg, p.DBOptions(), p.CFNames(), p.CFOptions()); err != nil {
				t.Errorf("verified against itself: %v", err)
			}
		})
	}
}

// Files of an older version are read: their deprecated options are ignored,
// what they lack has its default.
func TestGoldenOptionsOf783AreRead(t *testing.T) {
	for _, name := range []string{"column_families", "filter_ribbon", "merge_append", "table_plain", "timestamps"} {
		t.Run(name, func(t *testing.T) {
			p, text := parseFile(t, "testdata/7.8.3/"+name+".ini")
			if v := p.RocksDBVersion(); v != [3]int{7, 8, 3} {
				t.Errorf("version %v", v)
			}
			if n := strings.Count(text, "[CFOptions "); n != p.NumColumnFamilies() {
				t.Errorf("column families: %d, in the file %d", p.NumColumnFamilies(), n)
			}
			cf := p.GetCFOptions(rocksdb.DefaultColumnFamilyName)
			if want := p.CFOptMaps()[0]["write_buffer_size"]; want == "" {
				t.Fatal("no write_buffer_size in the file")
			} else if n, _ := util.ParseUint64(want); n != cf.WriteBufferSize {
				t.Errorf("write_buffer_size %d, in the file %s", cf.WriteBufferSize, want)
			}
			if !p.DBOptions().WriteIdentityFile {
				t.Error("an option younger than the file has not its default")
			}
			switch name {
			case "timestamps":
				if cf.Comparator.TimestampSize() != 8 {
					t.Errorf("comparator %s", cf.Comparator.Name())
				}
			case "table_plain":
				if cf.TableFactory.Name() != rocksdb.PlainTableName {
					t.Errorf("table factory %s", cf.TableFactory.Name())
				}
			case "filter_ribbon":
				if p := bbtoOf(t, cf.TableFactory).FilterPolicy; p == nil || p.ID() != "ribbonfilter:10:0" {
					t.Errorf("filter policy %v", p)
				}
			case "merge_append":
				if cf.MergeOperator.Name() != "StringAppendOperator" {
					t.Errorf("merge operator %s", cf.MergeOperator.Name())
				}
			}
		})
	}
}
