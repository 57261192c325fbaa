// Port of tools/ldb_cmd.cc: the commands that read and write single keys.

package tools

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/rocksdb-go/rocksdb/db"
	"github.com/rocksdb-go/rocksdb/db/writebatch"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

// commandArgs are the arguments of all commands; each uses a few.
type commandArgs struct {
	keys, values [][]byte
	columns      rocksdb.WideColumns
	from, to     []byte // nil where not given
	maxKeys      int
	name         string // of a family or a property
	path         string
	number       uint64 // of a table
	oldLevels    int
	newLevels    int
}

var hexOptions = []string{"hex", "key_hex", "value_hex"}

func with(options ...string) []string { return append(append([]string{}, hexOptions...), options...) }

// oneKey reads the only parameter as a key.
func oneKey(message string) func(*LDBCommand) {
	return func(c *LDBCommand) {
		if len(c.params) != 1 {
			c.fail(message)
			return
		}
		c.args.keys = append(c.args.keys, c.key(c.params[0]))
	}
}

func (c *LDBCommand) initMultiGet() {
	if len(c.params) < 1 {
		c.fail("At least one <key> must be specified for multi_get.")
		return
	}
	for _, p := range c.params {
		c.args.keys = append(c.args.keys, c.key(p))
	}
}

func (c *LDBCommand) initPut() {
	if len(c.params) != 2 {
		c.fail("<key> and <value> must be specified for the put command")
		return
	}
	c.args.keys = append(c.args.keys, c.key(c.params[0]))
	c.args.values = append(c.args.values, c.value(c.params[1]))
}

func (c *LDBCommand) initBatchPut() {
	switch n := len(c.params); {
	case n < 2:
		c.fail("At least one <key> <value> pair must be specified batchput.")
	case n%2 != 0:
		c.fail("Equal number of <key>s and <value>s must be specified for batchput.")
	default:
		for i := 0; i < n; i += 2 {
			c.args.keys = append(c.args.keys, c.key(c.params[i]))
			c.args.values = append(c.args.values, c.value(c.params[i+1]))
		}
	}
}

func (c *LDBCommand) initDeleteRange() {
	if len(c.params) != 2 {
		c.fail("begin and end keys must be specified for the delete command")
		return
	}
	c.args.keys = append(c.args.keys, c.key(c.params[0]), c.key(c.params[1]))
}

// encodeTimestamp makes a timestamp of a number's leading digits, as C++ streams
// read an unsigned number: a minus counts down from 2^64.
func encodeTimestamp(s string) ([]byte, error) {
	s = strings.TrimLeft(s, " \t\n\v\f\r")
	digits, negative := strings.CutPrefix(s, "-")
	if !negative {
		digits = strings.TrimPrefix(s, "+")
	}
	end := 0
	for end < len(digits) && digits[end] >= '0' && digits[end] <= '9' {
		end++
	}
	v, err := strconv.ParseUint(digits[:end], 10, 64)
	if err != nil {
		return nil, rocksdb.InvalidArgument("user provided timestamp is not a valid uint64 value.")
	}
	if negative {
		v = -v
	}
	return util.EncodeU64Ts(v), nil
}

// readOptions are those for the family at --read_timestamp.
func (c *LDBCommand) readOptions(cf *db.ColumnFamilyHandleImpl) (rocksdb.ReadOptions, error) {
	ro := rocksdb.DefaultReadOptions()
	hasTS := cf.GetComparator().TimestampSize() > 0
	text, given := c.optionMap["read_timestamp"]
	empty := c.isFlag("read_timestamp") && !given
	var err error
	switch {
	case hasTS && empty:
		err = rocksdb.InvalidArgument("column family enables user-defined timestamp while --read_timestamp is empty.")
	case hasTS && !given:
		err = rocksdb.InvalidArgument("column family enables user-defined timestamp while --read_timestamp is not provided.")
	case !hasTS && given:
		err = rocksdb.InvalidArgument("column family does not enable user-defined timestamps while --read_timestamp is provided.")
	case given:
		ro.Timestamp, err = encodeTimestamp(text)
	}
	return ro, err
}

func (c *LDBCommand) ok(err error) {
	if err != nil {
		c.failErr("", err)
		return
	}
	c.printf("OK\n")
}

func (c *LDBCommand) doGet() {
	ro, err := c.readOptions(c.family())
	var v rocksdb.PinnableSlice
	if err == nil {
		err = c.get(&ro, c.args.keys[0], &v)
	}
	defer v.Release()
	switch {
	case err == nil:
		c.printf("%s\n", c.valueText(v.Data()))
	case rocksdb.IsNotFound(err):
		c.printf("Key not found\n")
	default:
		c.failErr("Get failed: ", err)
	}
}

func (c *LDBCommand) doMultiGet() {
	ro, err := c.readOptions(c.family())
	if err != nil {
		c.failErr("MultiGet failed: ", err)
		return
	}
	keys := c.args.keys
	values := make([]rocksdb.PinnableSlice, len(keys))
	errs := make([]error, len(keys))
	c.db.MultiGet(&ro, c.family(), keys, values, errs)
	for i, key := range keys {
		switch err := errs[i]; {
		case err == nil:
			c.printf("%s%s%s\n", c.keyText(key), delim, c.valueText(values[i].Data()))
			values[i].Release()
		case rocksdb.IsNotFound(err):
			c.printf("Key not found: %s\n", c.keyText(key))
		default:
			c.warnf("Status for key %s: %v\n", c.keyText(key), err)
			c.fail("one or more keys had non-okay status")
		}
	}
}

func (c *LDBCommand) doPut() {
	c.ok(c.put(c.args.keys[0], c.args.values[0]))
}

func (c *LDBCommand) doBatchPut() {
	batch := writebatch.New()
	for i, key := range c.args.keys {
		if err := batch.PutCF(c.family(), key, c.args.values[i]); err != nil {
			c.fail(fmt.Sprintf("Put to write batch failed: %s=>%s error: %v", key, c.args.values[i], err))
			return
		}
	}
	if err := c.write(batch); err != nil {
		c.failErr("Write failed: ", err)
		return
	}
	c.printf("OK\n")
}

func (c *LDBCommand) doDelete() {
	wo := rocksdb.DefaultWriteOptions()
	c.ok(c.db.Delete(&wo, c.family(), c.args.keys[0]))
}

func (c *LDBCommand) doSingleDelete() {
	wo := rocksdb.DefaultWriteOptions()
	c.ok(c.db.SingleDelete(&wo, c.family(), c.args.keys[0]))
}

func (c *LDBCommand) doDeleteRange() {
	wo := rocksdb.DefaultWriteOptions()
	c.ok(c.db.DeleteRange(&wo, c.family(), c.args.keys[0], c.args.keys[1]))
}
