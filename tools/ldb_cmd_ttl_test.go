// Port of tools/ldb_test.py (testTtlPutGet). The rest has no upstream twin.

package tools_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"
)

func TestLDBTestCase_TtlPutGet(t *testing.T) {
	c := newLDBTestCase(t)
	c.ok("put a1 b1 --ttl --create_if_missing", "OK")
	if r := run(t, "", "scan", "--hex", "--db="+c.db); r.code != 0 || r.out == "0x6131 ==> 0x6231\n" {
		t.Errorf("without --ttl: %+v", r)
	}
	c.ok("dump --ttl", "a1 ==> b1\nKeys in range: 1")
	c.ok("dump --hex --ttl", "0x6131 ==> 0x6231\nKeys in range: 1")
	c.ok("scan --hex --ttl", "0x6131 ==> 0x6231")
	if r := run(t, "", "get", "--value_hex", "a1", "--db="+c.db); r.code != 0 || r.out == "0x6231\n" {
		t.Errorf("without --ttl: %+v", r)
	}
	c.ok("get --ttl a1", "b1")
	c.ok("put a3 b3 --create_if_missing", "OK")
	// Its value is shorter than a time.
	c.fails("get --ttl a3", "Failed: Get failed: Corruption: Error: value's length less than timestamp's")
	c.ok("checkconsistency", "OK")
}

// TestLDB_Ttl: what else is done with times.
func TestLDB_Ttl(t *testing.T) {
	c := newLDBTestCase(t)
	c.ok("batchput a 1 b 2 --ttl --create_if_missing", "OK")
	now := regexp.QuoteMeta(time.Now().Format("Mon Jan _2 "))
	human := func(seconds int64) string { return time.Unix(seconds, 0).Format("Mon Jan _2 15:04:05 2006") }
	line := func(text string) string {
		return `\w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d \d{4} ` + regexp.QuoteMeta(text) + "\n"
	}
	whole := human(1368146402) + " to " + human(2147483647) + "\n"
	c.matches("scan --ttl --timestamp", "^Scanning key-values from "+whole+line("a ==> 1")+line("b ==> 2")+"$")
	c.matches("dump --ttl --timestamp", "^Dumping key-values from "+whole+line("a ==> 1")+line("b ==> 2")+"Keys in range: 2\n$")
	if out := c.matches("scan --ttl --timestamp --no_value", "^Scanning "); !regexp.MustCompile("(?m)^" + now).MatchString(out) {
		t.Errorf("%q", out)
	}
	c.ok("scan --ttl --start_time=1 --end_time=4", "")
	c.ok("scan --ttl --timestamp --start_time=1 --end_time=4", "Scanning key-values from "+human(1)+" to "+human(4))
	c.ok("dump --ttl --end_time=4 --start_time=1", "Keys in range: 0")
	c.ok("dump --ttl --start_time=0 --end_time=2000000000 --bucket=1200000000",
		fmt.Sprintf("a ==> 1\nb ==> 2\nKeys in range %s to %s : 0\nKeys in range %s to %s : 2", human(0), human(1200000000), human(1200000000), human(2000000000)))
	c.matches("dump --ttl --count_only", "^Keys in range: 2\nValue size distribution: \nCount: 2 Average: 1.0000 ")
	if r := run(t, "", "scan", "--ttl", "--start_time=5", "--end_time=3", "--db="+c.db); r.err != "Error: End time can't be less than start time\n" || r.out != "" {
		t.Errorf("%+v", r)
	}
	c.fails("dump --ttl --bucket=1", "Failed: bucket is too small for the range of times.\n")
	c.fails("scan --ttl --start_time=x", "Failed: start_time has an invalid value.\n")
	r := run(t, "get a\nput k v\nget k\n", "query", "--ttl", "--db="+c.db)
	if r.code != 0 || !strings.HasPrefix(r.out, "a ==> 1\nput k => v succeeded\nk ==> v\n") {
		t.Errorf("%+v", r)
	}
	c.ok("compact --ttl", "")
	c.ok("get k --ttl", "v")
	c.fails("scan --ttl --column_family=x", "Failed: ldb doesn't support TTL DB with multiple column families\n")
	c.ok("create_column_family x", "OK")
	c.fails("scan --ttl", "Failed: ldb doesn't support TTL DB with multiple column families\n")
}
