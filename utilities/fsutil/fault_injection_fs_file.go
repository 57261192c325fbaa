// Port of utilities/fault_injection_fs.{h,cc} (the files).

package fsutil

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"sync"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
	"github.com/rocksdb-go/rocksdb/util"
)

// testFSWritableFile is a tracked file.
type testFSWritableFile struct {
	rocksdb.FSWritableFileWrapper
	fs       *FaultInjectionTestFS
	name     string
	state    *fileState
	loseData bool
	reopened bool

	mu     sync.Mutex // orders operations
	closed bool
}

// newWritableFileLocked wraps a file of the target.
func (f *FaultInjectionTestFS) newWritableFileLocked(name string, w rocksdb.FSWritableFile, reopened bool) *testFSWritableFile {
	s := f.mu.states[name]
	if s == nil {
		s = &fileState{}
	}
	return &testFSWritableFile{
		FSWritableFileWrapper: rocksdb.FSWritableFileWrapper{FSWritableFile: w},
		fs:                    f, name: name, state: s, loseData: f.mu.unsyncedDataLoss, reopened: reopened,
	}
}

// before is what comes before an operation that changes data.
func (w *testFSWritableFile) before(op string, opts *rocksdb.IOOptions, detail ErrorDetail, withChecksum bool) error {
	if err := w.fs.active(); err != nil {
		return err
	}
	if withChecksum {
		w.fs.mu.Lock()
		corrupt := w.fs.mu.corruptWrites
		w.fs.mu.Unlock()
		if corrupt {
			return rocksdb.Corruption("Data is corrupted!")
		}
	}
	if w.reopened {
		if err := w.fs.validateWrite(w.name, op, false); err != nil {
			return err
		}
	}
	return w.fs.maybeInject(FaultInjectionWrite, opts, op, w.name, detail)
}

// update changes the state and makes it known, unless the file was forgotten.
func (w *testFSWritableFile) update(change func(s *fileState)) {
	w.fs.mu.Lock()
	defer w.fs.mu.Unlock()
	change(w.state)
	if _, open := w.fs.mu.open[w.name]; open {
		w.fs.mu.states[w.name] = w.state
	}
}

func (w *testFSWritableFile) buffers() bool { return w.loseData && !w.FSWritableFile.UseDirectIO() }

func (w *testFSWritableFile) append(data []byte, opts *rocksdb.IOOptions) error {
	if w.buffers() {
		w.update(func(s *fileState) {
			s.buffer = append(s.buffer, data...)
			s.posAtLastAppend += uint64(len(data))
		})
		return nil
	}
	if err := w.FSWritableFile.Append(data, opts); err != nil {
		return err
	}
	w.update(func(s *fileState) { s.posAtLastAppend += uint64(len(data)) })
	return nil
}

func (w *testFSWritableFile) Append(data []byte, opts *rocksdb.IOOptions) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.before("Append", opts, sizeAndHead(data), false); err != nil {
		return err
	}
	return w.append(data, opts)
}

// verify compares what was handed over with the data's checksum.
func (w *testFSWritableFile) verify(data []byte, info rocksdb.DataVerificationInfo) error {
	w.fs.mu.Lock()
	t := w.fs.mu.handoffType
	w.fs.mu.Unlock()
	var sum []byte
	switch t {
	case rocksdb.CRC32c:
		sum = binary.LittleEndian.AppendUint32(nil, util.Crc32cValue(data))
	case rocksdb.XXHash:
		sum = binary.LittleEndian.AppendUint32(nil, util.ComputeXXH32(data))
	case rocksdb.NoChecksum:
		return nil
	}
	if !bytes.Equal(sum, info.Checksum) {
		return rocksdb.Corruptionf("Data is corrupted! Origin data checksum: %Xcurrent data checksum: %X", info.Checksum, sum)
	}
	return nil
}

func (w *testFSWritableFile) AppendWithVerification(data []byte, opts *rocksdb.IOOptions, info rocksdb.DataVerificationInfo) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.before("Append", opts, sizeAndHead(data), true); err != nil {
		return err
	}
	if err := w.verify(data, info); err != nil {
		return err
	}
	return w.append(data, opts)
}

func (w *testFSWritableFile) positionedAppend(data []byte, offset uint64, opts *rocksdb.IOOptions) error {
	if err := w.FSWritableFile.PositionedAppend(data, offset, opts); err != nil {
		return err
	}
	w.update(func(s *fileState) { s.posAtLastAppend = offset + uint64(len(data)) })
	return nil
}

func (w *testFSWritableFile) PositionedAppend(data []byte, offset uint64, opts *rocksdb.IOOptions) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.before("PositionedAppend", opts, offsetSizeAndHead(offset, data), true); err != nil {
		return err
	}
	return w.positionedAppend(data, offset, opts)
}

func (w *testFSWritableFile) PositionedAppendWithVerification(data []byte, offset uint64, opts *rocksdb.IOOptions, info rocksdb.DataVerificationInfo) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.before("PositionedAppend", opts, offsetSizeAndHead(offset, data), true); err != nil {
		return err
	}
	if err := w.verify(data, info); err != nil {
		return err
	}
	return w.positionedAppend(data, offset, opts)
}

func (w *testFSWritableFile) Truncate(size uint64, opts *rocksdb.IOOptions) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.before("Truncate", opts, sizeDetail(size), false); err != nil {
		return err
	}
	if err := w.FSWritableFile.Truncate(size, opts); err != nil {
		return err
	}
	w.update(func(s *fileState) { s.posAtLastAppend = size })
	return nil
}

// Close is tried once: whatever it returns, the file then counts as closed.
// What was not synced stays out of the target.
func (w *testFSWritableFile) Close(opts *rocksdb.IOOptions) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return nil
	}
	w.closed = true
	w.fs.mu.Lock()
	if _, open := w.fs.mu.open[w.name]; open {
		w.fs.mu.states[w.name] = w.state
		delete(w.fs.mu.open, w.name)
	}
	w.fs.mu.Unlock()
	if err := w.fs.guard(FaultInjectionMetadataWrite, opts, "Close", w.name, ErrorDetail{}); err != nil {
		return err
	}
	return w.FSWritableFile.Close(opts)
}

func (w *testFSWritableFile) Flush(*rocksdb.IOOptions) error { return w.fs.active() }

func (w *testFSWritableFile) Sync(opts *rocksdb.IOOptions) error {
	return w.sync(opts, w.FSWritableFile.Sync)
}

func (w *testFSWritableFile) Fsync(opts *rocksdb.IOOptions) error {
	return w.sync(opts, w.FSWritableFile.Fsync)
}

// sync hands the buffer to the target and syncs that.
func (w *testFSWritableFile) sync(opts *rocksdb.IOOptions, sync func(*rocksdb.IOOptions) error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.fs.active(); err != nil {
		return err
	}
	if err := w.writeBuffer(-1, opts); err != nil {
		return err
	}
	if err := sync(opts); err != nil {
		return err
	}
	w.update(func(s *fileState) { s.posAtLastSync = s.posAtLastAppend })
	return nil
}

// writeBuffer hands the first n bytes of the buffer, or all, to the target.
func (w *testFSWritableFile) writeBuffer(n int, opts *rocksdb.IOOptions) error {
	w.fs.mu.Lock()
	if n < 0 || n > len(w.state.buffer) {
		n = len(w.state.buffer)
	}
	data := bytes.Clone(w.state.buffer[:n])
	w.fs.mu.Unlock()
	if n == 0 {
		return nil
	}
	err := w.FSWritableFile.Append(data, opts)
	w.update(func(s *fileState) {
		s.buffer = s.buffer[min(n, len(s.buffer)):]
		s.posAtLastSync += uint64(n)
	})
	return err
}

func (w *testFSWritableFile) RangeSync(offset, nbytes uint64, opts *rocksdb.IOOptions) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.fs.active(); err != nil {
		return err
	}
	w.fs.mu.Lock()
	synced := w.state.posAtLastSync
	w.fs.mu.Unlock()
	if limit := offset + nbytes; w.buffers() && limit > synced {
		if err := w.writeBuffer(int(limit-synced), opts); err != nil {
			return err
		}
	}
	return w.FSWritableFile.RangeSync(offset, nbytes, opts)
}

func (w *testFSWritableFile) IsSyncThreadSafe() bool { return true }

func (w *testFSWritableFile) GetFileSize(opts *rocksdb.IOOptions) uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.buffers() {
		return w.FSWritableFile.GetFileSize(opts)
	}
	w.fs.mu.Lock()
	defer w.fs.mu.Unlock()
	return w.state.posAtLastAppend
}

// testFSRandomRWFile fails while the file system is inactive.
type testFSRandomRWFile struct {
	rocksdb.FSRandomRWFileWrapper
	fs   *FaultInjectionTestFS
	name string
}

func (w *testFSRandomRWFile) Write(offset uint64, data []byte, opts *rocksdb.IOOptions) error {
	if err := w.fs.active(); err != nil {
		return err
	}
	return w.FSRandomRWFile.Write(offset, data, opts)
}

func (w *testFSRandomRWFile) Read(offset uint64, n int, opts *rocksdb.IOOptions, scratch []byte) ([]byte, error) {
	if err := w.fs.active(); err != nil {
		return nil, err
	}
	return w.FSRandomRWFile.Read(offset, n, opts, scratch)
}

func (w *testFSRandomRWFile) Flush(opts *rocksdb.IOOptions) error {
	if err := w.fs.active(); err != nil {
		return err
	}
	return w.FSRandomRWFile.Flush(opts)
}

func (w *testFSRandomRWFile) Sync(opts *rocksdb.IOOptions) error {
	if err := w.fs.active(); err != nil {
		return err
	}
	return w.FSRandomRWFile.Sync(opts)
}

func (w *testFSRandomRWFile) Fsync(opts *rocksdb.IOOptions) error {
	if err := w.fs.active(); err != nil {
		return err
	}
	return w.FSRandomRWFile.Fsync(opts)
}

func (w *testFSRandomRWFile) Close(opts *rocksdb.IOOptions) error {
	w.fs.mu.Lock()
	delete(w.fs.mu.open, w.name)
	w.fs.mu.Unlock()
	if err := w.fs.active(); err != nil {
		return err
	}
	return w.FSRandomRWFile.Close(opts)
}

// testFSRandomAccessFile may fail to read. It sees synced data only.
type testFSRandomAccessFile struct {
	rocksdb.FSRandomAccessFileWrapper
	fs   *FaultInjectionTestFS
	name string
	sst  bool
}

func (r *testFSRandomAccessFile) Read(offset uint64, n int, opts *rocksdb.IOOptions, scratch []byte) ([]byte, error) {
	syncpoint.Process("FaultInjectionTestFS::RandomRead")
	if err := r.fs.guard(FaultInjectionRead, opts, "Read", r.name, offsetAndSize(offset, n)); err != nil {
		return nil, err
	}
	return r.FSRandomAccessFile.Read(offset, n, opts, scratch)
}

// ReadAsync tells of an injected error as of one met while reading.
func (r *testFSRandomAccessFile) ReadAsync(req *rocksdb.FSReadRequest, opts *rocksdb.IOOptions, cb func(*rocksdb.FSReadRequest)) (rocksdb.IOHandle, error) {
	if err := r.fs.guard(FaultInjectionRead, opts, "ReadAsync", r.name, offsetAndSize(req.Offset, req.Len)); err != nil {
		req.Result, req.Status = nil, err
		cb(req)
		return nil, nil
	}
	return r.FSRandomAccessFile.ReadAsync(req, opts, cb)
}

// MultiRead may fail as a whole or in each request.
func (r *testFSRandomAccessFile) MultiRead(reqs []rocksdb.FSReadRequest, opts *rocksdb.IOOptions) error {
	if err := r.fs.active(); err != nil {
		return err
	}
	if err := r.FSRandomAccessFile.MultiRead(reqs, opts); err != nil {
		return err
	}
	for i := range reqs {
		q := &reqs[i]
		if q.Status != nil {
			break // one is enough
		}
		if err := r.fs.maybeInject(FaultInjectionRead, opts, "MultiRead", r.name, reqOffsetAndSize(i, q.Offset, q.Len)); err != nil {
			q.Result, q.Status = nil, err
		}
	}
	return r.fs.maybeInject(FaultInjectionRead, opts, "MultiRead", "", countDetail(len(reqs)))
}

func (r *testFSRandomAccessFile) GetUniqueID(id []byte) int {
	r.fs.mu.Lock()
	fail := r.fs.mu.failUniqueID
	r.fs.mu.Unlock()
	if fail {
		return 0
	}
	return r.FSRandomAccessFile.GetUniqueID(id)
}

func (r *testFSRandomAccessFile) GetFileSize() (uint64, error) {
	r.fs.mu.Lock()
	fail := r.fs.mu.failOpenSizeSst
	r.fs.mu.Unlock()
	if fail && r.sst {
		return 0, rocksdb.IOError("FSRandomAccessFile::GetFileSize failed")
	}
	return r.FSRandomAccessFile.GetFileSize()
}

// testFSSequentialFile may fail to read. It sees unsynced data after those of
// the target.
type testFSSequentialFile struct {
	rocksdb.FSSequentialFileWrapper
	fs        *FaultInjectionTestFS
	name      string
	pos       uint64 // of the next byte to hand out
	targetPos uint64 // of the target's next byte; behind pos after unsynced reads
}

func (s *testFSSequentialFile) Read(n int, opts *rocksdb.IOOptions, scratch []byte) ([]byte, error) {
	if err := s.fs.maybeInject(FaultInjectionRead, opts, "Read", s.name, sizeDetail(uint64(n))); err != nil {
		return nil, err
	}
	scratch = scratch[:n]
	if s.targetPos < s.pos && !s.fs.unsyncedFrom(s.name, s.pos) {
		// What was read unsynced has been synced since; the target catches up.
		if err := s.FSSequentialFile.Skip(s.pos - s.targetPos); err != nil {
			return nil, err
		}
		s.targetPos = s.pos
	}
	done := 0
	if s.targetPos == s.pos {
		part, err := s.FSSequentialFile.Read(n, opts, scratch)
		if err != nil {
			return nil, err
		}
		done = copy(scratch, part)
		s.targetPos += uint64(done)
	}
	s.pos += uint64(done)
	if done < n && s.fs.ReadUnsyncedData() {
		more, err := s.readUnsynced(scratch[done:], opts)
		if err != nil {
			return nil, err
		}
		done += more
	}
	return scratch[:done], nil
}

// readUnsynced goes on at pos, first in the target if the file was synced
// after the target was read, then in what is not synced.
func (s *testFSSequentialFile) readUnsynced(p []byte, opts *rocksdb.IOOptions) (int, error) {
	n, synced := s.fs.copyUnsynced(s.name, s.pos, p)
	if synced > s.pos && s.targetPos == s.pos {
		gap := int(min(synced-s.pos, uint64(len(p))))
		part, err := s.FSSequentialFile.Read(gap, opts, p[:gap])
		if err != nil {
			return 0, err
		}
		if len(part) < gap {
			return 0, rocksdb.IOError(fmt.Sprintf("Unexpected truncation or short read of file %s", s.name))
		}
		copy(p, part)
		s.targetPos += uint64(gap)
		n += gap
	}
	s.pos += uint64(n)
	return n, nil
}

func (s *testFSSequentialFile) Skip(n uint64) error {
	s.pos += n
	if s.targetPos+n != s.pos {
		return nil // the target catches up at the next read
	}
	s.targetPos = s.pos
	return s.FSSequentialFile.Skip(n)
}

func (s *testFSSequentialFile) PositionedRead(offset uint64, n int, opts *rocksdb.IOOptions, scratch []byte) ([]byte, error) {
	if err := s.fs.maybeInject(FaultInjectionRead, opts, "PositionedRead", s.name, offsetAndSize(offset, n)); err != nil {
		return nil, err
	}
	return s.FSSequentialFile.PositionedRead(offset, n, opts, scratch)
}

// unsyncedFrom tells whether the byte at pos is beyond what the target has.
func (f *FaultInjectionTestFS) unsyncedFrom(name string, pos uint64) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := f.mu.states[name]
	return s != nil && len(s.buffer) > 0 && pos >= s.posAtLastSync
}

// copyUnsynced copies unsynced bytes of the range at offset to where they
// belong in p, and returns how many and where they begin in the file; that is 0
// when the file is not tracked or has none.
func (f *FaultInjectionTestFS) copyUnsynced(name string, offset uint64, p []byte) (n int, synced uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := f.mu.states[name]
	if s == nil || len(s.buffer) == 0 {
		return 0, 0
	}
	from := max(offset, s.posAtLastSync)
	to := min(offset+uint64(len(p)), s.posAtLastSync+uint64(len(s.buffer)))
	if from < to {
		n = copy(p[from-offset:], s.buffer[from-s.posAtLastSync:to-s.posAtLastSync])
	}
	return n, s.posAtLastSync
}

// testFSDirectory notes syncs.
type testFSDirectory struct {
	rocksdb.FSDirectoryWrapper
	fs   *FaultInjectionTestFS
	name string
}

func (d *testFSDirectory) Fsync(opts *rocksdb.IOOptions) error {
	if err := d.fs.guard(FaultInjectionMetadataWrite, opts, "Fsync", d.name, ErrorDetail{}); err != nil {
		return err
	}
	d.fs.syncDir(d.name)
	return d.FSDirectory.Fsync(opts)
}

func (d *testFSDirectory) FsyncWithDirOptions(opts *rocksdb.IOOptions, o rocksdb.DirFsyncOptions) error {
	if err := d.fs.guard(FaultInjectionMetadataWrite, opts, "FsyncWithDirOptions", d.name, ErrorDetail{}); err != nil {
		return err
	}
	d.fs.syncDir(d.name)
	return d.FSDirectory.FsyncWithDirOptions(opts, o)
}

func (d *testFSDirectory) Close(opts *rocksdb.IOOptions) error {
	if err := d.fs.guard(FaultInjectionMetadataWrite, opts, "Close", d.name, ErrorDetail{}); err != nil {
		return err
	}
	return d.FSDirectory.Close(opts)
}
