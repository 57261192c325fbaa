// Port of include/rocksdb/comparator.h. Differs: the two shortening methods
// append to a destination instead of changing a string in place.

package rocksdb

// Comparator gives a total order of user keys. Its name is kept in every SST
// and in the MANIFEST; a database opens only with the comparator it was made
// with. Implementations embed ComparatorBase for the optional methods.
//
// None of the methods may keep or change their arguments.
type Comparator interface {
	// Name identifies the order; a new order needs a new name.
	Name() string
	// Compare gives <0, 0, >0.
	Compare(a, b []byte) int
	// Equal is Compare == 0, perhaps faster.
	Equal(a, b []byte) bool
	// FindShortestSeparator appends to dst a short key k with
	// start <= k < limit; start itself is always allowed.
	FindShortestSeparator(dst, start, limit []byte) []byte
	// FindShortSuccessor appends to dst a short key >= key.
	FindShortSuccessor(dst, key []byte) []byte
	// IsSameLengthImmediateSuccessor tells whether t directly follows s among
	// the keys of their length; false when not known.
	IsSameLengthImmediateSuccessor(s, t []byte) bool
	// CanKeysWithDifferentByteContentsBeEqual is false only when Compare == 0
	// implies equal bytes.
	CanKeysWithDifferentByteContentsBeEqual() bool
	// RootComparator is the innermost comparator when this one wraps another.
	RootComparator() Comparator

	// TimestampSize is the number of bytes at each user key's end that hold
	// its timestamp; 0 when keys have none.
	TimestampSize() int
	// CompareTimestamp orders two timestamps.
	CompareTimestamp(ts1, ts2 []byte) int
	// CompareWithoutTimestamp compares keys, each with or without timestamp.
	CompareWithoutTimestamp(a []byte, aHasTS bool, b []byte, bHasTS bool) int
	// MaxTimestamp and MinTimestamp are the greatest and least timestamps.
	MaxTimestamp() []byte
	MinTimestamp() []byte
	// TimestampToString formats a timestamp for people.
	TimestampToString(ts []byte) string
}

// ComparatorBase gives the optional methods of Comparator for an order without
// timestamps. Embed it and write Name and Compare; set Self to the embedding
// value so that Equal and RootComparator reach it.
type ComparatorBase struct{ Self Comparator }

// Equal is Compare == 0.
func (c ComparatorBase) Equal(a, b []byte) bool { return c.Self.Compare(a, b) == 0 }

// FindShortestSeparator appends start.
func (ComparatorBase) FindShortestSeparator(dst, start, limit []byte) []byte {
	return append(dst, start...)
}

// FindShortSuccessor appends key.
func (ComparatorBase) FindShortSuccessor(dst, key []byte) []byte { return append(dst, key...) }

// IsSameLengthImmediateSuccessor is false.
func (ComparatorBase) IsSameLengthImmediateSuccessor(s, t []byte) bool { return false }

// CanKeysWithDifferentByteContentsBeEqual is true.
func (ComparatorBase) CanKeysWithDifferentByteContentsBeEqual() bool { return true }

// RootComparator is the comparator itself.
func (c ComparatorBase) RootComparator() Comparator { return c.Self }

// TimestampSize is 0.
func (ComparatorBase) TimestampSize() int { return 0 }

// CompareTimestamp finds all equal.
func (ComparatorBase) CompareTimestamp(ts1, ts2 []byte) int { return 0 }

// CompareWithoutTimestamp is Compare.
func (c ComparatorBase) CompareWithoutTimestamp(a []byte, _ bool, b []byte, _ bool) int {
	return c.Self.Compare(a, b)
}

// MaxTimestamp is empty.
func (ComparatorBase) MaxTimestamp() []byte { return nil }

// MinTimestamp is empty.
func (ComparatorBase) MinTimestamp() []byte { return nil }

// TimestampToString is empty.
func (ComparatorBase) TimestampToString([]byte) string { return "" }
