// Port of memtable/memtablerep_bench.cc, its skip list part. Differs: Go
// benchmarks; an operation is one insert or seek on a list that is filled to
// benchEntries over and over.

package memtable

import (
	"encoding/binary"
	"math/rand"
	"sync"
	"testing"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/memory"
	"github.com/rocksdb-go/rocksdb/util"
)

const (
	benchEntries   = 450000
	benchKeySize   = 24
	benchValueSize = 100
)

// benchKeys makes db_bench's keys: a big-endian number, padded with '0'.
func benchKeys(random bool, commonPrefix string) [][]byte {
	rnd := rand.New(rand.NewSource(1))
	keys := make([][]byte, benchEntries)
	for i := range keys {
		k := make([]byte, benchKeySize)
		for j := range k {
			k[j] = '0'
		}
		n := copy(k, commonPrefix)
		v := uint64(i)
		if random {
			v = uint64(rnd.Int63n(1 << 40))
		}
		binary.BigEndian.PutUint64(k[n:], v)
		keys[i] = k
	}
	return keys
}

func newBenchList(cmp rocksdb.Comparator) (*InlineSkipList, *memory.ConcurrentArena) {
	a := memory.NewConcurrentArena(1<<20, nil, 0)
	return NewInlineSkipList(dbformat.NewInternalKeyComparator(cmp), a, 0, 0), a
}

var benchValue = make([]byte, benchValueSize)

func benchAdd(l *InlineSkipList, key []byte, seq uint64, concurrent bool) bool {
	e, buf := l.AllocateKey(EncodedLength(len(key)+8, len(benchValue)))
	EncodeEntry(buf, key, dbformat.PackSequenceAndType(seq, dbformat.TypeValue), benchValue)
	if concurrent {
		return l.InsertConcurrently(e)
	}
	return l.Insert(e)
}

func benchInsert(b *testing.B, cmp rocksdb.Comparator, keys [][]byte, concurrent bool) {
	b.ReportAllocs()
	l, a := newBenchList(cmp)
	n := 0
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		if n == len(keys) {
			b.StopTimer()
			a.Free()
			l, a = newBenchList(cmp)
			n = 0
			b.StartTimer()
		}
		benchAdd(l, keys[n], uint64(i), concurrent)
		n++
	}
	b.StopTimer()
	a.Free()
}

func BenchmarkInlineSkipListInsert(b *testing.B) {
	bytewise := util.BytewiseComparator()
	b.Run("sequential", func(b *testing.B) { benchInsert(b, bytewise, benchKeys(false, ""), false) })
	b.Run("random", func(b *testing.B) { benchInsert(b, bytewise, benchKeys(true, ""), false) })
	b.Run("random_common_prefix", func(b *testing.B) { benchInsert(b, bytewise, benchKeys(true, "customer-"), false) })
	b.Run("random_reverse_order", func(b *testing.B) {
		benchInsert(b, util.ReverseBytewiseComparator(), benchKeys(true, ""), false)
	})
	b.Run("random_concurrently", func(b *testing.B) { benchInsert(b, bytewise, benchKeys(true, ""), true) })
	b.Run("random_two_writers", func(b *testing.B) {
		keys := benchKeys(true, "")
		b.ReportAllocs()
		for done := 0; done < b.N; {
			n := min(len(keys), b.N-done)
			l, a := newBenchList(bytewise)
			var wg sync.WaitGroup
			for w := range 2 {
				wg.Add(1)
				go func() {
					defer wg.Done()
					for i := w; i < n; i += 2 {
						benchAdd(l, keys[i], uint64(i), true)
					}
				}()
			}
			wg.Wait()
			done += n
			b.StopTimer()
			a.Free()
			b.StartTimer()
		}
	})
}

func benchFilled(b *testing.B) (*InlineSkipList, [][]byte) {
	keys := benchKeys(true, "")
	l, a := newBenchList(util.BytewiseComparator())
	b.Cleanup(a.Free)
	for i, k := range keys {
		benchAdd(l, k, uint64(i), false)
	}
	return l, keys
}

func BenchmarkInlineSkipListSeek(b *testing.B) {
	l, keys := benchFilled(b)
	rand.New(rand.NewSource(2)).Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
	var lk dbformat.LookupKey
	it := l.NewIterator()
	b.ReportAllocs()
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		lk.Set(keys[i%len(keys)], dbformat.MaxSequenceNumber, nil)
		it.Seek(lk.InternalKey())
		if !it.Valid() {
			b.Fatal("key not found")
		}
	}
}

func BenchmarkInlineSkipListNext(b *testing.B) {
	l, _ := benchFilled(b)
	it := l.NewIterator()
	sum := 0
	b.ReportAllocs()
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		if !it.Valid() {
			it.SeekToFirst()
		}
		key, value := EntryKeyValue(it.Key())
		sum += len(key) + len(value)
		it.Next()
	}
}
