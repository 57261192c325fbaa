// Port of table/plain/plain_table_reader.cc: PlainTableIterator. Differs:
// backward moves fail with NotSupported in place of an assertion.

package plain

import (
	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/table/internaliter"
	"github.com/rocksdb-go/rocksdb/util"
)

// plainTableIterator goes forward over rows.
type plainTableIterator struct {
	internaliter.Base
	r             *PlainTableReader
	d             *PlainTableKeyDecoder
	perf          *rocksdb.PerfContext
	usePrefixSeek bool
	offset, next  int // of the row it is at, and the one after
	key, value    []byte
	status        error
}

var _ internaliter.InternalIterator = (*plainTableIterator)(nil)

func (it *plainTableIterator) toEnd() {
	it.offset, it.next = it.r.info.dataEndOffset, it.r.info.dataEndOffset
}

func (it *plainTableIterator) fail(err error) {
	it.status = err
	it.toEnd()
}

func (it *plainTableIterator) Valid() bool { return it.offset < it.r.info.dataEndOffset }

func (it *plainTableIterator) SeekToFirst() {
	it.status = nil
	it.next = 0
	it.Next()
}

func (it *plainTableIterator) SeekToLast() {
	it.fail(rocksdb.NotSupported("SeekToLast() is not supported in PlainTable"))
}

func (it *plainTableIterator) SeekForPrev([]byte) {
	it.fail(rocksdb.NotSupported("SeekForPrev() is not supported in PlainTable"))
}

func (it *plainTableIterator) Prev() {
	it.fail(rocksdb.NotSupported("Prev() is not supported in PlainTable"))
}

// checkSeek tells why there can be no seek. It is asked at the seek and not when
// the iterator is made: compactions iterate in total order without one.
func (it *plainTableIterator) checkSeek() error {
	r := it.r
	total := r.isTotalOrderMode()
	switch {
	case it.usePrefixSeek == total:
		return rocksdb.InvalidArgument("total_order_seek not implemented for PlainTable.")
	case r.fullScanMode:
		return rocksdb.InvalidArgument("Seek() is not allowed in full scan mode.")
	case total && r.GetIndexSize() > 1:
		return rocksdb.NotSupported("PlainTable cannot issue non-prefix seek unless in total order mode.")
	}
	return nil
}

func (it *plainTableIterator) Seek(key []byte) {
	it.status = nil
	if err := it.checkSeek(); err != nil {
		it.fail(err)
		return
	}
	target, err := dbformat.ParseInternalKey(key, false)
	if err != nil {
		it.fail(err)
		return
	}
	r := it.r
	var prefix []byte
	var prefixHash uint32
	if !r.isTotalOrderMode() { // which does without the filter
		prefix = r.getPrefix(target.UserKey)
		prefixHash = util.GetSliceHash(prefix)
		if !r.matchBloom(prefixHash, it.perf) {
			it.toEnd()
			return
		}
	}
	offset, matched, err := r.getOffset(it.d, &target, prefix, prefixHash)
	if err != nil {
		it.fail(err)
		return
	}
	it.next = offset
	for it.Next(); it.Valid(); it.Next() {
		if !matched {
			if string(r.getPrefix(it.d.parsed.UserKey)) != string(prefix) {
				it.toEnd()
				return
			}
			matched = true
		}
		if r.icmp.CompareParsed(&it.d.parsed, &target) >= 0 {
			return
		}
	}
}

func (it *plainTableIterator) Next() {
	if it.next >= it.r.info.dataEndOffset {
		it.toEnd()
		return
	}
	it.offset = it.next
	k, value, err := it.d.nextKey(it.offset, true)
	if err != nil {
		it.fail(err)
		return
	}
	it.key, it.value, it.next = k.internalKey, value, k.next
}

func (it *plainTableIterator) NextAndGetResult(res *internaliter.IterateResult) bool {
	return internaliter.NextAndGetResult(it, res)
}

func (it *plainTableIterator) Key() []byte     { return it.key }
func (it *plainTableIterator) UserKey() []byte { return dbformat.ExtractUserKey(it.key) }
func (it *plainTableIterator) Value() []byte   { return it.value }
func (it *plainTableIterator) Status() error   { return it.status }
func (it *plainTableIterator) Close() error    { return it.status }
