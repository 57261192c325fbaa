// Port of table/block_based/block_prefetcher.{h,cc}.

package blockbased

import (
	"github.com/rocksdb-go/rocksdb/file"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/table"
	"github.com/rocksdb-go/rocksdb/table/format"
	"github.com/rocksdb-go/rocksdb/table/internaliter"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

// blockPrefetcher decides when an iterator reads ahead: always in compactions
// and where ReadOptions say how much, else after a few sequential reads.
type blockPrefetcher struct {
	t             *BlockBasedTable
	ro            *rocksdb.ReadOptions
	forCompaction bool
	readahead     int  // ReadOptions.ReadaheadSize, or 0 to decide by the reads
	async         bool // a second buffer is filled while the first is used
	compaction    int  // readahead of compactions, bytes
	initial       int
	size          int    // of the next readahead by the file system
	limit         uint64 // up to where the file system has read ahead
	numFileReads  uint64
	prevOffset    uint64
	prevLen       int
	buffer        *file.FilePrefetchBuffer
	// trim narrows what the buffer is about to read; nil where it is not to be.
	trim func(current bool, start, end *uint64)
}

func (p *blockPrefetcher) init(t *BlockBasedTable, ro *rocksdb.ReadOptions, forCompaction bool, compactionReadahead uint64) {
	p.t, p.ro, p.forCompaction, p.compaction = t, ro, forCompaction, int(compactionReadahead)
	p.initial = int(t.opts.InitialAutoReadaheadSize)
	p.size = p.initial
}

// setReadaheadState goes on with the readahead of the file before, where that had
// begun.
func (p *blockPrefetcher) setReadaheadState(info internaliter.ReadaheadInfo) {
	if !p.ro.AdaptiveReadahead || info.ReadaheadSize == 0 {
		return
	}
	p.numFileReads = uint64(info.NumFileReads)
	p.initial = info.ReadaheadSize
	syncpoint.ProcessArg("BlockPrefetcher::SetReadaheadState", &p.initial)
}

// readaheadState is what setReadaheadState of the next file takes.
func (p *blockPrefetcher) readaheadState() (info internaliter.ReadaheadInfo) {
	if p.buffer != nil && p.ro.AdaptiveReadahead {
		s := p.buffer.GetReadaheadState()
		info = internaliter.ReadaheadInfo{ReadaheadSize: s.ReadaheadSize, NumFileReads: int64(s.NumFileReads)}
	}
	return info
}

func (p *blockPrefetcher) close() {
	if p.buffer != nil {
		p.buffer.Close()
		p.buffer = nil
	}
}

// usable gives the buffer as an interface, nil when there is none.
func (p *blockPrefetcher) usable() table.PrefetchBuffer {
	if p.buffer == nil {
		return nil
	}
	return p.buffer
}

func (p *blockPrefetcher) create(params file.ReadaheadParams, usage file.FilePrefetchBufferUsage) {
	if p.buffer == nil {
		params.NumBuffers = 1
		o := file.PrefetchBufferOptions{
			ReadaheadParams: params, Disable: p.t.ioptions.AllowMmapReads, FS: p.t.ioptions.FS, Stats: p.t.ioptions.Stats, Usage: usage,
		}
		if usage == file.UserScanPrefetch {
			o.ReadaheadSizeCB = p.trim
			if p.async {
				o.NumBuffers = 2
			}
		}
		p.buffer = file.NewFilePrefetchBuffer(&o)
	}
}

// prefetchIfNeeded is called before each block is read; it gives the buffer to
// read through, if there is one. always: there is one from the first read on,
// because it is to be asynchronous.
func (p *blockPrefetcher) prefetchIfNeeded(h format.BlockHandle, always bool) table.PrefetchBuffer {
	if p.ro.ReadTier == rocksdb.BlockCacheTier {
		return nil
	}
	if p.buffer != nil {
		return p.buffer
	}
	n := int(h.Size) + format.BlockTrailerSize
	switch {
	case p.forCompaction:
		p.prefetchCompaction(h.Offset, n)
	case p.readahead > 0:
		p.create(file.ReadaheadParams{InitialReadaheadSize: p.readahead, MaxReadaheadSize: p.readahead}, file.UserScanPrefetch)
	default:
		p.prefetchImplicit(h.Offset, n, always)
	}
	return p.usable()
}

func (p *blockPrefetcher) prefetchCompaction(offset uint64, n int) {
	if p.compaction <= 0 {
		return
	}
	if !p.t.file.UseDirectIO() && p.t.fsPrefetch {
		if offset+uint64(n) <= p.limit {
			return
		}
		if handled := p.fsPrefetch(offset, n, p.compaction); handled {
			return
		}
	}
	p.create(file.ReadaheadParams{InitialReadaheadSize: p.compaction, MaxReadaheadSize: p.compaction}, file.CompactionPrefetch)
}

// fsPrefetch lets the file system read ahead; false when it cannot.
func (p *blockPrefetcher) fsPrefetch(offset uint64, n, ahead int) bool {
	var opts rocksdb.IOOptions
	if p.t.file.PrepareIOOptions(p.ro, &opts) != nil {
		return true // the read itself will tell
	}
	err := p.t.file.Prefetch(&opts, offset, n+ahead)
	if err == nil {
		p.limit = offset + uint64(n+ahead)
	}
	return !rocksdb.IsNotSupported(err)
}

func (p *blockPrefetcher) prefetchImplicit(offset uint64, n int, always bool) {
	most := int(p.t.opts.MaxAutoReadaheadSize)
	if most == 0 || p.initial == 0 {
		return
	}
	p.initial = min(p.initial, most)
	params := file.ReadaheadParams{
		InitialReadaheadSize: p.initial, MaxReadaheadSize: most, ImplicitAutoReadahead: true,
		NumFileReadsForAutoReadahead: p.t.opts.NumFileReadsForAutoReadahead,
	}
	if always {
		p.create(params, file.UserScanPrefetch)
		return
	}
	sequential := p.prevLen == 0 || p.prevOffset+uint64(p.prevLen) == offset
	ahead := offset+uint64(n) <= p.limit
	p.prevOffset, p.prevLen = offset, n
	if ahead {
		return
	}
	if !sequential {
		p.numFileReads, p.limit = 1, 0
		p.initial = int(p.t.opts.InitialAutoReadaheadSize)
		p.size = p.initial
		return
	}
	p.numFileReads++
	if p.numFileReads <= p.t.opts.NumFileReadsForAutoReadahead {
		return
	}
	if !p.t.file.UseDirectIO() && p.t.fsPrefetch {
		p.size = min(p.size, most)
		if p.fsPrefetch(offset, n, p.size) {
			p.size = min(most, p.size*2)
			return
		}
	}
	params.NumFileReads = p.numFileReads
	p.create(params, file.UserScanPrefetch)
}
