// Port of tools/ldb_cmd.cc: scan, dump, idump.

package tools

import (
	"bytes"

	"github.com/rocksdb-go/rocksdb/db/blob/blobformat"
	dbimpl "github.com/rocksdb-go/rocksdb/db/db_impl"
	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/db/wide"
	"github.com/rocksdb-go/rocksdb/file/filename"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/monitoring"
	"github.com/rocksdb-go/rocksdb/table/sstfile"
	"github.com/rocksdb-go/rocksdb/util"
	"github.com/rocksdb-go/rocksdb/utilities"
	blobdb "github.com/rocksdb-go/rocksdb/utilities/blob_db"
)

// unboundedKeys is --max_keys when it is not given.
const unboundedKeys = -1

func (c *LDBCommand) initRange() {
	c.args.from, c.args.to = c.rangeArg("from", c.keyHex), c.rangeArg("to", c.keyHex)
}

func (c *LDBCommand) initScan() {
	c.initRange()
	c.args.maxKeys = c.maxKeys(unboundedKeys)
}

// initIDump differs from initScan in that bounds are text unless
// --input_key_hex is there.
func (c *LDBCommand) initIDump() {
	hex := c.isFlag("input_key_hex")
	c.args.from, c.args.to = c.rangeArg("from", hex), c.rangeArg("to", hex)
	c.args.maxKeys = unboundedKeys
	if v, ok := c.intOption("max_keys"); ok {
		c.args.maxKeys = v
	}
}

// timestampOf is the timestamp the iterator stands on, nil where keys have none.
func timestampOf(it *dbimpl.Iterator, ucmp rocksdb.Comparator) []byte {
	if ucmp.TimestampSize() == 0 {
		return nil
	}
	return it.Timestamp()
}

func seekFrom(it *dbimpl.Iterator, from []byte) {
	if from != nil {
		it.Seek(from)
	} else {
		it.SeekToFirst()
	}
}

func (c *LDBCommand) closeIterator(it *dbimpl.Iterator) {
	if err := it.Close(); err != nil && c.state != execFailed {
		c.failErr("", err)
	}
}

func (c *LDBCommand) doScan() {
	ro, err := c.readOptions(c.family())
	if err != nil {
		c.failErr("Scan failed: ", err)
		return
	}
	ro.TotalOrderSeek = true
	noValue, writeTime := c.isFlag("no_value"), c.isFlag("get_write_unix_time")
	ucmp := c.family().GetComparator()
	it := c.db.NewIterator(&ro, c.family())
	defer c.closeIterator(it)
	seekFrom(it, c.args.from)
	times, ok := c.timeRange()
	if !ok {
		return
	}
	c.printRange("Scanning", times)
	for n := 0; it.Valid() && (c.args.to == nil || bytes.Compare(it.Key(), c.args.to) < 0); it.Next() {
		at, ok := c.inRange(it, times)
		if !ok {
			continue
		}
		_, _ = c.out.WriteString(times.timeText(at)) // an error comes again at the last flush
		if noValue {
			c.printKey(it.Key())
		} else {
			value, columns := c.valueOf(it)
			c.line(c.entryText(it.Key(), timestampOf(it, ucmp), value, columns, ucmp))
		}
		if writeTime {
			c.printWriteTime(it)
		}
		if n++; c.args.maxKeys >= 0 && n >= c.args.maxKeys {
			break
		}
	}
	if err := it.Status(); err != nil {
		c.failErr("", err)
	}
}

func (c *LDBCommand) printKey(key []byte) {
	switch f := c.tool.LDBOptions.KeyFormatter; {
	case c.keyHex:
		c.printf("%s\n", stringToHex(key))
	case f != nil:
		c.printf("%s\n", f.Format(key))
	default:
		c.printf("%s\n", key)
	}
}

func (c *LDBCommand) printWriteTime(it *dbimpl.Iterator) {
	text, err := it.GetProperty("rocksdb.iterator.write-time")
	var t uint64
	if err == nil {
		t, err = util.DecodeU64Ts([]byte(text))
	}
	if err != nil {
		c.printf("  Failed to get write unix time: %v\n", err)
		return
	}
	c.printf("  write unix time: %d\n", t)
}

// prefixCounter prints, for each run of keys with one prefix, how many there
// are and their size.
type prefixCounter struct {
	c           *LDBCommand
	prefix      string
	count, size uint64
}

// delimiter is --count_delim's, if it is there.
func (c *LDBCommand) delimiter() (d byte, ok bool) {
	if text, ok := c.optionMap["count_delim"]; ok {
		return text[0], true
	}
	return '.', c.isFlag("count_delim")
}

func (p *prefixCounter) add(prefix string, size int) {
	// Upstream takes an empty prefix for the absence of one.
	if p.prefix != "" && p.prefix != prefix {
		p.print()
		p.count, p.size = 0, 0
	}
	p.prefix = prefix
	p.count++
	p.size += uint64(size)
}

func (p *prefixCounter) print() {
	p.c.printf("%s => count:%d\tsize:%d\n", p.prefix, p.count, p.size)
}

// cutAny is s up to the first of the bytes in stops.
func cutAny(s []byte, stops ...byte) []byte {
	for i, b := range s {
		if bytes.IndexByte(stops, b) >= 0 {
			return s[:i]
		}
	}
	return s
}

func (c *LDBCommand) printStats() {
	if c.isFlag("stats") {
		if text, ok := c.db.GetProperty(c.family(), "rocksdb.stats"); ok {
			c.printf("%s\n", text)
		}
	}
}

func (c *LDBCommand) initDump() {
	c.initScan()
	c.args.path = c.optionMap["path"]
	if c.dbPath == "" {
		c.dbPath = c.args.path
	}
}

// doDump prints a database's entries or, where --path names a file, what is in
// that.
func (c *LDBCommand) doDump() {
	if c.db != nil {
		c.dumpDB()
		return
	}
	if c.args.path == "" {
		return // opening failed, and said so
	}
	c.state, c.message = execSucceeded, ""
	p, ok := filename.ParseFileName(baseName(c.args.path), "")
	if !ok {
		c.fail("Can't parse file type: " + c.args.path)
		return
	}
	switch p.Type {
	case rocksdb.WalFile:
		c.dumpWALFiles(c.args.path, walDump{header: true, values: true, writeCommitted: true})
	case rocksdb.DescriptorFile:
		c.dumpManifest(c.args.path, false, false)
	case rocksdb.TableFile:
		c.dumpTable(c.args.path, c.keyHex, c.args.from, c.args.to)
	case rocksdb.BlobFile:
		c.dumpBlobFile(c.args.path, c.keyHex, c.valueHex)
	default:
		c.fail("File type not supported: " + c.args.path)
	}
}

// dumpBlobFile prints a blob file; a damaged one makes the command fail.
func (c *LDBCommand) dumpBlobFile(path string, keyHex, valueHex bool) {
	as := func(hex bool) blobdb.DisplayType {
		if hex {
			return blobdb.DisplayHex
		}
		return blobdb.DisplayRaw
	}
	t := blobdb.BlobDumpTool{FS: c.fs(), Out: c.out, Key: as(keyHex), Summary: true}
	if c.isFlag("dump_uncompressed_blobs") {
		t.UncompressedBlob = as(valueHex)
	} else {
		t.Blob = as(valueHex)
	}
	if err := t.Run(path); err != nil {
		c.failErr("", err)
	}
}

func (c *LDBCommand) dumpDB() {
	c.printStats()
	ro := rocksdb.DefaultReadOptions()
	ucmp := c.family().GetComparator()
	if n := ucmp.TimestampSize(); n > 0 {
		ro.Timestamp = bytes.Repeat([]byte{0xff}, n)
	}
	ro.TotalOrderSeek = true
	it := c.db.NewIterator(&ro, c.family())
	defer c.closeIterator(it)
	seekFrom(it, c.args.from)
	countOnly := c.isFlag("count_only")
	stop, countPrefixes := c.delimiter()
	prefixes := prefixCounter{c: c}
	var sizes monitoring.HistogramImpl
	sizes.Clear()
	var count uint64
	times, ok := c.timeRange()
	if !ok {
		return
	}
	buckets := c.timeBuckets(times)
	if c.state == execFailed {
		return
	}
	if !countOnly && !countPrefixes {
		c.printRange("Dumping", times)
	}
	var p *progress
	if !isTerminal(c.tool.Stdout) { // else the keys themselves are seen
		var total uint64
		if c.args.from == nil && c.args.to == nil && c.args.maxKeys < 0 {
			total, _ = c.db.GetIntProperty(c.family(), "rocksdb.estimate-num-keys")
		}
		p = startProgress(c.tool.Stderr, "dump", "keys", total)
		defer p.stop()
	}
	for max := c.args.maxKeys; it.Valid() && max != 0; it.Next() {
		p.add(1)
		if c.args.to != nil && ucmp.CompareWithoutTimestamp(it.Key(), false, c.args.to, false) >= 0 {
			break
		}
		at, ok := c.inRange(it, times)
		if !ok {
			continue
		}
		if max > 0 {
			max--
		}
		buckets.add(at)
		count++
		value, columns := c.valueOf(it)
		if countPrefixes {
			prefixes.add(string(cutAny(it.Key(), stop, 0)), len(it.Key())+len(value))
		}
		if countOnly {
			sizes.Add(uint64(len(value)))
		}
		if !countOnly && !countPrefixes {
			c.line(times.timeText(at) + c.entryText(it.Key(), timestampOf(it, ucmp), value, columns, ucmp))
		}
	}
	if err := it.Status(); err != nil {
		c.failErr("Iterator error: ", err)
	}
	if len(buckets.counts) > 0 {
		buckets.print(c)
	} else if countPrefixes {
		prefixes.print()
	} else {
		c.printf("Keys in range: %d\n", count)
	}
	if countOnly {
		c.printf("Value size distribution: \n%s\n", sizes.ToString())
	}
}

func (c *LDBCommand) doIDump() {
	c.printStats()
	ucmp := c.family().GetComparator()
	countOnly, decodeBlobs := c.isFlag("count_only"), c.isFlag("decode_blob_index")
	stop, countPrefixes := c.delimiter()
	prefixes := prefixCounter{c: c}
	count := 0
	var row []byte
	err := utilities.GetAllKeyVersions(c.family().CFD(), c.args.from, c.args.to, func(v *utilities.KeyVersion) bool {
		userKey := v.UserKey[:max(0, len(v.UserKey)-ucmp.TimestampSize())]
		if c.args.to != nil && ucmp.CompareWithoutTimestamp(userKey, false, c.args.to, false) == 0 {
			return false
		}
		count++
		switch {
		case countPrefixes:
			row = dbformat.AppendInternalKey(row[:0], v.UserKey, v.Sequence, v.Type)
			prefixes.add(string(cutAny(row, stop, 0, 1)), len(cutAny(row, 0, 1))+len(cutAny(v.Value, 0, 1)))
		case !countOnly:
			c.printKeyVersion(v, ucmp, decodeBlobs)
		}
		return c.args.maxKeys <= 0 || count < c.args.maxKeys
	})
	if err != nil {
		c.failErr("", err)
		return
	}
	if countPrefixes {
		prefixes.print()
	} else {
		c.printf("Internal keys in range: %d\n", count)
	}
}

// dumpTable prints a table file's entries and properties. As upstream has it, a
// file that cannot be read is told of on the error stream.
func (c *LDBCommand) dumpTable(path string, hex bool, from, to []byte) {
	o := c.options
	o.Env = c.env()
	_ = c.out.Flush() // an error comes again at the last flush
	d, err := sstfile.NewSstFileDumper(&sstfile.DumperOptions{Options: o, Path: path, ReadaheadSize: defaultSstReadahead,
		OutputHex: hex, DecodeBlobIndex: c.isFlag("decode_blob_index"), Out: c.out, ErrOut: c.tool.Stderr})
	if err != nil {
		c.warnf("Error in reading SST file %s%v\n", path, err)
		return
	}
	defer func() {
		if err := d.Close(); err != nil && c.state != execFailed {
			c.failErr("", err)
		}
	}()
	if err := d.ReadSequential(true, &sstfile.ReadRange{From: from, To: to}); err != nil {
		c.warnf("Error in reading SST file %s%v\n", path, err)
		return
	}
	// TableProperties::ToString's delimiters are "; " and "=" unless told.
	c.printf("\nTable Properties:\n%s\n", sstfile.PropertiesText(d.Properties(), "\n", "="))
}

func (c *LDBCommand) printKeyVersion(v *utilities.KeyVersion, ucmp rocksdb.Comparator, decodeBlobs bool) {
	key := sstfile.KeyText(&dbformat.ParsedInternalKey{UserKey: v.UserKey, Sequence: v.Sequence, Type: v.Type}, c.keyHex, ucmp)
	switch {
	case v.Type == dbformat.TypeBlobIndex && decodeBlobs:
		var b blobformat.BlobIndex
		if err := b.DecodeFrom(v.Value); err != nil {
			c.warnf("%s => error decoding blob index =>\n", key)
			return
		}
		c.printf("%s => %s\n", key, b.DebugString(c.valueHex))
	case v.Type == dbformat.TypeWideColumnEntity:
		text, err := wide.DumpEntity(v.Value, c.valueHex)
		if err != nil {
			c.warnf("%s => error deserializing wide columns\n", key)
			return
		}
		c.printf("%s => %s\n", key, text)
	default:
		c.line(key + " => " + util.SliceToString(v.Value, c.valueHex))
	}
}
