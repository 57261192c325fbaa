// No upstream twin: the same operations under different options give the same
// answers. A failing run is shrunk and written as a case that is run from then on.

package rocksdb_test

import (
	"flag"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rocksdb-go/rocksdb"
)

var metamorphicTime = flag.Duration("metamorphic", 0, "how long TestMetamorphic goes on; 0 for a few runs")

const metamorphicCases = "testdata/metamorphic"

// metamorphicDB runs operations, which are text: a verb and words behind it. Of
// values "7x30" is "7." thirty times.
type metamorphicDB struct {
	options   rocksdb.Options
	db        *rocksdb.DB
	snapshots map[string]rocksdb.Snapshot
	iterators map[string]*rocksdb.Iterator
	ingested  int
}

// runOperations gives the answer to each operation.
func runOperations(optionText string, ops []string) (answers []string, err error) {
	o := rocksdb.DefaultOptions()
	o.MergeOperator = rocksdb.NewStringAppendOperator(",")
	o, err = rocksdb.GetOptionsFromString(nil, o, optionText)
	if err != nil {
		return nil, err
	}
	o.CreateIfMissing, o.Env = true, rocksdb.NewMemEnv(rocksdb.DefaultEnv())
	m := &metamorphicDB{options: o, snapshots: map[string]rocksdb.Snapshot{}, iterators: map[string]*rocksdb.Iterator{}}
	if err := m.open(); err != nil {
		return nil, err
	}
	for _, op := range ops {
		answer, err := m.run(strings.Fields(op))
		if err != nil {
			answer = err.Error()
		}
		answers = append(answers, answer)
	}
	return answers, m.close()
}

func (m *metamorphicDB) open() (err error) {
	m.db, err = rocksdb.Open("/db", m.options)
	return err
}

func (m *metamorphicDB) close() error {
	for name, it := range m.iterators {
		delete(m.iterators, name)
		if err := it.Close(); err != nil {
			return err
		}
	}
	for name, s := range m.snapshots {
		delete(m.snapshots, name)
		if err := m.db.ReleaseSnapshot(s); err != nil {
			return err
		}
	}
	return m.db.Close()
}

func expandValue(word string) []byte {
	if n, times, ok := strings.Cut(word, "x"); ok {
		var count int
		fmt.Sscan(times, &count)
		return []byte(strings.Repeat(n+".", count))
	}
	return []byte(word)
}

func showValue(v []byte) string {
	if len(v) <= 24 {
		return string(v)
	}
	return fmt.Sprintf("%d:%08x", len(v), crc32.ChecksumIEEE(v))
}

func (m *metamorphicDB) run(op []string) (string, error) {
	words := make([][]byte, len(op))
	for i, w := range op {
		words[i] = []byte(w)
	}
	switch verb := op[0]; verb {
	case "put":
		return "", m.db.Put(nil, words[1], expandValue(op[2]))
	case "merge":
		return "", m.db.Merge(nil, words[1], expandValue(op[2]))
	case "delete":
		return "", m.db.Delete(nil, words[1])
	case "deleterange":
		return "", m.db.DeleteRange(nil, words[1], words[2])
	case "batch":
		return "", m.batch(op[1:])
	case "entity":
		return "", m.db.PutEntity(nil, words[1], parseColumns(op[2:]))
	case "ingest":
		return "", m.ingest(op[1:])
	case "flush":
		return "", m.db.Flush(nil)
	case "compact":
		return "", m.db.CompactRange(nil, words[1], words[2])
	case "reopen":
		if err := m.close(); err != nil {
			return "", err
		}
		return "", m.open()
	case "snapshot":
		if old := m.snapshots[op[1]]; old != nil {
			if err := m.db.ReleaseSnapshot(old); err != nil {
				return "", err
			}
		}
		m.snapshots[op[1]] = m.db.GetSnapshot()
		return "", nil
	case "iterator":
		if old := m.iterators[op[1]]; old != nil {
			if err := old.Close(); err != nil {
				return "", err
			}
		}
		ro := rocksdb.DefaultReadOptions()
		ro.TotalOrderSeek = true
		if len(op) > 3 {
			ro.IterateLowerBound, ro.IterateUpperBound = words[2], words[3]
		}
		m.iterators[op[1]] = m.db.NewIterator(&ro)
		return "", nil
	case "seek", "seekback", "first", "last", "next", "prev":
		return m.move(op)
	}
	return m.read(op, words)
}

// read is for the verbs "get", "columns", "scan" and "scanback"; a word more is a
// snapshot's name.
func (m *metamorphicDB) read(op []string, words [][]byte) (string, error) {
	ro := rocksdb.DefaultReadOptions()
	ro.TotalOrderSeek = true
	needed := 2
	if strings.HasPrefix(op[0], "scan") {
		needed = 3
	}
	if len(op) > needed {
		if ro.Snapshot = m.snapshots[op[needed]]; ro.Snapshot == nil {
			return "no snapshot", nil
		}
	}
	switch op[0] {
	case "get":
		v, err := m.db.Get(&ro, words[1])
		if err != nil {
			return "", err
		}
		defer v.Release()
		return "=" + showValue(v.Data()), nil
	case "columns":
		var p rocksdb.PinnableWideColumns
		if err := m.db.GetEntity(&ro, words[1], &p); err != nil {
			return "", err
		}
		defer p.Reset()
		return showColumns(p.Columns()), nil
	}
	it := m.db.NewIterator(&ro)
	var all []string
	if op[0] == "scan" {
		for it.Seek(words[1]); it.Valid() && string(it.Key()) < op[2]; it.Next() {
			all = append(all, showEntry(it))
		}
	} else {
		for it.SeekForPrev(words[2]); it.Valid() && string(it.Key()) >= op[1]; it.Prev() {
			all = append(all, showEntry(it))
		}
	}
	err := it.Status()
	if e := it.Close(); err == nil {
		err = e
	}
	return strings.Join(all, " "), err
}

func showEntry(it *rocksdb.Iterator) string {
	return string(it.Key()) + "=" + showValue(it.Value())
}

func (m *metamorphicDB) move(op []string) (string, error) {
	it := m.iterators[op[1]]
	if it == nil {
		return "no iterator", nil
	}
	switch op[0] {
	case "seek":
		it.Seek([]byte(op[2]))
	case "seekback":
		it.SeekForPrev([]byte(op[2]))
	case "first":
		it.SeekToFirst()
	case "last":
		it.SeekToLast()
	case "next":
		if it.Valid() {
			it.Next()
		}
	case "prev":
		if it.Valid() {
			it.Prev()
		}
	}
	if !it.Valid() {
		return "end", it.Status()
	}
	return showEntry(it), nil
}

// batch has words "key=value", "key+operand" and "key", a deletion.
func (m *metamorphicDB) batch(words []string) error {
	b := rocksdb.NewWriteBatch()
	for _, w := range words {
		var err error
		if k, v, ok := strings.Cut(w, "="); ok {
			err = b.Put([]byte(k), expandValue(v))
		} else if k, v, ok := strings.Cut(w, "+"); ok {
			err = b.Merge([]byte(k), expandValue(v))
		} else {
			err = b.Delete([]byte(w))
		}
		if err != nil {
			return err
		}
	}
	return m.db.Write(nil, b)
}

func parseColumns(words []string) (columns rocksdb.WideColumns) {
	for _, w := range words {
		name, v, _ := strings.Cut(w, "=")
		columns = append(columns, rocksdb.WideColumn{Name: []byte(name), Value: expandValue(v)})
	}
	return columns
}

func showColumns(columns rocksdb.WideColumns) string {
	var all []string
	for _, c := range columns {
		all = append(all, string(c.Name)+"="+showValue(c.Value))
	}
	return strings.Join(all, " ")
}

// ingest makes a table of entries "key=value", in order, and takes it in.
func (m *metamorphicDB) ingest(words []string) error {
	m.ingested++
	name := fmt.Sprintf("/ingested%d.sst", m.ingested)
	w := rocksdb.NewSstFileWriter(m.options, nil)
	if err := w.Open(name, rocksdb.TemperatureUnknown); err != nil {
		return err
	}
	for _, word := range words {
		k, v, _ := strings.Cut(word, "=")
		if err := w.Put([]byte(k), expandValue(v)); err != nil {
			return err
		}
	}
	if err := w.Finish(nil); err != nil {
		return err
	}
	return m.db.IngestExternalFile([]string{name}, nil)
}

// drawOperations gives n operations, most of them on few keys.
func drawOperations(r *rand.Rand, n int) (ops []string) {
	key := func() string { return fmt.Sprintf("k%02d", r.IntN(40)) }
	value := func() string {
		if r.IntN(4) > 0 {
			return fmt.Sprint(r.IntN(1000))
		}
		return fmt.Sprintf("%dx%d", r.IntN(1000), 1+r.IntN(1500))
	}
	span := func() string {
		a := r.IntN(40)
		return fmt.Sprintf("k%02d k%02d", a, a+1+r.IntN(20))
	}
	entries := func() string {
		a, b := r.IntN(20), 20+r.IntN(20)
		return fmt.Sprintf("k%02d=%s k%02d=%s", a, value(), b, value())
	}
	snapshot := func() string {
		if r.IntN(3) == 0 {
			return fmt.Sprint(" s", r.IntN(3))
		}
		return ""
	}
	iterator := func() string { return fmt.Sprint("i", r.IntN(2)) }
	for range n {
		var op string
		switch p := r.IntN(100); {
		case p < 20:
			op = "put " + key() + " " + value()
		case p < 28:
			op = "delete " + key()
		case p < 33:
			op = "deleterange " + span()
		case p < 41:
			op = "merge " + key() + " " + value()
		case p < 45:
			op = "batch " + key() + "=" + value() + " " + key() + " " + key() + "+" + value()
		case p < 48:
			op = "entity " + key() + " a=" + value() + " b=" + value()
		case p < 50:
			op = "ingest " + entries()
		case p < 54:
			op = "flush"
		case p < 57:
			op = "compact " + span()
		case p < 58:
			op = "reopen"
		case p < 61:
			op = fmt.Sprint("snapshot s", r.IntN(3))
		case p < 64:
			op = "iterator " + iterator()
			if r.IntN(2) == 0 {
				op += " " + span()
			}
		case p < 69:
			op = "seek " + iterator() + " " + key()
		case p < 72:
			op = "seekback " + iterator() + " " + key()
		case p < 74:
			op = []string{"first ", "last "}[r.IntN(2)] + iterator()
		case p < 84:
			op = []string{"next ", "prev "}[r.IntN(2)] + iterator()
		case p < 92:
			op = "get " + key() + snapshot()
		case p < 94:
			op = "columns " + key() + snapshot()
		case p < 97:
			op = "scan " + span() + snapshot()
		default:
			op = "scanback " + span() + snapshot()
		}
		ops = append(ops, op)
	}
	return ops
}

// metamorphicOptions are choices, of which each run takes some.
var metamorphicOptions = [][]string{
	{"write_buffer_size=65536", "write_buffer_size=65536;max_write_buffer_number=4;min_write_buffer_number_to_merge=2"},
	{"memtable_factory=vector;allow_concurrent_memtable_write=false", "memtable_factory=prefix_hash;prefix_extractor=fixed:2;allow_concurrent_memtable_write=false"},
	{"compression=kZSTD", "compression=kLZ4Compression;bottommost_compression=kZlibCompression", "compression=kNoCompression"},
	{"enable_blob_files=true;min_blob_size=10", "enable_blob_files=true;enable_blob_garbage_collection=true;blob_garbage_collection_age_cutoff=1.0"},
	{"compaction_style=kCompactionStyleUniversal", "level_compaction_dynamic_level_bytes=false", "num_levels=3"},
	{"level0_file_num_compaction_trigger=1", "level0_file_num_compaction_trigger=2", "disable_auto_compactions=true"},
	{"target_file_size_base=2048;max_bytes_for_level_base=8192", "target_file_size_base=512;max_subcompactions=4"},
	{"max_sequential_skip_in_iterations=1", "max_sequential_skip_in_iterations=0"},
	{"min_tombstones_for_range_conversion=2"},
	{"memtable_op_scan_flush_trigger=2", "memtable_op_scan_flush_trigger=5;memtable_avg_op_scan_flush_trigger=2"},
	{"max_successive_merges=2;strict_max_successive_merges=true"},
	{"enable_pipelined_write=true", "two_write_queues=true"},
	{"avoid_flush_during_recovery=true", "avoid_flush_during_shutdown=true"},
	{"wal_compression=kZSTD"},
	{"memtable_prefix_bloom_size_ratio=0.1;memtable_whole_key_filtering=true"},
	{"memtable_protection_bytes_per_key=8;block_protection_bytes_per_key=4;paranoid_file_checks=true"},
}

// metamorphicTables are choices of the table's options.
var metamorphicTables = [][]string{
	{"block_size=64", "block_size=1024"},
	{"index_type=kTwoLevelIndexSearch;partition_filters=true;metadata_block_size=128", "index_type=kBinarySearchWithFirstKey"},
	{"format_version=2", "format_version=5", "format_version=7"},
	{"filter_policy=bloomfilter:8", "filter_policy=ribbonfilter:8"},
	{"data_block_index_type=kDataBlockBinaryAndHash"},
	{"no_block_cache=true", "cache_index_and_filter_blocks=true"},
	{"block_restart_interval=1", "block_restart_interval=3;index_block_restart_interval=4"},
	{"checksum=kxxHash", "checksum=kNoChecksum"},
	{"separate_key_value_in_data_block=true;format_version=7", "whole_key_filtering=false"},
}

func drawOptions(r *rand.Rand) string {
	choose := func(all [][]string) string {
		var chosen []string
		for _, choices := range all {
			if r.IntN(3) == 0 {
				chosen = append(chosen, choices[r.IntN(len(choices))])
			}
		}
		return strings.Join(chosen, ";")
	}
	text := choose(metamorphicOptions)
	if table := choose(metamorphicTables); table != "" {
		text += ";block_based_table_factory={" + table + "}"
	}
	return strings.TrimPrefix(text, ";")
}

// operationRunner is runOperations, or what stands for it in a test of shrink.
type operationRunner func(options string, ops []string) (answers []string, err error)

// differ runs the operations under no options and under those.
func differ(run operationRunner, options string, ops []string) (want []string, problem string) {
	want, err := run("", ops)
	if err != nil {
		return nil, "without options: " + err.Error()
	}
	got, err := run(options, ops)
	if err != nil {
		return want, err.Error()
	}
	for i := range want {
		if want[i] != got[i] {
			return want, fmt.Sprintf("%s: %q, without options %q", ops[i], got[i], want[i])
		}
	}
	return want, ""
}

// shrink leaves out operations, and options, that the difference does not need.
func shrink(run operationRunner, options string, ops []string) (string, []string) {
	fails := func(options string, ops []string) bool {
		_, problem := differ(run, options, ops)
		return problem != ""
	}
	for size := max(len(ops)/2, 1); ; {
		smaller := false
		for at := 0; at < len(ops); {
			rest := slices.Concat(ops[:at], ops[min(at+size, len(ops)):])
			if fails(options, rest) {
				ops, smaller = rest, true
			} else {
				at += size
			}
		}
		if size > 1 {
			size /= 2
		} else if !smaller {
			break
		}
	}
	for _, all := range [][][]string{metamorphicOptions, metamorphicTables} {
		for _, choice := range slices.Concat(all...) {
			without := strings.ReplaceAll(strings.ReplaceAll(strings.ReplaceAll(options, choice+";", ""), choice, ""), ";block_based_table_factory={}", "")
			if without != options && fails(without, ops) {
				options = without
			}
		}
	}
	return options, ops
}

// formatCase is a case's text: options, and operations with the answers that
// they have without any.
func formatCase(options string, ops, answers []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "options %s\n", options)
	for i, op := range ops {
		b.WriteString(op + "\n")
		if answers[i] != "" {
			b.WriteString("\t" + answers[i] + "\n")
		}
	}
	return b.String()
}

func parseCase(text string) (options []string, ops, answers []string) {
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		switch o, isOptions := strings.CutPrefix(line, "options "); {
		case isOptions:
			options = append(options, o)
		case strings.HasPrefix(line, "\t"):
			answers[len(answers)-1] = line[1:]
		default:
			ops, answers = append(ops, line), append(answers, "")
		}
	}
	return options, ops, answers
}

// TestMetamorphic draws operations and options; what differs becomes a case of
// TestMetamorphicCases.
func TestMetamorphic(t *testing.T) {
	const runs, operations, variants = 12, 150, 2
	end := time.Now().Add(*metamorphicTime)
	first := uint64(1)
	if *metamorphicTime > 0 {
		first = rand.Uint64()
	}
	n := 0
	for seed := first; n < runs || time.Now().Before(end); seed++ {
		r := rand.New(rand.NewPCG(seed, 5))
		ops := drawOperations(r, operations)
		for range variants {
			n++
			options := drawOptions(r)
			if _, problem := differ(runOperations, options, ops); problem == "" {
				continue
			}
			options, ops = shrink(runOperations, options, ops)
			want, problem := differ(runOperations, options, ops)
			name := filepath.Join(metamorphicCases, fmt.Sprintf("seed%d.txt", seed))
			if err := os.WriteFile(name, []byte(formatCase(options, ops, want)), 0o644); err != nil {
				t.Error(err)
			}
			t.Fatalf("%s under %s, seed %d: %s", name, options, seed, problem)
		}
	}
	t.Logf("%d runs", n)
}

func TestMetamorphicCases(t *testing.T) {
	names, err := filepath.Glob(filepath.Join(metamorphicCases, "*.txt"))
	if err != nil || len(names) == 0 {
		t.Fatalf("%d cases, %v", len(names), err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		options, ops, want := parseCase(string(text))
		for _, o := range append([]string{""}, options...) {
			got, err := runOperations(o, ops)
			if err != nil {
				t.Errorf("%s under %q: %v", name, o, err)
				continue
			}
			for i := range ops {
				if got[i] != want[i] {
					t.Errorf("%s under %q: %s: %q, want %q", name, o, ops[i], got[i], want[i])
				}
			}
		}
	}
}

// TestMetamorphicShrink breaks an engine on purpose.
func TestMetamorphicShrink(t *testing.T) {
	broken := func(options string, ops []string) ([]string, error) {
		answers, err := runOperations("", ops)
		flushed := false
		for i, op := range ops {
			flushed = flushed || strings.HasPrefix(op, "flush")
			if flushed && strings.HasPrefix(op, "get") && strings.Contains(options, "compression=kZSTD") {
				answers[i] += "!"
			}
		}
		return answers, err
	}
	ops := drawOperations(rand.New(rand.NewPCG(1, 1)), 100)
	const all = "write_buffer_size=65536;compression=kZSTD;block_based_table_factory={block_size=64}"
	if _, problem := differ(broken, all, ops); problem == "" {
		t.Fatal("not broken")
	}
	options, ops := shrink(broken, all, ops)
	if len(ops) != 2 || options != "compression=kZSTD" {
		t.Errorf("%q under %q", ops, options)
	}
	want, _ := differ(broken, options, ops)
	if o, p, w := parseCase(formatCase(options, ops, want)); !slices.Equal(o, []string{options}) || !slices.Equal(p, ops) || !slices.Equal(w, want) {
		t.Errorf("read as %q %q %q", o, p, w)
	}
}
