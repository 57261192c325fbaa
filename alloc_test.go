//go:build !invariants && !syncpoint

// No upstream twin: what the hot paths may allocate, in builds as users have them.

package rocksdb_test

import (
	"encoding/binary"
	"testing"

	"github.com/rocksdb-go/rocksdb"
)

// TestAllocBudget holds that puts and reads allocate nothing once warm, but an
// iterator its handle.
func TestAllocBudget(t *testing.T) {
	o := rocksdb.DefaultOptions()
	o.CreateIfMissing = true
	o.DisableAutoCompactions = true
	db, err := rocksdb.Open(t.TempDir(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	const n = 20000
	key, value := make([]byte, 16), make([]byte, 100)
	i := uint64(0)
	next := func() []byte {
		i++
		binary.BigEndian.PutUint64(key, i*7919%n)
		return key
	}
	put := func() {
		if err := db.Put(nil, next(), value); err != nil {
			t.Fatal(err)
		}
	}
	for range n {
		put()
	}
	if err := db.Flush(nil); err != nil {
		t.Fatal(err)
	}
	for range n / 2 {
		put()
	}
	var v rocksdb.PinnableSlice
	it := db.NewIterator(nil)
	defer it.Close()
	batch := rocksdb.NewWriteBatch()
	keys := make([][]byte, 32)
	for k := range keys {
		keys[k] = append([]byte(nil), next()...)
	}
	values, errs := make([]rocksdb.PinnableSlice, len(keys)), make([]error, len(keys))
	for _, c := range []struct {
		name   string
		budget float64
		f      func()
	}{
		{"Put", 0, put},
		{"Write", 0, func() {
			batch.Clear()
			if batch.Put(next(), value) != nil || batch.Delete(next()) != nil || db.Write(nil, batch) != nil {
				t.Fatal("write")
			}
		}},
		{"Get", 0, func() {
			if err := db.GetInto(nil, next(), &v); err != nil && !rocksdb.IsNotFound(err) {
				t.Fatal(err)
			}
			v.Release()
		}},
		{"MultiGet", 0, func() {
			db.MultiGet(nil, keys, values, errs)
			for k := range values {
				values[k].Release()
			}
		}},
		{"Seek", 0, func() { it.Seek(next()) }},
		{"NewIterator", 1, func() {
			it := db.NewIterator(nil)
			it.Seek(next())
			_ = it.Close()
		}},
		{"Next", 0, func() {
			if it.Next(); !it.Valid() {
				it.SeekToFirst()
			}
		}},
		{"Prev", 0, func() {
			if it.Prev(); !it.Valid() {
				it.SeekToLast()
			}
		}},
	} {
		for range 500 { // warm
			c.f()
		}
		if got := testing.AllocsPerRun(2000, c.f); got > c.budget {
			t.Errorf("%s allocates %.0f times", c.name, got)
		}
	}
}
