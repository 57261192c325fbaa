// No upstream twin: public reports about iterators, each with the outcome that
// is right. Their ids stand beside the tests.

package rocksdb_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rocksdb-go/rocksdb"
	contract "github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// smallBlocks is a table of one entry a block with a partitioned index.
func smallBlocks(o *rocksdb.Options, b *rocksdb.BlockBasedTableOptions) {
	o.Compression = rocksdb.NoCompression
	b.IndexType, b.BlockSize, b.MetadataBlockSize = rocksdb.TwoLevelIndexSearch, 1, 32
}

func TestFieldBoundsOverPartitions(t *testing.T) { // cockroachdb/pebble#1734
	x := newFieldTest(t, smallBlocks)
	for i := range 100 {
		x.put(fmt.Sprintf("k%02d", i), "v")
	}
	x.flush()
	for lower := range 100 {
		for upper := 0; upper < 100; upper += 7 {
			it := x.db.NewIterator(readOptions(func(ro *rocksdb.ReadOptions) {
				ro.IterateLowerBound, ro.IterateUpperBound = fmt.Appendf(nil, "k%02d", lower), fmt.Appendf(nil, "k%02d", upper)
			}))
			there, back := 0, 0
			for it.SeekToFirst(); it.Valid(); it.Next() {
				there++
			}
			for it.SeekToLast(); it.Valid(); it.Prev() {
				back++
			}
			if want := max(upper-lower, 0); there != want || back != want || it.Status() != nil {
				t.Fatalf("[k%02d, k%02d): %d, %d, not %d; %v", lower, upper, there, back, want, it.Status())
			}
			it.Close()
		}
	}
}

func TestFieldChangedBounds(t *testing.T) { // cockroachdb/pebble#1963
	x := newFieldTest(t, smallBlocks)
	for i := range 100 {
		x.put(fmt.Sprintf("k%02d", i), "v")
	}
	x.flush()
	it := x.db.NewIterator(nil)
	defer it.Close()
	for i := 1; i < 10; i++ {
		it.SetBounds([]byte("k0"), fmt.Appendf(nil, "k%d9", i))
		x.same("widening", seek(it, fmt.Sprintf("+k%d", i)), fmt.Sprintf("k%d0", i))
	}
	it.SetBounds([]byte("k0"), nil)
	x.same("later", steps(it, "+k9", "+k2"), "k90 k20")
	r := rand.New(rand.NewPCG(3, 4))
	key := func() []byte { return fmt.Appendf(nil, "k%02d", r.IntN(100)) }
	for range 1000 {
		lower, upper := key(), key()
		it.SetBounds(lower, upper)
		for range 2 {
			op := "+" + string(key())
			if r.IntN(2) == 0 {
				op = "-" + op[1:]
			}
			fresh := x.walk(readOptions(func(ro *rocksdb.ReadOptions) { ro.IterateLowerBound, ro.IterateUpperBound = lower, upper }), op)
			if got := seek(it, op); got != fresh {
				t.Fatalf("[%s, %s) %s: %s, a new iterator %s", lower, upper, op, got, fresh)
			}
		}
	}
}

func TestFieldPrefixOverFiles(t *testing.T) { // cockroachdb/pebble#3610
	x := newFieldTest(t, func(o *rocksdb.Options, b *rocksdb.BlockBasedTableOptions) {
		o.PrefixExtractor, b.FilterPolicy = rocksdb.NewFixedPrefixTransform(2), rocksdb.NewBloomFilterPolicy(10)
	})
	for _, p := range []string{"p1", "p2", "p3"} {
		x.put(p+"a", "v", p+"b", "v")
		x.flush()
		x.moveTo(1)
	}
	x.same("files", x.levels(2), "0 3")
	ro := readOptions(func(ro *rocksdb.ReadOptions) { ro.PrefixSameAsStart = true })
	x.same("walk", x.walk(ro, "+p1", "n", "n", "+p3", "n", "n", "+p2", "-p1z"), "p1a p1b - p3a p3b - p2a p1b")
}

func TestFieldOffTheEnd(t *testing.T) { // cockroachdb/pebble#483
	x := newFieldTest(t, nil)
	x.put("a", "1", "b", "1", "c", "1")
	x.flush()
	x.same("one file", x.walk(nil, ">", "n", "<", "p", ">"), "c - a - c")
	x.put("x", "1", "y", "1")
	x.flush()
	x.same("two files", x.walk(nil, "+y", "n", "-zz", "+zz", "-A", "<"), "y - y - - a")
}

func TestFieldHashIndexOfAnotherPrefix(t *testing.T) { // facebook/rocksdb#10128
	x := newFieldTest(t, func(o *rocksdb.Options, b *rocksdb.BlockBasedTableOptions) {
		o.Compression, o.PrefixExtractor = rocksdb.NoCompression, rocksdb.NewFixedPrefixTransform(2)
		b.IndexType, b.BlockSize = rocksdb.HashSearch, 64
	})
	var keys []string
	for _, p := range "abcde" {
		for i := range 20 {
			keys = append(keys, fmt.Sprintf("%c%d%02d", p, i%3, i))
		}
	}
	slices.Sort(keys)
	for _, k := range keys {
		x.put(k, "v"+k)
	}
	x.flush()
	all := func(when string) {
		t.Helper()
		for _, k := range keys {
			x.same(when+" get", x.get(nil, k), "v"+k)
			x.same(when+" seek", x.walk(nil, "+"+k), k)
			x.same(when+" total order", x.walk(readOptions(func(ro *rocksdb.ReadOptions) { ro.TotalOrderSeek = true }), "+"+k), k)
		}
	}
	set := func(text string) { t.Helper(); x.must(x.db.SetOptions(map[string]string{"prefix_extractor": text})) }
	all("new")
	set("fixed:3")
	all("set to 3")
	set("fixed:2")
	all("set to 2")
	x.o.PrefixExtractor = rocksdb.NewFixedPrefixTransform(3)
	x.reopen()
	all("reopened with 3")
	set("fixed:2")
	all("set to 2 again")
	set("nullptr")
	all("set to none")
	x.o.PrefixExtractor = nil
	err := x.open("db", x.o)
	if rocksdb.CodeOf(err) != rocksdb.CodeInvalidArgument ||
		!strings.Contains(err.Error(), "Hash index is specified for block-based table, but prefix_extractor is not given") {
		t.Error(err)
	}
}

func TestFieldRefreshLetsFilesGo(t *testing.T) { // facebook/rocksdb#10770
	x := newFieldTest(t, nil)
	x.put("k0", "v")
	it := x.db.NewIterator(nil)
	defer it.Close()
	it.SeekToFirst()
	for round := range 8 {
		letter := string(rune('a' + round))
		for i := range 10 {
			x.put(fmt.Sprint("k", i), strings.Repeat(letter, 10000))
		}
		x.flush()
		x.compact(false)
		x.must(it.Refresh(nil))
		x.same("after Refresh", at(it), "-")
		for range 6000 { // files go in the background
			if files, _ := filepath.Glob(filepath.Join(x.root, "db", "*.sst")); len(files) == 1 {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		if files, _ := filepath.Glob(filepath.Join(x.root, "db", "*.sst")); len(files) != 1 {
			t.Fatal(round, files)
		}
		if it.SeekToFirst(); !it.Valid() || it.Value()[0] != letter[0] {
			t.Fatal(round, at(it))
		}
	}
}

// twoFilesInOneLevel has 1 to 4 and 5 to 8 in two files of level 1.
func twoFilesInOneLevel(x *recoveryTest) {
	x.Helper()
	for _, keys := range []string{"1234", "5678"} {
		for _, k := range strings.Split(keys, "") {
			x.put(k, "v")
		}
		x.flush()
		x.must(x.compactRange(false, []byte(keys[:1]), []byte(keys[3:])))
	}
	x.same("files", x.levels(2), "0 2")
}

func TestFieldErrorInALaterFile(t *testing.T) { // facebook/rocksdb#11782
	fs := newHookFS()
	x := newFieldTest(t, func(o *rocksdb.Options, b *rocksdb.BlockBasedTableOptions) {
		o.NumLevels, o.Compression, o.Env, b.NoBlockCache = 2, rocksdb.NoCompression, fs.env(), true
		o.MaxBGErrorResumeCount = 0
	})
	twoFilesInOneLevel(x)
	second := strings.TrimPrefix(x.tables(1)[1].Name, "/")
	x.reopen()
	x.same("before", x.get(nil, "6"), "v") // opens the table
	fault := func(on bool) {
		fs.hook = nil
		if on {
			fs.hook = func(op, path string, at uint64, n int) error {
				if op == "read" && filepath.Base(path) == second && at == 0 {
					return contract.IOError("injected")
				}
				return nil
			}
		}
	}
	it := x.db.NewIterator(nil)
	fault(true)
	it.SeekToFirst()
	x.same("forward", rest(it, it.Next, keyOf), "1 2 3 4 ~IO error")
	x.same("seeks", steps(it, ">", "+45"), "~IO error ~IO error")
	x.same("get", x.get(nil, "6"), "~IO error")
	fault(false)
	it.SeekToFirst()
	x.same("the same iterator", rest(it, it.Next, keyOf), "1 2 3 4 5 6 7 8")
	it.Close()
	fault(true)
	if err := x.compactRange(true, nil, nil); rocksdb.CodeOf(err) != rocksdb.CodeIOError {
		t.Error(err)
	}
	fault(false)
	if n, _ := x.db.GetIntProperty("rocksdb.background-errors"); n != 1 {
		t.Error("background errors", n)
	}
	if err := x.db.Put(nil, []byte("9"), nil); rocksdb.CodeOf(err) != rocksdb.CodeIOError {
		t.Error(err)
	}
	if err := x.db.Resume(); rocksdb.CodeOf(err) != rocksdb.CodeIOError {
		t.Error(err)
	}
	x.reopen()
	x.same("reopened", x.forward(nil), "1=v 2=v 3=v 4=v 5=v 6=v 7=v 8=v")
}

// partitionedFilters are the set-ups in which a prefix at a partition's edge
// could be missed.
func partitionedFilters(formats []uint32, f func(name string, change func(o *rocksdb.Options, b *rocksdb.BlockBasedTableOptions))) {
	for _, format := range formats {
		for i := range 4 {
			f(fmt.Sprintf("format %d, %d", format, i), func(o *rocksdb.Options, b *rocksdb.BlockBasedTableOptions) {
				o.Compression = rocksdb.NoCompression
				b.IndexType, b.PartitionFilters, b.FilterPolicy = rocksdb.TwoLevelIndexSearch, true, rocksdb.NewBloomFilterPolicy(10)
				b.BlockSize, b.MetadataBlockSize, b.FormatVersion = 1, 1, format
				b.WholeKeyFiltering, b.DecouplePartitionedFilters = i&1 != 0, i&2 != 0
			})
		}
	}
}

func TestFieldPrefixOfTheLastKey(t *testing.T) { // facebook/rocksdb#8137, #12872
	keys := []string{"aaa", "abb", "abc", "d", "daa", "dbb"}
	partitionedFilters([]uint32{5, 6, 7}, func(name string, change func(o *rocksdb.Options, b *rocksdb.BlockBasedTableOptions)) {
		x := newFieldTest(t, func(o *rocksdb.Options, b *rocksdb.BlockBasedTableOptions) {
			change(o, b)
			o.PrefixExtractor = rocksdb.NewFixedPrefixTransform(2)
		})
		for _, k := range keys {
			x.put(k, "v")
		}
		x.flush()
		x.same(name, x.walk(nil, "-abcd", "+abc", "-abba", "+dbb", "p", "-d", "+abd"), "abc abc abb dbb daa d d")
		for _, target := range strings.Fields("aa aaa aab ab aba abb abbz abc abcd abz d da daa dab db dba dbb dbc") {
			if len(target) < 2 {
				continue
			}
			i, _ := slices.BinarySearch(keys, target)
			if i < len(keys) && strings.HasPrefix(keys[i], target[:2]) {
				x.same(name+" seek "+target, x.walk(nil, "+"+target), keys[i])
			}
			if i == len(keys) || keys[i] > target {
				i--
			}
			if i >= 0 && strings.HasPrefix(keys[i], target[:2]) {
				x.same(name+" seek for prev "+target, x.walk(nil, "-"+target), keys[i])
			}
		}
		x.close()
	})
}

func TestFieldPrefixAtPartitionBorder(t *testing.T) { // facebook/rocksdb#5835
	partitionedFilters([]uint32{2, 3, 5, 7}, func(name string, change func(o *rocksdb.Options, b *rocksdb.BlockBasedTableOptions)) {
		x := newFieldTest(t, func(o *rocksdb.Options, b *rocksdb.BlockBasedTableOptions) {
			change(o, b)
			o.PrefixExtractor = rocksdb.NewFixedPrefixTransform(3)
			b.MetadataBlockSize, b.IndexBlockRestartInterval = 32, 1
		})
		first := map[string]string{}
		var all []string
		for i := range 400 {
			p := fmt.Sprintf("%03d", i)
			first[p] = p + string(rune('a'+i%5))
			all = append(all, first[p])
			if i%3 == 0 {
				first[p] = p
				all = append(all, p)
			}
		}
		for _, k := range all {
			x.put(k, "v")
		}
		x.flush()
		for _, k := range all {
			x.same(name+" get "+k, x.get(nil, k), "v")
			x.same(name+" seek "+k, x.walk(nil, "+"+k[:3]), first[k[:3]])
		}
		x.close()
	})
}

func TestFieldChangedPrefix(t *testing.T) { // facebook/rocksdb#13026
	for _, optIn := range []bool{false, true} {
		for _, flushed := range []bool{false, true} {
			x := newFieldTest(t, func(o *rocksdb.Options, b *rocksdb.BlockBasedTableOptions) {
				o.PrefixExtractor, o.MemtablePrefixBloomSizeRatio = rocksdb.NewFixedPrefixTransform(3), 0.1
				o.PrefixSeekOptInOnly, b.FilterPolicy = optIn, rocksdb.NewBloomFilterPolicy(10)
			})
			x.put("aaa1", "", "abb1", "", "acc1", "", "baa1", "")
			a, ab, b := "aaa1 abb1 acc1", "abb1 acc1", "baa1"
			if flushed {
				x.flush()
				x.put("aaa2", "", "add2", "", "bcc2", "")
				a, ab, b = "aaa1 aaa2 abb1 acc1 add2", "abb1 acc1 add2", "baa1 bcc2"
			}
			x.must(x.db.SetOptions(map[string]string{"prefix_extractor": "fixed:1"}))
			x.put("aee3", "", "bee3", "")
			a, ab, b = a+" aee3", ab+" aee3", b+" bee3"
			scan := func(ro *rocksdb.ReadOptions, from string) string {
				it := x.db.NewIterator(ro)
				defer it.Close()
				it.Seek([]byte(from))
				return rest(it, it.Next, keyOf)
			}
			same := readOptions(func(ro *rocksdb.ReadOptions) { ro.PrefixSameAsStart = true })
			x.same("a", scan(same, "a"), a)
			x.same("ab", scan(same, "ab"), ab)
			for _, ro := range []*rocksdb.ReadOptions{nil, readOptions(func(ro *rocksdb.ReadOptions) { ro.TotalOrderSeek = true }),
				readOptions(func(ro *rocksdb.ReadOptions) { ro.AutoPrefixMode = true })} {
				x.same("a", scan(ro, "a"), a+" "+b)
				x.same("ab", scan(ro, "ab"), ab+" "+b)
			}
			x.close()
		}
	}
}

func TestFieldUnpreparedBackwards(t *testing.T) { // facebook/rocksdb#13531
	for _, often := range []bool{false, true} {
		x := newFieldTest(t, func(o *rocksdb.Options, b *rocksdb.BlockBasedTableOptions) {
			o.EnableBlobFiles, o.MinBlobSize, o.MaxSequentialSkipInIterations = true, 0, 2
		})
		var atB2 rocksdb.Snapshot
		var snapshots []rocksdb.Snapshot
		n := 0
		for _, k := range []string{"a", "b", "c"} {
			for v := range 6 {
				x.put(k, fmt.Sprintf("%sv%d", k, v))
				snapshots = append(snapshots, x.snapshot())
				if k == "b" && v == 2 {
					atB2 = snapshots[len(snapshots)-1]
				}
				if n++; often && n%2 == 0 {
					x.flush()
				}
			}
		}
		x.flush()
		for s, want := range map[rocksdb.Snapshot]string{nil: "a=av5 b=bv5 c=cv5", atB2: "a=av5 b=bv2"} {
			it := x.db.NewIterator(readOptions(func(ro *rocksdb.ReadOptions) { ro.AllowUnpreparedValue, ro.Snapshot = true, s }))
			show := func(it *rocksdb.Iterator) string {
				if !it.PrepareValue() {
					t.Error(it.Status())
				}
				return pairOf(it)
			}
			it.SeekToFirst()
			x.same("forward", rest(it, it.Next, show), want)
			parts := strings.Fields(want)
			b := parts[1]
			slices.Reverse(parts)
			it.SeekToLast()
			x.same("backward", rest(it, it.Prev, show), strings.Join(parts, " "))
			it.SeekForPrev([]byte("b"))
			x.same("b", show(it), b)
			it.Close()
		}
		x.release(snapshots...)
		x.close()
	}
}

func TestFieldSeekForPrevOutsideThePrefix(t *testing.T) { // facebook/rocksdb#3133
	x := newFieldTest(t, func(o *rocksdb.Options, b *rocksdb.BlockBasedTableOptions) {
		o.PrefixExtractor = rocksdb.NewFixedPrefixTransform(1)
	})
	x.put("a", "", "d", "")
	for range 2 {
		x.same("prefix", x.walk(readOptions(func(ro *rocksdb.ReadOptions) { ro.PrefixSameAsStart = true }), "-c", "-d", "-az"), "- d a")
		for _, change := range []func(ro *rocksdb.ReadOptions){nil, func(ro *rocksdb.ReadOptions) { ro.TotalOrderSeek = true },
			func(ro *rocksdb.ReadOptions) { ro.AutoPrefixMode = true }} {
			x.same("other modes", x.walk(readOptions(change), "-c"), "a")
		}
		x.flush()
	}
}

func TestFieldSeekForPrevOfAMissingPrefix(t *testing.T) { // facebook/rocksdb#4138
	targets := strings.Fields("b b50 bzz d5 f9 h z a05 c00 Z a c e g")
	var keys []string
	for _, p := range "aceg" {
		for i := range 20 {
			keys = append(keys, fmt.Sprintf("%c%02d", p, i))
		}
	}
	for _, kind := range []string{"hash", "hash+bloom", "two levels", "two levels+bloom"} {
		x := newFieldTest(t, func(o *rocksdb.Options, b *rocksdb.BlockBasedTableOptions) {
			o.Compression, b.BlockSize, b.MetadataBlockSize = rocksdb.NoCompression, 64, 64
			if b.IndexType = rocksdb.HashSearch; kind[0] == 't' {
				b.IndexType = rocksdb.TwoLevelIndexSearch
			}
			if kind != "two levels" {
				o.PrefixExtractor = rocksdb.NewFixedPrefixTransform(1)
			}
			if strings.HasSuffix(kind, "bloom") {
				b.FilterPolicy, b.PartitionFilters = rocksdb.NewBloomFilterPolicy(10), kind[0] == 't'
			}
		})
		for _, k := range keys {
			x.put(k, strings.Repeat("v", 30))
		}
		x.flush()
		for _, target := range targets {
			want := "-"
			if i, found := slices.BinarySearch(keys, target); found {
				want = target
			} else if i > 0 {
				want = keys[i-1]
			}
			x.same(kind+" total order "+target, x.walk(readOptions(func(ro *rocksdb.ReadOptions) { ro.TotalOrderSeek = true }), "-"+target), want)
			switch got := x.walk(nil, "-"+target); {
			case kind == "two levels" || strings.ContainsRune("aceg", rune(target[0])) && want != "-" && want[0] == target[0]:
				x.same(kind+" "+target, got, want)
			case got != "-" && got != want:
				t.Errorf("%s: SeekForPrev(%s) stands at %s", kind, target, got)
			}
			if kind == "two levels" {
				continue
			}
			within := want
			if want == "-" || want[0] != target[0] {
				within = "-"
			}
			x.same(kind+" prefix "+target, x.walk(readOptions(func(ro *rocksdb.ReadOptions) { ro.PrefixSameAsStart = true }), "-"+target), within)
		}
		x.close()
	}
}

func TestFieldHashMemtables(t *testing.T) { // facebook/rocksdb#5036
	for _, f := range []rocksdb.MemTableRepFactory{rocksdb.NewHashLinkListRepFactory(0), rocksdb.NewHashSkipListRepFactory(0, 0, 0)} {
		x := newFieldTest(t, func(o *rocksdb.Options, b *rocksdb.BlockBasedTableOptions) {
			o.MemtableFactory, o.PrefixExtractor, o.AllowConcurrentMemtableWrite = f, rocksdb.NewFixedPrefixTransform(2), false
		})
		x.put("aa1", "", "bb1", "")
		total := readOptions(func(ro *rocksdb.ReadOptions) { ro.TotalOrderSeek = true })
		x.same("total order", x.walk(total, "<", "n", "n", ">", "p", "p", "-bb9"), "aa1 bb1 - bb1 aa1 - bb1")
		x.same("default", x.walk(nil, "<", ">", "-bb9", "+aa", "n"), "- - - aa1 -")
		x.flush()
		x.same("flushed", x.walk(nil, "<", "n", "n"), "aa1 bb1 -")
		x.close()
	}
}

func TestFieldLowerBoundOverFiles(t *testing.T) { // facebook/rocksdb#5540
	x := newFieldTest(t, func(o *rocksdb.Options, b *rocksdb.BlockBasedTableOptions) { o.NumLevels = 2 })
	twoFilesInOneLevel(x)
	for lower, want := range map[string]string{"3": "8 7 6 5 4 3", "4": "8 7 6 5 4", "45": "8 7 6 5", "5": "8 7 6 5", "8": "8", "9": ""} {
		it := x.db.NewIterator(readOptions(func(ro *rocksdb.ReadOptions) { ro.IterateLowerBound = []byte(lower) }))
		it.SeekToLast()
		x.same("from "+lower, rest(it, it.Prev, keyOf), want)
		it.SeekForPrev([]byte("7"))
		x.same("from 7 to "+lower, rest(it, it.Prev, keyOf), strings.TrimPrefix(strings.TrimPrefix(want, "8"), " "))
		it.Close()
	}
}

func TestFieldBoundsInABlock(t *testing.T) { // facebook/rocksdb#5883
	x := newFieldTest(t, nil)
	for i := range 10 {
		x.put(fmt.Sprint("a", i), "v")
	}
	for range 2 {
		it := x.db.NewIterator(nil)
		scan := func(upper, from, want string) {
			t.Helper()
			it.SetBounds(nil, []byte(upper))
			it.Seek([]byte(from))
			x.same(from+" to "+upper, rest(it, it.Next, keyOf), want)
		}
		scan("a9", "a1", "a1 a2 a3 a4 a5 a6 a7 a8")
		scan("a3", "a2", "a2")
		scan("a7", "a4", "a4 a5 a6")
		it.SetBounds(nil, []byte("a0"))
		x.same("nothing", steps(it, "+a0", ">"), "- -")
		it.SetBounds(nil, []byte("a5"))
		x.same("to a5", steps(it, ">", "-a8"), "a4 a4")
		it.Close()
		x.flush()
	}
}

func TestFieldEmptyTailOfAFile(t *testing.T) { // facebook/rocksdb#6028
	for _, index := range []rocksdb.IndexType{rocksdb.BinarySearch, rocksdb.HashSearch} {
		x := newFieldTest(t, func(o *rocksdb.Options, b *rocksdb.BlockBasedTableOptions) {
			o.PrefixExtractor = rocksdb.NewFixedPrefixTransform(1)
			b.IndexType, b.FilterPolicy, b.WholeKeyFiltering = index, rocksdb.NewBloomFilterPolicy(10), false
		})
		s := x.snapshot()
		for i, keys := range []string{"a1 a2", "b1", "c1 c2"} {
			path := filepath.Join(x.root, fmt.Sprint(i, ".sst"))
			w := rocksdb.NewSstFileWriter(x.o, nil)
			x.must(w.Open(path, rocksdb.TemperatureUnknown))
			for _, k := range strings.Fields(keys) {
				x.must(w.Put([]byte(k), nil))
			}
			if i == 1 {
				x.must(w.DeleteRange([]byte("b2"), []byte("b9")))
			}
			x.must(w.Finish(nil))
			x.must(x.db.IngestExternalFile([]string{path}, nil))
		}
		x.same("files", x.levels(7), "0 0 0 0 0 0 3")
		total := readOptions(func(ro *rocksdb.ReadOptions) { ro.TotalOrderSeek = true })
		x.same("total order", x.walk(total, "+b15", "+b3", "+b5", "+b85", "+b9", "+b95", "+a3", "+b1"), "c1 c1 c1 c1 c1 c1 b1 b1")
		x.same("auto", x.walk(readOptions(func(ro *rocksdb.ReadOptions) { ro.AutoPrefixMode = true }), "+b3"), "c1")
		x.same("default", x.walk(nil, "+b15", "+b3", "+b5", "+b95"), "- - - -")
		x.release(s)
		x.close()
	}
}

func TestFieldHashIndexAbsentPrefix(t *testing.T) { // facebook/rocksdb#6297
	for _, index := range []rocksdb.IndexType{rocksdb.HashSearch, rocksdb.TwoLevelIndexSearch, rocksdb.BinarySearch, rocksdb.BinarySearchWithFirstKey} {
		x := newFieldTest(t, func(o *rocksdb.Options, b *rocksdb.BlockBasedTableOptions) {
			o.PrefixExtractor, b.IndexType = rocksdb.NewFixedPrefixTransform(1), index
		})
		x.put("a1", "", "c1", "")
		x.flush()
		want := "a1 a1 c1 c1"
		if index == rocksdb.HashSearch {
			want = "- a1 - -"
		}
		x.same(fmt.Sprint(index), x.walk(nil, "-b9", "-c0", "-d0", "+b9"), want)
		x.same(fmt.Sprint(index, " prefix"), x.walk(readOptions(func(ro *rocksdb.ReadOptions) { ro.PrefixSameAsStart = true }), "-b9", "-c0", "-d0", "+b9"), "- - - -")
		x.close()
	}
}

func TestFieldNamesOfPrefixExtractors(t *testing.T) { // facebook/rocksdb#9339
	x := newFieldTest(t, func(o *rocksdb.Options, b *rocksdb.BlockBasedTableOptions) {
		o.PrefixExtractor = rocksdb.NewFixedPrefixTransform(3)
	})
	x.put("aaa1", "v", "aaa2", "v", "bbb1", "v", "bbb2", "v")
	x.flush()
	x.reopen()
	names := func(want string) {
		t.Helper()
		all, err := x.db.GetPropertiesOfAllTables()
		x.must(err)
		for _, p := range all {
			x.same("property", p.PrefixExtractorName, want)
		}
		text, err := os.ReadFile(x.newest("db", "OPTIONS-*"))
		x.must(err)
		if !strings.Contains(string(text), "prefix_extractor="+want+"\n") {
			t.Error("OPTIONS does not have", want)
		}
	}
	names("rocksdb.FixedPrefix.3")
	it := x.db.NewIterator(readOptions(func(ro *rocksdb.ReadOptions) { ro.PrefixSameAsStart = true }))
	it.Seek([]byte("aaa"))
	x.same("scan", rest(it, it.Next, keyOf), "aaa1 aaa2")
	it.Close()
	x = newFieldTest(t, func(o *rocksdb.Options, b *rocksdb.BlockBasedTableOptions) {
		o.PrefixExtractor = rocksdb.NewNoopTransform()
	})
	x.put("a", "v")
	x.flush()
	names("rocksdb.Noop")
}

func TestFieldBoundsOfTheComparator(t *testing.T) { // facebook/rocksdb#983
	x := newFieldTest(t, func(o *rocksdb.Options, b *rocksdb.BlockBasedTableOptions) {
		o.Comparator = rocksdb.ReverseBytewiseComparator()
	})
	x.put("a", "a", "b", "b", "c", "c", "d", "d")
	for range 2 {
		upper := readOptions(func(ro *rocksdb.ReadOptions) { ro.IterateUpperBound = []byte("b") })
		x.same("upper", x.forward(upper), "d=d c=c")
		x.same("upper", x.backward(upper), "c=c d=d")
		x.same("lower", x.forward(readOptions(func(ro *rocksdb.ReadOptions) { ro.IterateLowerBound = []byte("c") })), "c=c b=b a=a")
		x.flush()
	}
}

func TestFieldPrevThenNextAtASnapshot(t *testing.T) { // google/leveldb#206
	for _, flushed := range []bool{false, true} {
		x := newFieldTest(t, nil)
		x.put("1", "o", "2", "o", "3", "o", "4", "o", "5", "o")
		if flushed {
			x.flush()
		}
		s := x.snapshot()
		ro := readOptions(func(ro *rocksdb.ReadOptions) { ro.Snapshot = s })
		a := x.db.NewIterator(ro)
		x.put("3", "new")
		if flushed {
			x.flush()
		}
		b := x.db.NewIterator(ro)
		for _, it := range []*rocksdb.Iterator{a, b} {
			for it.SeekToLast(); string(it.Key()) != "3"; it.Prev() {
			}
			got := pairOf(it)
			for _, op := range []string{"n", "p", "p"} {
				seek(it, op)
				got += " " + pairOf(it)
			}
			x.same("walk", got, "3=o 4=o 3=o 2=o")
			it.Close()
		}
		x.release(s)
		x.close()
	}
}

func TestFieldPrevBesideDeletions(t *testing.T) { // google/leveldb#35
	for _, flushed := range []bool{false, true} {
		x := newFieldTest(t, nil)
		x.put("a", "1", "b", "1", "c", "1")
		if flushed {
			x.flush()
		}
		x.del("b")
		if flushed {
			x.flush()
		}
		x.same("walk", x.walk(nil, "+c", "p", "+a", "n", "+b", "-b"), "c a a c c a")
		x.close()
	}
}
