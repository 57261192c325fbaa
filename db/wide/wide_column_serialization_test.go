// Port of db/wide/wide_column_serialization_test.cc.

package wide

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb/db/blob/blobformat"
	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

// cols makes columns of pairs.
func cols(pairs ...string) rocksdb.WideColumns {
	w := rocksdb.WideColumns{}
	for i := 0; i < len(pairs); i += 2 {
		w = append(w, rocksdb.WideColumn{Name: []byte(pairs[i]), Value: []byte(pairs[i+1])})
	}
	return w
}

func same(a, b rocksdb.WideColumns) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !bytes.Equal(a[i].Name, b[i].Name) || !bytes.Equal(a[i].Value, b[i].Value) {
			return false
		}
	}
	return true
}

func must[T any](t *testing.T) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// wantCorruption checks the code and, where given, a part of the text.
func wantCorruption(t *testing.T, err error, part string) {
	t.Helper()
	if !rocksdb.IsCorruption(err) || !strings.Contains(err.Error(), part) {
		t.Fatalf("got %v, want a corruption with %q", err, part)
	}
}

func simple(entity []byte) error {
	_, err := DeserializeSimple(nil, entity)
	return err
}

func blobIndex(file, offset, size uint64) blobformat.BlobIndex {
	return blobformat.BlobIndex{Type: blobformat.BlobIndexBlob, FileNumber: file, Offset: offset, Size: size}
}

func TestWideColumnSerializationTest_SerializeDeserialize(t *testing.T) {
	columns := cols("foo", "bar", "hello", "world")
	output := must[[]byte](t)(Serialize(nil, columns))
	got := must[rocksdb.WideColumns](t)(DeserializeSimple(nil, output))
	if !same(columns, got) {
		t.Fatalf("got %q", got)
	}
	for name, want := range map[string]int{"foo": 0, "hello": 1, "fubar": -1, "snafu": -1} {
		if i := Find(got, []byte(name)); i != want {
			t.Errorf("%s is at %d, want %d", name, i, want)
		}
	}
}

func TestWideColumnSerializationTest_SerializeDuplicateError(t *testing.T) {
	_, err := Serialize(nil, cols("foo", "bar", "foo", "baz"))
	wantCorruption(t, err, "")
}

func TestWideColumnSerializationTest_SerializeOutOfOrderError(t *testing.T) {
	_, err := Serialize(nil, cols("hello", "world", "foo", "bar"))
	wantCorruption(t, err, "")
}

func TestWideColumnSerializationTest_DeserializeVersionError(t *testing.T) {
	wantCorruption(t, simple(nil), "version")
}

func TestWideColumnSerializationTest_DeserializeUnsupportedVersion(t *testing.T) {
	wantCorruption(t, simple(util.AppendVarint32(nil, 1000)), "version")
}

func TestWideColumnSerializationTest_FutureVersionRejectedConsistently(t *testing.T) {
	b := util.AppendVarint32(nil, 1000)
	wantCorruption(t, simple(b), "")
	_, _, err := GetValueOfDefaultColumn(b)
	wantCorruption(t, err, "")
	_, err = HasBlobColumns(b)
	wantCorruption(t, err, "")
	wantCorruption(t, ForEachBlobFileNumber(b, func(*blobformat.BlobIndex) error { return nil }), "")
}

func TestWideColumnSerializationTest_DeserializeNumberOfColumnsError(t *testing.T) {
	wantCorruption(t, simple(util.AppendVarint32(nil, Version1)), "number")
}

func TestWideColumnSerializationTest_DeserializeV2Error(t *testing.T) {
	b := util.AppendVarint32(util.AppendVarint32(nil, Version1), 2)
	wantCorruption(t, simple(b), "name")
	b = util.AppendLengthPrefixedSlice(b, []byte("foo"))
	wantCorruption(t, simple(b), "value size")
	b = util.AppendVarint32(b, 16)
	wantCorruption(t, simple(b), "name")
	b = util.AppendLengthPrefixedSlice(b, []byte("hello"))
	wantCorruption(t, simple(b), "value size")
	b = util.AppendVarint32(b, 64)
	wantCorruption(t, simple(b), "payload")
	b = append(b, bytes.Repeat([]byte{'0'}, 16)...)
	wantCorruption(t, simple(b), "payload")
	b = append(b, bytes.Repeat([]byte{'x'}, 64)...)
	if err := simple(b); err != nil {
		t.Fatal(err)
	}
}

func TestWideColumnSerializationTest_DeserializeV2OutOfOrder(t *testing.T) {
	b := util.AppendVarint32(util.AppendVarint32(nil, Version1), 2)
	b = util.AppendVarint32(util.AppendLengthPrefixedSlice(b, []byte("b")), 16)
	b = util.AppendLengthPrefixedSlice(b, []byte("a"))
	wantCorruption(t, simple(b), "order")
}

const unsupportedType = "Unsupported wide column ValueType"

func TestWideColumnSerializationTest_DeserializeV2RejectsRecursiveType(t *testing.T) {
	b := []byte{byte(Version2), 2, 2, 2, 2, byte(dbformat.TypeValue), byte(dbformat.TypeWideColumnEntity), 1, 1, 3, 5}
	b = append(b, "abxxxxxxxx"...)
	_, _, err := Deserialize(nil, nil, b)
	wantCorruption(t, err, unsupportedType)
	wantCorruption(t, simple(b), "")
}

func TestWideColumnSerializationTest_FastPathsRejectUnsupportedColumnType(t *testing.T) {
	b := append([]byte{byte(Version2), 1, 1, 1, 0, byte(dbformat.TypeWideColumnEntity), 0, 3}, "xyz"...)
	_, _, err := GetValueOfDefaultColumn(b)
	wantCorruption(t, err, unsupportedType)
	wantCorruption(t, ForEachBlobFileNumber(b, func(*blobformat.BlobIndex) error { return nil }), unsupportedType)
}

func TestWideColumnSerializationTest_V2GetValueOfDefaultColumn(t *testing.T) {
	for _, c := range []struct {
		columns rocksdb.WideColumns
		want    string
	}{{cols("", "default_value", "col1", "value1"), "default_value"}, {cols("col1", "value1", "col2", "value2"), ""}, {cols(), ""}} {
		v2 := must[[]byte](t)(SerializeV2(nil, c.columns, nil))
		v1 := must[[]byte](t)(Serialize(nil, c.columns))
		for _, b := range [][]byte{v1, v2} {
			value, isBlob, err := GetValueOfDefaultColumn(b)
			if err != nil || isBlob || string(value) != c.want {
				t.Errorf("%q: %q, blob %v, %v", c.columns, value, isBlob, err)
			}
		}
	}
}

func TestWideColumnSerializationTest_V2BlobColumnRejectsDeserialize(t *testing.T) {
	b := must[[]byte](t)(SerializeV2(nil, cols("a", "inline", "b", "placeholder"), []BlobColumn{{1, blobIndex(1, 2, 3)}}))
	wantCorruption(t, simple(b), "")
}

func TestWideColumnSerializationTest_PinnableWideColumnsFallbacksToV2(t *testing.T) {
	b := must[[]byte](t)(SerializeV2(nil, cols("", "placeholder", "ttl", "00000001", "type", "cold"), []BlobColumn{{0, blobIndex(10, 20, 30)}}))
	want, _, err := Deserialize(nil, nil, b)
	if err != nil {
		t.Fatal(err)
	}
	var p rocksdb.PinnableWideColumns
	parse := func(c rocksdb.WideColumns, entity []byte) (rocksdb.WideColumns, error) {
		c, _, err := Deserialize(c, nil, entity)
		return c, err
	}
	if err := p.SetWideColumnValue(b, nil, parse); err != nil || !same(p.Columns(), want) {
		t.Fatalf("%q, %v", p.Columns(), err)
	}
}

func TestWideColumnSerializationTest_V2GetValueOfDefaultColumnBlobRef(t *testing.T) {
	b := must[[]byte](t)(SerializeV2(nil, cols("", "placeholder", "col1", "value1"), []BlobColumn{{0, blobIndex(10, 100, 500)}}))
	value, isBlob, err := GetValueOfDefaultColumn(b)
	if err != nil || !isBlob || len(value) == 0 {
		t.Fatal(value, isBlob, err)
	}
	var resolved rocksdb.PinnableSlice
	_, err = blobformat.FetchEncodedBlob(nil, []byte("user_key"), value, &resolved)
	wantCorruption(t, err, "")
}

func TestWideColumnSerializationTest_SerializeV2Errors(t *testing.T) {
	_, err := SerializeV2(nil, cols("a", "val"), []BlobColumn{{5, blobIndex(1, 2, 3)}})
	if rocksdb.CodeOf(err) != rocksdb.CodeInvalidArgument {
		t.Errorf("index out of range: %v", err)
	}
	_, err = SerializeV2(nil, cols("b", "val_b", "a", "val_a"), nil)
	wantCorruption(t, err, "")
	_, err = SerializeV2(nil, cols("a", "val1", "a", "val2"), nil)
	wantCorruption(t, err, "")
}

func TestWideColumnSerializationTest_BlobIndexEncodeToRoundTrip(t *testing.T) {
	for _, want := range [][]byte{
		blobformat.EncodeBlob(nil, 42, 1024, 2048, rocksdb.SnappyCompression),
		blobformat.EncodeBlobTTL(nil, 9999, 10, 200, 3000, rocksdb.ZlibCompression),
		blobformat.EncodeInlinedTTL(nil, 12345, []byte("inline_data")),
	} {
		var b blobformat.BlobIndex
		if err := b.DecodeFrom(want); err != nil {
			t.Fatal(err)
		}
		if got := b.EncodeTo(nil); !bytes.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestWideColumnSerializationTest_V2LayoutStructureVerification(t *testing.T) {
	got := must[[]byte](t)(SerializeV2(nil, cols("aa", "val_aa", "bbb", "val_bbb"), nil))
	want := []byte{2, 2, 2, 2, 5, 1, 1, 2, 3, 6, 7}
	want = append(want, "aabbbval_aaval_bbb"...)
	if !bytes.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestWideColumnSerializationTest_RandomizedSerializeDeserializeRoundTrip(t *testing.T) {
	rng := util.NewRandom(301)
	for range 100 {
		columns := rocksdb.WideColumns{}
		nameSize, valueSize := 4+int(rng.Uniform(61)), int(rng.Uniform(1025))
		var blobs []BlobColumn
		for c := range int(rng.Uniform(17)) {
			name := fmt.Sprintf("%04x", c)
			name += strings.Repeat(string(rune('a'+rng.Uniform(26))), nameSize-len(name))
			columns = append(columns, rocksdb.WideColumn{Name: []byte(name), Value: []byte(rng.RandomBinaryString(valueSize))})
			if rng.Uniform(3) == 0 {
				i := blobIndex(uint64(rng.Uniform(1000)), uint64(rng.Uniform(10000)), uint64(rng.Uniform(5000)))
				if rng.Uniform(2) == 0 {
					i.Type, i.Expiration, i.Compression = blobformat.BlobIndexBlobTTL, uint64(rng.Uniform(1000000)), rocksdb.SnappyCompression
				}
				blobs = append(blobs, BlobColumn{c, i})
			}
		}
		b := must[[]byte](t)(SerializeV2(nil, columns, blobs))
		if has := must[bool](t)(HasBlobColumns(b)); has != (len(blobs) > 0) {
			t.Fatalf("has blobs is %v", has)
		}
		got, gotBlobs, err := Deserialize(nil, nil, b)
		if err != nil || len(got) != len(columns) || len(gotBlobs) != len(blobs) {
			t.Fatal(err, len(got), len(gotBlobs))
		}
		for i := range blobs {
			if gotBlobs[i].Column != blobs[i].Column || !bytes.Equal(gotBlobs[i].Index.EncodeTo(nil), blobs[i].Index.EncodeTo(nil)) {
				t.Fatalf("blob %d is %+v, want %+v", i, gotBlobs[i], blobs[i])
			}
			got[blobs[i].Column].Value = columns[blobs[i].Column].Value
		}
		if !same(got, columns) {
			t.Fatal("columns differ")
		}
		n := 0
		if err := ForEachBlobFileNumber(b, func(i *blobformat.BlobIndex) error {
			if i.FileNumber != blobs[n].Index.FileNumber {
				t.Fatal("file number differs")
			}
			n++
			return nil
		}); err != nil || n != len(blobs) {
			t.Fatal(err, n)
		}
		v1 := must[[]byte](t)(Serialize(nil, columns))
		if len(v1) != columns.SerializedSize() {
			t.Fatalf("%d bytes, %d foretold", len(v1), columns.SerializedSize())
		}
		if !same(must[rocksdb.WideColumns](t)(DeserializeSimple(nil, v1)), columns) {
			t.Fatal("version 1 differs")
		}
	}
}

func TestWideColumnSerializationTest_ResolveEntityForMergeNullBlobFetcher(t *testing.T) {
	b := must[[]byte](t)(SerializeV2(nil, cols("", "default_val", "col1", "inline_val"), []BlobColumn{{0, blobIndex(42, 100, 50)}}))
	if !must[bool](t)(HasBlobColumns(b)) {
		t.Fatal("no blobs")
	}
	_, err := ResolveEntityForMerge(b, []byte("user_key"), nil)
	wantCorruption(t, err, "")
}

// fetcher gives "blob" and the file number.
type fetcher struct{}

func (fetcher) FetchBlob(_ []byte, i *blobformat.BlobIndex, v *rocksdb.PinnableSlice) (uint64, error) {
	v.PinSelf([]byte(fmt.Sprint("blob", i.FileNumber)))
	return i.Size, nil
}

func TestResolveEntityBlobColumns(t *testing.T) {
	inlined := blobformat.BlobIndex{Type: blobformat.BlobIndexInlinedTTL, Value: []byte("in")}
	b := must[[]byte](t)(SerializeV2(nil, cols("", "", "a", "plain", "b", "", "c", ""), []BlobColumn{{0, blobIndex(1, 0, 10)}, {2, inlined}, {3, blobIndex(2, 0, 20)}}))
	out, resolved, bytesRead, blobsRead, err := ResolveEntityBlobColumns(nil, b, nil, fetcher{})
	if err != nil || !resolved || bytesRead != 30 || blobsRead != 2 {
		t.Fatal(resolved, bytesRead, blobsRead, err)
	}
	if got := must[rocksdb.WideColumns](t)(DeserializeSimple(nil, out)); !same(got, cols("", "blob1", "a", "plain", "b", "in", "c", "blob2")) {
		t.Fatalf("%q", got)
	}
}

func TestWideColumnSerializationTest_DeserializeRejectsTrailingData(t *testing.T) {
	for _, columns := range []rocksdb.WideColumns{cols("", "d", "attr", "val"), cols()} {
		for _, b := range [][]byte{must[[]byte](t)(Serialize(nil, columns)), must[[]byte](t)(SerializeV2(nil, columns, nil))} {
			if err := simple(b); err != nil {
				t.Fatal(err)
			}
			wantCorruption(t, simple(append(b, 'x')), "")
		}
	}
}

func TestPinnableWideColumnsTest_SetPlainValue(t *testing.T) {
	var p rocksdb.PinnableWideColumns
	p.SetPlainValue([]byte("hello"), nil)
	if !same(p.Columns(), cols("", "hello")) || p.PayloadSize() != 5 {
		t.Fatalf("%q, %d", p.Columns(), p.PayloadSize())
	}
}

func TestPinnableWideColumnsTest_SetWideColumnValueAndPayloadSize(t *testing.T) {
	columns := cols("", "default", "a", "bb", "ccc", "dddd")
	var p rocksdb.PinnableWideColumns
	if err := p.SetWideColumnValue(must[[]byte](t)(Serialize(nil, columns)), nil, DeserializeSimple); err != nil {
		t.Fatal(err)
	}
	if !same(p.Columns(), columns) || p.PayloadSize() != len("default"+"a"+"bb"+"ccc"+"dddd") {
		t.Fatalf("%q, %d", p.Columns(), p.PayloadSize())
	}
}

func TestPinnableWideColumnsTest_Reset(t *testing.T) {
	var p rocksdb.PinnableWideColumns
	p.SetPlainValue([]byte("something"), nil)
	if p.Reset(); len(p.Columns()) != 0 || p.PayloadSize() != 0 {
		t.Fatalf("%q", p.Columns())
	}
	if p.SetPlainValue([]byte("again"), nil); !same(p.Columns(), cols("", "again")) {
		t.Fatalf("%q", p.Columns())
	}
}

func FuzzDeserialize(f *testing.F) {
	for _, columns := range []rocksdb.WideColumns{cols("", "d", "attr", "val"), cols()} {
		v1, _ := Serialize(nil, columns)
		v2, _ := SerializeV2(nil, columns, nil)
		f.Add(v1)
		f.Add(v2)
	}
	blobs, _ := SerializeV2(nil, cols("", "x", "y", "z"), []BlobColumn{{1, blobIndex(1, 2, 3)}})
	f.Add(blobs)
	// Invariant: what is accepted is the same when written again, and all
	// readers agree on the default column.
	f.Fuzz(func(t *testing.T, b []byte) {
		columns, bs, err := Deserialize(nil, nil, b)
		value, isBlob, derr := GetValueOfDefaultColumn(b)
		if err != nil {
			return
		}
		if derr != nil || !bytes.Equal(value, GetDefaultColumn(columns)) || isBlob != (HasDefaultColumn(columns) && len(bs) > 0 && bs[0].Column == 0) {
			t.Fatalf("default column %q, %v, %v", value, isBlob, derr)
		}
		again, err := SerializeV2(nil, columns, bs)
		if err != nil {
			t.Fatal(err)
		}
		columns2, bs2, err := Deserialize(nil, nil, again)
		if err != nil || len(columns2) != len(columns) || len(bs2) != len(bs) {
			t.Fatal(err)
		}
	})
}

func TestPinnableWideColumnsTest_SerializedSizeMatchesSerializedSizeV1(t *testing.T) {
	var p rocksdb.PinnableWideColumns
	p.SetPlainValue([]byte("plain-value"), nil)
	if got, want := p.SerializedSize(), p.Columns().SerializedSize(); got != want {
		t.Errorf("%d bytes of a plain value, not %d", got, want)
	}
	entity := must[[]byte](t)(Serialize(nil, cols("", "default", "attr1", "val1", "attr2", "")))
	if err := p.SetWideColumnValue(entity, nil, DeserializeSimple); err != nil {
		t.Fatal(err)
	}
	if got, want := p.SerializedSize(), p.Columns().SerializedSize(); got != want || got != len(entity) {
		t.Errorf("%d bytes of an entity of %d, not %d", got, len(entity), want)
	}
}

// pinnedBlobs is a fetcher whose blobs stay where they are.
type pinnedBlobs struct{ data []byte }

func (f *pinnedBlobs) FetchBlob(_ []byte, _ *blobformat.BlobIndex, value *rocksdb.PinnableSlice) (uint64, error) {
	value.PinSlice(f.data, nil)
	return 0, nil
}

func TestPinnableWideColumnsTest_ResolveColumnsZeroCopy(t *testing.T) {
	entity := must[[]byte](t)(SerializeV2(nil, cols("", "default-value", "blob_col", "x"), []BlobColumn{{1, blobIndex(42, 100, 50)}}))
	fetcher := pinnedBlobs{[]byte("resolved-blob-payload")}
	var p rocksdb.PinnableWideColumns
	if err := ReadEntity(&p, entity, nil, nil, &fetcher); err != nil {
		t.Fatal(err)
	}
	got := p.Columns()
	if !same(got, cols("", "default-value", "blob_col", "resolved-blob-payload")) {
		t.Fatalf("%v", got)
	}
	if &got[1].Value[0] != &fetcher.data[0] {
		t.Error("the blob was copied")
	}
	// A copy of the columns still points to where they are.
	inline, moved := &got[0].Value[0], p
	if &moved.Columns()[0].Value[0] != inline || &moved.Columns()[1].Value[0] != &fetcher.data[0] {
		t.Error("columns moved")
	}
	p.Reset()
	if len(p.Columns()) != 0 {
		t.Error("columns are left")
	}
	wantCorruption(t, ReadEntity(&p, entity, nil, nil, nil), "blob fetcher")
}
