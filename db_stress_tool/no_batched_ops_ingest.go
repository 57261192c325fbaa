// Port of db_stress_tool/no_batched_ops_stress.cc (TestIngestExternalFile).
// Differs: prepared ingestions are aborted, never just dropped.

package dbstresstool

import (
	"fmt"

	dbimpl "github.com/rocksdb-go/rocksdb/db/db_impl"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/table/sstfile"
)

// fileIngestion is one ingestion of files that are made for it.
type fileIngestion struct {
	*nonBatchedTest
	t       *threadState
	cf      int
	keys    []int64
	files   []string // of keys; with rangeDel the last one deletes all the keys
	infos   []rocksdb.ExternalSstFileInfo
	pending []pendingExpectedValue
	// rangeDel: the keys are without gaps, and a file of its own deletes them.
	rangeDel bool
	useInfo  bool
	options  rocksdb.IngestExternalFileOptions
}

// ingestFiles ingests files with the keys from keys[0] on that may be
// overwritten.
func (n *nonBatchedTest) ingestFiles(t *threadState, cfs []int, keys []int64) {
	f := n.flags
	g := &fileIngestion{nonBatchedTest: n, t: t, cf: cfs[0], rangeDel: t.rand.OneInOpt(int(f.TestIngestStandaloneRangeDeletionOneIn))}
	g.useInfo = !g.rangeDel && t.rand.OneInOpt(int(f.IngestExternalFileUseFileInfoOneIn))
	first := keys[0]
	end := min(first+int64(f.IngestExternalFileWidth), f.MaxKey)
	defer t.shared.lockKeyRange(g.cf, first, end)()
	if g.chooseKeys(first, end); len(g.keys) == 0 {
		return
	}
	count := min(1+int(t.rand.Uniform(3)), len(g.keys))
	for i := range count {
		g.files = append(g.files, fmt.Sprintf("%s/.%d_%d.sst", n.dbPath, t.tid, i))
	}
	g.infos = make([]rocksdb.ExternalSstFileInfo, count)
	if g.rangeDel {
		g.files = append(g.files, fmt.Sprintf("%s/.%d_standalone_rangedel.sst", n.dbPath, t.tid))
	}
	fs := n.tool.rawEnv.GetFileSystem()
	for _, name := range g.files {
		// A killed process may have left it.
		if fs.FileExists(name, nil) == nil && fs.DeleteFile(name, nil) != nil {
			return
		}
	}
	err := g.write(count)
	committed := false
	if err == nil {
		committed, err = g.ingest()
	}
	for i := range g.pending {
		if committed {
			g.pending[i].commit()
		} else {
			g.pending[i].rollback()
		}
	}
	if err != nil && !isInjected(err) && !n.dbStopped.Load() {
		n.tool.terminate("file ingestion error: %v under specified IngestExternalFileOptions: %+v, files: %q, use_file_info: %v", err, g.options, g.files, g.useInfo)
	}
}

func (g *fileIngestion) chooseKeys(first, end int64) {
	for key := first; key < end; key++ {
		switch {
		case g.t.shared.allowsOverwrite(key):
			g.keys = append(g.keys, key)
		case g.rangeDel && len(g.keys) > 0:
			return
		}
	}
}

// write makes the files, the keys dealt out to the first count of them.
func (g *fileIngestion) write(count int) (err error) {
	f := g.flags
	writers := make([]*sstfile.SstFileWriter, count)
	for i := range writers {
		w := sstfile.NewSstFileWriter(&g.nonBatchedTest.options, nil)
		defer func() {
			if cerr := w.Close(); err == nil {
				err = cerr
			}
		}()
		writers[i] = w
		if f.IngestExternalFileWithEmbeddedBlobs && f.FormatVersion >= 7 {
			// Only the largest values become blobs.
			o := rocksdb.DefaultSstFileWriterEmbeddedBlobOptions()
			o.MinBlobSize = randomValueMaxFactor * uint64(f.ValueSizeMult)
			err = w.OpenWithEmbeddedBlobs(g.files[i], &o, rocksdb.TemperatureUnknown)
		} else {
			err = w.Open(g.files[i], rocksdb.TemperatureUnknown)
		}
		if err != nil {
			return err
		}
	}
	for i, key := range g.keys {
		if err := g.put(writers[i%count], key); err != nil {
			return err
		}
	}
	for i, w := range writers {
		if err := w.Finish(&g.infos[i]); err != nil {
			return err
		}
	}
	if g.rangeDel {
		return g.writeRangeDel()
	}
	return nil
}

func (g *fileIngestion) put(w *sstfile.SstFileWriter, key int64) error {
	k := g.tool.keys.key(key)
	if g.rangeDel {
		return w.Put(k, nil)
	}
	p := g.t.shared.preparePut(g.cf, key)
	g.pending = append(g.pending, p)
	base := p.finalValueBase()
	v := g.flags.generateValue(base)
	if g.putsEntity(base) {
		return w.PutEntity(k, generateWideColumns(base, v))
	}
	return w.Put(k, v)
}

func (g *fileIngestion) writeRangeDel() (err error) {
	w := sstfile.NewSstFileWriter(&g.nonBatchedTest.options, nil)
	defer func() {
		if cerr := w.Close(); err == nil {
			err = cerr
		}
	}()
	if err := w.Open(g.files[len(g.files)-1], rocksdb.TemperatureUnknown); err != nil {
		return err
	}
	begin, end := g.keys[0], g.keys[len(g.keys)-1]+1
	g.pending = g.t.shared.prepareDeleteRange(g.cf, begin, end)
	if err := w.DeleteRange(g.tool.keys.key(begin), g.tool.keys.key(end)); err != nil {
		return err
	}
	return w.Finish(nil)
}

func (g *fileIngestion) arg(files []string) rocksdb.IngestExternalFileArg {
	return rocksdb.IngestExternalFileArg{ColumnFamily: g.nonBatchedTest.cf(g.cf), ExternalFiles: files, Options: g.options}
}

// ingest brings the files into the database, in one step or prepared. It tells
// whether they are in.
func (g *fileIngestion) ingest() (committed bool, err error) {
	t, o := g.t, rocksdb.DefaultIngestExternalFileOptions()
	o.MoveFiles = t.rand.OneIn(2)
	o.VerifyChecksumsBeforeIngest = t.rand.OneIn(2)
	if t.rand.OneIn(2) {
		o.VerifyChecksumsReadaheadSize = 1 << 20
	}
	o.FillCache = t.rand.OneIn(4)
	o.FileOpeningThreads = 1 + int(t.rand.Uniform(4))
	o.PrefetchLmaxIndexAndFilterBlocks = !t.rand.OneIn(4)
	g.options = o
	all := g.arg(g.files)
	if g.useInfo {
		for i := range g.infos {
			all.FileInfos = append(all.FileInfos, g.infos[i].PreparedFileInfo)
		}
	}
	if !t.rand.OneInOpt(int(g.flags.IngestExternalFilePrepareCommitOneIn)) {
		err = g.db.IngestExternalFiles([]rocksdb.IngestExternalFileArg{all})
		return err == nil, err
	}
	args := []rocksdb.IngestExternalFileArg{all}
	if len(g.files) > 1 && t.rand.OneIn(2) {
		args = args[:0]
		for i := range g.files {
			args = append(args, g.arg(g.files[i:i+1]))
		}
	}
	return g.prepareAndCommit(args)
}

// prepareAndCommit prepares an ingestion of each argument, and commits or
// aborts them together.
func (g *fileIngestion) prepareAndCommit(args []rocksdb.IngestExternalFileArg) (committed bool, err error) {
	var handles []*dbimpl.FileIngestionHandle
	abort := func() {
		for _, h := range handles {
			if aerr := h.Abort(); err == nil {
				err = aerr
			}
		}
	}
	for i := range args {
		h, perr := g.db.PrepareFileIngestion(args[i : i+1])
		if err = perr; err != nil {
			abort()
			return false, err
		}
		handles = append(handles, h)
	}
	if g.t.rand.OneIn(4) {
		abort()
		return false, err
	}
	err = g.db.CommitFileIngestionHandles(handles)
	return err == nil, err
}
