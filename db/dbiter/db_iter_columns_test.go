// No upstream twin: columns of an iterator over entries in memory; upstream's
// cases need a database.

package dbiter

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb/db/blob/blobformat"
	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/db/wide"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// columnsOf makes columns of "name:value" words; ":value" is the default one.
func columnsOf(words string) (c rocksdb.WideColumns) {
	for _, w := range strings.Fields(words) {
		name, value, _ := strings.Cut(w, ":")
		c = append(c, rocksdb.WideColumn{Name: []byte(name), Value: []byte(value)})
	}
	return c
}

func columnsText(c rocksdb.WideColumns) string {
	var words []string
	for _, x := range c {
		words = append(words, fmt.Sprintf("%s:%s", x.Name, x.Value))
	}
	return strings.Join(words, " ")
}

func entityOf(t *testing.T, words string) string {
	t.Helper()
	e, err := wide.Serialize(nil, columnsOf(words))
	if err != nil {
		t.Fatal(err)
	}
	return string(e)
}

// fakeResolver gives "blob" and the offset as the value of an index.
type fakeResolver struct{ err error }

func (f fakeResolver) GetBlob(_ *rocksdb.ReadOptions, _, index []byte, value *rocksdb.PinnableSlice) error {
	var b blobformat.BlobIndex
	if err := b.DecodeFrom(index); err != nil {
		return err
	}
	value.PinSelf(fmt.Appendf(nil, "blob%d", b.Offset))
	return f.err
}

func withResolver(r Resolver) iterOptions {
	return func(c *Config, _ *rocksdb.ReadOptions) { c.Resolver = r }
}

func blobIndex(offset uint64) string {
	return string(blobformat.EncodeBlob(nil, 9, offset, 456, rocksdb.NoCompression))
}

func blobEntity(t *testing.T, words string, column int, offset uint64) string {
	t.Helper()
	b := wide.BlobColumn{Column: column}
	if err := b.Index.DecodeFrom([]byte(blobIndex(offset))); err != nil {
		t.Fatal(err)
	}
	e, err := wide.SerializeV2(nil, columnsOf(words), []wide.BlobColumn{b})
	if err != nil {
		t.Fatal(err)
	}
	return string(e)
}

func TestDBIter_Columns(t *testing.T) {
	for _, unpinned := range []bool{false, true} {
		inner := newTestIterator()
		inner.unpinned = unpinned
		inner.add("a", dbformat.TypeValue, "plain")
		inner.add("b", dbformat.TypeWideColumnEntity, entityOf(t, ":dflt x:1 y:2"))
		inner.add("c", dbformat.TypeWideColumnEntity, entityOf(t, "x:3 y:4"))
		inner.add("d", dbformat.TypeWideColumnEntity, entityOf(t, ":base x:5"))
		inner.add("d", dbformat.TypeMerge, "m1")
		inner.add("d", dbformat.TypeMerge, "m2")
		inner.add("e", dbformat.TypeWideColumnEntity, entityOf(t, "x:6"))
		inner.add("e", dbformat.TypeMerge, "m3")
		inner.add("f", dbformat.TypeBlobIndex, blobIndex(7))
		inner.add("g", dbformat.TypeWideColumnEntity, blobEntity(t, ":d x: y:8", 1, 11))
		inner.add("h", dbformat.TypeWideColumnEntity, blobEntity(t, ": x:9", 0, 12))
		inner.add("i", dbformat.TypeWideColumnEntity, blobEntity(t, ": x:10", 0, 13))
		inner.add("i", dbformat.TypeMerge, "m4")
		inner.finish()
		want := []struct{ key, value, columns string }{
			{"a", "plain", ":plain"},
			{"b", "dflt", ":dflt x:1 y:2"},
			{"c", "", "x:3 y:4"},
			{"d", "base,m1,m2", ":base,m1,m2 x:5"},
			{"e", ",m3", ":,m3 x:6"},
			{"f", "blob7", ":blob7"},
			{"g", "d", ":d x:blob11 y:8"},
			{"h", "blob12", ":blob12 x:9"},
			{"i", "blob13,m4", ":blob13,m4 x:10"},
		}
		it := newIterTest(t, inner, 100, withResolver(fakeResolver{}))
		checkEntry := func(i int) {
			t.Helper()
			for range 2 { // asked for twice
				if w := want[i]; !it.Valid() || string(it.Key()) != w.key || string(it.Value()) != w.value || columnsText(it.Columns()) != w.columns {
					t.Fatalf("unpinned %v: %q = %q, %q, want %v; %v", unpinned, it.Key(), it.Value(), columnsText(it.Columns()), w, it.Status())
				}
			}
		}
		it.SeekToFirst()
		for i := range want {
			checkEntry(i)
			it.Next()
		}
		it.SeekToLast()
		for i := len(want) - 1; i >= 0; i-- {
			checkEntry(i)
			it.Prev()
		}
		if it.Valid() || it.Status() != nil || it.Columns() != nil {
			t.Fatalf("at the end: %v, %v", it.Columns(), it.Status())
		}
		for i := range want {
			it.Seek([]byte(want[i].key))
			checkEntry(i)
		}
	}
}

func TestDBIter_ColumnsErrors(t *testing.T) {
	bad := rocksdb.IOError("no such blob")
	inner := newTestIterator()
	inner.add("g", dbformat.TypeWideColumnEntity, blobEntity(t, ":d x: y:8", 1, 11))
	inner.finish()
	it := newIterTest(t, inner, 100, withResolver(fakeResolver{err: bad}))
	it.run("first g=d")
	if c := it.Columns(); c != nil || it.Valid() || !errors.Is(it.Status(), rocksdb.ErrIOError) {
		t.Fatalf("%v, valid %v, %v", c, it.Valid(), it.Status())
	}
	// Every cut of an entity is an error or something shorter, never a panic.
	entity := entityOf(t, ":dflt x:1 y:2")
	for n := range len(entity) {
		inner := newTestIterator()
		inner.add("a", dbformat.TypeWideColumnEntity, entity[:n])
		for _, script := range []string{"first", "last"} {
			it := newIterTest(t, inner, 100)
			it.run(script)
			if it.Valid() && it.Columns() != nil && columnsText(it.Columns()) == ":dflt x:1 y:2" {
				t.Fatalf("%d bytes of %d give all columns", n, len(entity))
			}
			if !it.Valid() && !errors.Is(it.Status(), rocksdb.ErrCorruption) {
				t.Fatalf("%d bytes: %v", n, it.Status())
			}
		}
	}
}
