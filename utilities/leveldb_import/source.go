// No upstream twin: reads what a LevelDB directory consists of.

package leveldbimport

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/db/version"
	"github.com/rocksdb-go/rocksdb/db/wal"
	"github.com/rocksdb-go/rocksdb/env"
	"github.com/rocksdb-go/rocksdb/file"
	"github.com/rocksdb-go/rocksdb/file/filename"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

// Stats tell what was read.
type Stats struct {
	Tables, Logs int
	// Keys and Bytes (of keys and values) were given out.
	Keys, Bytes uint64
	// Hidden entries were overwritten, deleted, or deletions themselves.
	Hidden uint64
	// TornLogs are logs whose last record was cut off; it was left out, as
	// LevelDB does.
	TornLogs []string
}

// Source is an opened LevelDB directory.
type Source struct {
	fs     rocksdb.FileSystem
	dir    string
	icmp   *dbformat.InternalKeyComparator
	lock   func()
	levels [][]*version.FileMetaData // sorted by smallest key from level 1 on
	logs   []uint64
	stats  Stats
}

// Open reads CURRENT and the MANIFEST of the LevelDB directory dir. It fails
// with Busy while another process has the database open. e may be nil.
func Open(e rocksdb.Env, dir string) (*Source, error) {
	if e == nil {
		e = env.Default()
	}
	s := &Source{fs: e.GetFileSystem(), dir: strings.TrimSuffix(dir, "/"), icmp: dbformat.NewInternalKeyComparator(util.BytewiseComparator())}
	unlock, err := lockSource(filename.LockFileName(s.dir))
	if err != nil {
		return nil, err
	}
	s.lock = unlock
	if err := s.recover(); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// Close lets other processes open the directory again.
func (s *Source) Close() {
	if s.lock != nil {
		s.lock()
		s.lock = nil
	}
}

// Stats tell what was read so far.
func (s *Source) Stats() Stats { return s.stats }

func (s *Source) recover() error {
	current := filename.CurrentFileName(s.dir)
	text, err := rocksdb.ReadFileToString(s.fs, current, nil)
	if err != nil {
		return err
	}
	name, whole := strings.CutSuffix(string(text), "\n")
	if p, ok := filename.ParseFileName(name, ""); !whole || !ok || p.Type != rocksdb.DescriptorFile {
		return rocksdb.Corruption("CURRENT does not name a MANIFEST").In(current)
	}
	m := manifest{path: s.dir + "/" + name, levels: map[int]map[uint64]*version.FileMetaData{}}
	if err := m.read(s.fs); err != nil {
		return err
	}
	for _, level := range slices.Sorted(maps.Keys(m.levels)) {
		files := slices.Collect(maps.Values(m.levels[level]))
		slices.SortFunc(files, func(a, b *version.FileMetaData) int {
			if level == 0 {
				return cmp.Compare(a.FD.GetNumber(), b.FD.GetNumber())
			}
			return s.icmp.Compare(a.Smallest, b.Smallest)
		})
		s.stats.Tables += len(files)
		if level > 0 {
			s.levels = append(s.levels, files)
			continue
		}
		for i := range files { // each a level of its own: they overlap
			s.levels = append(s.levels, files[i:i+1])
		}
	}
	return s.findLogs(&m)
}

// findLogs lists the logs that hold what is in no table.
func (s *Source) findLogs(m *manifest) error {
	names, err := s.fs.GetChildren(s.dir, nil)
	if err != nil {
		return err
	}
	for _, name := range names {
		p, ok := filename.ParseFileName(name, "")
		if ok && p.Type == rocksdb.WalFile && (p.Number >= m.logNumber || m.prevLogNumber != 0 && p.Number == m.prevLogNumber) {
			s.logs = append(s.logs, p.Number)
		}
	}
	slices.Sort(s.logs)
	s.stats.Logs = len(s.logs)
	return nil
}

// manifest is what the records of a MANIFEST add up to.
type manifest struct {
	path                     string
	comparator               string
	logNumber, prevLogNumber uint64
	levels                   map[int]map[uint64]*version.FileMetaData
	first                    error // corruption
}

// Corruption implements wal.Reporter.
func (m *manifest) Corruption(_ int, err error, _ uint64) {
	if m.first == nil {
		m.first = err
	}
}

// OldLogRecord implements wal.Reporter: LevelDB does not use files again.
func (m *manifest) OldLogRecord(int) {
	m.Corruption(0, rocksdb.Corruption("record of another file"), 0)
}

// read applies all records. One that is cut off at the end is an error, which
// LevelDB passes over: a wrong length looks the same, and what follows it would be
// lost.
func (m *manifest) read(fs rocksdb.FileSystem) error {
	r, err := openLog(fs, m.path, 0, m)
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }() // nothing was written
	end := uint64(0)
	for {
		record, ok := r.ReadRecord(rocksdb.TolerateCorruptedTailRecords)
		if m.first != nil {
			return inFile(m.first, m.path)
		}
		if !ok {
			break
		}
		var e version.VersionEdit
		err := e.DecodeFrom(record)
		if err == nil {
			err = m.apply(&e)
		}
		if err != nil {
			return rocksdb.AsStatus(err).InAt(m.path, r.LastRecordOffset())
		}
		end = r.LastRecordEnd()
	}
	if torn, err := bytesAfter(fs, m.path, end); err != nil {
		return err
	} else if torn {
		return rocksdb.Corruption("the last record is cut off; LevelDB writes a new MANIFEST when it opens the database").InAt(m.path, end)
	}
	if m.comparator == "" {
		return rocksdb.Corruption("MANIFEST names no comparator").In(m.path)
	}
	return nil
}

func (m *manifest) apply(e *version.VersionEdit) error {
	if e.HasDbId() || e.HasMaxColumnFamily() || e.HasMinLogNumberToKeep() || e.IsColumnFamilyManipulation() || e.GetColumnFamily() != 0 {
		return rocksdb.InvalidArgument("this is a RocksDB database, which needs no import")
	}
	if e.HasComparatorName() {
		m.comparator = e.GetComparatorName()
		if want := util.BytewiseComparator().Name(); m.comparator != want {
			return rocksdb.NotSupported(fmt.Sprintf("comparator %q; only %q can be imported", m.comparator, want))
		}
	}
	if e.HasLogNumber() {
		m.logNumber = e.GetLogNumber()
	}
	if e.HasPrevLogNumber() {
		m.prevLogNumber = e.GetPrevLogNumber()
	}
	// goleveldb names tables again that are there, and deletes some that are
	// not, where it begins a MANIFEST.
	for _, f := range e.GetDeletedFiles() {
		delete(m.levels[f.Level], f.Number)
	}
	for _, f := range e.GetNewFiles() {
		if m.levels[f.Level] == nil {
			m.levels[f.Level] = map[uint64]*version.FileMetaData{}
		}
		m.levels[f.Level][f.Meta.FD.GetNumber()] = f.Meta
	}
	return nil
}

// openLog opens a log or a MANIFEST.
func openLog(fs rocksdb.FileSystem, path string, number uint64, reporter wal.Reporter) (*wal.Reader, error) {
	fo := rocksdb.DefaultFileOptions()
	f, err := file.CreateSequentialFileReader(fs, path, &fo, &file.SequentialReaderOptions{ReadaheadSize: readahead})
	if err != nil {
		return nil, err
	}
	return wal.NewReader(f, wal.ReaderOptions{Reporter: reporter, Checksum: true, LogNumber: number}), nil
}

// readahead for all files, in bytes.
const readahead = 1 << 20

// inFile adds the file to an error that names none.
func inFile(err error, path string) error {
	if s := rocksdb.AsStatus(err); s.File == "" {
		return s.In(path)
	}
	return err
}
