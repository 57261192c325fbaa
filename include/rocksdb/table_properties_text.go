// Port of table/table_properties.cc: sums and text of table properties.
// Differs: two of ToString's values need higher packages and are handed in; the
// option string form is in package options.

package rocksdb

import (
	"fmt"
	"strconv"
	"strings"
	"unsafe"
)

// Add adds another file's sizes and counts.
func (p *TableProperties) Add(q *TableProperties) {
	p.DataSize += q.DataSize
	p.UncompressedDataSize += q.UncompressedDataSize
	p.IndexSize += q.IndexSize
	p.IndexPartitions += q.IndexPartitions
	p.TopLevelIndexSize += q.TopLevelIndexSize
	p.IndexKeyIsUserKey += q.IndexKeyIsUserKey
	p.IndexValueIsDeltaEncoded += q.IndexValueIsDeltaEncoded
	p.FilterSize += q.FilterSize
	p.RawKeySize += q.RawKeySize
	p.RawValueSize += q.RawValueSize
	p.NumDataBlocks += q.NumDataBlocks
	p.NumDataBlocksCompressionRejected += q.NumDataBlocksCompressionRejected
	p.NumDataBlocksCompressionBypassed += q.NumDataBlocksCompressionBypassed
	p.NumUniformBlocks += q.NumUniformBlocks
	p.NumEntries += q.NumEntries
	p.NumFilterEntries += q.NumFilterEntries
	p.NumDeletions += q.NumDeletions
	p.NumMergeOperands += q.NumMergeOperands
	p.NumRangeDeletions += q.NumRangeDeletions
	p.SlowCompressionEstimatedDataSize += q.SlowCompressionEstimatedDataSize
	p.FastCompressionEstimatedDataSize += q.FastCompressionEstimatedDataSize
}

// GetAggregatablePropertiesAsMap gives the properties that make sense as a sum
// over files, by upstream's field names.
func (p *TableProperties) GetAggregatablePropertiesAsMap() map[string]uint64 {
	return map[string]uint64{
		"data_size":                            p.DataSize,
		"uncompressed_data_size":               p.UncompressedDataSize,
		"index_size":                           p.IndexSize,
		"index_partitions":                     p.IndexPartitions,
		"top_level_index_size":                 p.TopLevelIndexSize,
		"filter_size":                          p.FilterSize,
		"raw_key_size":                         p.RawKeySize,
		"raw_value_size":                       p.RawValueSize,
		"num_data_blocks":                      p.NumDataBlocks,
		"num_data_blocks_compression_rejected": p.NumDataBlocksCompressionRejected,
		"num_data_blocks_compression_bypassed": p.NumDataBlocksCompressionBypassed,
		"num_uniform_blocks":                   p.NumUniformBlocks,
		"num_entries":                          p.NumEntries,
		"num_filter_entries":                   p.NumFilterEntries,
		"num_deletions":                        p.NumDeletions,
		"num_merge_operands":                   p.NumMergeOperands,
		"num_range_deletions":                  p.NumRangeDeletions,
		"slow_compression_estimated_data_size": p.SlowCompressionEstimatedDataSize,
		"fast_compression_estimated_data_size": p.FastCompressionEstimatedDataSize,
	}
}

// ApproximateMemoryUsage is in bytes.
func (p *TableProperties) ApproximateMemoryUsage() int {
	n := int(unsafe.Sizeof(*p)) + len(p.DBID) + len(p.DBSessionID) + len(p.DBHostID) +
		len(p.ColumnFamilyName) + len(p.FilterPolicyName) + len(p.ComparatorName) +
		len(p.MergeOperatorName) + len(p.PrefixExtractorName) + len(p.PropertyCollectorsNames) +
		len(p.CompressionName) + len(p.CompressionOptions)
	for k, v := range p.UserCollectedProperties {
		n += len(k) + len(v)
	}
	return n
}

// ToString describes the properties for people, each as name, kvDelim, value,
// propDelim. uniqueID and seqnoToTime are the file's unique ID and its mapping
// in their text forms (packages table/uniqueid and db/seqnotime).
func (p *TableProperties) ToString(propDelim, kvDelim, uniqueID, seqnoToTime string) string {
	var b strings.Builder
	text := func(name, value string) { b.WriteString(name + kvDelim + value + propDelim) }
	orNA := func(name, value string) {
		if value == "" {
			value = "N/A"
		}
		text(name, value)
	}
	number := func(name string, v uint64) { text(name, strconv.FormatUint(v, 10)) }
	average := func(name string, sum uint64) {
		v := 0.0
		if p.NumEntries != 0 {
			v = float64(sum) / float64(p.NumEntries)
		}
		text(name, strconv.FormatFloat(v, 'f', 6, 64))
	}
	number("# data blocks", p.NumDataBlocks)
	number("# data blocks compression rejected", p.NumDataBlocksCompressionRejected)
	number("# data blocks compression bypassed", p.NumDataBlocksCompressionBypassed)
	number("# uniform blocks", p.NumUniformBlocks)
	number("# entries", p.NumEntries)
	number("# deletions", p.NumDeletions)
	number("# merge operands", p.NumMergeOperands)
	number("# range deletions", p.NumRangeDeletions)
	number("raw key size", p.RawKeySize)
	average("raw average key size", p.RawKeySize)
	number("raw value size", p.RawValueSize)
	average("raw average value size", p.RawValueSize)
	number("data block size", p.DataSize)
	number("data uncompressed size", p.UncompressedDataSize)
	number(fmt.Sprintf("index block size (user-key? %d, delta-value? %d)",
		int32(p.IndexKeyIsUserKey), int32(p.IndexValueIsDeltaEncoded)), p.IndexSize)
	if p.IndexPartitions != 0 {
		number("# index partitions", p.IndexPartitions)
		number("top-level index size", p.TopLevelIndexSize)
	}
	number("filter block size", p.FilterSize)
	number("# entries for filter", p.NumFilterEntries)
	number("(estimated) table size", p.DataSize+p.IndexSize+p.FilterSize)
	orNA("filter policy name", p.FilterPolicyName)
	orNA("prefix extractor name", p.PrefixExtractorName)
	if p.ColumnFamilyID == uint64(UnknownColumnFamily) {
		text("column family ID", "N/A")
	} else {
		number("column family ID", p.ColumnFamilyID)
	}
	orNA("column family name", p.ColumnFamilyName)
	orNA("comparator name", p.ComparatorName)
	text("user defined timestamps persisted", strconv.FormatBool(p.UserDefinedTimestampsPersisted != 0))
	number("largest sequence number in file", p.KeyLargestSeqno)
	number("smallest sequence number in file", p.KeySmallestSeqno)
	orNA("merge operator name", p.MergeOperatorName)
	orNA("property collectors names", p.PropertyCollectorsNames)
	orNA("SST file compression algo", p.CompressionName)
	orNA("SST file compression options", p.CompressionOptions)
	number("creation time", p.CreationTime)
	number("time stamp of earliest key", p.OldestKeyTime)
	number("time stamp of newest key", p.NewestKeyTime)
	number("file creation time", p.FileCreationTime)
	number("slow compression estimated data size", p.SlowCompressionEstimatedDataSize)
	number("fast compression estimated data size", p.FastCompressionEstimatedDataSize)
	text("DB identity", p.DBID)
	text("DB session identity", p.DBSessionID)
	text("DB host id", p.DBHostID)
	number("original file number", p.OrigFileNumber)
	orNA("unique ID", uniqueID)
	text("Sequence number to time mapping", seqnoToTime)
	return b.String()
}
