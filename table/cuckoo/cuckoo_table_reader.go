// Port of table/cuckoo/cuckoo_table_reader.{h,cc}; the iterator is in
// cuckoo_table_iterator.go. Differs: properties are checked against the file.

package cuckoo

import (
	"bytes"
	"strconv"
	"sync"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/file"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/options"
	"github.com/rocksdb-go/rocksdb/table"
	"github.com/rocksdb-go/rocksdb/table/format"
	"github.com/rocksdb-go/rocksdb/table/internaliter"
	"github.com/rocksdb-go/rocksdb/util"
)

// ReaderParams are a CuckooTableReader's.
type ReaderParams struct {
	IOptions       *options.ImmutableOptions
	UserComparator rocksdb.Comparator
	// GetSliceHash replaces the hash in tests; nil is the usual one.
	GetSliceHash func(key []byte, index uint32, maxBuckets uint64) uint64
}

// CuckooTableReader reads a cuckoo table.
type CuckooTableReader struct {
	table.TableReaderBase
	file     *file.RandomAccessFileReader
	data     []byte // the mapped buckets
	props    *rocksdb.TableProperties
	ucmp     rocksdb.Comparator
	bytewise bool
	hasher   hasher

	isLastLevel   bool
	numHash       uint32
	unusedKey     []byte
	keyLength     int
	userKeyLength int
	valueLength   int
	bucketLength  int
	blockSize     uint32

	sorted struct {
		sync.Once
		ids []uint32 // buckets with entries, in the order of keys
		err error
	}
}

var _ table.TableReader = (*CuckooTableReader)(nil)

// Open opens a table in a mapped file. It takes f over, also on an error.
func Open(p *ReaderParams, f *file.RandomAccessFileReader, fileSize uint64) (*CuckooTableReader, error) {
	r := &CuckooTableReader{file: f, ucmp: p.UserComparator, bytewise: util.IsBytewise(p.UserComparator),
		hasher: hasher{override: p.GetSliceHash}}
	if err := r.open(p, fileSize); err != nil {
		_ = f.Close() // the first error counts
		return nil, err
	}
	return r, nil
}

func (r *CuckooTableReader) open(p *ReaderParams, fileSize uint64) error {
	if !p.IOptions.AllowMmapReads {
		return rocksdb.InvalidArgument("File is not mmaped")
	}
	ro := rocksdb.DefaultReadOptions()
	props, err := table.ReadTableProperties(r.file, fileSize, format.CuckooTableMagicNumber, p.IOptions, &ro, nil)
	if err != nil {
		return err
	}
	r.props = props
	if err := r.readProperties(fileSize); err != nil {
		return err
	}
	data, err := r.file.Read(nil, 0, int(fileSize), nil, nil)
	if err != nil {
		return err
	}
	if len(data) < int(fileSize) {
		return r.corruption("file is shorter than it was")
	}
	r.data = data[:props.DataSize]
	return nil
}

func (r *CuckooTableReader) corruption(text string) error {
	return rocksdb.Corruption(text).InAt(r.file.FileName(), 0)
}

// numberProperties reads the file's own properties; the first that is missing or
// short is an error.
type numberProperties struct {
	props rocksdb.UserCollectedProperties
	bad   string
}

func (n *numberProperties) get(name, text string, size int) uint64 {
	v, ok := n.props[name]
	if !ok || len(v) < size {
		if n.bad == "" {
			n.bad = text
		}
		return 0
	}
	var b [8]byte
	copy(b[:], v[:size])
	return util.DecodeFixed64(b[:])
}

func (r *CuckooTableReader) readProperties(fileSize uint64) error {
	p := r.props
	n := numberProperties{props: p.UserCollectedProperties}
	numHash := n.get(rocksdb.CuckooTablePropertyNumHashFunc, "Number of hash functions not found", 4)
	n.get(rocksdb.CuckooTablePropertyEmptyKey, "Empty bucket value not found", 0)
	userKeyLength := n.get(rocksdb.CuckooTablePropertyUserKeyLength, "User key length not found", 4)
	valueLength := n.get(rocksdb.CuckooTablePropertyValueLength, "Value length not found", 4)
	tableSize := n.get(rocksdb.CuckooTablePropertyHashTableSize, "Hash table size not found", 8)
	r.isLastLevel = n.get(rocksdb.CuckooTablePropertyIsLastLevel, "Is last level not found", 1) != 0
	r.hasher.identityFirst = n.get(rocksdb.CuckooTablePropertyIdentityAsFirstHash, "identity as first hash not found", 1) != 0
	r.hasher.useModule = n.get(rocksdb.CuckooTablePropertyUseModuleHash, "hash type is not found", 1) != 0
	blockSize := n.get(rocksdb.CuckooTablePropertyCuckooBlockSize, "Cuckoo block size not found", 4)
	if n.bad != "" {
		return r.corruption(n.bad)
	}
	r.unusedKey = []byte(p.UserCollectedProperties[rocksdb.CuckooTablePropertyEmptyKey])
	if p.NumEntries == 0 {
		p.DataSize = min(p.DataSize, fileSize)
		return nil
	}
	keyLength := userKeyLength
	if !r.isLastLevel {
		keyLength += dbformat.NumInternalBytes
	}
	bucketLength := keyLength + valueLength // each below 2^33
	numBuckets := tableSize + blockSize - 1
	switch {
	case numHash == 0 || numHash > maxNumHashFunc || blockSize == 0 || tableSize == 0:
		return r.corruption("a cuckoo table with " + strconv.FormatUint(numHash, 10) + " hash functions, " +
			strconv.FormatUint(tableSize, 10) + " buckets, " + strconv.FormatUint(blockSize, 10) + " of them in a block")
	case !r.hasher.useModule && tableSize&(tableSize-1) != 0:
		return r.corruption("hash table size is no power of two")
	case keyLength != p.FixedKeyLen || keyLength != uint64(len(r.unusedKey)) || userKeyLength == 0:
		return r.corruption("lengths of keys do not agree")
	case p.DataSize > fileSize || tableSize > fileSize || numBuckets > p.DataSize/bucketLength || p.NumEntries > numBuckets:
		return r.corruption("cuckoo table of " + strconv.FormatUint(fileSize, 10) + " bytes cannot have " +
			strconv.FormatUint(numBuckets, 10) + " buckets of " + strconv.FormatUint(bucketLength, 10) + " with " +
			strconv.FormatUint(p.NumEntries, 10) + " entries")
	}
	r.numHash, r.blockSize, r.hasher.tableSize = uint32(numHash), uint32(blockSize), tableSize
	r.keyLength, r.userKeyLength, r.valueLength, r.bucketLength = int(keyLength), int(userKeyLength), int(valueLength), int(bucketLength)
	return nil
}

func (r *CuckooTableReader) equal(a, b []byte) bool {
	if r.bytewise {
		return bytes.Equal(a, b)
	}
	return r.ucmp.Equal(a, b)
}

// numBuckets is 0 in an empty table.
func (r *CuckooTableReader) numBuckets() uint64 {
	if r.bucketLength == 0 {
		return 0
	}
	return r.hasher.tableSize + uint64(r.blockSize) - 1
}

// Get is table.TableReader's.
func (r *CuckooTableReader) Get(_ *rocksdb.ReadOptions, key []byte, gc *table.GetContext, _ rocksdb.SliceTransform, _ bool) error {
	userKey := internaliter.ExtractUserKey(key)
	if r.bucketLength == 0 || len(userKey) != r.userKeyLength {
		return nil
	}
	for i := range r.numHash {
		at := r.bucketLength * int(r.hasher.hash(userKey, i))
		for range r.blockSize {
			bucket := r.data[at : at+r.bucketLength : at+r.bucketLength]
			found := bucket[:len(userKey)]
			if r.equal(r.unusedKey[:len(userKey)], found) {
				return nil
			}
			if r.equal(userKey, found) {
				return r.save(bucket, gc)
			}
			at += r.bucketLength
		}
	}
	return nil
}

// save hands a bucket's entry over. It is the only one of its user key.
func (r *CuckooTableReader) save(bucket []byte, gc *table.GetContext) error {
	value := bucket[r.keyLength:]
	if r.isLastLevel {
		// The sequence number is not known. It does not matter, unless to a
		// transaction.
		gc.SaveValueSimple(value, nil)
		return nil
	}
	k, err := dbformat.ParseInternalKey(bucket[:r.keyLength], false)
	if err != nil {
		return rocksdb.AsStatus(err).In(r.file.FileName())
	}
	_, _, err = gc.SaveValue(&k, value, nil)
	return err
}

// MultiGet is Get of each key.
func (r *CuckooTableReader) MultiGet(ro *rocksdb.ReadOptions, keys *table.MultiGetRange, e rocksdb.SliceTransform, skipFilters bool) {
	table.MultiGetByGet(r, ro, keys, e, skipFilters)
}

// NewIterator is table.TableReader's. The first seek of the first iterator sorts
// the table's keys.
func (r *CuckooTableReader) NewIterator(*rocksdb.ReadOptions, rocksdb.SliceTransform, bool, rocksdb.TableReaderCaller, uint64, bool) internaliter.InternalIterator {
	return &cuckooTableIterator{r: r}
}

// ApproximateOffsetOf is 0.
func (*CuckooTableReader) ApproximateOffsetOf(*rocksdb.ReadOptions, []byte, rocksdb.TableReaderCaller) uint64 {
	return 0
}

// ApproximateSize is 0.
func (*CuckooTableReader) ApproximateSize(*rocksdb.ReadOptions, []byte, []byte, rocksdb.TableReaderCaller) uint64 {
	return 0
}

// SetupForCompaction does nothing.
func (*CuckooTableReader) SetupForCompaction() {}

// GetTableProperties is table.TableReader's.
func (r *CuckooTableReader) GetTableProperties() *rocksdb.TableProperties { return r.props }

// ApproximateMemoryUsage is 0: the file is mapped.
func (*CuckooTableReader) ApproximateMemoryUsage() int { return 0 }

// Close closes the file.
func (r *CuckooTableReader) Close() error {
	r.data = nil
	return r.file.Close()
}
