// No upstream twin: planted lies, which Check must catch.

package xref

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// sample is a small module that holds.
var sample = map[string]string{
	"go.mod": "module example.org/sample\n\ngo 1.26\n",
	"db/dbformat.go": "// Port of db/dbformat.{h,cc}.\n\npackage db\n\n// PackSequenceAndType packs, as upstream's PackSequenceAndType does.\n" +
		"func PackSequenceAndType(s uint64, t byte) uint64 { return s<<8 | uint64(t) }\n",
	"db/doc.go": "// Package db is a sample.\npackage db\n",
	"db/dbformat_test.go": "// Port of db/dbformat_test.cc.\n\npackage db\n\nimport \"testing\"\n\n" +
		"func want(t *testing.T, ok bool) {\n\tif !ok {\n\t\tt.Error(\"no\")\n\t}\n}\n\n" +
		"func TestFormatTest_InternalKey_EncodeDecode(t *testing.T) { want(t, PackSequenceAndType(1, 1) == 257) }\n",
	"porting/later.tsv":          "file\tsuite\ttest\tneeds\ndb/dbformat_test.cc\tFormatTest\tIterKeyOperation\tkeys of iterators\n",
	"porting/not_applicable.tsv": "file\tsuite\ttest\treason\n",
	"porting/mirrored.tsv":       "file\n",
	"porting/counts.tsv":         "what\tcount\ntests mirrored\t1\n",
	"docs/porting.md":            "# Sample\n" + beginStatus + endStatus + beginScores + endScores,
}

// plant writes the sample with one change and gives what is found.
func plant(t *testing.T, file, text string) []Finding {
	t.Helper()
	root := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range sample {
		write(name, text)
	}
	if file != "" {
		write(file, text)
	}
	g, err := ReadGo(root)
	if err != nil {
		t.Fatal(err)
	}
	l, err := ReadLedger(filepath.Join(root, "porting"))
	if err != nil {
		t.Fatal(err)
	}
	r := NewRef(ref(t).Up, g, l)
	s := r.Status("db")
	if file == "" {
		if err := r.UpdateFiles(root, s, false); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{CountsFile, DocsFile} {
			data, err := os.ReadFile(filepath.Join(root, name))
			if err != nil {
				t.Fatal(err)
			}
			sample[name] = string(data)
		}
	}
	found, err := r.CheckFiles(root, s)
	if err != nil {
		t.Fatal(err)
	}
	return append(r.Check(), found...)
}

func TestCheckCatches(t *testing.T) {
	if found := plant(t, "", ""); len(found) > 0 {
		t.Fatalf("the sample itself: %v", found)
	}
	tests := sample["db/dbformat_test.go"]
	for _, x := range []struct{ name, rule, file, text string }{
		{"missing header", RuleHeader, "db/extra.go", "package db\n"},
		{"wrong file", RuleFile, "db/extra.go", "// Port of db/no_such_file.cc.\n\npackage db\n"},
		{"one file of braces wrong", RuleFile, "db/extra.go", "// Port of db/{dbformat,no_such_file}.h.\n\npackage db\n"},
		{"invented test name", RuleName, "db/dbformat_test.go", tests + "\nfunc TestFormatTest_Invented(t *testing.T) { want(t, true) }\n"},
		{"invented suite", RuleName, "db/dbformat_test.go", tests + "\nfunc TestInventedTest_Case(t *testing.T) { want(t, true) }\n"},
		{"empty test", RuleEmpty, "db/dbformat_test.go", tests + "\nfunc TestFormatTest_UpdateInternalKey(t *testing.T) { t.Helper() }\n"},
		{"test that skips itself", RuleSkip, "db/dbformat_test.go", tests + "\nfunc TestFormatTest_UpdateInternalKey(t *testing.T) { t.Skip(\"later\"); want(t, true) }\n"},
		{"test without assertion", RuleAssert, "db/dbformat_test.go", tests + "\nfunc run() {}\n\nfunc TestFormatTest_UpdateInternalKey(t *testing.T) { run(); _ = PackSequenceAndType(1, 1) }\n"},
		{"test that only logs in a helper", RuleAssert, "db/dbformat_test.go", tests + "\nfunc show(t *testing.T) { t.Log(1) }\n\nfunc TestFormatTest_UpdateInternalKey(t *testing.T) { show(t) }\n"},
		{"test mirrored twice", RuleTwice, "db/again_test.go", strings.Replace(strings.Replace(tests, "package db\n", "package db_test\n", 1), "PackSequenceAndType(1, 1) == 257", "true", 1)},
		{"stale row", RuleLedger, "porting/later.tsv", sample["porting/later.tsv"] + "db/dbformat_test.cc\tFormatTest\tInternalKey_EncodeDecode\tsomething\n"},
		{"row without reason", RuleLedger, "porting/not_applicable.tsv", sample["porting/not_applicable.tsv"] + "db/dbformat_test.cc\tFormatTest\tUpdateInternalKey\t \n"},
		{"row that upstream does not have", RuleLedger, "porting/not_applicable.tsv", sample["porting/not_applicable.tsv"] + "db/dbformat_test.cc\tFormatTest\tNoSuchCase\ta reason\n"},
		{"row twice", RuleLedger, "porting/not_applicable.tsv", sample["porting/not_applicable.tsv"] + "db/dbformat_test.cc\tFormatTest\tIterKeyOperation\ta reason\n"},
		{"row cut short", RuleLedger, "porting/later.tsv", sample["porting/later.tsv"] + "db/dbformat_test.cc\tFormatTest\n"},
		{"mirrored file with a case missing", RuleMirrored, "porting/mirrored.tsv", "file\ndb/dbformat_test.cc\n"},
		{"mirrored file that upstream does not have", RuleMirrored, "porting/mirrored.tsv", "file\ndb/no_such_test.cc\n"},
		{"comment that names no function", RuleMention, "db/dbformat.go", sample["db/dbformat.go"] + "\n// Look does what DBImpl::NoSuchFunction does.\nfunc Look() {}\n"},
		{"fewer tests than before", RuleCounts, "db/dbformat_test.go", "// Port of db/dbformat_test.cc.\n\npackage db\n"},
		{"docs out of date", RuleDocs, "docs/porting.md", strings.Replace(sample[DocsFile], endStatus, "| `db` | 100 |\n"+endStatus, 1)},
	} {
		t.Run(x.name, func(t *testing.T) {
			var rules []string
			for _, f := range plant(t, x.file, x.text) {
				if f.Rule == x.rule {
					return
				}
				rules = append(rules, f.String())
			}
			t.Errorf("not caught by %s: %v", x.rule, rules)
		})
	}
}

// TestHelpersAssert holds that an assertion is seen through helpers, fixtures
// and functions handed on.
func TestHelpersAssert(t *testing.T) {
	tests := sample["db/dbformat_test.go"]
	for _, body := range []string{
		"func check(t *testing.T) { want(t, true) }\nfunc TestFormatTest_UpdateInternalKey(t *testing.T) { t.Run(\"a\", check) }",
		"type fixture struct{ *testing.T }\nfunc (f *fixture) must(err error) {\n\tif err != nil {\n\t\tf.Fatal(err)\n\t}\n}\nfunc TestFormatTest_UpdateInternalKey(t *testing.T) { (&fixture{t}).must(nil) }",
		"func TestFormatTest_UpdateInternalKey(t *testing.T) {\n\tfor _, c := range []int{1} {\n\t\tt.Run(\"x\", func(t *testing.T) { want(t, c == 1) })\n\t}\n}",
	} {
		for _, f := range plant(t, "db/dbformat_test.go", tests+"\n"+body+"\n") {
			if f.Rule == RuleAssert {
				t.Errorf("%s\n%s", f, body)
			}
		}
	}
}
