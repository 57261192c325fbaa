// Port of ReporterAgent of tools/db_bench_tool.cc.

package main

import (
	"fmt"
	"os"
	"sync/atomic"
	"time"
)

// reporterAgent writes operations by interval to a CSV file. Its goroutine
// ends with close.
type reporterAgent struct {
	total atomic.Int64
	file  *os.File
	out   *outputs
	every time.Duration
	stop  chan struct{}
	ended chan struct{}
}

func newReporterAgent(path string, seconds int64, out *outputs) (*reporterAgent, error) {
	file, err := os.Create(path)
	if err == nil {
		_, err = file.WriteString("secs_elapsed,interval_qps\n")
	}
	if err != nil {
		out.errf("Can't open %s: %v\n", path, err)
		return nil, exitCode(1)
	}
	r := &reporterAgent{
		file: file, out: out, every: time.Duration(seconds) * time.Second,
		stop: make(chan struct{}), ended: make(chan struct{}),
	}
	go r.sleepAndReport()
	return r, nil
}

func (r *reporterAgent) reportFinishedOps(n int64) { r.total.Add(n) }

func (r *reporterAgent) sleepAndReport() {
	defer close(r.ended)
	started, last := time.Now(), int64(0)
	ticker := time.NewTicker(r.every)
	defer ticker.Stop()
	for {
		select {
		case <-r.stop:
			return
		case <-ticker.C:
		}
		total := r.total.Load()
		elapsed := int64((time.Since(started) + time.Second/2) / time.Second)
		if _, err := fmt.Fprintf(r.file, "%d,%d\n", elapsed, total-last); err != nil {
			r.out.errf("Can't write to report file (%v), stopping the reporting\n", err)
			return
		}
		last = total
	}
}

func (r *reporterAgent) close() {
	close(r.stop)
	<-r.ended
	if err := r.file.Close(); err != nil {
		r.out.errf("Can't close report file: %v\n", err)
	}
}
