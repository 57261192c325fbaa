// Port of db/db_impl/db_impl.cc (VerifyChecksum, VerifyFileChecksums).

package dbimpl

import (
	"encoding/hex"
	"strings"

	"github.com/rocksdb-go/rocksdb/db"
	"github.com/rocksdb-go/rocksdb/db/tablecache"
	"github.com/rocksdb-go/rocksdb/file"
	"github.com/rocksdb-go/rocksdb/file/filename"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/monitoring"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

var (
	verifyChecksumCall      = readCall{"VerifyChecksum", "kVerifyDBChecksum", readOptionsFor(rocksdb.IOActivityVerifyDBChecksum)}
	verifyFileChecksumsCall = readCall{"VerifyFileChecksums", "kVerifyFileChecksums", readOptionsFor(rocksdb.IOActivityVerifyFileChecksums)}
)

// VerifyChecksum reads all blocks of all tables and checks them. The error is
// the first one found.
func (d *DBImpl) VerifyChecksum(ro *rocksdb.ReadOptions) error {
	var scratch rocksdb.ReadOptions
	ro, err := verifyChecksumCall.options(ro, &scratch)
	if err != nil {
		return err
	}
	return d.verifyChecksums(ro, false)
}

// VerifyFileChecksums reads all tables and blob files that were written with a
// checksum of the whole file and checks that. It needs the factory of options
// that made the checksums.
func (d *DBImpl) VerifyFileChecksums(ro *rocksdb.ReadOptions) error {
	var scratch rocksdb.ReadOptions
	ro, err := verifyFileChecksumsCall.options(ro, &scratch)
	if err != nil {
		return err
	}
	if d.immutable.FileChecksumGenFactory == nil {
		return rocksdb.InvalidArgument("Cannot verify file checksum if options.file_checksum_gen_factory is null")
	}
	return d.verifyChecksums(ro, true)
}

// GetLiveFilesChecksumInfo makes list, which is reset, hold the checksums of the
// present tables and blob files.
func (d *DBImpl) GetLiveFilesChecksumInfo(list rocksdb.FileChecksumList) error {
	list.Reset()
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.versions.GetLiveFilesChecksumInfo(func(number uint64, checksum, funcName string) error {
		list.InsertOneFileChecksum(number, checksum, funcName)
		return nil
	})
}

func (d *DBImpl) verifyChecksums(ro *rocksdb.ReadOptions, wholeFiles bool) error {
	o := *ro
	if o.IOStatsContext == nil && d.stats != nil {
		o.IOStatsContext = &rocksdb.IOStatsContext{}
	}
	var views []*db.SuperVersion
	d.mu.Lock()
	for _, cfd := range d.families.All() {
		if !cfd.IsDropped() {
			views = append(views, cfd.GetReferencedSuperVersion())
		}
	}
	d.mu.Unlock()
	defer func() {
		for _, sv := range views {
			sv.Release()
		}
	}()
	for _, sv := range views {
		if err := d.verifyFamily(&o, sv, wholeFiles); err != nil {
			return err
		}
	}
	return nil
}

func (d *DBImpl) verifyFamily(ro *rocksdb.ReadOptions, sv *db.SuperVersion, wholeFiles bool) error {
	cfd := sv.CFD
	storage := sv.Current.StorageInfo()
	paths := cfd.IOptions().CFPaths
	for level := range storage.NumNonEmptyLevels() {
		for _, f := range storage.LevelFiles(level) {
			before := bytesRead(ro)
			var err error
			if wholeFiles {
				name := filename.TableFileName(paths, f.FD.GetNumber(), f.FD.GetPathId())
				err = d.verifyFullFileChecksum(ro, name, f.FileChecksum, f.FileChecksumFuncName)
			} else {
				// A reader of its own sees the file as it is now.
				reader, h, e := cfd.TableCache().FindTable(ro, f, sv.MutableCFOptions, &tablecache.OpenOptions{Level: -1, Ephemeral: true})
				if err = e; err == nil {
					err = reader.VerifyChecksum(ro, rocksdb.CallerUserVerifyChecksum, false)
					h.Release()
				}
			}
			monitoring.RecordTick(d.stats, rocksdb.VerifyChecksumReadBytes, bytesRead(ro)-before)
			if err != nil {
				return err
			}
		}
	}
	if !wholeFiles {
		return nil
	}
	for _, m := range storage.GetBlobFiles() {
		before := bytesRead(ro)
		err := d.verifyFullFileChecksum(ro, filename.BlobFileName(paths[0].Path, m.GetBlobFileNumber()), m.GetChecksumValue(), m.GetChecksumMethod())
		monitoring.RecordTick(d.stats, rocksdb.VerifyChecksumReadBytes, bytesRead(ro)-before)
		if err != nil {
			return err
		}
	}
	return nil
}

func bytesRead(ro *rocksdb.ReadOptions) uint64 {
	if ro.IOStatsContext == nil {
		return 0
	}
	return ro.IOStatsContext.BytesRead
}

// verifyFullFileChecksum checks a file that was written with a checksum.
func (d *DBImpl) verifyFullFileChecksum(ro *rocksdb.ReadOptions, name, expected, funcName string) error {
	if expected == rocksdb.UnknownFileChecksum {
		return nil
	}
	fo := d.fileOptions
	fo.FileChecksum, fo.FileChecksumFuncName = expected, funcName
	got, _, err := file.GenerateOneFileChecksum(d.fs, name, d.immutable.FileChecksumGenFactory, &file.ChecksumOptions{
		RequestedFuncName: funcName, ReadaheadSize: int(ro.ReadaheadSize), ReadOptions: ro, FileOptions: &fo,
		Stats: d.stats, Clock: d.clock, RateLimiter: d.immutable.RateLimiter})
	if err != nil || got == expected {
		return err
	}
	err = rocksdb.Corruptionf("%s file checksum mismatch, expecting %s, but actual %s", name, upperHex(expected), upperHex(got)).In(name)
	syncpoint.ProcessArg("DBImpl::VerifyFullFileChecksum:mismatch", &err)
	return err
}

func upperHex(s string) string { return strings.ToUpper(hex.EncodeToString([]byte(s))) }
