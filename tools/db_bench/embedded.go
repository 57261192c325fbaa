// Port of tools/db_bench_tool.cc (embedded blobs and entities).

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
	if err := fs.CreateDirIfMissing(dir, rocksdb.NewIOOptions()); err != nil {
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
	if err := b.refuseTimestamps("readrandomentity"); err != nil {
		return err
	}
	var v rocksdb.PinnableWideColumns
	return b.readEach(t, "GetEntity", func(cf *ColumnFamily, key []byte) (size int, err error) {
		if err = cf.GetEntity(&t.ro, key, &v); err == nil {
			size = v.PayloadSize()
			v.Reset()
		}
		return size, err
	})
}

// multiReadEntity is multiReadRandom by MultiGetEntity.
func (b *benchmark) multiReadEntity(t *threadState) error {
	if err := b.refuseTimestamps("multireadentity"); err != nil {
		return err
	}
	values := make([]rocksdb.PinnableWideColumns, b.entriesPerBatch)
	return b.readBatches(t, "MultiGetEntity", func(db *benchDB, keys [][]byte, errs []error) {
		db.db.MultiGetEntity(&t.ro, keys, values, errs)
	}, func(i int) int {
		size := values[i].PayloadSize()
		values[i].Reset()
		return size
	})
}
