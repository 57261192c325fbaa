// Port of tools/db_bench_tool_test.cc. Differs: sanitized options come from a
// database opened with them, since the engine's function is not exported.

package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	engine "github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/env"
	rocksdb "github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/options"
)

// dbBenchTest is upstream's fixture: where the database and its log go.
type dbBenchTest struct {
	*testing.T
	dir, dbPath, walPath string
}

func newDBBenchTest(t *testing.T) *dbBenchTest {
	dir := t.TempDir()
	engine.RegisterBuiltins()
	return &dbBenchTest{t, dir, filepath.Join(dir, "db"), filepath.Join(dir, "wal")}
}

// sanitize gives the options as a database has them that was opened with o.
func (t *dbBenchTest) sanitize(o rocksdb.Options) rocksdb.Options {
	t.Helper()
	o.CreateIfMissing = true
	db, err := engine.Open(t.TempDir(), o)
	if err != nil {
		t.Fatal(err)
	}
	o = db.GetOptions()
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	o.DBPaths = nil // the scratch database's own
	return o
}

// defaultOptions are what db_bench's own defaults come to.
func (t *dbBenchTest) defaultOptions(style rocksdb.CompactionStyle, levels int) rocksdb.Options {
	o := rocksdb.DefaultOptions()
	o.CreateIfMissing = true
	o.MaxOpenFiles = 256
	o.MaxBackgroundCompactions = 10
	o.DumpMallocStats = true
	o.CompactionStyle, o.NumLevels = style, levels
	o.Compression = rocksdb.NoCompression
	o.ArenaBlockSize = 8388608
	return t.sanitize(o)
}

func (t *dbBenchTest) runDBBench(optionsFile string) {
	t.Helper()
	out, code := runTool(t.T, "--benchmarks=fillseq", "--use_existing_db=0", "--num=1000", "--compression_type=none",
		"--db="+t.dbPath, "--wal_dir="+t.walPath, "--options_file="+optionsFile)
	if code != 0 {
		t.Fatalf("exit %d: %s", code, out)
	}
}

// loadLatest reads the newest OPTIONS file of the database.
func (t *dbBenchTest) loadLatest() *options.Parser {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(t.dbPath, "OPTIONS-*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no OPTIONS file, error %v", err)
	}
	cfg := rocksdb.DefaultConfigOptions()
	p := options.NewParser()
	if err := p.Parse(&cfg, slices.Max(files), env.DefaultFileSystem()); err != nil {
		t.Fatal(err)
	}
	return p
}

func (t *dbBenchTest) verifyOptions(o rocksdb.Options) {
	t.Helper()
	p := t.loadLatest()
	exact := rocksdb.DefaultConfigOptions()
	exact.InputStringsEscaped = false
	if err := options.VerifyDBOptions(&exact, &o.DBOptions, p.DBOptions(), nil); err != nil {
		t.Error(err)
	}
	if err := options.VerifyCFOptions(&exact, &o.ColumnFamilyOptions, &p.CFOptions()[0], nil); err != nil {
		t.Error(err)
	}
	// The engine's defaults are not the same.
	db, cf := rocksdb.DefaultDBOptions(), rocksdb.DefaultColumnFamilyOptions()
	if err := options.VerifyDBOptions(&exact, &db, p.DBOptions(), nil); err == nil {
		t.Error("the database's options are the default ones")
	}
	if err := options.VerifyCFOptions(&exact, &cf, &p.CFOptions()[0], nil); err == nil {
		t.Error("the column family's options are the default ones")
	}
}

// persist writes options for db_bench to read.
func (t *dbBenchTest) persist(o rocksdb.Options) (path string) {
	t.Helper()
	path = filepath.Join(t.dir, "OPTIONS_test")
	cfg := rocksdb.DefaultConfigOptions()
	err := options.PersistRocksDBOptions(&cfg, &o.DBOptions, []string{"default"},
		[]rocksdb.ColumnFamilyOptions{o.ColumnFamilyOptions}, path, env.DefaultFileSystem())
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// whatDBBenchSets are the options it takes from elsewhere than the file.
func (t *dbBenchTest) whatDBBenchSets(o *rocksdb.Options) {
	o.CreateMissingColumnFamilies = true
}

func TestDBBenchTest_OptionsFile(tt *testing.T) {
	t := newDBBenchTest(tt)
	o := t.defaultOptions(rocksdb.CompactionStyleLevel, 7)
	path := t.persist(o)
	t.runDBBench(path)
	t.whatDBBenchSets(&o)
	o.DelayedWriteRate = 16 * 1024 * 1024
	t.verifyOptions(o)
}

func TestDBBenchTest_OptionsFileUniversal(tt *testing.T) {
	t := newDBBenchTest(tt)
	o := t.defaultOptions(rocksdb.CompactionStyleUniversal, 1)
	path := t.persist(o)
	t.runDBBench(path)
	t.runDBBench(path)
	t.whatDBBenchSets(&o)
	t.verifyOptions(o)
}

func TestDBBenchTest_OptionsFileMultiLevelUniversal(tt *testing.T) {
	t := newDBBenchTest(tt)
	o := t.defaultOptions(rocksdb.CompactionStyleUniversal, 12)
	path := t.persist(o)
	t.runDBBench(path)
	t.whatDBBenchSets(&o)
	t.verifyOptions(o)
}

// TestDBBenchTest_OptionsFileFromFile differs: upstream's file has a semicolon
// behind an enum's name, which real engines refuse, too; it is taken out.
func TestDBBenchTest_OptionsFileFromFile(tt *testing.T) {
	t := newDBBenchTest(tt)
	text, err := os.ReadFile("testdata/OPTIONS_flash.ini")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.dir, "OPTIONS_flash")
	load := func(text string) (rocksdb.Options, error) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		cfg := rocksdb.DefaultConfigOptions()
		p := options.NewParser()
		if err := p.Parse(&cfg, path, env.DefaultFileSystem()); err != nil {
			return rocksdb.Options{}, err
		}
		return rocksdb.Options{DBOptions: *p.DBOptions(), ColumnFamilyOptions: p.CFOptions()[0]}, nil
	}
	const refused = "Invalid argument: No mapping for enum : prepopulate_blob_cache"
	if _, err := load(string(text)); err == nil || err.Error() != refused {
		t.Errorf("with the semicolon: %v", err)
	}
	if out, code := runTool(t.T, "--benchmarks=fillseq", "--db="+t.dbPath, "--options_file="+path); code != 1 || !strings.Contains(out, " --- "+refused+"\n") {
		t.Errorf("with the semicolon: exit %d: %s", code, out)
	}
	o, err := load(strings.Replace(string(text), "kDisable;", "kDisable", 1))
	if err != nil {
		t.Fatal(err)
	}
	t.runDBBench(path)
	o = t.sanitize(o)
	t.whatDBBenchSets(&o)
	t.verifyOptions(o)
}

func (t *dbBenchTest) runIngestBench(threads string, fileInfo, fillCache string) {
	t.Helper()
	out, code := runTool(t.T, "--benchmarks=ingestexternalfile", "--use_existing_db=0", "--num=2000", "--compression_type=none",
		"--db="+t.dbPath, "--wal_dir="+t.walPath, "--ingest_external_file_batch_size=3", "--ingest_external_file_num_batches=2",
		"--ingest_external_file_file_opening_threads="+threads, "--ingest_external_file_use_file_info="+fileInfo,
		"--ingest_external_file_fill_cache="+fillCache)
	if code != 0 {
		t.Fatalf("exit %d: %s", code, out)
	}
	if !strings.Contains(out, "(2 batches x 3 files, 2000 keys/file, "+threads+" threads") {
		t.Fatalf("output %s", out)
	}
	if files, err := filepath.Glob(filepath.Join(t.dbPath, "*.sst")); err != nil || len(files) == 0 {
		t.Fatalf("no tables, error %v", err)
	}
}

func TestDBBenchTest_IngestExternalFile(t *testing.T) {
	x := newDBBenchTest(t)
	for _, threads := range []string{"1", "4"} {
		x.runIngestBench(threads, "false", "true")
	}
}

func TestDBBenchTest_IngestExternalFileWithFileInfo(t *testing.T) {
	newDBBenchTest(t).runIngestBench("4", "true", "true")
}

func TestDBBenchTest_IngestExternalFileWithoutFillCache(t *testing.T) {
	newDBBenchTest(t).runIngestBench("1", "false", "false")
}

// What fillembedded* writes is read as values and as entities.
func TestEmbeddedBlobBenchmarks(t *testing.T) {
	for fill, message := range map[string]string{
		"fillembeddedblob":   "(500 values, value_size=200, embedded_blob_min_size=100)",
		"fillembeddedentity": "(500 entities, 5 cols [1 inline + 4 embedded], embedded_blob_min_size=100)",
	} {
		x := newDBBenchTest(t)
		out, code := runTool(t, "--benchmarks="+fill+",readrandom,readrandomentity,multireadentity", "--num=500", "--value_size=200",
			"--embedded_blob_min_size=100", "--batch_size=10", "--format_version=7", "--compression_type=none", "--db="+x.dbPath, "--wal_dir="+x.walPath)
		if code != 0 || !strings.Contains(out, message) || strings.Count(out, "(500 of 500 found)") != 3 {
			t.Errorf("%s: exit %d: %s", fill, code, out)
		}
	}
	if out, code := runTool(t, "--benchmarks=fillembeddedblob", "--format_version=6"); code == 0 || !strings.Contains(out, "format_version >= 7") {
		t.Errorf("exit %d: %s", code, out)
	}
}
