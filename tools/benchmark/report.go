// Port of tools/benchmark.sh (summarize_result).

package main

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// columns are the report's, and what its head says of them.
var columns = []struct{ name, help string }{
	{"ops_sec", "operations per second"},
	{"mb_sec", "ops_sec * size-of-operation-in-MB"},
	{"lsm_sz", "size of LSM tree"},
	{"blob_sz", "size of BlobDB logs"},
	{"c_wgb", "GB written by compaction"},
	{"w_amp", "Write-amplification as (bytes written by compaction and flush / bytes written by the user)"},
	{"c_mbps", "Average write rate for compaction"},
	{"c_wsecs", "Wall clock seconds doing compaction"},
	{"c_csecs", "CPU seconds doing compaction"},
	{"b_rgb", "Blob compaction read GB"},
	{"b_wgb", "Blob compaction write GB"},
	{"usec_op", "Microseconds per operation"},
	{"p50", "50th percentile response time in usecs"},
	{"p99", "99th percentile response time in usecs"},
	{"p99.9", "99.9th percentile response time in usecs"},
	{"p99.99", "99.99th percentile response time in usecs"},
	{"pmax", "max response time in usecs"},
	{"uptime", "RocksDB uptime in seconds"},
	{"stall%", "Percentage of time writes are stalled"},
	{"Nstall", "Number of stalls"},
	{"u_cpu", "#seconds/1000 of user CPU"},
	{"s_cpu", "#seconds/1000 of system CPU"},
	{"rss", "max RSS in GB for db_bench process"},
	{"test", "Name of test"},
	{"date", "Date/time of test"},
	{"version", "RocksDB version"},
	{"job_id", "User-provided job ID"},
	{"githash", "git hash at which db_bench was compiled"},
}

// usage is what the system counted of a run.
type usage struct {
	user, system time.Duration
	maxRSS       int64 // bytes
}

// result is a line of the report; a column that is missing becomes NA.
type result map[string]string

// line is the report's.
func (r result) line() string {
	fields := make([]string, len(columns))
	for i, c := range columns {
		if fields[i] = r[c.name]; fields[i] == "" {
			fields[i] = "NA"
		}
	}
	return strings.Join(fields, "\t")
}

// header is the line that names the columns.
func header() string {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.name
	}
	return strings.Join(names, "\t")
}

// appendReport adds a line to the report, which it begins with its head.
func appendReport(path, line string) error {
	var text strings.Builder
	if _, err := os.Stat(path); os.IsNotExist(err) {
		for _, c := range columns {
			fmt.Fprintf(&text, "# %s - %s\n", c.name, c.help)
		}
		text.WriteString(header() + "\n")
	}
	text.WriteString(line + "\n")
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text.String())
	if e := f.Close(); err == nil {
		err = e
	}
	return err
}

var (
	reBench   = regexp.MustCompile(`(?m)^(\S+) +: +([\d.]+) micros/op (\d+) ops/sec(?: ([\d.]+) seconds (\d+) operations)?;(?: +([\d.]+) MB/s)?`)
	reSum     = regexp.MustCompile(`(?m)^ Sum +.*$`)
	reIngest  = regexp.MustCompile(`(?m)^Cumulative writes: .*ingest: ([\d.]+) (\w+)`)
	reCompact = regexp.MustCompile(`(?m)^Cumulative compaction: ([\d.]+) (\w+) write, ([\d.]+) MB/s write`)
	reFlush   = regexp.MustCompile(`(?m)^Flush\(GB\): cumulative ([\d.]+)`)
	reBlob    = regexp.MustCompile(`(?m)^Blob file count: \d+, total size: ([\d.]+) (\w+)`)
	rePercent = regexp.MustCompile(`(?m)^Percentiles: P50: ([\d.]+) P75: [\d.]+ P99: ([\d.]+) P99\.9: ([\d.]+) P99\.99: ([\d.]+)`)
	reMax     = regexp.MustCompile(`(?m)^Min: .*Median: .*Max: ([\d.]+)`)
	reUptime  = regexp.MustCompile(`(?m)^Uptime\(secs\): ([\d.]+) total`)
	reStall   = regexp.MustCompile(`(?m)^Cumulative stall: \S+ H:M:S, ([\d.]+) percent`)
	reCount   = regexp.MustCompile(`(?m)^Write Stall \(count\): .*total-delays: (\d+), total-stops: (\d+)`)
)

// last is the last match of re in text; nil for none.
func last(re *regexp.Regexp, text string) []string {
	all := re.FindAllStringSubmatch(text, -1)
	if len(all) == 0 {
		return nil
	}
	return all[len(all)-1]
}

// number formats a number's text with so many digits after the point.
func number(s string, digits int) string {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return ""
	}
	return strconv.FormatFloat(v, 'f', digits, 64)
}

// asGB is a size in GB.
func asGB(size, unit string) (float64, bool) {
	v, err := strconv.ParseFloat(size, 64)
	scale, ok := map[string]float64{"KB": 1.0 / mib, "MB": 1.0 / kib, "GB": 1, "TB": kib}[unit]
	return v * scale, err == nil && ok
}

// summarize reads a run's figures from what it printed. ok is false when the
// benchmark did not get to its end.
func summarize(text, bench string, u usage) (r result, ok bool) {
	r = result{}
	for _, m := range reBench.FindAllStringSubmatch(text, -1) {
		if m[1] == bench {
			ok = true
			r["usec_op"], r["ops_sec"], r["mb_sec"] = number(m[2], 1), m[3], m[6]
		}
	}
	if !ok {
		r["ops_sec"] = "failed"
	}
	compacted, haveCompacted := 0.0, false
	if m := last(reCompact, text); m != nil {
		if compacted, haveCompacted = asGB(m[1], m[2]); haveCompacted {
			r["c_wgb"] = strconv.FormatFloat(compacted, 'f', 1, 64)
		}
		r["c_mbps"] = number(m[3], 1)
	}
	if in, fl := last(reIngest, text), last(reFlush, text); in != nil && fl != nil && haveCompacted {
		ingested, ok := asGB(in[1], in[2])
		if flushed, err := strconv.ParseFloat(fl[1], 64); err == nil && ok && ingested > 0 {
			r["w_amp"] = strconv.FormatFloat((compacted+flushed)/ingested, 'f', 1, 64)
		}
	}
	if m := last(reSum, text); m != nil {
		f := strings.Fields(m[0])
		field := func(i int) string {
			if i < len(f) {
				return number(f[i], 0)
			}
			return ""
		}
		if len(f) > 3 {
			r["lsm_sz"] = number(f[2], 0) + f[3]
		}
		r["c_wsecs"], r["c_csecs"] = field(14), field(15)
		r["b_rgb"], r["b_wgb"] = field(20), field(21)
	}
	if m := last(reBlob, text); m != nil {
		r["blob_sz"] = number(m[1], 0) + m[2]
	}
	if m := last(rePercent, text); m != nil {
		r["p50"], r["p99"], r["p99.9"], r["p99.99"] = number(m[1], 1), number(m[2], 0), number(m[3], 0), number(m[4], 0)
	}
	if m := last(reMax, text); m != nil {
		r["pmax"] = number(m[1], 0)
	}
	if m := last(reUptime, text); m != nil {
		r["uptime"] = number(m[1], 0)
	}
	if m := last(reStall, text); m != nil {
		r["stall%"] = m[1]
	}
	if m := last(reCount, text); m != nil {
		delays, _ := strconv.Atoi(m[1]) // digits
		stops, _ := strconv.Atoi(m[2])
		r["Nstall"] = strconv.Itoa(delays + stops)
	}
	r["u_cpu"] = strconv.FormatFloat(u.user.Seconds()/1000, 'f', 1, 64)
	r["s_cpu"] = strconv.FormatFloat(u.system.Seconds()/1000, 'f', 1, 64)
	r["rss"] = strconv.FormatFloat(float64(u.maxRSS)/gib, 'f', 1, 64)
	return r, ok
}

// addLog takes version and commit from the database's info log.
func (r result) addLog(text string) {
	if m := regexp.MustCompile(`RocksDB version: (\S+)`).FindStringSubmatch(text); m != nil {
		r["version"] = m[1]
	}
	if m := regexp.MustCompile(`Git sha (\S{1,10})`).FindStringSubmatch(text); m != nil {
		r["githash"] = m[1]
	}
}
