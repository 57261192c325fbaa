// Port of Benchmark::IngestExternalFile of tools/db_bench_tool.cc.

package main

import (
	"fmt"

	engine "github.com/rocksdb-go/rocksdb"
	rocksdb "github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// ingestExternalFile writes batches of files, all of the same keys, and ingests
// each batch by one call.
func (b *benchmark) ingestExternalFile(t *threadState) error {
	f := b.flags
	db := b.selectDB(t.rand)
	size, batches := max(1, int(f.IngestExternalFileBatchSize)), max(1, int(f.IngestExternalFileNumBatches))
	o := rocksdb.DefaultIngestExternalFileOptions()
	// Linked, so that the ingestion itself is measured and not a copy.
	o.MoveFiles = true
	o.FileOpeningThreads = int(f.IngestExternalFileFileOpeningThreads)
	o.FillCache = f.IngestExternalFileFillCache
	o.PrefetchLmaxIndexAndFilterBlocks = f.IngestExternalFilePrefetchLmaxIndexAndFilterBlocks
	w := &externalWriter{b: b, t: t, dir: f.DB + "/ingest_tmp", key: b.keys.keyBuffer(), gen: b.newGenerator()}
	fs := db.db.Impl().GetFileSystem()
	if err := fs.CreateDirIfMissing(w.dir, rocksdb.NewIOOptions()); err != nil {
		return t.failed("CreateDirIfMissing("+w.dir+") failed", err)
	}
	for n := range batches {
		arg := rocksdb.IngestExternalFileArg{ColumnFamily: db.db.ColumnFamily, Options: o}
		for j := range size {
			path := fmt.Sprintf("%s/ingest_%d_%d.sst", w.dir, n, j)
			info, err := w.write(path)
			if err != nil {
				return err
			}
			arg.ExternalFiles = append(arg.ExternalFiles, path)
			if f.IngestExternalFileUseFileInfo {
				arg.FileInfos = append(arg.FileInfos, info.PreparedFileInfo)
			}
		}
		if err := db.db.IngestExternalFiles([]rocksdb.IngestExternalFileArg{arg}); err != nil {
			return t.failed("IngestExternalFile failed", err)
		}
		t.stats.finishedOps(db, 1, opWrite)
		for _, path := range arg.ExternalFiles {
			_ = fs.DeleteFile(path, nil) // moved, as a rule
		}
	}
	t.stats.addBytes(w.bytes)
	withInfo := ""
	if f.IngestExternalFileUseFileInfo {
		withInfo = ", file_info"
	}
	t.stats.addMessage(fmt.Sprintf("(%d batches x %d files, %d keys/file, %d threads%s)", batches, size, b.num, o.FileOpeningThreads, withInfo))
	return nil
}

// externalWriter makes the files.
type externalWriter struct {
	b     *benchmark
	t     *threadState
	dir   string
	key   []byte
	gen   *randomGenerator
	bytes int64
}

func (x *externalWriter) write(path string) (info rocksdb.ExternalSstFileInfo, err error) {
	fo := rocksdb.DefaultFileOptions()
	wo := rocksdb.DefaultSstFileWriterOptions()
	wo.FileOptions = &fo
	w := engine.NewSstFileWriter(x.b.openOptions, &wo)
	defer w.Close()
	if err := w.Open(path, rocksdb.TemperatureUnknown); err != nil {
		return info, x.t.failed("SstFileWriter::Open("+path+") failed", err)
	}
	for i := range x.b.num {
		key := x.b.keys.generate(uint64(i), x.b.num, x.key)
		value := x.gen.generate()
		if err := w.Put(key, value); err != nil {
			return info, x.t.failed("SstFileWriter::Put failed", err)
		}
		x.bytes += int64(len(key) + len(value))
	}
	if err := w.Finish(&info); err != nil {
		return info, x.t.failed("SstFileWriter::Finish("+path+") failed", err)
	}
	return info, nil
}
