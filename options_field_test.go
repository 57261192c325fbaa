// No upstream twin: public reports about options, each with the outcome that is
// right. Their ids stand beside the tests.

package rocksdb_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb"
)

// freshOptions makes a database and gives its directory and OPTIONS file.
func freshOptions(t *testing.T) (dir, path, text string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "db")
	o := rocksdb.DefaultOptions()
	o.CreateIfMissing = true
	db, err := rocksdb.Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	path, text = newestOptions(t, dir)
	return dir, path, text
}

func newestOptions(t *testing.T, dir string) (path, text string) {
	t.Helper()
	files, _ := filepath.Glob(filepath.Join(dir, "OPTIONS-*"))
	if len(files) == 0 {
		t.Fatal("no OPTIONS file")
	}
	path = files[len(files)-1]
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return path, string(data)
}

func writeText(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func wantInvalid(t *testing.T, err error, part string) {
	t.Helper()
	if rocksdb.CodeOf(err) != rocksdb.CodeInvalidArgument || !strings.Contains(err.Error(), part) {
		t.Errorf("%v, not an invalid argument with %q", err, part)
	}
}

func TestFieldUnknownTableFactory(t *testing.T) { // facebook/rocksdb#10094
	dir, path, text := freshOptions(t)
	section := regexp.MustCompile(`(?s)\[TableOptions/BlockBasedTable "default"\].*?(\n\n|$)`)
	if !section.MatchString(text) || !strings.Contains(text, "table_factory=BlockBasedTable") {
		t.Fatal(text)
	}
	text = strings.Replace(text, "table_factory=BlockBasedTable", "table_factory=NoSuchTable", 1)
	for name, changed := range map[string]string{"left": text,
		"renamed": strings.Replace(text, "[TableOptions/BlockBasedTable ", "[TableOptions/NoSuchTable ", 1),
		"removed": section.ReplaceAllString(text, "")} {
		writeText(t, path, changed)
		cfg := rocksdb.DefaultConfigOptions()
		cfg.IgnoreUnsupportedOptions = false
		_, _, err := rocksdb.LoadLatestOptions(&cfg, dir, nil)
		wantInvalid(t, err, "Could not load TableFactory: NoSuchTable")
		cfg.IgnoreUnsupportedOptions = true
		o, families, err := rocksdb.LoadLatestOptions(&cfg, dir, nil)
		if err != nil || len(families) != 1 {
			t.Fatal(name, err)
		}
		if f := families[0].Options.TableFactory; name == "left" {
			if f == nil || f.Name() != rocksdb.BlockBasedTableName {
				t.Errorf("%s: %v", name, f)
			}
			continue
		}
		_, _, err = rocksdb.OpenColumnFamilies(dir, o, families)
		if rocksdb.CodeOf(err) != rocksdb.CodeNotFound || !strings.Contains(err.Error(), "Missing configurable object: table_factory") {
			t.Errorf("%s: %v", name, err)
		}
	}
	cfg := rocksdb.DefaultConfigOptions()
	cfg.IgnoreUnsupportedOptions = false
	_, err := rocksdb.GetColumnFamilyOptionsFromString(&cfg, rocksdb.DefaultColumnFamilyOptions(), "table_factory=NoSuchTable")
	wantInvalid(t, err, "NoSuchTable")
	cfg.IgnoreUnsupportedOptions = true
	f, err := rocksdb.GetColumnFamilyOptionsFromString(&cfg, rocksdb.DefaultColumnFamilyOptions(), "table_factory=NoSuchTable")
	if err != nil || f.TableFactory != nil && f.TableFactory.Name() == rocksdb.BlockBasedTableName {
		t.Errorf("%v, %v", f.TableFactory, err)
	}
}

func TestFieldLostOptions(t *testing.T) { // facebook/rocksdb#13038
	dir := filepath.Join(t.TempDir(), "db")
	o := rocksdb.DefaultOptions()
	o.CreateIfMissing = true
	o.BackgroundCloseInactiveWALs, o.WriteDBIDToManifest, o.WriteIdentityFile, o.PrefixSeekOptInOnly = true, false, true, true
	db, err := rocksdb.Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	cfg := rocksdb.DefaultConfigOptions()
	got, _, err := rocksdb.LoadLatestOptions(&cfg, dir, nil)
	if err != nil || !got.BackgroundCloseInactiveWALs || got.WriteDBIDToManifest || !got.WriteIdentityFile || !got.PrefixSeekOptInOnly {
		t.Errorf("%+v, %v", got, err)
	}
	// Every option of the file that is a boolean or a number keeps a new value,
	// and changes no other.
	_, text := newestOptions(t, dir)
	row := regexp.MustCompile(`^  (\w+)=(true|false|\d+)$`)
	checked := 0
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, "[") {
			if strings.HasPrefix(line, "[TableOptions") {
				break
			}
		}
		m := row.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		value := map[string]string{"true": "false", "false": "true", "0": "1", "1": "2"}[m[2]]
		if value == "" { // another last digit, not above the largest number
			at := len(m[2]) - 1
			value = m[2][:at] + map[bool]string{true: "1", false: "0"}[m[2][at] == '0']
		}
		assign := m[1] + "=" + value
		before, after := describeOptions(t, rocksdb.DefaultOptions()), ""
		changed, err := rocksdb.GetOptionsFromString(nil, rocksdb.DefaultOptions(), assign)
		if err != nil {
			t.Errorf("%s: %v", assign, err)
			continue
		}
		after = describeOptions(t, changed)
		is, was := strings.Split(after, ";"), strings.Split(before, ";")
		if len(is) != len(was) {
			t.Errorf("%s: %d options, %d before", assign, len(is), len(was))
			continue
		}
		for i := range is {
			if name, v, _ := strings.Cut(strings.TrimSpace(is[i]), "="); name == m[1] && v != value || name != m[1] && is[i] != was[i] {
				t.Errorf("%s: %q, before %q", assign, is[i], was[i])
			}
		}
		checked++
	}
	if checked < 120 {
		t.Errorf("%d options", checked)
	}
}

// describeOptions writes all options out.
func describeOptions(t *testing.T, o rocksdb.Options) string {
	t.Helper()
	d, err := rocksdb.GetStringFromDBOptions(nil, o.DBOptions)
	if err != nil {
		t.Fatal(err)
	}
	f, err := rocksdb.GetStringFromColumnFamilyOptions(nil, o.ColumnFamilyOptions)
	if err != nil {
		t.Fatal(err)
	}
	return d + f
}

func TestFieldOldSpelling(t *testing.T) { // facebook/rocksdb#14811
	const right, wrong = "memtable_verify_per_key_checksum_on_seek", "memtable_veirfy_per_key_checksum_on_seek"
	dir, path, text := freshOptions(t)
	if !strings.Contains(text, right+"=false") {
		t.Fatal(text)
	}
	writeText(t, path, strings.Replace(text, right+"=false", wrong+"=true", 1))
	cfg := rocksdb.DefaultConfigOptions()
	o, families, err := rocksdb.LoadLatestOptions(&cfg, dir, nil)
	if err != nil || !families[0].Options.MemtableVerifyPerKeyChecksumOnSeek {
		t.Fatal(err)
	}
	db, _, err := rocksdb.OpenColumnFamilies(dir, o, families)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, text := newestOptions(t, dir); !strings.Contains(text, right+"=true") || strings.Contains(text, wrong) {
		t.Error(text)
	}
	f, err := rocksdb.GetColumnFamilyOptionsFromString(nil, rocksdb.DefaultColumnFamilyOptions(), wrong+"=true")
	if err != nil || !f.MemtableVerifyPerKeyChecksumOnSeek {
		t.Error(err)
	}
	if err := db.SetOptions(map[string]string{wrong: "false"}); err != nil || db.GetOptions().MemtableVerifyPerKeyChecksumOnSeek {
		t.Error(err)
	}
}

func TestFieldIgnoredOptions(t *testing.T) { // facebook/rocksdb#3527
	dir, path, text := freshOptions(t)
	for _, section := range []string{"[DBOptions]", `[CFOptions "default"]`, `[TableOptions/BlockBasedTable "default"]`} {
		for version, later := range map[string]bool{"9.0.0": false, "11.8.0": false, "11.8.1": false, "11.8.2": true, "11.9.0": true, "12.0.0": true} {
			changed := regexp.MustCompile(`rocksdb_version=\S+`).ReplaceAllString(text, "rocksdb_version="+version)
			changed = strings.Replace(changed, section+"\n", section+"\n  no_such_option=5\n", 1)
			if strings.Count(changed, "no_such_option") != 1 {
				t.Fatal(section)
			}
			writeText(t, path, changed)
			cfg := rocksdb.DefaultConfigOptions()
			cfg.IgnoreUnknownOptions = false
			_, _, err := rocksdb.LoadLatestOptions(&cfg, dir, nil)
			wantInvalid(t, err, "Extra option not recognized: no_such_option")
			cfg.IgnoreUnknownOptions = true
			if _, _, err = rocksdb.LoadLatestOptions(&cfg, dir, nil); later && err != nil {
				t.Errorf("%s, %s: %v", section, version, err)
			} else if !later {
				wantInvalid(t, err, "Extra option not recognized: no_such_option")
			}
		}
	}
}

func TestFieldLargeBlocks(t *testing.T) { // facebook/rocksdb#5486; refused everywhere
	const message = "block size exceeds maximum number (4GiB) allowed"
	withSize := func(n uint64) rocksdb.Options {
		o := rocksdb.DefaultOptions()
		o.CreateIfMissing = true
		b := rocksdb.DefaultBlockBasedTableOptions()
		b.BlockSize = n
		o.TableFactory = rocksdb.NewBlockBasedTableFactory(b)
		return o
	}
	dir := filepath.Join(t.TempDir(), "db")
	for _, n := range []uint64{1 << 33, 1<<32 + 1, 1 << 32} {
		_, err := rocksdb.Open(dir, withSize(n))
		wantInvalid(t, err, message)
		if _, err := os.Stat(dir); !os.IsNotExist(err) {
			t.Errorf("a directory was made: %v", err)
		}
	}
	db, err := rocksdb.Open(dir, withSize(1<<32-1))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	_, err = db.CreateColumnFamily(withSize(1<<33).ColumnFamilyOptions, "x")
	wantInvalid(t, err, message)
	if err := db.SetOptions(map[string]string{"block_based_table_factory": "{block_size=8589934592}"}); err == nil {
		t.Error("SetOptions took a block of 8 GiB")
	}
}

// holdFilter blocks compactions until it is let go.
type holdFilter struct{ entered, release chan struct{} }

func (f *holdFilter) Name() string          { return "holdFilter" }
func (f *holdFilter) IgnoreSnapshots() bool { return true }
func (f *holdFilter) FilterV3(int, []byte, rocksdb.CompactionFilterValueType, []byte) (rocksdb.CompactionFilterDecision, []byte, []byte) {
	select {
	case f.entered <- struct{}{}:
	default:
	}
	<-f.release
	return rocksdb.FilterKeep, nil, nil
}

func TestFieldSetOptionsDuringCompaction(t *testing.T) { // facebook/rocksdb#13294
	f := &holdFilter{make(chan struct{}, 1), make(chan struct{})}
	dir := filepath.Join(t.TempDir(), "db")
	o := rocksdb.DefaultOptions()
	o.CreateIfMissing = true
	o.CompactionFilter = f
	o.Level0FileNumCompactionTrigger = 2
	db, err := rocksdb.Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(db.Put(nil, []byte("a"), []byte("1")))
	must(db.Flush(nil))
	must(db.Put(nil, []byte("a"), []byte("2")))
	must(db.Put(nil, []byte("b"), []byte("1")))
	must(db.Flush(nil))
	<-f.entered
	must(db.SetOptions(map[string]string{"level0_file_num_compaction_trigger": "99"}))
	check := func() {
		t.Helper()
		if n := db.GetOptions().Level0FileNumCompactionTrigger; n != 99 {
			t.Errorf("the trigger is %d", n)
		}
	}
	check()
	close(f.release)
	must(db.WaitForCompact(nil))
	check()
	for range 7 {
		must(db.Put(nil, []byte("c"), []byte("1")))
		must(db.Flush(nil))
	}
	must(db.WaitForCompact(nil))
	check()
	if n, _ := db.GetProperty("rocksdb.num-files-at-level0"); n != "7" {
		t.Errorf("%s files at level 0", n)
	}
	if n, _ := db.GetProperty("rocksdb.num-files-at-level6"); n != "1" {
		t.Errorf("%s files at level 6", n)
	}
	if _, text := newestOptions(t, dir); !strings.Contains(text, "level0_file_num_compaction_trigger=99\n") {
		t.Error("the OPTIONS file has another trigger")
	}
	must(db.Close())
	if db, err = rocksdb.Open(dir, o); err != nil {
		t.Fatal(err)
	}
	if n := db.GetOptions().Level0FileNumCompactionTrigger; n != 2 {
		t.Errorf("reopened, the trigger is %d", n)
	}
	must(db.Close())
}
