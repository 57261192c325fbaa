// Port of file/random_access_file_reader.{h,cc} and
// random_access_file_reader_sync_and_async.h. Differs: no coroutines; Close
// has to be called.

package file

import (
	"slices"
	"sync/atomic"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/monitoring"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

// ReaderOptions are a RandomAccessFileReader's. The zero value has none of it.
type ReaderOptions struct {
	// Clock may be nil: the system's.
	Clock rocksdb.SystemClock
	Stats rocksdb.Statistics
	// HistType receives the time of each read; 0 is none.
	HistType rocksdb.Histogram
	// FileReadHist receives it too, if not nil and Stats are not.
	FileReadHist    *monitoring.HistogramImpl
	RateLimiter     rocksdb.RateLimiter
	Listeners       []rocksdb.EventListener
	FileTemperature rocksdb.Temperature
	IsLastLevel     bool
}

// RandomAccessFileReader reads a file at any offset, at the pace of a rate
// limiter, and counts. It is safe for concurrent use.
type RandomAccessFileReader struct {
	file         rocksdb.FSRandomAccessFile
	name         string
	clock        rocksdb.SystemClock
	stats        rocksdb.Statistics
	histType     rocksdb.Histogram
	fileReadHist *monitoring.HistogramImpl
	rateLimiter  rocksdb.RateLimiter
	listeners    ioListeners
	temperature  rocksdb.Temperature
	lastLevel    bool
	directIO     bool
	alignment    int
	refs         atomic.Int64 // the owner's, until it calls Close, and pins
}

// NewRandomAccessFileReader takes file over. o may be nil.
func NewRandomAccessFileReader(file rocksdb.FSRandomAccessFile, name string, o *ReaderOptions) *RandomAccessFileReader {
	if o == nil {
		o = &ReaderOptions{}
	}
	r := &RandomAccessFileReader{
		file: file, name: name, clock: o.Clock, stats: o.Stats, histType: o.HistType,
		fileReadHist: o.FileReadHist, rateLimiter: o.RateLimiter,
		listeners:   newIOListeners(o.Listeners, name, o.FileTemperature),
		temperature: o.FileTemperature, lastLevel: o.IsLastLevel,
		directIO: file.UseDirectIO(), alignment: file.GetRequiredBufferAlignment(),
	}
	if r.clock == nil {
		r.clock = rocksdb.DefaultSystemClock()
	}
	if r.histType == 0 {
		r.histType = rocksdb.HistogramEnumMax
	}
	r.refs.Store(1)
	return r
}

// CreateRandomAccessFileReader opens a file and makes its reader.
func CreateRandomAccessFileReader(fs rocksdb.FileSystem, name string, opts *rocksdb.FileOptions, o *ReaderOptions) (*RandomAccessFileReader, error) {
	f, err := fs.NewRandomAccessFile(name, opts)
	if err != nil {
		return nil, err
	}
	return NewRandomAccessFileReader(f, name, o), nil
}

func readHistogram(stats rocksdb.Statistics, a rocksdb.IOActivity) rocksdb.Histogram {
	switch a {
	case rocksdb.IOActivityFlush:
		return rocksdb.HistFileReadFlushMicros
	case rocksdb.IOActivityCompaction:
		return rocksdb.HistFileReadCompactionMicros
	case rocksdb.IOActivityDBOpen:
		return rocksdb.HistFileReadDBOpenMicros
	}
	if stats != nil && stats.GetStatsLevel() > rocksdb.ExceptDetailedTimers {
		switch a {
		case rocksdb.IOActivityGet:
			return rocksdb.HistFileReadGetMicros
		case rocksdb.IOActivityMultiGet:
			return rocksdb.HistFileReadMultigetMicros
		case rocksdb.IOActivityDBIterator:
			return rocksdb.HistFileReadDBIteratorMicros
		case rocksdb.IOActivityVerifyDBChecksum:
			return rocksdb.HistFileReadVerifyDBChecksumMicros
		case rocksdb.IOActivityVerifyFileChecksums:
			return rocksdb.HistFileReadVerifyFileChecksumsMicros
		}
	}
	return rocksdb.HistogramEnumMax
}

// recordIO counts a read by level and temperature.
func (r *RandomAccessFileReader) recordIO(io *rocksdb.IOStatsContext, size int) {
	n := uint64(size)
	io.AddBytesRead(n)
	if r.stats != nil {
		bytes, count := rocksdb.NonLastLevelReadBytes, rocksdb.NonLastLevelReadCount
		if r.lastLevel {
			bytes, count = rocksdb.LastLevelReadBytes, rocksdb.LastLevelReadCount
		}
		r.stats.RecordTick(bytes, n)
		r.stats.RecordTick(count, 1)
		if bytes, count, ok := temperatureTickers(r.temperature); ok {
			r.stats.RecordTick(bytes, n)
			r.stats.RecordTick(count, 1)
		}
	}
	if io != nil && !io.DisableIOStats {
		recordTemperature(&io.FileIOStatsByTemperature, r.temperature, r.lastLevel, n)
	}
}

func temperatureTickers(t rocksdb.Temperature) (bytes, count rocksdb.Ticker, ok bool) {
	switch t {
	case rocksdb.TemperatureHot:
		return rocksdb.HotFileReadBytes, rocksdb.HotFileReadCount, true
	case rocksdb.TemperatureWarm:
		return rocksdb.WarmFileReadBytes, rocksdb.WarmFileReadCount, true
	case rocksdb.TemperatureCool:
		return rocksdb.CoolFileReadBytes, rocksdb.CoolFileReadCount, true
	case rocksdb.TemperatureCold:
		return rocksdb.ColdFileReadBytes, rocksdb.ColdFileReadCount, true
	case rocksdb.TemperatureIce:
		return rocksdb.IceFileReadBytes, rocksdb.IceFileReadCount, true
	}
	return 0, 0, false
}

func recordTemperature(f *rocksdb.FileIOByTemperature, t rocksdb.Temperature, lastLevel bool, n uint64) {
	var bytes, count *uint64
	switch t {
	case rocksdb.TemperatureHot:
		bytes, count = &f.HotFileBytesRead, &f.HotFileReadCount
	case rocksdb.TemperatureWarm:
		bytes, count = &f.WarmFileBytesRead, &f.WarmFileReadCount
	case rocksdb.TemperatureCool:
		bytes, count = &f.CoolFileBytesRead, &f.CoolFileReadCount
	case rocksdb.TemperatureCold:
		bytes, count = &f.ColdFileBytesRead, &f.ColdFileReadCount
	case rocksdb.TemperatureIce:
		bytes, count = &f.IceFileBytesRead, &f.IceFileReadCount
	case rocksdb.TemperatureUnknown:
		bytes, count = &f.UnknownNonLastLevelBytesRead, &f.UnknownNonLastLevelReadCount
		if lastLevel {
			bytes, count = &f.UnknownLastLevelBytesRead, &f.UnknownLastLevelReadCount
		}
	default:
		return
	}
	*bytes += n
	*count++
}

// Read reads up to n bytes at offset; less only at the file's end. opts may be
// nil.
//
// The result is in scratch, which holds n bytes or more, or in the file's
// mapping, valid until the file is closed. With direct I/O, where memory and
// range have to be aligned, it is copied to scratch unless those are, or left
// in aligned, if that is not nil; scratch may then be nil.
func (r *RandomAccessFileReader) Read(opts *rocksdb.IOOptions, offset uint64, n int, scratch []byte, aligned *AlignedBuf) ([]byte, error) {
	opts = orDefault(opts)
	syncpoint.ProcessArg("RandomAccessFileReader::Read", nil)
	if n > 0 && len(scratch) > 0 {
		// Should the file claim to have read and not have, an older block
		// in scratch will not pass its checksum.
		scratch[0]++
	}
	sw := r.startTimer(opts.IOActivity)
	var t monitoring.PerfStepTimer
	if opts.IOStats != nil {
		startNanos(&t, opts.IOStats, &opts.IOStats.ReadNanos, r.clock)
	}
	var result []byte
	var err error
	if r.directIO && (aligned != nil || !r.requestAligned(offset, n, scratch)) {
		result, err = r.readDirect(opts, offset, n, scratch, aligned)
	} else {
		result, err = r.readPieces(opts, offset, n, scratch, &sw)
	}
	r.recordIO(opts.IOStats, len(result))
	t.Stop()
	elapsed := r.stopTimer(&sw)
	if r.stats != nil && r.fileReadHist != nil {
		r.fileReadHist.Add(elapsed)
	}
	syncpoint.ProcessArg("RandomAccessFileReader::Read::AnyOffset", r.name)
	syncpoint.ProcessArg("RandomAccessFileReader::Read::BeforeReturn", &err)
	return result, err
}

func (r *RandomAccessFileReader) requestAligned(offset uint64, n int, scratch []byte) bool {
	return (offset|uint64(n))&uint64(r.alignment-1) == 0 && isAligned(scratch, r.alignment)
}

func (r *RandomAccessFileReader) limited(opts *rocksdb.IOOptions) bool {
	return r.rateLimiter != nil && opts.RateLimiterPriority != rocksdb.IOTotal
}

// readOnce does one read of the file, timed and told of.
func (r *RandomAccessFileReader) readOnce(opts *rocksdb.IOOptions, offset uint64, n int, scratch []byte) ([]byte, error) {
	start := r.listeners.start()
	var cpu monitoring.PerfStepTimer
	if opts.IOStats != nil {
		startCPUNanos(&cpu, opts.IOStats, &opts.IOStats.CPUReadNanos, r.clock)
	}
	part, err := r.file.Read(offset, n, opts, scratch)
	cpu.Stop()
	r.listeners.notify(start, rocksdb.FileOperationTypeRead, rocksdb.FileOperationTypeRead, offset, len(part), err)
	return part, err
}

// readPieces reads what the rate limiter lets through at a time.
func (r *RandomAccessFileReader) readPieces(opts *rocksdb.IOOptions, offset uint64, n int, scratch []byte, sw *readTimer) ([]byte, error) {
	if !r.limited(opts) {
		part, err := r.readOnce(opts, offset, n, scratch)
		if err != nil {
			return nil, err
		}
		return part, nil
	}
	align := 0
	if r.directIO {
		align = r.alignment
	}
	delayed := r.rateLimiter.IsRateLimited(rocksdb.OpTypeRead)
	var result []byte
	pos := 0
	for pos < n {
		if delayed {
			r.startDelay(sw)
		}
		allowed := r.rateLimiter.RequestToken(n-pos, align, opts.RateLimiterPriority, r.stats, rocksdb.OpTypeRead)
		if delayed {
			r.stopDelay(sw)
		}
		var to []byte
		if scratch != nil {
			to = scratch[pos:]
		}
		part, err := r.readOnce(opts, offset+uint64(pos), allowed, to)
		if err != nil {
			return nil, err
		}
		switch {
		case pos == 0:
			result = part
		case scratch != nil && len(part) > 0 && &part[0] == &scratch[pos]:
			result = scratch[:pos+len(part)]
		default:
			// The next piece of a mapping.
			result = append(result[:pos:pos], part...)
		}
		pos += len(part)
		if len(part) < allowed {
			break
		}
	}
	return result[:pos], nil
}

// readDirect reads the pages around the range.
func (r *RandomAccessFileReader) readDirect(opts *rocksdb.IOOptions, offset uint64, n int, scratch []byte, aligned *AlignedBuf) ([]byte, error) {
	from := roundDown(offset, r.alignment)
	skip := int(offset - from)
	size := int(roundUp(offset+uint64(n), r.alignment) - from)
	keep := aligned != nil
	if !keep {
		aligned = alignedPool.Get().(*AlignedBuf)
		defer alignedPool.Put(aligned)
	}
	buf, err := aligned.get(size, r.alignment)
	if err != nil {
		return nil, err
	}
	done := 0
	for done < size {
		allowed := size - done
		if r.limited(opts) {
			allowed = r.rateLimiter.RequestToken(allowed, r.alignment, opts.RateLimiterPriority, r.stats, rocksdb.OpTypeRead)
		}
		part, err := r.readOnce(opts, from+uint64(done), allowed, buf[done:])
		if err != nil {
			return nil, err
		}
		done += len(part)
		if len(part) < allowed {
			break
		}
	}
	if done <= skip {
		return nil, nil
	}
	found := buf[skip:min(done, skip+n)]
	if keep {
		return found, nil
	}
	return scratch[:copy(scratch[:n], found)], nil
}

// End is the offset after a request's last byte.
func End(r *rocksdb.FSReadRequest) uint64 { return r.Offset + uint64(r.Len) }

// Align is the request for the pages around r, without a scratch.
func Align(r *rocksdb.FSReadRequest, alignment int) rocksdb.FSReadRequest {
	from := roundDown(r.Offset, alignment)
	return rocksdb.FSReadRequest{Offset: from, Len: int(roundUp(End(r), alignment) - from)}
}

// TryMerge widens dest to hold src too, if they overlap or touch.
func TryMerge(dest *rocksdb.FSReadRequest, src *rocksdb.FSReadRequest) bool {
	end, srcEnd := End(dest), End(src)
	if max(dest.Offset, src.Offset) > min(end, srcEnd) {
		return false
	}
	dest.Offset = min(dest.Offset, src.Offset)
	dest.Len = int(max(end, srcEnd) - dest.Offset)
	return true
}

// MultiRead does several reads, in rising order of offset, and sets their
// Result and Status. With direct I/O the results are in aligned, which is then
// not nil. An error says that none could be tried.
func (r *RandomAccessFileReader) MultiRead(opts *rocksdb.IOOptions, reqs []rocksdb.FSReadRequest, aligned *AlignedBuf) error {
	opts = orDefault(opts)
	for i := range reqs {
		if reqs[i].Len > 0 && len(reqs[i].Scratch) > 0 {
			reqs[i].Scratch[0]++ // as in Read
		}
	}
	sw := r.startTimer(opts.IOActivity)
	var t, cpu monitoring.PerfStepTimer
	if opts.IOStats != nil {
		startNanos(&t, opts.IOStats, &opts.IOStats.ReadNanos, r.clock)
		startCPUNanos(&cpu, opts.IOStats, &opts.IOStats.CPUReadNanos, r.clock)
	}
	fsReqs := reqs
	var err error
	if r.directIO {
		if aligned == nil {
			aligned = new(AlignedBuf)
		}
		fsReqs, err = r.alignRequests(nil, reqs, aligned)
	}
	start := r.listeners.start()
	if err == nil {
		r.chargeAll(opts, fsReqs)
		err = r.file.MultiRead(fsReqs, opts)
	}
	monitoring.RecordInHistogram(r.stats, rocksdb.HistMultigetIOBatchSize, uint64(len(fsReqs)))
	if r.directIO && err == nil {
		distribute(reqs, fsReqs)
	}
	for i := range reqs {
		status, n := err, 0
		if err == nil {
			status, n = reqs[i].Status, len(reqs[i].Result)
		}
		r.listeners.notify(start, rocksdb.FileOperationTypeRead, rocksdb.FileOperationTypeRead, reqs[i].Offset, n, status)
		r.recordIO(opts.IOStats, n)
	}
	cpu.Stop()
	t.Stop()
	elapsed := r.stopTimer(&sw)
	if r.stats != nil && r.fileReadHist != nil {
		r.fileReadHist.Add(elapsed)
	}
	return err
}

// alignRequests appends to out the requests for the pages around reqs,
// neighbours merged, with scratch in aligned.
func (r *RandomAccessFileReader) alignRequests(out, reqs []rocksdb.FSReadRequest, aligned *AlignedBuf) ([]rocksdb.FSReadRequest, error) {
	out = slices.Grow(out, len(reqs))
	for i := range reqs {
		a := Align(&reqs[i], r.alignment)
		if n := len(out); n == 0 || !TryMerge(&out[n-1], &a) {
			out = append(out, a)
		}
	}
	syncpoint.ProcessArg("RandomAccessFileReader::MultiRead:AlignedReqs", &out)
	total := 0
	for i := range out {
		total += out[i].Len
	}
	buf, err := aligned.get(total, r.alignment)
	if err != nil {
		return nil, err
	}
	for i := range out {
		out[i].Scratch, buf = buf[:out[i].Len:out[i].Len], buf[out[i].Len:]
	}
	return out, nil
}

// distribute gives each of reqs its part of the wider requests.
func distribute(reqs, wide []rocksdb.FSReadRequest) {
	w := 0
	for i := range reqs {
		q := &reqs[i]
		for w+1 < len(wide) && End(&wide[w]) < End(q) {
			w++
		}
		q.Result, q.Status = nil, wide[w].Status
		skip := q.Offset - wide[w].Offset
		if got := wide[w].Result; q.Status == nil && uint64(len(got)) > skip {
			q.Result = got[skip:min(uint64(len(got)), skip+uint64(q.Len))]
		}
	}
}

func (r *RandomAccessFileReader) chargeAll(opts *rocksdb.IOOptions, reqs []rocksdb.FSReadRequest) {
	if !r.limited(opts) {
		return
	}
	left := int64(0)
	for i := range reqs {
		left += int64(reqs[i].Len)
	}
	for left > 0 {
		n := min(r.rateLimiter.GetSingleBurstBytes(), left)
		r.rateLimiter.Request(n, opts.RateLimiterPriority, nil, rocksdb.OpTypeRead)
		left -= n
	}
}

// ReadAsync begins a read; cb gets req with Result and Status, as
// rocksdb.FSRandomAccessFile.ReadAsync says. With direct I/O and a range or
// scratch that is not aligned, or no scratch, the result is in aligned, or in
// memory of its own when that is nil.
func (r *RandomAccessFileReader) ReadAsync(req *rocksdb.FSReadRequest, opts *rocksdb.IOOptions, cb func(*rocksdb.FSReadRequest), aligned *AlignedBuf) (rocksdb.IOHandle, error) {
	opts = orDefault(opts)
	if syncpoint.Enabled {
		var injected error
		syncpoint.ProcessArg("RandomAccessFileReader::ReadAsync:InjectStatus", &injected)
		if injected != nil {
			return nil, injected
		}
	}
	begun := r.clock.NowMicros()
	start := r.listeners.start()
	finish := func(q *rocksdb.FSReadRequest) {
		cb(q)
		if r.stats != nil && r.fileReadHist != nil {
			r.fileReadHist.Add(r.clock.NowMicros() - begun)
		}
		switch {
		case q.Status == nil:
			monitoring.RecordInHistogram(r.stats, rocksdb.HistAsyncReadBytes, uint64(len(q.Result)))
		case rocksdb.CodeOf(q.Status) != rocksdb.CodeAborted:
			monitoring.RecordTick(r.stats, rocksdb.AsyncReadErrorCount, 1)
		}
		r.listeners.notify(start, rocksdb.FileOperationTypeRead, rocksdb.FileOperationTypeRead, q.Offset, len(q.Result), q.Status)
		r.recordIO(opts.IOStats, len(q.Result))
	}
	sw := r.startTimer(opts.IOActivity)
	defer func() { monitoring.RecordTick(r.stats, rocksdb.ReadAsyncMicros, r.stopTimer(&sw)) }()
	needMemory := req.Scratch == nil && aligned != nil
	if !r.directIO || !needMemory && r.requestAligned(req.Offset, req.Len, req.Scratch) {
		return r.file.ReadAsync(req, opts, finish)
	}
	if aligned == nil {
		aligned = new(AlignedBuf)
	}
	wide := Align(req, r.alignment)
	var err error
	if wide.Scratch, err = aligned.get(wide.Len, r.alignment); err != nil {
		return nil, err
	}
	return r.file.ReadAsync(&wide, opts, func(w *rocksdb.FSReadRequest) {
		one := [1]rocksdb.FSReadRequest{*req}
		distribute(one[:], []rocksdb.FSReadRequest{*w})
		req.Result, req.Status = one[0].Result, one[0].Status
		if req.Scratch != nil && req.Status == nil {
			req.Result = req.Scratch[:copy(req.Scratch, req.Result)]
		}
		finish(req)
	})
}

// Prefetch asks the system to load a range.
func (r *RandomAccessFileReader) Prefetch(opts *rocksdb.IOOptions, offset uint64, n int) error {
	return r.file.Prefetch(offset, n, orDefault(opts))
}

// PrepareIOOptions is PrepareIOFromReadOptions with the reader's clock.
func (r *RandomAccessFileReader) PrepareIOOptions(ro *rocksdb.ReadOptions, opts *rocksdb.IOOptions) error {
	return PrepareIOFromReadOptions(ro, r.clock, opts)
}

// File is the file read from.
func (r *RandomAccessFileReader) File() rocksdb.FSRandomAccessFile { return r.file }

// FileName is the name the reader was made with.
func (r *RandomAccessFileReader) FileName() string { return r.name }

// UseDirectIO tells how the file is read.
func (r *RandomAccessFileReader) UseDirectIO() bool { return r.directIO }

// Alignment is what direct reads need, in bytes.
func (r *RandomAccessFileReader) Alignment() int { return r.alignment }

// Close closes the file, unless it is pinned: then the last pin's release does.
func (r *RandomAccessFileReader) Close() error {
	if r.refs.Add(-1) > 0 {
		return nil
	}
	return r.file.Close()
}

// Pin keeps the file, and so the memory it is mapped to, past Close, until the
// Releaser is called.
func (r *RandomAccessFileReader) Pin() rocksdb.Releaser {
	r.refs.Add(1)
	return (*pinnedReader)(r)
}

type pinnedReader RandomAccessFileReader

func (r *pinnedReader) Release() { _ = (*RandomAccessFileReader)(r).Close() } // what was read is unharmed
