// Port of include/rocksdb/utilities/cache_dump_load.h, utilities/cache_dump_load.cc and
// utilities/cache_dump_load_impl.{h,cc}. Differs: a writer's error ends the dump; all lengths and
// checksums are checked when it is loaded.
//
// A dump is units: a header, a unit a block, a footer. Before each comes its
// metadata:
//
//	metadata: number fixed32, crc32c of the unit fixed32, bytes of the unit fixed64
//	unit:     time µs fixed64, type byte, key length-prefixed, bytes of the
//	          value fixed32, crc32c of the value fixed32, value length-prefixed
//
// In a file a fixed32 with the length comes before each of both.

package utilities

import (
	"fmt"

	"github.com/rocksdb-go/rocksdb/cache"
	"github.com/rocksdb-go/rocksdb/file"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	tracereplay "github.com/rocksdb-go/rocksdb/trace_replay"
	"github.com/rocksdb-go/rocksdb/util"
)

// Of the format.
const (
	cacheDumpMajorVersion = 0
	cacheDumpMinorVersion = 1
	dumpUnitMetaSize      = 16
)

// dumpUnitType is what is in a unit.
type dumpUnitType byte

const (
	dumpUnitHeader     dumpUnitType = 1
	dumpUnitFooter     dumpUnitType = 2
	dumpUnitData       dumpUnitType = 3
	dumpUnitFilter     dumpUnitType = 4
	dumpUnitIndex      dumpUnitType = 11
	dumpUnitFilterMeta dumpUnitType = 13
)

// dumpedRoles are those of the blocks that are dumped.
var dumpedRoles = map[rocksdb.CacheEntryRole]dumpUnitType{
	rocksdb.CacheEntryRoleDataBlock:       dumpUnitData,
	rocksdb.CacheEntryRoleFilterBlock:     dumpUnitFilter,
	rocksdb.CacheEntryRoleFilterMetaBlock: dumpUnitFilterMeta,
	rocksdb.CacheEntryRoleIndexBlock:      dumpUnitIndex,
}

// CacheDumpWriter takes a dump: metadata and packet by turns. The slices are the
// caller's again when a call returns.
type CacheDumpWriter interface {
	WriteMetadata(metadata []byte) error
	WritePacket(data []byte) error
	Close() error
}

// CacheDumpReader gives what a CacheDumpWriter took, in the same order. The
// slices are valid until the next call.
type CacheDumpReader interface {
	ReadMetadata() ([]byte, error)
	ReadPacket() ([]byte, error)
}

// CacheDumpOptions configure a dump.
type CacheDumpOptions struct {
	Clock        rocksdb.SystemClock // nil for the system's
	Deadline     uint64              // no block is dumped at or after this time of the clock, in microseconds; 0 for none
	MaxSizeBytes uint64              // no block is dumped when blocks of more than that were; 0 for no limit
}

// CacheDumper writes a cache's blocks to a CacheDumpWriter. It is of use to move a
// database together with what of it is cached: what is dumped can be loaded into
// the secondary cache of whoever opens the database then.
type CacheDumper struct {
	o        CacheDumpOptions
	cache    rocksdb.Cache
	w        CacheDumpWriter
	prefixes map[string]bool // of the keys to dump; nil for all
	number   uint32          // of the next unit
	unit     []byte
	meta     []byte
}

// NewDefaultCacheDumper makes a dumper of c, which closes w at the end.
func NewDefaultCacheDumper(o CacheDumpOptions, c rocksdb.Cache, w CacheDumpWriter) *CacheDumper {
	if o.Clock == nil {
		o.Clock = rocksdb.DefaultSystemClock()
	}
	return &CacheDumper{o: o, cache: c, w: w}
}

// TablesLister is a database, or a family of one.
type TablesLister interface {
	GetPropertiesOfAllTables() (map[string]*rocksdb.TableProperties, error)
}

// SetDumpFilter dumps the blocks of the tables of dbs only, and of those only what
// keeps its key when the database is opened again.
func (d *CacheDumper) SetDumpFilter(dbs ...TablesLister) error {
	prefixes := map[string]bool{}
	for _, db := range dbs {
		tables, err := db.GetPropertiesOfAllTables()
		if err != nil {
			return err
		}
		for _, p := range tables {
			if p.DBSessionID != "" && p.OrigFileNumber > 0 {
				base := cache.NewOffsetableCacheKey(p.DBID, p.DBSessionID, p.OrigFileNumber)
				prefixes[string(base.CommonPrefix())] = true
			}
		}
	}
	d.prefixes = prefixes
	return nil
}

// DumpCacheEntriesToWriter writes the dump and closes the writer.
func (d *CacheDumper) DumpCacheEntriesToWriter() error {
	header := fmt.Sprintf("%s\tCache dump format version: %d.%d\tRocksDB Version: %d.%d\t"+
		"Format: dump_unit_metadata <sequence_number, dump_unit_checksum, dump_unit_size>, dump_unit <timestamp, key, block_type, block_size, block_data, block_checksum> cache_value\n",
		tracereplay.Magic, cacheDumpMajorVersion, cacheDumpMinorVersion, rocksdb.Major, rocksdb.Minor)
	err := d.write(dumpUnitHeader, []byte("header"), []byte(header), d.o.Clock.NowMicros())
	if err == nil {
		err = d.writeBlocks()
	}
	if err == nil {
		err = d.write(dumpUnitFooter, []byte("footer"), []byte("cache dump completed"), d.o.Clock.NowMicros())
	}
	if cerr := d.w.Close(); err == nil {
		err = cerr
	}
	return err
}

func (d *CacheDumper) writeBlocks() (err error) {
	var value []byte
	dumped := uint64(0)
	d.cache.ApplyToAllEntries(func(key []byte, obj any, _ int, helper *rocksdb.CacheItemHelper) {
		if err != nil || !helper.IsSecondaryCacheCompatible() || d.o.MaxSizeBytes > 0 && dumped > d.o.MaxSizeBytes {
			return
		}
		now := d.o.Clock.NowMicros()
		typ, known := dumpedRoles[helper.Role]
		if !known || d.o.Deadline > 0 && now >= d.o.Deadline || !d.wanted(key) {
			return
		}
		n := helper.SizeOf(obj)
		if cap(value) < n {
			value = make([]byte, n)
		}
		value = value[:n]
		if helper.SaveTo(obj, 0, value) != nil {
			return // a block that cannot be saved is left out
		}
		err = d.write(typ, key, value, now)
		dumped += uint64(n)
	})
	return err
}

func (d *CacheDumper) wanted(key []byte) bool {
	const prefix = 8
	return d.prefixes == nil || len(key) >= prefix && d.prefixes[string(key[:prefix])]
}

// write writes a unit with its metadata. Upstream: CacheDumperImpl::WriteBlock.
func (d *CacheDumper) write(typ dumpUnitType, key, value []byte, micros uint64) error {
	u := util.AppendFixed64(d.unit[:0], micros)
	u = append(u, byte(typ))
	u = util.AppendLengthPrefixedSlice(u, key)
	u = util.AppendFixed32(u, uint32(len(value)))
	u = util.AppendFixed32(u, util.Crc32cValue(value))
	u = util.AppendLengthPrefixedSlice(u, value)
	m := util.AppendFixed32(d.meta[:0], d.number)
	m = util.AppendFixed32(m, util.Crc32cValue(u))
	m = util.AppendFixed64(m, uint64(len(u)))
	d.unit, d.meta = u, m
	d.number++
	if err := d.w.WriteMetadata(m); err != nil {
		return err
	}
	return d.w.WritePacket(u)
}

// CacheDumpedLoader puts a dump's blocks into a secondary cache.
type CacheDumpedLoader struct {
	secondary rocksdb.SecondaryCache
	r         CacheDumpReader
}

// NewDefaultCacheDumpedLoader makes a loader of what r gives.
func NewDefaultCacheDumpedLoader(secondary rocksdb.SecondaryCache, r CacheDumpReader) *CacheDumpedLoader {
	return &CacheDumpedLoader{secondary: secondary, r: r}
}

// RestoreCacheEntriesToSecondaryCache loads the dump up to its footer.
func (l *CacheDumpedLoader) RestoreCacheEntriesToSecondaryCache() error {
	for number := uint32(0); ; number++ {
		typ, key, value, err := l.read(number)
		if err != nil {
			return err
		}
		switch {
		case number == 0 && typ != dumpUnitHeader:
			return rocksdb.Corruptionf("cache dump begins with a unit of type %d, not a header", typ)
		case typ == dumpUnitHeader:
		case typ == dumpUnitFooter:
			return nil
		default:
			if err := l.secondary.InsertSaved(key, value, rocksdb.NoCompression, rocksdb.VolatileTier); err != nil {
				return err
			}
		}
	}
}

// read gives the next unit.
func (l *CacheDumpedLoader) read(number uint32) (typ dumpUnitType, key, value []byte, err error) {
	m, err := l.r.ReadMetadata()
	if err != nil {
		return 0, nil, nil, err
	}
	if len(m) != dumpUnitMetaSize {
		return 0, nil, nil, rocksdb.Corruptionf("cache dump unit %d: metadata of %d bytes", number, len(m))
	}
	at, m, _ := util.GetFixed32(m)
	sum, m, _ := util.GetFixed32(m)
	size, _, _ := util.GetFixed64(m)
	u, err := l.r.ReadPacket()
	if err != nil {
		return 0, nil, nil, err
	}
	if at != number || size != uint64(len(u)) || sum != util.Crc32cValue(u) {
		return 0, nil, nil, rocksdb.Corruptionf("cache dump unit %d: number, length or checksum does not match", number)
	}
	if typ, key, value, err = decodeDumpUnit(u); err != nil {
		err = rocksdb.Corruptionf("cache dump unit %d: %v", number, err)
	}
	return typ, key, value, err
}

func decodeDumpUnit(u []byte) (typ dumpUnitType, key, value []byte, err error) {
	_, u, ok := util.GetFixed64(u)
	if ok = ok && len(u) > 0; ok {
		typ = dumpUnitType(u[0])
		key, u, ok = util.GetLengthPrefixedSlice(u[1:])
	}
	var size, sum uint32
	if ok {
		size, u, ok = util.GetFixed32(u)
	}
	if ok {
		sum, u, ok = util.GetFixed32(u)
	}
	if ok {
		value, u, ok = util.GetLengthPrefixedSlice(u)
	}
	switch {
	case !ok || len(u) != 0:
		return 0, nil, nil, rocksdb.Corruption("a unit is cut off, or too long")
	case uint64(size) != uint64(len(value)) || sum != util.Crc32cValue(value):
		return 0, nil, nil, rocksdb.Corruption("length or checksum of the value does not match")
	}
	return typ, key, value, nil
}

// fileDumpWriter writes a dump to a file.
// Upstream: ToFileCacheDumpWriter.
type fileDumpWriter struct {
	w *file.WritableFileWriter
}

// NewToFileCacheDumpWriter makes a new file for a dump; Close syncs it.
func NewToFileCacheDumpWriter(fs rocksdb.FileSystem, o *rocksdb.FileOptions, name string) (CacheDumpWriter, error) {
	w, err := file.CreateWritableFileWriter(fs, name, o, nil)
	if err != nil {
		return nil, err
	}
	return &fileDumpWriter{w}, nil
}

func (f *fileDumpWriter) append(data []byte) error {
	if err := f.w.Append(nil, util.AppendFixed32(nil, uint32(len(data))), 0); err != nil {
		return err
	}
	return f.w.Append(nil, data, 0)
}

func (f *fileDumpWriter) WriteMetadata(metadata []byte) error { return f.append(metadata) }
func (f *fileDumpWriter) WritePacket(data []byte) error       { return f.append(data) }

func (f *fileDumpWriter) Close() error {
	err := f.w.Sync(nil, false)
	if cerr := f.w.Close(nil); err == nil {
		err = cerr
	}
	return err
}

// fileDumpReader reads what fileDumpWriter wrote.
// Upstream: FromFileCacheDumpReader.
type fileDumpReader struct {
	r      *file.RandomAccessFileReader
	name   string
	offset uint64
	size   uint64
	buf    []byte
}

// CloseableCacheDumpReader has to be closed.
type CloseableCacheDumpReader interface {
	CacheDumpReader
	Close() error
}

// NewFromFileCacheDumpReader opens a dump in a file.
func NewFromFileCacheDumpReader(fs rocksdb.FileSystem, o *rocksdb.FileOptions, name string) (CloseableCacheDumpReader, error) {
	size, err := fs.GetFileSize(name, nil)
	if err != nil {
		return nil, err
	}
	r, err := file.CreateRandomAccessFileReader(fs, name, o, nil)
	if err != nil {
		return nil, err
	}
	return &fileDumpReader{r: r, name: name, size: size}, nil
}

func (f *fileDumpReader) cutOff() error {
	return rocksdb.Corruption("cache dump ends before its footer").InAt(f.name, f.offset)
}

// read gives the next n bytes, which must be there.
func (f *fileDumpReader) read(n uint64) ([]byte, error) {
	if n > f.size-f.offset {
		return nil, f.cutOff()
	}
	if uint64(cap(f.buf)) < n {
		f.buf = make([]byte, n)
	}
	b, err := f.r.Read(nil, f.offset, int(n), f.buf[:n], nil)
	if err != nil {
		return nil, err
	}
	if uint64(len(b)) != n {
		return nil, f.cutOff()
	}
	f.offset += n
	return b, nil
}

func (f *fileDumpReader) next() ([]byte, error) {
	b, err := f.read(4)
	if err != nil {
		return nil, err
	}
	n, _, _ := util.GetFixed32(b)
	return f.read(uint64(n))
}

func (f *fileDumpReader) ReadMetadata() ([]byte, error) { return f.next() }
func (f *fileDumpReader) ReadPacket() ([]byte, error)   { return f.next() }
func (f *fileDumpReader) Close() error                  { return f.r.Close() }
