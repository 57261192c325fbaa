// No upstream twin.
// Damaged plain and cuckoo tables: reads end, with an error or without, and take
// no more memory than the file warrants.

package adaptive_test

import (
	"bytes"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/db/dbformat"
)

// readAll does all that there is to do with a table that may be damaged. keys are
// looked up.
func (g *goldenTable) readAll(data []byte, mapped bool, factory rocksdb.TableFactory, keys [][]byte) error {
	r, err := g.open(data, mapped, factory)
	if err != nil {
		return err
	}
	list, err := entriesOf(r)
	keep := func(e error) {
		if err == nil {
			err = e
		}
	}
	for i := 0; i < len(list); i += 1 + len(list)/8 {
		if len(list[i].key) >= dbformat.NumInternalBytes {
			keys = append(keys[:len(keys):len(keys)], list[i].key)
		}
	}
	ro := rocksdb.DefaultReadOptions()
	it := r.NewIterator(&ro, nil, false, rocksdb.CallerUncategorized, 0, false)
	for _, k := range keys {
		_, _, e := lookUp(r, k)
		keep(e)
		it.Seek(k)
		for n := 0; it.Valid() && n < 3; n++ {
			_, _ = it.Key(), it.Value()
			it.Next()
		}
		keep(it.Status())
		it.SeekForPrev(k)
		it.SeekToLast()
		it.Prev()
	}
	keep(it.Close())
	keep(r.Close())
	return err
}

// wantTold fails for an error that does not tell what is wrong.
func wantTold(t testing.TB, err error, where string) {
	t.Helper()
	if err == nil {
		return
	}
	switch rocksdb.CodeOf(err) {
	case rocksdb.CodeCorruption, rocksdb.CodeNotSupported, rocksdb.CodeInvalidArgument:
	default:
		t.Fatalf("%s: %v", where, err)
	}
}

// fullScan is g's factory in full-scan mode, where there is one.
func (g *goldenTable) fullScan() rocksdb.TableFactory {
	f := g.o.TableFactory.Clone()
	if p, ok := f.OptionsPtr(rocksdb.PlainTableOptionsName).(*rocksdb.PlainTableOptions); ok {
		p.FullScanMode = true
	}
	return f
}

// damaged calls f with each damage to a table: cut short, and with a byte or bit
// changed. step of the places are tried.
func damaged(data []byte, step int, f func(data []byte, place int)) {
	for n := 0; n < len(data); n += step {
		f(data[:n:n], n)
	}
	for i := 0; i < len(data); i += step {
		for _, change := range []byte{0x01, 0x80, 0xff} {
			d := bytes.Clone(data)
			d[i] ^= change
			f(d, i)
		}
	}
}

func TestDamagedTables(t *testing.T) {
	for _, g := range goldenTables(t) {
		small := strings.HasSuffix(g.name, "_delete")
		step := 1
		if !small {
			step = 257
		}
		t.Run(g.name, func(t *testing.T) {
			r, err := g.open(g.data, true, g.o.TableFactory)
			noError(t, err)
			list, err := entriesOf(r)
			noError(t, err)
			noError(t, r.Close())
			keys := [][]byte{list[0].key, list[len(list)/2].key}
			damaged(g.data, step, func(data []byte, place int) {
				for _, mapped := range []bool{true, false} {
					wantTold(t, g.readAll(data, mapped, g.o.TableFactory, keys), g.name)
				}
				wantTold(t, g.readAll(data, true, g.fullScan(), keys), g.name)
			})
		})
	}
}

// Numbers in the properties that claim more than there is make no memory.
func TestDamagedTablesTakeNoMemory(t *testing.T) {
	for _, g := range goldenTables(t) {
		if !strings.HasSuffix(g.name, "_delete") {
			continue
		}
		var before, after runtime.MemStats
		var worst uint64
		damaged(g.data, 3, func(data []byte, place int) {
			runtime.ReadMemStats(&before)
			_ = g.readAll(data, true, g.o.TableFactory, nil)
			runtime.ReadMemStats(&after)
			worst = max(worst, after.TotalAlloc-before.TotalAlloc)
		})
		if worst > 1<<20 {
			t.Errorf("%s: %d bytes were allocated to read %d", g.name, worst, len(g.data))
		}
	}
}

// fuzzTables are the golden tables of a format, in a fixed order, and the options
// that each of them has.
func fuzzTables(f *testing.F, format string) []goldenTable {
	list := slices.DeleteFunc(goldenTables(f), func(g goldenTable) bool { return !strings.HasPrefix(g.name, format+"/") })
	slices.SortFunc(list, func(a, b goldenTable) int { return strings.Compare(a.name, b.name) })
	return list
}

func fuzz(f *testing.F, format string) {
	list := fuzzTables(f, format)
	for i, g := range list {
		f.Add(g.data, byte(i), []byte("pfx00003002"))
	}
	f.Fuzz(func(t *testing.T, data []byte, which byte, userKey []byte) {
		g := list[int(which)%len(list)]
		key := dbformat.AppendInternalKey(nil, userKey, dbformat.MaxSequenceNumber, dbformat.ValueTypeForSeek)
		for _, mapped := range []bool{true, false} {
			wantTold(t, g.readAll(data, mapped, g.o.TableFactory, [][]byte{key}), g.name)
		}
		wantTold(t, g.readAll(data, true, g.fullScan(), [][]byte{key}), g.name)
	})
}

func FuzzPlainTable(f *testing.F) { fuzz(f, "plain") }

func FuzzCuckooTable(f *testing.F) { fuzz(f, "cuckoo") }
