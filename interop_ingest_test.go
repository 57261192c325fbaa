// No upstream twin: external files and checkpoints made here, read by real
// engines.

package rocksdb_test

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/internal/engines"
)

// externalFile makes a file of puts, a deletion, a merge and a range deletion.
func externalFile(t *testing.T, path string, o rocksdb.Options) {
	t.Helper()
	w := rocksdb.NewSstFileWriter(o, nil)
	defer w.Close()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(w.Open(path, rocksdb.TemperatureUnknown))
	for i := range 1000 {
		must(w.Put(fmt.Appendf(nil, "key%05d", i), fmt.Appendf(nil, "ingested%d", i)))
	}
	must(w.Delete([]byte("key01500")))
	must(w.DeleteRange([]byte("key02000"), []byte("key02100")))
	must(w.Finish(nil))
}

func TestExternalFileReadByDebian(t *testing.T) {
	tool := engines.Tool(t, "sst_dump")
	for _, version := range []uint32{2, 3, 4, 5} {
		o := interopOptions(rocksdb.ZlibCompression, version)
		path := filepath.Join(t.TempDir(), "external.sst")
		externalFile(t, path, o)
		verify, err := exec.Command(tool, "--file="+path, "--command=verify").CombinedOutput()
		if err != nil || !strings.Contains(string(verify), "The file is ok") {
			t.Fatalf("format %d: verify: %v\n%s", version, err, verify)
		}
		scan, err := exec.Command(tool, "--file="+path, "--command=scan", "--show_properties").CombinedOutput()
		for _, want := range []string{"'key00000' seq:0, type:1 => ingested0", "'key00999' seq:0, type:1 => ingested999", "'key01500' seq:0, type:0 => ",
			"# entries: 1002", "# range deletions: 1", "rocksdb.external_sst_file.version"} {
			if err != nil || !strings.Contains(string(scan), want) {
				t.Fatalf("format %d: scan lacks %q: %v\n%.2000s", version, want, err, scan)
			}
		}
	}
}

// ingestedDB is a database with a file ingested over its data, one ingested
// before, and data written over it.
func ingestedDB(t *testing.T, dir string, o rocksdb.Options, writeSeqno bool) {
	t.Helper()
	writeInterop(t, dir, o, 7)
	db, err := rocksdb.Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "external.sst")
	externalFile(t, path, o)
	how := rocksdb.DefaultIngestExternalFileOptions()
	how.MoveFiles, how.WriteGlobalSeqno = true, writeSeqno
	if err := db.IngestExternalFile([]string{path}, &how); err != nil {
		t.Fatal(err)
	}
	for i := range 100 {
		if err := db.Put(nil, fmt.Appendf(nil, "key%05d", 10*i), []byte("after")); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestIngestedHereReadByEngines(t *testing.T) {
	for _, write := range []bool{false, true} {
		t.Run(fmt.Sprint(write), func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "db")
			o := interopOptions(rocksdb.NoCompression, 7)
			ingestedDB(t, dir, o, write)
			ours := scanHere(t, dir, o)
			sameLines(t, "11.8.1", engines.Scan(t, "11.8.1", dir), ours)
		})
		t.Run(fmt.Sprintf("Debian,%t", write), func(t *testing.T) {
			engines.Tool(t, "ldb")
			dir := filepath.Join(t.TempDir(), "db")
			o := interopOptions(rocksdb.NoCompression, 5)
			ingestedDB(t, dir, o, write)
			ours := scanHere(t, dir, o)
			sameLines(t, "7.8.3", engines.ToolScan(t, dir), ours)
		})
	}
}

func TestCheckpointHereReadByEngine(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "db")
	o := interopOptions(rocksdb.NoCompression, 7)
	writeInterop(t, dir, o, 9)
	db, err := rocksdb.Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	for i, flushFrom := range []uint64{0, 1 << 40} {
		if err := db.Put(nil, []byte("a"), fmt.Appendf(nil, "%d", i)); err != nil {
			t.Fatal(err)
		}
		copied := fmt.Sprintf("%s-copy%d", dir, i)
		if _, err := rocksdb.NewCheckpoint(db).CreateCheckpoint(copied, flushFrom); err != nil {
			t.Fatal(err)
		}
		ours := scanHere(t, copied, o)
		sameLines(t, "11.8.1", engines.Scan(t, "11.8.1", copied), ours)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestEmbeddedBlobsHereReadByEngine(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "db")
	o := interopOptions(rocksdb.ZlibCompression, 7)
	writeInterop(t, dir, o, 7)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(t.TempDir(), "external.sst")
	w := rocksdb.NewSstFileWriter(o, nil)
	defer w.Close()
	blobs := rocksdb.DefaultSstFileWriterEmbeddedBlobOptions()
	blobs.MinBlobSize = 100
	must(w.OpenWithEmbeddedBlobs(path, &blobs, rocksdb.TemperatureUnknown))
	for i := range 500 {
		key, value := fmt.Appendf(nil, "key%05d", i), []byte(strings.Repeat(fmt.Sprint(i), 1+i%100))
		if i%3 == 0 {
			must(w.PutEntity(key, rocksdb.WideColumns{{Value: value}, {Name: []byte("other"), Value: value}}))
		} else {
			must(w.Put(key, value))
		}
	}
	must(w.Finish(nil))
	db, err := rocksdb.Open(dir, o)
	must(err)
	must(db.IngestExternalFile([]string{path}, nil))
	must(db.Close())
	ours := scanHere(t, dir, o)
	sameLines(t, "11.8.1", engines.Scan(t, "11.8.1", dir), ours)
}
