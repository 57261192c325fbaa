// Port of tools/ldb_cmd.cc: DumpWalFile and WALDumperCommand.

package tools

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/rocksdb-go/rocksdb/db/wal"
	"github.com/rocksdb-go/rocksdb/db/wide"
	"github.com/rocksdb-go/rocksdb/db/writebatch"
	"github.com/rocksdb-go/rocksdb/file"
	"github.com/rocksdb-go/rocksdb/file/filename"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// walDump says what of a log is printed; it goes on from log to log.
type walDump struct {
	header, values, onlySeqnoGaps, writeCommitted bool

	hasPrevious   bool
	previousSeq   rocksdb.SequenceNumber
	previousCount uint32
}

// batchHeader is the least size of a batch: sequence number and count.
const batchHeader = 12

func baseName(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

func (c *LDBCommand) initDumpWAL() {
	if c.args.path = c.optionMap["walfile"]; c.args.path == "" {
		c.fail("Argument walfile must be specified.")
	}
}

func (c *LDBCommand) doDumpWAL() {
	if c.db == nil {
		c.prepareOptions()
		if c.state == execFailed {
			return
		}
	}
	committed := c.boolOption("write_committed", true)
	if c.state == execFailed {
		return
	}
	c.dumpWALFiles(c.args.path, walDump{header: c.isFlag("header"), values: c.isFlag("print_value"),
		onlySeqnoGaps: c.isFlag("only_print_seqno_gaps"), writeCommitted: committed})
}

// dumpWALFiles prints a log, or all logs of a directory by their numbers.
func (c *LDBCommand) dumpWALFiles(path string, d walDump) {
	none := rocksdb.DefaultIOOptions()
	names, err := c.fs().GetChildren(path, &none)
	if err != nil || len(names) == 0 {
		if c.fs().FileExists(path, &none) != nil {
			c.fail(path + ": No such file or directory")
		} else if len(path) <= 4 || !strings.HasSuffix(path, ".log") {
			c.fail(path + ": Invalid log file name")
		} else {
			c.dumpWALFile(path, &d)
		}
		return
	}
	numbers := map[string]uint64{}
	for _, name := range names {
		if p, ok := filename.ParseFileName(name, ""); ok && p.Type == rocksdb.WalFile {
			numbers[name] = p.Number
		}
	}
	if len(numbers) == 0 {
		c.fail(path + ": No valid wal logs found")
		return
	}
	logs := slices.SortedFunc(maps.Keys(numbers), func(a, b string) int { return cmp.Compare(numbers[a], numbers[b]) })
	for _, name := range logs {
		full := strings.TrimSuffix(path, "/") + "/" + name
		c.printf("Checking wal file: %s\n", full)
		c.dumpWALFile(full, &d)
		if c.state == execFailed {
			return
		}
	}
}

// walReporter tells of damage on the error stream.
type walReporter struct{ c *LDBCommand }

func (r walReporter) Corruption(_ int, err error, _ uint64) {
	r.c.warnf("Corruption detected in log file %v\n", err)
}

func (walReporter) OldLogRecord(int) {}

func (c *LDBCommand) dumpWALFile(path string, d *walDump) {
	f, err := file.CreateSequentialFileReader(c.fs(), path, nil, nil)
	if err != nil {
		c.failErr("Failed to open WAL file ", err)
		return
	}
	var number uint64
	if p, ok := filename.ParseFileName(baseName(path), ""); ok {
		number = p.Number
	}
	r := wal.NewReader(f, wal.ReaderOptions{Reporter: walReporter{c}, Checksum: true, LogNumber: number})
	defer r.Close()
	if d.header {
		c.printf("Sequence,Count,ByteSize,Physical Offset,Key(s)")
		if d.values {
			c.printf(" : value ")
		}
		c.printf("\n")
	}
	families := map[uint32]bool{}
	for {
		record, ok := r.ReadRecord(rocksdb.TolerateCorruptedTailRecords)
		if !ok {
			break
		}
		if len(record) < batchHeader {
			walReporter{c}.Corruption(len(record), rocksdb.Corruption("log record too small"), 0)
			continue
		}
		if !c.dumpBatch(record, r, d, families) {
			break
		}
	}
	c.noteUnknownFamilies(families)
}

// dumpBatch prints a record; false ends the log.
func (c *LDBCommand) dumpBatch(record []byte, r *wal.Reader, d *walDump, families map[uint32]bool) bool {
	batch := writebatch.New()
	if err := batch.SetContents(record); err != nil {
		c.failErr("Parsing write batch failed: ", err)
		return false
	}
	if err := c.checkTimestampSizes(batch, r.GetRecordedTimestampSize()); err != nil {
		c.failErr("", err)
		return false
	}
	seq, count := batch.Sequence(), batch.Count()
	inOrder := !d.hasPrevious || d.previousSeq+uint64(d.previousCount) == seq
	previousSeq, previousCount := d.previousSeq, d.previousCount
	d.hasPrevious, d.previousSeq, d.previousCount = true, seq, count
	h := &walHandler{c: c, d: d, families: families}
	if d.onlySeqnoGaps {
		if inOrder {
			return true
		}
		fmt.Fprintf(&h.row, "Prev batch sequence number: %d, prev batch count: %d, ", previousSeq, previousCount)
	}
	fmt.Fprintf(&h.row, "%d,%d,%d,%d,", seq, count, batch.GetDataSize(), r.LastRecordOffset())
	if err := batch.Iterate(h); err != nil {
		c.failErr("Print write batch error: ", err)
		return false
	}
	c.printf("%s\n", h.row.String())
	return true
}

// checkTimestampSizes compares the sizes that a log recorded with those of the
// open families that the batch writes to.
func (c *LDBCommand) checkTimestampSizes(batch *writebatch.WriteBatch, recorded map[uint32]uint16) error {
	running := make(map[uint32]int, len(c.ucmps))
	for id, ucmp := range c.ucmps {
		running[id] = ucmp.TimestampSize()
	}
	if _, err := writebatch.HandleWriteBatchTimestampSizeDifference(batch, running, recorded, writebatch.VerifyConsistency); err == nil {
		return nil
	}
	var sizes []string
	for _, id := range slices.Sorted(maps.Keys(running)) {
		sizes = append(sizes, fmt.Sprintf("(cf_id: %d, [recorded: %d, comparator: %d])", id, recorded[id], running[id]))
	}
	return errors.New("Format for user keys in WAL file is inconsistent with the comparator used to open the DB. " +
		"Timestamp size recorded in WAL vs specified by comparator: {" + strings.Join(sizes, ", ") + "}")
}

func (c *LDBCommand) noteUnknownFamilies(families map[uint32]bool) {
	var ids []string
	for _, id := range slices.Sorted(maps.Keys(families)) {
		if c.ucmps[id] == nil {
			ids = append(ids, fmt.Sprint(id))
		}
	}
	if len(ids) > 0 {
		c.printf("(Column family id: [%s] contained in WAL are not opened in DB. Applied default hex formatting for user key. "+
			"Specify --db=<db_path> to open DB for better user key formatting if it contains timestamp.)\n", strings.Join(ids, ","))
	}
}

// walHandler makes a line of a batch.
type walHandler struct {
	writebatch.HandlerBase
	c        *LDBCommand
	d        *walDump
	row      strings.Builder
	families map[uint32]bool
}

// keyText is a key in hexadecimal, its timestamp apart.
func (h *walHandler) keyText(cf uint32, key []byte) string {
	h.families[cf] = true
	ucmp := h.c.ucmps[cf]
	if ucmp == nil || ucmp.TimestampSize() == 0 {
		return stringToHex(key)
	}
	at := len(key) - ucmp.TimestampSize()
	if at < 0 {
		return "CORRUPT KEY"
	}
	return stringToHex(key[:at]) + "|timestamp:" + ucmp.TimestampToString(key[at:])
}

func (h *walHandler) entry(op string, cf uint32, key, value []byte) {
	fmt.Fprintf(&h.row, "%s(%d) : %s ", op, cf, h.keyText(cf, key))
	if h.d.values {
		fmt.Fprintf(&h.row, ": %s ", stringToHex(value))
	}
}

// PutCF implements writebatch.Handler, as do the methods below.
func (h *walHandler) PutCF(cf uint32, key, value []byte) error {
	h.entry("PUT", cf, key, value)
	return nil
}

func (h *walHandler) MergeCF(cf uint32, key, operand []byte) error {
	h.entry("MERGE", cf, key, operand)
	return nil
}

func (h *walHandler) PutEntityCF(cf uint32, key, entity []byte) error {
	fmt.Fprintf(&h.row, "PUT_ENTITY(%d) : %s", cf, h.keyText(cf, key))
	if h.d.values {
		text, err := wide.DumpEntity(entity, true)
		if err != nil {
			return err
		}
		h.row.WriteString(" : " + text)
	}
	h.row.WriteByte(' ')
	return nil
}

func (h *walHandler) DeleteCF(cf uint32, key []byte) error {
	fmt.Fprintf(&h.row, "DELETE(%d) : %s ", cf, h.keyText(cf, key))
	return nil
}

func (h *walHandler) SingleDeleteCF(cf uint32, key []byte) error {
	fmt.Fprintf(&h.row, "SINGLE_DELETE(%d) : %s ", cf, h.keyText(cf, key))
	return nil
}

func (h *walHandler) DeleteRangeCF(cf uint32, begin, end []byte) error {
	fmt.Fprintf(&h.row, "DELETE_RANGE(%d) : %s %s ", cf, h.keyText(cf, begin), h.keyText(cf, end))
	return nil
}

func (h *walHandler) MarkNoop(bool) error {
	h.row.WriteString("NOOP ")
	return nil
}

func (h *walHandler) MarkBeginPrepare(unprepare bool) error {
	fmt.Fprintf(&h.row, "BEGIN_PREPARE(%t) ", unprepare)
	return nil
}

func (h *walHandler) MarkEndPrepare(xid []byte) error {
	fmt.Fprintf(&h.row, "END_PREPARE(%s) ", stringToHex(xid))
	return nil
}

func (h *walHandler) MarkRollback(xid []byte) error {
	fmt.Fprintf(&h.row, "ROLLBACK(%s) ", stringToHex(xid))
	return nil
}

func (h *walHandler) MarkCommit(xid []byte) error {
	fmt.Fprintf(&h.row, "COMMIT(%s) ", stringToHex(xid))
	return nil
}

func (h *walHandler) MarkCommitWithTimestamp(xid, ts []byte) error {
	fmt.Fprintf(&h.row, "COMMIT_WITH_TIMESTAMP(%s, %s) ", stringToHex(xid), stringToHex(ts))
	return nil
}

// WriteAfterCommit tells the policy of --write_committed.
func (h *walHandler) WriteAfterCommit() writebatch.OptionState {
	if h.d.writeCommitted {
		return writebatch.OptionEnabled
	}
	return writebatch.OptionDisabled
}
