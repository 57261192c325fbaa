//go:build syncpoint

// Port of tools/sst_dump_test.cc (ReadaheadSize). Differs: reads are ours, and
// the file is as large as upstream's comment says.

package tools_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

func TestSSTDumpToolTest_ReadaheadSize(t *testing.T) {
	o := sstOptions(false)
	o.CreateIfMissing = true
	o.Compression = rocksdb.NoCompression
	dir := filepath.Join(t.TempDir(), "db")
	x := open(t, dir, o)
	for i := range 1024 {
		check(t, x.Put(nil, fmt.Appendf(nil, "k_%04d", i), bytes.Repeat([]byte{byte(i)}, 10<<10)))
	}
	check(t, x.Flush(nil))
	check(t, x.Close())
	files, err := filepath.Glob(dir + "/*.sst")
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	var reads atomic.Int32
	syncpoint.SetCallBack("RandomAccessFileReader::Read", func(any) { reads.Add(1) })
	syncpoint.EnableProcessing()
	r := sstDump(t, o, "--command=verify", "--file="+files[0], "--readahead_size=4000000")
	syncpoint.DisableProcessing()
	syncpoint.ClearAllCallBacks()
	if r.code != 0 {
		t.Fatalf("%+v", r)
	}
	// Three reads of data, one to find out the format, and those of the meta
	// blocks, which are verified one by one.
	if n := reads.Load(); n < 4 || n > 10 {
		t.Errorf("%d reads", n)
	}
}
