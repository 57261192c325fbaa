// Port of table/cuckoo/cuckoo_table_builder.{h,cc}. Differs: a deleted key's value
// has the length of this table's values.

package cuckoo

import (
	"bytes"
	"math"
	"strconv"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/file"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/table"
	"github.com/rocksdb-go/rocksdb/table/format"
	"github.com/rocksdb-go/rocksdb/util"
)

// A cuckoo table is
//
//	buckets             of one length each
//	properties block
//	metaindex block
//	footer              format_version 1
//
// the blocks without trailers. A bucket is a key and a value. Keys are internal
// keys, or, in a table whose first key has sequence number 0, user keys, all put
// with that number. The value of a deletion is filled with 'a'.
//
// The file's properties, fixed numbers little-endian:
//
//	rocksdb.cuckoo.bucket.empty.key      the key in empty buckets; their values
//	                                     are filled with 'a'
//	rocksdb.cuckoo.value.length          fixed64
//	rocksdb.cuckoo.hash.num              hash functions, fixed32
//	rocksdb.cuckoo.hash.size             size of the hash table, fixed64
//	rocksdb.cuckoo.file.islastlevel      whether keys are user keys, 1 byte
//	rocksdb.cuckoo.hash.cuckooblocksize  fixed32
//	rocksdb.cuckoo.hash.identityfirst    1 byte
//	rocksdb.cuckoo.hash.usemodule        1 byte
//	rocksdb.cuckoo.hash.userkeylength    fixed32
//
// and the key's length is rocksdb.fixed.key.length. Hash function number i of a
// user key is MurmurHash with seed i*816922183 (mod 2^32), or, for i = 0 with
// identityfirst, the key's first 8 bytes as a fixed64; modulo the size of the hash
// table. Without usemodule, that is a power of two. A key is in one of the cuckoo
// block of buckets that begins at one of its hashes; for the last hash there are
// as many more buckets as a block has, less one.

const (
	murmurSeedMultiplier uint32 = 816922183
	// maxVectorIdx is an empty bucket's index, and more than keys can have.
	maxVectorIdx = math.MaxInt32
	// maxNumHashFunc is how many hash functions the factory's builders use.
	maxNumHashFunc = 64
	filler         = 'a'
)

// hasher computes the hashes of user keys.
type hasher struct {
	useModule     bool
	identityFirst bool
	tableSize     uint64
	// override is for tests; nil is the usual hash.
	override func(key []byte, index uint32, maxBuckets uint64) uint64
}

func (h *hasher) hash(userKey []byte, index uint32) uint64 {
	if h.override != nil {
		return h.override(userKey, index, h.tableSize)
	}
	var v uint64
	if index == 0 && h.identityFirst {
		v = identity(userKey)
	} else {
		v = util.MurmurHash(userKey, murmurSeedMultiplier*index)
	}
	if h.useModule {
		return v % h.tableSize
	}
	return v & (h.tableSize - 1)
}

// identity is a key's first 8 bytes; those that are not there count as zeros.
func identity(userKey []byte) uint64 {
	if len(userKey) >= 8 {
		return util.DecodeFixed64(userKey)
	}
	var b [8]byte
	copy(b[:], userKey)
	return util.DecodeFixed64(b[:])
}

// BuilderParams are a CuckooTableBuilder's. CuckooTableFactory fills them in.
type BuilderParams struct {
	MaxHashTableRatio   float64
	MaxNumHashFunc      uint32
	MaxSearchDepth      uint32
	UserComparator      rocksdb.Comparator
	CuckooBlockSize     uint32
	UseModuleHash       bool
	IdentityAsFirstHash bool
	// GetSliceHash replaces the hash in tests; nil is the usual one.
	GetSliceHash     func(key []byte, index uint32, maxBuckets uint64) uint64
	ColumnFamilyID   uint32
	ColumnFamilyName string
	DBID             string
	DBSessionID      string
	FileNumber       uint64
	WriteOptions     *rocksdb.WriteOptions
}

// CuckooTableBuilder writes a cuckoo table: it keeps all entries in memory until
// Finish. One goroutine uses it.
type CuckooTableBuilder struct {
	table.TableBuilderBase
	p         BuilderParams
	file      *file.WritableFileWriter
	ioOpts    rocksdb.IOOptions
	hasher    hasher
	blockSize uint32
	numHash   uint32

	isLastLevel          bool
	seenKey, seenValue   bool
	closed               bool
	keySize, valueSize   uint64
	numEntries           uint64
	numValues            uint64
	kvs                  []byte // keys with values, then keys that were deleted
	deletedKeys          []byte
	smallest, largest    []byte // user keys, bytewise
	props                rocksdb.TableProperties
	status, ioErr        error
	makeSpaceForKeyCalls uint32
}

var _ table.TableBuilder = (*CuckooTableBuilder)(nil)

// bucket of the hash table: the index of its entry, and the last search that
// came by.
type bucket struct{ vectorIdx, callID uint32 }

// NewCuckooTableBuilder begins a table in f, which stays the caller's.
func NewCuckooTableBuilder(p *BuilderParams, f *file.WritableFileWriter) *CuckooTableBuilder {
	b := &CuckooTableBuilder{p: *p, file: f, blockSize: max(p.CuckooBlockSize, 1), numHash: 2, ioOpts: rocksdb.DefaultIOOptions(),
		hasher: hasher{useModule: p.UseModuleHash, identityFirst: p.IdentityAsFirstHash, override: p.GetSliceHash}}
	if !p.UseModuleHash {
		b.hasher.tableSize = 2
	}
	file.PrepareIOFromWriteOptions(p.WriteOptions, &b.ioOpts)
	b.props = rocksdb.NewTableProperties()
	b.props.NumDataBlocks = 1
	b.props.ColumnFamilyID, b.props.ColumnFamilyName = uint64(p.ColumnFamilyID), p.ColumnFamilyName
	b.props.DBID, b.props.DBSessionID, b.props.OrigFileNumber = p.DBID, p.DBSessionID, p.FileNumber
	b.props.UserCollectedProperties = rocksdb.UserCollectedProperties{}
	b.props.ReadableProperties = rocksdb.UserCollectedProperties{}
	return b
}

func (b *CuckooTableBuilder) fail(err error) error {
	b.status = err
	return err
}

// Add is table.TableBuilder's. Keys are puts and deletions of one length, values
// of one length.
func (b *CuckooTableBuilder) Add(key, value []byte) error {
	if b.status != nil {
		return b.status
	}
	if b.numEntries >= maxVectorIdx-1 {
		return b.fail(rocksdb.NotSupported("Number of keys in a file must be < 2^32-1"))
	}
	k, err := dbformat.ParseInternalKey(key, false)
	if err != nil {
		return b.fail(rocksdb.Corruption("Unable to parse key into internal key. ", rocksdb.AsStatus(err).Message))
	}
	if k.Type != dbformat.TypeDeletion && k.Type != dbformat.TypeValue {
		return b.fail(rocksdb.NotSupported("Unsupported key type " + strconv.Itoa(int(k.Type))))
	}
	if !b.seenKey {
		// If the first key's sequence number is 0, all are taken to be.
		b.seenKey, b.isLastLevel = true, k.Sequence == 0
		b.smallest, b.largest = bytes.Clone(k.UserKey), bytes.Clone(k.UserKey)
		b.keySize = uint64(len(b.stored(key)))
	}
	stored := b.stored(key)
	if b.keySize != uint64(len(stored)) {
		return b.fail(rocksdb.NotSupported("all keys have to be the same size"))
	}
	if k.Type == dbformat.TypeValue {
		if !b.seenValue {
			b.seenValue, b.valueSize = true, uint64(len(value))
		}
		if b.valueSize != uint64(len(value)) {
			return b.fail(rocksdb.NotSupported("all values have to be the same size"))
		}
		b.kvs = append(append(b.kvs, stored...), value...)
		b.numValues++
	} else {
		b.deletedKeys = append(b.deletedKeys, stored...)
	}
	b.numEntries++
	// A key outside of these will do for the empty buckets.
	if bytes.Compare(k.UserKey, b.smallest) < 0 {
		b.smallest = append(b.smallest[:0], k.UserKey...)
	} else if bytes.Compare(k.UserKey, b.largest) > 0 {
		b.largest = append(b.largest[:0], k.UserKey...)
	}
	if !b.p.UseModuleHash && float64(b.hasher.tableSize) < float64(b.numEntries)/b.p.MaxHashTableRatio {
		b.hasher.tableSize *= 2
	}
	return nil
}

// stored is what of an internal key goes to the table.
func (b *CuckooTableBuilder) stored(key []byte) []byte {
	if b.isLastLevel {
		return dbformat.ExtractUserKey(key)
	}
	return key
}

func (b *CuckooTableBuilder) key(idx uint64) []byte {
	if idx >= b.numValues {
		at := (idx - b.numValues) * b.keySize
		return b.deletedKeys[at : at+b.keySize]
	}
	at := idx * (b.keySize + b.valueSize)
	return b.kvs[at : at+b.keySize]
}

func (b *CuckooTableBuilder) userKey(idx uint64) []byte {
	if b.isLastLevel {
		return b.key(idx)
	}
	return dbformat.ExtractUserKey(b.key(idx))
}

// hashTableSize is the final one.
func (b *CuckooTableBuilder) hashTableSize() uint64 {
	if b.numEntries > 0 && b.p.UseModuleHash {
		return max(uint64(float64(b.numEntries)/b.p.MaxHashTableRatio), 1)
	}
	return b.hasher.tableSize
}

func (b *CuckooTableBuilder) makeHashTable() ([]bucket, error) {
	buckets := make([]bucket, b.hasher.tableSize+uint64(b.blockSize)-1)
	for i := range buckets {
		buckets[i].vectorIdx = maxVectorIdx
	}
	ucmp := b.p.UserComparator
	var hashes []uint64
	for idx := range b.numEntries {
		userKey := b.userKey(idx)
		hashes = hashes[:0]
		var at uint64
		found := false
		for i := uint32(0); i < b.numHash && !found; i++ {
			h := b.hasher.hash(userKey, i)
			for range b.blockSize {
				if buckets[h].vectorIdx == maxVectorIdx {
					at, found = h, true
					break
				}
				if ucmp.Compare(userKey, b.userKey(uint64(buckets[h].vectorIdx))) == 0 {
					return nil, rocksdb.NotSupported("Same key is being inserted again.")
				}
				hashes = append(hashes, h)
				h++
			}
		}
		for !found {
			if at, found = b.makeSpaceForKey(hashes, buckets); found {
				break
			}
			// One more hash function; what there is stays where it is.
			if b.numHash >= b.p.MaxNumHashFunc {
				return nil, rocksdb.NotSupported("Too many collisions. Unable to hash.")
			}
			h := b.hasher.hash(userKey, b.numHash)
			b.numHash++
			for range b.blockSize {
				if buckets[h].vectorIdx == maxVectorIdx {
					at, found = h, true
					break
				}
				hashes = append(hashes, h)
				h++
			}
		}
		buckets[at].vectorIdx = uint32(idx)
	}
	return buckets, nil
}

// searchNode is a bucket of the search: how deep it is, and where the bucket is
// whose entry could move to it.
type searchNode struct {
	bucket uint64
	depth  uint32
	parent uint32
}

// makeSpaceForKey moves entries such that one of the buckets in hashes becomes
// free, and gives it. It searches breadth first, no deeper than is allowed, from
// those buckets to the other buckets of their entries, until one is empty.
func (b *CuckooTableBuilder) makeSpaceForKey(hashes []uint64, buckets []bucket) (at uint64, found bool) {
	b.makeSpaceForKeyCalls++
	id := b.makeSpaceForKeyCalls
	tree := make([]searchNode, 0, 64)
	// The first hashes stand for the blocks: as upstream does, so that files are
	// the same.
	for _, h := range hashes[:b.numHash] {
		buckets[h].callID = id
		tree = append(tree, searchNode{bucket: h})
	}
search:
	for pos := 0; pos < len(tree); pos++ {
		node := tree[pos]
		if node.depth >= b.p.MaxSearchDepth {
			break
		}
		userKey := b.userKey(uint64(buckets[node.bucket].vectorIdx))
		for i := range b.numHash {
			child := b.hasher.hash(userKey, i)
			for range b.blockSize {
				c := &buckets[child]
				if c.callID != id {
					c.callID = id
					tree = append(tree, searchNode{child, node.depth + 1, uint32(pos)})
					if c.vectorIdx == maxVectorIdx {
						found = true
						break search
					}
				}
				child++
			}
		}
	}
	if !found {
		return 0, false
	}
	i := uint32(len(tree) - 1)
	for i >= b.numHash {
		buckets[tree[i].bucket] = buckets[tree[tree[i].parent].bucket]
		i = tree[i].parent
	}
	return tree[i].bucket, true
}

// unusedUserKey finds a user key that is before the smallest or after the largest
// one.
func (b *CuckooTableBuilder) unusedUserKey() ([]byte, bool) {
	key := bytes.Clone(b.smallest)
	for i := len(key) - 1; i >= 0; i-- {
		key[i]--
		if bytes.Compare(key, b.smallest) < 0 {
			return key, true
		}
	}
	copy(key, b.largest)
	for i := len(key) - 1; i >= 0; i-- {
		key[i]++
		if bytes.Compare(key, b.largest) > 0 {
			return key, true
		}
	}
	return nil, false
}

// makeBuckets gives the hash table and what is in an empty bucket.
func (b *CuckooTableBuilder) makeBuckets() (buckets []bucket, unused []byte, err error) {
	b.hasher.tableSize = b.hashTableSize()
	if b.numEntries > 0 {
		if buckets, err = b.makeHashTable(); err != nil {
			return nil, nil, err
		}
		key, ok := b.unusedUserKey()
		if !ok {
			return nil, nil, rocksdb.Corruption("Unable to find unused key")
		}
		if unused = key; !b.isLastLevel {
			unused = dbformat.AppendInternalKey(nil, key, 0, dbformat.TypeValue)
		}
	}
	return buckets, append(unused, bytes.Repeat([]byte{filler}, int(b.valueSize))...), nil
}

func (b *CuckooTableBuilder) append(data []byte) error {
	if err := b.file.Append(&b.ioOpts, data, 0); err != nil {
		b.ioErr = err
		return b.fail(err)
	}
	return nil
}

func (b *CuckooTableBuilder) writeBuckets(buckets []bucket, unused []byte) error {
	deleted := bytes.Repeat([]byte{filler}, int(b.valueSize))
	for _, c := range buckets {
		idx := uint64(c.vectorIdx)
		var err error
		switch {
		case idx == maxVectorIdx:
			err = b.append(unused)
		case idx < b.numValues:
			at := idx * (b.keySize + b.valueSize)
			err = b.append(b.kvs[at : at+b.keySize+b.valueSize])
		default:
			if err = b.append(b.key(idx)); err == nil && len(deleted) > 0 {
				err = b.append(deleted)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// setProperties fills in what is known when the buckets are written.
func (b *CuckooTableBuilder) setProperties(dataSize uint64, unused []byte) {
	p := &b.props
	p.NumEntries, p.NumDeletions, p.FixedKeyLen = b.numEntries, b.numEntries-b.numValues, b.keySize
	p.RawKeySize, p.RawValueSize, p.DataSize = b.numEntries*b.keySize, b.numEntries*b.valueSize, dataSize
	fixed32 := func(v uint32) string { return string(util.AppendFixed32(nil, v)) }
	fixed64 := func(v uint64) string { return string(util.AppendFixed64(nil, v)) }
	flag := func(v bool) string {
		if v {
			return "\x01"
		}
		return "\x00"
	}
	u := p.UserCollectedProperties
	u[rocksdb.CuckooTablePropertyValueLength] = fixed64(b.valueSize)
	u[rocksdb.CuckooTablePropertyEmptyKey] = string(unused[:b.keySize])
	u[rocksdb.CuckooTablePropertyNumHashFunc] = fixed32(b.numHash)
	u[rocksdb.CuckooTablePropertyHashTableSize] = fixed64(b.hasher.tableSize)
	u[rocksdb.CuckooTablePropertyIsLastLevel] = flag(b.isLastLevel)
	u[rocksdb.CuckooTablePropertyCuckooBlockSize] = fixed32(b.blockSize)
	u[rocksdb.CuckooTablePropertyIdentityAsFirstHash] = flag(b.p.IdentityAsFirstHash)
	u[rocksdb.CuckooTablePropertyUseModuleHash] = flag(b.p.UseModuleHash)
	u[rocksdb.CuckooTablePropertyUserKeyLength] = fixed32(uint32(len(b.smallest)))
}

// Finish is table.TableBuilder's.
func (b *CuckooTableBuilder) Finish() error {
	b.closed = true
	if b.status != nil {
		return b.status
	}
	buckets, unused, err := b.makeBuckets()
	if err != nil {
		return b.fail(err)
	}
	if err := b.writeBuckets(buckets, unused); err != nil {
		return err
	}
	offset := uint64(len(buckets)) * (b.keySize + b.valueSize)
	b.setProperties(offset, unused)

	props := table.NewPropertyBlockBuilder()
	props.AddTableProperty(&b.props)
	props.AddUserCollectedProperties(b.props.UserCollectedProperties)
	meta := table.NewMetaIndexBuilder()
	data := props.Finish()
	if err := b.append(data); err != nil {
		return err
	}
	meta.Add(table.PropertiesBlockName, format.BlockHandle{Offset: offset, Size: uint64(len(data))})
	offset += uint64(len(data))
	if data = meta.Finish(); b.append(data) != nil {
		return b.status
	}
	footer, err := format.BuildFooter(&format.Footer{
		TableMagicNumber: format.CuckooTableMagicNumber, FormatVersion: 1, ChecksumType: rocksdb.NoChecksum,
		MetaindexHandle: format.BlockHandle{Offset: offset, Size: uint64(len(data))},
	}, offset+uint64(len(data)))
	if err != nil {
		return b.fail(err)
	}
	return b.append(footer)
}

// Abandon is table.TableBuilder's.
func (b *CuckooTableBuilder) Abandon() { b.closed = true }

// Status is table.TableBuilder's.
func (b *CuckooTableBuilder) Status() error { return b.status }

// IOStatus is table.TableBuilder's.
func (b *CuckooTableBuilder) IOStatus() error { return b.ioErr }

// NumEntries is table.TableBuilder's.
func (b *CuckooTableBuilder) NumEntries() uint64 { return b.numEntries }

// IsEmpty is table.TableBuilder's.
func (b *CuckooTableBuilder) IsEmpty() bool { return b.numEntries == 0 }

// FileSize is, until Finish, about that of the buckets with one more entry: the
// table doubles where its size is a power of two, and a compaction ends a file
// only once it is too large.
func (b *CuckooTableBuilder) FileSize() uint64 {
	size := b.keySize + b.valueSize
	switch {
	case b.closed:
		return b.file.GetFileSize()
	case b.numEntries == 0:
		return 0
	case b.p.UseModuleHash:
		return uint64(float64(size*b.numEntries) / b.p.MaxHashTableRatio)
	}
	buckets := b.hasher.tableSize
	if float64(buckets) < float64(b.numEntries+1)/b.p.MaxHashTableRatio {
		buckets *= 2
	}
	return size*buckets - 1
}

// EstimatedFileSize is FileSize.
func (b *CuckooTableBuilder) EstimatedFileSize() uint64 { return b.FileSize() }

// GetTableProperties is table.TableBuilder's.
func (b *CuckooTableBuilder) GetTableProperties() rocksdb.TableProperties { return b.props }

// GetFileChecksum is table.TableBuilder's.
func (b *CuckooTableBuilder) GetFileChecksum() string { return b.file.GetFileChecksum() }

// GetFileChecksumFuncName is table.TableBuilder's.
func (b *CuckooTableBuilder) GetFileChecksumFuncName() string {
	return b.file.GetFileChecksumFuncName()
}
