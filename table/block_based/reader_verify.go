// Port of table/block_based/block_based_table_reader.cc: estimates, prefetch,
// checksum verification and the human-readable dump.

package blockbased

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/db/seqnotime"
	"github.com/rocksdb-go/rocksdb/file"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/table"
	"github.com/rocksdb-go/rocksdb/table/block_based/block"
	"github.com/rocksdb-go/rocksdb/table/format"
	"github.com/rocksdb-go/rocksdb/table/internaliter"
	"github.com/rocksdb-go/rocksdb/table/uniqueid"
	"github.com/rocksdb-go/rocksdb/util"
)

// dataOffset is where the block an index iterator stands on begins.
func dataOffset(it internaliter.InternalIndexIterator, dataSize uint64) uint64 {
	if it.Valid() {
		return it.Value().Handle.Offset
	}
	return dataSize
}

// prorate spreads the metadata's size over the data blocks.
func (t *BlockBasedTable) prorate(n, dataSize uint64) uint64 {
	return uint64(float64(n) / float64(dataSize) * float64(t.fileSize))
}

// ApproximateOffsetOf implements table.TableReader. When the index cannot be
// read it is the file's middle.
func (t *BlockBasedTable) ApproximateOffsetOf(ro *rocksdb.ReadOptions, key []byte, caller rocksdb.TableReaderCaller) uint64 {
	dataSize := t.props.DataSize
	if dataSize == 0 {
		return t.fileSize / 2
	}
	s := getScratch()
	s.rc = readContext{ro: ro, caller: caller}
	it := t.newIndexIterator(&s.rc, true, &s.index)
	it.Seek(key)
	n := t.fileSize / 2
	if it.Status() == nil {
		n = t.prorate(dataOffset(it, dataSize), dataSize)
	}
	_ = it.Close() // its status was looked at
	putScratch(s)
	return n
}

// ApproximateSize implements table.TableReader. Ends that cannot be found count
// as the file's.
func (t *BlockBasedTable) ApproximateSize(ro *rocksdb.ReadOptions, start, end []byte, caller rocksdb.TableReaderCaller) uint64 {
	dataSize := t.props.DataSize
	if dataSize == 0 {
		return t.fileSize
	}
	s := getScratch()
	s.rc = readContext{ro: ro, caller: caller}
	it := t.newIndexIterator(&s.rc, true, &s.index)
	from, to := uint64(0), dataSize
	if start != nil {
		if it.Seek(start); it.Status() == nil {
			from = dataOffset(it, dataSize)
		}
	}
	if end != nil {
		if it.Seek(end); it.Status() == nil {
			to = dataOffset(it, dataSize)
		}
	}
	_ = it.Close() // its status was looked at
	putScratch(s)
	if to < from {
		return 0
	}
	return t.prorate(to-from, dataSize)
}

// ApproximateKeyAnchors implements table.TableReader.
func (t *BlockBasedTable) ApproximateKeyAnchors(ro *rocksdb.ReadOptions) ([]table.Anchor, error) {
	const maxAnchors = 128
	rc := readContext{ro: ro}
	it := t.newIndexIterator(&rc, true, nil)
	defer it.Close() //nolint:errcheck // its status is returned
	perAnchor := max(t.props.NumDataBlocks/maxAnchors, 1)
	var anchors []table.Anchor
	var last []byte
	var count, size, prev uint64
	for it.SeekToFirst(); it.Valid(); it.Next() {
		h := it.Value().Handle
		size += h.Offset + h.Size - prev
		prev = h.Offset + h.Size
		last = append(last[:0], it.UserKey()...)
		if count++; count == perAnchor {
			anchors = append(anchors, table.Anchor{UserKey: append([]byte(nil), last...), RangeSize: size})
			count, size = 0, 0
		}
	}
	if count > 0 {
		anchors = append(anchors, table.Anchor{UserKey: last, RangeSize: size})
	}
	return anchors, it.Status()
}

// Prefetch implements table.TableReader: it loads the blocks of a range of user
// keys, the one behind its end included.
func (t *BlockBasedTable) Prefetch(ro *rocksdb.ReadOptions, begin, end []byte) error {
	if begin != nil && end != nil && t.icmp.CompareUserKey(begin, end) > 0 {
		return rocksdb.InvalidArgument(string(begin), string(end))
	}
	rc := readContext{ro: ro, caller: rocksdb.CallerPrefetch}
	it := t.newIndexIterator(&rc, true, nil)
	defer it.Close() //nolint:errcheck // its status is returned
	if err := it.Status(); err != nil {
		return err
	}
	var seek []byte
	if begin != nil {
		seek = dbformat.AppendInternalKey(nil, begin, dbformat.MaxSequenceNumber, dbformat.ValueTypeForSeek)
		it.Seek(seek)
	} else {
		it.SeekToFirst()
	}
	var data block.DataBlockIter
	defer data.Invalidate(nil)
	boundary := false
	for ; it.Valid(); it.Next() {
		if end != nil && t.icmp.CompareUserKey(it.UserKey(), end) >= 0 {
			if boundary {
				break
			}
			boundary = true
		}
		t.newDataBlockIterator(&rc, it.Value().Handle, block.TypeData, &data)
		if err := data.Status(); err != nil {
			return err
		}
	}
	return it.Status()
}

// VerifyChecksum implements table.TableReader.
func (t *BlockBasedTable) VerifyChecksum(ro *rocksdb.ReadOptions, caller rocksdb.TableReaderCaller, metaBlocksOnly bool) error {
	m := table.MetaReader{File: t.file, FileSize: t.fileSize, ReadOptions: ro, IOptions: t.ioptions, OldFormats: t.isOldFormat()}
	meta, err := m.ReadMetaIndexBlockOf(&t.footer)
	if err != nil {
		return err
	}
	defer meta.Free()
	if err := t.verifyMetaBlocks(ro, &m, meta.NewMetaIterator(true)); err != nil || metaBlocksOnly {
		return err
	}
	rc := readContext{ro: ro, caller: caller}
	it := t.newIndexIterator(&rc, true, nil)
	defer it.Close() //nolint:errcheck // its status is returned
	size := int(ro.ReadaheadSize)
	if size == 0 {
		size = int(t.opts.MaxAutoReadaheadSize)
	}
	buf := file.NewFilePrefetchBuffer(&file.PrefetchBufferOptions{
		ReadaheadParams: file.ReadaheadParams{InitialReadaheadSize: size, MaxReadaheadSize: size, NumBuffers: 1},
		Disable:         t.ioptions.AllowMmapReads,
	})
	defer buf.Close()
	rc.prefetch = buf
	for it.SeekToFirst(); it.Valid(); it.Next() {
		if err := t.verifyBlock(&rc, it.Value().Handle, block.TypeData); err != nil {
			return err
		}
	}
	return it.Status()
}

// verifyBlock reads a block without decompressing it.
func (t *BlockBasedTable) verifyBlock(rc *readContext, h format.BlockHandle, bt block.BlockType) error {
	f := table.GetBlockFetcher()
	defer table.PutBlockFetcher(f)
	f.File, f.PrefetchBuffer, f.Footer = t.file, rc.prefetch, &t.footer
	f.ReadOptions, f.IOptions, f.FileSize = rc.ro, t.ioptions, t.fileSize
	f.Handle, f.BlockType = h, bt
	c, err := f.ReadBlockContents()
	c.Free()
	return err
}

func (t *BlockBasedTable) verifyMetaBlocks(ro *rocksdb.ReadOptions, m *table.MetaReader, it *block.MetaBlockIter) error {
	rc := readContext{ro: ro}
	for it.SeekToFirst(); it.Valid(); it.Next() {
		var h format.BlockHandle
		if _, err := h.DecodeFrom(it.Value()); err != nil {
			return t.named(err)
		}
		name := string(it.Key())
		var err error
		switch {
		case name == table.PropertiesBlockName:
			_, err = m.ReadTablePropertiesHelper(h, &t.footer)
		case name == table.IndexBlockName && t.verifiedOnOpen:
			// That was done.
		default:
			err = t.verifyBlock(&rc, h, metaBlockType(name))
		}
		if err != nil {
			return err
		}
	}
	return t.located(it.Status(), t.footer.MetaindexHandle)
}

// metaBlockType is upstream's BlockBasedTable::GetBlockTypeForMetaBlockByName.
func metaBlockType(name string) block.BlockType {
	switch {
	case strings.HasPrefix(name, FullFilterBlockPrefix):
		return block.TypeFilter
	case strings.HasPrefix(name, PartitionedFilterBlockPrefix):
		return block.TypeFilterPartitionIndex
	case name == table.PropertiesBlockName:
		return block.TypeProperties
	case name == table.CompressionDictBlockName:
		return block.TypeCompressionDictionary
	case name == table.RangeDelBlockName:
		return block.TypeRangeDeletion
	case name == HashIndexPrefixesBlock:
		return block.TypeHashIndexPrefixes
	case name == HashIndexPrefixesMetadataBlock:
		return block.TypeHashIndexMetadata
	case name == table.IndexBlockName:
		return block.TypeIndex
	case strings.HasPrefix(name, UserDefinedIndexPrefix):
		return block.TypeUserDefinedIndex
	}
	return block.TypeInvalid
}

const dumpRule = "--------------------------------------\n"

// propertiesText is the table's properties for people, with its unique ID.
func (t *BlockBasedTable) propertiesText() string {
	id, err := uniqueid.GetUniqueIdFromTableProperties(t.props)
	if err == nil {
		id = uniqueid.UniqueIdToHumanString(id)
	}
	var times string
	if s := t.props.SeqnoToTimeMapping; s != "" {
		m := seqnotime.NewSeqnoToTimeMapping()
		if m.DecodeFrom([]byte(s)) == nil {
			times = m.ToHumanString()
		}
	}
	return t.props.ToString("\n  ", ": ", id, times)
}

// DumpTable writes footer, metaindex, properties, index and all entries.
func (t *BlockBasedTable) DumpTable(out io.Writer, showSequenceNumberType bool) error {
	w := bufio.NewWriter(out)
	ro := rocksdb.DefaultReadOptions()
	rc := readContext{ro: &ro}
	fmt.Fprintf(w, "Footer Details:\n%s  %s\n", dumpRule, t.footer.ToString())
	fmt.Fprintf(w, "Block Checksum Type Legend:\n%s  0 = kNoChecksum\n  1 = kCRC32c\n  2 = kxxHash\n  3 = kxxHash64\n"+
		"  4 = kXXH3\n  (This file uses checksum type: %d)\n\n", dumpRule, t.footer.ChecksumType)
	if err := t.dumpMetaindex(w, &rc); err != nil {
		return err
	}
	fmt.Fprintf(w, "Table Properties:\n%s  %s\n", dumpRule, t.propertiesText())
	if t.filter != nil {
		fmt.Fprintf(w, "Filter Details:\n%s  \n", dumpRule)
	}
	if err := t.dumpIndex(w, &rc); err != nil {
		return err
	}
	if t.dict != nil {
		e, err := t.dict.get(&rc)
		if err != nil {
			return err
		}
		raw := e.Value().contents.Data
		fmt.Fprintf(w, "Compression Dictionary:\n%s  size (bytes): %d\n\n  HEX    %s\n\n", dumpRule, len(raw), util.SliceToHex(raw))
		e.Release()
	}
	if it := t.NewRangeTombstoneIterator(&ro); it != nil {
		if it.SeekToFirst(); it.Valid() {
			fmt.Fprintf(w, "Range deletions:\n%s", dumpRule)
			for ; it.Valid(); it.Next() {
				dumpKeyValue(w, it.Key(), it.Value(), showSequenceNumberType)
			}
			fmt.Fprint(w, "\n")
		}
	}
	if err := t.dumpData(w, &rc, showSequenceNumberType); err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return rocksdb.IOError("Failed to write to output file", err.Error()).Wrap(err)
	}
	return nil
}

func (t *BlockBasedTable) dumpMetaindex(w io.Writer, rc *readContext) error {
	fmt.Fprintf(w, "Metaindex Details:\n%s", dumpRule)
	m := table.MetaReader{File: t.file, FileSize: t.fileSize, ReadOptions: rc.ro, IOptions: t.ioptions, OldFormats: t.isOldFormat()}
	meta, _, err := m.ReadMetaIndexBlock(format.BlockBasedTableMagicNumber)
	if err != nil {
		return err
	}
	defer meta.Free()
	t.dumpChecksum(w, t.footer.MetaindexHandle, "Metaindex block")
	it := meta.NewMetaIterator(true)
	for it.SeekToFirst(); it.Valid(); it.Next() {
		var h format.BlockHandle
		name := string(it.Key())
		if _, err := h.DecodeFrom(it.Value()); err != nil {
			fmt.Fprintf(w, "  Skip the block with type %s due to error: %v\n\n", name, err)
			continue
		}
		kind := ""
		switch {
		case name == table.PropertiesBlockName:
			kind = "Properties block"
		case name == table.CompressionDictBlockName:
			kind = "Compression dictionary block"
		case strings.Contains(name, "filter.rocksdb."):
			kind = "Filter block"
		case name == table.RangeDelBlockName:
			kind = "Range deletion block"
		default:
			continue
		}
		fmt.Fprintf(w, "  %s handle: %s\n", kind, util.SliceToHex(it.Value()))
		t.dumpChecksum(w, h, kind)
	}
	fmt.Fprint(w, "\n")
	return t.located(it.Status(), t.footer.MetaindexHandle)
}

// dumpChecksum tells a block's stored checksum, the context removed.
func (t *BlockBasedTable) dumpChecksum(w io.Writer, h format.BlockHandle, name string) {
	if !h.FitsIn(t.fileSize, format.BlockTrailerSize) {
		fmt.Fprintf(w, "  ERROR: Failed to read %s checksum info - outside the file\n", name)
		return
	}
	opts := rocksdb.DefaultIOOptions()
	n := format.BlockTrailerSize
	var aligned *file.AlignedBuf
	if t.file.UseDirectIO() {
		aligned = new(file.AlignedBuf)
	}
	trailer, err := t.file.Read(&opts, h.Offset+h.Size, n, make([]byte, n), aligned)
	if err != nil || len(trailer) != n {
		fmt.Fprintf(w, "  ERROR: Failed to read %s checksum info - read %d bytes, %v\n", name, len(trailer), err)
		return
	}
	sum := util.DecodeFixed32(trailer[1:]) - format.ChecksumModifierForContext(t.footer.BaseContextChecksum, h.Offset)
	fmt.Fprintf(w, "  %s checksum type: %d  checksum value: 0x%x  offset: %d  size: %d  compression type: %d\n",
		name, t.footer.ChecksumType, sum, h.Offset, h.Size, trailer[0])
}

func (t *BlockBasedTable) dumpIndex(w io.Writer, rc *readContext) error {
	fmt.Fprintf(w, "Index Details:\n%s", dumpRule)
	t.dumpChecksum(w, t.indexHandle, "Index block")
	it := t.newIndexIterator(rc, true, nil)
	defer it.Close() //nolint:errcheck // its status is returned
	if err := it.Status(); err != nil {
		fmt.Fprint(w, "Can not read Index Block \n\n")
		return err
	}
	fmt.Fprint(w, "  Block key hex dump: Data block handle\n  Block key ascii\n\n")
	for it.SeekToFirst(); it.Valid(); it.Next() {
		v := it.Value()
		fmt.Fprintf(w, "  HEX    %s: %s offset %d size %d\n  ASCII  %s\n  ------\n", util.SliceToHex(it.UserKey()),
			v.ToString(t.indexFirstKey), v.Handle.Offset, v.Handle.Size, spaced(it.UserKey(), false))
	}
	fmt.Fprint(w, "\n")
	return it.Status()
}

// spaced puts a space after each byte; zeros may be shown as \0.
func spaced(b []byte, zeros bool) string {
	var s strings.Builder
	for _, c := range b {
		if zeros && c == 0 {
			s.WriteString("\\0")
		} else {
			s.WriteByte(c)
		}
		s.WriteByte(' ')
	}
	return s.String()
}

func (t *BlockBasedTable) dumpData(w io.Writer, rc *readContext, showSequenceNumberType bool) error {
	it := t.newIndexIterator(rc, true, nil)
	defer it.Close() //nolint:errcheck // its status is returned
	if err := it.Status(); err != nil {
		fmt.Fprint(w, "Can not read Index Block \n\n")
		return err
	}
	var n, least, most, sum uint64 = 0, math.MaxUint64, 0, 0
	var data block.DataBlockIter
	defer data.Invalidate(nil)
	for it.SeekToFirst(); it.Valid(); it.Next() {
		h := it.Value().Handle
		n++
		least, most, sum = min(least, h.Size), max(most, h.Size), sum+h.Size
		fmt.Fprintf(w, "Data Block # %d @ %s\n", n, h.ToString())
		t.dumpChecksum(w, h, "Data block")
		fmt.Fprint(w, dumpRule)
		t.newDataBlockIterator(rc, h, block.TypeData, &data)
		if data.Status() != nil {
			fmt.Fprint(w, "Error reading the block - Skipped \n\n")
			continue
		}
		for data.SeekToFirst(); data.Valid(); data.Next() {
			dumpKeyValue(w, data.Key(), data.Value(), showSequenceNumberType)
		}
		if data.Status() != nil {
			fmt.Fprint(w, "Error reading the block - Skipped \n")
		}
		fmt.Fprint(w, "\n")
	}
	if n > 0 {
		fmt.Fprintf(w, "Data Block Summary:\n%s  # data blocks: %d\n  min data block size: %d\n  max data block size: %d\n"+
			"  avg data block size: %f\n", dumpRule, n, least, most, float64(sum)/float64(n))
	}
	return it.Status()
}

func dumpKeyValue(w io.Writer, key, value []byte, showSequenceNumberType bool) {
	p, err := dbformat.ParseInternalKey(key, true)
	if err != nil {
		fmt.Fprint(w, "Error parsing internal key - Skipped \n")
		return
	}
	seq := ""
	if showSequenceNumberType {
		seq = fmt.Sprintf("  seq: %d  type: %d ", p.Sequence, p.Type)
	}
	fmt.Fprintf(w, "  HEX    %s%s: %s\n  ASCII  %s: %s\n  ------\n", util.SliceToHex(p.UserKey), seq, util.SliceToHex(value),
		spaced(p.UserKey, true), spaced(value, true))
}
