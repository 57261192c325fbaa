// Port of db/db_impl/db_impl_compaction_flush.cc (CompactFiles,
// CompactFilesImpl). Differs: file numbers have to be read out of every name.

package dbimpl

import (
	"github.com/rocksdb-go/rocksdb/db"
	"github.com/rocksdb-go/rocksdb/db/compaction"
	"github.com/rocksdb-go/rocksdb/file/filename"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/logging"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

// CompactFiles compacts the table files named, of which the directory does not
// matter, with those that have to go along, into outputLevel, in the goroutine
// of the caller. It gives the paths of the new tables, then of the blob files.
// outputPathID -1 is the only path of the family. o may be nil; info, which may
// be nil, is filled in. Listeners are not told, so that they may call it. The
// error is Aborted when a file is being compacted already.
func (d *DBImpl) CompactFiles(o *rocksdb.CompactionOptions, cf rocksdb.ColumnFamilyHandle, inputs []string, outputLevel, outputPathID int,
	info *rocksdb.CompactionJobInfo) (outputs []string, err error) {
	if d.readOnly {
		return nil, d.readOnlyError()
	}
	if o == nil {
		def := rocksdb.DefaultCompactionOptions()
		o = &def
	}
	cfd := d.cfd(cf)
	jc := d.newJobContext()
	jc.quiet = true
	jc.runsIn(nil)
	log := logging.NewLogBuffer(rocksdb.InfoLevel, d.infoLog)
	if o.Compression != rocksdb.DisableCompressionOption {
		logging.Warn(d.infoLog, "[%s] [JOB %d] Found use of deprecated option `CompactionOptions::compression`", cfd.GetName(), jc.id)
	}
	syncpoint.Process("TestCompactFiles::IngestExternalFile2")
	syncpoint.ProcessArg("TestCompactFiles:PausingManualCompaction:3", &d.manualPaused)
	syncpoint.ProcessArg("TestCancelCompactFiles:SuccessfulCompaction", &d.manualPaused)
	d.mu.Lock()
	c, err := d.pickFilesLocked(o, cfd, inputs, outputLevel, outputPathID)
	if err == nil {
		d.st.bgCompactScheduled++
		pending := d.captureOutputsLocked()
		err = d.runCompactionLocked(c, &manualCompaction{cfd: cfd, noTrivial: !o.AllowTrivialMove}, jc, log)
		d.releaseOutputsLocked(pending)
		if info != nil {
			*info = *d.compactionJobInfo(cfd, c, nil, jc, err)
			addTableProperties(info, c)
			if jc.stats != nil {
				info.Stats = *jc.stats
			}
		}
		for _, f := range c.Edit().GetNewFiles() {
			outputs = append(outputs, d.tableFileName(cfd, f.Meta))
		}
		for _, b := range c.Edit().GetBlobFileAdditions() {
			outputs = append(outputs, filename.BlobFileName(cfd.IOptions().CFPaths[0].Path, b.GetBlobFileNumber()))
		}
		c.Close()
		defer func() {
			d.mu.Lock()
			d.st.bgCompactScheduled--
			d.maybeScheduleLocked()
			d.bgCond.Broadcast()
			d.mu.Unlock()
			syncpoint.Process("CompactFilesImpl:End")
		}()
	}
	d.findObsoleteFilesLocked(jc, err != nil, false)
	d.mu.Unlock()
	log.FlushBufferToLog()
	if jc.haveSomethingToDelete() {
		d.purgeObsoleteFiles(jc)
	}
	jc.clean()
	return outputs, err
}

// pickFilesLocked makes the compaction of files named.
func (d *DBImpl) pickFilesLocked(o *rocksdb.CompactionOptions, cfd *db.ColumnFamilyData, inputs []string, outputLevel, outputPathID int) (*compaction.Compaction, error) {
	switch {
	case d.shuttingDown.Load():
		return nil, rocksdb.ShutdownInProgress()
	case cfd.IsDropped():
		return nil, rocksdb.ColumnFamilyDropped(cfd.GetName())
	case d.compactionAborted.Load() > 0:
		return nil, rocksdb.AllCompactionsAborted()
	case d.manualPaused.Load() > 0 || o.Canceled != nil && o.Canceled.Load():
		return nil, rocksdb.ManualCompactionPaused()
	}
	io := cfd.IOptions()
	switch paths := len(io.CFPaths); {
	case outputPathID < 0 && paths != 1:
		return nil, rocksdb.NotSupported("Automatic output path selection is not yet supported in CompactFiles()")
	case outputPathID >= paths:
		return nil, rocksdb.InvalidArgumentf("output path %d of %d", outputPathID, paths)
	}
	if (io.AllowIngestBehind || io.CFAllowIngestBehind) && outputLevel >= io.NumLevels-1 {
		return nil, rocksdb.InvalidArgumentf("Exceed the maximum output level defined by the current compaction algorithm with ingest_behind --- %d", io.NumLevels-1)
	}
	numbers := map[uint64]struct{}{}
	for _, name := range inputs {
		n := filename.TableFileNameToNumber(name)
		if n == 0 {
			return nil, rocksdb.InvalidArgument("not the name of a table file", name)
		}
		numbers[n] = struct{}{}
	}
	v := cfd.Current()
	meta := v.GetColumnFamilyMetaData(nil)
	files, err := cfd.CompactionPicker().SanitizeCompactionInputFiles(numbers, outputLevel, &meta, v.StorageInfo(), cfd.GetLatestMutableCFOptions())
	syncpoint.Process("DBImpl::CompactFilesImpl::PostSanitizeAndConvertCompactionInputFiles")
	if err != nil {
		return nil, err
	}
	for i := range files {
		for _, f := range files[i].Files {
			if f.BeingCompacted {
				return nil, rocksdb.Aborted("Some of the necessary compaction input files are already being compacted")
			}
		}
	}
	c := cfd.PickCompactionForCompactFiles(o, files, outputLevel, d.mutableDBOptions.Load(), uint32(max(outputPathID, 0)))
	v.StorageInfo().ComputeCompactionScore(io, c.MutableCFOptions(), string(cfd.GetFullHistoryTsLow()))
	return c, nil
}
