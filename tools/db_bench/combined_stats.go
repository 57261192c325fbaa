// Port of CombinedStats of tools/db_bench_tool.cc.

package main

import (
	"fmt"
	"io"
	"math"
	"slices"
)

// combinedStats are the rates of a benchmark's repeats.
type combinedStats struct {
	ops, mbs []float64 // operations and megabytes a second, by run
}

func (c *combinedStats) add(s *stats) {
	elapsed := float64(s.finish-s.start) * 1e-6
	c.ops = append(c.ops, float64(max(s.done, 1))/elapsed)
	if s.bytes > 0 {
		c.mbs = append(c.mbs, float64(s.bytes)/1048576.0/elapsed)
	}
}

// hasBytes tells whether every run counted bytes.
func (c *combinedStats) hasBytes() bool { return len(c.mbs) == len(c.ops) }

// report prints the averages so far; nothing for a single run.
func (c *combinedStats) report(w io.Writer, name string) {
	if len(c.ops) < 2 {
		return
	}
	fmt.Fprintf(w, "%s [AVG %d runs] : %d (± %d) ops/sec", name, len(c.ops),
		toInt32(average(c.ops)), toInt32(confidence95(c.ops)))
	if c.hasBytes() {
		fmt.Fprintf(w, "; %6.1f (± %.1f) MB/sec", average(c.mbs), confidence95(c.mbs))
	}
	fmt.Fprintln(w)
}

// reportWithConfidenceIntervals prints the intervals so far.
func (c *combinedStats) reportWithConfidenceIntervals(w io.Writer, name string) {
	if len(c.ops) < 2 {
		return
	}
	avg, ci := toInt32(average(c.ops)), toInt32(confidence95(c.ops))
	fmt.Fprintf(w, "%s [CI95 %d runs] : (%d, %d) ops/sec", name, len(c.ops), avg-ci, avg+ci)
	if c.hasBytes() {
		a, i := average(c.mbs), confidence95(c.mbs)
		fmt.Fprintf(w, "; (%.1f, %.1f) MB/sec", a-i, a+i)
	}
	fmt.Fprintln(w)
}

// reportFinal prints averages and medians of all runs.
func (c *combinedStats) reportFinal(w io.Writer, name string) {
	if len(c.ops) < 2 {
		return
	}
	avg, millis := average(c.ops), 0.0
	if avg > 0 {
		millis = 1000 / avg
	}
	fmt.Fprintf(w, "\n%s [AVG    %d runs] : %d (± %d) ops/sec; %.3f ms/op", name, len(c.ops),
		toInt32(avg), toInt32(confidence95(c.ops)), millis)
	if c.hasBytes() {
		fmt.Fprintf(w, "; %6.1f (± %.1f) MB/sec", average(c.mbs), confidence95(c.mbs))
	}
	fmt.Fprintf(w, "\n%s [MEDIAN %d runs] : %d ops/sec", name, len(c.ops), toInt32(median(c.ops)))
	if c.hasBytes() {
		fmt.Fprintf(w, "; %6.1f MB/sec", median(c.mbs))
	}
	fmt.Fprintln(w)
}

// toInt32 cuts as C++ does on x86: what does not fit is the least number.
func toInt32(v float64) int32 {
	if math.IsNaN(v) || v >= math.MaxInt32+1 || v <= math.MinInt32-1 {
		return math.MinInt32
	}
	return int32(v)
}

func average(data []float64) float64 {
	sum := 0.0
	for _, x := range data {
		sum += x
	}
	return sum / float64(len(data))
}

// confidence95 is half the 95% interval, as if samples were normal: 1.959964
// standard errors.
func confidence95(data []float64) float64 {
	avg, squares := average(data), 0.0
	for _, x := range data {
		squares += (x - avg) * (x - avg)
	}
	deviation := math.Sqrt(squares / float64(len(data)-1))
	return 1.959964 * (deviation / math.Sqrt(float64(len(data))))
}

func median(data []float64) float64 {
	s := slices.Sorted(slices.Values(data))
	mid := len(s) / 2
	if len(s)%2 == 1 {
		return s[mid]
	}
	return (s[mid] + s[mid-1]) / 2
}
