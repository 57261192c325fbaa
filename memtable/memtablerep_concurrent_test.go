// No upstream twin: each container against a sorted map while entries go in and
// readers look, for the race detector.

package memtable

import (
	"bytes"
	"fmt"
	"math/rand"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/memory"
	"github.com/rocksdb-go/rocksdb/util"
)

// TestContainersUnderConcurrentInsert has several writers where the container
// supports them and one where not. A reader has to find what was in before it
// began, in order, and nothing that nobody inserts.
func TestContainersUnderConcurrentInsert(t *testing.T) {
	for _, f := range allFactories() {
		t.Run(f.ID(), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) { insertConcurrently(t, f) })
		})
	}
}

func insertConcurrently(t *rapid.T, f MemTableRepFactory) {
	writers := 1
	if f.IsInsertConcurrentlySupported() {
		writers = rapid.IntRange(1, 4).Draw(t, "writers")
	}
	each := rapid.IntRange(1, 60).Draw(t, "entries a writer")
	form := rapid.IntRange(0, 1).Draw(t, "form")
	seed := rapid.Int64().Draw(t, "seed")

	arena := memory.NewConcurrentArena(64<<10, nil, 0)
	defer arena.Free()
	icmp := dbformat.NewInternalKeyComparator(util.BytewiseComparator())
	r := f.CreateMemTableRep(icmp, arena, util.NewFixedPrefixTransform(2), nil)
	// The keys of each writer, in the order in which it inserts them.
	keys := make([][][]byte, writers)
	all := map[string]bool{}
	rnd := rand.New(rand.NewSource(seed))
	for w := range keys {
		for i := range each {
			k := dbformat.NewInternalKey(fmt.Appendf(nil, "%02d%d", rnd.Intn(8), rnd.Intn(30)), uint64(1+w*each+i), dbformat.TypeValue)
			keys[w], all[string(k)] = append(keys[w], k), true
		}
	}
	done := make([]atomic.Int64, writers)
	var writing, reading sync.WaitGroup
	var over atomic.Bool
	var mu sync.Mutex
	var problem string
	fail := func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		problem = fmt.Sprintf(format, args...)
	}
	for w := range keys {
		writing.Go(func() {
			var hint Splice
			for i, k := range keys[w] {
				e, buf := r.Allocate(EncodedLength(len(k), 1))
				EncodeEntry(buf, dbformat.ExtractUserKey(k), dbformat.ExtractInternalKeyFooter(k), []byte("v"))
				ok := false
				switch {
				case !f.IsInsertConcurrentlySupported():
					ok = r.Insert(e)
				case form == 0:
					ok = r.InsertConcurrently(e)
				default:
					ok = r.InsertWithHintConcurrently(e, &hint)
				}
				if !ok {
					fail("%q is said to be there", k)
				}
				done[w].Store(int64(i + 1))
			}
			r.BatchPostProcess()
		})
	}
	for range 2 {
		reading.Go(func() {
			for last := false; !last; {
				last = over.Load()
				before := make([]int64, writers)
				for w := range before {
					before[w] = done[w].Load()
				}
				if p := readBeside(r, icmp, all, keys, before); p != "" {
					fail("%s", p)
				}
			}
		})
	}
	writing.Wait()
	over.Store(true)
	reading.Wait()
	if problem != "" {
		t.Fatal(problem)
	}
	r.MarkReadOnly()
	model := slices.Concat(keys...)
	slices.SortFunc(model, icmp.Compare)
	i := 0
	it := r.NewIterator()
	for it.SeekToFirst(); it.Valid(); it.Next() {
		if i == len(model) || !bytes.Equal(EntryKey(it.Key()), model[i]) {
			t.Fatalf("entry %d of %d", i, len(model))
		}
		i++
	}
	if i != len(model) {
		t.Fatalf("%d entries of %d", i, len(model))
	}
}

// readBeside looks up what was in before, and walks over all.
func readBeside(r MemTableRep, icmp *dbformat.InternalKeyComparator, all map[string]bool, keys [][][]byte, before []int64) string {
	seen := map[string]bool{}
	var last []byte
	it := r.NewIterator()
	for it.SeekToFirst(); it.Valid(); it.Next() {
		k := EntryKey(it.Key())
		if last != nil && icmp.Compare(last, k) >= 0 {
			return fmt.Sprintf("%q after %q", k, last)
		}
		if !all[string(k)] {
			return fmt.Sprintf("%q was never inserted", k)
		}
		last = bytes.Clone(k)
		seen[string(k)] = true
	}
	for w := range keys {
		for _, k := range keys[w][:before[w]] {
			c := collector{user: dbformat.ExtractUserKey(k)}
			r.Get(k, &c)
			if !seen[string(k)] || !r.Contains(k) || !slices.Contains(c.seqs, dbformat.GetInternalKeySeqno(k)) {
				return fmt.Sprintf("%q is not found", k)
			}
		}
	}
	return ""
}
