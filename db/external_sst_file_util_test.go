// Port of db/external_sst_file_basic_test.cc and db/external_sst_file_test.cc
// (their fixtures).

package db_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/file"
	"github.com/rocksdb-go/rocksdb/utilities/merge_operators"
)

// extTest is a database with a directory of external files beside it.
type extTest struct {
	*dbTest
	sst  string // the directory, with a slash
	data map[string]string
	id   int // of the last file made
}

func newExtTest(t *testing.T) *extTest {
	t.Helper()
	x := &extTest{dbTest: newDBTest(t), data: map[string]string{}}
	x.sst = x.dir + "_sst_files/"
	x.recreateDir()
	return x
}

func (x *extTest) recreateDir() {
	x.Helper()
	x.must(os.RemoveAll(x.sst))
	x.must(os.MkdirAll(x.sst, 0o755))
}

// entry is what goes into an external file; kind is P, M, D or R (range
// deletion from key to value).
type extEntry struct {
	kind       byte
	key, value string
}

func puts(from, to int, suffix string) (es []extEntry) {
	for k := from; k < to; k++ {
		es = append(es, extEntry{'P', key(k), key(k) + suffix})
	}
	return es
}

// kv makes puts of pairs.
func kv(pairs ...string) (es []extEntry) {
	for i := 0; i < len(pairs); i += 2 {
		es = append(es, extEntry{'P', pairs[i], pairs[i+1]})
	}
	return es
}

func addEntry(w *rocksdb.SstFileWriter, e extEntry) error {
	k, v := []byte(e.key), []byte(e.value)
	switch e.kind {
	case 'P':
		return w.Put(k, v)
	case 'M':
		return w.Merge(k, v)
	case 'D':
		return w.Delete(k)
	}
	return w.DeleteRange(k, v)
}

// tryWrite makes a file below the directory of external files.
func (x *extTest) tryWrite(o rocksdb.Options, c *rocksdb.SstFileWriterOptions, name string, es []extEntry) (path string, info rocksdb.ExternalSstFileInfo, err error) {
	w := rocksdb.NewSstFileWriter(o, c)
	defer w.Close()
	path = x.sst + name
	// The test's file system holds writers to their promise not to open a file
	// for writing again.
	_ = x.env.GetFileSystem().DeleteFile(path, nil)
	if err := w.Open(path, rocksdb.TemperatureUnknown); err != nil {
		return path, info, err
	}
	for _, e := range es {
		if err := addEntry(w, e); err != nil {
			return path, info, err
		}
	}
	return path, info, w.Finish(&info)
}

// write makes a file with the options.
func (x *extTest) write(o rocksdb.Options, name string, es []extEntry) string {
	x.Helper()
	path, _ := x.writeInfo(o, name, es)
	return path
}

func (x *extTest) writeInfo(o rocksdb.Options, name string, es []extEntry) (string, rocksdb.ExternalSstFileInfo) {
	x.Helper()
	path, info, err := x.tryWrite(o, nil, name, es)
	x.must(err)
	return path, info
}

// ingest ingests with default options.
func (x *extTest) ingest(cf int, files ...string) {
	x.Helper()
	x.must(x.cf(cf).IngestExternalFile(files, nil))
}

// ingestOptions are the defaults, changed.
func ingestOptions(change ...func(o *rocksdb.IngestExternalFileOptions)) *rocksdb.IngestExternalFileOptions {
	o := rocksdb.DefaultIngestExternalFileOptions()
	for _, f := range change {
		f(&o)
	}
	return &o
}

// addFile ingests as before there were global sequence numbers.
func (x *extTest) addFile(files []string, move, skipSnapshotCheck bool) error {
	return x.db.IngestExternalFile(files, ingestOptions(func(o *rocksdb.IngestExternalFileOptions) {
		o.MoveFiles, o.SnapshotConsistency = move, !skipSnapshotCheck
		o.AllowGlobalSeqno, o.AllowBlockingFlush = false, false
	}))
}

// applyTo applies a file's entries to a model; its range deletions count
// before the rest.
func applyTo(data map[string]string, es []extEntry) {
	for _, e := range es {
		if e.kind == 'R' {
			maps.DeleteFunc(data, func(k, _ string) bool { return k >= e.key && k < e.value })
		}
	}
	for _, e := range es {
		switch e.kind {
		case 'P', 'M':
			data[e.key] = e.value
		case 'D':
			delete(data, e.key)
		}
	}
}

// entriesOf makes entries of keys whose kinds are kinds' letters, or all the
// first; values name the file. ranges are pairs.
func entriesOf(keys []int, kinds string, ranges [][2]int, id int) (es []extEntry) {
	for _, r := range ranges {
		es = append(es, extEntry{'R', key(r[0]), key(r[1])})
	}
	for i, k := range keys {
		kind := kinds[min(i, len(kinds)-1)]
		es = append(es, extEntry{kind, key(k), key(k) + fmt.Sprint(id)})
	}
	return es
}

// generate makes a file of the next number, ingests it and notes what it does
// in the model.
func (x *extTest) generate(o rocksdb.Options, writeSeqno, verify bool, keys []int, kinds string, ranges ...[2]int) error {
	x.id++
	es := entriesOf(keys, kinds, ranges, x.id)
	path, _, err := x.tryWrite(o, nil, fmt.Sprint(x.id), es)
	if err != nil {
		return err
	}
	err = x.db.IngestExternalFile([]string{path}, ingestOptions(func(o *rocksdb.IngestExternalFileOptions) {
		o.WriteGlobalSeqno, o.VerifyChecksumsBeforeIngest = writeSeqno, verify
	}))
	if err == nil {
		applyTo(x.data, es)
	}
	return err
}

func (x *extTest) wantSeqno(want uint64) {
	x.Helper()
	if got := x.db.GetLatestSequenceNumber(); got != want {
		x.Fatalf("latest sequence number is %d, not %d", got, want)
	}
}

func (x *extTest) wantLevel(level, want int) {
	x.Helper()
	if got := x.numTableFilesAtLevel(level, 0); got != want {
		x.Fatalf("level %d has %d files, not %d (%s)", level, got, want, x.filesPerLevel(0))
	}
}

// verify compares the default family, by Get and iterators, with the model.
func (x *extTest) verify(data map[string]string) {
	x.Helper()
	x.verifyCF(0, data)
}

func (x *extTest) verifyCF(cf int, data map[string]string) {
	x.Helper()
	var b strings.Builder
	for _, k := range slices.Sorted(maps.Keys(data)) {
		fmt.Fprintf(&b, "(%s->%s)", k, data[k])
		x.wantGet(cf, k, data[k])
	}
	if got := x.contents(cf); got != b.String() {
		x.Fatalf("contents %s\nnot      %s", got, b.String())
	}
}

// eachIngestionOptions runs f with a fresh database of each configuration that
// files can be ingested into.
func eachIngestionOptions(t *testing.T, f func(x *extTest)) {
	x := newExtTest(t)
	for {
		x.recreateDir()
		x.data, x.id = map[string]string{}, 0
		f(x)
		if !x.changeTo(map[optionConfig]optionConfig{configDefault: configUniversalCompaction,
			configUniversalCompaction: configUniversalCompactionMultiLevel, configUniversalCompactionMultiLevel: configLevelSubcompactions,
			configLevelSubcompactions: configUniversalSubcompactions, configUniversalSubcompactions: configDirectIO}) {
			return
		}
	}
}

func putOperator(t *testing.T) rocksdb.MergeOperator {
	t.Helper()
	m, err := mergeoperators.New("put")
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// wantCode checks an error's code.
func (x *extTest) wantCode(err error, want rocksdb.Code) {
	x.Helper()
	if err == nil || rocksdb.CodeOf(err) != want {
		x.Fatalf("error %v, not one of code %v", err, want)
	}
}

func (x *extTest) wantErr(err error) {
	x.Helper()
	if err == nil {
		x.Fatal("no error")
	}
}

func (x *extTest) wantFile(path string, want bool) {
	x.Helper()
	if _, err := os.Stat(path); (err == nil) != want {
		x.Fatalf("%s exists: %t", filepath.Base(path), err == nil)
	}
}

// fileChecksum computes a file's checksum as the options' factory does.
func (x *extTest) fileChecksum(o rocksdb.Options, path, requested string) (checksum, funcName string) {
	x.Helper()
	checksum, funcName, err := file.GenerateOneFileChecksum(x.env.GetFileSystem(), path, o.FileChecksumGenFactory,
		&file.ChecksumOptions{RequestedFuncName: requested})
	x.must(err)
	return checksum, funcName
}
