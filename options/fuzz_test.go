// No upstream twin: bytes from disk and strings from users never make the
// parsers panic, and what they accept they can write and read again.

package options

import (
	"maps"
	"os"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

func FuzzOptionsFile(f *testing.F) {
	files, _ := filepath.Glob("testdata/*/*.ini")
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(data))
	}
	f.Add(versionSection + dbSection + "[CFOptions \"default\"]\n[TableOptions/BlockBasedTable \"default\"]\n  block_size=1\n")
	f.Fuzz(func(t *testing.T, text string) {
		cfg := testConfig()
		p := NewParser()
		if p.ParseText(cfg, text) != nil {
			return
		}
		again, err := AppendRocksDBOptions(nil, cfg, p.DBOptions(), p.CFNames(), p.CFOptions())
		if err != nil {
			// Numbers of enums that no name stands for cannot be written.
			return
		}
		q := NewParser()
		if err := q.ParseText(cfg, string(again)); err != nil {
			t.Fatalf("written again, not read: %v\n%s", err, again)
		}
	})
}

func FuzzStringToMap(f *testing.F) {
	for _, s := range []string{"k1=v1;k2={nk1=nv1;nk2={nnk1=nnk2}};", "a={", "{{{}}}", "=;", "a=}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		m, err := StringToMap(s)
		if err != nil {
			return
		}
		again, err := StringToMap(MapToString(m))
		if err != nil || !maps.Equal(m, again) {
			t.Fatalf("%q gave %q, then %q (%v)", s, m, again, err)
		}
	})
}

// Any plain options come through the OPTIONS file unchanged.
func TestOptionsFileRoundTripProperty(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		seed := rapid.Uint32Range(1, 1<<30).Draw(rt, "seed")
		names := []string{"default"}
		extra := rapid.SliceOfN(rapid.StringMatching(`[ -~]{1,12}`), 0, 3).Draw(rt, "names")
		for i, n := range extra {
			names = append(names, n+string(rune('0'+i)))
		}
		db := randomDB(seed)
		db.DBLogDir = rapid.StringMatching(`[!-~]([ -~\n\r]{0,20}[!-~])?`).Draw(rt, "db_log_dir")
		var cfs []rocksdb.ColumnFamilyOptions
		for i := range names {
			cf := randomCF(seed + uint32(i))
			cf.MergeOperator, cf.CompactionFilter, cf.CompactionFilterFactory = nil, nil, nil
			cfs = append(cfs, cf)
		}
		cfg := testConfig()
		text, err := AppendRocksDBOptions(nil, cfg, &db, names, cfs)
		if err != nil {
			rt.Fatal(err)
		}
		p := NewParser()
		if err := p.ParseText(cfg, string(text)); err != nil {
			rt.Fatal(err)
		}
		if err := p.verify(cfg, &db, names, cfs); err != nil {
			rt.Fatal(err)
		}
		if p.DBOptions().DBLogDir != db.DBLogDir {
			rt.Fatalf("db_log_dir %q became %q", db.DBLogDir, p.DBOptions().DBLogDir)
		}
	})
}
