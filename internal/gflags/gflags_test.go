// No upstream twin: see gflags.go.

package gflags

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

type testFlags struct {
	Bool   bool    `flag:"use_it,false" help:"a switch"`
	On     bool    `flag:"on,true"`
	I32    int32   `flag:"threads,1" help:"how many"`
	I64    int64   `flag:"num,1000000"`
	U32    uint32  `flag:"u32,7"`
	U64    uint64  `flag:"big,0"`
	Double float64 `flag:"ratio,0.5"`
	Str    string  `flag:"db,"`
	Other  int     // not a flag
}

func parse(t *testing.T, args ...string) (testFlags, *Set, []string, error) {
	t.Helper()
	var f testFlags
	s, err := New("prog", &f)
	if err != nil {
		t.Fatal(err)
	}
	s.Usage, s.Version = "USE", "1.2"
	s.Validate("u32", func() error {
		if f.U32 > 100 {
			return errors.New("Invalid value for --u32, too much")
		}
		return nil
	})
	rest, err := s.Parse(args)
	return f, s, rest, err
}

func TestParse_Forms(t *testing.T) {
	def := testFlags{On: true, I32: 1, I64: 1000000, U32: 7, Double: 0.5}
	with := func(change func(*testFlags)) testFlags { f := def; change(&f); return f }
	for _, c := range []struct {
		args string
		want testFlags
		rest string
	}{
		{"", def, ""},
		{"-num=5", with(func(f *testFlags) { f.I64 = 5 }), ""},
		{"--num=5 --num=6", with(func(f *testFlags) { f.I64 = 6 }), ""},
		{"--num 5", with(func(f *testFlags) { f.I64 = 5 }), ""},
		{"--num -5", with(func(f *testFlags) { f.I64 = -5 }), ""},
		{"--num=0x10", with(func(f *testFlags) { f.I64 = 16 }), ""},
		{"--use_it", with(func(f *testFlags) { f.Bool = true }), ""},
		{"--use-it", with(func(f *testFlags) { f.Bool = true }), ""},
		{"--noon --use_it=True", with(func(f *testFlags) { f.Bool, f.On = true, false }), ""},
		{"--on=no --use_it=y", with(func(f *testFlags) { f.Bool, f.On = true, false }), ""},
		{"--use_it true --num=2", with(func(f *testFlags) { f.Bool, f.I64 = true, 2 }), "true"},
		{"--num=2 -- --num=3", with(func(f *testFlags) { f.I64 = 2 }), "--num=3"},
		{"a --db=x=y - b", with(func(f *testFlags) { f.Str = "x=y" }), "a - b"},
		{"--ratio=1e-3 --big=18446744073709551615", with(func(f *testFlags) { f.Double, f.U64 = 1e-3, 1<<64-1 }), ""},
		{"--undefok=zzz --zzz=1", def, ""},
	} {
		f, _, rest, err := parse(t, strings.Fields(c.args)...)
		if err != nil || f != c.want || strings.Join(rest, " ") != c.rest {
			t.Errorf("%q: %+v rest %q error %v; want %+v rest %q", c.args, f, rest, err, c.want, c.rest)
		}
	}
}

func TestParse_Errors(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"--no_such_flag=1", "ERROR: unknown command line flag 'no_such_flag'\n"},
		{"--zz --aa", "ERROR: unknown command line flag 'aa'\nERROR: unknown command line flag 'zz'\n"},
		{"--num=abc", "ERROR: illegal value 'abc' specified for int64 flag 'num'\n"},
		{"--num=", "ERROR: illegal value '' specified for int64 flag 'num'\n"},
		{"--num=5x", "ERROR: illegal value '5x' specified for int64 flag 'num'\n"},
		{"--num=1_000", "ERROR: illegal value '1_000' specified for int64 flag 'num'\n"},
		{"--threads=3000000000", "ERROR: illegal value '3000000000' specified for int32 flag 'threads'\n"},
		{"--u32=-1", "ERROR: illegal value '-1' specified for uint32 flag 'u32'\n"},
		{"--ratio=half", "ERROR: illegal value 'half' specified for double flag 'ratio'\n"},
		{"--use_it=maybe", "ERROR: illegal value 'maybe' specified for bool flag 'use_it'\n"},
		{"--nonum", "ERROR: boolean value (nonum) specified for int64 command line flag\n"},
		{"--num", "ERROR: flag 'num' is missing its argument\n"},
		{"--threads", "ERROR: flag 'threads' is missing its argument; flag description: how many\n"},
		{"--u32=200", "Invalid value for --u32, too much\nERROR: failed validation of new value '200' for flag 'u32'\n"},
		{"--flagfile=/no/such/file", "ERROR: flagfile '/no/such/file': open /no/such/file: no such file or directory\n"},
	} {
		f, _, _, err := parse(t, strings.Fields(c.args)...)
		var exit *Exit
		if !errors.As(err, &exit) || exit.Code != 1 || !exit.ToStderr || exit.Output != c.want {
			t.Errorf("%q: %v; want %q", c.args, err, c.want)
		}
		if f.U32 != 7 || f.I64 != 1000000 {
			t.Errorf("%q: a bad value changed a flag: %+v", c.args, f)
		}
	}
}

func TestParse_IsDefault(t *testing.T) {
	_, s, _, err := parse(t, "--num=1000000", "--ratio=0.25", "--db=x")
	if err != nil {
		t.Fatal(err)
	}
	var off []string
	for _, f := range s.All() {
		if !f.IsDefault() {
			off = append(off, f.Name+"="+f.Value())
		}
	}
	if !slices.Equal(off, []string{"db=x", "ratio=0.25"}) {
		t.Errorf("off default: %v", off)
	}
	if !s.Lookup("num").Given || s.Lookup("on").Given {
		t.Error("Given is wrong")
	}
}

func TestParse_FlagFileAndEnvironment(t *testing.T) {
	dir := t.TempDir()
	inner, outer := filepath.Join(dir, "inner"), filepath.Join(dir, "outer")
	for path, text := range map[string]string{
		inner: "--threads=9\n",
		outer: "# comment\n--num=3\n\n--flagfile=" + inner + "\nother*\n--db=no\nprog\n--use_it\n",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("FLAGS_ratio", "0.75")
	f, _, _, err := parse(t, "--flagfile="+outer, "--fromenv=ratio", "--tryfromenv=u32", "--num=4")
	want := testFlags{Bool: true, On: true, I32: 9, I64: 4, U32: 7, Double: 0.75}
	if err != nil || f != want {
		t.Errorf("%+v error %v; want %+v", f, err, want)
	}
	if _, _, _, err := parse(t, "--fromenv=num"); err == nil || !strings.Contains(err.Error(), "FLAGS_num not found") {
		t.Errorf("missing variable: %v", err)
	}
	loop := filepath.Join(dir, "loop")
	if err := os.WriteFile(loop, []byte("--flagfile="+loop+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, _, err := parse(t, "--flagfile="+loop); err == nil || !strings.Contains(err.Error(), "nested") {
		t.Errorf("a flag file naming itself: %v", err)
	}
}

func TestParse_Help(t *testing.T) {
	for _, c := range []struct {
		args string
		code int
		want []string
	}{
		{"--version", 0, []string{"prog version 1.2\n"}},
		{"--help", 1, []string{"prog: USE\n", "    -num () type: int64 default: 1000000\n", "-db () type: string default: \"\"\n"}},
		{"--threads=3 --helpfull", 1, []string{"-threads (how many) type: int32 default: 1 currently: 3\n"}},
		{"--helpmatch=ratio", 1, []string{"-ratio"}},
		{"--helpxml", 1, []string{"<name>num</name>", "</AllFlags>"}},
	} {
		_, _, _, err := parse(t, strings.Fields(c.args)...)
		var exit *Exit
		if !errors.As(err, &exit) || !errors.Is(err, ErrHelp) || exit.Code != c.code || exit.ToStderr {
			t.Fatalf("%q: %v", c.args, err)
		}
		for _, w := range c.want {
			if !strings.Contains(exit.Output, w) {
				t.Errorf("%q: no %q in %q", c.args, w, exit.Output)
			}
		}
		if c.args == "--helpmatch=ratio" && strings.Contains(exit.Output, "-num") {
			t.Error("helpmatch shows too much")
		}
	}
}

func TestNew_BadStructs(t *testing.T) {
	for _, target := range []any{
		testFlags{},
		&struct {
			A int32 `flag:"a,x"`
		}{},
		&struct {
			A []byte `flag:"a,"`
		}{},
		&struct {
			A int32 `flag:"a,1"`
			B int32 `flag:"a,1"`
		}{},
	} {
		if _, err := New("p", target); err == nil {
			t.Errorf("%T was taken", target)
		}
	}
}
