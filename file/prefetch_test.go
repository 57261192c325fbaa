// Port of file/prefetch_test.cc (FilePrefetchBufferTest, FSBufferPrefetchTest).

package file_test

import (
	"testing"

	"github.com/rocksdb-go/rocksdb/file"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/monitoring"
	"github.com/rocksdb-go/rocksdb/util"
)

// prefetchTest has a file of random content and a buffer over it.
type prefetchTest struct {
	*testing.T
	src     *source
	r       *file.RandomAccessFileReader
	content string
	stats   *monitoring.StatisticsImpl
	b       *file.FilePrefetchBuffer
}

func newPrefetchTest(t *testing.T, size int, o *file.PrefetchBufferOptions) *prefetchTest {
	p := &prefetchTest{T: t, content: util.NewRandom(1).RandomString(size), stats: monitoring.NewStatisticsImpl(nil)}
	p.src = newSource(p.content)
	p.r = file.NewRandomAccessFileReader(p.src, "f", nil)
	o.Stats = p.stats
	p.b = file.NewFilePrefetchBuffer(o)
	return p
}

func (p *prefetchTest) read(off, n int, forCompaction bool) {
	p.Helper()
	got, hit, err := p.b.TryReadFromCache(nil, p.r, uint64(off), n, forCompaction)
	ok(p.T, err)
	eq(p.T, hit, true)
	if string(got) != p.content[off:min(len(p.content), off+n)] {
		p.Fatalf("%d bytes at %d: other data", n, off)
	}
}

func (p *prefetchTest) want(hits, useful uint64) {
	p.Helper()
	eq(p.T, [2]uint64{p.stats.GetTickerCount(rocksdb.PrefetchHits), p.stats.GetTickerCount(rocksdb.PrefetchBytesUseful)}, [2]uint64{hits, useful})
}

func TestFilePrefetchBufferTest_SyncReadaheadStats(t *testing.T) {
	p := newPrefetchTest(t, 32768, &file.PrefetchBufferOptions{
		ReadaheadParams: file.ReadaheadParams{InitialReadaheadSize: 8192, MaxReadaheadSize: 8192}, Usage: file.UserScanPrefetch})
	p.read(0, 4096, false) // and 8192 more
	p.want(0, 0)
	p.b.UpdateReadPattern(4096, 4096, false) // found in the block cache
	p.read(8192, 8192, false)
	p.want(0, 4096)
	p.read(12288, 4096, false)
	p.want(1, 8192)
	p.read(16000, 10000, false)
	p.want(1, 8192+8576)
	eq(t, p.stats.GetTickerCount(rocksdb.PrefetchBytes), 3*12288)
}

func TestFilePrefetchBufferTest_ForCompaction(t *testing.T) {
	p := newPrefetchTest(t, 64<<10, &file.PrefetchBufferOptions{
		ReadaheadParams: file.ReadaheadParams{InitialReadaheadSize: 8192, MaxReadaheadSize: 8192, NumBuffers: 1}})
	p.read(0, 3000, true)
	p.read(3000, 10000, true)
	p.read(15000, 4096, true)
	p.read(40000, 20000, true)
	p.read(60000, 10000, true) // beyond the end
	_, hit, err := p.b.TryReadFromCache(nil, p.r, 64<<10, 100, true)
	ok(t, err)
	eq(t, hit, false)
}

// The cases below are not upstream's; its database tests cover them.

func TestFilePrefetchBuffer_AutoReadahead(t *testing.T) {
	p := newPrefetchTest(t, 1<<20, &file.PrefetchBufferOptions{ReadaheadParams: file.ReadaheadParams{
		InitialReadaheadSize: 8192, MaxReadaheadSize: 32768, ImplicitAutoReadahead: true, NumFileReadsForAutoReadahead: 2}})
	miss := func(off, n int) {
		t.Helper()
		_, hit, err := p.b.TryReadFromCache(nil, p.r, uint64(off), n, false)
		ok(t, err)
		eq(t, hit, false)
	}
	miss(0, 4096)
	miss(4096, 4096)
	p.read(8192, 4096, false)
	eq(t, p.b.GetReadaheadState().ReadaheadSize, 16384)
	p.read(12288, 8192, false) // buffered
	p.read(20480, 4096, false)
	eq(t, p.b.GetReadaheadState().ReadaheadSize, 32768)
	p.read(24576, 32768, false)
	eq(t, p.b.GetReadaheadState().ReadaheadSize, 32768)
	// The block cache had a block that would have been read ahead from.
	p.b.UpdateReadPattern(57344, 65536, true)
	eq(t, p.b.GetReadaheadState().ReadaheadSize, 32768-file.DefaultDecrement)
	// A jump begins anew.
	miss(900000, 4096)
	eq(t, p.b.GetReadaheadState(), file.ReadaheadInfo{ReadaheadSize: 8192, NumFileReads: 1})
}

func TestFilePrefetchBuffer_Prefetch(t *testing.T) {
	p := newPrefetchTest(t, 100000, &file.PrefetchBufferOptions{TrackMinOffset: true, Usage: file.TableOpenPrefetchTail})
	ok(t, p.b.Prefetch(nil, p.r, 50000, 50000))
	reads := p.src.reads
	p.read(60000, 40000, false)
	p.read(50000, 10, false)
	eq(t, p.src.reads, reads)
	_, hit, err := p.b.TryReadFromCache(nil, p.r, 100, 10, false)
	ok(t, err)
	eq(t, hit, false)
	eq(t, p.b.MinOffsetRead(), 100)
	eq(t, p.b.GetPrefetchOffset(), 49152)
	eq(t, p.stats.GetTickerCount(rocksdb.TableOpenPrefetchTailHit), 2)
	eq(t, p.stats.GetTickerCount(rocksdb.TableOpenPrefetchTailMiss), 1)
	p.b.Close()
	eq(t, p.stats.GetHistogramData(rocksdb.HistPrefetchedBytesDiscarded).Count, 1)
}

func TestFilePrefetchBuffer_Trim(t *testing.T) {
	p := newPrefetchTest(t, 100000, &file.PrefetchBufferOptions{
		ReadaheadParams: file.ReadaheadParams{InitialReadaheadSize: 32768, MaxReadaheadSize: 32768},
		ReadaheadSizeCB: func(cur bool, start, end *uint64) {
			if !cur {
				t.Error("not the current block")
			}
			*end = *start + 4096
		},
	})
	p.read(0, 4096, false)
	_, hit, err := p.b.TryReadFromCache(nil, nil, 4096, 1, false)
	ok(t, err)
	eq(t, hit, false)
	eq(t, p.stats.GetTickerCount(rocksdb.ReadaheadTrimmed), 1)
}

func TestFilePrefetchBuffer_BadOffsets(t *testing.T) {
	p := newPrefetchTest(t, 1000, &file.PrefetchBufferOptions{
		ReadaheadParams: file.ReadaheadParams{InitialReadaheadSize: 8192, MaxReadaheadSize: 8192}})
	for _, off := range []uint64{1 << 40, 1<<64 - 1, 1<<64 - 5000} {
		if _, hit, _ := p.b.TryReadFromCache(nil, p.r, off, 100, false); hit {
			t.Errorf("read at %d", off)
		}
	}
	p.read(0, 100, false)
}
