// Port of what memtable/skiplist_test.cc and memtable/inlineskiplist_test.cc
// have in common: the readers' view beside writers.

package memtable

import (
	"encoding/binary"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/rocksdb-go/rocksdb/util"
)

// testIterator and testList are a list of uint64 keys under test.
type testIterator interface {
	Valid() bool
	Key() uint64
	Next()
	Prev()
	Seek(key uint64)
	SeekForPrev(key uint64)
	SeekToFirst()
	SeekToLast()
}

type testList interface {
	Insert(key uint64)
	InsertConcurrently(key uint64, withHint bool)
	Contains(key uint64) bool
	Iterator() testIterator
}

// stressKeys is the number of key numbers. A key is number<<40 | generation<<8
// | hash; each write adds the next generation of a number. A reader notes the
// generations before it starts and must see all of them, whatever it sees of
// later ones.
const stressKeys = 8

func stressHash(k, g uint64) uint64 {
	var b [16]byte
	binary.LittleEndian.PutUint64(b[:], k)
	binary.LittleEndian.PutUint64(b[8:], g)
	return uint64(util.Hash(b[:], 0)) & 0xff
}

func stressKey(k, g uint64) uint64 { return k<<40 | g<<8 | stressHash(k, g) }

func stressParts(key uint64) (k, g uint64, valid bool) {
	k, g = key>>40, key>>8&0xffffffff
	return k, g, key&0xff == stressHash(k, g)
}

type listStress struct {
	t       *testing.T
	list    testList
	current [stressKeys]atomic.Int64
}

func (s *listStress) randomTarget(rnd *util.Random) uint64 {
	switch rnd.Next() % 10 {
	case 0:
		return stressKey(0, 0)
	case 1:
		return stressKey(stressKeys, 0)
	}
	return stressKey(uint64(rnd.Next()%stressKeys), 0)
}

func (s *listStress) writeStep(rnd *util.Random) {
	k := rnd.Next() % stressKeys
	g := s.current[k].Load() + 1
	s.list.Insert(stressKey(uint64(k), uint64(g)))
	s.current[k].Store(g)
}

func (s *listStress) concurrentWriteStep(k uint32, withHint bool) {
	g := s.current[k].Load() + 1
	s.list.InsertConcurrently(stressKey(uint64(k), uint64(g)), withHint)
	if s.current[k].Load() != g-1 {
		s.t.Errorf("two writers of number %d", k)
	}
	s.current[k].Store(g)
}

func (s *listStress) readStep(rnd *util.Random) {
	var initial [stressKeys]uint64
	for k := range initial {
		initial[k] = uint64(s.current[k].Load())
	}
	pos := s.randomTarget(rnd)
	it := s.list.Iterator()
	it.Seek(pos)
	for {
		current := stressKey(stressKeys, 0)
		if it.Valid() {
			current = it.Key()
			if _, _, ok := stressParts(current); !ok {
				s.t.Errorf("key %x was never inserted", current)
				return
			}
		}
		if pos > current {
			s.t.Errorf("went back from %x to %x", pos, current)
			return
		}
		for pos < current {
			k, g, _ := stressParts(pos)
			if k >= stressKeys || g != 0 && g <= initial[k] {
				s.t.Errorf("number %d generation %d of %d is missing", k, g, initial[min(k, stressKeys-1)])
				return
			}
			if ck, _, _ := stressParts(current); k < ck {
				pos = stressKey(k+1, 0)
			} else {
				pos = stressKey(k, g+1)
			}
		}
		if !it.Valid() {
			return
		}
		if rnd.Next()%2 != 0 {
			it.Next()
			k, g, _ := stressParts(pos)
			pos = stressKey(k, g+1)
		} else if target := s.randomTarget(rnd); target > pos {
			pos = target
			it.Seek(target)
		}
	}
}

func stressWithoutThreads(t *testing.T, list testList, concurrentForm bool) {
	s := &listStress{t: t, list: list}
	rnd := util.NewRandom(301)
	for range 2000 {
		s.readStep(rnd)
		if !concurrentForm {
			s.writeStep(rnd)
			continue
		}
		base := rnd.Next()
		for j := range uint32(4) {
			s.concurrentWriteStep((base+j)%stressKeys, false)
		}
	}
}

// stressConcurrently runs rounds of a reader beside one writer, or beside
// writers goroutines with writers > 1.
func stressConcurrently(t *testing.T, newList func(t *testing.T) testList, run, writers int, withHint bool) {
	const rounds, writes = 30, 1000
	rnd := util.NewRandom(uint32(301 + run*100))
	for round := range rounds {
		s := &listStress{t: t, list: newList(t)}
		var quit atomic.Bool
		running, done := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(done)
			r := util.NewRandom(uint32(round + run*1000 + 1))
			close(running)
			for !quit.Load() {
				s.readStep(r)
			}
		}()
		<-running
		for i := 0; i < writes; i += writers {
			if writers == 1 {
				s.writeStep(rnd)
				continue
			}
			first := rnd.Next()
			var wg sync.WaitGroup
			for w := range uint32(writers) {
				wg.Add(1)
				go func() {
					defer wg.Done()
					s.concurrentWriteStep((first+w)%stressKeys, withHint)
				}()
			}
			wg.Wait()
		}
		quit.Store(true)
		<-done
		if t.Failed() {
			return
		}
	}
}

func checkEmpty(t *testing.T, list testList) {
	if list.Contains(10) {
		t.Error("an empty list contains 10")
	}
	it := list.Iterator()
	for name, move := range map[string]func(){
		"nothing": func() {}, "SeekToFirst": it.SeekToFirst, "SeekToLast": it.SeekToLast,
		"Seek": func() { it.Seek(100) }, "SeekForPrev": func() { it.SeekForPrev(100) },
	} {
		if move(); it.Valid() {
			t.Errorf("valid after %s", name)
		}
	}
}

func checkInsertAndLookup(t *testing.T, list testList) {
	const n, r = 2000, 5000
	rnd := util.NewRandom(1000)
	set := map[uint64]bool{}
	var keys []uint64
	for range n {
		if k := uint64(rnd.Next() % r); !set[k] {
			set[k] = true
			keys = append(keys, k)
			list.Insert(k)
		}
	}
	slices.Sort(keys)
	for k := range uint64(r) {
		if list.Contains(k) != set[k] {
			t.Fatalf("Contains(%d) is %v", k, !set[k])
		}
	}
	at := func(it testIterator, want uint64) {
		t.Helper()
		if !it.Valid() || it.Key() != want {
			t.Fatalf("valid %v, want %d", it.Valid(), want)
		}
	}
	it := list.Iterator()
	if it.Valid() {
		t.Fatal("valid before the first seek")
	}
	first, last := keys[0], keys[len(keys)-1]
	it.Seek(0)
	at(it, first)
	it.SeekForPrev(r - 1)
	at(it, last)
	it.SeekToFirst()
	at(it, first)
	it.SeekToLast()
	at(it, last)
	for k := range uint64(r) {
		i, found := slices.BinarySearch(keys, k)
		it := list.Iterator()
		it.Seek(k)
		for j := i; j < i+3; j++ {
			if j == len(keys) {
				if it.Valid() {
					t.Fatalf("Seek(%d): valid behind the end", k)
				}
				break
			}
			at(it, keys[j])
			it.Next()
		}
		it.SeekForPrev(k)
		if !found {
			i--
		}
		for j := i; j > i-3; j-- {
			if j < 0 {
				if it.Valid() {
					t.Fatalf("SeekForPrev(%d): valid before the start", k)
				}
				break
			}
			at(it, keys[j])
			it.Prev()
		}
	}
}
