// Port of tools/ldb_cmd.cc: DBQuerierCommand. Differs: a line without the key
// that its command needs is told so.

package tools

import (
	"bufio"
	"fmt"
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

func outcome(err error) string {
	if err != nil {
		return " failed: " + err.Error()
	}
	return " succeeded"
}

func (c *LDBCommand) queryDelete(p *parsedParams) error {
	var err error
	switch len(p.words) {
	case 2:
		key := c.key(p.words[1])
		if c.state == execFailed {
			return nil
		}
		wo := rocksdb.DefaultWriteOptions()
		err = c.db.Delete(&wo, c.family(), key)
		c.printf("delete %s%s\n", c.keyText(key), outcome(err))
	case 3:
		err = rocksdb.NotSupported("delete with a timestamp")
	default:
		c.printf("delete gets invalid arguments\n")
	}
	return err
}

func (c *LDBCommand) queryPut(p *parsedParams) error {
	var err error
	switch len(p.words) {
	case 3:
		key, value := c.key(p.words[1]), c.value(p.words[2])
		if c.state == execFailed {
			return nil
		}
		err = c.put(key, value)
		c.printf("put %s => %s%s\n", c.keyText(key), c.valueText(value), outcome(err))
	case 4:
		err = rocksdb.NotSupported("put with a timestamp")
	default:
		c.printf("put gets invalid arguments\n")
	}
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
			ts, err := encodeTimestamp(text)
			if err != nil {
				c.printf("%s gets invalid argument: %v\n", cmd, err)
				return ro, false
			}
			ro.Timestamp = ts
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
	ucmp := c.family().GetComparator()
	var v rocksdb.PinnableSlice
	defer v.Release()
	err := c.get(&ro, key, &v)
	if err == nil {
		c.printf("%s\n", c.entryText(key, ro.Timestamp, v.Data(), nil, ucmp))
		return nil
	}
	ts := ""
	if len(ro.Timestamp) > 0 {
		ts = " read_timestamp: " + ucmp.TimestampToString(ro.Timestamp)
	}
	c.printf("get %s%s status: %v\n", c.keyText(key), ts, err)
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
	err := it.Status()
	if err != nil {
		c.printf("%s\n", fmt.Sprintf("scan from %s to %s failed: %v", c.keyText(from), c.keyText(to), err))
		return nil
	}
	c.printf("%d\n", n)
	return nil
}
