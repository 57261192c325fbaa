// No upstream twin: the cells of the compatibility matrix.

package compat

import (
	"bytes"
	"crypto/md5"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/util/compression"
)

// cell is one way to write a table.
type cell struct {
	version                                                uint32
	compression, dict, checksum, filter, index, dataBlocks string
}

var (
	compressions = []string{"none", "snappy", "zlib", "bzip2", "lz4", "lz4hc", "zstd"}
	checksums    = []string{"none", "crc32c", "xxHash", "xxHash64", "XXH3"}
	filters      = []string{"none", "bloom", "bloom of prefixes", "ribbon"}
	// otherFilters are not crossed with the rest.
	otherFilters = []string{"ribbon above level 0", "bloom not sized for memory"}
	partitioned  = []string{"partitioned bloom", "partitioned ribbon", "decoupled bloom"}
	indexes      = []string{"binary search", "hash", "two levels", "first key"}
	// dataBlockKinds are not crossed with checksums, filters and indexes.
	dataBlockKinds = []string{"hash index", separated, "no delta encoding", "aligned", "parallel compression",
		"super-block aligned", uniform, "index not compressed", autoSkip, mixed, costAware, "unused dictionary"}
)

// The kinds that need a compression manager, and those that few engines read.
const (
	autoSkip  = "auto-skip manager"
	mixed     = "mixed manager"
	costAware = "cost-aware manager"
	uniform   = "uniform blocks, interpolation"
	separated = "separated keys and values"
)

// apart tells whether a kind of data block is one that few engines read.
func apart(kind string) bool { return kind == separated || kind == uniform || kind == mixed }

// makes tells whether a cell with that kind of data block can be.
func makes(kind, compression, dict string) bool {
	switch kind {
	case "aligned":
		return compression == "none" // all engines refuse others
	case "unused dictionary":
		return compression == "snappy" || compression == "bzip2"
	case autoSkip:
		return compression != "none"
	case mixed, costAware:
		return compression == "zstd" && dict == "none"
	}
	return true
}

func dicts(compression string) []string {
	switch compression {
	case "zlib", "lz4", "lz4hc":
		return []string{"none", "samples"}
	case "zstd":
		return []string{"none", "samples", "trained", "finalized"}
	}
	return []string{"none"}
}

// group is the cells that go into one database: those of a format version and
// compression, or those of a version that most engines cannot read.
type group struct {
	version     uint32
	compression string // or separated
}

func groupsOf(versions []uint32) (gs []group) {
	for _, v := range versions {
		for _, c := range compressions {
			gs = append(gs, group{v, c})
		}
		gs = append(gs, group{v, separated})
	}
	return gs
}

// cells lists the group's.
func (g group) cells() (cells []cell) {
	if g.compression != separated {
		for _, c := range cellsOf(g.version, g.compression) {
			if !apart(c.dataBlocks) {
				cells = append(cells, c)
			}
		}
		return cells
	}
	for _, compression := range compressions {
		for _, c := range cellsOf(g.version, compression) {
			if apart(c.dataBlocks) {
				cells = append(cells, c)
			}
		}
	}
	return cells
}

// cellsOf lists the cells of one format version and compression.
func cellsOf(version uint32, compression string) (cells []cell) {
	for _, dict := range dicts(compression) {
		base := cell{version, compression, dict, "XXH3", "bloom", "binary search", "plain"}
		for _, checksum := range checksums {
			for _, index := range indexes {
				fs := filters
				if index == "two levels" {
					fs = append(append([]string{}, filters...), partitioned...)
				}
				for _, filter := range fs {
					c := base
					c.checksum, c.index, c.filter = checksum, index, filter
					cells = append(cells, c)
				}
			}
		}
		for _, kind := range dataBlockKinds {
			if makes(kind, compression, dict) {
				c := base
				c.dataBlocks = kind
				cells = append(cells, c)
			}
		}
		for _, filter := range otherFilters {
			c := base
			c.filter = filter
			cells = append(cells, c)
		}
	}
	return cells
}

func indexOf(list []string, s string) int {
	for i := range list {
		if list[i] == s {
			return i
		}
	}
	panic("compat: " + s)
}

var compressionTypes = map[string]rocksdb.CompressionType{
	"none": rocksdb.NoCompression, "snappy": rocksdb.SnappyCompression, "zlib": rocksdb.ZlibCompression,
	"bzip2": rocksdb.BZip2Compression, "lz4": rocksdb.LZ4Compression, "lz4hc": rocksdb.LZ4HCCompression, "zstd": rocksdb.ZSTD,
}

// tableOptions gives the cell's options of a table.
func (c *cell) tableOptions() rocksdb.BlockBasedTableOptions {
	o := rocksdb.DefaultBlockBasedTableOptions()
	o.FormatVersion = c.version
	o.Checksum = rocksdb.ChecksumType(indexOf(checksums, c.checksum))
	o.IndexType = []rocksdb.IndexType{rocksdb.BinarySearch, rocksdb.HashSearch, rocksdb.TwoLevelIndexSearch,
		rocksdb.BinarySearchWithFirstKey}[indexOf(indexes, c.index)]
	o.BlockSize, o.MetadataBlockSize = 512, 128
	switch c.filter {
	case "bloom", "partitioned bloom", "decoupled bloom":
		o.FilterPolicy = rocksdb.NewBloomFilterPolicy(10)
	case "bloom of prefixes":
		o.FilterPolicy, o.WholeKeyFiltering = rocksdb.NewBloomFilterPolicy(10), false
	case "ribbon", "partitioned ribbon":
		o.FilterPolicy = rocksdb.NewRibbonFilterPolicy(10, -1)
	case "ribbon above level 0":
		o.FilterPolicy = rocksdb.NewRibbonFilterPolicy(10, 1) // flushes make Bloom filters
	case "bloom not sized for memory":
		o.FilterPolicy, o.OptimizeFiltersForMemory = rocksdb.NewBloomFilterPolicy(10), false
	}
	if slices.Contains(partitioned, c.filter) {
		o.PartitionFilters, o.DecouplePartitionedFilters = true, c.filter == "decoupled bloom"
	}
	switch c.dataBlocks {
	case "hash index":
		o.DataBlockIndexType = rocksdb.DataBlockBinaryAndHash
	case separated:
		o.SeparateKeyValueInDataBlock = true
	case "no delta encoding":
		o.UseDeltaEncoding = false
	case "aligned":
		o.BlockAlign = true
	case "super-block aligned":
		o.SuperBlockAlignmentSize, o.SuperBlockAlignmentSpaceOverheadRatio = 4096, 4
	case uniform:
		o.UniformCVThreshold, o.IndexBlockSearchType = 1, rocksdb.BlockSearchInterpolation
	case "index not compressed":
		o.EnableIndexCompression = false
	}
	return o
}

// manager gives the cell's compression manager, nil for the usual one.
func (c *cell) manager() rocksdb.CompressionManager {
	switch c.dataBlocks {
	case autoSkip:
		return rocksdb.CreateAutoSkipCompressionManager(nil)
	case mixed:
		return compression.NewRoundRobinManager(nil)
	case costAware:
		return rocksdb.CreateCostAwareCompressionManager(nil)
	}
	return nil
}

func (c *cell) compressionOpts() rocksdb.CompressionOptions {
	o := rocksdb.DefaultCompressionOptions()
	switch c.dict {
	case "samples":
		o.MaxDictBytes = 2048
	case "trained":
		o.MaxDictBytes, o.ZSTDMaxTrainBytes = 2048, 16384
	case "finalized":
		o.MaxDictBytes, o.ZSTDMaxTrainBytes, o.UseZSTDDictTrainer = 2048, 16384, false
	}
	switch c.dataBlocks {
	case "parallel compression":
		o.ParallelThreads = 2
	case "unused dictionary":
		o.MaxDictBytes = 2048
	}
	return o
}

// prefixSize is how much of a key names its cell.
const prefixSize = 6

func cellPrefix(i int) string { return fmt.Sprintf("c%05d", i) }

// prefixExtractor gives ten keys of a cell one prefix.
func prefixExtractor() rocksdb.SliceTransform { return rocksdb.NewFixedPrefixTransform(prefixSize + 2) }

// entry is a key with its value; a nil value means deleted.
type entry struct{ key, value []byte }

// entriesOf gives what is put into cell i.
func entriesOf(i int) (entries []entry) {
	r := rand.New(rand.NewPCG(uint64(i), 77))
	words := []string{"storage ", "engine ", "compaction ", "memtable ", "of levels ", "block ", "filter "}
	for k := range 80 {
		var v []byte
		for len(v) < 40+r.IntN(60) {
			v = append(v, words[r.IntN(len(words))]...)
		}
		entries = append(entries, entry{fmt.Appendf(nil, "%s%03d", cellPrefix(i), k), v})
	}
	return entries
}

// kept tells whether key k of a cell is there after its deletions: one of a
// key, one of a range.
func kept(k int) bool { return k != 7 && (k < 20 || k >= 24) }

// asked are the keys of a cell that are looked up: some that are there, and
// the last is not.
var asked = []int{0, 9, 19, 24, 43, 79, 7}

// sums is what a reader has of a cell.
type sums struct {
	N   int    `json:"n"`
	MD5 string `json:"md5"`
}

// expected gives what reading cell i has to give; only for the keys that with
// names.
func expected(entries []entry, with func(int) bool) sums {
	var b bytes.Buffer
	n := 0
	for k, e := range entries {
		if with(k) {
			fmt.Fprintf(&b, "0x%X ==> 0x%X\n", e.key, e.value)
			n++
		}
	}
	return sums{n, sumOf(b.Bytes())}
}

func sumOf(b []byte) string {
	s := md5.Sum(b)
	return hex.EncodeToString(s[:])
}
