// Port of db/version_set.cc, table properties and metadata of a version.

package db

import (
	"fmt"
	"strings"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/db/version"
	"github.com/rocksdb-go/rocksdb/file"
	"github.com/rocksdb-go/rocksdb/file/filename"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/monitoring"
	"github.com/rocksdb-go/rocksdb/table"
	"github.com/rocksdb-go/rocksdb/table/format"
)

func (v *Version) tableFileName(f *version.FileMetaData) string {
	return filename.TableFileName(v.cfd.IOptions().CFPaths, f.FD.GetNumber(), f.FD.GetPathId())
}

// GetTableProperties gives the properties of a table: those of its open reader
// or else read from the file named name ("" for the usual name). They must not
// be changed.
func (v *Version) GetTableProperties(ro *rocksdb.ReadOptions, f *version.FileMetaData, name string) (*rocksdb.TableProperties, error) {
	p, err := v.cfd.TableCache().GetTableProperties(ro, f, v.mutableCFOptions, true)
	if !rocksdb.IsIncomplete(err) { // Incomplete: the table is not open
		return p, err
	}
	io := v.cfd.IOptions()
	if name == "" {
		name = v.tableFileName(f)
	}
	fo := v.fileOptions
	fo.FileChecksum, fo.FileChecksumFuncName = f.FileChecksum, f.FileChecksumFuncName
	r, err := file.CreateRandomAccessFileReader(io.FS, name, &fo,
		&file.ReaderOptions{Clock: io.Clock, Stats: io.Stats, HistType: rocksdb.HistSSTReadMicros, Listeners: io.Listeners})
	if err != nil {
		return nil, err
	}
	// A null magic number lets tables of any factory be read.
	p, err = table.ReadTableProperties(r, f.FD.GetFileSize(), format.NullTableMagicNumber, io, ro, nil)
	if cerr := r.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		monitoring.RecordTick(io.Stats, rocksdb.NumberDirectLoadTableProperties, 1)
	}
	return p, err
}

// GetPropertiesOfAllTables gives the properties of every table by file name.
func (v *Version) GetPropertiesOfAllTables(ro *rocksdb.ReadOptions) (map[string]*rocksdb.TableProperties, error) {
	props := map[string]*rocksdb.TableProperties{}
	for level := range v.storage.NumLevels() {
		if err := v.addPropertiesOfLevel(ro, props, level); err != nil {
			return nil, err
		}
	}
	return props, nil
}

func (v *Version) addPropertiesOfLevel(ro *rocksdb.ReadOptions, props map[string]*rocksdb.TableProperties, level int) error {
	for _, f := range v.storage.LevelFiles(level) {
		name := v.tableFileName(f)
		p, err := v.GetTableProperties(ro, f, name)
		if err != nil {
			return err
		}
		props[name] = p
	}
	return nil
}

// GetPropertiesOfTablesByLevel gives them for each level.
func (v *Version) GetPropertiesOfTablesByLevel(ro *rocksdb.ReadOptions) ([]map[string]*rocksdb.TableProperties, error) {
	levels := make([]map[string]*rocksdb.TableProperties, v.storage.NumLevels())
	for level := range levels {
		levels[level] = map[string]*rocksdb.TableProperties{}
		if err := v.addPropertiesOfLevel(ro, levels[level], level); err != nil {
			return nil, err
		}
	}
	return levels, nil
}

// GetPropertiesOfTablesInRange gives those of the tables that overlap one of
// the ranges of user keys.
func (v *Version) GetPropertiesOfTablesInRange(ro *rocksdb.ReadOptions, ranges []dbformat.UserKeyRange) (map[string]*rocksdb.TableProperties, error) {
	props := map[string]*rocksdb.TableProperties{}
	for level := range v.storage.NumNonEmptyLevels() {
		for _, r := range ranges {
			files, _, _ := v.storage.GetOverlappingInputsWithOptions(level, seekKey(r.Start), seekKey(r.Limit),
				version.OverlapOptions{NoExpandRange: true})
			for _, f := range files {
				name := v.tableFileName(f)
				if props[name] != nil {
					continue
				}
				p, err := v.GetTableProperties(ro, f, name)
				if err != nil {
					return nil, err
				}
				props[name] = p
			}
		}
	}
	return props, nil
}

// seekKey comes before all entries of userKey; nil for a nil user key.
func seekKey(userKey []byte) dbformat.InternalKey {
	if userKey == nil {
		return nil
	}
	return dbformat.NewInternalKey(userKey, dbformat.MaxSequenceNumber, dbformat.ValueTypeForSeek)
}

// GetAggregatedTableProperties adds up those of a level, or of all for -1.
func (v *Version) GetAggregatedTableProperties(ro *rocksdb.ReadOptions, level int) (*rocksdb.TableProperties, error) {
	props := map[string]*rocksdb.TableProperties{}
	first, last := level, level
	if level < 0 {
		first, last = 0, v.storage.NumLevels()-1
	}
	for l := first; l <= last; l++ {
		if err := v.addPropertiesOfLevel(ro, props, l); err != nil {
			return nil, err
		}
	}
	sum := rocksdb.NewTableProperties()
	for _, p := range props {
		sum.Add(p)
	}
	return &sum, nil
}

// TablesRangeTombstoneSummary lists up to maxEntries range tombstones by file.
func (v *Version) TablesRangeTombstoneSummary(maxEntries int) (string, error) {
	if maxEntries <= 0 {
		return "", nil
	}
	ro := rocksdb.DefaultReadOptions()
	var r strings.Builder
	left := maxEntries
	for level := 0; level < v.storage.NumLevels() && left > 0; level++ {
		for _, f := range v.storage.LevelFiles(level) {
			fmt.Fprintf(&r, "=== file : %s ===\n", v.tableFileName(f))
			it, err := v.cfd.TableCache().GetRangeTombstoneIterator(&ro, f, v.mutableCFOptions)
			if err != nil {
				return "", err
			}
			if it == nil {
				continue
			}
			for it.SeekToFirst(); it.Valid() && left > 0; it.Next() {
				fmt.Fprintf(&r, "start: %X end: %X seq: %d\n", it.StartKey(), it.EndKey(), it.Seq())
				left--
			}
			if left <= 0 {
				break
			}
		}
	}
	if left <= 0 {
		r.WriteString("(results may not be complete)\n")
	}
	return r.String(), nil
}

// GetMemoryUsageByTableReaders is that of the open tables, in bytes.
func (v *Version) GetMemoryUsageByTableReaders(ro *rocksdb.ReadOptions) uint64 {
	var sum uint64
	for level := range v.storage.NumNonEmptyLevels() {
		for _, f := range v.storage.LevelFiles(level) {
			sum += uint64(v.cfd.TableCache().GetMemoryUsageByTableReader(ro, f, v.mutableCFOptions))
		}
	}
	return sum
}

// sstFileMetaData describes one table to users.
func (v *Version) sstFileMetaData(f *version.FileMetaData) rocksdb.SstFileMetaData {
	path := pathOf(v.cfd.IOptions().CFPaths, f)
	name := filename.MakeTableFileName("", f.FD.GetNumber())
	var m rocksdb.SstFileMetaData
	m.RelativeFilename, m.Name = strings.TrimPrefix(name, "/"), name
	m.FileNumber, m.FileType = f.FD.GetNumber(), rocksdb.TableFile
	m.Directory, m.DBPath = path, path
	m.Size = f.FD.GetFileSize()
	m.Temperature = f.Temperature
	m.FileChecksum, m.FileChecksumFuncName = f.FileChecksum, f.FileChecksumFuncName
	m.SmallestSeqno, m.LargestSeqno = f.FD.SmallestSeqno, f.FD.LargestSeqno
	m.SmallestKey, m.LargestKey = []byte(string(f.Smallest.UserKey())), []byte(string(f.Largest.UserKey()))
	m.Smallest, m.Largest = []byte(string(f.Smallest)), []byte(string(f.Largest))
	m.NumReadsSampled = f.Stats.NumReadsSampled.Load()
	m.BeingCompacted = f.BeingCompacted
	m.NumEntries, m.NumDeletions = f.NumEntries, f.NumDeletions
	m.OldestBlobFileNumber = f.OldestBlobFileNumber
	m.OldestAncesterTime, m.FileCreationTime = f.TryGetOldestAncesterTime(), f.TryGetFileCreationTime()
	m.EpochNumber = f.EpochNumber
	return m
}

// GetColumnFamilyMetaData describes the files of o's levels and range, leaving
// out levels without any; or, when o is nil, all levels and the blob files.
func (v *Version) GetColumnFamilyMetaData(o *rocksdb.GetColumnFamilyMetaDataOptions) rocksdb.ColumnFamilyMetaData {
	m := rocksdb.ColumnFamilyMetaData{Name: v.cfd.GetName()}
	first, last := 0, v.cfd.NumberLevels()-1
	all := o == nil
	if o != nil && o.Level >= 0 {
		first, last = o.Level, min(o.Level, last)
	}
	for level := first; level <= last; level++ {
		files := v.storage.LevelFiles(level)
		if !all {
			files = v.storage.GetOverlappingInputs(level, seekKey(o.Range.Start), seekKey(o.Range.Limit))
			if len(files) == 0 {
				continue
			}
		}
		l := rocksdb.LevelMetaData{Level: level, Size: version.TotalFileSize(files)}
		for _, f := range files {
			l.Files = append(l.Files, v.sstFileMetaData(f))
		}
		m.Levels = append(m.Levels, l)
		m.Size += l.Size
		m.FileCount += len(files)
	}
	if !all {
		return m
	}
	for _, b := range v.storage.GetBlobFiles() {
		m.BlobFiles = append(m.BlobFiles, rocksdb.BlobMetaData{
			BlobFileNumber: b.GetBlobFileNumber(), BlobFileName: filename.BlobFileName("", b.GetBlobFileNumber()),
			BlobFilePath: v.cfd.IOptions().CFPaths[0].Path, BlobFileSize: b.GetBlobFileSize(),
			TotalBlobCount: b.GetTotalBlobCount(), TotalBlobBytes: b.GetTotalBlobBytes(),
			GarbageBlobCount: b.GetGarbageBlobCount(), GarbageBlobBytes: b.GetGarbageBlobBytes(),
			ChecksumMethod: b.GetChecksumMethod(), ChecksumValue: b.GetChecksumValue(),
		})
		m.BlobFileCount++
		m.BlobFileSize += b.GetBlobFileSize()
	}
	return m
}
