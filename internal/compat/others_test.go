// No upstream twin: databases that other engines write.

package compat

import (
	"bytes"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/internal/engines"
)

func theyWrite(t *testing.T, rep *report, have []string) {
	if slices.Contains(have, "7.8.3") {
		each(groupsOf([]uint32{2, 3, 4, 5}), func(g group) {
			// What this engine cannot write.
			cells := slices.DeleteFunc(g.cells(), func(c cell) bool {
				return slices.Contains([]string{separated, uniform, "super-block aligned", autoSkip, mixed, costAware}, c.dataBlocks) ||
					c.filter == "decoupled bloom"
			})
			if len(cells) > 0 {
				debianWrites(t, rep, engines.Tool(t, "ldb"), cells)
			}
		})
	}
	npmWrites(t, rep, have)
}

// debianWrites lets ldb 7.8.3 recover the log of a database with a family a
// cell: it then writes a table of each, as the OPTIONS file says.
func debianWrites(t *testing.T, rep *report, ldb string, cells []cell) {
	dir := scratch(t)
	defer os.RemoveAll(dir)
	writeFamilies(t, dir, cells)
	out, err := exec.Command(ldb, "--db="+dir, "--try_load_options", "--ignore_unknown_options", "put", "by", "ldb").CombinedOutput()
	if err != nil {
		t.Errorf("ldb: %v: %.500s", err, out)
		return
	}
	cfg := rocksdb.DefaultConfigOptions()
	o, families, err := rocksdb.LoadLatestOptions(&cfg, dir, nil)
	if err != nil {
		t.Error(err)
		return
	}
	db, cfs, err := rocksdb.OpenColumnFamiliesForReadOnly(dir, o, families, false)
	if err != nil {
		t.Error(err)
		return
	}
	defer db.Close()
	byName := map[string]*rocksdb.ColumnFamily{}
	for _, cf := range cfs {
		byName[cf.GetName()] = cf
	}
	for i := range cells {
		cf := byName[cellPrefix(i)]
		all, err := cf.GetPropertiesOfAllTables()
		if err != nil || len(all) != 1 {
			t.Errorf("%+v: %d tables, %v", cells[i], len(all), err)
		}
		for path, p := range all {
			checkTable(t, path, p, &cells[i], false)
		}
		entries := entriesOf(i)
		var gets []string
		for _, k := range asked {
			gets = append(gets, hex.EncodeToString(entries[k].key))
		}
		rep.add(t, "7.8.3", byOthers, cells[i], readHere(cf, gets).judge(i, entries, kept))
	}
}

// npmCell is a cell with the options that make a binding write it.
type npmCell struct {
	cell
	engine  string
	options map[string]any
}

// npmCells lists what can be chosen through the bindings.
func npmCells() (list []npmCell) {
	plain := cell{7, "none", "none", "XXH3", "none", "binary search", "plain"}
	for _, c := range compressions {
		x := plain
		x.compression = c
		list = append(list, npmCell{x, "11.8.1", map[string]any{"compression": c}})
	}
	for v := 2; v <= 7; v++ {
		for _, f := range []string{"none", "bloom", "ribbon"} {
			x := plain
			x.version, x.filter = uint32(v), f
			list = append(list, npmCell{x, "10.5.1", map[string]any{"tableFormatVersion": v, "filter": f, "tableBlockSize": 512}})
		}
	}
	for name, f := range map[string]string{"bloom": "bloomfilter:10:false", "ribbon": "ribbonfilter:10:-1"} {
		for _, zstd := range []bool{false, true} {
			for _, prefixes := range []bool{false, true} {
				for _, optimize := range []string{"", "point-lookup"} {
					x := plain
					x.version, x.filter = 6, name
					o := map[string]any{"compression": zstd, "filterPolicy": f, "blockSize": 512, "optimize": optimize}
					if zstd {
						x.compression, x.dict = "zstd", "trained"
					} else {
						x.compression = "none"
					}
					if prefixes {
						o["prefixExtractor"] = "fixed:8"
						x.filter += " and prefixes"
					}
					if optimize != "" {
						x.dataBlocks = "hash index"
					}
					list = append(list, npmCell{x, "9.7.4", o})
				}
			}
		}
	}
	return list
}

func npmWrites(t *testing.T, rep *report, have []string) {
	each(npmCells(), func(c npmCell) {
		if !slices.Contains(have, c.engine) {
			return
		}
		dir := scratch(t)
		defer os.RemoveAll(dir)
		entries := entriesOf(0)
		job := &engines.Job{DB: filepath.Join(dir, "db"), Options: c.options}
		for _, e := range entries {
			job.Lines = append(job.Lines, [2]string{hex.EncodeToString(e.key), hex.EncodeToString(e.value)})
		}
		all := func(int) bool { return true }
		if res := engines.RunJob(t, c.engine, job); res.Error != "" {
			rep.add(t, c.engine, byOthers, c.cell, outcome(res.Error))
			return
		}
		o := rocksdb.DefaultOptions()
		if c.options["prefixExtractor"] != nil {
			o.PrefixExtractor = prefixExtractor()
		}
		db, err := rocksdb.OpenForReadOnly(job.DB, o)
		if err != nil {
			t.Errorf("%+v: %v", c, err)
			return
		}
		defer db.Close()
		props, err := db.GetPropertiesOfAllTables()
		if err != nil || len(props) == 0 {
			t.Errorf("%+v: %d tables, %v", c, len(props), err)
		}
		for path, p := range props {
			checkNPM(t, path, p, &c)
		}
		rep.add(t, c.engine, byOthers, c.cell, readHere(db, getsOf([]cell{c.cell})).judge(0, entries, all))
	})
}

// checkNPM tells whether a table is what the options asked for.
func checkNPM(t testing.TB, path string, p *rocksdb.TableProperties, c *npmCell) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Error(err)
	}
	filter, _, _ := strings.Cut(c.filter, " ")
	if (p.FilterPolicyName == "") != (filter == "none") || !strings.HasPrefix(p.FilterPolicyName, filter) && filter != "none" {
		t.Errorf("%+v: filter %s", c, p.FilterPolicyName)
	}
	if got := bytes.Contains(b, []byte("rocksdb.compression_dict")); got != (c.dict != "none") {
		t.Errorf("%+v: dictionary %v", c, got)
	}
	if p.FormatVersion != 0 && p.FormatVersion != uint64(c.version) {
		t.Errorf("%+v: format_version %d", c, p.FormatVersion)
	}
	if c.compression == "zstd" && !strings.Contains(p.CompressionName, "ZSTD") && !strings.Contains(p.CompressionName, "07") {
		t.Errorf("%+v: compression %s", c, p.CompressionName)
	}
}
