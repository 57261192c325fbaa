// Port of db/db_iterator_test.cc (DBMultiScanIteratorTest with ingested files).

package db_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	contract "github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

// external writes a file to be ingested.
func (x *dbTest) external(name string, o contract.Options, fill func(w *rocksdb.SstFileWriter)) string {
	x.Helper()
	name = filepath.Join(x.dir, name)
	w := rocksdb.NewSstFileWriter(o, nil)
	x.must(w.Open(name, contract.TemperatureUnknown))
	fill(w)
	x.must(w.Finish(nil))
	return name
}

func (x *dbTest) ingest(names ...string) {
	x.Helper()
	o := contract.DefaultIngestExternalFileOptions()
	x.must(x.db.IngestExternalFile(names, &o))
}

// universalScan are options of many levels and small files.
func (x *scanTest) universalScan(size uint64) contract.Options {
	o := x.currentOptions()
	o.TargetFileSizeBase, o.CompactionStyle, o.NumLevels, o.Compression = size, contract.CompactionStyleUniversal, 50, contract.NoCompression
	x.destroyAndReopen(o)
	return o
}

func TestDBMultiScanIteratorTest_FragmentedRangeTombstones(t *testing.T) {
	eachFillCache(t, func(x *scanTest) {
		o := x.universalScan(50 << 10)
		rnd, values := util.NewRandom(301), map[string]string{}
		file := func(name string, from, to int) string {
			return x.external(name, o, func(w *rocksdb.SstFileWriter) {
				for i := from; i < to; i++ {
					values[key(i)] = rnd.RandomString(2 << 10)
					x.must(w.Put([]byte(key(i)), []byte(values[key(i)])))
				}
			})
		}
		x.ingest(file("0.sst", 0, 100), file("1.sst", 50, 51))
		x.puts(0, key(50), rnd.RandomString(2<<10), "flush")
		// A file of a range deletion alone, over all keys, and the keys anew.
		deletes := x.external("2.sst", o, func(w *rocksdb.SstFileWriter) { x.must(w.DeleteRange([]byte("a"), []byte("z"))) })
		x.ingest(deletes, file("3.sst", 0, 100))
		x.must(x.full().TestWaitForCompact())
		m := x.db.GetColumnFamilyMetaData(nil)
		if f := m.Levels[0].Files; len(f) != 1 || f[0].NumDeletions != 0 { // the deletion was compacted
			x.Fatal(x.filesPerLevel(0))
		}
		scan := func(want int, keys ...string) {
			x.Helper()
			m := x.db.NewMultiScan(&x.ro, scanArgs(keys...))
			i, n := 0, 0
			for s := range m.Scans() {
				for k, v := range s {
					if string(k) < keys[i] || string(k) >= keys[i+1] || values[string(k)] != string(v) {
						x.Fatalf("%s->%.20q in [%s, %s)", k, v, keys[i], keys[i+1])
					}
					n++
				}
				i += 2
			}
			x.must(m.Err())
			x.must(m.Close())
			if i != 4 || n != want {
				x.Fatalf("%d ranges, %d keys, not %d", i/2, n, want)
			}
		}
		scan(5, "key000085", "key000090", "l", "n")                   // the second range meets the tombstone alone
		scan(19, "key000010", "key000020", "key0000500", "key000060") // and here the tombstone of one file, the keys of the next
	})
}

func TestDBMultiScanIteratorTest_AsyncPrefetchWithExternalFileIngestion(t *testing.T) {
	eachFillCache(t, func(x *scanTest) {
		o := x.universalScan(1 << 15)
		rnd := util.NewRandom(306)
		for i := range 200 {
			x.mustPut(0, k5(i), rnd.RandomString(1<<10))
		}
		x.flush(0)
		x.compact(0, "", "")
		x.ingest(x.external("ingest.sst", o, func(w *rocksdb.SstFileWriter) {
			for i := 300; i < 500; i++ {
				x.must(w.Put([]byte(k5(i)), []byte(rnd.RandomString(1<<10))))
			}
		}))
		a := scanArgs("k00000", "k00500")
		a.UseAsyncIO = true
		if keys := x.scan(a)[0]; len(keys) != 400 || keys[399] != fmt.Sprintf("k%05d", 499) {
			x.Fatalf("%d keys", len(keys))
		}
	})
}
