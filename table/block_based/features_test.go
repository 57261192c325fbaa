// No upstream twin.
// Range tombstones, prefixes, timestamps, ingested files, caching, the factory.

package blockbased_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb/cache"
	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/table"
	"github.com/rocksdb-go/rocksdb/util"
)

func TestRangeTombstones(t *testing.T) {
	for version := uint32(2); version <= 7; version++ {
		s := newSpec()
		s.bbto.FormatVersion = version
		rnd := rand.New(rand.NewPCG(1, uint64(version)))
		entries := randomEntries(rnd, 50, s.icmp)
		tombstones := []entry{
			{ikey("0020", 100000, dbformat.TypeRangeDeletion), []byte("0030")},
			{ikey("0025", 90000, dbformat.TypeRangeDeletion), []byte("0040")},
			{ikey("0001", 3, dbformat.TypeRangeDeletion), []byte("0002")},
		}
		name := filepath.Join(t.TempDir(), "000007.sst")
		s.write(t, name, entries, tombstones)
		tr := s.open(t, name)
		p := tr.GetTableProperties()
		if p.NumRangeDeletions != 3 || p.NumEntries != uint64(len(entries))+3 || p.KeyLargestSeqno != 100000 {
			t.Errorf("properties: %+v", p)
		}
		ro := rocksdb.DefaultReadOptions()
		it := tr.NewRangeTombstoneIterator(&ro)
		var got []string
		for it.SeekToFirst(); it.Valid(); it.Next() {
			k, _ := dbformat.ParseInternalKey(it.Key(), true)
			got = append(got, fmt.Sprintf("%s@%d-%s", k.UserKey, k.Sequence, it.Value()))
		}
		want := "0001@3-0002 0020@100000-0025 0025@100000-0030 0025@90000-0030 0030@90000-0040"
		if strings.Join(got, " ") != want {
			t.Errorf("v%d: %s, not %s", version, got, want)
		}
		if !sameEntries(allEntries(t, tr, nil), entries) {
			t.Error("other entries")
		}
		var l lookup
		user := []byte("0027")
		l.init(s.icmp, user)
		if err := tr.Get(&ro, dbformat.AppendInternalKey(nil, user, 200000, dbformat.ValueTypeForSeek), &l.gc, nil, false); err != nil {
			t.Fatal(err)
		}
		l.v.Release()
		if err := tr.Close(); err != nil {
			t.Error(err)
		}
		// Tombstones alone make a table too.
		s.write(t, name, nil, tombstones)
		tr = s.open(t, name)
		if got := allEntries(t, tr, nil); len(got) != 0 || tr.NewRangeTombstoneIterator(&ro) == nil {
			t.Errorf("v%d: %d entries", version, len(got))
		}
		tr.Close()
	}
}

func TestEmptyTable(t *testing.T) {
	for _, v := range variants() {
		s := newSpec()
		v.apply(s)
		name := filepath.Join(t.TempDir(), "000007.sst")
		s.write(t, name, nil, nil)
		tr := s.open(t, name)
		ro := rocksdb.DefaultReadOptions()
		if got := allEntries(t, tr, s.cf.PrefixExtractor); len(got) != 0 {
			t.Errorf("%s: %d entries", v.name, len(got))
		}
		var l lookup
		l.init(s.icmp, []byte("aaaa"))
		if err := tr.Get(&ro, ikey("aaaa", 5, dbformat.TypeValue), &l.gc, s.cf.PrefixExtractor, false); err != nil || l.gc.State() != table.GetNotFound {
			t.Errorf("%s: %v", v.name, err)
		}
		if err := tr.VerifyChecksum(&ro, rocksdb.CallerUncategorized, false); err != nil {
			t.Errorf("%s: %v", v.name, err)
		}
		if err := tr.Close(); err != nil {
			t.Errorf("%s: %v", v.name, err)
		}
	}
}

// TestPrefixSeek seeks within prefixes, which filters may cut short.
func TestPrefixSeek(t *testing.T) {
	for _, v := range variants() {
		if !strings.Contains(v.name, "prefix") && v.name != "index_hash" && v.name != "partitioned_filter_coupled" {
			continue
		}
		for version := uint32(2); version <= 7; version++ {
			s := newSpec()
			s.bbto.FormatVersion = version
			v.apply(s)
			s.db.Statistics = nil
			rnd := rand.New(rand.NewPCG(9, uint64(version)))
			entries := randomEntries(rnd, 700, s.icmp)
			name := filepath.Join(t.TempDir(), "000007.sst")
			s.write(t, name, entries, nil)
			tr := s.open(t, name)
			byPrefix := map[string][]entry{}
			for _, e := range entries {
				p := string(e.key[:4])
				byPrefix[p] = append(byPrefix[p], e)
			}
			ro := rocksdb.DefaultReadOptions()
			ro.PrefixSameAsStart = true
			auto := rocksdb.DefaultReadOptions()
			auto.AutoPrefixMode = true
			it := tr.NewIterator(&ro, s.cf.PrefixExtractor, false, rocksdb.CallerUserIterator, 0, false)
			for i := range 1500 {
				prefix := fmt.Sprintf("%04x", i)
				k := 0
				for it.Seek(ikey(prefix, uint64(dbformat.MaxSequenceNumber), dbformat.ValueTypeForSeek)); it.Valid() &&
					string(it.Key()[:4]) == prefix; it.Next() {
					if want := byPrefix[prefix]; k >= len(want) || !bytes.Equal(it.Key(), want[k].key) {
						t.Fatalf("%s v%d: prefix %s, not entry %d", v.name, version, prefix, k)
					}
					k++
				}
				if k != len(byPrefix[prefix]) || it.Status() != nil {
					t.Fatalf("%s v%d: prefix %s: %d entries, not %d (%v)", v.name, version, prefix, k, len(byPrefix[prefix]), it.Status())
				}
			}
			if err := it.Close(); err != nil {
				t.Error(err)
			}
			// In auto mode the bound decides.
			for range 50 {
				i := rnd.IntN(len(entries))
				lo := fmt.Sprintf("%04x", rnd.IntN(700))
				hi := fmt.Sprintf("%04x", rnd.IntN(700))
				if i%2 == 0 {
					hi = lo + "zz"
				}
				auto.IterateUpperBound = []byte(hi)
				it := tr.NewIterator(&auto, s.cf.PrefixExtractor, false, rocksdb.CallerUserIterator, 0, false)
				n, want := 0, 0
				for it.Seek(ikey(lo, uint64(dbformat.MaxSequenceNumber), dbformat.ValueTypeForSeek)); it.Valid() &&
					string(dbformat.ExtractUserKey(it.Key())) < hi; it.Next() {
					n++
				}
				for _, e := range entries {
					if u := string(dbformat.ExtractUserKey(e.key)); u >= lo && u < hi {
						want++
					}
				}
				if n != want || it.Status() != nil {
					t.Errorf("%s v%d: auto prefix %s-%s: %d entries, not %d (%v)", v.name, version, lo, hi, n, want, it.Status())
				}
				it.Close()
			}
			tr.Close()
		}
	}
}

// TestStrippedTimestamps writes keys without their timestamps.
func TestStrippedTimestamps(t *testing.T) {
	for _, v := range variants() {
		if strings.Contains(v.name, "prefix") || v.name == "index_hash" || strings.Contains(v.name, "coupled") {
			continue
		}
		for _, version := range []uint32{2, 4, 7} {
			s := newSpec()
			s.bbto.FormatVersion = version
			s.icmp = internalComparator(".u64ts")
			s.cf.PersistUserDefinedTimestamps = false
			v.apply(s)
			s.reader = func(o *table.TableReaderOptions) { o.UserDefinedTimestampsPersisted = false }
			var entries []entry
			for i := range 500 {
				key := string(util.AppendU64Ts([]byte(fmt.Sprintf("%05d", i)), 0)) // the least timestamp is what comes back
				for seq := 3; seq > i%3; seq-- {
					entries = append(entries, entry{ikey(key, uint64(seq), dbformat.TypeValue), []byte(strings.Repeat("v", i%50))})
				}
			}
			name := filepath.Join(t.TempDir(), "000007.sst")
			s.write(t, name, entries, []entry{{ikey("00010"+string(util.MinU64Ts()), 9, dbformat.TypeRangeDeletion), []byte("00020" + string(util.MinU64Ts()))}})
			tr := s.open(t, name)
			if tr.GetTableProperties().UserDefinedTimestampsPersisted != 0 {
				t.Error("property")
			}
			if got := allEntries(t, tr, nil); !sameEntries(got, entries) {
				t.Fatalf("%s v%d: other entries (%d, not %d)", v.name, version, len(got), len(entries))
			}
			ro := rocksdb.DefaultReadOptions()
			it := tr.NewIterator(&ro, nil, false, rocksdb.CallerUncategorized, 0, false)
			checkIteration(t, it, entries, s.icmp)
			it.Close()
			ts := util.MaxU64Ts()
			ro.Timestamp = ts
			var l lookup
			for i := range 500 {
				user := util.AppendU64Ts([]byte(fmt.Sprintf("%05d", i)), 5)
				l.init(s.icmp, user)
				key := dbformat.AppendInternalKey(nil, user, dbformat.MaxSequenceNumber, dbformat.ValueTypeForSeek)
				if err := tr.Get(&ro, key, &l.gc, nil, false); err != nil || l.gc.State() != table.GetFound {
					t.Fatalf("%s v%d: %d: %v, %v", v.name, version, i, l.gc.State(), err)
				}
			}
			l.v.Release()
			rt := tr.NewRangeTombstoneIterator(&ro)
			if rt == nil {
				t.Fatal("no tombstones")
			}
			if err := tr.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestGlobalSeqno reads a table as an ingested one.
func TestGlobalSeqno(t *testing.T) {
	for version := uint32(2); version <= 7; version++ {
		s := newSpec()
		s.bbto.FormatVersion = version
		s.builder = func(o *table.TableBuilderOptions) {
			o.InternalTblPropCollFactories = append(o.InternalTblPropCollFactories, table.NewSstFileWriterPropertiesCollectorFactory(2, 0))
		}
		s.reader = func(o *table.TableReaderOptions) { o.LargestSeqno = 77 }
		var entries, want []entry
		for i := range 300 {
			k := fmt.Sprintf("%05d", i)
			entries = append(entries, entry{ikey(k, 0, dbformat.TypeValue), []byte(k)})
			want = append(want, entry{ikey(k, 77, dbformat.TypeValue), []byte(k)})
		}
		name := filepath.Join(t.TempDir(), "000007.sst")
		s.write(t, name, entries, []entry{{ikey("1", 0, dbformat.TypeRangeDeletion), []byte("2")}})
		tr := s.open(t, name)
		if got := allEntries(t, tr, nil); !sameEntries(got, want) {
			t.Fatalf("v%d: other entries: %d, %x", version, len(got), got[0].key)
		}
		ro := rocksdb.DefaultReadOptions()
		it := tr.NewIterator(&ro, nil, false, rocksdb.CallerUncategorized, 0, false)
		checkIteration(t, it, want, s.icmp)
		it.Close()
		rt := tr.NewRangeTombstoneIterator(&ro)
		rt.SeekToFirst()
		if k, _ := dbformat.ParseInternalKey(rt.Key(), true); k.Sequence != 77 {
			t.Errorf("v%d: tombstone at %d", version, k.Sequence)
		}
		checkLookupsAt(t, s, tr, want)
		tr.Close()
	}
}

func checkLookupsAt(t *testing.T, s *tableSpec, tr table.TableReader, want []entry) {
	t.Helper()
	ro := rocksdb.DefaultReadOptions()
	var l lookup
	for _, e := range want {
		l.init(s.icmp, dbformat.ExtractUserKey(e.key))
		if err := tr.Get(&ro, e.key, &l.gc, nil, false); err != nil || l.gc.State() != table.GetFound {
			t.Fatal(l.gc.State(), err)
		}
		l.init(s.icmp, dbformat.ExtractUserKey(e.key))
		older := ikey(string(dbformat.ExtractUserKey(e.key)), 76, dbformat.ValueTypeForSeek)
		if err := tr.Get(&ro, older, &l.gc, nil, false); err != nil || l.gc.State() != table.GetNotFound {
			t.Fatal(l.gc.State(), err)
		}
	}
	l.v.Release()
}

func TestCacheTierOnly(t *testing.T) {
	s, tr, entries := cachedTable(t, 1000, nil)
	defer tr.Close()
	s.bbto.BlockCache.EraseUnRefEntries()
	ro := rocksdb.DefaultReadOptions()
	ro.ReadTier = rocksdb.BlockCacheTier
	it := tr.NewIterator(&ro, nil, false, rocksdb.CallerUserIterator, 0, false)
	it.SeekToFirst()
	if it.Valid() || !rocksdb.IsIncomplete(it.Status()) {
		t.Errorf("valid %v, %v", it.Valid(), it.Status())
	}
	it.Close()
	var l lookup
	found := true
	l.init(s.icmp, dbformat.ExtractUserKey(entries[5].key))
	l.gc.Init(&table.GetContextParams{Comparator: s.icmp, UserKey: dbformat.ExtractUserKey(entries[5].key), Value: &l.v,
		MergeContext: &l.mc, DoMerge: true, MaxCoveringTombstoneSeq: &l.seq, ValueFound: &found})
	if err := tr.Get(&ro, entries[5].key, &l.gc, nil, false); !rocksdb.IsIncomplete(err) || found {
		t.Errorf("%v, found %v", err, found)
	}
	l.v.Release()
}

// TestUncache drops the blocks of a file that will be deleted.
func TestUncache(t *testing.T) {
	for _, meta := range []bool{false, true} {
		s, tr, _ := cachedTable(t, 2000, func(s *tableSpec) { s.bbto.CacheIndexAndFilterBlocks = meta })
		if s.bbto.BlockCache.GetUsage() < 100000 {
			t.Errorf("only %d bytes cached", s.bbto.BlockCache.GetUsage())
		}
		tr.MarkObsolete(1000)
		if err := tr.Close(); err != nil {
			t.Error(err)
		}
		if n := s.bbto.BlockCache.GetUsage(); n > 1000 {
			t.Errorf("%d bytes left in the cache", n)
		}
		if n := s.bbto.BlockCache.GetPinnedUsage(); n != 0 {
			t.Errorf("%d bytes pinned", n)
		}
	}
}

// TestNothingStaysPinned closes tables and looks for leaked cache handles.
func TestNothingStaysPinned(t *testing.T) {
	for _, v := range variants() {
		s := newSpec()
		s.bbto.BlockCache = cache.NewLRUCacheOfCapacity(8 << 20)
		v.apply(s)
		c := s.bbto.BlockCache
		if s.bbto.NoBlockCache {
			continue
		}
		rnd := rand.New(rand.NewPCG(3, 3))
		entries := randomEntries(rnd, 300, s.icmp)
		name := filepath.Join(t.TempDir(), "000007.sst")
		s.write(t, name, entries, nil)
		tr := s.open(t, name)
		ro := rocksdb.DefaultReadOptions()
		it := tr.NewIterator(&ro, s.cf.PrefixExtractor, false, rocksdb.CallerUserIterator, 0, false)
		checkIteration(t, it, entries, s.icmp)
		it.Close()
		checkLookups(t, s, tr, entries, rnd)
		if err := tr.DumpTable(&bytes.Buffer{}, true); err != nil {
			t.Error(err)
		}
		tr.Close()
		if n := c.GetPinnedUsage(); n != 0 {
			t.Errorf("%s: %d bytes pinned", v.name, n)
		}
	}
}

func TestBuilderMisuse(t *testing.T) {
	s := newSpec()
	dir := t.TempDir()
	name := filepath.Join(dir, "000007.sst")
	s.write(t, name, nil, nil)
	// Files of unknown format and damaged footers are refused by name.
	if err := os.WriteFile(name, bytes.Repeat([]byte("x"), 500), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := openFile(t, name, &s.bbto, s.icmp, nil)
	if !rocksdb.IsCorruption(err) || !strings.Contains(err.Error(), "000007.sst") {
		t.Errorf("%v", err)
	}
	if err := os.WriteFile(name, []byte("short"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err = openFile(t, name, &s.bbto, s.icmp, nil); !rocksdb.IsCorruption(err) || !strings.Contains(err.Error(), "000007.sst") {
		t.Errorf("%v", err)
	}
}

// countingFile counts reads.
type countingFile struct {
	bytesFile
	reads int
}

func (f *countingFile) Read(offset uint64, n int, o *rocksdb.IOOptions, scratch []byte) ([]byte, error) {
	f.reads++
	return f.bytesFile.Read(offset, n, o, scratch)
}

// TestReadahead scans and counts the reads.
func TestReadahead(t *testing.T) {
	s := newSpec()
	s.bbto.NoBlockCache = true
	var entries []entry
	for i := range 20000 {
		entries = append(entries, entry{ikey(fmt.Sprintf("%08d", i), 1, dbformat.TypeValue), bytes.Repeat([]byte{byte(i)}, 40)})
	}
	name := filepath.Join(t.TempDir(), "000007.sst")
	s.write(t, name, entries, nil)
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name      string
		caller    rocksdb.TableReaderCaller
		compact   uint64
		readahead uint64
		adaptive  bool
		least     int
		most      int
	}{
		{"automatic", rocksdb.CallerUserIterator, 0, 0, false, 5, 40},
		{"adaptive", rocksdb.CallerUserIterator, 0, 0, true, 5, 40},
		{"asked for", rocksdb.CallerUserIterator, 0, 64 << 10, false, 10, 40},
		{"compaction", rocksdb.CallerCompaction, 256 << 10, 0, false, 3, 20},
	} {
		f := &countingFile{bytesFile: bytesFile{data: data}}
		tr := s.openRaw(t, f, len(data))
		blocks := int(tr.GetTableProperties().NumDataBlocks)
		ro := rocksdb.DefaultReadOptions()
		ro.ReadaheadSize, ro.AdaptiveReadahead = c.readahead, c.adaptive
		before := f.reads
		it := tr.NewIterator(&ro, nil, false, c.caller, c.compact, false)
		n := 0
		for it.SeekToFirst(); it.Valid(); it.Next() {
			if !bytes.Equal(it.Value(), entries[n].value) {
				t.Fatalf("%s: entry %d", c.name, n)
			}
			n++
		}
		if n != len(entries) || it.Status() != nil {
			t.Errorf("%s: %d entries, %v", c.name, n, it.Status())
		}
		if got := f.reads - before; got < c.least || got > c.most {
			t.Errorf("%s: %d reads of %d blocks, %d bytes", c.name, got, blocks, len(data))
		}
		it.Close()
		tr.Close()
	}
}

// TestWarmedCache reads blocks that were put in the cache as they were written.
func TestWarmedCache(t *testing.T) {
	for _, partitioned := range []bool{false, true} {
		s := newSpec()
		s.bbto.BlockCache = cache.NewLRUCacheOfCapacity(8 << 20)
		s.bbto.CacheIndexAndFilterBlocks = true
		s.bbto.PrepopulateBlockCache = rocksdb.PrepopulateBlockCacheFlushOnly
		if partitioned {
			s.bbto.IndexType = rocksdb.TwoLevelIndexSearch
		}
		s.compression = rocksdb.LZ4Compression
		s.builder = func(o *table.TableBuilderOptions) { o.Reason = rocksdb.TableFileCreationReasonFlush }
		entries := randomEntries(rand.New(rand.NewPCG(4, 4)), 500, s.icmp)
		name := filepath.Join(t.TempDir(), "000007.sst")
		s.write(t, name, entries, nil)
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		f := &countingFile{bytesFile: bytesFile{data: data}}
		tr := s.openRaw(t, f, len(data))
		before := f.reads
		if !sameEntries(allEntries(t, tr, nil), entries) {
			t.Error("other entries")
		}
		if n := f.reads - before; n != 0 {
			t.Errorf("partitioned %v: %d reads", partitioned, n)
		}
		tr.Close()
	}
}
