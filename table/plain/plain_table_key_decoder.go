// Port of table/plain/plain_table_key_coding.{h,cc}: reading rows. Differs: the
// shared prefix is kept apart from the key; lengths are checked against the
// rows' end.

package plain

import (
	"encoding/binary"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/file"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

// PlainTableReaderFileInfo is the file of a table and where its rows end.
type PlainTableReaderFileInfo struct {
	isMmapMode    bool
	fileData      []byte // the mapping
	dataEndOffset int
	file          *file.RandomAccessFileReader
}

// NewPlainTableReaderFileInfo is that of a file that is read, not mapped.
func NewPlainTableReaderFileInfo(f *file.RandomAccessFileReader, dataEndOffset uint32) *PlainTableReaderFileInfo {
	return &PlainTableReaderFileInfo{dataEndOffset: int(dataEndOffset), file: f}
}

func (i *PlainTableReaderFileInfo) corruption(offset int, text string) error {
	return rocksdb.Corruption(text).InAt(i.file.FileName(), uint64(max(offset, 0)))
}

// readBuffer holds what was read of the file.
type readBuffer struct {
	buf   []byte
	start int
}

// PlainTableFileReader reads pieces of rows. Of a mapped file, they are valid
// until that is closed; else they are in one of two buffers, and the next read
// may end them. The buffers are of the first read and of the last: a lookup in
// two places needs both.
type PlainTableFileReader struct {
	info    *PlainTableReaderFileInfo
	buffers [2]readBuffer
	numBuf  int
}

// NewPlainTableFileReader has read nothing yet.
func NewPlainTableFileReader(info *PlainTableReaderFileInfo) *PlainTableFileReader {
	return &PlainTableFileReader{info: info}
}

// Read gives n bytes of the rows at an offset.
func (r *PlainTableFileReader) Read(offset, n int) ([]byte, error) {
	if n < 0 || offset < 0 || n > r.info.dataEndOffset-offset {
		return nil, r.info.corruption(offset, "Unexpected EOF when reading a row")
	}
	if r.info.isMmapMode {
		return r.info.fileData[offset : offset+n : offset+n], nil
	}
	return r.readNonMmap(offset, n)
}

func (r *PlainTableFileReader) readNonMmap(offset, n int) ([]byte, error) {
	const prefetchSize = 256
	for i := r.numBuf - 1; i >= 0; i-- {
		b := &r.buffers[i]
		if at := offset - b.start; at >= 0 && at+n <= len(b.buf) {
			return b.buf[at : at+n : at+n], nil
		}
	}
	if r.numBuf < len(r.buffers) {
		r.numBuf++
	}
	b := &r.buffers[r.numBuf-1]
	size := min(r.info.dataEndOffset-offset, max(prefetchSize, n))
	if cap(b.buf) < size {
		b.buf = make([]byte, size)
	}
	buf := b.buf[:size]
	b.buf = b.buf[:0] // should it fail
	got, err := r.info.file.Read(nil, uint64(offset), size, buf, nil)
	if err != nil {
		return nil, err
	}
	if len(got) < size {
		return nil, r.info.corruption(offset+len(got), "file ends within the rows")
	}
	b.buf, b.start = got, offset
	return got[:n:n], nil
}

// readVarint32 gives a number and its length in bytes.
func (r *PlainTableFileReader) readVarint32(offset int) (uint32, int, error) {
	const maxLength = 5
	b, err := r.Read(offset, min(r.info.dataEndOffset-offset, maxLength))
	if err != nil {
		return 0, 0, err
	}
	v, n := util.DecodeVarint32(b)
	if n <= 0 {
		return 0, 0, r.info.corruption(offset, "Unexpected EOF when reading a length")
	}
	return v, n, nil
}

// PlainTableKeyDecoder reads rows one after the other, or wherever there is a
// full key.
type PlainTableKeyDecoder struct {
	reader          PlainTableFileReader
	encodingType    rocksdb.EncodingType
	fixedUserKeyLen uint32

	parsed dbformat.ParsedInternalKey // of the last row
	keyBuf []byte                     // its internal key, where that had to be put together
	// full is the last full user key, and prefix what rows after it share with it.
	full, fullBuf, prefix []byte
}

// NewPlainTableKeyDecoder reads the rows of a file.
func NewPlainTableKeyDecoder(info *PlainTableReaderFileInfo, t rocksdb.EncodingType, userKeyLen uint32) *PlainTableKeyDecoder {
	return &PlainTableKeyDecoder{reader: PlainTableFileReader{info: info}, encodingType: t, fixedUserKeyLen: userKeyLen}
}

// decodedKey is where a key was found.
type decodedKey struct {
	internalKey []byte // nil unless asked for
	next        int    // offset of what follows the key
	seekable    bool   // whether it is a full key
}

// nextKey reads a row. The parsed key is d.parsed. Key and value are valid until
// the decoder is used again.
func (d *PlainTableKeyDecoder) nextKey(offset int, wantInternal bool) (k decodedKey, value []byte, err error) {
	if d.mappedPlain() {
		internal, next, err := d.mappedKey(offset)
		if err != nil {
			return k, nil, err
		}
		value, next, err := d.mappedValue(next)
		if err != nil {
			return k, nil, err
		}
		k = decodedKey{next: next, seekable: true}
		if wantInternal {
			k.internalKey = d.wholeKey(internal)
		}
		return k, value, nil
	}
	if k, err = d.nextKeyNoValue(offset, wantInternal); err != nil {
		return k, nil, err
	}
	size, n, err := d.reader.readVarint32(k.next)
	if err != nil {
		return k, nil, err
	}
	k.next += n
	if value, err = d.reader.Read(k.next, int(size)); err != nil {
		return k, nil, err
	}
	k.next += int(size)
	return k, value, nil
}

// nextKeyNoValue reads a row's key.
func (d *PlainTableKeyDecoder) nextKeyNoValue(offset int, wantInternal bool) (decodedKey, error) {
	if d.mappedPlain() {
		internal, next, err := d.mappedKey(offset)
		k := decodedKey{next: next, seekable: true}
		if err == nil && wantInternal {
			k.internalKey = d.wholeKey(internal)
		}
		return k, err
	}
	if d.encodingType == rocksdb.EncodingPlain {
		return d.nextPlainEncodingKey(offset, wantInternal)
	}
	return d.nextPrefixEncodingKey(offset, wantInternal)
}

func (d *PlainTableKeyDecoder) mappedPlain() bool {
	return d.reader.info.isMmapMode && d.encodingType == rocksdb.EncodingPlain
}

// mappedKey is nextKeyNoValue of the most usual rows, by itself for speed: it
// gives the internal key where it is whole in the row, and the offset behind it.
func (d *PlainTableKeyDecoder) mappedKey(offset int) (internal []byte, next int, err error) {
	i := d.reader.info
	if uint(offset) >= uint(i.dataEndOffset) {
		return nil, 0, i.corruption(offset, "Unexpected EOF when reading a row")
	}
	row := i.fileData[offset:i.dataEndOffset]
	size, n := int(d.fixedUserKeyLen), 0
	if d.fixedUserKeyLen == rocksdb.PlainTableVariableLength {
		v, length := util.DecodeVarint32(row)
		if length <= 0 {
			return nil, 0, i.corruption(offset, "Unexpected EOF when reading a length")
		}
		size, n = int(v), length
	}
	row = row[n:]
	if size >= len(row) {
		return nil, 0, i.corruption(offset, "Unexpected EOF when reading a row")
	}
	p := &d.parsed
	p.UserKey = row[:size:size]
	if row[size] == valueTypeSeqID0 {
		p.Sequence, p.Type = 0, dbformat.TypeValue
		return nil, offset + n + size + 1, nil
	}
	end := size + dbformat.NumInternalBytes
	if end > len(row) {
		return nil, 0, i.corruption(offset, "Unexpected EOF when reading a row")
	}
	packed := binary.LittleEndian.Uint64(row[size:end])
	p.Sequence, p.Type = dbformat.UnPackSequenceAndType(packed)
	if !dbformat.IsExtendedValueType(p.Type) {
		return nil, 0, i.corruption(offset, "Corrupted key found during next key read")
	}
	return row[:end:end], offset + n + end, nil
}

// mappedValue reads the value at an offset, and gives the one behind it.
func (d *PlainTableKeyDecoder) mappedValue(offset int) (value []byte, next int, err error) {
	i := d.reader.info
	rest := i.fileData[offset:i.dataEndOffset]
	size, n := util.DecodeVarint32(rest)
	if n <= 0 || int(size) > len(rest)-n {
		return nil, 0, i.corruption(offset, "Unexpected EOF when reading the next value")
	}
	end := n + int(size)
	return rest[n:end:end], offset + end, nil
}

// wholeKey is the internal key of d.parsed, put together unless the row has it.
func (d *PlainTableKeyDecoder) wholeKey(internal []byte) []byte {
	if internal == nil {
		p := &d.parsed
		d.keyBuf = dbformat.AppendInternalKey(d.keyBuf[:0], p.UserKey, p.Sequence, p.Type)
		internal = d.keyBuf
	}
	return internal
}

func (d *PlainTableKeyDecoder) nextPlainEncodingKey(offset int, wantInternal bool) (decodedKey, error) {
	k := decodedKey{next: offset, seekable: true}
	size := d.fixedUserKeyLen
	if size == rocksdb.PlainTableVariableLength {
		v, n, err := d.reader.readVarint32(offset)
		if err != nil {
			return k, err
		}
		size = v
		k.next += n
	}
	internal, next, err := d.readInternalKey(k.next, int(size))
	if err != nil {
		return k, err
	}
	k.next = next
	d.present(&k, internal, wantInternal)
	return k, nil
}

// present makes d.parsed and k.internalKey outlive the reading of the value.
// internal is the key as it is in the row, if it is whole there.
func (d *PlainTableKeyDecoder) present(k *decodedKey, internal []byte, wantInternal bool) {
	p := &d.parsed
	if d.reader.info.isMmapMode {
		if !wantInternal {
			return
		}
		if internal != nil {
			k.internalKey = internal
			return
		}
	}
	d.keyBuf = dbformat.AppendInternalKey(d.keyBuf[:0], p.UserKey, p.Sequence, p.Type)
	k.internalKey = d.keyBuf
	p.UserKey = dbformat.ExtractUserKey(d.keyBuf)
}

// readInternalKey reads a user key, or its suffix, of size bytes and what
// follows it into d.parsed. It gives the bytes where they are an internal key,
// and the offset behind.
func (d *PlainTableKeyDecoder) readInternalKey(offset, size int) (internal []byte, next int, err error) {
	b, err := d.reader.Read(offset, size+1)
	if err != nil {
		return nil, 0, err
	}
	p := &d.parsed
	if b[size] == valueTypeSeqID0 {
		p.UserKey, p.Sequence, p.Type = b[:size:size], 0, dbformat.TypeValue
		return nil, offset + size + 1, nil
	}
	if b, err = d.reader.Read(offset, size+dbformat.NumInternalBytes); err != nil {
		return nil, 0, err
	}
	packed := binary.LittleEndian.Uint64(b[size:])
	p.UserKey = b[:size:size]
	p.Sequence, p.Type = dbformat.UnPackSequenceAndType(packed)
	if !dbformat.IsExtendedValueType(p.Type) {
		return nil, 0, d.reader.info.corruption(offset, "Corrupted key found during next key read")
	}
	return b, offset + size + dbformat.NumInternalBytes, nil
}

// readSize reads the kind and length of a key.
func (d *PlainTableKeyDecoder) readSize(offset int) (t entryType, size, n int, err error) {
	b, err := d.reader.Read(offset, 1)
	if err != nil {
		return 0, 0, 0, err
	}
	t, size = entryType(b[0]>>6), int(b[0]&sizeInlineLimit)
	if size < sizeInlineLimit {
		return t, size, 1, nil
	}
	extra, n, err := d.reader.readVarint32(offset + 1)
	return t, sizeInlineLimit + int(extra), n + 1, err
}

func (d *PlainTableKeyDecoder) nextPrefixEncodingKey(offset int, wantInternal bool) (decodedKey, error) {
	k := decodedKey{next: offset, seekable: true}
	for {
		t, size, n, err := d.readSize(k.next)
		if err != nil {
			return k, err
		}
		at := k.next
		k.next += n
		switch t {
		case entryFullKey:
			internal, next, err := d.readInternalKey(k.next, size)
			if err != nil {
				return k, err
			}
			k.next = next
			d.full = d.parsed.UserKey
			d.present(&k, internal, wantInternal)
			if !d.reader.info.isMmapMode {
				d.fullBuf = append(d.fullBuf[:0], d.parsed.UserKey...)
				d.full = d.fullBuf
			}
			return k, nil
		case entryPrefixFromPreviousKey:
			k.seekable = false
			if size > len(d.full) {
				return k, d.reader.info.corruption(at, "a prefix is longer than the key it is of")
			}
			d.prefix = append(d.prefix[:0], d.full[:size]...)
		case entryKeySuffix:
			k.seekable = false
			_, next, err := d.readInternalKey(k.next, size)
			if err != nil {
				return k, err
			}
			k.next = next
			p := &d.parsed
			d.keyBuf = append(d.keyBuf[:0], d.prefix...)
			d.keyBuf = dbformat.AppendInternalKey(d.keyBuf, p.UserKey, p.Sequence, p.Type)
			k.internalKey = d.keyBuf
			p.UserKey = dbformat.ExtractUserKey(d.keyBuf)
			return k, nil
		default:
			return k, d.reader.info.corruption(at, "Un-identified size flag.")
		}
	}
}
