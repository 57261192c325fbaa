// Port of table/iterator.cc (the empty and error internal iterators).

package internaliter

type emptyIterator struct {
	Base
	err error
}

// NewEmptyInternalIterator has no entries.
func NewEmptyInternalIterator() InternalIterator { return &emptyIterator{} }

// NewErrorInternalIterator has no entries and err as its status.
func NewErrorInternalIterator(err error) InternalIterator { return &emptyIterator{err: err} }

func (*emptyIterator) Valid() bool                          { return false }
func (*emptyIterator) SeekToFirst()                         {}
func (*emptyIterator) SeekToLast()                          {}
func (*emptyIterator) Seek([]byte)                          {}
func (*emptyIterator) SeekForPrev([]byte)                   {}
func (*emptyIterator) Next()                                {}
func (*emptyIterator) NextAndGetResult(*IterateResult) bool { return false }
func (*emptyIterator) Prev()                                {}
func (*emptyIterator) Key() []byte                          { return nil }
func (*emptyIterator) UserKey() []byte                      { return nil }
func (*emptyIterator) Value() []byte                        { return nil }
func (e *emptyIterator) Status() error                      { return e.err }
func (e *emptyIterator) PrepareValue() bool                 { return false }
