//go:build linux && (amd64 || arm64)

// No upstream twin: a public report about keys and values of 4 GiB and more,
// with the outcome that is right. Its id stands beside the test.

package rocksdb_test

import (
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/rocksdb-go/rocksdb"
)

func TestFieldFourGiB(t *testing.T) { // facebook/rocksdb#3480
	big, err := unix.Mmap(-1, 0, 1<<32+1, unix.PROT_READ, unix.MAP_ANON|unix.MAP_PRIVATE|unix.MAP_NORESERVE)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Munmap(big)
	x := newFieldTest(t, func(o *rocksdb.Options, b *rocksdb.BlockBasedTableOptions) {
		o.MergeOperator = rocksdb.NewStringAppendOperator(",")
	})
	x.put("a", "1")
	refused := func(err error, what string) {
		t.Helper()
		if rocksdb.CodeOf(err) != rocksdb.CodeInvalidArgument || !strings.Contains(err.Error(), what) {
			t.Errorf("%v, not %q", err, what)
		}
	}
	k := []byte("k")
	refused(x.db.Put(nil, k, big), "value is too large")
	refused(x.db.Put(nil, k, big[:1<<32]), "value is too large")
	refused(x.db.Put(nil, big, k), "key is too large")
	refused(x.db.Delete(nil, big), "key is too large")
	refused(x.db.Merge(nil, k, big), "value is too large")
	var b rocksdb.WriteBatch
	refused(b.Put(k, big), "value is too large")
	refused(b.Merge(k, big), "value is too large")
	refused(b.Delete(big), "key is too large")
	refused(b.DeleteRange(k, big), "end key is too large")
	if b.Count() != 0 || b.GetDataSize() != 12 {
		t.Error(b.Count(), b.GetDataSize())
	}
	if n := x.db.GetLatestSequenceNumber(); n != 1 {
		t.Error(n)
	}
	x.put("b", "2")
	x.flush()
	x.same("scan", x.forward(nil), "a=1 b=2")
}
