// Port of table/plain/plain_table_factory.cc's registration of memtable
// factories, and of their option tables.

package memtable

import (
	"strconv"
	"strings"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
	"github.com/rocksdb-go/rocksdb/utilities/registry"
)

// RegisterBuiltinMemTableRepFactory puts the containers into a library, and
// gives their number. They go by name or nickname, each with an optional number
// behind a colon: "skip_list:16" (lookahead), "vector:1024" (count),
// "prefix_hash:1000" and "hash_linkedlist:1000" (buckets).
func RegisterBuiltinMemTableRepFactory(l *registry.Library) int {
	add := func(name, nickName string, make func(n int) MemTableRepFactory) {
		entry := registry.NewPatternEntry(name).AnotherName(nickName).AddNumber(":", true)
		l.AddPattern(registry.KindMemTableRepFactory, entry, func(_ *rocksdb.ConfigOptions, id string) (any, error) {
			_, number, found := strings.Cut(id, ":")
			if !found {
				return make(0), nil
			}
			n, err := util.ParseInt(number)
			if err != nil || n < 0 {
				return nil, rocksdb.InvalidArgument("memtable factory", id)
			}
			return make(n), nil
		})
	}
	add("VectorRepFactory", "vector", func(n int) MemTableRepFactory { return NewVectorRepFactory(n) })
	add("SkipListFactory", "skip_list", func(n int) MemTableRepFactory { return NewSkipListFactory(n) })
	add("HashLinkListRepFactory", "hash_linkedlist", func(n int) MemTableRepFactory { return NewHashLinkListRepFactory(n) })
	add("HashSkipListRepFactory", "prefix_hash", func(n int) MemTableRepFactory { return NewHashSkipListRepFactory(n, 0, 0) })
	l.AddFactory(registry.KindMemTableRepFactory, "cuckoo", func(*rocksdb.ConfigOptions, string) (any, error) {
		return nil, rocksdb.NotSupported("cuckoo hash memtable is not supported anymore.")
	})
	return l.GetFactoryCount(registry.KindMemTableRepFactory)
}

var (
	_ rocksdb.StringConfigurable = (*SkipListFactory)(nil)
	_ rocksdb.StringConfigurable = (*VectorRepFactory)(nil)
	_ rocksdb.StringConfigurable = (*HashSkipListRepFactory)(nil)
	_ rocksdb.StringConfigurable = (*HashLinkListRepFactory)(nil)
)

// setInt parses a size or a count, at least 0, into p.
func setInt(p *int, name, value string) error {
	n, err := util.ParseInt(value)
	if err != nil || n < 0 {
		return rocksdb.InvalidArgument("option "+name, value)
	}
	*p = n
	return nil
}

func unknownOption(name string) error { return rocksdb.NotFound("Could not find option", name) }

// ConfigureOption knows "lookahead".
func (f *SkipListFactory) ConfigureOption(_ *rocksdb.ConfigOptions, name, value string) error {
	if name == "lookahead" {
		return setInt(&f.Lookahead, name, value)
	}
	return unknownOption(name)
}

// OptionPairs is empty: the lookahead is part of the ID.
func (f *SkipListFactory) OptionPairs() []rocksdb.OptionPair { return nil }

// ConfigureOption knows "count".
func (f *VectorRepFactory) ConfigureOption(_ *rocksdb.ConfigOptions, name, value string) error {
	if name == "count" {
		return setInt(&f.Count, name, value)
	}
	return unknownOption(name)
}

// OptionPairs has the count.
func (f *VectorRepFactory) OptionPairs() []rocksdb.OptionPair {
	return []rocksdb.OptionPair{{Name: "count", Value: strconv.Itoa(f.Count)}}
}

// ConfigureOption knows "bucket_count", "skiplist_height" and
// "branching_factor".
func (f *HashSkipListRepFactory) ConfigureOption(_ *rocksdb.ConfigOptions, name, value string) error {
	switch name {
	case "bucket_count":
		return setInt(&f.BucketCount, name, value)
	case "skiplist_height":
		return setInt(&f.SkiplistHeight, name, value)
	case "branching_factor":
		return setInt(&f.SkiplistBranchingFactor, name, value)
	}
	return unknownOption(name)
}

// OptionPairs has the three.
func (f *HashSkipListRepFactory) OptionPairs() []rocksdb.OptionPair {
	return []rocksdb.OptionPair{
		{Name: "branching_factor", Value: strconv.Itoa(f.SkiplistBranchingFactor)},
		{Name: "bucket_count", Value: strconv.Itoa(f.BucketCount)},
		{Name: "skiplist_height", Value: strconv.Itoa(f.SkiplistHeight)},
	}
}

// ConfigureOption knows "bucket_count", "threshold", "huge_page_size",
// "logging_threshold" and "log_when_flash" (upstream's spelling).
func (f *HashLinkListRepFactory) ConfigureOption(_ *rocksdb.ConfigOptions, name, value string) error {
	switch name {
	case "bucket_count":
		return setInt(&f.BucketCount, name, value)
	case "huge_page_size":
		return setInt(&f.HugePageTLBSize, name, value)
	case "logging_threshold":
		return setInt(&f.BucketEntriesLoggingThreshold, name, value)
	case "threshold":
		n, err := util.ParseUint32(value)
		if err != nil {
			return rocksdb.InvalidArgument("option "+name, value)
		}
		f.ThresholdUseSkiplist = n
		return nil
	case "log_when_flash":
		on, err := util.ParseBoolean(name, value)
		if err != nil {
			return err
		}
		f.IfLogBucketDistWhenFlush = on
		return nil
	}
	return unknownOption(name)
}

// OptionPairs has the five.
func (f *HashLinkListRepFactory) OptionPairs() []rocksdb.OptionPair {
	return []rocksdb.OptionPair{
		{Name: "bucket_count", Value: strconv.Itoa(f.BucketCount)},
		{Name: "huge_page_size", Value: strconv.Itoa(f.HugePageTLBSize)},
		{Name: "log_when_flash", Value: strconv.FormatBool(f.IfLogBucketDistWhenFlush)},
		{Name: "logging_threshold", Value: strconv.Itoa(f.BucketEntriesLoggingThreshold)},
		{Name: "threshold", Value: strconv.FormatUint(uint64(f.ThresholdUseSkiplist), 10)},
	}
}
