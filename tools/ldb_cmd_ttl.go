// Port of tools/ldb_cmd.cc: --ttl. Differs: a database that has no other family
// is not refused after the work was done.

package tools

import (
	"time"

	dbimpl "github.com/rocksdb-go/rocksdb/db/db_impl"
	"github.com/rocksdb-go/rocksdb/db/writebatch"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/utilities/ttl"
)

// openTTL opens a database whose values have times.
func (c *LDBCommand) openTTL() {
	_, named := c.optionMap["column_family"]
	if named || len(c.columnFamilies) > 0 {
		c.fail("ldb doesn't support TTL DB with multiple column families")
		return
	}
	d, err := ttl.Open(&c.options, c.dbPath, 0, c.def.readOnly)
	if err != nil {
		c.failErr("", err)
		return
	}
	c.ttlDB, c.db = d, d.Base()
}

// The calls below are the database's, or those of the one with times.

func (c *LDBCommand) get(ro *rocksdb.ReadOptions, key []byte, value *rocksdb.PinnableSlice) error {
	if c.ttlDB != nil {
		return c.ttlDB.Get(ro, c.family(), key, value)
	}
	return c.db.Get(ro, c.family(), key, value)
}

func (c *LDBCommand) put(key, value []byte) error {
	wo := rocksdb.DefaultWriteOptions()
	if c.ttlDB != nil {
		return c.ttlDB.Put(&wo, c.family(), key, value)
	}
	return c.db.Put(&wo, c.family(), key, value)
}

func (c *LDBCommand) write(batch *writebatch.WriteBatch) error {
	wo := rocksdb.DefaultWriteOptions()
	if c.ttlDB != nil {
		return c.ttlDB.Write(&wo, batch)
	}
	return c.db.Write(&wo, batch)
}

// valueOf is the value that an iterator stands on, and its columns, which
// databases with times do not have.
func (c *LDBCommand) valueOf(it *dbimpl.Iterator) ([]byte, rocksdb.WideColumns) {
	if c.ttlDB != nil {
		return ttl.Iterator{Iterator: it}.Value(), nil
	}
	return it.Value(), it.Columns()
}

// timeRange is --start_time and --end_time, the latter excluded.
type timeRange struct {
	start, end int
	// shown says that times are printed.
	shown bool
}

// timeRange reads the options; ok is false for a range that ends before it
// begins.
func (c *LDBCommand) timeRange() (r timeRange, ok bool) {
	r = timeRange{start: ttl.MinTimestamp, end: ttl.MaxTimestamp, shown: c.ttlDB != nil && c.isFlag("timestamp")}
	if v, ok := c.intOption("start_time"); ok {
		r.start = v
	}
	if v, ok := c.intOption("end_time"); ok {
		r.end = v
	}
	if r.end < r.start {
		c.warnf("Error: End time can't be less than start time\n")
		return r, false
	}
	return r, true
}

// humanTime is a time as C's ctime has it.
func humanTime(seconds int) string {
	return time.Unix(int64(seconds), 0).Format("Mon Jan _2 15:04:05 2006")
}

// printRange prints the line above what is shown with times.
func (c *LDBCommand) printRange(what string, r timeRange) {
	if r.shown {
		c.printf("%s key-values from %s to %s\n", what, humanTime(r.start), humanTime(r.end))
	}
}

// inRange tells whether the entry an iterator stands on was written in the
// range, and when. Without times all are.
func (c *LDBCommand) inRange(it *dbimpl.Iterator, r timeRange) (at int, ok bool) {
	if c.ttlDB == nil {
		return 0, true
	}
	at = int(ttl.Iterator{Iterator: it}.TTLTimestamp())
	return at, at >= r.start && at < r.end
}

// timeText is what stands before an entry that is shown with its time.
func (r timeRange) timeText(at int) string {
	if !r.shown {
		return ""
	}
	return humanTime(at) + " "
}

// mostBuckets bounds what --bucket asks for: a count for each is kept and
// printed.
const mostBuckets = 1 << 20

// timeBuckets counts the entries of spans of time.
type timeBuckets struct {
	r      timeRange
	size   int
	counts []uint64 // none where there is but one span
}

func (c *LDBCommand) timeBuckets(r timeRange) (b timeBuckets) {
	b = timeBuckets{r: r, size: r.end - r.start}
	if v, ok := c.intOption("bucket"); ok && v > 0 {
		b.size = v
	}
	if span := r.end - r.start; c.ttlDB != nil && b.size < span {
		n := (span + b.size - 1) / b.size
		if n > mostBuckets {
			c.fail("bucket is too small for the range of times.")
			return b
		}
		b.counts = make([]uint64, n)
	}
	return b
}

func (b *timeBuckets) add(at int) {
	if len(b.counts) > 0 {
		b.counts[(at-b.r.start)/b.size]++
	}
}

func (b *timeBuckets) print(c *LDBCommand) {
	at := b.r.start
	for i, n := range b.counts {
		end := at + b.size
		if i == len(b.counts)-1 {
			end = b.r.end
		}
		c.printf("Keys in range %s to %s : %d\n", humanTime(at), humanTime(end), n)
		at = end
	}
}
