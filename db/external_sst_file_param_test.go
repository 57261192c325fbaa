// Port of db/external_sst_file_test.cc (what is run for each way of ingesting).

package db_test

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/db/dbformat"
)

// eachWay runs f for each of the ways of ingesting.
func eachWay(t *testing.T, f func(x *extTest, a add)) {
	for i := range 8 {
		a := add{seqno: true, writeSeqno: i&1 != 0, noVerify: i&2 != 0, twoPhase: i&4 != 0}
		t.Run(fmt.Sprintf("write_global_seqno=%t,verify=%t,two_phase=%t", a.writeSeqno, !a.noVerify, a.twoPhase), func(t *testing.T) {
			f(newExtTest(t), a)
		})
	}
}

func intsTo(from, to int) (is []int) {
	for i := from; i <= to; i++ {
		is = append(is, i)
	}
	return is
}

// putRange puts keys of value v, from and to included.
func (x *extTest) putRange(from, to int, v string) {
	x.Helper()
	for i := from; i <= to; i++ {
		x.mustPut(0, key(i), v)
		x.data[key(i)] = v
	}
}

// levelsOfFour ingests four ranges into a database of five levels whose
// memtable holds 100 to 200, and whose last level has bottom files.
func (x *extTest) levelsOfFour(o rocksdb.Options, a add, bottom int) {
	x.Helper()
	for _, s := range []struct {
		from, to       int
		want           string
		bottomIncluded int
	}{{0, 20, "0,0,0,0,%d", 1}, {80, 130, "2,0,0,0,%d", 1}, {30, 50, "2,0,0,0,%d", 2}, {10, 40, "2,0,0,1,%d", 2}} {
		x.must(x.addKeys(o, a, intsTo(s.from, s.to)...))
		x.wantFiles(0, fmt.Sprintf(s.want, bottom+s.bottomIncluded))
	}
	x.verify(x.data)
}

func TestExternalSSTFileTest_IngestFileWithGlobalSeqnoAssignedLevel(t *testing.T) {
	eachWay(t, func(x *extTest, a add) {
		o := x.currentOptions()
		o.NumLevels, o.DisableAutoCompactions = 5, true
		x.destroyAndReopen(o)
		x.putRange(100, 200, "memtable")
		x.levelsOfFour(o, a, 0)
	})
}

func TestExternalSSTFileTest_IngestFileWithGlobalSeqnoAssignedUniversal(t *testing.T) {
	eachWay(t, func(x *extTest, a add) {
		o := x.currentOptions()
		o.NumLevels, o.DisableAutoCompactions, o.CompactionStyle = 5, true, rocksdb.CompactionStyleUniversal
		x.destroyAndReopen(o)
		x.putRange(200, 250, "bottommost")
		c := rocksdb.DefaultCompactRangeOptions()
		c.BottommostLevelCompaction = rocksdb.BottommostLevelCompactionForce
		x.must(x.db.CompactRange(&c, nil, nil))
		x.wantFiles(0, "0,0,0,0,1")
		s := x.db.GetSnapshot()
		x.putRange(100, 200, "memtable")
		x.levelsOfFour(o, a, 1)
		x.must(x.db.ReleaseSnapshot(s))
	})
}

func TestExternalSSTFileTest_IngestFileWithGlobalSeqnoMemtableFlush(t *testing.T) {
	eachWay(t, func(x *extTest, a add) {
		o := x.currentOptions()
		x.destroyAndReopen(o)
		inMemtable := func(want bool) {
			n, ok := x.db.GetIntProperty("rocksdb.num-entries-active-mem-table")
			if !ok || (n > 0) != want {
				x.Fatalf("%d entries in the memtable (%t)", n, ok)
			}
		}
		for _, s := range []struct {
			memtable     []int
			between, not []int
		}{{[]int{10, 20, 40, 80}, []int{90, 100, 110}, []int{19, 20, 21}}, {[]int{200, 201, 205, 206}, []int{202, 203, 204}, []int{206, 207}}} {
			for _, k := range s.memtable {
				x.putRange(k, k, "memtable")
			}
			inMemtable(true)
			x.must(x.addKeys(o, a, s.between...))
			inMemtable(true)
			x.must(x.addKeys(o, a, s.not...))
			inMemtable(false)
		}
		x.verify(x.data)
	})
}

func TestExternalSSTFileTest_L0SortingIssue(t *testing.T) {
	eachWay(t, func(x *extTest, a add) {
		o := x.currentOptions()
		o.NumLevels = 2
		x.destroyAndReopen(o)
		x.mustPut(0, key(1), "memtable")
		x.mustPut(0, key(10), "memtable")
		x.must(x.addKeys(o, a, 7, 8))
		x.must(x.addKeys(o, a, 7, 8))
		x.mustPut(0, key(7), "memtable")
		x.mustPut(0, key(8), "memtable")
		for range 2 {
			x.wantGet(0, key(7), "memtable")
			x.wantGet(0, key(8), "memtable")
			x.flush(0)
		}
	})
}

type ingestedListener struct {
	rocksdb.EventListenerBase
	infos []rocksdb.ExternalFileIngestionInfo
}

func (l *ingestedListener) OnExternalFileIngested(_ rocksdb.DBRef, info *rocksdb.ExternalFileIngestionInfo) {
	l.infos = append(l.infos, *info)
}

func TestExternalSSTFileTest_IngestionListener(t *testing.T) {
	eachWay(t, func(x *extTest, a add) {
		o := x.currentOptions()
		l := &ingestedListener{}
		o.Listeners = append(o.Listeners, l)
		x.createAndReopenWithCF([]string{"koko", "toto"}, o)
		for cf, name := range []string{"default", "koko", "toto"} {
			w := rocksdb.DefaultSstFileWriterOptions()
			w.ColumnFamily = x.cf(cf)
			path, _, err := x.tryWrite(o, &w, fmt.Sprint("of", cf), puts(1, 3, ""))
			x.must(err)
			args := []rocksdb.IngestExternalFileArg{{ColumnFamily: x.cf(cf), ExternalFiles: []string{path},
				Options: *ingestOptions(func(o *rocksdb.IngestExternalFileOptions) {
					o.WriteGlobalSeqno, o.VerifyChecksumsBeforeIngest = a.writeSeqno, !a.noVerify
				})}}
			if a.twoPhase {
				x.must(x.db.CommitFileIngestionHandle(x.prepare(args...)))
			} else {
				x.must(x.db.IngestExternalFiles(args))
			}
			if len(l.infos) != cf+1 {
				x.Fatalf("%d files", len(l.infos))
			}
			i := l.infos[cf]
			if i.CFName != name || i.GlobalSeqno != 0 || i.TableProperties.ColumnFamilyID != uint64(cf) || i.TableProperties.ColumnFamilyName != name {
				x.Fatalf("%s %d of %d %s", i.CFName, i.GlobalSeqno, i.TableProperties.ColumnFamilyID, i.TableProperties.ColumnFamilyName)
			}
		}
	})
}

// likeTrailer is a key whose middle is the trailer of key "ab".
func likeTrailer() string {
	return "ab" + string(binary.LittleEndian.AppendUint64(nil, dbformat.PackSequenceAndType(0, dbformat.TypeValue))) + "cdefghijkl"
}

func TestExternalSSTFileTest_DeltaEncodingWhileGlobalSeqnoPresent(t *testing.T) {
	x := newExtTest(t)
	o := x.currentOptions()
	x.destroyAndReopen(o)
	for i := range 10 {
		x.mustPut(0, "ab"+key(i), "12345678")
	}
	s := x.db.GetSnapshot()
	x.ingest(0, x.write(o, "test_file", kv("ab", "12345678", likeTrailer(), "12345678")))
	x.must(x.db.ReleaseSnapshot(s))
	x.wantGet(0, "ab", "12345678")
	x.wantGet(0, likeTrailer(), "12345678")
}

func TestExternalSSTFileTest_DeltaEncodingWhileGlobalSeqnoPresentIteratorSwitch(t *testing.T) {
	x := newExtTest(t)
	o := x.currentOptions()
	k2 := likeTrailer()
	k3 := k2 + "_"
	x.mustPut(0, "aa", "v")
	x.ingest(0, x.write(o, "test_file", kv("aa", "v", "ab", "v", k2, "v", k3, "v")))
	ro := rocksdb.DefaultReadOptions()
	ro.TotalOrderSeek = true
	it := x.db.NewIterator(&ro)
	defer it.Close()
	it.Seek([]byte(k3))
	for _, s := range []struct {
		want string
		move func()
	}{{k3, it.Prev}, {k2, it.Next}, {k3, it.Next}} {
		if !it.Valid() || string(it.Key()) != s.want {
			t.Fatalf("%q, not %q", it.Key(), s.want)
		}
		s.move()
	}
}

func TestExternalSSTFileTest_FIFOCompaction(t *testing.T) {
	x := newExtTest(t)
	o := x.currentOptions()
	o.NumLevels, o.CompactionStyle, o.MaxOpenFiles = 1, rocksdb.CompactionStyleFIFO, -1
	x.destroyAndReopen(o)
	x.putRange(0, 99, "val")
	x.flush(0)
	x.wantFiles(0, "1")
	a := add{seqno: true, writeSeqno: true, noVerify: true}
	x.must(x.addKeys(o, a, intsTo(0, 20)...))
	x.wantFiles(0, "2")
	// A sequence number is always given.
	x.wantErr(x.addKeys(o, add{noVerify: true}, intsTo(100, 120)...))
	x.must(x.addKeys(o, a, intsTo(100, 120)...))

	o.NumLevels, o.CompactionStyle = 7, rocksdb.CompactionStyleUniversal
	x.must(x.tryReopen(o))
	c := rocksdb.DefaultCompactRangeOptions()
	c.BottommostLevelCompaction = rocksdb.BottommostLevelCompactionForceOptimized
	x.must(x.db.CompactRange(&c, nil, nil))
	x.wantFiles(0, "0,0,0,0,0,0,1")
	o.CompactionStyle = rocksdb.CompactionStyleFIFO
	x.must(x.tryReopen(o))
	x.must(x.addKeys(o, a, intsTo(200, 220)...))
	x.wantFiles(0, "1,0,0,0,0,0,1")
	x.verify(x.data)
}

func TestExternalSSTFileTest_IngestBehind(t *testing.T) {
	for _, ofFamily := range []bool{false, true} {
		eachWay(t, func(x *extTest, a add) {
			a.behind = true
			o := x.currentOptions()
			o.CompactionStyle, o.NumLevels, o.DisableAutoCompactions = rocksdb.CompactionStyleUniversal, 3, false
			x.destroyAndReopen(o)
			allow := func(v bool) {
				if ofFamily {
					o.CFAllowIngestBehind = v
				} else {
					o.AllowIngestBehind = v
				}
			}
			x.putRange(100, 200, "memtable")
			x.wantErr(x.addKeys(o, a, intsTo(0, 20)...))
			allow(true)
			o.NumLevels = 2
			x.destroyAndReopen(o)
			o.NumLevels = 3
			x.destroyAndReopen(o)
			clear(x.data)
			x.putRange(100, 200, "memtable")
			x.must(x.db.CompactRange(nil, nil, nil))
			x.wantFiles(0, "0,1")
			x.must(x.addKeys(o, a, intsTo(0, 20)...))
			x.wantFiles(0, "0,1,1")
			x.wantErr(x.addKeys(o, a, intsTo(0, 20)...))
			x.wantFiles(0, "0,1,1")
			ingested := x.onlyOfLevel(2)
			x.must(x.db.CompactRange(nil, nil, nil))
			x.wantFiles(0, "0,1,1")
			if n := x.onlyOfLevel(2); n != ingested {
				x.Fatalf("file %d, not %d", n, ingested)
			}
			x.verify(x.data)

			o.CompactionOptionsUniversal.MaxSizeAmplificationPercent, o.Level0FileNumCompactionTrigger = 110, 4
			x.must(x.tryReopen(o))
			for i := range 4 {
				x.putRange(0, 9, strings.Repeat(string(rune('a'+i)), 1000))
				x.flush(0)
			}
			x.must(x.db.WaitForCompact(nil))
			if n := x.onlyOfLevel(2); n != ingested {
				x.Fatalf("file %d, not %d", n, ingested)
			}
			if ofFamily {
				h, err := x.db.CreateColumnFamily(rocksdb.DefaultColumnFamilyOptions(), "new_cf")
				x.must(err)
				path := x.write(x.currentOptions(), "of_new_cf", puts(0, 20, ""))
				x.wantCode(h.IngestExternalFile([]string{path}, ingestOptions(func(o *rocksdb.IngestExternalFileOptions) { o.IngestBehind = true })), rocksdb.CodeInvalidArgument)
				x.must(x.db.DropColumnFamily(h))
				x.must(h.Close())
			}
			allow(false)
			x.must(x.tryReopen(o))
			x.must(x.db.CompactRange(nil, nil, nil))
			if n := x.onlyOfLevel(2); n == ingested {
				x.Fatal("the file was not compacted")
			}
			x.verify(x.data)
		})
	}
}

// onlyOfLevel is the number of the one file of a level.
func (x *extTest) onlyOfLevel(level int) (number uint64) {
	x.Helper()
	n := 0
	for _, f := range x.db.GetLiveFilesMetaData() {
		if f.Level == level {
			number = f.FileNumber
			n++
		}
	}
	if n != 1 {
		x.Fatalf("%d files on level %d", n, level)
	}
	return number
}
