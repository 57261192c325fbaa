// Port of table/table_test.cc: the harness, table properties, footers and
// format versions. The tests of block-based tables are in
// table_block_based_test.go, those of many kinds of tables in
// table_harness_test.go.

package table_test

import (
	"encoding/binary"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/db/tblpropcoll"
	"github.com/rocksdb-go/rocksdb/env"
	"github.com/rocksdb-go/rocksdb/file"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/options"
	"github.com/rocksdb-go/rocksdb/table"
	blockbased "github.com/rocksdb-go/rocksdb/table/block_based"
	"github.com/rocksdb-go/rocksdb/table/format"
	"github.com/rocksdb-go/rocksdb/table/internaliter"
	"github.com/rocksdb-go/rocksdb/table/uniqueid"
	tracereplay "github.com/rocksdb-go/rocksdb/trace_replay"
	"github.com/rocksdb-go/rocksdb/util"
)

// reverseKeyComparator orders by the keys read backwards.
type reverseKeyComparator struct{ rocksdb.ComparatorBase }

func reversed(s []byte) []byte {
	r := make([]byte, len(s))
	for i, c := range s {
		r[len(s)-1-i] = c
	}
	return r
}

func (*reverseKeyComparator) Name() string { return "rocksdb.ReverseBytewiseComparator" }
func (*reverseKeyComparator) Compare(a, b []byte) int {
	return strings.Compare(string(reversed(a)), string(reversed(b)))
}
func (*reverseKeyComparator) FindShortestSeparator(dst, start, limit []byte) []byte {
	return append(dst, reversed(util.BytewiseComparator().FindShortestSeparator(nil, reversed(start), reversed(limit)))...)
}
func (*reverseKeyComparator) FindShortSuccessor(dst, key []byte) []byte {
	return append(dst, reversed(util.BytewiseComparator().FindShortSuccessor(nil, reversed(key)))...)
}

var reverseComparator = func() *reverseKeyComparator {
	c := new(reverseKeyComparator)
	c.Self = c
	return c
}()

// ikeyOf is a user key's internal key at a sequence number.
func ikeyOf(userKey string, seq rocksdb.SequenceNumber) []byte {
	return dbformat.NewInternalKey([]byte(userKey), seq, dbformat.TypeValue)
}

// maxIkey is the key that upstream's harness stores a user key as.
func maxIkey(userKey string) []byte { return ikeyOf(userKey, dbformat.MaxSequenceNumber) }

// tableConstructor writes what was added into a file and opens it.
type tableConstructor struct {
	t testing.TB
	// convert stores user keys at the greatest sequence number.
	convert      bool
	level        int
	largestSeqno rocksdb.SequenceNumber
	tracer       *tracereplay.BlockCacheTracer // nil: none
	data         *util.KVMap
	icmp         *dbformat.InternalKeyComparator
	name         string
	fileNum      uint64
	size         uint64
	reader       table.TableReader
}

var curFileNum uint64

func newTableConstructor(t testing.TB, cmp rocksdb.Comparator, convert bool) *tableConstructor {
	return &tableConstructor{t: t, convert: convert, level: -1, data: util.NewKVMap(cmp), name: filepath.Join(t.TempDir(), "test")}
}

func (c *tableConstructor) Add(key, value string) { c.data.Set(key, value) }

// newBuilder begins a table in file name.
func newBuilder(t testing.TB, o *rocksdb.Options, icmp *dbformat.InternalKeyComparator, name string, level int,
	collectors tblpropcoll.InternalTblPropCollFactories, wopts *file.WriterOptions) (table.TableBuilder, *file.WritableFileWriter) {
	t.Helper()
	io, mo := options.NewImmutableOptions(&o.DBOptions, &o.ColumnFamilyOptions), options.NewMutableCFOptions(&o.ColumnFamilyOptions)
	ro, wo, fo := rocksdb.DefaultReadOptions(), rocksdb.DefaultWriteOptions(), rocksdb.DefaultFileOptions()
	w, err := file.CreateWritableFileWriter(env.DefaultFileSystem(), name, &fo, wopts)
	if err != nil {
		t.Fatal(err)
	}
	tbo := table.DefaultTableBuilderOptions(&io, &mo, icmp)
	tbo.ReadOptions, tbo.WriteOptions, tbo.LevelAtCreation = &ro, &wo, level
	tbo.CompressionType, tbo.CompressionOpts = o.Compression, o.CompressionOpts
	tbo.InternalTblPropCollFactories = collectors
	b, err := o.TableFactory.(table.Factory).NewTableBuilder(&tbo, w)
	if err != nil {
		t.Fatal(err)
	}
	return b, w
}

// finishTable ends the table and checks its size.
func finishTable(t testing.TB, b table.TableBuilder, w *file.WritableFileWriter) {
	t.Helper()
	if err := b.Finish(); err != nil {
		t.Fatal(err)
	}
	io := rocksdb.DefaultIOOptions()
	if err := w.Close(&io); err != nil {
		t.Fatal(err)
	}
	if st, err := os.Stat(w.FileName()); err != nil || uint64(st.Size()) != b.FileSize() {
		t.Fatalf("size %d, builder says %d (%v)", st.Size(), b.FileSize(), err)
	}
}

// Finish writes and opens the table and gives the keys in order.
func (c *tableConstructor) Finish(o *rocksdb.Options, icmp *dbformat.InternalKeyComparator) (keys []string) {
	c.t.Helper()
	c.Close()
	c.icmp = icmp
	var collectors tblpropcoll.InternalTblPropCollFactories
	if c.largestSeqno != 0 {
		collectors = append(collectors, table.NewSstFileWriterPropertiesCollectorFactory(2, 0))
	}
	b, w := newBuilder(c.t, o, icmp, c.name, c.level, collectors, nil)
	for i := 0; i < c.data.Len(); i++ {
		k, v := c.data.At(i)
		keys = append(keys, k)
		key := []byte(k)
		if c.convert {
			key = maxIkey(k)
		}
		if err := b.Add(key, []byte(v)); err != nil {
			c.t.Fatal(err)
		}
	}
	finishTable(c.t, b, w)
	c.size = b.FileSize()
	curFileNum++
	c.fileNum = curFileNum
	if err := c.Reopen(o); err != nil {
		c.t.Fatal(err)
	}
	return keys
}

// Reopen opens the file again, with other options.
func (c *tableConstructor) Reopen(o *rocksdb.Options) error {
	c.Close()
	r, err := openReader(c.name, o)
	if err != nil {
		c.t.Fatal(err)
	}
	io := options.NewImmutableOptions(&o.DBOptions, &o.ColumnFamilyOptions)
	tro := table.DefaultTableReaderOptions(&io, c.icmp)
	tro.PrefixExtractor, tro.CompressionManager = o.PrefixExtractor, o.CompressionManager
	tro.FileOptions = *rocksdb.NewFileOptions(&o.DBOptions)
	tro.Level, tro.LargestSeqno, tro.CurFileNum = c.level, c.largestSeqno, c.fileNum
	tro.MaxFileSizeForL0MetaPin = uint64(o.WriteBufferSize)
	tro.BlockCacheTracer = c.tracer
	ro := rocksdb.DefaultReadOptions()
	c.reader, err = o.TableFactory.(table.Factory).NewTableReader(&ro, &tro, r, c.size, true)
	return err
}

func openReader(name string, o *rocksdb.Options) (*file.RandomAccessFileReader, error) {
	fs := env.DefaultFileSystem()
	if o.Env != nil {
		fs = o.Env.GetFileSystem()
	}
	return file.CreateRandomAccessFileReader(fs, name, rocksdb.NewFileOptions(&o.DBOptions), nil)
}

func (c *tableConstructor) Close() {
	if c.reader != nil {
		c.reader.Close()
		c.reader = nil
	}
}

// iterator gives one over internal keys; ro may be nil.
func (c *tableConstructor) iterator(ro *rocksdb.ReadOptions, prefix rocksdb.SliceTransform) internaliter.InternalIterator {
	if ro == nil {
		ro = new(rocksdb.ReadOptions)
		*ro = rocksdb.DefaultReadOptions()
	}
	return c.reader.NewIterator(ro, prefix, false, rocksdb.CallerUncategorized, 0, false)
}

func (c *tableConstructor) approximateOffsetOf(key string) uint64 {
	ro := rocksdb.DefaultReadOptions()
	return c.reader.ApproximateOffsetOf(&ro, maxIkey(key), rocksdb.CallerUncategorized)
}

func (c *tableConstructor) props() *rocksdb.TableProperties { return c.reader.GetTableProperties() }

// optionsFor are the default options with a block-based table; bbto is copied.
func optionsFor(bbto *rocksdb.BlockBasedTableOptions) rocksdb.Options {
	o := rocksdb.DefaultOptions()
	o.Comparator = util.BytewiseComparator()
	o.TableFactory = blockbased.NewBlockBasedTableFactory(bbto)
	o.Compression = rocksdb.NoCompression
	return o
}

func fatalIf(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func checkEq[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Fatalf("%s: got %v, want %v", what, got, want)
	}
}

func TestTablePropertyTest_PrefixScanTest(t *testing.T) {
	props := rocksdb.UserCollectedProperties{}
	for _, p := range []string{"num.111", "num.333", "num.555"} {
		for i := 1; i <= 3; i++ {
			props[fmt.Sprintf("%s.%d", p, i)] = fmt.Sprint(i)
		}
	}
	scan := func(prefix string) (keys []string) {
		for k := range props {
			if strings.HasPrefix(k, prefix) {
				keys = append(keys, k)
			}
		}
		sort.Strings(keys)
		return keys
	}
	for _, p := range []string{"num.111", "num.333", "num.555"} {
		keys := scan(p)
		checkEq(t, p, len(keys), 3)
		for i, k := range keys {
			checkEq(t, p, k, fmt.Sprintf("%s.%d", p, i+1))
			checkEq(t, k, props[k], fmt.Sprint(i+1))
		}
	}
	for _, p := range []string{"num.000", "num.222", "num.444", "num.666"} {
		checkEq(t, p, len(scan(p)), 0)
	}
}

// randomProperties fills in what must not matter to a unique id.
func randomProperties() rocksdb.TableProperties {
	p := rocksdb.NewTableProperties()
	p.DataSize, p.IndexSize, p.NumEntries, p.CreationTime = rand.Uint64(), rand.Uint64(), rand.Uint64(), rand.Uint64()
	p.DBHostID, p.ColumnFamilyName = fmt.Sprint(rand.Uint64()), fmt.Sprint(rand.Uint64())
	p.UserCollectedProperties = rocksdb.UserCollectedProperties{fmt.Sprint(rand.Uint64()): "x"}
	return p
}

type testIDs struct{ internal, external uniqueid.UniqueId64x3 }

// getUniqueID checks the ids of a file against each other and against all seen.
func getUniqueID(t *testing.T, tp *rocksdb.TableProperties, seen map[uint64]bool, dbID, session string, number uint64) testIDs {
	t.Helper()
	if len(session) == 20 {
		upper, lower, err := uniqueid.DecodeSessionId(session)
		fatalIf(t, err)
		checkEq(t, "session", uniqueid.EncodeSessionId(upper, lower), session)
	}
	tp.DBID, tp.DBSessionID, tp.OrigFileNumber = dbID, session, number
	euid, err := uniqueid.GetExtendedUniqueIdFromTableProperties(tp)
	fatalIf(t, err)
	checkEq(t, "length", len(euid), 24)
	var ids testIDs
	for i := range ids.external {
		ids.external[i] = binary.LittleEndian.Uint64([]byte(euid[8*i:]))
		if seen[ids.external[i]] {
			t.Fatalf("seen before: %s %s %d", dbID, session, number)
		}
		seen[ids.external[i]] = true
	}
	uid, err := uniqueid.GetUniqueIdFromTableProperties(tp)
	fatalIf(t, err)
	checkEq(t, "standard id", uid, euid[:16])
	ids.internal, err = uniqueid.GetSstInternalUniqueId(dbID, session, number, false)
	fatalIf(t, err)
	if ids.internal == (uniqueid.UniqueId64x3{}) || ids.internal.Standard() == uniqueid.NullUniqueId64x2 {
		t.Fatal("null id")
	}
	checkEq(t, "external", uniqueid.InternalUniqueIdToExternal(ids.internal), ids.external)
	checkEq(t, "internal", uniqueid.ExternalUniqueIdToInternal(ids.external), ids.internal)
	return ids
}

func TestTablePropertyTest_UniqueIdsSchemaAndQuality(t *testing.T) {
	tp, seen := randomProperties(), map[uint64]bool{}
	const (
		db1  = "7265b6eb-4e42-4aec-86a4-0dc5e73a228d"
		db2  = "1728000184588763620"
		ses1 = "ABCDEFGHIJ0123456789"
	)
	// Ids of files that exist: they may never change.
	for _, c := range []struct {
		db, session string
		number      uint64
		want        testIDs
	}{
		{db1, ses1, 1, testIDs{
			[3]uint64{0x61d7dcf415d9cf19, 0x160d77aae90757fd, 0x907f41dfd90724ff},
			[3]uint64{0xf0bd230365df7464, 0xca089303f3648eb4, 0x4b44f7e7324b2817}}},
		// The file number changes word 1 of the internal id alone,
		{db1, ses1, 2, testIDs{
			[3]uint64{0x61d7dcf415d9cf19, 0x160d77aae90757fe, 0x907f41dfd90724ff},
			[3]uint64{0xf13fdf7adcfebb6d, 0x97cd2226cc033ea2, 0x198c438182091f0e}}},
		{db1, ses1, 123456789, testIDs{
			[3]uint64{0x61d7dcf415d9cf19, 0x160d77aaee5c9ae9, 0x907f41dfd90724ff},
			[3]uint64{0x81fbcebe1ac6c4f0, 0x6b14a64cfdc0f1c4, 0x7d8fb6eaf18edbb3}}},
		// the database id words 1 and 2,
		{db2, ses1, 1, testIDs{
			[3]uint64{0x61d7dcf415d9cf19, 0xf89c471f572f0d25, 0x1f0f2a5eb0e6257e},
			[3]uint64{0x7f1d01d453616991, 0x32ddf2afec804ab2, 0xd10a1ee2f0c7d9c1}}},
		{"x", ses1, 1, testIDs{
			[3]uint64{0x61d7dcf415d9cf19, 0xfed297a8154a57d0, 0x8b931b9cdebd9e8},
			[3]uint64{0x62b2f43183f6894b, 0x897ff2b460eefad1, 0xf4ec189fb2d15e04}}},
		// as does the session id but for its last 13 digits,
		{db1, "HIJ0123456789", 1, testIDs{
			[3]uint64{0x61d7dcf415d9cf19, 0x5f6cc4fa2d528c8, 0x7b70845d5bfb5446},
			[3]uint64{0x96d1c83ffcc94266, 0x82663eac0ec6e14a, 0x94a88b49678b77f6}}},
		{db1, "0123ABCDEFGHIJ0123456789", 1, testIDs{
			[3]uint64{0x61d7dcf415d9cf19, 0xfc7232879db37ea2, 0xc0378d74ea4c89cd},
			[3]uint64{0xdf2ef57e98776905, 0xda5b31c987da833b, 0x79c1b4bd0a9e760d}}},
		// of which the last 12 change word 0 alone.
		{db1, "ABCDEFGH888888888888", 1, testIDs{
			[3]uint64{0x4f07cc0d003a83a8, 0x160d77aae90757fd, 0x907f41dfd90724ff},
			[3]uint64{0xbcf85336a9f71f04, 0x4f2949e2f3adb60d, 0x9ca0def976abfa10}}},
		{db1, "ABCDEFGHIJ012", 1, testIDs{
			[3]uint64{0x94b8768e43f87ce6, 0xc2559653ac4e7c93, 0xde6dff6bbb1223},
			[3]uint64{0x5a9537af681817fb, 0x1afcd1fecaead5ea, 0x767077ad9ebe0008}}},
		{db1, "ABCDEFGHIJ0123456789ABCD", 1, testIDs{
			[3]uint64{0x43cfb0ffa3b710ed, 0x263c580426406a1b, 0xfacc91379a80d29d},
			[3]uint64{0xfa90547d84cb1cdb, 0x2afe99c641992d4a, 0x205b7f7b60e51cc2}}},
	} {
		checkEq(t, c.session, getUniqueID(t, &tp, seen, c.db, c.session, c.number), c.want)
	}
	// Any small change changes all of the external id.
	db, session := []byte("00000000-0000-0000-0000-000000000000"), []byte("000000000000000000000000")
	vary := func(s []byte, digits string) {
		for i := range s {
			if s[i] == '-' {
				continue
			}
			for _, c := range []byte(digits) {
				s[i] = c
				getUniqueID(t, &tp, seen, string(db), string(session), 1)
			}
			s[i] = '0'
		}
	}
	vary(db, "123456789abcdef")
	vary(session, "123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ")
	for i := 1; i < 64; i++ {
		getUniqueID(t, &tp, seen, string(db), string(session), 1<<i)
	}
	// Null ids are null in both forms.
	id := uniqueid.UniqueId64x3{0, 0, rand.Uint64()}
	checkEq(t, "null", uniqueid.InternalUniqueIdToExternal(id), id)
	checkEq(t, "null", uniqueid.ExternalUniqueIdToInternal(id), id)
}

func goodProperties() rocksdb.TableProperties {
	p := randomProperties()
	p.DBID, p.DBSessionID, p.OrigFileNumber = "7265b6eb-4e42-4aec-86a4-0dc5e73a228d", "ABCDEFGHIJ0123456789", 1
	return p
}

func TestTablePropertyTest_UniqueIdHumanStrings(t *testing.T) {
	p := goodProperties()
	id, err := uniqueid.GetExtendedUniqueIdFromTableProperties(&p)
	fatalIf(t, err)
	checkEq(t, "id", id, "\x64\x74\xdf\x65\x03\x23\xbd\xf0\xb4\x8e\x64\xf3\x03\x93\x08\xca\x17\x28\x4b\x32\xe7\xf7\x44\x4b")
	checkEq(t, "human", uniqueid.UniqueIdToHumanString(id), "6474DF650323BDF0-B48E64F3039308CA-17284B32E7F7444B")
	id, err = uniqueid.GetUniqueIdFromTableProperties(&p)
	fatalIf(t, err)
	checkEq(t, "human", uniqueid.UniqueIdToHumanString(id), "6474DF650323BDF0-B48E64F3039308CA")
	b := make([]byte, 24)
	b[15], b[23] = 0x12, 0xAB
	checkEq(t, "padded", uniqueid.UniqueIdToHumanString(string(b)), "0000000000000000-0000000000000012-00000000000000AB")
	b = make([]byte, 20)
	b[5], b[10], b[17] = 0x12, 0xAB, 0xEF
	for n, want := range map[int]string{
		20: "0000000000120000-0000AB0000000000-00EF0000",
		16: "0000000000120000-0000AB0000000000",
		11: "0000000000120000-0000AB",
		6:  "000000000012",
	} {
		checkEq(t, "short", uniqueid.UniqueIdToHumanString(string(b[:n])), want)
	}
	checkEq(t, "internal", uniqueid.InternalUniqueIdToHumanString(uniqueid.UniqueId64x3{12345, 678, 9}), "{12345,678,9}")
	checkEq(t, "internal", uniqueid.InternalUniqueIdToHumanString(uniqueid.UniqueId64x2{1234, 567890}), "{1234,567890}")
}

func TestTablePropertyTest_UniqueIdsFailure(t *testing.T) {
	for _, spoil := range []func(*rocksdb.TableProperties){
		func(p *rocksdb.TableProperties) { p.DBID = "" },
		func(p *rocksdb.TableProperties) { p.DBSessionID = "" },
		func(p *rocksdb.TableProperties) { p.OrigFileNumber = 0 },
	} {
		p := goodProperties()
		spoil(&p)
		_, err := uniqueid.GetUniqueIdFromTableProperties(&p)
		checkEq(t, "code", rocksdb.CodeOf(err), rocksdb.CodeNotSupported)
		_, err = uniqueid.GetExtendedUniqueIdFromTableProperties(&p)
		checkEq(t, "code", rocksdb.CodeOf(err), rocksdb.CodeNotSupported)
	}
}

var allChecksums = []rocksdb.ChecksumType{rocksdb.NoChecksum, rocksdb.CRC32c, rocksdb.XXHash, rocksdb.XXHash64, rocksdb.XXH3}

// Upstream's second half writes plain tables' footers in versions that only its
// test hook allows.
func TestTableTest_FooterTests(t *testing.T) {
	rnd := util.NewRandom(uint32(rand.Int31()))
	dataSize := uint64(1)<<rnd.Uniform(40) + uint64(rnd.Uniform(100))
	indexSize, metaSize := uint64(rnd.Uniform(1000000000)), uint64(rnd.Uniform(1000000))
	index := format.BlockHandle{Offset: dataSize + 5, Size: indexSize}
	meta := format.BlockHandle{Offset: dataSize + indexSize + 10, Size: metaSize}
	at := dataSize + metaSize + indexSize + 15
	const context = 123456789
	for _, ct := range allChecksums {
		for fv := format.MinSupportedBbtFormatVersionForWrite; format.IsSupportedFormatVersionForWrite(format.BlockBasedTableMagicNumber, fv); fv++ {
			f := format.Footer{TableMagicNumber: format.BlockBasedTableMagicNumber, FormatVersion: fv, ChecksumType: ct, MetaindexHandle: meta, IndexHandle: index}
			withContext := format.FormatVersionUsesContextChecksum(fv)
			if withContext {
				f.BaseContextChecksum = context
			}
			b, err := format.BuildFooter(&f, at)
			fatalIf(t, err)
			var d format.Footer
			fatalIf(t, d.DecodeFrom(b, at, 0))
			checkEq(t, "magic", d.TableMagicNumber, format.BlockBasedTableMagicNumber)
			checkEq(t, "checksum", d.ChecksumType, ct)
			checkEq(t, "metaindex", d.MetaindexHandle, meta)
			if format.FormatVersionUsesIndexHandleInFooter(fv) {
				checkEq(t, "index", d.IndexHandle, index)
			}
			checkEq(t, "version", d.FormatVersion, fv)
			checkEq(t, "trailer", d.BlockTrailerSize, 5)
			checkEq(t, "context", d.BaseContextChecksum, f.BaseContextChecksum)
			if withContext && d.DecodeFrom(b, at-1, 0) == nil {
				t.Fatal("decoded at a wrong offset")
			}
			// The new footer has 32 bits for the metaindex's size.
			const big = 0x100000007
			f.MetaindexHandle.Size = big
			_, err = format.BuildFooter(&f, dataSize+big+indexSize+15)
			checkEq(t, "too big", err != nil, withContext)
		}
	}
}

func TestTableTest_LegacyFormatRejectionTests(t *testing.T) {
	b := make([]byte, format.FooterVersion0EncodedLength)
	binary.LittleEndian.PutUint64(b[len(b)-8:], 0xdb4775248b80fb57)
	var f format.Footer
	err := f.DecodeFrom(b, 0, 0)
	checkEq(t, "code", rocksdb.CodeOf(err), rocksdb.CodeNotSupported)
	if s := err.Error(); !strings.Contains(s, "nsupported legacy magic number") || !strings.Contains(s, "full compaction") {
		t.Error(s)
	}
	for version := uint32(0); version < 2; version++ {
		b := make([]byte, format.FooterNewVersionsEncodedLength)
		b[0] = byte(rocksdb.CRC32c)
		binary.LittleEndian.PutUint32(b[len(b)-12:], version)
		binary.LittleEndian.PutUint64(b[len(b)-8:], format.BlockBasedTableMagicNumber)
		err := f.DecodeFrom(b, 0, 0)
		checkEq(t, "code", rocksdb.CodeOf(err), rocksdb.CodeCorruption)
		if !strings.Contains(err.Error(), "format_version") {
			t.Error(err)
		}
	}
}

func TestTableTest_UnsupportedFormatVersionConfigTest(t *testing.T) {
	factory := func(fv uint32) *blockbased.BlockBasedTableFactory {
		o := rocksdb.DefaultBlockBasedTableOptions()
		o.FormatVersion = fv
		return blockbased.NewBlockBasedTableFactory(&o)
	}
	db, cf := rocksdb.DefaultDBOptions(), rocksdb.DefaultColumnFamilyOptions()
	for fv := uint32(0); fv < format.MinSupportedBbtFormatVersionForWrite; fv++ {
		checkEq(t, "raised", factory(fv).Options().FormatVersion, format.MinSupportedBbtFormatVersionForWrite)
	}
	fv := format.MinSupportedBbtFormatVersionForWrite
	for ; format.IsSupportedFormatVersionForWrite(format.BlockBasedTableMagicNumber, fv); fv++ {
		f := factory(fv)
		checkEq(t, "kept", f.Options().FormatVersion, fv)
		fatalIf(t, f.ValidateOptions(&db, &cf))
	}
	checkEq(t, "latest", fv-1, format.LatestBbtFormatVersion)
	checkEq(t, "too new", rocksdb.CodeOf(factory(fv).ValidateOptions(&db, &cf)), rocksdb.CodeInvalidArgument)
}

func TestBuiltinChecksumTest_ChecksumSchemas(t *testing.T) {
	blocks := []string{"x", "This is a short block!x", strings.Repeat("This is a long block!", 100) + "x"}
	// The sums of no bytes, and of each block with its last byte replaced by
	// the types no compression, Snappy and ZSTD.
	want := map[rocksdb.ChecksumType][]string{
		rocksdb.NoChecksum: {"00000000", "00000000", "00000000", "00000000", "00000000", "00000000", "00000000", "00000000", "00000000", "00000000"},
		rocksdb.CRC32c:     {"D8EA82A2", "D28F2549", "052B2843", "46F8F711", "583F0355", "2F9B0A57", "ECE7DA1D", "943EF0AB", "43A2EDB1", "00E53D63"},
		rocksdb.XXHash:     {"055DCC02", "3EB065CF", "31F79238", "320D2E00", "4A2E5FB0", "0BD9F652", "B4107E50", "20F4D4BA", "8F1A1F99", "A191A338"},
		rocksdb.XXHash64:   {"99E9D851", "682705DB", "30E7211B", "B7BB58E8", "B74655EF", "B6C8BBBE", "AED9E3B4", "0D4999FE", "F5932423", "6B31BAB1"},
		rocksdb.XXH3:       {"00000000", "C294D338", "1B174353", "2D0E20C8", "B37FB5E6", "6AFC258D", "5CE54616", "FA2D482E", "23AED845", "15B7BBDE"},
	}
	for _, ct := range allChecksums {
		hex := func(data []byte) string {
			v := format.ComputeBuiltinChecksum(ct, data)
			if n := len(data); n > 0 {
				checkEq(t, "split", format.ComputeBuiltinChecksumWithLastByte(ct, data[:n-1], data[n-1]), v)
			}
			return fmt.Sprintf("%X", binary.LittleEndian.AppendUint32(nil, v))
		}
		got := []string{hex(nil)}
		for _, b := range blocks {
			for _, c := range []rocksdb.CompressionType{rocksdb.NoCompression, rocksdb.SnappyCompression, rocksdb.ZSTD} {
				d := []byte(b)
				d[len(d)-1] = byte(c)
				got = append(got, hex(d))
			}
		}
		checkEq(t, fmt.Sprint(ct), strings.Join(got, " "), strings.Join(want[ct], " "))
	}
}

func TestBuiltinChecksumTest_ChecksumZeroInputs(t *testing.T) {
	zeros := make([]byte, 20000)
	for _, ct := range allChecksums[1:] {
		for n := range zeros {
			// A block is never empty: its compression type counts.
			if format.ComputeBuiltinChecksum(ct, zeros[:n]) == 0 && (ct != rocksdb.XXH3 || n != 0) {
				t.Fatalf("checksum %d of %d zeros is 0", ct, n)
			}
		}
	}
}
