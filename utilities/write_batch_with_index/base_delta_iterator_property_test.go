// No upstream twin: a batch and its iterators against sorted maps.

package writebatchwithindex_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/rocksdb-go/rocksdb"
)

// model is what a family's keys are in the database and with the batch.
type model struct{ base, now kvMap }

func (m *model) update(op, key, value string) {
	switch op {
	case "put":
		m.now[key] = value
	case "del", "sdel":
		delete(m.now, key)
	case "merge":
		m.now[key] = strings.TrimPrefix(m.now[key]+","+value, ",")
	}
}

// A BaseDeltaIterator with bounds moves in a database and a batch, which grows
// meanwhile and is rolled back, as an iterator over a sorted map of both does;
// lookups agree with it.
func TestBaseDeltaIterator_Model(t *testing.T) {
	eachMode(t, func(x *wbwiTest) {
		x.open()
		rapid.Check(t, func(t *rapid.T) {
			keys := rapid.StringMatching("[abc]{1,2}")
			x.batch.Clear()
			x.must(x.db.DeleteRange(nil, []byte("a"), []byte("d")))
			m := &model{base: kvMap{}, now: kvMap{}}
			for range rapid.IntRange(0, 12).Draw(t, "base keys") {
				k, v := keys.Draw(t, "key"), rapid.StringMatching("[xyz]").Draw(t, "value")
				x.dbDo("put " + k + " " + v)
				m.base[k], m.now[k] = v, v
			}
			ro := rocksdb.DefaultReadOptions()
			lower, upper := "", "~"
			if rapid.Bool().Draw(t, "bounds") {
				lower, upper = keys.Draw(t, "lower"), keys.Draw(t, "upper")
				ro.IterateLowerBound, ro.IterateUpperBound = []byte(lower), []byte(upper)
			}
			it := x.batch.NewIteratorWithBase(x.cf(), x.db.NewIterator(&ro), &ro)
			defer func() { x.must(it.Close()) }()
			inBounds := func() *kvIter {
				visible := kvMap{}
				for k, v := range m.now {
					if k >= lower && k < upper {
						visible[k] = v
					}
				}
				return newKVIter(visible)
			}
			saved := []kvMap{}
			for range rapid.IntRange(1, 40).Draw(t, "steps") {
				op := rapid.SampledFrom([]string{"put", "put", "del", "sdel", "merge", "save", "rollback", "walk", "walk", "walk"}).Draw(t, "op")
				switch op {
				case "save":
					x.batch.SetSavePoint()
					was := kvMap{}
					for k, v := range m.now {
						was[k] = v
					}
					saved = append(saved, was)
				case "rollback":
					if len(saved) > 0 {
						x.must(x.batch.RollbackToSavePoint())
						m.now, saved = saved[len(saved)-1], saved[:len(saved)-1]
					}
				case "walk":
					walkBoth(t, it, inBounds(), keys)
				default:
					k, v := keys.Draw(t, "key"), rapid.StringMatching("[uvw]").Draw(t, "value")
					x.do(x.cf(), op+" "+k+" "+v)
					m.update(op, k, v)
				}
			}
			k := keys.Draw(t, "looked up")
			want, ok := m.now[k]
			if !ok {
				want = notFound
			}
			if got := x.fromBoth(k); got != want {
				t.Fatalf("%q is %q, expected %q", k, got, want)
			}
		})
	})
}

// walkBoth positions and moves two iterators and compares them.
func walkBoth(t *rapid.T, it *rocksdb.BaseDeltaIterator, want *kvIter, keys *rapid.Generator[string]) {
	target := []byte(keys.Draw(t, "target"))
	starts := map[string]func(positioner){
		"first": positioner.SeekToFirst, "last": positioner.SeekToLast,
		"seek": func(p positioner) { p.Seek(target) }, "for_prev": func(p positioner) { p.SeekForPrev(target) },
	}
	start := rapid.SampledFrom([]string{"first", "last", "seek", "for_prev"}).Draw(t, "start")
	starts[start](it)
	starts[start](want)
	for n := rapid.IntRange(0, 6).Draw(t, "moves"); ; n-- {
		if keyed(it) != keyed(want) {
			t.Fatalf("after %s %q: %q, expected %q", start, target, keyed(it), keyed(want))
		}
		if n == 0 || !it.Valid() {
			return
		}
		if rapid.Bool().Draw(t, "forward") {
			it.Next()
			want.Next()
		} else {
			it.Prev()
			want.Prev()
		}
	}
}
