// Port of table/two_level_iterator.{h,cc}.

package table

import (
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/table/format"
	"github.com/rocksdb-go/rocksdb/table/internaliter"
)

// TwoLevelIteratorState opens the second level's blocks.
type TwoLevelIteratorState interface {
	// NewSecondaryIterator gives the iterator over a partition, nil when the
	// partition is not to be had.
	NewSecondaryIterator(h format.BlockHandle) internaliter.InternalIndexIterator
}

// twoLevelIndexIterator walks a partitioned index. second is over the partition
// at handle, nil where first stands on none.
type twoLevelIndexIterator struct {
	internaliter.Base
	state  TwoLevelIteratorState
	first  internaliter.InternalIndexIterator
	second internaliter.InternalIndexIterator
	handle format.BlockHandle
	err    error
}

// NewTwoLevelIterator walks the entries of the partitions that first, which it
// takes over, has the handles of.
func NewTwoLevelIterator(state TwoLevelIteratorState, first internaliter.InternalIndexIterator) internaliter.InternalIndexIterator {
	return &twoLevelIndexIterator{state: state, first: first}
}

func (t *twoLevelIndexIterator) Valid() bool              { return t.second != nil && t.second.Valid() }
func (t *twoLevelIndexIterator) Key() []byte              { return t.second.Key() }
func (t *twoLevelIndexIterator) UserKey() []byte          { return t.second.UserKey() }
func (t *twoLevelIndexIterator) Value() format.IndexValue { return t.second.Value() }

func (t *twoLevelIndexIterator) Status() error {
	if err := t.first.Status(); err != nil {
		return err
	}
	if t.second != nil {
		if err := t.second.Status(); err != nil {
			return err
		}
	}
	return t.err
}

func (t *twoLevelIndexIterator) Seek(target []byte) {
	t.first.Seek(target)
	if t.initDataBlock() {
		t.second.Seek(target)
	}
	t.skipEmptyForward()
}

func (t *twoLevelIndexIterator) SeekForPrev(target []byte) {
	t.first.Seek(target)
	if t.initDataBlock() {
		t.second.SeekForPrev(target)
	}
	if t.Valid() {
		return
	}
	if !t.first.Valid() && t.first.Status() == nil {
		t.first.SeekToLast()
		if t.initDataBlock() {
			t.second.SeekForPrev(target)
		}
	}
	t.skipEmptyBackward()
}

func (t *twoLevelIndexIterator) SeekToFirst() {
	t.first.SeekToFirst()
	if t.initDataBlock() {
		t.second.SeekToFirst()
	}
	t.skipEmptyForward()
}

func (t *twoLevelIndexIterator) SeekToLast() {
	t.first.SeekToLast()
	if t.initDataBlock() {
		t.second.SeekToLast()
	}
	t.skipEmptyBackward()
}

func (t *twoLevelIndexIterator) Next() {
	t.second.Next()
	t.skipEmptyForward()
}

func (t *twoLevelIndexIterator) Prev() {
	t.second.Prev()
	t.skipEmptyBackward()
}

func (t *twoLevelIndexIterator) NextAndGetResult(res *internaliter.IterateResult) bool {
	t.Next()
	if !t.Valid() {
		return false
	}
	*res = internaliter.IterateResult{Key: t.Key()}
	return true
}

// atEnd tells whether the partition has no entry in the direction of travel and
// no error either.
func (t *twoLevelIndexIterator) atEnd() bool {
	return t.second == nil || !t.second.Valid() && t.second.Status() == nil
}

func (t *twoLevelIndexIterator) skipEmptyForward() {
	for t.atEnd() {
		if !t.first.Valid() {
			t.setSecond(nil)
			return
		}
		t.first.Next()
		if t.initDataBlock() {
			t.second.SeekToFirst()
		}
	}
}

func (t *twoLevelIndexIterator) skipEmptyBackward() {
	for t.atEnd() {
		if !t.first.Valid() {
			t.setSecond(nil)
			return
		}
		t.first.Prev()
		if t.initDataBlock() {
			t.second.SeekToLast()
		}
	}
}

func (t *twoLevelIndexIterator) setSecond(it internaliter.InternalIndexIterator) {
	if t.second != nil {
		if err := t.second.Close(); err != nil && t.err == nil {
			t.err = err
		}
	}
	t.second = it
}

// initDataBlock opens the partition that first stands on, unless it is open. It
// tells whether there is one.
func (t *twoLevelIndexIterator) initDataBlock() bool {
	if !t.first.Valid() {
		t.setSecond(nil)
		return false
	}
	h := t.first.Value().Handle
	if t.second != nil && h.Offset == t.handle.Offset && !rocksdb.IsIncomplete(t.second.Status()) {
		return true
	}
	it := t.state.NewSecondaryIterator(h)
	t.handle = h
	t.setSecond(it)
	if it == nil {
		t.err = rocksdb.Corruption("Missing block for partition " + h.ToString())
		return false
	}
	return true
}

func (t *twoLevelIndexIterator) Close() error {
	err := t.Status()
	t.setSecond(nil)
	if cerr := t.first.Close(); err == nil {
		err = cerr
	}
	return err
}
