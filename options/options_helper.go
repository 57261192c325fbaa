// Port of options/options_helper.{h,cc} and the conversions of
// include/rocksdb/convenience.h. Differs: results are returned; on an error the
// base options are.

package options

import (
	"strings"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

// StringToMap takes "name=value;name={…};…" apart. Values keep their braces.
func StringToMap(opts string) (map[string]string, error) {
	m := map[string]string{}
	opts = util.Trim(opts)
	for len(opts) > 2 && opts[0] == '{' && opts[len(opts)-1] == '}' {
		opts = util.Trim(opts[1 : len(opts)-1])
	}
	for pos := 0; pos < len(opts); pos++ {
		i := strings.IndexAny(opts[pos:], "={};")
		if i < 0 {
			return nil, rocksdb.InvalidArgument("Mismatched key value pair, '=' expected")
		}
		eq := pos + i
		if opts[eq] != '=' {
			return nil, rocksdb.InvalidArgument("Unexpected char in key")
		}
		key := util.Trim(opts[pos:eq])
		if key == "" {
			return nil, rocksdb.InvalidArgument("Empty key found")
		}
		start := eq + 1
		for start < len(opts) && isSpace(opts[start]) {
			start++
		}
		if start < len(opts) && opts[start] == '{' {
			closing := matchingBrace(opts, start)
			if closing < 0 {
				return nil, rocksdb.InvalidArgument("Mismatched curly braces for nested options")
			}
			m[key] = opts[start : closing+1]
			for pos = closing + 1; pos < len(opts) && isSpace(opts[pos]); {
				pos++
			}
			if pos < len(opts) && opts[pos] != ';' {
				return nil, rocksdb.InvalidArgument("Unexpected chars after nested options")
			}
			continue
		}
		end := strings.IndexByte(opts[start:], ';')
		if end < 0 {
			m[key] = util.Trim(opts[start:])
			break
		}
		pos = start + end
		m[key] = util.Trim(opts[start:pos])
	}
	return m, nil
}

// MapToString is the reverse of StringToMap, sorted by name.
func MapToString(opts map[string]string) string {
	var b strings.Builder
	for _, k := range sortedKeys(opts) {
		b.WriteString(k + "=" + opts[k] + ";")
	}
	return b.String()
}

// invalidArgument makes any error an InvalidArgument, as all conversions of
// whole option sets do.
func invalidArgument(err error) error {
	if err == nil || rocksdb.CodeOf(err) == rocksdb.CodeInvalidArgument {
		return err
	}
	return rocksdb.InvalidArgument(rocksdb.AsStatus(err).Message).Wrap(err)
}

// GetDBOptionsFromMap is base changed by options given by name.
func GetDBOptionsFromMap(cfg *rocksdb.ConfigOptions, base *rocksdb.DBOptions, opts map[string]string) (rocksdb.DBOptions, error) {
	o := *base
	if err := ConfigureFromMap(cfg, opts, []OptionSet{{dbOptionsTable, &o}}, nil); err != nil {
		return *base, invalidArgument(err)
	}
	return o, nil
}

// GetDBOptionsFromString is base changed by "name=value;…".
func GetDBOptionsFromString(cfg *rocksdb.ConfigOptions, base *rocksdb.DBOptions, opts string) (rocksdb.DBOptions, error) {
	m, err := StringToMap(opts)
	if err != nil {
		return *base, err
	}
	return GetDBOptionsFromMap(cfg, base, m)
}

// GetColumnFamilyOptionsFromMap is base changed by options given by name.
func GetColumnFamilyOptionsFromMap(cfg *rocksdb.ConfigOptions, base *rocksdb.ColumnFamilyOptions, opts map[string]string) (rocksdb.ColumnFamilyOptions, error) {
	o := *base
	if err := ConfigureFromMap(cfg, opts, []OptionSet{{cfOptionsTable, &o}}, nil); err != nil {
		return *base, invalidArgument(err)
	}
	return o, nil
}

// GetColumnFamilyOptionsFromString is base changed by "name=value;…".
func GetColumnFamilyOptionsFromString(cfg *rocksdb.ConfigOptions, base *rocksdb.ColumnFamilyOptions, opts string) (rocksdb.ColumnFamilyOptions, error) {
	m, err := StringToMap(opts)
	if err != nil {
		return *base, err
	}
	return GetColumnFamilyOptionsFromMap(cfg, base, m)
}

// GetOptionsFromString is base changed by "name=value;…" of both kinds.
func GetOptionsFromString(cfg *rocksdb.ConfigOptions, base *rocksdb.Options, opts string) (rocksdb.Options, error) {
	m, err := StringToMap(opts)
	if err != nil {
		return *base, err
	}
	o := *base
	unused := map[string]string{}
	if err := ConfigureFromMap(cfg, m, []OptionSet{{dbOptionsTable, &o.DBOptions}}, unused); err != nil {
		return *base, invalidArgument(err)
	}
	if len(unused) > 0 {
		o.ColumnFamilyOptions, err = GetColumnFamilyOptionsFromMap(cfg, &base.ColumnFamilyOptions, unused)
		if err != nil {
			return *base, err
		}
	}
	return o, nil
}

// GetStringFromDBOptions writes all options, each followed by cfg.Delimiter.
func GetStringFromDBOptions(cfg *rocksdb.ConfigOptions, o *rocksdb.DBOptions) (string, error) {
	return serializeRows(cfg, dbOptionsTable, o, "")
}

// GetStringFromColumnFamilyOptions writes all options, each followed by
// cfg.Delimiter.
func GetStringFromColumnFamilyOptions(cfg *rocksdb.ConfigOptions, o *rocksdb.ColumnFamilyOptions) (string, error) {
	return serializeRows(cfg, cfOptionsTable, o, "")
}

// GetStringFromCompressionType is the type's name in option strings.
func GetStringFromCompressionType(t rocksdb.CompressionType) (string, error) {
	if s, ok := compressionTypes.nameOf(t); ok {
		return s, nil
	}
	return "", rocksdb.InvalidArgument("Invalid compression types")
}

// ParseCompressionType is the reverse of GetStringFromCompressionType.
func ParseCompressionType(name string) (t rocksdb.CompressionType, ok bool) {
	ok = compressionTypes.parse(name, &t)
	return t, ok
}

// CompactionStyleToString is the style's name, "" for one that
// has none.
func CompactionStyleToString(s rocksdb.CompactionStyle) string {
	name, _ := compactionStyles.nameOf(s)
	return name
}

// CompactionPriToString is the order's name.
func CompactionPriToString(p rocksdb.CompactionPri) string {
	name, _ := compactionPris.nameOf(p)
	return name
}

// CompactionStopStyleToString is the style's name.
func CompactionStopStyleToString(s rocksdb.CompactionStopStyle) string {
	name, _ := compactionStopStyles.nameOf(s)
	return name
}

// TemperatureToString is the temperature's name.
func TemperatureToString(t rocksdb.Temperature) string {
	name, _ := temperatures.nameOf(t)
	return name
}

// ChecksumTypeToString is the checksum's name.
func ChecksumTypeToString(t rocksdb.ChecksumType) string {
	name, _ := checksumTypes.nameOf(t)
	return name
}

func tableOptionsFromMap[S any](cfg *rocksdb.ConfigOptions, t *Table, base *S, opts map[string]string) (S, error) {
	o := *base
	if err := ConfigureFromMap(cfg, opts, []OptionSet{{t, &o}}, nil); err != nil {
		return *base, invalidArgument(err)
	}
	return o, nil
}

// GetBlockBasedTableOptionsFromMap is base changed by options given by name.
func GetBlockBasedTableOptionsFromMap(cfg *rocksdb.ConfigOptions, base *rocksdb.BlockBasedTableOptions, opts map[string]string) (rocksdb.BlockBasedTableOptions, error) {
	return tableOptionsFromMap(cfg, BlockBasedTable, base, opts)
}

// GetBlockBasedTableOptionsFromString is base changed by "name=value;…".
func GetBlockBasedTableOptionsFromString(cfg *rocksdb.ConfigOptions, base *rocksdb.BlockBasedTableOptions, opts string) (rocksdb.BlockBasedTableOptions, error) {
	m, err := StringToMap(opts)
	if err != nil {
		return *base, err
	}
	return GetBlockBasedTableOptionsFromMap(cfg, base, m)
}

// GetPlainTableOptionsFromMap is base changed by options given by name.
func GetPlainTableOptionsFromMap(cfg *rocksdb.ConfigOptions, base *rocksdb.PlainTableOptions, opts map[string]string) (rocksdb.PlainTableOptions, error) {
	return tableOptionsFromMap(cfg, PlainTable, base, opts)
}

// GetPlainTableOptionsFromString is base changed by "name=value;…".
func GetPlainTableOptionsFromString(cfg *rocksdb.ConfigOptions, base *rocksdb.PlainTableOptions, opts string) (rocksdb.PlainTableOptions, error) {
	m, err := StringToMap(opts)
	if err != nil {
		return *base, err
	}
	return GetPlainTableOptionsFromMap(cfg, base, m)
}

// GetMemTableRepFactoryFromString makes a memtable factory of its ID; what
// cannot be made is an InvalidArgument.
func GetMemTableRepFactoryFromString(cfg *rocksdb.ConfigOptions, text string) (rocksdb.MemTableRepFactory, error) {
	c := *cfg
	c.IgnoreUnsupportedOptions = false
	c.IgnoreUnknownOptions = false
	f, err := CreateFromString[rocksdb.MemTableRepFactory](&c, memtableCodec.kind, text)
	return f, invalidArgument(err)
}
