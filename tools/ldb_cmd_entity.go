// Port of tools/ldb_cmd.cc: the commands about wide columns.

package tools

import (
	"bytes"
	"strings"

	"github.com/rocksdb-go/rocksdb/db/wide"
	"github.com/rocksdb-go/rocksdb/db/writebatch"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

func (c *LDBCommand) initPutEntity() {
	if len(c.params) < 2 {
		c.fail("<key> and at least one column <column_name>:<column_value> must be specified for the put_entity command")
		return
	}
	c.args.keys = append(c.args.keys, c.key(c.params[0]))
	for _, p := range c.params[1:] {
		// Upstream splits at each colon and drops an empty part at the end.
		parts := strings.Split(p, ":")
		if n := len(parts); parts[n-1] == "" {
			parts = parts[:n-1]
		}
		if len(parts) != 2 {
			c.fail("wide column format needs to be <column_name>:<column_value> (did you mean put <key> <value>?)")
			return
		}
		c.args.columns = append(c.args.columns, rocksdb.WideColumn{Name: c.value(parts[0]), Value: c.value(parts[1])})
	}
}

func (c *LDBCommand) doPutEntity() {
	batch := writebatch.New()
	err := batch.PutEntityCF(c.family(), c.args.keys[0], c.args.columns)
	if err == nil {
		err = c.write(batch)
	}
	c.ok(err)
}

// entity gives the columns of a key as text; a plain value is one column
// without a name.
func (c *LDBCommand) entity(ro *rocksdb.ReadOptions, key []byte) (string, error) {
	if c.ttlDB != nil {
		return "", rocksdb.NotSupported("wide columns with --ttl")
	}
	one := *ro
	one.TotalOrderSeek = true
	it := c.db.NewIterator(&one, c.family())
	defer c.closeIterator(it)
	it.Seek(key)
	if err := it.Status(); err != nil {
		return "", err
	}
	if !it.Valid() || !bytes.Equal(it.Key(), key) {
		return "", rocksdb.NotFound()
	}
	return wide.DumpWideColumns(it.Columns(), c.valueHex), nil
}

func (c *LDBCommand) doGetEntity() {
	ro, err := c.readOptions(c.family())
	text := ""
	if err == nil {
		text, err = c.entity(&ro, c.args.keys[0])
	}
	if err != nil {
		c.failErr("GetEntity failed: ", err)
		return
	}
	c.printf("%s\n", text)
}

func (c *LDBCommand) initMultiGetEntity() {
	if len(c.params) < 1 {
		c.fail("At least one <key> must be specified for the multi_get_entity command")
		return
	}
	for _, p := range c.params {
		c.args.keys = append(c.args.keys, c.key(p))
	}
}

func (c *LDBCommand) doMultiGetEntity() {
	ro, err := c.readOptions(c.family())
	if err != nil {
		c.failErr("MultiGetEntity failed: ", err)
		return
	}
	for _, key := range c.args.keys {
		text, err := c.entity(&ro, key)
		switch {
		case err == nil:
			c.printf("%s%s%s\n", c.keyText(key), delim, text)
		case rocksdb.IsNotFound(err):
			c.printf("Key not found: %s\n", c.keyText(key))
		default:
			c.warnf("Status for key %s: %v\n", c.keyText(key), err)
			c.fail("one or more keys had non-okay status")
		}
	}
}
