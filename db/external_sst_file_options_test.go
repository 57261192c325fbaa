// Port of db/external_sst_file_test.cc (what is run with each configuration).

package db_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/db/wide"
	"github.com/rocksdb-go/rocksdb/util"
)

// eachExtOptions runs f with a fresh database of each configuration.
func eachExtOptions(t *testing.T, m skipMask, f func(x *extTest)) {
	x := newExtTest(t)
	for more := true; more; more = x.changeOptions(m | skipPlainTable | skipFIFOCompaction) {
		x.recreateDir()
		x.data, x.id = map[string]string{}, 0
		f(x)
	}
}

// described makes a file and compares what is known of it.
func (x *extTest) described(o rocksdb.Options, name string, es []extEntry, smallest, largest int, ranges ...int) string {
	x.Helper()
	path, info := x.writeInfo(o, name, es)
	at := func(k int) string {
		if k < 0 {
			return ""
		}
		return key(k)
	}
	n, lo, hi := uint64(0), -1, -1
	if len(ranges) > 0 {
		lo, hi = ranges[0], ranges[1]
	}
	for _, e := range es {
		if e.kind == 'R' {
			n++
		}
	}
	x.wantInfo(info, path, uint64(len(es))-n, at(smallest), at(largest), n, at(lo), at(hi))
	return path
}

// wantKeys checks keys' values.
func (x *extTest) wantKeys(from, to int, value func(k int) string) {
	x.Helper()
	for k := from; k < to; k++ {
		x.wantGet(0, key(k), value(k))
	}
}

func val(k int) string { return key(k) + "_val" }

// valOrNew is a value where each fifth key was overwritten.
func valOrNew(k int) string {
	if k%5 == 0 {
		return val(k) + "_new"
	}
	return val(k)
}

// sortedPuts makes a file's entries of a batch.
func sortedPuts(batch map[string]string) (es []extEntry) {
	for _, k := range slices.Sorted(maps.Keys(batch)) {
		es = append(es, extEntry{'P', k, batch[k]})
	}
	return es
}

// checkWriter: a writer has no file before Open, and takes no key after Finish
// or out of order.
func (x *extTest) checkWriter(o rocksdb.Options) {
	x.Helper()
	w := rocksdb.NewSstFileWriter(o, nil)
	defer w.Close()
	if n := w.FileSize(); n != 0 {
		x.Fatalf("size %d before Open", n)
	}
	x.must(w.Open(x.sst+"checked.sst", rocksdb.TemperatureUnknown))
	x.must(w.Put([]byte(key(100)), []byte("val")))
	x.wantErr(w.Put([]byte(key(99)), []byte("bad_val")))
	x.must(w.Finish(nil))
	if w.FileSize() == 0 {
		x.Fatal("size 0 after Finish")
	}
	x.wantErr(w.Put([]byte(key(101)), []byte("bad_val")))
	x.wantErr(w.Finish(nil)) // nothing to finish
}

// refusedUnderSnapshot: a file is not taken as long as there is a snapshot.
func (x *extTest) refusedUnderSnapshot(files ...string) {
	x.Helper()
	s := x.db.GetSnapshot()
	x.wantErr(x.deprecatedAdd(files, false, false))
	x.must(x.db.ReleaseSnapshot(s))
	x.must(x.deprecatedAdd(files, false, false))
	x.wantSeqno(0)
}

func TestExternalSSTFileTest_Basic(t *testing.T) {
	eachExtOptions(t, skipRowCache, func(x *extTest) {
		o := x.currentOptions()
		x.checkWriter(o)
		file1 := x.described(o, "file1.sst", puts(0, 100, "_val"), 0, 99)
		file2 := x.described(o, "file2.sst", puts(100, 200, "_val"), 100, 199)
		file3 := x.described(o, "file3.sst", puts(195, 300, "_val_overlap"), 195, 299)
		file4 := x.described(o, "file4.sst", puts(30, 40, "_val_overlap"), 30, 39)
		file5 := x.described(o, "file5.sst", puts(400, 500, "_val"), 400, 499)
		file6 := x.described(o, "file6.sst", []extEntry{{'R', key(400), key(500)}}, -1, -1, 400, 500)
		es := []extEntry{{'R', key(500), key(550)}}
		for k := 520; k < 600; k += 2 {
			if k == 560 {
				es = append(es, extEntry{'R', key(525), key(575)})
			}
			es = append(es, extEntry{'P', key(k), val(k)})
		}
		file7 := x.described(o, "file7.sst", es, 520, 598, 500, 575)
		file8 := x.described(o, "file8.sst", []extEntry{{'R', key(600), key(700)}}, -1, -1, 600, 700)

		add := func(f string) error { return x.deprecatedAdd([]string{f}, false, false) }
		x.destroyAndReopen(o)
		x.must(add(file1))
		x.wantSeqno(0)
		x.wantKeys(0, 100, val)
		x.refusedUnderSnapshot(file2)
		x.wantKeys(0, 200, val)
		x.wantErr(add(file3)) // overlap
		x.wantErr(add(file4))
		for k := 0; k < 200; k += 5 {
			x.mustPut(0, key(k), val(k)+"_new")
		}
		if x.db.GetLatestSequenceNumber() == 0 {
			x.Fatal("no sequence number")
		}
		x.must(add(file5))
		x.wantErr(add(file6)) // overlaps
		x.must(add(file7))
		x.must(add(file8))
		for range 2 {
			x.wantKeys(0, 200, valOrNew)
			x.wantKeys(400, 500, val)
			x.wantKeys(500, 600, func(k int) string {
				if k < 520 || k%2 == 1 {
					return "NOT_FOUND"
				}
				return val(k)
			})
			x.flush(0)
			x.compact(0, "", "")
		}
		o.DisableAutoCompactions = true
		x.reopen(o)
		for k := 400; k < 500; k++ {
			x.mustDelete(0, key(k))
		}
		x.wantErr(add(file5)) // the deletions overlap
		x.compact(0, "", "")
		x.must(add(file5))
		x.wantKeys(400, 500, val)
	})
}

func TestExternalSSTFileTest_BasicMixed(t *testing.T) {
	eachExtOptions(t, skipRowCache, func(x *extTest) {
		o := x.currentOptions()
		w := rocksdb.NewSstFileWriter(o, nil)
		defer w.Close()
		path := x.sst + "mixed_file.sst"
		x.must(w.Open(path, rocksdb.TemperatureUnknown))
		columns := func(k int) rocksdb.WideColumns {
			return rocksdb.WideColumns{{Name: []byte("attr_1"), Value: []byte(key(k) + "_attr_1_val")},
				{Name: []byte("attr_2"), Value: []byte(key(k) + "_attr_2_val")}}
		}
		for k := range 100 {
			if k%5 == 0 {
				x.must(w.PutEntity([]byte(key(k)), columns(k)))
			} else {
				x.must(w.Put([]byte(key(k)), []byte(val(k))))
			}
		}
		var info rocksdb.ExternalSstFileInfo
		x.must(w.Finish(&info))
		x.wantInfo(info, path, 100, key(0), key(99), 0, "", "")
		x.destroyAndReopen(o)
		x.must(x.deprecatedAdd([]string{path}, false, false))
		x.wantSeqno(0)
		it := x.db.NewIterator(nil)
		defer it.Close()
		for k := range 10 {
			if k%5 != 0 {
				x.wantGet(0, key(k), val(k))
				continue
			}
			it.Seek([]byte(key(k)))
			if want := wide.DumpWideColumns(columns(k), false); !it.Valid() || string(it.Key()) != key(k) || wide.DumpWideColumns(it.Columns(), false) != want {
				x.Fatalf("%s: not %s (%v)", key(k), want, it.Err())
			}
		}
	})
}

// prefixedCollector counts a table's entries under names with its prefix.
type prefixedCollector struct {
	prefix string
	n      int
}

func (c *prefixedCollector) Name() string { return c.prefix + "_SstFileWriterCollector" }
func (c *prefixedCollector) AddUserKey(_, _ []byte, _ rocksdb.EntryType, _ rocksdb.SequenceNumber, _ uint64) error {
	c.n++
	return nil
}
func (c *prefixedCollector) Finish(p rocksdb.UserCollectedProperties) error {
	p[c.prefix+"_SstFileWriterCollector"], p[c.prefix+"_Count"] = "YES", fmt.Sprint(c.n)
	return nil
}

func (*prefixedCollector) BlockAdd(_, _, _ uint64)                                {}
func (*prefixedCollector) GetReadableProperties() rocksdb.UserCollectedProperties { return nil }
func (*prefixedCollector) NeedCompact() bool                                      { return false }

type prefixedCollectorFactory struct{ prefix string }

func (f prefixedCollectorFactory) Name() string { return "SstFileWriterCollectorFactory" }
func (f prefixedCollectorFactory) CreateTablePropertiesCollector(rocksdb.TablePropertiesCollectorFactoryContext) rocksdb.TablePropertiesCollector {
	return &prefixedCollector{prefix: f.prefix}
}

func TestExternalSSTFileTest_AddList(t *testing.T) {
	eachExtOptions(t, skipRowCache, func(x *extTest) {
		o := x.currentOptions()
		o.TablePropertiesCollectorFactories = []rocksdb.TablePropertiesCollectorFactory{prefixedCollectorFactory{prefix: "abc"}, prefixedCollectorFactory{prefix: "xyz"}}
		x.checkWriter(o)
		file1 := x.described(o, "file1.sst", puts(0, 100, "_val"), 0, 99)
		file2 := x.described(o, "file2.sst", puts(100, 200, "_val"), 100, 199)
		file3 := x.described(o, "file3.sst", puts(195, 200, "_val_overlap"), 195, 199)
		file4 := x.described(o, "file4.sst", puts(30, 40, "_val_overlap"), 30, 39)
		file5 := x.described(o, "file5.sst", puts(200, 300, "_val"), 200, 299)
		file6 := x.described(o, "file6.sst", []extEntry{{'R', key(0), key(75)}, {'R', key(25), key(100)}}, -1, -1, 0, 100)
		file7 := x.described(o, "file7.sst", []extEntry{{'R', key(99), key(201)}}, -1, -1, 99, 201)
		add := func(files ...string) error { return x.deprecatedAdd(files, false, false) }
		properties := func(tables int) {
			x.Helper()
			all, err := x.full().GetPropertiesOfAllTables(nil)
			x.must(err)
			if len(all) != tables {
				x.Fatalf("%d tables, not %d", len(all), tables)
			}
			for name, p := range all {
				for _, prefix := range []string{"abc", "xyz"} {
					if u := p.UserCollectedProperties; u[prefix+"_SstFileWriterCollector"] != "YES" || u[prefix+"_Count"] != "100" {
						x.Fatalf("%s: %v", name, u)
					}
				}
			}
		}
		x.destroyAndReopen(o)
		x.wantErr(add(file3, file2, file1)) // overlap each other
		x.wantErr(add(file5, file7))
		x.wantErr(add(file6, file7))
		x.must(add(file1, file2))
		x.wantSeqno(0)
		x.wantKeys(0, 200, val)
		properties(2)
		x.refusedUnderSnapshot(file5)
		x.wantKeys(0, 300, val)
		properties(3)
		x.wantErr(add(file3, file4)) // overlap
		for k := 0; k < 200; k += 5 {
			x.mustPut(0, key(k), val(k)+"_new")
		}
		for range 2 {
			x.wantKeys(0, 200, valOrNew)
			x.wantKeys(200, 300, val)
			x.flush(0)
			x.compact(0, "", "")
		}
		for k := 200; k < 300; k++ {
			x.mustDelete(0, key(k))
		}
		x.wantErr(add(file5)) // the deletions overlap
		x.compact(0, "", "")
		x.must(add(file5))
		x.wantKeys(200, 300, val)
	})
}

func TestExternalSSTFileTest_IngestFileWithGlobalSeqnoRandomized(t *testing.T) {
	eachWay(t, func(x *extTest, a add) {
		o := x.currentOptions()
		o.IncreaseParallelism(20)
		o.Level0SlowdownWritesTrigger, o.Level0StopWritesTrigger = 256, 256
		for _, memtable := range []bool{true, false} {
			x.destroyAndReopen(o)
			x.data = map[string]string{}
			rnd := util.NewRandom(301)
			for range 60 { // upstream: 500
				batch := map[string]string{}
				for range 100 {
					batch[rnd.RandomString(int(rnd.Next()%20+1))] = rnd.RandomString(int(rnd.Next() % 50))
				}
				if memtable && rnd.OneIn(4) {
					for k, v := range batch {
						x.mustPut(0, k, v)
						x.data[k] = v
					}
					continue
				}
				x.must(x.addEntries(0, o, sortedPuts(batch), a))
			}
			x.verify(x.data)
			x.compact(0, "", "")
			x.verify(x.data)
		}
	})
}

func TestExternalSSTFileTest_IngestFilesTriggerFlushingWithTwoWriteQueue(t *testing.T) {
	eachWay(t, func(x *extTest, a add) {
		o := x.currentOptions()
		o.WriteBufferSize, o.TwoWriteQueues = 1<<20, true
		x.destroyAndReopen(o)
		for _, k := range []string{"1000", "1001", "9999"} {
			x.mustPut(0, k, "v1")
		}
		x.must(x.addEntries(0, o, kv("1001", "v2"), add{seqno: true, twoPhase: a.twoPhase}))
		x.wantAll(0, "1000", "v1", "1001", "v2", "9999", "v1")
	})
}
