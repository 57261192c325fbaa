// Port of table/sst_file_dumper.{h,cc}. Differs: the number of entries is verified for every file that is read whole,
// upstream verifies only the first one.

package sstfile

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/rocksdb-go/rocksdb/db/blob/blobformat"
	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/db/seqnotime"
	"github.com/rocksdb-go/rocksdb/db/wide"
	"github.com/rocksdb-go/rocksdb/env"
	"github.com/rocksdb-go/rocksdb/file"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/options"
	"github.com/rocksdb-go/rocksdb/table"
	"github.com/rocksdb-go/rocksdb/table/block_based/block"
	"github.com/rocksdb-go/rocksdb/table/format"
	"github.com/rocksdb-go/rocksdb/table/uniqueid"
	"github.com/rocksdb-go/rocksdb/util"
	"github.com/rocksdb-go/rocksdb/utilities/registry"
)

// DumperOptions say what to dump and how.
type DumperOptions struct {
	Options rocksdb.Options // Env and table options
	Path    string
	// ReadaheadSize in bytes.
	ReadaheadSize   uint64
	VerifyChecksums bool
	OutputHex       bool
	DecodeBlobIndex bool
	// Out gets what is printed, ErrOut what is wrong with single entries.
	Out, ErrOut io.Writer
	// Silent leaves out the lines about the file.
	Silent bool
}

// SstFileDumper prints one table file.
type SstFileDumper struct {
	o          DumperOptions
	fs         rocksdb.FileSystem
	size       uint64
	ro         rocksdb.ReadOptions
	ioptions   options.ImmutableOptions
	fo         rocksdb.FileOptions
	icmp       *dbformat.InternalKeyComparator
	prefix     rocksdb.SliceTransform
	factory    table.Factory
	properties *rocksdb.TableProperties
	metaBlocks []MetaBlock
	reader     table.TableReader
	readNumber uint64
}

// MetaBlock says where a meta block is in the file.
type MetaBlock struct {
	Name         string
	Offset, Size uint64
}

// NewSstFileDumper opens a table file; its format is found out.
func NewSstFileDumper(o *DumperOptions) (*SstFileDumper, error) {
	d := &SstFileDumper{o: *o, ro: rocksdb.DefaultReadOptions(), fo: rocksdb.DefaultFileOptions(),
		icmp: dbformat.NewInternalKeyComparator(util.BytewiseComparator())}
	if d.o.Options.Env == nil {
		d.o.Options.Env = env.Default()
	}
	d.fs = d.o.Options.Env.GetFileSystem()
	d.ro.VerifyChecksums, d.ro.FillCache, d.ro.ReadaheadSize = o.VerifyChecksums, false, o.ReadaheadSize
	if !o.Silent {
		fmt.Fprintf(o.Out, "Process %s\n", o.Path)
	}
	if err := d.open(); err != nil {
		return nil, err
	}
	return d, nil
}

func (d *SstFileDumper) open() error {
	size, err := d.fs.GetFileSize(d.o.Path, nil)
	if err != nil {
		return err
	}
	if d.size = size; size == 0 {
		return rocksdb.Aborted(d.o.Path, "Empty file")
	}
	d.ioptions = options.NewImmutableOptions(&d.o.Options.DBOptions, &d.o.Options.ColumnFamilyOptions)
	if err := d.readMeta(); err != nil {
		return err
	}
	if name := d.properties.ComparatorName; name != "" {
		cmp, err := createByName[rocksdb.Comparator](registry.KindComparator, name)
		if err != nil {
			return err
		}
		d.icmp = dbformat.NewInternalKeyComparator(cmp)
		d.o.Options.Comparator = cmp
	}
	d.ioptions = options.NewImmutableOptions(&d.o.Options.DBOptions, &d.o.Options.ColumnFamilyOptions)
	r, err := file.CreateRandomAccessFileReader(d.fs, d.o.Path, &d.fo, nil)
	if err != nil {
		return err
	}
	t := table.DefaultTableReaderOptions(&d.ioptions, d.icmp)
	t.FileOptions, t.PrefixExtractor, t.CompressionManager = d.fo, d.prefix, d.o.Options.CompressionManager
	t.ForceDirectPrefetch, t.Level = true, -1
	// A sequence number may have been assigned to the whole file; the MANIFEST
	// would tell which.
	t.LargestSeqno = dbformat.MaxSequenceNumber
	t.UserDefinedTimestampsPersisted = d.properties.UserDefinedTimestampsPersisted != 0
	d.reader, err = d.factory.NewTableReader(&d.ro, &t, r, d.size, false)
	return err
}

// tailPrefetchSize is how much of a file's end is read to find out its format.
const tailPrefetchSize = 512 << 10

// readMeta finds out the format and reads the properties.
func (d *SstFileDumper) readMeta() (err error) {
	f, err := file.CreateRandomAccessFileReader(d.fs, d.o.Path, &d.fo, nil)
	if err != nil {
		return err
	}
	defer func() {
		if e := f.Close(); err == nil {
			err = e
		}
	}()
	tail := file.NewFilePrefetchBuffer(nil)
	defer tail.Close()
	n := min(d.size, tailPrefetchSize)
	if err := tail.Prefetch(rocksdb.NewIOOptions(), f, d.size-n, int(n)); err != nil {
		return err
	}
	m := table.MetaReader{File: f, PrefetchBuffer: tail, FileSize: d.size, ReadOptions: &d.ro, IOptions: &d.ioptions}
	b, footer, err := m.ReadMetaIndexBlock(format.NullTableMagicNumber)
	if err != nil {
		return err
	}
	err = d.listMetaBlocks(b)
	b.Free()
	if err != nil {
		return err
	}
	if d.properties, err = m.ReadTableProperties(footer.TableMagicNumber); err != nil {
		return err
	}
	return d.setFormat(footer.TableMagicNumber)
}

func (d *SstFileDumper) listMetaBlocks(b *block.Block) error {
	it := b.NewMetaIterator(true)
	for it.SeekToFirst(); it.Valid(); it.Next() {
		var h format.BlockHandle
		if _, err := h.DecodeFrom(it.Value()); err != nil {
			_ = it.Close() // holds nothing
			return rocksdb.AsStatus(err).In(d.o.Path)
		}
		d.metaBlocks = append(d.metaBlocks, MetaBlock{string(it.Key()), h.Offset, h.Size})
	}
	err := it.Status()
	if e := it.Close(); err == nil {
		err = e
	}
	return err
}

// setFormat makes the factory for the file's magic number.
func (d *SstFileDumper) setFormat(magic uint64) error {
	name, text := "", ""
	switch magic {
	case format.BlockBasedTableMagicNumber:
		name, text = rocksdb.BlockBasedTableName, "block-based"
	case format.PlainTableMagicNumber:
		name, text = rocksdb.PlainTableName, "plain table"
	case format.CuckooTableMagicNumber:
		name, text = rocksdb.CuckooTableName, "cuckoo table"
	default:
		return rocksdb.InvalidArgument(fmt.Sprintf("Unsupported table magic number --- %x", magic))
	}
	f := d.o.Options.TableFactory
	if f == nil || f.Name() != name {
		var err error
		if f, err = createByName[rocksdb.TableFactory](registry.KindTableFactory, name); err != nil {
			return err
		}
	}
	t, ok := f.(table.Factory)
	if !ok {
		return rocksdb.NotSupported("table format", name)
	}
	d.factory = t
	if p, ok := f.OptionsPtr(rocksdb.PlainTableOptionsName).(*rocksdb.PlainTableOptions); ok {
		p.UserKeyLen, p.BloomBitsPerKey, p.HashTableRatio, p.IndexSparseness = rocksdb.PlainTableVariableLength, 0, 0, 1
		p.FullScanMode = true
	}
	if magic != format.BlockBasedTableMagicNumber {
		d.fo.UseMmapReads = true
		d.o.Options.AllowMmapReads = true
	}
	if !d.o.Silent {
		fmt.Fprintf(d.o.Out, "Sst file format: %s\n", text)
	}
	// A hash index wants some prefix extractor; which one does not matter here.
	kind := d.properties.UserCollectedProperties[rocksdb.BlockBasedTablePropertyIndexType]
	if len(kind) == 4 && rocksdb.IndexType(kind[0]) == rocksdb.HashSearch {
		d.prefix = util.NewNoopTransform()
	}
	return nil
}

// createByName makes a plug-in; one that nobody registered is an error.
func createByName[T any](kind, name string) (T, error) {
	cfg := rocksdb.DefaultConfigOptions()
	cfg.IgnoreUnsupportedOptions = false
	v, err := options.CreateFromString[T](&cfg, kind, name)
	if err == nil && any(v) == nil {
		err = rocksdb.NotSupported("Could not load "+kind, name)
	}
	return v, err
}

// ReadRange selects entries.
type ReadRange struct {
	From, To []byte // user keys without timestamps; nil is open, To is excluded
	// Prefix stops at the first key that does not begin with From.
	Prefix bool
	// Limit is how many entries are read at most; 0 for no limit.
	Limit uint64
}

// ReadSequential reads the entries of a range and prints them, if so wanted. A
// table that is read whole is checked to hold as many entries as it says.
func (d *SstFileDumper) ReadSequential(print bool, r *ReadRange) error {
	ucmp := d.icmp.UserComparator()
	withTS := func(key []byte) []byte {
		if key == nil {
			return nil
		}
		return append(bytes.Clone(key), bytes.Repeat([]byte{0xff}, ucmp.TimestampSize())...)
	}
	from, to := withTS(r.From), withTS(r.To)
	it := d.reader.NewIterator(&d.ro, d.prefix, false, rocksdb.CallerSSTDumpTool, 0, false)
	if from != nil {
		it.Seek(dbformat.AppendInternalKey(nil, from, dbformat.MaxSequenceNumber, dbformat.ValueTypeForSeek))
	} else {
		it.SeekToFirst()
	}
	limit := r.Limit
	if limit == 0 {
		limit = math.MaxUint64
	}
	var n uint64
	for ; it.Valid(); it.Next() {
		if n++; n > limit {
			break
		}
		k, err := dbformat.ParseInternalKey(it.Key(), true)
		if err != nil {
			fmt.Fprintln(d.o.ErrOut, rocksdb.AsStatus(err).Message)
			continue
		}
		if r.Prefix && !bytes.HasPrefix(k.UserKey, r.From) || to != nil && ucmp.Compare(k.UserKey, to) >= 0 {
			break
		}
		if print {
			d.print(&k, it.Value())
		}
	}
	d.readNumber += n
	err := it.Status()
	if e := it.Close(); err == nil {
		err = e
	}
	if want := d.properties.NumEntries - d.properties.NumRangeDeletions; err == nil && limit == math.MaxUint64 && from == nil && to == nil && n != want {
		err = rocksdb.Corruption(fmt.Sprintf("Table property expects %d entries when excluding range deletions, but scanning the table returned %d entries", want, n))
	}
	return err
}

// GetReadNumber is how many entries were read.
func (d *SstFileDumper) GetReadNumber() uint64 { return d.readNumber }

// KeyText is an internal key as the tools print it, its timestamp apart.
func KeyText(k *dbformat.ParsedInternalKey, hex bool, ucmp rocksdb.Comparator) string {
	at := len(k.UserKey) - ucmp.TimestampSize()
	if at < 0 || ucmp.TimestampSize() == 0 {
		return k.DebugString(true, hex)
	}
	return "'" + util.SliceToString(k.UserKey[:at], hex) + "|timestamp:" + ucmp.TimestampToString(k.UserKey[at:]) +
		"' seq:" + strconv.FormatUint(k.Sequence, 10) + ", type:" + strconv.Itoa(int(k.Type))
}

func (d *SstFileDumper) print(k *dbformat.ParsedInternalKey, value []byte) {
	key := KeyText(k, d.o.OutputHex, d.icmp.UserComparator())
	switch {
	case k.Type == dbformat.TypeBlobIndex && d.o.DecodeBlobIndex:
		var b blobformat.BlobIndex
		if err := b.DecodeFrom(value); err != nil {
			fmt.Fprintf(d.o.ErrOut, "%s => error decoding blob index\n", key)
			return
		}
		fmt.Fprintf(d.o.Out, "%s => %s\n", key, b.DebugString(d.o.OutputHex))
	case k.Type == dbformat.TypeWideColumnEntity:
		text, err := wide.DumpEntity(value, d.o.OutputHex)
		if err != nil {
			fmt.Fprintf(d.o.ErrOut, "%s => error deserializing wide columns\n", key)
			return
		}
		fmt.Fprintf(d.o.Out, "%s => %s\n", key, text)
	case k.Type == dbformat.TypeValuePreferredSeqno:
		v, seqno, ok := seqnotime.ParsePackedValueWithSeqno(value)
		if !ok {
			fmt.Fprintf(d.o.ErrOut, "%s => error unpacking the preferred sequence number\n", key)
			return
		}
		fmt.Fprintf(d.o.Out, "%s => %s, %d\n", key, util.SliceToString(v, d.o.OutputHex), seqno)
	default:
		fmt.Fprintf(d.o.Out, "%s => %s\n", key, util.SliceToString(value, d.o.OutputHex))
	}
}

// VerifyChecksum reads all blocks and checks them.
func (d *SstFileDumper) VerifyChecksum() error {
	return d.reader.VerifyChecksum(&d.ro, rocksdb.CallerSSTDumpTool, false)
}

// fileWriter appends to a file of a FileSystem.
type fileWriter struct{ f rocksdb.FSWritableFile }

func (w fileWriter) Write(p []byte) (int, error) {
	none := rocksdb.DefaultIOOptions()
	if err := w.f.Append(p, &none); err != nil {
		return 0, err
	}
	return len(p), nil
}

// DumpTable writes all contents, in a form for people, to another file.
func (d *SstFileDumper) DumpTable(path string, showSequenceNumberType bool) error {
	none := rocksdb.DefaultIOOptions()
	f, err := d.fs.NewWritableFile(path, &d.fo)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(fileWriter{f}, 1<<16)
	err = d.reader.DumpTable(w, showSequenceNumberType)
	if err == nil {
		err = w.Flush()
	}
	if e := f.Close(&none); err == nil {
		err = e
	}
	return err
}

// Properties are the table's; they must not be changed.
func (d *SstFileDumper) Properties() *rocksdb.TableProperties { return d.properties }

// MetaBlocks are those of the metaindex.
func (d *SstFileDumper) MetaBlocks() []MetaBlock { return d.metaBlocks }

// PropertiesText is what TableProperties::ToString of upstream gives.
func PropertiesText(p *rocksdb.TableProperties, propDelim, kvDelim string) string {
	id, err := uniqueid.GetUniqueIdFromTableProperties(p)
	if err == nil {
		id = uniqueid.UniqueIdToHumanString(id)
	} else {
		id = "N/A"
	}
	var m seqnotime.SeqnoToTimeMapping
	times := "N/A"
	if m.DecodeFrom([]byte(p.SeqnoToTimeMapping)) == nil {
		times = m.ToHumanString()
	}
	return p.ToString(propDelim, kvDelim, id, times)
}

// Close closes the file.
func (d *SstFileDumper) Close() error { return d.reader.Close() }
