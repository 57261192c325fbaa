// Port of table/plain/plain_table_key_coding.{h,cc}: writing rows; reading them
// is in plain_table_key_decoder.go.

package plain

import (
	"math"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

// A plain table is
//
//	rows
//	filter block        optional; plain_table_bloom.go
//	index block         optional; plain_table_index.go
//	properties block
//	metaindex block
//	footer              format_version 0, with the legacy magic number
//
// the blocks without trailers. A row is a key, the value's length (varint32) and
// the value. With encoding kPlain, a key is
//
//	length of the user key   varint32; absent where all keys have one length
//	internal key
//
// and with kPrefix one of
//
//	full key, its length         internal key
//	prefix, its length
//	  suffix, its length         internal key from the suffix on
//	suffix, its length           internal key from the suffix on
//
// in which the prefix is the first so many bytes of the last full key, and the
// second form gives way to the third after the first key that shares it. Lengths
// are those of the user key or its part, and come as a byte, the kind in its
// upper two bits (0 full key, 1 prefix, 2 suffix) and the length in the others;
// where these are all ones, a varint32 follows with the length less 63.
//
// The internal key is the user key and 8 bytes, or, for a put (type value) with
// sequence number 0, the user key and the byte ff.

type entryType uint8

const (
	entryFullKey entryType = iota
	entryPrefixFromPreviousKey
	entryKeySuffix
)

const (
	// sizeInlineLimit is where lengths begin that do not fit their byte.
	sizeInlineLimit = 0x3f
	// valueTypeSeqID0 stands for the 8 bytes of a put with sequence number 0.
	// It is no value type.
	valueTypeSeqID0 = 0xff
)

func appendSize(dst []byte, t entryType, size uint32) []byte {
	if size < sizeInlineLimit {
		return append(dst, byte(t)<<6|byte(size))
	}
	return util.AppendVarint32(append(dst, byte(t)<<6|sizeInlineLimit), size-sizeInlineLimit)
}

// prefixOf is the extractor's prefix of a user key. A key outside of its domain
// is its own.
func prefixOf(e rocksdb.SliceTransform, userKey []byte) []byte {
	if !e.InDomain(userKey) {
		return userKey
	}
	return e.Transform(userKey)
}

// PlainTableKeyEncoder writes keys of rows.
type PlainTableKeyEncoder struct {
	encodingType    rocksdb.EncodingType
	fixedUserKeyLen uint32
	prefixExtractor rocksdb.SliceTransform
	sparseness      uint64
	keyCount        uint64 // for the prefix since the last full key
	prePrefix       []byte
}

// NewPlainTableKeyEncoder makes an encoder; without prefix extractor (nil) the
// encoding is kPlain. Every so many keys of a prefix as indexSparseness, at least
// one, there is a full key.
func NewPlainTableKeyEncoder(t rocksdb.EncodingType, userKeyLen uint32, e rocksdb.SliceTransform, indexSparseness uint64) *PlainTableKeyEncoder {
	if e == nil {
		t = rocksdb.EncodingPlain
	}
	return &PlainTableKeyEncoder{encodingType: t, fixedUserKeyLen: userKeyLen, prefixExtractor: e, sparseness: max(indexSparseness, 1)}
}

// GetEncodingType is the one that is used.
func (c *PlainTableKeyEncoder) GetEncodingType() rocksdb.EncodingType { return c.encodingType }

// AppendKey appends what stands in the row for an internal key, which p is
// parsed.
func (c *PlainTableKeyEncoder) AppendKey(dst, key []byte, p *dbformat.ParsedInternalKey) ([]byte, error) {
	n := len(p.UserKey)
	if n > math.MaxUint32 {
		return dst, rocksdb.NotSupported("keys of 4 GiB in plain tables")
	}
	rest := key
	switch {
	case c.encodingType == rocksdb.EncodingPrefix:
		dst, rest = c.appendPrefixEncoded(dst, key, p.UserKey)
	case c.fixedUserKeyLen == rocksdb.PlainTableVariableLength:
		dst = util.AppendVarint32(dst, uint32(n))
	case int(c.fixedUserKeyLen) != n:
		return dst, rocksdb.InvalidArgumentf("a key of %d bytes in a plain table whose keys are to have user_key_len %d", n, c.fixedUserKeyLen)
	}
	if p.Sequence == 0 && p.Type == dbformat.TypeValue {
		return append(append(dst, rest[:len(rest)-dbformat.NumInternalBytes]...), valueTypeSeqID0), nil
	}
	return append(dst, rest...), nil
}

// appendPrefixEncoded appends the lengths, and gives the part of key to follow.
func (c *PlainTableKeyEncoder) appendPrefixEncoded(dst, key, userKey []byte) (_, rest []byte) {
	prefix := prefixOf(c.prefixExtractor, userKey)
	if c.keyCount == 0 || string(prefix) != string(c.prePrefix) || c.keyCount%c.sparseness == 0 {
		c.keyCount = 1
		c.prePrefix = append(c.prePrefix[:0], prefix...)
		return appendSize(dst, entryFullKey, uint32(len(userKey))), key
	}
	c.keyCount++
	if c.keyCount == 2 {
		dst = appendSize(dst, entryPrefixFromPreviousKey, uint32(len(prefix)))
	}
	return appendSize(dst, entryKeySuffix, uint32(len(userKey)-len(prefix))), key[len(prefix):]
}
