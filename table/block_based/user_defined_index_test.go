// No upstream twin: an index of a user's, as table_test.cc's; the cases there need a DB.

package blockbased_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/monitoring"
	"github.com/rocksdb-go/rocksdb/table"
	blockbased "github.com/rocksdb-go/rocksdb/table/block_based"
	"github.com/rocksdb-go/rocksdb/table/format"
	"github.com/rocksdb-go/rocksdb/table/internaliter"
	"github.com/rocksdb-go/rocksdb/util"
)

// listIndex is the last keys of all blocks with their tags and handles.
type listIndex struct {
	blockbased.UserDefinedIndexIteratorBase
	name  string
	seeks *int
}

func (l *listIndex) Name() string { return l.name }

func (l *listIndex) NewBuilder(*blockbased.UserDefinedIndexOption) (blockbased.UserDefinedIndexBuilder, error) {
	return &listBuilder{kinds: map[blockbased.UserDefinedIndexValueType]int{}}, nil
}

func (l *listIndex) NewReader(o *blockbased.UserDefinedIndexOption, b []byte) (blockbased.UserDefinedIndexReader, error) {
	r := &listReader{cmp: o.Comparator, seeks: l.seeks}
	for len(b) > 0 {
		key, rest, ok := util.GetLengthPrefixedSlice(b)
		if !ok {
			return nil, rocksdb.Corruption("bad list index")
		}
		var e listEntry
		e.key = key
		e.tag, rest, ok = util.GetFixed64(rest)
		if !ok {
			return nil, rocksdb.Corruption("bad list index")
		}
		var err error
		if rest, err = e.handle.DecodeFrom(rest); err != nil {
			return nil, err
		}
		r.entries = append(r.entries, e)
		b = rest
	}
	return r, nil
}

type listEntry struct {
	key    []byte
	tag    uint64
	handle format.BlockHandle
}

type listBuilder struct {
	out   []byte
	kinds map[blockbased.UserDefinedIndexValueType]int
}

func (b *listBuilder) AddIndexEntry(last, _ []byte, h format.BlockHandle, ctx blockbased.UserDefinedIndexEntryContext) {
	b.out = util.AppendLengthPrefixedSlice(b.out, last)
	b.out = h.AppendTo(util.AppendFixed64(b.out, ctx.LastKeyTag))
}
func (b *listBuilder) OnKeyAdded(_ []byte, t blockbased.UserDefinedIndexValueType, _ []byte) {
	b.kinds[t]++
}
func (b *listBuilder) Finish() ([]byte, error) { return b.out, nil }
func (b *listBuilder) EstimatedSize() uint64   { return uint64(len(b.out)) }

type listReader struct {
	cmp     rocksdb.Comparator
	entries []listEntry
	seeks   *int
}

func (r *listReader) NewIterator(*rocksdb.ReadOptions) blockbased.UserDefinedIndexIterator {
	return &listIterator{r: r}
}
func (r *listReader) ApproximateMemoryUsage() int { return 64 * len(r.entries) }

type listIterator struct {
	r *listReader
	i int
}

func (it *listIterator) Prepare([]rocksdb.ScanOptions) {}

func (it *listIterator) at(i int, res *internaliter.IterateResult) error {
	it.i = i
	*res = internaliter.IterateResult{}
	if i >= 0 && i < len(it.r.entries) {
		*res = internaliter.IterateResult{Key: it.r.entries[i].key, BoundCheckResult: internaliter.Inbound, ValuePrepared: true}
	}
	return nil
}

func (it *listIterator) SeekToFirstAndGetResult(res *internaliter.IterateResult) error {
	return it.at(0, res)
}
func (it *listIterator) SeekToLastAndGetResult(res *internaliter.IterateResult) error {
	return it.at(len(it.r.entries)-1, res)
}
func (it *listIterator) SeekAndGetResult(target []byte, tag uint64, res *internaliter.IterateResult) error {
	*it.r.seeks++
	return it.at(sort.Search(len(it.r.entries), func(i int) bool {
		e := &it.r.entries[i]
		c := it.r.cmp.Compare(e.key, target)
		return c > 0 || c == 0 && e.tag <= tag // newer comes first
	}), res)
}
func (it *listIterator) NextAndGetResult(res *internaliter.IterateResult) error {
	return it.at(it.i+1, res)
}
func (it *listIterator) PrevAndGetResult(res *internaliter.IterateResult) error {
	return it.at(it.i-1, res)
}
func (it *listIterator) Value() format.BlockHandle { return it.r.entries[it.i].handle }

func TestUserDefinedIndex(t *testing.T) {
	rnd := rand.New(rand.NewPCG(2, 3))
	for _, primary := range []bool{false, true} {
		for _, partitioned := range []bool{false, true} {
			for _, dict := range []bool{false, true} {
				if primary && partitioned {
					continue
				}
				seeks := 0
				s := newSpec()
				udi := &listIndex{name: "list", seeks: &seeks}
				s.bbto.UserDefinedIndexFactory, s.bbto.UseUDIAsPrimaryIndex, s.bbto.FailIfNoUDIOnOpen = udi, primary, true
				if partitioned {
					s.bbto.IndexType = rocksdb.TwoLevelIndexSearch
				}
				if dict {
					s.compression, s.copts.MaxDictBytes = rocksdb.ZSTD, 1024
				}
				entries := randomEntries(rnd, 400, s.icmp)
				name := filepath.Join(t.TempDir(), "000007.sst")
				s.write(t, name, entries, nil)
				tr := s.open(t, name)
				if got := tr.GetTableProperties().UDIIsPrimaryIndex == 1; got != primary {
					t.Errorf("property %v", got)
				}
				for _, ask := range []bool{false, true} {
					seeks = 0
					ro := rocksdb.DefaultReadOptions()
					if ask {
						ro.TableIndexFactory = udi
					}
					it := tr.NewIterator(&ro, nil, false, rocksdb.CallerUserIterator, 0, false)
					checkIteration(t, it, entries, s.icmp)
					it.Close()
					if used := seeks > 0; used != (ask || primary) {
						t.Errorf("asked %v, primary %v: %d seeks", ask, primary, seeks)
					}
					var l lookup
					for _, e := range entries {
						l.init(s.icmp, dbformat.ExtractUserKey(e.key))
						p, _ := dbformat.ParseInternalKey(e.key, true)
						if err := tr.Get(&ro, e.key, &l.gc, nil, false); err != nil {
							t.Fatal(err)
						}
						state, v := expected(entries, p.UserKey, p.Sequence, s.icmp)
						if l.gc.State() != state || state == table.GetFound && !bytes.Equal(l.v.Data(), v) {
							t.Fatalf("Get %q: state %v, not %v", p.UserKey, l.gc.State(), state)
						}
					}
					l.v.Release()
				}
				ro := rocksdb.DefaultReadOptions()
				if err := tr.VerifyChecksum(&ro, rocksdb.CallerUncategorized, false); err != nil {
					t.Error(err)
				}
				if !primary {
					ro.TableIndexFactory = &listIndex{name: "another", seeks: &seeks}
					it := tr.NewIterator(&ro, nil, false, rocksdb.CallerUserIterator, 0, false)
					it.SeekToFirst()
					if it.Valid() || it.Status() == nil || !strings.Contains(it.Status().Error(), "Bad index name: another") {
						t.Errorf("valid %v, %v", it.Valid(), it.Status())
					}
					it.Close()
				}
				if err := tr.Close(); err != nil {
					t.Error(err)
				}
			}
		}
	}
}

func TestUserDefinedIndexMissing(t *testing.T) {
	seeks := 0
	s := newSpec()
	name := filepath.Join(t.TempDir(), "000007.sst")
	var entries []entry
	for i := range 100 {
		entries = append(entries, entry{ikey(fmt.Sprintf("%04d", i), 1, dbformat.TypeValue), []byte("v")})
	}
	s.write(t, name, entries, nil)
	s.db.Statistics = monitoring.CreateDBStatistics()
	s.bbto.UserDefinedIndexFactory = &listIndex{name: "list", seeks: &seeks}
	tr := s.open(t, name)
	if got := allEntries(t, tr, nil); !sameEntries(got, entries) {
		t.Errorf("%d entries", len(got))
	}
	if n := s.db.Statistics.GetTickerCount(rocksdb.SSTUserDefinedIndexLoadFailCount); n != 1 {
		t.Errorf("%d failures counted", n)
	}
	tr.Close()
	s.bbto.FailIfNoUDIOnOpen = true
	if _, err := openFile(t, name, &s.bbto, s.icmp, nil); !rocksdb.IsCorruption(err) {
		t.Errorf("%v", err)
	}
	// What does not go together.
	for what, change := range map[string]func(*rocksdb.BlockBasedTableOptions, *rocksdb.ColumnFamilyOptions){
		"parallel compression": func(_ *rocksdb.BlockBasedTableOptions, cf *rocksdb.ColumnFamilyOptions) {
			cf.CompressionOpts.ParallelThreads = 4
		},
		"partitioned index": func(o *rocksdb.BlockBasedTableOptions, _ *rocksdb.ColumnFamilyOptions) {
			o.UseUDIAsPrimaryIndex, o.IndexType = true, rocksdb.TwoLevelIndexSearch
		},
		"user_defined_index_factory": func(o *rocksdb.BlockBasedTableOptions, _ *rocksdb.ColumnFamilyOptions) {
			o.UseUDIAsPrimaryIndex, o.UserDefinedIndexFactory = true, nil
		},
	} {
		o, cf, db := s.bbto, rocksdb.DefaultColumnFamilyOptions(), rocksdb.DefaultDBOptions()
		change(&o, &cf)
		err := blockbased.NewBlockBasedTableFactory(&o).ValidateOptions(&db, &cf)
		if err == nil || rocksdb.AsStatus(err).Code != rocksdb.CodeInvalidArgument || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
