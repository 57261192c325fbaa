// Port of table/sst_file_dumper.cc: recompression. Differs: a line is printed
// whole, once its figures are there; the number of data blocks is told, too,
// where a dictionary is used.

package sstfile

import (
	"fmt"
	"time"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/db/tblpropcoll"
	"github.com/rocksdb-go/rocksdb/env/mockenv"
	"github.com/rocksdb-go/rocksdb/file"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/monitoring"
	"github.com/rocksdb-go/rocksdb/options"
	"github.com/rocksdb-go/rocksdb/table"
	blockbased "github.com/rocksdb-go/rocksdb/table/block_based"
	"github.com/rocksdb-go/rocksdb/table/internaliter"
	"github.com/rocksdb-go/rocksdb/util/compression"
)

// RecompressOptions say what to try.
type RecompressOptions struct {
	// Types are tried in turn; those that cannot be written are told of.
	Types              []rocksdb.CompressionType
	LevelFrom, LevelTo int
	// Progress, when not nil, is told of entries written and read; it is called
	// often. Line, when not nil, is called before each line is printed.
	Progress func(entries int)
	Line     func()
}

// recompressed is the outcome of one try.
type recompressed struct {
	props     rocksdb.TableProperties
	writeTime time.Duration
	readTime  time.Duration
}

// recompressFile is the name of what is written, in memory.
const recompressFile = "test_file_name"

// ShowAllCompressionSizes prints how large the file's data would be with other
// compressions, and what that costs. The options of the dumper say the block
// size, dictionaries, and so on.
func (d *SstFileDumper) ShowAllCompressionSizes(r *RecompressOptions) error {
	o := d.o.Options
	if f, ok := o.TableFactory.(table.Factory); !ok || f.Name() != rocksdb.BlockBasedTableName {
		t := rocksdb.DefaultBlockBasedTableOptions()
		o.TableFactory = blockbased.NewBlockBasedTableFactory(&t)
	}
	t, _ := o.TableFactory.OptionsPtr(rocksdb.BlockBasedTableOptionsName).(*rocksdb.BlockBasedTableOptions)
	for _, c := range r.Types {
		name, ok := options.CompressionTypeName(c)
		if !ok {
			name = compression.CompressionTypeToString(c)
		}
		supported := compression.CompressionTypeSupported(c)
		if m := o.CompressionManager; m != nil {
			supported = m.SupportsCompressionType(c)
		}
		if r.Line != nil {
			r.Line()
		}
		if !supported {
			fmt.Fprintf(d.o.Out, "Unsupported compression type: %s.\n", name)
			continue
		}
		var blockSize uint64
		if t != nil {
			blockSize = t.BlockSize
		}
		fmt.Fprintf(d.o.Out, "Compression: %-24s Block Size: %d  Threads: %d\n", name, blockSize, o.CompressionOpts.ParallelThreads)
		for level := r.LevelFrom; level <= r.LevelTo; level++ {
			if err := d.showCompressionSize(o, c, level, r); err != nil {
				return err
			}
		}
	}
	return nil
}

func (d *SstFileDumper) showCompressionSize(o rocksdb.Options, c rocksdb.CompressionType, level int, r *RecompressOptions) error {
	stats := monitoring.CreateDBStatistics()
	stats.SetStatsLevel(rocksdb.StatsLevelAll)
	o.Statistics = stats
	o.CompressionOpts.Level = level
	got, err := d.recompress(&o, c, r.Progress)
	if r.Line != nil {
		r.Line()
	}
	fmt.Fprintf(d.o.Out, "Cx level: %d", level)
	if err != nil {
		return err
	}
	p := &got.props
	ratio := float64(p.UncompressedDataSize) / float64(p.DataSize)
	fmt.Fprintf(d.o.Out, " Cx size: %10d Uncx size: %10d Ratio: %10s Write usec: %10d  Read usec: %10d ",
		p.DataSize, p.UncompressedDataSize, fmt.Sprintf("%f", ratio), got.writeTime.Microseconds(), got.readTime.Microseconds())
	done := stats.GetAndResetTickerCount(rocksdb.NumberBlockCompressed)
	rejected := stats.GetAndResetTickerCount(rocksdb.NumberBlockCompressionRejected)
	// Index blocks are counted, too, where they are compressed.
	blocks := max(p.NumDataBlocks, done+rejected)
	percent := func(n uint64) float64 {
		if blocks == 0 {
			return 0
		}
		return float64(n) / float64(blocks) * 100
	}
	forRatio := blocks - done - rejected
	fmt.Fprintf(d.o.Out, " Cx count: %6d (%5.1f%%) Not cx for ratio: %6d (%5.1f%%) Not cx otherwise: %6d (%5.1f%%)\n",
		done, percent(done), forRatio, percent(forRatio), rejected, percent(rejected))
	return nil
}

// progressStep is how many entries are told of at once.
const progressStep = 1024

// eachEntry calls do at each entry, and closes the iterator.
func eachEntry(it internaliter.InternalIterator, progress func(int), do func() error) (err error) {
	defer func() {
		if e := it.Close(); err == nil {
			err = e
		}
	}()
	n := 0
	for it.SeekToFirst(); it.Valid(); it.Next() {
		if err := do(); err != nil {
			return err
		}
		if n++; n == progressStep && progress != nil {
			progress(n)
			n = 0
		}
	}
	return it.Status()
}

// recompress writes the entries to a table in memory and reads it.
func (d *SstFileDumper) recompress(o *rocksdb.Options, c rocksdb.CompressionType, progress func(int)) (r recompressed, err error) {
	mem := mockenv.NewMemEnv(d.o.Options.Env)
	fs := mem.GetFileSystem()
	io, mo := options.NewImmutableOptions(&o.DBOptions, &o.ColumnFamilyOptions), options.NewMutableCFOptions(&o.ColumnFamilyOptions)
	icmp := dbformat.NewInternalKeyComparator(d.icmp.UserComparator())
	factory := o.TableFactory.(table.Factory)
	raw, err := fs.NewWritableFile(recompressFile, &d.fo)
	if err != nil {
		return r, err
	}
	w := file.NewWritableFileWriter(raw, recompressFile, &d.fo, &file.WriterOptions{})
	closed := false
	defer func() {
		if !closed {
			_ = w.Close(nil) // the error is that of what went before
		}
	}()
	start := time.Now()
	wo := rocksdb.DefaultWriteOptions()
	to := table.DefaultTableBuilderOptions(&io, &mo, icmp)
	to.ReadOptions, to.WriteOptions = &d.ro, &wo
	to.InternalTblPropCollFactories = tblpropcoll.InternalTblPropCollFactories{}
	to.CompressionType, to.CompressionOpts = c, o.CompressionOpts
	b, err := factory.NewTableBuilder(&to, w)
	if err != nil {
		return r, err
	}
	it := d.reader.NewIterator(&d.ro, d.prefix, false, rocksdb.CallerSSTDumpTool, 0, false)
	err = eachEntry(it, progress, func() error { return b.Add(it.Key(), it.Value()) })
	if err != nil {
		b.Abandon()
		return r, err
	}
	if err := b.Finish(); err != nil {
		return r, err
	}
	r.writeTime = time.Since(start)
	closed = true
	if err := w.Close(nil); err != nil {
		return r, err
	}
	r.props = b.GetTableProperties()

	start = time.Now()
	f, err := file.CreateRandomAccessFileReader(fs, recompressFile, &d.fo, nil)
	if err != nil {
		return r, err
	}
	ro := table.DefaultTableReaderOptions(&io, icmp)
	ro.FileOptions, ro.PrefixExtractor, ro.CompressionManager = d.fo, d.prefix, o.CompressionManager
	reader, err := factory.NewTableReader(&d.ro, &ro, f, b.FileSize(), true)
	if err != nil {
		return r, err
	}
	it = reader.NewIterator(&d.ro, d.prefix, false, rocksdb.CallerSSTDumpTool, 0, false)
	err = eachEntry(it, progress, func() error { return nil })
	if e := reader.Close(); err == nil {
		err = e
	}
	r.readTime = time.Since(start)
	return r, err
}
