// Port of table/unique_id.cc, table/unique_id_impl.h and
// include/rocksdb/unique_id.h. Differs: the functions work on the three-word
// form, of which the two-word form is the start.

package uniqueid

import (
	"encoding/binary"
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

// UniqueId64x2 is an internal unique id of standard size; zero is none.
type UniqueId64x2 [2]uint64

// UniqueId64x3 is an internal unique id of extended size; zero is none.
type UniqueId64x3 [3]uint64

// NullUniqueId64x2 is no id.
var NullUniqueId64x2 UniqueId64x2

// Standard gives the id's first 128 bits.
func (id UniqueId64x3) Standard() UniqueId64x2 { return UniqueId64x2{id[0], id[1]} }

const (
	base36Digits     = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	sessionIDLength  = 20
	sessionLowDigits = 12
)

// EncodeSessionId makes a session id of 20 base-36 digits. All of lower is
// kept: its lowest 62 bits are the last 12 digits and its top two bits the
// bottom of the first 8, above which is as much of upper as fits.
func EncodeSessionId(upper, lower uint64) string {
	var buf [sessionIDLength]byte
	putBase36(buf[:sessionIDLength-sessionLowDigits], upper<<2|lower>>62)
	putBase36(buf[sessionIDLength-sessionLowDigits:], lower&(1<<62-1))
	return string(buf[:])
}

func putBase36(dst []byte, v uint64) {
	for i := len(dst) - 1; i >= 0; i-- {
		dst[i] = base36Digits[v%36]
		v /= 36
	}
}

func parseBase36(s string) (v uint64, ok bool) {
	for i := 0; i < len(s); i++ {
		c := s[i]
		var d byte
		switch {
		case c >= '0' && c <= '9':
			d = c - '0'
		case c >= 'A' && c <= 'Z':
			d = c - 'A' + 10
		case c >= 'a' && c <= 'z':
			d = c - 'a' + 10
		default:
			return 0, false
		}
		v = v*36 + uint64(d)
	}
	return v, true
}

// DecodeSessionId is the inverse of EncodeSessionId. It gives NotSupported for
// ids of another form, which are allowed with less functionality.
func DecodeSessionId(id string) (upper, lower uint64, err error) {
	switch {
	case id == "":
		return 0, 0, rocksdb.NotSupported("Missing db_session_id")
	case len(id) < 13:
		return 0, 0, rocksdb.NotSupported("Too short db_session_id")
	case len(id) > 24:
		return 0, 0, rocksdb.NotSupported("Too long db_session_id")
	}
	cut := len(id) - sessionLowDigits
	a, okA := parseBase36(id[:cut])
	b, okB := parseBase36(id[cut:])
	if !okA || !okB {
		return 0, 0, rocksdb.NotSupported("Bad digit in db_session_id")
	}
	return a >> 2, b&(1<<62-1) | a<<62, nil
}

// GetSstInternalUniqueId derives a file's internal id from what its table
// properties say about its origin: word 0 is the session id's lower half as it
// is, word 1 a hash of database id and session id's upper half, xored with the
// file number, word 2 more of that hash. It gives NotSupported when something
// is missing; with force it never fails.
func GetSstInternalUniqueId(dbID, dbSessionID string, fileNumber uint64, force bool) (UniqueId64x3, error) {
	if !force {
		switch {
		case dbID == "":
			return UniqueId64x3{}, rocksdb.NotSupported("Missing db_id")
		case fileNumber == 0:
			return UniqueId64x3{}, rocksdb.NotSupported("Missing or bad file number")
		case dbSessionID == "":
			return UniqueId64x3{}, rocksdb.NotSupported("Missing db_session_id")
		}
	}
	upper, lower, err := DecodeSessionId(dbSessionID)
	if err != nil {
		if !force {
			return UniqueId64x3{}, err
		}
		upper, lower = util.Hash2x64([]byte(dbSessionID), 0)
		if lower == 0 {
			lower = upper | 1
		}
	}
	a, b := util.Hash2x64([]byte(dbID), upper)
	return UniqueId64x3{lower, a ^ fileNumber, b}, nil
}

// The offsets make the all-zero id map to itself.
const (
	hiOffsetForZero = 17391078804906429400
	loOffsetForZero = 6417269962128484497
)

// InternalUniqueIdToExternal hashes an id, one to one, so that every part of it
// has full entropy.
func InternalUniqueIdToExternal(id UniqueId64x3) UniqueId64x3 {
	hi, lo := util.BijectiveHash2x64(id[1]+hiOffsetForZero, id[0]+loOffsetForZero, 0)
	return UniqueId64x3{lo, hi, id[2] + lo + hi}
}

// ExternalUniqueIdToInternal is the inverse of InternalUniqueIdToExternal.
func ExternalUniqueIdToInternal(id UniqueId64x3) UniqueId64x3 {
	lo, hi, x := id[0], id[1], id[2]
	x -= lo + hi
	hi, lo = util.BijectiveUnhash2x64(hi, lo, 0)
	return UniqueId64x3{lo - loOffsetForZero, hi - hiOffsetForZero, x}
}

// EncodeUniqueIdBytes gives the id's words, little endian: 16 bytes, or 24 when
// extended.
func EncodeUniqueIdBytes(id UniqueId64x3, extended bool) string {
	var buf [24]byte
	b := binary.LittleEndian.AppendUint64(buf[:0], id[0])
	b = binary.LittleEndian.AppendUint64(b, id[1])
	if extended {
		b = binary.LittleEndian.AppendUint64(b, id[2])
	}
	return string(b)
}

// DecodeUniqueIdBytes is the inverse of EncodeUniqueIdBytes; NotSupported for
// another length.
func DecodeUniqueIdBytes(s string, extended bool) (id UniqueId64x3, err error) {
	want := 16
	if extended {
		want = 24
	}
	if len(s) != want {
		return id, rocksdb.NotSupported("Not a valid unique_id")
	}
	for i := 0; i*8 < len(s); i++ {
		id[i] = binary.LittleEndian.Uint64([]byte(s[i*8:]))
	}
	return id, nil
}

// GetUniqueIdFromTableProperties gives a table file's 128-bit external id as 16
// bytes; NotSupported for files of versions that kept too little.
func GetUniqueIdFromTableProperties(p *rocksdb.TableProperties) (string, error) {
	return fromProperties(p, false)
}

// GetExtendedUniqueIdFromTableProperties gives the 192-bit external id as 24
// bytes.
func GetExtendedUniqueIdFromTableProperties(p *rocksdb.TableProperties) (string, error) {
	return fromProperties(p, true)
}

func fromProperties(p *rocksdb.TableProperties, extended bool) (string, error) {
	id, err := GetSstInternalUniqueId(p.DBID, p.DBSessionID, p.OrigFileNumber, false)
	if err != nil {
		return "", err
	}
	return EncodeUniqueIdBytes(InternalUniqueIdToExternal(id), extended), nil
}

// UniqueIdToHumanString formats an external id: upper-case hex in groups of 16
// digits.
func UniqueIdToHumanString(id string) string {
	h := strings.ToUpper(hex.EncodeToString([]byte(id)))
	var b strings.Builder
	for i := 0; i < len(h); i += 16 {
		if i > 0 {
			b.WriteByte('-')
		}
		b.WriteString(h[i:min(i+16, len(h))])
	}
	return b.String()
}

// InternalUniqueIdToHumanString formats an internal id, visibly otherwise than
// an external one.
func InternalUniqueIdToHumanString[T UniqueId64x2 | UniqueId64x3](id T) string {
	s := []byte{'{'}
	for i := 0; i < len(id); i++ {
		if i > 0 {
			s = append(s, ',')
		}
		s = strconv.AppendUint(s, id[i], 10)
	}
	return string(append(s, '}'))
}
