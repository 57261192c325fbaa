// No upstream twin.
// Reading plain and cuckoo tables does not allocate; benchmarks of the same.

package adaptive_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/table"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

// warmTable is a table of n entries of 100 bytes.
type warmTable struct {
	name   string
	mapped bool
	g      goldenTable
	keys   [][]byte
	r      table.TableReader
}

func warmTables(t testing.TB, n int) (list []*warmTable) {
	add := func(name string, mapped bool, f rocksdb.TableFactory, prefix rocksdb.SliceTransform) {
		w := &warmTable{name: name, mapped: mapped}
		w.g.o = rocksdb.DefaultOptions()
		w.g.o.TableFactory, w.g.o.PrefixExtractor, w.g.o.Env = f, prefix, rocksdb.DefaultEnv()
		p := rocksdb.NewTableProperties()
		var entries []entry
		rnd := rand.New(rand.NewPCG(1, 1))
		for i := range n {
			v := make([]byte, 76)
			for k := range v {
				v[k] = byte(rnd.Uint32())
			}
			w.keys = append(w.keys, dbformat.AppendInternalKey(nil, fmt.Appendf(nil, "%016d", i*2), 1, dbformat.TypeValue))
			entries = append(entries, entry{w.keys[i], v})
		}
		var err error
		w.r, err = w.g.open(w.g.write(t, entries, &p), mapped, f)
		noError(t, err)
		list = append(list, w)
	}
	prefixed := rocksdb.DefaultPlainTableOptions()
	prefixed.EncodingType = rocksdb.EncodingPrefix
	total := rocksdb.DefaultPlainTableOptions()
	total.HashTableRatio = 0
	extractor := rocksdb.NewFixedPrefixTransform(14)
	add("plain", true, rocksdb.NewPlainTableFactory(rocksdb.DefaultPlainTableOptions()), extractor)
	add("plain,read", false, rocksdb.NewPlainTableFactory(rocksdb.DefaultPlainTableOptions()), extractor)
	add("plain,prefix", true, rocksdb.NewPlainTableFactory(prefixed), extractor)
	add("plain,total", true, rocksdb.NewPlainTableFactory(total), nil)
	add("cuckoo", true, rocksdb.NewCuckooTableFactory(rocksdb.DefaultCuckooTableOptions()), nil)
	return list
}

// lookup is one that is used again.
type lookup struct {
	v  rocksdb.PinnableSlice
	gc table.GetContext
	p  table.GetContextParams
	ro rocksdb.ReadOptions
}

func (l *lookup) get(r table.TableReader, key []byte) bool {
	l.v.Release()
	l.p = table.GetContextParams{Comparator: icmp, UserKey: dbformat.ExtractUserKey(key), Value: &l.v, DoMerge: true}
	l.gc.Init(&l.p)
	return r.Get(&l.ro, key, &l.gc, nil, false) == nil && l.gc.State() == table.GetFound
}

func TestReadsDoNotAllocate(t *testing.T) {
	for _, w := range warmTables(t, 5000) {
		t.Run(w.name, func(t *testing.T) {
			defer w.r.Close()
			l := &lookup{ro: rocksdb.DefaultReadOptions()}
			i := 0
			next := func() []byte {
				i++
				return w.keys[i*7919%len(w.keys)]
			}
			check := func(what string, f func() bool) {
				if n := testing.AllocsPerRun(2000, func() {
					if !f() {
						t.Fatal(what)
					}
				}); n != 0 && !syncpoint.Enabled { // their arguments are boxed
					t.Errorf("%s allocates %v times", what, n)
				}
			}
			check("Get", func() bool { return l.get(w.r, next()) })
			it := w.r.NewIterator(&l.ro, nil, false, rocksdb.CallerUserIterator, 0, false)
			it.SeekToFirst()
			check("Next", func() bool {
				it.Next()
				return it.Valid()
			})
			check("Seek", func() bool {
				it.Seek(next())
				return it.Valid()
			})
			noError(t, it.Close())
		})
	}
}

func BenchmarkTable(b *testing.B) {
	for _, w := range warmTables(b, 100000) {
		b.Run(w.name+"/Get", func(b *testing.B) {
			l := &lookup{ro: rocksdb.DefaultReadOptions()}
			rnd := rand.New(rand.NewPCG(3, 4))
			b.ReportAllocs()
			for b.Loop() {
				if !l.get(w.r, w.keys[rnd.IntN(len(w.keys))]) {
					b.Fatal("Get")
				}
			}
		})
		b.Run(w.name+"/Next", func(b *testing.B) {
			ro := rocksdb.DefaultReadOptions()
			it := w.r.NewIterator(&ro, nil, false, rocksdb.CallerUserIterator, 0, false)
			defer it.Close()
			b.ReportAllocs()
			for b.Loop() {
				if it.Valid() {
					it.Next()
				} else {
					it.SeekToFirst()
				}
			}
		})
		b.Run(w.name+"/Seek", func(b *testing.B) {
			ro := rocksdb.DefaultReadOptions()
			it := w.r.NewIterator(&ro, nil, false, rocksdb.CallerUserIterator, 0, false)
			defer it.Close()
			rnd := rand.New(rand.NewPCG(3, 4))
			b.ReportAllocs()
			for b.Loop() {
				if it.Seek(w.keys[rnd.IntN(len(w.keys))]); !it.Valid() {
					b.Fatal("Seek")
				}
			}
		})
		noError(b, w.r.Close())
	}
}
