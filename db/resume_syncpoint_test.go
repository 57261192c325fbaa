//go:build syncpoint

// No upstream twin: what stands in the flush queue when a Resume begins. Upstream
// waits for such flushes forever.

package db_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

// resume is Resume, which must come to an end.
func (x *errorTest) resume() error {
	x.Helper()
	done := make(chan error, 1)
	go func() { done <- x.full().Resume() }()
	select {
	case err := <-done:
		return err
	case <-time.After(time.Minute):
		x.Fatal("Resume waits for a flush that nobody runs")
		return nil
	}
}

// TestResume_FlushRequestedMeanwhile: a flush that is asked for between the error
// and the Resume stands in the queue, and nothing may run it but the Resume.
func TestResume_FlushRequestedMeanwhile(t *testing.T) {
	for _, test := range []struct {
		name   string
		atomic bool
	}{{"one family", false}, {"atomic", true}} {
		t.Run(test.name, func(t *testing.T) {
			x := newErrorTest(t, false, func(o *rocksdb.Options) { noResume(o); o.AtomicFlush = test.atomic })
			x.createAndReopenWithCF([]string{"pikachu"}, x.o)
			x.failAt("DBImpl::SyncClosedWals:Start", retryable("Retryable IO Error"))
			x.mustPut(0, key(1), "val1")
			x.wantSeverity(x.cf(0).Flush(nil), rocksdb.SeverityHardError)
			x.activate()
			o := rocksdb.DefaultFlushOptions()
			o.Wait = false
			x.must(x.cf(0).Flush(&o))
			_ = x.full().TestWaitForBackgroundWork() // the error is still in force
			x.must(x.resume())
			x.mustPut(0, key(2), "val2")
			x.flush(0)
			x.wantGet(0, key(1), "val1")
			x.wantGet(0, key(2), "val2")
		})
	}
}

// TestResume_FlushStartsAfterFailedResume: the job of a Resume that has failed by
// the time the job begins leaves its request in the queue, for the next Resume.
func TestResume_FlushStartsAfterFailedResume(t *testing.T) {
	x := newErrorTest(t, false, func(o *rocksdb.Options) { noResume(o); o.MaxBackgroundJobs = 8 })
	x.createAndReopenWithCF([]string{"pikachu"}, x.o)
	x.mustPut(0, key(1), "val1")
	x.mustPut(1, key(1), "val1")
	var starts, failures atomic.Int32
	both, recovering, failed := make(chan struct{}), make(chan struct{}), make(chan struct{})
	// Two flushes begin. One fails; the other only when the Resume after that is
	// under way. From then on the file system works.
	syncpoint.SetCallBack("BuildTable:BeforeFinishBuildTable", func(any) {
		switch starts.Add(1) {
		case 1:
			<-both
			x.fault.SetFilesystemActive(false, retryable("Retryable IO Error"))
		case 2:
			close(both)
			<-recovering
		}
	})
	syncpoint.SetCallBack("DBImpl::FlushMemTableToOutputFile:Finish", func(any) {
		if failures.Add(1) == 2 {
			x.fault.SetFilesystemActive(true, nil)
			syncpoint.SetCallBack("DBImpl::BackgroundCallFlush:start", func(any) { <-failed })
		}
	})
	syncpoint.EnableProcessing()
	o := rocksdb.DefaultFlushOptions()
	o.Wait = false
	x.must(x.cf(0).Flush(&o))
	x.must(x.cf(1).Flush(&o))
	for x.full().TestGetBGError() == nil {
		time.Sleep(time.Millisecond)
	}
	first := make(chan error, 1)
	go func() { first <- x.full().Resume() }()
	for !x.full().TestIsRecoveryInProgress() {
		time.Sleep(time.Millisecond)
	}
	close(recovering)
	if err := <-first; err == nil {
		t.Fatal("the Resume that met an error succeeded")
	}
	close(failed)
	_ = x.full().TestWaitForBackgroundWork() // the error is still in force
	x.activate()
	x.must(x.resume())
	for cf := range 2 {
		x.mustPut(cf, key(2), "val2")
		x.flush(cf)
		x.wantGet(cf, key(1), "val1")
		x.wantGet(cf, key(2), "val2")
	}
}
