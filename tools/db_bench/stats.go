// Port of Stats of tools/db_bench_tool.cc.

package main

import (
	"fmt"
	"io"
	"math"
	"time"

	rocksdb "github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/monitoring"
)

type operationType uint8

const (
	opRead operationType = iota
	opWrite
	opDelete
	opSeek
	opMerge
	opUpdate
	opCompress
	opUncompress
	opCrc
	opHash
	opOthers
	opMultiScan
	numOperationTypes
)

// operationTypeString has no entry for opUncompress, as upstream's map has two
// for opCompress instead.
var operationTypeString = [numOperationTypes]string{
	opRead: "read", opWrite: "write", opDelete: "delete", opSeek: "seek", opMerge: "merge",
	opUpdate: "update", opCompress: "compress", opCrc: "crc", opHash: "hash", opOthers: "op",
	opMultiScan: "multiscan",
}

// stats counts what one worker does. finishedOps is on the path of every
// operation: with neither histograms nor a reporter it is an addition and a
// comparison.
type stats struct {
	env  *environment
	id   int
	done int64
	// nextReport is the count at which report runs next; MaxInt64 for never.
	nextReport int64
	bytes      int64
	measured   bool // histogram or reporter: finishedOps has more to do

	start, finish    uint64 // microseconds
	sineInterval     uint64
	seconds          float64
	lastReportDone   int64
	lastOpFinish     uint64
	lastReportFinish uint64
	hist             [numOperationTypes]*monitoring.HistogramImpl
	histOrder        []operationType // kinds in hist, in the order of printing
	message          string
	excludeFromMerge bool
	reporter         *reporterAgent // not owned
}

// environment is what statistics need of the program.
type environment struct {
	flags  *Flags
	clock  rocksdb.SystemClock
	out    *outputs
	thread func() string // the table of thread states
}

func newStats(env *environment) *stats {
	s := &stats{env: env}
	s.begin(-1)
	return s
}

// begin starts the clock and clears the counts.
func (s *stats) begin(id int) {
	f := s.env.flags
	s.id = id
	s.nextReport = 100
	if f.StatsInterval != 0 {
		s.nextReport = f.StatsInterval
	}
	if !f.ProgressReports {
		s.nextReport = math.MaxInt64
	}
	s.hist, s.histOrder = [numOperationTypes]*monitoring.HistogramImpl{}, nil
	s.done, s.lastReportDone, s.bytes, s.seconds = 0, 0, 0, 0
	s.start = s.env.clock.NowMicros()
	s.sineInterval, s.finish, s.lastReportFinish = s.start, s.start, s.start
	s.lastOpFinish = s.start
	s.message, s.excludeFromMerge = "", false
	s.measured = s.reporter != nil || f.Histogram
}

// merge adds another worker's counts.
func (s *stats) merge(o *stats) {
	if o.excludeFromMerge {
		return
	}
	for _, op := range o.histOrder {
		if s.hist[op] == nil {
			s.addHistogram(op, o.hist[op])
		} else {
			s.hist[op].Merge(o.hist[op])
		}
	}
	s.done += o.done
	s.bytes += o.bytes
	s.seconds += o.seconds
	s.start = min(s.start, o.start)
	s.finish = max(s.finish, o.finish)
	if s.message == "" {
		s.message = o.message
	}
}

// addHistogram puts a new kind first, as upstream's hash map has it: a single
// worker's kinds are printed, after the merge, in the order of their first use.
func (s *stats) addHistogram(op operationType, h *monitoring.HistogramImpl) {
	s.hist[op] = h
	s.histOrder = append([]operationType{op}, s.histOrder...)
}

func (s *stats) stop() {
	s.finish = s.env.clock.NowMicros()
	s.seconds = float64(s.finish-s.start) * 1e-6
}

func appendWithSpace(s, msg string) string {
	if msg == "" || s == "" {
		return s + msg
	}
	return s + " " + msg
}

func (s *stats) addMessage(msg string) { s.message = appendWithSpace(s.message, msg) }

func (s *stats) addBytes(n int64) { s.bytes += n }

// resetLastOpTime leaves a wait out of the next operation's time.
func (s *stats) resetLastOpTime() {
	if s.measured {
		s.lastOpFinish = s.env.clock.NowMicros()
	}
}

// finishedOps counts n operations on db (nil where no database is concerned).
func (s *stats) finishedOps(db *benchDB, n int64, op operationType) {
	if s.measured {
		s.measure(n, op)
	}
	s.done += n
	if s.done >= s.nextReport {
		s.report(db)
	}
}

func (s *stats) measure(n int64, op operationType) {
	if s.reporter != nil {
		s.reporter.reportFinishedOps(n)
	}
	f := s.env.flags
	if !f.Histogram {
		return
	}
	now := s.env.clock.NowMicros()
	micros := now - s.lastOpFinish
	h := s.hist[op]
	if h == nil {
		h = monitoring.NewHistogramImpl()
		s.addHistogram(op, h)
	}
	h.Add(micros)
	if micros >= f.SlowUsecs && f.StatsInterval == 0 {
		s.env.out.errf("long op: %d micros%30s\r", micros, "")
	}
	s.lastOpFinish = now
}

// reportStep is how far the next progress report is when the interval grows.
func reportStep(at int64) int64 {
	for _, s := range [...]struct{ below, step int64 }{
		{1000, 100}, {5000, 500}, {10000, 1000}, {50000, 5000}, {100000, 10000}, {500000, 50000},
	} {
		if at < s.below {
			return s.step
		}
	}
	return 100000
}

func (s *stats) report(db *benchDB) {
	f, out := s.env.flags, s.env.out
	if f.StatsInterval == 0 {
		s.nextReport += reportStep(s.nextReport)
		out.errf("... finished %d ops%30s\r", s.done, "")
	} else {
		now := s.env.clock.NowMicros()
		since := int64(now - s.lastReportFinish)
		s.nextReport += f.StatsInterval
		if f.StatsIntervalSeconds == 0 || since >= f.StatsIntervalSeconds*1000000 {
			out.errf("%s ... thread %d: (%d,%d) ops and (%.1f,%.1f) ops/second in (%.6f,%.6f) seconds\n",
				timeToString(now/1000000), s.id, s.done-s.lastReportDone, s.done,
				float64(s.done-s.lastReportDone)/(float64(since)/1e6),
				float64(s.done)/(float64(now-s.start)/1e6),
				float64(since)/1e6, float64(now-s.start)/1e6)
			if s.id == 0 && f.StatsPerInterval != 0 && db != nil {
				db.printIntervalStats(f, out)
			}
			s.lastReportFinish, s.lastReportDone = now, s.done
		}
	}
	if s.id == 0 && f.ThreadStatusPerInterval != 0 && s.env.thread != nil {
		out.errf("%s", s.env.thread())
	}
}

// timeToString is SystemClock::TimeToString.
func timeToString(seconds uint64) string {
	return time.Unix(int64(seconds), 0).Format("2006/01/02-15:04:05 ")
}

// print writes a benchmark's line and histograms.
func (s *stats) print(w io.Writer, name string) {
	// A benchmark that counts nothing did one operation.
	s.done = max(s.done, 1)
	extra := ""
	elapsed := float64(s.finish-s.start) * 1e-6
	if s.bytes > 0 {
		extra = fmt.Sprintf("%6.1f MB/s", float64(s.bytes)/1048576.0/elapsed)
	}
	extra = appendWithSpace(extra, s.message)
	if extra != "" {
		extra = " " + extra
	}
	fmt.Fprintf(w, "%-12s : %11.3f micros/op %d ops/sec %.3f seconds %d operations;%s\n",
		name, s.seconds*1e6/float64(s.done), toInt64(float64(s.done)/elapsed), elapsed, s.done, extra)
	for _, op := range s.histOrder {
		fmt.Fprintf(w, "Microseconds per %s:\n%s\n", operationTypeString[op], s.hist[op].ToString())
	}
}

// toInt64 cuts a rate as C++ does on x86: what does not fit is the least number.
func toInt64(v float64) int64 {
	if math.IsNaN(v) || v >= math.MaxInt64 || v <= math.MinInt64 {
		return math.MinInt64
	}
	return int64(v)
}
