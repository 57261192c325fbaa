// Port of tools/db_bench_tool.cc (embedded blobs and entities). Differs: the
// entity benchmarks read by functions of their own.

package main

import (
	"fmt"

	engine "github.com/rocksdb-go/rocksdb"
	rocksdb "github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// shortWideColumnSize is that of columns that stay in the entity, in bytes.
const shortWideColumnSize = 16

// columnLayout gives the names, in order, and the sizes of an entity's columns.
// The default column is a short one where there are any.
func (f *Flags) columnLayout() (names []string, sizes []int) {
	short, wide := max(0, int(f.NumShortWideColumns)), max(0, int(f.NumWideColumns))
	add := func(name string, size int) {
		names, sizes = append(names, name), append(sizes, size)
	}
	if short == 0 {
		add("", int(f.ValueSize))
		wide--
	} else {
		add("", shortWideColumnSize)
	}
	for i := 1; i < short; i++ {
		add(fmt.Sprintf("s%08d", i), shortWideColumnSize)
	}
	for i := range max(0, wide) {
		add(fmt.Sprintf("w%08d", i), int(f.ValueSize))
	}
	return names, sizes
}

// fillEmbedded writes all keys to a table that holds large values, or columns,
// itself, and ingests it.
func (b *benchmark) fillEmbedded(t *threadState, entities bool) error {
	f := b.flags
	db := b.selectDB(t.rand)
	refuse := func(format string, args ...any) error {
		b.out.errf(format, args...)
		return exitCode(1)
	}
	switch {
	case f.FormatVersion < 7:
		return refuse("fillembedded* requires block-based table format_version >= 7 (got %d)\n", f.FormatVersion)
	case f.NumMultiDB > 1:
		return refuse("fillembedded* does not support num_multi_db > 1\n")
	case entities && max(0, f.NumWideColumns)+max(0, f.NumShortWideColumns) < 1:
		return refuse("fillembeddedentity requires num_wide_columns + num_short_wide_columns >= 1\n")
	}
	fs, dir := db.db.Impl().GetFileSystem(), f.DB+"/embedded_tmp"
	if err := fs.CreateDirIfMissing(dir, &rocksdb.IOOptions{}); err != nil {
		return t.failed("CreateDirIfMissing("+dir+") failed", err)
	}
	path := dir + "/embedded.sst"
	defer func() {
		_ = fs.DeleteFile(path, nil) // moved, as a rule
		_ = fs.DeleteDir(dir, nil)
	}()
	bytes, err := b.writeEmbedded(t, db, path, entities)
	if err != nil {
		return err
	}
	o := rocksdb.DefaultIngestExternalFileOptions()
	o.MoveFiles = true
	if err := db.db.IngestExternalFile([]string{path}, &o); err != nil {
		return t.failed("IngestExternalFile failed", err)
	}
	t.stats.addBytes(bytes)
	if entities {
		t.stats.addMessage(fmt.Sprintf("(%d entities, %d cols [%d inline + %d embedded], embedded_blob_min_size=%d)", b.num,
			f.NumShortWideColumns+f.NumWideColumns, f.NumShortWideColumns, f.NumWideColumns, f.EmbeddedBlobMinSize))
	} else {
		t.stats.addMessage(fmt.Sprintf("(%d values, value_size=%d, embedded_blob_min_size=%d)", b.num, f.ValueSize, f.EmbeddedBlobMinSize))
	}
	return nil
}

func (b *benchmark) writeEmbedded(t *threadState, db *benchDB, path string, entities bool) (bytes int64, err error) {
	fo := rocksdb.DefaultFileOptions()
	wo := rocksdb.DefaultSstFileWriterOptions()
	wo.FileOptions = &fo
	w := engine.NewSstFileWriter(b.openOptions, &wo)
	defer w.Close()
	eo := rocksdb.DefaultSstFileWriterEmbeddedBlobOptions()
	eo.MinBlobSize = b.flags.EmbeddedBlobMinSize
	if err := w.OpenWithEmbeddedBlobs(path, &eo, rocksdb.TemperatureUnknown); err != nil {
		return 0, t.failed("SstFileWriter::OpenWithEmbeddedBlobs("+path+") failed", err)
	}
	names, sizes := b.flags.columnLayout()
	columns := make(rocksdb.WideColumns, len(names))
	gen, buf := b.newGenerator(), b.keys.keyBuffer()
	for i := range b.num {
		key := b.keys.generate(uint64(i), b.num, buf)
		bytes += int64(len(key))
		var err error
		if entities {
			for j, name := range names {
				columns[j] = rocksdb.WideColumn{Name: []byte(name), Value: gen.generateN(sizes[j])}
				bytes += int64(len(name) + sizes[j])
			}
			err = w.PutEntity(key, columns)
		} else {
			value := gen.generate()
			bytes += int64(len(value))
			err = w.Put(key, value)
		}
		if err != nil {
			return bytes, t.failed("SstFileWriter write failed", err)
		}
		t.stats.finishedOps(db, 1, opWrite)
	}
	if err := w.Finish(nil); err != nil {
		return bytes, t.failed("SstFileWriter::Finish("+path+") failed", err)
	}
	return bytes, nil
}

// readRandomEntity is readRandom by GetEntity.
func (b *benchmark) readRandomEntity(t *threadState) error {
	if err := b.needKeys(); err != nil {
		return err
	}
	read, found, bytes := int64(0), int64(0), int64(0)
	buf := b.keys.keyBuffer()
	var stride keyStride
	var v rocksdb.PinnableWideColumns
	d := t.shared.makeDuration(int64(b.flags.Duration), b.reads, 0)
	for !d.finished(1) {
		db := b.selectDB(t.rand)
		n := uint64(stride.next(b, t.rand))
		key := b.keys.generate(n, b.flags.Num, buf)
		read++
		err := db.pick(n).GetEntity(&t.ro, key, &v)
		if err == nil {
			found++
			bytes += int64(len(key) + v.PayloadSize())
			v.Reset()
		} else if !isNotFound(err) {
			return t.failed("GetEntity returned an error", err)
		}
		t.limitReads(read, 256)
		t.stats.finishedOps(db, 1, opRead)
	}
	t.stats.addBytes(bytes)
	t.stats.addMessage(fmt.Sprintf("(%d of %d found)\n", found, read))
	return nil
}

// multiReadEntity is multiReadRandom by MultiGetEntity.
func (b *benchmark) multiReadEntity(t *threadState) error {
	if err := b.needKeys(); err != nil {
		return err
	}
	n := b.entriesPerBatch
	bufs, keys := make([][]byte, n), make([][]byte, n)
	values, errs := make([]rocksdb.PinnableWideColumns, n), make([]error, n)
	for i := range bufs {
		bufs[i] = b.keys.keyBuffer()
	}
	read, found, bytes, calls := int64(0), int64(0), int64(0), int64(0)
	d := t.shared.makeDuration(int64(b.flags.Duration), b.reads, 0)
	for !d.finished(n) {
		db := b.selectDB(t.rand)
		b.drawKeys(t, keys, bufs)
		db.db.MultiGetEntity(&t.ro, keys, values, errs)
		read += n
		calls++
		for i := range keys {
			if err := errs[i]; err == nil {
				bytes += int64(len(keys[i]) + values[i].PayloadSize())
				found++
			} else if !isNotFound(err) {
				return t.failed("MultiGetEntity returned an error", err)
			}
			values[i].Reset()
			errs[i] = nil
		}
		if l := t.shared.readRateLimiter; l != nil && calls%256 == 255 {
			l.request(256*n, rocksdb.OpTypeRead)
		}
		t.stats.finishedOps(db, n, opRead)
	}
	t.stats.addBytes(bytes)
	t.stats.addMessage(fmt.Sprintf("(%d of %d found)", found, read))
	return nil
}
