// Port of tools/dump/db_dump_tool.cc and include/rocksdb/db_dump_tool.h.
// Differs: errors are returned; a file that ends within a size is an error.

package dump

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/rocksdb-go/rocksdb/db/db_impl"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

// The file:
//
//	magic, version    8 bytes each; the version is big-endian
//	size, info        fixed32 and so many bytes of JSON: {} or where it is from
//	each entry        fixed32 and key, fixed32 and value
const (
	magic   = "ROCKDUMP"
	version = 1
)

// DumpOptions are Dump's.
type DumpOptions struct {
	DBPath       string
	DumpLocation string // the file to make
	// Anonymous leaves path, host and time out of the file.
	Anonymous bool
}

// Dump writes the default column family of a database, opened for reading, into
// a file.
// Upstream: DbDumpTool::Run.
func Dump(d *DumpOptions, o *rocksdb.Options) (err error) {
	families := []rocksdb.ColumnFamilyDescriptor{{Name: rocksdb.DefaultColumnFamilyName, Options: o.ColumnFamilyOptions}}
	dbo := o.DBOptions
	dbo.CreateIfMissing = false
	db, handles, err := dbimpl.OpenForReadOnly(&dbo, d.DBPath, families, false)
	if err != nil {
		return fmt.Errorf("unable to open database '%s' for reading: %w", d.DBPath, err)
	}
	defer func() {
		for _, h := range handles {
			h.Close()
		}
		err = errors.Join(err, db.Close())
	}()
	f, err := os.Create(d.DumpLocation)
	if err != nil {
		return fmt.Errorf("unable to open dump file '%s' for writing: %w", d.DumpLocation, err)
	}
	w := bufio.NewWriterSize(f, 1<<20)
	if err = writeDump(d, db, w); err == nil {
		err = w.Flush()
	}
	return errors.Join(err, f.Close())
}

func writeDump(d *DumpOptions, db *dbimpl.DBImpl, w *bufio.Writer) error {
	info := []byte("{}")
	if !d.Anonymous {
		host, _ := os.Hostname()
		path, err := filepath.Abs(d.DBPath)
		if err != nil {
			path = d.DBPath
		}
		now, err := db.GetEnv().GetSystemClock().GetCurrentTime()
		if err != nil {
			return err
		}
		info = fmt.Appendf(nil, "{ \"database-path\": \"%s\", \"hostname\": \"%s\", \"creation-time\": %d }", path, host, now)
	}
	head := binary.BigEndian.AppendUint64([]byte(magic), version)
	if _, err := w.Write(append(util.AppendFixed32(head, uint32(len(info))), info...)); err != nil {
		return err
	}
	var size [4]byte
	write := func(b []byte) error {
		binary.LittleEndian.PutUint32(size[:], uint32(len(b)))
		if _, err := w.Write(size[:]); err != nil {
			return err
		}
		_, err := w.Write(b)
		return err
	}
	it := db.NewIterator(nil, nil)
	for it.SeekToFirst(); it.Valid(); it.Next() {
		if err := errors.Join(write(it.Key()), write(it.Value())); err != nil {
			_ = it.Close()
			return err
		}
	}
	err := it.Status()
	if err != nil {
		err = fmt.Errorf("database iteration failed: %w", err)
	}
	return errors.Join(err, it.Close())
}

// UndumpOptions are Undump's.
type UndumpOptions struct {
	DBPath       string
	DumpLocation string
	// CompactDB compacts the database afterwards.
	CompactDB bool
}

// Undump puts a file's entries into a database, which is made where there is
// none.
// Upstream: DbUndumpTool::Run.
func Undump(u *UndumpOptions, o *rocksdb.Options) (err error) {
	f, err := os.Open(u.DumpLocation)
	if err != nil {
		return fmt.Errorf("unable to open dump file '%s' for reading: %w", u.DumpLocation, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	r := &reader{name: u.DumpLocation, r: bufio.NewReaderSize(f, 1<<20), size: info.Size()}
	if err := r.head(); err != nil {
		return err
	}
	dbo := o.DBOptions
	dbo.CreateIfMissing = true
	families := []rocksdb.ColumnFamilyDescriptor{{Name: rocksdb.DefaultColumnFamilyName, Options: o.ColumnFamilyOptions}}
	db, handles, err := dbimpl.Open(&dbo, u.DBPath, families)
	if err != nil {
		return fmt.Errorf("unable to open database '%s' for writing: %w", u.DBPath, err)
	}
	defer func() {
		for _, h := range handles {
			h.Close()
		}
		err = errors.Join(err, db.Close())
	}()
	var key, value []byte
	for {
		if key, err = r.bytes(key, true); err == io.EOF {
			break
		} else if err != nil {
			return err
		}
		if value, err = r.bytes(value, false); err != nil {
			return err
		}
		if err = db.Put(nil, nil, key, value); err != nil {
			return fmt.Errorf("unable to write database entry: %w", err)
		}
	}
	if !u.CompactDB {
		return nil
	}
	if err = db.CompactRange(nil, nil, nil, nil); err != nil {
		return fmt.Errorf("unable to compact the database after loading the dumped file: %w", err)
	}
	return nil
}

// reader reads a dump.
type reader struct {
	name     string
	r        *bufio.Reader
	at, size int64
}

func (r *reader) corruption(what string) error {
	return rocksdb.Corruption(what).InAt(r.name, uint64(r.at))
}

// full reads exactly len(b) bytes.
func (r *reader) full(b []byte) error {
	n, err := io.ReadFull(r.r, b)
	r.at += int64(n)
	return err
}

// head reads up to the first entry.
func (r *reader) head() error {
	var b [8]byte
	if r.full(b[:]) != nil || string(b[:]) != magic {
		return r.corruption("not a recognizable dump file")
	}
	if r.full(b[:]) != nil || binary.BigEndian.Uint64(b[:]) != version {
		return r.corruption("version of the dump file not recognized")
	}
	_, err := r.bytes(nil, false)
	return err
}

// bytes reads a size and so many bytes into buf. io.EOF is the file's end, where
// that may be.
func (r *reader) bytes(buf []byte, mayEnd bool) ([]byte, error) {
	var b [4]byte
	switch err := r.full(b[:]); {
	case err == io.EOF && mayEnd:
		return buf, io.EOF
	case err == io.EOF || err == io.ErrUnexpectedEOF:
		return buf, r.corruption("insufficient data for a size in the dump file")
	case err != nil:
		return buf, err
	}
	n := int64(binary.LittleEndian.Uint32(b[:]))
	if n > r.size-r.at {
		return buf, r.corruption("insufficient data in the dump file")
	}
	if int64(cap(buf)) < n {
		buf = make([]byte, n)
	}
	buf = buf[:n]
	return buf, r.full(buf)
}
