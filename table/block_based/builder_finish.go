// Port of table/block_based/block_based_table_builder.cc: what Finish writes.

package blockbased

import (
	"strings"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/logging"
	"github.com/rocksdb-go/rocksdb/table"
	"github.com/rocksdb-go/rocksdb/table/block_based/block"
	"github.com/rocksdb-go/rocksdb/table/format"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

// Prefixes of filter blocks' names in the metaindex; the policy's compatibility
// name follows.
const (
	ObsoleteFilterBlockPrefix    = "filter."
	FullFilterBlockPrefix        = "fullfilter."
	PartitionedFilterBlockPrefix = "partitionedfilter."
)

// Finish writes all after the data blocks: filter, index, dictionary, range
// deletions, properties, metaindex, footer.
func (b *BlockBasedTableBuilder) Finish() error {
	if b.state == stateClosed {
		return b.addFailed()
	}
	if syncpoint.Enabled {
		err := b.Status()
		syncpoint.ProcessArg("BlockBasedTableBuilder::Finish:ParallelIOStatus", &err)
		if err != nil {
			b.setErr(err)
		}
	}
	b.flush(nil)
	if b.state == stateBuffered {
		b.maybeEnterUnbuffered(nil)
	}
	b.stopParallel()
	b.props.TailStartOffset = b.offset.Load()
	meta := table.NewMetaIndexBuilder()
	b.writeFilter(meta)
	indexHandle := b.writeIndex(meta)
	b.writeDictionary(meta)
	if !b.failed.Load() && !b.rangeDelBlock.Empty() {
		meta.Add(table.RangeDelBlockName, b.writeRaw(b.rangeDelBlock.Finish(), block.TypeRangeDeletion))
	}
	b.writeProperties(meta)
	if !b.failed.Load() {
		metaHandle := b.writeRaw(meta.Finish(), block.TypeMetaIndex)
		b.writeFooter(metaHandle, indexHandle)
	}
	b.tailSize = b.offset.Load() - b.props.TailStartOffset
	b.close()
	return b.Status()
}

// Abandon drops the table.
func (b *BlockBasedTableBuilder) Abandon() {
	if b.state == stateClosed {
		return
	}
	b.setErr(rocksdb.Aborted("table builder was abandoned"))
	b.stopParallel()
	b.close()
}

func (b *BlockBasedTableBuilder) close() {
	b.state = stateClosed
	if b.filter != nil {
		b.filter.ResetFilterBitsBuilder()
	}
	if b.buffered.reservation != nil {
		b.buffered.reservation.Close()
		b.buffered.reservation = nil
	}
	b.buffered.blocks = nil
	b.comp.release()
}

func (b *BlockBasedTableBuilder) writeFilter(meta *table.MetaIndexBuilder) {
	if b.failed.Load() || b.filter == nil || b.filter.IsEmpty() {
		return
	}
	if len(b.lastIKey) > 0 {
		b.filter.PrevKeyBeforeFinish(extractUserKeyNoTS(b.lastIKey, b.tsSize))
	}
	b.props.NumFilterEntries += uint64(b.filter.EstimateEntriesAdded())
	var handle format.BlockHandle
	for more := true; more && !b.failed.Load(); {
		var contents []byte
		var err error
		if contents, more, err = b.filter.Finish(handle); err != nil {
			b.setErr(err)
			return
		}
		b.props.FilterSize += uint64(len(contents))
		t := block.TypeFilter
		if b.opts.PartitionFilters && !more {
			t = block.TypeFilterPartitionIndex
		}
		handle = b.writeRaw(contents, t)
	}
	if b.failed.Load() {
		return
	}
	prefix := FullFilterBlockPrefix
	if b.opts.PartitionFilters {
		prefix = PartitionedFilterBlockPrefix
	}
	meta.Add(prefix+b.opts.FilterPolicy.CompatibilityName(), handle)
}

func (b *BlockBasedTableBuilder) writeIndex(meta *table.MetaIndexBuilder) (handle format.BlockHandle) {
	if b.failed.Load() {
		return handle
	}
	write := func(contents []byte) format.BlockHandle {
		if b.opts.EnableIndexCompression {
			h, _ := b.writeBlock(contents, block.TypeIndex)
			return h
		}
		return b.writeRaw(contents, block.TypeIndex)
	}
	first := true
	for more := true; more; {
		var blocks IndexBlocks
		var err error
		if blocks, more, err = b.index.Finish(handle); err != nil {
			b.setErr(err)
			return handle
		}
		for _, m := range blocks.MetaBlocks {
			h, _ := b.writeBlock(m.Contents, block.TypeIndex)
			if b.failed.Load() {
				return handle
			}
			meta.Add(m.Name, h)
		}
		if first {
			b.writeUserIndex(meta)
			first = false
		}
		if handle = write(blocks.IndexBlockContents); b.failed.Load() {
			return handle
		}
	}
	b.props.NumUniformBlocks = b.index.NumUniformIndexBlocks()
	if !format.FormatVersionUsesIndexHandleInFooter(b.opts.FormatVersion) {
		meta.Add(table.IndexBlockName, handle)
	}
	return handle
}

// writeDictionary is upstream's
// BlockBasedTableBuilder::WriteCompressionDictBlock.
func (b *BlockBasedTableBuilder) writeDictionary(meta *table.MetaIndexBuilder) {
	if b.failed.Load() || b.comp.data == nil {
		return
	}
	if dict := b.comp.data.GetSerializedDict(); len(dict) > 0 {
		meta.Add(table.CompressionDictBlockName, b.writeRaw(dict, block.TypeCompressionDictionary))
		syncpoint.ProcessArg("BlockBasedTableBuilder::WriteCompressionDictBlock:RawDict", dict)
	}
}

func (b *BlockBasedTableBuilder) writeProperties(meta *table.MetaIndexBuilder) {
	if b.failed.Load() {
		return
	}
	b.finishProperties()
	if b.embedded != nil {
		b.embedded.finish(&b.props)
	}
	props := table.NewPropertyBlockBuilder()
	props.AddTableProperty(&b.props)
	if !table.NotifyCollectTableCollectorsOnFinish(b.collectors, b.ioptions.Logger, props,
		b.props.UserCollectedProperties, b.props.ReadableProperties) {
		logging.Warn(b.ioptions.Logger, "table properties of file %d are incomplete", b.props.OrigFileNumber)
	}
	data := props.Finish()
	syncpoint.ProcessArg("BlockBasedTableBuilder::WritePropertiesBlock:BlockData", &data)
	h := b.writeRaw(data, block.TypeProperties)
	syncpoint.ProcessArg("BlockBasedTableBuilder::WritePropertiesBlock:GetPropsBlockOffset", &h.Offset)
	syncpoint.ProcessArg("BlockBasedTableBuilder::WritePropertiesBlock:GetPropsBlockSize", &h.Size)
	meta.Add(table.PropertiesBlockName, h)
}

func nameOrNullptr(present bool, name func() string) string {
	if present {
		return name()
	}
	return "nullptr"
}

func (b *BlockBasedTableBuilder) finishProperties() {
	p, o := &b.props, b.ioptions
	if b.opts.FilterPolicy != nil {
		p.FilterPolicyName = b.opts.FilterPolicy.Name()
	}
	p.IndexSize = uint64(b.index.IndexSize()) + format.BlockTrailerSize
	p.ComparatorName = nameOrNullptr(o.UserComparator != nil, func() string { return o.UserComparator.Name() })
	p.MergeOperatorName = nameOrNullptr(o.MergeOperator != nil, func() string { return o.MergeOperator.Name() })
	p.PrefixExtractorName = nameOrNullptr(b.prefixExtractor != nil, func() string { return b.prefixExtractor.AsString() })
	var collectors []string
	for _, f := range o.TablePropertiesCollectorFactories {
		collectors = append(collectors, f.Name())
	}
	p.PropertyCollectorsNames = "[" + strings.Join(collectors, ",") + "]"
	b.finishCompressionProperties()
	if pi := b.partitionedIndex; pi != nil {
		p.IndexPartitions = uint64(pi.NumPartitions())
		p.TopLevelIndexSize = uint64(pi.TopLevelIndexSize())
	}
	p.IndexKeyIsUserKey = b2u(!b.index.SeparatorIsKeyPlusSeq())
	p.IndexValueIsDeltaEncoded = b2u(b.valueDeltaInIdx)
	b.finishSampleProperties()
	p.UserDefinedTimestampsPersisted = b2u(b.persistTS)
	p.NumDataBlocksCompressionRejected = b.comp.rejected.Load()
	p.NumDataBlocksCompressionBypassed = b.comp.bypassed.Load()
}

func b2u(v bool) uint64 {
	if v {
		return 1
	}
	return 0
}

func (b *BlockBasedTableBuilder) finishSampleProperties() {
	c := &b.comp
	compressible, uncompressible := c.compressible.Load(), c.uncompressible.Load()
	estimate := func(out uint64) uint64 {
		return uint64(float64(out)/float64(c.sampledIn)*float64(compressible) + float64(uncompressible) + 0.5)
	}
	switch {
	case c.sampledIn > 0:
		b.props.SlowCompressionEstimatedDataSize = estimate(c.sampledSlow)
		b.props.FastCompressionEstimatedDataSize = estimate(c.sampledFast)
	case c.sampleOneIn > 0:
		// None was sampled; say that nothing shrinks.
		b.props.SlowCompressionEstimatedDataSize = compressible + uncompressible
		b.props.FastCompressionEstimatedDataSize = compressible + uncompressible
	}
}

func (b *BlockBasedTableBuilder) writeFooter(meta, index format.BlockHandle) {
	if b.failed.Load() {
		return
	}
	footer, err := format.BuildFooter(&format.Footer{
		TableMagicNumber: format.BlockBasedTableMagicNumber, FormatVersion: b.opts.FormatVersion,
		BaseContextChecksum: b.contextChecksum, MetaindexHandle: meta, IndexHandle: index,
		ChecksumType: b.opts.Checksum,
	}, b.offset.Load())
	if err == nil {
		err = b.file.Append(&b.ioOpts, footer, 0)
	}
	if err != nil {
		b.setErr(err)
		return
	}
	b.preCompression += uint64(len(footer))
	b.offset.Add(uint64(len(footer)))
}
