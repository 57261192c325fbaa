// Port of db/wide/wide_columns_helper.{h,cc}.

package wide

import (
	"bytes"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// HasDefaultColumn tells whether sorted columns begin with the default one.
func HasDefaultColumn(columns rocksdb.WideColumns) bool {
	return len(columns) > 0 && len(columns[0].Name) == 0
}

// GetDefaultColumn gives the default column's value, nil when it is not there.
func GetDefaultColumn(columns rocksdb.WideColumns) []byte {
	if HasDefaultColumn(columns) {
		return columns[0].Value
	}
	return nil
}

// SortColumns puts columns in order of their names.
func SortColumns(columns rocksdb.WideColumns) {
	slices.SortStableFunc(columns, func(a, b rocksdb.WideColumn) int { return bytes.Compare(a.Name, b.Name) })
}

// Find gives the index of a name in sorted columns, or -1.
func Find(columns rocksdb.WideColumns, name []byte) int {
	i, ok := slices.BinarySearchFunc(columns, name, func(c rocksdb.WideColumn, n []byte) int { return bytes.Compare(c.Name, n) })
	if !ok {
		return -1
	}
	return i
}

// DumpWideColumns is "name:value name:value" with, where hexadecimal is asked
// for, each part that is not empty as 0x and upper-case digits.
func DumpWideColumns(columns rocksdb.WideColumns, inHex bool) string {
	var s strings.Builder
	part := func(b []byte) {
		if inHex && len(b) > 0 {
			s.WriteString("0x" + strings.ToUpper(hex.EncodeToString(b)))
		} else {
			s.Write(b)
		}
	}
	for i, c := range columns {
		if i > 0 {
			s.WriteByte(' ')
		}
		part(c.Name)
		s.WriteByte(':')
		part(c.Value)
	}
	return s.String()
}

// DumpEntity is DumpWideColumns of a serialised entity without blobs.
func DumpEntity(entity []byte, inHex bool) (string, error) {
	columns, err := DeserializeSimple(nil, entity)
	if err != nil {
		return "", err
	}
	return DumpWideColumns(columns, inHex), nil
}
