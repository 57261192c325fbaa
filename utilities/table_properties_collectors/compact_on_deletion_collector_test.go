// Port of utilities/table_properties_collectors/compact_on_deletion_collector_test.cc.

package tablepropertiescollectors

import (
	"fmt"
	"testing"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

var unknownContext = rocksdb.TablePropertiesCollectorFactoryContext{ColumnFamilyID: rocksdb.UnknownColumnFamily,
	LastLevelInclusiveMaxSeqnoThreshold: dbformat.MaxSequenceNumber}

// collect is a collector under test.
type collect struct {
	*testing.T
	rocksdb.TablePropertiesCollector
}

func newCollect(t *testing.T, f rocksdb.TablePropertiesCollectorFactory) collect {
	return collect{t, f.CreateTablePropertiesCollector(unknownContext)}
}

// add adds n entries of a type.
func (c collect) add(t rocksdb.EntryType, n int, fileSize uint64) {
	c.Helper()
	for range n {
		if err := c.AddUserKey([]byte("hello"), []byte("rocksdb"), t, 0, fileSize); err != nil {
			c.Fatal(err)
		}
	}
}

func (c collect) finish() {
	c.Helper()
	if err := c.TablePropertiesCollector.Finish(nil); err != nil {
		c.Fatal(err)
	}
}

func (c collect) want(need bool, format string, args ...any) {
	c.Helper()
	if c.NeedCompact() != need {
		c.Fatalf("%s: marked is %t", fmt.Sprintf(format, args...), !need)
	}
}

func TestCompactOnDeletionCollector_DeletionRatio(t *testing.T) {
	const total = 100
	for _, ratio := range []float64{-1.5, -1, 0, 1.5, 2} {
		c := newCollect(t, NewCompactOnDeletionCollectorFactory(0, 0, ratio, 0))
		for range total {
			c.add(rocksdb.EntryDelete, 1, 0)
			c.want(false, "ratio %v", ratio)
		}
		c.finish()
		c.want(false, "ratio %v", ratio)
	}
	for _, ratio := range []float64{0.3, 0.5, 0.8, 1} {
		f := NewCompactOnDeletionCollectorFactory(0, 0, ratio, 0)
		for _, delta := range []int{-1, 0, 1} {
			deletions := int(ratio*total) + delta
			c := newCollect(t, f)
			for i := range total {
				if i < deletions {
					c.add(rocksdb.EntryDelete, 1, 0)
				} else {
					c.add(rocksdb.EntryPut, 1, 0)
				}
				c.want(false, "ratio %v before the end", ratio)
			}
			c.finish()
			c.want(delta >= 0, "ratio %v, %d deletions", ratio, deletions)
		}
	}
}

func TestCompactOnDeletionCollector_SlidingWindow(t *testing.T) {
	windows := []int{1000, 10000, 10000, 127, 128, 129, 255, 256, 257}
	triggers := []int{500, 9500, 4323, 47, 61, 128, 250, 250, 250}
	rnd := util.NewRandom(301)
	for range 10 { // up to a tenth of upstream's sizes
		w := int(rnd.Uniform(10000)) + 1
		windows, triggers = append(windows, w), append(triggers, int(rnd.Uniform(w)))
	}
	const buckets, samples = 128, 10
	for test, window := range windows {
		trigger := triggers[test]
		padded := buckets * ((window + buckets - 1) / buckets)
		bias := (trigger + buckets - 1) / buckets
		f := NewCompactOnDeletionCollectorFactory(uint64(window), uint64(trigger), 0, 0)
		// mixed adds a window with so many deletions of each ten entries.
		mixed := func(c collect, rate int) (deletions int) {
			for i := range padded {
				if i%samples < rate {
					c.add(rocksdb.EntryDelete, 1, 0)
					deletions++
				} else {
					c.add(rocksdb.EntryPut, 1, 0)
				}
			}
			return deletions
		}
		check := func(c collect, deletions int) {
			t.Helper()
			if far := deletions-trigger > bias || trigger-deletions > bias; far {
				c.want(deletions >= trigger, "window %d, trigger %d, %d deletions", window, trigger, deletions)
			}
			c.finish()
		}
		for rate := range samples + 1 {
			c := newCollect(t, f)
			check(c, mixed(c, rate))
			// One part of a file alone has that many deletions.
			c = newCollect(t, f)
			puts := func() {
				for range 5 {
					c.add(rocksdb.EntryPut, int(rnd.Uniform(window))+window, 0)
				}
			}
			puts()
			deletions := mixed(c, rate)
			puts()
			check(c, deletions)
		}
		// Many deletions, never dense enough.
		c := newCollect(t, f)
		c.want(false, "no entries")
		deletions := trigger * 95 / 100
		for range 50 {
			c.add(rocksdb.EntryDelete, min(deletions, padded), 0)
			c.add(rocksdb.EntryPut, max(padded-deletions, 0), 0)
		}
		if trigger-deletions > bias {
			c.want(false, "window %d, trigger %d, %d deletions a window", window, trigger, deletions)
		}
		c.finish()
	}
}

func TestCompactOnDeletionCollector_MinFileSize(t *testing.T) {
	const window, trigger, ratio, minSize = 1000, 800, 0.9, 1 << 20
	for _, size := range []uint64{0, minSize - 1, minSize} {
		c := newCollect(t, NewCompactOnDeletionCollectorFactory(window, trigger, 0, minSize))
		c.add(rocksdb.EntryDelete, trigger, size)
		c.add(rocksdb.EntryPut, window-trigger, size)
		c.finish()
		c.want(size >= minSize, "window, %d bytes", size)

		c = newCollect(t, NewCompactOnDeletionCollectorFactory(window, trigger, ratio, minSize))
		c.add(rocksdb.EntrySingleDelete, 99, 0)
		c.add(rocksdb.EntrySingleDelete, 1, size)
		c.finish()
		c.want(size >= minSize, "ratio, %d bytes", size)
	}
}
