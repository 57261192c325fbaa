// Port of db/external_sst_file_ingestion_job.cc (GetIngestedFileInfo).

package db

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/db/writebatch"
	"github.com/rocksdb-go/rocksdb/file"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/table"
	"github.com/rocksdb-go/rocksdb/table/uniqueid"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

// getIngestedFileInfo fills f with what is to be known of an external file:
// from its maker's description, if there is one, or else by reading it.
func (j *ExternalSstFileIngestionJob) getIngestedFileInfo(path string, known *rocksdb.PreparedFileInfo, f *IngestedFileInfo, sv *SuperVersion) (err error) {
	f.ExternalFilePath = path
	var reader table.TableReader
	defer func() {
		if reader != nil {
			if cerr := reader.Close(); err == nil {
				err = cerr
			}
		}
	}()
	if known != nil {
		err = j.infoFromFileInfo(known, f)
	} else {
		reader, err = j.infoFromFile(f, sv)
	}
	if err != nil {
		return err
	}
	if j.o.VerifyChecksumsBeforeIngest {
		if reader == nil {
			if reader, err = j.openExternal(f, f.udtPersisted, sv); err != nil {
				return err
			}
		}
		ro := rocksdb.DefaultReadOptions()
		ro.ReadaheadSize, ro.FillCache = j.o.VerifyChecksumsReadaheadSize, j.o.FillCache
		if err := reader.VerifyChecksum(&ro, rocksdb.CallerExternalSSTIngestion, false); err != nil {
			return j.warn(err, "Failed to verify checksum for external file %s", path)
		}
	}
	if !f.smallest.Valid() || !f.largest.Valid() {
		return nil // Prepare says what is wrong
	}
	ts := j.ucmp.TimestampSize()
	lo, hi := f.smallest.UserKey(), f.largest.UserKey()
	if len(lo) < ts || len(hi) < ts {
		return rocksdb.Corruption("Key without timestamp in external file").In(path)
	}
	if ts > 0 {
		f.startUkey = dbformat.AppendUserKeyWithMaxTimestamp(nil, lo, ts)
		f.limitUkey = dbformat.AppendUserKeyWithMinTimestamp(nil, hi, ts)
	} else {
		f.startUkey, f.limitUkey = bytes.Clone(lo), bytes.Clone(hi)
	}
	p := &f.TableProperties
	if id, err := uniqueid.GetSstInternalUniqueId(p.DBID, p.DBSessionID, p.OrigFileNumber, false); err == nil {
		f.uniqueID = id.Standard()
	} else {
		_ = j.warn(err, "Failed to get SST unique id for file %s", path)
	}
	return nil
}

// openExternal opens an external file as a table of the family.
func (j *ExternalSstFileIngestionJob) openExternal(f *IngestedFileInfo, udtPersisted bool, sv *SuperVersion) (table.TableReader, error) {
	mo := sv.MutableCFOptions
	factory, ok := mo.TableFactory.(table.Factory)
	if !ok {
		return nil, rocksdb.InvalidArgument("table_factory cannot open tables")
	}
	fo := j.c.FileOptions
	fo.Temperature = f.temperature
	raw, err := j.c.DBOptions.FS.NewRandomAccessFile(f.ExternalFilePath, &fo)
	if err != nil {
		return nil, j.warn(err, "Failed to create random access file for external file %s", f.ExternalFilePath)
	}
	if t := raw.GetTemperature(); t != rocksdb.TemperatureUnknown {
		f.temperature = t // the hint was missing or wrong
	}
	t := table.DefaultTableReaderOptions(j.cfd.ioptions, j.cfd.icmp)
	t.PrefixExtractor, t.CompressionManager, t.FileOptions = mo.PrefixExtractor, mo.CompressionManager, j.c.FileOptions
	t.BlockProtectionBytesPerKey = mo.BlockProtectionBytesPerKey
	t.CurDBSessionID, t.CurFileNum = j.c.VersionSet.DBSessionID(), f.number
	t.UserDefinedTimestampsPersisted = udtPersisted
	ro := j.readOptions()
	return factory.NewTableReader(&ro, &t, file.NewRandomAccessFileReader(raw, f.ExternalFilePath, nil), f.fileSize, j.o.FillCache)
}

func (j *ExternalSstFileIngestionJob) readOptions() rocksdb.ReadOptions {
	ro := rocksdb.DefaultReadOptions()
	ro.FillCache = j.o.FillCache
	return ro
}

// checkTableProperties takes over what the properties say and refuses a file
// that this family cannot take.
func (j *ExternalSstFileIngestionJob) checkTableProperties(p *rocksdb.TableProperties, f *IngestedFileInfo) error {
	number := func(name string, size int) (uint64, bool, error) {
		v, ok := p.UserCollectedProperties[name]
		if ok && len(v) < size {
			return 0, false, rocksdb.Corruption("External file property " + name + " is too short").In(f.ExternalFilePath)
		}
		if !ok {
			return 0, false, nil
		}
		if size == 4 {
			return uint64(binary.LittleEndian.Uint32([]byte(v))), true, nil
		}
		return binary.LittleEndian.Uint64([]byte(v)), true, nil
	}
	v, hasVersion, err := number(table.ExternalSstFileVersionProperty, 4)
	if err != nil {
		return err
	}
	seqno, hasSeqno, err := number(table.ExternalSstFileGlobalSeqnoProperty, 8)
	if err != nil {
		return err
	}
	f.version = int32(uint32(v))
	switch {
	case !hasVersion && !j.o.AllowDBGeneratedFiles:
		return rocksdb.Corruption("External file version not found")
	case !hasVersion: // version 0
	case f.version == 2:
		if !hasSeqno {
			return rocksdb.Corruption("External file global sequence number not found")
		}
		f.originalSeqno, f.globalSeqnoOffset = seqno, p.ExternalSstFileGlobalSeqnoOffset
		if j.o.WriteGlobalSeqno && f.globalSeqnoOffset == 0 {
			return rocksdb.Corruption("Was not able to find file global seqno field")
		}
	case f.version == 1:
		if j.o.AllowBlockingFlush || j.o.AllowGlobalSeqno {
			return rocksdb.InvalidArgument("External SST file V1 does not support global seqno")
		}
	default:
		return rocksdb.InvalidArgument(fmt.Sprintf("External file version %d is not supported", f.version))
	}
	f.columnFamilyID = uint32(p.ColumnFamilyID)
	f.TableProperties = *p
	f.numEntries, f.numRangeDeletions = p.NumEntries, p.NumRangeDeletions
	f.udtPersisted = p.UserDefinedTimestampsPersisted != 0
	markNoUDT, err := writebatch.ValidateUserDefinedTimestampsOptions(j.ucmp, p.ComparatorName, j.cfd.ioptions.PersistUserDefinedTimestamps, f.udtPersisted)
	if err != nil {
		return j.warn(err, "ValidateUserDefinedTimestampsOptions failed for external file %s", f.ExternalFilePath)
	}
	if markNoUDT {
		// The family has timestamps in memtables only; the file was made without
		// the feature.
		f.udtPersisted = false
	}
	return nil
}

// infoFromFileInfo trusts the maker's description; the file is not opened.
func (j *ExternalSstFileIngestionJob) infoFromFileInfo(known *rocksdb.PreparedFileInfo, f *IngestedFileInfo) error {
	f.fileSize = known.FileSize
	if err := j.checkTableProperties(&known.TableProperties, f); err != nil {
		return err
	}
	if len(known.Smallest) < dbformat.NumInternalBytes || len(known.Largest) < dbformat.NumInternalBytes {
		return rocksdb.InvalidArgument("PreparedFileInfo without bounds")
	}
	ts := j.ucmp.TimestampSize()
	bound := func(k []byte) dbformat.InternalKey {
		switch {
		case ts == 0 || f.udtPersisted:
			return bytes.Clone(k)
		case dbformat.ExtractValueType(k) == dbformat.TypeRangeDeletion:
			return dbformat.PadInternalKeyWithMaxTimestamp(nil, k, ts)
		}
		return dbformat.PadInternalKeyWithMinTimestamp(nil, k, ts)
	}
	f.smallest, f.largest = bound(known.Smallest), bound(known.Largest)
	p := &f.TableProperties
	if !j.o.AllowDBGeneratedFiles {
		return checkSeqnosZero(p)
	}
	if !p.HasKeyLargestSeqno() {
		return rocksdb.Corruption("Unknown largest seqno for db generated file.")
	}
	f.smallestSeqno, f.largestSeqno = 0, p.KeyLargestSeqno
	if f.largestSeqno > 0 {
		if !p.HasKeySmallestSeqno() {
			return rocksdb.Corruption("Unknown smallest seqno for db generated file.")
		}
		f.smallestSeqno = p.KeySmallestSeqno
	}
	return nil
}

// checkSeqnosZero: the entries of an external file have the sequence number 0,
// so that they can be given another as a whole.
func checkSeqnosZero(p *rocksdb.TableProperties) error {
	if p.HasKeyLargestSeqno() && p.KeyLargestSeqno > 0 {
		return rocksdb.Corruption(fmt.Sprintf("External file has non zero largest sequence number %d", p.KeyLargestSeqno))
	}
	return nil
}

// infoFromFile reads properties and bounds. The reader is the caller's, also on
// an error, where it is not nil.
func (j *ExternalSstFileIngestionJob) infoFromFile(f *IngestedFileInfo, sv *SuperVersion) (table.TableReader, error) {
	syncpoint.Process("ExternalSstFileIngestionJob::GetIngestedFileInfo:ReadPath")
	var err error
	if f.fileSize, err = j.c.DBOptions.FS.GetFileSize(f.ExternalFilePath, rocksdb.NewIOOptions()); err != nil {
		return nil, j.warn(err, "Failed to get file size for external file %s", f.ExternalFilePath)
	}
	reader, err := j.openExternal(f, true, sv)
	if err != nil {
		return nil, err
	}
	if err := j.checkTableProperties(reader.GetTableProperties(), f); err != nil {
		return reader, err
	}
	if j.ucmp.TimestampSize() > 0 && !f.udtPersisted {
		// Opened on the assumption that there are timestamps, in vain.
		if err := reader.Close(); err != nil {
			return nil, err
		}
		if reader, err = j.openExternal(f, false, sv); err != nil {
			return nil, err
		}
	}
	if j.o.AllowDBGeneratedFiles {
		err = j.seqnoBounds(reader, f, sv)
	} else {
		err = checkSeqnosZero(reader.GetTableProperties())
	}
	if err == nil {
		err = j.pointBounds(reader, f, sv)
	}
	if err == nil {
		err = j.rangeBounds(reader, f)
	}
	return reader, err
}

func (j *ExternalSstFileIngestionJob) parseKey(key []byte) (dbformat.ParsedInternalKey, error) {
	k, err := dbformat.ParseInternalKey(key, j.c.DBOptions.AllowDataInErrors)
	if err != nil {
		err = rocksdb.Corruption("Corrupted key in external file. ", rocksdb.AsStatus(err).Message)
	}
	return k, err
}

// parseBound also refuses sequence numbers other than 0 in external files.
func (j *ExternalSstFileIngestionJob) parseBound(key []byte, wrong string) (dbformat.ParsedInternalKey, error) {
	k, err := j.parseKey(key)
	if err == nil && k.Sequence != 0 && !j.o.AllowDBGeneratedFiles {
		err = rocksdb.Corruption(wrong)
	}
	return k, err
}

// pointBounds finds the first and last point entry.
func (j *ExternalSstFileIngestionJob) pointBounds(reader table.TableReader, f *IngestedFileInfo, sv *SuperVersion) (err error) {
	const wrong = "External file has non zero sequence number"
	ro := j.readOptions()
	it := reader.NewIterator(&ro, sv.MutableCFOptions.PrefixExtractor, false, rocksdb.CallerExternalSSTIngestion, 0, false)
	defer func() {
		if cerr := it.Close(); err == nil {
			err = cerr
		}
	}()
	it.SeekToFirst()
	if !it.Valid() {
		return it.Status()
	}
	if _, err := j.parseBound(it.Key(), wrong); err != nil {
		return err
	}
	f.smallest = bytes.Clone(it.Key())
	if sv.MutableCFOptions.TableFactory.Name() == rocksdb.PlainTableName {
		// Its iterator cannot seek to the end, nor are its keys in order.
		f.largest = bytes.Clone(it.Key())
		for ; it.Valid(); it.Next() {
			if j.cfd.icmp.Compare(it.Key(), f.largest) > 0 {
				f.largest = append(f.largest[:0], it.Key()...)
			}
		}
		if err := it.Status(); err != nil {
			return err
		}
	} else {
		it.SeekToLast()
		if !it.Valid() {
			if err := it.Status(); err != nil {
				return err
			}
			return rocksdb.Corruption("Can not find largest key in sst file")
		}
		f.largest = bytes.Clone(it.Key())
	}
	_, err = j.parseBound(f.largest, wrong)
	return err
}

// rangeBounds widens the bounds by the range tombstones.
func (j *ExternalSstFileIngestionJob) rangeBounds(reader table.TableReader, f *IngestedFileInfo) error {
	ro := j.readOptions()
	it := reader.NewRangeTombstoneIterator(&ro)
	if it == nil {
		return nil
	}
	for it.SeekToFirst(); it.Valid(); it.Next() {
		k, err := j.parseBound(it.Key(), "External file has a range deletion with non zero sequence number.")
		if err != nil {
			return err
		}
		t := dbformat.RangeTombstone{StartKey: k.UserKey, EndKey: it.Value(), Seq: k.Sequence}
		j.checker.widen(&f.keyRange, t.SerializeKey(), t.SerializeEndKey())
	}
	return it.Status()
}

// seqnoBounds finds the sequence numbers of a database's file, which it keeps:
// from the properties, or by reading all of an older file.
func (j *ExternalSstFileIngestionJob) seqnoBounds(reader table.TableReader, f *IngestedFileInfo, sv *SuperVersion) (err error) {
	p := reader.GetTableProperties()
	if p.HasKeyLargestSeqno() {
		f.largestSeqno = p.KeyLargestSeqno
		if f.largestSeqno == 0 {
			f.smallestSeqno = 0
			return nil
		}
		if p.HasKeySmallestSeqno() {
			f.smallestSeqno = p.KeySmallestSeqno
			return nil
		}
	}
	syncpoint.Process("ExternalSstFileIngestionJob::GetSeqnoBoundaryForFile:FileScan")
	smallest, largest := dbformat.MaxSequenceNumber, rocksdb.SequenceNumber(0)
	add := func(key []byte) error {
		k, err := j.parseKey(key)
		smallest, largest = min(smallest, k.Sequence), max(largest, k.Sequence)
		return err
	}
	ro := j.readOptions()
	it := reader.NewIterator(&ro, sv.MutableCFOptions.PrefixExtractor, false, rocksdb.CallerExternalSSTIngestion, 0, false)
	for it.SeekToFirst(); err == nil && it.Valid(); it.Next() {
		err = add(it.Key())
	}
	if err == nil {
		err = it.Status()
	}
	if cerr := it.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return err
	}
	if rit := reader.NewRangeTombstoneIterator(&ro); rit != nil {
		for rit.SeekToFirst(); rit.Valid(); rit.Next() {
			if err := add(rit.Key()); err != nil {
				return err
			}
		}
		if err := rit.Status(); err != nil {
			return err
		}
	}
	f.smallestSeqno = smallest
	if !p.HasKeyLargestSeqno() {
		f.largestSeqno = largest
	}
	if f.largestSeqno >= dbformat.MaxSequenceNumber {
		return rocksdb.InvalidArgument("Unknown largest seqno for db generated file.")
	}
	if f.smallestSeqno == dbformat.MaxSequenceNumber {
		return rocksdb.InvalidArgument("Unknown smallest seqno for db generated file.")
	}
	return nil
}
