// Port of table/cuckoo/cuckoo_table_reader.cc: CuckooTableIterator. Differs: the
// order of the buckets is found once for all iterators of a table; SeekForPrev
// works; a table with another number of entries than it says is a corruption.

package cuckoo

import (
	"bytes"
	"slices"
	"sort"
	"strconv"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/table/internaliter"
)

// sortedBuckets gives the buckets with entries in the order of their keys.
func (r *CuckooTableReader) sortedBuckets() ([]uint32, error) {
	r.sorted.Do(r.sortBuckets)
	return r.sorted.ids, r.sorted.err
}

func (r *CuckooTableReader) sortBuckets() {
	entries := 0
	for at := 0; at < int(r.numBuckets())*r.bucketLength; at += r.bucketLength {
		if !bytes.Equal(r.data[at:at+r.keyLength], r.unusedKey) {
			entries++
		}
	}
	if uint64(entries) != r.props.NumEntries {
		r.sorted.err = r.corruption("cuckoo table has " + strconv.Itoa(entries) + " entries and says that it has " +
			strconv.FormatUint(r.props.NumEntries, 10))
		return
	}
	ids := make([]uint32, 0, entries)
	for id := range int(r.numBuckets()) {
		if at := id * r.bucketLength; !bytes.Equal(r.data[at:at+r.keyLength], r.unusedKey) {
			ids = append(ids, uint32(id))
		}
	}
	slices.SortFunc(ids, func(a, b uint32) int { return r.compare(r.userKey(a), r.userKey(b)) })
	r.sorted.ids = ids
}

func (r *CuckooTableReader) compare(a, b []byte) int {
	if r.bytewise {
		return bytes.Compare(a, b)
	}
	return r.ucmp.Compare(a, b)
}

func (r *CuckooTableReader) userKey(id uint32) []byte {
	at := int(id) * r.bucketLength
	return r.data[at : at+r.userKeyLength]
}

// cuckooTableIterator goes over a table in the order of its keys.
type cuckooTableIterator struct {
	internaliter.Base
	r       *CuckooTableReader
	ids     []uint32 // nil before the first seek
	pos     int      // in ids; len(ids) is not valid
	key     []byte
	keyBuf  []byte
	value   []byte
	sortErr error
}

var _ internaliter.InternalIterator = (*cuckooTableIterator)(nil)

func (it *cuckooTableIterator) init() {
	if it.ids == nil && it.sortErr == nil {
		it.ids, it.sortErr = it.r.sortedBuckets()
	}
}

func (it *cuckooTableIterator) to(pos int) {
	if it.pos = pos; pos >= len(it.ids) {
		it.key, it.value = nil, nil
		return
	}
	r := it.r
	at := int(it.ids[pos]) * r.bucketLength
	it.key, it.value = r.data[at:at+r.keyLength], r.data[at+r.keyLength:at+r.bucketLength]
	if r.isLastLevel {
		it.keyBuf = dbformat.AppendInternalKey(it.keyBuf[:0], it.key, 0, dbformat.TypeValue)
		it.key = it.keyBuf
	}
}

func (it *cuckooTableIterator) Valid() bool { return it.pos < len(it.ids) }

func (it *cuckooTableIterator) SeekToFirst() {
	it.init()
	it.to(0)
}

func (it *cuckooTableIterator) SeekToLast() {
	it.init()
	it.to(max(len(it.ids)-1, 0))
}

func (it *cuckooTableIterator) Seek(target []byte) {
	it.init()
	userKey := internaliter.ExtractUserKey(target)
	it.to(sort.Search(len(it.ids), func(i int) bool { return it.r.compare(it.r.userKey(it.ids[i]), userKey) >= 0 }))
}

func (it *cuckooTableIterator) SeekForPrev(target []byte) {
	it.Seek(target)
	userKey := internaliter.ExtractUserKey(target)
	switch {
	case !it.Valid():
		it.SeekToLast()
	case it.r.compare(it.UserKey(), userKey) > 0 || dbformat.ExtractInternalKeyFooter(it.key) < dbformat.ExtractInternalKeyFooter(target):
		it.Prev()
	}
}

func (it *cuckooTableIterator) Next() {
	if it.Valid() {
		it.to(it.pos + 1)
	}
}

func (it *cuckooTableIterator) NextAndGetResult(res *internaliter.IterateResult) bool {
	return internaliter.NextAndGetResult(it, res)
}

func (it *cuckooTableIterator) Prev() {
	switch {
	case it.pos == 0:
		it.to(len(it.ids))
	case it.Valid():
		it.to(it.pos - 1)
	}
}

func (it *cuckooTableIterator) Key() []byte     { return it.key }
func (it *cuckooTableIterator) UserKey() []byte { return dbformat.ExtractUserKey(it.key) }
func (it *cuckooTableIterator) Value() []byte   { return it.value }
func (it *cuckooTableIterator) Status() error   { return it.sortErr }
func (it *cuckooTableIterator) Close() error    { return it.sortErr }
