//go:build syncpoint

// Port of env/env_test.cc (the cases of io_uring that hook into it).

package env

import (
	"testing"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
	"github.com/rocksdb-go/rocksdb/util"
)

func TestEnvPosixTest_MultiReadIOUringError2(t *testing.T) {
	fs := asyncFS(t, AsyncReadIOUring)
	if !fs.async.usesRings() {
		t.Skip("no io_uring here")
	}
	name, _ := writeSectors(t, fs, 81920)
	r := openForReads(t, fs, name, false)
	defer r.Close()
	var reqs []rocksdb.FSReadRequest
	for _, x := range [][2]int{{10000, 3000}, {20000, 200}, {30000, 100}} {
		reqs = append(reqs, rocksdb.FSReadRequest{Offset: uint64(x[0]), Len: x[1], Scratch: make([]byte, x[1])})
	}
	defer syncpoint.Reset()
	submitted, drained := false, false
	syncpoint.SetCallBack("PosixRandomAccessFile::MultiRead:io_uring_sq_ready:return1", func(arg any) {
		submitted = true
		*arg.(*int) = 1
	})
	syncpoint.SetCallBack("PosixRandomAccessFile::MultiRead:io_uring_submit_and_wait:return2", func(arg any) {
		drained = true
		if _, _, ok := arg.(*multiRing).take(); ok {
			t.Error("a completion was left")
		}
	})
	syncpoint.EnableProcessing()
	err := r.MultiRead(reqs, nil)
	if !submitted || !drained || err == nil {
		t.Fatalf("submitted %v, drained %v, error %v", submitted, drained, err)
	}
	for i := range reqs {
		if reqs[i].Status != err {
			t.Errorf("request %d: %v", i, reqs[i].Status)
		}
	}
	syncpoint.Reset()
	noError(t, r.MultiRead(reqs, nil)) // with another ring
	for i := range reqs {
		noError(t, reqs[i].Status)
	}
}

func TestEnvPosixTest_SupportedOpsNoAsyncIOOnIOUringInitFailure(t *testing.T) {
	if !asyncFS(t, AsyncReadIOUring).async.usesRings() {
		t.Skip("no io_uring here")
	}
	fs := asyncFS(t, AsyncReadIOUring)
	created := 0
	defer syncpoint.Reset()
	syncpoint.SetCallBack("PosixFileSystem::SupportedOps:CreateIOUring", func(arg any) {
		created++
		if m := arg.(**multiRing); *m != nil {
			(*m).close()
			*m = nil
		}
	})
	syncpoint.EnableProcessing()
	for range 2 { // the second time from memory
		if rocksdb.CheckFSFeatureSupport(fs, rocksdb.AsyncIO) {
			t.Error("claims asynchronous reads")
		}
		if !rocksdb.CheckFSFeatureSupport(fs, rocksdb.FSPrefetch) {
			t.Error("does not claim Prefetch")
		}
	}
	wantInt(t, created, 1)
	// Goroutines need no ring.
	fs.SetAsyncReadMode(AsyncReadAuto)
	if !rocksdb.CheckFSFeatureSupport(fs, rocksdb.AsyncIO) {
		t.Error("does not claim asynchronous reads by goroutines")
	}
}

func TestTestAsyncRead_ReadAsyncQueueFull(t *testing.T) {
	fs := asyncFS(t, AsyncReadIOUring)
	if !fs.async.usesRings() {
		t.Skip("no io_uring here")
	}
	name, content := writeSectors(t, fs, 8*testSector)
	r := openForReads(t, fs, name, false)
	defer r.Close()
	defer syncpoint.Reset()
	syncpoint.SetCallBack("PosixRandomAccessFile::ReadAsync:skip_io_uring_get_sqe", func(arg any) { *arg.(*bool) = true })
	syncpoint.EnableProcessing()
	req := rocksdb.FSReadRequest{Len: testSector, Scratch: make([]byte, testSector)}
	h, err := r.ReadAsync(&req, nil, func(*rocksdb.FSReadRequest) {})
	if rocksdb.CodeOf(err) != rocksdb.CodeBusy || h != nil {
		t.Fatalf("handle %v, error %v", h, err)
	}
	// Where goroutines may help, they do.
	fs.SetAsyncReadMode(AsyncReadAuto)
	h, err = r.ReadAsync(&req, nil, func(*rocksdb.FSReadRequest) {})
	noError(t, err)
	noError(t, fs.Poll([]rocksdb.IOHandle{h}, 1))
	noError(t, req.Status)
	wantBytes(t, req.Result, content[:testSector])
}

// TestMultiReadPartial is the part of upstream's MultiRead
// that makes the ring bring less than asked for.
func TestMultiReadPartial(t *testing.T) {
	fs := asyncFS(t, AsyncReadIOUring)
	if !fs.async.usesRings() {
		t.Skip("no io_uring here")
	}
	name, content := writeSectors(t, fs, 8*testSector)
	r := openForReads(t, fs, name, false)
	defer r.Close()
	defer syncpoint.Reset()
	cut := 0
	for attempt := range 20 {
		rnd := util.NewRandom(uint32(301 + attempt))
		syncpoint.SetCallBack("UpdateResults::io_uring_result", func(arg any) {
			n := arg.(*int)
			switch {
			case attempt == 0:
			case rnd.OneIn(4):
				*n = 0
				cut++
			case rnd.OneIn(3) && *n > 0:
				*n = int(rnd.Uniform(*n))
				cut++
			}
		})
		syncpoint.EnableProcessing()
		reqs := make([]rocksdb.FSReadRequest, 3)
		for i := range reqs {
			reqs[i] = rocksdb.FSReadRequest{Offset: uint64(2 * i * testSector), Len: testSector, Scratch: make([]byte, testSector)}
		}
		noError(t, r.MultiRead(reqs, nil))
		for i := range reqs {
			noError(t, reqs[i].Status)
			wantBytes(t, reqs[i].Result, content[2*i*testSector:(2*i+1)*testSector])
		}
	}
	if cut == 0 {
		t.Error("no read was cut short")
	}
}
