// Port of db/compaction/compaction_job.cc (checks of the outputs, statistics and
// log lines).

package job

import (
	"fmt"
	"sync"

	"github.com/rocksdb-go/rocksdb/db"
	"github.com/rocksdb-go/rocksdb/db/tablecache"
	"github.com/rocksdb-go/rocksdb/file"
	"github.com/rocksdb-go/rocksdb/file/filename"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/logging"
	"github.com/rocksdb-go/rocksdb/monitoring"
	"github.com/rocksdb-go/rocksdb/options"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
	"github.com/rocksdb-go/rocksdb/util/compression"
)

// verifyOutputFiles opens the outputs, which puts them into the cache of open
// tables, and reads them as far as the options say.
func (j *CompactionJob) verifyOutputFiles() error {
	flags := j.mo.VerifyOutputFlags
	if j.mo.ParanoidFileChecks {
		flags |= rocksdb.VerifyIteration | rocksdb.EnableForLocalCompaction | rocksdb.EnableForRemoteCompaction
	}
	verify := func(s *subcompactionState) {
		if err := s.eachOutput(func(out *output) error { return j.verifyOutput(s, out, flags) }); err != nil {
			s.status = err
		}
	}
	var wg sync.WaitGroup
	for _, s := range j.parts[1:] {
		wg.Add(1)
		go func() {
			defer wg.Done()
			verify(s)
		}()
	}
	verify(j.parts[0])
	wg.Wait()
	return j.firstError()
}

func (j *CompactionJob) verifyOutput(s *subcompactionState, out *output, flags rocksdb.VerifyOutputFlags) error {
	ro := rocksdb.DefaultReadOptions()
	ro.IOActivity = rocksdb.IOActivityCompaction
	ro.VerifyChecksums = true
	ro.ReadaheadSize = j.MutableDBOptions.CompactionReadaheadSize
	ro.RateLimiterPriority = j.GetRateLimiterPriority()
	ro.IOStatsContext = &s.ioStats
	open := tablecache.OpenOptions{Level: j.c.OutputLevel(), FileReadHist: j.CFD.InternalStats().GetFileReadHist(j.c.OutputLevel()),
		MaxFileSizeForL0MetaPin: options.MaxFileSizeForL0MetaPin(j.mo)}
	if j.MutableDBOptions.FastSstOpen {
		open.FileOpenMetadata = &out.meta.FileOpenMetadata
	}
	// As a user's read, so that the next one finds it open.
	it := j.CFD.TableCache().NewIterator(&ro, out.meta, j.mo, &tablecache.IteratorOptions{OpenOptions: open, Caller: rocksdb.CallerCompactionRefill})
	defer it.Close()
	if err := it.Status(); err != nil || flags&rocksdb.EnableForLocalCompaction == 0 {
		return err
	}
	iterate := flags&rocksdb.VerifyIteration != 0
	if flags&rocksdb.VerifyBlockChecksum != 0 {
		reader, h, err := j.CFD.TableCache().FindTable(&ro, out.meta, j.mo, &open)
		if err == nil {
			// The iteration checks the data blocks.
			err = reader.VerifyChecksum(&ro, rocksdb.CallerCompaction, iterate)
		}
		h.Release()
		if err != nil {
			return err
		}
	}
	if iterate {
		read := db.NewOutputValidator(j.icmp, true, 0)
		for it.SeekToFirst(); it.Valid(); it.Next() {
			if err := read.Add(it.Key(), it.Value()); err != nil {
				return err
			}
		}
		if err := it.Status(); err != nil {
			return err
		}
		if !out.validator.CompareValidator(read) {
			return rocksdb.Corruption("Key-value checksum of compaction output doesn't match what was computed when written").In(out.path)
		}
	}
	if flags&rocksdb.VerifyFileChecksum != 0 && j.DBOptions.FileChecksumGenFactory != nil &&
		out.meta.FileChecksum != rocksdb.UnknownFileChecksum {
		sum, _, err := file.GenerateOneFileChecksum(j.DBOptions.FS, out.path, j.DBOptions.FileChecksumGenFactory, &file.ChecksumOptions{
			RequestedFuncName: out.meta.FileChecksumFuncName, ReadaheadSize: int(ro.ReadaheadSize), ReadOptions: &ro,
			Stats: j.Statistics, Clock: j.DBOptions.Clock, RateLimiter: j.DBOptions.RateLimiter})
		if err != nil {
			return err
		}
		if sum != out.meta.FileChecksum {
			return rocksdb.Corruption("File checksum mismatch for compaction output file " + out.path)
		}
	}
	return nil
}

func (j *CompactionJob) updateTimingStats(start uint64) {
	j.stats.Micros = j.DBOptions.Clock.NowMicros() - start
	for _, s := range j.parts {
		j.stats.CPUMicros += s.stats.CPUMicros
	}
	j.proximalStats.Micros, j.proximalStats.CPUMicros = j.stats.Micros, j.stats.CPUMicros
	monitoring.RecordTimeToHistogram(j.Statistics, rocksdb.HistCompactionTime, j.stats.Micros)
	monitoring.RecordTimeToHistogram(j.Statistics, rocksdb.HistCompactionCPUTime, j.stats.CPUMicros)
}

// aggregateStats sums up the parts.
func (j *CompactionJob) aggregateStats() {
	for _, s := range j.parts {
		s.outputs.stats.addTo(&j.stats.CompactionStats)
		if s.proximal != nil {
			s.proximal.stats.addTo(&j.proximalStats)
		}
		j.stats.CountBlobFiles(s.blobAdditions())
		files := j.jobStats.NumInputFiles
		bytes := j.jobStats.TotalInputBytes
		j.jobStats.Add(&s.stats)
		j.jobStats.NumInputFiles, j.jobStats.TotalInputBytes = files, bytes
	}
}

func (o *outputStats) addTo(s *db.CompactionStats) {
	s.BytesWritten += o.bytesWritten
	s.BytesWrittenPreComp += o.bytesWrittenPreComp
	s.NumOutputRecords += o.numOutputRecords
	s.NumOutputFiles += o.numOutputFiles
}

// numOutputRecords counts those of both levels.
func (j *CompactionJob) numOutputRecords() uint64 {
	return j.stats.NumOutputRecords + j.proximalStats.NumOutputRecords
}

// blockBasedIndexTypeProperty is in every block-based table.
const blockBasedIndexTypeProperty = "rocksdb.block.based.table.index.type"

// updateStatsFromInputFiles counts the inputs by their metadata. rangeDels is
// how many of the records are range tombstones; exact is false when a count is
// missing.
func (j *CompactionJob) updateStatsFromInputFiles() (rangeDels uint64, exact bool) {
	exact = true
	props := j.c.GetInputTableProperties()
	for _, p := range props {
		// Such a table may be from a release that counted entries otherwise.
		if p != nil && p.FormatVersion < 5 {
			if _, ok := p.UserCollectedProperties[blockBasedIndexTypeProperty]; ok {
				j.jobStats.HasAccurateNumInputRecords = false
				break
			}
		}
	}
	st := &j.stats
	for i := range j.c.NumInputLevels() {
		count, read := &st.NumInputFilesInNonOutputLevels, &st.BytesReadNonOutputLevels
		filtered, skipped := &st.numFilteredInputFilesInNonOutputLevels, &st.bytesSkippedNonOutputLevels
		if j.c.InputLevel(i) == j.c.OutputLevel() {
			count, read = &st.NumInputFilesInOutputLevel, &st.BytesReadOutputLevel
			filtered, skipped = &st.numFilteredInputFilesInOutputLevel, &st.bytesSkippedOutputLevel
		}
		files := j.c.InputLevelFiles(i)
		*count += files.NumFiles()
		for k := range files.Files {
			f := files.Files[k].FileMetadata
			*read += f.FD.GetFileSize()
			entries, dels := f.NumEntries, f.NumRangeDeletions
			if entries == 0 {
				name := filename.TableFileName(j.io.CFPaths, f.FD.GetNumber(), f.FD.GetPathId())
				if p := props[name]; p != nil {
					entries, dels = p.NumEntries, p.NumRangeDeletions
				} else {
					exact = false
				}
			}
			st.NumInputRecords += entries
			rangeDels += dels
		}
		for _, f := range j.c.FilteredInputLevels(i) {
			*filtered++
			*skipped += f.FD.GetFileSize()
		}
	}
	st.BytesReadBlob = j.jobStats.TotalBlobBytesRead
	if out := j.numOutputRecords(); st.NumInputRecords > out {
		st.NumDroppedRecords = st.NumInputRecords - out
	}
	return rangeDels, exact
}

// verifyRecordCounts compares what was read and written with what the tables
// say of themselves.
func (j *CompactionJob) verifyRecordCounts(rangeDels uint64, exact bool) error {
	trims := j.icmp.TimestampSize() > 0 && j.c.TrimTS() != "" // which passes over entries
	if exact && !trims && j.jobStats.HasAccurateNumInputRecords {
		if expected, actual := j.stats.NumInputRecords-rangeDels, j.jobStats.NumInputRecords; expected != actual {
			if err := j.wrongCount("VerifyInputRecordCount()", "Compaction number of input keys does not match number of keys processed. "+
				"Expected %d but processed %d. Compaction summary: %s", expected, actual); err != nil {
				return err
			}
		}
	}
	name := j.mo.TableFactory.Name()
	if name != rocksdb.BlockBasedTableName && name != rocksdb.PlainTableName {
		return nil
	}
	var written uint64
	for _, s := range j.parts {
		_ = s.eachOutput(func(out *output) error {
			written += out.properties.NumEntries - out.properties.NumRangeDeletions
			return nil
		})
	}
	expected := j.numOutputRecords()
	if written == expected {
		return nil
	}
	return j.wrongCount("VerifyOutputRecordCount()", "Number of keys in compaction output SST files does not match number of keys added. "+
		"Expected %d but there are %d in output SST files. Compaction summary: %s", expected, written)
}

func (j *CompactionJob) wrongCount(where, format string, expected, actual uint64) error {
	msg := fmt.Sprintf(format, expected, actual, j.c.Summary())
	logging.Warn(j.DBOptions.InfoLog, "[%s] [JOB %d] %s Status: %s", j.CFD.GetName(), j.JobID, where, msg)
	if j.DBOptions.CompactionVerifyRecordCount {
		return rocksdb.Corruption(msg)
	}
	return nil
}

// finalizeStats completes the job's statistics.
// Upstream: CompactionJob::UpdateCompactionJobInputStatsFromInternalStats,
// CompactionJob::UpdateCompactionJobOutputStatsFromInternalStats.
func (j *CompactionJob) finalizeStats(err error, rangeDels uint64, exact bool) {
	js, st := &j.jobStats, &j.stats
	if exact {
		js.TotalInputBytes = st.BytesReadNonOutputLevels + st.BytesReadOutputLevel
		js.NumInputRecords = st.NumInputRecords - rangeDels
		js.NumInputFiles = st.NumInputFilesInNonOutputLevels + st.NumInputFilesInOutputLevel
		js.NumInputFilesAtOutputLevel = st.NumInputFilesInOutputLevel
		js.NumFilteredInputFiles = st.numFilteredInputFilesInNonOutputLevels + st.numFilteredInputFilesInOutputLevel
		js.NumFilteredInputFilesAtOutputLevel = st.numFilteredInputFilesInOutputLevel
		js.TotalSkippedInputBytes = st.bytesSkippedNonOutputLevels + st.bytesSkippedOutputLevel
	}
	js.ElapsedMicros, js.CPUMicros = st.Micros, st.CPUMicros
	js.TotalOutputBytes = st.BytesWritten + j.proximalStats.BytesWritten
	js.NumOutputRecords = j.numOutputRecords()
	js.NumOutputFiles = st.NumOutputFiles + j.proximalStats.NumOutputFiles
	js.TotalOutputBytesBlob, js.NumOutputFilesBlob = st.BytesWrittenBlob, st.NumOutputFilesBlob
	if err == nil && js.NumOutputFiles > 0 {
		js.SmallestOutputKeyPrefix = copyPrefix(smallestUserKey(j.parts))
		js.LargestOutputKeyPrefix = copyPrefix(largestUserKey(j.parts))
	}
	j.recordCompactionIOStats()
	logging.Flush(j.DBOptions.InfoLog)
}

func (j *CompactionJob) recordCompactionIOStats() {
	var read, written uint64
	for _, s := range j.parts {
		read += s.ioStats.BytesRead
		written += s.ioStats.BytesWritten
	}
	monitoring.RecordTick(j.Statistics, rocksdb.CompactReadBytes, read)
	monitoring.RecordTick(j.Statistics, rocksdb.CompactWriteBytes, written)
	j.Status.IncreaseThreadOperationProperty(rocksdb.CompactionBytesRead, read)
	j.Status.IncreaseThreadOperationProperty(rocksdb.CompactionBytesWritten, written)
	switch j.c.CompactionReason() {
	case rocksdb.CompactionReasonFilesMarkedForCompaction:
		monitoring.RecordTick(j.Statistics, rocksdb.CompactReadBytesMarked, read)
		monitoring.RecordTick(j.Statistics, rocksdb.CompactWriteBytesMarked, written)
	case rocksdb.CompactionReasonPeriodicCompaction:
		monitoring.RecordTick(j.Statistics, rocksdb.CompactReadBytesPeriodic, read)
		monitoring.RecordTick(j.Statistics, rocksdb.CompactWriteBytesPeriodic, written)
	case rocksdb.CompactionReasonTtl:
		monitoring.RecordTick(j.Statistics, rocksdb.CompactReadBytesTTL, read)
		monitoring.RecordTick(j.Statistics, rocksdb.CompactWriteBytesTTL, written)
	}
}

// logCompaction tells the log of the begin.
func (j *CompactionJob) logCompaction() {
	if j.DBOptions.InfoLogLevel > rocksdb.InfoLevel {
		return
	}
	c, name := j.c, j.CFD.GetName()
	logging.Info(j.DBOptions.InfoLog, "[%s] [JOB %d] Compacting %s, score %.2f", name, j.JobID, c.InputLevelSummary(), c.Score())
	logging.Info(j.DBOptions.InfoLog, "[%s]: Compaction start summary: %s\n", name, c.Summary())
	e := j.EventLogger.Log()
	e.Add("job", j.JobID).Add("event", "compaction_started").Add("cf_name", name).Add("compaction_reason", c.CompactionReason().String())
	for i := range c.NumInputLevels() {
		e.JSON.AddKey(fmt.Sprintf("files_L%d", c.InputLevel(i)))
		e.JSON.StartArray()
		for _, f := range c.InputFiles(i) {
			e.AddValue(f.FD.GetNumber())
		}
		e.JSON.EndArray()
	}
	oldest := int64(-1)
	if len(j.Snapshots) > 0 {
		oldest = int64(j.Snapshots[0])
	}
	e.Add("score", c.Score()).Add("input_data_size", c.CalculateTotalInputSize()).Add("oldest_snapshot_seqno", oldest)
	if c.SupportsPerKeyPlacement() {
		e.Add("proximal_after_seqno", j.proximalAfterSeqno).Add("preserve_seqno_after", j.preserveSeqnoAfter).
			Add("proximal_output_level", c.GetProximalLevel()).Add("proximal_output_range", c.GetProximalOutputRangeType().String())
	}
	e.End()
}

// logFinished tells the log of the end.
func (j *CompactionJob) logFinished(err error) {
	const mb = 1048576.0
	st, vs := &j.stats, j.CFD.Current().StorageInfo()
	upper := st.BytesReadNonOutputLevels + st.BytesReadBlob
	read := st.BytesReadOutputLevel + upper
	written := st.BytesWritten + st.BytesWrittenBlob
	var readWriteAmp, writeAmp, readRate, writeRate float64
	if upper > 0 {
		readWriteAmp = float64(written+read) / float64(upper)
		writeAmp = float64(written) / float64(upper)
	}
	if st.Micros > 0 {
		readRate, writeRate = float64(read)/float64(st.Micros), float64(written)/float64(st.Micros)
	}
	status := "OK"
	if err != nil {
		status = err.Error()
	}
	codec := compression.CompressionTypeToString(j.c.OutputCompression())
	logging.ToBuffer(j.LogBuffer, "[%s] compacted to: %s, MB/sec: %.1f rd, %.1f wr, level %d, files in(%d, %d) filtered(%d, %d) "+
		"out(%d +%d blob) MB in(%.1f, %.1f +%.1f blob) filtered(%.1f, %.1f) out(%.1f +%.1f blob), read-write-amplify(%.1f) "+
		"write-amplify(%.1f) %s, records in: %d, records dropped: %d output_compression: %s\n",
		j.CFD.GetName(), vs.LevelSummary(), readRate, writeRate, j.c.OutputLevel(), st.NumInputFilesInNonOutputLevels,
		st.NumInputFilesInOutputLevel, st.numFilteredInputFilesInNonOutputLevels, st.numFilteredInputFilesInOutputLevel,
		st.NumOutputFiles, st.NumOutputFilesBlob, float64(st.BytesReadNonOutputLevels)/mb, float64(st.BytesReadOutputLevel)/mb,
		float64(st.BytesReadBlob)/mb, float64(st.bytesSkippedNonOutputLevels)/mb, float64(st.bytesSkippedOutputLevel)/mb,
		float64(st.BytesWritten)/mb, float64(st.BytesWrittenBlob)/mb, readWriteAmp, writeAmp, status, st.NumInputRecords,
		st.NumDroppedRecords, codec)
	blobs := vs.GetBlobFiles()
	if n := len(blobs); n > 0 {
		logging.ToBuffer(j.LogBuffer, "[%s] Blob file summary: head=%d, tail=%d\n", j.CFD.GetName(), blobs[0].GetBlobFileNumber(),
			blobs[n-1].GetBlobFileNumber())
	}
	proximal := &j.proximalStats
	if j.hasProximalOutput() {
		logging.ToBuffer(j.LogBuffer, "[%s] has Proximal Level output: %d, level %d, number of files: %d, number of records: %d",
			j.CFD.GetName(), proximal.BytesWritten, j.c.GetProximalLevel(), proximal.NumOutputFiles, proximal.NumOutputRecords)
	}
	syncpoint.ProcessArg("CompactionJob::Install:AfterUpdateCompactionJobStats", &j.jobStats)
	e := j.EventLogger.LogToBuffer(j.LogBuffer, 8192)
	e.Add("job", j.JobID).Add("event", "compaction_finished").Add("compaction_time_micros", st.Micros).
		Add("compaction_time_cpu_micros", st.CPUMicros).Add("output_level", j.c.OutputLevel()).
		Add("num_output_files", st.NumOutputFiles).Add("total_output_size", st.BytesWritten)
	if st.NumOutputFilesBlob > 0 {
		e.Add("num_blob_output_files", st.NumOutputFilesBlob).Add("total_blob_output_size", st.BytesWrittenBlob)
	}
	e.Add("num_input_records", st.NumInputRecords).Add("num_output_records", st.NumOutputRecords).
		Add("num_subcompactions", len(j.parts)).Add("output_compression", codec).
		Add("num_single_delete_mismatches", j.jobStats.NumSingleDelMismatch).
		Add("num_single_delete_fallthrough", j.jobStats.NumSingleDelFallthru)
	if j.mo.ReportBGIOStats {
		e.Add("file_write_nanos", j.jobStats.FileWriteNanos).Add("file_range_sync_nanos", j.jobStats.FileRangeSyncNanos).
			Add("file_fsync_nanos", j.jobStats.FileFsyncNanos).Add("file_prepare_write_nanos", j.jobStats.FilePrepareWriteNanos)
	}
	e.JSON.AddKey("lsm_state")
	e.JSON.StartArray()
	for level := range vs.NumLevels() {
		e.AddValue(vs.NumLevelFiles(level))
	}
	e.JSON.EndArray()
	if n := len(blobs); n > 0 {
		e.Add("blob_file_head", blobs[0].GetBlobFileNumber()).Add("blob_file_tail", blobs[n-1].GetBlobFileNumber())
	}
	if j.hasProximalOutput() {
		e.Add("proximal_level_num_output_files", proximal.NumOutputFiles).Add("proximal_level_bytes_written", proximal.BytesWritten).
			Add("proximal_level_num_output_records", proximal.NumOutputRecords).
			Add("proximal_level_num_output_files_blob", proximal.NumOutputFilesBlob).
			Add("proximal_level_bytes_written_blob", proximal.BytesWrittenBlob)
	}
	e.End()
}
