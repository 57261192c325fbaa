// No upstream twin: the records of real engines' MANIFEST files, against what
// the real manifest_dump printed of them.

package version

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rocksdb-go/rocksdb/util"
)

// manifestRecords takes a MANIFEST's records out of its log blocks.
func manifestRecords(t *testing.T, data []byte) [][]byte {
	t.Helper()
	const blockSize, headerSize = 32 << 10, 7
	var records [][]byte
	var open []byte
	for at := 0; at+headerSize <= len(data); {
		if left := blockSize - at%blockSize; left < headerSize {
			at += left
			continue
		}
		h := data[at:]
		n := int(binary.LittleEndian.Uint16(h[4:]))
		kind := h[6]
		if got, want := util.Crc32cValue(h[6:headerSize+n]), util.Crc32cUnmask(binary.LittleEndian.Uint32(h)); got != want {
			t.Fatalf("record at %d: checksum %x, want %x", at, got, want)
		}
		open = append(open, h[headerSize:headerSize+n]...)
		if kind == 1 || kind == 4 {
			records = append(records, open)
			open = nil
		}
		at += headerSize + n
	}
	return records
}

// goldenEdits is the part of a manifest_dump's output that prints the edits.
func goldenEdits(text string) string {
	text = text[strings.IndexByte(text, '\n')+1:]
	if i := strings.Index(text, "--------------- Column family"); i >= 0 {
		text = text[:i]
	}
	return text
}

func goldenDirs(t *testing.T) []string {
	t.Helper()
	root := "testdata"
	if dir := os.Getenv("ROCKSDB_GOLDEN"); dir != "" {
		root = dir
	}
	var dirs []string
	files, err := filepath.Glob(filepath.Join(root, "rocksdb-*", "*", "manifest.txt"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden files: %v", err)
	}
	for _, f := range files {
		dirs = append(dirs, filepath.Dir(f))
	}
	return dirs
}

func readGoldenManifest(t *testing.T, dir string) []byte {
	t.Helper()
	for _, pattern := range []string{"MANIFEST", "db/MANIFEST-*"} {
		if files, _ := filepath.Glob(filepath.Join(dir, pattern)); len(files) == 1 {
			data, err := os.ReadFile(files[0])
			if err != nil {
				t.Fatal(err)
			}
			return data
		}
	}
	t.Fatalf("no MANIFEST in %s", dir)
	return nil
}

func TestGolden_DecodeAndReencode(t *testing.T) {
	for _, dir := range goldenDirs(t) {
		t.Run(filepath.ToSlash(dir), func(t *testing.T) {
			want, err := os.ReadFile(filepath.Join(dir, "manifest.txt"))
			if err != nil {
				t.Fatal(err)
			}
			var got strings.Builder
			for i, record := range manifestRecords(t, readGoldenManifest(t, dir)) {
				var e VersionEdit
				if err := e.DecodeFrom(record); err != nil {
					t.Fatalf("record %d: %v", i, err)
				}
				got.WriteString(e.DebugString(true))
				if !strings.Contains(dir, "11.8.1") {
					continue // the older engine's files have no epoch numbers
				}
				if again, ok := e.EncodeTo(nil, 0); !ok || string(again) != string(record) {
					t.Errorf("record %d encodes to %x (%t), was %x", i, again, ok, record)
				}
			}
			if diff := cmp.Diff(goldenEdits(string(want)), got.String()); diff != "" {
				t.Errorf("edits differ (-real +ours):\n%s", diff)
			}
		})
	}
}

// Any bytes are either refused or an edit that survives being written again.
func FuzzVersionEdit_DecodeFrom(f *testing.F) {
	files, err := filepath.Glob(filepath.Join("testdata", "rocksdb-*", "*", "MANIFEST"))
	if err != nil || len(files) == 0 {
		f.Fatalf("no golden files: %v", err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		for at := 0; at+7 <= len(data); {
			n := int(binary.LittleEndian.Uint16(data[at+4:]))
			f.Add(data[at+7 : at+7+n])
			at += 7 + n
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var e VersionEdit
		if e.DecodeFrom(data) != nil {
			return
		}
		_ = e.DebugString(true)
		_ = e.DebugJSON(1, true)
		encoded, ok := e.EncodeTo(nil, 0)
		if !ok {
			return // a file without bounds
		}
		var again VersionEdit
		if err := again.DecodeFrom(encoded); err != nil {
			t.Fatalf("not read again: %v\n%s", err, e.DebugString(true))
		}
		// A checksum without a function is not written: compare from there on.
		if twice, ok := again.EncodeTo(nil, 0); !ok || !bytes.Equal(twice, encoded) {
			t.Errorf("written again (%t):\n%x\nand\n%x", ok, encoded, twice)
		}
	})
}
