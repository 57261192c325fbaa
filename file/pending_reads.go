// Port of file/random_access_file_reader_sync_and_async.h and
// util/async_file_reader.{h,cc}: several reads of a file under way at once.
// Differs: no coroutines; whoever begins the reads waits for them.

package file

import (
	"time"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/monitoring"
)

// PendingReads are the reads of one MultiReadAsync. The zero value is none;
// after Wait it may be used again, and keeps its memory.
type PendingReads struct {
	r       *RandomAccessFileReader
	reqs    []rocksdb.FSReadRequest // the caller's
	fsReqs  []rocksdb.FSReadRequest // what the file was asked for; reqs unless reads are direct
	wide    []rocksdb.FSReadRequest // memory for it
	handles []rocksdb.IOHandle      // of fsReqs; nil for what was done at once
	opts    *rocksdb.IOOptions
	begun   uint64 // micros
	start   time.Time
}

// Pending tells whether Wait has to be called.
func (p *PendingReads) Pending() bool { return p.r != nil }

// Count is the number of reads of the file.
func (p *PendingReads) Count() int { return len(p.fsReqs) }

func ignoreRequest(*rocksdb.FSReadRequest) {}

// MultiReadAsync begins what MultiRead does; p.Wait ends it. reqs, their
// scratch, opts and aligned have to live until then. What the file does not
// read asynchronously is read at once. An error says that nothing was begun.
func (r *RandomAccessFileReader) MultiReadAsync(opts *rocksdb.IOOptions, reqs []rocksdb.FSReadRequest, aligned *AlignedBuf, p *PendingReads) error {
	opts = orDefault(opts)
	fsReqs := reqs
	if r.directIO {
		var err error
		if fsReqs, err = r.alignRequests(p.wide[:0], reqs, aligned); err != nil {
			return err
		}
		p.wide = fsReqs
	}
	p.r, p.reqs, p.fsReqs, p.opts = r, reqs, fsReqs, opts
	p.begun, p.start = r.clock.NowMicros(), r.listeners.start()
	r.chargeAll(opts, fsReqs)
	p.handles = p.handles[:0]
	sw := r.startTimer(opts.IOActivity)
	for i := range fsReqs {
		h, err := r.file.ReadAsync(&fsReqs[i], opts, ignoreRequest)
		if rocksdb.IsNotSupported(err) || rocksdb.CodeOf(err) == rocksdb.CodeBusy {
			if err = r.file.MultiRead(fsReqs[i:], opts); err != nil {
				for j := range fsReqs[i:] {
					fsReqs[i+j].Status = err
				}
			}
			break
		}
		if err != nil {
			fsReqs[i].Status = err
		}
		p.handles = append(p.handles, h)
	}
	monitoring.RecordTick(r.stats, rocksdb.ReadAsyncMicros, r.stopTimer(&sw))
	return nil
}

// Wait waits for the reads and sets the requests' Result and Status. The error
// is the file system's, of waiting: the reads may then still be under way, and
// their memory is not used again.
func (p *PendingReads) Wait(fs rocksdb.FileSystem) error {
	r := p.r
	p.r = nil
	if err := fs.Poll(p.handles, len(p.handles)); err != nil {
		*p = PendingReads{}
		return err
	}
	for i, h := range p.handles {
		if h != nil {
			h.Release()
			p.handles[i] = nil
		}
		r.complete(p.opts, &p.fsReqs[i])
	}
	if r.directIO {
		distribute(p.reqs, p.fsReqs)
	}
	for i := range p.reqs {
		q := &p.reqs[i]
		r.listeners.notify(p.start, rocksdb.FileOperationTypeRead, rocksdb.FileOperationTypeRead, q.Offset, len(q.Result), q.Status)
		r.recordIO(p.opts.IOStats, len(q.Result))
	}
	for i := range p.fsReqs {
		if q := &p.fsReqs[i]; q.Status == nil {
			monitoring.RecordInHistogram(r.stats, rocksdb.HistAsyncReadBytes, uint64(len(q.Result)))
		} else if rocksdb.CodeOf(q.Status) != rocksdb.CodeAborted {
			monitoring.RecordTick(r.stats, rocksdb.AsyncReadErrorCount, 1)
		}
	}
	if r.stats != nil && r.fileReadHist != nil {
		r.fileReadHist.Add(r.clock.NowMicros() - p.begun)
	}
	clear(p.wide)
	p.reqs, p.fsReqs, p.opts = nil, nil, nil
	return nil
}

// complete reads on where an asynchronous read came back short, as at the
// file's end and after a signal.
func (r *RandomAccessFileReader) complete(opts *rocksdb.IOOptions, q *rocksdb.FSReadRequest) {
	n := len(q.Result)
	if q.Status != nil || n == 0 || n >= q.Len {
		return
	}
	// From a page on, as direct reads have to be.
	n = int(roundDown(uint64(n), max(r.alignment, 1)))
	rest, err := r.file.Read(q.Offset+uint64(n), q.Len-n, opts, q.Scratch[n:q.Len])
	if err != nil {
		q.Result, q.Status = nil, err
		return
	}
	q.Result = q.Scratch[:n+copy(q.Scratch[n:q.Len], rest)]
}
