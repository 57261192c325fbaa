// No upstream twin: cases that users reported, of secondary instances.

package rocksdb_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb"
)

// primaryAndSecondary opens a database and a secondary instance of it.
func primaryAndSecondary(t *testing.T, o rocksdb.Options, before func(p *rocksdb.DB)) (primary, secondary *rocksdb.DB) {
	t.Helper()
	dir := t.TempDir()
	o.CreateIfMissing = true
	p, err := rocksdb.Open(filepath.Join(dir, "db"), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	before(p)
	so := rocksdb.DefaultOptions()
	so.MaxOpenFiles = -1
	s, err := rocksdb.OpenAsSecondary(filepath.Join(dir, "db"), filepath.Join(dir, "secondary"), so)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return p, s
}

// wantEverywhere wants value, or nothing, by Get, MultiGet and iterator.
func wantEverywhere(t *testing.T, d *rocksdb.DB, key, value string) {
	t.Helper()
	check := func(how, got string, err error) {
		t.Helper()
		if rocksdb.IsNotFound(err) {
			got, err = "", nil
		}
		if err != nil || got != value {
			t.Fatalf("%s: %q, %v, want %q", how, got, err, value)
		}
	}
	v, err := d.Get(nil, []byte(key))
	check("Get", string(v.Data()), err)
	v.Release()
	var values [1]rocksdb.PinnableSlice
	var errs [1]error
	d.MultiGet(nil, [][]byte{[]byte(key)}, values[:], errs[:])
	check("MultiGet", string(values[0].Data()), errs[0])
	values[0].Release()
	it := d.NewIterator(nil)
	defer it.Close()
	got := ""
	if it.Seek([]byte(key)); it.Valid() && string(it.Key()) == key {
		got = string(it.Value())
	}
	check("iterator", got, it.Err())
}

// facebook/rocksdb#14444: v11.8.1 keeps the memtable that it replayed in front of a
// newer table.
func TestFieldSecondaryAfterFlush(t *testing.T) {
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	put := func(d *rocksdb.DB, k, v string) { t.Helper(); must(d.Put(nil, []byte(k), []byte(v))) }
	p, s := primaryAndSecondary(t, rocksdb.DefaultOptions(), func(p *rocksdb.DB) { put(p, "k", "v1") })
	wantEverywhere(t, s, "k", "v1")
	put(p, "k", "v2")
	put(p, "n", "1")
	must(p.Flush(nil))
	must(s.TryCatchUpWithPrimary())
	wantEverywhere(t, s, "k", "v2")
	wantEverywhere(t, s, "n", "1")
	put(p, "k", "v3")
	must(s.TryCatchUpWithPrimary())
	wantEverywhere(t, s, "k", "v3")
	put(p, "k", "v4")
	must(p.Flush(nil))
	must(p.CompactRange(nil, nil, nil))
	must(s.TryCatchUpWithPrimary())
	wantEverywhere(t, s, "k", "v4")
	must(p.Delete(nil, []byte("k")))
	must(p.Flush(nil))
	must(s.TryCatchUpWithPrimary())
	wantEverywhere(t, s, "k", "")
}

// facebook/rocksdb#14781: an empty log that is there for later is not the end.
func TestFieldSecondaryAndEmptyNextLog(t *testing.T) {
	o := rocksdb.DefaultOptions()
	o.AsyncWALPrecreate = true
	all := ""
	write := func(d *rocksdb.DB, k string, flush bool) {
		t.Helper()
		err := d.Put(nil, []byte(k), []byte("1"))
		if err == nil && flush {
			err = d.Flush(nil)
		}
		if err != nil {
			t.Fatal(err)
		}
		all = strings.TrimSpace(all + " " + k)
	}
	p, s := primaryAndSecondary(t, o, func(p *rocksdb.DB) {
		write(p, "a", true)
		write(p, "b", false)
	})
	want := func() {
		t.Helper()
		if err := s.TryCatchUpWithPrimary(); err != nil {
			t.Fatal(err)
		}
		it := s.NewIterator(nil)
		defer it.Close()
		var keys []string
		for it.SeekToFirst(); it.Valid(); it.Next() {
			keys = append(keys, string(it.Key()))
		}
		if got := strings.Join(keys, " "); got != all || it.Err() != nil {
			t.Fatal(fmt.Sprint(got, it.Err()), "want", all)
		}
	}
	want()
	write(p, "c", true)
	want()
	write(p, "d", false)
	want()
	write(p, "e", false)
	want()
}
