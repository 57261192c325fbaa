// Port of table/format.{h,cc}: the footer. Differs: DecodeForImport reads the
// footers before format_version 2 too, which v11.8.1 no longer does.

package format

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// The footer is the end of a table file, 48 bytes with a legacy magic number
// and 53 otherwise:
//
//	part 1          checksum type (1 byte); absent with a legacy magic number
//	part 2          40 bytes
//	  format < 6    metaindex handle, index handle, zeros (unchecked)
//	  format >= 6   3e 00 7a 00
//	                checksum of the whole footer, this field taken as zeros,
//	                plus the context modifier of the footer's offset (fixed32)
//	                base context checksum (fixed32)
//	                size of the metaindex block, which ends right before the
//	                footer (fixed32)
//	                24 zeros, the last 8 of them checked
//	part 3          format_version (fixed32; absent with a legacy magic number)
//	                magic number (fixed64)
//
// Fixed numbers are little-endian.
const (
	FooterVersion0EncodedLength    = 2*MaxEncodedLength + MagicNumberLengthByte
	FooterNewVersionsEncodedLength = 1 + 2*MaxEncodedLength + 4 + MagicNumberLengthByte
	FooterMinEncodedLength         = FooterVersion0EncodedLength
	FooterMaxEncodedLength         = FooterNewVersionsEncodedLength

	footerPart2Size     = 2 * MaxEncodedLength
	footerChecksumField = 5 // offset of the checksum in a footer of format >= 6
)

var extendedMagic = [4]byte{0x3e, 0x00, 0x7a, 0x00}

// Versions of block-based tables.
const (
	LatestBbtFormatVersion               uint32 = 7
	MinSupportedBbtFormatVersionForRead  uint32 = 2
	MinSupportedBbtFormatVersionForWrite uint32 = 2
	InvalidFormatVersion                 uint32 = math.MaxUint32
)

// IsSupportedFormatVersionForRead tells whether a table of that magic number
// and version can be read.
func IsSupportedFormatVersionForRead(magic uint64, version uint32) bool {
	switch magic {
	case BlockBasedTableMagicNumber:
		return version >= MinSupportedBbtFormatVersionForRead && version <= LatestBbtFormatVersion
	case PlainTableMagicNumber:
		return version == 0
	case CuckooTableMagicNumber:
		return version == 1
	}
	return false
}

// IsSupportedFormatVersionForWrite is the same for writing.
func IsSupportedFormatVersionForWrite(magic uint64, version uint32) bool {
	if magic == BlockBasedTableMagicNumber {
		return version >= MinSupportedBbtFormatVersionForWrite && version <= LatestBbtFormatVersion
	}
	return IsSupportedFormatVersionForRead(magic, version)
}

// FormatVersionUsesContextChecksum tells whether checksums depend on file and
// place.
func FormatVersionUsesContextChecksum(version uint32) bool { return version >= 6 }

// FormatVersionUsesIndexHandleInFooter tells whether the index handle is in the
// footer; later it is in the metaindex block.
func FormatVersionUsesIndexHandleInFooter(version uint32) bool { return version < 6 }

// FormatVersionUsesCompressionManagerName tells whether the compression
// property names a compression manager.
func FormatVersionUsesCompressionManagerName(version uint32) bool { return version >= 7 }

// Footer is a decoded footer.
type Footer struct {
	TableMagicNumber    uint64 // never a legacy one
	FormatVersion       uint32
	BaseContextChecksum uint32 // 0 when checksums have no context
	MetaindexHandle     BlockHandle
	IndexHandle         BlockHandle // null from format 6 on
	ChecksumType        rocksdb.ChecksumType
	BlockTrailerSize    int // of the table's blocks
}

func isLegacyFooterFormat(magic uint64) bool {
	return magic == LegacyPlainTableMagicNumber || magic == LegacyBlockBasedTableMagicNumber
}

func blockTrailerSizeForMagicNumber(magic uint64) int {
	if magic == BlockBasedTableMagicNumber || magic == LegacyBlockBasedTableMagicNumber {
		return BlockTrailerSize
	}
	return 0
}

// BuildFooter encodes a footer for a file whose footer begins at footerOffset.
// index is ignored from format 6 on. base is needed from format 6 on for
// block-based tables and has to be 0 otherwise.
func BuildFooter(f *Footer, footerOffset uint64) ([]byte, error) {
	if !IsSupportedFormatVersionForWrite(f.TableMagicNumber, f.FormatVersion) {
		return nil, rocksdb.InvalidArgumentf("cannot write format_version %d for magic number %#x",
			f.FormatVersion, f.TableMagicNumber)
	}
	if f.FormatVersion == 0 {
		b := make([]byte, FooterVersion0EncodedLength)
		putHandles(b[:footerPart2Size], f)
		// Version 0 is told by the legacy magic number alone.
		binary.LittleEndian.PutUint64(b[footerPart2Size:], LegacyPlainTableMagicNumber)
		return b, nil
	}
	b := make([]byte, FooterNewVersionsEncodedLength)
	b[0] = byte(f.ChecksumType)
	part3 := b[1+footerPart2Size:]
	binary.LittleEndian.PutUint32(part3, f.FormatVersion)
	binary.LittleEndian.PutUint64(part3[4:], f.TableMagicNumber)
	part2 := b[1 : 1+footerPart2Size]
	if f.FormatVersion < 6 {
		putHandles(part2, f)
		return b, nil
	}
	trailer := uint64(blockTrailerSizeForMagicNumber(f.TableMagicNumber))
	switch {
	case (f.BaseContextChecksum != 0) != (trailer != 0):
		return nil, rocksdb.InvalidArgument("base context checksum does not suit the table format")
	case f.MetaindexHandle.Size > math.MaxUint32:
		return nil, rocksdb.NotSupported("Metaindex block size > 4GB")
	case f.MetaindexHandle.Size != 0 &&
		f.MetaindexHandle.Offset+f.MetaindexHandle.Size != footerOffset-trailer:
		return nil, rocksdb.InvalidArgument("metaindex block is not right before the footer")
	}
	copy(part2, extendedMagic[:])
	binary.LittleEndian.PutUint32(part2[8:], f.BaseContextChecksum)
	binary.LittleEndian.PutUint32(part2[12:], uint32(f.MetaindexHandle.Size))
	sum := ComputeBuiltinChecksum(f.ChecksumType, b) +
		ChecksumModifierForContext(f.BaseContextChecksum, footerOffset)
	binary.LittleEndian.PutUint32(b[footerChecksumField:], sum)
	return b, nil
}

func putHandles(part2 []byte, f *Footer) {
	var buf [2 * MaxEncodedLength]byte
	copy(part2, f.IndexHandle.AppendTo(f.MetaindexHandle.AppendTo(buf[:0])))
}

// DecodeFrom reads a footer at the end of input, which begins at inputOffset
// of the file. With enforceMagic other than 0, another magic number is a
// corruption.
func (f *Footer) DecodeFrom(input []byte, inputOffset, enforceMagic uint64) error {
	return f.decode(input, inputOffset, enforceMagic, false)
}

// DecodeForImport is DecodeFrom that also takes block-based tables of format
// versions 0 (LevelDB's) and 1.
func (f *Footer) DecodeForImport(input []byte, inputOffset, enforceMagic uint64) error {
	return f.decode(input, inputOffset, enforceMagic, true)
}

func (f *Footer) decode(input []byte, inputOffset, enforceMagic uint64, old bool) error {
	*f = Footer{FormatVersion: InvalidFormatVersion}
	if len(input) < FooterMinEncodedLength {
		return rocksdb.Corruptionf("footer input of %d bytes is too short to be an SST file", len(input))
	}
	magic := binary.LittleEndian.Uint64(input[len(input)-MagicNumberLengthByte:])
	legacy := isLegacyFooterFormat(magic)
	switch magic {
	case LegacyBlockBasedTableMagicNumber:
		if !old {
			return rocksdb.NotSupported("Unsupported legacy magic number for block-based SST format" +
				" (format_version 0); versions 4.6 to 10 of RocksDB rewrite such files by a full compaction")
		}
		magic = BlockBasedTableMagicNumber
	case LegacyPlainTableMagicNumber:
		magic = PlainTableMagicNumber
	}
	if enforceMagic != 0 && enforceMagic != magic {
		return rocksdb.Corruptionf("Bad table magic number: expected %d, found %d", enforceMagic, magic)
	}
	f.TableMagicNumber = magic
	f.BlockTrailerSize = blockTrailerSizeForMagicNumber(magic)
	if legacy {
		f.FormatVersion, f.ChecksumType = 0, rocksdb.CRC32c
		return f.decodeHandles(input[len(input)-FooterVersion0EncodedLength:])
	}
	f.FormatVersion = binary.LittleEndian.Uint32(input[len(input)-MagicNumberLengthByte-4:])
	if !IsSupportedFormatVersionForRead(magic, f.FormatVersion) &&
		!(old && magic == BlockBasedTableMagicNumber && f.FormatVersion == 1) {
		return rocksdb.Corruptionf("Corrupt or unsupported format_version %d for magic %d",
			f.FormatVersion, magic)
	}
	if len(input) < FooterNewVersionsEncodedLength {
		return rocksdb.Corruption("Input is too short to be an SST file")
	}
	skip := len(input) - FooterNewVersionsEncodedLength
	input = input[skip:]
	f.ChecksumType = rocksdb.ChecksumType(input[0])
	if !IsSupportedChecksumType(f.ChecksumType) {
		return rocksdb.Corruptionf("Corrupt or unsupported checksum type: %d", input[0])
	}
	if f.FormatVersion < 6 {
		return f.decodeHandles(input[1:])
	}
	return f.decodeExtended(input, inputOffset+uint64(skip))
}

func (f *Footer) decodeHandles(part2 []byte) error {
	rest, err := f.MetaindexHandle.DecodeFrom(part2[:footerPart2Size])
	if err == nil {
		_, err = f.IndexHandle.DecodeFrom(rest)
	}
	return err
}

// decodeExtended reads part 2 of format >= 6; input is the whole footer.
func (f *Footer) decodeExtended(input []byte, footerOffset uint64) error {
	part2 := input[1 : 1+footerPart2Size]
	if !bytes.Equal(part2[:4], extendedMagic[:]) {
		return rocksdb.Corruption("Bad extended magic number: 0x" + upperHex(part2[:4]))
	}
	stored := binary.LittleEndian.Uint32(part2[4:])
	f.BaseContextChecksum = binary.LittleEndian.Uint32(part2[8:])
	if f.BaseContextChecksum == 0 {
		return rocksdb.Corruption("Invalid base context checksum")
	}
	var cleared [FooterNewVersionsEncodedLength]byte
	copy(cleared[:], input)
	binary.LittleEndian.PutUint32(cleared[footerChecksumField:], 0)
	sum := ComputeBuiltinChecksum(f.ChecksumType, cleared[:]) +
		ChecksumModifierForContext(f.BaseContextChecksum, footerOffset)
	if sum != stored {
		return rocksdb.Corruptionf("Footer at %d checksum mismatch", footerOffset)
	}
	size := uint64(binary.LittleEndian.Uint32(part2[12:]))
	if size+uint64(f.BlockTrailerSize) > footerOffset {
		return rocksdb.Corruptionf("Footer at %d has a metaindex block of %d bytes before it", footerOffset, size)
	}
	f.MetaindexHandle = BlockHandle{Offset: footerOffset - uint64(f.BlockTrailerSize) - size, Size: size}
	if binary.LittleEndian.Uint64(part2[32:]) != 0 {
		return rocksdb.NotSupported("File uses a future feature not supported in this version")
	}
	return nil
}

// ToString gives the form that sst_dump prints.
func (f *Footer) ToString() string {
	s := fmt.Sprintf("metaindex handle: %s offset: %d size: %d\n  ",
		f.MetaindexHandle.ToString(), f.MetaindexHandle.Offset, f.MetaindexHandle.Size)
	s += fmt.Sprintf("index handle: %s offset: %d size: %d\n  ",
		f.IndexHandle.ToString(), f.IndexHandle.Offset, f.IndexHandle.Size)
	s += fmt.Sprintf("table_magic_number: %d\n  ", f.TableMagicNumber)
	return s + fmt.Sprintf("format version: %d\n", f.FormatVersion)
}
