// No upstream twin: the allocation budget of the log's writer.

//go:build !syncpoint

package wal

import (
	"testing"

	"github.com/rocksdb-go/rocksdb/file"
)

// Appending takes no memory of the heap once warm.
func TestWriter_Allocations(t *testing.T) {
	var contents []byte
	sink := newStringSink(&contents, false)
	w := NewWriter(file.NewWritableFileWriter(sink, "a.log", nil, nil), WriterOptions{LogNumber: 123, RecycleLogFiles: true})
	record := make([]byte, 300)
	add := func() {
		contents = contents[:0]
		if err := w.AddRecord(nil, record, 1); err != nil {
			t.Fatal(err)
		}
	}
	for range 300 {
		add()
	}
	if n := testing.AllocsPerRun(300, add); n > 0 {
		t.Fatalf("%v allocations a record", n)
	}
}
