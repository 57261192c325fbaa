// Port of table/block_based/block_type.h.

package block

// BlockType says what a block of a block-based table is.
type BlockType uint8

// The types.
const (
	TypeData                 BlockType = iota
	TypeFilter                         // full filters and filter partitions
	TypeFilterPartitionIndex           // the index of the filter partitions
	TypeProperties
	TypeCompressionDictionary
	TypeRangeDeletion
	TypeHashIndexPrefixes
	TypeHashIndexMetadata
	TypeMetaIndex
	TypeIndex
	TypeUserDefinedIndex
	TypeInvalid
)

var blockTypeNames = [...]string{
	"Data", "Filter", "FilterPartitionIndex", "Properties", "CompressionDictionary",
	"RangeDeletion", "HashIndexPrefixes", "HashIndexMetadata", "MetaIndex", "Index",
	"UserDefinedIndex", "Invalid",
}

// String is the name, e.g. "Data".
func (t BlockType) String() string {
	if int(t) < len(blockTypeNames) {
		return blockTypeNames[t]
	}
	return "Unknown"
}
