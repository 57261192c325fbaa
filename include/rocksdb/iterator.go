// Port of include/rocksdb/{iterator_base,iterator}.h.

package rocksdb

// Iterator walks a database in key order. It is used by one goroutine at a
// time and has to be closed. After any call that moves it, Valid tells whether
// it stands on an entry; when it does not, Status tells why.
type Iterator interface {
	Valid() bool
	SeekToFirst()
	SeekToLast()
	// Seek goes to the first entry at or after target.
	Seek(target []byte)
	// SeekForPrev goes to the last entry at or before target.
	SeekForPrev(target []byte)
	Next()
	Prev()
	// Key and Value are valid until the iterator moves (see
	// ReadOptions.PinData); the caller must not change them.
	Key() []byte
	Value() []byte
	// Timestamp is the entry's timestamp; only with user-defined timestamps.
	Timestamp() []byte
	// PrepareValue loads a value left unread by ReadOptions.AllowUnpreparedValue.
	PrepareValue() bool
	Status() error
	// Refresh makes the iterator see the present state, or that of snapshot
	// where it is not nil; it must be positioned anew.
	Refresh(snapshot Snapshot) error
	// GetProperty answers "rocksdb.iterator.…" properties.
	GetProperty(name string) (string, error)
	Close() error
}

// Snapshot is a state of the database to read at.
type Snapshot interface {
	GetSequenceNumber() SequenceNumber
	GetUnixTime() int64 // seconds
	GetTimestamp() uint64
}

// ColumnFamilyHandle names a column family of an open database.
type ColumnFamilyHandle interface {
	GetName() string
	GetID() uint32
	// GetDescriptor gives the name and present options.
	GetDescriptor() (ColumnFamilyDescriptor, error)
	GetComparator() Comparator
}

// Releaser is something with a counted reference.
type Releaser interface{ Release() }

// PinnableSlice is a value read from the database without a copy. Data is
// valid until Release, which must be called once; the zero value needs none.
type PinnableSlice struct {
	data  []byte
	owner Releaser
}

// NewPinnableSlice holds data and a reference on its owner (nil when data is
// the slice's own).
func NewPinnableSlice(data []byte, owner Releaser) PinnableSlice {
	return PinnableSlice{data: data, owner: owner}
}

// Data gives the bytes; they must not be changed.
func (p *PinnableSlice) Data() []byte { return p.data }

// Size is the number of bytes.
func (p *PinnableSlice) Size() int { return len(p.data) }

// IsPinned tells whether the bytes belong to the engine.
func (p *PinnableSlice) IsPinned() bool { return p.owner != nil }

// PinSlice makes p hold data, which owner keeps alive.
func (p *PinnableSlice) PinSlice(data []byte, owner Releaser) {
	p.Release()
	p.data, p.owner = data, owner
}

// PinSelf copies data into p's own buffer.
func (p *PinnableSlice) PinSelf(data []byte) {
	if p.owner != nil {
		p.Release()
	}
	p.data = append(p.data[:0], data...)
}

// RemoveSuffix cuts the last n bytes off, of which there are as many.
func (p *PinnableSlice) RemoveSuffix(n int) { p.data = p.data[:len(p.data)-n] }

// Release gives the reference back; the bytes are then gone. A buffer of p's
// own is kept for the next use.
func (p *PinnableSlice) Release() {
	if p.owner != nil {
		o := p.owner
		p.data, p.owner = nil, nil
		o.Release()
		return
	}
	p.data = p.data[:0]
}
