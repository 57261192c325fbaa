// No upstream twin: upstream measures its memtable with db_bench.

package memtable

import (
	"encoding/binary"
	"math/rand"
	"testing"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/options"
)

const benchEntries = 450000

func benchTable(b *testing.B) *MemTable {
	cf := rocksdb.DefaultColumnFamilyOptions()
	cf.ArenaBlockSize = 1 << 20
	db := rocksdb.DefaultDBOptions()
	io := options.NewImmutableOptions(&db, &cf)
	mo := options.NewMutableCFOptions(&cf)
	return New(io.InternalComparator, &io, &mo, nil, 0, 0)
}

func benchNumbers(random bool) []uint64 {
	rnd := rand.New(rand.NewSource(1))
	n := make([]uint64, benchEntries)
	for i := range n {
		n[i] = uint64(i)
		if random {
			n[i] = uint64(rnd.Int63n(1 << 40))
		}
	}
	return n
}

func BenchmarkMemTableAdd(b *testing.B) {
	for name, random := range map[string]bool{"sequential": false, "random": true} {
		b.Run(name, func(b *testing.B) {
			numbers := benchNumbers(random)
			key, value := make([]byte, 16), make([]byte, 100)
			m := benchTable(b)
			b.ReportAllocs()
			n := 0
			b.ResetTimer()
			for i := 0; i < b.N; i++ {
				if n == len(numbers) {
					b.StopTimer()
					m.Free()
					m = benchTable(b)
					n = 0
					b.StartTimer()
				}
				binary.BigEndian.PutUint64(key, numbers[n])
				n++
				if err := m.Add(uint64(i+1), dbformat.TypeValue, key, value, false, nil, nil); err != nil {
					b.Fatal(err)
				}
			}
			b.StopTimer()
			m.Free()
		})
	}
}

func BenchmarkMemTableGet(b *testing.B) {
	b.Run("450k", func(b *testing.B) { benchGet(b, benchNumbers(true)) })
	// Fits the processor's caches: the cost of the code.
	b.Run("1k", func(b *testing.B) { benchGet(b, benchNumbers(true)[:1000]) })
}

func benchGet(b *testing.B, numbers []uint64) {
	key, value := make([]byte, 16), make([]byte, 100)
	m := benchTable(b)
	defer m.Free()
	for i, n := range numbers {
		binary.BigEndian.PutUint64(key, n)
		if err := m.Add(uint64(i+1), dbformat.TypeValue, key, value, false, nil, nil); err != nil {
			b.Fatal(err)
		}
	}
	rand.New(rand.NewSource(2)).Shuffle(len(numbers), func(i, j int) { numbers[i], numbers[j] = numbers[j], numbers[i] })
	ro := rocksdb.DefaultReadOptions()
	var lk dbformat.LookupKey
	var st LookupState
	b.ReportAllocs()
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		binary.BigEndian.PutUint64(key, numbers[i%len(numbers)])
		lk.Set(key, dbformat.MaxSequenceNumber, nil)
		st.Reset()
		if !m.Get(&lk, &ro, &st, false) {
			b.Fatal("not found")
		}
	}
}

func BenchmarkMemTableIteratorNext(b *testing.B) {
	m := benchTable(b)
	defer m.Free()
	key, value := make([]byte, 16), make([]byte, 100)
	for i, n := range benchNumbers(false) {
		binary.BigEndian.PutUint64(key, n)
		if err := m.Add(uint64(i+1), dbformat.TypeValue, key, value, false, nil, nil); err != nil {
			b.Fatal(err)
		}
	}
	ro := rocksdb.DefaultReadOptions()
	it := m.NewIterator(&ro, nil, nil)
	sum := 0
	b.ReportAllocs()
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		if !it.Valid() {
			it.SeekToFirst()
		}
		sum += len(it.Key()) + len(it.Value())
		it.Next()
	}
}
