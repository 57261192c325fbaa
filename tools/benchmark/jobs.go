// Port of tools/benchmark.sh (the jobs).

package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// job is one run of db_bench.
type job struct {
	name       string // in the report; "" for runs without a line there
	log        string // the log's name, without directory
	bench      string // the benchmark whose figures are reported
	benchmarks string
	flags      flags
	report     bool // with --report_file
}

// notBuilt are upstream's jobs that need what db_bench does not have yet.
var notBuilt = []string{"randomtransaction", "universal_compaction"}

// jobsOf gives the runs of a job's name; nil for a name that is not known.
func (s *settings) jobsOf(name string) []job {
	threads := ".t" + strconv.FormatInt(s.threads, 10)
	change := func(bench, benchmarks string) []job {
		end := fmt.Sprintf("%s.s%d", threads, s.sync)
		return []job{s.existing(name+end, name+end, bench, benchmarks, "--sync="+strconv.Itoa(s.sync), "--merge_operator=put")}
	}
	reading := func(bench string, more ...string) []job {
		return []job{s.existing(name+threads, name+threads, bench, bench, more...)}
	}
	ranges := func(bench string, reverse bool, more ...string) []job {
		more = append(more, fmt.Sprintf("--seek_nexts=%d", s.nextsPerSeek), fmt.Sprintf("--reverse_iterator=%t", reverse))
		return reading(bench, more...)
	}
	while := []string{"--sync=" + strconv.Itoa(s.sync), "--merge_operator=put"}
	switch name {
	case "bulkload":
		return s.bulkloadJobs()
	case "flush_mt_l0":
		return []job{s.lsm(name, "levelstats,flush,waitforcompaction,compact0,waitforcompaction,memstats,levelstats")}
	case "waitforcompaction":
		return []job{s.lsm(name, "levelstats,waitforcompaction,memstats,levelstats")}
	case "fillseq_disable_wal":
		return []job{s.fillseq("wal_disabled", 1)}
	case "fillseq_enable_wal":
		return []job{s.fillseq("wal_enabled", 0)}
	case "overwrite", "updaterandom", "mergerandom":
		return change(name, name)
	case "overwritesome":
		return change("overwrite", "overwrite")
	case "overwriteandwait":
		return change("overwrite", "overwrite,waitforcompaction")
	case "filluniquerandom":
		j := job{name: name, log: name, bench: name, benchmarks: name, report: true}
		j.flags = append(flags{"--use_existing_db=0", "--sync=0", "--threads=1", seed()}, s.writing()...)
		return []job{j}
	case "readrandom":
		return reading(name)
	case "multireadrandom":
		return reading(name, "--batch_size=10")
	case "readwhilewriting", "readwhilemerging":
		return reading(name, while...)
	case "fwdrange", "revrange":
		return ranges("seekrandom", name == "revrange")
	case "fwdrangewhilewriting", "revrangewhilewriting", "fwdrangewhilemerging", "revrangewhilemerging":
		return ranges("seekrandom"+name[len("fwdrange"):], strings.HasPrefix(name, "rev"), while...)
	}
	return nil
}

func seed() string { return fmt.Sprintf("--seed=%d", time.Now().Unix()) }

// existing is a run over the database that is there.
func (s *settings) existing(name, log, bench, benchmarks string, more ...string) job {
	j := job{name: name, log: log, bench: bench, benchmarks: benchmarks, report: true}
	j.flags = append(flags{"--use_existing_db=1", fmt.Sprintf("--threads=%d", s.threads), seed()}, more...)
	j.flags = append(j.flags, s.writing()...)
	return j
}

// loading are flags of loads by one thread into a vector.
var loading = flags{"--threads=1", "--memtablerep=vector", "--allow_concurrent_memtable_write=false"}

func (s *settings) bulkloadJobs() []job {
	load := job{name: "bulkload", log: "bulkload_fillrandom", bench: "fillrandom", benchmarks: "fillrandom", report: true}
	load.flags = slices.Concat(flags{"--use_existing_db=0", "--disable_auto_compactions=1", "--sync=0"}, s.bulkload(),
		loading, flags{"--disable_wal=1", seed()})
	compact := job{log: "bulkload_compact", benchmarks: "compact"}
	compact.flags = append(flags{"--use_existing_db=1", "--disable_auto_compactions=1", "--sync=0"}, s.writing()...)
	compact.flags.add("threads", 1)
	return []job{load, compact}
}

// fillseq loads in order. Compression begins at level 0, since files are moved
// down as they are.
func (s *settings) fillseq(wal string, disable int) job {
	log := fmt.Sprintf("fillseq.%s.v%d", wal, s.valueSize)
	j := job{name: log, log: log, bench: "fillseq", benchmarks: "fillseq", report: true}
	j.flags = s.writing()
	if s.style != "universal" {
		j.flags.add("min_level_to_compress", 0)
	} else if s.get("UNIVERSAL_ALLOW_TRIVIAL_MOVE") != "" {
		j.flags.add("universal_compression_size_percent", -1)
	}
	j.flags = slices.Concat(j.flags, flags{"--use_existing_db=0", "--sync=0"}, loading, flags{fmt.Sprintf("--disable_wal=%d", disable), seed()})
	return j
}

// lsm brings the tree into a state that read-only runs can be compared in.
func (s *settings) lsm(name, benchmarks string) job {
	j := job{log: name, benchmarks: benchmarks}
	j.flags = append(flags{"--use_existing_db=1", "--sync=0", seed()}, s.writing()...)
	j.flags.add("threads", 1)
	return j
}
