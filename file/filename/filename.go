// Port of file/filename.{h,cc}. Differs: InfoLogPrefix is a string; parsing
// returns a struct; the functions that write files are in package file.

package filename

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// FilePathSeparator separates the parts of a path; '/' is used in all names
// made here.
const FilePathSeparator = filePathSeparator

// The fixed parts of names.
const (
	CurrentFileBaseName              = "CURRENT"
	OptionsFileNamePrefix            = "OPTIONS-"
	CompactionProgressFileNamePrefix = "COMPACTION_PROGRESS-"
	TempFileNameSuffix               = "dbtmp"

	rocksDBTFileExt    = "sst"
	levelDBTFileExt    = "ldb"
	rocksDBBlobFileExt = "blob"
	archivalDirName    = "archive"

	// A prefix with its "_LOG" and the final zero fits in infoLogPrefixSize
	// bytes; longer paths are cut.
	infoLogPrefixSize = 260
	infoLogSuffix     = "_LOG"
)

func makeFileName(number uint64, suffix string) string {
	return fmt.Sprintf("%06d.%s", number, suffix)
}

func makeFileNameIn(dir string, number uint64, suffix string) string {
	return dir + "/" + makeFileName(number, suffix)
}

// LogFileName is a write-ahead log's path.
func LogFileName(dbname string, number uint64) string { return makeFileNameIn(dbname, number, "log") }

// LogFileBaseName is a write-ahead log's name without a directory.
func LogFileBaseName(number uint64) string { return makeFileName(number, "log") }

// BlobFileName is a blob file's path.
func BlobFileName(blobDir string, number uint64) string {
	return makeFileNameIn(blobDir, number, rocksDBBlobFileExt)
}

// BlobFileBaseName is a blob file's name without a directory.
func BlobFileBaseName(number uint64) string { return makeFileName(number, rocksDBBlobFileExt) }

// BlobFileNameIn is the path of a blob file in a sub-directory of dbname.
func BlobFileNameIn(dbname, blobDir string, number uint64) string {
	return makeFileNameIn(dbname+"/"+blobDir, number, rocksDBBlobFileExt)
}

// ArchivalDirectory holds the logs that are kept after they are needed.
func ArchivalDirectory(dbname string) string { return dbname + "/" + archivalDirName }

// ArchivedLogFileName is the path of a log in the archive.
func ArchivedLogFileName(dbname string, number uint64) string {
	return makeFileNameIn(dbname+"/"+archivalDirName, number, "log")
}

// MakeTableFileName is a table file's path.
func MakeTableFileName(path string, number uint64) string {
	return makeFileNameIn(path, number, rocksDBTFileExt)
}

// MakeTableFileBaseName is a table file's name without a directory.
func MakeTableFileBaseName(number uint64) string { return makeFileName(number, rocksDBTFileExt) }

// Rocks2LevelTableFileName gives a table file's path the extension that
// LevelDB uses; "" when fullname is too short to have one.
func Rocks2LevelTableFileName(fullname string) string {
	if len(fullname) <= len(rocksDBTFileExt)+1 {
		return ""
	}
	return fullname[:len(fullname)-len(rocksDBTFileExt)] + levelDBTFileExt
}

// TableFileNameToNumber reads the digits before the last dot of a file's name.
func TableFileNameToNumber(name string) uint64 {
	var number uint64
	base := uint64(1)
	for pos := strings.LastIndexByte(name, '.') - 1; pos >= 0 && name[pos] >= '0' && name[pos] <= '9'; pos-- {
		number += uint64(name[pos]-'0') * base
		base *= 10
	}
	return number
}

// TableFileName is the path of a table file in the path of that index, the
// last one when there are fewer. dbPaths is not empty.
func TableFileName(dbPaths []rocksdb.DBPath, number uint64, pathID uint32) string {
	i := len(dbPaths) - 1
	if int64(pathID) < int64(len(dbPaths)) {
		i = int(pathID)
	}
	return MakeTableFileName(dbPaths[i].Path, number)
}

// FormatFileNumber prints a file's number, and its path's index if not 0.
func FormatFileNumber(number uint64, pathID uint32) string {
	if pathID == 0 {
		return strconv.FormatUint(number, 10)
	}
	return fmt.Sprintf("%d(path %d)", number, pathID)
}

// DescriptorFileBaseName is a MANIFEST's name without a directory.
func DescriptorFileBaseName(number uint64) string { return fmt.Sprintf("MANIFEST-%06d", number) }

// DescriptorFileName is a MANIFEST's path.
func DescriptorFileName(dbname string, number uint64) string {
	return dbname + "/" + DescriptorFileBaseName(number)
}

// CurrentFileName is the path of the file that names the MANIFEST.
func CurrentFileName(dbname string) string { return dbname + "/" + CurrentFileBaseName }

// LockFileName is the path of the lock file.
func LockFileName(dbname string) string { return dbname + "/LOCK" }

// TempFileName is the path of a temporary file.
func TempFileName(dbname string, number uint64) string {
	return makeFileNameIn(dbname, number, TempFileNameSuffix)
}

// InfoLogPrefix is how the names of info logs begin: LOG in the database's own
// directory, its flattened path and _LOG in a log directory.
func InfoLogPrefix(hasLogDir bool, dbAbsolutePath string) string {
	if !hasLogDir {
		return "LOG"
	}
	path := NormalizePath(dbAbsolutePath)
	prefix := make([]byte, 0, infoLogPrefixSize)
	for i := 0; i < len(path) && len(prefix) < infoLogPrefixSize-len(infoLogSuffix)-1; i++ {
		switch c := path[i]; {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9', c >= 'A' && c <= 'Z', c == '-', c == '.', c == '_':
			prefix = append(prefix, c)
		case i > 0:
			prefix = append(prefix, '_')
		}
	}
	return string(prefix) + infoLogSuffix
}

// InfoLogFileName is the info log's path. dbPath is the database's absolute
// path; it matters only with a logDir.
func InfoLogFileName(dbname, dbPath, logDir string) string {
	if logDir == "" {
		return dbname + "/LOG"
	}
	return logDir + "/" + InfoLogPrefix(true, dbPath)
}

// OldInfoLogFileName is the path of an info log put aside at a time in
// microseconds.
func OldInfoLogFileName(dbname string, ts uint64, dbPath, logDir string) string {
	return InfoLogFileName(dbname, dbPath, logDir) + ".old." + strconv.FormatUint(ts, 10)
}

// OptionsFileBaseName is an OPTIONS file's name without a directory.
func OptionsFileBaseName(number uint64) string {
	return fmt.Sprintf("%s%06d", OptionsFileNamePrefix, number)
}

// OptionsFileName is an OPTIONS file's path.
func OptionsFileName(dbname string, number uint64) string {
	return dbname + "/" + OptionsFileBaseName(number)
}

// TempOptionsFileName is the path of an OPTIONS file being written.
func TempOptionsFileName(dbname string, number uint64) string {
	return OptionsFileName(dbname, number) + "." + TempFileNameSuffix
}

// CompactionProgressFileName is the path of a compaction's progress file.
func CompactionProgressFileName(dbname string, timestamp uint64) string {
	return fmt.Sprintf("%s/%s%d", dbname, CompactionProgressFileNamePrefix, timestamp)
}

// TempCompactionProgressFileName is the path of one being written.
func TempCompactionProgressFileName(dbname string, timestamp uint64) string {
	return CompactionProgressFileName(dbname, timestamp) + "." + TempFileNameSuffix
}

// MetaDatabaseName is the path of a meta database.
func MetaDatabaseName(dbname string, number uint64) string {
	return fmt.Sprintf("%s/METADB-%d", dbname, number)
}

// IdentityFileName is the path of the file with the database's id.
func IdentityFileName(dbname string) string { return dbname + "/IDENTITY" }

// consumeDecimalNumber takes the leading digits off s; not ok when there are
// none or they exceed 64 bits.
func consumeDecimalNumber(s string) (n uint64, rest string, ok bool) {
	i := 0
	for i < len(s) && s[i] >= '0' && s[i] <= '9' {
		i++
	}
	n, err := strconv.ParseUint(s[:i], 10, 64)
	return n, s[i:], err == nil
}

// Parsed is what a file's name says.
type Parsed struct {
	Number uint64
	Type   rocksdb.FileType
	// WalType is meant for Type WalFile only.
	WalType rocksdb.WalFileType
}

// ParseFileName parses a name relative to the database's directory; a '/' at
// its front is ignored. Info logs are recognised by infoLogPrefix (see
// InfoLogPrefix); with "" they are not. ok is false when the name is none of a
// database's.
func ParseFileName(name, infoLogPrefix string) (p Parsed, ok bool) {
	rest := name
	if len(name) > 1 && name[0] == '/' {
		rest = rest[1:]
	}
	switch {
	case rest == "IDENTITY":
		p.Type = rocksdb.IdentityFile
		return p, true
	case rest == CurrentFileBaseName:
		p.Type = rocksdb.CurrentFile
		return p, true
	case rest == "LOCK":
		p.Type = rocksdb.DBLockFile
		return p, true
	case infoLogPrefix != "" && strings.HasPrefix(rest, infoLogPrefix):
		return parseInfoLog(rest[len(infoLogPrefix):])
	case strings.HasPrefix(rest, "MANIFEST-"):
		return parseNumbered(rest[len("MANIFEST-"):], rocksdb.DescriptorFile)
	case strings.HasPrefix(rest, "METADB-"):
		return parseNumbered(rest[len("METADB-"):], rocksdb.MetaDatabase)
	case strings.HasPrefix(rest, OptionsFileNamePrefix):
		// What follows the number is not looked at, as upstream.
		rest, p.Type = cutTempSuffix(rest[len(OptionsFileNamePrefix):], rocksdb.OptionsFile)
		p.Number, _, ok = consumeDecimalNumber(rest)
		return p, ok
	case strings.HasPrefix(rest, CompactionProgressFileNamePrefix):
		rest, t := cutTempSuffix(rest[len(CompactionProgressFileNamePrefix):], rocksdb.CompactionProgressFile)
		return parseNumbered(rest, t)
	}
	return parseByExtension(rest)
}

func cutTempSuffix(s string, t rocksdb.FileType) (string, rocksdb.FileType) {
	if s, cut := strings.CutSuffix(s, "."+TempFileNameSuffix); cut {
		return s, rocksdb.TempFile
	}
	return s, t
}

func parseNumbered(s string, t rocksdb.FileType) (Parsed, bool) {
	n, rest, ok := consumeDecimalNumber(s)
	return Parsed{Number: n, Type: t}, ok && rest == ""
}

func parseInfoLog(s string) (Parsed, bool) {
	p := Parsed{Type: rocksdb.InfoLogFile}
	if s == "" || s == ".old" {
		return p, true
	}
	s, ok := strings.CutPrefix(s, ".old.")
	if !ok {
		return Parsed{}, false
	}
	p.Number, _, ok = consumeDecimalNumber(s)
	return p, ok
}

func parseByExtension(rest string) (p Parsed, ok bool) {
	p.WalType = rocksdb.AliveLogFile
	archived := strings.HasPrefix(rest, archivalDirName)
	if archived {
		if len(rest) <= len(archivalDirName) {
			return Parsed{}, false
		}
		rest = rest[len(archivalDirName)+1:]
		p.WalType = rocksdb.ArchivedLogFile
	}
	p.Number, rest, ok = consumeDecimalNumber(rest)
	if !ok || len(rest) <= 1 || rest[0] != '.' {
		return Parsed{}, false
	}
	switch ext := rest[1:]; {
	case ext == "log":
		p.Type = rocksdb.WalFile
	case archived: // which holds logs only
		return Parsed{}, false
	case ext == rocksDBTFileExt, ext == levelDBTFileExt:
		p.Type = rocksdb.TableFile
	case ext == rocksDBBlobFileExt:
		p.Type = rocksdb.BlobFile
	case ext == TempFileNameSuffix:
		p.Type = rocksdb.TempFile
	default:
		return Parsed{}, false
	}
	return p, true
}

// TypeOfFile is ParseFileName's type for a name in the database's own
// directory.
func TypeOfFile(name string) (rocksdb.FileType, bool) {
	p, ok := ParseFileName(name, "LOG")
	return p.Type, ok
}

// GetInfoLogFiles lists the info logs of a database by name, and the directory
// they are in.
func GetInfoLogFiles(fs rocksdb.FileSystem, dbLogDir, dbname string) (parentDir string, names []string, err error) {
	parentDir = dbname
	if dbLogDir != "" {
		parentDir = dbLogDir
	}
	prefix := InfoLogPrefix(dbLogDir != "", dbname)
	children, err := fs.GetChildren(parentDir, nil)
	if err != nil {
		return parentDir, nil, err
	}
	for _, name := range children {
		if p, ok := ParseFileName(name, prefix); ok && p.Type == rocksdb.InfoLogFile {
			names = append(names, name)
		}
	}
	return parentDir, names, nil
}

// NormalizePath drops repeated separators; two at the front of a longer path
// stay (a Windows share).
func NormalizePath(path string) string {
	isSep := func(c byte) bool { return c == FilePathSeparator || c == '/' }
	dst := make([]byte, 0, len(path)+2)
	if len(path) > 2 && path[0] == FilePathSeparator && path[1] == FilePathSeparator {
		dst = append(dst, FilePathSeparator, FilePathSeparator)
	}
	for i := range len(path) {
		c := path[i]
		if n := len(dst); n > 0 && isSep(c) && isSep(dst[n-1]) {
			continue
		}
		dst = append(dst, c)
	}
	return string(dst)
}
