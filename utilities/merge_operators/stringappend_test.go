// Port of utilities/merge_operators/string_append/stringappend_test.cc.
// Differs: the generic operator runs in a plain database; in one with a time to
// live it is tested with that.

package mergeoperators_test

import (
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
	mergeoperators "github.com/rocksdb-go/rocksdb/utilities/merge_operators"
)

// stringLists is a set of lists of strings by key.
type stringLists struct {
	t  *testing.T
	db *rocksdb.DB
}

func (l *stringLists) append(key string, values ...string) {
	l.t.Helper()
	for _, v := range values {
		if err := l.db.Merge(nil, []byte(key), []byte(v)); err != nil {
			l.t.Fatal(err)
		}
	}
}

// get gives a list, "" and false when there is none.
func (l *stringLists) get(key string) (string, bool) {
	l.t.Helper()
	v, err := l.db.Get(nil, []byte(key))
	if rocksdb.IsNotFound(err) {
		return "", false
	} else if err != nil {
		l.t.Fatal(err)
	}
	defer v.Release()
	return string(v.Data()), true
}

func (l *stringLists) expect(key, want string) {
	l.t.Helper()
	if got, ok := l.get(key); !ok || got != want {
		l.t.Fatalf("%q: %q, %v; not %q", key, got, ok, want)
	}
}

func (l *stringLists) flush() {
	l.t.Helper()
	if err := l.db.Flush(nil); err != nil {
		l.t.Fatal(err)
	}
}

func (l *stringLists) compact() {
	l.t.Helper()
	if err := l.db.CompactRange(nil, nil, nil); err != nil {
		l.t.Fatal(err)
	}
}

func (l *stringLists) close() {
	l.t.Helper()
	if err := l.db.Close(); err != nil {
		l.t.Fatal(err)
	}
}

// eachOperator runs a test with both kinds of operator; open opens the test's
// database with a delimiter.
func eachOperator(t *testing.T, test func(t *testing.T, open func(delim string) *stringLists)) {
	for name, make := range map[string]func(delim string) rocksdb.MergeOperator{
		"StringAppendOperator": func(delim string) rocksdb.MergeOperator {
			return mergeoperators.NewStringAppendOperator(delim)
		},
		"StringAppendTESTOperator": func(delim string) rocksdb.MergeOperator {
			return mergeoperators.NewStringAppendTESTOperator(delim)
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			test(t, func(delim string) *stringLists {
				o := rocksdb.DefaultOptions()
				o.CreateIfMissing = true
				o.MergeOperator = make(delim)
				db, err := rocksdb.Open(dir, o)
				if err != nil {
					t.Fatal(err)
				}
				return &stringLists{t, db}
			})
		})
	}
}

// expectFrom compares the values from key on.
func expectFrom(t *testing.T, it *rocksdb.Iterator, key string, want ...string) {
	t.Helper()
	var got []string
	for it.Seek([]byte(key)); it.Valid(); it.Next() {
		got = append(got, string(it.Value()))
	}
	if err := it.Err(); err != nil {
		t.Fatal(err)
	}
	if len(got) != len(want) {
		t.Fatalf("%q, not %q", got, want)
	}
	for i := range got {
		if got[i] != want[i] {
			t.Fatalf("%q, not %q", got, want)
		}
	}
}

func TestStringAppendOperatorTest_IteratorTest(t *testing.T) {
	eachOperator(t, func(t *testing.T, open func(string) *stringLists) {
		l := open(",")
		l.append("k1", "v1", "v2", "v3")
		l.append("k2", "a1", "a2", "a3")
		it := l.db.NewIterator(nil)
		expectFrom(t, it, "k1", "v1,v2,v3", "a1,a2,a3")
		// An iterator does not see what is written later.
		l.append("k2", "a4")
		l.append("k1", "v4")
		expectFrom(t, it, "k1", "v1,v2,v3", "a1,a2,a3")
		it.Close()

		it = l.db.NewIterator(nil)
		expectFrom(t, it, "k1", "v1,v2,v3,v4", "a1,a2,a3,a4")
		expectFrom(t, it, "k2", "a1,a2,a3,a4")
		it.Close()

		l.append("k3", "g1")
		it = l.db.NewIterator(nil)
		expectFrom(t, it, "k2", "a1,a2,a3,a4", "g1")
		expectFrom(t, it, "k3", "g1")
		it.Close()
		l.close()
	})
}

// simple appends three values with a delimiter.
func simple(t *testing.T, delim, want string) {
	eachOperator(t, func(t *testing.T, open func(string) *stringLists) {
		l := open(delim)
		l.append("k1", "v1", "v2", "v3")
		l.expect("k1", want)
		l.close()
	})
}

func TestStringAppendOperatorTest_SimpleTest(t *testing.T)          { simple(t, ",", "v1,v2,v3") }
func TestStringAppendOperatorTest_SimpleDelimiterTest(t *testing.T) { simple(t, "|", "v1|v2|v3") }
func TestStringAppendOperatorTest_EmptyDelimiterTest(t *testing.T)  { simple(t, "", "v1v2v3") }
func TestStringAppendOperatorTest_MultiCharDelimiterTest(t *testing.T) {
	simple(t, "<>", "v1<>v2<>v3")
}
func TestStringAppendOperatorTest_SimpleTestNullDelimiter(t *testing.T) {
	simple(t, "\x00", "v1\x00v2\x00v3")
}

func TestStringAppendOperatorTest_OneValueNoDelimiterTest(t *testing.T) {
	eachOperator(t, func(t *testing.T, open func(string) *stringLists) {
		l := open("!")
		l.append("random_key", "single_val")
		l.expect("random_key", "single_val")
		l.close()
	})
}

func appendVarious(l *stringLists) {
	l.append("c", "asdasd")
	l.append("a", "x")
	l.append("b", "y")
	l.append("a", "t", "r")
	l.append("b", "2")
	l.append("c", "asdasd")
}

func TestStringAppendOperatorTest_VariousKeys(t *testing.T) {
	eachOperator(t, func(t *testing.T, open func(string) *stringLists) {
		l := open("\n")
		appendVarious(l)
		l.expect("a", "x\nt\nr")
		l.expect("b", "y\n2")
		l.expect("c", "asdasd\nasdasd")
		l.close()
	})
}

// randomMix compares the database with a map.
func randomMix(t *testing.T, seed uint32, queries int) {
	words := []string{"sdasd", "triejf", "fnjsdfn", "dfjisdfsf", "342839", "dsuha", "mabuais", "sadajsid",
		"jf9834hf", "2d9j89", "dj9823jd", "a", "dk02ed2dh", "$(jd4h984$(*", "mabz"}
	keys := []string{"dhaiusdhu", "denidw", "daisda", "keykey", "muki", "shzassdianmd"}
	eachOperator(t, func(t *testing.T, open func(string) *stringLists) {
		l := open(" ")
		r := util.NewRandom(seed)
		model := map[string]string{}
		for range queries {
			isAppend := r.OneIn(2)
			key, word := keys[r.Uniform(len(keys))], words[r.Uniform(len(words))]
			if !isAppend {
				if got, _ := l.get(key); got != model[key] {
					t.Fatalf("%q: %q, not %q", key, got, model[key])
				}
				continue
			}
			l.append(key, word)
			if model[key] != "" {
				word = model[key] + " " + word
			}
			model[key] = word
		}
		l.close()
	})
}

func TestStringAppendOperatorTest_RandomMixGetAppend(t *testing.T)    { randomMix(t, 1337, 30) }
func TestStringAppendOperatorTest_BIGRandomMixGetAppend(t *testing.T) { randomMix(t, 9138204, 1000) }

func TestStringAppendOperatorTest_PersistentVariousKeys(t *testing.T) {
	eachOperator(t, func(t *testing.T, open func(string) *stringLists) {
		l := open("\n")
		appendVarious(l)
		l.expect("a", "x\nt\nr")
		l.expect("b", "y\n2")
		l.expect("c", "asdasd\nasdasd")
		l.close()

		// What was before is in tables now, the rest in the memtable.
		l = open("\n")
		l.append("c", "bbnagnagsx")
		l.append("a", "sa")
		l.append("b", "df")
		l.append("a", "gh", "jk")
		l.append("b", "l;")
		l.append("c", "rogosh")
		all := func() {
			t.Helper()
			l.expect("a", "x\nt\nr\nsa\ngh\njk")
			l.expect("b", "y\n2\ndf\nl;")
			l.expect("c", "asdasd\nasdasd\nbbnagnagsx\nrogosh")
		}
		all()
		l.close()

		l = open("\n")
		all()
		l.close()
	})
}

func TestStringAppendOperatorTest_PersistentFlushAndCompaction(t *testing.T) {
	eachOperator(t, func(t *testing.T, open func(string) *stringLists) {
		l := open("\n")
		l.append("c", "asdasd")
		l.flush()
		l.expect("c", "asdasd")
		l.append("a", "x")
		l.append("b", "y")
		l.flush()
		l.append("a", "t", "r")
		l.append("b", "2")
		l.expect("a", "x\nt\nr")
		l.expect("b", "y\n2")
		l.append("c", "asdasd")
		l.append("b", "monkey")
		l.expect("a", "x\nt\nr")
		l.expect("b", "y\n2\nmonkey")
		l.expect("c", "asdasd\nasdasd")
		l.close()

		l = open("\n")
		l.expect("a", "x\nt\nr")
		l.append("c", "bbnagnagsx")
		l.append("a", "sa")
		l.append("b", "df")
		l.compact()
		l.expect("a", "x\nt\nr\nsa")
		l.expect("b", "y\n2\nmonkey\ndf")
		l.expect("c", "asdasd\nasdasd\nbbnagnagsx")
		l.append("a", "gh", "jk")
		l.append("b", "l;")
		l.append("c", "rogosh")
		all := func() {
			t.Helper()
			l.expect("a", "x\nt\nr\nsa\ngh\njk")
			l.expect("b", "y\n2\nmonkey\ndf\nl;")
			l.expect("c", "asdasd\nasdasd\nbbnagnagsx\nrogosh")
		}
		all()
		l.compact()
		all()
		l.append("b", "afcg")
		l.flush()
		l.compact()
		l.expect("b", "y\n2\nmonkey\ndf\nl;\nafcg")
		l.close()
	})
}
