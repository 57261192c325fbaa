// Port of tools/db_crashtest.py (gen_cmd_params, gen_cmd). Differs: what
// db_stress has not built is pinned off, direct I/O is not mocked, and short
// tests have few keys.

package main

import (
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	dbstresstool "github.com/rocksdb-go/rocksdb/db_stress_tool"
	"github.com/rocksdb-go/rocksdb/env"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/internal/gflags"
)

// params are the parameters of a run: numbers, texts and truth values.
type params map[string]any

// num is a number; without a default a parameter that is not there is none.
func (p params) num(name string, ifAbsent ...float64) float64 {
	switch v := p[name].(type) {
	case int:
		return float64(v)
	case float64:
		return v
	case bool:
		if v {
			return 1
		}
		return 0
	}
	if len(ifAbsent) > 0 {
		return ifAbsent[0]
	}
	return math.NaN()
}

func (p params) str(name string) string {
	s, _ := p[name].(string)
	return s
}

func (p params) flag(name string) bool { return p.num(name, 0) != 0 }

// add adds to an integer.
func (p params) add(name string, n float64) { p[name] = int(p.num(name, 0) + n) }

// options are the words of the command line.
type options struct {
	testType    string // blackbox or whitebox
	switches    map[string]bool
	own         map[string]string // flags of this program alone
	given       params            // parameters
	passedOn    []string          // arguments for db_stress
	initialSeed uint64
	runSeed     uint64 // for every run; 0 draws one for each
}

// switchNames are the kinds of test that may be asked for.
var switchNames = []string{"simple", "cf_consistency", "txn", "optimistic_txn", "test_best_efforts_recovery", "enable_ts", "test_multiops_txn",
	"test_tiered_storage", "print_stderr_separately"}

// ownFlags are not parameters of db_stress.
var ownFlags = []string{"stress_cmd", "cleanup_cmd", "rerun", "overrun"}

// session is a crash test.
type session struct {
	options
	r      *random
	remote bool
	tables map[string]table
	pins   params // what is not built, with the value that has it off
	out    io.Writer
	counts counts

	params     params // of all runs
	runSeedNow uint64 // of the present one
}

func newSession(o *options, out io.Writer) (*session, error) {
	s := &session{options: *o, r: newRandom(o.initialSeed), out: out}
	s.tables = newTables(s.r)
	s.remote = slices.ContainsFunc(o.passedOn, func(arg string) bool {
		name, value, _ := strings.Cut(arg, "=")
		return (name == "--env_uri" || name == "--fs_uri") && value != ""
	})
	var err error
	s.pins, err = unbuilt()
	return s, err
}

// newTables draws what all runs share.
func newTables(r *random) map[string]table {
	t := make(map[string]table)
	for _, e := range []struct {
		name string
		f    func(*random) table
	}{
		{"default", defaultParams}, {"blackbox", blackboxParams}, {"whitebox", whiteboxParams}, {"simple", simpleParams},
		{"blackbox_simple", blackboxSimpleParams}, {"whitebox_simple", whiteboxSimpleParams}, {"cf_consistency", cfConsistencyParams},
		{"txn", txnParams}, {"optimistic_txn", optimisticTxnParams}, {"test_best_efforts_recovery", bestEffortsRecoveryParams},
		{"blob", blobParams}, {"blob_direct_write", blobDirectWriteParams}, {"enable_ts", timestampParams},
		{"test_multiops_txn", multiOpsTxnParams}, {"test_tiered_storage", tieredParams},
	} {
		t[e.name] = e.f(r)
	}
	for name, reads := range map[string]params{
		"blob_direct_write_get_entity":       {"use_get_entity": 1, "use_multi_get_entity": 0},
		"blob_direct_write_multi_get_entity": {"use_get_entity": 0, "use_multi_get_entity": 1},
	} {
		t[name] = maps.Clone(t["blob_direct_write"])
		maps.Copy(t[name], table(reads))
		t[name]["use_attribute_group"] = 0
	}
	t["blob_direct_write_get_entity"]["use_put_entity_one_in"] = once(r.of(1, 5, 10))
	t["blob_direct_write_multi_get_entity"]["use_put_entity_one_in"] = once(r.of(1, 5, 10))
	return t
}

// unbuilt names the flags of db_stress that only a feature not yet built reads.
func unbuilt() (params, error) {
	set, err := gflags.New("db_stress", &dbstresstool.Flags{})
	if err != nil {
		return nil, err
	}
	pins := make(params)
	for _, f := range set.All() {
		if f.HasTag("unbuilt") {
			pins[f.Name] = parseLike(f.Tag("unbuilt"))
		}
	}
	return pins, nil
}

func parseLike(text string) any {
	if n, err := strconv.Atoi(text); err == nil {
		return n
	}
	if text == "true" || text == "false" {
		return map[string]int{"false": 0, "true": 1}[text]
	}
	if f, err := strconv.ParseFloat(text, 64); err == nil {
		return f
	}
	return text
}

// pin turns off what is not built, of what the command line does not ask for.
func (s *session) pin(p params) {
	for name, off := range s.pins {
		if _, here := p[name]; !here {
			continue
		}
		if _, asked := s.given[name]; !asked {
			p[name] = off
		}
	}
}

// A test that takes less than shortTest seconds could not verify more than
// fewKeys.
const (
	shortTest = 1800
	fewKeys   = 100000
)

// testParams are the parameters of all runs, draws among them.
func (s *session) testParams() params {
	p := make(params)
	use := func(name string) { maps.Copy(p, params(s.tables[name])) }
	use("default")
	use(s.testType)
	if s.switches["simple"] {
		use("simple")
		use(s.testType + "_simple")
	}
	for _, name := range []string{"cf_consistency", "txn", "optimistic_txn", "test_best_efforts_recovery", "enable_ts", "test_multiops_txn", "test_tiered_storage"} {
		if s.switches[name] {
			use(name)
		}
	}
	if blobs := s.r.intIn(1, 10) == 1; blobs && p.num("test_secondary", 0) == 0 && !s.switches["test_best_efforts_recovery"] && !s.switches["test_tiered_storage"] {
		kinds := []string{"blob"}
		if _, not := s.pins["enable_blob_direct_write"]; !not {
			kinds = append(kinds, "blob_direct_write", "blob_direct_write_get_entity", "blob_direct_write_multi_get_entity")
		}
		use(kinds[s.r.IntN(len(kinds))])
	}
	if _, ok := p["compaction_style"]; !ok {
		p["compaction_style"] = 0
		if s.switches["test_tiered_storage"] {
			p["compaction_style"] = 1
		}
	}
	for _, name := range switchNames {
		p[name] = s.switches[name]
	}
	s.pin(p)
	maps.Copy(p, s.given)
	if _, asked := s.given["max_key"]; !asked && p.num("duration") < shortTest {
		p["max_key"] = fewKeys
	}
	return p
}

// notForStress are the parameters that db_stress does not have.
var notForStress = append([]string{"test_type", "duration", "interval", "random_kill_odd", "verify_timeout"}, switchNames...)

// command gives the arguments of a run and its parameters, drawn and sanitized.
func (s *session) command(test params) ([]string, params, error) {
	p := make(params)
	for _, name := range slices.Sorted(maps.Keys(test)) {
		p[name] = test[name]
		if d, ok := test[name].(draw); ok {
			p[name] = d()
		}
	}
	p["test_type"] = s.testType
	s.pin(p)
	s.sanitize(p)
	s.pin(p)
	expected := p.str("expected_values_dir")
	if expected != "" {
		if p.num("destroy_db_initially", 0) != 0 {
			if err := os.RemoveAll(expected); err != nil {
				return nil, nil, err
			}
		}
		dirs := []string{expected}
		if n := int(p.num("num_dbs", 1)); n > 1 {
			dirs = nil
			for i := range n {
				dirs = append(dirs, filepath.Join(expected, "db_"+strconv.Itoa(i)))
			}
		}
		for _, dir := range dirs {
			if err := os.MkdirAll(dir, 0o755); err != nil {
				return nil, nil, err
			}
		}
	}
	var args []string
	for _, name := range slices.Sorted(maps.Keys(p)) {
		if !slices.Contains(notForStress, name) && p[name] != nil {
			args = append(args, fmt.Sprintf("--%s=%v", name, p[name]))
		}
	}
	return append(args, s.passedOn...), p, nil
}

// directIO tells whether the directory's file system has direct I/O.
func (s *session) directIO(dir string) bool {
	if s.remote || os.MkdirAll(dir, 0o755) != nil {
		return false
	}
	f, err := os.CreateTemp(dir, "direct")
	if err != nil {
		return false
	}
	defer os.Remove(f.Name()) //nolint:errcheck // a file of no use
	if err := f.Close(); err != nil {
		return false
	}
	o := rocksdb.DefaultFileOptions()
	o.UseDirectReads = true
	d, err := env.DefaultFileSystem().NewRandomAccessFile(f.Name(), &o)
	if err != nil {
		return false
	}
	return d.Close() == nil
}

// releaseMode tells whether DEBUG_LEVEL asks for what a release build can do.
func releaseMode() bool { return os.Getenv("DEBUG_LEVEL") == "0" }
