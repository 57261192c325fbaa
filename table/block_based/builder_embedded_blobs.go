// Port of table/block_based/block_based_table_builder.cc: large values written as
// blobs between the data blocks.

package blockbased

import (
	"math"

	"github.com/rocksdb-go/rocksdb/db/blob/blobformat"
	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/db/wide"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/table"
)

// embeddedBlobWriter is a builder's way to write blobs. Its buffers are used
// again for each entry.
type embeddedBlobWriter struct {
	b       *BlockBasedTableBuilder
	minSize uint64 // bytes
	format  blobformat.SimpleGen2Format
	stats   table.EmbeddedBlobStats

	key, index, entity []byte
	columns            rocksdb.WideColumns
	blobs              []wide.BlobColumn
}

func newEmbeddedBlobWriter(b *BlockBasedTableBuilder, o *rocksdb.SstFileWriterEmbeddedBlobOptions) *embeddedBlobWriter {
	return &embeddedBlobWriter{b: b, minSize: o.MinBlobSize,
		format: blobformat.SimpleGen2Format{Checksum: b.opts.Checksum, BaseContextChecksum: b.contextChecksum}}
}

// extract writes what is large of a value, and gives the entry that stands for
// it in the table, valid until the next call.
// Upstream: BlockBasedTableBuilder::MaybeExtractEmbeddedBlobs.
func (w *embeddedBlobWriter) extract(ikey, value []byte, t dbformat.ValueType) (_, _ []byte, err error) {
	switch t {
	case dbformat.TypeValue:
		if uint64(len(value)) < w.minSize {
			break
		}
		index, err := w.write(value)
		if err != nil {
			return nil, nil, err
		}
		w.key = appendKeyOfType(w.key[:0], ikey, dbformat.TypeBlobIndex)
		w.index = index.EncodeTo(w.index[:0])
		return w.key, w.index, nil
	case dbformat.TypeWideColumnEntity:
		value, err = w.extractColumns(value)
	}
	return ikey, value, err
}

// extractColumns is upstream's
// BlockBasedTableBuilder::BuildEmbeddedWideColumnEntity.
func (w *embeddedBlobWriter) extractColumns(entity []byte) ([]byte, error) {
	var err error
	if w.columns, err = wide.DeserializeSimple(w.columns[:0], entity); err != nil {
		return nil, err
	}
	w.blobs = w.blobs[:0]
	for i, c := range w.columns {
		if uint64(len(c.Value)) < w.minSize {
			continue
		}
		index, err := w.write(c.Value)
		if err != nil {
			return nil, err
		}
		w.blobs = append(w.blobs, wide.BlobColumn{Column: i, Index: index})
	}
	if len(w.blobs) == 0 {
		return entity, nil
	}
	w.entity, err = wide.SerializeV2(w.entity[:0], w.columns, w.blobs)
	return w.entity, err
}

// write appends a blob to the file. There is no other goroutine that writes: a
// builder with blobs does not compress in parallel.
// Upstream: BlockBasedTableBuilder::WriteEmbeddedBlobRecord.
func (w *embeddedBlobWriter) write(payload []byte) (index blobformat.BlobIndex, err error) {
	if uint64(len(payload)) > math.MaxUint32 {
		return index, rocksdb.InvalidArgument("Embedded blob value is too large")
	}
	offset := w.b.offset.Load()
	if err := w.format.Write(w.b.file, &w.b.ioOpts, offset, payload); err != nil {
		return index, err
	}
	size := uint64(len(payload))
	w.b.offset.Add(size + blobformat.SimpleGen2BlobTrailerSize)
	w.stats.BlobCount++
	w.stats.PayloadBytes += size
	return blobformat.BlobIndex{Type: blobformat.BlobIndexBlob, FileNumber: blobformat.CurrentFileBlobIndexFileNumber,
		Offset: offset, Size: size, Compression: rocksdb.NoCompression}, nil
}

// finish adds the property that tells readers of the blobs.
func (w *embeddedBlobWriter) finish(p *rocksdb.TableProperties) {
	if w.stats.BlobCount > 0 {
		p.UserCollectedProperties[table.EmbeddedBlobSstStatsPropertyName] = string(w.stats.EncodeTo(nil))
	}
}
