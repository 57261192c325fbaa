// Port of db/version_edit_handler.cc (DumpManifestHandler). Differs: the check
// of a MANIFEST's end, which upstream lacks.

package db

import (
	"encoding/binary"
	"fmt"
	"io"
	"strings"

	"github.com/rocksdb-go/rocksdb/db/version"
	"github.com/rocksdb-go/rocksdb/db/wal"
	"github.com/rocksdb-go/rocksdb/file"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

// checkManifestTail looks at what follows the last record read, which ended at
// lastRecordEnd. A crash leaves part of one record there, and that is ignored;
// a whole record after it means that a record in the middle is damaged (its
// length, say), and to go on without the rest would lose what it tells: files
// would be taken for obsolete and be deleted.
func checkManifestTail(fs rocksdb.FileSystem, path string, lastRecordEnd uint64, isRetry bool) error {
	size, err := fs.GetFileSize(path, nil)
	if err != nil || size <= lastRecordEnd {
		return err
	}
	r, err := file.CreateSequentialFileReader(fs, path, nil, &file.SequentialReaderOptions{VerifyAndReconstructRead: isRetry})
	if err != nil {
		return err
	}
	defer r.Close()
	if err := r.Skip(lastRecordEnd); err != nil {
		return err
	}
	tail := make([]byte, 0, min(size-lastRecordEnd, 1<<20))
	buf := make([]byte, wal.BlockSize)
	for {
		got, err := r.Read(len(buf), buf, rocksdb.IOTotal, nil)
		if err != nil {
			return err
		}
		if len(got) == 0 {
			break
		}
		tail = append(tail, got...)
	}
	for at := range tail {
		if isRecordEnd(tail[at:], lastRecordEnd+uint64(at)) {
			return rocksdb.Corruption(fmt.Sprintf("unreadable record, followed by a good one at offset %d", lastRecordEnd+uint64(at))).
				InAt(path, lastRecordEnd)
		}
	}
	return nil
}

// isRecordEnd tells whether b, at that offset of a log, begins with a whole
// record or with the last part of one.
func isRecordEnd(b []byte, offset uint64) bool {
	if len(b) < wal.HeaderSize || b[6] != byte(wal.FullType) && b[6] != byte(wal.LastType) {
		return false
	}
	n := wal.HeaderSize + int(binary.LittleEndian.Uint16(b[4:]))
	return n <= len(b) && n > wal.HeaderSize && offset%wal.BlockSize+uint64(n) <= wal.BlockSize &&
		util.Crc32cUnmask(binary.LittleEndian.Uint32(b)) == util.Crc32cValue(b[6:n])
}

// DumpManifestOptions say what DumpManifest prints.
type DumpManifestOptions struct {
	Verbose bool // each edit
	Hex     bool // keys in hexadecimal
	JSON    bool // each edit, as JSON
}

// dumpManifestHandler prints edits, and at the end the trees they make.
type dumpManifestHandler struct {
	*versionEditHandler
	out   io.Writer
	o     DumpManifestOptions
	count int
	err   error // of writing
}

func (h *dumpManifestHandler) print(format string, args ...any) {
	if h.err == nil {
		_, h.err = fmt.Fprintf(h.out, format, args...)
	}
}

func (h *dumpManifestHandler) applyVersionEdit(e *version.VersionEdit) error {
	if h.o.JSON {
		h.print("%s\n", e.DebugJSON(h.count, h.o.Hex))
	} else if h.o.Verbose {
		h.print("%s", e.DebugString(h.o.Hex))
	}
	h.count++
	if h.err != nil {
		return h.err
	}
	return h.versionEditHandler.applyVersionEdit(e)
}

func (h *dumpManifestHandler) checkIterationResult(r manifestReader, err error) error {
	if err = h.versionEditHandler.checkIterationResult(r, err); err != nil {
		h.print("%s\n", strings.TrimSpace(err.Error()))
		return err
	}
	vs := h.vs
	for _, cfd := range vs.cfs.All() {
		h.print("--------------- Column family \"%s\"  (ID %d) --------------\n", cfd.GetName(), cfd.GetID())
		h.print("log number: %d\n", cfd.GetLogNumber())
		if name, ok := h.comparatorNames[cfd.GetID()]; ok {
			h.print("comparator: <%s>, but the comparator object is not available.\n", name)
		} else {
			h.print("comparator: %s\n", cfd.UserComparator().Name())
		}
		h.print("%s", cfd.Current().DebugString(h.o.Hex, false))
		h.print("By default, manifest file dump prints LSM trees as if %d levels were configured, "+
			"which is not necessarily true for the column family (CF) this manifest is associated with. "+
			"Please consult other DB files, such as the OPTIONS file, to confirm.\n", cfd.IOptions().NumLevels)
	}
	h.print("next_file_number %d last_sequence %d  prev_log_number %d max_column_family %d min_log_number_to_keep %d\n",
		vs.CurrentNextFileNumber(), vs.LastSequence(), vs.PrevLogNumber(), vs.cfs.GetMaxColumnFamily(), vs.MinLogNumberToKeep())
	return h.err
}
