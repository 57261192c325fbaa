// No upstream twin: fuzz targets and properties of the log's readers and
// writer.

package wal

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/rocksdb-go/rocksdb/file"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

var allModes = []rocksdb.WALRecoveryMode{rocksdb.TolerateCorruptedTailRecords, rocksdb.AbsoluteConsistency,
	rocksdb.PointInTimeRecovery, rocksdb.SkipAnyCorruptedRecords}

func newMemoryReader(t testing.TB, contents *[]byte, tail bool, opts ReaderOptions) (logReader, func() error) {
	f := file.NewSequentialFileReader(&stringSource{t: t, contents: contents, failAfterPartial: !tail}, "a.log", nil)
	opts.LogNumber = 123
	if tail {
		r := NewFragmentBufferedReader(f, opts)
		return r, r.Close
	}
	r := NewReader(f, opts)
	return r, r.Close
}

// readAll reads to the end and checks that the reader gets there in as many
// steps as the bytes allow, and that what it reports names file and place.
func readAll(t testing.TB, contents []byte, tail, checksum bool, mode rocksdb.WALRecoveryMode) (records []string, report reportCollector) {
	r, closeReader := newMemoryReader(t, &contents, tail, ReaderOptions{Reporter: &report, Checksum: checksum})
	for {
		record, ok := r.ReadRecord(mode)
		if !ok {
			break
		}
		records = append(records, string(record))
		if len(records) > len(contents) {
			t.Fatal("more records than bytes")
		}
	}
	if err := closeReader(); err != nil {
		t.Fatal(err)
	}
	for i, err := range report.errs {
		var s *rocksdb.Status
		if !errors.As(err, &s) || !errors.Is(err, rocksdb.ErrCorruption) {
			t.Fatalf("reported %v", err)
		}
		if s.File != "a.log" || !s.HasOffset || s.Offset > uint64(len(contents)) {
			t.Fatalf("%v does not say where: %q at %d", err, s.File, s.Offset)
		}
		if report.logNumbers[i] != NoLogNumber {
			t.Fatalf("%v is of another log", err)
		}
	}
	return records, report
}

// sampleLog is a log of every kind of record, and the records in it.
func sampleLog(t testing.TB, recycle bool, compression rocksdb.CompressionType) (contents []byte, records []string) {
	w := NewWriter(file.NewWritableFileWriter(newStringSink(&contents, false), "a.log", nil, nil),
		WriterOptions{LogNumber: 123, RecycleLogFiles: recycle, Compression: compression, TrackAndVerifyWALs: true})
	check := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	check(w.AddCompressionTypeRecord(nil))
	check(w.MaybeAddPredecessorWALInfo(nil, &PredecessorWALInfo{LogNumber: 5, SizeBytes: 6, LastSeqnoRecorded: 7, Initialized: true}))
	rnd := util.NewRandom(11)
	for i, n := range []int{3, 0, 200, BlockSize, 17, 2*BlockSize + 100, 1} {
		if i == 2 {
			check(w.MaybeAddUserDefinedTimestampSizeRecord(nil, []TimestampSize{{3, 8}}))
		}
		s := rnd.RandomBinaryString(n)
		check(w.AddRecord(nil, []byte(s), uint64(i)))
		records = append(records, s)
	}
	if got := w.GetLastSeqnoRecorded(); got != 6 {
		t.Fatalf("last sequence number %d", got)
	}
	return contents, records
}

func eachSampleLog(t *testing.T, f func(t *testing.T, contents []byte, records []string)) {
	for _, recycle := range []bool{false, true} {
		for _, c := range []rocksdb.CompressionType{rocksdb.NoCompression, rocksdb.ZSTD} {
			t.Run(fmt.Sprintf("recycle=%v,compression=%d", recycle, c), func(t *testing.T) {
				contents, records := sampleLog(t, recycle, c)
				f(t, contents, records)
			})
		}
	}
}

// A log that ends anywhere gives the records that are whole and no other.
func TestReader_Truncated(t *testing.T) {
	eachSampleLog(t, func(t *testing.T, contents []byte, records []string) {
		var cuts []int
		for n := range len(contents) + 1 {
			if n < 600 || n > len(contents)-60 || n%BlockSize < 14 || n%BlockSize > BlockSize-14 || n%997 == 0 {
				cuts = append(cuts, n)
			}
		}
		before := 0
		for _, n := range cuts {
			for _, tail := range []bool{false, true} {
				for _, mode := range allModes {
					got, report := readAll(t, contents[:n], tail, true, mode)
					if len(got) > len(records) || !slices.Equal(got, records[:len(got)]) {
						t.Fatalf("cut at %d: records differ", n)
					}
					if len(got) < before {
						t.Fatalf("cut at %d: %d records, a shorter one had %d", n, len(got), before)
					}
					before = len(got)
					tolerant := tail || mode == rocksdb.TolerateCorruptedTailRecords || mode == rocksdb.SkipAnyCorruptedRecords
					if tolerant && len(report.errs) > 0 {
						t.Fatalf("cut at %d, tail %v, mode %d: %v", n, tail, mode, report.errs)
					}
				}
			}
		}
		if before != len(records) {
			t.Fatalf("the whole log gives %d records of %d", before, len(records))
		}
	})
}

// A tailing reader gives all records however the file grows.
func TestFragmentBufferedReader_Grows(t *testing.T) {
	eachSampleLog(t, func(t *testing.T, contents []byte, records []string) {
		rapid.Check(t, func(rt *rapid.T) {
			var visible []byte
			var report reportCollector
			r, closeReader := newMemoryReader(t, &visible, true, ReaderOptions{Reporter: &report, Checksum: true})
			var got []string
			for len(visible) < len(contents) {
				n := rapid.OneOf(rapid.IntRange(1, 40), rapid.IntRange(1, 2*BlockSize)).Draw(rt, "grow")
				visible = contents[:min(len(visible)+n, len(contents))]
				for {
					record, ok := r.ReadRecord(rocksdb.TolerateCorruptedTailRecords)
					if !ok {
						break
					}
					got = append(got, string(record))
				}
			}
			if !slices.Equal(got, records) || report.message != "" {
				rt.Fatalf("%d records of %d; %s", len(got), len(records), report.message)
			}
			if err := closeReader(); err != nil {
				rt.Fatal(err)
			}
		})
	})
}

// A flipped bit never makes a record that was not written. (One in the record
// of the compression type does: the rest is then taken for plain. It is
// reported, so only a caller that skips any corruption comes to see it.)
func TestReader_FlippedBit(t *testing.T) {
	eachSampleLog(t, func(t *testing.T, contents []byte, records []string) {
		known := map[string]bool{}
		for _, s := range records {
			known[s] = true
		}
		rapid.Check(t, func(rt *rapid.T) {
			bad := slices.Clone(contents)
			bad[rapid.IntRange(HeaderSize+4, len(bad)-1).Draw(rt, "at")] ^= 1 << rapid.IntRange(0, 7).Draw(rt, "bit")
			for _, tail := range []bool{false, true} {
				for _, mode := range allModes {
					got, _ := readAll(t, bad, tail, true, mode)
					for _, s := range got {
						if !known[s] {
							rt.Fatalf("tail %v, mode %d: a record of %d bytes that was never written", tail, mode, len(s))
						}
					}
				}
			}
		})
	})
}

func FuzzReader(f *testing.F) {
	for _, recycle := range []bool{false, true} {
		for _, c := range []rocksdb.CompressionType{rocksdb.NoCompression, rocksdb.ZSTD} {
			contents, _ := sampleLog(f, recycle, c)
			f.Add(contents[:500])
			f.Add(contents[len(contents)-500:])
		}
	}
	// A record of a zstd frame that claims to be huge.
	huge := []byte{0, 0, 0, 0, 4, 0, SetCompressionType, 7, 0, 0, 0,
		0, 0, 0, 0, 16, 0, FullType, 0x28, 0xb5, 0x2f, 0xfd, 0xe0, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0, 1, 0, 0}
	f.Add(huge)
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, checksum := range []bool{true, false} {
			for _, mode := range allModes {
				readAll(t, data, false, checksum, mode)
			}
			readAll(t, data, true, checksum, rocksdb.TolerateCorruptedTailRecords)
		}
	})
}

func TestReader_PredecessorWALInfo(t *testing.T) {
	recorded := PredecessorWALInfo{LogNumber: 5, SizeBytes: 600, LastSeqnoRecorded: 70, Initialized: true}
	with := func(f func(p *PredecessorWALInfo)) PredecessorWALInfo { p := recorded; f(&p); return p }
	for _, c := range []struct {
		name     string
		observed PredecessorWALInfo
		keep     uint64
		mode     rocksdb.WALRecoveryMode
		off      bool
		want     string
	}{
		{name: "match", observed: recorded},
		{name: "missing", keep: 5, want: "Missing WAL of log number 5"},
		{name: "missing but obsolete", keep: 6},
		{name: "number", observed: with(func(p *PredecessorWALInfo) { p.LogNumber = 4 }), want: "Mismatched predecessor log number"},
		{name: "sequence number", observed: with(func(p *PredecessorWALInfo) { p.LastSeqnoRecorded = 69 }), want: "Mismatched last sequence number"},
		{name: "size", observed: with(func(p *PredecessorWALInfo) { p.SizeBytes = 599 }), want: "Mismatched size of the WAL"},
		{name: "skip any", keep: 5, mode: rocksdb.SkipAnyCorruptedRecords},
		{name: "not tracked", keep: 5, off: true},
	} {
		for _, recycle := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s,recycle=%v", c.name, recycle), func(t *testing.T) {
				l := newLogTest(t, recycle, false, rocksdb.NoCompression)
				l.writer.opts.TrackAndVerifyWALs = true
				// In the second block for want of room in the first.
				first := bigString("x", BlockSize-2*l.headerSize()-10)
				l.write(first)
				if err := l.writer.MaybeAddPredecessorWALInfo(nil, &recorded); err != nil {
					t.Fatal(err)
				}
				l.write("foo")
				r, closeReader := newMemoryReader(t, &l.contents, false, ReaderOptions{Reporter: &l.report, Checksum: true,
					TrackAndVerifyWALs: !c.off, MinWALNumberToKeep: c.keep, ObservedPredecessor: c.observed})
				l.reader = r
				for _, want := range []string{first, "foo", "EOF"} {
					if got := l.readMode(c.mode); got != want {
						t.Fatalf("read %.20q, want %.20q", got, want)
					}
				}
				if c.want == "" {
					l.wantSilence()
				} else {
					l.wantError(c.want)
					l.wantDropped(24)
					if l.report.logNumbers[0] != 5 {
						t.Fatalf("log number %d", l.report.logNumbers[0])
					}
				}
				if err := closeReader(); err != nil {
					t.Fatal(err)
				}
			})
		}
	}
}

func TestReader_UnsupportedCompression(t *testing.T) {
	var contents []byte
	l := newLogTest(t, false, false, rocksdb.SnappyCompression)
	if err := l.writer.AddCompressionTypeRecord(nil); !errors.Is(err, rocksdb.ErrNotSupported) {
		t.Fatal(err)
	}
	if err := l.writer.emit(nil, SetCompressionType, []byte{byte(rocksdb.SnappyCompression), 0, 0, 0}); err != nil {
		t.Fatal(err)
	}
	l.write("not to be taken for a plain record")
	contents = l.contents
	got, report := readAll(t, contents, false, true, rocksdb.TolerateCorruptedTailRecords)
	if len(got) != 0 || len(report.errs) != 2 {
		t.Fatalf("read %q, reported %q", got, report.message)
	}
}
