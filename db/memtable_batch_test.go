// Port of table/table_test.cc: the case of a memtable, which a batch is inserted
// into.

package db

import (
	"testing"
)

func TestMemTableTest_Simple(t *testing.T) {
	b := newWriteBatchTest(t)
	b.SetSequence(100)
	b.do(b.Put([]byte("k1"), []byte("v1")), b.Put([]byte("k2"), []byte("v2")), b.Put([]byte("k3"), []byte("v3")),
		b.Put([]byte("largekey"), []byte("vlarge")), b.DeleteRange([]byte("chi"), []byte("xigua")),
		b.DeleteRange([]byte("begin"), []byte("end")))
	// The deletions overlap, so that three fragments come of two.
	const want = "Put(k1, v1)@100Put(k2, v2)@101Put(k3, v3)@102Put(largekey, vlarge)@103" +
		"DeleteRange(begin, chi)@105DeleteRange(chi, end)@105DeleteRange(chi, end)@104DeleteRange(end, xigua)@104CountMismatch()"
	if got := printContents(t, b.WriteBatch, false); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if b.Count() != 6 {
		t.Errorf("%d entries", b.Count())
	}
}
