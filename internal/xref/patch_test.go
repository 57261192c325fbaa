// No upstream twin: diffs of upstream's paths and function names, with lines of
// our own.

package xref

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Four changes of upstream that this module took over: what they touch, told in
// lines of our own.
var seeds = map[string]string{
	// Prepare goes to all files of a level at once.
	"#14100": `commit 0000000000000000000000000000000000000001
Author: A <a@example.org>

    all iterators of a level get ready at once (#14100)

diff --git a/db/db_iterator_test.cc b/db/db_iterator_test.cc
index 1111111111..2222222222 100644
--- a/db/db_iterator_test.cc
+++ b/db/db_iterator_test.cc
@@ -4736,2 +4742,5 @@ TEST_P(DBMultiScanIteratorTest, ReseekAcrossBlocksSameUserKey) {
   one_more_line();
 }
+TEST_P(DBMultiScanIteratorTest, AllFilesOfALevelReady) {
+  expect_ready();
+}
diff --git a/db/version_set.cc b/db/version_set.cc
index 1111111111..2222222222 100644
--- a/db/version_set.cc
+++ b/db/version_set.cc
@@ -983,3 +984,4 @@ class LevelIterator final : public InternalIterator {
   LevelIterator(
       sample arguments)
-      : one(one) {}
+      : one(one),
+        two(two) {}
@@ -1676,2 +1722,2 @@ void LevelIterator::SkipEmptyFileBackward() {
-  old_way();
+  new_way();
   rest();
@@ -1731,1 +1769,4 @@ void LevelIterator::InitFileIterator(size_t new_file_index) {
   rest();
+  if (ready_ahead()) {
+    take_ready();
+  }
@@ -2335,2 +2389,2 @@ void Version::AddIteratorsForLevel(const ReadOptions& read_options,
-  old_arguments();
+  new_arguments();
   rest();
diff --git a/include/rocksdb/statistics.h b/include/rocksdb/statistics.h
index 1111111111..2222222222 100644
--- a/include/rocksdb/statistics.h
+++ b/include/rocksdb/statistics.h
@@ -694,1 +695,2 @@ enum Histograms : uint32_t {
   SOME_HISTOGRAM,
+  MULTISCAN_PREPARE_ITERATORS,
diff --git a/monitoring/statistics.cc b/monitoring/statistics.cc
index 1111111111..2222222222 100644
--- a/monitoring/statistics.cc
+++ b/monitoring/statistics.cc
@@ -354,1 +355,2 @@ const std::vector<std::pair<Histograms, std::string>> HistogramsNameMap = {
   {SOME_HISTOGRAM, "rocksdb.some"},
+  {MULTISCAN_PREPARE_ITERATORS, "rocksdb.multiscan.op.prepare.iterators"},
diff --git a/unreleased_history/performance_improvements/x.md b/unreleased_history/performance_improvements/x.md
new file mode 100644
index 0000000000..2222222222
--- /dev/null
+++ b/unreleased_history/performance_improvements/x.md
@@ -0,0 +1 @@
+a line
`,
	// A block knows its last key, and takes its buffer's size at once.
	"#9039": `diff --git a/table/block_based/block_based_table_builder.cc b/table/block_based/block_based_table_builder.cc
--- a/table/block_based/block_based_table_builder.cc
+++ b/table/block_based/block_based_table_builder.cc
@@ -1025,1 +1025,2 @@ void BlockBasedTableBuilder::WriteBlock(BlockBuilder* block,
   before();
+  hand_over();
diff --git a/table/block_based/block_builder.cc b/table/block_based/block_builder.cc
--- a/table/block_based/block_builder.cc
+++ b/table/block_based/block_builder.cc
@@ -53,1 +53,1 @@ BlockBuilder::BlockBuilder(
-  first();
+  second();
@@ -72,3 +72,3 @@ BlockBuilder::BlockBuilder(
 void BlockBuilder::Reset() {
-  forget();
+  keep_room();
 }
`,
	"#9040": `diff --git a/HISTORY.md b/HISTORY.md
--- a/HISTORY.md
+++ b/HISTORY.md
@@ -1,1 +1,2 @@
 # news
+one more
diff --git a/table/block_based/block_based_table_builder.cc b/table/block_based/block_based_table_builder.cc
--- a/table/block_based/block_based_table_builder.cc
+++ b/table/block_based/block_based_table_builder.cc
@@ -963,2 +963,2 @@ void BlockBasedTableBuilder::Add(const Slice& key, const Slice& value) {
-  add(key);
+  add_knowing_last(key, last);
   rest();
diff --git a/table/block_based/block_builder.cc b/table/block_based/block_builder.cc
--- a/table/block_based/block_builder.cc
+++ b/table/block_based/block_builder.cc
@@ -140,2 +143,6 @@ void BlockBuilder::Add(const Slice& key, const Slice& value,
   end();
 }
+void BlockBuilder::AddWithLastKey(const Slice& key, const Slice& value,
+                                  const Slice& last) {
+  shared_part();
+}
diff --git a/table/block_based/block_builder.h b/table/block_based/block_builder.h
--- a/table/block_based/block_builder.h
+++ b/table/block_based/block_builder.h
@@ -40,2 +41,4 @@ class BlockBuilder {
   // words
   void Add(const Slice& key, const Slice& value);
+  // other words
+  void AddWithLastKey(const Slice& key, const Slice& value, const Slice& last);
`,
	// Scans that pass many hidden entries mark the memtable for a flush.
	"#13523": `diff --git a/db/db_iter.cc b/db/db_iter.cc
--- a/db/db_iter.cc
+++ b/db/db_iter.cc
@@ -371,1 +376,3 @@ bool DBIter::FindNextUserEntryInternal(bool skipping_saved_key,
   rest();
+  uint64_t passed = 0;
+  count(passed);
diff --git a/db/memtable.cc b/db/memtable.cc
--- a/db/memtable.cc
+++ b/db/memtable.cc
@@ -177,3 +177,4 @@ size_t MemTable::ApproximateMemoryUsage() {
 
 bool MemTable::ShouldFlushNow() {
+  if (marked()) return true;
   rest();
diff --git a/db/memtable.h b/db/memtable.h
--- a/db/memtable.h
+++ b/db/memtable.h
@@ -500,1 +500,3 @@ class ReadOnlyMemTable {
   void rest();
+  void MarkForFlush() { mark(); }
+  bool IsMarkedForFlush() const { return marked(); }
diff --git a/options/cf_options.cc b/options/cf_options.cc
--- a/options/cf_options.cc
+++ b/options/cf_options.cc
@@ -694,1 +694,3 @@ static std::unordered_map<std::string, OptionTypeInfo>
          rest},
+        {"memtable_op_scan_flush_trigger",
+         {place}},
diff --git a/tools/db_bench_tool.cc b/tools/db_bench_tool.cc
--- a/tools/db_bench_tool.cc
+++ b/tools/db_bench_tool.cc
@@ -1279,1 +1279,4 @@ DEFINE_bool(explicit_snapshot, false,
             "words");
+DEFINE_uint32(
+    memtable_op_scan_flush_trigger, 0,
+    "words");
diff --git a/tools/db_crashtest.py b/tools/db_crashtest.py
--- a/tools/db_crashtest.py
+++ b/tools/db_crashtest.py
@@ -344,1 +344,2 @@ default_params = {
     "a": 1,
+    "memtable_op_scan_flush_trigger": 2,
`,
}

// patchOf places a diff.
func patchOf(t *testing.T, text string) *Patch {
	t.Helper()
	files, err := ParseDiff(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return ref(t).Patch(files)
}

// touches lists "upstream name > Go symbol" of a patch's hunks.
func touches(p *Patch) map[string]string {
	out := map[string]string{}
	for _, f := range p.Files {
		for _, h := range f.Hunks {
			for _, x := range h.Touches {
				text := ""
				if x.Placed() {
					text = x.Spots[0].Symbol
				} else if x.Near != nil {
					text = "near " + x.Near.Spots[0].Symbol
				}
				out[x.Name] = text
			}
		}
	}
	return out
}

func TestPatchSeeds(t *testing.T) {
	for _, x := range []struct {
		name    string
		touches map[string]string
		added   []string
	}{
		{"#14100", map[string]string{
			"LevelIterator::LevelIterator":         "NewLevelIterator",
			"LevelIterator::SkipEmptyFileBackward": "(*LevelIterator).skipEmptyFileBackward",
			"LevelIterator::InitFileIterator":      "(*LevelIterator).initFileIterator",
			"Version::AddIteratorsForLevel":        "(*Version).AddIteratorsForLevel",
		}, []string{"test DBMultiScanIteratorTest.AllFilesOfALevelReady", "ticker or histogram MULTISCAN_PREPARE_ITERATORS"}},
		{"#9039", map[string]string{
			"BlockBasedTableBuilder::WriteBlock": "(*BlockBasedTableBuilder).writeBlock",
			"BlockBuilder::BlockBuilder":         "NewBlockBuilder",
			"BlockBuilder::Reset":                "(*BlockBuilder).Reset",
		}, nil},
		{"#9040", map[string]string{
			"BlockBasedTableBuilder::Add":  "(*BlockBasedTableBuilder).Add",
			"BlockBuilder::AddWithLastKey": "(*BlockBuilder).AddWithLastKey",
		}, nil},
		{"#13523", map[string]string{
			"DBIter::FindNextUserEntryInternal":  "(*DBIter).findNextUserEntryInternal",
			"MemTable::ShouldFlushNow":           "(*MemTable).ShouldFlushNow",
			"ReadOnlyMemTable::MarkForFlush":     "(*MemTable).MarkForFlush",
			"ReadOnlyMemTable::IsMarkedForFlush": "(*MemTable).IsMarkedForFlush",
		}, []string{"option memtable_op_scan_flush_trigger", "flag of db_bench memtable_op_scan_flush_trigger"}},
	} {
		t.Run(x.name, func(t *testing.T) {
			p := patchOf(t, seeds[x.name])
			got := touches(p)
			for name, want := range x.touches {
				if got[name] != want {
					t.Errorf("%s is at %q, want %q", name, got[name], want)
				}
			}
			added := map[string]bool{}
			for _, n := range p.New {
				added[n.Kind+" "+n.Name] = true
			}
			for _, want := range x.added {
				if !added[want] {
					t.Errorf("%s is not told as new: %v", want, p.New)
				}
			}
			if t.Failed() {
				t.Logf("%v", got)
			}
		})
	}
	if p := patchOf(t, seeds["#9039"]); !p.OK() {
		t.Error("#9039 is not placed whole")
	}
	p := patchOf(t, seeds["#14100"])
	want := map[string][]string{"db/db_iterator_multi_scan_test.go": {"func TestDBMultiScanIteratorTest_AllFilesOfALevelReady(t *testing.T)"}}
	got := ref(t).Skeleton(p.New)
	for file, tests := range got {
		if len(tests) != 1 || tests[0] != want["db/db_iterator_multi_scan_test.go"][0] || !strings.HasPrefix(file, "db/db_iterator") {
			t.Errorf("skeleton %v", got)
		}
	}
	if len(got) != 1 {
		t.Errorf("skeleton %v", got)
	}
}

// TestPatchDrift holds that functions are found by the hunk's header and by heads
// within the hunk where line numbers are of another version.
func TestPatchDrift(t *testing.T) {
	p := patchOf(t, `--- a/db/db_iter.cc	2020-01-01 00:00:00
+++ b/db/db_iter.cc	2020-01-02 00:00:00
@@ -5,3 +5,3 @@ void DBIter::Prev() {
 rest
-old
+new
 rest
@@ -70000,6 +70000,6 @@ void DBIter::Prev() {
-last line of the one
+last line of the one anew
 }
 
 void DBIter::SeekToFirst() {
-first line of the other
+first line of the other anew
   rest
`)
	want := map[string]string{"DBIter::Prev": "(*DBIter).Prev", "DBIter::SeekToFirst": "(*DBIter).SeekToFirst"}
	if d := cmp.Diff(want, touches(p)); d != "" {
		t.Error(d)
	}
	if !p.OK() {
		t.Error("not placed")
	}
}

func TestPatchNotPlaced(t *testing.T) {
	for name, text := range map[string]string{
		"file not ported":        "--- a/utilities/transactions/write_prepared_txn_db.cc\n+++ b/utilities/transactions/write_prepared_txn_db.cc\n@@ -100 +100 @@ Status WritePreparedTxnDB::Initialize(\n-a\n+b\n",
		"file upstream lacks":    "--- a/db/no_such_file.cc\n+++ b/db/no_such_file.cc\n@@ -100 +100 @@ void A::B() {\n-a\n+b\n",
		"new source file":        "diff --git a/db/brand_new.cc b/db/brand_new.cc\nnew file mode 100644\n--- /dev/null\n+++ b/db/brand_new.cc\n@@ -0,0 +1 @@\n+int F() { return 1; }\n",
		"function nobody knows":  "--- a/db/db_iter.cc\n+++ b/db/db_iter.cc\n@@ -99999 +99999 @@ void DBIter::NoSuchFunctionAnywhere() {\n-a\n+b\n",
		"one of two not placed":  "--- a/db/db_iter.cc\n+++ b/db/db_iter.cc\n@@ -5 +5 @@ void DBIter::Prev() {\n-a\n+b\n--- a/port/no_such.cc\n+++ b/port/no_such.cc\n@@ -1 +1 @@\n-a\n+b\n",
		"test that waits or not": "--- a/utilities/transactions/transaction_test.cc\n+++ b/utilities/transactions/transaction_test.cc\n@@ -5 +5 @@ TEST_P(TransactionTest, DoubleEmptyWrite) {\n-a\n+b\n",
	} {
		if patchOf(t, text).OK() {
			t.Errorf("%s: placed", name)
		}
	}
}

func TestPatchWithoutCounterpart(t *testing.T) {
	p := patchOf(t, "diff --git a/Makefile b/Makefile\n--- a/Makefile\n+++ b/Makefile\n@@ -1 +1 @@\n-a\n+b\n"+
		"diff --git a/java/src/A.java b/java/src/A.java\n--- a/java/src/A.java\n+++ b/java/src/A.java\n@@ -1 +1 @@\n-a\n+b\n")
	if !p.OK() {
		t.Error("files that need no Go code are not placed")
	}
	for _, f := range p.Files {
		if !strings.Contains(f.Note, "not applicable") {
			t.Errorf("%s: %q", f.Path, f.Note)
		}
	}
}

// gitForms is a mail of git format-patch with all of git's extended headers.
const gitForms = `From 0000000000000000000000000000000000000001 Mon Sep 17 00:00:00 2001
From: A <a@example.org>
Date: Thu, 1 Jan 2026 00:00:00 +0000
Subject: [PATCH] one of each

--- not a file's line
---
 db/a.cc | 2 +-
 1 file changed

diff --git a/db/db_iter.cc b/db/dbiter.cc
similarity index 95%
rename from db/db_iter.cc
rename to db/dbiter.cc
index 1111111..2222222 100644
--- a/db/db_iter.cc
+++ b/db/dbiter.cc
@@ -1,2 +1,2 @@
 kept
-- old line that begins with a dash
+- new line that begins with a dash
diff --git a/db/pure rename.cc b/db/pure renamed.cc
similarity index 100%
rename from db/pure rename.cc
rename to db/pure renamed.cc
diff --git a/db/x.cc b/db/y.cc
similarity index 90%
copy from db/x.cc
copy to db/y.cc
diff --git a/tools/run.sh b/tools/run.sh
old mode 100644
new mode 100755
diff --git a/db/new.cc b/db/new.cc
new file mode 100644
index 0000000..2222222
--- /dev/null
+++ b/db/new.cc
@@ -0,0 +1,2 @@
+one
+two
\ No newline at end of file
diff --git a/db/empty.cc b/db/empty.cc
new file mode 100644
index 0000000..e69de29
diff --git a/db/gone.cc b/db/gone.cc
deleted file mode 100644
index 1111111..0000000
--- a/db/gone.cc
+++ /dev/null
@@ -1 +0,0 @@
-one
\ No newline at end of file
diff --git a/db/pic.bin b/db/pic.bin
index 1111111..2222222 100644
Binary files a/db/pic.bin and b/db/pic.bin differ
diff --git a/db/lit.bin b/db/lit.bin
new file mode 100644
index 0000000..2222222
GIT binary patch
literal 4
LcmZQzU|?5;0RR9E

literal 0
HcmV?d00001

diff --git "a/db/\303\274ber.cc" "b/db/\303\274ber.cc"
index 1111111..2222222 100644
--- "a/db/\303\274ber.cc"
+++ "b/db/\303\274ber.cc"
@@ -1 +1 @@ int F() {
-a
+b
-- 
2.40.0

`

func TestParseDiff(t *testing.T) {
	files, err := ParseDiff(strings.NewReader(gitForms))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range files {
		text := f.Status() + " " + f.Old + " > " + f.New
		if f.Binary {
			text += " binary"
		}
		if f.Mode != "" {
			text += " " + f.Mode
		}
		for _, h := range f.Hunks {
			text += " @" + itoa(int64(h.OldLine)) + "+" + itoa(int64(len(h.Lines)))
		}
		got = append(got, text)
	}
	want := []string{
		"renamed db/db_iter.cc > db/dbiter.cc @1+3",
		"renamed db/pure rename.cc > db/pure renamed.cc",
		"copied db/x.cc > db/y.cc",
		"mode tools/run.sh > tools/run.sh 100644 to 100755",
		"new  > db/new.cc @0+2",
		"new  > db/empty.cc",
		"deleted db/gone.cc >  @1+1",
		"modified db/pic.bin > db/pic.bin binary",
		"new  > db/lit.bin binary",
		"modified db/über.cc > db/über.cc @1+2",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if p := ref(t).Patch(files); p.Files[0].From != "db/db_iter.cc" || len(p.Files[0].Go) == 0 {
		t.Errorf("a renamed file is not found by its old name: %+v", p.Files[0])
	}
}

func TestParseDiffBad(t *testing.T) {
	for name, text := range map[string]string{
		"cut short":      "--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n a\n",
		"bad hunk":       "--- a/x\n+++ b/x\n@@ -1,3 +1\n a\n",
		"foreign line":   "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n a\n?\n",
		"too many lines": "--- a/x\n+++ b/x\n@@ -1,1 +1,2 @@\n-a\n-b\n",
		"combined":       "diff --cc x\nindex 1,2..3\n",
		"huge number":    "--- a/x\n+++ b/x\n@@ -99999999999999999999 +1 @@\n a\n",
	} {
		if _, err := ParseDiff(strings.NewReader(text)); err == nil || errors.Is(err, ErrNoDiff) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := ParseDiff(strings.NewReader("just a letter\n")); !errors.Is(err, ErrNoDiff) {
		t.Errorf("no diff: %v", err)
	}
}

func FuzzParseDiff(f *testing.F) {
	f.Add(gitForms)
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		files, err := ParseDiff(strings.NewReader(text))
		if err == nil && len(files) == 0 {
			t.Error("no files and no error")
		}
	})
}

func FuzzParseCpp(f *testing.F) {
	f.Add(sampleSource)
	f.Add("#if A\n{\n#else\n}\n#endif\ntemplate<")
	f.Fuzz(func(t *testing.T, text string) {
		p, toks := parseCpp("db/x.cc", text)
		for _, s := range p.out {
			if s.End < s.Line || s.Name == "" {
				t.Errorf("%+v", s)
			}
		}
		scanFacts("db/x.cc", toks, p.out)
	})
}
