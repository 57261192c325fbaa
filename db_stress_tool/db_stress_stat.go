// Port of db_stress_tool/db_stress_stat.h.

package dbstresstool

import (
	"fmt"
	"io"
	"time"

	"github.com/rocksdb-go/rocksdb/monitoring"
)

// stats counts a worker's operations.
type stats struct {
	out              io.Writer
	histogram        bool
	progress         bool
	start, finish    time.Time
	seconds          float64
	done             int64
	gets, founds     int64
	prefixes         int64
	writes, bytes    int64
	deletes          int64
	singleDeletes    int64
	iteratorSizeSums int64
	iterations       int64
	rangeDeletions   int64
	rangeCovered     int64
	errors           int64
	compactOK        int64
	compactFailed    int64
	nextReport       int64
	lastOpFinish     time.Time
	hist             *monitoring.HistogramImpl
}

func (s *stats) begin(f *Flags, out io.Writer) {
	now := time.Now()
	*s = stats{out: out, histogram: f.Histogram, progress: f.ProgressReports, start: now, finish: now, lastOpFinish: now, nextReport: 100, hist: monitoring.NewHistogramImpl()}
}

func (s *stats) merge(o *stats) {
	s.hist.Merge(o.hist)
	s.done += o.done
	s.gets += o.gets
	s.prefixes += o.prefixes
	s.writes += o.writes
	s.deletes += o.deletes
	s.singleDeletes += o.singleDeletes
	s.iteratorSizeSums += o.iteratorSizeSums
	s.founds += o.founds
	s.iterations += o.iterations
	s.rangeDeletions += o.rangeDeletions
	s.rangeCovered += o.rangeCovered
	s.errors += o.errors
	s.bytes += o.bytes
	s.seconds += o.seconds
	s.compactOK += o.compactOK
	s.compactFailed += o.compactFailed
	if o.start.Before(s.start) {
		s.start = o.start
	}
	if o.finish.After(s.finish) {
		s.finish = o.finish
	}
}

func (s *stats) stop() {
	s.finish = time.Now()
	s.seconds = s.finish.Sub(s.start).Seconds()
}

func (s *stats) finishedSingleOp() {
	if s.histogram {
		now := time.Now()
		micros := uint64(now.Sub(s.lastOpFinish).Microseconds())
		s.hist.Add(micros)
		if micros > 20000 {
			fmt.Fprintf(s.out, "long op: %d micros%30s\r", micros, "")
		}
		s.lastOpFinish = now
	}
	s.done++
	if !s.progress || s.done < s.nextReport {
		return
	}
	for _, step := range []struct{ below, by int64 }{{1000, 100}, {5000, 500}, {10000, 1000}, {50000, 5000}, {100000, 10000}, {500000, 50000}} {
		if s.nextReport < step.below {
			s.nextReport += step.by - 100000
			break
		}
	}
	s.nextReport += 100000
	fmt.Fprintf(s.out, "... finished %d ops%30s\r", s.done, "")
}

func (s *stats) addWrites(n int64, bytes int) { s.writes, s.bytes = s.writes+n, s.bytes+int64(bytes) }

func (s *stats) addGets(found bool) {
	s.gets++
	if found {
		s.founds++
	}
}

func (s *stats) addPrefixes(n, count int64) {
	s.prefixes, s.iteratorSizeSums = s.prefixes+n, s.iteratorSizeSums+count
}

// report prints the sums. It tells false when there is nothing to report.
func (s *stats) report(name string) bool {
	if s.bytes < 1 || s.done < 1 {
		return false
	}
	elapsed := s.finish.Sub(s.start).Seconds()
	mb := float64(s.bytes) / 1048576
	line := func(format string, args ...any) {
		fmt.Fprintf(s.out, "%-12s: "+format+"\n", append([]any{""}, args...)...)
	}
	fmt.Fprintf(s.out, "%-12s: %.3f micros/op %d ops/sec\n", name, s.seconds*1e6/float64(s.done), int64(float64(s.done)/elapsed))
	line("Wrote %.2f MB (%.2f MB/sec) (%d%% of %d ops)", mb, mb/elapsed, 100*s.writes/s.done, s.done)
	line("Wrote %d times", s.writes)
	line("Deleted %d times", s.deletes)
	line("Single deleted %d times", s.singleDeletes)
	line("%d read and %d found the key", s.gets, s.founds)
	line("Prefix scanned %d times", s.prefixes)
	line("Iterator size sum is %d", s.iteratorSizeSums)
	line("Iterated %d times", s.iterations)
	line("Deleted %d key-ranges", s.rangeDeletions)
	line("Range deletions covered %d keys", s.rangeCovered)
	line("Got errors %d times", s.errors)
	line("%d CompactFiles() succeed", s.compactOK)
	line("%d CompactFiles() did not succeed", s.compactFailed)
	if s.histogram {
		fmt.Fprintf(s.out, "Microseconds per op:\n%s\n", s.hist.ToString())
	}
	return true
}
