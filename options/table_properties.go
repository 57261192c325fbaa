// Port of table/table_properties.cc: table properties as option strings. The
// methods are here because the contract knows no tables.

package options

import (
	"strings"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
	"github.com/rocksdb-go/rocksdb/util/compression"
	"github.com/rocksdb-go/rocksdb/utilities/registry"
)

// tablePropertiesTable has the properties of a table file.
var tablePropertiesTable = NewTable[rocksdb.TableProperties]("TableProperties",
	F("readable_properties", func(o *rocksdb.TableProperties) any { return &o.ReadableProperties }, 0).With(Normal, hexMapCodec{}),
	F("compression_options", func(o *rocksdb.TableProperties) any { return &o.CompressionOptions }, 0).With(Normal, hexCodec{}),
	F("compression_name", func(o *rocksdb.TableProperties) any { return &o.CompressionName }, 0).With(Normal, hexCodec{}),
	F("property_collectors_names", func(o *rocksdb.TableProperties) any { return &o.PropertyCollectorsNames }, 0).With(Normal, hexCodec{}),
	F("prefix_extractor_name", func(o *rocksdb.TableProperties) any { return &o.PrefixExtractorName }, 0).With(Normal, hexCodec{}),
	F("db_host_id", func(o *rocksdb.TableProperties) any { return &o.DBHostID }, 0).With(Normal, hexCodec{}),
	F("db_session_id", func(o *rocksdb.TableProperties) any { return &o.DBSessionID }, 0).With(Normal, hexCodec{}),
	F("separate_key_value_in_data_block", func(o *rocksdb.TableProperties) any { return &o.SeparateKeyValueInDataBlock }, 0),
	F("data_block_restart_interval", func(o *rocksdb.TableProperties) any { return &o.DataBlockRestartInterval }, 0),
	F("user_collected_properties", func(o *rocksdb.TableProperties) any { return &o.UserCollectedProperties }, 0).With(Normal, hexMapCodec{}),
	F("tail_start_offset", func(o *rocksdb.TableProperties) any { return &o.TailStartOffset }, 0),
	F("num_data_blocks", func(o *rocksdb.TableProperties) any { return &o.NumDataBlocks }, 0),
	F("comparator_name", func(o *rocksdb.TableProperties) any { return &o.ComparatorName }, 0).With(Normal, hexCodec{}),
	F("db_id", func(o *rocksdb.TableProperties) any { return &o.DBID }, 0).With(Normal, hexCodec{}),
	F("num_filter_entries", func(o *rocksdb.TableProperties) any { return &o.NumFilterEntries }, 0),
	F("udi_is_primary_index", func(o *rocksdb.TableProperties) any { return &o.UDIIsPrimaryIndex }, 0),
	F("uncompressed_data_size", func(o *rocksdb.TableProperties) any { return &o.UncompressedDataSize }, 0),
	F("key_largest_seqno", func(o *rocksdb.TableProperties) any { return &o.KeyLargestSeqno }, 0),
	F("num_merge_operands", func(o *rocksdb.TableProperties) any { return &o.NumMergeOperands }, 0),
	F("index_key_is_user_key", func(o *rocksdb.TableProperties) any { return &o.IndexKeyIsUserKey }, 0),
	F("index_value_is_delta_encoded", func(o *rocksdb.TableProperties) any { return &o.IndexValueIsDeltaEncoded }, 0),
	F("top_level_index_size", func(o *rocksdb.TableProperties) any { return &o.TopLevelIndexSize }, 0),
	F("data_size", func(o *rocksdb.TableProperties) any { return &o.DataSize }, 0),
	F("merge_operator_name", func(o *rocksdb.TableProperties) any { return &o.MergeOperatorName }, 0).With(Normal, hexCodec{}),
	F("index_partitions", func(o *rocksdb.TableProperties) any { return &o.IndexPartitions }, 0),
	F("file_creation_time", func(o *rocksdb.TableProperties) any { return &o.FileCreationTime }, 0),
	F("raw_value_size", func(o *rocksdb.TableProperties) any { return &o.RawValueSize }, 0),
	F("index_size", func(o *rocksdb.TableProperties) any { return &o.IndexSize }, 0),
	F("seqno_to_time_mapping", func(o *rocksdb.TableProperties) any { return &o.SeqnoToTimeMapping }, 0).With(Normal, hexCodec{}),
	F("raw_key_size", func(o *rocksdb.TableProperties) any { return &o.RawKeySize }, 0),
	F("slow_compression_estimated_data_size", func(o *rocksdb.TableProperties) any { return &o.SlowCompressionEstimatedDataSize }, 0),
	F("orig_file_number", func(o *rocksdb.TableProperties) any { return &o.OrigFileNumber }, 0),
	F("newest_key_time", func(o *rocksdb.TableProperties) any { return &o.NewestKeyTime }, 0),
	F("num_data_blocks_compression_rejected", func(o *rocksdb.TableProperties) any { return &o.NumDataBlocksCompressionRejected }, 0),
	F("index_block_restart_interval", func(o *rocksdb.TableProperties) any { return &o.IndexBlockRestartInterval }, 0),
	F("key_smallest_seqno", func(o *rocksdb.TableProperties) any { return &o.KeySmallestSeqno }, 0),
	F("num_deletions", func(o *rocksdb.TableProperties) any { return &o.NumDeletions }, 0),
	F("filter_size", func(o *rocksdb.TableProperties) any { return &o.FilterSize }, 0),
	F("num_data_blocks_compression_bypassed", func(o *rocksdb.TableProperties) any { return &o.NumDataBlocksCompressionBypassed }, 0),
	F("column_family_name", func(o *rocksdb.TableProperties) any { return &o.ColumnFamilyName }, 0).With(Normal, hexCodec{}),
	F("user_defined_timestamps_persisted", func(o *rocksdb.TableProperties) any { return &o.UserDefinedTimestampsPersisted }, 0),
	F("num_uniform_blocks", func(o *rocksdb.TableProperties) any { return &o.NumUniformBlocks }, 0),
	F("format_version", func(o *rocksdb.TableProperties) any { return &o.FormatVersion }, 0),
	F("external_sst_file_global_seqno_offset", func(o *rocksdb.TableProperties) any { return &o.ExternalSstFileGlobalSeqnoOffset }, 0),
	F("num_entries", func(o *rocksdb.TableProperties) any { return &o.NumEntries }, 0),
	F("creation_time", func(o *rocksdb.TableProperties) any { return &o.CreationTime }, 0),
	F("num_range_deletions", func(o *rocksdb.TableProperties) any { return &o.NumRangeDeletions }, 0),
	F("fast_compression_estimated_data_size", func(o *rocksdb.TableProperties) any { return &o.FastCompressionEstimatedDataSize }, 0),
	F("fixed_key_len", func(o *rocksdb.TableProperties) any { return &o.FixedKeyLen }, 0),
	F("column_family_id", func(o *rocksdb.TableProperties) any { return &o.ColumnFamilyID }, 0),
	F("filter_policy_name", func(o *rocksdb.TableProperties) any { return &o.FilterPolicyName }, 0).With(Normal, hexCodec{}),
	F("oldest_key_time", func(o *rocksdb.TableProperties) any { return &o.OldestKeyTime }, 0),
)

// SerializeTableProperties writes properties as "name=value" with
// cfg.Delimiter; strings are in hexadecimal.
func SerializeTableProperties(cfg *rocksdb.ConfigOptions, p *rocksdb.TableProperties) (string, error) {
	var b strings.Builder
	for i := range tablePropertiesTable.Rows {
		row := &tablePropertiesTable.Rows[i]
		v, err := row.Serialize(cfg, row.Name, p)
		if err != nil {
			return "", err
		}
		b.WriteString(row.Name + "=" + v + cfg.Delimiter)
	}
	return b.String(), nil
}

// ParseTableProperties is the reverse of SerializeTableProperties.
func ParseTableProperties(cfg *rocksdb.ConfigOptions, text string) (rocksdb.TableProperties, error) {
	p := rocksdb.NewTableProperties()
	m, err := StringToMap(text)
	if err == nil {
		err = parseType(cfg, m, tablePropertiesTable, &p, nil)
	}
	return p, err
}

// TablePropertiesAreEqual compares all properties; mismatch names the first
// that differs.
func TablePropertiesAreEqual(cfg *rocksdb.ConfigOptions, a, b *rocksdb.TableProperties) (ok bool, mismatch string) {
	for i := range tablePropertiesTable.Rows {
		row := &tablePropertiesTable.Rows[i]
		if ok, mismatch := row.AreEqual(cfg, row.Name, a, b); !ok {
			return false, mismatch
		}
	}
	return true, ""
}

// hexCodec is the codec of a byte string written in hexadecimal.
type hexCodec struct{ plainCodec }

func (hexCodec) Parse(_ *rocksdb.ConfigOptions, name, value string, addr any) error {
	b, ok := util.DecodeHex(StripOuterBraces(value))
	if !ok {
		return rocksdb.InvalidArgument("Not hexadecimal", name)
	}
	*addr.(*string) = string(b)
	return nil
}

func (hexCodec) Serialize(_ *rocksdb.ConfigOptions, _ string, addr any) (string, error) {
	return util.SliceToHex([]byte(*addr.(*string))), nil
}

// hexMapCodec is the codec of a map of byte strings: {key=value;…}, sorted.
type hexMapCodec struct{}

func (hexMapCodec) Parse(_ *rocksdb.ConfigOptions, name, value string, addr any) error {
	out := map[string]string{}
	for _, item := range strings.Split(StripOuterBraces(value), ";") {
		if item = util.Trim(item); item == "" {
			continue
		}
		k, v, found := strings.Cut(item, "=")
		key, okKey := util.DecodeHex(k)
		val, okVal := util.DecodeHex(v)
		if !found || !okKey || !okVal {
			return rocksdb.InvalidArgument("Not a map in hexadecimal", name)
		}
		out[string(key)] = string(val)
	}
	*addr.(*map[string]string) = out
	return nil
}

func (hexMapCodec) Serialize(_ *rocksdb.ConfigOptions, _ string, addr any) (string, error) {
	m := *addr.(*map[string]string)
	var b strings.Builder
	b.WriteByte('{')
	for _, k := range sortedKeys(m) {
		b.WriteString(util.SliceToHex([]byte(k)) + "=" + util.SliceToHex([]byte(m[k])) + ";")
	}
	b.WriteByte('}')
	return b.String(), nil
}

func (hexMapCodec) Equal(_ *rocksdb.ConfigOptions, _ string, a, b any) (bool, string) {
	x, y := *a.(*map[string]string), *b.(*map[string]string)
	if len(x) != len(y) {
		return false, ""
	}
	for k, v := range x {
		if w, ok := y[k]; !ok || w != v {
			return false, ""
		}
	}
	return true, ""
}

// ParseCompressionNameForDisplay turns TableProperties.CompressionName into
// names of algorithms separated by commas. Names before format 7 stay as they
// are; "Unknown" stands for a malformed one. Custom types are named by manager
// (may be nil) or by the registered manager of the file.
func ParseCompressionNameForDisplay(cfg *rocksdb.ConfigOptions, name string, manager rocksdb.CompressionManager) string {
	if name == "" {
		return "NoCompression"
	}
	fields := strings.Split(name, ";")
	if len(fields) == 1 {
		return name
	}
	codes := fields[1]
	if len(fields) == 2 || len(codes)%2 != 0 {
		return "Unknown"
	}
	if manager != nil && manager.CompatibilityName() != fields[0] {
		manager = manager.FindCompatibleCompressionManager(fields[0])
	}
	if manager == nil {
		strict := *cfg
		strict.IgnoreUnknownOptions, strict.IgnoreUnsupportedOptions = false, false
		if m, err := CreateFromString[rocksdb.CompressionManager](&strict, registry.KindCompressionManager, fields[0]); err == nil {
			manager = m
		}
	}
	var types []string
	for i := 0; i < len(codes); i += 2 {
		v, _, ok := util.ParseBaseChars(16, codes[i:i+2], 0)
		if !ok {
			return "Unknown"
		}
		t := rocksdb.CompressionType(v)
		if t == rocksdb.NoCompression || t == rocksdb.DisableCompressionOption {
			continue
		}
		text := ""
		if manager != nil {
			text = manager.CompressionTypeToString(t)
		}
		if text == "" {
			text = compression.CompressionTypeToString(t)
		}
		types = append(types, text)
	}
	if len(types) == 0 {
		return "NoCompression"
	}
	return strings.Join(types, ",")
}
