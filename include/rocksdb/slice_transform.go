// Port of include/rocksdb/slice_transform.h.

package rocksdb

// SliceTransform extracts a key's prefix. Its AsString goes to the OPTIONS
// file and to table properties.
type SliceTransform interface {
	Name() string
	// AsString is what CreateFromString makes the same transform of; usually
	// the name with its parameter.
	AsString() string
	// Transform gives the prefix, a part of key. Only for keys in the domain.
	Transform(key []byte) []byte
	// InDomain tells whether key has a prefix.
	InDomain(key []byte) bool
	// FullLengthEnabled gives the fixed length of prefixes, if there is one.
	FullLengthEnabled() (length int, ok bool)
	// SameResultWhenAppended tells whether prefix+anything has this prefix.
	SameResultWhenAppended(prefix []byte) bool
}
