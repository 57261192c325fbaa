// Port of table/block_based/full_filter_block_test.cc.

package blockbased

import (
	"testing"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/table/block_based/block"
	"github.com/rocksdb-go/rocksdb/table/format"
	"github.com/rocksdb-go/rocksdb/util"
)

// hashListFilter is a policy of a user: a list of hashes.
type hashListFilter struct{}

func (hashListFilter) Name() string              { return "TestHashFilter" }
func (hashListFilter) CompatibilityName() string { return "TestHashFilter" }
func (hashListFilter) ID() string                { return "TestHashFilter" }
func (hashListFilter) GetBuilderWithContext(*rocksdb.FilterBuildingContext) rocksdb.FilterBitsBuilder {
	return &hashListBuilder{}
}
func (hashListFilter) GetFilterBitsReader(contents []byte) rocksdb.FilterBitsReader {
	return hashListReader(contents)
}

type hashListBuilder struct{ hashes []byte }

func (b *hashListBuilder) AddKey(key []byte) {
	b.hashes = util.AppendFixed32(b.hashes, util.Hash(key, 1))
}
func (b *hashListBuilder) AddKeyAndAlt(key, alt []byte)        { b.AddKey(key); b.AddKey(alt) }
func (b *hashListBuilder) EstimateEntriesAdded() int           { return len(b.hashes) / 4 }
func (b *hashListBuilder) Finish() ([]byte, error)             { return b.hashes, nil }
func (b *hashListBuilder) CalculateSpace(n int) int            { return n * 4 }
func (b *hashListBuilder) ApproximateNumEntries(bytes int) int { return bytes / 4 }

type hashListReader []byte

func (r hashListReader) MayMatch(key []byte) bool { return r.HashMayMatch(uint64(util.Hash(key, 1))) }
func (r hashListReader) HashMayMatch(h uint64) bool {
	for i := 0; i+4 <= len(r); i += 4 {
		if util.DecodeFixed32(r[i:]) == uint32(h) {
			return true
		}
	}
	return false
}
func (r hashListReader) MayMatchBatch(keys [][]byte, may []bool) {
	for i, k := range keys {
		may[i] = r.MayMatch(k)
	}
}

func bitsBuilder(p rocksdb.FilterPolicy) rocksdb.FilterBitsBuilder {
	o := rocksdb.DefaultBlockBasedTableOptions()
	return p.GetBuilderWithContext(&rocksdb.FilterBuildingContext{TableOptions: &o, LevelAtCreation: -1, NumLevels: -1})
}

// fullReader reads a filter that a builder made.
func fullReader(t *testing.T, p rocksdb.FilterPolicy, b FilterBlockBuilder) *fullFilterReader {
	t.Helper()
	contents, more, err := b.Finish(format.BlockHandle{})
	if err != nil || more {
		t.Fatal(more, err)
	}
	o := rocksdb.DefaultBlockBasedTableOptions()
	o.FilterPolicy = p
	c := blockCreateContext{opts: &o}
	f := &fullFilterReader{}
	var e block.CachableEntry[*ParsedFullFilterBlock]
	e.SetOwnedValue(c.parseFilter(format.BlockContents{Data: contents}))
	f.entry = e
	return f
}

func matchesFull(f *fullFilterReader, key string) bool {
	ro := rocksdb.DefaultReadOptions()
	return f.mayMatch(&readContext{ro: &ro}, []byte(key), nil)
}

func checkEmptyFilter(t *testing.T, p rocksdb.FilterPolicy) {
	t.Helper()
	b := newFullFilterBlockBuilder(nil, true, bitsBuilder(p))
	f := fullReader(t, p, b)
	if n := len(f.entry.Value().contents.Data); n != 0 {
		t.Errorf("%d bytes", n)
	}
	if !matchesFull(f, "foo") {
		t.Error("an empty filter does not match")
	}
}

func checkSingleChunk(t *testing.T, p rocksdb.FilterPolicy, b *fullFilterBlockBuilder) {
	t.Helper()
	f := fullReader(t, p, b)
	for key, want := range map[string]bool{"foo": true, "bar": true, "box": true, "hello": true, "missing": false, "other": false} {
		if matchesFull(f, key) != want {
			t.Errorf("%s: matches %v", key, !want)
		}
	}
}

func addSingleChunk(b *fullFilterBlockBuilder) {
	prev := ""
	for _, k := range []string{"foo", "bar", "box", "box", "hello"} {
		b.AddWithPrevKey([]byte(k), []byte(prev))
		prev = k
	}
}

func TestPluginFullFilterBlockTest_PluginEmptyBuilder(t *testing.T) {
	checkEmptyFilter(t, hashListFilter{})
}

func TestPluginFullFilterBlockTest_PluginSingleChunk(t *testing.T) {
	b := newFullFilterBlockBuilder(nil, true, bitsBuilder(hashListFilter{}))
	addSingleChunk(b)
	checkSingleChunk(t, hashListFilter{}, b)
}

func TestFullFilterBlockTest_EmptyBuilder(t *testing.T) {
	checkEmptyFilter(t, NewBloomFilterPolicy(10))
}

// uniqueCounter counts the different things that are added.
type uniqueCounter struct {
	rocksdb.FilterBitsBuilder
	seen map[string]bool
}

func (u *uniqueCounter) AddKey(key []byte) {
	u.FilterBitsBuilder.AddKey(key)
	u.seen[string(key)] = true
}

func (u *uniqueCounter) AddKeyAndAlt(key, alt []byte) {
	u.FilterBitsBuilder.AddKeyAndAlt(key, alt)
	u.seen[string(key)], u.seen[string(alt)] = true, true
}

func TestFullFilterBlockTest_DuplicateEntries(t *testing.T) {
	u := &uniqueCounter{bitsBuilder(NewBloomFilterPolicy(10)), map[string]bool{}}
	b := newFullFilterBlockBuilder(util.NewFixedPrefixTransform(0), true, u)
	for i, c := range []struct {
		key  string
		want int
	}{{"key1", 2}, {"key2", 3}, {"", 3}} {
		b.Add([]byte(c.key))
		if len(u.seen) != c.want {
			t.Errorf("key %d: %d", i, len(u.seen))
		}
	}
	u = &uniqueCounter{bitsBuilder(NewBloomFilterPolicy(10)), map[string]bool{}}
	b = newFullFilterBlockBuilder(util.NewFixedPrefixTransform(7), true, u)
	for _, k := range []string{"", "prefix1key1", "prefix1key1", "prefix1key2", "prefix1key3", "prefix2key4"} {
		b.Add([]byte(k))
	}
	if len(u.seen) != 1+2+4 {
		t.Errorf("%d different", len(u.seen))
	}
}

func TestFullFilterBlockTest_SingleChunk(t *testing.T) {
	p := NewBloomFilterPolicy(10)
	b := newFullFilterBlockBuilder(nil, true, bitsBuilder(p))
	if !b.IsEmpty() {
		t.Error("not empty")
	}
	addSingleChunk(b)
	if b.IsEmpty() || b.EstimateEntriesAdded() != 4 {
		t.Errorf("%d entries", b.EstimateEntriesAdded())
	}
	checkSingleChunk(t, p, b)
}
