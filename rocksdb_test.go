// No upstream twin: the facade's own tests.

package rocksdb_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/rocksdb-go/rocksdb"
)

func TestOpenPutGetReopen(t *testing.T) {
	dir := t.TempDir()
	o := rocksdb.DefaultOptions()
	o.CreateIfMissing = true
	db, err := rocksdb.Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	const n = 5000
	for i := range n {
		if err := db.Put(nil, fmt.Appendf(nil, "key%06d", i), fmt.Appendf(nil, "value%d", i)); err != nil {
			t.Fatal(err)
		}
	}
	check := func(db *rocksdb.DB) {
		t.Helper()
		for i := 0; i < n; i += 7 {
			v, err := db.Get(nil, fmt.Appendf(nil, "key%06d", i))
			if err != nil || string(v.Data()) != fmt.Sprintf("value%d", i) {
				t.Fatalf("key %d: %q, %v", i, v.Data(), err)
			}
			v.Release()
		}
		if _, err := db.Get(nil, []byte("none")); !errors.Is(err, rocksdb.ErrNotFound) {
			t.Fatalf("missing key: %v", err)
		}
		it := db.NewIterator(nil)
		defer it.Close()
		i := 0
		for k, v := range it.All() {
			if string(k) != fmt.Sprintf("key%06d", i) || string(v) != fmt.Sprintf("value%d", i) {
				t.Fatalf("at %d: %q %q", i, k, v)
			}
			i++
		}
		if it.Err() != nil || i != n {
			t.Fatalf("%d keys, %v", i, it.Err())
		}
		it2 := db.NewIterator(nil)
		defer it2.Close()
		for k := range it2.Backward() {
			i--
			if string(k) != fmt.Sprintf("key%06d", i) {
				t.Fatalf("backward at %d: %q", i, k)
			}
		}
		if i != 0 {
			t.Fatalf("%d keys left", i)
		}
	}
	check(db)
	if err := db.Flush(nil); err != nil {
		t.Fatal(err)
	}
	check(db)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if db, err = rocksdb.Open(dir, o); err != nil {
			t.Fatal(err)
		}
		check(db)
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
