// Port of tools/ldb_cmd_test.cc, the cases about parsing.

package tools

import (
	"bufio"
	"bytes"
	"io"
	"slices"
	"strings"
	"testing"

	dbimpl "github.com/rocksdb-go/rocksdb/db/db_impl"
	"github.com/rocksdb-go/rocksdb/env"
	"github.com/rocksdb-go/rocksdb/env/mockenv"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/table/builtin"
)

func newTestCommand(t *testing.T, args ...string) *LDBCommand {
	t.Helper()
	x := &LDBTool{Options: rocksdb.DefaultOptions(), Stderr: io.Discard}
	c := newLDBCommand(args, x, bufio.NewWriter(io.Discard))
	if c == nil {
		t.Fatalf("no command in %v", args)
	}
	return c
}

func TestLdbCmdTest_HexToString(t *testing.T) {
	for text, want := range map[string][]byte{"0x07": {7}, "0x5050": {80, 80}, "0xFF": {0xff}, "0x1234": {18, 52},
		"0xaaAbAC": {0xaa, 0xab, 0xac}, "0x1203": {18, 3}} {
		c := newTestCommand(t, "scan", "--db=x")
		got := c.hexToString(text)
		if c.state == execFailed || !bytes.Equal(got, want) {
			t.Errorf("%s: %v, %s", text, got, c.message)
		}
		if back := stringToHex(got); !strings.EqualFold(back, text) {
			t.Errorf("%s comes back as %s", text, back)
		}
	}
}

func TestLdbCmdTest_HexToStringBadInputs(t *testing.T) {
	for _, text := range []string{"0xZZ", "123", "0xx5", "0x111G", "0x123", "Ox12", "0xT", "0x1Q1"} {
		c := newTestCommand(t, "scan", "--db=x")
		if c.hexToString(text); c.state != execFailed || c.message != "Invalid hex input" {
			t.Errorf("%s is taken", text)
		}
	}
}

func TestLdbCmdTest_OptionParsing(t *testing.T) {
	c := newTestCommand(t, "scan", "--ttl", "--timestamp")
	if !slices.Equal(c.flags, []string{"ttl", "timestamp"}) {
		t.Errorf("flags %v", c.flags)
	}
	const from = "'abcd/efg/hijk/lmn/opq:__rst.uvw.xyz?a=3+4+bcd+efghi&jk=lm_no&pq=rst-0&uv=wx-8&yz=a&bcd_ef=gh.ijk'"
	c = newTestCommand(t, "scan", "--db=/dev/shm/ldbtest/", "--from="+from)
	if c.optionMap["db"] != "/dev/shm/ldbtest/" || c.optionMap["from"] != from {
		t.Errorf("options %v", c.optionMap)
	}
}

// TestLdbCmdTest_DisableConsistencyChecks looks at the options in force while
// the command runs.
func TestLdbCmdTest_DisableConsistencyChecks(t *testing.T) {
	builtin.RegisterDefault()
	o := rocksdb.DefaultOptions()
	o.CreateIfMissing = true
	o.Env = mockenv.NewMemEnv(env.Default())
	d, handles, err := dbimpl.Open(&o.DBOptions, "/db", []rocksdb.ColumnFamilyDescriptor{{Name: "default", Options: o.ColumnFamilyOptions}})
	if err != nil {
		t.Fatal(err)
	}
	for _, kv := range []string{"foo1", "bar1", "foo2", "bar2"} {
		if err := d.Put(nil, handles[0], []byte(kv), []byte(kv)); err != nil {
			t.Fatal(err)
		}
		if kv[3] == '1' {
			continue
		}
		if err := d.Flush(nil, handles[0]); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.DestroyColumnFamilyHandle(handles[0]); err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		args []string
		want bool
	}{{[]string{"checkconsistency"}, true}, {[]string{"scan"}, true}, {[]string{"scan", "--disable_consistency_checks"}, false}} {
		c := newTestCommand(t, append(x.args, "--db=/db")...)
		c.options = o
		if c.def.noDBOpen {
			c.def.do(c)
		} else {
			c.openDB()
		}
		if c.state != execNotStarted {
			t.Fatalf("%v: %s", x.args, c.message)
		}
		if got := c.db.GetOptions(c.family()).ForceConsistencyChecks; got != x.want {
			t.Errorf("%v: force_consistency_checks is %v", x.args, got)
		}
		if !c.def.noDBOpen {
			c.def.do(c)
		}
		c.closeDB()
		if c.state == execFailed {
			t.Errorf("%v: %s", x.args, c.message)
		}
	}
}

func TestParseStoi(t *testing.T) {
	for text, want := range map[string]int{"1": 1, " -7x": -7, "+3.5": 3, "2147483647": 2147483647, "-2147483648": -2147483648} {
		if got, err := parseStoi(text); got != want || err != nil {
			t.Errorf("%q: %d, %v", text, got, err)
		}
	}
	for text, want := range map[string]error{"": errInvalidValue, "x1": errInvalidValue, "-": errInvalidValue,
		"2147483648": errOutOfRange, "99999999999999999999": errOutOfRange} {
		if _, err := parseStoi(text); err != want {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestCommandTable: every command of the help is there once, and has a line.
func TestCommandTable(t *testing.T) {
	names := slices.Concat(dataCommands, adminCommands, ownCommands)
	defs := commandDefs()
	for _, name := range names {
		if d := findCommand(name); d == nil || !strings.HasSuffix(d.help, "\n") {
			t.Errorf("%s", name)
		}
	}
	if len(defs) != len(names) {
		t.Errorf("%d commands, %d in the help", len(defs), len(names))
	}
}
