// No upstream twin: walks the compatibility matrix.

package compat

import (
	"bytes"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/internal/engines"
)

var writeTo = flag.String("compat", "", "write the tables to this file")

// outcome is what became of a cell: "" where all was as it should be.
type outcome string

// reading is what an engine read of a database.
type reading struct {
	err   string
	cells map[string]sums
	gets  map[string]string // hex key -> sum of the value, "" or "!error"
}

// judge compares a reading with what was written to cell i.
func (r *reading) judge(i int, entries []entry, with func(int) bool) outcome {
	want := expected(entries, with)
	for _, k := range asked {
		key := hex.EncodeToString(entries[k].key)
		got, wantGet := r.gets[key], ""
		if with(k) {
			wantGet = sumOf(entries[k].value)
		}
		switch {
		case strings.HasPrefix(got, "!"):
			return outcome(got[1:])
		case got != wantGet && r.err != "" && got == "":
			return outcome(r.err)
		case got != wantGet:
			return outcome(fmt.Sprintf("WRONG: key %s", entries[k].key))
		}
	}
	switch got, ok := r.cells[cellPrefix(i)]; {
	case ok && got == want:
		return ""
	case r.err != "":
		return "(scan) " + outcome(r.err)
	default:
		return outcome(fmt.Sprintf("WRONG: %d keys of %d", got.N, want.N))
	}
}

// readNPM lets an npm engine read a database.
func readNPM(t testing.TB, version, dir string, gets []string) *reading {
	res := engines.RunJob(t, version, &engines.Job{DB: dir, Prefix: prefixSize, Gets: gets})
	r := &reading{err: res.Error, cells: map[string]sums{}, gets: res.Gets}
	for p, s := range res.Cells {
		r.cells[p] = sums{s.N, s.MD5}
	}
	if r.gets == nil {
		r.gets = map[string]string{}
	}
	return r
}

// readDebian lets Debian's ldb read a database.
func readDebian(t testing.TB, dir string, gets []string) *reading {
	r := &reading{cells: map[string]sums{}, gets: map[string]string{}}
	ldb := engines.Tool(t, "ldb")
	var errs bytes.Buffer
	cmd := exec.Command(ldb, "--db="+dir, "--ignore_unknown_options", "--hex", "scan")
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil || errs.Len() > 0 {
		r.err = strings.TrimPrefix(strings.TrimSpace(errs.String()+fmt.Sprint(err)), "Failed: ")
	}
	r.cells = sumLines(strings.ReplaceAll(string(out), " : ", " ==> "))
	var in strings.Builder
	for i, k := range gets {
		if i%len(asked) == len(asked)-1 {
			continue // it ends at a key that is not there
		}
		fmt.Fprintf(&in, "get 0x%s\n", strings.ToUpper(k))
	}
	cmd = exec.Command(ldb, "--db="+dir, "--ignore_unknown_options", "--hex", "query")
	cmd.Stdin = strings.NewReader(in.String() + "quit\n")
	errs.Reset()
	cmd.Stderr = &errs
	out, _ = cmd.Output()
	for _, m := range found.FindAllSubmatch(out, -1) { // no line ends after "Not found"
		b, _ := hex.DecodeString(string(m[2]))
		r.gets[strings.ToLower(string(m[1]))] = sumOf(b)
	}
	if text := strings.ReplaceAll(errs.String(), "Failed: \n", ""); r.err == "" && text != "" {
		r.err = strings.TrimSpace(text)
	}
	return r
}

var found = regexp.MustCompile(`0x([0-9A-F]+) ==> 0x([0-9A-F]*)\n`)

// sumLines sums lines of a scan by cell.
func sumLines(text string) map[string]sums {
	cells := map[string]sums{}
	var cur string
	var b bytes.Buffer
	n := 0
	end := func() {
		if n > 0 {
			cells[cur] = sums{n, sumOf(b.Bytes())}
		}
		b.Reset()
		n = 0
	}
	for line := range strings.Lines(text) {
		if len(line) < 2+2*prefixSize || line[:2] != "0x" {
			continue
		}
		p, err := hex.DecodeString(line[2 : 2+2*prefixSize])
		if err != nil {
			continue
		}
		if string(p) != cur {
			end()
			cur = string(p)
		}
		b.WriteString(line)
		n++
	}
	end()
	return cells
}

// getter is a family here, or a database.
type getter interface {
	Get(*rocksdb.ReadOptions, []byte) (rocksdb.PinnableSlice, error)
	NewIterator(*rocksdb.ReadOptions) *rocksdb.Iterator
}

// readHere reads with this module.
func readHere(x getter, gets []string) *reading {
	r := &reading{gets: map[string]string{}}
	var lines strings.Builder
	it := x.NewIterator(nil)
	for k, v := range it.All() {
		fmt.Fprintf(&lines, "0x%X ==> 0x%X\n", k, v)
	}
	if err := it.Err(); err != nil {
		r.err = err.Error()
	}
	it.Close()
	r.cells = sumLines(lines.String())
	for _, key := range gets {
		k, _ := hex.DecodeString(key)
		v, err := x.Get(nil, k)
		switch {
		case err == nil:
			r.gets[key] = sumOf(v.Data())
			v.Release()
		case !rocksdb.IsNotFound(err):
			r.gets[key] = "!" + err.Error()
		}
	}
	return r
}

func getsOf(cells []cell) (gets []string) {
	for i := range cells {
		entries := entriesOf(i)
		for _, k := range asked {
			gets = append(gets, hex.EncodeToString(entries[k].key))
		}
	}
	return gets
}

// scratch makes a directory in memory where the system has one.
func scratch(t testing.TB) string {
	t.Helper()
	base := "/dev/shm"
	if _, err := os.Stat(base); err != nil {
		base = ""
	}
	dir, err := os.MkdirTemp(base, "rocksdb-compat-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// each runs f for every item, as many at a time as there are processors.
func each[T any](items []T, f func(T)) {
	var wg sync.WaitGroup
	room := make(chan struct{}, runtime.GOMAXPROCS(0))
	for _, it := range items {
		room <- struct{}{}
		wg.Go(func() { defer func() { <-room }(); f(it) })
	}
	wg.Wait()
}

func TestMatrix(t *testing.T) {
	var rep report
	var have []string
	for _, e := range engineVersions {
		if why := engines.Missing(e); why != "" {
			t.Logf("left out: %s: %s", e, why)
			continue
		}
		have = append(have, e)
	}
	if len(have) == 0 {
		t.Skip("no engine is installed")
	}
	t.Run("written here", func(t *testing.T) { weWrite(t, &rep, have) })
	t.Run("written by others", func(t *testing.T) { theyWrite(t, &rep, have) })
	text := rep.String()
	t.Log("\n" + text)
	if *writeTo == "" {
		return
	}
	if t.Failed() || len(have) < len(engineVersions) {
		t.Fatal("not written: cells or engines are missing")
	}
	if err := os.WriteFile(*writeTo, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

var versions = []uint32{2, 3, 4, 5, 6, 7}

func weWrite(t *testing.T, rep *report, have []string) {
	each(groupsOf(versions), func(g group) {
		cells := g.cells()
		dir := scratch(t)
		writeTables(t, dir, cells)
		checkTables(t, dir, cells)
		gets := getsOf(cells)
		for _, engine := range have {
			var r *reading
			if engine == "7.8.3" {
				r = readDebian(t, dir, gets)
			} else {
				r = readNPM(t, engine, dir, gets)
			}
			for i := range cells {
				rep.add(t, engine, writtenHere, cells[i], r.judge(i, entriesOf(i), kept))
			}
		}
		os.RemoveAll(dir)
	})
}
