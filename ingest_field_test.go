// No upstream twin: public reports about ingested files, each with the outcome
// that is right.

package rocksdb_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/utilities/merge_operators"
)

// ingestDB is a database under test, and what makes files for it.
type ingestDB struct {
	*testing.T
	dir string
	o   rocksdb.Options
	db  *rocksdb.DB
	cfs []*rocksdb.ColumnFamily
	n   int
}

func openIngestDB(t *testing.T, change func(o *rocksdb.Options), names ...string) *ingestDB {
	t.Helper()
	x := &ingestDB{T: t, dir: t.TempDir(), o: rocksdb.DefaultOptions()}
	x.o.CreateIfMissing, x.o.CreateMissingColumnFamilies = true, true
	if change != nil {
		change(&x.o)
	}
	x.reopen(names...)
	t.Cleanup(func() { x.db.Close() })
	return x
}

func (x *ingestDB) must(err error) {
	x.Helper()
	if err != nil {
		x.Fatal(err)
	}
}

func (x *ingestDB) reopen(names ...string) {
	x.Helper()
	if x.db != nil {
		x.must(x.db.Close())
	}
	fs := []rocksdb.ColumnFamilyDescriptor{{Name: "default", Options: x.o.ColumnFamilyOptions}}
	for _, n := range names {
		fs = append(fs, rocksdb.ColumnFamilyDescriptor{Name: n, Options: x.o.ColumnFamilyOptions})
	}
	var err error
	x.db, x.cfs, err = rocksdb.OpenColumnFamilies(filepath.Join(x.dir, "db"), x.o.DBOptions, fs)
	x.must(err)
}

// file makes an external file of puts.
func (x *ingestDB) file(pairs ...string) string {
	x.Helper()
	x.n++
	path := filepath.Join(x.dir, fmt.Sprintf("%d.sst", x.n))
	w := rocksdb.NewSstFileWriter(x.o, nil)
	x.must(w.Open(path, rocksdb.TemperatureUnknown))
	for i := 0; i < len(pairs); i += 2 {
		x.must(w.Put([]byte(pairs[i]), []byte(pairs[i+1])))
	}
	x.must(w.Finish(nil))
	return path
}

func (x *ingestDB) put(pairs ...string) {
	x.Helper()
	for i := 0; i < len(pairs); i += 2 {
		x.must(x.db.Put(nil, []byte(pairs[i]), []byte(pairs[i+1])))
	}
}

// scan lists a family forwards, and checks that backwards gives the same.
func (x *ingestDB) scan(c *rocksdb.ColumnFamily, ro *rocksdb.ReadOptions) string {
	x.Helper()
	it := c.NewIterator(ro)
	defer it.Close()
	var list, back []string
	for k, v := range it.All() {
		list = append(list, string(k)+"="+string(v))
	}
	x.must(it.Err())
	for k, v := range it.Backward() {
		back = append(back, string(k)+"="+string(v))
	}
	x.must(it.Err())
	slices.Reverse(back)
	if !slices.Equal(list, back) {
		x.Fatalf("forwards %q, backwards %q", list, back)
	}
	return strings.Join(list, " ")
}

func (x *ingestDB) want(c *rocksdb.ColumnFamily, ro *rocksdb.ReadOptions, want string) {
	x.Helper()
	if got := x.scan(c, ro); got != want {
		x.Fatalf("scan %q, not %q", got, want)
	}
}

// levels lists the number of files a level.
func (x *ingestDB) levels(c *rocksdb.ColumnFamily, n int) string {
	var list []string
	for l := range n {
		v, _ := c.GetProperty(fmt.Sprintf("rocksdb.num-files-at-level%d", l))
		list = append(list, v)
	}
	return strings.Join(list, ",")
}

// facebook/rocksdb#6245: an ingested value lost against older ones of level 0.
func TestField_6245(t *testing.T) {
	x := openIngestDB(t, nil)
	for range 3 {
		x.put("k", "a")
		x.reopen()
	}
	x.must(x.db.IngestExternalFile([]string{x.file("k", "b")}, nil))
	x.must(x.db.WaitForCompact(nil))
	x.want(x.db.ColumnFamily, nil, "k=b")
	x.reopen()
	x.want(x.db.ColumnFamily, nil, "k=b")
}

// facebook/rocksdb#6666: the sequence number leaked into delta-encoded keys. T
// is the footer of a put at sequence number 0.
func TestField_6666(t *testing.T) {
	const T = "\x01\x00\x00\x00\x00\x00\x00\x00"
	for _, version := range []uint32{2, 5, 7} {
		for _, write := range []bool{false, true} {
			t.Run(fmt.Sprintf("format_version=%d,write_global_seqno=%t", version, write), func(t *testing.T) {
				x := openIngestDB(t, func(o *rocksdb.Options) {
					o.DisableAutoCompactions = true
					b := rocksdb.DefaultBlockBasedTableOptions()
					b.FormatVersion = version
					o.TableFactory = rocksdb.NewBlockBasedTableFactory(b)
				})
				x.put("a", "1", "x", "old", "z", "9")
				x.must(x.db.Flush(nil))
				how := rocksdb.DefaultIngestExternalFileOptions()
				how.WriteGlobalSeqno = write
				x.must(x.db.IngestExternalFile([]string{x.file("x", "n1", "x"+T, "n2", "x"+T+T+"z", "n4", "x"+T+"y", "n3")}, &how))
				if f := x.db.GetLiveFilesMetaData()[0]; f.Level != 0 || f.SmallestSeqno != 4 || f.LargestSeqno != 4 {
					t.Fatalf("level %d, seqno %d..%d", f.Level, f.SmallestSeqno, f.LargestSeqno)
				}
				keys := []string{"a", "x", "x" + T, "x" + T + T + "z", "x" + T + "y", "z"}
				values := []string{"1", "n1", "n2", "n4", "n3", "9"}
				check := func() {
					t.Helper()
					var all []string
					it := x.db.NewIterator(nil)
					defer it.Close()
					for i, k := range keys {
						all = append(all, k+"="+values[i])
						v, err := x.db.Get(nil, []byte(k))
						if err != nil || string(v.Data()) != values[i] {
							t.Fatalf("Get(%q): %q, %v", k, v.Data(), err)
						}
						v.Release()
						for _, seek := range []func([]byte){it.Seek, it.SeekForPrev} {
							if seek([]byte(k)); !it.Valid() || string(it.Key()) != k || string(it.Value()) != values[i] {
								t.Fatalf("seek to %q", k)
							}
						}
					}
					x.want(x.db.ColumnFamily, nil, strings.Join(all, " "))
				}
				check()
				x.must(x.db.CompactRange(nil, nil, nil))
				check()
				x.reopen()
				check()
			})
		}
	}
}

// facebook/rocksdb#9005: several families, only some of whose files need a
// sequence number.
func TestField_9005(t *testing.T) {
	for _, variant := range []bool{false, true} {
		t.Run(fmt.Sprint(variant), func(t *testing.T) {
			x := openIngestDB(t, nil, "cf1", "cf2")
			cf1, cf2 := x.cfs[1], x.cfs[2]
			x.must(cf1.Put(nil, []byte("k"), []byte("old1")))
			if !variant {
				x.must(cf1.Flush(nil))
			}
			how := rocksdb.DefaultIngestExternalFileOptions()
			args := []rocksdb.IngestExternalFileArg{{ColumnFamily: cf1, ExternalFiles: []string{x.file("k", "ing1")}, Options: how},
				{ColumnFamily: cf2, ExternalFiles: []string{x.file("k", "ing2")}, Options: how}}
			if variant {
				slices.Reverse(args)
			}
			x.must(x.db.IngestExternalFiles(args))
			if n := x.db.GetLatestSequenceNumber(); n != 2 {
				t.Fatalf("sequence number %d", n)
			}
			var places []string
			for _, f := range x.db.GetLiveFilesMetaData() {
				if f.SmallestSeqno == f.LargestSeqno && f.LargestSeqno != 1 {
					places = append(places, fmt.Sprintf("%s L%d %d", f.ColumnFamilyName, f.Level, f.LargestSeqno))
				}
			}
			if got := strings.Join(places, ", "); got != "cf1 L0 2, cf2 L6 0" {
				t.Fatal(got)
			}
			both := func(ro *rocksdb.ReadOptions, v1, v2 string) {
				t.Helper()
				x.want(cf1, ro, "k="+v1)
				x.want(cf2, ro, "k="+v2)
			}
			both(nil, "ing1", "ing2")
			s := x.db.GetSnapshot()
			x.must(errors.Join(cf1.Put(nil, []byte("k"), []byte("new1")), cf2.Put(nil, []byte("k"), []byte("new2"))))
			ro := rocksdb.DefaultReadOptions()
			ro.Snapshot = s
			both(nil, "new1", "new2")
			both(&ro, "ing1", "ing2")
			if n := x.db.GetLatestSequenceNumber(); n != 4 {
				t.Fatalf("sequence number %d", n)
			}
			x.must(x.db.ReleaseSnapshot(s))
			x.reopen("cf1", "cf2")
			cf1, cf2 = x.cfs[1], x.cfs[2]
			both(nil, "new1", "new2")
		})
	}
}

// behind is a database that files can be ingested behind in.
func behind(t *testing.T, cfOption bool) *ingestDB {
	m, err := mergeoperators.New("stringappend")
	if err != nil {
		t.Fatal(err)
	}
	return openIngestDB(t, func(o *rocksdb.Options) {
		o.CompactionStyle, o.NumLevels, o.DisableAutoCompactions = rocksdb.CompactionStyleUniversal, 3, true
		o.MergeOperator = m
		o.CFAllowIngestBehind, o.AllowIngestBehind = cfOption, !cfOption
	})
}

// facebook/rocksdb#7166: operands were folded into a value that hid what was
// ingested behind later.
func TestField_7166(t *testing.T) {
	for _, cfOption := range []bool{true, false} {
		t.Run(fmt.Sprint(cfOption), func(t *testing.T) {
			x := behind(t, cfOption)
			for _, v := range []string{"b", "c"} {
				x.must(errors.Join(x.db.Merge(nil, []byte("k"), []byte(v)), x.db.Flush(nil)))
			}
			co := rocksdb.DefaultCompactRangeOptions()
			x.must(x.db.CompactRange(&co, nil, nil))
			check := func(levels, scan string) {
				t.Helper()
				if got := x.levels(x.db.ColumnFamily, 3); got != levels {
					t.Fatalf("levels %s, not %s", got, levels)
				}
				x.want(x.db.ColumnFamily, nil, scan)
			}
			check("0,1,0", "k=b,c")
			how := rocksdb.DefaultIngestExternalFileOptions()
			how.IngestBehind = true
			x.must(x.db.IngestExternalFile([]string{x.file("k", "a")}, &how))
			check("0,1,1", "k=a,b,c")
			co.BottommostLevelCompaction = rocksdb.BottommostLevelCompactionForce
			x.must(x.db.CompactRange(&co, nil, nil))
			check("0,1,1", "k=a,b,c")
			err := x.db.IngestExternalFile([]string{x.file("k", "0")}, &how)
			if rocksdb.CodeOf(err) != rocksdb.CodeInvalidArgument || !strings.Contains(err.Error(), "doesn't fit at the last level") {
				t.Fatal(err)
			}
		})
	}
}

// facebook/rocksdb#13571: a range tombstone has to hold for what is ingested
// behind it later.
func TestField_13571(t *testing.T) {
	x := behind(t, true)
	x.put("k1", "v", "k9", "v")
	x.must(x.db.Flush(nil))
	x.must(errors.Join(x.db.DeleteRange(nil, []byte("k2"), []byte("k5")), x.db.Flush(nil)))
	x.must(x.db.CompactRange(nil, nil, nil))
	how := rocksdb.DefaultIngestExternalFileOptions()
	how.IngestBehind = true
	x.must(x.db.IngestExternalFile([]string{x.file("k1", "old", "k3", "old", "k6", "old")}, &how))
	const want = "k1=v k6=old k9=v"
	x.want(x.db.ColumnFamily, nil, want)
	x.must(x.db.CompactRange(nil, nil, nil))
	x.want(x.db.ColumnFamily, nil, want)
	x.reopen()
	x.want(x.db.ColumnFamily, nil, want)
}

// cockroachdb/pebble#567: a tree with an ingested file in level 0 is sound.
func TestField_Pebble567(t *testing.T) {
	x := openIngestDB(t, func(o *rocksdb.Options) { o.DisableAutoCompactions = true })
	sync := rocksdb.DefaultWriteOptions()
	sync.Sync = true
	b := rocksdb.NewWriteBatch()
	for _, k := range []string{"a", "b", "c"} {
		x.must(b.Put([]byte(k), []byte("1")))
	}
	x.must(errors.Join(x.db.Write(&sync, b), x.db.Flush(nil), x.db.DeleteRange(&sync, []byte("a"), []byte("b")), x.db.Flush(nil), x.db.CompactRange(nil, nil, nil)))
	x.put("c", "2")
	x.must(x.db.IngestExternalFile([]string{x.file("b", "ing", "d", "ing")}, nil))
	x.put("b", "3")
	x.must(errors.Join(x.db.Flush(nil), x.db.Put(&sync, []byte("e"), []byte("wal"))))
	x.o.ParanoidChecks, x.o.ForceConsistencyChecks = true, true
	x.reopen()
	if got := x.levels(x.db.ColumnFamily, 7); got != "4,0,0,0,0,0,1" {
		t.Fatal(got)
	}
	x.want(x.db.ColumnFamily, nil, "b=3 c=2 d=ing e=wal")
	x.must(x.db.VerifyChecksum(nil))
}

// facebook/rocksdb#13663: a family that takes no writes but by ingestion is
// read with the memtable's checks on.
func TestField_13663(t *testing.T) {
	for i := range 4 {
		x := openIngestDB(t, func(o *rocksdb.Options) { o.MemtableProtectionBytesPerKey = 8 })
		o := x.o
		o.DisallowMemtableWrites = true
		o.ParanoidMemoryChecks, o.MemtableVerifyPerKeyChecksumOnSeek = i&1 != 0, i&2 != 0
		cf, err := x.db.CreateColumnFamily(o.ColumnFamilyOptions, "cf")
		x.must(err)
		x.must(cf.IngestExternalFile([]string{x.file("a", "1", "b", "2")}, nil))
		check := func() {
			t.Helper()
			x.want(cf, nil, "a=1 b=2")
			it := cf.NewIterator(nil)
			defer it.Close()
			if it.Seek([]byte("b")); !it.Valid() || string(it.Key()) != "b" {
				t.Fatal("Seek")
			}
			if it.SeekForPrev([]byte("az")); !it.Valid() || string(it.Key()) != "a" {
				t.Fatal("SeekForPrev")
			}
		}
		check()
		if err := cf.Put(nil, []byte("x"), []byte("y")); rocksdb.CodeOf(err) != rocksdb.CodeInvalidArgument ||
			!strings.Contains(err.Error(), "This column family has disallow_memtable_writes=true") {
			t.Fatal(err)
		}
		check()
	}
}
