// Port of db/db_info_dumper.{h,cc}.

package db

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rocksdb-go/rocksdb/file/filename"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/logging"
	"github.com/rocksdb-go/rocksdb/options"
)

// tableFilesNamed is how many table files of a directory are named at most.
const tableFilesNamed = 9

// DumpDBFileSummary writes to the info log which files a database has before it
// is opened: host, session, CURRENT, IDENTITY, MANIFEST, tables of each path, logs.
func DumpDBFileSummary(o *options.ImmutableDBOptions, dbName, sessionID string) {
	if o.Logger == nil {
		return
	}
	s := fileSummary{o: o, dbName: dbName}
	logging.Header(o.Logger, "DB SUMMARY")
	if host, err := o.Env.GetHostName(); err == nil {
		logging.Header(o.Logger, "Host name (Env):  %s", host)
	}
	logging.Header(o.Logger, "DB Session ID:  %s", sessionID)
	s.databaseDirectory()
	s.tablePaths()
	s.walDirectory()
}

type fileSummary struct {
	o      *options.ImmutableDBOptions
	dbName string
	tables int
	names  strings.Builder // of the first tables
	logs   strings.Builder
}

func (s *fileSummary) children(dir string) ([]string, error) {
	names, err := s.o.FS.GetChildren(dir, nil)
	slices.Sort(names)
	return names, err
}

func (s *fileSummary) addTable(name string) {
	if s.tables++; s.tables <= tableFilesNamed {
		s.names.WriteString(name + " ")
	}
}

func (s *fileSummary) addLog(dir, name string) {
	size, err := s.o.FS.GetFileSize(dir+"/"+name, nil)
	if err != nil {
		logging.Error(s.o.Logger, "Error when reading LOG file: %s/%s %v", dir, name, err)
		return
	}
	fmt.Fprintf(&s.logs, "%s size: %d ; ", name, size)
}

func (s *fileSummary) databaseDirectory() {
	log := s.o.Logger
	names, err := s.children(s.dbName)
	if err != nil {
		logging.Error(log, "Error when reading %s dir %v", s.dbName, err)
	}
	for _, name := range names {
		p, ok := filename.ParseFileName(name, "")
		if !ok {
			continue
		}
		switch p.Type {
		case rocksdb.CurrentFile:
			logging.Header(log, "CURRENT file:  %s", name)
		case rocksdb.IdentityFile:
			logging.Header(log, "IDENTITY file:  %s", name)
		case rocksdb.DescriptorFile:
			size, err := s.o.FS.GetFileSize(s.dbName+"/"+name, nil)
			if err != nil {
				logging.Error(log, "Error when reading MANIFEST file: %s/%s %v", s.dbName, name, err)
				continue
			}
			logging.Header(log, "MANIFEST file:  %s size: %d Bytes", name, size)
		case rocksdb.WalFile:
			s.addLog(s.dbName, name)
		case rocksdb.TableFile:
			s.addTable(name)
		}
	}
}

func (s *fileSummary) tablePaths() {
	log := s.o.Logger
	for _, path := range s.o.DBPaths {
		if path.Path != s.dbName {
			names, err := s.children(path.Path)
			if rocksdb.IsNotFound(err) || rocksdb.IsPathNotFound(err) {
				logging.Header(log, "Directory from db_paths/cf_paths does not yet exist: %s", path.Path)
				continue
			} else if err != nil {
				logging.Error(log, "Error when reading %s dir %v", path.Path, err)
				continue
			}
			for _, name := range names {
				if p, ok := filename.ParseFileName(name, ""); ok && p.Type == rocksdb.TableFile {
					s.addTable(name)
				}
			}
		}
		logging.Header(log, "SST files in %s dir, Total Num: %d, files: %s", path.Path, s.tables, s.names.String())
		s.tables = 0
		s.names.Reset()
	}
}

func (s *fileSummary) walDirectory() {
	log, dir := s.o.Logger, s.o.GetWalDirFor(s.dbName)
	if !s.o.IsWalDirSameAs(s.dbName) {
		names, err := s.children(dir)
		if rocksdb.IsNotFound(err) || rocksdb.IsPathNotFound(err) {
			logging.Header(log, "Write Ahead Log directory does not yet exist: %s", dir)
			return
		} else if err != nil {
			logging.Error(log, "Error when reading wal dir %s: %v", dir, err)
			return
		}
		s.logs.Reset()
		for _, name := range names {
			if p, ok := filename.ParseFileName(name, ""); ok && p.Type == rocksdb.WalFile {
				s.addLog(dir, name)
			}
		}
	}
	logging.Header(log, "Write Ahead Log file in %s: %s", dir, s.logs.String())
}
