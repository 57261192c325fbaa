// Port of tools/ldb_cmd.cc: DBQuerierCommand. Differs: a line without the key
// that its command needs is told so.

package tools

import (
	"bufio"
	"strings"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

const queryHelp = `get <key> [--read_timestamp=<uint64_ts>]
put <key> [<write_timestamp>] <value>
delete <key> [<write_timestamp>]
count [--from=<start_key>] [--to=<end_key>] [--read_timestamp=<uint64_ts>]
`

// maxQueryLine in bytes.
const maxQueryLine = 64 << 20

// doQuery reads commands from the input, one a line.
func (c *LDBCommand) doQuery() {
	in := bufio.NewScanner(c.tool.Stdin)
	in.Buffer(nil, maxQueryLine)
	for in.Scan() {
		line := in.Text()
		var p parsedParams
		for word := range strings.SplitSeq(line, " ") {
			p.add(word)
		}
		if len(p.words) == 0 || len(p.flags) > 0 {
			c.printf("Bad command\n")
			continue
		}
		err := c.query(line, &p)
		if c.state == execFailed {
			return
		}
		if err != nil && !rocksdb.IsNotFound(err) && rocksdb.CodeOf(err) != rocksdb.CodeInvalidArgument {
			c.failErr("", err)
			return
		}
		if err := c.out.Flush(); err != nil { // somebody may be waiting for the answer
			c.failErr("", err)
			return
		}
	}
	if err := in.Err(); err != nil {
		c.failErr("", err)
	}
}

func (c *LDBCommand) query(line string, p *parsedParams) error {
	switch cmd := p.words[0]; {
	case cmd == "help":
		c.printf("%s", queryHelp)
	case cmd == "delete" && len(p.optionMap) == 0:
		return c.queryDelete(p)
	case cmd == "put" && len(p.optionMap) == 0:
		return c.queryPut(p)
	case cmd == "get" && len(p.words) == 2:
		return c.queryGet(p)
	case cmd == "count":
		return c.queryCount(p)
	default:
		c.printf("Unknown command %s\n", line)
	}
	return nil
}

// queryTimestamp reads a timestamp given to cmd; ok is false, and a line was
// printed, if it is not a number.
func (c *LDBCommand) queryTimestamp(cmd, text string) (ts []byte, ok bool) {
	ts, err := encodeTimestamp(text)
	if err != nil {
		c.printf("%s gets invalid argument: %v\n", cmd, err)
		return nil, false
	}
	return ts, true
}

// timestampText is what an answer says of a timestamp, which may be nil.
func (c *LDBCommand) timestampText(name string, ts []byte) string {
	if len(ts) == 0 {
		return ""
	}
	return " " + name + ": " + c.family().GetComparator().TimestampToString(ts)
}

func outcome(err error) string {
	if err != nil {
		return " failed: " + err.Error()
	}
	return " succeeded"
}

func (c *LDBCommand) queryDelete(p *parsedParams) error {
	if n := len(p.words); n != 2 && n != 3 {
		c.printf("delete gets invalid arguments\n")
		return nil
	}
	key := c.key(p.words[1])
	if c.state == execFailed {
		return nil
	}
	wo := rocksdb.DefaultWriteOptions()
	var ts []byte
	var err error
	if len(p.words) == 2 {
		err = c.db.Delete(&wo, c.family(), key)
	} else {
		var ok bool
		if ts, ok = c.queryTimestamp("delete", p.words[2]); !ok {
			return nil
		}
		err = c.db.DeleteWithTimestamp(&wo, c.family(), key, ts)
	}
	c.printf("delete %s%s%s\n", c.keyText(key), c.timestampText("write_ts", ts), outcome(err))
	return err
}

func (c *LDBCommand) queryPut(p *parsedParams) error {
	n := len(p.words)
	if n != 3 && n != 4 {
		c.printf("put gets invalid arguments\n")
		return nil
	}
	key, value := c.key(p.words[1]), c.value(p.words[n-1])
	if c.state == execFailed {
		return nil
	}
	var ts []byte
	var err error
	if n == 3 {
		err = c.put(key, value)
	} else {
		var ok bool
		if ts, ok = c.queryTimestamp("put", p.words[2]); !ok {
			return nil
		}
		wo := rocksdb.DefaultWriteOptions()
		err = c.db.PutWithTimestamp(&wo, c.family(), key, ts, value)
	}
	c.printf("put %s%s => %s%s\n", c.keyText(key), c.timestampText("write_ts", ts), c.valueText(value), outcome(err))
	return err
}

// queryOptions reads --read_timestamp; others holds what else is allowed.
func (c *LDBCommand) queryOptions(cmd string, p *parsedParams, others ...string) (ro rocksdb.ReadOptions, ok bool) {
	ro = rocksdb.DefaultReadOptions()
	allowed := " read_timestamp " + strings.Join(others, " ") + " "
	for name, text := range p.optionMap {
		if !strings.Contains(allowed, " "+name+" ") {
			c.printf("%s gets invalid arguments\n", cmd)
			return ro, false
		}
		if name == "read_timestamp" {
			if ro.Timestamp, ok = c.queryTimestamp(cmd, text); !ok {
				return ro, false
			}
		}
	}
	return ro, true
}

func (c *LDBCommand) queryGet(p *parsedParams) error {
	key := c.key(p.words[1])
	if c.state == execFailed {
		return nil
	}
	ro, ok := c.queryOptions("get", p)
	if !ok {
		return nil
	}
	var v rocksdb.PinnableSlice
	defer v.Release()
	err := c.get(&ro, key, &v)
	if err == nil {
		c.printf("%s\n", c.entryText(key, ro.Timestamp, v.Data(), nil, c.family().GetComparator()))
		return nil
	}
	c.printf("get %s%s status: %v\n", c.keyText(key), c.timestampText("read_timestamp", ro.Timestamp), err)
	return err
}

func (c *LDBCommand) queryCount(p *parsedParams) error {
	ro, ok := c.queryOptions("count", p, "from", "to")
	if !ok {
		return nil
	}
	var from, to []byte
	if text, ok := p.optionMap["from"]; ok {
		from = c.key(text)
	}
	if text, ok := p.optionMap["to"]; ok {
		to = c.key(text)
	}
	if c.state == execFailed {
		return nil
	}
	if len(to) > 0 {
		ro.IterateUpperBound = to
	}
	it := c.db.NewIterator(&ro, c.family())
	defer c.closeIterator(it)
	n := 0
	for seekFrom(it, from); it.Valid(); it.Next() {
		n++
	}
	if err := it.Status(); err != nil {
		c.printf("scan from %s%s to %s failed: %v\n", c.keyText(from), c.timestampText("read_timestamp", ro.Timestamp), c.keyText(to), err)
		return nil
	}
	c.printf("%d\n", n)
	return nil
}
