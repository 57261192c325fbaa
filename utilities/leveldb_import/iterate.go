// No upstream twin: merges a LevelDB directory's tables and logs.

package leveldbimport

import (
	"bytes"
	"slices"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/db/version"
	"github.com/rocksdb-go/rocksdb/db/writebatch"
	"github.com/rocksdb-go/rocksdb/file"
	"github.com/rocksdb-go/rocksdb/file/filename"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/options"
	"github.com/rocksdb-go/rocksdb/table"
	blockbased "github.com/rocksdb-go/rocksdb/table/block_based"
	"github.com/rocksdb-go/rocksdb/table/internaliter"
	"github.com/rocksdb-go/rocksdb/util"
)

// run is a sorted sequence of entries. key is an internal key.
type run interface {
	// next goes to the first or next entry; ok is false at the end.
	next() (ok bool, err error)
	key() []byte
	value() []byte
	close() error
}

// Iterate calls f for each key and its value in order of the keys. The slices
// are f's until it returns. An error of f ends the walk and is returned.
func (s *Source) Iterate(f func(key, value []byte) error) (err error) {
	s.stats.Keys, s.stats.Bytes, s.stats.Hidden, s.stats.TornLogs = 0, 0, 0, nil
	logs, err := s.readLogs()
	if err != nil {
		return err
	}
	runs := []run{logs}
	for _, files := range s.levels {
		runs = append(runs, &tableRun{s: s, files: files})
	}
	defer func() {
		for _, r := range runs {
			if e := r.close(); err == nil {
				err = e
			}
		}
	}()
	heap := util.NewBinaryHeap(func(a, b run) bool { return s.icmp.Compare(a.key(), b.key()) > 0 })
	for _, r := range runs {
		ok, err := r.next()
		if err != nil {
			return err
		}
		if ok {
			heap.Push(r)
		}
	}
	return s.merge(heap, f)
}

func (s *Source) merge(heap *util.BinaryHeap[run], f func(key, value []byte) error) error {
	var last []byte // user key
	some := false
	for !heap.Empty() {
		r := heap.Top()
		user := dbformat.ExtractUserKey(r.key())
		newest := !some || !bytes.Equal(user, last)
		if newest {
			last, some = append(last[:0], user...), true
		}
		if newest && dbformat.ValueType(dbformat.ExtractInternalKeyFooter(r.key())) == dbformat.TypeValue {
			if err := f(user, r.value()); err != nil {
				return err
			}
			s.stats.Keys++
			s.stats.Bytes += uint64(len(user) + len(r.value()))
		} else {
			s.stats.Hidden++
		}
		ok, err := r.next()
		if err != nil {
			return err
		}
		if ok {
			heap.ReplaceTop(r)
		} else {
			heap.Pop()
		}
	}
	return nil
}

// memRun holds the entries of the logs, as LevelDB's memtable would.
type memRun struct {
	entries []memEntry
	at      int
}

type memEntry struct{ key, value []byte }

func (r *memRun) next() (bool, error) { r.at++; return r.at < len(r.entries), nil }
func (r *memRun) key() []byte         { return r.entries[r.at].key }
func (r *memRun) value() []byte       { return r.entries[r.at].value }
func (r *memRun) close() error        { return nil }

// logReporter keeps the first corruption.
type logReporter struct{ first error }

func (r *logReporter) Corruption(_ int, err error, _ uint64) {
	if r.first == nil {
		r.first = err
	}
}

func (r *logReporter) OldLogRecord(int) {
	r.Corruption(0, rocksdb.Corruption("record of another log"), 0)
}

func (s *Source) readLogs() (*memRun, error) {
	r := &memRun{at: -1}
	for _, number := range s.logs {
		if err := s.readLog(number, r); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(r.entries, func(a, b memEntry) int { return s.icmp.Compare(a.key, b.key) })
	return r, nil
}

func (s *Source) readLog(number uint64, to *memRun) error {
	path := filename.LogFileName(s.dir, number)
	var reporter logReporter
	r, err := openLog(s.fs, path, number, &reporter)
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }() // nothing was written
	end := uint64(0)
	for {
		record, ok := r.ReadRecord(rocksdb.TolerateCorruptedTailRecords)
		if reporter.first != nil {
			return inFile(reporter.first, path)
		}
		if !ok {
			break
		}
		if err := to.addBatch(bytes.Clone(record)); err != nil {
			return rocksdb.AsStatus(err).InAt(path, r.LastRecordOffset())
		}
		end = r.LastRecordEnd()
	}
	if r.HasReadError() {
		return rocksdb.IOError("log cannot be read", path)
	}
	torn, err := bytesAfter(s.fs, path, end)
	if err != nil {
		return err
	}
	if torn {
		s.stats.TornLogs = append(s.stats.TornLogs, path)
	}
	return nil
}

// bytesAfter tells whether the file has any byte but zero at or after offset.
func bytesAfter(fs rocksdb.FileSystem, path string, offset uint64) (bool, error) {
	data, err := rocksdb.ReadFileToString(fs, path, nil)
	if err != nil {
		return false, err
	}
	rest := data[min(offset, uint64(len(data))):]
	return len(bytes.Trim([]byte(rest), "\x00")) > 0, nil
}

// addBatch takes a log's record over.
func (r *memRun) addBatch(rep []byte) error {
	b, err := writebatch.NewFromRep(rep)
	if err != nil {
		return err
	}
	seq := b.Sequence()
	count := uint32(0)
	var rec writebatch.Record
	for rest := rep[writebatch.HeaderSize:]; len(rest) > 0; count++ {
		if rest, err = writebatch.ReadRecord(rest, &rec); err != nil {
			return err
		}
		if rec.Tag != dbformat.TypeValue && rec.Tag != dbformat.TypeDeletion {
			return rocksdb.Corruptionf("record of type %d, which LevelDB does not have", rec.Tag)
		}
		if seq+uint64(count) > dbformat.MaxSequenceNumber {
			return rocksdb.Corruption("sequence number is too large")
		}
		r.entries = append(r.entries, memEntry{dbformat.AppendInternalKey(nil, rec.Key, seq+uint64(count), rec.Tag), rec.Value})
	}
	if count != b.Count() {
		return rocksdb.Corruptionf("batch of %d records says it has %d", count, b.Count())
	}
	return nil
}

// tableRun reads tables that do not overlap one after the other.
type tableRun struct {
	s     *Source
	files []*version.FileMetaData // what is left; the first one is open
	open  *openTable
	last  []byte // internal key
	some  bool
}

type openTable struct {
	path     string
	ro       rocksdb.ReadOptions
	ioptions options.ImmutableOptions
	options  rocksdb.Options
	reader   table.TableReader
	it       internaliter.InternalIterator
}

func (r *tableRun) key() []byte   { return r.open.it.Key() }
func (r *tableRun) value() []byte { return r.open.it.Value() }

func (r *tableRun) close() error {
	if r.open == nil {
		return nil
	}
	err := r.open.it.Close()
	if e := r.open.reader.Close(); err == nil {
		err = e
	}
	r.open = nil
	return err
}

func (r *tableRun) next() (bool, error) {
	for {
		switch {
		case r.open != nil:
			r.open.it.Next()
		case len(r.files) == 0:
			return false, nil
		default:
			var err error
			if r.open, err = r.s.openTable(r.files[0]); err != nil {
				return false, err
			}
			r.open.it.SeekToFirst()
		}
		if r.open.it.Valid() {
			return true, r.check()
		}
		err := r.open.it.Status()
		if err != nil {
			err = inFile(err, r.open.path)
		}
		if e := r.close(); err == nil {
			err = e
		}
		if err != nil {
			return false, err
		}
		r.files = r.files[1:]
	}
}

// check looks at the present key: a good one, in order, within the bounds that
// the MANIFEST gives the table.
func (r *tableRun) check() error {
	key, f := r.open.it.Key(), r.files[0]
	p, err := dbformat.ParseInternalKey(key, true)
	if err != nil {
		return inFile(err, r.open.path)
	}
	corrupt := func(what string) error {
		return rocksdb.Corruption(what, p.DebugString(true, true)).In(r.open.path)
	}
	switch {
	case p.Type != dbformat.TypeValue && p.Type != dbformat.TypeDeletion:
		return corrupt("entry of a type that LevelDB does not have")
	case r.some && r.s.icmp.Compare(r.last, key) >= 0:
		return corrupt("keys out of order at")
	case r.s.icmp.Compare(key, f.Smallest) < 0 || r.s.icmp.Compare(key, f.Largest) > 0:
		return corrupt("key outside of the table's bounds in the MANIFEST")
	}
	r.last, r.some = append(r.last[:0], key...), true
	return nil
}

// tablePath finds the table's file, which has one of two extensions.
func (s *Source) tablePath(number uint64) (string, error) {
	sst := filename.MakeTableFileName(s.dir, number)
	ldb := filename.Rocks2LevelTableFileName(sst)
	for _, path := range []string{ldb, sst} {
		if err := s.fs.FileExists(path, nil); err == nil {
			return path, nil
		} else if !rocksdb.IsNotFound(err) {
			return "", err
		}
	}
	return "", rocksdb.Corruption("table of the MANIFEST is missing").In(ldb)
}

func (s *Source) openTable(f *version.FileMetaData) (*openTable, error) {
	path, err := s.tablePath(f.FD.GetNumber())
	if err != nil {
		return nil, err
	}
	size, err := s.fs.GetFileSize(path, nil)
	if err != nil {
		return nil, err
	}
	if size != f.FD.GetFileSize() {
		return nil, rocksdb.Corruptionf("table has %d bytes, the MANIFEST says %d", size, f.FD.GetFileSize()).In(path)
	}
	t := &openTable{path: path, ro: rocksdb.DefaultReadOptions(), options: rocksdb.DefaultOptions()}
	t.ro.VerifyChecksums, t.ro.FillCache, t.ro.ReadaheadSize = true, false, readahead
	t.ioptions = options.NewImmutableOptions(&t.options.DBOptions, &t.options.ColumnFamilyOptions)
	fo := rocksdb.DefaultFileOptions()
	r, err := file.CreateRandomAccessFileReader(s.fs, path, &fo, nil)
	if err != nil {
		return nil, err
	}
	bbto := rocksdb.DefaultBlockBasedTableOptions()
	bbto.NoBlockCache = true
	o := table.DefaultTableReaderOptions(&t.ioptions, s.icmp)
	o.FileOptions, o.OldFormats, o.CurFileNum, o.SkipFilters = fo, true, f.FD.GetNumber(), true
	if t.reader, err = blockbased.NewBlockBasedTableFactory(&bbto).NewTableReader(&t.ro, &o, r, size, false); err != nil {
		return nil, inFile(err, path)
	}
	t.it = t.reader.NewIterator(&t.ro, nil, true, rocksdb.CallerUserIterator, 0, false)
	return t, nil
}
