// Port of db/internal_stats.cc (Dump…). Differs: figures of a level are a
// struct.

package db

import (
	"fmt"
	"strings"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

const (
	bytesInMB   = 1 << 20
	bytesInGB   = 1 << 30
	microsInSec = 1000 * 1000
	// Rates are not taken over less than this.
	minSeconds = 0.001
)

// sumOfLevels stands for all levels in levelStatsByLevel.
const sumOfLevels = -1

// levelStats is a line of the table of compactions.
type levelStats struct {
	numFiles, beingCompacted int
	size                     uint64 // bytes
	score, writeAmp          float64
	comp                     *CompactionStats
}

// levelStatColumn is a figure of a line: its name in map properties, its heading
// and value.
type levelStatColumn struct {
	property, header string
	value            func(s *levelStats) float64
}

// perSecond divides by the time that was spent, which is never nothing.
func (s *levelStats) perSecond(bytes uint64) float64 {
	return float64(bytes) / bytesInMB / (float64(s.comp.Micros+1) / microsInSec)
}

func (c *CompactionStats) bytesRead() uint64 {
	return c.BytesReadNonOutputLevels + c.BytesReadOutputLevel + c.BytesReadBlob
}

func (c *CompactionStats) bytesWritten() uint64 { return c.BytesWritten + c.BytesWrittenBlob }

func gigabytes(bytes uint64) float64 { return float64(bytes) / bytesInGB }

var levelStatColumns = []levelStatColumn{
	{"NumFiles", "Files", func(s *levelStats) float64 { return float64(s.numFiles) }},
	{"CompactedFiles", "", func(s *levelStats) float64 { return float64(s.beingCompacted) }}, // in the column before
	{"SizeBytes", "Size", func(s *levelStats) float64 { return float64(s.size) }},
	{"Score", "Score", func(s *levelStats) float64 { return s.score }},
	{"ReadGB", "Read(GB)", func(s *levelStats) float64 { return gigabytes(s.comp.bytesRead()) }},
	{"RnGB", "Rn(GB)", func(s *levelStats) float64 { return gigabytes(s.comp.BytesReadNonOutputLevels) }},
	{"Rnp1GB", "Rnp1(GB)", func(s *levelStats) float64 { return gigabytes(s.comp.BytesReadOutputLevel) }},
	{"WriteGB", "Write(GB)", func(s *levelStats) float64 { return gigabytes(s.comp.BytesWritten) }},
	{"WPreCompGB", "WPreComp(GB)", func(s *levelStats) float64 { return gigabytes(s.comp.BytesWrittenPreComp) }},
	{"WnewGB", "Wnew(GB)", func(s *levelStats) float64 {
		return float64(int64(s.comp.BytesWritten)-int64(s.comp.BytesReadOutputLevel)) / bytesInGB
	}},
	{"MovedGB", "Moved(GB)", func(s *levelStats) float64 { return gigabytes(s.comp.BytesMoved) }},
	{"WriteAmp", "W-Amp", func(s *levelStats) float64 { return s.writeAmp }},
	{"ReadMBps", "Rd(MB/s)", func(s *levelStats) float64 { return s.perSecond(s.comp.bytesRead()) }},
	{"WriteMBps", "Wr(MB/s)", func(s *levelStats) float64 { return s.perSecond(s.comp.bytesWritten()) }},
	{"CompSec", "Comp(sec)", func(s *levelStats) float64 { return float64(s.comp.Micros) / microsInSec }},
	{"CompMergeCPU", "CompMergeCPU(sec)", func(s *levelStats) float64 { return float64(s.comp.CPUMicros) / microsInSec }},
	{"CompCount", "Comp(cnt)", func(s *levelStats) float64 { return float64(s.comp.Count) }},
	{"AvgSec", "Avg(sec)", func(s *levelStats) float64 {
		if s.comp.Count == 0 {
			return 0
		}
		return float64(s.comp.Micros) / microsInSec / float64(s.comp.Count)
	}},
	{"KeyIn", "KeyIn", func(s *levelStats) float64 { return float64(s.comp.NumInputRecords) }},
	{"KeyDrop", "KeyDrop", func(s *levelStats) float64 { return float64(s.comp.NumDroppedRecords) }},
	{"RblobGB", "Rblob(GB)", func(s *levelStats) float64 { return gigabytes(s.comp.BytesReadBlob) }},
	{"WblobGB", "Wblob(GB)", func(s *levelStats) float64 { return gigabytes(s.comp.BytesWrittenBlob) }},
}

func levelStatsHeader(b *strings.Builder, family, groupBy string) {
	var heads []string
	for i := range levelStatColumns {
		if h := levelStatColumns[i].header; h != "" {
			heads = append(heads, h)
		}
	}
	line := fmt.Sprintf("%s    %s   %s     %s %s  %s\n", groupBy, heads[0], heads[1], heads[2], heads[3], strings.Join(heads[4:], " "))
	fmt.Fprintf(b, "\n** Compaction Stats [%s] **\n%s%s\n", family, line, strings.Repeat("-", len(line)))
}

// levelStatFormats print the columns from the score on.
var levelStatFormats = [...]string{"%5.1f ", "%8.1f ", "%7.1f ", "%8.1f ", "%9.1f ", "%9.1f ", "%8.1f ", "%9.1f ", "%5.1f ", "%8.1f ",
	"%8.1f ", "%9.2f ", "%17.2f ", "%9.0f ", "%8.3f ", "%7s ", "%6s ", "%9.1f ", "%9.1f\n"}

func (s *levelStats) print(b *strings.Builder, name string) {
	fmt.Fprintf(b, "%4s %6d/%-3d %10s ", name, s.numFiles, s.beingCompacted, util.BytesToHumanString(s.size))
	for i, format := range levelStatFormats {
		v := levelStatColumns[len(levelStatColumns)-len(levelStatFormats)+i].value(s)
		if strings.HasSuffix(format, "s ") {
			fmt.Fprintf(b, format, util.NumberToHumanString(int64(v)))
		} else {
			fmt.Fprintf(b, format, v)
		}
	}
}

// levelStatsByLevel gives the figures of the levels that have any, and of all
// together under sumOfLevels.
func (s *InternalStats) levelStatsByLevel() map[int]*levelStats {
	vs := s.cfd.current.StorageInfo()
	scored := 1
	if s.cfd.ioptions.CompactionStyle == rocksdb.CompactionStyleLevel {
		scored = vs.NumLevels() - 1
	}
	scores := make([]float64, len(s.comp))
	for i := range scored {
		scores[vs.CompactionScoreLevel(i)] = vs.CompactionScore(i)
	}
	ingested := s.cf[BytesFlushed] + s.cf[BytesIngestedAddFile]
	sum := &levelStats{comp: &CompactionStats{}}
	levels := map[int]*levelStats{sumOfLevels: sum}
	for level := range s.comp {
		l := &levelStats{numFiles: vs.NumLevelFiles(level), size: vs.NumLevelBytes(level), score: scores[level], comp: &s.comp[level]}
		for _, f := range vs.LevelFiles(level) {
			if f.BeingCompacted {
				l.beingCompacted++
			}
		}
		sum.numFiles += l.numFiles
		sum.beingCompacted += l.beingCompacted
		if l.comp.Micros == 0 && l.comp.CPUMicros == 0 && l.numFiles == 0 {
			continue
		}
		sum.comp.Add(l.comp)
		sum.size += l.size
		input := ingested
		if level > 0 {
			input = l.comp.BytesReadNonOutputLevels + l.comp.BytesReadBlob
		}
		l.writeAmp = writeAmp(l.comp, input)
		levels[level] = l
	}
	sum.writeAmp = writeAmp(sum.comp, ingested)
	return levels
}

func writeAmp(c *CompactionStats, input uint64) float64 {
	if input == 0 {
		return 0
	}
	return float64(c.bytesWritten()) / float64(input)
}

// cfMapStats are the figures of PropertyCFStats by name: compaction.L1.NumFiles
// and so on, and the write stalls.
func (s *InternalStats) cfMapStats() map[string]string {
	m := map[string]string{}
	for level, l := range s.levelStatsByLevel() {
		name := "Sum"
		if level != sumOfLevels {
			name = fmt.Sprintf("L%d", level)
		}
		for i := range levelStatColumns {
			c := &levelStatColumns[i]
			m["compaction."+name+"."+c.property] = fixed6(c.value(l))
		}
	}
	s.addCFWriteStalls(m)
	return m
}

func (s *InternalStats) secondsUp() float64 {
	return float64(s.clock.NowMicros()-s.started) / microsInSec
}

// cfStatsText is PropertyCFStatsNoFileHistogram; a periodic dump starts a new
// interval.
func (s *InternalStats) cfStatsText(periodic bool) string {
	var b strings.Builder
	last := &s.lastCF
	name := s.cfd.GetName()
	levelStatsHeader(&b, name, "Level")
	levels := s.levelStatsByLevel()
	for level := range s.comp {
		if l := levels[level]; l != nil {
			l.print(&b, fmt.Sprintf("L%d", level))
		}
	}
	sum := levels[sumOfLevels]
	sum.print(&b, "Sum")
	interval := *sum.comp
	interval.Subtract(&last.comp)
	ingested := s.cf[BytesFlushed] - last.cf[BytesFlushed] + s.cf[BytesIngestedAddFile] - last.cf[BytesIngestedAddFile] + 1
	(&levelStats{comp: &interval, writeAmp: writeAmp(&interval, ingested)}).print(&b, "Int")
	levelStatsHeader(&b, name, "Priority")
	for pri := range s.compByPriority {
		if c := &s.compByPriority[pri]; c.Micros > 0 {
			(&levelStats{comp: c}).print(&b, rocksdb.Priority(pri).String())
		}
	}
	vs := s.cfd.current.StorageInfo()
	blobs := vs.GetBlobStats()
	fmt.Fprintf(&b, "\nBlob file count: %d, total size: %.1f GB, garbage size: %.1f GB, space amp: %.1f\n\n",
		len(vs.GetBlobFiles()), gigabytes(blobs.TotalFileSize), gigabytes(blobs.TotalGarbageSize), blobs.SpaceAmp)
	now := s.intervalStats(&b)
	fmt.Fprintf(&b, "Estimated pending compaction bytes: %d\n", vs.EstimatedCompactionNeededBytes())
	stalls, total := s.cfWriteStallText(true)
	b.WriteString(stalls)
	if periodic {
		now.comp, now.stallCount = *sum.comp, total
		*last = now
	}
	if s.cacheStats != nil {
		// The mutex is held: only what was collected before, if not too long
		// ago.
		const dayMicros = 24 * 60 * 60 * microsInSec
		if c, now := s.cacheStats.GetStats(), s.clock.NowMicros(); now-c.LastEndTimeMicros < dayMicros {
			b.WriteString(c.ToString(now))
		}
	}
	return b.String()
}

// intervalStats writes what was added in all and since the last periodic dump,
// and gives the state for the next.
func (s *InternalStats) intervalStats(b *strings.Builder) cfStatsSnapshot {
	last := &s.lastCF
	now := cfStatsSnapshot{cf: s.cf, secondsUp: s.secondsUp()}
	seconds := now.secondsUp - last.secondsUp
	fmt.Fprintf(b, "Uptime(secs): %.1f total, %.1f interval\n", now.secondsUp, seconds)
	inGB := func(name string, t InternalCFStat) {
		fmt.Fprintf(b, "%s: cumulative %.3f, interval %.3f\n", name, gigabytes(now.cf[t]), gigabytes(now.cf[t]-last.cf[t]))
	}
	number := func(name string, t InternalCFStat) {
		fmt.Fprintf(b, "%s: cumulative %d, interval %d\n", name, now.cf[t], now.cf[t]-last.cf[t])
	}
	inGB("Flush(GB)", BytesFlushed)
	inGB("AddFile(GB)", BytesIngestedAddFile)
	number("AddFile(Total Files)", IngestedNumFilesTotal)
	number("AddFile(L0 Files)", IngestedLevel0NumFilesTotal)
	number("AddFile(Keys)", IngestedNumKeysTotal)
	for i := range s.comp {
		now.compactRead += s.comp[i].bytesRead()
		now.compactWrit += s.comp[i].bytesWritten()
		now.compactMicros += s.comp[i].Micros
	}
	compaction := func(name string, written, read, micros uint64, seconds float64) {
		seconds = max(seconds, minSeconds)
		fmt.Fprintf(b, "%s compaction: %.2f GB write, %.2f MB/s write, %.2f GB read, %.2f MB/s read, %.1f seconds\n", name,
			gigabytes(written), float64(written)/bytesInMB/seconds, gigabytes(read), float64(read)/bytesInMB/seconds, float64(micros)/microsInSec)
	}
	compaction("Cumulative", now.compactWrit, now.compactRead, now.compactMicros, now.secondsUp)
	compaction("Interval", now.compactWrit-last.compactWrit, now.compactRead-last.compactRead, now.compactMicros-last.compactMicros, seconds)
	return now
}

// fileHistogramText is PropertyCFFileHistogram.
func (s *InternalStats) fileHistogramText() string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n** File Read Latency Histogram By Level [%s] **\n", s.cfd.GetName())
	for level, h := range s.readHist {
		if !h.Empty() {
			fmt.Fprintf(&b, "** Level %d read latency histogram (micros):\n%s\n", level, h.ToString())
		}
	}
	if !s.blobReadHist.Empty() {
		fmt.Fprintf(&b, "** Blob file read latency histogram (micros):\n%s\n", s.blobReadHist.ToString())
	}
	return b.String()
}

// After as many periodic dumps without a change the figures are dumped again.
const maxNoChangePeriodsSinceDump = 8

// periodicCFStats is the family's figures for the LOG; empty when nothing has
// changed for a while.
func (s *InternalStats) periodicCFStats() string {
	changed := s.changedSinceDump
	if !changed {
		n := s.blobReadHist.Num()
		for _, h := range s.readHist {
			n += h.Num()
		}
		if n != s.lastNumOfHistograms {
			changed, s.lastNumOfHistograms = true, n
		}
	}
	if changed {
		s.unchangedDumps, s.changedSinceDump = 0, false
	} else {
		s.unchangedDumps++
		if s.unchangedDumps > 1 {
			if s.unchangedDumps == maxNoChangePeriodsSinceDump {
				s.unchangedDumps = 0
			}
			return ""
		}
	}
	return s.cfStatsText(true) + s.fileHistogramText()
}

var dbStatNames = [numInternalDBStats]string{
	WalFileBytes: "db.wal_bytes_written", WalFileSynced: "db.wal_syncs", BytesWritten: "db.user_bytes_written",
	NumberKeysWritten: "db.user_keys_written", WriteDoneByOther: "db.user_writes_by_other",
	WriteDoneBySelf: "db.user_writes_by_self", WriteWithWal: "db.user_writes_with_wal",
	WriteStallMicros: "db.user_write_stall_micros", WriteBufferManagerLimitStops: writeBufferManagerStops,
}

// dbMapStats are the figures of PropertyDBStats by name.
func (s *InternalStats) dbMapStats() map[string]string {
	m := map[string]string{"db.uptime": fixed6(s.secondsUp())}
	for t, name := range dbStatNames {
		m[name] = decimal(s.GetDBStats(InternalDBStat(t)))
	}
	return m
}

// dbStatsText is PropertyDBStats; each call starts a new interval.
func (s *InternalStats) dbStatsText() string {
	var b strings.Builder
	now := dbStatsSnapshot{secondsUp: s.secondsUp()}
	interval := now
	interval.secondsUp -= s.lastDB.secondsUp
	for t := range now.db {
		now.db[t] = s.GetDBStats(InternalDBStat(t))
		interval.db[t] = now.db[t] - s.lastDB.db[t]
	}
	fmt.Fprintf(&b, "\n** DB Stats **\nUptime(secs): %.1f total, %.1f interval\n", now.secondsUp, interval.secondsUp)
	now.print(&b, "Cumulative", "GB", bytesInGB)
	interval.print(&b, "Interval", "MB", bytesInMB)
	b.WriteString(writeStallLine(s.dbWriteStalls()))
	s.lastDB = now
	return b.String()
}

func (x *dbStatsSnapshot) print(b *strings.Builder, name, unit string, unitBytes float64) {
	human := func(n uint64) string { return util.NumberToHumanString(int64(n)) }
	ratio := func(n, of uint64) float64 { return float64(n) / max(1, float64(of)) }
	seconds := max(x.secondsUp, minSeconds)
	// A write is a call; a key an update in one; a commit group what one leader
	// wrote at once.
	writes, groups := x.db[WriteDoneByOther]+x.db[WriteDoneBySelf], x.db[WriteDoneBySelf]
	fmt.Fprintf(b, "%s writes: %s writes, %s keys, %s commit groups, %.1f writes per commit group, ingest: %.2f %s, %.2f MB/s\n", name,
		human(writes), human(x.db[NumberKeysWritten]), human(groups), ratio(writes, groups),
		float64(x.db[BytesWritten])/unitBytes, unit, float64(x.db[BytesWritten])/bytesInMB/seconds)
	fmt.Fprintf(b, "%s WAL: %s writes, %s syncs, %.2f writes per sync, written: %.2f GB, %.2f MB/s\n", name,
		human(x.db[WriteWithWal]), human(x.db[WalFileSynced]), ratio(x.db[WriteWithWal], x.db[WalFileSynced]),
		gigabytes(x.db[WalFileBytes]), float64(x.db[WalFileBytes])/bytesInMB/seconds)
	stall := x.db[WriteStallMicros]
	fmt.Fprintf(b, "%s stall: %s, %.1f percent\n", name, util.AppendHumanMicros(nil, stall, true), float64(stall)/microsInSec*100/seconds)
}
