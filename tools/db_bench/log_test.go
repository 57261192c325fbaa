// No upstream twin: the info log's events have the names and fields, in the order,
// of v11.8.1's, and so has the dump of the options at open.

package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// logFlags are those of the run that testdata/log is of.
const logFlags = "--seed=42 --threads=1 --num=60000 --write_buffer_size=1048576 --target_file_size_base=524288 " +
	"--max_bytes_for_level_base=2097152 --stats_dump_period_sec=0 --benchmarks=fillrandom,overwrite,compact,deleterandom,flush"

var (
	logPrefix  = regexp.MustCompile(`^\d{4}/\d\d/\d\d-\S+ \S+ (\(Original Log Time \S+\) )?`)
	logPointer = regexp.MustCompile(`0x[0-9a-f]+`)
	levelFiles = regexp.MustCompile(`files_L\d+$`)
)

// eventFields gives an event's name and its fields in order, those of an object
// in it after its name and a dot; the levels of files_L1 and so on are one.
func eventFields(t *testing.T, text string) (event string, fields []string) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	token := func() json.Token {
		x, err := d.Token()
		if err != nil {
			t.Fatalf("%v in %s", err, text)
		}
		return x
	}
	var object func(prefix string)
	object = func(prefix string) {
		for d.More() {
			name := prefix + token().(string)
			if levelFiles.MatchString(name) {
				name = "files_L"
			}
			if len(fields) == 0 || fields[len(fields)-1] != name {
				fields = append(fields, name)
			}
			switch v := token(); v {
			case json.Delim('{'):
				object(name + ".")
			case json.Delim('['):
				for d.More() {
					token()
				}
				token()
			default:
				if name == "event" {
					event = v.(string)
				}
			}
		}
		token() // the closing brace
	}
	token()
	object("")
	return event, fields
}

func TestLogMatchesUpstream(t *testing.T) {
	events, err := os.ReadFile("testdata/log/events.tsv")
	if err != nil {
		t.Fatal(err)
	}
	options, err := os.ReadFile("testdata/log/options.txt")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	if out, code := runTool(t, append([]string{"--db=db"}, strings.Fields(logFlags)...)...); code != 0 {
		t.Fatalf("exit %d: %s", code, out)
	}
	log, err := os.ReadFile("db/LOG")
	if err != nil {
		t.Fatal(err)
	}
	want, got := map[string]bool{}, map[string]bool{}
	for line := range strings.Lines(string(events)) {
		if line != "event\tfields\n" {
			want[strings.TrimSpace(line)] = true
		}
	}
	var dump []string
	last := 0
	for line := range strings.Lines(string(log)) {
		line = strings.TrimSuffix(logPrefix.ReplaceAllString(line, ""), "\n")
		if text, ok := strings.CutPrefix(line, "EVENT_LOG_v1 "); ok {
			event, fields := eventFields(t, text)
			got[event+"\t"+strings.Join(fields, " ")] = true
			continue
		}
		if strings.Contains(line, "Options.") || strings.HasPrefix(line, "  ") {
			dump = append(dump, logPointer.ReplaceAllString(line, "POINTER"))
		}
		if strings.Contains(line, "Options.") {
			last = len(dump)
		}
	}
	for _, e := range slices.Sorted(maps.Keys(want)) {
		if !got[e] {
			t.Errorf("upstream's event is not logged: %s", e)
		}
	}
	for _, e := range slices.Sorted(maps.Keys(got)) {
		if !want[e] {
			t.Errorf("upstream's log has no such event: %s", e)
		}
	}
	compareDump(t, strings.Split(strings.TrimSuffix(string(options), "\n"), "\n"), dump[:last])
}

// dumpDiffers are lines whose values are not upstream's: what has no pointer here,
// and the block cache, of which upstream's db_bench has another kind.
var dumpDiffers = regexp.MustCompile(`^ *(table_factory options: +flush_block_policy_factory|Options\.(env|info_log|write_buffer_manager)|block_cache_name|num_shard_bits *):?|_pri_pool_ratio: `)

func compareDump(t *testing.T, want, got []string) {
	t.Helper()
	got = slices.DeleteFunc(got, func(l string) bool { return strings.Contains(l, "_pri_pool_ratio: ") })
	for i := range max(len(want), len(got)) {
		switch {
		case i >= len(want):
			t.Errorf("upstream's dump has no line %q", got[i])
		case i >= len(got):
			t.Errorf("the dump lacks %q", want[i])
		case want[i] != got[i] && !(dumpDiffers.MatchString(want[i]) && nameOfLine(want[i]) == nameOfLine(got[i])):
			t.Fatalf("line %d of the dump is\n%s\nupstream's\n%s", i, got[i], want[i])
		}
	}
}

func nameOfLine(line string) string {
	name, _, _ := strings.Cut(line, ": ")
	return fmt.Sprint(len(line)-len(strings.TrimLeft(line, " ")), name)
}
