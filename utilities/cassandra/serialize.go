// Port of utilities/cassandra/serialize.h. Differs: input that is too short is
// told.

package cassandra

import "encoding/binary"

// Serialize appends v to dst, its high byte first.
func Serialize[T int8 | int32 | int64](dst []byte, v T) []byte {
	dst, _ = binary.Append(dst, binary.BigEndian, v) // only fails for other types
	return dst
}

// Deserialize takes a number off src; it is not ok when src is too short.
func Deserialize[T int8 | int32 | int64](src []byte) (v T, rest []byte, ok bool) {
	n, err := binary.Decode(src, binary.BigEndian, &v)
	if err != nil {
		return 0, nil, false
	}
	return v, src[n:], true
}
