// Port of db/log_test.cc.

package wal

import (
	"encoding/binary"
	"fmt"
	"maps"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb/env"
	"github.com/rocksdb-go/rocksdb/file"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

func bigString(partial string, n int) string {
	return strings.Repeat(partial, n/len(partial)+1)[:n]
}

func numberString(n int) string { return strconv.Itoa(n) + "." }

func randomSkewedString(i int, rnd *util.Random) string {
	return bigString(numberString(i), int(rnd.Skewed(17)))
}

// stringSink is a file in memory. With overwrite it writes over what contents
// holds from the start on.
type stringSink struct {
	rocksdb.FSWritableFileBase
	contents  *[]byte
	overwrite bool
	at        int
}

func newStringSink(contents *[]byte, overwrite bool) *stringSink {
	return &stringSink{FSWritableFileBase: rocksdb.NewFSWritableFileBase(nil), contents: contents, overwrite: overwrite}
}

func (s *stringSink) Append(data []byte, _ *rocksdb.IOOptions) error {
	if !s.overwrite {
		*s.contents = append(*s.contents, data...)
		return nil
	}
	n := copy((*s.contents)[min(s.at, len(*s.contents)):], data)
	*s.contents = append(*s.contents, data[n:]...)
	s.at += len(data)
	return nil
}
func (s *stringSink) AppendWithVerification(data []byte, opts *rocksdb.IOOptions, _ rocksdb.DataVerificationInfo) error {
	return s.Append(data, opts)
}
func (s *stringSink) Close(*rocksdb.IOOptions) error                   { return nil }
func (s *stringSink) Flush(*rocksdb.IOOptions) error                   { return nil }
func (s *stringSink) Sync(*rocksdb.IOOptions) error                    { return nil }
func (s *stringSink) GetFileSize(*rocksdb.IOOptions) uint64            { return uint64(len(*s.contents)) }
func (s *stringSink) Fsync(*rocksdb.IOOptions) error                   { return nil }
func (s *stringSink) Allocate(_, _ uint64, _ *rocksdb.IOOptions) error { return nil }

// stringSource reads what is in contents from at on.
type stringSource struct {
	t                testing.TB
	contents         *[]byte
	at               int
	forceError       bool
	forceErrorPos    int
	forceEOF         bool
	forceEOFPos      int
	returnedPartial  bool
	failAfterPartial bool
}

func (s *stringSource) Read(n int, _ *rocksdb.IOOptions, scratch []byte) ([]byte, error) {
	if s.failAfterPartial && s.returnedPartial {
		s.t.Error("must not Read() after eof/error")
	}
	rest := (*s.contents)[s.at:]
	if s.forceError {
		if s.forceErrorPos >= n {
			s.forceErrorPos -= n
		} else {
			got := scratch[:copy(scratch, rest[:min(s.forceErrorPos, len(rest))])]
			s.at += len(got)
			s.forceError = false
			s.returnedPartial = true
			return got, rocksdb.Corruption("read error")
		}
	}
	if len(rest) < n {
		n = len(rest)
		s.returnedPartial = true
	}
	if s.forceEOF {
		if s.forceEOFPos >= n {
			s.forceEOFPos -= n
		} else {
			s.forceEOF = false
			n = s.forceEOFPos
			s.returnedPartial = true
		}
	}
	got := scratch[:copy(scratch, rest[:n])]
	s.at += n
	return got, nil
}

func (s *stringSource) Skip(n uint64) error {
	s.at = min(s.at+int(n), len(*s.contents))
	return nil
}
func (s *stringSource) PositionedRead(uint64, int, *rocksdb.IOOptions, []byte) ([]byte, error) {
	return nil, rocksdb.NotSupported("PositionedRead")
}
func (s *stringSource) UseDirectIO() bool                   { return false }
func (s *stringSource) GetRequiredBufferAlignment() int     { return 1 }
func (s *stringSource) InvalidateCache(_, _ uint64) error   { return nil }
func (s *stringSource) GetTemperature() rocksdb.Temperature { return rocksdb.TemperatureUnknown }
func (s *stringSource) Close() error                        { return nil }

// reportCollector adds up what a reader reports.
type reportCollector struct {
	dropped    int
	message    string
	errs       []error
	logNumbers []uint64
	old        int
}

func (c *reportCollector) Corruption(bytes int, err error, logNumber uint64) {
	c.dropped += bytes
	c.message += err.Error()
	c.errs = append(c.errs, err)
	c.logNumbers = append(c.logNumbers, logNumber)
}
func (c *reportCollector) OldLogRecord(int) { c.old++ }

type logReader interface {
	ReadRecord(mode rocksdb.WALRecoveryMode) ([]byte, bool)
	UnmarkEOF()
	IsEOF() bool
	GetRecordedTimestampSize() map[uint32]uint16
}

type tsSizes = map[uint32]uint16

// logTest is a log in memory with its writer and reader.
type logTest struct {
	*testing.T
	recycle     bool
	allowRetry  bool
	compression rocksdb.CompressionType
	contents    []byte
	source      *stringSource
	report      reportCollector
	writer      *Writer
	reader      logReader
}

func newLogTest(t *testing.T, recycle, allowRetry bool, compression rocksdb.CompressionType) *logTest {
	l := &logTest{T: t, recycle: recycle, allowRetry: allowRetry, compression: compression}
	l.source = &stringSource{t: t, contents: &l.contents, failAfterPartial: !allowRetry}
	l.writer = NewWriter(file.NewWritableFileWriter(newStringSink(&l.contents, false), "a.log", nil, nil),
		WriterOptions{LogNumber: 123, RecycleLogFiles: recycle, Compression: compression})
	f := file.NewSequentialFileReader(l.source, "a.log", nil)
	opts := ReaderOptions{Reporter: &l.report, Checksum: true, LogNumber: 123}
	if allowRetry {
		l.reader = NewFragmentBufferedReader(f, opts)
	} else {
		l.reader = NewReader(f, opts)
	}
	return l
}

// eachLog runs f on regular and recycled logs, read by both readers.
func eachLog(t *testing.T, f func(l *logTest)) {
	eachLogOf(t, f, rocksdb.NoCompression)
}

func eachLogOf(t *testing.T, f func(l *logTest), types ...rocksdb.CompressionType) {
	t.Helper()
	for _, recycle := range []bool{false, true} {
		for _, retry := range []bool{false, true} {
			for _, c := range types {
				t.Run(fmt.Sprintf("recycle=%v,retry=%v,compression=%d", recycle, retry, c), func(t *testing.T) {
					f(newLogTest(t, recycle, retry, c))
				})
			}
		}
	}
}

func (l *logTest) headerSize() int {
	if l.recycle {
		return RecyclableHeaderSize
	}
	return HeaderSize
}

func (l *logTest) write(msg string) { l.writeTS(msg, nil) }

func (l *logTest) writeTS(msg string, sizes tsSizes) {
	l.Helper()
	l.writeSizes(l.writer, sizes)
	if err := l.writer.AddRecord(nil, []byte(msg), 0); err != nil {
		l.Fatal(err)
	}
}

func (l *logTest) writeSizes(w *Writer, sizes tsSizes) {
	l.Helper()
	var list []TimestampSize
	for cf, n := range sizes {
		list = append(list, TimestampSize{cf, n})
	}
	if err := w.MaybeAddUserDefinedTimestampSizeRecord(nil, list); err != nil {
		l.Fatal(err)
	}
}

func (l *logTest) read() string { return l.readMode(rocksdb.TolerateCorruptedTailRecords) }

func (l *logTest) readMode(mode rocksdb.WALRecoveryMode) string {
	if record, ok := l.reader.ReadRecord(mode); ok {
		return string(record)
	}
	return "EOF"
}

func (l *logTest) want(records ...string) {
	l.Helper()
	for i, w := range records {
		if got := l.read(); got != w {
			l.Fatalf("record %d: %.60q (%d bytes), want %.60q (%d bytes); reported %q", i, got, len(got), w, len(w), l.report.message)
		}
	}
}

func (l *logTest) wantTS(record string, sizes tsSizes) {
	l.Helper()
	l.want(record)
	if got := l.reader.GetRecordedTimestampSize(); !maps.Equal(got, sizes) {
		l.Fatalf("timestamp sizes %v, want %v", got, sizes)
	}
}

func (l *logTest) wantDropped(n int) {
	l.Helper()
	if l.report.dropped != n {
		l.Fatalf("%d bytes dropped, want %d: %s", l.report.dropped, n, l.report.message)
	}
}

func (l *logTest) wantSomeDropped() {
	l.Helper()
	if l.report.dropped == 0 {
		l.Fatal("nothing dropped")
	}
}

func (l *logTest) wantError(text string) {
	l.Helper()
	if !strings.Contains(l.report.message, text) {
		l.Fatalf("reported %q, want %q", l.report.message, text)
	}
}

func (l *logTest) wantSilence() {
	l.Helper()
	l.wantDropped(0)
	if l.report.message != "" {
		l.Fatalf("reported %q", l.report.message)
	}
}

func (l *logTest) wantEOF() {
	l.Helper()
	if !l.reader.IsEOF() {
		l.Fatal("not at the end of the file")
	}
}

func (l *logTest) shrink(n int) { l.contents = l.contents[:len(l.contents)-n] }

func (l *logTest) fixChecksum(at, n int, recyclable bool) {
	h := HeaderSize
	if recyclable {
		h = RecyclableHeaderSize
	}
	binary.LittleEndian.PutUint32(l.contents[at:], util.Crc32cMask(util.Crc32cValue(l.contents[at+6:at+h+n])))
}

// typed gives the recyclable form of a type in recycled logs.
func (l *logTest) typed(t RecordType) byte {
	if l.recycle {
		return t + RecyclableFullType - FullType
	}
	return t
}

func (l *logTest) unmarkEOF() {
	l.source.returnedPartial = false
	l.reader.UnmarkEOF()
}

func (l *logTest) force(errorAt int) { l.source.forceError, l.source.forceErrorPos = true, errorAt }

func (l *logTest) forceEOF(at int) { l.source.forceEOF, l.source.forceEOFPos = true, at }

func TestLogTest_Empty(t *testing.T) { eachLog(t, func(l *logTest) { l.want("EOF") }) }

func testReadWrite(l *logTest) {
	for _, s := range []string{"foo", "bar", "", "xxxx"} {
		l.write(s)
	}
	l.want("foo", "bar", "", "xxxx", "EOF", "EOF")
}

func TestLogTest_ReadWrite(t *testing.T) { eachLog(t, testReadWrite) }

func testReadWriteWithTimestampSize(l *logTest) {
	one, two := tsSizes{1: 8}, tsSizes{2: 1}
	l.writeTS("foo", one)
	l.write("bar")
	l.writeTS("", two)
	l.write("xxxx")
	l.wantTS("foo", one)
	l.wantTS("bar", one)
	l.wantTS("", tsSizes{1: 8, 2: 1})
	l.wantTS("xxxx", tsSizes{1: 8, 2: 1})
	l.want("EOF", "EOF")
}

func TestLogTest_ReadWriteWithTimestampSize(t *testing.T) { eachLog(t, testReadWriteWithTimestampSize) }

func TestLogTest_ReadWriteWithTimestampSizeZeroTimestampIgnored(t *testing.T) {
	eachLog(t, func(l *logTest) {
		l.writeTS("foo", tsSizes{1: 8})
		l.writeTS("bar", tsSizes{1: 8, 2: 0})
		l.wantTS("foo", tsSizes{1: 8})
		l.wantTS("bar", tsSizes{1: 8})
		l.want("EOF", "EOF")
	})
}

func testManyBlocks(l *logTest) {
	const n = 20000
	for i := range n {
		l.write(numberString(i))
	}
	if len(l.contents) < 3*BlockSize {
		l.Fatalf("only %d bytes", len(l.contents))
	}
	for i := range n {
		l.want(numberString(i))
	}
	l.want("EOF")
}

func TestLogTest_ManyBlocks(t *testing.T) { eachLog(t, testManyBlocks) }

func TestLogTest_Fragmentation(t *testing.T) {
	eachLog(t, func(l *logTest) {
		records := []string{"small", bigString("medium", 50000), bigString("large", 100000)}
		for _, s := range records {
			l.write(s)
		}
		l.want(append(records, "EOF")...)
	})
}

func (l *logTest) wantWritten(n int) {
	l.Helper()
	if len(l.contents) != n {
		l.Fatalf("%d bytes written, want %d", len(l.contents), n)
	}
}

func TestLogTest_MarginalTrailer(t *testing.T) {
	eachLog(t, func(l *logTest) {
		// The trailer has exactly the size of an empty record.
		s := bigString("foo", BlockSize-2*l.headerSize())
		l.write(s)
		l.wantWritten(BlockSize - l.headerSize())
		l.write("")
		l.write("bar")
		l.want(s, "", "bar", "EOF")
	})
}

func TestLogTest_MarginalTrailer2(t *testing.T) {
	eachLog(t, func(l *logTest) {
		s := bigString("foo", BlockSize-2*l.headerSize())
		l.write(s)
		l.wantWritten(BlockSize - l.headerSize())
		l.write("bar")
		l.want(s, "bar", "EOF")
		l.wantSilence()
	})
}

func TestLogTest_ShortTrailer(t *testing.T) {
	eachLog(t, func(l *logTest) {
		s := bigString("foo", BlockSize-2*l.headerSize()+4)
		l.write(s)
		l.wantWritten(BlockSize - l.headerSize() + 4)
		l.write("")
		l.write("bar")
		l.want(s, "", "bar", "EOF")
	})
}

func TestLogTest_AlignedEof(t *testing.T) {
	eachLog(t, func(l *logTest) {
		s := bigString("foo", BlockSize-2*l.headerSize()+4)
		l.write(s)
		l.wantWritten(BlockSize - l.headerSize() + 4)
		l.want(s, "EOF")
	})
}

func TestLogTest_RandomRead(t *testing.T) {
	eachLog(t, func(l *logTest) {
		const n = 500
		rnd := util.NewRandom(301)
		for i := range n {
			l.write(randomSkewedString(i, rnd))
		}
		rnd = util.NewRandom(301)
		for i := range n {
			l.want(randomSkewedString(i, rnd))
		}
		l.want("EOF")
	})
}

func TestLogTest_ReadError(t *testing.T) {
	eachLog(t, func(l *logTest) {
		l.write("foo")
		l.force(0)
		l.want("EOF")
		l.wantDropped(BlockSize)
		l.wantError("read error")
	})
}

func TestLogTest_BadRecordType(t *testing.T) {
	eachLog(t, func(l *logTest) {
		l.write("foo")
		l.contents[6] += 100
		l.fixChecksum(0, 3, false)
		l.want("EOF")
		l.wantDropped(3)
		l.wantError("unknown record type")
	})
}

func TestLogTest_IgnorableRecordType(t *testing.T) {
	eachLog(t, func(l *logTest) {
		l.write("foo")
		l.contents[6] = RecordTypeSafeIgnoreMask + 100
		l.fixChecksum(0, 3, false)
		l.want("EOF")
		l.wantSilence()
	})
}

func TestLogTest_TruncatedTrailingRecordIsIgnored(t *testing.T) {
	eachLog(t, func(l *logTest) {
		l.write("foo")
		l.shrink(4) // the payload and a byte of the header
		l.want("EOF")
		l.wantSilence()
	})
}

// eachStrictLog runs f on the logs of the reader that knows where the end is.
func eachStrictLog(t *testing.T, f func(l *logTest)) {
	eachLog(t, func(l *logTest) {
		if !l.allowRetry {
			f(l)
		}
	})
}

func TestLogTest_TruncatedTrailingRecordIsNotIgnored(t *testing.T) {
	eachStrictLog(t, func(l *logTest) {
		l.write("foo")
		l.shrink(4)
		if got := l.readMode(rocksdb.AbsoluteConsistency); got != "EOF" {
			t.Fatal(got)
		}
		l.wantSomeDropped()
		l.wantError("Corruption: truncated header")
	})
}

func TestLogTest_BadLength(t *testing.T) {
	eachStrictLog(t, func(l *logTest) {
		l.write(bigString("bar", BlockSize-l.headerSize()))
		l.write("foo")
		l.contents[4]++
		if l.recycle {
			l.want("EOF")
			return
		}
		l.want("foo")
		l.wantDropped(BlockSize)
		l.wantError("bad record length")
	})
}

// A reader that may try again reports a length that no block has room for.
func TestFragmentBufferedReader_BadLength(t *testing.T) {
	for _, recycle := range []bool{false, true} {
		l := newLogTest(t, recycle, true, rocksdb.NoCompression)
		l.write(bigString("bar", BlockSize-l.headerSize()))
		l.write("foo")
		l.contents[4]++
		if recycle { // it may be part of an older record
			l.want("EOF")
			continue
		}
		l.want("foo")
		l.wantDropped(BlockSize)
		l.wantError("bad record length")
	}
}

func TestLogTest_BadLengthAtEndIsIgnored(t *testing.T) {
	eachStrictLog(t, func(l *logTest) {
		l.write("foo")
		l.shrink(1)
		l.want("EOF")
		l.wantSilence()
	})
}

func TestLogTest_BadLengthAtEndIsNotIgnored(t *testing.T) {
	eachStrictLog(t, func(l *logTest) {
		l.write("foo")
		l.shrink(1)
		if got := l.readMode(rocksdb.AbsoluteConsistency); got != "EOF" {
			t.Fatal(got)
		}
		l.wantSomeDropped()
		l.wantError("Corruption: truncated record body")
	})
}

func TestLogTest_ChecksumMismatch(t *testing.T) {
	eachLog(t, func(l *logTest) {
		l.write("foooooo")
		l.contents[0] += 14
		l.want("EOF")
		if l.recycle {
			l.wantSilence()
			return
		}
		l.wantDropped(14)
		l.wantError("checksum mismatch")
	})
}

func testUnexpectedType(l *logTest, typ RecordType) {
	l.write("foo")
	l.contents[6] = l.typed(typ)
	l.fixChecksum(0, 3, l.recycle)
	l.want("EOF")
	l.wantDropped(3)
	l.wantError("missing start")
}

func TestLogTest_UnexpectedMiddleType(t *testing.T) {
	eachLog(t, func(l *logTest) { testUnexpectedType(l, MiddleType) })
}

func TestLogTest_UnexpectedLastType(t *testing.T) {
	eachLog(t, func(l *logTest) { testUnexpectedType(l, LastType) })
}

func testUnexpectedFirst(l *logTest, second string) {
	l.write("foo")
	l.write(second)
	l.contents[6] = l.typed(FirstType)
	l.fixChecksum(0, 3, l.recycle)
	l.want(second, "EOF")
	l.wantDropped(3)
	l.wantError("partial record without end")
}

func TestLogTest_UnexpectedFullType(t *testing.T) {
	eachLog(t, func(l *logTest) { testUnexpectedFirst(l, "bar") })
}

func TestLogTest_UnexpectedFirstType(t *testing.T) {
	eachLog(t, func(l *logTest) { testUnexpectedFirst(l, bigString("bar", 100000)) })
}

func testCutLast(l *logTest, n int) {
	l.write(bigString("bar", BlockSize))
	l.shrink(n)
	l.want("EOF")
	l.wantSilence()
}

func testCutLastStrict(l *logTest, n int, text string) {
	l.write(bigString("bar", BlockSize))
	l.shrink(n)
	if got := l.readMode(rocksdb.AbsoluteConsistency); got != "EOF" {
		l.Fatal(got)
	}
	l.wantSomeDropped()
	l.wantError(text)
}

func TestLogTest_MissingLastIsIgnored(t *testing.T) {
	eachLog(t, func(l *logTest) { testCutLast(l, 14) })
}

func TestLogTest_MissingLastIsNotIgnored(t *testing.T) {
	eachStrictLog(t, func(l *logTest) {
		testCutLastStrict(l, 14, "Corruption: error reading trailing data")
	})
}

func TestLogTest_PartialLastIsIgnored(t *testing.T) {
	eachLog(t, func(l *logTest) { testCutLast(l, 1) })
}

func TestLogTest_PartialLastIsNotIgnored(t *testing.T) {
	eachStrictLog(t, func(l *logTest) { testCutLastStrict(l, 1, "Corruption: truncated record body") })
}

func TestLogTest_ErrorJoinsRecords(t *testing.T) {
	// first(R1) last(R1) first(R2) last(R2), the middle two lost: what is left
	// must not become a record.
	eachLog(t, func(l *logTest) {
		l.write(bigString("foo", BlockSize))
		l.write(bigString("bar", BlockSize))
		l.write("correct")
		for i := BlockSize; i < 2*BlockSize; i++ {
			l.contents[i] = 'x'
		}
		if l.recycle {
			l.want("EOF")
			return
		}
		l.want("correct", "EOF")
		if n := l.report.dropped; n > 2*BlockSize+100 || n < 2*BlockSize {
			l.Fatalf("%d bytes dropped", n)
		}
	})
}

func TestLogTest_ClearEofSingleBlock(t *testing.T) {
	eachLog(t, func(l *logTest) {
		l.write("foo")
		l.write("bar")
		l.forceEOF(3 + l.headerSize() + 2)
		l.want("foo")
		l.unmarkEOF()
		l.want("bar")
		l.wantEOF()
		l.want("EOF")
		l.write("xxx")
		l.unmarkEOF()
		l.want("xxx")
		l.wantEOF()
	})
}

func TestLogTest_ClearEofMultiBlock(t *testing.T) {
	eachLog(t, func(l *logTest) {
		const blocks = 5
		n := (BlockSize-l.headerSize())*blocks + 25
		l.write(bigString("foo", n))
		l.write(bigString("bar", n))
		l.forceEOF(n + blocks*l.headerSize() + l.headerSize() + 3)
		l.want(bigString("foo", n))
		l.wantEOF()
		l.unmarkEOF()
		l.want(bigString("bar", n))
		l.wantEOF()
		l.write(bigString("xxx", n))
		l.unmarkEOF()
		l.want(bigString("xxx", n))
		l.wantEOF()
	})
}

func TestLogTest_ClearEofError(t *testing.T) {
	// After a failed read the records that are there are still given.
	eachLog(t, func(l *logTest) {
		l.write("foo")
		l.write("bar")
		l.unmarkEOF()
		l.want("foo")
		l.wantEOF()
		l.write("xxx")
		l.force(0)
		l.unmarkEOF()
		l.want("bar", "EOF")
	})
}

func TestLogTest_ClearEofError2(t *testing.T) {
	eachLog(t, func(l *logTest) {
		l.write("foo")
		l.write("bar")
		l.unmarkEOF()
		l.want("foo")
		l.write("xxx")
		l.force(3)
		l.unmarkEOF()
		l.want("bar", "EOF")
		l.wantDropped(3)
		l.wantError("read error")
	})
}

func (l *logTest) recycleWriter(number uint64) *Writer {
	return NewWriter(file.NewWritableFileWriter(newStringSink(&l.contents, true), "a.log", nil, nil),
		WriterOptions{LogNumber: number, RecycleLogFiles: true})
}

func (l *logTest) fillTwoBlocks(sizes tsSizes) {
	l.writeTS("foo", sizes)
	for _, s := range []string{"bar", "baz", "bif", "blitz"} {
		l.write(s)
	}
	for len(l.contents) < 2*BlockSize {
		l.write("xxxxxxxxxxxxxxxx")
	}
}

func (l *logTest) addTo(w *Writer, records ...string) {
	l.Helper()
	for _, s := range records {
		if err := w.AddRecord(nil, []byte(s), 0); err != nil {
			l.Fatal(err)
		}
	}
	if len(l.contents) < 2*BlockSize {
		l.Fatalf("the file has shrunk to %d bytes", len(l.contents))
	}
}

func TestLogTest_Recycle(t *testing.T) {
	eachLog(t, func(l *logTest) {
		if !l.recycle {
			return
		}
		l.fillTwoBlocks(nil)
		l.addTo(l.recycleWriter(123), "foooo", "bar")
		l.want("foooo", "bar", "EOF")
	})
}

// With a number of its own the new life ends where the old one's records
// begin, whatever their checksums.
func TestRecycleOtherNumber(t *testing.T) {
	eachLog(t, func(l *logTest) {
		if !l.recycle {
			return
		}
		for range 5000 {
			l.write("0123456789")
		}
		w := l.recycleWriter(123)
		old := l.contents
		l.contents = nil
		l.writer = NewWriter(file.NewWritableFileWriter(newStringSink(&l.contents, false), "a.log", nil, nil),
			WriterOptions{LogNumber: 77, RecycleLogFiles: true})
		for range 5000 {
			l.write("0123456789")
		}
		if len(l.contents) != len(old) {
			t.Fatal("sizes differ")
		}
		l.addTo(w, "abcdefghij", "klmnopqrst")
		l.want("abcdefghij", "klmnopqrst", "EOF", "EOF")
		l.wantSilence()
	})
}

func TestLogTest_RecycleWithTimestampSize(t *testing.T) {
	eachLog(t, func(l *logTest) {
		if !l.recycle {
			return
		}
		l.fillTwoBlocks(tsSizes{1: 4})
		w := l.recycleWriter(123)
		l.writeSizes(w, tsSizes{2: 8})
		l.addTo(w, "foooo", "bar")
		l.wantTS("foooo", tsSizes{2: 8})
		l.wantTS("bar", tsSizes{2: 8})
		l.want("EOF")
	})
}

func TestLogTest_TimestampSizeRecordPadding(t *testing.T) {
	eachLog(t, func(l *logTest) {
		first, second := bigString("foo", BlockSize-2*l.headerSize()), bigString("bar", 1000)
		l.write(first)
		l.writeSizes(l.writer, tsSizes{2: 8})
		if l.writer.blockOffset >= BlockSize {
			t.Fatalf("block offset %d", l.writer.blockOffset)
		}
		l.write(second)
		l.want(first)
		l.wantTS(second, tsSizes{2: 8})
	})
}

// retriableLog is a log in a real file that is read while it is written.
type retriableLog struct {
	*testing.T
	contents []byte
	encoder  *Writer
	file     *file.WritableFileWriter
	reader   *FragmentBufferedReader
	report   reportCollector
}

func eachRetriableLog(t *testing.T, f func(l *retriableLog, headerSize int)) {
	for _, recycle := range []bool{false, true} {
		t.Run(fmt.Sprintf("recycle=%v", recycle), func(t *testing.T) {
			l := &retriableLog{T: t}
			l.encoder = NewWriter(file.NewWritableFileWriter(newStringSink(&l.contents, false), "", nil, nil),
				WriterOptions{LogNumber: 123, RecycleLogFiles: recycle})
			fs, path := env.DefaultFileSystem(), filepath.Join(t.TempDir(), "log")
			var err error
			if l.file, err = file.CreateWritableFileWriter(fs, path, nil, nil); err != nil {
				t.Fatal(err)
			}
			r, err := file.CreateSequentialFileReader(fs, path, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			l.reader = NewFragmentBufferedReader(r, ReaderOptions{Reporter: &l.report, Checksum: true, LogNumber: 123})
			t.Cleanup(func() {
				if err := l.reader.Close(); err != nil {
					t.Error(err)
				}
				if err := l.file.Close(nil); err != nil {
					t.Error(err)
				}
			})
			h := HeaderSize
			if recycle {
				h = RecyclableHeaderSize
			}
			f(l, h)
		})
	}
}

func (l *retriableLog) encode(msg string) []byte {
	at := len(l.contents)
	if err := l.encoder.AddRecord(nil, []byte(msg), 0); err != nil {
		l.Error(err)
	}
	return l.contents[at:]
}

func (l *retriableLog) writeRaw(data []byte) {
	if err := l.file.Append(nil, data, 0); err != nil {
		l.Error(err)
	}
	if err := l.file.Sync(nil, true); err != nil {
		l.Error(err)
	}
}

func (l *retriableLog) tryRead() (string, bool) {
	record, ok := l.reader.ReadRecord(rocksdb.TolerateCorruptedTailRecords)
	return string(record), ok
}

// testTailLog writes a record in two parts, the second when the reader has met
// the end of the first.
func testTailLog(l *retriableLog, cut int) {
	part1Written, firstEOF, done := make(chan struct{}), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		data := l.encode("foo")
		l.writeRaw(data[:cut])
		close(part1Written)
		<-firstEOF
		l.writeRaw(data[cut:])
	}()
	<-part1Written
	met := false
	for {
		record, ok := l.tryRead()
		if ok {
			if record != "foo" {
				l.Errorf("read %q", record)
			}
			break
		}
		if !met {
			if met = l.reader.IsEOF(); !met {
				l.Error("no record and not at the end")
			}
			close(firstEOF)
		}
	}
	<-done
	if !met {
		l.Error("the end was not met")
	}
	if l.report.message != "" {
		l.Error(l.report.message)
	}
}

func TestRetriableLogTest_TailLog_PartialHeader(t *testing.T) {
	eachRetriableLog(t, func(l *retriableLog, header int) { testTailLog(l, header-1) })
}

func TestRetriableLogTest_TailLog_FullHeader(t *testing.T) {
	eachRetriableLog(t, func(l *retriableLog, header int) { testTailLog(l, header+1) })
}

func TestRetriableLogTest_NonBlockingReadFullRecord(t *testing.T) {
	eachRetriableLog(t, func(l *retriableLog, header int) {
		data := l.encode("foo-bar")
		l.writeRaw(data[:header-1])
		if record, ok := l.tryRead(); ok || record != "" {
			t.Fatalf("read %q of a part", record)
		}
		l.writeRaw(data[header-1:])
		if record, ok := l.tryRead(); !ok || record != "foo-bar" {
			t.Fatalf("read %q, %v", record, ok)
		}
	})
}

// eachCompressedLog runs f on logs that begin with their compression type.
func eachCompressedLog(t *testing.T, f func(l *logTest)) {
	eachLogOf(t, func(l *logTest) {
		if err := l.writer.AddCompressionTypeRecord(nil); err != nil {
			l.Fatal(err)
		}
		f(l)
	}, rocksdb.NoCompression, rocksdb.ZSTD)
}

func TestCompressionLogTest_Empty(t *testing.T) {
	eachCompressedLog(t, func(l *logTest) {
		n := 0
		if l.compression != rocksdb.NoCompression {
			n = HeaderSize + 4
		}
		l.wantWritten(n)
		l.want("EOF")
	})
}

func TestCompressionLogTest_ReadWrite(t *testing.T) { eachCompressedLog(t, testReadWrite) }

func TestCompressionLogTest_ReadWriteWithTimestampSize(t *testing.T) {
	eachCompressedLog(t, testReadWriteWithTimestampSize)
}

func TestCompressionLogTest_ManyBlocks(t *testing.T) { eachCompressedLog(t, testManyBlocks) }

func TestCompressionLogTest_Fragmentation(t *testing.T) {
	eachCompressedLog(t, func(l *logTest) {
		rnd := util.NewRandom(301)
		records := []string{"small", rnd.RandomBinaryString(3 * BlockSize / 2), rnd.RandomBinaryString(3 * BlockSize)}
		for _, s := range records {
			l.write(s)
		}
		l.want(append(records, "EOF")...)
	})
}

func TestCompressionLogTest_AlignedFragmentation(t *testing.T) {
	eachCompressedLog(t, func(l *logTest) {
		fillers := 0
		for len(l.contents)&(BlockSize-1) >= HeaderSize {
			l.write("a")
			fillers++
		}
		big := util.NewRandom(301).RandomBinaryString(3 * BlockSize)
		l.write(big)
		for range fillers {
			l.want("a")
		}
		l.want(big, "EOF")
	})
}

func TestCompressionLogTest_ChecksumMismatch(t *testing.T) {
	eachCompressedLog(t, func(l *logTest) {
		at := len(l.contents)
		l.write("foooooo")
		l.contents[at+l.headerSize()] += 14
		l.want("EOF")
		if l.recycle {
			l.wantSilence()
			return
		}
		l.wantSomeDropped()
		l.wantError("checksum mismatch")
	})
}

func TestStreamingCompressionTest_Basic(t *testing.T) {
	for _, n := range []int{10, 100, 1000, BlockSize, BlockSize * 2} {
		l := newLogTest(t, false, false, rocksdb.ZSTD)
		if err := l.writer.AddCompressionTypeRecord(nil); err != nil {
			t.Fatal(err)
		}
		s := bigString("abc", n)
		l.write(s)
		if n >= BlockSize && len(l.contents) > n/10 {
			t.Errorf("%d bytes became %d", n, len(l.contents))
		}
		l.want(s, "EOF")
		l.wantSilence()
	}
}
