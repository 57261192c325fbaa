// No upstream twin: names that an engineer looks up.

package xref

import (
	"fmt"
	"hash/fnv"
	"sort"
	"strings"
	"sync"
	"testing"
)

var opened struct {
	sync.Once
	ref *Ref
	err error
}

// ref opens this module's cross-reference once for all tests.
func ref(t *testing.T) *Ref {
	t.Helper()
	opened.Do(func() { opened.ref, opened.err = Open("../..") })
	if opened.err != nil {
		t.Fatal(opened.err)
	}
	return opened.ref
}

func TestWhere(t *testing.T) {
	r := ref(t)
	for _, x := range []struct{ name, spot, rule string }{
		{"DBImpl::WriteImpl", "db/db_impl/db_impl_write.go (*DBImpl).writeImpl", "same name"},
		{"rocksdb::DBImpl::WriteImpl()", "db/db_impl/db_impl_write.go (*DBImpl).writeImpl", "same name"},
		{"kTypeDeletion", "db/dbformat/dbformat.go TypeDeletion", "same name"},
		{"BLOCK_CACHE_MISS", "include/rocksdb/statistics.go BlockCacheMiss", "order"},
		{"rocksdb.block.cache.miss", "include/rocksdb/statistics.go BlockCacheMiss", "order"},
		{"write_buffer_size", "options/cf_options_rows.go cfOptionsTable", "row of the option table"},
		{"max_background_jobs", "options/db_options_rows.go dbOptionsTable", "row of the option table"},
		{"memtable_op_scan_flush_trigger", "options/cf_options_rows.go cfOptionsTable", "row of the option table"},
		{"rocksdb.num-running-flushes", "include/rocksdb/properties.go PropertyNumRunningFlushes", "property"},
		{"env/fs_posix.cc", "env/fs_posix.go package env", "split"},
		{"db/db_iter.cc", "db/dbiter/db_iter.go package dbiter", "split"},
		{"ldb dump_wal", "tools/ldb_cmd_table.go", "ldb"},
		{"db_bench --num", "tools/db_bench/flags.go Flags.Num", "db_bench"},
		{"sst_dump --show_properties", "tools/sst_dump_args.go", "sst_dump"},
		{"kNoSpace", "include/rocksdb/status.go SubCodeNoSpace", "same name"},
		{"user_key_comparison_count", "include/rocksdb/perf_context.go PerfCounters.UserKeyComparisonCount", "same name"},
		{"DBBasicTest.OpenWhenOpen", "db/db_basic_test.go TestDBBasicTest_OpenWhenOpen", "mirrored test"},
		{"DBIter::FindNextUserEntryInternal", "db/dbiter/db_iter.go (*DBIter).findNextUserEntry", ""},
		{"VersionStorageInfo::ComputeCompactionScore", "db/version/", "header line"},
		{"LevelIterator::Prepare", "(*LevelIterator).Prepare", ""},
		{"log::Reader::ReadPhysicalRecord", "db/wal/", ""},
		{"HistogramBucketMapper::IndexForValue", "monitoring/histogram.go", ""},
		{"BlockBuilder::BlockBuilder", "table/block_based/block/block_builder.go", ""},
	} {
		a := r.Where(x.name)
		if !placedAt(&a, x.spot, x.rule) {
			t.Errorf("%s: %s", x.name, describe(&a))
		}
	}
}

// placedAt tells whether one of the places has all the words of spot, by a rule
// with the text.
func placedAt(a *Answer, spot, rule string) bool {
	for _, p := range a.Upstream {
		for _, s := range p.Spots {
			ok := strings.Contains(p.Rule, rule)
			for _, w := range strings.Fields(spot) {
				ok = ok && strings.Contains(s.String(), w)
			}
			if ok {
				return true
			}
		}
	}
	return false
}

func describe(a *Answer) string {
	var b strings.Builder
	for _, p := range a.Upstream {
		fmt.Fprintf(&b, "%s %s: %v [%s] %s; ", p.Kind, p.Name, p.Spots, p.Rule, p.Why)
	}
	fmt.Fprintf(&b, "%v %v", a.Go, a.Nearest)
	return b.String()
}

func TestWhereNot(t *testing.T) {
	r := ref(t)
	for _, x := range []struct{ name, want string }{
		{"DBImpl::WriteImpll", "DBImpl::WriteImpl"}, // nearest
		{"port/win/env_win.cc", "not ported"},
		{"WritePreparedTxnDB::Initialize", "not ported"},
		{"rocksdb_open", "not ported"},
	} {
		a := r.Where(x.name)
		if a.Found() && len(a.Nearest) == 0 {
			t.Errorf("%s is found: %s", x.name, describe(&a))
		}
		if !strings.Contains(describe(&a), x.want) {
			t.Errorf("%s: %s, want %q", x.name, describe(&a), x.want)
		}
	}
}

func TestReverse(t *testing.T) {
	r := ref(t)
	for _, x := range []struct{ name, want string }{
		{"(*StorageInfo).ComputeCompactionScore", "VersionStorageInfo::ComputeCompactionScore"},
		{"dbiter.DBIter", "db/db_iter.h DBIter"},
		{"db/dbiter.DBIter", "db/db_iter.h DBIter"},
		{"(*DBImpl).writeImpl", "db/db_impl/db_impl_write.cc DBImpl::WriteImpl"},
		{"TestDBBasicTest_OpenWhenOpen", "db/db_basic_test.cc DBBasicTest.OpenWhenOpen"},
		{"db/dbiter/db_iter.go", "db/db_iter.cc"},
		{"dbformat.TypeDeletion", "db/dbformat.h ValueType::kTypeDeletion"},
	} {
		a := r.Where(x.name)
		found := false
		for _, g := range a.Go {
			for _, u := range g.Upstream {
				ok := true
				for _, w := range strings.Fields(x.want) {
					ok = ok && strings.Contains(u.String(), w)
				}
				found = found || ok
			}
		}
		if !found {
			t.Errorf("%s: %s", x.name, describe(&a))
		}
	}
}

// TestDraw draws 300 names from the files that are marked ported: at least 95 of
// 100 are placed. The draw takes the names with the least hashes, so that a
// change of one file changes it little.
func TestDraw(t *testing.T) {
	r := ref(t)
	var pool []Symbol
	for _, f := range r.Up.Files {
		if sourceFile(f.Kind) && r.isPorted(f.Path) && r.FileStatus(f).State == StatePorted {
			pool = append(pool, r.Names(f.Path)...)
		}
	}
	const seed, n = "draw 1 ", 300
	key := func(s Symbol) uint64 {
		h := fnv.New64a()
		h.Write([]byte(seed + s.File + " " + s.Name))
		return h.Sum64()
	}
	sort.Slice(pool, func(i, j int) bool { return key(pool[i]) < key(pool[j]) })
	if len(pool) < 5*n {
		t.Fatalf("%d names in ported files", len(pool))
	}
	placed := 0
	for _, s := range pool[:n] {
		if p := r.Symbol(s); p.Placed() {
			placed++
		} else {
			t.Logf("not placed: %s %s: %s", s.File, s.Name, p.Why)
		}
	}
	t.Logf("%d of %d names placed, drawn from %d", placed, n, len(pool))
	if placed*100 < 95*n {
		t.Errorf("only %d of %d names are placed", placed, n)
	}
}

// TestThisModule holds that nothing is found wrong with this module. The counts
// and the docs are for the command alone, which runs in make check as well.
func TestThisModule(t *testing.T) {
	for _, f := range ref(t).Check() {
		t.Error(f)
	}
}
