// Port of db/wide/wide_column_serialization.{h,cc}. Differs: decoders append to
// slices of the caller's.

package wide

import (
	"bytes"
	"math"

	"github.com/rocksdb-go/rocksdb/db/blob/blobformat"
	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

// The versions of the format.
//
// Version 1, all values inline:
//
//	version               varint32
//	number of columns     varint32
//	each column           varint32 and name, varint32 size of the value
//	values                bytes, one after the other
//
// Version 2, values inline or in blobs:
//
//	version, number of columns                       varint32 each
//	bytes of the name sizes, value sizes, names      varint32 each
//	types      a byte for each column: TypeValue or TypeBlobIndex
//	name sizes, value sizes                          varint32s
//	names, values                                    bytes
//
// A blob's value is an encoded BlobIndex. An entity is the whole value it is
// stored in: bytes after it are a corruption.
const (
	Version1 uint32 = 1
	Version2 uint32 = 2
)

// BlobColumn says that the value of a column is in a blob.
type BlobColumn struct {
	Column int
	Index  blobformat.BlobIndex
}

func checkColumn(columns rocksdb.WideColumns, i int) error {
	c := &columns[i]
	switch {
	case uint64(len(c.Name)) > math.MaxUint32:
		return rocksdb.InvalidArgument("Wide column name too long")
	case i > 0 && bytes.Compare(columns[i-1].Name, c.Name) >= 0:
		return rocksdb.Corruption("Wide columns out of order")
	case uint64(len(c.Value)) > math.MaxUint32:
		return rocksdb.InvalidArgument("Wide column value too long")
	}
	return nil
}

// Serialize appends version 1 of the columns, which must be in order, to dst.
func Serialize(dst []byte, columns rocksdb.WideColumns) ([]byte, error) {
	if uint64(len(columns)) > math.MaxUint32 {
		return dst, rocksdb.InvalidArgument("Too many wide columns")
	}
	begin := len(dst)
	dst = util.AppendVarint32(dst, Version1)
	dst = util.AppendVarint32(dst, uint32(len(columns)))
	for i := range columns {
		if err := checkColumn(columns, i); err != nil {
			return dst[:begin], err
		}
		dst = util.AppendLengthPrefixedSlice(dst, columns[i].Name)
		dst = util.AppendVarint32(dst, uint32(len(columns[i].Value)))
	}
	for i := range columns {
		dst = append(dst, columns[i].Value...)
	}
	return dst, nil
}

// SerializeV2 appends version 2 to dst; the values of blob columns are replaced
// by their indexes.
func SerializeV2(dst []byte, columns rocksdb.WideColumns, blobs []BlobColumn) ([]byte, error) {
	if uint64(len(columns)) > math.MaxUint32 {
		return dst, rocksdb.InvalidArgument("Too many wide columns")
	}
	types := bytes.Repeat([]byte{byte(dbformat.TypeValue)}, len(columns))
	values := make([][]byte, len(columns))
	for i := range columns {
		values[i] = columns[i].Value
	}
	for i := range blobs {
		at := blobs[i].Column
		if at < 0 || at >= len(columns) {
			return dst, rocksdb.InvalidArgument("Blob column index out of range")
		}
		types[at] = byte(dbformat.TypeBlobIndex)
		values[at] = blobs[i].Index.EncodeTo(nil)
	}
	var nameSizes, valueSizes []byte
	var namesBytes, valuesBytes uint64
	for i := range columns {
		c := rocksdb.WideColumn{Name: columns[i].Name, Value: values[i]}
		if uint64(len(c.Value)) > math.MaxUint32 {
			return dst, rocksdb.InvalidArgument("Wide column value too long")
		}
		if err := checkColumn(columns, i); err != nil {
			return dst, err
		}
		nameSizes = util.AppendVarint32(nameSizes, uint32(len(c.Name)))
		valueSizes = util.AppendVarint32(valueSizes, uint32(len(c.Value)))
		namesBytes += uint64(len(c.Name))
		valuesBytes += uint64(len(c.Value))
	}
	switch {
	case uint64(len(nameSizes)) > math.MaxUint32 || uint64(len(valueSizes)) > math.MaxUint32:
		return dst, rocksdb.InvalidArgument("Wide column metadata too large")
	case namesBytes > math.MaxUint32:
		return dst, rocksdb.InvalidArgument("Wide column names too large")
	case valuesBytes > math.MaxUint32:
		return dst, rocksdb.InvalidArgument("Wide column values too large")
	}
	dst = util.AppendVarint32(dst, Version2)
	dst = util.AppendVarint32(dst, uint32(len(columns)))
	dst = util.AppendVarint32(dst, uint32(len(nameSizes)))
	dst = util.AppendVarint32(dst, uint32(len(valueSizes)))
	dst = util.AppendVarint32(dst, uint32(namesBytes))
	dst = append(dst, types...)
	dst = append(dst, nameSizes...)
	dst = append(dst, valueSizes...)
	for i := range columns {
		dst = append(dst, columns[i].Name...)
	}
	for i := range values {
		dst = append(dst, values[i]...)
	}
	return dst, nil
}

// header decodes version and number of columns.
func header(in []byte) (version, n uint32, rest []byte, err error) {
	version, in, ok := util.GetVarint32(in)
	if !ok {
		return 0, 0, nil, rocksdb.Corruption("Error decoding wide column version")
	}
	if version > Version2 {
		return 0, 0, nil, rocksdb.Corruption("Corrupt or unsupported wide column version")
	}
	n, in, ok = util.GetVarint32(in)
	if !ok {
		return 0, 0, nil, rocksdb.Corruption("Error decoding number of wide columns")
	}
	return version, n, in, nil
}

// sections are the parts of a version 2 entity.
type sections struct {
	types, nameSizes, valueSizes, names, values []byte
}

func splitV2(in []byte, n uint32) (s sections, err error) {
	var sizes [3]uint32
	for i, what := range [3]string{"name sizes bytes", "value sizes bytes", "names bytes"} {
		var ok bool
		if sizes[i], in, ok = util.GetVarint32(in); !ok {
			return s, rocksdb.Corruption("Error decoding wide column " + what)
		}
	}
	if uint64(len(in)) < uint64(n) {
		return s, rocksdb.Corruption("Error decoding wide column types")
	}
	s.types, in = in[:n], in[n:]
	for _, t := range s.types {
		// An entity within an entity is not allowed, for one.
		if t != byte(dbformat.TypeValue) && t != byte(dbformat.TypeBlobIndex) {
			return s, rocksdb.Corruption("Unsupported wide column ValueType")
		}
	}
	if uint64(len(in)) < uint64(sizes[0])+uint64(sizes[1])+uint64(sizes[2]) {
		return s, rocksdb.Corruption("Error decoding wide column sections")
	}
	s.nameSizes, in = in[:sizes[0]], in[sizes[0]:]
	s.valueSizes, in = in[:sizes[1]], in[sizes[1]:]
	s.names, s.values = in[:sizes[2]], in[sizes[2]:]
	return s, nil
}

// Deserialize appends an entity's columns, which point into entity, and its
// blob columns, whose values are encoded indexes.
func Deserialize(columns rocksdb.WideColumns, blobs []BlobColumn, entity []byte) (rocksdb.WideColumns, []BlobColumn, error) {
	version, n, in, err := header(entity)
	if err != nil {
		return columns, blobs, err
	}
	if version < Version2 {
		columns, err = deserializeV1(columns, in, n)
		return columns, blobs, err
	}
	base := len(columns)
	s, err := splitV2(in, n)
	if err != nil {
		return columns, blobs, err
	}
	if columns, err = deserializeV2(columns, s); err != nil {
		return columns, blobs, err
	}
	for i, t := range s.types {
		if t != byte(dbformat.TypeBlobIndex) {
			continue
		}
		value := columns[base+i].Value
		if len(value) == 0 {
			return columns, blobs, rocksdb.Corruption("Empty blob index in wide column")
		}
		b := BlobColumn{Column: i}
		if b.Index.DecodeFrom(value) != nil {
			return columns, blobs, rocksdb.Corruption("Error decoding blob index in wide column")
		}
		blobs = append(blobs, b)
	}
	return columns, blobs, nil
}

// DeserializeSimple is Deserialize of an entity that must have no blobs.
func DeserializeSimple(columns rocksdb.WideColumns, entity []byte) (rocksdb.WideColumns, error) {
	var few [4]BlobColumn
	columns, blobs, err := Deserialize(columns, few[:0], entity)
	if err == nil && len(blobs) > 0 {
		err = rocksdb.Corruption("Wide column blob reference in a context where it is not expected.")
	}
	return columns, err
}

func deserializeV1(columns rocksdb.WideColumns, in []byte, n uint32) (rocksdb.WideColumns, error) {
	base := len(columns)
	index := in
	for i := uint32(0); i < n; i++ {
		name, rest, ok := util.GetLengthPrefixedSlice(in)
		if !ok {
			return columns, rocksdb.Corruption("Error decoding wide column name")
		}
		if i > 0 && bytes.Compare(columns[len(columns)-1].Name, name) >= 0 {
			return columns, rocksdb.Corruption("Wide columns out of order")
		}
		columns = append(columns, rocksdb.WideColumn{Name: name})
		if _, in, ok = util.GetVarint32(rest); !ok {
			return columns, rocksdb.Corruption("Error decoding wide column value size")
		}
	}
	// The sizes are decoded a second time, now that it is known where the
	// values begin.
	for i := range columns[base:] {
		_, rest, _ := util.GetLengthPrefixedSlice(index)
		size, rest, _ := util.GetVarint32(rest)
		index = rest
		if uint64(len(in)) < uint64(size) {
			return columns, rocksdb.Corruption("Error decoding wide column value payload")
		}
		columns[base+i].Value, in = in[:size:size], in[size:]
	}
	if len(in) != 0 {
		return columns, rocksdb.Corruption("Unexpected trailing data after wide column entity")
	}
	return columns, nil
}

func deserializeV2(columns rocksdb.WideColumns, s sections) (rocksdb.WideColumns, error) {
	for i := range s.types {
		var nameSize, valueSize uint32
		var ok bool
		if nameSize, s.nameSizes, ok = util.GetVarint32(s.nameSizes); !ok {
			return columns, rocksdb.Corruption("Error decoding wide column name size")
		}
		if valueSize, s.valueSizes, ok = util.GetVarint32(s.valueSizes); !ok {
			return columns, rocksdb.Corruption("Error decoding wide column value size")
		}
		if uint64(nameSize) > uint64(len(s.names)) {
			return columns, rocksdb.Corruption("Error decoding wide column name")
		}
		var c rocksdb.WideColumn
		c.Name, s.names = s.names[:nameSize:nameSize], s.names[nameSize:]
		if i > 0 && bytes.Compare(columns[len(columns)-1].Name, c.Name) >= 0 {
			return columns, rocksdb.Corruption("Wide columns out of order")
		}
		if uint64(valueSize) > uint64(len(s.values)) {
			return columns, rocksdb.Corruption("Error decoding wide column value payload")
		}
		c.Value, s.values = s.values[:valueSize:valueSize], s.values[valueSize:]
		columns = append(columns, c)
	}
	if len(s.nameSizes)+len(s.valueSizes)+len(s.names)+len(s.values) != 0 {
		return columns, rocksdb.Corruption("Wide column section size mismatch")
	}
	return columns, nil
}

// HasBlobColumns tells whether an entity refers to blobs.
func HasBlobColumns(entity []byte) (bool, error) {
	version, n, in, err := header(entity)
	if err != nil || version < Version2 || n == 0 {
		return false, err
	}
	s, err := splitV2(in, n)
	if err != nil {
		return false, err
	}
	return bytes.IndexByte(s.types, byte(dbformat.TypeBlobIndex)) >= 0, nil
}

// ForEachBlobFileNumber calls f with each blob index of an entity, until f
// fails.
func ForEachBlobFileNumber(entity []byte, f func(*blobformat.BlobIndex) error) error {
	has, err := HasBlobColumns(entity)
	if err != nil || !has {
		return err
	}
	_, blobs, err := Deserialize(nil, nil, entity)
	if err != nil {
		return err
	}
	for i := range blobs {
		if err := f(&blobs[i].Index); err != nil {
			return err
		}
	}
	return nil
}

// GetValueOfDefaultColumn gives the default column's value, empty when it is
// not there; isBlob says that it is an encoded index. It points into entity.
func GetValueOfDefaultColumn(entity []byte) (value []byte, isBlob bool, err error) {
	version, n, in, err := header(entity)
	if err != nil {
		return nil, false, err
	}
	if version < Version2 {
		var few [8]rocksdb.WideColumn
		columns, err := deserializeV1(few[:0], in, n)
		if err != nil {
			return nil, false, err
		}
		return GetDefaultColumn(columns), false, nil
	}
	if n == 0 {
		return nil, false, nil
	}
	s, err := splitV2(in, n)
	if err != nil {
		return nil, false, err
	}
	nameSize, _, ok := util.GetVarint32(s.nameSizes)
	if !ok {
		return nil, false, rocksdb.Corruption("Error decoding wide column name size")
	}
	valueSize, _, ok := util.GetVarint32(s.valueSizes)
	if !ok {
		return nil, false, rocksdb.Corruption("Error decoding wide column value size")
	}
	if nameSize != 0 {
		return nil, false, nil
	}
	if uint64(valueSize) > uint64(len(s.values)) {
		return nil, false, rocksdb.Corruption("Error decoding wide column value payload")
	}
	return s.values[:valueSize:valueSize], s.types[0] == byte(dbformat.TypeBlobIndex), nil
}

// ReadEntity sets dst to an entity's columns. owner keeps the entity's bytes; nil
// copies them. Blobs are fetched, each into memory of its own; a nil fetcher makes
// them a corruption.
func ReadEntity(dst *rocksdb.PinnableWideColumns, entity []byte, owner rocksdb.Releaser, userKey []byte, fetcher blobformat.BlobFetcher) error {
	var few [4]BlobColumn
	blobs := few[:0]
	err := dst.SetWideColumnValue(entity, owner, func(columns rocksdb.WideColumns, entity []byte) (_ rocksdb.WideColumns, err error) {
		columns, blobs, err = Deserialize(columns, blobs, entity)
		return columns, err
	})
	for i := range blobs {
		var value rocksdb.PinnableSlice
		if err != nil {
			break
		}
		if _, err = fetchColumn(&blobs[i], userKey, fetcher, &value); err == nil {
			dst.ResolveColumn(blobs[i].Column, value)
		}
	}
	if err != nil {
		dst.Reset()
	}
	return err
}

// fetchColumn reads a column's blob.
func fetchColumn(b *BlobColumn, userKey []byte, fetcher blobformat.BlobFetcher, value *rocksdb.PinnableSlice) (bytesRead uint64, err error) {
	if b.Index.IsInlined() {
		value.PinSelf(b.Index.Value)
		return 0, nil
	}
	if fetcher == nil {
		return 0, rocksdb.Corruption("Cannot resolve blob columns in entity without a blob fetcher")
	}
	return fetcher.FetchBlob(userKey, &b.Index, value)
}

// ResolveEntityBlobColumns gives an entity with its blobs fetched, as version 1
// appended to dst; resolved is false, and nothing appended, when it has none.
// A nil fetcher makes a blob that is not inlined a corruption.
func ResolveEntityBlobColumns(dst, entity, userKey []byte, fetcher blobformat.BlobFetcher) (out []byte, resolved bool, bytesRead uint64, blobsRead int, err error) {
	columns, blobs, err := Deserialize(nil, nil, entity)
	if err != nil || len(blobs) == 0 {
		return dst, false, 0, 0, err
	}
	values := make([]rocksdb.PinnableSlice, len(blobs))
	defer func() {
		for i := range values {
			values[i].Release()
		}
	}()
	for i := range blobs {
		b := &blobs[i]
		n, err := fetchColumn(b, userKey, fetcher, &values[i])
		if err != nil {
			return dst, false, bytesRead, blobsRead, err
		}
		if !b.Index.IsInlined() {
			bytesRead += n
			blobsRead++
		}
		columns[b.Column].Value = values[i].Data()
	}
	dst, err = Serialize(dst, columns)
	return dst, err == nil, bytesRead, blobsRead, err
}

// ResolveEntityForMerge gives entity itself when it has no blobs, else what
// ResolveEntityBlobColumns makes of it.
func ResolveEntityForMerge(entity, userKey []byte, fetcher blobformat.BlobFetcher) ([]byte, error) {
	out, resolved, _, _, err := ResolveEntityBlobColumns(nil, entity, userKey, fetcher)
	if err != nil || !resolved {
		return entity, err
	}
	return out, nil
}
