// Port of util/file_checksum_helper.{h,cc}.

package util

import (
	"encoding/binary"
	"maps"
	"slices"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// FileChecksumGenCrc32c is the CRC-32C of a whole file, unmasked and
// big-endian, as other tools give it.
type FileChecksumGenCrc32c struct {
	crc      uint32
	checksum string
}

// Update takes the next bytes.
func (g *FileChecksumGenCrc32c) Update(data []byte) { g.crc = Crc32cExtend(g.crc, data) }

// Finalize makes the checksum.
func (g *FileChecksumGenCrc32c) Finalize() {
	g.checksum = string(binary.BigEndian.AppendUint32(nil, g.crc))
}

// GetChecksum gives the four bytes.
func (g *FileChecksumGenCrc32c) GetChecksum() string { return g.checksum }

// Name is FileChecksumCrc32c.
func (g *FileChecksumGenCrc32c) Name() string { return rocksdb.StandardDBFileChecksumFuncName }

// ChecksumInt32ToHex writes a CRC as such a checksum in hexadecimal.
func ChecksumInt32ToHex(crc uint32) string {
	return SliceToHex(binary.BigEndian.AppendUint32(nil, crc))
}

// FileChecksumGenCrc32cFactoryName is the factory's name in option strings.
const FileChecksumGenCrc32cFactoryName = "FileChecksumGenCrc32cFactory"

type fileChecksumGenCrc32cFactory struct{}

func (fileChecksumGenCrc32cFactory) Name() string { return FileChecksumGenCrc32cFactoryName }

func (fileChecksumGenCrc32cFactory) CreateFileChecksumGenerator(ctx rocksdb.FileChecksumGenContext) rocksdb.FileChecksumGenerator {
	switch ctx.RequestedChecksumFuncName {
	case "", rocksdb.StandardDBFileChecksumFuncName:
		return new(FileChecksumGenCrc32c)
	}
	return nil
}

// GetFileChecksumGenCrc32cFactory is the built-in factory.
func GetFileChecksumGenCrc32cFactory() rocksdb.FileChecksumGenFactory {
	return fileChecksumGenCrc32cFactory{}
}

type fileChecksum struct{ checksum, funcName string }

type fileChecksumListImpl struct{ byNumber map[uint64]fileChecksum }

// NewFileChecksumList makes an empty list.
func NewFileChecksumList() rocksdb.FileChecksumList {
	return &fileChecksumListImpl{byNumber: make(map[uint64]fileChecksum)}
}

func (l *fileChecksumListImpl) Reset()    { clear(l.byNumber) }
func (l *fileChecksumListImpl) Size() int { return len(l.byNumber) }

func (l *fileChecksumListImpl) GetAllFileChecksums() (fileNumbers []uint64, checksums, funcNames []string) {
	fileNumbers = slices.Sorted(maps.Keys(l.byNumber))
	for _, n := range fileNumbers {
		checksums = append(checksums, l.byNumber[n].checksum)
		funcNames = append(funcNames, l.byNumber[n].funcName)
	}
	return fileNumbers, checksums, funcNames
}

func (l *fileChecksumListImpl) SearchOneFileChecksum(fileNumber uint64) (checksum, funcName string, err error) {
	c, ok := l.byNumber[fileNumber]
	if !ok {
		return "", "", rocksdb.ErrNotFound
	}
	return c.checksum, c.funcName, nil
}

func (l *fileChecksumListImpl) InsertOneFileChecksum(fileNumber uint64, checksum, funcName string) {
	l.byNumber[fileNumber] = fileChecksum{checksum, funcName}
}

func (l *fileChecksumListImpl) RemoveOneFileChecksum(fileNumber uint64) error {
	if _, ok := l.byNumber[fileNumber]; !ok {
		return rocksdb.ErrNotFound
	}
	delete(l.byNumber, fileNumber)
	return nil
}
